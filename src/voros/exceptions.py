"""Errors and warnings of voros."""

from __future__ import annotations

import errno
import sys
import warnings
from itertools import chain

__all__ = [
    "ArgumentError",
    "CostRangeWarning",
    "DependentPeriodsWarning",
    "DoubtfulColumnWarning",
    "DoubtfulWeightsWarning",
    "FewAlarmsWarning",
    "FewCasesWarning",
    "FewGroupsWarning",
    "IncompleteCountsError",
    "InfeasibleError",
    "InvertedCostsWarning",
    "LowConfidenceWarning",
    "MonitorFileError",
    "NeverAlarmWarning",
    "PredictionFileError",
    "UndefinedScoreError",
    "UnmatchedEventsWarning",
    "VorosWarning",
]


class Argument(str):
    """The name of an argument within a `Message`.

    Where the text is more than the name, `name` is the argument and `value` the value to pass.
    """

    name: str
    value: str

    def __new__(cls, text: str, name: str = "", value: str = "") -> Argument:
        """Take the text as the name, unless one is given."""
        argument = super().__new__(cls, text)
        argument.name, argument.value = name or text, value
        return argument


class Message(str):
    """A text whose parts may be names of arguments.

    The command line replaces these by the names of its options.

    Examples
    --------
    >>> message = Message("labels 'a' and 'b'; pass ", Argument("pos_label"))
    >>> print(message)
    labels 'a' and 'b'; pass pos_label
    >>> message.parts[1].name
    'pos_label'
    """

    parts: tuple[str, ...]

    def __new__(cls, *parts: str) -> Message:
        """Join the parts, and the parts of messages among them."""
        message = super().__new__(cls, "".join(parts))
        nested = (part.parts if isinstance(part, Message) else (part,) for part in parts)
        message.parts = tuple(chain.from_iterable(nested))
        return message


class ArgumentError(ValueError):
    """An argument is not accepted; `argument` is its name.

    Examples
    --------
    >>> error = ArgumentError("capacity", "=-1; accepted is a number above 0")
    >>> print(error, "|", error.argument)
    capacity=-1; accepted is a number above 0 | capacity
    """

    def __init__(self, argument: str, *rest: str) -> None:
        """Put the argument at the start of the message."""
        named = argument if isinstance(argument, Message) else Argument(argument)
        super().__init__(Message(named, *rest))

    @property
    def argument(self) -> str:
        """The argument's name."""
        return str(self.args[0].parts[0])


class InfeasibleError(ValueError):
    """The limits admit no alarm, so there is nothing to score or deploy.

    Examples
    --------
    Raised where a policy without alarms is of no use, as in ``voros select``:

    >>> import voros
    >>> from voros.selection.ranking import rank_deployable
    >>> points = {"risk": voros.OperatingPoints.from_scores([0, 1, 0, 0], [0.9, 0.8, 0.1, 0.2])}
    >>> rank_deployable(points, voros.Scenario(min_precision=0.9, cost_ratio=0.2))
    Traceback (most recent call last):
    voros.exceptions.InfeasibleError: model 'risk': no threshold that raises an alarm meets a
    precision floor of 0.9. The precision floor binds: the highest precision is 0.5, at a recall
    of 1 (2 alarms)
    """


class PredictionFileError(ValueError):
    """A file that cannot be read as labels and scores; the message says what to fix.

    Examples
    --------
    >>> import voros
    >>> voros.io.read_predictions("no-such-file.csv", label="died")
    Traceback (most recent call last):
    voros.exceptions.PredictionFileError: no-such-file.csv does not exist; name a file of
    predictions
    """


class NoSuchColumnError(PredictionFileError):
    """A named column is not in the file."""


class IncompleteCountsError(ValueError):
    """Operating points lack thresholds that are needed, or ranges of scores are too coarse.

    Examples
    --------
    >>> import voros
    >>> counts = voros.engines.BinnedCounts.from_scores([1, 0, 1, 0], [1.3, 1.2, 1.1, 0.4], bits=12)
    >>> voros.evaluate(counts.points, scenario=voros.Scenario(cost_ratio=(0.1, 0.2)))
    Traceback (most recent call last):
    voros.exceptions.IncompleteCountsError: the binned counts are too coarse for
    Scenario(min_precision=0.0, capacity=1.0, cost_ratio=uniform(0.1, 0.2)): the score lies between
    0.981 and 1; count with more bits, or accept an interval by BinnedScores.within(tolerance)
    """


class UndefinedScoreError(ValueError):
    """Partial VOROS within limits is not defined for cases with values.

    Examples
    --------
    >>> import voros
    >>> points = voros.OperatingPoints.from_scores([1, 0, 1], [0.9, 0.8, 0.3], miss_value=[9, 2, 5])
    >>> voros.evaluate(points, scenario=voros.Scenario(min_precision=0.5, cost_ratio=0.2)).score
    Traceback (most recent call last):
    voros.exceptions.UndefinedScoreError: partial VOROS is not defined where cases have values: ...
    """


