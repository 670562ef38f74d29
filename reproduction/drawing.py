"""The pictures of the tables: dumbbells of published and our figures, disks side by side, curves, histograms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from horopca.datasets import load_mammals
from horopca.geometry import from_hyperboloid, to_hyperboloid, translate_to_origin
from horopca.plots import COLOURS, class_colours, plot_plane

OURS, PAPER = COLOURS[0], "#9A9A9A"
INK = "#333333"
OPEN: dict[str, Any] = {
    "markersize": 6.5, "markerfacecolor": "white", "markeredgecolor": PAPER, "ecolor": PAPER, "markeredgewidth": 1.6,
    "zorder": 2,
}  # fmt: skip


def bare(ax: Any) -> None:
    """Axes without a box."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.tick_params(length=0, colors=INK)


def dumbbells(figure: Any, data: Mapping[str, Sequence[tuple[str, Any, Any, Any]]]) -> None:
    """A column for each data set, distortion above and variance below; print (open), the code today, ours (full)."""
    figure.set_size_inches(17, 0.5 * max(map(len, data.values())) + 2)
    panels = figure.subplots(2, len(data), sharey=True, squeeze=False)
    for column, (graph, rows) in zip(panels.T, data.items(), strict=True):
        for part, (ax, words) in enumerate(zip(column, ("average distortion", "Fréchet variance"), strict=True)):
            for y, (_, printed, today, ours) in enumerate(rows):
                values = ours[part]
                known = [row[part].mean for row in (printed, today) if row is not None]
                ax.plot([*known, values.mean()], [y] * (len(known) + 1), color="#DDDDDD", linewidth=2.5, zorder=1)
                if printed is not None:
                    ax.errorbar(printed[part].mean, y, xerr=printed[part].std or None, fmt="o", **OPEN)
                if today is not None:
                    ax.scatter(today[part].mean, y, marker="|", s=90, color=PAPER, linewidths=2, zorder=2)
                ax.errorbar(values.mean(), y, xerr=values.std(), fmt="o", markersize=6, color=OURS, linewidth=1.4, zorder=3)
            ax.set_yticks(range(len(rows)), [name for name, *_ in rows], fontsize=9.5)
            ax.set_ylim(len(rows) - 0.5, -0.5)
            ax.set_title(f"{graph}: {words}", fontsize=11, color=INK)
            ax.set_xlim(left=0)
            ax.grid(axis="x", color="#EEEEEE", linewidth=0.8)
            ax.set_axisbelow(True)
            bare(ax)
    legend(figure, panels[0, 0], today=True)


def disks(figure: Any, images: Sequence[tuple[str, np.ndarray]], labels: Any = None, edges: Any = None) -> None:
    """Disks side by side."""
    for ax, (title, Y) in zip(_panels(figure, len(images), 3.6, 3.9), images, strict=True):
        plot_plane(Y, labels, edges=edges, ax=ax, size=float(np.clip(250 / np.sqrt(len(Y)), 2, 25)))
        ax.set_title(title, fontsize=10, color=INK)
        if ax.get_legend() is not None:
            ax.get_legend().remove()


