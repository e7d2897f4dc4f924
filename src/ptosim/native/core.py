"""A core as lowerings see it while they build code for it: memories, registers that outlive an instruction, failures.

What a site means is kept as plain data in the module's table of sites, so that an error of a run from the cache can be
told as well (native/explain.py).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ptosim.effects.element import Element
from ptosim.effects.names import Space
from ptosim.native import registers
from ptosim.native.context import WORD_BYTES, Register, Word, register_word
from ptosim.native.flow import Function, Module
from ptosim.native.ir import I64, PTR, Operand, Type, Value
from ptosim.native.numbers import lane_type, lanes_as
from ptosim.target.profile import Target

_WORD_OF = {
    Space.UB: Word.UB,
    Space.L1: Word.L1,
    Space.L0A: Word.L0A,
    Space.L0B: Word.L0B,
    Space.L0C: Word.L0C,
    Space.BT: Word.BT,
    Space.FB: Word.FB,
}


@dataclass(frozen=True, eq=False)
class Core:
    """The core, for one operation in one function."""

    f: Function
    module: Module
    target: Target
    place: tuple[int, int, int] | None
    """Line, column and length of the operation in the source."""

    # --- failures ---------------------------------------------------------------------------------------------------

    def site(self, kind: str, message: Any) -> int:
        """A number for a way in which this operation may fail."""
        return self.module.site([kind, message, self.place])

    def fail(self, wrong: Value, kind: str, message: str, value: Operand = 0) -> None:
        """End the run with this error where the condition holds; `{}` in the message stands for the value.

        Code goes on until the next branch, so what follows must be harmless all the same.
        """
        self.f.check(wrong, self.site(kind, message), value)

    # --- on-chip memory ---------------------------------------------------------------------------------------------

    def window(self, verb: str, space: Space, address: Value, extent: int, alignment: int = 1) -> Value:
        """The host address of `extent` bytes of an on-chip memory, checked; `verb` is "reads" or "writes"."""
        size = self.target.memory[space.value]
        site = self.site("access", [verb, space.value, size, extent, alignment])
        return self.base(space).at(self.f.access(address, extent, size, alignment, site))

    def base(self, space: Space) -> Value:
        """The host address of an on-chip memory."""
        return self.f.once(("base", space), lambda: self.f.word(_WORD_OF[space]).load(PTR, WORD_BYTES))

    # --- registers --------------------------------------------------------------------------------------------------

    def register(self, register: Register) -> Value:
        """What a special register holds now, i64."""
        return self.f.word(register_word(register)).load(I64, WORD_BYTES)

    def set_register(self, register: Register, value: Value) -> None:
        self.f.word(register_word(register)).store(value, WORD_BYTES)

    # --- lanes ------------------------------------------------------------------------------------------------------

    def splat(self, scalar: Value, element: Element) -> Value:
        """A register with a scalar (the bits of a float) in every lane, wrapped to the width of the element."""
        kind = lane_type(element)
        bits = scalar.signed(Type(f"i{element.bits}"))
        return registers.splat(self.f, lanes_as(bits, kind), element.lanes)
