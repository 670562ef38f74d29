"""Rows in memory, in a mapped file, in an array of another library, in a stream, and their mean."""

from __future__ import annotations

import os

import numpy as np
import pytest
from sklearn.base import BaseEstimator

from clouds import cloud, clusters
from errors import error_message
from horopca._input.coordinates import Coordinates
from horopca._input.means import mean_of_many
from horopca._input.rows import Reservoir, Rows, check_rows, chunk_slices
from horopca.geometry import distance
from horopca.geometry._arrays import to_numpy
from horopca.statistics import frechet_mean

COORDINATES = Coordinates("poincare", -0.25)
X = COORDINATES.from_hyperboloid(cloud(200, 3), np.float64)
POINTS = COORDINATES.to_hyperboloid(X)


@pytest.fixture
def small_chunks(monkeypatch):
    """Chunks of 85 rows, and of 100 on a device."""
    monkeypatch.setattr("horopca._input.rows.CHUNK_ELEMENTS", 1 << 8)
    monkeypatch.setattr("horopca._input.rows.DEVICE_ELEMENTS", 300)


def spans(slices) -> list[tuple[int, int]]:
    return [(rows.start, rows.stop) for rows in slices]


# ---------------------------------------------------------------- in memory


def test_chunks_have_a_number_of_elements_and_at_least_64_rows(small_chunks):
    assert spans(chunk_slices(X)) == [(0, 85), (85, 170), (170, 200)]
    assert spans(chunk_slices(np.zeros((100, 8)))) == [(0, 64), (64, 100)]


@pytest.mark.parametrize("xp", ["numpy", "torch", "array_api_strict"], indirect=True)
def test_every_way_to_the_points_gives_the_points(small_chunks, xp):
    rows = check_rows(xp.asarray(X), COORDINATES)
    assert rows.shape == (200, 4) and not rows.remote
    some = np.array([199, 3, 3, 90])
    np.testing.assert_array_equal(to_numpy(rows.raw(some)), X[some])
    np.testing.assert_allclose(rows.take(some), POINTS[some], rtol=1e-12)
    np.testing.assert_allclose(to_numpy(rows.all()), POINTS, rtol=1e-12)
    step = 85 if xp.__name__ in ("numpy", "torch") else 100  # the third has a device of its own
    assert [chunk.start for chunk in rows.chunks()] == list(range(0, 200, step))
    np.testing.assert_allclose(to_numpy(rows.map(lambda chunk: chunk.t[:, None]))[:, 0], POINTS[:, 0], rtol=1e-12)
    assert rows.fold(lambda chunk: [(chunk.start, chunk.t.shape[0])])[:2] == [(0, step), (step, step)]
    assert rows.fold(lambda chunk: chunk.start, max) == 199 // step * step
    other = check_rows(xp.asarray(X[::-1].copy()), COORDINATES)
    total = rows.fold_beside(other, lambda a, b: to_numpy(a.t * b.t).sum())
    assert total == pytest.approx(POINTS[:, 0] @ POINTS[::-1, 0])


def test_errors_name_the_row_among_all_rows(small_chunks):
    outside = np.where(np.arange(200)[:, None] == 180, 3.0, X)
    assert "Y must lie inside the ball of radius 2, but row 180 has" in error_message(
        check_rows, outside, COORDINATES, name="Y"
    )
    rows = check_rows(outside, COORDINATES, points=False)
    assert "X must lie inside the ball of radius 2, but row 180 has" in error_message(rows.check)
    far = np.array([[200.0, 0.0]])
    assert "within hyperbolic distance 180 of" in error_message(check_rows, far, Coordinates("tangent", -1.0), reach=180.0)
    check_rows(far, Coordinates("tangent", -1.0), reach=201.0)


@pytest.mark.parametrize("xp", ["numpy", "torch"], indirect=True)
def test_errors_of_shapes_and_dtypes(xp):
    message = lambda X, model="poincare", **options: error_message(
        check_rows, xp.asarray(X), Coordinates(model, -1.0), name="Y", **options
    )
    assert message(X[:0]) == "Y must have at least 1 row, but has 0 (n_samples = 0)."
    assert message(X[:2], min_rows=3) == "Y must have at least 3 rows, but has 2 (n_samples = 2)."
    for model in ("lorentz", "lorentz-time-last"):
        assert message([[1.0]], model) == (
            f"Y must have at least 2 columns for model={model!r} (time and space), but has 1 feature(s)."
        )
    check_rows(xp.asarray([[1.0]]), Coordinates("halfspace", -1.0))
    if xp is np:
        assert "Complex data not supported" in message(X + 1j) and "Expected 2D array, got 1D array" in message(X[0])
    else:
        assert message(X + 1j) == "Y must be real, but has dtype torch.complex128."
        assert message(X[0]) == "Y must be a 2-D array (points, coordinates), but has shape (3,)."


