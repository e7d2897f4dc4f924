"""Predicate registers: generation, algebra, rearrangement.

Which bit goes where is in effects/predicate.py. A mask is 256 bits; b8, b16 and b32 say how many of them make a lane.
Loads and stores are in predicate_memory.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from xdsl.dialects.builtin import StringAttr

from ptosim.effects.predicate import PACK, PATTERNS, PREDICATE_BITS
from ptosim.language.micro.vector import integers
from ptosim.language.operation import Operand, Problem, PTOOperation, Result, lint, made
from ptosim.language.rules.operand_rules import constants
from ptosim.language.text.assembly_format import Vocabulary
from ptosim.language.types import MASK_STRIDES, MaskType, element_name, is_open, same_type

PATTERN_WORDS = Vocabulary(PATTERNS)
PARTS = Vocabulary(tuple(PACK))

# --- rules shared in this room ----------------------------------------------------------------------------------------


def _have_granularity(op: PTOOperation, *roles: str) -> Iterator[Problem]:
    """These are masks of the granularity that the mnemonic names."""
    expected = MaskType(StringAttr(op.granularity or ""))
    for role in roles:
        type_ = getattr(op, role).type
        if not same_type(type_, expected):
            yield Problem(f"{role} of {op.name} must be {expected}, not {type_}", at=role)


class _Predicate(PTOOperation):
    """An instruction on predicate registers."""

    placement = "inside"


def _sized(family: type[PTOOperation], *mnemonics: str) -> tuple[type[PTOOperation], ...]:
    """Three operations for each mnemonic, one for each granularity; the text of their family names it, too."""
    return tuple(
        made(
            __name__,
            family,
            name := f"pto.{mnemonic}_{granularity}",
            __doc__=(family.__doc__ or "").format(name=name, granularity=granularity, lanes=PREDICATE_BITS // stride),
            granularity=granularity,
        )
        for mnemonic in mnemonics
        for granularity, stride in MASK_STRIDES.items()
    )


# --- generation -------------------------------------------------------------------------------------------------------


class _Pattern(_Predicate):
    """A mask of {lanes} lanes by pattern; pset and pge are the same.

    PAT_ALL and PAT_ALLF are all and no lanes, PAT_VLn the first n, PAT_M3 and PAT_M4 the multiples of 3 and 4, PAT_H
    and PAT_Q the first half and quarter. An n above the number of lanes means all.

        %mask = {name} "PAT_VL8" : !pto.mask<{granularity}>
    """

    form = "@pattern -> $result"
    words = {"pattern": PATTERN_WORDS}

    def rules(self, target: str) -> Iterator[Problem]:
        yield from _have_granularity(self, "result")


class _Tail(_Predicate):
    """A mask of the first `count` of {lanes} lanes, and the count that remains.

    Lane i is active where i < count; the second result is count - {lanes}, or 0 where that would be negative. Carry it
    through a loop to mask the last, partial vector. The count is read without sign: -1 makes every lane active.

        %mask, %next = {name} %count : i32 -> !pto.mask<{granularity}>, i32
    """

    form = "$count -> $result, $next"
    count = Operand()
    next = Result()

    def rules(self, target: str) -> Iterator[Problem]:
        if element_name(self.count.type) not in integers(32):
            yield Problem(f"count must be a 32-bit integer, not {self.count.type}", at="count")
        elif self.next.type != self.count.type:
            message = f"the second result must have the type of count, {self.count.type}, not {self.next.type}"
            yield Problem(message, at="next")
        for place, known in constants(self, "count"):
            if known < 0:
                yield lint(f"count is {known}, which is read without sign: every lane is active", at=place)
        yield from _have_granularity(self, "result")


class _LoopTail(_Predicate):
    """A mask of the lanes of iteration `loop` that are below `bound`.

    Lane i of {lanes} is active where loop * {lanes} + i < bound.

        %mask = {name} %loop, %bound : i16, i32 -> !pto.mask<{granularity}>
    """

    form = "$loop:i16, $bound:i32 -> $result"

    def rules(self, target: str) -> Iterator[Problem]:
        yield from _have_granularity(self, "result")


TAILS = _sized(_Tail, "plt")
"""The masks that carry a count from register to register."""

# --- algebra ----------------------------------------------------------------------------------------------------------


class _Logic(_Predicate):
    """Bits of masks that all have one granularity."""

    def rules(self, target: str) -> Iterator[Problem]:
        first, *others = (*self.roles(), ("result", self.results[0]))
        for role, value in others:
            masks = isinstance(first[1].type, MaskType) and isinstance(value.type, MaskType)
            if masks and not same_type(value.type, first[1].type):
                yield Problem(f"{role} has type {value.type}, but {first[0]} has type {first[1].type}", at=role)


class _Governed(_Logic):
    form = "$lhs:mask, $rhs:mask, $mask:mask -> $result:mask"


class PAnd(_Governed, name="pto.pand"):
    """Lanes that are active in both masks and in the governing one.

    All 256 bits alike: mask & lhs & rhs.

        %r = pto.pand %a, %b, %mask : !pto.mask<b32>, !pto.mask<b32>, !pto.mask<b32> -> !pto.mask<b32>
    """


class POr(_Governed, name="pto.por"):
    """Lanes that are active in one mask or the other, and in the governing one.

    All 256 bits alike: mask & (lhs | rhs).

        %r = pto.por %a, %b, %mask : !pto.mask<b32>, !pto.mask<b32>, !pto.mask<b32> -> !pto.mask<b32>
    """


class PXor(_Governed, name="pto.pxor"):
    """Lanes that are active in just one of the two masks, and in the governing one.

    All 256 bits alike: mask & (lhs ^ rhs).

        %r = pto.pxor %a, %b, %mask : !pto.mask<b32>, !pto.mask<b32>, !pto.mask<b32> -> !pto.mask<b32>
    """


class PNot(_Logic, name="pto.pnot"):
    """Lanes that are inactive in a mask and active in the governing one.

    All 256 bits alike: mask & ~input. Under a full mask from pset only the deciding bit of each lane can become set.

        %r = pto.pnot %a, %mask : !pto.mask<b32>, !pto.mask<b32> -> !pto.mask<b32>
    """

    form = "$input:mask, $mask:mask -> $result:mask"


class PSel(_Logic, name="pto.psel"):
    """Lanes of one mask where a third is set, of the other elsewhere.

    All 256 bits alike: select ? lhs : rhs. There is no governing mask.

        %r = pto.psel %a, %b, %select : !pto.mask<b32>, !pto.mask<b32>, !pto.mask<b32> -> !pto.mask<b32>
    """

    form = "$lhs:mask, $rhs:mask, $select:mask -> $result:mask"


# --- rearrangement ----------------------------------------------------------------------------------------------------


class _Resized(_Predicate):
    form = "$input:mask, @part -> $result:mask"
    words = {"part": PARTS}
    input = Operand()
    result = Result()
    steps: ClassVar[tuple[tuple[str, str], ...]]
    """The changes of granularity that it may make."""

    def rules(self, target: str) -> Iterator[Problem]:
        one, other = self.input.type, self.result.type
        if not (isinstance(one, MaskType) and isinstance(other, MaskType)) or is_open(one) or is_open(other):
            return
        before, after = one.granularity.data, other.granularity.data
        if before != after and (before, after) not in self.steps:
            allowed = ", ".join(f"{source} to {result}" for source, result in self.steps)
            yield Problem(f"{self.name} keeps the granularity or changes it from {allowed}, not {before} to {after}")


class PPack(_Resized, name="pto.ppack"):
    """Every second bit of a mask, side by side in one half of the result; the other half is zero.

    LOWER or HIGHER says which half. From b32 to b16 lane i becomes lane i, or lane 64 + i in the higher half; from b16
    to b8 likewise.

        %r = pto.ppack %a, "LOWER" : !pto.mask<b32> -> !pto.mask<b16>
    """

    steps = (("b32", "b16"), ("b16", "b8"))


class PUnpack(_Resized, name="pto.punpack"):
    """The bits of one half of a mask, each followed by a zero.

    LOWER or HIGHER says which half. From b16 to b32 lanes 0 to 63 (or 64 to 127) become lanes 0 to 63; from b8 to b16
    likewise.

        %r = pto.punpack %a, "LOWER" : !pto.mask<b16> -> !pto.mask<b32>
    """

    steps = (("b16", "b32"), ("b8", "b16"))


class _TwoMasks(_Predicate):
    form = "$lhs, $rhs -> $low, $high"

    def rules(self, target: str) -> Iterator[Problem]:
        yield from _have_granularity(self, "lhs", "rhs", "low", "high")


class _Interleaved(_TwoMasks):
    """The lanes of two masks in turn.

    Lane 2i of the sequence is lane i of the first mask, lane 2i + 1 lane i of the second; the results are its first and
    second {lanes} lanes. All bits of a lane move along.

        %low, %high = {name} %a, %b
            : !pto.mask<{granularity}>, !pto.mask<{granularity}> -> !pto.mask<{granularity}>, !pto.mask<{granularity}>
    """


class _Deinterleaved(_TwoMasks):
    """The even and the odd lanes of two masks, taken as one sequence of lanes.

    The results are lanes 0, 2, 4 ... and 1, 3, 5 ... of the {lanes} lanes of the first mask followed by those of the
    second. All bits of a lane move along.

        %low, %high = {name} %a, %b
            : !pto.mask<{granularity}>, !pto.mask<{granularity}> -> !pto.mask<{granularity}>, !pto.mask<{granularity}>
    """


class PBitcast(_Predicate, name="pto.pbitcast"):
    """The same 256 bits, seen with another lane width.

    Seen as b32, a b16 mask keeps its even lanes: only the lowest bit of a lane decides, the others are still there.

        %r = pto.pbitcast %a : !pto.mask<b16> -> !pto.mask<b32>
    """

    form = "$input:mask -> $result:mask"


OPERATIONS = (
    *_sized(_Pattern, "pset", "pge"),
    *TAILS,
    *_sized(_LoopTail, "pltm"),
    *_sized(_Interleaved, "pintlv"),
    *_sized(_Deinterleaved, "pdintlv"),
)
