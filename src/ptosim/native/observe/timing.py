"""The observer of a profile: compiled code counts what its scalar unit does, notes the path of every vector scope, and
calls the routines that time what happens (observe/timekeeping.py).

What a price depends on is handed to them as a number: of a scope its path, which code notes as it goes; of a copy or a
product those of its operands that are no pointers. A run that meets what has no native counterpart ends, and the kernel
goes to the reference engine.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, dataclass
from typing import TYPE_CHECKING, Any

from xdsl.ir import Operation

from ptosim.effects.catalogue import effects
from ptosim.effects.names import Pipe, Space
from ptosim.effects.sync import ALL_WRITES, FenceReach
from ptosim.language.micro.sim import SimInstructions
from ptosim.language.micro.sim_table import SimGather, SimScatter
from ptosim.language.operation import is_scope
from ptosim.language.rules.operand_rules import constant_of
from ptosim.language.structure.control import steps
from ptosim.language.structure.function import Call
from ptosim.language.types import PtrType
from ptosim.machine import moments
from ptosim.machine.sync import DONE, PIPES, SLOT
from ptosim.native.build.global_memory import may_access
from ptosim.native.build.issue import to_word
from ptosim.native.ir.context import WORD_BYTES
from ptosim.native.ir.values import I64, PTR, Value
from ptosim.native.observe import timekeeping
from ptosim.native.observe.hooks import CodeObserver, CounterHooks, FlagHooks, Number, OnChipAccess, Range
from ptosim.native.observe.pages import page_of
from ptosim.native.observe.touches import TouchRecorder

if TYPE_CHECKING:
    from ptosim.native.build.core import Core, FlagStep
    from ptosim.native.build.program import FunctionBody
    from ptosim.native.build.sharing import SharedEntry
    from ptosim.native.ir.flow import FunctionBuilder

_TWICE = "sets a flag that is still set"
_STRAY = "a pointer has left the argument that it comes from"
_LONG = "a vector scope takes a path of more than {} steps"


@dataclass(frozen=True)
class TimedWork:
    """The facts that the run time needs to price an entry."""

    operation: int
    """Its number in the program that runs."""
    pipe: int
    """The slot of its pipe."""
    loops: int
    """Words before those that it captures."""
    constants: Sequence[int | None]
    """The constants among the captured values, None for words."""
    registers: Sequence[str]
    """Registers captured behind them."""
    remembered: int
    """The number of words that the log keeps of each execution."""


class Timing(CodeObserver):
    """Adds what a profile needs."""

    purpose = "profile"
    state_bytes = moments.PAGE_WORDS * WORD_BYTES

    def __init__(self, alone: bool, waits_for_bytes: bool) -> None:
        self.alone = alone
        self.flags, self.counters = TimedFlags(), TimedCounters()
        self._waits_for_bytes = waits_for_bytes
        self.works: list[TimedWork] = []
        self._uncounted = 0
        self._touches = TouchRecorder(waits_for_bytes)
        self._paths: dict[FunctionBuilder, tuple[Value, Value]] = {}
        """The path so far of a scope that calls no function: length and hash, which stay in registers."""
        self._rows: dict[FunctionBuilder, Value] = {}
        """The number of rows of a table that the indices of a gather or scatter have named, which is its path."""

    def facts(self) -> dict[str, Any]:
        return {"works": list(map(astuple, self.works))}

    def program_begins(self, core: Core) -> None:
        timekeeping.call(core.f, timekeeping.Routine.BEGIN)

    def program_ends(self, core: Core) -> None:
        """The end of all entries, of which some may be queued still where cores meet: the machine says it."""
        if self.alone:
            timekeeping.call(core.f, timekeeping.Routine.END)

    # --- the scalar unit ----------------------------------------------------------------------------------------------

    def operation_begins(self, body: FunctionBody, op: Operation) -> None:
        """Count what the scalar unit does by itself; the count is up to date wherever something is issued."""
        if body.in_scope or op.name == "arith.constant":
            return
        record = effects().get(op.name)
        self._uncounted += steps(op)
        if record is not None and record.timing == "scalar":
            self._uncounted += 1
        elif self._uncounted:
            timekeeping.count(body.f, self._uncounted)
            self._uncounted = 0

    # --- the path of a scope ------------------------------------------------------------------------------------------

    def loop(self, body: FunctionBody, op: Operation, lower: Value, upper: Value, step: Value) -> None:
        if body.in_scope and any(constant_of(value) is None for value in op.operands[:3]):
            trips = (lower < upper) * ((upper - lower - 1).udiv(step).zext(I64) + 1)
            self._note(body.core(op), trips)

    def branch(self, body: FunctionBody, op: Operation, condition: Value) -> None:
        if body.in_scope:
            self._note(body.core(op), condition.zext(I64))

    def rounds_begin(self, body: FunctionBody, op: Operation) -> Value | None:
        """The count of a while, known at its end, stands where it begins."""
        if not body.in_scope:
            return None
        f, kept = body.f, body.f.slot(I64, 2)
        kept.store(self._place(body.core(op)), WORD_BYTES)
        kept.at(WORD_BYTES).store(f.constant(I64, 0), WORD_BYTES)
        return kept

    def round(self, body: FunctionBody, kept: Value | None) -> None:
        if kept is not None:
            turns = kept.at(WORD_BYTES)
            turns.store(turns.load(I64, WORD_BYTES) + 1, WORD_BYTES)

    def rounds_end(self, body: FunctionBody, kept: Value | None) -> None:
        if kept is not None:
            turns = kept.at(WORD_BYTES).load(I64, WORD_BYTES)
            kept.load(PTR, WORD_BYTES).store(turns, WORD_BYTES)
            self._mix(body.f, turns)

    def _note(self, core: Core, item: Value) -> None:
        self._place(core).store(item, WORD_BYTES)
        self._mix(core.f, item)

    def _mix(self, f: FunctionBuilder, item: Value) -> None:
        _, hash = self._paths.get(f) or _of_path(f)
        hash.store(_mixed(hash.load(I64, WORD_BYTES), item), WORD_BYTES)

    def _place(self, core: Core) -> Value:
        """The place of the next item of the path."""
        length, _ = self._paths.get(core.f) or _of_path(core.f)
        number = length.load(I64, WORD_BYTES)
        core.fail(number >= moments.PATH_ITEMS, "unsupported", _LONG.format(moments.PATH_ITEMS))
        length.store(number + 1, WORD_BYTES)
        items = page_of(core.f).at(moments.PATH * WORD_BYTES).load(PTR, WORD_BYTES)
        return items.at((number & (moments.PATH_ITEMS - 1)) * WORD_BYTES)

    # --- what entries touch -------------------------------------------------------------------------------------------

    def entry_begins(self, core: Core, op: Operation) -> None:
        self._touches.begin(core, op)
        if isinstance(op, SimGather | SimScatter):
            self._rows[core.f] = core.f.set_slot(I64, 0)
        if is_scope(op) and not any(isinstance(inner, Call) for inner in op.walk()):
            self._paths[core.f] = core.f.set_slot(I64, 0), core.f.set_slot(I64, 0)

    def entry_ends(self, core: Core, op: Operation) -> None:
        self._touches.end(core, op)
        if (rows := self._rows.pop(core.f, None)) is not None:
            self._note(core, rows.load(I64, WORD_BYTES))
        if (kept := self._paths.pop(core.f, None)) is not None:
            for place, slot in zip(_of_path(core.f), kept, strict=True):
                place.store(slot.load(I64, WORD_BYTES), WORD_BYTES)

    def chosen(self, core: Core, number: Value, apart: bool) -> None:
        rows = self._rows[core.f]
        rows.store(rows.load(I64, WORD_BYTES) + 1, WORD_BYTES)

    def merged(self, core: Core, records: Value) -> None:
        """Their number is the path of a merge."""
        self._note(core, records)

    def instruction_begins(self, body: FunctionBody, op: Operation) -> None:
        self._touches.in_scope = body.in_scope
        if isinstance(op, SimInstructions):
            for value in op.operands:
                word = body[value]
                if constant_of(value) is None and isinstance(word, Value):
                    self._note(body.core(op), to_word(word))

    def accessed(self, core: Core, access: OnChipAccess) -> None:
        self._touches.access(core, access)

    def scattered(self, core: Core, verb: str, starts: Value, active: Value, extent: int, units: Value | None) -> None:
        if units is None:
            self._touches.lanes(core, verb, starts, active, extent)
        else:
            self._touches.parts(core, verb, starts, extent, units)

    def stretched(
        self, core: Core, verb: str, space: Space, address: Value, extent: Value, at: str | None = None
    ) -> None:
        """Buffers that are only read are the caller's, and those only written hold nothing: that must stay so."""
        if space is Space.GM:
            core.fail(may_access(core.f, verb, address) ^ True, "unsupported", _STRAY)
        self._touches.stretch(core, verb, space, address, extent, at)

    # --- entries ------------------------------------------------------------------------------------------------------

    def entry_called(self, core: Core, entry: SharedEntry, words: Value) -> Value | None:
        f = core.f
        timed = self._timed(core, entry)
        head = moments.head(timed.operation, timed.pipe)
        behind = words.at(timed.loops * WORD_BYTES)
        numbers = [f.constant(I64, head), _key(f, entry), f.constant(I64, len(self.works) - 1)]
        status = timekeeping.called(f, timekeeping.Routine.WORK, *numbers, behind, f.constant(I64, timed.remembered))
        if not self._waits_for_bytes:
            return status
        f.leave_with(status)
        return timekeeping.called(f, timekeeping.Routine.FLY, f.constant(I64, head))

    def _timed(self, core: Core, entry: SharedEntry) -> TimedWork:
        constants = tuple(value.literal for value in entry.outside)
        dynamic = constants.count(None) + len(entry.registers)
        timed = TimedWork(
            core.origin.number,
            SLOT[core.origin.pipe],
            entry.loops,
            constants,
            tuple(register.name for register in entry.registers),
            0 if is_scope(entry.op) else dynamic,
        )
        self.works.append(timed)
        return timed

    def awaited(self, core: Core, ranges: Sequence[Range]) -> None:
        for space, start, size in ranges:
            timekeeping.call(
                core.f, timekeeping.Routine.SEEK, core.f.constant(I64, moments.MEMORIES.index(space)), start, size
            )
        _event(core, timekeeping.Routine.DRAIN, Pipe.ALL, 1)


