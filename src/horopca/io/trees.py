"""Trees: Newick and Nexus, read here, and PhyloXML, read by Biopython.

Biopython also reads Nexus, but not the annotations that BEAST writes, nor deep trees, and it needs quadratic time for many
taxa; Nexus is Newick with a table of names.
"""

from __future__ import annotations

import re
from array import array
from collections import Counter
from collections.abc import Iterator, Sequence
from importlib import import_module
from itertools import chain, count, takewhile
from pathlib import Path
from typing import Any

import numpy as np

from .files import Budget, EdgeList, FormatError, as_text
from .subprocess_reader import in_subprocess
from .text import beginning, is_number, number, open_bytes, read_whole

ZERO_LENGTH = 1e-3  # The length of a branch of zero or negative length, as a share of the mean length.
NODE_BYTES = 200  # Bytes of a node: its name, its parent and its length while they are read and as arrays.
TOKEN = re.compile(r"""[()\[\],:;']|"[^"]*"|[^\s()\[\],:;']+""")
TOKEN_BYTES = 100  # Bytes of a token that is kept.
TREE, END = ("TREE", "UTREE"), ("END", "ENDBLOCK")  # The commands of Nexus that begin a tree, and that end a block.
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
    names, renamed = _unique_names(names, is_leaf)
    weights, replaced = _positive(np.array(lengths, dtype=float)[child])
    first = [f"the first of {trees} trees was read."] if trees > 1 else []
    return EdgeList(names, np.stack([child, parent[child]], axis=1), weights, None, (*first, *notes, *renamed, *replaced))


def _positive(lengths: np.ndarray) -> tuple[np.ndarray | None, list[str]]:
    """Lengths that are all positive, or None if there is none; and notes on those that were replaced."""
    known, missing, short = lengths[lengths > 0], np.isnan(lengths), lengths <= 0
    if not known.size:
        return None, ["all branches have length zero or below: their lengths are left out."] if short.any() else []
    mean, notes = known.mean(), []
    if short.any():
        notes.append(f"branches of length zero or below: {short.sum()}, set to a thousandth of the mean length.")
    if missing.any():
        notes.append(f"branches without a length: {missing.sum()}, set to the mean length, {mean:.3g}.")
    return np.where(missing, mean, np.where(short, ZERO_LENGTH * mean, lengths)), notes


def _unique_names(names: list[str], is_leaf: np.ndarray) -> tuple[list[str], list[str]]:
    """Different names for all nodes, and notes on those that were changed. Numbers at inner nodes are support values."""
    inner = [name for name, leaf in zip(names, is_leaf, strict=True) if name and not leaf]
    leaves_are_numbers = all(name.isdigit() for name, leaf in zip(names, is_leaf, strict=True) if leaf)
    identifiers = leaves_are_numbers and len(set(inner)) == len(inner) and all(name.isdigit() for name in inner)
    supports = {name for name in inner if SUPPORT.fullmatch(name)} if not identifiers else set[str]()
    counts, numbers, unique = Counter(names), Counter[str](), list[str]()

    for name, leaf in zip(names, is_leaf, strict=True):
        kept = name if leaf or name not in supports else ""
        before, after = (f"{kept} (", ")") if kept else ("leaf " if leaf else "inner ", "")
        if kept and not numbers[kept]:
            numbers[kept] = 1
            unique.append(kept)
        else:  # the next number that makes it different from all names
            numbers[kept] = next(k for k in count(numbers[kept] + 1) if f"{before}{k}{after}" not in counts)
            unique.append(f"{before}{numbers[kept]}{after}")
    repeated = sum(times - 1 for name, times in counts.items() if name and name not in supports)
    left_out = sum(name in supports for name in inner)
    notes = [f"repeated names: {repeated}, numbered in brackets."] if repeated else []
    return unique, [*notes, *([f"support values left out: {left_out}."] if left_out else [])]


# ---------------------------------------------------------------- Newick and Nexus


def _tokens(text: str, path: Path, annotations: list[str]) -> Iterator[str]:
    """The marks and words of a text; quoted words begin with a quotation mark. Comments are skipped, annotations collected."""

    def closing(mark: str) -> int:
        end = text.find(mark, at)
        if end < 0:
            raise FormatError(f"{path} is not a tree in Newick format: a {text[at - 1]!r} is not closed.")
        return end

    at = 0
    while found := TOKEN.search(text, at):
        token, at = found[0], found.end()
        if token == "[":
            end = closing("]")
            comment = text[at:end].strip()
            if is_number(comment) or (comment[:1] == "&" and comment.upper() not in ("&R", "&U")):
                annotations.append(comment[:1])
            at = end + 1
        elif token == "'":
            parts = list[str]()
            while not parts or text[at : at + 1] == "'":  # two of them are one inside
                at += bool(parts)
                end = closing("'")
                parts.append(text[at:end])
                at = end + 1
            yield "'" + "'".join(parts)
        else:  # the standard has no double quotes, but some programs write them
            yield "'" + token[1:-1] if token[0] == token[-1] == '"' != token else token


