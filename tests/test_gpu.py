"""On a GPU: arrays go in and come out on their device, with the answers of the CPU."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from horopca import HoroPCA, geometry, metrics
from horopca.datasets import make_hierarchy
from horopca.statistics import frechet_mean

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA GPU")


@pytest.fixture(scope="module")
def X():
    return make_hierarchy(branching=3, depth=4, n_features=6, random_state=0).points


def libraries():
    yield pytest.param(lambda X: torch.asarray(X, device="cuda"), id="torch")
    try:
        import cupy
    except ImportError:
        return
    yield pytest.param(cupy.asarray, id="cupy")


@pytest.mark.parametrize("to_device", list(libraries()))
@pytest.mark.parametrize("options", [{}, {"spine": "free"}, {"n_components": 3, "strategy": "greedy"}])
def test_same_answers_on_the_device(X, to_device, options):
    there = to_device(X)
    here, away = HoroPCA(random_state=0, **options).fit(X), HoroPCA(random_state=0, **options).fit(there)
    pairs = [
        (here.transform(X), away.transform(there)),
        (here.inverse_transform(here.transform(X)), away.inverse_transform(away.transform(there))),
    ]
    if here.ideal_points_ is not None:
        pairs.append((here.busemann(X), away.busemann(there)))
    for expected, found in pairs:
        assert type(found) is type(there)
        assert found.device == there.device
        host = found.cpu().numpy() if hasattr(found, "cpu") else found.get()
        assert np.allclose(host, expected, atol=1e-6)
    assert away.score(there) == pytest.approx(here.score(X), rel=1e-8)


@pytest.mark.parametrize("to_device", list(libraries()))
def test_means_and_metrics_on_the_device(X, to_device):
    there = to_device(X)
    mean = frechet_mean(geometry.to_hyperboloid(there))
    assert mean.point.device == there.device
    assert mean.variance == pytest.approx(frechet_mean(geometry.to_hyperboloid(X)).variance, rel=1e-8)
    assert metrics.pair_variance(there) == pytest.approx(metrics.pair_variance(X), rel=1e-8)
    assert metrics.average_distortion(there, there[:, :3]) == pytest.approx(metrics.average_distortion(X, X[:, :3]), rel=1e-8)
