"""The 2012 challenge: its layout is read to the same features as a second computation in Python."""

from __future__ import annotations

import bz2
import csv
import gzip
import lzma
import os
import re
import statistics
import tarfile
import zipfile

import numpy as np
import pytest

from voros_studies.experiments.cases import split_around_test
from voros_studies.experiments.errors import ExperimentError
from voros_studies.hospital.physionet2012 import (
    PAPER_CHANNELS,
    PLAUSIBLE,
    challenge_cases,
    read_challenge,
)

CHALLENGE = os.environ.get("VOROS_PHYSIONET2012")
genuine = pytest.mark.skipif(CHALLENGE is None, reason="VOROS_PHYSIONET2012 names no data")

FIRST_RECORD = {"a": 132_539, "b": 142_675, "c": 152_871}


def write_set(folder, name, n_stays, rng):
    """Write a made-up set in the challenge's layout, with slips, repeated rows and gaps."""
    place = folder / f"set-{name}"
    place.mkdir(parents=True)
    outcomes = ["RecordID,SAPS-I,SOFA,Length_of_stay,Survival,In-hospital_death"]
    for record in range(FIRST_RECORD[name], FIRST_RECORD[name] + n_stays):
        severity = rng.normal()
        died = int(rng.random() < 1 / (1 + np.exp(1 - 2 * severity)))
        (place / f"{record}.txt").write_text("\n".join(stay_lines(record, severity, rng)) + "\n")
        saps = -1 if rng.random() < 0.05 else int(np.clip(14 + 4 * severity, 0, 34))
        outcomes.append(f"{record},{saps},{int(np.clip(6 + 2 * severity, 0, 20))},9,-1,{died}")
    (folder / f"Outcomes-{name}.txt").write_text("\n".join(outcomes) + "\n")


def stay_lines(record, severity, rng):
    known = {"RecordID": record, "Age": 60 + record % 30, "Gender": record % 3 - 1}
    known |= {"Height": -1 if record % 2 else 170.2, "ICUType": 1 + record % 4}
    lines = ["Time,Parameter,Value", *(f"00:00,{name},{value}" for name, value in known.items())]
    lines.append(f"00:00,Weight,{-1 if record % 5 == 0 else 80.5}")
    unmeasured = 0.9 if record % 10 == 3 else 0.2
    for parameter, (low, high) in PLAUSIBLE.items():
        if rng.random() < unmeasured:
            continue
        center = low + (0.3 + 0.05 * severity) * (high - low)
        for minute in sorted(rng.integers(0, 48 * 60 + 1, size=rng.integers(1, 9))):
            value = round(float(rng.normal(center, 0.05 * (high - low))), 2)
            value = -9.0 if rng.random() < 0.03 else value
            line = f"{minute // 60:02d}:{minute % 60:02d},{parameter},{value}"
            lines += [line] * (1 + int(rng.random() < 0.05))
    return lines


@pytest.fixture(scope="module")
def made_up(tmp_path_factory):
    folder = tmp_path_factory.mktemp("challenge")
    rng = np.random.default_rng(7)
    for name in "abc":
        write_set(folder, name, 40, rng)
    return folder


