"""``voros compare``: scores with intervals, and which differences are more than chance."""

from __future__ import annotations

from voros.cli.loading import count_points, load, periods_of
from voros.cli.options import (
    InputOptions,
    LimitOptions,
    PeriodOptions,
    ResamplingOptions,
    ShowOptions,
    bundled,
    option,
)
from voros.cli.score import check_reachable, evaluate_all
from voros.cli.terminal import Sheet, show, show_progress
from voros.core.arguments import check_choice
from voros.present.report.values import scenario_values

COMPARED_BY = ("partial_voros", "voros", "partial_auroc", "recall", "auroc", "expected_cost")
"""What models can be compared by."""


@bundled
def compare_models(
    columns: InputOptions,
    limits: LimitOptions,
    when: PeriodOptions,
    resampling: ResamplingOptions,
    output: ShowOptions,
    metric: str = option(
        f"What to compare: {', '.join(COMPARED_BY[:-1])} or {COMPARED_BY[-1]}.",
        metavar="NAME",
        default="partial_voros",
    ),
) -> None:
    """Compare the models in FILE on the same resamples: intervals, differences and a verdict."""
    from voros import inference

    check_choice(metric, "metric", COMPARED_BY)
    scenario = limits.read(by_period=True)
    when.check(scenario)
    cases = load(columns, group=resampling.group, when=when)
    arguments = resampling.arguments(cases)
    periods = periods_of(cases, scenario, when)
    check_reachable(evaluate_all(count_points(cases, periods), scenario))
    with show_progress("resampling") as progress:
        comparison = inference.compare(
            cases.labels,
            dict(cases.scores),
            scenario,
            metric=metric,  # type: ignore[arg-type]
            periods=periods,
            progress=progress,
            **arguments,
        )
    models = comparison.models_frame("pyarrow").to_pylist()
    document = {
        "file": cases.source,
        "scenario": scenario_values(scenario),
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
    show(Sheet(text=text, rows=models, document=document), output)
