"""The paper's theorems in numbers: each check draws random instances and returns how far the worst is from the statement.

Points are on the hyperboloid, J is the Minkowski form, P the hull of K ideal points (a spine), M the hull of P and a base
point.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from horopca.geometry import (
    busemann,
    distance,
    from_hyperboloid,
    geodesic,
    geodesic_hull,
    geodesic_projection,
    horosphere,
    inner,
    lift,
    to_hyperboloid,
    translate,
)
from horopca.geometry.isometries import translate_ideal
from horopca.projections import Spine, horospherical_projection, slide, spine_from_ideal_points

D, K, N, ROUNDS = 6, 3, 40, 25  # dimension, ideal points, points of an instance, instances
J = np.diag([-1.0] + [1.0] * D)


def check(name: str) -> dict[str, Any]:
    """The largest deviation from a statement over all instances; a negative one is a margin."""
    rng = np.random.default_rng(sum(map(ord, name)))
    found = [CHECKS[name](rng) for _ in range(ROUNDS)]
    return {"deviation": float(np.max(found)), "instances": ROUNDS}


def _points(rng: np.random.Generator, n: int = N, d: int = D) -> np.ndarray:
    return to_hyperboloid(1.5 * rng.standard_normal((n, d)), "tangent")


def _ideal(rng: np.random.Generator, k: int = K, d: int = D) -> np.ndarray:
    q = rng.standard_normal((k, d))
    return q / np.linalg.norm(q, axis=1, keepdims=True)


def _cone(q: np.ndarray) -> np.ndarray:
    """Light-like vectors (K, d+1) of ideal points."""
    return np.concatenate([np.ones((len(q), 1)), q], axis=1)


def _around(q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The orthogonal projection on span(q), and a Minkowski-orthonormal basis (d+1-K, d+1) of its complement."""
    V = _cone(q)
    inside = V.T @ np.linalg.solve(V @ J @ V.T, V @ J)
    W = np.linalg.svd(V @ J)[2][len(q) :]
    return inside, np.linalg.solve(np.linalg.cholesky(W @ J @ W.T), W)


