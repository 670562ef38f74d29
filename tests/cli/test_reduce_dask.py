"""``horopca reduce --dask`` reads and writes what a file states about its points."""

from contextlib import nullcontext

import dask
import numpy as np

from clouds import cloud
from horopca.geometry import from_hyperboloid
from horopca.io import save
from horopca.io.stores import read_store_metadata

from .running import done, refused, run

X = from_hyperboloid(cloud(60, 4), "poincare")


def test_stores_state_model_and_names(tmp_path, monkeypatch):
    """As files do: an .npy file beside it, a store in its attributes."""
    monkeypatch.setattr("horopca.cli.reduce.cluster", nullcontext)
    names, plane = [f"node {i}" for i in range(60)], tmp_path / "plane.zarr"
    points = save(tmp_path / "points.npy", X / np.sqrt(2), names=names, model="poincare", curvature=-2.0)
    for source, components, output in ((points, 2, plane), (plane, 1, tmp_path / "line.zarr")):
        with dask.config.set(scheduler="synchronous"):
            done("reduce", "--dask", "local", source, "-k", components, "--method", "tpca", "-o", output)
            contradiction = run("reduce", "--dask", "local", source, "--curvature", -1, "-o", tmp_path / "other.zarr")
        refused(contradiction, "--curvature -1.0 contradicts the file, which states curvature -2.0")
        stated = read_store_metadata(output)
        assert (stated["curvature"], stated["names"], stated["input"]) == (-2.0, names, str(source))
