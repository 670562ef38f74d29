"""What the page claims is true, and what is selected on it can be carried away and refitted: in a real browser."""

import itertools
import json
from functools import lru_cache

import numpy as np
import pytest

from horopca import HoroPCA
from horopca.explorer import explore
from horopca.geometry import from_hyperboloid, pairwise_distance, radius, to_hyperboloid
from horopca.metrics import average_distortion
from horopca.plots import class_colours
from horopca.plots.palette import RAMPS
from horopca.projections import slide, spine_from_basis
from horopca.statistics import frechet_mean

from .browsing import (
    CAT,
    DEEP,
    FELINES,
    IN_BOTH,
    LABELS,
    NAMES,
    PIXEL,
    X,
    Y,
    all_places,
    disk,
    drag,
    find,
    save,
    screen,
    settle,
    shown,
    state,
    until,
)  # fmt: skip

VISIBLE_TOOLS = """[...document.querySelectorAll('#tools button')].filter((e) => e.checkVisibility()).map((e) => {
  const { left, right } = e.getBoundingClientRect();
  return [`#${e.id}`, left, right, e.scrollWidth <= e.clientWidth];
})"""
CARNIVORES = [i for i, label in enumerate(LABELS) if label == "carnivore"]


# ---------------------------------------------------------------- depth


def test_deep_points_are_shown_by_distance_and_the_page_says_so(visit):
    page = visit("sunk")
    assert state(page)["model"] == "equidistant"
    assert "of the points would lie on the rim of the Poincaré disk" in page.inner_text("#left-out")
    centre, scale = disk(page)
    places = all_places(page)
    assert np.allclose(np.linalg.norm(places - centre, axis=1), scale * radius(shown(page)), atol=1e-3)
    find(page, "cat")
    assert np.abs(screen(page, CAT) - centre).max() < 1e-6


@IN_BOTH
def test_rings_are_where_their_numbers_say(visit):
    page = visit("mammals")
    for model, radius_of in {"poincare": lambda r: np.tanh(r / 2), "klein": np.tanh, "equidistant": lambda r: r}.items():
        page.click(f"#{model}")
        _, scale = disk(page)
        rings = np.array(page.evaluate("horopca.rings()"))
        assert len(rings) >= 3 and np.allclose(rings[:, 0], scale * radius_of(rings[:, 1]))


# ---------------------------------------------------------------- trust


def test_a_reduction_that_is_exact_looks_so(visit_page):
    page = visit_page(explore(Y, original=Y * 0.999999))
    for colouring in ("false", "trust", "continuity", "distortion"):
        page.select_option("#colour", colouring)
        colours = page.evaluate("[...new Set(Array.from({ length: horopca.n }, (_, i) => horopca.colour(i)))]")
        assert [colour.upper() for colour in colours] == [RAMPS["distrust"]["light"][0]]  # not stretched to dark red


# ---------------------------------------------------------------- selecting


@IN_BOTH
def test_the_lasso_selects_what_is_inside(visit):
    page = visit("mammals")
    page.evaluate(f"horopca.flyTo({NAMES.index('carnivore')})")
    settle(page)
    places = all_places(page)
    x, y = places[NAMES.index("carnivore")]
    corners = [(x - 200, y - 200), (x + 200, y - 200), (x + 200, y + 200), (x - 200, y + 200)]
    page.keyboard.down("Shift")
    page.mouse.move(*corners[0])
    page.mouse.down()
    for corner in corners[1:]:
        page.mouse.move(*corner, steps=4)
    page.mouse.up()
    page.keyboard.up("Shift")
    inside = np.flatnonzero((np.abs(places - (x, y)) < 200).all(axis=1)).tolist()
    assert state(page)["selected"] == inside and 3 < len(inside) < len(X)
    assert f"{len(inside)} points selected" in page.inner_text("#chosen")
    before = screen(page, 0)
    page.click("#lasso")  # without the key
    drag(page, (x - 20, y - 20), (x + 20, y + 20))
    assert np.allclose(screen(page, 0), before)  # a line encloses nothing, and moves nothing
    assert state(page)["selected"] == [] and page.is_hidden("#chosen")


