"""Files: what is read comes back, what cannot be read raises an error, what is written is complete."""

from contextlib import nullcontext

import numpy as np
import pytest

from fuzz.contents import npy, write
from horopca.io import load, load_labels, save

X = np.random.default_rng(0).uniform(-0.5, 0.5, (6, 3))
LABELS = ["a", "b, with comma", "a", 'q"uote', "é", "3"]


def test_dtypes(tmp_path):
    for half in ("<f2", ">f2"):
        found = load(save(tmp_path / f"{half[0] == '<'}.npy", X.astype(half))).X
        assert found.dtype == np.float16 and np.array_equal(found, X.astype(np.float16))
    assert load(save(tmp_path / "a.npy", X.astype(np.float32))).X.dtype == np.float32
    assert load(save(tmp_path / "b.npy", np.arange(6).reshape(3, 2))).X.dtype == np.float64
    assert load(save(tmp_path / "c.npy", X.astype(">f8"))).X.dtype == np.dtype("=f8")


@pytest.mark.parametrize(
    ("text", "labels", "names"),
    [
        (".1,.2\n.3,.4\n", None, None),
        ("0,.1,.2\n1,.3,.4\n", ["0", "1"], None),  # the index of a data frame
        ("x,y\n.1,.2\n.3,.4\n", None, ["x", "y"]),
        ("# x,y\n.1,.2\n.3,.4\n", None, ["x", "y"]),
        ("0,1\n.1,.2\n.3,.4\n", None, ["0", "1"]),
        ("1,2\n.1,.2\n.3,.4\n", None, ["1", "2"]),
        ("0_1,.1,.2\n0_2,.3,.4\n", ["0_1", "0_2"], None),
        ("name, x, y\n cat, .1, .2\n dog, .3, .4\n", ["cat", "dog"], ["x", "y"]),
        (",0,1\n0,.1,.2\n1,.3,.4\n", ["0", "1"], ["0", "1"]),
        (",x,y,kind\n57,.1,.2,cat\n58,.3,.4,dog\n", ["cat", "dog"], ["x", "y"]),
        ("0,1,label\n.1,.2,7\n.3,.4,8\n", ["7", "8"], ["0", "1"]),
        ("gene,0,1\nBRCA,.1,.2\nTP53,.3,.4\n", ["BRCA", "TP53"], ["0", "1"]),
        ('"V1","V2"\n"r1",.1,.2\n"r2",.3,.4\n', ["r1", "r2"], ["V1", "V2"]),  # R's write.table
        ('"V1","V2"\n"1",.1,.2\n"2",.3,.4\n', ["1", "2"], ["V1", "V2"]),
        ("cat,.1,.2\ndog,.3,.4\n", ["cat", "dog"], None),
        (".1,.2,cat\n.3,.4,dog\n", ["cat", "dog"], None),
        ("name,x,y\ncat,.1,.2\ndog,.3,.4\n", ["cat", "dog"], ["x", "y"]),
        ("x,y,class\n.1,.2,1\n.3,.4,2\n", ["1", "2"], ["x", "y"]),
        ("x,y,class\n.1,.2,1\n.3,.4,b\n", ["1", "b"], ["x", "y"]),
        ("id,x,kind,y,category\n7,.1,a,.2,u\n8,.3,a,.4,v\n", ["u", "v"], ["x", "y"]),
        ("\ufeffx,y\r\n.1,.2\r\n\r\n.3,.4", None, ["x", "y"]),
        ('"a, b",.1,.2\n"c\nd",.3,.4\n', ["a, b", "c\nd"], None),
    ],
)
def test_header_and_labels_are_recognised(tmp_path, text, labels, names):
    table = load(write(tmp_path / "points.csv", text))
    assert np.array_equal(table.X, [[0.1, 0.2], [0.3, 0.4]])
    assert (table.labels, table.names) == (labels, names)


