"""How long an experiment will take: rough, told at the start, and corrected as it goes."""

from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path

from voros.studies.experiments.grid import Candidate

SECONDS_PER_PRODUCT = {"LR": 2.5e-9, "MLP": 5e-10, "RF": 1.2e-8}
"""Seconds for one unit of `_work`, by family, on one core of an ordinary machine of 2024."""

TREES = 100
"""Of a random forest, scikit-learn's default."""

MEGABYTES_PER_SECOND = {".gz": 8.0, ".csv": 60.0, ".parquet": 40.0}
"""How fast a chart is streamed, by the form it is in, on two cores."""

BYTES_PER_MEGABYTE = 1e6


def fit_seconds(candidate: Candidate, n_cases: int, n_features: int) -> float:
    """Estimate the seconds that one fit takes.

    Examples
    --------
    >>> forest = Candidate("RF", {"max_depth": 16})
    >>> 0.1 < fit_seconds(forest, 4552, 68) < 2
    True
    """
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
    """Estimate the seconds of a whole grid on so many cores."""
    return sum(fit_seconds(c, n_cases, n_features) for c in candidates) / jobs


def chart_seconds(path: Path) -> float:
    """Estimate the seconds it takes to stream a chart."""
    return path.stat().st_size / BYTES_PER_MEGABYTE / MEGABYTES_PER_SECOND[path.suffix]


def in_words(seconds: float) -> str:
    """Say a time as people do.

    Examples
    --------
    >>> in_words(20), in_words(140), in_words(9000)
    ('less than a minute', 'about 2 minutes', 'about 2.5 hours')
    """
    if seconds < 60:
        return "less than a minute"
    if seconds < 5400:
        return f"about {max(2, round(seconds / 60))} minutes"
    return f"about {seconds / 3600:.1f} hours"
