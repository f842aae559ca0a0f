"""The page reads files as the command line does: the same counts, notes and complaints."""

import base64
import gzip
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from present.explorer.node import answers_of_page, needs_node

from voros.core.operating_points import OperatingPoints
from voros.exceptions import Argument, Message
from voros.io import read_predictions
from voros.present.explorer.thinning import useful_points

pytest.importorskip("pyarrow", reason="reading files needs the cli extra")


CONTROLS = {
    "label": "“Label”",
    "scores": "“Models”",
    "pos_label": "“Positive label”",
    "drop_missing": "“Leave out rows with a missing value”",
}
"""What the page has in place of arguments."""


@dataclass(frozen=True)
class Case:
    """A file, and what was asked of it."""

    content: bytes
    name: str = "cases.csv"
    label: str | None = None
    scores: tuple[str, ...] = ()
    pos_label: str | None = None
    drop_missing: bool = False


def text(rows: str, **options: Any) -> Case:
    return Case(rows.encode(), **options)


ROWS = "1,0.9\n0,0.2\n0,0.4\n"
COUNTED = "".join(f"{i},{i % 2},0.{i}\n" for i in range(12))
LATIN = "label,score,note\n1,0.5,café\n0,0.25,thé\n".encode("latin-1")

ACCEPTED = [
    text("died,risk\n" + ROWS),
    text("died,ward,risk\n1,A,0.9\n0,B,0.2\n0,A,0.4\n"),
    text("died,note,risk\n1,late,0.9\n0,,0.2\n0,,0.4\n"),
    text("label,note,risk\n" + 1000 * "0,NA,0.2\n" + "1,late,0.9\n"),
    text("a,b,label\n1,2,1\n3,1,0\n"),
    text("died;risk\n1;0.9\n0;0.2\n"),
    text("died\trisk\n1\t0.9\n0\t0.2\n", name="cases.tsv"),
    text("died\trisk\n1\t0.9\n0\t0.2\n", name="cases.txt"),
    text("died\trisk\n1\t0.9\n0\t0.2\n"),
    text("\ufeffdied,risk\r\n1,0.9\r\n\r\n0,0.2\r\n"),
    text("\n\ndied,risk\n1,0.9\n\n\n0,0.2"),
    text("died,risk\r1,0.9\r0,0.2\r"),
    text('"died","risk","no""te"\n"1","0.9","a,b\n""c"""\n0,0.2,x\n'),
    text('died,risk,note\n1,"0.9"1,a"b\n0,0.2,"x" y\n'),
    text("y,s\n1,inf\n0,-inf\n1,-Infinity\n0,INF\n1,1e400\n0,-1e400\n"),
    text("y,s\n1,-0.0\n0,0.0\n1,0\n0,-0\n1,5e-324\n0,1e-400\n"),
    text("y,s\n1,+0.5\n0, .5 \n1,5.\n0,1E+2\n1,\t7\n0,-.25\n"),
    text("y,s\n1,0.1\n0,0.30000000000000004\n1,0.3\n0,123456789012345678\n1,1e22\n0,1e23\n"),
    text("y,s\n" + "".join(f"{i % 2},{7.0 ** -i!r}\n" for i in range(40))),
    text("y,s\n-1,0.5\n1,0.25\n-1,0.125\n"),
    text("y,s\n1.0,0.5\n0.0,0.25\n"),
    text("y,s\ntrue,0.5\nFalse,0.25\nTRUE,0.125\n"),
    text("died,s\n1,0.5\ntrue,0.25\n0,0.125\n", label="died"),
    text("y,s\nill,0.5\nwell,0.25\n", pos_label="ill"),
    text("y,s\n1,0.5\n2,0.25\n", pos_label="2"),
    text("y,s\n1,0.5\n0,0.25\n", pos_label="0"),
    text("y,s\n1,0.5\n0,0.25\n", pos_label="true"),
    text("y,s\ntrue,0.5\nfalse,0.25\n", pos_label="false"),
    text("y,s,t\n1,0.5,NA\n0,0.25,1\n,1,1\n0,nan,2\n1,3,3\n", drop_missing=True),
    text("y,s\nill,0.5\nNone,0.25\nwell,1\n", pos_label="ill", drop_missing=True),
    text("row,y,s\n" + COUNTED),
    text("patient_id,y,Age,s,StayId\n7,1,30,0.5,3\n3,0,40,0.25,9\n"),
    text("y,when,at,stamp,fine,zoned,s\n" + "1,2024-01-05,12:30,2024-01-05 10:00:00,"
         "2024-01-05T10:00:00.5,2024-01-05T10:00:00Z,0.5\n0,2024-01-06,12:31:01,"
         "2024-01-06 10:00,2024-01-05T10:00:00,2024-01-05T10:00:00Z,1\n"),
    text("y,s,p,c,e\n1,0.5,12.3%,\"0,5\",\n0,1,4%,\"1,5\",\n"),
    text("état,score\n1,0.9\n0,0.5\n"),
    text("y,s,it's,\"q\"\"\"\n1,0.5,a,b\n0,1,c,d\n"),
    Case(LATIN, label="label"),
    Case(gzip.compress(b"died,risk\n1,0.9\n0,0.2\n"), name="cases.csv.gz"),
    text("died,risk,other\n1,0.9,1\n0,0.2,2\n", scores=("other",)),
    text("died,risk,other\n1,0.9,1\n0,0.2,2\n", label="died", scores=("other", "risk")),
    text("y,s\n1,0x10\n0,1\n", scores=("y",), label="s", pos_label="1"),
]  # fmt: skip

