"""Ratios of timings to the reference of their group, beside those that are kept.

    python benchmarks/ratios.py TIMINGS.json [--keep]

reads what pytest-benchmark has written. A row that takes more than twice the kept ratio is an
error; ``--keep`` writes the new ratios to ratios.json instead.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

KEPT = Path(__file__).with_name("ratios.json")

DOUBLED = 2.0
"""Times the kept ratio: more is an error."""


def seconds(timings: dict[str, Any]) -> dict[str, dict[str, float]]:
    """Return the least time of each row, by group."""
    groups: dict[str, dict[str, float]] = {}
    for timing in timings["benchmarks"]:
        rows = groups.setdefault(timing["group"], {})
        rows[timing["extra_info"]["row"]] = timing["stats"]["min"]
    return groups


def main(path: str, *options: str) -> int:
    """Print the ratios, and return how many have doubled."""
    taken, kept = seconds(json.loads(Path(path).read_text())), json.loads(KEPT.read_text())
    n_doubled, now = 0, {}
    for group, rows in taken.items():
        print(f"\n{group:<50}{'seconds':>10}{'ratio':>10}{'kept':>10}")
        reference = next(iter(rows.values()))
        now[group] = {name: own / reference for name, own in rows.items()}
        for name, ratio in now[group].items():
            before = kept.get(group, {}).get(name)
            doubled = before is not None and ratio > DOUBLED * before
            n_doubled += doubled
            shown = ("new" if before is None else f"{before:.3g}").rjust(10)
            shown += "  DOUBLED" if doubled else ""
            print(f"  {name:<48}{rows[name]:>10.3g}{ratio:>10.3g}{shown}")
    if "--keep" in options:
        rounded = kept | {
            group: kept.get(group, {}) | {name: float(f"{r:.3g}") for name, r in rows.items()}
            for group, rows in now.items()
        }
        KEPT.write_text(json.dumps(rounded, indent=2) + "\n")
        return 0
    return n_doubled


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
