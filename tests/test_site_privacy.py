"""What the published counts reveal about single cases."""

import json

import numpy as np
import pytest

import voros
from voros import SiteCounts
from voros.sites import MismatchError

SCENARIO = voros.Scenario(0.3, 0.2, (0.1, 0.4))


def draw(n_cases=3000, random_state=3):
    rng = np.random.default_rng(random_state)
    died = rng.random(n_cases) < 0.15
    return died, 1 / (1 + np.exp(-(rng.normal(size=n_cases) + 1.5 * died - 2)))


def cuts(counts, model):
    """Rows above each boundary, read from the document alone."""
    saved = json.loads(counts.to_json())["models"][model]
    return dict(zip(saved["buckets"], np.cumsum(saved["rows"]).tolist(), strict=True))


@pytest.mark.parametrize(
    ("second", "how"),
    [
        (lambda risk: 100 * risk, "alike"),
        (lambda risk: np.log(risk / (1 - risk)), "alike"),
        (lambda risk: risk.round(3), "alike"),
        (lambda risk: -np.log(risk), "in reverse"),
    ],
)
def test_models_that_order_cases_alike_are_not_counted_together(second, how):
    """Otherwise both sets of boundaries cut one list of cases, and some ranges hold one of them."""
    died, risk = draw()
    scores = {"risk": risk, "second": second(risk)}
    with pytest.raises(ValueError, match=f"'risk' and 'second' order the cases {how}, so their"):
        SiteCounts.from_scores(died, scores, site="north")
    one, other = (
        np.array(list(cuts(SiteCounts.from_scores(died, column, site="n"), "model").values()))
        for column in scores.values()
    )
    rows = np.union1d(one, other if how == "alike" else 3000 - other)
    assert 0 < np.diff(rows).min() < 10
    assert SiteCounts.from_scores(died, scores, site="north", min_rows=1).n_cases == 3000


def test_a_few_swapped_cases_hide_no_order():
    """The ranges of both together would show the other cases as before."""
    died, risk = draw()
    rng, ranks = np.random.default_rng(0), np.argsort(np.argsort(risk))
    swapped = risk.copy()
    swapped[np.argsort(risk)[[5, 6]]] = swapped[np.argsort(risk)[[6, 5]]]
    for second in (100 * swapped, 1 + ranks + rng.normal(0, 0.4, 3000)):
        with pytest.raises(ValueError, match="order the cases alike"):
            SiteCounts.from_scores(died, {"risk": risk, "second": second}, site="north")


def test_models_of_different_orders_are_counted_together():
    died, risk = draw()
    rng = np.random.default_rng(0)
    scores = {"risk": risk, "noisy": risk + rng.normal(0, 0.01, 3000), "constant": np.ones(3000)}
    counts = SiteCounts.from_scores(died, scores, site="north")
    assert len(counts.models["noisy"].rows) > 50


@pytest.mark.parametrize("alert", [1, -1])
def test_a_rule_whose_cut_is_far_from_the_others_is_counted(alert):
    died, risk = draw()
    scores = {"risk": risk, "alert": alert * (risk >= 0.5)}
    counts = SiteCounts.from_scores(died, scores, site="north")
    assert len(counts.models["alert"].rows) == 2


def test_cases_of_weight_0_do_not_hide_an_order():
    died, risk = draw()
    second, weights = 100 * risk, np.ones(3000)
    second[0], weights[0] = -5, 0
    scores = {"risk": risk, "second": second}
    with pytest.raises(ValueError, match="order the cases alike"):
        SiteCounts.from_scores(died, scores, site="north", sample_weight=weights)


def test_the_weight_of_a_case_is_withheld():
    died, risk = draw()
    weights = np.random.default_rng(1).uniform(0.3, 2, 3000)
    counts = SiteCounts.from_scores(died, risk, site="north", sample_weight=weights)
    text = counts.to_json()
    assert str(weights.min()) not in text
    (saved,) = json.loads(text)["models"].values()
    assert saved["one_case"] == 0.25
    truth = voros.partial_voros_score(died, risk, SCENARIO, sample_weight=weights)
    ((low, high),) = SiteCounts.from_json(text).bounds(SCENARIO).values()
    assert low <= truth <= high < low + 0.1


def test_two_publications_can_be_subtracted():
    """Why `since` is there: a month later the difference shows single cases."""
    died, risk = draw()
    may, june = (
        SiteCounts.from_scores(died[:n], {"risk": risk[:n]}, site="north") for n in (2800, 3000)
    )
    earlier, later = cuts(may, "risk"), cuts(june, "risk")
    shared = sorted(set(earlier) & set(later), reverse=True)
    added = np.diff([0, *(later[bucket] - earlier[bucket] for bucket in shared)])
    assert np.any((added > 0) & (added < 10))


@pytest.mark.parametrize("min_rows", [10, 25])
def test_counts_since_earlier_ones_cannot(min_rows):
    died, risk = draw()
    published = None
    for n_cases in (2000, 2300, 2700, 3000):
        counts = SiteCounts.from_scores(
            died[:n_cases],
            {"risk": risk[:n_cases]},
            site="north",
            min_rows=min_rows,
            since=published,
        )
        if published is not None:
            earlier, later = cuts(published, "risk"), cuts(counts, "risk")
            shared = sorted(set(earlier) & set(later), reverse=True)
            added = np.diff([0, *(later[bucket] - earlier[bucket] for bucket in shared)])
            assert added.min() >= min_rows
            assert len(added) > 3
        truth = voros.partial_voros_score(died[:n_cases], risk[:n_cases], SCENARIO)
        low, high = counts.bounds(SCENARIO)["risk"]
        assert low <= truth <= high
        published = counts


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        (slice(0, 2005), "since: 5 cases were added since the earlier counts; at least 10"),
        (slice(100, 3000), "since: cases of the earlier counts are missing"),
        (slice(0, 2000), "since: 0 cases were added"),
    ],
)
def test_what_is_no_growth_is_refused(rows, reason):
    died, risk = draw()
    earlier = SiteCounts.from_scores(died[:2000], {"risk": risk[:2000]}, site="north")
    with pytest.raises(ValueError, match=reason):
        SiteCounts.from_scores(died[rows], {"risk": risk[rows]}, site="north", since=earlier)


def test_earlier_counts_are_of_the_same_site_and_question():
    died, risk = draw()
    earlier = SiteCounts.from_scores(died[:2000], {"risk": risk[:2000]}, site="south")
    with pytest.raises(MismatchError, match="since holds counts of south for risk; accepted"):
        SiteCounts.from_scores(died, {"risk": risk}, site="north", since=earlier)
    with pytest.raises(
        MismatchError, match="south for risk; accepted are earlier counts of south for other"
    ):
        SiteCounts.from_scores(died, {"other": risk}, site="south", since=earlier)
