"""Signatures that list the arguments behind ``*arguments`` and ``**options``."""

from __future__ import annotations

from collections.abc import Callable
from inspect import Parameter, signature
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])

OPEN = (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)


def takes(*sources: Callable[..., Any], leave_out: tuple[str, ...] = ()) -> Callable[[F], F]:
    """Add the arguments that a function passes on to its signature.

    Examples
    --------
    >>> def draw(points, *, color=None): ...
    >>> @takes(draw, leave_out=("points",))
    ... def compute_and_draw(y_true, scores, **options): ...
    >>> signature(compute_and_draw)
    <Signature (y_true, scores, *, color=None)>
    """

    def named(function: F) -> F:
        own, known = signature(function), set(leave_out)
        kinds = {p.kind for p in own.parameters.values()}
        parameters = [p for p in own.parameters.values() if p.kind not in OPEN]
        for source in sources:
            known |= {p.name for p in parameters}
            theirs = signature(source).parameters.values()
            added = [p for p in theirs if p.name not in known and p.kind not in OPEN]
            if Parameter.VAR_POSITIONAL not in kinds:
                added = [p.replace(kind=Parameter.KEYWORD_ONLY) for p in added]
            parameters += added
        ordered = sorted(parameters, key=lambda p: p.kind)
        function.__signature__ = own.replace(parameters=ordered)  # type: ignore[attr-defined]
        return function

    return named
