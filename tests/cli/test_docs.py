"""Every command in the documentation runs, and prints what the page says it prints."""

import re
import shlex
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("matplotlib", reason="the walk-through draws")

import pyarrow as pa
from cli.cases import write_cases
from pyarrow import csv, parquet

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
COMMAND = re.compile(r"^(?:\$ )?voros (.*)$")

RUN_ELSEWHERE = {
    "experiment": "studies/tests, with quicker options and data made up; each takes minutes",
}
"""Commands of the pages that do not run here, by how they begin, and where they do."""


def commands(block):
    """Split a console block into commands, each with the lines it is said to print."""
    examples = []
    for line in block.replace("\\\n", " ").splitlines():
        command = COMMAND.match(line)
        if command and not command[1].startswith(tuple(RUN_ELSEWHERE)):
            examples.append((shlex.split(command[1], comments=True), []))
        elif examples and line.strip():
            examples[-1][1].append(line.strip())
    return examples


def _make_way(arguments, folder):
    """Remove what a command of the same page has written under the same name."""
    for before, name in pairwise(arguments):
        if before == "-o":
            (folder / name).unlink(missing_ok=True)


def run_page(name, voros_command, folder):
    for kind, block in BLOCK.findall((DOCS / name).read_text(encoding="utf-8")):
        if kind == "python":
            exec(compile(block, name, "exec"), {})
        if kind == "toml":
            file = re.match(r"# (\S+\.toml)\n", block)
            (folder / (file[1] if file else "limits.toml")).write_text(block)
        if kind == "console":
            for arguments, printed in commands(block):
                _make_way(arguments, folder)
                ran = voros_command(*arguments)
                assert ran.code == 0, ran.err
                lines = {line.strip() for line in (ran.out + ran.err).splitlines()}
                assert [line for line in printed if line not in lines] == []


@pytest.mark.slow
def test_the_walk_through(voros_command, tmp_path):
    run_page("walk-through.md", voros_command, tmp_path)
    written = {path.name for path in tmp_path.iterdir()}
    assert written >= {"page.html", "policy.json", "safe.json", "alarms.csv", "report.html"}


def test_the_reference(voros_command, tmp_path):
    write_cases(tmp_path / "cases.csv")
    write_cases(tmp_path / "wide.csv")
    text = (tmp_path / "wide.csv").read_text().replace("good,fair", "sofa,news2")
    (tmp_path / "wide.csv").write_text(text)
    rng = np.random.default_rng(0)
    long = {
        "stay": [*range(50), *range(50)],
        "died": [i % 2 for i in range(50)] * 2,
        "who": ["a"] * 50 + ["b"] * 50,
        "risk": rng.random(100),
    }
    parquet.write_table(pa.table(long), tmp_path / "long.parquet")
    run_page("command-line.md", voros_command, tmp_path)


def test_several_hospitals(voros_command, tmp_path):
    pytest.importorskip("pandas", reason="the page makes its files with pandas")
    run_page("sites.md", voros_command, tmp_path)
    assert (tmp_path / "policy.json").exists()


def make_files(name="walk-through.md"):
    """Run the blocks of Python of a page, which write the files that its commands read."""
    names = {}
    for kind, block in BLOCK.findall((DOCS / name).read_text(encoding="utf-8")):
        if kind == "python":
            exec(compile(block, name, "exec"), names)
    return names


def write_days(path, first, n_days, label=True, seed=0):
    """Write stays with a time, a risk and, where it is known, the outcome."""
    rng = np.random.default_rng(seed)
    n = 20 * n_days
    died = rng.random(n) < 0.2
    risk = np.round(rng.normal(size=n) + 2 * died, 6)
    admitted = np.datetime64(first, "s") + np.sort(rng.integers(0, 86_400 * n_days, n))
    known = (admitted + np.timedelta64(2, "D")).astype(str)
    columns = {"stay": [f"{seed}-{i}" for i in range(n)], "admitted": admitted.astype(str)}
    columns |= {"died": died.astype(int), "known": known} if label else {}
    columns |= {"risk": risk}
    rows = zip(*columns.values(), strict=True)
    path.write_text("\n".join(",".join(map(str, row)) for row in [tuple(columns), *rows]) + "\n")


