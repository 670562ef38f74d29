"""Moving, searching, the address and several pictures, in a real browser."""

import numpy as np
import pytest

from horopca.explorer import explore
from horopca.geometry import from_hyperboloid, lift, pairwise_distance, translate_to_origin
from horopca.statistics import frechet_mean

from .browsing import CAT, CLOCK, FELINES, FILM, LABELS, NAMES, ORIGINAL, X, Y, deep_points

MOVING = {"script": CLOCK, "reduced_motion": "no-preference"}
MODELS = ("poincare", "klein", "equidistant")
EPOCHS = [lift(part * X[:, 1:]) for part in FILM]  # on the hyperboloid


def test_a_dragged_point_stays_under_the_pointer_and_no_distance_changes(visit):
    page = visit("mammals")
    for model, i, end in zip(MODELS, (CAT, 0, NAMES.index("echidna")), ((700, 300), (560, 480), (675, 370)), strict=True):
        page.click(f"#{model}")
        page.drag(page.screen(i), end, steps=3)
        assert np.abs(page.screen(i) - end).max() < 1e-6
        assert np.abs(pairwise_distance(page.shown()) - pairwise_distance(X)).max() < 1e-9


@pytest.mark.parametrize("model", ["poincare", "klein"])
def test_the_wheel_magnifies_what_is_under_the_pointer_and_keeps_it_there(visit, model):
    page = visit("mammals", hash=f"#model={model}")
    i, j = NAMES.index("lion"), NAMES.index("tiger")  # near the rim
    centre, _ = page.disk()
    place = np.round(centre + 0.96 * (page.screen(i) - centre))  # wheels turn at whole pixels
    page.drag(page.screen(i), place - 40)
    page.drag(place - 40, place)
    zoom, apart = page.state()["zoom"], np.linalg.norm(page.screen(i) - page.screen(j))
    local = lambda: page.state()["zoom"] * 2 / (1 + page.shown()[i, 0])  # pixels there per unit of length, up to a constant
    before = local()
    for _ in range(8):
        page.mouse.wheel(0, -120)
    page.settle()
    assert np.abs(page.screen(i) - place).max() < 1e-3
    assert np.linalg.norm(page.screen(i) - page.screen(j)) > 3 * apart
    if model == "poincare":
        assert local() / before == pytest.approx(np.exp(8 * 120 * 0.0025))
    for _ in range(8):
        page.mouse.wheel(0, 120)
    page.settle()
    assert np.abs(page.screen(i) - place).max() < 1e-3 and page.state()["zoom"] == pytest.approx(zoom)


def test_a_double_click_flies_to_a_point_and_a_view_without_points_says_so(visit):
    page = visit("mammals")
    page.evaluate("void Object.defineProperty(Event.prototype, 'timeStamp', { get: () => 0 })")  # clicks come as fast as any
    before = page.shown()
    centre, _ = page.disk()
    page.mouse.dblclick(*page.screen(CAT))
    page.settle()
    assert np.abs(page.screen(CAT) - centre).max() < 1e-6 and page.state()["pin"] == CAT
    page.mouse.dblclick(centre[0] - 150, centre[1] + 200)  # no point there: flies to the place
    page.settle()
    assert np.abs(page.screen(CAT) - centre).max() > 50 and page.state()["pin"] == -1
    page.push("#home")
    assert np.allclose(page.shown(), before, atol=1e-9)
    page.mouse.move(640, 300)
    for _ in range(30):
        page.mouse.wheel(0, -400)
    page.settle()
    assert page.is_visible("#lost") and page.is_visible("#overview")
    page.push("#found")
    assert page.is_hidden("#lost")


def test_a_flight_follows_the_geodesic(visit):
    start = NAMES.index("koala")
    page = visit("mammals", hash=f"#on={start}&pin={start}", **MOVING)
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


