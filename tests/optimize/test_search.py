"""Laws of the search for spines: what it finds is never below what anybody can list."""

import numpy as np
import pytest
from benchmarks import dense
from hypothesis import given, settings
from hypothesis import strategies as st

from clouds import cloud
from horopca import HoroPCA, HyperbolicMDS, TangentPCA, geometry
from horopca._optimize.lbfgs import compose, maximise
from horopca._optimize.objectives import objective_over
from horopca.datasets import make_hierarchy
from horopca.estimators.horopca_fit import centred_sample
from horopca.geometry import from_hyperboloid, to_hyperboloid, translate_to_origin
from horopca.geometry._arrays import unit
from horopca.metrics import average_distortion, frechet_variance, pair_variance
from horopca.projections.spines import extended_spines
from horopca.statistics import frechet_mean
from horopca.statistics.pairs import pair_offsets


def clipped(seed: int, n: int = 60, d: int = 4, rim: float = 1e-5) -> np.ndarray:
    """Points as embeddings trained in a clipped ball have them: many on the clip, in a few bunches, others inside."""
    rng = np.random.default_rng(seed)
    centres = rng.standard_normal((6, d))
    u = centres[rng.integers(6, size=n)] + 0.05 * rng.standard_normal((n, d))
    u /= np.linalg.norm(u, axis=1, keepdims=True)
    return u * np.where(rng.random(n) < 0.7, 1 - rim, rng.uniform(0, 0.9, n))[:, None]


SETS = {
    "tree": lambda: make_hierarchy(branching=3, depth=3, n_features=5, random_state=0).points,
    "clipped": lambda: clipped(0),
    "cloud": lambda: from_hyperboloid(cloud(50, 4, seed=1), "poincare"),
}