def readings(path, parameters):
    """Mean plausible reading of one file per 2 hours, computed with the standard library only."""
    with path.open(newline="") as text:
        rows = {tuple(row.values()) for row in csv.DictReader(text)}
    by_bucket = {}
    for at, parameter, value in sorted(rows):
        hours = int(at[:2]) + int(at[3:]) / 60
        if parameter in parameters and hours < 48:
            low, high = PLAUSIBLE[parameter]
            if low <= float(value) <= high:
                by_bucket.setdefault(int(hours // 2), []).append(float(value))
    return {bucket: statistics.fmean(values) for bucket, values in by_bucket.items()}


def plain_features(path, name, parameters):
    buckets = readings(path, parameters)
    features = {}
    for window, start in (("0-48h", 0), ("24-48h", 12), ("32-48h", 16)):
        held = {b: v for b, v in sorted(buckets.items()) if b >= start}
        values, nan = list(held.values()), float("nan")
        slope = nan
        if len(values) > 1:
            slope = statistics.linear_regression([2.0 * b for b in held], values).slope
        summaries = {
            "ever measured": float(bool(values)),
            "time since last": 2.0 * (23 - max(held)) if held else nan,
            "mean": statistics.fmean(values) if values else nan,
            "variance": statistics.pvariance(values) if values else nan,
            "min": min(values, default=nan),
            "median": statistics.median(values) if values else nan,
            "max": max(values, default=nan),
            "slope": slope,
        }
        features |= {f"{name} {key} {window}": value for key, value in summaries.items()}
    return features


def check_against_files(folder, cases, channels, positions):
    column = {name: i for i, name in enumerate(cases.feature_names)}
    for row in positions:
        (path,) = folder.glob(f"set-*/{cases.patient[row]}.txt")
        for name, parameters in channels.items():
            for feature, value in plain_features(path, name, parameters).items():
                assert cases.X[row, column[feature]] == pytest.approx(
                    value, rel=1e-9, abs=1e-9, nan_ok=True
                ), (path, feature)


def test_every_feature_against_the_files(made_up):
    stays = read_challenge(made_up)
    assert len(stays) == 120
    cases, studied = challenge_cases(stays)
    assert len(cases.feature_names) == 12 * 24 + 4
    check_against_files(made_up, cases, PAPER_CHANNELS, range(0, len(cases), 9))
    column = cases.feature_names.index
    assert cases.X[:, column("age")].tolist() == (60 + cases.patient % 30).tolist()
    assert cases.X[:, column("gender=M")].tolist() == (cases.patient % 3 == 2).tolist()
    assert cases.X[:, column("gender=F")].tolist() == (cases.patient % 3 == 1).tolist()
    recent = [
        sum(
            any(bucket >= 16 for bucket in readings(made_up / f"set-{s}/{record}.txt", members))
            for members in PAPER_CHANNELS.values()
        )
        for s, record in zip(stays.set_name, stays.record, strict=True)
    ]
    assert studied.tolist() == [count >= 3 for count in recent]
    assert 0 < sum(~studied) < 20


def test_archives_read_to_the_same_numbers(made_up, tmp_path):
    with tarfile.open(tmp_path / "all.tar.xz", "w:xz") as archive:
        for inner in made_up.iterdir():
            archive.add(inner, inner.name)
    apart = tmp_path / "apart"
    apart.mkdir()
    for name in "abc":
        with zipfile.ZipFile(apart / f"set-{name}.zip", "w") as packed:
            for path in (made_up / f"set-{name}").iterdir():
                packed.write(path, f"set-{name}/{path.name}")
        (apart / f"Outcomes-{name}.txt").write_bytes(
            (made_up / f"Outcomes-{name}.txt").read_bytes()
        )
    expected = challenge_cases(read_challenge(made_up))[0].fingerprint
    for data in (tmp_path / "all.tar.xz", apart):
        assert challenge_cases(read_challenge(data))[0].fingerprint == expected


def test_a_set_can_be_kept_for_testing(made_up):
    stays = read_challenge(made_up)
    cases, studied = challenge_cases(stays)
    is_c = stays.set_name[studied] == "c"
    split = split_around_test(cases, is_c, 3)
    assert split.test.tolist() == np.flatnonzero(is_c).tolist()
    assert sorted([*split.train, *split.valid, *split.test]) == list(range(len(cases)))
    assert len(split.train) == pytest.approx(2 * len(split.valid), abs=2)
    assert cases.y[split.train].mean() == pytest.approx(cases.y[split.valid].mean(), abs=0.05)
    cases.patient[split.train[0]] = cases.patient[split.test[0]]
    with pytest.raises(ExperimentError, match="have cases in the test set and elsewhere"):
        split_around_test(cases, is_c)


def damaged(made_up, tmp_path, change):
    """A copy of set a with one thing wrong."""
    folder = tmp_path / "damaged"
    (folder / "set-a").mkdir(parents=True)
    for path in [*(made_up / "set-a").iterdir(), made_up / "Outcomes-a.txt"]:
        target = folder / path.relative_to(made_up)
        target.write_bytes(path.read_bytes())
    change(folder)
    return folder


def edit(name, old, new, count=1):
    def change(folder):
        path = folder / name
        path.write_text(re.sub(old, new, path.read_text(), count=count))

    return change


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (edit("Outcomes-a.txt", "SAPS-I", "SAPS"), "no column SAPS-I"),
        (lambda folder: (folder / "Outcomes-a.txt").unlink(), "there is no set a"),
        (
            edit("Outcomes-a.txt", r"(13254[123],.*),\d\n", r"\1,dead\n", 3),
            r"3 of 40 stays without a readable row in Outcomes-a\.txt, 132541 the first, and at "
            r"most 5 % may be left out\. Download",
        ),
        (
            lambda folder: [path.unlink() for path in folder.glob("set-a/13254*")],
            "10 of 40 stays without a readable file in set-a, 132540 the first, and at most 5 %",
        ),
        (
            lambda folder: [
                edit(f"set-a/{path.name}", r"\d\d:\d\d,(?!Record)", "?,", 99)(folder)
                for path in folder.glob("set-a/*")
            ],
            "rows cannot be read, and at most 5 % may be left out",
        ),
    ],
)
def test_what_is_wrong_is_named(made_up, tmp_path, change, said):
    with pytest.raises(ExperimentError, match=said):
        read_challenge(damaged(made_up, tmp_path, change))


