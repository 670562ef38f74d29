"""The comparison of methods."""

from importlib.util import find_spec

import numpy as np
import pandas as pd
import pytest

from hierarchies import TREE
from horopca import TangentPCA, compare, estimators, metrics
from horopca.estimators.base import HyperbolicReduction
from horopca.geometry import pairwise_distance, to_hyperboloid
from horopca.metrics.comparison import METHODS, default_methods, reductions
from horopca.metrics.euclidean import classical_mds, triangulated

FAST = ["tpca", "pca", "hmds", "mds"]  # closed forms
FIELDS = (
    "method title n_components distortion distortion_error frechet_variance frechet_kept variance_kept n_neighbors "
    "neighbours_kept trustworthiness continuity seconds converged"
)


def test_a_row_for_every_method_and_dimension_ready_for_a_data_frame():
    X, Y, steps = TREE.points, TangentPCA(2).fit_transform(TREE.points), []
    table = compare(X, [1, 2], FAST, progress=lambda *step: steps.append(step))
    assert steps == [(k + 1, len(table)) for k in range(len(table))]
    assert isinstance(table, pd.DataFrame) and list(table.columns) == FIELDS.split()
    assert list(zip(table["n_components"], table["method"], strict=True)) == [(K, name) for K in (1, 2) for name in FAST]
    row = table[(table["method"] == "tpca") & (table["n_components"] == 2)].iloc[0]
    expected = {measure: getattr(metrics, measure)(X, Y) for measure in ("neighbours_kept", "trustworthiness", "continuity")}
    expected |= {"distortion": metrics.average_distortion(X, Y), "frechet_variance": metrics.frechet_variance(Y)}
    expected["frechet_kept"] = metrics.frechet_variance(Y) / metrics.frechet_variance(X)
    expected["variance_kept"] = metrics.pair_variance(Y) / metrics.pair_variance(X)
    assert dict(row[list(expected)]) == pytest.approx(expected)
    assert row["distortion_error"] == 0 and row["seconds"] > 0 and row["converged"]


def test_every_reduction_has_a_method_and_flat_methods_are_always_compared():
    assert default_methods() == [*(name for name, m in METHODS.items() if m.usual), "mds"]
    assert {"horopca-stretch", "tpca", "mds"} <= set(default_methods())
    reductions = {name for name in estimators.__all__ if issubclass(getattr(estimators, name), HyperbolicReduction)}
    assert {method.estimator.__name__ for method in METHODS.values()} == reductions - {"HoroPCACV"}
    table = compare(TREE.points[:20], 2, ["horopca", "tpca", "bsa"])
    assert (np.diff(table["distortion"]) > 0).all()


def test_euclidean_mds_is_that_of_the_true_distances():
    D = pairwise_distance(to_hyperboloid(TREE.points))
    Y = classical_mds(D, 2)
    E = np.linalg.norm(Y[:, None] - Y[None], axis=-1)
    row = compare(TREE.points, 2, ["mds"]).iloc[0]
    assert row["distortion"] == pytest.approx(metrics.average_distortion(D, E, metric="precomputed"))
    assert row["neighbours_kept"] == pytest.approx(metrics.neighbours_kept(D, E, metric="precomputed"))
    assert row["variance_kept"] == pytest.approx(np.mean(E**2) / np.mean(D**2))
    P = np.random.default_rng(0).standard_normal((30, 2))  # flat distances are kept exactly, and by landmarks too
    D = np.linalg.norm(P[:, None] - P[None], axis=-1)
    some = classical_mds(D[:20, :20], 2)
    every = np.concatenate([some, triangulated(D[20:, :20], D[:20, :20], some)])
    assert np.allclose(np.linalg.norm(every[:, None] - every[None], axis=-1), D)


@pytest.mark.skipif(find_spec("umap") is not None, reason="umap-learn is installed")
def test_umap_is_optional():
    with pytest.raises(ImportError, match="pip install umap-learn"):
        compare(TREE.points, 2, ["umap"])


def test_models_and_curvatures_change_the_units_only():
    one = [record for record, _, _ in reductions(TREE.points, 2, FAST)]
    two = compare(2 * to_hyperboloid(TREE.points), 2, FAST, model="lorentz", curvature=-0.25)
    for a, (_, b) in zip(one, two.iterrows(), strict=True):
        assert b["distortion"] == pytest.approx(a["distortion"])
        assert b["variance_kept"] == pytest.approx(a["variance_kept"])
        assert b["frechet_variance"] == pytest.approx(4 * a["frechet_variance"])


def test_large_samples_are_measured_on_a_sample_of_pairs():
    X = np.random.default_rng(0).standard_normal((2900, 3))  # more than four million pairs
    row = compare(X, 2, ["tpca"], model="tangent").iloc[0]
    Y = TangentPCA(2, model="tangent").fit_transform(X)
    assert 0 < row["distortion_error"] < 0.01
    assert abs(row["distortion"] - metrics.average_distortion(X, Y, model="tangent")) < 5 * row["distortion_error"]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (([1, 9], ["tpca"]), r"n_components must be a whole number from 1 to 5 \(X has 40 rows of dimension 5\), but is 9"),
        ((2, ["tpca", "magic"]), "methods must be one of 'horopca', .* but is 'magic'"),
        ((2, "tpca"), r"methods must be a list of names, such as \['tpca'\], but is 'tpca'"),
        ((np.array([1, 0]), ["tpca"]), "but is 0"),
    ],
)
def test_invalid_arguments_raise_before_anything_is_fitted(arguments, sentence):
    with pytest.raises(ValueError, match=sentence):
        reductions(TREE.points, *arguments)  # which fits nothing yet
    with pytest.raises(ValueError, match="inside the unit ball"):
        reductions(3 * TREE.points, 2, ["tpca"])
