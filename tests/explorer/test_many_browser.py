"""Pages of many points: what is left out while they are drawn, and that nothing else is. In a real browser."""

import io
import re

import numpy as np
import pytest

from horopca.datasets import make_hierarchy
from horopca.explorer import explore

from .browsing import addresses, save, settle, state, until

TREE = make_hierarchy(3, 6, 2, step=1.8, random_state=0)  # 1093 points, fewer than the edges of a tree that are drawn
N = 25_000


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    """A crowd without edges, a tree with some thousands, and edges that are all about as long."""
    folder, rng = tmp_path_factory.mktemp("many"), np.random.default_rng(0)
    crowd = rng.uniform(-0.7, 0.7, (N, 2))
    angle = rng.uniform(0, 2 * np.pi, N)
    wheel = np.c_[np.cos(angle), np.sin(angle)] * np.r_[0, rng.uniform(9.9, 10.1, N - 1)][:, None]
    names = [f"node {i}" for i in range(N)]
    pages = {
        "crowd": lambda: explore(crowd, np.arange(N) >= N // 2, names=names, palette=["#FF0000", "#0000FF"]),
        "tree": lambda: explore(TREE.points, TREE.labels, edges=TREE.edges, root=0),
        "wheel": lambda: explore(wheel, edges=np.c_[np.arange(1, N), np.zeros(N - 1, int)], root=0, model="tangent"),
    }
    return addresses(pages, folder)


@pytest.fixture
def open_many(tabs, many):
    taken = []

    def opened(name, address=""):
        page = tabs.take(1280, 800)
        taken.append(page)
        page.goto(many(name) + address)
        until(page, "'horopca' in window")
        settle(page)
        return page

    yield opened
    for page in taken:
        tabs.give_back(page)


def test_names_of_many_points_are_placed_when_the_view_rests(open_many):
    page = open_many("crowd")
    there = set(state(page)["names"])
    assert len(there) > 3 and f"{len(there)} of " in page.inner_text("#left-out")
    moving = page.evaluate("(() => { horopca.time(8); return horopca.state().names; })()")
    assert set(moving) <= there  # on the way names come along or are lost, and no new one comes
    page.evaluate("horopca.nudge()")
    settle(page)
    assert len(state(page)["names"]) > 3


def test_equal_classes_cover_equal_parts_of_the_picture(open_many):
    from PIL import Image

    page = open_many("crowd")
    picture = np.array(Image.open(io.BytesIO(page.screenshot())).convert("RGB"), int)[60:700, 330:1000]
    red, blue = (picture[..., a] > picture[..., b] + 60 for a, b in ((0, 2), (2, 0)))
    assert red.sum() > 20_000 and 0.95 < red.sum() / blue.sum() < 1.05  # in the order of rows the second has a third more


@pytest.mark.parametrize("model", ["poincare", "klein", "equidistant"])
def test_every_edge_that_can_be_seen_is_drawn(open_many, tmp_path, model):
    page = open_many("tree", f"#model={model}")
    page.evaluate("horopca.flyTo(7)")
    settle(page)
    save(page, "#svg").save_as(tmp_path / "view.svg")
    drawn = re.search(r'<path d="([^"]*)"', (tmp_path / "view.svg").read_text())[1].count("M")
    places = np.array(page.evaluate("Array.from({ length: horopca.n }, (_, i) => horopca.screen(i))"))
    a, b = places[TREE.edges.T]
    length, (x, y) = np.linalg.norm(a - b, axis=1), (a + b).T / 2
    if model == "equidistant":  # an edge is as long as its dip towards the centre, too
        paths = page.evaluate(f"{TREE.edges.tolist()}.map(([i, j]) => horopca.path(i, j))")
        length = np.array([np.linalg.norm(np.diff(np.reshape(p, (-1, 2)), axis=0), axis=1).sum() for p in paths])
    inside = (x > -length) & (y > -length) & (x < 1280 + length) & (y < 800 + length)
    assert 200 < drawn == np.count_nonzero((length >= 1.2) & inside)


def test_of_edges_about_as_long_as_each_other_an_even_part_is_drawn(open_many):
    page = open_many("wheel")
    some, whole = re.search(r"([\d,]+) of ([\d,]+) edges in view: the longest", page.inner_text("#left-out")).groups()
    assert whole == f"{N - 1:,}" and 1000 < int(some.replace(",", "")) < N
