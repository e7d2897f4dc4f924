"""LLVM IR as text: types, constants, and values whose operators append instructions to the function they belong to.

A value behaves like a Python number, so that an expression written for ints works on it; integer constants are folded
on the way. Integers are signed where it matters (`<`, `>>`); the unsigned forms have names. Floats follow IEEE, without
fast-math flags. Blocks, loops and failures are in flow.py, lanes of registers in registers.py.
"""

import operator
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any, Protocol

from ptosim.native.ir.ranges import IntegerRange, combined, converted, decided, everything, only

Operand = Any  # a Value, or a Python number that becomes a constant of the other operand's type


@dataclass(frozen=True, slots=True)
class Type:
    """A first-class LLVM type: a scalar, or a vector of `lanes` scalars (0 stands for a scalar)."""

    scalar: str
    lanes: int = 0

    def __str__(self) -> str:
        return _type_text(self.scalar, self.lanes)

    def vector(self, lanes: int) -> "Type":
        return Type(self.scalar, lanes)

    @property
    def element(self) -> "Type":
        return Type(self.scalar)

    @property
    def is_float(self) -> bool:
        return self.scalar in _FLOAT_BITS

    @property
    def is_number(self) -> bool:
        """An integer scalar of more than one bit."""
        return not self.lanes and self.scalar[0] == "i" and self.scalar != "i1"

    @property
    def is_pointer(self) -> bool:
        return self.scalar == "ptr"

    @property
    def bits(self) -> int:
        """The width of a lane."""
        return _bits(self.scalar)

    @property
    def mangled(self) -> str:
        """The suffix that an overloaded intrinsic takes for this type."""
        scalar = {"half": "f16", "bfloat": "bf16", "float": "f32", "double": "f64", "ptr": "p0"}.get(self.scalar)
        return (f"v{self.lanes}" if self.lanes else "") + (scalar or self.scalar)


_FLOAT_BITS = {"half": 16, "bfloat": 16, "float": 32, "double": 64}

I1, I8, I16, I32, I64, I128, I256 = (Type(f"i{bits}") for bits in (1, 8, 16, 32, 64, 128, 256))
F16, F32, F64 = Type("half"), Type("float"), Type("double")
PTR = Type("ptr")


@cache
def _type_text(scalar: str, lanes: int) -> str:
    return f"<{lanes} x {scalar}>" if lanes else scalar


@cache
def _bits(scalar: str) -> int:
    return _FLOAT_BITS.get(scalar) or (64 if scalar == "ptr" else int(scalar[1:]))


class InstructionSink(Protocol):
    """Whatever takes instructions, which is a function under construction."""

    def emit(self, kind: Type, instruction: str) -> "Value":
        """Append an instruction that has a result."""
        ...

    def do(self, instruction: str) -> None:
        """Append an instruction that has none."""
        ...


