"""The explorer in a real browser: drag, search, click and save."""

import re
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

from horopca.geometry import from_hyperboloid, pairwise_distance, to_hyperboloid, translate_to_origin
from horopca.neighbors.estimator import nearest_neighbours
from horopca.plots.palette import RAMPS

from .browsing import (
    CAT,
    CLOCK,
    EDGES,
    HOSTILE,
    IN_BOTH,
    LABELS,
    NAMES,
    ORIGINAL,
    X,
    Y,
    deep_points,
    disk,
    drag,
    edge_paths,
    find,
    near,
    pixel,
    save,
    screen,
    settle,
    shown,
    state,
    until,
)  # fmt: skip

# ---------------------------------------------------------------- moving


@IN_BOTH
def test_a_dragged_point_stays_under_the_pointer(visit):
    page = visit("mammals")
    for model in ("poincare", "klein", "equidistant"):
        page.click(f"#{model}")
        for i, end in ((CAT, (700, 300)), (0, (560, 480)), (NAMES.index("echidna"), (675, 370))):
            drag(page, screen(page, i), end)
            assert np.abs(screen(page, i) - end).max() < 1e-6


def test_no_navigation_changes_a_distance(visit):
    page = visit("mammals")
    expected, rng = pairwise_distance(X), np.random.default_rng(1)
    for _ in range(5):
        centre, scale = disk(page)
        a, b = (centre + rng.uniform(-0.6, 0.6, 2) * min(scale, 300) for _ in range(2))
        drag(page, a, b, steps=3)
        page.mouse.wheel(0, float(rng.choice([-200, 150])))
        page.keyboard.press(str(rng.choice(["ArrowLeft", "ArrowUp", "+", "-"])))
        page.evaluate(f"horopca.flyTo({rng.integers(len(X))})")
        settle(page)
        assert np.abs(pairwise_distance(shown(page)) - expected).max() < 1e-9
    found = page.evaluate(f"Array.from({{ length: horopca.n }}, (_, j) => horopca.distance({CAT}, j))")
    assert np.abs(found - expected[CAT]).max() < 1e-9


@pytest.mark.parametrize(("visit", "model"), [("chromium", "poincare"), ("firefox", "klein")], indirect=["visit"])
def test_the_wheel_magnifies_what_is_under_the_pointer_and_keeps_it_there(visit, model):
    page = visit("mammals", hash=f"#model={model}")
    i, j = NAMES.index("lion"), NAMES.index("tiger")  # near the rim
    centre, _ = disk(page)
    place = np.round(centre + 0.96 * (screen(page, i) - centre))  # wheels turn at whole pixels
    drag(page, screen(page, i), place - 40)
    drag(page, place - 40, place)
    zoom, apart = state(page)["zoom"], np.linalg.norm(screen(page, i) - screen(page, j))
    local = lambda: state(page)["zoom"] * 2 / (1 + shown(page)[i, 0])  # pixels there per unit of length, up to a constant
    before = local()
    for _ in range(8):
        page.mouse.wheel(0, -120)
    settle(page)
    assert np.abs(screen(page, i) - place).max() < 1e-3
    assert np.linalg.norm(screen(page, i) - screen(page, j)) > 3 * apart
    if model == "poincare":
        assert local() / before == pytest.approx(np.exp(8 * 120 * 0.0025))
    for _ in range(8):
        page.mouse.wheel(0, 120)
    settle(page)
    assert np.abs(screen(page, i) - place).max() < 1e-3 and state(page)["zoom"] == pytest.approx(zoom)


