"""Statistics of points of H^d: Fréchet mean, geometric median, variances.

Points x are on the hyperboloid at curvature -1, shape (n, d+1). They are processed in blocks, in O(n) memory.
"""

from .means import Mean, frechet_mean, frechet_median, variance_about
from .means import Status as Status
from .pairs import mean_square_distance

__all__ = ["Mean", "frechet_mean", "frechet_median", "mean_square_distance", "variance_about"]
