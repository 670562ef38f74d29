"""Readers of other tools' files: what the real tool wrote comes back, hostile files raise errors and execute nothing."""

import pickle
import struct

import numpy as np
import pytest
from scipy.io import savemat

from fuzz import samples
from fuzz.contents import safetensors, tensor_entry, write
from fuzz.samples import KINDS, make
from horopca.io import load, load_edges
from horopca.io.subprocess_reader import DISTRIBUTIONS

X = np.random.default_rng(0).uniform(-0.5, 0.5, (6, 3))
NAMES = ["cat", "dog", "été", "burmese_cat.n.01", "x/y", "7"]


def raises(path, message, **options):
    with pytest.raises(ValueError, match=message) as error:
        load(path, **options)
    assert str(path) in str(error.value)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if make(kind).function == "load"])
def test_samples(tmp_path, kind):
    """One file of every format, as other tools write it."""
    sample = make(kind)
    path = tmp_path / f"a{sample.endings[0]}"
    path.write_bytes(sample.content)
    table = load(path)
    assert np.array_equal(table.X.astype(np.float32), samples.X.astype(np.float32))
    expected = {"npy": None, "safetensors": None, "word2vec, binary": [name.replace(" ", "_") for name in samples.NAMES]}
    expected |= {"mat 7.3": [str(float(i)) for i in range(7)]}
    assert table.row_names == expected.get(kind, samples.NAMES)


@pytest.fixture(scope="module")
def vectors():
    gensim = pytest.importorskip("gensim.models", reason="gensim, the tool that writes these files, is not installed")
    keyed = gensim.KeyedVectors(3)
    keyed.add_vectors(NAMES, X.astype(np.float32))
    return keyed


@pytest.mark.parametrize("large", [False, True])
def test_gensim_keyed_vectors(tmp_path, vectors, large):
    vectors.save(str(tmp_path / "words.kv"), **({"sep_limit": 0} if large else {}))
    assert (tmp_path / "words.kv.vectors.npy").exists() == large
    for suffix, dtype in ((".txt", np.float64), (".bin", np.float32)):
        vectors.save_word2vec_format(str(tmp_path / f"words{suffix}"), binary=suffix == ".bin")
        table = load(tmp_path / f"words{suffix}")
        assert table.labels == NAMES and table.X.dtype == dtype
        assert np.array_equal(table.X.astype(np.float32), X.astype(np.float32))
    table = load(tmp_path / "words.kv")
    assert np.array_equal(table.X, X.astype(np.float32)) and table.labels == NAMES
    if large:
        (tmp_path / "words.kv.vectors.npy").unlink()
        raises(tmp_path / "words.kv", "has its vectors in words.kv.vectors.npy, which is not beside it")
    raises(write(tmp_path / "words.kv", pickle.dumps([1, 2])), "holds no vectors of gensim")
    raises(write(tmp_path / "words.kv", b""), "not a file of gensim")


def test_gensim_poincare_model(tmp_path, vectors):
    from gensim.models.poincare import PoincareModel

    model = PoincareModel([("cat", "feline"), ("lion", "feline")], size=2, negative=1, seed=0)
    model.kv.save_word2vec_format(str(tmp_path / "kinds.txt"))
    model.save(str(tmp_path / "kinds.model"))
    model.save(str(tmp_path / "large.model"), sep_limit=0)
    assert (tmp_path / "large.model.kv.vectors.npy").exists()
    for name in ("kinds.txt", "kinds.model", "large.model"):
        table = load(tmp_path / name)
        assert table.model == (None if name == "kinds.txt" else "poincare")
        assert sorted(table.labels) == ["cat", "feline", "lion"]
        assert np.array_equal(
            table.X.astype(np.float32), np.stack([model.kv[word] for word in table.labels]).astype(np.float32)
        )


@pytest.fixture
def torch():
    return pytest.importorskip("torch", reason="torch, the tool that writes these files, is not installed")


@pytest.mark.parametrize(("manifold", "model"), [("poincare", "poincare"), ("lorentz", "lorentz"), ("euclidean", "tangent")])
def test_poincare_embeddings_checkpoint(tmp_path, torch, manifold, model):
    layer = torch.nn.Embedding.from_pretrained(torch.tensor(X), sparse=True)
    conf = {"manifold": manifold, "dim": 3, "lr": 0.3, "sparse": True, "eval_each": None}
    content = {"model": torch.nn.ModuleDict({"lt": layer}).state_dict(), "objects": NAMES, "conf": conf, "epoch": 5}
    torch.save(content, tmp_path / "mammals.pth")
    table = load(tmp_path / "mammals.pth")
    assert np.array_equal(table.X, X) and table.labels == NAMES and table.model == model


