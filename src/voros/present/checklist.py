"""What a report of a prediction model or of a test should say, and where one does.

After Collins et al., "TRIPOD+AI statement", BMJ 2024;385:e078378, and Bossuyt et al., "STARD 2015",
BMJ 2015;351:h5527, where the predictions are the index test and the labels the reference standard.
The wording is our own, and short.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from voros.exceptions import ArgumentError

_ITEMS = """
1|title|Name the study as developing or evaluating a prediction model, its population and outcome
2|abstract|Follow TRIPOD+AI for Abstracts
3a|background|Healthcare context, rationale, existing models
3b|background|Target population, purpose in the care pathway, intended users
3c|background|Known health inequalities between sociodemographic groups
4|objectives|Objectives: development, evaluation, or both
5a|data|Sources of data for development and evaluation, why these, representativeness
5b|data|Dates of accrual and end of follow-up
6a|participants|Setting, number and location of centres
6b|participants|Eligibility criteria
6c|participants|Treatments received, and how they were handled
7|data preparation|Pre-processing and quality checks, whether alike across groups
8a|outcome|Outcome and time horizon, how and when assessed, why chosen, whether alike across groups
8b|outcome|Qualifications of outcome assessors, where assessment is subjective
8c|outcome|Blinding of outcome assessment
9a|predictors|Choice of initial predictors and any pre-selection
9b|predictors|Definition of all predictors, how and when measured
9c|predictors|Qualifications of predictor assessors, where measurement is subjective
10|sample size|How the study size was arrived at, and why it suffices
11|missing data|How missing data were handled, reasons for omitting data
12a|analysis|How the data were used, and partitioned
12b|analysis|How predictors were handled: form, rescaling, transformation
12c|analysis|Type of model, model-building steps, tuning, internal validation
12d|analysis|Heterogeneity across clusters such as hospitals
12e|analysis|Measures and plots of performance, and comparison of models
12f|analysis|Any model updating
12g|analysis|How predictions were calculated in evaluation
13|class imbalance|Methods for class imbalance, and any recalibration after them
14|fairness|Approaches to fairness, and their rationale
15|model output|Output of the model; how any thresholds were identified
16|training and evaluation|Differences between development and evaluation data
17|ethics|Approval and informed consent
18a|open science|Funding and the role of funders
18b|open science|Conflicts of interest
18c|open science|Where the protocol is, or that there is none
18d|open science|Registration, or that there is none
18e|open science|Availability of the data
18f|open science|Availability of the code
19|patients and public|Involvement of patients and the public, or none
20a|participants|Flow of participants, with and without the outcome
20b|participants|Characteristics, events and missing data, by source
20c|participants|Distribution of predictors and outcome beside the development data
21|model development|Participants and events in each analysis
22|model specification|The full model, so that others can predict with it
23a|model performance|Performance with intervals, also in subgroups
23b|model performance|Heterogeneity of performance across clusters
24|model updating|Results of any model updating
25|interpretation|Interpretation of the results, fairness included
26|limitations|Limitations and their effects
27a|usability|How poor or unavailable input is handled when the model is used
27b|usability|What users must do, and the expertise they need
27c|usability|Next steps for research
"""


_STARD_ITEMS = """
1|title|Name the study as one of diagnostic accuracy, with a measure of it
2|abstract|A structured summary
3|background|Background, intended use and place of the index test
4|objectives|Objectives and hypotheses
5|design|Whether data were collected before or after the tests were planned
6|participants|Eligibility criteria
7|participants|On what basis participants were identified
8|participants|Where and when they were identified
9|participants|Consecutive, random or convenience sample
10a|test methods|The index test, so that others can repeat it
10b|test methods|The reference standard, so that others can repeat it
11|test methods|Why this reference standard
12a|test methods|Cut-offs of the index test, why these, whether fixed beforehand
12b|test methods|Cut-offs of the reference standard, likewise
13a|test methods|Whether clinical data or the outcome were known to readers of the index test
13b|test methods|Whether clinical data or the index test were known to assessors of the outcome
14|analysis|How accuracy was estimated or compared
15|analysis|How indeterminate results were handled
16|analysis|How missing data were handled
17|analysis|Analyses of variability, whether fixed beforehand
18|analysis|Intended sample size, and how it was arrived at
19|participants|Flow of participants
20|participants|Baseline characteristics
21a|participants|Severity of disease in those who have it
21b|participants|Alternative diagnoses in those who do not
22|participants|Time and treatments between index test and reference standard
23|test results|Index test against reference standard, cross tabulated
24|test results|Estimates of accuracy with their precision
25|test results|Harms of the tests
26|discussion|Limitations, bias, generalisability
27|discussion|Implications for practice
28|other|Registration
29|other|Where the protocol is
30|other|Funding
"""


@dataclass(frozen=True)
class ChecklistItem:
    """One item: its number, the section of a report, and what is asked for."""

    number: str
    section: str
    asks: str


def _items(text: str) -> tuple[ChecklistItem, ...]:
    return tuple(ChecklistItem(*line.split("|")) for line in text.strip().splitlines())


TRIPOD_AI, STARD = _items(_ITEMS), _items(_STARD_ITEMS)


@dataclass(frozen=True)
class ItemAnswer:
    """Where a document answers an item: a section of it, and whether that is the whole answer."""

    section: str
    title: str
    whole: bool = True
    rest: str = ""


def checklist_rows(
    items: Sequence[ChecklistItem], answers: Mapping[str, ItemAnswer]
) -> list[tuple[ChecklistItem, ItemAnswer | None]]:
    """Pair every item with its answer; None where it is open.

    Examples
    --------
    >>> rows = checklist_rows(STARD, {"23": ItemAnswer("counts", "Counts")})
    >>> sum(answer is None for _, answer in rows), len(rows)
    (33, 34)
    """
    check_known(answers, items)
    return [(item, answers.get(item.number)) for item in items]


def check_known(answers: Mapping[str, object], items: Sequence[ChecklistItem]) -> None:
    """Refuse answers to items that are not of the checklist."""
    unknown = sorted(set(answers) - {item.number for item in items})
    if unknown:
        raise ArgumentError(
            "answers", f" name the items {', '.join(unknown)}; accepted are those of the checklist"
        )
