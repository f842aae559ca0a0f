"""Reports of small and odd cases: every number is said, none of them by a traceback."""

from __future__ import annotations

import json
import warnings
from datetime import UTC, datetime

import numpy as np
import pytest

pytest.importorskip("jinja2", reason="the report's template needs the cli extra")
pytest.importorskip("matplotlib", reason="and its pictures matplotlib")

from voros import Scenario, VorosWarning, costs
from voros.exceptions import InfeasibleError
from voros.io.writing import json_text
from voros.present.report import layout, make_report
from voros.present.report.values import report_document

RUNS = 200

COSTS = (
    0.1,
    (0.02, 0.3),
    costs.miss_costs(2, 30),
    costs.uniform_t(0.1, 0.8),
    costs.from_samples([0.05, 0.2, 0.2]),
)
KINDS = ("risks", "rounded", "certain", "constant", "margins", "separated")


def scores_of(kind, y, rng):
    noise = rng.normal(size=len(y))
    risk = 1 / (1 + np.exp(1 - 1.5 * y - noise))
    return {
        "risks": risk,
        "rounded": risk.round(1),
        "certain": (risk > 0.5).astype(float),
        "constant": np.full(len(y), 0.3),
        "margins": 10 * noise,
        "separated": np.where(y, 0.8, 0.2) + 0.01 * risk,
    }[kind]


def cases(rng, n):
    y = rng.random(n) < rng.choice([0.1, 0.5])
    y[:2] = True, False
    return y


@pytest.mark.slow
def test_small_and_odd_cases(monkeypatch):
    # Drawing takes seconds; pictures have tests of their own.
    monkeypatch.setattr(layout, "draw_pictures", lambda _: {})
    rng, written, refused = np.random.default_rng(0), 0, 0
    for _ in range(RUNS):
        y, later = cases(rng, rng.integers(4, 60)), cases(rng, rng.integers(2, 40))
        kinds = rng.choice(KINDS, rng.integers(1, 4), replace=False)
        scores, new = ({k: scores_of(k, labels, rng) for k in kinds} for labels in (y, later))
        prevalence = rng.choice([None, 0.2])
        floor, capacity = rng.choice([0.0, 0.1, 0.5]), rng.choice([0.2, 1.0])
        scenario = Scenario(floor, capacity, COSTS[rng.integers(len(COSTS))], prevalence)
        test = {"y_test": later, "scores_test": new} if rng.random() < 0.7 else {}
        if test and prevalence is None and rng.random() < 0.5:
            test["by"] = {"half": np.arange(len(later)) % 2}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", VorosWarning)
            try:
                report = make_report(y, scores, scenario, **test, n_resamples=100)
            except InfeasibleError:
                refused += 1
                continue
            page = layout.render_report(report, datetime.now(UTC))
        document = json.loads(json_text(report_document(report, datetime.now(UTC))))
        counts = document["validation"]["at_default"]
        assert sum(counts[name] for name in ("tp", "fp", "fn", "tn")) == len(y)
        assert counts["tp"] + counts["fn"] == y.sum()
        assert ("needs scores that are probabilities" in page) == ("margins" in kinds)
        assert "nan" not in page.split("</style>")[1]
        written += 1
    print(f"{written} reports written, {refused} refused")
    assert written > RUNS / 2
