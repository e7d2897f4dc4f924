"""How the bytes of a row move between GM and UB, as fast as the host can; what is moved is said in burst and dma.

Measured on a processor with 32 KiB, 1 MiB and 32 MiB of cache, on 16 MiB of floats in tiles of 4 and 32 KiB:

* memcpy moves a few KiB by an instruction for strings, which begins slowly and lets nothing overlap with what comes
  before and after. Wide loads and stores are a quarter faster on tiles of 4 KiB and as fast on large ones.
* What is stored to a buffer that fills much of the last cache passes by the caches: one and a half to twice as fast.
* The processor's own prefetch stops at the end of a page. A page ahead is asked for while reading. While streaming, the
  memory is idle in the other direction, so the reads that are likely to come next are asked for then: copies of two
  arrays that the caches do not hold gain a sixth.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ptosim.native.context import READS_FOLLOWED, WORD_BYTES, Word
from ptosim.native.core import Core
from ptosim.native.flow import Function
from ptosim.native.ir import I8, I64, PTR, Value

LINE = 64
"""Bytes of a cache line, and of one streaming store."""
PAGE = 4096

_READ_AT_ONCE = 4 * LINE
_STREAMED_AT_ONCE = 8 * LINE

_FARTHEST_STEP = 1 << 20
"""Reads that lie farther apart are not taken to follow each other."""


def read(core: Core, dest: Value, source: Value, count: Value) -> None:
    """A row from GM."""
    if count.literal is not None and count.literal < _READ_AT_ONCE:
        dest.copy_from(source, count)
        return
    number = core.unit.reads % READS_FOLLOWED
    core.unit.reads += 1
    routine = core.unit.routine("read", [PTR, PTR, I64, I64], _read)
    core.f.call(routine, dest, source, count, core.f.constant(I64, number))


def stream(core: Core, dest: Value, source: Value, count: Value) -> None:
    """A row to memory that is not read again soon: it passes by the caches."""
    core.f.call(core.unit.routine("stream", [PTR, PTR, I64], _stream), dest, source, count)


def _read(f: Function) -> None:
    dest, source, count, number = f.parameters
    done = count & -_READ_AT_ONCE

    def some(offset: Value) -> None:
        places = [offset + line for line in range(0, _READ_AT_ONCE, LINE)]
        loaded = [source.at(place).load(I8.vector(LINE)) for place in places]
        for place, data in zip(places, loaded, strict=True):
            dest.at(place).store(data)

    def some_and_ask(offset: Value) -> None:
        _ask(source.at(offset + PAGE), _READ_AT_ONCE)
        some(offset)

    def long() -> None:
        _follow(f, number, source, count)
        _each(f, done.like(0), done, _READ_AT_ONCE, some_and_ask)

    # shorter rows rarely lie one behind the other, or they would be one row
    _either(f, count >= PAGE, long, lambda: _each(f, done.like(0), done, _READ_AT_ONCE, some))
    dest.at(done).copy_from(source.at(done), count - done)


def _stream(f: Function) -> None:
    dest, source, count = f.parameters
    # streaming stores are aligned: the bytes before the first line and behind the last go the usual way
    head = -_address(dest) & (LINE - 1)
    dest.copy_from(source, head)
    first, origin = dest.at(head), source.at(head)
    done = (count - head) & -LINE

    def one(offset: Value) -> None:
        first.at(offset).store(origin.at(offset).load(I8.vector(LINE)), LINE, streaming=True)

    def long() -> Sequence[Value]:
        expected = [_Expected(f, number) for number in range(READS_FOLLOWED)]
        end = done & -_STREAMED_AT_ONCE

        def some_and_ask(offset: Value) -> None:
            for line in range(0, _STREAMED_AT_ONCE, LINE):
                one(offset + line)
            for each in expected:
                _either(f, offset < each.count, lambda each=each: _ask(each.start.at(offset), _STREAMED_AT_ONCE, True))

        _each(f, done.like(0), end, _STREAMED_AT_ONCE, some_and_ask)
        for each in expected:
            each.forget()
        return (end,)

    (start,) = f.choose(count >= PAGE, long, lambda: (done.like(0),))
    _each(f, start, done, LINE, one)
    first.at(done).copy_from(origin.at(done), count - head - done)


# --- the reads that follow ------------------------------------------------------------------------------------------


def _follow(f: Function, number: Value, source: Value, count: Value) -> None:
    """Expect the next read of an instruction as far from this one as this one is from the one before."""
    words = f.word(Word.READS).at(number * (3 * WORD_BYTES))
    here = _address(source)
    step = here - words.load(I64, WORD_BYTES)
    near = (step + _FARTHEST_STEP).compare("ult", 2 * _FARTHEST_STEP)
    for place, word in enumerate((here, here + step, near.select(count, 0))):
        words.at(place * WORD_BYTES).store(word, WORD_BYTES)


class _Expected:
    """What is expected of the reads with this number: so many bytes, perhaps none, from an address."""

    def __init__(self, f: Function, number: int) -> None:
        self._words = f.word(Word.READS + 3 * number)
        self.start = self._words.at(WORD_BYTES).load(PTR, WORD_BYTES)
        self.count = self._words.at(2 * WORD_BYTES).load(I64, WORD_BYTES)

    def forget(self) -> None:
        """It was asked for."""
        self._words.at(2 * WORD_BYTES).store(self.count.like(0), WORD_BYTES)


# --- lines ----------------------------------------------------------------------------------------------------------


def _ask(address: Value, count: int, first: bool = False) -> None:
    for line in range(0, count, LINE):
        address.at(line).prefetch(first)


def _address(pointer: Value) -> Value:
    return pointer.emitter.emit(I64, f"ptrtoint {pointer} to i64")


def _each(f: Function, start: Value, end: Value, step: int, act: Callable[[Value], None]) -> None:
    def body(offset: Value, _: list[Value]) -> Sequence[Value]:
        act(offset)
        return ()

    f.for_loop(start, end, step, (), body, polls=False)


def _either(
    f: Function, condition: Value, act: Callable[[], None], otherwise: Callable[[], None] | None = None
) -> None:
    def arm(act: Callable[[], None] | None) -> Sequence[Value]:
        if act is not None:
            act()
        return ()

    f.choose(condition, lambda: arm(act), lambda: arm(otherwise))
