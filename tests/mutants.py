"""Mutants: one small change of the code at a time, and whether the tests of its room notice. Run by `make mutants`.

A comparison is turned, an operator exchanged, a constant raised by one, a condition decided beforehand, a result
dropped, a statement left out. A mutant that no test kills is a survivor: a test is missing, or the code says more than it
has to, or the change makes no difference. Those of the last kind stand in `mutants.txt`, each with its reason.

The tests are collected once. Every mutant is then a child of that process, in which the functions of one module have the code
of the changed one; it runs the tests that reach the changed line, the quickest first, up to one that fails. The first child
has nothing changed, and no test may fail there. Changes outside of functions are not made: constants that stand by themselves
are sizes and tolerances.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import importlib
import inspect
import os
import pickle
import random
import resource
import signal
import sys
import tempfile
import traceback
import types
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import coverage
import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "horopca"
KNOWN = Path(__file__).with_suffix(".txt")
ROOMS = {  # rooms, and the tests that have to notice
    "geometry": ["tests/geometry", "src/horopca/geometry"],
    "projections": ["tests/projections", "src/horopca/projections"],
    "_optimize": ["tests/optimize"],
    "_input": ["tests/input"],
}
ELSEWHERE = {"cuda.py", "kernels.py"}  # tried on a device alone
SECONDS = 120  # of processor time for a mutant; one that takes longer is killed, as an endless loop is
TOO_LONG = "too long"

SWAPS: dict[type[ast.AST], list[type[ast.AST]]] = {
    ast.Add: [ast.Sub], ast.Sub: [ast.Add], ast.Mult: [ast.Div], ast.Div: [ast.Mult], ast.FloorDiv: [ast.Mult],
    ast.Mod: [ast.Mult], ast.Pow: [ast.Mult], ast.MatMult: [], ast.LShift: [ast.RShift], ast.BitAnd: [ast.BitOr],
    ast.BitOr: [ast.BitAnd], ast.Lt: [ast.LtE, ast.GtE], ast.LtE: [ast.Lt, ast.Gt], ast.Gt: [ast.GtE, ast.LtE],
    ast.GtE: [ast.Gt, ast.Lt], ast.Eq: [ast.NotEq], ast.NotEq: [ast.Eq], ast.Is: [ast.IsNot], ast.IsNot: [ast.Is],
    ast.In: [ast.NotIn], ast.NotIn: [ast.In], ast.And: [ast.Or], ast.Or: [ast.And],
}  # fmt: skip
Change = tuple[str, ast.AST]
Lines = dict[str, dict[int, list[str]]]  # by file and line, the tests that reach it
NEVER = ast.Constant(False)
OPTIONS = ["-q", "-p", "no:cacheprovider"]


class Mutant(NamedTuple):
    """The `variant`-th change of the `node`-th node of a file."""

    path: Path
    node: int
    variant: int
    line: int
    last: int  # the line on which the statement ends
    change: str  # and, from the second such change in a line on, which of them it is

    def name(self) -> str:
        """File, code and change: what stands in the list of the known ones, whatever the number of the line."""
        text = self.path.read_text(encoding="utf-8").splitlines()[self.line - 1].strip()
        return f"{self.path.relative_to(PACKAGE)} | {text} | {self.change}"


def changes(node: ast.AST) -> Iterator[Change]:
    """What may be put in the place of a node, each with a few words."""
    if isinstance(node, ast.BinOp | ast.AugAssign | ast.BoolOp):
        for other in SWAPS.get(type(node.op), []):
            yield f"{said(node)} with {other.__name__}", with_field(node, "op", other())
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        for other in SWAPS[type(node.ops[0])]:
            yield f"{said(node)} with {other.__name__}", with_field(node, "ops", [other()])
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.Not | ast.Invert):
        yield f"{said(node)} without its sign", node.operand
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float) and node.value is not None:
        other = not node.value if isinstance(node.value, bool) else node.value + 1
        yield f"{node.value} as {other}", ast.Constant(other)
    if isinstance(node, ast.If | ast.IfExp):
        for decided in (True, False):
            yield f"if {said(node.test)} taken as {decided}", with_field(node, "test", ast.Constant(decided))
    if isinstance(node, ast.Return) and node.value is not None and said(node.value) != "None":
        yield "return None", with_field(node, "value", ast.Constant(None))
    drops = isinstance(node, ast.Raise | ast.AugAssign) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Call))
    if drops or (isinstance(node, ast.Assign) and not isinstance(node.targets[0], ast.Name | ast.Tuple)):
        yield f"{said(node)} left out", ast.Pass()


def said(node: ast.AST) -> str:
    text = " ".join(ast.unparse(node).split())
    return text if len(text) <= 60 else text[:57] + "..."


def with_field(node: ast.AST, name: str, value: object) -> ast.AST:
    return type(node)(**{**{field: getattr(node, field, None) for field in node._fields}, name: value})


def left_alone(tree: ast.AST) -> set[int]:
    """The nodes (by id) that nothing depends on when the code runs: annotations, and the words of an error."""
    alone: set[int] = set()
    for node in ast.walk(tree):
        parts = [getattr(node, "annotation", None), getattr(node, "returns", None)]
        parts += [node.exc] if isinstance(node, ast.Raise) else [node] if isinstance(node, ast.JoinedStr) else []
        alone.update(id(inner) for part in parts if isinstance(part, ast.AST) for inner in ast.walk(part))
    return alone


def within_functions(tree: ast.AST) -> set[int]:
    """The nodes (by id) of the bodies of functions."""
    bodies = (node.body for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))
    return {id(inner) for body in bodies for statement in body for inner in ast.walk(statement)}


def mutants_of(path: Path) -> Iterator[Mutant]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    alone, inside = left_alone(tree), within_functions(tree)
    nodes = [(number, node) for number, node in enumerate(ast.walk(tree)) if id(node) in inside and id(node) not in alone]
    seen: Counter[tuple[int, str]] = Counter()
    for number, node in sorted(nodes, key=lambda each: (getattr(each[1], "lineno", 0), getattr(each[1], "col_offset", 0))):
        for variant, (change, _) in enumerate(changes(node)):
            seen[node.lineno, change] += 1
            which = f" ({seen[node.lineno, change]})" if seen[node.lineno, change] > 1 else ""
            yield Mutant(path, number, variant, node.lineno, node.end_lineno, change + which)


class Exchange(ast.NodeTransformer):
    """One node put in the place of another."""

    def __init__(self, old: ast.AST, new: ast.AST) -> None:
        self.old, self.new = old, new

    def visit(self, node: ast.AST) -> ast.AST:
        if node is not self.old:
            return self.generic_visit(node)
        # the old one stays, never reached: code without it might have other names from outside, and not fit the function
        choice = ast.If(NEVER, [node], [self.new]) if isinstance(node, ast.stmt) else ast.IfExp(NEVER, node, self.new)
        return ast.copy_location(choice, node)


def mutated_tree(mutant: Mutant) -> ast.Module:
    tree = ast.parse(mutant.path.read_text(encoding="utf-8"))
    node = list(ast.walk(tree))[mutant.node]
    return ast.fix_missing_locations(Exchange(node, list(changes(node))[mutant.variant][1]).visit(tree))


def put_in_place(mutant: Mutant) -> None:
    """Give the functions of a module the code of its mutant."""
    parts = mutant.path.relative_to(PACKAGE.parent).with_suffix("").parts
    module = importlib.import_module(".".join(parts[:-1] if parts[-1] == "__init__" else parts))
    other = types.ModuleType(module.__name__)
    vars(other).update(__package__=module.__package__, __file__=module.__file__)
    exec(compile(mutated_tree(mutant), str(mutant.path), "exec", dont_inherit=True), vars(other))
    for old, new in functions(vars(module), vars(other), module.__name__):
        old.__code__ = new.__code__


def functions(old: Mapping[str, object], new: Mapping[str, object], module: str) -> Iterator[tuple]:
    """The functions of two name spaces, of a module or of a class in it, that have the same name."""
    for name, value in new.items():
        ours, theirs = bare(old.get(name)), bare(value)
        if isinstance(theirs, type) and theirs.__module__ == module and isinstance(ours, type):
            yield from functions(vars(ours), vars(theirs), module)
        elif isinstance(theirs, types.FunctionType) and theirs.__module__ == module and isinstance(ours, types.FunctionType):
            yield ours, theirs


def bare(value: object) -> object:
    """A function without what decorates it."""
    for name in ("__func__", "fget", "func"):
        value = getattr(value, name, value) if not isinstance(value, types.FunctionType | type) else value
    return inspect.unwrap(value) if callable(value) else value


class Noted:
    """A plugin that notes the seconds of each test, and those that fail."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self.failed: list[str] = []

    def pytest_runtest_logreport(self, report) -> None:
        self.seconds[report.nodeid] = self.seconds.get(report.nodeid, 0.0) + report.duration
        if report.failed:
            self.failed.append(report.nodeid)


