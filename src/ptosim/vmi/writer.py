"""Micro-instructions on registers and masks, as the recipes write them; what is the same all over a scope stands once.

write = writer.at(op)
zero = write.every(0, element)                    # at the head of the scope
sum = write.op("vadd", x, y, write.all(4))        # here
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, cast

from xdsl.dialects.builtin import IntegerType, Signedness, StringAttr, i16, i32
from xdsl.ir import Attribute, Block, Operation, SSAValue

from ptosim.effects.element import VECTOR_BYTES
from ptosim.effects.predicate import PATTERNS
from ptosim.language.builder import Builder, Head, InsertionPoint, Number
from ptosim.language.catalogue import operation
from ptosim.language.operation import enclosing_scope
from ptosim.language.text.parser import ParsedModule
from ptosim.language.types import MaskType, VregType, element_of


def unsigned_of(bits: int) -> IntegerType:
    return IntegerType(bits, Signedness.UNSIGNED)


def signed_of(bits: int) -> IntegerType:
    return IntegerType(bits, Signedness.SIGNED)


def register_element(element: Attribute) -> Attribute:
    """The elements of the registers of a logical vector: signless integers are unsigned, payloads are bits."""
    kind = element_of(element)
    if kind.kind == "lowprecision" or (isinstance(element, IntegerType) and kind.name.startswith("i")):
        return unsigned_of(kind.bits)
    return cast("Attribute", element)


def mask_type(width: int) -> MaskType:
    """The masks of lanes of so many bytes."""
    return MaskType(StringAttr(f"b{8 * width}"))


def width_of(register: SSAValue) -> int:
    """The bytes of a lane."""
    return element_of(register.type).bytes


@dataclass
class ScopeHead:
    """The start of a scope, where constants of it stand, each once."""

    block: Block
    anchor: Operation | None
    known: dict[tuple[object, ...], SSAValue] = field(default_factory=dict[tuple[object, ...], SSAValue])


class Writer:
    """Appends micro-instructions at a place, each serving an operation of the text."""

    def __init__(self, build: Builder, head: ScopeHead) -> None:
        self.build = build
        self.head = head

    def op(self, name: str, *operands: SSAValue, **given: Any) -> Any:
        """An instruction with its operands in the order of the text; what is given by name is a word or a type."""
        kind = operation(f"pto.{name}")
        assert kind is not None, name
        roles = kind.operand_roles[: len(operands)]
        return self.build.op(name, **dict(zip(roles, operands, strict=True)), **given)

    # --- once in a scope ----------------------------------------------------------------------------------------------

    def once(self, key: tuple[object, ...], make: Callable[[Writer], SSAValue]) -> SSAValue:
        """A value made of constants, at the head of the scope."""
        if key not in self.head.known:
            place = InsertionPoint(self.head.block, self.head.anchor)
            build = Builder(self.build.parsed, place, self.build.head, self.build.serves)
            self.head.known[key] = make(Writer(build, self.head))
        return self.head.known[key]

    def all(self, width: int) -> SSAValue:
        """The mask of all lanes of so many bytes."""
        return self.first(VECTOR_BYTES // width, width)

    def first(self, count: int, width: int) -> SSAValue:
        """The mask of the first lanes, as many as are known."""
        if width == 8:  # as pairs of four
            return self.first(2 * count, 4)
        lanes = VECTOR_BYTES // width
        count = max(0, min(count, lanes))

        def make(write: Writer) -> SSAValue:
            pattern = {lanes: "PAT_ALL", 0: "PAT_ALLF"}.get(count, f"PAT_VL{count}")
            type_ = mask_type(width)
            if pattern in PATTERNS:
                return write.op(f"pset_b{8 * width}", pattern=pattern, result=type_)
            return write.op(f"plt_b{8 * width}", write.build.constant(count, i32), result=type_, next=i32)[0]

        return self.once(("first", count, width), make)

    def between(self, low: int, high: int, width: int) -> SSAValue:
        """The mask of lanes `low` to below `high`."""
        if low <= 0:
            return self.first(high, width)

        def make(write: Writer) -> SSAValue:
            return write.op("pnot", write.first(low, width), write.first(high, width))

        return self.once(("between", low, high, width), make)

    def every(self, value: float, element: Attribute) -> SSAValue:
        """A register of one number."""

        def make(write: Writer) -> SSAValue:
            return write.op("vbr", write.scalar(value, element), result=VregType.of(element))

        return self.once(("every", value, element), make)

    def ramp(self, first: int, width: int) -> SSAValue:
        """A register of unsigned integers: first, first + 1, ..., modulo their width."""

        def make(write: Writer) -> SSAValue:
            element = unsigned_of(8 * width)
            bits = first & ((1 << 8 * width) - 1)
            base = write.build.pattern(bits, IntegerType(8 * width))
            return write.op("vci", base, order="ASC", result=VregType.of(element))

        return self.once(("ramp", first, width), make)

    def scalar(self, value: float, element: Attribute) -> SSAValue:
        """A constant that joins registers of these elements."""
        kind = element_of(element)
        if kind.is_float:
            return self.build.constant(value, element)
        bits = int(value) & ((1 << kind.bits) - 1)
        return self.build.pattern(bits, IntegerType(kind.bits))

    # --- registers ----------------------------------------------------------------------------------------------------

    def cast(self, register: SSAValue, element: Attribute) -> SSAValue:
        """The same bits as other elements."""
        type_ = VregType.of(element)
        return register if register.type == type_ else self.op("vbitcast", register, result=type_)

    def bits(self, register: SSAValue) -> SSAValue:
        """A register as unsigned integers."""
        return self.cast(register, unsigned_of(8 * width_of(register)))

    def select(self, on_true: SSAValue, on_false: SSAValue, mask: SSAValue) -> SSAValue:
        return on_true if on_true is on_false else self.op("vsel", on_true, on_false, mask)

    def rotated(self, register: SSAValue, by: int) -> SSAValue:
        """Lane i is lane i + by of a register, counted round."""
        width = width_of(register)
        lanes = VECTOR_BYTES // width
        if by % lanes == 0:
            return register
        element = element_of(register.type)
        taken = register if element.kind != "lowprecision" else self.bits(register)
        return self.op("vselr", taken, self.ramp(by % lanes, width))

    # --- numbers ------------------------------------------------------------------------------------------------------

    def clamp(self, value: Number, most: int) -> Number:
        """A number that is not below 0 and at most another one."""
        return self.build.least(self.build.most(value, 0), most)

    def i16(self, value: Number) -> SSAValue:
        return self.build.cast(value, i16)


@dataclass
class WritingPlaces:
    """The place for instructions of a function: at its operations, with the constants of the scopes around them."""

    parsed: ParsedModule
    head: Head
    body: Block
    heads: dict[Operation | None, ScopeHead] = field(default_factory=dict[Operation | None, ScopeHead])

    def at(self, op: Operation) -> Writer:
        """A writer that puts instructions before an operation, and serves it."""
        return self.before(InsertionPoint.at(op), op)

    def before(self, place: InsertionPoint, serves: Operation) -> Writer:
        return Writer(Builder(self.parsed, place, self.head, serves), self.head_of(place))

    def head_of(self, place: InsertionPoint) -> ScopeHead:
        around = place.block.parent_op()
        scope = None
        if around is not None:
            scope = around if getattr(around, "is_scope", False) else enclosing_scope(around)
        if scope not in self.heads:
            block = self.body if scope is None else scope.regions[0].block
            first = block.first_op
            while scope is None and first is not None and first.name == "arith.constant":
                first = first.next_op
            self.heads[scope] = ScopeHead(block, first)
        return self.heads[scope]
