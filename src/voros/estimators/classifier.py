"""A scikit-learn classifier that raises alarms only within limits, by a threshold policy."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar, Literal, get_args

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.model_selection import (
    GroupShuffleSplit,
    StratifiedGroupKFold,
    StratifiedShuffleSplit,
    check_cv,
)
from sklearn.utils import _safe_indexing, get_tags, indexable
from sklearn.utils.metaestimators import available_if
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted

from voros.core.alignment import check_aligned
from voros.core.arguments import check_choice, check_flag
from voros.core.arrays import check_weights
from voros.core.grouped_cases import group_codes
from voros.core.operating_points import OperatingPoints
from voros.core.periods import Periods, read_periods
from voros.core.scenario import Scenario, check_scenario
from voros.estimators.held_out import (
    check_binary,
    check_groups_apart,
    check_held_out_once,
    fit_on,
    positive_class,
    positive_scores,
    score_held_out,
    weight_parameter,
)
from voros.exceptions import InfeasibleError, NeverAlarmWarning, warn_caller
from voros.policy.allowed import (
    AllowedThresholds,
    read_guarantee,
    warn_if_dependent,
    why_never_alarm,
)
from voros.policy.origin import POLICY_STRATEGIES, PolicyStrategy
from voros.policy.policy_evaluation import PolicyEvaluation
from voros.policy.threshold_policy import ThresholdPolicy, climbed
from voros.typing import AnyArray, FloatArray

if TYPE_CHECKING:
    from voros.guarantee import Guarantee

OnInfeasible = Literal["raise", "warn", "never_alarm"]
PER_CASE = ("sample_weight", "groups", "periods", "times")
"""Further arguments of `fit`, with one value for each case."""


def _has(method: str) -> Any:
    """Return a check that the estimator, fitted or not, has a method."""

    def check(self: ConstrainedThresholdClassifier) -> bool:
        return hasattr(getattr(self, "estimator_", self.estimator), method)

    return check


class ConstrainedThresholdClassifier(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """Fit a classifier, find the thresholds that meet the limits, and predict with them.

    The thresholds are decided on cases to which the classifier was not fitted, and kept as a
    `ThresholdPolicy`. Where no threshold meets the limits, the classifier raises no alarm.

    Parameters
    ----------
    estimator : classifier
        A classifier with ``predict_proba`` or ``decision_function``.
    scenario : Scenario
        Limits and costs. Prefer a capacity that is a share: a count limits the alarms on the cases
        on which the thresholds are decided.
    strategy : str, default "partial_voros"
        How thresholds are chosen: see `ThresholdPolicy.from_validation`.
    cv : int, splitter, float, "prefit" or None
        Cases on which the thresholds are decided. None or an int: all cases, by out-of-fold scores
        from this number of stratified folds (default 5). A splitter or an iterable of splits: all
        its held-out parts together, where each case is held out at most once. A float in (0, 1): a
        stratified held-out part of this share. "prefit": all cases given to `fit`, which does not
        fit the `estimator` again.
    refit : bool, default True
        Whether to fit the classifier again on all cases. Held-out scores are then mapped to the
        scale of that fit, by the quantiles of the cases in both fits. False needs a single split,
        or "prefit", for which it has no effect.
    pos_label : label, optional
        The positive class; needed unless the labels are bool, {0, 1} or {-1, 1}.
    on_infeasible : {"raise", "warn", "never_alarm"}, default "raise"
        What to do when no threshold meets the limits: raise `InfeasibleError`, or raise no alarm
        with or without a warning.
    guarantee : Guarantee, optional
        Allow only thresholds that also keep the limits on future data, with confidence. The scores
        must be those of the deployed classifier on new cases: this needs ``cv="prefit"``, with a
        classifier that was chosen without the cases given to `fit`, or a single split with
        ``refit=False``.
    n_jobs : int, optional
        Number of folds fitted in parallel, as in scikit-learn.
    random_state : int, RandomState instance or None
        Random numbers for the split when `cv` is a float.

    Attributes
    ----------
    estimator_ : classifier
        The fitted classifier.
    policy_ : ThresholdPolicy
        The thresholds.
    classes_ : ndarray of shape (2,)
    pos_label_ : label
        The positive class.
    n_features_in_, feature_names_in_
        Those of `estimator_`, if it has them.

    Examples
    --------
    >>> import voros
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = make_classification(2000, weights=[0.9], random_state=0)
    >>> scenario = voros.Scenario(min_precision=0.5, capacity=0.1, cost_ratio=(1 / 20, 1 / 10))
    >>> model = voros.ConstrainedThresholdClassifier(LogisticRegression(), scenario).fit(X, y)
    >>> model.policy_.default.precision >= 0.5 and model.policy_.default.alarms <= 200
    True
    >>> bool(model.predict(X, cost_ratio=5).sum() < model.predict(X, cost_ratio=1 / 20).sum())
    True
    """

    # With metadata routing, these arguments of `fit` are requested by default.
    __metadata_request__fit: ClassVar[dict[str, Any]] = dict.fromkeys(PER_CASE, True)

    def __init__(
        self,
        estimator: Any,
        scenario: Scenario,
        *,
        strategy: PolicyStrategy = "partial_voros",
        cv: Any = None,
        refit: bool = True,
        pos_label: Any = None,
        on_infeasible: OnInfeasible = "raise",
        guarantee: Guarantee | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.scenario = scenario
        self.strategy = strategy
        self.cv = cv
        self.refit = refit
        self.pos_label = pos_label
        self.on_infeasible = on_infeasible
        self.guarantee = guarantee
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, y: Any, **params: Any) -> ConstrainedThresholdClassifier:
        """Fit the classifier and find its thresholds.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_cases, n_features)
        y : array-like of shape (n_cases,)
            Labels of two classes.
        **params
            ``sample_weight`` weights the cases, for the thresholds and for fitting; a pipeline
            passes it to its last step, and classifiers without weights are refused. ``groups`` is
            the patient of each case: splits keep the cases of one patient together, and a guarantee
            tests sums over patients. Without it all cases are taken as independent. ``times`` or
            ``periods`` give the period of each case, for a capacity per period; a float as `cv`
            then holds out whole periods.

        Returns
        -------
        ConstrainedThresholdClassifier
        """
        self._check_parameters()
        unknown = sorted(set(params) - set(PER_CASE))
        if unknown:
            raise ValueError(f"fit got {', '.join(unknown)}; accepted are {', '.join(PER_CASE)}")
        weights, groups, periods, times = (params.get(name) for name in PER_CASE)
        check_aligned(X=X, y=y, sample_weight=weights, groups=groups, periods=periods, times=times)
        X, y = indexable(X, y)
        weights = None if weights is None else check_weights(weights)
        y = check_binary(y, weights)
        groups = None if groups is None else group_codes(groups, y)
        periods = read_periods(self.scenario, y, periods, times)
        weighted = {}
        if weights is not None and not self._prefitted:
            weighted = {weight_parameter(self.estimator): params["sample_weight"]}
        if self._prefitted:
            check_is_fitted(self.estimator)
            self.estimator_ = self.estimator
            held_out: list[tuple[Any, AnyArray]] = [(None, np.arange(len(y)))]
        else:
            held_out = self._splits(X, y, groups, periods)
            rows = np.arange(len(y)) if self.refit else held_out[0][0]
            self.estimator_ = fit_on(clone(self.estimator), X, y, rows, weighted)
        self.classes_ = self.estimator_.classes_
        self.pos_label_ = positive_class(self.classes_, self.pos_label)
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self.estimator_, name):
                setattr(self, name, getattr(self.estimator_, name))
        scores, rows = self._held_out_scores(X, y, held_out, weighted)
        points = OperatingPoints.from_scores(
            y[rows] == self.pos_label_,
            scores,
            sample_weight=None if weights is None else weights[rows],
            groups=None if groups is None else groups[rows],
            periods=None if periods is None else periods.of_cases(rows),
        )
        self.policy_ = self._decide(points)
        return self

    def predict(self, X: Any, cost_ratio: float | None = None) -> AnyArray:
        """Predict the class of each case; the positive one is an alarm.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_cases, n_features)
        cost_ratio : float, optional
            The current C_FP / C_FN; None deploys the policy's default threshold.

        Returns
        -------
        ndarray
        """
        check_is_fitted(self, "policy_")
        scores = positive_scores(self.estimator_, X, self.pos_label_)
        alarm = self.policy_.predict(scores, cost_ratio)
        is_positive = np.asarray(self.classes_ == self.pos_label_)
        return np.asarray(np.where(alarm, self.classes_[is_positive], self.classes_[~is_positive]))

    def evaluate(self, X: Any, y: Any, **options: Any) -> PolicyEvaluation:
        """Evaluate `predict` on labelled cases against the limits.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_cases, n_features)
        y : array-like of shape (n_cases,)
        **options
            As in `ThresholdPolicy.evaluate`: ``cost_ratio``, ``groups``, ``by``, ``times``, ...

        Returns
        -------
        PolicyEvaluation
        """
        check_aligned(X=X, y=y)
        check_is_fitted(self, "policy_")
        scores = positive_scores(self.estimator_, X, self.pos_label_)
        return self.policy_.evaluate(y, scores, **{"pos_label": self.pos_label_} | options)

    @available_if(_has("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> FloatArray:
        """Return the class probabilities of the fitted classifier."""
        check_is_fitted(self, "policy_")
        return np.asarray(self.estimator_.predict_proba(X))

    @available_if(_has("predict_log_proba"))  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: Any) -> FloatArray:
        """Return the logarithms of the class probabilities of the fitted classifier."""
        check_is_fitted(self, "policy_")
        return np.asarray(self.estimator_.predict_log_proba(X))

    @available_if(_has("decision_function"))  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> FloatArray:
        """Return the decision function of the fitted classifier."""
        check_is_fitted(self, "policy_")
        return np.asarray(self.estimator_.decision_function(X))

    def __sklearn_tags__(self) -> Any:
        """Support two classes, and sparse input if the classifier supports it."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.input_tags.sparse = get_tags(self.estimator).input_tags.sparse
        return tags

    def _check_parameters(self) -> None:
        check_scenario(self.scenario)
        if not hasattr(self.estimator, "fit"):
            raise TypeError(f"estimator={self.estimator!r}; accepted is a classifier")
        check_choice(self.strategy, "strategy", POLICY_STRATEGIES)
        check_choice(self.on_infeasible, "on_infeasible", get_args(OnInfeasible))
        check_flag(self.refit, "refit")
        if self.guarantee is not None and self._refits:
            raise ValueError(
                f"a guarantee cannot be kept with cv={self.cv!r} and refit={self.refit!r}: the "
                "scores that are tested would not be those of the deployed classifier. "
                "Accepted are cv='prefit', or a single split without refitting, such as cv=0.3 "
                "with refit=False"
            )

    @property
    def _refits(self) -> bool:
        """Whether other fits than the deployed one score the held-out cases."""
        return bool(self.refit) and not self._prefitted

    @property
    def _prefitted(self) -> bool:
        return isinstance(self.cv, str) and self.cv == "prefit"

    @property
    def _holds_out_a_share(self) -> bool:
        return isinstance(self.cv, Real) and not isinstance(self.cv, Integral)

    def _splits(
        self, X: Any, y: Any, groups: AnyArray | None, periods: Periods | None
    ) -> list[tuple[Any, AnyArray]]:
        """Return the rows to fit and to hold out in each split; groups stay together."""
        if periods is not None and self._holds_out_a_share:
            if groups is not None:
                raise ValueError(
                    f"cv={self.cv!r} holds out whole periods, and groups may have cases in several;"
                    " accepted with both are folds, such as cv=5"
                )
            # A share of the cases of a day would raise only a share of its alarms.
            groups = periods.codes
        try:
            splitter = self._splitter(y, grouped=groups is not None)
            splits = list(splitter.split(X, y, groups))
            if not splits:
                raise ValueError("it holds no split")
            check_held_out_once(splits, len(y))
        except (IndexError, TypeError, ValueError) as error:
            raise ValueError(f"cv={self.cv!r} does not split these cases: {error}") from error
        if groups is not None:
            check_groups_apart(splits, groups)
        return splits

    def _splitter(self, y: Any, *, grouped: bool = False) -> Any:
        if self._holds_out_a_share:
            kind = GroupShuffleSplit if grouped else StratifiedShuffleSplit
            return kind(1, test_size=float(self.cv), random_state=self.random_state)
        splitter = check_cv(self.cv, y, classifier=True)
        if grouped and (self.cv is None or isinstance(self.cv, Integral)):
            splitter = StratifiedGroupKFold(splitter.get_n_splits())
        if not self.refit and splitter.get_n_splits() > 1:
            raise ValueError("refit=False needs a single split, and cv has several folds")
        return splitter

    def _held_out_scores(
        self, X: Any, y: Any, splits: list[Any], fit_params: dict[str, Any]
    ) -> tuple[FloatArray, AnyArray]:
        """Return the scores of all held-out cases, and their rows."""
        rows = np.concatenate([held_out for _, held_out in splits])
        if not self._refits:
            return positive_scores(self.estimator_, _safe_indexing(X, rows), self.pos_label_), rows
        final = positive_scores(self.estimator_, X, self.pos_label_)
        parts: Iterable[FloatArray] = Parallel(n_jobs=self.n_jobs)(
            delayed(score_held_out)(self.estimator, X, y, fit_params, self.pos_label_, final, split)
            for split in splits
        )
        return np.concatenate(list(parts)), rows

    def _decide(self, points: OperatingPoints) -> ThresholdPolicy:
        allowed: AllowedThresholds | None = None
        guarantee = read_guarantee(self.guarantee)
        with suppress(InfeasibleError):
            allowed, curve = climbed(points, self.scenario, self.strategy, guarantee, 1, None)
        if allowed is not None and allowed.decision.can_alarm:
            warn_if_dependent(allowed)
            return ThresholdPolicy.from_allowed(
                allowed, strategy=self.strategy, pos_label=self.pos_label_, curve=curve
            )
        reason = why_never_alarm(points, self.scenario, guarantee)
        if self.on_infeasible == "raise":
            raise InfeasibleError(
                f"{reason}. To deploy a classifier that raises no alarm, pass "
                "on_infeasible='never_alarm'"
            )
        if self.on_infeasible == "warn":
            warn_caller(reason, NeverAlarmWarning)
        return ThresholdPolicy.never_alarm(
            points,
            self.scenario,
            strategy=self.strategy,
            guarantee=None if guarantee is None else guarantee.steps[0],
        )
