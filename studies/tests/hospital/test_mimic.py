"""MIMIC-IV: cohort and features against a second computation, on made-up and genuine tables."""

from __future__ import annotations

import gzip
import os
import shutil
from datetime import datetime
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("duckdb")

from hospital import slow_mimic
from hospital.made_up_release import (
    Stay,
    chart_rows,
    write_release,
    write_release_table,
    write_table,
)

from voros_studies.experiments.cases import fill_and_scale, split_patients
from voros_studies.hospital.channels import CHANNELS, ITEM_IDS, TIME_VARYING
from voros_studies.hospital.extraction import PAPER_RULE, CohortRule, extract, make_cohort
from voros_studies.hospital.mimic import mimic_cases
from voros_studies.hospital.release import SourceTable, find_tables, open_database

DEMO = os.environ.get("VOROS_MIMIC_DEMO")

CLOSE = 1e-9


def check_every_feature(folder: Path, out: Path, rule: CohortRule = PAPER_RULE) -> int:
    """Compare every number of every stay; return the number of stays."""
    slow = slow_mimic.slow_features(folder, rule.outcome, rule.min_hours)
    extraction = extract(find_tables(folder), out, rule)
    cases = mimic_cases(extraction)
    stays = slow_mimic.cohort(folder, rule.outcome, rule.min_hours)
    assert extraction.flow.in_care == len(stays)
    assert extraction.flow.deaths == sum(record["died"] for record in stays.values())
    assert extraction.flow.stays == len(slow_mimic.read_table(folder / "icu/icustays.csv.gz"))
    assert len(cases) == len(slow)
    assert cases.y.tolist() == [record["died"] for record in slow.values()]
    assert cases.patient.tolist() == [record["patient"] for record in slow.values()]
    one = next(iter(slow.values()))
    assert set(cases.feature_names) == set(one["features"])
    assert len(cases.feature_names) == 13 * 8 * 3 + 9
    expected = [
        [record["features"][name] for name in cases.feature_names] for record in slow.values()
    ]
    np.testing.assert_allclose(cases.X, np.array(expected), rtol=CLOSE, atol=CLOSE)
    return len(cases)


@pytest.mark.parametrize(("release", "n_patients"), [("2.0", 60), ("2.2", 300), ("3.1", 60)])
@pytest.mark.slow
def test_features_of_a_made_up_release(tmp_path, release, n_patients):
    stays = write_release(tmp_path / "data", n_patients, release=release, random_state=7)
    assert check_every_feature(tmp_path / "data", tmp_path / "out") > 0.6 * n_patients
    patients = [stay.subject_id for stay in stays]
    assert len(patients) > len(set(patients)), "the release should hold readmissions"
    chart = slow_mimic.read_table(tmp_path / "data/icu/chartevents.csv.gz")
    rows = [tuple(row.values()) for row in chart]
    assert len(rows) > len(set(rows)), "the release should hold duplicates"
    times = [row["charttime"] for row in chart]
    assert times != sorted(times)
    assert {"223761", "223762"} <= {row["itemid"] for row in chart}
    assert len({row["stay_id"] for row in chart}) < len(stays), "some stays have no chart"


@pytest.mark.slow
def test_other_outcomes_and_hours(tmp_path):
    write_release(tmp_path / "data", 120, random_state=8)
    for outcome, hours in (("hospital", 48.0), ("icu", 56.0), ("hospital", 50.5)):
        check_every_feature(tmp_path / "data", tmp_path / "out", CohortRule(outcome, hours))
    stays = (
        slow_mimic.cohort(tmp_path / "data", "icu", 48),
        slow_mimic.cohort(tmp_path / "data", "hospital", 48),
    )
    in_icu, in_hospital = (
        {s for s, record in cohort.items() if record["died"]} for cohort in stays
    )
    assert in_icu < in_hospital, "some should die in the ward"
    with pytest.raises(ValueError, match="outcome='ward'; accepted are 'icu', 'hospital'"):
        CohortRule("ward")
    with pytest.raises(ValueError, match=r"min_hours=47\.0; accepted are hours of at least 48"):
        CohortRule(min_hours=47.0)


@pytest.mark.skipif(DEMO is None, reason="VOROS_MIMIC_DEMO does not name the MIMIC-IV demo")
def test_the_label_of_the_pipeline_on_the_genuine_demo(tmp_path):
    """Counted by hand in SQL: of 71 stays of 50 hours, 9 die in the ICU and 12 in hospital."""
    tables = find_tables_without_chart(Path(DEMO or ""))
    for rule, deaths in ((CohortRule("icu"), 9), (CohortRule("hospital"), 12)):
        with open_database(None) as database:
            flow = make_cohort(database, tables, rule)
        assert (flow.stays, flow.in_care, flow.deaths) == (140, 71, deaths)


def find_tables_without_chart(folder):
    """The demo here has no chart, which the cohort does not need."""
    names = ("hosp/patients", "hosp/admissions", "icu/icustays")
    tables = {}
    for name in names:
        path = folder / f"{name}.csv.gz"
        header = tuple(slow_mimic.read_table(path)[0])
        tables[name] = SourceTable(name, path, header)
    return tables