class TimedFlags(FlagHooks):
    """Flags, buffers, barriers and fences in a profile."""

    def flag(self, step: FlagStep, word: Value, number: Number) -> None:
        core, (source, destination) = step.core, step.pipes
        if step.step > 0:
            core.fail(word.load(I64, WORD_BYTES) != 0, "unsupported", _TWICE)
            timekeeping.set_signal(core.f, _head(core, source), core.f.as_i64(number))
        else:
            timekeeping.wait_for_signal(core.f, _head(core, destination), core.f.as_i64(number))

    def got_buffer(self, core: Core, pipe: Pipe, buffer: Number, mode: Number) -> None:
        _event(core, timekeeping.Routine.GET, pipe, buffer, mode)

    def released_buffer(self, core: Core, pipe: Pipe, buffer: Number, mode: Number) -> None:
        if isinstance(mode, int) and mode == 0:
            timekeeping.set_signal(core.f, _head(core, pipe), core.f.as_i64(buffer * PIPES + (DONE + SLOT[pipe])))
        else:
            _event(core, timekeeping.Routine.RELEASE, pipe, buffer, mode)

    def barrier(self, core: Core, pipe: Pipe, reach: FenceReach = ALL_WRITES) -> None:
        if pipe is Pipe.S:
            timekeeping.call(core.f, timekeeping.Routine.FENCE)
        else:
            _event(core, timekeeping.Routine.DRAIN if pipe is Pipe.ALL else timekeeping.Routine.BARRIER, pipe, 0)

    def fence(self, core: Core) -> None:
        timekeeping.call(core.f, timekeeping.Routine.FENCE)


