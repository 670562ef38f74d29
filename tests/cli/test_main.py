"""What all commands share: help, errors and warnings in sentences, Ctrl-C, standard input and output, one rule for models."""

import errno
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import warnings
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from click import Context
from click.testing import CliRunner
from sklearn.exceptions import ConvergenceWarning

from hierarchies import TREE
from horopca import __version__
from horopca.cli import COMMANDS, main
from horopca.cli.console import as_options, summarise_warnings
from horopca.datasets import make_hierarchy
from horopca.embed import SarkarEmbedding
from horopca.io import load, save

from .running import refused, run, said

ROOT = Path(__file__).parents[2]
CALL = re.compile(rf"([a-z]+ .*\| )?horopca ({'|'.join(COMMANDS)}) ")


def shell(*arguments, **options):
    command = [sys.executable, "-m", "horopca", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, **options)


# ---------------------------------------------------------------- help


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_with_examples(command):
    result = run(command, "--help")
    assert result.exit_code == 0 and f"horopca {command}" in result.stdout and "Examples" in result.stdout


def test_the_version_and_the_list_of_commands():
    assert run("-V").stdout == run("--version").stdout and __version__ in run("-V").stdout
    listed = run("--help").stdout
    assert all(command in listed for command in COMMANDS)
    assert "No such command 'nothing'" in said(run("nothing"))


@pytest.mark.parametrize("command", COMMANDS)
def test_the_list_says_of_a_command_what_its_help_says_first(command):
    help = getattr(import_module(f"horopca.cli.{command}"), command).help
    assert main.get_command(None, command).short_help == help.split("\n\n")[0]


def test_the_command_works_in_a_shell(tmp_path, points):
    good = shell("reduce", points, "--method", "tpca", "--json", "-o", "out.npy", cwd=tmp_path)
    assert good.returncode == 0 and json.loads(good.stdout)["output"] == "out.npy" and good.stderr == ""
    bad = shell("reduce", "absent.npy", cwd=tmp_path)
    assert bad.returncode == 1 and bad.stderr == "Error: There is no file absent.npy.\n" and bad.stdout == ""


@pytest.mark.parametrize(("words", "found"), [("horopca re", "reduce"), ("horopca reduce --from", "--from-fit")])
def test_a_shell_can_complete_commands_and_their_options(words, found):
    asked = {"_HOROPCA_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str(len(words.split()) - 1)}
    assert found in CliRunner().invoke(main, [], prog_name="horopca", env=asked).stdout


def examples():
    """Every command line in the help and in the pages."""
    pages = [*(ROOT / "docs").glob("*.md"), ROOT / "README.md", *(ROOT / "src" / "horopca" / "cli").glob("*.py")]
    lines = [line.strip().strip("`") for page in pages for line in page.read_text(encoding="utf-8").splitlines()]
    calls = [line[CALL.match(line).start(2) :] for line in lines if CALL.match(line)]
    return sorted({re.split(r"  +| [|<>] ?", call)[0].strip() for call in calls})


@pytest.mark.parametrize("example", examples())
def test_the_examples_in_help_and_pages_are_command_lines(example):
    name, *arguments = shlex.split(example)
    context = Context(main)
    command = main.resolve_command(context, [name])[1]
    left = command.make_parser(Context(command, parent=context)).parse_args(arguments)[1]
    assert left == []


# ---------------------------------------------------------------- errors and warnings


def test_sentences_of_the_library_speak_of_the_options_that_the_command_has():
    sentence = "n_components must be 1, or pass model='lorentz'; e.g. curvature=-0.68 (radius 1.21), or n_jobs=2."
    options = {"n_components": "--components", "model": "--model", "curvature": "--curvature"}
    heard = "--components must be 1, or pass --model lorentz; e.g. --curvature -0.68 (radius 1.21), or n_jobs=2."
    assert as_options(sentence, options) == heard
    assert as_options(sentence, {}) == sentence
    assert as_options("Pass stretch=True.", {"stretch": "--stretch"}) == "Pass --stretch."


def test_warnings_are_summarised_and_name_options_of_the_command():
    with warnings.catch_warnings(record=True) as raised:
        warnings.simplefilter("always")
        for _ in range(3):
            unfinished = ConvergenceWarning("HoroPCA reached 500 steps without converging. Raise max_iter (now 500).")
            warnings.warn(unfinished, stacklevel=1)
            warnings.warn("The scale=1 is wide.", stacklevel=1)
    wide, unfinished = summarise_warnings(raised, {"max_iter": "--max-iter", "seed": "--seed", "scale": "--scale"})
    assert wide == "The --scale 1 is wide. (This was said 3 times.)"
    assert unfinished == (
        "3 fits ended before they converged, the first: HoroPCA reached 500 steps without converging. What was found is shown; "
        "--max-iter or another --seed may find better."
    )
    assert "max" not in summarise_warnings(raised, {"seed": "--seed"})[1]


def test_a_search_that_is_cut_short_is_told_once_and_not_if_quiet(points):
    loud = run("reduce", points, "--max-iter", 1)
    assert loud.stderr.count("Warning") == 1 and "--max-iter or another --seed may find better" in loud.stderr
    quiet = run("reduce", points, "--max-iter", 1, "--quiet")
    assert quiet.exit_code == 0 and quiet.output == ""


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)), "Error: {out}: No space left on device.\n"),
        (OSError("4000 requested and 112 written"), "Error: {out} could not be written: The disk is full, or"),
        (MemoryError(), "Error: There is not enough memory for this.\n"),
        (MemoryError("Unable to allocate 8 EiB."), "Error: There is not enough memory for this. Unable to allocate 8 EiB.\n"),
        (ValueError(), "Error: ValueError.\n"),
    ],
)
def test_errors_name_the_file_and_the_cause(tmp_path, points, monkeypatch, error, sentence):
    def failing(*_, **__):
        raise error

    out = tmp_path / "out.npy"
    monkeypatch.setattr("numpy.save", failing)
    result = run("reduce", points, "--method", "tpca", "-o", out)
    assert result.exit_code == 1 and result.stderr.startswith(sentence.format(out=out)), result.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["points.npy"]


