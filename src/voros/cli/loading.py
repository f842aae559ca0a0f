"""From a command's options to labels, scores and operating points."""

from __future__ import annotations

from pathlib import Path

from voros.cli.failures import say
from voros.cli.options import ColumnOptions
from voros.cli.patience import patience
from voros.core.operating_points import OperatingPoints
from voros.io import Predictions, read_predictions
from voros.io.sources import Source


def load(path: Path | Source, columns: ColumnOptions, *, group: str | None = None) -> Predictions:
    """Read a file of predictions, saying what was guessed."""
    name = path.name if isinstance(path, Source) else path
    with patience(f"reading {name}"):
        predictions = read_predictions(
            path,
            label=columns.label,
            scores=columns.score or (),
            model=columns.model,
            case=columns.case,
            weight=columns.weight,
            group=group,
            pos_label=columns.pos_label,
            drop_missing=columns.drop_missing,
            file_format=columns.file_format,
        )
    for note in predictions.notes:
        say(note, "note")
    return predictions


def count_points(predictions: Predictions) -> dict[str, OperatingPoints]:
    """Count alarms at every threshold of every model."""
    with patience("counting alarms") as report:
        points = {}
        for done, (model, scores) in enumerate(predictions.scores.items()):
            report(done, len(predictions.scores))
            points[model] = OperatingPoints.from_scores(
                predictions.labels,
                scores,
                sample_weight=predictions.weights,
                groups=predictions.groups,
            )
    return points
