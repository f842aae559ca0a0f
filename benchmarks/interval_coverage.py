"""How often the intervals hold the true value, and how often equal models are told apart.

Scores are binormal, so the population's curve is known: N(0, 1) for negatives and N(separation, 1)
for positives, both shared in part by the cases of one patient where there are groups. The true
partial VOROS is that of a dense curve of exact rates. Run with ``--help`` for what can be set.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np
from scipy.special import expit, logit, ndtr, ndtri

import voros
from voros.core.calibration import Calibration, auroc_interval
from voros.inference import net_benefit_band
from voros.inference.curve_limits import CountedCurve, curve_interval
from voros.inference.resampling import Ranked
from voros.inference.roc_bands import roc_band
from voros.inference.statistics import Measure
from voros.typing import AnyArray, BoolArray, FloatArray

GRID = 20_001
"""Thresholds of the population's curve; twice as many change its score by less than 1e-6."""

SAME = 1e-3
"""An end this close to the true value is not counted as missing it: the true score of a useless
model is the least there is at its prevalence, and a grid of prevalences meets it only so nearly."""

POPULATION = 1e9
"""Cases of the population, so many that a share of them is no longer a whole number."""


@dataclass(frozen=True)
class Setting:
    """A population, a sample of it, and the limits."""

    name: str
    prevalence: float
    n_cases: int
    separation: float
    scenario: voros.Scenario
    per_subgroup: int = 1
    shared: float = 0.0
    """Share of the variance of score and outcome that the cases of one group have in common."""

    @cached_property
    def population(self) -> voros.evaluation.Evaluation:
        """The population's curve and score."""
        return population_curve(self.prevalence, self.separation, self.scenario)

    @property
    def truth(self) -> float:
        """Partial VOROS of the population."""
        return self.population.score


SETTINGS = (
    Setting("half positive", 0.5, 1000, 1.5, voros.Scenario(0.7, 0.4, (0.2, 0.5))),
    Setting("1 in 10", 0.1, 2000, 1.5, voros.Scenario(0.3, 0.2, (1 / 20, 1 / 10))),
    Setting("1 in 50", 0.02, 4000, 2.0, voros.Scenario(0.1, 0.1, (1 / 60, 1 / 30))),
    Setting("groups", 0.1, 2400, 1.5, voros.Scenario(0.3, 0.2, (1 / 20, 1 / 10)), 4, 0.5),
    Setting("next to nothing", 0.1, 4000, 1.15, voros.Scenario(0.5, 0.1, (1 / 40, 1 / 20))),
    Setting("high floor", 0.3, 300, 1.0, voros.Scenario(0.8, 0.3, (0.2, 0.5))),
    Setting("rare", 0.02, 800, 1.5, voros.Scenario(0.3, 0.1, (1 / 60, 1 / 30))),
    Setting("few cases", 0.1, 600, 1.15, voros.Scenario(0.5, 0.1, (1 / 40, 1 / 20))),
    Setting("hardly any", 0.1, 1000, 0.7, voros.Scenario(0.5, 0.1, (1 / 40, 1 / 20))),
    Setting("very rare", 0.01, 1500, 2.0, voros.Scenario(0.2, 0.05, (1 / 100, 1 / 50))),
    Setting("60 alarms", 0.2, 400, 1.3, voros.Scenario(0.6, 0.15, (0.1, 0.3))),
    Setting("36 of 60", 0.6, 60, 1.0, voros.Scenario(0.7, 0.5, (0.5, 1.5))),
    *(
        Setting(f"{n} positives", 0.05, 20 * n, 2.5, voros.Scenario(0.15, 0.2, (1 / 40, 1 / 20)))
        for n in (10, 20, 40, 80, 160)
    ),
    *(
        Setting(f"near 1, {n}", 0.1, 10 * n, 4.0, voros.Scenario(0.2, 0.3, (1 / 20, 1 / 10)))
        for n in (15, 160)
    ),
    *(
        Setting(f"weak, {n}", 0.1, 10 * n, 0.3, voros.Scenario(cost_ratio=0.1))
        for n in (10, 40, 160)
    ),
    *(
        Setting(f"useless, {n}", 0.5, 2 * n, 0.0, voros.Scenario(cost_ratio=1.0))
        for n in (10, 40, 160)
    ),
    *(
        Setting(f"wide costs, {n}", 0.1, 10 * n, 1.0, voros.Scenario(cost_ratio=(0.001, 1.0)))
        for n in (10, 40)
    ),
    *(
        Setting(f"{n} groups", 0.2, 60 * n, 1.2, voros.Scenario(0.3, 0.4, (1 / 10, 1 / 5)), 60, 0.3)
        for n in (5, 8, 12, 20)
    ),
)


