"""What the page draws and says: names, classes, colours, filters, density, regions, edges, layouts; in a real browser."""

import io
import itertools
import re
from importlib.resources import files
from xml.etree import ElementTree

import numpy as np
import pytest

from horopca import TangentPCA
from horopca.datasets import make_hierarchy
from horopca.explorer import explore
from horopca.geometry import distance, from_hyperboloid, radius, to_hyperboloid, translate
from horopca.metrics import bootstrap
from horopca.plots import class_colours
from horopca.plots.palette import RAMPS

from .browsing import CARNIVORES, CAT, HOSTILE, LABELS, NAMES, PIXEL, X, Y, edge_paths, near

CLASSES = [f"class {k}" for k in range(50)]
rng = np.random.default_rng(0)


def test_rings_are_where_their_numbers_say(visit):
    page = visit("mammals")
    for model, radius_of in {"poincare": lambda r: np.tanh(r / 2), "klein": np.tanh, "equidistant": lambda r: r}.items():
        page.click(f"#{model}")
        _, scale = page.disk()
        rings = np.array(page.evaluate("horopca.rings()"))
        assert len(rings) >= 3 and np.allclose(rings[:, 0], scale * radius_of(rings[:, 1]))


def test_deep_points_are_shown_by_distance_and_the_page_says_so(visit):
    page = visit("sunk")
    assert page.state()["model"] == "equidistant"
    assert "of the points would lie on the rim of the Poincaré disk" in page.inner_text("#left-out")
    centre, scale = page.disk()
    assert np.allclose(np.linalg.norm(page.all_places() - centre, axis=1), scale * radius(page.shown()), atol=1e-3)
    page.find("cat")
    assert np.abs(page.screen(CAT) - centre).max() < 1e-6


def test_names_appear_as_space_allows_and_every_mark_is_explained(visit):
    page = visit("mammals")
    names, boxes = page.state()["names"], page.evaluate("horopca.boxes()")
    assert "mammal" in names and len(set(names)) == len(names) > 15
    for (a, b, c, d), (left, top, right, bottom) in itertools.combinations(boxes, 2):
        assert not (left < c and a < right and top < d and b < bottom)
    page.click("#marks summary")
    assert "an edge" in page.inner_text("#marks") and "original" not in page.inner_text("#marks")
    page = visit("reduced")
    page.click("#marks summary")
    text = page.inner_text("#marks")
    assert "a neighbour added: near here, but not in the original" in text and "an edge" not in text


def test_every_class_has_a_colour_and_a_name_in_natural_order(visit):
    Z = np.random.default_rng(0).uniform(-0.6, 0.6, (2000, 2))
    sectors = np.floor((np.arctan2(*Z.T) / (2 * np.pi) + 0.5) * 50).astype(int)
    page = visit(explore(Z, [CLASSES[k] for k in sectors]))
    assert page.locator("#scale .row .what").all_inner_texts() == CLASSES
    dots = page.evaluate("[...document.querySelectorAll('#scale .dot')].map((e) => e.style.background)")
    assert len(set(dots)) == len(CLASSES)
    page.emulate_media(forced_colors="active")
    assert page.evaluate("getComputedStyle(document.querySelector('.dot')).forcedColorAdjust") == "none"
    page.emulate_media(forced_colors="none")
    assert 5 < len(page.state()["classes"]) < 50
    page.select([0])  # one point lit: no names of classes over it
    page.until("horopca.state().classes.length === 0")  # with the next frame


def test_the_first_screen_of_a_large_tree_shows_its_large_subtrees_and_edges_can_be_hidden(visit):
    tree = make_hierarchy(5, 5, 2, step=1.6, random_state=0)
    names = [f"node {i}" for i in range(len(tree.points))]
    page = visit(explore(tree.points, tree.labels, names=names, edges=tree.edges, root=0))
    assert "2,000 of 3,905 edges in view: those of the largest subtrees" in page.inner_text("#left-out")
    first = page.state()
    assert {f"branch {k}" for k in range(1, 6)} <= set(first["classes"])
    assert np.median([int(name.split()[1]) for name in first["names"]]) < 500  # parents come before children in the rows
    page.push("#edges")
    assert page.state()["edges"] == 0 and "edges" not in page.inner_text("#left-out")
    page.until("location.hash === '#edges=off'")


