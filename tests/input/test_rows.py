"""Rows in memory, in a mapped file, in an array of another library, and their mean."""

import os

import numpy as np
import pytest

from clouds import cloud, clusters
from errors import error_message
from horopca import HoroPCA, TangentPCA
from horopca._input.coordinates import Coordinates
from horopca._input.rows import check_rows
from horopca.geometry import distance
from horopca.statistics import frechet_mean

COORDINATES = Coordinates("poincare", -0.25)
X = COORDINATES.from_hyperboloid(cloud(200, 3), np.float64)
POINTS = COORDINATES.to_hyperboloid(X)
MANY = np.tile(X, (1000, 1))  # two chunks


def test_an_error_names_the_row_among_all_rows():
    outside = np.where(np.arange(len(MANY))[:, None] == len(MANY) - 3, 3.0, MANY)
    expected = "X must lie inside the ball of radius 2, but row 199997 has norm 5.19615."
    assert error_message(TangentPCA(curvature=-0.25).fit, outside).startswith(expected)


def test_results_do_not_depend_on_the_number_of_threads():
    """Several threads process more than eight million elements."""
    X = np.tile(clusters(300, 60).astype(np.float32), (500, 1))
    fits = [HoroPCA(1, random_state=0, n_init=1, n_jobs=jobs).fit(X) for jobs in (1, 3)]
    assert np.array_equal(fits[0].transform(X), fits[1].transform(X))


def test_names_of_columns_are_reset_by_an_array_without_names():
    torch, pd = pytest.importorskip("torch"), pytest.importorskip("pandas")
    estimator = TangentPCA(2, curvature=-0.25).fit(pd.DataFrame(X.astype(np.float32), columns=list("abc")))
    assert list(estimator.feature_names_in_) == list("abc")
    assert estimator.transform(pd.DataFrame(X.astype(np.float32), columns=list("abc"))).dtype == np.float32
    with pytest.warns(UserWarning, match="X does not have valid feature names"):
        estimator.transform(torch.as_tensor(X))
    assert not hasattr(estimator.fit(torch.as_tensor(X)), "feature_names_in_")


def test_a_mapped_file_that_is_truncated_raises_an_error(tmp_path):
    (tmp_path / "raw").write_bytes(bytes(10_000) + np.concatenate([X] * 20).tobytes() + bytes(24))
    mapped = np.memmap(tmp_path / "raw", dtype=np.float64, mode="r", offset=10_000, shape=(4000, 3))
    parts = [check_rows(part, COORDINATES) for part in (mapped, mapped[3000:], mapped.T[:3].T)]
    end = 10_000 + mapped.nbytes
    os.truncate(tmp_path / "raw", end)  # what comes after it may go
    for rows in parts:
        np.testing.assert_array_equal(rows.take(np.array([5])), check_rows(np.array(rows.X), COORDINATES).take(np.array([5])))
    os.truncate(tmp_path / "raw", end - 1)
    for rows in parts:
        for read in (lambda rows=rows: rows.take(np.array([3])), rows.all, lambda rows=rows: list(rows.chunks()), rows.check):
            assert error_message(read) == f"{tmp_path / 'raw'} was truncated while it was being read. Write it again."


@pytest.mark.parametrize("kind", ["spread", "weighted", "far from most samples"])
def test_the_mean_of_many_rows_is_that_of_all(kind):
    n, coordinates = 20_000, Coordinates("klein", -0.25)
    x = cloud(n, 5, seed=6)
    if kind == "far from most samples":
        x = np.concatenate([cloud(n, 5, radius=0.01), cloud(3, 5, radius=9.0)])
    X, weight = coordinates.from_hyperboloid(x, np.float64), np.ones(len(x))
    if kind == "weighted":
        weight = np.random.default_rng(0).uniform(size=n)
        fit = HoroPCA(1, model="klein", curvature=-0.25, random_state=0, n_init=1).fit(X, sample_weight=weight)
    else:
        fit = TangentPCA(1, model="klein", curvature=-0.25).fit(X)
    exact = frechet_mean(x, weights=weight)
    # a fraction of its standard error; the Klein ball keeps nine digits of points at radius 9
    assert distance(coordinates.to_hyperboloid(fit.mean_[None])[0], exact.point) < 1e-4 * np.sqrt(exact.variance / n) + 1e-9
