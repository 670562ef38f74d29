"""Every system that is measured, one row each: those of the paper, of its published code, ours, and others."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from horopca import (
    BSA,
    PGA,
    EuclideanPCA,
    HoroPCA,
    HyperbolicMDS,
    RadialPCA,
    TangentPCA,
)
from horopca._input.arguments import check_generator
from horopca.geometry import from_hyperboloid, to_hyperboloid, translate
from horopca.statistics import frechet_mean

from .orthonormal import OrthonormalHoroPCA


class System(NamedTuple):
    """A row of the tables."""

    title: str
    make: Callable[..., Any]  # (n_components, seed, **model) -> an estimator, not fitted
    whose: str = "paper"  # "paper": as described there; "code": as in the published code; "ours"; "other"
    chance: bool = True  # whether runs differ
    published: str = ""  # its row in the paper's tables, if it has one


def _seeded(kind: Any, **options: Any) -> Callable[..., Any]:
    return lambda K, seed, **model: kind(K, random_state=seed, **options, **model)


def noisy(kind: Any, noise: float) -> Any:
    """PGA or BSA through the mean moved by Gaussian noise, of this standard deviation along each axis of the tangent space."""

    class Noisy(kind):  # type: ignore[misc]
        def fit(self, X: Any, y: Any = None) -> Any:
            mean = frechet_mean(to_hyperboloid(X, self.model)).point
            v = noise * check_generator(self.random_state).standard_normal(len(mean) - 1)
            self.base_point = from_hyperboloid(translate(to_hyperboloid(v, "tangent"), mean), self.model)
            return super().fit(X)

    return Noisy


def _autoencoder(K: int, seed: int, **options: Any) -> Any:
    from ..autoencoder import HyperbolicAutoencoder  # needs torch

    return HyperbolicAutoencoder(K, random_state=seed, **options)


def _plain(kind: Any) -> Callable[..., Any]:
    return lambda K, seed, **model: kind(K, **model)


SYSTEMS = {
    "pca": System("PCA", _plain(EuclideanPCA), chance=False, published="pca"),
    "tpca": System("tangent PCA", _plain(TangentPCA), chance=False, published="tpca"),
    "pga": System("PGA, greedy", _seeded(PGA, strategy="greedy"), published="pga"),
    "pga-noise": System("PGA, base off by σ = 0.5", _seeded(noisy(PGA, 0.5), strategy="greedy"), published="pga-noise"),
    "bsa": System("BSA", _seeded(BSA), published="bsa"),
    "bsa-noise": System("BSA, base off by σ = 0.5", _seeded(noisy(BSA, 0.5)), published="bsa-noise"),
    "hae": System("hAE, as described", partial(_autoencoder, hidden=(), isometry=0.0), published="hae"),
    "hmds": System("hMDS", _plain(HyperbolicMDS), chance=False, published="hmds"),
    "greedy": System("HoroPCA, greedy", _seeded(HoroPCA, strategy="greedy"), chance=False, published="horopca"),
    "orthonormal": System("HoroPCA, orthonormal", _seeded(OrthonormalHoroPCA), "code", published="horopca"),
    "horopca": System("`HoroPCA()`", _seeded(HoroPCA), "ours", chance=False),
    "free": System('`HoroPCA(spine="free")`', _seeded(HoroPCA, spine="free"), "ours", chance=False),
    "frechet": System(
        '`HoroPCA(spine="free", objective="frechet")`',
        _seeded(HoroPCA, spine="free", objective="frechet"),
        "ours",
        chance=False,
    ),
    "distortion": System(
        '`HoroPCA(spine="free", objective="distortion")`',
        _seeded(HoroPCA, spine="free", objective="distortion"),
        "ours",
        chance=False,
    ),
    "stretch": System(
        '`HoroPCA(spine="free", objective="distortion", stretch=True)`',
        _seeded(HoroPCA, spine="free", objective="distortion", stretch=True),
        "ours",
        chance=False,
    ),
    "radial": System("`RadialPCA()`", _plain(RadialPCA), "other", chance=False),
    "hae-ours": System("`HyperbolicAutoencoder()`", _autoencoder, "other"),
}

OURS = tuple(name for name, system in SYSTEMS.items() if system.whose == "ours")
NOISES = (0.25, 0.5, 1.0, 2.0)  # standard deviations of the noise at the base point; the paper does not say which it used
