"""What a check and a profile cost, as multiples of a plain run on the reference engine."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import ptosim
from benchmarks.measure import best

EXAMPLES = Path(__file__).parents[1] / "examples"
LIMITS = {"check": 4.0, "profile": 3.0}


def table() -> list[dict[str, Any]]:
    sys.path.insert(0, str(EXAMPLES))
    import pingpong
    import softmax

    rows: list[dict[str, Any]] = []
    print()
    for name, launch in (("softmax", softmax.launch(rows=120)), ("pingpong", pingpong.launch(tiles=20, tail=1024))):
        kernel = ptosim.load(EXAMPLES / f"{name}.pto").kernel()
        arguments, grid = launch.arguments, launch.grid
        run = best(lambda k=kernel, a=arguments, g=grid: k(*a, grid=g, engine="reference"))
        for what, call in (("check", ptosim.check), ("profile", ptosim.profile)):
            ratio = best(lambda c=call, k=kernel, a=arguments, g=grid: c(k, *a, grid=g)) / run
            rows.append({"name": f"{what} {name}", "ratio": ratio, "limit": LIMITS[what]})
            verdict = "ok" if ratio <= LIMITS[what] else "MISSED"
            print(f"{what + ' ' + name:34} {ratio:6.2f} x reference run  limit {LIMITS[what]:.0f} {verdict}")
    return rows
