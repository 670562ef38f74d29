"""The page as Python makes it: what it contains, its size, its safety, and errors."""

import base64
import hashlib
import html
import json
import re
import sys
import zlib

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.sparse.csgraph import shortest_path

from fuzz.contents import write
from horopca.explorer import explore
from horopca.explorer.edges import load_row_edges
from horopca.geometry import MODELS, distance, from_hyperboloid, lift, pairwise_distance, to_hyperboloid, translate
from horopca.metrics import continuity, false_neighbours, trustworthiness
from horopca.neighbors import HyperbolicNeighbors
from horopca.plots import class_colours
from horopca.statistics import frechet_mean
from taxonomy import mammals

X, NAMES, LABELS, EDGES = mammals()
Y = from_hyperboloid(X, "poincare")
HOSTILE = ["<img src=x onerror=alert(1)>", "</script><script>alert(1)</script>", "<!--", "]]>", "\"'&{data}", "\x00\u2028"]
rng = np.random.default_rng(0)


def held(page):
    """What a page holds, read back as the browser does."""
    data = re.search(r'<script type="application/octet-stream" id="data">([^<]*)</script>', page.html)
    raw = zlib.decompress(base64.b64decode(data[1]))
    size = int.from_bytes(raw[:4], "little")
    found, at = json.loads(raw[4 : 4 + size]), 4 + size
    for plan in found.pop("arrays"):
        dtype = np.dtype("<" + plan["type"])
        planes = np.frombuffer(raw, np.uint8, plan["length"] * dtype.itemsize, at).reshape(dtype.itemsize, -1)
        found[plan["name"]] = planes.T.copy().view(dtype).ravel()
        at += planes.size
    assert at == len(raw)
    return found


def names_of(columns):
    return [column["name"] for column in columns]


@pytest.mark.parametrize("model", MODELS)
def test_points_arrive_to_the_last_bit_from_every_model(model):
    given = from_hyperboloid(X, model)
    found = held(explore(given, model=model))
    expected = to_hyperboloid(given, model)
    assert np.array_equal(found["x"], expected[:, 1]) and np.array_equal(found["y"], expected[:, 2])


def test_depth_and_curvature_are_kept():
    deep = lift(np.array([[np.sinh(30.0), 0.0], [np.sinh(30.0), 1.0], [np.sinh(31.0), -2.0]]))
    found = held(explore(deep, model="lorentz"))
    assert np.array_equal(pairwise_distance(lift(np.stack([found["x"], found["y"]], axis=1))), pairwise_distance(deep))
    found = held(explore(2 * Y, curvature=-0.25))
    assert found["unit"] == 2.0 and np.allclose(found["x"], X[:, 1], rtol=1e-12)


def test_labels_names_edges_and_values():
    values = {"size": np.arange(len(Y)), "mass": np.where(np.arange(len(Y)) == 3, np.nan, 1.5)}
    found = held(explore(Y, LABELS, names=NAMES, edges=EDGES, values=values))
    assert found["names"] == NAMES
    (labeling,) = found["labelings"]
    assert [labeling["classes"][code] for code in found["codes-0"]] == LABELS
    assert labeling["classes"] == sorted(set(LABELS)) and sum(labeling["counts"]) == len(Y)
    assert dict(zip(labeling["classes"], labeling["light"], strict=True)) == class_colours(LABELS)
    assert {tuple(e) for e in found["edges"].reshape(2, -1).T} == {tuple(e) for e in EDGES}
    assert [column["name"] for column in found["columns"]] == ["size", "mass"]
    assert found["columns"][0]["ranges"] == {"linear": [0, len(Y) - 1]}
    assert np.array_equal(found["column-0"], np.arange(len(Y))) and np.isnan(found["column-1"][3])


def test_missing_values_and_many_classes():
    found = held(explore(Y[:3], [None, np.nan, 7], names=[None, np.nan, 8], values=[0, 1, 2]))
    assert found["labelings"][0]["classes"] == ["7", "no label"] and found["names"] == ["", "", "8"]
    assert names_of(found["columns"]) == ["Value"]
    found = held(explore(rng.uniform(-0.5, 0.5, (300, 2)), range(300)))  # more than a byte can number
    assert found["labelings"][0]["classes"][found["codes-0"][299]] == "299" and len(set(found["labelings"][0]["light"])) > 250
    found = held(explore([[0.1, 0.2]], ["a"], names=["b"], edges=[], original=[[0.1, 0.2, 0.3]]))  # one point is enough
    assert found["names"] == ["b"] and "there" not in found and "edges" not in found


