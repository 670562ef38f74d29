"""The projection against the paper's algorithms written out longhand, its laws, and the spines that determine it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clouds import cloud, directions, rotation, turned
from horopca._optimize.objectives import as_sample
from horopca.geometry import busemann, distance, geodesic_hull, geodesic_projection, lift, pairwise_distance, to_hyperboloid
from horopca.geometry._arrays import to_numpy
from horopca.geometry._points import Chunk
from horopca.geometry.isometries import translate, translate_ideal
from horopca.projections import horospherical_projection, slide, spine_basis, spine_from_basis, spine_from_ideal_points, unslide
from horopca.projections.horospherical import Slide, project
from horopca.projections.spines import Spine, ideal_points, nested_ideal_points, spine_angle
from subspaces import BASES, same_span

KD = [(1, 1), (1, 3), (2, 2), (2, 4), (3, 5), (5, 5)]


def algorithm_1(x, q, base):
    """The paper's Algorithm 1, step by step, for one point of the hyperboloid."""
    d = len(base) - 1
    J = np.diag([-1.0, *[1.0] * d])
    A = np.column_stack([np.ones(len(q)), q]).T

    def onto_span(v):
        return A @ np.linalg.solve(A.T @ J @ A, A.T @ J @ v)

    z = onto_span(x)
    w = z / np.sqrt(-(z @ J @ z))
    u = (base - w) - onto_span(base - w)
    u = u / np.sqrt(u @ J @ u)
    r = np.arccosh(max(-(x @ J @ w), 1.0))
    return np.cosh(r) * w + np.sinh(r) * u


@pytest.mark.parametrize(("K", "d"), [(2, 2), (2, 4), (3, 5), (4, 5)])
def test_closed_form_is_algorithm_1(K, d):
    x, q, base = cloud(20, d), directions(K, d), cloud(1, d, seed=9)[0]
    found = horospherical_projection(x, q, base)
    longhand = np.array([algorithm_1(p, q, base) for p in x])
    assert np.all(distance(found, lift(longhand[:, 1:])) < 1e-6)  # acosh near 1 leaves the longhand half its digits
    assert np.allclose(found, longhand, rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize(("K", "d"), KD)
def test_keeps_every_busemann_coordinate_and_lands_on_the_hull(K, d):
    """Where the horospheres through the point intersect the hull."""
    x, q, base = cloud(30, d), directions(K, d), cloud(1, d, seed=9)[0]
    y = horospherical_projection(x, q, base)
    for p in q:
        assert np.allclose(busemann(y, p), busemann(x, p), atol=1e-9)
    if K < d:
        frame = geodesic_hull(base, q)
        assert np.all(distance(y, geodesic_projection(y, frame)) < 1e-6)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 4), st.floats(0.1, 8))
def test_lengthens_no_distance_for_any_kind_of_spine(seed, K, radius):
    rng = np.random.default_rng(seed)
    x = cloud(12, 4, radius=radius, seed=seed)
    spine = spine_from_basis(rng.standard_normal((K, 5)) * [rng.uniform(0, 3), 1, 1, 1, 1])
    before, after = pairwise_distance(x), pairwise_distance(to_hyperboloid(slide(x, spine), "halfspace"))
    assert np.all(after <= before * (1 + 1e-9) + 1e-9)


@pytest.mark.parametrize("K", [1, 2, 3])
def test_fixes_its_images_commutes_with_isometries_and_does_not_depend_on_the_base_point(K):
    x, q, m, Q = cloud(20, 5), directions(K, 5), cloud(1, 5, seed=4)[0], rotation(5)
    y = horospherical_projection(x, q)
    assert np.allclose(horospherical_projection(y, q), y, atol=1e-9)
    moved = horospherical_projection(translate(turned(x, Q), m), translate_ideal(q @ Q.T, m), m)
    assert np.allclose(moved, translate(turned(y, Q), m), rtol=1e-8, atol=1e-8)
    based = horospherical_projection(x, q, cloud(1, 5, seed=7)[0])
    assert np.allclose(pairwise_distance(based), pairwise_distance(y), atol=1e-9)


def test_keeps_distances_along_geodesics_to_the_ideal_point():
    """Proposition 3.4: if y lies on the geodesic from x to p, the projection keeps d(x, y)."""
    q = directions(1, 4)
    base = lift(np.zeros(4))
    x = cloud(10, 4)
    ray = horospherical_projection(cloud(30, 4, seed=3), q, x[0])  # points of the geodesic through x[0] and p
    assert np.allclose(pairwise_distance(horospherical_projection(ray, q, base)), pairwise_distance(ray), atol=1e-9)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 4))
def test_keeps_the_minkowski_products_with_every_vector_of_the_spine(seed, K):
    rng = np.random.default_rng(seed)
    x = cloud(10, 4, seed=seed)
    A = rng.standard_normal((K, 5)) * [rng.uniform(0, 3), 1, 1, 1, 1]
    spine = spine_from_basis(A)
    y = unslide(slide(x, spine), spine)
    J = np.diag([-1.0, 1, 1, 1, 1])
    assert np.allclose(y @ J @ A.T, x @ J @ A.T, rtol=1e-7, atol=1e-7)


