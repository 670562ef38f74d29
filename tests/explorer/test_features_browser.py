"""Filters, density, ruler, panes, names of classes and saved files, in a real browser."""

import csv
import io

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.sparse.csgraph import shortest_path

from horopca import TangentPCA, refine
from horopca.datasets import make_hierarchy
from horopca.explorer import explore
from horopca.geometry import distance, from_hyperboloid, to_hyperboloid
from horopca.metrics import average_distortion
from horopca.plots import class_colours

from .browsing import EDGES, LABELS, NAMES, ORIGINAL, X, Y, all_places, disk, pixel, save, screen, settle, shown, state, until

CLASSES = [f"class {k}" for k in range(50)]


def picture(path_or_bytes):
    from PIL import Image

    source = io.BytesIO(path_or_bytes) if isinstance(path_or_bytes, bytes) else path_or_bytes
    return np.array(Image.open(source).convert("RGB"), int)


# ---------------------------------------------------------------- classes and names


def test_every_class_has_a_colour_and_a_name_in_natural_order(visit_page):
    rng = np.random.default_rng(0)
    Z = rng.uniform(-0.6, 0.6, (2000, 2))
    sectors = np.floor((np.arctan2(*Z.T) / (2 * np.pi) + 0.5) * 50).astype(int)
    page = visit_page(explore(Z, [CLASSES[k] for k in sectors]))
    assert page.locator("#scale .row .what").all_inner_texts() == CLASSES
    dots = page.evaluate("[...document.querySelectorAll('#scale .dot')].map((e) => e.style.background)")
    assert len(set(dots)) == len(CLASSES)
    few = state(page)["classes"]
    assert 5 < len(few) < 50
    page.evaluate("horopca.select([0])")  # one point lit: no names of classes over it
    until(page, "horopca.state().classes.length === 0")  # with the next frame


def test_the_first_screen_of_a_large_tree_shows_its_large_subtrees(visit_page):
    tree = make_hierarchy(5, 5, 2, step=1.6, random_state=0)
    names = [f"node {i}" for i in range(len(tree.points))]
    page = visit_page(explore(tree.points, tree.labels, names=names, edges=tree.edges, root=0))
    assert "2,000 of 3,905 edges in view: those of the largest subtrees" in page.inner_text("#left-out")
    first = state(page)
    assert {f"branch {k}" for k in range(1, 6)} <= set(first["classes"])
    assert np.median([int(name.split()[1]) for name in first["names"]]) < 500  # parents come before children in the rows


# ---------------------------------------------------------------- files and paper


def test_saved_pictures_are_on_white_in_both_themes(visit, tmp_path):
    page = visit("mammals", hash="#theme=dark")
    saved = save(page, "#png")
    saved.save_as(tmp_path / "view.png")
    found = picture(tmp_path / "view.png")
    assert saved.suggested_filename == "Mammals.png" and found.shape[0] > 1200
    assert (found[[0, -1, 0, -1], [0, 0, -1, -1]] == 255).all()
    for label in ("carnivore", "primate", "whale"):
        colour = [int(class_colours(LABELS)[label][k : k + 2], 16) for k in (1, 3, 5)]
        assert (found == colour).all(axis=2).sum() > 20
    save(page, "#svg").save_as(tmp_path / "view.svg")
    assert 'fill="#ffffff"/>' in (tmp_path / "view.svg").read_text().split("<g clip-path")[0]
    assert state(page)["theme"] == "dark"


def test_a_printed_page_is_the_picture_in_its_proportions(visit):
    page = visit("mammals", hash="#theme=dark")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    assert not page.is_visible("#head") and not page.is_visible("#tools")
    box, size = (
        page.locator("#print").bounding_box(),
        page.evaluate("[print.width, print.height]".replace("print", "document.getElementById('print')")),
    )
    assert box["width"] / box["height"] == pytest.approx(size[0] / size[1], rel=0.01)
    assert (picture(page.screenshot())[0, 0] == 255).all()
    page.emulate_media(media="screen")
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.locator("#print").count() == 0 and page.is_visible("#head")


