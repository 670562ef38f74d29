"""A file that counts as large, read in eight blocks, and reductions of it that are interrupted."""

from __future__ import annotations

import pytest

from clouds import cloud
from horopca.geometry import from_hyperboloid
from horopca.io import reduce_file

N, D, BLOCK = 1000, 6, 128  # eight blocks, the last of them short
POINTS = from_hyperboloid(cloud(N, D, radius=2.0), "poincare")


class Stop(Exception):
    """An interruption."""


def stop_after(blocks, failure=Stop):
    """A report of progress that fails once so many blocks are done."""

    def progress(done, total):
        if done >= blocks * BLOCK:
            raise failure

    return progress


def begun(points, out, estimator, blocks=3):
    """A reduction interrupted after so many blocks."""
    with pytest.raises(Stop):
        reduce_file(points, out, estimator, progress=stop_after(blocks))
