"""What leaves the page: drawings that every program shows, and the selection in a notebook. In a real browser."""

import json
import re
from html import escape
from importlib.resources import files
from xml.etree import ElementTree

import pytest

from horopca.explorer import explore

from .browsing import CAT, FELINES, LABELS, NAMES, ORIGINAL, Y, find, save, state, until

# elements and attributes that every program draws: no filters, no paint-order, no dominant-baseline, no CSS
LINES = {"stroke", "stroke-opacity", "stroke-width"}
DRAWN = {
    "svg": {"viewBox", "width", "height", "font-family"},
    "title": set(),
    "clipPath": {"id"},
    "g": {"clip-path"},
    "rect": {"x", "y", "width", "height", "fill", "fill-opacity"},
    "circle": {"cx", "cy", "r", "fill", "fill-opacity", *LINES},
    "path": {"d", "fill", *LINES},
    "text": {
        "x", "y", "font-size", "font-weight", "fill", "fill-opacity", "stroke-linejoin", "text-anchor", "aria-hidden", *LINES,
    },
}  # fmt: skip


def test_a_drawing_contains_only_what_every_program_draws(visit, tmp_path):
    page = visit("sunk", hash="#theme=dark")
    find(page, "cat")
    for model in ("poincare", "equidistant"):
        page.click(f"#{model}")
        save(page, "#svg").save_as(tmp_path / "view.svg")
        for element in ElementTree.parse(tmp_path / "view.svg").getroot().iter():
            assert set(element.attrib) <= DRAWN[element.tag.removeprefix("{http://www.w3.org/2000/svg}")]


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


def test_a_selection_goes_to_a_widget_and_comes_from_it(browser):
    """The widget's script beside a model as anywidget provides it: what Jupyter does, without Jupyter."""
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
    assert page.evaluate("model.get('selection')") == [i for i, label in enumerate(LABELS) if label == "primate"]
    page.evaluate(f"model.set('selection', [{CAT}, 0])")
    until(frame, "horopca.state().selected.length === 2")
    assert state(frame)["selected"] == sorted([CAT, 0])
    page.evaluate("leave()")
    assert page.evaluate("Object.keys(model.heard)") == []
    page.close()


def test_an_iframe_in_a_notebook_leaves_the_wheel_to_it_and_exchanges_selections(browser):
    page = browser.new_page(viewport={"width": 820, "height": 700})
    tall = "<div style='height: 3000px'></div>"
    script = "<script>var heard = []; addEventListener('message', (e) => heard.push(e.data))</script>"
    page.set_content(script + "<textarea></textarea>" + explore(Y, LABELS, names=NAMES)._repr_html_() + tall)
    frame = page.frames[1]
    until(frame, "'horopca' in window")
    assert frame.locator("#legend").is_visible()
    page.mouse.move(300, 300)
    page.mouse.wheel(0, 200)
    until(page, "scrollY > 100")
    assert frame.evaluate("horopca.state().zoom") == 1
    page.evaluate("scrollTo(0, 0)")
    page.mouse.click(300, 300)
    page.mouse.wheel(0, -200)
    until(frame, "horopca.state().zoom > 1")
    frame.evaluate(f"horopca.select({FELINES})")
    until(page, "heard.some((data) => data.horopca === 'selection')")
    assert page.evaluate("heard.find((data) => data.horopca === 'selection').rows") == sorted(FELINES)
    frame.click("#copy")
    until(frame, "document.getElementById('copy').textContent === 'Copied'")
    page.click("textarea")
    page.keyboard.press("Control+V")
    assert page.input_value("textarea").split("\n") == [NAMES[i] for i in sorted(FELINES)]
    page.evaluate("frames[0].postMessage({ horopca: 'select', rows: [1, 2, 1e9, 'x'] }, '*')")
    until(frame, "horopca.state().selected.length === 2")
    page.close()


@pytest.fixture
def opened(browser, tmp_path):
    """Opens a page of HTML with nothing but a recorded network; returns its page, and the addresses that were asked for."""
    context, asked = browser.new_context(reduced_motion="reduce"), []

    def answer(route):
        asked.append(route.request.url)
        route.fulfill(body="")

    context.route(lambda url: not url.startswith("file:"), answer)

    def open_html(text):
        (tmp_path / "page.html").write_text(text, encoding="utf-8")
        page = context.new_page()
        page.goto((tmp_path / "page.html").as_uri())
        return page, asked

    yield open_html
    context.close()


def test_a_converted_notebook_shows_the_page_without_a_kernel_or_a_network(opened):
    """The page is the saved output of a cell, as IPython formats it; `jupyter nbconvert --to html` converts the notebook."""
    nbconvert, nbformat = pytest.importorskip("nbconvert"), pytest.importorskip("nbformat.v4")
    formatters = pytest.importorskip("IPython.core.formatters")
    shown = explore(Y, LABELS, names=NAMES, details=[f"https://example.org/{i}" for i in range(len(Y))])
    bundle, _ = formatters.DisplayFormatter().format(shown)
    notebook = lambda bundle: nbformat.new_notebook(
        cells=[nbformat.new_code_cell("page", outputs=[nbformat.new_output("execute_result", bundle)])]
    )
    convert = lambda notebook: nbconvert.HTMLExporter().from_notebook_node(notebook)[0]
    data = re.search(r'id="data">([^<]*)<', shown.html)[1]
    assert set(bundle) == {"text/html", "text/plain"} and json.dumps(notebook(bundle)).count(data) == 1  # stored once
    page, asked = opened(convert(notebook(bundle)))
    (frame,) = page.frames[1:]
    until(frame, "'horopca' in window && !horopca.state().flying")
    assert frame.evaluate("horopca.n") == len(Y) and frame.locator("#legend").is_visible() and state(frame)["names"]
    frame.evaluate(f"horopca.flyTo({CAT})")
    until(frame, f"horopca.state().pin === {CAT}")
    for_the_page = set(asked)
    with page.expect_popup() as link:
        frame.click("#card a")
    link.value.wait_for_url(f"https://example.org/{CAT}")
    asked.clear()
    opened(convert(notebook({"text/plain": "nothing"})))
    assert for_the_page == set(asked)  # nbconvert's own: MathJax, for a notebook without the page too


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
    until(outer, "frames.length === 1")
    outer.wait_for_function("frames[0].length === 1")
    frame = outer.frames[2]
    until(frame, "'horopca' in window && !horopca.state().flying")
    assert frame.evaluate("horopca.n") == len(Y)
    frame.evaluate(f"horopca.select({FELINES})")
    frame.click("#refit")
    until(frame, "document.getElementById('refitted') || document.getElementById('no-better')")
    assert asked == []
