"""The mammals of WordNet, bundled: names, hypernyms, and a Poincaré embedding in ten dimensions."""

from __future__ import annotations

from importlib.resources import as_file, files
from typing import NamedTuple

import numpy as np

from ..io import load_edges

# The synsets that are too large to be one class: each of their children is a class.
LARGE = ("mammal.n.01", "placental.n.01", "carnivore.n.01", "ungulate.n.01")


class Mammals(NamedTuple):
    """1182 kinds of mammals, each a synset of WordNet 3.0; returned by `load_mammals`.

    The licence of WordNet is in the folder data/mammals of this package.
    """

    points: np.ndarray  #: (n, 10), in the Poincaré ball
    names: list[str]  #: n, for display: "burmese cat"
    synsets: list[str]  #: n, different from each other: "burmese_cat.n.01"
    edges: np.ndarray  #: (m, 2) rows of a synset and of its hypernym
    labels: list[str]  #: n, the branch each belongs to: "feline", "rodent", ...

    @property
    def parent(self) -> np.ndarray:
        """Row of each synset's first hypernym, -1 for the root, mammal; shape (n,)."""
        parent = np.full(len(self.names), -1)
        parent[self.edges[::-1, 0]] = self.edges[::-1, 1]
        return parent


def load_mammals() -> Mammals:
    """The subtree of WordNet's nouns under mammal.n.01, with a Poincaré embedding of its closure in ten dimensions.

    The hypernyms form a tree, except that the elephant has two: it is both a pachyderm and a proboscidean.

    Returns
    -------
    Mammals
        ``points`` (1182, 10), ``names``, ``synsets``, ``edges`` (1182, 2), ``labels``, ``parent`` (1182,).

    See Also
    --------
    make_hierarchy : synthetic points of a tree

    Examples
    --------
    >>> mammals = load_mammals()
    >>> row = mammals.names.index("burmese cat")
    >>> mammals.synsets[row], mammals.names[mammals.parent[row]], mammals.labels[row]
    ('burmese_cat.n.01', 'domestic cat', 'feline')
    """
    folder = files("horopca.datasets") / "data" / "mammals"
    with as_file(folder / "edges.txt") as path:
        graph = load_edges(path)
    with as_file(folder / "embedding.npz") as path, np.load(path, allow_pickle=False) as archive:
        points = archive["X"].astype(np.float64)
    names = [synset.rpartition(".n.")[0].replace("_", " ") for synset in graph.names]
    mammals = Mammals(points, names, graph.names, graph.edges, [])
    large, parent = {graph.names.index(synset) for synset in LARGE}, mammals.parent
    for row in range(len(names)):  # the label is the highest ancestor that is not one of the largest
        while row not in large and parent[row] not in large:
            row = parent[row]
        mammals.labels.append(names[row])
    return mammals
