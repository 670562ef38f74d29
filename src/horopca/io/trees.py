"""Trees and ontologies as biologists have them: Newick, Nexus, PhyloXML, OBO.

Edges lead from a child to its parent. Lengths are kept. Where some are missing, these are of the mean length; where some are
zero or below, as neighbour joining makes them, these are a thousandth of the mean; where a file has none, all edges are alike.
Inner nodes keep the names that they alone have; the others, and those with numbers for names (how often a
branch was found), are called "inner 1", "inner 2", ...
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple
from xml.parsers import expat

import numpy as np

from .budget import Budget
from .files import FormatError, as_text, format_errors
from .lines import PACKED_ERRORS, is_number, lines, open_bytes, open_text

SHORT = 1e-3  # An edge without a length has this share of the mean length.
NODE = 400  # A node of a tree takes so many bytes here.
TOKEN = re.compile(r"\s+|\[[^\]]*\]|'(?:[^']|'')*'|[(),:;]|[^\s()\[\],:;']+|['\[]")


class Node(NamedTuple):
    name: str
    parent: int  # position of another node, -1 for the root
    length: float | None
    is_leaf: bool


class Linked(NamedTuple):
    """A graph: names, edges (m, 2) from child to parent, and lengths (m,) or None."""

    names: list[str]
    edges: np.ndarray
    weights: np.ndarray | None


def linked(nodes: list[Node], path: Path | str) -> Linked:
    """A tree as a graph, by the rules above."""
    if len(nodes) < 2:
        raise FormatError(f"{path} holds no tree with at least two nodes.")
    child = [i for i, node in enumerate(nodes) if node.parent >= 0]
    edges = np.array([(i, nodes[i].parent) for i in child])
    lengths = np.array([np.nan if nodes[i].length is None else nodes[i].length for i in child], dtype=float)
    return Linked(_names(nodes), edges, _positive(lengths))


def _positive(lengths: np.ndarray) -> np.ndarray | None:
    known = lengths[lengths > 0]
    if not known.size:
        return None
    mean = known.mean()
    return np.where(np.isnan(lengths), mean, np.where(lengths > 0, lengths, SHORT * mean))


def _names(nodes: list[Node]) -> list[str]:
    """A name of its own for every node; a leaf's second namesake is "name (2)"."""
    counts = Counter(node.name for node in nodes)
    taken, seen, inner, names = set(counts), Counter[str](), 0, []
    for node in nodes:
        name = node.name
        if not name or (not node.is_leaf and (counts[name] > 1 or is_number(name))):
            kind, name = ("leaf" if node.is_leaf else "inner"), ""
            while not name or name in taken:
                inner += 1
                name = f"{kind} {inner}"
        elif seen[name]:
            while name in taken:
                seen[node.name] += 1
                name = f"{node.name} ({seen[node.name]})"
        seen[node.name] += seen[node.name] == 0
        taken.add(name)
        names.append(name)
    return names


# ---------------------------------------------------------------- Newick and Nexus


def read_newick(path: Path) -> Linked:
    """The first tree of a file in Newick's format, or of the TREES of a Nexus file."""
    with open_text(path) as file:
        text = "".join(lines(file, path))
    if text.lstrip()[:6].upper() == "#NEXUS":
        return read_nexus(text, path)
    return linked(_newick(TOKEN.findall(text), {}, Budget(path)), path)


def read_nexus(text: str, path: Path) -> Linked:
    """The first tree of the block TREES, with the names that its TRANSLATE gives."""
    tokens = [token for token in TOKEN.findall(text) if not token.isspace() and token[0] != "["]
    upper = [token.upper() for token in tokens]
    starts = [i for i in range(len(upper) - 2) if upper[i : i + 3] == ["BEGIN", "TREES", ";"]]
    if not starts:
        raise FormatError(f"{path} is a Nexus file without a block TREES.")
    at, translate = starts[0] + 3, {}
    while at < len(tokens) and upper[at] not in ("TREE", "UTREE", "END", "ENDBLOCK"):
        stop = upper.index(";", at) if ";" in upper[at:] else len(upper)
        if upper[at] == "TRANSLATE":
            translate = _translation(tokens[at + 1 : stop])
        at = stop + 1
    if at >= len(tokens) or "TREE" not in upper[at] or "(" not in tokens[at:]:
        raise FormatError(f"{path} has a block TREES without a tree.")
    return linked(_newick(tokens[tokens.index("(", at) :], translate, Budget(path)), path)


