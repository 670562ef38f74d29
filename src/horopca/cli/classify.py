"""``horopca classify``: classifiers compared on a user's own points."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import rich_click as click

from ..metrics.classification import CLASSIFIERS, Scores, compare_classifiers
from .console import print_json, print_table, progress_bar
from .files import read
from .options import Reading, json_option, points_argument, quiet_option, reading_options, reads, seed_option, several
from .texts import read_words


@click.command()
@points_argument()
@reads("--labels", help="Classes of the rows, one to a line.  [default: those in INPUT]")
@click.option(
    "--methods",
    type=several(click.Choice(list(CLASSIFIERS), case_sensitive=False)),
    metavar="NAME,NAME",
    help=f"Classifiers to compare, of {', '.join(CLASSIFIERS)}.  [default: all]",
)
@click.option(
    "-k", "--components", "n_components", type=click.IntRange(min=1), help="Features of each whitening.  [default: its own]"
)
@click.option("--folds", type=click.IntRange(min=2), default=5, show_default=True, help="Folds of the cross-validation.")
@reading_options
@seed_option
@json_option
@quiet_option
def classify(
    input: Path,
    labels: Path | None,
    methods: list[str] | None,
    n_components: int | None,
    folds: int,
    reading: Reading,
    seed: int,
    as_json: bool,
) -> None:
    """Compare classifiers of the points in INPUT by cross-validation.

    A Euclidean support vector machine on the coordinates in the ball (eSVM), the hyperbolic one (hSVM), and eSVM on features
    whitened by tangent PCA, by PGA and by Busemann coordinates. The C of each is chosen in the training part alone.

    \b
    Examples:
      horopca classify vectors.npy --labels classes.txt
      horopca classify vectors.npy --labels classes.txt --methods "eSVM,Busemann + eSVM"
      horopca classify words.csv --folds 10 --json
    """
    table = read(input, reading)
    classes = table.labels if labels is None else read_words(labels, len(table.X), "label")
    if classes is None:
        raise ValueError(
            f"{input} holds no labels. Name its column, --label-column NAME, or a file with one for each row, --labels FILE."
        )
    _refuse_missing(classes, labels or input)
    with progress_bar(f"Comparing classifiers of {len(table.X):,} points from {input.name}") as bar:
        found = compare_classifiers(
            table.X,
            classes,
            classifiers=methods or CLASSIFIERS,
            n_components=n_components,
            splits=folds,
            random_state=seed,
            progress=bar.update,
            **reading.place(table.model, table.curvature),
        )
    n_folds = len(found[0].scores["accuracy"])
    if as_json:
        sizes = {c: classes.count(c) for c in sorted(set(classes))}
        summary = {result.classifier: _summary(result) for result in found}
        print_json({"input": input, "n_points": len(classes), "classes": sizes, "folds": n_folds, "classifiers": summary})
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
    written = {one.classifier: [f"{100 * v.mean():.1f} ± {100 * v.std():.1f}" for v in one.scores.values()] for one in found}
    print_table(title, ["classifier", *found[0].scores], [[name, *cells] for name, cells in written.items()])
