"""The script's own tests, under node, on problems that Python solved."""

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from alarms.test_points import large_ward
from present.explorer.node import PAGE_TESTS, needs_node, run_node

import voros
from voros.core.exact_limits import as_fraction
from voros.present.explorer.payload import page_payload
from voros.winners import winner_map

N_PROBLEMS = 250
N_COSTS = 20_001

pytestmark = needs_node


PROBABILITIES = (0.0, 0.01, 0.1, 0.3, 0.6, 0.95)


def _random_cases(rng: np.random.Generator, kind: str) -> tuple[Any, Any, Any]:
    n = int(rng.integers(6, 120))
    y = np.append([True, False], rng.random(n) < rng.uniform(0.05, 0.7))
    scores = np.round(rng.normal(size=n + 2) + y, int(rng.integers(0, 4)))
    weights = rng.uniform(0.2, 3.0, n + 2) if kind == "weighted" else None
    return y, scores, weights


def _mean_cost(result: Any, costs: dict[str, Any]) -> float | None:
    """False alarms and misses of 1,000 cases at their price: the least at each of many costs."""
    if costs["over"] == "t":
        return None
    points = result.points
    allowed = result.decision.feasible
    tp, fp = points.tp[allowed], points.fp[allowed]
    ends = costs["low"], costs["high"]
    worths = np.linspace(*ends, N_COSTS) if ends[0] < ends[1] else np.array(ends)
    miss = worths if costs["over"] == "miss" else 1 / worths
    least = np.min([f + miss * (points.n_positive - t) for t, f in zip(tp, fp, strict=True)], 0)
    return float(1000 * (least[1:] + least[:-1]).mean() / 2 / points.n_cases)


def _random_costs(rng: np.random.Generator) -> tuple[voros.costs.CostDistribution, dict[str, Any]]:
    over = str(rng.choice(["ratio", "miss", "t"]))
    low, high = np.sort(rng.uniform(0.02, 0.98, 2) * (20 if over == "miss" else 1)).tolist()
    if rng.random() < 0.15:
        return voros.costs.known(low, over=over), {"over": over, "low": low, "high": low}
    maker = {
        "ratio": voros.costs.uniform,
        "miss": voros.costs.miss_costs,
        "t": voros.costs.uniform_t,
    }[over]
    return maker(low, high), {"over": over, "low": low, "high": high}


def _net_benefits(
    y: Any, scores: Any, weights: Any, scenario: voros.Scenario
) -> list[float | None]:
    net_benefits = voros.net_benefit(
        y, scores, scenario, threshold_probability=PROBABILITIES, sample_weight=weights
    )
    return [None if np.isnan(value) else float(value) for value in net_benefits]


def _random_problem(rng: np.random.Generator) -> dict[str, Any] | None:
    kind = str(rng.choice(["whole", "weighted"], p=[0.7, 0.3]))
    y, scores, weights = _random_cases(rng, kind)
    points = voros.OperatingPoints.from_scores(y, scores, sample_weight=weights)
    floor = float(rng.choice([0.0, 1.0, round(rng.uniform(0, 1), 2), rng.uniform(0, 1)]))
    by_count = rng.random() < 0.3
    capacity = int(rng.integers(1, 60)) if by_count else float(round(rng.uniform(0.05, 1), 2))
    prevalence = float(rng.uniform(0.05, 0.95)) if rng.random() < 0.4 else None
    costs, script_costs = _random_costs(rng)
    recall = float(rng.choice([0.0, 1.0, round(rng.uniform(0, 1), 2)], p=[0.5, 0.1, 0.4]))
    scenario = voros.Scenario(floor, capacity, costs, prevalence, min_recall=recall)
    try:
        result = voros.evaluate(points, scenario=scenario)
    except voros.InfeasibleError:
        return None
    return {
        "points": {
            "thresholds": points.thresholds[1:].tolist(),
            "tp": points.tp[1:].tolist(),
            "fp": points.fp[1:].tolist(),
        },
        "cases": {
            "nPositive": points.n_positive,
            "nNegative": points.n_negative,
            "oneCase": points.one_case,
            "wholeCounts": kind == "whole",
            "wholeCases": kind == "whole",
        },
        "prevalence": prevalence,
        "limits": {
            "minPrecision": floor,
            "minRecall": recall,
            "capacity": {"count" if by_count else "share": capacity},
        },
        "costs": script_costs,
        "score": result.score,
        "ratios": scenario.costs.ratio_range(result.points.negatives_per_positive),
        "binding": result.binding,
        "allowed": result.decision.feasible.astype(int).tolist(),
        "gains": {
            "probabilities": PROBABILITIES,
            "within": _net_benefits(y, scores, weights, scenario),
            "free": _net_benefits(y, scores, weights, scenario.without_limits()),
        },
        "cost": _mean_cost(result, script_costs),
        "areas": [(c, float(result.normalised_area(c))) for c in (0.01, 0.2, 1.0, 30.0)],
    }