def population_curve(
    prevalence: float, separation: float, scenario: voros.Scenario
) -> voros.evaluation.Evaluation:
    thresholds = np.linspace(8.0 + separation, -8.0, GRID)
    n_positive = prevalence * POPULATION
    points = voros.OperatingPoints.from_points(
        ndtr(-thresholds), ndtr(separation - thresholds), n_positive, POPULATION - n_positive
    )
    return voros.evaluate(points, scenario=scenario)


def draw(
    setting: Setting, rng: np.random.Generator, n_models: int = 1
) -> tuple[BoolArray, list[FloatArray], AnyArray]:
    """Draw labels, scores of models with independent noise, and groups.

    Within a group labels and noise are dependent; across groups nothing is. Each case's own
    label and noise have the same distribution whatever is shared.
    """
    groups = np.arange(setting.n_cases) // setting.per_subgroup
    positive = ndtr(_shared_normal(setting, groups, rng)) < setting.prevalence
    noise = [_shared_normal(setting, groups, rng) for _ in range(n_models)]
    return positive, [setting.separation * positive + one for one in noise], groups


def _shared_normal(setting: Setting, groups: AnyArray, rng: np.random.Generator) -> FloatArray:
    own, common = rng.normal(size=len(groups)), rng.normal(size=groups[-1] + 1)
    mixed = np.sqrt(1 - setting.shared) * own + np.sqrt(setting.shared) * common[groups]
    return np.asarray(mixed)


@dataclass(frozen=True)
class Trial:
    """What the intervals and the test said of one data set."""

    estimate: float
    ends: dict[str, tuple[float, float]]
    p_value: float


def trials(setting: Setting, gain: float, args: argparse.Namespace) -> Iterator[Trial]:
    """Judge the intervals of one data set after another, and the comparison with another model.

    The other model is better separated by ``gain``; without any, none is compared.
    """
    for rng in generators(args.data_sets, args.seed):
        positive, (one, other), groups = draw(setting, rng, n_models=2)
        if not positive.any() or positive.all():
            continue
        how: dict[str, Any] = {"n_resamples": args.resamples, "random_state": rng}
        how["groups"] = groups if setting.per_subgroup > 1 else None
        ends, p_value = {}, np.nan
        estimate = voros.partial_voros_score(positive, one, setting.scenario)
        for method in args.methods:
            if method == "curve":
                ends[method] = curve_ends(setting, positive, one, how["groups"])
                continue
            interval = voros.bootstrap(positive, one, setting.scenario, method=method, **how)
            ends[method] = interval.low, interval.high
        if not np.isnan(gain):
            models = {"one": one, "other": other + gain * positive}
            p_value = voros.compare(positive, models, setting.scenario, **how).pairs[0].p_value
        yield Trial(estimate, ends, p_value)


def curve_ends(
    setting: Setting, positive: BoolArray, score: FloatArray, groups: AnyArray | None
) -> tuple[float, float]:
    """Return the interval that `voros.bootstrap` reports by default, without its resamples."""
    ranked = Ranked.from_cases(positive, score, worthwhile=True, units=groups)
    curve = CountedCurve.from_ranked(ranked, None, grouped=groups is not None)
    compute = Measure.from_metric("partial_voros", setting.scenario).compute
    low, high = curve_interval(curve, compute, setting.scenario, 0.95, chosen=True)
    return max(low, 0.0), min(high, 1.0)


def bands_that_hold(setting: Setting, n_data_sets: int, n_resamples: int, seed: int) -> FloatArray:
    """Share of ROC bands that hold the true curve: the whole of it, and at a mean position."""
    held = []
    for rng in generators(n_data_sets, seed):
        positive, (score,), groups = draw(setting, rng)
        how: dict[str, Any] = {"n_resamples": n_resamples, "random_state": rng}
        how["groups"] = groups if setting.per_subgroup > 1 else None
        band = roc_band(positive, score, **how)
        true = ndtr(setting.separation + ndtri(band.positions))
        inside = (band.low <= true) & (true <= band.high)
        held.append((bool(inside.all()), float(inside.mean())))
    return np.asarray(np.mean(held, axis=0))


def show_bands(setting: Setting, args: argparse.Namespace) -> None:
    whole, mean = bands_that_hold(setting, args.data_sets, args.resamples, args.seed)
    print(
        f"{setting.name:15} ROC band holds the whole curve {whole:.3f}, a mean position {mean:.3f}",
        flush=True,
    )


