"""The hyperbolic autoencoder: what it learns, how it ends, what it does without torch."""

from __future__ import annotations

import pickle
import sys

import numpy as np
import pytest
import torch
from sklearn.exceptions import ConvergenceWarning

from clouds import cloud
from horopca import EuclideanPCA, HyperbolicAutoencoder, geometry, metrics
from horopca.datasets import make_hierarchy
from horopca.estimators import network
from horopca.geometry import from_hyperboloid

pytestmark = pytest.mark.filterwarnings("ignore:HyperbolicAutoencoder ran all")  # a few steps are enough here


@pytest.fixture(scope="module")
def X():
    return make_hierarchy(branching=3, depth=3, n_features=5, random_state=0).points


def test_layers_are_those_of_hyperbolic_networks():
    x, rng = cloud(20, 4, seed=1), np.random.default_rng(0)
    W, b = rng.standard_normal((3, 4)), rng.standard_normal(3)
    linear = geometry.to_hyperboloid(from_hyperboloid(x, "tangent") @ W.T, "tangent")  # a matrix between tangent spaces
    expected = geometry.translate(linear, geometry.lift(b))  # a bias is a translation
    assert np.allclose(network.run(x[:, 1:], [network.Layer(W, b)], "elu"), expected[:, 1:])
    layers = [network.Layer(torch.tensor(W), torch.tensor(b))]
    assert np.allclose(network.run(torch.tensor(x[:, 1:]), layers, "elu").numpy(), expected[:, 1:])


def test_autoencoder_learns(X):
    short, long = (HyperbolicAutoencoder(max_iter=m, random_state=0).fit(X) for m in (1, 150))
    assert long.loss_curve_[-1] < 0.6 * short.loss_curve_[0]
    back = long.inverse_transform(long.transform(X))
    assert long.reconstruction_error_ == pytest.approx(metrics.unexplained_variance(X, back))
    assert long.score(X) == pytest.approx(-long.reconstruction_error_)
    assert metrics.average_distortion(X, long.transform(X)) < metrics.average_distortion(X, EuclideanPCA().fit_transform(X))
    assert long.n_iter_ == 150 and long.status_ == "ran all 150 steps"


def test_autoencoder_that_has_used_all_its_steps_says_that_it_did_not_converge(X):
    net = HyperbolicAutoencoder(max_iter=12, hidden=(), random_state=0)
    with pytest.warns(ConvergenceWarning, match=r"ran all 12 steps without converging. Raise max_iter \(now 12\)."):
        net.fit(X)
    assert not net.converged_


def test_autoencoder_without_isometry_reconstructs_better(X):
    plain, bound = (HyperbolicAutoencoder(isometry=w, max_iter=80, random_state=0).fit(X) for w in (0, 10))
    assert plain.reconstruction_error_ < bound.reconstruction_error_
    assert metrics.average_distortion(X, bound.transform(X)) < metrics.average_distortion(X, plain.transform(X))


def test_autoencoder_stops_early():
    X = from_hyperboloid(cloud(300, 3, seed=14))
    net = HyperbolicAutoencoder(patience=10, max_iter=400, learning_rate=0.3, hidden=(), random_state=0).fit(X)
    assert net.converged_ and net.n_iter_ < 400 and net.status_ == f"stopped early, after {net.n_iter_} steps"
    assert len(net.loss_curve_) == net.n_iter_ // 10


def test_autoencoder_keeps_the_best_weights(X, monkeypatch):
    monkeypatch.setattr(network, "CHECK_EVERY", 1)
    # large steps: the loss goes up and down; of reconstruction alone, it is the error over the variance
    net = HyperbolicAutoencoder(isometry=0, learning_rate=1.0, patience=2, hidden=(), random_state=0).fit(X)
    assert net.loss_curve_[-1] > min(net.loss_curve_)
    assert net.reconstruction_error_ / metrics.frechet_variance(X) == pytest.approx(min(net.loss_curve_), rel=1e-9)


def test_autoencoder_says_when_it_diverges(X):
    with pytest.warns(ConvergenceWarning, match="diverged .* Lower learning_rate"):
        HyperbolicAutoencoder(learning_rate=1e6, max_iter=30, random_state=0).fit(X)


def test_autoencoder_needs_torch_for_the_fit_alone(X, monkeypatch):
    net = HyperbolicAutoencoder(max_iter=10, random_state=0).fit(X)
    Y = net.transform(X)
    monkeypatch.setitem(sys.modules, "torch", None)
    assert np.array_equal(pickle.loads(pickle.dumps(net)).transform(X), Y)
    assert net.inverse_transform(Y).shape == X.shape
    with pytest.raises(ImportError, match=r"pip install torch"):
        HyperbolicAutoencoder(max_iter=10, random_state=0).fit(X)


@pytest.mark.parametrize("activation", ["elu", "tanh", "relu", "identity"])
def test_autoencoder_with_every_activation_and_a_point_at_the_mean(activation):
    X = np.concatenate([Z := from_hyperboloid(cloud(12, 3, seed=15)), -Z, np.zeros((1, 3))])  # the mean is a data point
    net = HyperbolicAutoencoder(activation=activation, max_iter=12, hidden=(4, 3), random_state=0).fit(X)
    assert np.all(np.isfinite(net.transform(X))) and np.all(np.isfinite(net.loss_curve_))
