"""Classical multidimensional scaling in Euclidean space, a baseline for pictures of hyperbolic distances."""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigh


def classical_mds(D: np.ndarray, K: int) -> np.ndarray:
    """Points (n, K) of Euclidean space whose distances approximate D (n, n), by the eigenvectors of the centred squares."""
    square = D * D
    B = -(square - square.mean(axis=0) - square.mean(axis=1)[:, None] + square.mean()) / 2
    values, vectors = eigh(B, subset_by_index=(len(D) - K, len(D) - 1))
    return np.asarray(vectors[:, ::-1] * np.sqrt(np.maximum(values[::-1], 0.0)))


def triangulated(to_landmarks: np.ndarray, D: np.ndarray, landmarks: np.ndarray) -> np.ndarray:
    """Landmark MDS (de Silva and Tenenbaum, 2004): points (m, K) from their distances (m, n) to the landmarks.

    `landmarks` (n, K) are the result of `classical_mds` for the distances D (n, n) between them.
    """
    away = ((D * D).mean(axis=0) - to_landmarks**2) / 2
    return np.asarray(away @ np.linalg.pinv(landmarks).T)