def test_a_failure_to_read_names_the_file(points, monkeypatch):
    def failing(*_, **__):
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr("horopca.cli.files.load", failing)
    for command in ("reduce", "compare", "classify", "plot", "view"):
        refused(run(command, points), f"{points}: Input/output error.")


def test_pickles_are_refused(tmp_path):
    np.save(tmp_path / "objects.npy", np.array([{}], dtype=object))
    for command in ("reduce", "info", "compare", "classify", "plot", "view"):
        refused(run(command, tmp_path / "objects.npy"), "Python objects")


@pytest.mark.parametrize("command", sorted(set(COMMANDS) - {"demo"}))
def test_wrong_files_end_in_a_sentence_and_leave_nothing(tmp_path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    contents = {"empty.csv": b"", "bytes.csv": b"\xff\xfe\x00\x01", "cut.npy": b"\x93NUMPY\x01\x00", "cut.pth": b"PK\x03\x04"}
    contents |= {"words.tsv": b"a\tb\nc\n", "nan.csv": b"0.1,nan\n0.2,0.3\nx\n"}
    for name, content in contents.items():
        (tmp_path / name).write_bytes(content)
        more = ("-o", "out.npy") if command == "embed" else ()
        result = run(command, name, *more)
        assert result.exit_code in (1, 2), (name, result.output)
        assert isinstance(result.exception, SystemExit) and "Traceback" not in result.output, (name, result.exception)
        assert len(said(result)) > 20 and "None" not in result.stderr, result.stderr
    assert {path.name for path in tmp_path.iterdir()} == contents.keys()


@pytest.mark.parametrize("command", ["reduce", "compare", "info", "classify", "plot", "view", "embed", "map"])
def test_control_c_ends_with_130_everywhere(points, tree, tmp_path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    stop = lambda *_, **__: (_ for _ in ()).throw(KeyboardInterrupt)
    for where in ("cli.files.load", "io.description.Source.of", "embed.forms.load_edges"):
        monkeypatch.setattr(f"horopca.{where}", stop)
    more = ("-o", "out.npy") if command == "embed" else ()
    result = run(command, tree if command in ("embed", "map") else points, *more)
    assert result.exit_code == 130 and result.stderr == "Interrupted.\n" and result.stdout == ""
    assert {path.name for path in tmp_path.iterdir()} == {"points.npy", "tree.edges"}


@pytest.mark.skipif(os.name == "nt", reason="signals")
def test_control_c_in_a_shell(tmp_path):
    """Wherever it comes: among others in a callback of compiled code, where Python would only report it."""
    points = save(tmp_path / "points.npy", make_hierarchy(3, 7, 10, random_state=0).points)
    telling = "lambda *a, **k: print('now', flush=True) or work(*a, **k)"  # when there is work to interrupt
    code = f"import horopca.cli.compare as c; work = c.watched_reductions; c.watched_reductions = {telling}"
    command = [sys.executable, "-c", f"{code}; from horopca.cli import main; main()", "compare", str(points)]
    heard = lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)  # a job in the background is born deaf to it
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, preexec_fn=heard, **pipes) as process:
        assert process.stdout.readline() == "now\n"
        process.send_signal(signal.SIGINT)
        assert process.communicate(timeout=60) == ("", "Interrupted.\n") and process.returncode == 130


