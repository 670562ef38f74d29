"""``make fuzz MINUTES=20``: odd arrays, and damaged files, with tables of the outcomes.

``python -m fuzz arrays --minutes 60 --seed 1`` tries one of the two. Ctrl-C ends it with the table.
"""

import argparse
import os
import sys
import time

from fuzz import arrays, files
from fuzz.rounds import as_table, fuzz

FUZZERS = {"arrays": arrays, "files": files}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m fuzz", description="Try odd arrays and damaged files.")
    parser.add_argument("what", nargs="*", choices=[[], *FUZZERS], help="what to try: arrays, files; default: both")
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--rounds", type=int, help="a number of rounds of all kinds instead of a time")
    parser.add_argument("--seed", type=int, default=int.from_bytes(os.urandom(4), "little"), help="default: a new one")
    options = parser.parse_args()
    chosen, defects = options.what or list(FUZZERS), 0
    for what in chosen:
        start, seconds = time.monotonic(), 60 * options.minutes / len(chosen)
        with FUZZERS[what].trying(options.seed) as (kinds, attempt):
            counts, findings = fuzz(kinds, attempt, rounds=options.rounds, seconds=None if options.rounds else seconds)
        defects += len(findings)
        minutes = (time.monotonic() - start) / 60
        print(as_table(what, counts), f"Seed {options.seed}, {minutes:.1f} minutes.\n", sep="\n\n", flush=True)
    return 1 if defects else 0


if __name__ == "__main__":
    sys.exit(main())
