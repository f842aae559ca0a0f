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
    answers = read_answers(tmp_path / "answers.toml", tmp_path / "answers.toml")
    assert answers.people[:2] == (
        Answer('a "b"', 0.3, 0.1, (10.0, 17.0)),
        Answer("c", 0.2, 0.25, (90.0, 90.0)),
    )
    assert len(answers.people) == 4
    assert '"b"' in str(answers)


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
        (
            WRITTEN.replace("[10, 17]", "[10, 18]"),
            "from what is accepted and refused follows [10, 17]",
        ),
        (
            WRITTEN.replace("[90, 90]", "[30, 90]"),
            "from what is accepted and refused follows [90, 90]",
        ),
        (WRITTEN.replace("[10, 30, 90]", "[]"), "answer 2 has no accepted and no refused offer"),
        (WRITTEN.replace("[10, 30, 90]", '["x"]'), "answer 2, accepted='x'; accepted is numbers"),
        (WRITTEN.replace("refused = []", "refused = 5"), "answer 2, refused=5; accepted is a list"),
    ],
)
def test_what_is_no_answer_is_refused(tmp_path, text, complaint):
    (tmp_path / "answers.toml").write_text(text)
    with pytest.raises(ValueError, match=complaint.replace("[", r"\[")):
        read_answers(tmp_path / "answers.toml")
    with pytest.raises(ValueError, match="name at least one file"):
        read_answers()


@pytest.mark.parametrize(
    ("offers", "range_"),
    [
        ("accepted = []\nrefused = [10, 3]", "[3, 3]"),
        ("accepted = [30]\nrefused = [10]", "[10, 30]"),
        ("refused = [6]", "[6, 6]"),
        ("", "[4, 5]"),
    ],
)
def test_what_follows_from_the_offers_is_read(tmp_path, offers, range_):
    file = tmp_path / "answers.toml"
    limits = '[[answer]]\nwho = "a"\nmin_precision = 0.3\ncapacity = 0.1\n'
    file.write_text(f"{limits}{offers}\nmiss_costs = {range_}\n")
    low, high = range_.strip("[]").split(", ")
    assert read_answers(file).people[0].miss_costs == (float(low), float(high))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (".".join("a" * 200_000) + " = 1", "a key has more than 32 parts"),
        ("[" + ".".join("a" * 100_000) + "]", "a key has more than 32 parts"),
        ("x = {" + ". ".join(['"a"'] * 40) + " = 1}", "a key has more than 32 parts"),
        ("#" * 2_000_000, "it has more than 1,048,576 characters"),
        ("a = " + "[" * 100_000, "nested too deep"),
    ],
)
def test_toml_that_exhausts_a_parser_is_refused(tmp_path, text, reason):
    (tmp_path / "answers.toml").write_text(text)
    with pytest.raises(ValueError, match=f"answers.toml is not TOML: .*{reason}"):
        read_answers(tmp_path / "answers.toml")


def test_dots_that_are_no_parts_of_a_key_are_read(tmp_path):
    written = WRITTEN.replace("[10, 17]", f"[10, 17] # {'.' * 80}")
    written = written.replace("[30, 17]", f"[{', '.join(['30.0'] * 40)}, 17.0]")
    (tmp_path / "answers.toml").write_text(written)
    assert len(read_answers(tmp_path / "answers.toml").people) == 2
