"""Run the Python code of the documentation pages and save the images that they show: python docs/run_pages.py.

A page runs from top to bottom in a temporary folder, with warnings as errors. A line ``print(x)  # 0.05`` asserts that x rounds
to 0.05. An image ``images/PAGE/NAME`` is the file NAME that the code of the page has written. (tests/test_networks_page.py runs
networks.md.)
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
import warnings
from pathlib import Path

HERE = Path(__file__).resolve().parent
PAGES = (
    "start",
    "methods",
    "parameters",
    "plots",
    "seeds",
    "far-out",
    "whitening",
    "neighbours",
    "trust",
    "explorer",
    "embedding",
)


def code_of(text: str) -> str:
    """The Python code of a page, with an assertion for every number that a comment says is printed."""
    code = "\n".join(re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL))
    return re.sub(r"^print\((.*)\)  # (\d+\.(\d+))\b", asserted, code, flags=re.MULTILINE)


def asserted(line: re.Match[str]) -> str:
    value, said, digits = line.groups()
    return f'print({value})\nassert f"{{{value}:.{len(digits)}f}}" == "{said}", "the page says {said}" #'


def main() -> None:
    warnings.simplefilter("error")
    for page in PAGES:
        text = (HERE / f"{page}.md").read_text(encoding="utf-8")
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            print(f"# {page}.md")
            exec(code_of(text), {})
            for name in re.findall(rf"\(images/{page}/([^)]+)\)", text):
                (HERE / "images" / page).mkdir(parents=True, exist_ok=True)
                shutil.copy(name, HERE / "images" / page / name)
            os.chdir(HERE)


if __name__ == "__main__":
    main()
