"""Geodesic submanifolds near points, for PGA and BSA: objectives, families and the search.

A K-dimensional geodesic submanifold is a (K+1)-dimensional subspace V of R^{1,d} that holds time-like vectors: a spine of
one dimension more, with kappa > 0 (`projections`). For n, U, kappa, h and H as there, the part of a point x outside V is

    rest = L e + s',      e = (1 - kappa, (1 + kappa) n) / (2 sqrt(kappa)),      L = (kappa H - h) / (2 sqrt(kappa)),

where s' is the part of s perpendicular to n and U. So sinh^2 of the distance from x to the submanifold is q = L^2 + |s'|^2,
a sum of squares; and if V changes by dV, dq = -2 a^T dV J rest, with a the coordinates of x in the basis of V. All gradients
below follow from this formula.

For points far from the origin the objective has many narrow optima, one for each choice of data points to pass through. So a
search starts from hulls of data points, improved by exchanging one point for another.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ..geometry import lift
from ..geometry._arrays import split_bases
from ..geometry.hulls import NEAREST_LIGHT, lorentz_frame
from ..geometry.isometries import boosted
from ..projections.spines import NO_DIRECTION, Family, Pullback, one_more_vector
from .lbfgs import Ascents, Status
from .multi_start import Flag, Round, SearchOptions, successive_halving
from .objectives import BLOCK, FEW_ROWS, Objective, Sample

EXHAUSTIVE_ROWS = 2048  # Up to this many points every start is evaluated on all points, and all their directions are starts.
EXCHANGE_POINTS = 128  # Data points tried in place of each point of a hull. 64 leave 0.5 % more unexplained (CS Ph.D., K = 3).
SWEEPS = 2  # Every point of a hull is exchanged this many times: a third gains 0.03 % at most (paper's data).

Bases = Sequence[np.ndarray]
PointProfile = Callable[[np.ndarray, np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]
"""A function of one point: of q, the squared length B of the part of s inside the submanifold, and t. It returns its value and
its derivative with respect to q."""


# ---------------------------------------------------------------- objectives


def squared_distance_to(q: np.ndarray, B: np.ndarray, t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Squared distance to the submanifold, and its derivative in q."""
    a = np.sqrt(q + 1e-300)  # not 0, since the derivative divides by it
    D = np.arcsinh(a)
    return D * D, D / (a * np.sqrt(1 + q))


