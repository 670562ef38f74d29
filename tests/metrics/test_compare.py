"""The comparison: as a function, as a command, as a picture."""

from __future__ import annotations

import csv
import io
import json
import re
import sys

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from horopca import TangentPCA, compare, metrics
from horopca.cli import main
from horopca.datasets import make_hierarchy
from horopca.geometry import from_hyperboloid, to_hyperboloid
from horopca.io import save
from horopca.metrics.comparison import METHODS, default_methods, make, reductions
from horopca.plots import plot_comparison

TREE = make_hierarchy(3, 3, 5, random_state=0)
FAST = ["tpca", "pca", "hmds"]  # closed forms
FIELDS = {
    "method",
    "title",
    "n_components",
    "distortion",
    "distortion_error",
    "frechet_variance",
    "frechet_kept",
    "variance_kept",
    "seconds",
    "converged",
}


@pytest.fixture
def points(tmp_path):
    return save(tmp_path / "points.npy", TREE.points)


@pytest.fixture
def quick(monkeypatch):
    """The network trains for a moment only."""
    hurried = METHODS["hae"]._replace(options={"max_iter": 5, "hidden": (4,)})
    monkeypatch.setitem(METHODS, "hae", hurried)


# ---------------------------------------------------------------- the function


def test_a_row_for_every_method_and_dimension_ready_for_a_data_frame():
    table = pd.DataFrame(compare(TREE.points, [1, 2], FAST))
    assert set(table.columns) == FIELDS
    assert list(zip(table["n_components"], table["method"], strict=True)) == [(K, name) for K in (1, 2) for name in FAST]
    row = table[(table["method"] == "tpca") & (table["n_components"] == 2)].iloc[0]
    Y = TangentPCA(2).fit_transform(TREE.points)
    assert row["distortion"] == pytest.approx(metrics.average_distortion(TREE.points, Y))
    assert row["frechet_variance"] == pytest.approx(metrics.frechet_variance(Y))
    assert row["frechet_kept"] == pytest.approx(metrics.frechet_variance(Y) / metrics.frechet_variance(TREE.points))
    assert row["variance_kept"] == pytest.approx(metrics.pair_variance(Y) / metrics.pair_variance(TREE.points))
    assert row["distortion_error"] == 0 and row["seconds"] > 0 and row["converged"]


def test_every_method_is_compared(quick):
    rows = compare(TREE.points, 2)
    assert [row["method"] for row in rows] == default_methods() == [name for name, m in METHODS.items() if m.usual]
    kept = {row["method"]: row["distortion"] for row in rows}
    assert kept["horopca"] < kept["tpca"] < kept["bsa"]
    assert kept["horopca-free"] < kept["pga"]


@pytest.mark.parametrize("name", METHODS)
def test_every_method_can_be_made(name):
    estimator = make(name, 3, model="klein", curvature=-2.0, random_state=5)
    assert (estimator.n_components, estimator.model, estimator.curvature) == (3, "klein", -2.0)
    assert getattr(estimator, "random_state", 5) == 5


def test_models_and_curvatures_change_the_units_only():
    one = compare(TREE.points, 2, FAST)
    two = compare(2 * to_hyperboloid(TREE.points), 2, FAST, model="lorentz", curvature=-0.25)
    for a, b in zip(one, two, strict=True):
        assert b["distortion"] == pytest.approx(a["distortion"])
        assert b["variance_kept"] == pytest.approx(a["variance_kept"])
        assert b["frechet_variance"] == pytest.approx(4 * a["frechet_variance"])


def test_large_samples_are_measured_on_a_sample_of_pairs(monkeypatch):
    exact = compare(TREE.points, 2, ["tpca"])[0]
    monkeypatch.setattr("horopca.metrics.comparison.EXACT_PAIRS", 200)
    row = compare(TREE.points, 2, ["tpca"])[0]
    assert 0 < row["distortion_error"] < 0.1
    assert abs(row["distortion"] - exact["distortion"]) < 5 * row["distortion_error"]
    assert row["variance_kept"] == pytest.approx(exact["variance_kept"], rel=0.1)


def test_wrong_requests_are_refused_before_anything_is_fitted(monkeypatch):
    monkeypatch.setattr("horopca.estimators.TangentPCA.fit", lambda *_: pytest.fail("the fit was started"))
    for arguments, sentence in [
        (([1, 9], ["tpca"]), r"n_components must be a whole number from 1 to 5 \(X has 40 rows of dimension 5\), but is 9"),
        ((2, ["tpca", "magic"]), "methods must be among horopca, .* but one is 'magic'"),
        ((0, ["tpca"]), "but is 0"),
    ]:
        with pytest.raises(ValueError, match=sentence):
            compare(TREE.points, *arguments)
    with pytest.raises(ValueError, match="inside the unit ball"):
        compare(3 * TREE.points, 2, ["tpca"])


def test_without_torch_the_network_is_left_out_or_asked_for(monkeypatch):
    monkeypatch.setattr("horopca.metrics.comparison.find_spec", lambda name: None)
    assert "hae" not in default_methods()
    with pytest.raises(ImportError, match=r"needs torch: pip install 'horopca\[torch\]'"):
        reductions(TREE.points, 2, ["tpca", "hae"])


# ---------------------------------------------------------------- the command


def run(*arguments):
    return CliRunner().invoke(main, ["compare", *(str(argument) for argument in arguments)])


