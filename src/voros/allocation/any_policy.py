"""Policies of every kind: thresholds of one model, joint policies and worklists."""

from __future__ import annotations

from pathlib import Path
from typing import TypeAlias

from voros.allocation.joint_policy import JOINT_FORMAT, JointPolicy
from voros.io.documents import DocumentError, read_document
from voros.policy.saved_policy import POLICY_FORMAT
from voros.policy.threshold_policy import ThresholdPolicy
from voros.policy.worklists import WORKLIST_FORMAT, Worklist

AnyPolicy: TypeAlias = ThresholdPolicy | JointPolicy | Worklist

POLICY_KINDS: dict[str, type[AnyPolicy]] = {
    POLICY_FORMAT: ThresholdPolicy,
    JOINT_FORMAT: JointPolicy,
    WORKLIST_FORMAT: Worklist,
}
"""Classes by the format that their files state."""


def load_policy(source: str | Path) -> AnyPolicy:
    """Read a policy of any kind back from JSON text or from a file.

    Examples
    --------
    >>> import voros
    >>> y, s, ward = [1, 0, 1, 0, 1, 0], [6, 5, 4, 3, 2, 1], ["a", "a", "b", "b", "b", "a"]
    >>> policy = voros.allocate(y, s, voros.Scenario(cost_ratio=0.2), capacity=0.5, by=ward)
    >>> load_policy(policy.to_json())
    JointPolicy(2 streams, 2 of 3 alarms, cost 1, ...)
    """
    document = read_document(source, "saved policy")
    fields = document.value if isinstance(document.value, dict) else {}
    kind = POLICY_KINDS.get(str(fields.get("format")))
    if kind is None:
        raise DocumentError(f"{document.origin} is not a saved policy: it states no format of one")
    return kind.from_json(source)
