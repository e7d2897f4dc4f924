"""The bytes of UB that an entry touches: of each of its instructions the lowest and the highest, which code keeps in
registers and writes down when the entry ends. What functions do that a vector scope calls is not told apart.

Entries touch the same few buffers over and over: what they touch goes into the number that their price is found by, and
the log need not repeat it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from xdsl.ir import Operation

from ptosim.language.function import Call
from ptosim.machine import moments
from ptosim.native.ir.context import WORD_BYTES
from ptosim.native.ir.values import I64, PTR, Value
from ptosim.native.observe.pages import page_of
from ptosim.native.vector.registers import active_span, any_lane, least

if TYPE_CHECKING:
    from ptosim.native.build.core import Core
    from ptosim.native.ir.flow import Function

_RECORD = 2 * WORD_BYTES
_FAR = moments.ROW_MASK
"""Above every address: the lowest byte of what has not been touched."""
_CALLED = ("reads", "writes")
"""What called functions do comes first."""
_PLACES = {None: 0, "aiv0": 2, "aiv1": 3}
"""One more than the place in a cluster of the core whose UB it is; 0 for one's own."""

_Key = tuple[int, str, str | None]
"""Of an access: its operation, its verb, and whose UB it is."""
_Hull = tuple[Value, Value]
"""The addresses of the lowest byte and of one past the highest."""


class Touches:
    """What the entries of a kernel touch, while their code is built."""

    def __init__(self) -> None:
        self.in_scope = False
        """Whether the instruction that is built belongs to a vector scope."""
        self._hulls: dict[Function, dict[_Key, _Hull]] = {}

    def begin(self, core: Core, op: Operation) -> None:
        """An entry begins."""
        self._hulls[core.f] = {}
        if _calls(op):
            for verb in _CALLED:
                low, high = _called(core.f, verb)
                low.store(core.f.constant(I64, _FAR), WORD_BYTES)
                high.store(core.f.constant(I64, 0), WORD_BYTES)

    def end(self, core: Core, op: Operation) -> None:
        """An entry has done its work: write down what it has touched."""
        f, page = core.f, page_of(core.f)
        place = _touched(f)
        found: list[Value] = []
        first = 0
        if _calls(op):
            first = len(_CALLED)
            for verb in _CALLED:
                low, high = _called(f, verb)
                low.store(low.load(I64, WORD_BYTES) | _tag(verb, None), WORD_BYTES)
                found += [low.load(I64, WORD_BYTES), high.load(I64, WORD_BYTES)]
        hulls = self._hulls.pop(f)
        for number, ((_, verb, at), (low, high)) in enumerate(hulls.items(), first):
            record = place.at(number * _RECORD)
            pair = low.load(I64, WORD_BYTES) | _tag(verb, at), high.load(I64, WORD_BYTES)
            for offset, word in enumerate(pair):
                record.at(offset * WORD_BYTES).store(word, WORD_BYTES)
            found += pair
        count = f.constant(I64, first + len(hulls))
        page.at(moments.TOUCHES * WORD_BYTES).store(count, WORD_BYTES)
        page.at(moments.TOUCH_HASH * WORD_BYTES).store(_sum(f, found), WORD_BYTES)

    # --- accesses -----------------------------------------------------------------------------------------------------

    def access(
        self, core: Core, verb: str, address: Value, extent: int, active: Callable[[], Value] | None, unit: int
    ) -> None:
        """Of so many bytes, or of those units of them that are active."""
        if active is None:
            self._grow(core, verb, None, address, address + extent)
            return
        lanes = active()
        first, end = active_span(core.f, lanes)
        some = any_lane(lanes)
        low, high = address + first * unit, address + end * unit
        self._grow(core, verb, None, some.select(low, _FAR), some.select(high, 0))

    def lanes(self, core: Core, verb: str, starts: Value, active: Value, extent: int) -> None:
        low, high = least(core.f, starts, active), extent - least(core.f, -starts, active)
        some = any_lane(active)
        low, high = low.signed(I64), high.signed(I64)
        self._grow(core, verb, None, some.select(low, _FAR), some.select(high, 0))

    def stretch(self, core: Core, verb: str, address: Value, extent: Value, at: str | None) -> None:
        some = extent > 0
        self._grow(core, verb, at, some.select(address, _FAR), some.select(address + extent, 0))

    def _grow(self, core: Core, verb: str, at: str | None, low: Value, high: Value) -> None:
        hulls = self._hulls.get(core.f)
        if hulls is not None:
            lowest, highest = _of(core.f, hulls, (core.origin.number, verb, at))
        elif self.in_scope:
            lowest, highest = _called(core.f, verb)
        else:  # the scalar unit's own
            return
        before, after = lowest.load(I64, WORD_BYTES), highest.load(I64, WORD_BYTES)
        lowest.store((low < before).select(low, before), WORD_BYTES)
        highest.store((high > after).select(high, after), WORD_BYTES)


def _of(f: Function, hulls: dict[_Key, _Hull], key: _Key) -> _Hull:
    """Where the hull of an access is kept; of very many accesses the last ones share theirs."""
    if len(hulls) >= moments.MOST_TOUCHES - 2 * len(_CALLED):
        key = -1, key[1], key[2]
    if key not in hulls:
        hulls[key] = f.set_slot(I64, _FAR), f.set_slot(I64, 0)
    return hulls[key]


def _touched(f: Function) -> Value:
    return page_of(f).at(moments.TOUCHED * WORD_BYTES).load(PTR, WORD_BYTES)


def _called(f: Function, verb: str) -> _Hull:
    """Where the hull of what called functions do is kept."""
    place = _touched(f).at(_CALLED.index(verb) * _RECORD)
    return place, place.at(WORD_BYTES)


def _calls(op: Operation) -> bool:
    return any(isinstance(inner, Call) for inner in op.walk())


def _sum(f: Function, words: Sequence[Value]) -> Value:
    """A number of these: each counts by its place, so that none waits for another to be multiplied."""
    total = f.constant(I64, 0)
    for number, word in enumerate(words):
        total = total + word * ((number + 1) * 0x9E3779B97F4A7C15 & (1 << 62) - 1 | 1)
    return total


def _tag(verb: str, at: str | None) -> int:
    return (2 * _PLACES[at] + (verb == "writes")) << moments.ROW_BITS