def _panels(figure: Any, count: int, width: float, height: float) -> list[Any]:
    """Axes of a size in inches, three in a row."""
    columns = min(3, count)
    lines = -(-count // columns)
    figure.set_size_inches(width * columns, height * lines)
    panels = list(figure.subplots(lines, columns, squeeze=False).ravel())
    for ax in panels[count:]:
        ax.remove()
    return panels[:count]


def whitening_bars(figure: Any, data: Mapping[str, Sequence[tuple[str, np.ndarray, Any]]]) -> None:
    """For each network a panel; for each classifier our score and the published figure, with their deviations."""
    figure.set_size_inches(12, 4.2)
    panels = figure.subplots(1, len(data), sharey=True, squeeze=False)[0]
    for ax, (title, rows) in zip(panels, data.items(), strict=True):
        places = np.arange(len(rows))[::-1]
        for y, (_, values, published) in zip(places, rows, strict=True):
            if published is not None:
                ax.plot([published.mean, values.mean()], [y, y], color="#DDDDDD", linewidth=2.5, zorder=1)
                ax.errorbar(published.mean, y, xerr=published.std, fmt="o", **OPEN)
            ax.errorbar(values.mean(), y, xerr=values.std(), fmt="o", markersize=6.5, color=OURS, linewidth=1.2, zorder=3)
        ax.set_yticks(places, [name for name, _, _ in rows], fontsize=9)
        ax.set_title(title, fontsize=11, color=INK)
        ax.grid(axis="x", color="#EEEEEE", linewidth=0.8)
        ax.set_axisbelow(True)
        ax.set_xlabel("trapezoid area, %", color=INK)
        bare(ax)
    legend(figure, panels[0])


def legend(figure: Any, ax: Any, *, today: bool = False) -> None:
    """Open: published; a bar: the published code today; full: ours."""
    handles = [
        ax.scatter([], [], s=42, facecolors="white", edgecolors=PAPER, linewidths=1.6),
        ax.scatter([], [], s=42, color=OURS),
        *([ax.scatter([], [], s=90, marker="|", color=PAPER, linewidths=2)] if today else []),
    ]
    words = ["in the paper", "computed here, with its deviation", *(["published code, today"] if today else [])]
    figure.legend(handles, words, loc="outside lower center", ncols=3, frameon=False)


def histograms(figure: Any, data: Mapping[str, np.ndarray]) -> None:
    """Histograms over the same bins."""
    figure.set_size_inches(6.4, 3.8)
    ax = figure.subplots()
    both = np.concatenate(list(data.values()))
    bins = list(np.linspace(both.min(), both.max(), 41))
    for (name, values), colour in zip(data.items(), (COLOURS[2], COLOURS[0]), strict=False):
        ax.hist(values, bins, color=colour, alpha=0.75, label=name, edgecolor="white", linewidth=0.5)
    ax.set(xlabel="average distortion", ylabel="directions")
    ax.legend(frameon=False)
    bare(ax)


def dimension_curves(figure: Any, data: Mapping[tuple[str, str], Mapping[str, Mapping[int, np.ndarray]]]) -> None:
    """For each data set a line of panels: distortion, on a logarithmic scale, and Fréchet variance; bands least to most."""
    graphs = list(dict.fromkeys(graph for graph, _ in data))
    figure.set_size_inches(12, 4.6 * len(graphs))
    panels = figure.subplots(len(graphs), 2, squeeze=False)
    words = {"distortion": "average distortion", "frechet_variance": "Fréchet variance"}
    for line, graph in zip(panels, graphs, strict=True):
        for ax, quantity in zip(line, words, strict=True):
            for k, (name, values) in enumerate(data[graph, quantity].items()):
                _curve(ax, name, values, CURVES[k % len(CURVES)], floor=FLOOR if quantity == "distortion" else None)
            ax.set_xscale("log")
            ax.set_xticks([1, 2, 3, 5, 10, 20, 50], ["1", "2", "3", "5", "10", "20", "50"])
            if quantity == "distortion":
                ax.set_yscale("log")
                ax.set_ylim(FLOOR / 1.4, 1.1)
                ax.set_yticks(
                    [FLOOR, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0], ["0", "0.01", "0.02", "0.05", "0.1", "0.2", "0.5", "1"]
                )
                ax.axhline(FLOOR, color="#BBBBBB", linewidth=0.8, linestyle="dotted")
                ax.scatter([50], [FLOOR], s=90, facecolors="none", edgecolors=INK, zorder=5)
                ax.annotate(
                    "nothing is lost", (50, FLOOR), (-10, 0), textcoords="offset points", ha="right", va="center", color=INK
                )
            ax.minorticks_off()
            ax.set_title(f"{graph}: {words[quantity]}", fontsize=11, color=INK)
            ax.set_xlabel("components", color=INK)
            ax.grid(color="#EEEEEE", linewidth=0.8)
            ax.set_axisbelow(True)
            bare(ax)
    handles, names = panels[0, 0].get_legend_handles_labels()
    figure.legend(
        handles, [name.replace("`", "") for name in names], loc="outside lower center", ncols=2, frameon=False, fontsize=9
    )


FLOOR = 0.003  # where a distortion of zero is drawn
# in the order of the systems: the paper's, its HoroPCA in black, ours in two colours, the others
CURVES: tuple[dict[str, Any], ...] = (
    {"color": COLOURS[5]}, {"color": COLOURS[2]}, {"color": COLOURS[4]}, {"color": "#8C564B"},
    {"color": "#8C8C8C", "linestyle": "dotted"}, {"color": COLOURS[1]}, {"color": "black", "linewidth": 2.0},
    {"color": "black", "linestyle": "dashed"}, {"color": COLOURS[0], "linewidth": 2.2},
    {"color": COLOURS[3], "linewidth": 2.2}, {"color": COLOURS[3], "linestyle": "dashed"}, {"color": "#332288"},
)  # fmt: skip


def _curve(ax: Any, name: str, values: Mapping[int, np.ndarray], style: dict[str, Any], floor: float | None) -> None:
    if not values:
        return
    places = sorted(values)
    shown = [np.maximum(values[k], floor) if floor else values[k] for k in places]
    ax.fill_between(places, [v.min() for v in shown], [v.max() for v in shown], color=style["color"], alpha=0.15, linewidth=0)
    ax.plot(places, [v.mean() for v in shown], label=name, **{"marker": "o", "markersize": 3.5, "linewidth": 1.4, **style})


# a path down the tree, and branches that a reader knows
NAMED = (
    "mammal", "carnivore", "feline", "cat", "domestic cat", "burmese cat", "big cat", "tiger", "canine", "dog", "terrier",
    "wolf", "bear", "ungulate", "horse", "antelope", "primate", "monkey", "rodent", "whale", "bat",
    "marsupial", "elephant", "seal",
)  # fmt: skip


def mammal_disks(figure: Any, images: Sequence[tuple[str, np.ndarray]]) -> None:
    """Disks with the hierarchy as geodesics, the branches in colours and a few names."""
    mammals = load_mammals()
    names = [name if name in NAMED else "" for name in mammals.names]
    panels = _panels(figure, len(images), 5.0, 5.4)
    for ax, (title, Y) in zip(panels, images, strict=True):
        plot_plane(Y, mammals.labels, names=names, edges=mammals.edges, ax=ax, size=5)
        ax.set_title(title, fontsize=12, color=INK)
    _move_legend_below(panels, columns=9)


FELINES = (
    "feline", "cat", "domestic cat", "burmese cat", "siamese cat", "persian cat", "wildcat", "big cat", "tiger", "lion",
)  # fmt: skip
SHOWN = (
    "mammal", "carnivore", "canine", "dog", "wolf", "bear", "primate", "rodent", "ungulate", "whale", "bat", "marsupial",
    "feline", "cat", "burmese cat",
)  # fmt: skip


def mammals_with_inset(figure: Any, Y: np.ndarray) -> None:
    """Two disks: `mammal` in the middle of the Poincaré disk; and some felines alone, by distance from `feline`."""
    mammals = load_mammals()
    x = to_hyperboloid(Y)[[mammals.names.index(name) for name in ("mammal", "feline")]]
    feline = from_hyperboloid(translate_to_origin(x[1], x[0]), "poincare")
    cosine, sine = feline / np.linalg.norm(feline)
    Y = Y @ np.array([[cosine, -sine], [sine, cosine]])  # turned until feline is to the right of mammal
    figure.set_size_inches(15, 8.2)
    panels = figure.subplots(1, 2)
    colours = class_colours(mammals.labels)  # a feline alone would have the colour of the first class
    felines = np.array(sorted(mammals.names.index(name) for name in FELINES))
    for ax, shown, view, rows in (
        (panels[0], SHOWN, "disk", np.arange(len(Y))),
        (panels[1], FELINES, "equidistant", felines),
    ):
        names = [mammals.names[k] if mammals.names[k] in shown else "" for k in rows]
        parent = np.searchsorted(rows, mammals.parent[rows])
        parent[~np.isin(mammals.parent[rows], rows)] = -1
        closure = _closure(parent, [k for k, name in enumerate(names) if name])
        size = np.where(np.array(names) == "", 4.0, 26.0)
        options = {"names": names, "edges": closure, "centre": names.index(shown[0]), "size": size, "palette": colours}
        plot_plane(Y[rows], [mammals.labels[k] for k in rows], view=view, ax=ax, **options)
        ax.set_title(f"{shown[0]} in the middle", fontsize=13, color=INK)
    panels[0].set(xlim=(-1.08, 1.4), ylim=(-1.14, 1.1))  # space for the names, most of it beside feline
    _magnified(*panels, np.array([np.linalg.norm(feline), 0.0]))
    _move_legend_below(panels[:1], columns=9)
    if panels[1].get_legend() is not None:
        panels[1].get_legend().remove()


def _magnified(ax: Any, inset: Any, place: np.ndarray) -> None:
    """Lines from a place of one picture to the top and the bottom of another, which shows what is there."""
    from matplotlib.patches import ConnectionPatch

    for end in (0.03, 0.97):
        line = ConnectionPatch(place, (0.5, end), "data", "axes fraction", axesA=ax, axesB=inset, color="#BBBBBB", zorder=0)
        ax.figure.add_artist(line)


def _closure(parent: np.ndarray, shown: list[int]) -> np.ndarray:
    """Edges from each shown synset to every shown one above it."""
    edges = []
    for k in shown:
        above = parent[k]
        while above >= 0:
            edges += [(k, above)] if above in shown else []
            above = parent[above]
    return np.array(edges)


def _move_legend_below(panels: Sequence[Any], columns: int) -> None:
    """One legend below the figure, for all panels."""
    for ax in panels:
        key = ax.get_legend()
        texts, handles = [text.get_text() for text in key.get_texts()], key.legend_handles
        key.remove()
    panels[0].figure.legend(handles, texts, loc="outside lower center", ncols=columns, frameon=False, fontsize=11)