def test_a_class_is_lit_and_selected_and_the_rest_is_dim(visit):
    page = visit("mammals")
    row = page.locator("#scale .row", has_text="carnivore")
    colour = lambda i: page.evaluate(f"horopca.colour({i})").upper()
    own, other = class_colours(LABELS)["carnivore"], class_colours(LABELS)["primate"]
    primate = LABELS.index("primate")
    row.hover()
    assert colour(CAT) == own and colour(primate) != other
    page.mouse.move(600, 790)
    assert colour(primate) == other
    row.locator(".pick").click()
    page.mouse.move(600, 790)
    assert state(page)["selected"] == CARNIVORES and colour(CAT) == own and colour(primate) != other
    assert set(state(page)["names"]) <= {NAMES[i] for i in CARNIVORES}
    settle(page)
    assert f"of {len(CARNIVORES)} selected names in view" in page.inner_text("#left-out")
    page.keyboard.press("Escape")
    assert state(page)["selected"] == []


def test_what_is_found_and_neighbours_can_be_selected(visit):
    page = visit("mammals")
    page.keyboard.press("/")
    page.keyboard.type("bear")
    page.keyboard.press("ArrowUp")  # the last line
    assert page.locator("#results [aria-selected=true]").inner_text() == "Select all 3"
    page.keyboard.press("Enter")
    assert [NAMES[i] for i in state(page)["selected"]] == [name for name in NAMES if "bear" in name]
    find(page, "cat")
    page.click("#family")
    assert len(state(page)["selected"]) == 9 and CAT in state(page)["selected"]


def test_every_result_of_a_search_can_be_reached(visit):
    page = visit("rich")
    page.keyboard.press("/")
    page.keyboard.type("about")  # in the details of every point
    options = page.locator("#results [role=option]")
    place = options.last.bounding_box()
    assert (
        page.evaluate(f"document.elementFromPoint({place['x'] + 20}, {place['y'] + 9}).textContent") == f"Select all {len(X)}"
    )
    while (more := page.locator("#results [role=option]", has_text="Show more of")).count():
        shown_now = options.count()
        more.click()
        assert options.count() > shown_now
    assert options.count() == len(X) + 1 and options.last.inner_text() == f"Select all {len(X)}"


def test_the_page_flies_to_the_centre_of_a_selection_and_back(visit):
    page = visit("mammals")
    before = shown(page)
    page.evaluate(f"horopca.select({FELINES})")
    page.click("#fly")
    settle(page)
    seen = shown(page)[FELINES]
    assert np.abs(frechet_mean(seen).point[1:]).max() < 1e-6
    centre, _ = disk(page)
    assert all(np.abs(screen(page, i) - centre).max() < 360 for i in FELINES)
    find(page, "dolphin")
    until(page, "location.hash.includes('on=')")
    assert len(page.evaluate("location.hash")) < 60
    page.click("#back")
    settle(page)
    assert np.allclose(shown(page)[FELINES], seen, atol=1e-6)
    page.click("#back")
    settle(page)
    assert np.allclose(shown(page), before, atol=1e-9) and page.is_disabled("#back")
    find(page, "dolphin")
    until(page, "location.hash.includes('on=')")
    page.go_back()
    settle(page)
    until(page, "horopca.state().pin === -1")
    assert np.allclose(shown(page), before, atol=1e-9)


@IN_BOTH
def test_a_selection_is_carried_away(visit, tmp_path):
    page = visit("rich", permissions=["clipboard-read", "clipboard-write"])
    page.evaluate(f"horopca.select({FELINES})")
    save(page, "#csv").save_as(tmp_path / "chosen.csv")
    lines = (tmp_path / "chosen.csv").read_text().splitlines()
    assert lines[0] == "row,name,branch,letter,more,link,x,y,radius,signed,grown" and len(lines) == 7
    line = next(line for line in lines if line.startswith(f"{CAT},cat,carnivore,c,about cats,https://example.org/{CAT},"))
    assert np.allclose([float(cell) for cell in line.split(",")[6:8]], Y[CAT], atol=1e-15)
    save(page, "#json").save_as(tmp_path / "chosen.json")
    found = json.loads((tmp_path / "chosen.json").read_text())
    assert found["columns"] == lines[0].split(",") and [point[0] for point in found["points"]] == sorted(FELINES)
    page.click("#copy")
    until(page, "document.getElementById('live').textContent === 'names copied'")
    assert page.inner_text("#copy") == "Copied"
    assert page.evaluate("navigator.clipboard.readText()").split("\n") == [NAMES[i] for i in sorted(FELINES)]
    page.evaluate("(() => { delete Navigator.prototype.clipboard; Document.prototype.execCommand = () => false; })()")
    page.click("#copy")
    until(page, "document.getElementById('copy').textContent === 'Not copied'")