def test_files_quote_formulas_and_the_table_sorts_by_any_column(visit_page, tmp_path):
    names = ["=1+2", "item 10", "-x", "item 9", 'a "b", c', "@z"]
    page = visit_page(explore(Y[:6], ["+a"] * 6, names=names, values={"size": [3, 1, 2, 6, 5, 4]}))
    page.evaluate("horopca.select([0, 1, 2, 3, 4, 5])")
    save(page, "#csv").save_as(tmp_path / "some.csv")
    with (tmp_path / "some.csv").open(newline="") as file:
        header, *rows = csv.reader(file)
    assert header == ["row", "name", "Class", "x", "y", "radius", "size"]
    assert [row[1] for row in rows] == ["'=1+2", "item 10", "'-x", "item 9", 'a "b", c', "'@z"] and {
        row[2] for row in rows
    } == {"'+a"}
    assert np.allclose([[float(cell) for cell in row[3:5]] for row in rows], Y[:6], atol=1e-15)
    page.click("#rows")
    column = lambda k: page.evaluate(
        f"[...document.querySelectorAll('#table tbody tr')].map((row) => row.cells[{k}].textContent)"
    )
    page.click("#table th:nth-child(7) button")
    assert column(6) == list("123456")
    page.click("#table th:nth-child(7) button")
    assert column(6) == list("654321") and page.get_attribute("#table th:nth-child(7)", "aria-sort") == "descending"
    page.click("#table th:nth-child(2) button")
    assert column(1).index("item 9") < column(1).index("item 10")  # numbers in names count as numbers
    page.click("#table tbody tr:nth-child(1)")
    settle(page)
    assert not page.is_visible("#table") and state(page)["pin"] >= 0


def test_search_by_regular_expression(visit):
    page = visit("mammals")
    found = lambda: [text.split("\n")[0] for text in page.locator("#results [role=option]").all_inner_texts()]
    page.fill("#search", "/^(lion|tiger)$/")
    assert sorted(found()[:-1]) == ["lion", "tiger"]
    page.fill("#search", "/(/")
    assert "Not a regular expression" in page.inner_text("#results")
    page.fill("#search", "bear")
    page.keyboard.press("ArrowDown")
    chosen = page.locator("#results [aria-selected=true]").inner_text().split("\n")[0]
    page.keyboard.press("Enter")
    settle(page)
    assert state(page)["pin"] == NAMES.index(chosen) and "bear" in chosen
    page.fill("#search", "unicorn")
    assert "Nothing by that name" in page.inner_text("#results")


def test_points_close_together_fill_the_page(visit_page):
    """An untrained epoch, within radius 0.01 of the origin."""
    page = visit_page(explore(0.005 * Y, root=0))
    for model in ("poincare", "klein", "equidistant"):
        page.click(f"#{model}")
        assert np.ptp(all_places(page), axis=0).max() > 300


# ---------------------------------------------------------------- filters


def brush(page, first, last):
    box = page.locator("#histogram").bounding_box()
    page.mouse.move(box["x"] + first * box["width"], box["y"] + 20)
    page.mouse.down()
    page.mouse.move(box["x"] + last * box["width"], box["y"] + 20, steps=4)
    page.mouse.up()
    settle(page)


