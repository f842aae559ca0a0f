"""SUPPORT2 as shipped, against what was published about it and what the file must be."""

from __future__ import annotations

import dataclasses
import gzip
import hashlib
from importlib.resources import files
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from voros.datasets import Support2, load_support2

PROGNOSES = ["SPS", "APACHE III", "SUPPORT model", "physicians"]
PUBLISHED_TO_A_PERCENT = 0.005
"""Half a unit in the last place of a percentage printed whole."""
STORAGE_NOISE = 1e-5
"""The source keeps some numbers to about six digits: 0.1 can read 0.10000038."""


@pytest.fixture(scope="module")
def data() -> Support2:
    return load_support2()


@pytest.fixture(scope="module")
def complete(data: Support2) -> Support2:
    return data.with_all_prognoses()


class TestPublishedFacts:
    """Numbers that others have printed about these patients."""

    def test_number_of_patients(self, data: Support2) -> None:
        assert len(data) == 9105

    def test_six_month_mortality_is_47_percent(self, data: Support2) -> None:
        # SUPPORT Principal Investigators, JAMA 1995; 274:1591-1598, abstract.
        mortality = data.outcome("death_within_6_months").mean()
        assert mortality == pytest.approx(0.47, abs=PUBLISHED_TO_A_PERCENT)

    def test_deaths(self, data: Support2) -> None:
        assert np.count_nonzero(~data.outcomes["death"]) == 2904  # censored; 68.1 % died
        assert data.outcomes["hospdead"].mean() == pytest.approx(0.259, abs=5e-4)

    def test_ages(self, data: Support2) -> None:
        age = data.features["age"]
        assert age.mean() == pytest.approx(62.7, abs=0.05)
        assert (np.floor(age.min()), np.ceil(age.max())) == (18, 102)

    def test_shares(self, data: Support2) -> None:
        men = np.mean(data.features["sex"] == "male")
        septic = np.mean(data.features["dzgroup"] == "ARF/MOSF w/Sepsis")
        assert men == pytest.approx(0.56, abs=PUBLISHED_TO_A_PERCENT)
        assert septic == pytest.approx(0.39, abs=PUBLISHED_TO_A_PERCENT)

    def test_most_often_missing(self, data: Support2) -> None:
        assert np.count_nonzero(np.isnan(data.features["adlp"])) == 5641


class TestCountsInTheSource:
    """Counted in the source file by another reader, before it was repacked."""

    def test_disease_groups(self, data: Support2) -> None:
        groups, sizes = np.unique(data.features["dzgroup"], return_counts=True)
        assert dict(zip(groups.tolist(), sizes.tolist(), strict=True)) == {
            "ARF/MOSF w/Sepsis": 3515,
            "CHF": 1387,
            "COPD": 967,
            "Lung Cancer": 908,
            "MOSF w/Malig": 712,
            "Coma": 596,
            "Colon Cancer": 512,
            "Cirrhosis": 508,
        }

    def test_hospital_deaths(self, data: Support2) -> None:
        assert np.count_nonzero(data.outcomes["hospdead"]) == 2360

    def test_median_age(self, data: Support2) -> None:
        assert np.median(data.features["age"]) == 64.85699

    @pytest.mark.parametrize(
        ("name", "missing"),
        [("urine", 4862), ("glucose", 4500), ("alb", 3372), ("ph", 2284), ("meanbp", 1)],
    )
    def test_missing_numbers(self, data: Support2, name: str, missing: int) -> None:
        assert np.count_nonzero(np.isnan(data.features[name])) == missing

    @pytest.mark.parametrize(("name", "missing"), [("income", 2982), ("race", 42), ("sex", 0)])
    def test_missing_words(self, data: Support2, name: str, missing: int) -> None:
        assert np.count_nonzero(data.features[name] == "") == missing


