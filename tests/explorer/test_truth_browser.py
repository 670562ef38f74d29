"""What the page says about the original is right: graphs, ties, regions, edges, refits, against independent computations."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.sparse.csgraph import shortest_path

from horopca import HoroPCA, TangentPCA
from horopca.explorer import explore
from horopca.geometry import distance, from_hyperboloid, pairwise_distance, radius, to_hyperboloid, translate
from horopca.metrics import average_distortion, bootstrap

from .browsing import CAT, DEEP, EDGES, LABELS, NAMES, X, Y, disk, find, settle, shown, state, until

TREE = csr_array((np.ones(len(EDGES)), tuple(EDGES.T)), shape=(len(X), len(X)))
LADDER = csr_array((np.ones(11), (np.arange(11), np.arange(1, 12))), shape=(12, 12))
K = 5


def shares(before, after, k):
    """Neighbours added and lost: of k in one matrix, those farther than the k-th of the other; ties count as kept."""
    found = []
    for d, e in ((before, after), (after, before)):
        d, e = (np.where(np.eye(len(m), dtype=bool), np.inf, m) for m in (d, e))
        inside, reach = (np.sort(m, axis=1)[:, k - 1 : k] for m in (d, e))
        kept, sure = d <= inside * (1 + 1e-12), e < reach * (1 - 1e-12)
        tied = (e <= reach * (1 + 1e-12)) & ~sure
        free = k - sure.sum(axis=1)
        found.append(1 - ((kept & sure).sum(axis=1) + np.minimum((kept & tied).sum(axis=1), free)) / k)
    return found


def card(page):
    """What is written beside each word on the card."""
    terms = "[...document.querySelectorAll('#card dt')].map((e) => [e.firstChild.textContent, e.nextSibling.textContent])"
    return dict(page.evaluate(terms))


# ---------------------------------------------------------------- the original is a graph


def test_a_graph_is_compared_with_the_picture_as_a_graph(visit_page):
    page = visit_page(explore(Y, LABELS, names=NAMES, edges=EDGES, original=TREE, n_neighbors=K))
    graph, plane = shortest_path(TREE, directed=False), pairwise_distance(X)
    added, lost = shares(graph, plane, K)
    assert 0 < added.max()
    for i in (int(added.argmax()), CAT, 0):
        page.evaluate(f"horopca.flyTo({i})")
        settle(page)
        texts = card(page)
        assert texts["Neighbours added"] == f"{100 * added[i]:.1f} %" and texts["Neighbours lost"] == f"{100 * lost[i]:.1f} %"
        assert page.locator("#card .here .changed").count() == round(K * added[i])
        assert page.locator("#card .there .changed").count() == round(K * lost[i])
        first = [float(row.split("\n")[-1].split(" → ")[0]) for row in page.locator("#card .there li").all_inner_texts()]
        assert first == sorted(np.delete(graph[i], i))[:K]
    assert "near in the graph, but not here" in page.inner_text("#card")
    assert "Nearest in the graph" in page.inner_text("#card") and "graph → picture" in page.inner_text("#total")
    page.select_option("#colour", "false")
    assert "in the graph" in page.inner_text("#scale") and "original" not in page.inner_text("#scale")
    assert "no refit: the original is a graph" in page.inner_text("#left-out")


@pytest.mark.parametrize("metric", ["hyperbolic", "precomputed"])
def test_the_distortion_of_the_whole_way(metric):
    graph, plane = shortest_path(TREE, directed=False), pairwise_distance(X)
    pairs = np.triu_indices(len(X), 1)
    if metric == "precomputed":
        found = explore(2 * Y, original=2 * graph, metric=metric, curvature=-0.25).distortion
        assert found == pytest.approx(np.mean(np.abs(plane[pairs] / graph[pairs] - 1)))
    else:
        scales = np.linspace(0.2, 3, 20_000)
        best = min(np.mean(np.abs(plane[pairs] / graph[pairs] / s - 1)) for s in scales)
        assert explore(Y, original=TREE).distortion == pytest.approx(best, rel=1e-3)


def test_ties_are_no_false_neighbours_and_hidden_points_change_nothing(visit_page):
    """On a path every inner node has two nodes at each distance: with k odd, one of a pair is cut off, and is not false."""
    line = from_hyperboloid(np.array([[np.cosh(r), np.sinh(r), 0.0] for r in range(-6, 6)]))
    page = visit_page(explore(line, [i % 2 for i in range(12)], original=LADDER, n_neighbors=K, edges=None))
    page.evaluate("horopca.flyTo(6)")
    settle(page)
    assert card(page)["Neighbours added"] == "0.0 %" and page.locator("#card .changed").count() == 0
    rows = page.locator("#card li").all_inner_texts()
    page.locator("#scale .row").nth(1).hover()
    page.locator("#scale .toggle").nth(1).click()
    assert page.locator("#card li").all_inner_texts() == rows and page.locator("#card .changed").count() == 0


# ---------------------------------------------------------------- regions


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


def test_borders_of_regions_are_exact(visit_page, regions):
    page = visit_page(explore(Y, LABELS, names=NAMES, regions=regions))
    axes = regions.semi_axes()
    for model, start in (("poincare", 0), ("poincare", CAT), ("klein", CAT), ("equidistant", CAT), ("equidistant", 0)):
        page.click(f"#{model}")
        page.evaluate(f"horopca.flyTo({start})")
        settle(page)
        centre, scale = disk(page)
        image, some = shown(page), range(0, len(X), 9)
        paths = page.evaluate(f"{list(some)}.map((i) => horopca.region(i))")
        for i, flat in zip(some, paths, strict=True):
            # the border on the page is that in the plane, moved as the points are: by the isometry that moves three of them
            path = np.array(flat).reshape(-1, 2)
            angle = np.linspace(0, 2 * np.pi, 4000)
            circle = np.stack([np.cos(angle), np.sin(angle)], axis=1) @ axes[i].T
            world = translate(to_hyperboloid(circle, "tangent"), X[i])
            seen = isometry(X, image)(world)
            places = from_hyperboloid(seen, {"equidistant": "tangent"}.get(model, model))
            border = centre + scale * places * [1, -1]
            assert gap(border, path) < 0.6 and gap(path, border) < 1.5, (model, start, i)


def isometry(x, y):
    """The isometry of the plane that takes the points x to y, as a linear map of R^{1,2} found from them."""
    matrix = np.linalg.lstsq(x, y, rcond=None)[0]
    return lambda points: points @ matrix


def test_large_regions_are_left_out_and_counted(visit_page, regions):
    page = visit_page(explore(Y, LABELS, names=NAMES, regions=regions))
    assert state(page)["regions"] == [] and "regions" not in page.inner_text("#left-out")
    page.click("#regions")
    settle(page)
    drawn = state(page)["regions"]
    last = max(set(range(len(Y))) - set(drawn))
    assert 10 < len(drawn) and last > 3
    assert f"regions: 90 % confidence, {len(drawn)} of {len(Y)} drawn" in page.inner_text("#left-out")
    page.evaluate(f"horopca.select([{last}, 3])")
    settle(page)
    assert state(page)["regions"][:2] == [3, last]  # those of selected points come first, however large
    page.keyboard.press("r")
    settle(page)
    assert state(page)["regions"] == [3, last] and "regions: 90 % confidence" in page.inner_text("#left-out")


# ---------------------------------------------------------------- edges


def test_edges_of_the_distance_view_follow_their_geodesics(visit_page):
    """Two points far out and close in direction: the chord is short, and the geodesic dips towards the centre."""
    angles = np.array([0, 1e-3, 0.02, 0.3, 1.0, 2.5])
    points = np.r_[[[0.0, 0.0]], 12 * np.stack([np.cos(angles), np.sin(angles)], axis=1)]
    pairs = [[1, j] for j in range(2, 7)]
    page = visit_page(explore(points, edges=pairs, model="tangent", root=0), hash="#model=equidistant")
    centre, scale = disk(page, 1)
    x = shown(page)
    for i, j in pairs:
        d, steps = distance(x[i], x[j]), np.linspace(0, 1, 2000)[:, None]
        line = (np.sinh((1 - steps) * d) * x[i] + np.sinh(steps * d) * x[j]) / np.sinh(d)
        exact = centre + scale * from_hyperboloid(line, "tangent") * [1, -1]
        path = np.array(page.evaluate(f"horopca.path({i}, {j})")).reshape(-1, 2)
        assert gap(exact, np.r_[path, path[::-1]]) < 0.7


# ---------------------------------------------------------------- refits


def test_a_refit_at_depth_is_as_good_as_the_package(visit_page):
    deep = DEEP * 25 / radius(to_hyperboloid(DEEP, "tangent")).max()
    page = visit_page(explore(deep[:, :2], original=deep, model="tangent"))
    page.evaluate("horopca.select(Array.from({ length: horopca.n }, (_, i) => i))")
    found = page.evaluate("horopca.refit('distortion')")
    pca = HoroPCA(2, spine="free", objective="distortion", model="tangent", random_state=0)
    expected = average_distortion(deep, pca.fit_transform(deep), model="tangent")
    assert found["is"]["distortion"] < max(1.02 * expected, expected + 0.005)


def test_a_refit_that_is_no_better_is_not_shown(visit_page):
    """The picture is exact: nothing can be better."""
    exact = np.c_[from_hyperboloid(X, "tangent"), np.zeros((len(X), 2))]
    page = visit_page(explore(exact[:, :2], original=exact, model="tangent"))
    before = shown(page)
    page.evaluate("horopca.select([1, 2, 3, 4, 5, 6, 7, 8])")
    found = page.evaluate("horopca.refit('distortion')")
    settle(page)
    if not found["moved"]:
        assert "No better picture of these 8 points was found" in page.inner_text("#no-better")
        assert np.array_equal(shown(page), before) and state(page)["refitted"] is None
    assert found["is"]["distortion"] <= 1e-6 or not found["moved"]


def test_a_refit_where_workers_are_forbidden(visit):
    """Workers that are there and do not start are tested under the policy of VS Code."""
    page = visit("sunk")
    page.evaluate("(() => { window.Worker = class { constructor() { throw new Error('forbidden'); } }; })()")
    page.evaluate("horopca.select([1, 2, 3, 4, 5, 6, 7, 8])")
    page.click("#refit")
    until(page, "document.getElementById('refitted') || document.getElementById('no-better')")


# ---------------------------------------------------------------- the address


def test_the_address_keeps_selection_refit_and_regions(visit_page, regions):
    whole = explore(Y, LABELS, names=NAMES, original=np.c_[Y, 0.1 * Y], regions=regions)
    page = visit_page(whole)
    page.evaluate("horopca.select([3, 4, 5, 9, 40])")
    page.click("#regions")
    until(page, "location.hash.includes('select=3-5.9.14') && location.hash.includes('regions=all')")
    same = lambda one, two: (
        {key: state(one)[key] for key in ("selected", "regions", "refitted")}
        == {key: state(two)[key] for key in ("selected", "regions", "refitted")}
    )
    assert same(visit_page(whole, hash=page.evaluate("location.hash")), page)
    page.evaluate("horopca.refit('variance')")
    settle(page)
    page.evaluate("horopca.select([1])")
    until(page, "location.hash.includes('refit=variance,3-5.9.14')")
    other = visit_page(whole, hash=page.evaluate("location.hash"))
    until(other, "horopca.state().refitted === 'variance'")
    settle(other)
    assert same(other, page) and np.allclose(shown(other), shown(page), atol=1e-9)
    page.click("#unfit")
    until(page, "!location.hash.includes('refit')")


def test_back_and_forward(visit):
    page = visit("mammals")
    start = shown(page)
    for name in ("cat", "dolphin"):
        find(page, name)
    end = shown(page)
    for step, act in ((1, page.go_back), (0, page.go_back), (1, page.go_forward), (2, page.go_forward)):
        act()
        until(page, f"horopca.state().visit === {step}")
    settle(page)
    assert np.allclose(shown(page), end, atol=1e-9)
    for step in (1, 0):  # the page's own Back still works
        page.click("#back")
        until(page, f"horopca.state().visit === {step}")
    settle(page)
    assert np.allclose(shown(page), start, atol=1e-9) and page.is_disabled("#back")
    page.evaluate("location.hash = '#model=constructor&by=__proto__&scale=toString&select=zzz-&refit=toString,1-9'")
    settle(page)
    assert state(page)["model"] == "poincare" and state(page)["selected"] == []
