"""ROC display: what is drawn, against shapely and brute force over the cases."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.integrate import trapezoid
from shapely.geometry import Polygon as ShapelyPolygon
from shapely.geometry import box

import voros

pytest.importorskip("matplotlib")

from matplotlib.colors import to_rgba

from voros.plotting import RocDisplay
from voros.styles import REGION

EXACT = 1e-12


def half_plane(on_x: float, on_y: float, constant: float) -> ShapelyPolygon:
    """A large polygon whose points near the unit square have on_x x + on_y y + constant >= 0."""
    normal = np.array([on_x, on_y]) / np.hypot(on_x, on_y)
    along = np.array([-normal[1], normal[0]])
    foot = -constant / np.hypot(on_x, on_y) * normal
    return ShapelyPolygon(
        [
            foot - 9 * along,
            foot + 9 * along,
            foot + 9 * along + 9 * normal,
            foot - 9 * along + 9 * normal,
        ]
    )


def brute_choices(y: Any, scores: Any, scenario: voros.Scenario) -> set[tuple[float, float]]:
    """Least total cost at each of many costs, over feasible thresholds, by counting cases."""
    low, high = 1 / 20, 1 / 3
    most = scenario.capacity * len(y)
    rates = [(0, 0)]
    for threshold in np.unique(scores):
        tp, fp = int((scores[y] >= threshold).sum()), int((scores[~y] >= threshold).sum())
        if tp >= scenario.min_precision * (tp + fp) - 1e-9 and tp + fp <= most:
            rates.append((tp, fp))
    tp, fp = np.array(rates).T
    ratios = np.linspace(low, high, 2001)
    best = np.unique(np.argmax(tp[:, None] - ratios * fp[:, None], axis=0))
    return {(round(fp[i] / (~y).sum(), 12), round(tp[i] / y.sum(), 12)) for i in best}


class TestLimits:
    def test_region_is_the_square_cut_by_both_limits(self, cases: Any, scenario: Any) -> None:
        y, scores = cases
        display = RocDisplay.from_predictions(y, scores, scenario)
        (artists,) = display.limits_.values()
        n_pos, n_neg = y.sum(), (~y).sum()
        expected = (
            box(0, 0, 1, 1)
            .intersection(half_plane(-0.4 * n_neg, 0.6 * n_pos, 0.0))
            .intersection(half_plane(-n_neg, -n_pos, 0.3 * len(y)))
        )
        drawn = ShapelyPolygon(artists.region.get_xy())
        assert drawn.symmetric_difference(expected).area < EXACT
        assert artists.region.get_facecolor()[:3] == to_rgba(REGION)[:3]

    def test_lines_hold_the_limits_along_their_length(self, cases: Any, scenario: Any) -> None:
        y, scores = cases
        display = RocDisplay.from_predictions(y, scores, scenario)
        (artists,) = display.limits_.values()
        n_pos, n_neg = y.sum(), (~y).sum()
        fpr, tpr = np.array(artists.lines["precision"].get_data())
        assert tpr * n_pos / (tpr * n_pos + fpr * n_neg) == pytest.approx(np.full(2, 0.4))
        fpr, tpr = artists.lines["capacity"].get_data()
        assert fpr * n_neg + tpr * n_pos == pytest.approx(np.full(2, 150.0))
        said = [text.get_text() for text in display.ax_.get_legend().get_texts()]
        assert said[2:] == ["precision ≥ 0.4", "alarms ≤ 30 %", "best at some cost"]

    def test_lines_reach_across_the_square(self, cases: Any, scenario: Any) -> None:
        y, scores = cases
        display = RocDisplay.from_predictions(y, scores, scenario, cost_ratio=0.1)
        (artists,) = display.limits_.values()
        for line in [*artists.lines.values(), *display.iso_lines_.values()]:
            for end in line.get_xydata():
                assert not np.all((end > 0) & (end < 1))

    def test_strict_is_dashed_and_lenient_dotted(self, cases: Any) -> None:
        y, scores = cases
        limits = {
            "strict": voros.Scenario(0.6, 0.1, (0.05, 0.3)),
            "lenient": voros.Scenario(0.3, 0.5, (0.05, 0.3)),
        }
        display = RocDisplay.from_predictions(y, scores, limits)
        styles = {
            name: artists.lines["precision"].get_linestyle()
            for name, artists in display.limits_.items()
        }
        assert styles == {"strict": "--", "lenient": ":"}
        legend = [text.get_text() for text in display.ax_.get_legend().get_texts()]
        assert legend == ["sharp", "blunt", "strict", "lenient", "best at some cost"]

    def test_no_scenario_draws_whole_curves(self, cases: Any) -> None:
        y, scores = cases
        display = RocDisplay.from_predictions(y, scores)
        assert display.limits_ == {}
        assert display.faded_ == {}
        assert display.choices_ == {}
        fpr, tpr = display.curves_["sharp"].get_data()
        assert (fpr[0], tpr[0], fpr[-1], tpr[-1]) == (0, 0, 1, 1)
        assert trapezoid(tpr, fpr) == pytest.approx(_auroc(y, scores["sharp"]))


def _auroc(y: Any, scores: Any) -> float:
    """Chance that a positive outranks a negative, counted over all pairs."""
    gap = scores[y][:, None] - scores[~y][None, :]
    return float((gap > 0).mean() + 0.5 * (gap == 0).mean())


class TestCurves:
    def test_solid_exactly_where_feasible(self, cases: Any, scenario: Any) -> None:
        y, scores = cases
        display = RocDisplay.from_predictions(y, scores, scenario)
        for model, score in scores.items():
            fpr, tpr = display.curves_[model].get_data()
            thresholds = np.unique(score)[::-1]
            tp = np.array([(score[y] >= c).sum() for c in thresholds])
            fp = np.array([(score[~y] >= c).sum() for c in thresholds])
            allowed = (tp >= 0.4 * (tp + fp) - 1e-9) & (tp + fp <= 150)
            assert np.isnan(fpr[1:]).tolist() == (~allowed).tolist()
            assert np.isnan(tpr[1:]).tolist() == (~allowed).tolist()
            assert display.faded_[model].get_alpha() < 0.5
            assert not np.isnan(display.faded_[model].get_xdata()).any()

    def test_chosen_points_are_the_cheapest_feasible_ones(self, cases: Any, scenario: Any) -> None:
        y, scores = cases
        display = RocDisplay.from_predictions(y, scores, scenario)
        (name,) = display.scenarios
        for model, score in scores.items():
            marks = np.transpose(display.choices_[name, model].get_data())
            points = {(round(x, 12), round(t, 12)) for x, t in marks.tolist()}
            assert points >= brute_choices(y, score, scenario)
            # The grid of costs can miss a threshold that is best on a very short interval only.
            assert len(points) <= len(brute_choices(y, score, scenario)) + 1


class TestCosts:
    def test_iso_line_has_one_cost_and_the_cheapest_is_solid(
        self, cases: Any, scenario: Any
    ) -> None:
        y, scores = cases
        display = RocDisplay.from_predictions(y, scores, scenario, cost_ratio=0.1)
        n_pos, n_neg = y.sum(), (~y).sum()
        totals = {}
        for model, line in display.iso_lines_.items():
            fpr, tpr = line.get_data()
            total = 0.1 * n_neg * fpr + n_pos * (1 - tpr)
            assert total[0] == pytest.approx(total[1])
            totals[model] = total[0]
        assert totals["sharp"] < totals["blunt"]
        assert display.iso_lines_["sharp"].get_linestyle() == "-"
        assert display.iso_lines_["blunt"].get_linestyle() == "--"

    @pytest.mark.parametrize("limited", [True, False])
    def test_shaded_area_is_the_normalised_area(
        self, cases: Any, scenario: Any, limited: bool
    ) -> None:
        y, scores = cases
        limits = scenario if limited else None
        display = RocDisplay.from_predictions(
            y, scores, limits, cost_ratio=0.1, dominated_by="blunt"
        )
        shaded = ShapelyPolygon(display.dominated_.get_xy()).area
        used = scenario if limited else voros.Scenario(0.0, 1.0, 0.1)
        result = voros.evaluate(y, scores["blunt"], used)
        assert shaded == pytest.approx(result.normalised_area(0.1) * result.region.area, abs=EXACT)

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"cost_ratio": -1.0}, "cost_ratio holds -1"),
            ({"dominated_by": "sharp"}, "needs a cost_ratio"),
            ({"dominated_by": "nobody", "cost_ratio": 0.1}, "accepted are 'sharp', 'blunt'"),
        ],
    )
    def test_arguments_are_checked(self, cases: Any, options: Any, message: str) -> None:
        y, scores = cases
        with pytest.raises(ValueError, match=message):
            RocDisplay.from_predictions(y, scores, **options)


class TestMaking:
    def test_draws_on_the_axes_given(self, cases: Any, scenario: Any) -> None:
        import matplotlib.pyplot as plt

        y, scores = cases
        _, (left, right) = plt.subplots(1, 2)
        display = RocDisplay.from_predictions(y, scores, scenario, ax=right)
        assert display.ax_ is right
        assert display.plot(left).ax_ is left
        assert len(plt.get_fignums()) == 1

    def test_estimators_and_predictions_agree(self) -> None:
        from sklearn.linear_model import LogisticRegression
        from sklearn.svm import LinearSVC

        rng = np.random.default_rng(0)
        X = rng.normal(size=(200, 2))
        y = np.where(X[:, 0] + rng.normal(size=200) > 0.5, "ill", "well")
        models = {"logistic": LogisticRegression().fit(X, y), "margin": LinearSVC().fit(X, y)}
        drawn = RocDisplay.from_estimator(models, X, y, pos_label="ill")
        scores = {
            "logistic": models["logistic"].predict_proba(X)[:, 0],
            "margin": -models["margin"].decision_function(X),
        }
        expected = RocDisplay.from_predictions(y == "ill", scores)
        for name in models:
            assert np.array_equal(
                drawn.curves_[name].get_xydata(), expected.curves_[name].get_xydata()
            )

    def test_models_of_different_cases_are_refused(self) -> None:
        curves = {
            "a": voros.OperatingPoints.from_points([0.1], [0.5], 100, 900),
            "b": voros.OperatingPoints.from_points([0.1], [0.5], 50, 900),
        }
        with pytest.raises(ValueError, match="different cases"):
            RocDisplay.from_points(curves)

    def test_frame_says_what_is_feasible_and_chosen(self, cases: Any, scenario: Any) -> None:
        pytest.importorskip("pandas")
        y, scores = cases
        table = RocDisplay.from_predictions(y, scores, scenario).frame("pandas")
        chosen = table[table["chosen"]]
        assert set(table["model"]) == {"sharp", "blunt"}
        assert chosen["feasible"].all()
        assert (chosen["precision"].dropna() >= 0.4).all()
        assert (table.loc[table["feasible"], "alarms"] <= 150).all()
        assert len(table) == sum(len(np.unique(s)) + 1 for s in scores.values())
