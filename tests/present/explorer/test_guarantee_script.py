"""The page's guarantee for the population: Python's where no scores are tied, and never more."""

from typing import Any

import numpy as np
import pytest
from present.explorer.node import answers_of_page, needs_node
from scipy.stats import binom

import voros
from voros.guarantee import binomial_tests
from voros.present.explorer.payload import page_payload

pytestmark = needs_node

TAILS = [
    (k, n, p)
    for n in (1, 7, 60, 2_000, 100_000)
    for p in (0.01, 0.3, 0.5, 0.97)
    for k in sorted({1, n // 3 + 1, round(n * p) + 1, min(n, round(n * p + 3 * n**0.5)), n})
]
STARTS = [(0.5, 0.05, 400), (0.9, 0.02, 5000), (0.1, 0.05, 10), (0.25, 0.01, 90), (1.0, 0.05, 99)]


def _problem(rng: np.random.Generator, tied: bool) -> tuple[Any, dict[str, Any]]:
    n = int(rng.integers(200, 3000))
    y = np.append([True, False], rng.random(n - 2) < rng.uniform(0.1, 0.5))
    scores = rng.normal(size=n) + rng.uniform(0.5, 3) * y
    points = voros.OperatingPoints.from_scores(y, np.round(scores, 1) if tied else scores)
    floor = float(rng.choice([0.0, 0.2, 0.5, 0.8, 1.0]))
    share = float(rng.choice([0.05, 0.2, 0.6, 1.0]))
    confidence = float(rng.choice([0.8, 0.95, 0.99]))
    recall = float(rng.choice([0.0, 0.5, 0.8, 1.0], p=[0.5, 0.2, 0.2, 0.1]))
    costs = voros.costs.miss_costs(5, 9)
    scenario = voros.Scenario(floor, share, cost_ratio=costs, min_recall=recall)
    payload = page_payload({"a": points}, scenario)
    asked = {
        "points": payload["models"][0],
        "cases": payload["cases"],
        "limits": {"minPrecision": floor, "minRecall": recall, "capacity": {"share": share}},
        "alpha": 1 - confidence,
    }
    passed = voros.Guarantee(confidence).certified(points, scenario)
    useful = np.flatnonzero(np.diff(points.tp, prepend=0) > 0)
    return passed[useful].astype(int).tolist(), asked


@pytest.fixture(scope="module")
def page_answers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    rng = np.random.default_rng(7)
    problems = [_problem(rng, tied) for tied in [False] * 60 + [True] * 40]
    folder = tmp_path_factory.mktemp("guarantee")
    cases = {"tails": TAILS, "problems": [asked for _, asked in problems], "starts": STARTS}
    return {
        **answers_of_page("guarantee.mjs", cases, folder),
        "expected": [passed for passed, _ in problems],
    }


def test_tails_are_those_of_scipy(page_answers: dict[str, Any]) -> None:
    expected = [float(binom.sf(k - 1, n, p)) for k, n, p in TAILS]
    assert page_answers["tails"] == pytest.approx(expected, rel=1e-9, abs=1e-12)


def test_starts_are_those_of_python(page_answers: dict[str, Any]) -> None:
    for asked, starts in zip(STARTS, page_answers["starts"], strict=True):
        ranks, shares = binomial_tests.starts(*asked)
        assert [rank for rank, _ in starts] == ranks.tolist()
        assert [share for _, share in starts] == pytest.approx(shares.tolist(), rel=1e-12)


def test_without_ties_the_same_thresholds_are_certified(page_answers: dict[str, Any]) -> None:
    assert page_answers["flags"][:60] == page_answers["expected"][:60]
    sizes = [sum(flags) for flags in page_answers["expected"][:60]]
    assert sum(size > 0 for size in sizes) > 20
    assert sum(size == 0 for size in sizes) > 5


def test_with_ties_no_more_is_certified(page_answers: dict[str, Any]) -> None:
    for flags, expected in zip(
        page_answers["flags"][60:], page_answers["expected"][60:], strict=True
    ):
        assert all(ours <= theirs for ours, theirs in zip(flags, expected, strict=True))
    assert sum(map(sum, page_answers["flags"][60:])) > 100