REFUSED = [
    text("y,s,flag\n1,0.5,true\n0,1,false\n"),
    text('"died","risk","no""te"\n"1","0.9","a,b\n""c"""\n0,0.2,1\n'),
    text(""),
    text(" \n\n"),
    text("died,risk\n"),
    text("died,risk\n1,0.9\n0\n"),
    text("died,risk\n1,0.9\n0,1,2\n"),
    text("died,risk\n1,0.9\n0,oops\n1,0.5\n"),
    text("died,risk\n1,0.9\n0,\"oops\"\n1,0.5\n"),
    text('label,note,score\n1,"two\nlines",0.5\n0,plain,bad\n', scores=("score",)),
    text('label,note,score\r\n1,"two\r\nlines",0.5\r\n0,plain,bad\r\n', scores=("score",)),
    text('label,score,note\n1,0.5,"a\n0,0.25,b\n1,0.5,c\n', scores=("score",)),
    text("label;score\n1;0.5\n0;0,25\n1;0.75\n"),
    text("label;score\n1;12.3%\n0;4%\n", scores=("score",)),
    text("label;score\n1;1234.5 %\n0;4%\n", scores=("score",)),
    text("label;score\n1;\n0;\n"),
    text("label,score\n1,0x10\n0,1\n"),
    text("label,score\n1,1_0\n0,1\n1,2\n"),
    text("label,score\n1, NA\n0,1\n1,2\n"),
    text("label,score\n1,.\n0,1\n1,2\n"),
    text("label,score\n1," + "x" * 60 + "\n0,1\n1,2\n"),
    text("label,score\n1,0.5\n0,NA\n1,\n0,0.5\n"),
    text("label,score\n,0.5\n0,0.25\n1,1\n"),
    text("label,score\n,0.5\n1,NA\n", drop_missing=True),
    text("a,b\n0.5,1.5\n0.25,2.5\n"),
    text("a,b\n0,1\n1,0\n"),
    text("a,b,a\n0,1,1\n1,0,1\n"),
    text("label,scores,scores\n1,0.5,1\n0,0.25,1\n"),
    text("label,label,s\n1,0.5,1\n0,0.25,1\n"),
    text("label,ward\n1,a\n0,b\n"),
    text("label,s\n1,0.5\n1,0.25\n"),
    text("label,s\n0,0.5\n0,0.25\n"),
    text("label,s\ntrue,0.5\ntrue,0.25\n"),
    text("label,s\n2,0.5\n1,0.25\n"),
    text("label,s\n2,0.5\n2,0.25\n"),
    text("label,s\n0.5,0.5\n1,0.25\n"),
    text("label,s\n" + "".join(f"{i},0.5\n" for i in range(9))),
    text("label,s\n" + "".join(f"{i / 4},0.5\n" for i in range(9))),
    text("label,s\nill,0.5\nwell,0.25\n"),
    text("label,s\na,0.5\nb,0.25\nc,1\n"),
    text("label,s\na,0.5\nb,0.25\n", pos_label="c"),
    text("label,s\n0,0.5\n1,0.25\n", pos_label="3"),
    text("label,s\n0,0.5\n1,0.25\n", pos_label="ill"),
    text("label,s\nill,0.5\nill,0.25\n", pos_label="ill"),
    text("label,s\n1,0.5\n0,0.25\n", scores=("label",), label="label"),
    Case("état,score\n1,0.5\n0,0.25\n".encode("latin-1")),
    Case("label,score\nné,0.5\nmort,0.25\n".encode("latin-1"), pos_label="mort"),
    Case(b"label,score\n1,0.5\n0,\xff\xfe\n1,2\n", scores=("score",)),
    Case(b"\xff\xfed\x00i\x00"),
    Case(b"PK\x03\x04 and so on"),
    Case(b"%PDF-1.4"),
    Case(b"SQLite format 3\x00"),
    Case(b"\xd0\xcf\x11\xe0 old"),
    text("died,ri\"sk\n1,0.9\n0,oops\n1,1\n"),
    text("a,label,b\n" + "1,1,2\n" * 3 + "1,0\n"),
]  # fmt: skip


