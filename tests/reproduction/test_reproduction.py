"""The reproduction: cells are computed once, files are complete, gaps are reported, and claims are judged."""

import hashlib
import json
import re
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from reproduction.__main__ import main
from reproduction.cells import histogram as histogram_cells
from reproduction.cells import whitening
from reproduction.claims import CLAIMS, COLUMNS, claims_text
from reproduction.command import publish, stored
from reproduction.definitions import Cell, Results, Size
from reproduction.page import BLOCKS
from reproduction.run import Answer, Gap, compute

from horopca.datasets import make_hierarchy
from reproduction import EXPERIMENTS, reproduce, store

pytest.importorskip("matplotlib")

ROOT = Path(__file__).parents[2]
SMALL = "theorems"  # quick to compute, and without data or torch


POINTS = np.round(0.9 * make_hierarchy(2, 3, 2, random_state=0).points, 6).tolist()
MAMMALS = np.random.default_rng(0).uniform(-0.6, 0.6, (1182, 2)).round(6).tolist()
JUDGED = lambda u: {"accuracy": u, "average precision": u, "trapezoid area": u, "correlation": u}
SEEN = lambda u: {"above": u, "in_order": u > 0.5, "feline_cat": u, "cat_burmese": u}
INVENTED = {
    "reduction.cloud": lambda u, a: {"frechet_variance": 5 * u, "pair_variance": 9 * u, "size": 40},
    "reduction.reduce_embedding": lambda u, a: {
        "distortion": u, "frechet_variance": 5 * u, "pair_variance": 9 * u, "kappa": u, "angle": 90 * u, "points": POINTS,
    },
    "reduction.reduce_mammals": lambda u, a: {"distortion": u, "points": MAMMALS, "seen": SEEN(u)},
    "reduction.reduce_trained": lambda u, a: {"distortion": u, "points": MAMMALS, "seen": SEEN(u)},
    "embedding.train_mammals": lambda u, a: {"map": u, "mean_rank": 1 + u, "at_clip": u, "points": MAMMALS},
    "embedding.slipped_mammals": lambda u, a: {"pga": u, "bsa": u},
    "embedding.embed": lambda u, a: {"distortion": u, "scale": 1.0, "beyond": u, "clipped": u},
    "embedding.published_file": lambda u, a: {"as_is": u, "distortion": u, "clipped": u},
    "whitening.classify": lambda u, a: {
        row: JUDGED(u) for row in (whitening.BASELINES if a["classifiers"] == "baselines" else whitening.DIRECTIONS)
    },
    "histogram.project_on_lines": lambda u, a: {"horospherical": [u, u / 2], "geodesic": [1.0, 0.9]},
    "theorems.check": lambda u, a: {"deviation": 1e-12 * u, "instances": 1},
    "defects.rows_for_columns": lambda u, a: {"distortion": u, "frechet_variance": u, "met": u > 0.5, "by_chance": u},
    "defects.saturated_sarkar": lambda u, a: {
        "embedding_distortion": u, "distortion": u, "median": u, "at_rim": u, "pairs_at_35": u,
    },
}  # fmt: skip


def invent(cell: Cell, given=None) -> Answer:
    """A result of the right shape, a pure function of the cell."""
    u = (int(hashlib.sha256((cell.experiment + cell.name).encode()).hexdigest(), 16) % 997 + 1) / 1000
    make = INVENTED.get(cell.function, lambda u, a: {"distortion": u, "frechet_variance": 5 * u})
    return Answer(make(u, cell.arguments), 0.0)


@pytest.fixture
def invented(monkeypatch):
    """The cells that were computed, by name."""
    computed = []

    def compute(cell, given=None):
        assert (given is None) == (cell.given is None), "a cell gets the result it needs"
        computed.append((cell.experiment, cell.name))
        return invent(cell)

    monkeypatch.setattr("reproduction.run.compute", compute)
    monkeypatch.setattr("reproduction.page.draw_picture", lambda picture, path: path.write_bytes(b""))
    return computed


