"""Run the Python code of the documentation pages and save the images that they show.

    python docs/run_pages.py            # every page
    python docs/run_pages.py start      # one page

A page runs from top to bottom in a temporary folder, with warnings as errors. A line ``print(x)  # 0.05`` asserts that x is
within 0.01 of 0.05: a search may end in another optimum on another processor. An image ``images/PAGE/NAME`` is the file NAME,
which the code above it has written. Two comments, which readers of the page do not see, give instructions:

    <!-- setup                          code that runs, but is not shown, such as a sample file
    ...
    -->
    <!-- not run: needs a CUDA device -->     before a block of code
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).resolve().parent
SOURCES = [HERE.parent / "README.md", *sorted(HERE.glob("*.md"))]
PART = re.compile(
    r"^(?P<skip><!-- not run: [^\n]+ -->\n)?```python\n(?P<code>.*?)^```$"
    r"|^<!-- setup\n(?P<setup>.*?)^-->$"
    r"|^!\[[^\n]*\]\(images/(?P<folder>[\w-]+)/(?P<image>[^)]+)\)$",
    flags=re.DOTALL | re.MULTILINE,
)


def parts(path: Path) -> Iterator[tuple[str, str]]:
    """The code of a page and the images made by it, in order: ("code", text) or ("image", name)."""
    for match in PART.finditer(path.read_text(encoding="utf-8")):
        code = match["setup"] or match["code"]
        if code and not match["skip"]:
            yield "code", re.sub(r"^print\((.*)\)  # (\d+\.(\d+))\b", asserted, code, flags=re.MULTILINE)
        elif match["folder"] == path.stem:
            yield "image", match["image"]


def asserted(line: re.Match[str]) -> str:
    """The same line, with an assertion that the comment shows what it prints, up to one unit of its last digit."""
    value, shown, digits = line.groups()
    return f'print({value})\nassert abs({value} - {shown}) <= 1e-{len(digits)}, "the page shows {shown}" #'


def run(path: Path) -> None:
    """Run the code of a page, and copy its images to docs/images/PAGE."""
    images, names = HERE / "images" / path.stem, {"__name__": path.stem}
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        os.chdir(folder)
        for kind, content in parts(path):
            if kind == "code":
                exec(compile(content, path.name, "exec"), names)
            else:
                images.mkdir(parents=True, exist_ok=True)
                shutil.copy(content, images / content)
        os.chdir(HERE)


def main(pages: list[str]) -> None:
    warnings.simplefilter("error")
    warnings.filterwarnings("ignore", ".torch.jit.script. is deprecated")  # by geoopt, when it is imported
    for path in SOURCES:
        if path.stem in pages or (not pages and any(kind == "code" for kind, _ in parts(path))):
            print(f"# {path.name}", flush=True)
            run(path)


if __name__ == "__main__":
    main(sys.argv[1:])
