"""A report on disk: one HTML document and its JSON, both or neither."""

from __future__ import annotations

import math
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from voros.core.decision import STRATEGY_TITLES, at_deployment
from voros.core.hull import Choice
from voros.installing import package_versions
from voros.io import check_writable, write_together
from voros.io.writing import json_text
from voros.policy import PolicyEvaluation
from voros.present.document import render_document
from voros.present.report.accuracy import (
    accuracy_in_words,
    accuracy_tables,
    data_parts,
    flow_by_subgroup,
    flow_steps,
    net_benefit_table,
)
from voros.present.report.content import DataSummary, Report
from voros.present.report.figures import report_pictures
from voros.present.report.risks import calibration_in_words, calibration_table, quality_table
from voros.present.report.stays import stay_sections, stays_metadata
from voros.present.report.values import REPORTED_PACKAGES, report_document
from voros.present.report.wording import (
    consequences_in_words,
    evaluation_in_words,
    limits_verdict,
    policy_in_words,
)
from voros.selection import ModelScores
from voros.text.numbers import (
    count,
    interval,
    percent,
    percent_of,
    short,
    signed,
    threshold_text,
    typed_percent,
)
from voros.text.table import Table

SECTIONS = {
    "data": "Data and flow of cases",
    "limits": "Limits and costs",
    "ranking": "Ranking",
    "decision-curve": "Decision curve",
    "policy": "Chosen policy",
    "counts": "Counts at the deployed threshold",
    "calibration": "Discrimination and calibration",
    "test": "Test",
    "groups": "Subgroups of the test cases",
    "other-limits": "At other limits",
    "made": "How this was made",
}
"""Headings by the name that links use."""

SCORE_WORDS = (
    "Partial VOROS is the share of the operating points within the limits that cost more than the "
    "model's best one, averaged over the costs: 0 is no better than raising no alarm or, with a "
    "recall floor, than the costliest within the limits; 1 is perfect. VOROS is the same without "
    "limits",
    "The partial AUROC is the area under the part of the ROC curve whose thresholds meet the "
    "limits, as a share of the unit square. Recall is the highest that the limits allow",
)
"""What the columns of the ranking are."""

COST_WORDS = (
    "Cost of 1,000 cases, in misses: the misses, and the false alarms at C_FP / C_FN each",
    "Expected cost (normalised, without unit): that cost divided, at each C_FP / C_FN, by the cost "
    "of deciding every case wrongly, so that 0 is perfect and 1 the worst possible",
    "Both are means over the costs, and a mean of quotients is not the quotient of means. Net "
    "benefit per 1,000 cases is the number of positives less the cost of 1,000 cases, at one ratio",
)
"""The costs of a report, each defined once."""

CHOICE_TITLES = ("alarms", "correct", "precision", "recall")
"""What a table says of the alarms at a threshold."""


def report_paths(path: str | Path) -> tuple[Path, Path]:
    """Return where the document and its JSON go.

    Examples
    --------
    >>> [file.name for file in report_paths("choice.html")]
    ['choice.html', 'choice.json']
    """
    document = Path(path)
    if document == Path("-"):
        raise ValueError("a report is two files, HTML and JSON, and - is one; name a .html file")
    if document.suffix.lower() not in (".html", ".htm"):
        raise ValueError(f"{document}: the name of a report must end in .html")
    return document, document.with_suffix(".json")


def save_report(report: Report, path: str | Path, *, force: bool = False) -> tuple[Path, Path]:
    """Write a report as HTML, and the same content as JSON beside it.

    Returns
    -------
    tuple of Path
        The document and its JSON.

    Examples
    --------
    >>> import tempfile, voros
    >>> from voros.present.report import make_report
    >>> y, risk = [0, 1, 0, 1] * 30, [0.1, 0.9, 0.8, 0.7] * 30
    >>> ward = voros.Scenario(0.5, 0.5, cost_ratio=(0.1, 0.2))
    >>> report = make_report(y, {"risk": risk}, ward, title="Ward A", n_resamples=100)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     [path.name for path in save_report(report, folder + "/choice.html")]
    ['choice.html', 'choice.json']
    """
    document, values = report_paths(path)
    check_writable((document, values), force=force)
    written = datetime.now(UTC)
    write_together(
        {
            document: render_report(report, written),
            values: json_text(report_document(report, written)),
        },
        force=force,
    )
    return document, values


