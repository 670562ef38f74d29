"""Public names and their parameters do not disappear."""

import pytest

from promised import broken, parameters, promised, public


def test_no_promised_name_or_parameter_is_gone():
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
        ("def f(X, *, model): pass", "model= is gone or became required"),
        ("def f(X, more, *, model=None): pass", "more is required"),
        ("def f(more=0, X=1, *, model=None): pass", "the order of the parameters changed"),
        ("def f(*, X, model=None): pass", "the order of the parameters changed"),
        ("f = 1", "X, model= is gone"),
    ],
)
def test_a_call_that_is_no_longer_valid_is_reported(now, why):
    exec(f"{now}", space := {})
    (*lines,) = broken({"f": "X, *, model=", "g": ""}, {"f": parameters(space["f"])})
    assert lines[0] == "g is gone."
    assert lines[1:] == [] if why is None else why in lines[1]
