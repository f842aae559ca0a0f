"""Every public argument with one value per case is refused where its pandas index is misaligned."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from functools import cache, partial
from importlib import import_module
from typing import Any

import numpy as np
import pytest

import voros
from voros.core.alignment import check_aligned

pd = pytest.importorskip("pandas")

PACKAGES = (
    "voros",
    "voros.allocation",
    "voros.engines",
    "voros.estimators",
    "voros.guarantee",
    "voros.inference",
    "voros.monitoring",
    "voros.plotting",
    "voros.policy",
    "voros.present.explorer",
    "voros.present.report",
)

COLUMNS = {
    "X": ["score", "other"],
    "y": "y",
    "y_true": "y",
    "y_test": "y",
    "y_score": "score",
    "scores": ["score", "other"],
    "scores_test": ["score", "other"],
    "sample_weight": "other",
    "groups": "sex",
    "groups_test": "sex",
    "by": "sex",
    "times": "time",
    "times_test": "time",
    "periods": "sex",
    "periods_test": "sex",
    "cases": "other",
}
"""Names of arguments with one value per case, and a column of the data for each."""

TIMED = ("periods", "times")

READ_BEFORE = {
    "voros.ThresholdPolicy.evaluate_stays": "takes one value per row of a stay; see below",
    "voros.policy.SubgroupEvaluation.from_cases": "takes cases that were read before",
    "voros.OperatingPoints.from_cases": "takes cases that were read before",
    "voros.present.explorer.render_page": "takes counts, and a word for the cases",
}
"""Functions that have two arguments of these names, and read no cases from either."""

NOT_READ = {
    ("voros.present.explorer.write_page", "cases"),
    ("voros.write_page", "cases"),
    *(("voros.inference.roc_band", name) for name in TIMED),
}
"""Arguments of these names that mean something else, or are refused whatever they are."""

WARD = voros.Scenario(min_precision=0.3, capacity=0.5, cost_ratio=0.1)


@cache
def data() -> Any:
    rng = np.random.default_rng(3)
    y = rng.random(60) < 0.4
    columns = {
        "y": y.astype(int),
        "score": 2.0 * y + rng.normal(size=60),
        "other": 1.0 + rng.random(60),
        "sex": np.where(rng.random(60) < 0.5, "f", "m"),
        "time": pd.date_range("2024-01-01", periods=60),
    }
    return pd.DataFrame(columns)


@cache
def policy() -> voros.ThresholdPolicy:
    return voros.ThresholdPolicy.from_validation(data().y, data().score, WARD)


@cache
def joint() -> voros.JointPolicy:
    own = voros.Scenario(cost_ratio=0.1)
    return voros.allocate(data().y, data().score, own, capacity=0.3, by=data().sex)


@cache
def worklist() -> voros.policy.Worklist:
    daily = voros.Scenario(capacity=1, per="day", cost_ratio=0.1)
    return voros.worklist(data().y, data().score, daily, times=data().time)


def estimator() -> Any:
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression()


OBJECTS: dict[str, Callable[[], Any]] = {
    "ThresholdPolicy": policy,
    "JointPolicy": joint,
    "Worklist": worklist,
    "ReviewBand": lambda: voros.policy.review_band(
        data().y, data().score, WARD, review_capacity=0.3, review_cost=0.01
    ),
    "Monitor": lambda: voros.Monitor(policy()),
    "ConstrainedThresholdClassifier": lambda: voros.ConstrainedThresholdClassifier(
        estimator(), WARD
    ),
}
"""What methods are called on; class methods need nothing."""

OTHERS: dict[str, Callable[[], Any]] = {
    "scenario": lambda: WARD,
    "capacity": lambda: 0.3,
    "cost_ratio": lambda: 0.1,
    "min_precisions": lambda: [0.2, 0.3],
    "capacities": lambda: [0.3, 0.5],
    "threshold_probability": lambda: 0.2,
    "metric": lambda: "partial_voros",
    "policies": lambda: {"score": policy(), "other": policy()},
    "policy": policy,
    "estimator": lambda: estimator().fit(data()[["score", "other"]], data().y),
    "path": lambda: "never-written.html",
    "site": lambda: "A",
    "review_capacity": lambda: 0.3,
    "review_cost": lambda: 0.01,
}
"""Values of the other arguments that have no default."""


def public_functions() -> Iterator[tuple[str, Any]]:
    """Yield every public function and method once, by name."""
    seen = set()
    for package in PACKAGES:
        module = import_module(package)
        for name in module.__all__:
            member = getattr(module, name)
            for path, function in functions_of(f"{package}.{name}", member):
                if inspect.unwrap(function) not in seen:
                    seen.add(inspect.unwrap(function))
                    yield path, function


def functions_of(path: str, member: Any) -> Iterator[tuple[str, Any]]:
    if inspect.isfunction(member):
        yield path, member
    elif inspect.isclass(member) and member.__module__.startswith("voros"):
        for name in dir(member):
            method = inspect.getattr_static(member, name)
            method = getattr(method, "__func__", method)
            if name.startswith("_") or not inspect.isfunction(method):
                continue
            if method.__module__.startswith("voros"):
                yield f"{path}.{name}", method


def per_case(path: str, function: Any) -> list[str]:
    names = [name for name in inspect.signature(function).parameters if name in COLUMNS]
    if path.endswith("Classifier.fit"):
        names += ["sample_weight", "groups", *TIMED]
    return [name for name in names if (path, name) not in NOT_READ]


CALLS = [
    (path, function, name)
    for path, function in public_functions()
    if path not in READ_BEFORE and len(per_case(path, function)) > 1
    for name in per_case(path, function)
]


def test_the_walk_finds_the_functions() -> None:
    paths = {path for path, _, _ in CALLS}
    assert len(paths) > 30
    assert {"voros.allocate", "voros.Monitor.update", "voros.JointPolicy.predict"} <= paths
    assert READ_BEFORE.keys() <= {path for path, _ in public_functions()}


def test_arguments_documented_as_one_value_per_case_have_known_names() -> None:
    documented = re.compile(r"^ +([\w, ]+) : [^\n]*of shape \(n_(?:cases|labels)[,)]", re.MULTILINE)
    for path, function in public_functions():
        for names in documented.findall(inspect.getdoc(function) or ""):
            assert set(names.split(", ")) <= COLUMNS.keys(), path


def bound(path: str, function: Any) -> Any:
    owner, name = path.split(".")[-2:]
    if owner in OBJECTS and "from_" not in name:
        return getattr(OBJECTS[owner](), name)
    home = import_module(path.rsplit(".", 2)[0]) if owner[0].isupper() else None
    return function if home is None else getattr(getattr(home, owner), name)


def needed(function: Any, names: list[str], name: str) -> set[str]:
    """Return what a function must be given besides an argument under test."""
    parameters = inspect.signature(function).parameters
    open_ended = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    required = {
        parameter.name
        for parameter in parameters.values()
        if parameter.default is inspect.Parameter.empty and parameter.kind not in open_ended
    }
    if {"scenario", "arguments"} & parameters.keys() and "min_precisions" not in parameters:
        required.add("scenario")
    if name == "by" or name.endswith("_test"):
        required |= {"y_test", "scores_test"} & parameters.keys()
    if "y_true" in required:
        # Optional where operating points take their place.
        required |= {"scores", "y_score"} & parameters.keys()
    alone = not (required & set(names) - {name})
    return required | (set(names[:2]) if alone else set())


@pytest.mark.parametrize(
    ("path", "function", "name"), CALLS, ids=[f"{path}-{name}" for path, _, name in CALLS]
)
def test_misaligned_arguments_are_refused(path: str, function: Any, name: str) -> None:
    call = bound(path, function)
    arguments = {
        argument: data()[COLUMNS[argument]] if argument in COLUMNS else OTHERS[argument]()
        for argument in needed(call, per_case(path, function), name)
    }
    arguments[name] = data()[COLUMNS[name]].iloc[::-1]
    with pytest.raises(ValueError, match="have the same index in different orders"):
        call(**arguments)
    arguments[name] = data()[COLUMNS[name]].set_axis(range(7, 67))
    with pytest.raises(ValueError, match="different indexes with 53 of 60 labels in common"):
        call(**arguments)


def test_columns_of_a_mapping_are_compared_too() -> None:
    frame = data()
    turned = {"a": frame.score, "b": frame.other.iloc[::-1]}
    with pytest.raises(ValueError, match=r"y_true and scores\['b'\] have the same index"):
        voros.select_model(frame.y, turned, WARD)
    with pytest.raises(ValueError, match=r"by\['a'\] and by\['b'\] have the same index"):
        voros.Subgroups.from_columns(turned)


def test_groups_and_periods_that_were_read_before_know_their_index() -> None:
    frame = data()
    turned = frame.sex.iloc[::-1]
    with pytest.raises(ValueError, match="y_true and by have the same index"):
        policy().evaluate(frame.y, frame.score, by=voros.Subgroups.from_columns({"sex": turned}))
    listed = voros.Scenario(capacity=9, per="sex", cost_ratio=0.1)
    with pytest.raises(ValueError, match="y_true and periods have the same index"):
        voros.evaluate(frame.y, frame.score, listed, periods=voros.Periods.from_column(turned))


def test_two_arguments_are_compared_where_the_labels_have_no_index() -> None:
    frame = data()
    with pytest.raises(ValueError, match="y_score and by have the same index"):
        policy().evaluate(frame.y.to_numpy(), frame.score, by=frame.sex.iloc[::-1])


def test_indexes_that_say_nothing_are_accepted() -> None:
    first = pd.Series([1, 2, 3], index=[("a", 1), ("a", 2), ("b", 1)])
    check_aligned(y_true=first, by=pd.Series([4, 5, 6]), groups=[1, 2, 3], times=None)
    levels = pd.MultiIndex.from_tuples([("a", 1), ("a", 2), ("b", 1)])
    check_aligned(y_true=pd.Series([1, 2, 3], index=levels), by=pd.Series([4, 5, 6]))
    twice = pd.Series([1, 2, 3], index=[5, 5, 6])
    check_aligned(y_true=twice, by=twice + 1)
    check_aligned(y_true=twice, by=pd.Series([4, 5, 6], index=[1, 2, 3]))
    with pytest.raises(ValueError, match="different indexes with 1 of 3 labels"):
        check_aligned(y_true=twice, by=pd.Series([4, 5, 6], index=[6, 7, 8]))


STAYS = pd.DataFrame(
    {
        "stay": [1, 1, 2, 3],
        "time": [0, 5, 0, 0],
        "score": [0.2, 0.9, 0.4, 0.6],
        "groups": [1, 1, 2, 3],
        "by": list("ffmm"),
    }
)
EVENTS = {"stay": [1], "time": [8]}


@pytest.mark.parametrize(
    ("method", "name"),
    [
        *(("alarm_points", name) for name in ("stay", "time", "score", "groups")),
        *(("evaluate_stays", name) for name in ("stay", "time", "score", "groups", "by")),
        *(("alarms", name) for name in ("stay", "time", "score")),
    ],
)
def test_misaligned_rows_of_stays_are_refused(method: str, name: str) -> None:
    rule = voros.AlarmRule(snooze="4h", horizon="6h")
    columns = {key: STAYS[key] for key in ("stay", "time", "score")}
    points = voros.alarm_points(**columns, events=EVENTS, rule=rule)
    rate = voros.Scenario(0.5, 4.0, cost_ratio=0.1, per="patient-day")
    deployed = voros.ThresholdPolicy.from_points(points, rate)
    calls = {
        "alarm_points": partial(voros.alarm_points, events=EVENTS, rule=rule),
        "evaluate_stays": partial(deployed.evaluate_stays, events=EVENTS),
        "alarms": deployed.alarms,
    }
    calls[method](**columns)
    with pytest.raises(ValueError, match="have the same index in different orders"):
        calls[method](**columns | {name: STAYS[name].iloc[::-1]})
