"""Damaged counts are refused by name, or bound the score exactly as those that were saved."""

import json

import numpy as np
import pytest
from fuzz.tampering import tampered

import voros
from voros.io.documents import DocumentError

pytestmark = pytest.mark.slow

TRIES = 700
"""Damaged copies of each summary."""

SCENARIOS = [voros.Scenario(0.4, 0.4, (0.05, 0.2)), voros.Scenario(cost_ratio=0.3)]


def saved(position):
    rng = np.random.default_rng(position)
    labels = rng.random(60) < 0.4
    scores = rng.normal(size=60) + labels
    weights = rng.random(60) + 0.5 if position == 2 else None
    return voros.SiteCounts.from_scores(
        labels,
        scores,
        site="north",
        sample_weight=weights,
        bits=(12, 20, 16)[position],
        min_rows=1,
    )


def saved_sites():
    rng = np.random.default_rng(3)
    labels = rng.random(200) < 0.4
    scores = {"a": rng.normal(size=200) + labels, "b": rng.random(200)}
    parts = [
        voros.SiteCounts.from_scores(
            labels[i::2], {name: values[i::2] for name, values in scores.items()}, site=str(i)
        )
        for i in range(2)
    ]
    return parts[0] + parts[1]


def behaviour(counts):
    if isinstance(counts, voros.SiteCounts):
        metadata = counts.sites, counts.pos_label, counts.outcome, counts.weights, counts.min_rows
        return metadata, {name: behaviour(model) for name, model in counts.models.items()}
    return [counts.bounds(scenario) for scenario in SCENARIOS], counts.points.thresholds.tolist()


@pytest.mark.parametrize("position", range(4))
def test_a_damaged_summary_is_refused_or_bounds_as_before(position):
    counts = saved(position) if position < 3 else saved_sites()
    document, expected = json.loads(counts.to_json()), behaviour(counts)
    rng = np.random.default_rng([9, position])
    messages, unchanged = [], 0
    for _ in range(TRIES):
        text, what = tampered(document, rng)
        try:
            loaded = voros.SiteCounts.from_json(text)
        except DocumentError as error:
            messages.append(str(error))
            continue
        assert behaviour(loaded) == expected, what
        unchanged += 1
    assert all(message and "\n" not in message and len(message) < 500 for message in messages)
    by_rule = sum("checksum" not in message for message in messages)
    print(
        f"{TRIES} damaged summaries: {len(messages)} refused ({by_rule} by a rule, the others by "
        f"the checksum alone), {unchanged} bound the score as before"
    )
    assert len(messages) > 0.9 * TRIES
