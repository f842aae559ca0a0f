"""What voros raises and warns with."""


class InfeasibleError(ValueError):
    """The limits admit no alarm at all, so there is nothing to score or deploy."""


class PredictionFileError(ValueError):
    """A file that cannot be read as labels and scores; the message says what to mend."""


class UnsettledError(ValueError):
    """Counts of ranges of scores leave open what was asked of them."""


class VorosWarning(UserWarning):
    """Base class of every warning voros gives."""


class NeverAlarmWarning(VorosWarning):
    """No threshold but never alarm meets the limits."""


class CostRangeWarning(VorosWarning):
    """Some cost ratios are so high that never alarm is no longer the costliest choice."""


class PositiveClassWarning(VorosWarning):
    """Which class is the positive one had to be guessed."""
