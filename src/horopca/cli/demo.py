"""``horopca demo``: the mammals of WordNet, reduced, compared and drawn."""

from __future__ import annotations

from pathlib import Path

from ..datasets import load_mammals
from ..metrics.comparison import default_methods
from ..metrics.stability import stability_note
from .compare import print_records, watched_reductions
from .console import report, state
from .files import figure_for, write_files
from .options import command, methods_option, writes
from .points import Points
from .reduce import PICTURE_METHOD


@command
@writes("-o", "--output", default="horopca-demo.png", show_default=True, help="Picture to draw: .png, .pdf or .svg.")
@methods_option(
    default_methods(), f"Methods to compare; the picture shows the first.  [default: {PICTURE_METHOD} and all others]"
)
def demo(output: Path, methods: list[str] | None) -> None:
    """Reduce WordNet's mammals from 10 dimensions to the disk, and draw them.

    The points are a Poincaré embedding of 1182 kinds of mammals, which comes with the package. The table shows what each
    method preserves, and the picture shows the stretched HoroPCA, which preserves distances best. The line below both states
    what is stable: what hardly changes in refits to random halves of the classes.

    \b
    Examples:
      horopca demo
      horopca demo -o mammals.pdf --methods horopca,tpca
    """
    seed, figure, mammals = state().seed, figure_for(output), load_mammals()
    rows = watched_reductions(mammals.points, [2], methods or default_methods(), random_state=seed)
    drawn = methods[0] if methods else PICTURE_METHOD
    Y, reduction = next((Y, estimator) for record, Y, estimator in rows if record["method"] == drawn)
    classes = mammals.labels
    note = reduction and stability_note(reduction, mammals.points, classes, groups=classes, called="classes", random_state=seed)
    Points(Y, {}, mammals.names, {"class": classes}, "class").draw(figure, mammals.edges, caption=note)
    write_files((output, figure))
    (n, d), records = mammals.points.shape, [record for record, _, _ in rows]
    title = f"{n:,} kinds of mammals, from {d} dimensions to 2; drawn in {output}"
    summary = {"n_points": n, "n_columns": d, "seed": seed, "plot": output, "drawn": drawn, "stability": note}
    report({**summary, "results": records}, lambda: print_records(records, title, note))