class Value:
    """The result of an instruction, a parameter or a constant; `literal` is the number of a constant integer scalar,
    `known` what is known of another one, `uncanonical` another value of which this is the canonical form, `uniform` the
    scalar that all lanes are known to hold."""

    __slots__ = ("emitter", "kind", "known", "literal", "text", "uncanonical", "uniform")

    def __init__(self, emitter: InstructionSink, kind: Type, text: str, literal: int | None = None) -> None:
        self.emitter = emitter
        self.kind = kind
        self.text = text
        self.literal = literal
        self.known: IntegerRange | None = None
        self.uncanonical: Value | None = None
        self.uniform: Value | None = None

    def __str__(self) -> str:
        """The value as an operand with its type."""
        return f"{_type_text(self.kind.scalar, self.kind.lanes)} {self.text}"

    def __repr__(self) -> str:
        return f"Value({self})"

    @property
    def range(self) -> IntegerRange:
        """The known range of an integer scalar."""
        if self.literal is not None:
            return only(self.literal, self.kind.bits)
        return self.known or everything(self.kind.bits)

    def with_range(self, known: IntegerRange) -> "Value":
        """This integer scalar, of which something is known from now on."""
        self.known = known
        return self

    # --- arithmetic ---------------------------------------------------------------------------------------------------

    def __add__(self, other: Operand) -> "Value":
        return _arithmetic("add", self, other)

    def __radd__(self, other: Operand) -> "Value":
        return _arithmetic("add", other, self)

    def __sub__(self, other: Operand) -> "Value":
        return _arithmetic("sub", self, other)

    def __rsub__(self, other: Operand) -> "Value":
        return _arithmetic("sub", other, self)

    def __mul__(self, other: Operand) -> "Value":
        return _arithmetic("mul", self, other)

    def __rmul__(self, other: Operand) -> "Value":
        return _arithmetic("mul", other, self)

    def __truediv__(self, other: Operand) -> "Value":
        if not self.kind.is_float:
            raise TypeError(f"integers divide by sdiv or udiv, not {self} / {other}")
        return _binary("fdiv", self, self.like(other))

    def __neg__(self) -> "Value":
        if self.kind.is_float:
            return self.emitter.emit(self.kind, f"fneg {self}")
        return 0 - self

    def sdiv(self, other: Operand) -> "Value":
        """Signed division; the divisor must be neither 0 nor, of the lowest integer, -1."""
        return _binary("sdiv", self, self.like(other))

    def srem(self, other: Operand) -> "Value":
        return _binary("srem", self, self.like(other))

    def udiv(self, other: Operand) -> "Value":
        other = self.like(other)
        return self if other.literal == 1 else _binary("udiv", self, other)

    def urem(self, other: Operand) -> "Value":
        return _binary("urem", self, self.like(other))

    # --- bits ---------------------------------------------------------------------------------------------------------

    def __and__(self, other: Operand) -> "Value":
        return _binary("and", self, self.like(other))

    __rand__ = __and__

    def __or__(self, other: Operand) -> "Value":
        return _binary("or", self, self.like(other))

    __ror__ = __or__

    def __xor__(self, other: Operand) -> "Value":
        return _binary("xor", self, self.like(other))

    __rxor__ = __xor__

    def __invert__(self) -> "Value":
        return _binary("xor", self, self.like(-1))

    def __lshift__(self, other: Operand) -> "Value":
        return _binary("shl", self, self.like(other))

    def __rlshift__(self, other: Operand) -> "Value":
        return _binary("shl", self.like(other), self)

    def __rshift__(self, other: Operand) -> "Value":
        """The arithmetic shift, like Python's: rounds down."""
        return _binary("ashr", self, self.like(other))

    def __rrshift__(self, other: Operand) -> "Value":
        return _binary("ashr", self.like(other), self)

    def lshr(self, other: Operand) -> "Value":
        return _binary("lshr", self, self.like(other))

    # --- comparison ---------------------------------------------------------------------------------------------------

    def compare(self, predicate: str, other: Operand) -> "Value":
        """A comparison by LLVM's name: eq, ne, slt … ult …; oeq, olt …, uno of floats."""
        return _compare(predicate, self, self.like(other))

    def __eq__(self, other: Operand) -> "Value":  # pyright: ignore[reportIncompatibleMethodOverride] (an instruction)
        return self.compare("oeq" if self.kind.is_float else "eq", other)

    def __ne__(self, other: Operand) -> "Value":  # pyright: ignore[reportIncompatibleMethodOverride] (an instruction)
        return self.compare("une" if self.kind.is_float else "ne", other)

    __hash__ = object.__hash__

    def __bool__(self) -> bool:
        raise TypeError(f"{self} is known only when the kernel runs")

    def __lt__(self, other: Operand) -> "Value":
        return self.compare("olt" if self.kind.is_float else "slt", other)

    def __le__(self, other: Operand) -> "Value":
        return self.compare("ole" if self.kind.is_float else "sle", other)

    def __gt__(self, other: Operand) -> "Value":
        return self.compare("ogt" if self.kind.is_float else "sgt", other)

    def __ge__(self, other: Operand) -> "Value":
        return self.compare("oge" if self.kind.is_float else "sge", other)

    def select(self, chosen: Operand, otherwise: Operand) -> "Value":
        """This condition's choice of two values; at least one of them is a Value."""
        model = chosen if isinstance(chosen, Value) else otherwise
        chosen, otherwise = model.like(chosen), model.like(otherwise)
        if self.literal is not None:
            return chosen if self.literal else otherwise
        if chosen.text == otherwise.text:
            return chosen
        made = self.emitter.emit(chosen.kind, f"select {self}, {chosen}, {otherwise}")
        return made.with_range(chosen.range.or_(otherwise.range)) if chosen.kind.is_number else made

    # --- conversion ---------------------------------------------------------------------------------------------------

    def like(self, other: Operand) -> "Value":
        """The other operand as a value of this one's type."""
        if not isinstance(other, Value):
            return constant(self.emitter, self.kind, other)
        if other.kind is not self.kind and other.kind != self.kind:
            raise TypeError(f"{other} meets {self}")
        return other

    def convert(self, instruction: str, scalar: Type) -> "Value":
        """A conversion of every lane by LLVM's name: zext, sext, trunc, sitofp, fptrunc …"""
        kind = scalar.vector(self.kind.lanes)
        if kind == self.kind:
            return self
        if self.literal is not None and instruction in ("zext", "sext", "trunc") and not kind.is_float:
            plain = self.literal & ((1 << self.kind.bits) - 1) if instruction == "zext" else _signed(self)
            return constant(self.emitter, kind, plain)
        made = self.emitter.emit(kind, f"{instruction} {self} to {kind}")
        if not self.kind.is_number or not kind.is_number:
            return made
        return made.with_range(converted(instruction, self.range, self.kind.bits, kind.bits))

    def zext(self, scalar: Type) -> "Value":
        return self.convert("zext", scalar)

    def sext(self, scalar: Type) -> "Value":
        return self.convert("sext", scalar)

    def trunc(self, scalar: Type) -> "Value":
        return self.convert("trunc", scalar)

    def signed(self, scalar: Type) -> "Value":
        """This integer at another width, whichever is wider, keeping its signed value where it fits."""
        return self.convert("sext" if scalar.bits > self.kind.bits else "trunc", scalar)

    def bitcast(self, kind: Type) -> "Value":
        """The same bits as another type of the same size."""
        return self if kind == self.kind else self.emitter.emit(kind, f"bitcast {self} to {kind}")

    # --- memory, for pointers -----------------------------------------------------------------------------------------

    def at(self, offset: "Value | int") -> "Value":
        """The address so many bytes further on."""
        offset = offset if isinstance(offset, Value) else constant(self.emitter, I64, offset)
        return self if offset.literal == 0 else self.emitter.emit(PTR, f"getelementptr i8, {self}, {offset}")

    def load(self, kind: Type, align: int = 1) -> "Value":
        return self.emitter.emit(kind, f"load {kind}, {self}, align {align}")

    def load_shared(self, kind: Type) -> "Value":
        """A load that another thread's store may precede at any time: it is never merged or moved out of a loop."""
        return self.emitter.emit(kind, f"load atomic {kind}, {self} monotonic, align {kind.bits // 8}")

    def store(self, value: "Value", align: int = 1, streaming: bool = False) -> None:
        """A store; a streaming one (aligned to its size) passes by the caches."""
        hint = ", !nontemporal !0" if streaming else ""
        self.emitter.do(f"store {value}, {self}, align {align}{hint}")

    def prefetch(self, first: bool = False, write: bool = False) -> None:
        """Ask for the line at this address, which may be any, to be brought into the second cache, or the first."""
        self.emitter.do(f"call void @llvm.prefetch.p0({self}, i32 {int(write)}, i32 {3 if first else 2}, i32 1)")

    def copy_from(self, source: "Value", count: "Value | int") -> None:
        """Copies bytes from another address; the two stretches do not overlap."""
        self._transfer("memcpy.p0.p0", source, count)

    def move_from(self, source: "Value", count: "Value | int") -> None:
        """Moves bytes from another address, as if all were read before any is written."""
        self._transfer("memmove.p0.p0", source, count)

    def fill(self, byte: "Value | int", count: "Value | int") -> None:
        """Fills so many bytes with this one (i8)."""
        self._transfer("memset.p0", byte if isinstance(byte, Value) else constant(self.emitter, I8, byte), count)

    def _transfer(self, name: str, operand: "Value", count: "Value | int") -> None:
        count = count if isinstance(count, Value) else constant(self.emitter, I64, count)
        self.emitter.do(f"call void @llvm.{name}.i64({self}, {operand}, {count}, i1 false)")