def test_the_first_page(voros_command, tmp_path):
    make_files()
    run_page("../README.md", voros_command, tmp_path)
    run_page("install.md", voros_command, tmp_path)
    assert (tmp_path / "page.html").exists()


def test_pages_for_a_browser(voros_command, tmp_path):
    make_files()
    (tmp_path / "predictions.csv").write_text((tmp_path / "valid.csv").read_text())
    commands_only("explorer.md", voros_command, tmp_path)
    assert (tmp_path / "voros.html").exists()


def commands_only(name, voros_command, folder):
    """Run the commands of a page whose Python needs no files of it."""
    for kind, block in BLOCK.findall((DOCS / name).read_text(encoding="utf-8")):
        for arguments, _ in commands(block) if kind == "console" else ():
            _make_way(arguments, folder)
            ran = voros_command(*arguments)
            assert ran.code == 0, (arguments, ran.err)


def test_a_review_before_the_alarm(voros_command, tmp_path):
    write_days(tmp_path / "cases.csv", "2026-01-01", 60)
    write_days(tmp_path / "new.csv", "2026-03-02", 5, label=False, seed=1)
    commands_only("selecting.md", voros_command, tmp_path)
    assert (tmp_path / "band.json").exists()


def test_alarms_per_day(voros_command, tmp_path):
    for number, name in enumerate(("cases", "later", "today", "new")):
        write_days(tmp_path / f"{name}.csv", f"2026-0{number + 1}-01", 20, number < 2, number)
    commands_only("periods.md", voros_command, tmp_path)
    assert (tmp_path / "listed.csv").exists()


@pytest.mark.slow
def test_alarms_over_stays(voros_command, tmp_path):
    for name, events, seed in (("hours", "events", 0), ("later", "later-events", 1)):
        write_hours(tmp_path / f"{name}.csv", tmp_path / f"{events}.csv", seed)
    (tmp_path / "now.csv").write_text("stay,hour,risk\n7,0,9.5\n8,0,0.1\n")
    commands_only("stays.md", voros_command, tmp_path)
    assert (tmp_path / "now-alarms.csv").read_text().splitlines()[1:] == ["7,0,9.5,1", "8,0,0.1,0"]


def write_hours(path, events, seed, n_stays=400, n_hours=40):
    """Write hourly scores of stays that rise before an event, and the events."""
    rng = np.random.default_rng(seed)
    stay, hour = np.repeat(np.arange(n_stays), n_hours), np.tile(np.arange(n_hours), n_stays)
    onset = np.where(np.arange(n_stays) % 8 == 0, rng.integers(15, n_hours, n_stays), 1000)
    rises = (onset[stay] - hour <= 12) & (hour <= onset[stay])
    risk = np.round(rng.normal(size=len(stay)) + 4 * rises, 4)
    rows = zip(stay, hour, risk, strict=True)
    path.write_text("\n".join(["stay,hour,risk", *(f"{s},{h},{r}" for s, h, r in rows), ""]))
    ill = np.flatnonzero(onset < 1000)
    events.write_text("\n".join(["stay,hour", *(f"{s},{onset[s]}" for s in ill), ""]))


