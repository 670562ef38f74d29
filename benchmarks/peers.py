"""HoroPCA beside a plain dense one on CS Ph.D., and beside other packages' hyperbolic reductions at 10^3 to 10^5 points.

    pip install -e '.[bench]'
    HOROPCA_DATA=... python -m benchmarks.peers [dense | sizes] [--only umap] [--points 1000 10000] [--seconds 300]

Every cell of the second table is a process of its own, ended when it has used up its processor time or its memory. A package
that this Python cannot install (hyperbolix asks for 3.12) is looked for in the Python that HOROPCA_BENCH_PYTHON names, which
must have horopca too. Linux only: memory is read from /proc.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from rich.console import Console
from rich.table import Table
from threadpoolctl import threadpool_limits

from horopca import HoroPCA, metrics
from horopca.datasets import make_hierarchical_normals
from horopca.geometry import distance, from_hyperboloid, lift, to_hyperboloid, translate_to_origin
from horopca.statistics import frechet_mean

from .data import embedding

MEASURED_PAIRS = 1_000_000
RESEARCH_CODE = 658.0  # seconds of the paper's own code on CS Ph.D., 500 steps, as measured when this package was designed


# --- the peers: points of the ball (n, d) in, points of the disk (n, 2) out


def ours(X: np.ndarray, **settings: Any) -> np.ndarray:
    return HoroPCA(2, random_state=0, **settings).fit_transform(X)


def dense(X: np.ndarray) -> np.ndarray:
    from .dense import fit_dense

    # the images lie on a copy of H^2 in H^d: its distances are theirs
    return from_hyperboloid(fit_dense(X).image, "poincare")


def hyperbolix_horopca(X: np.ndarray) -> np.ndarray:
    import jax
    from hyperbolix.decomposition import HoroPCA
    from hyperbolix.manifolds import Poincare

    jax.config.update("jax_enable_x64", True)
    model = HoroPCA(Poincare(dtype=jax.numpy.float64), 2, lr=0.05, max_steps=500)
    return np.asarray(model.fit_transform(jax.numpy.asarray(X), 1.0, jax.random.PRNGKey(0)))


def torchdr_cosne(X: np.ndarray) -> np.ndarray:
    from torchdr import COSNE

    x = to_hyperboloid(X)
    # it compares squared norms of its input with squared distances from the origin: tangent vectors at the mean have both
    v = from_hyperboloid(translate_to_origin(x, frechet_mean(x).point), "tangent")
    return COSNE(n_components=2, random_state=0).fit_transform(v)


def umap_hyperboloid(X: np.ndarray) -> np.ndarray:
    from umap import UMAP

    s = UMAP(n_components=2, metric="poincare", output_metric="hyperboloid").fit_transform(X)
    return from_hyperboloid(lift(s.astype(float)), "poincare")


class Peer(NamedTuple):
    """A row of the table."""

    title: str
    reduce: Callable[[np.ndarray], np.ndarray]
    module: str = "horopca"  # loaded before the clock starts
    install: str = ""
    compiles: bool = False  # on its first call, whatever the size: called once before the clock starts


PEERS = {
    "default": Peer("HoroPCA(2)", ours),
    "distortion": Peer(
        'HoroPCA(2, spine="free", objective="distortion")', lambda X: ours(X, spine="free", objective="distortion")
    ),
    "dense": Peer("plain dense HoroPCA (benchmarks.dense), 500 steps", dense, "benchmarks.dense", "torch"),
    "hyperbolix": Peer("hyperbolix HoroPCA, 500 steps at 0.05", hyperbolix_horopca, "hyperbolix.decomposition", "hyperbolix"),
    "cosne": Peer("TorchDR COSNE", torchdr_cosne, "torchdr", "torchdr matplotlib"),
    "umap": Peer('UMAP, metric="poincare", output_metric="hyperboloid"', umap_hyperboloid, "umap", "umap-learn", True),
}


# --- one cell: a process of its own


def cloud(n: int) -> np.ndarray:
    """Points (n, 10) of the ball around the forty nodes of a random tree."""
    return make_hierarchical_normals(n, 10, branching=3, depth=3, step=1.5, random_state=0).points


def resident() -> int:
    """Bytes of memory this process holds."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def cell(name: str, n: int, seconds: int) -> dict[str, float]:
    """Reduce n points by a peer: what that took beyond the loaded process, and how well it kept distances.

    The timer ends the process when its seconds of processor time are over, in whatever code it then is.
    """
    peer, X = PEERS[name], cloud(n)
    importlib.import_module(peer.module)
    if peer.compiles:
        peer.reduce(X[:500])
    before = resident()
    signal.setitimer(signal.ITIMER_PROF, seconds)
    wall, processor = time.perf_counter(), time.process_time()
    Y = np.asarray(peer.reduce(X), dtype=float)
    wall, processor = time.perf_counter() - wall, time.process_time() - processor
    signal.setitimer(signal.ITIMER_PROF, 0)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return {"wall": wall, "cpu": processor, "bytes": max(peak - before, 0), **kept(X, Y)}