class TestConsistency:
    """The study's own logic: a slip in reading the file would break one of these."""

    def test_first_patient_is_that_of_the_source(self, data: Support2) -> None:
        first = {name: column[0] for name, column in {**data.features, **data.outcomes}.items()}
        assert first["age"] == 62.84998
        assert first["dzgroup"] == "Lung Cancer"
        assert (first["slos"], first["d.time"]) == (5, 2029)
        assert np.isnan(first["glucose"])
        assert data.prognoses["SPS"][0] == 33.8984375
        assert data.prognoses["physicians"][0] == 0.5

    def test_who_dies_in_hospital_dies_on_leaving_it(self, data: Support2) -> None:
        died = data.outcomes["hospdead"]
        assert data.outcomes["death"][died].all()
        np.testing.assert_array_equal(data.outcomes["slos"][died], data.outcomes["d.time"][died])

    def test_everyone_is_there_on_day_three(self, data: Support2) -> None:
        assert data.outcomes["slos"].min() == 3

    def test_every_survivor_is_followed_for_six_months(self, data: Support2) -> None:
        alive = ~data.outcomes["death"]
        assert data.outcomes["d.time"][alive].min() >= 180

    def test_class_follows_from_group(self, data: Support2) -> None:
        pairs = zip(data.features["dzgroup"], data.features["dzclass"], strict=True)
        assert len(set(pairs)) == 8

    def test_features_hold_nothing_known_only_later(self, data: Support2) -> None:
        assert not set(data.features) & {"hospdead", "death", "slos", "d.time", "dnr", "dnrday"}
        assert not set(data.features) & {"sps", "aps", "surv2m", "prg2m"}

    def test_temperatures_are_celsius(self, data: Support2) -> None:
        assert 31 < np.nanmin(data.features["temp"]) < np.nanmax(data.features["temp"]) < 42


class TestPrognoses:
    def test_names_and_order(self, data: Support2) -> None:
        assert list(data.prognoses) == PROGNOSES
        assert list(data.six_month_prognoses) == ["SUPPORT model", "physicians"]

    @pytest.mark.parametrize("name", ["SUPPORT model", "physicians"])
    def test_probabilities(self, data: Support2, name: str) -> None:
        for table in (data.prognoses, data.six_month_prognoses):
            assert np.nanmin(table[name]) >= 0
            assert np.nanmax(table[name]) <= 1

    def test_six_months_are_no_safer_than_two(self, data: Support2) -> None:
        increase = {
            name: six - data.prognoses[name] for name, six in data.six_month_prognoses.items()
        }
        assert np.nanmin(increase["SUPPORT model"]) >= 0
        # Physicians are people: 125 estimates give the longer term the better odds.
        assert np.count_nonzero(increase["physicians"] < -STORAGE_NOISE) == 125

    @pytest.mark.parametrize("name", PROGNOSES)
    def test_higher_is_worse(self, complete: Support2, name: str) -> None:
        risk = complete.prognoses[name]
        died = complete.outcome("hospital_death")
        assert risk[died].mean() > risk[~died].mean()

    def test_complete_patients(self, data: Support2, complete: Support2) -> None:
        assert len(complete) == 7456
        assert not any(np.isnan(risk).any() for risk in complete.prognoses.values())
        assert np.count_nonzero(np.isnan(data.prognoses["physicians"])) == 1649

    @pytest.mark.parametrize(
        ("name", "auroc"),
        [("SPS", 0.773), ("APACHE III", 0.773), ("SUPPORT model", 0.860), ("physicians", 0.874)],
    )
    def test_auroc_for_early_hospital_death(
        self, complete: Support2, name: str, auroc: float
    ) -> None:
        died = complete.outcome("hospital_death_within_7_days")
        assert roc_auc_score(died, complete.prognoses[name]) == pytest.approx(auroc, abs=5e-4)


