"""The interactive page: markup, style, script and counts in one HTML file."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from html import escape
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any

from voros.core.alignment import check_aligned
from voros.core.arguments import check_choice, check_count, check_type
from voros.core.cases import check_labels
from voros.core.money import check_price
from voros.core.operating_points import OperatingPoints
from voros.core.periods import read_periods
from voros.core.scenario import Scenario, check_scenario
from voros.core.subgroups import read_subgroups
from voros.exceptions import ArgumentError
from voros.guarantee import Guarantee
from voros.io import write_whole
from voros.io.writing import json_text
from voros.models import ModelCases, points_by_name
from voros.present.document import source_digest
from voros.present.explorer.patient_days import OVER_STAYS
from voros.present.explorer.payload import empty_payload, held_points, page_payload
from voros.present.explorer.period_counts import add_last_rows
from voros.present.explorer.replicates import MOST_RESAMPLES, RESAMPLES, Units, resampled_counts
from voros.present.explorer.subgroup_counts import subgroup_counts
from voros.styles import AXIS_TITLES, DASHES, HUES, REGION, REGION_OPACITY, REGION_OPACITY_ON_DARK
from voros.typing import AnyArray, BoolArray

_MODULES = """
    python_text lang_en lang_de lang typed_numbers voros binomial guarantee curve_limits
    resampling uncertainty csv columns labels counting reading example background setting wording
    marks axes cursor area_chart roc_chart threshold_chart promise people groups periods winners
    winner_map tables net_benefit decision_chart cost_table chart_tables ranking notices fields
    controls sharing saving chart_data keeping_svg slide keeping folding compare filling
    answers guide app loader main
"""
SCRIPTS = tuple(f"{name}.js" for name in _MODULES.split())
"""The script's modules, each before those that import from it."""

LANGUAGES = ("en", "de")
"""Languages of the page."""

LINE_PIXELS = 2.5
"""Width of a model's line, as in the style sheet: dashes are given in widths of the line."""

_IMPORT = re.compile(r"^import\b[^;]*;\n", re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function|const|class)\b)", re.MULTILINE)