class TimedCounters(CounterHooks):
    """Signals between cores in a profile."""

    def set(self, core: Core, pipe: Pipe, counters: Sequence[Number]) -> None:
        joint = int(pipe is Pipe.ALL)
        _event(core, timekeeping.Routine.SIGNAL, pipe, *_two(counters), joint)

    def heard(self, core: Core, pipe: Pipe, counters: Sequence[Number]) -> None:
        whole_core = core.target.sync.inter_core_wait == "core"
        _event(core, timekeeping.Routine.HEAR, Pipe.S if whole_core else pipe, *_two(counters))


def _event(core: Core, routine: timekeeping.Routine, pipe: Pipe, *numbers: Number) -> None:
    f = core.f
    timekeeping.call(f, routine, *(f.as_i64(number) for number in (_head(core, pipe), *numbers)))


def _two(counters: Sequence[Number]) -> tuple[Number, Number]:
    first, *others = counters
    return first, others[0] if others else timekeeping.NO_COUNTER


def _head(core: Core, pipe: Pipe) -> int:
    return moments.head(core.origin.number, SLOT.get(pipe, moments.S))


def _key(f: FunctionBuilder, entry: SharedEntry) -> Value:
    """The parts of an entry's price apart from its path: operands that are no pointers, and registers."""
    key = f.constant(I64, 0)
    if is_scope(entry.op):
        return key
    for value, outside in zip(entry.captured, entry.outside, strict=True):
        if outside.literal is None and not isinstance(value.type, PtrType):
            key = _mixed(key, to_word(outside))
    return key


def _mixed(hash: Value, item: Value) -> Value:
    mixed = (hash ^ (item + 0x2545F4914F6CDD1D)) * 0x9E3779B97F4A7C15
    return mixed ^ mixed.lshr(32)


def _of_path(f: FunctionBuilder) -> tuple[Value, Value]:
    """The places of the length of a path and of its hash."""
    page = page_of(f)
    return page.at(moments.PATH_LENGTH * WORD_BYTES), page.at(moments.PATH_HASH * WORD_BYTES)
