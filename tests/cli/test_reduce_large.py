"""``horopca reduce`` on a file larger than memory, and with a saved fit."""

import errno
import json
import os
import signal
from pathlib import Path
from textwrap import dedent

import numpy as np
import pytest
from matplotlib.figure import Figure

from blocks import BLOCK, POINTS, D, N
from forks import Runner
from horopca import EuclideanPCA, HyperbolicMDS, TangentPCA, TangentWhitener
from horopca.io import load, load_fitted, save, save_fitted
from horopca.io.streaming import PARTIAL

from .running import refused, run, said

TPCA = ("--method", "tpca")
pytestmark = pytest.mark.usefixtures("small_blocks")


@pytest.fixture
def points(tmp_path):
    return save(tmp_path / "points.npy", POINTS)


def files(folder):
    return sorted(path.name for path in folder.iterdir())


def full(*_, **__):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "somewhere")


def test_a_large_file_gives_what_a_small_one_gives(tmp_path, points, out, monkeypatch):
    large = json.loads(run("reduce", points, *TPCA, "-o", out, "--json").stdout)
    monkeypatch.setattr("horopca.io.streaming.LARGE", 1 << 30)
    small = json.loads(run("reduce", points, *TPCA, "-o", tmp_path / "small.npy", "--json").stdout)
    assert np.allclose(np.load(out), np.load(tmp_path / "small.npy"), rtol=0, atol=1e-12)
    assert large["resumed_at"] == 0 and small["resumed_at"] is None and large.keys() == small.keys()
    for key in small.keys() - {"seconds", "output", "resumed_at"}:
        assert large[key] == pytest.approx(small[key]), key


def test_the_model_of_the_input_and_of_the_output_is_that_of_the_side_file(tmp_path, out):
    points = save(tmp_path / "points.npy", POINTS / np.sqrt(2), model="klein", curvature=-2.0)
    found = json.loads(run("reduce", points, "-o", out, "--method", "tpca", "--json").stdout)
    assert found["resumed_at"] == 0 and (found["model"], found["curvature"]) == ("klein", -2.0)
    assert (load(out).model, load(out).curvature) == ("klein", -2.0)
    refused(run("reduce", points, "-o", tmp_path / "b.npy", "--model", "lorentz"), "contradicts the file")
    save(points, POINTS, names=[f"p{i}" for i in range(N)], force=True)
    assert (
        json.loads(run("reduce", points, "-o", tmp_path / "b.npy", "--method", "tpca", "--json").stdout)["resumed_at"] is None
    )
    assert load(tmp_path / "b.npy").row_names[:2] == ["p0", "p1"]


