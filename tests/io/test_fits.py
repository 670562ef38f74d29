"""Saved estimators: a loaded one does what the saved one did, and every other file is an error."""

import json
import pickle
from functools import partial

import numpy as np
import pytest
from sklearn.base import clone

import horopca
from clouds import cloud
from horopca.datasets import make_hierarchy
from horopca.geometry import from_hyperboloid, pairwise_distance
from horopca.io import load_fitted, reduce_file, save, save_fitted
from horopca.io.fits import ESTIMATORS

TREE = make_hierarchy(3, 3, 5, random_state=0).points
NEW = from_hyperboloid(cloud(7, 5, seed=3), "poincare")

D = pairwise_distance(cloud(20, 3), cloud(20, 3))
horo = partial(horopca.HoroPCA, 2, n_init=1, random_state=0)
KINDS = {
    "BSA": horopca.BSA(2, n_init=1, random_state=0),
    "PGA": horopca.PGA(2, n_init=1, base_point=np.full(5, 0.1), random_state=0),
    "BusemannWhitener": horopca.BusemannWhitener(3, random_state=0),
    "EuclideanPCA": horopca.EuclideanPCA(2),
    "HoroPCA": horo(),
    "HyperbolicMDS": horopca.HyperbolicMDS(2),
    "RadialPCA": horopca.RadialPCA(2),
    "TangentPCA": horopca.TangentPCA(2),
    "TangentWhitener": horopca.TangentWhitener(),
}
CASES = [
    *((estimator, TREE) for estimator in KINDS.values()),
    (horo(model="lorentz", spine="free"), from_hyperboloid(cloud(40, 4), "lorentz")),
    (horo(model="halfspace", strategy="greedy"), from_hyperboloid(cloud(40, 4), "halfspace")),
    (horo(model="klein", curvature=-0.25), 2 * from_hyperboloid(cloud(40, 4), "klein")),
    (horo(centre=np.full(5, 0.1), curvature=np.array([-2.0])), TREE / 2),
    (horopca.HyperbolicMDS(2, metric="precomputed"), D),
]


@pytest.fixture
def fit():
    return horopca.TangentPCA(2).fit(TREE)


@pytest.fixture
def saved(tmp_path, fit):
    return save_fitted(fit, tmp_path / "fit.npz")


def test_every_reduction_and_whitener_can_be_saved():
    assert set(KINDS) == set(ESTIMATORS) == set(horopca.estimators.__all__) - {"HoroPCACV", "HyperbolicSVC"}


@pytest.mark.parametrize(("estimator", "X"), CASES, ids=lambda value: type(value).__name__)
def test_estimator_round_trip(tmp_path, estimator, X):
    before = clone(estimator).fit(X)
    after = load_fitted(save_fitted(before, tmp_path / "fit.npz"))
    assert vars(after).keys() == vars(before).keys()
    for key, value in vars(before).items():
        np.testing.assert_equal(getattr(after, key), np.ravel(value)[0].item() if key == "curvature" else value, strict=True)
    Y = before.transform(X[:7])
    assert np.array_equal(after.transform(X[:7]), Y)
    if X is not D:
        assert np.array_equal(after.inverse_transform(Y), before.inverse_transform(Y))
    assert np.array_equal(after.fit(X).transform(X[:7]), Y)
    assert [path.name for path in tmp_path.iterdir()] == ["fit.npz"]


def test_model_of_the_fit_is_kept(tmp_path, fit):
    Y = fit.transform(TREE)
    fit.set_params(model="lorentz")
    assert np.array_equal(load_fitted(save_fitted(fit, tmp_path / "fit.npz")).transform(TREE), Y)


def test_cross_validated_estimator(tmp_path):
    chosen = horopca.HoroPCACV(2, cv=2, rule="one_se", copies=0, n_init=1, tol=1e-3).fit(TREE)
    after = load_fitted(save_fitted(chosen, tmp_path / "fit.npz"))
    assert type(after) is horopca.HoroPCA and after.n_components == after.n_components_ == chosen.n_components_
    assert np.array_equal(after.transform(NEW), chosen.transform(NEW)) and not hasattr(after, "curve_")
    with pytest.raises(ValueError, match=r"estimator must be one of .* but is HoroPCACV"):
        reduce_file(save(tmp_path / "points.npy", TREE), tmp_path / "plane.npy", horopca.HoroPCACV())


