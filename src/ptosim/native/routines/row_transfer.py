"""Moves of the bytes of a row between GM and UB, as fast as the host can; rows come from burst and dma.

Measured on a processor with 32 KiB, 1 MiB and 32 MiB of cache, on 16 MiB of floats in tiles of 4 and 32 KiB:

* memcpy moves a few KiB by an instruction for strings, which begins slowly and lets nothing overlap with what comes
  before and after. Wide loads and stores are a quarter faster on tiles of 4 KiB and as fast on large ones.
* What is stored to a buffer that fills much of the last cache passes by the caches: one and a half to twice as fast.
* The processor's own prefetch stops at the end of a page. A page ahead is asked for while reading. While streaming, the
  memory is idle in the other direction, so the reads that are likely to come next are asked for then: copies of two
  arrays that the caches do not hold gain a sixth.
"""

from __future__ import annotations

from collections.abc import Sequence

from ptosim.native.build.core import Core
from ptosim.native.ir.context import READS_FOLLOWED, WORD_BYTES, ContextWord
from ptosim.native.ir.flow import FunctionBuilder
from ptosim.native.ir.module import ObjectModule
from ptosim.native.ir.values import I8, I64, PTR, Value

LINE = 64
"""Bytes of a cache line, and of one streaming store."""
PAGE = 4096

_READ_AT_ONCE = 4 * LINE
_STREAMED_AT_ONCE = 8 * LINE

_READ_BYTES = 3 * WORD_BYTES
_FARTHEST_STEP = 1 << 20
"""Reads that lie farther apart are not taken to follow each other."""


def read(core: Core, dest: Value, source: Value, count: Value) -> None:
    """A row from GM."""
    if count.literal is not None and count.literal < _READ_AT_ONCE:
        dest.copy_from(source, count)
        return
    number = core.f.constant(I64, core.unit.reads)
    if core.f.instance is not None:
        number = number + core.f.instance.number
    number = number.urem(READS_FOLLOWED)
    core.unit.reads += 1
    core.f.settle()
    core.f.status_of(core.f.base(ContextWord.READ).text, core.f.context, dest, source, count, number)


def stream(core: Core, dest: Value, source: Value, count: Value) -> None:
    """A row to memory that is not read again soon: it passes by the caches."""
    core.f.settle()
    core.f.status_of(core.f.base(ContextWord.STREAM).text, core.f.context, dest, source, count)


# --- what they call, for all kernels ----------------------------------------------------------------------------------


def build_read(module: ObjectModule, name: str) -> None:
    """The function that reads a row, under this name; it never fails."""
    f = module.function(name, [PTR, PTR, I64, I64])
    dest, source, count, number = f.parameters
    end = count & -_READ_AT_ONCE

    def follow() -> Sequence[Value]:
        _follow(f, number, source, count)
        return (source.at(PAGE),)

    # shorter rows rarely lie one behind the other, or they would be one row: asking for what is there costs nothing
    (ahead,) = f.choose(count >= PAGE, follow, lambda: (source,))

    with f.each(end, _READ_AT_ONCE) as offset:
        places = [offset + line for line in range(0, _READ_AT_ONCE, LINE)]
        for place in places:
            ahead.at(place).prefetch()
        loaded = [source.at(place).load(I8.vector(LINE)) for place in places]
        for place, data in zip(places, loaded, strict=True):
            dest.at(place).store(data)
    with f.when(count != end):
        dest.at(end).copy_from(source.at(end), count - end)
    f.finish()


def build_stream(module: ObjectModule, name: str) -> None:
    """The function that streams a row, under this name; it never fails."""
    f = module.function(name, [PTR, PTR, I64])
    dest, source, count = f.parameters
    # streaming stores are aligned: the bytes before the first line and behind the last go the usual way
    head = -address_of(dest) & (LINE - 1)
    dest.copy_from(source, head)
    first, origin = dest.at(head), source.at(head)
    end = (count - head) & -LINE
    # the last bytes share a line with what comes behind: it is on its way while the others are stored
    tail = count - head - end
    (tail > 0).select(first.at(end), source).prefetch(first=True, write=True)
    followed = (count >= PAGE).select(end.like(READS_FOLLOWED), 0)
    reads = f.word(ContextWord.READS)

    with f.each(end, _STREAMED_AT_ONCE) as start:
        following = start + _STREAMED_AT_ONCE
        stop = (following < end).select(following, end)
        with f.each(stop, LINE, start) as at:
            first.at(at).store(origin.at(at).load(I8.vector(LINE)), LINE, streaming=True)
        with f.each(followed) as number:
            _ask(f, reads.at(number * _READ_BYTES), start)
    first.at(end).copy_from(origin.at(end), tail)
    f.finish()


# --- the reads that follow --------------------------------------------------------------------------------------------


def _follow(f: FunctionBuilder, number: Value, source: Value, count: Value) -> None:
    """Expect the next read of an instruction as far from this one as this one is from the one before."""
    words = f.word(ContextWord.READS).at(number * _READ_BYTES)
    here = address_of(source)
    step = here - words.load(I64, WORD_BYTES)
    near = (step + _FARTHEST_STEP).compare("ult", 2 * _FARTHEST_STEP)
    for place, word in enumerate((here, here + step, near.select(count, 0))):
        words.at(place * WORD_BYTES).store(word, WORD_BYTES)


def _ask(f: FunctionBuilder, words: Value, start: Value) -> None:
    """Ask for as many bytes of an expected read as are streamed at once, from an offset on."""
    expected = words.at(WORD_BYTES).load(PTR, WORD_BYTES)
    left = words.at(2 * WORD_BYTES).load(I64, WORD_BYTES) - start
    count = (left < _STREAMED_AT_ONCE).select(left, _STREAMED_AT_ONCE)
    with f.each(start + count, LINE, start) as offset:
        expected.at(offset).prefetch(first=True)


def address_of(pointer: Value) -> Value:
    """A host address as a number."""
    return pointer.emitter.emit(I64, f"ptrtoint {pointer} to i64")