def read_newick(path: Path) -> EdgeList:
    """The first tree of a file in Newick's format, or of the block TREES of a Nexus file."""
    budget = Budget(path)
    text = read_whole(path, budget)
    annotations, translate = list[str](), dict[str, str]()
    tokens = _tokens(text, path, annotations)
    nexus = text.lstrip()[:6].upper() == "#NEXUS"
    if nexus:
        next(tokens)
        translate = _to_first_tree(tokens, budget)
    names, parents, lengths = _newick(chain("(", tokens) if nexus else tokens, translate, budget)
    more = _count_trees(takewhile(lambda token: token.upper() not in END, tokens) if nexus else tokens)
    notes = [f"annotations in square brackets left out: {len(annotations)}."] if annotations else []
    return as_edges(names, parents, lengths, more + 1, notes, path)


def _to_first_tree(tokens: Iterator[str], budget: Budget) -> dict[str, str]:
    """Go behind the opening parenthesis of the first tree of the block TREES. Returns the names of its TRANSLATE."""
    command, block, translate = list[str](), "", dict[str, str]()
    for token in tokens:
        first = (command or [token])[0].upper()
        if token == "(" and block == "TREES" and first in TREE:
            return translate
        if len(command) < 2 or first == "TRANSLATE":
            budget.claim(TOKEN_BYTES + 4 * len(token))
            command.append(token)
        if token == ";":
            block = command[1].upper() if first == "BEGIN" else "" if first in END else block
            translate = _translation(command[1:]) if first == "TRANSLATE" else translate
            command = []
    raise FormatError(f"{budget.path} is a Nexus file without a tree in a block TREES.")


def _translation(tokens: list[str]) -> dict[str, str]:
    """The names behind short ones, "1 cat, 2 lion;"."""
    names, words = dict[str, str](), list[str]()
    for token in tokens:
        if token not in (",", ";"):
            words.append(token.removeprefix("'"))
        elif len(words) > 1:
            names[words[0]] = " ".join(words[1:])
        if token in (",", ";"):
            words = []
    return names


def _count_trees(tokens: Iterator[str]) -> int:
    """The number of further trees: semicolons after an opening parenthesis."""
    trees, inside = 0, False
    for token in tokens:
        inside = inside or token == "("
        trees += inside and token == ";"
        inside = inside and token != ";"
    return trees


def _newick(tokens: Iterator[str], translate: dict[str, str], budget: Budget) -> tuple[list[str], array[int], array[float]]:
    """Names, parents and lengths of the nodes of the tree that the tokens spell, children before their parents."""
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


# ---------------------------------------------------------------- PhyloXML

_read_phyloxml = in_subprocess("trees", "read_phyloxml", "Bio", "a PhyloXML file", "trees")


def read_xml_tree(path: Path) -> EdgeList:
    """The first tree of a PhyloXML file."""
    head = beginning(path)
    if "<!DOCTYPE" in head:  # declares entities, which can expand or refer to other files
        raise FormatError(f"{path} has a DOCTYPE, which a tree does not need and which is not read.")
    root = re.search(r"<(?:\w+:)?([A-Za-z]\w*)", head)
    if root and root[1] != "phyloxml":
        raise FormatError(
            f"{path} is a {root[1]} file in XML, which is not read: convert it to Newick, PhyloXML or a list of edges."
        )
    found: EdgeList = _read_phyloxml(path)
    return found


def read_phyloxml(path: Path) -> EdgeList:
    """The first tree that Biopython finds; called in the separate process."""
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
        names.append(as_text(name.strip()))
        parents.append(parent)
        lengths.append(np.nan if clade.branch_length is None else float(clade.branch_length))
        supports += clade.confidence is not None
        waiting += [(child, len(names) - 1) for child in reversed(clade.clades)]
    if np.isinf(lengths).any():
        raise FormatError(f"{path}: the length of a branch must be finite.")
    notes = [f"support values left out: {supports}."] if supports else []
    return as_edges(names, parents, lengths, more + 1, notes, path)
