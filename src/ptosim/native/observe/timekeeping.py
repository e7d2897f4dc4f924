"""Times of a run of compiled code: the functions that it calls when something of a pipe has happened, and the rows that
they write into the log. Code that all kernels share (native/build/resident.py); the rules are machine/moments.py.

Each takes the context and says whether the run may go on. A price that is not in the table, and room that has run out,
are asked for (observe/stopwatch.py).
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence

from ptosim.machine import moments
from ptosim.machine.moments import EndRecord, LatencyWord, LogPart, Moment
from ptosim.machine.sync import CLUSTER_WORDS, DONE, OPEN, PIPES, TO_AIV, buffer_word
from ptosim.native.ir.context import WORD_BYTES, ContextWord, Status
from ptosim.native.ir.flow import FunctionBuilder
from ptosim.native.ir.module import ObjectModule
from ptosim.native.ir.values import I32, I64, PTR, Value
from ptosim.native.observe.in_flight import fly, nothing, seek
from ptosim.native.observe.pages import PageInCode, free, keep, load, log_of, page_of, store, token_of, word_at
from ptosim.native.observe.routines import SYMBOLS, Routine

AHEAD = 512
"""Bytes of the log that are asked for before they are written: kernels that stream leave nothing of it in the cache."""


def call(f: FunctionBuilder, routine: Routine, *arguments: Value) -> None:
    """Call a routine; go on where it says so."""
    f.settle()
    f.leave_with(called(f, routine, *arguments))


def called(f: FunctionBuilder, routine: Routine, *arguments: Value) -> Value:
    """Call a routine; its status."""
    address = f.once(
        ("routine", routine), lambda: word_at(page_of(f), moments.ROUTINES + routine).load(PTR, WORD_BYTES)
    )
    return f.status_of(address.text, f.context, *arguments)


def count(f: FunctionBuilder, operations: int) -> None:
    """The scalar unit has done so much by itself."""
    _issued(page_of(f), operations)


# --- the log ----------------------------------------------------------------------------------------------------------


def _when(f: FunctionBuilder, condition: Value, act: Callable[[], None]) -> None:
    f.settle()
    f.either(condition, act)


def _written(f: FunctionBuilder, page: Value, part: LogPart, words: Sequence[Value]) -> Value:
    """Write a record into a part of the log; its number."""
    number, place = _new(f, page, part, 1)
    for offset, word in enumerate(words):
        store(place, offset, word)
    return number


def _new(f: FunctionBuilder, page: Value, part: LogPart, count: Value | int) -> tuple[Value, Value]:
    """The number and the place of so many new records of a part."""
    log, words = log_of(f, page), 3 * part

    def ask() -> None:
        address = word_at(page, moments.ROUTINES + Routine.ROOM).load(PTR, WORD_BYTES)
        f.leave_with(f.emit(I32, f"call i32 {address.text}({log}, i64 {int(part)})"))

    _when(f, load(log, words + moments.NEXT) + count > load(log, words + moments.END), ask)
    number = load(log, words + moments.NEXT)
    store(log, words + moments.NEXT, number + count)
    place = word_at(log, words + moments.BASE).load(PTR, WORD_BYTES).at(number * (moments.WIDTHS[part] * WORD_BYTES))
    place.at(AHEAD).prefetch(first=True, write=True)
    return number, place


def _named(page: Value, head: Value) -> Value:
    """A head that names the core as well."""
    return head | (load(page, moments.PLACE) << moments.CORE_SHIFT)


def _row(
    f: FunctionBuilder, page: Value, head: Value, detail: Value, span: tuple[Value, Value], before: Value
) -> Value:
    """Write a row; its number."""
    first = _named(page, head) | (detail << moments.DETAIL_SHIFT)
    return _written(f, page, LogPart.ROWS, (first, before, *span))


def _signal(f: FunctionBuilder, page: Value, token: Value, word: Value, head: Value, over: Value) -> None:
    """Write a signal: the time of its set, when the wait for it was over, both heads, the word, and the next row."""
    row = load(log_of(f, page), 3 * LogPart.ROWS + moments.NEXT) << moments.DETAIL_SHIFT
    waiting = _named(page, head) | (word << moments.DETAIL_SHIFT)
    _written(f, page, LogPart.SIGNALS, (load(token, 0), over, load(token, 2) | row, waiting))


def _pipe(head: Value) -> Value:
    return head.lshr(moments.PIPE_SHIFT) & (2 * PIPES - 1)


def _issued(page: Value, operations: int = 1) -> Moment:
    """The scalar unit has issued one thing more, or done so much by itself."""
    moment = moments.counted(free(page, moments.S), operations, load(page, LatencyWord.SCALAR))
    store(page, moments.FREE + 2 * moments.S, moment[0])
    return moment


def _given(page: Value, pipe: int | Value) -> Moment:
    """The scalar unit has issued one thing more, to a pipe."""
    issued = _issued(page)
    store(page.at((pipe << 1) * WORD_BYTES), moments.TOLD, issued[0].like(0))
    return issued


def _reached(page: Value, pipe: int | Value) -> tuple[Moment, Value]:
    """The same; when the pipe gets to it, and whether the pipe was late."""
    before, issued = free(page, pipe), _given(page, pipe)
    return moments.ready(before, issued)


# --- events -----------------------------------------------------------------------------------------------------------


def _work(f: FunctionBuilder, head: Value, key: Value, entry: Value, words: Value, number: Value) -> None:
    """An entry has been executed; so many of its words are operands to remember."""
    page, pipe = page_of(f), _pipe(head)
    price = _price(f, page, entry, key, words)
    cycles, detail = load(price, 1), load(price, 2)

    def row(start: Value, end: Value, before: Value, by_pipe: Value) -> Value:
        link = by_pipe.select(start.like(LINK_PIPE), LINK_ISSUE) << moments.LINK_SHIFT
        return _row(f, page, head | link, detail, (start, end), before)

    moments.work(PageInCode(page), pipe, _given(page, pipe), cycles, row)
    _when(f, number > 0, lambda: _remember(f, page, words, number))


LINK_PIPE, LINK_ISSUE, LINK_SIGNAL, LINK_DRAIN = range(4)
"""The numbers of `timing.recording.Link`."""


def _remember(f: FunctionBuilder, page: Value, words: Value, number: Value) -> None:
    """Keep so many operands."""
    _, place = _new(f, page, LogPart.POOL, number)
    with f.each(number) as index:  # a few: not worth a call
        store(place, index, load(words, index))


def _price(f: FunctionBuilder, page: Value, work: Value, key: Value, words: Value) -> Value:
    """The address of a price, found by what it depends on, the path of the entry included, and by what it touches."""
    log = log_of(f, page)
    apart = load(word_at(log, moments.APART).load(PTR, WORD_BYTES), work)
    touched = load(page, moments.TOUCH_HASH) & apart
    full = price_key(key + load(page, moments.PATH_HASH) + touched, work)
    table, mask = word_at(log, moments.PRICES).load(PTR, WORD_BYTES), load(log, moments.PRICES_MASK)

    def slot(number: Value) -> Value:
        return table.at((number & mask) * (moments.PRICE_WORDS * WORD_BYTES))

    def differs(carried: list[Value]) -> tuple[Value, Sequence[Value]]:
        found = load(slot(carried[0]), 0)
        return (found != full) & (found != 0), carried

    first = slot(full)

    def search() -> Sequence[Value]:
        (place,) = f.while_loop((full + 1,), differs, lambda carried: [carried[0] + 1])
        found = slot(place)
        return f.choose(load(found, 0) == full, lambda: [found], lambda: [_asked(f, page, work, full, words)])

    (price,) = f.choose(load(first, 0) == full, lambda: [first], search)
    store(page, moments.PATH_HASH, full.like(0))
    store(page, moments.PATH_LENGTH, full.like(0))
    return price


def price_key(key: Value, work: Value) -> Value:
    """The key of a price; never 0. The run time only compares it."""
    mixed = (key + work * 0x9E3779B97F4A7C15) * 0xBF58476D1CE4E5B9
    return (mixed ^ mixed.lshr(29)) | 1


def _asked(f: FunctionBuilder, page: Value, work: Value, full: Value, words: Value) -> Value:
    address = word_at(page, moments.ROUTINES + Routine.PRICE).load(PTR, WORD_BYTES)
    price = f.emit(I64, f"call i64 {address.text}({page}, {work}, {full}, {words})")
    f.leave_with((price == 0).select(f.constant(I32, Status.STOPPED), Status.DONE))
    return f.emit(PTR, f"inttoptr {price} to ptr")


def set_signal(f: FunctionBuilder, head: int, word: Value) -> None:
    """In place: a set or release keeps what it tells for the wait."""
    moment, _ = _reached(page_of(f), _slot(head))
    _tell(f, f.constant(I64, head), _slot(head), word, moment)


def _tell(f: FunctionBuilder, head: Value, pipe: int | Value, word: Value, moment: Moment) -> None:
    page = page_of(f)
    keep(page, pipe, moment, moments.TOLD)
    token = token_of(page, word)
    for number, content in enumerate((*moment, _named(page, head))):
        store(token, number, content)


def wait_for_signal(f: FunctionBuilder, head: int, word: Value) -> None:
    """In place: a wait for a flag of this core, which has been set."""
    page = page_of(f)
    (since, _), _ = _reached(page, _slot(head))
    token = token_of(page, word)
    held = moments.is_held(since, moments.seen((load(token, 0), load(token, 1)), load(page, LatencyWord.FLAG)))
    arguments = f.constant(I64, head), word, since
    f.settle()
    (status,) = f.choose(
        held, lambda: [called(f, Routine.HELD, *arguments)], lambda: [called(f, Routine.PASSED, *arguments)]
    )
    f.leave_with(status)


def _slot(head: int) -> int:
    return head >> moments.PIPE_SHIFT


def _held(f: FunctionBuilder, head: Value, word: Value, since: Value) -> None:
    """A wait that was reached before it was satisfied."""
    page = page_of(f)
    token = token_of(page, word)
    arrival = moments.seen((load(token, 0), load(token, 1)), load(page, LatencyWord.FLAG))
    _hold(f, page, head, since, arrival, (load(token, 2), word))


def _passed(f: FunctionBuilder, head: Value, word: Value, since: Value) -> None:
    """A wait that had nothing to wait for."""
    page = page_of(f)
    _signal(f, page, token_of(page, word), word, head, since)


def _hold(
    f: FunctionBuilder, page: Value, head: Value, since: Value, until: Moment, cause: tuple[Value, Value]
) -> None:
    """A pipe stands still until it sees a signal. The cause is who set it, and the word that was set."""

    def row(since: Value, until: Moment) -> Value:
        setter, kind = cause[0] & moments.SITE_MASK, head | (moments.WAIT_BIT | LINK_SIGNAL << moments.LINK_SHIFT)
        before = until[1] & moments.ROW_MASK | setter << moments.ROW_BITS
        return _row(f, page, kind, cause[1], (since, until[0]), before)

    keep(page, _pipe(head), moments.held(PageInCode(page), _pipe(head), since, until, row))


def _get(f: FunctionBuilder, head: Value, buffer: Value, mode: Value) -> None:
    """A get waits, in mode 0, for the latest release of the buffer on each other pipe."""
    page, pipe = page_of(f), _pipe(head)
    (since, _), _ = _reached(page, pipe)
    sync = f.base(ContextWord.CORE_SYNC)
    released: list[tuple[Value, Value, Value]] = []
    for slot in RELEASING:
        word = buffer * PIPES + (DONE + slot)
        told = (load(sync, word) > 0) & (pipe != slot) & (mode == 0)
        released.append((told, token_of(page, word), word))
    _wait_for_all(f, page, head, since, load(page, LatencyWord.FLAG), released)


def _wait_for_all(
    f: FunctionBuilder,
    page: Value,
    head: Value,
    since: Value,
    hop: Value,
    signals: Sequence[tuple[Value, Value, Value]],
) -> None:
    """A pipe stands still until it sees the last of several signals: whether there is one, what it tells, its key."""
    told = ((exists, (load(each, 0), load(each, 1)), hop, (load(each, 2), key)) for exists, each, key in signals)
    over, cause = moments.heard(since, told)
    _when(f, over[0] > since, lambda: _hold(f, page, head | moments.TOLD_BIT, since, over, cause))
    for exists, token, key in signals:
        _when(f, exists, lambda token=token, key=key: _signal(f, page, token, key, head, over[0]))


def _release(f: FunctionBuilder, head: Value, buffer: Value, mode: Value) -> None:
    """A release in mode 1 happens when all other pipes have got as far as now: in a bracket of the buffer to the end of
    their queue, otherwise to their own release."""
    page, pipe, sync = page_of(f), _pipe(head), f.base(ContextWord.CORE_SYNC)
    moment, _ = _reached(page, pipe)
    for slot in RELEASING[1:]:  # the scalar unit itself is at this place
        word = buffer * PIPES + slot
        is_open, released = load(sync, word + OPEN) != 0, load(sync, word + DONE) > 0
        token = token_of(page, word + DONE)
        so_far = moments.last((free(page, slot), free(page, slot, moments.TOLD)))
        ends = moments.chosen(is_open, so_far, (load(token, 0), load(token, 1)))
        counts = (is_open | released) & (pipe != slot) & (mode == 1)
        moment = moments.chosen(counts, moments.last((moment, ends)), moment)
    _tell(f, head, pipe, buffer * PIPES + pipe + DONE, moment)


RELEASING = [buffer_word(0, pipe, 0) for pipe in moments.PIPE_ORDER]
"""The slots of the pipes, in the order in which their releases are looked at."""


# --- between cores ----------------------------------------------------------------------------------------------------

NO_COUNTER = 0
"""In place of a second counter. (Word 0 of a cluster is none.)"""


def _counter(f: FunctionBuilder, page: Value, number: Value) -> Value:
    """The record of a counter of the cluster."""
    return word_at(log_of(f, page), number * moments.COUNTER_WORDS + moments.SEMAPHORES)


def _told(counter: Value, number: Value) -> Value:
    """The clock of one of the last sets of a counter."""
    return word_at(counter, (number & (moments.RING - 1)) * moments.TOKEN_WORDS + moments.COUNTER_HEAD)


def _signal_cores(f: FunctionBuilder, head: Value, first: Value, second: Value, joint: Value) -> None:
    """A pipe, or where it is joint all of them, signals to one core of the cluster or to both."""
    page = page_of(f)
    own, _ = _reached(page, _pipe(head))
    issued = free(page, moments.S)
    moment = moments.chosen(joint != 0, moments.last((issued, *PageInCode(page).pipes())), own)

    keep(page, _pipe(head), moment, moments.TOLD)

    def tell(number: Value) -> None:
        counter = _counter(f, page, number)
        sets = load(counter, moments.SETS)
        for place, content in enumerate((*moment, _named(page, head))):
            store(_told(counter, sets), place, content)
        store(counter, moments.SETS, sets + 1)

    tell(first)
    _when(f, second != NO_COUNTER, lambda: tell(second))


def _hear(f: FunctionBuilder, head: Value, first: Value, second: Value) -> None:
    """A pipe waits for a core of the cluster, or for both; they have signalled."""
    page = page_of(f)
    (since, _), _ = _reached(page, _pipe(head))
    heard: list[tuple[Value, Value, Value]] = []
    for number in (first, second):
        exists, counter = number != NO_COUNTER, _counter(f, page, number)
        waits = load(counter, moments.WAITS)
        heard.append((exists, _told(counter, waits), load(counter, moments.KEY)))
        store(counter, moments.WAITS, waits + exists.zext(I64))
    _wait_for_all(f, page, head, since, load(page, LatencyWord.INTER_CORE), heard)


def _barrier(f: FunctionBuilder, head: Value, _: Value) -> None:
    """One of a pipe, where entries follow each other anyway, has nothing to wait for."""
    page, pipe = page_of(f), _pipe(head)
    moments.passed(PageInCode(page), pipe, _given(page, pipe), load(page, LatencyWord.BARRIER))
    store(log_of(f, page), moments.BARRIERS, pipe.like(1))


def _drain(f: FunctionBuilder, head: Value, is_scoped: Value) -> None:
    """One of all pipes holds the scalar unit until they are empty; a wait for bytes, until what it has found ends."""
    page, cost = page_of(f), load(page_of(f), LatencyWord.BARRIER)
    core, unit = PageInCode(page), _issued(page)
    final = moments.chosen(is_scoped != 0, free(page, 0, moments.AWAITED), moments.last(core.pipes()))
    keep(page, 0, nothing(f), moments.AWAITED)
    store(log_of(f, page), moments.BARRIERS, unit[0].like(1))

    def row(since: Value, until: Moment) -> Value:
        kind = head | (moments.WAIT_BIT | LINK_DRAIN << moments.LINK_SHIFT)
        return _row(f, page, kind, head.like(0), (since, until[0]), until[1])

    f.settle()
    time, row_number = f.choose(
        moments.is_held(unit[0], final),
        lambda: moments.held(core, head.like(moments.S), unit[0], moments.seen(final, cost), row),
        lambda: moments.seen(unit, cost),
    )
    keep(page, moments.S, (time, row_number))


def _fence(f: FunctionBuilder) -> None:
    """Something that only takes the scalar unit the time to issue it."""
    _issued(page_of(f))


def _begin(f: FunctionBuilder) -> None:
    """A block begins: nothing has happened yet."""
    page = page_of(f)
    for slot in range(PIPES):
        keep(page, slot, nothing(f))
        store(page, moments.TOLD + 2 * slot, f.constant(I64, 0))
        store(page, moments.BUSY + slot, f.constant(I64, 0))
        store(page, moments.WAITING + slot, f.constant(I64, 0))
    keep(page, 0, nothing(f), moments.AWAITED)
    for word in (moments.PATH_HASH, moments.PATH_LENGTH, moments.FLYING_COUNT, moments.REACHED):
        store(page, word, f.constant(I64, 0))
    for part in range(LogPart.CORES):
        store(page, moments.FIRST + part, load(log_of(f, page), 3 * part + moments.NEXT))
    _when(f, load(page, moments.PLACE) == 0, lambda: _forget_signals(f, page))


def _forget_signals(f: FunctionBuilder, page: Value) -> None:
    """The first core of a cluster begins a block: no signal is set yet."""
    with f.each(CLUSTER_WORDS, lower=TO_AIV) as number:
        place = _counter(f, page, number)
        store(place, moments.SETS, number.like(0))
        store(place, moments.WAITS, number.like(0))


def _end(f: FunctionBuilder) -> None:
    """The program of a core that is alone has returned, and its pipes are empty."""
    page = page_of(f)
    unit = free(page, moments.S)
    time, row = moments.ended(unit, PageInCode(page).pipes())
    _, place = _new(f, page, LogPart.CORES, 1)
    words = {
        EndRecord.BLOCK: f.word(ContextWord.BLOCK).load(I64, WORD_BYTES),
        EndRecord.PLACE: load(page, moments.PLACE),
        EndRecord.TIME: time,
        EndRecord.LAST: row,
        EndRecord.SCALAR_LAST: unit[1],
        EndRecord.SCALAR_TIME: unit[0],
    }
    for number, word in words.items():
        store(place, number, word)
    word_at(place, EndRecord.FIRST).copy_from(word_at(page, moments.FIRST), LogPart.CORES * WORD_BYTES)
    word_at(place, EndRecord.SUMS).copy_from(word_at(page, moments.BUSY), 2 * PIPES * WORD_BYTES)


_FILL: dict[Routine, Callable[..., None]] = {
    Routine.WORK: _work,
    Routine.HELD: _held,
    Routine.PASSED: _passed,
    Routine.GET: _get,
    Routine.RELEASE: _release,
    Routine.FLY: fly,
    Routine.SEEK: seek,
    Routine.BARRIER: _barrier,
    Routine.DRAIN: _drain,
    Routine.BEGIN: _begin,
    Routine.END: _end,
    Routine.FENCE: _fence,
    Routine.SIGNAL: _signal_cores,
    Routine.HEAR: _hear,
}


def build_timekeeping(module: ObjectModule) -> None:
    """All routines, under their names. Behind the context each takes numbers, and where it says so the address of
    words."""
    for routine, symbol in SYMBOLS.items():
        fill = _FILL[routine]
        _, *taken = inspect.signature(fill).parameters
        f = module.function(symbol, [PTR if name == "words" else I64 for name in taken])
        fill(f, *f.parameters)
        f.finish()
