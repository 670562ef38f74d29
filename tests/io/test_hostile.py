"""Hostile files: small ones that claim to be huge, expand, hang a parser, refer to other files or bring code along.

Each is read in a process with a limit on its memory. The limit on its growth is what the rule in `horopca.io.files` allows
files as small as these, twice: as they come from the file, and as floating-point numbers.
"""

import os
import pickle
import struct
import subprocess
import sys
import warnings
import zipfile
import zlib
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from click.testing import CliRunner

import horopca
from fuzz.contents import MAT73, npy, npy_header, safetensors, tensor_entry, zeros, zipped
from fuzz.limits import Reader
from fuzz.samples import make
from horopca.cli import main
from horopca.io import READABLE, load, memory_limit, subprocess_reader
from horopca.io.graphs import TREES

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the limits and the measure of memory are of Linux")
X = np.random.default_rng(0).uniform(-0.5, 0.5, (6, 3))
MEGABYTES = 1024  # three times the limit of a small file, and 256 MiB


@pytest.fixture(scope="module")
def reader():
    with Reader() as reader:
        yield reader


@pytest.fixture
def raises(reader):
    def check(path, words, **options):
        answer = reader(path, **options)
        assert answer["outcome"] == "raised", answer
        assert answer["megabytes"] < MEGABYTES, answer
        assert words in answer["message"], answer

    return check


def swollen(path, name, content, claim):
    """The archive whose directory says that a member is packed, and how long it is when unpacked."""
    raw = bytearray(path.read_bytes())
    local, directory = raw.find(content) - len(name) - 30, raw.rfind(b"PK\x01\x02")
    for at, method, size in ((local, 8, 22), (directory, 10, 24)):
        raw[at + method : at + method + 2] = struct.pack("<H", zipfile.ZIP_DEFLATED)
        raw[at + size : at + size + 4] = struct.pack("<I", claim)
    path.write_bytes(raw)
    return path


def nested(depth):
    """A tuple that holds the one before it twice: 2^depth leaves, and a text as long."""
    return b"\x80\x02)q\x00" + b"h\x00h\x00\x86q\x00" * depth


LONG_SHAPE = b"(" + (b"\x8a\x08" + b"\xff" * 7 + b"\x7f") * 100_000 + b"t"
SAME_HASH = b"}(" + b"".join(b"\x8a\x10" + (k * ((1 << 61) - 1)).to_bytes(16, "little") + b"N" for k in range(40_000)) + b"u"
RECONSTRUCT = b"cnumpy.core.multiarray\n_reconstruct\n)R(K\x01"
KEYED = b"\x80\x02cgensim\nKeyedVectors\n)R}(X\x0c\x00\x00\x00index_to_keyNX\x07\x00\x00\x00vectors"


PROGRAMS = {
    "memo": b"\x80\x02Nr\xff\xff\xff\x3f.",  # the unpickler would allocate 8.5 GB for a memo
    "dictionaries": b"(" + b"}" * 8_000_000 + b"t.",
    "name": nested(64) + b"X\x01\x00\x00\x00a\x93.",
    "key": nested(64) + b"}(h\x00NX\x01\x00\x00\x00aNu.",
    "shape": KEYED + RECONSTRUCT + LONG_SHAPE + b"cnumpy\ndtype\n(X\x02\x00\x00\x00f8tRI00\nC\x00tbub.",
    "hashes": b"\x80\x02" + SAME_HASH + b".",
    "bytes": b"\x80\x04\x8e\xff\xff\xff\xff\xff\xff\xff\x0f.",
    "marks": b"(" * 1_000_000 + b".",
    "state": b"\x80\x02ccollections\nOrderedDict\n)R(K\x01K\x02K\x03tb.",
}


@pytest.mark.parametrize(("name", "program"), [*(("a.kv", name) for name in PROGRAMS), ("a.npz", "memo"), ("a.npz", "key")])
def test_pickle_that_expands_or_hangs_raises_error(tmp_path, raises, name, program):
    if name == "a.npz":
        zipped(tmp_path / name, {**PLAIN, "labels.npy": npy_header((6,), "|O") + PROGRAMS[program]})
    else:
        (tmp_path / name).write_bytes(PROGRAMS[program])
    raises(tmp_path / name, name)


class Trap:
    """Unpickling this would run a command."""

    def __init__(self, mark):
        self.mark = mark

    def __reduce__(self):
        return (os.system, (f"touch {self.mark}",))


