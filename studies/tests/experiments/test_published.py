"""Published predictions: cohort, labels and split are compared by id, and can be taken over."""

from __future__ import annotations

import os

import numpy as np
import pytest

from voros_studies.experiments.cases import LabelledCases
from voros_studies.experiments.errors import ExperimentError
from voros_studies.experiments.folder import scores_text
from voros_studies.experiments.published import compare_published, read_published, take_split

N = 40
PAPER = os.environ.get("VOROS_PAPER_PREDICTIONS")


@pytest.fixture
def cases():
    """Stays 500 to 539 of 20 patients, two each."""
    rng = np.random.default_rng(1)
    patient = np.repeat(np.arange(20), 2)
    return LabelledCases(np.zeros((N, 0)), rng.random(N) < 0.3, patient, (), 500 + np.arange(N))


def publish(folder, cases, parts, flipped=(), name="model", ids=None):
    folder.mkdir(exist_ok=True)
    for part, rows in parts.items():
        y = cases.y[rows] ^ np.isin(cases.stays[rows], flipped)
        text = scores_text((cases.stays if ids is None else ids)[rows], y, np.full(len(rows), 0.5))
        (folder / f"{name}_{part}.csv").write_text(text)
    return folder


def parts_of(valid, test):
    return {"valid": np.flatnonzero(valid), "test": np.flatnonzero(test)}


def test_labels_that_differ_are_found_and_named(cases, tmp_path):
    parts = parts_of(cases.patient < 5, (cases.patient >= 5) & (cases.patient < 10))
    folder = publish(tmp_path / "p", cases, parts, flipped=[503, 512])
    known = LabelledCases(*(a[3:] for a in (cases.X, cases.y, cases.patient)), (), cases.stays[3:])
    valid, test = compare_published(known, read_published(folder))
    assert (valid.cases, valid.shared, valid.differing) == (10, 7, (503,))
    assert (test.cases, test.shared, test.differing) == (10, 10, (512,))
    assert "10 stay ids 7 are studied here, 1 of them with other cases or labels" in str(valid)


def test_ids_may_be_of_patients_who_have_several_stays(cases, tmp_path):
    """Patients 0 to 4 validate and 5 to 9 test; the label of one stay and another stay differ."""
    parts = parts_of(cases.patient < 5, (cases.patient >= 5) & (cases.patient < 10))
    folder = publish(tmp_path / "p", cases, parts, flipped=[503], ids=cases.patient)
    here = np.delete(np.arange(N), 12)
    known = LabelledCases(
        *(a[here] for a in (cases.X, cases.y, cases.patient)), (), cases.stays[here]
    )
    published = read_published(folder)
    valid, test = compare_published(known, published)
    assert (valid.key, valid.cases, valid.ids, valid.shared) == ("patient", 10, 5, 5)
    assert (valid.differing, test.differing) == ((1,), (6,))
    split, left_out = take_split(known, published)
    assert known.patient[split.valid].tolist() == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]
    assert known.patient[split.test].tolist() == [5, 5, 6, 7, 7, 8, 8, 9, 9]
    assert left_out == 0


@pytest.mark.skipif(PAPER is None, reason="VOROS_PAPER_PREDICTIONS names no folder")
def test_files_whose_ids_were_replaced_are_refused():
    """In the copy at hand each part has indices of its own in place of the ids."""
    with pytest.raises(ExperimentError, match="identifies neither stays nor patients"):
        read_published(PAPER)


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
    with pytest.raises(ExperimentError, match="1 ids are in validation and test files, 520"):
        read_published(both)
    differ = publish(tmp_path / "differ", cases, half)
    publish(differ, cases, half, flipped=[503], name="other")
    with pytest.raises(ExperimentError, match=r"other_valid\.csv: ids or labels differ"):
        read_published(differ)
    strange = LabelledCases(cases.X, cases.y, cases.patient, (), cases.stays + 10_000)
    published = read_published(publish(tmp_path / "p", cases, half))
    with pytest.raises(ExperimentError, match="its split cannot be taken over"):
        take_split(strange, published)
    apart = publish(tmp_path / "apart", cases, parts_of(np.arange(N) < 21, np.arange(N) >= 21))
    with pytest.raises(ExperimentError, match="1 patients are in validation and test, 10"):
        take_split(cases, read_published(apart))
