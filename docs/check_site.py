"""Check the built pages: links and images exist, nothing is loaded from a network, and no page shows warnings or stray escapes.

python docs/check_site.py build/docs
"""

from __future__ import annotations

import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADED = {
    "script": "src",
    "img": "src",
    "iframe": "src",
    "link": "href",
    "source": "src",
    "video": "src",
}  # loaded with the page


class Page(HTMLParser):
    """The links of a page, the files it loads, and its anchors."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.anchors: set[str] = set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.anchors |= {given.get("id", ""), given.get("name", "")}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        elif tag in LOADED and LOADED[tag] in given:
            self.loads.append(given[LOADED[tag]])


def errors(folder: Path) -> list[str]:
    """The errors in the pages of a folder, as sentences."""
    pages = {path.resolve(): Page(path) for path in sorted(folder.rglob("*.html")) if "_static" not in path.parts}
    found = []
    for path, page in pages.items():
        name = path.relative_to(folder.resolve())
        found += [f"{name} loads {address} from a network." for address in page.loads if urlsplit(address).netloc]
        if "gallery" in name.parts and re.search(r"\b\w*Warning: ", path.read_text(encoding="utf-8")):
            found.append(f"{name} shows a warning.")
        if "api" in name.parts and r"\_" in path.read_text(encoding="utf-8"):
            found.append(f"{name} shows a backslash before an underscore.")
        for address in [*page.links, *page.loads]:
            parts = urlsplit(address)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not target.exists():
                found.append(f"{name} links to {address}, which does not exist.")
            elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].anchors:
                found.append(f"{name} links to {address}, but that page has no such anchor.")
    return found


if __name__ == "__main__":
    found = errors(Path(sys.argv[1]))
    print("\n".join(found) or "All links work, and nothing is loaded from a network.")
    sys.exit(bool(found))
