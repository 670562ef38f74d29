"""Wrong files and options: every command says what is wrong, and leaves nothing."""

import os

import dask
import dask.array as da
import numpy as np
import pytest

from hierarchies import TREE
from horopca import TangentPCA
from horopca.io import save, save_fitted
from horopca.io.stores import write_store

from .running import contents, refused, run

NAMES = [f"node {i}" for i in range(40)]
TEXTS = {
    "39.txt": "a\nb\nc\n" * 13,
    "nan.txt": "a\n" * 39 + "nan\n",
    "same.txt": "a\n" * 40,
    "short.txt": "a\nb\n",
    "absent-pictures.txt": "absent.png\n" * 40,
    "about.tsv": "strain\tclade\n" + "".join(f"{name}\tc{i % 3}\n" for i, name in enumerate(NAMES)),
    "other.tsv": "a\tb\nx\ty\n",
    "ragged.tsv": "a\tb\nx\n",
    "there.npy": "precious",
    "tree.png": "precious",
    "names.edges": "cat\tlion\n",
    "far.edges": "0 1000\n",
    "empty.edges": "",
    "two.edges": "a b\nc d\n",
    "tree.edges": "cat\tfeline\nlion\tfeline\nsea cow\tmammal\nfeline\tmammal\n",
    "negative.edges": "a b 1\nb c -1\n",
    "cut.edges": "a b\nb\n",
    "long.edges": "a b\n" + "x" * (1 << 23),
    "cycle.edges": "a b\nb c\nc a\n",
    "tree.nwk": "((a,b),c);",
}


SAME_FILES = [
    "reduce points.npy -o points.npy --force",
    "reduce points.npy -o soft.npy --force",
    "reduce points.npy -o hard.npy --force",
    "reduce points.npy -o out.npz --save-fit out.npz --force",
    "reduce points.npy --metadata about.tsv -o about.tsv --force",
    "reduce points.npy --edges tree.csv -o tree.csv --force",
    "reduce points.npy --from-fit fit.npz -o fit.npz --force",
    "reduce points.npy --metadata tree.png --plot tree.png --force",
    "plot plane.npy --metadata tree.png -o tree.png --force",
    "view plane.npy --original tree.html -o tree.html --force",
    "embed tree.csv -o tree.csv --force",
    "map tree.html -o tree.html --force",
    "map tree.csv -o tree.html --plot precious.zarr/../tree.html --force",
    "reduce --dask local store.zarr -o store.zarr --force",
    "reduce --dask local store.zarr -o link.zarr --force",
    "reduce --dask local link.zarr -o store.zarr --force",
    "reduce --dask local store.zarr -o store.zarr/part.zarr --force",
    "reduce --dask local store.zarr -o out.zarr --save-fit store.zarr/fit.npz --force",
]


@pytest.fixture
def files(folder):
    for name, text in TEXTS.items():
        (folder / name).write_text(text)
    (folder / "bytes.tsv").write_bytes(b"a\t\xff\n")
    np.savetxt("distances.csv", np.abs(np.subtract.outer(np.arange(5.0), np.arange(5.0))), delimiter=",")
    X, Y = TREE.points, TREE.points[:, :2]
    arrays = {"points": X, "plane": Y, "ball": X[:, :3], "three": Y[:3], "one": X[:1], "square": np.array([[0, 1.0], [2, 0]])}
    for name, array in arrays.items():
        save(f"{name}.npy", array)
    save("named.csv", X, names=NAMES)
    save("terms.npz", X, names=[f"term {i} (E{i:02d})" for i in range(40)])
    save("rows.npy", np.full((3, 2), np.nan))
    save("words.npy", 100 * (X - 0.5))
    save("time-less.npy", (X.T / (1 - (X**2).sum(axis=1))).T)
    save_fitted(TangentPCA(2).fit(X), "fit.npz")
    write_store("store.zarr", da.from_array(X, chunks=(10, 5)))
    (folder / "precious.zarr").mkdir()
    (folder / "precious.zarr" / "letters.txt").write_text("dear")
    os.link("points.npy", "hard.npy")
    for name, target in (("soft.npy", "points.npy"), ("link.zarr", "store.zarr")):
        (folder / name).symlink_to(target)
    return folder


