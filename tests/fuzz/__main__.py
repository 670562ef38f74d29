"""``make fuzz MINUTES=20``: odd arrays, and damaged files, with tables of the outcomes.

``python -m fuzz arrays --minutes 60 --seed 1`` tries one of the two. Ctrl-C ends it after the current round, with the table.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from functools import partial
from pathlib import Path

from fuzz import arrays, files
from fuzz.rounds import as_table, fuzz

KINDS = ("arrays", "files")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m fuzz", description="Try odd arrays and damaged files.")
    parser.add_argument("what", nargs="*", choices=[[], *KINDS], help="what to try: arrays, files; default: both")
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--rounds", type=int, help="a number of rounds of all kinds instead of a time")
    parser.add_argument("--seed", type=int, default=int.from_bytes(os.urandom(4), "little"), help="default: a new one")
    parser.add_argument("--keep", type=Path, help="folder for files with neither a result nor a clear error")
    options = parser.parse_args()
    chosen, defects = options.what or KINDS, 0
    trying = {"arrays": arrays.trying, "files": partial(files.trying, keep=options.keep)}
    for what in chosen:
        start, seconds = time.monotonic(), 60 * options.minutes / len(chosen)
        with trying[what](options.seed) as (kinds, attempt):
            counts, findings = fuzz(kinds, attempt, rounds=options.rounds, seconds=None if options.rounds else seconds)
        defects += len(findings)
        minutes = (time.monotonic() - start) / 60
        print(as_table(what, counts), f"Seed {options.seed}, {minutes:.1f} minutes.\n", sep="\n\n", flush=True)
    return 1 if defects else 0


if __name__ == "__main__":
    sys.exit(main())
