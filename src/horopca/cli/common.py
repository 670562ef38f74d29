"""Options that every command takes, before or after its name."""

from __future__ import annotations

from typing import Any, NamedTuple

import rich_click as click
from click import Context, Parameter, get_current_context


class Common(NamedTuple):
    """The values of these options."""

    seed: int = 0
    as_json: bool = False
    quiet: bool = False
    force: bool = False


def _store(ctx: Context, param: Parameter, value: Any) -> None:
    if value is not None:
        ctx.meta[f"horopca.{param.name}"] = value


def common_options(*, hidden: bool) -> list[click.RichOption]:
    """The options of `Common`. A command hides them: ``horopca --help`` describes them once for all commands."""
    flag: dict[str, Any] = {"is_flag": True, "default": None, "is_eager": True, "expose_value": False, "callback": _store}
    whole: dict[str, Any] = {**flag, "is_flag": False, "type": click.IntRange(min=0), "metavar": "N"}
    return [
        click.RichOption(["--seed"], **whole, hidden=hidden, help="Seed of the random numbers.  [default: 0]"),
        click.RichOption(["--json", "as_json"], **flag, hidden=hidden, help="Print the results as JSON, and nothing else."),
        click.RichOption(["-q", "--quiet"], **flag, hidden=hidden, help="Print no summary, progress or warnings."),
        click.RichOption(["--force"], **flag, hidden=hidden, help="Overwrite existing files."),
    ]


def common() -> Common:
    """The common options of the running command."""
    meta = get_current_context().meta
    return Common(**{name: meta[f"horopca.{name}"] for name in Common._fields if f"horopca.{name}" in meta})


class Command(click.RichCommand):
    """A command that takes the options of every command."""

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        settings["epilog"] = "Every command also takes --seed N, --json, --quiet and --force: see `horopca --help`."
        super().__init__(*arguments, **settings)
        self.params += common_options(hidden=True)
