"""HoroPCACV: HoroPCA with as many components as the data supports."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, Self

from sklearn.utils.metaestimators import available_if

from .._input.coordinates import ModelChoice
from .._input.threads import one_blas_thread
from .._optimize.objectives import ObjectiveName
from .base import new_fit
from .component_curve import RuleName, component_curve
from .fitting import check_weights, log, report_end, warn_caller
from .horopca import HoroPCA
from .horopca_fit import SpineName
from .parallel_analysis import DEPENDENT_COMPONENTS


def _no_batches(estimator: Any) -> bool:
    raise AttributeError("HoroPCACV has no partial_fit, because folds need all rows. Choose n_components on a sample first.")


@dataclass(eq=False, repr=False, kw_only=True)
class HoroPCACV(HoroPCA):
    """`HoroPCA` whose number of components is chosen by cross-validation and comparison with chance [1]_.

    `fit` computes a `horopca.metrics.component_curve`, uses as many components as its rule chooses, at least one, and fits
    these to all rows. The result is a fitted `HoroPCA`, with its attributes and methods except `partial_fit`;
    `horopca.io.save_fitted` saves it as such, without the curve.

    Parameters
    ----------
    max_components : int, optional
        The largest number to choose from; by default 10, or the dimension of the data if that is less.
    cv, rule, copies
        As for `horopca.metrics.component_curve`.
    spine, strategy, objective, stretch, model, curvature, centre, n_init, pairs, max_iter, tol, verbose
        As for `HoroPCA`.
    random_state : int, RandomState, Generator or None, default=0
        Seeds the folds, the copies, and the fit.
    n_jobs : int or None, default=None
        Jobs of joblib for the curve, and threads of the fit.

    Attributes
    ----------
    curve_ : ComponentCurve
        What each number of components preserves; ``curve_.sentence`` is the conclusion, and
        `horopca.plots.plot_components` draws the curve.
    n_components_ : int
        The chosen number; 1, with a warning, if no component adds more than chance. A warning is also issued if rows look
        dependent, no ``groups`` were passed and the rule is "null".

    See Also
    --------
    HoroPCA : the same with a fixed number of components.
    horopca.metrics.component_curve : what each number of components preserves.

    References
    ----------
    .. [1] Horn, J. L. (1965). A rationale and test for the number of factors in factor analysis. Psychometrika 30(2).

    Examples
    --------
    >>> from horopca import HoroPCACV
    >>> from horopca.datasets import make_hierarchy
    >>> X = make_hierarchy(2, 3, random_state=0).points
    >>> pca = HoroPCACV(max_components=2, cv=2, copies=3).fit(X)
    >>> pca.transform(X).shape == (len(X), pca.n_components_)
    True
    """

    warm_start = False

    max_components: int | None = field(default=None, kw_only=False)
    cv: Any = 5
    rule: RuleName = "null"
    copies: int = 19
    spine: SpineName | Literal["auto"] = "auto"
    strategy: Literal["joint", "greedy"] = "joint"
    objective: ObjectiveName | Literal["auto"] = "auto"
    stretch: bool = False
    model: ModelChoice = "poincare"
    curvature: float = -1.0
    centre: Literal["mean", "origin"] | Any = "mean"
    n_init: int | Literal["auto"] = "auto"
    pairs: int | Literal["auto", "all"] = "auto"
    max_iter: int = 500
    tol: float | Literal["auto"] = "auto"
    random_state: Any = 0
    n_jobs: int | None = None
    verbose: int = 0

    @property
    def n_components(self) -> int:
        """The chosen number, which a fit of `HoroPCA` uses."""
        return self.n_components_

    @one_blas_thread()
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, *, groups: Any = None) -> Self:
        """Choose the number of components, and learn them from all points.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            Points in the estimator's model and curvature.
        y : None
            Ignored; it is there for scikit-learn.
        sample_weight : array of shape (n_samples,), optional
            Weights in the fit to all rows, as for `HoroPCA`. The curve counts each point with a positive weight once.
        groups : array of shape (n_samples,), optional
            Rows of one group are kept in one fold, and rotated together in the comparison with chance.

        Returns
        -------
        self
        """
        names = self._get_param_names()
        plain = HoroPCA(**{name: getattr(self, name) for name in HoroPCA._get_param_names() if name in names})
        options: Any = {name: getattr(self, name) for name in ("cv", "rule", "copies", "random_state", "n_jobs")}
        options["progress"] = lambda done, total: log(self, f"{done} of {total} fits")
        with new_fit(self, X) as rows:
            rows.weights = None if sample_weight is None else check_weights(sample_weight, rows.shape[0])
            self.curve_ = component_curve(rows, self.max_components, estimator=plain, groups=groups, **options)
            self.n_components_ = max(1, self.curve_.chosen)
            ending = self._fit_rows(rows)
            self.n_samples_seen_ = rows.shape[0]
        report_end(self, ending)
        if self.curve_.chosen == 0:
            warn_caller(f"{self.curve_.sentence} HoroPCACV keeps one component.")
        elif self.curve_.dependent and self.rule == "null":
            warn_caller(DEPENDENT_COMPONENTS)
        return self

    def _as_chosen(self) -> Any:
        if not hasattr(self, "n_components_"):
            return self
        fit, own = HoroPCA(**{name: getattr(self, name) for name in HoroPCA._get_param_names()}), self._get_param_names()
        fit.__dict__.update({name: value for name, value in vars(self).items() if name not in (*own, "curve_")})
        return fit

    partial_fit = available_if(_no_batches)(HoroPCA.partial_fit)
