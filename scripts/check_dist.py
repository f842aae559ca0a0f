"""Build voros and its studies, install wheels and source archives apart, and test them there.

The tests come from the unpacked source archives, whose `src` is removed first: what runs is what
was installed. Arguments go to pytest.

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
    """Build, check and test the archives of both packages."""
    for old in _archives():
        old.unlink()
    for project in (ROOT, ROOT / "studies"):
        _run(sys.executable, "-m", "build", "--outdir", DIST, project)
    _run(sys.executable, "-m", "twine", "check", "--strict", *_archives())
    for kind in (".whl", ".tar.gz"):
        with tempfile.TemporaryDirectory() as folder:
            _test(kind, Path(folder), pytest_arguments)


def _test(kind: str, folder: Path, pytest_arguments: list[str]) -> None:
    voros, studies = _archive("voros", kind), _archive("voros_studies", kind)
    print(f"testing {voros.name} and {studies.name}", flush=True)
    venv.create(folder / "venv", with_pip=True)
    python = folder / "venv" / ("Scripts" if sys.platform == "win32" else "bin") / "python"
    wanted = f"voros[dev] @ {voros.as_uri()}", f"voros-studies[test] @ {studies.as_uri()}"
    _run(python, "-m", "pip", "install", "--quiet", *wanted)
    outside = folder / "source"
    _unpack(_archive("voros", ".tar.gz"), outside)
    _unpack(_archive("voros_studies", ".tar.gz"), outside / "studies")
    for package in ("voros", "voros_studies"):
        code = f"import {package}; assert '{ROOT}' not in {package}.__file__"
        _run(python, "-c", code, cwd=folder)
    folders = ("tests", "studies/tests")
    _run(python, "-m", "pytest", "-n", "2", *folders, *pytest_arguments, cwd=outside)


def _archives() -> list[Path]:
    return [*DIST.glob("*.whl"), *DIST.glob("*.tar.gz")]


def _archive(package: str, kind: str) -> Path:
    (found,) = DIST.glob(f"{package}-*{kind}")
    return found


def _unpack(source: Path, target: Path) -> None:
    """Unpack a source archive into a folder, without what was installed from it."""
    with tempfile.TemporaryDirectory() as folder, tarfile.open(source) as archive:
        archive.extractall(folder, filter="data")
        shutil.move(Path(folder, source.name.removesuffix(".tar.gz")), target)
    shutil.rmtree(target / "src")


def _run(*command: object, cwd: Path | None = None) -> None:
    subprocess.run([str(part) for part in command], check=True, cwd=cwd)


if __name__ == "__main__":
    main(sys.argv[1:] or ["-m", "not slow"])
