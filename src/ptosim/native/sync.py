"""Synchronisation instructions. While nothing is stalled they are a few words of arithmetic on the machine's sync words
(machine/sync.py has the rules); otherwise, and whenever an operand may be illegal, the machine is called."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ptosim.effects.names import PIPES_OF, CoreKind, Pipe, Space
from ptosim.effects.record import Static
from ptosim.effects.sync import REACHES
from ptosim.language.micro import sync as op
from ptosim.language.micro import sync_fence as fence
from ptosim.language.micro import sync_semaphore as semaphore
from ptosim.language.micro import sync_token as token
from ptosim.machine.sync import (
    BUFFER_IDS,
    CLUSTER_SLOW,
    DONE,
    EVENT_IDS,
    ISSUED,
    OPEN,
    PIPES,
    SEMAPHORE_IDS,
    SLOT,
    TO_AIC,
    TO_AIV,
    Form,
    form_of,
    token_word,
)
from ptosim.machine.sync_operand_rules import FLAG_BASES
from ptosim.native.build.core import Core, FlagStep
from ptosim.native.build.issue import cluster_word, core_word, inline_or_issue, issue, nothing_stalled
from ptosim.native.build.lowering import Bind, Operands, given, lowering
from ptosim.native.build.operations import Known
from ptosim.native.ir.context import WORD_BYTES, ContextWord
from ptosim.native.ir.flow import FunctionBuilder
from ptosim.native.ir.values import I1, I64, Value

Number = int | Value
"""An id or mode: a literal or an operand."""


def _pipe(word: str) -> Pipe:
    return Pipe(word.removeprefix("PIPE_"))


def _number(f: FunctionBuilder, operand: Value | None, literal: int | None) -> Number:
    """An id or mode that is an operand or a literal; 0 where neither is written."""
    if operand is None:
        return literal or 0
    return operand.signed(I64) if operand.literal is None else operand.literal


def _known(numbers: Sequence[Number | str]) -> tuple[list[Known], list[Value]]:
    """Arguments of the machine, and those among them that are captured."""
    known: list[Known] = [None if isinstance(number, Value) else number for number in numbers]
    return known, [number for number in numbers if isinstance(number, Value)]


def _either(core: Core, inline: Value, now: Callable[[], None], method: str, *arguments: Number | str) -> None:
    """Inline where the condition holds, else by the machine."""
    known, captured = _known(arguments)
    if inline.literal == 0:
        core.issue(method, known, captured)
    else:
        may_wait = method == "semaphore_wait"
        inline_or_issue(core.f, inline, now, core.operation(method, known, captured), captured, may_wait)


def _within(f: FunctionBuilder, number: Number, limit: int) -> Value:
    """Whether an id exists."""
    if isinstance(number, Value):
        return number.compare("ult", limit)
    return f.constant(I1, int(0 <= number < limit))


def _add(word: Value, amount: int) -> None:
    word.store(word.load(I64, WORD_BYTES) + amount, WORD_BYTES)


# --- flags ------------------------------------------------------------------------------------------------------------


def _event(f: FunctionBuilder, event: str | Value) -> Number:
    if isinstance(event, str):
        return int(event.removeprefix("EVENT_ID"))
    return _number(f, event, None)


@lowering(op.SetFlag, op.SetFlagDyn, bind=given(step=+1))
@lowering(op.WaitFlag, op.WaitFlagDyn, bind=given(step=-1))
def flag(f: FunctionBuilder, core: Core, source: str, destination: str, event: str | Value, step: int) -> None:
    core.flags.append(FlagStep(core, step, (_pipe(source), _pipe(destination)), _event(f, event)))


@lowering(token.SimSetToken, bind=given(step=+1))
@lowering(token.SimWaitToken, bind=given(step=-1))
def private_token(core: Core, source: str, destination: str, number: int, step: int) -> None:
    core.flags.append(FlagStep(core, step, (_pipe(source), _pipe(destination)), number, private=True))


def lower_flags(f: FunctionBuilder, steps: list[FlagStep]) -> None:
    """Sets and waits that follow each other, in runs of which each is inline as a whole or not at all."""
    while steps:
        count = next(
            (n for n in range(1, len(steps)) if any(_may_meet(steps[n], each) for each in steps[:n])), len(steps)
        )
        _lower_run(f, steps[:count])
        del steps[:count]


def _may_meet(step: FlagStep, other: FlagStep) -> bool:
    """Whether two flags may be the same one, or not, as only the run will tell."""
    first, second = step.event, other.event
    if (step.pipes, step.private) != (other.pipes, other.private):
        return False
    if isinstance(first, int) and isinstance(second, int):
        return False
    return isinstance(first, int) or isinstance(second, int) or first.text != second.text


def _lower_run(f: FunctionBuilder, steps: Sequence[FlagStep]) -> None:
    core = steps[0].core
    places = [_place(step) for step in steps]
    operation = core.unit.run([step.operation for step in steps], len(f.loops))
    captured = [step.event for step in steps if isinstance(step.event, Value)]
    known = [(step, *place) for step, place in zip(steps, places, strict=True) if place is not None]
    if len(known) < len(steps):
        issue(f, operation, captured)
        return
    inline, counts = nothing_stalled(f), dict[str, int]()
    for step, exists, word in known:
        name = str((step.pipes, step.private)) + str(step.event if isinstance(step.event, int) else step.event.text)
        inline = inline & exists
        if step.step < 0:  # as many are there as before the run, and those that the run itself has set
            safe = word if exists.literal is not None else exists.select(word, core_word(f, 0))
            inline = inline & (safe.load(I64, WORD_BYTES) > -counts.get(name, 0))
        counts[name] = counts.get(name, 0) + step.step

    def act() -> None:
        for step, _, word in known:
            core.observer.flags.flag(step, word, _flag_number(step))
            _add(word, step.step)

    inline_or_issue(f, inline, act, operation, captured)


def _place(step: FlagStep) -> tuple[Value, Value] | None:
    """Whether a flag exists, and the address of its word; None where there is none for certain."""
    core = step.core
    base = FLAG_BASES[core.kind].get(step.pipes)
    if step.private and base is not None:
        return core.f.constant(I1, 1), core_word(core.f, _flag_number(step))
    ids = min(core.target.sync.event_ids, EVENT_IDS)
    if base is None or (isinstance(step.event, int) and not 0 <= step.event < ids):
        return None
    return _within(core.f, step.event, ids), core_word(core.f, _flag_number(step))


def _flag_number(step: FlagStep) -> Number:
    """The number of a flag or token that exists, from its sync word."""
    if step.private and isinstance(step.event, int):
        return token_word(*step.pipes, step.event)
    return step.event + FLAG_BASES[step.core.kind][step.pipes]


# --- buffers ----------------------------------------------------------------------------------------------------------


def _buffer_exists(core: Core, pipe: Pipe, buffer: Number) -> Value:
    known = pipe in PIPES_OF[core.kind]
    return _within(core.f, buffer, min(core.target.sync.buffer_ids, BUFFER_IDS) if known else 0)


def _buffer_word(core: Core, table: int, pipe: Pipe, buffer: Number) -> Value:
    return core_word(core.f, buffer * PIPES + (table + SLOT.get(pipe, 0)))


@lowering(op.GetBuf, op.GetBufDyn, bind=given(method="get_buffer"))
@lowering(op.RlsBuf, op.RlsBufDyn, bind=given(method="release_buffer"))
def buffer(
    core: Core, operands: Operands, pipe: str, id_literal: int | None, mode_literal: int | None, method: str
) -> None:
    f = core.f
    on, number, mode = _pipe(pipe), _number(f, operands.id, id_literal), _number(f, operands.mode, mode_literal)

    def now() -> None:
        if method == "get_buffer":
            core.observer.flags.got_buffer(core, on, number, mode)
            opened = mode + 1 if isinstance(mode, Value) else f.constant(I64, 1 + mode)
        else:
            core.observer.flags.released_buffer(core, on, number, mode)
            _add(_buffer_word(core, ISSUED, on, number), 1)
            _add(_buffer_word(core, DONE, on, number), 1)
            opened = f.constant(I64, 0)
        _buffer_word(core, OPEN, on, number).store(opened, WORD_BYTES)

    _either(core, _buffer_exists(core, on, number) & nothing_stalled(f), now, method, on, number, mode)


# --- barriers ---------------------------------------------------------------------------------------------------------


@lowering(op.Barrier)
def barrier(f: FunctionBuilder, core: Core, pipe: str) -> None:
    on = _pipe(pipe)
    exists = f.constant(I1, int(on is Pipe.ALL or on in PIPES_OF[core.kind]))
    _either(core, exists & nothing_stalled(f), lambda: core.observer.flags.barrier(core, on), "barrier", on)


@lowering(token.SimTSync)
def tsync(
    f: FunctionBuilder, core: Core, addresses: tuple[Value, ...], sizes: tuple[Value, ...], spaces: tuple[Space, ...]
) -> None:
    """If nothing is stalled, everything issued so far has ended."""
    ranges = list(zip(spaces, addresses, sizes, strict=True))
    _either(core, nothing_stalled(f), lambda: core.observer.awaited(core, ranges), "tsync")


@lowering(fence.FenceBarrierAll)
def barrier_all(f: FunctionBuilder, core: Core, scope: str) -> None:
    """Every pipe drains."""
    reach = REACHES[fence.FenceBarrierAll.name][scope]
    _either(core, nothing_stalled(f), lambda: core.observer.flags.barrier(core, Pipe.ALL, reach), "barrier", Pipe.ALL)
    dsb(core)


@lowering(fence.MemBar, fence.Dcci, fence.CmoCacheInvalid, semaphore.SetFfts)
def nothing() -> None:
    """Execution is in program order, memory is coherent, signals have no address."""


@lowering(fence.Dsb)
def dsb(core: Core) -> None:
    """Scalar stores take effect at once."""
    core.observer.flags.fence(core)


# --- between cores ----------------------------------------------------------------------------------------------------

_MEETINGS = (Form.VECTOR_PAIR, Form.CROSS_BLOCK)


def _counters(core: Core, sets: bool, pipe: Pipe, number: Number, form: Form) -> tuple[Value, Sequence[Number]]:
    """Whether a semaphore exists, and the numbers of the cluster's words that an instruction touches, as
    machine/semaphores.py says; none where the machine must be asked."""
    sync = core.target.sync
    direct = sync.inter_core_signal == "direct"
    elsewhere = form in _MEETINGS or form is (Form.CROSS_CORE if direct else Form.INTRA_BLOCK)
    unknown = isinstance(number, Value) and not core.is_observed
    if elsewhere or unknown or (pipe is not Pipe.ALL and pipe not in PIPES_OF[core.kind]):
        return core.f.constant(I1, 0), ()
    ids = min(sync.vector_semaphores, SEMAPHORE_IDS)
    own = TO_AIC if sets else TO_AIV
    other = TO_AIV if sets else TO_AIC
    if core.kind is CoreKind.AIV:
        subblock = core.f.word(ContextWord.SUBBLOCK).load(I64, WORD_BYTES)
        return _within(core.f, number, ids), (subblock * SEMAPHORE_IDS + (number + own),)
    if not direct:
        return _within(core.f, number, ids), (number + other, number + (other + SEMAPHORE_IDS))
    if sync.subblock_sem_offset != SEMAPHORE_IDS:
        return core.f.constant(I1, 0), ()
    return _within(core.f, number, min(sync.semaphores, 2 * SEMAPHORE_IDS)), (number + other,)


def _semaphore_words(core: Core, exists: Value, counters: Sequence[Number]) -> list[Value]:
    """The addresses of those words; of a semaphore that may not exist, of one that is never used."""
    words = [cluster_word(core.f, counter) for counter in counters]
    return words if exists.literal is not None else [exists.select(word, cluster_word(core.f, 1)) for word in words]


def _meet(core: Core, sets: bool, pipe: Pipe, number: Number) -> None:
    """By the machine; code that is sifting goes on from there."""
    core.issue("semaphore_set" if sets else "semaphore_wait", *_known((pipe, number, Form.VECTOR_PAIR)), at_once=True)
    if core.kind is CoreKind.AIV:
        observer = core.observer
        (observer.counters.set_meeting if sets else observer.counters.waited_meeting)(core, pipe, number)


def _set(core: Core, pipe: Pipe, number: Number, form: Form) -> None:
    f, (exists, counters) = core.f, _counters(core, True, pipe, number, form)
    words = _semaphore_words(core, exists, counters)
    inline = exists & nothing_stalled(f) & (cluster_word(f, CLUSTER_SLOW).load(I64, WORD_BYTES) == 0)
    for word in words:
        inline = inline & (word.load(I64, WORD_BYTES) < core.target.sync.semaphore_limit)

    def now() -> None:
        core.observer.counters.set(core, pipe, counters)
        for word in words:
            _add(word, 1)

    _either(core, inline, now, "semaphore_set", pipe, number, form)


def _wait(core: Core, pipe: Pipe, number: Number, form: Form) -> None:
    f, (exists, counters) = core.f, _counters(core, False, pipe, number, form)
    words = _semaphore_words(core, exists, counters)
    inline = exists & nothing_stalled(f)
    for word in words:
        inline = inline & (word.load(I64, WORD_BYTES) > 0)

    def now() -> None:
        core.observer.counters.heard(core, pipe, counters)
        for word in words:
            _add(word, -1)

    _either(core, inline, now, "semaphore_wait", pipe, number, form)
    if exists.literal != 0:
        core.observer.counters.waited(core, pipe, counters)


def _signal(sets: bool, form: Form | None = None) -> Bind:
    """The effect of an instruction on semaphores of a form, given by the mode if it has one. Without a pipe (an i64 in
    its place) the whole core signals or waits, as it does where the scalar unit waits.
    """

    def facts(static: Static) -> dict[str, Any]:
        form_, pipe = form or form_of(static.integers.get("ffts_mode")), static.words.get("pipe")
        return {"sets": sets, "form": form_, "pipe": Pipe.ALL if pipe in (None, semaphore.SCALAR_UNIT) else _pipe(pipe)}

    return facts


@lowering(semaphore.SyncSet, bind=_signal(True))
@lowering(semaphore.SyncWait, bind=_signal(False))
@lowering(semaphore.SetIntraBlock, bind=_signal(True, Form.INTRA_BLOCK))
@lowering(semaphore.WaitIntraBlock, bind=_signal(False, Form.INTRA_BLOCK))
@lowering(semaphore.SetCrossCore, bind=_signal(True, Form.CROSS_CORE))
@lowering(semaphore.WaitFlagDev, bind=given(sets=False, form=Form.CROSS_CORE, pipe=Pipe.ALL))
@lowering(semaphore.SetCrossBlock, bind=_signal(True, Form.CROSS_BLOCK))
@lowering(semaphore.WaitCrossBlock, bind=_signal(False, Form.CROSS_BLOCK))
def signal(
    f: FunctionBuilder, core: Core, id: Value | None, id_literal: int | None, pipe: Pipe, form: Form, sets: bool
) -> None:
    number = _number(f, id, id_literal)
    if form is Form.VECTOR_PAIR:
        _meet(core, sets, pipe, number)
    else:
        (_set if sets else _wait)(core, pipe, number, form)


@lowering(semaphore.SyncAll)
def syncall(core: Core, core_type: str) -> None:
    words = [word for word in CoreKind if core_type.lower().startswith(word)] or list(CoreKind)
    core.issue("syncall", [" ".join(words)])
