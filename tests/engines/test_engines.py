"""Every engine gives the in-memory score, on every kind of column, and refuses the same faults."""

import numpy as np
import pytest

import voros
from voros.engines import count_frame

pytestmark = pytest.mark.filterwarnings("ignore::voros.VorosWarning")

SCENARIO = voros.Scenario(0.25, 0.3, (0.05, 0.4))
N_CASES = 3000


def drawn():
    rng = np.random.default_rng(20)
    scores = rng.random(N_CASES) * 2 - 0.4
    return rng.random(N_CASES) < scores / 2, scores, rng


def kinds_of_columns():
    labels, scores, rng = drawn()
    extreme = scores.copy()
    extreme[:6] = [np.inf, np.inf, -np.inf, np.finfo(float).max, -0.0, 0.0]
    return {
        "plain": (labels, scores, None, None),
        "ties": (labels, scores.round(1), None, None),
        "weights": (labels, scores, rng.random(N_CASES) * 3, None),
        "weights of zero": (labels, scores, rng.integers(0, 3, N_CASES) / 2, None),
        "float32": (labels, scores.astype(np.float32), None, None),
        "heavy duplicates": (labels, np.where(scores > 1, 0.75, 0.5), None, None),
        "infinities": (labels, extreme, None, None),
        "whole numbers": (labels, (scores * 10).astype(np.int64), None, None),
        "tiny and huge": (labels, np.exp(scores * 400), None, None),
        "string labels": (np.where(labels, "ill", "well"), scores, None, "ill"),
        "labels of 0 and 1": (labels.astype(np.int64), scores, None, None),
        "negated bool labels": (~labels, scores, None, False),
    }


@pytest.mark.parametrize("kind", list(kinds_of_columns()))
def test_equals_the_score_in_memory(make_frame, kind):
    labels, scores, weights, pos_label = kinds_of_columns()[kind]
    columns = {"y": labels, "s": scores} | ({} if weights is None else {"w": weights})
    points = count_frame(
        make_frame(columns),
        label="y",
        scores=["s"],
        weight=None if weights is None else "w",
        pos_label=pos_label,
        scenarios=[SCENARIO],
        largest_answer=100,
    )["s"]
    truth = voros.evaluate(labels, scores, SCENARIO, pos_label=pos_label, sample_weight=weights)
    result = voros.evaluate(points, scenario=SCENARIO)
    assert points.covers.exact
    assert points.covers.interval[0] == pytest.approx(truth.score, abs=1e-12)
    assert result.score == points.covers.interval[0]
    assert [c.threshold for c in result.choices] == [c.threshold for c in truth.choices]
    assert (points.n_positive, points.n_negative) == pytest.approx(
        (truth.points.n_positive, truth.points.n_negative), rel=1e-12
    )


@pytest.mark.slow
def test_several_models_in_the_same_passes(make_frame):
    labels, scores, rng = drawn()
    columns = {"a": scores, "b": scores + rng.normal(0, 0.5, N_CASES), "c": scores.round(1)}
    by_model = count_frame(
        make_frame({"y": labels, **columns}),
        label="y",
        scores=list(columns),
        scenarios=[SCENARIO],
        largest_answer=300,
    )
    for name, column in columns.items():
        truth = voros.evaluate(labels, column, SCENARIO).score
        assert by_model[name].covers.interval == pytest.approx((truth, truth), abs=1e-12)


def test_a_few_rows_take_one_pass(make_frame):
    labels, scores, _ = drawn()
    frame = make_frame({"y": labels, "s": scores})
    points = count_frame(frame, label="y", scores=["s"], scenarios=[SCENARIO])["s"]
    truth = voros.evaluate(labels, scores, SCENARIO).score
    assert voros.evaluate(points, scenario=SCENARIO).score == pytest.approx(truth, abs=1e-12)
    assert points.covers.usage.rows == N_CASES
    assert points.covers.usage.passes == 1


