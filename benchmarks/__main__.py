"""`python -m benchmarks [--quick]`: all figures of one run, in relation to memcpy and NumPy in the same run.

Prints tables and writes benchmarks/results/latest.json. Bandwidth is bytes read plus bytes written per second. A figure
that has a floor is followed by it. Where two threads of memcpy are less than 1.3 times one, two-thread figures are not
judged.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
from pathlib import Path

from benchmarks import growth, observers, observing, ordering, profiling, starting, sweeps, throughput, tiles, workitems

RESULTS = Path(__file__).parent / "results"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=(__doc__ or "").split("\n\n", 1)[1])
    parser.add_argument("--quick", action="store_true", help="smaller arrays and a shorter trace")
    quick: bool = parser.parse_args().quick
    tables = {
        "throughput": throughput.table(quick),
        "tiles": tiles.table(),
        "workitems": workitems.table(quick),
        "starting": starting.table(),
        "observers": observers.table(quick),
        "observing": observing.table(quick),
        "profiling": profiling.table(quick),
        "ordering": ordering.table(quick),
        "growth": growth.table(quick),
        "sweeps": sweeps.table(quick),
    }
    facts = {
        "machine": platform.processor() or platform.machine(),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
    }
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "latest.json").write_text(json.dumps({"facts": facts, **tables}, indent=2) + "\n")
    print(f"\nwrote {RESULTS / 'latest.json'}")


if __name__ == "__main__":
    main()
