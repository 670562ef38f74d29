"""Means and variances: laws and limits."""

import numpy as np
import pytest

from clouds import cloud, rotation, turned
from horopca.geometry import distance, from_hyperboloid, lift, pairwise_distance, to_hyperboloid, translate, translate_to_origin
from horopca.geometry._arrays import to_numpy
from horopca.statistics.means import Status, frechet_mean, frechet_means, frechet_median, principal_axes, variance_about
from horopca.statistics.pairs import mean_square_distance, pair_distances, sampled_mean_square_distance

COSTS = {frechet_mean: variance_about, frechet_median: lambda x, point: float(np.mean(distance(x, point)))}
SIZES = [(60, 4, 0.5), (60, 4, 12.0), (60, 4, 60.0), (7, 1, 2.0), (3, 2, 1.0), (2, 3, 2.0)]


@pytest.mark.parametrize("radius", [1e-6, 5.0, 100.0])
def test_the_means_of_several_sets_are_those_of_each(radius):
    sets = np.stack([cloud(30, 3, radius=radius, seed=seed) for seed in range(4)])
    weights = np.random.default_rng(0).dirichlet(np.ones(30))
    for mean, x in zip(frechet_means(sets, weights), sets, strict=True):
        variance = frechet_mean(x, weights=weights).variance
        assert variance_about(x, mean, weights) == pytest.approx(variance, rel=1e-12)


@pytest.mark.parametrize("middle", COSTS)
@pytest.mark.parametrize(("n", "d", "radius"), SIZES)
def test_the_mean_and_the_median_are_minima(middle, n, d, radius):
    """No step lowers the cost, nor is any of the points better; of a wide triangle one corner is the median."""
    x = cloud(n, d, radius=radius)
    found, cost = middle(x), lambda point: COSTS[middle](x, point)
    assert found.converged and found.n_iter < 100 and found.variance == pytest.approx(variance_about(x, found.point))
    least = cost(found.point)
    assert least <= min(map(cost, x)) + 1e-9 * radius
    for step in np.random.default_rng(0).standard_normal((20, d)) * 1e-2:
        assert cost(translate(lift(step), found.point)) > least - 1e-9 * radius


def test_the_variance_is_at_most_half_the_pair_variance_and_equal_for_small_data():
    x, tiny = cloud(60, 4, radius=5.0), lift(1e-5 * np.random.default_rng(0).standard_normal((50, 3)))
    assert frechet_mean(x).variance <= mean_square_distance(x) / 2
    assert frechet_mean(tiny).variance / mean_square_distance(tiny) == pytest.approx(0.5, rel=1e-8)


def test_the_median_on_a_line_is_the_median_and_between_two_points_anywhere():
    along = np.array([-3.0, -1.0, 0.5, 2.0, 7.0])
    found = frechet_median(lift(np.sinh(along)[:, None] * np.array([0.6, 0.8])))
    np.testing.assert_allclose(found.point, lift(np.sinh(0.5) * np.array([0.6, 0.8])), atol=1e-7)
    for seed in range(40):
        a = np.sort(np.random.default_rng(seed).normal(size=50))
        found = frechet_median(lift(np.sinh(a)[:, None]))
        assert found.converged and a[24] - 1e-8 <= np.arcsinh(found.point[1]) <= a[25] + 1e-8


@pytest.mark.parametrize("middle", [frechet_mean, frechet_median])
def test_the_mean_and_the_median_move_with_the_data(middle):
    x, m, Q = cloud(60, 4, radius=8), cloud(1, 4, seed=3)[0], rotation(4)
    expected = translate(turned(middle(x).point[None], Q), m)[0]
    assert distance(middle(translate(turned(x, Q), m)).point, expected) < 1e-8


def test_the_median_does_not_move_with_a_few_of_its_points():
    x = cloud(60, 4, radius=3)
    far = np.concatenate([x, np.repeat(lift(np.sinh(30.0) * np.eye(4)[:1]), 25, axis=0)])
    assert distance(frechet_median(far).point, frechet_median(x).point) < 2
    assert distance(frechet_mean(far).point, frechet_mean(x).point) > 5
    near = frechet_median(far, start=frechet_median(x).point)  # from another start
    assert distance(near.point, frechet_median(far).point) < 1e-7


def test_the_median_of_equal_points_is_one_of_them_and_of_most_points_too():
    x = cloud(9, 3, radius=6.0)
    for middle in (frechet_mean, frechet_median):
        for same in (x[:1], np.repeat(x[:1], 7, axis=0)):
            assert middle(same).converged and np.allclose(middle(same).point, x[0]) and middle(same).variance < 1e-20
        assert middle(x, max_iter=1).status is Status.MAX_ITER and not middle(x, max_iter=1).converged
    most = np.concatenate([np.repeat(x[:1], 10, axis=0), x[1:]])
    assert distance(frechet_median(most).point, x[0]) < 1e-7


