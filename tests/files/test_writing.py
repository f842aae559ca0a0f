"""Files appear whole or not at all."""

import os
import stat

import pytest

from voros.files import check_writable, write_together, write_whole


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_text_and_bytes(tmp_path):
    assert write_whole(tmp_path / "a.txt", "café\n").read_bytes() == "café\n".encode()
    assert write_whole(tmp_path / "b.bin", b"\x00\xff").read_bytes() == b"\x00\xff"
    assert names(tmp_path) == ["a.txt", "b.bin"]


def test_nothing_is_overwritten_unasked(tmp_path):
    path = write_whole(tmp_path / "a.txt", "first")
    with pytest.raises(FileExistsError, match=r"a\.txt exists already"):
        write_whole(path, "second")
    assert path.read_text() == "first"
    write_whole(path, "second", force=True)
    assert path.read_text() == "second"
    assert names(tmp_path) == ["a.txt"]


def test_of_several_files_none_is_written_when_one_cannot_be(tmp_path):
    (tmp_path / "b.json").write_text("mine")
    with pytest.raises(FileExistsError):
        write_together({tmp_path / "a.html": "page", tmp_path / "b.json": "{}"})
    assert names(tmp_path) == ["b.json"]
    assert (tmp_path / "b.json").read_text() == "mine"


def test_a_failure_half_way_leaves_nothing_behind(tmp_path, monkeypatch):
    def full_disk(_descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full_disk)
    with pytest.raises(OSError, match="No space left"):
        write_together({tmp_path / "a.html": "page", tmp_path / "b.json": "{}"})
    assert names(tmp_path) == []


def test_missing_folders_and_folders_are_told_beforehand(tmp_path):
    with pytest.raises(FileNotFoundError, match="no folder"):
        check_writable([tmp_path / "missing" / "a.txt"])
    with pytest.raises(IsADirectoryError, match="is a folder"):
        check_writable([tmp_path], force=True)


@pytest.mark.skipif(os.name != "posix", reason="permissions are POSIX's")
def test_permissions_are_those_of_any_new_file(tmp_path):
    (tmp_path / "plain").touch()
    written = write_whole(tmp_path / "whole", "x")
    expected = stat.S_IMODE((tmp_path / "plain").stat().st_mode)
    assert stat.S_IMODE(written.stat().st_mode) == expected
    written.chmod(0o600)
    write_whole(written, "y", force=True)
    assert stat.S_IMODE(written.stat().st_mode) == 0o600
