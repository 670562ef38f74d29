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