@pytest.mark.parametrize(
    ("text", "labels"),
    [
        ("sea  cow .1 .2\nfur seal .3 .4\n", ["sea  cow", "fur seal"]),
        ("2 2\n0.1 0.2\n3e-1 0.4\n", None),
        ("7 0.1 0.2\n9 0.3 0.4\n", ["7", "9"]),  # numbers of nodes
    ],
)
def test_words_and_numbers_separated_by_blanks(tmp_path, text, labels):
    table = load(write(tmp_path / "points.txt", text))
    assert np.array_equal(table.X, [[0.1, 0.2], [0.3, 0.4]]) and table.labels == labels


@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.txt", "a.csv.gz"])
@pytest.mark.parametrize("mark", [", ", "\t", ";", " "])
def test_whole_numbers_are_coordinates(tmp_path, name, mark):
    for values in (np.arange(6.0).reshape(2, 3), np.arange(3.0)[:, None]):
        np.savetxt(tmp_path / name, values, fmt="%g", delimiter=mark)
        assert np.array_equal(load(tmp_path / name).X, values)


NAMED = {"name": ["cat", "lion", "dog"], "class": ["feline", "feline", "canine"]}


@pytest.mark.parametrize("delimiter", [",", "\t"])
@pytest.mark.parametrize("order", [("name", "x", "y", "class"), ("class", "name", "x", "y"), ("x", "name", "y", "class")])
@pytest.mark.parametrize("header", [True, False])
def test_names_and_classes_are_distinguished(tmp_path, delimiter, order, header):
    columns = {**NAMED, "x": [".1", ".3", ".5"], "y": [".2", ".4", ".6"]}
    rows = [order, *zip(*(columns[name] for name in order), strict=True)][0 if header else 1 :]
    text = "\n".join(delimiter.join(row) for row in rows)
    table = load(write(tmp_path / f"points.{'csv' if delimiter == ',' else 'tsv'}", text))
    assert np.array_equal(table.X, [[0.1, 0.2], [0.3, 0.4], [0.5, 0.6]])
    assert table.row_names == NAMED["name"] and table.labels == NAMED["class"]
    assert table.names == (["x", "y"] if header else None)
    assert sorted(map(tuple, table.words.values())) == sorted(map(tuple, NAMED.values()))


def test_chosen_columns(tmp_path):
    text = "word,x,year,y,cluster,kind\na,.1,1990,.2,0,u\na,.3,1991,.4,1,v\nb,.5,1992,.6,1,w\n"
    path = write(tmp_path / "points.csv", text)
    plain = load(path)
    assert plain.names == ["x", "year", "y", "cluster"] and plain.row_names == ["u", "v", "w"] and plain.labels == list("aab")
    table = load(path, names="word", labels="cluster", values="year")
    assert np.array_equal(table.X, [[0.1, 0.2], [0.3, 0.4], [0.5, 0.6]]) and table.names == ["x", "y"]
    assert table.row_names == list("aab") and table.labels == list("011")  # names need not differ if they are told to be names
    assert table.values["year"].tolist() == [1990, 1991, 1992] and table.words["kind"] == list("uvw")
    assert load(path, values=["year", "cluster"]).X.shape == (3, 2)
    for told, message in (
        ({"values": "kind"}, "words in its column 'kind', which cannot be values"),
        ({"values": ["x", "y", "year", "cluster"]}, "no column left for coordinates"),
        ({"names": "nobody"}, "no column 'nobody'; it has x, year, y, cluster, word, kind"),
    ):
        with pytest.raises(ValueError, match=message):
            load(path, **told)


