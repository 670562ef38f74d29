"""Browsers and pages for the tests of the explorer."""

import numpy as np
import pytest

from horopca.datasets import load_mammals
from horopca.explorer import explore
from horopca.geometry import from_hyperboloid


@pytest.fixture(scope="session")
def playwright():
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        yield playwright


@pytest.fixture(scope="session")
def browser(playwright):
    from .browsing import BROWSER, PATIENCE, SWITCHES

    browser = playwright.chromium.launch(executable_path=BROWSER, args=SWITCHES, timeout=PATIENCE)
    yield browser
    browser.close()


@pytest.fixture(scope="session")
def tabs(browser):
    """Tabs to take and to give back: a process for every page would cost as much as what most tests do in it."""
    from .browsing import Tabs

    return Tabs(browser)


@pytest.fixture(scope="session")
def pages(tmp_path_factory):
    """Pages by name, written when first asked for."""
    from .browsing import DEEP, EDGES, FILM, HOSTILE, LABELS, NAMES, ORIGINAL, PIXEL, X, Y, addresses, deep_points

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
    return addresses(pages, folder)


@pytest.fixture(scope="session")
def firefox(tmp_path_factory):
    from .firefox import FIREFOX, Firefox

    if FIREFOX is None:
        pytest.skip("there is no Firefox here")
    firefox = Firefox(tmp_path_factory.mktemp("firefox"))
    yield firefox
    firefox.close()


@pytest.fixture
def visit(request):
    """Opens a page by name, in chromium or in the browser that the test is marked with: see IN_BOTH."""
    return request.getfixturevalue(f"visit_{getattr(request, 'param', 'chromium')}")


@pytest.fixture
def visit_page(visit_chromium, tmp_path):
    """Opens a page made by `explore`."""
    return lambda page, **options: visit_chromium(page.save(tmp_path / "page.html", force=True).as_uri(), **options)


@pytest.fixture
def visit_firefox(firefox, pages):
    from .browsing import Explorer

    def open_page(name, width=1280, height=800, hash="", **only_in_chromium):
        page = Explorer(firefox.opened(pages(name) + hash, width, height))
        page.until("'horopca' in window")
        page.settle()
        return page

    return open_page


@pytest.fixture
def visit_chromium(tabs, pages):
    """At the end, nothing may have gone wrong in a page and nothing may have been asked of a network."""
    from .browsing import SHARED

    heard, wrong, asked = [], [], []

    def open_page(name, width=1280, height=800, hash="", fresh=False, expected=None, **options):
        """A page by its name or address; `fresh`: opened anew, in a tab beside that of the test's other page."""
        kind = "fresh" if fresh else name if name in SHARED and not options else ""
        page, show = tabs.show(name if "://" in name else pages(name), hash, kind, width, height, **options)
        hears = {
            "pageerror": lambda error: wrong.append(str(error)),
            "console": lambda message: message.type == "error" and not expected and wrong.append(message.text),
            "request": lambda request: asked.append(request.url),
        }
        for event, hear in hears.items():
            page.on(event, hear)
        heard.append((page, hears))
        show()
        page.until("'horopca' in window")
        page.settle()
        return page

    yield open_page
    for page, hears in heard:
        for event, hear in hears.items():
            page.remove_listener(event, hear)
    assert wrong == []
    assert all(url.startswith(("file:", "blob:")) for url in asked)
