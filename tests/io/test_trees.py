"""Trees and ontologies: names, lengths and directions are those of the file, and what was left out is stated."""

import gzip
import warnings

import numpy as np
import pytest

from fuzz.samples import NEWICK, OBO, OWL, PHYLOXML
from horopca.io import load_edges

NEXUS = """#NEXUS
    [a comment; with (marks)]
    Begin taxa; dimensions ntax=3; taxlabels cat 'big lion' dog; End;
    BEGIN TREES;
      Title t;
      Translate t1 cat, 2 'big lion', 3 End;
      TREE one [&lnP=-1.0] = [&R] ((t1[&rate=0.1]:1,2:2)0.99:0.5,3:1);
      TREE two = (t1,(2,3));
    END;"""
FOREST = b"""format-version: 1.2

[Term]
id: HP:1
name: limb

[Term]
id: HP:2
name: hand
is_a: HP:1 ! limb

[Term]
id: HP:3
name: finger
relationship: part_of HP:2 ! hand

[Term]
id: HP:4
name: hand

[Term]
id: HP:5
name: paw
is_obsolete: true

[Typedef]
id: part_of
"""


def graph(path, content, **options):
    """The graph in a file, whose notes are its warnings."""
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with warnings.catch_warnings(record=True) as raised:
        warnings.simplefilter("always")
        found = load_edges(path, **options)
    assert [str(warning.message) for warning in raised] == [f"{path}: {note}" for note in found.notes]
    return found


def relations(found):
    """child -> (parent, length)"""
    weights = [None] * len(found.edges) if found.weights is None else found.weights.round(12).tolist()
    return {found.names[u]: (found.names[v], w) for (u, v), w in zip(found.edges.tolist(), weights, strict=True)}


def plain(**parents):
    return {child: (parent, None) for child, parent in parents.items()}


def test_newick(tmp_path):
    mean = np.mean([1, 2, 0.5, 1.5, 3])
    found = graph(tmp_path / "a.nwk", NEWICK)
    assert relations(found) == {
        "cat": ("felines", 1.0),
        "lion": ("felines", 2.0),
        "felines": ("root", 0.5),
        "dog": ("inner 1", 1.5),
        "wolf_grey": ("inner 1", mean / 1000),  # a length of zero
        "inner 1": ("root", mean),  # a missing one; 95 is a support value
        "sea cow": ("root", 3.0),
    }
    assert found.notes == (
        "support values left out: 1.",
        "branches of length zero or below: 1, set to a thousandth of the mean length.",
        "branches without a length: 1, set to the mean length, 1.6.",
    )


@pytest.mark.parametrize(
    ("text", "expected", "note"),
    [
        ("(a,b);", {"a": ("inner 1", None), "b": ("inner 1", None)}, None),
        ("[&R] ( a , b ) c ;", plain(a="c", b="c"), None),
        ("(a:0,b:0)c;", plain(a="c", b="c"), "all branches have length zero or below: their lengths are left out."),
        ("(a[&&NHX:S=x]:1[y],b:1e0)c:5;", {"a": ("c", 1.0), "b": ("c", 1.0)}, "annotations in square brackets left out: 1."),
        ("('it''s','a_b')c_d;", {"it's": ("c_d", None), "a_b": ("c_d", None)}, None),
        ('("a b","c, (d)")"e";', {"a b": ("e", None), "c, (d)": ("e", None)}, None),
        ("(5\"UTR,b\")c;", {'5"UTR': ("c", None), 'b"': ("c", None)}, None),
        ("(sea  cow,b)c;", {"sea cow": ("c", None), "b": ("c", None)}, None),
        ("(,b)c;", {"leaf 1": ("c", None), "b": ("c", None)}, None),
        ("(a,b)r;(e,f);(g,h);", plain(a="r", b="r"), "the first of 3 trees was read."),
        ("((a,b)x,c)x;", {"a": ("x", None), "b": ("x", None), "x": ("x (2)", None), "c": ("x (2)", None)},
            "repeated names: 1, numbered in brackets."),
        ("(a,a)r;", {"a": ("r", None), "a (2)": ("r", None)}, "repeated names: 1, numbered in brackets."),
        ("(a:-1,b:2)r;", {"a": ("r", 0.002), "b": ("r", 2.0)},
            "branches of length zero or below: 1, set to a thousandth of the mean length."),
        ("((9606,9598)207598,9593)9604;", {"9606": ("207598", None), "9598": ("207598", None), "207598": ("9604", None),
            "9593": ("9604", None)}, None),  # identifiers of a taxonomy, not support values
        ("((a,b)97.3/100,c);", {"a": ("inner 1", None), "b": ("inner 1", None), "inner 1": ("inner 2", None),
            "c": ("inner 2", None)}, "support values left out: 1."),
    ],
)  # fmt: skip
def test_variants_of_newick(tmp_path, text, expected, note):
    found = graph(tmp_path / "a.tree", text)
    assert relations(found) == expected and list(found.notes) == ([note] if note else [])


