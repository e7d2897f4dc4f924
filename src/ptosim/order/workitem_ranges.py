"""The bytes that workitems may access behind a pointer of their launch: intervals of offsets, from constants,
coordinates and bounds of loops. What these do not say is unknown."""

from __future__ import annotations

from xdsl.ir import BlockArgument, Operation, SSAValue

from ptosim.effects.simt import WARP
from ptosim.language.analysis.static_values import static_of
from ptosim.language.micro.pointer import AddPtr
from ptosim.language.operation import PTOOperation
from ptosim.language.rules.operand_rules import constant_of
from ptosim.language.simt.simt import SimtLaunch
from ptosim.language.simt.simt_lane import ThreadQuery
from ptosim.language.structure.control import For
from ptosim.language.types import element_name

Interval = tuple[int, int] | None
"""The least and the greatest value; None where nothing is known."""

_CASTS = ("arith.index_cast", "arith.index_castui", "arith.extsi", "arith.extui")
_LARGEST = 1 << 31
"""Beyond it a sum of 32 bits may have wrapped."""


class WorkitemRanges:
    """The intervals of one launch."""

    def __init__(self, launch: SimtLaunch) -> None:
        self.launch = launch
        self.sizes = dict(zip("xyz", map(constant_of, launch.dimensions), strict=True))
        assert launch.function is not None
        self.given = dict(zip(launch.function.args, launch.arguments, strict=True))

    def of_access(self, op: PTOOperation, target: str) -> tuple[SSAValue, int, int] | None:
        """The pointer of the launch that an access goes behind, and which bytes at most; None where that is unknown."""
        if "pointer" not in op.operand_roles:
            return None
        pointer, width = op.segment("pointer")[0], static_of(op, target).elements["pointer"].bytes
        offsets = op.segment("offset") if "offset" in op.operand_roles else ()
        span = self.of(offsets[0]) if offsets else (0, 0)
        low, high = (0, 0) if span is None else (span[0] * width, span[1] * width)
        known = span is not None
        while known and isinstance(pointer.owner, AddPtr):
            moved = pointer.owner
            step, inner = static_of(moved, target).elements["pointer"].bytes, self.of(moved.segment("offset")[0])
            known = inner is not None
            if inner is not None:
                low, high = low + inner[0] * step, high + inner[1] * step
            pointer = moved.segment("pointer")[0]
        given = self.given.get(pointer) if isinstance(pointer, BlockArgument) else None
        return (given, low, high + width) if known and given is not None else None

    def of(self, value: SSAValue) -> Interval:
        """The interval of an integer."""
        found = self._of(value)
        return found if found is not None and found[0] >= -_LARGEST and found[1] < _LARGEST else None

    def _of(self, value: SSAValue) -> Interval:
        if isinstance(value, BlockArgument):
            return self._of_argument(value)
        if (number := constant_of(value)) is not None:
            return number, number
        op = value.owner
        assert isinstance(op, Operation)
        if isinstance(op, ThreadQuery):
            return self._of_query(op.name.partition("get_")[2])
        if op.name in _CASTS:
            found = self.of(op.operands[0])
            return None if found is None or (found[0] < 0 and op.name.endswith("ui")) else found
        name = element_name(value.type)
        return self._of_arithmetic(op) if name in ("i32", "i64", "index") else None

    def _of_query(self, word: str) -> Interval:
        if word == "laneid":
            return 0, WARP - 1
        what, _, axis = word.partition("_")
        size = self.sizes.get(axis) if what == "tid" else None
        return None if size is None else (0, size - 1)

    def _of_argument(self, value: BlockArgument) -> Interval:
        if value in self.given:
            number = constant_of(self.given[value])
            return None if number is None else (number, number)
        loop = value.owner.parent_op()
        if not isinstance(loop, For) or value.index:
            return None
        low, high = self.of(loop.lb), self.of(loop.ub)
        return None if low is None or high is None else (low[0], max(low[0], high[1] - 1))

    def _of_arithmetic(self, op: Operation) -> Interval:
        if len(op.operands) != 2:
            return None
        a, b = self.of(op.operands[0]), self.of(op.operands[1])
        if op.name in ("arith.andi", "arith.remui") and b is not None and b[0] == b[1] > 0:
            return 0, b[0] if op.name == "arith.andi" else b[0] - 1
        if a is None or b is None:
            return None
        match op.name:
            case "arith.addi":
                return a[0] + b[0], a[1] + b[1]
            case "arith.subi":
                return a[0] - b[1], a[1] - b[0]
            case "arith.muli":
                products = [x * y for x in a for y in b]
                return min(products), max(products)
            case "arith.shrui" if a[0] >= 0 and b[0] == b[1] and 0 <= b[0] < 32:
                return a[0] >> b[0], a[1] >> b[0]
            case "arith.divui" if a[0] >= 0 and b[0] > 0:
                return a[0] // b[1], a[1] // b[0]
            case _:
                return None
