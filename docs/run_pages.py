"""Run the Python of pages from top to bottom, warnings as errors: python docs/run_pages.py. (Tests run that of networks.md.)

What a line says that it prints, ``print(x)  # 0.05``, has to be what x is to so many digits.
"""

from __future__ import annotations

import os
import re
import tempfile
import warnings
from pathlib import Path

PAGES = ("start", "plots", "seeds", "far-out", "whitening")


def code_of(text: str) -> str:
    """The Python of a page, in which every printed number that the page states is asserted."""
    code = "\n".join(re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL))
    return re.sub(r"^print\((.*)\)  # (\d+\.(\d+))\b", asserted, code, flags=re.MULTILINE)


def asserted(line: re.Match[str]) -> str:
    value, said, digits = line.groups()
    return f'print({value})\nassert f"{{{value}:.{len(digits)}f}}" == "{said}", "the page says {said}" #'


def main() -> None:
    warnings.simplefilter("error")
    here = Path(__file__).resolve().parent
    for name in PAGES:
        text = (here / f"{name}.md").read_text(encoding="utf-8")
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            print(f"# {name}.md")
            exec(code_of(text), {})
            os.chdir(here)


if __name__ == "__main__":
    main()