def show_quality(args: argparse.Namespace) -> None:
    """Judge the intervals of the AUROC and of the Brier score of calibrated risks."""
    for n_positive, failing in product((5, 10, 30, 100), (0.0, 0.05)):
        # A share of the positives looks like negatives.
        true = (1 - failing) * float(ndtr(3 / np.sqrt(2))) + failing / 2
        held = []
        for rng in generators(args.data_sets, args.seed):
            y = np.arange(n_positive + 200) < n_positive
            seen = y & (rng.random(len(y)) >= failing)
            points = voros.OperatingPoints.from_scores(y, 3.0 * seen + rng.normal(size=len(y)))
            interval = auroc_interval(points)
            held.append((interval.low > true, interval.high < true, interval.high - interval.low))
        _show_quality(f"AUROC {true:.3f}, {n_positive} positives of {n_positive + 200}", held)
    for n_cases, prevalence in ((100, 0.05), (300, 0.03), (1000, 0.02), (1000, 0.1)):
        middle = logit(prevalence) - 0.7
        risks = expit(middle + 1.3 * ndtri((np.arange(1_000_000) + 0.5) / 1_000_000))
        true, held = float(np.mean(risks * (1 - risks))), []
        for rng in generators(args.data_sets, args.seed):
            risk = expit(middle + 1.3 * rng.normal(size=n_cases))
            y = rng.random(n_cases) < risk
            if y.any():
                brier = Calibration.from_points(voros.OperatingPoints.from_scores(y, risk)).brier
                held.append((brier.low > true, brier.high < true, brier.high - brier.low))
        _show_quality(f"Brier {true:.3f}, {n_cases} cases, {risks.mean():.3f} positive", held)


BENEFIT_SETTINGS = (
    # prevalence, cases, separation, threshold probabilities
    (0.05, 200, 2.0, (0.02, 0.1, 0.5, 0.8)),
    (0.05, 400, 0.5, (0.02, 0.05, 0.2)),
    (0.02, 1000, 1.5, (0.01, 0.2, 0.6)),
    (0.5, 80, 0.0, (0.3, 0.5)),
    (0.3, 300, 3.0, (0.05, 0.5, 0.9)),
)


def show_net_benefit(args: argparse.Namespace) -> None:
    """Judge bands of decision curves: alarms at the risk, without limits, and within limits."""
    limits = voros.Scenario(0.3, 0.05, cost_ratio=1.0)
    scenarios = {"as scored": None, "best": limits.without_limits(), "within limits": limits}
    for prevalence, n_cases, separation, at in BENEFIT_SETTINGS:
        cuts = np.linspace(8.0 + separation, -8.0, GRID)
        n_positive = prevalence * POPULATION
        rates = ndtr(-cuts), ndtr(separation - cuts), n_positive, POPULATION - n_positive
        many = voros.OperatingPoints.from_points(*rates, _risk(cuts, prevalence, separation))
        for name, scenario in scenarios.items():
            true = voros.net_benefit(many, scenario=scenario, threshold_probability=at)
            missed = np.zeros((2, len(at)))
            for rng in generators(args.data_sets, args.seed):
                y = rng.random(n_cases) < prevalence
                if not 0 < np.count_nonzero(y) < n_cases:
                    continue
                risk = _risk(separation * y + rng.normal(size=n_cases), prevalence, separation)
                band = net_benefit_band(y, risk, scenario, threshold_probability=at)
                missed += np.array([band.low > true + BENEFIT_SAME, band.high < true])
            for p, (above, below) in zip(at, (missed / args.data_sets).T.tolist(), strict=True):
                print(
                    f"net benefit, {name:13} {prevalence:g} of {n_cases}, {separation:g} apart, "
                    f"p={p:g}: missed {above + below:.4f} (above {above:.4f})",
                    flush=True,
                )


BENEFIT_SAME = 1e-9
"""The population's curve is a grid."""


def _risk(score: FloatArray, prevalence: float, separation: float) -> FloatArray:
    """Return the calibrated risk of a score."""
    return np.asarray(expit(logit(prevalence) + separation * score - separation**2 / 2))


MEASURES = ("precision", "recall", "alarms", "cost", "cost_per_1000")


def patients(n_patients: int, rng: np.random.Generator) -> tuple[BoolArray, FloatArray, AnyArray]:
    """Draw patients: one in seven has 10 to 30 cases and is more often ill, the others 1 to 3."""
    many = rng.random(n_patients) < 0.15
    sizes = np.where(many, rng.integers(10, 31, n_patients), rng.integers(1, 4, n_patients))
    whose = np.repeat(np.arange(n_patients), sizes)
    chance = np.where(many, 0.4, 0.15)
    alike = rng.random(len(whose)) < 0.9
    ill = np.where(
        alike, (rng.random(n_patients) < chance)[whose], rng.random(len(whose)) < chance[whose]
    )
    noise = np.sqrt(0.9) * rng.normal(size=n_patients)[whose] + np.sqrt(0.1) * rng.normal(
        size=len(whose)
    )
    return ill, np.where(many, 0.8, 1.6)[whose] * ill + noise, whose


