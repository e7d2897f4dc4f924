"""The observer of a run: the shadow tells of every access which earlier ones are in no order with it.

Findings go to `Findings`; taint, which carries doubt to where a value is used, is the business of
undefined_and_racy.py. The machine itself watches the protocol of flags, buffers and semaphores and reports here;
rules about single instructions are in lints.py.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ptosim.diagnostics import Diagnostic, Severity, Workitem
from ptosim.effects.names import GM, UB, Pipe
from ptosim.effects.sim_signal import WORD
from ptosim.language.analysis.polling_loops import is_poll
from ptosim.language.micro.burst import PREFETCH
from ptosim.language.operation import PTOOperation
from ptosim.machine.clock import SLOTS
from ptosim.machine.core import Core
from ptosim.machine.deadlock import Deadlock, diagnostics
from ptosim.machine.entry import BARRIER, FENCE, LOAD, NOTIFY, PASS, WATCH, WORK, Clock, Entry, Key, Site
from ptosim.machine.memory import pointer
from ptosim.machine.observer import Change, Footprint, WorkitemAccess, distinct
from ptosim.machine.signal import Foreseen
from ptosim.sanitize.candidates import Candidates
from ptosim.sanitize.conflict import Conflict, MemoryPlace, Party, Verb, loops_around, party, place_of
from ptosim.sanitize.exchange import Exchange
from ptosim.sanitize.global_shadow import LOOK, NOTICE, READ, WRITE, Clash, ClashOutcome, GlobalShadow, compatible
from ptosim.sanitize.granules import Stamps
from ptosim.sanitize.intended_order import Iterations
from ptosim.sanitize.lints import Lints
from ptosim.sanitize.observation import Imbalance, Step
from ptosim.sanitize.overwritten import may_overwrite
from ptosim.sanitize.scope_aliases import LOADED, STORED, ScopeShadow
from ptosim.sanitize.shadow import UNDEFINED, MemoryShadow, UnorderedAccess, of_core
from ptosim.sanitize.status_registers import Cells
from ptosim.sanitize.taint import Origins
from ptosim.sanitize.track import AccessHistory
from ptosim.sanitize.undefined_and_racy import DoubtObserver, Hit, Image, Subject, Unchanged
from ptosim.sanitize.window import GRANULE, ShadowWindow, WindowPart, inside, shifted
from ptosim.sanitize.workitem_caches import WorkitemCaches
from ptosim.sanitize.workitems import WorkitemRaces, commute


class Checker(DoubtObserver):
    """Observes one run."""

    fresh = UNDEFINED

    def __init__(self, subject: Subject, foreseen: Foreseen | None = None) -> None:
        super().__init__(subject, Origins(), foreseen)
        self.candidates = Candidates(self.origins)
        self.gm = GlobalShadow(subject.regions, subject.together)
        self.lints = Lints(self.findings, subject.program)
        self.exchange = Exchange(self.findings, subject.program, self.gm)
        self.cells = Cells()
        self.data_caches = WorkitemCaches(self.findings)
        self.races = WorkitemRaces(self.findings, subject.regions, subject.together)
        self.iterations = Iterations(subject.program)
        self.unconsumed: dict[tuple[str, str], Site] = {}
        """The places at which one pipe or core signals another that does not wait for it."""
        self.imbalances: dict[tuple[Site, Key], Imbalance] = {}
        """Signals without a partner, in the order of the run."""
        self.steps: Counter[Step] = Counter()
        self.standing: set[Site] = set()
        self.is_cut = False
        """Some block has ended before its end."""
        self._polls: dict[Site, bool] = {}

    # --- from the scheduler -------------------------------------------------------------------------------------------

    def new_block(self) -> None:
        self.iterations.begin()
        super().new_block()

    def issue(self, entry: Entry) -> None:
        key = entry.key
        self.steps[entry.site, entry.core.role, key] += 1
        if key is not None and key.mechanism == "semaphore":
            self.lints.semaphore(entry, key)

    def start(self, entry: Entry) -> None:
        if entry.kind is NOTIFY or entry.kind is WATCH:
            self._signalled(entry)
        elif entry.kind is PASS:
            self.exchange.values.asked(entry)
        elif entry.kind is FENCE or entry.kind is BARRIER:
            self.exchange.fenced(entry)
        if entry.kind is not WORK and entry.kind is not LOAD:
            return
        self.iterations.note(entry)
        super().start(entry)
        for name, verb, other in self.cells.access(entry):
            self._conflict("race", "error", party(entry, entry.site, verb), MemoryPlace(name, 0, 8), entry, other)

    def _signalled(self, entry: Entry) -> None:
        """A word has been notified, or a wait for one has been satisfied."""
        if entry.notice is not None:
            self.global_access(entry, entry.site, NOTICE, entry.notice.address, WORD)
        self.exchange.signalled(entry)
        if entry.watched is not None and self._is_poll(entry.site) and self._is_used(entry.site):
            self._record(entry, entry.site, READ, entry.watched.words.addresses[0], WORD)  # the last look

    def finish(self, core: Core) -> None:
        self.lints.finish(core)

    def cleaned(self, core: Core, address: int | None) -> None:
        self.exchange.caches.cleaned(core, address)

    def report(self, diagnostic: Diagnostic, entry: Entry) -> None:
        self.findings.diagnostic(diagnostic)
        key, is_left = entry.key, diagnostic.kind == "undrained"
        if key is None:
            return
        if is_left:
            self.unconsumed.setdefault((key.source, key.destination), entry.site)
        if diagnostic.kind in ("undrained", "double-set", "buffer-misuse"):
            known = self.imbalances.get((entry.site, key))
            self.imbalances[entry.site, key] = Imbalance(entry.site, key, is_left or bool(known and known.is_left))

    def deadlock(self, deadlock: Deadlock) -> None:
        self.is_cut = True
        self.standing.update(head.entry.site for head in deadlock.heads if head.pipe is Pipe.S)
        for diagnostic in diagnostics(deadlock):
            self.findings.diagnostic(diagnostic)
        for head in deadlock.heads:
            self.exchange.notices.stepped_over(head.entry)
        for head in (head for root in deadlock.roots for head in root.heads):
            if head.key is not None:
                site = head.entry.site
                self.imbalances.setdefault((site, head.key), Imbalance(site, head.key))

    def ended_early(self, reasons: Sequence[Diagnostic]) -> None:
        self.is_cut = True
        for diagnostic in reasons:
            self.findings.diagnostic(diagnostic)

    def foresight(self) -> Foreseen | None:
        """Knowledge for a run that repeats this one; None where this one has it."""
        followed = self.foreseen.followed | {
            address for address in self.signals.passed if next(self.gm.stored(address, WORD), None) is not None
        }
        if followed == self.foreseen.followed and not self.signals.limits:
            return None
        return Foreseen(followed, {**self.foreseen.limits, **self.signals.limits})

    def conclude(self) -> None:
        """After the last block: what can only be said about the whole run."""
        self.exchange.notices.conclude(self.gm.is_payload)
        self.exchange.values.conclude(self.signals)
        for suspicion in self.candidates.undecided():
            if not self.findings.knows(suspicion):
                self.lints.undecided(suspicion)
        for buffer in self.gm.buffers.values():
            if buffer.full:
                self.lints.incomplete(buffer.region.label, self.gm.allowed)

    def touched(self, core: Core, footprint: Footprint) -> Clock:
        space, owner, start, width = footprint
        if space is GM:
            latest = self.gm.latest(start, width)
        else:
            memory = self.memory(space, owner or core)
            parts = inside(start, width, memory.size)
            latest = (entry for part in parts for entry in memory.latest(part.window()))
        return of_core(core, latest)

    # --- workitems ----------------------------------------------------------------------------------------------------

    def launches(self, entry: Entry, sizes: tuple[int, int, int]) -> None:
        self.races.begin(entry, sizes)

    def workitems(self, entry: Entry, access: WorkitemAccess) -> None:
        self.races.note(entry, access)
        if access.space is GM and access.kind == READ and self._is_cached(access.site):
            self.data_caches.load(entry, access)

    def _is_cached(self, site: Site) -> bool:
        op = self.subject.program.executed(site)
        return not (isinstance(op, PTOOperation) and "l1cache" in op.property_roles and op.word("l1cache") == "uncache")

    def load(self, entry: Entry, site: Site, footprint: Footprint, by_use: bool = False) -> Any:
        self._touches(entry, site, footprint)
        return super().load(entry, site, footprint, by_use)

    def store(self, entry: Entry, site: Site, footprint: Footprint, change: Change | None = None) -> None:
        self._touches(entry, site, footprint)
        super().store(entry, site, footprint, change)

    def _touches(self, entry: Entry, site: Site, footprint: Footprint) -> None:
        if footprint.space is UB and self.subject.shares_ub:
            self.data_caches.touches_ub(entry, site, footprint.starts, footprint.width)

    def workitem_fence(self, entry: Entry, workitems: Any) -> None:
        self.races.fence(entry, workitems)

    def epoch(self, entry: Entry) -> None:
        self.races.end(entry)

    def undefined_value(self, entry: Entry, site: Site, does: str, workitem: Workitem) -> int:
        def conflict() -> Conflict:
            place, reader = MemoryPlace(does, 0, 0), party(entry, site, "reads")
            return Conflict("uninitialized", "warning", reader, place, entry.core, entry.loops, workitem=workitem)

        return self.origins.number(("uninitialized", site, does), conflict)

    def lacking(self, entry: Entry, conflict: Conflict) -> Conflict:
        return self.races.named(entry, conflict, conflict.place.low)

    def may_overwrite(self) -> bool:
        """Whether bytes of UB may have been overwritten through another pointer than the one that reads them."""
        return any(
            may_overwrite(memory, self.sites, self.subject.program)
            for memory in self.memories()
            if memory.name == str(UB)
        )

    # --- accesses to on-chip memories ---------------------------------------------------------------------------------

    def accessed(
        self, entry: Entry, site: Site, covered: ShadowWindow, memory: MemoryShadow, unchanged: Unchanged | None = None
    ) -> None:
        direction = "read" if unchanged is None else "write"
        for meeting in memory.out_of_order(entry, direction, covered):
            self._races(entry, site, memory, covered, meeting, unchanged)
        memory.record(entry, direction, self.sites.number(site), covered)

    def left_behind(self, entry: Entry, site: Site, footprint: Footprint, memory: MemoryShadow) -> None:
        """A prefetch leaves anything. Hardware copies whole granules into UB, and behind a row that ends inside one it
        does so, too."""
        _, _, starts, width = footprint
        op = self.subject.program.executed(site)
        if op is not None and PREFETCH in op.attributes:
            self._leave_anything(entry, site, "prefetches", memory, inside(starts, width, memory.size))
        if footprint.space is UB and entry.pipe is Pipe.MTE2 and width % GRANULE:
            ends = inside(shifted(starts, width), GRANULE - width % GRANULE, memory.size)
            self._leave_anything(entry, site, "writes", memory, ends)

    def _leave_anything(
        self, entry: Entry, site: Site, verb: Verb, memory: MemoryShadow, parts: Iterable[WindowPart]
    ) -> None:
        for part in parts:
            covered = part.window()
            anything = np.ones(covered.size, np.bool_)
            memory.set_taint(covered, self.undefined(entry, site, verb, memory, covered, anything))

    def suspect(self, scope: ScopeShadow) -> None:
        scope.find_races()

    def suspected(
        self, scope: ScopeShadow, site: Site, covered: ShadowWindow, by_use: bool, image: Image | None
    ) -> Image | None:
        """Bytes that another pipe may not have written yet taint what is loaded, or race at once."""
        entry, memory = scope.entry, scope.memory
        for meeting in memory.out_of_order(entry, "read", covered):
            if not by_use:
                self._races(entry, site, memory, covered, meeting)
                continue
            image = np.zeros(len(meeting.hit), np.uint8) if image is None else image
            for first, where in self._parties(*meeting, entry, "writes"):

                def conflict(first: Party = first, where: Hit = where) -> Conflict:
                    place = place_of(memory, covered, where)
                    second = party(entry, site, "reads")
                    conflict = Conflict("race", "error", second, place, entry.core, loops_around(entry), first)
                    return self.iterations.meant(conflict)

                image[where] = self.origins.number(("race", first.site, site), conflict)
        return image

    def stored(self, scope: ScopeShadow, site: Site, covered: ShadowWindow, unchanged: Unchanged) -> None:
        for meeting in scope.memory.out_of_order(scope.entry, "write", covered):
            self._races(scope.entry, site, scope.memory, covered, meeting, unchanged)

    # --- races --------------------------------------------------------------------------------------------------------

    def _races(
        self,
        entry: Entry,
        site: Site,
        memory: MemoryShadow,
        covered: ShadowWindow,
        meeting: UnorderedAccess,
        unchanged: Unchanged | None = None,
    ) -> None:
        """An access that another pipe's earlier one is in no order with; `unchanged` is that of a store."""
        verb: Verb = "reads" if unchanged is None else "writes"
        first_verb: Verb = "reads" if meeting.track.direction == "read" else "writes"
        for first, where in self._parties(*meeting, entry, first_verb):
            place = place_of(memory, covered, where)
            second = party(entry, site, verb)
            same = unchanged is not None and first_verb == "writes" and bool(unchanged()[where].all())
            severity: Severity = "warning" if same else "error"
            conflict = Conflict("race", severity, second, place, entry.core, loops_around(entry), first, same)
            conflict = self.races.named(entry, conflict, place.low)
            undefined = bool((covered.of(memory.taint).reshape(-1)[where] == UNDEFINED).all())
            conflict = self.iterations.meant(conflict, undefined)
            if first_verb == "reads" and first.site in self._by_use:
                known = (entry.clock or {}).get(meeting.track.index, 0)
                self.candidates.add(conflict, known, meeting, covered.addresses(), where)
            else:
                self.findings.conflict(conflict)

    def _parties(
        self, track: AccessHistory, stamps: Stamps, hit: Hit, entry: Entry, verb: Verb
    ) -> Iterator[tuple[Party, Hit]]:
        """The earlier instructions behind the bytes of a conflict, each with its bytes; in the block of the entry."""
        numbers = self.sites.numbers(stamps)
        for number in distinct(numbers[hit]):
            where = hit & (numbers == number)
            site = self.sites.of(number)
            loops = self.iterations.of(track.index, track.entry_number(int(stamps[where].max())))
            yield Party(site, track.pipe, verb, track.role, entry.core.block, loops, entry.core.rank), where

    def _conflict(
        self, kind: str, severity: Severity, second: Party, place: MemoryPlace, entry: Entry, first: Party | None = None
    ) -> None:
        self.findings.conflict(Conflict(kind, severity, second, place, entry.core, loops_around(entry), first))

    def global_access(
        self, entry: Entry, site: Site, kind: str, starts: Any, width: int, data: Any = None, before: Any = None
    ) -> None:
        if kind == READ and self.subject.together and self._is_poll(site):
            return
        if kind != READ:
            self.lints.stored_globally(entry, site)
            self.data_caches.wrote(entry, site, starts, width, self.races.are_workitems(site))
        if self.subject.together and kind != NOTICE:
            self.exchange.accessed(entry, site, kind == READ, starts, width)
        if kind not in (READ, NOTICE) and self.subject.together and self.foreseen.followed:
            self.exchange.writes(entry, kind, starts, width, data, before)
        self._record(entry, site, kind, starts, width, data, before)

    def _record(
        self, entry: Entry, site: Site, kind: str, starts: Any, width: int, data: Any = None, before: Any = None
    ) -> None:
        """Look for what an access to GM is in no order with, and remember it."""
        unchanged = None
        for outcome in self.gm.access(entry, self.sites.number(site), kind, starts, width):
            if unchanged is None and kind == WRITE:
                unchanged = data == before()
            for clash in outcome.clashes:
                if self._is_seen(entry, outcome, clash):
                    continue
                same = clash.track.kind == WRITE and unchanged is not None and outcome.is_equal(clash, unchanged)
                self._global_race(entry, site, kind, outcome, clash, same)

    def _is_seen(self, entry: Entry, outcome: ClashOutcome, clash: Clash) -> bool:
        """Whether bytes of words are known to be written by the words themselves: who has waited for one has seen it,
        and nothing else of the copy that wrote it."""
        if not self.foreseen.followed:
            return False
        words = {int(place) // WORD * WORD for place in clash.places} if len(clash.places) <= 2 * WORD else ()
        numbers = {clash.track.entry_number(int(stamp)) for stamp in clash.stamps}
        return bool(words) and all(
            self.signals.has_seen(entry.clock or {}, pointer(outcome.buffer.number, word), clash.track.index, number)
            for word in words
            for number in numbers
        )

    def _is_used(self, site: Site) -> bool:
        """Whether the value of a scalar load matters otherwise than for whether to look again."""
        uses = self.subject.program.uses(site)
        answers = self._is_poll(site) and self.subject.program.gives_up(site)
        return uses.data is not None or (uses.branch is not None and not answers)

    def _is_poll(self, site: Site) -> bool:
        """Whether a load is a look at a word that a loop waits for."""
        if site not in self._polls:
            op = self.subject.program.executed(site)
            self._polls[site] = op is not None and is_poll(op)
        return self._polls[site]

    def _global_race(
        self, entry: Entry, site: Site, kind: str, outcome: ClashOutcome, clash: Clash, same: bool
    ) -> None:
        track, stamps, verb = clash.track, clash.stamps, _VERBS.get(clash.track.kind, "updates")
        second = party(entry, site, _VERBS.get(kind, "updates"))
        for earlier, where in self._parties(track, stamps, np.ones(len(stamps), np.bool_), entry, verb):
            places = clash.places[where]
            place = MemoryPlace(outcome.buffer.region.label, int(places.min()), int(places.max()) + 1)
            first = replace(earlier, block=track.block_of(int(stamps[where][0])), rank=track.rank)
            reader = second if kind == READ else first
            if {kind, track.kind} == LOOK and reader.pipe is Pipe.S and not self._is_used(reader.site):
                continue
            if compatible(kind, track.kind):
                self.lints.order_matters(entry, second, first, place, kind)
                continue
            if self.races.are_workitems(first.site, site):
                addresses = np.unique(pointer(outcome.buffer.number, 0) + places)
                earlier_core = track.index // SLOTS
                if self.races.is_chained(entry, (earlier_core, first.site), addresses):
                    continue
                if {kind, track.kind}.isdisjoint(_VERBS) and kind.split()[1] == track.kind.split()[1]:
                    looks = self.subject.together and (
                        self.races.only_looks(entry.core.index, site) or self.races.only_looks(earlier_core, first.site)
                    )
                    if not looks and not commute(kind, track.kind):
                        self.lints.order_matters(entry, second, first, place, kind, track.kind)
                    continue
            severity: Severity = "warning" if same else "error"
            conflict = Conflict("race", severity, second, place, entry.core, loops_around(entry), first, same)
            conflict = self.races.named(entry, conflict, pointer(outcome.buffer.number, place.low))
            is_known = (entry.clock or {}).get(track.index // SLOTS * SLOTS, 0) > 0
            conflict.is_told = is_known and entry.core.index in self.exchange.notices.waiting
            self.findings.conflict(self.iterations.meant(conflict, outcome.fresh))

    # --- aliases inside a scope ---------------------------------------------------------------------------------------

    def aliased(self, scope: ScopeShadow, site: Site, covered: ShadowWindow, about: int, writes: bool) -> None:
        if not about & (STORED | LOADED if writes else STORED) or self.subject.mem_bar == "off":
            return
        for earlier, wrote, where, fenced in scope.aliases(site, covered, writes):
            if fenced:
                if wrote and not writes:
                    self.dependence.through_memory(earlier, site)
                continue
            if not wrote and self.dependence.depends(site, earlier):
                continue
            grave = (wrote and not writes) or self.subject.mem_bar == "strict"
            entry = scope.entry
            first = party(entry, earlier, "writes" if wrote else "reads")
            second = party(entry, site, "writes" if writes else "reads")
            place = place_of(scope.memory, covered, where)
            self._conflict("scope-alias", "error" if grave else "warning", second, place, entry, first)


_VERBS: dict[str, Verb] = {READ: "reads", WRITE: "writes"}
