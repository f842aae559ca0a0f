"""Odd values, odd names and odd places: one line each, and nothing that a terminal would obey."""

import csv
import io
import json
import os
import signal
import subprocess
import sys
import threading
import time

import pytest
from cli.cases import LIMITS, run_shell, write_cases
from disks import small_disk

COSTS = ("--cost-ratio", "1/9")


@pytest.fixture
def refused(voros_command):
    """Run a command that must fail at once, and return the one line it says."""

    def run(*arguments, **options):
        start = time.perf_counter()
        ran = voros_command(*arguments, **options)
        assert time.perf_counter() - start < 5
        assert ran.code == 2
        assert ran.out == ""
        (line,) = [line for line in ran.err.splitlines() if not line.startswith("voros: note:")]
        assert line.startswith("voros: error: ")
        assert "fault of voros" not in line
        assert len(line) < 600
        return line

    return run


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (("--capacity", "inf"), "--capacity='inf' is not a finite number"),
        (("--capacity", "nan"), "--capacity='nan' is not a finite number"),
        (("--capacity", "1e400%"), "--capacity='1e400%' is not a finite number"),
        (("--capacity", "1e5000000%"), "--capacity='1e5000000%' is not a finite number"),
        (("--capacity", "1e-5000000%"), "--capacity='1e-5000000%' is"),
        (("--capacity", "9" * 400), "is more cases than can be counted"),
        (("--capacity", "9" * 5_000), "(5002 characters) is more cases than can be counted"),
        (("--capacity", "-1"), "--capacity=-1; accepted is"),
        (("--min-precision", "1e400%"), "--min-precision='1e400%' is not a finite number"),
        (("--min-precision", "9" * 400), "is not a finite number"),
        (("--min-precision", f"1/{'9' * 400}"), "is too small to differ from 0"),
        (("--min-precision", "1e-400"), "is too small to differ from 0"),
        (("--min-precision", "sNaN"), "is not a number"),
        (("--prevalence", f"{'9' * 400}/1"), "is not a finite number"),
    ],
)
def test_numbers_beyond_all_bounds(refused, cases, options, complaint):
    assert complaint in refused("score", cases, *COSTS, *options)


@pytest.mark.parametrize("text", ["1e5000000", "1e-5000000", "1e400", "9" * 400, "inf", "1/0"])
@pytest.mark.parametrize("option", ["--cost-ratio", "--miss-costs"])
def test_costs_beyond_all_bounds(refused, cases, option, text):
    assert option in refused("score", cases, option, text)
    assert option in refused("score", cases, option, f"1:{text}")


@pytest.mark.parametrize(
    "field",
    [
        *("capacity = inf", "capacity = nan", f"capacity = {'9' * 400}", "capacity = true"),
        *(f"capacity = {'9' * 5000}", "min_precision = inf", "min_precision = 1e400"),
    ],
)
def test_the_same_in_a_scenario_file(refused, cases, tmp_path, field):
    (tmp_path / "limits.toml").write_text(f"[ward]\ncost_ratio = 0.1\n{field}\n")
    assert "accepted are" in (said := refused("score", cases, "--scenarios", "limits.toml")) or (
        "limits.toml is not TOML" in said
    )


@pytest.mark.parametrize(
    ("command", "complaint"),
    [
        (("compare", "--resamples", "1000000000000", *LIMITS), "at most 10,000,000"),
        (("compare", "--resamples", "1e12", *LIMITS), "'--resamples'"),
        (("compare", "--seed", "-1", *LIMITS), "'--seed'"),
        (("map", "--capacity", "0.1:0.5:1000000000", *COSTS), "a count of 2 to 1,000"),
        (("map", "--min-precision", f"0.1:0.5:{'9' * 400}", *COSTS), "a count of 2 to 1,000"),
        (("map", "--capacity", "1:inf:10", *COSTS), "not a finite number"),
        (("select", "--confidence", "0.9", "--horizon", "9" * 23, *LIMITS), "at most 1,000,000,0"),
        (("select", "--confidence", "nan", *LIMITS), "confidence='nan' is not a finite number"),
    ],
)
def test_sizes_beyond_all_bounds(refused, cases, command, complaint):
    name, *options = command
    assert complaint in refused(name, cases, *options)


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("score",), "Missing argument 'FILE'. See "),
        (("score", "cases.csv", "--bogus"), "No such option: --bogus"),
        (("nosuch",), "No such command 'nosuch'. See "),
        (("score", "--label"), "'--label' requires an argument"),
        (
            ("compare", "cases.csv", "--seed", "high"),
            "Invalid value for '--seed'",
        ),
        (("score", "cases.csv", "more", "words"), "unexpected extra argument"),
    ],
)
def test_usage_errors_are_one_line(refused, cases, words, complaint):
    assert complaint in refused(*words)


