"""EuclideanPCA: principal components of coordinates in the ball."""

from __future__ import annotations

from typing import Any

from ..geometry._arrays import Array
from .linear import LinearReduction


class EuclideanPCA(LinearReduction):
    """Principal component analysis of Poincaré ball coordinates, as if the ball were flat.

    The points are moved to their Fréchet mean first, and the components pass through it, so that projections stay in the ball.
    It is a baseline: near the boundary, where most hyperbolic data lies, such projections preserve little.

    Parameters
    ----------
    n_components : int, float or None, default=2
        K, the dimension of the image, from 1 to the dimension of the data (and at most the number of points). A float between 0
        and 1 selects the fewest components that keep that fraction of the variance; None keeps all.
    model : str, default="poincare"
        Coordinates of the input and of the output. The components are always those of the ball.
    curvature : float, default=-1.0
        Negative; the ball has radius 1/sqrt(-curvature).

    Attributes
    ----------
    components_ : ndarray of shape (n_components_, n_dimensions)
        Orthonormal directions in the ball with the mean at its centre.
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
    TangentPCA : PCA of the logarithms at the mean, which accounts for the curvature.
    HoroPCA : projects along horospheres, which preserves distances better.

    Examples
    --------
    >>> from horopca import EuclideanPCA
    >>> from horopca.datasets import make_hierarchy
    >>> X = make_hierarchy(random_state=0).points
    >>> EuclideanPCA(n_components=2).fit_transform(X).shape
    (121, 2)
    """

    @staticmethod
    def _scale(t: Any) -> Any:
        return 1 / (1 + t)

    @staticmethod
    def _factor(t: Array, square: Array, rest: Array) -> Array:
        # the point W z of the ball has the space part W s / (1 + rest / 2(1+t)): this form loses no digits near the boundary
        return 1 / (1 + rest / (1 + t) / 2)
