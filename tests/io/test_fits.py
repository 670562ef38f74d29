"""Fitted estimators in files: what comes back does what was saved, and what is no estimator is refused in a sentence."""

import io
import json
import pickle
import zipfile
from pathlib import Path

import numpy as np
import pytest

import horopca
from clouds import cloud
from horopca.datasets import make_hierarchy
from horopca.geometry import from_hyperboloid, pairwise_distance
from horopca.io import load_fitted, memory_limit, reduce_file, save, save_fitted
from horopca.io.fits import ESTIMATORS, PRIVATE
from horopca.io.fits import KINDS as CHECKED

TREE = make_hierarchy(3, 3, 5, random_state=0).points
NEW = from_hyperboloid(cloud(7, 5, seed=3), "poincare")

KINDS = {
    "BSA": lambda: horopca.BSA(2, n_init=1, random_state=0),
    "PGA": lambda: horopca.PGA(2, n_init=1, base_point=np.full(5, 0.1), base_noise=0.1, random_state=0),
    "BusemannWhitener": lambda: horopca.BusemannWhitener(3, random_state=0),
    "EuclideanPCA": lambda: horopca.EuclideanPCA(2),
    "HalfSpaceProjection": lambda: horopca.HalfSpaceProjection(2, random_state=0),
    "HoroPCA": lambda: horopca.HoroPCA(2, n_init=1, random_state=0),
    "HyperbolicMDS": lambda: horopca.HyperbolicMDS(2),
    "RadialPCA": lambda: horopca.RadialPCA(2),
    "TangentPCA": lambda: horopca.TangentPCA(2),
    "TangentWhitener": lambda: horopca.TangentWhitener(),
}


def same(a, b):
    assert type(a) is type(b)
    if isinstance(a, list | tuple):
        assert len(a) == len(b)
        for x, y in zip(a, b, strict=True):
            same(x, y)
    elif isinstance(a, np.ndarray):
        assert a.dtype == b.dtype and np.array_equal(a, b)
    else:
        assert a == b


@pytest.fixture
def fit():
    return horopca.TangentPCA(2).fit(TREE)


@pytest.fixture
def saved(tmp_path, fit):
    return save_fitted(fit, tmp_path / "fit.npz")


# ---------------------------------------------------------------- round trips


def test_every_reduction_is_in_the_table():
    assert set(KINDS) == set(ESTIMATORS) == set(horopca.estimators.__all__) - {"HoroPCACV", "HyperbolicSVC"}


@pytest.mark.parametrize("name", KINDS)
def test_what_is_saved_comes_back_whole(tmp_path, name):
    before = KINDS[name]().fit(TREE)
    after = load_fitted(save_fitted(before, tmp_path / "fit.npz"))
    assert vars(after).keys() == vars(before).keys()
    for key, value in vars(before).items():
        same(getattr(after, key), value)
    Y = before.transform(NEW)
    assert np.array_equal(after.transform(NEW), Y)
    assert np.array_equal(after.inverse_transform(Y), before.inverse_transform(Y))
    assert after.fit(TREE) is after  # it is an estimator like any other
    assert [path.name for path in tmp_path.iterdir()] == ["fit.npz"]


@pytest.mark.parametrize("model", ["lorentz", "klein", "halfspace", "tangent"])
@pytest.mark.parametrize("options", [{"spine": "free"}, {"strategy": "greedy", "curvature": -0.25}])
def test_models_and_options_come_back(tmp_path, model, options):
    scale = 2 if "curvature" in options and model != "halfspace" else 1
    X = scale * from_hyperboloid(cloud(40, 4), model)
    before = horopca.HoroPCA(2, n_init=1, model=model, random_state=0, **options).fit(X)
    after = load_fitted(save_fitted(before, tmp_path / "fit.npz"))
    assert after.get_params() == before.get_params()
    assert np.array_equal(after.transform(X), before.transform(X))
    if before.ideal_points_ is not None:
        assert np.array_equal(after.busemann(X), before.busemann(X))


def test_a_fit_whose_model_was_set_afterwards_comes_back_as_it_was_fitted(tmp_path):
    X = make_hierarchy(random_state=0).points
    pca = horopca.HoroPCA(random_state=0).fit(X)
    Y = pca.transform(X)
    pca.set_params(model="lorentz")
    assert np.array_equal(load_fitted(save_fitted(pca, tmp_path / "fit.npz")).transform(X), Y)


def test_a_chosen_fit_comes_back_as_a_fit_with_so_many_components(tmp_path):
    chosen = horopca.HoroPCACV(2, cv=2, rule="one_se", copies=0, n_init=1, tol=1e-3).fit(TREE)
    after = load_fitted(save_fitted(chosen, tmp_path / "fit.npz"))
    assert type(after) is horopca.HoroPCA and after.n_components == after.n_components_ == chosen.n_components_
    assert np.array_equal(after.transform(NEW), chosen.transform(NEW)) and not hasattr(after, "curve_")
    with pytest.raises(ValueError, match=r"estimator must be one of .* but is HoroPCACV"):
        reduce_file(save(tmp_path / "points.npy", TREE), tmp_path / "plane.npy", horopca.HoroPCACV())


