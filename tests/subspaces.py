"""Bases of subspaces of R^{1,4} to test with."""

import numpy as np

rng = np.random.default_rng(0)
BASES = {
    "any": rng.standard_normal((2, 5)),
    "time first and negative": rng.standard_normal((3, 5)) - [3, 0, 0, 0, 0],
    "time in the last row alone": np.array([[0, 1.0, 0, 0, 0], [0, 0, 1.0, 0, 0], [-2.0, 0.1, 0, 0, 0.3]]),
    "no time": np.array([[0, 1.0, 0, 2.0, 0], [0, 0, 1.0, 0, 0]]),
    "time alone": np.array([[1.0, 0, 0, 0, 0], [0, 0, 0.6, 0.8, 0]]),
    "time alone, and most axes": np.array([[2.0, 0, 0, 0, 0], [0, 1.0, 0, 0, 0], [0, 0, 1.0, 0, 0], [0, 0, 0, 0.6, 0.8]]),
    "one vector": np.array([[-1.0, 0.3, 0.2, 0, 0]]),
    "everything": np.eye(5),
}


def same_span(A: np.ndarray, B: np.ndarray) -> bool:
    """Whether two bases span the same subspace."""
    return np.linalg.matrix_rank(np.concatenate([A, B]), tol=1e-9) == len(A) == len(B)
