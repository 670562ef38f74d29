"""The reproduction: cells are computed once, files are whole, versions are not mixed, gaps are said. On generated data."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from reproduction.cells import ball, data, defects
from reproduction.cells import histogram as histogram_cells
from reproduction.experiment import Cell, Results, Size
from reproduction.run import Answer, Gap, compute
from reproduction.tables import spread
from scipy.io import savemat

from horopca.datasets import balanced_tree, fetching, make_hierarchy, random_tree
from horopca.geometry import busemann, distance, geodesic_hull, geodesic_projection, origin, to_hyperboloid
from horopca.metrics.comparison import METHODS
from reproduction import EXPERIMENTS, Watch, command, paper, reproduce, store, terminal

pytest.importorskip("matplotlib")

SMALL = ["embedding", "histogram"]  # quick to compute on small graphs, and without torch


# ---------------------------------------------------------------- data like the paper's, but small


def make_data(folder: Path) -> None:
    """Four graphs with embeddings in 10 and 50 dimensions, three networks with five embeddings."""
    (folder / "graphs").mkdir(parents=True)
    (folder / "embeddings").mkdir()
    (folder / "realnet").mkdir()
    for k, name in enumerate(fetching.GRAPHS):
        parent = balanced_tree(2, 3).parent if k == 0 else random_tree(14 + 2 * k, random_state=k).parent
        edges = "".join(f"{i} {p}\n" for i, p in enumerate(parent) if p >= 0)
        (folder / "graphs" / f"{name}.edges").write_text(edges)
        for d in (10, 50):
            np.save(
                folder / "embeddings" / f"{name}_{d}_poincare.npy",
                make_hierarchy(2, 4, d, random_state=k).points[: len(parent)],
            )
    for name in fetching.NETWORKS:
        for version in fetching.VERSIONS:
            tree = make_hierarchy(3, 3, 2, random_state=version)
            label = np.array([1 + hash_of(text) % 3 for text in tree.labels[1:]])
            n = len(label)
            savemat(
                folder / "realnet" / f"{name}_data_{version}.mat",
                {"B": tree.points[1:], "label": label, "A": np.eye(n), "R": 1.0},
            )


def hash_of(text: object) -> int:
    return int(hashlib.sha256(str(text).encode()).hexdigest(), 16)


def registry_of(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.rglob("*.*")
        if path.is_file()
    }


@pytest.fixture(scope="session")
def generated(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("data") / "data"
    make_data(folder)
    return folder


def forget() -> None:
    for cached in (data.embedding, data.graph):
        cached.cache_clear()


@pytest.fixture
def small_data(generated, monkeypatch):
    forget()
    monkeypatch.setenv("HOROPCA_DATA", str(generated))
    known = registry_of(generated)
    monkeypatch.setattr(fetching, "registry", lambda: known)
    yield generated
    forget()


@pytest.fixture
def no_data(monkeypatch, tmp_path):
    def unreachable(name, digest, folder):
        raise OSError(f"{name} could not be fetched (ConnectionError). Put it into {folder}.")

    forget()
    (tmp_path / "empty").mkdir()
    monkeypatch.setenv("HOROPCA_DATA", str(tmp_path / "empty"))
    monkeypatch.setattr(fetching, "_retrieved", unreachable)
    yield
    forget()


# ---------------------------------------------------------------- invented results, so that everything is quick

POINTS = np.round(0.9 * make_hierarchy(2, 3, 2, random_state=0).points, 6).tolist()
MAMMALS = np.random.default_rng(0).uniform(-0.6, 0.6, (1182, 2)).round(6).tolist()
INVENTED = {
    "reduction.reduce_embedding": lambda u, a: {"distortion": u, "frechet_variance": 5 * u, "points": POINTS},
    "reduction.reduce_sarkar": lambda u, a: {"distortion": u, "frechet_variance": 5 * u},
    "reduction.reduce_mammals": lambda u, a: {"distortion": u, "points": MAMMALS},
    "embedding.embed": lambda u, a: {"distortion": u, "scale": 1.0, "beyond": u, "clipped": u},
    "embedding.published_file": lambda u, a: {"as_is": u, "distortion": u, "clipped": u},
    "embedding.embed_mammals": lambda u, a: {
        "map": u, "mean_rank": 1 + u, "reduced": {m: {"distortion": u, "points": MAMMALS} for m in a["methods"]},
        "slips": {m: {"distortion": u} for m in ("pga", "bsa")},
    },
    "whitening.classify": lambda u, a: {
        c: {"accuracy": u, "average precision": u, "trapezoid area": u} for c in paper.WHITENING
    },
    "histogram.project_on_lines": lambda u, a: {"horospherical": [u, u / 2], "geodesic": [1.0, 0.9]},
    "defects.rows_for_columns": lambda u, a: {"distortion": u, "frechet_variance": u, "met": u > 0.5, "by_chance": u},
    "defects.saturated_sarkar": lambda u, a: {
        "embedding_distortion": u, "distortion": u, "median": u, "at_rim": u, "pairs_at_35": u,
    },
}  # fmt: skip


def invent(cell: Cell) -> Answer:
    """A result of the right shape, a pure function of the cell."""
    u = (hash_of(cell.experiment + cell.name) % 997 + 1) / 1000
    make = INVENTED.get(cell.function, lambda u, a: {"distortion": u, "frechet_variance": 5 * u})
    return Answer(make(u, cell.arguments), 0.0)


@pytest.fixture
def invented(monkeypatch):
    """The cells that were computed, by name."""
    computed = []

    def compute(cell):
        computed.append((cell.experiment, cell.name))
        return invent(cell)

    monkeypatch.setattr("reproduction.run.compute", compute)
    monkeypatch.setattr("reproduction.report._draw", lambda picture, folder, images: None)
    return computed


def cells_in(folder: Path) -> dict[Path, bytes]:
    return {path.relative_to(folder): path.read_bytes() for path in sorted(folder.rglob("cells/*.json"))}


# ---------------------------------------------------------------- laws


def test_every_experiment_of_the_command_is_there():
    assert list(EXPERIMENTS) == "reduction whitening embedding sarkar histogram dimensions wordnet illustrations".split()


@pytest.mark.parametrize("experiment", EXPERIMENTS.values(), ids=list(EXPERIMENTS))
def test_cells_have_names_of_their_own_and_quick_ones_are_among_the_others(experiment):
    full, quick = experiment.cells(Size(False, 5)), experiment.cells(Size(True, 5))
    names = [cell.name for cell in full]
    assert len(set(names)) == len(names)
    assert all(re.fullmatch(r"[\w.\-]+", name) for name in names)
    assert all(cell in full for cell in quick), "a quick run is kept by the full one after it"
    assert len(quick) < len(full) or not experiment.left_out
    assert all(json.loads(json.dumps(cell.arguments)) == cell.arguments for cell in full)


def test_more_runs_keep_the_fewer():
    for experiment in EXPERIMENTS.values():
        assert set(c.name for c in experiment.cells(Size(False, 2))) <= set(c.name for c in experiment.cells(Size(False, 3)))


def test_published_figures_are_complete():
    assert set(paper.REDUCTION) < set(METHODS) and set(paper.SARKAR) < set(METHODS)
    for table in (paper.REDUCTION, paper.SARKAR):
        assert all(list(row) == list(paper.GRAPHS) for row in table.values())
    assert paper.REDUCTION["horopca"]["CS Ph.D."] == ((0.16, 0.02), (36.79, 0.70))
    assert paper.SARKAR["horopca"]["phylo tree"].distortion.mean == 0.01


def test_everything_is_written_from_the_cells(invented, tmp_path):
    outcome = reproduce(["all"], out=tmp_path / "out", jobs=1)
    assert outcome.computed == len(invented) == len(set(invented)) and outcome.kept == 0 and not outcome.gaps
    page = outcome.page.read_text()
    assert "{" not in page, "every picture has its link"
    for experiment in EXPERIMENTS.values():
        assert f"## {experiment.title}\n" in page
        record = json.loads((tmp_path / "out" / experiment.name / "results.json").read_text())
        assert record["versions"]["horopca"] and record["command"].startswith("horopca reproduce all")
        assert len(record["cells"]) == len(experiment.cells(Size()))
        assert (tmp_path / "out" / experiment.name / "table.md").exists()
    assert [claim for claim in outcome.claims if "deviation" in claim.text]
    assert any(claim.holds for claim in outcome.claims) and any(not claim.holds for claim in outcome.claims)
    assert page.count("✗ **not reached:**") == sum(not claim.holds for claim in outcome.claims)


def test_quick_says_what_it_leaves_out(invented, tmp_path):
    outcome = reproduce(["all"], out=tmp_path / "out", quick=True, jobs=1)
    assert outcome.left_out["dimensions"] and outcome.left_out["dimensions"] in outcome.page.read_text()
    assert not [claim for claim in outcome.claims if "deviation" in claim.text], "one run has none"


def test_a_finished_cell_is_never_computed_again(invented, tmp_path):
    first = reproduce(["sarkar"], out=tmp_path / "out", quick=True, jobs=1)
    before = cells_in(tmp_path / "out")
    again = reproduce(["sarkar"], out=tmp_path / "out", quick=True, jobs=1)
    assert (again.computed, again.kept) == (0, first.computed) and len(invented) == first.computed
    more = reproduce(["sarkar"], out=tmp_path / "out", runs=2, jobs=1)
    assert more.kept == first.computed and len(set(invented)) == len(invented)
    assert before.items() <= cells_in(tmp_path / "out").items()


@pytest.mark.parametrize("after", [0, 1, 17, 38])
def test_an_interruption_anywhere_changes_nothing(invented, tmp_path, after):
    class Stop(Watch):
        def finished(self, cell, gap):
            if len(invented) > after:
                raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        reproduce(["sarkar", "wordnet", "histogram"], out=tmp_path / "cut", quick=True, jobs=1, watch=Stop(), command="x")
    assert len(cells_in(tmp_path / "cut")) == after + 1
    reproduce(["sarkar", "wordnet", "histogram"], out=tmp_path / "cut", quick=True, jobs=1, command="x")
    assert len(set(invented)) == len(invented)
    reproduce(["sarkar", "wordnet", "histogram"], out=tmp_path / "whole", quick=True, jobs=1, command="x")
    report = Path("report") / "reproduction.md"
    assert (tmp_path / "cut" / report).read_bytes() == (tmp_path / "whole" / report).read_bytes()
    assert cells_in(tmp_path / "cut") == cells_in(tmp_path / "whole")


def test_a_damaged_cell_is_computed_again(invented, tmp_path):
    reproduce(["histogram"], out=tmp_path / "out", jobs=1)
    (path,) = (tmp_path / "out" / "histogram" / "cells").iterdir()
    path.write_text(path.read_text()[:40])
    assert reproduce(["histogram"], out=tmp_path / "out", jobs=1).computed == 1


# ---------------------------------------------------------------- versions


@pytest.mark.parametrize(("name", "value"), [("horopca", "0.0.1"), ("code", "0123456789ab"), ("numpy", "1.0")])
def test_results_of_another_version_are_refused(invented, tmp_path, name, value):
    reproduce(["histogram"], out=tmp_path / "out", jobs=1)
    manifest = tmp_path / "out" / "manifest.json"
    found = json.loads(manifest.read_text())
    found["versions"][name] = value
    manifest.write_text(json.dumps(found))
    with pytest.raises(ValueError, match=rf"another version \({name} {value}, now .*never mixed.*--out, or remove"):
        reproduce(["histogram"], out=tmp_path / "out", jobs=1)


def test_a_folder_with_other_things_is_left_alone(tmp_path):
    (tmp_path / "thesis.tex").write_text("mine")
    with pytest.raises(ValueError, match="no folder of a reproduction, and not empty"):
        reproduce(["histogram"], out=tmp_path, jobs=1)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_a_damaged_manifest_is_said(tmp_path):
    (tmp_path / "manifest.json").write_text("{")
    with pytest.raises(ValueError, match="damaged"):
        reproduce(["histogram"], out=tmp_path, jobs=1)


def test_the_digest_follows_the_code_that_computes(monkeypatch, tmp_path):
    package = tmp_path / "horopca"
    silent = ("cli.py", "plots/disk.py", "reproduction/report.py", "__pycache__/search.pyc")
    telling = ("search.py", "reproduction/cells/defects.py", "data/points.npz")
    for name in silent + telling:
        (package / name).parent.mkdir(parents=True, exist_ok=True)
        (package / name).write_text("")
    monkeypatch.setattr(store.horopca, "__file__", str(package / "__init__.py"))
    found = [store.code_digest()]
    for name in silent + telling:
        (package / name).write_text("changed = True")
        found.append(store.code_digest())
    assert len(set(found[: 1 + len(silent)])) == 1 and len(set(found)) == 1 + len(telling)


# ---------------------------------------------------------------- bad input


def run(*arguments: object):
    return CliRunner().invoke(terminal.reproduce, [*map(str, arguments)])


def test_an_unknown_name_gets_a_suggestion(tmp_path):
    result = run("reducton", "--out", tmp_path / "out")
    assert result.exit_code == 2 and not (tmp_path / "out").exists()
    text = " ".join(re.sub(r"[^\w' ?]", " ", result.output).split())
    assert "no experiment 'reducton'" in text and "Did you mean 'reduction'?" in text
    with pytest.raises(ValueError, match="There are reduction, whitening"):
        reproduce(["zzz"], out=tmp_path / "out")


@pytest.mark.parametrize("options", [{"runs": 0}, {"jobs": 0}])
def test_counts_are_checked(tmp_path, options):
    with pytest.raises(ValueError, match=f"{next(iter(options))} must be"):
        reproduce(["histogram"], out=tmp_path / "out", **options)


def test_missing_data_is_named_and_the_rest_goes_on(no_data, tmp_path):
    result = run("sarkar", "histogram", "--quick", "--jobs", 1, "--out", tmp_path / "out")
    assert result.exit_code == 1
    assert result.stderr.count("graphs/phylo-tree.edges could not be fetched") == 1, "each file once, not once a cell"
    assert "same command" in result.stderr and "failed" not in result.stderr
    page = (tmp_path / "out" / "report" / "reproduction.md").read_text()
    assert "What is missing" in page and "graphs/ca-CSphd.edges" in page
    assert "Average distortion: horospherical" in page, "the rest is there"


def test_data_that_comes_later_fills_the_gaps(no_data, generated, monkeypatch, tmp_path):
    assert len(reproduce(["sarkar"], out=tmp_path / "out", quick=True, jobs=1).gaps) == 32
    forget()
    known = registry_of(generated)
    monkeypatch.setenv("HOROPCA_DATA", str(generated))
    monkeypatch.setattr(fetching, "registry", lambda: known)
    monkeypatch.setattr("reproduction.run.compute", invent)
    outcome = reproduce(["sarkar"], out=tmp_path / "out", quick=True, jobs=1)
    assert not outcome.gaps and "What is missing" not in outcome.page.read_text()


def test_a_computation_that_fails_is_a_gap_and_not_the_end(invented, monkeypatch, tmp_path):
    fails = lambda cell: Gap(cell, "too hard") if "bsa" in cell.name else invent(cell)
    monkeypatch.setattr("reproduction.run.compute", fails)
    outcome = reproduce(["sarkar"], out=tmp_path / "out", quick=True, jobs=1)
    assert len(outcome.gaps) == 4 and "sarkar: too hard" in outcome.page.read_text()


def test_pages_without_any_result(invented, monkeypatch, tmp_path):
    monkeypatch.setattr("reproduction.run.compute", lambda cell: Gap(cell, "nothing is here"))
    outcome = reproduce(["all"], out=tmp_path / "out", jobs=1)
    assert not outcome.claims and not cells_in(tmp_path / "out")
    page = outcome.page.read_text()
    assert "{" not in page and page.count("nothing is here") == 1


def test_failures_inside_a_cell_become_sentences():
    wrong = Cell("histogram", "a", "histogram.project_on_lines", {"seed": -1})
    found = compute(wrong)
    assert isinstance(found, Gap) and found.why.startswith("histogram, a failed: ValueError: ")


def test_a_full_disk_is_a_sentence_and_loses_nothing(invented, monkeypatch, tmp_path):
    write, written = store.Store.write, []

    def full(self, path, content):
        if len(written) == 12:
            raise OSError(errno.ENOSPC, "No space left on device", str(path))
        written.append(path)
        write(self, path, content)

    monkeypatch.setattr(store.Store, "write", full)
    result = run("sarkar", "--quick", "--jobs", 1, "--out", tmp_path / "out")
    assert (
        result.exit_code == 1 and "No space left on device" in result.stderr and "give the same command again" in result.stderr
    )
    assert "Traceback" not in result.output
    kept = cells_in(tmp_path / "out")
    assert len(kept) == 11
    monkeypatch.setattr(store.Store, "write", write)
    assert run("sarkar", "--quick", "--jobs", 1, "--out", tmp_path / "out").exit_code == 0
    assert kept.items() <= cells_in(tmp_path / "out").items() and len(invented) == len(set(invented)) + 1


def test_help_has_examples():
    text = run("--help").output
    assert "python -m reproduction all --quick" in text and "illustrations" in text


# ---------------------------------------------------------------- the whole, for real

DRIVER = """
import hashlib, os, sys
from pathlib import Path
from horopca.datasets import fetching