@pytest.mark.parametrize("middle", [frechet_mean, frechet_median])
@pytest.mark.parametrize("radius", [10.0, 30.0, 60.0])
def test_a_far_start_leads_to_the_same_point(middle, radius):
    """A full Newton step from there would overshoot, and rounding hides how the points differ."""
    x = cloud(40, 3, radius=1)
    found = middle(x, start=lift(np.sinh(radius) * np.array([0.0, 0.6, 0.8])))
    assert found.converged and distance(found.point, middle(x).point) < 1e-8


def test_pair_variance_is_the_papers_double_sum():
    x = cloud(37, 3)
    double_sum = np.mean(pairwise_distance(x) ** 2)
    assert mean_square_distance(x) == pytest.approx(double_sum, rel=1e-13)
    line = cloud(50, 1)  # on which no pairs are needed
    assert mean_square_distance(line) == pytest.approx(np.mean(pairwise_distance(line) ** 2), rel=1e-12)
    many = cloud(1100, 2)  # in several blocks
    assert len(list(pair_distances(many))) > 10
    assert mean_square_distance(many) == pytest.approx(np.mean(pairwise_distance(many) ** 2), rel=1e-12)


def test_sampled_pair_variance_is_unbiased_within_its_error():
    x = cloud(400, 3)
    offsets = np.random.default_rng(0).choice(199, size=20, replace=False) + 1
    value, error = sampled_mean_square_distance(x, offsets)
    assert abs(value - mean_square_distance(x)) < 4 * error
    for some in (x[:399], lift(1e-6 * x[:399, 1:])):  # arccosh would leave three digits of short distances
        ratio = sampled_mean_square_distance(some, range(1, 200))[0] / mean_square_distance(some)
        assert ratio == pytest.approx(1, rel=1e-9)


def test_principal_axes_turn_with_the_data():
    v = np.random.default_rng(0).standard_normal((300, 3)) * [3, 2, 1] + np.random.default_rng(1).exponential(size=(300, 3))
    x = to_hyperboloid(v, "tangent")
    x = translate_to_origin(x, frechet_mean(x).point)
    Q = rotation(3)
    axes, variances = principal_axes(x)
    turned_axes, turned_variances = principal_axes(turned(x, Q))
    assert np.allclose(variances, turned_variances)
    assert np.all(np.diff(variances) < 0)
    assert np.allclose(turned_axes, axes @ Q.T)


@pytest.mark.parametrize(
    ("along", "sign"),
    [
        ([3.0, 3, 3, 3, -4, -2, -2, -2, -2], 1),  # the sum of cubes is 12, though the farthest is at -4
        ([-3.0, -3, -3, -3, 4, 2, 2, 2, 2], -1),
        ([1.0, 1, 1, 1, 1, 1, 1, 1, -2, 0], -1),  # the sum of cubes is 0, the farthest at -2
    ],
)
def test_axes_point_to_the_positive_third_moment_else_to_the_farthest_point(along, sign):
    a = np.array(along)
    axes, _ = principal_axes(to_hyperboloid(np.column_stack([a, 0 * a]), "tangent"))
    assert axes[0, 0] == pytest.approx(sign)


def test_every_array_library_has_the_same_mean(xp):
    x = cloud(50, 3)
    mean = frechet_mean(xp.asarray(x))
    assert isinstance(mean.point, type(xp.asarray(x)))
    assert np.allclose(to_numpy(mean.point), frechet_mean(x).point, atol=1e-12)
    assert mean_square_distance(xp.asarray(x)) == pytest.approx(mean_square_distance(x), rel=1e-12)
    assert np.allclose(principal_axes(xp.asarray(x))[0], principal_axes(x)[0])


def test_the_last_smoothing_of_the_median_is_tol_times_the_spread():
    x = cloud(60, 4, radius=5)
    exact = frechet_median(x).point
    away = [distance(frechet_median(x, tol=tol).point, exact) for tol in (1.0, 0.1, 1e-3)]
    assert away[0] > away[1] > away[2] > 0
    assert away[0] < distance(frechet_mean(x).point, exact)


def test_no_steps_return_the_start():
    x = cloud(5, 2)
    for count in (0, -1):
        mean = frechet_mean(x, start=x[0], max_iter=count)
        assert not mean.converged and mean.n_iter == 0 and np.array_equal(mean.point, x[0])


