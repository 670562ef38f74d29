"""``horopca classify``: classifiers compared on a user's own points."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import rich_click as click

from ..metrics.classification import CLASSIFIERS, Scores, compare_classifiers
from .common import common
from .console import count, print_json, print_table, progress_bar
from .files import read
from .options import Reading, command, list_of, points_argument, reading_options, reads
from .points import read_lines


@command
@points_argument()
@reads("--labels", help="Classes of the rows, one on each line.  [default: a column of INPUT]")
@click.option("--label-column", metavar="NAME", help="Column of INPUT with the classes.")
@click.option(
    "--methods",
    type=list_of(click.Choice(list(CLASSIFIERS), case_sensitive=False)),
    metavar="NAME,NAME",
    help=f"Classifiers to compare, of {', '.join(CLASSIFIERS)}.  [default: all]",
)
@click.option("-k", "--components", "n_components", type=click.IntRange(min=1), help="Features of each whitening.")
@click.option("--folds", type=click.IntRange(min=2), default=5, show_default=True, help="Folds of the cross-validation.")
@reading_options
def classify(
    input: Path,
    labels: Path | None,
    label_column: str | None,
    methods: list[str] | None,
    n_components: int | None,
    folds: int,
    reading: Reading,
) -> None:
    """Compare classifiers of the points in INPUT by cross-validation.

    The classifiers are a Euclidean support vector machine on the coordinates in the ball (eSVM), the hyperbolic one (hSVM),
    and eSVM on features that are whitened by tangent PCA, by PGA and by Busemann coordinates. C is chosen on the training
    folds alone.

    \b
    Examples:
      horopca classify vectors.npy --labels classes.txt
      horopca classify vectors.npy --labels classes.txt --methods "eSVM,Busemann + eSVM"
      horopca classify words.csv --label-column topic --folds 10 --json
    """
    table, (seed, as_json, quiet, _) = read(input, reading, labels=label_column), common()
    classes = table.labels if labels is None else read_lines(labels, len(table.X), "label")
    if classes is None:
        raise ValueError(f"{input} holds no classes. Pass --label-column NAME, or --labels FILE with one on each line.")
    _check_classes(classes, labels or input)
    with progress_bar(f"Comparing classifiers of {len(table.X):,} points from {input.name}") as bar:
        found = compare_classifiers(
            table.X,
            classes,
            classifiers=methods or CLASSIFIERS,
            n_components=n_components,
            splits=folds,
            random_state=seed,
            progress=bar.update,
            **reading.coordinates(table.model, table.curvature),
        )
    n_folds = len(found[0].scores["accuracy"])
    if as_json:
        sizes = {c: classes.count(c) for c in sorted(set(classes))}
        summary = {result.classifier: _summary(result) for result in found}
        print_json({"input": input, "n_points": len(classes), "classes": sizes, "folds": n_folds, "classifiers": summary})
    elif not quiet:
        _print_scores(found, title=f"{input}: {len(classes):,} points, {len(set(classes))} classes, {n_folds} folds")


def _check_classes(classes: list[str], path: Path) -> None:
    missing = [row for row, label in enumerate(classes) if label.strip().lower() in ("", "nan")]
    if missing:
        lacking = f"{count(len(missing), 'row')} without one (the first: {missing[0]})"
        raise ValueError(f"{path} must hold a class for each row, but has {lacking}.")


def _summary(result: Scores) -> dict[str, Any]:
    return {metric.replace(" ", "_"): {"mean": values.mean(), "std": values.std()} for metric, values in result.scores.items()}


def _print_scores(found: list[Scores], title: str) -> None:
    """Print percentages: mean and standard deviation over the folds."""
    written = {one.classifier: [f"{100 * v.mean():.1f} ± {100 * v.std():.1f}" for v in one.scores.values()] for one in found}
    print_table(title, ["classifier", *found[0].scores], [[name, *cells] for name, cells in written.items()])
