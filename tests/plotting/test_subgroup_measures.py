"""The picture of subgroups: where marks, intervals and the floor lie."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("matplotlib")


from voros import Scenario, ThresholdPolicy
from voros.plotting import SubgroupDisplay

SCENARIO = Scenario(min_precision=0.5, capacity=0.5, cost_ratio=0.1)


@pytest.fixture
def display() -> SubgroupDisplay:
    # Precision 1 in a, 0 in b, one half in c, and no alarm in d; 40 cases each.
    half, every_other = np.arange(40) < 20, np.arange(40) % 2
    truth = np.concatenate([half, np.zeros(40), every_other, np.ones(40)])
    scores = np.concatenate([half, half, half, np.zeros(40)])
    policy = ThresholdPolicy.from_validation([1, 1, 0, 0], [1.0, 1.0, 0.0, 0.0], SCENARIO)
    by = {"ward": np.repeat(list("abcd"), 40)}
    evaluation = policy.evaluate(truth, scores, by=by)
    return SubgroupDisplay(evaluation.by_subgroup).plot(color="navy")


def test_marks_lie_at_the_estimates_and_show_the_floor(display: SubgroupDisplay) -> None:
    assert [result.floor for result in display.subgroups] == [
        *("kept", "broken", "too few to say", "too few to say")
    ]
    for row, (subgroup, precision) in enumerate({"a": 1.0, "b": 0.0, "c": 0.5}.items()):
        mark = display.marks_["precision", "ward", subgroup].lines[0]
        assert (mark.get_xdata()[0], mark.get_ydata()[0]) == (precision, row)
    marks = {name: display.marks_["precision", "ward", name].lines[0] for name in "abc"}
    assert [marks[name].get_marker() for name in "abc"] == ["o", "X", "o"]
    assert marks["a"].get_markerfacecolor() == "navy"
    assert marks["c"].get_markerfacecolor() == "none"
    assert ("precision", "ward", "d") not in display.marks_
    assert display.floor_ is not None
    assert display.floor_.get_xdata()[0] == 0.5


def test_without_a_floor_there_is_no_line_and_no_legend(display: SubgroupDisplay) -> None:
    scenario = Scenario(cost_ratio=0.1)
    policy = ThresholdPolicy.from_validation([1, 1, 0, 0], [1.0, 1.0, 0.0, 0.0], scenario)
    by = {"ward": ["a", "b"] * 10}
    evaluation = policy.evaluate([1, 0] * 10, [1, 0] * 10, by=by)
    plain = SubgroupDisplay(evaluation.by_subgroup).plot()
    assert plain.floor_ is None
    assert [panel.get_legend() for panel in plain.axes_] == [None] * 3
    assert display.axes_[1].figure.legends or display.axes_[1].get_legend()


def test_bars_are_the_intervals(display: SubgroupDisplay) -> None:
    for result in display.subgroups:
        key = "cost_per_1000", "ward", result.subgroup
        (segment,) = display.marks_[key].lines[2][0].get_segments()
        assert segment[:, 0] == pytest.approx(result.intervals.cost_per_1000)


def test_drawn_again_elsewhere_and_refused(display: SubgroupDisplay) -> None:
    import matplotlib.pyplot as plt

    pytest.importorskip("pandas")
    _, axes = plt.subplots(1, 3)
    assert SubgroupDisplay(display.subgroups).plot(axes).axes_ == tuple(axes)
    assert len(display.frame("pandas")) == 4
    with pytest.raises(ValueError, match="ax holds 1 axes; this picture needs 3"):
        SubgroupDisplay(display.subgroups).plot(axes[0])
    with pytest.raises(TypeError, match=r"accepted is policy\.evaluate"):
        SubgroupDisplay("subgroups")  # type: ignore[arg-type]
    plt.close("all")
