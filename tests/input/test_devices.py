"""Tensors treated as those of a GPU: nothing converts them to NumPy implicitly, or creates others on another device."""

import numpy as np
import pytest

from horopca import estimators, metrics, plots, statistics
from horopca import geometry as geo
from horopca.datasets import make_hierarchy
from horopca.geometry import to_hyperboloid
from horopca.neighbors import HyperbolicNeighbors
from horopca.projections import horospherical_projection, slide, spine_from_basis, spine_from_ideal_points, unslide
from quick import quick

torch = pytest.importorskip("torch")

TREE = make_hierarchy(branching=3, depth=3, n_features=4, random_state=0)
FITS = [(name, {}) for name in estimators.__all__] + [
    ("HoroPCA", {"objective": "robust"}), ("HoroPCA", {"stretch": True}), ("HoroPCA", {"strategy": "greedy"}),
    ("HoroPCA", {"centre": "origin"}), ("HoroPCA", {"warm_start": True}), ("PGA", {"base_point": "mean"}),
    ("BusemannWhitener", {"decorrelate": True}),
]  # fmt: skip


@pytest.fixture
def X(monkeypatch):
    """Points in a tensor. Its conversion to NumPy without `.numpy()` fails, and a tensor without a device is on "meta"."""

    def refuse(*_):
        raise TypeError("a tensor of a GPU was converted to NumPy implicitly")

    points = torch.as_tensor(TREE.points)
    monkeypatch.setattr(torch.Tensor, "__array__", refuse)
    monkeypatch.setattr("horopca._input.rows.on_host", lambda a: False)  # the sample of a fit stays in tensors
    with torch.device("meta"):
        yield points


@pytest.mark.parametrize(("name", "options"), FITS, ids=str)
def test_estimators(name, options, X):
    estimator = quick(name, **options).fit(X, np.arange(len(X)) % 2)
    if name == "HyperbolicSVC":
        assert estimator.predict(X).shape == (len(X),)
        return
    Y = estimator.transform(X)
    assert Y.device == X.device and estimator.inverse_transform(Y).shape == X.shape
    for method in ("score", "partial_fit"):
        getattr(estimator, method, id)(X)


@pytest.mark.parametrize(
    "call",
    [
        lambda x, q: statistics.frechet_mean(x, weights=x[:, 0], start=x[0]),
        lambda x, q: statistics.frechet_median(x, weights=x[:, 0]),
        lambda x, q: statistics.variance_about(x, x[0], x[:, 0]),
        lambda x, q: statistics.mean_square_distance(x, x[:, 0]),
        lambda x, q: geo.align(x, x.flip(0), x[:, 0], squares=True).move(x),
        lambda x, q: geo.geodesic_projection(x, geo.geodesic_hull(x[:2])),
        lambda x, q: geo.pairwise_distance(geo.exp(x, geo.log(x, geo.reflect_to_origin(x, x[1])))),
        lambda x, q: geo.busemann(x, geo.ideal_endpoint(x, geo.log(x, x.flip(0)))),
        lambda x, q: [to_hyperboloid(geo.from_hyperboloid(x, model), model) for model in geo.MODELS],
        lambda x, q: horospherical_projection(x, q, x[4]),
        lambda x, q: unslide(slide(x, spine_from_ideal_points(q)), spine_from_basis(x[:2])),
        lambda x, q: metrics.average_distortion(x, x.flip(0), model="lorentz"),
        lambda x, q: metrics.neighbours_kept(x, x.flip(0), model="lorentz"),
        lambda x, q: metrics.unexplained_variance(x, x.flip(0), model="lorentz"),
        lambda x, q: metrics.pair_variance(x, model="lorentz", n_pairs=100, random_state=0),
        lambda x, q: HyperbolicNeighbors(3, model="lorentz").fit(x).kneighbors(x),
        lambda x, q: plots.plot_distortion(x, x.flip(0), model="lorentz"),
        lambda x, q: plots.plot_plane(x[:, 1:3], model="lorentz-space"),
    ],
)  # fmt: skip
def test_functions(call, X):
    x = to_hyperboloid(X)
    call(x, x[1:3, 1:] / x[1:3, 1:].norm(dim=1, keepdim=True))


@pytest.mark.parametrize("options", [{}, {"objective": "distortion", "spine": "free"}, {"objective": "robust"}], ids=str)
def test_fits_of_more_rows_than_are_searched(options, X, monkeypatch):
    monkeypatch.setattr("horopca.estimators.horopca_fit.search_rows", lambda _: 30)
    monkeypatch.setattr("horopca._input.means.MANY_ROWS", 30)
    quick("HoroPCA", **options).fit(X).transform(X)
    quick("TangentPCA").fit(X).transform(X)
