"""``--metadata`` and ``--colour-by``: what a table says about points."""

import shlex

import numpy as np
import pytest

from hierarchies import TREE
from horopca.explorer import explore
from horopca.io import load, save

from .running import PNG, done

NAMES = [f"node {i}" for i in range(40)]
TABLE = "strain\tclade\tyear\turl\n" + "".join(
    f"{name}\t{label}\t{1900.5 + i}\thttps://example.org/{i}\n"
    for i, (name, label) in reversed(list(enumerate(zip(NAMES, TREE.labels, strict=True))))
)
REDUCE = ("reduce", "--method", "tpca", "--force", "-o", "out.csv")


@pytest.fixture(autouse=True)
def files(folder):
    save("named.csv", TREE.points, names=NAMES)
    save("bare.npy", TREE.points)
    (folder / "about.tsv").write_text(TABLE)
    (folder / "about.csv").write_text(TABLE.replace("\t", ","))
    (folder / "classes.txt").write_text("\n".join(TREE.labels))
    (folder / "names.txt").write_text("\n".join(NAMES))
    (folder / "tree.edges").write_text("".join(f"node {b}\tnode {a}\n" for a, b in TREE.edges))


def test_a_table_is_joined_by_name_for_every_command(folder):
    for table in ("about.csv", "about.tsv"):
        words = ("--metadata", table, "--colour-by", "clade")
        assert "40 of 40 points, joined by 'strain'" in done(*REDUCE, "named.csv", *words)
        assert load("out.csv").labels == TREE.labels and load("out.csv").row_names == NAMES
    done("embed", "tree.edges", "-d", 2, "--method", "sarkar", *words, "-o", "a.npz")
    assert set(zip(load("a.npz").row_names, load("a.npz").labels, strict=True)) == set(zip(NAMES, TREE.labels, strict=True))
    assert "40 of 40 points" in done("map", "tree.edges", *words)


@pytest.mark.parametrize("output", ["out.csv", "out.h5ad"])
def test_all_columns_that_were_chosen_are_written(folder, output):
    pytest.importorskip("h5py")
    done(*REDUCE[:-1], output, "named.csv", "--metadata", "about.tsv", "--colour-by", "clade,year,url")
    table = load(output)
    assert table.X.shape == (40, 2) and table.values["year"].tolist() == [1900.5 + i for i in range(40)]
    assert table.words["url"] == [f"https://example.org/{i}" for i in range(40)]


@pytest.mark.parametrize("output", ["plane.npy", "plane.npz", "plane.csv", "plane.h5ad"])
def test_the_next_command_knows_the_classes_by_the_name_of_their_column(folder, output):
    pytest.importorskip("h5py")
    done(*REDUCE[:-1], output, "named.csv", "--metadata", "about.tsv", "--colour-by", "clade")
    assert load(output).words["clade"] == load(output).labels == TREE.labels
    done(*REDUCE, output)
    assert load("out.csv").words["clade"] == TREE.labels
    for name in ("clade", "class"):
        done("plot", "out.csv", "--colour-by", name, "-o", "plane.png", "--force")


def test_colours_of_an_h5ad_are_drawn(tmp_path):
    h5py = pytest.importorskip("h5py")
    path = save(tmp_path / "cells.h5ad", TREE.points[:, :2], key="X_poincare")
    with h5py.File(path, "r+") as file:
        kind = file["obs"].create_group("kind")
        kind["codes"], kind["categories"] = np.arange(40, dtype="i1") % 2, ["a", "b"]
        file["uns/kind_colors"] = ["#123456", "#ABCDEF"]
    done("plot", path, "--colour-by", "kind", "-o", tmp_path / "a.svg")
    drawn = (tmp_path / "a.svg").read_text().lower()
    assert "#123456" in drawn and "#abcdef" in drawn


BARCODES = ["ACGTACGTACGT-1", "CCGTACGTACGT-1", "GCGTACGTACGT-1", "TCGTACGTACGT-1"]


