"""``horopca reduce`` on a file larger than memory, and with a fit that was kept."""

import errno
import json
import os

import numpy as np
import pytest

from blocks import BLOCK, POINTS, N, begun
from horopca import HoroPCA
from horopca.io import load, load_fitted, partial, save, save_fitted, streaming

from .running import refused, run

pytestmark = pytest.mark.usefixtures("small_blocks")


@pytest.fixture
def points(tmp_path):
    return save(tmp_path / "points.npy", POINTS)


def test_a_large_file_gives_what_a_small_one_gives(tmp_path, points, out, monkeypatch):
    large = json.loads(run("reduce", points, "-o", out, "--json").stdout)
    monkeypatch.setattr("horopca.io.streaming.LARGE", 1 << 30)
    small = json.loads(run("reduce", points, "-o", tmp_path / "small.npy", "--json").stdout)
    assert np.allclose(np.load(out), np.load(tmp_path / "small.npy"), rtol=0, atol=1e-12)
    assert large["resumed_at"] == 0 and small["resumed_at"] is None and large.keys() == small.keys()
    near = {"n_neighbors", "neighbours_kept", "trustworthiness", "continuity"}
    assert {large[key] for key in near} == {None} and None not in {small[key] for key in near}
    for key in small.keys() - near - {"distortion", "distortion_error", "seconds", "output", "resumed_at"}:
        assert large[key] == small[key], key
    assert small["distortion_error"] == 0 < large["distortion_error"] < 0.05
    assert abs(large["distortion"] - small["distortion"]) < 4 * large["distortion_error"]


def test_the_command_resumes_and_says_so_on_stderr(points, out):
    begun(points, out, HoroPCA(2, random_state=0))
    result = run("reduce", points, "-o", out, "--json")
    assert json.loads(result.stdout)["resumed_at"] == 3 * BLOCK
    assert " ".join(result.stderr.split()) == f"Resuming at row 384 of 1,000; the fit is taken from {out}.partial.npz."
    assert np.array_equal(np.load(out), HoroPCA(2, random_state=0).fit(POINTS).transform(POINTS))
    begun(points, out.with_name("two.npy"), HoroPCA(2, random_state=0))
    restarted = run("reduce", points, "-o", out.with_name("two.npy"), "--restart", "--json")
    assert json.loads(restarted.stdout)["resumed_at"] == 0 and restarted.stderr == ""


def test_control_c_says_how_to_go_on(points, out, monkeypatch):
    monkeypatch.setattr("horopca.HoroPCA.transform", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    result = run("reduce", points, "-o", out)
    assert result.exit_code == 130 and not out.exists()
    assert f"Interrupted: what is done is kept in {out}.partial, and the same command resumes there." in result.stderr


def test_failures_are_sentences(points, out, tmp_path, monkeypatch):
    refused(run("reduce", points, "-o", out, "--key", "X"), "is not one")
    (tmp_path / "there.npy").write_text("precious")
    refused(run("reduce", points, "-o", tmp_path / "there.npy"), "exists already")
    holder = partial._locked(tmp_path / "out.npy.partial")
    refused(run("reduce", points, "-o", out), "is being written by another process")
    holder.close()
    calls = iter(range(9))

    def full(file):
        if next(calls):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(streaming, "to_disk", full)
    refused(run("reduce", points, "-o", out), "out.npy.partial: No space left on device; 128 rows are kept")


@pytest.mark.parametrize("fails", ["_summary", "save_fitted", "draw_plane", "_in_words"])
def test_all_of_a_large_job_or_nothing(tmp_path, points, out, monkeypatch, fails):
    """Whatever fails behind the last row, no output has its name; the same command then goes on from there."""
    plot, fit = tmp_path / "plot.svg", tmp_path / "fit.npz"
    command = ("reduce", points, "-o", out, "--plot", plot, "--save-fit", fit, "--json")

    def full(*_, **__):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "somewhere")

    with monkeypatch.context() as patch:
        patch.setattr(f"horopca.cli.reduce.{fails}", full)
        failed = run(*command)
    refused(failed, "No space left on device. What is done is kept in")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.npy.partial", "out.npy.partial.npz", "points.npy"]
    assert json.loads(run(*command).stdout)["resumed_at"] == N
    assert sorted(path.name for path in tmp_path.iterdir()) == ["fit.npz", "out.npy", "plot.svg", "points.npy"]
    assert np.array_equal(np.load(out), load_fitted(fit).transform(POINTS))


def test_an_output_that_somebody_writes_meanwhile_keeps_all_others_away(tmp_path, points, out, monkeypatch):
    plot, fit = tmp_path / "plot.svg", tmp_path / "fit.npz"

    def meanwhile(estimator, path):
        plot.write_text("precious")
        return save_fitted(estimator, path)

    monkeypatch.setattr("horopca.cli.reduce.save_fitted", meanwhile)
    refused(run("reduce", points, "-o", out, "--plot", plot, "--save-fit", fit), "plot.svg exists already")
    assert plot.read_text() == "precious" and not out.exists() and not fit.exists()


