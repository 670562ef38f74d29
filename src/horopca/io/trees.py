"""Trees: Newick and Nexus, read here, and PhyloXML, read by Biopython.

Biopython also reads Nexus, but not the annotations that BEAST writes, nor deep trees, and it needs quadratic time for many
taxa; Nexus is Newick with a table of names.
"""

from __future__ import annotations

import re
from array import array
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from importlib import import_module
from itertools import chain, count, dropwhile, groupby, takewhile
from pathlib import Path
from typing import Any

import numpy as np

from .files import Budget, EdgeList, FormatError, as_text
from .text import beginning, is_number, number, open_bytes, read_whole

ZERO_LENGTH = (
    1e-3  # Embeddings need positive lengths: a branch of zero or negative length gets this fraction of the mean length.
)
NODE_BYTES = 200  # Memory of a node in bytes: its name, parent and length in lists and in arrays.
NETWORKX_FORMATS = {"graphml": "GraphML", "gexf": "GEXF", "gml": "GML"}  # Graphs that are not read here but by networkx.
# Comments, quoted words (in which a doubled quotation mark stands for one), punctuation, words. No part can match in two ways.
TOKEN = re.compile(r"""\[[^]]*+]|'[^']*+(?:''[^']*+)*+'|"[^"]*+"|[()\[\],:;']|[^\s()\[\],:;']+""")
TREE, END = ("TREE", "UTREE"), ("END", "ENDBLOCK")  # The commands of Nexus that begin a tree, and that end a block.
SUPPORT = re.compile(r"[\d.]+(?:/[\d.]+)*(?:[eE]-?\d+)?")  # "95", "0.99", or "97.3/100" of IQ-TREE


def as_edges(
    names: list[str], parents: Sequence[int], lengths: Sequence[float], trees: int, notes: Sequence[str], where: Path | str
) -> EdgeList:
    """The edges of a tree, with positive lengths, unique names, and notes on what was replaced."""
    if len(names) < 2:
        raise FormatError(f"{where} holds no tree with at least two nodes.")
    parent = np.array(parents, dtype=np.int64)
    child = np.flatnonzero(parent >= 0)
    is_leaf = np.ones(len(parent), dtype=bool)
    is_leaf[parent[child]] = False
    notes = [*([f"the first of {trees} trees was read."] if trees > 1 else []), *notes]
    names = _unique_names(names, is_leaf, notes)
    weights = _positive(np.array(lengths, dtype=float)[child], notes)
    return EdgeList(names, np.stack([child, parent[child]], axis=1), weights, None, tuple(notes))


def _positive(lengths: np.ndarray, notes: list[str]) -> np.ndarray | None:
    """Lengths that are all positive, or None if there is none. Adds notes on those that were replaced."""
    known, missing, short = lengths[lengths > 0], np.isnan(lengths), lengths <= 0
    if not known.size:
        if short.any():
            notes.append("all branches have length zero or below: their lengths are left out.")
        return None
    mean = known.mean()
    if short.any():
        notes.append(f"branches of length zero or below: {short.sum()}, set to a thousandth of the mean length.")
    if missing.any():
        notes.append(f"branches without a length: {missing.sum()}, set to the mean length, {mean:.3g}.")
    return np.where(missing, mean, np.where(short, ZERO_LENGTH * mean, lengths))


def _unique_names(names: list[str], is_leaf: np.ndarray, notes: list[str]) -> list[str]:
    """Different names for all nodes. Numbers at inner nodes are support values. Adds notes on what was changed."""
    leaves, inner = ([name for name, leaf in zip(names, is_leaf, strict=True) if leaf == which] for which in (True, False))
    counts, numbers, unique = Counter(names), Counter[str](), list[str]()
    known = [name for name in inner if name]
    identifiers = len(set(known)) == len(known) and all(name.isdigit() for name in leaves + known)
    supports = {name for name in known if SUPPORT.fullmatch(name)} if not identifiers else set[str]()

    for name, leaf in zip(names, is_leaf, strict=True):
        kept = name if leaf or name not in supports else ""
        before, after = (f"{kept} (", ")") if kept else ("leaf " if leaf else "inner ", "")
        if kept and not numbers[kept]:
            numbers[kept] = 1
            unique.append(kept)
        else:  # the next number that makes it different from all names
            numbers[kept] = next(k for k in count(numbers[kept] + 1) if f"{before}{k}{after}" not in counts)
            unique.append(f"{before}{numbers[kept]}{after}")
    if repeated := sum(times - 1 for name, times in counts.items() if name and name not in supports):
        notes.append(f"repeated names: {repeated}, numbered in brackets.")
    if left_out := sum(name in supports for name in known):
        notes.append(f"support values left out: {left_out}.")
    return unique