@pytest.fixture
def odd_names(tmp_path):
    """Cases whose models are called like a formula and like a command to the terminal."""
    path = tmp_path / "odd.csv"
    path.write_text("label,=1+2,\x1b[31mred\n" + "".join(f"{i % 2},{i},{i}\n" for i in range(9)))
    return path


WIDE = ("--capacity", "1", "--miss-costs", "5")


def test_control_characters_are_shown_and_not_sent(voros_command, odd_names):
    for command in (
        ("score", odd_names, *WIDE),
        ("score", odd_names, *WIDE, "--csv"),
        ("score", odd_names, *WIDE, "--json"),
        ("select", odd_names, *WIDE),
        ("compare", odd_names, *WIDE, "--resamples", "100"),
        ("score", odd_names, *WIDE, "--label", "\x1b[31m"),
        ("score", "\x1b]0;title\x07.csv", *WIDE),
    ):
        ran = voros_command(*command)
        assert "\x1b" not in ran.out + ran.err
        assert "x1b" in ran.out + ran.err or "u001b" in ran.out


def test_names_like_formulas_are_text_to_a_spreadsheet(voros_command, odd_names):
    ran = voros_command("score", odd_names, *WIDE, "--csv")
    rows = list(csv.DictReader(io.StringIO(ran.out)))
    assert {row["model"] for row in rows} == {"'=1+2", "\\x1b[31mred"}
    assert all(float(row["partial_voros"]) <= 1 for row in rows)


class TestStandardOutput:
    def test_a_policy(self, voros_command, cases):
        ran = voros_command("select", cases, "-o", "-", *LIMITS)
        assert json.loads(ran.out)["model"] == "good"
        assert "winner by partial VOROS" in ran.err

    @pytest.mark.slow
    def test_a_picture(self, cases, tmp_path):
        ran = subprocess.run(
            [sys.executable, "-m", "voros", "map", cases, "-o", "-", *COSTS],
            capture_output=True,
            check=True,
            cwd=tmp_path,
        )
        assert ran.stdout.startswith(b"\x89PNG")

    def test_a_page(self, voros_command, cases):
        assert voros_command("explore", cases, "-o", "-", *LIMITS).out.startswith("<!doctype html>")

    def test_alarms(self, voros_command, cases):
        voros_command("select", cases, "-o", "policy.json", *LIMITS)
        plain = voros_command("apply", "policy.json", cases)
        assert voros_command("apply", "policy.json", cases, "-o", "-").out == plain.out != ""

    def test_two_things_do_not_fit(self, refused, cases):
        for command in (("select",), ("map",)):
            limits = COSTS if command == ("map",) else LIMITS
            said = refused(*command, cases, "-o", "-", "--json", *limits)
            assert "both write to standard output" in said
        assert "a report is two files" in refused("report", cases, "-o", "-", *LIMITS)


def test_a_case_without_a_score_is_left_out_of_apply(voros_command, cases, tmp_path):
    voros_command("select", cases, "-o", "policy.json", *LIMITS)
    lines = ["name,good,fair", "a,9.5,1", "b,,2", "c,-9.5,3", "d,None,4", "e,8.5,"]
    (tmp_path / "new.csv").write_text("\n".join(lines) + "\n")
    ran = voros_command("apply", "policy.json", "new.csv")
    assert ran.code == 2
    assert "first in row 2; fix them, or leave those rows out with --drop-missing" in ran.err
    ran = voros_command("apply", "policy.json", "new.csv", "--drop-missing")
    assert ran.code == 0
    assert ran.out == "name,good,fair,alarm\na,9.5,1,1\nc,-9.5,3,0\ne,8.5,,1\n"
    assert "leaving out 2 of 5 rows with a missing value" in ran.err


posix = pytest.mark.skipif(os.name != "posix", reason="pipes are POSIX's")


@posix
@pytest.mark.parametrize("command", [("score",), ("compare", "--resamples", "100"), ("select",)])
def test_a_pipe_is_read_like_a_file(voros_command, cases, tmp_path, command):
    os.mkfifo(tmp_path / "pipe")
    feeding = threading.Thread(
        target=lambda: (tmp_path / "pipe").write_bytes(cases.read_bytes()), daemon=True
    )
    feeding.start()
    name, *options = command
    piped = voros_command(name, "pipe", *options, *LIMITS, "--csv")
    feeding.join(10)
    assert piped.code == 0
    assert piped.out == voros_command(name, cases, *options, *LIMITS, "--csv").out