@pytest.mark.skipif(DEMO is None, reason="VOROS_MIMIC_DEMO does not name the MIMIC-IV demo")
def test_features_of_the_genuine_demo(tmp_path):
    """Genuine patients, admissions and stays; their chart is made up."""
    data = tmp_path / "data"
    for name in ("hosp/patients", "hosp/admissions", "icu/icustays"):
        (data / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(Path(DEMO or "") / f"{name}.csv.gz", data / f"{name}.csv.gz")
    rng = np.random.default_rng(5)
    stays = [
        Stay(
            int(row["subject_id"]),
            int(row["hadm_id"]),
            int(row["stay_id"]),
            datetime.fromisoformat(row["intime"]),
            float(rng.normal()),
        )
        for row in slow_mimic.read_table(data / "icu/icustays.csv.gz")
    ]
    write_release_table(data, "icu/chartevents", chart_rows(stays, rng))
    lasted = [
        24 * float(row["los"]) >= 50 for row in slow_mimic.read_table(data / "icu/icustays.csv.gz")
    ]
    assert 0.8 * sum(lasted) < check_every_feature(data, tmp_path / "out") <= sum(lasted)


@pytest.mark.slow
def test_early_deaths_and_stays_without_an_end_are_left_out(tmp_path):
    write_release(tmp_path / "data", 60, random_state=3)
    admissions = tmp_path / "data/hosp/admissions.csv.gz"
    icustays = tmp_path / "data/icu/icustays.csv.gz"
    before = slow_mimic.cohort(tmp_path / "data")
    rows = slow_mimic.read_table(admissions)
    stays = slow_mimic.read_table(icustays)
    first, second = [row for row in stays if int(row["stay_id"]) in before][:2]
    for row in rows:
        if row["hadm_id"] == first["hadm_id"]:
            row |= {"deathtime": first["intime"], "hospital_expire_flag": "1"}
    second["outtime"] = ""
    write_table(admissions, list(rows[0]), rows)
    write_table(icustays, list(stays[0]), stays)
    flow = extract(find_tables(tmp_path / "data"), tmp_path / "out").flow
    assert flow.died_before >= 1
    assert flow.in_care == len(slow_mimic.cohort(tmp_path / "data")) < len(before)
    assert flow.stays == flow.left_before + flow.died_before + flow.in_care
    check_every_feature(tmp_path / "data", tmp_path / "out")


@pytest.mark.slow
def test_plain_csv_gives_the_same_cases(tmp_path):

    write_release(tmp_path / "gz", 60, random_state=1)
    expected = mimic_cases(extract(find_tables(tmp_path / "gz"), tmp_path / "out_gz"))
    for source in (tmp_path / "gz").glob("*/*.csv.gz"):
        target = tmp_path / "csv" / source.parent.name / source.stem
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(gzip.decompress(source.read_bytes()))
    cases = mimic_cases(extract(find_tables(tmp_path / "csv"), tmp_path / "out_csv"))
    assert cases.feature_names == expected.feature_names
    np.testing.assert_allclose(cases.X, expected.X, rtol=CLOSE)
    assert (cases.y == expected.y).all()


@pytest.fixture(scope="module")
def cases(tmp_path_factory):
    place = tmp_path_factory.mktemp("mimic")
    write_release(place / "data", 350, random_state=2)
    return mimic_cases(extract(find_tables(place / "data"), place / "out"))


@pytest.mark.slow
def test_the_planted_signal_is_found(cases):
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import roc_auc_score

    split = split_patients(cases)
    rows = np.concatenate([split.valid, split.test])
    train, others = fill_and_scale(cases.X[split.train], cases.X[rows])
    model = LogisticRegression(C=0.1, max_iter=500).fit(train, cases.y[split.train])
    risk = model.predict_proba(others)[:, 1]
    assert roc_auc_score(cases.y[rows], risk) > 0.7


@pytest.mark.slow
def test_no_patient_is_in_two_parts(cases):
    split = split_patients(cases, random_state=11)
    parts = [set(cases.patient[rows].tolist()) for rows in (split.train, split.valid, split.test)]
    assert sum(map(len, parts)) == len(set.union(*parts))
    rows = np.sort(np.concatenate([split.train, split.valid, split.test]))
    assert rows.tolist() == list(range(len(cases)))
    died = set(cases.patient[cases.y].tolist())
    assert [len(part & died) / len(died) for part in parts] == pytest.approx(
        [0.5, 0.25, 0.25], abs=1 / len(died)
    )


@pytest.mark.slow
def test_the_extraction_is_read_once(tmp_path):
    write_release(tmp_path / "data", 40)
    first = extract(find_tables(tmp_path / "data"), tmp_path / "out")
    written = first.buckets.stat().st_mtime_ns
    again = extract(find_tables(tmp_path / "data"), tmp_path / "out")
    assert again == first
    assert first.buckets.stat().st_mtime_ns == written
    write_release(tmp_path / "data", 41)
    other = extract(find_tables(tmp_path / "data"), tmp_path / "out")
    assert other.flow != first.flow


def test_the_items_are_those_of_the_paper():
    assert sorted(ITEM_IDS) == sorted(slow_mimic.ITEM_TO_CHANNEL)
    assert len(ITEM_IDS) == 31
    assert len(TIME_VARYING) == 13
    named = {item: channel.name for channel in CHANNELS for item in channel.items}
    assert named == slow_mimic.ITEM_TO_CHANNEL
