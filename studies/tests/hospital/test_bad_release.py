"""Whatever is wrong with a release is told with the file and the remedy, and nothing is lost."""

from __future__ import annotations

import gzip
import shutil
import subprocess

import numpy as np
import pytest

pytest.importorskip("duckdb")

from hospital.long_chart import write_long_chart
from hospital.made_up_release import (
    write_hospital,
    write_release,
    write_table,
)
from hospital.slow_mimic import read_table

from voros_studies.experiments.errors import ExperimentError
from voros_studies.hospital.extraction import PAPER_RULE, CohortRule, extract, make_cohort
from voros_studies.hospital.mimic import mimic_cases
from voros_studies.hospital.release import find_tables, open_database

TABLES = ("hosp/patients", "hosp/admissions", "icu/icustays", "icu/chartevents")


@pytest.fixture(scope="module")
def pristine(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pristine")
    write_release(folder, 40, release="3.1", random_state=1)
    return folder


@pytest.fixture
def data(pristine, tmp_path):
    return shutil.copytree(pristine, tmp_path / "data")


def rewrite(path, change):
    rows = read_table(path)
    changed = change(rows)
    write_table(path, list(changed[0]), changed)


@pytest.mark.parametrize("name", TABLES)
def test_a_missing_table_is_named(data, name):
    (data / f"{name}.csv.gz").unlink()
    with pytest.raises(ExperimentError, match=rf"{name}\.csv\.gz: not there.*PhysioNet"):
        find_tables(data)


def test_all_missing_tables_are_named_at_once(data):
    (data / "hosp/patients.csv.gz").unlink()
    (data / "icu/chartevents.csv.gz").unlink()
    with pytest.raises(ExperimentError, match=r"hosp/patients.*icu/chartevents.*not there"):
        find_tables(data)


def test_a_folder_that_is_none_or_holds_several_releases(tmp_path, data):
    with pytest.raises(ExperimentError, match="nowhere: there is no such folder"):
        find_tables(tmp_path / "nowhere")
    shutil.copytree(data, tmp_path / "both/2.2")
    shutil.copytree(data, tmp_path / "both/3.1")
    with pytest.raises(ExperimentError, match=r"Name one release: .*2\.2 or .*3\.1"):
        find_tables(tmp_path / "both")


@pytest.mark.parametrize(
    ("name", "column"),
    [
        ("hosp/patients", "anchor_age"),
        ("hosp/admissions", "hospital_expire_flag"),
        ("icu/icustays", "outtime"),
        ("icu/chartevents", "valueuom"),
    ],
)
def test_a_missing_column_is_named(data, name, column):
    path = data / f"{name}.csv.gz"
    rewrite(path, lambda rows: [{k: v for k, v in row.items() if k != column} for row in rows])
    with pytest.raises(ExperimentError, match=rf"{name}.*has no column {column}; it has.*Download"):
        find_tables(data)


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("kept", [0.6, 0.001])
@pytest.mark.slow
def test_a_truncated_gzip_is_told(data, tmp_path, name, kept):
    path = data / f"{name}.csv.gz"
    whole = path.read_bytes()
    path.write_bytes(whole[: int(len(whole) * kept) + 5])
    with pytest.raises(ExperimentError, match=rf"{name}\.csv\.gz: not readable.*SHA256SUMS"):
        extract(find_tables(data), tmp_path / "out")
    # Once the file is whole, the same command goes on; nothing half-done is in the way.
    path.write_bytes(whole)
    assert len(mimic_cases(extract(find_tables(data), tmp_path / "out"))) > 20


def change_lines(path, change):
    lines = gzip.decompress(path.read_bytes()).decode().splitlines()
    path.write_bytes(gzip.compress("\n".join(change(lines)).encode()))


@pytest.mark.slow
def test_rows_of_the_chart_that_cannot_be_read_are_counted(data, tmp_path):
    path = data / "icu/chartevents.csv.gz"
    as_written = extract(find_tables(data), tmp_path / "before")

    def spoil(lines):
        row = lines[100].split(",")
        return [*lines, ",".join([*row[:6], "pulse", *row[7:]]), ",".join(row[:5])]

    change_lines(path, spoil)
    extraction = extract(find_tables(data), tmp_path / "out")
    assert as_written.flow.left_out == dict.fromkeys(TABLES, 0)
    assert extraction.flow.left_out == as_written.flow.left_out | {"icu/chartevents": 2}
    assert extraction.counts == as_written.counts
    assert "ICU stays; left out: 2 rows of icu/chartevents;" in str(extraction.flow)
    change_lines(path, lambda lines: [*lines, *["torn"] * len(lines)])
    with pytest.raises(ExperimentError, match=r"chartevents.*cannot be read, beside.*at most 5 %"):
        extract(find_tables(data), tmp_path / "out")


SMALL = {"hosp/patients": "subject_id", "hosp/admissions": "hadm_id", "icu/icustays": "stay_id"}


def torn(row, key):
    return ",".join(row[:2])


def with_a_word(row, key):
    return ",".join("?" if place == key else field for place, field in enumerate(row))


def without_its_key(row, key):
    return ",".join("" if place == key else field for place, field in enumerate(row))


@pytest.mark.parametrize("name", SMALL)
@pytest.mark.parametrize("spoilt", [torn, with_a_word, without_its_key])
def test_a_row_of_a_small_table_that_cannot_be_read_is_counted(large, tmp_path, name, spoilt):
    """So are the stays that need it; the others keep their features and outcomes."""
    folder, as_written = large
    data = shutil.copytree(folder, tmp_path / "data")
    rows = read_table(data / f"{name}.csv.gz")
    key, victim = SMALL[name], rows[7]
    gone = {
        int(stay["stay_id"])
        for stay in read_table(data / "icu/icustays.csv.gz")
        if stay.get(key) == victim[key]
    }

    def spoil(lines):
        at = next(i for i, row in enumerate(rows, 1) if row is victim)
        place = lines[0].split(",").index(key)
        return [*lines[:at], spoilt(lines[at].split(","), place), *lines[at + 1 :]]

    change_lines(data / f"{name}.csv.gz", spoil)
    flow, cohort = cohort_of(data)
    assert gone
    assert flow.left_out == {**dict.fromkeys(SMALL, 0), "icu/icustays": len(gone), name: 1}
    assert f"left out: 1 rows of {name}" in flow.steps(PAPER_RULE)[0].what
    assert cohort == [row for row in as_written if row[0] not in gone]


def test_a_stay_without_a_recorded_outcome_is_counted(large, tmp_path):
    data = shutil.copytree(large[0], tmp_path / "data")

    def blank(rows):
        return [{**rows[0], "hospital_expire_flag": ""}, *rows[1:]]

    rewrite(data / "hosp/admissions.csv.gz", blank)
    rule = CohortRule(outcome="hospital")
    flow, cohort = cohort_of(data, rule)
    before, as_written = cohort_of(large[0], rule)
    admission = read_table(data / "hosp/admissions.csv.gz")[0]["hadm_id"]
    stays = read_table(data / "icu/icustays.csv.gz")
    gone = {int(stay["stay_id"]) for stay in stays if stay["hadm_id"] == admission}
    assert gone
    assert flow.left_out["icu/icustays"] == before.stays - flow.stays == len(gone)
    assert cohort == [row for row in as_written if row[0] not in gone]


def cohort_of(data, rule=PAPER_RULE):
    with open_database(None) as database:
        flow = make_cohort(database, find_tables(data), rule)
        rows = database.execute("SELECT * FROM cohort ORDER BY stay_id").fetchall()
    return flow, rows


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """A release of which one row is few, and its cohort."""
    folder = tmp_path_factory.mktemp("large")
    write_hospital(folder, 120, release="3.1", rng=np.random.default_rng(4))
    (folder / "icu/chartevents.csv").write_text("stay_id,charttime,itemid,valuenum,valueuom\n")
    return folder, cohort_of(folder)[1]


def test_rows_that_repeat_another_are_counted(large, tmp_path):
    """One row of two alike is kept, and none of two that contradict each other."""
    folder, as_written = large
    data = shutil.copytree(folder, tmp_path / "data")
    rows = read_table(data / "icu/icustays.csv.gz")
    other = {**rows[3], "outtime": rows[3]["intime"]}
    rewrite(data / "icu/icustays.csv.gz", lambda rows: [*rows, rows[5], other])
    flow, cohort = cohort_of(data)
    assert flow.left_out == {**dict.fromkeys(SMALL, 0), "icu/icustays": 3}
    assert cohort == [row for row in as_written if row[0] != int(rows[3]["stay_id"])]


def test_the_same_table_twice_is_refused(data):
    with gzip.open(data / "icu/chartevents.csv.gz") as packed:
        (data / "icu/chartevents.csv").write_bytes(packed.read())
    with pytest.raises(ExperimentError, match=r"chartevents\.csv and .*twice.*Remove one"):
        find_tables(data)


def test_stays_without_their_admission_are_of_another_release(data, tmp_path):
    rewrite(data / "hosp/admissions.csv.gz", lambda rows: rows[:-5])
    with pytest.raises(ExperimentError, match=r"icustays.*hadm_id.*admissions.*same release"):
        extract(find_tables(data), tmp_path / "out")


def test_two_releases_joined_in_one_file(data, tmp_path):
    rewrite(data / "icu/icustays.csv.gz", lambda rows: [*rows, *rows[:9]])
    with pytest.raises(
        ExperimentError, match=r"icustays.*9 of .* repeat one, as when two releases"
    ):
        extract(find_tables(data), tmp_path / "out")


@pytest.mark.slow
def test_a_chart_of_other_stays(data, tmp_path):
    def move(rows):
        return [{**row, "stay_id": int(row["stay_id"]) + 10**6} for row in rows]

    rewrite(data / "icu/chartevents.csv.gz", move)
    with pytest.raises(ExperimentError, match=r"chartevents.*not one reading.*same release"):
        extract(find_tables(data), tmp_path / "out")


def test_an_empty_cohort(data, tmp_path):
    rewrite(
        data / "icu/icustays.csv.gz",
        lambda rows: [{**row, "outtime": row["intime"]} for row in rows],
    )
    with pytest.raises(ExperimentError, match=r"icustays.*the cohort is empty.*whole table"):
        extract(find_tables(data), tmp_path / "out")


@pytest.mark.slow
def test_a_cohort_in_which_nobody_was_measured_enough(data, tmp_path):
    rewrite(
        data / "icu/chartevents.csv.gz",
        lambda rows: [row for row in rows if row["itemid"] in ("220045", "220179")],
    )
    extraction = extract(find_tables(data), tmp_path / "out")
    with pytest.raises(ExperimentError, match=r"the cohort is empty.*chartevents complete"):
        mimic_cases(extraction)


@pytest.mark.slow
def test_a_cohort_in_which_nobody_died(data, tmp_path):
    rewrite(
        data / "hosp/patients.csv.gz",
        lambda rows: [{**row, "dod": ""} for row in rows],
    )
    extraction = extract(find_tables(data), tmp_path / "out")
    with pytest.raises(ExperimentError, match=r"none of the .* cases met the outcome"):
        mimic_cases(extraction)


def test_units_that_are_not_known_are_not_guessed(data, tmp_path):
    def foreign(rows):
        return [{**r, "valueuom": "kPa"} if r["valueuom"] == "mmHg" else r for r in rows]

    rewrite(data / "icu/chartevents.csv.gz", foreign)
    with pytest.raises(ExperimentError, match=r"bp_diastolic.*not known here, such as 'kpa'"):
        extract(find_tables(data), tmp_path / "out")


@pytest.mark.slow
def test_a_full_disk_while_streaming(tmp_path):
    """The buckets do not fit on a file system of 64 kB: nothing half-written is left."""
    data, small = tmp_path / "data", tmp_path / "small"
    write_hospital(data, 300, release="2.2", rng=np.random.default_rng(0))
    write_long_chart(data, 200_000)
    small.mkdir()
    mounting = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(small)]
    if shutil.which("mount") is None or subprocess.call(mounting, stderr=subprocess.DEVNULL):
        pytest.skip("a small file system can only be mounted by root, on Linux")
    try:
        with pytest.raises(ExperimentError, match=r"small/out/.*the disk is full\. Free"):
            extract(find_tables(data), small / "out")
        assert not (small / "out/buckets.parquet").exists()
        assert not list(small.rglob("*.part"))
    finally:
        subprocess.run(["umount", str(small)], check=True)
    assert extract(find_tables(data), tmp_path / "large").flow.in_care > 100
