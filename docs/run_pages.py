"""Run the Python of pages from top to bottom, warnings as errors: python docs/run_pages.py. (Tests run that of networks.md.)"""

from __future__ import annotations

import os
import re
import tempfile
import warnings
from pathlib import Path

PAGES = ("start", "seeds", "far-out", "whitening")


def main() -> None:
    warnings.simplefilter("error")
    here = Path(__file__).resolve().parent
    for name in PAGES:
        text = (here / f"{name}.md").read_text(encoding="utf-8")
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            print(f"# {name}.md")
            exec("\n".join(re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)), {})
            os.chdir(here)


if __name__ == "__main__":
    main()
