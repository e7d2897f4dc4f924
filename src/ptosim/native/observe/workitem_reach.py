"""The bytes of GM that an instruction of workitems touches in one launch, as one record.

They are rows, equally far from each other, where each warp goes on by the same step and begins where the one before has
begun its row, as in a loop over a grid. Otherwise they count as all from the lowest to the highest.
"""

from __future__ import annotations

from dataclasses import dataclass

from ptosim.effects.names import GM
from ptosim.native.build.core import Core, Unit
from ptosim.native.build.global_memory import buffer_number
from ptosim.native.ir.flow import FunctionBuilder
from ptosim.native.ir.values import I64, Value
from ptosim.native.observe import clocks
from ptosim.native.observe.hooks import CopyRows
from ptosim.native.observe.layout import HULL
from ptosim.native.observe.records import Records
from ptosim.native.observe.rows import Suspect
from ptosim.native.observe.shadow import V

LOW, HIGH, FIRST, LENGTH, STEP, LATEST, SPAN, SHAPE = range(0, 64, 8)
"""The lowest byte, one past the highest; the first row, its length so far, the distance of rows; where the access of
this warp before was, and how long the first of this warp; how all that is to be read."""
BYTES = 64
NOTHING, ROWS, ANY = range(3)
FURTHEST = (1 << 63) - 1


@dataclass(frozen=True)
class GlobalReach:
    """The bytes that one instruction "reads" or "writes"; the number of an atomic operation, as records have it."""

    place: int
    verb: str
    code: int

    def _word(self, f: FunctionBuilder, word: int) -> Value:
        return clocks.at(f, self.place + word)

    def begin(self, f: FunctionBuilder) -> None:
        """Nothing so far."""
        for word, number in ((LOW, FURTHEST), (HIGH, 0), (SPAN, -1), (SHAPE, NOTHING), (STEP, 0)):
            self._word(f, word).store(f.constant(I64, number), 8)

    def touch(self, f: FunctionBuilder, unit: Unit, low: Value, high: Value) -> None:
        """Bytes up to `high`; mostly they are a step further."""
        latest, step, span = (self._word(f, word).load(I64, 8) for word in (LATEST, STEP, SPAN))
        goes_on = (low == latest + step) & (high - low <= span)

        def further() -> None:
            self._word(f, LATEST).store(low, 8)
            end = self._word(f, HIGH)
            end.store(f.intrinsic("llvm.smax", I64, end.load(I64, 8), high), 8)

        def anywhere() -> None:
            f.call(unit.routine("reach", [I64, I64, I64], _touched), f.constant(I64, self.place), low, high)

        f.either(goes_on, further, anywhere)

    def end(self, core: Core, records: Records, suspect: Suspect) -> None:
        """The launch is over."""
        f = core.f
        low, high, first, length, step, shape = (
            self._word(f, word).load(I64, 8) for word in (LOW, HIGH, FIRST, LENGTH, STEP, SHAPE)
        )
        suspect(f, (low < high) & (buffer_number(low) != buffer_number(high - 1)))
        f.settle()
        are_rows = (shape == ROWS) & (step > 0)
        count = are_rows.select((high - first - 1).udiv(are_rows.select(step, 1)) + 1, 1)
        whole = (low < high).select(high - low, 0)
        rows = CopyRows(GM, low, ((count, step),), are_rows.select(length, whole))
        records.add(core, V, self.verb, rows, None, HULL | self.code)


def _touched(f: FunctionBuilder) -> None:
    place, low, high = f.parameters
    words = clocks.at(f, place)

    def word(number: int) -> Value:
        return words.at(number).load(I64, 8)

    def put(**changes: Value | int) -> None:
        for name, content in changes.items():
            words.at(_PLACES[name]).store(f.as_i64(content), 8)

    lowest, highest, shape, span, latest = word(LOW), word(HIGH), word(SHAPE), word(SPAN), word(LATEST)
    first, length, size = word(FIRST), word(LENGTH), high - low
    put(low=f.intrinsic("llvm.smin", I64, lowest, low), high=f.intrinsic("llvm.smax", I64, highest, high))
    is_second = (word(STEP) == 0) & (length == span) & (low > latest) & (low != first + length) & (size <= span)

    def otherwise() -> None:
        f.either(
            (shape == ROWS) & (low == first + length),
            lambda: put(length=length + size, span=size, latest=low),
            lambda: put(shape=ANY, span=-1),
        )

    def not_new() -> None:
        f.either((shape == ROWS) & is_second, lambda: put(step=low - latest, latest=low), otherwise)

    f.either(shape == NOTHING, lambda: put(first=low, length=size, span=size, latest=low, shape=ROWS), not_new)


_PLACES = {
    "low": LOW, "high": HIGH, "first": FIRST, "length": LENGTH, "step": STEP, "latest": LATEST, "span": SPAN,
    "shape": SHAPE,
}  # fmt: skip
