"""``horopca view``: the page that `explore` makes, from files."""

import json

import numpy as np
import pytest

from horopca import io
from horopca.explorer import explore
from horopca.geometry import from_hyperboloid, to_hyperboloid
from taxonomy import mammals

from .running import refused, run

X, NAMES, LABELS, EDGES = mammals()
Y = from_hyperboloid(X, "poincare")


def view(*arguments):
    return run("view", *arguments)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.save("plane.npy", Y)
    (tmp_path / "names.txt").write_text("\n".join(NAMES))
    (tmp_path / "classes.txt").write_text("\n".join(LABELS))
    (tmp_path / "edges.tsv").write_text("\n".join(f"{NAMES[a]}\t{NAMES[b]}" for a, b in EDGES))
    return tmp_path


def page(name):
    with open(name, encoding="utf-8") as file:
        return file.read()


def test_view_writes_what_explore_makes(folder):
    np.save("original.npy", np.c_[Y, Y] / 2)
    words = ("--metadata", "names.txt", "--edges", "edges.tsv", "--original", "original.npy", "--root", "cat")
    result = view("plane.npy", *words, "--title", "Beasts", "-o", "beasts.html")
    assert result.exit_code == 0 and result.stderr == "", result.output
    expected = explore(Y, names=NAMES, edges=EDGES, original=np.c_[Y, Y] / 2, title="Beasts", root=NAMES.index("cat"))
    assert page("beasts.html") == expected.html
    assert all(word in result.stdout for word in ("beasts.html", f"{len(Y)}", "distortion"))


def test_view_takes_classes_pictures_and_a_palette(folder):
    (folder / "pictures").mkdir()
    (folder / "pictures" / "one.png").write_bytes(b"a picture")
    (folder / "pictures" / "list.txt").write_text("one.png\n" + "\n" * (len(Y) - 1))
    more = ("--images", "pictures/list.txt", "--palette", "#112233,#445566")
    result = view("plane.npy", "--metadata", "classes.txt", *more)
    assert result.exit_code == 0, result.output
    images = [folder / "pictures" / "one.png"] + [None] * (len(Y) - 1)
    assert page("plane.html") == explore(Y, LABELS, images=images, palette=["#112233", "#445566"], title="plane").html


@pytest.mark.parametrize("there", [True, False])
def test_open_starts_a_browser(folder, monkeypatch, there):
    opened = []
    monkeypatch.setattr("webbrowser.open", lambda address: opened.append(address) or there)
    result = view("plane.npy", "--open")
    assert result.exit_code == 0 and opened == [(folder / "plane.html").resolve().as_uri()]
    assert result.stderr == ("" if there else "No browser could be started: open plane.html yourself.\n")


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["plane.npy", "--edges", "edges.tsv"], "so the points need names"),
        (["plane.npy", "--edges", "far.txt"], "edges must join rows 0 to"),
        (["plane.npy", "--original", "short.npy"], "original must have one row"),
        (["deep.npy"], "or horopca reduce on the command line, reduces"),
        (["plane.npy", "-o", "page.pdf"], "must end in .html"),
        (["plane.npy", "--root", "cat"], "--root must be the name or the row number (0 to "),
        (["plane.npy", "--images", "images.txt"], "absent.png"),
        (["plane.npy", "--images", "short.txt"], "must hold one picture for each of the"),
        (["plane.npy", "--palette", "red"], "palette must"),
    ],
)
def test_errors_leave_nothing(folder, arguments, text):
    (folder / "short.txt").write_text("a\nb\n")
    (folder / "far.txt").write_text("0 1000\n")
    (folder / "images.txt").write_text("absent.png\n" * len(Y))
    np.save("short.npy", Y[:3])
    np.save("deep.npy", np.zeros((5, 3)))
    before = sorted(folder.iterdir())
    refused(view(*arguments), text)
    assert sorted(folder.iterdir()) == before


def test_original_in_another_model(folder):
    io.save("original.npz", to_hyperboloid(np.c_[Y, Y] / 2), model="lorentz")
    np.save("original.npy", np.c_[Y, Y] / 2)
    pages = [view("plane.npy", "--original", f"original.{end}", "-o", f"{end}.html", "--json") for end in ("npz", "npy")]
    assert [result.exit_code for result in pages] == [0, 0], pages[0].output
    assert np.isclose(*(json.loads(result.stdout)["distortion"] for result in pages))
    io.save("other.npz", np.c_[Y, Y] / 4, curvature=-4.0)
    result = view("plane.npy", "--original", "other.npz", "-o", "other.html")
    refused(result, "other.npz states curvature -4, but the points of the page have -1")
