"""The public interface: every public name with its parameters and every option of the commands, listed in promised.txt.

Nothing on the list may disappear. ``python tests/promised.py`` writes the list again, before a release (RELEASING.md).
"""

import inspect
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from itertools import takewhile
from pathlib import Path
from typing import Any

from click import Option

import horopca
from horopca.cli import COMMANDS
from horopca.cli import main as main_command

LIST = Path(__file__).with_suffix(".txt")
MODULES = ("", *horopca._SUBMODULES, *horopca._OPTIONAL_SUBMODULES)
ABSENT = [f"horopca.{name}" for name in ("torch",) if find_spec(name) is None]  # cannot be imported without its library


def public() -> dict[str, str]:
    """Every public name, with its parameters if it is called."""
    return dict(sorted([*_names(), *_options()]))


def _names() -> Iterator[tuple[str, str]]:
    for submodule in MODULES:
        if f"horopca.{submodule}" in ABSENT:
            continue
        module = import_module(f"horopca.{submodule}".rstrip("."))
        for name in module.__all__:
            value, path = getattr(module, name), ".".join(filter(None, ["horopca", submodule, name]))
            yield path, parameters(value)
            if inspect.isclass(value):
                yield from ((f"{path}.{member}", parameters(getattr(value, member))) for member in _members(value))


def _members(owner: type) -> list[str]:
    """The public methods and properties of a class that the package defines, without constants, fields and parameters."""
    ours = [cls for cls in owner.__mro__ if cls.__module__.startswith("horopca.")]
    fields = {*getattr(owner, "_fields", ()), *getattr(owner, "__dataclass_fields__", ())}
    names = {name for cls in ours for name in vars(cls) if not name.startswith("_") and name not in fields}
    names = {name for name in names if not isinstance(inspect.getattr_static(owner, name), str | bool)}
    return sorted(name for name in names if not name.endswith("_request"))  # scikit-learn writes these into classes


def _options() -> Iterator[tuple[str, str]]:
    for name in ("", *COMMANDS):  # the program itself, then its commands
        command = getattr(import_module(f"horopca.cli.{name}"), name) if name else main_command
        for option in (one for one in command.params if isinstance(one, Option) and not one.hidden):
            first, *others = sorted([*option.opts, *option.secondary_opts], key=len, reverse=True)
            yield f"$ {f'horopca {name}'.strip()} {first}", ", ".join(f"{word}=" for word in others)


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
    """One line for each name that is gone, or that can no longer be called as before."""
    gone = [f"{name} is gone." for name in promised if name not in now]
    changed = [(name, _difference(promised[name], now[name])) for name in promised if name in now]
    return gone + [f"{name}({promised[name]}) became ({now[name]}): {why}." for name, why in changed if why]


def _difference(before: str, after: str) -> str:
    """Why a call that was valid before is not valid now; empty if it is."""
    old, new = (text.split(", ") if text else [] for text in (before, after))
    missing = [word for word in old if word not in new and f"{word}=" not in new and word != "*"]
    if missing and "**" not in after:
        return f"{', '.join(missing)} is gone or became required"
    positions = [[word.rstrip("=") for word in takewhile(lambda word: word[0] != "*", words)] for words in (old, new)]
    if positions[1][: len(positions[0])] != positions[0]:
        return "the order of the parameters changed"
    added = [word for word in new if word not in old and word[0] != "*" and not word.endswith("=")]
    return f"{', '.join(added)} is required" if added else ""


def promised() -> dict[str, str]:
    """The names on the list, without those of libraries that are not installed."""
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
