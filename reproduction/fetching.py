"""The paper's data, downloaded by pooch on first use and checked by SHA-256 on every use.

Files are stored in the folder that the environment variable HOROPCA_DATA names, by default in the user's cache.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from horopca.io import EdgeList, load, load_edges

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
    """A labelled network with an embedding in the Poincaré disk (of Cho and others, 2019)."""

    points: np.ndarray  # (n, 2)
    labels: list[str]  # n
    adjacency: np.ndarray  # (n, n), 0 and 1


def registry() -> dict[str, str]:
    """File -> SHA-256 of its content."""
    text = (Path(__file__).parent / "registry.txt").read_text(encoding="ascii")
    return {name: digest for digest, name in (line.split() for line in text.splitlines())}


def fetched(name: str) -> Path:
    """Path of a file of the registry, downloaded if it is not there yet or not the original."""
    folder, _, base = name.partition("/")
    url = HOMES[folder] + base
    by_hand = f"Without a network, put the file from {url} into $HOROPCA_DATA/{folder}/."
    try:
        import pooch

        pooch.get_logger().setLevel("WARNING")
        home = pooch.create(pooch.os_cache("horopca"), "", registry=registry(), urls={name: url}, env="HOROPCA_DATA")
        return Path(home.fetch(name))
    except ImportError as error:
        raise ImportError(f"The paper's data is read with pooch: pip install pooch. {by_hand}") from error
    except ValueError as error:
        raise ValueError(f"The download from {url} has another SHA-256 than the original, and was deleted.") from error
    except OSError as error:  # includes the exceptions of requests
        raise OSError(f"{url} could not be fetched ({type(error).__name__}). {by_hand}") from error


def fetch_graph(name: str) -> EdgeList:
    """One of the paper's GRAPHS."""
    return load_edges(fetched(f"graphs/{name}.edges"))


def fetch_embedding(name: str, dimension: int = 10) -> np.ndarray:
    """The paper's embedding of one of its GRAPHS in the Poincaré ball, (n, dimension). Row i is node i."""
    return load(fetched(f"embeddings/{name}_{dimension}_poincare.npy")).X


def fetch_network(name: str, version: int = 1) -> Network:
    """One of the VERSIONS of the embedding of one of the NETWORKS."""
    path = fetched(f"realnet/{name}_data_{version}.mat")
    table: Any = load(path, key="B")
    return Network(table.X, table.labels, load(path, key="A").X)
