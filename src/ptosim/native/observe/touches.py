"""The bytes on the chip that an entry touches: of each of its instructions the lowest and the highest, which code keeps
in registers and writes down when the entry ends. What functions do that a vector scope calls is not told apart. Where
entries are waited for by the bytes that they touch, those of GM are kept as well.

Entries touch the same few buffers over and over: what they touch goes into the number that their price is found by, and
the log need not repeat it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from xdsl.ir import Operation

from ptosim.effects.names import Space
from ptosim.language.structure.function import Call
from ptosim.machine import moments
from ptosim.native.ir.context import WORD_BYTES
from ptosim.native.ir.values import I64, PTR, Value
from ptosim.native.observe.hooks import OnChipAccess
from ptosim.native.observe.pages import load, page_of, store, word_at
from ptosim.native.vector.registers import active_span, any_lane, extract, least, shuffle

if TYPE_CHECKING:
    from ptosim.native.build.core import Core
    from ptosim.native.ir.flow import FunctionBuilder

_RECORD = 2 * WORD_BYTES
_FLYING_BYTES = moments.FLYING_WORDS * WORD_BYTES
_FAR = moments.ROW_MASK
"""Above every address on chip: the lowest byte of untouched memory."""
_ENDS = {True: (_FAR, 0), False: ((1 << 63) - 1, -(1 << 63))}
"""On chip, and in GM: the lowest byte and one past the highest where nothing was touched."""
_CALLED = ("reads", "writes")
"""The touches of called functions come first."""
_PLACES = {None: 0, "aiv0": 2, "aiv1": 3}
"""One more than the place in a cluster of the core whose UB it is; 0 for one's own."""
_CUBE_PLACE = 1
"""The same for the other memories, which belong to the cube core."""

_Key = tuple[int, str, str | None, Space]
"""The key of an access: its operation, its verb, the owner of its UB, and the memory."""
_Hull = tuple[Value, Value]
"""The addresses of the lowest byte and of one past the highest."""


