"""Names are drawn as they stand: no mathematics, nothing hidden, nothing lost, no clash."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import voros

pytest.importorskip("matplotlib")

import matplotlib.pyplot as plt
from matplotlib.text import Text

from voros.plotting import AreaCurveDisplay, RocDisplay, ThresholdCostDisplay, WinnerMapDisplay
from voros.plotting.names import distinct, literal, visible, wrapped

NASTY = (
    r"$\frac{1$",
    "_hidden",
    r"$x$ and \$",
    "two\nlines\tand\x1b[31m",
    "%s {0} #&~^",
    "",
    "\ud800",
)
SCENARIO = voros.Scenario(0.2, 0.4, (1 / 20, 1 / 5))


@pytest.fixture(scope="module")
def cases() -> tuple[Any, dict[str, Any]]:
    rng = np.random.default_rng(5)
    y = rng.random(300) < 0.25
    return y, {name: rng.normal(size=300) + (1 + 0.2 * i) * y for i, name in enumerate(NASTY)}


def written(figure: Any) -> list[str]:
    """What is drawn, character by character: mathematics would have been set otherwise."""
    texts = [text for text in figure.findobj(Text) if text.get_visible()]
    shown = []
    for text in texts:
        drawn, is_math = text._preprocess_math(text.get_text())
        assert is_math is False or "$" in text.get_text()
        shown.append(drawn)
    return shown


def draw(display: str, y: Any, scores: Any) -> Any:
    if display == "map":
        grid = {"min_precisions": [0.2, 0.4, 0.6], "capacities": [0.1, 0.2, 0.4]}
        drawn = WinnerMapDisplay(voros.winner_map(y, scores, **grid, cost_ratio=0.1)).plot()
        won = drawn.winner_map.shares_won()
        return drawn.ax_.figure, [name for name in NASTY if won[name] > 0]
    kind = {"roc": RocDisplay, "area": AreaCurveDisplay}[display]
    return kind.from_predictions(y, scores, SCENARIO).ax_.figure, NASTY


@pytest.mark.parametrize("display", ["roc", "area", "map"])
@pytest.mark.slow
def test_every_name_is_in_the_legend_as_it_stands(display: str, cases: Any, tmp_path: Any) -> None:
    figure, names = draw(display, *cases)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        figure.savefig(tmp_path / "drawn.png")
        figure.savefig(tmp_path / "drawn.svg")
    shown = " | ".join(" ".join(text.split()) for text in written(figure))
    for name in names:
        assert " ".join(visible(name).split()) in shown


@pytest.mark.slow
def test_a_name_above_the_thresholds(cases: Any, tmp_path: Any) -> None:
    y, scores = cases
    for name in NASTY[:2]:
        display = ThresholdCostDisplay.from_predictions(y, {name: scores["_hidden"]}, SCENARIO)
        display.axes_[0].figure.savefig(tmp_path / "drawn.png")
        assert any(text.startswith(f"{name}: ") for text in written(display.axes_[0].figure))
        plt.close("all")


@pytest.mark.parametrize("name", NASTY)
def test_a_line_s_own_label_is_safe_for_a_legend_of_the_user_s(name: str, cases: Any) -> None:
    y, scores = cases
    display = RocDisplay.from_predictions(y, {name: scores["_hidden"]}, SCENARIO)
    if not name.startswith("_") and name.isprintable() and name:
        legend = display.ax_.legend()
        display.ax_.figure.canvas.draw()
        assert any(written(legend))


def test_usetex_escapes_what_latex_would_read() -> None:
    with plt.rc_context({"text.usetex": True}):
        assert literal(r"a_b $5% \x{}") == r"a\_b \$5\% \textbackslash{}x\{\}"
    assert literal("a_b % $5") == r"a_b % \$5"


def test_long_names_keep_both_ends_and_stay_apart() -> None:
    rng = np.random.default_rng(0)
    letters = list("abcdefghij _-")
    for _ in range(300):
        name = "".join(rng.choice(letters, int(rng.integers(1, 200))))
        width, lines = int(rng.integers(3, 40)), int(rng.integers(1, 4))
        shown = wrapped(name, width, lines)
        assert len(shown.splitlines()) <= lines
        assert max(map(len, shown.splitlines())) <= width
        if "…" in shown and width * lines > 6:
            head, tail = shown.replace("\n", "").split("…")
            assert visible(name).startswith(head)
            assert visible(name).endswith(tail)
    names = [f"{'x' * 50}{i}{'y' * 50}" for i in range(12)]
    assert len(set(distinct(names, [wrapped(name, 10, 1) for name in names]))) == 12