def test_pictures_are_drawn_at_points_when_few_are_in_view(visit, tmp_path):
    shape = "%3Crect width='8' height='4' fill='red'/%3E"
    red = f"data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' width='8' height='4'%3E{shape}%3C/svg%3E"
    points = np.r_[np.zeros((1, 2)), np.random.default_rng(0).uniform(-0.6, 0.6, (300, 2))]
    page = visit(explore(points, images=[red] * 301, root=0))
    assert page.evaluate("horopca.thumbnails()") == []
    for _ in range(8):
        page.keyboard.press("+")
    page.settle()
    few = page.evaluate("horopca.thumbnails()")
    assert 0 in few and 1 < len(few) <= 60
    x, y = page.screen(0)
    page.until(lambda: (page.pixel(x + 15, y + 4) == [255, 0, 0]).all())  # the image is loaded
    assert not (page.pixel(x + 15, y + 17) == [255, 0, 0]).all()  # 2 : 1
    page.save("#svg").save_as(tmp_path / "view.svg")
    assert (tmp_path / "view.svg").read_text().count("<image ") == len(few)


def test_a_class_is_lit_selected_switched_off_and_isolated(visit):
    page = visit("mammals")
    page.fly(NAMES.index("carnivore"))
    page.keyboard.press("Escape")
    place, primate = page.screen(NAMES.index("feline")), LABELS.index("primate")
    row = page.locator("#scale .row", has_text="carnivore")
    colour = lambda i: page.evaluate(f"horopca.colour({i})").upper()
    own, other = class_colours(LABELS)["carnivore"], class_colours(LABELS)["primate"]
    assert near(page.pixel(*place), own)
    row.hover()
    assert colour(CAT) == own and colour(primate) != other
    row.locator(".pick").click()
    page.mouse.move(600, 790)
    assert page.state()["selected"] == CARNIVORES and colour(CAT) == own and colour(primate) != other
    page.settle()
    assert set(page.state()["names"]) <= {NAMES[i] for i in CARNIVORES}
    assert f"of {len(CARNIVORES)} selected names in view" in page.inner_text("#left-out")
    page.keyboard.press("Escape")
    assert page.state()["selected"] == [] and colour(primate) == other
    row.hover()
    row.locator(".toggle").click()
    page.mouse.move(5, 795)
    page.settle()
    assert not near(page.pixel(*place), own, 60) and row.locator(".toggle").get_attribute("aria-pressed") == "false"
    page.mouse.move(*place)
    page.settle()
    assert page.state()["hover"] not in CARNIVORES
    row.hover()
    row.locator(".only").click()
    page.settle()
    pressed = page.locator("#scale .toggle").evaluate_all("all => all.filter((e) => e.ariaPressed === 'true').length")
    assert pressed == 1 and near(page.pixel(*place), own)
    page.find("human")  # what is looked for is shown again
    assert page.state()["pin"] == NAMES.index("human") and len(page.state()["hidden"]) == 7
    page.click("#scale .all")
    assert page.state()["hidden"] == []


def test_colours_by_numbers_scales_texts_links_and_images(visit):
    page = visit("rich")
    assert page.locator("#colour option").all_inner_texts()[:2] == ["branch", "letter"]
    page.select_option("#colour", label="letter")
    assert page.locator("#scale .row").count() == len({name[0] for name in NAMES})
    page.find("about wombats")
    assert page.inner_text("#card h2") == "wombat" and "about wombats" in page.inner_text("#card")
    i = NAMES.index("wombat")
    assert page.get_attribute("#card a", "href") == f"https://example.org/{i}" and page.locator("#card img").count() == 0
    page.evaluate("horopca.flyTo(0)")
    assert page.get_attribute("#card img", "src") == PIXEL
    page.keyboard.press("Escape")
    page.select_option("#colour", label="grown")
    page.settle()
    assert page.inner_text("#scale .ends").split() == ["1", "10000"]
    assert near(page.pixel(*page.screen(0)), RAMPS["value"]["light"][0])
    page.select_option("#scaling", "log")
    middle = page.evaluate(f"horopca.colour({len(X) // 2})")
    page.select_option("#scaling", "linear")
    assert page.evaluate(f"horopca.colour({len(X) // 2})") != middle
    page.select_option("#colour", label="signed")
    assert page.locator("#scaling option").all_inner_texts() == ["linear", "diverging"]
    page.select_option("#scaling", "diverging")
    assert page.inner_text("#scale .ends").split() == ["-3", "3"]


