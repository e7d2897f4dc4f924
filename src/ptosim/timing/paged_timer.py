"""Times what the machine does while compiled code keeps the times of a run: operations that were handed to it, because
a wait was not satisfied or cores meet. The moments of a core and the log are words that both share
(machine/moments.py); the rules are those of every timed run."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

from ptosim.diagnostics import error
from ptosim.effects.names import Pipe
from ptosim.machine import moments
from ptosim.machine.core import Core
from ptosim.machine.entry import Entry, EntryKind, Key
from ptosim.machine.moments import LatencyWord, LogPart, Moment
from ptosim.machine.observer import Closeness, Observer
from ptosim.machine.sync import DONE, OPEN, PIPES, SLOT, buffer_word
from ptosim.timing.recording import WaitCause

Words = ctypes.Array[ctypes.c_int64]
"""In memory that does not move."""

_ON_CORE = ("flag", "token")


class CorePage:
    """The moments of a core, in its page."""

    __slots__ = ("words",)

    def __init__(self, words: Words) -> None:
        self.words = words

    def __getitem__(self, word: int) -> int:
        return self.words[word]

    def free(self, slot: int, table: int = moments.FREE) -> Moment:
        return self.words[table + 2 * slot], self.words[table + 2 * slot + 1]

    def keep(self, slot: int, moment: Moment, table: int = moments.FREE) -> None:
        self.words[table + 2 * slot], self.words[table + 2 * slot + 1] = moment

    def worked(self, slot: int, cycles: int) -> None:
        self.words[moments.BUSY + slot] += cycles

    def waited(self, slot: int, cycles: int) -> None:
        self.words[moments.WAITING + slot] += cycles

    def pipes(self) -> Iterator[Moment]:
        """Until when each pipe is busy."""
        return (self.free(slot) for slot in range(1, PIPES))

    def token(self, word: int) -> tuple[Moment, int]:
        """The moment and the head of a signal."""
        place = moments.TOKENS + word * moments.TOKEN_WORDS
        return (self.words[place], self.words[place + 1]), self.words[place + 2]

    def named(self, entry: Entry) -> int:
        head = moments.head(entry.site.number, SLOT.get(entry.pipe, moments.S))
        return head | self.words[moments.PLACE] << moments.CORE_SHIFT


class ClusterSheet(Protocol):
    """The log of a cluster, and the pages of its cores."""

    def page(self, role: str) -> Words: ...

    def write(self, part: LogPart, words: Sequence[int]) -> int:
        """Append a record; its number."""
        ...

    def price(self, operation: int, role: str, words: Sequence[int]) -> tuple[int, int]:
        """The cycles of an entry that has just run on a core, and the number of its cost."""
        ...

    def flying(self, role: str) -> Words:
        """Bytes of entries in flight, and behind them those of the one that ran last."""
        ...

    @property
    def rows(self) -> int:
        """The number written."""
        ...

    def key(self, key: Key, hop: int) -> int:
        """A number for a signal that is no sync word of a core."""
        ...

    def tell(self, counter: int, told: tuple[int, int, int]) -> None:
        """A signal to another core, by the word of its cluster: time, row and head."""
        ...

    def hear(self, counter: int) -> tuple[int, int, int, int]:
        """The next signal without a wait, and its number."""
        ...

    def met_barrier(self) -> None: ...


class PagedTimer(Observer):
    """Times one block, or the blocks that follow each other on one cluster."""

    closeness: Closeness = "entries"
    inline = True

    def __init__(self, sheet: ClusterSheet, inter_core: int, remembered: Callable[[int], int]) -> None:
        self.sheet = sheet
        self.inter_core = inter_core
        self.remembered = remembered

    def _page(self, core: Core) -> CorePage:
        return CorePage(self.sheet.page(core.role))

    # --- entries ------------------------------------------------------------------------------------------------------

    def issue(self, entry: Entry) -> None:
        page = self._page(entry.core)
        entry.data = moments.counted(page.free(moments.S), 1, page[LatencyWord.SCALAR])
        page.keep(moments.S, entry.data)
        if entry.kind is EntryKind.GET:
            entry.facts = list(self._released(page, entry))
        elif entry.kind is EntryKind.RELEASE:
            entry.facts = list(self._brackets(page, entry))

    def start(self, entry: Entry) -> None:
        page, kind = self._page(entry.core), entry.kind
        slot = SLOT.get(entry.pipe, moments.S)
        page.words[moments.TOLD + 2 * slot] = 0
        if kind is EntryKind.SET or kind is EntryKind.RELEASE:
            entry.data, _ = moments.ready(page.free(slot), entry.data)
            if entry.joint:  # what compiled code has executed by itself is in no queue
                entry.data = moments.last((entry.data, *page.pipes()))
        elif kind is EntryKind.WAIT or kind is EntryKind.GET:
            self._wait(page, entry, slot)
        elif kind is EntryKind.BARRIER:
            self._barrier(page, entry, slot)

    def end(self, entry: Entry) -> None:
        page, slot = self._page(entry.core), SLOT.get(entry.pipe, moments.S)
        if entry.kind is EntryKind.SET or entry.kind is EntryKind.RELEASE:
            self._fire(page, entry)
            return
        if entry.kind is EntryKind.WORK:
            self._work(page, entry, slot)
        entry.data = page.free(slot)

    def _fire(self, page: CorePage, entry: Entry) -> None:
        """Keep what a set tells for waits that compiled code makes."""
        others = entry.facts if entry.kind is EntryKind.RELEASE else entry.needs
        entry.data = moments.last(
            (entry.data, *(other.data if isinstance(other, Entry) else other for other in others))
        )
        queue = entry.core.queues.get(entry.pipe)
        if queue is not None and queue.last is entry:
            page.keep(SLOT[entry.pipe], entry.data, moments.TOLD)
        words = [counter.index for counter in entry.counters if counter.key.mechanism in _ON_CORE]
        if entry.kind is EntryKind.RELEASE:
            assert entry.key is not None
            words.append(buffer_word(DONE, entry.pipe, entry.key.id))
        for counter in entry.counters:
            if counter.key.mechanism in _ON_CORE and counter.value:
                raise _uncovered("a flag is set that is still set")
        told = *entry.data, page.named(entry)
        for word in words:
            place = moments.TOKENS + word * moments.TOKEN_WORDS
            page.words[place], page.words[place + 1], page.words[place + 2] = told
        for counter in self._between_cores(entry):
            self.sheet.tell(counter, told)

    def _work(self, page: CorePage, entry: Entry, slot: int) -> None:
        words, operation = entry.facts, entry.site.number
        cycles, number = self.sheet.price(operation, entry.core.role, words)

        def row(start: int, end: int, before: int, by_pipe: bool) -> int:
            link = (WaitCause.PIPE if by_pipe else WaitCause.ISSUE) << moments.LINK_SHIFT
            first = page.named(entry) | link | number << moments.DETAIL_SHIFT
            return self.sheet.write(LogPart.ROWS, (first, before, start, end))

        moment = moments.work(page, slot, entry.data, cycles, row)
        if page[moments.REACHED]:
            self._fly(page, self.sheet.flying(entry.core.role), moment)
        if count := self.remembered(operation):
            for word in words[:count]:
                self.sheet.write(LogPart.POOL, (word,))

    # --- buffers ------------------------------------------------------------------------------------------------------

    def _brackets(self, page: CorePage, entry: Entry) -> Iterator[Moment | Entry]:
        """The obstacles of a release in mode 1 on other pipes: when that has ended, or an entry that has not."""
        assert entry.key is not None
        words, buffer = entry.core.words, entry.key.id
        for pipe, queue in entry.core.queues.items() if entry.mode == 1 else ():
            unended = [other for other in entry.needs if other.pipe is pipe and other.n >= queue.prefix]
            if unended or pipe is entry.pipe:
                yield from unended
            elif words[buffer_word(OPEN, pipe, buffer)]:
                yield moments.last(page.free(SLOT[pipe], table) for table in (moments.FREE, moments.TOLD))
            elif words[word := buffer_word(DONE, pipe, buffer)]:
                yield page.token(word)[0]

    def _released(self, page: CorePage, entry: Entry) -> Iterator[tuple[tuple[Moment, int] | Entry, int]]:
        """The releases that a get waits for, as pipes are heard: what they tell, or those that have not happened; and
        their words."""
        order = [SLOT[pipe] for pipe in moments.PIPE_ORDER]
        for word, count in sorted(entry.snapshot, key=lambda item: order.index((item[0] - DONE) % PIPES)):
            if entry.core.words[word] == count:
                yield page.token(word), word
            else:
                yield next(each for each in entry.consumed if SLOT[each.pipe] == (word - DONE) % PIPES), word

    # --- waits --------------------------------------------------------------------------------------------------------

    def _wait(self, page: CorePage, entry: Entry, slot: int) -> None:
        (since, _), _ = moments.ready(page.free(slot), entry.data)
        told = list(self._told(page, entry))
        over, cause = moments.heard(since, ((True, signal, hop, (head, word)) for signal, head, hop, word in told))
        if over[0] > since:
            self._hold(page, entry, slot, WaitCause.SIGNAL, since, over, *cause)
        waiting = page.named(entry)
        row = self.sheet.rows << moments.DETAIL_SHIFT
        for signal, head, _, word in told:
            self.sheet.write(LogPart.SIGNALS, (signal[0], over[0], head | row, waiting | word << moments.DETAIL_SHIFT))

    def _told(self, page: CorePage, entry: Entry) -> Iterator[tuple[Moment, int, int, int]]:
        """Signals of a wait: a moment, who set it, how far away, and the word or number of the signal."""
        if entry.kind is EntryKind.GET:
            for release, word in entry.facts:
                moment, head = (release.data, page.named(release)) if isinstance(release, Entry) else release
                yield moment, head, page[LatencyWord.FLAG], word
            return
        for counter in entry.counters:
            if counter.key.mechanism in _ON_CORE:
                yield *page.token(counter.index), page[LatencyWord.FLAG], counter.index
        for counter in self._between_cores(entry):
            time, row, head, key = self.sheet.hear(counter)
            yield (time, row), head, self.inter_core, key
        for signal in entry.consumed:
            near = signal.core is entry.core
            hop = page[LatencyWord.FLAG] if near else self.inter_core
            assert entry.key is not None
            yield (
                signal.data,
                self._page(signal.core).named(signal),
                hop,
                self.sheet.key(entry.key, hop),
            )

    def _between_cores(self, entry: Entry) -> list[int]:
        """The words of the cluster that a signal to another core of it raises, or a wait takes from."""
        return [counter.index for counter in entry.counters if counter.words is entry.core.cluster_words]

    def _barrier(self, page: CorePage, entry: Entry, slot: int) -> None:
        if entry.pipe is Pipe.S:
            return
        cost = page[LatencyWord.BARRIER]
        self.sheet.met_barrier()
        if entry.pipe is Pipe.ALL:
            (since, _), final = page.free(moments.S), moments.last(page.pipes())
            if entry.ranges is not None:
                raise _uncovered("a wait for bytes comes to a pipe that stands")
            if moments.is_held(since, final):
                self._hold(page, entry, moments.S, WaitCause.DRAIN, since, moments.seen(final, cost), 0, 0)
                return
        moments.passed(page, slot, entry.data, cost)

    def _fly(self, page: CorePage, flying: Words, moment: Moment) -> None:
        """Sets the moment of every place that an entry touches, and drops entries that have ended."""
        before, count, width = page[moments.FLYING_COUNT], 0, moments.FLYING_WORDS
        for number in range(before + page[moments.REACHED]):
            record = flying[number * width : (number + 1) * width]
            record[:2] = record[:2] if number < before else moment
            if record[0] > page[moments.FREE + 2 * moments.S] and record[4] > record[3]:
                for offset, word in enumerate(record):
                    flying[count * width + offset] = word
                count += 1
        page.words[moments.FLYING_COUNT], page.words[moments.REACHED] = count, 0

    def _hold(
        self, page: CorePage, entry: Entry, slot: int, link: WaitCause, since: int, until: Moment, head: int, word: int
    ) -> None:
        def row(since: int, until: Moment) -> int:
            kind = moments.WAIT_BIT | moments.TOLD_BIT | link << moments.LINK_SHIFT
            first = page.named(entry) | kind | word << moments.DETAIL_SHIFT
            setter = (head & moments.SITE_MASK) << moments.ROW_BITS
            return self.sheet.write(LogPart.ROWS, (first, until[1] & moments.ROW_MASK | setter, since, until[0]))

        page.keep(slot, moments.held(page, slot, since, until, row))

    # --- cores --------------------------------------------------------------------------------------------------------

    def finish(self, core: Core) -> None:
        """A core of several has ended; one that is alone says so itself."""
        page = self._page(core)
        unit = page.free(moments.S)
        firsts = page.words[moments.FIRST : moments.FIRST + LogPart.CORES]
        sums = page.words[moments.BUSY : moments.BUSY + 2 * PIPES]
        place = page[moments.PLACE]
        words = (core.block, place, *firsts, *moments.ended(unit, page.pipes()), unit[1], unit[0], *sums)
        self.sheet.write(LogPart.CORES, words)


def _uncovered(message: str) -> Exception:
    """The error for an event that only the reference engine times."""
    return error("unsupported", message)
