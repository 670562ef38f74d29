"""Laws of the geometry, and the same answers from every array library."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from clouds import cloud, directions
from horopca import geometry as geo
from horopca.geometry import MODELS, from_hyperboloid, lift, to_hyperboloid
from horopca.geometry._arrays import to_numpy
from horopca.geometry.isometries import translate_ideal, translate_ideal_to_origin

points = arrays(float, (2, 3), elements=st.floats(-30, 30)).map(lift)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("d", [1, 2, 7])
def test_models_go_there_and_back(model, d):
    x = cloud(50, d, radius=6)
    X = from_hyperboloid(x, model)
    # the ball forgets digits in proportion to e^{radius}: 1e-16 * e^{2*6} / 4
    assert X.shape == (50, d + MODELS[model].extra_columns) and np.allclose(to_hyperboloid(X, model), x, rtol=1e-10)
    assert np.array_equal(from_hyperboloid(x[3], model), X[3])  # a point alone is one too


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("radius", [1.0, 2.0])
def test_clipped_rows_are_inside_and_the_others_as_they_were(dtype, radius):
    q = directions(40, 5) * radius
    X = np.concatenate([q * 0.5, q, q * 1.001]).astype(dtype)
    clipped = geo.clip(X, 1e-5, radius=radius)
    assert clipped.dtype == dtype and np.array_equal(clipped[:40], X[:40])
    size = np.linalg.norm(clipped.astype(float), axis=1)[40:]
    assert (size < radius).all() and (size > radius * (1 - 8 * max(1e-5, np.finfo(dtype).eps))).all()
    axis, least = radius * np.eye(2, dtype=dtype), 1 - 4 * np.finfo(dtype).eps
    assert np.array_equal(geo.clip(axis, 0.0, radius=radius), least * axis)  # a margin of at least four units


@pytest.mark.parametrize(
    ("model", "factor"),  # the denominator of cosh(d) - 1 = |a - b|^2 / ..
    [
        ("poincare", lambda a, b: (1 - np.sum(a * a, axis=1)) * (1 - np.sum(b * b, axis=1)) / 2),
        ("halfspace", lambda a, b: 2 * a[:, -1] * b[:, -1]),
    ],
)
def test_distances_are_the_papers_formula_and_the_classical_one(model, factor):
    a, b = np.split(from_hyperboloid(cloud(20, 3), model), 2)
    expected = np.arccosh(1 + np.sum((a - b) ** 2, axis=1) / factor(a, b))
    assert np.allclose(geo.distance(to_hyperboloid(a, model), to_hyperboloid(b, model)), expected, rtol=1e-12)


@given(points, points, points)
def test_distance_is_a_metric(x, y, z):
    xy, yz, xz = geo.distance(x, y), geo.distance(y, z), geo.distance(x, z)
    # the squares of a pair are added up in another order: a few units in the last place
    assert np.allclose(geo.pairwise_distance(x, y), geo.distance(x[:, None], y[None]), rtol=2e-15)
    assert np.array_equal(geo.distance(x, x), [0, 0]) and np.array_equal(geo.pairwise_distance(x).diagonal(), [0, 0])
    assert np.allclose(xy, geo.distance(y, x), rtol=1e-14)
    assert np.all(xz <= (xy + yz) * (1 + 1e-12) + 1e-12)


@given(points, arrays(float, 3, elements=st.floats(-20, 20)).map(lift))
def test_translations_and_reflection_are_isometries_that_move_what_they_say(x, m):
    d = geo.distance(x[0], x[1])
    for move in (geo.translate, geo.translate_to_origin, geo.reflect_to_origin):
        y = move(x, m)
        # points near radius 4 moved by as much reach radius 8: ulp * e^8 is 1e-12
        assert abs(geo.distance(y[0], y[1]) - d) <= 1e-10 * (1 + d)
    assert np.allclose(geo.translate_to_origin(m[None], m), geo.origin(3), atol=1e-11)
    assert np.allclose(geo.reflect_to_origin(m[None], m), geo.origin(3), atol=1e-11)
    assert np.allclose(geo.reflect_to_origin(geo.origin(3)[None], m), m)
    assert np.allclose(geo.translate(geo.translate_to_origin(x, m), m), x, rtol=1e-9, atol=1e-9)
    assert np.allclose(geo.reflect_to_origin(geo.reflect_to_origin(x, m), m), x, rtol=1e-9, atol=1e-9)
    for size in (0.0, 1e-310, 1e-152, 1e-100):
        assert np.allclose(geo.translate(x, lift(size * np.array([0.6, 0.0, 0.8]))), x, rtol=1e-14)


@pytest.mark.parametrize("size", [1.0, 1e4, np.sinh(30.0), np.sinh(150.0)])
@pytest.mark.parametrize("ratio", [2.0, 0.5, -1.0, -4.0])
def test_points_on_the_axis_of_a_translation_stay_on_it(size, ratio):
    """On either side: at radius 30 the rounding of a direction alone would carry them off by thousandths."""
    s = size * np.array([0.48, -0.6, 0.64])
    m, x = lift(s), lift(ratio * s)  # of one direction to the last bit, or of the opposite one
    axis = s / np.linalg.norm(s)
    for move, side in ((geo.translate_to_origin, -1), (geo.translate, 1)):
        moved = move(x, m)
        along = moved[1:] @ axis
        assert np.linalg.norm(moved[1:] - along * axis) <= 1e-14 * np.linalg.norm(moved[1:]) + 1e-15
        expected = np.sign(ratio) * geo.radius(x) + side * geo.radius(m)
        assert np.arcsinh(along) == pytest.approx(expected, rel=1e-12, abs=1e-13)


@given(points, points)
def test_exp_undoes_log_and_geodesics_have_constant_speed(x, y):
    d = geo.distance(x, y)
    v = geo.log(x, y)
    assert np.allclose(np.sqrt(np.maximum(geo.inner(v, v), 0)), d, rtol=1e-6, atol=1e-6)
    assert np.all(geo.distance(geo.exp(x, v), y) < 1e-5)
    middle = geo.geodesic(x, y, 0.25)
    assert np.allclose(geo.distance(x, middle), d / 4, atol=1e-7)
    assert np.allclose(geo.distance(middle, y), 3 * d / 4, atol=1e-7)


@pytest.mark.parametrize("apart", [1e-6, 9e-5, 1.1e-4, 1e-2])
@pytest.mark.parametrize("part", [0.3, -1.0, [[0.3], [0.8]]])
def test_geodesics_between_points_close_by_have_constant_speed(apart, part):
    """On a ray, where a point that is off by 1e-9 of its radius is so along the geodesic."""
    x, y = (lift(np.sinh(r) * directions(3, 4)) for r in (1.0, 1.0 + apart))
    middle = geo.geodesic(x, y, np.asarray(part))
    assert np.allclose(geo.distance(x, middle), np.abs(part) * np.full(3, apart), rtol=1e-7, atol=1e-14)
    assert np.allclose(geo.distance(middle, y), (1 - np.asarray(part)) * np.full(3, apart), rtol=1e-7, atol=1e-14)


def test_transport_keeps_products_and_carries_the_geodesic_along_itself():
    x, y = cloud(10, 4), cloud(10, 4, seed=1)
    v, w = (geo.log(x, cloud(10, 4, seed=s)) for s in (2, 3))
    moved, other = geo.transport(x, y, v), geo.transport(x, y, w)
    assert np.allclose(geo.inner(moved, other), geo.inner(v, w))
    assert np.allclose(geo.inner(moved, y), 0, atol=1e-9)
    assert np.allclose(geo.transport(x, y, geo.log(x, y)), -geo.log(y, x))


def test_busemann_functions_are_limits_of_distances_and_move_with_the_points():
    x, q, m = cloud(10, 3), directions(1, 3)[0], cloud(1, 3, seed=5)[0]
    # the next term of the limit is of size e^{-2 (15 - 3)}
    assert np.allclose(geo.busemann(x, q), geo.distance(x, lift(q * np.sinh(15.0))) - 15, atol=1e-8)
    assert geo.busemann(geo.origin(3), q) == 0
    assert np.ptp(geo.busemann(geo.translate(x, m), translate_ideal(q, m)) - geo.busemann(x, q)) < 1e-12
    assert np.allclose(translate_ideal_to_origin(translate_ideal(q, m), m), q)


def test_a_horosphere_touches_the_boundary_and_holds_its_level():
    x, q = cloud(5, 3), directions(1, 3)[0]
    centre, size = geo.horosphere(q, x)
    for point in (from_hyperboloid(x), q):
        assert np.allclose(np.linalg.norm(point - centre, axis=1), size)
    on_it = to_hyperboloid(centre[0] + size[0] * directions(20, 3, seed=3))
    assert np.allclose(geo.busemann(on_it, q), geo.busemann(x[0], q), atol=1e-9)


def test_a_ray_leads_to_its_endpoint():
    """One unit of the way lowers the Busemann function by one."""
    x = cloud(5, 3)
    v = geo.log(x, cloud(5, 3, seed=1))
    q, ahead = geo.ideal_endpoint(x, v), geo.exp(x, 5 * v / np.sqrt(geo.inner(v, v))[:, None])
    assert np.allclose(np.linalg.norm(q, axis=1), 1)
    assert np.allclose(geo.busemann(ahead, q) - geo.busemann(x, q), -5, atol=1e-8)


@pytest.mark.parametrize("radius", [5.0, 10.0, 14.0, 18.0])
def test_an_endpoint_is_as_accurate_as_the_tangent_vector(radius):
    """The direction of a tangent vector is known to 1e-16 e^radius; e^radius is also the factor from q to its angle at x."""
    x, w = lift(np.sinh(radius) * directions(20, 3)), directions(20, 3, seed=1)
    v = np.array([geo.transport(geo.origin(3), a, np.concatenate([[0.0], b])) for a, b in zip(x, w, strict=True)])
    # ten times the rounding unit: a few roundings of the entries of v, in each of four coordinates
    assert np.allclose(translate_ideal_to_origin(geo.ideal_endpoint(x, v), x), w, atol=2e-15 * np.exp(radius))


# ---- array libraries


def _everything(xp, x, y, q):
    """One value of every function of points, in the namespace's arrays."""
    m = y[0, :]
    return [
        geo.distance(x, y),
        geo.pairwise_distance(x, y),
        geo.radius(x),
        geo.exp(x, geo.log(x, y)),
        geo.transport(x, y, geo.log(x, y)),
        geo.geodesic(x, y, 0.3),
        geo.translate(x, m),
        geo.translate_to_origin(x, m),
        geo.reflect_to_origin(x, m),
        translate_ideal(q, m),
        geo.busemann(x, q[0, :]),
        geo.horosphere(q[0, :], x)[0],
        geo.ideal_endpoint(x, geo.log(x, y)),
        geo.geodesic_projection(x, geo.geodesic_hull(cloud(2, 3))),
        *(from_hyperboloid(to_hyperboloid(from_hyperboloid(x, m), m), m) for m in MODELS),
    ]


def test_every_array_library_gives_the_same_answers(xp):
    x, y, q = cloud(10, 3), cloud(10, 3, seed=1), directions(2, 3)
    expected = _everything(np, x, y, q)
    found = _everything(xp, *(xp.asarray(a) for a in (x, y, q)))
    for a, b in zip(found, expected, strict=True):
        assert isinstance(a, type(xp.asarray(x)))
        assert np.allclose(to_numpy(a), b, rtol=1e-13, atol=1e-13)
