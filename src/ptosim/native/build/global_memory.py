"""From a GM pointer to host memory: its buffer, its place there, and whether the bytes behind it lie inside.

A GM pointer is an integer, the buffer's number in its upper 16 bits and a signed offset below (machine/memory.py). Any
integer may come along as one; those that name no buffer meet an empty one.
"""

from dataclasses import dataclass

from ptosim.effects.geometry import maximum, minimum
from ptosim.machine.memory import FARTHEST, OFFSET_BITS
from ptosim.native.ir.context import BUFFER_BITS, WORD_BYTES, ContextWord
from ptosim.native.ir.flow import FunctionBuilder
from ptosim.native.ir.values import I64, PTR, Value


@dataclass(frozen=True, slots=True, eq=False)
class GmPlace:
    """A byte of a buffer, or near it: the buffer's host address and size, the signed offset, whether there is one."""

    base: Value
    size: Value
    offset: Value
    known: Value

    def further(self, count: Value) -> "GmPlace":
        return GmPlace(self.base, self.size, self.offset + count, self.known)

    @property
    def address(self) -> Value:
        return self.base.at(self.offset)

    def clipped(self, width: Value) -> tuple[Value, Value]:
        """The part of the `width` bytes from here on that lies in the buffer: the first byte, and one past the last."""
        low = minimum(maximum(-self.offset, 0), width)
        return low, maximum(low, minimum(width, self.size - self.offset))


def buffer_number(pointer: Value) -> Value:
    """The number of the buffer. Half its range is added so that an offset below 0 still belongs to it."""
    return (pointer + FARTHEST).lshr(OFFSET_BITS)


def may_access(function: FunctionBuilder, verb: str, pointer: Value) -> Value:
    """Whether an observed kernel may read, or write, what lies there in place of the buffer that a pointer names."""
    allowed = function.word(ContextWord.WRITABLE if verb == "writes" else ContextWord.READABLE).load(I64, WORD_BYTES)
    return (allowed.lshr(minimum(buffer_number(pointer), BUFFER_BITS - 1)) & 1) != 0


def locate(function: FunctionBuilder, pointer: Value) -> GmPlace:
    """The argument behind a GM pointer."""
    number = buffer_number(pointer)
    known = number.compare("ule", function.word(ContextWord.BUFFER_NUM).load(I64, WORD_BYTES))
    number = known.select(number, 0)
    table = function.base(ContextWord.BUFFERS).at(number * (2 * WORD_BYTES))
    base, size = table.load(PTR, WORD_BYTES), table.at(WORD_BYTES).load(I64, WORD_BYTES)
    return GmPlace(base, size, pointer - (number << OFFSET_BITS), number != 0)


def leaves_buffer(place: GmPlace, low: Value | int, high: Value | int) -> Value:
    """Whether bytes from `low` up to `high`, counted from the place and both below 2^48, are not all in its buffer."""
    # the offset of a pointer that names no buffer may be anything, and a sum with it may wrap
    return (place.known ^ 1) | (place.offset + low < 0) | (place.offset + high > place.size)


def read_inside(place: GmPlace, dest: Value, width: Value) -> None:
    """`width` bytes to a host address; those outside the buffer read as zero."""
    low, high = place.clipped(width)
    dest.fill(0, width)
    dest.at(low).copy_from(place.address.at(low), high - low)


def write_inside(place: GmPlace, source: Value, width: Value) -> None:
    """`width` bytes from a host address; those outside the buffer are dropped."""
    low, high = place.clipped(width)
    place.address.at(low).copy_from(source.at(low), high - low)