def test_keys(visit):
    page = visit("mammals")
    page.focus("#ink")
    start = page.screen(0)
    page.press("ArrowRight")
    assert page.screen(0)[0] < start[0] - 20 and page.screen(0)[1] == pytest.approx(start[1])
    page.press("ArrowDown")
    assert page.screen(0)[1] < start[1] - 20
    page.keyboard.press("+")
    page.keyboard.press("+")
    page.keyboard.press("-")
    assert page.state()["zoom"] == pytest.approx(1.3)
    page.press("Home")
    assert np.abs(page.screen(0) - start).max() < 1e-6 and page.state()["zoom"] == 1
    page.keyboard.press("Enter")
    assert page.state()["pin"] == 0 and "mammal" in page.inner_text("#live")
    page.keyboard.press("Escape")
    assert page.state()["pin"] == -1 and page.is_hidden("#card")
    page.press("E")  # with Shift or Caps Lock, too
    assert page.state()["edges"] == 0
    page.keyboard.press("l")
    assert page.evaluate("document.getElementById('lasso').ariaPressed") == "true"
    page.keyboard.press("Escape")
    assert page.evaluate("document.getElementById('lasso').ariaPressed") == "false"
    page.keyboard.press("?")
    assert page.is_visible("#manual")
    page.keyboard.press("Escape")
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.id") == "search"
    page.keyboard.type("+-/")
    assert page.input_value("#search") == "+-/" and page.state()["zoom"] == 1


def test_a_list_is_one_tab_stop_and_everything_has_a_name_for_a_screen_reader(visit):
    page = visit("mammals")
    active = "document.activeElement"
    page.focus("#colour")
    page.keyboard.press("Tab")
    assert page.evaluate(f"{active}.className") == "pick"
    first = page.evaluate(f"{active}.textContent")
    page.keyboard.press("ArrowDown")
    assert page.evaluate(f"{active}.textContent") != first
    page.keyboard.press("ArrowRight")
    assert page.evaluate(f"{active}.className") == "only"
    page.keyboard.press("Tab")
    assert page.evaluate(f"{active}.closest('#scale') === null")  # at once
    unnamed = page.evaluate(
        "[...document.querySelectorAll('button, input, select, canvas[role]')].filter((e) =>"
        " !(e.textContent.trim() || e.getAttribute('aria-label') || e.labels?.length)).map((e) => e.id)"
    )
    assert unnamed == [] and page.get_attribute("html", "lang") == "en"
    assert page.get_attribute("#ink", "aria-label") == "The hyperbolic plane with 47 points, 9 classes, 46 edges"


def test_phone_and_touch(visit):
    page = visit("mammals", 390, 844, has_touch=True, is_mobile=True, device_scale_factor=2)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    for button in ("#home", "#klein", "#colours", "#svg", "#help"):
        box = page.locator(button).bounding_box()
        assert 0 <= box["x"] and box["x"] + box["width"] <= 390 and box["y"] + box["height"] <= 844
    page.touchscreen.tap(*page.screen(0).tolist())
    page.until("horopca.state().pin === 0 && document.getElementById('card').checkVisibility()")
    centre, _ = page.disk()
    assert page.locator("#card").bounding_box()["y"] > centre[1]  # the middle of the disk stays in sight
    for shows in ("true", "false"):
        page.tap("#colours")  # the browser makes a click of it later
        page.until(f"document.getElementById('legend').checkVisibility() === {shows}")
    # two fingers: what is between them stays there, and grows
    i = NAMES.index("carnivore")
    place = page.screen(i).tolist()
    touch = page.context.new_cdp_session(page.page)
    fingers = lambda d: [{"x": place[0] - d, "y": place[1], "id": 0}, {"x": place[0] + d, "y": place[1], "id": 1}]
    touch.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": fingers(20)})
    for d in (25, 30, 35, 40):
        touch.send("Input.dispatchTouchEvent", {"type": "touchMove", "touchPoints": fingers(d)})
    touch.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    page.settle()
    assert page.state()["zoom"] > 1.2 and np.abs(page.screen(i) - place).max() < 1


def test_at_depth_what_was_crushed_opens_up(visit):
    page = visit("deep", hash="#model=poincare")
    x = deep_points()
    assert np.linalg.norm(page.screen(1) - page.screen(2)) < 1e-6  # pixels
    page.find("child")
    centre, scale = page.screen(3), np.linalg.norm(page.screen(1) - page.screen(3)) / np.tanh(0.5)
    seen = from_hyperboloid(translate_to_origin(x[1:3], x[3]), "poincare")
    assert scale == pytest.approx(354, abs=20)  # the disk
    away = np.array([page.screen(i) - centre for i in (1, 2)]) / scale
    # at radius 26 a direction in float64 is good to e^26 eps = 4e-5 of a unit of length
    assert np.linalg.norm(away[0] - away[1]) == pytest.approx(np.linalg.norm(seen[0] - seen[1]), abs=1e-4)
    page.press("Home")
    assert np.abs(page.screen(0) - centre).max() < 1e-6