def test_data_frames_bring_their_names():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": [1, 2, 3], "b": [0.5, None, 2]})
    found = held(explore(Y[:3], frame["a"].astype(str), names=frame["b"], values=frame))
    assert names_of(found["columns"]) == ["a", "b"] and np.isnan(found["column-1"][1]) and found["names"][1] == ""
    assert names_of(held(explore(Y[:3], values=frame["a"]))["columns"]) == ["a"]


def test_the_page_starts_at_the_root_of_a_tree_or_at_the_mean():
    moved = translate(X, lift(np.array([0.3, -0.2])))
    start = lambda **options: held(explore(moved, model="lorentz", **options))["home"]
    assert start(edges=EDGES) == moved[0, 1:].tolist()
    mean = frechet_mean(moved).point[1:]
    for edges in (None, EDGES[1:], np.r_[EDGES, [[5, 6]]], EDGES[:, ::-1]):  # none, two trees, a cycle, upside down
        assert np.allclose(start(edges=edges), mean)
    assert start(edges=EDGES, root=7) == moved[7, 1:].tolist()
    line, joined = np.c_[[-5, 0, 1, 2, 3, 4, 5], np.zeros(7)], np.c_[np.arange(6), np.arange(1, 7)]  # the root is one end
    found = held(explore(line, edges=joined, model="tangent"))
    assert np.allclose(found["home"], [np.sinh(10 / 7), 0]) and found["model"] == "poincare"
    deep = held(explore(30 * line, edges=joined, model="tangent"))  # from anywhere
    assert np.allclose(deep["home"], [-np.sinh(150), 0])


def tensor(frames):
    torch = pytest.importorskip("torch")
    return torch.stack([torch.tensor(frame, requires_grad=True) for frame in frames])


@pytest.mark.parametrize("several", [tuple, np.stack, lambda frames: [frame.tolist() for frame in frames], tensor])
def test_several_pictures_and_their_titles(several):
    found = held(explore(several([Y / 4, Y / 2, Y])))
    assert found["titles"] == ["1 of 3", "2 of 3", "3 of 3"]
    for part, suffix in ((4, "-0"), (2, "-1"), (1, "")):
        expected = to_hyperboloid(Y / part)
        assert np.array_equal(found[f"x{suffix}"], expected[:, 1]) and np.array_equal(found[f"y{suffix}"], expected[:, 2])
    assert found["home"] == held(explore(Y))["home"] and found["reach"] >= held(explore(Y))["reach"]


def test_the_original_decides_who_is_a_neighbour_and_what_changed():
    original = rng.uniform(-0.3, 0.3, (len(Y), 6))
    found = held(explore(Y, original=original, n_neighbors=4))
    x = to_hyperboloid(original)
    distances, indices = HyperbolicNeighbors(4, model="lorentz").fit(x).kneighbors()
    assert found["k"] == 4 and np.array_equal(found["there"].reshape(-1, 4), indices)
    # nine binary digits are kept
    assert np.allclose(found["spans"].reshape(-1, 4), distances, rtol=2.0**-10)
    change = [np.mean([abs(distance(X[i], X[j]) / distance(x[i], x[j]) - 1) for j in near]) for i, near in enumerate(indices)]
    expected = false_neighbours(original, Y, n_neighbors=4) | {"distortion": change}
    expected["false"] = 1 - expected["kept"]
    for key in ("false", "trust", "continuity", "distortion"):
        assert np.allclose(found[key], expected[key], rtol=2.0**-9)
    notes = {about["key"]: about["note"] for about in found["measures"]}
    assert f"On average {trustworthiness(original, Y, n_neighbors=4):.1%}." in notes["trust"]
    assert f"On average {continuity(original, Y, n_neighbors=4):.1%}." in notes["continuity"]
    assert found["dimension"] == 6 and np.array_equal(found["original"], x[:, 1:].ravel())
    scaled = held(explore(2 * Y, original=2 * original, curvature=-0.25, n_neighbors=4))
    assert np.allclose(scaled["spans"], 2 * found["spans"], rtol=2.0**-10)
    assert np.array_equal(scaled["distortion"], found["distortion"])
    same = lift(np.array([[1.0, 0.0]] * 3 + [[0.0, 2.0], [0.1, 2.0]]))
    found = held(explore(same, original=same, n_neighbors=2, model="lorentz"))["distortion"]
    assert np.isnan(found[:3]).all() and np.allclose(found[3:], 0)