class MonitorFileError(OSError):
    """The file of a monitor cannot be read or written, or is damaged.

    Its ``errno`` is the reason: EBUSY (locked), EROFS or EACCES (no permission), ENOSPC (disk
    full), EIO (the disk failed) or EILSEQ (damaged).

    Examples
    --------
    >>> error = MonitorFileError(errno.EBUSY, "another process has locked it", "ward.voros")
    >>> error.exit_code
    75
    """

    @property
    def exit_code(self) -> int:
        """The exit code of the command line, as in sysexits.h."""
        denied = {errno.EROFS: 77, errno.EACCES: 77}
        codes = {errno.EBUSY: 75, errno.ENOSPC: 74, errno.EIO: 74, errno.EILSEQ: 65} | denied
        return codes.get(self.errno or errno.EIO, 2)


class VorosWarning(UserWarning):
    """Base class of all warnings of voros.

    Examples
    --------
    Turn the warnings of voros, and no others, into errors:

    >>> import warnings, voros
    >>> with warnings.catch_warnings(action="error", category=VorosWarning):
    ...     voros.partial_voros_score([0, 1], [0.1, 0.9], voros.Scenario(cost_ratio=(5, 10)))
    Traceback (most recent call last):
    voros.exceptions.InvertedCostsWarning: cost_ratio=uniform(5, 10) says that a false alarm
    costs 5 to 10 times as much as a miss. If a miss is worth 5 to 10 false alarms, write
    cost_ratio=voros.costs.miss_costs(5, 10)
    """


class NeverAlarmWarning(VorosWarning):
    """No threshold that raises an alarm meets the limits.

    Examples
    --------
    >>> import warnings, voros
    >>> scenario = voros.Scenario(min_precision=0.9, cost_ratio=0.2)
    >>> with warnings.catch_warnings(action="error"):
    ...     voros.partial_voros_score([0, 1, 0], [0.9, 0.8, 0.1], scenario)
    Traceback (most recent call last):
    voros.exceptions.NeverAlarmWarning: no threshold that raises an alarm meets a precision floor of
    0.9. The precision floor binds: the highest precision is 0.5, at a recall of 1 (2 alarms)
    """


class LowConfidenceWarning(VorosWarning):
    """A guarantee allows limits to break with a probability above one half.

    Examples
    --------
    >>> import warnings, voros
    >>> with warnings.catch_warnings(action="error"):
    ...     voros.Guarantee(0.05)
    Traceback (most recent call last):
    voros.exceptions.LowConfidenceWarning: confidence=0.05 allows limits to break with a
    probability of 0.95. For an error of 0.05, write Guarantee(0.95)
    """


class CostRangeWarning(VorosWarning):
    """At some cost ratios, raising no alarm is not the worst choice.

    Examples
    --------
    >>> import warnings, voros
    >>> scenario = voros.Scenario(min_precision=0.2, cost_ratio=(0.1, 0.5))
    >>> with warnings.catch_warnings(action="error"):
    ...     voros.partial_voros_score([0, 1, 0, 1], [0.1, 0.9, 0.8, 0.7], scenario)
    Traceback (most recent call last):
    voros.exceptions.CostRangeWarning: with a precision floor of 0.2, raising no alarm is not
    the worst choice at cost ratios above 0.25, so a score of 0 no longer means "no better than
    no alarms": raising none scores 0.045 here
    """


class InvertedCostsWarning(VorosWarning):
    """False alarms cost more than misses, usually because the ratio is upside down.

    Examples
    --------
    >>> import warnings, voros
    >>> with warnings.catch_warnings(action="error"):
    ...     voros.partial_voros_score([0, 1], [0.1, 0.9], voros.Scenario(cost_ratio=(5, 10)))
    Traceback (most recent call last):
    voros.exceptions.InvertedCostsWarning: cost_ratio=uniform(5, 10) says that a false alarm
    costs 5 to 10 times as much as a miss. If a miss is worth 5 to 10 false alarms, write
    cost_ratio=voros.costs.miss_costs(5, 10)
    """


class FewAlarmsWarning(VorosWarning):
    """The capacity is one alarm, or a few in thousands of cases; usually a share is intended.

    Examples
    --------
    >>> import warnings, voros
    >>> with warnings.catch_warnings(action="error"):
    ...     voros.Scenario(capacity=1, cost_ratio=0.2)
    Traceback (most recent call last):
    voros.exceptions.FewAlarmsWarning: capacity=1 is a whole number: one alarm. For no limit
    write 1.0, a share of the cases
    """


