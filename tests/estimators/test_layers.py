"""``horopca.torch``: the projection of `HoroPCA` as a layer, its numbers, its optimum, gradients in points and spine."""

import copy
import pickle
from functools import cache

import numpy as np
import pytest

from horopca import HoroPCA, TangentPCA, geometry, metrics
from horopca._input.coordinates import Coordinates
from horopca.datasets import make_hierarchy
from horopca.projections import slide

torch = pytest.importorskip("torch")

from horopca.torch import HoroProjection  # noqa: E402

TREE = make_hierarchy(branching=3, depth=3, n_features=4, random_state=0).points
X = torch.as_tensor(TREE)
QUICK = {"n_init": 1, "random_state": 0}
FITS = {
    "ideal": {},
    "free": {"spine": "free"},
    "stretched": {"spine": "free", "objective": "distortion", "stretch": True},
    "greedy": {"strategy": "greedy", "n_components": 3},
    "one": {"n_components": 1},
    "all": {"n_components": 4},
}


@cache
def fitted(name="ideal", model="poincare", curvature=-1.0):
    points = Coordinates(model, curvature).from_hyperboloid(geometry.to_hyperboloid(TREE), np.float64)
    return HoroPCA(**QUICK, **FITS[name], model=model, curvature=curvature).fit(points), torch.as_tensor(points)


@pytest.mark.parametrize("name", FITS)
def test_a_layer_from_a_fit_has_its_numbers(name):
    pca, points = fitted(name)
    layer = HoroProjection.from_fit(pca)
    Y = layer(points)
    assert torch.allclose(Y, pca.transform(points), atol=1e-10)
    assert torch.allclose(layer.inverse(Y), pca.inverse_transform(Y), atol=1e-9)
    assert layer.pair_variance(points).item() == pytest.approx(metrics.pair_variance(pca.transform(TREE)), rel=1e-9)
    assert layer.distortion(points).item() == pytest.approx(metrics.average_distortion(TREE, pca.transform(TREE)), rel=1e-9)
    spine = layer.spine()
    assert spine.kappa == pytest.approx(pca.spine_.kappa, abs=1e-12) and spine.stretch == pytest.approx(pca.spine_.stretch)
    assert ("log_stretch" in dict(layer.named_parameters())) == (name == "stretched")


