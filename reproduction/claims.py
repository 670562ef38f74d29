"""The claims of the paper in its own words and order, one row each, with the check that judges it for one system.

The columns are three systems: the method that the paper's equation defines, the one that its published code implements, and ours.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from .definitions import Results
from .judging import (
    CODED,
    NO_WHITENING,
    OURS,
    WRITTEN,
    Verdict,
    curves_win,
    decorrelates,
    felines,
    gain_of_the_abstract,
    greedy_is_best,
    histogram_wins,
    independent,
    is_accuracy,
    mammals,
    mammals_by,
    noise_hurts,
    outperforms,
    pca_is_poor,
    reduces_by,
    second_best,
    sizes,
    tangent_is_near,
    theorem,
    whitening_wins,
)

WORDS = ("holds", "holds in part", "does not")
COLUMNS = {"as written (the equation, greedy)": WRITTEN, "as coded (orthonormal)": CODED, "ours (`HoroPCA()`)": OURS}


class Claim(NamedTuple):
    """A claim: its place, its words, and the check (results, system) -> verdict. `system` is "" if the claim is about none."""

    place: str
    words: str
    check: Callable[[Results, str], Verdict]
    of_system: bool = True


CLAIMS = (
    Claim("Abstract", "HoroPCA theoretically better preserves information in the original data such as distances", theorem("keeps_busemann_coordinates", "never_lengthens", "paths_shrink"), False),
    Claim("Abstract; §5.2; §7", "HoroPCA outperforms existing dimensionality reduction methods, significantly reducing error in distance preservation”; “outperforms all methods with significant improvements on larger datasets”; “significantly outperforms previous methods", outperforms("reduction", 0)),
    Claim("Abstract", "As a data whitening method, it improves downstream classification by up to 3.9% compared to methods that don't use whitening", gain_of_the_abstract),
    Claim("§1, caption of Figure 1", "Horospherical projections preserve distance information across different subspaces pointing towards the same direction, while geodesic projections do not", theorem("does_not_depend_on_the_base"), False),
    Claim("§1", "these projections exactly preserve information – specifically, distances to ideal points – along each direction", theorem("keeps_busemann_coordinates"), False),
    Claim("§1, §3.2", "they [PGA and BSA] cannot isometrically preserve hyperbolic distances between any points”; “(except between points already in the target)", theorem("bound_on_projected_distances", "tangent_vectors_shrink"), False),
    Claim("§1", "they [geodesic projections] shrink all path lengths by an exponential factor", theorem("paths_shrink"), False),
    Claim("§1", "it yields much lower distortion and higher explained variance than existing methods, reducing average distortion by up to 77%", reduces_by),
    Claim("§1", "improving downstream classification by up to 3.8% in Average Precision score compared to methods that don't use whitening", whitening_wins("average precision", NO_WHITENING, by=3.8)),
    Claim("Caption of Figure 2", "The hyperbolic lengths of geodesic segments between two horospheres are equal", theorem("equal_segments_between_horospheres"), False),
    Claim("Caption of Figure 3", "d(x′, y′) = d(x, y). The distance between the two geodesic projections is smaller", theorem("keeps_lengths_towards_p", "bound_on_projected_distances"), False),
    Claim("§3.1, Remark 3.3", "We assume that none of b, p₁, …, p_K are in the geodesic hull of the other K points", independent),
    Claim("§3.3", "This function agrees with the usual variance in Euclidean space", theorem("variance_is_the_mean_over_pairs", wrong="it is twice the usual variance; its maximum is in the same place"), False),
    Claim("§4, of PCA, “in the same fashion” of HoroPCA", "for each 1 ≤ k ≤ K, {p₁, …, p_k} is the optimal set of directions of dimension k", greedy_is_best, False),
    Claim("§4", "only the directions of target subspaces matter; their exact locations do not", theorem("does_not_depend_on_the_base", "depends_on_the_spine_alone"), False),
    Claim("§4; §5.2", "always returns the same results regardless of the choice of a base point”; “HoroPCA is by construction base-point independent", theorem("does_not_depend_on_the_base", "isometries_carry_over"), False),
    Claim("§5.1", "These datasets have respectively 40, 344, 516 and 1025 nodes", sizes, False),
    Claim("§5.1", "Tangent PCA (tPCA), which approximates PGA", tangent_is_near, False),
    Claim("§5.1", "Euclidean PCA, which should perform poorly on hyperbolic data", pca_is_poor, False),
    Claim("§5.2", "HoroPCA also outperforms existing methods on the explained Fréchet variance metric on all but one dataset", outperforms("reduction", 1, 1)),
    Claim("§5.2", "both PGA and BSA are sensitive to base point choices: adding Gaussian noise to the base point leads to significant drops in performance", noise_hurts, False),
    Claim("Caption of Table 2", "Best in bold and second best underlined", second_best, False),
    Claim("§5.3", "it allows practitioners to remove noise and decorrelate the data", decorrelates, False),
    Claim("Caption of Table 3", "We report classification accuracy averaged over 5 embedding configurations", is_accuracy, False),
    Claim("§5.3", "HoroPCA whitening improves downstream classification on all datasets compared to eSVM and hSVM or tPCA and PGA whitening", whitening_wins("average precision", (*NO_WHITENING, "tangent PCA + eSVM", "PGA + eSVM"))),
    Claim("§5.3, by accuracy", "(the same claim, measured by accuracy as in the caption)", whitening_wins("accuracy", (*NO_WHITENING, "tangent PCA + eSVM", "PGA + eSVM"))),
    Claim("§5.4", "we can see some hierarchical patterns such as “feline hypernym of cat” or “cat hypernym of burmese cat”. These patterns are harder to visualize for other methods", felines),
    Claim("§5.4, Figures 4, 8", "PGA (average distortion: 0.534)", mammals_by("pga"), False),
    Claim("Figure 8", "PCA (average distortion: 0.942)", mammals_by("pca"), False),
    Claim("Figure 8", "BSA (average distortion: 0.532)", mammals_by("bsa"), False),
    Claim("§5.4, Figure 4", "compared to 0.078 for HoroPCA", mammals),
    Claim("§6", "the latter [horospherical projections] converges to the former [along horocycles] as the ideal points get closer to each other", theorem("merges_into_horocycles"), False),
    Claim("Remark A.8", "theoretically, the search space has dimension dK − K(K+1)/2", theorem("parameter_count", wrong="dK − 1 − K(K−1)/2, by the rank of the map: K − 1 more"), False),
    Claim("§C.3.1, Figure 6", "Horospherical projections achieve much lower distortion than geodesic projections on average", histogram_wins, False),
    Claim("§C.3.2, Table 5", "The results confirm the trends: HoroPCA outperforms baseline methods, with significant improvements on distance preservation", outperforms("sarkar", 0, sarkar="paper")),
    Claim("§C.3.2, Figure 7", "HoroPCA significantly outperforms all previous generalizations of PCA", curves_win(("pca", "tpca", "pga", "bsa"))),
    Claim("§C.3.2, Figure 7", "HoroPCA also outperforms hMDS, which is a competitive baseline", curves_win(("hmds",))),
)  # fmt: skip


def claims_text(results: Results) -> str:
    """The claims as a table."""
    lines = [f"| place | the paper's words | {' | '.join(COLUMNS)} |", "|---|---|---|---|---|"]
    for claim in CLAIMS:
        systems = list(COLUMNS.values()) if claim.of_system else [""]
        cells = [_cell(claim.check(results, system)) for system in systems] + [""] * (3 - len(systems))
        lines.append(f"| {claim.place} | “{claim.words}” | {' | '.join(cells)} |")
    return f"# The paper's claims\n\n{HEAD}\n\n" + "\n".join(lines)


def verdicts(results: Results) -> str:
    """How many of the claims hold, for the method as the paper defines it, as its code implements it, and for ours."""
    found = [[claim.check(results, system)[0] for claim in CLAIMS if claim.of_system] for system in COLUMNS.values()]
    rows = "\n".join(f"| {word} | {' | '.join(str(column.count(word)) for column in found)} |" for word in WORDS)
    alone = [claim.check(results, "")[0] for claim in CLAIMS if not claim.of_system]
    counts = ", ".join(f"{alone.count(word)} ({word})" for word in WORDS)
    head = f"| claims about the method | {' | '.join(COLUMNS)} |\n|---|---:|---:|---:|"
    return f"## Which claims hold\n\n{head}\n{rows}\n\nClaims that do not depend on the variant: {counts}."


def _cell(verdict: Verdict) -> str:
    word, evidence = verdict
    return word if not evidence else f"**{word}**: {evidence}"


HEAD = (
    "Every claim of the paper in its own words, judged for three variants: the method that equation (5) of the paper defines, the method that its "
    "published code implements, and ours. The baselines are those of the paper, *computed correctly*; the pages of the tables compare them with the "
    "published numbers. Evidence is listed for the four data sets, or the three networks, in the order of the tables."
)
