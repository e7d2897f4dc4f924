"""Predicate registers: generation, algebra, rearrangement, load and store."""

from __future__ import annotations

from ptosim.language.operation import Operand, Property, PTOOperation, Result
from ptosim.language.syntax import Vocabulary

PATTERNS = Vocabulary(
    (
        "PAT_ALL",
        *(f"PAT_VL{n}" for n in (1, 2, 3, 4, 8, 16, 32, 64, 128)),
        "PAT_M3",
        "PAT_M4",
        "PAT_H",
        "PAT_Q",
        "PAT_ALLF",
    )
)


class Pattern(PTOOperation):
    form = "@pattern"
    words = {"pattern": PATTERNS}
    placement = "inside"
    pattern = Property()
    result = Result()


class PSetB32(Pattern):
    """A mask of 32-bit lanes by pattern.

    %m = pto.pset_b32 "PAT_ALL" : !pto.mask<b32>
    """

    name = "pto.pset_b32"
    granularity = "b32"


class TailMask(PTOOperation):
    form = "$count"
    placement = "inside"
    count = Operand()
    result = Result()
    next = Result()


class PltB32(TailMask):
    """The first `count` lanes are active.

    %m, %next = pto.plt_b32 %n : i32 -> !pto.mask<b32>, i32
    """

    name = "pto.plt_b32"
    granularity = "b32"
