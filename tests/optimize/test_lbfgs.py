"""The batched L-BFGS: SciPy's as a reference, every start as if it were alone, and how it ends."""

import numpy as np
import pytest
from scipy.optimize import minimize

from clouds import cloud
from horopca._optimize.lbfgs import Status, compose, maximise
from horopca._optimize.objectives import as_sample, objective_over
from horopca.projections.spines import free_spines, ideal_spines
from horopca.statistics.pairs import pair_offsets


def rosenbrock(x):
    """Minus Rosenbrock's function of points (S, 2), with its gradient: its maximum is 0, at (1, 1)."""
    a, b = x[:, 0], x[:, 1]
    slope = b - a * a
    return -((1 - a) ** 2) - 100 * slope**2, np.stack([2 * (1 - a) + 400 * a * slope, -200 * slope], axis=1)


@pytest.mark.parametrize("family", [free_spines, ideal_spines])
def test_it_ends_where_scipy_does(family):
    """From the same starts, on the objective that it is made for: the same optimum, or a better one."""
    sample, rng = as_sample(cloud(60, 5)), np.random.default_rng(0)
    objective = compose(objective_over(sample, "variance", pair_offsets(60)), family)
    starts = rng.standard_normal((6, 2, 6 if family is free_spines else 5))
    ours = maximise(objective, starts, max_iter=500, tol=1e-12).values

    def flat(theta):
        value, G = objective(theta.reshape(1, *starts.shape[1:]))
        return -value[0], -G.ravel()

    theirs = [-minimize(flat, start.ravel(), jac=True, method="L-BFGS-B").fun for start in starts]
    assert ours.max() >= max(theirs) * (1 - 1e-8)
    assert np.sum(ours >= np.array(theirs) * (1 - 1e-6)) >= 4  # a step may lead either of them to another optimum


def test_every_start_is_climbed_as_if_it_were_alone():
    starts = np.array([[-1.2, 1.0], [1.0, 1.0 + 1e-4], [2.0, -3.0]])
    together = maximise(rosenbrock, starts, max_iter=80, tol=1e-10)
    for k, start in enumerate(starts):
        alone = maximise(rosenbrock, start[None], max_iter=80, tol=1e-10)
        np.testing.assert_allclose(together.points[k], alone.points[0], rtol=1e-9)
        assert together.n_iter[k] == alone.n_iter[0] and together.status[k] is alone.status[0]


def test_how_an_ascent_ended():
    def cliff(x):  # not a number on the left
        return np.where(x[:, 0] > 0, -((x[:, 0] - 1) ** 2), np.nan), np.where(x > 0, -2 * (x - 1), np.nan)

    found = maximise(cliff, np.array([[0.5], [-1.0], [1.0]]), max_iter=50, tol=1e-12)
    assert [s.converged for s in found.status] == [True, False, True]
    assert found.status[1] is Status.NOT_FINITE and found.points[1] == -1
    assert found.points[0, 0] == pytest.approx(1)
    stopped = maximise(rosenbrock, np.array([[-1.2, 1.0]]), max_iter=2, tol=1e-12)
    assert stopped.status[0] is Status.MAX_ITER and stopped.n_iter[0] == 2
    ranked = found.best(2)
    assert list(ranked.values) == sorted(found.values[np.isfinite(found.values)], reverse=True)


def test_the_value_never_falls():
    sample = as_sample(cloud(40, 4))
    objective = objective_over(sample, "distortion", pair_offsets(40))
    starts = np.random.default_rng(1).standard_normal((5, 2, 5))
    values = [objective(maximise(objective, starts, max_iter=n, tol=1e-12).points)[0] for n in (0, 1, 3, 10, 30)]
    assert (np.diff(values, axis=0) >= -1e-12).all()
