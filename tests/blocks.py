"""Points that are read in eight blocks (with the fixture `small_blocks`), and interrupted reductions of them."""

import pytest

from clouds import cloud
from horopca.geometry import from_hyperboloid
from horopca.io import reduce_file

N, D, BLOCK = 1000, 6, 128  # eight blocks, the last of them short
POINTS = from_hyperboloid(cloud(N, D, radius=2.0), "poincare")


class Stop(Exception):
    """Raised to interrupt a reduction."""


def stop_after(blocks, failure=Stop):
    """A progress callback that raises an exception after a number of blocks."""

    def progress(done, total):
        if done >= blocks * BLOCK:
            raise failure

    return progress


def begun(points, out, estimator, blocks=3):
    """A reduction that is interrupted after a number of blocks."""
    with pytest.raises(Stop):
        reduce_file(points, out, estimator, progress=stop_after(blocks))
