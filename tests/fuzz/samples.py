"""A small valid file of every format that is read, made by the tool that people have them from."""

import gzip
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from fuzz.contents import MAT73, safetensors, tensor_entry

X = np.random.default_rng(0).uniform(-0.5, 0.5, (7, 3))
NAMES = ["cat", "lion", "été", "burmese cat", "x/y", "7", 'q"uote']


SAFETENSORS = safetensors({"__metadata__": {"format": "pt"}, "w": tensor_entry(shape=(7, 3), offsets=(0, 168))}, X.tobytes())
NEWICK = b"((cat:1,lion:2)felines:0.5,(dog:1.5,wolf_grey:0)95:,'sea cow':3)root;"
NEXUS = b"#NEXUS\nBegin trees;\n translate 1 cat, 2 lion;\n tree a = ((1,2),dog);\nEnd;\n"
PHYLOXML = b"""<?xml version="1.0"?><phyloxml xmlns="http://www.phyloxml.org"><phylogeny rooted="true"><clade>
<clade branch_length="0.06"><clade><name>A</name><branch_length>0.102</branch_length></clade><clade><taxonomy><scientific_name>
Bos taurus</scientific_name></taxonomy></clade></clade><clade><name>C</name></clade></clade></phylogeny></phyloxml>"""
OBO = b"""format-version: 1.2

[Term]
id: GO:1
name: root

[Term]
id: GO:2
name: child
is_a: GO:1 {a="b"} ! root

[Term]
id: GO:3
name: old
is_obsolete: true
is_a: GO:1

[Typedef]
id: part_of
"""

OWL = b"""<?xml version="1.0"?><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
xmlns:owl="http://www.w3.org/2002/07/owl#" xmlns:rdfs="http://www.w3.org/2000/01/rdf-schema#"><owl:Ontology rdf:about="http://x/o"/>
<owl:Class rdf:about="http://purl.obolibrary.org/obo/A_1"><rdfs:label>top</rdfs:label></owl:Class>
<owl:Class rdf:about="http://purl.obolibrary.org/obo/A_2"><rdfs:label>low</rdfs:label>
<rdfs:subClassOf rdf:resource="http://purl.obolibrary.org/obo/A_1"/></owl:Class></rdf:RDF>"""


class Sample(NamedTuple):
    """The bytes of a file, the endings that its name may have, and the function of `horopca.io` that reads it."""

    content: bytes
    endings: tuple[str, ...]
    function: str = "load"
    every: int = 1  # how many rounds there are for one of these: libraries are slow

    @property
    def is_text(self) -> bool:
        return not self.content.startswith(b"\x1f\x8b") and b"\0" not in self.content

    @property
    def is_zip(self) -> bool:
        return self.content.startswith(b"PK")


def _written(suffix: str, write: Callable[..., object], *arguments: Any) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"sample{suffix}"
        write(path, *arguments)
        return path.read_bytes()


def _checkpoint(path: Path, legacy: bool) -> None:
    import torch

    content = {"model": {"lt.weight": torch.tensor(X)}, "objects": NAMES, "conf": {"manifold": "lorentz", "lr": 0.3}}
    torch.save(content, path, _use_new_zipfile_serialization=not legacy)


def _keyed(path: Path) -> None:
    from gensim.models import KeyedVectors

    vectors = KeyedVectors(3)
    vectors.add_vectors(NAMES, X.astype(np.float32))
    vectors.save(str(path))


def _mat(path: Path, packed: bool) -> None:
    from scipy.io import savemat
    from scipy.sparse import csc_array

    labels = np.array(NAMES, dtype=object)
    content = {"X": X, "label": labels, "A": csc_array(np.eye(7)), "c": np.array(["ab", "cd"]), "n": np.arange(7, dtype="i2")}
    savemat(path, content, do_compression=packed)


def _mat73(path: Path) -> None:
    import h5py

    with h5py.File(path, "w", userblock_size=512) as file:
        file["X"], file["label"] = X.T, np.arange(7.0)[None]
    with open(path, "r+b") as raw:
        raw.write(MAT73)


def _h5ad(path: Path) -> None:
    import h5py

    with h5py.File(path, "w") as file:
        file.create_group("obsm").create_dataset("X_poincare", data=X, chunks=(4, 3), compression="gzip")
        obs = file.create_group("obs")
        obs.attrs["_index"] = "_index"
        obs["_index"] = NAMES
        kind = obs.create_group("kind")
        kind["codes"], kind["categories"] = np.array([0, 1, 0, 1, 0, 1, -1], "i1"), ["a", "b"]


def _frame(path: Path, way: str) -> None:
    import pandas

    frame = pandas.DataFrame(X, columns=["x", "y", "z"]).assign(name=NAMES)
    if way == "lists":
        frame = pandas.DataFrame({"name": NAMES, "vector": list(X)})
    frame.to_parquet(path)


