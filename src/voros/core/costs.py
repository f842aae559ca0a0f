"""Distributions of the cost of a false alarm relative to that of a miss.

A cost can be stated in three units, and a distribution keeps the unit in which it was stated:

``"ratio"``
    c = C_FP / C_FN, the cost of a false alarm as a fraction of the cost of a miss.
``"miss"``
    r = C_FN / C_FP = 1/c, the number of false alarms that a miss is worth.
``"t"``
    t = cN / (cN + P), the share of the worst possible total cost that is due to false alarms.
    It depends on the class sizes, so it does not carry over to data of another prevalence.

Uniform in one unit is **not** uniform in another. "A miss costs 20 to 40 false alarms", where every
number in between is equally likely, is ``miss_costs(20, 40)``, with a mean cost ratio of
ln(2)/20 = 0.0347; ``uniform(1/40, 1/20)`` has a mean of 0.0375 and favours cheaper misses.

In each unit, the coefficients of the line of equal cost through a ROC point are linear. Therefore
`voros.core.volume` can integrate all three in closed form.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from functools import cache
from numbers import Real
from typing import Any, Literal, TypeAlias

import numpy as np

from voros.core.arguments import as_number, check_choice, is_scalar
from voros.core.arrays import as_floats, as_vector, check_same_length, check_weights
from voros.exceptions import Argument, ArgumentError, Message
from voros.text.numbers import typed
from voros.typing import FloatArray

__all__ = [
    "CostDistribution",
    "from_samples",
    "from_scipy",
    "known",
    "miss_costs",
    "uniform",
    "uniform_t",
]

Over: TypeAlias = Literal["ratio", "t", "miss"]
COST_SYMBOLS: dict[Over, str] = {"ratio": "C_FP / C_FN", "t": "t", "miss": "C_FN / C_FP"}
COST_UNITS = tuple(COST_SYMBOLS)

QUADRATURE_NODES = 16
"""Gauss-Legendre nodes on each smooth piece of a density."""

LARGEST_RATIO = 1e100
"""Cost ratios above it, or below its inverse, would overflow."""

UPSIDE_DOWN = 0.9
"""Costs look upside down where at least this share of them has false alarms costlier than misses. A
range on both sides of 1 is most often intended."""

TAIL_HALVINGS = 52
"""Number of times that a tail is halved: the rest has less mass than a float can represent."""


@dataclass(frozen=True)
class CostDistribution(ABC):
    """A distribution of the cost of a false alarm relative to that of a miss.

    Make one with `known`, `uniform`, `uniform_t`, `miss_costs`, `from_scipy` or `from_samples`.

    Examples
    --------
    >>> import voros
    >>> costs = voros.costs.miss_costs(9, 40)
    >>> isinstance(costs, CostDistribution), costs.support, costs.over
    (True, (9.0, 40.0), 'miss')
    >>> costs.ratio_range(negatives_per_positive=9.0)
    (0.025, 0.1111)
    """

    over: Over = field(kw_only=True, default="ratio")

    @property
    @abstractmethod
    def support(self) -> tuple[float, float]:
        """Smallest and largest possible value, in the unit `over`."""

    @abstractmethod
    def nodes(self, breaks: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Values and weights whose weighted sum is the mean of a function smooth between breaks.

        Returns
        -------
        tuple[ndarray, ndarray]
        """

    @abstractmethod
    def fields(self) -> dict[str, Any]:
        """Return the content of a saved file as plain values."""

    @property
    def _key(self) -> tuple[Any, ...]:
        """What equal distributions have in common."""
        return tuple(vars(self).values())

    def __eq__(self, other: object) -> bool:
        """Compare kind, unit and parameters."""
        return isinstance(other, type(self)) and self._key == other._key

    def __hash__(self) -> int:
        """Hash unit and parameters."""
        return hash(self._key)

    def to_ratio(self, values: FloatArray, negatives_per_positive: float) -> FloatArray:
        """Express values of this distribution as cost ratios C_FP / C_FN.

        Returns
        -------
        ndarray of float
        """
        if self.over == "ratio":
            return values
        with np.errstate(divide="ignore"):
            if self.over == "miss":
                return np.asarray(1.0 / values)
            return np.asarray(values / (1.0 - values) / negatives_per_positive)

    def ratio_range(self, negatives_per_positive: float) -> tuple[float, float]:
        """Smallest and largest cost ratio C_FP / C_FN.

        Returns
        -------
        tuple[float, float]
        """
        ends = self.to_ratio(np.asarray(self.support), negatives_per_positive)
        return float(ends.min()), float(ends.max())

    def mean_ratio(self, negatives_per_positive: float) -> float:
        """Mean cost ratio C_FP / C_FN.

        Returns
        -------
        float
        """
        nodes, weights = self.nodes(np.array(self.support, dtype=np.float64))
        return float(weights @ self.to_ratio(nodes, negatives_per_positive) / weights.sum())

    @property
    def words(self) -> str:
        """The cost of a miss relative to a false alarm, in a sentence.

        Examples
        --------
        >>> print(miss_costs(9, 40).words)
        a miss costs 9 to 40 times a false alarm
        >>> print(uniform(1 / 40, 1 / 9).words)
        a miss costs 9 to 40 times a false alarm, uniform in C_FP / C_FN
        """
        low, high = self.support
        if self.over == "ratio":
            low, high = 1 / high, 1 / low
        span = " to ".join(dict.fromkeys((typed(low), typed(high))))
        if self.over == "t":
            return f"false alarms are {span} of the largest possible cost"
        return f"a miss costs {span} times a false alarm"

    @property
    def inversion(self) -> Message | None:
        """A warning that the costs look upside down, and what to write instead, or None.

        They look so where a false alarm almost certainly costs more than a miss. In the unit t,
        which depends on the class sizes, this is not known.
        """
        if self.over == "t":
            return None
        values, weights = self.nodes(np.ones(1))
        share = weights[self.to_ratio(values, 1.0) > 1.0].sum()
        return _advice(self) if share >= UPSIDE_DOWN else None


