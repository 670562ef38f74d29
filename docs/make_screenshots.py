"""The pictures of the explorer in these pages: the mammals of WordNet, reduced from ten dimensions to the disk.

    python docs/make_screenshots.py

Needs Debian's package chromium, playwright and geoopt. Writes docs/images/explorer*.png, and docs/images/network-page.png from
what docs/networks.md makes.
"""

from __future__ import annotations

import contextlib
import re
import shutil
import tempfile
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from horopca import HoroPCA, explore
from horopca.datasets import load_mammals

IMAGES = Path(__file__).parent / "images"
SWITCHES = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]


def make_page(path: Path) -> Path:
    mammals = load_mammals()
    Y = HoroPCA(2, stretch=True, random_state=0).fit_transform(mammals.points)
    about = {"names": mammals.names, "edges": mammals.edges, "original": mammals.points}
    page = explore(Y, mammals.labels, **about, title="Mammals of WordNet")
    return page.save(path)


def make_film(folder: Path) -> Path:
    """The page that docs/networks.md saves."""
    text = (Path(__file__).parent / "networks.md").read_text(encoding="utf-8")
    with contextlib.chdir(folder):
        exec("\n".join(re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)), {})
    return folder / "mammals.html"


def find(page: Page, name: str) -> None:
    page.keyboard.press("/")
    page.keyboard.type(name)
    page.keyboard.press("Enter")
    page.wait_for_timeout(500)


def refit(page: Page) -> None:
    """The felines selected, refitted and flown to."""
    page.locator("#scale .row", has_text="feline").locator(".pick").click()
    page.click("#refit")
    page.wait_for_selector("#refitted", timeout=60_000)
    page.wait_for_timeout(500)
    page.click("#fly")
    page.mouse.move(640, 790)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        address = make_page(Path(folder, "mammals-of-wordnet.html")).as_uri()
        film = make_film(Path(folder)).as_uri()
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=SWITCHES)
        for name, at, scheme, act in (
            ("explorer", address, "light", lambda page: find(page, "cat")),
            ("explorer-refit", address, "light", refit),
            ("explorer-trust", address, "dark", lambda page: page.select_option("#colour", "false")),
            ("network-page", f"{film}#time=2", "light", lambda page: page.locator("#hint").evaluate("(hint) => hint.remove()")),
        ):
            page = browser.new_page(viewport={"width": 1280, "height": 800}, color_scheme=scheme, reduced_motion="reduce")
            page.goto(at)
            page.wait_for_timeout(1000)
            act(page)
            page.wait_for_timeout(500)
            page.screenshot(path=IMAGES / f"{name}.png")
        browser.close()


if __name__ == "__main__":
    main()
