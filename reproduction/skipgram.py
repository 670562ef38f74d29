"""Skip-gram embeddings of networks in polar coordinates (Chamberlain, Clough and Deisenroth, 2017)."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from horopca.embed.graphs import as_graph
from horopca.geometry import from_hyperboloid, to_hyperboloid

DAMPING = 0.75  # negative samples are drawn with probability proportional to visits**DAMPING, as in word2vec
START_RADIUS = 0.1
BATCH_SIZE = 1000


def skipgram(
    graph: Any,
    n_components: int = 2,
    *,
    n_walks: int = 10,
    walk_length: int = 40,
    window: int = 5,
    negatives: int = 5,
    epochs: int = 5,
    learning_rate: float = 0.02,
    seed: int = 0,
) -> tuple[list[Any], np.ndarray]:
    """Names of the nodes, and their points in the Poincaré ball, shape (n_nodes, n_components).

    A node has a radius r and a direction. The similarity of two nodes is r r' cos(angle); Adam minimises the skip-gram loss
    with negative sampling over the pairs of nodes that lie within `window` steps of each other in a random walk.
    """
    graph, rng = as_graph(graph), np.random.default_rng(seed)
    walks = random_walks(graph.adjacency, n_walks, walk_length, rng)
    pairs = torch.from_numpy(pairs_within(walks, window))
    visits = np.bincount(walks.ravel(), minlength=graph.size) ** DAMPING
    noise, draws = torch.from_numpy(visits), torch.Generator().manual_seed(seed)
    tables = [torch.randn(graph.size, n_components, generator=draws, dtype=torch.float64) for _ in range(2)]
    tables = [torch.nn.Parameter(START_RADIUS * v / v.norm(dim=1, keepdim=True)) for v in tables]
    optimiser = torch.optim.Adam(tables, lr=learning_rate)
    for _ in range(epochs):
        for rows in torch.randperm(len(pairs), generator=draws).split(BATCH_SIZE):
            u, v = pairs[rows].T
            w = torch.multinomial(noise, len(u) * negatives, replacement=True, generator=draws).reshape(len(u), negatives)
            nodes, contexts = tables[0][u, :, None], tables[1][torch.column_stack([v, w])]
            similarity = (contexts @ nodes)[..., 0]  # r r' cos(angle) is the inner product of r a and r' b
            wanted = torch.zeros_like(similarity)
            wanted[:, 0] = 1.0
            loss = torch.nn.functional.binary_cross_entropy_with_logits(similarity, wanted, reduction="sum")
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
    return graph.names, from_hyperboloid(to_hyperboloid(tables[0].detach().numpy(), "tangent"), "poincare")


def random_walks(adjacency: Any, n_walks: int, length: int, rng: np.random.Generator) -> np.ndarray:
    """Walks (n_walks * n, length): `n_walks` from each node, each step to a neighbour drawn uniformly."""
    start, neighbours = adjacency.indptr, adjacency.indices
    degree = np.diff(start)
    walks = np.empty((n_walks * len(degree), length), dtype=np.int64)
    walks[:, 0] = np.tile(np.arange(len(degree)), n_walks)
    for step in range(1, length):
        here = walks[:, step - 1]
        walks[:, step] = neighbours[start[here] + rng.integers(degree[here])]
    return walks


def pairs_within(walks: np.ndarray, window: int) -> np.ndarray:
    """Pairs (m, 2) of different nodes up to `window` steps apart in a walk, in both orders."""
    offsets = range(1, min(window, walks.shape[1] - 1) + 1)
    ahead = np.concatenate([np.stack([walks[:, :-o].ravel(), walks[:, o:].ravel()], axis=1) for o in offsets])
    ahead = ahead[ahead[:, 0] != ahead[:, 1]]
    return np.concatenate([ahead, ahead[:, ::-1]])
