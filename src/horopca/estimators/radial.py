"""RadialPCA: preserves distances from the mean, and applies PCA to the directions."""

from __future__ import annotations

import numpy as np

from .._input.rows import Rows
from ..geometry import lift, translate
from ..geometry._arrays import Array, array_namespace, from_numpy, norm, unit
from .linear import IMAGE_ERROR, LinearReduction, leading_axes, sinh_of


class RadialPCA(LinearReduction):
    """Principal component analysis of directions at the Fréchet mean, which preserves every distance from it.

    Relative to the mean a point has a radius and a direction. The directions, which are unit vectors, are reduced to K
    dimensions by PCA and normalised again; the radii are unchanged. Most of a hyperbolic distance is the sum of two radii, so
    this preserves distances well. It has a closed form. Unlike a projection it can lengthen distances.

    Parameters
    ----------
    n_components : int or None, default=2
        K, the dimension of the image, from 1 to the dimension of the data (and at most the number of points). None keeps all.
    model : str, default="poincare"
        Coordinates of the input and of the output.
    curvature : float, default=-1.0
        Negative; the ball has radius 1/sqrt(-curvature).

    Attributes
    ----------
    components_ : ndarray of shape (n_components_, n_dimensions)
        Orthonormal directions at the mean, transported to the origin along the geodesic between them.
    mean_direction_ : ndarray of shape (n_dimensions,)
        The mean of the directions, which is subtracted before PCA.
    mean_ : ndarray of shape (n_features_in_,)
        Fréchet mean, in the estimator's model.
    n_components_, explained_variance_, explained_variance_ratio_, total_variance_
        As in `HoroPCA`. The ratios may sum to more than 1, because this map can lengthen distances.
    n_iter_, converged_, status_
        How the search for the mean ended; everything else has a closed form.
    objective_, model_, curvature_, n_features_in_, feature_names_in_
        As in `HoroPCA`.

    See Also
    --------
    TangentPCA : projects the radii with the directions.
    HoroPCA : chooses directions that preserve the distances between points.

    Examples
    --------
    >>> import numpy as np
    >>> from horopca import RadialPCA
    >>> from horopca.datasets import make_hierarchy
    >>> from horopca.geometry import distance, to_hyperboloid
    >>> X = make_hierarchy(random_state=0).points
    >>> pca = RadialPCA(n_components=2).fit(X)
    >>> radii = distance(to_hyperboloid(X), to_hyperboloid(pca.mean_))
    >>> middle = to_hyperboloid(pca.transform(pca.mean_[None]))
    >>> bool(np.allclose(distance(to_hyperboloid(pca.transform(X)), middle), radii))
    True
    """

    def _lengthens(self) -> bool:
        return True

    def _find_components(self, rows: Rows, K: int) -> np.ndarray:
        self.mean_direction_, components = leading_axes(rows, self._mean, self._scale, K, centred=True)
        return components

    @staticmethod
    def _scale(t: Array) -> Array:
        """1 / sinh r for points at time t = cosh r, and 0 at the centre."""
        xp, sinh = array_namespace(t), sinh_of(t)
        apart = sinh > 1e-7  # the directions of closer points are rounding error
        return xp.where(apart, 1 / xp.where(apart, sinh, xp.ones_like(sinh)), xp.zeros_like(sinh))

    def _centred_directions(self, b: Array, rest: Array) -> tuple[Array, Array]:
        """|s| (n,) of points, and |s| W (u - mean direction), of shape (k, n), for the first k components W."""
        xp = array_namespace(b)
        size = xp.sqrt(xp.sum(b * b, axis=0) + rest)
        middle = from_numpy(self.components_[: b.shape[0]] @ self.mean_direction_, b)
        return size, b - middle[:, None] * size

    def _images_from_coordinates(self, t: Array, b: Array, rest: Array) -> Array:
        size, centred = self._centred_directions(b, rest)
        # for a point in the mean direction, `centred` is 0: it is mapped to the centre
        return lift(unit(centred.T) * size[:, None])

    def _is_accurate(self, t: Array, b: Array, rest: Array, error: Array) -> Array:
        # an error in b rotates the image by more if `centred` is small; near the mean, an error in t changes the radius
        xp = array_namespace(b)
        size, centred = self._centred_directions(b, rest)
        return (error * size < IMAGE_ERROR / 4 * xp.sqrt(xp.sum(centred * centred, axis=0))) & (
            error * t < IMAGE_ERROR / 4 * size * size
        )

    def _embed(self, y: Array) -> Array:
        # the direction u in the span of the components with W (u - mean direction) along that of the image: |middle + l v| = 1
        xp = array_namespace(y)
        s = self._frame.leave(y)[:, 1:]
        size, v = norm(s), unit(s)
        middle = from_numpy(self.components_ @ self.mean_direction_, y)
        along = v @ middle
        reach = xp.sqrt(along * along + 1 - middle @ middle) - along
        u = (middle + reach[:, None] * v) @ from_numpy(self.components_, y)
        return translate(lift(size[:, None] * u), from_numpy(self._centre, y))
