"""Entries handed by compiled scalar code to their pipe: at once where nothing is stalled, else through the scheduler.

An entry is a function, named after its operation, that takes what it captures from an array of words. Which
instructions are entries, and what the sync instructions do to the sync words, is said in the rooms.

Code that is sifting (Module) has no queues: what cannot happen at once is a failure, but for waits for other cores.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ptosim.effects.sync import GRANULE, UnitFlagUse
from ptosim.machine.sync import SLOW, UNIT_FLAGS, UNITS
from ptosim.native.build.operations import Known, entry_symbol
from ptosim.native.ir.context import WORD_BYTES, ContextWord, Status
from ptosim.native.ir.flow import FunctionBuilder
from ptosim.native.ir.module import ObjectModule
from ptosim.native.ir.values import I1, I32, I64, PTR, Type, Value


def begin_entry(
    module: ObjectModule, operation: int, loops: int, captured: Sequence[Type]
) -> tuple[FunctionBuilder, list[Value]]:
    """A function for the entry of an operation that stands in so many loops, and what it captures. Fill and finish it.

    It takes the loop indices and the captured values from words in memory.
    """
    function = module.function(entry_symbol(operation), [PTR], linkage="internal")
    (words,) = function.parameters
    kinds = [I64] * loops + list(captured)
    values = [from_word(words.at(number * WORD_BYTES).load(I64, WORD_BYTES), kind) for number, kind in enumerate(kinds)]
    function.loops = values[:loops]
    return function, values[loops:]


@dataclass(frozen=True, eq=False)
class TileFlag:
    """The unit flag of a tile, for which an entry may have to wait."""

    f: FunctionBuilder
    use: UnitFlagUse
    tile: Value
    """The address of the tile, which a use does not have where only the run knows it."""

    @property
    def word(self) -> Value:
        granule = self.tile.lshr(GRANULE.bit_length() - 1) & (UNIT_FLAGS - 1)
        return core_word(self.f, granule + UNITS)

    def is_ready(self) -> Value:
        return self.word.load(I64, WORD_BYTES) == self.use.wanted

    def leave(self) -> None:
        """The entry has ended."""
        if self.use.left is not None:
            self.word.store(self.f.constant(I64, self.use.left), WORD_BYTES)

    def arguments(self, words: Sequence[Value]) -> Sequence[Known]:
        """The use as arguments of an operation that captures these words."""
        if self.tile.literal is not None:
            return self.use.word, self.use.address, 0
        return self.use.word, None, next(place for place, word in enumerate(words) if word is self.tile)


def run_entry(
    function: FunctionBuilder,
    operation: int,
    captured: Sequence[Value],
    after: Callable[[Value], Value | None] | None = None,
    tile: TileFlag | None = None,
) -> None:
    """Call the entry if nothing on this core is stalled, otherwise issue it. `after` adds code for what was called, of
    its words, and may give a status of its own. `tile`: the unit flag by which it may have to wait."""
    words = _words(function, captured)

    def now() -> Sequence[Value]:
        status = function.status_of(f"@{entry_symbol(operation)}", function.context, words)
        if after is None and tile is None:
            return [status]
        function.leave_with(status)
        if tile is not None:
            tile.leave()
        told = None if after is None else after(words)
        return [status if told is None else told]

    ready = nothing_stalled(function)
    if tile is not None:
        ready = ready & tile.is_ready()
    if function.module.sifting:
        function.settle()
        if tile is not None:
            function.leave_with(ready.select(function.constant(I32, Status.DONE), Status.FAILED))
        function.leave_with(*now())
        return
    either(function, ready, now, lambda: [_issued(function, operation, words)])


def call_entry(function: FunctionBuilder, runner: FunctionBuilder, operation: int, captured: Sequence[Value]) -> None:
    """The same through a function (`fill_runner`), where there are so many entries that the code would be long."""
    entry = Value(function, PTR, f"@{entry_symbol(operation)}")
    function.call(runner, entry, function.constant(I64, operation), _words(function, captured))


RUNNER = (PTR, I64, PTR)
"""The arguments of the function: an entry, its operation, and its words."""


def fill_runner(function: FunctionBuilder) -> None:
    entry, operation, words = function.parameters
    now = lambda: [function.status_of(entry.text, function.context, words)]  # noqa: E731
    later = lambda: [function.status_of(function.base(ContextWord.ISSUE).text, operation, words)]  # noqa: E731
    either(function, nothing_stalled(function), now, later)


def issue(function: FunctionBuilder, operation: int, captured: Sequence[Value] = (), sifts: bool = False) -> None:
    """Hand an operation to the scheduler, with the loop indices and the captured values as words. `sifts`: even in code
    that is sifting, because another core may have to wait for it, or it for another core, or for ever."""
    function.settle()
    if function.module.sifting and not sifts:
        function.leave_with(function.constant(I32, Status.FAILED))
    else:
        function.leave_with(_issued(function, operation, _words(function, captured)))


def inline_or_issue(
    function: FunctionBuilder,
    inline: Value,
    act: Callable[[], None],
    operation: int,
    captured: Sequence[Value],
    may_wait: bool = False,
) -> None:
    """Do something where the condition holds, otherwise issue an operation. `may_wait`: for another core."""
    if function.module.sifting and not may_wait:
        function.settle()
        function.leave_with(inline.select(function.constant(I32, Status.DONE), Status.FAILED))
        act()
        return
    function.settle()
    later = lambda: function.leave_with(_issued(function, operation, _words(function, captured)))  # noqa: E731
    function.either(inline, act, later)


def either(
    function: FunctionBuilder,
    condition: Value,
    now: Callable[[], Sequence[Value]],
    later: Callable[[], Sequence[Value]],
) -> None:
    """One of two ways to a status; go on where it is DONE."""
    function.settle()
    (status,) = function.choose(condition, now, later)
    function.leave_with(status)


def _words(function: FunctionBuilder, captured: Sequence[Value]) -> Value:
    """The loop indices and the captured values in memory."""
    words = [*(index.signed(I64) for index in function.loops), *(to_word(value) for value in captured)]
    room = function.scratch(max(1, len(words)) * WORD_BYTES)
    for number, word in enumerate(words):
        room.at(number * WORD_BYTES).store(word, WORD_BYTES)
    return room


def _issued(function: FunctionBuilder, operation: int, words: Value) -> Value:
    return function.status_of(function.base(ContextWord.ISSUE).text, function.constant(I64, operation), words)


def nothing_stalled(function: FunctionBuilder) -> Value:
    """Whether sync words may be changed inline; to be asked again after every call of the scheduler."""
    if function.module.sifting:
        return function.constant(I1, 1)
    return core_word(function, SLOW).load(I64, WORD_BYTES) == 0


def core_word(function: FunctionBuilder, number: "int | Value") -> Value:
    """The address of a sync word of this core."""
    return function.base(ContextWord.CORE_SYNC).at(number * WORD_BYTES)


def cluster_word(function: FunctionBuilder, number: "int | Value") -> Value:
    """The address of a sync word of this core's cluster."""
    return function.base(ContextWord.CLUSTER_SYNC).at(number * WORD_BYTES)


def to_word(value: Value) -> Value:
    """A scalar's bits as a word."""
    if value.kind.is_float:
        value = value.bitcast(Type(f"i{value.kind.bits}"))
    return value.zext(I64)


def from_word(word: Value, kind: Type) -> Value:
    """The scalar of that type whose bits are in the word."""
    if kind.is_float:
        return word.trunc(Type(f"i{kind.bits}")).bitcast(kind)
    return word.trunc(kind) if kind != I1 else (word & 1) != 0
