"""The ways to make a picture: what their signatures say, and what they refuse."""

from inspect import Parameter, signature

import pytest

from voros import inference, plotting

DISPLAYS = [getattr(plotting, name) for name in plotting.__all__ if name.endswith("Display")]
MADE_WITH = [
    way
    for display in DISPLAYS
    for name in ("from_points", "from_predictions", "from_estimator")
    if (way := getattr(display, name, None)) is not None
]
RESAMPLED = [getattr(inference, name) for name in inference.__all__ if name[0].islower()]


@pytest.mark.parametrize("way", MADE_WITH + RESAMPLED, ids=lambda way: way.__qualname__)
def test_every_argument_has_a_name(way):
    kinds = {parameter.kind for parameter in signature(way).parameters.values()}
    assert not kinds & {Parameter.VAR_KEYWORD, Parameter.VAR_POSITIONAL}


def test_arguments_of_class_and_plot_are_named():
    named = signature(plotting.RocDisplay.from_predictions).parameters
    assert list(named)[:3] == ["y_true", "scores", "scenario"]
    assert {"ax", "cost_ratio", "zoom", "color", "pos_label"} <= set(named)
    assert named["ax"].kind is Parameter.KEYWORD_ONLY
    assert signature(inference.bootstrap).parameters["n_resamples"].default == 2000
    assert "method" not in signature(inference.roc_band).parameters


def test_an_unknown_argument_is_refused_by_name():
    with pytest.raises(TypeError, match="colour"):
        plotting.RocDisplay.from_predictions([0, 1], [0.1, 0.9], colour="red")
