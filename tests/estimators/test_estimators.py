"""Contracts of HoroPCA: scikit-learn's checks, pipelines, dtypes, array libraries, wrong input."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import SVC

from horopca import HoroPCA, TangentPCA, geometry, metrics
from horopca._input.coordinates import check_coordinates
from horopca._input.rows import check_rows
from horopca.datasets import make_hierarchy
from horopca.geometry._arrays import to_numpy
from horopca.statistics import frechet_mean, mean_relative_change

QUICK = {"n_init": 2, "random_state": 0}


@pytest.fixture(scope="module")
def X():
    return make_hierarchy(branching=3, depth=3, n_features=5, random_state=0).points


# ---- laws


@pytest.mark.parametrize("spine", ["ideal", "free"])
@pytest.mark.parametrize("objective", ["variance", "distortion"])
@pytest.mark.parametrize("strategy", ["joint", "greedy"])
def test_lengthens_no_distance_and_reports_what_it_keeps(X, spine, objective, strategy, quick_search):
    pca = HoroPCA(spine=spine, objective=objective, strategy=strategy, **QUICK).fit(X)
    Y = pca.transform(X)
    before, after = (geometry.pairwise_distance(geometry.to_hyperboloid(P)) for P in (X, Y))
    assert np.all(after <= before * (1 + 1e-9) + 1e-9)
    assert pca.explained_variance_.sum() == pytest.approx(metrics.pair_variance(Y), rel=1e-9)
    assert pca.total_variance_ == pytest.approx(metrics.pair_variance(X), rel=1e-9)
    assert np.all(pca.explained_variance_ >= 0)
    assert pca.variance_error_ == 0
    expected = pca.explained_variance_.sum() if objective == "variance" else -metrics.average_distortion(X, Y)
    assert pca.score(X) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("K", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("spine", ["ideal", "free"])
def test_every_number_of_components(X, K, spine, quick_search):
    pca = HoroPCA(K, spine=spine, **QUICK).fit(X)
    Y = pca.transform(X)
    assert Y.shape == (len(X), K)
    assert pca.explained_variance_.shape == (K,)
    if K == X.shape[1]:
        assert pca.explained_variance_ratio_.sum() == pytest.approx(1, rel=1e-6)


def test_more_components_keep_more(X):
    kept = [HoroPCA(K, spine="free", **QUICK).fit(X).explained_variance_.sum() for K in (1, 2, 3, 4)]
    assert np.all(np.diff(kept) > 0)


def test_greedy_components_are_nested(X):
    """The first of three greedy components is the best single one; joint components need not contain it."""
    one = HoroPCA(1, random_state=0).fit(X)
    greedy = HoroPCA(3, strategy="greedy", random_state=0).fit(X)
    assert greedy.explained_variance_[0] == pytest.approx(one.explained_variance_[0], rel=1e-6)
    assert np.allclose(greedy.ideal_points_[0], one.ideal_points_[0], atol=1e-4)
    two = HoroPCA(2, strategy="greedy", random_state=0).fit(X)
    assert greedy.explained_variance_.cumsum()[1] == pytest.approx(two.explained_variance_.sum(), rel=1e-3)
    joint = HoroPCA(2, random_state=0).fit(X)
    assert joint.explained_variance_.sum() >= two.explained_variance_.sum() * (1 - 1e-6)


def test_the_flag_inside_a_joint_spine_is_its_best(X):
    """No light-like vector of the spine has more variance than the first component of the nested sequence."""
    pca = HoroPCA(3, random_state=0, objective="distortion").fit(X)
    moved = geometry.translate_to_origin(geometry.to_hyperboloid(X), geometry.to_hyperboloid(pca.mean_))
    n, kappa, U, _ = pca.spine_
    for angle in np.linspace(0, 2 * np.pi, 60):
        q = n * (1 - kappa) / (1 + kappa) + 2 * np.sqrt(kappa) / (1 + kappa) * np.array([np.cos(angle), np.sin(angle)]) @ U
        line = geometry.to_hyperboloid(geometry.busemann(moved, q / np.linalg.norm(q))[:, None], "tangent")
        fidelity = 1 - mean_relative_change(moved, line)[0]
        first = geometry.to_hyperboloid(geometry.busemann(moved, pca._directions[0])[:, None], "tangent")
        assert fidelity <= 1 - mean_relative_change(moved, first)[0] + 0.02


def test_the_larger_family_keeps_at_least_as_much(X):
    ideal, free = (HoroPCA(spine=s, random_state=0).fit(X).explained_variance_.sum() for s in ("ideal", "free"))
    assert free >= ideal * (1 - 1e-6)


def test_each_objective_is_best_at_its_own(X):
    by_variance, by_distortion = (HoroPCA(spine="free", objective=o, random_state=0).fit(X) for o in ("variance", "distortion"))
    assert by_variance.explained_variance_.sum() >= by_distortion.explained_variance_.sum() * (1 - 1e-6)
    d = [metrics.average_distortion(X, p.transform(X)) for p in (by_variance, by_distortion)]
    assert d[1] <= d[0] * (1 + 1e-6)


@pytest.mark.parametrize("options", [{}, {"spine": "free"}, {"objective": "distortion"}, {"strategy": "greedy"}])
def test_reaches_the_same_optimum_wherever_the_data_sits(X, options):
    x = geometry.to_hyperboloid(X)
    Q = np.linalg.qr(np.random.default_rng(0).standard_normal((X.shape[1],) * 2))[0]
    places = [geometry.lift(np.sinh(far) * np.eye(1, X.shape[1])[0]) for far in (1.0, 6.0)]
    moved = [geometry.translate(geometry.lift(x[:, 1:] @ Q.T), place) for place in places]
    reached = [HoroPCA(model="lorentz", random_state=3, **options).fit(p).score(p) for p in (x, *moved)]
    assert reached[1:] == pytest.approx(reached[:1] * 2, rel=1e-6)


def test_two_fits_draw_the_same_picture(X):
    pictures = [HoroPCA(spine="free", random_state=seed).fit_transform(X) for seed in (0, 1)]
    assert np.allclose(*pictures, atol=1e-3)


def test_the_frame_is_canonical(X):
    Y = HoroPCA(**QUICK).fit_transform(X)
    v = geometry.from_hyperboloid(geometry.to_hyperboloid(Y), "tangent")
    assert np.allclose(v.mean(axis=0), 0, atol=1e-9)  # the Fréchet mean: where the logarithms add up to nothing
    second = v.T @ v / len(v)
    assert abs(second[0, 1]) < 1e-9 * second[0, 0]
    assert second[0, 0] >= second[1, 1]
    assert np.all(np.sum(v**3, axis=0) > 0)


@pytest.mark.parametrize("options", [{}, {"spine": "free"}, {"n_components": 3, "strategy": "greedy"}])
def test_inverse_transform_goes_back_on_the_submanifold(X, options):
    pca = HoroPCA(**QUICK, **options).fit(X)
    Y = pca.transform(X)
    back = pca.inverse_transform(Y)
    assert back.shape == X.shape
    assert np.allclose(pca.transform(back), Y, atol=1e-8)
    assert metrics.pair_variance(back) == pytest.approx(metrics.pair_variance(Y), rel=1e-8)


@pytest.mark.parametrize("model", ["poincare", "lorentz"])
@pytest.mark.parametrize("spine", ["ideal", "free"])
def test_the_nested_projections_have_their_ways_back(X, model, spine, quick_search):
    points = geometry.from_hyperboloid(geometry.to_hyperboloid(X), model)
    pca = HoroPCA(3, spine=spine, model=model, **QUICK).fit(points)
    for k in (1, 2, 3):
        Y = pca.transform(points, n_components=k)
        back = pca.inverse_transform(Y)
        assert np.allclose(pca.transform(back, n_components=k), Y, atol=1e-7)
        assert metrics.pair_variance(back, model=model) == pytest.approx(metrics.pair_variance(Y, model=model), rel=1e-7)
    with pytest.raises(ValueError, match=r"Y must have [12] to [34] columns, as the output of transform has, but has 5"):
        pca.inverse_transform(geometry.from_hyperboloid(geometry.to_hyperboloid(X[:, : 5 - (model == "lorentz")]), model))


@pytest.mark.parametrize("options", [{"n_components": 1}, {}, {"strategy": "greedy", "n_components": 3}])
def test_busemann_coordinates_are_kept_by_the_projection(X, options):
    pca = HoroPCA(**QUICK, **options).fit(X)
    coordinates = pca.busemann(X)
    assert coordinates.shape == (len(X), pca.n_components)
    assert np.allclose(np.linalg.norm(pca.ideal_points_, axis=1), 1)
    assert np.allclose(pca.busemann(pca.inverse_transform(pca.transform(X))), coordinates, atol=1e-6)
    # zero at the mean, and the geometry's own Busemann functions but for that constant
    assert np.allclose(pca.busemann(pca.mean_[None]), 0, atol=1e-9)
    for column, q in zip(coordinates.T, pca.ideal_points_, strict=True):
        assert np.ptp(geometry.busemann(geometry.to_hyperboloid(X), q) - column) < 1e-9


def test_shrunk_to_a_point_it_is_scikit_learns_pca():
    v = np.random.default_rng(0).standard_normal((200, 4)) * [4, 3, 2, 1]
    angles = []
    for scale in (1e-1, 1e-2):
        for spine in ("ideal", "free"):
            pca = HoroPCA(2, model="tangent", spine=spine, random_state=0).fit(scale * v)
            axes = np.concatenate([pca.spine_.n[None], pca.spine_.U])
            cosines = np.linalg.svd(PCA(2).fit(v).components_ @ axes.T, compute_uv=False)
            angles.append(np.arccos(np.clip(cosines[-1], -1, 1)))
    assert max(angles[:2]) < 0.2
    assert max(angles[2:]) < max(angles[:2]) / 3 + 1e-4


# ---- models, curvatures, dtypes, libraries


@pytest.mark.parametrize("model", ["lorentz", "klein", "halfspace", "tangent"])
def test_every_model_gives_the_same_picture(X, model):
    poincare = HoroPCA(random_state=0).fit_transform(X)
    theirs = geometry.from_hyperboloid(geometry.to_hyperboloid(X), model)
    Y = HoroPCA(model=model, random_state=0).fit_transform(theirs)
    assert Y.shape == (len(X), 3 if model == "lorentz" else 2)
    assert np.allclose(geometry.from_hyperboloid(geometry.to_hyperboloid(Y, model)), poincare, atol=1e-5)


@pytest.mark.parametrize("model", ["poincare", "lorentz", "halfspace", "tangent"])
def test_curvature_is_a_unit_of_length(X, model, quick_search):
    curvature = -0.25  # lengths are doubled
    points = geometry.from_hyperboloid(geometry.to_hyperboloid(X), model)
    scaled = points if model == "halfspace" else 2 * points
    one = HoroPCA(model=model, **QUICK).fit(points)
    two = HoroPCA(model=model, curvature=curvature, **QUICK).fit(scaled)
    assert np.allclose(two.explained_variance_, 4 * one.explained_variance_)
    assert two.total_variance_ == pytest.approx(4 * one.total_variance_)
    assert np.allclose(two.transform(scaled), one.transform(points) * (1 if model == "halfspace" else 2))
    assert np.allclose(two.busemann(scaled), 2 * one.busemann(points), atol=1e-9)
    assert two.score(scaled) == pytest.approx(4 * one.score(points))


def test_the_error_is_in_the_users_unit_too(X, monkeypatch):
    monkeypatch.setattr("horopca._optimize.variances.EXACT_ROWS", 10)
    one, two = HoroPCA(**QUICK).fit(X), HoroPCA(curvature=-0.25, **QUICK).fit(2 * X)
    assert two.variance_error_ == pytest.approx(4 * one.variance_error_, rel=1e-6)


def test_fewer_pairs_are_another_climb(X):
    few, many = (HoroPCA(pairs=p, **QUICK).fit(X) for p in (1, "all"))
    assert not np.allclose(few.transform(X), many.transform(X), atol=1e-8)
    assert np.array_equal(many.transform(X), HoroPCA(pairs="auto", **QUICK).fit(X).transform(X))


@pytest.mark.parametrize("objective", ["variance", "distortion"])
def test_the_score_does_not_depend_on_the_order_of_rows(monkeypatch, objective):
    v = np.random.default_rng(0).standard_normal((400, 3)) * [2, 0.3, 0.3]
    v = v[v[:, 0].argsort()]
    pca = HoroPCA(model="tangent", objective=objective, **QUICK).fit(v)
    exact = pca.score(v)
    monkeypatch.setattr("horopca.estimators.scores.EXACT_ROWS", 10)
    monkeypatch.setattr("horopca.estimators.scores.REPORTED_PAIRS", 400 * 20)
    assert pca.score(v) == pytest.approx(exact, rel=0.1)


def test_sorted_rows_are_shuffled(monkeypatch):
    """Rows in the order of one coordinate: neighbouring rows are close, and unshuffled pairs would not be typical."""
    monkeypatch.setattr("horopca._optimize.variances.EXACT_ROWS", 10)
    monkeypatch.setattr("horopca._optimize.variances.REPORTED_PAIRS", 400 * 20)
    v = np.random.default_rng(0).standard_normal((400, 3)) * [2, 0.3, 0.3]
    v = v[v[:, 0].argsort()]
    pca = HoroPCA(model="tangent", **QUICK).fit(v)
    assert abs(pca.total_variance_ - metrics.pair_variance(v, model="tangent")) < 0.1 * pca.total_variance_


def test_float32_stays_float32_and_agrees(X):
    pca = HoroPCA(random_state=0).fit(X.astype(np.float32))
    Y = pca.transform(X.astype(np.float32))
    assert Y.dtype == np.float32
    assert pca.busemann(X.astype(np.float32)).dtype == np.float32
    assert pca.explained_variance_.sum() == pytest.approx(HoroPCA(random_state=0).fit(X).explained_variance_.sum(), rel=1e-3)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_array_libraries_come_back_out(X, xp, dtype, quick_search):
    P = xp.asarray(X.astype(dtype))
    pca = HoroPCA(**QUICK).fit(P)
    reference = HoroPCA(**QUICK).fit(X.astype(dtype))
    for ours, theirs in [
        (pca.transform(P), reference.transform(X.astype(dtype))),
        (pca.busemann(P), reference.busemann(X.astype(dtype))),
        (pca.inverse_transform(pca.transform(P)), reference.inverse_transform(reference.transform(X.astype(dtype)))),
    ]:
        assert type(ours) is type(P)
        assert ours.dtype == P.dtype
        assert np.allclose(to_numpy(ours), theirs, atol=2e-3 if dtype == "float32" else 1e-5)


def test_output_that_float32_cannot_tell_from_the_boundary_stays_inside():
    u = np.random.default_rng(0).standard_normal((60, 3))
    x = geometry.lift(np.sinh(25.0) * u / np.linalg.norm(u, axis=1, keepdims=True))  # 1 - |z| is 3e-11
    coordinates = check_coordinates("poincare", -1.0)
    Z = coordinates.from_hyperboloid(x, np.dtype(np.float32))
    size = np.linalg.norm(Z.astype(float), axis=1)
    assert np.all(size < 1)
    assert np.all(size > 1 - 1e-6)
    assert check_rows(Z, coordinates).shape == (60, 4)


@pytest.mark.parametrize("model", ["poincare", "klein", "lorentz", "halfspace", "tangent"])
@pytest.mark.parametrize("curvature", [-1.0, -0.3, -7.0])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_what_leaves_by_the_door_may_enter_again(model, curvature, dtype):
    rng = np.random.default_rng(0)
    u = rng.standard_normal((2000, 6))
    radius = rng.uniform(0, 12 if model in ("lorentz", "halfspace") and dtype == np.float32 else 60, size=(2000, 1))
    x = geometry.lift(np.sinh(radius) * u / np.linalg.norm(u, axis=1, keepdims=True))
    coordinates = check_coordinates(model, curvature)
    again = check_rows(coordinates.from_hyperboloid(x, np.dtype(dtype)), coordinates)
    assert again.X.dtype == dtype
    assert np.all(np.isfinite(again.all()))


def test_float32_hyperboloids_are_accepted_and_others_not():
    x = geometry.lift(np.sinh(np.linspace(0, 7, 20))[:, None] * np.array([[0.6, 0.8]]))
    coordinates = check_coordinates("lorentz", -1.0)
    assert check_rows(x.astype(np.float32), coordinates).shape == (20, 3)
    with pytest.raises(ValueError, match="must lie on the hyperboloid"):
        check_rows(x * [1.001, 1, 1], coordinates)


def test_read_only_input_is_left_alone(X):
    frozen = X.copy()
    frozen.flags.writeable = False
    HoroPCA(**QUICK).fit_transform(frozen)
    assert np.array_equal(frozen, X)


# ---- a scikit-learn citizen


def test_fixed_seeds_give_the_same_answer(X):
    one, two = (HoroPCA(random_state=7).fit_transform(X) for _ in range(2))
    assert np.array_equal(one, two)


def test_pickles_and_clones(X):
    pca = HoroPCA(spine="free", **QUICK).fit(X)
    assert np.array_equal(pickle.loads(pickle.dumps(pca)).transform(X), pca.transform(X))
    assert clone(pca).get_params() == pca.get_params()


def test_works_in_a_pipeline_and_a_grid_search(X, quick_search):
    y = np.arange(len(X)) % 2
    features = FunctionTransformer(lambda Z: Z)
    pipeline = make_pipeline(HoroPCA(**QUICK), features, StandardScaler(), SVC()).fit(X, y)
    assert pipeline.predict(X).shape == y.shape
    search = GridSearchCV(HoroPCA(spine="free", **QUICK), {"n_components": [1, 2]}, cv=2).fit(X)
    assert search.best_params_ == {"n_components": 2}


def test_speaks_to_data_frames(X):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X, columns=[f"x{i}" for i in range(X.shape[1])])
    pca = HoroPCA(**QUICK).set_output(transform="pandas").fit(frame)
    out = pca.transform(frame)
    assert list(out.columns) == list(pca.get_feature_names_out()) == ["horopca0", "horopca1"]
    assert list(pca.feature_names_in_) == list(frame.columns)


def test_verbose_speaks_on_stderr_only(X, capsys):
    HoroPCA(verbose=1, **QUICK).fit(X)
    out, err = capsys.readouterr()
    assert out == ""
    assert "round 2, " in err


@pytest.mark.parametrize(
    "call", [HoroPCA.fit, HoroPCA.fit_transform, HoroPCA.partial_fit, lambda pca, X: make_pipeline(pca).fit(X)]
)
def test_a_warning_that_it_stopped_early_points_at_the_line_of_the_caller(X, call):
    pca = HoroPCA(max_iter=1, tol=1e-15, n_init=2, random_state=0)
    with pytest.warns(ConvergenceWarning, match=r"HoroPCA stopped at max_iter without converging\. Raise max_iter") as caught:
        call(pca, X)
    assert caught[0].filename == __file__
    assert not pca.converged_ and "max_iter" in pca.status_ and pca.n_iter_ == 1


# ---- data of every kind


def test_duplicates_and_constant_columns(X):
    doubled = np.concatenate([X, X, X[:5]])
    assert np.all(np.isfinite(HoroPCA(objective="distortion", **QUICK).fit_transform(doubled)))
    flat = X.copy()
    flat[:, 2] = 0
    pca = HoroPCA(4, spine="free", **QUICK).fit(flat)
    assert pca.explained_variance_ratio_.sum() == pytest.approx(1, rel=1e-6)


@pytest.mark.parametrize("objective", ["variance", "distortion"])
def test_points_that_all_coincide(objective):
    same = np.full((6, 3), 0.3)
    pca = HoroPCA(objective=objective, **QUICK).fit(same)
    assert np.allclose(pca.transform(same), 0, atol=1e-7)
    assert np.array_equal(pca.explained_variance_ratio_, [1, 0])


@pytest.mark.parametrize("n", [2, 3])
def test_very_few_points(n):
    few = np.random.default_rng(0).uniform(-0.4, 0.4, size=(n, 4))
    Y = HoroPCA(spine="free", **QUICK).fit_transform(few)
    assert metrics.average_distortion(few, Y) < 0.05  # two or three points span a plane


def test_points_on_a_clip_near_the_boundary():
    u = np.random.default_rng(0).standard_normal((100, 4))
    clipped = (1 - 1e-5) * u / np.linalg.norm(u, axis=1, keepdims=True)
    Y = HoroPCA(**QUICK).fit_transform(clipped)
    assert np.all(np.isfinite(Y))
    assert np.linalg.norm(Y, axis=1).max() < 1


def test_far_lorentz_points_do_not_saturate():
    rng = np.random.default_rng(0)
    u = rng.standard_normal((60, 3))
    u /= np.linalg.norm(u, axis=1, keepdims=True)
    x = geometry.lift(np.sinh(rng.uniform(100, 175, size=(60, 1))) * u)
    pca = HoroPCA(model="lorentz", **QUICK).fit(x)
    assert np.all(np.isfinite(pca.transform(x)))
    assert pca.explained_variance_ratio_.sum() > 0.5


def test_large_samples_are_searched_on_a_subset(monkeypatch, X):
    monkeypatch.setattr("horopca.estimators.horopca_fit.search_rows", lambda _: 30)
    pca = HoroPCA(**QUICK).fit(X)
    whole = metrics.pair_variance(pca.transform(X))
    best = HoroPCA(**QUICK)
    monkeypatch.undo()
    assert whole > 0.9 * best.fit(X).explained_variance_.sum()


def test_subset_or_not_the_report_and_the_mean_are_of_all_rows(monkeypatch, X):
    monkeypatch.setattr("horopca.estimators.horopca_fit.search_rows", lambda _: 25)
    monkeypatch.setattr("horopca._optimize.variances.EXACT_ROWS", 10)
    monkeypatch.setattr("horopca._optimize.variances.REPORTED_PAIRS", 4000)
    pca = HoroPCA(**QUICK).fit(X)
    Y = pca.transform(X)
    assert abs(pca.explained_variance_.sum() - metrics.pair_variance(Y)) < 4 * pca.variance_error_
    assert abs(pca.total_variance_ - metrics.pair_variance(X)) < 0.2 * pca.total_variance_
    assert np.allclose(pca.mean_, HoroPCA(**QUICK).fit(X).mean_)


def test_rows_that_a_kernel_lost_are_mapped_again_wherever_they_live(monkeypatch, tmp_path, X):
    # a kernel hands back NaN for rows that it cannot tell: here a device is played by the host, with rows of a mapped file
    np.save(tmp_path / "X.npy", X)
    pca = HoroPCA(**QUICK).fit(X)
    expected = pca.transform(X)

    def images_of_rows(rows, model, scale, slide):
        images = expected.copy()
        images[::7] = np.nan
        return images, True, False

    monkeypatch.setattr("horopca.estimators.horopca.usable_for", lambda *about: True)
    monkeypatch.setattr("horopca.estimators.horopca.images_of_rows", images_of_rows)
    assert np.allclose(pca.transform(np.load(tmp_path / "X.npy", mmap_mode="r")), expected, atol=1e-12)


def test_ideal_points_are_there_whenever_the_spine_is_ideal():
    """Also where the optimum has all but merged them."""
    X = make_hierarchy(branching=4, depth=3, n_features=5, random_state=1).points
    for seed in range(4):
        pca = HoroPCA(random_state=seed, n_init=4).fit(X)
        assert pca.spine_.kappa >= -1e-12
        assert pca.busemann(X).shape == (len(X), 2)


@pytest.mark.parametrize("far", [12.0, 100.0, 170.0])
def test_equal_points_far_out_are_their_own_mean(far):
    x = np.repeat(geometry.lift(np.sinh(far) * np.array([[1, 2, 3, 4]]) / np.sqrt(30)), 5, axis=0)
    pca = HoroPCA(model="lorentz", **QUICK).fit(x)
    assert np.allclose(pca.mean_, x[0], rtol=1e-12)
    assert np.allclose(pca.transform(x), geometry.origin(2), atol=1e-6)


def test_a_cloud_far_out_has_a_mean_at_once():
    v = np.random.default_rng(0).standard_normal((300, 10))
    far = geometry.lift(np.sinh(12.0) * np.arange(1.0, 11) / np.linalg.norm(np.arange(1.0, 11)))
    mean = frechet_mean(geometry.translate(geometry.to_hyperboloid(v, "tangent"), far))
    assert mean.converged
    assert mean.n_iter < 15


def test_large_samples_report_an_error(monkeypatch, X):
    monkeypatch.setattr("horopca._optimize.variances.EXACT_ROWS", 10)
    monkeypatch.setattr("horopca._optimize.variances.REPORTED_PAIRS", 10 * len(X))
    pca = HoroPCA(**QUICK).fit(X)
    exact = metrics.pair_variance(pca.transform(X))
    assert 0 < pca.variance_error_ < 0.2 * exact
    assert abs(pca.explained_variance_.sum() - exact) < 5 * pca.variance_error_
    assert pca.explained_variance_ratio_.sum() <= 1


# ---- wrong input


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"n_components": 0}, "n_components must be a whole number from 1 to 5"),
        ({"n_components": 6}, "n_components must be a whole number from 1 to 5 .*but is 6"),
        ({"n_components": 1.5}, "n_components must be a whole number"),
        ({"n_components": True}, "n_components must be a whole number"),
        ({"spine": "loose"}, "spine must be one of 'auto', 'ideal', 'free', but is 'loose'"),
        ({"strategy": "lazy"}, "strategy must be one of 'joint', 'greedy'"),
        ({"objective": "beauty"}, "objective must be one of 'auto', 'variance', 'distortion'"),
        ({"model": "sphere"}, "model must be one of 'poincare', .*, 'auto', but is 'sphere'"),
        ({"curvature": 0.5}, "curvature must be a negative number .*but is 0.5"),
        ({"curvature": float("nan")}, "curvature must be a negative number"),
        ({"n_init": 0}, "n_init must be a whole number of at least 1, or 'auto', but is 0"),
        ({"pairs": "many"}, "pairs must be"),
        ({"max_iter": 0}, "max_iter must be"),
        ({"tol": -1}, "tol must be a positive number, but is -1"),
        ({"tol": "small"}, "tol must be a positive number, but is 'small'"),
        ({"model": ["poincare"]}, "model must be one of"),
        ({"pairs": np.arange(3)}, "pairs must be a whole number"),
        ({"curvature": -1e-300}, "curvature must be a negative number"),
    ],
)
def test_wrong_options_are_refused_in_a_sentence(X, options, sentence):
    with pytest.raises(ValueError, match=sentence):
        HoroPCA(**options).fit(X)


def test_points_outside_the_ball_are_refused(X):
    X = X.copy()
    X[17] *= 1.2 / np.linalg.norm(X[17])
    with pytest.raises(ValueError, match=r"X must lie inside the unit ball, but row 17 has norm 1\.2.*model='lorentz'"):
        HoroPCA().fit(X)
    X[17] = 1.0001 * np.eye(1, X.shape[1])
    with pytest.raises(ValueError, match=r"1\.0001\..*at most 0\.0001, .*horopca\.geometry\.clip\(X, 1e-5\) moves"):
        HoroPCA().fit(X)
    assert TangentPCA(2).fit_transform(geometry.clip(X, 1e-5)).shape == (len(X), 2)
    with pytest.raises(ValueError, match=r"the ball of radius 0\.5"):
        HoroPCA(curvature=-4).fit(X)


def test_points_off_the_hyperboloid_are_refused(X):
    x = geometry.to_hyperboloid(X)
    with pytest.raises(ValueError, match=r"X must lie on the hyperboloid.*Its curvature would be -0\.25"):
        HoroPCA(model="lorentz").fit(2 * x)
    with pytest.raises(ValueError, match="X must lie on the hyperboloid"):
        HoroPCA(model="lorentz").fit(-x)
    with pytest.raises(ValueError, match="at least 2 columns"):
        HoroPCA(1, model="lorentz").fit(np.ones((4, 1)))


def test_other_models_refuse_what_they_cannot_hold(X):
    with pytest.raises(ValueError, match="heights > 0 in its last column"):
        HoroPCA(model="halfspace").fit(X)
    for model, far in (("tangent", 1000 * X), ("halfspace", np.abs(X) * 1e-300 + 1e-308), ("halfspace", 1e160 + np.abs(X))):
        with pytest.raises(ValueError, match="within hyperbolic distance 175"):
            HoroPCA(model=model).fit(far)


def test_a_failed_fit_is_not_a_fit(X):
    pca = HoroPCA(n_components=99)
    with pytest.raises(ValueError, match="n_components"):
        pca.fit(X)
    with pytest.raises(NotFittedError):
        pca.transform(X)


def test_refitting_forgets_the_column_names(X):
    pd, torch = pytest.importorskip("pandas"), pytest.importorskip("torch")
    frame = pd.DataFrame(X, columns=[f"x{i}" for i in range(X.shape[1])])
    pca = HoroPCA(**QUICK).fit(frame).fit(torch.tensor(X))
    assert not hasattr(pca, "feature_names_in_")


def test_not_a_number_and_too_few_rows_are_refused(X):
    broken = X.copy()
    broken[3, 1] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        HoroPCA().fit(broken)
    with pytest.raises(ValueError, match="at least 2 rows, but has 1"):
        HoroPCA().fit(X[:1])
    with pytest.raises(ValueError, match="2D array"):
        HoroPCA().fit(X[0])


def test_torch_is_checked_as_well(X):
    torch = pytest.importorskip("torch")
    broken = torch.tensor(X)
    broken[3, 1] = torch.nan
    with pytest.raises(ValueError, match="row 3 contains NaN"):
        HoroPCA().fit(broken)
    with pytest.raises(ValueError, match="2-D array"):
        HoroPCA().fit(torch.tensor(X[0]))
    with pytest.raises(ValueError, match="at least 2 rows"):
        HoroPCA().fit(torch.tensor(X[:1]))
    pca = HoroPCA(**QUICK).fit(torch.tensor(X))
    with pytest.raises(ValueError, match="has 3 features, but HoroPCA is expecting 5"):
        pca.transform(torch.tensor(X[:, :3]))


def test_inverse_transform_checks_its_columns(X):
    pca = HoroPCA(**QUICK).fit(X)
    with pytest.raises(ValueError, match="Y must have 1 to 2 columns"):
        pca.inverse_transform(np.zeros((3, 3)))


def test_busemann_says_when_there_are_no_ideal_points(X):
    pca = HoroPCA(spine="free", random_state=0).fit(X)
    if pca.ideal_points_ is None:
        with pytest.raises(ValueError, match="spine='ideal'"):
            pca.busemann(X)
    else:
        assert pca.spine_.kappa >= 0
