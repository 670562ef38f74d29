"""Pages of many points: what is skipped while they are drawn, and that nothing else is. In a real browser."""

import io
import re

import numpy as np

from horopca.datasets import make_hierarchy
from horopca.explorer import explore

from .browsing import all_places, edge_paths, save, settle, state

TREE = make_hierarchy(3, 6, 2, step=1.8, random_state=0)  # 1093 points: all edges are drawn
N = 25_000
rng = np.random.default_rng(0)


def test_classes_cover_equal_areas_and_names_are_placed_when_the_view_rests(visit_page):
    from PIL import Image

    crowd, names = rng.uniform(-0.7, 0.7, (N, 2)), [f"node {i}" for i in range(N)]
    page = visit_page(explore(crowd, np.arange(N) >= N // 2, names=names, palette=["#FF0000", "#0000FF"]))
    picture = np.array(Image.open(io.BytesIO(page.screenshot())).convert("RGB"), int)[60:700, 330:1000]
    red, blue = (picture[..., a] > picture[..., b] + 60 for a, b in ((0, 2), (2, 0)))
    assert red.sum() > 20_000 and 0.95 < red.sum() / blue.sum() < 1.05  # in the order of rows the second has a third more
    there = set(state(page)["names"])
    assert len(there) > 3 and f"{len(there)} of " in page.inner_text("#left-out")
    moving = page.evaluate("(() => { horopca.time(8); return horopca.state().names; })()")
    assert set(moving) <= there  # while the view moves, no new name appears
    page.evaluate("horopca.nudge()")
    settle(page)
    assert len(state(page)["names"]) > 3


def test_every_edge_that_can_be_seen_is_drawn(visit_page, tmp_path):
    page = visit_page(explore(TREE.points, TREE.labels, edges=TREE.edges, root=0))
    page.evaluate("horopca.flyTo(7)")
    for model in ("poincare", "klein", "equidistant"):
        page.click(f"#{model}")
        settle(page)
        save(page, "#svg").save_as(tmp_path / "view.svg")
        drawn = sum(path.count("M") for path in edge_paths(tmp_path / "view.svg"))
        a, b = all_places(page)[TREE.edges.T]
        length, (x, y) = np.linalg.norm(a - b, axis=1), (a + b).T / 2
        if model == "equidistant":  # an edge is as long as its dip towards the centre, too
            paths = page.evaluate(f"{TREE.edges.tolist()}.map(([i, j]) => horopca.path(i, j))")
            length = np.array([np.linalg.norm(np.diff(np.reshape(p, (-1, 2)), axis=0), axis=1).sum() for p in paths])
        inside = (x > -length) & (y > -length) & (x < 1280 + length) & (y < 800 + length)
        assert 200 < drawn == np.count_nonzero((length >= 1.2) & inside)


def test_of_edges_about_as_long_as_each_other_an_even_part_is_drawn(visit_page):
    angle = rng.uniform(0, 2 * np.pi, N)
    wheel = np.c_[np.cos(angle), np.sin(angle)] * np.r_[0, rng.uniform(9.9, 10.1, N - 1)][:, None]
    page = visit_page(explore(wheel, edges=np.c_[np.arange(1, N), np.zeros(N - 1, int)], root=0, model="tangent"))
    some, whole = re.search(r"([\d,]+) of ([\d,]+) edges in view: the longest", page.inner_text("#left-out")).groups()
    assert whole == f"{N - 1:,}" and 1000 < int(some.replace(",", "")) < N
