"""Run a command as a user would, and check how it ends."""

import json
from pathlib import Path

from click.testing import CliRunner, Result

from horopca.cli import main

PNG = b"\x89PNG"


def run(*arguments: object, stdin: str | bytes | None = None) -> Result:
    return CliRunner().invoke(main, [str(argument) for argument in arguments], input=stdin)


def done(*arguments: object, stdin: str | bytes | None = None) -> str:
    """What a command prints that succeeds, on one line, with its warnings."""
    result = run(*arguments, stdin=stdin)
    assert result.exit_code == 0, result.output
    return " ".join(result.output.split())


def summary(*arguments: object) -> dict:
    """The JSON that a command prints."""
    result = run(*arguments, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def said(result: Result) -> str:
    """What is on stderr, on one line."""
    return " ".join(result.stderr.split())


def refused(result: Result, text: str, code: int = 1) -> None:
    assert result.exit_code == code, result.output
    assert text in said(result), said(result)
    assert result.stdout == "" and "Traceback" not in result.stderr
    if code == 1:
        assert result.stderr.startswith("Error: ")


def contents(folder: Path) -> dict[Path, bytes]:
    """All files in a folder and below it."""
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())
