"""``voros subgroups``: one threshold for all subgroups, or one for each, and what that costs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from voros.cli.loading import load, single_model
from voros.cli.options import (
    InputOptions,
    LimitOptions,
    OutputOptions,
    TestFile,
    bundled,
    in_choice,
    in_subgroups,
    output_to,
)
from voros.cli.streams import joined_subgroups
from voros.cli.terminal import Sheet, check_output, columns_text, deliver, show
from voros.core.subgroups import FEWEST_CASES
from voros.io.scenario_text import read_number
from voros.text.numbers import short

if TYPE_CHECKING:  # loaded by the command that compares, not by all of them
    from voros.allocation import JointEvaluation, SubgroupThresholds
    from voros.allocation.subgroup_rules import SubgroupRule


@bundled
def compare_subgroups(
    columns: InputOptions,
    limits: LimitOptions,
    show_options: OutputOptions,
    by: Annotated[
        list[str],
        in_subgroups(
            "The subgroup of each case, such as sex; several columns are intersected.",
            metavar="COLUMN",
        ),
    ],
    recall_gap: str = in_subgroups(
        "How far recalls may differ where they must be equal.", metavar="SHARE", default="0.05"
    ),
    min_subgroup: int = in_subgroups(
        "Subgroups with fewer cases are refused by name.", metavar="COUNT", default=FEWEST_CASES
    ),
    confidence: float | None = in_choice(
        "Add thresholds that keep all limits with this confidence.", metavar="SHARE"
    ),
    test: TestFile = None,
    rule: str = in_choice(
        "Which thresholds -o saves: one, per_subgroup, ...", metavar="NAME", default="per_subgroup"
    ),
    output: Path | None = output_to(
        "Save the thresholds of --rule, as JSON; - is standard output."
    ),
) -> None:
    """Compare one threshold for all subgroups with one for each: cost, precision and recall."""
    import voros

    scenario = limits.read()
    check_output(output, show_options)
    names = list(dict.fromkeys(by))
    cases = load(columns, by=names)
    if cases.weights is not None:
        raise ValueError("--weight is not accepted: subgroups are compared on single cases")
    model = single_model(cases.models, "thresholds for subgroups are of")
    sure = None if confidence is None else voros.Guarantee(read_number(confidence, "confidence"))
    thresholds = voros.compare_subgroup_thresholds(
        cases.labels,
        cases.scores_of(model),
        scenario,
        by=joined_subgroups(cases, names),
        recall_gap=read_number(recall_gap, "recall_gap"),
        min_cases=min_subgroup,
        guarantee=sure,
    )
    policy = thresholds.policy(rule)  # type: ignore[arg-type]
    tested = {} if test is None else _tested(thresholds, columns, cases.label, model, test, names)
    if output is not None:
        deliver(policy.to_json(), output, show_options, announce=False)
    show(_sheet(thresholds, tested, cases.source), show_options, output=output)


def _tested(
    thresholds: SubgroupThresholds,
    columns: InputOptions,
    label: str | None,
    model: str,
    test: Path,
    names: list[str],
) -> dict[SubgroupRule, JointEvaluation]:
    later = load(replace(columns, file=test, label=label, score=[model]), by=names)
    new, by = (later.labels, later.scores_of(model)), joined_subgroups(later, names)
    return {rule: policy.evaluate(*new, by=by) for rule, policy in thresholds.policies.items()}


def _sheet(
    thresholds: SubgroupThresholds, tested: dict[SubgroupRule, JointEvaluation], source: str
) -> Sheet:
    from voros.allocation.subgroup_rules import RULE_TITLES

    lines = ["One threshold for all subgroups, or one for each; costs in misses", repr(thresholds)]
    lines += [f"--rule {rule}: {RULE_TITLES[rule]}" for rule in thresholds.policies]
    if tested:
        on_test = {
            "test cases": list(map(str, tested)),
            "cost": [short(evaluation.cost) for evaluation in tested.values()],
            "alarms": [f"{evaluation.alarms:,}" for evaluation in tested.values()],
        }
        lines += ["", columns_text(on_test)]
    values = thresholds.columns()
    rows = [dict(zip(values, row, strict=True)) for row in zip(*values.values(), strict=True)]
    document = _document(thresholds, tested, rows, source)
    return Sheet(text="\n".join(lines), rows=rows, document=document)


def _document(
    thresholds: SubgroupThresholds,
    tested: dict[SubgroupRule, JointEvaluation],
    rows: list[dict[str, Any]],
    source: str,
) -> dict[str, Any]:
    costs = {rule: policy.default.cost for rule, policy in thresholds.policies.items()}
    extra = {rule: thresholds.extra_cost(rule) for rule in thresholds.policies}
    sure = thresholds.policies.get("guaranteed")
    return {
        "file": source,
        "costs": costs,
        "beyond_one": extra,
        "subgroups": rows,
        "promise": None if sure is None else sure.promise,
        "test": tested,
    }
