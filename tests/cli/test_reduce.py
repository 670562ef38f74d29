"""``horopca reduce``: what it writes, what it prints where, and how it refuses."""

import json
import sys

import numpy as np
import pytest

from hierarchies import TREE
from horopca import TangentPCA, metrics
from horopca._input.coordinates import check_coordinates
from horopca.cli.methods import HELP
from horopca.geometry import MODELS, distance, from_hyperboloid, to_hyperboloid
from horopca.io import load, save, save_fitted
from horopca.metrics.comparison import METHODS, make

from .running import PNG, refused, run

pytestmark = pytest.mark.usefixtures("quick_search")


@pytest.fixture
def never_fits(monkeypatch):
    """Makes any fit a failure: refusals must come before the computation."""
    monkeypatch.setattr("horopca.HoroPCA.fit", lambda *_: pytest.fail("the fit was started"))
    monkeypatch.setattr("horopca.HoroPCA.fit_transform", lambda *_: pytest.fail("the fit was started"))


def test_a_kept_fit_reads_in_the_model_that_its_points_told(tmp_path):
    X = from_hyperboloid(to_hyperboloid(TREE.points), "lorentz")
    fit = TangentPCA(2, model="auto").fit(X)
    save_fitted(fit, tmp_path / "fit.npz")
    more = ("-o", tmp_path / "out.npy", "--plot", tmp_path / "disk.png", "--json")
    result = run("reduce", save(tmp_path / "more.npy", X[:20]), "--from-fit", tmp_path / "fit.npz", *more)
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["model"] == "lorentz" and np.array_equal(
        load(tmp_path / "out.npy").X, fit.transform(X[:20])
    )


def test_reduce_writes_points_and_picture_and_prints_a_summary(tmp_path, points):
    result = run("reduce", points, "-o", tmp_path / "out.npy", "--plot", tmp_path / "disk.png")
    assert result.exit_code == 0, result.output
    Y = load(tmp_path / "out.npy").X
    assert Y.shape == (40, 2) and (np.linalg.norm(Y, axis=1) < 1).all()
    assert (tmp_path / "disk.png").read_bytes().startswith(PNG)
    for word in ("distortion", "variance kept", "time", "5 → 2"):
        assert word in result.stdout
    assert result.stderr == ""
    assert len(list(tmp_path.iterdir())) == 4  # with the metadata of out.npy


def test_reduce_without_output_says_so(points):
    result = run("reduce", points)
    assert result.exit_code == 0
    assert "distortion" in result.stdout
    assert "Nothing was written" in result.stderr


def test_json_is_all_there_is_on_stdout(tmp_path, points):
    result = run("reduce", points, "--json", "--seed", 3, "-k", 3, "-o", tmp_path / "out.csv", "--spine", "free")
    found = json.loads(result.stdout)
    assert found["n_points"] == 40 and found["n_dimensions"] == 5 and found["n_components"] == 3
    assert found["seed"] == 3 and found["spine"] == "free" and found["plot"] is None
    assert 0 < found["distortion"] < 1 and found["distortion_error"] == 0
    assert 0 < found["variance_kept"] <= 1 and found["seconds"] > 0
    assert result.stderr == ""


def test_what_is_written_is_what_the_library_returns(tmp_path, points):
    from horopca import HoroPCA

    run("reduce", points, "-o", tmp_path / "out.npy", "--seed", 4, "--strategy", "greedy")
    Y = HoroPCA(2, strategy="greedy", random_state=4).fit_transform(TREE.points)
    assert np.array_equal(load(tmp_path / "out.npy").X, Y)


@pytest.mark.parametrize("model", [model for model in MODELS if model != "poincare"])
def test_model_and_curvature_reach_the_points_and_the_picture(tmp_path, monkeypatch, model):
    drawn = []
    monkeypatch.setattr(
        "horopca.plots.plot_plane",
        lambda Y, *_, model, curvature, **__: drawn.append(check_coordinates(model, curvature).to_hyperboloid(Y)),
    )
    scale = 1 if model == "halfspace" else 2  # curvature -1/4 doubles lengths, and dilations of the half-space are free
    path = save(tmp_path / "points.npy", scale * from_hyperboloid(to_hyperboloid(TREE.points), model))
    options = ("--plot", tmp_path / "disk.png", "--seed", 0, "--force")
    result = run("reduce", path, "--model", model, "--curvature", -0.25, *options)
    assert result.exit_code == 0, result.output
    run("reduce", save(tmp_path / "ball.npy", TREE.points), *options)
    one, two = (distance(y[:, None], y[None]) for y in drawn)
    assert np.allclose(one, two, atol=1e-5)