@pytest.mark.parametrize("name", ["a.nex", "b.tre", "c.txt", "RAxML_bestTree.x", "d.trees", "e"])
def test_content_selects_format(tmp_path, name):
    found = graph(tmp_path / name, NEXUS)
    assert relations(found) == {
        "cat": ("inner 1", 1.0),
        "big lion": ("inner 1", 2.0),
        "inner 1": ("inner 2", 0.5),
        "End": ("inner 2", 1.0),
    }
    assert found.notes[0] == "the first of 2 trees was read."
    assert relations(graph(tmp_path / name, "(a,b)c;")) == plain(a="c", b="c")
    if name not in ("a.nex", "b.tre"):  # the ending decides where the content could be anything
        assert relations(graph(tmp_path / name, "a c\nb c\n")) == plain(a="c", b="c")


def test_xml_trees(tmp_path):
    mean = round((0.06 + 0.102) / 2, 12)
    assert relations(graph(tmp_path / "a.xml", PHYLOXML)) == {
        "inner 2": ("inner 1", 0.06),
        "A": ("inner 2", 0.102),
        "Bos taurus": ("inner 2", mean),
        "C": ("inner 1", mean),
    }


@pytest.mark.parametrize(
    ("name", "content", "child", "parent", "codes"),
    [("a.obo", OBO, "child", "root", ["GO:1", "GO:2"]), ("a.owl", OWL, "low", "top", ["A:1", "A:2"])],
)
def test_ontologies(tmp_path, name, content, child, parent, codes):
    found = graph(tmp_path / name, content)
    assert relations(found) == plain(**{child: parent}) and found.codes == codes
    assert found.notes == (["obsolete terms left out: 1."] if name == "a.obo" else [])


def test_top_terms_are_joined(tmp_path):
    found = graph(tmp_path / "a.obo", FOREST)
    tops = {"limb": ("root", None), "finger": ("root", None), "hand (HP:4)": ("root", None)}
    assert relations(found) == {**tops, "hand (HP:2)": ("limb", None)}
    assert found.names == ["limb", "hand (HP:2)", "finger", "hand (HP:4)", "root"]
    assert found.codes == ["HP:1", "HP:2", "HP:3", "HP:4", ""]
    joined = "its 3 top terms are joined under a node called 'root'; root= selects one of them."
    assert found.notes == ["obsolete terms left out: 1.", joined]
    with pytest.raises(ValueError, match=r"no relation 'partof': its relations are is_a, part_of"):
        load_edges(tmp_path / "a.obo", relations=("is_a", "partof"))
    with_parts = graph(tmp_path / "a.obo", FOREST, relations=("is_a", "part_of"))
    assert relations(with_parts)["finger"] == ("hand (HP:2)", None)
    for root in ("limb", "HP:1"):
        found = graph(tmp_path / "a.obo", FOREST, relations=("is_a", "part_of"), root=root)
        assert found.names == ["limb", "hand (HP:2)", "finger"] and found.codes == ["HP:1", "HP:2", "HP:3"]
        assert found.edges.tolist() == [[1, 0], [2, 1]]
    (tmp_path / "c.obo").write_bytes(FOREST[: FOREST.index(b"[Typedef]")])
    with pytest.raises(ValueError, match=r"no \[Typedef\] of the relation 'part_of'"):
        load_edges(tmp_path / "c.obo", relations=("is_a", "part_of"))
    with pytest.raises(ValueError, match=r"root must be the name of a node of .*, but 'foot' is not"):
        load_edges(tmp_path / "a.obo", root="foot")
    assert graph(tmp_path / "b.nwk", "((a:1,b:2)c:3,d:4);", root="c").weights.tolist() == [1, 2]


@pytest.mark.parametrize(
    ("name", "content"), [("a.nwk", "(a,b)c;"), ("a.xml", PHYLOXML), ("a.obo", OBO), ("a.edges", b"a b\nb c\n")]
)
def test_compressed_graphs(tmp_path, name, content):
    content = content if isinstance(content, bytes) else content.encode()
    plain, packed = graph(tmp_path / name, content), graph(tmp_path / f"{name}.gz", gzip.compress(content, mtime=0))
    assert plain.names == packed.names and np.array_equal(plain.edges, packed.edges)


PHYLO = "<phyloxml xmlns='http://www.phyloxml.org'><phylogeny>{}</phylogeny></phyloxml>"


def test_deep_trees(tmp_path):
    assert len(graph(tmp_path / "a.nwk", "(" * 20_000 + "a" + ")" * 20_000 + ";").edges) == 20_000
    clades = "<clade>" * 2000 + "</clade>" * 2000
    assert len(graph(tmp_path / "a.xml", PHYLO.format(clades)).edges) == 1999
