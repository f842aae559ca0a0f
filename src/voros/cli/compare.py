"""``voros compare``: scores with intervals, and a test of each difference."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from voros.cli import options
from voros.cli.loading import load
from voros.cli.score import check_reachable, evaluate_cases
from voros.cli.streams import StreamColumns, Streams, has_outcomes, joined_subgroups
from voros.cli.terminal import Sheet, show, show_progress
from voros.core.arguments import check_choice
from voros.exceptions import PredictionFileError
from voros.io import open_source
from voros.io.scenario_text import SCENARIO_FIELDS
from voros.present.report.values import scenario_values

if TYPE_CHECKING:  # loaded by the commands that read a policy, not by all of them
    from voros.allocation.joint_policy import AnyPolicy
    from voros.inference import Comparison


COMPARED_BY = ("partial_voros", "voros", "partial_auroc", "recall", "auroc", "expected_cost")
"""Metrics that models can be compared by."""


@options.bundled_with(
    without=("weight",),
    requires={"miss_value": ["false_alarm_cost"], "policy": ["streams", "by"]},
    excludes={"policy": [*SCENARIO_FIELDS, "scenarios", "scenario"]},
)
def compare_models(
    columns: options.CaseOptions,
    limits: options.LimitOptions,
    resampling: options.ResamplingOptions,
    worth: options.WorthOptions,
    output: options.ShowOptions,
    policy: list[Path] | None = options.option(
        "A saved policy; repeat it to compare policies by their cost.", "--policy", metavar="POLICY"
    ),
    streams: StreamColumns = None,
    by: list[str] | None = options.column(
        "With --policy: the subgroups that have their own thresholds."
    ),
    metric: str = options.option(
        f"What to compare: {', '.join(COMPARED_BY[:-1])} or {COMPARED_BY[-1]}.",
        metavar="NAME",
        default="partial_voros",
    ),
) -> None:
    """Compare the models in FILE on the same resamples: intervals, differences and a verdict.

    With --policy it compares saved policies by expected cost, under their own limits and costs.
    """
    from voros import inference

    check_choice(metric, "metric", COMPARED_BY)
    if policy:
        if metric not in ("partial_voros", "expected_cost"):
            raise ValueError(f"--metric={metric}; policies are compared by their expected cost")
        policies = _read_policies(policy)
        tested = _tested_cases(policies, columns, streams, by or [], resampling, worth)
        with show_progress("resampling") as progress:
            comparison = inference.compare_policies(**tested, policies=policies, progress=progress)
        broken = comparison.violations or {}
        listed = {name: list(map(str, violations)) for name, violations in broken.items()}
        about = {"file": str(columns.file), "limits_broken": listed}
        show(_sheet(comparison, about, resampling), output)
        return
    scenario = limits.read()
    cases = load(columns, scenario, group=resampling.group, worth=worth)
    check_reachable(evaluate_cases(cases, scenario))
    with show_progress("resampling") as progress:
        comparison = inference.compare(
            cases.labels,
            dict(cases.scores),
            scenario,
            metric=metric,  # type: ignore[arg-type]
            progress=progress,
            **cases.per_case,
            **resampling.draws,
        )
    about = {"file": cases.source, "scenario": scenario_values(scenario)}
    show(_sheet(comparison, about, resampling), output)


def _read_policies(paths: list[Path]) -> dict[str, AnyPolicy]:
    """Read policies of any kind, named by their files."""
    from voros.allocation.joint_policy import load_policy

    stems = Counter(path.stem for path in paths)
    return {path.stem if stems[path.stem] == 1 else str(path): load_policy(path) for path in paths}


def _tested_cases(
    policies: Mapping[str, AnyPolicy],
    columns: options.CaseOptions,
    streams: Path | None,
    by: list[str],
    resampling: options.ResamplingOptions,
    worth: options.WorthOptions,
) -> dict[str, Any]:
    """Read the arguments of `voros.compare_policies`: labels, scores and units."""
    scenarios = [one.limit if hasattr(one, "limit") else one.scenario for one in policies.values()]
    shared = next((one for one in scenarios if one.per is not None), scenarios[0])
    joint = next(filter(has_outcomes, policies.values()), None)
    if joint is not None:
        of_cases = columns.given("label", "score", "model", "case", "drop_missing")
        options.refuse(of_cases, "is for one score of a case; see --streams")
        options.refuse({"miss_value": worth.miss_value, "by": by}, "is for policies of one outcome")
        named, source = Streams.of_policy(joint, streams), open_source(columns.file)
        cases, _ = named.load(columns, source, shared, group=resampling.group)
        return cases | resampling.draws | {"scores": dict.fromkeys(policies, cases["scores"])}
    options.refuse({"streams": streams}, "is for joint policies of several outcomes")
    scored = {name: _score_column(name, one, columns) for name, one in policies.items()}
    stated = (getattr(one, "pos_label", None) for one in policies.values())
    positive = columns.pos_label or next(filter(None, stated), None)
    wanted = replace(columns, score=list(dict.fromkeys(scored.values())), pos_label=positive)
    predictions = load(wanted, shared, group=resampling.group, by=by, worth=worth)
    return {
        "y_true": predictions.labels,
        "scores": {name: predictions.scores_of(column) for name, column in scored.items()},
        "by": joined_subgroups(predictions) if by else None,
        **predictions.per_case,
        **resampling.draws,
    }


def _score_column(name: str, policy: AnyPolicy, columns: options.CaseOptions) -> str:
    stated = columns.score or []
    column = stated[0] if len(stated) == 1 else getattr(policy, "model", None)
    if column is None or len(stated) > 1:
        raise PredictionFileError(
            f"the policy {name!r} needs one column of scores; name it with one --score"
        )
    return str(column)


def _sheet(
    comparison: Comparison, about: Mapping[str, Any], resampling: options.ResamplingOptions
) -> Sheet:
    models = comparison.models_frame("pyarrow").to_pylist()
    document = {
        **about,
        "metric": comparison.metric,
        "lower_is_better": comparison.lower_is_better,
        "confidence_level": comparison.confidence_level,
        "resamples": resampling.resamples,
        "seed": resampling.seed,
        "models": models,
        "pairs": comparison.frame("pyarrow").to_pylist(),
        "verdict": comparison.verdict,
    }
    text = f"{resampling.resamples:,} resamples\n{comparison!r}"
    return Sheet(text=text, rows=models, document=document)
