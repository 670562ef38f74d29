"""Progress and logging of long calls: the same for all, and off by default."""

import logging

import numpy as np
import pytest

from horopca import BusemannWhitener, HoroPCA, HoroPCACV, HyperbolicSVC, TangentPCA, compare, refine
from horopca.datasets import make_hierarchy
from horopca.io import reduce_file
from horopca.metrics import bootstrap, component_curve, false_neighbours, neighbours_kept
from horopca.metrics.classification import compare_classifiers

TREE = make_hierarchy(3, 3, n_features=3, random_state=0)
X = TREE.points


def reduced(progress, folder):
    np.save(folder / "points.npy", X)
    return reduce_file(folder / "points.npy", folder / "plane.npy", TangentPCA(2), progress=progress)


CALLS = {
    "bootstrap": lambda progress, _: bootstrap(TangentPCA(2).fit(X), X, n_resamples=10, progress=progress),
    "compare": lambda progress, _: compare(X, [1, 2], ["tpca", "mds"], progress=progress),
    "component_curve": lambda progress, _: component_curve(X, 2, cv=2, copies=0, rule="one_se", progress=progress),
    "compare_classifiers": lambda progress, _: compare_classifiers(
        X[1:], TREE.labels[1:], classifiers=["eSVM"], splits=2, progress=progress
    ),
    "false_neighbours": lambda progress, _: false_neighbours(X, X[:, :2], progress=progress),
    "neighbours_kept": lambda progress, _: neighbours_kept(X, X[:, :2], progress=progress),
    "refine": lambda progress, _: refine(X, TangentPCA(2).fit_transform(X), max_iter=200, progress=progress),
    "reduce_file": reduced,
}


@pytest.mark.parametrize("name", CALLS)
def test_long_calls_report_and_log_the_same_steps(name, caplog, capsys, tmp_path):
    steps = []
    with caplog.at_level(logging.INFO, "horopca"):
        CALLS[name](lambda *step: steps.append(step), tmp_path)
    lines = [record.getMessage() for record in caplog.records if record.name == "horopca"]
    assert lines == [f"{name}: {done} of {total}" for done, total in steps]
    assert len(steps) > 0 and steps == sorted(steps)
    assert all(0 <= done <= total for done, total in steps)
    assert capsys.readouterr() == ("", "")


SEARCHES = {
    HoroPCA(2, n_init=2): "round 1",
    HoroPCACV(2, cv=2, copies=2, n_init=2): "round 1",
    HyperbolicSVC(): f"{len(set(TREE.labels))} of {len(set(TREE.labels))} hyperplanes",
    BusemannWhitener(2): "2 of 2 directions",
}


@pytest.mark.parametrize("estimator", SEARCHES, ids=lambda estimator: type(estimator).__name__)
def test_searches_log_their_steps_at_level_debug_and_print_them_if_verbose(estimator, caplog, capsys):
    with caplog.at_level(logging.DEBUG, "horopca"):
        estimator.fit(X, TREE.labels)
    assert any(SEARCHES[estimator] in record.getMessage() for record in caplog.records)
    assert capsys.readouterr() == ("", "")
    estimator.set_params(verbose=1).fit(X, TREE.labels)
    assert SEARCHES[estimator] in capsys.readouterr().err
