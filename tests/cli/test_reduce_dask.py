"""``horopca reduce --dask``: chunked stores, reduced by a cluster."""

import dask.array as da
import numpy as np
import pytest
from distributed import LocalCluster
from matplotlib.figure import Figure

from clouds import cloud
from horopca import TangentPCA
from horopca.geometry import from_hyperboloid
from horopca.io.stores import open_store, write_store

from .running import done, refused, run

X = from_hyperboloid(cloud(3000, 5, radius=3.0), "poincare")


@pytest.fixture
def store(tmp_path):
    return write_store(tmp_path / "in.zarr", da.from_array(X, chunks=(700, 5)))


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
