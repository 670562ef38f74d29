"""TangentPCA: principal components in the tangent space at the Fréchet mean."""

from __future__ import annotations

from ..geometry._arrays import Array, array_namespace
from .linear import LinearReduction, sinh_of


class TangentPCA(LinearReduction):
    """Principal component analysis in the tangent space at the Fréchet mean [1]_.

    Every point x is represented by its logarithm at the mean, a tangent vector of length d(mean, x). PCA reduces these vectors,
    and the exponential map takes the result back to hyperbolic space. Distances from the mean along the components are
    preserved; distances between points far from the mean are not.

    Parameters
    ----------
    n_components : int, float or None, default=2
        K, the dimension of the image, from 1 to the dimension of the data (and at most the number of points). A float between 0
        and 1 selects the fewest components that keep that fraction of the variance; None keeps all.
    model : str, default="poincare"
        Coordinates of the input and of the output.
    curvature : float, default=-1.0
        Negative; the ball has radius 1/sqrt(-curvature).

    Attributes
    ----------
    components_ : ndarray of shape (n_components_, n_dimensions)
        Orthonormal directions at the mean, transported to the origin along the geodesic between them.
    mean_ : ndarray of shape (n_features_in_,)
        Fréchet mean, in the estimator's model.
    n_components_, explained_variance_, explained_variance_ratio_, total_variance_
        As in `HoroPCA`.
    n_iter_, converged_, status_
        How the search for the mean ended; everything else has a closed form.
    objective_, model_, curvature_, n_features_in_, feature_names_in_
        As in `HoroPCA`.

    See Also
    --------
    HoroPCA : projects along horospheres, which preserves distances better.
    RadialPCA : PCA of the directions alone, which preserves every distance from the mean.
    PGA : projects to geodesic submanifolds, of which this is the approximation.

    References
    ----------
    .. [1] Fletcher, P. T., Lu, C., Pizer, S. M., and Joshi, S. (2004). Principal geodesic analysis for the study of nonlinear
       statistics of shape. IEEE Transactions on Medical Imaging 23(8).

    Examples
    --------
    >>> from horopca import TangentPCA
    >>> from horopca.datasets import make_hierarchy
    >>> X = make_hierarchy(random_state=0).points
    >>> TangentPCA(n_components=2).fit_transform(X).shape
    (121, 2)
    """

    @staticmethod
    def _scale(t: Array) -> Array:
        """r / sinh r for points at time t = cosh r."""
        xp, sinh = array_namespace(t), sinh_of(t)
        near = sinh < 1e-4  # the next term of the series, about r^4 / 100, is below rounding error
        safe = xp.where(near, xp.ones_like(sinh), sinh)
        return xp.where(near, 1 - sinh * sinh / 6, xp.asinh(safe) / safe)

    @staticmethod
    def _factor(t: Array, square: Array, rest: Array) -> Array:
        # in the tangent space the image is b r / sinh r; if the length of this vector is l, its space part has length sinh l
        xp = array_namespace(t)
        shrunk = TangentPCA._scale(t)
        length = xp.sqrt(square) * shrunk
        safe = xp.where(length > 0, length, xp.ones_like(length))
        return shrunk * xp.where(length > 0, xp.sinh(safe) / safe, xp.ones_like(length))