def test_a_fit_to_distances_comes_back(tmp_path):
    D = pairwise_distance(cloud(20, 3), cloud(20, 3))
    before = horopca.HyperbolicMDS(2, metric="precomputed").fit(D)
    after = load_fitted(save_fitted(before, tmp_path / "fit.npz"))
    assert np.array_equal(after.transform(D[:4]), before.transform(D[:4]))


def test_names_of_columns_and_the_output_that_was_set_come_back(tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(TREE, columns=[f"axis {j}" for j in range(5)])
    before = horopca.TangentPCA(2).set_output(transform="pandas").fit(frame)
    after = load_fitted(save_fitted(before, tmp_path / "fit.npz"))
    assert after.feature_names_in_.dtype == object
    assert after.transform(frame).equals(before.transform(frame))


def test_a_generator_is_not_kept_and_anything_strange_is_refused(tmp_path, fit):
    horo = horopca.HoroPCA(2, n_init=1, random_state=np.random.RandomState(0)).fit(TREE)
    assert load_fitted(save_fitted(horo, tmp_path / "fit.npz")).random_state is None
    fit._secret = 1
    with pytest.raises(ValueError, match=r"_secret is private and has no name in a file: give it one in .*PRIVATE"):
        save_fitted(fit, tmp_path / "other.npz")
    del fit._secret
    fit.strange_ = object()
    with pytest.raises(ValueError, match="strange_ must be made of arrays, numbers and strings"):
        save_fitted(fit, tmp_path / "other.npz")
    assert not (tmp_path / "other.npz").exists()


def test_only_fitted_estimators_of_the_package_are_saved(tmp_path, fit, saved):
    class TangentPCA(horopca.TangentPCA):
        pass

    with pytest.raises(ValueError, match="is not fitted yet"):
        save_fitted(horopca.TangentPCA(2), tmp_path / "other.npz")
    with pytest.raises(ValueError, match="estimator must be one of"):
        save_fitted(TangentPCA(2).fit(TREE), tmp_path / "other.npz")
    with pytest.raises(ValueError, match=r"estimator must be one of .*, but is HyperbolicSVC"):
        save_fitted(horopca.HyperbolicSVC().fit(TREE, np.arange(40) % 2), tmp_path / "other.npz")
    with pytest.raises(ValueError, match=r"must end in \.npz"):
        save_fitted(fit, tmp_path / "fit.pkl")
    with pytest.raises(FileExistsError):
        save_fitted(fit, saved)


# ---------------------------------------------------------------- hostile files


def altered(path, change):
    """The file with its members changed by a function of (tree, members)."""
    with np.load(path) as archive:
        members = dict(archive)
    tree = json.loads(members["model"].item())
    change(tree, members)
    np.savez(path, **{**members, "model": np.array(json.dumps(tree))})
    return path


def drop_a_column(tree, members):
    name = tree["learnt"]["components_"]["array"]
    members[name] = members[name][:, :-1]


def no_point(tree, members):
    members[tree["learnt"]["centre_point"]["array"]][:] = np.nan


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda tree, _: tree.update({"class": "Popen"}), "'Popen', but only these"),
        (lambda tree, _: tree.update({"class": ["HoroPCA"]}), "but only these"),
        (lambda tree, _: tree.update({"class": "HoroPCA"}), "do not make a fitted HoroPCA"),
        (lambda tree, _: tree.update({"format": 99}), "format 99, but this version of horopca reads format 2"),
        (lambda tree, _: tree["params"].update(shell="rm"), "do not make"),
        (lambda tree, _: tree["params"].update(model="sphere"), "do not make"),
        (lambda tree, _: tree["learnt"].pop("components_"), "do not make"),
        (lambda tree, _: tree["learnt"].update(transform="no"), "do not make"),
        (lambda tree, _: tree["learnt"].update(_project="no"), "do not make"),
        (lambda tree, _: tree["learnt"].update(score="no"), "do not make"),
        (lambda tree, _: tree["learnt"].update(get_params_="no", set_params="no"), "do not make"),
        (lambda tree, _: tree["learnt"].update(__class__="no"), "do not make"),
        (lambda tree, _: tree["learnt"].update(more_={"Popen": ["ls"]}), "do not make"),
        (lambda tree, _: tree["learnt"].update(more_={"array": "absent"}), "do not make"),
        (lambda tree, _: tree["learnt"].update(n_features_in_=4), "do not make"),
        (lambda tree, _: tree["learnt"].update(n_features_in_=-4), "do not make"),
        (lambda tree, _: tree["learnt"].update(n_features_out=3), "do not make"),
        (lambda tree, _: tree["learnt"].update(feature_names_in_={"names": ["one"]}), "do not make"),
        (lambda tree, _: tree["learnt"].update(_mean=tree["learnt"]["mean_point"]), "do not make"),
        (lambda tree, _: tree["learnt"].update(explained_variance_ratio_="most"), "do not make"),
        (lambda tree, _: tree["learnt"].update(total_variance_=None), "do not make"),
        (lambda tree, _: tree["learnt"].update(converged_=[1]), "do not make"),
        (lambda tree, _: tree["learnt"].update(status_={"list": []}), "do not make"),
        (lambda tree, _: tree["learnt"].update(image_frame={"spine": tree["learnt"]["image_frame"]["frame"]}), "do not make"),
        (lambda tree, _: tree["learnt"].update(image_frame={"frame": {}}), "do not make"),
        (lambda tree, _: tree.update(learnt=[]), "do not make"),
        (lambda tree, _: tree.update(params=None), "do not make"),
        (drop_a_column, "do not make"),
        (no_point, "do not make"),
        (lambda tree, _: tree.clear(), "holds no fitted estimator"),
    ],
)
def test_a_file_that_was_tampered_with_is_refused(saved, change, words):
    with pytest.raises(ValueError, match=words) as refusal:
        load_fitted(altered(saved, change))
    assert str(saved) in str(refusal.value)