class TestOutcome:
    def test_early_hospital_death(self, data: Support2, complete: Support2) -> None:
        died = complete.outcome("hospital_death_within_7_days")
        assert died.dtype == np.bool_
        assert np.count_nonzero(died) == 608
        assert np.count_nonzero(data.outcome("hospital_death_within_7_days")) == 877

    def test_early_deaths_are_hospital_deaths(self, data: Support2) -> None:
        early = data.outcome("hospital_death_within_7_days")
        assert not np.any(early & ~data.outcome("hospital_death"))
        assert data.outcomes["slos"][early].max() == 7

    def test_two_months_are_within_six(self, data: Support2) -> None:
        two, six = data.outcome("death_within_2_months"), data.outcome("death_within_6_months")
        assert not np.any(two & ~six)
        assert np.count_nonzero(two) < np.count_nonzero(six)

    def test_unknown_name(self, data: Support2) -> None:
        with pytest.raises(ValueError, match=r"name='discharge' .* accepted: hospital_death,"):
            data.outcome("discharge")  # type: ignore[arg-type]


class TestFrozen:
    def test_fields_cannot_be_replaced(self, data: Support2) -> None:
        with pytest.raises(dataclasses.FrozenInstanceError):
            data.features = {}  # type: ignore[misc]

    @pytest.mark.parametrize("part", ["features", "outcomes", "prognoses", "six_month_prognoses"])
    def test_shared_arrays_cannot_be_written(self, data: Support2, part: str) -> None:
        for column in getattr(data, part).values():
            assert not column.flags.writeable

    def test_an_outcome_is_the_callers_own(self, data: Support2) -> None:
        data.outcome("hospital_death")[:] = True
        assert data.outcome("hospital_death").mean() < 0.5

    def test_read_once(self, data: Support2) -> None:
        again = load_support2()
        assert np.shares_memory(again.features["age"], data.features["age"])

    def test_a_column_that_is_added_does_not_reach_the_next_caller(self) -> None:
        load_support2().prognoses["mine"] = np.zeros(9105)
        assert list(load_support2().prognoses) == PROGNOSES


class TestTable:
    def test_take_by_mask_and_by_position(self, data: Support2) -> None:
        coma = data.features["dzgroup"] == "Coma"
        by_mask, by_position = data.take(coma), data.take(np.flatnonzero(coma))
        assert len(by_mask) == len(by_position) == 596
        np.testing.assert_array_equal(by_mask.features["age"], by_position.features["age"])
        np.testing.assert_array_equal(
            by_mask.prognoses["SPS"], data.prognoses["SPS"][coma], strict=True
        )

    def test_repr(self, data: Support2) -> None:
        assert repr(data) == "Support2(9105 patients, 7456 with all four prognoses)"

    @pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
    def test_frame(self, data: Support2, backend: str) -> None:
        pytest.importorskip(backend)
        frame: Any = data.frame(backend)
        assert type(frame).__module__.split(".")[0] == backend
        assert frame.shape == (9105, 30 + 6 + 4)

    @pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
    def test_missing_words_are_nulls_in_a_frame(self, data: Support2, backend: str) -> None:
        pytest.importorskip(backend)
        import narwhals as nw

        income = nw.from_native(data.frame(backend))["income"]
        assert income.null_count() == 2982


class TestFile:
    def test_small_and_reproducible(self) -> None:
        packed = files("voros.datasets").joinpath("data", "support2.csv.gz").read_bytes()
        assert len(packed) < 500_000
        assert packed[4:8] == bytes(4), "a time stamp would make the file differ at every build"

    def test_contents_are_those_checked_against_the_source(self) -> None:
        packed = files("voros.datasets").joinpath("data", "support2.csv.gz").read_bytes()
        digest = hashlib.sha256(gzip.decompress(packed)).hexdigest()
        assert digest == "99046ea4c84e8655f7d6170c7412f1b95c56338cf46fe7147ba9f00a0f09b116"

    def test_terms_travel_with_the_data(self) -> None:
        note = files("voros.datasets").joinpath("data", "README.md").read_text(encoding="utf-8")
        for needed in ("Knaus WA", "122:191-203", "10.3886/ICPSR02957", "hbiostat.org/data"):
            assert needed in note