def cells_in(folder: Path) -> dict[Path, bytes]:
    return {path.relative_to(folder): path.read_bytes() for path in sorted((folder / "cells").rglob("*.json"))}


@pytest.mark.parametrize("experiment", EXPERIMENTS.values(), ids=list(EXPERIMENTS))
def test_cells_have_names_of_their_own_and_quick_ones_are_among_the_others(experiment):
    full, quick = experiment.cells(Size(False, 5)), experiment.cells(Size(True, 5))
    names = [cell.name for cell in full]
    assert len(set(names)) == len(names)
    assert all(re.fullmatch(r"[\w.\-]+", name) for name in names)
    assert all(cell in full for cell in quick), "a quick run is kept by the full one after it"
    assert all(json.loads(json.dumps(cell.arguments)) == cell.arguments for cell in full)
    assert {cell.name for cell in experiment.cells(Size(False, 2))} <= set(names), "more runs keep the fewer"


def text_of(folder: Path) -> str:
    """The text of all pages in a folder."""
    return "".join(path.read_text() for path in sorted(folder.glob("reproduction*.md")))


def test_everything_is_written_from_the_cells(invented, tmp_path):
    outcome = reproduce(["all"], out=tmp_path / "out", runs=2)
    assert outcome.computed == len(invented) == len(set(invented)) and outcome.kept == 0 and not outcome.gaps
    page = text_of(tmp_path / "out")
    assert not re.search(r"\{(?!toctree)[a-z-]+\}", page), "every picture has its link"
    for experiment in EXPERIMENTS.values():
        assert f"# {experiment.title}\n" in page and experiment.place in page
    for link in re.findall(r"\]\((images/[^)]*)\)", page):
        assert (tmp_path / "out" / link).exists()
    assert all(claim.words in page for claim in CLAIMS)
    assert page.count("**holds") > 5 and "**does not**" in page
    records = store.from_json((tmp_path / "out" / "results.json").read_text())
    assert len(records) == len(invented) and not any("points" in record.result for record in records)
    results = store.results_of(stored(store.Store(tmp_path / "out")))
    for claim in CLAIMS:
        for system in COLUMNS.values() if claim.of_system else [""]:
            word, evidence = claim.check(results, system)
            assert word in ("holds", "holds in part", "does not", "–") and (evidence or word == "–")
    assert claims_text(Results([])).count("| –") > 10, "without results nothing is claimed"
    path = next(iter((tmp_path / "out" / "cells" / "theorems").iterdir()))
    path.write_text(path.read_text()[:40])
    assert reproduce(["theorems"], out=tmp_path / "out").computed == 1, "a damaged cell is computed again"


@pytest.mark.parametrize("after", [0, 17])
def test_an_interruption_anywhere_changes_nothing(invented, tmp_path, after):
    def stop(done, cells, gap):
        if done > after:
            raise KeyboardInterrupt

    reproduce(["sarkar"], out=tmp_path / "whole", quick=True)
    invented.clear()
    with pytest.raises(KeyboardInterrupt):
        reproduce(["sarkar"], out=tmp_path / "cut", quick=True, progress=stop)
    outcome = reproduce(["sarkar"], out=tmp_path / "cut", quick=True)
    assert outcome.kept == after + 1 and len(invented) == len(set(invented))
    assert text_of(tmp_path / "cut") == text_of(tmp_path / "whole")
    assert cells_in(tmp_path / "cut") == cells_in(tmp_path / "whole")


def test_what_other_code_has_made_is_computed_again_or_said(invented, tmp_path, monkeypatch):
    reproduce(["histogram"], out=tmp_path / "out", quick=True)
    monkeypatch.setattr(store, "code_digest", lambda: "0123456789ab")
    kept = reproduce(["theorems"], out=tmp_path / "out", quick=True, keep_older=True)
    assert "1 parts by code" in kept.page.read_text() and "by code 0123456789ab" in kept.page.read_text()
    assert reproduce(["histogram"], out=tmp_path / "out", quick=True).computed == 1


