"""Trees: Newick and Nexus, read here, and PhyloXML, read by Biopython.

Biopython also reads Nexus, but not the annotations that BEAST writes, nor deep trees, and it needs quadratic time for many
taxa; Nexus is Newick with a table of names.
"""

from __future__ import annotations

import re
from array import array
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from importlib import import_module
from itertools import chain, groupby, takewhile
from pathlib import Path
from typing import Any

import numpy as np

from .files import Budget, EdgeList, FormatError, as_text
from .text import beginning, is_number, number, open_bytes, read_whole

ZERO_LENGTH = 1e-3  # The length of a branch of zero or negative length, as a share of the mean length.
NODE_BYTES = 200  # Bytes of a node: its name, its parent and its length while they are read and as arrays.
# Comments, words in quotation marks (two of which are one inside), marks, words. No part can match a text in two ways.
TOKEN = re.compile(r"""\[[^]]*+]|'[^']*+(?:''[^']*+)*+'|"[^"]*+"|[()\[\],:;']|[^\s()\[\],:;']+""")
MARKS = ("(", ")", ",", ":", ";")
TREE = ("TREE", "UTREE")  # The commands of Nexus that begin a tree.
SUPPORT = re.compile(r"[\d.]+(?:/[\d.]+)*(?:[eE]-?\d+)?")  # "95", "0.99", or "97.3/100" of IQ-TREE


def as_edges(
    names: list[str], parents: Sequence[int], lengths: Sequence[float], trees: int, notes: Sequence[str], where: Path | str
) -> EdgeList:
    """A tree with its edges from children to parents, all lengths positive and all names different.

    The nodes are in any order: "" is no name, -1 the parent of the root, NaN no length. Raises FormatError if there are fewer
    than two. Notes of the result say how many trees the file has, and what was replaced or left out.
    """
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

    def numbered(name: str, leaf: bool) -> str:
        return f"{name} ({numbers[name]})" if name else f"{'leaf' if leaf else 'inner'} {numbers[name]}"

    for name, leaf in zip(names, is_leaf, strict=True):
        name = name if leaf or name not in supports else ""
        numbers[name] += 1
        if name and numbers[name] == 1:
            unique.append(name)
            continue
        while numbered(name, leaf) in counts:
            numbers[name] += 1
        unique.append(numbered(name, leaf))
    if repeated := sum(times - 1 for name, times in counts.items() if name and name not in supports):
        notes.append(f"repeated names: {repeated}, numbered in brackets.")
    if left_out := sum(name in supports for name in known):
        notes.append(f"support values left out: {left_out}.")
    return unique


# ---------------------------------------------------------------- Newick and Nexus


def read_newick(path: Path) -> EdgeList:
    """The first tree of a file in Newick's format, or of the block TREES of a Nexus file."""
    budget, annotations = Budget(path), list[str]()
    text = read_whole(path, budget)
    commands = _commands(_tokens(text, path, annotations))
    if text.lstrip()[:6].upper() == "#NEXUS":
        tree, translate = _first_tree(commands, budget)
        nodes = _newick(tree, translate, budget)
        more = sum(next(command, "").upper() in TREE for command in commands)
    else:
        nodes = _newick(next(commands, iter(())), {}, budget)
        more = sum("(" in command for command in commands)
    notes = [f"annotations in square brackets left out: {len(annotations)}."] if annotations else []
    return as_edges(*nodes, more + 1, notes, path)


def _tokens(text: str, path: Path, annotations: list[str]) -> Iterator[str]:
    """The marks and words of a text; quoted words begin with a quotation mark. Comments are skipped, annotations collected."""
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
    """The commands of a text, each as its tokens up to the semicolon; what the caller does not read of one is skipped."""
    for token in tokens:
        command = takewhile(lambda word: word != ";", chain([token], tokens))
        yield command
        deque(command, maxlen=0)


