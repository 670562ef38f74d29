"""Faults of a cluster: a worker is killed, or the scheduler is killed or frozen, while rows are read, mapped or written.

The fault happens in the first task that reaches a point of the work. If a worker dies, the output has the same bytes; if the
scheduler does, the output is absent, older files are unchanged, and the same command on another cluster writes it.
"""

import json
import os
import signal
import subprocess
import sys

import dask
import dask.array as da
import numpy as np
import pytest
from click.testing import CliRunner

from forks import ENVIRONMENT
from horopca import HoroPCA
from horopca.cli import main
from horopca.io.stores import open_store, write_store

pytestmark = pytest.mark.skipif(os.name == "nt", reason="needs fork and signals")
pytest.importorskip("distributed"), pytest.importorskip("zarr")
X = np.random.default_rng(0).uniform(-0.3, 0.3, (4000, 4))

# Imports the package once, and forks a process for each line of its input.
SERVER = """
import asyncio, json, os, signal, sys
import zarr
from distributed import Scheduler, Worker
import horopca._input.dask, horopca.cli.dask, horopca.estimators, horopca.io.stores

def at(module, name, armed, victims):
    # kill the processes, this one or the scheduler and this one, in the first call of a function after it was armed
    real = getattr(module, name)
    def deadly(*arguments, **options):
        try:
            os.unlink(armed)
        except FileNotFoundError:
            return real(*arguments, **options)
        for victim, number in victims() or [(os.getpid(), signal.SIGKILL)]:
            os.kill(victim, number)
        os.kill(os.getpid(), signal.SIGKILL)
    deadly.__module__, deadly.__qualname__, deadly.__name__ = real.__module__, real.__qualname__, real.__name__
    setattr(module, name, deadly)

POINTS = {
    "fit": (horopca.io.stores, "read_rows"),
    "transform": (horopca._input.dask, "_map_block"),
    "write": (zarr.Array, "__setitem__"),
}

async def live(kind, address, folder):
    victim = f"{folder}/victim"
    if kind == "worker":
        for name, (module, function) in POINTS.items():
            at(module, function, f"{folder}/{name}", lambda: json.load(open(victim)) if os.path.exists(victim) else [])
    made = Worker(address, nthreads=1) if kind == "worker" else Scheduler(host="127.0.0.1", port=0, dashboard=False)
    async with made as server:
        print(server.address, os.getpid(), flush=True)
        await server.finished()

for line in sys.stdin:
    if not os.fork():
        try:
            asyncio.run(live(*json.loads(line)))
        finally:
            print("ended", os.getpid(), flush=True)
            os._exit(0)
"""


@pytest.fixture(scope="module")
def server():
    command, pipe = [sys.executable, "-c", SERVER], subprocess.PIPE
    options = {"stderr": subprocess.DEVNULL, "text": True, "env": ENVIRONMENT, "start_new_session": True}
    server = subprocess.Popen(command, stdin=pipe, stdout=pipe, **options)
    yield server
    os.killpg(server.pid, signal.SIGKILL)  # with its forked children, which would keep the pipe open
    server.communicate()


class Cluster:
    """A scheduler and workers. They die at a point of the work if the folder holds a file with the name of the point."""

    born = []  # the ids of all processes

    def __init__(self, server, folder, workers):
        self.server, self.folder, self.pids = server, folder, []
        self.address = self._started("scheduler", None)
        for _ in range(workers):
            self._started("worker", self.address)

    def _started(self, kind, address):
        self.server.stdin.write(json.dumps([kind, address, str(self.folder)]) + "\n")
        self.server.stdin.flush()
        where, pid = self.server.stdout.readline().split()
        while where == "ended" and pid in self.born:  # a process of an earlier cluster
            where, pid = self.server.stdout.readline().split()
        assert where != "ended"
        self.born.append(pid)
        self.pids.append(int(pid))
        return where

    def arm(self, point, scheduler=False, stop=False):
        if scheduler:
            (self.folder / "victim").write_text(json.dumps([[self.pids[0], signal.SIGSTOP if stop else signal.SIGKILL]]))
        (self.folder / point).touch()

    def reduce(self, *arguments):
        return CliRunner().invoke(main, ["reduce", "--dask", self.address, *map(str, arguments)])

    def close(self):
        for pid in self.pids:  # children that the server has not waited for, so the ids are theirs
            os.kill(pid, signal.SIGKILL)