def _problems(count: int) -> list[dict[str, Any]]:
    rng = np.random.default_rng(20261115)
    problems: list[dict[str, Any]] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", voros.VorosWarning)
        while len(problems) < count:
            problem = _random_problem(rng)
            if problem is not None:
                problems.append(problem)
    return problems


def _problems_over_stays() -> list[dict[str, Any]]:
    """A ward under rules that differ in how repeats and unfinished alarms are counted."""
    stay, hour, score, events = large_ward(0, n_stays=150)
    columns = {"stay": stay, "time": hour, "score": score, "events": events}
    scenarios = [
        voros.Scenario(floor, rate, costs, per="patient-day", min_recall=recall)
        for floor in (0.0, 0.1, 0.3)
        for rate in (0.1, 0.7, 2.5, 7.3, 30.0)
        for recall in (None, 0.2)
        for costs in (voros.costs.miss_costs(5, 50), voros.costs.known(0.05))
    ]
    scenarios += [voros.Scenario(0.1, alarms, (0.02, 0.2)) for alarms in (7, 150, 900)]
    counts = ({}, {"repeats": "capacity_only"}, {"unfinished": "capacity_only"})
    rules = [voros.AlarmRule(snooze=1, horizon=5, lead=1, **count) for count in counts]
    problems = []
    for rule in rules:
        points = voros.alarm_points(**columns, rule=rule)
        for scenario in scenarios:
            held = page_payload({"model": points}, scenario)
            shown = np.append(np.inf, held["models"][0]["thresholds"])
            evaluation = voros.evaluate(points, scenario=scenario)
            within = dict(zip(points.thresholds, evaluation.decision.feasible, strict=True))
            over = evaluation.scenario.costs.over
            low, high = evaluation.scenario.costs.support
            problems.append(
                {
                    "points": held["models"][0],
                    "cases": held["cases"],
                    "limits": held["setting"],
                    "costs": {"over": over, "low": low, "high": high},
                    "score": evaluation.score,
                    "maxAlarms": evaluation.max_alarms,
                    "allowed": [int(within[threshold]) for threshold in shown],
                    "areas": [(c, float(evaluation.normalised_area(c))) for c in (0.01, 0.2, 1.0)],
                }
            )
    return problems


def _fractions() -> list[dict[str, Any]]:
    rng = np.random.default_rng(5)
    limits = [0.0, 1.0, 0.15, 5 / 6, 1 / 3, 1e-9, 1 - 1e-12, *rng.uniform(0, 1, 50).tolist()]
    fractions = [(limit, as_fraction(limit)) for limit in limits]
    return [
        {"limit": limit, "numerator": f.numerator, "denominator": f.denominator}
        for limit, f in fractions
    ]


def _winner_cases() -> dict[str, Any]:
    rng = np.random.default_rng(11)
    y = np.append(False, rng.random(400) < 0.2)
    # The highest score is a negative's, so that the highest floor is out of reach.
    models = {
        name: voros.OperatingPoints.from_scores(y, np.append(9, rng.normal(size=400)) + shift * y)
        for name, shift in {"a": 1.0, "b": 1.3, "c": 1.2}.items()
    }
    floors, capacities = [0.1, 0.45, 0.99], [0.02, 0.1, 0.35]
    costs = voros.costs.miss_costs(2, 9)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", voros.VorosWarning)
        grid = winner_map(models, min_precisions=floors, capacities=capacities, cost_ratio=costs)
    winners = [
        {
            "minPrecision": floor,
            "capacity": {"share": capacity},
            "costs": {"over": "miss", "low": 2, "high": 9},
            "winner": int(grid.winner[i, j]),
            "lead": 0.0 if grid.winner[i, j] < 0 else float(grid.margin[i, j]),
        }
        for i, floor in enumerate(floors)
        for j, capacity in enumerate(capacities)
    ]
    payload = page_payload(models, voros.Scenario(cost_ratio=costs))
    return {"winners": winners, "models": payload["models"], "sizes": payload["cases"]}


@pytest.fixture(scope="module")
def solved() -> dict[str, Any]:
    problems = {"scores": _problems(N_PROBLEMS)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", voros.VorosWarning)
        problems["stays"] = _problems_over_stays()
    return {**problems, "fractions": _fractions(), **_winner_cases()}


@pytest.mark.parametrize("script", sorted(path.name for path in PAGE_TESTS.glob("*.test.js")))
def test_script_tests_pass_under_node(solved: Any, tmp_path: Path, script: str) -> None:
    printed = run_node(["--test", script], solved, tmp_path)
    assert "# fail 0" in printed
    assert "# skipped 0" in printed
