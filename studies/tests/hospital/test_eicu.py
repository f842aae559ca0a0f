"""eICU: FIDDLE's files become features, checked against a dense computation hour by hour."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
from importlib.util import find_spec

import numpy as np
import pytest

from voros_studies.experiments.errors import ExperimentError
from voros_studies.experiments.experiment import RunOptions
from voros_studies.hospital import fiddle
from voros_studies.hospital.eicu import eicu_cases, find_fiddle, run_eicu
from voros_studies.hospital.fiddle import DYNAMIC, STATIC

N_STAYS = 60


def names_of(table, separator):
    return [f"{v}_value{separator}{value}" for v, values in table.items() for value in values]


@pytest.fixture
def release(tmp_path):
    """A made-up release: the wanted features among others, in no order."""
    rng = np.random.default_rng(3)
    features = tmp_path / "FIDDLE_eicu/features/mortality_48h"
    features.mkdir(parents=True)
    static = [*names_of(STATIC, ":"), "ethnicity_value:Native American", "unittype_value:MICU"]
    dynamic = [*names_of(DYNAMIC, ":"), "heartrate_mask", "cvp_min:(6.0, 10.0]"]
    rng.shuffle(static)
    rng.shuffle(dynamic)
    s = rng.random((N_STAYS, len(static))) < 0.3
    X = rng.random((N_STAYS, 48, len(dynamic))) < 0.2
    for name, array, kind in (("s", s, np.int64), ("X", X, np.uint32)):
        coords = np.array(np.nonzero(array), dtype=kind)
        packed = {"coords": coords, "data": np.ones(coords.shape[1], dtype=np.int8)}
        shape = {"shape": np.array(array.shape), "fill_value": np.int8(0)}
        np.savez_compressed(features / f"{name}.npz", **packed, **shape)
    (features / "s.feature_names.json").write_text(json.dumps(static))
    (features / "X.feature_names.json").write_text(json.dumps(dynamic))
    died = rng.random(N_STAYS) < 0.3
    population = tmp_path / "FIDDLE_eicu/population/mortality_48h.csv"
    population.parent.mkdir()
    rows = [f"{141_000 + i},{int(d)}" for i, d in enumerate(died)]
    population.write_text("\n".join(["ID,mortality_LABEL", *rows]) + "\n")
    return tmp_path / "FIDDLE_eicu", s, X, static, dynamic, died


def plain_summaries(hours):
    """Six summaries over three windows of one feature of one stay, with the standard library."""
    buckets = [(hours[2 * i] + hours[2 * i + 1]) / 2 for i in range(24)]
    summaries = {}
    for window, start in (("0-48h", 0), ("24-48h", 12), ("32-48h", 16)):
        part = buckets[start:]
        at = [2.0 * i for i in range(len(part))]
        summaries |= {
            f"mean {window}": statistics.fmean(part),
            f"variance {window}": statistics.pvariance(part),
            f"min {window}": min(part),
            f"median {window}": statistics.median(part),
            f"max {window}": max(part),
            f"slope {window}": statistics.linear_regression(at, part).slope,
        }
    return summaries


@pytest.mark.parametrize("piece", [1 << 20, 501])
def test_every_feature_against_a_dense_computation(release, monkeypatch, piece):
    monkeypatch.setattr(fiddle, "PIECE", piece)
    folder, s, X, static, dynamic, died = release
    cases = eicu_cases(find_fiddle(folder))
    assert cases.y.tolist() == died.tolist()
    assert len(cases.feature_names) == 24 + 83 * 6 * 3
    column = {name: i for i, name in enumerate(cases.feature_names)}
    for i, name in enumerate(static):
        if not name.startswith("unittype"):
            shown = name.replace("_value:", " ")
            np.testing.assert_array_equal(cases.X[:, column[shown]], s[:, i])
    for i, name in enumerate(dynamic):
        if "_value:" in name:
            for stay in range(0, N_STAYS, 7):
                for summary, value in plain_summaries(X[stay, :, i].astype(int).tolist()).items():
                    shown = f"{name.replace('_value:', ' ')} {summary}"
                    assert cases.X[stay, column[shown]] == pytest.approx(value, abs=1e-12)


WRITE_AS_FIDDLE = """
import sys, numpy, sparse
with numpy.load(sys.argv[1]) as dense:
    for name in dense.files:
        # FIDDLE drops features that are almost always there, with a mask on the last axis.
        always = numpy.ones_like(dense[name])
        wide = sparse.COO.from_numpy(numpy.concatenate([dense[name], always], axis=-1))
        mask = numpy.arange(wide.shape[-1]) < dense[name].shape[-1]
        sparse.save_npz(sys.argv[2] + "/" + name + ".npz", wide[..., mask])