def test_combinations_and_published_curves(voros_command, tmp_path):
    for seed, name in enumerate(("valid", "new")):
        rng = np.random.default_rng(seed)
        a, b = rng.normal(size=(2, 1000))
        died = a + b + rng.logistic(size=1000) > 2.5
        rows = (f"{y:d},{x:.6f},{z:.6f}" for y, x, z in zip(died, a, b, strict=True))
        (tmp_path / f"{name}.csv").write_text("\n".join(["died,a,b", *rows, ""]))
    commands_only("howto/combining.md", voros_command, tmp_path)
    points = ["vendor,0.03,0.36", "vendor,0.12,0.69", "ours,0.04,0.47", "ours,0.1,0.64"]
    (tmp_path / "curves.csv").write_text("\n".join(["model,fpr,tpr", *points, ""]))
    commands_only("howto/published-curve.md", voros_command, tmp_path)
    assert (tmp_path / "who-wins.png").read_bytes().startswith(b"\x89PNG")


def test_cases_of_different_worth(voros_command, tmp_path):
    for seed, name in enumerate(("valid", "test")):
        rng = np.random.default_rng(seed)
        risk, amount = rng.beta(0.6, 5.0, 1000), rng.lognormal(3.5, 1.0, 1000)
        columns = (rng.random(1000) < risk, risk, amount)
        rows = (f"{y:d},{r:.6f},{a:.2f}" for y, r, a in zip(*columns, strict=True))
        (tmp_path / f"{name}.csv").write_text("\n".join(["fraud,risk,amount", *rows, ""]))
    commands_only("howto/worth-per-case.md", voros_command, tmp_path)
    assert (tmp_path / "policy.json").exists()


@pytest.mark.slow
def test_a_monitor(voros_command, tmp_path):
    write_days(tmp_path / "valid.csv", "2026-01-01", 40)
    write_days(tmp_path / "labels.csv", "2026-03-01", 60, seed=1)
    write_days(tmp_path / "today.csv", "2026-03-01", 60, seed=1)
    (tmp_path / "wrong.csv").write_text("stay\n1-7\n")
    (tmp_path / "right.csv").write_text("stay,admitted\n1-8,2026-03-02T09:00\n")
    limits = ("--min-precision", "0.5", "--capacity", "0.3", "--miss-costs", "5:10")
    chosen = voros_command("select", "valid.csv", *limits, "--score", "risk", "-o", "policy.json")
    assert chosen.code == 0, chosen.err
    commands_only("monitoring.md", voros_command, tmp_path)


@pytest.mark.slow
def test_files_too_large_for_memory(voros_command, tmp_path):
    pytest.importorskip("duckdb")
    rng = np.random.default_rng(0)
    (tmp_path / "days").mkdir()
    for name in ("cards", "days/day-1", "days/day-2"):
        risk = rng.random(20_000)
        table = pa.table({"fraud": rng.random(20_000) < risk**4, "risk": risk})
        parquet.write_table(table, tmp_path / f"{name}.parquet")
    commands_only("scale.md", voros_command, tmp_path)


@pytest.mark.slow
def test_a_report(voros_command, tmp_path):
    names = make_files()
    cases = names["cases"].append_column("sex", pa.array(names["patients"].features["sex"]))
    for name, rows in (("valid", names["half"]), ("test", ~names["half"])):
        csv.write_csv(cases.filter(rows), tmp_path / f"{name}.csv")
    commands_only("reports.md", voros_command, tmp_path)
    assert (tmp_path / "report.json").exists()


def test_every_command_of_the_documentation_is_run():
    pages = {"command-line", "explorer", "monitoring", "periods", "scale", "sites"}
    pages |= {"walk-through", "README", "reports", "stays", "install"}
    pages |= {"combining", "published-curve", "selecting", "worth-per-case"}
    pages |= {"paper"}  # studies/tests/test_paper_command.py
    pages |= {"experiments"}  # studies/tests/experiments/test_table.py
    with_commands = {
        page.stem
        for page in [ROOT / "README.md", *DOCS.rglob("*.md")]
        if "_build" not in page.parts
        for kind, block in BLOCK.findall(page.read_text(encoding="utf-8"))
        if kind == "console" and commands(block)
    }
    assert with_commands == pages