def test_errors_of_the_mean_and_the_median():
    x = cloud(5, 2)
    for middle in (frechet_mean, frechet_median):
        with pytest.raises(ValueError, match=r"x must hold at least one point .* but has shape \(0, 3\)"):
            middle(x[:0])
    for call in (frechet_mean, frechet_median, mean_square_distance, lambda x, weights: variance_about(x, x[0], weights)):
        with pytest.raises(ValueError, match=r"weights must be one number for each of the 5 points, but have shape \(3,\)"):
            call(x, weights=np.ones(3))
        for weights in (np.zeros(5), [-1, 1, 1, 1, 1], [np.nan, 1, 1, 1, 1]):
            with pytest.raises(ValueError, match="weights must be finite and non-negative, and not all zero"):
                call(x, weights=weights)
        with pytest.raises(ValueError, match="weights must be an array of numbers"):
            call(x, weights=["a"] * 5)
    for wrong in (x[0, 1:], 0 * x[0], np.nan * x[0]):
        for call in (lambda point: frechet_mean(x, start=point), lambda point: variance_about(x, point)):
            with pytest.raises(ValueError, match=r"(start|point) must be a point of the hyperboloid of shape \(3,\)"):
                call(wrong)
    ball = from_hyperboloid(x, "poincare")
    for function in (frechet_mean, frechet_median, mean_square_distance):
        with pytest.raises(ValueError, match=r"time first, but row 0 is .* Convert points of other models with to_hyperboloid"):
            function(ball)
    x[1, 1] = np.nan
    for function in (frechet_mean, frechet_median, mean_square_distance):
        with pytest.raises(ValueError, match="x must hold finite points"):
            function(x)


def test_fewer_points_than_dimensions_have_the_same_mean_and_axes_as_in_their_span():
    """In more than 512 dimensions n points are rotated into H^n: with n > d nothing is rotated."""
    x = cloud(30, 20, seed=5)
    Q = np.linalg.qr(np.random.default_rng(0).standard_normal((600, 20)))[0]
    high = np.concatenate([x[:, :1], x[:, 1:] @ Q.T], axis=1)
    low, there = frechet_mean(x), frechet_mean(high)
    assert there.converged and np.allclose(there.point[1:], Q @ low.point[1:], atol=1e-12)
    axes, variances = principal_axes(high)
    expected, sizes = principal_axes(x)
    assert np.allclose(axes @ axes.T, np.eye(600), atol=1e-12) and np.allclose(variances[:20], sizes, rtol=1e-12)
    assert np.allclose(axes[:20], expected @ Q.T, atol=1e-9)


@pytest.mark.parametrize("kind", ["float32", "float16", "bfloat16", "gradients"])
def test_low_precision_and_tensors_with_gradients_are_computed_in_float64(kind):
    """Newton's method would not converge in low precision."""
    torch = pytest.importorskip("torch")
    x = torch.as_tensor(cloud(40, 3)).requires_grad_() if kind == "gradients" else cloud(40, 3)
    x = x if kind == "gradients" else torch.as_tensor(x).to(getattr(torch, kind))
    exact = lift(x.detach().double().numpy()[:, 1:])
    for found, expected in ((frechet_mean(x), frechet_mean(exact)), (frechet_median(x), frechet_median(exact))):
        assert found.converged and found.point.dtype == torch.float64 and not found.point.requires_grad
        assert distance(to_numpy(found.point), expected.point) < 1e-7
    assert variance_about(x, x[0]) == pytest.approx(variance_about(exact, exact[0]), rel=0.1 if kind == "bfloat16" else 1e-2)
    assert mean_square_distance(x) == pytest.approx(mean_square_distance(exact), rel=1e-12)


def test_a_step_that_overflows_is_halved():
    """Points up to the largest valid radius, and two tight clusters, between which there is hardly any curvature."""
    direction = np.random.default_rng(309).normal(size=3)
    direction /= np.linalg.norm(direction)
    for r in (20.0, 50.0, 90.0):
        clusters = to_hyperboloid(np.outer([r, r, r, -r, -r, -r], direction), "tangent")
        assert np.isfinite(frechet_median(clusters).point).all()
    for seed in range(12):
        rng = np.random.default_rng(seed)
        v = rng.standard_normal((20, 3)) + rng.choice([0, 3])
        x = to_hyperboloid(170 * v / np.linalg.norm(v, axis=1, keepdims=True), "tangent")
        assert frechet_mean(x).converged and np.isfinite(frechet_median(x).point).all()