def _first_tree(commands: Iterator[Iterator[str]], budget: Budget) -> tuple[Iterator[str], dict[str, str]]:
    """The tokens of the first tree of the block TREES of a Nexus file, and the names of its TRANSLATE."""
    translate = dict[str, str]()
    if not any([*deque(map(str.upper, command), maxlen=2)] == ["BEGIN", "TREES"] for command in commands):
        raise FormatError(f"{budget.path} is a Nexus file without a block TREES.")
    for command in commands:
        name = next(command, "").upper()
        if name == "TRANSLATE":
            translate = _translation(command, budget)
        elif name in ("END", "ENDBLOCK"):
            break
        elif name in TREE and "(" in command:
            return chain("(", command), translate
    raise FormatError(f"{budget.path} has a block TREES without a tree.")


def _translation(command: Iterator[str], budget: Budget) -> dict[str, str]:
    """The names behind short ones, "1 cat, 2 lion"."""
    names = dict[str, str]()
    for is_comma, tokens in groupby(command, ",".__eq__):
        short, *words = ("",) if is_comma else [token.removeprefix("'") for token in tokens]
        if words:
            name = " ".join(words)
            budget.claim(2 * NODE_BYTES + 4 * len(name))
            names[short] = name
    return names


def _newick(tokens: Iterator[str], translate: dict[str, str], budget: Budget) -> tuple[list[str], array[int], array[float]]:
    """Names, parents and lengths of the nodes of the tree that the tokens spell, children before their parents."""
    names, parents, lengths = list[str](), array("q"), array("d")
    levels = [list[int]()]  # the children so far of every parenthesis that is open
    node, before, words = -1, "", list[str]()

    def new_node() -> int:
        budget.claim(NODE_BYTES)
        names.append("")
        parents.append(-1)
        lengths.append(np.nan)
        return len(names) - 1

    for token in chain(tokens, ";"):
        if token not in MARKS:
            words.append(token.removeprefix("'"))
            continue
        if node < 0 and (words or token in ",:)"):
            node = new_node()
        if words and before == ":":
            lengths[node] = edge_length(" ".join(words), budget.path)
        elif words:
            name = translate.get(words[0], words[0]) if len(words) == 1 else " ".join(words)
            budget.claim(4 * len(name))
            names[node] = as_text(name)
        before, words = token, []
        if token == "(" and node < 0:
            budget.claim(NODE_BYTES)
            levels.append([])
        elif token == "(" or (token in ",)" and len(levels) == 1):
            where = "follows a node" if token == "(" else "stands outside of all parentheses"
            raise FormatError(f"{budget.path} is not a tree in Newick format: a {token!r} {where}.")
        elif token in ",)":
            levels[-1].append(node)
            node = -1 if token == "," else new_node()
            for child in levels.pop() if token == ")" else ():
                parents[child] = node
    if len(levels) > 1:
        raise FormatError(f"{budget.path} is cut short: its tree has {len(levels) - 1} '(' without a ')'.")
    return names, parents, lengths


def edge_length(text: str, where: Path | str, above: float = -np.inf) -> float:
    """The length of an edge that a text spells. Raises FormatError if it is not a finite number above a bound."""
    with suppress(ValueError):
        if above < (length := number(text)) < np.inf:
            return length
    sort = "finite" if above < 0 else "positive"
    raise FormatError(f"{where}: the length of an edge must be a {sort} number, but is {text[:40]!r}.")


# ---------------------------------------------------------------- PhyloXML


def read_phyloxml(path: Path) -> EdgeList:
    """The first tree that Biopython finds; called in the separate process."""
    head = beginning(path)
    if "<!DOCTYPE" in head:  # declares entities, which can expand or refer to other files
        raise FormatError(f"{path} has a DOCTYPE, which a tree does not need and which is not read.")
    root = re.search(r"<(?:\w+:)?([A-Za-z]\w*)", head)
    if root and root[1] != "phyloxml":
        raise FormatError(
            f"{path} is a {root[1]} file in XML, which is not read: convert it to Newick, PhyloXML or a list of edges."
        )
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
