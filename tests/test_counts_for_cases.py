"""What needs cases refuses counts and queries by name, with the reason and what to do."""

import numpy as np
import pytest

import voros
from voros.engines import BinnedCounts

WARD = voros.Scenario(0.2, 0.4, (0.1, 0.2))
DAILY = voros.Scenario(0.2, 3, (0.1, 0.2), per="day")
N = 40
LABELS = np.arange(N) % 3 == 0
SCORES = np.linspace(0.0, 1.0, N) + 0.3 * LABELS
GROUPS = np.arange(N) % 2
DAYS = np.datetime64("2024-01-01") + np.arange(N) // 8
POLICY = voros.ThresholdPolicy.from_validation(LABELS, SCORES, WARD)


def monitored(_, scores):
    return voros.Monitor(POLICY).update(scores, cases=np.arange(N), times=DAYS)


ON_CASES = {
    "bootstrap": lambda y, s: voros.bootstrap(y, s, WARD),
    "compare": lambda y, s: voros.compare(y, {"a": SCORES, "b": s}, WARD),
    "compare_policies": lambda y, s: voros.compare_policies(
        y, {"a": SCORES, "b": s}, {"a": POLICY, "b": POLICY}
    ),
    "roc_band": voros.inference.roc_band,
    "evaluate": lambda y, s: voros.evaluate(y, s, WARD),
    "partial_voros_score": lambda y, s: voros.partial_voros_score(y, s, WARD),
    "voros_score": lambda y, s: voros.voros_score(y, s, cost_ratio=0.2),
    "net_benefit": lambda y, s: voros.net_benefit(y, s, WARD, threshold_probability=0.2),
    "select_model": lambda y, s: voros.select_model(y, s, WARD, guarantee=voros.Guarantee(0.9)),
    "winner_map": lambda y, s: voros.winner_map(
        y, s, min_precisions=[0.1, 0.2], capacities=[0.1, 0.2], cost_ratio=0.2
    ),
    "from_validation": lambda y, s: voros.ThresholdPolicy.from_validation(y, s, WARD),
    "a guarantee by groups": lambda y, s: voros.ThresholdPolicy.from_validation(
        y, s, WARD, guarantee=voros.Guarantee(0.9), groups=GROUPS
    ),
    "ThresholdPolicy.evaluate": POLICY.evaluate,
    "ThresholdPolicy.predict": lambda _, s: POLICY.predict(s),
    "worklist": lambda y, s: voros.worklist(y, s, DAILY, times=DAYS),
    "allocate": lambda y, s: voros.allocate(y, {"a": SCORES, "b": s}, WARD, capacity=10),
    "Monitor.update": monitored,
    "OperatingPoints.from_scores": voros.OperatingPoints.from_scores,
    "BinnedCounts.from_scores": BinnedCounts.from_scores,
    "SiteCounts.from_scores": lambda y, s: voros.SiteCounts.from_scores(y, s, site="here"),
}
DISPLAYS = (
    *("RocDisplay", "DecisionCurveDisplay", "CalibrationDisplay"),
    *("ThresholdCostDisplay", "AreaCurveDisplay"),
)
NOT_ABOUT_LABELS = ("ThresholdPolicy.predict", "Monitor.update")


def of_counts(kind):
    if kind == "OperatingPoints":
        return voros.OperatingPoints.from_scores(LABELS, SCORES)
    counts = BinnedCounts.from_scores(LABELS, SCORES)
    sites = voros.SiteCounts.from_scores(LABELS, SCORES, site="here", min_rows=1)
    return {"BinnedCounts": counts, "SiteCounts": sites}[kind]


def of_an_engine(engine):
    columns = {"died": LABELS, "risk": SCORES}
    pytest.importorskip(engine)
    if engine == "polars":
        return pytest.importorskip("polars").LazyFrame(columns)
    pandas = pytest.importorskip("pandas").DataFrame(columns)
    return pytest.importorskip("duckdb").connect().from_df(pandas)


def refused(function, not_cases, message):
    with pytest.raises(ValueError, match=message):
        ON_CASES[function](LABELS, not_cases)
    if function not in NOT_ABOUT_LABELS:
        with pytest.raises(ValueError, match=f"y_true (holds operating points; leave|.*{message})"):
            ON_CASES[function](not_cases, SCORES)


@pytest.mark.parametrize("function", ON_CASES)
@pytest.mark.parametrize("kind", ["OperatingPoints", "BinnedCounts", "SiteCounts"])
def test_counts_are_refused_with_the_reason(function, kind):
    refused(function, of_counts(kind), f"{kind}, which holds counts and no cases. .* evaluate, sel")


@pytest.mark.parametrize("function", ON_CASES)
@pytest.mark.parametrize("engine", ["polars", "duckdb"])
def test_queries_are_refused_with_the_way_out(function, engine):
    refused(function, of_an_engine(engine), "query and has no rows yet; .*count_frame")


@pytest.mark.parametrize("name", DISPLAYS)
def test_pictures_refuse_both(name):
    pytest.importorskip("matplotlib")
    display = getattr(voros.plotting, name)
    with pytest.raises(ValueError, match="OperatingPoints, which holds counts and no cases"):
        display.from_predictions(LABELS, of_counts("OperatingPoints"), WARD)
    with pytest.raises(ValueError, match="query and has no rows yet"):
        display.from_predictions(LABELS, of_an_engine("polars"), WARD)


def test_several_models_are_no_scores_of_one():
    with pytest.raises(ValueError, match=r"y_score must be one-dimensional.*it is a dict"):
        voros.evaluate(LABELS, {"a": SCORES}, WARD)
