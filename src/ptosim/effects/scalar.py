"""Scalar arithmetic: done by the scalar unit itself, or by the vector unit's own scalar lane inside a scope.

What an integer operation computes is said here once, for every way in which integers may be known: the methods of
`Arithmetic` have the names of the operations, and each domain is a subclass of it. `IntegerConstants` has constants,
and NumPy arrays with an integer for each lane; small sets (repair/possible_values.py), ranges (native/ir/ranges.py),
closed forms of loop indices (order/integers.py) and values of LLVM IR (native/scalar.py) are the others. Integers are
held with their sign, those of one bit as 0 or 1. The reference engine has a table of its own, the oracle of all this.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from operator import eq, ge, gt, le, lt, ne
from typing import Any

from ptosim.effects.geometry import select
from ptosim.effects.names import Pipe
from ptosim.effects.record import Effects, Taint

NAMES = (
    "arith.constant arith.addi arith.subi arith.muli arith.divsi arith.divui arith.remsi arith.remui arith.floordivsi "
    "arith.ceildivsi arith.ceildivui arith.andi arith.ori arith.xori arith.shli arith.shrsi arith.shrui arith.maxsi "
    "arith.minsi arith.maxui arith.minui arith.addui_extended arith.mulsi_extended arith.mului_extended arith.addf "
    "arith.subf arith.mulf arith.divf arith.remf arith.maximumf arith.minimumf arith.maxnumf arith.minnumf arith.negf "
    "arith.cmpi arith.cmpf arith.select arith.index_cast arith.index_castui arith.extsi arith.extui arith.trunci "
    "arith.sitofp arith.uitofp arith.fptosi arith.fptoui arith.extf arith.truncf arith.bitcast math.exp math.log "
    "math.sqrt math.absf math.absi math.floor math.ceil builtin.unrealized_conversion_cast"
).split()

EFFECTS: dict[str, Effects] = {name: Effects(name, Pipe.S, "scalar", Taint.MOVEMENT) for name in NAMES}


class Arithmetic:
    """Integers of one type, in some domain. Operations without an operator of Python are left to the domains.

    An operand is what the domain knows; a plain int stands for itself. A result of None says that nothing is known, as
    of every operation that a domain leaves out.
    """

    bits: int

    def rule(self, name: str) -> Callable[[Any, Any], Any] | None:
        """The rule of an operation of arith with two operands; None for others."""
        return getattr(self, name.removeprefix("arith.")) if name in BINARY else None

    def addi(self, a: Any, b: Any) -> Any:
        return a + b

    def subi(self, a: Any, b: Any) -> Any:
        return a - b

    def muli(self, a: Any, b: Any) -> Any:
        return a * b

    def andi(self, a: Any, b: Any) -> Any:
        return a & b

    def ori(self, a: Any, b: Any) -> Any:
        return a | b

    def xori(self, a: Any, b: Any) -> Any:
        return a ^ b

    def cmpi(self, predicate: str, a: Any, b: Any) -> Any:
        """0 or 1."""

    def select(self, condition: Any, chosen: Any, otherwise: Any) -> Any:
        return select(condition, chosen, otherwise)

    def resized(self, a: Any, bits: int, signed: bool) -> Any:
        """An integer of another width: extsi, trunci and index_cast; extui and index_castui."""

    def divsi(self, a: Any, b: Any) -> Any:
        """Rounded toward zero."""

    def divui(self, a: Any, b: Any) -> Any:
        """The same of unsigned numbers."""

    def remsi(self, a: Any, b: Any) -> Any:
        """With the sign of the dividend."""

    def remui(self, a: Any, b: Any) -> Any:
        """The remainder of unsigned numbers."""

    def shifted(self, instruction: str, a: Any, amount: Any) -> Any:
        """shli, shrsi or shrui by less than the width."""

    # --- what follows -------------------------------------------------------------------------------------------------

    def floordivsi(self, a: Any, b: Any) -> Any:
        """Rounded down: one less where the quotient is negative and not exact."""
        quotient = self.divsi(a, b)
        inexact = self.cmpi("ne", self.muli(quotient, b), a)
        return self.select(inexact & self.cmpi("slt", self.xori(a, b), 0), self.subi(quotient, 1), quotient)

    def ceildivsi(self, a: Any, b: Any) -> Any:
        """Rounded up."""
        quotient = self.divsi(a, b)
        inexact = self.cmpi("ne", self.muli(quotient, b), a)
        return self.select(inexact & self.cmpi("sge", self.xori(a, b), 0), self.addi(quotient, 1), quotient)

    def ceildivui(self, a: Any, b: Any) -> Any:
        quotient = self.divui(a, b)
        return self.select(self.cmpi("ne", self.muli(quotient, b), a), self.addi(quotient, 1), quotient)

    def minsi(self, a: Any, b: Any) -> Any:
        return self.select(self.cmpi("slt", a, b), a, b)

    def maxsi(self, a: Any, b: Any) -> Any:
        return self.select(self.cmpi("slt", a, b), b, a)

    def minui(self, a: Any, b: Any) -> Any:
        return self.select(self.cmpi("ult", a, b), a, b)

    def maxui(self, a: Any, b: Any) -> Any:
        return self.select(self.cmpi("ult", a, b), b, a)

    def shli(self, a: Any, amount: Any) -> Any:
        """The amount is unsigned; one that reaches the width leaves nothing."""
        inside = self.cmpi("ult", amount, self.bits)
        return self.select(inside, self._held("shli", inside, a, amount), 0)

    def shrui(self, a: Any, amount: Any) -> Any:
        inside = self.cmpi("ult", amount, self.bits)
        return self.select(inside, self._held("shrui", inside, a, amount), 0)

    def shrsi(self, a: Any, amount: Any) -> Any:
        """One that reaches the width leaves the sign."""
        return self._held("shrsi", self.cmpi("ult", amount, self.bits), a, amount)

    def _held(self, instruction: str, inside: Any, a: Any, amount: Any) -> Any:
        return self.shifted(instruction, a, self.select(inside, amount, self.bits - 1))

    def addui_extended(self, a: Any, b: Any) -> tuple[Any, Any]:
        """The sum and its carry."""
        total = self.addi(a, b)
        return total, self.cmpi("ult", total, a)

    def absi(self, a: Any) -> Any:
        return self.select(self.cmpi("slt", a, 0), self.subi(0, a), a)


BINARY = frozenset(
    f"arith.{name}"
    for name in (
        "addi subi muli andi ori xori divsi divui remsi remui floordivsi ceildivsi ceildivui minsi maxsi minui maxui "
        "shli shrsi shrui"
    ).split()
)
UNSIGNED_CASTS = ("arith.extui", "arith.index_castui")
CASTS = ("arith.extsi", "arith.trunci", "arith.index_cast", *UNSIGNED_CASTS)


@dataclass(frozen=True)
class IntegerConstants(Arithmetic):
    """Constants; or arrays of them, of int64 up to 32 bits, of Python's ints (dtype object) beyond.

    A quotient by zero is 0, as in kernels with tiles; in others a run does not go on behind it.
    """

    bits: int

    def wrap(self, number: Any) -> Any:
        """The number of this type that equals another one modulo 2^bits."""
        if self.bits == 1:
            return number & 1
        half = 1 << (self.bits - 1)
        return (number + half & 2 * half - 1) - half

    def read(self, number: Any, signed: bool) -> Any:
        """The one bit of a condition is a sign."""
        if signed:
            return -number if self.bits == 1 else number
        return number & (1 << self.bits) - 1

    def addi(self, a: Any, b: Any) -> Any:
        return self.wrap(a + b)

    def subi(self, a: Any, b: Any) -> Any:
        return self.wrap(a - b)

    def muli(self, a: Any, b: Any) -> Any:
        return self.wrap(a * b)

    def cmpi(self, predicate: str, a: Any, b: Any) -> Any:
        signed = predicate[0] != "u"
        return _ORDERS[predicate[-2:]](self.read(a, signed), self.read(b, signed)) * 1

    def resized(self, a: Any, bits: int, signed: bool) -> Any:
        return integers(bits).wrap(self.read(a, signed))

    def divsi(self, a: Any, b: Any) -> Any:
        a, b = self.read(a, True), self.read(b, True)
        down = a // (b + (b == 0)) * (b != 0)
        return self.wrap(down + ((down < 0) & (down * b != a)))

    def remsi(self, a: Any, b: Any) -> Any:
        return self.subi(a, self.muli(b, self.divsi(a, b))) * (b != 0)

    def floordivsi(self, a: Any, b: Any) -> Any:
        a, b = self.read(a, True), self.read(b, True)
        return self.wrap(a // (b + (b == 0)) * (b != 0))

    def ceildivsi(self, a: Any, b: Any) -> Any:
        a, b = self.read(a, True), self.read(b, True)
        return self.wrap(-(-a // (b + (b == 0))) * (b != 0))

    def divui(self, a: Any, b: Any) -> Any:
        return self.wrap(self.read(a, False) // (self.read(b, False) + (b == 0)) * (b != 0))

    def remui(self, a: Any, b: Any) -> Any:
        return self.wrap(self.read(a, False) % (self.read(b, False) + (b == 0)))

    def ceildivui(self, a: Any, b: Any) -> Any:
        return self.wrap(-(-self.read(a, False) // (self.read(b, False) + (b == 0))) * (b != 0))

    def shifted(self, instruction: str, a: Any, amount: Any) -> Any:
        amount = self.read(amount, False)
        return self.wrap(a << amount if instruction == "shli" else self.read(a, instruction == "shrsi") >> amount)


_ORDERS: dict[str, Callable[[Any, Any], Any]] = {"eq": eq, "ne": ne, "lt": lt, "le": le, "gt": gt, "ge": ge}


@cache
def integers(bits: int) -> IntegerConstants:
    """Constants of so many bits."""
    return IntegerConstants(bits)
