"""Odd arguments to every public function: an answer that is a number, or a refusal by name."""

from __future__ import annotations

import contextlib
import io
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, is_dataclass
from itertools import product
from typing import Any

import numpy as np
import pytest
from fuzz.odd_values import LABELS, ODD_VALUES, SCORES, N, Odd
from sklearn.linear_model import LogisticRegression

import voros
from voros import costs
from voros.inference import roc_band

SCENARIO = voros.Scenario(min_precision=0.3, capacity=0.6, cost_ratio=(0.1, 0.4))
MODELS = {"a": SCORES, "b": SCORES[::-1].copy()}
POINTS = voros.OperatingPoints.from_scores(LABELS, SCORES)
POLICY = voros.ThresholdPolicy.from_validation(LABELS, SCORES, SCENARIO)
GRID = {"min_precisions": [0.2, 0.4], "capacities": [0.3, 0.6], "cost_ratio": 0.1}
DRAWS = {"n_resamples": 100, "random_state": 0}
CASES = {"y_true": LABELS, "y_score": SCORES}
SEVERAL = {"y_true": LABELS, "scores": MODELS}

KINDS = {
    "y_true": "labels",
    "y_score": "scores",
    "scores": "models",
    "sample_weight": "weights",
    "groups": "groups",
    "weights": "weights",
    "scenario": "scenario",
    "min_precision": "share",
    "capacity": "capacity",
    "cost_ratio": "costs",
    "prevalence": "prevalence",
    "confidence": "level",
    "confidence_level": "level",
    "guarantee": "level",
    "tolerance": "tolerance",
    "n_positive": "size",
    "n_negative": "size",
    "max_alarms": "size",
    "fpr": "rate",
    "tp": "models",
    "fp": "models",
    "thresholds": "scores",
    "tpr": "rate",
    "low": "ratio",
    "high": "ratio",
    "true_precision": "share",
    "power": "level",
    "alarm_rate": "share",
    "by_cost": "flag",
    "refit": "flag",
    "progress": "progress",
    **dict.fromkeys(("curves", "choices", "legend", "zoom", "force"), "flag"),
    **dict.fromkeys(("log_capacity", "log_precision"), "flag"),
}
"""What a sound value of each argument is; for an argument not named here, no odd value is."""

OPTIONAL = {
    *("prevalence", "sample_weight", "groups", "min_precision", "capacity", "high", "pos_label"),
    *("alarm_rate", "guarantee", "n_models", "model", "cv", "n_jobs"),
}
"""Arguments of which None means that they were not given."""

ALIASES = {
    "y_score": ("scores", "distinct labels"),
    "y_true": ("labels", "model "),
    "scores": ("model", "y_score"),
    "scenario": ("cost_ratio is required",),
    "low": ("miss_costs", "cost_ratio", " t ", "t="),
    "high": ("miss_costs", "cost_ratio", " t ", "t="),
    "values": ("cost_ratio", "ratio holds", "miss", "t "),
    "distribution": ("support",),
    "over": ("over",),
    "points": ("points",),
}
"""Other words for an argument in a message."""


@dataclass(frozen=True)
class Target:
    """A public function, sound arguments of it, and which of them to spoil."""

    call: Callable[..., Any]
    sound: dict[str, Any]
    spoiled: tuple[str, ...]
    share: float = 1.0
    """How often pairs of arguments are drawn for it; resampling takes its time."""


def classified(**arguments: Any) -> Any:
    """Fit a classifier with a threshold, and predict with it."""
    model = voros.ConstrainedThresholdClassifier(**arguments)
    return model.fit(SCORES[:, None], LABELS).predict(SCORES[:, None])


def _t(call: Callable[..., Any], spoiled: str, share: float = 1.0, **sound: Any) -> Target:
    return Target(call, sound, tuple(spoiled.split()), share)


