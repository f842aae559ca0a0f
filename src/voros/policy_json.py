"""The JSON form of a threshold policy: versioned, strict JSON, every number read back exactly."""

from __future__ import annotations

import json
import math
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from voros.costs import (
    CostDistribution,
    Density,
    Samples,
    Uniform,
    from_samples,
    from_scipy,
    scipy_parameters,
)
from voros.evaluation import Choice
from voros.scenario import Scenario

if TYPE_CHECKING:
    from voros.policy import ThresholdPolicy

FORMAT = "voros threshold policy"
SCHEMA = 1
"""Raised whenever a file of the new form could be misread by an older version."""


def policy_text(policy: ThresholdPolicy) -> str:
    """Return a policy as JSON text."""
    return json.dumps(policy_fields(policy), indent=2, allow_nan=False) + "\n"


def policy_fields(policy: ThresholdPolicy) -> dict[str, Any]:
    """Return everything that is saved of a policy, in values that strict JSON can hold."""
    scenario, guarantee = policy.scenario, policy.guarantee
    fields = {
        "format": FORMAT,
        "schema": SCHEMA,
        "model": policy.model,
        "strategy": policy.strategy,
        "scenario": {
            "min_precision": scenario.min_precision,
            "capacity": scenario.capacity,
            "cost_ratio": _encode_costs(scenario.costs),
            "prevalence": scenario.prevalence,
        },
        "guarantee": None if guarantee is None else asdict(guarantee),
        "n_models": policy.n_models,
        "validation": {
            "n_positive": policy.n_positive,
            "n_negative": policy.n_negative,
        },
        "default": asdict(policy.default),
        "choices": [asdict(choice) for choice in policy.choices],
    }
    encoded: dict[str, Any] = _encode(fields)
    return encoded


def parse_policy(source: str | Path) -> dict[str, Any]:
    """Read JSON text or a file into the arguments of `ThresholdPolicy`."""
    text, origin = _read(source)
    try:
        fields = json.loads(text)
    except json.JSONDecodeError as error:
        raise ValueError(f"{origin} is not JSON: {error}") from None
    _check_schema(fields, origin)
    try:
        return _arguments(fields)
    except KeyError as error:
        raise ValueError(f"{origin} is not a complete policy: it lacks {error}") from None
    except (TypeError, ValueError, AttributeError) as error:
        raise ValueError(f"{origin} is not a sound policy: {error}") from None


def _read(source: str | Path) -> tuple[str, str]:
    if isinstance(source, str) and source.lstrip()[:1] in ("{", "["):
        return source, "the text"
    path = Path(source)
    return path.read_text(encoding="utf-8"), str(path)


def _check_schema(fields: Any, origin: str) -> None:
    if not isinstance(fields, dict) or fields.get("format") != FORMAT:
        raise ValueError(f"{origin} is not a saved policy: it has no format {FORMAT!r}")
    schema = fields.get("schema")
    if not isinstance(schema, int) or schema < 1:
        raise ValueError(f"{origin} has the schema {schema!r}; accepted are 1 to {SCHEMA}")
    if schema > SCHEMA:
        raise ValueError(
            f"{origin} has the schema {schema}, written by a newer voros; this one reads up to "
            f"{SCHEMA}; upgrade voros"
        )


def _arguments(fields: dict[str, Any]) -> dict[str, Any]:
    limits = fields["scenario"]
    return {
        "scenario": Scenario(
            limits["min_precision"],
            limits["capacity"],
            _decode_costs(limits["cost_ratio"]),
            limits["prevalence"],
        ),
        "strategy": fields["strategy"],
        "choices": tuple(_decode_choice(row) for row in fields["choices"]),
        "default": _decode_choice(fields["default"]),
        "n_positive": fields["validation"]["n_positive"],
        "n_negative": fields["validation"]["n_negative"],
        "guarantee": _decode_guarantee(fields["guarantee"]),
        "model": fields.get("model"),
        "n_models": fields["n_models"],
    }


def _decode_choice(row: dict[str, Any]) -> Choice:
    return Choice(**{name: _decode_number(value) for name, value in row.items()})


def _decode_guarantee(fields: dict[str, Any] | None) -> Any:
    if fields is None:
        return None
    from voros.inference import Guarantee

    return Guarantee(**fields)


def _encode_costs(costs: CostDistribution) -> dict[str, Any]:
    if isinstance(costs, Uniform):
        return {"kind": "uniform", "over": costs.over, "low": costs.low, "high": costs.high}
    if isinstance(costs, Samples):
        values, weights = costs.values.tolist(), costs.weights.tolist()
        return {"kind": "samples", "over": costs.over, "values": values, "weights": weights}
    if isinstance(costs, Density):
        return {"kind": "scipy", "over": costs.over, **_encode_density(costs)}
    raise ValueError(f"cost_ratio={costs!r} cannot be saved as JSON")


def _encode_density(costs: Density) -> dict[str, Any]:
    family, args, keywords = scipy_parameters(costs.distribution)
    if type(costs.distribution.dist) is not type(_scipy_family(family)):
        raise ValueError(
            f"cost_ratio={costs!r} is not of a family in scipy.stats and cannot be saved as JSON; "
            "draw from it and use from_samples"
        )
    return {"family": family, "args": list(args), "keywords": dict(keywords)}


def _scipy_family(name: str) -> Any:
    # A file names the family, so nothing but a distribution may be looked up and called.
    from scipy import stats

    family = getattr(stats, name, None)
    return family if isinstance(family, stats.rv_continuous) else None


def _decode_costs(fields: dict[str, Any]) -> CostDistribution:
    kind, over = fields["kind"], fields["over"]
    if kind == "uniform":
        low, high = fields["low"], fields["high"]
        from_samples([low, high], over=over)
        if not low < high:
            raise ValueError(f"cost_ratio is uniform between {low!r} and {high!r}")
        return Uniform(low, high, over=over)
    if kind == "samples":
        values, weights = fields["values"], fields["weights"]
        # Only to check them: weights summed anew would not be those saved to the last bit.
        from_samples(values, weights, over=over)
        return Samples(np.array(values), np.array(weights), over=over)
    if kind == "scipy":
        family = _scipy_family(fields["family"])
        if family is None:
            raise ValueError(f"scipy.stats has no distribution {fields['family']!r}")
        return from_scipy(family(*fields["args"], **fields["keywords"]), over=over)
    raise ValueError(f"cost_ratio has the kind {kind!r}; accepted are uniform, samples and scipy")


def _encode(value: Any) -> Any:
    """Write numpy's numbers as Python's, and infinities and NaN, which JSON lacks, as text."""
    if isinstance(value, dict):
        return {key: _encode(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_encode(item) for item in value]
    if isinstance(value, np.generic):
        return _encode(value.item())
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value


def _decode_number(value: Any) -> Any:
    return float(value) if isinstance(value, str) else value
