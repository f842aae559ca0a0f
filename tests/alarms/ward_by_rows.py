"""A ward read row by row, as a nurse would: what the sweep over all thresholds must equal."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from voros.alarms.rule import MICROSECONDS, AlarmRule

HOUR = MICROSECONDS["h"]


@dataclass(frozen=True)
class Ward:
    """Hours and scores of rows, and hours of events, by stay; NaN is a missing score."""

    stay: list[int]
    hour: list[int]
    score: list[float]
    event_stay: list[int]
    event_hour: list[int]

    @property
    def events(self) -> tuple[list[int], list[int]]:
        return self.event_stay, self.event_hour


def random_ward(rng: np.random.Generator) -> Ward:
    n_rows, n_stays, n_events = (int(rng.integers(*span)) for span in ((1, 60), (1, 6), (0, 8)))
    score = rng.integers(0, 8, n_rows).astype(float)
    score[rng.random(n_rows) < 0.1] = np.nan
    return Ward(
        rng.integers(0, n_stays, n_rows).tolist(),
        rng.integers(0, 30, n_rows).tolist(),
        score.tolist(),
        rng.integers(0, n_stays + 1, n_events).tolist(),
        rng.integers(-3, 35, n_events).tolist(),
    )


def random_rule(rng: np.random.Generator) -> AlarmRule:
    horizon = int(rng.integers(0, 14))
    return AlarmRule(
        snooze=int(rng.integers(0, 12)),
        horizon=horizon,
        lead=int(rng.integers(0, horizon + 1)),
        reset=[None, 0, 3, 10][rng.integers(4)],
        repeats=("false_alarm", "capacity_only", "ignored")[rng.integers(3)],
        unfinished=("false_alarm", "capacity_only")[rng.integers(2)],
    )


def counted_events(ward: Ward, stay: int, rule: AlarmRule) -> list[int]:
    hours = sorted({h for s, h in zip(*ward.events, strict=True) if s == stay})
    counted: list[int] = []
    for hour in hours:
        clear = (
            rule.reset is not None and bool(counted) and (hour - counted[-1]) * HOUR >= rule.reset
        )
        if not counted or clear:
            counted.append(hour)
    return counted


def follow(
    ward: Ward, rule: AlarmRule, threshold: float
) -> tuple[int, int, int, list[tuple[int, int]]]:
    """Count true alarms, false alarms and alarms for the capacity; list where they sound."""
    tp = fp = alarms = 0
    sounded = []
    for stay in sorted(set(ward.stay)):
        rows = [
            (h, v) for s, h, v in zip(ward.stay, ward.hour, ward.score, strict=True) if s == stay
        ]
        events, caught = counted_events(ward, stay, rule), set()
        quiet_until, last_hour = -np.inf, max(hour for hour, _ in rows)
        for hour in sorted({hour for hour, _ in rows}):
            values = [value for at, value in rows if at == hour and value == value]
            before = [event for event in events if event < hour]
            after = [event for event in events if event >= hour]
            over = before and (rule.reset is None or (hour - before[-1]) * HOUR < rule.reset)
            if over or not values or max(values) < threshold or hour * HOUR < quiet_until:
                continue
            sounded.append((stay, hour))
            quiet_until = hour * HOUR + max(rule.snooze, 1)
            hit = bool(after) and rule.lead <= (after[0] - hour) * HOUR <= rule.horizon
            if hit and after[0] not in caught:
                caught.add(after[0])
                tp, alarms = tp + 1, alarms + 1
            elif hit:
                fp += rule.repeats == "false_alarm"
                alarms += rule.repeats != "ignored"
            else:
                unfinished = not after and (last_hour - hour) * HOUR < rule.horizon
                fp += not (unfinished and rule.unfinished == "capacity_only")
                alarms += 1
    return tp, fp, alarms, sounded
