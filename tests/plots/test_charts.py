"""Charts of explained variance and of distances."""

import numpy as np
import pytest

from horopca import HoroPCA
from horopca.datasets import make_hierarchy
from horopca.geometry import distance, to_hyperboloid
from horopca.metrics import average_distortion
from horopca.plots import new_figure, plot_components, plot_distortion, plot_explained_variance

rng = np.random.default_rng(0)


def test_explained_variance_says_how_many_components_are_enough(ax):
    pca = HoroPCA(3, random_state=0).fit(make_hierarchy(3, 3, 5, random_state=0).points)
    plot_explained_variance(pca, threshold=0.1, ax=ax)
    assert np.array_equal(ax.lines[0].get_ydata(), np.cumsum(pca.explained_variance_ratio_))
    assert plot_explained_variance([0.97], ax=ax).get_title() == "1 component keeps 95 % of the variance"
    assert plot_explained_variance([0.2, 0.3], ax=ax).get_title() == "2 components keep 50%, less than 95 % of the variance"


def test_distances_of_few_pairs_are_dots(ax, other):
    X = rng.uniform(-0.4, 0.4, (60, 4))
    Y = X[:, :2]
    plot_distortion(X, Y, ax=ax)
    assert ax.get_title() == f"average distortion {average_distortion(X, Y):.3f}"
    d = distance(to_hyperboloid(X)[:, None], to_hyperboloid(X)[None])
    drawn = np.asarray(ax.collections[0].get_offsets())
    assert np.allclose(np.sort(drawn[:, 0]), np.sort(d[np.triu_indices(60, 1)]))
    plot_distortion(2 * X, 2 * Y, curvature=-0.25, ax=other, n_pairs=100, random_state=0)
    assert other.get_xlim()[1] > 1.2 * ax.get_xlim()[1]


def test_distances_of_many_pairs_are_counted(ax):
    X = rng.uniform(-0.4, 0.4, (300, 4))
    bins = plot_distortion(X, X[:, :2], ax=ax, n_pairs=9000, random_state=0).collections[0]
    assert bins.get_array().sum() == 9000  # every pair is in a bin
    few, many = (bins.get_cmap()(bins.norm(count))[:3] for count in (bins.get_array().min(), bins.get_array().max()))
    assert sum(few) > sum(many) + 0.5  # lighter where there are fewer


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda ax: plot_explained_variance([0.5], threshold=2, ax=ax), "threshold must be a fraction"),
        (lambda ax: plot_explained_variance([], ax=ax), "ratio must be a sequence"),
        (lambda ax: plot_distortion(np.zeros((4, 2)), np.zeros((3, 2)), ax=ax), "the same number of rows, but have 4 and 3"),
        (lambda ax: plot_components(3, figure=new_figure(interactive=False)), "curve must be a result of component_curve"),
    ],
)
def test_errors(ax, call, message):
    with pytest.raises(ValueError, match=message):
        call(ax)
