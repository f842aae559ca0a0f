"""``voros compare`` with saved policies: what each costs on the same test cases."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from voros.cli.joint_alarms import StreamFile, joined_subgroups
from voros.cli.loading import load, periods_of
from voros.cli.options import ResamplingOptions
from voros.cli.stream_columns import has_outcomes
from voros.cli.terminal import show_progress
from voros.core.scenario import Scenario
from voros.exceptions import PredictionFileError
from voros.io import open_source

if TYPE_CHECKING:  # loaded by the commands that read a policy, not by all of them
    from voros.allocation.any_policy import AnyPolicy
    from voros.inference import Comparison


def read_policies(paths: Sequence[Path]) -> dict[str, AnyPolicy]:
    """Read policies of any kind, named by their files."""
    from voros.allocation.any_policy import load_policy

    stems = Counter(path.stem for path in paths)
    return {path.stem if stems[path.stem] == 1 else str(path): load_policy(path) for path in paths}


@dataclass(frozen=True, kw_only=True)
class SavedPolicies:
    """Saved policies, and the file of cases to compare them on.

    Attributes
    ----------
    policies : dict of str to ThresholdPolicy, JointPolicy or Worklist
    file : StreamFile
    resampling : ResamplingOptions
    """

    policies: dict[str, AnyPolicy]
    file: StreamFile
    resampling: ResamplingOptions

    def compare(self) -> Comparison:
        """Compare what the policies cost on the same resamples."""
        from voros import inference

        several = any(map(has_outcomes, self.policies.values()))
        cases = self._outcomes() if several else self._cases()
        with show_progress("resampling") as progress:
            return inference.compare_policies(**cases, policies=self.policies, progress=progress)

    def _cases(self) -> dict[str, Any]:
        """Read one label and score of each case."""
        when, shared = self.file.when, self._limits()
        when.check(shared)
        columns = {name: self._score(name, policy) for name, policy in self.policies.items()}
        stated = (getattr(policy, "pos_label", None) for policy in self.policies.values())
        positive = self.file.columns.pos_label or next(filter(None, stated), None)
        wanted = list(dict.fromkeys(columns.values()))
        cases = load(
            replace(self.file.columns, score=wanted, pos_label=positive),
            group=self.resampling.group,
            when=when,
            by=self.file.by,
        )
        arguments = self.resampling.arguments(cases) | {"periods": periods_of(cases, shared, when)}
        if self.file.by:
            arguments["by"] = joined_subgroups(cases, self.file.by)
        scores = {name: cases.scores_of(column) for name, column in columns.items()}
        return {"y_true": cases.labels, "scores": scores} | arguments

    def _outcomes(self) -> dict[str, Any]:
        """Read the labels and scores of every outcome."""
        how = self.resampling
        if how.group is not None:
            raise ValueError("--group is for one score of a case; a case of several is drawn whole")
        first = next(iter(self.policies.values()))
        if not has_outcomes(first):
            raise ValueError("a joint policy of several outcomes is compared with others like it")
        source = open_source(self.file.columns.file, self.file.columns.file_format)
        cases = self.file.load(first, source)  # type: ignore[arg-type]
        if cases.y_true is None:
            raise PredictionFileError(f"{source.name} has no labels to compare policies by")
        return {
            "y_true": cases.y_true,
            "scores": dict.fromkeys(self.policies, cases.scores),
            "periods": cases.periods,
            "n_resamples": how.resamples,
            "confidence_level": how.confidence_level,
            "random_state": how.seed,
        }

    def _limits(self) -> Scenario:
        """Return limits with the period of the policies' capacities, if any has one."""
        plain = Scenario(cost_ratio=1.0)
        limits = [
            policy.limit.scenario if hasattr(policy, "limit") else policy.scenario
            for policy in self.policies.values()
        ]
        return next((one for one in limits if one is not None and one.per is not None), plain)

    def _score(self, name: str, policy: AnyPolicy) -> str:
        stated = self.file.columns.score or []
        if len(stated) == 1:
            return stated[0]
        model = getattr(policy, "model", None)
        if stated or model is None:
            raise PredictionFileError(
                f"the policy {name!r} needs one column of scores; name it with one --score"
            )
        return str(model)
