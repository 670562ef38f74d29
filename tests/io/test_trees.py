"""Trees and ontologies of biologists' tools: names, lengths and directions come back, the rest is a sentence."""

import gzip

import numpy as np
import pytest

from fuzz.samples import NEWICK, OBO, PHYLOXML
from horopca.embed import SarkarEmbedding
from horopca.io import load_edges, memory_limit


def graph(path, content):
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return load_edges(path)


def relations(found):
    """child -> (parent, length)"""
    weights = [None] * len(found.edges) if found.weights is None else found.weights.round(12).tolist()
    return {found.names[u]: (found.names[v], w) for (u, v), w in zip(found.edges.tolist(), weights, strict=True)}


def test_newick(tmp_path):
    mean = np.mean([1, 2, 0.5, 1.5, 3])
    assert relations(graph(tmp_path / "a.nwk", NEWICK)) == {
        "cat": ("felines", 1.0),
        "lion": ("felines", 2.0),
        "felines": ("root", 0.5),
        "dog": ("inner 1", 1.5),
        "wolf grey": ("inner 1", mean / 1000),  # a length of zero
        "inner 1": ("root", mean),  # a missing one; 95 is no name
        "sea cow": ("root", 3.0),
    }


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("(a,b);", {"a": ("inner 1", None), "b": ("inner 1", None)}),
        ("[&R] ( a , b ) c ;", {"a": ("c", None), "b": ("c", None)}),
        ("(a:0,b:0)c;", {"a": ("c", None), "b": ("c", None)}),
        ("(a[&&NHX:S=x]:1[y],b:1e0)c:5;", {"a": ("c", 1.0), "b": ("c", 1.0)}),
        ("('it''s','a_b')c_d;", {"it's": ("c d", None), "a_b": ("c d", None)}),
        ("(,b)c;", {"leaf 1": ("c", None), "b": ("c", None)}),
        ("((a,b)x,(c,d)x)r;(e,f);", {"a": ("inner 1", None), "b": ("inner 1", None), "inner 1": ("r", None)}
            | {"c": ("inner 2", None), "d": ("inner 2", None), "inner 2": ("r", None)}),
        ("(a,a)r;", {"a": ("r", None), "a (2)": ("r", None)}),
        ("(a:-1,b:2)r;", {"a": ("r", 0.002), "b": ("r", 2.0)}),
    ],
)  # fmt: skip
def test_the_ways_of_newick(tmp_path, text, expected):
    assert relations(graph(tmp_path / "a.tree", text)) == expected


def test_nexus_with_short_names_and_after_other_blocks(tmp_path):
    text = """#NEXUS
    [a comment; with (marks)]
    Begin taxa; dimensions ntax=3; taxlabels cat 'big lion' dog; End;
    BEGIN TREES;
      Title t;
      Translate 1 cat, 2 'big lion', 3 dog;
      TREE one = [&R] ((1:1,2:2)0.99:0.5,3:1);
      TREE two = (1,(2,3));
    END;"""
    for name in ("a.nex", "b.tre", "c.nexus"):
        assert relations(graph(tmp_path / name, text)) == {
            "cat": ("inner 1", 1.0),
            "big lion": ("inner 1", 2.0),
            "inner 1": ("inner 2", 0.5),
            "dog": ("inner 2", 1.0),
        }


def test_phyloxml(tmp_path):
    mean = round((0.06 + 0.102) / 2, 12)
    assert relations(graph(tmp_path / "a.xml", PHYLOXML)) == {
        "inner 2": ("inner 1", 0.06),
        "A": ("inner 2", 0.102),
        "Bos taurus": ("inner 2", mean),
        "C": ("inner 1", mean),
    }


def test_obo(tmp_path):
    assert relations(graph(tmp_path / "a.obo", OBO)) == {"child": ("root", None)}
    twice = b"[Term]\nid: a:1\nname: x\n[Term]\nid: a:2\nname: x\nis_a: a:1\nis_a: a:1\nis_a: b:9 ! elsewhere\n"
    found = graph(tmp_path / "b.obo", twice)
    assert found.names == ["x (a:1)", "x (a:2)"] and found.edges.tolist() == [[1, 0]]


