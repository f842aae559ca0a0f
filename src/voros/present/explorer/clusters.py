r"""Sums that a page holds for cases that belong together, such as several of one patient.

Intervals on a page are those of `voros.inference.curve_limits`, which asks at each threshold for
the design effect of :math:`y - m x` at a slope m. With :math:`u_g` and :math:`v_g` what group g has
more true and false positives than its share, over all positives and negatives, it takes the sums of
:math:`u_g^2`, :math:`u_g v_g` and :math:`v_g^2` over the groups: three numbers per threshold, which
show no single group.
"""

from __future__ import annotations

import base64
from typing import Any

import numpy as np

from voros.core.clusters import GroupedShare, effective_groups, groups_in_variance
from voros.core.operating_points import OperatingPoints
from voros.inference.curve_limits import sums_before
from voros.typing import AnyArray, BoolArray, FloatArray


def cluster_sizes(positive: BoolArray, codes: AnyArray) -> dict[str, Any]:
    """Return the sizes of the groups, which no threshold changes, ready for JSON.

    Examples
    --------
    >>> cluster_sizes(np.array([True, False, True, False]), np.array([0, 0, 1, 1]))["effective"]
    2.0
    """
    hits, rest = (np.bincount(codes, which, codes.max() + 1) for which in (positive, ~positive))
    sizes = np.stack([hits, rest])
    share = GroupedShare.from_counts(hits[:, None], (hits + rest)[:, None])
    return {
        "n": sizes.shape[1],
        "effective": effective_groups(*sizes),
        "sure": groups_in_variance(sizes.T).tolist(),
        "squares": np.sum((sizes / sizes.sum(axis=1, keepdims=True)) ** 2, axis=1).tolist(),
        "prevalence": float(share.design[0]),
    }


def cluster_spread(
    positive: BoolArray, scores: AnyArray, codes: AnyArray, held: OperatingPoints
) -> str:
    """Return the three sums at each held finite threshold, one sum after the other.

    They are 32-bit floats, written as text for JSON.
    """
    order = np.argsort(-scores, kind="stable")
    ends = np.searchsorted(-scores[order], -held.thresholds[1:], side="right")
    units, labels = codes[order], positive[order]
    sizes = {hit: np.bincount(units, labels == hit, codes.max() + 1) for hit in (True, False)}
    flagged = {hit: sums_before(units, labels == hit) for hit in (True, False)}
    rates = {True: held.tpr[1:], False: held.fpr[1:]}

    def total(values: AnyArray) -> FloatArray:
        return np.append(0.0, np.cumsum(values))[ends]

    def squares(one: bool, other: bool) -> FloatArray:
        """Sum the products of what groups have above their shares, of each of two classes."""
        new = {hit: labels == hit for hit in (one, other)}
        products = new[one] * flagged[other] + new[other] * flagged[one] + (new[one] & new[other])
        crossed = rates[other] * total(new[one] * sizes[other][units])
        crossed += rates[one] * total(new[other] * sizes[one][units])
        product = (
            total(products) - crossed + rates[one] * rates[other] * (sizes[one] @ sizes[other])
        )
        return np.asarray(product / (sizes[one].sum() * sizes[other].sum()))

    sums = [squares(True, True), squares(True, False), squares(False, False)]
    return base64.b64encode(np.concatenate(sums).astype("<f4").tobytes()).decode()
