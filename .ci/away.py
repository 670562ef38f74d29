"""Test the wheel in dist/ in an empty environment without the source, with the tests of the sdist.

python .ci/away.py            with the newest versions of its dependencies
python .ci/away.py --lowest   with the lowest versions that it allows
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
TESTS = "@tests/inner.txt"  # the core, which needs no optional library


def lowest(wheel: Path) -> list[str]:
    """The lowest versions of the dependencies of a wheel: numpy==2.0 for numpy>=2.0."""
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        needed = message_from_bytes(archive.read(name)).get_all("Requires-Dist", [])
    return [one.replace(">=", "==") for one in needed if ";" not in one]


def unpacked(sdist: Path, folder: Path) -> Path:
    """The tests of a source distribution, without its source, so that the wheel is tested."""
    with tarfile.open(sdist) as archive:
        archive.extractall(folder, filter="data")
    (root,) = folder.iterdir()
    shutil.rmtree(root / "src")
    return root


def main() -> None:
    (wheel,), (sdist,) = DIST.glob("*.whl"), DIST.glob("*.tar.gz")
    versions = lowest(wheel) if "--lowest" in sys.argv[1:] else []
    with tempfile.TemporaryDirectory(prefix="horopca-away-", ignore_cleanup_errors=True) as folder:
        environment_folder = Path(folder, "environment")
        venv.create(environment_folder, with_pip=True)
        scripts = environment_folder / ("Scripts" if os.name == "nt" else "bin")
        run = lambda *words, **options: subprocess.run([str(scripts / words[0]), *words[1:]], check=True, **options)
        run("python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", f"{wheel}[test]", *versions)
        run("python", "-m", "pip", "--disable-pip-version-check", "list")
        run("horopca", "--version", cwd=folder)
        tests = unpacked(sdist, Path(folder, "source"))
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": ""}
        run("python", "-m", "pytest", "-q", "-p", "no:cacheprovider", TESTS, cwd=tests, env=environment)


if __name__ == "__main__":
    main()