# ---------------------------------------------------------------- columns


def test_several_columns_of_labels_texts_links_and_pictures(visit):
    page = visit("rich")
    assert page.locator("#colour option").all_inner_texts()[:2] == ["branch", "letter"]
    page.select_option("#colour", label="letter")
    assert page.locator("#scale .row").count() == len({name[0] for name in NAMES})
    find(page, "about wombats")
    assert page.inner_text("#card h2") == "wombat" and "about wombats" in page.inner_text("#card")
    i = NAMES.index("wombat")
    assert page.get_attribute("#card a", "href") == f"https://example.org/{i}" and page.locator("#card img").count() == 0
    page.evaluate("horopca.flyTo(0)")
    assert page.get_attribute("#card img", "src") == PIXEL
    page.select_option("#colour", label="grown")
    page.select_option("#scaling", "log")
    middle = page.evaluate(f"horopca.colour({len(X) // 2})")
    page.select_option("#scaling", "linear")
    assert page.evaluate(f"horopca.colour({len(X) // 2})") != middle
    page.select_option("#colour", label="signed")
    assert page.locator("#scaling option").all_inner_texts() == ["linear", "diverging"]
    page.select_option("#scaling", "diverging")
    assert page.inner_text("#scale .ends").split() == ["-3", "3"]


def test_a_list_is_one_tab_stop(visit):
    page = visit("mammals")
    active = "document.activeElement"
    page.focus("#colour")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    assert page.evaluate(f"{active}.closest('#scale') === null")  # at once
    page.focus("#colour")
    page.keyboard.press("Tab")
    assert page.evaluate(f"{active}.className") == "pick"
    first = page.evaluate(f"{active}.textContent")
    page.keyboard.press("ArrowDown")
    assert page.evaluate(f"{active}.textContent") != first
    page.keyboard.press("ArrowRight")
    assert page.evaluate(f"{active}.className") == "only"
    page.keyboard.press("Tab")
    assert page.evaluate(f"{active}.closest('#scale') === null")


def test_a_view_without_points_says_so(visit):
    page = visit("mammals")
    page.mouse.move(640, 300)
    for _ in range(30):
        page.mouse.wheel(0, -400)
    settle(page)
    assert page.is_visible("#lost") and page.is_visible("#overview")
    page.click("#found")
    settle(page)
    assert page.is_hidden("#lost")


PANELS = """() => ["head", "legend", "tools", "hint", "left-out", "card"].map((id) => document.getElementById(id))
  .filter((e) => e.checkVisibility() && e.textContent.trim()).map((e) => {
    const words = document.createRange();
    words.selectNodeContents(e);
    const { left, top, right, bottom } = (e.classList.contains("panel") ? e : words).getBoundingClientRect();
    return [e.id, left, top, right, bottom];
  })"""


