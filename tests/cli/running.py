"""A command run as a user would run it, and what a refusal looks like."""

import re

from click.testing import CliRunner, Result

from horopca.cli import main

PNG = b"\x89PNG"


def run(*arguments: object, stdin: str | bytes | None = None) -> Result:
    return CliRunner().invoke(main, [str(argument) for argument in arguments], input=stdin)


def said(result: Result) -> str:
    """What stands on stderr, without frames and line ends."""
    return " ".join(re.sub("[│╭╮╰╯─]", " ", result.stderr).split())


def refused(result: Result, sentence: str, code: int = 1) -> None:
    assert result.exit_code == code, result.output
    assert sentence in said(result), said(result)
    assert result.stdout == "" and "Traceback" not in result.stderr
    if code == 1:
        assert result.stderr.startswith("Error: ")
