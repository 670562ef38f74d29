"""One interface: what all estimators of the one list have in common."""

import copy
import inspect
import pickle
import re

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import parametrize_with_checks

from clouds import cloud, rotation, turned
from horopca import HyperbolicMDS, TangentWhitener, estimators
from horopca.datasets import make_hierarchy
from horopca.estimators.base import HyperbolicReduction
from horopca.geometry import MODELS, from_hyperboloid, pairwise_distance, to_hyperboloid, translate
from quick import quick

TREE = make_hierarchy(branching=3, depth=3, n_features=4, random_state=0)
CLASSES = np.arange(len(TREE.points)) % 2


def parameters(name):
    return inspect.signature(getattr(estimators, name)).parameters


def fitted(name, **options):
    """An estimator of the list, fitted to a data frame with options that make it quick."""
    columns = [f"x{k}" for k in range(TREE.points.shape[1])]
    return quick(name, **options).fit(pd.DataFrame(TREE.points, columns=columns), TREE.labels)


def documented(kind):
    """The names in the sections on attributes of the docstrings of a class and the estimators that it extends."""
    names = set()
    for parent in kind.__mro__:
        if parent.__name__ in estimators.__all__:
            section = inspect.getdoc(parent).split("Attributes\n----------\n")[1].split("\n\n")[0]
            heads = [line.split(" : ")[0] for line in section.splitlines() if not line.startswith(" ")]
            names |= {name for head in heads for name in re.split(r",\s*", head)}
    return names


# scikit-learn's data are vectors of any length, which are points of the model "tangent". All other parameters are the defaults,
# except that HoroPCACV makes a short curve from one start: many checks would take more than ten seconds with its 5 folds and 19
# copies, and some have four different rows. The test of distances adds metric="precomputed".
SHORT = {"HoroPCACV": {"max_components": 1, "cv": 2, "rule": "one_se", "copies": 0, "n_init": 1}}
CHECKED = [getattr(estimators, name)(model="tangent", **SHORT.get(name, {})) for name in estimators.__all__]


@parametrize_with_checks([*CHECKED, HyperbolicMDS(model="tangent", metric="precomputed")])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


OTHER = {
    "n_components": 1, "metric": "precomputed", "stretch": True, "decorrelate": True,
    "base_point": "mean", "strategy": "greedy", "C": 3.0,
}  # fmt: skip


@pytest.mark.parametrize("name", estimators.__all__)
@pytest.mark.parametrize("first", ["default", "other"])
def test_a_refit_leaves_nothing_of_the_fit_before(name, first):
    """Points, then a matrix of distances; a stretch, then none; and so on, in both orders."""
    other = {key: value for key, value in OTHER.items() if key in parameters(name)}
    if "stretch" in other:
        other |= {"spine": "free", "objective": "distortion", "strategy": "joint", "tol": 1e-3}
    elif name == "BSA":
        other["strategy"] = "last"
    options = [{key: parameters(name)[key].default for key in other}, other][:: 1 if first == "default" else -1]
    X = [pairwise_distance(to_hyperboloid(TREE.points)) if o.get("metric") == "precomputed" else TREE.points for o in options]
    again = quick(name, **options[0]).fit(X[0], CLASSES).set_params(**options[1]).fit(X[1], CLASSES)
    fresh = quick(name, **options[1]).fit(X[1], CLASSES)
    assert vars(again).keys() == vars(fresh).keys()
    assert [key for key in vars(fresh) if pickle.dumps(vars(again)[key]) != pickle.dumps(vars(fresh)[key])] == []


@pytest.mark.parametrize("name", estimators.__all__)
def test_a_fit_that_fails_changes_nothing(name):
    found = fitted(name)
    wrong = {key: -1 for key in ("n_components", "C", "max_components") if key in parameters(name)}
    wrong |= {"model": "klein", "curvature": -4.0}
    before = dict(vars(found))
    with pytest.raises(ValueError, match=r"(n_components|C|max_components) must be .* but is -1"):
        found.set_params(**wrong).fit(TREE.points / 4, TREE.labels)
    assert vars(found) == {**before, **wrong}


VARIANTS = [(name, {}) for name in estimators.__all__ if name != "HoroPCACV"] + [
    ("HoroPCA", {"spine": "free"}), ("HoroPCA", {"strategy": "greedy"}), ("PGA", {"objective": "residual"}),
    ("HoroPCA", {"objective": "distortion"}), ("HoroPCA", {"objective": "frechet"}), ("HoroPCA", {"objective": "robust"}),
    ("HoroPCA", {"stretch": True}),
    ("BusemannWhitener", {"decorrelate": True}), ("BusemannWhitener", {"strategy": "greedy"}),
]  # fmt: skip


