"""Try the wheel in dist/ as a user has it, in an empty environment away from the source, with the tests of the sdist beside it.

python .ci/away.py            with the newest versions of what it depends on
python .ci/away.py --lowest   with the lowest that it allows
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import venv
import zipfile
from email import message_from_bytes
from pathlib import Path

DIST = Path(__file__).parents[1] / "dist"
TESTS = "@tests/inner.txt"  # of the inner rooms, which need no optional library


def lowest(wheel: Path) -> list[str]:
    """The lowest versions of what a wheel cannot do without: numpy>=2.0 is numpy==2.0."""
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        needed = message_from_bytes(archive.read(name)).get_all("Requires-Dist", [])
    return [one.replace(">=", "==") for one in needed if ";" not in one]


def unpacked(sdist: Path, folder: Path) -> Path:
    """The tests of a source distribution, without the source that they must not find."""
    with tarfile.open(sdist) as archive:
        archive.extractall(folder, filter="data")
    (root,) = folder.iterdir()
    shutil.rmtree(root / "src")
    return root


def main() -> None:
    (wheel,), (sdist,) = DIST.glob("*.whl"), DIST.glob("*.tar.gz")
    versions = lowest(wheel) if "--lowest" in sys.argv[1:] else []
    with tempfile.TemporaryDirectory(prefix="horopca-away-", ignore_cleanup_errors=True) as folder:
        place = Path(folder, "environment")
        venv.create(place, with_pip=True)
        scripts = place / ("Scripts" if os.name == "nt" else "bin")
        run = lambda *words, **options: subprocess.run([str(scripts / words[0]), *words[1:]], check=True, **options)
        run("python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", f"{wheel}[test]", *versions)
        run("python", "-m", "pip", "--disable-pip-version-check", "list")
        run("horopca", "--version", cwd=folder)
        tests = unpacked(sdist, Path(folder, "source"))
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": ""}
        run("python", "-m", "pytest", "-q", "-p", "no:cacheprovider", TESTS, cwd=tests, env=environment)


if __name__ == "__main__":
    main()
