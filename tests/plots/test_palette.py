"""Colours: distinguishable with every kind of colour vision, the same for a class in every plot; natural order."""

import matplotlib
import numpy as np
import pytest

from conftest import legend_on, new_figure
from horopca.plots import COLOURS, class_colours, plot_plane
from horopca.plots.palette import DARK, LIGHT, NO_LABEL, OTHER, RAMPS, value_range

rng = np.random.default_rng(0)
Y = rng.uniform(-0.65, 0.65, (60, 2))

# Machado, Oliveira and Fernandes (2009), severity 1, on linear RGB
VISIONS = {
    "full": np.eye(3),
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}
TO_XYZ = np.array([[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]])


def linear(colours):
    part = np.array([[int(c[k : k + 2], 16) / 255 for k in (1, 3, 5)] for c in colours])
    return np.where(part <= 0.04045, part / 12.92, ((part + 0.055) / 1.055) ** 2.4)


def lab(rgb):
    part = np.clip(rgb, 0, 1) @ TO_XYZ.T / TO_XYZ.sum(axis=1)
    f = np.where(part > 216 / 24389, np.cbrt(part), (24389 / 27 * part + 16) / 116)
    return np.stack([116 * f[..., 1] - 16, 500 * (f[..., 0] - f[..., 1]), 200 * (f[..., 1] - f[..., 2])], axis=-1)


@pytest.mark.parametrize("vision", VISIONS)
@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_colours_can_be_distinguished(theme, vision):
    seen = lab(linear([*theme.classes, theme.other]) @ np.array(VISIONS[vision]).T)
    apart = np.linalg.norm(seen[:, None] - seen, axis=2) + np.diag(np.full(len(seen), np.inf))
    first = [*range(8), len(seen) - 1]  # eight, and the grey
    assert apart[np.ix_(first, first)].min() > (26 if vision == "full" else 13)
    assert len(theme.classes) == 20 and apart.min() > (16 if vision == "full" else 9)
    if vision == "full" and theme is LIGHT:
        assert seen[:, 0].min() > 20  # the lightness of CIELAB: below, a colour looks black


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_no_colour_vanishes_on_its_background_and_high_values_stand_out(theme):
    light = lambda colours: linear(colours) @ TO_XYZ[1]
    background = light([theme.disk])[0]
    contrast = lambda y: (np.maximum(y, background) + 0.05) / (np.minimum(y, background) + 0.05)
    assert contrast(light(theme.classes)).min() > 2
    for ramp in ("value", "distrust"):
        shades = light(RAMPS[ramp][theme.name])
        assert contrast(shades).min() > 1.4 and (np.diff(np.abs(shades - background)) > 0).all()


def drawn(labels, **options):
    """The colour that each class has in the legend of a plot."""
    return legend_on(plot_plane(Y[: len(labels)], labels, ax=new_figure().subplots(), **options))


def test_a_class_has_the_same_colour_in_every_subset():
    labels = ["cat"] * 30 + ["dog"] * 20 + ["cow"] * 10
    whole = drawn(labels)
    assert drawn(labels[25:]) == whole  # where another class is the most frequent
    part = drawn(labels[:50], palette=class_colours(labels))
    assert part == {text: whole[text] for text in ("cat", "dog")}


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_class_has_a_colour_of_its_own(theme):
    labels = [f"class {k}" for k in range(50)] + [f"class {k}" for k in range(30, 50)]
    colours = class_colours(labels, theme=theme)
    frequent = [colours[f"class {k}"] for k in range(30, 50)]
    assert frequent == list((LIGHT if theme == "light" else DARK).classes)
    assert len(set(colours.values())) == 50 and list(colours) == [f"class {k}" for k in range(50)]


def test_classes_are_in_natural_order():
    chapters = ["I", "II", "III", "IV", "V", "VIII", "IX", "X", "XIX", "XL"]
    assert list(drawn(sorted(chapters))) == chapters
    assert list(class_colours(["IX. Blood", "V. Mind", "XI. Digestion"])) == ["V. Mind", "IX. Blood", "XI. Digestion"]
    assert list(class_colours(["D", "C", "M", "I"])) == ["C", "D", "I", "M"]  # letters
    assert list(class_colours(["IV", "cat", "III"])) == ["III", "IV", "cat"]
    assert list(class_colours(["10", "9", None])) == ["9", "10", NO_LABEL]


def test_missing_labels_are_one_grey_class():
    labels = [None, np.nan, float("nan"), pytest.importorskip("pandas").NA, "a"]
    assert class_colours(labels) == {"a": COLOURS[0], NO_LABEL: OTHER} == drawn(labels)


def test_other_palettes():
    found = class_colours(["a", "b", "c"], ["#000000", "#ffffff"])
    assert found["a"] == "#000000" and found["b"] == "#FFFFFF" and found["c"] not in (OTHER, "#000000", "#FFFFFF")
    assert class_colours(["a", "b"], {"b": "#123456"}) == {"a": OTHER, "b": "#123456"}
    with pytest.raises(ValueError, match=r'colours such as "#0072B2".*\'red\''):
        class_colours(["a"], ["red"])


def test_the_order_of_rows_invents_nothing():
    """Of two classes on one heap, neither hides the other: each is on top of about half of the places."""
    labels, heap = ["first"] * 400 + ["second"] * 400, np.tile(rng.normal(0, 0.05, (400, 2)), (2, 1))
    ax = new_figure().subplots()
    plot_plane(heap, labels, ax=ax)
    spots, colours = ax.collections[-1].get_offsets().data, ax.collections[-1].get_facecolors()
    top = {tuple(spot): matplotlib.colors.to_hex(colour).upper() for spot, colour in zip(spots, colours, strict=True)}
    assert 160 < sum(colour == COLOURS[0] for colour in top.values()) < 240  # 200, with a deviation of 10


def test_the_range_of_a_ramp():
    values = np.r_[np.linspace(0, 1, 300), 1e6]
    assert value_range(values)[1] < 1.01 and value_range(values[:-1]) == (0, 1)
    assert value_range([np.nan]) == (0, 1) and value_range([-1.0, 1, 10, 100], "log") == (1, 100)
    ax = new_figure().subplots()
    plot_plane(Y, values=np.linspace(0, 0.01, 60), norm=matplotlib.colors.Normalize(0, 1), ax=ax)
    assert ax.figure.axes[1].get_ylim() == (0, 1)
    low = matplotlib.colors.to_rgb(RAMPS["value"]["light"][0])
    assert np.abs(ax.collections[-1].get_facecolors()[:, :3] - low).max() < 0.03
