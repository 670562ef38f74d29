"""The mammals of WordNet in the disk."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from horopca.metrics.comparison import METHODS

from .. import paper
from ..cells.embedding import PUBLIC
from ..drawing import mammal_disk, mammal_disks
from ..experiment import Cell, Claim, Experiment, Page, Picture, Results, Size
from ..tables import ABSENT, table
from .reduction import title_of

ORDER = ("pca", "pga", "bsa", "horopca", "horopca-free", "horopca-distortion")


def _cells(size: Size) -> list[Cell]:
    cells = [
        Cell("wordnet", f"bundled.{method}", "reduction.reduce_mammals", {"method": method, "run": 0}, 1.5) for method in ORDER
    ]
    if not size.quick:
        arguments = {"methods": list(ORDER), "run": 0}
        cells.append(Cell("wordnet", "public-settings", "embedding.embed_mammals", arguments, 110))
    return cells


def _reduced(results: Results) -> dict[str, Mapping[str, Any]]:
    """Images and distortions of the embedding that is drawn: that with the public settings, or the bundled one."""
    trained = results.first("embed_mammals")
    if trained is not None:
        return dict(trained["reduced"])
    return {m: found for m in ORDER if (found := results.first("reduce_mammals", method=m)) is not None}


def _page(results: Results) -> Page:
    trained = results.first("embed_mammals")
    rows = []
    for method in ORDER:
        bundled = results.first("reduce_mammals", method=method)
        known = paper.WORDNET.get(method)
        rows.append(
            [
                title_of(method) if method.startswith("horopca") else METHODS[method].title,
                f"{known:.3f}" if known is not None else ABSENT,
                f"{trained['reduced'][method]['distortion']:.3f}" if trained else ABSENT,
                f"{bundled['distortion']:.3f}" if bundled else ABSENT,
            ]
        )
    settings = ", ".join(f"{name.replace('_', ' ')} {value:g}" for name, value in PUBLIC.items())
    parts = [
        "10-dimensional Poincaré embeddings of WordNet's mammals (1,182 synsets, the closure of their hypernyms), reduced to "
        "two dimensions: average distortion. The paper does not say how its embedding was trained; *public settings* are "
        f"those of the script published with Poincaré embeddings ({settings}), *bundled* is the one that comes with this "
        "package, trained more gently for a better order; one training of each, seed 0. The farther out an "
        "embedding lies, the less a projection along "
        "horospheres distorts it.",
        table(["", "in the paper", "public settings", "bundled"], rows),
    ]
    if trained:
        parts.append(_slips(trained))
        parts.append(
            f"The embedding with public settings has a mean average precision of {trained['map']:.3f} and a mean rank of "
            f"{trained['mean_rank']:.2f}."
        )
    images = {m: (found["distortion"], np.array(found["points"])) for m, found in _reduced(results).items()}
    if not images:
        return Page("\n\n".join(parts))
    pictures = [
        Picture(
            "wordnet",
            "The mammals in the disk by six methods",
            lambda figure: mammal_disks(figure, _titled(images)),
            True,
            100,
        )
    ]
    if "horopca" in images:
        draw = lambda figure: mammal_disk(figure, images["horopca"][1])
        pictures.append(Picture("wordnet-horopca", "The mammals in the disk by HoroPCA, with names", draw, True, 100))
    return Page("\n\n".join([*parts, *(f"{{{picture.name}}}" for picture in pictures)]), tuple(pictures))


def _slips(trained: Mapping[str, Any]) -> str:
    found = trained["slips"]
    return (
        "PGA and BSA bring most of these points together: they lie far from every plane through the mean. With the slips "
        "behind the published figures of the first table, the distortion on the embedding with public settings is "
        f"{found['pga']['distortion']:.3f} for PGA (midpoints clipped) and {found['bsa']['distortion']:.3f} for BSA (one "
        "dimension too many)."
    )


def _titled(images: dict[str, tuple[float, np.ndarray]]) -> list[tuple[str, np.ndarray]]:
    words = lambda m: f", in the paper {paper.WORDNET[m]:.3f}" if m in paper.WORDNET else ""
    return [(f"{METHODS[m].title}\ndistortion {d:.3f}{words(m)}", Y) for m, (d, Y) in images.items()]


def _claims(results: Results) -> list[Claim]:
    trained = results.first("embed_mammals")
    if trained is None:
        return []
    found = trained["reduced"]["horopca"]["distortion"]
    known = paper.WORDNET["horopca"]
    return [Claim(f"WordNet's mammals: distortion of `HoroPCA()` at most {known}", f"{found:.4f}", found <= known)]


WORDNET = Experiment(
    "wordnet",
    "WordNet's mammals",
    _cells,
    _page,
    _claims,
    "the embedding with the public settings (the bundled one is reduced)",
)