@pytest.mark.parametrize(
    ("header", "coordinates", "others"),
    [
        ("x1,count,x2,x3", "x1 x2 x3", "count"),
        ("dim_1,dim_0,year,size", "dim_1 dim_0", "year size"),  # in the order of the file
        ("PC09,PC10,age,x", "PC09 PC10", "age x"),
        ("cell,0,1,2", "0 1 2", "cell"),  # the index of a data frame, and its default header
        ("x1,x2,x4,n", "x1 x2 x4 n", ""),  # 3 is missing
        ("x1,y1,z1,n", "x1 y1 z1 n", ""),
    ],
)
def test_coordinates_are_a_numbered_series(tmp_path, header, coordinates, others):
    path, rows = tmp_path / "points.csv", [[0.1, 0.2, 0.3, 0.4], [0.5, 0.6, 0.7, 0.8]]
    write(path, "\n".join([header, *(",".join(map(str, row)) for row in rows)]))
    with pytest.warns(UserWarning, match=others.replace(" ", ", ")) if others else nullcontext():
        table = load(path)
    column = dict(zip(header.split(","), np.transpose(rows), strict=True))
    assert table.names == coordinates.split() and list(table.values) == others.split()
    assert np.array_equal(table.X, np.stack([column[name] for name in table.names], axis=1))
    assert all(np.array_equal(table.values[name], column[name]) for name in table.values)
    assert load(path, key="*").names == header.split(",")
    assert load(path, values=others.split()).names == coordinates.split()


def test_chosen_coordinates(tmp_path):
    path = write(tmp_path / "points.csv", "PC1,PC2,UMAP1,UMAP2,[a]\n.1,.2,.3,.4,.5\n.5,.6,.7,.8,.9\n")
    with pytest.raises(ValueError, match=r"several series of numbered columns \(PC1 to PC2, UMAP1 to UMAP2\): choose"):
        load(path)
    assert load(path, key="PC*").X.tolist() == [[0.1, 0.2], [0.5, 0.6]]
    assert load(path, key="UMAP2, [a]").names == ["UMAP2", "[a]"]
    with pytest.raises(ValueError, match="no column of numbers 'x'; it has none"):
        load(write(tmp_path / "bare.csv", ".1,.2\n.3,.4\n"), key="x")


def test_names_may_be_repeated_if_their_header_says_name(tmp_path):
    for text, names in (
        ("name,x,y\na,.1,.2\na,.3,.4\n", ["a", "a"]),
        ("name,id,x,y\na,p,.1,.2\na,q,.3,.4\n", ["p", "q"]),
        ("kind,x,y\na,.1,.2\na,.3,.4\n", None),
    ):
        assert load(write(tmp_path / "points.csv", text)).row_names == names


@pytest.mark.parametrize("text", ["kind,kind,x,y\na,b,.1,.2\nc,d,.3,.4\n", "x,x,y\n.1,.2,.3\n", "x,y,x\n.1,.2,a\n.3,.4,b\n"])
def test_repeated_headers_are_errors(tmp_path, text):
    with pytest.raises(ValueError, match=r"several columns with the header '(kind|x)': rename all but one"):
        load(write(tmp_path / "points.csv", text))


def test_npz_keys(tmp_path):
    path = tmp_path / "points.npz"
    np.savez(path, other=X + 1, X=X, labels=np.array(LABELS))
    assert np.array_equal(load(path).X, X)
    assert load(path).labels == LABELS
    assert np.array_equal(load(path, key="other").X, X + 1)
    with pytest.raises(ValueError, match="no array 'Z'; it holds other, X, labels"):
        load(path, key="Z")
    np.savez(path, weights=X[0], vectors=X)
    assert np.array_equal(load(path).X, X)
    np.savez(path, one=X, two=X)
    with pytest.raises(ValueError, match="holds one, two: choose the"):
        load(path)
    for suffix in (".npy", ".txt"):
        with pytest.raises(ValueError, match=r"is not one"):
            load(write(tmp_path / f"a{suffix}", "a .1 .2\n"), key="X")


def test_object_labels_of_npz(tmp_path):
    for labels in (LABELS, [1, 2, 3, 1, 2, 3], [0.5, "a", 1, "b", "c", "d"]):
        np.savez(tmp_path / "points.npz", X=X, labels=np.array(labels, dtype=object))
        assert load(tmp_path / "points.npz").labels == [str(label) for label in labels]


