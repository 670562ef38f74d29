"""Exact nearest neighbours: recall and time of shells and brute force beside scikit-learn, on the nouns of WordNet.

`python -m benchmarks.neighbors` reads the nouns from Debian's package wordnet-base and embeds the 19,592 living things with
`PoincareEmbedding`. It prints the recall of the ten nearest neighbours and the time of a query, and then the times of both
algorithms on made points, from which the rule of ``algorithm="auto"`` was read.
"""

from __future__ import annotations

import sys
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

import numpy as np
from sklearn.neighbors import NearestNeighbors

from horopca.embed import PoincareEmbedding
from horopca.geometry import distance, lift, pairwise_distance, to_hyperboloid, translate
from horopca.neighbors import HyperbolicNeighbors

NOUNS = Path("/usr/share/wordnet/data.noun")
ROOT = "living_thing"
EPOCHS = 30  # enough for a tree: synsets are near their hypernyms
K, QUERIES, FEW = 10, 1000, 20  # FEW queries for what takes seconds each


def hypernyms(file: Path = NOUNS, root: str = ROOT) -> list[tuple[str, str]]:
    """The pairs (synset, hypernym) below a synset, which is the first with this word, as offsets in WordNet's file."""
    below, start = defaultdict(list), ""
    for line in file.read_text(encoding="utf-8").splitlines():
        if line.startswith("  "):  # the licence
            continue
        fields = line.split(" | ")[0].split()
        pointers = 4 + 2 * int(fields[3], 16)  # after the words, two fields each
        for k in range(pointers + 1, pointers + 1 + 4 * int(fields[pointers]), 4):
            if fields[k] in ("@", "@i"):
                below[fields[k + 1]].append(fields[0])
        start = start or (fields[0] if fields[4] == root else "")
    pairs, queue, seen = [], [start], {start}
    for parent in queue:
        pairs += [(child, parent) for child in below[parent]]
        queue += [child for child in dict.fromkeys(below[parent]) if child not in seen]
        seen.update(below[parent])
    return pairs


def tree(n: int, d: int) -> np.ndarray:
    """A tree of branching 3 whose edges have length 1.5 and random directions."""
    rng = np.random.default_rng(0)
    level, parts = np.eye(1, d + 1), [np.eye(1, d + 1)]
    while sum(map(len, parts)) < n:
        parents = np.repeat(level, 3, axis=0)
        level = translate(lift(np.sinh(1.5) * _directions(len(parents), d, rng)), parents)
        parts.append(level)
    return np.concatenate(parts)[:n]


def leaves(n: int, d: int) -> np.ndarray:
    """Independent random directions at radii of 6 ± 1: no neighbour is near."""
    rng = np.random.default_rng(0)
    return lift(np.sinh(rng.normal(6, 1, (n, 1))) * _directions(n, d, rng))


def flat(n: int, d: int) -> np.ndarray:
    """A normal distribution near the origin."""
    return lift(0.5 * np.random.default_rng(0).standard_normal((n, d)))


def _directions(n: int, d: int, rng: np.random.Generator) -> np.ndarray:
    u = rng.standard_normal((n, d))
    return u / np.linalg.norm(u, axis=1, keepdims=True)


def milliseconds(function: Callable[[], object], queries: int) -> float:
    """Processor time of a query."""
    start = time.process_time()
    function()
    return 1e3 * (time.process_time() - start) / queries


def print_nouns(d: int = 5) -> None:
    """Recall and time on the embedded nouns."""
    embedding = PoincareEmbedding(d, closure=True, epochs=EPOCHS, burn_in=3, batch_size=1000, random_state=0)
    start = time.perf_counter()
    X = embedding.fit_transform(hypernyms())
    print(f"{len(X):,} synsets below {ROOT} in {d} dimensions, embedded in {time.perf_counter() - start:.0f} s")
    x = to_hyperboloid(X)
    queries = np.random.default_rng(0).choice(len(X), QUERIES, replace=False)
    exact = np.sort(pairwise_distance(x[queries], x), axis=1)[:, :K]
    print(f"{'':>34}  recall  ms a query")
    for algorithm in ("brute", "shells"):
        found = HyperbolicNeighbors(K, algorithm=algorithm, n_jobs=1).fit(X)
        spent = milliseconds(lambda found=found: found.kneighbors(X[queries]), QUERIES)
        recall = np.mean(found.kneighbors(X[queries])[0] <= exact[:, -1:] * (1 + 1e-12))
        print(f"{algorithm:>34}  {recall:.4f}  {spent:.3f}")
    reference = NearestNeighbors(n_neighbors=K, metric=lambda a, b: float(distance(a, b)), algorithm="ball_tree")
    spent = milliseconds(lambda: reference.fit(x).kneighbors(x[queries[:FEW]]), FEW)
    print(f"{'sklearn, ball tree, callable (fit)':>34}  1.0000  {spent:.1f}")
    euclidean = NearestNeighbors(n_neighbors=K).fit(X).kneighbors(X[queries], return_distance=False)
    recall = np.mean(distance(x[queries][:, None, :], x[euclidean]) <= exact[:, -1:] * (1 + 1e-12))
    print(f"{'sklearn, Euclidean in the ball':>34}  {recall:.4f}")


def print_switch() -> None:
    """Times of both algorithms and the choice of "auto"."""
    print(f"{'points':>8} {'n':>7} {'d':>3}   brute  shells  auto  (ms a query)")
    for make in (tree, leaves, flat):
        for n in (4096, 16384, 65536):
            for d in (2, 5, 8, 20):
                x = make(n, d)
                queries = x[np.random.default_rng(0).choice(n, 256, replace=False)]
                kinds = [HyperbolicNeighbors(K, model="lorentz", algorithm=a, n_jobs=1).fit(x) for a in ("brute", "shells")]
                spent = [milliseconds(lambda kind=kind, q=queries: kind.kneighbors(q), 256) for kind in kinds]
                auto = HyperbolicNeighbors(K, model="lorentz").fit(x).algorithm_
                print(f"{make.__name__:>8} {n:>7} {d:>3} {spent[0]:7.3f} {spent[1]:7.3f}  {auto}", flush=True)


TABLES = {"nouns": print_nouns, "switch": print_switch}


def main() -> None:
    for name in sys.argv[1:] or TABLES:
        TABLES[name]()


if __name__ == "__main__":
    main()