def test_the_distortion_of_many_points_is_sampled_with_its_error(monkeypatch, points):
    exact = json.loads(run("reduce", points, "--json").stdout)
    monkeypatch.setattr("horopca.metrics.comparison.REPORT_PAIRS", 400)
    sampled = json.loads(run("reduce", points, "--json").stdout)
    assert 0 < sampled["distortion_error"] < 0.1
    assert abs(sampled["distortion"] - exact["distortion"]) < 5 * sampled["distortion_error"]
    assert "±" in run("reduce", points).stdout


def test_labels_travel_from_the_file_or_from_their_own(tmp_path):
    table = save(tmp_path / "points.csv", TREE.points, TREE.labels)
    run("reduce", table, "-o", tmp_path / "a.tsv")
    assert load(tmp_path / "a.tsv").labels == TREE.labels
    (tmp_path / "labels.txt").write_text("\n".join(f"row {i}" for i in range(40)))
    run("reduce", table, "--labels", tmp_path / "labels.txt", "-o", tmp_path / "b.npz")
    assert load(tmp_path / "b.npz").labels == [f"row {i}" for i in range(40)]


def test_float32_stays_float32(tmp_path):
    path = save(tmp_path / "points.npy", TREE.points.astype(np.float32))
    run("reduce", path, "-o", tmp_path / "out.npy")
    assert load(tmp_path / "out.npy").X.dtype == np.float32


def test_existing_files_need_force(tmp_path, points):
    out = tmp_path / "out.npy"
    out.write_text("precious")
    result = run("reduce", points, "-o", out)
    assert result.exit_code == 1 and "--force" in result.stderr and out.read_text() == "precious"
    assert run("reduce", points, "-o", out, "--force").exit_code == 0
    assert load(out).X.shape == (40, 2)


def test_a_bad_request_is_refused_before_the_computation(tmp_path, points, never_fits):
    (tmp_path / "labels.txt").write_text("one\ntwo\n")
    (tmp_path / "there.png").write_text("precious")
    refused(run("reduce", points, "--labels", tmp_path / "labels.txt"), "each of the 40 rows, but holds 2")
    refused(run("reduce", points, "--plot", tmp_path / "there.png"), "exists already")
    refused(run("reduce", points, "--plot", tmp_path / "disk.bmp"), "must end in .png")
    refused(run("reduce", points, "-o", tmp_path / "out.mat"), "must end in .npy")
    refused(run("reduce", points, "-o", tmp_path / "no" / "out.npy"), "there is no folder")
    refused(run("reduce", points, "-k", 3, "--plot", tmp_path / "disk.png"), "needs -k 2", code=2)
    refused(run("reduce", points, "--key", "X"), "is not one")
    refused(run("reduce", points, "-k", 0), "-k", code=2)
    refused(run("reduce", points, "--model", "sphere"), "--model", code=2)
    refused(run("reduce", tmp_path / "absent.npy"), "There is no file")
    refused(run("reduce", tmp_path), "is a folder")
    refused(run("reduce"), "INPUT", code=2)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["labels.txt", "points.npy", "there.png"]


@pytest.mark.parametrize(
    ("X", "options", "words"),
    [
        ([[0.1, 0.2], [0.9, 0.9], [0.0, 0.1]], (), "1.27"),
        ([[0.1, 0.2], [0.1, np.nan], [0.0, 0.1]], (), "row 1"),
        ([[0.1, 0.2]], (), "1"),
        (TREE.points, ("-k", 9), "9"),
        (TREE.points, ("--curvature", 1), "curvature"),
        (TREE.points, ("--model", "lorentz"), "hyperboloid"),
    ],
)
def test_wrong_points_are_refused_in_one_sentence(tmp_path, X, options, words):
    path = tmp_path / "points.npy"
    np.save(path, np.array(X))
    refused(run("reduce", path, "-o", tmp_path / "out.npy", *options), words)
    assert not (tmp_path / "out.npy").exists()


def test_without_matplotlib_the_sentence_says_what_to_install(tmp_path, points, monkeypatch, never_fits):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    refused(run("reduce", points, "--plot", tmp_path / "disk.png"), "pip install matplotlib")


# ---------------------------------------------------------------- methods and pictures


