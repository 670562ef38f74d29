"""Every link and picture of the built pages leads to something, and no page loads anything from a network.

python docs/check_site.py build/docs
"""

from __future__ import annotations

import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

ASKS = {"script": "src", "img": "src", "iframe": "src", "link": "href", "source": "src", "video": "src"}  # loaded with the page


class Page(HTMLParser):
    """What a page links to, what it loads, and the places in it that can be linked to."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.places: set[str] = set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.places |= {given.get("id", ""), given.get("name", "")}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        elif tag in ASKS and ASKS[tag] in given:
            self.loads.append(given[ASKS[tag]])


def faults(folder: Path) -> list[str]:
    """What is wrong with the pages of a folder, a sentence each."""
    pages = {path.resolve(): Page(path) for path in sorted(folder.rglob("*.html")) if "_static" not in path.parts}
    found = []
    for path, page in pages.items():
        said = path.relative_to(folder.resolve())
        found += [f"{said} loads {address} from a network." for address in page.loads if urlsplit(address).netloc]
        if "gallery" in said.parts and re.search(r"\b\w*Warning: ", path.read_text(encoding="utf-8")):
            found.append(f"{said} shows a warning.")
        for address in [*page.links, *page.loads]:
            parts = urlsplit(address)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not target.exists():
                found.append(f"{said} leads to {address}, which is not there.")
            elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].places:
                found.append(f"{said} leads to {address}, but there is no such place on that page.")
    return found


if __name__ == "__main__":
    wrong = faults(Path(sys.argv[1]))
    print("\n".join(wrong) or "Every link leads somewhere, and nothing is loaded from a network.")
    sys.exit(bool(wrong))
