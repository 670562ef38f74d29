"""``horopca reduce`` on a file larger than memory, and with a saved fit."""

import errno
import os
import signal
from pathlib import Path
from textwrap import dedent

import numpy as np
import pytest

from blocks import BLOCK, POINTS, D, N
from forks import KILL
from horopca import EuclideanPCA, HyperbolicMDS, TangentPCA, TangentWhitener
from horopca.io import load, load_fitted, save, save_fitted
from horopca.io.streaming import PARTIAL

from .running import done, files, refused, run, said, summary

TPCA = ("--method", "tpca")
MODULES = "horopca.cli.reduce, horopca.explorer, matplotlib.figure"  # imported once, not in every fork
SETUP = f"import {MODULES}; from horopca.cli import main; arrays.BLOCK_BYTES = {BLOCK * D * 8}"
pytestmark = pytest.mark.usefixtures("small_blocks")


@pytest.fixture
def points(tmp_path):
    return save(tmp_path / "points.npy", POINTS)


def test_a_large_file_gives_what_a_small_one_gives(folder, points, monkeypatch):
    large = summary("reduce", points, *TPCA, "-o", "large.npy")
    monkeypatch.setattr("horopca.io.streaming.LARGE", 1 << 30)
    small = summary("reduce", points, *TPCA, "-o", "small.npy")
    assert np.allclose(np.load("large.npy"), np.load("small.npy"), rtol=0, atol=1e-12)
    assert large["resumed_at"] == 0 and small["resumed_at"] is None and large.keys() == small.keys()
    for key in small.keys() - {"seconds", "output", "resumed_at"}:
        assert large[key] == pytest.approx(small[key]), key


def test_the_model_of_the_input_and_of_the_output_is_that_of_the_side_file(folder):
    save("points.npy", POINTS / np.sqrt(2), model="klein", curvature=-2.0)
    found = summary("reduce", "points.npy", "-o", "out.npy", *TPCA)
    assert found["resumed_at"] == 0 and (found["model"], found["curvature"]) == ("klein", -2.0)
    assert (load("out.npy").model, load("out.npy").curvature) == ("klein", -2.0)
    refused(run("reduce", "points.npy", "-o", "b.npy", "--model", "lorentz"), "contradicts the file")
    save("points.npy", POINTS, names=[f"p{i}" for i in range(N)], force=True)
    assert summary("reduce", "points.npy", "-o", "b.npy", *TPCA)["resumed_at"] is None
    assert load("b.npy").row_names[:2] == ["p0", "p1"]


