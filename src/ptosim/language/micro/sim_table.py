"""Rows and elements of a table in GM by index: what SIMT code, or the scalar unit with copies, does on hardware.

Written by the lowering of pto.mgather and pto.mscatter. Each pipe that does it has a name of its own, so that flags are
judged against the right one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from ptosim.effects.names import CoreKind
from ptosim.language.operation import Operand, OptionalProperty, Problem, Property, PTOOperation
from ptosim.language.text.assembly_format import Vocabulary
from ptosim.language.types import PtrType, element_of

_COMBINED = ("none", "add", "max", "min")


class _ByIndex(PTOOperation):
    """A table of so many rows, a pitch of elements apart; indices and a region of UB with their strides in elements."""

    form = (
        "$table:gm[$capacity:index, $pitch:index] by $indices:ub[$index_row:index, $index_column:index] "
        "at $base:ub[$row_stride:index, $column_stride:index, $element_stride:index] "
        "shape ($rows:index, $columns:index, $length:index)"
    )
    listed = ("table", "indices", "base")
    placement = "outside"
    cores = (CoreKind.AIV,)
    table = Operand()
    beyond = Property()

    def rules(self, target: str) -> Iterator[Problem]:
        for role, width in (("indices", 4), ("base", self._width("table"))):
            if self._width(role) != width:
                yield Problem(f"{role} must have elements of {width} bytes, not {self._width(role)}", at=role)

    def _width(self, role: str) -> int | None:
        type_ = getattr(self, role).type
        return element_of(type_.element).bytes if isinstance(type_, PtrType) and not type_.is_open else None


# --- gathers ----------------------------------------------------------------------------------------------------------


class SimGather(_ByIndex, name="pto.sim.gather"):
    """Gather rows of a table in GM into UB, on the vector pipe.

    For every row i and column j of the shape k = indices[i * index_row + j * index_column], without sign, and `length`
    elements of the table from k * pitch on go to base[i * row_stride + j * column_stride], an element stride apart.
    `beyond` says what an index of `capacity` or more means: undefined is an error, clamp takes the last, wrap the
    remainder, zero gives zeros.

        pto.sim.gather %table[%cap, %pitch] by %idx[%c1, %c0] at %ub[%c64, %c0, %c1] shape (%rows, %c1, %c64)
            {beyond = "clamp"} : !pto.ptr<f32, gm>, !pto.ptr<i32, ub>, !pto.ptr<f32, ub>
    """

    words = {"beyond": Vocabulary(("undefined", "clamp", "wrap", "zero"))}


class SimGatherMte2(SimGather, name="pto.sim.gather_mte2"):
    """Gather rows of a table in GM into UB, on MTE2.

    The same as pto.sim.gather, by the pipe of a2a3.

        pto.sim.gather_mte2 %table[%cap, %pitch] by %idx[%c1, %c0] at %ub[%c64, %c0, %c1] shape (%rows, %c1, %c64)
            {beyond = "undefined"} : !pto.ptr<f32, gm>, !pto.ptr<i32, ub>, !pto.ptr<f32, ub>
    """


# --- scatters ---------------------------------------------------------------------------------------------------------


class SimScatter(_ByIndex, name="pto.sim.scatter"):
    """Scatter rows of UB into a table in GM, on the vector pipe.

    The reverse of pto.sim.gather, in the order of rows and columns. `combine` add, max and min combine with what is
    there. `beyond` says what an index of `capacity` or more means: undefined is an error, skip writes nothing, clamp
    takes the last, wrap the remainder. Where two go to one place the last stays; unless it is `ordered`, a check
    remarks it.

        pto.sim.scatter %table[%cap, %c1] by %idx[%c64, %c1] at %ub[%c64, %c1, %c0] shape (%rows, %c64, %c1)
            {beyond = "skip", combine = "add"} : !pto.ptr<f32, gm>, !pto.ptr<i32, ub>, !pto.ptr<f32, ub>
    """

    words = {"beyond": Vocabulary(("undefined", "skip", "clamp", "wrap")), "combine": Vocabulary(_COMBINED)}
    atomic: ClassVar[Mapping[str, str]] = {"f32": "f32", "f16": "f16", "i32": "s32", "si32": "s32", "ui32": "s32"}
    combine = Property()
    ordered = OptionalProperty()

    def facts(self) -> Mapping[str, Any]:
        assert isinstance(self.table.type, PtrType)
        kind = self.atomic.get(element_of(self.table.type.element).name)
        return {"ordered": self.ordered is not None, "kind": kind}

    def rules(self, target: str) -> Iterator[Problem]:
        yield from super().rules(target)
        if self.word("combine") == "none" or not isinstance(type_ := self.table.type, PtrType):
            return
        if element_of(type_.element).name not in self.atomic:
            yield Problem(f"elements of {type_.element} are not combined", at="combine")


class SimScatterMte3(SimScatter, name="pto.sim.scatter_mte3"):
    """Scatter rows of UB into a table in GM, on MTE3.

    The same as pto.sim.scatter, by the pipe of a2a3.

        pto.sim.scatter_mte3 %table[%cap, %c1] by %idx[%c64, %c1] at %ub[%c64, %c1, %c0] shape (%rows, %c64, %c1)
            {beyond = "undefined", combine = "none", ordered}
            : !pto.ptr<f32, gm>, !pto.ptr<i32, ub>, !pto.ptr<f32, ub>
    """