FAULTS = {
    "NaN scores": (
        {"s": [0.1, float("nan"), 0.3, float("nan")]},
        r"'s' is missing or NaN in 2 of 4",
    ),
    "missing scores": ({"s": [0.1, None, 0.3, 0.4]}, r"'s' is missing or NaN in 1 of 4"),
    "missing labels": ({"y": ["a", None, "b", "a"]}, r"'y' is missing in 1 of 4"),
    "three labels": ({"y": ["a", "b", "c", "a"]}, r"'y' has 3 distinct labels"),
    "one label": ({"y": ["a", "a", "a", "a"]}, r"'y' holds positive cases only"),
    "absent label": ({"y": ["b", "c", "b", "c"]}, r"pos_label='a' is not one of the labels"),
    "text scores": ({"s": ["x", "y", "z", "w"]}, r"score\[0\]='s' must hold numbers"),
    "negative weight": ({"w": [1.0, -1.0, 1.0, 1.0]}, r"weight='w' must be finite .* 1 of 4 rows"),
    "missing weight": ({"w": [1.0, None, 1.0, 1.0]}, r"weight='w' must be finite .* 1 of 4 rows"),
    "infinite weight": ({"w": [1.0, np.inf, 1.0, 1.0]}, r"weight='w' must be finite .* 1 of 4"),
}


@pytest.mark.parametrize("fault", list(FAULTS))
def test_faults_are_refused_and_counted(make_frame, fault):
    changed, message = FAULTS[fault]
    columns = {"y": ["a", "b", "b", "a"], "s": [0.1, 0.2, 0.3, 0.4], "w": [1.0, 1.0, 1.0, 1.0]}
    frame = make_frame(columns | changed)
    with pytest.raises(ValueError, match=message):
        count_frame(frame, label="y", scores=["s"], weight="w", pos_label="a")


@pytest.mark.slow
def test_a_third_label_beyond_the_first_rows_is_refused(make_frame):
    labels = np.array(["a", "b"] * 10_000 + ["c"])
    frame = make_frame({"y": labels, "s": np.arange(20_001.0)})
    with pytest.raises(ValueError, match="holds a third label, or NaN, in 1 of 20001 rows"):
        count_frame(frame, label="y", scores=["s"], pos_label="a")


def test_columns_that_are_not_there_are_named(make_frame):
    frame = make_frame({"y": [True, False], "s": [0.1, 0.2]})
    with pytest.raises(
        ValueError, match=r"score\[0\]='risk' is not a column; there are \['y', 's'\]"
    ):
        count_frame(frame, label="y", scores=["risk"])


def test_frames_in_memory_are_sent_to_from_scores():
    pd = pytest.importorskip("pandas")
    with pytest.raises(
        TypeError, match=r"DataFrame; accepted are .* use OperatingPoints.from_scor"
    ):
        count_frame(pd.DataFrame({"y": [1, 0]}), label="y", scores=["y"])


def test_everything_downstream_takes_the_points(make_frame):
    from voros.policy import ThresholdPolicy
    from voros.selection import select_model
    from voros.winners import winner_map

    labels, scores, rng = drawn()
    columns = {"a": scores, "b": scores + rng.normal(0, 0.5, N_CASES)}
    frame = make_frame({"y": labels, **columns})
    by_model = count_frame(frame, label="y", scores=["a", "b"], scenarios=[SCENARIO])
    policy = ThresholdPolicy.from_points(by_model["a"], SCENARIO)
    in_memory = ThresholdPolicy.from_validation(labels, scores, SCENARIO)
    assert policy.threshold(0.2) == in_memory.threshold(0.2)
    assert select_model(by_model, scenario=SCENARIO).winner == "a"
    drawn_map = winner_map(
        by_model, min_precisions=[0.25], capacities=[0.3], cost_ratio=(0.05, 0.4)
    )
    truth = [voros.evaluate(labels, column, SCENARIO).score for column in columns.values()]
    assert np.ravel(drawn_map.scores).tolist() == pytest.approx(truth, abs=1e-12)