TARGETS: dict[str, Target] = {
    "Scenario": _t(
        voros.Scenario,
        "min_precision capacity cost_ratio prevalence",
        min_precision=0.3,
        capacity=0.5,
        cost_ratio=0.1,
    ),
    "partial_voros_score": _t(
        voros.partial_voros_score,
        "y_true y_score min_precision capacity cost_ratio prevalence sample_weight",
        **CASES,
        cost_ratio=0.1,
    ),
    "partial_voros_score(scenario)": _t(
        voros.partial_voros_score, "y_true y_score scenario", **CASES, scenario=SCENARIO
    ),
    "voros_score": _t(
        voros.voros_score, "y_true y_score cost_ratio prevalence", **CASES, cost_ratio=0.1
    ),
    "evaluate": _t(
        voros.evaluate, "y_true y_score scenario sample_weight", **CASES, scenario=SCENARIO
    ),
    "select_model": _t(
        voros.select_model,
        "y_true scores scenario strategy tolerance sample_weight",
        **SEVERAL,
        scenario=SCENARIO,
    ),
    "net_benefit": _t(
        voros.net_benefit,
        "y_true y_score scenario threshold_probability sample_weight",
        **CASES,
        scenario=SCENARIO,
        threshold_probability=[0.1, 0.2],
    ),
    "net_benefit(follow_up)": _t(
        voros.net_benefit,
        "y_true y_score follow_up time_horizon sample_weight",
        y_true=CASES["y_true"],
        y_score=1 / (1 + np.exp(-CASES["y_score"])),
        threshold_probability=[0.1, 0.2],
        follow_up=np.linspace(1, 9, len(CASES["y_true"])),
        time_horizon=5.0,
    ),
    "review_band": _t(
        voros.policy.review_band,
        "y_true y_score scenario review_capacity review_cost sample_weight",
        **CASES,
        scenario=SCENARIO,
        review_capacity=0.2,
        review_cost=0.1,
    ),
    "SiteCounts.from_scores": _t(
        voros.SiteCounts.from_scores,
        "y_true scores site outcome sample_weight min_rows bits since",
        **SEVERAL,
        site="north",
        min_rows=2,
    ),
    "BinnedCounts.from_scores": _t(
        voros.engines.BinnedCounts.from_scores, "y_true y_score sample_weight bits", **CASES
    ),
    "OperatingPoints.from_scores(periods)": _t(
        voros.OperatingPoints.from_scores, "periods groups", **CASES
    ),
    "Periods.from_times": _t(
        voros.Periods.from_times,
        "times per time_zone",
        times=np.arange(N).astype("datetime64[D]"),
        per="day",
    ),
    "winner_map": _t(
        voros.winner_map,
        "y_true scores min_precisions capacities cost_ratio prevalence tolerance sample_weight",
        **SEVERAL,
        **GRID,
    ),
    "from_validation": _t(
        voros.ThresholdPolicy.from_validation,
        "y_true y_score scenario strategy sample_weight",
        **CASES,
        scenario=SCENARIO,
    ),
    "policy.evaluate": _t(POLICY.evaluate, "y_true y_score", **CASES),
    "from_scores": _t(
        voros.OperatingPoints.from_scores, "y_true y_score sample_weight groups", **CASES
    ),
    "from_points": _t(
        voros.OperatingPoints.from_points,
        "fpr tpr n_positive n_negative",
        fpr=np.linspace(0, 1, len(SCORES)),
        tpr=np.linspace(0, 1, len(SCORES)),
        n_positive=100,
        n_negative=900,
    ),
    "evaluate(points)": _t(voros.evaluate, "scenario", y_true=POINTS, scenario=SCENARIO),
    "from_counts": _t(
        voros.OperatingPoints.from_counts,
        "tp fp n_positive n_negative thresholds",
        tp=np.arange(len(SCORES)),
        fp=np.arange(len(SCORES)),
        n_positive=100,
        n_negative=900,
    ),
    "select_model(points)": _t(
        voros.select_model,
        "y_true scenario strategy tolerance",
        y_true={"a": POINTS},
        scenario=SCENARIO,
    ),
    "winner_map(points)": _t(
        voros.winner_map,
        "y_true min_precisions capacities cost_ratio prevalence",
        y_true={"a": POINTS, "b": POINTS},
        **GRID,
    ),
    "feasible_region": _t(
        voros.feasible_region,
        "n_positive n_negative min_precision max_alarms",
        n_positive=100,
        n_negative=900,
        min_precision=0.3,
        max_alarms=50,
    ),
    "policy.predict": _t(POLICY.predict, "y_score cost_ratio", y_score=SCORES, cost_ratio=0.1),
    "policy.threshold": _t(POLICY.threshold, "cost_ratio", cost_ratio=0.1),
    "policy.evaluate(more)": _t(
        POLICY.evaluate, "cost_ratio by_cost pos_label sample_weight confidence_level", **CASES
    ),
    "from_validation(more)": _t(
        voros.ThresholdPolicy.from_validation,
        "pos_label guarantee n_models groups model",
        **CASES,
        scenario=SCENARIO,
    ),
    "evaluate(pos_label)": _t(voros.evaluate, "pos_label", **CASES, scenario=SCENARIO),
    "select_model(more)": _t(
        voros.select_model, "pos_label guarantee groups", **SEVERAL, scenario=SCENARIO
    ),
    "winner_map(more)": _t(voros.winner_map, "pos_label progress", **SEVERAL, **GRID),
    "cases_needed": _t(
        voros.cases_needed,
        "min_precision true_precision confidence power alarm_rate prevalence",
        min_precision=0.2,
        true_precision=0.4,
    ),
    "classifier": _t(
        classified,
        "estimator scenario strategy cv refit response_method pos_label on_infeasible guarantee",
        0.1,
        estimator=LogisticRegression(),
        scenario=SCENARIO,
        cv=2,
    ),
    "compare_policies": _t(
        voros.compare_policies,
        "y_true scores policies by_cost n_resamples confidence_level method groups "
        "pos_label random_state progress",
        0.12,
        **SEVERAL,
        policies={"a": POLICY, "b": POLICY},
        **DRAWS,
    ),
    "bootstrap(flags)": _t(
        voros.bootstrap,
        "pos_label progress",
        0.12,
        y_true=LABELS,
        scores=SCORES,
        scenario=SCENARIO,
        **DRAWS,
    ),
    "compare(flags)": _t(
        voros.compare,
        "pos_label progress",
        0.12,
        **SEVERAL,
        scenario=SCENARIO,
        **DRAWS,
    ),
    "roc_band(flags)": _t(roc_band, "pos_label random_state", 0.05, **SEVERAL, **DRAWS),
    "Guarantee": _t(voros.Guarantee, "confidence horizon", confidence=0.9, horizon=100),
    "make_scorer": _t(voros.make_scorer, "scenario strategy", scenario=SCENARIO),
    "known": _t(costs.known, "cost_ratio", cost_ratio=0.1),
    "uniform": _t(costs.uniform, "low high", low=0.1, high=0.4),
    "miss_costs": _t(costs.miss_costs, "low high", low=2, high=9),
    "from_samples": _t(costs.from_samples, "values weights over", values=[0.1, 0.2, 0.3]),
    "from_scipy": _t(costs.from_scipy, "distribution over", distribution=None),
    "bootstrap": _t(
        voros.bootstrap,
        "y_true scores scenario metric n_resamples confidence_level method groups random_state",
        0.12,
        y_true=LABELS,
        scores=SCORES,
        scenario=SCENARIO,
        **DRAWS,
    ),
    "compare": _t(
        voros.compare,
        "y_true scores scenario metric n_resamples confidence_level method groups random_state",
        0.12,
        **SEVERAL,
        scenario=SCENARIO,
        **DRAWS,
    ),
    "roc_band": _t(
        roc_band, "y_true scores n_resamples confidence_level groups", 0.05, **SEVERAL, **DRAWS
    ),
}

