"""``horopca view``: the page that `explore` makes, from files."""

import numpy as np
import pytest

from horopca import io
from horopca.explorer import explore
from horopca.geometry import from_hyperboloid
from taxonomy import mammals

from .running import done, refused, run

X, NAMES, LABELS, EDGES = mammals()
Y = from_hyperboloid(X, "poincare")


@pytest.fixture(autouse=True)
def files(folder):
    np.save("plane.npy", Y)
    (folder / "names.txt").write_text("\n".join(NAMES))
    (folder / "classes.txt").write_text("\n".join(LABELS))
    (folder / "edges.tsv").write_text("\n".join(f"{NAMES[a]}\t{NAMES[b]}" for a, b in EDGES))


def page(name):
    with open(name, encoding="utf-8") as file:
        return file.read()


def test_view_writes_what_explore_makes():
    np.save("original.npy", np.c_[Y, Y] / 2)
    words = ("--metadata", "names.txt", "--edges", "edges.tsv", "--original", "original.npy", "--root", "cat")
    printed = done("view", "plane.npy", *words, "--title", "Beasts", "-o", "beasts.html")
    expected = explore(Y, names=NAMES, edges=EDGES, original=np.c_[Y, Y] / 2, title="Beasts", root=NAMES.index("cat"))
    assert page("beasts.html") == expected.html
    assert all(word in printed for word in ("beasts.html", f"{len(Y)}", "distortion"))


def test_view_takes_classes_pictures_and_a_palette(folder):
    (folder / "pictures").mkdir()
    (folder / "pictures" / "one.png").write_bytes(b"a picture")
    (folder / "pictures" / "list.txt").write_text("one.png\n" + "\n" * (len(Y) - 1))
    more = ("--images", "pictures/list.txt", "--palette", "#112233,#445566")
    done("view", "plane.npy", "--metadata", "classes.txt", *more)
    images = [folder / "pictures" / "one.png"] + [None] * (len(Y) - 1)
    assert page("plane.html") == explore(Y, LABELS, images=images, palette=["#112233", "#445566"], title="plane").html


@pytest.mark.parametrize("there", [True, False])
def test_open_starts_a_browser(folder, monkeypatch, there):
    opened = []
    monkeypatch.setattr("webbrowser.open", lambda address: opened.append(address) or there)
    printed = done("view", "plane.npy", "--open")
    assert opened == [(folder / "plane.html").resolve().as_uri()]
    assert ("No browser could be started: open plane.html yourself." in printed) == (not there)


def test_an_original_that_states_another_model_or_curvature_is_an_error():
    for stated in ({"model": "klein"}, {"curvature": -4.0}):
        io.save("original.npz", Y / 4, **stated, force=True)
        refused(run("view", "plane.npy", "--original", "original.npz"), "must have the model and the curvature of plane.npy")
