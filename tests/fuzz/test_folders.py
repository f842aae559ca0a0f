"""Drawn folders of files that were not written alike: one answer or one refusal for all engines."""

from collections import Counter

import numpy as np
import pytest

import voros
from voros.engines import count_frame, open_files

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::voros.VorosWarning"),
    pytest.mark.filterwarnings("ignore:The inplace keyword"),
]

FOLDERS = 60
SCENARIO = voros.Scenario(0.25, 0.5, (0.1, 0.4))
WHOLE, FRACTIONS = (pa.int8(), pa.int32(), pa.int64()), (pa.float32(), pa.float64())
LABELS = (pa.bool_(), pa.int8(), pa.int64(), pa.float64(), pa.string())
HIDDEN = ("_tmp.parquet", ".part.parquet", "_temporary/0/x.parquet", ".ipynb_checkpoints/x.parquet")
OTHERS = ("notes.txt", "_SUCCESS", "b.csv")


def draw(rng, folder):
    """Write a folder, and return its labels and scores, or None where it must be refused."""
    kinds = [LABELS[i] for i in rng.integers(len(LABELS), size=int(rng.integers(1, 4)))]
    if rng.random() < 0.7:
        kinds = [kinds[0]] * len(kinds)
    refused = not (len(set(kinds)) == 1 or all(kind in (*WHOLE, *FRACTIONS) for kind in kinds))
    labels, scores = [], []
    for number, kind in enumerate(kinds):
        died = rng.random(60) < 0.4
        risk, score_type = draw_scores(rng, died)
        table = pa.table({"died": labels_of(died, kind), "risk": pa.array(risk).cast(score_type)})
        if rng.random() < 0.3:
            table = table.append_column("note", pa.array([["a", 1][number % 2]] * 60))
        fault = rng.choice(["", "", "", "", "lacks", "twice", "empty"])
        place = folder / str(rng.choice(["", "year=2024", "deep/er"])) / f"part-{number}.parquet"
        place.parent.mkdir(parents=True, exist_ok=True)
        refused |= write(place, table, fault)
        labels.append(died)
        scores.append(np.asarray(table.column("risk").to_pylist(), dtype=float))
    for name in rng.choice([*HIDDEN, *OTHERS], 2, replace=False):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(pa.table({"died": [True] * 9, "risk": [0.9] * 9}), folder / name)
    return None if refused else (np.concatenate(labels), np.concatenate(scores))


def draw_scores(rng, died):
    if rng.random() < 0.4:
        return np.round(3 * (rng.normal(size=60) + died)), WHOLE[rng.integers(3)]
    kind = FRACTIONS[rng.integers(2)]
    return (rng.normal(size=60) + died).astype(np.float32), kind


def labels_of(died, kind):
    if kind == pa.string():
        return pa.array(np.where(died, "1", "0"))
    return pa.array(died) if kind == pa.bool_() else pa.array(died.astype(int)).cast(kind)


def write(place, table, fault):
    """Write a file, with a fault that every engine must refuse, and return whether it has one."""
    if fault == "empty":
        place.touch()
    elif fault == "lacks":
        pq.write_table(table.drop_columns(["risk"]), place)
    elif fault == "twice":
        pq.write_table(table.append_column("Risk", table.column("risk")), place)
    else:
        pq.write_table(table, place)
    return fault != ""


def counted(folder, engine):
    """Return the certified interval and the rows, or why the folder was refused."""
    try:
        frame = open_files(folder, engine, ["died", "risk"])
        points = count_frame(
            frame, label="died", scores=["risk"], pos_label=None, scenarios=[SCENARIO]
        )["risk"]
    except voros.exceptions.PredictionFileError as error:
        return str(error)
    except ValueError as error:
        if "pos_label" not in str(error):
            raise
        return "labels are text"
    return points.covers.usage.rows, points.covers.interval


def test_all_engines_read_a_folder_alike(tmp_path):
    engines = ["duckdb", "polars"]
    for engine in engines:
        pytest.importorskip(engine)
    rng, seen = np.random.default_rng(31), Counter()
    for number in range(FOLDERS):
        folder = tmp_path / str(number)
        folder.mkdir()
        cases = draw(rng, folder)
        answers = [counted(folder, engine) for engine in engines]
        if cases is None or isinstance(answers[0], str):
            assert len(set(map(str, answers))) == 1, (number, answers)
            assert isinstance(answers[0], str), (number, answers)
            assert cases is None or answers[0] == "labels are text", (number, answers)
            seen["refused"] += 1
            continue
        truth = voros.evaluate(*cases, SCENARIO).score
        for rows, interval in answers:
            assert rows == len(cases[0]), number
            assert interval == pytest.approx((truth, truth), abs=1e-12), number
        seen["equal"] += 1
    print(f"{FOLDERS} folders: {dict(seen)}")
    assert min(seen["equal"], seen["refused"]) > FOLDERS / 6
