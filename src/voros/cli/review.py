"""``voros review``: two thresholds: alarm, review, or nothing."""

from __future__ import annotations

from dataclasses import MISSING, replace
from typing import TYPE_CHECKING, Any

from voros.cli import options
from voros.cli.loading import load, single_model
from voros.cli.terminal import Sheet, check_output, show, show_progress
from voros.io.scenario_text import read_capacity, read_number
from voros.present.report.values import scenario_values

if TYPE_CHECKING:
    from voros.policy.review import ReviewCounts


@options.bundled_with(without=("exceed",))
def review(
    columns: options.InputOptions,
    limits: options.LimitOptions,
    show_options: options.OutputOptions,
    review_capacity: str = options.in_limits(
        "Most reviews: a share of the cases such as 10%, or a number of cases.",
        metavar="SHARE|COUNT",
        default=MISSING,
    ),
    review_cost: str = options.in_limits(
        "Cost of a review, in misses: 1/100 if a hundred reviews cost as much as a miss.",
        metavar="COST",
        default=MISSING,
    ),
    output: options.SavedTo = None,
) -> None:
    """Choose two thresholds of least cost on the cases in FILE: alarm, review, or nothing.

    Precision floor and capacity are limits on the alarms. The thresholds have no guarantee. voros
    apply decides on new cases by the file that -o saves, and tests it with --label.
    """
    scenario = limits.read()
    check_output(output, show_options)
    cases = load(columns)
    model = single_model(cases.models, "a review band is of")
    with show_progress("choosing"):
        from voros.policy import review_band

        band = review_band(
            cases.labels,
            cases.scores_of(model),
            scenario,
            review_capacity=read_capacity(review_capacity, "review_capacity"),
            review_cost=read_number(review_cost, "review_cost"),
            model=model,
            **cases.per_case,
        )
        # The labels read are booleans; the band is for those of the file.
        band = replace(band, pos_label=columns.pos_label)
    rows = [review_values(band.validation)]
    document = {
        "file": cases.source,
        "model": model,
        "scenario": scenario_values(scenario),
        "alarm_threshold": band.alarm_threshold,
        "review_threshold": band.review_threshold,
        "counts": rows,
    }
    sheet = Sheet(text=repr(band), rows=rows, document=document)
    show(sheet, show_options, output, band.to_json())


def review_values(counts: ReviewCounts) -> dict[str, Any]:
    """Return the counts of two thresholds on some cases, for programs."""
    n_alarms, n_reviews, n_left = counts.cases
    return {
        "alarms": n_alarms,
        "reviews": n_reviews,
        "nothing": n_left,
        "max_alarms": counts.max_alarms,
        "max_reviews": counts.max_reviews,
        "precision": counts.precision,
        "recall": counts.recall,
        "cost_per_1000": counts.cost_per_1000,
    }
