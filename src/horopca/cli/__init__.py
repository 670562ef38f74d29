"""The command line: one module for each command, imported when it is called, so that ``horopca --help`` is fast."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from io import TextIOWrapper
from pathlib import Path
from typing import Any

import click
from click import Context

from .. import __version__
from .console import State, common_options, report_errors

# Each command is defined in the module of the same name.
COMMANDS = (
    "classify", "compare", "components", "demo", "embed", "info", "map", "nearest", "plot", "reduce", "stability", "view",
)  # fmt: skip


class Commands(click.Group):
    """The commands, imported when they are called."""

    def list_commands(self, ctx: Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: Context, cmd_name: str) -> click.Command | None:
        """A stand-in with the summary of the command, for the list of commands."""
        return click.Command(name=cmd_name, short_help=_summary(cmd_name)) if cmd_name in COMMANDS else None

    def resolve_command(self, ctx: Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        name, _, rest = super().resolve_command(ctx, args)
        command: click.Command = getattr(import_module(f".{name}", __package__), str(name))
        ctx.ensure_object(State).options = {option.name: max(option.opts, key=len) for option in command.params}
        return name, command, rest

    def main(self, *args: Any, **kwargs: Any) -> Any:
        """Run the program. Characters that the encoding of standard output lacks, such as arrows on Windows, are escaped."""
        os.environ.setdefault("PYTHONSAFEPATH", "1")  # workers of joblib must not import modules from the working directory
        if isinstance(sys.stdout, TextIOWrapper) and sys.stdout.errors == "strict":
            sys.stdout.reconfigure(errors="backslashreplace")
        return super().main(*args, **kwargs)

    def invoke(self, ctx: Context) -> Any:
        ctx.ensure_object(State)  # of this context and those of the commands
        with report_errors():
            return super().invoke(ctx)


def _summary(name: str) -> str:
    """The first line of a command's help, read without importing it."""
    source = Path(__file__).with_name(f"{name}.py").read_text(encoding="utf-8")
    return source.partition(f"def {name}(")[2].partition('"""')[2].partition("\n")[0]


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 120})
@click.version_option(__version__, "-V", "--version")
@click.option(
    "--max-memory",
    type=click.FloatRange(min=1),
    metavar="BYTES",
    help="Memory that reading a file may take.  [default: 16 times its size, at least 256 MiB]",
)
@click.pass_context
def main(ctx: Context, max_memory: float | None) -> None:
    """Principal component analysis in hyperbolic space.

    \b
    horopca demo                               an example: WordNet's mammals
    horopca map tree.nwk                       from a tree or a graph to a page and a picture
    horopca reduce vectors.npy -o plane.npy    reduce to 2 dimensions; --plot disk.png draws the points
    horopca view plane.npy --open              explore the points in a browser

    --seed, --json, --quiet and --force can also follow the command.
    """
    if max_memory is not None:
        ctx.with_resource(import_module("..io", __package__).memory_limit(max_memory))


main.params += common_options(hidden=False)
