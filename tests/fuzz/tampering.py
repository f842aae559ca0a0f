"""Seeded damage to JSON documents."""

import copy
import json

STRANGE = [
    None,
    True,
    False,
    0,
    -1,
    1,
    2,
    -0.5,
    0.5,
    1e-320,
    1e308,
    -1e308,
    2**53 + 1,
    2**63,
    10**400,
    "",
    "x",
    "NaN",
    "nan",
    "Infinity",
    "-Infinity",
    "inf",
    "1",
    "\u202e\x1b[31m",
    [],
    {},
    [[]],
    [1, 2],
    {"a": 1},
]
"""What is put in place of a value."""


def paths(value, path=()):
    """Every place in a document, the document itself last."""
    items = value.items() if isinstance(value, dict) else ()
    items = enumerate(value) if isinstance(value, list) else items
    for key, item in items:
        yield from paths(item, (*path, key))
    yield path


def _parent(document, path):
    for key in path[:-1]:
        document = document[key]
    return document


def tampered(document, rng):
    """One damaged copy of a document, as text, and what was done to it."""
    document = copy.deepcopy(document)
    places = [path for path in paths(document) if path]
    path = places[rng.integers(len(places))]
    parent, key = _parent(document, path), path[-1]
    kind = rng.choice(["replace", "scale", "drop", "add", "swap", "repeat", "text"])
    if kind == "drop":
        del parent[key]
    elif kind == "add" and isinstance(parent, dict):
        parent[f"{key} "] = parent[key]
    elif kind == "scale" and isinstance(parent[key], (int, float)):
        parent[key] = parent[key] * rng.choice([-1.0, 0.0, 0.5, 1.5, 1e-9, 1e9])
    elif kind == "swap":
        other = places[rng.integers(len(places))]
        if other[: len(path)] != path and path[: len(other)] != other:
            elsewhere = _parent(document, other)
            parent[key], elsewhere[other[-1]] = elsewhere[other[-1]], parent[key]
    elif kind == "repeat" and isinstance(parent, list):
        parent.insert(key, copy.deepcopy(parent[key]))
    elif kind == "text":
        return _damaged_text(json.dumps(document), rng), "text"
    else:
        parent[key] = STRANGE[rng.integers(len(STRANGE))]
        kind = "replace"
    return json.dumps(document), f"{kind} {path}"


def _damaged_text(text, rng):
    place = int(rng.integers(1, len(text)))
    kind = rng.integers(6)
    if kind == 0:
        return text[:place]
    if kind == 1:
        return text[:place] + chr(rng.integers(1, 0x250)) + text[place:]
    if kind == 2:
        return text[:place] + text[place + 1 :]
    if kind == 3:
        return text.replace("1", "NaN", 1)
    if kind == 4:
        return text[:place] + "[" * 5000 + text[place:]
    first = text.index('"')
    key = text[first : text.index(",", first) + 1]
    return text[:first] + key + text[first:]
