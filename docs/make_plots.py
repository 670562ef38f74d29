"""The gallery of plots.md: python docs/make_plots.py writes docs/images/plots.png."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from horopca import HoroPCA, plots
from horopca.datasets import make_hierarchy


def main() -> None:
    tree = make_hierarchy(3, 5, random_state=0)
    Y = HoroPCA(2, stretch=True, random_state=0).fit_transform(tree.points)
    figure = plots.new_figure(interactive=False)
    figure.set_size_inches(13, 8.4)
    axes = figure.subplots(2, 3).ravel()
    plots.plot_disk(Y, tree.labels, edges=tree.edges, grid="polar", title="plot_disk", ax=axes[0])
    plots.plot_klein(Y, values=np.linalg.norm(tree.points, axis=1), edges=tree.edges, title="plot_klein", ax=axes[1])
    plots.plot_equidistant(Y, tree.labels, edges=tree.edges, title="plot_equidistant", ax=axes[2])
    plots.plot_projection(Y[1:25], [np.cos(0.6), np.sin(0.6)], base=[0.1, -0.3], ax=axes[3]).set_title(
        "plot_projection", fontsize=axes[0].title.get_fontsize()
    )
    plots.plot_distortion(tree.points, Y, random_state=0, ax=axes[4])
    plots.plot_explained_variance(HoroPCA(8, strategy="greedy").fit(tree.points), ax=axes[5])
    figure.savefig(Path(__file__).parent / "images" / "plots.png", dpi=90)


if __name__ == "__main__":
    main()
