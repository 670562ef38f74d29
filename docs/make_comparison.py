"""Images of `horopca compare`: the terminal output and the panels.

    python docs/make_comparison.py

Writes docs/images/compare.svg and docs/images/compare.png.
"""

from __future__ import annotations

import io
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.text import Text

from horopca.datasets import make_hierarchy
from horopca.io import save

IMAGES = Path(__file__).parent / "images"


def main() -> None:
    colours = {**os.environ, "FORCE_COLOR": "1", "COLUMNS": "86"}
    tree = make_hierarchy(3, 5, random_state=0)
    with tempfile.TemporaryDirectory() as folder:
        path = save(Path(folder, "tree.npz"), tree.points, labels=tree.labels)
        command = [sys.executable, "-m", "horopca", "compare", str(path), "--plot", str(IMAGES / "compare.png"), "--force"]
        run = subprocess.run(command, env=colours, capture_output=True, text=True, check=True)
    console = Console(record=True, width=86, file=io.StringIO())
    console.print(Text("$ horopca compare tree.npz --plot disks.png", style="bold"))
    console.print(Text.from_ansi(run.stdout))
    console.save_svg(str(IMAGES / "compare.svg"), title="horopca compare")


if __name__ == "__main__":
    main()