def test_at_depth_what_was_crushed_opens_up(visit):
    page = visit("deep", hash="#model=poincare")
    x = deep_points()
    assert np.linalg.norm(screen(page, 1) - screen(page, 2)) < 1e-6  # pixels
    find(page, "child")
    centre, scale = screen(page, 3), np.linalg.norm(screen(page, 1) - screen(page, 3)) / np.tanh(0.5)
    seen = from_hyperboloid(translate_to_origin(x[1:3], x[3]), "poincare")
    assert scale == pytest.approx(354, abs=20)  # the disk
    away = np.array([screen(page, i) - centre for i in (1, 2)]) / scale
    # at radius 26 a direction in float64 is good to e^26 eps = 4e-5 of a unit of length
    assert np.linalg.norm(away[0] - away[1]) == pytest.approx(np.linalg.norm(seen[0] - seen[1]), abs=1e-4)
    find(page, "left")
    assert np.abs(screen(page, 1) - centre).max() < 1e-6
    page.keyboard.press("Home")
    settle(page)
    assert np.abs(screen(page, 0) - centre).max() < 1e-6


def test_a_single_point_without_anything(visit):
    page = visit("alone")
    assert page.inner_text("#summary") == "1 point"
    page.focus("#ink")
    page.keyboard.press("Enter")
    assert page.inner_text("#card h2") == "point 0" and page.locator("#card li").count() == 0
    find(page, "0")
    assert state(page)["pin"] == 0


def test_a_double_click_flies_to_a_point_and_home_goes_back(visit):
    page = visit("mammals")
    before = shown(page)
    centre, _ = disk(page)
    page.mouse.dblclick(*screen(page, CAT))
    settle(page)
    assert np.abs(screen(page, CAT) - centre).max() < 1e-6 and state(page)["pin"] == CAT
    page.mouse.dblclick(centre[0] - 150, centre[1] + 200)  # no point there: flies to the place
    settle(page)
    assert np.abs(screen(page, CAT) - centre).max() > 50 and state(page)["pin"] == -1
    page.click("#home")
    settle(page)
    assert np.allclose(shown(page), before, atol=1e-9)


def test_a_flight_follows_the_geodesic(visit):
    start = NAMES.index("koala")
    page = visit("mammals", hash=f"#on={start}&pin={start}", script=CLOCK, reduced_motion="no-preference")
    places = page.evaluate(f"""new Promise((done) => {{
        const places = [], look = () => {{
          places.push([horopca.shown({start}), horopca.shown({CAT})]);
          if (horopca.state().flying) requestAnimationFrame(look); else done(places);
        }};
        horopca.flyTo({CAT});
        requestAnimationFrame(look);
    }})""")
    # the centre of the view is on the way as long as its distances to both ends add up
    passed = np.arcsinh(np.linalg.norm(places, axis=2))
    assert np.count_nonzero(passed.min(axis=1) > 0.1) > 3  # on the way
    assert np.allclose(passed.sum(axis=1), pairwise_distance(X)[start, CAT], atol=1e-9)


@IN_BOTH
def test_keys(visit):
    page = visit("mammals")
    page.focus("#ink")
    start = screen(page, 0)
    page.keyboard.press("ArrowRight")
    settle(page)
    assert screen(page, 0)[0] < start[0] - 20 and screen(page, 0)[1] == pytest.approx(start[1])
    page.keyboard.press("ArrowDown")
    settle(page)
    assert screen(page, 0)[1] < start[1] - 20
    page.keyboard.press("+")
    page.keyboard.press("+")
    assert state(page)["zoom"] == pytest.approx(1.69)
    page.keyboard.press("-")
    assert state(page)["zoom"] == pytest.approx(1.3)
    page.keyboard.press("Home")
    settle(page)
    assert np.abs(screen(page, 0) - start).max() < 1e-6 and state(page)["zoom"] == 1
    page.keyboard.press("Enter")
    assert state(page)["pin"] == 0 and "mammal" in page.inner_text("#live")
    page.keyboard.press("Escape")
    assert state(page)["pin"] == -1 and page.is_hidden("#card")
    page.keyboard.press("?")
    assert page.is_visible("#manual")
    page.keyboard.press("Escape")
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.id") == "search"
    page.keyboard.type("+-/")
    assert page.input_value("#search") == "+-/" and state(page)["zoom"] == 1


# ---------------------------------------------------------------- finding and reading


