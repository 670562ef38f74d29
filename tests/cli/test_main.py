"""What all commands share: help, errors and warnings, Ctrl-C, standard input and output, the model of the points."""

import ctypes
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from importlib import import_module
from pathlib import Path

import pytest
from click import Context, Option
from click.testing import CliRunner

from hierarchies import TREE
from horopca import __version__
from horopca.cli import COMMANDS, main
from horopca.datasets import make_hierarchy
from horopca.geometry import to_hyperboloid
from horopca.io import save

from .running import done, refused, run, said

ROOT = Path(__file__).parents[2]
CALL = re.compile(rf"([a-z]+ .*\| )?horopca ({'|'.join(COMMANDS)}) ")
MOST_OPTIONS = 15


def command_of(name):
    return getattr(import_module(f"horopca.cli.{name}"), name)


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_examples_and_few_options(command):
    result = run(command, "--help")
    assert result.exit_code == 0 and f"horopca {command}" in result.stdout and "Examples" in result.stdout
    shown = [param for param in command_of(command).params if isinstance(param, Option) and not param.hidden]
    assert len(shown) <= MOST_OPTIONS
    assert main.get_command(None, command).short_help == command_of(command).help.split("\n\n")[0]


def test_the_version_and_the_list_of_commands():
    assert run("-V").stdout == run("--version").stdout and __version__ in run("-V").stdout
    listed = run("--help").stdout
    assert all(word in listed for word in (*COMMANDS, "--seed", "--json", "--quiet", "--force"))
    assert "No such command 'nothing'" in said(run("nothing"))


@pytest.mark.parametrize(("words", "found"), [("horopca re", "reduce"), ("horopca reduce --from", "--from-fit")])
def test_a_shell_completes_commands_and_options(words, found):
    request = {"_HOROPCA_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str(len(words.split()) - 1)}
    assert found in CliRunner().invoke(main, [], prog_name="horopca", env=request).stdout


def examples():
    """Every command line in the help and in the pages."""
    pages = [*(ROOT / "docs").glob("*.md"), ROOT / "README.md", *(ROOT / "src" / "horopca" / "cli").glob("*.py")]
    lines = [line.strip() for page in pages for line in page.read_text(encoding="utf-8").splitlines()]
    lines = [line[1:].partition("`")[0] if line.startswith("`") else line for line in lines]  # at the beginning of a sentence
    calls = [line[CALL.match(line).start(2) :] for line in lines if CALL.match(line)]
    return sorted({re.split(r"  +| [|<>] ?", call)[0].strip() for call in calls})


@pytest.mark.parametrize("example", examples())
def test_the_examples_in_help_and_pages_are_command_lines(example):
    name, *arguments = shlex.split(example)
    context = Context(main)
    command = main.resolve_command(context, [name])[1]
    left = command.make_parser(Context(command, parent=context)).parse_args(arguments)[1]
    assert left == []


def test_options_of_every_command_come_before_or_after_it(points):
    for words in (("--seed", 3, "--json", "reduce", points), ("reduce", points, "--seed", 3, "--json")):
        assert json.loads(run(*words, "--method", "tpca").stdout)["seed"] == 3
    assert done("-q", "reduce", points, "--method", "tpca") == ""


def test_fits_that_do_not_converge_are_reported_once(points):
    assert run("reduce", points, "--set", "max_iter=1", "--set", "n_init=2").stderr.count("Warning") == 1


@pytest.mark.parametrize("command", sorted(set(COMMANDS) - {"demo"}))
def test_a_damaged_file_is_an_error_and_leaves_nothing(folder, command):
    """`tests/io/test_errors.py` has damaged files of all kinds."""
    (folder / "cut.npy").write_bytes(b"\x93NUMPY\x01\x00")
    refused(run(command, "cut.npy", *{"embed": ("-o", "out.npy"), "nearest": ("a",)}.get(command, ())), "cut.npy")
    assert [path.name for path in folder.iterdir()] == ["cut.npy"]


def interrupted_in_compiled_code(*_):
    ctypes.CFUNCTYPE(None)(lambda: signal.raise_signal(signal.SIGINT))()  # Python only reports exceptions in such a callback
    end = time.monotonic() + 60  # only reached if the interrupt is lost
    while time.monotonic() < end:
        pass


@pytest.mark.parametrize("fit", [lambda *_: signal.raise_signal(signal.SIGINT), interrupted_in_compiled_code])
def test_control_c_ends_with_130(points, monkeypatch, fit):
    monkeypatch.setattr("horopca.TangentPCA.fit", fit)
    result = run("compare", points, "--methods", "tpca")
    assert (result.exit_code, result.stdout, result.stderr) == (130, "", "Interrupted.\n")


def test_letters_that_the_encoding_of_a_pipe_lacks_are_escaped(points):
    """A pipe of Windows may use cp1252, which has the ± of a table but not its ≤."""
    words = ["components", str(points), "--method", "tpca", "--folds", "2", "--copies", "2", "-k", "1"]
    result = CliRunner(charset="cp1252").invoke(main, words)
    assert result.exit_code == 0 and "±" in result.stdout and "\\u2264" in result.stdout


@pytest.mark.skipif(os.name == "nt", reason="a pipe without a reader is another error there")
@pytest.mark.parametrize("words", [["--help"], ["info"]], ids=" ".join)
def test_a_pipe_that_nobody_reads_any_more_ends_a_command_silently(points, words):
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "horopca", *words, *([str(points)] if "info" in words else [])]
    done = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, text=True, check=False)
    os.close(writer)
    assert (done.returncode, done.stderr) == (1, "")


