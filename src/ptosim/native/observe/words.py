"""Bits of words: which four bytes of a register, or of an access, something holds for. One machine integer each.

A word counts as touched where some byte of it is, and as covered where all are: elements of one and two bytes may leave
a word half done, which then is neither defined nor clean. A single word is no vector: LLVM fails on some of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, reduce

from ptosim.native.ir.flow import FunctionBuilder
from ptosim.native.ir.values import I1, I8, I64, Type, Value
from ptosim.native.observe.layout import WORD
from ptosim.native.vector.registers import Mask, shuffle

REGISTER_WORDS = 64
NOTHING = -1


def integer(bits: int) -> Type:
    return Type(f"i{bits}")


def every(f: FunctionBuilder, bits: int) -> Value:
    return f.constant(integer(bits), -1)


def of_lanes(f: FunctionBuilder, lanes: Value, width: int) -> tuple[Value, Value]:
    """The words of lanes of so many bytes each: those of which some byte is active, and those of which all are."""
    count = lanes.kind.lanes
    bits = max(1, count * width // WORD)
    if lanes.text == "splat (i1 true)":
        return every(f, bits), every(f, bits)
    if bits == 1:
        active = lanes.bitcast(integer(count)) if count > 1 else lanes
        return active != 0, active == -1
    if width >= WORD:
        spread = [lane for lane in range(count) for _ in range(width // WORD)]
        found = shuffle(f, spread, lanes).bitcast(integer(bits))
        return found, found
    parts = WORD // width
    columns = [shuffle(f, range(part, count, parts), lanes) for part in range(parts)]
    some = reduce(lambda one, other: one | other, columns)
    whole = reduce(lambda one, other: one & other, columns)
    return some.bitcast(integer(bits)), whole.bitcast(integer(bits))


def of_mask(f: FunctionBuilder, mask: Mask, width: int) -> tuple[Value, Value]:
    """The words of a register whose lanes, of so many bytes, a mask enables: some byte, and all."""
    if mask.is_full and mask.width <= width:
        return every(f, REGISTER_WORDS), every(f, REGISTER_WORDS)
    some = f.once(("some", mask.bits.text, width), lambda: of_lanes(f, mask.lanes(width), width)[0])
    return some, f.once(("whole", mask.bits.text, width), lambda: of_lanes(f, mask.lanes(width), width)[1])


def lowest(f: FunctionBuilder, count: Value) -> Value:
    """A number with so many of its 64 bits set, the lowest ones, or all."""
    some = (f.constant(I64, 1) << (count & 63)) - 1
    return (count >= 64).select(f.constant(I64, -1), some)


def if_any(f: FunctionBuilder, bits: Value, kind: Type = I64) -> Value:
    """All bits where one is set."""
    return (bits != 0).select(f.constant(kind, -1), f.constant(kind, 0))


@cache
def _sources(table: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
    """For each word of a table's result the words that it has bytes from."""
    starts = range(0, len(table), WORD)
    return tuple(
        tuple(sorted({byte // WORD for byte in table[start : start + WORD] if byte != NOTHING})) for start in starts
    )


def moved(f: FunctionBuilder, table: Sequence[int], bits: Value) -> Value:
    """Bits of words where the bytes have gone: byte i of the result is byte table[i], or NOTHING."""
    sources = _sources(tuple(table))
    count, given = len(sources), bits.kind.bits
    if count == given and all(source == (number,) for number, source in enumerate(sources)):
        return bits
    if len(set(sources)) == 1:
        (source,) = set(sources)
        chosen = bits & sum(1 << word for word in source)
        return if_any(f, chosen, integer(count)) if count > 1 else chosen != 0
    lanes = bits.bitcast(I1.vector(given))
    deepest = max(1, *map(len, sources))
    found = f.constant(I1.vector(count), 0)
    for depth in range(deepest):
        order = [source[depth] if depth < len(source) else given for source in sources]
        found = found | shuffle(f, order, lanes, lanes.like(0))
    return found.bitcast(integer(count))


def widened(f: FunctionBuilder, bits: Value, width: int) -> Value:
    """Bits of words, those of one lane together where a lane has several words."""
    if width <= WORD:
        return bits
    even, odd = 0x5555555555555555, 0xAAAAAAAAAAAAAAAA
    return bits | ((bits & even) << 1) | (bits & odd).lshr(1)


def part(bits: Value, start: int) -> Value:
    """The words of a register that begins so many bytes behind the first."""
    kept = bits.lshr(start // WORD)
    return kept.trunc(I64) if kept.kind.bits > REGISTER_WORDS else kept.zext(I64)


def of_granule(bits: Value, number: int) -> Value:
    """The words of one granule of a register."""
    return bits.lshr(8 * number).trunc(I8)
