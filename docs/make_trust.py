"""Two pictures of trust.md: python docs/make_trust.py writes docs/images/trust-components.png and trust-points.png."""

from __future__ import annotations

from pathlib import Path

from horopca import HoroPCA, plots
from horopca.datasets import load_mammals
from horopca.metrics import component_curve, inspect_points

IMAGES = Path(__file__).parent / "images"


def main() -> None:
    mammals = load_mammals()
    curve = component_curve(mammals.points)
    print(curve.sentence, curve.distortion.mean.round(4))
    plots.plot_components(curve).savefig(IMAGES / "trust-components.png", dpi=90)
    pca = HoroPCA(2, random_state=0).fit(mammals.points)
    Y, found = pca.transform(mammals.points), inspect_points(pca, mammals.points)
    print(found)
    figure = plots.new_figure(interactive=False)
    figure.set_size_inches(13, 6.2)
    left, right = figure.subplots(1, 2)
    marks = {mammals.names[row]: Y[row] for row in found.most_influential(10)}
    distorted, false = {"values": found.distortion, "value_name": "distortion"}, {"values": found.false_neighbours}
    plots.plot_plane(Y, **distorted, companions=marks, title="distortion, and the ten most influential points", ax=left)
    plots.plot_plane(Y, **false, limits=(0, 1), value_name="share", title="false neighbours among the ten nearest", ax=right)
    figure.savefig(IMAGES / "trust-points.png", dpi=90)


if __name__ == "__main__":
    main()
