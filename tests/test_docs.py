"""Every Python example in the README and the guide runs, page by page, as typed by a reader."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import voros

ROOT = Path(__file__).parents[1]
PACKAGE = Path(voros.__file__).parent
"""Found through the installed package, because the tests also run without the sources."""

WRITTEN = ("*.md", "howto/*.md", "theory/*.md", "studies/*.md")
"""Pages that are written by hand; the others are generated when the site is built."""

PAGES = [ROOT / "README.md"]
PAGES += [page for pattern in WRITTEN for page in sorted((ROOT / "docs").glob(pattern))]
BLOCK = re.compile(r"^```python\n(.*?)^```(?:\n\n```text\n(.*?)^```)?", re.MULTILINE | re.DOTALL)
"""An example, and what it prints where the page says so; dots stand for the rest of a line."""

LINK = re.compile(r"\]\((?!https?:|#|mailto:)([^)#\s]+)")


LONG = {
    *("pictures.md", "reports.md", "monitoring.md", "intervals.md", "scikit-learn.md"),
    "worth-per-case.md",
}
"""Pages whose examples draw or compute for seconds; they run with the slow tests."""

RUN_HERE = [
    pytest.param(page, marks=[pytest.mark.slow] if page.name in LONG else []) for page in PAGES
]


@pytest.mark.parametrize("page", RUN_HERE, ids=lambda page: str(page.relative_to(ROOT)))
def test_examples_run_and_print_what_the_page_says(
    page: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    pytest.importorskip("pandas")
    if page.parent.name == "studies":
        pytest.importorskip("voros_studies")
    pytest.importorskip("matplotlib").use("Agg")
    pyplot = pytest.importorskip("matplotlib.pyplot")
    monkeypatch.chdir(tmp_path)
    text = page.read_text(encoding="utf-8")
    names: dict[str, object] = {"__name__": "__main__"}
    for match in BLOCK.finditer(text):
        line = text[: match.start(1)].count("\n")
        # Blank lines in front make a traceback point at the line of the page.
        exec(compile("\n" * line + match[1], str(page), "exec"), names)
        printed = " ".join(capsys.readouterr().out.split())
        for said in " ".join((match[2] or "").split()).split("..."):
            assert said.strip() in printed
    pyplot.close("all")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_to_files_lead_somewhere(page: Path) -> None:
    for target in LINK.findall(page.read_text(encoding="utf-8")):
        inside = target.rpartition("src/voros/")[2]
        assert (page.parent / target).exists() or (PACKAGE / inside).exists(), target


def test_the_functions_and_commands_that_a_reader_is_sent_to_exist() -> None:
    app = pytest.importorskip("voros.cli.app", exc_type=ImportError)
    text = (ROOT / "docs" / "which-function.md").read_text(encoding="utf-8")
    commands = set(re.findall(r"`voros ([a-z]+)", text))
    assert commands <= set(app.COMMANDS)
    named = set(re.findall(r"`(?:voros\.)?([A-Za-z_]\w*)[`.(]", text)) - {"policy", "guarantee"}
    assert [name for name in sorted(named) if not hasattr(voros, name)] == []
    assert len(commands) > 10
    assert len(named) > 20


def test_the_modules_that_contributors_are_sent_to_exist() -> None:
    pages = (ROOT / "CONTRIBUTING.md", ROOT / "docs" / "science.md")
    text = "".join(page.read_text(encoding="utf-8") for page in pages)
    named = set(re.findall(r"`((?:\w+/)*\w+\.py)`", text)) - {"utils.py", "app.py"}
    installed = {name: name.removeprefix("studies/").removeprefix("src/") for name in named}
    missing = [
        name
        for name in sorted(named)
        if not any((at / name).exists() for at in (ROOT, PACKAGE))
        and not (PACKAGE.parent / installed[name]).exists()
    ]
    assert missing == []
    assert len(named) > 15


PHOTOGRAPHS = {
    "explorer-1280.png",
    "explorer-360.png",
    "explorer-gains.png",
    "monitor.png",
    "report.png",
}
"""Of pages in a browser."""


def test_every_picture_is_drawn_by_the_code_of_a_page(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("matplotlib")
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    import draw_doc_images

    pages = [page.read_text(encoding="utf-8") for page in draw_doc_images.PAGES]
    saved = {name for page in pages for name in re.findall(r'savefig\("([\w-]+\.png)"', page)}
    # Studies and benchmarks draw their own.
    benchmarks = {"certificate-bound.png", "expected-precision.png"}
    own = {"evidence.png", "regret.png", "sepsis-events.png", *benchmarks}
    kept = {path.name for path in draw_doc_images.IMAGES.glob("*.png")}
    assert kept == saved | PHOTOGRAPHS | own


@pytest.mark.extras
def test_the_example_for_a_gpu_runs_in_small_on_a_processor() -> None:
    pytest.importorskip("torch")
    text = (ROOT / "docs" / "devices.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"^```py\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert block.count('"cuda"') == block.count("10**9") == 2
    exec(block.replace('"cuda"', '"cpu"').replace("10**9", "10**4"), {})


@pytest.mark.extras
@pytest.mark.filterwarnings("ignore")
def test_the_recipes_for_training_give_the_score_of_the_validation_cases() -> None:
    pytest.importorskip("lightgbm")
    torch = pytest.importorskip("torch")
    text = (ROOT / "docs" / "frameworks.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```(?:python|py)\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    names: dict[str, Any] = {}
    for block in blocks[:2]:
        exec(block, names)
    y_valid, score = names["y_valid"], names["model"].best_score_["valid_0"]["partial_voros"]
    scores = names["model"].predict_proba(names["X_valid"])[:, 1]
    expected = voros.partial_voros_score(y_valid, scores, names["scenario"])
    assert score == pytest.approx(expected, abs=1e-9)
    batch = torch.as_tensor(scores)[:, None], torch.as_tensor(y_valid)
    names |= {
        "model": lambda rows: rows,
        "validation_loader": zip(*(part.split(99) for part in batch), strict=True),
    }
    exec(blocks[2], names)
    assert names["score"] == expected


def test_the_first_page_and_the_readme_share_one_example() -> None:
    first = [
        BLOCK.search(path.read_text(encoding="utf-8"))
        for path in (ROOT / "README.md", ROOT / "docs" / "index.md")
    ]
    assert first[0]
    assert first[1]
    assert first[0].groups() == first[1].groups()


WIDTH = 68
"""Characters of code that fit the column of the site."""


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_code_fits_the_column(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    blocks = re.findall(r"^```(?:python|py|toml)\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    shell = re.findall(r"^```console\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    lines = [line for block in blocks for line in block.splitlines()]
    # What a command prints is as wide as it is.
    lines += [
        line for block in shell for line in re.findall(r"^(?:\$ .*|.*\\)$", block, re.MULTILINE)
    ]
    assert [line for line in lines if len(line) > WIDTH] == []


def test_no_page_with_python_is_left_out() -> None:
    generated = {"_build", "gallery", "reference"}
    pages = {
        page
        for page in (ROOT / "docs").rglob("*.md")
        if not generated & set(page.parts) and "```python\n" in page.read_text(encoding="utf-8")
    }
    assert pages <= set(PAGES)


def test_blocks_are_of_kinds_that_the_site_knows() -> None:
    kinds = {
        kind
        for page in PAGES
        for kind in re.findall(r"^```(\w+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    }
    assert kinds <= {"python", "py", "console", "text", "toml", "none"}
