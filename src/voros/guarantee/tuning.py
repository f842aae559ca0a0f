"""Every constant that trades time or power in the guarantees; none of them decides validity.

The bounds are computed for whatever stands here. A coarser grid makes a bound larger, never wrong.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Tuning:
    """Grids, shares of alpha and ranks at which fixed-sequence tests start.

    Attributes
    ----------
    capacity_share : float
        Share of alpha spent on the capacity where a precision floor needs the rest, times the root
        of the alarms it allows.
    least_capacity_share, largest_capacity_share : float
        Bounds on that share.
    far, tried_at_once : float, int
        Standard deviations within which a beta-binomial is summed up, and values tried at once in
        the search for the most alarms.
    first_share, ranks_per_start : float
        Population: share of alpha of the first sequence, and the ratio between ranks of starts.
    start_power : float
        A sequence may start where a precision half-way from the floor to 1 passes with this
        probability.
    late_share, inner_share : float
        Shares of alpha for the sequence that starts late (for when the very highest scores are
        false alarms), and for thresholds well inside the limit (for costs that want fewer alarms).
        The main sequence has the rest.
    inner_thresholds : int
        Number of thresholds well inside the limit.
    earliest : float
        Sequences start no earlier than at this part of the rank at which a precision half-way
        from the floor to 1 would pass.
    main_start, least_length : float
        The main sequence starts at `main_start` times the earliest rank, but no later than at one
        `least_length`-th of the most alarms.
    least_alpha : float
        Smaller levels are refused: rounding could matter.
    far_off : float
        Part of alpha set aside for sequences that start, or end, far from where they should.
    start_places : tuple of float
        Normal deviates that divide the places of the start into intervals.
    near_start : float
        Beyond this many times the start, intervals are taken together: from each of `far_places`
        up to the next.
    coarse_near, coarse_chances, coarse_up_to : float, int, float
        Where a bound may be coarse: the same as `near`, and one of how many chances is taken, of
        those up to this normal deviate.
    path_parts : int
        Neighbouring parts of thresholds within which first risky thresholds may lie in any order.
    spread : float
        Standard deviations after which a binomial is cut off.
    shells : tuple of float
        Standard deviations within which a table's deviation from a line is looked at closely.
    cut_off : float
        Added to every bound: more than is cut off and than rounding can take away.
    step, least_step : float
        Expected counts are apart by `step` standard deviations, and by `least_step` at least.
    near, near_power : float
        Beyond a variance of `near` steps grow, as that power of the variance.
    together, together_first, first_points : int
        Neighbouring grid points over which a table's deviation from linear is taken together; and
        of the first points.
    bands : int
        About how many bands of rows are compared with a line.
    product_size : int
        Multiplications of one matrix product, at most: from about 260,000 on OpenBLAS uses threads.
    parts : int
        Parts into which lines between computed means are divided.
    block : int
        Rows of a table that are computed at once.
    many_alarms, many_variance, most_exact : float
        Closed bounds replace exact tails beyond `many_alarms` expected alarms, and beyond a
        variance of the true positives of `many_variance`, but always beyond `most_exact`.
    ratio, count_ratio : float
        Ratios between neighbouring expected counts, and counts, where closed bounds are used.
    deviates : tuple of (first, last, step)
        Normal deviates of the chances of a broken floor over which the risk is integrated.
    precision_step : float
        Precisions are apart by this part of their distance to the floor.
    precision_step_near_one, precisions_near_one : float, int
        Near 1 they are apart by this part of their distance to 1.
    nearest : float
        The precision next to the floor is this many standard deviations away.
    below : tuple of float
        Precisions below the floor, in standard deviations.
    early_margin, early_power : float
        True positives added at the start; as standard deviations they fade as that power of the
        alarms.
    start_part : float
        Part of alpha that the test at the start may use up if the sequence starts too late.
    first_shift : float
        Margins are first raised by this many true positives at the start: the risk is a little
        more than at one number of alarms.
    many_shift : float
        And by this many standard deviations where closed bounds are used.
    margin_nodes : int
        Numbers of alarms between which margins are interpolated.
    aimed_at : float
        Part of alpha that the search for margins aims at.
    least_used : tuple of float
        Parts of alpha that end the search after one step, two, and so on.
    coarse_first_shift, coarse_aimed_at, coarse_least_used : float, float, tuple of float
        The same where a bound may be coarse.
    smallest_step : float
        By which margins are raised at least, in standard deviations, doubled at every step.
    inside : float
        Between a risky and a safe shift the next one is at least this part away from either.
    chances_taken : int
        Margins are first solved for with one of this many chances of a broken floor.
    slopes : tuple of (least, most)
        Bounds on how fast the risk follows the margins.
    learning_share, most_tested : float, int
        Groups: share of them set aside to choose what to test, and most thresholds tested.
    lenient_share : float
        Share of alpha for the sequence of ever more lenient thresholds; the rest is for stricter.
    order_seed : int
        Groups are shuffled always alike, so that the same data give the same thresholds.
    largest_stake : float
        Share of the wealth that the worst draw may cost a bet.
    bet_rounds : int
        Bets are settled anew before each of this many parts of the draws.
    least_chance, aim : float
        Chances below the one count as lost; bets aim beyond the target by the other, as a factor:
        aimed right at it they would end just below.
    group_power : float
        Probability with which the groups that are asked for would pass.
    most_times_the_data, times_halvings : float, int
        A shortfall is looked for up to this multiple of the validation cases, and narrowed down by
        this many halvings between two powers of two.
    least_rate : float
        Alarms per case below which a number of cases is beyond any validation.
    """

    capacity_share: float = 0.5
    least_capacity_share: float = 0.02
    largest_capacity_share: float = 0.5
    far: float = 40.0
    tried_at_once: int = 33

    first_share: float = 0.7
    ranks_per_start: int = 2
    start_power: float = 0.8

    late_share: float = 0.03
    inner_share: float = 0.005
    inner_thresholds: int = 8
    earliest: float = 0.45
    main_start: float = 6.0
    least_length: float = 4.0
    least_alpha: float = 1e-7

    far_off: float = 1e-3
    start_places: tuple[float, ...] = (
        *(-3.2, -2.5, -2.0, -1.6, -1.25, -0.95, -0.65, -0.35, -0.05, 0.3, 0.7, 1.2),
    )
    near_start: float = 3.0
    far_places: tuple[int, ...] = (0, 2, 4, 6, 8, 10)

    coarse_near: float = 100.0
    coarse_chances: int = 4
    coarse_up_to: float = 1.4

    path_parts: int = 8

    spread: float = 7.0
    shells: tuple[float, ...] = (4.0, 5.5)
    cut_off: float = 1e-9
    step: float = 0.25
    least_step: float = 0.2
    near: float = 400.0
    near_power: float = 0.25
    together: int = 8
    together_first: int = 4
    first_points: int = 80
    bands: int = 96
    product_size: int = 200_000
    parts: int = 2
    block: int = 512

    many_alarms: float = 4000.0
    many_variance: float = 400.0
    most_exact: float = 20_000.0
    ratio: float = 1.02
    count_ratio: float = 1.004

    deviates: tuple[tuple[float, float, float], ...] = (
        (-1.5, 0.0, 0.06),
        (0.0, 0.4, 0.02),
        (0.4, 2.4, 0.0125),
        (2.4, 3.0, 0.03),
        (3.0, 4.0, 0.05),
        (4.0, 6.21, 0.1),
    )
    precision_step: float = 0.04
    precision_step_near_one: float = 0.3
    precisions_near_one: int = 60
    nearest: float = 0.06
    below: tuple[float, ...] = (
        *(0.06, 0.12, 0.18, 0.24, 0.3, 0.36, 0.42, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0),
        *(1.2, 1.4, 1.7, 2.0, 2.5, 3.0),
    )

    early_margin: float = 0.5
    early_power: float = 5.0
    start_part: float = 0.9
    first_shift: float = 0.1
    many_shift: float = 0.03
    margin_nodes: int = 14
    aimed_at: float = 0.998
    least_used: tuple[float, ...] = (0.995, 0.994, 0.985, 0.97, 0.95, 0.93, 0.9, 0.0)
    coarse_first_shift: float = 0.25
    coarse_aimed_at: float = 0.98
    coarse_least_used: tuple[float, ...] = (0.95, 0.94, 0.9, 0.8, 0.0)
    smallest_step: float = 0.002
    inside: float = 0.1
    chances_taken: int = 4
    slopes: tuple[float, float] = (0.1, 1.5)

    learning_share: float = 0.15
    most_tested: int = 24
    lenient_share: float = 0.9
    order_seed: int = 0
    largest_stake: float = 0.9
    bet_rounds: int = 200
    least_chance: float = 1e-300
    aim: float = 1.1
    group_power: float = 0.8

    most_times_the_data: float = 64.0
    times_halvings: int = 4
    least_rate: float = 1e-9

    @property
    def main_share(self) -> float:
        """Share of alpha left to the sequence that usually has the last word."""
        return 1 - self.late_share - self.inner_share


TUNING = Tuning()
"""What the library uses."""