def test_filters_add_up_and_are_kept_in_the_address(visit):
    page = visit("mammals", hash="#by=column-0")  # the row numbers
    brush(page, 0.25, 0.75)
    n = len(Y)
    rows = np.arange(n)
    inside = (rows >= 0.25 * (n - 1)) & (rows <= 0.75 * (n - 1))
    drawn = lambda: np.array(page.evaluate("Array.from({ length: horopca.n }, (_, i) => horopca.visible(i))"))
    assert np.abs(drawn() ^ inside).sum() <= 2  # a pixel of the chart is more than half a row
    page.select_option("#colour", label="Class")
    row = page.locator("#scale .row", has_text="carnivore")
    row.hover()
    row.locator(".toggle").click()
    settle(page)
    both = drawn()
    assert not both[np.array(LABELS) == "carnivore"].any() and both.any() and (both <= inside + 2).all()
    assert f"{both.sum()} of {n} points shown" in page.inner_text("#scale")
    until(page, "location.hash.includes('label:')")
    other = visit("mammals", hash=page.evaluate("location.hash"))
    assert (np.array(other.evaluate("Array.from({ length: horopca.n }, (_, i) => horopca.visible(i))")) == both).all()
    hidden = int(np.flatnonzero(~both)[0])
    page.evaluate(f"horopca.flyTo({hidden})")  # what is looked for is shown again
    settle(page)
    assert drawn()[hidden]
    page.select_option("#colour", label="row")
    brush(page, 0.5, 0.5)  # a click
    while page.locator("#scale .all").count():
        page.locator("#scale .all").last.click()
    assert drawn().all()


# ---------------------------------------------------------------- density and ruler


def test_contours_are_by_hyperbolic_area(visit_page):
    """A small dense disk in a large thin one: on the screen of the Poincaré disk the rim of the large one is the densest."""
    rng = np.random.default_rng(0)
    disk_of = lambda n, r: np.arccosh(1 + rng.uniform(0, np.cosh(r) - 1, n))  # radii, uniform by hyperbolic area
    r, angle = np.r_[0, disk_of(1000, 0.7), disk_of(2500, 3)], rng.uniform(0, 2 * np.pi, 3501)
    page = visit_page(explore(r[:, None] * np.c_[np.cos(angle), np.sin(angle)], model="tangent", root=0))
    page.keyboard.press("d")
    for model, radii in {"poincare": lambda z: 2 * np.arctanh(z), "klein": np.arctanh, "equidistant": lambda z: z}.items():
        page.click(f"#{model}")
        settle(page)
        lines = [np.array(line).reshape(-1, 2) for line in page.evaluate("horopca.density()")]
        centre, scale = disk(page)
        far = [np.median(radii(np.linalg.norm(line - centre, axis=1) / scale)) for line in lines]
        assert len(far) == 4 and far[0] < 0.85 and far == sorted(far) and far[3] > 1.5
    until(page, "location.hash.includes('density=on')")


@pytest.mark.parametrize("original", ["points", "graph", None])
def test_the_ruler_measures_here_and_in_the_original(visit_page, original):
    graph = csr_array((np.ones(len(EDGES)), tuple(EDGES.T)), shape=(len(X), len(X)))
    before = {"points": ORIGINAL, "graph": graph, None: None}[original]
    page = visit_page(explore(Y, LABELS, names=NAMES, edges=EDGES, original=before))
    lion, whale = NAMES.index("lion"), NAMES.index("whale")
    page.keyboard.press("m")
    for i in (lion, whale):
        page.mouse.click(*screen(page, i).tolist())
    here = distance(X[lion], X[whale])
    text = page.inner_text("#measured")
    assert text.startswith("lion – whale: ")
    if original is None:
        assert text.endswith(f" {here:.2f}")
    elif original == "points":
        x = to_hyperboloid(ORIGINAL)
        assert text.endswith(f"original {distance(x[lion], x[whale]):.2f} → here {here:.2f}")
    else:
        steps = shortest_path(graph, directed=False, unweighted=True)[lion, whale]
        assert f"graph {steps:.2f} → here " in text
    page.keyboard.press("Escape")
    assert page.is_hidden("#measured")


# ---------------------------------------------------------------- marks and thumbnails


def test_pictures_are_drawn_at_points_when_few_are_in_view(visit_page, tmp_path):
    shape = "%3Crect width='8' height='4' fill='red'/%3E"
    red = f"data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' width='8' height='4'%3E{shape}%3C/svg%3E"
    page = visit_page(
        explore(np.r_[np.zeros((1, 2)), np.random.default_rng(0).uniform(-0.6, 0.6, (300, 2))], images=[red] * 301, root=0)
    )
    assert page.evaluate("horopca.thumbnails()") == []
    for _ in range(8):
        page.keyboard.press("+")
    settle(page)
    few = page.evaluate("horopca.thumbnails()")
    assert 0 in few and 1 < len(few) <= 60
    x, y = screen(page, 0)
    until(page, "horopca.state().flying === false")
    assert (pixel(page, x + 15, y + 4) == [255, 0, 0]).all() and not (pixel(page, x + 15, y + 17) == [255, 0, 0]).all()  # 2 : 1
    save(page, "#svg").save_as(tmp_path / "view.svg")
    assert (tmp_path / "view.svg").read_text().count("<image ") == len(few)