def test_merging_ideal_points_tend_to_the_merged_spine():
    x = cloud(20, 3)
    n, u = np.array([1.0, 0, 0]), np.array([0, 1.0, 0])
    merged = pairwise_distance(to_hyperboloid(slide(x, Spine(n, 0.0, u[None])), "halfspace"))
    errors = []
    for angle in (1e-2, 1e-3, 1e-4):
        q = np.array([np.cos(angle) * n + np.sin(angle) * u, np.cos(angle) * n - np.sin(angle) * u])
        near = pairwise_distance(to_hyperboloid(slide(x, spine_from_ideal_points(q)), "halfspace"))
        errors.append(np.abs(near - merged).max())
    # kappa, the distance from the limit, is angle^2 / 4
    assert errors[0] / errors[1] == pytest.approx(100, rel=0.05)
    assert errors[1] / errors[2] == pytest.approx(100, rel=0.05)


@pytest.mark.parametrize("angle", [1.0, 1e-3, 1e-6])
def test_ideal_points_a_hair_apart_keep_their_kappa(angle):
    """kappa = tan^2(angle / 2): from |p| it would be worth 1e-16 / angle^2."""
    q = np.array([[np.cos(angle), np.sin(angle), 0], [np.cos(angle), -np.sin(angle), 0]])
    assert spine_from_ideal_points(q).kappa == pytest.approx(np.tan(angle / 2) ** 2, rel=1e-9)


def test_shrunk_to_a_point_the_projection_is_the_orthogonal_one():
    """Near the origin H^d is Euclidean, and a spine keeps the directions U and n."""
    v = np.random.default_rng(0).standard_normal((20, 4))
    spine = spine_from_basis(np.random.default_rng(1).standard_normal((2, 5)))
    axes = np.concatenate([spine.n[None], spine.U])
    flat = np.linalg.norm((v[:, None] - v[None]) @ axes.T, axis=-1)
    errors = []
    for scale in (1e-2, 1e-3):
        images = to_hyperboloid(slide(lift(scale * v), spine), "halfspace")
        errors.append(np.abs(pairwise_distance(images) / scale - flat).max())
    assert errors[1] < errors[0] / 5


@pytest.mark.parametrize("kappa", [0.3, 0.0, -0.6])
def test_every_array_library_slides_alike(xp, kappa):
    spine = Spine(np.array([0, 0, 1.0, 0]), kappa, np.eye(4)[:2])
    x = cloud(10, 4)
    y = slide(xp.asarray(x), spine)
    assert np.allclose(to_numpy(y), slide(x, spine), rtol=1e-13)
    assert np.allclose(to_numpy(unslide(y, spine)), unslide(slide(x, spine), spine), rtol=1e-13)


@pytest.mark.parametrize("off", [0, 1e-6, 1e-4, 1e-2])
def test_products_are_trusted_only_where_they_are_as_good_as_the_careful_way(off):
    """On the spine c^2 - 4 kappa (1 + B) is a difference of equal numbers: half the digits of the image would be lost."""
    spine = spine_from_ideal_points(q := directions(3, 5))
    on = lift((cloud(200, 2, radius=4) @ geodesic_hull(ideal_points=q))[:, 1:])
    x = lift(on[:, 1:] + off * np.random.default_rng(1).standard_normal((200, 5)))
    images, lost = Slide.along(spine).images(Chunk.of(x))
    careful = to_hyperboloid(slide(x, spine), "halfspace")
    assert lost.any() and (off < 1e-3 or not lost.all())
    assert np.all(distance(images, careful)[~lost] < 1e-10)


OPPOSITE = np.array([[1.0, 0, 0], [-1, 0, 0]])


@pytest.mark.parametrize(
    ("q", "message"),
    [
        (directions(2, 3)[[0, 1, 0]], "independent"),
        (np.pad(np.concatenate([np.eye(2), -np.eye(2)]), ((0, 0), (0, 2))), "independent"),  # of a circle
        *((np.array([[1.0, 0, 0], [0, bad, 0]]), "row 1 has norm") for bad in (0.0, np.nan, np.inf)),
        (OPPOSITE, "base must lie outside the geodesic hull"),
    ],
)
def test_refuses_ideal_points(q, message):
    with pytest.raises(ValueError, match=message):
        horospherical_projection(cloud(3, q.shape[1]), q)
    assert horospherical_projection(cloud(3, 3), OPPOSITE, cloud(1, 3, seed=1)[0]).shape == (3, 4)


# ---- spines


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
    q = directions(K, 5, seed=2)
    bases = [np.random.default_rng(k).standard_normal((k, k)) @ np.c_[np.ones(k), q[:k]] for k in range(1, K + 1)]
    found = nested_ideal_points(bases)
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1)
    for k in range(1, K + 1):
        assert same_span(bases[k - 1], np.c_[np.ones(k), found[:k]])


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
