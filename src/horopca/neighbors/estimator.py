"""The estimator: scikit-learn's interface to nearest neighbours, with hyperbolic distances."""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, Literal, Self, get_args

import numpy as np
from array_api_compat import device, is_numpy_array
from scipy.sparse import csr_matrix
from sklearn.utils.validation import check_is_fitted

from .._input.arguments import check_choice, check_count, check_number
from .._input.coordinates import FARTHEST_IMAGE, ModelChoice
from .._input.rows import Rows, check_rows
from .._input.threads import allowed_threads, one_blas_thread
from ..estimators.base import HyperbolicEstimator, new_fit
from ..estimators.fitting import fitted_coordinates
from ..geometry._arrays import array_namespace, row_slices, to_numpy
from .search import QUERIES, Selection, Shells, queries_at_a_time, search_all

AlgorithmName = Literal["auto", "brute", "shells"]

# "auto" uses shells for at least this many points of at most this dimension, if a sample of points has few candidates each: at
# most 100, or a thousandth of all points. `python -m benchmarks.neighbors switch` prints the times and the choice: shells were
# faster with up to 61 candidates per query (trees, and all points in the plane) and slower from 131 on.
SHELL_POINTS, SHELL_DIMENSIONS = 1 << 13, 8
SAMPLE, MAX_CANDIDATES = 64, 100


