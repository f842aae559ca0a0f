"""The chosen models of a study, saved so that new rows can be scored from its folder alone."""

from __future__ import annotations

import io
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MinMaxScaler

from voros.exceptions import VorosWarning
from voros.typing import FloatArray
from voros_studies.experiments.cases import LabelledCases, Split
from voros_studies.experiments.errors import ExperimentError
from voros_studies.experiments.folder import (
    RunFolder,
    file_name,
    read_scores,
    run_versions,
    save,
    sha256_of,
)
from voros_studies.experiments.model_file import make_candidate
from voros_studies.experiments.results import StudyResult

if TYPE_CHECKING:
    import pandas as pd

SAME_SCORE = 1e-6
"""A refit must give the scores of the study to within this difference."""

TRUSTED = ("sklearn.", "numpy.", "scipy.", "voros_studies.", "xgboost.", "lightgbm.", "catboost.")
"""Types that a model file may hold: others could run code of their own when loaded."""


@dataclass(frozen=True, eq=False)
class ModelSource:
    """Training data of the models of a study; ``encoder`` turns rows of a table into ``X``."""

    cases: LabelledCases
    split: Split
    random_state: int
    encoder: Any = None

    def fit(self, record: Mapping[str, Any]) -> Pipeline:
        """Fit a model again, as one pipeline from the rows of the study to its risk."""
        estimator = make_candidate(record["family"], record["parameters"]).estimator(
            self.random_state
        )
        pipeline = Pipeline(
            [
                ("fill", SimpleImputer(keep_empty_features=True)),
                ("scale", MinMaxScaler()),
                ("model", estimator),
            ]
        )
        train = self.split.train
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            pipeline.fit(self.cases.X[train], self.cases.y[train])
        return pipeline

    def with_encoder(self, pipeline: Pipeline) -> Pipeline:
        """Put the encoder of a table, where there is one, before a fitted pipeline."""
        first = [] if self.encoder is None else [("encode", self.encoder)]
        return Pipeline([*first, *pipeline.steps])


def save_models(folder: RunFolder, result: StudyResult, source: ModelSource) -> list[str]:
    """Save every model that a policy uses, with a card; warn where skops cannot hold it.

    Each is fitted again with its seed, and must give the scores of the study. The warnings are
    returned too.
    """
    notes = []
    for name in dict.fromkeys(one.model for one in result.deployed):
        stem = folder.root / "models" / name
        if not stem.with_name(f"{name}.md").exists():  # The card is written last.
            _save_model(stem, result, source)
        if not stem.with_name(f"{name}.skops").exists():
            notes.append(
                f"model {name} is saved by joblib (its card says why): loading it runs code, so "
                "load only a file that you trust"
                if stem.with_name(f"{name}.joblib").exists()
                else f"model {name} is not saved: fitted again, it gives other scores"
            )
    for note in notes:
        warnings.warn(note, VorosWarning, stacklevel=2)
    return notes


def _save_model(stem: Path, result: StudyResult, source: ModelSource) -> None:
    name = stem.name
    pipeline = source.fit(result.records[name])
    _, _, scores = read_scores(RunFolder(stem.parents[1]).prediction(name, "test"))
    again = pipeline.predict_proba(source.cases.X[source.split.test])[:, 1]
    if np.allclose(again, scores, rtol=0, atol=SAME_SCORE):
        path, why = _dump(stem, source.with_encoder(pipeline))
        save(stem.with_name(f"{name}.md"), _card(path, why, result, source))


def _dump(stem: Path, pipeline: Pipeline) -> tuple[Path, str]:
    """Write a model in the format of skops, or of joblib where that cannot hold it; say why."""
    import joblib
    import skops.io

    try:
        packed = skops.io.dumps(pipeline)
        why = ", ".join(_strange_types(data=packed))
    except Exception as error:  # skops passes on any error of a type that it cannot hold.
        why = str(error)
    if not why:
        path = stem.with_name(f"{stem.name}.skops")
        save(path, packed)
        return path, ""
    path, content = stem.with_name(f"{stem.name}.joblib"), io.BytesIO()
    # Code of the user's file cannot be imported where the model is loaded.
    joblib.dump(joblib.wrap_non_picklable_objects(pipeline, keep_wrapper=False), content)
    save(path, content.getvalue())
    return path, f", since skops cannot hold {why}"


def _strange_types(**where: Any) -> list[str]:
    """Return the types of a file or of data that could run code of their own when loaded."""
    import skops.io

    unknown = skops.io.get_untrusted_types(**where)
    return [kind for kind in unknown if not kind.startswith(TRUSTED)]


def load_model(root: Path, name: str) -> Pipeline:
    """Load a saved model of a study.

    Raises
    ------
    ExperimentError
        When it was not saved, or its file holds types that could run code.
    """
    import joblib
    import skops.io

    stem = root / "models" / name
    path = stem.with_name(f"{name}.skops")
    if path.exists():
        if strange := _strange_types(file=path):
            raise ExperimentError(f"{path}: the file holds {strange[0]}, which is not trusted")
        return skops.io.load(path, trusted=skops.io.get_untrusted_types(file=path))
    path = stem.with_name(f"{name}.joblib")
    if not path.exists():
        raise ExperimentError(f"{root / 'models'}: there is no saved model {name}")
    return joblib.load(path)


def score_frame(root: Path, name: str, frame: pd.DataFrame) -> FloatArray:
    """Return the risk of every row by a saved model, whose features are columns of the table."""
    pipeline = load_model(root, name)
    if "encode" in pipeline.named_steps:
        return np.asarray(pipeline.predict_proba(frame)[:, 1])
    with np.load(RunFolder(root).features) as held:
        features = held["feature_names"].tolist()
    lacking = [feature for feature in features if feature not in frame]
    if lacking:
        raise ExperimentError(f"the table has no column {lacking[0]!r}, which is a feature")
    return np.asarray(pipeline.predict_proba(frame[features].to_numpy())[:, 1])


def _card(path: Path, why: str, result: StudyResult, source: ModelSource) -> str:
    """Return a model card: what the model is, its data, its policies and the versions."""
    name = path.stem
    record, rows = result.records[name], source.split.train
    used = [
        f"- policies/scenario_{one.scenario}_{file_name(one.strategy)}.json"
        for one in result.deployed
        if one.model == name
    ]
    versions = [f"- {package} {version}" for package, version in run_versions().items()]
    return "\n".join(
        [
            f"# {result.label(name)}",
            "",
            f"Study: {result.title}. Predicts the risk of the outcome; thresholds are in the "
            "policies below.",
            "",
            f"- file: {path.name}, SHA-256 {sha256_of(path)}{why}",
            f"- family and parameters: {record['family']}, {record['parameters']}",
            f"- seed: {source.random_state}",
            f"- trained on {len(rows)} cases, {source.cases.y[rows].mean():.3f} positive",
            f"- digest of all features and outcomes: {source.cases.fingerprint}",
            f"- {len(source.cases.feature_names)} features, filled with the training mean and "
            "scaled to the training range",
            "- performance on validation and test cases: tables/candidates.csv",
            "",
            "Used by",
            "",
            *used,
            "",
            "Versions",
            "",
            *versions,
            "",
        ]
    )