def _translation(tokens: list[str]) -> dict[str, str]:
    """The names behind short ones: "1 cat, 2 lion"."""
    pairs = " ".join("\0" if token == "," else _unquoted(token).replace("\0", "") for token in tokens).split("\0")
    split = [pair.strip().split(None, 1) for pair in pairs]
    return {pair[0]: pair[1] for pair in split if len(pair) == 2}


def _unquoted(token: str) -> str:
    return token[1:-1].replace("''", "'") if len(token) > 1 and token[0] == token[-1] == "'" else token


def _newick(tokens: Iterable[str], translate: dict[str, str], budget: Budget) -> list[Node]:
    """The nodes of the tree that the tokens spell, children before their parents, up to its semicolon."""
    path, growing = budget.path, _Growing(budget)
    wants_length = False
    for token in tokens:
        if token.isspace() or (token[0] == "[" and token != "["):
            continue
        if token == ";":
            break
        if token in ("'", "["):
            raise FormatError(f"{path} is no tree in Newick's format: a {token!r} is not closed.")
        if token in ("(", ",", ")"):
            growing.bracket(token)
        elif token == ":":
            growing.current()
        elif wants_length:
            growing.current()[2] = _length(token, path)
        else:
            node, plain = growing.current(), _unquoted(token)
            words = plain if token[0] == "'" else plain.replace("_", " ")
            node[0] = as_text(translate.get(plain, f"{node[0]} {words}".strip()))
        wants_length = token == ":"
    if growing.outer:
        raise FormatError(f"{path} is cut short: {len(growing.outer)} '(' of its tree are not closed.")
    return [Node(*node) for node in growing.nodes]


class _Growing:
    """A tree while its parentheses open and close."""

    def __init__(self, budget: Budget) -> None:
        self.budget, self.nodes = budget, list[list[Any]]()
        self.outer = list[list[list[Any]]]()  # the nodes met so far in every parenthesis that is open around this one,
        self.children = list[list[Any]]()  # those in this one,
        self.node: list[Any] | None = None  # and the one that is being spelt

    def current(self, is_leaf: bool = True) -> list[Any]:
        if self.node is None:
            self.budget.claim(NODE)
            self.node = ["", -1, None, is_leaf]
            self.nodes.append(self.node)
        return self.node

    def bracket(self, token: str) -> None:
        if token == "(" and self.node is None:
            self.outer.append(self.children)
            self.children = []
            return
        if token == "(" or not self.outer:
            where = "follows a node" if token == "(" else "stands outside of all parentheses"
            raise FormatError(f"{self.budget.path} is no tree in Newick's format: a {token!r} {where}.")
        self.children.append(self.current())
        self.node = None
        if token == ")":
            self.current(is_leaf=False)
            for child in self.children:
                child[1] = len(self.nodes) - 1
            self.children = self.outer.pop()


def _length(token: str, path: Path) -> float:
    try:
        length = float(token)
    except ValueError:
        raise FormatError(f"{path}: the length {token[:40]!r} of a branch is not a number.") from None
    if not np.isfinite(length):
        raise FormatError(f"{path}: the length of a branch must be finite, but is {token[:40]}.")
    return length


# ---------------------------------------------------------------- PhyloXML