def test_a_single_point_and_points_close_together_fill_the_page(visit):
    page = visit("alone")
    assert page.inner_text("#summary") == "1 point" and len(page.evaluate("horopca.rings()")) >= 1
    assert np.abs(page.shown()[0, 1:]).max() < 1e-9 and np.abs(page.screen(0) - [675, 370]).max() < 20
    page.focus("#ink")
    page.keyboard.press("Enter")
    assert page.inner_text("#card h2") == "point 0" and page.locator("#card li").count() == 0
    page.find("0")
    assert page.state()["pin"] == 0
    page = visit(explore(0.005 * Y, root=0))  # an untrained epoch, within radius 0.01 of the origin
    for model in MODELS:
        page.click(f"#{model}")
        assert np.ptp(page.all_places(), axis=0).max() > 300


def test_a_word_is_found_and_flown_to(visit):
    page = visit("mammals")
    centre, _ = page.disk()
    page.click("#search")
    page.keyboard.type("CAT")
    results = page.locator("#results [role=option]")
    assert results.all_inner_texts()[0].split("\n")[0] == "cat" and "wildcat" in results.all_inner_texts()[1]
    page.press("Enter")
    assert np.abs(page.screen(CAT) - centre).max() < 1e-6
    assert page.inner_text("#card h2") == "cat" and page.inner_text("#card .of") == "carnivore"
    rows = [row.split("\n") for row in page.locator("#card li").all_inner_texts()]
    d = pairwise_distance(X)[CAT]
    assert [float(far) for _, far in rows] == [float(f"{far:.2f}") for far in np.sort(d)[1:9]]
    assert all(abs(d[NAMES.index(name)] - float(far)) < 0.006 for name, far in rows)
    assert "cat; carnivore" in page.inner_text("#live")
    page.click("#family")
    assert len(page.state()["selected"]) == 9 and CAT in page.state()["selected"]
    page.push("#card li:first-child button")
    assert page.inner_text("#card h2") == rows[0][0] and np.abs(page.screen(NAMES.index(rows[0][0])) - centre).max() < 1e-6


def test_expressions_choices_and_what_is_not_found(visit):
    page = visit("rich")
    options = page.locator("#results [role=option]")
    page.fill("#search", "/^(lion|tiger)$/")
    assert sorted(text.split("\n")[0] for text in options.all_inner_texts()[:-1]) == ["lion", "tiger"]
    page.fill("#search", "/(/")
    assert "Not a regular expression" in page.inner_text("#results")
    page.fill("#search", "unicorn")
    assert "Nothing by that name" in page.inner_text("#results")
    page.fill("#search", "bear")
    page.keyboard.press("ArrowDown")
    chosen = page.locator("#results [aria-selected=true]").inner_text().split("\n")[0]
    page.press("Enter")
    assert page.state()["pin"] == NAMES.index(chosen) and "bear" in chosen
    page.keyboard.press("/")
    page.keyboard.press("ArrowUp")  # the last line
    page.keyboard.press("Enter")
    assert [NAMES[i] for i in page.state()["selected"]] == [name for name in NAMES if "bear" in name]
    page.fill("#search", "about")  # in the details of every point
    assert options.count() == len(X) + 1 and options.last.inner_text() == f"Select all {len(X)}"
    options.last.click()
    assert len(page.state()["selected"]) == len(X)


def test_the_page_flies_to_the_centre_of_a_selection_and_back_and_forward(visit):
    page = visit("mammals")
    views = [page.shown()]
    page.select(FELINES)
    page.push("#fly")
    views.append(page.shown())
    assert np.abs(frechet_mean(views[1][FELINES]).point[1:]).max() < 1e-6
    centre, _ = page.disk()
    assert all(np.abs(page.screen(i) - centre).max() < 360 for i in FELINES)
    page.find("dolphin")
    views.append(page.shown())
    page.until("location.hash.includes('on=')")
    assert len(page.evaluate("location.hash")) < 60
    back, press = page.go_back, lambda: page.click("#back")
    for step, act in ((1, back), (0, press), (1, page.go_forward), (2, page.go_forward), (1, press), (0, press)):
        act()
        page.until(f"horopca.state().visit === {step}")
        page.settle()
        assert np.allclose(page.shown(), views[step], atol=1e-6)
    assert page.is_disabled("#back")