@pytest.mark.parametrize(
    ("name", "names", "written"),
    [
        ("cells.h5ad", ["cell 1", "cell 2", "cell 3", "cell 4"], set()),
        ("cells.csv", BARCODES, set()),
        ("cells.csv", ["cell 1", *BARCODES[1:]], {"cell 1", *BARCODES[1:]}),
        ("tree.npz", ["cat", "inner 1", "inner 2", "leaf 3"], {"cat"}),
    ],
)
def test_barcodes_and_invented_names_are_not_drawn(tmp_path, name, names, written):
    pytest.importorskip("h5py")
    path = save(tmp_path / name, TREE.points[:4, :2], names=names)
    done("view", path, "-o", tmp_path / "a.html")
    for more, expected in (((), written), (("--names", "all"), written or set(names))):
        done("plot", path, "-o", tmp_path / "a.svg", *more, "--force")
        drawn = (tmp_path / "a.svg").read_text()
        assert {text for text in names if f">{text}<" in drawn} == expected


@pytest.mark.parametrize(
    "words",
    [
        "plane.csv --metadata about.csv --edges tree.edges --centre 'node 5'",
        "plane.csv --view klein --metadata about.csv --colour-by year --title half",
        "ball.npy --view ball",
    ],
)
def test_a_picture_is_drawn(folder, words):
    save("plane.csv", TREE.points[:, :2], names=NAMES)
    save("ball.npy", TREE.points[:, :3])
    assert "picture.png" in done("plot", *shlex.split(words), "-o", "picture.png")
    assert (folder / "picture.png").read_bytes().startswith(PNG)


def test_points_without_a_row_have_no_class(folder):
    (folder / "few.tsv").write_text("id\tkind\nnode 3\tred\nnode 5\tblue\nelsewhere\tgreen\nnode 5\tgreen\n")
    printed = done(*REDUCE, "named.csv", "--metadata", "few.tsv", "--colour-by", "kind")
    assert "2 of 40 points, joined by 'id'; 1 row with a repeated name left out" in printed
    assert [label for label in load("out.csv").labels if label] == ["red", "blue"]


@pytest.mark.parametrize(
    ("file", "labels", "names"), [("classes.txt", TREE.labels, None), ("names.txt", NAMES, NAMES)], ids=["classes", "names"]
)
def test_one_column_describes_rows_in_their_order(folder, file, labels, names):
    done(*REDUCE, "bare.npy", "--metadata", file)
    assert load("out.csv").labels == labels and load("out.csv").row_names == names


def test_a_column_of_the_points_themselves_is_no_coordinate(folder):
    rows = [f"{name},{x[0]},{x[1]},{1900.5 + i},{i % 2}" for i, (name, x) in enumerate(zip(NAMES, TREE.points, strict=True))]
    (folder / "own.csv").write_text("\n".join(["word,a,b,year,kind", *rows]))
    done(*REDUCE, "own.csv", "--colour-by", "kind,year")
    found = load("out.csv")
    assert found.X.shape == (40, 2) and found.row_names == NAMES and set(found.labels) == {"0", "1"}  # few integers: classes
    for column in ("kind", "year"):
        done("plot", "own.csv", "--colour-by", f"{column},kind,year", "-o", "a.png", "--force")
    assert (folder / "a.png").read_bytes().startswith(PNG)


def test_a_page_offers_all_columns(folder):
    Y = TREE.points[:, :2]
    save("plane.csv", Y, names=NAMES)
    done("view", "plane.csv", "--metadata", "about.tsv", "--colour-by", "clade")
    columns = {"values": {"year": np.arange(40) + 1900.5}, "details": {"url": [f"https://example.org/{i}" for i in range(40)]}}
    expected = explore(Y, {"clade": TREE.labels}, names=NAMES, **columns, title="plane")
    assert (folder / "plane.html").read_text(encoding="utf-8") == expected.html
