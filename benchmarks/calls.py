"""How much code a fit enters: modules and functions of the package, and of scikit-learn for its PCA.

python -m benchmarks.calls [-v]
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import numpy as np
import sklearn
from rich.console import Console
from rich.table import Table
from sklearn.decomposition import PCA

import horopca
from horopca import HoroPCA


def entered(call: Callable[[], Any], package: str) -> Counter[str]:
    """The number of functions of each module of a package that a call enters; comprehensions and lambdas are part of theirs."""
    root, found = str(Path(package).parent), set[CodeType]()

    def profile(frame: FrameType, event: str, _: Any) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(root) and not frame.f_code.co_name.startswith("<"):
            found.add(frame.f_code)

    sys.setprofile(profile)
    try:
        call()
    finally:
        sys.setprofile(None)
    return Counter(code.co_filename[len(root) + 1 :] for code in found)


def main(*arguments: str) -> None:
    X = np.random.default_rng(0).standard_normal((1000, 10)) * 0.1
    table = Table(title="fit_transform of 1,000 rows")
    for column in ("estimator", "modules", "functions"):
        table.add_column(column, justify="left" if column == "estimator" else "right")
    for estimator, package in ((HoroPCA(2), horopca.__file__), (PCA(2), sklearn.__file__)):
        modules = entered(lambda estimator=estimator: estimator.fit_transform(X), package)
        table.add_row(type(estimator).__name__, str(len(modules)), str(modules.total()))
        if "-v" in arguments:
            for module, functions in sorted(modules.items()):
                table.add_row(f"  {module}", "", str(functions))
    Console().print(table)


if __name__ == "__main__":
    main(*sys.argv[1:])
