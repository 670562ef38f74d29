"""``make fuzz MINUTES=20``: odd arrays, damaged files and faults while files are written, with tables of the outcomes.

``python -m fuzz arrays --minutes 60 --seed 1`` tries one of the three. Ctrl-C ends it after the current round, with the table.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from functools import partial
from pathlib import Path

from fuzz import arrays, faults, files
from fuzz.tally import Finding, as_table

SHARES = {"arrays": 2, "files": 2, "faults": 1}  # of the time


def shown(finding: Finding) -> Finding:
    """Print a finding at once: a run may take hours."""
    print(f"{finding.kind}, case {finding.case}: {finding.outcome}: {finding.message}", file=sys.stderr, flush=True)
    return finding


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m fuzz", description="Try odd arrays, damaged files and faults.")
    parser.add_argument("kinds", nargs="*", choices=[[], *SHARES], help="what to try: arrays, files, faults; default: all")
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--rounds", type=int, help="a number of rounds of all kinds instead of a time")
    parser.add_argument("--seed", type=int, default=None, help="seed of the random numbers; default: a new one")
    parser.add_argument("--keep", type=Path, help="folder for files with neither a result nor a clear error")
    options = parser.parse_args()
    seed = int.from_bytes(os.urandom(4), "little") if options.seed is None else options.seed
    kinds = options.kinds or list(SHARES)
    if options.keep is not None:
        options.keep.mkdir(parents=True, exist_ok=True)
    findings = []
    tried = {"arrays": arrays.fuzz, "files": partial(files.fuzz, keep=options.keep), "faults": faults.fuzz}
    for kind in kinds:
        start = time.monotonic()
        minutes = options.minutes * SHARES[kind] / sum(SHARES[other] for other in kinds)
        limits = {"seconds": 60 * minutes} if options.rounds is None else {"cases": options.rounds}
        tallies, found = tried[kind](**limits, seed=seed, report=shown)
        findings += found
        print(as_table(kind, tallies, found), f"Seed {seed}, {(time.monotonic() - start) / 60:.1f} minutes.\n", sep="\n\n")
        sys.stdout.flush()
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
