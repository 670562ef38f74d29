"""``horopca components``: how many dimensions to reduce points to."""

from __future__ import annotations

from pathlib import Path
from typing import Any, get_args

import rich_click as click

from .. import plots
from ..estimators.component_curve import ComponentCurve, HeldOut, MeasureName, RuleName, component_curve
from .console import print_json, print_table, progress_bar
from .drawing import PICTURES, figure_for, saved
from .files import Output, check_files, read, write_files
from .methods import USUAL, made, many_fits_options
from .options import Reading, choice, points_argument, reading_options, reads, usual_options, writes
from .texts import read_words


@click.command()
@points_argument()
@click.option(
    "-k", "--components", "max_components", type=click.IntRange(min=1), help="Look at 1 to so many.  [default: 10, or all]"
)
@click.option("--folds", "cv", type=click.IntRange(min=2), default=5, show_default=True, help="Folds of the cross-validation.")
@reads("--groups", help="Groups of the rows, one to a line, each kept in one fold.")
@choice("rule", get_args(RuleName), "More than chance, or within one standard error of the best.")
@choice("measure", get_args(MeasureName), "What the rule one_se goes by.")
@click.option(
    "--copies",
    type=click.IntRange(min=0),
    default=19,
    show_default=True,
    help="Copies to compare a component with; 0: none.",
)
@writes("--plot", help="Where to draw the curves: .png, .pdf or .svg.")
@reading_options
@many_fits_options
@usual_options
def components(
    input: Path,
    groups: Path | None,
    plot: Path | None,
    reading: Reading,
    method: str | None,
    asked: dict[str, Any],
    seed: int,
    as_json: bool,
    force: bool,
    **how: Any,
) -> None:
    """Say how many components the points in INPUT speak for.

    For 1, 2, ... components: the average distortion of distances, and the shares of the variance and of the nearest neighbours
    that are kept, of rows that the fit has not seen, with standard errors over the folds. A component counts if it adds more
    to the variance than it does by chance, in copies of the points whose directions, beside the components before it, are
    random.

    \b
    Examples:
      horopca components vectors.npy
      horopca components vectors.npy --plot curve.png
      horopca components vectors.npy -k 5 --spine free --groups families.txt
      horopca components vectors.npy --rule one_se --measure neighbours --copies 0
      horopca components vectors.npy --json | jq .chosen
    """
    check_files({"input": input, "groups": groups}, [Output("--plot", plot, PICTURES)], force=force)
    figure = figure_for(plot)
    table = read(input, reading)
    place, n = reading.place(table.model, table.curvature), len(table.X)
    how |= {"estimator": made(method, None, asked, random_state=seed, **place), "random_state": seed}
    how["groups"] = None if groups is None else read_words(groups, n, "group")
    with progress_bar(f"Fitting parts of {n:,} points from {input.name}") as bar:
        curve = component_curve(table.X, **how, progress=bar.update)
    if figure is not None:
        plots.plot_components(curve, figure=figure)
        write_files([(plot, saved(figure))], force=force)
    if as_json:
        about = {"method": method or USUAL, "folds": how["cv"], "copies": how["copies"], "seed": seed, "plot": plot}
        print_json({"input": input, "n_points": n, **place, **about, **_summary(curve)})
    else:
        _print_curve(curve, f"{input}: {n:,} points, {len(curve.distortion.among)} folds")


# The figures of merit have these headings, and are written so.
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
    """A line for each number of components, that which is chosen bold, and a sentence."""
    headings = ["k", *(heading for heading, _ in FIGURES.values()), *(["adds", "by chance"] if len(curve.null) else [])]
    rows = []
    for k, number in enumerate(curve.n_components):
        figures = [(getattr(curve, name), form) for name, (_, form) in FIGURES.items()]
        cells = [f"{form.format(held.mean[k])} ± {form.format(held.error[k])}" for held, form in figures]
        if len(curve.null):
            cells += [f"{curve.added[k]:.1%}", f"≤ {curve.null[:, k].max():.1%}" if k < curve.null.shape[1] else ""]
        rows.append([str(number), *cells])
    print_table(title, headings, rows, bold=curve.chosen - 1, below=curve.sentence)
