"""``horopca classify``: a comparison of classifiers by cross-validation."""

from __future__ import annotations

from pathlib import Path

from ..metrics.classification import CLASSIFIERS, compare_classifiers
from .console import count, print_table, progress_bar, report, state
from .files import Reading
from .options import command, count_option, folds_option, methods_option, points_argument, reading_options, reads
from .points import read_points


@command
@points_argument()
@reads(
    "--labels",
    metavar="FILE|COLUMN",
    help="Classes of the rows: a column of INPUT, or a file with one on each line.  [default: the classes in INPUT]",
)
@methods_option(CLASSIFIERS, f"Classifiers to compare, of {', '.join(CLASSIFIERS)}.  [default: all]")
@count_option("-k", "--components", "n_components", help="Number of features of each whitening.")
@folds_option
@reading_options
def classify(
    input: Path, labels: Path | None, methods: list[str] | None, n_components: int | None, cv: int, reading: Reading
) -> None:
    """Compare classifiers of the points in INPUT by cross-validation.

    The classifiers are a Euclidean support vector machine on the coordinates in the ball (eSVM), the hyperbolic one (hSVM),
    and eSVM on features that are whitened by tangent PCA, by PGA and by Busemann coordinates. The penalty C is chosen on the
    training folds alone.

    \b
    Examples:
      horopca classify vectors.npy --labels classes.txt
      horopca classify vectors.npy --labels classes.txt --methods "eSVM,Busemann + eSVM"
      horopca classify words.csv --labels topic --folds 10 --json
    """
    points = read_points(input, reading, labels)
    X, source = points.X, labels or (None if points.colour is None else Path(points.colour))
    classes = points.column(source, "label")
    if classes is None:
        raise ValueError(f"{input} holds no classes. Pass --labels COLUMN, or --labels FILE with one on each line.")
    missing = [row for row, label in enumerate(classes) if label.strip().lower() in ("", "nan")]
    if missing:
        lacking = f"{count(len(missing), 'row')} without one (the first: {missing[0]})"
        raise ValueError(f"{labels or input} must hold a class for each row, but has {lacking}.")
    wanted, seed = methods or CLASSIFIERS, state().seed
    options = {"n_components": n_components, "splits": cv, "random_state": seed, **points.coordinates}
    with progress_bar(f"Comparing classifiers of {len(X):,} points from {input.name}") as update:
        found = compare_classifiers(X, classes, classifiers=wanted, progress=update, **options)
    metrics = next(iter(found.values()))
    folds = len(metrics["accuracy"])
    rows = [[name, *(f"{100 * v.mean():.1f} ± {100 * v.std():.1f}" for v in of.values())] for name, of in found.items()]
    means = {c: {m.replace(" ", "_"): {"mean": v.mean(), "std": v.std()} for m, v in of.items()} for c, of in found.items()}
    sizes = {c: classes.count(c) for c in sorted(set(classes))}
    title = f"{input}: {len(classes):,} points, {len(sizes)} classes, {folds} folds"
    summary = {"input": input, "n_points": len(classes), "classes": sizes, "folds": folds, "classifiers": means}
    report(summary, lambda: print_table(title, ["classifier", *metrics], rows))
