"""Images of `horopca compare`: the terminal output and the panels.

    python docs/make_comparison.py

Writes docs/images/compare.svg and docs/images/compare.png.
"""

from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path

from rich.console import Console
from rich.text import Text

IMAGES = Path(__file__).parent / "images"
COMMAND = ["compare", "--plot", str(IMAGES / "compare.png"), "--force"]


def main() -> None:
    colours = {**os.environ, "FORCE_COLOR": "1", "COLUMNS": "86"}
    command = [sys.executable, "-m", "horopca", *COMMAND]
    run = subprocess.run(command, env=colours, capture_output=True, text=True, check=True)
    console = Console(record=True, width=86, file=io.StringIO())
    console.print(Text("$ horopca compare --plot disks.png", style="bold"))
    console.print(Text.from_ansi(run.stdout))
    console.save_svg(str(IMAGES / "compare.svg"), title="horopca compare")


if __name__ == "__main__":
    main()