GRIDS = {"array of one", "list of one", "pair", "three numbers"}
ANY_GROUPS = {"zeros", "ones", "texts", "tiny weights", "vast weights", "huge whole numbers"}
SEEDS = {"None", "0", "1", "5", "np.int8", "10**400"}
LABEL = {"0", "0.0", "1", "1.0", "True", "np.True_"}
SHORT = {
    *GRIDS,
    *("reversed pair", "pair of bools", "pair to infinity", "huge pair", "one short"),
    *("empty list", "empty array"),
}
"""Scores of other cases than those of validation."""
RATIOS = {"None", "0", "0.0", "inf", "1e308", "1e-308", "5e-324", "0-d array"}
"""At any cost of at least 0, known or not, a policy has a threshold."""
SAMPLES = {
    *GRIDS,
    *(
        "1",
        "1.0",
        "1.5",
        "5",
        "0.3",
        "np.float32",
        "np.int8",
        "Fraction",
        "reversed pair",
        "scores",
    ),
    *("list", "column", "ones", "Series", "polars", "frame of one", "half floats", "one short"),
}
LADDER = {"reversed pair"}
"""Several confidences from high to low."""
SOUND: dict[tuple[str, str], set[str]] = {
    ("Scenario", "capacity"): {"1e-308", "5e-324"},  # refused with the cases: below one of them
    ("net_benefit", "threshold_probability"): {
        *GRIDS,
        *("0", "0.0", "0.3", "1e-308", "5e-324", "np.float32", "Fraction", "0-d array"),
        *("empty list", "empty array", "reversed pair", "zeros", "tiny weights"),
    },
    # Follow-up may end with an event in every case, or in none.
    ("net_benefit(follow_up)", "y_true"): {"zeros", "ones"},
    ("net_benefit(follow_up)", "follow_up"): {
        *("labels", "scores", "list", "bools", "column", "zeros", "ones", "three labels"),
        *("Series", "polars", "frame of one", "tiny weights", "vast weights", "whole numbers"),
        *("unsigned", "half floats", "range"),
    },
    ("net_benefit(follow_up)", "time_horizon"): {
        *("1", "1.0", "1.5", "5", "0.3", "1e308", "1e-308", "5e-324", "np.float32", "np.int8"),
        "Fraction",
    },
    ("review_band", "review_capacity"): {
        *("1", "1.0", "5", "0.3", "10**400", "np.float32", "np.int8", "Fraction"),
    },
    ("review_band", "review_cost"): {
        *("0", "0.0", "1", "1.0", "1.5", "5", "0.3", "1e-308", "5e-324", "np.float32", "np.int8"),
        "Fraction",
    },
    ("SiteCounts.from_scores", "y_true"): {"zeros", "ones"},
    ("SiteCounts.from_scores", "site"): {"text", "number as text", "percent"},
    ("SiteCounts.from_scores", "outcome"): {"text", "number as text", "percent"},
    ("SiteCounts.from_scores", "min_rows"): {"1", "5", "np.int8"},
    ("SiteCounts.from_scores", "since"): {"None"},
    ("BinnedCounts.from_scores", "y_true"): {"zeros", "ones"},
    ("OperatingPoints.from_scores(periods)", "periods"): {"None"},
    ("OperatingPoints.from_scores(periods)", "groups"): ANY_GROUPS,
    ("from_validation(more)", "groups"): ANY_GROUPS,
    ("select_model(more)", "groups"): ANY_GROUPS,
    ("Periods.from_times", "times"): {"dates"},
    ("Periods.from_times", "time_zone"): {"None"},
    ("winner_map", "min_precisions"): GRIDS,
    ("winner_map", "capacities"): GRIDS,
    ("from_samples", "values"): SAMPLES,
    ("from_samples", "weights"): {"None", "reversed pair", *GRIDS},
    ("from_scipy", "distribution"): {"scipy frozen"},
    ("winner_map(points)", "min_precisions"): GRIDS,
    ("winner_map(points)", "capacities"): GRIDS,
    ("feasible_region", "max_alarms"): {"inf", "1e308", "1e-308", "5e-324"},
    ("from_counts", "thresholds"): {
        "None",
        "one nan",
        "one None",
        "Series with NA",
        "polars with null",
        "vast weights",
        "one inf",
        "negative",
    },
    ("policy.predict", "cost_ratio"): RATIOS,
    ("Guarantee", "confidence"): LADDER,
    ("Guarantee", "horizon"): {"None", "1", "5", "np.int8", "10**400"},
    ("select_model(more)", "guarantee"): LADDER,
    ("from_scores", "groups"): {
        "huge whole numbers",
        *("zeros", "ones", "texts", "complex column", "tiny weights", "vast weights"),
    },
    ("policy.evaluate", "y_true"): {"zeros", "ones"},
    # With two scores, two cases.
    **{(name, "y_true"): {"pair of bools"} for name in ("evaluate", "voros_score")},
    ("evaluate", "y_score"): {"reversed pair"},
    ("voros_score", "y_score"): {"pair of bools"},
    ("known", "cost_ratio"): set(),
    ("policy.predict", "y_score"): SHORT,
    ("policy.threshold", "cost_ratio"): {
        *(RATIOS | SHORT),
        *("labels", "scores", "list", "bools", "column", "one inf", "zeros", "ones"),
        *("three labels", "Series", "polars", "frame of one", "tiny weights", "vast weights"),
        *("whole numbers", "unsigned", "half floats", "range"),
    },
    ("policy.evaluate(more)", "cost_ratio"): {"None"},
    ("roc_band(flags)", "random_state"): SEEDS,
    ("compare_policies", "random_state"): SEEDS,
    ("classifier", "cv"): {"5", "0.3", "np.float32", "np.int8", "Fraction"},
    ("from_validation(more)", "n_models"): {"1", "5", "np.int8", "10**400"},
    ("from_validation(more)", "model"): {"text", "number as text", "percent"},
    **{(name, "pos_label"): LABEL for name in TARGETS},
    **{(name, "progress"): {"function", "class"} for name in TARGETS},
    ("bootstrap", "random_state"): SEEDS,
    ("compare", "random_state"): SEEDS,
}
"""Values that are sound for one argument of one function."""