@pytest.mark.parametrize(
    ("command", "text"),
    [
        ("classify points.npy --labels 39.txt", "must hold one label for each of the 40 rows, but holds 39"),
        ("classify points.npy --labels nan.txt", "must hold a class for each row, but has 1 row without one (the first: 39)"),
        ("classify points.npy --labels same.txt", "y must have at least two classes, but all its 40 rows are of class 'a'"),
        ("classify points.npy --labels topic", "There is no file topic"),
        ("classify points.npy", "holds no classes"),
        ("compare points.npy -k 2,9 --methods tpca", "but is 9"),
        ("components points.npy --groups short.txt", "must hold one group for each of the 40 rows"),
        ("components points.npy --folds 41", "--folds must be a whole number from 2 to 40 (the number of"),
        ("components points.npy -k 6", "must be a whole number from 1 to 5"),
        ("embed empty.edges -o out.npz", "holds no edges"),
        ("embed two.edges -o out.npz", "--set largest_component=True"),
        ("embed negative.edges -o out.npz", "negative.edges, line 2: a weight is a length"),
        ("embed cut.edges -o out.npz", "cut.edges, line 2: expected two names"),
        ("embed long.edges -o out.npz", "line 2: lines of more than"),
        ("embed cycle.edges -o out.npz --method poincare --set closure=true", "no cycles"),
        ("embed tree.edges -o there.npy", "exists already"),
        ("embed tree.edges -o out.mat", "must end in .npy"),
        ("embed points.npy -o out.npz", "points.npy must hold a graph"),
        ("embed square.npy -o out.npz", "square.npy must hold a graph"),
        ("embed tree.edges -o out.npz --method sarkar --set scale=wide", "scale must be 'auto' or a positive number"),
        ("info rows.npy", "at least one finite row, but none of its 3"),
        ("info absent.npy", "There is no file"),
        ("info points.npy --key X", "is not one"),
        ("info points.npy --curvature nan", "must be a number, but is 'nan'"),
        ("info points.npy --model lorentz", "X must lie on the hyperboloid"),
        ("info tree.nwk", "tree.nwk holds a graph"),
        ("info fit.npz", "horopca.io.load_fitted"),
        ("map tree.edges --set max_radius=6", "tree.png exists already"),
        ("map tree.edges -o out.pdf", "must end in .html"),
        ("map tree.edges -o out.html --method sarkar --root dog", "'dog'"),
        ("map tree.edges -o out.html --method sarkar --root cat", "at least one edge"),
        ("map two.edges -o out.html --method sarkar", "pass --set largest_component=True."),
        ("nearest terms.npz erm", "but 40 match 'erm': term 0 (E00), term 1 (E01)"),
        ("nearest points.npy cat", "NAME must be the name or the row number (0 to 39) of a point, but is 'cat'"),
        ("nearest points.npy 40", "but is '40'"),
        ("nearest one.npy 0", "has no other point with a name"),
        ("plot ball.npy", "HoroPCA(n_components=2), or horopca reduce"),
        ("plot plane.npy --view ball", "points of the ball"),
        ("plot plane.npy -o out.gif", "must end in .png"),
        ("plot plane.npy --centre cat", "--centre must be the name or the row number"),
        ("plot plane.npy --metadata about.tsv --names leaves", "--names leaves needs --edges"),
        ("reduce tree.nwk", "tree.nwk holds a graph"),
        ("reduce fit.npz", "horopca.io.load_fitted"),
        ("reduce words.npy", "(word2vec, X_pca) are for sklearn"),
        ("reduce time-less.npy --model auto", "could be 'lorentz-space' or 'tangent' (norms"),
        ("reduce points.npy -k 9", "--components must be"),
        ("reduce points.npy --method hmds -k 0.5 --curvature 1", "--curvature must be"),
        ("reduce absent.npy --method pga --set max_iter=1.5", "max_iter must be"),  # before the file is read
        ("reduce points.npy --set stretch=true --set spine=ideal", "spine=free"),
        ("reduce named.csv --metadata about.tsv --colour-by x9 -o out.csv", "no column 'x9'; the columns are: clade"),
        ("reduce named.csv --colour-by clade -o out.csv", "no column 'clade'"),
        ("reduce named.csv --metadata other.tsv -o out.csv", "no column with names of points, such as 'node 0'"),
        ("embed tree.nwk -d 2 --metadata other.tsv -o out.csv", "no column with names of points, such as 'a'"),
        ("reduce points.npy --metadata other.tsv", "must hold one line for each of the 40 points, but holds 1"),
        ("reduce points.npy --metadata short.txt", "must hold one line for each of the 40 points, but holds 2"),
        ("reduce points.npy --metadata ragged.tsv", "ragged.tsv, line 2: 1 values, but the first line has 2"),
        ("reduce points.npy --metadata absent.tsv", "There is no file absent.tsv"),
        ("reduce points.npy --metadata bytes.tsv", "not text in UTF-8"),
        ("reduce --dask tcp://127.0.0.1:9 in.zarr", "No Dask scheduler answers at tcp://127.0.0.1:9: start one with"),
        ("reduce --dask local store.zarr -o out.csv", "must end in .zarr"),
        ("reduce points.npy -o out.zarr", "must end in .npy, .npz, .csv, .tsv, .h5ad."),
        ("reduce --dask local store.zarr -o no/out.zarr", "there is no folder"),
        ("reduce --dask local points.npy -o store.zarr", "exists already"),
        ("reduce --dask local store.zarr -o precious.zarr --force", "is not a Zarr store"),
        ("view plane.npy --edges names.edges", "so the points need names"),
        ("view plane.npy --edges far.edges", "edges must join rows 0 to"),
        ("view plane.npy --original three.npy", "original must have one row"),
        ("view ball.npy", "or horopca reduce on the command line, reduces"),
        ("view plane.npy -o out.pdf", "must end in .html"),
        ("view plane.npy --root cat", "--root must be the name or the row number (0 to "),
        ("view plane.npy --images absent-pictures.txt", "absent.png"),
        ("view plane.npy --images short.txt", "must hold one picture for each of the"),
        ("view plane.npy --palette red", "palette must"),
    ],
)
def test_what_cannot_be_done_is_said_and_nothing_is_left(files, command, text):
    before = contents(files)
    with dask.config.set({"distributed.comm.timeouts.connect": "0.5s"}):
        refused(run(*command.split()), text)
    assert contents(files) == before


