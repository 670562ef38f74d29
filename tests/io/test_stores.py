"""Zarr stores: read as they were written, and never guessed at."""

import json
import random
import shutil

import dask
import dask.array as da
import numpy as np
import pytest

from fuzz.mutation import mutated
from fuzz.samples import Sample
from horopca.io.stores import open_store, write_store

zarr = pytest.importorskip("zarr")
X = np.random.default_rng(0).uniform(-0.4, 0.4, (120, 3))
D = da.from_array(X, chunks=((50, 40, 30), 3))


@pytest.fixture(autouse=True)
def one_thread():
    with dask.config.set(scheduler="synchronous"):
        yield


def test_store_round_trip(tmp_path):
    for Y in (X, 0 * X):  # all zeros: Zarr would leave the chunks out
        store = write_store(tmp_path / f"{Y[0, 0]}.zarr", da.from_array(Y, chunks=((50, 40, 30), 3)))
        np.testing.assert_array_equal(open_store(store).compute(), Y)
    with pytest.raises(ValueError, match=r"is neither a Zarr store nor a \.npy file"):
        open_store(tmp_path)


def test_chunk_sizes(tmp_path, monkeypatch):
    store = zarr.open_array(str(tmp_path / "a.zarr"), mode="w", shape=X.shape, chunks=(10, 2), dtype=X.dtype)
    store[:] = X
    np.save(tmp_path / "a.npy", X)
    monkeypatch.setattr("horopca.io.stores.CHUNK_BYTES", 50 * 3 * 8)
    for name in ("a.zarr", "a.npy"):
        found = open_store(tmp_path / name)
        assert found.chunks == ((50, 50, 20), (3,))
        np.testing.assert_array_equal(found[45:60].compute(), X[45:60])


def test_group_needs_key(tmp_path):
    group = zarr.open_group(str(tmp_path / "g.zarr"), mode="w")
    for key in ("one", "two"):
        group.create_array(key, shape=X.shape, dtype=float)[:] = X
    for key, reason in ((None, "holds several arrays"), ("three", "has no array 'three'")):
        with pytest.raises(ValueError, match=rf"{reason}: pass one of one, two as key="):
            open_store(tmp_path / "g.zarr", key)
    assert open_store(tmp_path / "g.zarr", "two").shape == X.shape


def change_header(store, **fields):
    header = json.loads((store / "zarr.json").read_text())
    (store / "zarr.json").write_text(json.dumps({**header, **fields}))


def grid(*chunk):
    return {"name": "regular", "configuration": {"chunk_shape": chunk}}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda store: change_header(store, shape=[10**13, 3]), "should hold 200,000,000,000 chunks, but holds 3"),
        (lambda store: (store / "c" / "1" / "0").unlink(), "should hold 3 chunks, but holds 2"),
        (lambda store: change_header(store, chunk_grid=grid(10**12, 3)), "would take 24 TB or more in memory"),
        (lambda store: change_header(store, shape=[120, 10**12], chunk_grid=grid(50, 10**12)), "would take .* in memory"),
        (lambda store: change_header(store, shape=[0, 3]), r"has shape \(0, 3\)"),
        (lambda store: change_header(store, shape=[360], chunk_grid=grid(50)), r"has shape \(360,\)"),
        (lambda store: change_header(store, data_type="complex128", fill_value=[0, 0]), "must hold plain numbers"),
        (lambda store: change_header(store, attributes={"filter": "pickle"}), "needs pickle"),
        (lambda store: (store / "zarr.json").write_text("[" * 100_000), "is damaged, or not a Zarr store"),
    ],
)
def test_hostile_header_raises_error(tmp_path, change, message):
    store = write_store(tmp_path / "a.zarr", D)
    change(store)
    with pytest.raises(ValueError, match=message) as error:
        open_store(store)
    assert str(store) in str(error.value)


def damage(folder, draw):
    """Damage up to three files."""
    for _ in range(draw.randint(1, 3)):
        file = draw.choice(sorted(path for path in folder.rglob("*") if path.is_file()))
        sample = Sample(file.read_bytes(), ())
        file.write_bytes(mutated(sample, [sample], draw))


@pytest.mark.parametrize("kind", ["v3", "v2", "sharded group"])
def test_damaged_stores(tmp_path, kind):
    valid, store = tmp_path / "valid.zarr", tmp_path / "a.zarr"
    options = {"shape": X.shape, "chunks": (20, 3), "dtype": X.dtype}
    if kind == "sharded group":
        array = zarr.open_group(str(valid), mode="w").create_array("x", shards=(40, 3), **options)
    else:
        array = zarr.open_array(str(valid), mode="w", zarr_format=int(kind[1]), **options)
    array[:] = X
    outcomes = []
    for seed in range(40):
        shutil.rmtree(store, ignore_errors=True)
        shutil.copytree(valid, store)
        damage(store, random.Random(seed))
        try:
            outcomes.append(open_store(store).compute().shape)
        except ValueError as error:
            assert str(store) in str(error)
            outcomes.append("error")
    assert {"error", X.shape} <= set(outcomes)