def test_nothing_covers_anything_else_at_any_width(visit):
    """Nor does a button: at 1,024 to 1,140 pixels, the width of a notebook's output, the toolbar once covered the card."""
    page = visit("sunk", hash=f"#pin={CAT}")
    for chosen in (False, True):
        if chosen:
            page.evaluate(f"horopca.select({CARNIVORES})")
            page.evaluate("horopca.refit('variance')")
        for width in (1280, 320, 390, 600, 700, 820, 1000, 1024, 1100, 1279):
            page.set_viewport_size({"width": width, "height": 800 if width == 1280 else 640})  # at first as it was opened
            settle(page)
            places = [place for place in page.evaluate(PANELS) if place[0] != "card" or width >= 1024]
            for (one, left, top, right, bottom), (two, l2, t2, r2, b2) in itertools.combinations(places, 2):
                if (one, two) != ("head", "hint") or width < 1024:  # on wide pages the hint is in the head
                    assert right <= l2 or r2 <= left or bottom <= t2 or b2 <= top, (width, one, two)
            buttons = page.evaluate(VISIBLE_TOOLS)
            assert {"#back", "#home", "#equidistant", "#lasso", "#svg", "#help"} <= {button for button, *_ in buttons}
            assert all(fits and 0 <= left and right <= width for _, left, right, fits in buttons)
            row = [(left, right) for _, left, right, _ in buttons]
            assert all(a[1] <= b[0] + 0.5 or b[0] < a[0] for a, b in itertools.pairwise(row))  # or in the next line


def test_forced_colours_keep_the_colours_of_classes(visit):
    page = visit("mammals", forced_colors="active")
    assert page.evaluate("getComputedStyle(document.querySelector('.dot')).forcedColorAdjust") == "none"


# Every text in sight with its colour over what is behind it: [text, ratio of luminances].
CONTRASTS = """() => {
  const parts = (text) => { const [r, g, b, a = 1] = text.match(/[\\d.]+/g).map(Number); return [r, g, b, a]; };
  const over = ([r, g, b, a], under) => [r, g, b].map((v, k) => v * a + under[k] * (1 - a));
  const light = (rgb) => rgb.map((v) => v / 255).map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
    .reduce((sum, v, k) => sum + v * [0.2126, 0.7152, 0.0722][k], 0);
  const root = getComputedStyle(document.documentElement), found = [];
  const behind = (e) => {
    if (!e) return [1, 3, 5].map((at) => parseInt(root.getPropertyValue("--page").trim().slice(at, at + 2), 16));
    return over(parts(getComputedStyle(e).backgroundColor), behind(e.parentElement));
  };
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const e = walk.currentNode.parentElement, text = walk.currentNode.textContent.trim();
    if (!text || !e.checkVisibility({ opacityProperty: true }) || e.closest(".sr, script, style")) continue;
    let opacity = 1;
    for (let up = e; up; up = up.parentElement) opacity *= Number(getComputedStyle(up).opacity);
    const ground = behind(e), [r, g, b, a] = parts(getComputedStyle(e).color), ink = over([r, g, b, a * opacity], ground);
    const [high, low] = [light(ink), light(ground)].sort((x, y) => y - x);
    found.push([text.slice(0, 30), (high + 0.05) / (low + 0.05)]);
  }
  return found;
}"""


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_text_stands_out_in_every_state(visit, theme):
    page, seen = visit("sunk", color_scheme=theme), {}
    look = lambda: seen.update({text: min(ratio, seen.get(text, 99)) for text, ratio in page.evaluate(CONTRASTS)})
    look()  # the way back cannot be gone yet
    page.locator("#scale .row").nth(1).hover()
    look()
    page.locator("#scale .toggle").nth(1).click()
    look()
    page.keyboard.press("/")
    page.keyboard.type("bear")
    page.locator("#results li").nth(1).hover()
    look()
    page.keyboard.press("Enter")
    settle(page)
    look()  # the card, with added neighbours
    page.evaluate(f"horopca.select({CARNIVORES})")
    card, head = (page.locator(panel).bounding_box() for panel in ("#card", "#head"))
    assert card["y"] > head["y"] + head["height"]  # the card leaves the buttons of the selection free
    for button in ("#refit", "#fly", "#klein"):
        page.hover(button)
        look()
    page.evaluate("horopca.refit('variance')")
    settle(page)
    look()
    page.select_option("#colour", label="Radius")
    look()
    page.click("#help")
    look()
    assert len(seen) > 60 and {"added", "Refit to these", "Close", "hide"} <= set(seen)
    assert {text: ratio for text, ratio in seen.items() if ratio < 4.5} == {}
    own = lambda name: page.evaluate(f"getComputedStyle(document.documentElement).getPropertyValue('--{name}').trim()")
    for ground in ("disk", "rim"):  # what is written on the plane itself: numbers of rings, and names in ink of 0.86
        page.evaluate(f"document.body.innerHTML = '<p>a</p>'; document.body.style.background = '{own(ground)}'")
        for ink in (own("soft"), own("ink") + "db"):
            page.evaluate(f"document.querySelector('p').style.color = '{ink}'")
            assert page.evaluate(CONTRASTS)[0][1] >= 4.5


