"""The summary page of a run: one HTML file with what was asked, found and drawn."""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping, Sequence
from html import escape
from importlib.resources import files
from itertools import groupby

from voros.studies.experiments.intervals import SAME_CHOICE
from voros.studies.experiments.results import LABELS, StudyResult, limits_in_words
from voros.studies.paper.layout import Column, Table, Value

CAPTIONS = {
    "roc": "ROC curves of the selected models on the test set, and the region the limits leave.",
    "area": "Share of the feasible region that is costlier than each model, by cost, on the test "
    "set.",
    "winners": "Which of the selected models, and the best of each family, wins at other limits, "
    "on validation.",
}

WRAPPED = "thead th, tbody td { white-space: normal; }\n"
"""The tables are wide; their cells need not be."""


def answers(result: StudyResult) -> list[str]:
    """Say for each scenario whether choosing by partial VOROS cost less on test."""
    said = []
    for number in sorted({one.scenario for one in result.deployed}):
        parts = []
        for strategy, found in result.intervals[number].items():
            if strategy == "partial_voros":
                continue
            more = found.excess
            excess = f"{more.estimate:+.3f} ({more.low:+.3f} to {more.high:+.3f})"
            told = "" if found.verdict == SAME_CHOICE else f" {excess}"
            parts.append(f"{LABELS[strategy]}{told}: {found.verdict}")
        said.append(
            f"Scenario {number} ({limits_in_words(number)}). Test cost beside max partial VOROS, "
            f"with 95 % intervals: {'; '.join(parts)}."
        )
    return said


def render_summary(
    result: StudyResult, facts: Sequence[tuple[str, str]], pictures: Mapping[str, bytes]
) -> str:
    """Lay a study out as one HTML document that needs no other file."""
    style = (
        files("voros.present.report").joinpath("assets", "report.css").read_text(encoding="utf-8")
    )
    told = "".join(
        f'<tr><th scope="row">{escape(name)}</th><td>{escape(text)}</td></tr>'
        for name, text in facts
    )
    verdict = "".join(f'<p class="verdict">{escape(line)}</p>' for line in answers(result))
    body = "\n".join(
        [
            f"<h1>{escape(result.title)}</h1>",
            verdict,
            f'<h2>What was run</h2><div class="scroll"><table class="facts">{told}</table></div>',
            "<h2>Tables</h2>",
            *map(_table, result.tables),
            "<h2>Figures</h2>",
            *(_figure(name, image) for name, image in pictures.items()),
        ]
    )
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(result.title)}</title>\n<style>\n{style}{WRAPPED}</style>\n</head>\n"
        f"<body>\n<main>\n{body}\n</main>\n</body>\n</html>\n"
    )


def _table(table: Table) -> str:
    spans = [
        (re.split("[:,]", group)[0], len(list(columns)))
        for group, columns in groupby(table.columns, key=lambda column: column.group)
    ]
    groups = "".join(f'<th colspan="{width}">{escape(name)}</th>' for name, width in spans)
    titles = "".join(f'<th scope="col">{escape(column.title)}</th>' for column in table.columns)
    body = "".join(f"<tr>{_row(row, table.columns)}</tr>" for row in table.rows)
    return (
        f"<p>{escape(table.title)}.</p>\n"
        f'<div class="scroll"><table><thead><tr>{groups}</tr><tr>{titles}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def _row(row: Sequence[Value], columns: Sequence[Column]) -> str:
    cells = (_cell(value, column) for value, column in zip(row, columns, strict=True))
    return "".join(f"<td>{escape(cell)}</td>" for cell in cells)


def _cell(value: Value, column: Column) -> str:
    return f"{value:.{column.decimals}f}" if isinstance(value, float) else str(value)


def _figure(name: str, image: bytes) -> str:
    _, number, kind = name.removesuffix(".png").split("_")
    data = base64.b64encode(image).decode("ascii")
    caption = f"Scenario {number}. {CAPTIONS[kind]}"
    return (
        f'<figure><img src="data:image/png;base64,{data}" alt="{escape(caption)}">'
        f"<figcaption>{escape(caption)}</figcaption></figure>"
    )
