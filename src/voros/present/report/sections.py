"""The sections of a report: sentences, tables and pictures under their headings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

from voros.core.decision import STRATEGY_TITLES
from voros.present.document import Pairs, Picture
from voros.present.report.accuracy import accuracy_in_words, accuracy_tables, net_benefit_table
from voros.present.report.content import Report
from voros.present.report.figures import (
    calibration_pictures,
    decision_pictures,
    policy_pictures,
    ranking_pictures,
    subgroup_pictures,
    winner_pictures,
)
from voros.present.report.risks import calibration_in_words, quality_table
from voros.present.report.wording import consequences_in_words, limits_verdict, policy_in_words
from voros.text.numbers import percent, short, threshold_text
from voros.text.table import Table

Part: TypeAlias = str | Pairs | Picture | Table

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
    "Cost of 1,000 cases, in misses: the number of misses, plus C_FP / C_FN for each false alarm",
    "Expected cost (normalised, without unit): that cost divided, at each C_FP / C_FN, by the cost "
    "of deciding every case wrongly, so that 0 is perfect and 1 the worst possible",
    "Both are means over the costs, and a mean of quotients is not the quotient of means. Net "
    "benefit per 1,000 cases is the number of positives less the cost of 1,000 cases, at one ratio",
)
"""The costs of a report, each defined once."""

STAY_COST_WORDS = (
    "Costs are in missed events: their number, plus C_FP / C_FN for each false alarm",
)


def report_sections(report: Report) -> dict[str, list[Part]]:
    """Return the parts of each section by its heading; a section of none is left out."""
    sections = {
        "Data": _data(report),
        "Limits and costs": _limits(report),
        "Ranking": _ranking(report),
        "Chosen policy": _policy(report),
        "Counts at the deployed threshold": _counts(report),
        "Discrimination and calibration": _calibration(report),
        "Decision curve": _decision_curve(report),
        "Test": _test(report),
        "Subgroups of the test cases": _subgroups(report),
        "At other limits": winner_pictures(report),
    }
    written = {heading: list(parts) for heading, parts in sections.items()}
    return {heading: parts for heading, parts in written.items() if parts}


def _capitalised(text: str) -> str:
    """Begin a text with a capital letter; one that begins with a model's name is left alone."""
    return text[:1].upper() + text[1:]


def opening_in_words(report: Report) -> list[str]:
    """Say what the choice means, on the test cases where there are any, and whether limits held."""
    *_, (which, evaluation) = report.evaluations.items()
    units = "stays" if report.over_stays else "cases"
    if report.over_stays:
        said = _stays_opening(which, evaluation)
    else:
        said = [consequences_in_words(evaluation, which)]
    if report.tested is None:
        chosen = f"The threshold was chosen on these {units}"
        return [*said, f"{chosen}: expect worse on others. It was not tested."]
    if not report.over_stays:
        said.append(_uncertainty_in_words(report))
    said.append(f"On the test {units}: {_verdict(report)}.")
    if not report.tested.satisfied:
        said.append("Look at the test below before deploying it.")
    if not report.held_out:
        said.append("The test file is the validation file: nothing was held out.")
    elif report.in_both is not None and report.in_both.patients:
        said.append(f"{report.in_both}.")
    return said


def _stays_opening(which: str, evaluation: Any) -> list[str]:
    said = [
        f"On the {which} stays {evaluation.tp:,} of {evaluation.n_events:,} events are caught, "
        f"with {short(evaluation.alarms_per_patient_day)} alarms per patient-day."
    ]
    if evaluation.tp:
        said.append(
            f"There are {short(evaluation.number_needed_to_evaluate)} alarms for each event "
            "caught; half of these events have at least "
            f"{short(evaluation.lead_time_quartiles[1])} hours of warning."
        )
    return said


def _uncertainty_in_words(report: Report) -> str:
    """State the intervals of precision, recall and alarms from the test cases."""
    tested, cases = report.tested, report.tested.counts.n_cases
    precision, recall = tested.intervals.precision, tested.intervals.recall
    alarms = [end / cases for end in tested.intervals.alarms]
    shares = [" to ".join(map(percent, ends)) for ends in (precision, recall, alarms)]
    return (
        "In the population that the test cases come from, at "
        f"{percent(tested.confidence_level)} confidence each: {shares[0]} of the alarms are "
        f"correct, {shares[1]} of the positives are caught and {shares[2]} of the cases raise an "
        "alarm."
    )


def _verdict(report: Report) -> str:
    """Say whether the limits were kept, by the thresholds of all costs where there are several."""
    return limits_verdict(report.tested_by_cost or report.tested)


