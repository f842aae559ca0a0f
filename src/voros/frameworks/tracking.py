"""Partial VOROS as a metric of MLflow's evaluations."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import numpy as np

from voros.core.scenario import Scenario, check_scenario
from voros.frameworks.boosting import NAME
from voros.installing import missing_package
from voros.metrics import partial_voros_score


def mlflow_metric(scenario: Scenario) -> Any:
    """Return an ``EvaluationMetric`` for ``extra_metrics`` of `mlflow.models.evaluate`.

    The column of predictions must hold scores, not labels; the scenario is as in
    `lightgbm_metric`.

    Returns
    -------
    mlflow.metrics.EvaluationMetric

    Examples
    --------
    >>> import voros
    >>> mlflow_metric(voros.Scenario(0.5, 0.5, cost_ratio=(0.1, 0.2))).name
    'partial_voros'
    """
    check_scenario(scenario)
    if find_spec("mlflow") is None:
        raise missing_package("mlflow_metric", "mlflow")
    from mlflow.models import make_metric

    def partial_voros(predictions: Any, targets: Any, metrics: Any) -> float:  # noqa: ARG001
        # MLflow tries every metric on the first row alone, which has no ROC curve.
        if len(targets) == 1:
            return float("nan")
        return partial_voros_score(np.asarray(targets), np.asarray(predictions), scenario)

    return make_metric(eval_fn=partial_voros, greater_is_better=True, name=NAME)
