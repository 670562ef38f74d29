"""The command line: one file a command, loaded when it is called, so that ``horopca --help`` answers at once."""

from __future__ import annotations

import ast
import os
import sys
from importlib import import_module
from io import TextIOWrapper
from pathlib import Path
from typing import Any

import rich_click as click
from click import Command, Context

from .. import __version__
from .console import report_errors

# Each is in the file of its name.
COMMANDS = ("classify", "compare", "components", "demo", "embed", "info", "map", "plot", "reduce", "stability", "view")


class Commands(click.RichGroup):
    """The commands, none of which is loaded before it is called."""

    def list_commands(self, ctx: Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: Context, cmd_name: str) -> Command | None:
        """As much of a command as a list of them shows."""
        return click.RichCommand(name=cmd_name, short_help=_summary(cmd_name)) if cmd_name in COMMANDS else None

    def resolve_command(self, ctx: Context, args: list[str]) -> tuple[str | None, Command | None, list[str]]:
        name, _, rest = super().resolve_command(ctx, args)
        command: Command = getattr(import_module(f".{name}", __package__), str(name))
        ctx.meta["horopca.options"] = {option.name: max(option.opts, key=len) for option in command.params}
        return name, command, rest

    def main(self, *args: Any, **kwargs: Any) -> Any:
        """Run the program; what the encoding of a pipe on Windows has no letter for, such as an arrow, is no reason to fail."""
        os.environ.setdefault("PYTHONSAFEPATH", "1")  # workers of joblib must not import modules from the working directory
        if isinstance(sys.stdout, TextIOWrapper) and sys.stdout.errors == "strict":
            sys.stdout.reconfigure(errors="backslashreplace")
        return super().main(*args, **kwargs)

    def invoke(self, ctx: Context) -> Any:
        with report_errors(ctx.meta):
            return super().invoke(ctx)


def _summary(name: str) -> str:
    """The first sentence of what a command says of itself, read without loading it."""
    tree = ast.parse(Path(__file__).with_name(f"{name}.py").read_text(encoding="utf-8"))
    (command,) = (node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == name)
    return (ast.get_docstring(command) or "").partition("\n\n")[0]


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, "-V", "--version")
@click.rich_config(help_config={"text_paragraph_linebreaks": "\n\n"})
@click.option(
    "--max-memory", type=click.FloatRange(min=1), metavar="BYTES", help="Let a file take so much memory; see docs/files.md."
)
@click.pass_context
def main(ctx: Context, max_memory: float | None) -> None:
    """Principal component analysis in hyperbolic space.

    \b
    horopca demo                                   see it work
    horopca map tree.edges -o tree.html            from a tree to a page and a picture
    horopca embed tree.edges -o vectors.npz        from a graph to points
    horopca info vectors.npy                       what a file holds
    horopca reduce vectors.npy -o plane.npy        reduce to 2 dimensions
    horopca reduce vectors.npy --plot disk.png     ... and draw them
    horopca view plane.npy --open                  move around in them
    horopca compare vectors.npy                    which reduction keeps most
    horopca components vectors.npy                 how many dimensions to keep
    horopca stability vectors.npy                  how far to believe the picture
    horopca classify vectors.npy --labels y.txt    which classifier tells classes apart
    """
    if max_memory is not None:
        ctx.with_resource(import_module("..io", __package__).memory_limit(max_memory))
