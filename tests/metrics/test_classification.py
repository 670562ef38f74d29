"""Classifiers compared."""

import numpy as np
import pytest
from sklearn.model_selection import StratifiedShuffleSplit

from hierarchies import classes
from horopca.geometry import to_hyperboloid
from horopca.metrics.classification import CLASSIFIERS, METRICS, compare_classifiers

X, Y = classes()
pytestmark = pytest.mark.usefixtures("few_costs")


def test_the_average_precision_is_a_mean_over_the_classes_that_occur():
    columns = np.array([[3.0, 1, 0], [0, 2, 1], [1, 2, 0], [2, 1, 0]])
    y = np.array(["a", "b", "b", "a"])
    assert METRICS["average precision"](y, columns, np.array(["a", "b", "absent"])) == 1
    assert METRICS["average precision"](y, columns[:, 1] - columns[:, 0], np.array(["a", "b"])) == 1


def test_all_classifiers_in_order(compared_classifiers):
    assert list(compared_classifiers) == list(CLASSIFIERS)
    for scores in compared_classifiers.values():
        assert all(values.shape == (2,) and np.all((values > 0.5) & (values <= 1)) for values in scores.values())


def test_nothing_is_learnt_from_the_test_part():
    """The scores of a split do not change when labels of its test part do, but for what they are compared with."""
    half = StratifiedShuffleSplit(1, test_size=0.5, random_state=0)
    train, test = next(half.split(X, Y))

    class Fixed:
        def split(self, *_):
            yield train, test

    decisions = []

    def keep(y, decision, classes):
        decisions.append(decision)
        return 0.0

    other = np.array(Y)
    other[test] = np.roll(other[test], 1)
    for labels in (Y, other):
        compare_classifiers(X, labels, classifiers=["Busemann + eSVM"], splits=Fixed(), metrics={"kept": keep})
    assert np.array_equal(*decisions)


def test_model_and_curvature_change_nothing(compared_classifiers):
    lorentz = 2 * to_hyperboloid(X)
    again = compare_classifiers(lorentz, Y, splits=2, model="lorentz", curvature=-0.25)
    for name, scores in compared_classifiers.items():
        assert np.allclose(scores["average precision"], again[name]["average precision"], atol=0.02), name


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"y": [*Y[:-2], "rare", "rare"]}, "at least 3 members to be cross-validated, but class 'rare' has 2"),
        ({"y": Y[:-1]}, "one label for each of the 24 rows of X, but has 23"),
        ({"classifiers": ["forest"]}, "classifiers must be one of 'eSVM', 'hSVM'"),
        ({"effort": "none"}, "effort must be one of 'quick', 'full'"),
        ({"splits": 1}, "splits must be a whole number of at least 2"),
    ],
)
def test_invalid_input_raises(change, sentence):
    with pytest.raises(ValueError, match=sentence):
        compare_classifiers(**{"X": X, "y": Y, **change})
