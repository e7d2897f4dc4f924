"""The book-keeping of an observed run: loop indices, clocks, which set released which wait, rules of the protocol.

It stands between the pipes and the observer and exists only when there is one. What it remembers per key is bounded, so
that memory does not grow with the number of steps.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptosim.diagnostics import Diagnostic, Related, Severity
from ptosim.effects.names import Pipe
from ptosim.machine.clock import Clocks, ended_by, join, ordered
from ptosim.machine.entry import FENCE, GET, NOTIFY, RELEASE, SET, WORK, Clock, Entry, Key, Site
from ptosim.machine.sync import OPEN, SyncCounter, buffer_word
from ptosim.machine.unit_flags import UnitFlagClocks

if TYPE_CHECKING:
    from ptosim.machine.core import Core
    from ptosim.machine.observer import Observer


class Tracker:
    """Watches one core."""

    __slots__ = ("answered", "brackets", "clocks", "core", "heeded", "observer", "units", "wants_clocks")

    def __init__(self, core: Core, observer: Observer) -> None:
        self.core = core
        self.observer = observer
        self.wants_clocks = observer.wants_clocks
        self.clocks = Clocks(core) if observer.wants_clocks else None
        self.units = UnitFlagClocks()
        self.brackets: dict[tuple[Pipe, int], Entry] = {}  # the get of each open bracket
        self.answered: dict[Site, tuple[Clock, ...]] = {}  # what a test has learnt that answered yes last
        self.heeded: list[tuple[tuple[Clock, ...], Clock]] = []  # with what was known before

    # --- what happens to entries --------------------------------------------------------------------------------------

    def begin(self) -> None:
        """Launches before this one have ended, and all that they did is known."""
        if self.clocks:
            self.clocks.inherit(self.core.progress)
        self.observer.begin(self.core)

    def issue(self, entry: Entry) -> None:
        core, kind = self.core, entry.kind
        entry.loops = tuple(core.loops)
        entry.operations = core.operations
        if self.clocks:
            entry.captured = self.clocks.known[0], core.steps
        if kind is GET and not self.observer.inline:  # otherwise compiled code opens and closes some by itself
            self._open_bracket(entry)
        elif kind is RELEASE and not self.observer.inline:
            self._close_bracket(entry)
        self.observer.issue(entry)

    def start(self, entry: Entry) -> None:
        if self.clocks:
            self.clocks.start(entry, None if entry.unit is None else self.units.heard(entry.unit))
        self.observer.start(entry)

    def end(self, entry: Entry) -> None:
        self.observer.end(entry)
        if entry.unit is not None and self.clocks:
            self.units.tell(entry, entry.unit)
        if entry.kind is WORK:
            entry.payload = entry.start = entry.finish = None

    def fire(self, entry: Entry) -> None:
        if self.clocks and entry.needs:
            self.clocks.fire(entry)
        self.observer.end(entry)

    def step(self, entry: Entry) -> None:
        """A step of the scalar unit, which is issued, starts and ends at once (a store ends later, unseen)."""
        if self.clocks:
            self.clocks.step(entry)
            if entry.kind is NOTIFY:
                self.core.signals.tell(entry, self.clocks.published())
        self.observer.start(entry)
        if self.clocks and entry.kind is NOTIFY:
            self.clocks.settle()
        if entry.kind not in (SET, RELEASE):
            self.observer.end(entry)

    # --- sets and waits -----------------------------------------------------------------------------------------------

    def watch(self, entry: Entry) -> None:
        """The words that a wait asks for satisfy it."""
        if self.clocks is None or entry.watched is None:
            return
        learnt = self.core.signals.learn(entry, entry.watched, self.clocks.reached(entry))
        if entry.answers:
            self.answered[entry.site] = learnt
        else:
            entry.told = learnt

    def heed(self, site: Site, for_good: bool) -> None:
        """The clock of a test holds from here on, perhaps until it is forgotten."""
        if self.clocks is not None:
            told = self.answered.get(site, ())
            before = self.clocks.learn(told)
            if not for_good:
                self.heeded.append((told, before))

    def forget(self) -> None:
        """The latest that was heeded is known no longer."""
        if self.clocks is not None:
            self.clocks.forget(*self.heeded.pop())

    def take(self, entry: Entry) -> None:
        """A wait is about to consume a set of each of its counters."""
        for counter in entry.counters:
            if self._keeps(counter):
                continue
            entry.consumed += counter.pending.popleft()
            if self.clocks:
                earlier = counter.last_wait
                if earlier is not None and (earlier.pipe is not entry.pipe or earlier.core is not entry.core):
                    self._in_order(entry, self.clocks.reached(entry), earlier, counter.key, "waits")
                if counter.limit:
                    counter.unordered_waits.append(entry)
                    if len(counter.unordered_waits) > counter.limit:
                        counter.unordered_waits.popleft()
            counter.last_wait = entry

    def set(self, counter: SyncCounter, entry: Entry, sets: tuple[Entry, ...]) -> None:
        """A set is about to raise this counter."""
        if self._keeps(counter):
            return
        if self.clocks:
            if counter.key.mechanism == "flag":
                self._double_set(counter, entry)
            elif counter.key.mechanism != "token":  # of which any number may be set
                earlier = counter.last_set
                if earlier is not None and counter.rendezvous is None:  # the last one to a meeting raises it for all
                    self._in_order(entry, entry.clock or {}, earlier, counter.key, "sets")
                self._overflow(counter, entry, sets)
                self._both_ways(counter, entry)
        counter.pending.append(sets)
        counter.last_set = entry

    def meeting(self, last: Entry, sets: list[Entry]) -> Entry:
        """All members have come: one set that tells what each of theirs would, for every wait."""
        told = Entry(last.site, last.pipe, last.core, SET, last.key)
        told.n, told.loops, told.joint, told.clock = last.n, last.loops, True, {}
        for one in sets:
            join(told.clock, one.clock or {})
        return told

    def _keeps(self, counter: SyncCounter) -> bool:
        """Whether the observer keeps what a flag or semaphore tells, because compiled code sets it as well."""
        return self.observer.inline and (counter.words is self.core.words or counter.words is self.core.cluster_words)

    def _double_set(self, counter: SyncCounter, entry: Entry) -> None:
        if counter.pending:
            earlier, role = counter.pending[-1][-1], "set here and not yet waited for"
            message = f"sets {counter.key} again before the earlier set has been consumed"
        elif counter.last_wait and not ended_by(counter.last_wait, entry.clock or {}):
            earlier, role = counter.last_wait, "the wait that consumes the earlier set"
            again = f"may set {counter.key} again before the wait for the earlier set"
            message = f"{again}: nothing orders it after that wait"
        else:
            return
        self.report("double-set", message, entry, (earlier, role), severity="warning")

    def _overflow(self, counter: SyncCounter, entry: Entry, sets: tuple[Entry, ...]) -> None:
        waits = counter.unordered_waits
        while waits and any(ordered(waits[0], one) for one in sets):
            waits.popleft()
        if len(counter.pending) + len(waits) >= counter.limit:
            self.report("semaphore-overflow", overflow_message(counter), entry)

    def _both_ways(self, counter: SyncCounter, entry: Entry) -> None:
        """A set that would satisfy the wait of its own core, on a machine with one counter for both directions."""
        other = self.core.cluster.reverse(counter) if counter.key.mechanism == "semaphore" else None
        if other is None:
            return
        if other.pending:
            earlier, role = other.pending[-1][-1], "set here and not yet waited for"
        elif other.last_wait and not ended_by(other.last_wait, entry.clock or {}):
            earlier, role = other.last_wait, "the wait for it, which nothing orders before"
        else:
            return
        message = f"sets {counter.key} while {other.key} may be set: one id for both directions must alternate strictly"
        self.report("lint", message, entry, (earlier, role), severity="warning")

    def _in_order(self, entry: Entry, clock: Clock, earlier: Entry, key: Key, plural: str) -> None:
        """Which of two sets, or waits, comes first must not depend on the schedule. The clock is from before a wait:
        what a wait consumes may itself come from the other."""
        if (earlier.core is entry.core and earlier.pipe is entry.pipe) or ended_by(earlier, clock):
            return
        self.report("race", f"two {plural} of {key} are in no order", entry, (earlier, "the other one"))

    # --- buffer brackets, in program order ----------------------------------------------------------------------------

    def _open_bracket(self, entry: Entry) -> None:
        assert entry.key is not None
        buffer = entry.key.id
        for (pipe, open_buffer), other in self.brackets.items():
            if open_buffer != buffer:
                continue
            if pipe is entry.pipe:
                message = f"gets buffer {buffer} on {pipe} a second time before releasing it"
            else:
                message = (
                    f"gets buffer {buffer} on {entry.pipe} while {pipe} holds it: brackets of one id must not overlap"
                )
            self.report("buffer-misuse", message, entry, (other, f"{pipe} gets it here"))
        self.brackets[entry.pipe, buffer] = entry

    def _close_bracket(self, entry: Entry) -> None:
        assert entry.key is not None
        buffer = entry.key.id
        opened = self.core.words[buffer_word(OPEN, entry.pipe, buffer)]
        if opened == 0:
            self.report("buffer-misuse", f"releases buffer {buffer} on {entry.pipe}, which does not hold it", entry)
        elif opened != 1 + entry.mode:
            message = f"releases buffer {buffer} in mode {entry.mode}, but it was got in mode {opened - 1}"
            self.report("buffer-misuse", message, entry, (self.brackets[entry.pipe, buffer], "got here"))
        self.brackets.pop((entry.pipe, buffer), None)

    # --- the end ------------------------------------------------------------------------------------------------------

    def finish(self) -> None:
        if self.clocks:
            self.clocks.leave(self.core.progress)
        for site in dict.fromkeys(self.core.pending.values()):
            message = "a transfer is begun and never waited for: it may not have ended with the kernel"
            self.report("undrained", message, Entry(site, Pipe.S, self.core, FENCE), severity="warning")
        for (pipe, buffer), entry in self.brackets.items():
            self.report("buffer-misuse", f"gets buffer {buffer} on {pipe} and never releases it", entry)
        self.observer.finish(self.core)

    def leftover(self, counter: SyncCounter) -> None:
        """After the last core of the block: what is still pending survives into the next kernel."""
        if counter.value == 0:
            return
        entry = counter.pending[-1][-1]
        times = "" if counter.value == 1 else f", {counter.value} times"
        message = f"{counter.key} is still set at the end{times}: nothing waits for it"
        self.report("undrained", message, entry, severity="warning")

    def report(
        self, kind: str, message: str, entry: Entry, *related: tuple[Entry, str], severity: Severity = "error"
    ) -> None:
        self.observer.report(diagnostic_at(entry, kind, message, related, severity), entry)


def overflow_message(counter: SyncCounter) -> str:
    return f"more than {counter.limit} sets of {counter.key} may be outstanding: the counter has 4 bits"


def diagnostic_at(
    entry: Entry,
    kind: str,
    message: str,
    related: tuple[tuple[Entry, str], ...] = (),
    severity: Severity = "error",
    hint: str | None = None,
) -> Diagnostic:
    """A diagnostic at the operation of this entry."""
    others = tuple(Related(other.site.location, role) for other, role in related if other.site.location)
    return Diagnostic(
        kind,
        severity,
        message,
        entry.site.location,
        related=others,
        hint=hint,
        core=entry.core.name,
        pipe=str(entry.pipe),
        block=entry.core.block,
        loops=entry.loops,
    )
