"""On a GPU: results are on the device of the input, and equal to those of the CPU."""

import numpy as np
import pytest
import torch

from clouds import cloud, directions
from horopca import HoroPCA, geometry, io, metrics
from horopca._input import cuda as gpu
from horopca._input.coordinates import Coordinates
from horopca.datasets import make_hierarchy
from horopca.geometry.isometries import Frame
from horopca.projections import spine_from_basis, spine_from_ideal_points
from horopca.projections.horospherical import Slide
from horopca.torch import HoroProjection

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA GPU")

KERNEL_MODELS = [name for name, model in geometry.MODELS.items() if model.kernel]


@pytest.fixture(scope="module")
def X():
    return make_hierarchy(branching=3, depth=4, n_features=6, random_state=0).points


LIBRARIES = [
    pytest.param(lambda X: torch.asarray(X, device="cuda"), id="torch"),
    pytest.param(lambda X: pytest.importorskip("cupy").asarray(X), id="cupy"),
]


def on_host(a):
    return a.cpu().numpy() if hasattr(a, "cpu") else a.get()


def some_slide(d, K, seed=0):
    """A projection between isometries, with a pole anywhere."""
    rng = np.random.default_rng(seed)
    spine = spine_from_basis(rng.standard_normal((K, d + 1)))
    return Slide.along(spine, *(Frame.at(cloud(1, k, radius=1.0, seed=seed)[0]).matrix() for k in (d, K)))


@pytest.mark.parametrize("to_device", LIBRARIES)
@pytest.mark.parametrize("options", [{}, {"spine": "free"}, {"n_components": 3, "strategy": "greedy"}])
def test_same_answers_on_the_device(X, to_device, options):
    there = to_device(X)
    here, away = HoroPCA(random_state=0, **options).fit(X), HoroPCA(random_state=0, **options).fit(there)
    pairs = [
        (here.transform(X), away.transform(there)),
        (here.inverse_transform(here.transform(X)), away.inverse_transform(away.transform(there))),
    ]
    if here.ideal_points_ is not None:
        pairs.append((here.busemann(X), away.busemann(there)))
    for expected, found in pairs:
        assert type(found) is type(there)
        assert found.device == there.device
        assert np.allclose(on_host(found), expected, atol=1e-8)
    assert away.score(there) == pytest.approx(here.score(X), rel=1e-8)


@pytest.mark.parametrize("objective", ["variance", "distortion"])
def test_fits_of_more_rows_than_are_searched(objective):
    X = geometry.from_hyperboloid(cloud(40_000, 5)) * np.array([1.0, 0.8, 0.6, 0.4, 0.2])
    options = {"random_state": 0, "n_init": 4, "objective": objective}
    there = torch.asarray(X, device="cuda")
    here, away = HoroPCA(**options).fit(X), HoroPCA(**options).fit(there)
    assert np.allclose(away.mean_, here.mean_, atol=1e-9)
    assert np.allclose(away.explained_variance_, here.explained_variance_, rtol=1e-8)
    assert np.allclose(on_host(away.transform(there)), here.transform(X), atol=1e-8)


SIZES = [(1, 1), (2, 1), (2, 2), (3, 2), (3, 3), (64, 1), (64, 2), (64, 4), (64, 5), (65, 8), (300, 3)]  # d, K
PASSES = [("poincare", d, K, dtype) for d, K in SIZES for dtype in ("float64", "float32")]
OTHERS = [(3, "float64"), (64, "float32"), (65, "float64")]
PASSES += [(model, d, 2, dtype) for model in KERNEL_MODELS[1:] for d, dtype in OTHERS]


@pytest.mark.parametrize("model, d, K, dtype", PASSES)
def test_images_of_rows_are_those_of_the_host(model, d, K, dtype):
    coordinates = Coordinates(model, -0.5)
    dtype = np.dtype(dtype)
    X = coordinates.from_hyperboloid(cloud(333, d), dtype)
    for seed in range(2):
        slide = some_slide(d, K, seed)
        images, lost = slide.images(coordinates.chunk(X))
        expected = coordinates.from_hyperboloid(images, dtype)
        found, many, outside = gpu.images_of_rows(torch.asarray(X, device="cuda"), model, coordinates.scale, slide)
        assert outside == 0 and many == lost.sum() == np.isnan(on_host(found)[:, 0]).sum()
        assert found.dtype == getattr(torch, dtype.name)
        # the sums are in another order, and a point of small c magnifies their rounding
        close = max(1e-11, 4 * np.finfo(dtype).eps) * (1 + np.abs(expected[~lost]))
        assert np.all(np.abs(on_host(found)[~lost] - expected[~lost]) <= close)


