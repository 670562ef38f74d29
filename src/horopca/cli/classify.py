"""``horopca classify``: classifiers compared on a user's own points."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import rich_click as click
from click import get_current_context
from click.core import ParameterSource
from rich.console import Console
from rich.table import Table

from .common import _labels, _print_json, _working, choice, file, json_option, seed_option, sentences

if TYPE_CHECKING:
    from ..metrics.classification import Scores


@click.command()
@click.argument("input", type=click.Path(path_type=Path))
@file("--labels", help="Classes of the rows, one to a line.  [default: those in INPUT]")
@click.option("-k", "--components", type=click.IntRange(min=1), help="Features of each whitening.  [default: its own]")
@click.option("--folds", type=click.IntRange(min=2), default=5, show_default=True, help="Folds of the cross-validation.")
@choice("model", ("poincare", "lorentz", "klein", "halfspace", "tangent"), help="Coordinates of the rows.")
@click.option("--curvature", type=float, default=-1.0, show_default=True, help="Curvature of the space, below 0.")
@seed_option
@click.option("--key", help="Which array of an .npz file to read.")
@json_option
@sentences()
def classify(
    input: Path,
    labels: Path | None,
    components: int | None,
    folds: int,
    model: str,
    curvature: float,
    seed: int,
    key: str | None,
    as_json: bool,
) -> None:
    """Compare classifiers of the points in INPUT by cross-validation.

    A Euclidean support vector machine on the coordinates in the ball (eSVM), the hyperbolic one (hSVM), and eSVM on features
    whitened by tangent PCA, by PGA and by Busemann coordinates. The C of each is chosen in the training part alone.

    \b
    Examples:
      horopca classify vectors.npy --labels classes.txt
      horopca classify words.csv --folds 10 --json
    """
    from ..io import load
    from ..metrics.classification import compare_classifiers

    table = load(input, key=key)
    if table.model is not None and get_current_context().get_parameter_source("model") is ParameterSource.DEFAULT:
        model = table.model
    classes = table.labels if labels is None else _labels(labels, len(table.X))
    if classes is None:
        raise ValueError(f"{input} holds no labels. Pass a file with one for each row: --labels FILE.")
    _refuse_missing(classes, labels or input)
    with _working(f"Comparing classifiers of {len(table.X):,} points from {input.name}"):
        found = compare_classifiers(
            table.X, classes, model=model, curvature=curvature, n_components=components, splits=folds, random_state=seed
        )
    n_folds = len(found[0].scores["accuracy"])
    if as_json:
        sizes = {c: classes.count(c) for c in sorted(set(classes))}
        summary = {result.classifier: _summary(result) for result in found}
        _print_json({"input": input, "n_points": len(classes), "classes": sizes, "folds": n_folds, "classifiers": summary})
    else:
        _print_scores(found, title=f"{input}: {len(classes):,} points, {len(set(classes))} classes, {n_folds} folds")


def _refuse_missing(classes: list[str], path: Path) -> None:
    missing = [row for row, label in enumerate(classes) if label.strip().lower() in ("", "nan")]
    if missing:
        raise ValueError(f"{path} must hold a label for each row, but {len(missing)} rows have none (the first: {missing[0]}).")


def _summary(result: Scores) -> dict[str, Any]:
    return {metric.replace(" ", "_"): {"mean": values.mean(), "std": values.std()} for metric, values in result.scores.items()}


def _print_scores(found: list[Scores], title: str) -> None:
    """Percentages, mean and standard deviation over the folds."""
    table = Table(box=None)
    table.add_column("classifier", style="cyan", no_wrap=True)
    for metric in found[0].scores:
        table.add_column(metric, justify="right", no_wrap=True)
    for result in found:
        table.add_row(result.classifier, *(f"{100 * v.mean():.1f} ± {100 * v.std():.1f}" for v in result.scores.values()))
    console = Console(markup=False, highlight=False)
    console.print(title, style="bold", soft_wrap=True)
    console.print(table)
