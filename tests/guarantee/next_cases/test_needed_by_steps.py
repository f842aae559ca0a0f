"""Each step of the search for a requirement, from its definition and one number at a time."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import exp, log, sqrt
from statistics import NormalDist

import numpy as np
import pytest
from fixed_sequences import sequence
from scipy.optimize import brentq
from scipy.stats import norm

from voros.guarantee.next_cases.fixed_sequence import FixedSequence
from voros.guarantee.next_cases.needed import (
    WIDEST_MARGIN,
    Margins,
    RiskBound,
    requirement,
)
from voros.guarantee.tuning import TUNING

NORMAL = NormalDist()
WALKS = [
    sequence(300, 200, 0.5, 0.05, 20, 120),
    sequence(400, 60, 0.1, 0.1, 60, 250),
    sequence(250, 900, 0.8, 0.002, 30, 240, 20),
    # The margin needs more than the test at the start alone.
    sequence(200, 30, 0.03, 0.01, 30, 180),
]


@pytest.mark.parametrize("walk", WALKS)
def test_the_start_needs_the_fewest_that_leave_a_little_of_alpha(walk: FixedSequence) -> None:
    """Every number above the floor tried."""
    above = range(int(walk.min_precision * walk.start) + 1, walk.start)
    fits = (n for n in above if walk.start_risk(n) <= TUNING.start_part * walk.alpha)
    assert walk.needed_at_start() == next(fits, walk.start)


def needed_by_the_rule(walk: FixedSequence, margins: list[float]) -> list[int]:
    """Margins at numbers of alarms evenly apart in ratios, and along lines between these."""
    first, last = log(walk.start), log(max(walk.most, walk.start + 1))
    step = (last - first) / (len(margins) - 1)
    phi, both = walk.min_precision, 1 + walk.n_cases / walk.horizon
    wanted = []
    for alarms in range(walk.start - 1, walk.most + 1):
        at = max((log(max(alarms, 1)) - first) / step, 0.0)
        node = min(int(at), len(margins) - 2)
        margin = margins[node] + min(at - node, 1.0) * (margins[node + 1] - margins[node])
        exact = phi * alarms + margin * sqrt(phi * (1 - phi) * both * alarms)
        # Closed bounds, from 4,000 alarms on, count half a true positive less than there is.
        wanted.append(max(1, round(exact + 0.5 * (alarms >= TUNING.many_alarms))))
    rising = [max(wanted[: i + 1]) for i in range(len(wanted))]
    return [max(w - i for i, w in enumerate(rising[j:])) for j in range(len(rising))]


@pytest.mark.parametrize(
    "walk",
    [
        *WALKS,
        sequence(300, 200, 0.5, 0.05, 1, 3),
        sequence(9, 9, 0.3, 0.1, 5, 5),
        sequence(9000, 5000, 0.5, 0.1, 3990, 4010),
    ],
)
def test_margins_change_along_lines_in_the_logarithm_of_the_alarms(walk: FixedSequence) -> None:
    rng = np.random.default_rng(6)
    for _ in range(20):
        margins = 3 * rng.normal(size=TUNING.margin_nodes)
        if walk.start > 1000:
            margins = np.full(len(margins), margins[0])
        needed = Margins(walk).needed(margins)
        assert needed.tolist() == needed_by_the_rule(walk, margins.tolist())
        assert needed.dtype == np.int64


def risk_by_the_rule(walk: FixedSequence, alarms: float, needed: float) -> float:
    """Tails by the root of the relative entropy, with one of every four chances in the middle."""
    x, total = min(max((needed - 0.5) / alarms, 0.0), 1.0), 0.0
    weights, size = walk.risky.weights, TUNING.chances_taken
    for place, place_weight in zip(walk.places, walk.place_weights, strict=True):
        share = place + (1 - place) * (alarms - walk.start) / (walk.n_cases - walk.start)
        risky = walk.risky.at(np.array([share]))[0]
        for first in range(0, len(weights), size):
            p = float(risky[min(first + size // 2, len(weights) - 1)])
            pairs = [(x, p), (1 - x, 1 - p)]
            entropy = sum(a * (log(a) - (log(b) if b else -1e4)) for a, b in pairs if a)
            tail = NORMAL.cdf((-1 if x > p else 1) * sqrt(2 * alarms * max(entropy, 0.0)))
            total += float(place_weight * sum(weights[first : first + size])) * tail
    return total


def risk_of_margin(walk: FixedSequence, alarms: float, unit: float, margin: float) -> float:
    return risk_by_the_rule(walk, alarms, walk.min_precision * alarms + margin * unit)


def excess(margin: float, risk: Callable[[float], float], alpha: float) -> float:
    return risk(margin) - alpha


@pytest.mark.parametrize(
    "walk",
    [
        *WALKS[:3],
        # Below the floor, where half a true positive is enough.
        sequence(300, 200, 0.04, 0.9, 20, 120),
        sequence(300, 200, 0.5, 0.4, 20, 120),
        # Not even true positives alone would pass.
        sequence(300, 10, 0.95, 0.001, 20, 120),
    ],
)
def test_margins_at_a_few_numbers_of_alarms_have_just_the_risk(walk: FixedSequence) -> None:
    margins, rates = Margins(walk).solved(walk)
    phi, both = walk.min_precision, 1 + walk.n_cases / walk.horizon
    assert len(margins) == len(rates) == TUNING.margin_nodes
    for node in range(0, len(margins), 4):
        alarms = walk.start * exp(node / (len(margins) - 1) * log(walk.most / walk.start))
        unit = sqrt(phi * (1 - phi) * both * alarms)
        risk = partial(risk_of_margin, walk, alarms, unit)
        widest = min((1 - phi) * alarms / unit, WIDEST_MARGIN)
        exact = widest
        if risk(widest) < walk.alpha:
            exact = brentq(excess, -1.0, widest, args=(risk, walk.alpha), xtol=1e-9)
        first_unit = sqrt(phi * (1 - phi) * both * walk.start)
        early = TUNING.early_margin / first_unit * (walk.start / alarms) ** TUNING.early_power
        margin = margins[node] - early
        assert exact - 1e-7 <= margin <= exact + (widest + 1) / 2**16
        small = 0.05
        left = max(risk(margin + small), 1e-120)
        gained = NORMAL.inv_cdf(walk.alpha) - NORMAL.inv_cdf(left)
        slope = min(max(gained / small, TUNING.slopes[0]), TUNING.slopes[1])
        assert rates[node] == pytest.approx(1 / slope, rel=1e-6)


@pytest.mark.parametrize("walk", WALKS)
def test_of_all_requirements_tried_the_one_that_uses_most_of_alpha_is_kept(
    walk: FixedSequence, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first is the solved margins, moved by the first shift."""
    tried, computed = [], RiskBound.risk

    def risk(self: RiskBound, needed: np.ndarray) -> float:
        tried.append((needed.tolist(), computed(self, needed)))
        return tried[-1][1]

    monkeypatch.setattr(RiskBound, "risk", risk)
    kept = requirement.__wrapped__(walk).tolist()
    margins, rates = Margins(walk).solved(walk)
    first = needed_by_the_rule(walk, margins + Margins(walk).first_shift * rates)
    least = walk.needed_at_start()
    first = [max(n, least) for n in first]
    assert tried[0][0] == [max(least, first[1] - 1), *first[1:]]
    safe = [row for row in tried if row[1] <= walk.alpha]
    assert kept == max(safe, key=lambda row: row[1])[0]


@pytest.mark.parametrize(
    ("walk", "more"),
    [
        (sequence(2000, 1000, 0.4, 0.0004, 41, 400), 0.0),
        (sequence(10**6, 10**6, 0.5, 0.05, 132, 4001), 0.03),
        (sequence(10**6, 10**6, 0.5, 0.05, 132, 4000), 0.0),
    ],
)
def test_the_first_shift_is_a_part_of_a_true_positive_at_the_start(
    walk: FixedSequence, more: float
) -> None:
    """More of one where alpha is small."""
    tp = 0.3 * (norm.isf(walk.alpha) - norm.isf(0.04))
    both = 1 + walk.n_cases / walk.horizon
    unit = sqrt(walk.min_precision * (1 - walk.min_precision) * both * walk.start)
    assert Margins(walk).first_shift == pytest.approx(tp / unit + more)