OUTCOME, FILE = "readable row in Outcomes-a.txt", "readable file in set-a"


@pytest.mark.parametrize(
    ("change", "lacking", "records"),
    [
        (edit("Outcomes-a.txt", "132541", "nan"), OUTCOME, {132541}),
        (edit("Outcomes-a.txt", "132541", "132541.5"), OUTCOME, {132541}),
        (edit("Outcomes-a.txt", "132541,.*\n", ""), OUTCOME, {132541}),
        (edit("Outcomes-a.txt", "132541,.*\n", "132541,torn\n"), OUTCOME, {132541}),
        (edit("Outcomes-a.txt", r"(132541,.*),\d\n", r"\1,dead\n"), OUTCOME, {132541}),
        (edit("Outcomes-a.txt", r"(132541,.*),\d\n", r"\1,2\n"), OUTCOME, {132541}),
        (edit("Outcomes-a.txt", r"(132541,.*),\d\n", r"\1,0\n\1,1\n"), OUTCOME, {132541}),
        # 132540 then has two outcomes, and 132541 none.
        (edit("Outcomes-a.txt", "132541", "132540"), OUTCOME, {132540, 132541}),
        (edit("Outcomes-a.txt", "(132541,.*\n)", r"\1\1"), OUTCOME, set()),
        (edit("set-a/132541.txt", "RecordID,132541", "RecordID,132540"), FILE, {132541}),
        (edit("set-a/132541.txt", "Time,Parameter", "Time,Param"), FILE, {132541}),
        (lambda folder: (folder / "set-a/132541.txt").unlink(), FILE, {132541}),
    ],
)
def test_stays_that_cannot_be_read_are_counted(made_up, tmp_path, change, lacking, records):
    stays = read_challenge(damaged(made_up, tmp_path, change))
    as_written = read_challenge(made_up, "a")
    kept = ~np.isin(as_written.record, list(records))
    assert stays.record.tolist() == as_written.record[kept].tolist()
    for name, column in as_written.outcomes.items():
        np.testing.assert_array_equal(stays.outcomes[name], column[kept])
    for name in PLAUSIBLE:
        np.testing.assert_array_equal(stays.buckets(name), as_written.buckets(name)[kept])
    said = [f"left out: {len(records)} stays without a {lacking}"] if records else []
    assert stays.notes[2:] == said


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ("10:45,,1.9\n10:45,,1.9\n10:45,,2.9\n", "3 rows without the name of a parameter"),
        ("10:45,HR,\n-3:00,HR,80\n03:60,HR,80\n10:45,80\n", "4 rows without a time, a name"),
    ],
)
def test_rows_that_deviate_are_counted(made_up, tmp_path, rows, said):
    """As in the genuine set c, `10:45,,1.9`: 2,403 rows of it."""
    change = edit("set-a/132541.txt", "(00:00,Age.*\n)", rf"\g<1>{rows}")
    stays = read_challenge(damaged(made_up, tmp_path, change))
    as_written = read_challenge(made_up, "a")
    assert not as_written.left_out
    assert f"left out: {said}" in stays.notes[-1]
    for name in PLAUSIBLE:
        np.testing.assert_array_equal(stays.buckets(name), as_written.buckets(name))