@dataclass(eq=False, repr=False, kw_only=True)
class HyperbolicNeighbors(HyperbolicEstimator):
    """Exact nearest neighbours by hyperbolic distance, with the interface of scikit-learn's ``NearestNeighbors``.

    All algorithms return the same neighbours and distances. Neighbours at the same distance are ordered by row number.

    Parameters
    ----------
    n_neighbors : int, default=10
        The number of neighbours of `kneighbors` and `kneighbors_graph`.
    model : str, default="poincare"
        The model of hyperbolic space, as in `HoroPCA`.
    curvature : float, default=-1.0
        Negative; distances are in its unit of length.
    algorithm : {"auto", "brute", "shells"}, default="auto"
        "brute" compares a query with all points, by matrix products: on a device for arrays that are stored there, and a chunk
        at a time for memory-mapped files. "shells" sorts points by radius into shells, with a k-d tree of the directions in
        each: faster for many points in few dimensions, in memory only. "auto" takes shells for NumPy arrays of at least 8,192
        points in at most 8 dimensions if a sample of them shows that few points have to be compared.
    n_jobs : int or None, default=None
        Threads, as in joblib. None means as many as the library of linear algebra uses.

    Attributes
    ----------
    algorithm_ : str
        "brute" or "shells".
    n_samples_fit_ : int
    n_features_in_, feature_names_in_ : as in scikit-learn
    model_, curvature_ : those of the points

    See Also
    --------
    sklearn.neighbors.NearestNeighbors : for Euclidean points
    to_umap : neighbours for UMAP

    Examples
    --------
    >>> import numpy as np
    >>> from horopca.neighbors import HyperbolicNeighbors
    >>> X = np.array([[0.0, 0.0], [0.5, 0.0], [0.9, 0.0], [0.0, 0.9]])
    >>> distances, indices = HyperbolicNeighbors(n_neighbors=1).fit(X).kneighbors()
    >>> indices.ravel()
    array([1, 0, 1, 0])
    >>> distances.ravel().round(3)
    array([1.099, 1.099, 1.846, 2.944])
    """

    n_neighbors: int = field(default=10, kw_only=False)
    model: ModelChoice = "poincare"
    curvature: float = -1.0
    algorithm: AlgorithmName = "auto"
    n_jobs: int | None = None

    def fit(self, X: Any, y: Any = None) -> Self:
        """Store the points to search.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            Points in the estimator's model and curvature: NumPy, torch or another array library, a memory-mapped file or a
            data frame. They are not copied by "brute".
        y : None
            Ignored, present for API consistency with scikit-learn.

        Returns
        -------
        self
        """
        check_choice("algorithm", self.algorithm, get_args(AlgorithmName))
        check_count("n_neighbors", self.n_neighbors, 1)
        with new_fit(self, X, min_rows=1, reach=FARTHEST_IMAGE) as rows:
            if rows.remote:
                raise ValueError("X must be in memory or in a mapped file, but is a Dask array. Pass X.compute().")
            self.n_samples_fit_ = rows.shape[0]
            self._rows = rows
            self._shells = self._make_shells(rows)
            self.algorithm_ = "brute" if self._shells is None else "shells"
        return self

    def _make_shells(self, rows: Rows) -> Shells | None:
        """The shells, or None if the search compares a query with all points."""
        n, d = rows.shape[0], rows.shape[1] - 1
        suited = n >= SHELL_POINTS and d <= SHELL_DIMENSIONS and is_numpy_array(rows.X)
        if self.algorithm == "brute" or (self.algorithm == "auto" and not suited):
            return None
        shells = Shells(to_numpy(rows.all()))
        if self.algorithm == "auto":
            first = Selection(rows.take(np.linspace(0, n - 1, SAMPLE).astype(int)), self.n_neighbors)
            shells.search(first)
            if first.considered > max(MAX_CANDIDATES, n / 1000) * SAMPLE:
                return None
        return shells

    def kneighbors(self, X: Any = None, n_neighbors: int | None = None, return_distance: bool = True) -> Any:
        """The nearest neighbours of points, nearest first.

        Parameters
        ----------
        X : array of shape (n_queries, n_features), optional
            The points of the fit if not given; a point is then not its own neighbour.
        n_neighbors : int, optional
            That of the estimator if not given.
        return_distance : bool, default=True
            Whether to return the distances too.

        Returns
        -------
        distances : array of shape (n_queries, n_neighbors), if `return_distance`
        indices : array of shape (n_queries, n_neighbors)
            Arrays of the library and device of X.
        """
        check_is_fitted(self)
        most = self.n_samples_fit_ - (X is None)
        why = f" (the number of points{' other than the query' if X is None else ''})"
        k = check_count("n_neighbors", self.n_neighbors if n_neighbors is None else n_neighbors, 1, most, why)
        rows, width = self._queries(X), k + (X is None)
        _, distances, indices = (part.reshape(-1, width) for part in self._search(rows, width, math.inf))
        if X is None:
            # if more than k points coincide with a query, it may not be among its own neighbours: then the last one is removed
            others = indices != np.arange(rows.shape[0])[:, None]
            others[others.all(axis=1), -1] = False
            distances, indices = distances[others].reshape(-1, k), indices[others].reshape(-1, k)
        return (_like(distances, rows.X), _like(indices, rows.X)) if return_distance else _like(indices, rows.X)

    def radius_neighbors(self, X: Any = None, radius: float = 1.0, return_distance: bool = True) -> Any:
        """All points within a distance of each of some points, nearest first.

        Parameters
        ----------
        X, return_distance
            As in `kneighbors`.
        radius : float, default=1.0
            In the unit of the curvature; points at exactly this distance are included.

        Returns
        -------
        distances : array of shape (n_queries,) of arrays, if `return_distance`
        indices : array of shape (n_queries,) of arrays
            NumPy arrays.
        """
        check_is_fitted(self)
        reach = check_number("radius", radius, "a distance >= 0", least=0)
        rows = self._queries(X)
        queries, distances, indices = self._search(rows, None, math.nextafter(reach * rows.coordinates.scale, math.inf))
        kept = distances <= reach
        if X is None:
            kept &= indices != queries
        ends = np.searchsorted(queries[kept], np.arange(1, rows.shape[0]))
        distances, indices = (_ragged(np.split(values[kept], ends)) for values in (distances, indices))
        return (distances, indices) if return_distance else indices

    def kneighbors_graph(
        self, X: Any = None, n_neighbors: int | None = None, mode: Literal["connectivity", "distance"] = "connectivity"
    ) -> csr_matrix:
        """The graph of nearest neighbours.

        Parameters
        ----------
        X, n_neighbors
            As in `kneighbors`.
        mode : {"connectivity", "distance"}, default="connectivity"
            Edges have the weight 1, or their length.

        Returns
        -------
        sparse matrix of shape (n_queries, n_samples_fit), in CSR format
        """
        check_choice("mode", mode, ("connectivity", "distance"))
        distances, indices = (to_numpy(part) for part in self.kneighbors(X, n_neighbors))
        m, k = indices.shape
        weights = distances.ravel() if mode == "distance" else np.ones(m * k)
        return csr_matrix((weights, indices.ravel().astype(np.int64), np.arange(0, m * k + 1, k)), (m, self.n_samples_fit_))

    def _queries(self, X: Any) -> Rows:
        """Validate the queries."""
        return self._rows if X is None else check_rows(X, fitted_coordinates(self), estimator=self, reach=FARTHEST_IMAGE)

    @one_blas_thread()
    def _search(self, rows: Rows, k: int | None, reach: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Flat arrays, one entry for each neighbour: the number of its query (sorted), its distance (sorted) and its row."""
        found, start = [], 0
        step = queries_at_a_time(self._rows.X, self.n_samples_fit_) if self._shells is None else QUERIES
        threads = allowed_threads(self.n_jobs) if is_numpy_array(self._rows.X) else 1
        with ThreadPoolExecutor(threads) as pool:
            for chunk in rows.chunks():
                x = _as_float64_like(chunk.points(), self._rows.X)
                some = [Selection(x[part, :], k, reach) for part in row_slices(x.shape[0], step)]
                if self._shells is None:
                    search_all(self._rows.chunks(), some, pool.map)
                else:
                    list(pool.map(self._shells.search, some))
                for selection in some:
                    found.append((selection.query + start, selection.distance, selection.row))
                    start += len(selection.limits)
        queries, distances, indices = map(np.concatenate, zip(*found, strict=True))
        return queries, distances / rows.coordinates.scale, indices


def _as_float64_like(x: Any, like: Any) -> Any:
    """Points as float64 in the library and on the device of another array."""
    xp = array_namespace(like)
    if array_namespace(x) == xp and device(x) == device(like):
        return x
    return xp.asarray(to_numpy(x), dtype=xp.float64, device=device(like))


def _like(values: np.ndarray, X: Any) -> Any:
    """Values as an array of the library and device of X."""
    return values if is_numpy_array(X) else array_namespace(X).asarray(values, device=device(X))


def _ragged(parts: list[np.ndarray]) -> np.ndarray:
    found = np.empty(len(parts), dtype=object)
    found[:] = parts
    return found
