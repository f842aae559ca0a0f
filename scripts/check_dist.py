"""Build voros and its studies, install the wheels and test them; archives must install the same.

The tests come from the unpacked source archives, whose `src` is removed first: what runs is what
was installed. What the archives install is compared with that, byte by byte, so that the same tests
speak for both. Arguments go to pytest.

    python scripts/check_dist.py -m "not slow"
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tarfile
import tempfile
import venv
from collections import Counter
from pathlib import Path
from zipfile import ZipFile

ROOT = Path(__file__).parents[1]
DIST = ROOT / "dist"
PACKAGES = ("voros", "voros_studies")


def main(pytest_arguments: list[str]) -> None:
    """Build, check and test the archives of both packages."""
    for old in _archives():
        old.unlink()
    for project in (ROOT, ROOT / "studies"):
        _run(sys.executable, "-m", "build", "--outdir", DIST, project)
    _run(sys.executable, "-m", "twine", "check", "--strict", *_archives())
    for package in PACKAGES:
        _list(_archive(package, ".whl"))
    with tempfile.TemporaryDirectory() as folder:
        python = _test_wheels(Path(folder), pytest_arguments)
        _compare(python, Path(folder, "from archives"))


def _list(wheel: Path) -> None:
    """Print how many files of which kind a wheel has in each folder."""
    names = [Path(name) for name in ZipFile(wheel).namelist()]
    kinds = Counter((str(name.parent), name.suffix or name.name) for name in names)
    print(f"{wheel.name}: {len(names)} files")
    for (folder, kind), n_files in sorted(kinds.items()):
        print(f"{n_files:6} {kind:12} {folder}", flush=True)


def _test_wheels(folder: Path, pytest_arguments: list[str]) -> Path:
    """Install the wheels in an environment of their own, test them, and return its Python."""
    voros, studies = (_archive(package, ".whl") for package in PACKAGES)
    print(f"testing {voros.name} and {studies.name}", flush=True)
    venv.create(folder / "venv", with_pip=True)
    python = folder / "venv" / ("Scripts" if sys.platform == "win32" else "bin") / "python"
    wanted = f"voros[dev] @ {voros.as_uri()}", f"voros-studies[test] @ {studies.as_uri()}"
    _run(python, "-m", "pip", "install", "--quiet", *wanted)
    outside = folder / "source"
    _unpack(_archive("voros", ".tar.gz"), outside)
    _unpack(_archive("voros_studies", ".tar.gz"), outside / "studies")
    folders = ("tests", "studies/tests")
    _run(python, "-m", "pytest", "-n", "2", *folders, *pytest_arguments, cwd=outside)
    return python


def _compare(python: Path, target: Path) -> None:
    """Raise unless the source archives install what the wheels hold, byte by byte."""
    archives = [_archive(package, ".tar.gz") for package in PACKAGES]
    quietly = ("--quiet", "--no-deps", "--no-compile")
    _run(python, "-m", "pip", "install", *quietly, "--target", target, *archives)
    for package in PACKAGES:
        wheel = ZipFile(_archive(package, ".whl"))
        held = {
            name: wheel.read(name) for name in wheel.namelist() if name.startswith(f"{package}/")
        }
        files = (path for path in (target / package).rglob("*") if path.is_file())
        installed = {path.relative_to(target).as_posix(): path.read_bytes() for path in files}
        differing = {name for name in held | installed if held.get(name) != installed.get(name)}
        if differing:
            raise SystemExit(f"{package}: wheel and source archive differ in {sorted(differing)}")
        print(f"{package}: the source archive installs the {len(held)} files of the wheel")


def _archives() -> list[Path]:
    return [*DIST.glob("*.whl"), *DIST.glob("*.tar.gz")]


def _archive(package: str, kind: str) -> Path:
    (archive,) = DIST.glob(f"{package}-*{kind}")
    return archive


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
