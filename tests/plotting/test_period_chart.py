"""Pictures of periods and of prevalences show what was counted."""

from __future__ import annotations

import numpy as np
import pytest

import voros

pytest.importorskip("matplotlib")

from voros.plotting import PeriodDisplay, PrevalenceDisplay, ThresholdCostDisplay


@pytest.fixture(scope="module")
def evaluation():
    rng = np.random.default_rng(4)
    y = rng.random(600) < 0.3
    scores, days = y + rng.normal(size=600), rng.integers(0, 50, 600)
    scenario = voros.Scenario(capacity=4, cost_ratio=(0.05, 1.5), per="day")
    policy = voros.ThresholdPolicy.from_validation(y, scores, scenario, periods=days)
    return y, scores, days, policy


def test_bars_are_the_alarms_of_each_day(evaluation) -> None:
    y, scores, days, policy = evaluation
    display = PeriodDisplay.from_evaluation(policy.evaluate(y, scores, periods=days))
    threshold = policy.threshold()
    # Periods of a column are in the order of their names.
    names = sorted({str(day) for day in days}, key=int)
    counted = {
        int(name): int(((days == int(name)) & (scores >= threshold)).sum()) for name in names
    }
    drawn = [bar.get_height() for bar in display.bars_]
    assert drawn == [counted[int(name)] for name in display.by_period.names]
    solid = [bar.get_alpha() == 1.0 for bar in display.bars_]
    assert solid == [height > 4 for height in drawn]
    assert display.capacity_.get_ydata()[0] == 4
    assert display.mean_.get_ydata()[0] == pytest.approx(np.mean(drawn))
    assert f"in {sum(solid)} of 50 periods" in display.title_.get_text()
    assert display.frame("pandas").shape[0] == 50
    assert display.ax_.get_ylabel() == "alarms per day"


def test_other_pictures_name_the_capacity_of_a_period(evaluation) -> None:
    y, scores, days, policy = evaluation
    points = voros.OperatingPoints.from_scores(y, scores, periods=voros.Periods.from_column(days))
    display = ThresholdCostDisplay.from_points(points, policy.scenario)
    assert display.limit_lines_["alarms"].get_ydata()[0] == 4 * 50
    written = [text.get_text() for text in display.axes_[2].texts]
    assert written == ["alarms ≤ 4 per day, on average"]
    assert display.best_threshold == policy.threshold()


def test_one_of_several_thresholds_is_named(evaluation) -> None:
    y, scores, days, policy = evaluation
    several = policy.evaluate(y, scores, by_cost=True, periods=days)
    chosen = several.choices[-1].threshold
    display = PeriodDisplay.from_evaluation(several, threshold=chosen)
    assert display.alarms.sum() == (scores >= chosen).sum()
    with pytest.raises(ValueError, match="threshold=None; accepted is one of"):
        PeriodDisplay.from_evaluation(several)
    with pytest.raises(TypeError, match="by_period is a PolicyEvaluation"):
        PeriodDisplay(several)


def test_a_band_is_golden_where_it_keeps_the_limits() -> None:
    rng = np.random.default_rng(4)
    y = rng.random(2000) < 0.3
    scores = 1.3 * y + rng.normal(size=2000)
    scenario = voros.Scenario(0.4, 0.3, cost_ratio=0.1)
    tested = voros.ThresholdPolicy.from_validation(y, scores, scenario).evaluate(y, scores)
    with pytest.raises(ValueError, match="evaluation has no periods"):
        PeriodDisplay.from_evaluation(tested)
    display = PrevalenceDisplay.from_evaluation(tested)
    band = tested.over_prevalences()
    assert display.lines_["precision"].get_ydata() == pytest.approx(band.precision)
    assert display.limit_lines_["alarms"].get_ydata()[0] == pytest.approx(0.3)
    golden = [patch.get_x() for patch in display.axes_[0].patches]
    assert golden == [band.prevalences[band.surely_kept][0]]
    assert "golden where the whole 95 % band keeps" in display.title_.get_text()
    nowhere = PrevalenceDisplay.from_evaluation(tested, prevalences=[0.01, 0.02])
    assert not nowhere.axes_[0].patches
    assert "at no prevalence drawn does the whole 95 % band keep" in nowhere.title_.get_text()
    again = PrevalenceDisplay(band).plot(display.axes_, color="red")
    assert again.axes_ == display.axes_
    with pytest.raises(TypeError, match="band is a PolicyEvaluation"):
        PrevalenceDisplay(tested)
    assert display.frame("pandas").shape[0] == len(band.prevalences)