@pytest.mark.parametrize("legacy", [False, True])
def test_checkpoint_tensors(tmp_path, torch, legacy):
    base, path = torch.tensor(X, dtype=torch.float32), tmp_path / "tensor.pt"
    torch.save(base[1:4, 1:].T, path, _use_new_zipfile_serialization=not legacy)
    assert np.array_equal(load(path).X, base[1:4, 1:].T.numpy())
    content = {"a": base, "b": {"c": torch.nn.Parameter(base.half())}}
    torch.save(content, path, _use_new_zipfile_serialization=not legacy)
    assert np.array_equal(load(path, key="b.c").X, base.half().numpy())
    raises(path, r"holds a \(6, 3\), b.c \(6, 3\): choose the")
    if not legacy:
        raises(path, "no matrix 'z'; it holds a, b.c", key="z")


class Foreign:
    """A parameter of another library: pickled as a call of something unknown with a tensor's parts, as geoopt's are."""

    def __init__(self, tensor):
        self.tensor = tensor

    def __reduce__(self):
        _, parts = self.tensor.__reduce_ex__(2)[:2]
        return (Foreign._rebuilt, (*parts, {}, "PoincareBall"))

    @staticmethod
    def _rebuilt(*parts):
        pytest.fail("a foreign function was called")


def test_checkpoint_with_foreign_objects(tmp_path, torch):
    from argparse import Namespace

    conf = Namespace(manifold="lorentz", lr=np.float64(0.3), dims=np.array([3, 4]))
    content = {"embeddings": torch.tensor(X), "conf": conf, "loss": np.float32(2.5), "objects": NAMES}
    torch.save(content, tmp_path / "a.ckpt")
    table = load(tmp_path / "a.ckpt")
    assert np.array_equal(table.X, X) and table.labels == NAMES and table.model == "lorentz"
    layer = torch.nn.Embedding.from_pretrained(torch.tensor(X))
    for content in ({"ball": Foreign(torch.tensor(X))}, {"ball": Foreign(torch.nn.Parameter(torch.tensor(X)))}, layer):
        torch.save(content, tmp_path / "foreign.pt")
        assert np.array_equal(load(tmp_path / "foreign.pt").X, X)
    torch.save({"a": torch.tensor(X).to(torch.bfloat16)}, tmp_path / "half.pt")
    assert np.array_equal(load(tmp_path / "half.pt").X, torch.tensor(X).to(torch.bfloat16).float().numpy())


def test_contents(tmp_path, torch):
    content = {"curv": torch.tensor(0.5), "net": {"X": torch.tensor(X), "bias": torch.zeros(3)}, "epoch": 7, "name": "a"}
    torch.save(content, tmp_path / "a.pth")
    assert load(tmp_path / "a.pth").contents == {"curv": 0.5, "net.X": [6, 3], "net.bias": [3], "epoch": 7.0}
    np.savez(tmp_path / "a.npz", X=X, c=2.0, names=np.array(NAMES))
    assert load(tmp_path / "a.npz").contents == {"X": [6, 3], "c": 2.0, "names": [6]}
    entries = {"w": tensor_entry(offsets=(8, 152)), "c": tensor_entry(shape=(), offsets=(0, 8))}
    path = write(tmp_path / "a.safetensors", safetensors(entries, struct.pack("<d", 0.25) + X.tobytes()))
    assert load(path).contents == {"w": [6, 3], "c": 0.25}


def test_geoopt_parameters_state_model_and_curvature(tmp_path, torch):
    geoopt = pytest.importorskip("geoopt")
    for manifold, model in ((geoopt.PoincareBall(c=2.0), "poincare"), (geoopt.Lorentz(k=0.5), "lorentz")):
        torch.save({"w": geoopt.ManifoldParameter(torch.tensor(X), manifold=manifold)}, tmp_path / "a.pt")
        table = load(tmp_path / "a.pt")
        assert np.array_equal(table.X, X) and table.model == model and np.isclose(table.curvature, -2.0, rtol=1e-6)


