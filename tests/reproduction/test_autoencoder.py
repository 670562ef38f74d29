"""The autoencoder baseline: its layers, what it learns, and when it stops."""

import numpy as np
import pytest

from clouds import cloud
from hierarchies import TREE
from horopca import EuclideanPCA, geometry, metrics
from horopca.geometry import from_hyperboloid

pytest.importorskip("torch")
import torch
from reproduction.autoencoder import HyperbolicAutoencoder, run

X = TREE.points


def test_a_layer_is_a_matrix_in_the_tangent_space_and_a_translation():
    x, rng = cloud(20, 4, seed=1), np.random.default_rng(0)
    W, b = rng.standard_normal((3, 4)), rng.standard_normal(3)
    linear = geometry.to_hyperboloid(from_hyperboloid(x, "tangent") @ W.T, "tangent")
    expected = geometry.translate(linear, geometry.lift(b))
    assert np.allclose(run(torch.tensor(x[:, 1:]), [torch.tensor(W), torch.tensor(b)]).numpy(), expected[:, 1:])


def test_training_beats_euclidean_pca_and_the_isometry_term_trades_reconstruction_for_distances():
    plain, bound = (HyperbolicAutoencoder(isometry=weight, max_iter=150).fit(X) for weight in (0, 10))
    assert plain.loss_curve_[-1] < 0.6 * plain.loss_curve_[0] and plain.n_iter_ == 150 and not plain.converged_
    errors = [metrics.unexplained_variance(X, net.inverse_transform(net.transform(X))) for net in (plain, bound)]
    assert errors[0] < errors[1]
    images = (bound.transform(X), plain.transform(X), EuclideanPCA().fit_transform(X))
    best, *others = (metrics.average_distortion(X, Y) for Y in images)
    assert best < min(others)


def test_a_point_at_the_mean_has_finite_gradients():
    X = np.concatenate([Z := from_hyperboloid(cloud(12, 3, seed=15)), -Z, np.zeros((1, 3))])
    net = HyperbolicAutoencoder(max_iter=12, hidden=(4, 3)).fit(X)
    assert np.all(np.isfinite(net.transform(X))) and np.all(np.isfinite(net.loss_curve_))