class TouchRecorder:
    """Records the touches of the entries of a kernel while their code is built."""

    def __init__(self, in_flight: bool) -> None:
        self._in_flight = in_flight  # what they touch is asked for as long as entries fly
        self.in_scope = False
        """Whether the instruction that is built belongs to a vector scope."""
        self._hulls: dict[FunctionBuilder, dict[_Key, _Hull]] = {}

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
        own = [((0, verb, None, Space.UB), _called(f, verb)) for verb in _CALLED if _calls(op)]
        touched = [
            (key, low.load(I64, WORD_BYTES), high.load(I64, WORD_BYTES))
            for key, (low, high) in (*own, *self._hulls.pop(f).items())
        ]
        found: list[Value] = []
        for (_, verb, at, space), low, high in touched:
            if space is not Space.GM:
                record = _touched(f).at(len(found) * WORD_BYTES)
                pair = low | _tag(verb, at, space), high
                for offset, word in enumerate(pair):
                    store(record, offset, word)
                found += pair
        store(page, moments.TOUCHES, f.constant(I64, len(found) // 2))
        store(page, moments.TOUCH_HASH, _sum(f, found))
        if self._in_flight:
            _take_off(core, [(space, low, high) for (_, _, at, space), low, high in touched if at is None])

    # --- accesses -----------------------------------------------------------------------------------------------------

    def access(self, core: Core, access: OnChipAccess) -> None:
        first, end, some = 0, access.extent, None
        if access.active is not None:
            lanes = access.active()
            first, end = (lane * access.unit for lane in active_span(core.f, lanes))
            some = any_lane(lanes)
        low, high = access.address + first, access.address + end
        self._grow(core, access.verb, access.space, None, low, high, some)

    def lanes(self, core: Core, verb: str, starts: Value, active: Value, extent: int) -> None:
        low, high = least(core.f, starts, active), extent - least(core.f, -starts, active)
        some = any_lane(active)
        self._grow(core, verb, Space.UB, None, low.signed(I64), high.signed(I64), some)

    def parts(self, core: Core, verb: str, starts: Value, extent: int, units: Value) -> None:
        """The active ones of units of so many bytes at several addresses."""
        each = units.kind.lanes // starts.kind.lanes
        for number in range(starts.kind.lanes):
            part = shuffle(core.f, range(number * each, (number + 1) * each), units)
            unit = extent // each
            address = extract(starts, number)
            self.access(core, OnChipAccess(verb, Space.UB, address, extent, unit, lambda part=part: part, unit))

    def stretch(self, core: Core, verb: str, space: Space, address: Value, extent: Value, at: str | None) -> None:
        self._grow(core, verb, space, at, address, address + extent, extent > 0)

    def _grow(
        self, core: Core, verb: str, space: Space, at: str | None, low: Value, high: Value, some: Value | None = None
    ) -> None:
        if space is Space.GM and not self._in_flight:
            return
        hulls = self._hulls.get(core.f)
        if some is not None:
            none = _ENDS[space is not Space.GM]
            low, high = some.select(low, none[0]), some.select(high, none[1])
        if hulls is not None:
            lowest, highest = _of(core.f, hulls, (core.origin.number, verb, at, space))
        elif self.in_scope:
            lowest, highest = _called(core.f, verb)
        else:  # the scalar unit's own
            return
        before, after = lowest.load(I64, WORD_BYTES), highest.load(I64, WORD_BYTES)
        lowest.store((low < before).select(low, before), WORD_BYTES)
        highest.store((high > after).select(high, after), WORD_BYTES)


def _of(f: FunctionBuilder, hulls: dict[_Key, _Hull], key: _Key) -> _Hull:
    """The place of the hull of an access; of very many accesses the last ones share theirs."""
    if len(hulls) >= moments.MOST_TOUCHES - 2 * len(_CALLED):
        key = -1, *key[1:]
    if key not in hulls:
        low, high = (f.set_slot(I64, end) for end in _ENDS[key[3] is not Space.GM])
        hulls[key] = low, high
    return hulls[key]


def _take_off(core: Core, touched: Sequence[tuple[Space, Value, Value]]) -> None:
    """Notes the touches of an entry behind those in flight; its end is not known yet."""
    f, page = core.f, page_of(core.f)
    count = load(page, moments.FLYING_COUNT)
    core.fail(count > moments.MOST_FLYING, "unsupported", "too many entries are in flight")
    f.settle()
    for number, (space, low, high) in enumerate(touched):
        place = word_at(page, moments.FLYING).load(PTR, WORD_BYTES).at((count + number) * _FLYING_BYTES)
        for offset, word in enumerate((f.constant(I64, moments.MEMORIES.index(space)), low, high), 2):
            store(place, offset, word)
    store(page, moments.REACHED, f.constant(I64, len(touched)))


def _touched(f: FunctionBuilder) -> Value:
    return page_of(f).at(moments.TOUCHED * WORD_BYTES).load(PTR, WORD_BYTES)


def _called(f: FunctionBuilder, verb: str) -> _Hull:
    """The place of the hull of the accesses of called functions."""
    place = _touched(f).at(_CALLED.index(verb) * _RECORD)
    return place, place.at(WORD_BYTES)


def _calls(op: Operation) -> bool:
    return any(isinstance(inner, Call) for inner in op.walk())


def _sum(f: FunctionBuilder, words: Sequence[Value]) -> Value:
    """A number of these: each counts by its place, so that none waits for another to be multiplied."""
    total = f.constant(I64, 0)
    for number, word in enumerate(words):
        total = total + word * ((number + 1) * 0x9E3779B97F4A7C15 & (1 << 62) - 1 | 1)
    return total


def _tag(verb: str, at: str | None, space: Space) -> int:
    place = _PLACES[at] if space is Space.UB else _CUBE_PLACE
    memory = moments.MEMORIES.index(space) << moments.SPACE_SHIFT
    return (memory | 2 * place | (verb == "writes")) << moments.ROW_BITS