TRAPS = {  # what is written to a path for a trap, and the error
    **{
        f"a.{suffix}": (lambda path, trap: path.write_bytes(pickle.dumps(trap)), "a.")
        for suffix in ("kv", "mat", "h5ad", "bin")
    },
    "a.npy": (lambda path, trap: np.save(path, np.array([trap])), "holds Python objects"),
    "b.npy": (lambda path, trap: path.write_bytes(pickle.dumps(trap)), "damaged"),
    "a.npz": (lambda path, trap: np.savez(path, X=np.array([trap])), "holds Python objects"),
    "b.npz": (lambda path, trap: zipped(path, {"X.npy": pickle.dumps(trap)}), "damaged"),
    "c.npz": (lambda path, trap: np.savez(path, X=X, labels=np.array([trap] * 6)), "must hold words or numbers in 'labels'"),
    "a.pth": (lambda path, trap: torch().save({"X": torch().tensor(X), "objects": trap}, path), "objects that are not read"),
    "b.pth": (lambda path, trap: torch().save(trap, path, _use_new_zipfile_serialization=False), "objects that are not read"),
}


def torch():
    return pytest.importorskip("torch")


@pytest.mark.parametrize("name", TRAPS)
def test_no_pickle_is_executed(tmp_path, raises, name):
    path, mark, (write, message) = tmp_path / name, tmp_path / "mark", TRAPS[name]
    write(path, Trap(mark))
    raises(path, message)
    assert not mark.exists()
    pickle.loads(pickle.dumps(Trap(mark)))
    assert mark.exists()  # the trap works


def test_processor_time_is_limited(tmp_path, monkeypatch):
    """Hashing the key would take 2^64 steps, so that only the limit can end the process."""
    monkeypatch.setattr(subprocess_reader, "CPU_SECONDS", 1.0)
    monkeypatch.setattr(subprocess_reader, "WAITING", 600)  # the machine may be busy
    (tmp_path / "a.kv").write_bytes(nested(64) + b"}(h\x00NX\x01\x00\x00\x00aNu.")
    with pytest.raises(ValueError, match=r"a\.kv is damaged or too large: reading it took more than 1 s of processor time"):
        load(tmp_path / "a.kv")


@pytest.mark.parametrize("status, how", [(0xC0000005, "with status 0xc0000005"), (3, "with status 0x3"), (-11, "by signal 11")])
def test_crashed_library_raises_error(tmp_path, monkeypatch, status, how):
    (tmp_path / "a.h5ad").write_bytes(b"damaged")
    ended = lambda command, **options: subprocess.CompletedProcess(command, status, b"", b"")
    monkeypatch.setattr("horopca.io.subprocess_reader.subprocess.run", ended)
    with pytest.raises(ValueError, match=f"the process that read it ended {how}"):
        load(tmp_path / "a.h5ad")


PLAIN = {"X.npy": npy(X)}


@pytest.mark.parametrize(
    ("member", "megabytes", "stated", "message"),
    [
        ("X", 4000, 4000 << 20, "would take 4.19 GB or more in memory"),
        ("labels", 4000, 4000 << 20, "damaged"),
        ("X", 2000, 100, "damaged"),  # longer than the directory says
    ],
)
def test_archive_that_expands_raises_error(tmp_path, raises, member, megabytes, stated, message):
    content = zeros(megabytes)
    path = zipped(tmp_path / "a.npz", {**(PLAIN if member == "labels" else {}), f"{member}.npy": content})
    assert path.stat().st_size < 5e6
    raises(swollen(path, f"{member}.npy", content, stated), message)


def test_memory_limit(tmp_path):
    path = tmp_path / "a.npz"
    np.savez_compressed(path, X=np.zeros((1 << 12, 1 << 8)))
    assert load(path).X.shape == (1 << 12, 1 << 8)
    with memory_limit(1e6), pytest.raises(ValueError, match=r"would take 8\.4\d? MB or more in memory, and 1 MB are allowed"):
        load(path)
    with pytest.raises(ValueError, match="nbytes must be"), memory_limit(0):
        pass
    for limit, status in (("1e5", 1), ("1e9", 0)):
        done = CliRunner().invoke(main, ["--max-memory", limit, "info", str(path)])
        assert done.exit_code == status and ("--max-memory" in done.stderr) == bool(status)


def test_parquet_that_expands_raises_error(tmp_path, raises):
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    words = pa.DictionaryArray.from_arrays(pa.array(np.zeros(1 << 22, "i4")), pa.array(["word"]))
    table = pa.table({"x": np.zeros(1 << 22), "name": words, **{f"x{j}": np.zeros(1 << 22) for j in range(8)}})
    parquet.write_table(table, tmp_path / "a.parquet", compression="zstd")
    assert (tmp_path / "a.parquet").stat().st_size < 1e6
    raises(tmp_path / "a.parquet", "would take")