PAIRS = 4000
SEED = 20


def numbers_in(result: Any, depth: int = 3) -> Iterator[float]:
    """Every score, estimate, threshold or count in a result."""
    if isinstance(result, (float, int, np.floating, np.integer)):
        yield float(result)
    elif isinstance(result, dict):
        for value in result.values():
            yield from numbers_in(value, depth - 1)
    elif depth and is_dataclass(result) and not isinstance(result, (type, voros.Scenario)):
        for field in fields(result):
            if field.name in (
                "score",
                "estimate",
                "low",
                "high",
                "partial_voros",
                "winner",
                "area",
            ):
                yield from numbers_in(getattr(result, field.name), depth - 1)


def accepts(target: str, argument: str, odd: Odd) -> bool:
    """Whether a value is sound for an argument, so that an answer is right."""
    if odd.name == "None" and argument in OPTIONAL:
        return True
    return KINDS.get(argument) in odd.fits or odd.name in SOUND.get((target, argument), ())


def named(message: str, argument: str) -> bool:
    """Whether a message names an argument, or what it stands for."""
    return any(word in message for word in (argument, *ALIASES.get(argument, ())))


def complaint(name: str, target: Target, spoiled: dict[str, Odd]) -> str | None:
    """Call a function with some arguments spoiled, and say what is wrong with its answer."""
    arguments = target.sound | {argument: odd.make() for argument, odd in spoiled.items()}
    before = {key: np.array(value) for key, value in target.sound.items() if key in CASES}
    where = f"{name}({', '.join(f'{argument}={odd.name}' for argument, odd in spoiled.items())})"
    try:
        with warnings.catch_warnings(), contextlib.redirect_stderr(io.StringIO()):
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", voros.VorosWarning)
            result = target.call(**arguments)
    except (ValueError, TypeError) as error:
        if any(callable(arguments.get(own)) for own in ("metric", "progress")):
            return None  # what the caller's own function raises is the caller's
        told = any(named(str(error), argument) for argument in spoiled)
        return None if told else f"{where}: unnamed: {error}"
    except Exception as error:
        return f"{where}: {type(error).__name__}: {error}"
    if any(not np.array_equal(value, target.sound[key]) for key, value in before.items()):
        return f"{where}: changed what it was given"
    if any(np.isnan(number) for number in numbers_in(result)):
        return f"{where}: NaN"
    if not all(accepts(name, argument, odd) for argument, odd in spoiled.items()):
        return f"{where}: accepted"
    return None


