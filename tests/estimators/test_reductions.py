"""Laws, limits, references and contracts that all reductions share."""

import numpy as np
import pytest
import torch
from sklearn.base import clone
from sklearn.decomposition import PCA

from clouds import spread
from hierarchies import TREE
from horopca import BSA, PGA, EuclideanPCA, HoroPCA, HyperbolicMDS, RadialPCA, TangentPCA, geometry, metrics
from horopca.geometry import distance, from_hyperboloid, geodesic_projection, lift, pairwise_distance, to_hyperboloid
from horopca.geometry._arrays import to_numpy
from horopca.metrics.comparison import METHODS, make_reduction

ALL = [name for name in METHODS if name not in ("horopca-distortion", "horopca-stretch")]
ISOMETRIC = [name for name in ALL if name != "radial"]  # projections, which lengthen no distance


def reduction(name, K=2, **options):
    """A method of the comparison, with options that make it quick."""
    estimator = make_reduction(name, K, random_state=0)
    few = {"n_init": 2} if "n_init" in estimator.get_params() else {}
    return estimator.set_params(**{**few, **options})


X = TREE.points


# ---- laws


@pytest.mark.parametrize("unstructured", [False, True], ids=["tree", "heavy tails"])
@pytest.mark.parametrize("name", ALL)
def test_the_frame_is_canonical_and_projections_lengthen_no_distance(name, unstructured):
    points = from_hyperboloid(lift(np.random.default_rng(0).standard_t(3, size=(40, 4)))) if unstructured else X
    Y = reduction(name).fit_transform(points)
    if name in ("horopca", "horopca-free", "pga", "bsa", "hmds"):
        before, after = (pairwise_distance(to_hyperboloid(P)) for P in (points, Y))
        assert np.all(after <= before * (1 + 1e-9) + 1e-9)
    v = from_hyperboloid(to_hyperboloid(Y), "tangent")
    assert np.allclose(v.mean(axis=0), 0, atol=1e-9)  # the Fréchet mean: where the logarithms add up to nothing
    second = v.T @ v / len(v)
    assert abs(second[0, 1]) < 1e-9 * second[0, 0]
    assert second[0, 0] >= second[1, 1]
    assert np.all(np.sum(v**3, axis=0) > 0)


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("K", [1, 5])
def test_every_number_of_components(name, K):
    estimator = reduction(name, K).fit(X)
    Y = estimator.transform(X)
    assert Y.shape == (len(X), K)
    back = estimator.inverse_transform(Y)
    assert np.allclose(estimator.transform(back), Y, atol=1e-8)
    ratio = estimator.explained_variance_ratio_
    assert ratio.shape == (K,) == (estimator.n_components_,)
    assert estimator.explained_variance_.sum() == pytest.approx(metrics.pair_variance(Y), rel=1e-8)
    assert estimator.total_variance_ == pytest.approx(metrics.pair_variance(X), rel=1e-8)
    assert np.allclose(ratio * estimator.total_variance_, estimator.explained_variance_)
    if name in ISOMETRIC:
        assert metrics.pair_variance(back) == pytest.approx(metrics.pair_variance(Y), rel=1e-8)
        assert np.all(ratio >= -1e-12) and 0 < ratio[0] and ratio.sum() <= 1 + 1e-12
    if K == X.shape[1] and name in ISOMETRIC:  # nothing was left out
        assert metrics.average_distortion(X, Y) < 1e-9
    estimator.set_params(model="tangent", curvature=-4.0)  # which count in the next fit
    assert np.array_equal(estimator.transform(X), Y) and np.array_equal(estimator.inverse_transform(Y), back)


@pytest.mark.parametrize("name", ISOMETRIC)
@pytest.mark.parametrize("share", [0.3, 0.9, 1 - 1e-16])
def test_components_by_the_variance_that_they_keep(name, share):
    every = reduction(name, None).fit(X)
    assert every.n_components_ == X.shape[1] == every.transform(X).shape[1]
    estimator = reduction(name, share).fit(X)
    K = estimator.n_components_
    assert estimator.transform(X).shape == (len(X), K)
    assert estimator.explained_variance_ratio_.sum() >= share or K == X.shape[1]
    assert K == 1 or reduction(name, K - 1).fit(X).explained_variance_ratio_.sum() < share


