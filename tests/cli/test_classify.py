"""``horopca classify``: classifiers compared on a user's own points."""

import pytest

from hierarchies import classes
from horopca.io import save

from .running import done, summary

X, Y = classes()
pytestmark = pytest.mark.usefixtures("few_costs")
QUICK = ("--folds", 2, "--methods", "esvm, Tangent PCA + eSVM")


@pytest.fixture
def points(tmp_path):
    return save(tmp_path / "points.npy", X)


def test_classify_prints_json_that_is_the_library_s(tmp_path, points, compared_classifiers):
    (labels := tmp_path / "labels.txt").write_text("\n".join(Y) + "\n")
    result = summary("classify", points, "--labels", labels, "--folds", 2)
    assert result["folds"] == 2 and result["classes"] == {f"branch {k}": 8 for k in (1, 2, 3)}
    for name, expected in compared_classifiers.items():
        scores = result["classifiers"][name]
        assert scores["accuracy"]["mean"] == pytest.approx(expected["accuracy"].mean())
        assert scores["average_precision"]["std"] == pytest.approx(expected["average precision"].std())


def test_classify_reads_labels_from_the_points_file(tmp_path):
    path = save(tmp_path / "points.csv", X, Y)
    for more in ((), ("--labels", "label")):
        printed = done("classify", path, *QUICK, *more)
        assert all(word in printed for word in ("24 points, 3 classes, 2 folds", "accuracy", "tangent PCA + eSVM", "±"))
        assert "Busemann" not in printed
    (tmp_path / "kinds.txt").write_text("\n".join(Y))
    words = ("--method", "tpca", "--metadata", tmp_path / "kinds.txt", "-o", tmp_path / "plane.npz")
    done("reduce", save(tmp_path / "points.npy", X), *words)
    assert "3 classes" in done("classify", tmp_path / "plane.npz", *QUICK)  # whatever the column is called