def in_page_words(error: BaseException) -> str:
    """A message, with the page's controls in place of arguments."""
    said = error.args[0] if error.args and isinstance(error.args[0], Message) else str(error)
    parts = said.parts if isinstance(said, Message) else (said,)
    words = (CONTROLS[part.name] if isinstance(part, Argument) else str(part) for part in parts)
    # An argument is passed, and a control chosen.
    return "".join(words).replace("pass “", "choose “")


def alarms_at_risks(labels: Any, scores: Any) -> dict[str, list[int]] | None:
    """Alarms at each hundredth, where scores are probabilities."""
    if not ((scores >= 0) & (scores <= 1)).all():
        return None
    alarms = [scores >= percent / 100 for percent in range(1, 100)]
    return {
        "tp": [int(alarm[labels].sum()) for alarm in alarms],
        "fp": [int(alarm[~labels].sum()) for alarm in alarms],
    }


def python_outcome(case: Case, folder: Path) -> dict[str, Any]:
    (folder / case.name).write_bytes(case.content)
    try:
        predictions = read_predictions(
            case.name,
            label=case.label,
            scores=case.scores,
            pos_label=case.pos_label,
            drop_missing=case.drop_missing,
        )
    except ValueError as error:
        return {"problem": in_page_words(error)}
    models, as_scored = [], []
    for name, scores in predictions.scores.items():
        as_scored.append(alarms_at_risks(predictions.labels, scores))
        points = useful_points(OperatingPoints.from_scores(predictions.labels, scores))
        models.append(
            {
                "name": name,
                "thresholds": points.thresholds[1:].tolist(),
                "tp": points.tp[1:].tolist(),
                "fp": points.fp[1:].tolist(),
            }
        )
    return {
        "models": models,
        "asScored": as_scored,
        "nPositive": int(predictions.labels.sum()),
        "nNegative": int((~predictions.labels).sum()),
        "notes": [in_page_words(ValueError(note)) for note in predictions.notes],
    }


def page_outcomes(cases: list[Case], folder: Path) -> list[dict[str, Any]]:
    asked = [
        {
            "name": case.name,
            "content": base64.b64encode(case.content).decode(),
            "wanted": {
                "label": case.label,
                "scores": case.scores,
                "posLabel": case.pos_label,
                "dropMissing": case.drop_missing,
            },
        }
        for case in cases
    ]
    outcomes: list[dict[str, Any]] = answers_of_page("read.mjs", asked, folder)
    for outcome in outcomes:
        assert outcome.pop("known", True), outcome
        outcome.pop("roles", None)
        for model in outcome.get("models", ()):
            model["thresholds"] = [float(x.lower()) for x in model["thresholds"]]
    return outcomes


@needs_node
@pytest.mark.parametrize(("kind", "cases"), [("accepted", ACCEPTED), ("refused", REFUSED)])
def test_the_same_files_come_to_the_same(
    kind: str, cases: list[Case], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "script").mkdir()
    outcomes = page_outcomes(cases, tmp_path / "script")
    for case, of_page in zip(cases, outcomes, strict=True):
        expected = python_outcome(case, tmp_path)
        assert of_page == expected, case
        assert ("problem" in expected) == (kind == "refused"), case


def random_file(rng: np.random.Generator) -> Case:
    """A file that may be odd in any of the ways that files are."""
    n, kinds = int(rng.integers(3, 40)), ["0", "1"]
    mark = str(rng.choice([",", ";", "\t"]))
    end = str(rng.choice(["\n", "\r\n"]))
    odd = ["", "NA", "inf", "-inf", "-0.0", "0", "1e5", "x", "0.5%", " 1 ", '"2"', "1e-7", "nan"]
    lines = [mark.join(["label", "a", "b", "note"])]
    share = float(rng.choice([0.0, 0.02, 0.2]))
    for _ in range(n):
        cells = [str(rng.choice(kinds))]
        for digits in (1, 17):
            usual = f"{rng.random():.{digits}f}"
            cells.append(str(rng.choice(odd)) if rng.random() < share else usual)
        cells.append(str(rng.choice(["", "x", '"a,b"', '"c""d"', '"two\nlines"', "é"])))
        lines.append(mark.join(cells[: 3 if rng.random() < share / 10 else 4]))
    drop = bool(rng.random() < 0.5)
    return text(end.join(lines), scores=("a", "b"), label="label", drop_missing=drop)


@pytest.mark.slow
@needs_node
def test_random_files_come_to_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(18)
    cases = [random_file(rng) for _ in range(150)]
    monkeypatch.chdir(tmp_path)
    (tmp_path / "script").mkdir()
    expected = [python_outcome(case, tmp_path) for case in cases]
    assert page_outcomes(cases, tmp_path / "script") == expected
    refused = sum("problem" in outcome for outcome in expected)
    assert 30 < refused < 120