def show_evaluations(args: argparse.Namespace) -> None:
    """Judge the intervals of an evaluation by patient, the patients of unequal size."""
    scenario = voros.Scenario(0.3, 0.3, cost_ratio=0.075)
    many = voros.OperatingPoints.from_scores(*patients(1_000_000, np.random.default_rng(0))[:2])
    for threshold, n_patients in product((0.6, 1.2, 1.9), (40, 100, 200, 300)):
        points = voros.OperatingPoints.from_counts([500], [300], 1000, 9000, [threshold])
        policy = voros.ThresholdPolicy.from_points(points, scenario).fixed()
        whole = policy.evaluate(many)
        row = int(np.searchsorted(-many.thresholds, -threshold, side="right")) - 1
        missed = np.zeros(len(MEASURES))
        for rng in generators(args.data_sets, args.seed):
            ill, score, whose = patients(n_patients, rng)
            # The normalised cost is that of the observed class sizes.
            negatives = 0.075 * np.count_nonzero(~ill)
            t = negatives / (negatives + np.count_nonzero(ill))
            cost = t * many.fpr[row] + (1 - t) * (1 - many.tpr[row])
            alarms = whole.mean_alarms * len(ill) / many.n_cases
            true = whole.mean_precision, whole.mean_recall, alarms, cost, whole.cost_per_1000
            intervals = policy.evaluate(ill, score, groups=whose).intervals
            ends = np.array([getattr(intervals, measure) for measure in MEASURES])
            missed += (ends[:, 0] > true) | (ends[:, 1] < true)
        broken = missed / args.data_sets
        shown = ", ".join(f"{m} {b:.4f}" for m, b in zip(MEASURES, broken.tolist(), strict=True))
        print(f"threshold {threshold}, {n_patients} patients missed: {shown}", flush=True)


def _show_quality(name: str, held: list[tuple[bool, bool, float]]) -> None:
    above, below, width = np.mean(held, axis=0)
    print(
        f"{name} covered {1 - above - below:.3f} (above {above:.3f}, below {below:.3f}) "
        f"width {width:.4f} ({len(held)} data sets)",
        flush=True,
    )


def generators(count: int, seed: int) -> Iterator[np.random.Generator]:
    return map(np.random.default_rng, np.random.SeedSequence(seed).spawn(count))


def show(setting: Setting, gain: float, judged_trials: list[Trial]) -> None:
    """Print a line for each method, and how often the two models were told apart."""
    truth, count = setting.truth, len(judged_trials)
    bias = np.mean([trial.estimate for trial in judged_trials]) - truth
    for method in judged_trials[0].ends:
        low, high = np.array([trial.ends[method] for trial in judged_trials]).T
        above, below = np.mean(low > truth + SAME), np.mean(high < truth - SAME)
        print(
            f"{setting.name:15} {method:10} covered {1 - above - below:.3f} (above {above:.3f}, "
            f"below {below:.3f}) width {np.mean(high - low):.4f}, none {np.mean(high == low):.3f}, "
            f"true {truth:.4f} bias {bias:+.4f} ({count} data sets)"
        )
    if not np.isnan(gain):
        told_apart = np.mean([trial.p_value <= 0.05 for trial in judged_trials])
        print(f"{setting.name:15} gain {gain:g} told apart {told_apart:.3f} ({count} data sets)")
    sys.stdout.flush()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--settings", nargs="*", default=[s.name for s in SETTINGS])
    parser.add_argument(
        "--gains", nargs="*", type=float, default=[np.nan], help="compare with another model"
    )
    parser.add_argument(
        "--methods", nargs="*", choices=("curve", "bca", "percentile"), default=["curve"]
    )
    parser.add_argument("--data-sets", type=int, default=1000)
    parser.add_argument("--resamples", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--bands", action="store_true", help="judge bands instead of intervals")
    parser.add_argument("--quality", action="store_true", help="judge AUROC and Brier score")
    parser.add_argument("--evaluations", action="store_true", help="judge evaluations by patient")
    parser.add_argument("--net-benefit", action="store_true", help="judge decision curves")
    parser.add_argument("--every", type=int, default=1000, help="show results so far")
    args = parser.parse_args()
    warnings.simplefilter("ignore", voros.VorosWarning)
    for asked, part in (
        (args.evaluations, show_evaluations),
        (args.quality, show_quality),
        (args.net_benefit, show_net_benefit),
    ):
        if asked:
            part(args)
            return
    for setting in (s for s in SETTINGS if s.name in args.settings):
        if args.bands:
            show_bands(setting, args)
            continue
        for gain in args.gains:
            judged_trials: list[Trial] = []
            for trial in trials(setting, gain, args):
                judged_trials.append(trial)
                if len(judged_trials) % args.every == 0 or len(judged_trials) == args.data_sets:
                    show(setting, gain, judged_trials)


if __name__ == "__main__":
    main()
