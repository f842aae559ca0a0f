"""Arrays on devices, and the interface of cases that are not counted yet.

Cases in memory (`voros.core.pruning`) and cases on a device (`voros.devices`) implement
`UncountedCases`; the package `voros` passes the reader of the latter to `set_reader`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

from voros.exceptions import ArgumentError

if TYPE_CHECKING:
    from voros.core.operating_points import OperatingPoints
    from voros.core.scenario import Scenario

PACKAGES = ("torch", "cupy", "array_api_strict")
"""Packages whose arrays may lie on a device."""


class UncountedCases(Protocol):
    """Cases that are counted on demand."""

    @property
    def totals(self) -> tuple[float, float, float]:
        """Positives and negatives, or the sums of their weights, and the smallest weight."""

    @property
    def place(self) -> str | None:
        """Library and device; None for cases in memory."""

    def every_threshold(self) -> tuple[Any, ...]:
        """Count alarms at every distinct score: arguments of `OperatingPoints.with_never_alarm`."""

    def choosable(self, scenario: Scenario, *, every_cost: bool) -> OperatingPoints:
        """Count the thresholds that can be chosen in a scenario, at its costs or at all costs."""

    def curve(self, scenario: Scenario) -> OperatingPoints:
        """Count every threshold within a scenario's capacity, and possibly others."""


Reader = Callable[[Any, Any, Any], UncountedCases]

_readers: list[Reader] = []


def set_reader(reader: Reader) -> None:
    """Set the function that reads labels and scores on a device, and the positive label."""
    _readers[:] = [reader]


def read_elsewhere(y_true: Any, y_score: Any, pos_label: Any = None) -> UncountedCases:
    """Check cases on a device without moving them."""
    return _readers[0](y_true, y_score, pos_label)


def on_device(*arrays: Any) -> bool:
    """Whether any of the arrays lies outside the memory of the host.

    Examples
    --------
    >>> import numpy as np
    >>> on_device([1, 0], np.array([0.2, 0.7]), None)
    False
    """
    return any(_elsewhere(array) for array in arrays)


def refuse_on_device(**arguments: Any) -> None:
    """Refuse arguments that need the cases in memory."""
    for name, value in arguments.items():
        if value is not None:
            raise ArgumentError(
                name, " needs the cases in memory; pass all arrays there, as in y_score.cpu()"
            )


def package_of(array: Any) -> str | None:
    """Name the package of an array that may lie on a device; None for anything else."""
    package = type(array).__module__.partition(".")[0]
    return package if package in PACKAGES and hasattr(array, "dtype") else None


def _elsewhere(array: Any) -> bool:
    package = package_of(array)
    if package is None:
        return False
    if package == "cupy":
        return True
    if package == "array_api_strict":
        return "CPU_DEVICE" not in str(array.device)
    place = array.device
    return str(getattr(place, "type", getattr(place, "platform", place))) != "cpu"