def far_and_on_the_spine(model):
    """Far points, whose products cancel or are too large, and points on the spine itself, which are at a square root of 0."""
    q = directions(2, 5)
    on_spine = np.random.default_rng(0).uniform(0.1, 1, size=(20, 2)) @ np.column_stack([np.ones(2), q])
    on_spine /= np.sqrt(on_spine[:, :1] ** 2 - np.sum(on_spine[:, 1:] ** 2, axis=1, keepdims=True))
    far = 12.0 if model == "klein" else 17.0  # farther, and Klein coordinates do not tell a point from the boundary
    return np.concatenate([cloud(500, 5, radius=far), on_spine, cloud(500, 5)]), Slide.along(spine_from_ideal_points(q))


def towards_the_only_ideal_point(model):
    """Their c = t - s.n is what is left of two large numbers."""
    q = directions(1, 5)
    return geometry.lift(np.sinh(np.linspace(1, 12, 300))[:, None] * q), Slide.along(spine_from_ideal_points(q))


def rounded_to_the_boundary(model):
    """Images that float32 does not tell from the boundary."""
    slide = Slide.along(spine_from_ideal_points(directions(2, 5)), None, Frame.at(cloud(1, 2, seed=3)[0]).matrix())
    return cloud(500, 5, radius=7.0), slide


UNTRUSTED = [(far_and_on_the_spine, model, "float64") for model in KERNEL_MODELS]
UNTRUSTED += [(towards_the_only_ideal_point, "poincare", "float64"), (rounded_to_the_boundary, "klein", "float32")]


@pytest.mark.parametrize("make, model, dtype", UNTRUSTED)
def test_untrusted_images_are_those_of_the_host(make, model, dtype):
    x, slide = make(model)
    coordinates = Coordinates(model, -1.0)
    X = coordinates.from_hyperboloid(geometry.lift(x[:, 1:]), np.dtype(dtype))
    images, expected = slide.images(coordinates.chunk(X))
    if dtype == "float32":
        expected = expected | (np.linalg.norm(images[:, 1:] / images[:, :1], axis=1) > 1 - 4 * np.finfo(dtype).eps)
    found, lost, outside = gpu.images_of_rows(torch.asarray(X, device="cuda"), model, coordinates.scale, slide)
    assert outside == 0 and 0 < lost == expected.sum() < len(X)
    assert np.array_equal(np.isnan(on_host(found)[:, 0]), expected)


def test_passes_in_several_parts(X, monkeypatch):
    pca = HoroPCA(random_state=0, n_init=2).fit(X)
    monkeypatch.setattr(gpu, "PASS_BYTES", 24 * 50)  # 50 rows at a time
    assert np.allclose(on_host(pca.transform(torch.asarray(X, device="cuda"))), pca.transform(X), atol=1e-13)
    bad = X.copy()
    bad[-1] = np.nan
    with pytest.raises(ValueError, match=f"row {len(X) - 1} contains NaN"):
        pca.transform(torch.asarray(bad, device="cuda"))


@pytest.mark.parametrize("to_device", LIBRARIES)
def test_rows_that_are_not_contiguous(X, to_device):
    pca = HoroPCA(random_state=0, n_init=2).fit(X)
    expected = pca.transform(X)
    wide = to_device(np.repeat(X, 2, axis=1))[:, ::2]
    tall = to_device(np.repeat(X, 3, axis=0))[::3, :]
    turned = to_device(np.ascontiguousarray(X.T)).T
    backward = () if torch.is_tensor(turned) else (to_device(X[::-1].copy())[::-1],)  # tensors have no negative strides
    for there in (wide, tall, turned, *backward):
        assert np.allclose(on_host(pca.transform(there)), expected, atol=1e-13)
        assert np.allclose(HoroPCA(random_state=0, n_init=2).fit(there).mean_, pca.mean_, atol=1e-12)
    assert np.allclose(on_host(pca.transform(to_device(X)[:1, :])), expected[:1], atol=1e-13)


@pytest.mark.parametrize("to_device", LIBRARIES)
def test_files_and_descriptions_of_points_on_the_device(X, to_device, tmp_path):
    there = to_device(X)
    assert io.describe(there) == io.describe(X)
    assert np.array_equal(io.load(io.save(tmp_path / "x.npy", there)).X, X)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("model", KERNEL_MODELS)
def test_rows_near_the_boundary_are_projected_as_on_the_host(model, dtype):
    """A few far points among near ones: NaN from the kernel, and then as on the host."""
    coordinates = Coordinates(model, -1.0)
    near, far = cloud(1000, 4, radius=1.5), cloud(30, 4, seed=1, radius=1.0)
    far = geometry.lift(geometry.lift(far[:, 1:] * 100)[:, 1:] * 1e3)
    X = coordinates.from_hyperboloid(np.concatenate([near, far]), dtype)
    pca = HoroPCA(random_state=0, n_init=2, model=model).fit(X[:1000])
    here, there = pca.transform(X), on_host(pca.transform(torch.asarray(X, device="cuda")))
    assert np.isfinite(there).all()
    assert np.all(np.abs(there - here) <= 1e3 * np.finfo(dtype).eps * (1 + np.abs(here)))
    if model in ("poincare", "klein"):
        assert np.linalg.norm(there, axis=1).max() < 1


