"""Loads and stores of predicate registers. Which bit goes where is in effects/predicate.py."""

from __future__ import annotations

from collections.abc import Iterator

from ptosim.effects.predicate import LOAD_MODES, STORE_MODES
from ptosim.language.operation import Operand, Problem, PTOOperation
from ptosim.language.rules.align_streams import continues_store
from ptosim.language.rules.operand_rules import constant_of, updated_base
from ptosim.language.text.assembly_format import Vocabulary
from ptosim.language.types import MaskType, PtrType, element_name, is_open

LOAD_DISTS = Vocabulary(tuple(LOAD_MODES))
STORE_DISTS = Vocabulary(tuple(STORE_MODES))


class _Load(PTOOperation):
    form = "$source:ub[$offset:index], @dist -> $result:mask{, $next}"
    words = {"dist": LOAD_DISTS}
    offset = Operand()

    def rules(self, target: str) -> Iterator[Problem]:
        yield from updated_base(self, "source")


class _Store(PTOOperation):
    form = "$value:mask, $dest:ub[$offset:index], @dist -> {$next}"
    words = {"dist": STORE_DISTS}
    offset = Operand()

    def rules(self, target: str) -> Iterator[Problem]:
        yield from updated_base(self, "dest")


def _constant_offset(op: _Load | _Store, dynamic: str) -> Iterator[Problem]:
    if constant_of(op.offset) is None:
        yield Problem(f"the offset of {op.name} must be a constant", at="offset", hint=f"{dynamic} takes any offset")


class Plds(_Load, name="pto.plds"):
    """Load a mask from UB, bit by bit and whatever its granularity.

    NORM reads 32 bytes as they are; US reads 16 and doubles every bit; DS reads 64 and drops every second bit. The
    offset counts bytes, whatever the pointer points to. The address is a multiple of 32 bytes (US: of 16). With a
    second result the access is at the pointer itself, and the result is the pointer advanced by the offset.

        %mask = pto.plds %ub[%offset], "NORM" : !pto.ptr<ui8, ub>, index -> !pto.mask<b8>
    """


class Pldi(_Load, name="pto.pldi"):
    """Load a mask from UB at a constant offset, bit by bit and whatever its granularity.

    As plds, but the offset counts units of the dist: 32 bytes for NORM and DS, 16 for US.

        %c1 = arith.constant 1 : index
        %mask = pto.pldi %ub[%c1], "US" : !pto.ptr<ui8, ub>, index -> !pto.mask<b8>
    """

    def rules(self, target: str) -> Iterator[Problem]:
        yield from super().rules(target)
        yield from _constant_offset(self, "pto.plds")


class Psts(_Store, name="pto.psts"):
    """Store a mask to UB, bit by bit and whatever its granularity.

    NORM writes 32 bytes as they are, so a b32 mask takes four bits for a lane; PK writes 16 bytes of every second bit.
    The offset counts bytes, whatever the pointer points to. The address is a multiple of 32 bytes (PK: of 16). With a
    result the access is at the pointer itself, and the result is the pointer advanced by the offset.

        pto.psts %mask, %ub[%offset], "NORM" : !pto.mask<b32>, !pto.ptr<ui8, ub>, index
    """


class Psti(_Store, name="pto.psti"):
    """Store a mask to UB at a constant offset, bit by bit and whatever its granularity.

    As psts, but the offset counts units of the dist: 32 bytes for NORM, 16 for PK.

        %c1 = arith.constant 1 : index
        pto.psti %mask, %ub[%c1], "PK" : !pto.mask<b32>, !pto.ptr<ui8, ub>, index
    """

    def rules(self, target: str) -> Iterator[Problem]:
        yield from super().rules(target)
        yield from _constant_offset(self, "pto.psts")


class Pstu(PTOOperation, name="pto.pstu"):
    """Store a mask as one bit for each lane at any address of UB, as the next step of a store stream.

    Appends 16 bytes for a b16 mask and 8 for a b32 mask at the pointer, which must be to 16- or 32-bit unsigned or
    signless elements accordingly; the second result is the pointer behind them. Complete 32-byte granules reach UB now,
    the rest stays in the align value until the next store or the flush (vstas with offset 0).

        %align = pto.init_align : !pto.align
        %align1, %next = pto.pstu %align, %mask, %ub
            : !pto.align, !pto.mask<b32>, !pto.ptr<ui32, ub> -> !pto.align, !pto.ptr<ui32, ub>
        pto.vstas %align1, %next, %zero : !pto.align, !pto.ptr<ui32, ub>, i32
    """

    form = "$align:align, $value:mask, $dest:ub -> $align_out:align, $next"
    value = Operand()
    dest = Operand()

    def rules(self, target: str) -> Iterator[Problem]:
        yield from continues_store(self)
        yield from updated_base(self, "dest")
        mask, pointer = self.value.type, self.dest.type
        if not isinstance(mask, MaskType) or is_open(mask):
            return
        width = mask.granularity.data.removeprefix("b")
        if width == "8":
            yield Problem("pto.pstu takes masks of b16 and b32 lanes, not b8", at="value")
        elif isinstance(pointer, PtrType) and not pointer.is_open:
            allowed = (f"ui{width}", f"i{width}")
            if element_name(pointer.element) not in allowed:
                expected = " or ".join(allowed)
                yield Problem(f"dest of a {mask} must point to {expected}, not {pointer.element}", at="dest")
