"""What voros raises and warns with."""

from __future__ import annotations

import sys
import warnings

from voros.text.messages import Argument, Message


class ArgumentError(ValueError):
    """An argument is not accepted; `argument` is its name.

    Examples
    --------
    >>> error = ArgumentError("capacity", "=-1; accepted is a number above 0")
    >>> print(error, "|", error.argument)
    capacity=-1; accepted is a number above 0 | capacity
    """

    def __init__(self, argument: str, *rest: str) -> None:
        """Begin the message with the argument."""
        named = argument if isinstance(argument, Message) else Argument(argument)
        super().__init__(Message(named, *rest))

    @property
    def argument(self) -> str:
        """The argument's name."""
        return str(self.args[0].parts[0])


class InfeasibleError(ValueError):
    """The limits admit no alarm at all, so there is nothing to score or deploy."""


class PredictionFileError(ValueError):
    """A file that cannot be read as labels and scores; the message says what to mend."""


class NoSuchColumnError(PredictionFileError):
    """A column that was named is not in the file."""


class UnsettledError(ValueError):
    """Counts of ranges of scores leave open what was asked of them."""


class VorosWarning(UserWarning):
    """Base class of every warning voros gives."""


class NeverAlarmWarning(VorosWarning):
    """No threshold but never alarm meets the limits."""


class OneClassWarning(VorosWarning):
    """Cases of one class only have no ROC curve, and so no score."""


class CostRangeWarning(VorosWarning):
    """Some cost ratios are so high that never alarm is no longer the costliest choice."""


class InvertedCostsWarning(VorosWarning):
    """False alarms are said to cost more than misses; most often the ratio is upside down."""


class OneAlarmWarning(VorosWarning):
    """The capacity is one alarm; most often no limit was meant."""


class DoubtfulColumnWarning(VorosWarning):
    """A column was taken as a model's scores and looks like something else."""


class PositiveClassWarning(VorosWarning):
    """Which class is the positive one had to be guessed."""


class FewGroupsWarning(VorosWarning):
    """There are so few groups that resampling them says little."""


def warn_caller(message: str, category: type[VorosWarning]) -> None:
    """Warn, pointing at the line outside this package that led here."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and _passed_through(frame.f_globals.get("__name__", "")):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


def _passed_through(module: str) -> bool:
    # Properties that are computed once go through functools.
    return module == "functools" or module.partition(".")[0] == __name__.partition(".")[0]
