"""Vector and predicate registers as IR values: views by element type, static shuffles, masks, trees, permutes.

A vector register is 256 bytes, a value of any vector type of that size. A predicate register is an image of 256 bits,
one per byte, of which nearly always only the lowest bit of each lane is ever set; a `Mask` therefore holds the lanes,
and the image or another view is shuffled from them where one is wanted. What an instruction does with its lanes belongs
to the rooms.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache

from ptosim.effects.element import VECTOR_BYTES
from ptosim.native.ir.flow import FunctionBuilder
from ptosim.native.ir.values import I1, I16, I32, I64, PTR, Operand, Type, Value

GATHER_SLACK = 3


def register_type(element: Type) -> Type:
    """A register seen as lanes of that element."""
    return element.vector(VECTOR_BYTES * 8 // element.bits)


def lane_bytes(kind: Type) -> int:
    return kind.bits // 8


# --- lanes ------------------------------------------------------------------------------------------------------------


def view(function: FunctionBuilder, register: Value, element: Type) -> Value:
    """The register's bytes as lanes of that element. Going back finds the value one came from."""
    kind = register_type(element)
    if kind == register.kind:
        return register
    if register.uniform is not None and kind.lanes == register.kind.lanes:
        return splat(function, register.uniform.bitcast(element), kind.lanes)
    viewed = function.once(("view", str(register), kind), lambda: register.bitcast(kind))
    function.once(("view", str(viewed), register.kind), lambda: register)
    return viewed


def splat(function: FunctionBuilder, scalar: Value, lanes: int) -> Value:
    """The scalar in every lane."""
    if scalar.literal is not None:
        vector = function.constant(scalar.kind.vector(lanes), scalar.literal)
    else:
        vector = function.once(("splat", scalar.text, lanes), lambda: _splat(function, scalar, lanes))
    vector.uniform = scalar
    return vector


def _splat(function: FunctionBuilder, scalar: Value, lanes: int) -> Value:
    single = insert(function.poison(scalar.kind.vector(lanes)), 0, scalar)
    return function.emit(single.kind, f"shufflevector {single}, {single.kind} poison, <{lanes} x i32> zeroinitializer")


def shuffle(function: FunctionBuilder, table: Iterable[int], first: Value, second: Value | None = None) -> Value:
    """Lane i of the result is lane table[i] of `first`, continued by `second`; -1 leaves a lane undefined."""
    table = tuple(table)
    if table == tuple(range(first.kind.lanes)):
        return first
    if second is not None and first.kind.element == I1 and _spreads(table, first.kind.lanes) and _is_zero(second):
        kept = [int(lane < first.kind.lanes) for lane in table]
        moved = shuffle(function, [lane * keep for lane, keep in zip(table, kept, strict=True)], first)
        return moved & function.constant(moved.kind, kept)
    other = second if second is not None else function.poison(first.kind)
    return function.emit(first.kind.vector(len(table)), f"shufflevector {first}, {other}, {_table_text(table)}")


def _is_zero(vector: Value) -> bool:
    return vector.text == "zeroinitializer"


@cache
def _spreads(table: tuple[int, ...], lanes: int) -> bool:
    """Whether groups of the first operand's lanes keep their order with the second's between them. Two or four bits and
    a gap of zeros are to LLVM the extension of an i2 or i4, which it cannot compile: it ends the process."""
    places = [place for place, lane in enumerate(table) if lane < lanes]
    in_order = [table[place] for place in places] == list(range(len(places)))
    return in_order and places[:2] == [0, 1] and places[-1] >= len(places)


@cache
def _table_text(table: tuple[int, ...]) -> str:
    lanes = ", ".join(f"i32 {lane}" if lane >= 0 else "i32 poison" for lane in table)
    return f"<{len(table)} x i32> <{lanes}>"


def joined(function: FunctionBuilder, parts: list[Value]) -> Value:
    """Vectors of one type, a power of two of them, one behind the other."""
    while len(parts) > 1:
        both = range(2 * parts[0].kind.lanes)
        parts = [shuffle(function, both, a, b) for a, b in zip(parts[::2], parts[1::2], strict=True)]
    return parts[0]


def extract(vector: Value, lane: Operand) -> Value:
    place = lane if isinstance(lane, Value) else f"i64 {lane}"
    return vector.emitter.emit(vector.kind.element, f"extractelement {vector}, {place}")


def insert(vector: Value, lane: Operand, scalar: Value) -> Value:
    place = lane if isinstance(lane, Value) else f"i64 {lane}"
    return vector.emitter.emit(vector.kind, f"insertelement {vector}, {scalar}, {place}")