class DoubtfulColumnWarning(VorosWarning):
    """A column of a data frame looks like labels or identifiers, and is not taken as a model.

    Examples
    --------
    >>> import pandas as pd, warnings, voros
    >>> models = pd.DataFrame({"patient_id": [7, 3, 9, 5], "risk": [0.9, 0.2, 0.4, 0.7]})
    >>> with warnings.catch_warnings(action="error"):
    ...     voros.select_model([1, 0, 0, 1], models, voros.Scenario(cost_ratio=0.2))
    Traceback (most recent call last):
    voros.exceptions.DoubtfulColumnWarning: column 'patient_id' looks like an identifier and is
    not taken as a model; to take it as one, pass a mapping from model to scores
    """


class DoubtfulWeightsWarning(VorosWarning):
    """Weights look like amounts of money, with which the limits would count money, not cases.

    Examples
    --------
    >>> import warnings, voros
    >>> y, scores, amounts = [1, 0] * 20, list(range(40)), [n + 0.99 for n in range(40)]
    >>> with warnings.catch_warnings(action="error"):
    ...     voros.evaluate(y, scores, voros.Scenario(cost_ratio=0.2), sample_weight=amounts)
    Traceback (most recent call last):
    voros.exceptions.DoubtfulWeightsWarning: sample_weight looks like amounts (...
    """


class FewCasesWarning(VorosWarning):
    """A class has too few cases for narrow intervals.

    Examples
    --------
    >>> import warnings, voros
    >>> scenario = voros.Scenario(capacity=0.5, cost_ratio=(0.1, 0.2))
    >>> with warnings.catch_warnings(action="error"):
    ...     voros.bootstrap([1, 0] * 8, list(range(16)), scenario, n_resamples=100)
    Traceback (most recent call last):
    voros.exceptions.FewCasesWarning: only 8 positives: intervals are wide and p-values of
    differences approximate; use at least 100 cases of each class
    """


class FewGroupsWarning(VorosWarning):
    """There are too few groups for a reliable resampling.

    Examples
    --------
    >>> import warnings, voros
    >>> scenario = voros.Scenario(capacity=0.5, cost_ratio=(0.1, 0.2))
    >>> y_true, y_score, patients = [1, 0] * 8, list(range(16)), [n // 4 for n in range(16)]
    >>> with warnings.catch_warnings(action="error", category=voros.exceptions.FewGroupsWarning):
    ...     voros.bootstrap(y_true, y_score, scenario, groups=patients, n_resamples=100)
    Traceback (most recent call last):
    voros.exceptions.FewGroupsWarning: 4 groups count as 4 of equal size in the rarer class:
    intervals are wide, or hold the true value less often than stated; in simulations they held
    from 8 on
    """


class DependentPeriodsWarning(VorosWarning):
    """Neighbouring periods are correlated, and a guarantee takes them as independent.

    Examples
    --------
    Ten days with an alarm, then ten without:

    >>> import warnings, voros
    >>> y, scores, days = [1, 0] * 20, [2.0, 1.0] * 10 + [1.0] * 20, [n // 2 for n in range(40)]
    >>> scenario = voros.Scenario(capacity=1, cost_ratio=0.2, per="day", exceed=0.5)
    >>> with warnings.catch_warnings(action="error"):
    ...     voros.ThresholdPolicy.from_validation(
    ...         y, scores, scenario, periods=days, guarantee=voros.Guarantee(0.5), n_models=1
    ...     )
    Traceback (most recent call last):
    voros.exceptions.DependentPeriodsWarning: alarms of neighbouring periods (per day) are
    correlated: 0.85 over 20 of them. The guarantee takes them as independent and may not hold;
    Guarantee(block=7) takes 7 neighbouring periods together as one
    """


class UnmatchedEventsWarning(VorosWarning):
    """No event belongs to a stay of the rows, usually because names are written differently.

    Examples
    --------
    >>> import warnings, voros
    >>> rule = voros.AlarmRule(snooze="12h", horizon="12h")
    >>> with warnings.catch_warnings(action="error"):
    ...     voros.alarm_points(
    ...         stay=["7", "8"], time=[0, 0], score=[0.9, 0.2], events=(["007"], [4]), rule=rule
    ...     )
    Traceback (most recent call last):
    voros.exceptions.UnmatchedEventsWarning: events: none of 1 belongs to a stay of the rows; the
    first event is of stay '007', the first row of '7'. Write the names of stays the same way in
    both
    """


def warn_caller(message: str, category: type[VorosWarning]) -> None:
    """Warn at the line of the caller outside this package."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and _passed_through(frame.f_globals.get("__name__", "")):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


def _passed_through(module: str) -> bool:
    # Cached properties are called through functools.
    return module == "functools" or module.partition(".")[0] == __name__.partition(".")[0]
