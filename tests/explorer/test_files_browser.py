"""What leaves the page: pictures, drawings, tables, and the selection in a notebook. In a real browser."""

import csv
import json
import re
from html import escape
from importlib.resources import files
from io import BytesIO
from xml.etree import ElementTree

import numpy as np
import pytest

from horopca.explorer import explore
from horopca.plots import class_colours

from .browsing import CAT, FELINES, LABELS, NAMES, ORIGINAL, X, Y, edge_paths, new_page

SVG = "{http://www.w3.org/2000/svg}"
ARC = re.compile(r"M(\S+) (\S+)A(\S+) \S+ 0 0 ([01]) (\S+) (\S+?)(?=M|$|L)")


def picture(path_or_file):
    from PIL import Image

    return np.array(Image.open(path_or_file).convert("RGB"), int)


def test_export_as_svg(visit, tmp_path):
    page, path = visit("mammals"), tmp_path / "view.svg"
    download = page.save("#svg")
    assert download.suggested_filename == "Mammals.svg"
    download.save_as(path)
    root = ElementTree.parse(path).getroot()
    circles = {(float(c.get("cx")), float(c.get("cy"))) for c in root.iter(f"{SVG}circle") if c.get("cx")}
    assert np.linalg.norm(page.all_places()[:, None] - list(circles), axis=2).min(axis=1).max() < 0.02
    assert {"mammal", "carnivore", "primate"} <= {text.text for text in root.iter(f"{SVG}text")}
    arcs = [found for one in edge_paths(path) for found in ARC.findall(one)]
    (cx, cy), scale = page.disk()
    assert len(arcs) > 20
    for x0, y0, r, sweep, x1, y1 in arcs:  # a geodesic meets the rim at right angles: |centre|^2 = scale^2 + r^2
        a, b, r = np.array([float(x0), float(y0)]), np.array([float(x1), float(y1)]), float(r)
        across = np.array([a[1] - b[1], b[0] - a[0]]) / np.linalg.norm(b - a)
        lift_ = np.sqrt(max(r * r - (np.linalg.norm(b - a) / 2) ** 2, 0)) * (1 if sweep == "1" else -1)
        middle = (a + b) / 2 + across * lift_ - [cx, cy]
        # coordinates are rounded to a hundredth of a pixel, which a flat arc's centre magnifies
        assert np.linalg.norm(middle) == pytest.approx(np.hypot(scale, r), rel=0.02)


def test_saved_and_printed_pictures_are_on_white_in_both_themes(visit, tmp_path):
    page = visit("mammals", hash="#theme=dark")
    saved = page.save("#png")
    saved.save_as(tmp_path / "view.png")
    found = picture(tmp_path / "view.png")
    assert saved.suggested_filename == "Mammals.png" and found.shape[0] > 1200
    assert (found[[0, -1, 0, -1], [0, 0, -1, -1]] == 255).all()
    for label in ("carnivore", "primate", "whale"):
        colour = [int(class_colours(LABELS)[label][k : k + 2], 16) for k in (1, 3, 5)]
        assert (found == colour).all(axis=2).sum() > 20
    page.save("#svg").save_as(tmp_path / "view.svg")
    assert 'fill="#ffffff"/>' in (tmp_path / "view.svg").read_text().split("<g clip-path")[0]
    assert page.state()["theme"] == "dark"
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    assert not page.is_visible("#head") and not page.is_visible("#tools")
    width, height = page.evaluate("((e) => [e.width, e.height])(document.getElementById('print'))")
    box = page.locator("#print").bounding_box()
    assert box["width"] / box["height"] == pytest.approx(width / height, rel=0.01)
    assert (picture(BytesIO(page.screenshot()))[0, 0] == 255).all()
    page.emulate_media(media="screen")
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.locator("#print").count() == 0 and page.is_visible("#head")


