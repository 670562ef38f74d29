"""Distortion and variance for growing numbers of components."""

from __future__ import annotations

from horopca.metrics.comparison import METHODS

from .. import paper
from ..drawing import dimension_curves
from ..experiment import Cell, Claim, Experiment, Page, Picture, Results, Size
from ..tables import ABSENT, bold, table
from .reduction import title_of

GRAPHS = ("diseases", "CS Ph.D.")
ORDER = ("pca", "tpca", "pga", "bsa", "hae", "hmds", "horopca", "horopca-free", "horopca-distortion")
OURS = "horopca-distortion"
SLOW = {
    "horopca": 1.0,
    "horopca-free": 1.0,
    "horopca-distortion": 0.8,
    "pga": 0.6,
    "bsa": 1.2,
}  # seconds per component, diseases


def _cost(graph: str, method: str, K: int) -> float:
    if method == "hae":
        return 5.0
    return (2.0 if graph == "CS Ph.D." else 1.0) * SLOW.get(method, 0.02) * min(K, 25) + 0.2


def _cells(size: Size) -> list[Cell]:
    counts = (1, 2, 3, 5, 10) if size.quick else paper.COMPONENTS
    return [
        Cell(
            "dimensions",
            f"{paper.GRAPHS[graph]}.{method}.{K}",
            "reduction.reduce_embedding",
            {"graph": graph, "method": method, "run": 0, "components": K, "dimension": 50},
            _cost(graph, method, K),
        )
        for graph in (GRAPHS[:1] if size.quick else GRAPHS)
        for method in ORDER
        for K in counts
        if not (size.quick and method in ("hae", "bsa")) and not (K == 50 and method in ("pga", "bsa"))
    ]


def curve(results: Results, graph: str, method: str, quantity: str) -> dict[int, float]:
    """The quantity by numbers of components."""
    return {
        arguments["components"]: result[quantity]
        for arguments, result in results
        if arguments["graph"] == graph and arguments["method"] == method
    }


def _page(results: Results) -> Page:
    parts = [
        "Average distortion and Fréchet variance for 1 to 50 components of the 50-dimensional embeddings. (At 50 of 50 every "
        "projection is the identity; PGA and BSA are not computed there. The paper shows curves and prints no figures.)",
        "{dimensions}",
    ]
    graphs = [g for g in GRAPHS if curve(results, g, OURS, "distortion")]
    for graph in graphs:
        counts = sorted({k for method in ORDER for k in curve(results, graph, method, "distortion")})
        found = {method: curve(results, graph, method, "distortion") for method in ORDER}
        least = {k: min(values[k] for values in found.values() if k in values) for k in counts}
        rows = [
            [title_of(method), *(bold(_short(values.get(k)), values.get(k) == least[k] > 5e-4) for k in counts)]
            for method, values in found.items()
            if values
        ]
        parts.append(table([f"{graph}, distortion", *map(str, counts)], rows))
        parts.append(_sentence(results, graph))
    if not graphs:
        return Page(parts[0])
    data = {
        (graph, quantity): {METHODS[m].title: curve(results, graph, m, quantity) for m in ORDER}
        for graph in graphs
        for quantity in ("distortion", "frechet_variance")
    }
    caption = "Average distortion and Fréchet variance by number of components"
    return Page("\n\n".join(parts), (Picture("dimensions", caption, lambda figure: dimension_curves(figure, data)),))


def _short(value: float | None) -> str:
    return ABSENT if value is None else f"{value:.3f}".lstrip("0") if value < 1 else f"{value:.2f}"


def beaten(results: Results, graph: str) -> dict[int, list[str]]:
    """Where another method has less distortion than ours: numbers of components and methods."""
    ours = curve(results, graph, OURS, "distortion")
    others = {m: curve(results, graph, m, "distortion") for m in ORDER if not m.startswith("horopca")}
    found = {k: [m for m, values in others.items() if values.get(k, 2.0) < mine - 1e-6] for k, mine in ours.items()}
    return {k: methods for k, methods in found.items() if methods}


def _sentence(results: Results, graph: str) -> str:
    """Whether our curve is below every other, or where it is not."""
    found = beaten(results, graph)
    whose = f"On {graph} the distortion of {title_of(OURS)}"
    if not found:
        return f"{whose} is at or below that of every other method at every number of components."
    value = lambda m, k: f"{curve(results, graph, m, 'distortion')[k]:.4f}"
    places = "; ".join(
        f"at {k}, where {' and '.join(f'{METHODS[m].title} has {value(m, k)}' for m in methods)} against {value(OURS, k)}"
        for k, methods in sorted(found.items())
    )
    return f"{whose} is below that of every other method at every number of components but {places}."


def _claims(results: Results) -> list[Claim]:
    claims = []
    for graph in GRAPHS:
        if len(curve(results, graph, OURS, "distortion")) == len(paper.COMPONENTS):
            found = beaten(results, graph)
            words = (
                "at every number of components"
                if not found
                else f"but for {', '.join(map(str, sorted(found)))} (see the sentence there)"
            )
            claims.append(Claim(f"{graph}: our curve of distortion is below every other method's", words, not found))
    return claims


DIMENSIONS = Experiment(
    "dimensions",
    "More components",
    _cells,
    _page,
    _claims,
    "CS Ph.D., BSA and the autoencoder, and 4, 6 to 9, 20 and 50 components",
)
