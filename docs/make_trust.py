"""python docs/make_trust.py writes docs/images/trust-components.png and trust-points.png."""

from __future__ import annotations

from pathlib import Path

from matplotlib.colors import Normalize
from matplotlib.figure import Figure

from horopca import HoroPCA, plots
from horopca.datasets import load_mammals
from horopca.metrics import component_curve, false_neighbours

IMAGES = Path(__file__).parent / "images"


def main() -> None:
    mammals = load_mammals()
    curve = component_curve(mammals.points)
    print(curve.sentence, curve.distortion.mean.round(4))
    plots.plot_components(curve).savefig(IMAGES / "trust-components.png", dpi=90)
    Y = HoroPCA(2, random_state=0).fit_transform(mammals.points)
    found = false_neighbours(mammals.points, Y)
    print({name: float(values.mean().round(3)) for name, values in found.items()})
    figure = Figure(layout="constrained")
    figure.set_size_inches(13, 6.2)
    left, right = figure.subplots(1, 2)
    plots.plot_plane(Y, values=found["distortion"], value_name="distortion", title="distortion", ax=left)
    false = {"values": found["false"] / 10, "norm": Normalize(0, 1), "value_name": "share"}
    plots.plot_plane(Y, **false, title="false neighbours among the ten nearest", ax=right)
    figure.savefig(IMAGES / "trust-points.png", dpi=90)


if __name__ == "__main__":
    main()