def test_the_lasso_selects_what_is_inside(visit):
    page = visit("mammals")
    page.fly(NAMES.index("carnivore"))
    places = page.all_places()
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
    assert page.state()["selected"] == inside and 3 < len(inside) < len(X)
    assert f"{len(inside)} points selected" in page.inner_text("#chosen")
    before = page.screen(0)
    page.click("#lasso")  # without the key
    page.drag((x - 20, y - 20), (x + 20, y + 20))
    assert np.allclose(page.screen(0), before)  # a line encloses nothing, and moves nothing
    assert page.state()["selected"] == [] and page.is_hidden("#chosen")


def test_a_selection_is_carried_away(visit, tmp_path):
    page = visit("rich", permissions=["clipboard-read", "clipboard-write"])
    page.select(FELINES)
    saved = page.save("#csv")
    assert saved.suggested_filename.endswith("-selection.csv")
    saved.save_as(tmp_path / "chosen.csv")
    lines = (tmp_path / "chosen.csv").read_text().splitlines()
    assert lines[0] == "row,name,branch,letter,more,link,x,y,radius,signed,grown" and len(lines) == 7
    line = next(line for line in lines if line.startswith(f"{CAT},cat,carnivore,c,about cats,https://example.org/{CAT},"))
    assert np.allclose([float(cell) for cell in line.split(",")[6:8]], Y[CAT], atol=1e-15)
    page.save("#json").save_as(tmp_path / "chosen.json")
    found = json.loads((tmp_path / "chosen.json").read_text())
    assert found["columns"] == lines[0].split(",") and [point[0] for point in found["points"]] == sorted(FELINES)
    page.click("#copy")
    page.until("document.getElementById('live').textContent === 'names copied'")
    assert page.inner_text("#copy") == "Copied"
    assert page.evaluate("navigator.clipboard.readText()").split("\n") == [NAMES[i] for i in sorted(FELINES)]
    page.evaluate("(() => { delete Navigator.prototype.clipboard; Document.prototype.execCommand = () => false; })()")
    page.click("#copy")
    page.until("document.getElementById('copy').textContent === 'Not copied'")


def test_files_quote_formulas_and_the_table_sorts_by_any_column(visit, tmp_path):
    names = ["=1+2", "item 10", "-x", "item 9", 'a "b", c', "@z"]
    page = visit(explore(Y[:6], ["+a"] * 6, names=names, values={"size": [3, 1, 2, 6, 5, 4]}))
    page.select([0, 1, 2, 3, 4, 5])
    page.save("#csv").save_as(tmp_path / "some.csv")
    with (tmp_path / "some.csv").open(newline="") as file:
        header, *rows = csv.reader(file)
    assert header == ["row", "name", "Class", "x", "y", "radius", "size"]
    assert [row[1] for row in rows] == ["'=1+2", "item 10", "'-x", "item 9", 'a "b", c', "'@z"]
    assert {row[2] for row in rows} == {"'+a"}
    assert np.allclose([[float(cell) for cell in row[3:5]] for row in rows], Y[:6], atol=1e-15)
    page.click("#rows")
    cells = lambda k: page.locator(f"#table tbody td:nth-child({k})").all_inner_texts()
    for expected, order in (("123456", "ascending"), ("654321", "descending")):
        page.click("#table th:nth-child(7) button")
        assert cells(7) == list(expected) and page.get_attribute("#table th:nth-child(7)", "aria-sort") == order
    page.click("#table th:nth-child(2) button")
    assert cells(2).index("item 9") < cells(2).index("item 10")  # numbers in names count as numbers
    page.push("#table tbody tr:nth-child(1)")
    assert not page.is_visible("#table") and page.state()["pin"] >= 0


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


@pytest.fixture
def opened(browser, tmp_path):
    """Opens a page of HTML with nothing but a recorded network; returns its page, and the requests, each with its frame."""
    page, asked = new_page(browser, viewport={"width": 1000, "height": 700}), []

    def answer(route):
        if not route.request.is_navigation_request():
            asked.append((route.request.frame, route.request.url))
        route.fulfill(body="")

    page.context.route(lambda url: not url.startswith("file:"), answer)

    def open_html(text):
        (tmp_path / "page.html").write_text(text, encoding="utf-8")
        page.goto((tmp_path / "page.html").as_uri())
        return page, asked

    yield open_html
    page.context.close()