@posix
@pytest.mark.parametrize("how", ["cat cases.csv | {} /dev/stdin", "{} <(cat cases.csv)", "{} -"])
@pytest.mark.slow
def test_every_way_to_feed_a_command(tmp_path, how):
    write_cases(tmp_path / "cases.csv")
    command = how.format(f"{sys.executable} -m voros score") + f" {' '.join(LIMITS)} --csv"
    ran = subprocess.run(
        ["bash", "-c", command + (" < cases.csv" if how.endswith("-") else "")],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        timeout=60,
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.startswith("model,partial_voros")


@posix
@pytest.mark.parametrize("path", ["/dev/zero", "/dev/null"])
def test_a_device_is_not_read(refused, path):
    assert "is a device or socket; name a file or a pipe" in refused("score", path, *LIMITS)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")  # noqa: PTH110
@pytest.mark.slow
def test_a_standard_output_that_is_full(tmp_path):
    write_cases(tmp_path / "cases.csv")
    ran = run_shell(f"voros score cases.csv {' '.join(LIMITS)} > /dev/full", tmp_path)
    assert ran.returncode == 2
    last = ran.stderr.splitlines()[-1]
    assert last == "voros: error: the output: No space left on device; free some space"


@posix
@pytest.mark.parametrize(
    ("command", "size"),
    [
        (("report", "-o", "disk/report.html", "--resamples", "100"), "64k"),
        (("explore", "-o", "disk/page.html"), "64k"),
    ],
)
@pytest.mark.slow
def test_a_full_disk_is_left_as_it_was(voros_command, cases, tmp_path, command, size):
    with small_disk(tmp_path / "disk", f"size={size}") as disk:
        ran = voros_command(*command, cases, *LIMITS)
        assert ran.code == 2
        (said,) = ran.errors
        assert "disk/" in said
        assert "cannot be written: No space left on device; free some space" in said
        assert list(disk.iterdir()) == []


@posix
def test_a_read_only_folder_is_told_before_the_work(voros_command, tmp_path):
    with small_disk(tmp_path / "disk", "ro,size=16k"):
        for command in (
            ("select", "nowhere.csv", "-o", "disk/policy.json"),
            ("explore", "nowhere.csv", "-o", "disk/page.html"),
            ("report", "nowhere.csv", "-o", "disk/report.html"),
        ):
            ran = voros_command(*command, *LIMITS)
            assert ran.code == 2
            (said,) = ran.errors
            assert f"{command[-1]} cannot be written: Read-only file system; choose another" in said


@posix
def test_a_monitor_on_a_read_only_disk_is_told_apart(voros_command, tmp_path):
    write_cases(tmp_path / "cases.csv", n_cases=200)
    assert voros_command("select", "cases.csv", *LIMITS, "-o", "policy.json").code == 0
    with small_disk(tmp_path / "disk", "size=1m"):
        assert voros_command("monitor", "disk/ward.voros", "--policy", "policy.json").code == 0
        subprocess.run(["mount", "-o", "remount,ro", str(tmp_path / "disk")], check=True)
        assert voros_command("monitor", "disk/ward.voros").code == 0
        for name, reason in (("ward", "it is read-only"), ("new", "Read-only file system")):
            new = ("--policy", "policy.json") if name == "new" else ("--now", "2026-05-01")
            ran = voros_command("monitor", f"disk/{name}.voros", *new)
            (said,) = ran.errors
            assert ran.code == 77
            assert f"disk/{name}.voros" in said
            assert reason in said


STARTED = "import os; from voros.cli import main; os.write(1, b'!'); main()"


@posix
@pytest.mark.slow
def test_ctrl_c_at_any_time_is_one_line(tmp_path):
    write_cases(tmp_path / "cases.csv", n_cases=20_000)
    arguments = ("compare", "cases.csv", "--resamples", "20000", *LIMITS)
    for attempt in range(15):
        running = subprocess.Popen(
            [sys.executable, "-c", STARTED, *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=tmp_path,
        )
        assert running.stdout.read(1) == b"!"
        time.sleep(0.05 + 0.08 * attempt)
        running.send_signal(signal.SIGINT)
        _, said = running.communicate(timeout=60)
        assert running.returncode == 130, said
        lines = [line for line in said.decode().splitlines() if "note:" not in line]
        assert lines == ["voros: interrupted"]
    print("15 interrupts")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["cases.csv"]
