"""Read the points of published ROC curves from a file."""

from __future__ import annotations

import numpy as np

from voros.core.operating_points import OperatingPoints
from voros.exceptions import PredictionFileError
from voros.io.long_form import column_values
from voros.io.source import Source
from voros.io.tables import peek, read_columns
from voros.typing import FloatArray

CURVE_COLUMNS = ("model", "fpr", "tpr")

INTERPOLATED = 2000
"""Number of points that interpolation adds to a curve."""


def read_curves(
    source: Source, n_positive: float, n_negative: float, *, interpolate: bool = False
) -> dict[str, OperatingPoints]:
    """Read the curve of each model from the columns model, fpr and tpr.

    ``interpolate`` adds points on the lines between those of the file, from (0, 0) to (1, 1).
    Choosing between two thresholds at random reaches them.

    Returns
    -------
    dict of str to OperatingPoints
    """
    lacking = [name for name in CURVE_COLUMNS if name not in peek(source).column_names]
    if lacking:
        listed = ", ".join(map(repr, lacking))
        raise PredictionFileError(
            f"{source.name} has no column {listed}; curves have the columns model, fpr and tpr"
        )
    table = read_columns(source, CURVE_COLUMNS, CURVE_COLUMNS[1:])
    models, fpr, tpr = (column_values(table, name) for name in CURVE_COLUMNS)
    curves = {}
    for model in dict.fromkeys(models.tolist()):
        points = fpr[models == model], tpr[models == model]
        if interpolate:
            points = interpolated(*points)
        try:
            curves[str(model)] = OperatingPoints.from_points(*points, n_positive, n_negative)
        except ValueError as error:
            raise PredictionFileError(f"{source.name}: model {model!r}: {error}") from None
    return curves


def interpolated(fpr: FloatArray, tpr: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Add points on the lines between the points of a curve, from (0, 0) to (1, 1).

    Examples
    --------
    >>> fpr, tpr = interpolated(np.array([0.5]), np.array([0.8]))
    >>> len(fpr), float(np.interp(0.25, fpr, tpr)), float(np.interp(0.75, fpr, tpr))
    (2001, 0.4, 0.9)
    """
    order = np.lexsort((tpr, fpr))
    x, y = (np.concatenate([[0.0], values[order], [1.0]]) for values in (fpr, tpr))
    # The points are denser near 0, where limits bind.
    added = np.setdiff1d(np.linspace(0, 1, INTERPOLATED + 1) ** 2, x)
    x, y = np.append(x, added), np.append(y, np.interp(added, x, y))
    rows = np.lexsort((y, x))[1:]
    return x[rows], y[rows]