def test_the_address_keeps_the_view(visit):
    page = visit("mammals")
    page.find("dolphin")
    page.drag((600, 300), (680, 420))
    page.mouse.wheel(0, -300)
    page.click("#klein")
    page.click("#edges")
    page.select_option("#colour", label="Radius")
    page.click("#theme")
    page.select_option("#colour", label="Class")
    page.evaluate("document.querySelectorAll('#scale .toggle')[2].click()")
    page.select([3, 4, 5, 9, 40])
    page.until("location.hash.includes('filter=label:2') && location.hash.includes('select=3-5.9.14')")
    before, seen = page.state(), page.shown()
    other = visit("mammals", hash=page.evaluate("location.hash"))
    same = lambda s: {key: s[key] for key in ("model", "pin", "colour", "hidden", "theme", "selected", "edges")}
    assert same(other.state()) == same(before) and before["hidden"] == [2] and before["edges"] == 0
    assert other.state()["zoom"] == pytest.approx(before["zoom"], rel=1e-5)
    assert np.allclose(other.shown(), seen, atol=1e-9)
    other.evaluate("location.hash = '#model=poincare'")
    other.until("horopca.state().model === 'poincare' && horopca.state().pin === -1")


NONSENSE = (
    "#at=x,y&zoom=-3&pin=9999&by=nothing&filter=label:99.x;constructor:1;radius:x~-1&theme=pink&model=constructor",
    "#at=1,1e9&turn=NaN",
    "#%E0",
    "#at=&pin=1.5&filter=",
    "#model=constructor&by=__proto__&scale=toString&select=zzz-&refit=toString,1-9",
)


def test_an_address_without_sense_shows_the_start(visit):
    page = visit("mammals")
    start, plain = page.shown(), page.state()
    for hash in NONSENSE:
        page.evaluate(f"location.hash = '{hash}'")
        page.until(f"location.hash !== {hash!r}")  # it is replaced once the view has settled
        assert np.array_equal(page.shown(), start) and page.state() == plain


def slide_to(page, time):
    page.locator("#time").fill(str(time))
    page.settle()


def apart(page, time):
    """How much the distances on the page differ from those of a picture."""
    return np.abs(pairwise_distance(page.shown()) - pairwise_distance(EPOCHS[time])).max()


def test_the_page_starts_with_the_last_picture_slides_to_any_and_keeps_what_was_chosen(visit):
    page = visit("film")
    assert page.state()["time"] == 2 and apart(page, 2) < 1e-9
    assert page.inner_text("#when") == "epoch 3" and page.inner_text("#summary").endswith("3 pictures")
    page.select([CAT, 3, 5])
    page.fly(3)
    middle, colour = page.screen(3), page.evaluate("horopca.colour(3)")
    slide_to(page, 0)
    found = page.state()
    assert apart(page, 0) < 1e-9 and page.inner_text("#when") == page.get_attribute("#time", "aria-valuetext") == "epoch 1"
    assert found["selected"] == sorted([CAT, 3, 5]) and found["pin"] == 3 and page.evaluate("horopca.colour(3)") == colour
    assert np.abs(page.screen(3) - middle).max() < 1e-6  # what one flew to stays in the middle
    assert f"{np.arcsinh(np.linalg.norm(EPOCHS[0][3, 1:])):.4g}" in page.inner_text("#card")
    page.focus("#time")
    page.press("ArrowRight")
    assert page.state()["time"] == 1 and apart(page, 1) < 1e-9
    page.find("cat")  # other keys are the page's
    assert page.state()["pin"] == CAT
    assert page.save("#csv").suggested_filename == "Mammals-in-training-epoch-2-selection.csv"
    assert page.save("#svg").suggested_filename == "Mammals-in-training-epoch-2.svg"
    page.select_option("#colour", label="Radius")
    before = page.evaluate(f"horopca.colour({CAT})")
    slide_to(page, 2)
    assert page.evaluate(f"horopca.colour({CAT})") != before
    assert not visit("mammals").is_visible("#times")  # one picture has no slider


