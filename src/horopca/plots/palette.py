"""Colours of classes and of numbers, for the plots and for the explorer."""

from __future__ import annotations

import colorsys
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import count
from typing import Any, NamedTuple

import numpy as np

from .._input.arguments import check_choice

# Any two of the first eight and the grey are 13 or more apart in CIELAB, as seen with full colour vision and with each kind of
# dichromacy; any two of all, 9. None on a light background is nearly black (tests/plots).
#: Twenty colours of classes on light backgrounds; dark ones have twenty of their own.
COLOURS = (
    "#196EA7", "#E8A009", "#009E71", "#8D4000", "#C37DB1", "#49B4EE", "#97751F", "#3A2B69", "#C4134E", "#8975FF",
    "#899C4E", "#C4009C", "#0000EB", "#FF7589", "#893AFF", "#4E4E3A", "#894E75", "#627562", "#897589", "#4E3A4E",
)  # fmt: skip
DARK_COLOURS = (
    "#137BB6", "#E7A72F", "#0AAE81", "#D9621B", "#C18EB7", "#92D1F9", "#FFF01C", "#9B88FF", "#EBFFEB", "#C40000",
    "#00FF9D", "#D814B1", "#89C476", "#894E4E", "#C4C4C4", "#6200FF", "#89764E", "#FFEBFF", "#006276", "#9D4EFF",
)  # fmt: skip
OTHER = "#B6B8BC"  #: The grey of points without a label or a number.
DARK_OTHER = "#767D87"
NO_LABEL = "no label"  #: The class of points without a label, as the legend names it.
ROMAN = re.compile(r"(?=[IVXLCDM])M{0,3}(?:CM|CD|D?C{0,3})(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3})\b")

# Colour ramps from low to high values: high values stand out from the background. The low end of `distrust` is inconspicuous.
RAMPS: dict[str, dict[str, tuple[str, ...]]] = {
    "value": {
        "light": ("#A5DB36", "#4AC16D", "#1FA187", "#277F8E", "#365C8D", "#46327E", "#440154"),
        "dark": ("#46327E", "#365C8D", "#277F8E", "#1FA187", "#4AC16D", "#A0DA39", "#FDE725"),
    },
    "diverging": {
        "light": ("#1B5E9E", "#7FB2D6", "#D4D4D4", "#E3A26B", "#A84300"),
        "dark": ("#7CC0F7", "#3F77A5", "#3A3F47", "#A0622F", "#FFA45C"),
    },
    "distrust": {
        "light": ("#C3D0DC", "#E8C37B", "#E69F00", "#D55E00", "#8A2B06"),
        "dark": ("#3A4C5C", "#7F6A3B", "#C58400", "#F07A1C", "#FFC9A3"),
    },
}
RAMPS["trust"] = {theme: ramp[::-1] for theme, ramp in RAMPS["distrust"].items()}  # for values of which high ones are good
SCALES = ("linear", "log", "diverging")


class Theme(NamedTuple):
    """The colours of a plot on a light or a dark figure."""

    name: str
    classes: Sequence[str]
    other: str
    disk: str
    rim: str
    grid: str
    edge: str
    ink: str
    halo: str


LIGHT = Theme("light", COLOURS, OTHER, "#FAFAFA", "#444444", "#DDDDDD", "#8C8C8C", "#222222", "#FFFFFF")
DARK = Theme("dark", DARK_COLOURS, DARK_OTHER, "#181C22", "#9AA1AB", "#3B424C", "#7A828D", "#E8EAED", "#0E1115")


def is_missing(value: Any) -> bool:
    """Whether a label or number is missing: None, NaN, pandas.NA, or another value that is not equal to itself."""
    return value is None or type(value).__name__ == "NAType" or bool(value != value)


def label_texts(labels: Iterable[Any]) -> list[str]:
    """Labels as texts; all missing ones are `NO_LABEL`."""
    return [NO_LABEL if is_missing(label) else str(label) for label in labels]


def ordered_classes(texts: Collection[str]) -> list[str]:
    """The distinct classes in natural order: numbers by value, Roman numerals too if every class starts with one."""
    classes = sorted(set(texts) - {NO_LABEL}, key=_natural)
    numerals = [ROMAN.match(text) for text in classes]
    # Letters alone, such as C, D and M, are classes by letter rather than numerals.
    if all(numerals) and any(found and len(found[0]) > 1 for found in numerals):
        classes.sort(key=_roman)
    return classes + [NO_LABEL] * (NO_LABEL in texts)


