"""Configuration of Sphinx (``make docs``). Nothing is downloaded, and the pages work from disk without a server."""

from __future__ import annotations

import re
import sys
from dataclasses import fields, is_dataclass
from functools import cached_property
from importlib import import_module
from importlib.resources import files
from pathlib import Path
from typing import Any

from docutils.nodes import SkipNode
from math_core import LatexToMathML

import horopca
from horopca import HoroPCA, explore
from horopca.datasets import load_mammals

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))
from reference import public_names, write_pages  # noqa: E402

project = "horopca"
author = "The horopca developers"
project_copyright = author
version = release = horopca.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_templates", "api/generated/*.inc"]
templates_path = ["_templates"]
smartquotes = False  # text in quotation marks is copied and pasted
default_role = "autolink"  # `name` in a docstring is a link where it names something, and emphasis otherwise
nitpicky = True
nitpick_ignore_regex = [("py:.*", r"(numpy|scipy|sklearn|torch)\..*")]  # their documentation is elsewhere

# Markdown that a code host can show too
myst_enable_extensions = ["colon_fence", "dollarmath"]
myst_dmath_double_inline = True
html_math_renderer = "mathml"  # by math-core when the site is built: the pages need neither JavaScript nor a network
myst_heading_anchors = 3
myst_links_external_new_tab = False

# the reference
autosummary_generate = True
autodoc_typehints = "none"  # docstrings describe the types
autodoc_preserve_defaults = True
numpydoc_show_class_members = False
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True


def parts(cls: type) -> tuple[list[str], list[str]]:
    """The public methods and attributes of a class that this package defines, and not scikit-learn, torch or Python."""
    entries = list(getattr(cls, "_fields", ()))
    ours = {
        key: value
        for base in cls.__mro__[::-1]
        if base.__module__.startswith("horopca")
        for key, value in vars(base).items()
        if not key.startswith("_") and key not in entries
    }
    methods = [key for key, value in ours.items() if (getattr(value, "__module__", "") or "").startswith("horopca")]
    properties = [key for key, value in ours.items() if isinstance(value, property | cached_property)]
    return [key for key in methods if callable(getattr(cls, key))], entries + properties


PUBLIC = {
    f"{module_name}.{name}": getattr(import_module(module_name), name)
    for module_name, names in public_names().items()
    for name in names
}
FIELDS = {field.name for value in PUBLIC.values() if isinstance(value, type) and is_dataclass(value) for field in fields(value)}
autosummary_context = {"parts": {name: parts(value) for name, value in PUBLIC.items() if isinstance(value, type)}}

# the gallery
sphinx_gallery_conf: dict[str, Any] = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"\.py$",
    "abort_on_example_error": True,
    "capture_repr": ("_repr_html_",),  # tables and pages, not the axes that a plot returns
    "download_all_examples": False,
    "write_computation_times": False,
    "min_reported_time": 5,
    "image_srcset": ["2x"],
    "remove_config_comments": True,
}

# the theme
html_theme = "pydata_sphinx_theme"
html_title = "horopca"
html_static_path = ["_static", str(files("ziamath") / "fonts" / "STIXTwoMath-Regular.ttf")]  # the font of the formulas
html_css_files = ["site.css"]
html_show_sourcelink = False
html_sidebars: dict[str, list[str]] = {"index": [], "idea": []}  # pages without subpages
html_show_search_summary = False  # a page on disk cannot read others
html_theme_options = {
    "navbar_end": ["theme-switcher"],
    "navbar_align": "left",
    "header_links_before_dropdown": 6,
    "show_prev_next": False,
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "tango",
    "secondary_sidebar_items": ["page-toc"],
}


def link_to_other_module(app: Any, env: Any, node: Any, content: Any) -> Any:
    """Resolve a link to a name of another module, such as `HoroPCA` in the docstrings of `horopca.anndata`.

    The parameters of a dataclass are attributes of the class, but have no entry that a docstring could link to.
    """
    target = node.get("reftarget", "")
    if target in FIELDS:
        return content
    found = next((name for name in PUBLIC if name.endswith(f".{target}")), None) if node.get("refdomain") == "py" else None
    return found and env.domains["py"].resolve_xref(env, node["refdoc"], app.builder, "obj", found, node, content)


def escape_docstring(app: Any, what: str, name: str, value: Any, options: Any, lines: list[str]) -> None:
    """Escape names that end in an underscore and bars, which reStructuredText would take for links and substitutions."""
    for number, line in enumerate(lines):
        if not line.lstrip().startswith((">>>", "...")):
            parts = re.split(r"(``.+?``|`.+?`)", line)  # code and links, which need no escapes, are at odd positions
            parts[::2] = [re.sub(r"(?<=\w)_(?!\w)|\|", r"\\\g<0>", part) for part in parts[::2]]
            lines[number] = "".join(parts)


def included_pages() -> dict[str, str]:
    """Files outside this folder that a page includes, and the name of the page."""
    texts = {page.name: page.read_text(encoding="utf-8") for page in HERE.glob("*.md")}
    found = {name: re.match(r"```{include} (\S+)", text) for name, text in texts.items()}
    return {match.group(1): name for name, match in found.items() if match}


def link_to_included_pages(app: Any, page: str, source: list[str]) -> None:
    """Replace links to included files, which work on a code host, by links to their pages."""
    for path, name in included_pages().items():
        source[0] = source[0].replace(f"]({path}", f"]({name}")


def write_explorer(path: Path) -> None:
    """The page that docs/idea.md shows in a frame."""
    mammals = load_mammals()
    Y = HoroPCA(2, spine="free", objective="distortion", stretch=True).fit_transform(mammals.points)
    about = {"names": mammals.names, "edges": mammals.edges, "original": mammals.points}
    explore(Y, mammals.labels, **about, title="Mammals of WordNet").save(path, force=True)


def inline_formula(page: Any, node: Any) -> None:
    page.body.append(LatexToMathML().convert_with_local_state(node.astext(), displaystyle=False))
    raise SkipNode


def formula(page: Any, node: Any) -> None:
    mathml = LatexToMathML().convert_with_local_state(node.astext(), displaystyle=True)
    page.body.append(f'<div class="formula">{mathml}</div>')  # scrolls on a narrow screen
    raise SkipNode


def setup(app: Any) -> None:
    app.add_html_math_renderer("mathml", (inline_formula, None), (formula, None))
    write_pages(HERE / "api")
    if not (page := HERE / "_static" / "mammals.html").exists():
        write_explorer(page)
    app.connect("source-read", link_to_included_pages)
    app.connect("missing-reference", link_to_other_module)
    app.connect("autodoc-process-docstring", escape_docstring, priority=900)  # after numpydoc
