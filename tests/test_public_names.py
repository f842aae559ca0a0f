"""Public names are loaded when they are used, and nothing stands in their way."""

import inspect
import pkgutil
import subprocess
import sys

import pytest

import voros

RESULTS = {
    "voros.blending": "Blend",
    "voros.core.geometry": "Region",
    "voros.core.hull": "Choice",
    "voros.core.money": "MoneyCost",
    "voros.decision_curves": "DecisionCurve",
    "voros.evaluation": "Evaluation",
    "voros.inference": "Bootstrap Comparison",
    "voros.policy": "SubgroupEvaluation SubgroupResult Origin PeriodEvaluation PolicyEvaluation "
    "Violation Worklist WorklistEvaluation",
    "voros.selection": "ModelScores Selection",
    "voros.winners": "WinnerMap",
}
"""Classes of results, and where they are imported from."""


def test_every_public_name_is_found():
    for name in voros.__all__:
        assert getattr(voros, name) is not None
    assert {"write_page", "write_report"} < set(voros.__all__)
    assert len(voros.__all__) < 38


def test_dir_shows_public_names_and_packages_only():
    shown = {name for name in dir(voros) if not name.startswith("__")}
    packages = shown - set(voros.__all__)
    assert set(voros.__all__) <= shown
    for name in packages:
        assert inspect.ismodule(getattr(voros, name))
    assert packages.isdisjoint({"HOMES", "Any", "import_module", "core", "cli", "text", "devices"})


def test_results_are_imported_from_their_packages():
    for home, names in RESULTS.items():
        for name in names.split():
            assert getattr(pkgutil.resolve_name(home), name).__name__ == name
            assert not hasattr(voros, name)


Y = [0, 1, 0, 1, 1, 0, 0, 0]
SCORES = {
    "a": [0.1, 0.9, 0.8, 0.7, 0.5, 0.4, 0.3, 0.2],
    "b": [0.4, 0.6, 0.8, 0.7, 0.5, 0.1, 0.3, 0.2],
}
POINTS = {name: voros.OperatingPoints.from_scores(Y, scores) for name, scores in SCORES.items()}
WARD = voros.Scenario(min_precision=0.4, capacity=0.5, cost_ratio=(0.1, 0.2))
GRID = {"min_precisions": [0.2, 0.4], "capacities": [0.3, 0.5], "cost_ratio": 0.1}


def test_points_take_the_place_of_cases():
    y, scores, both = Y, SCORES["a"], SCORES
    points, policy = POINTS["a"], voros.ThresholdPolicy.from_validation(y, scores, WARD)
    priced = {"threshold_probability": [0.1, 0.3]}
    pairs = [
        (
            voros.partial_voros_score(points, scenario=WARD),
            voros.partial_voros_score(y, scores, WARD),
        ),
        (voros.voros_score(points, cost_ratio=0.1), voros.voros_score(y, scores, cost_ratio=0.1)),
        (voros.evaluate(points, scenario=WARD).score, voros.evaluate(y, scores, WARD).score),
        (
            voros.net_benefit(points, **priced).tolist(),
            voros.net_benefit(y, scores, **priced).tolist(),
        ),
        (policy.evaluate(points).expected_cost, policy.evaluate(y, scores).expected_cost),
        (voros.select_model(POINTS, scenario=WARD), voros.select_model(y, both, WARD)),
        (voros.winner_map(POINTS, **GRID).columns(), voros.winner_map(y, both, **GRID).columns()),
    ]
    for of_points, of_cases in pairs:
        assert repr(of_points) == repr(of_cases)


@pytest.mark.parametrize("name", ["scores", "pos_label", "sample_weight", "groups", "periods"])
def test_points_leave_no_room_for_what_describes_cases(name):
    with pytest.raises(ValueError, match=f"{name} describes cases, but y_true holds operating"):
        voros.select_model(POINTS, scenario=WARD, **{name: [1] * 8})


def test_labels_without_scores_are_refused_by_name():
    with pytest.raises(ValueError, match="y_score"):
        voros.evaluate([0, 1], scenario=WARD)
    with pytest.raises(ValueError, match="scores are of type NoneType"):
        voros.select_model([0, 1], scenario=WARD)


def test_no_public_name_is_that_of_a_module():
    # Importing a module sets its name on the package, where it would hide the public one.
    modules = {module.name for module in pkgutil.iter_modules(voros.__path__)}
    assert modules & set(voros.__all__) == set()


def test_importing_alone_loads_nothing_heavy():
    code = "import sys, voros, voros.cli; print({'numpy', 'scipy', 'typer'} & set(sys.modules))"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout == "set()\n"


def test_signatures_name_every_argument():
    functions = [getattr(voros, name) for name in voros.__all__]
    functions += [getattr(voros.inference, name) for name in voros.inference.__all__]
    for function in filter(inspect.isfunction, functions):
        kinds = {parameter.kind for parameter in inspect.signature(function).parameters.values()}
        assert kinds <= {inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY}
    shown = inspect.signature(voros.bootstrap).parameters
    named = ("n_resamples", "confidence_level", "method", "groups", "random_state")
    defaults = [shown[name].default for name in named]
    assert defaults == [2000, 0.95, "auto", None, None]
    assert "method" not in inspect.signature(voros.inference.roc_band).parameters