def test_publish_merges_into_what_is_there(invented, tmp_path):
    for name in ("reproduction", "docs"):
        (tmp_path / "root" / name).mkdir(parents=True)
    for name in BLOCKS:
        (tmp_path / "root" / name).write_text("before\n<!-- reproduction -->\nold\n<!-- end of reproduction -->\nafter\n")
    for name in ("reduction", "whitening"):
        reproduce([name], out=tmp_path / name, quick=True)
        publish(tmp_path / name, tmp_path / "root")
    for name in ("reduction", "whitening"):
        assert EXPERIMENTS[name].title in (tmp_path / "root" / "docs" / f"reproduction-{name}.md").read_text()
    readme = (tmp_path / "root" / "README.md").read_text()
    assert readme.startswith("before\n") and readme.endswith("after\n")
    assert "HoroPCA in the paper" in readme and "old" not in readme
    (tmp_path / "root" / "README.md").write_text("no marks")
    with pytest.raises(ValueError, match=r"README.md must have the lines <!-- reproduction -->"):
        publish(tmp_path / "reduction", tmp_path / "root")


def run(*arguments: object):
    return CliRunner().invoke(main, ["run", *map(str, arguments)])


def test_an_unknown_name_gets_a_suggestion(tmp_path):
    result = run("reducton", "--out", tmp_path / "out")
    assert result.exit_code == 2 and not (tmp_path / "out").exists()
    text = " ".join(re.sub(r"[^\w' ?]", " ", result.output).split())
    assert "no experiment 'reducton'" in text and "Did you mean 'reduction'?" in text
    with pytest.raises(ValueError, match="There are reduction, whitening"):
        reproduce(["zzz"], out=tmp_path / "out")


def test_missing_data_is_named_and_the_rest_goes_on(no_data, monkeypatch, tmp_path):
    monkeypatch.setattr(histogram_cells, "HISTOGRAM_POINTS", 50)
    result = run("embedding", "histogram", "--quick", "--out", tmp_path / "out")
    assert result.exit_code == 1
    assert result.stderr.count("graphs/phylo-tree.edges could not be fetched") == 1, "each file once, not once a cell"
    assert "same command" in result.stderr and "failed" not in result.stderr and "Traceback" not in result.stderr
    assert "# Projections on one direction" in (tmp_path / "out" / "reproduction-histogram.md").read_text(), "the rest is there"
    picture = tmp_path / "out" / "images" / "reproduction" / "histogram.png"
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_a_computation_that_fails_is_a_gap_and_so_is_what_needs_it(invented, monkeypatch, tmp_path):
    fails = lambda cell, given=None: Gap(cell, "too hard") if "train" in cell.name else invent(cell)
    monkeypatch.setattr("reproduction.run.compute", fails)
    outcome = reproduce(["wordnet"], out=tmp_path / "out", runs=1)
    assert {gap.why for gap in outcome.gaps} == {"too hard", "public.train.0 is missing", "clipped.train.0 is missing"}


def test_from_start_to_interruption_to_resume(tmp_path, monkeypatch):
    def update(self, done, cells, gap):  # Ctrl-C when four cells are finished
        if done == 4:
            raise KeyboardInterrupt

    out, total = tmp_path / "out", len(EXPERIMENTS[SMALL].cells(Size(True)))
    with monkeypatch.context() as patch:
        patch.setattr("reproduction.__main__.Bar.update", update)
        result = run(SMALL, "--quick", "--jobs", 2, "--out", out)
    assert result.exit_code == 130, result.output
    assert "Interrupted." in result.stderr and "the same command resumes there" in result.stderr
    kept = cells_in(out)
    assert len(kept) == 4 < total
    assert not [path for path in out.rglob(".*")], "no half-written file is left"
    resumed = run(SMALL, "--quick", "--out", out)
    assert resumed.exit_code == 0, resumed.output
    assert f"{total - len(kept)} parts computed, {len(kept)} kept from before" in resumed.output
    whole = stored(store.Store(out))
    some = whole[::8]
    assert [record.result for record in some] == [compute(record.cell).result for record in some], "cells are pure functions"