class Estimator(BaseEstimator):
    def __init__(self, n_jobs=None):
        self.n_jobs = n_jobs


def test_an_estimator_sets_its_features_and_threads(xp, monkeypatch):
    monkeypatch.setattr("horopca._input.rows.LARGE_ELEMENTS", 16)
    estimator = Estimator(n_jobs=3)
    rows = check_rows(xp.asarray(X), COORDINATES, estimator=estimator, reset=True)
    assert estimator.n_features_in_ == 3 and rows.threads == (3 if xp is np else 1)
    check_rows(xp.asarray(X), COORDINATES, estimator=estimator)
    assert "X has 2 features, but Estimator is expecting 3 features as input." in error_message(
        check_rows, xp.asarray(X[:, :2]), COORDINATES, estimator=estimator
    )


def test_low_precision_is_kept_and_integers_become_float64(xp):
    pytest.importorskip("torch")
    whole = check_rows(xp.asarray([[1, 2], [3, 4]]), Coordinates("tangent", -1.0))
    assert whole.X.dtype == xp.float64 and np.array_equal(to_numpy(whole.X), [[1, 2], [3, 4]])
    assert check_rows(xp.asarray(X, dtype=xp.float32), COORDINATES).X.dtype == xp.float32
    assert check_rows(X.astype(np.float16), COORDINATES).X.dtype == np.float16
    assert check_rows(X.tolist(), COORDINATES).X.dtype == np.float64


# ---------------------------------------------------------------- of another library


def test_names_of_columns_are_reset_by_an_array_without_names():
    torch, pd = pytest.importorskip("torch"), pytest.importorskip("pandas")
    estimator = Estimator()
    check_rows(pd.DataFrame(X, columns=list("abc")), COORDINATES, estimator=estimator, reset=True)
    assert list(estimator.feature_names_in_) == list("abc")
    check_rows(torch.as_tensor(X), COORDINATES, estimator=estimator)
    assert hasattr(estimator, "feature_names_in_")
    check_rows(torch.as_tensor(X), COORDINATES, estimator=estimator, reset=True)
    assert not hasattr(estimator, "feature_names_in_")


def test_rows_keep_the_graph_only_on_request():
    torch = pytest.importorskip("torch")
    leaf = torch.as_tensor(X).requires_grad_()
    assert check_rows(leaf, COORDINATES, graph=True).X.requires_grad and not check_rows(leaf, COORDINATES).X.requires_grad
    with torch.no_grad():
        assert not check_rows(leaf, COORDINATES, graph=True).X.requires_grad
    strict = pytest.importorskip("array_api_strict")
    assert check_rows(strict.asarray(X), COORDINATES, graph=True).shape == (200, 4)


def test_lists_modules_and_tensors_of_other_libraries():
    torch = pytest.importorskip("torch")
    assert check_rows([[0.1, 0.2]], COORDINATES).shape == (1, 3) and check_rows(((0.1, 0.2),), COORDINATES).shape == (1, 3)
    assert check_rows(list(torch.as_tensor(X)), COORDINATES).shape == (200, 4)
    for kind in (list, tuple):
        assert error_message(check_rows, kind(torch.as_tensor(X).requires_grad_()), COORDINATES, name="Y") == (
            "Y must be an array of points, but is a list of tensors. Pass torch.stack(Y)."
        )
    assert "Expected 2D array, got 1D array" in error_message(check_rows, [], COORDINATES)
    module = type("Network", (), {"state_dict": None, "forward": None})()
    assert error_message(check_rows, module, COORDINATES, name="Y") == (
        "Y must be an array of points, but is a module of a network (Network). Pass its output or its weight."
    )
    tensor = type("ManifoldTensor", (), {"__module__": "hypll.tensors"})()
    assert error_message(check_rows, tensor, COORDINATES, name="Y") == (
        "Y must be an array of points, but is a tensor of HypLL. Call horopca.from_hypll(Y)."
    )
    half = type("Half", (), {"forward": None, "__array__": lambda self, *_, **__: X})()  # no module has but one of the two
    assert check_rows(half, COORDINATES).shape == (200, 4)


# ---------------------------------------------------------------- in a mapped file