def test_a_selection_goes_to_a_widget_and_comes_from_it(opened):
    """The widget's script beside a model as anywidget provides it: what Jupyter does, without Jupyter."""
    page, _ = opened("<div id='cell'></div>")
    page.evaluate(MODEL.replace("HTML", json.dumps(explore(Y, LABELS, names=NAMES).html)))
    script = (files("horopca.explorer") / "assets" / "widget.js").read_text(encoding="utf-8")
    page.evaluate(
        "async (code) => { const address = URL.createObjectURL(new Blob([code], { type: 'text/javascript' }));"
        " window.leave = (await import(address)).default.render({ model, el: document.getElementById('cell') }); }",
        script,
    )
    frame = page.frames[1]
    frame.until("'horopca' in window")
    frame.locator("#scale .row", has_text="primate").locator(".pick").click()
    page.until("model.saved > 0")
    assert page.evaluate("model.get('selection')") == [i for i, label in enumerate(LABELS) if label == "primate"]
    page.evaluate(f"model.set('selection', [{CAT}, 0])")
    frame.until("horopca.state().selected.length === 2")
    assert frame.state()["selected"] == sorted([CAT, 0])
    page.evaluate("leave()")
    assert page.evaluate("Object.keys(model.heard)") == []


def test_an_iframe_in_a_notebook_leaves_the_wheel_to_it_and_exchanges_selections(opened):
    script = "<script>var heard = []; addEventListener('message', (e) => heard.push(e.data))</script>"
    shown = explore(Y, LABELS, names=NAMES)._repr_html_()
    page, _ = opened(f"{script}<textarea></textarea>{shown}<div style='height: 3000px'></div>")
    frame = page.frames[1]
    frame.until("'horopca' in window && !horopca.state().flying")
    assert frame.locator("#legend").is_visible()
    page.mouse.move(300, 300)
    page.mouse.wheel(0, 200)
    page.until("scrollY === 200")  # all the way: a scroll that goes on would move the page under the click
    assert frame.evaluate("horopca.state().zoom") == 1
    page.mouse.click(300, 300)
    page.mouse.wheel(0, -200)
    frame.until("horopca.state().zoom > 1")
    frame.select(FELINES)
    page.until("heard.some((data) => data.horopca === 'selection')")
    assert page.evaluate("heard.find((data) => data.horopca === 'selection').rows") == sorted(FELINES)
    frame.click("#copy")
    frame.until("document.getElementById('copy').textContent === 'Copied'")
    page.click("textarea")
    page.keyboard.press("Control+V")
    page.until("document.querySelector('textarea').value")
    assert page.input_value("textarea").split("\n") == [NAMES[i] for i in sorted(FELINES)]
    page.evaluate("frames[0].postMessage({ horopca: 'select', rows: [1, 2, 1e9, 'x'] }, '*')")
    frame.until("horopca.state().selected.length === 2")


# What VS Code allows in the output of a notebook, which is a webview. Workers from blobs are not allowed.
VS_CODE = (
    "default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval'; style-src 'unsafe-inline'; img-src https: http: data:; "
    "font-src https:; connect-src https: ws:; child-src https: data:"
)


def test_an_iframe_under_the_policy_of_another_page(opened):
    """Colab and VS Code show outputs in a sandboxed iframe, in which the iframe of the page is."""
    shown = explore(Y, LABELS, original=ORIGINAL)._repr_html_()
    output = f'<meta http-equiv="Content-Security-Policy" content="{VS_CODE}">{shown}'
    outer, asked = opened(
        f'<iframe width="1200" height="700" sandbox="allow-scripts allow-popups" srcdoc="{escape(output)}"></iframe>'
    )
    outer.until(lambda: outer.wait_for_timeout(10) or len(outer.frames) == 3)
    frame = outer.frames[2]
    frame.until("'horopca' in window && !horopca.state().flying")
    assert frame.evaluate("horopca.n") == len(Y)
    frame.select(FELINES)
    frame.click("#refit")
    frame.until("document.getElementById('refitted') || document.getElementById('no-better')")
    assert asked == []
