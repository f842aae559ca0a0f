"""What a sequence needs, alarm by alarm from its definition, and how soon that is found."""

from __future__ import annotations

from math import floor, sqrt
from statistics import NormalDist

import numpy as np
import pytest
from fixed_sequences import sequence

from voros.guarantee.next_cases.fixed_sequence import FixedSequence
from voros.guarantee.next_cases.needed import (
    Margins,
    RiskBound,
    requirement,
)
from voros.guarantee.tuning import TUNING


def by_the_rule(walk: FixedSequence) -> list[int]:
    """The fewest that are no fewer than wanted anywhere, and rise by 0 or 1."""
    margin = NormalDist().inv_cdf(1 - walk.alpha)
    both = 1 + walk.n_cases / walk.horizon
    phi = walk.min_precision
    alarms = range(walk.start - 1, walk.most + 1)
    wanted = []
    for a in alarms:
        # From 4,000 alarms on, closed bounds count half a true positive less.
        half = 0.5 if a >= 4000 else 0.0
        exact = phi * a + margin * sqrt(phi * (1 - phi) * both * a) + half
        wanted.append(max(1, floor(exact + 0.5)))
    rising = [max(wanted[: i + 1]) for i in range(len(wanted))]
    return [max(w - i for i, w in enumerate(rising[j:])) for j in range(len(rising))]


@pytest.mark.parametrize(
    "walk",
    [
        sequence(300, 200, 0.5, 0.05, 5, 120),
        sequence(300, 900, 0.9, 0.01, 3, 90),
        sequence(300, 40, 0.02, 0.3, 20, 200),
        sequence(300, 300, 0.3, 0.9, 1, 60),
        sequence(9000, 5000, 0.5, 0.1, 3950, 4050),
        sequence(300, 200, 0.5, 0.05, 70, 70),
    ],
)
def test_what_is_needed_is_the_floor_and_a_margin(walk: FixedSequence) -> None:
    margins = np.full(TUNING.margin_nodes, NormalDist().inv_cdf(1 - walk.alpha))
    assert Margins(walk).needed(margins).tolist() == by_the_rule(walk)


WALKS = [
    sequence(2000, 2000, 0.4, 0.04, 41, 400),
    sequence(2000, 500, 0.4, 0.0003, 81, 400),
    sequence(1000, 2000, 0.8, 0.04, 61, 1000),
    sequence(1000, 40, 0.05, 0.1, 201, 1000),
]


@pytest.mark.parametrize("walk", WALKS)
def test_margins_use_most_of_alpha_and_are_found_in_few_steps(
    walk: FixedSequence, monkeypatch: pytest.MonkeyPatch
) -> None:
    risks = []
    real = RiskBound.risk

    def noted(self: RiskBound, needed: np.ndarray) -> float:
        risks.append(real(self, needed))
        return risks[-1]

    monkeypatch.setattr(RiskBound, "risk", noted)
    needed = requirement(walk)
    used = real(RiskBound(walk), needed) / walk.alpha
    assert 0.9 <= used <= 1
    assert used == max(risk / walk.alpha for risk in risks if risk <= walk.alpha)
    assert len(risks) <= 6


@pytest.mark.parametrize(
    "walk",
    [
        sequence(7832, 7832, 0.5, 0.0473, 132, 670),
        sequence(7700, 7964, 0.5, 0.0473, 132, 660),
        sequence(2000, 2000, 0.4, 0.0473, 100, 360),
        sequence(5000, 5000, 0.3, 0.0473, 90, 900),
    ],
)
def test_a_main_sequence_leaves_little_of_its_alpha(
    walk: FixedSequence, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One percent of alpha costs .0002 on MIMIC-IV; each evaluation of the risk costs time."""
    risks, real = [], RiskBound.risk
    monkeypatch.setattr(
        RiskBound, "risk", lambda self, needed: risks.append(real(self, needed)) or risks[-1]
    )
    requirement.cache_clear()
    assert 0.985 <= real(RiskBound(walk), requirement(walk)) / walk.alpha <= 1
    assert len(risks) <= 3