def test_twenty_thousand_points_stay_below_1_MB():
    n, letters = 20_000, np.array(list("abcdefghijklmnopqrstuvwxyz"))
    angle, r = rng.uniform(0, 2 * np.pi, n), rng.uniform(0, 12, n)
    names = ["".join(letters[word]) for word in rng.integers(0, 26, (n, 8))]  # in no order, which compress worst
    edges = np.stack([rng.integers(0, np.arange(1, n)), np.arange(1, n)], axis=1)
    points = r[:, None] * np.c_[np.cos(angle), np.sin(angle)]
    assert len(explore(points, rng.integers(0, 20, n), names=names, edges=edges, model="tangent").html) < 1_000_000


def test_the_page_runs_its_own_script_and_asks_for_nothing():
    page = explore(Y, LABELS).html
    (policy,) = re.findall(r'"Content-Security-Policy" content="(.*?)"', page)
    assert policy.startswith("default-src 'none'; ") and "unsafe" not in policy
    for tag in ("script", "style"):
        (text,) = re.findall(f"<{tag}>(.*?)</{tag}>", page, flags=re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy
    assert set(re.findall(r"https?://[^\"'\s]+", page)) == {"http://www.w3.org/2000/svg"}  # the name of a language
    assert not re.search(r"<[^>]* (src|href|style)=", page.split("<script")[0])
    assert not re.search(r"\binnerHTML|outerHTML *=|insertAdjacentHTML|document\.write|\beval\b|new Function", page)


def test_saving(tmp_path):
    page, path = explore(Y, names=NAMES), tmp_path / "page.html"
    assert page.save(path) == path and path.read_text(encoding="utf-8") == page.html
    with pytest.raises(FileExistsError, match="exists already"):
        page.save(path)
    page.save(path, force=True)


def test_a_page_shows_itself_in_a_notebook():
    page = explore(Y[: len(HOSTILE)], HOSTILE, names=HOSTILE)
    shown = page._repr_html_()
    assert html.unescape(*re.findall(r'<iframe srcdoc="([^"]*)"', shown)) == page.html
    assert 'sandbox="allow-scripts allow-downloads allow-popups allow-popups-to-escape-sandbox"' in shown
    assert not hasattr(page, "_repr_mimebundle_")  # a saved notebook has the page once, and shows it without a kernel
    assert "\ufffd" not in page.html and "?" in explore(Y, title="\ud83d").html.split("</title>")[0]
    assert repr(page).startswith(f"<Page: {len(HOSTILE)} points, 0.2 MB")


def test_a_selection_comes_back_to_python():
    pytest.importorskip("anywidget")
    page = explore(Y, LABELS, names=NAMES)
    assert page.selection == [] and "application/vnd.jupyter.widget-view+json" in str(page.widget._repr_mimebundle_())
    page.widget.selection = [1, 2]  # as the page sends it
    assert page.selection == [1, 2] and page.widget.html == page.html
    page.selection = [3]
    assert page.widget.selection == [3]
    with pytest.raises(ValueError, match="selection must be a whole number from 0"):
        page.selection = [len(Y)]


def test_without_anywidget_the_page_shows_itself(monkeypatch):
    monkeypatch.setitem(sys.modules, "anywidget", None)
    page = explore(Y[:3])
    assert page.widget is None and page.selection == [] and "<iframe" in page._repr_html_()
    with pytest.raises(ImportError, match="pip install anywidget"):
        page.selection = [0]


def test_several_columns_texts_pictures_and_sizes(tmp_path):
    picture = tmp_path / "cat.png"
    picture.write_bytes(b"\x89PNG")
    labels, images = {"kind": ["a", "b", "a"], "other": [1, 2, None]}, [picture, None, "data:image/gif;base64,AA"]
    options = {"details": ["x", None, "z"], "sizes": [1.0, 4.0, 16.0], "palette": {"a": "#112233"}}
    found = held(explore(Y[:3], labels, images=images, **options))
    assert names_of(found["labelings"]) == ["kind", "other"] and found["labelings"][0]["light"][0] == "#112233"
    assert found["details"] == [{"name": "Details", "texts": ["x", "", "z"]}]
    assert found["images"] == ["data:image/png;base64,iVBORw==", "", "data:image/gif;base64,AA"]
    assert np.allclose(found["sizes"], [0.5, 1, 2])
    with pytest.raises(ValueError, match="images must be paths of image files"):
        explore(Y[:1], images=["cat.exe"])


def test_of_many_points_ranks_are_those_of_a_sample_and_what_is_not_stored_is_listed():
    n = 2100  # more nodes of a graph than all are compared of
    parents = rng.integers(0, np.arange(1, n))
    graph = csr_array((np.ones(n - 1), (parents, np.arange(1, n))), shape=(n, n))
    flat = rng.uniform(-0.6, 0.6, (n, 2))
    found = held(explore(flat, original=graph))
    assert "false" in found and "trust" not in found and "omitted" not in found
    note = next(about["note"] for about in found["measures"] if about["key"] == "trust")
    assert re.search(r"On average [\d.]+% ± [\d.]+% \(of 512 points\)", note)
    total, error = (float(part) / 100 for part in re.search(r"picture: ([\d.]+)% ± ([\d.]+)%", found["total"]).groups())
    ratio = pairwise_distance(to_hyperboloid(flat))[np.triu_indices(n, 1)]
    ratio /= shortest_path(graph, directed=False, unweighted=True)[np.triu_indices(n, 1)]
    exact = min(np.mean(np.abs(ratio / scale - 1)) for scale in np.quantile(ratio, np.linspace(0.2, 0.8, 61)))
    assert 0.0005 < error < 0.02 and abs(total - exact) < 4 * error
    wide = held(explore(flat[:300], original=np.c_[flat[:300], np.zeros((300, 499))]))
    assert "original" not in wide and wide["omitted"] == "no refit: the original has more than 150,000 coordinates"


@pytest.mark.parametrize(
    ("points", "options", "message"),
    [
        (np.empty((0, 2)), {}, "but is empty"),
        ([[1.0, 0.0], [0.0, 0.5]], {}, r"on the boundary, probably by rounding: horopca\.geometry\.clip"),  # as in plots
        (Y, {"values": [1.0]}, rf"values 'Value' must have one number for each of {len(Y)} points, but has shape \(1,\)"),
        (Y, {"values": {"kind": LABELS}}, "values 'kind' must be numbers, but some values are not"),
        (Y, {"original": Y[:3]}, "original must have one row .* but has 3"),
        (Y, {"original": Y, "n_neighbors": 0}, "n_neighbors must be a whole number"),
        (Y, {"root": len(Y)}, "root must be a whole number from 0"),
        ([], {}, "Y must be points of the plane, or several pictures of them, but is empty"),
        ({"epoch 1": Y, "epoch 2": Y}, {}, r"but is a mapping. Pass list\(Y.values\(\)\), titles=list\(Y\)."),
        ([Y], {}, r"but the list has one. Pass Y\[0\]"),
        ([Y, Y[:3]], {}, rf"row by row, but its arrays have \[{len(Y)}, 3\] rows"),
        ([Y, np.c_[Y, Y] / 2], {}, r"Y\[1\] must be points of the disk, of shape \(n, 2\)"),
        (Y, {"layout": "side"}, 'layout="side" shows 2 to 4 pictures, but Y has 1'),
        ([Y, Y], {"layout": "row"}, "layout must be one of 'slider', 'side', but is 'row'"),
        ([Y, Y], {"titles": ["epoch 1"]}, "titles must have one entry per picture, but has 1 for 2 pictures"),
        (Y, {"titles": ["epoch 1"]}, "titles needs several pictures, but Y is only one"),
        ([Y, Y], {"original": [Y, Y]}, "original must be one array, the points of the last picture .* but holds 2"),
    ],
)
def test_wrong_input(points, options, message):
    with pytest.raises(ValueError, match=message):
        explore(points, **options)


@pytest.mark.parametrize("text", ["0 1\n0 2\n", "source,target,weight\n0,1,5.0\n0,2,7.0\n", "a\tb\na\tc\n"])
def test_edge_lists_by_number_and_by_name_and_arrays(tmp_path, text):
    assert load_row_edges(write(tmp_path / "edges.txt", text), ["a", "b", "c"]).tolist() == [[0, 1], [0, 2]]
    assert load_row_edges(write(tmp_path / "some.txt", "7 3\n3 12\n")).tolist() == [[7, 3], [3, 12]]  # rows without edges count
    np.save(tmp_path / "edges.npy", np.array([[0, 1], [0, 2]]))
    assert load_row_edges(tmp_path / "edges.npy").tolist() == [[0, 1], [0, 2]]
    np.save(tmp_path / "halves.npy", np.array([[0.5, 1.0]]))
    with pytest.raises(ValueError, match="pairs of row numbers"):
        load_row_edges(tmp_path / "halves.npy")


@pytest.mark.parametrize(
    ("text", "names", "sentence"),
    [
        ("cat dog\ncat cow\n", ["cat", "dog"], "must join names of points, but no point is called cow"),
        ("cat dog\n", None, "so the points need names"),
        ("cat dog\n", ["cat", "dog", "cat"], "several points are called cat"),
        ("0 1\n2\n", None, "line 2"),
        ("", None, "holds no edges"),
    ],
)
def test_wrong_edge_lists(tmp_path, text, names, sentence):
    with pytest.raises(ValueError, match=sentence):
        load_row_edges(write(tmp_path / "edges.txt", text), names)