@pytest.mark.parametrize("options", [{}, {"strategy": "greedy"}, {"objective": "residual"}])
def test_pga_reports_what_it_does(options):
    pga = PGA(3, n_init=3, random_state=0, **options).fit(X)
    images = to_hyperboloid(pga.inverse_transform(pga.transform(X)))
    assert pga.unexplained_variance_[-1] == pytest.approx(np.mean(distance(to_hyperboloid(X), images) ** 2))
    assert np.allclose(pga.components_ @ pga.components_.T, np.eye(3), atol=1e-9)
    assert np.allclose(pga.base_point_, pga.mean_, atol=1e-12)


@pytest.mark.parametrize("options", [{}, {"strategy": "last"}, {"base_point": "mean"}])
def test_bsa_reports_what_it_does(options):
    bsa = BSA(3, n_init=3, random_state=0, **options).fit(X)
    x = to_hyperboloid(X)
    r = to_hyperboloid(bsa.reference_points_)
    for k in (1, 2, 3):  # the reference points span the submanifolds
        unexplained = np.mean(distance(x, geodesic_projection(x, geometry.geodesic_hull(r[: k + 1]))) ** 2)
        assert bsa.unexplained_variance_[k - 1] == pytest.approx(unexplained, rel=1e-6)
    back = bsa.inverse_transform(bsa.transform(X))
    assert bsa.unexplained_variance_[-1] == pytest.approx(metrics.unexplained_variance(X, back))
    if options.get("base_point"):
        assert np.allclose(bsa.reference_points_[0], bsa.mean_, atol=1e-9)


@pytest.mark.parametrize("name", ALL)
def test_a_score_is_of_what_the_fit_was_for(name):
    """The score has the same definition for all estimators."""
    estimator = reduction(name).fit(X)
    Y = estimator.transform(X)
    expected = {
        "variance": metrics.pair_variance(Y),
        "distortion": -metrics.average_distortion(X, Y),
        "residual": -metrics.unexplained_variance(X, estimator.inverse_transform(Y)),
    }[estimator.objective_]
    assert estimator.score(X) == pytest.approx(expected, rel=1e-9)
    assert isinstance(estimator.score(torch.tensor(X)), float)
    if estimator.objective_ == "variance":
        assert estimator.score(X) == pytest.approx(estimator.explained_variance_.sum())
    if hasattr(estimator, "unexplained_variance_") and estimator.objective_ == "residual":
        assert estimator.score(X) == pytest.approx(-estimator.unexplained_variance_[-1])
    scaled = clone(estimator).set_params(curvature=-0.25).fit(2 * X)  # the same points in a unit half as long
    assert scaled.score(2 * X) == pytest.approx((1 if estimator.objective_ == "distortion" else 4) * expected, rel=1e-6)


def test_radial_pca_is_scikit_learns_of_the_directions():
    pca = RadialPCA(2).fit(X)
    radii = distance(to_hyperboloid(X), to_hyperboloid(pca.mean_))
    v = geometry.translate_to_origin(to_hyperboloid(X), to_hyperboloid(pca.mean_))[:, 1:]
    u = v / np.linalg.norm(v, axis=1, keepdims=True)
    theirs = PCA(2).fit(u).transform(u)  # scikit-learn's, of the directions
    theirs *= np.sinh(radii)[:, None] / np.linalg.norm(theirs, axis=1, keepdims=True)
    assert np.allclose(pairwise_distance(lift(theirs)), pairwise_distance(to_hyperboloid(pca.transform(X))), atol=1e-8)


def test_each_objective_is_best_at_its_own():
    wide, near = (PGA(2, objective=o, random_state=0).fit(X) for o in ("variance", "residual"))
    assert spread(wide, X) >= spread(near, X) * (1 - 1e-6)
    assert near.unexplained_variance_[-1] <= wide.unexplained_variance_[-1] * (1 + 1e-6)
    flag, last = (BSA(2, strategy=s, random_state=0).fit(X) for s in ("flag", "last"))
    assert flag.unexplained_variance_.sum() <= last.unexplained_variance_.sum() * (1 + 1e-6)
    assert last.unexplained_variance_[-1] <= flag.unexplained_variance_[-1] * (1 + 1e-6)
    joint, greedy = (PGA(2, strategy=s, random_state=0).fit(X) for s in ("joint", "greedy"))
    assert spread(joint, X) >= spread(greedy, X) * (1 - 1e-6)


