"""Random typing into the page's fields, and random addresses: taken exactly, or refused aloud.

What is expected follows from Python's own reading of numbers and addresses. Each trial ends with
the scenario that the page itself writes as Python, which must also be one that Python accepts.
"""

import re
import warnings
from collections import Counter
from decimal import Decimal
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, quote

import numpy as np
import pytest

import voros
from voros.present.explorer import write_page

pytest.importorskip("selenium")
from present.explorer.driving import complaints, python_scenario, text, type_into, value
from selenium.webdriver.common.keys import Keys

pytestmark = [pytest.mark.browser, pytest.mark.slow]

SEED = 20261115
TYPED, KEYED, ASKED, VISITED = 250, 20, 300, 10
FIRST = voros.Scenario(0.25, 0.2, cost_ratio=voros.costs.miss_costs(9, 40))
FIELDS = ("floor", "capacity", "count", "low", "high", "prevalence")
LARGEST_WHOLE = 2**53 - 1
MISSES = (1e-100, 1e100)
LEAST_PREVALENCE = 1e-100

THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(?:,\d{3})+(?![\d,])", re.ASCII)
DECIMAL = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
"""What an address takes as a number, and a field where it has neither spaces nor commas."""

ODD = (
    "", "0", "-0", "1", "100", "100.0000000000001", "150", "250", "999999", "1e5", "1e-5", "1e308",
    "1.8e308", "1e400", "1e-400", "5e-324", "1e100", "1.0000001e100", "1e-100", "9e-101", ".5",
    "5.", "+5", "--5", "0x10", "1_000", "1,5", "1 5", "Infinity", "NaN", "null", "true", "١٢",
    "1e", "e5", "33.333333333333336", "0.1", "1" * 40, "9007199254740991", "9007199254740993",
    "12.5", "-3", "<b>1</b>", "${7*7}", "\x00", "50%", "1e2", "010",
    "1" + "0" * 400, "0." + "3" * 400,
)  # fmt: skip

IS_BROKEN = """
const RESULTS = "svg.picture, #ranking, #verdict, #consequence, #deploy, #setting-text, #choices";
const isBroken = () =>
  [...document.querySelectorAll(RESULTS)].some((e) => /NaN|undefined|Infinity/.test(e.outerHTML));
"""

TYPE = (
    IS_BROKEN
    + """
const [name, typed] = arguments;
const byId = (id) => document.getElementById(id);
byId("reset").click();
if (name === "count") {
  byId("capacity-unit").value = "count";
  byId("capacity-unit").dispatchEvent(new Event("change", { bubbles: true }));
}
const part = name === "count" ? "capacity" : name;
const field = byId(`${part}-field`);
const before = [byId("as-python").value, field.value];
for (let end = 1; end <= Math.min(typed.length, 60); end++) {
  field.value = end < 60 ? typed.slice(0, end) : typed;
  field.dispatchEvent(new Event("input", { bubbles: true }));
}
field.value = typed;
field.dispatchEvent(new Event("input", { bubbles: true }));
field.dispatchEvent(new Event("change", { bubbles: true }));
return {
  before,
  after: [byId("as-python").value, field.value],
  problem: byId(`${part}-problem`).textContent,
  broken: isBroken(),
};
"""
)
"""Each beginning of what is typed is an event of its own, as it is under the keys."""

ASK = (
    IS_BROKEN
    + """
document.getElementById("reset").click();
const newURL = new URL(`file:///page.html#${arguments[0]}`).href;
window.dispatchEvent(new HashChangeEvent("hashchange", { newURL }));
return {
  hash: new URL(newURL).hash,
  python: document.getElementById("as-python").value,
  notice: document.getElementById("notice").textContent,
  broken: isBroken(),
};
"""
)
"""The event of a new address without the way there, which browsers take slowly if it is often."""


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rng = np.random.default_rng(0)
    y = rng.random(400) < 0.2
    scores = {"a": rng.normal(size=400) + y, "b": rng.normal(size=400) + 2 * y}
    return write_page(y, scores, FIRST, tmp_path_factory.mktemp("fuzz") / "page.html")


@pytest.fixture
def opened(browser: Any, page: Path) -> Any:
    browser.get("about:blank")
    browser.get(page.as_uri())
    browser.execute_script("document.querySelectorAll('details').forEach((d) => (d.open = true))")
    complaints(browser)
    return browser


def scenario_of(python: str) -> voros.Scenario:
    """The scenario of the page's own Python text, which Python must accept."""
    names: dict[str, Any] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", voros.VorosWarning)
        exec(python, names)
    scenario = names["scenario"]
    assert isinstance(scenario, voros.Scenario)
    return scenario


def parts(scenario: voros.Scenario) -> dict[str, Any]:
    return {
        "floor": scenario.min_precision,
        "capacity": scenario.capacity,
        "kind": type(scenario.capacity),
        "miss": scenario.costs.support,
        "over": scenario.costs.over,
        "prevalence": scenario.prevalence,
    }


