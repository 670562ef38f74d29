"""What the page says about the original, and refits, against independent computations; in a real browser."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.sparse.csgraph import shortest_path

from horopca import HoroPCA, TangentPCA
from horopca.datasets import make_hierarchy
from horopca.explorer import explore
from horopca.geometry import distance, from_hyperboloid, pairwise_distance, radius, to_hyperboloid
from horopca.metrics import average_distortion
from horopca.neighbors import HyperbolicNeighbors
from horopca.plots.palette import RAMPS
from horopca.projections import slide, spine_from_basis

from .browsing import CARNIVORES, CAT, DEEP, EDGES, LABELS, NAMES, ORIGINAL, X, Y

TREE = csr_array((np.ones(len(EDGES)), tuple(EDGES.T)), shape=(len(X), len(X)))
LENGTHS = csr_array((np.linspace(1.0, 2.0, len(EDGES)), tuple(EDGES.T)), shape=(len(X), len(X)))
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


def test_hovering_shows_a_point_and_its_neighbours_in_the_original_space(visit):
    page = visit("reduced")
    assert page.is_hidden("#card")
    x, y = page.screen(CAT)
    page.mouse.move(x + 3, y)
    page.settle()
    assert page.state()["hover"] == CAT and page.inner_text("#card h2") == "cat"
    distances, indices = HyperbolicNeighbors(5, model="lorentz").fit(to_hyperboloid(ORIGINAL)).kneighbors()
    rows = [row.split("\n") for row in page.locator("#card .there li").all_inner_texts()]
    assert [name for name, _ in rows] == [NAMES[i] for i in indices[CAT]]
    d = pairwise_distance(X)
    for (_, both), i, there in zip(rows, indices[CAT], distances[CAT], strict=True):
        first, second = map(float, both.split(" → "))
        assert first == pytest.approx(there, rel=2e-3, abs=0.006) and second == pytest.approx(d[CAT, i], abs=0.006)
    page.mouse.move(5, 795)
    page.settle()
    assert page.is_hidden("#card")
    page.mouse.click(x, y)
    page.mouse.move(5, 795)
    page.settle()
    assert page.is_visible("#card") and page.state()["pin"] == CAT
    page.select_option("#colour", label="Neighbours added")
    assert "not among the 5 nearest in the original" in page.inner_text("#scale")
    assert page.inner_text("#scale .ends").split("\n") == ["0 %", "100 %"]


def test_a_graph_is_compared_with_the_picture_as_a_graph(visit):
    page = visit(explore(Y, LABELS, names=NAMES, edges=EDGES, original=TREE, n_neighbors=K))
    graph, plane = shortest_path(TREE, directed=False), pairwise_distance(X)
    added, lost = shares(graph, plane, K)
    assert 0 < added.max()
    for i in (int(added.argmax()), CAT, 0):
        page.fly(i)
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


def test_the_distortion_of_the_whole_way():
    graph, plane = shortest_path(TREE, directed=False), pairwise_distance(X)
    ratios = (plane / np.where(graph > 0, graph, 1))[np.triu_indices(len(X), 1)]
    exact = explore(2 * Y, original=2 * graph, metric="precomputed", curvature=-0.25).distortion
    assert exact == pytest.approx(np.mean(np.abs(ratios - 1)))
    best = min(np.mean(np.abs(ratios / s - 1)) for s in np.linspace(0.2, 3, 5000))  # a graph has no unit of length
    assert explore(Y, original=TREE).distortion == pytest.approx(best, rel=1e-3)


def test_ties_are_no_false_neighbours_and_hidden_points_change_nothing(visit):
    """On a path every inner node has two nodes at each distance: with k odd, one of a pair is cut off, and is not false."""
    line = from_hyperboloid(np.array([[np.cosh(r), np.sinh(r), 0.0] for r in range(-6, 6)]))
    page = visit(explore(line, [i % 2 for i in range(12)], original=LADDER, n_neighbors=K, edges=None))
    page.fly(6)
    assert card(page)["Neighbours added"] == "0.0 %" and page.locator("#card .changed").count() == 0
    rows = page.locator("#card li").all_inner_texts()
    page.locator("#scale .row").nth(1).hover()
    page.locator("#scale .toggle").nth(1).click()
    assert page.locator("#card li").all_inner_texts() == rows and page.locator("#card .changed").count() == 0


@pytest.mark.parametrize("original", ["points", "graph", None])
def test_the_ruler_measures_here_and_in_the_original(visit, original):
    before = {"points": ORIGINAL, "graph": LENGTHS, None: None}[original]
    page = visit(explore(Y, LABELS, names=NAMES, edges=EDGES[:, ::-1], original=before))
    lion, whale = NAMES.index("lion"), NAMES.index("whale")
    page.keyboard.press("m")
    for i in (lion, whale):
        page.mouse.click(*page.screen(i).tolist())
    here, text = distance(X[lion], X[whale]), page.inner_text("#measured")
    assert text.startswith("lion – whale: ")
    if original is None:
        assert text.endswith(f" {here:.2f}")
    elif original == "points":
        x = to_hyperboloid(ORIGINAL)
        assert text.endswith(f"original {distance(x[lion], x[whale]):.2f} → here {here:.2f}")
    else:
        assert f"graph {shortest_path(LENGTHS, directed=False)[lion, whale]:.2f} → here " in text
    page.keyboard.press("Escape")
    assert page.is_hidden("#measured")


def kept(A, x, goal):
    """The objective over all pairs, from the package's projection: the mean squared distance, or of distance kept."""
    y = to_hyperboloid(slide(x, spine_from_basis(A)), "halfspace")
    d, e = (pairwise_distance(points)[np.triu_indices(len(x), 1)] for points in (x, y))
    return np.mean(e * e) if goal == "variance" else np.mean(e / d)


