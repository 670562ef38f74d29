"""What leaves the page: drawings that other programs show alike, and the selection in a notebook. In a real browser."""

import ctypes.util
import importlib.util
import json
import re
import shutil
import subprocess
import sys
from importlib.resources import files
from xml.etree import ElementTree

import numpy as np
import pytest

from horopca.explorer import explore

from .browsing import CAT, LABELS, NAMES, Y, find, save, state, until

PRIMATES = [i for i, label in enumerate(LABELS) if label == "primate"]
SVG = "{http://www.w3.org/2000/svg}"
# what every program draws: no filters, no paint-order, no dominant-baseline, no styles in CSS
ELEMENTS = {"svg", "title", "clipPath", "rect", "g", "circle", "path", "text"}
ATTRIBUTES = {
    "svg": {"viewBox", "width", "height", "font-family"},
    "clipPath": {"id"},
    "g": {"clip-path", "fill-opacity", "transform"},
    "rect": {"x", "y", "width", "height", "fill"},
    "circle": {"cx", "cy", "r", "fill", "stroke", "stroke-opacity"},
    "path": {"d", "fill", "stroke", "stroke-opacity", "stroke-width"},
    "text": {
        "x", "y", "font-size", "font-weight", "fill", "stroke", "stroke-width", "stroke-linejoin", "text-anchor", "aria-hidden",
    },
}  # fmt: skip
PROGRAMS = {
    "rsvg": ["rsvg-convert", "view.svg", "-o", "view.png"],
    "inkscape": ["inkscape", "view.svg", "-o", "view.png"],
    "cairosvg": [sys.executable, "-m", "cairosvg", "view.svg", "-o", "view.png"],
}


VIEWS = [("mammals", "#model=poincare"), ("mammals", "#model=klein&theme=dark"), ("sunk", "#model=equidistant")]


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """A folder for each view."""
    return {view: tmp_path_factory.mktemp("view") for view in VIEWS}


@pytest.fixture
def drawing(visit, tabs, folders):
    """A drawing of a page, saved by it, and beside it what the browser makes of the drawing."""

    def saved(view):
        path = folders[view] / "view.svg"
        if not path.exists():
            page = visit(view[0], hash=view[1])
            find(page, "cat")
            save(page, "#svg").save_as(path)
            width, height = (float(re.search(f'{side}="([\\d.]+)"', path.read_text())[1]) for side in ("width", "height"))
            alone = tabs.take(int(np.ceil(width)), int(np.ceil(height)))
            alone.goto(path.as_uri())
            alone.screenshot(path=path.with_name("browser.png"))
            tabs.give_back(alone)
        return path

    return saved


@pytest.mark.parametrize("view", VIEWS, ids="".join)
def test_a_drawing_holds_only_what_every_program_draws(drawing, view):
    for element in ElementTree.parse(drawing(view)).getroot().iter():
        tag = element.tag.removeprefix(SVG)
        assert tag in ELEMENTS and set(element.attrib) <= ATTRIBUTES.get(tag, set())


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("view", VIEWS, ids="".join)
def test_a_drawing_looks_the_same_elsewhere(drawing, view, program):
    from PIL import Image

    command = PROGRAMS[program]
    there = shutil.which(command[0])
    if program == "cairosvg":
        there = importlib.util.find_spec("cairosvg") and ctypes.util.find_library("cairo")
    if not there:
        pytest.skip(f"{program} is not installed")
    path = drawing(view)
    subprocess.run(command, cwd=path.parent, check=True, capture_output=True)
    ours, theirs = (np.array(Image.open(path.with_name(file)).convert("RGB"), int) for file in ("browser.png", "view.png"))
    high, wide = np.minimum(ours.shape, theirs.shape)[:2]
    assert np.abs(np.subtract(ours.shape, theirs.shape)).max() <= 1
    apart = np.abs(ours[:high, :wide] - theirs[:high, :wide]).max(axis=2)
    # edges of shapes and letters are smoothed in another way; what is drawn elsewhere or not at all would be far more
    assert (apart > 60).mean() < 0.015 and apart.mean() < 3


MODEL = """
  window.model = {
    values: { html: HTML, selection: [] }, heard: {}, saved: 0,
    get(key) { return this.values[key]; },
    set(key, value) { this.values[key] = value; this.heard[`change:${key}`]?.(); },
    on(event, act) { this.heard[event] = act; },
    off(event) { delete this.heard[event]; },
    save_changes() { this.saved++; },
  };
"""


def test_a_selection_goes_to_a_notebook_and_comes_from_it(browser):
    """The widget's script beside a model as anywidget gives it: what Jupyter does, without Jupyter."""
    page = browser.new_page(viewport={"width": 1000, "height": 700})
    page.set_content("<div id='cell'></div>")
    page.evaluate(MODEL.replace("HTML", json.dumps(explore(Y, LABELS, names=NAMES).html)))
    script = (files("horopca.explorer") / "assets" / "widget.js").read_text(encoding="utf-8")
    page.evaluate(
        "async (code) => { const address = URL.createObjectURL(new Blob([code], { type: 'text/javascript' }));"
        " window.leave = (await import(address)).default.render({ model, el: document.getElementById('cell') }); }",
        script,
    )
    frame = page.frames[1]
    until(frame, "'horopca' in window")
    frame.locator("#scale .row", has_text="primate").locator(".pick").click()
    until(page, "model.saved > 0")
    assert page.evaluate("model.get('selection')") == PRIMATES
    page.evaluate(f"model.set('selection', [{CAT}, 0])")
    until(frame, "horopca.state().selected.length === 2")
    assert state(frame)["selected"] == sorted([CAT, 0])
    page.evaluate("leave()")
    assert page.evaluate("Object.keys(model.heard)") == []
    page.close()
