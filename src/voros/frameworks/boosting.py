"""Partial VOROS as an evaluation metric of gradient boosting, for early stopping.

Only the order of scores matters, so margins and probabilities give the same value. Nothing of a
framework is imported: each calls what it is given, with its own arguments. A round in which no
threshold meets the limits has the score of never alarm, without a warning: early rounds often do.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from voros.core.cases import check_cases
from voros.core.decision import decide
from voros.core.pruning import points_of_cases
from voros.core.scenario import Scenario, check_scenario

NAME = "partial_voros"
"""What the metric is called in logs, and what early stopping is told to watch."""


def lightgbm_metric(scenario: Scenario) -> Callable[..., tuple[str, float, bool]]:
    """Return a metric for LightGBM: ``feval`` of `lightgbm.train`, ``eval_metric`` of a classifier.

    Weights of the validation set are honoured.

    Parameters
    ----------
    scenario : Scenario
        Limits and costs.

    Returns
    -------
    callable
        The name, the score, and that higher is better.

    Examples
    --------
    >>> import voros
    >>> metric = lightgbm_metric(voros.Scenario(0.5, 0.5, cost_ratio=(0.1, 0.2)))
    >>> metric([0, 0, 1, 0, 1, 0], [0.1, 0.2, 0.3, 0.4, 0.6, 0.5], None)
    ('partial_voros', 0.3365, True)
    """
    check_scenario(scenario)

    # LightGBM gives a third argument to a metric that has one, and two to ``feval``.
    def partial_voros(
        first: Any, second: Any, weight: Any | None = None
    ) -> tuple[str, float, bool]:
        return NAME, _score(first, second, weight, scenario), True

    return partial_voros


def xgboost_metric(scenario: Scenario) -> Callable[..., Any]:
    """Return a metric for XGBoost: ``custom_metric`` of `xgboost.train`, or ``eval_metric``.

    XGBoost takes a callable for a cost: say ``maximize=True`` to `xgboost.train`, or to
    `xgboost.callback.EarlyStopping` for a classifier. Scenario and weights are as in
    `lightgbm_metric`.

    Returns
    -------
    callable

    Examples
    --------
    >>> import voros
    >>> metric = xgboost_metric(voros.Scenario(0.5, 0.5, cost_ratio=(0.1, 0.2)))
    >>> metric([0, 0, 1, 0, 1, 0], [0.1, 0.2, 0.3, 0.4, 0.6, 0.5])
    0.3365
    """
    check_scenario(scenario)

    def partial_voros(first: Any, second: Any, sample_weight: Any | None = None) -> Any:
        score = _score(first, second, sample_weight, scenario)
        return (NAME, score) if hasattr(second, "get_label") else score

    return partial_voros


class CatBoostMetric:
    """A metric for CatBoost: ``eval_metric`` of a classifier; the scenario as in `lightgbm_metric`.

    Examples
    --------
    >>> import voros
    >>> metric = CatBoostMetric(voros.Scenario(0.5, 0.5, cost_ratio=(0.1, 0.2)))
    >>> metric.evaluate([[0.1, 0.2, 0.3, 0.4, 0.6, 0.5]], [0, 0, 1, 0, 1, 0], None)
    (0.3365, 1.0)
    """

    def __init__(self, scenario: Scenario) -> None:
        self.scenario = check_scenario(scenario)

    def is_max_optimal(self) -> bool:
        """Higher is better.

        Returns
        -------
        bool
        """
        return True

    def evaluate(
        self, approxes: Sequence[Any], target: Any, weight: Any | None
    ) -> tuple[float, float]:
        """Return the score, to be divided by 1: it is one number of all cases, and no mean."""
        if len(approxes) != 1:
            raise ValueError(
                f"approxes holds the scores of {len(approxes)} classes; two classes, and so one "
                "list of scores, are accepted"
            )
        return _score(target, approxes[0], weight, self.scenario), 1.0

    def get_final_error(self, error: float, weight: float) -> float:
        """Return the score."""
        return error / weight


def _score(first: Any, second: Any, weights: Any | None, scenario: Scenario) -> float:
    """Score labels and scores; or scores and a data set, which carries labels and weights."""
    if hasattr(second, "get_label"):
        first, second, held = second.get_label(), first, second.get_weight()
        weights = None if held is None or len(held) == 0 else held
    cases = check_cases(first, second, None, weights)
    return decide(points_of_cases(*cases), scenario, every_cost=False).partial_voros