@pytest.mark.parametrize("goal", ["variance", "distortion"])
def test_the_objective_in_the_browser_is_that_of_the_package(visit, goal):
    page = visit("sunk")
    x, rng = to_hyperboloid(DEEP, "tangent"), np.random.default_rng(0)
    rows = list(range(0, len(x), 2))
    for A in (rng.standard_normal((2, 5)), np.c_[np.ones(2), rng.standard_normal((2, 4))], np.eye(2, 5, k=1)):
        found = page.evaluate(f"horopca.objective({rows}, '{goal}', {A.ravel().tolist()})")
        assert found["value"] == pytest.approx(kept(A, x[rows], goal), rel=1e-6)
        h = 1e-5
        steps = h * np.eye(A.size).reshape(-1, *A.shape)
        slope = np.array([kept(A + step, x[rows], goal) - kept(A - step, x[rows], goal) for step in steps]) / (2 * h)
        assert np.allclose(found["gradient"], slope, rtol=1e-4, atol=1e-4 * np.abs(slope).max())  # of differences


@pytest.mark.parametrize("goal", ["variance", "distortion"])
def test_a_selection_is_refitted_and_the_points_come_back(visit, goal):
    page = visit("sunk")
    before = page.shown()
    found = page.refit(goal, CARNIVORES)
    x = DEEP[CARNIVORES]
    expected = HoroPCA(2, spine="free", objective=goal, model="tangent", random_state=0).fit_transform(x)
    after = from_hyperboloid(page.shown()[CARNIVORES], "tangent")
    assert average_distortion(x, after, model="tangent") == pytest.approx(found["is"]["distortion"], abs=1e-6)
    if goal == "distortion":
        assert 1 - found["is"]["distortion"] > 0.999 * (1 - average_distortion(x, expected, model="tangent"))
        assert found["is"]["distortion"] <= found["was"]["distortion"] + 1e-9
    else:
        mean_square = lambda points: np.mean(pairwise_distance(points)[np.triu_indices(len(x), 1)] ** 2)
        assert mean_square(page.shown()[CARNIVORES]) > 0.999 * mean_square(to_hyperboloid(expected, "tangent"))
    assert "Refitted to" in page.inner_text("#refitted")
    assert page.evaluate("document.querySelector('#colour option[value=false]').disabled")  # measures of the first picture
    page.push("#unfit")
    assert np.allclose(page.shown(), before, atol=1e-9)


