"""Regions around points on the page. In a real browser."""

import numpy as np
import pytest

from horopca.explorer import explore
from horopca.geometry import from_hyperboloid, to_hyperboloid, translate

from .browsing import EDGES, LABELS, NAMES, X, Y, addresses, save, settle, state, until

ROUND = 2 * np.pi * np.arange(32) / 32


@pytest.fixture(scope="module")
def borders():
    """Circles of radius 0.3 around the points, on the hyperboloid."""
    circle = 0.3 * np.stack([np.cos(ROUND), np.sin(ROUND)], axis=1)
    return translate(to_hyperboloid(circle, "tangent")[None], X[:, None, :])


@pytest.fixture
def page(browser, borders, tmp_path):
    pages = {"regions": lambda: explore(Y, LABELS, names=NAMES, edges=EDGES, regions=from_hyperboloid(borders))}
    context = browser.new_context(viewport={"width": 1280, "height": 800}, reduced_motion="reduce")
    opened = context.new_page()
    opened.goto(addresses(pages, tmp_path)("regions"))
    until(opened, "'horopca' in window")
    settle(opened)
    yield opened
    context.close()


def test_regions_of_selected_points_of_all_and_of_none(page):
    assert state(page)["regions"] == []
    page.evaluate("horopca.select([3, 5])")
    settle(page)
    assert sorted(state(page)["regions"]) == [3, 5]
    assert save(page, "#svg").path().read_text(encoding="utf-8").count('class="region"') == 2
    page.click("#regions")
    settle(page)
    assert len(state(page)["regions"]) == len(Y) and page.get_attribute("#regions", "aria-pressed") == "true"
    page.keyboard.press("r")
    settle(page)
    assert sorted(state(page)["regions"]) == [3, 5]


@pytest.mark.parametrize("model", ["poincare", "klein", "equidistant"])
def test_borders_are_where_the_geometry_puts_them(page, model):
    """What is drawn around a point, taken back to the plane, is a circle of its radius, in every model and from any view."""
    page.click(f"#{model}")
    page.evaluate("horopca.flyTo(7)")
    settle(page)
    centre, scale = page.evaluate("(() => { const s = horopca.screen(7), r = horopca.rings(); return [s, r[0]]; })()")
    path = np.reshape(page.evaluate("horopca.region(7)"), (-1, 2))
    away = np.hypot(path[:, 0] - centre[0], path[:, 1] - centre[1])
    to_pixels = {"poincare": lambda r: np.tanh(r / 2), "klein": np.tanh, "equidistant": lambda r: r}[model]
    assert np.allclose(away, to_pixels(0.3) * scale[0] / to_pixels(scale[1]), rtol=1e-3)


def test_a_page_without_regions_has_no_button(browser, tmp_path):
    context = browser.new_context(viewport={"width": 900, "height": 700})
    page = context.new_page()
    page.goto(addresses({"plain": lambda: explore(Y)}, tmp_path)("plain"))
    until(page, "'horopca' in window")
    assert not page.is_visible("#regions") and state(page)["regions"] == []
    context.close()


def test_refusal():
    with pytest.raises(ValueError, match="regions must be a result of"):
        explore(Y, regions=np.zeros((3, 4, 2)))