def test_a_word_is_found_and_flown_to(visit):
    page = visit("mammals")
    centre, _ = disk(page)
    page.click("#search")
    page.keyboard.type("CAT")
    results = page.locator("#results [role=option]")
    assert results.all_inner_texts()[0].split("\n")[0] == "cat" and "wildcat" in results.all_inner_texts()[1]
    page.keyboard.press("Enter")
    settle(page)
    assert np.abs(screen(page, CAT) - centre).max() < 1e-6
    assert page.inner_text("#card h2") == "cat" and page.inner_text("#card .of") == "carnivore"
    rows = [row.split("\n") for row in page.locator("#card li").all_inner_texts()]
    d = pairwise_distance(X)[CAT]
    assert [float(far) for _, far in rows] == [float(f"{far:.2f}") for far in np.sort(d)[1:9]]
    assert all(abs(d[NAMES.index(name)] - float(far)) < 0.006 for name, far in rows)
    assert "cat; carnivore" in page.inner_text("#live")
    page.click("#card li:first-child button")
    settle(page)
    assert page.inner_text("#card h2") == rows[0][0] and np.abs(screen(page, NAMES.index(rows[0][0])) - centre).max() < 1e-6


def test_hovering_shows_a_point_and_its_neighbours_in_the_original_space(visit):
    page = visit("reduced")
    assert page.is_hidden("#card")
    x, y = screen(page, CAT)
    page.mouse.move(x + 3, y)
    settle(page)
    assert state(page)["hover"] == CAT and page.inner_text("#card h2") == "cat"
    indices, distances = nearest_neighbours(to_hyperboloid(ORIGINAL), 5)
    rows = [row.split("\n") for row in page.locator("#card .there li").all_inner_texts()]
    assert [name for name, _ in rows] == [NAMES[i] for i in indices[CAT]]
    d = pairwise_distance(X)
    for (_, both), i, there in zip(rows, indices[CAT], distances[CAT], strict=True):
        first, second = map(float, both.split(" → "))
        assert first == pytest.approx(there, rel=2e-3, abs=0.006) and second == pytest.approx(d[CAT, i], abs=0.006)
    page.mouse.move(5, 795)
    assert page.is_hidden("#card")
    page.mouse.click(x, y)
    page.mouse.move(5, 795)
    assert page.is_visible("#card") and state(page)["pin"] == CAT


def test_names_appear_as_space_allows(visit):
    page = visit("mammals")
    names = state(page)["names"]
    assert "mammal" in names and len(set(names)) == len(names) > 15
    boxes = page.evaluate("horopca.boxes()")
    for i, (left, top, right, bottom) in enumerate(boxes):
        assert not any(left < r and x < right and top < b and y < bottom for x, y, r, b in boxes[i + 1 :])


# ---------------------------------------------------------------- colours and classes


def test_a_class_is_switched_off_and_isolated(visit):
    page = visit("mammals")
    carnivores = [i for i, label in enumerate(LABELS) if label == "carnivore"]
    page.evaluate(f"horopca.flyTo({NAMES.index('carnivore')})")
    settle(page)
    page.keyboard.press("Escape")
    place = screen(page, NAMES.index("feline"))
    row = page.locator("#scale .row", has_text="carnivore")
    colour = page.evaluate("(e) => getComputedStyle(e).backgroundColor", row.locator(".dot").element_handle())
    expected = "#" + "".join(f"{int(v):02x}" for v in re.findall(r"\d+", colour))
    assert near(pixel(page, *place), expected)
    row.hover()
    row.locator(".toggle").click()
    page.mouse.move(5, 795)
    settle(page)
    assert not near(pixel(page, *place), expected, 60)
    assert row.locator(".toggle").get_attribute("aria-pressed") == "false"
    page.mouse.move(*place)
    assert state(page)["hover"] not in carnivores
    row.hover()
    row.locator(".only").click()
    settle(page)
    pressed = page.locator("#scale .toggle").evaluate_all("all => all.filter((e) => e.ariaPressed === 'true').length")
    assert pressed == 1 and near(pixel(page, *place), expected)
    page.click("#scale .all")
    assert state(page)["hidden"] == []
    row.hover()
    row.locator(".toggle").click()
    find(page, "cat")  # what is looked for is shown again
    assert state(page)["hidden"] == [] and state(page)["pin"] == CAT


