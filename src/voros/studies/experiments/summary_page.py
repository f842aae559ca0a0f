"""The summary page of a run: one HTML file with what was asked, found and drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from voros.present.document import Picture, render_document
from voros.studies.experiments.intervals import SAME_CHOICE
from voros.studies.experiments.results import LABELS, StudyResult, scenario_in_words

CAPTIONS = {
    "roc": "ROC curves of the selected models on the test set, and the region the limits leave.",
    "area": "Share of the feasible region that is costlier than each model, by cost, on the test "
    "set.",
    "winners": "Which of the selected models, and the best of each family, wins at other limits, "
    "on validation.",
}


def answers(result: StudyResult) -> list[str]:
    """Say for each scenario whether choosing by partial VOROS cost less on test."""
    said = []
    for number in sorted({one.scenario for one in result.deployed}):
        parts = []
        for strategy, found in result.intervals[number].items():
            if strategy == "partial_voros":
                continue
            more = found.excess
            excess = f"{more.estimate:+.3f} ({more.low:+.3f} to {more.high:+.3f})"
            by = "" if found.verdict == SAME_CHOICE else f" {excess}"
            parts.append(f"{LABELS[strategy]}{by}: {found.verdict}")
        said.append(
            f"Scenario {number} ({scenario_in_words(number)}). Test cost beside max partial VOROS, "
            f"with 95 % intervals: {'; '.join(parts)}."
        )
    return said


def render_summary(
    result: StudyResult, facts: Sequence[tuple[str, str]], images: Mapping[str, bytes]
) -> str:
    """Lay a study out as one HTML document that needs no other file."""
    return render_document(
        "voros.studies.experiments",
        "summary.html",
        title=result.title,
        answers=answers(result),
        ran=facts,
        tables=result.tables,
        pictures=[_picture(name, png) for name, png in images.items()],
    )


def _picture(name: str, png: bytes) -> Picture:
    _, number, kind = name.removesuffix(".png").split("_")
    caption = f"Scenario {number}. {CAPTIONS[kind]}"
    return Picture(png, caption, caption)
