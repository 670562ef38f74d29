"""Against mpmath: errors stay within a small multiple of what one unit in the last place of the input would cause."""

import mpmath as mp
import numpy as np
import pytest

from clouds import directions
from horopca.geometry import MODELS, busemann, distance, exp, from_hyperboloid, lift, log, to_hyperboloid, translate, transport
from horopca.geometry import radius as radius_of
from horopca.geometry._arrays import unit
from horopca.projections import horospherical_projection, slide, spine_from_ideal_points

mp.mp.dps = 320  # 60 digits, and the 260 that t^2 - |s|^2 loses at radius 300


def exact(values):
    return [mp.mpf(float(v)) for v in values]


def ball_point(z):
    """Space part on the hyperboloid of a ball point, exactly."""
    z = exact(z)
    delta = 1 - sum(c * c for c in z)
    return [2 * c / delta for c in z]


def time_of(s):
    return mp.sqrt(1 + mp.fdot(s, s))


def exact_distance(s, r):
    return mp.acosh(time_of(s) * time_of(r) - mp.fdot(s, r))


def exact_busemann(s, q):
    size = mp.sqrt(mp.fdot(q, q))
    return mp.log(time_of(s) - mp.fdot(s, [c / size for c in q]))


def exact_projection(s, q):
    """Busemann-keeping image of s on the hull of the origin and two ideal points, via the paper's algorithm."""
    q = [[c / mp.sqrt(mp.fdot(p, p)) for c in p] for p in q]
    pole = [(a + b) / 2 for a, b in zip(*q, strict=True)]
    arm = [(a - b) / 2 for a, b in zip(*q, strict=True)]
    u = [c / mp.sqrt(mp.fdot(arm, arm)) for c in arm]
    n = [c / mp.sqrt(mp.fdot(pole, pole)) for c in pole]
    size = mp.sqrt(mp.fdot(pole, pole))
    t, b = time_of(s), mp.fdot(s, u)
    c = t - size * mp.fdot(s, n)  # kept, with b
    # t' - size * a' = c and t'^2 = 1 + b^2 + a'^2: the root on the side of the origin
    A, B, C = size**2 - 1, 2 * c * size, c**2 - 1 - b**2
    a = (-B + mp.sqrt(max(B * B - 4 * A * C, 0))) / (2 * A)
    return [b * x + a * y for x, y in zip(u, n, strict=True)]


def ulp_effect(function, z, rng):
    """The largest change of an exact function when each coordinate moves by one unit in the last place."""
    base, step = function(z), lambda a: np.nextafter(a, a + rng.choice([-1.0, 1.0], size=np.shape(a)))
    return float(max(abs(function([step(a) for a in z]) - base) for _ in range(6)))


def pairs_at(radius, rng, d=3):
    """Pairs of ball points at a radius: far apart, a small angle apart, on one ray."""
    u = rng.standard_normal((3, d))
    u /= np.linalg.norm(u, axis=1, keepdims=True)
    size = np.tanh(radius / 2)
    near = u[0] + 1e-3 * u[1]
    near /= np.linalg.norm(near)
    return [(size * u[0], size * u[1]), (size * u[0], size * near), (size * u[0], np.tanh(radius / 3) * u[0])]


@pytest.mark.parametrize("radius", [1e-8, 1e-3, 1.0, 5.0, 12.0, 15.0, 25.0, 33.0, 100.0, 300.0])
def test_errors_of_distances_are_those_of_rounded_input(radius):
    """Of space parts at any radius, and of points of the ball: to ten digits up to radius 12."""
    rng = np.random.default_rng(0)
    u = directions(2, 3)
    far = [(np.sinh(radius) * u[0], np.sinh(radius) * u[1]), (np.sinh(radius) * u[0], 0.5 * np.sinh(radius) * u[0])]
    cases = [(exact, lift, pair) for pair in far]
    if radius < 36:  # farther out the ball has no points in float64
        cases += [(ball_point, to_hyperboloid, pair) for pair in pairs_at(radius, rng)]
    for exactly, point, (x, y) in cases:
        f = lambda p, exactly=exactly: exact_distance(exactly(p[0]), exactly(p[1]))
        truth = f((x, y))
        error = abs(distance(point(x), point(y)) - truth)
        assert error <= 20 * ulp_effect(f, (x, y), rng) + 1e-14 * max(truth, 1)
        assert error <= 1e-10 * truth or radius > 12