def brush(page, first, last):
    box = page.locator("#histogram").bounding_box()
    page.mouse.move(box["x"] + first * box["width"], box["y"] + 20)
    page.mouse.down()
    page.mouse.move(box["x"] + last * box["width"], box["y"] + 20, steps=4)
    page.mouse.up()
    page.settle()


def test_filters_add_up_and_are_kept_in_the_address(visit):
    page = visit("mammals", hash="#by=column-0")  # the row numbers
    brush(page, 0.25, 0.75)
    n, rows = len(Y), np.arange(len(Y))
    inside = (rows >= 0.25 * (n - 1)) & (rows <= 0.75 * (n - 1))
    drawn = lambda page: np.array(page.evaluate("Array.from({ length: horopca.n }, (_, i) => horopca.visible(i))"))
    assert np.abs(drawn(page) ^ inside).sum() <= 2  # a pixel of the chart is more than half a row
    page.select_option("#colour", label="Class")
    row = page.locator("#scale .row", has_text="carnivore")
    row.hover()
    row.locator(".toggle").click()
    page.settle()
    both = drawn(page)
    assert not both[np.array(LABELS) == "carnivore"].any() and both.any() and (both <= inside + 2).all()
    assert f"{both.sum()} of {n} points shown" in page.inner_text("#scale")
    page.until("location.hash.includes('label:')")
    other = visit("mammals", hash=page.evaluate("location.hash"))
    assert (drawn(other) == both).all()
    page.select_option("#colour", label="row")
    brush(page, 0.5, 0.5)  # a click
    while page.locator("#scale .all").count():
        page.locator("#scale .all").last.click()
    assert drawn(page).all()


def test_contours_are_by_hyperbolic_area(visit):
    """A small dense disk in a large thin one: on the screen of the Poincaré disk the rim of the large one is the densest."""
    rng = np.random.default_rng(0)
    disk_of = lambda n, r: np.arccosh(1 + rng.uniform(0, np.cosh(r) - 1, n))  # radii, uniform by hyperbolic area
    r, angle = np.r_[0, disk_of(1000, 0.7), disk_of(2500, 3)], rng.uniform(0, 2 * np.pi, 3501)
    page = visit(explore(r[:, None] * np.c_[np.cos(angle), np.sin(angle)], model="tangent", root=0))
    page.keyboard.press("d")
    for model, radii in {"poincare": lambda z: 2 * np.arctanh(z), "klein": np.arctanh, "equidistant": lambda z: z}.items():
        page.push(f"#{model}")
        lines = [np.array(line).reshape(-1, 2) for line in page.evaluate("horopca.density()")]
        centre, scale = page.disk()
        far = [np.median(radii(np.linalg.norm(line - centre, axis=1) / scale)) for line in lines]
        assert len(far) == 4 and far[0] < 0.85 and far == sorted(far) and far[3] > 1.5
    page.until("location.hash.includes('density=on')")


@pytest.fixture(scope="module")
def regions():
    """Regions of all sizes: from a hundredth to larger than the picture."""
    found = bootstrap(TangentPCA(2).fit(Y), Y, n_resamples=10)
    rng = np.random.default_rng(0)
    root = rng.standard_normal((len(Y), 2, 2)) * np.geomspace(0.003, 1.5, len(Y))[:, None, None]
    return found._replace(images=Y, covariances=root @ np.swapaxes(root, 1, 2))