@pytest.mark.parametrize("K", [1, 2])
def test_bsa_through_the_mean_is_the_residual_of_pga(K):
    through = BSA(K, strategy="last", base_point="mean", random_state=0).fit(X)
    pga = PGA(K, objective="residual", random_state=0).fit(X)
    free = BSA(K, strategy="last", random_state=0).fit(X)
    assert through.unexplained_variance_[-1] == pytest.approx(pga.unexplained_variance_[-1], rel=1e-6)
    assert free.unexplained_variance_[-1] <= through.unexplained_variance_[-1] * (1 + 1e-9)


# ---- limits


def spread_of(estimator, K, d, scale):
    """Directions (K, d) of the submanifold of a reduction fitted in the tangent model, near its middle."""
    ends = estimator.inverse_transform(scale * np.concatenate([np.eye(K), np.zeros((1, K))]))
    return np.linalg.qr((ends[:-1] - ends[-1]).T)[0].T


@pytest.mark.parametrize(
    "estimator",
    [
        HoroPCA(n_init=2, random_state=0),
        HoroPCA(spine="free", n_init=2, random_state=0),
        EuclideanPCA(),
        TangentPCA(),
        PGA(n_init=2, random_state=0),
        PGA(n_init=2, objective="residual", random_state=0),
        BSA(n_init=2, random_state=0),
        HyperbolicMDS(),
    ],
)
def test_shrunk_to_a_point_it_is_scikit_learns_pca(estimator):
    v = np.random.default_rng(0).standard_normal((200, 4)) * [4, 3, 2, 1] + 1
    pca = PCA(2).fit(v)
    angles, errors = [], []
    for scale in (1e-1, 1e-2):
        estimator.set_params(model="tangent").fit(scale * v)
        cosines = np.linalg.svd(pca.components_ @ spread_of(estimator, 2, 4, scale).T, compute_uv=False)
        angles.append(np.arccos(np.clip(cosines[-1], -1, 1)))
        images = estimator.transform(scale * v) / scale, pca.transform(v)
        lengths = [np.linalg.norm(P[:, None] - P[None], axis=2) for P in images]
        errors.append(np.abs(lengths[0] - lengths[1]).max())
    assert angles[0] < 0.4
    if isinstance(estimator, HoroPCA):  # ends a quarter of a degree away, since nearly opposite ideal points are never linear
        assert angles[1] < 0.005 and errors[1] < errors[0] / 3
        return
    assert angles[1] < angles[0] / 10 + 1e-4  # the error falls with the square of the scale, to that of the search
    assert errors[1] < errors[0] / 5 + 1e-3


# ---- references


def test_euclidean_pca_is_scikit_learns_in_the_ball():
    pca = EuclideanPCA(2).fit(X)
    ball = from_hyperboloid(geometry.translate_to_origin(to_hyperboloid(X), to_hyperboloid(pca.mean_)))
    flat = ball @ np.linalg.svd(ball)[2][:2].T
    assert np.allclose(pairwise_distance(to_hyperboloid(flat)), pairwise_distance(to_hyperboloid(pca.transform(X))), atol=1e-9)


def test_tangent_pca_is_scikit_learns_at_the_mean():
    pca = TangentPCA(3).fit(X)
    v = from_hyperboloid(geometry.translate_to_origin(to_hyperboloid(X), to_hyperboloid(pca.mean_)), "tangent")
    theirs = PCA(3).fit(v)
    assert np.allclose(np.abs(theirs.components_ @ pca.components_.T), np.eye(3), atol=1e-7)
    small = TangentPCA(3, model="tangent").fit(1e-4 * v)  # there a pair variance is twice a variance
    assert np.allclose(small.explained_variance_, 2e-8 * theirs.explained_variance_ * (len(X) - 1) / len(X), rtol=1e-6)


# ---- models, curvatures, dtypes, libraries


