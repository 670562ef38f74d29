"""The support vector machine of hyperbolic space."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d

from .._input.arguments import check_number
from .._input.coordinates import ModelChoice
from .._input.rows import Rows, check_rows
from .._input.threads import one_blas_thread
from .._optimize.result import Ending
from ..geometry import lift, translate_to_origin
from ..geometry._arrays import Array, array_namespace, from_numpy, to_numpy
from ..geometry.isometries import boosted
from ..statistics.means import frechet_mean, principal_axes
from .base import HyperbolicEstimator, new_fit
from .fitting import check_stopping, check_weights, ending_after, fitted_coordinates, log, report_end
from .margin import largest_margin

AXES = 2  # The search starts from hyperplanes perpendicular to this many principal axes, besides the Euclidean solution.


@dataclass(eq=False, repr=False, kw_only=True)
class HyperbolicSVC(ClassifierMixin, HyperbolicEstimator):
    """Support vector machine in hyperbolic space: hyperplanes of the largest margin [1]_.

    A hyperplane is the set of points x of the hyperboloid with <w, x> = 0 in the Minkowski form. For two classes, y = +-1,
    w minimises

        <w, w> / 2  +  C sum_i max(0, asinh(1) - asinh(y_i <w, x_i>)),      <w, w> >= 0:

    the margin is measured in hyperbolic distance. More than two classes are separated one against the rest. The result does
    not depend on the position of the data in space, nor on the model of its coordinates. For probabilities, wrap the estimator
    in `sklearn.calibration.CalibratedClassifierCV`.

    Parameters
    ----------
    C : float, default=1.0
        Weight of points inside the margin against the width of the margin.
    class_weight : dict, "balanced" or None, default=None
        Factors on C for the points of each class; "balanced": in inverse proportion to their number.
    model : str, default="poincare"
        Coordinates of the input. "tangent": tangent vectors at the origin.
    curvature : float, default=-1.0
        Negative; the ball has radius 1/sqrt(-curvature). Margins are measured at curvature -1.
    max_iter : int, default=1000
        Newton steps for each class, from each start.
    tol : float, default=1e-8
        The search ends when the gradient is below this fraction of the sum of all weights.
    verbose : int, default=0
        If 1, print a line to stderr after each hyperplane.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    coef_ : ndarray of shape (n_problems, n_dimensions + 1)
        The normals w, time first, at curvature -1: one for two classes, else one for each class against the rest.
    loss_ : ndarray of shape (n_problems,)
        The minimum that was found for each normal.
    n_iter_ : ndarray of shape (n_problems,)
        Newton steps to each normal.
    converged_, status_
        How the search ended.
    model_, curvature_, n_features_in_, feature_names_in_
        As in `HoroPCA`.

    See Also
    --------
    BusemannWhitener : Euclidean features, for any classifier.
    horopca.metrics.classification.compare_classifiers : cross-validates this and other classifiers.

    Notes
    -----
    The corner of the hinge is rounded over 1e-4. The search starts from the hyperplane of a Euclidean support vector
    machine in the Klein ball, where hyperplanes are flat, and from hyperplanes across the first principal axes. For
    a class that no hyperplane cuts off, <w, w> = 0 is often best: level sets of the decision function are then horospheres.

    References
    ----------
    .. [1] Cho, H., DeMeo, B., Peng, J., and Berger, B. (2019). Large-margin classification in hyperbolic space. Proceedings
       of the 22nd International Conference on Artificial Intelligence and Statistics.

    Examples
    --------
    >>> from horopca import HyperbolicSVC
    >>> from horopca.datasets import make_hierarchy
    >>> tree = make_hierarchy(random_state=0)
    >>> svm = HyperbolicSVC(C=10).fit(tree.points, tree.labels)
    >>> svm.score(tree.points, tree.labels) > 0.9
    True
    """

    C: float = field(default=1.0, kw_only=False)
    class_weight: Any = None
    model: ModelChoice = "poincare"
    curvature: float = -1.0
    max_iter: int = 1000
    tol: float = 1e-8
    verbose: int = 0

    @one_blas_thread()
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Find the hyperplanes.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            Points in the estimator's model and curvature.
        y : array of shape (n_samples,)
            The classes of the points: numbers or text.
        sample_weight : array of shape (n_samples,), optional
            Factors on C for each point.

        Returns
        -------
        self
        """
        check_number("C", self.C, "a positive number", above=0)
        check_stopping(self)
        with new_fit(self, X) as rows:
            ending = self._learn(rows, y, sample_weight)
        report_end(self, ending)
        return self

    def _learn(self, rows: Rows, y: Any, sample_weight: Any) -> Ending:
        """One hyperplane for each class (the second of two), found in the frame of the points' mean and principal axes."""
        y = check_labels(y, rows.shape[0])
        weight = check_weights(1.0 if sample_weight is None else sample_weight, len(y))
        x, y, weight = to_numpy(rows.all())[weight > 0], y[weight > 0], weight[weight > 0]  # a weight of 0 leaves a point out
        check_labels(y, len(x))
        self.classes_, codes = np.unique(y, return_inverse=True)
        cost = self.C * weight * compute_class_weight(self.class_weight, classes=self.classes_, y=y)[codes]
        mean = frechet_mean(x)
        self._mean = mean.point
        moved = translate_to_origin(x, self._mean)
        axes, _ = principal_axes(moved)
        framed, found = lift(moved[:, 1:] @ axes.T), []
        problems = range(len(self.classes_)) if len(self.classes_) > 2 else [1]
        for k in problems:
            side = np.where(codes == k, 1.0, -1.0)
            starts = _starts(framed, side, cost)
            found.append(largest_margin(framed, side, cost, starts, max_iter=self.max_iter, tol=self.tol))
            log(self, f"{len(found)} of {len(problems)} hyperplanes")
        normals, self.loss_, steps, converged = map(np.array, zip(*found, strict=True))
        self._normals = np.column_stack([normals[:, 0], normals[:, 1:] @ axes])
        self.coef_ = boosted(self._normals, self._mean)
        status = "converged" if converged.all() else "stopped at max_iter"
        remedy = f"Raise max_iter (now {self.max_iter}) or tol (now {self.tol:g}), or lower C (now {self.C:g})."
        return ending_after(mean, Ending(steps, bool(converged.all()), status, remedy))

    def decision_function(self, X: Any) -> Any:
        """asinh <w, x>: positive on the side of the class. Points with an absolute value above asinh(1) lie outside the margin.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            Points in the model and curvature.

        Returns
        -------
        array of shape (n_samples,) for two classes, else (n_samples, n_classes)
            In the dtype, array library and device of X.
        """
        check_is_fitted(self)
        rows = check_rows(X, fitted_coordinates(self), estimator=self)
        xp, dtype = array_namespace(rows.X), rows.X.dtype
        values = rows.map(lambda chunk: xp.astype(self._decide(chunk.points()), dtype, copy=False))
        return values if len(self.classes_) > 2 else values[:, 0]

    def _decide(self, x: Array) -> Array:
        xp = array_namespace(x)
        moved = translate_to_origin(x, from_numpy(self._mean, x))
        time, space = from_numpy(self._normals[:, 0], x), from_numpy(self._normals[:, 1:].T.copy(), x)
        return xp.asinh(moved[:, 1:] @ space - moved[:, :1] * time)

    def predict(self, X: Any) -> np.ndarray:
        """The class of each point.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            Points in the model and curvature.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        values = to_numpy(self.decision_function(X))
        return np.asarray(self.classes_[values.argmax(axis=1) if values.ndim == 2 else (values > 0).astype(int)])


def _starts(x: np.ndarray, side: np.ndarray, cost: np.ndarray) -> np.ndarray:
    """Normals (S, d+1) to start from: the Euclidean solution, and both sides of the first principal axes."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # an approximate solution is good enough for a start
        svm = LinearSVC(dual=False).fit(x[:, 1:] / x[:, :1], side, cost / cost.mean())
    across = np.eye(x.shape[1])[1 : AXES + 1]
    return np.vstack([np.append(-svm.intercept_, svm.coef_), across, -across])  # in the Klein ball, a.k + b = <(-b, a), x> / t


def check_labels(y: Any, n: int, *, fewest: int = 1, why: str = "") -> np.ndarray:
    """Validate the labels of n rows: at least two classes, each with at least `fewest` members."""
    if y is None:
        raise ValueError("A classifier requires y to be passed, but the target y is None. Pass one label for each row of X.")
    y = column_or_1d(y, warn=True)
    missing = np.array([label is None or label != label or label in (np.inf, -np.inf) for label in y.tolist()], dtype=bool)
    if missing.any():
        row = int(missing.argmax())
        raise ValueError(f"y must have a label for each row, but contains NaN, None or infinity (row {row}). Drop such rows.")
    if len(y) != n:
        raise ValueError(f"y must have one label for each of the {n} rows of X, but has {len(y)}.")
    check_classification_targets(y)
    classes, members = np.unique(y, return_counts=True)
    if len(classes) < 2:
        raise ValueError(f"y must have at least two classes, but all its {n} rows are of class {classes.tolist()[0]!r}.")
    if members.min() < fewest:
        rare = f"class {classes.tolist()[members.argmin()]!r} has {members.min()}"
        raise ValueError(f"Each class of y must have at least {fewest} members{why}, but {rare}. Merge or drop such classes.")
    return np.asarray(y)
