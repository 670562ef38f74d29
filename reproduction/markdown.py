"""Markdown, written as the paper writes its tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

ABSENT = "–"


def table(header: Sequence[str], rows: Sequence[Sequence[str]], *, left: int = 1) -> str:
    """A Markdown table with the first columns aligned to the left.

    >>> print(table(["", "a"], [["x", "1"]]))
    |  | a |
    |---|---:|
    | x | 1 |
    """
    lines = [header, [*["---"] * left, *["---:"] * (len(header) - left)], *rows]
    return "\n".join(
        "|" + "|".join(cells) + "|" if k == 1 else "| " + " | ".join(cells) + " |" for k, cells in enumerate(lines)
    )


def spread(values: Any, digits: int = 2) -> str:
    """Mean ± standard deviation over runs, as the paper prints them.

    >>> spread([0.12, 0.14], 3), spread([0.5]), spread([])
    ('0.130 ± 0.010', '0.50', '–')
    """
    values = np.asarray(values, dtype=np.float64)
    if not len(values):
        return ABSENT
    mean = f"{values.mean():.{digits}f}"
    return f"{mean} ± {values.std():.{digits}f}" if len(values) > 1 else mean


def printed(figure: Any, digits: int = 2, *, std: bool = True) -> str:
    """A published figure."""
    if figure is None:
        return ABSENT
    return f"{figure.mean:.{digits}f} ± {figure.std:.{digits}f}" if figure.std and std else f"{figure.mean:.{digits}f}"


def both(row: Any, *, std: bool = True) -> str:
    """A published cell of the tables of reductions: distortion / variance."""
    return ABSENT if row is None else f"{printed(row.distortion, std=std)} / {printed(row.variance, std=std)}"


def bold(text: str, yes: bool = True) -> str:
    return f"**{text}**" if yes and text != ABSENT else text


def short(value: float | None, digits: int = 3) -> str:
    """A fraction without its zero.

    >>> short(0.0421), short(1.5), short(None)
    ('.042', '1.500', '–')
    """
    return ABSENT if value is None else f"{value:.{digits}f}".removeprefix("0")