@pytest.mark.parametrize(
    ("command", "text"),
    [
        ("classify points.npy --methods magic", "'magic' is not one of"),
        ("compare points.npy -k 3 --plot out.png", "needs 2 in -k, but -k is 3"),
        ("compare points.npy --methods magic", "magic"),
        *((f"compare points.npy -k 2,{k}", "Invalid value for '-k'") for k in ("0", "1.5", "abc", "")),
        ("components points.npy --copies 0", "--copies"),
        ("embed tree.edges -o out.npz --curvature c", "'--curvature': 'c' is not a valid float"),
        ("embed tree.edges -o out.npz -d 1", "-d"),
        ("embed tree.edges -o - --json", "both write to standard output"),
        ("embed tree.edges -o out.npz --model auto", "'--model': 'auto' is not one of 'poincare'"),
        ("map tree.edges -o out.html --set epochs=3", "--method tree has no such"),
        ("map tree.edges -o out.html --method tree -d 3", "--method tree embeds in the plane"),
        ("map distances.csv --root 0", "--root is for trees and ontologies"),
        ("map distances.csv --method poincare", "use --method distortion"),
        ("plot ball.npy --view ball --centre 3", "is for the plane"),
        ("plot points.npy --clip 1e-5 --model lorentz", "--clip is for points of a ball"),
        ("reduce absent.npy --method tpca --set spine=free", "--method tpca has no such parameter; it has none."),
        ("reduce absent.npy --method horopca-free --set spine=ideal", "--method horopca-free has no such parameter"),
        ("reduce absent.npy --set stretch=1", "--set stretch must be true or false, but is '1'."),
        ("reduce absent.npy --set max_iter", "--set must be NAME=VALUE, but is 'max_iter'."),
        ("reduce absent.npy --set model=klein", "--method horopca has no such parameter"),  # it has an option
        *((command, "is the same file as") for command in SAME_FILES),
        ("reduce points.npy -o .", "-o . contains INPUT points.npy"),
        ("reduce points.npy -o /", "-o / contains INPUT points.npy"),
        ("reduce points.npy --from-fit fit.npz -k 2", "--components cannot be given with --from-fit"),
        ("reduce points.npy --from-fit fit.npz --set spine=free", "--set cannot be given with --from-fit"),
        ("reduce points.npy --from-fit fit.npz --model klein", "--model cannot be given with --from-fit"),
        ("reduce --dask local in.zarr --edges y.txt", "--edges cannot be given with --dask"),
        ("stability points.npy -k 3 --plot out.png", "needs -k 2, but -k is 3"),
    ],
)
def test_wrong_options_are_errors_of_usage(files, command, text):
    before = contents(files)
    refused(run(*command.split()), text, code=2)
    assert contents(files) == before
