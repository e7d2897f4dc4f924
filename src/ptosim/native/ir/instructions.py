"""Straight-line code of a function: instructions, room on the stack, and the words of the context.

Blocks, loops and failures are in flow.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ptosim.native.ir.context import WORD_BYTES
from ptosim.native.ir.ranges import combined
from ptosim.native.ir.values import I8, I64, PTR, Type, Value, constant, poison

# Instructions whose result depends on their operands alone: the same one is not written twice.
_PURE = frozenset(
    "add sub mul and or xor shl lshr ashr icmp select zext sext trunc bitcast getelementptr shufflevector".split()
)


class Instructions:
    """Instructions, one after the other. What was made in a block is known in those inside it."""

    def __init__(self) -> None:
        self.context = Value(self, PTR, "%context")
        self._slots: list[str] = []
        self._scratch: dict[tuple[int, int], Value] = {}
        self._lines: list[str] = []
        self._numbers = 0
        self._known: list[dict[object, Value]] = [{}]

    def emit(self, kind: Type, instruction: str) -> Value:
        is_pure = instruction.partition(" ")[0] in _PURE
        if is_pure and (found := self._made(instruction)) is not None:
            return found
        made = Value(self, kind, self._fresh("%v"))
        self._lines.append(f"  {made.text} = {instruction}")
        if is_pure:
            self._known[-1][instruction] = made
        return made

    def do(self, instruction: str) -> None:
        self._lines.append(f"  {instruction}")

    def constant(self, kind: Type, number: float | Sequence[float]) -> Value:
        return constant(self, kind, number)

    def as_i64(self, number: Value | int) -> Value:
        """A number of 64 bits, which may be a value already."""
        return number if isinstance(number, Value) else constant(self, I64, number)

    def poison(self, kind: Type) -> Value:
        return poison(self, kind)

    def intrinsic(self, name: str, kind: Type, *arguments: Value, overloads: Sequence[Type] | None = None) -> Value:
        """A call of an LLVM intrinsic, overloaded on its result unless said otherwise; it needs no declaration."""
        suffix = "".join(f".{overload.mangled}" for overload in ((kind,) if overloads is None else overloads))
        made = self.emit(kind, f"call {kind} @{name}{suffix}({', '.join(map(str, arguments))})")
        if not kind.is_number or [argument.kind for argument in arguments] != [kind, kind]:
            return made
        a, b = arguments
        return made.with_range(combined(name, a.range, b.range, kind.bits))

    def table(self, name: str) -> Value:
        """The address of a table of the module."""
        return Value(self, PTR, f"@{name}")

    def slot(self, kind: Type, count: int = 1, align: int = 8) -> Value:
        """Room on the stack, made once when the function begins."""
        name = self._fresh("%slot")
        self._slots.append(f"  {name} = alloca {kind}, i64 {count}, align {align}")
        return Value(self, PTR, name)

    def scratch(self, size: int, align: int = 64) -> Value:
        """Bytes on the stack, shared by every request of this size: write, read, and forget them."""
        if (size, align) not in self._scratch:
            self._scratch[size, align] = self.slot(I8, size, align)
        return self._scratch[size, align]

    def set_slot(self, kind: Type, number: int) -> Value:
        """Room on the stack for a value, which holds this number when the function begins."""
        place = self.slot(kind)
        self._slots.append(f"  store {kind} {number}, {place}, align 8")
        return place

    def zeroed_slot(self, kind: Type) -> Value:
        """Room on the stack for lanes, all 0 when the function begins."""
        place = self.slot(kind, 1, 64)
        self._slots.append(f"  store {kind} zeroinitializer, {place}, align 64")
        return place

    def once(self, key: object, make: Callable[[], Value]) -> Value:
        """The value made under this key in this block or one around it, made now if there is none."""
        found = self._made(key)
        return self._known[-1].setdefault(key, make()) if found is None else found

    # --- the context --------------------------------------------------------------------------------------------------

    def word(self, number: int) -> Value:
        """The address of a word of the context."""
        return self.context.at(number * WORD_BYTES)

    def base(self, number: int) -> Value:
        """The address that a word of the context holds, which is the same for the length of a run."""
        return self.once(("base", number), lambda: self.word(number).load(PTR, WORD_BYTES))

    # --- inside -------------------------------------------------------------------------------------------------------

    def _made(self, key: object) -> Value | None:
        for known in self._known:
            if key in known:
                return known[key]
        return None

    def _fresh(self, stem: str) -> str:
        self._numbers += 1
        return f"{stem}{self._numbers}"
