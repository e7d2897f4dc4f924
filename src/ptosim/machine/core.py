"""A core as its scalar code sees it: one method per instruction that is an entry of a pipe.

In the "program" schedule with nothing stalled each method is a few words of arithmetic (the inline path of `sync`).
Otherwise it makes an entry and hands it to the schedule. Illegal operands raise PTOError, or are reported when the
run is observed, and the instruction is then left out.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Mapping
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

from ptosim.diagnostics import PTOError
from ptosim.effects.names import PIPES_OF, CoreKind, Pipe, Space
from ptosim.effects.record import Half
from ptosim.effects.sim_signal import MOST_LOOKS
from ptosim.effects.sync import ALL_WRITES, FenceReach, UnitFlagUse
from ptosim.machine.buffers import Buffers
from ptosim.machine.clock import QUEUES
from ptosim.machine.entry import (
    BARRIER,
    DRAIN,
    FENCE,
    LOAD,
    NOTIFY,
    PASS,
    RELEASE,
    SET,
    STORE,
    TRANSFER,
    WAIT,
    WATCH,
    WORK,
    Entry,
    EntryKind,
    Key,
    Site,
    flag_key,
    token_key,
)
from ptosim.machine.late_stores import LateStore, LateStores
from ptosim.machine.launch import CorePlace, Progress
from ptosim.machine.memory import NO_REGIONS
from ptosim.machine.queue import PipeQueue, fire, take
from ptosim.machine.semaphores import Grid, SemaphoreCluster, SemaphoreSignal, signal_of
from ptosim.machine.signal import Notice, SignalledWords, SignalWords, WatchedWords
from ptosim.machine.sync import CLUSTER_SLOW, EVENT_IDS, MOVED, SLOW, Form, SyncCounter, token_word, unit_word
from ptosim.machine.sync_operand_rules import FLAG_BASES, absent, has, wrong_flag
from ptosim.machine.tracking import Tracker, diagnostic_at, overflow_message

if TYPE_CHECKING:
    from ptosim.machine.observer import Footprint, Observer
    from ptosim.machine.schedules import Schedule
    from ptosim.target.profile import Target


_LOOKS = frozenset((PASS, LOAD, FENCE, BARRIER, WATCH))
"""Instructions that change nothing that a word could depend on."""
_SETTLES = frozenset((SET, RELEASE, BARRIER))
"""Instructions by which the scalar unit tells others, or waits itself: its stores have ended."""
_RETURN = Site("return")


class Core:
    """One core for the length of one block."""

    def __init__(
        self,
        place: CorePlace,
        index: int,
        words: array[int],
        cluster: SemaphoreCluster,
        schedule: Schedule,
        observer: Observer | None,
    ) -> None:
        self.name = place.name
        self.role = place.role
        self.kind = place.kind
        self.block = place.block
        self.subblock = place.subblock
        self.block_num = place.block_num
        self.rank = place.rank
        self.subblock_num = place.subblock_num
        self.index = index  # unique in the launch
        self.target: Target = cluster.target
        self.cluster = cluster
        self.grid: Grid
        self.progress: Progress
        self.signals: SignalWords
        self.pending: dict[tuple[int, int], Site] = {}  # transfers without a wait so far, by queue and number
        self.regions = NO_REGIONS  # what GM pointers name, as far as the engine has said
        self.late = LateStores()
        self.words = words
        self.cluster_words = cluster.words
        self.queues = {pipe: PipeQueue(self, pipe) for pipe in PIPES_OF[place.kind] if pipe is not Pipe.S}
        self.schedule = schedule
        self.observer = observer

        # For the engine, in observed runs.
        self.loops: list[int] = []
        self.operations = 0
        self.current: Entry | None = None

        # Where the SU stands, for the scheduler.
        self.started = False
        self.ended = False
        self.waiting: Entry | None = None
        self.full: PipeQueue | None = None  # it has no room for `waiting`
        self.baton: SimpleQueue[None] = SimpleQueue()  # the turn arrives here

        self.steps = 0
        self.stores = self.local_stores = 0  # to GM, to UB
        self.transfers = [0] * QUEUES
        self.markers: list[Entry] = []  # sets that speak for all pipes and have not fired
        self.flag_bases = FLAG_BASES[place.kind]
        self.event_ids = min(self.target.sync.event_ids, EVENT_IDS)
        self._flags: dict[int, SyncCounter] = {}
        self._buffers = Buffers(self)
        self.tracker = Tracker(self, observer) if observer else None

    def counters(self) -> list[SyncCounter]:
        """The flags that any instruction off the inline path has named."""
        return list(self._flags.values())

    # --- work ---------------------------------------------------------------------------------------------------------

    def work(
        self,
        pipe: Pipe,
        site: Site,
        start: Callable[[], Any],
        finish: Callable[[Any], None] | None = None,
        facts: Any = None,
        unit: UnitFlagUse | None = None,
    ) -> None:
        """An entry that computes or copies: `start` reads (or does everything), `finish` writes what it returned."""
        if pipe not in self.queues:
            return self.illegal(site, "wrong-pipe", absent(self, pipe))
        if self.words[SLOW] == 0 and (unit is None or self.words[unit_word(unit.address)] == unit.wanted):
            self.words[MOVED] = 1
            payload = start()
            if finish is not None:
                finish(payload)
            if unit is not None and unit.left is not None:
                self.words[unit_word(unit.address)] = unit.left
            return
        entry = Entry(site, pipe, self, WORK)
        entry.start, entry.finish, entry.facts, entry.unit = start, finish, facts, unit
        self.issue(entry)

    # --- flags --------------------------------------------------------------------------------------------------------

    def set_flag(self, site: Site, src: Pipe, dst: Pipe, event: int) -> None:
        base = self.flag_bases.get((src, dst))
        if base is None or not 0 <= event < self.event_ids:
            return self._illegal_flag(site, src, dst, event)
        if self.words[SLOW] == 0:
            self.words[base + event] += 1
            return
        self.issue(self._flag_entry(SET, site, src, base + event, flag_key(src, dst, event)))

    def wait_flag(self, site: Site, src: Pipe, dst: Pipe, event: int) -> None:
        base = self.flag_bases.get((src, dst))
        if base is None or not 0 <= event < self.event_ids:
            return self._illegal_flag(site, src, dst, event)
        words = self.words
        if words[SLOW] == 0 and words[base + event] > 0:
            words[base + event] -= 1
            return
        self.issue(self._flag_entry(WAIT, site, dst, base + event, flag_key(src, dst, event)))

    def set_token(self, site: Site, src: Pipe, dst: Pipe, number: int) -> None:
        """A flag that no kernel names: a pass has made the number, and it exists."""
        if (src, dst) not in self.flag_bases:
            return self._illegal_flag(site, src, dst, number)
        word = token_word(src, dst, number)
        if self.words[SLOW] == 0:
            self.words[word] += 1
            return
        self.issue(self._flag_entry(SET, site, src, word, token_key(src, dst, number)))

    def wait_token(self, site: Site, src: Pipe, dst: Pipe, number: int) -> None:
        if (src, dst) not in self.flag_bases:
            return self._illegal_flag(site, src, dst, number)
        word = token_word(src, dst, number)
        if self.words[SLOW] == 0 and self.words[word] > 0:
            self.words[word] -= 1
            return
        self.issue(self._flag_entry(WAIT, site, dst, word, token_key(src, dst, number)))

    def _flag_entry(self, kind: EntryKind, site: Site, pipe: Pipe, word: int, key: Key) -> Entry:
        counter = self._flags.get(word)
        if counter is None:
            counter = self._flags[word] = SyncCounter(self.words, word, key, self)
        entry = Entry(site, pipe, self, kind, counter.key)
        entry.counters = (counter,)
        return entry

    def _illegal_flag(self, site: Site, src: Pipe, dst: Pipe, event: int) -> None:
        self.illegal(site, *wrong_flag(self, src, dst, event))

    # --- buffers ------------------------------------------------------------------------------------------------------

    def get_buffer(self, site: Site, pipe: Pipe, buffer: int, mode: int = 0) -> None:
        self._buffers.get(site, pipe, buffer, mode)

    def release_buffer(self, site: Site, pipe: Pipe, buffer: int, mode: int = 0) -> None:
        self._buffers.release(site, pipe, buffer, mode)

    # --- barriers -----------------------------------------------------------------------------------------------------

    def barrier(self, site: Site, pipe: Pipe, reach: FenceReach = ALL_WRITES) -> None:
        """A barrier of all pipes waits for stores of the scalar unit as well."""
        if pipe is not Pipe.ALL and not has(self, pipe):
            return self.illegal(site, "wrong-pipe", absent(self, pipe))
        if self.words[SLOW]:
            entry = Entry(site, pipe, self, BARRIER)
            entry.reach = reach
            self.issue(entry)

    def tsync(self, site: Site, ranges: tuple[Footprint, ...] = ()) -> None:
        """Later entries start after every earlier one that touches these bytes.

        What an entry will touch is known when it runs: where some wait in their queues, the SU waits for all of them.
        Only the clocks, which know what has run, are exact.
        """
        if self.words[SLOW]:
            entry = Entry(site, Pipe.ALL, self, BARRIER)
            entry.ranges = ranges
            self.issue(entry)

    def drain(self) -> None:
        """The end of a program: the core goes on when every pipe is empty. A program may ask for it
        before, to be there when queued entries fail."""
        self.schedule.block(self, Entry(_RETURN, Pipe.ALL, self, DRAIN))
        self.late.settle()

    def dsb(self, site: Site, reach: FenceReach = ALL_WRITES) -> None:
        """Scalar stores have ended, and GM has what the pipes have stored, as far as the fence reaches. (Results do not
        depend on it: S sees its stores, and all take effect at once.)"""
        self.late.settle(reach)
        if self.tracker:
            entry = Entry(site, Pipe.S, self, FENCE)
            entry.reach = reach
            self.issue(entry)

    def settle(self, site: Site, session: int, count: int) -> None:
        """Ends so many transfers of a session."""
        queue = min(session, len(self.transfers) - 1)
        self.pending = {event: at for event, at in self.pending.items() if event[0] != queue or event[1] >= count}
        if self.tracker:
            entry = Entry(site, Pipe.S, self, FENCE)
            entry.event = queue, count
            self.issue(entry)

    # --- semaphores ---------------------------------------------------------------------------------------------------

    def semaphore_set(self, site: Site, pipe: Pipe, number: int, form: Form = Form.SYNC) -> None:
        """`pipe` is ALL for the forms that name none: they fire when everything issued so far has ended."""
        signal = self._signal(site, pipe, number, form, "set")
        if signal is None:
            return
        inline = self.words[SLOW] == 0 and self.cluster_words[CLUSTER_SLOW] == 0 and signal.rendezvous is None
        if inline and all(counter.value < counter.limit for counter in signal.counters):
            for counter in signal.counters:
                counter.words[counter.index] += 1
            return
        self.issue(self._set_entry(site, pipe, signal))

    def semaphore_wait(self, site: Site, pipe: Pipe, number: int, form: Form = Form.SYNC) -> None:
        """Holds the pipe, or the SU where the target or a form without a pipe says so."""
        signal = self._signal(site, pipe, number, form, "wait")
        if signal is None:
            return
        if self.words[SLOW] == 0 and all(counter.value > 0 for counter in signal.counters):
            for counter in signal.counters:
                counter.words[counter.index] -= 1
            return
        whole_core = pipe is Pipe.ALL or self.target.sync.inter_core_wait == "core"
        self.issue(self._wait_entry(site, Pipe.S if whole_core else pipe, signal))

    def syncall(self, site: Site, kinds: frozenset[CoreKind]) -> None:
        """The scalar units of all cores of these kinds, of all blocks: each goes on when all have come. Their pipes are
        not waited for."""
        if self.kind not in kinds:
            return
        meeting = self.grid.syncall(kinds)
        self.issue(self._set_entry(site, Pipe.S, SemaphoreSignal(meeting.key, (meeting.arrived[self],), meeting)))
        self.issue(self._wait_entry(site, Pipe.S, SemaphoreSignal(meeting.key, (meeting.ready[self],))))

    def _signal(self, site: Site, pipe: Pipe, number: int, form: Form, half: Half) -> SemaphoreSignal | None:
        if pipe is not Pipe.ALL and pipe not in self.queues:
            return self.illegal(site, "wrong-pipe", absent(self, pipe))
        signal = signal_of(self, number, form, half)
        if isinstance(signal, SemaphoreSignal):
            return signal
        return self.illegal(site, *signal)

    def _set_entry(self, site: Site, pipe: Pipe, signal: SemaphoreSignal) -> Entry:
        entry = Entry(site, Pipe.S if pipe is Pipe.ALL else pipe, self, SET, signal.key)
        entry.counters, entry.rendezvous = signal.counters, signal.rendezvous
        entry.loops = tuple(self.loops)  # for the counter that overflows
        if pipe is Pipe.ALL:
            entry.joint = True
            self.need(entry, [queue.last for queue in self.queues.values()])
        return entry

    def _wait_entry(self, site: Site, pipe: Pipe, signal: SemaphoreSignal) -> Entry:
        entry = Entry(site, pipe, self, WAIT, signal.key)
        entry.counters = signal.counters
        return entry

    # --- signals in global memory -------------------------------------------------------------------------------------

    def notify(self, site: Site, words: SignalledWords, value: int, adds: bool) -> None:
        """Set a word, or add to it; then the scalar unit waits until its pipes are empty."""
        entry = Entry(site, Pipe.S, self, NOTIFY)
        entry.notice = Notice(words, value, adds)
        self.issue(entry)
        self.barrier(site, Pipe.ALL)

    def watch(self, site: Site, words: SignalledWords, comparison: str, value: int) -> None:
        """Stop the scalar unit until every word satisfies the condition."""
        self._watch(site, WatchedWords(words, comparison, value))

    def test(self, site: Site, words: SignalledWords, comparison: str, value: int) -> bool:
        """Whether every word satisfies the condition. Where one does not, others get a turn before the answer."""
        watched = WatchedWords(words, comparison, value)
        if watched.holds():
            self._watch(site, watched, answers=True)
            return True
        self._pass(site, watched)
        return False

    def saw(self, site: Site, words: SignalledWords, comparison: str, value: int, gives_up: bool = False) -> None:
        """A loop has looked at a word until it satisfied a condition; `gives_up`: or has done so often enough."""
        watched = WatchedWords(words, comparison, value)
        if watched.holds():
            self._watch(site, watched, answers=gives_up)

    def heed(self, site: Site, for_good: bool) -> None:
        """The program has come to where a test, or a loop that gives up, must have answered yes: behind a loop for
        good, in a branch until it leaves that."""
        if self.tracker:
            self.tracker.heed(site, for_good)

    def forget(self) -> None:
        """It leaves a branch that went by such an answer."""
        if self.tracker:
            self.tracker.forget()

    def poll(self, site: Site, watched: WatchedWords | None = None) -> None:
        """A loop looks at GM once more: others get a turn, who may write there. `watched`: what it waits for."""
        self._pass(site, watched)

    def _pass(self, site: Site, watched: WatchedWords | None) -> None:
        """Let others go first. After MOST_POLLS looks without progress the run is a deadlock."""
        entry = Entry(site, Pipe.S, self, PASS)
        entry.watched = watched
        self.signals.fruitless = 1 if self.words[MOVED] else self.signals.fruitless + 1
        self.words[MOVED] = 0
        if self.signals.fruitless > MOST_LOOKS:
            self.waiting = entry
            raise self.schedule.turns.stuck()
        self.issue(entry)

    def _watch(self, site: Site, watched: WatchedWords, answers: bool = False) -> None:
        entry = Entry(site, Pipe.S, self, WATCH)
        entry.watched, entry.answers = watched, answers
        self.issue(entry)

    def overflow(self, entry: Entry, counter: SyncCounter) -> None:
        self._complain(entry, "semaphore-overflow", overflow_message(counter))

    # --- the scalar unit's own accesses, in observed runs -------------------------------------------------------------

    @property
    def gives_way(self) -> bool:
        """Whether the scalar unit lets others go first before an access of its own."""
        return self.schedule.interleaves and self.current is None and self.tracker is None

    def before_load(self, site: Site, space: Space, start: int, width: int) -> None:
        """The scalar unit is about to load."""
        if self.gives_way:
            self.schedule.give_way(self, Entry(site, Pipe.S, self, LOAD))
            self.late.show(space, start, width)

    def store(self, site: Site, space: Space, start: int, width: int, write: Callable[[], None]) -> None:
        """The scalar unit stores, now or later."""
        if space is Space.GM:
            self.words[MOVED] = 1
        if not self.gives_way:
            write()
            return
        self.late.pending.append(LateStore(space, start, width, write))
        self.schedule.give_way(self, Entry(site, Pipe.S, self, STORE))

    def scalar_load(self, site: Site) -> Entry:
        return self.issue(Entry(site, Pipe.S, self, LOAD))

    def scalar_store(self, site: Site, space: Space) -> Entry:
        entry = Entry(site, Pipe.S, self, STORE)
        if space is Space.GM:
            entry.reach, entry.n = FenceReach.GM, self.stores
            self.stores += 1
        else:
            entry.reach, entry.n = FenceReach.LOCAL, self.local_stores
            self.local_stores += 1
        return self.issue(entry)

    def transfer(self, site: Site, session: int, facts: Mapping[str, Any]) -> Entry:
        """A copy in GM that the SU begins and that goes on by itself. Sessions beyond those that can be told apart
        share the last queue."""
        self.late.settle()  # it sees what the scalar unit has stored
        queue = min(session, len(self.transfers) - 1)
        entry = Entry(site, Pipe.S, self, TRANSFER)
        entry.event, entry.n, entry.facts = (queue, self.transfers[queue]), self.transfers[queue], facts
        self.transfers[queue] += 1
        self.pending[entry.event] = site
        return self.issue(entry) if self.tracker else entry

    # --- issuing ------------------------------------------------------------------------------------------------------

    def issue(self, entry: Entry) -> Entry:
        queue = self.queues.get(entry.pipe)
        if entry.kind not in _LOOKS:
            self.signals.fruitless = 0
        if queue is None:
            self._step(entry)
            return entry
        entry.n = queue.issued
        queue.issued += 1
        queue.last = entry
        if self.tracker:
            self.tracker.issue(entry)
        self.schedule.issue(queue, entry)
        return entry

    def _step(self, entry: Entry) -> None:
        """The scalar unit itself executes an entry, and waits if it must."""
        tracker = self.tracker
        if entry.kind is not STORE and entry.kind is not TRANSFER:
            entry.n = self.steps
            self.steps += 1
        if tracker:
            tracker.issue(entry)
        if entry.kind is PASS:
            self.schedule.give_way(self, entry)
        else:
            self.schedule.block(self, entry)
        if entry.kind in _SETTLES and not (entry.key is not None and entry.key.mechanism == "syncall"):
            self.late.settle(entry.reach)
        if entry.kind is WAIT:
            take(entry)
        elif entry.notice is not None:
            self.signals.deliver(entry.notice)
        elif tracker and entry.kind is WATCH:
            tracker.watch(entry)
        if tracker:
            tracker.step(entry)
        if entry.kind not in (SET, RELEASE):
            return
        if entry.missing:
            self.markers.append(entry)
            return
        woken: list[PipeQueue] = []
        fire(entry, woken)
        self.schedule.drain(woken)

    def need(self, marker: Entry, others: list[Entry | None]) -> None:
        """The marker fires only when other pipes have ended these entries and all before them."""
        marker.needs = tuple(other for other in others if other and other.pipe is not marker.pipe)
        for other in marker.needs:
            queue = self.queues[other.pipe]
            if other.n >= queue.prefix:
                marker.missing += 1
                queue.watchers.append((other.n, marker))

    def release_marker(self, marker: Entry, woken: list[PipeQueue]) -> None:
        """The other pipes have got as far as the marker needs."""
        if marker.pipe in self.queues:
            self.queues[marker.pipe].settle(woken)
        elif marker in self.markers:  # otherwise the SU has not executed it yet and will find it ready
            self.markers.remove(marker)
            fire(marker, woken)

    # --- complaints ---------------------------------------------------------------------------------------------------

    def illegal(self, site: Site, kind: str, message: str, hint: str | None = None) -> None:
        entry = Entry(site, site.pipe, self, FENCE)
        entry.loops = tuple(self.loops)
        self._complain(entry, kind, message, hint)

    def _complain(self, entry: Entry, kind: str, message: str, hint: str | None = None) -> None:
        diagnostic = diagnostic_at(entry, kind, message, hint=hint)
        if self.observer is None:
            raise PTOError(diagnostic)
        self.observer.report(diagnostic, entry)