@pytest.mark.parametrize("method", sorted(METHODS))
def test_every_method_of_the_table_reduces(tmp_path, points, method):
    result = run("reduce", points, "--method", method, "-o", tmp_path / "out.npy", "--json")
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["estimator"] == METHODS[method].estimator
    if METHODS[method].estimator != "HoroPCA":
        expected = make(method, 2, random_state=0).fit_transform(TREE.points)
        np.testing.assert_allclose(load(tmp_path / "out.npy").X, expected, atol=1e-12)


def test_options_that_a_method_has_not_are_refused_before_the_work(tmp_path, points, monkeypatch):
    monkeypatch.setattr("horopca.cli.reducing.read", lambda *_: pytest.fail("the file was read"))
    refused(run("reduce", points, "--method", "tpca", "--spine", "free"), "--spine is not an option of --method tpca", code=2)
    refused(run("reduce", points, "--method", "horopca-free", "--spine", "ideal"), "--spine is not an option of", code=2)
    refused(run("reduce", points, "--method", "hmds", "--max-iter", 3), "--max-iter is not an option of", code=2)
    refused(run("reduce", points, "--method", "magic"), "'magic' is not one of", code=2)
    for wrong in ("0", "1.5", "-2", "many"):
        refused(run("reduce", points, "-k", wrong), "-k", code=2)


@pytest.mark.parametrize(
    ("method", "asked"),
    [
        ("horopca", {"n_init": 2, "pairs": "all", "tol": 1e-4}),
        ("horopca-distortion", {"n_init": 2, "strategy": "greedy"}),
        ("pga", {"objective": "residual", "strategy": "greedy", "n_init": 2}),
        ("bsa", {"strategy": "last", "base_point": "mean", "base_noise": 0.1, "n_init": "auto"}),
        ("halfspace", {"n_draws": 2}),
    ],
)
def test_every_method_takes_options_of_its_own(tmp_path, points, method, asked):
    options = [word for name, value in asked.items() for word in (f"--{name.replace('_', '-')}", value)]
    result = run("reduce", points, "--method", method, *options, "-o", tmp_path / "out.npy", "--json")
    assert result.exit_code == 0, result.output
    expected = make(method, 2, random_state=0, **asked).fit_transform(TREE.points)
    np.testing.assert_allclose(load(tmp_path / "out.npy").X, expected, atol=1e-12)
    assert asked.items() <= json.loads(result.stdout).items()


def test_a_choice_of_another_method_is_refused_with_those_of_this_one(points, never_fits):
    sentence = "--strategy of --method bsa must be one of flag, last, but is joint."
    refused(run("reduce", points, "--method", "bsa", "--strategy", "joint"), sentence, code=2)
    sentence = "--objective of --method horopca must be one of variance, distortion, frechet, robust, auto, but is residual."
    refused(run("reduce", points, "--objective", "residual"), sentence, code=2)
    refused(run("reduce", points, "--method", "pga", "--max-iter", 0), "--max-iter must be a whole number of at least 1")
    refused(run("reduce", points, "--method", "bsa", "--base-noise", 1), "Pass --base-point mean.")


def test_there_is_an_option_for_every_parameter_of_every_method():
    others = {"n_components", "model", "curvature", "random_state", "metric", "verbose"}  # -k, --model, --seed; points; a bar
    others |= {"warm_start"}  # a command fits once
    known = {name for method in METHODS for name in make(method, 2).get_params()}
    assert known - others == set(HELP)
    refused(run("reduce", "-", "--pairs", "0"), "'0' is neither a whole number from 1 nor auto nor all.", code=2)


def test_a_share_of_the_variance(points):
    found = json.loads(run("reduce", points, "--method", "tpca", "-k", "0.7", "--json").stdout)
    less = json.loads(run("reduce", points, "--method", "tpca", "-k", found["n_components"] - 1, "--json").stdout)
    assert less["variance_kept"] < 0.7 <= found["variance_kept"]