def test_an_input_that_changes_at_the_last_moment_leaves_nothing(tmp_path, points, out, monkeypatch):
    fit = tmp_path / "fit.npz"

    def meanwhile(estimator, path):
        os.utime(points, ns=(0, 0))
        return save_fitted(estimator, path)

    monkeypatch.setattr("horopca.cli.reduce.save_fitted", meanwhile)
    refused(run("reduce", points, "-o", out, "--save-fit", fit), "has changed while it was reduced: nothing was written")
    assert [path.name for path in tmp_path.iterdir()] == ["points.npy"]


def test_other_outputs_and_labels_take_the_whole_file(tmp_path, points, monkeypatch):
    monkeypatch.setattr("horopca.cli.streaming.unnamed_reduction", lambda *_, **__: pytest.fail("it was streamed"))
    (tmp_path / "labels.txt").write_text("\n".join("ab"[i % 2] for i in range(N)))
    assert run("reduce", points, "-o", tmp_path / "out.npz").exit_code == 0
    assert run("reduce", points, "-o", tmp_path / "out.csv", "--labels", tmp_path / "labels.txt").exit_code == 0
    assert load(tmp_path / "out.csv").labels[:3] == ["a", "b", "a"]


def test_a_large_file_without_output_is_measured_and_drawn(tmp_path, points, monkeypatch):
    drawn = []
    monkeypatch.setattr("horopca.plots.plot_plane", lambda Y, *_, **__: drawn.append(Y))
    monkeypatch.setattr("horopca.cli.streaming.DRAWN_ROWS", 300)
    result = run("reduce", points, "--plot", tmp_path / "disk.png")
    assert result.exit_code == 0, result.output
    assert drawn[0].shape == (250, 2)
    assert "Nothing was written" in run("reduce", points).stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["disk.png", "points.npy"]


@pytest.mark.parametrize("large", [False, True])
def test_a_fit_is_kept_and_applied(tmp_path, points, out, monkeypatch, large):
    fit = tmp_path / "fit.npz"
    if not large:
        monkeypatch.setattr("horopca.io.streaming.LARGE", 1 << 30)
    first = json.loads(run("reduce", points, "-o", out, "--save-fit", fit, "--model", "klein", "--json").stdout)
    assert first["fit"] == str(fit) and load_fitted(fit).model == "klein"
    monkeypatch.setattr("horopca.HoroPCA.fit", lambda *_: pytest.fail("a fit was started"))
    more = save(tmp_path / "more.npy", POINTS[::-1])
    result = run("reduce", more, "-o", tmp_path / "more-out.npy", "--from-fit", fit, "--json")
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert found["model"] == "klein" and found["variance"] == first["variance"] and found["from_fit"] == str(fit)
    assert "of the points of the fit" in run("reduce", more, "--from-fit", fit).stdout
    assert np.allclose(np.load(tmp_path / "more-out.npy")[::-1], np.load(out), rtol=0, atol=1e-12)


def test_a_fit_that_does_not_suit_is_refused(tmp_path, points):
    fit = tmp_path / "fit.npz"
    assert run("reduce", points, "-k", 3, "--save-fit", fit).stderr == ""
    assert "exists already" in run("reduce", points, "--save-fit", fit).stderr
    for options in (("-k", 3), ("--spine", "free"), ("--model", "klein")):
        result = run("reduce", points, "--from-fit", fit, *options)
        assert result.exit_code == 2 and f"{options[0]} cannot be given with --from-fit" in " ".join(result.stderr.split())
    assert run("reduce", points, "--from-fit", fit, "--plot", tmp_path / "a.png").exit_code == 2
    narrow = save(tmp_path / "narrow.npy", POINTS[:, :4])
    assert "expecting 6 features" in run("reduce", narrow, "--from-fit", fit, "-o", tmp_path / "out.npy").stderr
    assert "holds no fitted estimator" in run("reduce", points, "--from-fit", save(tmp_path / "x.npz", POINTS)).stderr


def test_a_fit_of_another_method_is_applied_and_one_point_is_enough(tmp_path):
    from horopca import EuclideanPCA, HyperbolicMDS, TangentWhitener
    from horopca.io import save_fitted

    one, out = save(tmp_path / "one.npy", POINTS[:1]), tmp_path / "out.npy"
    for fit in (EuclideanPCA(2).fit(POINTS), HyperbolicMDS(2).fit(POINTS)):
        kept = save_fitted(fit, tmp_path / "fit.npz", force=True)
        result = run("reduce", one, "--from-fit", kept, "-o", out, "--force")
        assert result.exit_code == 0 and np.array_equal(np.load(out), fit.transform(POINTS[:1]))
    whitener = save_fitted(TangentWhitener().fit(POINTS), tmp_path / "whitener.npz")
    assert "must hold a reduction of points, but holds a TangentWhitener" in run("reduce", one, "--from-fit", whitener).stderr
