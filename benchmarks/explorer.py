"""The explorer's page in headless chromium without a graphics card: its size, a frame while the view moves, a refit.

python -m benchmarks.explorer                            # 1,000 to 1,000,000 points
python -m benchmarks.explorer --before ../old-checkout   # the pages of another checkout beside, frame by frame in the same run
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from horopca import HoroPCA
from horopca.datasets import make_hierarchy
from horopca.explorer import explore

SWITCHES = "--headless --no-sandbox --disable-gpu --no-first-run --disable-background-networking --disable-component-update"
ROUNDS, FRAMES = 5, 8
VIEWS = ("#model=poincare", "#model=equidistant")
TARGETS = {10_000: 30, 100_000: 250, 1_000_000: 1000}  # milliseconds of a frame
SIZE = {"width": 1280, "height": 800}


def data_of(n: int, edges: bool) -> dict[str, np.ndarray]:
    """A tree in the plane with labels, ten children to a node."""
    tree = make_hierarchy(10, 5 if n <= 111_111 else 6, 2, step=1.8, random_state=0)
    return {"Y": tree.points[:n], "labels": tree.labels[:n], "edges": tree.edges[: n - 1 if edges else 0]}


def write_page(source: str, path: str) -> None:
    """The page of the arrays in a file, as the horopca of this process makes it."""
    data = np.load(source)
    edges = data["edges"] if len(data["edges"]) else None
    names = [f"node {i}" for i in range(len(data["Y"]))]
    explore(data["Y"], data["labels"].tolist(), names=names, edges=edges, root=0).save(path)


def pages_of(n: int, edges: bool, folder: Path, before: Path | None) -> dict[str, Path]:
    """The page of this checkout and, if there is one, that of another."""
    source, paths = folder / f"{n}-{edges}.npz", {"now": folder / f"{n}-{edges}.html"}
    np.savez(source, **data_of(n, edges))
    write_page(str(source), str(paths["now"]))
    if before is not None:
        paths["before"] = folder / f"{n}-{edges}-before.html"
        command = [sys.executable, __file__, "--page", str(source), str(paths["before"])]
        subprocess.run(command, check=True, env={**os.environ, "PYTHONPATH": str(before / "src")})
    return paths


def opened(browser, path: Path, query: str):
    page = browser.new_page(viewport=SIZE, reduced_motion="reduce")
    page.set_default_timeout(300_000)
    page.goto(path.as_uri() + query)
    while not page.evaluate("'horopca' in window"):
        page.wait_for_timeout(20)
    page.evaluate("horopca.time(5)")  # the code is warm
    return page


def frame_times(browser, paths: dict[str, Path], query: str) -> dict[str, np.ndarray]:
    """Milliseconds per frame until it is painted, of each page by turns."""
    pages = {name: opened(browser, path, query) for name, path in paths.items()}
    times: dict[str, list[float]] = {name: [] for name in pages}
    for _ in range(ROUNDS):
        for name, page in pages.items():
            times[name] += page.evaluate(f"horopca.time({FRAMES})")
    for page in pages.values():
        page.close()
    return {name: np.array(found) for name, found in times.items()}


def measure_frames(browser, n: int, folder: Path, before: Path | None) -> Table:
    table = Table(title=f"A frame of {n:,} points at {SIZE['width']} x {SIZE['height']}, software rendering, milliseconds")
    for column in ("edges", "page, MB", "model", "median", "95 %", "before", "ratio", "target"):
        table.add_column(column, justify="right")
    for edges in (False, True):
        paths = pages_of(n, edges, folder, before)
        for query in VIEWS:
            model = query.split("=")[-1]
            times = frame_times(browser, paths, query)
            now, high = np.median(times["now"]), np.quantile(times["now"], 0.95)
            then = f"{np.median(times['before']):.1f}" if "before" in times else ""
            ratio = f"{now / np.median(times['before']):.2f}" if "before" in times else ""
            limit = TARGETS.get(n)
            target = "" if limit is None else f"< {limit}{'' if now < limit else ' MISSED'}"
            cells = f"{n - 1:,}" if edges else "0", f"{paths['now'].stat().st_size / 1e6:.2f}"
            table.add_row(*cells, model, f"{now:.1f}", f"{high:.1f}", then, ratio, target)
    return table


def processor_time(browser) -> float:
    """Seconds that the processes of pages have taken so far, which a busy machine does not change: of all their threads."""
    session = browser.new_browser_cdp_session()
    processes = session.send("SystemInfo.getProcessInfo")["processInfo"]
    session.detach()
    return sum(process["cpuTime"] for process in processes if process["type"] == "renderer")


def measure_refits(browser, folder: Path) -> Table:
    """A selection of all of 2,000 points in ten dimensions, refitted."""
    table = Table(title="A refit of 2,000 points in ten dimensions in the browser, seconds: medians of 5")
    for column in ("goal", "on the clock", "of the processor", "target"):
        table.add_column(column, justify="right")
    rng = np.random.default_rng(0)
    X = rng.normal(0, 1.2, (2000, 10)) * np.linspace(1.6, 0.4, 10)
    Y = HoroPCA(2, model="tangent", random_state=0).fit_transform(X)
    page = opened(browser, explore(Y, original=X, model="tangent").save(folder / "refit.html"), "")
    page.evaluate("horopca.select(Array.from({ length: horopca.n }, (_, i) => i))")
    for goal in ("variance", "distortion"):
        clock, processor = [], []
        for _ in range(5):
            before = processor_time(browser)
            clock.append(page.evaluate(f"horopca.refit('{goal}')")["seconds"])
            processor.append(processor_time(browser) - before)
        median = np.median(clock)
        table.add_row(goal, f"{median:.2f}", f"{np.median(processor):.2f}", f"< 1{'' if median < 1 else ' MISSED'}")
    page.close()
    return table


def main() -> None:
    parser = argparse.ArgumentParser(description="Frames and refits of the explorer's page.")
    parser.add_argument("--before", type=Path, help="another checkout, whose pages are measured beside")
    parser.add_argument("--points", type=int, nargs="+", default=[1_000, 10_000, 100_000, 1_000_000], help="how many")
    parser.add_argument("--page", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.page:
        return write_page(*options.page)
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        return print("The explorer's benchmark needs playwright: pip install playwright.")
    executable = shutil.which("chromium") or shutil.which("google-chrome")
    if executable is None:
        return print("The explorer's benchmark needs chromium, and there is none here.")
    console = Console(width=120)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=SWITCHES.split())
        console.print(measure_refits(browser, Path(folder)))
        for n in options.points:
            console.print(measure_frames(browser, n, Path(folder), options.before))
        browser.close()


if __name__ == "__main__":
    main()
