"""Odd command lines: an answer to what was asked, or one line at once; files whole or absent."""

import json
import shutil
import time
from fractions import Fraction

import numpy as np
import pytest
from cli.cases import write_cases

LINES_OF_A_SEED, SEEDS = 250, 4

ODD_VALUES = [
    *("", " ", "0", "1", "-1", "0.5", "1.5", "50%", "100%", "101%", "1/9", "9/1", "1/0", "0/0"),
    *("inf", "-inf", "nan", "1e400", "1e-400", "1e400%", "1e5000000%", "1e-5000000%", "9" * 400),
    *("1/9:1/6", "1/6:1/9", "1:2:3", ":", "::", "%", "/", "0.1:0.5:3", "0.1:0.5:1000000000"),
    *("é", "\x1b[31m", "\x07", "=1+1", "../x", "--", "-", "'", '"', "None", "true", "0x10", "1_0"),
    *("\uff11", "a" * 300, "\udcff", "good", "fair", "died", "cases.csv", "voros", "partial_voros"),
    *("2", "100", "1000000000000", "1e12", "0.95", "1e308", "1e-308", "[red]", "$\\frac{1$", "_a"),
]
"""Values that people, scripts and shells come up with."""

LIMITS = ("--min-precision", "0.2", "--capacity", "0.3", "--miss-costs", "5:20")

COMMANDS = {
    "score": (40, ()),
    "select": (22, ()),
    "apply": (16, ()),
    "compare": (7, ("--resamples", "100")),
    "map": (6, ("--min-precision", "0.1:0.5:3", "--capacity", "0.1:0.5:3")),
    "explore": (4, ("-o", "page.html")),
    "plot": (2, ("-o", "roc.png", "--kind", "roc")),
    "subgroups": (3, ("--score", "good", "--by", "died", *LIMITS)),
    "allocate": (3, ("--score", "good", "--label", "died", "--by", "fair", *LIMITS)),
    "count": (3, ("-o", "counts.json")),
    "report": (1, ("-o", "report.html", "--resamples", "100")),
    "nosuch": (1, ()),
}
"""How often each command is tried, and what keeps it short."""

WHOLE = {".json": b"}\n", ".html": b"</html>", ".png": b"IEND\xaeB`\x82", ".csv": b"\n"}
"""How a file ends that is complete."""


@pytest.fixture(scope="module")
def options_of():
    """The options of every command, as typer knows them."""
    pytest.importorskip("typer", reason="the command line needs the cli extra")
    import typer

    from voros.cli.app import app

    group = typer.main.get_command(app)
    # A command is imported when it is asked for.
    commands = {name: group.get_command(None, name) for name in group.commands}
    return {
        name: [
            (option, parameter.is_flag)
            for parameter in command.params
            if parameter.param_type_name == "option"
            for option in parameter.opts
            if option not in ("--help", "-h")
        ]
        for name, command in commands.items()
        if name in COMMANDS
    }


def command_line(rng, options_of):
    """Make up the words of a command: a sound one, with one to three odd things in it."""
    names, weights = zip(*((name, often) for name, (often, _) in COMMANDS.items()), strict=True)
    name = str(rng.choice(names, p=np.divide(weights, sum(weights))))
    words = ["policy.json", "cases.csv"] if name == "apply" else ["cases.csv"]
    words += COMMANDS[name][1]
    if name in ("score", "select", "compare", "explore", "plot", "report"):
        words += LIMITS
    if name == "map":
        words += ("--cost-ratio", "1/9")
    if rng.random() < 0.3:
        words.append("--json")
    for _ in range(int(rng.choice([1, 2, 3], p=[0.7, 0.2, 0.1]))):
        odd = str(rng.choice(ODD_VALUES))
        options = options_of.get(name)
        if not options or rng.random() < 0.1:
            words.insert(int(rng.integers(len(words) + 1)), odd)
            continue
        option, is_flag = options[int(rng.integers(len(options)))]
        words += [option] if is_flag else [option, odd]
    return [name, *words]


def asked_capacity(words):
    """Read the last capacity asked for, by way of fractions; None where it is none to be read."""
    asked = next(
        words[i + 1] for i in range(len(words) - 2, 0, -1) if words[i] == "--capacity"
    ).strip()
    share = Fraction(asked.removesuffix("%")) / (100 if asked.endswith("%") else 1)
    return int(asked) if asked.isdecimal() else float(share)