def test_a_set_that_is_not_asked_for_is_not_read(made_up, tmp_path):
    folder = damaged(made_up, tmp_path, lambda folder: (folder / "set-b").mkdir())
    (folder / "set-b" / "1.txt").write_text("not a stay")
    (folder / "set-c.zip").write_text("not an archive")
    (folder / "Outcomes-b.txt").write_text("not an outcome")
    assert len(read_challenge(folder, "a")) == 40
    with tarfile.open(tmp_path / "all.tar", "w") as archive:
        for inner in ("set-b", "set-a", "Outcomes-b.txt", "Outcomes-a.txt"):
            archive.add(folder / inner, inner)
    assert len(read_challenge(tmp_path / "all.tar", "a")) == 40
    with pytest.raises(ExperimentError, match=r"Outcomes-b\.txt: the table has no column"):
        read_challenge(tmp_path / "all.tar", "ab")


@pytest.fixture
def packed(made_up, tmp_path):
    """Set a as a tar archive, whose members are padded to blocks of 512 bytes."""

    def undated(member):
        member.mtime = 0
        return member

    path = tmp_path / "set.tar"
    with tarfile.open(path, "w") as archive:
        for name in ("Outcomes-a.txt", "set-a"):
            archive.add(made_up / name, name, filter=undated)
    return path


def test_a_damaged_header_does_not_end_a_tar_archive(packed):
    with tarfile.open(packed) as archive:
        middle = archive.getmembers()[20].offset
    data = bytearray(packed.read_bytes())
    data[middle] ^= 1
    packed.write_bytes(data)
    with pytest.raises(ExperimentError, match=f"not readable as an archive.*at byte {middle}"):
        read_challenge(packed)


def test_a_tar_archive_without_its_end_is_refused(packed):
    with tarfile.open(packed) as archive:
        last = archive.getmembers()[-1]
    packed.write_bytes(packed.read_bytes()[: last.offset])
    with pytest.raises(ExperimentError, match="not readable as an archive"):
        read_challenge(packed)


def test_a_changed_number_in_a_compressed_archive_is_noticed(packed, tmp_path):
    """The text is as good as before; only the checksum at the end tells."""
    data = gzip.compress(packed.read_bytes(), compresslevel=0)
    assert b"Weight,80.5" in data
    (tmp_path / "changed.tgz").write_bytes(data.replace(b"Weight,80.5", b"Weight,81.5", 1))
    with pytest.raises(ExperimentError, match=r"changed\.tgz: not readable as an archive"):
        read_challenge(tmp_path / "changed.tgz")