def write_page(
    y_true: Any,
    scores: Any = None,
    scenario: Scenario | None = None,
    path: str | Path | None = None,
    *,
    pos_label: Any = None,
    sample_weight: Any = None,
    title: str | None = None,
    outcome: str | None = None,
    cases: str | None = None,
    thin: int | None = None,
    n_resamples: int = RESAMPLES,
    guarantee: Guarantee | None = None,
    groups: Any = None,
    false_alarm_cost: float | None = None,
    by: Any = None,
    periods: Any = None,
    times: Any = None,
    language: str = "en",
    force: bool = False,
) -> Path:
    """Write an interactive page for moving limits and costs, as one HTML file.

    The page needs no server and no network, and computes the scores itself, exactly. It holds
    counts at each threshold, never rows.

    Parameters
    ----------
    y_true : array-like of shape (n_cases,), or mapping of str to OperatingPoints
        Labels: bool, {0, 1}, {-1, 1}, or any two with `pos_label`. Operating points of each model,
        counted on the same cases, take the place of labels and scores; there are no resamples then.
        Over stays (`voros.alarm_points`) the page counts patient-days.
    scores : array-like of shape (n_cases,), mapping of str to such, or data frame
        Scores of one model, or of several by name or column.
    scenario : Scenario
        The setting the page opens with.
    path : path
        Where to write; a file that exists is left alone unless `force`.
    pos_label, sample_weight
        As in `voros.partial_voros_score`.
    title : str, optional
        Heading of the page.
    outcome : str, default "the outcome"
        What an alarm warns of, as in "hospital death within 7 days"; over stays "an event".
    cases : str, default "cases"
        What is counted, in the plural, as in "patients"; over stays "patient-days".
    thin : int, optional
        Keep at most ``thin`` thresholds of each model, for publication; by default 2,000. Where
        thresholds are left out, the page states the largest change this can make to a score, and
        tests no guarantee by itself.
    n_resamples : int, default 200
        Resamples of the cases, with which the page says which models cannot be told apart; 0 for
        none. With `sample_weight` there are none.
    guarantee : Guarantee, optional
        Test which thresholds keep the limits of `scenario` on future cases, whichever model is
        chosen. The page says so beside the threshold while its limits are these. A capacity of
        whole alarms is one per horizon. Without it, the page itself tests the guarantee for the
        population with a confidence of 95 %.
    groups : array-like of shape (n_cases,), optional
        The patient of each case, where patients have several: resamples then draw patients, and
        the page tests no guarantee by itself.
    false_alarm_cost : float, optional
        What a false alarm costs in money, which the page opens with; its reader can change it.
    by : array-like of shape (n_cases,), mapping, data frame or Subgroups, optional
        Subgroups to report on, such as sexes. The page holds their counts at thresholds with at
        least 10 cases between any two, and small subgroups are pooled.
    periods, times : array-like of shape (n_cases,), optional
        With a capacity per period: the period of each case, or the time that it falls in. The page
        holds, for each capacity, the thresholds at which one period more exceeds it, on the cases
        and in resamples of the periods.
    language : {"en", "de"}, default "en"
        The language that the page opens in; its reader can change it.
    force : bool, default False
        Overwrite a file that exists.

    Returns
    -------
    Path
        The file written.

    Examples
    --------
    >>> import tempfile, voros
    >>> scenario = voros.Scenario(0.5, 0.5, cost_ratio=voros.costs.miss_costs(5, 10))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page = write_page([1, 0, 1, 0], [0.9, 0.8, 0.7, 0.1], scenario, f"{folder}/page.html")
    ...     page.name
    'page.html'

    A published curve:

    >>> curve = voros.OperatingPoints.from_points([0.1, 0.4], [0.6, 0.9], 50, 450)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_page(curve, scenario=scenario, path=f"{folder}/page.html").name
    'page.html'
    """
    scenario = check_scenario(scenario)
    how = {"pos_label": pos_label, "sample_weight": sample_weight, "groups": groups}
    per_case = {"by": by, "periods": periods, "times": times}
    points = points_by_name(y_true, scores=scores, **how, **per_case)
    counts: dict[str, Any] = {}
    if points is None:
        check_aligned(y_true=y_true, scores=scores, **{**how, "pos_label": None}, **per_case)
        models = ModelCases.read(y_true, scores)
        in_periods = read_periods(scenario, models.y_true, periods, times)
        if sample_weight is not None:
            _refuse_weights(per=in_periods, by=by)
        points = dict(models.counted(**how, periods=in_periods))
        _check_resamples(n_resamples)
        if sample_weight is None:
            positive = check_labels(models.y_true, pos_label)
            counts = _count(positive, models.scores, points, scenario, thin, n_resamples, by)
    if path is None:
        raise ArgumentError("path", " is required: where to write the page")
    page = render_page(
        points,
        scenario,
        title=title,
        outcome=outcome,
        cases=cases,
        thin=thin,
        **counts,
        guarantee=guarantee,
        false_alarm_cost=false_alarm_cost,
        language=language,
    )
    return write_whole(path, page, force=force)


def _refuse_weights(**arguments: Any) -> None:
    for argument, value in arguments.items():
        if value is not None:
            raise ArgumentError(
                argument, " cannot be combined with sample_weight: a page then counts whole cases"
            )


def _check_resamples(n_resamples: int) -> None:
    if n_resamples != 0:
        accepted = f"0 for none, or 100 to {MOST_RESAMPLES:,}"
        check_count(n_resamples, "n_resamples", accepted, 100, MOST_RESAMPLES)


def _count(
    positive: BoolArray,
    scores: Mapping[str, AnyArray],
    points: Mapping[str, OperatingPoints],
    scenario: Scenario,
    thin: int | None,
    n_resamples: int,
    by: Any,
) -> dict[str, Any]:
    """Count resamples and subgroups of the cases: arguments of `render_page`."""
    counts, held = {}, held_points(points, thin)
    if n_resamples:
        first = next(iter(points.values()))
        replicates = resampled_counts(positive, scores, held, n_resamples, Units.from_points(first))
        if first.by_period is not None:
            add_last_rows(replicates, points, held, scenario)
        counts["replicates"] = replicates
    if by is not None:
        subgroups = read_subgroups(by, len(positive))
        counts["by"] = subgroup_counts(positive, scores, held, subgroups)
    return counts


