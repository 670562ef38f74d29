"""The pictures of the explorer in these pages: the mammals of WordNet, reduced from ten dimensions to the disk.

    python docs/make_screenshots.py

Needs Debian's package chromium and playwright. Writes docs/images/explorer*.png.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from horopca import HoroPCA, explore
from horopca.datasets import load_mammals

IMAGES = Path(__file__).parent / "images"
SWITCHES = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]


def make_page(folder: Path) -> Path:
    mammals = load_mammals()
    Y = HoroPCA(2, random_state=0).fit_transform(mammals.points)
    about = {"names": mammals.names, "edges": mammals.edges, "original": mammals.points}
    page = explore(Y, mammals.labels, **about, title="Mammals of WordNet")
    return page.save(folder / "mammals.html")


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
        address = make_page(Path(folder)).as_uri()
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=SWITCHES)
        for name, scheme, act in (
            ("explorer", "light", lambda page: find(page, "cat")),
            ("explorer-refit", "light", refit),
            ("explorer-trust", "dark", lambda page: page.select_option("#colour", "false")),
        ):
            page = browser.new_page(viewport={"width": 1280, "height": 800}, color_scheme=scheme, reduced_motion="reduce")
            page.goto(address)
            page.wait_for_timeout(1000)
            act(page)
            page.wait_for_timeout(500)
            page.screenshot(path=IMAGES / f"{name}.png")
        browser.close()


if __name__ == "__main__":
    main()
