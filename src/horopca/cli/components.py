"""``horopca components``: how many dimensions to reduce points to."""

from __future__ import annotations

from pathlib import Path
from typing import Any, get_args

import rich_click as click

from .. import plots
from ..estimators.component_curve import ComponentCurve, HeldOut, MeasureName, RuleName, component_curve
from .common import common
from .console import print_json, print_table, progress_bar, with_options
from .drawing import PICTURES, figure_for, save_figure
from .files import Output, check_files, read, write_files
from .options import Reading, choice, command, points_argument, reading_options, reads, writes
from .points import read_lines
from .settings import USUAL, jobs_option, make_estimator, method_options


@command
@points_argument()
@click.option(
    "-k", "--components", "max_components", type=click.IntRange(min=1), help="Try 1 to K components.  [default: 10, or all]"
)
@click.option("--folds", "cv", type=click.IntRange(min=2), default=5, show_default=True, help="Folds of the cross-validation.")
@reads("--groups", help="Groups of the rows, one on each line; a group stays in one fold.")
@choice("rule", get_args(RuleName), "null: more variance than by chance; one_se: within one standard error of the best.")
@choice("measure", get_args(MeasureName), "What the rule one_se compares.")
@click.option(
    "--copies",
    type=click.IntRange(min=0),
    default=19,
    show_default=True,
    help="Random copies to compare each component with; 0: none.",
)
@writes("--plot", help="Picture of the curves: .png, .pdf or .svg.")
@method_options
@jobs_option
@reading_options
def components(
    input: Path, groups: Path | None, plot: Path | None, method: str | None, settings: Any, reading: Reading, **options: Any
) -> None:
    """Say how many components the points in INPUT support.

    For 1, 2, ... components the table shows the average distortion of distances and the fractions of the variance and of
    the nearest neighbours that are kept. All are measured on rows that the fit has not seen, with standard errors over the
    folds. A component counts if it adds more variance than in random copies of the points, which keep the components
    before it and have random directions otherwise.

    \b
    Examples:
      horopca components vectors.npy
      horopca components vectors.npy --plot curve.png
      horopca components vectors.npy -k 5 --set spine=free --groups families.txt
      horopca components vectors.npy --rule one_se --measure neighbours --copies 0
      horopca components vectors.npy --json | jq .chosen
    """
    seed, as_json, quiet, force = common()
    check_files({"input": input, "groups": groups}, [Output("--plot", plot, PICTURES)], force=force)
    figure, method = figure_for(plot), method or USUAL
    table = read(input, reading)
    coordinates, n = reading.coordinates(table.model, table.curvature), len(table.X)
    estimator = make_estimator(method, None, settings, random_state=seed, **coordinates)
    options |= {"groups": None if groups is None else read_lines(groups, n, "group"), "random_state": seed}
    with progress_bar(f"Fitting parts of {n:,} points from {input.name}") as bar:
        curve = component_curve(table.X, estimator=estimator, **options, progress=bar.update)
    if figure is not None:
        plots.plot_components(curve, figure=figure)
        write_files([(plot, save_figure(figure))], force=force)
    if as_json:
        given = {"method": method, "folds": options["cv"], "copies": options["copies"], "seed": seed, "plot": plot}
        print_json({"input": input, "n_points": n, **coordinates, **given, **_summary(curve)})
    elif not quiet:
        _print_curve(curve, f"{input}: {n:,} points, {len(curve.distortion.among)} folds")


# Figures of merit: heading and format.
FIGURES: dict[str, tuple[str, str]] = {
    "distortion": ("distortion", "{:.4f}"),
    "variance": ("variance kept", "{:.2%}"),
    "neighbours": ("neighbours kept", "{:.1%}"),
}


def _summary(curve: ComponentCurve) -> dict[str, Any]:
    rows = []
    for k, number in enumerate(curve.n_components):
        row: dict[str, Any] = {"n_components": number}
        for name in FIGURES:
            held: HeldOut = getattr(curve, name)
            row |= {name: held.mean[k], f"{name}_error": held.error[k], f"{name}_across": held.across.mean(axis=0)[k]}
        if len(curve.null):
            row["added"] = curve.added[k]
        if k < curve.null.shape[1]:
            row |= {"added_by_chance": curve.null[:, k].max(), "p_value": curve.p_values[k]}
        rows.append(row)
    return {
        "rule": curve.rule,
        "measure": curve.measure,
        "chosen": curve.chosen,
        "choices": curve.choices,
        "sentence": curve.sentence,
        "curve": rows,
    }


def _print_curve(curve: ComponentCurve, title: str) -> None:
    """Print a line for each number of components, the chosen one in bold, and a sentence."""
    headings = ["k", *(heading for heading, _ in FIGURES.values()), *(["adds", "by chance"] if len(curve.null) else [])]
    rows = []
    for k, number in enumerate(curve.n_components):
        figures = [(getattr(curve, name), form) for name, (_, form) in FIGURES.items()]
        cells = [f"{form.format(held.mean[k])} ± {form.format(held.error[k])}" for held, form in figures]
        if len(curve.null):
            cells += [f"{curve.added[k]:.1%}", f"≤ {curve.null[:, k].max():.1%}" if k < curve.null.shape[1] else ""]
        rows.append([str(number), *cells])
    print_table(
        title, headings, rows, bold=curve.chosen - 1, below=with_options(curve.sentence, {"max_components": "--components"})
    )
