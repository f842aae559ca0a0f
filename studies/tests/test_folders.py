"""A folder is checked before the work, and none is left behind after an error."""

import os

import pytest
from disks import small_disk

from voros.io import write_together
from voros_studies.folders import check_folder, folder_for

posix = pytest.mark.skipif(os.name != "posix", reason="mounts are POSIX's")


@posix
def test_a_full_disk_keeps_no_folder(tmp_path):
    with small_disk(tmp_path / "disk", "size=64k") as disk:
        with (
            pytest.raises(OSError, match="No space left"),
            folder_for(disk / "new" / "deep") as folder,
        ):
            write_together({folder / "a.csv": b"x", folder / "b.csv": b"x" * 10**6})
        assert list(disk.iterdir()) == []


@posix
def test_a_disk_that_cannot_be_written_is_told_beforehand(tmp_path):
    with (
        small_disk(tmp_path / "disk", "ro,size=64k") as disk,
        pytest.raises(OSError, match=r"cannot be written: Read-only.*another folder"),
    ):
        check_folder(disk / "new" / "folder")


def test_a_folder_that_is_a_file(tmp_path):
    (tmp_path / "taken").touch()
    with pytest.raises(FileExistsError, match="is a file; name a folder"):
        check_folder(tmp_path / "taken")
    with pytest.raises(FileExistsError, match="is a file"), folder_for(tmp_path / "taken" / "deep"):
        pass