def read_newick(path: Path) -> EdgeList:
    """The first tree of a file in Newick's format, or of the block TREES of a Nexus file."""
    budget, annotations = Budget(path), list[str]()
    text = read_whole(path, budget)
    commands = _commands(_tokens(text, path, annotations))
    if text.lstrip()[:6].upper() == "#NEXUS":
        tree, translate = _first_tree(commands, budget)
        nodes = _newick(tree, translate, budget)
        names = (next(command, "").upper() for command in commands)
        more = sum(name in TREE for name in takewhile(lambda name: name not in END, names))
    else:
        nodes = _newick(next(commands, iter(())), {}, budget)
        more = sum("(" in command for command in commands)
    notes = [f"annotations in square brackets left out: {len(annotations)}."] if annotations else []
    return as_edges(*nodes, more + 1, notes, path)


def _tokens(text: str, path: Path, annotations: list[str]) -> Iterator[str]:
    """The punctuation and words of a text; quoted words begin with a quotation mark. Annotations are added to `annotations`."""
    for token in (found[0] for found in TOKEN.finditer(text)):
        if token in ("[", "'"):
            raise FormatError(f"{path} is not a tree in Newick format: a {token!r} is not closed.")
        if token[0] == "[":
            comment = token[1:-1].strip()
            if is_number(comment) or (comment[:1] == "&" and comment.upper() not in ("&R", "&U")):
                annotations.append(comment[:1])
        elif token[0] == "'":
            yield "'" + token[1:-1].replace("''", "'")
        else:  # the standard has no double quotes, but some programs write them
            yield "'" + token[1:-1] if token[0] == token[-1] == '"' != token else token


def _commands(tokens: Iterator[str]) -> Iterator[Iterator[str]]:
    """The commands of a text, each as its tokens up to the semicolon; tokens that the caller does not read are skipped."""
    for token in tokens:
        command = takewhile(lambda word: word != ";", chain([token], tokens))
        yield command
        deque(command, maxlen=0)


def _first_tree(commands: Iterator[Iterator[str]], budget: Budget) -> tuple[Iterator[str], dict[str, str]]:
    """The tokens of the first tree of the block TREES of a Nexus file, and the names of its TRANSLATE."""
    translate = dict[str, str]()
    for command in dropwhile(lambda command: [*deque(map(str.upper, command), maxlen=2)] != ["BEGIN", "TREES"], commands):
        name = next(command, "").upper()  # "" after BEGIN TREES, which has been read
        if name == "TRANSLATE":
            translate = _translation(command, budget)
        elif name in END:
            break
        elif name in TREE and "(" in command:
            return chain("(", command), translate
    raise FormatError(f"{budget.path} is a Nexus file without a tree in a block TREES.")


def _translation(command: Iterator[str], budget: Budget) -> dict[str, str]:
    """The names by their short names, from the tokens of "1 cat, 2 lion"."""
    names = dict[str, str]()
    for is_comma, tokens in groupby(command, ",".__eq__):
        short, *words = ("",) if is_comma else [token.removeprefix("'") for token in tokens]
        if words:
            name = " ".join(words)
            budget.claim(2 * NODE_BYTES + 4 * len(name))
            names[short] = name
    return names