def test_a_mapped_file_that_is_truncated_raises_an_error(tmp_path):
    np.save(tmp_path / "X.npy", np.concatenate([X] * 20))
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    parts = [check_rows(part, COORDINATES) for part in (mapped, mapped[3000:], mapped.T[:3].T)]
    for rows in parts:
        np.testing.assert_array_equal(rows.take(np.array([5])), check_rows(np.array(rows.X), COORDINATES).take(np.array([5])))
    size = (tmp_path / "X.npy").stat().st_size
    os.truncate(tmp_path / "X.npy", size - 8)
    for rows in parts:
        for read in (lambda rows=rows: rows.take(np.array([3])), rows.all, lambda rows=rows: list(rows.chunks()), rows.check):
            assert error_message(read) == f"{tmp_path / 'X.npy'} was truncated while it was being read. Write it again."
    os.truncate(tmp_path / "X.npy", size)
    assert parts[0].take(np.array([3])).shape == (1, 4)


def test_part_of_a_file_may_be_mapped(tmp_path):
    (tmp_path / "raw").write_bytes(bytes(10_000) + X.tobytes() + bytes(24))
    mapped = np.memmap(tmp_path / "raw", dtype=np.float64, mode="r", offset=10_000, shape=X.shape)
    rows = check_rows(mapped, COORDINATES)
    os.truncate(tmp_path / "raw", 10_000 + X.nbytes)  # what comes after it may go
    np.testing.assert_array_equal(rows.raw(np.array([199])), X[199:])
    os.truncate(tmp_path / "raw", 10_000 + X.nbytes - 1)
    assert "was truncated" in error_message(rows.raw, np.array([0]))


def test_a_copy_of_a_mapped_file_does_not_need_the_file(tmp_path):
    np.save(tmp_path / "X.npy", np.arange(6).reshape(3, 2))
    rows = check_rows(np.load(tmp_path / "X.npy", mmap_mode="r"), Coordinates("tangent", -1.0))
    os.truncate(tmp_path / "X.npy", 100)
    assert rows.take(np.array([0])).shape == (1, 3)


# ---------------------------------------------------------------- in a stream


def test_a_reservoir_holds_the_points_with_the_smallest_keys():
    """Drawn for each batch from the seed and the number of points before it."""
    coordinates, sizes, seed = Coordinates("lorentz-space", -0.25), (3, 40, 5, 30, 2), 7
    batches = np.split(np.arange(80.0)[:, None], np.cumsum(sizes)[:-1])
    keys, reservoir = np.zeros(0), Reservoir.empty(2, coordinates, seed)
    assert (reservoir.points.shape, len(reservoir.keys), reservoir.seen, reservoir.changed) == ((0, 2), 0, 0, 0)
    before = came = 0
    for batch in batches:
        keys = np.append(keys, np.random.default_rng((seed, len(keys))).random(len(batch)))
        reservoir = reservoir.after(Rows(batch, coordinates), 10)
        best = np.argsort(keys)[:10]
        np.testing.assert_array_equal(reservoir.keys, keys[best])
        np.testing.assert_allclose(reservoir.points, coordinates.to_hyperboloid(best[:, None]), rtol=1e-12)
        came += sum(k >= before for k in best)
        before = len(keys)
        assert (reservoir.seen, reservoir.changed) == (before, came)
    assert tuple(reservoir[4:]) == (seed, "lorentz-space", -0.25)


# ---------------------------------------------------------------- means


@pytest.mark.parametrize("weighted", [False, True])
def test_the_mean_of_many_rows_starts_from_a_sample(weighted):
    coordinates = Coordinates("klein", -0.25)
    rows = Rows(coordinates.from_hyperboloid(cloud(500, 5, seed=6), np.float64), coordinates)
    rows.weights = np.random.default_rng(0).uniform(size=500) if weighted else None
    exact = frechet_mean(rows, weights=rows.weights)
    found = mean_of_many(rows, rows.take(np.arange(0, 500, 25)))
    assert found.converged and found.n_iter <= 8  # ten without Broyden's correction
    assert distance(found.point, exact.point) < 1e-8 and found.variance == pytest.approx(exact.variance, rel=1e-12)
    assert mean_of_many(rows, rows.take(np.arange(50)), exact).n_iter == 1


def test_the_mean_does_not_depend_on_a_sample_that_is_far_from_the_other_rows():
    X = np.concatenate([clusters(30, 3) * 0.01, 0.999 * np.eye(3).repeat(100, axis=0), np.full((10, 3), 0.1)])
    rows = Rows(X, Coordinates("poincare", -1.0))
    for sample in (np.arange(20), np.arange(330, 340)):  # the second has one point ten times
        assert np.allclose(mean_of_many(rows, rows.take(sample)).point, frechet_mean(rows).point, atol=1e-7)