@pytest.mark.parametrize("name", ALL)
def test_dtypes_and_array_libraries_come_back_out(name, xp):
    P = xp.asarray(X.astype(np.float32))
    estimator, reference = reduction(name).fit(P), reduction(name).fit(X.astype(np.float32))
    Y = estimator.transform(P)
    assert type(Y) is type(P) and Y.dtype == P.dtype
    assert np.allclose(to_numpy(Y), reference.transform(X.astype(np.float32)), atol=2e-3)
    back = estimator.inverse_transform(Y)
    assert type(back) is type(P) and back.shape == P.shape
    assert np.linalg.norm(to_numpy(Y), axis=1).max() < 1


# ---- data of every kind


@pytest.mark.parametrize("name", ALL)
def test_degenerate_data(name):
    doubled = np.concatenate([X, X, X[:5]])
    assert np.all(np.isfinite(reduction(name).fit_transform(doubled)))
    same = np.full((6, 3), 0.3)
    assert np.allclose(reduction(name).fit_transform(same), 0, atol=1e-6)
    few = np.random.default_rng(0).uniform(-0.4, 0.4, size=(3, 4))
    Y = reduction(name).fit_transform(few)
    assert np.all(np.isfinite(Y))
    if name in ("bsa", "hmds"):
        assert metrics.average_distortion(few, Y) < 1e-3  # three points span a plane


# ---- options


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize(
    ("K", "n", "message"),
    [
        (6, 40, "n_components must be .* from 1 to 5 .*but is 6"),
        (1.5, 40, "n_components must be a whole number"),
        (4, 3, "n_components must be at most the number of points, but is 4 for n_samples = 3"),
    ],
)
def test_errors_of_components(name, K, n, message):
    with pytest.raises(ValueError, match=message):
        reduction(name, K).fit(X[:n])


@pytest.mark.parametrize(
    ("estimator", "message"),
    [
        (PGA(strategy="flag"), "strategy must be one of 'joint', 'greedy', but is 'flag'"),
        (PGA(objective="beauty"), "objective must be one of 'variance', 'residual'"),
        (PGA(base_point=None), "BSA needs no base point"),
        (PGA(base_point=[0.1, 0.2]), r"base_point must be one point .*shape \(5,\), but has shape \(2,\)"),
        (PGA(base_point=[2.0, 0, 0, 0, 0]), "base_point must lie inside the unit ball"),
        (PGA(verbose="a"), "verbose must be a whole number of at least 0, or True or False, but is 'a'"),
        (TangentPCA(1.0), "a fraction of the variance between 0 and 1, or None for all, but is 1.0"),
        (RadialPCA(0.5), "This map can increase variance, so a fraction is not defined"),
        (BSA(strategy="joint"), "strategy must be one of 'flag', 'last'"),
        (HoroPCA(True), "n_components must be a whole number"),
        (HoroPCA(spine="loose"), "spine must be one of 'auto', 'ideal', 'free', but is 'loose'"),
        (HoroPCA(strategy="lazy"), "strategy must be one of 'joint', 'greedy'"),
        (HoroPCA(objective="beauty"), "objective must be one of 'auto', 'variance', 'distortion'"),
        (HoroPCA(n_init=0), "n_init must be a whole number of at least 1, or 'auto', but is 0"),
        (HoroPCA(pairs="many"), "pairs must be"),
        *((HoroPCA(n_jobs=n), "n_jobs must be None") for n in (0, "all")),
        *((HoroPCA(stretch=True, **o), "stretch=True implies spine=") for o in ({"spine": "ideal"}, {"objective": "variance"})),
        (HoroPCA(stretch=True, strategy="greedy"), "implies spine='free', objective='distortion' and strategy='joint'"),
        (HoroPCA(stretch=2.0), r"stretch must be True or False, but is 2\.0"),
        (HoroPCA(0.9, stretch=True), r"n_components must be a whole number or None, but is 0\.9"),
        (HoroPCA(tol="small"), "tol must be a positive number, but is 'small'"),
        (HoroPCA(centre="root"), "centre must be 'mean', 'origin' or a point in the model of X, but is 'root'."),
        (HoroPCA(warm_start=1), "warm_start must be True or False, but is 1."),
        (HoroPCA(0.5, warm_start=True), "n_components must be a whole number or None if warm_start=True"),
    ],
)
def test_errors_of_options(estimator, message):
    with pytest.raises(ValueError, match=message):
        estimator.fit(X)
