"""Files appear whole or not at all, and only where a file can be."""

import errno
import os
import socket
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from disks import small_disk

from voros.io import check_writable, write_together, write_whole

posix = pytest.mark.skipif(os.name != "posix", reason="pipes and permissions are POSIX's")


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
    with pytest.raises(OSError, match="No space left") as caught:
        write_together({tmp_path / "a.html": "page", tmp_path / "b.json": "{}"})
    assert caught.value.errno == errno.ENOSPC
    assert names(tmp_path) == []


def test_missing_folders_and_folders_are_told_beforehand(tmp_path):
    with pytest.raises(FileNotFoundError, match="no folder"):
        check_writable([tmp_path / "missing" / "a.txt"])
    with pytest.raises(IsADirectoryError, match="is a folder"):
        check_writable([tmp_path], force=True)


def test_a_name_as_long_as_the_system_allows(tmp_path):
    name = "n" * 251 + ".txt"
    assert write_whole(tmp_path / name, "x").read_text() == "x"


@posix
def test_permissions_are_those_of_any_new_file(tmp_path):
    (tmp_path / "plain").touch()
    written = write_whole(tmp_path / "whole", "x")
    expected = stat.S_IMODE((tmp_path / "plain").stat().st_mode)
    assert stat.S_IMODE(written.stat().st_mode) == expected
    written.chmod(0o600)
    write_whole(written, "y", force=True)
    assert stat.S_IMODE(written.stat().st_mode) == 0o600


@posix
@pytest.mark.parametrize("force", [False, True])
class TestWhatIsNoFile:
    def test_a_pipe_stays_a_pipe(self, tmp_path, force):
        os.mkfifo(tmp_path / "pipe.csv")
        with pytest.raises(FileExistsError, match=r"pipe\.csv is a pipe, not a file"):
            write_whole(tmp_path / "pipe.csv", "x", force=force)
        assert (tmp_path / "pipe.csv").is_fifo()

    def test_a_socket_stays_a_socket(self, tmp_path, monkeypatch, force):
        monkeypatch.chdir(tmp_path)  # the name of a socket must be short
        with socket.socket(socket.AF_UNIX) as server:
            server.bind("s.csv")
            with pytest.raises(FileExistsError, match="is a socket"):
                write_whole("s.csv", "x", force=force)
            assert Path("s.csv").is_socket()

    def test_a_device_stays_a_device(self, force):
        with pytest.raises(FileExistsError, match="is a device"):
            check_writable(["/dev/null"], force=force)
        with pytest.raises(FileExistsError, match="is a device"):
            write_whole("/dev/null", "x", force=force)
        assert Path("/dev/null").is_char_device()

    def test_a_link_to_itself(self, tmp_path, force):
        (tmp_path / "loop").symlink_to("loop")
        with pytest.raises(FileExistsError, match="leads to itself"):
            write_whole(tmp_path / "loop", "x", force=force)
        assert (tmp_path / "loop").is_symlink()


@posix
def test_a_symbolic_link_is_followed_and_stays_a_link(tmp_path):
    (tmp_path / "store").mkdir()
    target, link = tmp_path / "store" / "real.txt", tmp_path / "link.txt"
    target.write_text("old")
    link.symlink_to(target)
    with pytest.raises(FileExistsError, match=r"link\.txt exists already"):
        write_whole(link, "new")
    write_whole(link, "new", force=True)
    assert link.is_symlink()
    assert target.read_text() == "new"
    target.unlink()
    write_whole(link, "newer")
    assert link.is_symlink()
    assert target.read_text() == "newer"


@posix
def test_a_read_only_file_is_left_alone(tmp_path):
    path = write_whole(tmp_path / "a.txt", "old")
    path.chmod(0o444)
    with pytest.raises(PermissionError, match="read-only"):
        check_writable([path], force=True)
    with pytest.raises(PermissionError, match="read-only"):
        write_whole(path, "x", force=True)
    assert path.read_text() == "old"


WRITER = """
import sys, time
from voros.io import write_whole
path, mine, start = sys.argv[1], sys.argv[2], float(sys.argv[3])
for race in range(60):
    time.sleep(max(0.0, start + race * 0.02 - time.time()))
    try:
        write_whole(f"{path}/{race}.txt", mine * 100_000)
        print(race)
    except FileExistsError:
        pass
"""


@pytest.mark.slow
def test_of_two_writers_one_succeeds_in_every_of_sixty_races(tmp_path):
    import time

    start = str(time.time() + 2.0)
    command = [sys.executable, "-c", WRITER, str(tmp_path)]
    writers = {
        mine: subprocess.Popen([*command, mine, start], stdout=subprocess.PIPE, text=True)
        for mine in "ab"
    }
    won = {
        mine: set(map(int, writer.communicate(timeout=60)[0].split()))
        for mine, writer in writers.items()
    }
    assert won["a"] | won["b"] == set(range(60))
    assert not won["a"] & won["b"]
    for mine, races in won.items():
        for race in races:
            assert (tmp_path / f"{race}.txt").read_text() == mine * 100_000
    assert len(names(tmp_path)) == 60


def test_without_hard_links_creation_is_exclusive_too(tmp_path, monkeypatch):
    def no_links(*_):
        raise OSError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", no_links)
    path = write_whole(tmp_path / "a.txt", "first")
    assert path.read_text() == "first"
    # The file appears after the first look, as another writer's would.
    monkeypatch.setattr("voros.io.writing._check_target", lambda *_: None)
    with pytest.raises(FileExistsError, match="exists already"):
        write_whole(path, "second")
    assert path.read_text() == "first"
    assert names(tmp_path) == ["a.txt"]


@posix
def test_a_full_disk(tmp_path):
    with small_disk(tmp_path / "disk", "size=64k") as disk:
        write_whole(disk / "mine.txt", "mine")
        for files in ({"a.html": b"x" * 10**6}, {"a.html": b"x", "b.json": b"x" * 10**6}):
            with pytest.raises(OSError, match=r"cannot be written: No space left.*free some space"):
                write_together({disk / name: data for name, data in files.items()})
        with pytest.raises(OSError, match="No space left"):
            write_whole(disk / "mine.txt", "y" * 10**6, force=True)
        assert names(disk) == ["mine.txt"]
        assert (disk / "mine.txt").read_text() == "mine"


@posix
def test_a_disk_that_cannot_be_written_is_told_beforehand(tmp_path):
    with (
        small_disk(tmp_path / "disk", "ro,size=64k") as disk,
        pytest.raises(OSError, match=r"a\.txt cannot be written: Read-only.*another folder"),
    ):
        check_writable([disk / "a.txt"])


@posix
@pytest.mark.skipif(os.name == "posix" and os.geteuid() != 0, reason="another user needs root")
def test_a_folder_of_another_user_is_told_beforehand(tmp_path):
    folder = tmp_path / "theirs"
    folder.mkdir(mode=0o755)
    code = "import os, sys; os.chdir(sys.argv[1]); from voros.io import check_writable; "
    code += "os.setuid(65534); check_writable(['a.txt'])"
    ran = subprocess.run(
        [sys.executable, "-c", code, str(folder)], capture_output=True, text=True, check=False
    )
    last = ran.stderr.splitlines()[-1]
    assert "PermissionError: a.txt cannot be written: Permission denied; choose a folder" in last
    assert names(folder) == []