def images_along(X: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Busemann coordinates (n,) of points from their mean, towards an ideal point as seen from there."""
    x = to_hyperboloid(X)
    return geometry.busemann(translate_to_origin(x, frechet_mean(x).point), q)


@settings(max_examples=8, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([1e-3, 1e-5, 1e-8]))
def test_a_single_component_is_never_below_the_best_direction_of_a_point(seed, rim):
    X = clipped(seed, n=30, d=3, rim=rim)
    y = translate_to_origin(to_hyperboloid(X), frechet_mean(to_hyperboloid(X)).point)[:, 1:]
    listed = max(2 * np.var(images_along(X, s / np.linalg.norm(s))) for s in y)
    found = HoroPCA(1, random_state=0).fit(X)
    assert found.explained_variance_[0] >= listed * (1 - 1e-8)  # a peak at radius 19 is resolved so far
    assert found.converged_


def kept(X, K, **options):
    return HoroPCA(K, random_state=0, **options).fit(X)


@pytest.mark.parametrize("name", SETS)
def test_a_larger_family_and_more_components_never_end_below(name):
    X = SETS[name]()
    d, before = X.shape[1], 0.0
    greedy = kept(X, d, strategy="greedy").explained_variance_.cumsum()
    for K in (1, 2, d):
        ideal, free = (kept(X, K, spine=spine).explained_variance_.sum() for spine in ("ideal", "free"))
        assert free >= ideal * (1 - 1e-4) and ideal >= greedy[K - 1] * (1 - 1e-4) and ideal >= before * (1 - 1e-4)
        before = ideal
    assert np.isclose(free, pair_variance(X), rtol=1e-6)  # all dimensions keep all


@pytest.mark.parametrize("name", SETS)
def test_no_other_method_or_objective_is_better_at_this_one(name):
    X = SETS[name]()
    fits = {goal: kept(X, 2, spine="free", objective=goal) for goal in ("variance", "distortion", "frechet")}
    images = {goal: fit.transform(X) for goal, fit in fits.items()}
    others = [HyperbolicMDS(2).fit_transform(X), TangentPCA(2).fit_transform(X)]
    every = [*images.values(), *others]
    assert pair_variance(images["variance"]) >= max(map(pair_variance, every)) * (1 - 1e-4)
    assert frechet_variance(images["frechet"]) >= max(map(frechet_variance, every)) * (1 - 1e-3)
    assert average_distortion(X, images["distortion"]) <= min(average_distortion(X, Y) for Y in every) * (1 + 1e-2)


def test_the_dense_reference_of_the_speed_comparison_finds_the_same_and_nothing_better():
    X = SETS["tree"]()
    ours, theirs = kept(X, 2).explained_variance_.sum(), dense.fit_dense(X, steps=150).variance
    assert 0.95 * ours < theirs <= ours * (1 + 1e-9)


@pytest.mark.parametrize("options", [{}, {"strategy": "greedy"}, {"stretch": True, "n_init": 2}])
def test_nothing_depends_on_the_seed_or_the_order_of_few_rows(options):
    X = SETS["tree"]()[:40]
    first, second = (
        HoroPCA(2, random_state=seed, **options).fit(Z)
        for seed, Z in ((0, X), (1, X[np.random.default_rng(0).permutation(40)]))
    )
    for a, b in zip(first.spine_, second.spine_, strict=True):
        assert np.array_equal(a, b)


def test_equally_good_optima_are_reported():
    """A square of points has two diagonals, as good as each other."""
    X = 0.9 * np.array([[1.0, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1e-3]])
    assert "another optimum is equally good" in HoroPCA(1, random_state=0).fit(X).status_


@pytest.mark.parametrize(
    ("kind", "n", "seed", "options"),
    [
        ("normal", 50, 6, {"n_components": 1}),
        ("far out", 150, 14, {"n_components": 1}),  # missed by 2 % without hops
        ("heavy tails", 50, 6, {}),
        ("normal", 50, 6, {"objective": "distortion"}),
        ("heavy tails", 50, 6, {"objective": "robust"}),
        ("far out", 90, 4, {"objective": "frechet"}),  # missed by 0.4 % if the pair variance ranks the starts
    ],
    ids=["K = 1", "K = 1, far out", "variance", "distortion", "robust", "frechet"],
)
def test_no_random_start_leads_higher(kind, n, seed, options):
    """Ascents on all pairs from random subspaces and from spans of data directions, without screening or rounds."""
    x = to_hyperboloid(drawn(kind, n, seed), "tangent")
    name, K = options.get("objective", "variance"), options.get("n_components", 2)
    sample, rng, count = centred_sample(x, name)[2], np.random.default_rng(0), 600 if K == 1 else 30
    light = np.pad(sample.directions()[rng.integers(n, size=(count, K))], ((0, 0), (0, 0), (1, 0)), constant_values=1.0)
    starts = np.concatenate([rng.standard_normal((count, K, x.shape[1])), light])
    objective = objective_over(sample, name, pair_offsets(n))
    best = maximise(objective, starts, max_iter=200, tol=1e-8).values.max()
    fit = HoroPCA(spine="free", model="lorentz", random_state=0, **options).fit(x)
    found = objective(fit._nested_bases.bases[-1][None], gradient=False)[0][0]
    lost = (best - found) / (1 - best if name == "distortion" else best)
    assert lost <= 1e-3


@pytest.mark.parametrize("seed", [10, 14])
def test_greedy_finds_a_second_ideal_point_that_almost_merges_with_the_first(seed):
    """On these points it is best, and attracts 2 % of all directions."""
    x = to_hyperboloid(np.random.default_rng(seed).standard_normal((80, 15)), "tangent")
    fit = HoroPCA(strategy="greedy", model="lorentz").fit(x)
    sample = centred_sample(x, "variance")[2]
    first, q = fit._nested_bases.bases[0], sample.directions()
    near = first[0, 1:] + 0.3 * np.concatenate([q, -q])[::8]
    objective = objective_over(sample, "variance", pair_offsets(80))
    ascents = maximise(compose(objective, extended_spines(first, free=False)), near, max_iter=200, tol=1e-8)
    found = objective(fit._nested_bases.bases[1][None], gradient=False)[0][0]
    assert found >= ascents.values.max() * (1 - 1e-4)


def drawn(kind, n, seed):
    rng = np.random.default_rng(seed)
    if kind == "far out":
        return rng.exponential(2, (n, 1)) * unit(rng.standard_normal((n, 20)))
    v = rng.standard_normal((n, 12)) * np.linspace(1, 0.3, 12)
    if kind == "heavy tails":
        return 0.3 * v / np.sqrt(rng.chisquare(4, (n, 1)) / 4)
    if kind == "clusters":
        return np.random.default_rng(5).standard_normal((12, 12))[rng.integers(12, size=n)] + 0.2 * v
    return v


@pytest.mark.parametrize("kind", ["normal", "heavy tails", "clusters"])
@pytest.mark.parametrize("spine", ["ideal", "free"])
def test_a_fit_of_more_rows_is_no_worse_on_pairs_that_no_fit_has_seen(kind, spine):
    X, new = drawn(kind, 8000, 1), drawn(kind, 20000, 2)
    fits = [HoroPCA(2, spine=spine, model="tangent", n_init=8, random_state=0).fit(X[:n]) for n in (1000, 8000)]
    images = [to_hyperboloid(fit.transform(new), "tangent") for fit in fits]
    few, many = (geometry.distance(y[:10000], y[10000:]) ** 2 for y in images)
    error = np.std(many - few) / 100  # of the mean of the difference of 10,000 pairs
    assert many.mean() >= 0.9995 * few.mean() - 2 * error
