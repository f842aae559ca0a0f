"""Several people's answers become one cost distribution, and limits that satisfy everybody."""

import numpy as np
import pytest

import voros
from voros.io.answers import Answer, Answers, read_answers

WRITTEN = """[[answer]]
who = "a \\"b\\""
min_precision = 0.3
capacity = 0.1
accepted = [10]
refused = [30, 17]
miss_costs = [10, 17]

[[answer]]
who = "c"
min_precision = 0.2
capacity = 0.25
accepted = [10, 30, 90]
refused = []
miss_costs = [90, 90]
"""


def test_who_said_what_is_read(tmp_path):
    (tmp_path / "answers.toml").write_text(WRITTEN)
    found = read_answers(tmp_path / "answers.toml", tmp_path / "answers.toml")
    assert found.people[:2] == (
        Answer('a "b"', 0.3, 0.1, (10.0, 17.0)),
        Answer("c", 0.2, 0.25, (90.0, 90.0)),
    )
    assert len(found.people) == 4
    assert '"b"' in str(found)


def test_everybody_has_the_same_weight():
    both = Answers((Answer("a", 0.3, 0.1, (4, 8)), Answer("b", 0.2, 0.2, (10, 30))))
    # The mean of two uniform ranges, 6 and 20.
    assert np.dot(both.costs.values, both.costs.weights) == pytest.approx(13)
    assert both.costs.weights[both.costs.values < 9].sum() == pytest.approx(0.5)
    assert both.scenario == voros.Scenario(0.3, 0.1, both.costs)
    assert both.people[1].scenario == voros.Scenario(0.2, 0.2, voros.costs.miss_costs(10, 30))


def test_the_score_is_nearly_the_mean_over_people():
    rng = np.random.default_rng(0)
    y = rng.random(500) < 0.3
    s = rng.normal(size=500) + y
    people = (Answer("a", 0.3, 0.5, (4, 8)), Answer("b", 0.3, 0.5, (10, 30)))
    together = voros.evaluate(y, s, Answers(people).scenario).score
    alone = [voros.evaluate(y, s, person.scenario).score for person in people]
    assert together == pytest.approx(np.mean(alone), abs=2e-3)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "holds no answers"),
        ("answer = 3\n", "holds no answers"),
        ("[[answer]\n", "is not TOML"),
        ('[[answer]]\nwho = "a"\n', "answer 1 has no min_precision"),
        (WRITTEN.replace("0.25", "0.0"), "answer 2: capacity=0.0"),
        (WRITTEN.replace("[10, 17]", "[17, 10]"), r"answer 1: miss_costs=[17, 10] is reversed"),
        (WRITTEN.replace("[10, 17]", "[1, 2, 3]"), "accepted is a number, or two"),
    ],
)
def test_what_is_no_answer_is_refused(tmp_path, text, complaint):
    (tmp_path / "answers.toml").write_text(text)
    with pytest.raises(ValueError, match=complaint.replace("[", r"\[")):
        read_answers(tmp_path / "answers.toml")
    with pytest.raises(ValueError, match="name at least one file"):
        read_answers()


def test_toml_that_is_nested_too_deep_is_refused(tmp_path):
    (tmp_path / "answers.toml").write_text("a = " + "[" * 100_000)
    with pytest.raises(ValueError, match=r"answers.toml is not TOML"):
        read_answers(tmp_path / "answers.toml")
