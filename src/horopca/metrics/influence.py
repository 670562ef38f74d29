"""For which points the picture is true, and which points made it what it is: a report with a number for each."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .._objectives.objectives import OBJECTIVES
from .._objectives.sample import as_sample
from .._points.arguments import check_count, check_generator
from .._points.door import FARTHEST_IMAGE
from .._points.places import check_rows
from .._points.threads import one_blas_thread
from .._search.families import family_at
from .._search.influence import Influence, Optimum, influence
from ..estimators import HoroPCA
from ..estimators.base import HyperbolicReduction, check_reduction
from ..estimators.fitting import as_fitted, copies_of, fitted_door
from ..estimators.horopca import SEARCH_ROWS
from ..geometry import distance
from ..geometry._arrays import to_numpy
from ..statistics import frechet_median, standard_error
from .neighbours import EXACT_POINTS, SAMPLED_POINTS, Compared, check_neighbours, chosen_points


class Inspection(NamedTuple):
    """What a picture is worth for each of some points, and what each has done to it; ``print`` says the sum of it.

    Attributes
    ----------
    rows : ndarray (m,)
        Which rows of X were looked at.
    distortion : ndarray (m,)
        The mean relative change of a point's distances to all others.
    neighbours_kept : ndarray (m,)
        The share of its nearest neighbours that are still among its nearest in the picture.
    outlyingness : ndarray (m,)
        Its distance from the geometric median of the points, over the median of such distances: 1 is usual.
    leverage : ndarray (m,) or None
        By how much, as a share, the distances in the picture would change without it (root mean square).
    leverage_error : ndarray (m,) or None
        The standard error of the leverage, from its difference between halves of the points it was taken from: 0 where these
        are all others.
    n_samples : int
        The number of rows of X.
    note : str
        Why there is no leverage, or why it is not to be taken at its word.
    """

    rows: np.ndarray
    distortion: np.ndarray
    neighbours_kept: np.ndarray
    outlyingness: np.ndarray
    leverage: np.ndarray | None
    leverage_error: np.ndarray | None
    n_samples: int
    note: str

    @property
    def false_neighbours(self) -> np.ndarray:
        """The share of a point's nearest neighbours in the picture that are strangers before: all but those that are kept."""
        return 1 - self.neighbours_kept

    def most_influential(self, count: int = 10) -> np.ndarray:
        """The rows of X with the largest leverage, largest first."""
        check_count("count", count, 1)
        if self.leverage is None:
            raise ValueError(f"The most influential points are those of the largest leverage. {self.note}")
        return np.asarray(self.rows[np.argsort(-self.leverage, kind="stable")[:count]])

    def to_frame(self) -> Any:
        """All numbers as a pandas data frame, a line for each point, with the rows of X as its index."""
        import pandas

        names = ("distortion", "neighbours_kept", "false_neighbours", "outlyingness", "leverage", "leverage_error")
        columns = {name: values for name in names if (values := getattr(self, name)) is not None}
        return pandas.DataFrame(columns, index=pandas.Index(self.rows, name="row"))

    def __str__(self) -> str:
        m, n, worst = len(self.rows), self.n_samples, int(np.argmax(self.distortion))
        said = [
            f"{m:,} of {n:,} points were looked at." if m < n else f"All {n:,} points were looked at.",
            f"Mean distortion {self._mean(self.distortion)}, neighbours kept {self._mean(self.neighbours_kept)}.",
            f"Row {self.rows[worst]} is distorted most, by {self.distortion[worst]:.2f}.",
        ]
        if self.leverage is not None:
            top, usual = int(np.argmax(self.leverage)), float(np.median(self.leverage))
            said.append(
                f"Without row {self.rows[top]} distances in the picture would change by {self.leverage[top]:.2%}, without the "
                f"median point by {usual:.2%}; it lies {self.outlyingness[top]:.1f} times as far out as the median point."
            )
        return " ".join([*said, self.note]).strip()

    def _mean(self, values: np.ndarray) -> str:
        m, n = len(values), self.n_samples
        error = f" ± {standard_error(values.tolist()) * np.sqrt(1 - m / n):.3f}" if m < n else ""
        return f"{np.mean(values):.3f}{error}"