class Instead(Noted):
    """A plugin that, in place of the tests, tries every mutant with those that reach it."""

    def __init__(self, mutants: list[Mutant], seconds: dict[str, float], lines: Lines, told: Callable) -> None:
        super().__init__()
        self.mutants, self.known, self.lines, self.told = mutants, seconds, lines, told

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session) -> bool:
        wanted = {mutant: tests_for(mutant, self.lines) for mutant in self.mutants}
        by_time = sorted(session.items, key=lambda item: self.known.get(item.nodeid, 0.0))
        anyone = [item for item in by_time if any(item.nodeid in tests for tests in wanted.values())]
        if failed := in_a_child(lambda: self.verdict(None, anyone), 3600):
            raise pytest.UsageError(f"A test fails in a child without any change: {failed}.")
        for mutant in self.mutants:
            items = [item for item in by_time if item.nodeid in wanted[mutant]]
            self.told(mutant, in_a_child(lambda m=mutant, i=items: self.verdict(m, i), SECONDS) if items else "")
        return True

    def verdict(self, mutant: Mutant | None, items: list) -> str:
        """The test that kills the mutant, or "" if it survives."""
        if mutant is not None:
            put_in_place(mutant)
        for item, following in zip(items, [*items[1:], None], strict=True):
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            if self.failed:
                return self.failed[0]
        return ""


