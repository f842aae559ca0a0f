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


def ratios(timings: dict[str, Any]) -> dict[str, dict[str, float]]:
    """Return the least time of each row over that of the first of its group."""
    groups: dict[str, dict[str, float]] = {}
    for timing in timings["benchmarks"]:
        rows = groups.setdefault(timing["group"], {})
        rows[timing["extra_info"]["row"]] = timing["stats"]["min"]
    return {
        group: {name: taken / next(iter(rows.values())) for name, taken in rows.items()}
        for group, rows in groups.items()
    }


def main(path: str, *options: str) -> int:
    """Print the ratios, and return how many have doubled."""
    now, kept = ratios(json.loads(Path(path).read_text())), json.loads(KEPT.read_text())
    n_doubled = 0
    for group, rows in now.items():
        print(f"\n{group:<50}{'ratio':>10}{'kept':>10}")
        for name, ratio in rows.items():
            before = kept.get(group, {}).get(name)
            doubled = before is not None and ratio > DOUBLED * before
            n_doubled += doubled
            shown = "new" if before is None else f"{before:.3g}"
            print(f"  {name:<48}{ratio:>10.3g}{shown:>10}{'  DOUBLED' if doubled else ''}")
    if "--keep" in options:
        rounded = {g: {n: float(f"{r:.3g}") for n, r in rows.items()} for g, rows in now.items()}
        KEPT.write_text(json.dumps(kept | rounded, indent=2) + "\n")
        return 0
    return n_doubled


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