@pytest.mark.parametrize("radius", [1.0, 8.0, 12.0, 18.0])
def test_exp_undoes_log_to_seven_digits_or_raises(radius):
    """A tangent vector at radius r is known to 1e-16 e^r; at distance d from x that is a displacement of e^d times as much."""
    x, far = lift(np.sinh(radius) * np.array([0.48, -0.6, 0.64])), lift(np.sinh(50.0) * np.array([0.6, 0.8, 0.0]))
    for step in ([0.5, 0.1, -0.2], [2.0, -1.0, 1.5]):
        y = translate(to_hyperboloid(np.array(step), "tangent"), x)
        found = exp(x, log(x, y))
        assert exact_distance(exact(found[1:]), exact(y[1:])) <= 1e-14 * np.exp(radius + distance(x, y))
    for call in (lambda: exp(far, far), lambda: log(far, x), lambda: transport(x, far, x)):
        with pytest.raises(ValueError, match=r"within radius 19.1 of the origin, but one is at radius 50"):
            call()
    y = lift(np.sinh(radius) * np.array([0.64, 0.6, -0.48]))  # across the origin
    if radius < 10:
        assert np.allclose(exp(x, log(x, y)), y, atol=1e-7 * y[0])
        return
    outward = log(x, translate(lift(np.sinh(1.0) * unit(x[1:])), x))
    for call in (lambda: log(x, y), lambda: exp(x, -2 * radius * outward)):
        with pytest.raises(ValueError, match=rf"at radius {radius:g} determines this point at distance .* seven digits"):
            call()


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("radius", [5.0, 17.0, 35.0, 50.0, 300.0])
def test_model_round_trips_keep_the_radius_or_raise(model, radius):
    """A ball knows 1 - |z| to 1e-16: e^radius times that is the error in the Poincaré ball, and e^(2 radius) in Klein's."""
    x = lift(np.sinh(radius) * np.array([[0.6, 0.8], [1.0, 0.0], [0.0, -1.0], [0.0, 1.0]]))
    if radius > MODELS[model].farthest:
        with pytest.raises(ValueError, match=rf"within radius {MODELS[model].farthest:g} of the origin for model='{model}'"):
            from_hyperboloid(x, model)
        return
    found = to_hyperboloid(from_hyperboloid(x, model), model)
    error = {"poincare": 1e-15 * np.exp(radius), "klein": 1e-15 * np.exp(2 * radius)}.get(model, 0.0)
    assert np.allclose(radius_of(found), radius, rtol=1e-13, atol=error)
    assert np.allclose(unit(found[:, 1:]), unit(x[:, 1:]), atol=1e-14)


@pytest.mark.parametrize("radius", [1e-6, 1.0, 12.0, 30.0, 300.0])
@pytest.mark.parametrize("angle", [0.0, 1e-9, 1e-4, 1.0, 3.0])
def test_busemann_values(radius, angle):
    q, ray = np.array([1.0, 0.0, 0.0]), np.array([0.6, 0.8])
    assert busemann(lift(np.sinh(radius) * np.stack([ray, -ray])), ray) == pytest.approx([-radius, radius], rel=1e-14)
    if radius > 36:  # farther out the ball has no points in float64
        return
    z = np.tanh(radius / 2) * np.array([np.cos(angle), np.sin(angle), 0.0])
    f = lambda p: exact_busemann(ball_point(p[0]), exact(q))
    error = abs(busemann(to_hyperboloid(z), q) - f((z,)))
    assert error <= 20 * ulp_effect(f, (z,), np.random.default_rng(3)) + 1e-15
    assert error <= 1e-10 * abs(f((z,))) or radius > 12 or abs(f((z,))) <= 0.1


@pytest.mark.parametrize("radius", [1e-3, 1.0, 12.0])
@pytest.mark.parametrize("apart", [1.0, 1e-2, 1e-5])
def test_projections_on_two_ideal_points(radius, apart):
    """Ideal points far and a hair apart; points far off, on the spine and close to it."""
    rng = np.random.default_rng(4)
    q = np.array([[np.cos(apart), np.sin(apart), 0], [np.cos(apart), -np.sin(apart), 0]])
    for direction in ([0.3, 0.2, 0.9], [1.0, 0, 1e-7], [-1.0, 0.1, 0.0]):
        z = np.tanh(radius / 2) * np.array(direction) / np.linalg.norm(direction)
        truth = exact_projection(ball_point(z), [exact(p) for p in q])
        found = horospherical_projection(to_hyperboloid(z)[None], q)[0]
        gap = exact_distance(exact(found[1:]), truth)
        moved = max(
            exact_distance(exact_projection(ball_point(np.nextafter(z, z + s)), [exact(p) for p in q]), truth)
            for s in rng.choice([-1.0, 1.0], size=(4, 3))
        )
        assert gap <= 100 * moved + 1e-13
        assert gap <= 1e-10 * max(radius, 1.0) or apart < 1e-3


@pytest.mark.parametrize("height", [-0.75, -0.1, 0.0, 0.6])
def test_points_on_the_spine_are_accurate(height):
    """There R = 0: computed as a difference of squares it would be worth 1e-8."""
    spine = spine_from_ideal_points(np.array([[0.6, 0.8, 0], [0.6, -0.8, 0]]))
    x = to_hyperboloid(np.array([0.6, height, 0.0]), "klein")
    expected = np.sqrt(spine.kappa * (1 + x[2] ** 2))  # r where R = 0
    assert 1 / slide(x[None], spine)[0, -1] == pytest.approx(expected, rel=2e-14)