def squared_distance_within(q: np.ndarray, B: np.ndarray, t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Squared distance between the origin and the projection, for a submanifold through the origin, and its derivative in q.

    There t^2 = 1 + B + q.
    """
    b = np.sqrt(B + 1e-300)
    r = np.arcsinh(b / np.sqrt(1 + q))
    return r * r, -r * t / (b * (1 + q))


def mean_over_points(
    sample: Sample, A: np.ndarray, profile: PointProfile, gradient: bool = True
) -> tuple[np.ndarray, np.ndarray]:
    """Means (S,) of a profile over the points, for submanifolds spanned by A (S, K+1, d+1), and gradients in A."""
    t, s = sample.columns[0], sample.columns[1:]
    if A.shape[1] == len(sample.columns):  # all of H^d
        value = float(np.mean(profile(np.zeros_like(t), np.sum(s * s, axis=0), t)[0]))
        return np.full(len(A), value), np.zeros_like(A)
    step = max(1, BLOCK // s.size)
    parts = [_mean_of_block(sample, A[i : i + step], profile, gradient) for i in range(0, len(A), step)]
    values, G = (np.concatenate(both) for both in zip(*parts, strict=True))
    return np.where(np.isfinite(values), values, np.inf), G


def _mean_of_block(sample: Sample, A: np.ndarray, profile: PointProfile, gradient: bool) -> tuple[np.ndarray, np.ndarray]:
    V = split_bases(A)
    length = np.linalg.norm(V[:, 0, 1:], axis=1)
    kappa = np.maximum((V[:, 0, 0] - length) / (V[:, 0, 0] + length), NEAREST_LIGHT)[:, None]
    n, U = V[:, 0, 1:] / np.where(length > NO_DIRECTION, length, np.inf)[:, None], V[:, 1:, 1:]
    t, s, root = sample.columns[0], sample.columns[1:], 2 * np.sqrt(kappa)
    along, b = n @ s, U @ s
    h, H = np.maximum(t - along, sample.floor), np.maximum(t + along, sample.floor)
    L = (kappa * H - h) / root
    across = s - n[:, :, None] * along[:, None] - U.mT @ b
    q = L * L + np.sum(across * across, axis=1)
    values, slopes = profile(q, np.sum(b * b, axis=1), t)
    if not gradient:
        return values.mean(axis=1), np.zeros_like(A)
    inside = np.concatenate([((h + kappa * H) / root**2)[:, None], b], axis=1)  # coordinates in the basis V
    time, space = (kappa - 1) * L / root, across + n[:, :, None] * ((1 + kappa) * L / root)[:, None]  # J rest
    outside = np.concatenate([time[:, None], space], axis=1)
    G = (inside * (-2 * slopes / sample.size)[:, None]) @ outside.mT
    V = np.concatenate([np.concatenate([1 + kappa, (1 - kappa) * n], axis=1)[:, None], V[:, 1:]], axis=1)
    # A = M V, and only the span counts, so dV = M^{-1} dA; pinv: A may become dependent during an ascent
    change = A @ (V / np.sum(V * V, axis=2, keepdims=True)).mT
    finite = np.isfinite(change).all(axis=(1, 2))[:, None, None]
    return values.mean(axis=1), np.linalg.pinv(np.where(finite, change, 0.0)).mT @ G


def submanifold_objective(sample: Sample, name: str) -> Objective:
    """An objective of bases (S, K+1, d+1), to be maximised.

    "variance": mean squared distance from the origin of the projections on submanifolds through it. "residual": mean squared
    distance of the points from the origin minus that to the submanifold. The first term is a constant. It keeps the maximum
    above 0 if all points lie in the submanifold, so that convergence can be judged by relative gains. "flag": the
    sum of "residual" over the submanifolds of the first 2, 3, ... rows.
    """
    total = mean_over_points(sample, np.eye(len(sample.columns))[None], squared_distance_within)[0]

    def objective(A: np.ndarray, gradient: bool = True) -> tuple[np.ndarray, np.ndarray]:
        if name == "variance":
            return mean_over_points(sample, A, squared_distance_within, gradient)
        values, G = np.zeros(len(A)), np.zeros_like(A)
        for k in range(2, A.shape[1] + 1) if name == "flag" else [A.shape[1]]:
            value, part = mean_over_points(sample, A[:, :k], squared_distance_to, gradient)
            values += total - value
            G[:, :k] -= part
        return values, G

    return objective


# ---------------------------------------------------------------- families


def submanifolds(frame: np.ndarray, through: bool) -> Family:
    """Submanifolds inside that of a Lorentz-orthonormal frame (m+1, d+1), through a point and along K directions.

    theta (S, K+2, m) holds a fixed point f, and the space parts of the point and of the directions after the translation that
    takes f to the origin, so that steps have the same scale far from the origin. With `through`, the point is fixed, too: with
    f = 0 and the point at the origin, all pass through the origin.
    """

    def family(theta: np.ndarray) -> tuple[np.ndarray, Pullback]:
        f = lift(theta[:, :1])
        A = np.pad(theta[:, 1:], ((0, 0), (0, 0), (1, 0)))
        A[:, :1] = lift(theta[:, 1:2])

        def pullback(G: np.ndarray) -> np.ndarray:
            g = boosted(G @ frame.T, f)
            g[:, 0, 1:] += g[:, :1, 0] * theta[:, 1] / A[:, 0, :1]
            g[:, : int(through)] = 0
            return np.concatenate([np.zeros_like(theta[:, :1]), g[:, :, 1:]], axis=1)

        return boosted(A, f) @ frame, pullback

    return family


def point_and_directions(A: np.ndarray, frame: np.ndarray, anchor: int) -> np.ndarray:
    """The parameters in `submanifolds` of a basis (K+1, d+1), whose first row is the origin if the anchor is 0.

    The fixed point is the point nearest to the origin in the submanifold of the first `anchor` + 1 rows.
    """
    A = A[:, 1:] @ frame[:, 1:].T - np.outer(A[:, 0], frame[:, 0])  # coordinates (K+1, m+1) in the frame
    A[:, 0] *= -1
    f = lorentz_frame(A[: anchor + 1])[0, 1:]
    seen = boosted(A[None], lift(-f)[None, None])[0]
    directions = np.concatenate([split_bases(seen[: anchor + 1])[1:, 1:], seen[anchor + 1 :, 1:]])
    return np.concatenate([f[None], 0 * f[None], np.linalg.qr(directions.T)[0].T])


# ---------------------------------------------------------------- starts


def space_form_pca(sample: Sample, K: int, through: bool, power: float) -> np.ndarray:
    """A basis (K+1, d+1): the submanifold with the least mean of sinh^2 of the distances, weighted by time^(-2 power).

    A closed form, space-form PCA (Tabaghi et al. 2024): eigenvectors of the second moments M of the points in the Minkowski
    form, M J v = lambda v, the time-like one and the K that explain most. Through the origin: those of the space parts.
    """
    x = sample.columns / np.maximum(sample.columns[0], 1) ** power
    M = x @ x.T / sample.size
    if through:
        axes = np.linalg.eigh(M[1:, 1:])[1][:, ::-1][:, :K].T
        return np.concatenate([np.eye(1, len(x)), np.pad(axes, ((0, 0), (1, 0)))])
    M[:, 0] *= -1
    values, vectors = np.linalg.eig(M)
    vectors = vectors[:, np.argsort(values.real)].real.T  # the time-like one has the only negative value
    return np.concatenate([vectors[:1], vectors[::-1][:K]])


def _hull_starts(sample: Sample, K: int, through: bool, name: str, n_init: int, rng: np.random.Generator) -> np.ndarray:
    """Bases (S, K+1, d+1) of hulls of data points (and the origin, if `through`): random, and improved by exchange."""
    points = (sample.columns / sample.columns[0])[:, : max(EXCHANGE_POINTS, K + 1)].T
    hulls = points[[rng.choice(len(points), K + 1, replace=len(points) <= K) for _ in range(n_init)]]
    hulls[:, : int(through)] = np.eye(1, len(sample.columns))
    objective, drawn = submanifold_objective(sample.take(slice(FEW_ROWS)), name), hulls.copy()
    best = objective(hulls, gradient=False)[0]
    for slot in SWEEPS * list(range(int(through), K + 1)):
        trials = np.repeat(hulls[:, None], len(points), axis=1)
        trials[:, :, slot] = points
        values = objective(trials.reshape(-1, *hulls.shape[1:]), gradient=False)[0].reshape(len(hulls), -1)
        top = np.argmax(values, axis=1)
        better = values.max(axis=1) > best
        hulls[better], best = trials[better, top[better]], np.maximum(best, values.max(axis=1))
    return np.concatenate([drawn, hulls])


# ---------------------------------------------------------------- the search


def _best_ascent(sample: Sample, name: str, family: Family, starts: np.ndarray, options: SearchOptions) -> Ascents:
    """The best ascent from some parameters; the second round also compares the starts themselves."""
    n_init, _, max_iter, tol, log, _ = options
    objective_for = lambda round: submanifold_objective(sample.take(slice(round.rows)), name)
    first = Round(2 * n_init, FEW_ROWS, 0, 12, tol=tol)
    last = [Round(n_init, EXHAUSTIVE_ROWS, 0, max_iter, tol=tol), Round(1, sample.size, 0, max_iter, tol=tol)]
    found = successive_halving(objective_for, family, starts, [first], log)[0].points
    rounds = last[: 1 + (sample.size > EXHAUSTIVE_ROWS)]
    return successive_halving(objective_for, family, np.concatenate([found, starts]), rounds, log)[0]


def _search_inside(sample: Sample, name: str, frame: np.ndarray, starts: Bases, anchor: int, options: SearchOptions) -> Flag:
    """The best nested submanifolds inside that of a frame: anywhere, or through the origin if the anchor is 0."""
    family = submanifolds(frame, through=anchor == 0)
    theta = np.stack([point_and_directions(A, frame, anchor) for A in starts])
    best = _best_ascent(sample, name, family, theta, options)
    A = family(best.points[:1])[0][0]
    return Flag([A[: k + 1] for k in range(1, len(A))], int(best.n_iter[0]), best.status[0])


def _one_by_one(sample: Sample, K: int, spread: np.ndarray, name: str, options: SearchOptions) -> Flag:
    """Nested submanifolds found greedily, with directions in the span of the columns of `spread` (d+1, m)."""
    flag = Flag([np.eye(1, sample.dimension + 1)], 0, Status.CONVERGED)
    starts = np.concatenate([sample.take(slice(EXHAUSTIVE_ROWS)).directions() @ spread[1:], np.eye(spread.shape[1])[:2]])
    starts = starts[np.linalg.norm(starts, axis=1) > 0]
    for _ in range(K):
        family = one_more_vector(flag.bases[-1], np.zeros(len(spread)), spread)
        best = _best_ascent(sample, name, family, starts, options)
        basis = family(best.points[:1])[0][0]
        flag = _joined(Flag([*flag.bases, basis], int(best.n_iter[0]), best.status[0]), flag)
    return flag._replace(bases=flag.bases[1:])


def _joined(flag: Flag, before: Flag) -> Flag:
    """Nested submanifolds with the status of two searches: that of one that has not converged, if any."""
    worst = flag if before.status.converged else before
    return flag._replace(n_iter=flag.n_iter + before.n_iter, status=worst.status)


def search_pga(sample: Sample, K: int, name: str, greedy: bool, options: SearchOptions, rng: np.random.Generator) -> Flag:
    """The best K-dimensional submanifold through the origin and those inside it; if `greedy`, one direction after another."""
    whole, quiet = np.eye(sample.dimension + 1), options._replace(log=lambda *_: None)
    if greedy or K == sample.dimension:
        return _one_by_one(sample, K, whole[:, 1:], name, options)
    starts = [space_form_pca(sample, K, True, power) for power in (0.0, 1.0)]
    starts += [*_hull_starts(sample, K, True, name, options.n_init, rng)]
    starts.append(_one_by_one(sample, K, whole[:, 1:], name, quiet).bases[-1])
    best = _search_inside(sample, name, whole, starts, 0, options)
    inside = _one_by_one(sample, K - 1, np.linalg.qr(best.bases[-1][1:].T)[0], name, quiet)
    return _joined(best._replace(bases=[*inside.bases, best.bases[-1]]), inside)


def search_bsa(sample: Sample, K: int, through: bool, last: bool, options: SearchOptions, rng: np.random.Generator) -> Flag:
    """Nested submanifolds of dimensions 1 .. K with the least sum of unexplained variances (Pennec's criterion).

    With `last`, that of dimension K has the least unexplained variance, and the others are the best inside it. With `through`,
    all pass through the origin.
    """
    whole, quiet = np.eye(sample.dimension + 1), options._replace(log=lambda *_: None)
    starts = [space_form_pca(sample, K, through, power) for power in (0.0, 0.5, 1.0)]
    for through_origin in [True] if through else [False, True]:  # submanifolds through the origin are in both families
        starts += [*_hull_starts(sample, K, through_origin, "residual", options.n_init, rng)]
    starts.append(_one_by_one(sample, K, whole[:, 1:], "residual", quiet).bases[-1])
    lines, hulls = _hull_starts(sample, 1, through, "residual", options.n_init, rng), starts[3:6]
    starts += [np.concatenate([line, A[2:]]) for line in lines for A in hulls]  # good lines, with points of three random hulls
    if not last:
        return _search_inside(sample, "flag", whole, starts, int(not through), options)
    best = _search_inside(sample, "residual", whole, starts, 0 if through else K, options)
    flag = _search_inside(sample, "flag", lorentz_frame(best.bases[-1]), starts, int(not through), quiet)
    return _joined(best._replace(bases=[*flag.bases[:-1], best.bases[-1]]), flag)


def nested_frame(bases: list[np.ndarray], through: bool) -> np.ndarray:
    """A Lorentz-orthonormal frame (K+1, d+1) whose first k+1 rows span the k-th of nested submanifolds.

    Row 0 is the point nearest to the origin in the first of them: the origin, which all contain, if `through`.
    """
    A = bases[0]
    for basis in bases[1:]:  # one row more: the part of V_k that is not in V_{k-1}
        Q, V = np.linalg.qr(A.T)[0], np.linalg.qr(basis.T)[0].T
        A = np.concatenate([A, np.linalg.svd(V - (V @ Q) @ Q.T)[2][:1]])
    whole = np.eye(A.shape[1])
    return np.asarray(submanifolds(whole, through)(point_and_directions(A, whole, int(not through))[None])[0][0])
