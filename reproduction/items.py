"""Everything in the paper, one row each: where it is implemented, tested, and reproduced."""

from __future__ import annotations

from typing import NamedTuple

from .experiments.theorems import STATEMENTS
from .markdown import ABSENT, table


class Item(NamedTuple):
    """A system, definition, table or figure of the paper. Names are dotted, paths from the root of the repository."""

    what: str
    place: str
    implemented: str = ""  # a dotted name
    tested: str = ""  # a folder or file
    reproduced: str = ""  # an experiment, or a check of `reproduction.cells.theorems`


ITEMS = (
    Item("**Definitions**", ""),
    Item("Poincaré model, distance", "§2.1, equation (1)", "horopca.geometry.distance", "tests/geometry", "theorems"),
    Item("geodesics, geodesic submanifolds", "§2.1", "horopca.geometry.geodesic", "tests/geometry", "illustrations"),
    Item("ideal points", "§2.2", "horopca.geometry.ideal_endpoint", "tests/geometry", "illustrations"),
    Item("Busemann coordinates", "§2.2", "horopca.geometry.busemann", "tests/geometry", "busemann_is_a_limit"),
    Item("horospheres", "§2.2", "horopca.geometry.horosphere", "tests/geometry", "illustrations"),
    Item("geodesic projection", "§2.3", "horopca.geometry.geodesic_projection", "tests/geometry", "geodesic_projection_is_nearest"),
    Item("Fréchet mean and variance", "§2.4, equation (2)", "horopca.metrics.frechet_variance", "tests/test_statistics.py", "reduction"),
    Item("geodesic hull, flags", "Definition 3.1", "horopca.geometry.geodesic_hull", "tests/geometry", "depends_on_the_spine_alone"),
    Item("horospherical projection", "§3.2, equation (3)", "horopca.projections.horospherical_projection", "tests/projections", "algorithm_of_the_appendix"),
    Item("variance over pairs", "§3.3, equation (4)", "horopca.metrics.pair_variance", "tests/metrics", "reduction"),
    Item("average distortion", "§5.1", "horopca.metrics.average_distortion", "tests/metrics", "reduction"),
    Item("hyperboloid model, stereographic projection", "§A.3", "horopca.geometry.to_hyperboloid", "tests/geometry", "theorems"),
    Item("**Systems**", ""),
    Item("HoroPCA, the equation (greedy)", "§4, equation (5)", "horopca.HoroPCA", "tests/estimators", "reduction"),
    Item("HoroPCA as coded (orthonormal)", "the published code", "reproduction.cells.orthonormal.OrthonormalHoroPCA", "tests/reproduction", "reduction"),
    Item("PCA", "§C.2.2", "horopca.EuclideanPCA", "tests/estimators", "reduction"),
    Item("tPCA", "§C.2.2", "horopca.TangentPCA", "tests/estimators", "reduction"),
    Item("PGA, PGA-Noise", "§5.1, §C.2.2", "horopca.PGA", "tests/estimators", "reduction"),
    Item("BSA, BSA-Noise", "§5.1, §C.2.2", "horopca.BSA", "tests/estimators", "reduction"),
    Item("hMDS", "§C.2.2", "horopca.HyperbolicMDS", "tests/estimators", "reduction"),
    Item("hAE", "§C.2.2", "reproduction.autoencoder", "tests/reproduction", "reduction"),
    Item("whitening along HoroPCA's directions", "§5.3", "reproduction.cells.whitening.AlongDirections", "tests/reproduction", "whitening"),
    Item("whitening with tPCA, with PGA", "§5.3", "horopca.TangentWhitener", "tests/estimators", "whitening"),
    Item("eSVM, hSVM", "§5.3", "horopca.HyperbolicSVC", "tests/estimators", "whitening"),
    Item("Sarkar's construction", "§C.1", "horopca.embed.SarkarEmbedding", "tests/embed", "embedding"),
    Item("embeddings by optimisation", "§C.1", "horopca.embed.DistortionEmbedding", "tests/embed", "embedding"),
    Item("Poincaré embeddings of WordNet", "§5.4", "horopca.embed.PoincareEmbedding", "tests/embed", "wordnet"),
    Item("centring by a reflection", "§C.1", "horopca.geometry.reflect_to_origin", "tests/geometry", "isometries_carry_over"),
    Item("geodesic projection by midpoints", "§C.2.1", "reproduction.cells.defects.pga_with_clipped_midpoints", "tests/reproduction", "reduction"),
    Item("horospherical projection by intersecting spheres in the ball", "§C.2.3", "reproduction.cells.theorems.spheres_meet_in_the_image", "tests/projections", "spheres_meet_in_the_image"),
    Item("**Tables and figures**", ""),
    Item("Table 1, components and coordinates", "§2.2", "horopca.geometry.busemann", "tests/geometry", "busemann_is_a_limit"),
    Item("Table 2, reduction", "§5.2", "reproduction.experiments.reduction", "tests/reproduction", "reduction"),
    Item("Table 3, whitening", "§5.3", "reproduction.experiments.whitening", "tests/reproduction", "whitening"),
    Item("Table 4, embeddings", "appendix C", "reproduction.experiments.embedding", "tests/reproduction", "embedding"),
    Item("Table 5, Sarkar", "appendix C", "reproduction.experiments.sarkar", "tests/reproduction", "sarkar"),
    Item("Figures 1, 2, 3 and 5", "§1, §2.2, §3.2, §A.1", "reproduction.experiments.illustrations", "tests/reproduction", "illustrations"),
    Item("Figures 4 and 8, WordNet", "§5.4, §C.3", "reproduction.experiments.wordnet", "tests/reproduction", "wordnet"),
    Item("Figure 6, histogram", "§C.3.1", "reproduction.experiments.histogram", "tests/reproduction", "histogram"),
    Item("Figure 7, components", "§C.3.2", "reproduction.experiments.dimensions", "tests/reproduction", "dimensions"),
)  # fmt: skip


def items_text() -> str:
    """The list as a table; the theorems have one of their own."""
    code = lambda name: f"`{name}`" if name else ABSENT
    rows = [[item.what, item.place, *(["", "", ""] if not item.place else map(code, item[2:]))] for item in ITEMS]
    return (
        "# Everything in the paper\n\nWhere it is implemented, tested and reproduced: by an experiment, or by a check of "
        f"`reproduction/cells/theorems.py`. The {len(STATEMENTS)} statements of theorems, lemmas and remarks have "
        "[a table of their own](reproduction-theorems.md), and so have [the claims](reproduction-claims.md).\n\n"
        + table(["", "in the paper", "implemented", "tested", "reproduced"], rows)
    )
