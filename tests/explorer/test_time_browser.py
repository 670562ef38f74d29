"""Several pictures of the same points: the slider, the button that plays them, and what stays as it was meanwhile."""

import numpy as np

from horopca.geometry import lift, pairwise_distance

from .browsing import CAT, CLOCK, FILM, X, save, screen, settle, shown, state, until

MOVING = {"reduced_motion": "no-preference"}
pictures = [lift(part * X[:, 1:]) for part in FILM]  # on the hyperboloid


def slide_to(page, time):
    page.locator("#time").fill(str(time))
    settle(page)


def apart(page, time):
    """How much the distances on the page differ from those of a picture."""
    return np.abs(pairwise_distance(shown(page)) - pairwise_distance(pictures[time])).max()


def test_the_page_starts_with_the_last_picture_and_slides_to_any(visit):
    page = visit("film")
    assert state(page)["time"] == 2 and apart(page, 2) < 1e-9
    assert page.inner_text("#when") == "epoch 3" and page.inner_text("#summary").endswith("3 pictures")
    slide_to(page, 0)
    assert apart(page, 0) < 1e-9 and page.inner_text("#when") == "epoch 1"
    assert page.get_attribute("#time", "aria-valuetext") == "epoch 1"
    page.focus("#time")
    page.keyboard.press("ArrowRight")
    settle(page)
    assert state(page)["time"] == 1 and apart(page, 1) < 1e-9
    page.keyboard.press("/")  # other keys are the page's
    assert page.evaluate("document.activeElement.id") == "search"


def test_it_plays_to_the_end_and_from_the_beginning(visit):
    page = visit("film", script=CLOCK, **MOVING)
    page.evaluate("""() => { const when = document.getElementById("when"); window.seen = [];
        new MutationObserver(() => seen.push(when.textContent)).observe(when, { childList: true }); }""")
    page.click("#play")
    until(page, "!horopca.state().playing")
    settle(page)
    assert page.evaluate("seen") == ["epoch 1", "epoch 2", "epoch 3"] and apart(page, 2) < 1e-9
    assert page.get_attribute("#play", "aria-pressed") == "false"
    page.locator("#ink").focus()
    for key, time in ((",", 1), (",", 0), (",", 0), (".", 1)):
        page.keyboard.press(key)
        settle(page)
        assert state(page)["time"] == time
    page.keyboard.press("Space")
    until(page, "!horopca.state().playing")
    assert state(page)["time"] == 2


def test_points_move_along_geodesics(visit):
    """On the way, all points are equally far along."""
    page = visit("film", script=CLOCK, **MOVING)
    seen = page.evaluate("""() => new Promise((done) => {
        const seen = [], time = document.getElementById("time");
        const look = () => {
          seen.push(Array.from({ length: horopca.n }, (_, i) => horopca.shown(i)));
          if (seen.length < 9) requestAnimationFrame(look); else done(seen);
        };
        time.value = 0;
        time.dispatchEvent(new Event("input"));
        requestAnimationFrame(look);
    })""")
    origin = np.arcsinh(np.linalg.norm(pictures[2][:, 1:], axis=1)), np.arcsinh(np.linalg.norm(pictures[0][:, 1:], axis=1))
    between = 0
    for one in seen:
        part = (np.arcsinh(np.linalg.norm(one, axis=1))[1:] - origin[0][1:]) / (origin[1] - origin[0])[1:]  # rays from the root
        assert np.ptp(part) < 1e-9
        between += 0.01 < part[0] < 0.99
    assert between


def test_what_was_chosen_stays(visit):
    page = visit("film", hash="#by=label")
    page.evaluate(f"horopca.select([{CAT}, 3, 5])")
    page.evaluate("horopca.flyTo(3)")
    settle(page)
    middle, colour = screen(page, 3), page.evaluate("horopca.colour(3)")
    slide_to(page, 0)
    found = state(page)
    assert found["selected"] == sorted([CAT, 3, 5]) and found["pin"] == 3 and found["colour"] == "label"
    assert page.evaluate("horopca.colour(3)") == colour
    assert np.abs(screen(page, 3) - middle).max() < 1e-6 and apart(page, 0) < 1e-9  # what one flew to stays in the middle
    page.keyboard.press("/")
    page.keyboard.type("cat")
    page.keyboard.press("Enter")
    settle(page)
    assert state(page)["pin"] == CAT
    assert save(page, "#csv").suggested_filename == "Mammals-in-training-epoch-1.csv"
    assert save(page, "#svg").suggested_filename == "Mammals-in-training-epoch-1.svg"


def test_the_address_keeps_the_time(visit):
    page = visit("film", hash=f"#on={CAT}&pin={CAT}&time=1")
    assert state(page)["time"] == 1 and apart(page, 1) < 1e-9
    assert np.abs(np.array(page.evaluate(f"horopca.shown({CAT})"))).max() < 1e-9
    slide_to(page, 0)
    until(page, "location.hash.includes('time=0')")
    slide_to(page, 2)
    until(page, "!location.hash.includes('time')")
    for wrong in ("time=7", "time=-1", "time=x", "time=0.5"):
        page.evaluate(f"location.hash = '#time=0&{wrong}'.replace('time=0&', '')")
        until(page, f"location.hash !== '#{wrong}' && horopca.state().time === 2")


def test_radii_are_those_of_the_picture_and_titles_are_text(visit):
    page = visit("film", hash="#by=radius")
    before = page.evaluate(f"horopca.colour({CAT})")
    slide_to(page, 0)
    assert page.evaluate(f"horopca.colour({CAT})") != before
    page.evaluate(f"horopca.flyTo({CAT})")
    settle(page)
    assert f"{np.arcsinh(np.linalg.norm(pictures[0][CAT, 1:])):.4g}" in page.inner_text("#card")
    page = visit("hostile film")
    slide_to(page, 0)
    assert page.inner_text("#when").startswith("<img") and page.evaluate("'hacked' in window") is False
    assert not visit("mammals").is_visible("#times")  # one picture has no slider


def test_the_original_is_that_of_the_last_picture(visit):
    page = visit("film", hash=f"#by=false&pin={CAT}")
    page.evaluate("horopca.select([0, 1, 2, 3, 4, 5])")
    assert "Nearest in the original" in page.inner_text("#card") and page.is_visible("#refit")
    slide_to(page, 1)
    assert state(page)["colour"] == "label" and page.locator("#colour option[value=false]").is_disabled()
    assert "original" not in page.inner_text("#card") and page.locator("#refit").count() == 0
    assert "the original is that of “epoch 3”" in page.inner_text("#left-out")
    slide_to(page, 2)
    assert "Nearest in the original" in page.inner_text("#card")
    page.evaluate("horopca.refit('variance')")
    settle(page)
    assert page.is_visible("#refitted")
    slide_to(page, 0)  # a refit is left with its picture
    assert page.locator("#refitted").count() == 0 and apart(page, 0) < 1e-9
