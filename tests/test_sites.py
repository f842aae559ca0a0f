"""Counts of sites add up where they fit together, and are refused where they do not."""

import json

import numpy as np
import pytest

import voros
from voros import SiteCounts
from voros.io.documents import DocumentError
from voros.io.source import DOCUMENT
from voros.sites import MismatchError

SCENARIO = voros.Scenario(0.3, 0.2, (0.1, 0.4))


def draw(random_state, n_cases=600):
    rng = np.random.default_rng(random_state)
    died = rng.random(n_cases) < 0.3
    return died, {"a": rng.normal(size=n_cases) + died, "b": rng.random(n_cases) + died / 2}


def count(random_state, **changed):
    died, scores = draw(random_state)
    return SiteCounts.from_scores(died, scores, **{"site": f"site {random_state}"} | changed)


def test_the_interval_of_merged_sites_holds_the_score_of_all_cases():
    merged = count(0) + count(1) + count(2)
    labels, scores = zip(*(draw(i) for i in range(3)), strict=True)
    for model, (low, high) in merged.bounds(SCENARIO).items():
        pooled = np.concatenate([site_scores[model] for site_scores in scores])
        truth = voros.partial_voros_score(np.concatenate(labels), pooled, SCENARIO)
        assert low <= truth <= high
        assert high - low < 0.1
        assert voros.evaluate(merged.points[model], scenario=SCENARIO).score == low
    assert merged.n_cases == 1800
    assert merged.n_positive == np.concatenate(labels).sum()


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"site": "site 0"}, "site 'site 0' is in both; each may be added once"),
        ({"pos_label": False}, "positive label '1' and '0'"),
        ({"outcome": "discharge"}, "outcome 'label' and 'discharge'"),
        ({"sample_weight": np.ones(600)}, "weights None and 'sample_weight'"),
    ],
)
def test_what_does_not_fit_is_refused(changed, message):
    with pytest.raises(MismatchError, match=message):
        count(0) + count(1, **changed)


def test_other_models_do_not_fit():
    died, scores = draw(1)
    other = SiteCounts.from_scores(died, {"a": scores["a"]}, site="other")
    with pytest.raises(MismatchError, match=r"site 0 and other .* models \['a', 'b'\] and \['a'\]"):
        count(0) + other
    assert list((count(0).of_models(["a"]) + other).models) == ["a"]


def test_flags_numbers_and_text_of_the_same_label_fit():
    _, scores = draw(1)
    numbers = np.arange(600) % 2
    text = SiteCounts.from_scores(numbers.astype(str), scores, site="text", pos_label="1")
    flags = SiteCounts.from_scores(numbers == 1, scores, site="flags")
    both = SiteCounts.from_scores(numbers, scores, site="numbers") + text + flags
    assert both.n_positive == 900


def test_a_document_is_read_back_as_it_was(tmp_path):
    counts = count(0, sample_weight=np.linspace(0.5, 2, 600))
    text = counts.to_json(tmp_path / "site.json")
    assert DOCUMENT.match(text.encode())
    reloaded = SiteCounts.from_json(tmp_path / "site.json")
    assert reloaded.to_json() == text
    assert reloaded.bounds(SCENARIO) == counts.bounds(SCENARIO)
    with pytest.raises(FileExistsError):
        counts.to_json(tmp_path / "site.json")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": "counts"}, "accepted is the format 'voros site counts'"),
        ({"schema": 9}, "schema 9; accepted is 2; written by a newer voros"),
        ({"sites": []}, "sites is a list of 0; accepted is at least one"),
        ({"min_rows": 25}, "models.a has a range of fewer rows than min_rows, 25"),
        ({"min_rows": 0}, "min_rows is 0; accepted is a whole number"),
        ({"pos_label": ""}, 'pos_label is ""; accepted is text'),
        ({"pos_label": "0"}, "was changed after it was saved"),
        ({"extra": 1}, "unknown key"),
    ],
)
def test_damaged_documents_are_refused_by_name(change, message):
    record = json.loads(count(0).to_json()) | change
    with pytest.raises(DocumentError, match=message):
        SiteCounts.from_json(json.dumps(record))


def test_models_of_other_cases_contradict_the_sites():
    record = json.loads(count(0).to_json())
    record["sites"][0]["cases"] = 7
    with pytest.raises(DocumentError, match="counts 600 rows, and the sites 7"):
        SiteCounts.from_json(json.dumps(record))
    record = json.loads(count(0).to_json())
    record["sites"][0]["positive"] += 1
    with pytest.raises(DocumentError, match="cases of each class, and the sites"):
        SiteCounts.from_json(json.dumps(record))


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"min_rows": 601}, "min_rows=601, and there are 600 cases in all"),
        ({"min_rows": 0}, "min_rows=0; accepted is a whole number of at least 1"),
        ({"min_rows": 2.5}, "min_rows=2.5; accepted"),
        ({"site": " "}, "site=' '; accepted is a name"),
        ({"outcome": ""}, "outcome=''; accepted is a name"),
    ],
)
def test_arguments_are_refused_by_name(changed, message):
    with pytest.raises(ValueError, match=message):
        count(0, **changed)


def test_a_model_that_was_not_counted_is_named():
    with pytest.raises(ValueError, match="scores='c' is not counted; there are 'a', 'b'"):
        count(0).of_models(["c"])


def test_counts_of_two_sites_keep_the_smaller_of_their_small_bins() -> None:
    """One site may have smaller bins than the other allows; the file states the smaller minimum."""
    rng = np.random.default_rng(0)
    sites = [
        SiteCounts.from_scores(
            rng.random(60) < 0.4, {"risk": rng.random(60)}, site=site, min_rows=n
        )
        for site, n in (("north", 1), ("south", 10))
    ]
    for both in (sites[0] + sites[1], sites[1] + sites[0]):
        assert both.min_rows == 1
        assert SiteCounts.from_json(both.to_json()).min_rows == 1