def test_refits_of_many_and_of_deep_points_are_as_good_as_the_package(visit):
    page, everything = visit("wordnet"), "horopca.select(Array.from({ length: horopca.n }, (_, i) => i))"
    page.evaluate(everything)
    found = page.evaluate("horopca.refit('distortion')")["is"]["distortion"]
    assert found < 0.0928  # HoroPCA(spine="free", objective="distortion") has 0.0921; a race by distortion ends at 0.0934 or so
    deep = DEEP * 25 / radius(to_hyperboloid(DEEP, "tangent")).max()
    page = visit(explore(deep[:, :2], original=deep, model="tangent"))
    page.evaluate(everything)
    found = page.evaluate("horopca.refit('distortion')")["is"]["distortion"]
    assert found < 0.0153 + 0.005  # HoroPCA has 0.0153


def test_a_picture_that_is_exact_looks_so_and_is_not_refitted(visit):
    exact = np.c_[from_hyperboloid(X, "tangent"), np.zeros((len(X), 2))]
    page = visit(explore(exact[:, :2], original=exact, model="tangent"))
    for colouring in ("false", "trust", "continuity", "distortion"):
        page.select_option("#colour", colouring)
        colours = page.evaluate("[...new Set(Array.from({ length: horopca.n }, (_, i) => horopca.colour(i)))]")
        assert [colour.upper() for colour in colours] == [RAMPS["distrust"]["light"][0]]  # not stretched to dark red
    before = page.shown()
    found = page.refit("distortion", [1, 2, 3, 4, 5, 6, 7, 8])
    assert not found["moved"] and page.state()["refitted"] is None and np.array_equal(page.shown(), before)
    assert "No better picture of these 8 points was found" in page.inner_text("#no-better")


def test_the_address_keeps_a_refit_and_it_works_where_workers_are_forbidden(visit):
    """Workers that are there and do not start are tested under the policy of VS Code."""
    page = visit("sunk")
    page.evaluate("(() => { window.Worker = class { constructor() { throw new Error('forbidden'); } }; })()")
    page.select([3, 4, 5, 9, 40])
    page.click("#refit")
    page.until("horopca.state().refitted === 'distortion'")
    page.settle()
    page.select([1])
    page.until("location.hash.includes('select=1&refit=distortion,3-5.9.14')")
    other = visit("sunk", hash=page.evaluate("location.hash"))
    other.until("horopca.state().refitted === 'distortion'")
    other.settle()
    assert other.state()["selected"] == [1] and np.allclose(other.shown(), page.shown(), atol=1e-9)
    page.click("#unfit")
    page.until("!location.hash.includes('refit')")


def test_refining_is_as_good_as_the_package_and_is_undone(visit):
    original = make_hierarchy(3, 3, 10, random_state=0).points  # 40 points in ten dimensions
    flat = TangentPCA(2).fit_transform(original)
    page = visit(explore(flat, original=original))
    before = page.shown()
    assert f"Average distortion, original → picture: {average_distortion(original, flat):.1%}" == page.inner_text("#total")
    page.click("#refine")
    page.until("horopca.state().refitted === 'refine'")
    page.settle()
    found = average_distortion(original, from_hyperboloid(page.shown(), "poincare"))
    assert found < 1.03 * 0.0670  # horopca.refine has 0.0670
    assert f"→ {100 * found:.1f} %. New points cannot be added" in page.inner_text("#refitted")
    page.until("location.hash.includes('refit=refine')")
    assert not page.is_visible("#total")  # it is that of the first picture
    page.push("#unfit")
    assert np.allclose(page.shown(), before) and page.is_visible("#refine") and page.is_visible("#total")