@pytest.mark.parametrize("compress", [lzma.compress, bz2.compress])
def test_a_corrupt_archive_is_named_as_one(packed, tmp_path, compress):
    data = bytearray(compress(packed.read_bytes()))
    data[len(data) // 2] ^= 255
    corrupt = tmp_path / "corrupt.tar"
    corrupt.write_bytes(data)
    with pytest.raises(ExperimentError, match=r"corrupt\.tar: not readable as an archive"):
        read_challenge(corrupt)


@pytest.mark.parametrize(("at", "value", "said"), [(0, 1, "password"), (2, 97, "compression")])
def test_a_zip_file_that_cannot_be_unpacked(made_up, tmp_path, at, value, said):
    """Set the bit of a password, and a method to compress that does not exist, by hand."""
    path = tmp_path / "set-a.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.write(made_up / "Outcomes-a.txt", "Outcomes-a.txt")
    data = bytearray(path.read_bytes())
    for header, first in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        data[data.index(header) + first + at] = value
    path.write_bytes(data)
    with pytest.raises(ExperimentError, match=rf"set-a\.zip: cannot be unpacked.*{said}"):
        read_challenge(path)


def test_data_that_are_not_there(made_up, tmp_path):
    with pytest.raises(ExperimentError, match="no such folder or archive"):
        read_challenge(tmp_path / "nowhere")
    with pytest.raises(ExperimentError, match="there is no set x"):
        read_challenge(made_up, "ax")
    broken = tmp_path / "broken.tar.xz"
    broken.write_bytes(b"\xfd7zXZ\x00 and so on")
    with pytest.raises(ExperimentError, match="not readable as an archive"):
        read_challenge(broken)


@pytest.mark.slow
def test_the_command_runs_all_splits_and_resumes(made_up, tmp_path):
    pytest.importorskip("matplotlib")
    pytest.importorskip("typer")
    from typer.testing import CliRunner

    from voros.cli.app import app

    def run(*more):
        options = ["--data", made_up, "--out", tmp_path / "run", "--quick", "--jobs", 1, *more]
        return CliRunner().invoke(app, ["experiment", "physionet2012", *map(str, options)])

    record = min((made_up / "set-c").iterdir())
    record.write_text(record.read_text() + "10:45,,1.9\n")
    edit("Outcomes-b.txt", "142676", "?")(made_up)
    first = run("--splits", 2, "--test-set", "c")
    assert first.exit_code == 0, first.output
    assert "left out: 1 rows without the name of a parameter" in first.stderr
    flow = (tmp_path / "run/split-00/tables/flow.csv").read_text()
    assert "1 rows without the name of a parameter" in flow
    assert "1 stays without a readable row in Outcomes-b.txt" in flow
    assert "SAPS-I" in first.stdout
    assert (tmp_path / "run/split-01/summary.html").exists()
    with (tmp_path / "run/tables/splits_strategies_1.csv").open(newline="") as text:
        rows = {row["strategy"]: row for row in csv.DictReader(text)}
    costs = []
    for seed in (0, 1):
        with (tmp_path / f"run/split-0{seed}/tables/main.csv").open(newline="") as text:
            costs.append([float(row["scenario_1_cost"]) for row in csv.DictReader(text)])
    means = [statistics.fmean(pair) for pair in zip(*costs, strict=True)]
    assert [float(row["cost"]) for row in rows.values()] == pytest.approx(means)
    kept = {p: p.stat().st_mtime_ns for p in (tmp_path / "run").rglob("split-*/*")}
    again = run("--splits", 2, "--test-set", "c")
    assert again.stdout == first.stdout
    assert "finished before" in again.stderr
    assert {p: p.stat().st_mtime_ns for p in kept} == kept
    assert "another run" in run("--splits", 1).stderr
    assert "test_set='d'" in run("--test-set", "d").stderr


@genuine
@pytest.mark.slow
def test_the_genuine_sets():
    stays = read_challenge(CHALLENGE, "ab")
    cases, studied = challenge_cases(stays)
    assert len(stays) == 8000
    assert np.nansum(stays.outcomes["In-hospital_death"]) == 1122
    assert int((~studied).sum()) == 8000 - len(cases)
    assert cases.X.shape[1] == 292
    assert np.nanmax(stays.outcomes["SAPS-I"]) == 34
