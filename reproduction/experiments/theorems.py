"""Every definition and theorem that can be checked in numbers."""

from __future__ import annotations

from typing import NamedTuple

from ..cells.theorems import D, K, N
from ..definitions import Cell, Experiment, Results, Section, Size
from ..markdown import ABSENT, table

EXACT = 1e-6  # a deviation below is rounding: distances of points at radius 8 lose about half of their digits


class Statement(NamedTuple):
    """A statement of the paper: its place, its content, the check in `cells.theorems`, and its error, if it is wrong."""

    place: str
    says: str
    check: str
    wrong: str = ""


STATEMENTS = (
    Statement("§2.2", "B_p(x) = ln(‖p − x‖² / (1 − ‖x‖²)) is the limit of d(x, γ(t)) − t", "busemann_is_a_limit"),
    Statement(
        "§2.2, caption of Figure 2",
        "geodesic segments between two concentric horospheres are equally long",
        "equal_segments_between_horospheres",
    ),
    Statement(
        "§3.3",
        "(1/n) Σ ‖x − μ‖² = (1/n²) Σ ‖x − y‖² in Euclidean space",
        "variance_is_the_mean_over_pairs",
        "the right side is twice the left one; the maximum does not change",
    ),
    Statement("Proposition 3.4", "K = 1: lengths towards p are kept", "keeps_lengths_towards_p"),
    Statement("§3.2.2", "the projection keeps B_p for each of the K ideal points", "keeps_busemann_coordinates"),
    Statement("Theorem 4.1", "projected distances do not depend on the base point", "does_not_depend_on_the_base"),
    Statement("Lemma A.1, Corollary A.2", "∩ S(p_j, x) is the orbit of x under rotations around P", "intersection_is_the_orbit"),
    Statement("Corollary A.3, Theorem A.4", "of two candidates the image is the one closer to b", "image_is_the_nearer_of_two"),
    Statement(
        "Theorem A.5, Corollary A.10",
        "open book: each page P_x is mapped isometrically to P_b, and the spine stays",
        "pages_turn_rigidly",
    ),
    Statement("Corollary A.6", "the projection depends on the spine alone", "depends_on_the_spine_alone"),
    Statement(
        "Remark A.8",
        "the search space has dK − K(K+1)/2 dimensions",
        "parameter_count",
        "it has dK − 1 − K(K−1)/2, K − 1 more: once p₁ is given, another ideal point is as free as the first "
        "(K = 2: two ideal points, 2(d−1) numbers, of which a spine has none to spare)",
    ),
    Statement("Corollary A.9", "rotation orbits, of dimension d − K, collapse to a point", "orbits_collapse"),
    Statement(
        "Corollaries A.9 to A.11",
        "K directions at x are kept, d − K vanish: no tangent vector gets longer",
        "keeps_k_directions_and_drops_the_rest",
    ),
    Statement("Corollary A.12", "no distance gets longer", "never_lengthens"),
    Statement("Propositions A.23, A.24", "the Minkowski projection, rescaled, is the nearest point", "geodesic_projection_is_nearest"),
    Statement("Algorithm 1, Propositions A.25 to A.27", "computes the horospherical projection", "algorithm_of_the_appendix"),
    Statement("Appendix C.1, centring", "an isometry of data and ideal points changes nothing", "isometries_carry_over"),
    Statement("Appendix C.2.3", "intersecting spheres in the ball computes it as well", "spheres_meet_in_the_image"),
    Statement("Proposition B.2", "the law of quadrilaterals with two right angles", "law_of_quadrilaterals"),
    Statement("Proposition B.3, Theorem B.4", "sinh(d′/2) ≤ sinh(d/2) / cosh r under geodesic projections", "bound_on_projected_distances"),
    Statement("Corollary B.5", "tangent vectors get cosh d(x, M) times shorter", "tangent_vectors_shrink"),
    Statement("Proposition 3.5, Theorem B.6", "paths at least r from M get cosh r times shorter", "paths_shrink"),
    Statement("Remark B.7", "distances between far points need not: d′ ≥ d − 2r", "distances_far_apart_need_not_shrink"),
    Statement("§6", "horospherical projections tend to horocyclic ones as ideal points merge", "merges_into_horocycles"),
)  # fmt: skip


def _cells(size: Size) -> list[Cell]:
    return [Cell("theorems", s.check, "theorems.check", {"name": s.check}, 0.3) for s in STATEMENTS]


def deviation(results: Results, check: str) -> float | None:
    found = results.of("theorems").first("theorems.check", name=check)
    return found["deviation"] if found else None


def _section(results: Results) -> Section:
    rows = []
    for s in STATEMENTS:
        worst = deviation(results, s.check)
        verdict = ABSENT if worst is None else f"**does not hold**: {s.wrong}" if worst > EXACT else "holds"
        rows.append([s.place, s.says, ABSENT if worst is None else f"{worst:.1e}", verdict])
    text = (
        f"Each statement is checked on 25 random instances with {N} points in H^{D} and {K} ideal points (in a plane if the statement "
        "is about one). The column *worst* is the largest deviation from an equation, or the largest excess over an inequality; a "
        "negative number is a margin. Each check is a function of `reproduction/cells/theorems.py`, and `tests/reproduction/test_theorems.py` runs all "
        "of them.\n\n" + table(["", "statement", "worst", ""], rows)
    )
    return Section(text)


THEOREMS = Experiment("theorems", "The theorems, in numbers", "Sections 2 to 4 and appendices A and B", _cells, _section)
