"""Dask arrays: the results are those of an array in memory, and the rows stay on the workers."""

import cloudpickle
import dask
import dask.array as da
import numpy as np
import pytest
from dask.callbacks import Callback

from clouds import cloud
from errors import error_message
from horopca import EuclideanPCA, HoroPCA, TangentPCA, metrics
from horopca.geometry import from_hyperboloid, lift, translate
from quick import REDUCTIONS, quick

N = 17_000  # more than a search looks at, so that the fits make passes over all rows
FITS = [*((name, {}) for name in REDUCTIONS if name != "BSA"), ("HoroPCA", {"objective": "distortion", "spine": "free"})]


def points(n: int = N, d: int = 5, model: str = "poincare") -> np.ndarray:
    """Points whose spread differs from axis to axis, away from the origin."""
    x = lift(cloud(n, d, radius=3.0)[:, 1:] * np.linspace(1.0, 0.3, d))
    return from_hyperboloid(translate(x, cloud(1, d, radius=1.0, seed=1)[0]), model)


X = points()
FEW = X[:200]


@pytest.fixture(autouse=True)
def one_thread():
    """Tasks run in this process, unless a test starts a cluster."""
    with dask.config.set(scheduler="synchronous"):
        yield


@pytest.fixture
def few_searched(monkeypatch):
    """A search of 500 rows, so that fits make passes over all rows."""
    monkeypatch.setattr("horopca.estimators.horopca_fit.search_rows", lambda _: 500)


@pytest.fixture
def small_parts(monkeypatch):
    """80 rows of a chunk are processed at a time."""
    monkeypatch.setattr("horopca.geometry._points.CHUNK_ELEMENTS", 400)


def chunked(X: np.ndarray = X, rows: tuple[int, ...] = (5000, 0, 8192, 3808), columns: tuple[int, ...] = (3, 2)) -> da.Array:
    return da.from_array(X, chunks=(rows, columns))


def counted(seen: list[int], rows: int = 5000) -> da.Array:
    """X in chunks, whose first rows are appended to a list whenever they are read."""

    def read(block_info=None):
        ((low, high), _) = block_info[None]["array-location"]
        seen.append(low)
        return X[low:high]

    chunks = da.core.normalize_chunks((rows, -1), X.shape)
    return da.map_blocks(read, chunks=chunks, dtype=X.dtype, meta=X[:0])


@pytest.mark.parametrize(("name", "options"), FITS, ids=str)
def test_a_fit_is_that_of_the_array_in_memory(name, options, few_searched):
    P = X[:1000] if name == "PGA" else X  # its search takes all rows
    estimator, D = quick(name, **options), chunked(P, (400, 0, 600)) if name == "PGA" else chunked()
    Y = estimator.fit(P).transform(P)
    score = estimator.score(P) if hasattr(estimator, "score") else None
    Z = estimator.fit(D).transform(D)
    np.testing.assert_allclose(Z.compute(), Y, atol=1e-8)  # the chunks change the order of sums alone
    if score is not None:
        assert estimator.score(D) == pytest.approx(score, rel=1e-10)


def test_other_models_and_dtypes():
    P = points(3000, 4, "lorentz").astype(np.float32)
    D = chunked(P, (1000, 2000), (P.shape[1],))
    estimator = TangentPCA(2, model="lorentz").fit(D)
    Y = estimator.transform(D)
    assert Y.dtype == Y.compute().dtype == np.float32
    np.testing.assert_allclose(Y.compute(), estimator.fit(P).transform(P), atol=1e-6)  # of single precision
    assert TangentPCA(2).fit_transform(chunked(FEW.astype(np.float16), (100, 100))).dtype == np.float16
    whole = np.random.default_rng(0).integers(-3, 4, size=(60, 3))
    assert TangentPCA(2, model="tangent").fit_transform(da.from_array(whole, chunks=(20, 3))).dtype == np.float64


def test_data_frames_and_unknown_sizes():
    pd, dd = pytest.importorskip("pandas"), pytest.importorskip("dask.dataframe")
    frame = pd.DataFrame(X[:500], columns=list("abcde"))
    D = dd.from_pandas(frame, npartitions=3)
    fitted = TangentPCA(2).fit(D)
    assert list(fitted.feature_names_in_) == list("abcde")
    expected = TangentPCA(2).fit(frame).transform(frame)
    np.testing.assert_allclose(fitted.transform(D).compute(), expected, atol=1e-12)
    unknown = D.to_dask_array()
    np.testing.assert_allclose(TangentPCA(2).fit_transform(unknown).compute(), expected, atol=1e-12)
    assert metrics.pair_variance(unknown) == pytest.approx(metrics.pair_variance(frame))
    assert np.isnan(unknown.shape[0])  # the user's array is unchanged


