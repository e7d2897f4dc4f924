"""The words of a page of times and of a log (machine/moments.py), as compiled code reads and writes them."""

from __future__ import annotations

from collections.abc import Iterator

from ptosim.machine import moments
from ptosim.machine.moments import Moment
from ptosim.machine.sync import PIPES
from ptosim.native.ir.context import WORD_BYTES, ContextWord
from ptosim.native.ir.flow import FunctionBuilder
from ptosim.native.ir.values import I64, PTR, Value


def page_of(f: FunctionBuilder) -> Value:
    """The page of times."""
    return f.base(ContextWord.OBSERVED)


def word_at(base: Value, number: int | Value) -> Value:
    return base.at(number * WORD_BYTES)


def load(base: Value, number: int | Value) -> Value:
    return word_at(base, number).load(I64, WORD_BYTES)


def store(base: Value, number: int | Value, value: Value) -> None:
    word_at(base, number).store(value, WORD_BYTES)


def free(page: Value, pipe: int | Value, table: int = moments.FREE) -> Moment:
    place = page.at((pipe << 1) * WORD_BYTES)
    return load(place, table), load(place, table + 1)


def keep(page: Value, pipe: int | Value, moment: Moment, table: int = moments.FREE) -> None:
    place = page.at((pipe << 1) * WORD_BYTES)
    store(place, table, moment[0])
    store(place, table + 1, moment[1])


class PageInCode:
    """The moments of a core, for the events of machine/moments.py."""

    def __init__(self, words: Value) -> None:
        self._words = words

    def free(self, slot: int | Value) -> Moment:
        return free(self._words, slot)

    def keep(self, slot: int | Value, moment: Moment) -> None:
        keep(self._words, slot, moment)

    def worked(self, slot: Value, cycles: Value) -> None:
        self._add(moments.BUSY, slot, cycles)

    def waited(self, slot: Value, cycles: Value) -> None:
        self._add(moments.WAITING, slot, cycles)

    def pipes(self) -> Iterator[Moment]:
        """Until when each pipe is busy."""
        return (self.free(slot) for slot in range(1, PIPES))

    def _add(self, table: int, slot: Value, cycles: Value) -> None:
        place = word_at(self._words, slot + table)
        place.store(place.load(I64, WORD_BYTES) + cycles, WORD_BYTES)


def token_of(page: Value, word: Value) -> Value:
    return word_at(page, word * moments.TOKEN_WORDS + moments.TOKENS)


def log_of(f: FunctionBuilder, page: Value) -> Value:
    return f.once("log", lambda: word_at(page, moments.LOG).load(PTR, WORD_BYTES))