def render_report(report: Report, written: datetime) -> str:
    """Lay a report out as one HTML document that needs no other file."""
    return render_document(
        "voros.present.report",
        "report.html",
        report=report,
        title=report.title,
        written=written,
        deployed=policy_in_words(report.policy),
        sections=SECTIONS,
        parts=[
            (name, data, _data_metadata(data), flow_steps(data)) for name, data in _data(report)
        ],
        limits=_limit_metadata(report),
        ranking_words=_ranking_in_words(report),
        ranking=_ranking_table(report),
        differences=_differences_table(report),
        score_words=SCORE_WORDS,
        policy=_policy_table(report),
        curve=report.policy.confidence_curve().table() if report.policy.curve else None,
        default=threshold_text(report.policy.default.threshold),
        counts_words=accuracy_in_words(report),
        **(stay_sections if report.over_stays else _case_sections)(report),
        **report_pictures(report),
        versions=", ".join(map(" ".join, package_versions(*REPORTED_PACKAGES).items())),
    )


def _case_sections(report: Report) -> dict[str, Any]:
    """Return the parts of the document that alarms over stays do not have, or have otherwise."""
    tested = report.tested
    by_subgroup = None if tested is None else tested.by_subgroup
    return {
        "opening": opening_in_words(report),
        "cost_words": COST_WORDS,
        "test_words": ()
        if tested is None
        else evaluation_in_words(tested, report.false_alarm_cost),
        "tested": None if tested is None else _test_table(tested.choices),
        "broken": tested is not None and not tested.satisfied,
        "counts": accuracy_tables(report),
        "quality": quality_table(report),
        "calibration": calibration_table(report),
        "net_benefit": net_benefit_table(report),
        "calibration_words": calibration_in_words(report),
        "subgroup_flow": None if by_subgroup is None else flow_by_subgroup(by_subgroup),
        "by_subgroup": by_subgroup,
    }


def opening_in_words(report: Report) -> list[str]:
    """Say what the choice means, on the test cases where there are any, and whether limits held."""
    *_, (which, evaluation) = data_parts(report).items()
    said = [consequences_in_words(evaluation, which)]
    if report.tested is None:
        return [
            *said,
            "The threshold was chosen on these cases: expect less on others. It was not tested.",
        ]
    said.append(_uncertainty_in_words(evaluation, which))
    said.append(f"On the test cases: {limits_verdict(report.tested)}.")
    if not report.tested.satisfied:
        said.append("Look at the test below before deploying it.")
    if not report.held_out:
        said.append("The test file is the validation file: nothing was held out.")
    elif report.in_both is not None and report.in_both.patients:
        said.append(f"{report.in_both}.")
    return said


def _uncertainty_in_words(evaluation: PolicyEvaluation, which: str) -> str:
    """Say how far precision, recall and alarms may lie from those of the cases."""
    assert evaluation.intervals is not None, "a report is of whole cases"
    of = evaluation.intervals
    cases = evaluation.n_positive + evaluation.n_negative
    ends = {
        "of the alarms are correct": of.precision,
        "of the positives are caught": of.recall,
        "of the cases raise an alarm": tuple(end / cases for end in of.alarms),
    }
    shares = [f"{percent(low)} to {percent(high)} {what}" for what, (low, high) in ends.items()]
    return (
        f"In the population that the {which} cases come from, at "
        f"{percent(evaluation.confidence_level)} confidence each: "
        f"{', '.join(shares[:-1])} and {shares[-1]}."
    )


def _data(report: Report) -> list[tuple[str, DataSummary]]:
    parts = (("Validation", report.validation), ("Test", report.test))
    return [(name, data) for name, data in parts if data is not None]


def _data_metadata(data: DataSummary) -> list[tuple[str, str]]:
    share, memory = data.positives / data.cases, "given in memory, from Python"
    positive = "with an event" if data.stays else "positive"
    digest = (("SHA-256", data.sha256 or "read from standard input"),) if data.file else ()
    return [
        ("file", data.file or memory),
        *digest,
        (
            "stays" if data.stays else "cases",
            f"{data.cases:,}, of which {data.positives:,} {positive} ({percent(share)})",
        ),
        *(stays_metadata(data) if data.stays else ()),
        *((("label", data.label),) if data.label else ()),
        *((("patients", f"{data.patients:,}"),) if data.patients is not None else ()),
        ("models", ", ".join(data.models)),
        *((("periods", data.periods),) if data.periods else ()),
        *(("note", note) for note in data.notes),
    ]