def test_feature_names_and_output_container(tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(TREE, columns=[f"axis {j}" for j in range(5)])
    before = horopca.TangentPCA(2).set_output(transform="pandas").fit(frame)
    after = load_fitted(save_fitted(before, tmp_path / "fit.npz"))
    assert after.feature_names_in_.dtype == object
    assert after.transform(frame).equals(before.transform(frame))


def test_generator_is_not_saved(tmp_path):
    fit = horopca.HoroPCA(2, n_init=1, random_state=np.random.RandomState(0)).fit(TREE)
    assert load_fitted(save_fitted(fit, tmp_path / "fit.npz")).random_state is None


def test_other_estimators_raise_error(tmp_path, fit, saved):
    class TangentPCA(horopca.TangentPCA):
        pass

    strange = horopca.TangentPCA(2).fit(TREE)
    strange.strange_ = object()
    for estimator, message in (
        (horopca.TangentPCA(2), "is not fitted yet"),
        (TangentPCA(2).fit(TREE), "estimator must be one of"),
        (horopca.HyperbolicSVC().fit(TREE, np.arange(40) % 2), r"estimator must be one of .*, but is HyperbolicSVC"),
        (strange, "strange_ must consist of arrays, numbers and strings to be saved, but is a object"),
    ):
        with pytest.raises(ValueError, match=message):
            save_fitted(estimator, tmp_path / "other.npz")
    with pytest.raises(ValueError, match=r"must end in \.npz"):
        save_fitted(fit, tmp_path / "fit.pkl")
    with pytest.raises(FileExistsError):
        save_fitted(fit, saved)
    assert [path.name for path in tmp_path.iterdir()] == ["fit.npz"]


def altered(path, change):
    """The file with its header and arrays changed by a function of (header, arrays)."""
    with np.load(path) as archive:
        members = dict(archive)
    header = json.loads(members["horopca"].item())
    change(header, members)
    np.savez(path, **{**members, "horopca": np.array(json.dumps(header))})
    return path


def learnt(**fields):
    return lambda header, _: header["learnt"].update(fields)


OTHER_FORMATS = {
    "'Popen', but only these": lambda header, _: header.update({"class": "Popen"}),
    "format 99, but this version reads format 3": lambda header, _: header.update({"format": 99}),
    "holds no fitted estimator": lambda header, _: header.clear(),
    "would take .* in memory": learnt(n_features_in_=10**9),
}
TAMPERED = [
    lambda header, _: header.update({"class": "HoroPCA"}),
    lambda header, _: header.update(params=None),
    lambda header, _: header["params"].update(shell="rm"),
    lambda header, _: header["params"].update(model="sphere"),
    lambda header, _: header["learnt"].pop("components_"),
    lambda _, members: members.update(components_=members["components_"][:, :-1]),
    learnt(transform="no"),
    learnt(model="lorentz"),
    learnt(__class__="no"),
    learnt(more_={"Popen": {"args": "ls"}}),
    learnt(more_={"array": "absent"}),
    learnt(n_features_in_=-4),
    learnt(_n_features_out=3),
    learnt(feature_names_in_={"names": ["one"]}),
    learnt(total_variance_=float("nan")),
    learnt(explained_variance_ratio_={"dict": {}, "list": []}),
    learnt(_frame={"Frame": {}}),
]


@pytest.mark.parametrize(("message", "change"), [*OTHER_FORMATS.items(), *(("do not make a fitted", one) for one in TAMPERED)])
def test_tampered_header_raises_error(saved, change, message):
    with pytest.raises(ValueError, match=message) as error:
        load_fitted(altered(saved, change))
    assert str(saved) in str(error.value)


@pytest.mark.parametrize("name", KINDS)
def test_tampered_arrays_never_give_nan(tmp_path, name):
    """Every array in turn gets other numbers: the file is an error, or all images are finite."""
    path = save_fitted(clone(KINDS[name]).fit(TREE), tmp_path / "fit.npz")
    content, errors = path.read_bytes(), 0
    with np.load(path) as archive:
        arrays = [key for key in archive if key != "horopca" and archive[key].dtype.kind == "f" and archive[key].size]
    for key in arrays:
        for value in (np.nan, np.inf, 1e300, 0.0):
            path.write_bytes(content)

            def spoil(_, members, key=key, value=value):
                members[key] = members[key].copy()
                members[key].flat[-1] = value

            try:
                fit = load_fitted(altered(path, spoil))
            except ValueError as error:
                assert "do not make a fitted" in str(error)
                errors += 1
                continue
            with np.errstate(all="ignore"):
                assert np.isfinite(fit.transform(NEW)).all(), (key, value)
    assert errors >= 2 * len(arrays)


def test_other_files_raise_error(tmp_path, saved):
    path, content = tmp_path / "other.npz", saved.read_bytes()
    cut = [content[: int(part * len(content))] for part in (0.1, 0.5, 0.9, 0.999)]
    for damaged in (b"", b"hello", pickle.dumps(3), b"PK\x03\x04 cut short", *cut):
        path.write_bytes(damaged)
        with pytest.raises(ValueError, match=r"other\.npz is damaged"):
            load_fitted(path)
    for members in ({"X": TREE}, {"horopca": np.array("[" * 100_000)}):
        np.savez(path, **members)
        with pytest.raises(ValueError, match="holds no fitted estimator"):
            load_fitted(path)
    with pytest.raises(FileNotFoundError, match="There is no file"):
        load_fitted(tmp_path / "absent.npz")