@pytest.mark.parametrize("model", ["lorentz", "halfspace", "tangent"])
@pytest.mark.parametrize(("name", "options"), VARIANTS, ids=str)
def test_nothing_depends_on_the_place_the_model_and_the_curvature(name, options, model):
    """Also not on the orientation: the data is rotated and reflected. Lengths and variances are in the unit of the data."""
    x, unit, here = to_hyperboloid(TREE.points), 2 if MODELS[model].scaled else 1, quick(name, **options)
    moved = translate(turned(x, rotation(4, seed=1)), cloud(1, 4, radius=3, seed=5)[0])
    there = clone(here).set_params(model=model, curvature=-0.25)
    here.fit(TREE.points, TREE.labels), there.fit(unit * from_hyperboloid(moved, model), TREE.labels)
    call = "decision_function" if name == "HyperbolicSVC" else "transform"
    expected, found = getattr(here, call)(TREE.points), getattr(there, call)(unit * from_hyperboloid(moved, model))
    if isinstance(here, HyperbolicReduction):
        expected, found = to_hyperboloid(expected), to_hyperboloid(found / unit, model)
    # searches end within 1e-6 of the optimum, and the angles within the root of that
    np.testing.assert_allclose(found, expected, atol=1e-2 if name in ("PGA", "BSA") else 1e-4)
    for attribute, factor in (("explained_variance_", 4), ("coordinate_scale_", 2), ("coordinate_mean_", 2)):
        if hasattr(here, attribute):
            np.testing.assert_allclose(getattr(there, attribute), factor * getattr(here, attribute), rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("name", estimators.__all__)
@pytest.mark.parametrize(("option", "value"), [("model", "disk"), ("curvature", 1.0), ("max_iter", 0), ("tol", -1.0)])
def test_errors_of_options_that_estimators_share(name, option, value):
    if option in parameters(name):
        with pytest.raises(ValueError, match=rf"{option} must be .* but is {value!r}"):
            fitted(name, **{option: value})


@pytest.mark.parametrize("name", estimators.__all__)
def test_what_is_learnt_is_documented(name):
    found = fitted(name, model="tangent", curvature=-0.25)
    learnt = {key for key in vars(found) if key.endswith("_") and not key.startswith("_")}
    assert documented(getattr(estimators, name)) == learnt
    assert isinstance(found.converged_, bool) and isinstance(found.status_, str) and np.all(np.asarray(found.n_iter_) >= 1)
    assert (found.model_, found.curvature_, found.n_features_in_) == ("tangent", -0.25, 4)


@pytest.mark.parametrize("name", estimators.__all__)
def test_copies_of_an_estimator_have_the_numbers_of_tensors_that_a_network_computed(name):
    torch = pytest.importorskip("torch")
    learnt = torch.nn.Parameter(torch.tensor(0.5))
    given = {"curvature": -learnt.exp()} | ({"centre": torch.ones(4) * learnt} if "centre" in parameters(name) else {})
    one = getattr(estimators, name)(**given)
    for copied in (clone(one), copy.deepcopy(one), pickle.loads(pickle.dumps(one))):
        for key, value in given.items():
            there = getattr(copied, key)
            assert there.grad_fn is None and torch.equal(there, value)
    assert one.curvature is given["curvature"]  # the estimator itself has the tensor that it was given


@pytest.mark.parametrize("name", [name for name in estimators.__all__ if "max_iter" in parameters(name)])
def test_a_fit_that_ran_out_of_iterations_says_so(name):
    with pytest.warns(ConvergenceWarning, match=rf"{name} .* without converging\. .*max_iter \(now 1\)"):
        found = fitted(name, max_iter=1)
    assert found.converged_ is False


def test_variances_of_whitened_coordinates_are_those_of_pairs():
    # uncorrelated coordinates: each adds its own pair variance, the mean squared difference over ordered pairs
    whitener = TangentWhitener(n_components=3).fit(TREE.points)
    coordinates = whitener.transform(TREE.points) * whitener.coordinate_scale_
    apart = (coordinates[:, None] - coordinates) ** 2
    assert np.allclose(whitener.explained_variance_, apart.mean(axis=(0, 1)))