def refused(result, sentence, code=1):
    assert result.exit_code == code, result.output
    assert sentence in " ".join(re.sub("[│╭╮╰╯─]", " ", result.stderr).split())
    assert result.stdout == "" and "Traceback" not in result.stderr


def test_the_table(points):
    result = run(points, "-k", 1, 2, "--methods", *FAST)
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert lines[0].strip() == f"40 points, 5 columns, Fréchet variance {metrics.frechet_variance(TREE.points):.2f}"
    assert all(word in lines[1] for word in ("method", "distortion", "Fréchet variance", "variance kept", "seconds"))
    assert [line.split()[0] for line in lines[2:]] == ["1"] * 3 + ["2"] * 3
    assert sum("Tangent PCA" in line for line in lines) == 2
    assert result.stderr == ""


def test_the_best_is_bold(points, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "120")
    best, *others = sorted(f"{row['distortion']:.4f}" for row in compare(TREE.points, 2, FAST))
    bold = re.findall(r"\x1b\[1m([\d.]+)\x1b\[0m", run(points, "--methods", *FAST).stdout)
    assert best in bold and not set(others) & set(bold)


def test_json_and_csv_say_the_same_and_nothing_else(points):
    found = json.loads(run(points, "-k", 2, 3, "--methods", "tpca", "hmds", "--json", "--seed", 4).stdout)
    assert found["n_points"] == 40 and found["seed"] == 4 and found["input"] == str(points)
    rows = list(csv.DictReader(io.StringIO(run(points, "-k", 2, 3, "--methods", "tpca", "hmds", "--csv").stdout)))
    assert set(rows[0]) == FIELDS
    for row, record in zip(rows, found["results"], strict=True):
        assert (row["method"], int(row["n_components"])) == (record["method"], record["n_components"])
        assert float(row["distortion"]) == record["distortion"]


def test_options_may_come_in_any_order_and_repeat(points):
    one = run("-k", 1, 2, "--methods", "tpca", points, "--csv")
    two = run("--csv", points, "-k", 1, "-k", 2, "--methods", "tpca", "--methods", "tpca")
    columns = slice(0, 4)
    assert [line.split(",")[columns] for line in one.stdout.splitlines()] == [
        line.split(",")[columns] for line in two.stdout.splitlines()
    ]


def test_without_a_file_it_compares_on_a_tree():
    found = json.loads(run("--methods", "tpca", "--json").stdout)
    assert found["n_points"] == 121 and found["input"] is None


def test_model_and_curvature_and_files_with_labels(tmp_path):
    path = tmp_path / "points.csv"
    pd.DataFrame(2 * to_hyperboloid(TREE.points)).assign(label=TREE.labels).to_csv(path, index=False)
    result = run(path, "--model", "lorentz", "--curvature", -0.25, "--methods", "tpca", "--plot", tmp_path / "disks.png")
    assert result.exit_code == 0, result.output
    assert (tmp_path / "disks.png").read_bytes().startswith(b"\x89PNG")


def test_wrong_requests_end_in_a_sentence(points, tmp_path):
    (tmp_path / "there.png").write_text("precious")
    refused(run(points, "--json", "--csv"), "exclude each other", code=2)
    refused(run(points, "-k", 3, "--plot", tmp_path / "disks.png"), "needs 2 among -k, but -k is 3", code=2)
    refused(run(points, "--methods", "magic"), "magic", code=2)
    refused(run(points, "-k", 0), "-k", code=2)
    refused(run(points, "--plot", tmp_path / "there.png"), "exists already")
    refused(run(points, "-k", 2, 9, "--methods", "tpca"), "but is 9")
    refused(run(tmp_path / "absent.npy"), "There is no file")
    assert (tmp_path / "there.png").read_text() == "precious"


def test_without_torch_the_command_says_what_to_install(points, monkeypatch):
    monkeypatch.setattr("horopca.metrics.comparison.find_spec", lambda name: None)
    refused(run(points, "--methods", "hae"), "pip install 'horopca[torch]'")


def test_without_matplotlib_the_command_says_what_to_install(points, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    refused(run(points, "--plot", tmp_path / "disks.png"), "pip install 'horopca[plot]'")


# ---------------------------------------------------------------- the picture


def test_a_disk_for_each_and_one_legend_for_all():
    images = {f"method {i}": TangentPCA(2).fit_transform(TREE.points) for i in range(5)}
    figure = plot_comparison(images, TREE.labels, edges=TREE.edges, captions=[f"{i} %" for i in range(5)])
    assert [ax.get_title() for ax in figure.axes] == [f"method {i}\n{i} %" for i in range(5)]
    assert all(ax.get_legend() is None for ax in figure.axes)
    assert {text.get_text() for text in figure.legends[0].get_texts()} == set(TREE.labels)
    for ax, Y in zip(figure.axes, images.values(), strict=True):
        drawn = np.asarray(ax.collections[-1].get_offsets())
        assert np.allclose(np.sort(drawn, axis=0), np.sort(Y, axis=0))


def test_pictures_that_cannot_be_drawn_are_refused():
    Y = from_hyperboloid(to_hyperboloid(TREE.points[:, :2]))
    with pytest.raises(ValueError, match="at least one disk"):
        plot_comparison({})
    with pytest.raises(ValueError, match="captions must have one entry per disk, but has 1 for 2"):
        plot_comparison({"a": Y, "b": Y}, captions=["one"])
