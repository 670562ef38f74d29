"""Helpers for a real browser: open a page, wait, drag, search, read pixels.

The browser is Debian's chromium, or the one that HOROPCA_BROWSER names. Without one these tests are skipped, unless
HOROPCA_BROWSER=required.
"""

import io
import os
import shutil
import time
from xml.etree import ElementTree

import numpy as np
import pytest

from horopca.geometry import from_hyperboloid, lift, to_hyperboloid, translate
from taxonomy import mammals

PATIENCE = 300_000  # milliseconds
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
CARNIVORES = [i for i, label in enumerate(LABELS) if label == "carnivore"]
FELINES = [NAMES.index(name) for name in ("feline", "cat", "wildcat", "lion", "tiger", "lynx")]
FILM = (0.3, 0.7, 1.0)  # parts of the space coordinates of X: three pictures in which all points move out from the root
PIXEL = "data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7"
HOSTILE = [
    "<img src=x onerror=hacked=1>",
    "</script><script>hacked=1</script>",
    "<!--\u2028\"'{data}<svg onload=hacked=1>",
    "a\x00b]]>&amp;",
]


def new_page(browser, **options):
    """A page in a window of its own, whose actions fail after minutes only."""
    context = browser.new_context(**{"reduced_motion": "reduce"} | options)
    context.set_default_timeout(PATIENCE)
    return Explorer(context.new_page())


def deep_points():
    """A root, two siblings at distance 1 from their parent at radius 26, and their parent."""
    parent = lift(np.sinh(26.0) * np.array([np.cos(0.7), np.sin(0.7)]))
    steps = to_hyperboloid(np.array([[0.6, 0.8], [0.6, -0.8]]), "tangent")
    return np.array([[1.0, 0.0, 0.0], *translate(steps, parent), parent])


class Explorer:
    """A page, or a frame of one, and what the tests do with the explorer on it."""

    def __init__(self, page):
        self.page = page

    def __getattr__(self, name):
        return getattr(self.page, name)

    @property
    def frames(self):
        return [Explorer(frame) for frame in self.page.frames]

    def until(self, condition):
        """Wait for a function or JavaScript to be true. (Playwright's own way needs eval, which the page's policy forbids.)"""
        for _ in range(PATIENCE // 20):  # minutes: a busy machine may be slow
            if condition() if callable(condition) else self.evaluate(condition):
                return
            time.sleep(0.02)
        raise AssertionError(f"{condition} did not come true")

    def settle(self):
        """Wait until flights have landed and two frames have been drawn."""
        self.evaluate("""new Promise((done, failed) => {
            let calm = 0, frames = 0;
            const look = () => {
              calm = horopca.state().flying ? 0 : calm + 1;
              if (calm > 2) done(); else if (frames++ > 6000) failed("it does not settle"); else requestAnimationFrame(look);
            };
            look();
        })""")

    def state(self):
        return self.evaluate("horopca.state()")

    def screen(self, i):
        return np.array(self.evaluate(f"horopca.screen({i})"))

    def all_places(self):
        """Where all points are on the screen."""
        return np.array(self.evaluate("Array.from({ length: horopca.n }, (_, i) => horopca.screen(i))"))

    def shown(self):
        """All points as the page shows them, on the hyperboloid."""
        return lift(np.array(self.evaluate("Array.from({ length: horopca.n }, (_, i) => horopca.shown(i))")))

    def disk(self, other=9):
        """Centre and radius of the disk on the screen, from where the page shows two points."""
        model = {"equidistant": "tangent"}.get(self.state()["model"], self.state()["model"])
        z = from_hyperboloid(self.shown(), model)
        a, b = self.screen(0), self.screen(other)
        scale = np.linalg.norm(b - a) / np.linalg.norm(z[other] - z[0])
        return a - scale * z[0] * [1, -1], scale

    def drag(self, start, end, steps=6):
        self.mouse.move(*start)
        self.mouse.down()
        self.mouse.move(*end, steps=steps)
        self.mouse.up()
        self.settle()

    def pixel(self, x, y):
        from PIL import Image

        one = self.screenshot(clip={"x": round(x), "y": round(y), "width": 1, "height": 1})
        return np.array(Image.open(io.BytesIO(one)).convert("RGB"))[0, 0]

    def press(self, key):
        self.keyboard.press(key)
        self.settle()

    def push(self, button):
        self.click(button)
        self.settle()

    def fly(self, i):
        self.evaluate(f"horopca.flyTo({i})")
        self.settle()

    def select(self, rows):
        self.evaluate(f"horopca.select({list(rows)})")

    def refit(self, goal, rows):
        """Refit to some rows; returns what the page says about it."""
        self.select(rows)
        found = self.evaluate(f"horopca.refit('{goal}')")
        self.settle()
        return found

    def find(self, text):
        self.keyboard.press("/")
        self.keyboard.type(text)
        self.press("Enter")

    def save(self, button):
        with self.expect_download() as caught:
            self.click(button)
        return caught.value


def edge_paths(svg):
    """The paths of the edges in a saved drawing: those in the colour of the first."""
    paths = [element.attrib for element in ElementTree.parse(svg).getroot().iter() if element.tag.endswith("}path")]
    return [path["d"] for path in paths if path["stroke"] == paths[0]["stroke"]]


def near(colour, expected, tolerance=12):
    return np.abs(np.asarray(colour, int) - [int(expected[k : k + 2], 16) for k in (1, 3, 5)]).max() <= tolerance
