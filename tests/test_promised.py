"""What was promised holds: public names, their parameters, and the time that is given before one of them goes."""

import ast
import re
from pathlib import Path

import pytest

import horopca
from promised import broken, parameters, promised, public

PACKAGE = Path(horopca.__file__).parent


def test_no_promised_name_or_parameter_has_vanished():
    assert not broken(promised(), public())


@pytest.mark.parametrize(
    "now, why",
    [
        ("def f(X, *, model=None, more=0): pass", None),
        ("def f(X, more=0, *, model=None): pass", None),
        ("def f(X=None, model=None): pass", None),
        ("def f(X, **options): pass", None),
        ("def f(x, *, model=None): pass", "X is gone"),
        ("def f(X, *, kind=None): pass", "model= is gone"),
        ("def f(X, *, model): pass", "model= is gone, or must be given now"),
        ("def f(X, more, *, model=None): pass", "more must be given now"),
        ("def f(more=0, X=1, *, model=None): pass", "the order of the parameters is another"),
        ("def f(*, X, model=None): pass", "the order of the parameters is another"),
        ("f = 1", "X, model= is gone"),
    ],
)
def test_a_call_that_no_longer_goes_is_a_broken_promise(now, why):
    exec(f"{now}", space := {})
    (*said,) = broken({"f": "X, *, model=", "g": ""}, {"f": parameters(space["f"])})
    assert said[0] == "g is gone."
    assert said[1:] == [] if why is None else why in said[1]


# ---------------------------------------------------------------- what goes, and when


def test_a_deprecation_names_what_goes_what_to_use_and_when_where_it_is_called():
    def old():
        horopca._deprecated("old()", "use new()", "9.0")

    with pytest.warns(FutureWarning, match=re.escape("old() is deprecated and goes in horopca 9.0: use new().")) as told:
        old()
    assert told[0].filename == __file__


def overdue(source: str, version: str) -> list[str]:
    """The deprecations in a source whose time has come."""
    calls = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    told = [call.args for call in calls if getattr(call.func, "id", getattr(call.func, "attr", "")) == "_deprecated"]
    numbers = lambda text: [int(number) for number in re.findall(r"\d+", text)]
    return [ast.unparse(what) for what, _, goes in told if numbers(ast.literal_eval(goes)) <= numbers(version)]


def test_nothing_is_deprecated_beyond_its_time():
    assert overdue('_deprecated("a", "b", "0.2")\nhoropca._deprecated("c", "d", "0.10")', "0.2.1") == ["'a'"]
    sources = [path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py")]
    assert [overdue(source, horopca.__version__) for source in sources if "_deprecated(" in source] == [[]], (
        "only its own home yet"
    )
