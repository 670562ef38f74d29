"""``horopca reduce --dask``: chunked stores, reduced by a cluster."""

from contextlib import nullcontext

import dask
import dask.array as da
import numpy as np
import pytest
from distributed import LocalCluster
from matplotlib.figure import Figure

from clouds import cloud
from horopca import TangentPCA
from horopca.geometry import from_hyperboloid
from horopca.io import save
from horopca.io.stores import open_store, read_store_metadata, save_store

from .running import done, refused, run

X = from_hyperboloid(cloud(3000, 5, radius=3.0), "poincare")


@pytest.fixture
def store(tmp_path):
    return save_store(tmp_path / "in.zarr", da.from_array(X, chunks=(700, 5)))


def test_reduce_on_a_cluster(store, tmp_path, monkeypatch):
    """With workers in this process, behind sockets; tests/fuzz/test_cluster.py has workers in other processes."""
    options = {"processes": False, "protocol": "tcp://", "dashboard_address": ":0", "silence_logs": 50}
    with LocalCluster(n_workers=2, threads_per_worker=1, **options) as cluster:
        at, fit = ("reduce", "--dask", cluster.scheduler_address, store), tmp_path / "fit.npz"
        done(*at, "--method", "tpca", "--save-fit", fit, "-o", tmp_path / "out.zarr")
        assert sorted(path.name for path in tmp_path.iterdir()) == ["fit.npz", "in.zarr", "out.zarr"]
        estimator = TangentPCA(2).fit(X)
        np.testing.assert_allclose(open_store(tmp_path / "out.zarr").compute(), estimator.transform(X), atol=1e-8)
        done(*at, "--from-fit", fit, "-o", tmp_path / "again.zarr")
        with monkeypatch.context() as patch:  # all or nothing, here too
            patch.setattr(Figure, "savefig", lambda *_, **__: (_ for _ in ()).throw(OSError(28, "No space left")))
            outputs = ("--save-fit", tmp_path / "b.npz", "--plot", tmp_path / "b.png", "-o", tmp_path / "b.zarr")
            refused(run(*at, "--method", "tpca", *outputs), "No space left")
        assert sorted(path.name for path in tmp_path.iterdir()) == ["again.zarr", "fit.npz", "in.zarr", "out.zarr"]
    written, again = (open_store(tmp_path / name).compute() for name in ("out.zarr", "again.zarr"))
    np.testing.assert_allclose(again, written, atol=1e-12)


def test_stores_state_model_and_names(tmp_path, monkeypatch):
    """As files do: an .npy file beside it, a store in its attributes."""
    monkeypatch.setattr("horopca.cli.reduce.cluster", nullcontext)
    names, plane = [f"node {i}" for i in range(60)], tmp_path / "plane.zarr"
    points = save(tmp_path / "points.npy", X[:60] / np.sqrt(2), names=names, model="poincare", curvature=-2.0)
    for source, components, output in ((points, 2, plane), (plane, 1, tmp_path / "line.zarr")):
        with dask.config.set(scheduler="synchronous"):
            done("reduce", "--dask", "local", source, "-k", components, "--method", "tpca", "-o", output)
            contradiction = run("reduce", "--dask", "local", source, "--curvature", -1, "-o", tmp_path / "other.zarr")
        refused(contradiction, "--curvature -1.0 contradicts the file, which states curvature -2.0")
        stated = read_store_metadata(output)
        assert (stated["curvature"], stated["names"], stated["input"]) == (-2.0, names, str(source))
