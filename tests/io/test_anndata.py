"""AnnData, in memory and in files: what scanpy's users put in comes back from the library itself."""

import numpy as np
import pytest

from cli.running import refused, run
from horopca import HoroPCA, TangentPCA, anndata
from horopca.datasets import make_hierarchy
from horopca.io import load, save

ad = pytest.importorskip("anndata", reason="anndata is not installed")
TREE = make_hierarchy(2, 4, 5, random_state=0)
NAMES = [f"cell {i}" for i in range(len(TREE.points))]


@pytest.fixture
def adata():
    import pandas

    obs = {"type": pandas.Categorical(TREE.labels), "age": np.arange(len(NAMES)) / 2}
    obs["kind"] = pandas.Categorical(["a", None, "b", *["a"] * (len(NAMES) - 3)])
    return ad.AnnData(np.ones((len(NAMES), 2)), pandas.DataFrame(obs, index=NAMES), obsm={"X_poincare": TREE.points})


def test_reduce_adds_to_obsm(adata):
    before = adata.copy()
    assert anndata.reduce(adata, "X_poincare", key_added="X_plane", random_state=0) is None
    expected = HoroPCA(2, random_state=0).fit(TREE.points)
    assert np.array_equal(adata.obsm["X_plane"], expected.transform(TREE.points))
    assert np.allclose(adata.uns["plane"]["variance_ratio"], expected.explained_variance_ratio_)
    assert adata.uns["plane"]["params"].items() >= {"basis": "X_poincare", "spine": "auto", "random_state": 0}.items()
    assert np.array_equal(adata.obsm["X_poincare"], TREE.points) and adata.obs.equals(before.obs)


def test_other_estimator_and_copy(adata):
    found = anndata.reduce(adata, "poincare", estimator=TangentPCA(3), copy=True)
    assert found.obsm["X_horopca"].shape == (len(NAMES), 3) and list(adata.obsm) == ["X_poincare"] and not adata.uns
    assert found.uns["horopca"]["params"]["estimator"] == "TangentPCA"
    with pytest.raises(ValueError, match=r"basis must be an array of adata\.obsm, but 'X_umap' is not; it has X_poincare"):
        anndata.reduce(adata, "X_umap")
    with pytest.raises(ValueError, match="estimator and spine were both passed"):
        anndata.reduce(adata, estimator=TangentPCA(2), spine="free")


def test_output_keeps_the_other_content(tmp_path, monkeypatch, adata):
    monkeypatch.chdir(tmp_path)
    adata.uns["note"] = "kept"
    adata.write_h5ad("cells.h5ad")
    assert run("reduce", "cells.h5ad", "--key", "obsm/X_poincare", "--method", "tpca", "-o", "out.h5ad").exit_code == 0
    found = ad.read_h5ad("out.h5ad")
    assert np.array_equal(found.obsm["X_tpca"], TangentPCA(2).fit_transform(TREE.points))
    assert np.array_equal(found.obsm["X_poincare"], TREE.points) and found.uns["note"] == "kept"
    assert found.uns["tpca"]["params"]["basis"] == "obsm/X_poincare" and found.obs.equals(adata.obs)
    assert np.array_equal(found.X, adata.X)
    refused(run("reduce", "out.h5ad", "-o", "plane.csv"), "choose the array of obsm to read with --key")
    assert run("reduce", "cells.h5ad", "--method", "tpca", "--colour-by", "type", "-o", "plane.csv").exit_code == 0
    assert load("plane.csv").row_names == NAMES and load("plane.csv").labels == TREE.labels


def test_chosen_classes_are_kept(tmp_path, monkeypatch, adata):
    monkeypatch.chdir(tmp_path)
    adata.obs.insert(0, "batch", ["ab"[i % 2] for i in range(len(NAMES))])
    adata.obs_names = ["same"] * len(NAMES)  # as scanpy allows, with a warning
    adata.write_h5ad("cells.h5ad")
    assert run("reduce", "cells.h5ad", "--method", "tpca", "--colour-by", "type", "-o", "out.h5ad").exit_code == 0
    assert load("cells.h5ad").labels == list(adata.obs["batch"]) and load("cells.h5ad").row_names == ["same"] * len(NAMES)
    assert load("out.h5ad", key="X_tpca").labels == TREE.labels


def test_anndata_reads_new_file(tmp_path):
    path = save(tmp_path / "new.h5ad", TREE.points, TREE.labels, names=NAMES, key="X_poincare", source={"params": {"d": 5}})
    found = ad.read_h5ad(path)
    assert np.array_equal(found.obsm["X_poincare"], TREE.points) and list(found.obs_names) == NAMES
    assert list(found.obs["labels"]) == TREE.labels and found.uns["poincare"] == {"params": {"d": 5}}
    table = load(path)
    assert table.row_names == NAMES and table.labels == TREE.labels


def test_columns_of_observations(tmp_path, adata):
    adata.uns["kind_colors"], adata.uns["type_colors"] = ["#ff0000", "#00FF00ff"], ["red"] * 4
    adata.write_h5ad(tmp_path / "cells.h5ad")
    table = load(tmp_path / "cells.h5ad")
    assert table.X.shape == TREE.points.shape and table.values["age"].tolist() == (np.arange(len(NAMES)) / 2).tolist()
    assert table.words["kind"][:3] == ["a", "", "b"] and table.colours == {"kind": {"a": "#ff0000", "b": "#00FF00"}}
    assert load(tmp_path / "cells.h5ad", labels="age").labels[:3] == ["0", "0.5", "1"]
