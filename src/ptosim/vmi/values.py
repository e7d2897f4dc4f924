"""The values of a function while it is lowered: logical vectors by their registers, in whatever layouts are asked for.

A vector is brought to a layout once, where it was made. Which one an operation computes in is said by the assignment.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from xdsl.ir import Attribute, SSAValue

from ptosim.language.logical_types import LogicalMaskType, LogicalVectorType
from ptosim.language.text.parser import VectorLanes
from ptosim.language.types import element_of
from ptosim.language.vmi.vmi_operation import VmiOperation
from ptosim.vmi.demand import LaneDemand
from ptosim.vmi.layout import CONTIGUOUS, LaneLayout
from ptosim.vmi.masks import Bits, Fixed, LogicalMask, prefix
from ptosim.vmi.registers import Registers, relayout
from ptosim.vmi.writer import Writer, register_element


@dataclass
class LogicalVector:
    """Registers of a logical vector, by layout; `write` puts instructions where it was made."""

    type: LogicalVectorType
    forms: dict[LaneLayout, Registers]
    write: Callable[[], Writer]

    def registers(self, layout: LaneLayout) -> Registers:
        if layout not in self.forms:
            source = self._nearest(layout)
            self.forms[layout] = relayout(self.write(), self.forms[source], self.type.lanes, source, layout)
        return self.forms[layout]

    def _nearest(self, wanted: LaneLayout) -> LaneLayout:
        """The form that is brought to another one with the fewest steps."""

        def steps(layout: LaneLayout) -> int:
            apart = abs(layout.parts - wanted.parts) + abs(layout.stride - wanted.stride)
            return apart + 16 * (layout.slots != wanted.slots)

        return min(self.forms, key=steps)


@dataclass
class LogicalValues:
    """The known facts about the values of a function, and their chosen layouts."""

    layouts: Mapping[SSAValue, LaneLayout]
    widths: Mapping[SSAValue, int]
    """The bytes of the lanes that masks are kept for where control flow hands them on."""
    demanded: Mapping[SSAValue, LaneDemand] = field(default_factory=dict[SSAValue, LaneDemand])
    vectors: dict[SSAValue, LogicalVector] = field(default_factory=dict[SSAValue, LogicalVector])
    masks: dict[SSAValue, LogicalMask] = field(default_factory=dict[SSAValue, LogicalMask])

    def layout(self, value: SSAValue) -> LaneLayout:
        return self.layouts.get(value, CONTIGUOUS)


class Recipe:
    """One operation while it is lowered: what it takes, where its instructions go, what it gives."""

    def __init__(self, op: VmiOperation, values: LogicalValues, write: Writer, writer: Callable[[], Writer]) -> None:
        self.op = op
        self.values = values
        self.write = write
        self._writer = writer

    # --- what it takes ------------------------------------------------------------------------------------------------

    def value(self, role: str) -> SSAValue:
        return self.op.segment(role)[0]

    @property
    def today(self) -> str:
        """The name of the operation, today's where it is written in an older spelling."""
        return getattr(self.op, "today", "") or self.op.name.rpartition(".")[2]

    def played(self, role: str) -> bool:
        """Whether an operand plays a role."""
        return role in self.op.operand_roles and bool(self.op.segment(role))

    def type(self, role: str) -> LogicalVectorType:
        found = self.op.vector(role)
        assert found is not None, f"{self.op.name}: {role}"
        return found

    def width(self, role: str) -> int:
        """The bytes of the lanes of a vector."""
        return element_of(self.type(role).element).bytes

    def element(self, role: str) -> Attribute:
        """The elements that its registers have."""
        return register_element(self.type(role).element)

    def registers(self, role: str, layout: LaneLayout) -> Registers:
        return self.values.vectors[self.value(role)].registers(layout)

    def mask(self, role: str = "mask") -> LogicalMask | None:
        """A mask; None where there is none."""
        return self.values.masks[self.value(role)] if self.played(role) else None

    def masks(self, data: str, layout: LaneLayout, role: str = "mask", strict: bool = False) -> Registers:
        """The bits of a mask for the lanes of a vector; all of them where there is no mask."""
        lanes, width = self.type(data).lanes, self.width(data)
        mask = self.mask(role)
        if mask is None and (not strict or layout.is_full(lanes, width)):
            return [self.write.all(width)] * layout.count(lanes, width)
        mask = mask if mask is not None else self.whole(lanes)
        return mask.registers(self.write, width, layout, strict)

    def demand(self) -> LogicalMask:
        """The loaded lanes that some use needs."""
        found, lanes = self.values.demanded.get(self.value_of("result")), self.type("result").lanes
        if found is not None and found.mask is not None and (made := self.values.masks[found.mask]).lanes == lanes:
            return made
        return self.whole(lanes) if found is None else prefix(lanes, found.form(self.write), self._writer)

    def whole(self, lanes: int) -> LogicalMask:
        """The mask of all lanes."""
        return prefix(lanes, lanes, self._writer)

    def first(self, lanes: int, count: int) -> LogicalMask:
        return prefix(lanes, count, self._writer)

    def fixed(self, bits: Sequence[bool]) -> LogicalMask:
        return Fixed(len(bits), self._writer, tuple(bits))

    # --- what it gives ------------------------------------------------------------------------------------------------

    def layout(self, role: str = "result") -> LaneLayout:
        """The layout that was chosen for a result."""
        return self.values.layout(self.value_of(role))

    def value_of(self, role: str) -> SSAValue:
        return next(iter(self.op.played(role)))

    def give(self, registers: Registers, layout: LaneLayout, role: str = "result") -> None:
        """A result by its registers."""
        value = self.value_of(role)
        type_ = value.type
        assert isinstance(type_, LogicalVectorType)
        assert len(registers) == layout.count(type_.lanes, element_of(type_.element).bytes), f"{self.op.name}: {layout}"
        element = register_element(type_.element)
        registers = [self.write.cast(register, element) for register in registers]
        self.values.vectors[value] = LogicalVector(type_, {layout: registers}, self._writer)

    def tell(self, role: str, first: int, last: int, apart: int | None = None) -> None:
        """Say which lanes of a vector the access serves that was written last, and how many bytes apart they lie in
        memory: as many as a lane has, unless said; 0 where the first byte is not known to be that of the first lane."""
        build, value = self.write.build, self.value_of(role)
        before = build.place.before
        access = build.place.block.last_op if before is None else before.prev_op
        assert access is not None and isinstance(value.type, LogicalVectorType)
        if build.parsed.origin(self.op).name != self.op.name:  # an operation on tiles, whose lanes have no name
            return
        name, width = build.parsed.name_of(value), self.width(role) if apart is None else apart
        build.parsed.lanes[access] = VectorLanes(name, first, min(last, value.type.lanes), width)

    def give_mask(self, mask: LogicalMask, role: str = "result") -> None:
        self.values.masks[self.value_of(role)] = mask

    def give_bits(
        self, bits: Registers, width: int, layout: LaneLayout, tight: bool = False, role: str = "result"
    ) -> None:
        """A mask that was computed."""
        type_ = self.value_of(role).type
        assert isinstance(type_, LogicalMaskType)
        self.give_mask(Bits(type_.lanes, self._writer, (width, layout), bits, tight), role)

    @property
    def writer(self) -> Callable[[], Writer]:
        """The place for later instructions on its results."""
        return self._writer
