"""Damaged and valid files of every format, and the outcomes of reading them."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random

from fuzz import valid
from fuzz.limits import Reader
from fuzz.mutation import mutated
from fuzz.rounds import Attempt
from fuzz.samples import KINDS, make

BUDGET = 1 << 26  # bytes that a damaged file may take


@contextmanager
def trying(seed: int) -> Iterator[tuple[dict[str, int], Attempt]]:
    """The kinds of files and how often they are tried, and the function that tries one."""
    samples = {name: make(name) for name in KINDS}
    kinds = {name: sample.every for name, sample in samples.items()}
    kinds |= {f"valid: {name}": every for name, (_, every) in valid.VALID.items()}
    memory = Path("/dev/shm")  # folders are slow on a disk
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as folder, Reader(budget=BUDGET) as reader:

        def attempt(kind: str, number: int) -> tuple[str, str]:
            if kind not in samples:
                name = kind.removeprefix("valid: ")
                return valid.tried(name, Path(folder), [seed, number, *name.encode()])
            random, sample = Random(f"{seed} {number} {kind}"), samples[kind]
            path = Path(folder) / f"case{random.choice(sample.endings)}"
            path.write_bytes(mutated(sample, list(samples.values()), random))
            answer = reader(path, sample.function)
            path.unlink()
            return answer["outcome"], answer["message"]

        yield kinds, attempt
