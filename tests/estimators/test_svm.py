"""The hyperbolic support vector machine: laws, references, contracts, wrong input."""

import numpy as np
import pytest
import torch
from scipy.optimize import minimize
from sklearn.calibration import CalibratedClassifierCV
from sklearn.model_selection import GridSearchCV

from clouds import cloud, directions
from horopca import HyperbolicSVC
from horopca.datasets import make_hierarchy
from horopca.geometry import geodesic, inner, lift, to_hyperboloid

TREE = make_hierarchy(branching=3, depth=3, n_features=3, random_state=0)
X, Y = TREE.points[1:], np.array(TREE.labels[1:])


def two_classes():
    """Points and labels +-1, a hyperplane off the origin between them, some labels wrong."""
    x = cloud(60, 3, radius=3)
    side = np.where(x[:, 1] > 0.3 * x[:, 0], 1.0, -1.0)
    return x, np.where(np.random.default_rng(0).uniform(size=60) < 0.2, -side, side)


def objective(w, x, y, C):
    """The definition, longhand."""
    return inner(w, w) / 2 + C * np.sum(np.maximum(0, np.arcsinh(1) - np.arcsinh(y * inner(w, x))))


# ---- laws


def test_class_weights_are_sample_weights():
    weight = {"branch 1": 5.0, "branch 2": 0.5, "branch 3": 1.0}
    by_class = HyperbolicSVC(class_weight=weight).fit(X, Y)
    by_sample = HyperbolicSVC().fit(X, Y, sample_weight=[weight[label] for label in Y])
    assert np.allclose(by_class.coef_, by_sample.coef_, atol=1e-7)
    balanced = HyperbolicSVC(class_weight="balanced").fit(X, Y)
    assert np.allclose(balanced.coef_, HyperbolicSVC().fit(X, Y).coef_, atol=1e-7)  # three branches of equal size


def test_the_hyperplane_between_two_points_bisects_them():
    a, b = cloud(2, 3, radius=3, seed=3)
    svm = HyperbolicSVC(100, model="lorentz").fit(np.stack([a, b]), [0, 1])
    along = np.stack([geodesic(a, b, f) for f in (0.0, 0.3, 0.5, 0.7, 1.0)])
    values = svm.decision_function(along)
    assert values[2] == pytest.approx(0, abs=1e-6) and np.allclose(values, -values[::-1], atol=1e-6)
    assert values[4] == pytest.approx(np.arcsinh(1), abs=1e-3)  # both on the margin


def test_a_class_in_the_middle_is_bounded_by_horospheres():
    """No hyperplane cuts it off; the best w is light-like."""
    x = lift(np.concatenate([0.1 * directions(8, 2), 3 * directions(40, 2, seed=1)]))
    y = np.repeat([1, 0], [8, 40])
    svm = HyperbolicSVC(model="lorentz").fit(x, y)
    w = svm.coef_[0]
    assert abs(inner(w, w)) < 1e-9 * (w @ w)


# ---- references


@pytest.mark.parametrize(("C", "rare"), [(0.1, False), (10.0, False), (1.0, True)])
def test_no_other_method_finds_less(C, rare):
    """Against Nelder-Mead and Powell from four random places, on the definition; `rare`: a class of six points anywhere."""
    x, y = two_classes()
    y = np.where(np.arange(60) < 6, 1.0, -1.0) if rare else y
    svm = HyperbolicSVC(C, model="lorentz").fit(x, y)
    assert svm.loss_[0] == pytest.approx(objective(svm.coef_[0], x, y, C), rel=1e-9)
    assert svm.n_iter_[0] < 100  # of Newton's method, with a wrong gradient or Hessian far more
    rng = np.random.default_rng(0)

    def penalised(w):
        return objective(w, x, y, C) if inner(w, w) >= 0 else 1e9

    for method in ("Nelder-Mead", "Powell"):
        for start in rng.standard_normal((2, 4)) * [0.3, 1, 1, 1]:
            other = minimize(penalised, start, method=method, options={"maxiter": 2000}).fun
            assert svm.loss_[0] <= other * (1 + 1e-5)  # the corner of the hinge is rounded over 1e-4


@pytest.mark.parametrize("y", [Y, Y == "branch 1"], ids=["three classes", "two"])
def test_decisions_are_the_definition_in_every_dtype_and_library(y):
    svm = HyperbolicSVC().fit(X, y)
    values = np.arcsinh(inner(svm.coef_[None], to_hyperboloid(X)[:, None]))
    values = values if len(svm.classes_) > 2 else values[:, 0]
    assert np.allclose(svm.decision_function(X), values, atol=1e-10)
    assert svm.decision_function(X.astype(np.float32)).dtype == np.float32
    tensor = svm.decision_function(torch.tensor(X))
    assert isinstance(tensor, torch.Tensor) and np.allclose(tensor.numpy(), values, atol=1e-10)
    assert np.array_equal(svm.predict(torch.tensor(X)), svm.predict(X))
    assert np.allclose(HyperbolicSVC().fit(torch.tensor(X), y).coef_, svm.coef_)


# ---- contracts


def test_grid_search_and_calibration():
    assert GridSearchCV(HyperbolicSVC(), {"C": [0.1, 10]}, cv=3).fit(X, Y).best_score_ > 0.7
    far = lift(100 * (to_hyperboloid(X)[:, 1:]))  # at radius 10
    assert HyperbolicSVC(model="lorentz").fit(far, Y).score(far, Y) > 0.85
    assert CalibratedClassifierCV(HyperbolicSVC(), cv=3).fit(X, Y).predict_proba(X).shape == (39, 3)
    assert len(HyperbolicSVC().fit(X, ["root", *Y[1:]]).classes_) == 4  # a class of one row


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (["a"] * 39, "y must have at least two classes, but all its 39 rows are of class 'a'"),
        (["a", "b"], "y must have one label for each of the 39 rows of X, but has 2"),
        ([np.nan] + [0.0, 1.0] * 19, r"contains NaN, None or infinity \(row 0\)"),
        (np.linspace(0, 1, 39), "Unknown label type: continuous"),
        (None, "requires y to be passed, but the target y is None"),
    ],
)
def test_errors_of_labels(labels, message):
    with pytest.raises(ValueError, match=message):
        HyperbolicSVC().fit(X, labels)


def test_errors_of_weights():
    with pytest.raises(ValueError, match="at least two classes"):  # a class without weight is no class
        HyperbolicSVC().fit(X, Y == "branch 1", sample_weight=Y == "branch 1")