def render_page(
    points_by_model: Mapping[str, OperatingPoints] | None,
    scenario: Scenario,
    *,
    title: str | None = None,
    outcome: str | None = None,
    cases: str | None = None,
    thin: int | None = None,
    replicates: Mapping[str, Any] | None = None,
    by: Mapping[str, Any] | None = None,
    guarantee: Guarantee | None = None,
    false_alarm_cost: float | None = None,
    language: str = "en",
) -> str:
    """Return the page as text; parameters are those of `write_page`.

    ``replicates`` are counts in resamples, from `resampled_counts`; ``by`` those of subgroups, from
    `subgroup_counts`. Without points the page reads its reader's own file in the browser.

    Returns
    -------
    str
        HTML.

    Examples
    --------
    >>> import voros
    >>> scenario = voros.Scenario(0.5, 0.5, cost_ratio=voros.costs.miss_costs(5, 10))
    >>> points = {"risk": voros.OperatingPoints.from_scores([1, 0, 1, 0], [0.9, 0.8, 0.7, 0.1])}
    >>> page = render_page(points, scenario, title="Which patients?", cases="patients")
    >>> page.startswith("<!doctype html>"), "Which patients?" in page
    (True, True)
    >>> '"models":[]' in render_page(None, scenario)
    True
    """
    usual = {"outcome": "the outcome", "cases": "cases"}
    if points_by_model is None:
        payload = empty_payload(scenario)
    else:
        payload = page_payload(points_by_model, scenario, thin, guarantee)
        if "stays" in payload:
            usual = OVER_STAYS
    payload["replicates"] = replicates
    if by is not None:
        payload["groups"] = by
    if false_alarm_cost is not None:
        payload["setting"]["price"] = check_price(false_alarm_cost)
    check_choice(language, "language", LANGUAGES)
    words = {
        "outcome": usual["outcome"] if outcome is None else outcome,
        "cases": usual["cases"] if cases is None else cases,
    }
    for name, said in {"title": "" if title is None else title, **words}.items():
        check_type(said, name, str, "a str")
    style, script = _asset("style.css") + _colours(), _bundle()
    styles = {"hues": len(HUES), "dashes": [_dash(lengths) for lengths in DASHES]}
    held = {**payload, "title": title, "words": words, "titles": AXIS_TITLES, "styles": styles}
    return Template(_asset("index.html")).substitute(
        language=language,
        title=escape(title or f"Which model, at which threshold, for {words['outcome']}?"),
        style=style,
        style_digest=source_digest(style),
        script=script,
        script_digest=source_digest(script),
        payload=_json_for_html(held),
    )


def _dash(lengths: Sequence[float]) -> str:
    """Return dashes in pixels, as SVG writes them."""
    return " ".join(f"{LINE_PIXELS * length:g}" for length in lengths)


def _colours() -> str:
    """Return colours of region and models, on light and on dark ground, as a style sheet."""
    light = [f":root {{ --region: {REGION}; --region-opacity: {REGION_OPACITY}; }}"]
    light += [_rule(i, line, fill) for i, (line, _, fill) in enumerate(HUES)]
    dark = [f":root {{ --region-opacity: {REGION_OPACITY_ON_DARK}; }}"]
    dark += [_rule(i, on_dark, on_dark) for i, (_, on_dark, _) in enumerate(HUES)]
    return "\n".join([*light, "@media screen and (prefers-color-scheme: dark) {", *dark, "}", ""])


def _rule(position: int, line: str, fill: str) -> str:
    return f".model-{position} {{ --mark: {line}; --fill: {fill}; }}"


def _asset(name: str) -> str:
    return files("voros.present.explorer").joinpath("assets", name).read_text(encoding="utf-8")


def _bundle() -> str:
    """Join the modules into one script: inside one scope they need no imports or exports.

    A page opened from a file may not load modules from other files, and inline scripts cannot
    import each other.
    """
    modules = (_EXPORT.sub("", _IMPORT.sub("", _asset(name))) for name in SCRIPTS)
    return "\n" + "\n".join(modules)


def _json_for_html(payload: Mapping[str, Any]) -> str:
    """Write JSON that cannot end its script element, whatever names models have."""
    text = json_text(payload, indent=None).rstrip()
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
