"""Intervals from resampling, as commands ask for them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from voros.cli.options import shown_in
from voros.cli.patience import patience
from voros.core.scenario import Scenario
from voros.io import Predictions
from voros.present.report import ModelInterval

_PANEL = "Intervals"

MOST_RESAMPLES = 1_000_000
"""More would take days and tell nothing new."""


@dataclass(frozen=True)
class ResamplingOptions:
    """How intervals are made."""

    resamples: Annotated[int, shown_in(_PANEL, "How many resamples of the cases.")] = 2000
    level: Annotated[float, shown_in(_PANEL, "Confidence of the intervals.")] = 0.95
    group: Annotated[
        str | None,
        shown_in(
            _PANEL,
            "Whose case it is, where one patient has several: patients are resampled, not cases.",
            metavar="COLUMN",
        ),
    ] = None
    seed: Annotated[int, shown_in(_PANEL, "Seed of the random draws.")] = 0

    def __post_init__(self) -> None:
        """Refuse what is no confidence, count or seed, by the name it has here."""
        if self.resamples > MOST_RESAMPLES:
            raise ValueError(
                f"--resamples={self.resamples}; accepted are at most {MOST_RESAMPLES:,}, whose "
                "own error is far below that of the cases"
            )
        if self.seed < 0:
            raise ValueError(f"--seed={self.seed}; accepted is a whole number of at least 0")
        if not 0 < self.level < 1:
            raise ValueError(
                f"--level={self.level!r}; accepted is a number strictly between 0 and 1"
            )

    def arguments(self, predictions: Predictions) -> dict[str, Any]:
        """Return the arguments that `voros.bootstrap` and `voros.compare` share."""
        if predictions.weights is not None:
            raise ValueError(
                "--weight and intervals do not go together: cases are resampled one by one; "
                "repeat the rows instead"
            )
        return {
            "n_resamples": self.resamples,
            "confidence": self.level,
            "groups": predictions.groups,
            "random_state": self.seed,
        }


def resample(
    predictions: Predictions, scenario: Scenario, options: ResamplingOptions
) -> tuple[dict[str, ModelInterval], str | None]:
    """Resample the cases, the same for all models.

    Returns
    -------
    intervals : dict of str to ModelInterval
    verdict : str or None
        Which differences are more than chance; None for one model alone.
    """
    from voros.inference import bootstrap, compare

    arguments, scores = options.arguments(predictions), dict(predictions.scores)
    with patience("resampling") as report:
        arguments["progress"] = report
        if len(scores) == 1:
            found = bootstrap(predictions.labels, scores, scenario, **arguments)
            shares, verdict = dict.fromkeys(found, 1.0), None
        else:
            comparison = compare(predictions.labels, scores, scenario, **arguments)
            found, shares = comparison.models, comparison.shares_won
            verdict = comparison.verdict
    intervals = {
        model: ModelInterval(result.estimate, result.low, result.high, shares[model])
        for model, result in found.items()
    }
    return intervals, verdict
