"""How compiled scalar code hands an entry to its pipe: at once where nothing is stalled, else through the scheduler.

An entry is a function of what it captures. It is called directly in the common case; for the other one a second
function, named after the operation, takes the captured values from an array of words. Which instructions are entries,
and what the sync instructions do to the sync words, is said in the rooms.
"""

from collections.abc import Sequence

from ptosim.machine.sync import SLOW
from ptosim.native.context import WORD_BYTES, Word
from ptosim.native.flow import Function, Linkage, Module
from ptosim.native.ir import I1, I64, PTR, Type, Value
from ptosim.native.operations import entry_symbol


def begin_entry(
    module: Module, operation: int, loops: int, captured: Sequence[Type], linkage: Linkage = "internal"
) -> Function:
    """A function for the entry of an operation that stands in so many loops; its parameters are their indices, then
    what it captures. Fill it, finish it, and `export_entry` it if the operation can ever be queued."""
    function = module.function(f"body{operation}", [I64] * loops + list(captured), linkage=linkage)
    function.loops = function.parameters[:loops]
    return function


def export_entry(module: Module, operation: int, body: Function) -> None:
    """The form of an entry that takes its parameters from words in memory."""
    function = module.function(entry_symbol(operation), [PTR])
    (words,) = function.parameters
    loaded = [words.at(number * WORD_BYTES).load(I64, WORD_BYTES) for number in range(len(body.parameters))]
    function.call(body, *(from_word(word, like.kind) for word, like in zip(loaded, body.parameters, strict=True)))
    function.finish()


def run_entry(function: Function, operation: int, body: Function, captured: Sequence[Value]) -> None:
    """Call the entry if nothing on this core is stalled, otherwise issue it."""

    def now() -> Sequence[Value]:
        function.call(body, *_indices(function), *captured)
        return ()

    def later() -> Sequence[Value]:
        issue(function, operation, captured)
        return ()

    function.choose(nothing_stalled(function), now, later)


def issue(function: Function, operation: int, captured: Sequence[Value] = ()) -> None:
    """Hand an operation to the scheduler, with the loop indices and the captured values as words."""
    words = [*_indices(function), *(to_word(value) for value in captured)]
    room = function.scratch(max(1, len(words)) * WORD_BYTES)
    for number, word in enumerate(words):
        room.at(number * WORD_BYTES).store(word, WORD_BYTES)
    address = function.word(Word.ISSUE).load(PTR, WORD_BYTES)
    function.call_address(address, function.constant(I64, operation), room)


def nothing_stalled(function: Function) -> Value:
    """Whether sync words may be changed inline; to be asked again after every call of the scheduler."""
    return core_word(function, SLOW).load(I64, WORD_BYTES) == 0


def core_word(function: Function, number: "int | Value") -> Value:
    """The address of a sync word of this core."""
    return function.word(Word.CORE_SYNC).load(PTR, WORD_BYTES).at(number * WORD_BYTES)


def cluster_word(function: Function, number: "int | Value") -> Value:
    """The address of a sync word of this core's cluster."""
    return function.word(Word.CLUSTER_SYNC).load(PTR, WORD_BYTES).at(number * WORD_BYTES)


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


def _indices(function: Function) -> list[Value]:
    return [index.signed(I64) for index in function.loops]
