"""The Challenge's files are read alike from folders and archives, and slips are counted."""

from __future__ import annotations

import tarfile
import zipfile

import numpy as np
import pytest
from sepsis.made_up import HEADER, stay_rows, text_of, write_stays

from voros_studies.experiments.errors import ExperimentError
from voros_studies.sepsis.hours import COLUMNS, read_hours


@pytest.fixture
def folder(tmp_path):
    write_stays(tmp_path / "data/training_setB", 6)
    return tmp_path / "data"


def test_rows_labels_and_onsets_are_those_that_were_written(tmp_path):
    written = write_stays(tmp_path, 7)
    stays = read_hours(tmp_path)
    assert stays.names == tuple(written)
    for number, rows in enumerate(written.values()):
        mine = stays.stay == number
        np.testing.assert_allclose(stays.values[mine], rows[:, :-1], rtol=1e-5)
        assert stays.label[mine].tolist() == (rows[:, -1] == 1).tolist()
        labelled = np.flatnonzero(rows[:, -1])
        assert stays.onset[number] == (labelled[0] + 6 if len(labelled) else np.inf)
        assert stays.hour[mine].tolist() == list(range(len(rows)))
    assert "7 stays" in stays.notes[0]
    assert stays.notes[-1].endswith("none")


def test_archives_hold_what_the_folder_holds(folder, tmp_path):
    with tarfile.open(tmp_path / "b.tar.xz", "w:xz") as archive:
        archive.add(folder / "training_setB", "training_setB")
    with zipfile.ZipFile(tmp_path / "b.zip", "w") as archive:
        for path in folder.rglob("*.psv"):
            archive.write(path, f"training_setB/{path.name}")
    digests = {
        read_hours(p).fingerprint for p in (folder, tmp_path / "b.tar.xz", tmp_path / "b.zip")
    }
    assert len(digests) == 1


def test_what_deviates_is_counted_and_the_rest_is_read(tmp_path):
    rows = stay_rows(np.random.default_rng(0), 10)
    good = text_of(rows).splitlines()
    slips = [*good[:4], "not|a|row", "x" + good[4], *good[6:], good[6] + "|7"]
    (tmp_path / "p000001.psv").write_text("\n".join(slips))
    (tmp_path / "p000002.psv").write_text("HR|Temp\n80|37\n")
    (tmp_path / "p000003.psv").write_text(HEADER + "\n")
    back = rows.copy()
    back[:, -1] = [0, 0, 1, 1, 0, 1, 1, 1, np.nan, 1]
    (tmp_path / "p000004.psv").write_text(text_of(back))
    (tmp_path / "readme.txt").write_text("no stay")
    with pytest.raises(ExperimentError, match="2 of 4 files cannot be read, and at most 5 %"):
        read_hours(tmp_path)
    for number in range(10, 60):
        whole = text_of(stay_rows(np.random.default_rng(0), 10))
        (tmp_path / f"p0000{number}.psv").write_text(whole)
    stays = read_hours(tmp_path)
    assert len(stays) == 52
    assert np.bincount(stays.stay).tolist() == [8, 9, *[10] * 50]
    assert stays.deviations == {
        "rows left out": 3,
        "files left out": 2,
        "rows without a label left out": 1,
        # After the hours that are missing in the first stay, and in the last.
        "hours that do not follow": 2,
        "labels that fall back": 1,
    }
    assert "rows left out 3" in stays.notes[-1]


def test_columns_may_be_in_another_order(tmp_path):
    rows = stay_rows(np.random.default_rng(0), 8)
    lines = [line.split("|") for line in text_of(rows).splitlines()]
    (tmp_path / "p000001.psv").write_text("\n".join("|".join(line[::-1]) for line in lines))
    values = read_hours(tmp_path).values
    np.testing.assert_allclose(values, rows[:, : len(COLUMNS)], rtol=1e-5)


def test_no_stay_and_a_stay_that_is_there_twice_are_errors(folder, tmp_path):
    (tmp_path / "empty").mkdir()
    with pytest.raises(ExperimentError, match="there is no stay in it"):
        read_hours(tmp_path / "empty")
    write_stays(folder / "training_setC", 1)
    with pytest.raises(ExperimentError, match="p000001 is there twice"):
        read_hours(folder)
