"""A bar that says how far the grid is, and how long it still takes."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from voros.progress import BAR_WIDTH
from voros.studies.experiments.estimate import fit_seconds, in_words
from voros.studies.experiments.grid import Candidate


@dataclass
class GridBar:
    """Counts fits by the time they are expected to take, since one may take 100 times another.

    Finished fits of an earlier run are counted as done, but not as fast.
    """

    candidates: Sequence[Candidate]
    n_cases: int
    n_features: int
    shown: bool = True
    _started: float = field(default_factory=time.monotonic)
    _started_at: float = field(default_factory=time.time)
    _done: float = 0.0
    _worked: float = 0.0
    _count: int = 0

    def __call__(self, candidate: Candidate, record: dict[str, Any]) -> None:
        """Take note of a finished fit, and redraw."""
        expected = self._expected(candidate)
        self._count += 1
        self._done += expected
        if self._is_new(record):
            self._worked += expected
        if self.shown:
            sys.stderr.write(self._drawn())
            sys.stderr.flush()

    def _is_new(self, record: dict[str, Any]) -> bool:
        return float(record.get("finished", math.inf)) >= self._started_at

    def _expected(self, candidate: Candidate) -> float:
        return fit_seconds(candidate, self.n_cases, self.n_features)

    def _drawn(self) -> str:
        total = sum(map(self._expected, self.candidates))
        filled = min(BAR_WIDTH, int(BAR_WIDTH * self._done / total))
        drawn = "#" * filled + "." * (BAR_WIDTH - filled)
        left = f", {in_words(self._left(total))} left" if self._worked else ""
        ending = "\n" if self._count == len(self.candidates) else ""
        return f"\rfits [{drawn}] {self._count}/{len(self.candidates)}{left:<32}{ending}"

    def _left(self, total: float) -> float:
        pace = (time.monotonic() - self._started) / self._worked
        return pace * (total - self._done)
