"""What is made of the cells: a table and pictures for each experiment, and one page with all of them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from horopca.io import atomic_output
from horopca.plots import new_figure

from .experiment import Cell, Claim, Experiment, Page, Picture, Results
from .run import Gap
from .store import Store

IMAGES = "images/reproduction"


def write_experiment(
    store: Store, experiment: Experiment, cells: list[Cell], about: dict[str, Any], gaps: Sequence[Gap]
) -> Page:
    """The folder of an experiment: results.json, table.md, and every picture as PNG and SVG."""
    found = [(cell, record) for cell in cells if (record := store.load(cell)) is not None]
    results = Results([(cell, record["result"]) for cell, record in found])
    page = experiment.page(results)
    folder = experiment.folder(store.folder)
    listed = [
        {"cell": cell.name, **{k: v for k, v in record.items() if k != "result"}, "result": _small(record["result"])}
        for cell, record in found
    ]
    missing = [{"cell": gap.cell.name, "why": gap.why} for gap in gaps if gap.cell.experiment == experiment.name]
    seconds = round(sum(record["seconds"] for _, record in found), 1)
    store.write(
        folder / "results.json",
        {
            "experiment": experiment.name,
            **about,
            "versions": store.versions,
            "seconds": seconds,
            "missing": missing,
            "cells": listed,
        },
    )
    store.write(folder / "table.md", _with_pictures(page, lambda picture: f"{picture.name}.png"))
    for picture in page.pictures:
        _draw(picture, folder, store.folder / "report" / IMAGES)
    return page


def _small(result: Any) -> Any:
    """A result without the clouds of points in it."""
    if isinstance(result, dict):
        return {key: _small(value) for key, value in result.items() if key != "points"}
    return result


def _with_pictures(page: Page, link: Any) -> str:
    text = page.text
    for picture in page.pictures:
        text = text.replace(f"{{{picture.name}}}", f"![{picture.caption}]({link(picture)})")
    return text + "\n"


def _draw(picture: Picture, folder: Path, images: Path) -> None:
    """A picture as PNG and SVG in the folder of its experiment, and as PNG beside the page."""
    figure = new_figure(interactive=False)
    picture.draw(figure)
    if picture.crowded:
        for ax in figure.axes:
            for collection in ax.collections:
                collection.set_rasterized(True)
    images.mkdir(parents=True, exist_ok=True)
    for path in (images / f"{picture.name}.png", folder / f"{picture.name}.png", folder / f"{picture.name}.svg"):
        dated = {} if path.suffix == ".png" else {"Date": None}  # a date would change a file that has not changed
        with atomic_output(path, force=True) as temporary:
            figure.savefig(temporary, dpi=picture.dots, bbox_inches="tight", facecolor="white", metadata=dated)
            if picture.crowded and path.suffix == ".png":
                _thin_out(temporary)


def _thin_out(path: Path) -> None:
    """A PNG of 256 colours, enough for points and lines, a third in size."""
    from PIL import Image  # which matplotlib brings along

    with Image.open(path) as image:
        thinner = image.convert("RGB").quantize(256, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
    thinner.save(path, optimize=True)


def write_page(
    store: Store, pages: Sequence[tuple[Experiment, Page]], claims: Sequence[Claim], about: dict[str, Any], gaps: Sequence[Gap]
) -> Path:
    """The page of all experiments: report/reproduction.md, with its pictures beside it."""
    parts = [_head(store, about), _claims(claims)] if claims else [_head(store, about)]
    if gaps:
        parts.append(_gaps(gaps))
    for experiment, page in pages:
        parts.append(f"## {experiment.title}\n\n{_with_pictures(page, lambda picture: f'{IMAGES}/{picture.name}.png').strip()}")
    path = store.folder / "report" / "reproduction.md"
    store.write(path, "\n\n".join(parts) + "\n")
    return path


def _head(store: Store, about: dict[str, Any]) -> str:
    made = ", ".join(f"{name} {value}" for name, value in store.versions.items() if name not in ("horopca", "code"))
    quick = f" This is a quick look; left out: {about['left_out']}." if about.get("left_out") else ""
    return (
        "# The paper, reproduced\n\n"
        "Every table and figure of *HoroPCA: Hyperbolic Dimensionality Reduction via Horospherical Projections* (Chami, Gu, "
        "Nguyen, Ré, ICML 2021), computed again: our figures beside the published ones, and where a published figure is not "
        f"that of the method, what it is the figure of.{quick}\n\n"
        f"This page and its pictures are the folder `report` that the command\n\n    {about['command']}\n\n"
        f"wrote, with horopca {store.versions['horopca']}, {made}; {about['runs']} runs of what depends on chance, seeds 0 to "
        f"{about['runs'] - 1}. The folder also has every number as JSON and every picture as SVG. The data is fetched from its "
        "public home when first asked for, or taken from a folder that HOROPCA_DATA names."
    )


def _claims(claims: Sequence[Claim]) -> str:
    lines = [f"* {'✓' if claim.holds else '✗ **not reached:**'} {claim.text}: {claim.measured}." for claim in claims]
    return "## What it set out to show\n\n" + "\n".join(lines)


def _gaps(gaps: Sequence[Gap]) -> str:
    return "## What is missing\n\n" + "\n".join(f"* {line}" for line in gap_lines(gaps))


def gap_lines(gaps: Sequence[Gap]) -> list[str]:
    """Each reason once, with the experiments that it leaves gaps in."""
    reasons: dict[str, set[str]] = {}
    for gap in gaps:
        reasons.setdefault(gap.why, set()).add(gap.cell.experiment)
    return [f"{', '.join(sorted(where))}: {why}" for why, where in reasons.items()]