def test_tables_come_from_standard_input_and_go_to_standard_output():
    rows = zip(TREE.points.tolist(), TREE.labels, strict=True)
    table = "".join(",".join(map(repr, row)) + f",{label}\n" for row, label in rows)
    for text in (table, table.replace(",", "\t")):
        result = run("reduce", "-", "--method", "tpca", "-o", "-", stdin=text)
        assert result.stdout.splitlines()[0] == "x1,x2,label" and len(result.stdout.splitlines()) == 41
        assert "distortion" in result.stderr
    assert "40" in done("info", "-", stdin=table)
    assert run("reduce", "-", "--method", "tpca", "-o", "-", "--quiet", stdin=table).stderr == ""


@pytest.mark.parametrize("text", ["a b\nb c\n", "a,b\nb,c\n"])
def test_graphs_come_from_standard_input(text):
    result = run("embed", "-", "-d", 2, "--method", "sarkar", "-o", "-", stdin=text)
    assert [line.split(",")[0] for line in result.stdout.splitlines()] == ["name", "a", "b", "c"]


def test_messages_on_standard_input_do_not_name_a_temporary_file(folder):
    result = run("embed", "-", "-d", 2, "--method", "sarkar", "-o", "-", stdin="(a,b)c;(a,b)c;")
    assert "Warning: standard input: the first of 2 trees was read." in result.stderr and "/stdin" not in result.stderr
    done("embed", "-", "-d", 2, "--method", "sarkar", "-o", "points.npy", stdin="(a,b)c;")
    assert json.loads(Path("points.npy.json").read_text())["input"] == "standard input"
    refused(run("reduce", "-", stdin="0.1,0.2\n0.1,x\n0.3,0.1\n"), "standard input, line 2: 'x' is not a number")
    refused(run("reduce", "-", "--metadata", "-", stdin="0.1,0.2\n"), "only once", code=2)


@pytest.mark.parametrize("words", ["reduce -k 1 --method tpca", "compare -k 1 --methods tpca", "plot", "view", "nearest 0"])
def test_a_file_states_its_model_and_an_option_that_contradicts_it_is_an_error(folder, words):
    save("points.npz", to_hyperboloid(make_hierarchy(2, 2, 2, random_state=0).points), model="lorentz", curvature=-1.0)
    command, *options = words.split()
    done(command, "points.npz", *options)
    text = "--model klein contradicts the file, which states model lorentz"
    refused(run(command, "points.npz", *options, "--force", "--model", "klein"), text)