def test_an_interrupted_command_resumes_and_says_so_on_stderr(folder, points, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr("horopca.TangentPCA.transform", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        result = run("reduce", points, *TPCA, "-o", "out.npy")
    kept = "The fit and 0 of 1,000 rows are kept in out.npy.partial and out.npy.partial.npz; the same command resumes there."
    assert result.exit_code == 130 and said(result) == f"Interrupted. {kept}"
    assert files(folder) == sorted(["points.npy", *(f"out.npy{end}" for end in PARTIAL)])
    assert "Resuming at row 0 of 1,000 with the fit in" in done("reduce", points, *TPCA, "-o", "out.npy")
    assert np.array_equal(np.load("out.npy"), TangentPCA(2).fit(POINTS).transform(POINTS))


@pytest.mark.parametrize("large", [1000, 1 << 30])
def test_a_command_that_is_killed_while_it_publishes_is_completed_without_force(tmp_path, points, runner, monkeypatch, large):
    """At every moment one output may have its name and another not. The same command then writes them all."""
    monkeypatch.setattr("horopca.io.streaming.LARGE", large)
    if large > 1000:
        save(points, POINTS[:40], force=True)
    folder = tmp_path / "results"
    folder.mkdir()
    command = f"reduce -q {points} -o {folder}/out.npy --save-fit {folder}/fit.npz --method tpca"
    complete = ["fit.npz", "out.npy", "out.npy.json"]
    assert run(*command.split()).exit_code == 0 and files(folder) == complete
    expected = {name: (folder / name).read_bytes() for name in complete}
    code = f"{KILL}\nstreaming.LARGE = int(large)\nmain(command.split(), standalone_mode=False)"
    for calls in range(60):
        for file in folder.iterdir():
            file.unlink()
        status, message = runner.run(code, call="link", calls=calls, command=command, large=large)
        if status == 0:
            break
        found = {name: (folder / name).read_bytes() for name in complete if (folder / name).exists()}
        again = run(*command.split())
        if again.exit_code:
            assert "exists already" in said(again) and found == expected  # only the removal of temporary names is missing
        else:
            assert {name: (folder / name).read_bytes() for name in complete} == expected
    assert status == 0 and calls > 1, message


@pytest.mark.parametrize("fails", ["out.npy", "fit.npz"])
@pytest.mark.parametrize("force", [False, True])
def test_an_error_while_outputs_are_published_leaves_what_was_there(tmp_path, points, out, monkeypatch, fails, force):
    fit, command = tmp_path / "fit.npz", ["reduce", points, "-o", out, "--save-fit", tmp_path / "fit.npz", "--method", "tpca"]
    if force:
        fit.write_text("precious")
        out.write_text("precious")
        command.append("--force")
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    failures = [OSError(errno.EIO, os.strerror(errno.EIO), "source", None, "target")]

    def failing(real):
        def call(source, target, **options):
            if Path(target).name == fails and failures:
                raise failures.pop()
            return real(source, target, **options)

        return call

    with monkeypatch.context() as patch:
        for name in ("link", "replace", "rename"):
            patch.setattr(os, name, failing(getattr(os, name)))
        failures *= 1 if (tmp_path / fails).exists() else 2  # a new file is renamed if it cannot be linked
        failed = run(*command)
    refused(failed, f"{tmp_path / fails}: {os.strerror(errno.EIO)}. The fit and 1,000 of 1,000 rows are kept")
    assert ".fit" not in said(failed)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir() if ".partial" not in path.name} == before
    assert summary(*command)["resumed_at"] == N and files(tmp_path) == ["fit.npz", "out.npy", "out.npy.json", "points.npy"]
    assert np.array_equal(np.load(out), load_fitted(fit).transform(POINTS))


def test_terminated_commands_leave_no_temporary_files(tmp_path, points, runner):
    code = """
    from matplotlib.figure import Figure
    def hang(figure, path, **_):
        path.write_text("half")
        print("here", flush=True)
        time.sleep(600)
    Figure.savefig = hang
    main(command.split(), standalone_mode=False)
    """
    command = f"reduce -q {points} -o {tmp_path}/out.npz --plot {tmp_path}/plot.svg --method tpca"
    child = runner.start(dedent(code), command=command)
    assert runner.process.stdout.readline() == "here\n"
    os.kill(child, signal.SIGTERM)
    assert runner.end()[0] == 143 and files(tmp_path) == ["points.npy"]


def test_a_large_file_without_output_is_measured_and_drawn(folder, points):
    assert "distortion" in done("reduce", points, "--plot", "disk.png", *TPCA)
    assert "Nothing was written" in done("reduce", points, *TPCA)
    assert files(folder) == ["disk.png", "points.npy"]


@pytest.mark.parametrize("large", [1000, 1 << 30])
def test_a_fit_is_saved_and_applied(folder, points, monkeypatch, large):
    monkeypatch.setattr("horopca.io.streaming.LARGE", large)
    first = summary("reduce", points, *TPCA, "-o", "out.npy", "--save-fit", "fit.npz", "--model", "klein")
    assert first["save_fit"] == "fit.npz" and load_fitted("fit.npz").model == "klein"
    more = ("reduce", save("more.npy", POINTS[::-1]), "--from-fit", "fit.npz")
    found = summary(*more, "-o", "more-out.npy")
    assert found["model"] == "klein" and found["variance"] == first["variance"] and found["from_fit"] == "fit.npz"
    assert np.allclose(np.load("more-out.npy")[::-1], np.load("out.npy"), rtol=0, atol=1e-12)


def test_points_and_fits_that_do_not_suit_each_other_are_errors(folder, points):
    for kind in (TangentPCA(3), TangentWhitener()):
        save_fitted(kind.fit(POINTS), f"{type(kind).__name__}.npz")
    fit = "TangentPCA.npz"
    refused(run("reduce", points, "--save-fit", fit), "exists already")
    refused(run("reduce", points, "--from-fit", fit, "--plot", "a.png"), "needs -k 2, but -k is 3", code=2)
    refused(run("reduce", save("narrow.npy", POINTS[:, :4]), "--from-fit", fit), "expecting 6 features")
    refused(run("reduce", points, "--from-fit", save("x.npz", POINTS)), "holds no fitted estimator")
    refused(run("reduce", points, "--from-fit", "TangentWhitener.npz"), "must hold a reduction of points, but holds a Tangent")


@pytest.mark.parametrize("method", [EuclideanPCA, HyperbolicMDS])
def test_a_fit_of_another_method_is_applied_and_one_point_is_enough(folder, method):
    fit = method(2).fit(POINTS)
    done("reduce", save("one.npy", POINTS[:1]), "--from-fit", save_fitted(fit, "fit.npz"), "-o", "out.npy")
    assert np.array_equal(np.load("out.npy"), fit.transform(POINTS[:1]))
