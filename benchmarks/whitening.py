"""The hyperbolic support vector machine against its own optimum, on three networks in the plane.

    HOROPCA_DATA=folder python -m benchmarks.whitening

The folder holds realnet/polbooks_data_1.mat .. polblogs_data_5.mat: five embeddings of each network in the Poincaré disk
(Cho et al. 2019). Printed are how far the minimum found is above that of ten times the iterations and a hundredth of the
tolerance, and the time of a fit. How well it classifies is in `python -m reproduction table whitening`.
"""

from __future__ import annotations

import time

import numpy as np

from horopca import HyperbolicSVC
from horopca.datasets import fetch_network
from horopca.datasets.fetching import NETWORKS, VERSIONS


def main() -> None:
    for network in NETWORKS:
        gaps, times = [], []
        for version in VERSIONS:
            X, y, _ = fetch_network(network, version)
            for C in (0.1, 1.0, 10.0):
                start = time.perf_counter()
                svm = HyperbolicSVC(C).fit(X, y)
                times.append(time.perf_counter() - start)
                longer = HyperbolicSVC(C, max_iter=10 * svm.max_iter, tol=svm.tol / 100).fit(X, y)
                gaps.append(np.max((svm.loss_ - longer.loss_) / longer.loss_))
        print(f"{network}: relative gap at most {max(gaps):.1e}, fit in {np.median(times):.2f} s (at most {max(times):.2f} s)")


if __name__ == "__main__":
    main()
