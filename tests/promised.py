"""What the package promises: every public name with its parameters, in promised.txt as the last release had them.

A name, a method, an option of a command or a parameter that stands there may not vanish; what is new is promised from the next
release on, for which ``python tests/promised.py`` writes the list again (RELEASING.md).
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from click import Option

import horopca
from horopca.cli import COMMANDS
from horopca.cli import main as main_command

LIST = Path(__file__).with_suffix(".txt")
MODULES = ("", *horopca._SUBMODULES, *horopca._OPTIONAL_SUBMODULES)
ABSENT = [f"horopca.{name}" for name in ("torch",) if find_spec(name) is None]  # cannot be looked at without its library


def public() -> dict[str, str]:
    """Every public name, with its parameters if it is called."""
    return dict(sorted([*_names(), *_options()]))


def _names() -> Iterator[tuple[str, str]]:
    for room in MODULES:
        if f"horopca.{room}" in ABSENT:
            continue
        module = import_module(f"horopca.{room}".rstrip("."))
        for name in module.__all__:
            value, path = getattr(module, name), ".".join(filter(None, ["horopca", room, name]))
            yield path, parameters(value)
            if inspect.isclass(value):
                yield from ((f"{path}.{member}", parameters(getattr(value, member))) for member in _members(value))


def _members(owner: type) -> list[str]:
    """The public methods and properties of a class that are written in the package: fields of a tuple are its parameters."""
    ours = [cls for cls in owner.__mro__ if cls.__module__.startswith("horopca.")]
    names = {name for cls in ours for name in vars(cls) if not name.startswith("_") and name not in getattr(cls, "_fields", ())}
    return sorted(name for name in names if not name.endswith("_request"))  # scikit-learn writes these into classes


def _options() -> Iterator[tuple[str, str]]:
    for name in ("", *COMMANDS):  # the options of every command are those of the program
        command = getattr(import_module(f"horopca.cli.{name}"), name) if name else main_command
        for option in (one for one in command.params if isinstance(one, Option) and not one.hidden):
            yield from ((f"$ {f'horopca {name}'.strip()} {word}", "") for word in [*option.opts, *option.secondary_opts])


def parameters(value: Any) -> str:
    """The parameters of a callable: ``X, y=, *, radius=``."""
    called = inspect.isclass(value) or inspect.isroutine(value) or hasattr(value, "__wrapped__")
    if not called or getattr(value, "_is_protocol", False):
        return ""
    taken = [one for one in inspect.signature(value).parameters.values() if one.name != "self"]
    words, starred = [], False
    for one in taken:
        if one.kind is one.KEYWORD_ONLY and not starred:
            words.append("*")
        starred = starred or one.kind in (one.KEYWORD_ONLY, one.VAR_POSITIONAL)
        stars = {one.VAR_POSITIONAL: "*", one.VAR_KEYWORD: "**"}.get(one.kind, "")
        words.append(stars + one.name + "=" * (one.default is not one.empty))
    return ", ".join(words)


def broken(promised: dict[str, str], now: dict[str, str]) -> list[str]:
    """What no longer holds of a promise, a sentence each."""
    gone = [f"{name} is gone." for name in promised if name not in now]
    changed = [(name, _unkept(promised[name], now[name])) for name in promised if name in now]
    return gone + [f"{name}({promised[name]}) became ({now[name]}): {why}." for name, why in changed if why]


def _unkept(before: str, after: str) -> str:
    """Why a call that went before would not go now, or nothing."""
    old, new = (text.split(", ") if text else [] for text in (before, after))
    places = [[word.rstrip("=") for word in _positional(words)] for words in (old, new)]
    missing = [word for word in old if word not in new and f"{word}=" not in new and word != "*"]
    if missing and "**" not in after:
        return f"{', '.join(missing)} is gone, or must be given now"
    if places[1][: len(places[0])] != places[0]:
        return "the order of the parameters is another"
    added = [word for word in new if word not in old and word[0] != "*" and not word.endswith("=")]
    return f"{', '.join(added)} must be given now" if added else ""


def _positional(words: list[str]) -> list[str]:
    return words[: next((i for i, word in enumerate(words) if word.startswith("*")), len(words))]


def promised() -> dict[str, str]:
    """What stands in the list, as far as it can be looked at here."""
    lines = [line for line in LIST.read_text(encoding="utf-8").splitlines() if not line.startswith(tuple(ABSENT))]
    return {name: words for name, _, words in (line.removesuffix(")").partition("(") for line in lines)}


def main() -> None:
    if ABSENT:
        raise SystemExit(f"The list would lose {', '.join(ABSENT)}, whose library is not installed here.")
    now, before = public(), promised() if LIST.exists() else {}
    lines = (f"{name}({words})" if words else name for name, words in now.items())
    LIST.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8", newline="\n")
    print(*broken(before, now), f"{LIST.name} has {len(now)} names.", sep="\n")


if __name__ == "__main__":
    main()
