"""The pictures of the explorer in these pages: the mammals of WordNet, reduced from ten dimensions to the disk.

    python docs/make_screenshots.py

Needs Debian's package chromium, playwright and Pillow. Writes docs/images/explorer*.png.
"""

from __future__ import annotations

import io
import shutil
import tempfile
from pathlib import Path

import numpy as np
from PIL import Image
from playwright.sync_api import Page, sync_playwright

from horopca import HoroPCA, explore
from horopca.datasets import load_mammals
from horopca.embed import SarkarEmbedding

IMAGES = Path(__file__).parent / "images"
SWITCHES = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]


def make_page(folder: Path) -> Path:
    mammals = load_mammals()
    child = np.flatnonzero(mammals.parent >= 0)
    edges = np.stack([mammals.parent[child], child], axis=1)
    X = SarkarEmbedding(10, scale=1.0).fit_transform(mammals.parent)
    Y = HoroPCA(2, spine="free", objective="distortion", random_state=0).fit_transform(X)
    page = explore(Y, mammals.labels, names=mammals.names, edges=edges, original=X, title="Mammals of WordNet")
    return page.save(folder / "mammals.html")


def find(page: Page, name: str) -> None:
    page.keyboard.press("/")
    page.keyboard.type(name)
    page.keyboard.press("Enter")
    page.wait_for_timeout(500)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        address = make_page(Path(folder)).as_uri()
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=SWITCHES)
        for name, scheme, act in (
            ("explorer", "light", lambda page: find(page, "cat")),
            ("explorer-distortion", "dark", lambda page: page.select_option("#colour", "distortion")),
        ):
            page = browser.new_page(viewport={"width": 1280, "height": 800}, color_scheme=scheme, reduced_motion="reduce")
            page.goto(address)
            page.wait_for_timeout(1000)
            act(page)
            page.wait_for_timeout(500)
            picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
            picture.quantize(192).save(IMAGES / f"{name}.png", optimize=True)  # a third of the size, and no difference to see
        browser.close()


if __name__ == "__main__":
    main()
