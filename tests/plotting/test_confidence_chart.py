import numpy as np
import pytest

pytest.importorskip("matplotlib")

import matplotlib.pyplot as plt

import voros
from voros.plotting import ConfidenceDisplay


@pytest.fixture
def policy() -> voros.ThresholdPolicy:
    rng = np.random.default_rng(0)
    y = rng.random(900) < 0.2
    scores = 1.2 * y + rng.normal(size=900)
    scenario = voros.Scenario(min_precision=0.5, capacity=0.2, cost_ratio=(0.05, 0.1))
    return voros.ThresholdPolicy.from_validation(
        y, scores, scenario, guarantee=(0.95, 0.9, 0.8), n_models=1
    )


def test_the_picture_shows_every_step_and_marks_what_is_deployed(
    policy: voros.ThresholdPolicy,
) -> None:
    display = ConfidenceDisplay(policy.confidence_curve()).plot()
    steps = policy.confidence_curve().steps
    assert [axes.get_ylabel() for axes in display.axes_] == ["expected cost", "recall", "alarms"]
    for name, line in display.lines_.items():
        assert line.get_ydata().tolist() == [getattr(step, name) for step in steps]
    # The second confidence, 90 %, is the first at which something passes.
    assert [float(mark.get_xdata()[0]) for mark in display.deployed_] == [1.0] * 3
    again = ConfidenceDisplay(policy.confidence_curve()).plot(display.axes_, color="red")
    assert again.lines_["recall"].get_color() == "red"
    assert list(display.frame()["confidence"])[:3] == [0.95, 0.9, 0.8]
    plt.close("all")


def test_only_a_curve_is_drawn(policy: voros.ThresholdPolicy) -> None:
    with pytest.raises(TypeError, match=r"what ThresholdPolicy\.confidence_curve returns"):
        ConfidenceDisplay(policy)
