"""Bounds on the chance to pass, against sums over every number of alarms, part by part."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import e, log, sqrt

import numpy as np
import pytest
from scipy.stats import binom, norm

from voros.guarantee.next_cases.needed import Passing
from voros.guarantee.next_cases.tail_bounds import windows
from voros.guarantee.tuning import TUNING

PRECISION = np.array([0.0, 0.1, 0.2, 0.3, 0.42, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 1.0])


@dataclass(frozen=True)
class Setting:
    """Chances of a case below the start to be an alarm, and needed true positives."""

    start: int
    below: int
    few: tuple[float, float, int]
    many: tuple[float, float, int] | None
    needed: np.ndarray
    """From the start on; beyond its end nothing passes."""

    @cached_property
    def chances(self) -> tuple[np.ndarray, np.ndarray]:
        few = np.append(0.0, np.linspace(*self.few))
        return few, np.array([self.few[1]]) if self.many is None else np.linspace(*self.many)

    @cached_property
    def edges(self) -> np.ndarray:
        few, many = self.chances
        along = np.arange(TUNING.parts) / TUNING.parts
        parts = few[:-1, None] + np.diff(few)[:, None] * along
        return np.concatenate([parts.ravel(), many])

    @property
    def n_few(self) -> int:
        return len(self.edges) - len(self.chances[1])

    @cached_property
    def columns(self) -> np.ndarray:
        """Fewer and fewer precisions matter: from the second part, from a group of chances on."""
        falling = np.full(len(self.edges) - 1, 10)
        falling[0], falling[5 * TUNING.parts * TUNING.together_first :] = 11, 9
        falling[self.n_few :], falling[self.n_few + 1 :] = 8, 7
        return falling

    def raised(self, precision: np.ndarray) -> Passing:
        return Passing(self.start, self.below, self.chances, self.edges, precision, self.columns)

    def passing(self, precision: np.ndarray = PRECISION) -> Passing:
        """Without lines where the chance to pass is not convex."""
        passing = self.raised(precision)
        passing._bends = np.full_like(passing._bends, np.inf)
        return passing

    def mean(self, tails: np.ndarray, chance: float) -> np.ndarray:
        return np.asarray(binom.pmf(np.arange(self.below + 1), self.below, chance) @ tails)

    @cached_property
    def tails(self) -> np.ndarray:
        """Chance to pass with each number of alarms, at each precision."""
        tails = np.zeros((self.below + 1, len(PRECISION)))
        for more, enough in enumerate(self.needed.tolist()):
            tails[more] = binom.sf(enough - 1, self.start + more, PRECISION)
        return tails


def rising(start: int, most: int, share: float, extra: int) -> np.ndarray:
    return np.maximum(np.ceil(share * np.arange(start, most + 1)).astype(int) + extra, 1)


SETTINGS = [
    Setting(12, 60, (0.005, 0.8, 100), None, rising(12, 60, 0.5, 3)),
    Setting(3, 40, (0.005, 0.6, 120), None, np.minimum(rising(3, 43, 0.8, 0), 12)),
    Setting(1, 30, (0.005, 0.5, 80), None, np.arange(1, 26)),
    Setting(2, 30, (0.005, 0.5, 80), None, np.arange(2, 26)),
    Setting(40, 160, (0.005, 0.3, 100), (0.3, 0.9, 40), rising(40, 170, 0.55, 4)),
    Setting(40, 160, (0.005, 0.3, 100), (0.3, 1.0, 40), np.minimum(rising(40, 200, 0.55, 4), 80)),
    Setting(40, 160, (0.005, 0.3, 100), (0.3, 0.5, 2), rising(40, 170, 0.6, 1)),
]


@pytest.mark.parametrize("setting", SETTINGS)
def test_with_few_alarms_bounds_are_just_above_the_means(setting: Setting) -> None:
    passing, _ = setting.passing().bounds(setting.needed)
    assert passing.shape == (len(setting.edges) - 1, len(PRECISION))
    for part in range(setting.n_few):
        ends = np.linspace(*setting.edges[part : part + 2], 3)
        exact = np.array([setting.mean(setting.tails, chance) for chance in ends])
        assert (exact <= passing[part] + 1e-12).all()
        close = slice(0, setting.columns[part])
        assert (passing[part, close] <= 1.2 * exact[:, close].max(axis=0) + 1e-3).all()


def closed_tails(setting: Setting) -> np.ndarray:
    """By the root of the relative entropy at one true positive less (Zubkov and Serov)."""
    tails = np.zeros((setting.below + 1, len(PRECISION)))
    for more, enough in enumerate(setting.needed.tolist()):
        alarms = setting.start + more
        x = min((enough - 1) / alarms, 1.0)
        for column, p in enumerate(PRECISION.tolist()):
            entropy = sum(
                a * log(a / b) if a and b else (np.inf if a else 0.0)
                for a, b in ((x, p), (1 - x, 1 - p))
            )
            tails[more, column] = norm.sf(sqrt(2 * alarms * max(entropy, 0)) * np.sign(x - p))
    return tails


@pytest.mark.parametrize("setting", SETTINGS[4:])
def test_with_many_alarms_bounds_are_means_of_closed_ones(setting: Setting) -> None:
    """Each rise with one more alarm at the greater chance of it, each fall at the smaller."""
    passing, _ = setting.passing().bounds(setting.needed)
    tails, counts = closed_tails(setting), np.arange(1, setting.below + 1)
    rises = np.diff(tails, axis=0)
    for part in range(setting.n_few, len(passing)):
        least, most = (binom.sf(counts - 1, setting.below, c) for c in setting.edges[part:][:2])
        expected = tails[0] + most @ np.maximum(rises, 0) + least @ np.minimum(rises, 0)
        close = slice(1, setting.columns[setting.n_few])
        np.testing.assert_allclose(passing[part, close], np.minimum(expected, 1)[close], atol=1e-8)
        exact = [setting.mean(setting.tails, c) for c in setting.edges[part:][:2]]
        assert (np.array(exact) <= passing[part] + 1e-12).all()


@pytest.mark.parametrize("setting", SETTINGS)
def test_what_is_left_out_is_said_to_pass(setting: Setting) -> None:
    """Groups of neighbouring chances have the columns of their first."""
    passing, _ = setting.passing().bounds(setting.needed)
    group = TUNING.parts * (TUNING.together + 1)
    for part in range(len(passing)):
        begin = setting.n_few if part >= setting.n_few else max(part - group, 0)
        assert (passing[part, setting.columns[begin] :] == 1).all()
    assert (passing[:, 0] == 0).all()
    assert (np.diff(passing, axis=1) >= 0).all()


@pytest.mark.parametrize("setting", SETTINGS)
def test_lines_are_drawn_up_to_the_first_inflection_and_at_it(setting: Setting) -> None:
    """P(X >= k) of a alarms is convex up to (k - 1) / (a - 1); one alarm counts as two."""
    low, high = windows(setting.below, setting.edges)
    up_to = []
    for least, last in zip(low[:-1].tolist(), high[1:].tolist(), strict=True):
        first = min(least, len(setting.needed) - 1)
        alarms = range(setting.start + first, setting.start + min(last + 1, len(setting.needed)))
        needed = setting.needed[first:].tolist()
        up_to.append(min((k - 1) / (a - 1 or 1) for k, a in zip(needed, alarms, strict=False)))
    precision = np.unique([0.0, *np.clip(up_to, 0, 1), *np.clip(up_to, 0, 0.98) + 0.01, 1.0])
    passing, drop = setting.passing(precision).bounds(setting.needed)
    for part, inflection in enumerate(up_to):
        fall = np.diff(passing[part], prepend=0.0)
        np.testing.assert_array_equal(drop[part], np.where(precision <= inflection, fall, 0.0))
    assert (drop > 0).any() == (setting.start > 1)


@dataclass(frozen=True)
class WithAll(Setting):
    """Every precision matters."""

    @property
    def columns(self) -> np.ndarray:
        return np.full(len(self.edges) - 1, 49)


RAISED = WithAll(40, 160, (1e-6, 0.3, 100), (0.3, 0.9, 40), rising(40, 170, 0.55, 4))
"""Nearly no case below the start is an alarm in its first part: there is one tail."""


def test_lines_beyond_the_first_inflection_are_raised_above_the_chance_to_pass() -> None:
    """Without what they are raised by, lines would lie below it."""
    precision = np.append(np.arange(0.0, 0.96, 0.02), 1.0)
    plain, _ = RAISED.passing(precision).bounds(RAISED.needed)
    raised, drop = RAISED.raised(precision).bounds(RAISED.needed)
    below_lines, n_checked = 0, 0
    for j in np.flatnonzero(raised[0] > plain[0]):
        for back in np.linspace(0, 1, 5):
            between = (1 - back) * precision[j] + back * precision[j - 1]
            exact = binom.sf(RAISED.needed[0] - 1, RAISED.start, between)
            assert exact <= raised[0, j] - back * drop[0, j]
            below_lines += exact > plain[0, j] - back * drop[0, j] + 1e-6
            n_checked += 1
    assert n_checked > 30
    assert below_lines > 10


def test_lines_are_raised_by_the_largest_second_derivative_of_a_tail() -> None:
    """With the most alarms of a part, if that is less than half of the drop; else no line."""
    precision = np.append(np.arange(0.0, 0.96, 0.02), 1.0)
    plain, convex = RAISED.passing(precision).bounds(RAISED.needed)
    raised, drop = RAISED.raised(precision).bounds(RAISED.needed)
    most = RAISED.start + windows(RAISED.below, RAISED.edges)[1][1:]
    n_raised = 0
    for part in range(0, len(plain), 5):
        a = int(most[part])
        for j in np.flatnonzero(convex[part, 1:] == 0) + 1:
            low, high = precision[j - 1], precision[j]
            spread = min(low * (1 - low), high * (1 - high))
            total = 4 / (e * (a - 3) * spread) if spread else 4.0
            bend = (high - low) ** 2 / 8 * a * (a - 1) * min(4.0, total) / 2
            fall = plain[part, j] - plain[part, j - 1]
            more, line = (bend, fall) if 2 * bend <= fall else (0.0, 0.0)
            assert raised[part, j] == pytest.approx(plain[part, j] + more, rel=1e-12)
            assert drop[part, j] == pytest.approx(line, rel=1e-12, abs=0)
            n_raised += more > 0
    assert n_raised > 100