@pytest.mark.parametrize("model", geometry.MODELS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_in_every_model_curvature_and_precision(model, dtype):
    pca, points = fitted(model=model, curvature=-0.3)
    layer = HoroProjection.from_fit(pca)
    Y = layer(points.to(dtype))
    tolerance = 1e-10 if dtype == torch.float64 else 1e-4
    assert Y.dtype == dtype and torch.allclose(Y, pca.transform(points.to(dtype)), atol=tolerance)
    plain = pca.transform(points).numpy()
    expected = metrics.pair_variance(plain, model=model, curvature=-0.3)
    assert layer.pair_variance(points).item() == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("name", ["ideal", "free", "stretched", "one", "all"])
def test_gradients_in_the_points_and_in_the_spine(name):
    layer = HoroProjection.from_fit(fitted(name)[0])
    with torch.no_grad():  # off an optimum, and off the boundary of the ideal spines
        layer.basis += 0.1 * torch.as_tensor(np.random.default_rng(0).normal(size=layer.basis.shape))
    points = X[2:7].clone().requires_grad_()
    for called in (layer, layer.pair_variance, layer.distortion):  # gradcheck moves the parameters in place
        assert torch.autograd.gradcheck(lambda z, *_, called=called: called(z), (points, *layer.parameters()))


@pytest.mark.parametrize("model", ["poincare", "lorentz-space", "halfspace"])
def test_a_curvature_that_is_learnt_has_the_same_images_and_a_gradient(model):
    pca, points = fitted(model=model, curvature=-0.5)
    layer, c = HoroProjection.from_fit(pca), torch.tensor(-0.5, dtype=torch.float64, requires_grad=True)
    with torch.no_grad():  # off the optimum
        layer.basis += 0.1 * torch.as_tensor(np.random.default_rng(0).normal(size=layer.basis.shape))
    for called in (layer, layer.pair_variance, layer.distortion):
        assert torch.allclose(called(points[2:7], curvature=c), called(points[2:7]), rtol=1e-9)
        assert torch.autograd.gradcheck(lambda k, called=called: called(points[2:7], curvature=k), (c,))
    images = layer(points[2:7]).detach()
    assert torch.allclose(layer.inverse(images, curvature=c), layer.inverse(images), rtol=1e-9, atol=1e-12)
    assert torch.autograd.gradcheck(lambda k: layer.inverse(images, curvature=k), (c,))


@pytest.mark.parametrize("seed", range(4))
def test_every_basis_is_the_spine_that_it_spans(seed):
    rng = np.random.default_rng(seed)
    layer = HoroProjection(4, 1 + seed, generator=torch.Generator().manual_seed(seed))
    with torch.no_grad():
        layer.basis.copy_(torch.as_tensor(rng.normal(size=(1 + seed, 5)) * [seed != 2, 1, 1, 1, 1]))  # once without time
    images = geometry.to_hyperboloid(slide(geometry.to_hyperboloid(TREE), layer.spine()), "halfspace")
    there = geometry.to_hyperboloid(layer(X).detach().numpy())
    assert np.allclose(geometry.pairwise_distance(there), geometry.pairwise_distance(images), atol=1e-9)
    value = layer.pair_variance(X).item()
    with torch.no_grad():
        layer.basis.copy_(torch.as_tensor(rng.normal(size=(1 + seed, 1 + seed))) @ layer.basis)  # the same span
    assert layer.pair_variance(X).item() == pytest.approx(value, rel=1e-9)


def test_a_curvature_that_is_a_parameter_is_the_layers():
    k = torch.nn.Parameter(torch.tensor(-0.5))
    layer, points = HoroProjection(4, 2, "lorentz-space", k), fitted(model="lorentz-space", curvature=-0.5)[1]
    assert dict(layer.named_parameters())["learnt_curvature"] is k
    layer.pair_variance(points).backward()
    assert k.grad.abs() > 0 and layer.basis.grad.abs().max() > 0
    with torch.no_grad():
        k -= 0.25
    plain = HoroProjection(4, 2, "lorentz-space", -0.75)
    with torch.no_grad():
        plain.basis.copy_(layer.basis)
    assert torch.allclose(layer(points), plain(points)) and "curvature=-0.75" in repr(layer)
    other = HoroProjection(4, 2, "lorentz-space", torch.nn.Parameter(torch.tensor(-1.0)))
    other.load_state_dict(layer.state_dict())
    assert torch.equal(other(points), layer(points))
    with torch.no_grad():
        k += 2
    with pytest.raises(ValueError, match=r"curvature must be a negative number .* but is 1.25"):
        layer(points)
    with pytest.raises(ValueError, match=r"must be a number or a Parameter, .* Pass it with every call"):
        HoroProjection(4, 2, curvature=-k.exp())


def test_batches_of_any_shape_and_memory():
    layer = HoroProjection.from_fit(fitted()[0])
    expected = layer(X)
    assert torch.equal(layer(X.reshape(4, 10, 4)), expected.reshape(4, 10, 2))
    assert torch.equal(layer(X[0]), layer(X[:1])[0])
    wide = torch.zeros(40, 8, dtype=torch.float64)
    wide[:, ::2] = X
    assert torch.allclose(layer(wide[:, ::2]), expected, atol=1e-12)
    assert torch.allclose(layer(X.T.contiguous().T), expected, atol=1e-12)
    repeated = X[3].expand(5, 4).detach().requires_grad_()
    assert torch.allclose(layer(repeated), expected[3].expand(5, 2))
    layer(repeated).sum().backward()
    with pytest.raises(ValueError, match="X must have at least 1 row, but has 0"):
        layer.pair_variance(X[:0])
    assert layer(torch.zeros(3, 0, 4)).shape == (3, 0, 2) and layer.inverse(torch.zeros(0, 2)).shape == (0, 4)
    for batch in (X[:1], X[:1].expand(5, 4)):  # without two different points
        assert layer.distortion(batch) == 0
    for dtype, error in ((torch.float32, 1e-5), (torch.float16, 0.05), (torch.bfloat16, 0.3)):
        moved = copy.deepcopy(layer).to(dtype)
        assert moved.basis.dtype == dtype and moved(X).dtype == torch.float64
        assert (moved(X) - expected).abs().max() < error
    assert layer(X.to(torch.float16)).dtype == torch.float16


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: HoroProjection(4, 5), ValueError, r"components must be a whole number from 1 to 4 \(dim is 4\), but is 5"),
        (lambda: HoroProjection(4, 2, "auto"), ValueError, "model must be one of"),
        (lambda: HoroProjection(4, 2, curvature=1.0), ValueError, "If c = 1 stands for the curvature -c, pass curvature=-1"),
        (lambda: HoroProjection(4)(X.long()), TypeError, r"X must have a floating-point dtype, but .* Pass X.double\(\)"),
        (lambda: HoroProjection(4)(X, curvature=torch.tensor([-1.0, -2.0])), ValueError, "curvature must be a negative number"),
        (lambda: HoroProjection(4)(X, curvature="a"), ValueError, "curvature must be a negative number"),
        (lambda: HoroProjection(4).distortion(X[:1], n_pairs=0), ValueError, "n_pairs must be a whole number of at least 1"),
        (lambda: HoroProjection(4)(TREE), TypeError, "X must be a torch tensor, but is a ndarray"),
        (lambda: HoroProjection(4)(X[:, :3]), ValueError, r"X must have 4 columns for dim=4 .* but has shape \(40, 3\)"),
        (lambda: HoroProjection(4, model="lorentz")(X), ValueError, "X must have 5 columns for dim=4 and model='lorentz'"),
        (lambda: HoroProjection(4)(3 * X), ValueError, "X must lie inside the unit ball"),
        (lambda: HoroProjection(4).inverse(X), ValueError, "Y must have 2 columns"),
        (lambda: HoroProjection(4)(X.to("meta")), ValueError, r"X is on meta, but the layer is on cpu\. Move one of them"),
        (lambda: HoroProjection.from_fit(TangentPCA(2).fit(TREE)), ValueError, "must be a fitted HoroPCA, but is a TangentPCA"),
    ],
)
def test_errors(call, error, message):
    with pytest.raises(error, match=message):
        call()


