"""The guarantee for the next cases: each step hands one object on to the next.

`certify` shares alpha among a few tests, each a `FixedSequence`, and runs them on the validation
counts. `fixed_sequence` holds what is fixed before any label is seen: where a sequence may start,
and the precisions at which the next cases break the floor. `needed` and `rank_test` find the true
positives that a test needs. Means of binomial tails are bounded in `tail_bounds` and, with many
alarms, in `closed_bounds`. Thresholds that were fixed on development cases take `one_threshold`, on
the bounds of `grid_bounds`.
"""
