"""Build wheel and source archive, install each in an environment of its own, and test it there.

The tests come from the unpacked source archive, whose `src` is removed first: what runs is what was
installed. Arguments go to pytest.

    python scripts/check_dist.py -m "not slow"
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tarfile
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).parents[1]
DIST = ROOT / "dist"


def main(pytest_arguments: list[str]) -> None:
    """Build, check and test both archives."""
    for old in [*DIST.glob("*.whl"), *DIST.glob("*.tar.gz")]:
        old.unlink()
    _run(sys.executable, "-m", "build", "--outdir", DIST, ROOT)
    archives = sorted([*DIST.glob("*.whl"), *DIST.glob("*.tar.gz")])
    _run(sys.executable, "-m", "twine", "check", "--strict", *archives)
    for archive in archives:
        with tempfile.TemporaryDirectory() as folder:
            _test(archive, Path(folder), pytest_arguments)


def _test(archive: Path, folder: Path, pytest_arguments: list[str]) -> None:
    print(f"testing {archive.name}", flush=True)
    venv.create(folder / "venv", with_pip=True)
    python = folder / "venv" / ("Scripts" if sys.platform == "win32" else "bin") / "python"
    _run(python, "-m", "pip", "install", "--quiet", f"voros[dev] @ {archive.as_uri()}")
    outside = _unpacked(folder)
    _run(python, "-c", f"import voros; assert '{ROOT}' not in voros.__file__", cwd=folder)
    _run(python, "-m", "pytest", "-n", "2", "tests", *pytest_arguments, cwd=outside)


def _unpacked(folder: Path) -> Path:
    source = next(DIST.glob("*.tar.gz"))
    with tarfile.open(source) as archive:
        archive.extractall(folder / "source", filter="data")
    tree = folder / "source" / source.name.removesuffix(".tar.gz")
    shutil.rmtree(tree / "src")
    return tree


def _run(*command: object, cwd: Path | None = None) -> None:
    subprocess.run([str(part) for part in command], check=True, cwd=cwd)


if __name__ == "__main__":
    main(sys.argv[1:] or ["-m", "not slow"])
