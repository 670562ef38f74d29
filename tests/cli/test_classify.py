"""``horopca classify``: classifiers compared on a user's own points."""

import json

import pytest

from hierarchies import classes
from horopca.geometry import from_hyperboloid, to_hyperboloid
from horopca.io import save

from .running import refused, run

X, Y = classes()
pytestmark = pytest.mark.usefixtures("few_costs")
QUICK = ("--folds", 2, "--methods", "eSVM,tangent PCA + eSVM")  # where only the words matter


@pytest.fixture
def points(tmp_path):
    return save(tmp_path / "points.npy", X)


@pytest.fixture
def labels(tmp_path):
    path = tmp_path / "labels.txt"
    path.write_text("\n".join(Y) + "\n")
    return path


def test_classify_prints_the_comparison(points, labels):
    result = run("classify", points, "--labels", labels, *QUICK)
    assert result.exit_code == 0, result.output
    for word in ("24 points, 3 classes, 2 folds", "accuracy", "average precision", "tangent PCA + eSVM", "±"):
        assert word in result.stdout
    assert result.stderr == ""


def test_classify_prints_json_that_is_the_library_s(points, labels, compared_classifiers):
    result = json.loads(run("classify", points, "--labels", labels, "--folds", 2, "--json").stdout)
    assert result["folds"] == 2 and result["classes"] == {f"branch {k}": 8 for k in (1, 2, 3)}
    for name, expected in compared_classifiers.items():
        scores = result["classifiers"][name]
        assert scores["accuracy"]["mean"] == pytest.approx(expected["accuracy"].mean())
        assert scores["average_precision"]["std"] == pytest.approx(expected["average precision"].std())


def test_classify_reads_labels_from_the_points_file(tmp_path):
    path = save(tmp_path / "points.csv", X, Y)
    for more in ((), ("--labels", "label")):
        assert "3 classes" in run("classify", path, *QUICK, *more).stdout
    refused(run("classify", path, "--labels", "topic"), "There is no file topic")


def test_classify_knows_models(tmp_path, labels):
    path = save(tmp_path / "points.npy", from_hyperboloid(to_hyperboloid(X), "klein"))
    assert run("classify", path, "--labels", labels, *QUICK, "--model", "klein").exit_code == 0


def test_errors(tmp_path, points, labels):
    cases = {
        "\n".join(Y[:-1]): "must hold one label for each of the 24 rows, but holds 23",
        "\n".join([*Y[:-1], "nan"]): "must hold a class for each row, but has 1 row without one (the first: 23)",
        "\n".join(["a"] * 24): "y must have at least two classes, but all its 24 rows are of class 'a'",
        "\n".join(["a"] * 23 + ["b"]): "at least 3 members to be cross-validated, but class 'b' has 1",
    }
    for text, sentence in cases.items():
        labels.write_text(text + "\n")
        result = run("classify", points, "--labels", labels)
        assert result.exit_code == 1 and sentence in result.stderr, result.stderr
    assert "holds no classes" in run("classify", points).stderr
    assert "There is no file" in run("classify", tmp_path / "none.npy").stderr


def test_methods_are_chosen(points, labels):
    result = run("classify", points, "--labels", labels, "--folds", 2, "--methods", "esvm, Tangent PCA + eSVM", "--json")
    assert list(json.loads(result.stdout)["classifiers"]) == ["eSVM", "tangent PCA + eSVM"], result.output
    refused(run("classify", points, "--labels", labels, "--methods", "magic"), "'magic' is not one of", code=2)