# ---------------------------------------------------------------- standard input and output


def test_output_goes_through_a_pipe_whose_encoding_lacks_its_letters(points):
    """Pipes of Windows have one of 256 letters: this one has the ± of a summary, but not its arrow."""
    result = CliRunner(charset="cp1252").invoke(main, ["reduce", str(points), "--method", "tpca"])
    assert result.exit_code == 0 and "5 \\u2192 2" in result.stdout


@pytest.mark.skipif(os.name == "nt", reason="a pipe without a reader is another error there")
@pytest.mark.parametrize("words", [["--help"], ["info"], ["info", "--json"]], ids=" ".join)
def test_a_pipe_that_nobody_reads_any_more_ends_a_command_in_silence(points, words):
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "horopca", *words, *([str(points)] if "info" in words else [])]
    done = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, text=True, check=False)
    os.close(writer)
    assert (done.returncode, done.stderr) == (1, "")


def test_tables_come_from_standard_input_and_go_to_standard_output(points):
    table = "".join(
        ",".join(map(repr, row)) + f",{label}\n" for row, label in zip(TREE.points.tolist(), TREE.labels, strict=True)
    )
    for text in (table, table.replace(",", "\t")):
        result = run("reduce", "-", "--method", "tpca", "-o", "-", stdin=text)
        assert result.exit_code == 0, result.output
        assert result.stdout.splitlines()[0] == "x1,x2,label" and len(result.stdout.splitlines()) == 41
        assert "distortion" in result.stderr
    assert "40" in run("info", "-", stdin=table).stdout
    assert run("reduce", "-", "--method", "tpca", "-o", "-", "--quiet", stdin=table).stderr == ""


def test_edges_come_from_standard_input():
    result = run("embed", "-", "-d", 2, "--method", "sarkar", "-o", "-", stdin="a b\nb c\n")
    assert result.exit_code == 0, result.output
    assert [line.split(",")[0] for line in result.stdout.splitlines()] == ["name", "a", "b", "c"]


def test_what_standard_input_cannot_be_is_said_without_the_name_of_a_temporary_file():
    result = run("reduce", "-", stdin="0.1,0.2\n0.1,x\n0.3,0.1\n")
    refused(result, "standard input, line 2: 'x' is not a number")
    refused(run("reduce", "-", "--labels", "-", stdin="0.1,0.2\n"), "only once", code=2)
    refused(run("reduce", "-", "-o", "-", "--json", stdin="0.1,0.2\n"), "both be on standard output", code=2)


# ---------------------------------------------------------------- the model


@pytest.fixture
def checkpoint(tmp_path):
    """Lorentz points in a file that says so."""
    torch = pytest.importorskip("torch")
    X = SarkarEmbedding(2, scale=0.5, model="lorentz").fit_transform([-1, *(i // 2 for i in range(14))])
    torch.save({"embeddings": torch.tensor(X), "conf": {"manifold": "lorentz"}}, tmp_path / "model.pth")
    assert load(tmp_path / "model.pth").model == "lorentz"
    return tmp_path / "model.pth"


@pytest.mark.parametrize(
    ("command", "function", "options"),
    [
        ("reduce", "horopca.cli.reducing.average_distortion", ("-k", 1, "--method", "tpca")),
        ("compare", "horopca.cli.compare.reductions", ("--methods", "tpca")),
        ("classify", "horopca.cli.classify.compare_classifiers", ("--labels", "labels.txt")),
        ("plot", "horopca.plots.plot_plane", ()),
        ("view", "horopca.cli.view.explore", ()),
    ],
)
def test_a_file_states_its_model_and_no_option_may_contradict_it(checkpoint, monkeypatch, command, function, options):
    monkeypatch.chdir(checkpoint.parent)
    (checkpoint.parent / "labels.txt").write_text("a\nb\n" * 7 + "a\n")
    asked = []

    def noted(*_, model, curvature, **__):
        asked.append((model, curvature))
        raise ValueError("seen")

    monkeypatch.setattr(function, noted)
    refused(run(command, checkpoint, *options), "seen")
    refused(run(command, checkpoint, *options, "--curvature", -0.5), "seen")
    assert asked == [("lorentz", -1.0), ("lorentz", -0.5)]
    refused(
        run(command, checkpoint, *options, "--model", "klein"), "--model klein contradicts the file, which states model lorentz"
    )
