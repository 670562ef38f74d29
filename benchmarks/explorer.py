"""The explorer's page: its size, and the time of a frame while the view moves, in headless chromium without a graphics card.

python -m benchmarks.explorer
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from horopca.datasets import make_hierarchy
from horopca.explorer import explore

SWITCHES = "--headless --no-sandbox --disable-gpu --no-first-run --disable-background-networking --disable-component-update"
FRAMES = 40
TARGETS = {10_000: 30, 100_000: 250}  # milliseconds
SIZE = {"width": 1280, "height": 800}


def page_of(n: int, edges: bool):
    """A tree in the plane with names and labels, ten children to a node."""
    tree = make_hierarchy(10, 5, 2, step=1.8, random_state=0)
    pairs = tree.edges[: n - 1]
    names = [f"node {i}" for i in range(n)]
    return explore(tree.points[:n], tree.labels[:n], names=names, edges=pairs if edges else None, root=0)


def frame_times(browser, path: Path, query: str) -> tuple[str, np.ndarray, float]:
    """Which renderer was used, milliseconds per frame until it was painted, and milliseconds between frames on the screen."""
    page = browser.new_page(viewport=SIZE)
    page.goto(path.as_uri() + query)
    while not page.evaluate("'horopca' in window"):
        page.wait_for_timeout(20)
    page.evaluate("horopca.time(10)")  # shaders are compiled, code is warm
    times = np.array(page.evaluate(f"horopca.time({FRAMES})"))
    between = page.evaluate(
        "new Promise((done) => { let k = 0, first = 0; const step = (now) => {"
        " first = first || now; horopca.nudge(); k++ < 20 ? requestAnimationFrame(step) : done((now - first) / 20); };"
        " requestAnimationFrame(step); })"
    )
    renderer = page.evaluate("horopca.renderer")
    page.close()
    return renderer, times, between


def main() -> None:
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        print("The explorer's benchmark needs playwright: pip install playwright.")
        return
    executable = shutil.which("chromium") or shutil.which("google-chrome")
    if executable is None:
        print("The explorer's benchmark needs chromium, and there is none here.")
        return
    table = Table(title=f"A frame of the explorer at {SIZE['width']} x {SIZE['height']}, software rendering, milliseconds")
    for column in ("points", "edges", "page, MB", "renderer", "model", "median", "95 %", "between frames", "target"):
        table.add_column(column, justify="right")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=SWITCHES.split())
        for n in (1_000, 10_000, 20_000, 100_000):
            for edges in (False, True):
                page = page_of(n, edges)
                path = page.save(Path(folder) / f"{n}-{edges}.html")
                for query in ("#model=poincare", "#model=equidistant", "?draw=webgl2#model=poincare"):  # by itself 2d here
                    renderer, times, between = frame_times(browser, path, query)
                    cells = (
                        f"{n:,}",
                        f"{n - 1:,}" if edges else "0",
                        f"{len(page.html) / 1e6:.2f}",
                        renderer,
                        query.split("=")[-1],
                    )
                    low, high = np.median(times), np.quantile(times, 0.95)
                    target = (
                        f"< {TARGETS[n]}{'' if low < TARGETS[n] else ' MISSED'}" if n in TARGETS and renderer == "2d" else ""
                    )
                    table.add_row(*cells, f"{low:.1f}", f"{high:.1f}", f"{between:.1f}", target)
        browser.close()
    Console(width=120).print(table)


if __name__ == "__main__":
    main()