def gap(points, path):
    """The largest distance of some points (m, 2) from a closed path (p, 2)."""
    a, b = path, np.roll(path, -1, axis=0)
    along = np.einsum("mpk,pk->mp", points[:, None] - a, b - a) / np.maximum(np.sum((b - a) ** 2, axis=1), 1e-300)
    nearest = a + along.clip(0, 1)[..., None] * (b - a)
    return np.linalg.norm(points[:, None] - nearest, axis=2).min(axis=1).max()


def test_borders_of_regions_are_exact_and_large_ones_are_left_out_and_counted(visit, regions):
    page = visit(explore(Y, LABELS, names=NAMES, regions=regions))
    assert page.state()["regions"] == [] and "regions" not in page.inner_text("#left-out")
    page.push("#regions")
    drawn = page.state()["regions"]
    last = max(set(range(len(Y))) - set(drawn))
    assert 10 < len(drawn) and last > 3
    assert f"regions: 90 % confidence, {len(drawn)} of {len(Y)} drawn" in page.inner_text("#left-out")
    page.select([last, 3])
    page.settle()
    assert page.state()["regions"][:2] == [3, last]  # those of selected points come first, however large
    page.until("location.hash.includes('regions=all')")
    page.press("r")
    assert page.state()["regions"] == [3, last] and "regions: 90 % confidence" in page.inner_text("#left-out")
    axes, angle = regions.semi_axes(), np.linspace(0, 2 * np.pi, 1000)
    for model, start in (("poincare", 0), ("klein", CAT), ("equidistant", CAT)):
        page.click(f"#{model}")
        page.fly(start)
        centre, scale = page.disk()
        isometry = np.linalg.lstsq(X, page.shown(), rcond=None)[0]  # as the page moves the points
        for i in range(0, len(X), 9):
            path = np.array(page.evaluate(f"horopca.region({i})")).reshape(-1, 2)
            circle = np.stack([np.cos(angle), np.sin(angle)], axis=1) @ axes[i].T
            seen = translate(to_hyperboloid(circle, "tangent"), X[i]) @ isometry
            border = centre + scale * from_hyperboloid(seen, {"equidistant": "tangent"}.get(model, model)) * [1, -1]
            assert gap(border, path) < 0.6 and gap(path, border) < 1.5, (model, start, i)


def test_edges_of_the_distance_view_follow_their_geodesics(visit):
    """Two points far out and close in direction: the chord is short, and the geodesic dips towards the centre."""
    angles = np.array([0, 1e-3, 0.02, 0.3, 1.0, 2.5])
    points = np.r_[[[0.0, 0.0]], 12 * np.stack([np.cos(angles), np.sin(angles)], axis=1)]
    pairs = [[1, j] for j in range(2, 7)]
    page = visit(explore(points, edges=pairs, model="tangent", root=0), hash="#model=equidistant")
    centre, scale = page.disk(1)
    x = page.shown()
    for i, j in pairs:
        d, steps = distance(x[i], x[j]), np.linspace(0, 1, 2000)[:, None]
        line = (np.sinh((1 - steps) * d) * x[i] + np.sinh(steps * d) * x[j]) / np.sinh(d)
        exact = centre + scale * from_hyperboloid(line, "tangent") * [1, -1]
        path = np.array(page.evaluate(f"horopca.path({i}, {j})")).reshape(-1, 2)
        assert gap(exact, np.r_[path, path[::-1]]) < 0.7


def test_every_edge_that_can_be_seen_is_drawn(visit, tmp_path):
    tree = make_hierarchy(3, 6, 2, step=1.8, random_state=0)  # 1093 points: all edges are drawn
    page = visit(explore(tree.points, tree.labels, edges=tree.edges, root=0))
    page.evaluate("horopca.flyTo(7)")
    for model in ("poincare", "equidistant"):
        page.push(f"#{model}")
        page.save("#svg").save_as(tmp_path / "view.svg")
        drawn = sum(path.count("M") for path in edge_paths(tmp_path / "view.svg"))
        a, b = page.all_places()[tree.edges.T]
        length, (x, y) = np.linalg.norm(a - b, axis=1), (a + b).T / 2
        if model == "equidistant":  # an edge is as long as its dip towards the centre, too
            paths = page.evaluate(f"{tree.edges.tolist()}.map(([i, j]) => horopca.path(i, j))")
            length = np.array([np.linalg.norm(np.diff(np.reshape(p, (-1, 2)), axis=0), axis=1).sum() for p in paths])
        inside = (x > -length) & (y > -length) & (x < 1280 + length) & (y < 800 + length)
        assert 200 < drawn == np.count_nonzero((length >= 1.2) & inside)