@pytest.mark.filterwarnings("ignore:`torch.jit.script` is deprecated")  # torch's own, when it loads torch.func.jvp
def test_the_layer_composes_with_torch_func():
    layer, points = HoroProjection.from_fit(fitted("stretched")[0]), X[:6]
    expected, parameters = layer(points), dict(layer.named_parameters())
    leaf = points.clone().requires_grad_()
    layer(leaf).square().sum().backward()
    assert torch.allclose(torch.func.grad(lambda z: layer(z).square().sum())(points), leaf.grad)
    jacobian = torch.func.jacrev(layer)(points[0])
    direction = torch.ones_like(points[0])
    assert torch.allclose(torch.func.jvp(layer, (points[0],), (direction,))[1], jacobian @ direction)
    assert torch.allclose(torch.func.vmap(layer)(points), expected)
    ensemble = {name: torch.stack([p.detach(), p.detach() + 0.1]) for name, p in parameters.items()}
    both = torch.func.vmap(lambda p: torch.func.functional_call(layer, p, (points,)))(ensemble)
    assert torch.allclose(both[0], expected) and not torch.allclose(both[1], expected)


def test_the_layer_is_exported_and_compiled_whole():
    pca, points = fitted(model="lorentz", curvature=-0.3)
    layer = HoroProjection.from_fit(pca)
    assert torch.allclose(torch.export.export(layer, (points,)).module()(points), layer(points))
    both = lambda z: layer.distortion(z) + layer(z).square().sum()
    # aot_eager traces forward and backward without a compiler of C++ or CUDA
    compiled = torch.compile(both, fullgraph=True, backend="aot_eager")
    assert torch.allclose(compiled(points), both(points))
    compiled(points).backward()
    assert layer.basis.grad.abs().max() > 0


def test_what_is_learnt_is_kept(tmp_path):
    safetensors = pytest.importorskip("safetensors.torch")
    pca, points = fitted("stretched", "lorentz-space", -0.3)
    layer = HoroProjection.from_fit(pca)
    assert repr(layer) == "HoroProjection(4, 2, model='lorentz-space', curvature=-0.3, stretch=True)"
    torch.save(layer.state_dict(), tmp_path / "layer.pt")
    safetensors.save_model(layer, tmp_path / "layer.safetensors")
    with torch.device("meta"):
        again = HoroProjection(4, 2, "lorentz-space", -0.3, stretch=True)
    assert again(points.to("meta")).shape == (40, 2)
    again = again.to_empty(device="cpu")
    again.reset_parameters(torch.Generator().manual_seed(0))
    fresh = HoroProjection(4, 2, "lorentz-space", -0.3, stretch=True, generator=torch.Generator().manual_seed(0))
    assert torch.equal(again(points), fresh(points))
    again.load_state_dict(torch.load(tmp_path / "layer.pt", weights_only=True))
    safetensors.load_model(fresh, tmp_path / "layer.safetensors")
    for other in (again, fresh, copy.deepcopy(layer), pickle.loads(pickle.dumps(layer))):
        assert torch.equal(other(points), layer(points))
    with pytest.raises(ValueError, match=r"'poincare -1\.0' \(model and curvature\), but is of one with 'lorentz-space -0\.3'"):
        HoroProjection(4, 2, stretch=True).load_state_dict(layer.state_dict())
    with pytest.raises(RuntimeError, match="size mismatch"):
        HoroProjection(5, 2, "lorentz-space", -0.3, stretch=True).load_state_dict(layer.state_dict())


def test_losses_on_random_pairs_are_those_on_all_pairs_on_average():
    layer = HoroProjection.from_fit(fitted()[0])
    for loss in (layer.pair_variance, layer.distortion):
        draws = torch.stack([loss(X, n_pairs=400, generator=torch.Generator().manual_seed(k)) for k in range(50)])
        error = draws.std().item() / 50**0.5
        assert draws.mean().item() == pytest.approx(loss(X).item(), abs=4 * error)  # four standard errors
