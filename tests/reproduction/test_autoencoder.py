"""The autoencoder baseline: its layers, what it learns, and when it stops."""

import numpy as np
import pytest

from clouds import cloud
from horopca import EuclideanPCA, geometry, metrics
from horopca.datasets import make_hierarchy
from horopca.geometry import from_hyperboloid

pytest.importorskip("torch")
import torch
from reproduction.autoencoder import HyperbolicAutoencoder, run


@pytest.fixture(scope="module")
def X():
    return make_hierarchy(branching=3, depth=3, n_features=5, random_state=0).points


def test_a_layer_is_a_matrix_in_the_tangent_space_and_a_translation():
    x, rng = cloud(20, 4, seed=1), np.random.default_rng(0)
    W, b = rng.standard_normal((3, 4)), rng.standard_normal(3)
    linear = geometry.to_hyperboloid(from_hyperboloid(x, "tangent") @ W.T, "tangent")
    expected = geometry.translate(linear, geometry.lift(b))
    assert np.allclose(run(torch.tensor(x[:, 1:]), [torch.tensor(W), torch.tensor(b)]).numpy(), expected[:, 1:])


def test_training_lowers_the_loss_and_beats_euclidean_pca(X):
    short, long = (HyperbolicAutoencoder(max_iter=m).fit(X) for m in (1, 150))
    assert long.loss_curve_[-1] < 0.6 * short.loss_curve_[0]
    assert metrics.average_distortion(X, long.transform(X)) < metrics.average_distortion(X, EuclideanPCA().fit_transform(X))
    assert long.n_iter_ == 150 and not long.converged_


def test_the_isometry_term_trades_reconstruction_for_distances(X):
    plain, bound = (HyperbolicAutoencoder(isometry=w, max_iter=80).fit(X) for w in (0, 10))
    errors = [metrics.unexplained_variance(X, net.inverse_transform(net.transform(X))) for net in (plain, bound)]
    assert errors[0] < errors[1]
    assert metrics.average_distortion(X, bound.transform(X)) < metrics.average_distortion(X, plain.transform(X))


def test_a_point_at_the_mean_has_finite_gradients():
    X = np.concatenate([Z := from_hyperboloid(cloud(12, 3, seed=15)), -Z, np.zeros((1, 3))])
    net = HyperbolicAutoencoder(max_iter=12, hidden=(4, 3)).fit(X)
    assert np.all(np.isfinite(net.transform(X))) and np.all(np.isfinite(net.loss_curve_))
