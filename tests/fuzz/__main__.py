"""``make fuzz MINUTES=20``: odd arrays, damaged files and faults while files are written, with tables of the outcomes."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path

from fuzz import arrays, faults, files
from fuzz.tally import as_table


def main() -> int:
    parser = argparse.ArgumentParser(prog="make fuzz", description="Try odd arrays, damaged files and faults.")
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--seed", type=int, default=None, help="seed of the random numbers; default: a new one")
    parser.add_argument("--keep", type=Path, help="folder for files with neither a result nor a clear error")
    options = parser.parse_args()
    seed = int.from_bytes(os.urandom(4), "little") if options.seed is None else options.seed
    seconds = 24 * options.minutes  # for arrays and for files; the rest is for faults
    odd = arrays.fuzz(seconds=seconds, seed=seed)
    with tempfile.TemporaryDirectory() as folder:
        keep = options.keep is not None
        if keep:
            options.keep.mkdir(parents=True, exist_ok=True)
        damaged = files.fuzz(options.keep or Path(folder), seconds=seconds, seed=seed, keep=keep)
    broken = faults.fuzz(seconds=60 * options.minutes - 2 * seconds, seed=seed)
    tables = [as_table("arrays", *odd), as_table("files", *damaged), as_table("faults", *broken)]
    print(*tables, f"Seed {seed}, {options.minutes:g} minutes.", sep="\n\n")
    findings = [*odd[1], *damaged[1], *broken[1]]
    for finding in findings[:50]:
        print(f"{finding.kind}, case {finding.case}: {finding.outcome}: {finding.message}", file=sys.stderr)
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
