"""Data that is downloaded on first use, checked by SHA-256 and cached.

Files are looked for in the folder HOROPCA_DATA (an environment variable), then in the cache, then on the network.
"""

from __future__ import annotations

import hashlib
import os
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .._input.arguments import check_choice, check_count
from ..io import EdgeList, load, load_edges

GRAPHS = ("smalltree", "phylo-tree", "bio-diseasome", "ca-CSphd")
DIMENSIONS = (10, 50)
NETWORKS = ("polbooks", "football", "polblogs")
VERSIONS = (1, 2, 3, 4, 5)

# Where the files of each folder are downloaded from.
HOMES = {
    "graphs": "https://raw.githubusercontent.com/HazyResearch/HoroPCA/b0e3ffa0c17db7ad613ac200ebffb27a8300cd43/data/edges/",
    "embeddings": "https://raw.githubusercontent.com/HazyResearch/HoroPCA/b0e3ffa0c17db7ad613ac200ebffb27a8300cd43/data/embeddings/",
    "realnet": "https://raw.githubusercontent.com/hhcho/hyplinear/f4b74e06047bbe20bdbd0275ac8adafda3edc895/data/realnet/",
}


class Network(NamedTuple):
    """A labelled network with an embedding in the Poincaré disk."""

    points: np.ndarray  # (n, 2)
    labels: list[str]  # n
    adjacency: np.ndarray  # (n, n), 0 and 1


def registry() -> dict[str, str]:
    """File -> SHA-256 of its content."""
    text = (files("horopca.datasets") / "data" / "registry.txt").read_text(encoding="ascii")
    return {name: digest for digest, name in (line.split() for line in text.splitlines())}


def fetch(name: str) -> Path:
    """The path of a data file on this machine, downloaded if it is not there yet.

    Parameters
    ----------
    name : str
        As in the registry, e.g. "graphs/ca-CSphd.edges".

    Returns
    -------
    Path
        Of a file with the right SHA-256. A file with another one raises ValueError; if it was downloaded, it is deleted.

    See Also
    --------
    fetch_graph, fetch_embedding, fetch_network : the contents of the files

    Examples
    --------
    >>> from horopca.datasets import fetch
    >>> fetch("graphs/ca-CSphd.edges").name  # doctest: +SKIP
    'ca-CSphd.edges'
    """
    known = registry()
    if name not in known:
        raise ValueError(f"name must be a file of the registry, such as {next(iter(known))!r}, but is {name!r}.")
    folder = os.environ.get("HOROPCA_DATA")
    if folder and not Path(folder).is_dir():
        raise FileNotFoundError(f"HOROPCA_DATA names {folder}, but there is no such folder. Correct it, or unset it.")
    local = Path(folder or "a folder that HOROPCA_DATA names") / name
    if not folder or not local.exists():
        return _retrieved(name, known[name], local)
    found = hashlib.sha256(local.read_bytes()).hexdigest()
    if found != known[name]:
        raise ValueError(
            f"{local} is not the file it should be: its SHA-256 is {found}, that of the original {known[name]}. "
            "Replace it, or unset HOROPCA_DATA to fetch the original."
        )
    return local


def _retrieved(name: str, digest: str, local: Path) -> Path:
    group, _, base = name.partition("/")
    url = HOMES[group] + base
    by_hand = f"Without a network, put the file from {url} into {local}."
    try:
        import pooch

        pooch.get_logger().setLevel("WARNING")
        return Path(pooch.retrieve(url, f"sha256:{digest}", fname=base, path=pooch.os_cache("horopca") / group))
    except ImportError as error:
        raise ImportError(f"{name} is fetched with pooch: pip install pooch. {by_hand}") from error
    except ValueError as error:
        raise ValueError(f"The download from {url} has another SHA-256 than the file should, and was deleted.") from error
    except OSError as error:  # requests' exceptions are among them
        raise OSError(f"{url} could not be fetched ({type(error).__name__}). {by_hand}") from error


def fetch_graph(name: str) -> EdgeList:
    """One of the paper's four graphs.

    Parameters
    ----------
    name : {"smalltree", "phylo-tree", "bio-diseasome", "ca-CSphd"}
        A balanced tree, a phylogenetic tree, relations of diseases, and of doctoral students with advisers.

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
    return load_edges(fetch(f"graphs/{name}.edges"))


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
    return load(fetch(f"embeddings/{name}_{dimension}_poincare.npy")).X


def fetch_network(name: str, version: int = 1) -> Network:
    """A labelled network with an embedding in the Poincaré disk (of Cho and others, 2019).

    Parameters
    ----------
    name : {"polbooks", "football", "polblogs"}
        Books on politics (105), football teams (115), blogs on politics (1224 nodes).
    version : {1, 2, 3, 4, 5}
        Which of five embeddings.

    Returns
    -------
    Network
        ``points`` (n, 2), ``labels``, ``adjacency`` (n, n).

    See Also
    --------
    horopca.metrics.classification.compare_classifiers : classifiers of such points

    Examples
    --------
    >>> from horopca.datasets import fetch_network
    >>> fetch_network("football").points.shape  # doctest: +SKIP
    (115, 2)
    """
    check_choice("name", name, NETWORKS)
    check_count("version", version, VERSIONS[0], VERSIONS[-1])
    path = fetch(f"realnet/{name}_data_{version}.mat")
    table: Any = load(path, key="B")
    return Network(table.X, table.labels, load(path, key="A").X)