class _Clades:
    """What the reader of XML calls: the clades of the first phylogeny, as they begin and end."""

    def __init__(self, budget: Budget) -> None:
        self.budget, self.nodes, self.path = budget, list[list[Any]](), list[int]()
        self.inside, self.text, self.trees = list[str](), list[str](), 0

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        tag = tag.rpartition(":")[2]
        self.budget.claim(NODE)
        self.trees += tag == "phylogeny"
        if tag == "clade" and self.trees == 1:
            parent = self.path[-1] if self.path else -1
            length = attributes.get("branch_length")
            self.nodes.append(["", parent, None if length is None else _length(length, self.budget.path), True])
            if parent >= 0:
                self.nodes[parent][3] = False
            self.path.append(len(self.nodes) - 1)
        self.inside.append(tag)
        self.text = []

    def characters(self, text: str) -> None:
        self.text.append(text)

    def end(self, tag: str) -> None:
        tag, text = self.inside.pop(), "".join(self.text).strip()
        outer = self.inside[-1:]
        if tag == "clade" and self.path:
            self.path.pop()
        elif self.path and outer == ["clade"] and tag == "name":
            self.nodes[self.path[-1]][0] = as_text(text)
        elif self.path and outer == ["clade"] and tag == "branch_length":
            self.nodes[self.path[-1]][2] = _length(text, self.budget.path)
        elif self.path and outer == ["taxonomy"] and tag in ("scientific_name", "code") and not self.nodes[self.path[-1]][0]:
            self.nodes[self.path[-1]][0] = as_text(text)
        self.text = []


def read_phyloxml(path: Path) -> Linked:
    """The first phylogeny of a PhyloXML file. A file with declarations of its own (DOCTYPE) is refused: they can swell."""
    clades, parser = _Clades(Budget(path)), expat.ParserCreate()

    def refuse(*_: Any) -> None:
        raise FormatError(f"{path} has a DOCTYPE, which PhyloXML does not need and which is not read.")

    parser.StartDoctypeDeclHandler = refuse
    parser.StartElementHandler, parser.EndElementHandler = clades.start, clades.end
    parser.CharacterDataHandler = clades.characters
    with format_errors(path, "is damaged, cut short, or not XML", expat.ExpatError, *PACKED_ERRORS), open_bytes(path) as file:
        while part := file.read(1 << 16):
            clades.budget.claim(len(part))
            parser.Parse(part)
        parser.Parse(b"", True)
    return linked([Node(*node) for node in clades.nodes], path)


# ---------------------------------------------------------------- OBO


def read_obo(path: Path) -> Linked:
    """The terms of an ontology in OBO's format and what each is a kind of (``is_a``); obsolete terms are left out."""
    called, above = dict[str, str](), list[tuple[str, str]]()
    for stanza in _stanzas(path):
        if "true" in stanza.get("is_obsolete", []) or "id" not in stanza:
            continue
        term = stanza["id"][0]
        called[term] = as_text(stanza.get("name", [term])[0])
        above += [(term, parent) for parent in stanza.get("is_a", [])]
    position = {term: i for i, term in enumerate(called)}
    edges = [(position[child], position[parent]) for child, parent in above if parent in position and child != parent]
    if not edges:
        raise FormatError(f"{path} holds no terms of which one is a kind of another (is_a).")
    counts = Counter(called.values())
    names = [name if counts[name] == 1 else f"{name} ({term})" for term, name in called.items()]
    joined = sorted({i for edge in edges for i in edge})
    rank = {i: k for k, i in enumerate(joined)}
    return Linked([names[i] for i in joined], np.array([(rank[u], rank[v]) for u, v in dict.fromkeys(edges)]), None)


def _stanzas(path: Path) -> Iterator[dict[str, list[str]]]:
    """The [Term]s of a file: tags with their values, without comments and what else is in braces behind them."""
    stanza: dict[str, list[str]] | None = None
    with open_text(path) as file:
        for line in lines(file, path):
            text = line.strip()
            if text.startswith("["):
                if stanza:
                    yield stanza
                stanza = {} if text == "[Term]" else None
            elif stanza is not None and ":" in text:
                tag, _, value = text.partition(":")
                plain = value if tag == "name" else re.split(r"\s*[!{]", value, maxsplit=1)[0]
                stanza.setdefault(tag, []).append(plain.strip())
    if stanza:
        yield stanza