@dataclass(frozen=True, eq=False)
class Uniform(CostDistribution):
    """Every value between `low` and `high` equally likely, in the unit `over`."""

    low: float
    high: float

    @property
    def support(self) -> tuple[float, float]:
        """Smallest and largest possible value."""
        return self.low, self.high

    def nodes(self, breaks: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Gauss-Legendre nodes between the breaks, and their probabilities."""
        ends = np.unique(np.clip(np.append(breaks, self.support), *self.support))
        values, lengths = _gauss_legendre(ends)
        return values, lengths / (self.high - self.low)

    def fields(self) -> dict[str, Any]:
        """Return unit and ends."""
        return {"kind": "uniform", "over": self.over, "low": self.low, "high": self.high}

    @property
    def words(self) -> str:
        """The range in a sentence, with the unit unless it is that of misses."""
        return super().words + (", uniform in C_FP / C_FN" if self.over == "ratio" else "")

    def __repr__(self) -> str:
        """Show the call that makes it."""
        maker = {"ratio": "uniform", "t": "uniform_t", "miss": "miss_costs"}[self.over]
        return f"{maker}({typed(self.low)}, {typed(self.high)})"


@dataclass(frozen=True, eq=False)
class Samples(CostDistribution):
    """Finitely many values with probabilities; one value is a known cost."""

    values: FloatArray
    weights: FloatArray

    @property
    def support(self) -> tuple[float, float]:
        """Smallest and largest possible value."""
        return float(self.values[0]), float(self.values[-1])

    def nodes(self, breaks: FloatArray) -> tuple[FloatArray, FloatArray]:  # noqa: ARG002
        """Return the values themselves with their probabilities."""
        return self.values, self.weights

    def fields(self) -> dict[str, Any]:
        """Return unit, values and probabilities."""
        values, weights = self.values.tolist(), self.weights.tolist()
        return {"kind": "samples", "over": self.over, "values": values, "weights": weights}

    @property
    def _key(self) -> tuple[Any, ...]:
        return self.over, self.values.tobytes(), self.weights.tobytes()

    def __repr__(self) -> str:
        """Show the known value, or the number of values."""
        over = "" if self.over == "ratio" else f", over={self.over!r}"
        if len(self.values) == 1:
            return f"known({typed(self.values[0])}{over})"
        low, high = self.support
        return f"from_samples(<{len(self.values)} values in [{typed(low)}, {typed(high)}]>{over})"


@dataclass(frozen=True, eq=False)
class Density(CostDistribution):
    """Any continuous SciPy distribution with fixed parameters."""

    distribution: Any

    @property
    def support(self) -> tuple[float, float]:
        """Smallest and largest possible value."""
        low, high = self.distribution.support()
        return float(low), float(high)

    def nodes(self, breaks: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Gauss-Legendre nodes in probability, with smaller steps towards both tails.

        Nodes in probability lie where the mass is, so infinite tails, poles of the density and
        narrow peaks need no special treatment.
        """
        frozen = self.distribution
        below, below_mass = _tail_nodes(frozen.cdf(breaks))
        above, above_mass = _tail_nodes(frozen.sf(breaks))
        values = np.concatenate([frozen.ppf(below), frozen.isf(above)])
        return values, np.concatenate([below_mass, above_mass])

    def fields(self) -> dict[str, Any]:
        """Return unit, name of the family and parameters."""
        family, args, keywords = scipy_parameters(self.distribution)
        if type(self.distribution.dist) is not type(scipy_family(family)):
            raise ValueError(
                f"cost_ratio={self!r} is not of a family in scipy.stats and cannot be saved as "
                "JSON; draw from it and use from_samples"
            )
        named = {"family": family, "args": list(args), "keywords": dict(keywords)}
        return {"kind": "scipy", "over": self.over, **named}

    @property
    def _key(self) -> tuple[Any, ...]:
        return self.over, *scipy_parameters(self.distribution)

    @property
    def words(self) -> str:
        """The unit and the family in a sentence."""
        return f"{COST_SYMBOLS[self.over]} has the distribution {self._family}"

    @property
    def _family(self) -> str:
        name, args, keywords = scipy_parameters(self.distribution)
        shown = [typed(a) for a in args] + [f"{k}={typed(v)}" for k, v in keywords]
        return f"{name}({', '.join(shown)})"

    def __repr__(self) -> str:
        """Show the family and its parameters."""
        return f"from_scipy({self._family}, over={self.over!r})"


CostLike: TypeAlias = CostDistribution | float | tuple[float, float]
"""A known cost ratio, a pair (uniform between the two), or a distribution."""


def scipy_parameters(
    distribution: Any,
) -> tuple[str, tuple[float, ...], tuple[tuple[str, float], ...]]:
    """Return family name, positional and named parameters of a frozen SciPy distribution."""
    keywords = tuple(sorted((k, float(v)) for k, v in distribution.kwds.items()))
    return distribution.dist.name, tuple(float(a) for a in distribution.args), keywords


def scipy_family(name: str) -> Any:
    """Return the continuous family of a name, or None.

    The name may come from a file, so only distributions are returned.
    """
    from scipy import stats

    family = getattr(stats, name, None)
    return family if isinstance(family, stats.rv_continuous) else None


@cache
def _unit_nodes() -> tuple[FloatArray, FloatArray]:
    return np.polynomial.legendre.leggauss(QUADRATURE_NODES)


def _gauss_legendre(ends: FloatArray) -> tuple[FloatArray, FloatArray]:
    points, weights = _unit_nodes()
    half = np.diff(ends)[:, None] / 2
    middle = (ends[1:] + ends[:-1])[:, None] / 2
    return (middle + half * points).ravel(), (half * weights).ravel()


def _tail_nodes(tail_mass_at_breaks: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Nodes and weights for one half of the mass, from its end inwards."""
    grading = 0.5 ** np.arange(1, TAIL_HALVINGS + 1)
    inner = tail_mass_at_breaks[(tail_mass_at_breaks > 0) & (tail_mass_at_breaks < 0.5)]
    return _gauss_legendre(np.unique(np.concatenate([[0.0], grading, inner])))


def _advice(costs: CostDistribution) -> Message:
    low, high = costs.support
    ends = [typed(end) for end in dict.fromkeys((low, high))]
    values, span = ", ".join(ends), " to ".join(ends)
    is_range = isinstance(costs, Uniform) or low == high
    if costs.over == "ratio":
        names = "cost_ratio", "miss_costs"
        said = f"a false alarm costs {span} times as much as a miss"
        meant = f"a miss is worth {span} false alarms"
        write = f"voros.costs.miss_costs({values})" if is_range else "over='miss'"
    else:
        names = "miss_costs", "cost_ratio"
        said = f"a miss costs as little as {span} false alarms"
        meant = f"a false alarm costs {span} of a miss"
        write = f"({values})" if is_range else "over='ratio'"
    argument, instead = (
        Argument(f"cost_ratio={text}", name, value=":".join(ends))
        for text, name in zip((repr(costs), write), names, strict=True)
    )
    return Message(argument, f" says that {said}. If {meant}, write ", instead)


def known(cost_ratio: float, *, over: Over = "ratio") -> Samples:
    """Return a cost that is known exactly.

    Returns
    -------
    Samples

    Examples
    --------
    >>> known(1 / 30)
    known(0.0333)
    >>> known(30, over="miss").ratio_range(negatives_per_positive=9.0)[0]
    0.03333333333333333
    """
    return from_samples([as_number(cost_ratio, "cost_ratio")], over=over)


def uniform(low: float, high: float) -> CostDistribution:
    """Return cost ratios C_FP / C_FN that are uniform between two ends.

    Returns
    -------
    CostDistribution

    Examples
    --------
    >>> uniform(1 / 9, 1 / 6)
    uniform(0.111, 0.167)
    """
    return _uniform(low, high, "ratio", "cost_ratio")


def uniform_t(low: float, high: float) -> CostDistribution:
    """Return fractional costs t = cN/(cN + P) that are uniform between two ends.

    Returns
    -------
    CostDistribution

    Examples
    --------
    >>> import voros
    >>> scenario = voros.Scenario(cost_ratio=uniform_t(0.2, 0.5))
    >>> points = voros.OperatingPoints.from_points([0.2], [0.8], n_positive=100, n_negative=100)
    >>> round(voros.evaluate(points, scenario=scenario).score, 10)
    0.9075803759
    """
    return _uniform(low, high, "t", "t")


def miss_costs(low: float, high: float | None = None) -> CostDistribution:
    """Return costs of a miss, in false alarms, that are uniform between `low` and `high`.

    These are uniform in C_FN / C_FP, which is not uniform in C_FP / C_FN: see the module's notes.

    Returns
    -------
    CostDistribution

    Examples
    --------
    >>> miss_costs(20, 40).ratio_range(negatives_per_positive=9.0)
    (0.025, 0.05)
    >>> miss_costs(30)
    known(30, over='miss')
    """
    return _uniform(low, low if high is None else high, "miss", "miss_costs")


def _uniform(low: float, high: float, over: Over, name: str) -> CostDistribution:
    _check_values(np.array([as_number(low, name), as_number(high, name)]), over, name)
    if low > high:
        raise ArgumentError(
            name, f"=({low!r}, {high!r}) is reversed; the smaller value comes first"
        )
    if low == high:
        return from_samples([low], over=over)
    return Uniform(float(low), float(high), over=over)


def from_scipy(distribution: Any, over: Over = "ratio") -> Density:
    """Return costs with a continuous SciPy distribution whose parameters are fixed.

    Parameters
    ----------
    distribution : frozen distribution
        For example ``scipy.stats.lognorm(0.5, scale=1/30)``. Its support must lie within the
        positive numbers for "ratio" and "miss", within [0, 1] for "t".
    over : {"ratio", "miss", "t"}
        The unit of the distribution.

    Returns
    -------
    Density

    Examples
    --------
    >>> from scipy.stats import lognorm
    >>> from_scipy(lognorm(0.5, scale=1 / 30))
    from_scipy(lognorm(0.5, scale=0.0333), over='ratio')
    """
    check_choice(over, "over", COST_UNITS)
    if not all(hasattr(distribution, name) for name in ("cdf", "sf", "ppf", "isf", "dist", "pdf")):
        raise ValueError(
            f"distribution={distribution!r} is not a frozen continuous SciPy distribution such as "
            "scipy.stats.lognorm(0.5, scale=0.03); for a discrete one use from_samples"
        )
    density = Density(distribution, over=over)
    low, high = density.support
    top = 1.0 if over == "t" else math.inf
    if not (0.0 <= low < high <= top):
        raise ValueError(
            f"distribution has the support [{low:g}, {high:g}]; over={over!r} accepts values "
            f"within [0, {top:g}]: truncate it, or choose one of positive values such as lognorm"
        )
    with np.errstate(over="ignore"):
        farthest = float(distribution.isf(0.5**TAIL_HALVINGS))
    if not farthest <= LARGEST_RATIO:
        raise ValueError(
            f"distribution has a tail that reaches {farthest:g}; accepted are costs up to "
            f"{LARGEST_RATIO:g}: truncate it, or choose one with a lighter tail"
        )
    return density


def from_samples(values: Any, weights: Any = None, *, over: Over = "ratio") -> Samples:
    """Return draws of the cost, from elicitation or a posterior, with optional weights.

    Returns
    -------
    Samples

    Examples
    --------
    >>> from_samples([0.02, 0.05, 0.03], weights=[1, 1, 2]).weights.tolist()
    [0.25, 0.5, 0.25]
    """
    check_choice(over, "over", COST_UNITS)
    name = "cost_ratio" if over == "ratio" else over
    samples = [values] if isinstance(values, Real) else as_vector(values, "values").tolist()
    if not samples:
        raise ArgumentError("values", " is empty; accepted is at least one number")
    array = np.array([as_number(value, f"values, {name}") for value in samples])
    _check_values(array, over, name)
    mass = np.ones(len(array)) if weights is None else check_weights(weights, name="weights")
    check_same_length(values=array, weights=mass)
    if mass.sum() <= 0:
        raise ValueError("weights are all zero; at least one must be positive")
    order = np.argsort(array, kind="stable")
    return Samples(array[order], mass[order] / mass.sum(), over=over)


def as_costs(cost_ratio: object) -> CostDistribution:
    """Return a number as a known cost, a pair as a uniform range, and a distribution unchanged."""
    if isinstance(cost_ratio, CostDistribution):
        return cost_ratio
    if isinstance(cost_ratio, Real) and not isinstance(cost_ratio, bool):
        return known(as_number(cost_ratio, "cost_ratio"))
    if isinstance(cost_ratio, (tuple, list)) and len(cost_ratio) == 2:
        return uniform(*cost_ratio)
    raise ArgumentError(
        "cost_ratio",
        f"={cost_ratio!r} is not understood; accepted are a number (known), a pair "
        "(low, high) of numbers (uniform between them), or a distribution from voros.costs",
    )


def as_numbers(values: Any, name: str, accepted: str) -> FloatArray:
    """Return one number or several as an array of zero or one dimensions.

    Examples
    --------
    >>> as_numbers(0.1, "cost_ratio", "a number").ndim
    0
    >>> as_numbers([0.1, 2], "cost_ratio", "a number").tolist()
    [0.1, 2.0]
    """
    if is_scalar(values):
        one = values.item() if isinstance(values, np.ndarray) else values
        return np.asarray(as_number(one, name, accepted))
    return as_floats(as_vector(values, name), name)


def read_cost_ratios(cost_ratio: Any) -> FloatArray:
    """Return one cost ratio or several as an array of zero or one dimensions."""
    ratios = as_numbers(cost_ratio, "cost_ratio", "a number of at least 0")
    if not np.all(ratios >= 0):
        raise ArgumentError("cost_ratio", f"={cost_ratio!r}; accepted are numbers of at least 0")
    return ratios


def _check_values(values: FloatArray, over: Over, name: str) -> None:
    low, high = 1 / LARGEST_RATIO, LARGEST_RATIO
    accepted = f"finite numbers above 0, from {low:g} to {high:g}"
    if over == "t":
        low, high, accepted = 0.0, 1.0, "numbers within [0, 1]"
    bad = ~((values >= low) & (values <= high))
    if bad.any():
        raise ArgumentError(name, f" holds {values[bad][0]:g}; accepted are {accepted}")
