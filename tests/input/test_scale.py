"""Large arrays: products instead of points, passes over rows, fits of a sample, streams."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from clouds import cloud, clusters
from horopca import PGA, HoroPCA, HyperbolicMDS, TangentPCA, metrics
from horopca._input.coordinates import Coordinates
from horopca.geometry import MODELS, distance, lift, to_hyperboloid, translate
from horopca.geometry.isometries import Frame, between, boost_to_origin
from horopca.projections import spine_from_basis
from horopca.projections.horospherical import Slide, slide


def small_search(monkeypatch, rows):
    monkeypatch.setattr("horopca.estimators.horopca.RESERVOIR_ROWS", rows)
    monkeypatch.setattr("horopca.estimators.horopca_fit.search_rows", lambda _: rows)


# ---------------------------------------------------------------- chunks of points


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("curvature", [-1.0, -0.3])
def test_chunks_are_the_points(model, dtype, curvature):
    rng, coordinates = np.random.default_rng(0), Coordinates(model, curvature)
    X = coordinates.from_hyperboloid(cloud(40, 3, seed=1), dtype)
    x, chunk = coordinates.to_hyperboloid(X), coordinates.chunk(X)
    M, W, others = rng.standard_normal((2, 4)), rng.standard_normal((3, 40)), cloud(40, 3, seed=2)
    assert np.allclose(chunk.points(), x, rtol=1e-12)
    assert np.allclose(chunk.products(M), M @ x.T, rtol=1e-12, atol=1e-12 * np.abs(x).max())
    assert np.allclose(chunk.gather(W), W @ x, rtol=1e-10)
    assert np.allclose(chunk.distances(others), distance(x, others), rtol=1e-9)


@pytest.mark.parametrize("kappa", [0.7, 1e-3, 0.0, -1e-3, -0.8])
@pytest.mark.parametrize("K", [1, 2, 4])
def test_the_fast_projection_is_the_careful_one(kappa, K):
    rng, x = np.random.default_rng(K), cloud(300, 4, seed=K)
    q = np.linalg.qr(rng.standard_normal((4, 4)))[0]
    spine = spine_from_basis(np.column_stack([np.eye(K)[:, 0] * (1 + kappa), np.vstack([(1 - kappa) * q[:1], q[1:K]])]))
    before, after = Frame(cloud(1, 4, seed=3)[0], np.eye(4)), Frame(cloud(1, K, seed=4)[0], np.eye(K))
    images, lost = Slide.along(spine, before.matrix(), after.matrix()).images(Coordinates("lorentz", -1.0).chunk(x))
    careful = after.enter(to_hyperboloid(slide(before.enter(x), spine), "halfspace"))
    assert lost.mean() < 0.1
    assert distance(images, careful)[~lost].max() < 1e-8


def test_points_for_which_products_cancel_are_projected_too():
    """Towards the pole, on the spine, and so far out that a product of their coordinates has no digits left."""
    X = clusters(400, 3)
    pca = HoroPCA(model="lorentz", random_state=0, n_init=2).fit(to_hyperboloid(X))
    towards = np.outer([1e2, 1e6, 1e9, 1e12], pca.ideal_points_[0])
    x = np.concatenate([lift(towards), pca.inverse_transform(pca.transform(to_hyperboloid(X[:5])))])
    assert distance(pca.transform(x), pca._project(x)).max() < 1e-6
    lost = Slide.along(pca.spine_, boost_to_origin(pca._mean), pca._frame.matrix()).images(
        Coordinates("lorentz", -1.0).chunk(x)
    )[1]
    assert lost[2:4].all()


# ---------------------------------------------------------------- fits of more rows than are searched


@pytest.mark.parametrize("options", [{}, {"spine": "free", "objective": "distortion"}, {"n_components": 1}], ids=str)
def test_a_sample_finds_nearly_what_a_search_of_all_rows_finds(monkeypatch, options):
    X = clusters(1600, 4, ordered=True)
    best = HoroPCA(random_state=0, n_init=2, **options).fit(X)
    small_search(monkeypatch, 800)
    found = HoroPCA(random_state=0, n_init=2, **options).fit(X)
    assert found.score(X) > best.score(X) - 1e-2 * abs(best.score(X))
    assert abs(found.explained_variance_.sum() - metrics.pair_variance(found.transform(X))) < 4 * found.variance_error_
    assert abs(found.total_variance_ / metrics.pair_variance(X) - 1) < 0.1
    assert 0 < found.variance_error_ < 0.04 * found.explained_variance_.sum()


@pytest.mark.parametrize(
    "estimator", [HoroPCA(random_state=0, n_init=1), TangentPCA(), HyperbolicMDS(), PGA(random_state=0, n_init=1)]
)
def test_a_mapped_file_gives_the_result_of_an_array(monkeypatch, tmp_path, estimator):
    small_search(monkeypatch, 300)
    X = clusters(1000, 4).astype(np.float32)
    np.save(tmp_path / "x.npy", X)
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    assert np.array_equal(clone(estimator).fit(mapped).transform(mapped), clone(estimator).fit(X).transform(X))


def test_neither_fit_nor_transform_copies_the_data():
    X = clusters(100_000, 16)
    pca = HoroPCA(random_state=0, n_init=1).fit(X[:200])
    tracemalloc.start()
    for call in (pca.transform, TangentPCA(2).fit):
        peaks = []
        for rows in (X[:50_000], X):  # some chunks each, whose size does not depend on that of the array
            tracemalloc.reset_peak()
            call(rows)
            peaks.append(tracemalloc.get_traced_memory()[1])
        assert peaks[1] - peaks[0] < 0.5 * X[50_000:].nbytes
    tracemalloc.stop()


# ---------------------------------------------------------------- streams


@pytest.mark.parametrize("stream", [True, False])
def test_the_standard_error_of_a_variance_is_that_of_many_samples(stream, monkeypatch):
    X, off = clusters(1000, 3), []
    small_search(monkeypatch, 125)
    for seed in range(10):
        fit = HoroPCA(1, random_state=seed, n_init=1)
        fit = fit.partial_fit(X) if stream else fit.fit(X)
        off.append((fit.explained_variance_[-1] - metrics.pair_variance(fit.transform(X))) / fit.variance_error_)
    assert 0.5 < np.sqrt(np.mean(np.square(off))) < 2


@pytest.mark.parametrize("options", [{}, {"spine": "free", "objective": "distortion"}], ids=str)
def test_batches_in_any_order_give_the_answer_of_fit(monkeypatch, options):
    small_search(monkeypatch, 600)
    X = clusters(1800, 4, ordered=True)
    fit = HoroPCA(random_state=0, n_init=1, **options).fit(X)
    stream = HoroPCA(random_state=0, n_init=1, **options)
    for batch in np.array_split(X, 3):
        stream.partial_fit(batch)
    assert stream.n_samples_seen_ == 1800
    error = 4 * np.hypot(fit.variance_error_, stream.variance_error_)
    if options.get("objective") == "distortion":
        assert abs(stream.score(X) / fit.score(X) - 1) < 0.02
    else:
        assert abs(stream.explained_variance_.sum() - fit.explained_variance_.sum()) < error
        assert metrics.pair_variance(stream.transform(X)) > metrics.pair_variance(fit.transform(X)) - error


def test_a_stream_begins_with_one_point_and_ends_with_fit():
    X = clusters(60, 3)
    pca = HoroPCA(random_state=0, n_init=1).partial_fit(X[:1])
    with pytest.raises(Exception, match="not fitted"):
        pca.transform(X)
    pca.partial_fit(X[1:])
    assert pca.n_samples_seen_ == 60 and pca.transform(X).shape == (60, 2)
    with pytest.raises(ValueError, match="features"):
        pca.partial_fit(X[:, :2])
    assert pca.fit(X[:20]).n_samples_seen_ == 20
    assert pca.partial_fit(X).n_samples_seen_ == 60
    before = pca.score(X)
    assert pca.set_params(objective="distortion").score(X) == before  # the fit was for the variance
    assert -1 < pca.partial_fit(X[:1]).score(X) < 0


def test_invalid_batches_leave_the_stream_unchanged():
    X = clusters(60, 3)
    pca = HoroPCA(random_state=0, n_init=2).partial_fit(X)
    before = pca.transform(X)
    for bad, message in ((2 * X, "inside the unit ball"), (np.full((3, 3), np.nan), "NaN")):
        with pytest.raises(ValueError, match=message):
            pca.partial_fit(bad)
    assert pca.n_samples_seen_ == 60 and np.array_equal(pca.transform(X), before)


def test_results_do_not_depend_on_the_number_of_threads(monkeypatch):
    small_search(monkeypatch, 500)
    monkeypatch.setattr("horopca._input.rows.LARGE_ELEMENTS", 1 << 10)
    monkeypatch.setattr("horopca._input.rows.CHUNK_ELEMENTS", 1 << 12)
    X = clusters(2000, 4)
    fits = [HoroPCA(random_state=0, n_init=1, n_jobs=jobs).fit(X) for jobs in (1, 2, 3)]
    assert all(np.array_equal(fits[0].transform(X), fit.transform(X)) for fit in fits[1:])


# ---------------------------------------------------------------- far from the origin, and far apart


@pytest.mark.parametrize("radius", [8.0, 17.0])
@pytest.mark.parametrize("options", [{}, {"spine": "free"}], ids=str)
def test_large_data_far_from_the_origin_is_fitted_as_well(monkeypatch, radius, options):
    small_search(monkeypatch, 400)
    centred = to_hyperboloid(clusters(1000, 4))
    far = translate(centred, lift(np.sinh(radius) * np.array([0.6, 0.0, 0.8, 0.0])))
    fits = [HoroPCA(model="lorentz", random_state=0, n_init=2, **options).fit(x) for x in (centred, far)]
    assert np.isclose(fits[1].total_variance_, fits[0].total_variance_, rtol=1e-6)
    assert np.isclose(fits[1].explained_variance_.sum(), fits[0].explained_variance_.sum(), rtol=1e-3)
    if "spine" not in options:
        assert all(spine.kappa >= 0 for spine in (fit.spine_ for fit in fits)) and fits[1].ideal_points_ is not None


@pytest.mark.parametrize("radius", [0.0, 10.0, 20.0])
def test_frames_are_exchanged_without_loss(radius):
    rng = np.random.default_rng(0)
    old, new = (Frame(lift(np.sinh(radius) * u / np.linalg.norm(u)), np.linalg.qr(rng.standard_normal((3, 3)))[0])
                for u in (np.array([1.0, 0.0, 0.0]), np.array([1.0, 1e-3 / np.cosh(radius), 0.0])))  # fmt: skip
    L, J = between(old, new), np.diag([-1.0, 1.0, 1.0, 1.0])
    assert np.allclose(L @ J @ L.T, J, atol=1e-13)
    x = cloud(20, 3)
    assert np.allclose(x @ L.T, new.enter(old.leave(x)), rtol=1e-9, atol=1e-9 * np.abs(x).max())


# ---------------------------------------------------------------- streams with changed parameters


@pytest.mark.parametrize("strategy", ["joint", "greedy"])
def test_components_may_change_between_batches(strategy):
    X = clusters(200, 4)
    pca = HoroPCA(2, strategy=strategy, random_state=0, n_init=1).partial_fit(X[:100])
    for K in (3, 1):
        pca.set_params(n_components=K).partial_fit(X[100:])
        assert pca.transform(X).shape == (200, K) and len(pca.explained_variance_) == K


def test_a_stream_keeps_to_its_model():
    pca = HoroPCA(random_state=0, n_init=2).partial_fit(clusters(60, 3))
    with pytest.raises(ValueError, match="model and curvature must be those of the batches before, 'poincare' and -1, but"):
        pca.set_params(model="klein").partial_fit(clusters(60, 3))
    with pytest.raises(ValueError, match=r"'poincare' and -1, but are 'poincare' and -2\."):
        pca.set_params(model="poincare", curvature=np.array([-2.0])).partial_fit(0.5 * clusters(60, 3))


@pytest.mark.parametrize("n_jobs", [0, "all"])
def test_invalid_numbers_of_threads(n_jobs):
    with pytest.raises(ValueError, match="n_jobs must be None"):
        HoroPCA(n_jobs=n_jobs).fit(clusters(20, 3))


@pytest.mark.parametrize("rows", [10, 100])
def test_copies_of_one_point(monkeypatch, rows):
    small_search(monkeypatch, rows)
    fit = HoroPCA(random_state=0, n_init=1).fit(np.full((50, 3), 0.3))
    assert np.array_equal(fit.explained_variance_ratio_, [1, 0])


def test_a_stream_forgets_the_fit_before_it():
    pca = HoroPCA(random_state=0, n_init=2).fit(clusters(60, 4))
    pca.partial_fit(clusters(60, 3)[:1])
    with pytest.raises(NotFittedError):
        pca.transform(clusters(5, 3))
