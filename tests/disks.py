"""A disk that fills up quickly, or that cannot be written to."""

import subprocess
from contextlib import contextmanager

import pytest


@contextmanager
def small_disk(folder, options):
    """Mount a file system in memory, which needs root."""
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)]
    try:
        mounted = subprocess.run(mount, capture_output=True, check=False)
    except FileNotFoundError:
        pytest.skip("there is no mount here")
    if mounted.returncode:
        pytest.skip("mounting a small disk needs root")
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)
