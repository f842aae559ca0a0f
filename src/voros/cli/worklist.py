"""``voros worklist``: the highest scores of each day, compared with the threshold policy."""

from __future__ import annotations

from dataclasses import replace

from voros.cli import options
from voros.cli.loading import load, single_model
from voros.cli.terminal import Sheet, check_output, show, show_progress
from voros.present.report.values import scenario_values


@options.bundled_with(without=("weight", "min_recall", "prevalence"))
def list_cases(
    columns: options.CaseOptions,
    limits: options.LimitOptions,
    show_options: options.OutputOptions,
    output: options.SavedTo = None,
) -> None:
    """List the k highest scores of each period, as in --capacity 20/day, above a threshold.

    The threshold is chosen on the cases in FILE. A table compares the list with the threshold
    policy under the same limits. voros apply lists new cases by the file that -o saves, and tests
    it with --label.
    """
    scenario = limits.read()
    if scenario.per is None:
        raise ValueError("a worklist requires a capacity per period, such as --capacity 20/day")
    check_output(output, show_options)
    cases = load(columns, scenario)
    model = single_model(cases.models, "a list is of")
    with show_progress("choosing"):
        from voros.policy import worklist

        data = cases.labels, cases.scores_of(model), scenario
        decided = worklist(*data, periods=cases.periods, model=model)
        # The labels read are booleans; the policy is for those of the file.
        policy = replace(decided.policy, pos_label=columns.pos_label)
        rule = replace(decided, policy=policy)
    assert rule.validation is not None
    rows = rule.validation.rows
    document = {
        "file": cases.source,
        "model": model,
        "scenario": scenario_values(scenario),
        "threshold": rule.threshold,
        "policy_threshold": policy.threshold(),
        "score": rule.score,
        "full": rule.validation.n_full,
        "periods": rule.validation.n_periods,
        "compared": rows,
    }
    show(Sheet(text=repr(rule), rows=rows, document=document), show_options, output, rule.to_json())
