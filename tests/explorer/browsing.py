"""Helpers for a real browser: open a page, wait, drag, search, read pixels.

The browser is Debian's chromium, or the one that HOROPCA_BROWSER names. Without one these tests are skipped, unless
HOROPCA_BROWSER=required.
"""

import io
import itertools
import os
import shutil
from xml.etree import ElementTree

import numpy as np
import pytest

from horopca.geometry import from_hyperboloid, lift, to_hyperboloid, translate
from taxonomy import mammals

REQUIRED = os.environ.get("HOROPCA_BROWSER") == "required"
BROWSER = shutil.which("chromium" if REQUIRED else os.environ.get("HOROPCA_BROWSER", "chromium"))
if not REQUIRED:
    pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if BROWSER is None:
        pytest.skip("there is no chromium here", allow_module_level=True)

# A clock that advances by a tenth of a second with every frame, so that a test does not depend on the load of the machine.
CLOCK = """performance.now = () => 0; const ask = requestAnimationFrame; let now = 0;
window.requestAnimationFrame = (act) => ask(() => act(now += 100));
const wait = setTimeout; window.setTimeout = (act, length) => wait(act, length / 100);"""
IN_BOTH = pytest.mark.parametrize("visit", ["chromium", "firefox"], indirect=True)  # the behaviours that matter most
# Without the pages that chromium itself keeps ready behind every tab, and processes for tabs to come: half of all that it does.
# (The switch replaces what playwright says with it, of which the pictures need PaintHolding.)
SWITCHES = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync "
    "--disable-features=PaintHolding,SpareRendererForSitePerProcess,WebUIOmniboxPopup,WebUIOmniboxAimPopup"
).split()
X, NAMES, LABELS, EDGES = mammals()
Y = from_hyperboloid(X, "poincare")
ORIGINAL = from_hyperboloid(lift(np.c_[X[:, 1:], np.random.default_rng(3).normal(0, 0.7, (len(X), 3))]), "poincare")
DEEP = np.c_[4 * from_hyperboloid(X, "tangent"), np.random.default_rng(4).normal(0, 1, (len(X), 2))]  # tangent
CAT = NAMES.index("cat")
FELINES = [NAMES.index(name) for name in ("feline", "cat", "wildcat", "lion", "tiger", "lynx")]
FILM = (0.3, 0.7, 1.0)  # parts of the space coordinates of X: three pictures in which all points move out from the root
PIXEL = "data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7"
HOSTILE = ["<img src=x onerror=hacked=1>", "</script><script>hacked=1</script>", "<svg onload=hacked=1>", "a\x00b]]>&amp;"]


class Tabs:
    """Tabs of a browser, which are used again: a new one is a new process.

    Each has its own window: a click into a tab behind another one waits for seconds.
    """

    def __init__(self, browser):
        self.browser, self.spare, self.count = browser, {}, itertools.count()

    def take(self, width, height, script=None, **options):
        """A tab, and a function that gives it back."""
        size, spare = {"width": width, "height": height}, self.spare.setdefault(repr((script, options)), [])
        if spare:
            page = spare.pop()
            page.set_viewport_size(size)
        else:
            page = self.browser.new_context(**{"reduced_motion": "reduce", "viewport": size} | options).new_page()
            page.set_default_timeout(60_000)
            if script:
                page.add_init_script(script)

        def give_back():
            page.mouse.move(0, 0)
            spare.append(page)

        return page, give_back


def addresses(pages, folder):
    """A function from the names of pages to their addresses, which writes each when it is first asked for."""

    def address(name):
        path = folder / f"{name}.html"
        return (path if path.exists() else pages[name]().save(path)).as_uri()

    return address


def deep_points():
    """A root, two siblings at distance 1 from their parent at radius 26, and their parent."""
    parent = lift(np.sinh(26.0) * np.array([np.cos(0.7), np.sin(0.7)]))
    steps = to_hyperboloid(np.array([[0.6, 0.8], [0.6, -0.8]]), "tangent")
    return np.array([[1.0, 0.0, 0.0], *translate(steps, parent), parent])


def until(page, condition):
    """Wait for a condition. (Playwright's own way evaluates text inside the page, which the page's policy forbids.)"""
    for _ in range(3000):
        if page.evaluate(condition):
            return
        page.wait_for_timeout(10)
    raise AssertionError(f"{condition} did not come true")


def settle(page):
    """Wait until flights have landed and two frames have been drawn."""
    until(page, "!horopca.state().flying")
    page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


def state(page):
    return page.evaluate("horopca.state()")


def screen(page, i):
    return np.array(page.evaluate(f"horopca.screen({i})"))


def all_places(page):
    """Where all points are on the screen."""
    return np.array(page.evaluate("Array.from({ length: horopca.n }, (_, i) => horopca.screen(i))"))


def shown(page):
    """All points as the page shows them, on the hyperboloid."""
    return lift(np.array(page.evaluate("Array.from({ length: horopca.n }, (_, i) => horopca.shown(i))")))


def disk(page, other=9):
    """Centre and radius of the disk on the screen, from where the page shows two points."""
    model = {"equidistant": "tangent"}.get(state(page)["model"], state(page)["model"])
    z = from_hyperboloid(shown(page), model)
    a, b = screen(page, 0), screen(page, other)
    scale = np.linalg.norm(b - a) / np.linalg.norm(z[other] - z[0])
    return a - scale * z[0] * [1, -1], scale


def drag(page, start, end, steps=6):
    page.mouse.move(*start)
    page.mouse.down()
    page.mouse.move(*end, steps=steps)
    page.mouse.up()
    settle(page)


def pixel(page, x, y):
    from PIL import Image

    one = page.screenshot(clip={"x": round(x), "y": round(y), "width": 1, "height": 1})
    return np.array(Image.open(io.BytesIO(one)).convert("RGB"))[0, 0]


def edge_paths(svg):
    """The paths of the edges in a saved drawing: those in the colour of the first."""
    paths = [element.attrib for element in ElementTree.parse(svg).getroot().iter() if element.tag.endswith("}path")]
    return [path["d"] for path in paths if path["stroke"] == paths[0]["stroke"]]


def find(page, text):
    page.keyboard.press("/")
    page.keyboard.type(text)
    page.keyboard.press("Enter")
    settle(page)


def near(colour, expected, tolerance=12):
    return np.abs(np.asarray(colour, int) - [int(expected[k : k + 2], 16) for k in (1, 3, 5)]).max() <= tolerance


def save(page, button):
    with page.expect_download() as caught:
        page.click(button)
    return caught.value
