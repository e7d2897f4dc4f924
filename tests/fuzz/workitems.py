"""Random bodies of workitems: both engines agree to the bit, racy ones too; what checks clean has one outcome in every
order of warps and pipes. Bodies with a few places changed end alike, and both engines find the same in them."""

from __future__ import annotations

import sys
from dataclasses import replace
from functools import partial
from random import Random

import ptosim
from fuzz.mutated import MUTATIONS
from ptosim.api import Kernel
from ptosim.arguments import bind
from ptosim.checking import Launch, observed
from sifting import assert_agrees
from workitem_fuzz import arguments, random_body

ORDERS = 5
"""Random schedules of a body that checks clean."""


def outcome(kernel: Kernel, seed: int, **options: str | int) -> object:
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


MOST_STEPS = 20_000
"""Rounds of a body that a mutation may have made endless."""
TRIES = 20


def mutant(seed: int) -> Kernel | None:
    """One of these bodies, changed in one to three places; None where it does not load in so many tries."""
    chance, (text, _) = Random(seed), random_body(seed)
    for _ in range(TRIES):
        changed = text
        for _ in range(chance.choice((1, 1, 2, 3))):
            changed = chance.choice(MUTATIONS)(chance, changed)
        try:
            return ptosim.load(changed).kernel()
        except ptosim.PTOError:
            continue
    return None


def disagreement_on_mutant(seed: int) -> str | None:
    """The same, where both engines report what is wrong."""
    kernel = mutant(seed)
    if kernel is None or len(kernel.signature) != 2:
        return None
    limited = {"max_steps": MOST_STEPS}
    if outcome(kernel, seed, **limited) != outcome(kernel, seed, engine="reference", **limited):
        return f"the engines differ: mutant {seed}\n{kernel.module.outline.source.text}"
    launch = replace(Launch(bind(kernel.signature, arguments(seed)), 1), max_steps=MOST_STEPS)
    judge = partial(observed, kernel, launch, "relaxed")
    try:
        assert_agrees(kernel, launch, range(1), judge(range(1)), judge)
    except AssertionError as problem:
        return f"findings differ: mutant {seed}: {problem}"
    return None


def main(count: int, seed: int) -> bool:
    tried = range(seed, seed + count)
    found = [wrong for number in tried for wrong in (disagreement(number), disagreement_on_mutant(number)) if wrong]
    sys.stdout.write("\n".join(found) + "\n" if found else f"{count} bodies of workitems, and as many mutants: right\n")
    return not found