def judged(
    calls: Iterator[tuple[str, dict[str, Odd]]], targets: dict[str, Target] = TARGETS
) -> tuple[Counter[str], list[str]]:
    """Make calls, count them by function, and collect what is wrong with their answers."""
    tried: Counter[str] = Counter()
    complaints = []
    for name, spoiled in calls:
        tried[name] += 1
        wrong = complaint(name, targets[name], spoiled)
        if wrong is not None:
            complaints.append(wrong)
    return tried, complaints


def every_argument() -> Iterator[tuple[str, dict[str, Odd]]]:
    """Every odd value for every argument, one at a time."""
    for name, target in TARGETS.items():
        for argument, odd in product(target.spoiled, ODD_VALUES):
            yield name, {argument: odd}


def pairs_of_arguments() -> Iterator[tuple[str, dict[str, Odd]]]:
    """Odd values for two arguments at once, drawn at random."""
    rng = np.random.default_rng(SEED)
    names = [name for name, target in TARGETS.items() if len(target.spoiled) > 1]
    shares = np.array([TARGETS[name].share * len(TARGETS[name].spoiled) for name in names])
    for at in rng.choice(len(names), PAIRS, p=shares / shares.sum()).tolist():
        chosen = rng.choice(TARGETS[names[at]].spoiled, 2, replace=False).tolist()
        values = rng.integers(len(ODD_VALUES), size=2).tolist()
        yield (
            names[at],
            {argument: ODD_VALUES[i] for argument, i in zip(chosen, values, strict=True)},
        )


@pytest.mark.slow
@pytest.mark.parametrize("calls", [every_argument, pairs_of_arguments])
def test_odd_arguments_are_answered_or_refused_by_name(calls: Any) -> None:
    tried, complaints = judged(calls())
    print(f"tried {sum(tried.values())} calls: {dict(tried)}")
    assert not complaints, f"{len(complaints)} complaints\n" + "\n".join(complaints)
