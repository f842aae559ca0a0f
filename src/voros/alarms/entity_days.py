"""One case per card, account or patient and day, with the highest score of the day.

A desk that checks cards checks a card once a day, however many payments it makes. A card reaches a
threshold on a day if and only if its highest score does; the first payment that reaches it sounds
the alarm. This is the rule of alarms over stays where each day of a card is a stay and an alarm
silences the rest of the day, so the counts are those of single cases.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from voros.alarms.points import ONLY, column_of, models_of, score_name
from voros.alarms.rule import MICROSECONDS_PER_DAY
from voros.alarms.stays import HOURS, read_microseconds
from voros.core.alignment import check_aligned
from voros.core.arguments import check_count, check_flag
from voros.core.arrays import as_vector, check_same_length, check_weights
from voros.core.cases import check_scores, read_labels
from voros.core.grouped_cases import group_codes
from voros.exceptions import ArgumentError
from voros.typing import AnyArray, BoolArray, FloatArray


@dataclass(frozen=True, eq=False, kw_only=True)
class EntityDays:
    """One case for each entity and day on which it has a row.

    Attributes
    ----------
    entity : ndarray of shape (n_cases,)
        The card, account or patient; `groups` of guarantees and intervals.
    day : ndarray of shape (n_cases,)
        Dates, which are the ``times`` of a capacity per day; numbers of days where times are hours.
        Cases are in the order of day, then entity.
    y_true : ndarray of bool, shape (n_cases,)
        Whether any row of the entity that day is positive.
    scores : ndarray of shape (n_cases,), or dict of str to such
        The highest of the day, by model where models have names.
    case_of_rows : ndarray of int, shape (n_rows,)
        The case that each row belongs to.

    Examples
    --------
    >>> days = entity_days(
    ...     entity=["a", "a", "b", "a"],
    ...     time=[1, 9, 12, 30],
    ...     score=[0.2, 0.9, 0.4, 0.1],
    ...     label=[0, 1, 0, 0],
    ... )
    >>> days.entity.tolist(), days.day.tolist(), days.scores.tolist(), days.y_true.tolist()
    (['a', 'b', 'a'], [0, 0, 1], [0.9, 0.4, 0.1], [True, False, False])
    """

    entity: AnyArray
    day: AnyArray
    y_true: BoolArray
    scores: Any
    case_of_rows: AnyArray

    def total(self, values: Any) -> FloatArray:
        """Add up values of the rows of each case, such as the amounts of its payments.

        A missed case costs the sum over its positive rows, ``total(amounts * fraud)``. This needs
        the labels; a threshold on score times value needs ``total(amounts)``.

        Returns
        -------
        ndarray of shape (n_cases,)
        """
        column = check_weights(values, name="values")
        check_same_length(rows=self.case_of_rows, values=column)
        return np.asarray(np.bincount(self.case_of_rows, column, minlength=len(self.entity)))

    def precision_at(
        self, k: int, *, model: str | None = None, remove_detected: bool = True
    ) -> FloatArray:
        """Return the share of positives among the k highest entities of each day.

        The mean over the days is the card precision top-k of the Fraud Detection Handbook (Le
        Borgne, Siblini, Lebichot and Bontempi, 2022). Of equal scores the entity that sorts first
        is taken.

        Parameters
        ----------
        k : int
            Number of entities that are checked each day; the share is of k on every day.
        model : str, optional
            The model of the scores, where models have names.
        remove_detected : bool, default True
            Whether an entity that is found on a day is blocked, so left out on later days.

        Returns
        -------
        ndarray of shape (n_days,)

        Examples
        --------
        >>> days = entity_days(
        ...     entity=[1, 2, 1, 2],
        ...     time=["2026-01-01", "2026-01-01", "2026-01-02", "2026-01-02"],
        ...     score=[0.9, 0.2, 0.8, 0.3],
        ...     label=[1, 0, 1, 1],
        ... )
        >>> days.precision_at(1).tolist(), days.precision_at(1, remove_detected=False).tolist()
        ([1.0, 1.0], [1.0, 1.0])
        >>> days.precision_at(2).tolist(), days.precision_at(2, remove_detected=False).tolist()
        ([0.5, 0.5], [0.5, 1.0])
        """
        n_listed = check_count(k, "k", "a whole number above 0")
        check_flag(remove_detected, "remove_detected")
        scores, codes = self._scores_of(model), np.unique(self.entity, return_inverse=True)[1]
        blocked = np.zeros(codes.max() + 1, dtype=np.bool_)
        starts = np.flatnonzero(np.append(True, self.day[1:] != self.day[:-1]))
        shares = []
        for rows in np.split(np.arange(len(codes)), starts[1:]):
            left = rows[~blocked[codes[rows]]]
            listed = left[np.argsort(-scores[left], kind="stable")[:n_listed]]
            detected = listed[self.y_true[listed]]
            shares.append(len(detected) / n_listed)
            blocked[codes[detected]] = remove_detected
        return np.array(shares)

    def _scores_of(self, model: str | None) -> AnyArray:
        named = isinstance(self.scores, dict)
        if named and model in self.scores:
            return np.asarray(self.scores[model], dtype=np.float64)
        if named or model is not None:
            accepted = ", ".join(map(repr, self.scores)) if named else "None"
            raise ArgumentError("model", f"={model!r}; accepted is one of {accepted}")
        return np.asarray(self.scores, dtype=np.float64)


def entity_days(
    rows: Any = None, *, entity: Any, time: Any, score: Any, label: Any, pos_label: Any = None
) -> EntityDays:
    """Take each entity on each day as one case: its highest score, and whether any row is positive.

    Limits then count cards, accounts or patients, and not payments or measurements. The cases go
    wherever labels and scores do, with ``times=days.day`` where the capacity is one per day, and
    the list of each day is `voros.worklist`.

    Parameters
    ----------
    rows : data frame or mapping of columns, optional
        Of which the other arguments name columns. Without it they are arrays.
    entity : str or array-like of shape (n_rows,)
        The entity of each row.
    time : str or array-like of shape (n_rows,)
        Datetimes, or numbers of hours. Days of times that have a zone are those of UTC.
    score : str, list of str, array-like, mapping of str to array-like, or data frame
        Of one model, or of several by name.
    label : str or array-like of shape (n_rows,)
        Of each row.
    pos_label : label, optional
        The positive one; needed unless the labels are bool, {0, 1} or {-1, 1}.

    Returns
    -------
    EntityDays

    Examples
    --------
    Three payments of one card are one case a day:

    >>> import voros
    >>> payments = {"card": [7, 7, 7, 8], "fraud": [0, 1, 0, 0], "risk": [0.2, 0.7, 0.1, 0.3]}
    >>> payments["at"] = ["2026-01-01T09", "2026-01-01T17", "2026-01-02T11", "2026-01-01T10"]
    >>> days = voros.alarms.entity_days(
    ...     payments, entity="card", time="at", score="risk", label="fraud"
    ... )
    >>> scenario = voros.Scenario(capacity=1, per="day", exceed=0.0, cost_ratio=0.1)
    >>> voros.ThresholdPolicy.from_validation(
    ...     days.y_true, days.scores, scenario, times=days.day
    ... ).threshold()
    0.7
    """
    check_aligned(entity=entity, time=time, score=score, label=label)
    names = as_vector(column_of(rows, entity, "entity"), "entity")
    microseconds, clock = read_microseconds(column_of(rows, time, "time"), "time")
    positive = read_labels(column_of(rows, label, "label"), pos_label, name="label")
    check_same_length(entity=names, time=microseconds, label=positive)
    codes = group_codes(names, positive, "entity")
    day = microseconds // MICROSECONDS_PER_DAY
    keys = (day - day.min()) * (codes.max() + 1) + codes
    _, first, case_of_rows = np.unique(keys, return_index=True, return_inverse=True)
    labels = np.zeros(len(first), dtype=np.bool_)
    labels[case_of_rows[positive]] = True
    scores = {
        model: _highest(column, case_of_rows, score_name(model))
        for model, column in models_of(rows, score).items()
    }
    return EntityDays(
        entity=names[first],
        day=day[first] if clock == HOURS else day[first].astype("datetime64[D]"),
        y_true=labels,
        scores=scores.get(ONLY, scores),
        case_of_rows=case_of_rows,
    )


def _highest(column: Any, case_of_rows: AnyArray, name: str) -> AnyArray:
    """Return the highest score of the rows of each case."""
    scores = check_scores(column, name=name)
    check_same_length(**{"entity": case_of_rows, name: scores})
    order = np.lexsort((scores, case_of_rows))
    last = np.append(np.diff(case_of_rows[order]) > 0, True)
    return np.asarray(scores[order][last])
