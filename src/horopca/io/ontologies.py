"""Ontologies in OBO, OWL and OBO Graphs, read by pronto."""

from __future__ import annotations

from collections import Counter
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from .files import EdgeList, FormatError, as_text
from .lines import open_bytes
from .subprocess_reader import in_subprocess

ROOT = "root"  # The node that joins several top terms.

read_ontology = in_subprocess("ontologies", "read_terms", "pronto", "an ontology", "trees")


def read_terms(path: Path, relations: list[str]) -> EdgeList:
    """The terms of an ontology and their parents by some relations, without obsolete terms; in the separate process."""
    pronto: Any = import_module("pronto")
    with open_bytes(path) as file:
        ontology = pronto.Ontology(file, import_depth=0, threads=1)  # other files and addresses are not read
    terms = [term for term in ontology.terms() if not term.obsolete]
    position = {term.id: i for i, term in enumerate(terms)}
    pairs = ((i, position.get(parent.id)) for i, term in enumerate(terms) for parent in _parents(term, relations))
    edges = list(dict.fromkeys((i, parent) for i, parent in pairs if parent is not None and parent != i))
    if not edges:
        raise FormatError(f"{path} holds no terms that are related by {' or '.join(relations)}.")
    codes = [as_text(term.id) for term in terms]
    named = [as_text(term.name or term.id) for term in terms]
    counts = Counter(named)
    names = [name if counts[name] == 1 else f"{name} ({code})" for name, code in zip(named, codes, strict=True)]
    below = {child for child, _ in edges}
    tops = [i for i in range(len(terms)) if i not in below]
    if len(tops) < 2:
        return EdgeList(names, np.array(edges), None, codes)
    root = next(name for name in (ROOT, *(f"{ROOT} ({k})" for k in range(2, len(names) + 3))) if name not in counts)
    edges += [(top, len(names)) for top in tops]
    note = f"its {len(tops)} top terms are joined under a node called {root!r}; root= selects one of them."
    return EdgeList([*names, root], np.array(edges), None, [*codes, ""], [note])


def _parents(term: Any, relations: list[str]) -> list[Any]:
    """The terms that a term is related to: "is_a" is the hierarchy itself, others are relationships."""
    above = list(term.superclasses(distance=1, with_self=False)) if "is_a" in relations else []
    related = term.relationships if set(relations) != {"is_a"} else {}
    return above + [parent for relation, found in related.items() if relation.id in relations for parent in found]
