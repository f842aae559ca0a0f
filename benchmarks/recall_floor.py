"""A recall floor certified by voros and by MAPIE on the same validations: broken, and the price.

Scores are normal, so that the true recall and precision of a threshold are known. A run breaks the
promise where the deployed threshold's true rates are below a floor. `python
benchmarks/recall_floor.py` prints the table of docs/promises.md.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
from scipy.stats import norm

import voros
from voros.typing import BoolArray, FloatArray

N_CASES, PREVALENCE, SHIFT = 1500, 0.2, 1.5
N_RUNS = {"voros": 2000, "MAPIE": 200}
"""MAPIE takes a hundred times as long."""

MIN_RECALL = 0.8

Chooser = Callable[[BoolArray, FloatArray], float]


def by_voros(min_precision: float, guarantee: voros.Guarantee | None) -> Chooser:
    """The threshold of greatest precision, nearly, that keeps the floors."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", voros.VorosWarning)
        scenario = voros.Scenario(min_precision, min_recall=MIN_RECALL, cost_ratio=20.0)

    def choose(positive: BoolArray, risk: FloatArray) -> float:
        policy = voros.ThresholdPolicy.from_validation(
            positive, risk, scenario, guarantee=guarantee, n_models=1, strategy="single"
        )
        return float(policy.threshold())

    return choose


def by_mapie(min_precision: float, method: str) -> Chooser:
    """The threshold of greatest precision that MAPIE certifies, of 100 between 0 and 1."""
    from mapie.risk_control import BinaryClassificationController

    risks: dict[str, float] = {"recall": MIN_RECALL}
    if min_precision:
        risks["precision"] = min_precision

    def choose(positive: BoolArray, risk: FloatArray) -> float:
        one = len(risks) == 1
        controller = BinaryClassificationController(
            lambda scores: np.column_stack([1 - scores[:, 0], scores[:, 0]]),
            "recall" if one else list(risks),
            MIN_RECALL if one else list(risks.values()),
            confidence_level=0.95,
            best_predict_param_choice="precision",
            fwer_method=method,
        )
        controller.calibrate(risk[:, None], positive.astype(int))
        best = controller.best_predict_param
        return np.inf if best is None else float(np.ravel(best)[0])

    return choose


def true_rates(threshold: float) -> tuple[float, float, float]:
    """Recall, precision and share of alarms of a threshold on the calibrated risk."""
    if not 0 < threshold < 1:
        return (0.0, np.nan, 0.0) if threshold >= 1 else (1.0, PREVALENCE, 1.0)
    odds = np.log(threshold / (1 - threshold)) - np.log(PREVALENCE / (1 - PREVALENCE))
    score = (odds + SHIFT**2 / 2) / SHIFT
    recall, fpr = norm.sf(score - SHIFT), norm.sf(score)
    alarms = PREVALENCE * recall + (1 - PREVALENCE) * fpr
    return float(recall), float(PREVALENCE * recall / alarms), float(alarms)


def draw(rng: np.random.Generator) -> tuple[BoolArray, FloatArray]:
    """Labels, and risks that mean what they say."""
    positive = rng.random(N_CASES) < PREVALENCE
    score = rng.normal(size=N_CASES) + SHIFT * positive
    odds = SHIFT * score - SHIFT**2 / 2 + np.log(PREVALENCE / (1 - PREVALENCE))
    return positive, np.asarray(1 / (1 + np.exp(-odds)))


def main() -> None:
    """Print a row for each way and pair of floors."""
    warnings.simplefilter("ignore")
    for floor in (0.0, 0.35):
        ways = {
            "voros, no guarantee": by_voros(floor, None),
            "voros, guarantee": by_voros(floor, voros.Guarantee(0.95)),
            "MAPIE, default": by_mapie(floor, "bonferroni_holm"),
        }
        if not floor:
            ways["MAPIE, fixed sequence"] = by_mapie(floor, "fixed_sequence")
        for name, choose in ways.items():
            rng = np.random.default_rng(34)
            n_runs = N_RUNS[name.partition(",")[0]]
            rates = np.array([true_rates(choose(*draw(rng))) for _ in range(n_runs)])
            some = rates[:, 0] > 0
            broken = some & ((rates[:, 0] < MIN_RECALL) | (rates[:, 1] < floor))
            print(
                f"{floor:g}  {name:32} broken {broken.mean():.3f}  deployed {some.mean():.3f}  "
                f"alarms {rates[some, 2].mean():.3f}  precision {np.mean(rates[some, 1]):.3f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