def _rotated(x: np.ndarray, q: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Points under a random rotation around the hull of q."""
    inside, W = _around(q)
    turn = np.linalg.qr(rng.standard_normal((len(W), len(W))))[0]
    return x @ inside.T + x @ J @ W.T @ turn @ W


def _length(path: np.ndarray) -> float:
    return float(distance(path[1:], path[:-1]).sum())


def _gaps(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Distances between rows of x minus those between the same rows of y."""
    i, j = np.triu_indices(len(x), 1)
    return distance(x[i], x[j]) - distance(y[i], y[j])


def busemann_is_a_limit(rng: np.random.Generator) -> float:
    """B_p(x) = lim d(x, γ(t)) − t along the ray from the origin to p."""
    x, q, t = _points(rng), _ideal(rng, 1)[0], 12.0
    return np.abs(distance(x, np.concatenate([[np.cosh(t)], np.sinh(t) * q])) - t - busemann(x, q)).max()


def variance_is_the_mean_over_pairs(rng: np.random.Generator) -> float:
    """(1/n) Σ |x − mean|² = (1/n²) Σ |x − y|², as a relative error."""
    x = rng.standard_normal((N, D))
    return abs(np.mean(np.sum((x[:, None] - x[None]) ** 2, axis=-1)) / np.mean(np.sum((x - x.mean(axis=0)) ** 2, axis=1)) - 1)


def keeps_lengths_towards_p(rng: np.random.Generator) -> float:
    """d(π(x), π(y)) = d(x, y) for y on the geodesic from x to p, K = 1."""
    x, q = _points(rng), _ideal(rng, 1)
    t = rng.uniform(-3, 3, N)[:, None]
    n = _cone(q)[0]
    toward = -n / inner(x, n[None])[:, None] - x  # unit and tangent at x
    y = np.cosh(t) * x + np.sinh(t) * toward
    image = horospherical_projection(np.concatenate([x, y]), q, base=_points(rng, 1)[0])
    return np.abs(distance(image[:N], image[N:]) - np.abs(t[:, 0])).max()


def keeps_busemann_coordinates(rng: np.random.Generator) -> float:
    """B_p(π(x)) = B_p(x) for each of the K ideal points."""
    x, q = _points(rng), _ideal(rng)
    y = horospherical_projection(x, q, base=_points(rng, 1)[0])
    return max(np.abs(busemann(x, p) - busemann(y, p)).max() for p in q)


def intersection_is_the_orbit(rng: np.random.Generator) -> float:
    """Rotations around P keep every B_p; and two points with equal B_p are as far from P, over one point of it."""
    x, q = _points(rng), _ideal(rng)
    y = _rotated(x, q, rng)
    kept = max(np.abs(busemann(x, p) - busemann(y, p)).max() for p in q)
    image = horospherical_projection(x, q)  # the same B_p, by another way: in the orbit, so with the same part inside
    inside, _ = _around(q)
    return max(kept, np.abs((x - image) @ inside.T).max() / np.abs(x).max())


def image_is_the_nearer_of_two(rng: np.random.Generator) -> float:
    """Of the two points of M with the coordinates of x, the image is the one closer to b."""
    x, q, b = _points(rng), _ideal(rng), _points(rng, 1)[0]
    y = horospherical_projection(x, q, base=b)
    inside, _ = _around(q)
    other = y @ (2 * inside - np.eye(D + 1)).T  # its mirror image in P
    equal = max(np.abs(busemann(other, p) - busemann(x, p)).max() for p in q)
    return max(equal, float((distance(y, b[None]) - distance(other, b[None])).max()))


def spheres_meet_in_the_image(rng: np.random.Generator) -> float:
    """In the ball horospheres are spheres: met with the hull of the origin and their centres, the nearer of two points."""
    x, q = _points(rng), _ideal(rng)
    images, basis = from_hyperboloid(horospherical_projection(x, q), "poincare"), np.linalg.qr(q.T)[0]
    worst = 0.0
    for point, image in zip(x, images, strict=True):
        centres, sizes = (np.array(part) for part in zip(*(horosphere(p, point) for p in q), strict=True))
        c, squares = centres @ basis, np.sum(centres**2, axis=1) - sizes**2
        planes = 2 * (c[1:] - c[0])  # two spheres meet in a plane, K of them in a line of the hull
        start, along = np.linalg.lstsq(planes, squares[1:] - squares[0])[0], np.linalg.svd(planes)[2][-1]
        middle = start + along * (along @ (c[0] - start))
        half = along * np.sqrt(max(sizes[0] ** 2 - np.sum((middle - c[0]) ** 2), 0.0))
        nearer = min((middle + half, middle - half), key=np.linalg.norm)
        worst = max(worst, float(np.abs(basis @ nearer - image).max()))
    return worst


def pages_turn_rigidly(rng: np.random.Generator) -> float:
    """The open book: on the page P_x the projection is an isometry, and it fixes the spine."""
    q, x = _ideal(rng), _points(rng, 1)[0]
    inside, _ = _around(q)
    spine = _points(rng, N) @ inside.T
    spine /= np.sqrt(-inner(spine, spine))[:, None]
    page = spine + rng.uniform(0.05, 2, N)[:, None] * x[None]
    page /= np.sqrt(-inner(page, page))[:, None]
    b = _points(rng, 1)[0]
    return max(
        np.abs(_gaps(page, horospherical_projection(page, q, base=b))).max(),
        distance(horospherical_projection(spine, q, base=b), spine).max(),
    )


def depends_on_the_spine_alone(rng: np.random.Generator) -> float:
    """Other ideal points of the same hull give the same projection."""
    x, q = _points(rng), _ideal(rng)
    frame = geodesic_hull(ideal_points=q)
    u = _ideal(rng, K, K - 1)
    light = frame[0] + u @ frame[1:]
    others = light[:, 1:] / light[:, :1]
    return distance(horospherical_projection(x, q), horospherical_projection(x, others)).max()


def does_not_depend_on_the_base(rng: np.random.Generator) -> float:
    """Distances between images are the same for any two base points."""
    x, q = _points(rng), _ideal(rng)
    y, z = (horospherical_projection(x, q, base=b) for b in _points(rng, 2))
    return np.abs(_gaps(y, z)).max()


def orbits_collapse(rng: np.random.Generator) -> float:
    """Points that a rotation around P takes into each other have one image."""
    x, q, b = _points(rng), _ideal(rng), _points(rng, 1)[0]
    return distance(*(horospherical_projection(z, q, base=b) for z in (x, _rotated(x, q, rng)))).max()


def keeps_k_directions_and_drops_the_rest(rng: np.random.Generator) -> float:
    """The differential at a point has K singular values 1 and d − K of 0: lengthens no vector."""
    x, q, h = _points(rng, 1)[0], _ideal(rng), 1e-5
    spine = spine_from_ideal_points(q)
    steps = translate(lift(np.concatenate([h * np.eye(D), -h * np.eye(D)])), x)
    y = slide(steps, spine)
    height = slide(x[None], spine)[0, -1]
    sizes = np.linalg.svd((y[:D] - y[D:]) / (2 * h) / height, compute_uv=False)
    return np.abs(sizes - 1).max()  # a (d, K) matrix: the other d - K are zero by its shape


def never_lengthens(rng: np.random.Generator) -> float:
    """d(π(x), π(y)) ≤ d(x, y)."""
    x, q = _points(rng), _ideal(rng)
    return float(-_gaps(x, horospherical_projection(x, q)).min())


def parameter_count(rng: np.random.Generator) -> float:
    """The flags of hulls have dK − K(K+1)/2 parameters: how many more the rank of the map from ideal points counts."""
    return float(flag_parameters(rng, D, K) - (D * K - K * (K + 1) // 2))


def flag_parameters(rng: np.random.Generator, d: int, k: int) -> int:
    """The rank of the map from k ideal points to the projectors on the spans of the first 1, …, k of them."""
    q = _ideal(rng, k, d)

    def flag(theta: np.ndarray) -> np.ndarray:
        p = theta.reshape(k, d)
        V = np.linalg.qr(_cone(p / np.linalg.norm(p, axis=1, keepdims=True)).T)[0]
        return np.concatenate([(V[:, :j] @ V[:, :j].T).ravel() for j in range(1, k + 1)])

    steps = 1e-5 * np.eye(k * d)
    return int(np.linalg.matrix_rank(np.array([flag(q.ravel() + e) - flag(q.ravel() - e) for e in steps]) / 2e-5, tol=1e-6))


def algorithm_of_the_appendix(rng: np.random.Generator) -> float:
    """Algorithm 1, step by step in the ambient space, gives the closed form."""
    x, q, b = _points(rng), _ideal(rng), _points(rng, 1)[0]
    inside, _ = _around(q)
    z = x @ inside.T
    w = z / np.sqrt(-inner(z, z))[:, None]
    u = (b - w) - (b - w) @ inside.T
    u /= np.sqrt(inner(u, u))[:, None]
    far = distance(x, w)[:, None]
    return distance(np.cosh(far) * w + np.sinh(far) * u, horospherical_projection(x, q, base=b)).max()


def geodesic_projection_is_nearest(rng: np.random.Generator) -> float:
    """The Minkowski projection, rescaled, is future-pointing and nearer to x than any other point of P tried."""
    x, q = _points(rng), _ideal(rng)
    frame = geodesic_hull(ideal_points=q)
    inside, _ = _around(q)
    z = x @ inside.T
    w = z / np.sqrt(-inner(z, z))[:, None]
    others = geodesic_projection(_points(rng, 500), frame)
    nearest = distance(x[:, None], others[None]).min(axis=1)
    excess = float((distance(x, w) - nearest).max())
    return max(excess, float(-w[:, 0].min()), float(distance(w, geodesic_projection(x, frame)).max()))


def law_of_quadrilaterals(rng: np.random.Generator) -> float:
    """cosh(xy) = cosh(zw) cosh(xw) cosh(yz) − sinh(xw) sinh(yz), with right angles at z and w; relative error."""
    a, b, s = rng.uniform(-2, 2, (3, N))
    foot = np.stack([np.cosh(s), np.sinh(s), np.zeros(N)], axis=1)
    up = np.array([0.0, 0.0, 1.0])
    x = np.cosh(a)[:, None] * np.array([1.0, 0, 0]) + np.sinh(a)[:, None] * up
    y = np.cosh(b)[:, None] * foot + np.sinh(b)[:, None] * up
    return np.abs((np.cosh(s) * np.cosh(a) * np.cosh(b) - np.sinh(a) * np.sinh(b)) / np.cosh(distance(x, y)) - 1).max()


def _off(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Points, the frame of a submanifold through a random point, and their distances from it."""
    x, frame = _points(rng), geodesic_hull(_points(rng, K + 1))
    return x, frame, distance(x, geodesic_projection(x, frame))


def bound_on_projected_distances(rng: np.random.Generator) -> float:
    """sinh(d′/2) cosh r ≤ sinh(d/2) under the geodesic projection: the largest ratio of the sides, minus 1."""
    x, frame, r = _off(rng)
    y, (i, j) = geodesic_projection(x, frame), np.triu_indices(N, 1)
    ratio = np.sinh(distance(y[i], y[j]) / 2) * np.cosh(np.minimum(r[i], r[j])) / np.sinh(distance(x[i], x[j]) / 2)
    return float(ratio.max() - 1)


def paths_shrink(rng: np.random.Generator) -> float:
    """length(π(γ)) cosh r ≤ length(γ) for paths at least r from M, geodesic ones and wavy ones: largest ratio, minus 1."""
    ends, frame, _ = _off(rng)
    t = np.linspace(0, 1, 400)[:, None]
    worst = -1.0
    for a, b, wave in zip(ends[:10], ends[10:20], 0.3 * rng.standard_normal((10, 2, D)), strict=True):
        straight = geodesic(a[None], b[None], t[:, 0])
        bent = lift(straight[:, 1:] + np.sin(4 * np.pi * t) * wave[0] + np.sin(6 * np.pi * t) * wave[1])
        for path in (straight, bent):
            image = geodesic_projection(path, frame)
            worst = max(worst, _length(image) * np.cosh(distance(path, image).min()) / _length(path) - 1)
    return worst


def tangent_vectors_shrink(rng: np.random.Generator) -> float:
    """Tangent vectors at x get cosh d(x, M) times shorter or more under the geodesic projection: largest ratio, minus 1."""
    x, frame, r = _off(rng)
    y = translate(lift(1e-4 * _ideal(rng, N)), x)
    shrunk = distance(geodesic_projection(x, frame), geodesic_projection(y, frame)) / distance(x, y)
    return float((shrunk * np.cosh(r)).max() - 1)


def distances_far_apart_need_not_shrink(rng: np.random.Generator) -> float:
    """The remark: at distance r from M, points far enough apart keep all but 2r of their distance; the excess over that."""
    r, s = rng.uniform(0.5, 2), rng.uniform(8, 12)
    x = np.array([np.cosh(r), 0.0, np.sinh(r)])
    y = np.array([np.cosh(s) * np.cosh(r), np.sinh(s) * np.cosh(r), np.sinh(r)])
    return float(distance(x, y) - s - 2 * r)


def merges_into_horocycles(rng: np.random.Generator) -> float:
    """As two ideal points merge, distances between images tend to those along the horocycles of one: the rest at 1e-4."""
    x, q, u = _points(rng), _ideal(rng, 1)[0], _ideal(rng, 1)[0]
    u = (u - (u @ q) * q) / np.linalg.norm(u - (u @ q) * q)
    pair = np.stack([np.cos(1e-4) * q + np.sin(1e-4) * u, np.cos(1e-4) * q - np.sin(1e-4) * u])
    far, near = (slide(x, spine) for spine in (spine_from_ideal_points(pair), Spine(q, 0.0, u[None])))
    return float(np.abs(_gaps(*(to_hyperboloid(y, "halfspace") for y in (far, near)))).max())


def isometries_carry_over(rng: np.random.Generator) -> float:
    """Centring the data changes nothing: distances between images are those of the moved data with moved ideal points."""
    x, q, m = _points(rng), _ideal(rng), _points(rng, 1)[0]
    return np.abs(_gaps(horospherical_projection(x, q), horospherical_projection(translate(x, m), translate_ideal(q, m)))).max()


def equal_segments_between_horospheres(rng: np.random.Generator) -> float:
    """Geodesic segments towards p between two horospheres of p are equally long: the difference of the B_p."""
    x, q = _points(rng), _ideal(rng, 1)
    n = _cone(q)[0]
    toward = -n / inner(x, n[None])[:, None] - x
    return np.abs(busemann(np.cosh(0.7) * x + np.sinh(0.7) * toward, q[0]) - busemann(x, q[0]) + 0.7).max()


CHECKS: dict[str, Callable[[np.random.Generator], float]] = {
    f.__name__: f
    for f in (
        busemann_is_a_limit, equal_segments_between_horospheres, variance_is_the_mean_over_pairs, keeps_lengths_towards_p,
        keeps_busemann_coordinates, does_not_depend_on_the_base, intersection_is_the_orbit, image_is_the_nearer_of_two,
        pages_turn_rigidly, depends_on_the_spine_alone, parameter_count, orbits_collapse,
        keeps_k_directions_and_drops_the_rest, never_lengthens, geodesic_projection_is_nearest, algorithm_of_the_appendix,
        law_of_quadrilaterals, bound_on_projected_distances, tangent_vectors_shrink, paths_shrink,
        distances_far_apart_need_not_shrink, merges_into_horocycles, isometries_carry_over, spheres_meet_in_the_image,
    )
}  # fmt: skip