@pytest.mark.parametrize("name", ["a.h5ad", "a.mat"])
@pytest.mark.parametrize("way", ["external", "link", "soft", "virtual"])
def test_container_reads_no_other_file(tmp_path, raises, name, way):
    h5py = pytest.importorskip("h5py")
    secret = tmp_path / "secret.h5"
    with h5py.File(secret, "w") as file:
        file["X"] = X
    with h5py.File(tmp_path / name, "w", userblock_size=512) as file:
        group = file.create_group("obsm") if name.endswith(".h5ad") else file
        if way == "external":
            group.create_dataset("X", (6, 3), "f8", external=[(str(secret), 0, 144)])
        elif way == "link":
            group["X"] = h5py.ExternalLink(str(secret), "X")
        elif way == "soft":
            group["X"] = h5py.SoftLink("/elsewhere")
        else:
            layout = h5py.VirtualLayout((6, 3), "f8")
            layout[:] = h5py.VirtualSource(str(secret), "X", (6, 3))
            group.create_virtual_dataset("X", layout)
    if name == "a.mat":
        with open(tmp_path / name, "r+b") as raw:
            raw.write(MAT73)
    raises(tmp_path / name, "other files" if way in ("external", "virtual") else "which is not followed")


def test_empty_containers(tmp_path, raises):
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "b.h5ad", "w") as file:
        group = file.create_group("obsm")
        group["X"], group["Y"] = h5py.Empty("f8"), h5py.Empty("S10")
        file["obs"] = h5py.Empty("f8")
    raises(tmp_path / "b.h5ad", "holds no array of obsm")
    with h5py.File(tmp_path / "c.h5ad", "w") as file:
        file.create_group("obsm")["X"] = X
        obs = file.create_group("obs")
        obs.attrs["_index"] = h5py.Empty("f8")
        obs["_index"] = h5py.Empty("f8")
    assert load(tmp_path / "c.h5ad").labels is None


def test_observations_with_one_long_repeated_name(tmp_path, raises):
    """A hundred thousand references of 16 bytes to the same million letters: 100 GB if all were read at once."""
    h5py = pytest.importorskip("h5py")
    n = 100_000
    with h5py.File(tmp_path / "a.h5ad", "w") as file:
        file.create_group("obsm")["X"] = np.zeros((n, 1))
        names = file.create_group("obs").create_dataset("_index", (n,), h5py.string_dtype(), chunks=None)
        names[0] = "n" * 1_000_000
        where = names.id.get_offset()
    raw = bytearray((tmp_path / "a.h5ad").read_bytes())
    raw[where : where + 16 * n] = raw[where : where + 16] * n
    (tmp_path / "a.h5ad").write_bytes(raw)
    raises(tmp_path / "a.h5ad", "a.h5ad is damaged")


def matlab():
    """A packed matrix of zeros that would take 4 GB."""

    def element(kind, content, size=None):
        return struct.pack("<II", kind, len(content) if size is None else size) + content + bytes(-len(content) % 8)

    flags, shape = element(6, struct.pack("<II", 6, 0)), element(5, struct.pack("<2i", 4000 << 14, 8))
    packed = zlib.compressobj(9, zlib.DEFLATED, -15)
    head = element(14, flags + shape + element(1, b"X"), size=4000 << 20)
    content = b"\x78\x9c" + packed.compress(head) + packed.flush(zlib.Z_FULL_FLUSH) + zeros(4000)
    return b"MATLAB 5.0 MAT-file".ljust(124) + struct.pack("<HHII", 0x0100, 0x4D49, 15, len(content)) + content


def container(path):
    with pytest.importorskip("h5py").File(path, "w") as file:
        file.create_dataset("obsm/X", (1 << 26, 16), "f8", chunks=(1 << 16, 16), compression="gzip")
    return path.read_bytes()