# --- constants --------------------------------------------------------------------------------------------------------


def constant(emitter: InstructionSink, kind: Type, number: float | Sequence[float]) -> Value:
    """A constant: one number for a scalar or for all lanes of a vector, or a sequence with one number per lane."""
    if not isinstance(number, (int, float)):
        lanes = ", ".join(f"{kind.element} {scalar_text(kind.element, lane)}" for lane in number)
        return Value(emitter, kind, f"<{lanes}>")
    if kind.scalar not in _FLOAT_BITS:
        return Value(emitter, kind, *_integer(kind.scalar, kind.lanes, int(number)))
    text = scalar_text(kind.element, number)
    return Value(emitter, kind, _in_all_lanes(text, kind.scalar) if kind.lanes else text)


@lru_cache(1 << 12)
def _integer(scalar: str, lanes: int, number: int) -> tuple[str, int | None]:
    """The text of a constant that is no float, and its number if it is a scalar integer."""
    kind = Type(scalar)
    text = scalar_text(kind, number)
    if lanes:
        return _in_all_lanes(text, scalar), None
    return text, None if kind.is_pointer else wrap(number, kind.bits)


def _in_all_lanes(text: str, scalar: str) -> str:
    return "zeroinitializer" if text in ("0", "false") else f"splat ({scalar} {text})"


def poison(emitter: InstructionSink, kind: Type) -> Value:
    """A value that must not be looked at."""
    return Value(emitter, kind, "poison")


def wrap(number: int, bits: int) -> int:
    """The signed integer of that width which equals the number modulo 2^bits; a condition is 0 or 1."""
    number &= (1 << bits) - 1
    return number - (1 << bits) if bits > 1 and number >> (bits - 1) else number