# ---------------------------------------------------------------- refit


@lru_cache
def reduced_carnivores(goal):
    pca = HoroPCA(2, spine="free", objective=goal, model="tangent", random_state=0)
    return pca.fit_transform(DEEP[CARNIVORES])


def kept(A, x, goal):
    """The objective over all pairs, from the package's projection: the mean squared distance, or of distance kept."""
    y = to_hyperboloid(slide(x, spine_from_basis(A)), "halfspace")
    d, e = (pairwise_distance(points)[np.triu_indices(len(x), 1)] for points in (x, y))
    return np.mean(e * e) if goal == "variance" else np.mean(e / d)


@pytest.mark.parametrize("goal", ["variance", "distortion"])
def test_the_objective_in_the_browser_is_that_of_the_package(visit, goal):
    page = visit("sunk")
    x, rng = to_hyperboloid(DEEP, "tangent"), np.random.default_rng(0)
    rows = list(range(0, len(x), 2))
    for A in (rng.standard_normal((2, 5)), np.c_[np.ones(2), rng.standard_normal((2, 4))], np.eye(2, 5, k=1)):
        found = page.evaluate(f"horopca.objective({rows}, '{goal}', {A.ravel().tolist()})")
        assert found["value"] == pytest.approx(kept(A, x[rows], goal), rel=1e-6)
        h, slope = 1e-5, np.empty(A.size)
        for k in range(A.size):
            step = np.zeros(A.size)
            step[k] = h
            ends = [kept(A + sign * step.reshape(A.shape), x[rows], goal) for sign in (1, -1)]
            slope[k] = (ends[0] - ends[1]) / (2 * h)
        assert np.allclose(found["gradient"], slope, rtol=1e-4, atol=1e-4 * np.abs(slope).max())  # of differences


@pytest.mark.parametrize(
    ("visit", "goal"), [("chromium", "variance"), ("chromium", "distortion"), ("firefox", "distortion")], indirect=["visit"]
)
def test_a_selection_is_refitted_and_the_points_come_back(visit, goal):
    page = visit("sunk")
    before = shown(page)
    page.evaluate(f"horopca.select({CARNIVORES})")
    found = page.evaluate(f"horopca.refit('{goal}')")
    settle(page)
    some = np.array(CARNIVORES)
    expected = reduced_carnivores(goal)
    after = from_hyperboloid(shown(page)[some], "tangent")
    assert average_distortion(DEEP[some], after, model="tangent") == pytest.approx(found["is"]["distortion"], abs=1e-6)
    pairs = pairwise_distance(to_hyperboloid(expected, "tangent"))[np.triu_indices(len(some), 1)]
    ours = pairwise_distance(shown(page)[some])[np.triu_indices(len(some), 1)]
    if goal == "distortion":
        assert 1 - found["is"]["distortion"] > 0.999 * (1 - average_distortion(DEEP[some], expected, model="tangent"))
        assert found["is"]["distortion"] <= found["was"]["distortion"] + 1e-9
    else:
        assert np.mean(ours**2) > 0.999 * np.mean(pairs**2)
    assert "Refitted to" in page.inner_text("#refitted")
    assert page.evaluate("document.querySelector('#colour option[value=false]').disabled")  # measures of the first picture
    page.click("#unfit")
    settle(page)
    assert np.allclose(shown(page), before, atol=1e-9)


def test_a_refit_of_many_points_is_as_good_as_the_package(visit):
    page = visit("wordnet")
    page.evaluate("horopca.select(Array.from({ length: horopca.n }, (_, i) => i))")
    found = page.evaluate("horopca.refit('distortion')")["is"]["distortion"]
    assert found < 0.0928  # HoroPCA(spine="free", objective="distortion") has 0.0921; a race by distortion ends at 0.0934 or so