def test_every_mark_is_explained(visit):
    page = visit("reduced")
    page.click("#marks summary")
    text = page.inner_text("#marks")
    assert "a neighbour added: near here, but not in the original" in text and "an edge" not in text
    page = visit("mammals")
    page.click("#marks summary")
    assert "an edge" in page.inner_text("#marks") and "original" not in page.inner_text("#marks")


def test_refining_is_as_good_as_the_package_and_is_undone(visit_page):
    original = make_hierarchy(3, 3, 10, random_state=0).points  # 40 points in ten dimensions
    flat = TangentPCA(2).fit_transform(original)
    page = visit_page(explore(flat, original=original))
    before = shown(page)
    assert f"Average distortion, original → picture: {average_distortion(original, flat):.1%}" == page.inner_text("#total")
    page.click("#refine")
    until(page, "horopca.state().refitted === 'refine'")
    settle(page)
    found = average_distortion(original, from_hyperboloid(shown(page), "poincare"))
    assert found < 1.03 * average_distortion(original, refine(original, flat)) < average_distortion(original, flat)
    assert f"→ {100 * found:.1f} %. New points cannot be added" in page.inner_text("#refitted")
    until(page, "location.hash.includes('refit=refine')")
    assert not page.is_visible("#total")  # it is that of the first picture
    page.click("#unfit")
    settle(page)
    assert np.allclose(shown(page), before) and page.is_visible("#refine") and page.is_visible("#total")


# ---------------------------------------------------------------- panes


def test_two_pictures_side_by_side_are_linked_and_kept_in_the_address(visit_page):
    page_of_two = explore([Y / 2, Y], LABELS, names=NAMES, original=ORIGINAL, titles=["before", "after"], layout="side")
    page = visit_page(page_of_two, width=1400)
    panes = page.frames[1:]
    for pane in panes:
        until(pane, "'horopca' in window && !horopca.state().flying")
    first, second = panes
    assert [pane.inner_text("#title") for pane in panes] == ["before", "after"] and not page.is_visible("#tools")
    assert not first.is_visible("#times") and [state(pane)["time"] for pane in panes] == [0, 1]
    lion = NAMES.index("lion")
    first.evaluate(f"horopca.flyTo({lion})")
    until(second, f"horopca.state().pin === {lion} && !horopca.state().flying")
    assert np.abs(second.evaluate(f"horopca.shown({lion})")).max() < 1e-9 and "Nearest in the original" in second.inner_text(
        "#card"
    )
    second.evaluate(f"horopca.select({[0, lion]})")
    until(first, "horopca.state().selected.length === 2")
    first.click("#klein")
    until(second, "horopca.state().model === 'klein'")
    first.evaluate("document.querySelectorAll('#scale .toggle')[1].click()")
    until(second, "horopca.state().hidden.length === 1")
    assert state(second)["hidden"] == state(first)["hidden"] == [1]
    until(page, "location.hash.split('/').every((part) => part.includes('klein') && part.includes('filter'))")
    again = visit_page(page_of_two, hash=page.evaluate("location.hash"), width=1400)
    for pane in again.frames[1:]:
        until(pane, "'horopca' in window && !horopca.state().flying")
        found = state(pane)
        assert (found["pin"], found["model"], found["hidden"], found["selected"]) == (lion, "klein", [1], [0, lion])
        assert np.abs(pane.evaluate(f"horopca.shown({lion})")).max() < 1e-9
    assert [state(pane)["time"] for pane in again.frames[1:]] == [0, 1]
