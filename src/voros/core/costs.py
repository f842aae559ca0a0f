"""What a false alarm costs against a miss, and how sure we are of it.

Three units say the same thing, and a distribution lives in the one its author thinks in:

``"ratio"``
    c = C_FP / C_FN, the cost of a false alarm as a fraction of the cost of a miss.
``"miss"``
    r = C_FN / C_FP = 1/c, how many false alarms a miss is worth.
``"t"``
    t = cN / (cN + P), the share of the worst possible total cost that is due to false alarms.
    It depends on the class sizes, so it does not carry over to data of another prevalence.

Uniform in one unit is **not** uniform in another. "A miss costs 20 to 40 false alarms", every
number in between equally likely, is ``miss_costs(20, 40)`` and has a mean cost ratio of
ln(2)/20 = 0.0347; ``uniform(1/40, 1/20)`` has 0.0375 and leans towards the cheaper misses.

In each unit the line of equal cost through a ROC point has coefficients that are linear in the
unit, which is why `voros.core.volume` can integrate all three in closed form.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from functools import cache
from numbers import Real
from typing import Any, Literal, TypeAlias

import numpy as np

from voros.core.arguments import as_number, check_choice
from voros.core.arrays import as_numbers, as_vector, check_same_length, check_weights
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
"""Cost ratios beyond it, or below one through it, would overflow; nobody means them."""

UPSIDE_DOWN = 0.9
"""Costs look upside down where at least this share of them has false alarms costlier than misses. A
range on both sides of 1 is most often meant."""

TAIL_HALVINGS = 52
"""How often a tail is halved: what is left holds less mass than a float can hold."""


@dataclass(frozen=True)
class CostDistribution(ABC):
    """A distribution over what a false alarm costs against a miss.

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

    def fields(self) -> dict[str, Any]:
        """Return everything that a file holds of it, as plain values."""
        raise ValueError(f"cost_ratio={self!r} cannot be saved as JSON")

    @property
    def _key(self) -> tuple[Any, ...]:
        """What two equal distributions have in common."""
        return tuple(vars(self).values())

    def __eq__(self, other: object) -> bool:
        """Compare unit and all that makes the distribution."""
        return isinstance(other, type(self)) and self._key == other._key

    def __hash__(self) -> int:
        """Hash the same."""
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
        """What a miss costs against a false alarm, in a sentence.

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
        """Why the costs look upside down, and what to write instead; None where they do not.

        They do where a false alarm all but surely costs more than a miss. The unit t depends on
        the class sizes and cannot tell.
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
        """Return both ends."""
        return {"kind": "uniform", "over": self.over, "low": self.low, "high": self.high}

    @property
    def words(self) -> str:
        """The range in a sentence, with the unit unless it is that of misses."""
        return super().words + (", uniform in C_FP / C_FN" if self.over == "ratio" else "")

    def __repr__(self) -> str:
        """Show how to make it."""
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
        """Return all values with their probabilities."""
        values, weights = self.values.tolist(), self.weights.tolist()
        return {"kind": "samples", "over": self.over, "values": values, "weights": weights}

    @property
    def _key(self) -> tuple[Any, ...]:
        return self.over, self.values.tobytes(), self.weights.tobytes()

    def __repr__(self) -> str:
        """Show the known value, or how many there are."""
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
        """Gauss-Legendre nodes in probability, each half of the mass graded towards its tail.

        Integrating over probability rather than value needs no care for infinite tails, poles of
        the density or very narrow peaks: the nodes lie where the mass is.
        """
        frozen = self.distribution
        below, below_mass = _tail_nodes(frozen.cdf(breaks))
        above, above_mass = _tail_nodes(frozen.sf(breaks))
        values = np.concatenate([frozen.ppf(below), frozen.isf(above)])
        return values, np.concatenate([below_mass, above_mass])

    def fields(self) -> dict[str, Any]:
        """Return the family's name and parameters."""
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
        """The distribution, of what it is of."""
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
    """Return the continuous family of a name; None where there is none.

    A file names the family, so nothing but a distribution may be looked up and called.
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
    """Nodes and weights for the half of the mass next to one end."""
    grading = 0.5 ** np.arange(1, TAIL_HALVINGS + 1)
    inner = tail_mass_at_breaks[(tail_mass_at_breaks > 0) & (tail_mass_at_breaks < 0.5)]
    return _gauss_legendre(np.unique(np.concatenate([[0.0], grading, inner])))


def _advice(costs: CostDistribution) -> Message:
    low, high = costs.support
    ends = [typed(end) for end in dict.fromkeys((low, high))]
    values, span = ", ".join(ends), " to ".join(ends)
    if costs.over == "ratio":
        stated, said = "cost_ratio", f"a false alarm costs {span} times as much as a miss"
        meant = f"a miss is worth {span} false alarms"
        simple = isinstance(costs, Uniform) or low == high
        write = f"voros.costs.miss_costs({values})" if simple else "over='miss'"
        name = "miss_costs"
    else:
        stated, said = "miss_costs", f"a miss costs as little as {span} false alarms"
        meant = f"a false alarm costs {span} of a miss"
        write = "over='ratio'" if low < high and not isinstance(costs, Uniform) else f"({values})"
        name = "cost_ratio"
    instead = Argument(f"cost_ratio={write}", name, value=":".join(ends))
    argument = Argument(f"cost_ratio={costs!r}", stated, value=":".join(ends))
    return Message(argument, f" says that {said}. If {meant}, write ", instead)


def known(cost_ratio: float, *, over: Over = "ratio") -> Samples:
    """A cost that is known exactly.

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
    """Every cost ratio C_FP / C_FN between the two equally likely.

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
    """Every fractional cost t = cN/(cN + P) between the two equally likely.

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
    """A miss costs between `low` and `high` false alarms, each number equally likely.

    This is uniform in C_FN / C_FP, which is not uniform in C_FP / C_FN: see the module's notes.

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
    """Any continuous SciPy distribution with its parameters fixed.

    Parameters
    ----------
    distribution : frozen distribution
        For example ``scipy.stats.lognorm(0.5, scale=1/30)``. Its support must lie within the
        positive numbers for "ratio" and "miss", within [0, 1] for "t".
    over : {"ratio", "miss", "t"}
        What the distribution is of.

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
            f"{LARGEST_RATIO:g}: truncate it, or choose one of a lighter tail"
        )
    return density


def from_samples(values: Any, weights: Any = None, *, over: Over = "ratio") -> Samples:
    """Draws of the cost, from elicitation or a posterior, with optional weights.

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
    """Read a number as known, a pair as uniform between its two, and pass distributions through."""
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


def read_cost_ratios(cost_ratio: Any) -> FloatArray:
    """Return one cost ratio or several as an array of no or one dimension."""
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
