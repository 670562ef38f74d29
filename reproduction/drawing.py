"""The pictures of the tables: dumbbells of published and our figures, disks side by side, curves, histograms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from horopca.datasets import load_mammals
from horopca.plots import COLOURS, plot_disk

OURS, PAPER = COLOURS[0], "#9A9A9A"
INK = "#333333"


def bare(ax: Any) -> None:
    """Axes without a box."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.tick_params(length=0, colors=INK)


def bars_beside_paper(figure: Any, data: Mapping[str, Sequence[tuple[str, float | None, float | None]]]) -> None:
    """For each data set a panel; for each method the published distortion (open) and ours (full)."""
    figure.set_size_inches(11, 6.6)
    panels = figure.subplots(2, -(-len(data) // 2), sharex=True, sharey=True, squeeze=False).ravel()
    for ax, (title, rows) in zip(panels, data.items(), strict=False):
        places = np.arange(len(rows))[::-1]
        for y, (_, published, ours) in zip(places, rows, strict=True):
            if published is not None and ours is not None:
                ax.plot([published, ours], [y, y], color="#DDDDDD", linewidth=2.5, zorder=1, solid_capstyle="round")
            if published is not None:
                ax.scatter(published, y, s=42, facecolors="white", edgecolors=PAPER, linewidths=1.6, zorder=2)
            if ours is not None:
                ax.scatter(ours, y, s=42, color=OURS, zorder=3)
        ax.set_yticks(places, [name for name, _, _ in rows])
        ax.set_title(title, fontsize=11, color=INK)
        ax.set_xlim(0, 1)
        ax.grid(axis="x", color="#EEEEEE", linewidth=0.8)
        ax.set_axisbelow(True)
        bare(ax)
    for ax in panels[-2:]:
        ax.set_xlabel("average distortion", color=INK)
    legend(figure, panels[0])


def disks(figure: Any, images: Sequence[tuple[str, np.ndarray]], labels: Any = None, edges: Any = None) -> None:
    """Disks side by side, three to a line."""
    columns = min(3, len(images))
    lines = -(-len(images) // columns)
    figure.set_size_inches(3.6 * columns, 3.9 * lines)
    panels = figure.subplots(lines, columns, squeeze=False).ravel()
    for ax, (title, Y) in zip(panels, images, strict=False):
        plot_disk(Y, labels, edges=edges, ax=ax, size=float(np.clip(250 / np.sqrt(len(Y)), 2, 25)))
        ax.set_title(title, fontsize=10, color=INK)
        if ax.get_legend() is not None:
            ax.get_legend().remove()
    for ax in panels[len(images) :]:
        ax.remove()


def whitening_bars(figure: Any, data: Mapping[str, Sequence[tuple[str, np.ndarray, float]]]) -> None:
    """For each network a panel; for each classifier our score, with its deviation, and the published figure."""
    figure.set_size_inches(11, 3.4)
    panels = figure.subplots(1, len(data), sharey=True, squeeze=False)[0]
    for ax, (title, rows) in zip(panels, data.items(), strict=True):
        places = np.arange(len(rows))[::-1]
        for y, (_, values, published) in zip(places, rows, strict=True):
            ax.plot([published, values.mean()], [y, y], color="#DDDDDD", linewidth=2.5, zorder=1, solid_capstyle="round")
            ax.errorbar(values.mean(), y, xerr=values.std(), fmt="o", markersize=6.5, color=OURS, linewidth=1.2, zorder=3)
            ax.scatter(published, y, s=42, facecolors="white", edgecolors=PAPER, linewidths=1.6, zorder=2)
        ax.set_yticks(places, [name for name, _, _ in rows])
        ax.set_title(title, fontsize=11, color=INK)
        ax.grid(axis="x", color="#EEEEEE", linewidth=0.8)
        ax.set_axisbelow(True)
        ax.set_xlabel("trapezoid area, %", color=INK)
        bare(ax)
    legend(figure, panels[0])


def legend(figure: Any, ax: Any) -> None:
    """Open: published; full: ours."""
    handles = [
        ax.scatter([], [], s=42, facecolors="white", edgecolors=PAPER, linewidths=1.6),
        ax.scatter([], [], s=42, color=OURS),
    ]
    figure.legend(handles, ["in the paper", "horopca"], loc="outside lower center", ncols=2, frameon=False)


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


STYLES: dict[str, dict[str, Any]] = {
    "Euclidean PCA": {"color": COLOURS[5]},
    "Tangent PCA": {"color": COLOURS[2]},
    "PGA": {"color": COLOURS[4]},
    "BSA": {"color": "#8C564B"},
    "Hyperbolic autoencoder": {"color": "#8C8C8C", "linestyle": "dotted"},
    "Hyperbolic MDS": {"color": COLOURS[1]},
    "HoroPCA": {"color": COLOURS[0], "linewidth": 2.2},
    "HoroPCA, free": {"color": COLOURS[0], "linestyle": "dashed"},
    "HoroPCA, free, distortion": {"color": COLOURS[3], "linewidth": 2.2},
}


def dimension_curves(figure: Any, data: Mapping[tuple[str, str], Mapping[str, Mapping[int, float]]]) -> None:
    """A line of panels for each data set: distortion, on a logarithmic scale, and Fréchet variance."""
    graphs = list(dict.fromkeys(graph for graph, _ in data))
    figure.set_size_inches(11, 4.1 * len(graphs))
    panels = figure.subplots(len(graphs), 2, squeeze=False)
    for line, graph in zip(panels, graphs, strict=True):
        for ax, (quantity, words) in zip(
            line, (("distortion", "average distortion"), ("frechet_variance", "Fréchet variance")), strict=True
        ):
            for name, values in data[graph, quantity].items():
                known = {k: v for k, v in sorted(values.items()) if quantity != "distortion" or v > 1e-4}
                if known:
                    ax.plot(
                        list(known),
                        list(known.values()),
                        label=name,
                        **{"marker": "o", "markersize": 3.5, "linewidth": 1.4, **STYLES[name]},
                    )
            ax.set_xscale("log")
            ax.set_xticks([1, 2, 3, 5, 10, 20, 50], ["1", "2", "3", "5", "10", "20", "50"])
            if quantity == "distortion":
                ax.set_yscale("log")
                low, high = ax.get_ylim()
                ticks = [tick for tick in (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0) if low <= tick <= high]
                ax.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
            ax.minorticks_off()
            ax.set_title(f"{graph}: {words}", fontsize=11, color=INK)
            ax.set_xlabel("components", color=INK)
            ax.grid(color="#EEEEEE", linewidth=0.8)
            ax.set_axisbelow(True)
            bare(ax)
    handles, names = panels[0, 0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=5, frameon=False, fontsize=9)


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
    columns = min(3, len(images))
    lines = -(-len(images) // columns)
    figure.set_size_inches(5.0 * columns, 5.4 * lines)
    panels = figure.subplots(lines, columns, squeeze=False).ravel()
    for ax, (title, Y) in zip(panels, images, strict=False):
        plot_disk(Y, mammals.labels, names=names, edges=mammals.edges, ax=ax, size=5)
        ax.set_title(title, fontsize=12, color=INK)
    _move_legend_below(panels[: len(images)], columns=9)
    for ax in panels[len(images) :]:
        ax.remove()


def mammal_disk(figure: Any, Y: np.ndarray) -> None:
    """One disk with as many names as fit."""
    mammals = load_mammals()
    figure.set_size_inches(10, 10.4)
    ax = figure.subplots()
    plot_disk(Y, mammals.labels, names=mammals.names, edges=mammals.edges, ax=ax)
    _move_legend_below([ax], columns=5)


def _move_legend_below(panels: Sequence[Any], columns: int) -> None:
    """One legend below the figure, for all panels."""
    for ax in panels:
        key = ax.get_legend()
        texts, handles = [text.get_text() for text in key.get_texts()], key.legend_handles
        key.remove()
    panels[0].figure.legend(handles, texts, loc="outside lower center", ncols=columns, frameon=False, fontsize=11)
