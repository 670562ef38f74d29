"""``horopca components``: how many components the points support."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rich.text import Text

from .. import plots
from ..estimators.component_curve import ComponentCurve, component_curve
from . import options as opt
from .console import print_table, progress_bar, report, state, with_options
from .files import Reading, figure_for, write_files
from .points import read_points

# Measures of the table: heading and format.
MEASURES = {
    "distortion": ("distortion", "{:.4f}"),
    "variance": ("variance kept", "{:.2%}"),
    "neighbours": ("neighbours kept", "{:.1%}"),
}


@opt.command
@opt.points_argument()
@opt.count_option(
    "-k", "--components", "max_components", help="Try 1 to K components.  [default: 10, or the dimension if that is smaller]"
)
@opt.folds_option
@opt.groups_option
@opt.count_option("--copies", default=19, help="Number of random copies to compare each component with.")
@opt.writes("--plot", help="Picture of the curves: .png, .pdf or .svg.")
@opt.method_options
@opt.jobs_option
@opt.reading_options
def components(
    input: Path, groups: Path | None, plot: Path | None, method: str | None, settings: Any, reading: Reading, **options: Any
) -> None:
    """Estimate how many components the points in INPUT support.

    For 1, 2, ... components the table shows the average distortion of distances and the fractions of the variance and of
    the nearest neighbours that are kept. All are measured on rows that the fit has not seen, with standard errors over the
    folds. A component is supported if it adds more variance to the points than to any of some random copies. The copies keep
    the previous components, and have random directions otherwise.

    \b
    Examples:
      horopca components vectors.npy
      horopca components vectors.npy --plot curve.png
      horopca components vectors.npy -k 5 --set spine=free --groups families.txt
      horopca components vectors.npy --json | jq .chosen
    """
    figure, points, method = figure_for(plot), read_points(input, reading, groups), method or opt.DEFAULT_METHOD
    estimator, n, seed = opt.make_estimator(method, None, settings, points.coordinates), len(points.X), state().seed
    options |= {"groups": points.column(groups, "group"), "random_state": seed}
    with progress_bar(f"Fitting parts of {n:,} points from {input.name}") as update:
        curve = component_curve(points.X, estimator=estimator, **options, progress=update)
    if figure is not None:
        plots.plot_components(curve, figure=figure)
        write_files((plot, figure))
    given = {"method": method, "folds": options["cv"], "copies": options["copies"], "seed": seed, "plot": plot}
    summary = {"input": input, "n_points": n, **points.coordinates, **given, **_summary(curve)}
    report(summary, lambda: _print_curve(curve, f"{input}: {n:,} points, {len(curve.distortion.among)} folds"))


def _summary(curve: ComponentCurve) -> dict[str, Any]:
    rows: list[dict[str, Any]] = []
    for k, number in enumerate(curve.n_components):
        rows.append({"n_components": number, "added": curve.added[k]})
        for name in MEASURES:
            held = getattr(curve, name)
            rows[-1] |= {name: held.mean[k], f"{name}_error": held.error[k], f"{name}_across": held.across.mean(axis=0)[k]}
        if k < curve.null.shape[1]:
            rows[-1] |= {"added_by_chance": curve.null[:, k].max(), "p_value": curve.p_values[k]}
    return {**{name: getattr(curve, name) for name in ("chosen", "choices", "sentence")}, "curve": rows}


def _print_curve(curve: ComponentCurve, title: str) -> None:
    """Print a line for each number of components, the chosen one in bold, and a sentence."""
    rows = []
    for k, number in enumerate(curve.n_components):
        held_out = [(getattr(curve, name), form) for name, (_, form) in MEASURES.items()]
        cells = [f"{form.format(held.mean[k])} ± {form.format(held.error[k])}" for held, form in held_out]
        chance = f"≤ {curve.null[:, k].max():.1%}" if k < curve.null.shape[1] else ""
        style = "bold" if number == curve.chosen else ""
        rows.append([Text(cell, style=style) for cell in (str(number), *cells, f"{curve.added[k]:.1%}", chance)])
    headings = ["k", *(heading for heading, _ in MEASURES.values()), "adds", "by chance"]
    print_table(title, headings, rows, below=with_options(curve.sentence))