folder = Path(os.environ["HOROPCA_DATA"])
files = [path for path in folder.rglob("*.*") if path.is_file()]
known = {path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}
fetching.registry = lambda: known

if __name__ == "__main__":
    from reproduction.terminal import reproduce
    reproduce()
"""


def start(tmp_path: Path, generated: Path, *arguments: object) -> subprocess.Popen:
    """The command in a process (group) of its own, as a terminal would start it."""
    (tmp_path / "driver.py").write_text(DRIVER)
    environment = {**os.environ, "HOROPCA_DATA": str(generated), "PYTHONPATH": str(Path(__file__).parents[2])}
    command = [sys.executable, str(tmp_path / "driver.py"), *map(str, arguments)]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen(command, env=environment, start_new_session=True, **pipes)


@pytest.mark.skipif(os.name == "nt", reason="sends an interrupt to a process group")
def test_from_start_to_interruption_to_resume(generated, small_data, tmp_path):
    out = tmp_path / "out"
    process = start(tmp_path, generated, *SMALL, "--quick", "--jobs", 2, "--out", out)
    deadline = time.monotonic() + 240
    while len(cells_in(out)) < 4 and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGINT)
    _, said = process.communicate(timeout=120)
    assert process.returncode == 130, said
    assert "Interrupted." in said and "the same command goes on" in said and "Traceback" not in said
    kept = cells_in(out)
    total = sum(len(EXPERIMENTS[name].cells(Size(True))) for name in SMALL)
    assert 4 <= len(kept) < total
    assert not [path for path in out.rglob(".*")], "no half-written file is left"
    times = {path: (out / path).stat().st_mtime_ns for path in kept}

    resumed = start(tmp_path, generated, *SMALL, "--quick", "--jobs", 2, "--out", out)
    printed, said = resumed.communicate(timeout=400)
    assert resumed.returncode == 0, said
    assert f"{total - len(kept)} parts computed, {len(kept)} kept from before" in printed
    assert "Left out by --quick" in printed
    assert {path: (out / path).stat().st_mtime_ns for path in kept} == times, "no finished cell is touched"

    whole = reproduce(
        SMALL, out=tmp_path / "whole", quick=True, jobs=1, command=f"horopca reproduce embedding histogram --quick --out {out}"
    )
    assert whole.page.read_bytes() == (out / "report" / "reproduction.md").read_bytes()
    for name in SMALL:
        for suffix in (".json", ".md"):
            assert (out / name / "results.json").exists() and (
                out / name / f"{'results' if suffix == '.json' else 'table'}{suffix}"
            ).exists()
    assert (out / "histogram" / "histogram.svg").stat().st_size > 1000
    assert (out / "report" / "images" / "reproduction" / "histogram.png").read_bytes().startswith(b"\x89PNG")


# ---------------------------------------------------------------- what is computed


def test_the_search_for_signs_knows_its_chances(small_data, monkeypatch):
    """A figure made by the slip itself is met; and how often a random plane would be is said beside it."""
    monkeypatch.setattr(defects, "CONTROLS", 3)
    answer = compute(Cell("reduction", "x", "defects.rows_for_columns", {"graph": "phylo tree", "method": "tpca"}))
    assert isinstance(answer, Answer) and 0 <= answer.result["by_chance"] <= 1
    figures = (paper.Figure(round(answer.result["distortion"], 2)), paper.Figure(round(answer.result["frechet_variance"], 2)))
    monkeypatch.setitem(paper.REDUCTION["tpca"], "phylo tree", paper.Row(*figures))
    again = compute(Cell("reduction", "x", "defects.rows_for_columns", {"graph": "phylo tree", "method": "tpca"}))
    assert isinstance(again, Answer) and again.result["met"] is True


def test_the_slips_of_bsa_and_pga_are_the_methods_where_nothing_slips(small_data):
    """Without the clip, midpoints of mirror images are geodesic projections."""
    x = 0.4 * make_hierarchy(2, 3, 5, random_state=0).points
    Q = np.linalg.qr(np.random.default_rng(0).standard_normal((5, 2)))[0].T
    image = to_hyperboloid(defects._midpoints(x, Q))
    nearest = geodesic_projection(to_hyperboloid(x), geodesic_hull(origin(5), Q))
    np.testing.assert_allclose(image, nearest, atol=1e-12)


def test_distances_of_the_ball_are_right_until_they_saturate():
    z = make_hierarchy(2, 3, 4, random_state=0).points
    x = to_hyperboloid(z)
    np.testing.assert_allclose(ball.ball_distances(z), distance(x[:, None], x[None]), atol=1e-6)
    far = np.array([[1 - 1e-16, 0.0], [-1 + 1e-16, 0.0]])
    assert ball.ball_distances(far)[0, 1] == pytest.approx(2 * np.arctanh(ball.RIM)), "true distance: 73"


def test_an_inversion_exchanges_point_and_origin():
    m, v = np.array([[0.3, -0.5]]), np.array([[0.6, 0.2]])
    np.testing.assert_allclose(ball.inverted(m, m), 0, atol=1e-15)
    np.testing.assert_allclose(ball.inverted(0 * m, m), m, atol=1e-15)
    np.testing.assert_allclose(ball.inverted(ball.inverted(v, m), m), v, atol=1e-14)


def test_sarkar_in_the_ball_has_edges_of_the_scale(small_data):
    graph = data.graph("balanced tree")
    z = ball.sarkar_in_ball(graph, 10, scale=2.0)
    assert (np.linalg.norm(z, axis=1) < 1).all()
    x = to_hyperboloid(z)
    u, v = graph.adjacency.nonzero()
    np.testing.assert_allclose(distance(x[u], x[v]), 2.0, rtol=1e-6)


def test_histogram_by_hand():
    found = histogram_cells.project_on_lines(0)
    rng = np.random.default_rng(0)
    x = to_hyperboloid(2.0 * rng.standard_normal((1000, 2)), "tangent")
    angle = rng.uniform(0, 2 * np.pi, 100)[0]
    b = busemann(x, np.array([np.cos(angle), np.sin(angle)]))
    i, j = np.triu_indices(1000, 1)
    assert found["horospherical"][0] == pytest.approx(np.mean(np.abs(np.abs(b[i] - b[j]) / distance(x[i], x[j]) - 1)))
    assert len(found["geodesic"]) == 100 and np.mean(found["horospherical"]) < np.mean(found["geodesic"])


def test_results_are_found_by_their_arguments():
    cells = [Cell("e", str(k), "m.f", {"a": k % 2, "run": k}) for k in range(4)]
    results = Results([(cell, {"v": cell.arguments["run"]}) for cell in cells])
    assert results.values("v", "f", a=1).tolist() == [1, 3] and results.first("f", a=2) is None
    assert spread(results.values("v", "f", a=0), 1) == "1.0 ± 1.0"


def test_names_come_in_the_order_of_the_page():
    assert command.check_names(["wordnet", "reduction"]) == ["reduction", "wordnet"]
    assert command.check_names(["all"]) == command.check_names([]) == list(EXPERIMENTS)