def _natural(text: str) -> list[tuple[int, int, str]]:
    return [(0, int(part), "") if part.isdecimal() else (1, 0, part) for part in re.split(r"(\d+)", text)]


def _roman(text: str) -> int:
    """The value of the Roman numeral that a text starts with."""
    digits = [{"I": 1, "V": 5, "X": 10, "L": 50, "C": 100, "D": 500, "M": 1000}[letter] for letter in ROMAN.findall(text)[0]]
    return sum(-one if one < after else one for one, after in zip(digits, [*digits[1:], 0], strict=True))


def class_colours(labels: Iterable[Any], palette: Any = None, theme: str = "light") -> dict[str, str]:
    """The colour of each class in every plot and page, in natural order of the classes.

    The twenty most frequent classes have the colours of the palette, in the order of their names. Further classes have
    other hues, and "no label" is grey. To keep the colours of a whole data set for a part of it, pass this mapping as the
    ``palette`` of the part.

    Parameters
    ----------
    labels : iterable
        A label for each point.
    palette : sequence of "#rrggbb", or mapping of classes to "#rrggbb", optional
        Other colours than the package's. Classes that a mapping does not contain are grey.
    theme : {"light", "dark"}
        The background.

    See Also
    --------
    plot_plane : uses these colours

    Examples
    --------
    >>> whole = class_colours(["cat", "dog", "cow"])
    >>> whole["dog"]
    '#009E71'
    >>> class_colours(["dog"], palette=whole)
    {'dog': '#009E71'}
    """
    check_choice("theme", theme, ("light", "dark"))
    usual = {"light": LIGHT, "dark": DARK}[theme]
    counts = Counter(label_texts(labels))
    classes = ordered_classes(counts)
    if isinstance(palette, Mapping):
        chosen = {str(text): _check_colour(colour) for text, colour in palette.items()}
        return {text: chosen.get(text, usual.other) for text in classes}
    colours = usual.classes if palette is None else [_check_colour(colour) for colour in palette]
    known = [text for text in classes if text != NO_LABEL]
    frequent = set(sorted(known, key=lambda text: -counts[text])[: len(colours)])  # a stable sort: ties in natural order
    first, further = iter(colours), _further_hues(theme)
    found = {text: next(first) if text in frequent else next(further) for text in known}
    return found | ({NO_LABEL: usual.other} if NO_LABEL in counts else {})


def _further_hues(theme: str) -> Iterator[str]:
    """Colours without end: hues apart by the golden ratio, so that neighbours in a legend differ most."""
    lightness = (0.3, 0.42, 0.54) if theme == "light" else (0.5, 0.62, 0.74)
    for k in count():
        rgb = colorsys.hls_to_rgb(0.618034 * k % 1, lightness[k % 3], 0.6)
        yield "#" + "".join(f"{round(255 * part):02X}" for part in rgb)


def _check_colour(colour: Any) -> str:
    if not isinstance(colour, str) or not re.fullmatch(r"#[0-9a-fA-F]{6}", colour):
        raise ValueError(f'palette must contain colours such as "#0072B2", or map classes to them, but contains {colour!r}.')
    return colour.upper()


def value_range(values: Any, scale: str = "linear") -> tuple[float, float]:
    """The ends of a ramp: the range of the values, without 1 % at each end if that halves the range.

    On a logarithmic scale values above 0 count; a diverging scale is symmetric about 0.
    """
    check_choice("scale", scale, SCALES)
    known = np.sort(np.asarray(values, dtype=np.float64)[np.isfinite(values)])
    known = known[known > 0] if scale == "log" else known
    if not known.size:
        return (0.1, 1.0) if scale == "log" else (-1.0, 1.0) if scale == "diverging" else (0.0, 1.0)
    sizes = np.log(known) if scale == "log" else known
    low, high = (round(part * (len(known) - 1)) for part in (0.01, 0.99))
    stretched = sizes[-1] - sizes[0] > 2 * (sizes[high] - sizes[low]) > 0
    ends = (float(known[low]), float(known[high])) if stretched else (float(known[0]), float(known[-1]))
    farthest = max(abs(ends[0]), abs(ends[1]))
    return (-farthest, farthest) if scale == "diverging" else ends
