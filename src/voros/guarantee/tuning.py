"""Every constant that trades time or power in the guarantees; none of them decides validity.

The bounds are computed for whatever stands here. A coarser grid makes a bound larger, never wrong.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Tuning:
    """Grids, shares of alpha and ranks at which fixed-sequence tests start.

    Each is explained where it stands.
    """

    # Share of alpha spent on the capacity where a precision floor needs the rest, times the root of
    # the alarms it allows.
    capacity_share: float = 0.5
    # Bounds on that share.
    least_capacity_share: float = 0.02
    largest_capacity_share: float = 0.5
    # Share of alpha of a recall floor that is not the only limit, and the part of that which covers
    # how many of the next cases are positive.
    recall_share: float = 0.5
    unlikely_share: float = 0.1
    # Standard deviations within which a beta-binomial is summed up.
    far: float = 40.0

    # Population: share of alpha of each sequence that starts before the main one, and of all that
    # start after it. The main one has the rest.
    early_share: float = 0.06
    later_share: float = 0.28
    # The main sequence starts no later than at this multiple of the rank at which it probably
    # passes, and no later than at one `main_length`-th of the most alarms.
    latest_main: float = 1.5
    main_length: float = 3.0
    # A sequence may start where a precision half-way from the floor to 1 passes with this
    # probability.
    start_power: float = 0.8

    # Next cases: shares of alpha for the sequence that starts early (for few alarms at a high
    # precision), and for the ranks that are tested by themselves (together, times the square of
    # the most alarms, and its bounds). The main sequence has the rest.
    early_share_next: float = 0.005
    rank_share: float = 9_000.0
    rank_shares: tuple[float, float] = (0.02, 0.7)
    # The ranks, as parts of the most alarms, and how their share is divided.
    rank_places: tuple[float, ...] = (0.15, 0.35, 0.6)
    rank_parts: tuple[float, ...] = (0.06, 0.6, 0.34)
    # The main sequence starts at this multiple of the rank at which a precision half-way from the
    # floor to 1 would pass, but no later than at one `main_length`-th of the most alarms.
    main_start: float = 2.7
    # Smaller levels are refused: rounding could matter.
    least_alpha: float = 1e-7

    # Numbers of tied cases that are looked at: evenly apart up to `near_gaps`, by a step or by a
    # part of the rank, and beyond it `far_gaps` of them, evenly apart in ratios.
    gap_step: float = 0.2
    gap_part: float = 1e-3
    near_gaps: float = 3.0
    far_gaps: int = 7
    # How many chances of a broken floor are taken for a rank.
    rank_chances: int = 100
    # Part of alpha set aside for sequences that start, or end, far from where they should.
    far_off: float = 1e-3
    # Normal deviates that divide the places of the start into intervals.
    start_places: tuple[float, ...] = (
        *(-3.2, -2.7, -2.3, -1.95, -1.65, -1.4, -1.15, -0.9),
        *(-0.65, -0.4, -0.15, 0.1, 0.4, 0.7, 1.1, 1.6),
    )

    # Standard deviations within which counts are looked at where chances to pass are convex.
    line_spread: float = 5.0

    # Neighbouring parts of thresholds within which first risky thresholds may lie in any order.
    path_parts: int = 16

    # Standard deviations after which a binomial is cut off.
    spread: float = 7.0
    # Standard deviations within which a table's deviation from a line is looked at closely.
    shells: tuple[float, ...] = (4.0, 5.5)
    # Added to every bound: more than is cut off and than rounding can take away.
    cut_off: float = 1e-9
    # Expected counts are apart by `step` standard deviations, and by `least_step` at least.
    step: float = 0.2
    least_step: float = 0.16
    # Beyond a variance of `near` steps grow, as that power of the variance.
    near: float = 400.0
    near_power: float = 0.25
    # Neighbouring grid points over which a table's deviation from linear is taken together; and of
    # the first points.
    together: int = 8
    together_first: int = 4
    first_points: int = 80
    # About how many bands of rows are compared with a line.
    bands: int = 48
    # Multiplications of one matrix product, at most: from about 260,000 on OpenBLAS uses threads.
    product_size: int = 200_000
    # Parts into which lines between computed means are divided.
    parts: int = 3
    # Rows of a table that are computed at once.
    block: int = 512

    # Closed bounds replace exact tails beyond `many_alarms` expected alarms, and beyond a variance
    # of the true positives of `many_variance`, but always beyond `most_exact`.
    many_alarms: float = 4000.0
    many_variance: float = 400.0
    most_exact: float = 20_000.0
    # Alarms beyond which chances are taken to be convex no sooner than with so many.
    most_convex: int = 20_000
    # Ratios between neighbouring expected counts, and counts, where closed bounds are used.
    ratio: float = 1.02
    count_ratio: float = 1.004

    # Normal deviates of the chances of a broken floor over which the risk is integrated: of each
    # part the first, the last and the step.
    deviates: tuple[tuple[float, float, float], ...] = (
        (-1.5, 0.0, 0.06),
        (0.0, 0.4, 0.04),
        (0.4, 2.4, 0.025),
        (2.4, 3.0, 0.04),
        (3.0, 4.0, 0.08),
        (4.0, 6.21, 0.1),
    )
    # Precisions are apart by this part of their distance to the floor.
    precision_step: float = 0.03
    # Near 1 they are apart by this part of their distance to 1.
    precision_step_near_one: float = 0.3
    precisions_near_one: int = 60
    # The precision next to the floor is this many standard deviations away.
    nearest: float = 0.045
    # Precisions below the floor, in standard deviations.
    below: tuple[float, ...] = (
        *(0.03, 0.06, 0.09, 0.12, 0.15, 0.18, 0.21, 0.24, 0.27, 0.3, 0.33, 0.36, 0.39, 0.42),
        *(0.45, 0.48, 0.51, 0.54, 0.57, 0.6, 0.65, 0.7, 0.75, 0.8, 0.9, 1.0),
        *(1.2, 1.4, 1.7, 2.0, 2.5, 3.0),
    )

    # True positives added at the start; as standard deviations they fade as that power of the
    # alarms.
    early_margin: float = 0.5
    early_power: float = 5.0
    # Part of alpha that the test at the start may use up if the sequence starts too late.
    start_part: float = 0.95
    # The same of only true positives, where the first start is sought: the rest is for going on.
    first_start_part: float = 0.35
    # Margins are first raised by this many true positives at the start, times how much the normal
    # deviate of alpha is above that of .04.
    first_shift: float = 0.3
    # And by this many standard deviations where closed bounds are used.
    many_shift: float = 0.03
    # Numbers of alarms between which margins are interpolated.
    margin_nodes: int = 14
    # Part of alpha that the search for margins aims at.
    aimed_at: float = 0.996
    # Parts of alpha that end the search after one step, two, and so on.
    least_used: tuple[float, ...] = (0.99, 0.985, 0.95, 0.93, 0.9, 0.0)
    # By which margins are raised at least, in standard deviations, doubled at every step.
    smallest_step: float = 0.002
    # Between a risky and a safe shift the next one is at least this part away from either.
    inside: float = 0.1
    # Margins are first solved for with one of this many chances of a broken floor.
    chances_taken: int = 4
    # Least and most of how fast the risk follows the margins.
    slopes: tuple[float, float] = (0.1, 1.5)

    # One threshold: shares and precisions of the grid are apart by this many standard deviations of
    # the validation cases; with more than `horizon_steps` times as many next cases, shares are
    # closer together.
    share_step: float = 0.12
    precision_cell: float = 0.08
    horizon_steps: float = 2.0
    # Standard deviations from the floor up to which precisions are close together.
    precision_reach: float = 6.0
    # Standard deviations of the alarms within which their most are sought, and the part of alpha
    # that they may use.
    capacity_reach: float = 8.0
    capacity_part: float = 0.95
    # Added to margins, over the root of the alarms: with few alarms whole numbers count more.
    few_margin: float = 0.15
    # Steps, in standard deviations: the first to the most alarms, and the last to the margins. The
    # search for margins ends once the risk is above this part of alpha, and takes the risk, as a
    # normal deviate, to fall by at least this much for each standard deviation of the margins.
    first_step: float = 0.06
    last_step: float = 0.01
    used_part: float = 0.98
    least_fall: float = 0.05
    # Sequences: parts of a cell within which chances are bounded, differences that are counted
    # in full, as a part of alpha, and of the chances of a broken limit, as normal deviates, the
    # last and the step. Where counts are taken to be normal, one in so many of them is enough.
    cell_parts: tuple[int, int] = (4, 2)
    ignored_part: float = 0.0005
    last_deviate: float = 2.4
    deviate_step: float = 0.0125
    deviate_part: int = 4
    # Next alarms beyond which closed bounds replace exact tails.
    exact_rows: int = 3000

    # Plans from development cases: bins of scores and the rank of the first, numbers of alarms for
    # which the needed true positives are computed, how far beyond the
    # capacity thresholds are looked at, and the least count of a bin.
    plan_bins: int = 110
    plan_first_rank: float = 6.0
    plan_nodes: int = 120
    plan_beyond: float = 1.3
    plan_least_count: float = 1e-3
    # Part of the smooth curve in what is taken to be likely. Shares of alarms on validation cases
    # differ from those on development cases by this standard deviation of their logarithm.
    plan_smooth: float = 0.75
    plan_moved: float = 0.11
    # Penalty on the smooth curve, Newton steps of its fit, and the least one that is halved.
    plan_penalty: tuple[float, float, float] = (0.0, 0.01, 1.0)
    plan_fit_steps: int = 12
    plan_fit_step: float = 1e-3
    # Draws with which sequences, and first of all single thresholds of many models, are compared;
    # and how many models are left then.
    plan_draws: int = 500
    plan_few_draws: int = 200
    plan_models: int = 5
    # Numbers of thresholds of sequences for the next cases, and how far apart they are, in bins.
    plan_lengths: tuple[int, ...] = (1, 2, 3, 5, 9, 16)
    plan_strides: tuple[int, ...] = (1, 2, 4, 6, 9)
    # Starts that are tried of sequences for the population, at most.
    plan_starts: int = 16
    # Standard deviations, and share, by which validation alarms may differ from what development
    # cases let expect.
    plan_reach: float = 5.0
    plan_drift: float = 0.1

    # Groups: share of them set aside to choose what to test, and most thresholds tested.
    learning_share: float = 0.15
    most_tested: int = 24
    # Share of alpha for the sequence of ever more lenient thresholds; the rest is for stricter.
    lenient_share: float = 0.9
    # Groups are shuffled always alike, so that the same data give the same thresholds.
    order_seed: int = 0
    # Share of the wealth that the worst draw may cost a bet.
    largest_stake: float = 0.9
    # Bets are set again before each of this many parts of the draws.
    bet_rounds: int = 200
    # Chances below the one count as lost; bets aim beyond the target by the other, as a factor:
    # aimed right at it they would end just below.
    least_chance: float = 1e-300
    aim: float = 1.1
    # Probability with which the groups that are asked for would pass.
    group_power: float = 0.8

    # A shortfall is looked for up to this multiple of the validation cases, among so many numbers
    # of cases.
    most_times_the_data: float = 64.0
    times_tried: int = 96
    # Parts of what is tried; tests of the next cases take longer, and theirs is one.
    shortfall_parts: int = 12
    # Errors that are tried where nothing passes, as multiples of the one asked for; and the floor
    # from which on floors are tried in steps of .01.
    larger_errors: tuple[float, ...] = (1.2, 1.6, 2.0, 3.0, 4.0, 6.0, 8.0)
    coarse_floor: float = 0.1
    # True positives that a threshold is said to lack where it is not tested.
    untested: float = 1e6
    # More alarms are tried in steps of one by this many.
    planning_steps: int = 200
    # Alarms per case below which a number of cases is beyond any validation.
    least_rate: float = 1e-9


TUNING = Tuning()
"""What the library uses."""
