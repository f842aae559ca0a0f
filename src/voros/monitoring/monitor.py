"""Monitor: a deployed policy, its cases as they come and their labels when they come."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np

from voros.core.alignment import check_aligned
from voros.core.arrays import check_same_length
from voros.core.cases import read_labels
from voros.core.clock import parse_times
from voros.exceptions import ArgumentError
from voros.models import model_column
from voros.monitoring.settings import (
    Settings,
    check_gaps,
    check_single_labels,
    day_of,
    finite_scores,
    name_periods,
    read_ids,
    read_time,
    read_times,
)
from voros.monitoring.status import Status, Update
from voros.monitoring.stays import add_outcomes, add_rows, stay_status, withdraw_stays
from voros.monitoring.store import Cases, Store
from voros.monitoring.unlabelled import calibrate, curve_text, read_curve
from voros.monitoring.verdicts import BEGINNING, Deployment, read_status
from voros.policy.threshold_policy import ThresholdPolicy
from voros.typing import AnyArray, FloatArray


class Monitor:
    """Watch a deployed policy: precision, recall, capacity and scores, valid at all times.

    Parameters
    ----------
    policy : ThresholdPolicy
        What is deployed, on cases or over stays. The limits are those of its scenario.
    path : path-like, optional
        One SQLite file for cases, labels and settings. It is made where there is none; where there
        is, policy and settings must be those it was made with (`Monitor.open` asks for neither).
        By default the state is in memory.
    window : float or timedelta, default 30
        Days after which an alarm counts, with its label as it is known at the time of asking. Until
        its label comes it counts as true for *broken* and as false for *kept*: a window long enough
        for most labels keeps such alarms few.
    alpha : float, default 0.05
        Probability, for each limit, of ever calling it broken although it is kept.
    run_length : float, default 10,000
        Alarms, or periods, that the detector of late changes takes on average to fire although the
        limit is kept.
    cost_ratio : float, optional
        C_FP / C_FN where it is known; by default the policy's default threshold decides.
    validation : tuple of labels and scores, optional
        Cases on which risks are calibrated, and the patient of each as a third member where cases
        of a patient belong together. `status` then states the precision to expect of alarms whose
        labels are still to come. The file keeps the calibration, not the cases.

    Examples
    --------
    >>> import voros
    >>> scenario = voros.Scenario(min_precision=0.25, capacity=0.5, cost_ratio=(0.1, 0.2))
    >>> policy = voros.ThresholdPolicy.from_validation(
    ...     [0, 1, 0, 1, 1, 0, 0, 0], [0.1, 0.9, 0.8, 0.7, 0.5, 0.4, 0.3, 0.2], scenario
    ... )
    >>> monitor = voros.Monitor(policy, window=2)
    >>> monitor.update([0.9, 0.2], cases=["a", "b"], times=["2026-03-01", "2026-03-02"]).alarms
    array([ True, False])
    >>> monitor.label([1], cases=["a"], times=["2026-03-02"])
    1
    >>> monitor.advance("2026-03-10")
    >>> print(monitor.status()["precision"].words)
    precision: too early to tell; 1 of 1 alarms were true (1, interval 0.00281 to 1; ...)
    """

    def __init__(
        self,
        policy: ThresholdPolicy,
        path: str | Path | None = None,
        *,
        window: float | timedelta = 30,
        alpha: float = 0.05,
        run_length: float = 10_000,
        cost_ratio: float | None = None,
        validation: Any = None,
    ) -> None:
        """Open the file, or make it."""
        _check_policy(policy)
        settings = Settings(
            window=window,  # type: ignore[arg-type]
            alpha=alpha,
            run_length=run_length,
            cost_ratio=cost_ratio,
        )
        policy.threshold(cost_ratio)
        metadata = {"policy": policy.to_json(), "settings": settings.text()}
        metadata["calibration"] = calibration = curve_text(calibrate(policy, validation))
        store = Store(path, metadata)
        self._start(store)
        same = {
            "settings": self.settings == settings,
            "policy": _decisions(self.policy) == _decisions(policy),
            "validation": (store.metadata("calibration") or "") == calibration,
        }
        other = next((name for name, kept in same.items() if not kept), None)
        if other is not None:
            store.close()
            raise ValueError(
                f"{store.path} was made with another {other}; Monitor.open goes on with its own, "
                "and adopt changes the policy"
            )

    @classmethod
    def open(cls, path: str | Path) -> Monitor:
        """Go on with the file of a monitor: its policy, its settings, its cases.

        Returns
        -------
        Monitor
        """
        if not Path(path).is_file():
            raise FileNotFoundError(f"{path} does not exist; Monitor(policy, path) makes it")
        monitor = object.__new__(cls)
        monitor._start(Store(path))
        return monitor

    def _start(self, store: Store) -> None:
        """Take policy and settings from the file."""
        try:
            self.policy = ThresholdPolicy.from_json(store.metadata("policy") or "{}")
            self.settings = Settings.from_text(store.metadata("settings") or "")
            self._risks = read_curve(store.metadata("calibration"))
        except BaseException:
            store.close()
            raise
        self._store = store

    def close(self) -> None:
        """Close the file."""
        self._store.close()

    def __enter__(self) -> Monitor:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def path(self) -> Path | None:
        """Where the state is; None for memory."""
        return self._store.path

    @property
    def clock(self) -> str | None:
        """Date of the latest case or label."""
        clock = self._store.clock
        return None if clock is None else day_of(clock)

    def update(
        self,
        y_score: Any,
        *,
        cases: Any,
        times: Any,
        groups: Any = None,
        periods: Any = None,
        confirm_times: bool = False,
    ) -> Update:
        """Decide on cases as they come, and remember them: all of a batch, or none.

        Parameters
        ----------
        y_score : array-like of shape (n_cases,)
            Of the policy's model; of several models, a mapping or data frame that has it.
        cases : array-like of shape (n_cases,)
            What identifies each case. One that came before is not counted again. For a policy over
            stays, the stay of each row, and a row is identified by its stay and time.
        times : array-like of shape (n_cases,)
            When each came: datetimes of any kind, or ISO 8601 text. Rows of a stay come in order.
        groups : array-like of shape (n_cases,), optional
            The patient of each case. Alarms of a patient within a window of the first are one unit
            of evidence, because they are not independent: choose a window as long as the alarms of
            a patient may share their outcome.
        periods : array-like of shape (n_cases,), optional
            The period of each case, such as a shift; by default that of the scenario's capacity,
            or its day.
        confirm_times : bool, default False
            Accept times more than a year from all others. The clock never goes back, so a mistyped
            year would close the windows of all later alarms at once; see `withdraw`.

        Returns
        -------
        Update
        """
        check_aligned(y_score=y_score, cases=cases, times=times, groups=groups, periods=periods)
        times = parse_times(times)
        ids, seconds = read_ids(cases), read_times(times)
        scores = finite_scores(model_column(y_score, self.policy.model))
        check_same_length(y_score=scores, cases=ids, times=seconds)
        if not confirm_times:
            check_gaps(seconds, self._store.first, self._store.clock)
        if self.policy.rule is not None:
            _refuse_for_stays(self.policy, groups=groups, periods=periods)
            return self._update_stays(scores, ids, seconds)
        if groups is not None and not self.settings.window:
            raise ArgumentError(
                "groups",
                " needs a window above 0 days, within which alarms of a patient belong together",
            )
        names, unit = name_periods(times, periods, self.policy.scenario.per or "day")
        patients = np.full(len(ids), None) if groups is None else read_ids(groups, "groups")
        check_same_length(cases=ids, periods=names, groups=patients)
        alarms = self.policy.predict(scores, self.settings.cost_ratio)
        batch = Cases(ids, seconds, names, scores, alarms, patients)
        new = self._add(batch, unit) if len(ids) else 0
        return Update(alarms, new, len(ids) - new)

    def _update_stays(self, scores: FloatArray, ids: AnyArray, seconds: FloatArray) -> Update:
        with self._store.transaction():
            alarms, new = add_rows(self._deployment, ids, seconds, scores)
            if len(ids):
                self._store.advance(float(seconds.max()))
        return Update(alarms, new, len(ids) - new)

    def _add(self, batch: Cases, unit: str) -> int:
        """Store decisions, and return how many cases are new."""
        with self._store.transaction():
            self._store.use_unit(unit)
            new = self._store.add_cases(batch.take(np.argsort(batch.time, kind="stable")))
            self._store.advance(float(batch.time.max()))
        return int(new.sum())

    def label(
        self,
        y_true: Any,
        *,
        cases: Any,
        times: Any = None,
        pos_label: Any = None,
        confirm_times: bool = False,
    ) -> int:
        """Take labels when they come, in any order; a later one corrects an earlier one.

        Parameters
        ----------
        y_true : array-like of shape (n_labels,)
        cases : array-like of shape (n_labels,)
            The cases they belong to, which may come later.
        times : array-like of shape (n_labels,), optional
            When each label came; by default now, at the latest time the monitor knows. For a policy
            over stays, when each event happened, or when a stay ended without one: only then is
            the outcome of its alarms known.
        pos_label : label, optional
            By default that of the policy.
        confirm_times : bool, default False
            Accept times more than a year after all others.

        Returns
        -------
        int
            How many said something new.
        """
        check_aligned(y_true=y_true, cases=cases, times=times)
        ids = read_ids(cases)
        if not len(ids):
            return 0
        stated = self.policy.pos_label if pos_label is None else pos_label
        positive = read_labels(y_true, stated)
        seconds = self._label_seconds(times, len(ids))
        over_stays = self.policy.rule is not None
        if over_stays and times is None and positive.any():
            raise ArgumentError("times", " is needed: the time of each event")
        if not confirm_times:
            check_gaps(seconds, None, self._store.clock)
        check_same_length(y_true=positive, cases=ids, times=seconds)
        check_single_labels(ids, seconds, positive)
        with self._store.transaction():
            add = add_outcomes if over_stays else Store.add_labels
            new = add(self._store, ids, seconds, positive)
            self._store.advance(float(seconds.max()))
        return new

    def _label_seconds(self, times: Any, n: int) -> FloatArray:
        if times is not None:
            return read_times(times)
        clock = self._store.clock
        if clock is None:
            raise ArgumentError("times", " is needed for labels that come before any case")
        return np.full(n, clock)

    def advance(self, time: Any, *, confirm_times: bool = False) -> None:
        """Advance the clock, which closes windows; it never goes back.

        More than a year at once needs ``confirm_times=True``.
        """
        seconds = read_time(time)
        if not confirm_times:
            check_gaps(np.array([seconds]), None, self._store.clock)
        with self._store.transaction():
            advanced = float(self._store.metadata("advanced") or BEGINNING)
            self._store.keep("advanced", repr(max(seconds, advanced)))
            self._store.advance(seconds)

    def withdraw(self, cases: Any) -> None:
        """Take cases back, with their labels, as if they had never come.

        The clock goes back to the latest time that is left. A case may come again.

        Parameters
        ----------
        cases : array-like of shape (n_cases,)
        """
        ids = read_ids(cases)
        with self._store.transaction():
            if self.policy.rule is not None:
                withdraw_stays(self._store, ids)
            else:
                self._store.withdraw(ids)

    def status(self, *, curves: bool = False) -> Status:
        """Say what is known of each limit now.

        Parameters
        ----------
        curves : bool, default False
            Compute the curves of precision too, which the page shows.

        Returns
        -------
        Status
        """
        judge = read_status if self.policy.rule is None else stay_status
        return judge(self._deployment, curves=curves)

    def report(self, path: str | Path, *, force: bool = False, title: str = "") -> Path:
        """Write the status as one HTML page that needs no other file.

        An existing file is replaced only with ``force=True``.

        Returns
        -------
        Path
        """
        from voros.io import write_whole
        from voros.monitoring.page import render_status_page

        model = self.policy.model
        named = title or (f"Monitor of {model}" if model else "Monitor")
        write_whole(
            path, render_status_page(self.status(curves=True), self.settings, named), force=force
        )
        return Path(path)

    @property
    def _deployment(self) -> Deployment:
        return Deployment(self._store, self.policy, self.settings, self._risks)

    def adopt(self, policy: ThresholdPolicy, *, validation: Any = None) -> None:
        """Deploy another policy from now on; evidence begins again, and the file keeps the old.

        Parameters
        ----------
        policy : ThresholdPolicy
            Over stays if the one before was.
        validation : tuple of labels and scores, optional
            As for the monitor itself. Without it no precision is expected from now on: the old
            calibration may be what failed.
        """
        _check_policy(policy)
        if (self.policy.rule is None) != (policy.rule is None):
            raise ArgumentError(
                "policy", " is not of the same kind: one is over stays; make a new monitor for it"
            )
        policy.threshold(self.settings.cost_ratio)
        risks, clock = calibrate(policy, validation), self._store.clock
        with self._store.transaction():
            before = self._store.metadata("policy") or ""
            self._store.keep(f"policy until {clock!r}", before)
            self._store.keep("policy", policy.to_json())
            self._store.keep("calibration", curve_text(risks))
            if clock is not None:
                self._store.keep("since", repr(float(np.nextafter(clock, np.inf))))
        self.policy, self._risks = policy, risks

    def __repr__(self) -> str:
        where = "in memory" if self.path is None else str(self.path)
        if self.policy.rule is not None:
            n_rows = self._store.rows("SELECT count(*) FROM stay_rows")[0][0]
            return f"Monitor({n_rows:,} rows of stays, {where})"
        return f"Monitor({self._store.sizes()[0]:,} cases, {where})"


def _check_policy(policy: ThresholdPolicy) -> None:
    """Refuse what a monitor cannot judge."""
    if not isinstance(policy, ThresholdPolicy):
        raise TypeError(f"policy is a {type(policy).__name__}; accepted is a ThresholdPolicy")
    if policy.values is not None:
        raise ArgumentError(
            "policy",
            " was decided on values of cases, and a monitor counts cases; accepted are policies "
            "without miss_value and false_alarm_cost",
        )


def _refuse_for_stays(policy: ThresholdPolicy, **arguments: Any) -> None:
    for name, value in arguments.items():
        if value is not None:
            raise ArgumentError(
                name, f" is of cases and periods; this policy is over stays, by {policy.rule!r}"
            )


def _decisions(policy: ThresholdPolicy) -> str:
    """Return all but where the thresholds come from: another version may have decided them."""
    return replace(policy, origin=None).to_json()
