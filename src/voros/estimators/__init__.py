"""voros within scikit-learn: a scorer and a classifier that keeps limits."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from voros.estimators.scorer import make_scorer

if TYPE_CHECKING:
    from voros.estimators.classifier import ConstrainedThresholdClassifier

__all__ = ["ConstrainedThresholdClassifier", "make_scorer"]


def __getattr__(name: str) -> Any:
    """Import the classifier when it is used: scikit-learn takes long to import."""
    if name != "ConstrainedThresholdClassifier":
        raise AttributeError(f"module 'voros.estimators' has no attribute {name!r}")
    return import_module("voros.estimators.classifier").ConstrainedThresholdClassifier