def test_transform_is_lazy_and_independent_of_a_later_fit():
    estimator, seen = TangentPCA(2).fit(X), []
    Y = estimator.transform(counted(seen))
    back = estimator.inverse_transform(Y)
    assert not seen
    assert (Y.shape, Y.chunks, Y.dtype) == ((N, 2), ((5000, 5000, 5000, 2000), (2,)), np.float64)
    assert (type(Y._meta), Y._meta.dtype, back.shape) == (np.ndarray, np.float64, X.shape)
    expected = estimator.transform(X)
    estimator.fit(-X[:100])
    np.testing.assert_array_equal(Y.compute(), expected)
    assert sorted(seen) == [0, 5000, 10_000, 15_000]
    np.testing.assert_array_equal(Y[:7].compute(), expected[:7])
    assert seen[4:] == [0]  # only the chunk with these rows
    horo = HoroPCA(2, n_init=1, random_state=0).fit(X[:500])
    np.testing.assert_allclose(horo.busemann(chunked()).compute(), horo.busemann(X), atol=1e-12)


class Sizes(Callback):
    """The largest result of the tasks of each kind, in bytes."""

    def __init__(self) -> None:
        super().__init__(posttask=self.measure)
        self.largest: dict[str, int] = {}

    def measure(self, key, value, *_):
        kind = (key if isinstance(key, str) else key[0]).rsplit("-", 5)[0]
        self.largest[kind] = max(self.largest.get(kind, 0), len(cloudpickle.dumps(value)))


def test_small_arrays_travel_and_rows_do_not(few_searched):
    n, d = 20_000, 8
    with Sizes() as sizes:
        HoroPCA(2, n_init=1, random_state=0).fit(da.from_array(points(n, d), chunks=(4000, d)))
    assert max(sizes.largest[kind] for kind in ("_process", "_combine")) < 2000
    assert sizes.largest["_take"] < 4000 * d * 8 / 2  # the sampled rows of a chunk
    with Sizes() as sizes:
        metrics.pair_variance(chunked(), n_pairs=1000, random_state=0)
    assert sizes.largest["_take"] < 1000 * 5 * 8


def test_the_first_pass_names_an_invalid_row(small_parts):
    """In the second part of its chunk."""
    D = da.from_array(np.where(np.arange(200)[:, None] == 140, 3.0, FEW), chunks=((60, 0, 90, 50), -1))
    fit = TangentPCA(2).fit(FEW)
    calls = [fit.fit, fit.score, metrics.pair_variance, lambda D: fit.transform(D).compute()]
    calls += [lambda D: metrics.unexplained_variance(D, FEW), lambda D: metrics.unexplained_variance(FEW, D)]
    for call in calls:
        assert "must lie inside the unit ball, but row 140 has norm 6.7082" in error_message(call, D)


def test_metrics_of_few_rows_are_those_of_all_pairs():
    P, Q = X[:300], TangentPCA(2).fit(X).transform(X[:300])
    D, E = chunked(P, (100, 200)), chunked(Q, (70, 230), (2,))
    for metric in (metrics.average_distortion, metrics.worst_case_distortion):
        assert metric(D, E) == pytest.approx(metric(P, Q), rel=1e-12)
    assert metrics.pair_variance(D) == pytest.approx(metrics.pair_variance(P), rel=1e-12)
    with pytest.raises(ValueError, match=r"this Dask array has 40,000\. Pass a sample of the rows"):
        metrics.pair_variance(da.zeros((40_000, 2), chunks=(20_000, 2)), n_pairs=40_000 * 39_999 // 2)


def test_metrics_of_many_rows_are_estimates_with_an_honest_error():
    estimator, D = EuclideanPCA(2).fit(X), chunked()
    y, Y = estimator.transform(X), estimator.transform(D)
    truth = metrics.average_distortion(X, y, n_pairs=40 * N, random_state=0)
    value, error = metrics.average_distortion(D, Y, n_pairs=2000, return_error=True, random_state=0)
    assert 0 < abs(value - truth) < 4 * error
    assert metrics.average_distortion(D, y, n_pairs=2000, random_state=0) == pytest.approx(value)
    variance = metrics.pair_variance(X, n_pairs=40 * N, random_state=0)
    assert metrics.pair_variance(D, n_pairs=20_000, random_state=0) == pytest.approx(variance, rel=0.05)
    back, lazily = estimator.inverse_transform(y), estimator.inverse_transform(Y)
    many = D.rechunk((200, 5))  # whose results are combined by a tree
    for pair in ((D, lazily), (D, back), (X, lazily), (D, lazily.rechunk((3000, 5))), (many, back)):  # not an estimate
        assert metrics.unexplained_variance(*pair) == pytest.approx(metrics.unexplained_variance(X, back), rel=1e-12)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda fit: fit.transform(chunked()[:, :4]), "X has 4 features, but TangentPCA is expecting 5 features"),
        (lambda fit: fit.inverse_transform(chunked()), "Y must have 2 columns"),
        (lambda fit: fit.fit(chunked()[:, 0]), r"X must be a 2-D array .* but has shape \(17000,\)"),
        (lambda fit: fit.fit(chunked() + 1j), "X must be real, but has dtype complex128"),
        (lambda fit: fit.fit(dask.delayed(X)), "X must be a Dask array or data frame, but is a Delayed"),
    ],
)
def test_invalid_shapes_and_types(call, message):
    with pytest.raises(ValueError, match=message):
        call(TangentPCA(2).fit(X))
