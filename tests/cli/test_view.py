"""``horopca view``: the page that `explore` makes, from files."""

import numpy as np
import pytest

from horopca.explorer import explore
from horopca.geometry import from_hyperboloid
from taxonomy import mammals

from .running import run

X, NAMES, LABELS, EDGES = mammals()
Y = from_hyperboloid(X, "poincare")


def write(path, text):
    path.write_text(text, encoding="utf-8")
    return path


def view(*arguments):
    return run("view", *arguments)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.save("plane.npy", Y)
    write(tmp_path / "names.txt", "\n".join(NAMES))
    write(tmp_path / "labels.txt", "\n".join(LABELS))
    write(tmp_path / "edges.tsv", "\n".join(f"{NAMES[a]}\t{NAMES[b]}" for a, b in EDGES))
    return tmp_path


def test_view_writes_what_explore_makes(folder):
    np.save("original.npy", np.c_[Y, Y] / 2)
    write(folder / "values.csv", "size,mass\n" + "\n".join(f"{i},{i / 2}" for i in range(len(Y))))
    result = view(
        *("plane.npy", "--names", "names.txt", "--labels", "labels.txt", "--edges", "edges.tsv", "--values", "values.csv"),
        *("--original", "original.npy", "--title", "Beasts", "--root", "cat", "-o", "beasts.html"),
    )
    assert result.exit_code == 0, result.output
    page = explore(
        Y,
        LABELS,
        names=NAMES,
        edges=EDGES,
        values={"size": np.arange(len(Y)), "mass": np.arange(len(Y)) / 2},
        original=np.c_[Y, Y] / 2,
        title="Beasts",
        root=NAMES.index("cat"),
    )
    assert (folder / "beasts.html").read_text(encoding="utf-8") == page.html
    assert "beasts.html" in result.stdout and f"{len(Y)}" in result.stdout and result.stderr == ""


def test_view_takes_details_pictures_sizes_and_a_palette(folder):
    (folder / "pictures").mkdir()
    (folder / "pictures" / "one.png").write_bytes(b"a picture")
    write(folder / "pictures" / "list.txt", "one.png\n" + "\n" * (len(Y) - 1))
    write(folder / "details.txt", "\n".join(f"about {name}" for name in NAMES))
    write(folder / "sizes.csv", "\n".join(str(i + 1) for i in range(len(Y))))
    more = ("--details", "details.txt", "--images", "pictures/list.txt", "--sizes", "sizes.csv", "--palette", "#112233,#445566")
    result = view("plane.npy", "--labels", "labels.txt", *more)
    assert result.exit_code == 0, result.output
    page = explore(
        Y,
        LABELS,
        details=[f"about {name}" for name in NAMES],
        images=[folder / "pictures" / "one.png"] + [None] * (len(Y) - 1),
        sizes=np.arange(1, len(Y) + 1),
        palette=["#112233", "#445566"],
        title="plane",
    )
    assert (folder / "plane.html").read_text(encoding="utf-8") == page.html


def test_view_names_the_page_after_its_points_and_overwrites_only_when_told(folder):
    assert view("plane.npy").exit_code == 0 and "<title>plane</title>" in (folder / "plane.html").read_text(encoding="utf-8")
    again = view("plane.npy")
    assert again.exit_code == 1 and "plane.html exists already" in again.stderr and "--force" in again.stderr
    assert view("plane.npy", "--force").exit_code == 0


def test_text_in_the_file_of_points_is_names_or_labels(folder):
    table = lambda texts: "\n".join(f"{a},{b},{text}" for (a, b), text in zip(Y, texts, strict=True))
    write(folder / "named.csv", table(NAMES))
    write(folder / "labelled.csv", table(LABELS))
    view("named.csv")
    view("labelled.csv")
    page = lambda name: (folder / name).read_text(encoding="utf-8")
    assert page("named.html") == explore(Y, names=NAMES, title="named").html
    assert page("labelled.html") == explore(Y, LABELS, title="labelled").html


@pytest.mark.parametrize("there", [True, False])
def test_open_asks_for_a_browser(folder, monkeypatch, there):
    asked = []
    monkeypatch.setattr("webbrowser.open", lambda address: asked.append(address) or there)
    result = view("plane.npy", "--open")
    assert result.exit_code == 0 and asked == [(folder / "plane.html").resolve().as_uri()]
    assert result.stderr == ("" if there else "No browser could be started here: open plane.html yourself.\n")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["absent.npy"], "There is no file absent.npy"),
        (["plane.npy", "--names", "short.txt"], "must hold one name for each of the"),
        (["plane.npy", "--labels", "short.txt"], "must hold one label for each of the"),
        (["plane.npy", "--edges", "edges.tsv"], "names (on the command line, --names) are needed too"),
        (["plane.npy", "--edges", "far.txt"], "edges must join rows 0 to"),
        (["plane.npy", "--original", "short.npy"], "original must have one row"),
        (["deep.npy"], "or horopca reduce on the command line, reduces"),
        (["plane.npy", "-o", "page.pdf"], "must end in .html"),
        (["plane.npy", "-o", "no/page.html"], "there is no folder no"),
        (["plane.npy", "--root", "cat"], "--root must be the name or the row number of a point, but is 'cat'"),
        (["plane.npy", "--details", "short.txt"], "must hold one text for each of the"),
        (["plane.npy", "--images", "images.txt"], "there is no absent.png"),
        (["plane.npy", "--sizes", "plane.npy"], "--sizes must hold one column"),
        (["plane.npy", "--palette", "red"], "palette must hold colours"),
        (["plane.npy", "--model", "lorentz"], "at least 2 columns|hyperboloid|Y must be points of the disk"),
    ],
)
def test_wrong_requests_end_in_a_sentence(folder, arguments, sentence):
    write(folder / "short.txt", "a\nb\n")
    write(folder / "far.txt", "0 1000\n")
    write(folder / "images.txt", "absent.png\n" * len(Y))
    np.save("short.npy", Y[:3])
    np.save("deep.npy", np.zeros((5, 3)))
    before = sorted(folder.iterdir())
    result = view(*arguments)
    assert result.exit_code == 1 and result.stderr.startswith("Error: ") and "Traceback" not in result.stderr
    assert any(part in " ".join(result.stderr.split()) for part in sentence.split("|")), result.stderr
    assert sorted(folder.iterdir()) == before
