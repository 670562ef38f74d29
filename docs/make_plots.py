"""The gallery of plots.md: python docs/make_plots.py writes docs/images/plots.png."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from horopca import HoroPCA, plots
from horopca.datasets import make_hierarchy


def main() -> None:
    tree = make_hierarchy(3, 5, random_state=0)
    Y = HoroPCA(2, stretch=True, random_state=0).fit_transform(tree.points)
    figure = Figure(layout="constrained")
    figure.set_size_inches(13, 8.4)
    axes = figure.subplots(2, 3).ravel()
    plots.plot_plane(Y, tree.labels, edges=tree.edges, grid=True, title="plot_plane, disk", view="disk", ax=axes[0])
    plots.plot_plane(
        Y, values=np.linalg.norm(tree.points, axis=1), edges=tree.edges, title="plot_plane, klein", ax=axes[1], view="klein"
    )
    plots.plot_plane(Y, tree.labels, edges=tree.edges, title="plot_plane, equidistant", ax=axes[2], view="equidistant")
    plots.plot_projection(Y[1:25], [np.cos(0.6), np.sin(0.6)], base=[0.1, -0.3], ax=axes[3]).set_title(
        "plot_projection", fontsize=axes[0].title.get_fontsize()
    )
    plots.plot_distortion(tree.points, Y, random_state=0, ax=axes[4])
    plots.plot_cones(Y[1:20], ax=axes[5]).set_title("plot_cones", fontsize=axes[0].title.get_fontsize())
    figure.savefig(Path(__file__).parent / "images" / "plots.png", dpi=90)


if __name__ == "__main__":
    main()
