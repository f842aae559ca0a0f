"""The user's models in place of the grid: a Python file or module that defines estimators."""

from __future__ import annotations

import re
import runpy
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from voros_studies.experiments.errors import ExperimentError
from voros_studies.experiments.folder import sha256_of
from voros_studies.experiments.grid import OWN, Candidate

MODELS = "models"
"""Name of the estimators in a file or module, unless another name follows a colon."""

NEEDED = ("fit", "predict_proba", "get_params")


@dataclass(frozen=True)
class OwnModel(Candidate):
    """A model of a user's file or module: ``parameters`` are ``source`` and ``model``.

    Examples
    --------
    >>> OwnModel(OWN, {"source": "ward/models.py", "model": "boosted"}).name
    'boosted'
    """

    @property
    def name(self) -> str:
        """The user's name for it."""
        return str(self.parameters["model"])

    @property
    def label(self) -> str:
        """The same name."""
        return self.name

    def estimator(self, random_state: int) -> Any:
        """Return a copy of the estimator with every open seed set."""
        from sklearn.base import clone

        estimator = clone(load_models(self.parameters["source"])[self.name])
        seeds = {
            name: random_state
            for name, value in estimator.get_params().items()
            if value is None and name.split("__")[-1] == "random_state"
        }
        return estimator.set_params(**seeds)


def make_candidate(family: str, parameters: dict[str, Any]) -> Candidate:
    """Return the candidate that a record or a request describes."""
    return (OwnModel if family == OWN else Candidate)(family, parameters)


def own_models(source: str) -> tuple[Candidate, ...]:
    r"""Return the models of a Python file or module as candidates.

    Parameters
    ----------
    source : str
        ``models.py`` or ``package.module``; another name than ``models`` follows a colon, as in
        ``models.py:forests``. It holds estimators of scikit-learn by name, or a function that
        returns them.

    Returns
    -------
    tuple of Candidate

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder) / "models.py"
    ...     _ = file.write_text(
    ...         "from sklearn.naive_bayes import GaussianNB\nmodels = {'bayes': GaussianNB()}"
    ...     )
    ...     [candidate.name for candidate in own_models(str(file))]
    ['bayes']
    """
    place, _, attribute = source.partition(":")
    if place.endswith(".py"):
        place = str(Path(place).resolve())
    source = f"{place}:{attribute or MODELS}"
    return tuple(OwnModel(OWN, {"source": source, "model": name}) for name in load_models(source))


def models_digest(candidates: tuple[Candidate, ...]) -> str:
    """Return the digest of the file that defines the models, to recognise them in a later run."""
    place = str(candidates[0].parameters["source"]).rpartition(":")[0]
    file = Path(place) if place.endswith(".py") else Path(str(import_module(place).__file__))
    return sha256_of(file)


def load_models(source: str) -> Mapping[str, Any]:
    """Run the file, or import the module, and return its estimators by name.

    Raises
    ------
    ExperimentError
        When there is no such file, module or name, or it holds something else.
    """
    place, _, attribute = source.rpartition(":")
    try:
        names = runpy.run_path(place) if place.endswith(".py") else vars(import_module(place))
        models = names[attribute]
    except (OSError, ImportError) as error:
        raise ExperimentError(f"models={place}: {error}") from error
    except KeyError:
        raise ExperimentError(
            f"models={place} does not define {attribute!r}; accepted is a dict of estimators of "
            "that name"
        ) from None
    models = models() if callable(models) else models
    if not isinstance(models, Mapping) or not models:
        raise ExperimentError(
            f"models={place}: {attribute} is a {type(models).__name__}; accepted is a dict of "
            "estimators by name"
        )
    for name, estimator in models.items():
        _check_model(place, name, estimator)
    return models


def _check_model(place: str, name: object, estimator: Any) -> None:
    if not re.fullmatch(r"[\w=.,-]+", str(name)):
        raise ExperimentError(
            f"models={place}: the name {name!r} cannot be part of a file name; accepted are "
            "letters, digits and = . , _ -"
        )
    lacking = [method for method in NEEDED if not hasattr(estimator, method)]
    if lacking:
        raise ExperimentError(
            f"models={place}: {name!r} is a {type(estimator).__name__} without {lacking[0]}; "
            "accepted are classifiers of scikit-learn that predict probabilities"
        )
