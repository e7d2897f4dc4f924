"""Taint between registers in compiled code: a bit for each word of a register.

The rules over-approximate those of reference/observed/taint.py, by what the effects record says: lane to lane where an
instruction is element-wise, else from any active word to all. A mask or a scalar made of a doubtful word is a
suspicion at once, and so is a doubtful register that crosses a join.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import TYPE_CHECKING

from xdsl.ir import Operation, SSAValue

from ptosim.effects.record import Effects, Spread, Static
from ptosim.effects.vector_memory import LoadMode, StoreMode
from ptosim.language.micro.compare import VSel
from ptosim.language.micro.conversion import VBitcast, VCvt
from ptosim.language.micro.sfu import VExpdif
from ptosim.language.micro.vector_gather import VGatherB
from ptosim.language.micro.vector_memory import VSldb, VSstb
from ptosim.language.micro.vector_stream import UVld, VLdus
from ptosim.language.operation import PTOOperation
from ptosim.language.types import VregType, element_of
from ptosim.native.ir.flow import FunctionBuilder
from ptosim.native.ir.values import I64, Value
from ptosim.native.observe import words
from ptosim.native.vector.registers import Mask

if TYPE_CHECKING:
    from ptosim.native.build.program import FunctionBody

GATES = ("mask", "seed")
"""The roles of operands that say which lanes take part."""
IN_PLACE = (VSstb,)
"""Stores of blocks, each from its own place in the register."""
LOADS_IN_PLACE = (VSldb, VGatherB, VLdus, UVld)
CHOOSERS = ("index", "offsets")
"""Roles of registers that say where a lane comes from or goes to."""
CONVERSIONS = (VCvt, VExpdif)
"""Between lanes of different widths, of which a part is taken or filled."""


@dataclass
class ObservedInstruction:
    """An instruction while its code is built: what it has read from memory, and what it is about to store."""

    op: Operation
    record: Effects | None
    static: Static
    loaded: list[Value] = field(default_factory=list[Value])
    """Per access, the words that are not defined or racy."""
    covered: tuple[Value, Value] | None = None
    """For a store of blocks: the words of its register that are stored in part, and those that are wholly."""
    stored: Value | None = None
    """The doubtful words of its stored value, in the order of memory; None where it is clean for certain."""


class DoubtBits:
    """The doubtful words of each register of the functions that are being built."""

    def __init__(self) -> None:
        self._of: dict[SSAValue, Value] = {}

    def of(self, value: SSAValue) -> Value | None:
        """The words of a register; None where all are clean for certain."""
        return self._of.get(value)

    def put(self, value: SSAValue, taint: Value | None) -> None:
        if taint is None or taint.literal == 0:
            self._of.pop(value, None)
        else:
            self._of[value] = taint

    def operands(self, op: Operation) -> list[tuple[SSAValue, Value]]:
        """The operands of an instruction that may be doubtful."""
        return [(value, taint) for value in op.operands if (taint := self.of(value)) is not None]


def choosing(body: FunctionBody, doubts: DoubtBits, instruction: ObservedInstruction) -> Value | None:
    """The doubtful words of a register that says where active lanes come from or go to."""
    op = instruction.op
    if not isinstance(op, PTOOperation):
        return None
    for value in (value for role in CHOOSERS if role in op.operand_roles for value in op.segment(role)):
        taint = doubts.of(value)
        if taint is not None:
            return _gated(body, instruction, taint, element_of(value.type).bytes)
    return None


def covered_words(body: FunctionBody, instruction: ObservedInstruction) -> tuple[Value, Value] | None:
    """The words that a store of blocks takes from its register; of others the access says it."""
    mask = _mask(body, instruction.op)
    if mask is None or not isinstance(instruction.op, IN_PLACE):
        return None
    return words.of_mask(body.f, mask, instruction.static.elements["value"].bytes)


def about_to_store(f: FunctionBuilder, doubts: DoubtBits, instruction: ObservedInstruction) -> Value | None:
    """The doubtful words of the bytes that an instruction writes, as they will lie in memory."""
    found = doubts.operands(instruction.op)
    if not found or instruction.record is None:
        return None
    modes = [access.map for access in instruction.record.accesses(instruction.static) if access.direction == "write"]
    if len(modes) == 1 and isinstance(modes[0], StoreMode):
        return _collected(f, doubts, instruction, modes[0])
    union = reduce(_either, (taint for _, taint in found))
    return union if isinstance(instruction.op, IN_PLACE) else words.if_any(f, union)


def _collected(f: FunctionBuilder, doubts: DoubtBits, instruction: ObservedInstruction, mode: StoreMode) -> Value:
    """Through the table of a store, which may take bytes from two registers."""
    registers = [value for value in instruction.op.operands if isinstance(value.type, VregType)]
    parts: list[Value] = []
    for number, register in enumerate(registers):
        taint = doubts.of(register)
        if taint is not None:
            first = number * 256
            table = tuple(byte - first if first <= byte < first + 256 else words.NOTHING for byte in mode.source)
            padded = table + (words.NOTHING,) * (-len(table) % 4)
            parts.append(words.moved(f, padded, taint))
    return reduce(_either, parts)


def results(
    body: FunctionBody, doubts: DoubtBits, instruction: ObservedInstruction
) -> Sequence[tuple[SSAValue, Value | None]]:
    """The doubtful words of each result that is a register. Those of a mask or scalar: None, or a suspicion."""
    op, record = instruction.op, instruction.record
    found = doubts.operands(op)
    if record is None or (not found and not instruction.loaded):
        return [(result, None) for result in op.results]
    if instruction.loaded:
        return _loaded(body, instruction)
    if record.taint.spread is Spread.NONE:
        return [(result, None) for result in op.results]
    taint = _spread(body, doubts, instruction, [each for _, each in found])
    return [(result, taint) for result in op.results]


def _loaded(body: FunctionBody, instruction: ObservedInstruction) -> Sequence[tuple[SSAValue, Value | None]]:
    """The undefined bits of a load, distributed as its table says."""
    f, op, record = body.f, instruction.op, instruction.record
    assert record is not None
    (access, *_) = record.accesses(instruction.static)
    registers = [result for result in op.results if isinstance(result.type, VregType)]
    if isinstance(op, LOADS_IN_PLACE):
        return [(result, instruction.loaded[0]) for result in registers]
    if not isinstance(access.map, LoadMode) or len(instruction.loaded) != 1:
        taint = words.if_any(f, reduce(_either, (words.if_any(f, each) for each in instruction.loaded)))
        return [(result, taint) for result in op.results]
    (loaded,) = instruction.loaded
    found: list[tuple[SSAValue, Value | None]] = []
    for result, table in zip(registers, access.map.tables, strict=False):
        taint = words.moved(f, table, loaded) if access.map.footprint >= 32 else words.if_any(f, loaded)
        found.append((result, _gated(body, instruction, taint, element_of(result.type).bytes)))
    return found


def _either(one: Value, other: Value) -> Value:
    return one | other


def _mask(body: FunctionBody, op: Operation) -> Mask | None:
    if not isinstance(op, PTOOperation):
        return None
    for role in GATES:
        if role in op.operand_roles:
            for value in op.segment(role):
                mask = body[value]
                return mask if isinstance(mask, Mask) else None
    return None


def _gated(body: FunctionBody, instruction: ObservedInstruction, taint: Value, width: int) -> Value:
    """The words that a mask lets through, where it has as many lanes as the register."""
    mask = _mask(body, instruction.op)
    if mask is None or width > words.WORD or instruction.static.mask_strides.get("mask", 0) != width:
        return taint
    return taint & words.of_mask(body.f, mask, width)[0]


def _spread(body: FunctionBody, doubts: DoubtBits, instruction: ObservedInstruction, taints: Sequence[Value]) -> Value:
    f, op, record = body.f, instruction.op, instruction.record
    assert record is not None
    registers = [value for value in (*op.operands, *op.results) if isinstance(value.type, VregType)]
    widths = {element_of(value.type).bytes for value in registers}
    width = element_of(registers[0].type).bytes if registers else 4
    kept = _kept(doubts, instruction)
    union = words.widened(f, reduce(_either, taints), max(widths, default=width))
    if isinstance(op, VBitcast):
        return reduce(_either, taints)
    if isinstance(op, VSel):
        return _chosen(body, doubts, op, width)
    if record.taint.spread is Spread.ELEMENTWISE and (len(widths) == 1 or _stays_in_words(op)):
        gated = _gated(body, instruction, union, width)
        if kept is None:
            return gated
        mask = _mask(body, op)
        return gated | (kept if mask is None else kept & ~words.of_mask(f, mask, width)[1])
    gated = union if record.taint.placed_by_mask else _gated(body, instruction, union, width)
    return words.if_any(f, gated if kept is None else gated | kept)


def _chosen(body: FunctionBody, doubts: DoubtBits, op: VSel, width: int) -> Value:
    """Each lane of the result is the same lane of one operand or the other."""
    f, mask = body.f, _mask(body, op)
    assert mask is not None
    on_true, on_false = (doubts.of(value) for value in (op.on_true, op.on_false))
    nothing = f.constant(I64, 0)
    if width > words.WORD:
        return (nothing if on_true is None else on_true) | (nothing if on_false is None else on_false)
    some, whole = words.of_mask(f, mask, width)
    found = nothing if on_true is None else on_true & some
    return found if on_false is None else found | on_false & ~whole


def _stays_in_words(op: Operation) -> bool:
    """Whether lanes of one width become lanes of another in the same word: i and 2i, or 4i, and what follows."""
    elements = [element_of(value.type) for value in (*op.operands, *op.results) if isinstance(value.type, VregType)]
    return isinstance(op, CONVERSIONS) and all(8 <= element.bits <= 32 for element in elements)


def _kept(doubts: DoubtBits, instruction: ObservedInstruction) -> Value | None:
    """The words of an operand whose lanes stay where the mask is off."""
    op, record = instruction.op, instruction.record
    if record is None or record.taint.keeps is None or not isinstance(op, PTOOperation):
        return None
    for value in op.segment(record.taint.keeps):
        return doubts.of(value)
    return None