@one_blas_thread()
def inspect_points(
    model: HyperbolicReduction,
    X: Any,
    *,
    n_neighbors: int = 10,
    n_points: int | None = None,
    sample_weight: Any = None,
    random_state: Any = 0,
) -> Inspection:
    """For every point, what its place in the picture is worth, and how much the picture would change without it.

    Parameters
    ----------
    model : fitted reduction
    X : array of shape (n_samples, n_features)
        The points that it was fitted to. (Of others there is no leverage.)
    n_neighbors : int, default=10
        How many neighbours of a point are looked at: fewer than n_samples / 2.
    n_points : int or None, default=None
        Look at only so many random points, each among all others; None: at all up to 8192, else at 2048.
    sample_weight : array of shape (n_samples,), optional
        That of the fit, if there was any.
    random_state : int, RandomState, Generator or None, default=0
        Of the sample of points.

    Returns
    -------
    Inspection
        Arrays with a number for each point that was looked at: ``distortion``, ``neighbours_kept``, ``false_neighbours``,
        ``outlyingness``, and of `HoroPCA` ``leverage``. It names the ``most_influential(10)``, becomes a data frame with
        ``to_frame()``, and prints as sentences.

    Notes
    -----
    The leverage is that of a fit without the point, to first order: one step of Newton's method at the optimum, and not another
    fit. Without a point that holds the picture in one of several optima the fit would jump, and change more. What the objective
    takes from the data beforehand (the reach of "robust") is held fixed.

    Examples
    --------
    >>> from horopca import HoroPCA
    >>> from horopca.datasets import make_hierarchy
    >>> from horopca.metrics import inspect_points
    >>> X = make_hierarchy(random_state=0).points
    >>> found = inspect_points(HoroPCA(2, n_init=4).fit(X), X)
    >>> found.leverage.shape, found.most_influential(3).shape
    ((121,), (3,))
    """
    check_reduction(model)
    door = fitted_door(model)
    before = check_rows(X, door, estimator=model)
    n = before.shape[0]
    k, rows = check_neighbours(n_neighbors, n), chosen_points(n, n_points, random_state)
    copies = np.ones(n, dtype=np.int64) if sample_weight is None else copies_of(sample_weight, n, SEARCH_ROWS)
    x, y = to_numpy(before.all()), to_numpy(check_rows(model.transform(X), door, reach=FARTHEST_IMAGE).all())
    kept, _, distortion = Compared([x, y], k).values(rows)
    far = distance(x, to_numpy(frechet_median(x).point))
    usual = float(np.median(far))
    found, note = _leverage(model, x, rows, copies, check_generator(random_state))
    leverage, errors = (None, None) if found is None else (found.changes, found.errors)
    return Inspection(rows, distortion, kept, far[rows] / (usual if usual > 0 else 1.0), leverage, errors, n, note)


def _leverage(
    model: HyperbolicReduction, x: np.ndarray, rows: np.ndarray, copies: np.ndarray, rng: np.random.Generator
) -> tuple[Influence | None, str]:
    """What the fit to points x (n, d+1) owes to some of them; None if that is not known, and a sentence that says why."""
    if not isinstance(model, HoroPCA) or not hasattr(model, "_answer"):
        return None, "There is no leverage: it takes the objective of a HoroPCA, and where that has its optimum."
    if model.strategy == "greedy" and model.n_components_ > 1:
        return None, "There is no leverage: of components found one after another each depends on those before it."
    if len(x) != model.n_samples_seen_:
        return None, f"There is no leverage: the fit saw {model.n_samples_seen_:,} points, and these are {len(x):,}."
    frame, bases = model._answer
    goal = as_fitted(model, "objective") if bases[-1].shape[1] == x.shape[1] else "stretch"
    everyone = np.repeat(np.arange(len(x)), copies)
    if len(everyone) > EXACT_POINTS:
        everyone = rng.choice(everyone, size=SAMPLED_POINTS, replace=False)
    sample, points = (as_sample(frame.enter(x[some])) for some in (everyone, rows))
    sample = OBJECTIVES[goal].prepared(sample)
    optimum = Optimum(goal, sample, *family_at(bases[-1], model.spine == "free"), int(copies.sum()))
    found, note = influence(optimum, points, copies[rows]), ""
    whole = sample.size == optimum.seen  # a sample has its optimum elsewhere
    if not found.peak or (whole and found.left > np.median(found.changes)):
        note = "The fit does not end on a smooth peak of its objective over these points: leverage is a rough guide here."
    return found, note
