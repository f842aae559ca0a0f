"""A scikit-learn scorer for a scenario, for cross-validation and model search."""

from __future__ import annotations

from typing import Any

import numpy as np

from voros.core.arguments import check_choice
from voros.core.decision import STRATEGIES, Strategy, decide
from voros.core.scenario import Scenario, check_scenario
from voros.models import read_points
from voros.notices import warn_about_costs, warn_if_never_alarm

SCORER_METHODS = ("decision_function", "predict_proba")
"""Methods that a scorer takes scores from; where both exist, they rank cases equally."""


def make_scorer(
    scenario: Scenario, *, strategy: Strategy = "partial_voros", pos_label: Any = None
) -> Any:
    """Make a scikit-learn scorer for a scenario.

    It works wherever scikit-learn takes ``scoring``, with any classifier that has
    ``decision_function`` or ``predict_proba``. With metadata routing enabled,
    ``make_scorer(scenario).set_score_request(sample_weight=True)`` weights the cases, and
    ``times=True`` or ``periods=True`` passes the period of each case, for a capacity per period.
    Folds must then contain whole periods, as those of ``GroupKFold`` on the day do: a fifth of the
    cases of every day would raise a fifth of the alarms.

    Parameters
    ----------
    scenario : Scenario
        Limits and costs. A capacity that is a share scales with the size of each fold; a count
        does not.
    strategy : {"partial_voros", "voros", "partial_auroc", "recall"}
        The score: see `voros.select_model`.
    pos_label : label, optional
        The positive class; needed unless the labels are bool, {0, 1} or {-1, 1}.

    Returns
    -------
    scorer : callable
        ``scorer(estimator, X, y, sample_weight=None, periods=None, times=None) -> float``, higher
        is better.

    Examples
    --------
    >>> import voros
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.model_selection import cross_val_score
    >>> X, y = make_classification(500, weights=[0.8], random_state=0)
    >>> scenario = voros.Scenario(min_precision=0.5, capacity=0.2, cost_ratio=(1 / 20, 1 / 10))
    >>> scores = cross_val_score(
    ...     LogisticRegression(), X, y, scoring=voros.make_scorer(scenario), cv=3
    ... )
    >>> bool((scores > 0.5).all())
    True
    """
    # Imported lazily: scikit-learn would double the time to import voros.
    from sklearn.metrics import make_scorer as make_sklearn_scorer

    check_choice(strategy, "strategy", STRATEGIES)
    check_scenario(scenario)
    return make_sklearn_scorer(
        scenario_score,
        response_method=SCORER_METHODS,
        scenario=scenario,
        strategy=strategy,
        pos_label=pos_label,
    )


def scenario_score(
    y_true: Any,
    y_score: Any,
    *,
    scenario: Scenario,
    strategy: Strategy = "partial_voros",
    pos_label: Any = None,
    sample_weight: Any = None,
    periods: Any = None,
    times: Any = None,
) -> float:
    """Score labels and scores in a scenario by one strategy; higher is better."""
    if getattr(y_score, "dtype", np.dtype(float)).kind != "f":
        raise ValueError(
            "a scenario is scored on a classifier's scores, and these are class labels, as "
            "TunedThresholdClassifierCV hands them to a scorer for each threshold; "
            "voros.ConstrainedThresholdClassifier finds the threshold within the limits"
        )
    in_time = {"periods": periods, "times": times}
    how = {"pos_label": pos_label, "sample_weight": sample_weight, **in_time}
    decision = decide(read_points(y_true, y_score, scenario, **how), scenario)
    if strategy != "voros":
        warn_about_costs(decision)
        warn_if_never_alarm(decision)
    return decision.score(strategy)
