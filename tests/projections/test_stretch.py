"""The stretch: what it may lengthen, its way there and back, and what it pays."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clouds import cloud
from horopca import HoroPCA
from horopca.datasets import make_hierarchy
from horopca.geometry import pairwise_distance, to_hyperboloid
from horopca.geometry._points import Chunk
from horopca.io import load_fitted, save_fitted
from horopca.metrics import average_distortion
from horopca.projections import slide, spine_from_basis, unslide
from horopca.projections.horospherical import Slide

PLAIN = {"spine": "free", "objective": "distortion", "n_init": 2, "random_state": 0}
STRETCHED = {"stretch": True, "n_init": 2, "random_state": 0}
X = make_hierarchy(3, 3, random_state=0).points  # 40 points in ten dimensions


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 5), st.floats(1.0, 20.0), st.floats(0.1, 15.0))
def test_nothing_grows_by_more_than_the_stretch(seed, K, sigma, radius):
    """1 <= sinh(d'/2) / sinh(d/2) <= sigma for every pair, d the distance in the projection without a stretch."""
    x = cloud(12, 6, radius=radius, seed=seed)
    spine = spine_from_basis(np.random.default_rng(seed).standard_normal((K, 7)) * np.where(np.arange(7) == 0, 0.3, 1.0))
    if spine.kappa > -1e-3:
        return  # not space-like
    plain, stretched = (to_hyperboloid(slide(x, spine._replace(stretch=s)), "halfspace") for s in (1.0, sigma))
    pairs = np.triu_indices(12, 1)
    d, longer = pairwise_distance(plain)[pairs], pairwise_distance(stretched)[pairs]
    apart = d > 1e-4  # of closer ones the ratio is rounding
    ratio = np.sinh(longer[apart] / 2) / np.sinh(d[apart] / 2)
    assert (ratio >= 1 - 1e-6).all() and (ratio <= sigma * (1 + 1e-6)).all()
    assert (longer - d <= 2 * np.log(sigma) + 1e-6).all()


@pytest.mark.parametrize("K", [1, 2, 3])
def test_the_way_back_is_one(K):
    x = cloud(40, 5, radius=4.0, seed=3)
    spine = spine_from_basis(np.eye(K, 6, k=1) + 0.05, 2.5)
    y = slide(x, spine)
    assert np.allclose(slide(unslide(y, spine), spine), y, rtol=1e-9)
    images, lost = Slide.along(spine).images(Chunk.of(x))
    assert np.allclose(images[~lost], to_hyperboloid(y, "halfspace")[~lost], rtol=1e-8)


def test_a_fit_pays_back_and_says_how_much(tmp_path):
    plain, stretched = HoroPCA(**PLAIN).fit(X), HoroPCA(**STRETCHED).fit(X)
    assert plain.stretch_ == 1 and plain.stretch_bound_ == 0
    assert stretched.stretch_ > 1 and np.isclose(stretched.stretch_bound_, 2 * np.log(stretched.stretch_))
    assert average_distortion(X, stretched.transform(X)) < 0.7 * average_distortion(X, plain.transform(X))
    Y = stretched.transform(X)
    assert np.allclose(stretched.transform(stretched.inverse_transform(Y)), Y, atol=1e-8)
    assert stretched.spine_.kappa < 0
    again = load_fitted(save_fitted(stretched, tmp_path / "fit.npz"))
    assert np.array_equal(again.transform(X), Y) and again.stretch_ == stretched.stretch_
    half = HoroPCA(**STRETCHED, curvature=-4.0).fit(X / 2)
    assert np.isclose(half.stretch_bound_, stretched.stretch_bound_ / 2, rtol=0.2)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # of four points, one at a radius of 33
@pytest.mark.parametrize("K", [1, 2])
@pytest.mark.parametrize(
    "points",
    [np.zeros((6, 3)), np.outer(np.linspace(-0.9, 0.9, 9), [1.0, 0, 0]), np.vstack([0.1 * np.eye(3), [[0, 0, 1 - 1e-14]]])],
    ids=["coincident", "on a geodesic", "one at the rim"],
)
def test_strange_data_has_an_answer(points, K):
    pca = HoroPCA(K, **STRETCHED).fit(points)
    assert np.isfinite(pca.transform(points)).all() and pca.stretch_ >= 1
