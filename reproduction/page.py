"""The output of the results: a page for each experiment, its pictures, and tables that other pages show."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from horopca.io import atomic_output
from horopca.plots.figures import new_figure

from .claims import claims_text, verdicts
from .definitions import Picture, Results, Section, Size
from .experiments import EXPERIMENTS
from .experiments.reduction import needs_table, readme_table
from .items import items_text
from .store import Record, results_of, write

IMAGES = "images/reproduction"

# pages that show a table of the results, between <!-- reproduction --> and <!-- end of reproduction -->
BLOCKS: dict[str, Callable[[Results], str]] = {
    "README.md": readme_table,
    "docs/start.md": needs_table,
}


def pages_of(records: Sequence[Record]) -> dict[str, str]:
    """The pages by file name: a summary, the claims, a page for each experiment with results, a list of everything."""
    results = results_of(records)
    pages = {"reproduction-claims.md": ("The paper's claims", "every claim, and whether it holds", claims_text(results))}
    for experiment in EXPERIMENTS.values():
        own = results.of(experiment.name)
        if own.found or not experiment.cells(Size()):
            text = re.sub(r"^###", "##", linked(experiment.section(own)), flags=re.MULTILINE)
            text = f"# {experiment.title}\n\n*{experiment.place}.*\n\n{text}"
            pages[f"reproduction-{experiment.name}.md"] = (experiment.title, experiment.place, text)
    everything = "every definition, method, table and figure: where it is implemented, tested and reproduced"
    pages["reproduction-items.md"] = ("Everything in the paper", everything, items_text())
    rows = "\n".join(f"| [{title}]({name}) | {about} |" for name, (title, about, _) in pages.items())
    tree = "\n".join(name.removesuffix(".md") for name in pages)
    main = [f"## {EXPERIMENTS['reduction'].title}\n\n{readme_table(results)}"] if results.of("reduction").found else []
    parts = [_head(records), f"| page | contents |\n|---|---|\n{rows}", verdicts(results), *main]
    summary = "\n\n".join([*parts, f"```{{toctree}}\n:hidden:\n\n{tree}\n```"])
    return {name: text + "\n" for name, text in {"reproduction.md": summary, **{n: p[2] for n, p in pages.items()}}.items()}


def write_pages(records: Sequence[Record], folder: Path) -> Path:
    """Write the pages into a folder; returns the path of the summary."""
    for name, text in pages_of(records).items():
        write(folder / name, text)
    return folder / "reproduction.md"


def linked(section: Section) -> str:
    """The text of a section, with its pictures as links."""
    text = section.text
    for picture in section.pictures:
        text = text.replace(f"{{{picture.name}}}", f"![{picture.caption}]({IMAGES}/{picture.name}.png)")
    return text.strip()


def filled(name: str, text: str, results: Results) -> str:
    """The text of a page of `BLOCKS` with its block replaced."""
    mark, end = "<!-- reproduction -->", "<!-- end of reproduction -->"
    if mark not in text or end not in text:
        raise ValueError(f"{name} must have the lines {mark} and {end} around the generated part, but lacks them.")
    block = f"{mark}\n\n{BLOCKS[name](results)}\n\n{end}"
    return re.sub(f"{re.escape(mark)}.*?{re.escape(end)}", lambda _: block, text, flags=re.DOTALL)


def draw(results: Results, names: Iterable[str], folder: Path) -> None:
    """Draw the pictures of experiments into a folder, except those whose points are missing."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        for picture in EXPERIMENTS[name].section(results.of(name)).pictures:
            if picture.draw:
                draw_picture(picture, folder / f"{picture.name}.png")


def draw_picture(picture: Picture, path: Path) -> None:
    assert picture.draw is not None
    figure = new_figure(interactive=False)
    picture.draw(figure)
    with atomic_output(path, force=True) as temporary:
        figure.savefig(temporary, dpi=picture.dots, bbox_inches="tight", facecolor="white")
        if picture.crowded:
            _reduce_colours(temporary)


def _reduce_colours(path: Path) -> None:
    """Reduce a PNG to 256 colours, enough for points and lines, and a third of its size."""
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
        "*HoroPCA: Hyperbolic Dimensionality Reduction via Horospherical Projections* (Chami, Gu, Nguyen, Ré, ICML 2021). "
        "These pages compare every table and figure of the paper with our own computation, check every theorem in "
        "numbers, judge "
        "every claim, and list where each part of the paper is implemented, tested and reproduced.\n\n"
        "    make reproduce                              # everything; the same command resumes after an interruption\n"
        "    python -m reproduction run reduction        # one table\n"
        "    python -m reproduction table reduction      # print it from the committed results.json\n\n"
        "The pages are generated from [reproduction/results.json](../reproduction/results.json), and a test compares the "
        f"two. {_held(records)} They took {hours:.1f} hours of processor time: {by}, on {on}. Data is downloaded when it is "
        "first needed, or read from the folder that HOROPCA_DATA names.\n\n"
        "Numbers are *average distortion / Fréchet variance* unless stated otherwise; ± is the standard deviation over "
        "runs. *In the paper* marks published numbers. *Published code, today* is the result of the authors' code with its "
        "fixed seed, changed only where torch has removed a function. *As written* is the method that the text of the paper "
        "defines, computed here."
    )


def _held(records: Sequence[Record]) -> str:
    """How complete the results are."""
    have = Counter(record.cell.experiment for record in records)
    whole = {name: len(experiment.cells(Size())) for name, experiment in EXPERIMENTS.items()}
    short = [f"{name} {have[name]} of {count}" for name, count in whole.items() if have[name] < count]
    if not short:
        return f"They contain all {len(records)} parts, with the number of random runs that each table states."
    return (
        f"They contain {len(records)} of {sum(whole.values())} parts; incomplete are {', '.join(short)}. Each table states "
        "how many runs it shows."
    )
