"""Blend several models into one score: a weighted mean of log-odds, chosen by log loss."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import expit

from voros.core.alignment import check_aligned
from voros.core.arguments import check_count
from voros.core.arrays import LARGEST_FINITE, named_columns
from voros.core.cases import are_risks, check_labels, check_scores
from voros.core.risk_curve import predictor
from voros.exceptions import ArgumentError
from voros.io.documents import read_document
from voros.io.writing import json_text, saved, with_checksum
from voros.models import ModelCases, naming
from voros.text.numbers import counted, short
from voros.text.table import ReprMixin, Table
from voros.typing import AnyArray, BoolArray, FloatArray

__all__ = ["Blend", "blend"]

BLEND_FORMAT, BLEND_SCHEMA = "voros blend", 1

MOST_STEPS = 25
"""Number of models that a blend adds up, where a model may be added repeatedly."""


@dataclass(frozen=True, repr=False, kw_only=True)
class Blend(ReprMixin):
    """A weighted mean of the models' log-odds; see `voros.blend`.

    Attributes
    ----------
    weights : dict of str to float
        Share of each model. Shares add up to 1, and models without a share are left out.
    slopes, intercepts : dict of str to float
        The log-odds of a model are ``intercept + slope * x``, with x the logit of its risk, or the
        score itself where scores are not risks.
    risks : dict of str to bool
        Whether the scores of a model are risks between 0 and 1.
    log_loss : float
        Log loss of the blend on the cases to which it was fitted.
    n_cases : int
        Number of these cases.

    Examples
    --------
    >>> import voros
    >>> y, scores = [0, 0, 1, 1] * 9, {"a": [0.2, 0.6, 0.4, 0.9] * 9, "b": [1, 3, 5, 4] * 9}
    >>> result = voros.blend(y, scores)
    >>> sum(result.weights.values()), result.score({"a": [0.1, 0.9], "b": [1, 5]}).round(2).tolist()
    (1.0, [0.01, 0.94])
    """

    weights: dict[str, float]
    slopes: dict[str, float]
    intercepts: dict[str, float]
    risks: dict[str, bool]
    log_loss: float
    n_cases: int

    def score(self, scores: Any) -> FloatArray:
        """Return the risk of each case.

        Parameters
        ----------
        scores : mapping of str to array-like, or data frame
            Scores of each model of the blend; other models are ignored.

        Returns
        -------
        ndarray of shape (n_cases,)
        """
        columns = {str(name): column for name, column in named_columns(scores, "scores") or ()}
        missing = [model for model in self.weights if model not in columns]
        if missing:
            raise ArgumentError(
                "scores", f" lack {', '.join(map(repr, missing))}; the blend is a mean of them"
            )
        log_odds = [self._log_odds(model, columns[model]) for model in self.weights]
        return np.asarray(expit(np.array(list(self.weights.values())) @ np.array(log_odds)))

    def to_json(self, path: str | Path | None = None, *, force: bool = False) -> str:
        """Return the blend as JSON text, and write it to a file if a path is given.

        Returns
        -------
        str
        """
        fields = {"format": BLEND_FORMAT, "schema": BLEND_SCHEMA, **asdict(self)}
        return saved(json_text(with_checksum(fields)), path, force=force)

    @classmethod
    def from_json(cls, source: str | Path) -> Blend:
        """Read a blend back from JSON text or from a file.

        Returns
        -------
        Blend
        """
        fields = read_document(source, "saved blend").saved(BLEND_FORMAT, BLEND_SCHEMA)
        return cls(**{name: fields[name].value for name in cls.__dataclass_fields__})

    def _log_odds(self, model: str, column: Any) -> FloatArray:
        scores = check_scores(column, name=f"scores of {model!r}")
        return self.intercepts[model] + self.slopes[model] * predictor(scores, self.risks[model])

    def _parts(self) -> tuple[str, Table]:
        rows = [
            (model, short(weight), short(self.slopes[model]), short(self.intercepts[model]))
            for model, weight in self.weights.items()
        ]
        loss = short(self.log_loss)
        title = f"blend of {counted(len(rows), 'model')} on {self.n_cases:,} cases, log loss {loss}"
        return title, Table.from_rows([("model", "weight", "slope", "intercept"), *rows])


def blend(y_true: Any, scores: Any, *, n_steps: int = MOST_STEPS, pos_label: Any = None) -> Blend:
    """Combine models into one score, from their predictions alone.

    The scores of each model are fitted to the labels by logistic regression. The blend begins with
    the model of least log loss and adds, one by one and with repetition, the model that lowers the
    log loss of the mean log-odds most (Caruana et al., 2004).

    Parameters
    ----------
    y_true : array-like of shape (n_cases,)
    scores : mapping of str to array-like, or data frame with a column for each model
        At least two models.
    n_steps : int, default 25
        Maximum number of models that are added, including repetitions.
    pos_label : label, optional
        The positive label.

    Returns
    -------
    Blend

    Notes
    -----
    A blend is fitted to the cases, so a guarantee needs other cases: fit the blend on development
    cases, and certify ``result.score(...)`` of the validation cases as one more model.

    Examples
    --------
    >>> import voros
    >>> patients = voros.datasets.load_support2().with_all_prognoses()
    >>> died = patients.outcome("hospital_death_within_7_days")
    >>> result = voros.blend(died, patients.prognoses)
    >>> scores = {**patients.prognoses, "blend": result.score(patients.prognoses)}
    >>> scenario = voros.Scenario(0.2, 0.1, cost_ratio=voros.costs.miss_costs(9, 40))
    >>> voros.select_model(died, scores, scenario).winner
    'blend'
    """
    check_aligned(y_true=y_true, scores=scores)
    cases = ModelCases.read(y_true, scores)
    positive = check_labels(cases.y_true, pos_label)
    check_count(n_steps, "n_steps", "a whole number above 0")
    if len(cases.scores) < 2:
        raise ValueError("scores hold one model; a blend needs at least two")
    fitted = {}
    for model, column in cases.scores.items():
        with naming(model):
            fitted[model] = _Line.fit(positive, check_scores(column, name="scores"))
    log_odds = np.array([line.log_odds for line in fitted.values()])
    chosen, loss = _greedy(positive, log_odds, n_steps)
    counts = np.bincount(chosen, minlength=len(fitted))
    used = {m: (line, n) for (m, line), n in zip(fitted.items(), counts, strict=True) if n}
    return Blend(
        weights={model: float(n / len(chosen)) for model, (_, n) in used.items()},
        slopes={model: line.slope for model, (line, _) in used.items()},
        intercepts={model: line.intercept for model, (line, _) in used.items()},
        risks={model: line.of_risks for model, (line, _) in used.items()},
        log_loss=loss,
        n_cases=len(positive),
    )


@dataclass(frozen=True, eq=False)
class _Line:
    """The log-odds of a model's scores, fitted to labels."""

    intercept: float
    slope: float
    of_risks: bool
    log_odds: FloatArray

    @classmethod
    def fit(cls, positive: BoolArray, scores: AnyArray) -> _Line:
        from sklearn.linear_model import LogisticRegression

        of_risks = are_risks(scores)
        x = predictor(scores, of_risks)
        if np.abs(x).max() >= LARGEST_FINITE:
            raise ValueError("scores hold infinities, which have no weight in a mean")
        centre, spread = x.mean(), x.std() or 1.0
        model = LogisticRegression().fit((x[:, None] - centre) / spread, positive)
        slope = float(model.coef_[0, 0] / spread)
        intercept = float(model.intercept_[0]) - slope * float(centre)
        return cls(intercept, slope, of_risks, intercept + slope * x)


def _greedy(positive: BoolArray, log_odds: FloatArray, n_steps: int) -> tuple[list[int], float]:
    """Add models while the log loss of the mean falls; return their rows and the lowest loss."""
    total, chosen, best = np.zeros(log_odds.shape[1]), list[int](), np.inf
    while len(chosen) < n_steps:
        means = (total + log_odds) / (len(chosen) + 1)
        losses = (np.logaddexp(0, means) - positive * means).mean(axis=1)
        row = int(np.argmin(losses))
        if losses[row] >= best:
            break
        best, total = float(losses[row]), total + log_odds[row]
        chosen.append(row)
    return chosen, best
