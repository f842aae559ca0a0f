"""One JSON for every document: strict, the same each time, refused by the path of the key."""

import json
import math

import numpy as np
import pytest

from voros.io.documents import DocumentError, read_document
from voros.io.writing import json_text, plain


def test_numbers_that_json_lacks_have_one_spelling():
    text = json_text({"a": [math.inf, -math.inf, math.nan], "b": np.float32(np.inf), "c": None})
    assert json.loads(text) == {"a": ["Infinity", "-Infinity", "NaN"], "b": "Infinity", "c": None}
    assert [float(word) for word in json.loads(text)["a"][:2]] == [math.inf, -math.inf]


def test_numbers_are_read_back_exactly():
    values = [0.1, 1 / 3, 5e-324, 1.7976931348623157e308, 2**53 + 1, -0.0]
    document = read_document(json_text({"values": values}), "list")
    assert document.keys("values")["values"].numbers() == values


def test_the_same_values_give_the_same_text():
    document = {"b": np.arange(3), "a": (np.int64(1), np.bool_(True))}
    assert json_text(document) == json_text(plain(document))
    assert json_text(document, indent=None) == '{"b":[0,1,2],"a":[1,true]}\n'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"a": 1, "a": 1}', 'the key "a" is given twice'),
        ('{"a": {"b": 1, "b": 2}}', 'the key "b" is given twice'),
        ('{"a": NaN}', "NaN is not strict JSON"),
        ('{"a": -Infinity}', "-Infinity is not strict JSON"),
        ('{"a": 1e400}', "the number 1e400 is too large"),
        ('{"a": ' + "1" * 400 + "}", "has too many digits"),
        ("[" * 100_000, "nested too deep"),
        ('{"a": "' + "\\ud834" + '"}', "half a character"),
        ('{"a": 1,}', "is not JSON"),
        ("{", "is not JSON"),
        ('{"a": 1} extra', "is not JSON"),
    ],
)
def test_text_that_is_not_strict_is_refused(text, message):
    with pytest.raises(DocumentError, match=message):
        read_document(text, "document")


def test_brackets_inside_strings_are_no_nesting():
    name = "[" * 100 + '\\"' + "{" * 100
    assert read_document('{"name": "' + name + '"}', "document").keys("name")["name"].text()


def test_a_file_that_is_not_text_is_refused(tmp_path):
    file = tmp_path / "binary.json"
    file.write_bytes(b"\xff\xfe{}")
    with pytest.raises(DocumentError, match=r"binary\.json is not JSON: it is not UTF-8"):
        read_document(file, "document")


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda e: e["n"].text(), "n is 1; accepted is text"),
        (lambda e: e["flag"].number(), "flag is true; accepted is a number"),
        (lambda e: e["flag"].whole(), "flag is true; accepted is a whole number"),
        (lambda e: e["word"].number(finite=False), 'word is "x"; accepted is a number or "Infin'),
        (lambda e: e["inf"].number(), 'inf is "Infinity"; accepted is a number'),
        (lambda e: e["list"].numbers(), r"list\[1\] is null; accepted is a number"),
        (lambda e: e["list"].keys("a"), "list is a list of 2; accepted is an object"),
        (lambda e: e["n"].items(), "n is 1; accepted is a list"),
        (lambda e: e["inner"].keys("a", "b"), 'inner lacks "b"'),
        (lambda e: e["inner"].keys(), 'inner has the unknown key "a"'),
        (lambda e: e["inner"].keys("a")["a"].number(2, 3), r"inner\.a is 1; .* within \[2, 3\]"),
    ],
)
def test_every_refusal_names_the_key_the_value_and_what_is_accepted(ask, message):
    text = (
        '{"n": 1, "flag": true, "word": "x", "inf": "Infinity", "list": [1, null], '
        '"inner": {"a": 1}}'
    )
    entries = read_document(text, "document").keys("n", "flag", "word", "inf", "list", "inner")
    with pytest.raises(DocumentError, match=message):
        ask(entries)