def test_an_interrupted_command_resumes_and_says_so_on_stderr(points, out, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr("horopca.TangentPCA.transform", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        result = run("reduce", points, *TPCA, "-o", out)
    assert result.exit_code == 130 and not out.exists()
    kept = f"The fit and 0 of 1,000 rows are kept in {out}.partial and out.npy.partial.npz; the same command resumes there."
    assert said(result) == f"Interrupted. {kept}"
    assert sorted(path.name for path in out.parent.glob("out*")) == sorted(f"out.npy{end}" for end in PARTIAL)
    result = run("reduce", points, *TPCA, "-o", out, "--json")
    assert json.loads(result.stdout)["resumed_at"] == 0 and said(result).startswith(
        "Resuming at row 0 of 1,000 with the fit in"
    )
    assert np.array_equal(np.load(out), TangentPCA(2).fit(POINTS).transform(POINTS))


def test_an_error_after_the_last_row_publishes_nothing(tmp_path, points, out, monkeypatch):
    """No output has its name then, and the same command resumes after the last row."""
    plot, fit = tmp_path / "plot.svg", tmp_path / "fit.npz"
    command = ("reduce", points, "-o", out, "--plot", plot, "--save-fit", fit, "--method", "tpca", "--json")

    with monkeypatch.context() as patch:
        patch.setattr(Figure, "savefig", full)
        failed = run(*command)
    refused(failed, "No space left on device. The fit and 1,000 of 1,000 rows are kept in")
    assert sorted(files(tmp_path)) == sorted(["points.npy", "out.npy.partial.json", *(f"out.npy{end}" for end in PARTIAL)])
    assert json.loads(run(*command).stdout)["resumed_at"] == N
    assert files(tmp_path) == ["fit.npz", "out.npy", "out.npy.json", "plot.svg", "points.npy"]
    assert np.array_equal(np.load(out), load_fitted(fit).transform(POINTS))


@pytest.fixture(scope="module")
def runner():
    if os.name == "nt":
        pytest.skip("needs fork and signals")
    modules = "horopca.cli.reduce, horopca.explorer, matplotlib.figure"  # imported once, not in every fork
    runner = Runner(setup=f"import {modules}; from horopca.cli import main; arrays.BLOCK_BYTES = {BLOCK * D * 8}")
    yield runner
    runner.close()


KILLED = """
streaming.LARGE = int(large)
real, count = os.link, int(calls)
def deadly(*arguments, **options):
    global count
    count -= 1
    if count < 0:
        os.kill(os.getpid(), signal.SIGKILL)
    return real(*arguments, **options)
os.link = deadly
main(command.split(), standalone_mode=False)
"""


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
    for calls in range(60):
        for file in folder.iterdir():
            file.unlink()
        status, message = runner.run(KILLED, calls=calls, command=command, large=large)
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
    assert run(*command).exit_code == 0 and files(tmp_path) == ["fit.npz", "out.npy", "out.npy.json", "points.npy"]


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


def test_a_large_file_without_output_is_measured_and_drawn(tmp_path, points):
    result = run("reduce", points, "--plot", tmp_path / "disk.png", "--method", "tpca")
    assert result.exit_code == 0 and "distortion" in result.stdout, result.output
    assert "Nothing was written" in run("reduce", points, "--method", "tpca").stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["disk.png", "points.npy"]


@pytest.mark.parametrize("large", [False, True])
def test_a_fit_is_saved_and_applied(tmp_path, points, out, monkeypatch, large):
    fit = tmp_path / "fit.npz"
    if not large:
        monkeypatch.setattr("horopca.io.streaming.LARGE", 1 << 30)
    first = json.loads(run("reduce", points, *TPCA, "-o", out, "--save-fit", fit, "--model", "klein", "--json").stdout)
    assert first["save_fit"] == str(fit) and load_fitted(fit).model == "klein"
    more = save(tmp_path / "more.npy", POINTS[::-1])
    result = run("reduce", more, "-o", tmp_path / "more-out.npy", "--from-fit", fit, "--json")
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert found["model"] == "klein" and found["variance"] == first["variance"] and found["from_fit"] == str(fit)
    assert "of the points of the fit" in run("reduce", more, "--from-fit", fit).stdout
    assert np.allclose(np.load(tmp_path / "more-out.npy")[::-1], np.load(out), rtol=0, atol=1e-12)


def test_points_and_fits_that_do_not_suit_each_other_are_errors(tmp_path, points):
    fit, whitener = TangentPCA(3).fit(POINTS), TangentWhitener().fit(POINTS)
    fit, whitener = save_fitted(fit, tmp_path / "fit.npz"), save_fitted(whitener, tmp_path / "whitener.npz")
    refused(run("reduce", points, "--save-fit", fit), "exists already")
    refused(run("reduce", points, "--from-fit", fit, "--plot", tmp_path / "a.png"), "needs -k 2, but -k is 3", code=2)
    narrow = save(tmp_path / "narrow.npy", POINTS[:, :4])
    refused(run("reduce", narrow, "--from-fit", fit, "-o", tmp_path / "out.npy"), "expecting 6 features")
    refused(run("reduce", points, "--from-fit", save(tmp_path / "x.npz", POINTS)), "holds no fitted estimator")
    refused(run("reduce", points, "--from-fit", whitener), "must hold a reduction of points, but holds a TangentWhitener")


@pytest.mark.parametrize("method", [EuclideanPCA, HyperbolicMDS])
def test_a_fit_of_another_method_is_applied_and_one_point_is_enough(tmp_path, method):
    one, fit = save(tmp_path / "one.npy", POINTS[:1]), method(2).fit(POINTS)
    saved = save_fitted(fit, tmp_path / "fit.npz")
    result = run("reduce", one, "--from-fit", saved, "-o", tmp_path / "out.npy")
    assert result.exit_code == 0 and np.array_equal(np.load(tmp_path / "out.npy"), fit.transform(POINTS[:1]))
