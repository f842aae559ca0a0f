"""``voros compare``: scores with intervals, and which differences are more than chance."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from voros.cli.loading import count_points, load, periods_of
from voros.cli.options import (
    InputOptions,
    LimitOptions,
    PeriodOptions,
    ResamplingOptions,
    ShowOptions,
    bundled,
    option,
    refuse,
)
from voros.cli.score import check_reachable, evaluate_all
from voros.cli.streams import StreamColumns, StreamFile, has_outcomes, joined_subgroups
from voros.cli.terminal import Sheet, show, show_progress
from voros.core.arguments import check_choice
from voros.core.scenario import Scenario
from voros.exceptions import PredictionFileError
from voros.io import open_source
from voros.present.report.values import scenario_values

if TYPE_CHECKING:  # loaded by the commands that read a policy, not by all of them
    from voros.allocation.joint_policy import AnyPolicy
    from voros.inference import Comparison

COMPARED_BY = ("partial_voros", "voros", "partial_auroc", "recall", "auroc", "expected_cost")
"""What models can be compared by."""


@bundled
def compare_models(
    columns: InputOptions,
    limits: LimitOptions,
    when: PeriodOptions,
    resampling: ResamplingOptions,
    output: ShowOptions,
    policy: list[Path] | None = option(
        "A saved policy; repeat it to compare policies by their cost.", "--policy", metavar="POLICY"
    ),
    streams: StreamColumns = None,
    by: list[str] | None = option(
        "With --policy: the groups that have thresholds of their own.", metavar="COLUMN"
    ),
    metric: str = option(
        f"What to compare: {', '.join(COMPARED_BY[:-1])} or {COMPARED_BY[-1]}.",
        metavar="NAME",
        default="partial_voros",
    ),
) -> None:
    """Compare the models in FILE on the same resamples: intervals, differences and a verdict.

    With --policy saved policies are compared by their expected cost, with their limits and costs.
    """
    from voros import inference

    check_choice(metric, "metric", COMPARED_BY)
    if policy:
        _check_saved(limits, metric)
        policies = _read_policies(policy)
        file = StreamFile(columns=columns, streams=streams, by=by or [], when=when)
        several = any(map(has_outcomes, policies.values()))
        arguments = (_outcomes if several else _cases)(policies, file, resampling)
        with show_progress("resampling") as progress:
            comparison = inference.compare_policies(
                **arguments, policies=policies, progress=progress
            )
        broken = comparison.violations or {}
        metadata = {
            "limits_broken": {name: list(map(str, limits)) for name, limits in broken.items()}
        }
        show(_sheet(comparison, str(columns.file), metadata, resampling), output)
        return
    refuse({"streams": streams, "by": by}, "is for saved policies; name them with --policy")
    scenario = limits.read(by_period=True)
    when.check(scenario)
    predictions = load(columns, group=resampling.group, when=when)
    arguments = resampling.arguments(predictions)
    arguments["periods"] = periods = periods_of(predictions, scenario, when)
    check_reachable(evaluate_all(count_points(predictions, periods), scenario))
    with show_progress("resampling") as progress:
        comparison = inference.compare(
            predictions.labels,
            dict(predictions.scores),
            scenario,
            metric=metric,  # type: ignore[arg-type]
            progress=progress,
            **arguments,
        )
    metadata = {"scenario": scenario_values(scenario)}
    show(_sheet(comparison, predictions.source, metadata, resampling), output)


def _check_saved(limits: LimitOptions, metric: str) -> None:
    """Refuse what the policies say themselves."""
    stated = limits.given() | {"scenarios": limits.scenarios}
    refuse(stated, "is part of every policy; leave it out with --policy")
    if metric not in ("partial_voros", "expected_cost"):
        raise ValueError(f"--metric={metric}; policies are compared by their expected cost")


def _read_policies(paths: list[Path]) -> dict[str, AnyPolicy]:
    """Read policies of any kind, named by their files."""
    from voros.allocation.joint_policy import load_policy

    stems = Counter(path.stem for path in paths)
    return {path.stem if stems[path.stem] == 1 else str(path): load_policy(path) for path in paths}


def _cases(
    policies: Mapping[str, AnyPolicy], file: StreamFile, resampling: ResamplingOptions
) -> dict[str, Any]:
    """Read one label and score of each case, as `voros.compare_policies` takes them."""
    scenarios = (
        one.limit.scenario if hasattr(one, "limit") else one.scenario for one in policies.values()
    )
    plain = Scenario(cost_ratio=1.0)
    shared = next((one for one in scenarios if one is not None and one.per is not None), plain)
    file.when.check(shared)
    columns = {name: _score_column(name, policy, file) for name, policy in policies.items()}
    stated = (getattr(policy, "pos_label", None) for policy in policies.values())
    positive = file.columns.pos_label or next(filter(None, stated), None)
    wanted = list(dict.fromkeys(columns.values()))
    cases = load(
        replace(file.columns, score=wanted, pos_label=positive),
        group=resampling.group,
        when=file.when,
        by=file.by,
    )
    arguments = resampling.arguments(cases) | {"periods": periods_of(cases, shared, file.when)}
    if file.by:
        arguments["by"] = joined_subgroups(cases, file.by)
    scores = {name: cases.scores_of(column) for name, column in columns.items()}
    return {"y_true": cases.labels, "scores": scores} | arguments


def _score_column(name: str, policy: AnyPolicy, file: StreamFile) -> str:
    stated = file.columns.score or []
    column = stated[0] if len(stated) == 1 else getattr(policy, "model", None)
    if column is None or len(stated) > 1:
        raise PredictionFileError(
            f"the policy {name!r} needs one column of scores; name it with one --score"
        )
    return str(column)


def _outcomes(
    policies: Mapping[str, AnyPolicy], file: StreamFile, resampling: ResamplingOptions
) -> dict[str, Any]:
    """Read the labels and scores of every outcome."""
    if resampling.group is not None:
        raise ValueError("--group is for policies of one outcome; these have several")
    first = next(iter(policies.values()))
    if not has_outcomes(first):
        raise ValueError("a joint policy of several outcomes is compared with others like it")
    source = open_source(file.columns.file, file.columns.file_format)
    cases = file.load(first, source)  # type: ignore[arg-type]
    if cases.y_true is None:
        raise PredictionFileError(f"{source.name} has no labels to compare policies by")
    scores = dict.fromkeys(policies, cases.scores)
    how = {"y_true": cases.y_true, "scores": scores, "periods": cases.periods}
    return how | resampling.draws


def _sheet(
    comparison: Comparison, source: str, metadata: dict[str, Any], resampling: ResamplingOptions
) -> Sheet:
    models = comparison.models_frame("pyarrow").to_pylist()
    return Sheet(
        text=f"{resampling.resamples:,} resamples\n{comparison!r}",
        rows=models,
        document={
            "file": source,
            **metadata,
            "metric": comparison.metric,
            "lower_is_better": comparison.lower_is_better,
            "confidence_level": comparison.confidence_level,
            "resamples": resampling.resamples,
            "seed": resampling.seed,
            "models": models,
            "pairs": comparison.frame("pyarrow").to_pylist(),
            "verdict": comparison.verdict,
        },
    )
