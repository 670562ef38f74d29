"""Browsers and pages for the tests of the explorer."""

import numpy as np
import pytest

from horopca.datasets import load_mammals
from horopca.explorer import explore
from horopca.geometry import from_hyperboloid


@pytest.fixture(scope="session")
def browser():
    from playwright.sync_api import sync_playwright

    from .browsing import BROWSER, PATIENCE, SWITCHES

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=BROWSER, args=SWITCHES, timeout=PATIENCE)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def tabs():
    """Tabs of the browser that no test has at the moment, by their options."""
    return {}


@pytest.fixture(scope="session")
def pages(tmp_path_factory):
    """Pages by name, written when first asked for."""
    from .browsing import DEEP, EDGES, FILM, HOSTILE, LABELS, NAMES, ORIGINAL, PIXEL, X, Y, deep_points

    folder = tmp_path_factory.mktemp("pages")
    pages = {
        "mammals": lambda: explore(Y, LABELS, names=NAMES, edges=EDGES, title="Mammals", values={"row": np.arange(len(Y))}),
        "reduced": lambda: explore(Y, LABELS, names=NAMES, original=ORIGINAL, n_neighbors=5),
        "rich": lambda: explore(
            Y,
            {"branch": LABELS, "letter": [name[0] for name in NAMES]},
            names=NAMES,
            values={"signed": np.linspace(-1, 3, len(Y)), "grown": np.geomspace(1, 1e4, len(Y))},
            details={"more": [f"about {name}s" for name in NAMES], "link": [f"https://example.org/{i}" for i in range(len(Y))]},
            images=[PIXEL if i == 0 else None for i in range(len(Y))],
            sizes=np.arange(1, len(Y) + 1),
        ),
        "sunk": lambda: explore(
            from_hyperboloid(X, "tangent") * 4, LABELS, names=NAMES, edges=EDGES, original=DEEP, model="tangent", root=0
        ),
        "wordnet": lambda: explore(load_mammals().points[:, :2], original=load_mammals().points),
        "hostile": lambda: explore(
            [Y[:4] / 2, Y[:4]],
            HOSTILE,
            names=HOSTILE,
            edges=[[0, 1]],
            values={text: range(4) for text in HOSTILE},
            title=HOSTILE[0],
            titles=HOSTILE[:2],
        ),
        "film": lambda: explore(
            [part * X[:, 1:] for part in FILM],
            LABELS,
            names=NAMES,
            edges=EDGES,
            original=np.c_[X[:, 1:], np.random.default_rng(3).normal(0, 0.7, (len(X), 3))],
            model="lorentz-space",
            title="Mammals in training",
            titles=["epoch 1", "epoch 2", "epoch 3"],
        ),
        "alone": lambda: explore([[0.3, 0.1]]),
        "deep": lambda: explore(deep_points(), names=["root", "left", "right", "child"], model="lorentz", root=0),
    }

    def address(name):
        path = folder / f"{name}.html"
        return (path if path.exists() else pages[name]().save(path)).as_uri()

    return address


@pytest.fixture
def visit(browser, tabs, pages, tmp_path):
    """Opens a page by its name, or one made by `explore`.

    At the end, nothing may have gone wrong in a page and nothing may have been asked of a network.
    """
    from .browsing import new_page

    wrong, asked, heard = [], [], []

    def open_page(page, width=1280, height=800, hash="", expected=None, **options):
        """`expected`: why the console may show errors. Tabs are kept: a new one is a new process."""
        address = pages(page) if isinstance(page, str) else page.save(tmp_path / "page.html", force=True).as_uri()
        script, size = options.pop("script", None), {"width": width, "height": height}
        key = repr((script, options))
        if not tabs.get(key):
            tab = new_page(browser, viewport=size, **options)
            if script:
                tab.add_init_script(script)
        else:
            tab = tabs[key].pop()
            tab.mouse.move(0, 0)
            tab.set_viewport_size(size)
        hears = {
            "pageerror": lambda error: wrong.append(str(error)),
            "console": lambda message: message.type == "error" and not expected and wrong.append(message.text),
            "request": lambda request: asked.append(request.url),
        }
        for event, hear in hears.items():
            tab.on(event, hear)
        heard.append((key, tab, hears))
        tab.goto("about:blank")  # with another hash alone the page would stay
        tab.goto(address + hash)
        tab.until("'horopca' in window")
        tab.settle()
        return tab

    yield open_page
    for key, tab, hears in heard:
        for event, hear in hears.items():
            tab.remove_listener(event, hear)
        tabs.setdefault(key, []).append(tab)
    assert wrong == []
    assert all(url.startswith(("file:", "blob:", "about:")) for url in asked)
