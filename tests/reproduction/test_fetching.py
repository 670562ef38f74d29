"""The paper's data: downloaded once, checked, and read from a folder that was filled by hand."""

import hashlib
import http.server
import sys
import threading

import numpy as np
import pytest
from reproduction.fetching import fetch_embedding, fetch_graph, fetch_network
from scipy.io import savemat

from reproduction import fetching

EDGES = b"0 1\n0 2\n"


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A server of our own instead of the public home, a cache of our own, and a registry that knows our file."""
    pooch = pytest.importorskip("pooch", reason="pooch, which fetches, is not installed")
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "smalltree.edges").write_bytes(EDGES)
    asked = []

    class Handler(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *arguments):
            super().__init__(*arguments, directory=str(tmp_path / "home"))

        def log_message(self, *_):
            asked.append(self.path)

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    monkeypatch.setitem(fetching.HOMES, "graphs", f"http://127.0.0.1:{server.server_port}/")
    monkeypatch.setattr(pooch, "os_cache", lambda name: tmp_path / "cache" / name)
    monkeypatch.setattr(fetching, "registry", lambda: {"graphs/smalltree.edges": hashlib.sha256(EDGES).hexdigest()})
    monkeypatch.delenv("HOROPCA_DATA", raising=False)
    for variable in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(variable, raising=False)
    yield tmp_path / "home", asked
    server.shutdown()
    server.server_close()


def test_a_file_is_fetched_once(home):
    for _ in range(2):
        graph = fetch_graph("smalltree")
        assert graph.names == ["0", "1", "2"] and graph.edges.tolist() == [[0, 1], [0, 2]]
    assert len(home[1]) == 1


def test_a_corrupt_download_is_deleted(home, tmp_path):
    (home[0] / "smalltree.edges").write_bytes(b"0 1\n")
    with pytest.raises(ValueError, match="another SHA-256 than the original, and was deleted"):
        fetch_graph("smalltree")
    assert not [path for path in (tmp_path / "cache").rglob("*") if path.is_file()]


def test_a_corrupt_cache_is_fetched_again(home, tmp_path):
    fetch_graph("smalltree")
    path = tmp_path / "cache" / "horopca" / "graphs" / "smalltree.edges"
    path.write_bytes(b"0 7\n")
    assert fetch_graph("smalltree").names == ["0", "1", "2"] and path.read_bytes() == EDGES


def test_the_folder_can_be_chosen_and_filled_by_hand(home, tmp_path, monkeypatch):
    monkeypatch.setenv("HOROPCA_DATA", str(tmp_path / "mine"))
    monkeypatch.setitem(fetching.HOMES, "graphs", "http://127.0.0.1:9/")
    with pytest.raises(OSError, match=r"put the file from http://127.0.0.1:9/smalltree.edges into \$HOROPCA_DATA/graphs/"):
        fetch_graph("smalltree")
    (tmp_path / "mine" / "graphs").mkdir(parents=True, exist_ok=True)
    (tmp_path / "mine" / "graphs" / "smalltree.edges").write_bytes(EDGES)
    assert fetch_graph("smalltree").names == ["0", "1", "2"] and not home[1]


def test_the_registry_knows_every_file_that_is_offered():
    names = {f"graphs/{name}.edges" for name in fetching.GRAPHS}
    names |= {f"embeddings/{name}_{d}_poincare.npy" for name in fetching.GRAPHS for d in fetching.DIMENSIONS}
    names |= {f"realnet/{name}_data_{k}.mat" for name in fetching.NETWORKS for k in fetching.VERSIONS}
    assert names == set(fetching.registry())
    assert all(len(digest) == 64 and int(digest, 16) for digest in fetching.registry().values())


def test_networks_are_read_with_their_labels(tmp_path, monkeypatch):
    content = {"A": np.eye(3), "B": np.full((3, 2), 0.1), "label": np.array([[1], [2], [1]]), "R": np.eye(3)}
    savemat(tmp_path / "net.mat", content)
    monkeypatch.setattr(fetching, "fetched", lambda name: tmp_path / "net.mat")
    network = fetch_network("polbooks", 5)
    assert network.points.shape == (3, 2) and network.labels == ["1", "2", "1"] and np.array_equal(network.adjacency, np.eye(3))


def test_the_error_without_pooch_says_what_to_install(monkeypatch):
    monkeypatch.delenv("HOROPCA_DATA", raising=False)
    monkeypatch.setitem(sys.modules, "pooch", None)
    with pytest.raises(ImportError, match=r"pip install pooch.*put the file from https://"):
        fetch_embedding("smalltree")
