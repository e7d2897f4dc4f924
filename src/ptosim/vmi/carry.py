"""Control flow that hands logical vectors on: each goes as its registers, each mask as its bits in one form."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from ptosim.language.builder import InsertionPoint
from ptosim.language.logical_types import LogicalMaskType, LogicalVectorType, is_logical
from ptosim.language.operation import PTOOperation
from ptosim.language.structure.control import Condition, For, If, Terminator, While, Yield
from ptosim.language.structure.scalar_cast import Select
from ptosim.language.types import VregType, element_of
from ptosim.vmi.layout import CONTIGUOUS
from ptosim.vmi.masks import Bits
from ptosim.vmi.registers import Registers
from ptosim.vmi.values import LogicalValues, LogicalVector
from ptosim.vmi.writer import Writer, WritingPlaces, mask_type, register_element


def hands_on(op: Operation) -> bool:
    """Whether an operation of control flow takes, gives or yields logical vectors."""
    return isinstance(op, For | If | While | Select | Yield | Condition) and any(
        is_logical(value.type) for value in (*op.operands, *op.results)
    )


class Carrier:
    """Rewrites control flow. What it replaces stays as a place until all is lowered."""

    def __init__(self, places: WritingPlaces, values: LogicalValues) -> None:
        self.places = places
        self.values = values

    def rewrite(self, op: Operation) -> Operation:
        """Replace an operation; gives the one whose regions come next."""
        match op:
            case For():
                return self._loop(op)
            case If():
                blocks = self._moved(op, [(), ()])
                new = If.make({"cond": op.cond}, self._types(op.results), {}, op.attributes, _regions(blocks))
                return self._finish(op, new)
            case While():
                inside = [op.before_region.block.args, op.after_region.block.args]
                blocks = self._moved(op, inside)
                operands = {"arguments": self._apart(op, op.arguments)}
                new = While.make(operands, self._types(op.results), {}, op.attributes, _regions(blocks))
                return self._finish(op, new)
            case Select():
                self._select(op)
                return op
            case _:
                assert isinstance(op, Terminator)
                return self._end(op)

    def _loop(self, op: For) -> Operation:
        blocks = self._moved(op, [op.body.block.args])
        bounds = {"lb": op.lb, "ub": op.ub, "step": op.step}
        carried = self._apart(op, op.iter_args)
        new = For.make({**bounds, "iter_args": carried}, self._types(op.results), {}, op.attributes, _regions(blocks))
        return self._finish(op, new)

    def _finish(self, old: Operation, new: Operation) -> Operation:
        self.places.at(old).build.add_region(new)
        self._learn(old.results, list(new.results), lambda: self.places.at(old))
        return new

    def _end(self, op: Terminator) -> Operation:
        """The end of a region gives registers."""
        kind = type(op)
        operands: dict[str, object] = {"arguments": self._apart(op, op.operands[isinstance(op, Condition) :])}
        if isinstance(op, Condition):
            operands["condition"] = op.condition
        new = kind.make(operands, (), {}, op.attributes)  # pyright: ignore[reportArgumentType]
        self.places.at(op).build.add(new)
        return new

    def _select(self, op: Select) -> None:
        write = self.places.at(op)
        pairs = zip(self._apart(op, [op.if_true]), self._apart(op, [op.if_false]), strict=True)
        found = [
            write.build.op("arith.select", condition=op.condition, if_true=one, if_false=other, result=one.type)
            for one, other in pairs
        ]
        self._learn([op.result], found, lambda: self.places.at(op))

    # --- values as registers ------------------------------------------------------------------------------------------

    def _apart(self, op: Operation, values: Sequence[SSAValue]) -> list[SSAValue]:
        write = self.places.at(op)
        return [part for value in values for part in self._parts(write, value)]

    def _parts(self, write: Writer, value: SSAValue) -> Registers:
        if isinstance(value.type, LogicalVectorType):
            return self.values.vectors[value].registers(self.values.layout(value))
        if isinstance(value.type, LogicalMaskType):
            return self.values.masks[value].registers(write, self.width(value), CONTIGUOUS, strict=True)
        return [value]

    def width(self, value: SSAValue) -> int:
        """The bytes of the lanes that a mask is handed on for."""
        assert isinstance(value.type, LogicalMaskType)
        return (value.type.width or 0) // 8 or self.values.widths.get(value, 4)

    def _types(self, values: Iterable[SSAValue]) -> list[Attribute]:
        return [type_ for value in values for type_ in self._types_of(value)]

    def _types_of(self, value: SSAValue) -> Sequence[Attribute]:
        match value.type:
            case LogicalVectorType() as type_:
                count = self.values.layout(value).count(type_.lanes, element_of(type_.element).bytes)
                return [VregType.of(register_element(type_.element))] * count
            case LogicalMaskType() as type_:
                width = self.width(value)
                return [mask_type(width)] * CONTIGUOUS.count(type_.lanes, width)
            case type_:
                return [type_]

    def _learn(self, values: Sequence[SSAValue], parts: Sequence[SSAValue], write: Callable[[], Writer]) -> None:
        """Notes the registers that were handed on for each value."""
        following = iter(parts)
        for value in values:
            own = [next(following) for _ in self._types_of(value)]
            match value.type:
                case LogicalVectorType() as type_:
                    self.values.vectors[value] = LogicalVector(type_, {self.values.layout(value): own}, write)
                case LogicalMaskType() as type_:
                    form = (self.width(value), CONTIGUOUS)
                    self.values.masks[value] = Bits(type_.lanes, write, form, own, tight=True)
                case _:
                    value.replace_all_uses_with(own[0])

    def _moved(self, op: PTOOperation, arguments: Sequence[Sequence[SSAValue]]) -> list[Block]:
        """The blocks of an operation, moved into new ones that take registers."""
        return [self._block(op, region.block, inside) for region, inside in zip(op.regions, arguments, strict=True)]

    def _block(self, op: Operation, old: Block, arguments: Sequence[SSAValue]) -> Block:
        new = Block(arg_types=self._types(arguments))
        for inner in list(old.ops):
            inner.detach()
            new.add_op(inner)
        first = new.first_op
        self._learn(arguments, new.args, lambda: self.places.before(InsertionPoint(new, first), op))
        return new


def _regions(blocks: Sequence[Block]) -> list[Region]:
    return [Region(block) for block in blocks]