def _signed(value: "Value") -> int:
    """The number of a literal as a signed integer: of one bit that is 0 or -1."""
    assert value.literal is not None
    return -value.literal if value.kind.bits == 1 else value.literal


def scalar_text(kind: Type, number: float) -> str:
    if kind == I1:
        return "true" if int(number) & 1 else "false"
    if kind.is_pointer:
        return "null"
    if not kind.is_float:
        return str(wrap(int(number), kind.bits))
    if kind == F16:
        return f"0xH{struct.unpack('<H', struct.pack('<e', number))[0]:04X}"
    if kind == F32:  # LLVM writes a float as the double of the same value, and refuses one that is not
        number = struct.unpack("<f", struct.pack("<f", number))[0]
    return f"0x{struct.unpack('<Q', struct.pack('<d', number))[0]:016X}"


# --- the operators ----------------------------------------------------------------------------------------------------

_FOLD: dict[str, Callable[[int, int], int]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "and": int.__and__,
    "or": int.__or__,
    "xor": int.__xor__,
}
_RIGHT_IDENTITY = {"add": 0, "sub": 0, "or": 0, "xor": 0, "shl": 0, "ashr": 0, "lshr": 0, "mul": 1, "and": -1}
_COMMUTATIVE = frozenset({"add", "mul", "and", "or", "xor"})
_ABSORBING = {"mul": 0, "and": 0}
_IDEMPOTENT = frozenset({"and", "or"})

_FOLD_COMPARE: dict[str, Callable[[int, int], bool]] = {
    "eq": operator.eq,
    "ne": operator.ne,
    **{f"{sign}{name}": getattr(operator, name) for sign in "su" for name in ("lt", "le", "gt", "ge")},
}


def _arithmetic(name: str, left: Operand, right: Operand) -> Value:
    """+, − or ×, where the product with a condition is a choice."""
    if name == "mul":
        for condition, factor in ((left, right), (right, left)):
            if _is_condition(condition):
                return _counted(condition, factor)
    model: Value = left if isinstance(left, Value) else right
    return _binary("f" + name if model.kind.is_float else name, model.like(left), model.like(right))


def _is_condition(operand: Operand) -> bool:
    return isinstance(operand, Value) and operand.kind == I1


def _counted(condition: Value, factor: Operand) -> Value:
    if not isinstance(factor, Value):
        factor = constant(condition.emitter, I64, factor)
    return condition.select(factor, factor.like(0))


def _binary(name: str, left: Value, right: Value) -> Value:
    if left.literal is not None and right.literal is not None and name in _FOLD:
        return constant(left.emitter, left.kind, _FOLD[name](left.literal, right.literal))
    if name in _IDEMPOTENT and left.text == right.text:
        return left
    if right.literal is None and left.literal is not None and name in _COMMUTATIVE:
        left, right = right, left
    if right.literal is not None:
        if name in _RIGHT_IDENTITY and right.literal == wrap(_RIGHT_IDENTITY[name], right.kind.bits):
            return left
        if right.literal == _ABSORBING.get(name):
            return right
    if not left.kind.is_number:
        return left.emitter.emit(left.kind, f"{name} {left}, {right.text}")
    if name == "and" and right.literal is not None and (masked := _masked(left, right.literal)) is not None:
        return masked
    made = left.emitter.emit(left.kind, f"{name} {left}, {right.text}")
    return made.with_range(combined(name, left.range, right.range, left.kind.bits))


def _masked(value: Value, mask: int) -> Value | None:
    """Some bits of a value of which it is known that it has no others, or none of these."""
    known = value.range
    if mask > 0 and mask & (mask + 1) == 0 and known.within(0, mask):
        return value
    return value.like(0) if 0 <= mask < 1 << known.zeros else None


def _compare(predicate: str, left: Value, right: Value) -> Value:
    if predicate in _FOLD_COMPARE and not left.kind.lanes and not left.kind.is_float:
        if left.literal is not None and right.literal is not None:
            mask = (1 << left.kind.bits) - 1 if predicate[0] == "u" else -1  # unsigned where it matters
            return constant(left.emitter, I1, _FOLD_COMPARE[predicate](_signed(left) & mask, _signed(right) & mask))
        if left.text == right.text:
            return constant(left.emitter, I1, _FOLD_COMPARE[predicate](0, 0))
        if left.kind.is_number and (outcome := decided(predicate, left.range, right.range)) is not None:
            return constant(left.emitter, I1, outcome)
    instruction = "fcmp" if left.kind.is_float else "icmp"
    return left.emitter.emit(I1.vector(left.kind.lanes), f"{instruction} {predicate} {left}, {right.text}")
