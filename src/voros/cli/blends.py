"""A blend of the models in a file: ``--blend`` of ``voros select`` and ``voros apply``."""

from __future__ import annotations

from dataclasses import replace

from voros.blending import Blend, blend
from voros.cli.loading import load
from voros.cli.options import InputOptions
from voros.io import Predictions

BLEND = "blend"
"""The name of the blend among the models."""


def make_blend(columns: InputOptions) -> Blend:
    """Combine the models of a file by log loss."""
    cases = load(columns)
    return blend(cases.labels, dict(cases.scores))


def with_blend(cases: Predictions, combination: Blend) -> Predictions:
    """Add the scores of a blend to those of its models."""
    return replace(cases, scores={**cases.scores, BLEND: combination.score(dict(cases.scores))})