def _newick(tokens: Iterator[str], translate: dict[str, str], budget: Budget) -> tuple[list[str], array[int], array[float]]:
    """Names, parents and lengths of the nodes of the tree that the tokens describe, children before their parents."""
    names, parents, lengths = list[str](), array("q"), array("d")
    levels = [list[int]()]  # the nodes so far in every parenthesis that is open
    words, children, length, after_colon = list[str](), list[int](), np.nan, False  # of the next node
    for token in chain(tokens, ";"):
        if token not in "(),:;":
            if after_colon:
                length = number(token) if is_number(token) else np.nan
                if not np.isfinite(length):
                    raise FormatError(f"{budget.path}: the length {token[:40]!r} of a branch is not a finite number.")
            else:
                words.append(token.removeprefix("'"))
            after_colon = False
            continue
        after_colon = token == ":"
        if token == "(" and not (words or children):
            budget.claim(NODE_BYTES)
            levels.append([])
        elif token == "(" or (len(levels) == 1 and token in ",)"):
            where = "follows a node" if token == "(" else "stands outside of all parentheses"
            raise FormatError(f"{budget.path} is not a tree in Newick format: a {token!r} {where}.")
        elif token != ":":
            name = translate.get(words[0], words[0]) if len(words) == 1 else " ".join(words)
            budget.claim(NODE_BYTES + 4 * len(name))
            for child in children:
                parents[child] = len(names)
            levels[-1].append(len(names))
            names.append(as_text(name))
            parents.append(-1)
            lengths.append(length)
            words, children, length = [], levels.pop() if token == ")" else [], np.nan
        if token == ";":
            break
    if len(levels) > 1:
        raise FormatError(f"{budget.path} is cut short: its tree has {len(levels) - 1} '(' without a ')'.")
    return names, parents, lengths


def networkx_error(path: Path, kind: str) -> FormatError:
    """The error for a graph in one of the `NETWORKX_FORMATS`, with what to do."""
    return FormatError(
        f"{path} is a {NETWORKX_FORMATS[kind]} file, which is not read: pass networkx.read_{kind}({path.name!r}) to an "
        "embedding, or save it as an edge list with networkx.write_edgelist."
    )


def check_phyloxml(path: Path) -> None:
    """Raise FormatError if an XML file is in another format than PhyloXML, or declares entities."""
    head = beginning(path)
    root = re.search(r"<(?:\w+:)?([A-Za-z]\w*)", head)
    if root and root[1] in NETWORKX_FORMATS:
        raise networkx_error(path, root[1])
    if "<!DOCTYPE" in head:  # declares entities, which can expand or refer to other files
        raise FormatError(f"{path} has a DOCTYPE, which a tree does not need and which is not read.")
    if root and root[1] != "phyloxml":
        raise FormatError(
            f"{path} is a {root[1]} file in XML, which is not read: convert it to Newick, PhyloXML or an edge list."
        )


def read_phyloxml(path: Path) -> EdgeList:
    """The first tree of a PhyloXML file; called in the separate process."""
    phylo: Any = import_module("Bio.Phylo")
    with open_bytes(path) as file:
        trees = phylo.parse(file, "phyloxml")
        tree = next(trees, None)
        if tree is None:
            raise FormatError(f"{path} holds no tree.")
        more = sum(1 for _ in trees)
    names, parents, lengths, waiting, supports = list[str](), array("q"), array("d"), [(tree.root, -1)], 0
    while waiting:  # parents before their children, which stay in their order
        clade, parent = waiting.pop()
        taxonomy = getattr(clade, "taxonomy", None)
        name = clade.name or (taxonomy and (taxonomy.scientific_name or taxonomy.code)) or ""
        waiting += [(child, len(names)) for child in reversed(clade.clades)]
        names.append(as_text(name.strip()))
        parents.append(parent)
        lengths.append(np.nan if clade.branch_length is None else float(clade.branch_length))
        supports += clade.confidence is not None
    if np.isinf(lengths).any():
        raise FormatError(f"{path}: the length of a branch must be finite.")
    notes = [f"support values left out: {supports}."] if supports else []
    return as_edges(names, parents, lengths, more + 1, notes, path)
