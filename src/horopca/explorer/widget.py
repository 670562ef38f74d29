"""The page as a notebook widget, whose selection is a list in Python."""

from __future__ import annotations

from importlib.resources import files
from typing import Any


def notebook_widget(html: str) -> Any:
    """A widget that shows the page, with a traitlet `selection` (row numbers); None if anywidget is not installed."""
    try:
        import anywidget
        import traitlets
    except ImportError:
        return None

    class Explorer(anywidget.AnyWidget):  # type: ignore[misc, unused-ignore]
        """The page; `selection` contains the selected rows, and setting it selects rows."""

        _esm = (files(__package__) / "assets" / "widget.js").read_text(encoding="utf-8")
        html = traitlets.Unicode().tag(sync=True)
        selection = traitlets.List(traitlets.Int()).tag(sync=True)

    return Explorer(html=html)