@pytest.mark.parametrize(
    ("name", "content"), [("a.nwk", NEWICK), ("a.xml", PHYLOXML), ("a.obo", OBO), ("a.edges", b"a b\nb c\n")]
)
def test_packed_files_are_the_same(tmp_path, name, content):
    plain, packed = graph(tmp_path / name, content), graph(tmp_path / f"{name}.gz", gzip.compress(content, mtime=0))
    assert plain.names == packed.names and np.array_equal(plain.edges, packed.edges)


def test_a_phylogeny_is_embedded_from_its_file(tmp_path):
    (tmp_path / "a.nwk").write_bytes(NEWICK)
    model = SarkarEmbedding(2).fit(tmp_path / "a.nwk")
    assert list(model.names_) == load_edges(tmp_path / "a.nwk").names and np.isfinite(model.embedding_).all()


DEEP = "(" * 20_000 + "a" + ")" * 20_000 + ";"


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.nwk", "", "no tree"),
        ("a.nwk", "a;", "no tree"),
        ("a.nwk", "((a,b);", "cut short: 1 '('"),
        ("a.nwk", "(a,b));", "outside of all parentheses"),
        ("a.nwk", "a,b;", "outside of all parentheses"),
        ("a.nwk", "(a(b,c));", "'(' follows a node"),
        ("a.nwk", "(a:x,b);", "'x' of a branch is not a number"),
        ("a.nwk", "(a:inf,b);", "must be finite"),
        ("a.nwk", "('a,b);", "is not closed"),
        ("a.nwk", "(a[,b);", "is not closed"),
        ("a.nwk", b"\xff(a,b);", "UTF-8"),
        ("a.nex", "#NEXUS\nbegin taxa; end;", "without a block TREES"),
        ("a.nex", "#NEXUS\nbegin trees; end;", "without a tree"),
        ("a.nex", "#NEXUS\nbegin trees; translate 1 a", "without a tree"),
        ("a.xml", "", "not XML"),
        ("a.xml", "<phyloxml><phylogeny><clade>", "not XML"),
        ("a.xml", "<phyloxml/>", "no tree"),
        ("a.xml", "<!DOCTYPE x [<!ENTITY a 'aaaa'><!ENTITY b '&a;&a;'>]><x>&b;</x>", "DOCTYPE"),
        ("a.xml", "<!DOCTYPE x SYSTEM 'file:///etc/passwd'><x/>", "DOCTYPE"),
        ("a.xml", "<phyloxml><phylogeny><clade branch_length='x'/></phylogeny></phyloxml>", "is not a number"),
        ("a.obo", "", "no terms"),
        ("a.obo", "[Term]\nid: a\n", "no terms"),
        ("a.nwk.gz", b"not packed", "cannot be unpacked"),
        ("a.nwk.gz", gzip.compress(NEWICK, mtime=0)[:-12], "cannot be unpacked"),
        ("a.xml.gz", gzip.compress(PHYLOXML, mtime=0)[:-12], "not XML"),
    ],
)
def test_what_is_no_tree_is_refused(tmp_path, name, content, words):
    with pytest.raises(ValueError, match=words.replace("(", r"\(")) as refusal:
        graph(tmp_path / name, content)
    assert str(tmp_path / name) in str(refusal.value)


def test_deep_trees_need_no_deep_stack(tmp_path):
    assert len(graph(tmp_path / "a.nwk", DEEP).edges) == 20_000
    clades = "<clade>" * 20_000 + "</clade>" * 20_000
    assert len(graph(tmp_path / "a.xml", f"<phyloxml><phylogeny>{clades}</phylogeny></phyloxml>").edges) == 19_999


def test_packed_trees_that_swell_are_refused(tmp_path):
    with memory_limit(1e6):
        for name, content in (
            ("a.nwk", b"(a,b)" * 200_000),
            ("a.xml", b"<x>" + b" " * 2_000_000),
            ("a.edges", b"a b\n" * 300_000),
        ):
            with pytest.raises(ValueError, match="in memory"):
                graph(tmp_path / f"{name}.gz", gzip.compress(content, mtime=0))