class Broken(str):
    """Why a child came to nothing that is neither a failing test nor an endless loop."""


def in_a_child(work: Callable[[], object], seconds: int) -> object:
    """What a forked child makes of the work; TOO_LONG if it took more than so many seconds of processor time, or waited."""
    with tempfile.TemporaryFile() as answer:
        child = os.fork()
        if not child:
            os.setpgid(0, 0)
            resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))
            signal.alarm(20 * seconds)  # one that waits for ever
            silence = os.open(os.devnull, os.O_WRONLY)
            os.dup2(silence, 1)
            os.dup2(silence, 2)
            try:
                found = work()
            except BaseException:
                found = Broken(traceback.format_exc())
            pickle.dump(found, answer)
            answer.flush()
            os._exit(0)
        _, status = os.waitpid(child, 0)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child, signal.SIGKILL)  # what the child may have left running
        if os.WIFSIGNALED(status):
            ended = signal.Signals(os.WTERMSIG(status))
            return TOO_LONG if ended in (signal.SIGXCPU, signal.SIGALRM) else Broken(f"the process was ended by {ended.name}")
        answer.seek(0)
        return pickle.load(answer)


def reach(room: str, folder: Path) -> tuple[dict[str, float], Lines]:
    """The seconds of each test of a room, and by file and line the tests that reach it."""

    def work():
        os.environ["COVERAGE_FILE"] = str(folder / "coverage")
        noted = Noted()
        options = [f"--cov=horopca.{room}", "--cov-context=test", "--cov-report=", "-x"]
        return int(pytest.main([*ROOMS[room], *OPTIONS, *options], plugins=[noted])), noted.seconds, noted.failed

    found = in_a_child(work, 3600)
    if not isinstance(found, tuple) or found[0]:
        raise SystemExit(f"The tests of {room} do not pass as they are: {found[2] if isinstance(found, tuple) else found}.")
    _, seconds, _ = found
    data = coverage.CoverageData(str(folder / "coverage"))
    data.read()
    return seconds, {Path(file).name: data.contexts_by_lineno(file) for file in data.measured_files() if f"/{room}/" in file}


