"""The paper's data. Raises MissingData, which names the file, if it cannot be found."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from horopca.datasets import fetch_embedding, fetch_graph, fetch_network
from horopca.embed.graphs import Graph, as_graph

from ..paper import GRAPHS


class MissingData(Exception):
    """A data set is missing and cannot be downloaded."""


def _or_missing(fetch: Callable[..., Any], *arguments: Any) -> Any:
    try:
        return fetch(*arguments)
    except (OSError, ImportError, ValueError) as error:  # no network, no pooch, or a wrong file
        raise MissingData(str(error)) from error


@lru_cache(maxsize=8)
def embedding(graph: str, dimension: int = 10) -> np.ndarray:
    """The paper's embedding of one of its graphs (n, dimension), in the Poincaré ball."""
    return _or_missing(fetch_embedding, GRAPHS[graph], dimension)


@lru_cache(maxsize=4)
def graph(name: str) -> Graph:
    return as_graph(_or_missing(fetch_graph, GRAPHS[name]))


def network(name: str, version: int) -> tuple[np.ndarray, list[str], np.ndarray]:
    """The points (n, 2), labels and adjacency matrix of one of the networks."""
    return _or_missing(fetch_network, name, version)