NESTED = b"(" * 200_000
# Small files that would take a lot of memory or time if their claims were believed, by their endings.
CLAIMS = {
    (".npy",): lambda path: npy_header((1 << 31, 16)) + b"x",
    (".npz",): lambda path: zipped(path, {"X.npy": npy_header((1 << 31, 16))}).read_bytes(),
    (".csv", ".tsv"): lambda path: b"," * 3_000_000,
    (".txt", ".vec", ".w2v"): lambda path: b"2000000000 300\n" + b"a " * 1_000_000,
    (".bin",): lambda path: b"2000000000 300\ncat " + b"x" * 2000,
    (".pth", ".pt", ".best", ".ckpt", ".kv", ".model"): lambda path: b"\x80\x02Nr\xff\xff\xff\x3f.",
    (".safetensors",): lambda path: safetensors({"w": tensor_entry(shape=(1 << 31, 16), offsets=(0, 1 << 40))}),
    (".mat",): lambda path: matlab(),
    (".h5ad",): container,
    (".parquet",): lambda path: b"PAR1" + b"\xff" * 4000 + b"\xff\xff\xff\x7fPAR1",
    (".nwk", ".newick", ".tree", ".tre", ".nhx", ".treefile", ".contree", ".nw"): lambda path: NESTED,
    (".nex", ".nexus"): lambda path: b"#NEXUS\nbegin trees;\ntree a = " + NESTED,
    (".xml", ".phyloxml"): lambda path: b"<phyloxml><phylogeny>" + b"<clade>" * 300_000,
    (".nexml",): lambda path: b"<nexml><trees>" + b"<tree>" * 300_000,
    (".obo",): lambda path: b"[Term]\nid: " + b"a" * 2_000_000 + b"\nis_a: b\n" * 200_000,
    (".owl",): lambda path: b"<rdf:RDF>" + b"<a>" * 300_000,
}


def test_every_format_has_a_file_that_claims_to_be_huge():
    assert sorted(ending for endings in CLAIMS for ending in endings) == sorted({*READABLE, *TREES})


MILLIONS = b"".join(b"%d tax%d, " % (k, k) for k in range(400_000))
SLOW = {  # a few hundred kilobytes each, which quadratic readers needed a minute for
    "brackets.nwk": b"[" * 300_000,
    "words.nwk": b"(" + b"a " * 300_000 + b",b);",
    "semicolons.nex": b"#NEXUS\n" + b";" * 300_000,
    "trees.nex": b"#NEXUS\nbegin trees;\n" + b"tree ;" * 100_000,
    "blanks.obo": b"format-version: 1.2\n\n[Term]\nid: a:1\nname: "
    + b" " * 100_000
    + b"a\nis_a: a:2 "
    + b" " * 100_000
    + b"\n",
    "words.csv": b"\n".join([b",".join(b"w%d" % j for j in range(40_000)) + b",0.5"] * 2),
    "escape.edges": b"a b " + b"{" * 300_000,
    "comments.obo": b"!x \n" * 100,  # a regular expression with two ways to match each line needed 2^100 steps
    "comments.csv": b"!x \n" * 100,
}
HUGE = {  # some 8 MB each, of which a reader that keeps an object for every token makes gigabytes
    "a.nex": b"#NEXUS\nbegin trees;\ntranslate " + MILLIONS + b"z z;\ntree a = (1,2);\nend;",
    "a.nwk": b"(" + b"a," * 4_000_000 + b"b);",
    "a.edges": b"".join(b"%d %d\n" % (k, k + 1) for k in range(500_000)),
    "labels.txt": b"ab\n" * 2_500_000,
    "words.csv": b"x,kind,sort\n" + b"0,a,b\n" * 1_200_000,
    "a.txt": b"".join(b"w%d 1\n" % k for k in range(800_000)),
}


@pytest.mark.parametrize("name", SLOW)
def test_no_reader_is_quadratic(tmp_path, reader, name):
    (tmp_path / name).write_bytes(SLOW[name])
    answer = reader(tmp_path / name, "load" if name.endswith(".csv") else "load_edges")
    # processor time, which does not depend on the load: about a second now, and a minute for a quadratic reader
    assert answer["outcome"] in ("read", "raised") and answer["seconds"] < 20, answer


@pytest.mark.parametrize("name", HUGE)
def test_text_within_memory_limit(tmp_path, reader, name):
    path = tmp_path / name
    path.write_bytes(HUGE[name])
    function = {"labels.txt": "load_labels", "words.csv": "load", "a.txt": "load"}.get(name, "load_edges")
    answer = reader(path, function)
    assert answer["outcome"] in ("read", "raised") and answer["megabytes"] < 270, answer
    with memory_limit(1e6), pytest.raises(ValueError, match="1 MB are allowed"):
        getattr(horopca.io, function)(path)


@pytest.mark.parametrize("name", ["a.csv", "a.nwk", "a.edges", "a.txt", "a.npy", "a.kv", "a.h5ad", "a.mat", "a.pth"])
def test_link_to_endless_device_raises_error(tmp_path, reader, name):
    (tmp_path / name).symlink_to("/dev/urandom" if name == "a.txt" else "/dev/zero")
    answer = reader(tmp_path / name, "load_edges" if name in ("a.nwk", "a.edges") else "load")
    assert answer["outcome"] == "raised" and answer["megabytes"] < MEGABYTES, answer


