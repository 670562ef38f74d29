"""The dense reference of the speed comparison computes what the package computes."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from benchmarks import dense

from horopca import HoroPCA
from horopca._optimize.lbfgs import compose, maximise
from horopca._optimize.objectives import as_sample, objective_over
from horopca.datasets import make_hierarchy
from horopca.projections import spine_basis, spine_from_ideal_points
from horopca.projections.spines import ideal_parameters, ideal_spines
from horopca.statistics.pairs import pair_offsets

FORMS = {"plain": dense.ball_distances, "lean": dense.gram_distances}


@pytest.fixture(scope="module")
def X():
    return make_hierarchy(branching=3, depth=3, n_features=6, random_state=0).points  # 40 points


def ideal(seed, K, d=6):
    q = np.random.default_rng(seed).standard_normal((K, d))
    return q / np.linalg.norm(q, axis=1, keepdims=True)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("K", [2, 3, 4])
def test_dense_objective_is_ours(X, K, form):
    x = dense.centred(X)
    objective = objective_over(as_sample(x.numpy()), "variance", pair_offsets(len(X)))
    for seed in range(3):
        q = ideal(seed, K)
        value = (
            objective(spine_basis(spine_from_ideal_points(q))[None])[0][0] * (len(X) - 1) / len(X)
        )  # pairs of a point with itself
        longhand = float(dense.dense_variance(x, torch.from_numpy(q), FORMS[form]))
        # the lean form loses half the digits of a small distance, and its diagonal is not quite zero
        assert longhand == pytest.approx(value, rel=1e-9 if form == "plain" else 1e-7)


def test_dense_gradient_moves_as_ours(X):
    """Along a line of ideal points, autograd's slope is that of our values."""
    x, q, turn = dense.centred(X), torch.from_numpy(ideal(0, 2)), torch.from_numpy(ideal(1, 2))
    objective = objective_over(as_sample(x.numpy()), "variance", pair_offsets(len(X)))

    def ours(step):
        points = dense.unit(q + step * turn).numpy()
        return objective(spine_basis(spine_from_ideal_points(points))[None])[0][0] * (len(X) - 1) / len(X)

    step = torch.zeros((), dtype=torch.float64, requires_grad=True)
    dense.dense_variance(x, dense.unit(q + step * turn)).backward()
    # a central difference with step h is wrong by h^2 and by rounding / h: 1e-8 at most here
    assert float(step.grad) == pytest.approx((ours(1e-5) - ours(-1e-5)) / 2e-5, rel=1e-6)


def test_dense_fit_does_not_pass_ours(X):
    ours = HoroPCA(2, random_state=0).fit(X).explained_variance_.sum()
    best = dense.fit_dense(X, steps=150)
    assert best.variance > 0.95 * ours  # the reference is no straw man
    assert best.variance <= ours * (1 + 1e-9)
    # from where the reference ended, our climb goes up, in the same family
    start = ideal_parameters(spine_basis(spine_from_ideal_points(best.ideal_points))[None])
    objective = objective_over(as_sample(dense.centred(X).numpy()), "variance", pair_offsets(len(X)))
    climbed = maximise(compose(objective, ideal_spines), start, max_iter=200, tol=1e-12)
    assert climbed.values[0] * (len(X) - 1) / len(X) >= best.variance * (1 - 1e-9)


def test_plain_and_lean_take_the_same_path(X):
    plain, lean = (dense.fit_dense(X, steps=50, distances=form) for form in FORMS.values())
    assert lean.variance == pytest.approx(plain.variance, rel=1e-6)
    np.testing.assert_allclose(lean.ideal_points, plain.ideal_points, atol=1e-5)
