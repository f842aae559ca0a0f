"""One HTML file that computes by itself: markup, style, script and counts in one."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Mapping
from html import escape
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any

from voros.explorer.payload import page_payload
from voros.files import write_whole
from voros.roc import OperatingPoints
from voros.scenario import Scenario

SCRIPTS = (
    "voros.js",
    "setting.js",
    "wording.js",
    "marks.js",
    "axes.js",
    "roc_chart.js",
    "area_chart.js",
    "threshold_chart.js",
    "people.js",
    "winners.js",
    "winner_map.js",
    "ranking.js",
    "notices.js",
    "fields.js",
    "controls.js",
    "sharing.js",
    "app.js",
)
"""The script's modules, each before those that import from it."""

_IMPORT = re.compile(r"^import\b[^;]*;\n", re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function|const|class)\b)", re.MULTILINE)


def write_page(
    points_by_model: Mapping[str, Any],
    scenario: Scenario,
    path: str | Path,
    *,
    y_true: Any = None,
    title: str | None = None,
    outcome: str = "the outcome",
    cases: str = "cases",
    thin: int | None = None,
    force: bool = False,
) -> Path:
    """Write a page on which limits and costs can be moved, as one HTML file.

    The page needs no server and no network, and computes the scores itself, exactly. It holds
    counts at each threshold, never rows.

    Parameters
    ----------
    points_by_model : mapping of str to OperatingPoints, or to scores
        The models by name, all counted on the same cases. Scores need `y_true`.
    scenario : Scenario
        The setting the page opens with.
    path : path
        Where to write; a file that exists is left alone unless `force`.
    y_true : array-like, optional
        Labels, where scores are given: bool, {0, 1} or {-1, 1}.
    title : str, optional
        Heading of the page.
    outcome : str, default "the outcome"
        What an alarm warns of, as in "hospital death within 7 days".
    cases : str, default "cases"
        What is counted, in the plural, as in "patients".
    thin : int, optional
        For publication: keep at most so many thresholds of each model. The page states the
        largest change this can make to a score.
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
    ...     page = write_page(
    ...         {"model": [0.9, 0.8, 0.7, 0.1]},
    ...         scenario,
    ...         f"{folder}/page.html",
    ...         y_true=[1, 0, 1, 0],
    ...     )
    ...     page.name
    'page.html'
    """
    points = _as_points(points_by_model, y_true)
    html = render_page(points, scenario, title=title, outcome=outcome, cases=cases, thin=thin)
    return write_whole(path, html, force=force)


def render_page(
    points_by_model: Mapping[str, OperatingPoints],
    scenario: Scenario,
    *,
    title: str | None = None,
    outcome: str = "the outcome",
    cases: str = "cases",
    thin: int | None = None,
) -> str:
    """Return the page as text; parameters are those of `write_page`."""
    payload = page_payload(points_by_model, scenario, thin)
    payload["words"] = {"outcome": outcome, "cases": cases}
    style, script = _asset("style.css"), _bundle()
    return Template(_asset("index.html")).substitute(
        title=escape(title or f"Which model, at which threshold, for {outcome}?"),
        outcome=escape(outcome),
        cases=escape(cases),
        policy=escape(_security_policy(style, script)),
        style=style,
        script=script,
        payload=_json_for_html(payload),
    )


def _as_points(models: Mapping[str, Any], y_true: Any) -> dict[str, OperatingPoints]:
    if y_true is not None:
        return {
            str(name): OperatingPoints.from_scores(y_true, scores)
            for name, scores in models.items()
        }
    for name, points in models.items():
        if not isinstance(points, OperatingPoints):
            raise TypeError(
                f"points_by_model[{name!r}] is of type {type(points).__name__}; accepted are "
                "OperatingPoints, or scores together with y_true"
            )
    return {str(name): points for name, points in models.items()}


def _asset(name: str) -> str:
    return files("voros.explorer").joinpath("assets", name).read_text(encoding="utf-8")


def _bundle() -> str:
    """Join the modules into one script: inside one scope they need no imports or exports.

    A page opened from a file may not load modules from other files, and imports between inline
    scripts do not exist.
    """
    modules = (_EXPORT.sub("", _IMPORT.sub("", _asset(name))) for name in SCRIPTS)
    return "\n" + "\n".join(modules)


def _security_policy(style: str, script: str) -> str:
    """Allow this very style and script and nothing else, so that nothing can be fetched or sent."""
    return (
        f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"


def _json_for_html(payload: Mapping[str, Any]) -> str:
    """Write JSON that cannot end the script element it stands in, whatever names models have."""
    text = json.dumps(payload, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
