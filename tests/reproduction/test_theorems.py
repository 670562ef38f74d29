"""Every statement of the paper that can be checked in numbers is: and two of them do not hold."""

import numpy as np
import pytest
from reproduction.cells import theorems
from reproduction.experiments.theorems import EXACT, STATEMENTS

from horopca.projections import horospherical_projection


@pytest.mark.parametrize("statement", STATEMENTS, ids=lambda s: s.check)
def test_the_statement_holds_or_is_said_not_to(statement):
    worst = theorems.check(statement.check)["deviation"]
    assert (worst <= EXACT) == (not statement.wrong), worst


def test_every_check_is_a_statement_of_the_page():
    assert set(theorems.CHECKS) == {s.check for s in STATEMENTS}


@pytest.mark.parametrize(("d", "K"), [(3, 1), (3, 2), (4, 2), (5, 3), (6, 4), (6, 6)])
def test_the_number_of_parameters_of_a_flag(d, K):
    """K - 1 more than the paper says: an ideal point is free but for those in the hull of the ones before it."""
    found = theorems.flag_parameters(np.random.default_rng(0), d, K)
    assert found == d * K - 1 - K * (K - 1) // 2 == d * K - K * (K + 1) // 2 + (K - 1)


@pytest.mark.parametrize("check", ["keeps_busemann_coordinates", "pages_turn_rigidly", "orbits_collapse"])
def test_a_wrong_projection_is_noticed(monkeypatch, check):
    """The checks can fail: with ideal points that are a little off they do."""
    off = lambda x, q, base=None: horospherical_projection(x, q + 0.01 * np.roll(q, 1, axis=1), base)
    monkeypatch.setattr(theorems, "horospherical_projection", off)
    assert theorems.check(check)["deviation"] > 1e-4