@pytest.mark.parametrize("suffix", [".npy", ".npz", ".csv", ".tsv", ".h5ad"])
def test_labels_become_text(tmp_path, suffix):
    """`tests/fuzz/valid.py` has names and labels of all kinds."""
    if suffix == ".h5ad":
        pytest.importorskip("h5py")
    written = ["a\nb", b"caf\xe9", "lone \udc80", "nul \0", " outer ", 7]  # what UTF-8 cannot encode is escaped
    table = load(save(tmp_path / f"points{suffix}", X, written, names=LABELS))
    assert table.labels == ["a\nb", "caf\\xe9", "lone \\udc80", "nul \\0", " outer ", "7"] and table.row_names == LABELS
    table = load(save(tmp_path / f"points{suffix}", X, names=LABELS, force=True))
    assert table.row_names == table.labels == LABELS and np.array_equal(table.X, X)


def test_absent_and_unknown_files(tmp_path):
    with pytest.raises(FileNotFoundError, match="There is no file"):
        load(tmp_path / "absent.npy")
    with pytest.raises(IsADirectoryError, match="is a folder"):
        load(tmp_path)
    with pytest.raises(ValueError, match=r"must end in \.npy, \.npz, \.csv, \.tsv"):
        load(write(tmp_path / "points.pkl", b""))


def test_load_labels(tmp_path):
    assert load_labels(write(tmp_path / "a.txt", "cat\r\n\ndog")) == ["cat", "", "dog"]
    assert load_labels(write(tmp_path / "a.npy", npy(np.array([1, 2])))) == ["1", "2"]
    with pytest.raises(ValueError, match="is empty"):
        load_labels(write(tmp_path / "b.txt", ""))
    with pytest.raises(ValueError, match="UTF-8"):
        load_labels(write(tmp_path / "c.txt", b"\xff\xff"))
    with pytest.raises(ValueError, match="one label per row"):
        load_labels(write(tmp_path / "d.npy", npy(X)))
    with pytest.raises(FileNotFoundError, match="There is no file"):
        load_labels(tmp_path / "absent.txt")


@pytest.mark.parametrize(
    ("name", "array", "options", "error", "message"),
    [
        ("points.mat", X, {}, ValueError, r"must end in \.npy"),
        ("no/such/points.npy", X, {}, FileNotFoundError, "there is no folder"),
        ("points.npy", X[0], {}, ValueError, "must be a matrix"),
        ("points.npy", X.astype(object), {}, ValueError, "dtype object"),
        ("points.csv", X, {"labels": LABELS[:2]}, ValueError, "labels must have one entry per row, but has 2 for 6 rows"),
        ("points.npz", X, {"model": "sphere"}, ValueError, "model must be"),
        ("points.npz", X, {"curvature": 1.0}, ValueError, "curvature must be"),
        ("points.npz", X, {"curvature": np.nan}, ValueError, "curvature must be"),
        ("x.npy", X, {"key": "X"}, TypeError, r"key: only for files that end in \.h5ad, but path is '.*x\.npy'"),
        ("x.csv", X, {"columns": {"names": LABELS}}, ValueError, "columns must not be called 'names'"),
        ("x.csv", X, {"labels": LABELS, "columns": {"label": LABELS}}, ValueError, "columns must not be called 'label'"),
        ("x.csv", X, {"columns": {"x1": LABELS}}, ValueError, "columns must not be called 'x1'"),
    ],
)
def test_save_raises_error(tmp_path, name, array, options, error, message):
    with pytest.raises(error, match=message):
        save(tmp_path / name, array, **options)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("time", ["t", "Time"])
def test_time_beside_a_numbered_series_is_never_guessed(tmp_path, time):
    path = tmp_path / "lorentz.csv"
    path.write_text(f"{time},x1,x2\n1,0,0\n1.25,0.75,0\n")
    with pytest.raises(ValueError, match=f"{time} may belong to x1 to x2: choose the coordinates with key="):
        load(path)
    assert load(path, key="*").X.shape == (2, 3) and load(path, key="x*").X.shape == (2, 2)


def test_a_label_with_a_semicolon_and_a_comma_is_no_decimal_comma(tmp_path):
    save(tmp_path / "points.tsv", np.eye(2) / 2, ["c;1,", "X"])
    assert load(tmp_path / "points.tsv").labels == ["c;1,", "X"]