def test_colour_by_numbers_and_by_trust(visit):
    page = visit("mammals")
    page.select_option("#colour", label="row")
    assert page.inner_text("#scale .ends").split() == ["0", str(len(Y) - 1)]
    settle(page)
    page.keyboard.press("Escape")
    settle(page)
    assert near(pixel(page, *screen(page, 0)), RAMPS["value"]["light"][0])
    page.select_option("#colour", label="Radius")
    assert state(page)["colour"] == "radius"
    page = visit("reduced")
    page.select_option("#colour", label="Neighbours added")
    assert "not among the 5 nearest in the original" in page.inner_text("#scale")
    assert page.inner_text("#scale .ends").split("\n") == ["0 %", "100 %"]


# ---------------------------------------------------------------- sharing and saving


@IN_BOTH
def test_the_address_keeps_the_view(visit):
    page = visit("mammals")
    find(page, "dolphin")
    drag(page, (600, 300), (680, 420))
    page.mouse.wheel(0, -300)
    page.click("#klein")
    page.select_option("#colour", label="Radius")
    page.click("#theme")
    page.select_option("#colour", label="Class")
    page.evaluate("document.querySelectorAll('#scale .toggle')[2].click()")
    until(page, "location.hash.includes('filter=label:2')")
    other = visit("mammals", hash=page.evaluate("location.hash"))
    same = lambda s: {key: s[key] for key in ("model", "pin", "colour", "hidden", "theme")}
    assert same(state(other)) == same(state(page)) and state(other)["hidden"] == [2]
    assert state(other)["zoom"] == pytest.approx(state(page)["zoom"], rel=1e-5)
    assert np.allclose(shown(other), shown(page), atol=1e-9)
    other.evaluate("location.hash = '#model=poincare'")
    until(other, "horopca.state().model === 'poincare' && horopca.state().pin === -1")


def test_an_address_without_sense_shows_the_start(visit):
    plain = visit("mammals")
    page = visit(
        "mammals",
        hash="#at=x,y&zoom=-3&pin=9999&by=nothing&filter=label:99.x;constructor:1;radius:x~-1&theme=pink&model=constructor",
    )
    for hash in ("#at=1,1e9&turn=NaN", "#%E0", "#at=&pin=1.5&filter="):
        assert np.array_equal(shown(page), shown(plain)) and state(page) == state(plain)
        page.evaluate(f"location.hash = '{hash}'")
        settle(page)
    assert np.array_equal(shown(page), shown(plain)) and state(page) == state(plain)


@IN_BOTH
def test_export_as_svg(visit, tmp_path):
    page = visit("mammals")
    download = save(page, "#svg")
    assert download.suggested_filename == "Mammals.svg"
    download.save_as(tmp_path / "view.svg")
    root = ElementTree.parse(tmp_path / "view.svg").getroot()
    svg = "{http://www.w3.org/2000/svg}"
    circles = {(float(c.get("cx")), float(c.get("cy"))) for c in root.iter(f"{svg}circle") if c.get("cx")}
    places = np.array(page.evaluate(f"Array.from({{ length: {len(X)} }}, (_, i) => horopca.screen(i))"))
    assert np.linalg.norm(places[:, None] - list(circles), axis=2).min(axis=1).max() < 0.02
    texts = [text.text for text in root.iter(f"{svg}text")]
    assert {"mammal", "carnivore", "primate"} <= set(texts)
    arc = r"M(\S+) (\S+)A(\S+) \S+ 0 0 ([01]) (\S+) (\S+?)(?=M|$|L)"
    arcs = [found for path in edge_paths(tmp_path / "view.svg") for found in re.findall(arc, path)]
    (cx, cy), scale = disk(page)
    assert len(arcs) > 20
    for x0, y0, r, sweep, x1, y1 in arcs:  # a geodesic meets the rim at right angles: |centre|^2 = scale^2 + r^2
        a, b, r = np.array([float(x0), float(y0)]), np.array([float(x1), float(y1)]), float(r)
        across = np.array([a[1] - b[1], b[0] - a[0]]) / np.linalg.norm(b - a)
        lift_ = np.sqrt(max(r * r - (np.linalg.norm(b - a) / 2) ** 2, 0)) * (1 if sweep == "1" else -1)
        middle = (a + b) / 2 + across * lift_ - [cx, cy]
        # coordinates are rounded to a hundredth of a pixel, which a flat arc's centre magnifies
        assert np.linalg.norm(middle) == pytest.approx(np.hypot(scale, r), rel=0.02)