def test_a_file_has_public_names_only(saved):
    with np.load(saved) as archive:
        tree = json.loads(archive["model"].item())
    assert tree["format"] == 2 and tree["version"] == horopca.__version__
    assert not [name for name in (*tree["params"], *tree["learnt"]) if name.startswith("_")]
    assert tree["learnt"].keys() <= {*PRIVATE, *CHECKED, "feature_names_in_"}
    assert set(tree["learnt"]["image_frame"]["frame"]) == {"mean", "axes"}


def test_a_tree_too_deep_is_refused(saved):
    np.savez(saved, model=np.array("[" * 100_000))
    with pytest.raises(ValueError, match="holds no fitted estimator"):
        load_fitted(saved)


class Bomb:
    def __reduce__(self):
        return pytest.fail, ("something in the file was executed",)


def test_files_of_another_kind_are_refused(tmp_path):
    path = tmp_path / "fit.npz"
    for content in (b"", b"hello", pickle.dumps(3), b"PK\x03\x04 cut short"):
        path.write_bytes(content)
        with pytest.raises(ValueError, match=r"fit\.npz is damaged"):
            load_fitted(path)
    np.savez(path, X=TREE)
    with pytest.raises(ValueError, match="holds no fitted estimator"):
        load_fitted(path)
    np.savez(path, model=np.array([Bomb()], dtype=object))
    with pytest.raises(ValueError, match="Python objects"):
        load_fitted(path)
    with pytest.raises(FileNotFoundError, match="There is no file"):
        load_fitted(tmp_path / "absent.npz")


def test_a_file_that_swells_or_lies_about_its_size_claims_no_memory(tmp_path, saved):
    path = tmp_path / "bomb.npz"
    np.savez_compressed(path, model=np.zeros(1 << 23))
    with pytest.raises(ValueError, match="in memory"), memory_limit(1e6):
        load_fitted(path)
    lie = io.BytesIO()
    np.lib.format.write_array_header_1_0(lie, {"descr": "<f8", "fortran_order": False, "shape": (1 << 45,)})
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("model.npy", lie.getvalue())
    with pytest.raises(ValueError, match="is damaged"):
        load_fitted(path)


def test_a_file_cut_anywhere_is_refused(saved):
    content = saved.read_bytes()
    for part in (0.1, 0.5, 0.9, 0.999):
        saved.write_bytes(content[: int(part * len(content))])
        with pytest.raises(ValueError, match="is damaged"):
            load_fitted(saved)


# ---------------------------------------------------------------- files of earlier versions

FIRST = Path(__file__).parent / "data" / "fits-0.1.0"


@pytest.mark.parametrize("name", sorted(path.stem for path in FIRST.glob("*.npz") if path.stem != "expected"))
def test_fits_written_by_the_first_version_still_map_as_they_did(name):
    with np.load(FIRST / "expected.npz") as expected:
        points, images, back = (expected[f"{name} {part}"] for part in ("points", "images", "back"))
    fit = load_fitted(FIRST / f"{name}.npz")
    assert np.allclose(fit.transform(points), images, rtol=0, atol=1e-9)  # a later version may round otherwise
    if hasattr(fit, "inverse_transform"):  # a fit to distances has none
        assert np.allclose(fit.inverse_transform(images), back, rtol=0, atol=1e-9)
