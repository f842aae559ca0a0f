"""``voros worklist``: the highest scores of each day, compared with the threshold policy."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from voros.cli import options
from voros.cli.loading import load, load_test, single_model
from voros.cli.terminal import Sheet, check_output, show, show_progress
from voros.present.report.values import scenario_values

if TYPE_CHECKING:
    from voros.policy.worklists import Worklist, WorklistEvaluation


@options.bundled_with(without=("weight", "min_recall", "prevalence"))
def list_cases(
    columns: options.CaseOptions,
    limits: options.LimitOptions,
    show_options: options.OutputOptions,
    test: options.TestFile = None,
    output: options.SavedTo = None,
) -> None:
    """List the k highest scores of each period, as in --capacity 20/day, above a threshold.

    The threshold is chosen on the cases in FILE. A table compares the list with the threshold
    policy under the same limits. voros apply lists new cases by the file that -o saves.
    """
    scenario = limits.read(by_period=True)
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
    shown = {"validation": rule.validation}
    if test is not None:
        later = load_test(test, columns, cases.label, model, scenario, both_classes=False)
        scores = later.scores_of(model)
        shown["test"] = decided.evaluate(later.labels, scores, periods=later.periods)
    show(_sheet(rule, shown, cases.source, model), show_options, output, rule.to_json())


def _sheet(rule: Worklist, shown: dict[str, WorklistEvaluation], source: str, model: str) -> Sheet:
    rows = [{"cases": part} | row for part, evaluation in shown.items() for row in evaluation.rows]
    tests = [f"\ntest cases:\n{shown['test']!r}"] if "test" in shown else []
    return Sheet(
        text="\n".join([repr(rule), *tests]),
        rows=rows,
        document={
            "file": source,
            "model": model,
            "scenario": scenario_values(rule.scenario),
            "threshold": rule.threshold,
            "policy_threshold": rule.policy.threshold(),
            "score": rule.score,
            "lists": {
                part: {"full": evaluation.n_full, "periods": evaluation.n_periods}
                for part, evaluation in shown.items()
            },
            "compared": rows,
        },
    )
