"""What is made of the results: one page with every experiment, its pictures, and the tables that other pages show."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from horopca.io import atomic_output
from horopca.plots import new_figure

from .claims import claims_text
from .experiments import EXPERIMENTS
from .experiments.reduction import needs_table, readme_table
from .experiments.whitening import network_tables
from .items import items_text
from .nouns import Picture, Results, Section, Size
from .store import Record, results_of

IMAGES = "images/reproduction"

# pages that show a table of the results, between <!-- reproduction --> and <!-- end of reproduction -->
BLOCKS: dict[str, Callable[[Results], str]] = {
    "README.md": readme_table,
    "docs/start.md": needs_table,
    "docs/whitening.md": network_tables,
}


def page_of(records: Sequence[Record]) -> str:
    """The page of all results that there are."""
    results = results_of(records)
    parts = [_head(records), claims_text(results)]
    for experiment in EXPERIMENTS.values():
        own = results.of(experiment.name)
        if own.found or not experiment.cells(Size()):
            parts.append(f"## {experiment.title}\n\n*{experiment.place}.*\n\n{linked(experiment.section(own))}")
    return "\n\n".join([*parts, items_text()]) + "\n"


def linked(section: Section) -> str:
    """The text of a section, with its pictures as links."""
    text = section.text
    for picture in section.pictures:
        text = text.replace(f"{{{picture.name}}}", f"![{picture.caption}]({IMAGES}/{picture.name}.png)")
    return text.strip()


def filled(name: str, text: str, results: Results) -> str:
    """The text of a page of `BLOCKS`, its block written anew."""
    mark, end = "<!-- reproduction -->", "<!-- end of reproduction -->"
    if mark not in text or end not in text:
        raise ValueError(f"{name} must have the lines {mark} and {end} around what is written there, but it lacks them.")
    block = f"{mark}\n\n{BLOCKS[name](results)}\n\n{end}"
    return re.sub(f"{re.escape(mark)}.*?{re.escape(end)}", lambda _: block, text, flags=re.DOTALL)


def draw(results: Results, names: Iterable[str], folder: Path) -> None:
    """Draw the pictures of experiments into a folder; one whose points are missing stays as it is."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        for picture in EXPERIMENTS[name].section(results.of(name)).pictures:
            if picture.draw:
                _draw(picture, folder / f"{picture.name}.png")


def _draw(picture: Picture, path: Path) -> None:
    assert picture.draw is not None
    figure = new_figure(interactive=False)
    picture.draw(figure)
    with atomic_output(path, force=True) as temporary:
        figure.savefig(temporary, dpi=picture.dots, bbox_inches="tight", facecolor="white")
        if picture.crowded:
            _thin_out(temporary)


def _thin_out(path: Path) -> None:
    """A PNG of 256 colours, enough for points and lines, a third in size."""
    from PIL import Image  # which matplotlib brings along

    with Image.open(path) as image:
        thinner = image.convert("RGB").quantize(256, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
    thinner.save(path, optimize=True)


def _head(records: Sequence[Record]) -> str:
    codes = Counter(record.code for record in records)
    by = ", ".join(f"{count} parts by code {code}" for code, count in codes.most_common())
    on = "; and on ".join(dict.fromkeys(record.machine for record in records))
    hours = sum(record.seconds for record in records) / 3600
    return (
        "# The paper, reproduced\n\n"
        "*HoroPCA: Hyperbolic Dimensionality Reduction via Horospherical Projections* (Chami, Gu, Nguyen, Ré, ICML 2021): "
        "its claims, each with what we find; every table and figure, computed again beside the published one; every "
        "theorem, checked in numbers; and a list of everything in it, with the place where it is implemented, tested and "
        "reproduced.\n\n"
        "    make reproduce                              # all of it; goes on where it was interrupted\n    python -m "
        "reproduction run reduction        # one table; merges into the page\n    python -m reproduction table reduction   "
        "   # prints it, from the committed results.json\n\n"
        "This page is made from [reproduction/results.json](../reproduction/results.json), and a test holds the two "
        f"together. {_held(records)} They took {hours:.1f} hours of processor time: {by}, on {on}. Data is fetched from its "
        "public home when first asked for, or taken from the folder that HOROPCA_DATA names.\n\n"
        "Figures are *average distortion / Fréchet variance* unless said otherwise; ± is the standard deviation over runs. "
        "*In print* is the paper's figure. *Published code, today* is what the authors' code gives when run now, with its "
        "fixed seed, changed only where torch has removed a call. *As written* is the method that the paper's text "
        "defines, computed here."
    )


def _held(records: Sequence[Record]) -> str:
    """How much of everything the page holds, in a sentence or two."""
    have = Counter(record.cell.experiment for record in records)
    whole = {name: len(experiment.cells(Size())) for name, experiment in EXPERIMENTS.items()}
    short = [f"{name} {have[name]} of {count}" for name, count in whole.items() if have[name] < count]
    if not short:
        return f"It holds all {len(records)} parts of it, as many runs of whatever depends on chance as each table says."
    return (
        f"It holds {len(records)} of {sum(whole.values())} parts; not all of {', '.join(short)}: each table says how many "
        "runs it shows."
    )
