"""Build the bundled data set of mammals from WordNet 3.0.

    apt-get install wordnet-base
    python scripts/build_mammals.py [/usr/share/wordnet]

Writes into src/horopca/datasets/data/mammals: the edges (a synset and its hypernym on each line), a Poincaré embedding of
the closure in ten dimensions, and WordNet's licence.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from pathlib import Path

import numpy as np

from horopca.embed import PoincareEmbedding
from horopca.io import load_edges

ROOT = "mammal.n.01"
HYPERNYMS = ("@", "@i")  # hypernym, instance hypernym
TARGET = Path(__file__).parents[1] / "src" / "horopca" / "datasets" / "data" / "mammals"


def read_licence(folder: Path) -> str:
    """The notice at the top of every file of WordNet, without its line numbers."""
    lines = []
    for line in (folder / "data.noun").read_text(encoding="ascii").splitlines():
        if not line.startswith("  "):
            return "\n".join(lines).strip() + "\n"
        lines.append(line.strip().partition(" ")[2].rstrip())
    raise ValueError("The file of nouns holds nothing but its licence.")


def read_synsets(folder: Path) -> dict[str, tuple[str, list[str]]]:
    """Offset of each noun synset -> (first word, offsets of its hypernyms)."""
    synsets = {}
    for line in (folder / "data.noun").read_text(encoding="ascii").splitlines():
        if line.startswith("  "):
            continue
        fields = line.partition("|")[0].split()
        words = int(fields[3], 16)
        first = fields[4].lower()
        pointers = fields[5 + 2 * words :]
        hypernyms = [pointers[k + 1] for k in range(0, 4 * int(fields[4 + 2 * words]), 4) if pointers[k] in HYPERNYMS]
        synsets[fields[0]] = (first, hypernyms)
    return synsets


def read_senses(folder: Path) -> dict[tuple[str, str], int]:
    """(word, offset) -> number of the sense, from 1."""
    senses = {}
    for line in (folder / "index.noun").read_text(encoding="ascii").splitlines():
        if line.startswith("  "):
            continue
        fields = line.split()
        offsets = fields[-int(fields[2]) :]
        senses.update({(fields[0], offset): k for k, offset in enumerate(offsets, 1)})
    return senses


def mammal_edges(folder: Path) -> list[tuple[str, str]]:
    """(synset, hypernym) below the mammals, from the root outwards."""
    synsets, senses = read_synsets(folder), read_senses(folder)
    name = {offset: f"{word}.n.{senses[word, offset]:02d}" for offset, (word, _) in synsets.items()}
    below = defaultdict(list)
    for offset, (_, hypernyms) in synsets.items():
        for hypernym in hypernyms:
            below[hypernym].append(offset)
    root = next(offset for offset in synsets if name[offset] == ROOT)
    edges, seen, queue = [], {root}, [root]
    for parent in queue:
        for child in sorted(below[parent], key=name.__getitem__):
            edges.append((name[child], name[parent]))
            if child not in seen:
                seen.add(child)
                queue.append(child)
    return edges


def main() -> None:
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "/usr/share/wordnet")
    TARGET.mkdir(parents=True, exist_ok=True)
    (TARGET / "LICENSE").write_text(read_licence(folder), encoding="utf-8")
    (TARGET / "edges.txt").write_text("".join(f"{u} {v}\n" for u, v in mammal_edges(folder)), encoding="utf-8")
    graph = load_edges(TARGET / "edges.txt")
    model = PoincareEmbedding(n_components=10, closure=True, random_state=0, verbose=1).fit(graph)
    np.savez_compressed(TARGET / "embedding.npz", X=model.embedding_)
    print(f"{len(graph.names)} synsets, {len(graph.edges)} edges, mean rank {model.mean_rank_:.3f}, MAP {model.map_:.4f}")


if __name__ == "__main__":
    main()