def _limit_metadata(report: Report) -> list[tuple[str, str]]:
    scenario, points = report.scenario, report.points[report.winner]
    cases = at_deployment(points, scenario)
    most = report.selection.allowed[report.winner].decision.max_alarms
    if report.over_stays or isinstance(cases.n_cases, int):
        most = math.floor(most)
    capacity = f"alarms for at most {count(most)} of {count(cases.n_cases)} cases"
    if report.over_stays:
        capacity = f"at most {count(most)} alarms on the validation stays"
    rule = f" {scenario.rule}" if scenario.per else ""
    prevalence = (
        "that of the data" if scenario.prevalence is None else typed_percent(scenario.prevalence)
    )
    least = scenario.min_recall
    recall = [] if least is None else [("recall", f"at least {least:g} of the positives found")]
    return [
        ("precision", f"at least {scenario.min_precision:g} of the alarms must be correct"),
        *recall,
        ("capacity", f"{capacity} (capacity {scenario.capacity!r}{rule})"),
        ("costs", scenario.costs.words),
        ("prevalence", prevalence),
    ]


def _ranking_in_words(report: Report) -> str:
    selection = report.selection
    units = "stays" if report.over_stays else "cases"
    if report.validation.patients is not None:
        units = f"{report.validation.patients:,} patients"
    if report.scenario.per_period and not report.over_stays:
        units = f"periods (per {report.scenario.per})"
    words = (
        f"Ranked by {STRATEGY_TITLES[selection.strategy]} on the validation cases. Intervals are "
        f"from {report.resamples:,} resamples of the {units}, the same for all models, with the "
        "limits applied inside each; wins is the share of them in which a model scores best."
    )
    if report.policy.guarantee is not None:
        words += (
            " The ranking counts only thresholds that the guarantee allows: the partial VOROS they "
            "leave stands under guaranteed, and the intervals are of partial VOROS without it."
        )
    close = ", ".join(selection.close_to_winner)
    return words + (
        f" Within {short(selection.tolerance_of())} of the winner: {close}." if close else ""
    )


def _ranking_table(report: Report) -> Table:
    certified = report.policy.guarantee is not None
    header = (
        *("model", "partial VOROS", f"{percent(report.confidence_level)} interval", "wins"),
        *(("guaranteed",) if certified else ()),
        *("behind", "VOROS", "partial AUROC", "recall", "feasible"),
    )
    rows = [_ranking_cells(report, row, certified) for row in report.selection.ranking]
    return Table.from_rows([header, *rows])


def _differences_table(report: Report) -> Table | None:
    """Return by how much the chosen model leads over each other one; None where it is alone."""
    from voros.inference.bca import interval_in_words

    pairs = [p for p in report.differences if report.winner in (p.first, p.second)]
    if not pairs:
        return None
    rows = [
        (
            f"{pair.first} - {pair.second}",
            signed(pair.difference),
            interval_in_words(pair.low, pair.high, signed),
            short(pair.adjusted_p_value),
        )
        for pair in pairs
    ]
    head = ("pair", "difference", f"{percent(report.confidence_level)} interval", "p, Holm")
    return Table.from_rows([head, *rows], "Differences in partial VOROS, on the same resamples")


def _ranking_cells(report: Report, row: ModelScores, certified: bool) -> tuple[str, ...]:
    # Its package loads SciPy's distributions, which other commands do without.
    from voros.inference.bca import interval_in_words

    interval = report.intervals[row.model]
    return (
        row.model,
        short(interval.estimate),
        interval_in_words(interval.low, interval.high),
        percent_of(interval.wins, report.resamples),
        *((short(row.partial_voros),) if certified else ()),
        f"{short(report.selection.behind(row, 'partial_voros'))}",
        short(row.voros),
        short(row.partial_auroc),
        short(row.recall),
        "yes" if row.feasible else "no",
    )


def _policy_table(report: Report) -> Table:
    policy = report.policy
    low, high = report.scenario.costs.ratio_range(policy.n_negative / policy.n_positive)
    rows = [
        (
            interval(max(choice.cost_ratio_low, low), min(choice.cost_ratio_high, high)),
            percent(probability),
            *_choice_cells(choice),
        )
        for choice, probability in zip(policy.choices, policy.probabilities, strict=True)
        if probability > 0
    ]
    header = ("C_FP / C_FN", "probability", "alarm at a score of", *CHOICE_TITLES)
    return Table.from_rows([header, *rows], "On the validation cases")


def _test_table(choices: Iterable[Choice]) -> Table:
    rows = [(interval(c.cost_ratio_low, c.cost_ratio_high), *_choice_cells(c)) for c in choices]
    header = ("C_FP / C_FN", "threshold", *CHOICE_TITLES)
    return Table.from_rows([header, *rows], "On the test cases, thresholds fixed beforehand")


def _choice_cells(choice: Choice) -> tuple[str, ...]:
    return (
        threshold_text(choice.threshold),
        count(choice.alarms),
        count(choice.tp),
        # No alarm has no precision, and where there is no positive there is no recall.
        short(choice.precision),
        short(choice.recall),
    )
