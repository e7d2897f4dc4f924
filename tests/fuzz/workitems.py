"""Random bodies of workitems: both engines agree to the bit, racy ones too; what checks clean has one outcome in every
order of warps and pipes."""

from __future__ import annotations

import sys

import ptosim
from ptosim.api import Kernel
from workitem_fuzz import arguments, random_body

ORDERS = 5
"""Random schedules of a body that checks clean."""


def outcome(kernel: Kernel, seed: int, **options: str) -> object:
    x, y = arguments(seed)
    try:
        kernel(x, y, **options)  # pyright: ignore[reportArgumentType]
    except ptosim.PTOError as problem:
        return [(found.kind, found.line, found.workitem) for found in problem.raised]
    return x.tobytes(), y.tobytes()


def disagreement(seed: int, orders: int = ORDERS) -> str | None:
    """What is wrong with one of these bodies."""
    text, _ = random_body(seed)
    kernel = ptosim.load(text).kernel()
    expected = outcome(kernel, seed, engine="reference")
    if outcome(kernel, seed) != expected:
        return f"the engines differ: seed {seed}"
    if orders and not ptosim.check(kernel, *arguments(seed), unwritten="off").findings:
        for order in range(orders):
            if outcome(kernel, seed, engine="reference", schedule=f"random:{order}") != expected:
                return f"clean, and yet another outcome under random:{order}: seed {seed}"
    return None


def main(count: int, seed: int) -> bool:
    found = [wrong for number in range(seed, seed + count) if (wrong := disagreement(number)) is not None]
    sys.stdout.write("\n".join(found) + "\n" if found else f"{count} bodies of workitems: right\n")
    return not found