def check_files(folder, before):
    """Whatever is new is whole, and nothing is left of what was begun."""
    for path in folder.rglob("*"):
        assert not path.name.endswith(".part")
        if path.is_file() and path.name not in before:
            assert (
                path.read_bytes().rstrip(b"\n").endswith(WHOLE.get(path.suffix, b"").rstrip(b"\n"))
            ), path


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(SEEDS))
def test_odd_command_lines(voros_command, options_of, tmp_path, seed):
    rng = np.random.default_rng([592, seed])
    write_cases(tmp_path / "cases.csv", n_cases=60)
    voros_command("select", "cases.csv", "-o", "policy.json", *LIMITS)
    start = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    codes, compared = [], 0
    for _ in range(LINES_OF_A_SEED):
        words = command_line(rng, options_of)
        began = time.perf_counter()
        ran = voros_command(*words)
        assert time.perf_counter() - began < 30, words
        assert ran.code in (0, 1, 2), words
        errors = [line for line in ran.err.splitlines() if line.startswith("voros: error:")]
        assert "fault of voros" not in ran.err, (words, ran.err)
        assert "Traceback" not in ran.err, words
        assert not {"\x1b", "\x07"} & {*ran.out, *ran.err}, words
        if ran.code == 2 and not ran.out.lstrip().startswith("Usage"):
            assert len(errors) == 1, (words, ran.err)
            assert ran.out == "", words
        if ran.code == 0 and words[0] == "score" and "--json" in words:
            assert json.loads(ran.out)["scenario"]["capacity"] == asked_capacity(words), words
            compared += 1
        codes.append(ran.code)
        check_files(tmp_path, start)
        for path in tmp_path.iterdir():
            if path.is_dir():
                shutil.rmtree(path)
            elif path.name not in start:
                path.unlink()
        for name, content in start.items():
            (tmp_path / name).write_bytes(content)
    print(
        f"{len(codes)} command lines: {codes.count(0)} answered, {codes.count(2)} refused, "
        f"{compared} compared"
    )
    assert codes.count(2) > LINES_OF_A_SEED // 3


def spelled(rng):
    """Write a number between 0 and 1 in one of many ways, with the fraction it stands for."""
    top, bottom = sorted(rng.choice(np.arange(1, 1000), 2, replace=False).tolist())
    decimals = f"{top / bottom:.{int(rng.integers(3, 12))}f}"
    per_cent = f"{100 * top / bottom:.{int(rng.integers(2, 8))}f}"
    ways = {
        f"{top}/{bottom}": Fraction(top, bottom),
        f" {top}/{bottom} ": Fraction(top, bottom),
        decimals: Fraction(decimals),
        f"+{decimals}": Fraction(decimals),
        decimals.removeprefix("0"): Fraction(decimals),
        f"{per_cent}%": Fraction(per_cent) / 100,
        f"{per_cent} %": Fraction(per_cent) / 100,
        f"{top}e-4": Fraction(top, 10**4),
        f"{top}E-02%": Fraction(top, 10**4),
    }
    return list(ways.items())[int(rng.integers(len(ways)))]


@pytest.mark.slow
def test_numbers_mean_what_they_say(voros_command, tmp_path):
    rng = np.random.default_rng(2)
    write_cases(tmp_path / "cases.csv", n_cases=60)
    options = ("--min-precision", "--capacity", "--cost-ratio", "--prevalence")
    answered = 0
    for _ in range(120):
        (floor, a), (capacity, k), (ratio, c), (prevalence, p) = (spelled(rng) for _ in options)
        words = zip(options, (floor, capacity, ratio, prevalence), strict=True)
        ran = voros_command(
            "score", "cases.csv", "--json", "--check", *(word for pair in words for word in pair)
        )
        if ran.code == 2:
            assert "fewer than one case" in ran.err, ran.err
            continue
        scenario = json.loads(ran.out)["scenario"]
        limits = (
            scenario["min_precision"],
            scenario["capacity"],
            scenario["cost_low"],
            scenario["prevalence"],
        )
        assert limits == tuple(float(exact) for exact in (a, k, c, p))
        assert scenario["capacity_unit"] == "share"
        answered += 1
    print(f"120 limits in odd spellings, {answered} answered, none changed")
    assert answered > 90
