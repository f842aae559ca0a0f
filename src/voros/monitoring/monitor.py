"""Monitor: a deployed policy, its cases as they arrive and their labels when they are known."""

from __future__ import annotations

from contextlib import nullcontext
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np

from voros.allocation.joint_policy import AnyPolicy, load_policy
from voros.core.alignment import check_aligned
from voros.core.arrays import check_same_length
from voros.core.clock import parse_times
from voros.exceptions import ArgumentError
from voros.monitoring.renewal import Renewal, count_proposal, propose, propose_on_stays
from voros.monitoring.settings import (
    Settings,
    check_gaps,
    check_single_labels,
    day_of,
    name_periods,
    read_ids,
    read_time,
    read_times,
)
from voros.monitoring.status import Status, Update
from voros.monitoring.stays import closed_stays, sound_rows, stay_status
from voros.monitoring.store import Store
from voros.monitoring.unlabelled import curve_text, read_curve
from voros.monitoring.verdicts import BEGINNING, Deployment, read_status
from voros.monitoring.watched_policy import Decided, WatchedPolicy
from voros.policy.worklists import Worklist
from voros.typing import AnyArray


class Monitor:
    """Watch a deployed policy: precision, recall, capacity, cost and scores.

    A verdict holds however often the status is read.

    Parameters
    ----------
    policy : ThresholdPolicy, JointPolicy or Worklist
        The deployed policy, on cases or over stays, with the limits of its scenario. Each stream of
        a joint policy has a verdict on its own precision floor. With a worklist, each call of
        `update` takes whole periods.
    path : path-like, optional
        A new SQLite file for cases, labels and settings; `Monitor.open` opens it again. By default
        they are kept in memory.
    window : float or timedelta, default 30
        Days after which an alarm counts, with its latest label. An alarm without a label counts as
        true for *broken* and as false for *kept*: choose a window in which most labels arrive.
    alpha : float, default 0.05
        For each limit, the largest probability of ever calling it broken although it is kept.
    run_length : float, default 10,000
        Average number of alarms, or periods, before the detector of late changes fires by chance.
    cost_ratio : float, optional
        C_FP / C_FN where it is known; by default the policy's default threshold decides.
    max_cost : float, optional
        Budget: cost per case in misses. By default costs are not watched.
    score_unit : str, optional
        Calendar unit, such as "week" or "month", over which scores are compared where neighbouring
        days are correlated. By default the periods of the capacity.
    validation : tuple of labels and scores, optional
        Cases on which risks are calibrated; a third member names the patient of each case where
        patients have several. `status` then estimates the precision of alarms whose windows are
        open. The file keeps the calibration, not the cases.

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
        policy: AnyPolicy,
        path: str | Path | None = None,
        *,
        window: float | timedelta = 30,
        alpha: float = 0.05,
        run_length: float = 10_000,
        cost_ratio: float | None = None,
        max_cost: float | None = None,
        score_unit: str | None = None,
        validation: Any = None,
    ) -> None:
        """Check the policy and the settings, and create the file."""
        if path is not None and Path(path).exists() and Path(path).stat().st_size:
            raise FileExistsError(f"{path} exists; voros.Monitor.open(path) opens it")
        watched = WatchedPolicy.from_policy(policy)
        settings = Settings(
            window=window / timedelta(days=1) if isinstance(window, timedelta) else window,
            alpha=alpha,
            run_length=run_length,
            cost_ratio=cost_ratio,
            max_cost=max_cost,
            score_unit=score_unit,
        )
        watched.check_settings(settings)
        calibration = curve_text(watched.calibrate(validation))
        metadata = {"settings": settings.text(), "calibration": calibration}
        self._start(Store(path, {"policy": policy.to_json(), **metadata}))

    @classmethod
    def open(cls, path: str | Path) -> Monitor:
        """Open the file of a monitor, with its policy, settings, cases and labels.

        Returns
        -------
        Monitor
        """
        if not Path(path).is_file():
            raise FileNotFoundError(f"{path} does not exist; Monitor(policy, path) creates it")
        monitor = object.__new__(cls)
        monitor._start(Store(path))
        return monitor

    def _start(self, store: Store) -> None:
        """Read policy and settings from the store."""
        try:
            self._watched = WatchedPolicy.from_policy(load_policy(store.metadata("policy") or "{}"))
            self.settings = Settings.from_text(store.metadata("settings") or "")
            self._risks = read_curve(store.metadata("calibration"))
        except BaseException:
            store.close()
            raise
        self._store = store

    @property
    def policy(self) -> AnyPolicy:
        """The policy that is deployed now."""
        return self._watched.policy

    def close(self) -> None:
        """Close the file."""
        self._store.close()

    def __enter__(self) -> Monitor:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def path(self) -> Path | None:
        """The file; None where the state is in memory."""
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
        by: Any = None,
        confirm_times: bool = False,
    ) -> Update:
        """Decide on a batch of new cases and store them, all or none.

        Parameters
        ----------
        y_score : array-like of shape (n_cases,)
            For a joint policy of several outcomes, a mapping or data frame with a column for each.
        cases : array-like of shape (n_cases,)
            Identifier of each case; a case that is stored already does not count again. For a
            policy over stays, the stay of each row; stay and time identify the row.
        times : array-like of shape (n_cases,)
            Arrival of each case: datetimes of any kind, or ISO 8601 text. Rows of a stay must come
            in the order of time.
        groups : array-like of shape (n_cases,), optional
            The patient of each case. Alarms of a patient within a window of the first are one unit
            of evidence, because they are not independent: choose a window as long as the alarms of
            a patient may share their outcome.
        periods : array-like of shape (n_cases,), optional
            The period of each case, such as a shift; by default that of the scenario's capacity,
            or its day.
        by : array-like of shape (n_cases,), optional
            The subgroup of each case, for a joint policy with a threshold for each subgroup.
        confirm_times : bool, default False
            Accept times more than a year from all others. The clock never goes back, so a mistyped
            year would close the windows of all later alarms at once; see `withdraw`.

        Returns
        -------
        Update
        """
        per_case = {"cases": cases, "times": times, "groups": groups, "periods": periods, "by": by}
        check_aligned(y_score=y_score, **per_case)
        times = parse_times(times)
        ids, seconds = read_ids(cases), read_times(times)
        if not confirm_times:
            check_gaps(seconds, self._store.first, self._store.clock)
        self._watched.refuse(groups=groups, periods=periods, by=by)
        if groups is not None and not self.settings.window:
            raise ArgumentError(
                "groups",
                " needs a window above 0 days, within which alarms of a patient belong together",
            )
        over_stays = self._watched.rule is not None
        parts = seconds if over_stays else np.zeros(len(ids))
        names, unit = self._periods(times, periods)
        patients = np.full(len(ids), None) if groups is None else read_ids(groups, "groups")
        check_same_length(cases=ids, times=seconds, periods=names, groups=patients)
        columns = {"id": ids, "part": parts, "time": seconds, "period": names, "patient": patients}
        order, n_new = np.argsort(seconds, kind="stable"), 0
        with self._store.transaction():
            decided = self._decide(y_score, columns, by)
            if len(ids):
                self._store.use_unit(unit)
                self._store.advance(float(seconds.max()))
            for one in decided:
                rows = columns | one._asdict()
                n_new = self._store.add_cases({name: rows[name][order] for name in rows})
        return Update(self._watched.alarms_of(decided), n_new, len(ids) - n_new)

    def _periods(self, times: Any, periods: Any) -> tuple[AnyArray, str]:
        """Return the period of each case, and the unit of the periods; stays have no period."""
        if self._watched.rule is not None:
            return np.full(len(times), "", dtype=object), "stay"
        per = self._watched.limits.per or "day"
        return name_periods(times, periods, per, self.settings.score_unit)

    def _decide(self, y_score: Any, columns: dict[str, AnyArray], by: Any) -> list[Decided]:
        """Decide on a batch; over stays and in worklists, whose past matters, on new rows only."""
        decided = self._watched.decide(y_score, by, self.settings.cost_ratio)
        check_same_length(y_score=decided[0].score, cases=columns["id"])
        listed = self.policy if isinstance(self.policy, Worklist) else None
        if listed is None and self._watched.rule is None:
            return decided
        known = self._store.alarms_of(columns["id"], columns["part"])
        keys = list(zip(columns["id"].tolist(), columns["part"].tolist(), strict=True))
        first = {key: row for row, key in reversed(list(enumerate(keys)))}
        new = sorted(row for key, row in first.items() if key not in known)
        batch = {name: column[new] for name, column in (columns | decided[0]._asdict()).items()}
        if new:
            if listed is None:
                alarms = sound_rows(self._deployment, batch)
            else:
                self._store.check_unseen(batch["period"])
                alarms = listed.predict(batch["score"], periods=batch["period"])
            known |= dict(zip([keys[row] for row in new], alarms.tolist(), strict=True))
        every = np.array([known[key] for key in keys], dtype=np.bool_)
        return [decided[0]._replace(alarm=every)]

    def label(
        self,
        y_true: Any,
        *,
        cases: Any,
        times: Any = None,
        pos_label: Any = None,
        confirm_times: bool = False,
    ) -> int:
        """Store labels, in any order; a later label of a case replaces an earlier one.

        Parameters
        ----------
        y_true : array-like of shape (n_labels,)
            For a joint policy of several outcomes, a mapping or data frame with a column for each
            that is labelled.
        cases : array-like of shape (n_labels,)
            The case of each label. A case may arrive after its label.
        times : array-like of shape (n_labels,), optional
            When each label became known; by default the latest time that the monitor knows. For a
            policy over stays, when each event happened, or when a stay ended without one: only then
            is the outcome of its alarms known.
        pos_label : label, optional
            By default that of the policy.
        confirm_times : bool, default False
            Accept times more than a year after all others.

        Returns
        -------
        int
            Number of new or corrected labels.
        """
        check_aligned(y_true=y_true, cases=cases, times=times)
        ids, clock = read_ids(cases), self._store.clock
        if times is None and clock is None:
            raise ArgumentError("times", " is needed for labels that come before any case")
        labels = self._watched.labels(y_true, pos_label) if len(ids) else {}
        seconds = np.full(len(ids), clock) if times is None else read_times(times)
        over_stays = self._watched.rule is not None
        if over_stays and times is None and any(positive.any() for positive in labels.values()):
            raise ArgumentError("times", " is needed: the time of each event")
        if not confirm_times:
            check_gaps(seconds, None, clock)
        for positive in labels.values():
            check_same_length(y_true=positive, cases=ids, times=seconds)
            check_single_labels(ids, seconds, positive)
        if not labels:
            return 0
        with self._store.transaction():
            self._store.advance(float(seconds.max()))
            return sum(
                self._store.add_labels(ids, seconds, positive, outcome, of_stays=over_stays)
                for outcome, positive in labels.items()
            )

    def advance(self, time: Any, *, confirm_times: bool = False) -> None:
        """Advance the clock, which closes windows; an earlier time changes nothing.

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
        """Remove cases and their labels; to correct a case, remove it and give it again.

        The clock goes back to the latest remaining time.

        Parameters
        ----------
        cases : array-like of shape (n_cases,)
        """
        with self._store.transaction():
            self._store.withdraw(read_ids(cases).tolist())

    def status(self) -> Status:
        """Judge every limit on the data so far.

        Returns
        -------
        Status
        """
        judge = read_status if self._watched.rule is None else stay_status
        return judge(self._deployment)

    def report(self, path: str | Path, *, force: bool = False, title: str = "") -> Path:
        """Write the status as one HTML page that needs no other file.

        An existing file is replaced only with ``force=True``.

        Returns
        -------
        Path
        """
        from voros.io import write_whole
        from voros.monitoring.page import render_status_page

        model = self._watched.model
        named = title or (f"Monitor of {model}" if model else "Monitor")
        page = render_status_page(self.status(), self.settings, named, self._watched.units)
        write_whole(path, page, force=force)
        return Path(path)

    @property
    def _deployment(self) -> Deployment:
        return Deployment(self._store, self._watched, self.settings, self._risks)

    def renew(self, *, since: Any = None) -> Renewal:
        """Propose thresholds from recent labelled cases, through the guarantee of the policy.

        Parameters
        ----------
        since : date, optional
            Use cases from this time on; by default since the change that `status` dates, or since
            the policy was deployed.

        Returns
        -------
        Renewal

        Notes
        -----
        Nothing is deployed: `adopt` does that. The file counts its proposals, and the error of a
        guarantee is spent over them; a proposal from the same cases and labels is not a new one.
        """
        single, deployed, ratio = self._watched.single, self._deployment, self.settings.cost_ratio
        if single is None:
            raise ValueError(
                "a joint policy is not renewed from its monitor; decide it again on recent cases "
                "with voros.allocate, and deploy it with adopt"
            )
        begin = self.status().since if since is None else since
        first = deployed.since if begin is None else max(deployed.since, read_time(begin))
        # Without a guarantee nothing is counted, so the file may be read-only.
        with nullcontext() if single.guarantee is None else self._store.transaction():
            if single.rule is not None:
                stays = closed_stays(deployed, first)
                number = count_proposal(stays.record, single, self._store)
                return propose_on_stays(stays, single, ratio, number)
            rows = self._store.latest(first, deployed.now - self.settings.window_seconds)
            number = count_proposal(rows, single, self._store)
            policy = self.policy if isinstance(self.policy, Worklist) else single
            return propose(rows, policy, ratio, number)

    def adopt(self, policy: AnyPolicy, *, validation: Any = None) -> None:
        """Deploy another policy from now on: evidence starts again, and the file keeps the old one.

        Parameters
        ----------
        policy : ThresholdPolicy, JointPolicy or Worklist
            It must have the streams of the old policy.
        validation : tuple of labels and scores, optional
            As in the constructor. Without it, no precision is expected from now on, because the old
            calibration may no longer hold.
        """
        watched, clock = WatchedPolicy.from_policy(policy), self._store.clock
        self._watched.check_successor(watched)
        watched.check_settings(self.settings)
        risks = watched.calibrate(validation)
        with self._store.transaction():
            before = self._store.metadata("policy") or ""
            self._store.keep(f"policy until {clock!r}", before)
            self._store.keep("policy", policy.to_json())
            self._store.keep("calibration", curve_text(risks))
            if clock is not None:
                self._store.keep("since", repr(float(np.nextafter(clock, np.inf))))
        self._watched, self._risks = watched, risks

    def __repr__(self) -> str:
        where = "in memory" if self.path is None else str(self.path)
        return f"Monitor({self._store.sizes()[0]:,} {self._watched.units}, {where})"
