"""Valid files, as `save` and other tools write them, with arbitrary numbers and text: they must read back exactly."""

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from fuzz.rounds import only_notes
from horopca.geometry import MODELS
from horopca.io import load, load_edges, save

Pairs = list[tuple[Any, Any]]  # what was read, and what was written
LETTERS = list("abcdefgXYZ019 .,;:'\"\t\n\r\\/|#%_-+=()[]{}<>&!?*~é漢\u00a0\u2028\u0085\ufeff😀")
WORDS = ["", " ", "inner 1", "a b", *"0 1 -1 0.5 1e5 nan inf None True name label x1 # 0_1 NA".split()]
MARKS = [*((".txt", mark) for mark in " ,\t"), *((".csv", mark) for mark in ",; "), (".tsv", "\t"), (".vec", " ")]
PLAIN = list("abcdefghijklmnopqrstuvwxyzABCDEFGHéß漢0123456789._-/")  # letters of a word that no tool quotes


def numbers(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    """Finite numbers: ordinary ones, whole ones, or over the whole range of float64; sometimes as float32."""
    way = rng.integers(4)
    X = rng.uniform(-1, 1, (n, d)) if way < 2 else np.sign(rng.normal(size=(n, d))) * 10.0 ** rng.uniform(-320, 308, (n, d))
    X = np.rint(9 * X) if way == 1 else X
    return X.astype(np.float32) if way == 0 else X


def fractions(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    """Numbers that cannot be taken for identifiers or counts."""
    return rng.uniform(-1, 1, (n, d)) * 10.0 ** rng.integers(-9, 9)


def text(rng: np.random.Generator) -> str:
    if rng.random() < 0.2:
        return str(rng.choice(WORDS))
    return "".join(rng.choice(LETTERS, int(rng.integers(0, 9))))


def texts(rng: np.random.Generator, n: int) -> list[str] | None:
    """n texts, some of them several times; sometimes None."""
    some = [text(rng) for _ in range(n)]
    return None if rng.random() < 0.3 else [some[i] for i in rng.integers(0, n, n)] if rng.random() < 0.3 else some


def words(rng: np.random.Generator, n: int) -> list[str]:
    """n different words that begin and end with a letter: they are neither numbers nor a numbered series."""
    return [f"{rng.choice(PLAIN[:18])}{''.join(rng.choice(PLAIN, int(rng.integers(0, 8))))}{i}n" for i in range(n)]


def _sizes(rng: np.random.Generator) -> tuple[int, int]:
    return int(rng.integers(1, 6)), int(rng.integers(1, 5))


def _saved(suffix: str) -> Callable[[Path, np.random.Generator], Pairs]:
    def kind(folder: Path, rng: np.random.Generator) -> Pairs:
        n, d = _sizes(rng)
        X, names, labels = numbers(rng, n, d), texts(rng, n), texts(rng, n)
        model = str(rng.choice(list(MODELS))) if rng.random() < 0.5 else None
        curvature = -(10.0 ** rng.uniform(-9, 9)) if rng.random() < 0.5 else None
        columns: dict[str, Any] = {}
        if suffix in (".csv", ".tsv", ".h5ad") and rng.random() < 0.5:
            columns["kind"] = [text(rng) for _ in range(n)]
            columns[str(rng.choice(["depth", "PC1", "0.5", "t", 'q"', "a b"]))] = rng.uniform(-1, 1, n)
        stated = {"model": model, "curvature": curvature}
        found = load(save(folder / f"points{suffix}", X, labels, names=names, columns=columns, **stated))
        pairs = [(found.X.astype(X.dtype), X), ((found.model, found.curvature), (model, curvature))]
        pairs += [(found.row_names, names)] * (names is not None) + [(found.labels, labels)] * (labels is not None)
        pairs += [((found.words if name == "kind" else found.values)[name], column) for name, column in columns.items()]
        return pairs

    return kind


def _savetxt(folder: Path, rng: np.random.Generator) -> Pairs:
    n, d = _sizes(rng)
    X, (suffix, mark) = fractions(rng, n, d), MARKS[rng.integers(len(MARKS))]
    header = mark.join(words(rng, d)) if rng.random() < 0.3 else ""
    path = folder / f"points{suffix}"
    np.savetxt(path, X, fmt=str(rng.choice(["%.18e", "%.17g", "%25.17g"])), delimiter=mark, header=header)
    return [(load(path).X, X)]


def _to_csv(folder: Path, rng: np.random.Generator) -> Pairs:
    """A data frame with its index, without it, with names as its index, or with a column of names."""
    from pandas import DataFrame

    n, d = int(rng.integers(2, 6)), int(rng.integers(1, 5))
    X, names = fractions(rng, n, d), words(rng, n)
    suffix, mark = ((".csv", ","), (".tsv", "\t"), (".csv", ";"))[rng.integers(3)]
    headers = [[f"dim_{j}" for j in range(d)], words(rng, d), list(range(d))][rng.integers(2 + (d > 1))]
    frame, way = DataFrame(X, columns=headers), rng.integers(4)
    if way == 0:
        frame.insert(int(rng.integers(d + 1)), "word", names)
    path = folder / f"points{suffix}"
    (frame.set_axis(names) if way == 1 else frame).to_csv(path, sep=mark, index=way != 3)
    found = load(path)
    return [(found.X, X), *([(found.row_names, names)] if way < 2 else [])]


def _word2vec(folder: Path, rng: np.random.Generator) -> Pairs:
    n, d = _sizes(rng)
    X, names, path = numbers(rng, n, d), words(rng, n), folder / "points.txt"
    lines = [f"{n} {d}"] + [f"{name} {' '.join(map(str, x))}" for name, x in zip(names, X, strict=True)]
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    found = load(path)
    return [(found.X.astype(X.dtype), X), (found.row_names, names)]


def _edge_list(folder: Path, rng: np.random.Generator) -> Pairs:
    """As networkx writes it, with or without lengths, and with the header of a table."""
    n, m = int(rng.integers(2, 6)), int(rng.integers(1, 8))
    names, ends, lengths = words(rng, n), rng.integers(0, n, (m, 2)), rng.uniform(0.1, 9, m)
    way, mark = rng.integers(4), str(rng.choice([" ", "\t", ","]))
    tails = [(f"{mark}{{}}", f"{mark}{{'weight': {length}}}", f"{mark}{length}", "")[way] for length in lengths]
    lines = [f"{names[i]}{mark}{names[j]}{tail}" for (i, j), tail in zip(ends, tails, strict=True)]
    path = folder / "graph.edges"
    head = [mark.join(["source", "target"])] if way == 3 else ["#written by a test"]
    path.write_text("".join(f"{line}\n" for line in head + lines), encoding="utf-8")
    found = load_edges(path)
    read = [(found.names[i], found.names[j]) for i, j in found.edges]
    return [(read, [(names[i], names[j]) for i, j in ends]), (found.weights, lengths if way in (1, 2) else None)]


# Functions that write and read a file in a folder, and how often they are tried: libraries read in a process of their own.
VALID: dict[str, tuple[Callable[[Path, np.random.Generator], Pairs], int]] = {
    **{f"saved, {suffix}": (_saved(suffix), 1) for suffix in (".npy", ".npz", ".csv", ".tsv")},
    "saved, .h5ad": (_saved(".h5ad"), 40),
    "numpy.savetxt": (_savetxt, 1),
    "pandas, to_csv": (_to_csv, 2),
    "word2vec, text": (_word2vec, 1),
    "networkx, edge lists": (_edge_list, 1),
}


def tried(kind: str, folder: Path, case: list[int]) -> tuple[str, str]:
    """The outcome of a case: "read", or what was wrong. An error or a warning is a defect, because the file is valid."""
    try:
        with warnings.catch_warnings():
            only_notes()
            for read, written in VALID[kind][0](folder, np.random.default_rng(case)):
                if not same(read, written):
                    return "misread", f"{written!r} was read as {read!r}"[:900]
    except Exception as error:  # the harness reports whatever there is
        return "unexpected", f"{type(error).__name__}: {str(error)[:600]}"
    finally:
        for path in folder.iterdir():
            path.unlink()
    return "read", ""


def same(one: Any, other: Any) -> bool:
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        return one.dtype == other.dtype and np.array_equal(one, other)
    return bool(type(one) is type(other) and one == other)