@pytest.mark.parametrize("endings", CLAIMS, ids=lambda endings: endings[0])
def test_claimed_size_is_not_allocated(tmp_path, reader, endings):
    content = CLAIMS[endings](tmp_path / f"made{endings[0]}")
    assert len(content) < 5e6
    for ending in endings:
        path = tmp_path / f"a{ending}"
        path.write_bytes(content)
        answer = reader(path, "load_edges" if ending in TREES else "load")
        assert answer["outcome"] in ("read", "raised") and answer["megabytes"] < MEGABYTES, answer
        assert answer["outcome"] == "raised" or ending in TREES, answer


@pytest.mark.parametrize("ending", [".csv", ".txt", ".edges", ".nwk", ".xml", ".obo"])
def test_compressed_text_that_expands_raises_error(tmp_path, raises, ending):
    """A few megabytes that expand to one line of four gigabytes."""
    whole = b"\x1f\x8b\x08" + bytes(6) + b"\xff" + zeros(4000) + bytes(8)
    (tmp_path / f"a{ending}.gz").write_bytes(whole)
    raises(tmp_path / f"a{ending}.gz", f"a{ending}.gz", function="load" if ending in (".csv", ".txt") else "load_edges")


ENTRIES = {"data": np.ones(3), "indices": np.array([1, 2, 3]), "indptr": np.array([0, 1, 2, 3, 3]), "shape": np.array([4, 4])}


@pytest.mark.parametrize(
    "wrong",
    [
        {"indptr": np.array([0, 1, 2, 825_032_707, 0])},
        {"indices": np.array([1, 2, 1 << 40])},
        {"indices": np.array([1, -2, 3])},
        {"shape": np.array([1 << 40, 1 << 40])},
        {"shape": np.array([4])},
        {"format": np.array("coo"), "row": np.array([0, 1, 2]), "col": np.array([0, 1, 1 << 40])},
        {"format": np.array("coo"), "row": np.array([0, 1, 2]), "col": np.array([0, 1, 2]), "shape": np.array([1 << 40] * 2)},
        {"format": np.array("xyz")},
    ],
    ids=lambda wrong: "-".join(wrong),
)
def test_sparse_matrix_with_wrong_indices_raises_error(tmp_path, raises, wrong):
    np.savez(tmp_path / "a.npz", **{"format": np.array("csr"), **ENTRIES, **wrong})
    raises(tmp_path / "a.npz", "a.npz", function="graphs.load_adjacency")


def test_no_module_from_the_working_directory_is_imported(tmp_path):
    """Neither the process that reads a file nor the workers of joblib may take json.py from the working directory."""
    mark = tmp_path / "mark"
    for name in ("json", "types", "numpy", "pandas", "threading", "h5py_plugin"):
        (tmp_path / f"{name}.py").write_text(f"open({str(mark)!r}, 'w').close()\n")
    files = {"a.h5ad": "h5ad", "a.parquet": "parquet", "a.mat": "mat 5", "a.xml": "PhyloXML", "a.obo": "OBO"}
    for name, kind in files.items():
        (tmp_path / name).write_bytes(make(kind).content)
    code = f"""
import os
from horopca.io import load, load_edges
os.chdir({str(tmp_path)!r})
for name in {list(files)}:
    (load_edges if name in ("a.xml", "a.obo") else load)(name)
"""
    jobs = """
import numpy as np
from horopca import TangentPCA
from horopca.metrics import bootstrap
X = np.random.default_rng(0).uniform(-0.5, 0.5, (20, 3))
bootstrap(TangentPCA(1).fit(X), X, n_resamples=10, n_jobs=2)
"""
    done = subprocess.run([sys.executable, "-P", "-c", code + jobs], capture_output=True, text=True, check=False)
    assert done.returncode == 0 and not mark.exists(), done.stderr[-500:]


def test_control_characters_are_escaped(tmp_path):
    np.savez(tmp_path / "a.npz", **{"one\x1b[2J": X, "two": X})
    with pytest.raises(ValueError, match="holds one") as error:
        load(tmp_path / "a.npz")
    assert "\x1b" not in str(error.value) and "\\x1b[2J" in str(error.value)


def test_reading_in_threads_keeps_warning_filters(tmp_path):
    (tmp_path / "a.kv").write_bytes(make("gensim").content)
    before = list(warnings.filters)
    np.save(tmp_path / "a.npy", X)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(load, [tmp_path / "a.kv"] * 4 + [tmp_path / "a.npy"] * 200))
    assert warnings.filters == before