def random_text(rng: np.random.Generator) -> str:
    if rng.random() < 0.4:
        return str(rng.choice(ODD))
    number = 10 ** rng.uniform(-4, 6) * rng.choice([1, 1, 1, -1])
    spelled = rng.choice([f"{number:.6g}", f"{number:.0f}", repr(float(number)), f"{number:.3e}"])
    if rng.random() < 0.15:
        at = int(rng.integers(0, len(spelled) + 1))
        spelled = spelled[:at] + str(rng.choice(list("eE.-+ ,_%x0"))) + spelled[at:]
    return str(spelled)


def percent(typed: float) -> float:
    return float(Decimal(repr(typed)).scaleb(-2))


def is_whole(number: float) -> bool:
    return number.is_integer() and 0 < number <= LARGEST_WHOLE


def is_prevalence(number: float) -> bool:
    return LEAST_PREVALENCE <= number < 1


def read_typed(typed: str) -> float:
    """A number of a field on an English page: 1,000 is a thousand, and 1,5 one and a half."""
    text = re.sub(r"[\s']", "", typed)
    swapped = text.translate(str.maketrans(".,", ",."))
    if THOUSANDS.match(text) and ("." not in text or text.rfind(".") > text.rfind(",")):
        text = text.replace(",", "")
    elif text.rfind(",") > text.rfind(".") >= 0 and THOUSANDS.match(swapped):
        text = text.replace(".", "")
    return address_number(text.replace(",", ".", 1))


def wanted(name: str, typed: str) -> dict[str, Any] | None:
    """What a setting becomes by typing, or None where it must stay."""
    if not np.isfinite(number := read_typed(typed)):
        return None
    first = FIRST.costs.support
    made_of = {
        "floor": lambda: {"floor": percent(number)} if 0 <= percent(number) <= 1 else None,
        "capacity": lambda: {"capacity": percent(number)} if 0 < percent(number) <= 1 else None,
        "count": lambda: {"capacity": int(number), "kind": int} if is_whole(number) else None,
        "prevalence": lambda: (
            {"prevalence": percent(number)} if is_prevalence(percent(number)) else None
        ),
        "low": lambda: {"miss": (number, max(number, first[1]))},
        "high": lambda: {"miss": (min(number, first[0]), number)},
    }
    if name in ("low", "high") and not MISSES[0] <= number <= MISSES[1]:
        return None
    return made_of[name]()


def check_typed(name: str, typed: str, outcome: dict[str, Any]) -> str:
    before, after = (parts(scenario_of(outcome[when][0])) for when in ("before", "after"))
    expected = wanted(name, typed)
    assert not outcome["broken"], (name, typed)
    if expected is None:
        assert after == before, (name, typed)
        assert outcome["after"][1] == outcome["before"][1], (name, typed)
        assert outcome["problem"].startswith(f"Back to {outcome['before'][1]}: "), (name, typed)
        return "refused"
    assert after == before | expected, (name, typed)
    assert outcome["problem"] == "", (name, typed)
    return "taken"


def test_what_is_typed_is_taken_exactly_or_refused_aloud(opened: Any) -> None:
    rng = np.random.default_rng(SEED)
    tally: Counter[str] = Counter()
    for _ in range(TYPED):
        name, typed = str(rng.choice(FIELDS)), random_text(rng)
        tally[check_typed(name, typed, opened.execute_script(TYPE, name, typed))] += 1
    print(f"page fields: {TYPED} texts typed, {dict(tally)}")
    assert min(tally["taken"], tally["refused"]) > TYPED // 10
    # A script that sets a field to what is no number is told so; a person at the keys is not.
    assert [line for line in complaints(opened) if "The specified value" not in line] == []


def test_keys_do_what_events_do(opened: Any) -> None:
    rng = np.random.default_rng(SEED + 1)
    for _ in range(KEYED):
        name = str(rng.choice([field for field in FIELDS if field != "count"]))
        typed = re.sub(r"[^0-9.eE+-]", "", random_text(rng))[:20]
        opened.execute_script("document.getElementById('reset').click()")
        before = {"before": [value(opened, "as-python"), value(opened, f"{name}-field")]}
        type_into(opened, f"{name}-field", typed or Keys.BACKSPACE)
        # A field shows what is no number, and says that it holds nothing.
        held = value(opened, f"{name}-field")
        opened.switch_to.active_element.send_keys(Keys.TAB)
        after = [value(opened, "as-python"), value(opened, f"{name}-field")]
        problem = text(opened, f"{name}-problem")
        check_typed(name, held, before | {"after": after, "problem": problem, "broken": False})
    print(f"page fields: {KEYED} texts typed by keys")
    assert complaints(opened) == []