BAD = {
    "poincare": lambda X: X / np.linalg.norm(X, axis=1, keepdims=True) * 1.2,
    "klein": lambda X: X / np.linalg.norm(X, axis=1, keepdims=True),
    "lorentz": lambda X: X * np.array([1.1] + [1.0] * (X.shape[1] - 1)),
    "lorentz-space": lambda X: X / np.linalg.norm(X, axis=1, keepdims=True) * 1e80,
    "lorentz-time-last": lambda X: X * np.array([1.0] * (X.shape[1] - 1) + [1.1]),
    "tangent": lambda X: X / np.linalg.norm(X, axis=1, keepdims=True) * 400,
    "halfspace": lambda X: -X,
}


@pytest.mark.parametrize("how", ["outside", "nan", "infinite", "width", "flat"])
@pytest.mark.parametrize("model", BAD)
def test_error_messages_are_those_of_the_host(model, how):
    good = Coordinates(model, -1.0).from_hyperboloid(cloud(500, 4), np.float64)
    bad = good.copy()
    if how == "outside":
        bad[[17, 200]] = BAD[model](bad[[17, 200]])
    else:
        bad[17, 1] = np.inf if how == "infinite" else np.nan
    bad = {"width": good[:, :-1], "flat": good[0]}.get(how, bad)
    pca = HoroPCA(random_state=0, n_init=1, model=model).fit(good)
    messages = []
    for X in (torch.asarray(bad), torch.asarray(bad, device="cuda")):
        with pytest.raises(ValueError) as error:
            pca.transform(X)
        messages.append(str(error.value))
        if how not in ("width", "flat"):
            with pytest.raises(ValueError) as error:
                HoroPCA(model=model).fit(X)
            messages.append(str(error.value))
    assert len(set(messages)) == 1
    assert how == "flat" or "row 17" in messages[0] or how == "width"


@pytest.mark.parametrize("model", geometry.MODELS)
def test_gradients_on_the_device_are_those_of_the_host(model):
    points = Coordinates(model, -0.5).from_hyperboloid(cloud(200, 4), np.float64)
    pca = HoroPCA(random_state=0, n_init=2, model=model, curvature=-0.5).fit(points)
    found = []
    for device in ("cpu", "cuda"):
        X = torch.asarray(points, device=device).requires_grad_()
        Y = pca.transform(X)
        assert Y.device == X.device and Y.requires_grad
        (g,) = torch.autograd.grad(Y.sin().sum() + pca.busemann(X).sum(), X)
        found.append((Y.detach().cpu(), g.cpu()))
    for here, there in zip(*found, strict=True):
        assert torch.allclose(here, there, atol=1e-9)
    assert torch.allclose(pca.transform(X.detach()).cpu(), found[0][0], atol=1e-12)  # the kernel's


def test_a_layer_on_the_device_is_that_of_the_host(X):
    pca = HoroPCA(random_state=0, n_init=2).fit(X)
    here, there = HoroProjection.from_fit(pca), HoroProjection.from_fit(pca).to("cuda")
    found = []
    for layer in (here, there):
        points = torch.asarray(X, device=layer.basis.device).requires_grad_()
        loss = layer.distortion(points) - layer.pair_variance(points) + layer.inverse(layer(points)).square().sum()
        loss.backward()
        found.append((loss.item(), layer(points).detach().cpu(), points.grad.cpu(), layer.basis.grad.cpu()))
    assert found[1][0] == pytest.approx(found[0][0], rel=1e-10)
    for a, b in zip(found[0][1:], found[1][1:], strict=True):
        assert torch.allclose(a, b, atol=1e-8)
    with pytest.raises(ValueError, match=r"X is on cpu, but the layer is on cuda:0\. Move one of them"):
        there(torch.asarray(X))
    there.load_state_dict(here.state_dict())
    assert there.basis.is_cuda and torch.equal(there.cpu()(torch.asarray(X)), here(torch.asarray(X)))


def test_points_on_two_devices_are_mapped_and_compared(X):
    """An estimator's own numbers are on the host, and go where the points are."""
    pca = HoroPCA(random_state=0, n_init=2).fit(torch.asarray(X, device="cuda"))
    assert np.allclose(pca.transform(X), on_host(pca.transform(torch.asarray(X, device="cuda"))), atol=1e-10)
    there = pca.transform(torch.asarray(X, device="cuda"))
    for points in (X, torch.asarray(X)):
        assert metrics.average_distortion(points, there) == pytest.approx(metrics.average_distortion(X, on_host(there)))
