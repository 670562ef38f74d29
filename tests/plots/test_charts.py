"""Charts of distances and of components."""

import numpy as np

from horopca.metrics import average_distortion
from horopca.plots import plot_distortion

rng = np.random.default_rng(0)


def test_every_pair_of_few_points_is_counted_and_a_sample_of_many(ax, other):
    X = rng.uniform(-0.4, 0.4, (60, 4))
    bins = plot_distortion(X, X[:, :2], ax=ax).collections[0]
    assert ax.get_title() == f"average distortion {average_distortion(X, X[:, :2]):.3f}"
    assert bins.get_array().sum() == 60 * 59 / 2
    few, many = (bins.get_cmap()(bins.norm(count))[:3] for count in (bins.get_array().min(), bins.get_array().max()))
    assert sum(few) > sum(many) + 0.5  # lighter where there are fewer
    X = rng.uniform(-0.4, 0.4, (500, 4))
    bins = plot_distortion(2 * X, 2 * X[:, :2], curvature=-0.25, ax=other, random_state=0).collections[0]
    assert 49_000 < bins.get_array().sum() < 50_000  # pairs of a point with itself are not counted
    assert other.get_xlim()[1] > 1.2 * ax.get_xlim()[1]