"""


@pytest.mark.slow
def test_files_written_by_sparse_read_to_the_same_features(release, monkeypatch, tmp_path):
    """Also in the other order, which older files have, and under the other name."""
    if find_spec("sparse") is None:
        pytest.skip("sparse is not installed")
    features = release[0] / "features/mortality_48h"
    np.savez(tmp_path / "dense.npz", s=release[1].astype(np.uint8), X=release[2].astype(np.uint8))
    # In a process of its own: numba, on which sparse rests, does not like to be watched by pytest.
    arguments = ["-c", WRITE_AS_FIDDLE, str(tmp_path / "dense.npz"), str(features)]
    subprocess.run([sys.executable, *arguments], check=True)
    with np.load(features / "X.npz") as packed:
        assert not packed["coords"].flags.c_contiguous
        arrays = {name: packed[name] for name in packed.files}
    test_every_feature_against_a_dense_computation(release, monkeypatch, 501)
    by_columns = eicu_cases(find_fiddle(release[0])).fingerprint
    np.savez(features / "X.npz", **(arrays | {"coords": np.ascontiguousarray(arrays["coords"])}))
    (features / "s.npz").rename(features / "S.npz")
    (features / "s.feature_names.json").rename(features / "S.feature_names.json")
    assert eicu_cases(find_fiddle(release[0])).fingerprint == by_columns


@pytest.mark.parametrize("piece", [1 << 20, 501])
def test_positions_stored_by_columns(release, monkeypatch, piece):
    monkeypatch.setattr(fiddle, "PIECE", piece)
    for name in ("s", "X"):
        path = release[0] / f"features/mortality_48h/{name}.npz"
        with np.load(path) as packed:
            arrays = {key: packed[key] for key in packed.files}
        np.savez(path, **(arrays | {"coords": np.asfortranarray(arrays["coords"])}))
    test_every_feature_against_a_dense_computation(release, monkeypatch, piece)


def test_static_features_under_two_names_are_refused(release):
    features = release[0] / "features/mortality_48h"
    (features / "S.npz").write_bytes((features / "s.npz").read_bytes())
    if (features / "s.npz").samefile(features / "S.npz"):
        pytest.skip("the file system knows no capitals")
    with pytest.raises(ExperimentError, match="the same file twice"):
        find_fiddle(release[0])


def test_an_array_that_is_not_zero_elsewhere_is_refused(release):
    path = release[0] / "features/mortality_48h/X.npz"
    with np.load(path) as packed:
        arrays = {name: packed[name] for name in packed.files}
    np.savez_compressed(path, **(arrays | {"fill_value": np.int8(1)}))
    with pytest.raises(ExperimentError, match="holds 1 where nothing is stored"):
        eicu_cases(find_fiddle(release[0]))


def test_a_shuffled_population_keeps_every_label_with_its_stay(release):
    """FIDDLE sorts by ID before it makes features; lines in another order are the same stays."""
    folder, died = release[0], release[5]
    path = folder / "population/mortality_48h.csv"
    header, *rows = path.read_text().splitlines()
    # 141000 to 141059 sort alike as numbers and as words; 99 and 141060 do not.
    rows = [row.replace("141000", "99") for row in rows]
    np.random.default_rng(1).shuffle(rows)
    path.write_text("\n".join([header, *rows]))
    assert eicu_cases(find_fiddle(folder)).y.tolist() == died.tolist()


def test_fiddles_own_list_of_stays_is_followed_or_refused(release):
    folder, died = release[0], release[5]
    ids = folder / "features/mortality_48h/IDs.csv"
    order = np.random.default_rng(2).permutation(N_STAYS)
    ids.write_text("\n".join(["ID", *(str(141_000 + i) for i in order)]))
    assert eicu_cases(find_fiddle(folder)).y.tolist() == died[order].tolist()
    ids.write_text("\n".join(["ID", *(str(141_001 + i) for i in range(N_STAYS))]))
    assert eicu_cases(find_fiddle(folder)).y.tolist() == died[1:].tolist()
    ids.write_text("\n".join(["ID", *(str(141_004 + i) for i in range(N_STAYS))]))
    with pytest.raises(ExperimentError, match=r"4 of 60 stays have no readable mortality_LABEL"):
        eicu_cases(find_fiddle(folder))
    ids.write_text("\n".join(["ID", *(["141001"] * N_STAYS)]))
    with pytest.raises(ExperimentError, match=r"IDs\.csv: an ID is there twice"):
        eicu_cases(find_fiddle(folder))


@pytest.mark.parametrize(
    "rows", ["{id},", "{id},dead", "{id},2", "{id},1\n{id},0", "{id}", "{id},1,p1\n{id},?"]
)
def test_a_stay_without_a_readable_label_is_left_out(release, tmp_path, rows):
    folder, died = release[0], release[5]
    as_written = eicu_cases(find_fiddle(folder))
    path = folder / "population/mortality_48h.csv"
    header, *lines = path.read_text().splitlines()
    lines[20:21] = [rows.format(id=141_020), lines[21]]
    path.write_text("\n".join([header, *lines]))
    cases = eicu_cases(find_fiddle(folder))
    others = np.arange(N_STAYS) != 20
    assert cases.y.tolist() == died[others].tolist()
    np.testing.assert_array_equal(cases.X, as_written.X[others])


def test_what_the_paper_lists_and_what_the_release_adds(release):
    fiddle_release = find_fiddle(release[0])
    assert fiddle_release.static_features.added == ("ethnicity Native American",)
    assert fiddle_release.static_features.lacking == fiddle_release.dynamic_features.lacking == ()
    assert len(fiddle_release.dynamic_features.names) == sum(map(len, DYNAMIC.values())) == 83
    assert len(DYNAMIC) == 17


def test_what_is_beyond_or_lacking_is_said_in_a_line_each(release, tmp_path):
    """The names are on the summary page: 170 lines before the first fit hid the rest."""
    names = release[0] / "features/mortality_48h/X.feature_names.json"
    listed = json.loads(names.read_text())
    wanted = [name for name in listed if name in names_of(DYNAMIC, ":")]
    gone = wanted[:40]
    names.write_text(json.dumps([f"{n}_x" if n in gone else n for n in listed]))
    said = []

    def announce(text):
        said.extend(text.splitlines())
        raise InterruptedError

    with pytest.raises(InterruptedError):
        run_eicu(release[0], tmp_path / "out", RunOptions(quick=True, announce=announce))
    assert len([line for line in said if line.startswith("lacks: ")]) == 1
    assert len(said) < 8
    assert any("lacks: 40 features of the paper's tables" in line for line in said)


def test_the_folder_above_and_the_flat_one_do_as_well(release, tmp_path):
    folder = release[0]
    above = eicu_cases(find_fiddle(folder.parent))
    flat = tmp_path / "flat"
    flat.mkdir()
    for path in [*folder.glob("features/*/*"), *folder.glob("population/*")]:
        (flat / path.name).write_bytes(path.read_bytes())
    assert eicu_cases(find_fiddle(flat)).fingerprint == above.fingerprint


def test_patients_are_told_apart_where_the_population_does(release):
    folder = release[0]
    path = folder / "population/mortality_48h.csv"
    header, *rows = path.read_text().splitlines()
    whose = [f"{row},p{i // 2}" for i, row in enumerate(rows)]
    path.write_text("\n".join([header + ",uniquepid", *whose]))
    assert len(np.unique(eicu_cases(find_fiddle(folder)).patient)) == N_STAYS // 2


def change_names(folder, change):
    path = folder / "features/mortality_48h/X.feature_names.json"
    path.write_text(json.dumps(change(json.loads(path.read_text()))))


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda f: (f / "population/mortality_48h.csv").unlink(), "mortality_48h.csv: not there"),
        (lambda f: (f / "features/mortality_48h/X.npz").unlink(), "X.npz: not there"),
        (
            lambda f: (f / "features/mortality_48h/X.npz").write_bytes(b"PK nothing"),
            "X.npz: not readable as a sparse array.*Download it again",
        ),
        (
            lambda f: (f / "population/mortality_48h.csv").write_text("ID,died\n1,0\n"),
            "mortality_48h.csv: the table has no column mortality_LABEL; it has ID, died",
        ),
        (
            lambda f: (f / "population/mortality_48h.csv").write_text("ID,mortality_LABEL\n1,0\n"),
            "mortality_48h.csv: 1 stays, where the features have 60.*same release",
        ),
        (
            lambda f: (f / "features/mortality_48h/s.feature_names.json").write_text("[]"),
            "s.feature_names.json: 0 names for the 25 features",
        ),
        (
            lambda f: (f / "features/mortality_48h/s.feature_names.json").write_text("{"),
            "s.feature_names.json: not readable",
        ),
        (
            lambda f: change_names(f, lambda names: [n.replace("cvp", "pressure") for n in names]),
            "X.npz: no feature of cvp.*mortality_48h",
        ),
    ],
)
def test_bad_files_are_named_with_a_remedy(release, spoil, message):
    spoil(release[0])
    with pytest.raises(ExperimentError, match=message):
        eicu_cases(find_fiddle(release[0]))


def test_a_cut_archive_is_told(release):
    path = release[0] / "features/mortality_48h/X.npz"
    with np.load(path) as packed:
        arrays = {name: packed[name] for name in packed.files}
    arrays["coords"] = arrays["coords"][:, :-10]
    np.savez_compressed(path, **arrays)
    with pytest.raises(ExperimentError, match=r"X\.npz: not readable.*Download"):
        eicu_cases(find_fiddle(release[0]))


@pytest.mark.parametrize(("name", "row", "value"), [("X", 0, 60), ("X", 2, 85), ("s", 1, -1)])
def test_values_outside_the_shape_are_refused(release, name, row, value):
    path = release[0] / f"features/mortality_48h/{name}.npz"
    with np.load(path) as packed:
        arrays = {key: packed[key] for key in packed.files}
    arrays["coords"][row, 7] = value
    np.savez_compressed(path, **arrays)
    with pytest.raises(ExperimentError, match=rf"{name}\.npz: not readable \(a value at .*outside"):
        eicu_cases(find_fiddle(release[0]))


def test_hours_of_another_task_are_refused(release):
    path = release[0] / "features/mortality_48h/X.npz"
    with np.load(path) as packed:
        arrays = {name: packed[name] for name in packed.files}
    arrays["shape"] = np.array([60, 12, arrays["shape"][2]])
    np.savez_compressed(path, **arrays)
    with pytest.raises(ExperimentError, match=r"its shape is \(60, 12, 85\)"):
        find_fiddle(release[0])