N = 20_500  # more than MANY in main.js


def test_of_many_points_classes_cover_equal_areas_names_wait_for_rest_and_edges_are_an_even_part(visit):
    from PIL import Image

    crowd, names = rng.uniform(-0.7, 0.7, (N, 2)), [f"node {i}" for i in range(N)]
    page = visit(explore(crowd, np.arange(N) >= N // 2, names=names, palette=["#FF0000", "#0000FF"]))
    picture = np.array(Image.open(io.BytesIO(page.screenshot())).convert("RGB"), int)[60:700, 330:1000]
    red, blue = (picture[..., a] > picture[..., b] + 60 for a, b in ((0, 2), (2, 0)))
    assert red.sum() > 20_000 and 0.95 < red.sum() / blue.sum() < 1.05  # in the order of rows the second has a third more
    there = set(page.state()["names"])
    assert len(there) > 3 and f"{len(there)} of " in page.inner_text("#left-out")
    moving = page.evaluate("(() => { horopca.time(8); return horopca.state().names; })()")
    assert set(moving) <= there  # while the view moves, no new name appears
    page.evaluate("horopca.nudge()")
    page.settle()
    assert len(page.state()["names"]) > 3
    angle = rng.uniform(0, 2 * np.pi, N)
    wheel = np.c_[np.cos(angle), np.sin(angle)] * np.r_[0, rng.uniform(9.9, 10.1, N - 1)][:, None]
    page = visit(explore(wheel, edges=np.c_[np.arange(1, N), np.zeros(N - 1, int)], root=0, model="tangent"))
    some, whole = re.search(r"([\d,]+) of ([\d,]+) edges in view: the longest", page.inner_text("#left-out")).groups()
    assert whole == f"{N - 1:,}" and 1000 < int(some.replace(",", "")) < N


VISIBLE_TOOLS = """[...document.querySelectorAll('#tools button')].filter((e) => e.checkVisibility()).map((e) => {
  const { left, right } = e.getBoundingClientRect();
  return [`#${e.id}`, left, right, e.scrollWidth <= e.clientWidth];
})"""
PANELS = """() => ["head", "legend", "tools", "hint", "left-out", "card"].map((id) => document.getElementById(id))
  .filter((e) => e.checkVisibility() && e.textContent.trim()).map((e) => {
    const words = document.createRange();
    words.selectNodeContents(e);
    const { left, top, right, bottom } = (e.classList.contains("panel") ? e : words).getBoundingClientRect();
    return [e.id, left, top, right, bottom];
  })"""


def test_nothing_covers_anything_else_at_any_width(visit):
    """Nor does a button: at 1,024 to 1,140 pixels, the width of a notebook's output, the toolbar once covered the card."""
    page = visit("sunk", hash=f"#pin={CAT}")
    page.select(CARNIVORES)
    page.evaluate("horopca.refit('variance')")
    for width in (1280, 320, 390, 600, 700, 820, 1000, 1024, 1100, 1279):
        height = 800 if width == 1280 else 640  # at first as it was opened
        page.set_viewport_size({"width": width, "height": height})
        page.until(f"innerWidth === {width} && innerHeight === {height}")
        page.settle()
        places = [place for place in page.evaluate(PANELS) if place[0] != "card" or width >= 1024]
        for (one, left, top, right, bottom), (two, l2, t2, r2, b2) in itertools.combinations(places, 2):
            if (one, two) != ("head", "hint") or width < 1024:  # on wide pages the hint is in the head
                assert right <= l2 or r2 <= left or bottom <= t2 or b2 <= top, (width, one, two)
        buttons = page.evaluate(VISIBLE_TOOLS)
        assert {"#back", "#home", "#equidistant", "#lasso", "#svg", "#help"} <= {button for button, *_ in buttons}
        assert all(fits and 0 <= left and right <= width for _, left, right, fits in buttons)
        row = [(left, right) for _, left, right, _ in buttons]
        assert all(a[1] <= b[0] + 0.5 or b[0] < a[0] for a, b in itertools.pairwise(row))  # or in the next line


def test_text_stands_out_in_both_themes():
    """The contrast of WCAG between texts and what is behind them: the page, the plane, panels and pressed buttons."""
    style = (files("horopca.explorer") / "assets" / "style.css").read_text(encoding="utf-8")
    over = lambda top, ground: ground + (top[:3] - ground) * (top[3] if len(top) == 4 else 1)
    linear = lambda part: np.where(part <= 0.04045, part / 12.92, ((part + 0.055) / 1.055) ** 2.4)
    light = lambda part: linear(part) @ [0.2126, 0.7152, 0.0722] + 0.05
    for block in re.findall(r"^:root.*?\{(.*?)\}", style, flags=re.MULTILINE | re.DOTALL)[:2]:
        codes = re.findall(r"--(\w+): #(\w{6,8});", block)
        found = {name: np.array([int(code[k : k + 2], 16) for k in range(0, len(code), 2)]) / 255 for name, code in codes}
        panel = over(found["panel"], found["page"])
        for ground in (found["page"], found["disk"], panel, over(found["press"], panel)):
            names_of_points = over(np.r_[found["ink"], 0.86], ground)
            for ink in (found["ink"], found["soft"], found["accent"], found["wrong"], names_of_points):
                low, high = sorted((light(ink), light(ground)))
                assert high / low >= 4.5


def test_names_and_labels_are_text(visit, tmp_path):
    page = visit("hostile", expected="a message that the policy stopped something")
    shows = lambda where: page.evaluate(f"document.querySelector('{where}').textContent")
    assert shows("#title") == HOSTILE[0] and shows("#when") == HOSTILE[1]
    for i, text in enumerate(HOSTILE):
        page.fly(i)
        assert shows("#card h2") == text and all(text in shows(where) for where in ("#scale", "#live", "#colour"))
    page.click("#search")
    page.keyboard.type("onerror")
    assert HOSTILE[0] in shows("#results")
    page.keyboard.press("Escape")
    page.save("#svg").save_as(tmp_path / "view.svg")
    texts = [e.text for e in ElementTree.parse(tmp_path / "view.svg").getroot().iter() if e.tag.endswith("text")]
    assert HOSTILE[0] in texts and "ab]]>&amp;" in texts
    assert page.evaluate("typeof hacked") == "undefined"
    assert page.evaluate("document.querySelectorAll('img, script').length") == 2  # the data and the page
    # and if markup ever got in, the page's policy would still not run it
    page.evaluate("document.body.insertAdjacentHTML('beforeend', '<b onclick=\"hacked=1\" id=\"trap\">x</b>')")
    page.evaluate("trap.click()")
    assert page.evaluate("typeof hacked") == "undefined"


def test_long_texts_leave_the_buttons_in_reach(visit):
    long = "x" * 10_000
    page = visit(explore(Y[:3], [long] * 3, names=[long, "a", ""], values={long: [1, 2, 3]}, title=long))
    page.select([0, 1])
    page.evaluate("horopca.flyTo(0)")
    page.fill("#search", "x")
    assert page.locator("#results li").first.bounding_box()["height"] < 100
    page.press("Enter")
    assert "point 2" not in page.state()["names"]  # a neighbour without a name has none on the plane
    page.keyboard.press("m")
    page.mouse.click(*page.screen(0).tolist())
    assert page.locator("#measured").bounding_box()["height"] < 100
    page.keyboard.press("Escape")
    page.click("#clear")  # fails if it is out of sight
    page.click("#card .here button >> nth=0")
    assert page.inner_text("#card h2") in ("a", "point 2")