def test_names_edges_and_a_title_reach_the_picture(tmp_path, points, monkeypatch):
    drawn = []
    monkeypatch.setattr("horopca.plots.plot_plane", lambda Y, labels, **options: drawn.append((labels, options)))
    names = [f"node {i}" for i in range(40)]
    (tmp_path / "names.txt").write_text("\n".join(names))
    (tmp_path / "labels.txt").write_text("\n".join(TREE.labels))
    (tmp_path / "edges.tsv").write_text("\n".join(f"node {a}\tnode {b}" for a, b in TREE.edges))
    words = ("--names", tmp_path / "names.txt", "--labels", tmp_path / "labels.txt", "--edges", tmp_path / "edges.tsv")
    result = run("reduce", points, "--method", "tpca", *words, "--title", "A tree", "--plot", tmp_path / "a.png")
    assert result.exit_code == 0, result.output
    ((labels, options),) = drawn
    assert labels == TREE.labels and options["names"] == names and options["title"] == "A tree"
    assert np.array_equal(options["edges"], TREE.edges)
    refused(run("reduce", points, "--edges", tmp_path / "edges.tsv"), "names its nodes, so names")


def test_the_stretch_and_the_objectives(points, quick_search):
    plain, stretched = (
        json.loads(run("reduce", points, "--spine", "free", "--objective", "distortion", *more, "--json").stdout)
        for more in ((), ("--stretch",))
    )
    assert stretched["stretch"] and not plain["stretch"] and stretched["distortion"] < plain["distortion"]
    alone = json.loads(run("reduce", points, "--stretch", "--json").stdout)
    assert alone["stretch"] and alone["distortion"] == stretched["distortion"]
    free = json.loads(run("reduce", points, "--method", "horopca-free", "--stretch", "--json").stdout)
    assert free["distortion"] == alone["distortion"]
    refused(run("reduce", points, "--stretch", "--spine", "ideal"), "--stretch implies --spine free")
    refused(run("reduce", points, "--stretch", "--objective", "variance"), "but these are 'auto', 'variance' and 'joint'")
    refused(run("reduce", points, "--method", "tpca", "--stretch"), "--stretch is not an option of --method tpca", code=2)
    found = json.loads(run("reduce", points, "--objective", "frechet", "--json").stdout)
    assert found["objective"] == "frechet" and 0 < found["variance_kept"] <= 1


def test_what_is_kept_of_neighbours_is_told(tmp_path, points):
    found = json.loads(run("reduce", points, "--method", "tpca", "-o", tmp_path / "out.npy", "--json").stdout)
    Y = load(tmp_path / "out.npy").X
    for name in ("neighbours_kept", "trustworthiness", "continuity"):
        assert found[name] == pytest.approx(getattr(metrics, name)(TREE.points, Y))
    said = run("reduce", points, "--method", "tpca").stdout
    assert f"{found['neighbours_kept']:.1%} of 10 kept" in said and f"continuity {found['continuity']:.3f}" in said
    few, fewest = save(tmp_path / "few.npy", TREE.points[:15]), save(tmp_path / "fewest.npy", TREE.points[:3])
    assert "of 4 kept" in run("reduce", few, "--method", "tpca").stdout  # a third of the others
    assert "neighbours" not in run("reduce", fewest, "--method", "tpca").stdout


@pytest.mark.parametrize("k", ["0", "-1", "1.5", "nan", "inf", "abc", ""])
def test_components_that_are_none(points, k):
    sentence = "is neither a whole number from 1, nor a share of the variance between 0 and 1, nor the word all."
    refused(run("reduce", points, "-k", k), sentence, code=2)
    refused(run("compare", points, "-k", f"2,{k}"), "is not a whole number from 1.", code=2)


def test_all_components_and_too_many(points):
    assert json.loads(run("reduce", points, "-k", "all", "--method", "tpca", "--json").stdout)["n_components"] == 5
    refused(run("reduce", points, "-k", str(10**20)), "a share of the variance between 0 and 1, or all, but is 1" + "0" * 20)
    refused(run("reduce", points, "-k", "all", "--plot", "a.png"), "needs -k 2, but -k is all.", code=2)


def test_auto_is_the_only_model_that_the_rows_fit_or_a_refusal(tmp_path):
    x = to_hyperboloid(TREE.points)
    timed = save(tmp_path / "timed.npy", np.roll(x, -1, axis=1))
    reduced = json.loads(run("reduce", timed, "--model", "auto", "--json", "--method", "tpca").stdout)
    assert reduced["model"] == "lorentz-time-last"
    bare = save(tmp_path / "bare.npy", x[:, 1:])
    refused(run("reduce", bare, "--model", "auto"), "could be 'lorentz-space' or 'tangent' (norms")
    refused(
        run("embed", bare, "--model", "auto", "-o", tmp_path / "o.npy"),
        "--model auto is for points that are read at once",
        code=2,
    )