@pytest.fixture
def cluster(server, tmp_path_factory):
    clusters = []

    def begin(workers):
        clusters.append(Cluster(server, tmp_path_factory.mktemp("cluster"), workers))
        return clusters[-1]

    with dask.config.set({"distributed.comm.timeouts.connect": "120s"}):  # for a busy machine
        yield begin
    for begun in clusters:
        begun.close()


@pytest.fixture
def store(tmp_path):
    return write_store(tmp_path / "in.zarr", da.from_array(X, chunks=(1000, X.shape[1])))


def test_killed_worker_keeps_the_bytes(tmp_path, store, cluster, monkeypatch):
    """With a method whose search looks at some of the rows, and which then makes passes over all of them."""
    monkeypatch.setattr("horopca.estimators.horopca_fit.search_rows", lambda _: 1000)
    alive = cluster(workers=4)
    calm = alive.reduce(store, "-o", tmp_path / "calm.zarr")
    assert calm.exit_code == 0, calm.output
    whole = open_store(tmp_path / "calm.zarr").compute()
    np.testing.assert_allclose(whole, HoroPCA(2, random_state=0).fit_transform(X), atol=1e-8)
    for point in ("fit", "transform", "write"):
        alive.arm(point)
        done = alive.reduce(store, "-o", tmp_path / f"{point}.zarr")
        assert done.exit_code == 0, done.output
        assert not (alive.folder / point).exists()  # a worker was killed
        assert np.array_equal(open_store(tmp_path / f"{point}.zarr").compute(), whole)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        f"{name}.zarr" for name in ("calm", "fit", "in", "transform", "write")
    ]


@pytest.mark.parametrize("point", ["fit", "transform", "write"])
def test_lost_scheduler_raises_error(tmp_path, store, cluster, point):
    out, fit = write_store(tmp_path / "out.zarr", da.from_array(X[:1])), tmp_path / "fit.npz"
    alive = cluster(workers=1)
    alive.arm(point, scheduler=True)
    command = (store, "-o", out, "--save-fit", fit, "--method", "tpca", "--force")
    lost = alive.reduce(*command)
    assert lost.exit_code == 1 and "Traceback" not in lost.output
    assert f"The Dask scheduler at {alive.address} was lost" in " ".join(lost.output.split()), lost.output
    assert not (alive.folder / point).exists()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.zarr", "out.zarr"]
    assert np.array_equal(open_store(out).compute(), X[:1])
    if point == "write":  # and again, where there is another one
        again = cluster(workers=1)
        assert again.reduce(*command).exit_code == 0
        here = again.reduce(store, "-o", tmp_path / "b.zarr", "--from-fit", fit)
        assert here.exit_code == 0, here.output
        assert np.array_equal(open_store(out).compute(), open_store(tmp_path / "b.zarr").compute())


@pytest.mark.parametrize("problem", ["no workers", "frozen", "frozen during the work"])
def test_frozen_or_empty_cluster_raises_error(tmp_path, store, cluster, problem):
    """Dask would wait forever. A worker that stops the scheduler at a point of the work keeps it frozen from there."""
    alive = cluster(workers=problem != "no workers")
    if problem == "frozen":
        os.kill(alive.pids[0], signal.SIGSTOP)
    elif problem == "frozen during the work":
        alive.arm("transform", scheduler=True, stop=True)
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # as in a job that a shell has started in the background
    try:
        with dask.config.set({"distributed.comm.timeouts.connect": "3s"}):
            result = alive.reduce(store, "-o", tmp_path / "out.zarr", "--method", "tpca")
    finally:
        signal.signal(signal.SIGINT, before)
    said = " ".join(result.output.split())
    # whichever limit of three seconds is the first to be reached: on a busy machine another than on a calm one
    messages = ("has had no workers for 3 seconds", "has not answered for 3 seconds", "No Dask scheduler answers", "Timed out")
    assert result.exit_code == 1 and "Traceback" not in said and any(message in said for message in messages), said
    assert [path.name for path in tmp_path.iterdir()] == ["in.zarr"]