def test_it_plays_to_the_end_and_from_the_beginning_along_geodesics(visit):
    page = visit("film", **MOVING)
    page.evaluate("""() => { const when = document.getElementById("when"); window.titles = [];
        new MutationObserver(() => titles.push(when.textContent)).observe(when, { childList: true }); }""")
    page.click("#play")
    page.until("!horopca.state().playing")
    page.settle()
    assert page.evaluate("titles") == ["epoch 1", "epoch 2", "epoch 3"] and apart(page, 2) < 1e-9
    assert page.get_attribute("#play", "aria-pressed") == "false"
    seen = page.evaluate("""() => new Promise((done) => {
        const seen = [], time = document.getElementById("time");
        const look = () => {
          seen.push(Array.from({ length: horopca.n }, (_, i) => horopca.shown(i)));
          if (horopca.state().flying) requestAnimationFrame(look); else done(seen);
        };
        time.value = 0;
        time.dispatchEvent(new Event("input"));
        requestAnimationFrame(look);
    })""")
    first, last = (np.arcsinh(np.linalg.norm(EPOCHS[k][:, 1:], axis=1))[1:] for k in (2, 0))
    parts = [(np.arcsinh(np.linalg.norm(one, axis=1))[1:] - first) / (last - first) for one in seen]  # rays from the root
    assert max(np.ptp(part) for part in parts) < 1e-9  # on the way, all points are equally far along
    assert any(0.01 < part[0] < 0.99 for part in parts)
    page.locator("#ink").focus()
    for key, time in ((",", 0), (".", 1)):
        page.press(key)
        assert page.state()["time"] == time
    page.keyboard.press("Space")
    page.until("!horopca.state().playing")
    assert page.state()["time"] == 2


def test_the_address_keeps_the_time_and_the_original_is_that_of_the_last_picture(visit):
    page = visit("film", hash=f"#on={CAT}&pin={CAT}&time=1")
    assert page.state()["time"] == 1 and apart(page, 1) < 1e-9
    assert np.abs(np.array(page.evaluate(f"horopca.shown({CAT})"))).max() < 1e-9
    slide_to(page, 0)
    page.until("location.hash.includes('time=0')")
    for wrong in ("time=7", "time=x", "time=0.5"):
        page.evaluate(f"location.hash = '#{wrong}'")
        page.until(f"location.hash !== '#{wrong}' && horopca.state().time === 2")
    page.evaluate(f"location.hash = '#by=false&pin={CAT}'")
    page.until("horopca.state().colour === 'false'")
    page.select([0, 1, 2, 3, 4, 5])
    assert "Nearest in the original" in page.inner_text("#card") and page.is_visible("#refit")
    slide_to(page, 1)
    assert page.state()["colour"] == "label" and page.locator("#colour option[value=false]").is_disabled()
    assert "original" not in page.inner_text("#card") and page.locator("#refit").count() == 0
    assert "the original is that of “epoch 3”" in page.inner_text("#left-out")
    slide_to(page, 2)
    assert "Nearest in the original" in page.inner_text("#card")
    page.evaluate("horopca.refit('variance')")
    page.settle()
    assert page.is_visible("#refitted")
    slide_to(page, 0)  # a refit is left with its picture
    assert page.locator("#refitted").count() == 0 and apart(page, 0) < 1e-9


def test_two_pictures_side_by_side_are_linked_and_kept_in_the_address(visit):
    def panes_of(page):
        for pane in page.frames[1:]:
            pane.until("'horopca' in window && !horopca.state().flying")
        return page.frames[1:]

    page_of_two = explore([Y / 2, Y], LABELS, names=NAMES, original=ORIGINAL, titles=["before", "after"], layout="side")
    page = visit(page_of_two, width=1400)
    first, second = panes = panes_of(page)
    assert [pane.inner_text("#title") for pane in panes] == ["before", "after"] and not page.is_visible("#tools")
    assert not first.is_visible("#times") and [pane.state()["time"] for pane in panes] == [0, 1]
    lion = NAMES.index("lion")
    first.evaluate(f"horopca.flyTo({lion})")
    second.until(f"horopca.state().pin === {lion} && !horopca.state().flying")
    assert np.abs(second.evaluate(f"horopca.shown({lion})")).max() < 1e-9
    assert "Nearest in the original" in second.inner_text("#card")
    second.select([0, lion])
    first.until("horopca.state().selected.length === 2")
    first.click("#klein")
    second.until("horopca.state().model === 'klein'")
    first.evaluate("document.querySelectorAll('#scale .toggle')[1].click()")
    second.until("horopca.state().hidden.length === 1")
    assert second.state()["hidden"] == first.state()["hidden"] == [1]
    page.until("location.hash.split('/').every((part) => part.includes('klein') && part.includes('filter'))")
    again = panes_of(visit(page_of_two, hash=page.evaluate("location.hash"), width=1400))
    for pane in again:
        found = pane.state()
        assert (found["pin"], found["model"], found["hidden"], found["selected"]) == (lion, "klein", [1], [0, lion])
        assert np.abs(pane.evaluate(f"horopca.shown({lion})")).max() < 1e-9
    assert [pane.state()["time"] for pane in again] == [0, 1]
