"""Options that several commands share, declared once as a dataclass.

A command takes ``columns: ColumnOptions`` as one argument; typer is shown every field of it as an
option of its own.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import MISSING, fields, is_dataclass
from typing import Any, get_type_hints

Command = Callable[..., None]


def bundled(command: Command) -> Command:
    """Spread every argument that is a dataclass into its fields, for typer to read."""
    hints = get_type_hints(command, include_extras=True)
    bundles = {name: kind for name, kind in hints.items() if is_dataclass(kind)}
    parameters: list[inspect.Parameter] = []
    for parameter in inspect.signature(command).parameters.values():
        if parameter.name in bundles:
            parameters += _spread(bundles[parameter.name])
        else:
            hint = hints[parameter.name]
            parameters.append(_keyword(parameter.name, hint, parameter.default))

    def run(**values: Any) -> None:
        packed = {name: _pack(kind, values) for name, kind in bundles.items()}
        command(**packed, **values)

    run.__name__, run.__module__ = command.__name__, command.__module__
    run.__doc__ = _unwrapped(command.__doc__ or "")
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run


def _unwrapped(text: str) -> str:
    """Put each paragraph on one line: the terminal breaks lines where they end, not the source."""
    return "\n\n".join(" ".join(part.split()) for part in inspect.cleandoc(text).split("\n\n"))


def _spread(kind: Any) -> list[inspect.Parameter]:
    hints = get_type_hints(kind, include_extras=True)
    empty = inspect.Parameter.empty
    return [
        _keyword(
            field.name, hints[field.name], empty if field.default is MISSING else field.default
        )
        for field in fields(kind)
    ]


def _keyword(name: str, annotation: Any, default: Any) -> inspect.Parameter:
    # Keyword-only, so that required ones may follow those with a default.
    kind = inspect.Parameter.KEYWORD_ONLY
    return inspect.Parameter(name, kind, default=default, annotation=annotation)


def _pack(kind: Any, values: dict[str, Any]) -> Any:
    return kind(**{field.name: values.pop(field.name) for field in fields(kind)})