def test_broken_checkpoints(tmp_path, torch):
    path = tmp_path / "model.pth"
    for legacy in (False, True):
        torch.save({"embeddings": torch.tensor(X)}, path, _use_new_zipfile_serialization=not legacy)
        whole = path.read_bytes()
        raises(write(path, whole[: len(whole) // 2]), "is damaged")
    for content in (b"", b"no pickle at all", pickle.dumps(5)):
        raises(write(path, content), "is damaged")
    torch.save({"epoch": 3}, path)
    raises(path, "holds no matrix")
    huge = torch.zeros(1).expand(1 << 20, 1 << 20)  # one number on disk
    torch.save({"X": huge}, path)
    raises(path, "would take")


def test_recursive_checkpoints(tmp_path, torch):
    """Dictionaries within themselves, and ones that branch into 2^40 paths to one matrix."""
    ring = {"X": torch.tensor(X)}
    ring["again"] = ring
    branching = {"X": torch.tensor(X)}
    for _ in range(40):
        branching = {"a": branching, "b": branching}
    for content in (ring, branching):
        torch.save(content, tmp_path / "knot.pth")
        assert np.array_equal(load(tmp_path / "knot.pth").X, X)


@pytest.mark.parametrize(("kind", "dtype"), [("F32", "<f4"), ("F16", "<f2"), ("I64", "<i8"), ("BF16", "<u2")])
def test_safetensors(tmp_path, kind, dtype):
    values = (100 * X).astype(dtype) if kind != "BF16" else (X.astype("<f4").view("<u4") >> 16).astype(dtype)
    entries = {"bias": tensor_entry(shape=[1], offsets=(0, 8)), "weight": tensor_entry(kind, offsets=(8, 8 + values.nbytes))}
    content = safetensors({"__metadata__": {"format": "pt"}, **entries}, bytes(8) + values.tobytes())
    found = load(write(tmp_path / "a.safetensors", content)).X
    if kind == "BF16":  # the upper half of a float32
        assert found.dtype == np.float32 and np.allclose(found, X, rtol=2**-7, atol=0)
    else:
        assert np.array_equal(found, values)


def test_matlab_5(tmp_path):
    path = tmp_path / "net.mat"
    savemat(path, {"B": X, "label": np.arange(6).reshape(6, 1), "A": np.eye(6)})
    table = load(path, key="B")
    assert np.array_equal(table.X, X) and table.labels == list("012345")
    raises(path, "holds B, label, A: choose the")
    savemat(path, {"X": X, "names": np.array(NAMES, dtype=object), "name": np.array(NAMES, dtype=object)})
    table = load(path)
    assert np.array_equal(table.X, X) and table.labels == NAMES


def test_parquet(tmp_path):
    pandas = pytest.importorskip("pandas", reason="pandas, which writes these files, is not installed")
    pytest.importorskip("pyarrow", reason="pyarrow, which reads these files, is not installed")
    frame = pandas.DataFrame(X, columns=["x", "y", "z"])
    path = tmp_path / "points.parquet"
    frame.astype(np.float32).set_axis(NAMES).to_parquet(path)
    table = load(path)
    assert np.array_equal(table.X, X.astype(np.float32)) and table.labels == NAMES and table.X.dtype == np.float32
    frame.assign(word=NAMES, kind=list("aabbab")).to_parquet(path)
    table = load(path)
    assert table.labels == list("aabbab") and table.row_names == NAMES and table.names == ["x", "y", "z"]
    pandas.DataFrame({"word": NAMES}).to_parquet(path)
    raises(path, "neither columns of numbers")
    pandas.DataFrame({"vector": [[1.0], [1.0, 2.0]]}).to_parquet(path)
    raises(path, "not a Parquet file")


@pytest.mark.parametrize(
    ("name", "library", "extra"),
    [("a.h5ad", "h5py", "io"), ("a.parquet", "pyarrow", "io"), ("a.pth", "torch", "torch"), ("a.xml", "Bio", "trees")],
)
def test_missing_library_is_named(tmp_path, monkeypatch, name, library, extra):
    monkeypatch.setitem(__import__("sys").modules, library, None)
    with pytest.raises(ImportError, match=rf"{DISTRIBUTIONS.get(library, library)}: pip install 'horopca\[{extra}\]'"):
        (load_edges if name == "a.xml" else load)(write(tmp_path / name, b"<phyloxml/>"))


@pytest.mark.parametrize(
    ("text", "names", "weights"),
    [
        ("a b\nb c\n", ["a", "b", "c"], None),
        ("# a tree\n\n%x\nb a\n b  c \n", ["b", "a", "c"], None),
        ("10 9\n9 -1\n", ["-1", "9", "10"], None),
        ("01 1\n1 2\n", ["01", "1", "2"], None),
        ("sea cow\tmammal\nfur seal\tmammal\n", ["sea cow", "mammal", "fur seal"], None),
        ("source,target,weight\na,b,2\nb,c,0.5\n", ["a", "b", "c"], [2, 0.5]),
        ("a b 2\nb c 1e-3\n", ["a", "b", "c"], [2, 1e-3]),
        ("\ufeffa,b\r\nb,c", ["a", "b", "c"], None),
        ('"manatee, sea cow",mammal\nfur seal,"mammal"\n', ["manatee, sea cow", "mammal", "fur seal"], None),
        ('"source","target","weight"\n"a","b",2\n', ["a", "b"], [2]),
        ('a "b"\n5\' b\n', ["a", '"b"', "5'", "b"], None),
        ('"Weird Al" Yankovic\tmusician\n', ['"Weird Al" Yankovic', "musician"], None),
    ],
)
def test_edge_lists(tmp_path, text, names, weights):
    graph = load_edges(write(tmp_path / "graph.edges", text))
    assert graph.names == names
    assert (graph.weights is None) if weights is None else np.array_equal(graph.weights, weights)
