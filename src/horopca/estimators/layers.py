"""The horospherical projection as a layer of a torch network: ``horopca.torch``.

A spine is the span of a basis, which is the parameter: gradients go to it through the closed form of the projection, and no
constraint has to be kept. Every basis is one of the family of ``HoroPCA(spine="free")``, which holds the ideal spines too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Self

import numpy as np

try:
    import torch
except ImportError as error:
    raise ImportError("horopca.torch needs torch: pip install 'horopca[torch]'.") from error

from sklearn.utils.validation import check_is_fitted
from torch import Tensor, nn

from .._input.arguments import check_count
from .._input.coordinates import FARTHEST_IMAGE, LARGEST_RADIUS, Coordinates, check_coordinates
from .._input.rows import Rows, check_rows
from ..geometry import (
    Frame,
    ModelName,
    from_hyperboloid,
    lift,
    origin,
    pairwise_distance,
    to_hyperboloid,
    translate,
    translate_to_origin,
)
from ..geometry._arrays import to_numpy, with_rows
from ..geometry._points import Chunk
from ..projections import Spine, slide, spine_basis, spine_from_basis, unslide
from ..projections.horospherical import Slide
from ..statistics import relative_change
from .fitting import fitted_coordinates
from .horopca import HoroPCA

__all__ = ["HoroProjection"]

NO_DIRECTION = 1e-15  # A pole whose space part is shorter lies at the origin, and any direction will do.


class _Entered(NamedTuple):
    """Points as a layer sees them."""

    rows: Rows
    scale: Any  # lengths at curvature -1 per length of the user's: a number, or a tensor where the curvature is learnt
    unit: Any  # what the user's coordinates were multiplied by, for gradients to go through it


class HoroProjection(nn.Module):
    """A horospherical projection from H^d to H^K whose spine is learnt by gradients, as a layer of a network.

    Made by itself it begins with a random spine; `from_fit` begins with what `HoroPCA` has learnt, and gives the numbers of its
    `transform`. Put it in a network as a bottleneck (``layer(X)``, and ``layer.inverse(Y)`` for the way back), train it on a
    loss of your own or on minus ``layer.pair_variance(X)`` or ``layer.distortion(X)``, or keep it frozen as a probe.

    Parameters
    ----------
    dim : int
        The dimension d of the space of the points: their number of columns, less one for a model with time.
    components : int, default=2
        K, the dimension of the images.
    model : str, default="poincare"
        Coordinates of the points, and of the images.
    curvature : float or Parameter, default=-1.0
        Negative. A ``torch.nn.Parameter`` of one number becomes one of the layer's: gradients go to it, and its number of the
        moment counts. A curvature that is computed anew in every step is passed with every call, as in
        ``layer(X, curvature=-log_c.exp())``, and gradients go through it.
    stretch : bool, default=False
        Learn a stretch of the images too: some distances may then grow.
    generator : torch.Generator or None
        Of the first spine.

    Attributes
    ----------
    basis : Parameter of shape (components, dim + 1)
        Rows that span the spine, time first, as it is seen from `centre`.
    log_stretch : Parameter of shape (), or None
    learnt_curvature : Parameter, or None where the curvature is a number
    centre : buffer of shape (dim + 1,)
        The point of the hyperboloid from which points are looked at; the origin, or the mean of the fit.
    image_centre, image_axes : buffers of shapes (components + 1,) and (components, components)
        Where images are looked at from.

    Notes
    -----
    Computed in float64, whatever the points are in. Images have the dtype of the points, and are on their device, where the
    layer has to be too. Points that are not of the model are refused, as by an estimator.

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

    basis: nn.Parameter
    log_stretch: nn.Parameter | None
    learnt_curvature: nn.Parameter | None
    centre: Tensor
    image_centre: Tensor
    image_axes: Tensor

    def __init__(
        self,
        dim: int,
        components: int = 2,
        model: ModelName = "poincare",
        curvature: Any = -1.0,
        *,
        stretch: bool = False,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__()
        self.dim = check_count("dim", dim, 1)
        self.components = check_count("components", components, 1, self.dim, f" (dim is {dim})")
        self.coordinates: Coordinates = check_coordinates(model, curvature)
        if isinstance(curvature, Tensor) and curvature.requires_grad and not curvature.is_leaf:
            raise ValueError(
                "curvature is computed from something that is learnt, and the layer would keep the number of this moment. Pass "
                "a number or a Parameter here, and what is computed with every call: layer(X, curvature=...)."
            )
        self.learnt_curvature = curvature if isinstance(curvature, nn.Parameter) else None
        self.basis = nn.Parameter(torch.empty(self.components, self.dim + 1, dtype=torch.float64))
        self.log_stretch = nn.Parameter(torch.zeros((), dtype=torch.float64)) if stretch else None
        self.register_buffer("centre", torch.as_tensor(origin(self.dim)))
        self.register_buffer("image_centre", torch.as_tensor(origin(self.components)))
        self.register_buffer("image_axes", torch.eye(self.components, dtype=torch.float64))
        self.reset_parameters(generator)

    def reset_parameters(self, generator: torch.Generator | None = None) -> None:
        """Begin anew, with the ideal points merged in a random direction and no stretch."""
        with torch.no_grad():
            # (1, n) and (0, u_j), for orthonormal n and u_j
            random = torch.randn(self.dim, self.components, generator=generator, dtype=torch.float64)
            self.basis[:, 0] = 0
            self.basis[0, 0] = 1
            self.basis[:, 1:] = torch.linalg.qr(random)[0].T.to(self.basis)
            if self.log_stretch is not None:
                self.log_stretch.zero_()

    @classmethod
    def from_fit(cls, estimator: HoroPCA) -> Self:
        """The layer with the spine, the stretch and the frame of a fitted `HoroPCA`: its `transform`, to be trained further.

        A stretch is learnt if the estimator has learnt one.
        """
        if not isinstance(estimator, HoroPCA):
            raise ValueError(f"estimator must be a fitted HoroPCA, but is a {type(estimator).__name__}.")
        check_is_fitted(estimator)
        coordinates, spine = fitted_coordinates(estimator), estimator.spine_
        layer = cls(len(spine.n), estimator.n_components_, *coordinates, stretch=spine.stretch != 1)
        with torch.no_grad():
            layer.basis.copy_(torch.as_tensor(spine_basis(spine)))
            if layer.log_stretch is not None:
                layer.log_stretch.fill_(float(np.log(spine.stretch)))
            layer.centre.copy_(torch.as_tensor(estimator._mean))
            layer.image_centre.copy_(torch.as_tensor(estimator._frame.mean))
            layer.image_axes.copy_(torch.as_tensor(estimator._frame.axes))
        return layer

    def forward(self, X: Tensor, curvature: Any = None) -> Tensor:
        """The images (..., K) of points X (..., d), each with one column more for a model with time.

        `curvature` is that of this call, a tensor that gradients go through; None: the layer's.
        """
        return self._through(X, self.dim, "X", curvature, self._images())

    def inverse(self, Y: Tensor, curvature: Any = None) -> Tensor:
        """The points (..., d) of the submanifold that images Y (..., K) stand for."""
        return self._through(Y, self.components, "Y", curvature, lambda chunk: self._embed(chunk.points()))

    def spine(self) -> Spine:
        """The spine as it is now, as an estimator keeps it: NumPy arrays and numbers."""
        stretch = 1.0 if self.log_stretch is None else float(np.exp(self.log_stretch.item()))
        return spine_from_basis(self.basis.detach().cpu().double().numpy(), stretch)

    def pair_variance(self, X: Tensor, curvature: Any = None) -> Tensor:
        """The mean squared distance of the images over all ordered pairs, a 0-d tensor: what `HoroPCA` makes largest."""
        rows, scale, _ = self._entered(X, self.dim, "X", curvature)
        d: Tensor = pairwise_distance(rows.map(self._images()))
        variance: Tensor = d.square().mean() / scale**2
        return variance

    def distortion(self, X: Tensor, curvature: Any = None) -> Tensor:
        """The mean over pairs of |d' - d| / d, for distances d of points and d' of their images, a 0-d tensor."""
        rows, _, _ = self._entered(X, self.dim, "X", curvature)
        before: Tensor = pairwise_distance(rows.all())
        after: Tensor = pairwise_distance(rows.map(self._images()))
        changes = relative_change(before, after)
        return changes.sum() / max(1, len(changes))

    def extra_repr(self) -> str:
        """What distinguishes it in a printed network."""
        stretch = "" if self.log_stretch is None else ", stretch=True"
        curvature = self.coordinates.curvature if self.learnt_curvature is None else self.learnt_curvature.item()
        return f"{self.dim}, {self.components}, model={self.coordinates.model!r}, curvature={curvature:g}{stretch}"

    def get_extra_state(self) -> dict[str, Any]:
        """The model and the curvature, kept in the ``state_dict``."""
        return self.coordinates._asdict()

    def set_extra_state(self, state: dict[str, Any]) -> None:
        """Refuse what was learnt in other coordinates."""
        learnt = {} if self.learnt_curvature is None else {"curvature": self.coordinates.curvature}
        if Coordinates(**state | learnt) != self.coordinates:
            raise ValueError(
                f"The state must be of the layer's model={self.coordinates.model!r} and "
                f"curvature={self.coordinates.curvature:g}, but is of model={state['model']!r} and "
                f"curvature={state['curvature']:g}. Make the layer with these."
            )

    # ------------------------------------------------------------ in and out

    def _check_shape(self, X: Tensor, dimension: int, name: str) -> None:
        """Refuse what is no tensor of points of this dimension, where the layer is."""
        if not isinstance(X, Tensor):
            raise TypeError(f"{name} must be a torch tensor, but is a {type(X).__name__}.")
        if X.device != self.basis.device:
            raise ValueError(f"{name} is on {X.device}, but the layer on {self.basis.device}: move one of them with .to().")
        columns = self.coordinates.columns(dimension)
        if X.ndim < 1 or X.shape[-1] != columns:
            raise ValueError(
                f"{name} must have {columns} columns for dim={dimension} and model={self.coordinates.model!r}, but has shape "
                f"{tuple(X.shape)}."
            )

    def _entered(self, X: Tensor, dimension: int, name: str, curvature: Any) -> _Entered:
        """A tensor (..., columns) as points, or a sentence."""
        self._check_shape(X, dimension, name)
        reach = FARTHEST_IMAGE if name == "Y" else LARGEST_RADIUS
        given: Any = self.learnt_curvature if curvature is None else curvature
        X = X.reshape(-1, X.shape[-1])
        coordinates = self.coordinates if given is None else check_coordinates(self.coordinates.model, given)
        rows = check_rows(X, coordinates, name=name, reach=reach, graph=True)
        if given is None:
            return _Entered(rows, coordinates.scale, 1.0)
        scale = torch.as_tensor(given, dtype=torch.float64).reshape(()).neg().sqrt()
        unit = scale if coordinates.row.scaled else 1.0
        return _Entered(Rows(X.double() * unit, Coordinates(coordinates.model, -1.0)), scale, unit)

    def _through(self, X: Tensor, dimension: int, name: str, curvature: Any, function: Callable[[Chunk], Any]) -> Tensor:
        self._check_shape(X, dimension, name)
        if 0 in X.shape[:-1]:  # no points, and no gradients
            columns = self.coordinates.columns(self.components if name == "X" else self.dim)
            return X.new_zeros((*X.shape[:-1], columns)) + 0 * self.basis.sum().to(X.dtype)
        rows, _, unit = self._entered(X, dimension, name, curvature)
        images: Tensor = rows.map(lambda chunk: rows.coordinates.from_hyperboloid(function(chunk), X.dtype))
        images = images if isinstance(unit, float) else (images / unit).to(X.dtype)
        return images.reshape(*X.shape[:-1], images.shape[-1])

    def _images(self) -> Callable[[Chunk], Any]:
        """The map from a chunk of points to their images (n, K+1) on the hyperboloid of H^K, as `HoroPCA` has it."""
        spine = self._spine()
        pole = torch.cat([(1 + spine.kappa)[None], (spine.kappa - 1) * spine.n])[None, :]
        vectors = spine.stretch * torch.cat([pole, nn.functional.pad(spine.U, (1, 0))])
        frame = Frame(to_numpy(self.image_centre), to_numpy(self.image_axes))
        sliding = Slide(_seen_from(self.centre.double(), vectors), spine.kappa, frame.matrix())

        def images(chunk: Chunk) -> Any:
            found, lost = sliding.images(chunk)
            return with_rows(found, lost, self._project(chunk.points(lost), spine)) if bool(lost.any()) else found

        return images

    def _project(self, x: Any, spine: Any) -> Any:
        """Images (n, K+1) on the hyperboloid of H^K of points x (n, d+1), the careful way."""
        y = to_hyperboloid(slide(translate_to_origin(x, self.centre.double()), spine), "halfspace")
        return lift(translate_to_origin(y, self.image_centre.double())[:, 1:] @ self.image_axes.double().T)

    def _embed(self, y: Any) -> Any:
        """Points (n, d+1) of H^d that stand for the images y (n, K+1)."""
        y = translate(lift(y[:, 1:] @ self.image_axes.double()), self.image_centre.double())
        return translate(unslide(from_hyperboloid(y, "halfspace"), self._spine()), self.centre.double())

    def _spine(self) -> Any:
        """The spine, of tensors that gradients go through."""
        Q, R = torch.linalg.qr(self.basis.double().T)
        Q = (Q * torch.where(torch.diagonal(R) < 0, -1.0, 1.0)).T  # a basis that is orthonormal already stays as it is
        # the reflection (Householder's) that leaves time to the first of them alone
        time, size = Q[:, 0], Q[:, 0].norm()
        mirror = torch.cat([time[:1] + torch.where(time[:1] < 0, -size, size), time[1:]])
        square = mirror @ mirror
        V = Q - 2 * torch.outer(mirror, mirror @ Q) / torch.where(square > 0, square, 1.0)  # 0: there is no time to leave
        pole = torch.where(V[0, 0] < 0, -V[0], V[0])
        length = pole[1:].norm()
        n = pole[1:] / length if length > NO_DIRECTION else torch.as_tensor(self.spine().n).to(V)
        stretch = 1.0 if self.log_stretch is None else self.log_stretch.double().exp()
        return Spine(n, (pole[0] - length) / (pole[0] + length), V[1:, 1:], stretch)  # type: ignore[arg-type]


def _seen_from(m: Tensor, vectors: Tensor) -> Tensor:
    """Vectors (k, d+1) whose products with points are those of `vectors` with the points as seen from m (d+1,)."""
    # times the matrix `boost_to_origin(m)`, not written out
    time, along = vectors[:, :1], vectors[:, 1:] @ m[1:, None]
    return torch.cat([time * m[0] - along, vectors[:, 1:] + (along / (1 + m[0]) - time) * m[1:]], 1)
