"""``make fuzz MINUTES=20``: damaged files of every format for so long, and a table of what came of them."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path

from fuzz.files import as_table, fuzz


def main() -> int:
    parser = argparse.ArgumentParser(prog="make fuzz", description="Try damaged files of every format.")
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--seed", type=int, default=None, help="of the random numbers; another one every time unless given")
    parser.add_argument("--keep", type=Path, help="a folder for the files that were neither read nor refused")
    options = parser.parse_args()
    seed = int.from_bytes(os.urandom(4), "little") if options.seed is None else options.seed
    with tempfile.TemporaryDirectory() as folder:
        keep = options.keep is not None
        if keep:
            options.keep.mkdir(parents=True, exist_ok=True)
        tallies, findings = fuzz(options.keep or Path(folder), seconds=60 * options.minutes, seed=seed, keep=keep)
    print(as_table(tallies, findings))
    print(f"\nSeed {seed}.")
    for finding in findings[:50]:
        print(f"{finding.format}, case {finding.seed}: {finding.outcome}: {finding.message}", file=sys.stderr)
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