def kept(X: np.ndarray, Y: np.ndarray) -> dict[str, float]:
    """Average distortion, and what it would be if the disk's distances were multiplied by the best one number."""
    if not np.all(np.isfinite(Y)):
        return {"distortion": float("nan"), "rescaled": float("nan")}
    rng = np.random.default_rng(0)
    i, j = rng.integers(len(X), size=(2, MEASURED_PAIRS // 5))
    i, j = i[i != j], j[i != j]
    ratios = np.divide(*(distance(z[i], z[j]) for z in (to_hyperboloid(Y), to_hyperboloid(X))))
    # mean |c r - 1| is least where c is the median of 1/r, each with weight r
    ratios = np.sort(ratios[ratios > 0])[::-1]
    c = 1 / ratios[np.searchsorted(np.cumsum(ratios), np.sum(ratios) / 2)]
    return {
        "distortion": float(metrics.average_distortion(X, Y, n_pairs=MEASURED_PAIRS, random_state=0)),  # type: ignore[arg-type]
        "rescaled": float(np.mean(np.abs(c * ratios - 1))),
    }


# --- the table: cells watched from outside


class Limits(NamedTuple):
    """What a cell may use."""

    seconds: int
    gigabytes: float


def watched(python: str, name: str, n: int, limits: Limits) -> dict[str, float] | str:
    """Run a cell in a process; its figures, or why there are none."""
    command = [python, "-m", "benchmarks.peers", "cell", name, "--points", str(n), "--seconds", str(limits.seconds)]
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        process = subprocess.Popen(command, stdout=out, stderr=err, cwd=Path(__file__).parents[1])
        full = False
        while process.poll() is None and not full:
            full = held(process.pid) > limits.gigabytes * 1e9
            time.sleep(0.02)
        process.kill()
        code = process.wait()
        out.seek(0)
        err.seek(0)
        return json.loads(out.read().splitlines()[-1]) if code == 0 else ending(full, code, err.read(), limits)


def held(pid: int) -> int:
    """Bytes of memory another process holds; 0 when it has ended."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * resource.getpagesize()
    except (FileNotFoundError, ProcessLookupError, IndexError):
        return 0


def ending(full: bool, code: int, errors: str, limits: Limits) -> str:
    """Why a cell has no figures, in words."""
    last = (errors.strip().splitlines() or [f"exit status {code}"])[-1]
    if full or code == -signal.SIGKILL:
        return f"out of memory ({limits.gigabytes:g} GB)"
    if code == -signal.SIGPROF:
        return f"over {limits.seconds} s CPU"
    if "ModuleNotFoundError" in last:
        return "not installed"
    if any(sign in errors.lower() for sign in ("memoryerror", "of memory", "enough memory", "can't allocate", "bad_alloc")):
        return "out of memory (refused)"
    return f"failed: {last[:60]}"


def figures(name: str, n: int, limits: Limits) -> str:
    """The text of a cell."""
    found: dict[str, float] | str = "not installed"
    for python in (sys.executable, os.environ.get("HOROPCA_BENCH_PYTHON", "")):
        if python and found == "not installed":
            found = watched(python, name, n, limits)
    if found == "not installed":
        return f"not installed (pip install {PEERS[name].install})"
    if isinstance(found, str):
        return found
    lines = f"{found['wall']:.1f} s, {found['cpu']:.1f} s CPU\n{found['bytes'] / 1e6:,.0f} MB\n"
    return lines + (f"{found['distortion']:.3f} ({found['rescaled']:.3f})" if found["distortion"] >= 0 else "not a number")


def compare_sizes(console: Console, names: list[str], points: list[int], limits: Limits) -> None:
    table = Table(
        title="Ten dimensions to two: seconds, memory above that of the loaded process, average distortion (at the best scale)",
        caption=f"At most {limits.seconds} s of processor time and {limits.gigabytes:g} GB a cell. "
        "gensim learns embeddings from graphs: see python -m benchmarks.embeddings.",
        show_lines=True,
    )
    for column in ("", *(f"{n:,} points" for n in points)):
        table.add_column(column, justify="right" if column else "left")
    for name, peer in ((name, PEERS[name]) for name in names):
        cells = []
        for n in points:
            with console.status(f"{peer.title}, {n:,} points"):
                cells.append(figures(name, n, limits))
        table.add_row(peer.title, *cells)
        console.print(f"{peer.title}: {' | '.join(cells)}".replace("\n", ", "), style="dim", highlight=False)
    console.print(table)


# --- CS Ph.D. against the dense one


def timed(function: Callable[[], Any]) -> tuple[Any, float, float]:
    """What a call returns, its wall clock and its processor time."""
    wall, processor = time.perf_counter(), time.process_time()
    result = function()
    return result, time.perf_counter() - wall, time.process_time() - processor


def doctors(console: Console) -> tuple[str, np.ndarray]:
    """CS Ph.D., or as many points of a generated hierarchy where it is missing."""
    try:
        return "CS Ph.D.", embedding("CS Ph.D.")
    except (ImportError, OSError) as missing:  # neither downloaded before nor now
        console.print(f"{missing} Until then, 1025 generated points stand in for it.")
        return "1025 generated points", cloud(1025)


def shares(X: np.ndarray, repeats: int = 3) -> str:
    """Where a step of the plain dense fit spends its time."""
    from .dense import ball_distances, centred, horospherical_projection

    x, totals = centred(X), np.zeros(3)
    q = x.new_tensor(np.eye(2, X.shape[1])).requires_grad_()
    for _ in range(repeats):
        y, _, projection = timed(lambda: horospherical_projection(x, q))
        variance, _, distances = timed(lambda y=y: (ball_distances(y) ** 2).mean())  # type: ignore[misc]
        totals += [projection, distances, timed(variance.backward)[2]]
    parts = 100 * totals / totals.sum()
    return f"Of a plain dense step, {parts[0]:.1f} % is projection, {parts[1]:.0f} % distances, {parts[2]:.0f} % the way back."


class Cost(NamedTuple):
    """A row of the table."""

    title: str
    variance: float
    wall: float
    cpu: float


def dense_costs(X: np.ndarray, steps: int) -> list[Cost]:
    """The dense fits. Both take the same path, to within rounding: the lean one's end is that of a plain one cut short."""
    from .dense import STEPS, ball_distances, fit_dense, gram_distances

    lean, *clocks = timed(lambda: fit_dense(X, distances=gram_distances))
    rows = [Cost(f"lean dense, n x n arrays from one matrix product, {STEPS} Adam steps", lean.variance, *clocks)]
    plain, wall, processor = timed(lambda: fit_dense(X, steps=steps, distances=ball_distances))
    title, scale = f"plain dense, n x n x d arrays, {STEPS} Adam steps", STEPS / steps
    if steps == STEPS:
        return [Cost(title, plain.variance, wall, processor), *rows]
    title += f" (EXTRAPOLATED: times of {steps} steps x {scale:g}, variance of the row below)"
    return [Cost(title, lean.variance, wall * scale, processor * scale), *rows]


def our_cost(X: np.ndarray, title: str, **settings: Any) -> Cost:
    """The variance (the same in every run) and the least times of five runs."""
    models = [HoroPCA(2, random_state=seed, **settings) for seed in range(5)]
    runs = [timed(lambda model=model: model.fit(X)) for model in models]  # type: ignore[misc]
    variance = min(float(model.explained_variance_.sum()) for model in models)
    return Cost(title, variance, min(run[1] for run in runs), min(run[2] for run in runs))


@threadpool_limits.wrap(limits=1)
def compare_dense(console: Console, steps: int) -> None:
    """One thread each: what else runs on the machine then matters little to the processor times."""
    try:
        import torch
    except ImportError:
        sys.exit("The dense comparison needs torch: pip install torch")
    torch.set_num_threads(1)
    name, X = doctors(console)
    with console.status(f"{name}: dense fits, {steps} steps"):
        rows = dense_costs(X, steps)
    ours = our_cost(X, "HoroPCA(2): the best of 16 starts, on all pairs")
    rows += [
        ours,
        our_cost(X, "HoroPCA(2, n_init=4, pairs=8): four starts, eight pairs a point", n_init=4, pairs=8),
    ]
    table = Table(title=f"{name}, {X.shape[0]} x {X.shape[1]} to 2, one thread", show_lines=True)
    for column in ("", "pair variance", "wall s", "CPU s", "plain dense / this, CPU", "lean dense / this, CPU"):
        table.add_column(column, justify="right" if column else "left")
    for title, variance, wall, cpu in rows:
        ratios = (
            f"{rows[0].cpu / cpu:,.0f}{' (>= 1,000)' if title == ours.title else ''}",
            f"{rows[1].cpu / cpu:,.2g}" if cpu > rows[1].cpu else f"{rows[1].cpu / cpu:,.0f}",
        )
        table.add_row(title, f"{variance:.2f}", f"{wall:.2f}", f"{cpu:.2f}", *ratios)
    table.caption = "Ours: least times of five runs (in brackets what is to be reached). Dense: one start. " + shares(X)
    if name == "CS Ph.D.":
        table.caption += (
            f" The paper's own code took {RESEARCH_CODE:.0f} s, as long as {RESEARCH_CODE / rows[2].cpu:,.0f} default fits."
        )
    console.print(table)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.peers", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("what", nargs="?", choices=["all", "dense", "sizes", "cell"], default="all")
    parser.add_argument("peer", nargs="?", choices=PEERS, help="of a cell")
    parser.add_argument("--only", nargs="+", choices=PEERS, default=list(PEERS), help="rows of the table of sizes")
    parser.add_argument("--points", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    parser.add_argument("--seconds", type=int, default=300, help="of processor time, of a cell")
    parser.add_argument("--gigabytes", type=float, default=12.0, help="of a cell")
    parser.add_argument("--steps", type=int, default=500, help="of the plain dense fit; fewer are extrapolated, and say so")
    chosen = parser.parse_args(arguments)
    if chosen.what == "cell":
        print(json.dumps(cell(chosen.peer, chosen.points[0], chosen.seconds)))
        return
    console = Console(width=150)
    if chosen.what in ("all", "dense"):
        compare_dense(console, chosen.steps)
    if chosen.what in ("all", "sizes"):
        compare_sizes(console, chosen.only, chosen.points, Limits(chosen.seconds, chosen.gigabytes))


if __name__ == "__main__":
    main()