def _data(report: Report) -> Iterator[Part]:
    for name, data in report.data.items():
        yield Pairs(data.pairs(), f"{name.capitalize()} data")


def _limits(report: Report) -> Iterator[Part]:
    yield Pairs(report.policy.summary())
    yield from STAY_COST_WORDS if report.over_stays else COST_WORDS


def ranking_in_words(report: Report) -> str:
    """Say by what the models are ranked, and where intervals and wins come from."""
    patients = report.data["validation"].patients
    units = "stays" if report.over_stays else "cases"
    if report.scenario.per_period and not report.over_stays:
        units = f"periods (per {report.scenario.per})"
    elif patients is not None:
        units = f"{patients:,} patients"
    resampled = (
        f"from {report.resamples:,} resamples of the {units}, the same for all models, with the "
        "limits applied inside each"
    )
    if report.intervals[report.winner].method == "curve":
        source = (
            "The interval of a score comes from the exact limits of its ROC curve; differences and "
            f"wins come {resampled}"
        )
    else:
        source = f"Intervals and wins come {resampled}"
    words = (
        f"Ranked by {STRATEGY_TITLES[report.selection.strategy]} on the validation cases. "
        f"{source}. A model wins a resample where it scores best."
    )
    if report.policy.guarantee is not None:
        words += (
            " The ranking counts only thresholds that the guarantee allows; the intervals are of "
            "partial VOROS without it."
        )
    return words


def _ranking(report: Report) -> Iterator[Part]:
    selection, comparison = report.selection, report.comparison
    yield from (ranking_in_words(report), *SCORE_WORDS, selection.table(), selection.legend)
    if comparison is None:
        yield from map(_capitalised, map(repr, report.intervals.values()))
    else:
        pairs = [pair for pair in comparison.pairs if report.winner in (pair.first, pair.second)]
        yield from (comparison.verdict, comparison.model_table(), comparison.pair_table(pairs))
    yield from ranking_pictures(report)


def _policy(report: Report) -> Iterator[Part]:
    policy = report.policy
    yield (
        f"Made for the scores of {report.winner}: {policy_in_words(policy)}. Where a threshold "
        "ends in dots, digits are left out; the JSON file beside this one has them all"
    )
    if policy.guarantee is not None:
        yield f"Guarantee: {policy.guarantee.words}"
    yield policy.table()
    if policy.curve:
        yield (
            "What each confidence would deploy (* what is deployed), and the expected cost it "
            "gives up. The confidences were fixed beforehand, so any of them may be chosen"
        )
        yield policy.confidence_curve().table()
    yield from policy_pictures(report)


def _counts(report: Report) -> Iterator[Part]:
    threshold = threshold_text(report.policy.default.threshold)
    yield (
        "At the default threshold, which is for unknown costs: alarm at a score of at least "
        f"{threshold}"
    )
    yield from accuracy_in_words(report)
    if not report.over_stays:
        yield from accuracy_tables(report)
        return
    for which, evaluation in report.evaluations.items():
        yield f"On the {which} stays:"
        yield evaluation.table()


def _calibration(report: Report) -> Iterator[Part]:
    if not report.over_stays:
        yield from calibration_in_words(report)
        yield quality_table(report)
        yield from calibration_pictures(report)


def _decision_curve(report: Report) -> Iterator[Part]:
    if not report.over_stays:
        yield (
            "Net benefit is the number of true positives less the false positives at their price; "
            "raising no alarm has 0. The table has the deployed thresholds at both ends of the "
            "costs, the pictures at every price."
        )
        yield net_benefit_table(report)
        yield from decision_pictures(report)


def _test(report: Report) -> Iterator[Part]:
    by_cost, tested = report.tested_by_cost, report.tested
    if tested is None:
        yield "No test cases were given: the policy has not been tested"
        return
    yield _capitalised(_verdict(report))
    if by_cost is not None and report.false_alarm_cost is not None:
        yield _capitalised(repr(by_cost.in_money(report.false_alarm_cost)))
    yield from map(_capitalised, map(str, (by_cost or tested).violations))
    if by_cost is not None:
        title = "Means over the costs, a threshold for each; the cost of 1,000 cases is in misses"
        yield by_cost.table(title)


def _subgroups(report: Report) -> Iterator[Part]:
    by_subgroup = None if report.tested is None else report.tested.by_subgroup
    if by_subgroup is not None:
        yield from (by_subgroup.table(), *map(_capitalised, by_subgroup.words))
        if not report.over_stays:
            yield from subgroup_pictures(report)
