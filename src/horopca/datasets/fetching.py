"""Data that is downloaded by pooch on first use, and checked by SHA-256 on every use.

Files are stored in the folder that the environment variable HOROPCA_DATA names, by default in the user's cache.
"""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from .._input.arguments import check_choice, check_count
from ..io import EdgeList, load, load_edges

GRAPHS = ("smalltree", "phylo-tree", "bio-diseasome", "ca-CSphd")
DIMENSIONS = (10, 50)
NETWORKS = ("polbooks", "football", "polblogs")
VERSIONS = (1, 2, 3, 4, 5)

# The addresses from which the files of each folder are downloaded.
URLS = {
    "graphs": "https://raw.githubusercontent.com/HazyResearch/HoroPCA/b0e3ffa0c17db7ad613ac200ebffb27a8300cd43/data/edges/",
    "embeddings": "https://raw.githubusercontent.com/HazyResearch/HoroPCA/b0e3ffa0c17db7ad613ac200ebffb27a8300cd43/data/embeddings/",
    "realnet": "https://raw.githubusercontent.com/hhcho/hyplinear/f4b74e06047bbe20bdbd0275ac8adafda3edc895/data/realnet/",
}


def registry() -> dict[str, str]:
    """The SHA-256 of each file, by its name."""
    text = (files("horopca.datasets") / "data" / "registry.txt").read_text(encoding="ascii")
    return {name: digest for digest, name in (line.split() for line in text.splitlines())}


def _fetched(name: str) -> Path:
    """The path of a file of the registry, which is downloaded if it is missing or has another SHA-256."""
    folder, _, base = name.partition("/")
    url = URLS[folder] + base
    by_hand = f"Without a network, put the file from {url} into $HOROPCA_DATA/{folder}/."
    try:
        import pooch

        pooch.get_logger().setLevel("WARNING")
        home = pooch.create(pooch.os_cache("horopca"), "", registry=registry(), urls={name: url}, env="HOROPCA_DATA")
        return Path(home.fetch(name))
    except ImportError as error:
        raise ImportError(f"Data sets are downloaded with pooch: pip install pooch. {by_hand}") from error
    except ValueError as error:
        raise ValueError(f"The download from {url} has another SHA-256 than the original, and was deleted.") from error
    except OSError as error:  # includes the exceptions of requests
        raise OSError(f"{url} could not be fetched ({type(error).__name__}). {by_hand}") from error


def fetch_graph(name: str) -> EdgeList:
    """One of the paper's four graphs.

    Parameters
    ----------
    name : {"smalltree", "phylo-tree", "bio-diseasome", "ca-CSphd"}
        A balanced tree, a phylogenetic tree, relations between diseases, and between doctoral students and their advisers.

    Returns
    -------
    EdgeList
        ``names`` and ``edges`` (m, 2); the embeddings of `horopca.embed` take it as it is.

    See Also
    --------
    fetch_embedding : the paper's embedding of it

    Examples
    --------
    >>> from horopca.datasets import fetch_graph
    >>> len(fetch_graph("ca-CSphd").names)  # doctest: +SKIP
    1025
    """
    check_choice("name", name, GRAPHS)
    return load_edges(_fetched(f"graphs/{name}.edges"))


def fetch_embedding(name: str, dimension: int = 10) -> np.ndarray:
    """The paper's embedding of one of its graphs in the Poincaré ball.

    Parameters
    ----------
    name : {"smalltree", "phylo-tree", "bio-diseasome", "ca-CSphd"}
        The graph, as in `fetch_graph`.
    dimension : {10, 50}
        The dimension of the ball.

    Returns
    -------
    ndarray of shape (n_nodes, dimension)
        Row i is node i.

    See Also
    --------
    fetch_graph : the graph

    Examples
    --------
    >>> from horopca.datasets import fetch_embedding
    >>> fetch_embedding("ca-CSphd").shape  # doctest: +SKIP
    (1025, 10)
    """
    check_choice("name", name, GRAPHS)
    if dimension not in DIMENSIONS:
        raise ValueError(f"dimension must be 10 or 50, but is {dimension!r}.")
    return load(_fetched(f"embeddings/{name}_{dimension}_poincare.npy")).X


def fetch_network(name: str, version: int = 1) -> tuple[np.ndarray, list[str], np.ndarray]:
    """A labelled network with an embedding in the Poincaré disk (of Cho and others, 2019).

    Parameters
    ----------
    name : {"polbooks", "football", "polblogs"}
        Books on politics (105), football teams (115), blogs on politics (1224 nodes).
    version : {1, 2, 3, 4, 5}
        Which of five embeddings.

    Returns
    -------
    points : ndarray of shape (n_nodes, 2)
    labels : list of n_nodes names
    adjacency : ndarray of shape (n_nodes, n_nodes)
        1 for an edge, 0 otherwise.

    See Also
    --------
    horopca.metrics.classification.compare_classifiers : classifiers of such points

    Examples
    --------
    >>> from horopca.datasets import fetch_network
    >>> points, labels, adjacency = fetch_network("football")  # doctest: +SKIP
    >>> points.shape  # doctest: +SKIP
    (115, 2)
    """
    check_choice("name", name, NETWORKS)
    check_count("version", version, VERSIONS[0], VERSIONS[-1])
    path = _fetched(f"realnet/{name}_data_{version}.mat")
    table: Any = load(path, key="B")
    return table.X, table.labels, load(path, key="A").X
