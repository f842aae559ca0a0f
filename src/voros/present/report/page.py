"""A report as one HTML document."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from html import escape
from importlib.resources import files

from voros.core.decision import at_deployment
from voros.present.report.content import DataSummary, Report, versions
from voros.present.report.figures import Picture, map_pictures, policy_pictures, ranking_pictures
from voros.present.report.wording import (
    STRATEGY_TITLES,
    consequences_in_words,
    evaluation_in_words,
    exact,
    number,
    policy_in_words,
    span,
    worth_in_words,
)
from voros.selection import ModelScores


def render_report(report: Report, written: datetime) -> str:
    """Lay a report out as one HTML document that needs no other file."""
    style = (
        files("voros.present.report").joinpath("assets", "report.css").read_text(encoding="utf-8")
    )
    body = "\n".join(
        [
            f"<h1>{escape(report.title)}</h1>",
            f'<p class="quiet">Written {written:%Y-%m-%d %H:%M} UTC by voros.</p>',
            _verdict(report),
            _section("Data", *_data(report)),
            _section("Limits and costs", _limits(report)),
            _section("Ranking", _ranking(report), *_figures(ranking_pictures(report))),
            _section("Chosen policy", *_policy(report), *_figures(policy_pictures(report))),
            _section("Test", *_test(report)),
            _section("At other limits", *_other_limits(report)),
            _section("How this was made", *_provenance(report)),
        ]
    )
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(report.title)}</title>\n<style>\n{style}</style>\n</head>\n"
        f"<body>\n<main>\n{body}\n</main>\n</body>\n</html>\n"
    )


def _section(title: str, *parts: str) -> str:
    return "\n".join([f"<section>\n<h2>{escape(title)}</h2>", *parts, "</section>"])


def _verdict(report: Report) -> str:
    said = f"Chosen: <strong>{escape(report.winner)}</strong>, "
    said += escape(policy_in_words(report.policy)) + ". "
    said += escape(consequences_in_words(report.policy))
    broken = report.tested is not None and not report.tested.satisfied
    if report.tested is not None:
        kept = "broken: look at the test below before deploying it." if broken else "kept."
        said += f" On the test cases the limits were {kept}"
    return f'<p class="verdict{" broken" if broken else ""}">{said}</p>'


def _data(report: Report) -> list[str]:
    summaries = [("Validation", report.validation)]
    if report.test is not None:
        summaries.append(("Test", report.test))
    return [_facts(title, _data_facts(summary)) for title, summary in summaries]


def _data_facts(data: DataSummary) -> list[tuple[str, str]]:
    share = data.positives / data.cases
    return [
        ("file", data.file),
        ("SHA-256", data.sha256 or "read from standard input"),
        ("cases", f"{data.cases:,.10g}, of which {data.positives:,.10g} positive ({share:.3%})"),
        ("label", str(data.label)),
        ("models", ", ".join(data.models)),
        *(("note", note) for note in data.notes),
    ]


def _limits(report: Report) -> str:
    scenario, points = report.scenario, report.points[report.winner]
    cases = at_deployment(points, scenario)
    capacity = f"{number(cases.max_alarms(scenario))} of {number(cases.n_cases)} cases"
    prevalence = "that of the data" if scenario.prevalence is None else f"{scenario.prevalence:.3%}"
    return _facts(
        None,
        [
            ("precision", f"at least {scenario.min_precision:g} of the alarms must be right"),
            ("capacity", f"alarms for at most {capacity} (capacity {scenario.capacity!r})"),
            ("costs", f"a miss is worth {worth_in_words(scenario, points)} false alarms"),
            ("distribution of C_FP / C_FN", repr(scenario.costs)),
            ("prevalence", prevalence),
        ],
    )


def _ranking(report: Report) -> str:
    certified = report.policy.guarantee is not None
    interval = f"{report.confidence:.0%} interval"
    header = (
        *("model", "partial VOROS", interval, "wins"),
        *(("guaranteed",) if certified else ()),
        *("behind", "VOROS", "pAUROC", "recall", "feasible"),
    )
    rows = [_ranking_cells(report, row) for row in report.selection.ranking]
    said = [_ranking_in_words(report), *([report.verdict] if report.verdict else [])]
    words = "\n".join(f"<p>{escape(line)}</p>" for line in said)
    return words + "\n" + _table(header, rows)


def _ranking_in_words(report: Report) -> str:
    selection = report.selection
    words = (
        f"Ranked by {STRATEGY_TITLES[selection.strategy]} on the validation cases. Intervals are "
        f"from {report.resamples:,} resamples of the cases, the same for all models, with the "
        "limits applied inside each; wins is the share of them in which a model scores best."
    )
    if report.policy.guarantee is not None:
        words += (
            " The ranking counts only thresholds that the guarantee allows: the partial VOROS they "
            "leave stands under guaranteed, and the intervals are of partial VOROS without it."
        )
    close = ", ".join(selection.close_to_winner)
    return words + (
        f" Within {selection.tolerance_of():.2g} of the winner: {close}." if close else ""
    )


def _ranking_cells(report: Report, row: ModelScores) -> tuple[str, ...]:
    # Its package loads SciPy's distributions, which other commands do without.
    from voros.inference.intervals import interval_in_words

    found = report.intervals[row.model]
    certified = report.policy.guarantee is not None
    return (
        row.model,
        f"{found.estimate:.4f}",
        interval_in_words(found.low, found.high),
        f"{found.wins:.1%}",
        *((f"{row.partial_voros:.4f}",) if certified else ()),
        f"{report.selection.behind(row, 'partial_voros'):.4f}",
        f"{row.voros:.4f}",
        f"{row.partial_auroc:.4f}",
        f"{row.recall:.4f}",
        "yes" if row.feasible else "no",
    )


def _policy(report: Report) -> list[str]:
    policy = report.policy
    low, high = report.scenario.costs.ratio_range(policy.n_negative / policy.n_positive)
    rows = []
    for choice, probability in zip(policy.choices, policy.probabilities, strict=True):
        if probability > 0:
            rows.append(
                (
                    span(max(choice.cost_ratio_low, low), min(choice.cost_ratio_high, high)),
                    f"{probability:.1%}",
                    exact(choice.threshold),
                    number(choice.alarms),
                    number(choice.tp),
                    f"{choice.precision:.4f}",
                    f"{choice.recall:.4f}",
                )
            )
    header = (
        *("C_FP / C_FN", "probability", "alarm at a score of", "alarms", "right"),
        *("precision", "recall"),
    )
    guarantee = policy.guarantee
    words = f"Made for the scores of {report.winner}: {policy_in_words(policy)}."
    if guarantee is not None:
        words += f" Only thresholds allowed by {guarantee!r} are used."
    return [f"<p>{escape(words)}</p>", _table(header, rows, "On the validation cases")]


def _test(report: Report) -> list[str]:
    tested = report.tested
    if tested is None:
        return ["<p>No test cases were given: the policy has not been tested.</p>"]
    said = [f"<p>{escape(line[0].upper() + line[1:])}.</p>" for line in evaluation_in_words(tested)]
    rows = [
        (
            span(choice.cost_ratio_low, choice.cost_ratio_high),
            exact(choice.threshold),
            number(choice.alarms),
            number(choice.tp),
            f"{choice.precision:.4f}",
            f"{choice.recall:.4f}",
        )
        for choice in tested.choices
    ]
    header = ("C_FP / C_FN", "threshold", "alarms", "right", "precision", "recall")
    return [*said, _table(header, rows, "On the test cases, thresholds fixed beforehand")]


def _other_limits(report: Report) -> list[str]:
    pictures = list(_figures(map_pictures(report)))
    return pictures or ["<p>There is one model only, so that there is nobody to lose to.</p>"]


def _provenance(report: Report) -> list[str]:
    packages = ", ".join(f"{name} {number}" for name, number in versions().items())
    return [
        "<p>The exact command:</p>",
        f"<pre>{escape(report.command)}</pre>",
        f"<p>Versions: {escape(packages)}. The numbers are also in the JSON file beside this "
        "one.</p>",
    ]


def _facts(caption: str | None, facts: Sequence[tuple[str, str]]) -> str:
    title = "" if caption is None else f"<caption>{escape(caption)}</caption>"
    rows = "".join(
        f'<tr><th scope="row">{escape(name)}</th><td>{escape(text)}</td></tr>'
        for name, text in facts
    )
    return f'<div class="scroll"><table class="facts">{title}{rows}</table></div>'


def _table(header: Sequence[str], rows: Iterable[Sequence[str]], caption: str = "") -> str:
    title = f"<caption>{escape(caption)}</caption>" if caption else ""
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in header)
    body = "".join(
        f'<tr><th scope="row">{escape(first)}</th>'
        + "".join(f"<td>{escape(cell)}</td>" for cell in rest)
        + "</tr>"
        for first, *rest in rows
    )
    return (
        f'<div class="scroll"><table>{title}<thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def _figures(pictures: Iterable[Picture]) -> Iterable[str]:
    for address, alternative, caption in pictures:
        yield (
            f'<figure><img src="{address}" alt="{escape(alternative)}">'
            f"<figcaption>{escape(caption)}</figcaption></figure>"
        )