# ---------------------------------------------------------------- safety and robustness


def test_names_and_labels_are_text(visit, tmp_path):
    page = visit("hostile", expected="a message that the policy stopped something")
    shows = lambda where: page.evaluate(f"document.querySelector('{where}').textContent")
    assert shows("#title") == HOSTILE[0]
    for i, text in enumerate(HOSTILE):
        page.evaluate(f"horopca.flyTo({i})")
        settle(page)
        assert shows("#card h2") == text and text in shows("#scale") and text in shows("#live")
        assert text in shows("#colour")
    page.click("#search")
    page.keyboard.type("onerror")
    assert HOSTILE[0] in shows("#results")
    page.keyboard.press("Escape")
    save(page, "#svg").save_as(tmp_path / "view.svg")
    texts = [e.text for e in ElementTree.parse(tmp_path / "view.svg").getroot().iter() if e.tag.endswith("text")]
    assert HOSTILE[0] in texts and "ab]]>&amp;" in texts
    assert page.evaluate("typeof hacked") == "undefined"
    assert page.evaluate("document.querySelectorAll('img, script').length") == 2  # the data and the page
    # and if markup ever got in, the page's policy would still not run it
    page.evaluate("document.body.insertAdjacentHTML('beforeend', '<b onclick=\"hacked=1\" id=\"trap\">x</b>')")
    page.evaluate("trap.click()")
    assert page.evaluate("typeof hacked") == "undefined"


def test_phone_and_touch(visit):
    page = visit("mammals", 390, 844, has_touch=True, is_mobile=True, device_scale_factor=2)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    for button in ("#home", "#klein", "#colours", "#svg", "#help"):
        box = page.locator(button).bounding_box()
        assert 0 <= box["x"] and box["x"] + box["width"] <= 390 and box["y"] + box["height"] <= 844
    page.touchscreen.tap(*screen(page, 0).tolist())
    settle(page)
    assert state(page)["pin"] == 0 and page.is_visible("#card")
    centre, _ = disk(page)
    assert page.locator("#card").bounding_box()["y"] > centre[1]  # the middle of the disk stays in sight
    page.tap("#colours")
    assert page.is_visible("#legend")
    page.tap("#colours")
    # two fingers: what is between them stays there, and grows
    i = NAMES.index("carnivore")
    place = screen(page, i).tolist()
    touch = page.context.new_cdp_session(page)
    fingers = lambda d: [{"x": place[0] - d, "y": place[1], "id": 0}, {"x": place[0] + d, "y": place[1], "id": 1}]
    touch.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": fingers(20)})
    for d in (25, 30, 35, 40):
        touch.send("Input.dispatchTouchEvent", {"type": "touchMove", "touchPoints": fingers(d)})
    touch.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    settle(page)
    assert state(page)["zoom"] > 1.2 and np.abs(screen(page, i) - place).max() < 1


def test_everything_has_a_name_for_a_screen_reader(visit):
    page = visit("mammals")
    unnamed = page.evaluate(
        "[...document.querySelectorAll('button, input, select, canvas[role]')].filter((e) =>"
        " !(e.textContent.trim() || e.getAttribute('aria-label') || e.labels?.length)).map((e) => e.id)"
    )
    assert unnamed == [] and page.get_attribute("html", "lang") == "en"
    said = page.get_attribute("#ink", "aria-label")
    assert said == f"The hyperbolic plane with {len(X)} points, 9 classes, {len(EDGES)} edges"
