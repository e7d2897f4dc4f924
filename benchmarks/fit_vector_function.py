"""Fit vector.loop_entry, the one fitted figure of the A5 vector-function model, to published points, and judge it.

Each number of whole cycles is tried on all points; the one with the least mean error over the points used is taken.
This is done with all points, then twice with some left out, on which the fit is judged.
Run from the top of the project: python benchmarks/fit_vector_function.py
"""

import sys
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from ptosim.target import load_target
from ptosim.timing.vector_function import vector_function
from timing.calibration_points import Point, points

CANDIDATES = range(13)

Errors = dict[Point, float]  # relative, signed


def main() -> None:
    target = load_target("a5")
    errors: dict[int, Errors] = {}
    for candidate in CANDIDATES:
        changed = target.with_overrides({"vector.loop_entry": candidate})
        errors[candidate] = {
            point: vector_function(point.program, point.path, changed).cycles / point.cycles - 1 for point in points()
        }
    for point, error in errors[fit(errors, lambda point: True)].items():
        print(f"{point!s:12} published {point.cycles:4}  model {round(point.cycles * (1 + error)):4}  {error:+6.1%}")
    report("all points", errors, lambda point: True)
    report("without vexp", errors, lambda point: point.name != "vexp")
    report("without 20 rows", errors, lambda point: point.rows != 20)


def fit(errors: dict[int, Errors], used: Callable[[Point], bool]) -> int:
    return min(errors, key=lambda candidate: mean(errors[candidate], used))


def mean(errors: Errors, used: Callable[[Point], bool]) -> float:
    chosen = [abs(error) for point, error in errors.items() if used(point)]
    return sum(chosen) / len(chosen)


def report(name: str, errors: dict[int, Errors], used: Callable[[Point], bool]) -> None:
    best = fit(errors, used)
    worst = max(abs(error) for point, error in errors[best].items() if used(point))
    print(f"\n{name}: vector.loop_entry = {best}")
    print(f"  points used: mean {mean(errors[best], used):.2%}, worst {worst:.1%}")
    left_out = [abs(error) for point, error in errors[best].items() if not used(point)]
    if left_out:
        print(f"  {len(left_out)} left out: mean {sum(left_out) / len(left_out):.2%}, worst {max(left_out):.1%}")


if __name__ == "__main__":
    main()
