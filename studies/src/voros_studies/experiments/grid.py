"""The candidates: the paper's 140 configurations, a dozen for a quick run, or the user's."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import product
from types import MappingProxyType
from typing import Any, Literal, TypeAlias

Family: TypeAlias = Literal["LR", "MLP", "RF", "HGB"]

OWN = "own"
"""The family of a user's own models."""

RARE_CLASS_WEIGHTS = (1, 3, 9, 27)

SHORT_WORDS = MappingProxyType(
    {
        "rare_class_weight": "weight",
        "max_iter": "iterations",
        "alpha": "L2",
        "hidden_layer_sizes": "hidden",
        "learning_rate_init": "rate",
        "max_depth": "depth",
        "min_samples_leaf": "leaf",
    }
)


@dataclass(frozen=True)
class Candidate:
    """One model to fit: its family and scikit-learn's own parameter names.

    Examples
    --------
    >>> Candidate("RF", {"max_depth": 4, "rare_class_weight": 9}).name
    'RF_max_depth=4_rare_class_weight=9'
    """

    family: str
    parameters: dict[str, Any] = field(hash=False)

    @property
    def name(self) -> str:
        """The full name, safe as a file name."""
        return "_".join([self.family, *(f"{k}={_short(v)}" for k, v in self.parameters.items())])

    @property
    def label(self) -> str:
        """A name short enough for a legend.

        Examples
        --------
        >>> Candidate("RF", {"max_depth": 4, "rare_class_weight": 9}).label
        'RF, depth 4, weight 9'
        """
        parts = (f"{SHORT_WORDS.get(k, k)} {_short(v)}" for k, v in self.parameters.items())
        return ", ".join([self.family, *parts])

    def estimator(self, random_state: int) -> Any:
        """Return the unfitted scikit-learn classifier."""
        from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
        from sklearn.linear_model import LogisticRegression
        from sklearn.neural_network import MLPClassifier

        families = {
            "LR": LogisticRegression,
            "MLP": MLPClassifier,
            "RF": RandomForestClassifier,
            "HGB": HistGradientBoostingClassifier,
        }
        parameters = dict(self.parameters)
        weight = parameters.pop("rare_class_weight", None)
        if weight is not None:
            parameters["class_weight"] = {0: 1, 1: weight}
        return families[self.family](**parameters, random_state=random_state)


def _short(value: Any) -> str:
    return "x".join(map(str, value)) if isinstance(value, list | tuple) else f"{value:g}"


def combinations(family: Family, **values: tuple[Any, ...]) -> tuple[Candidate, ...]:
    """Return a candidate of one family for each combination of values."""
    return tuple(
        Candidate(family, dict(zip(values, chosen, strict=True)))
        for chosen in product(*values.values())
    )


def paper_grid() -> tuple[Candidate, ...]:
    """Return the paper's 80 logistic regressions, 24 perceptrons and 36 random forests.

    Examples
    --------
    >>> from collections import Counter
    >>> dict(Counter(candidate.family for candidate in paper_grid()))
    {'LR': 80, 'MLP': 24, 'RF': 36}
    """
    return (
        *combinations(
            "LR",
            rare_class_weight=RARE_CLASS_WEIGHTS,
            max_iter=(1000, 49, 7, 1),
            C=(10, 100, 1000, 10_000, 100_000),
        ),
        *combinations(
            "MLP",
            max_iter=(100, 200),
            alpha=(0.0001, 0.001),
            hidden_layer_sizes=((64,), (64, 64), (128, 64)),
            learning_rate_init=(0.001, 0.0005),
        ),
        *combinations(
            "RF",
            rare_class_weight=RARE_CLASS_WEIGHTS,
            max_depth=(4, 16, 64),
            min_samples_leaf=(4, 16, 64),
        ),
    )


def quick_grid() -> tuple[Candidate, ...]:
    """Return a dozen of the paper's candidates that fit in seconds, all three families.

    Examples
    --------
    >>> set(c.name for c in quick_grid()) <= set(c.name for c in paper_grid())
    True
    """
    return (
        *combinations("LR", rare_class_weight=(1, 9), max_iter=(49, 7, 1), C=(10,)),
        *combinations(
            "MLP",
            max_iter=(100,),
            alpha=(0.001,),
            hidden_layer_sizes=((64,),),
            learning_rate_init=(0.001, 0.0005),
        ),
        *combinations("RF", rare_class_weight=(1, 9), max_depth=(4, 16), min_samples_leaf=(16,)),
    )
