"""The paper's diagnostic figures: curves in the feasible region, and areas over the costs."""

from __future__ import annotations

from pathlib import Path

from voros import OperatingPoints
from voros.core.decision import Strategy
from voros.plotting import AreaCurveDisplay, RocDisplay
from voros.present.report.figures import figure_bytes, headless_pyplot
from voros_studies.paper.cells import FILE_STEMS, SCENARIOS, read_points
from voros_studies.paper.paper_tables import STRATEGY_LABELS

DRAWN: tuple[Strategy, ...] = ("partial_voros", "recall")
"""The strategies whose models the paper draws, in scenario 1."""

PARTS = {"MIMIC-IV": "test", "eICU": "valid"}
"""The part of each dataset that the paper draws."""


def reproduce_figures(folder: str | Path, file_format: str = "png") -> dict[str, bytes]:
    """Draw the figures for which a folder has files; return content by file name.

    Returns
    -------
    dict of str to bytes

    Examples
    --------
    >>> import tempfile
    >>> reproduce_figures(tempfile.mkdtemp())  # without a file there is no figure
    {}
    """
    figures = {}
    for dataset, part in PARTS.items():
        stems = FILE_STEMS[dataset, 1]
        counted = {s: read_points(Path(folder) / f"{stems[s]}_{part}.csv") for s in DRAWN}
        points = {
            STRATEGY_LABELS[strategy]: held
            for strategy, held in counted.items()
            if isinstance(held, OperatingPoints)
        }
        if len(points) == len(DRAWN):
            name = dataset.lower().replace("-", "_")
            figures[f"{name}_scenario_1.{file_format}"] = _diagnostic(points, file_format)
    return figures


def _diagnostic(points: dict[str, OperatingPoints], file_format: str) -> bytes:
    """Draw ROC curves within the limits beside the dominated area at each cost."""
    pyplot = headless_pyplot()
    figure, axes = pyplot.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
    RocDisplay.from_points(points, SCENARIOS[1], ax=axes[0], zoom=True)
    AreaCurveDisplay.from_points(points, SCENARIOS[1], ax=axes[1])
    return figure_bytes(figure, file_format)
