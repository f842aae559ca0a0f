"""How long an experiment will take: rough, said at the start."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import Path

from voros_studies.experiments.grid import OWN, Candidate

SECONDS_PER_PRODUCT = {"LR": 2.5e-9, "MLP": 5e-10, "RF": 1.2e-8}
"""Seconds for one unit of `_work`, by family, on one core of an ordinary machine of 2024."""

TREES = 100
"""Of a random forest, scikit-learn's default."""


def fit_seconds(candidate: Candidate, n_cases: int, n_features: int) -> float:
    """Estimate the seconds that one fit takes; nothing is known of models of one's own.

    Examples
    --------
    >>> forest = Candidate("RF", {"max_depth": 16})
    >>> 0.1 < fit_seconds(forest, 4552, 68) < 2
    True
    """
    if candidate.family == OWN:
        return 1.0
    return SECONDS_PER_PRODUCT[candidate.family] * _work(candidate, n_cases, n_features)


def _work(candidate: Candidate, n_cases: int, n_features: int) -> float:
    parameters = candidate.parameters
    if candidate.family == "LR":
        return float(parameters["max_iter"] * n_cases * n_features)
    if candidate.family == "MLP":
        layers = (n_features, *parameters["hidden_layer_sizes"], 1)
        weights = sum(a * b for a, b in pairwise(layers))
        return float(parameters["max_iter"] * n_cases * weights)
    depth = min(parameters.get("max_depth", math.inf), math.log2(n_cases))
    return float(TREES * n_cases * depth * math.sqrt(n_features))


def grid_seconds(
    candidates: Iterable[Candidate], n_cases: int, n_features: int, jobs: int
) -> float:
    """Estimate the seconds of a whole grid on `jobs` cores."""
    return sum(fit_seconds(c, n_cases, n_features) for c in candidates) / jobs


def duration(seconds: float) -> str:
    """Say a time as people do.

    Examples
    --------
    >>> duration(20), duration(140), duration(9000)
    ('less than a minute', 'about 2 minutes', 'about 2.5 hours')
    """
    if seconds < 60:
        return "less than a minute"
    if seconds < 5400:
        return f"about {max(2, round(seconds / 60))} minutes"
    return f"about {seconds / 3600:.1f} hours"


def briefing(found: Sequence[str], lacking: Sequence[str], seconds: float | None) -> str:
    """Return what an experiment says before it starts, a line for each fact.

    Examples
    --------
    >>> print(briefing(["9,105 patients"], [], 20.0))
    found: 9,105 patients
    lacks: nothing
    will take: less than a minute
    """
    lines = [f"found: {text}" for text in found]
    lines += [f"lacks: {text}" for text in lacking or ("nothing",)]
    if seconds is not None:
        lines.append(f"will take: {duration(seconds)}")
    return "\n".join(lines)


def file_found(name: str, path: Path) -> str:
    """Say which file serves as a table, and its size."""
    return f"{name}: {path} ({path.stat().st_size / 1e6:,.1f} MB)"
