"""Published predictions by stay: cohort, labels and split are compared, and can be taken over."""

from __future__ import annotations

import numpy as np
import pytest

from voros.studies.experiments.cases import LabelledCases
from voros.studies.experiments.errors import ExperimentError
from voros.studies.experiments.folder import scores_text
from voros.studies.experiments.published import compare_published, read_published, take_split

N = 40


@pytest.fixture
def cases():
    """Stays 500 to 539 of 20 patients, two each."""
    rng = np.random.default_rng(1)
    patient = np.repeat(np.arange(20), 2)
    return LabelledCases(np.zeros((N, 0)), rng.random(N) < 0.3, patient, (), 500 + np.arange(N))


def publish(folder, cases, parts, flipped=(), name="model"):
    folder.mkdir(exist_ok=True)
    for part, rows in parts.items():
        y = cases.y[rows] ^ np.isin(cases.stays[rows], flipped)
        text = scores_text(cases.stays[rows], y, np.full(len(rows), 0.5))
        (folder / f"{name}_{part}.csv").write_text(text)
    return folder


def parts_of(valid, test):
    return {"valid": np.flatnonzero(valid), "test": np.flatnonzero(test)}


def test_labels_that_differ_are_found_and_named(cases, tmp_path):
    parts = parts_of(cases.patient < 5, (cases.patient >= 5) & (cases.patient < 10))
    folder = publish(tmp_path / "p", cases, parts, flipped=[503, 512])
    known = LabelledCases(*(a[3:] for a in (cases.X, cases.y, cases.patient)), (), cases.stays[3:])
    valid, test = compare_published(known, read_published(folder))
    assert (valid.published, valid.shared, valid.differing) == (10, 7, (503,))
    assert (test.published, test.shared, test.differing) == (10, 10, (512,))
    assert "7 studied here, 1 of them with another label (such as 503)" in str(valid)


def test_the_split_is_taken_over_by_patient(cases, tmp_path):
    """A stay in no file is trained on, unless its patient is in one."""
    valid = (cases.patient < 5) & (np.arange(N) % 2 == 0)
    test = (cases.patient >= 5) & (cases.patient < 10)
    published = read_published(publish(tmp_path / "p", cases, parts_of(valid, test)))
    split, left_out = take_split(cases, published)
    assert split.valid.tolist() == np.flatnonzero(valid).tolist()
    assert split.test.tolist() == np.flatnonzero(test).tolist()
    assert split.train.tolist() == np.flatnonzero(cases.patient >= 10).tolist()
    assert left_out == 5


def test_what_cannot_be_compared_is_refused(cases, tmp_path):
    half = parts_of(np.arange(N) < 20, np.arange(N) >= 20)
    with pytest.raises(ExperimentError, match=r"there is no file \*_valid\.csv"):
        read_published(tmp_path)
    both = publish(tmp_path / "both", cases, parts_of(np.arange(N) < 21, np.arange(N) >= 20))
    with pytest.raises(ExperimentError, match="1 stays are in validation and test files, 520"):
        read_published(both)
    differ = publish(tmp_path / "differ", cases, half)
    publish(differ, cases, half, flipped=[503], name="other")
    with pytest.raises(ExperimentError, match=r"other_valid\.csv: stays or labels differ"):
        read_published(differ)
    strange = LabelledCases(cases.X, cases.y, cases.patient, (), cases.stays + 10_000)
    published = read_published(publish(tmp_path / "p", cases, half))
    with pytest.raises(ExperimentError, match="its split cannot be taken over"):
        take_split(strange, published)
    apart = publish(tmp_path / "apart", cases, parts_of(np.arange(N) < 21, np.arange(N) >= 21))
    with pytest.raises(ExperimentError, match="1 patients are in validation and test, 10"):
        take_split(cases, read_published(apart))
    twice = tmp_path / "p/model_test.csv"
    twice.write_text(twice.read_text() + "520,0,0.5\n")
    with pytest.raises(ExperimentError, match="1 rows repeat a value of the column patient"):
        read_published(tmp_path / "p")
