"""Spines: the span of what they were made of, whatever that is; ideal points that span them; what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from clouds import cloud, directions, rotation
from horopca._optimize.objectives import as_sample
from horopca.projections import spine_basis, spine_from_basis, spine_from_ideal_points
from horopca.projections.horospherical import project
from horopca.projections.spines import ideal_points, nested_ideal_points, spine_angle
from subspaces import BASES, same_span


@pytest.mark.parametrize("name", [name for name in BASES if name != "everything"])
def test_a_spine_spans_what_it_is_made_of(name):
    A = BASES[name]
    n, kappa, U, stretch = spine = spine_from_basis(A)
    axes = np.concatenate([n[None], U])
    assert n.shape == (4,) and U.shape == (len(A) - 1, 4) and stretch == 1 and -1 <= kappa <= 1
    np.testing.assert_allclose(axes @ axes.T, np.eye(len(A)), atol=1e-12)
    assert same_span(A, spine_basis(spine))
    assert spine_from_basis(spine_basis(spine)).kappa == pytest.approx(kappa, abs=1e-14)


@pytest.mark.parametrize("K", [1, 2, 3, 4])
def test_ideal_points_and_their_spine_lead_to_each_other(K):
    q = directions(K, 4)
    spine = spine_from_ideal_points(3.7 * q)  # directions, of any length
    light = lambda q: np.c_[np.ones(len(q)), q]
    assert same_span(light(q), spine_basis(spine)) and spine.U.shape == (K - 1, 4)
    found = ideal_points(spine)
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1)
    assert same_span(light(found), light(q))
    sides = [np.linalg.norm(a - b) for i, a in enumerate(found) for b in found[:i]]
    assert np.ptp([1.0, 1.0] if K < 2 else sides) < 1e-12  # a regular simplex


def test_ideal_points_that_have_merged_or_are_opposite():
    merged = spine_from_basis(np.array([[1.0, 1, 0, 0], [0, 0, 1, 0]]))
    np.testing.assert_allclose(ideal_points(merged._replace(kappa=0.0)), [[1, 0, 0]] * 2, atol=1e-15)
    assert ideal_points(merged._replace(kappa=-1e-3)) is None
    opposite = spine_from_ideal_points(np.array([[0, 0.6, 0.8], [0, -0.6, -0.8]]))
    assert opposite.kappa == pytest.approx(1) and abs(opposite.n @ [0, 0.6, 0.8]) < 1e-12
    assert np.linalg.norm(opposite.n) == pytest.approx(1)


def test_more_ideal_points_than_there_are_dimensions_are_refused():
    for K in (3, 4):  # a regular triangle: its hull is the plane
        with pytest.raises(
            ValueError, match=f"At most 2 ideal points of H\\^2 have a spine, .* but there are {K}. Leave some out"
        ):
            spine_from_ideal_points(np.stack([(np.cos(a), np.sin(a)) for a in 2 * np.pi * np.arange(K) / K]))


@pytest.mark.parametrize("K", [1, 2, 3, 4])
def test_nested_spines_have_nested_ideal_points(K):
    """Each the ideal point of its spine that lies farthest from the one before."""
    q = directions(K, 5, seed=2)
    bases = [np.random.default_rng(k).standard_normal((k, k)) @ np.c_[np.ones(k), q[:k]] for k in range(1, K + 1)]
    found = nested_ideal_points(bases)
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1)
    for k in range(1, K + 1):
        assert same_span(bases[k - 1], np.c_[np.ones(k), found[:k]])
    for k in range(2, K + 1):
        n, kappa, U, _ = spine_from_basis(bases[k - 1])
        u = np.random.default_rng(k).standard_normal((400, k - 1))
        others = n * (1 - kappa) / (1 + kappa) + 2 * np.sqrt(kappa) / (1 + kappa) * unit(u) @ U
        outside = np.linalg.svd(np.linalg.lstsq(bases[k - 1].T, bases[k - 2].T, rcond=None)[0].T)[2][-1]
        every = np.concatenate([found[k - 1 : k], others])
        far = np.abs(np.linalg.lstsq(bases[k - 1].T, np.c_[np.ones(len(every)), every].T, rcond=None)[0].T @ outside)
        assert far[0] >= far.max() * (1 - 1e-9)


def unit(u):
    return u / np.linalg.norm(u, axis=-1, keepdims=True)


@pytest.mark.parametrize("kappa", [0.5, -0.5])
def test_spines_without_ideal_points_have_none_nested(kappa):
    pole = np.array([[1 + kappa, 1 - kappa, 0, 0]])
    assert nested_ideal_points([pole]) is None  # neither inside, where there is one point, nor beyond
    light = np.array([[1.0, 1, 0, 0]])
    beyond = np.array([[0, 1.0, 0, 0], [0, 0, 1.0, 0]]) + [[0.2, 0, 0, 0], [0, 0, 0, 0]]
    assert nested_ideal_points([light, beyond]) is None


@pytest.mark.parametrize("angle", [0.0, 1e-9, 0.5, np.pi / 2])  # the cosine of the second is 1
def test_angles_of_spines(angle):
    """The largest of two planes that share a line, however they lie and whatever their bases."""
    for seed in range(8):
        turn, mixed = rotation(5, seed=seed), np.random.default_rng(seed).standard_normal((2, 2, 2))
        planes = [np.eye(5)[:2], np.stack([np.eye(5)[0], np.cos(angle) * np.eye(5)[1] + np.sin(angle) * np.eye(5)[2]])]
        A, B = (m @ plane @ turn for m, plane in zip(mixed, planes, strict=True))
        assert spine_angle(A, B) == pytest.approx(angle, rel=1e-6, abs=1e-12)


def test_a_basis_that_came_to_be_dependent_has_a_finite_gradient():
    A = np.array([[1.0, 0.5, 0, 0], [1.0, 0.5, 0, 0]])
    y, _, pullback = project(*as_sample(cloud(10, 3))[:2], A[None])
    assert np.isfinite(pullback(np.ones_like(y))).all()
