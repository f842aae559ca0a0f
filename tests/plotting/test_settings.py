"""matplotlib's settings, `color` and `name` are honoured or refused, in every picture."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import voros
from voros import plotting

pytest.importorskip("matplotlib")

import matplotlib as mpl
import matplotlib.pyplot as plt
from matplotlib.colors import to_rgb
from matplotlib.text import Text

from voros.styles import HUES

LINES, LINES_ON_DARK, FILLS = zip(*HUES, strict=True)
SCENARIO = voros.Scenario(0.3, 0.2, (1 / 20, 1 / 5))
GRID = {"min_precisions": [0.2, 0.5, 0.8], "capacities": [0.1, 0.2, 0.4], "cost_ratio": 0.1}


@pytest.fixture(scope="module")
def cases() -> tuple[Any, dict[str, Any]]:
    rng = np.random.default_rng(1)
    y = rng.random(400) < 0.2
    return y, {name: rng.normal(size=400) + (1 + i) * y for i, name in enumerate("abc")}


def luminance(color: Any) -> float:
    coded = np.array(to_rgb(color))
    linear = np.where(coded <= 0.04045, coded / 12.92, ((coded + 0.055) / 1.055) ** 2.4)
    return float(linear @ (0.2126, 0.7152, 0.0722))


def contrast(one: Any, other: Any) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def draw_all(y: Any, scores: Any) -> dict[str, Any]:
    one = scores["a"]
    threshold = plotting.ThresholdCostDisplay.from_predictions(y, one, SCENARIO)
    winners = voros.winner_map(y, scores, **GRID)
    return {
        "roc": plotting.RocDisplay.from_predictions(y, scores, SCENARIO, cost_ratio=0.1).ax_.figure,
        "area": plotting.AreaCurveDisplay.from_predictions(y, scores, SCENARIO).ax_.figure,
        "map": plotting.WinnerMapDisplay(winners).plot().ax_.figure,
        "threshold": threshold.axes_[0].figure,
    }


@pytest.mark.parametrize("style", ["dark_background", {"axes.facecolor": "#101820"}])
def test_on_a_dark_ground_every_line_and_word_stands_out(style: Any, cases: Any) -> None:
    with plt.style.context(style):
        for name, figure in draw_all(*cases).items():
            for ax in figure.axes:
                ground = ax.get_facecolor()
                if luminance(ground) > 0.2:
                    continue
                for line in ax.lines:
                    assert contrast(line.get_color(), ground) > 3, name
                for text in ax.findobj(Text):
                    inside = text in ax.texts and not text.get_path_effects()
                    if inside and text.get_text().strip():
                        assert contrast(text.get_color(), ground) > 4.5, (name, text.get_text())


@pytest.mark.slow
def test_a_dark_ground_brings_the_lighter_colours(cases: Any) -> None:
    y, scores = cases
    display = plotting.RocDisplay.from_predictions(y, scores)
    assert [line.get_color() for line in display.curves_.values()] == list(LINES[:3])
    with plt.rc_context({"axes.facecolor": "black"}):
        dark = plotting.RocDisplay.from_predictions(y, scores)
    assert [line.get_color() for line in dark.curves_.values()] == list(LINES_ON_DARK[:3])


def test_sizes_follow_the_settings(cases: Any) -> None:
    y, scores = cases
    plain = plotting.RocDisplay.from_predictions(y, scores)
    with plt.rc_context({"font.size": 15, "lines.linewidth": 3, "figure.figsize": (9, 4)}):
        large = plotting.RocDisplay.from_predictions(y, scores)
    assert large.ax_.figure.get_size_inches()[0] == 9
    by_width = (7 + 0.75 * (9 - 3.3)) / (7 + 0.75 * (6.4 - 3.3))
    ratio = large.ax_.xaxis.label.get_fontsize() / plain.ax_.xaxis.label.get_fontsize()
    assert ratio == pytest.approx(1.5 * by_width)
    widths = [display.curves_["a"].get_linewidth() for display in (plain, large)]
    assert widths[1] / widths[0] == pytest.approx(2 * by_width)
    assert mpl.rcParams["figure.figsize"] == mpl.rcParamsDefault["figure.figsize"]


def test_colours_are_given_to_one_to_each_or_by_name(cases: Any) -> None:
    y, scores = cases
    alone = plotting.RocDisplay.from_predictions(y, scores["a"], SCENARIO, color="crimson")
    assert alone.curves_["model"].get_color() == "crimson"
    listed = plotting.AreaCurveDisplay.from_predictions(y, scores, SCENARIO, color=["r", "g", "b"])
    assert [line.get_color() for line in listed.curves_.values()] == ["r", "g", "b"]
    winners = voros.winner_map(y, scores, **GRID)
    named = plotting.WinnerMapDisplay(winners).plot(color={"b": "gold"})
    assert [style.fill for style in named.styles_.values()] == [FILLS[0], "gold", FILLS[2]]
    lines = plotting.ThresholdCostDisplay.from_predictions(
        y, scores["a"], SCENARIO, color="k"
    ).lines_
    assert {line.get_color() for line in lines.values()} == {"k"}


@pytest.mark.parametrize(
    ("color", "message"),
    [
        ("red", "color='red' and 3 models"),
        (["red"], "3 models"),
        ({"d": "red"}, "color names 'd', which is not one of a, b, c"),
        ({"a": "reddish"}, "color='reddish' is not a colour"),
        (["r", "g", "nope"], "color='nope'"),
        (5, "color=5"),
    ],
)
def test_colours_that_cannot_be_meant_are_refused(color: Any, message: str, cases: Any) -> None:
    y, scores = cases
    with pytest.raises(ValueError, match=message):
        plotting.RocDisplay.from_predictions(y, scores, color=color)


@pytest.mark.parametrize("kind", [plotting.RocDisplay, plotting.AreaCurveDisplay])
def test_a_single_model_in_a_mapping_is_named(kind: Any, cases: Any) -> None:
    y, scores = cases
    display = kind.from_predictions(y, {"ours": scores["a"]}, SCENARIO)
    assert list(display.points) == ["ours"]
    (legend,) = filter(None, (ax.get_legend() for ax in display.ax_.figure.axes))
    assert legend.get_texts()[0].get_text().startswith("ours")


class TestZoom:
    def test_shows_the_regions_and_little_more(self, cases: Any) -> None:
        y, scores = cases
        strict = voros.Scenario(0.5, 0.05, 0.1)
        for scenario in (SCENARIO, {"strict": strict, "ward": SCENARIO}, strict):
            display = plotting.RocDisplay.from_predictions(y, scores, scenario, zoom=True)
            corners = np.vstack([limit.region.get_xy() for limit in display.limits_.values()])
            for axis, limits in enumerate((display.ax_.get_xlim(), display.ax_.get_ylim())):
                most = corners[:, axis].max()
                assert min(most, 1) <= limits[1] <= max(1.12 * most, 0.0113) + 1e-12
                assert limits[0] <= 0

    def test_without_limits_there_is_nothing_to_zoom_to(self, cases: Any) -> None:
        y, scores = cases
        with pytest.raises(ValueError, match="zoom=True needs a scenario"):
            plotting.RocDisplay.from_predictions(y, scores, zoom=True)


@pytest.mark.slow
def test_twenty_models_are_told_apart_on_a_map() -> None:
    rng = np.random.default_rng(2)
    y = rng.random(1500) < 0.2
    noise = rng.normal(size=(20, 1500))
    scores = {
        f"model {i}": noise[i] + (1.5 + 0.5 * rng.random()) * y * (rng.random(1500) < 0.6)
        for i in range(20)
    }
    winners = voros.winner_map(
        y,
        scores,
        min_precisions=np.linspace(0.2, 0.9, 25),
        capacities=np.geomspace(0.01, 0.5, 25),
        cost_ratio=(1 / 20, 1 / 5),
    )
    display = plotting.WinnerMapDisplay(winners).plot()
    won = {name for name, share in display.winner_map.shares_won().items() if share > 0}
    assert len(won) > 3
    named = {text.get_text().replace("\n", " ") for text in display.names_}
    assert {name for name in won if name in named or name in display.letters_} == won
    legend = display.ax_.get_legend()
    keys = [text.get_text() for text in legend.get_texts()]
    for name, letter in display.letters_.items():
        assert any(key.startswith(f"{letter.get_text()}: {name} (") for key in keys)
    assert len(keys) == len(won) + 1