def tests_for(mutant: Mutant, lines: Lines) -> set[str]:
    """The tests that reach a mutant."""
    at = lines.get(mutant.path.name, {})
    return {context.rsplit("|", 1)[0] for line in range(mutant.line, mutant.last + 1) for context in at.get(line, [])}


def known() -> dict[str, str]:
    """The survivors that make no difference, and why."""
    reasons = {}
    for line in KNOWN.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            names, why = line.rsplit(" | ", 1)
            first, *more = names.split("; ")
            code = first.rsplit(" | ", 1)[0]
            reasons.update(dict.fromkeys([first, *(f"{code} | {change}" for change in more)], why))
    return reasons


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("rooms", nargs="*", default=list(ROOMS), help="of " + ", ".join(ROOMS))
    parser.add_argument("--sample", type=int, help="try so many of each room's mutants, drawn with a fixed seed")
    parser.add_argument("--share", default="1/1", help="try a part of them, 3/16 say: for several runs beside each other")
    parser.add_argument("--only", default="", help="try those whose name (file | line | change) holds this")
    given = parser.parse_args()
    os.chdir(ROOT)
    os.environ["CUDA_VISIBLE_DEVICES"] = ""  # a child cannot use one that its parent has seen: all would be killed
    reasons, unexplained = known(), 0
    for room in given.rooms:
        paths = sorted(path for path in (PACKAGE / room).rglob("*.py") if path.name not in ELSEWHERE)
        everyone = [mutant for path in paths for mutant in mutants_of(path) if given.only in mutant.name()]
        tried = random.Random(0).sample(everyone, min(given.sample or len(everyone), len(everyone)))
        part, parts = map(int, given.share.split("/"))
        tried = tried[part - 1 :: parts]
        survivors, explained, broken = [], [], []

        def told(mutant: Mutant, killer: str, survivors=survivors, explained=explained, broken=broken) -> None:
            if isinstance(killer, Broken):
                broken.append(mutant)
            elif not killer:
                (explained if mutant.name() in reasons else survivors).append(mutant)
            if given.only or mutant in broken or mutant in survivors:
                print(f"line {mutant.line}: {mutant.name()}: {killer or 'SURVIVED'}", file=sys.stderr, flush=True)

        with tempfile.TemporaryDirectory() as folder:
            seconds, lines = reach(room, Path(folder))
        with open(os.devnull, "w", encoding="utf-8") as silence, contextlib.redirect_stdout(silence):
            status = pytest.main([*ROOMS[room], *OPTIONS], plugins=[Instead(tried, seconds, lines, told)])
        if status:
            raise SystemExit(f"The tests of {room} could not be tried.")
        unexplained += len(survivors) + len(broken)
        counts = {
            "killed": len(tried) - len(survivors) - len(explained) - len(broken),
            "known to make no difference": len(explained),
            "survived": len(survivors),
            "could not be tried": len(broken),
        }
        said = ", ".join(f"{count} {what}" for what, count in counts.items())
        print(f"{room}: {len(tried)} of {len(everyone)} mutants, {said}", flush=True)
    return int(unexplained > 0)


if __name__ == "__main__":
    raise SystemExit(main())