def _fit(path: Path, kind: str) -> None:
    import horopca
    from horopca.io import save_fitted

    options = {"n_init": 1, "random_state": 0} if kind == "HoroPCA" else {}
    save_fitted(getattr(horopca, kind)(2, **options).fit(X), path)


def _word2vec(binary: bool) -> bytes:
    if not binary:
        return b"7 3\n" + "".join(f"{n} {' '.join(map(str, x))}\n" for n, x in zip(NAMES, X, strict=True)).encode()
    rows = [name.replace(" ", "_").encode() + b" " + x.astype("<f4").tobytes() for name, x in zip(NAMES, X, strict=True)]
    return b"7 3\n" + b"".join(rows)


def _table(delimiter: str, header: bool) -> bytes:
    head = [delimiter.join(["name", "x", "y", "z"])] if header else []
    quoted = ['"' + name.replace('"', '""') + '"' for name in NAMES]
    return "\n".join(head + [delimiter.join([name, *map(str, x)]) for name, x in zip(quoted, X, strict=True)]).encode()


def _adjacency(path: Path, way: str) -> None:
    from scipy.sparse import coo_array, save_npz

    save_npz(path, coo_array(([1.0, 2.0, 0.5], ([0, 1, 2], [1, 2, 3])), shape=(4, 4)).asformat(way))


TREES = (".nwk", ".newick", ".tree", ".tre", ".nhx", ".treefile", ".contree", ".nw")
TEXTS: dict[str, Sample] = {
    "csv": Sample(_table(",", True), (".csv",)),
    "tsv": Sample(_table("\t", False), (".tsv",)),
    "word2vec, text": Sample(_word2vec(False), (".txt", ".vec", ".w2v")),
    "edges": Sample(b"source,target,weight\ncat,feline,1\nlion,feline,0.5\nfeline,mammal,2\n", (".edges",), "load_edges"),
    "Newick": Sample(NEWICK, TREES, "load_edges"),
    "Nexus": Sample(NEXUS, (".nex", ".nexus"), "load_edges"),
    "PhyloXML": Sample(PHYLOXML, (".xml", ".phyloxml", ".nexml"), "load_edges", every=8),
    "OBO": Sample(OBO, (".obo",), "load_edges", every=8),
    "OWL": Sample(OWL, (".owl",), "load_edges", every=8),
}
CHECKPOINTS = (".pth", ".pt", ".best", ".ckpt")
OTHERS: dict[
    str, tuple[tuple[str, ...], str, Callable[..., object], *tuple[Any, ...]]
] = {  # endings, function, writer, arguments
    "npy": ((".npy",), "load", np.save, X),
    "npz": ((".npz",), "load", partial(np.savez, X=X, labels=np.array(NAMES))),
    "npz, objects": ((".npz",), "load", partial(np.savez, X=X, labels=np.array(NAMES, dtype=object))),
    "word2vec, binary": ((".bin",), "load", Path.write_bytes, _word2vec(True)),
    "labels": ((".txt",), "load_labels", Path.write_bytes, "\n".join(NAMES).encode()),
    "torch": (CHECKPOINTS, "load", _checkpoint, False),
    "torch, legacy": (CHECKPOINTS, "load", _checkpoint, True),
    "safetensors": ((".safetensors",), "load", Path.write_bytes, SAFETENSORS),
    "gensim": ((".kv", ".model"), "load", _keyed),
    "mat 5": ((".mat",), "load", _mat, False),
    "mat 5, packed": ((".mat",), "load", _mat, True),
    "mat 7.3": ((".mat",), "load", _mat73),
    "h5ad": ((".h5ad",), "load", _h5ad),
    "parquet": ((".parquet",), "load", _frame, "columns"),
    "parquet, lists": ((".parquet",), "load", _frame, "lists"),
    "fit, HoroPCA": ((".npz",), "load_fitted", _fit, "HoroPCA"),
    "fit, TangentPCA": ((".npz",), "load_fitted", _fit, "TangentPCA"),
    **{
        f"adjacency, {way}": ((".npz",), "graphs.load_adjacency", _adjacency, way)
        for way in ("csr", "csc", "coo", "bsr", "dia")
    },
}


def make(kind: str) -> Sample:
    """The sample of a kind."""
    if kind in TEXTS:
        return TEXTS[kind]
    if text := TEXTS.get(kind.removesuffix(", packed")):
        endings = tuple(f"{ending}.gz" for ending in text.endings)
        return text._replace(content=gzip.compress(text.content, mtime=0), endings=endings)
    endings, function, write, *arguments = OTHERS[kind]
    every = 8 if endings[0] in (".pth", ".kv", ".mat", ".h5ad", ".parquet") else 1
    return Sample(_written(endings[0], write, *arguments), endings, function, every)


KINDS = [*TEXTS, *(f"{name}, packed" for name in TEXTS), *OTHERS]
