"""Files that cannot be read: the error names the file and, in text, the line."""

import gzip
import re

import numpy as np
import pytest

from fuzz.contents import npy, npy_header, safetensors, tensor_entry
from fuzz.samples import NEWICK, PHYLOXML
from horopca.io import load, load_edges

X = np.random.default_rng(0).uniform(-0.5, 0.5, (6, 3))
PHYLO = "<phyloxml xmlns='http://www.phyloxml.org'><phylogeny>{}</phylogeny></phyloxml>"


ERRORS = [
    # tables
    ("a.csv", "", "is empty"),
    ("a.csv", "x,y\n", "no rows of numbers"),
    ("a.csv", "0,1;0,2\n0,3;0,4\n", "has decimal commas, which are not supported: use decimal points"),
    ("a.csv", "x,y\n.1,.2\n.3\n", "line 3: 1 values, but the first line has 2"),
    ("a.csv", ".1,.2,.3\n.1,oops,.3\n", "line 2: 'oops' is not a number"),
    ("a.csv", "name,class\na,b\nc,d\n", "no rows of numbers"),
    ("a.csv", "id,class\n1,2\n3,4\n", "columns of words, but none of coordinates"),
    ("a.csv", ".1,.2\n.3,nan\n", "the first is row 1"),
    ("a.csv", ".1,.2\n.3,\n", "missing value"),
    ("a.csv", ".1,.2\n" + "3" * 5_000_000, "lines of more than"),
    ("a.csv", '.1,"' + "2,\n" * 200_000, "field larger than"),
    ("a.csv", b"\xff\xfe\x00\x01", "not text in UTF-8"),
    ("a.csv", "((a:1,b:2):3,c:4);", "holds a graph, not points"),
    ("a.csv", b"\x00\x00\x00\n\x00", "no rows of numbers"),
    # word2vec
    ("a.txt", "", "is empty"),
    ("a.txt", "cat\n", "a name and its numbers"),
    ("a.txt", "3 2\ncat .1 .2\ndog .3 .4\n", "holds 3 points, but it holds 2"),
    ("a.txt", "2 2\ncat .1 .2\ndog .3\n", "line 3: the last 2 values must be numbers"),
    ("a.txt", "2 2\ncat .1 .2\n.3\n", "line 3: 1 values"),
    ("a.txt", "2 2\ncat .1 oops\n", "line 2: the last 2 values must be numbers"),
    ("a.txt", "cat .1 nan\n", "row 0"),
    ("a.txt", "cat " + "1" * (1 << 23), "line 1: lines of more than"),
    ("a.txt", b"\xff\xfe", "UTF-8"),
    ("a.bin", b"", "is empty"),
    ("a.bin", b"words of all kinds", "does not begin"),
    ("a.bin", b"1000000000000 300\n" + b"a" * 50, "cut short"),
    ("a.bin", b"0 3\n", "cut short"),
    ("a.bin", b"2 1\ncat \x00\x00\x00\x00dog \x00\x00", "cut short"),
    ("a.bin", b"1 1\n" + b"a" * 9000, "damaged"),
    # NumPy
    ("a.npy", b"", "is empty"),
    ("a.npy", npy(X)[:-8], "damaged, cut short"),
    ("a.npy", npy_header((1000000000000, 10)), "cut short"),
    ("a.npy", npy_header((-3, 10)), "damaged"),
    ("a.npy", npy_header((3,), "|a8") + bytes(24), "damaged"),
    ("a.npy", npy(X[0]), "shape (3,)"),
    ("a.npy", npy(X[:0]), "no points"),
    ("a.npy", npy(X + 1j), "dtype complex128"),
    ("a.npy", npy(np.zeros((2, 2), dtype=[("x", "f8")])), "from a plain array"),
    ("a.npy", npy(np.where(X == X[4], np.inf, X)), "or a missing value (the first is row 4"),
    ("a.npz", b"", "damaged"),
    ("a.npz", npy(X), "damaged"),
    # safetensors
    ("a.safetensors", b"", "damaged"),
    ("a.safetensors", b"\xff" * 20, "damaged"),
    ("a.safetensors", safetensors({"w": tensor_entry(offsets=(0, 10**12))}, bytes(144)), "damaged"),
    ("a.safetensors", safetensors({"w": tensor_entry(shape=(10**9, 10**9))}, bytes(144)), "damaged"),
    ("a.safetensors", safetensors({"w": tensor_entry(shape=(-6, -3))}, bytes(144)), "damaged"),
    ("a.safetensors", safetensors({"w": tensor_entry(offsets=(-8, 136))}, bytes(144)), "damaged"),
    (
        "a.safetensors",
        safetensors({"w": tensor_entry("F8_E4M3", offsets=(0, 18))}, bytes(144)),
        "'F8_E4M3', which is not supported",
    ),
    ("a.safetensors", safetensors({"w": {"shape": [6, 3]}}, bytes(144)), "damaged"),
    ("a.safetensors", safetensors({}, bytes(144)), "holds no matrix"),
    ("a.safetensors", safetensors(b"[" * 100_000, bytes(144)), "damaged"),
    # edge lists
    ("a.edges", "", "holds no edges"),
    ("a.edges", "a b\nc\n", "line 2: expected two names, and perhaps a weight, but found 'c'"),
    ("a.edges", "a b\nc d 1 2\n", "line 2: expected two names, and perhaps a weight, but found 'c d 1 2'"),
    ("a.edges", "a,b\n,c\n", "line 2: expected two names, and perhaps a weight, but found ',c'"),
    ("a.edges", "a b 1\nb c -2\n", "line 2: a weight is a length and must be a positive number, but is '-2'"),
    ("a.edges", "a b 1\nb c nan\n", "line 2: a weight is a length"),
    ("a.edges", "a b 1\nb c x\n", "line 2: a weight is a length"),
    ("a.edges", "a b 1\nb c\n", "line 2: this edge has no weight"),
    ("a.edges", "a b\nb c 1\n", "line 2: this edge has a weight"),
    ("a.edges", "a b\n" + "x" * (1 << 23), "line 2: lines of more than"),
    ("a.edges", b"\xff\xfe\x00", "line 1: this is not text in UTF-8"),
    ("a.edges", b"a b\n" * 5000 + b"caf\xe9 b\na b\n", "line 5001: this is not text in UTF-8"),
    ("a.edges", 'a,b\n"b,c\n', "line 2: expected two names, and perhaps a weight, but found '\"b,c'"),
    # trees and ontologies
    ("a.nwk", "", "no tree"),
    ("a.nwk", "a;", "no tree"),
    ("a.nwk", "((a,b);", "its tree has 1 '(' without a ')'"),
    ("a.nwk", "(a,b));", "outside of all parentheses"),
    ("a.nwk", "(a(b,c));", "'(' follows a node"),
    ("a.nwk", "(a:x,b);", "'x' of a branch is not a finite number"),
    ("a.nwk", "(a:0_1,b);", "'0_1' of a branch is not a finite number"),
    ("a.nwk", "(a:inf,b);", "not a finite number"),
    ("a.nwk", "('a,b);", "is not closed"),
    ("a.nwk", b"\xff(a,b);", "UTF-8"),
    ("a.nex", "#NEXUS\nbegin taxa; end;", "without a tree in a block TREES"),
    ("a.nex", "#NEXUS\nbegin trees; end;", "without a tree in a block TREES"),
    ("a.xml", "", "not a PhyloXML file"),
    ("a.xml", "<?xml version='1.0' encoding='no-such'?><phyloxml/>", "not a PhyloXML file"),
    ("a.xml", "<phyloxml/>", "no tree"),
    ("a.nexml", "<nex:nexml version='0.9'/>", "is a nexml file in XML, which is not read: convert it"),
    (
        "a.graphml",
        "<?xml version='1.0'?>\n<graphml><graph/></graphml>",
        "is a GraphML file, which is not read: pass networkx.read_graphml('a.graphml') to an embedding",
    ),
    ("a.gml", 'Creator "x"\ngraph [\n  node [ id 0 ]\n]\n', "is a GML file, which is not read: pass networkx.read_gml("),
    ("a.xml", "<!DOCTYPE x [<!ENTITY a 'aaaa'><!ENTITY b '&a;&a;'>]><x>&b;</x>", "DOCTYPE"),
    ("a.xml", PHYLO.format("<clade branch_length='x'/>"), "could not convert string to float: 'x'"),
    ("a.xml", PHYLO.format("<clade><clade branch_length='inf'/></clade>"), "must be finite"),
    ("a.obo", "", "not an ontology"),
    ("a.obo", "[Term]\nid: a\n", "no terms"),
    ("a.obo", "[Term]\nid: a:1\nis_a: b:9 ! elsewhere\n", "a.obo"),
    (
        "a.obo",
        b"format-version: 1.2\n\n[Term]\nid: GO:1\nname: root\n\n[Term]\nid: GO:2\nname:"
        b' child\nis_a: GO:1 {a="b"} ! root\n\n! root\n\n[Term]\nid: GO:3\nname: old\nis'
        b"_obsolete: true\nis_a: GO:1\n\n[Typedef]\nid: part_of\n",
        "not an ontology",
    ),  # the library panics
    ("a.nwk.gz", b"not packed", "cannot be unpacked"),
    ("a.nwk.gz", gzip.compress(NEWICK, mtime=0)[:-12], "cannot be unpacked"),
    ("a.xml.gz", gzip.compress(PHYLOXML, mtime=0)[:-12], "not a PhyloXML file"),
]


@pytest.mark.parametrize(("name", "content", "message"), ERRORS, ids=lambda value: str(value)[:40])
def test_unreadable_file_raises_error_with_its_name(tmp_path, name, content, message):
    if name.startswith("a.obo") or "ml" in name:
        pytest.importorskip("Bio" if "ml" in name else "pronto")
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    read = load if path.suffix in (".csv", ".txt", ".bin", ".npy", ".npz", ".safetensors") else load_edges
    with pytest.raises(ValueError, match=re.escape(message)) as error:
        read(path)
    assert str(path) in str(error.value)
