"""Large arrays: fits of a sample, memory, streams."""

import tracemalloc

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from clouds import clusters
from horopca import HoroPCA, HyperbolicMDS, TangentPCA, metrics
from horopca.geometry import lift, to_hyperboloid, translate

N = 70_000  # more rows than are searched


@pytest.fixture(scope="module")
def X():
    return clusters(N, 4, ordered=True)


@pytest.mark.parametrize("options", [{}, {"spine": "free", "objective": "distortion"}], ids=str)
def test_a_sample_finds_nearly_what_a_search_of_all_rows_finds(X, options):
    some = X[::35]
    best = HoroPCA(random_state=0, n_init=2, **options).fit(some)
    found = HoroPCA(random_state=0, n_init=2, **options).fit(X)
    assert found.score(some) > best.score(some) - 1e-2 * abs(best.score(some))
    variance = metrics.pair_variance(found.transform(X), n_pairs=10 * N, random_state=0)
    assert abs(found.explained_variance_.sum() - variance) < 5 * found.variance_error_
    assert abs(found.total_variance_ / metrics.pair_variance(some) - 1) < 0.1
    assert 0 < found.variance_error_ < 0.04 * found.explained_variance_.sum()


@pytest.mark.parametrize("estimator", [HoroPCA(random_state=0, n_init=1), HyperbolicMDS()])
def test_a_mapped_file_gives_the_result_of_an_array(X, tmp_path, estimator):
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


@pytest.mark.parametrize("options", [{}, {"spine": "free"}], ids=str)
def test_large_data_far_from_the_origin_is_fitted_as_well(X, options, radius=17.0):
    centred = to_hyperboloid(X)
    far = translate(centred, lift(np.sinh(radius) * np.array([0.6, 0.0, 0.8, 0.0])))
    fits = [HoroPCA(model="lorentz", random_state=0, n_init=2, **options).fit(x) for x in (centred, far)]
    assert np.isclose(fits[1].total_variance_, fits[0].total_variance_, rtol=1e-6)
    assert np.isclose(fits[1].explained_variance_.sum(), fits[0].explained_variance_.sum(), rtol=1e-3)
    assert options or all(fit.spine_.kappa >= 0 and fit.ideal_points_ is not None for fit in fits)


def test_batches_in_any_order_give_the_answer_of_fit(X):
    """And the standard errors of their variances are those of a random sample."""
    fit, stream = HoroPCA(random_state=0, n_init=1).fit(X), HoroPCA(random_state=0, n_init=1)
    for batch in np.array_split(X, 3):
        stream.partial_fit(batch)
    assert stream.n_samples_seen_ == N and stream.score(X[::35]) > fit.score(X[::35]) * 0.98
    assert stream.total_variance_ == pytest.approx(metrics.pair_variance(X, n_pairs=10 * N, random_state=0), rel=0.05)
    images = metrics.pair_variance(stream.transform(X), n_pairs=10 * N, random_state=0)
    assert 0 < stream.variance_error_ and abs(stream.explained_variance_.sum() - images) < 5 * stream.variance_error_


def test_a_stream_begins_with_one_point_and_ends_with_fit():
    X = clusters(60, 3)
    pca = HoroPCA(random_state=0, n_init=1).partial_fit(X[:1])
    with pytest.raises(NotFittedError):
        pca.transform(X)
    pca.partial_fit(X[1:])
    assert pca.n_samples_seen_ == 60 and pca.transform(X).shape == (60, 2)
    before = pca.transform(X)
    for bad, message in ((X[:, :2], "features"), (2 * X, "inside the unit ball"), (np.full((3, 3), np.nan), "NaN")):
        with pytest.raises(ValueError, match=message):
            pca.partial_fit(bad)  # and the stream is as it was
    assert pca.n_samples_seen_ == 60 and np.array_equal(pca.transform(X), before)
    for K in (3, 1):
        assert pca.set_params(n_components=K).partial_fit(X).transform(X).shape == (60, K)
    assert pca.set_params(n_components=2).fit(X[:20]).n_samples_seen_ == 20
    assert pca.partial_fit(X).n_samples_seen_ == 60
    score = pca.score(X)
    assert pca.set_params(objective="distortion").score(X) == score  # the fit was for the variance
    assert -1 < pca.partial_fit(X[:1]).score(X) < 0
    with pytest.raises(NotFittedError):  # a fit of other points is forgotten
        HoroPCA(random_state=0, n_init=1).fit(clusters(60, 4)).partial_fit(X[:1]).transform(X)
    for other in ({"model": "klein"}, {"model": "poincare", "curvature": np.array([-2.0])}):
        with pytest.raises(ValueError, match="must be those of the previous batches, 'poincare' and -1, but"):
            pca.set_params(**other).partial_fit(0.5 * X)
