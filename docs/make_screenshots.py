"""The pictures of the explorer in these pages: the mammals of WordNet, reduced from ten dimensions to the disk.

    python docs/make_screenshots.py

Needs Debian's packages chromium and wordnet-base, playwright and Pillow. Writes docs/images/explorer*.png.
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
from horopca.embed import SarkarEmbedding

WORDNET = Path("/usr/share/wordnet/data.noun")
IMAGES = Path(__file__).parent / "images"
SWITCHES = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]


def mammals() -> tuple[list[str], np.ndarray]:
    """Names, and the row of each one's parent (-1 for the root), parents first."""
    word, children = {}, {}
    for line in WORDNET.read_text(encoding="utf-8").splitlines():
        if line.startswith("  "):
            continue  # the licence
        fields = line.split(" | ")[0].split()
        n_words = int(fields[3], 16)
        pointers = fields[5 + 2 * n_words :]
        word[fields[0]] = fields[4].replace("_", " ")
        for symbol, synset, part in zip(pointers[::4], pointers[1::4], pointers[2::4], strict=False):
            if symbol in ("@", "@i") and part == "n":
                children.setdefault(synset, []).append(fields[0])
    order = [next(synset for synset, name in word.items() if name == "mammal")]
    parent = {order[0]: -1}
    for row, synset in enumerate(order):
        for child in children.get(synset, []):
            if child not in parent:
                parent[child] = row
                order.append(child)
    return [word[synset] for synset in order], np.array([parent[synset] for synset in order])


def orders(names: list[str], parent: np.ndarray) -> list[str]:
    """The child of the placentals, or else of the root, that each belongs to."""
    placental, found = names.index("placental"), []
    for row, up in enumerate(parent):
        found.append(names[row] if up in (-1, 0, placental) else found[up])
    return found


def make_page(folder: Path) -> Path:
    names, parent = mammals()
    edges = np.stack([parent, np.arange(len(parent))], axis=1)[1:]
    X = SarkarEmbedding(10, scale=1.0).fit_transform(parent)
    Y = HoroPCA(2, spine="free", objective="distortion", random_state=0).fit_transform(X)
    page = explore(Y, orders(names, parent), names=names, edges=edges, original=X, title="Mammals of WordNet")
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
