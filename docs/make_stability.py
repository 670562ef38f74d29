"""The picture of stability.md: python docs/make_stability.py writes docs/images/trust-stability.png.

It takes about two minutes of processor time.
"""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from horopca import HoroPCA, plots
from horopca.datasets import load_mammals
from horopca.metrics import Stability, bootstrap

HERE = Path(__file__).resolve().parent
SURE = 4.0  # Mammals that refits move by less are named.


def main() -> None:
    mammals, tree = load_mammals(), runpy.run_path(str(HERE.parent / "examples" / "data" / "phylogeny.py"))
    found = [stability(mammals.points), stability(tree["X"], spine="free")]
    draw(*found, mammals, tree)


def stability(X: Any, **options: Any) -> Stability:
    """What 50 refits say of a reduction to the plane."""
    found = bootstrap(HoroPCA(2, **options).fit(X), X, n_resamples=50, n_jobs=-1)
    print(found.conclusion)
    return found


def draw(of_mammals: Stability, of_primates: Stability, mammals: Any, tree: dict[str, Any]) -> None:
    """The mammals by how far they move, and the primates with their regions."""
    figure = Figure(layout="constrained")
    figure.set_size_inches(14, 6.2)
    left, right = figure.subplots(1, 2)
    names = [name if moved < SURE else "" for name, moved in zip(mammals.names, of_mammals.spread, strict=True)]
    coloured = {"view": "equidistant", "values": of_mammals.spread, "value_name": "how far refits move it"}
    plots.plot_plane(of_mammals.images, names=names, edges=mammals.edges, title="mammals", ax=left, **coloured)
    known = {"names": tree["shown"], "edges": tree["edges"], "regions": of_primates}
    plots.plot_plane(of_primates.images, tree["labels"], title="primates, with regions of 90 %", ax=right, **known)
    figure.savefig(HERE / "images" / "trust-stability.png", dpi=90)


if __name__ == "__main__":
    main()