def random_hash(rng: np.random.Generator) -> str:
    keys = ("precision", "share", "count", "miss", "spread", "prevalence", "at", "model", "zoom")
    pairs = []
    for _ in range(int(rng.integers(1, 6))):
        key = str(rng.choice([*keys, *keys, "Precision", "", "colour", "__proto__"]))
        spelled = random_text(rng)
        if key == "miss" and rng.random() < 0.7:
            low, high = sorted(10 ** rng.uniform(-2, 4, 2))
            spelled = f"{low!r}_{high!r}".replace("np.float64(", "").replace(")", "")
        if key in ("precision", "share", "prevalence", "at") and rng.random() < 0.6:
            spelled = repr(float(rng.uniform(0, 1.2)))
        if key in ("spread", "zoom", "model", "prevalence") and rng.random() < 0.4:
            spelled = str(rng.choice(["miss", "ratio", "0", "1", "2", "3", "own"]))
        pairs.append(f"{key}={quote(spelled) if rng.random() < 0.8 else spelled}")
    return "&".join(pairs)


def address_number(spelled: str) -> float:
    return float(spelled) if DECIMAL.fullmatch(spelled) else float("nan")


def read_pair(key: str, spelled: str) -> Any:
    """What a key of an address means, or None where it is not accepted."""
    number = address_number(spelled)
    if key in ("precision", "at"):
        return number if 0 <= number <= 1 else None
    if key == "share":
        return number if 0 < number <= 1 else None
    if key == "count":
        return int(number) if np.isfinite(number) and is_whole(number) else None
    if key == "model":
        return int(number) if number in (1, 2) else None
    if key == "prevalence":
        return "own" if spelled == "own" else number if is_prevalence(number) else None
    if key == "miss":
        ends = [address_number(end) for end in spelled.split("_")]
        fits = len(ends) == 2 and all(MISSES[0] <= end <= MISSES[1] for end in ends)
        return tuple(ends) if fits and ends[0] <= ends[1] else None
    choices = {"spread": ("miss", "ratio"), "zoom": ("0", "1")}.get(key, ())
    return spelled if spelled in choices else None


def read_address(hash_: str) -> tuple[dict[str, Any], int]:
    """What an address means by Python's reading, and how much of it is left out."""
    asked: dict[str, Any] = {}
    left_out = 0
    for key, spelled in parse_qsl(hash_.removeprefix("#"), keep_blank_values=True):
        meaning = read_pair(key, spelled)
        if meaning is None or key in asked:
            left_out += 1
        else:
            asked[key] = meaning
    return asked, left_out + ("share" in asked and "count" in asked)


def check_asked(hash_: str, python: str, notice: str) -> str:
    asked, left_out = read_address(hash_)
    expected = parts(FIRST)
    if "precision" in asked:
        expected["floor"] = asked["precision"]
    if "share" in asked:
        expected["capacity"] = asked["share"]
    if "count" in asked:
        expected |= {"capacity": asked["count"], "kind": int}
    if "prevalence" in asked:
        expected["prevalence"] = None if asked["prevalence"] == "own" else asked["prevalence"]
    low, high = asked.get("miss", (9, 40))
    ratio = asked.get("spread") == "ratio"
    expected["miss"] = (1 / high, 1 / low) if ratio else (low, high)
    known = {"over": "ratio"} if ratio else {}
    assert parts(scenario_of(python)) == expected | known, hash_
    assert notice.startswith("The address was not taken in full") == (left_out > 0), hash_
    assert (
        notice.count("(accepted: ")
        + notice.count("(no such key)")
        + notice.count("(given before)")
        + notice.count("(count is given too)")
        == left_out
    ), hash_
    return "in full" if left_out == 0 else "in part"


def test_an_address_is_taken_exactly_or_what_is_left_out_is_said(opened: Any) -> None:
    rng = np.random.default_rng(SEED + 2)
    tally: Counter[str] = Counter()
    for _ in range(ASKED):
        outcome = opened.execute_script(ASK, random_hash(rng))
        assert not outcome["broken"], outcome["hash"]
        tally[check_asked(outcome["hash"], outcome["python"], outcome["notice"])] += 1
    print(f"page addresses: {ASKED} asked for, taken {dict(tally)}")
    assert min(tally["in full"], tally["in part"]) > ASKED // 25
    assert complaints(opened) == []


def test_visited_addresses_do_what_events_do(opened: Any, page: Path) -> None:
    rng = np.random.default_rng(SEED + 3)
    for _ in range(VISITED):
        opened.get("about:blank")
        opened.get(f"{page.as_uri()}#{random_hash(rng)}")
        hash_ = opened.execute_script(
            "return performance.getEntriesByType('navigation')[0].name.replace(/^[^#]*/, '')"
        )
        check_asked(hash_, value(opened, "as-python"), text(opened, "notice"))
    assert isinstance(python_scenario(opened), voros.Scenario)
    print(f"page addresses: {VISITED} visited")
    assert complaints(opened) == []
