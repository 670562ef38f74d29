"""Files of points state their model, curvature, names and labels, and every command takes them from there."""

import json

import numpy as np
import pytest

from cli.running import refused, run
from clouds import cloud
from horopca.geometry import from_hyperboloid
from horopca.io import load, save

X = from_hyperboloid(cloud(40, 3), "lorentz") / np.sqrt(2)
NAMES = [f"node {i}" for i in range(40)]
LABELS = ["ab"[i % 2] for i in range(40)]
STATED = {"model": "lorentz", "curvature": -2.0}


@pytest.fixture(params=[".npy", ".npz", ".csv", ".tsv", ".h5ad"])
def stated(request, tmp_path):
    return save(tmp_path / f"points{request.param}", X, LABELS, names=NAMES, **STATED, source={"input": "here", "ratio": X[0]})


def test_metadata_round_trip(stated):
    table = load(stated)
    assert (table.model, table.curvature, table.row_names, table.labels) == ("lorentz", -2.0, NAMES, LABELS)
    assert np.array_equal(table.X, X) and table.X.shape == (40, 4)
    again = load(save(stated, table.X, force=True))  # the file that is written states nothing
    assert (again.model, again.curvature) == (None, None)


def test_output_is_read_by_the_next_command(tmp_path, stated):
    suffix = {".npy": ".csv", ".csv": ".npz", ".npz": ".tsv", ".tsv": ".npy"}.get(stated.suffix, stated.suffix)
    plane, line, key = tmp_path / f"plane{suffix}", tmp_path / f"line{suffix}", "X_tpca" if suffix == ".h5ad" else None
    assert run("reduce", stated, "-k", 2, "--method", "tpca", "-o", plane).exit_code == 0
    options = ("--key", key) if key else ()
    result = run("reduce", plane, "-k", 1, "--method", "tpca", *options, "-o", line)
    assert result.exit_code == 0, result.output
    table = load(plane, key=key)
    assert (table.model, table.curvature, table.row_names, table.labels) == ("lorentz", -2.0, NAMES, LABELS)
    assert run("plot", plane, *options, "-o", tmp_path / "plane.png").exit_code == 0


def test_fit_of_another_model_raises_error(tmp_path, stated):
    other = save(tmp_path / "other.npz", np.zeros((5, 4)), model="poincare", curvature=-2.0)
    assert run("reduce", stated, "-k", 1, "--method", "tpca", "--save-fit", tmp_path / "fit.npz").exit_code == 0
    result = run("reduce", other, "--from-fit", tmp_path / "fit.npz")
    refused(result, "fit.npz, lorentz contradicts the file, which states model poincare")


def test_standard_output_warns_about_missing_metadata(tmp_path):
    path = save(tmp_path / "points.npz", X, **STATED)
    result = run("reduce", path, "-k", 1, "--method", "tpca", "-o", "-")
    assert "Warning: Standard output does not state the model: pass --model lorentz --curvature -2.0" in result.stderr


def test_outdated_metadata_raises_error(tmp_path):
    path = save(tmp_path / "points.npy", X, **STATED)
    np.save(path, X / 2)
    with pytest.raises(ValueError, match=r"points\.npy\.json describes another version of .*: remove it"):
        load(path)
    save(path, X, force=True)
    assert not (tmp_path / "points.npy.json").exists()
    (tmp_path / "points.npy.json").write_text('{"somebody": "else"}')
    assert load(path).model is None


@pytest.mark.parametrize(
    ("metadata", "words"),
    [
        ({"model": "sphere"}, "names the model 'sphere', but the models are poincare"),
        ({"curvature": 1.0}, "names the curvature 1.0, but a curvature is a negative number"),
        ({"curvature": True}, "names the curvature"),
        ("[" * 100_000, "has damaged metadata"),
    ],
)
def test_damaged_metadata_raises_error(tmp_path, metadata, words):
    text = metadata if isinstance(metadata, str) else json.dumps(metadata)
    np.savez(tmp_path / "a.npz", X=X, horopca=np.array(text.encode()))
    with pytest.raises(ValueError, match=words):
        load(tmp_path / "a.npz")


@pytest.mark.parametrize(
    ("name", "changed"),
    [
        *(("a.npy", {"names": names}) for names in (["a"], "abc", [1] * 40, None)),
        *(("a.csv", {"columns": columns}) for columns in (["kind"], {"kind": "sort"}, {"kind": 1}, {"size": "words"})),
    ],
)
def test_damaged_side_file_raises_error(tmp_path, name, changed):
    path, side = save(tmp_path / name, X, names=NAMES, columns={"kind": LABELS}), tmp_path / f"{name}.json"
    side.write_text(json.dumps({**json.loads(side.read_text()), **changed}))
    with pytest.raises(ValueError, match="metadata"):
        load(path)
