"""The horospherical projection as a layer of a torch network.

The parameter is a basis of the spine, without constraints; bases span the family of ``HoroPCA(spine="free")``. The layer has no
branches on values, so that ``torch.func``, ``torch.export`` and ``torch.compile(fullgraph=True)`` can transform it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np

try:
    import torch
except ImportError as error:
    raise ImportError("horopca.torch needs torch: pip install 'horopca[torch]'.") from error

from sklearn.utils.validation import check_is_fitted
from torch import Tensor, nn

from ._input.arguments import check_count
from ._input.coordinates import FARTHEST_IMAGE, LARGEST_RADIUS, Coordinates, check_coordinates
from ._input.rows import check_rows
from .estimators.fitting import fitted_coordinates
from .estimators.horopca import HoroPCA
from .geometry import (
    ModelName,
    distance,
    from_hyperboloid,
    lift,
    origin,
    pairwise_distance,
    to_hyperboloid,
    translate,
    translate_to_origin,
)
from .geometry._arrays import to_numpy
from .projections import Spine, slide, spine_basis, unslide
from .projections.spines import NO_DIRECTION, spine_of

__all__ = ["HoroProjection"]

CODE_BYTES = 64  # The length of the buffer with the model and the curvature, which take at most 43 characters.


class HoroProjection(nn.Module):
    """A horospherical projection from H^d to H^K with a trainable spine, as a layer of a network.

    A new layer starts with a random spine. `from_fit` starts with the spine of a fitted `HoroPCA` and computes its `transform`.
    Use the layer as a bottleneck (``layer(X)``, and ``layer.inverse(Y)`` for the way back), train it on your own loss, on
    ``-layer.pair_variance(X)`` or on ``layer.distortion(X)``, or freeze it as a probe.

    Parameters
    ----------
    dim : int
        The dimension d of the points: the number of columns, minus one for a model with a time coordinate.
    components : int, default=2
        K, the dimension of the images.
    model : str, default="poincare"
        Coordinates of the points and of the images.
    curvature : float or Parameter, default=-1.0
        Negative. A ``torch.nn.Parameter`` with one element is trained with the layer. A curvature that is computed in every
        step is an argument of the call, as in ``layer(X, curvature=-log_c.exp())``.
    stretch : bool, default=False
        Whether to learn a stretch of the images. With a stretch some distances may grow.
    check : bool, default=True
        Whether each call validates its rows, which takes about as long as the projection. Under ``torch.compile``,
        ``torch.export`` and ``torch.func`` rows are never validated.
    generator : torch.Generator or None
        For the initial spine.

    Attributes
    ----------
    basis : Parameter of shape (components, dim + 1)
        Rows that span the spine, time first, relative to `centre`.
    log_stretch : Parameter of shape (), or None
    learnt_curvature : Parameter, or None if the curvature is fixed
    centre, image_centre, image_axes : buffers
        The point that the basis is relative to (the origin, or the mean of the fit), and the frame of the images.
    coordinates_code : buffer of bytes
        The model and the curvature: loading the state of a layer with other coordinates is an error.

    See Also
    --------
    horopca.HoroPCA : finds the optimal spine.

    Notes
    -----
    The layer computes in float64. Images have the dtype and the device of the points.

    Examples
    --------
    >>> from horopca import HoroPCA
    >>> from horopca.datasets import make_hierarchy
    >>> X = torch.as_tensor(make_hierarchy(random_state=0).points)
    >>> pca = HoroPCA(2, random_state=0).fit(X)
    >>> layer = HoroProjection.from_fit(pca)
    >>> bool((layer(X) - pca.transform(X)).abs().max() < 1e-9)
    True
    >>> loss = layer.distortion(X)
    >>> loss.backward()
    >>> layer.basis.grad.shape == layer.basis.shape
    True
    """

    centre: Tensor
    image_centre: Tensor
    image_axes: Tensor
    coordinates_code: Tensor

    def __init__(
        self,
        dim: int,
        components: int = 2,
        model: ModelName = "poincare",
        curvature: Any = -1.0,
        *,
        stretch: bool = False,
        check: bool = True,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__()
        self.dim = check_count("dim", dim, 1)
        self.components = check_count("components", components, 1, self.dim, f" (dim is {dim})")
        self.coordinates: Coordinates = check_coordinates(model, curvature)
        self.check = check
        if isinstance(curvature, Tensor) and curvature.requires_grad and not curvature.is_leaf:
            raise ValueError(
                "curvature must be a number or a Parameter, but is computed from other tensors, and the layer would keep its "
                "present value. Pass it with every call instead: layer(X, curvature=...)."
            )
        self.learnt_curvature = curvature if isinstance(curvature, nn.Parameter) else None
        self.basis = nn.Parameter(torch.empty(self.components, self.dim + 1, dtype=torch.float64))
        self.log_stretch = nn.Parameter(torch.empty((), dtype=torch.float64)) if stretch else None
        K = self.components
        for name, shape in (("centre", (self.dim + 1,)), ("image_centre", (K + 1,)), ("image_axes", (K, K))):
            self.register_buffer(name, torch.empty(shape, dtype=torch.float64))
        self.register_buffer("coordinates_code", torch.empty(CODE_BYTES, dtype=torch.uint8))
        self.register_load_state_dict_pre_hook(_check_state)  # type: ignore[no-untyped-call]
        self.reset_parameters(generator)

    def reset_parameters(self, generator: torch.Generator | None = None) -> None:
        """Initialise all parameters and buffers: ideal points merged in a random direction, no stretch, at the origin."""
        with torch.no_grad():
            # the rows (1, n) and (0, u_j), for orthonormal n and u_j
            random = torch.randn(self.dim, self.components, generator=generator, dtype=torch.float64)
            self.basis[:, 0] = 0
            self.basis[0, 0] = 1
            self.basis[:, 1:] = torch.linalg.qr(random)[0].T.to(self.basis)
            if self.log_stretch is not None:
                self.log_stretch.zero_()
            self.centre.copy_(torch.as_tensor(origin(self.dim)))
            self.image_centre.copy_(torch.as_tensor(origin(self.components)))
            self.image_axes.copy_(torch.eye(self.components))
            self.coordinates_code.copy_(torch.tensor(list(self._code().ljust(CODE_BYTES).encode()), dtype=torch.uint8))

    @classmethod
    def from_fit(cls, estimator: HoroPCA, *, check: bool = True) -> Self:
        """The layer that computes the `transform` of a fitted `HoroPCA`. Its stretch is trainable if the fit has one."""
        if not isinstance(estimator, HoroPCA):
            raise ValueError(f"estimator must be a fitted HoroPCA, but is a {type(estimator).__name__}.")
        check_is_fitted(estimator)
        coordinates, spine = fitted_coordinates(estimator), estimator.spine_
        layer = cls(len(spine.n), estimator.n_components_, *coordinates, stretch=spine.stretched, check=check)
        with torch.no_grad():
            layer.basis.copy_(torch.as_tensor(spine_basis(spine)))
            if layer.log_stretch is not None:
                layer.log_stretch.fill_(float(np.log(spine.stretch)))
            layer.centre.copy_(torch.as_tensor(estimator._mean))
            layer.image_centre.copy_(torch.as_tensor(estimator._frame.mean))
            layer.image_axes.copy_(torch.as_tensor(estimator._frame.axes))
        return layer

    def forward(self, X: Tensor, curvature: Any = None) -> Tensor:
        """The images (..., K) of points X (..., d); a model with a time coordinate has one more column in both.

        `curvature` overrides the layer's for this call; gradients flow through it.
        """
        x, coordinates = self._enter(X, self.dim, "X", curvature)
        return coordinates.in_model(self._project(x), X.dtype).to(X.dtype)

    def inverse(self, Y: Tensor, curvature: Any = None) -> Tensor:
        """The points (..., d) of the submanifold that have the images Y (..., K)."""
        y, coordinates = self._enter(Y, self.components, "Y", curvature)
        y = translate(lift(y[..., 1:] @ self.image_axes.double()), self.image_centre.double())
        x = translate(unslide(from_hyperboloid(y, "halfspace"), self._spine()), self.centre.double())
        return coordinates.in_model(x, Y.dtype).to(Y.dtype)

    def spine(self) -> Spine:
        """The current spine as an estimator stores it, in NumPy arrays."""
        stretch = 1.0 if self.log_stretch is None else float(np.exp(self.log_stretch.item()))
        return spine_of(to_numpy(self.basis), stretch)

    def pair_variance(
        self, X: Tensor, curvature: Any = None, *, n_pairs: int | None = None, generator: torch.Generator | None = None
    ) -> Tensor:
        """The mean squared distance between images, a 0-d tensor: the quantity that `HoroPCA` maximises.

        The mean is over all ordered pairs, a point with itself included, or estimated from `n_pairs` random pairs.
        """
        x, coordinates = self._enter(X, self.dim, "X", curvature)
        y = self._project(x.reshape(-1, self.dim + 1))
        (d,) = _pair_distances([y], n_pairs, generator)
        share = 1.0 if n_pairs is None else (len(y) - 1) / len(y)
        variance: Tensor = d.square().mean() * share / coordinates.scale**2
        return variance

    def distortion(
        self, X: Tensor, curvature: Any = None, *, n_pairs: int | None = None, generator: torch.Generator | None = None
    ) -> Tensor:
        """The mean of |d' - d| / d over pairs at a distance d > 0 whose images have distance d', a 0-d tensor.

        The mean is over all pairs, whose time and memory grow with the square of the rows, or over `n_pairs` random ones.
        """
        x, _ = self._enter(X, self.dim, "X", curvature)
        x = x.reshape(-1, self.dim + 1)
        d, image = _pair_distances([x, self._project(x)], n_pairs, generator)
        apart = d > 0
        change = torch.where(apart, (image - d).abs() / torch.where(apart, d, 1.0), 0.0)
        return change.sum() / apart.sum().clamp(min=1)

    def extra_repr(self) -> str:
        """The arguments, for a printed network."""
        stretch = "" if self.log_stretch is None else ", stretch=True"
        curvature = self.coordinates.curvature if self.learnt_curvature is None else self.learnt_curvature.item()
        return f"{self.dim}, {self.components}, model={self.coordinates.model!r}, curvature={curvature:g}{stretch}"

    def _code(self) -> str:
        """The coordinates as the text of `coordinates_code`."""
        curvature = "learnt" if self.learnt_curvature is not None else repr(self.coordinates.curvature)
        return f"{self.coordinates.model} {curvature}"

    def _enter(self, X: Tensor, dimension: int, name: str, curvature: Any) -> tuple[Tensor, Coordinates]:
        """X as points (..., dimension + 1) of the hyperboloid, and its coordinates, with a tensor for a learnt curvature."""
        if not isinstance(X, Tensor):
            raise TypeError(f"{name} must be a torch tensor, but is a {type(X).__name__}.")
        if X.device != self.basis.device:
            raise ValueError(f"{name} is on {X.device}, but the layer is on {self.basis.device}. Move one of them with .to().")
        columns, model = self.coordinates.columns(dimension), self.coordinates.model
        if not X.is_floating_point():
            raise TypeError(f"{name} must have a floating-point dtype, but has {X.dtype}. Pass {name}.double().")
        if X.ndim < 1 or X.shape[-1] != columns:
            shape = f"for dim={dimension} and model={model!r}, but has shape {tuple(X.shape)}"
            raise ValueError(f"{name} must have {columns} columns {shape}.")
        given: Any = self.learnt_curvature if curvature is None else curvature
        if isinstance(curvature, str) or (isinstance(curvature, Tensor) and curvature.numel() != 1):
            check_coordinates(model, curvature)  # an error: not one number
        coordinates = self.coordinates
        if given is not None:
            number: Any = torch.as_tensor(given, dtype=torch.float64, device=X.device).reshape(())
            coordinates = Coordinates(model, number)
        if self.check and X.numel() and _has_values(X, given):
            known = self.coordinates if given is None else check_coordinates(model, given)
            reach = FARTHEST_IMAGE if name == "Y" else LARGEST_RADIUS
            check_rows(X.detach().reshape(-1, X.shape[-1]), known, name=name, reach=reach)
        return coordinates.row.to_hyperboloid(X.double() * coordinates.unit), coordinates

    def _project(self, x: Tensor) -> Tensor:
        """Images (..., K+1) on the hyperboloid of H^K of points x (..., d+1)."""
        y = to_hyperboloid(slide(translate_to_origin(x, self.centre.double()), self._spine()), "halfspace")
        return lift(translate_to_origin(y, self.image_centre.double())[..., 1:] @ self.image_axes.double().T)

    def _spine(self) -> Any:
        """The spine as tensors with gradients."""
        Q, R = torch.linalg.qr(self.basis.double().T)
        Q = (Q * torch.where(torch.diagonal(R) < 0, -1.0, 1.0)).T  # an orthonormal basis is unchanged
        # Householder's reflection, which leaves the time to the first row alone
        time, size = Q[:, 0], Q[:, 0].norm()
        mirror = torch.cat([time[:1] + torch.where(time[:1] < 0, -size, size), time[1:]])
        square = mirror @ mirror
        V = Q - 2 * torch.outer(mirror, mirror @ Q) / torch.where(square > 0, square, 1.0)  # 0: no row has a time
        pole = torch.where(V[0, 0] < 0, -V[0], V[0])
        length, U = pole[1:].norm(), V[1:, 1:]
        aimed = length > NO_DIRECTION
        n = torch.where(aimed, pole[1:] / torch.where(aimed, length, 1.0), _perpendicular(U))
        stretch = 1.0 if self.log_stretch is None else self.log_stretch.double().exp()
        return Spine(n, (pole[0] - length) / (pole[0] + length), U, stretch)  # type: ignore[arg-type]


def _perpendicular(U: Tensor) -> Tensor:
    """A unit vector (d,) perpendicular to the orthonormal rows of U: the axis farthest from their span, projected."""
    far = (1 - U.square().sum(0)).argmax().reshape(1)
    axis = torch.zeros_like(U[:1].sum(0)).scatter(0, far, 1.0)
    axis = axis - U.T @ (U @ axis)
    direction: Tensor = axis / axis.norm()
    return direction


def _pair_distances(clouds: list[Tensor], n_pairs: int | None, generator: torch.Generator | None) -> list[Tensor]:
    """Distances between rows in each of several arrays of points: of all pairs (n, n), or of the same random pairs."""
    n = len(clouds[0])
    if n < 1:
        raise ValueError("X must have at least 1 row, but has 0.")
    count = (1 if n_pairs is None else check_count("n_pairs", n_pairs, 1),)
    if n_pairs is None or n == 1:
        return [pairwise_distance(x) for x in clouds]
    device = clouds[0].device
    first = torch.randint(n, count, generator=generator, device=device)
    second = (first + 1 + torch.randint(n - 1, count, generator=generator, device=device)) % n
    return [distance(x[first], x[second]) for x in clouds]


def _has_values(*tensors: Any) -> bool:
    """Whether the values of tensors can be checked: not while torch compiles, exports or transforms a function."""
    if torch.compiler.is_compiling():
        return False
    wrapped = torch._C._functorch.is_functorch_wrapped_tensor
    return not any(isinstance(t, Tensor) and (t.is_meta or wrapped(t)) for t in tensors)


def _check_state(layer: Any, state: Mapping[str, Any], prefix: str, *rest: Any) -> None:
    """Raise ValueError if a state belongs to a layer with other coordinates."""
    code = state.get(f"{prefix}coordinates_code")
    if code is None or code.is_meta:
        return  # a missing key is an error of load_state_dict
    found, expected = bytes(code.tolist()).decode("ascii", "replace").strip(), layer._code()
    if found != expected:
        raise ValueError(
            f"The state must be of a layer with the coordinates {expected!r} (model and curvature), but is of one with "
            f"{found!r}. Make the layer with these."
        )