def lane_numbers(function: FunctionBuilder, element: Type, lanes: int) -> Value:
    """0, 1, 2 … as a constant vector."""
    return function.constant(element.vector(lanes), range(lanes))


def tree(function: FunctionBuilder, vector: Value, combine: Callable[[Value, Value], Value], groups: int = 1) -> Value:
    """Each group of neighbouring lanes combined by halving, x[i] with x[i + n/2]; one lane per group is left."""
    while (size := vector.kind.lanes // groups) > 1:
        low = [group * size + lane for group in range(groups) for lane in range(size // 2)]
        high = [lane + size // 2 for lane in low]
        vector = combine(shuffle(function, low, vector), shuffle(function, high, vector))
    return vector


def permute(function: FunctionBuilder, vector: Value, lanes: Value) -> Value:
    """Lane i of the result is lane lanes[i] of the vector; the numbers, unsigned, are within it."""
    room = function.scratch(vector.kind.lanes * lane_bytes(vector.kind) + GATHER_SLACK)
    room.store(vector, 64)
    return gather(function, vector.kind.element, room, lanes.zext(I64))


def gather(function: FunctionBuilder, element: Type, base: Value, numbers: Value) -> Value:
    """The elements with these numbers (i64, all in bounds) behind a base address.

    Hosts gather 32-bit words and wider; narrower elements are cut from such words, of which the last may reach
    `GATHER_SLACK` bytes behind its element.
    """
    return gather_at(function, element, base, numbers * lane_bytes(element))


def gather_at(function: FunctionBuilder, element: Type, base: Value, offsets: Value) -> Value:
    """Likewise by offsets in bytes."""
    if element.bits < 32:
        words = _gather(function, I32, base, offsets).trunc(Type(f"i{element.bits}"))
        return words.bitcast(element.vector(offsets.kind.lanes))
    return _gather(function, element, base, offsets)


def _gather(function: FunctionBuilder, element: Type, base: Value, offsets: Value) -> Value:
    lanes = offsets.kind.lanes
    kind, pointers = element.vector(lanes), PTR.vector(lanes)
    addresses = function.emit(pointers, f"getelementptr i8, {base}, {offsets}")
    return function.emit(
        kind,
        f"call {kind} @llvm.masked.gather.{kind.mangled}.{pointers.mangled}"
        f"({pointers} align 1 {addresses.text}, {I1.vector(lanes)} splat (i1 true), {kind} poison)",
    )


# --- masks ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Mask:
    """A predicate image whose bit i·width is lane i of `bits`, and whose other bits are 0.

    Width 1 is the raw image. Views are shuffles, remembered by the function, so that a producer and a consumer of the
    same width meet without one.
    """

    function: FunctionBuilder
    bits: Value  # <256/width x i1>
    width: int  # register bytes per lane: 1, 2, 4 or 8

    @property
    def is_full(self) -> bool:
        """Whether every lane is known to be set."""
        return self.bits.text == "splat (i1 true)"

    @property
    def is_empty(self) -> bool:
        return _is_zero(self.bits)

    def lanes(self, width: int) -> Value:
        """The lowest bit of each lane of that many bytes."""
        if width == self.width:
            return self.bits
        if self.is_empty or (self.is_full and width > self.width):
            return self.function.constant(I1.vector(VECTOR_BYTES // width), int(self.is_full))
        return self.function.once(("lanes", self.bits.text, self.width, width), lambda: self._lanes(width))

    def _lanes(self, width: int) -> Value:
        count = VECTOR_BYTES // width
        if width > self.width:
            return shuffle(self.function, range(0, self.bits.kind.lanes, width // self.width), self.bits)
        spread = self.width // width
        if self.is_full:
            return self.function.constant(I1.vector(count), [int(lane % spread == 0) for lane in range(count)])
        zero = self.bits.kind.lanes  # the first lane of the second operand
        table = [zero if lane % spread else lane // spread for lane in range(count)]
        return shuffle(self.function, table, self.bits, self.bits.like(0))

    def for_lanes_of(self, kind: Type) -> Value:
        """The lanes that gate a vector of that type."""
        return self.lanes(lane_bytes(kind))

    def __and__(self, other: "Mask") -> "Mask":
        width = max(self.width, other.width)
        return Mask(self.function, _both(self.lanes(width), other.lanes(width)), width)

    def __or__(self, other: "Mask") -> "Mask":
        width = min(self.width, other.width)
        return Mask(self.function, self.lanes(width) | other.lanes(width), width)

    def __xor__(self, other: "Mask") -> "Mask":
        width = min(self.width, other.width)
        return Mask(self.function, self.lanes(width) ^ other.lanes(width), width)

    def without(self, other: "Mask") -> "Mask":
        """The bits of this mask that the other does not have."""
        return Mask(self.function, _both(self.bits, ~other.lanes(self.width)), self.width)


def _both(left: Value, right: Value) -> Value:
    for known, other in ((left, right), (right, left)):
        if known.text == "splat (i1 true)":
            return other
    return left & right


def constant_mask(function: FunctionBuilder, width: int, lanes: Iterable[int]) -> Mask:
    """A mask known at compile time, one number per lane."""
    numbers = list(lanes)
    kind = I1.vector(len(numbers))
    uniform = min(numbers) == max(numbers)
    return Mask(function, function.constant(kind, numbers[0] if uniform else numbers), width)


def full_mask(function: FunctionBuilder, width: int) -> Mask:
    return Mask(function, function.constant(I1.vector(VECTOR_BYTES // width), 1), width)


def prefix_mask(function: FunctionBuilder, width: int, count: Value) -> Mask:
    """Lane i is set where i < count, an unsigned i32."""
    lanes = VECTOR_BYTES // width
    # 16-bit lanes compare twice as many at once; no lane number needs more
    limit = function.intrinsic("llvm.umin", I32, count, function.constant(I32, lanes)).trunc(I16)
    return Mask(function, lane_numbers(function, I16, lanes).compare("ult", splat(function, limit, lanes)), width)


def zeroed(vector: Value, mask: Mask) -> Value:
    """The vector with its inactive lanes cleared."""
    lanes = mask.for_lanes_of(vector.kind)
    if mask.is_full and lane_bytes(vector.kind) >= mask.width:
        return vector
    cleared = vector.emitter.emit(vector.kind, f"select {lanes}, {vector}, {vector.like(0)}")
    if vector.uncanonical is not None:
        numbers = vector.uncanonical
        cleared.uncanonical = vector.emitter.emit(vector.kind, f"select {lanes}, {numbers}, {vector.like(0)}")
    return cleared


def masked_store(function: FunctionBuilder, pointer: Value, vector: Value, active: Value) -> None:
    """The active lanes to memory; the others' memory is not touched."""
    if active.text == "splat (i1 true)":
        pointer.store(vector)
        return
    function.do(
        f"call void @llvm.masked.store.{vector.kind.mangled}.p0({vector}, ptr align 1 {pointer.text}, {active})"
    )


def as_word(condition: Value) -> Value:
    """The lanes of a condition as the bits of an integer."""
    return condition.bitcast(Type(f"i{condition.kind.lanes}"))


def counted(function: FunctionBuilder, name: str, condition: Value, *flags: Value) -> Value:
    """The number of set bits of a condition, i64, counted by an intrinsic."""
    word = as_word(condition)
    number = function.intrinsic(name, word.kind, word, *flags, overloads=(word.kind,))
    return number.convert("zext" if number.kind.bits < 64 else "trunc", I64)


def active_span(function: FunctionBuilder, active: Value) -> tuple[Value, Value]:
    """The first active lane and the one behind the last, i64; without any, the number of lanes and 0."""
    before, behind = (counted(function, f"llvm.{end}", active, function.constant(I1, 0)) for end in ("cttz", "ctlz"))
    return before, active.kind.lanes - behind


def any_lane(condition: Value) -> Value:
    """Whether the condition holds in some lane."""
    return as_word(condition) != 0


def first_lane(function: FunctionBuilder, vector: Value, condition: Value) -> Value:
    """The lowest lane in which the condition holds; there is one."""
    return extract(vector, counted(function, "llvm.cttz", condition, function.constant(I1, 1)))


def last_lane(function: FunctionBuilder, vector: Value, condition: Value) -> Value:
    """The highest lane in which the condition holds; there is one."""
    backwards = range(vector.kind.lanes - 1, -1, -1)
    return first_lane(function, shuffle(function, backwards, vector), shuffle(function, backwards, condition))


def least(function: FunctionBuilder, vector: Value, active: Value) -> Value:
    """The smallest of the active lanes, signed; there is one."""
    kept = active.select(vector, vector.like((1 << (vector.kind.bits - 1)) - 1))
    return function.intrinsic("llvm.vector.reduce.smin", vector.kind.element, kept, overloads=(vector.kind,))
