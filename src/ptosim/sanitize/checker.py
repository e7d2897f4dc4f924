"""The observer: every access of a run passes here and is held against the shadow.

What is found goes to `Findings`; what a doubtful value makes doubtful travels as taint, and counts once it is used. The
protocol of flags, buffers and semaphores is watched by the machine itself, which reports here; rules about single
instructions are in lints.py.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ptosim.diagnostics import Diagnostic, Severity
from ptosim.effects.names import GM, UB, Pipe, Space
from ptosim.effects.sim_signal import WORD
from ptosim.language.control import For
from ptosim.language.polling import is_poll
from ptosim.language.scope import StrictVecScope, VecScope
from ptosim.machine.clock import join
from ptosim.machine.core import Core
from ptosim.machine.deadlock import Deadlock, diagnostics
from ptosim.machine.entry import LOAD, NOTIFY, WATCH, WORK, Clock, Entry, Key, Site
from ptosim.machine.memory import Region
from ptosim.machine.observer import ORIGIN, Footprint, Silent
from ptosim.machine.observer import Use as MachineUse
from ptosim.machine.signal import Step as ScalarStep
from ptosim.machine.sync import PIPES
from ptosim.sanitize.candidates import Candidates
from ptosim.sanitize.conflict import Conflict, Findings, Party, Place, Use, Verb, loops_around, party, place_of
from ptosim.sanitize.dependence import Dependence
from ptosim.sanitize.exchange import Exchange
from ptosim.sanitize.global_shadow import NOTICE, READ, WRITE, Clash, GlobalShadow, Outcome, compatible
from ptosim.sanitize.iterations import Iterations
from ptosim.sanitize.lints import Lints
from ptosim.sanitize.observation import Imbalance, Step
from ptosim.sanitize.program import Program
from ptosim.sanitize.scope import DIRTY, LOADED, RACY, STORED, Watch, is_scalar
from ptosim.sanitize.shadow import CLEAN, UNDEFINED, Memory, Track, of_core
from ptosim.sanitize.special import Cells
from ptosim.sanitize.stamp import Sites
from ptosim.sanitize.taint import Origins, judged
from ptosim.sanitize.window import GRANULE, Part, Window, byte_count, inside, joined, shifted

Image = NDArray[np.uint8]
Hit = NDArray[np.bool_]
Unchanged = Callable[[], Hit]
"""Which of the bytes that are about to be stored already are what they become."""
MemBar = Literal["relaxed", "strict", "off"]

V, L1 = Pipe.V, Space.L1

SCOPES = frozenset((VecScope.name, StrictVecScope.name, For.name))


@dataclass(frozen=True)
class Subject:
    """What is being checked: the kernel, its buffers in GM, and how strictly."""

    program: Program
    regions: Mapping[int, Region]
    """What pointers to GM name, by number."""
    together: bool = False
    """All blocks run at once, because they wait for each other."""
    mem_bar: MemBar = "relaxed"


class Checker(Silent):
    """Observes one run. With `planted`, it repeats an earlier one to see which suspected loads matter."""

    wants_clocks = True

    def __init__(
        self,
        subject: Subject,
        planted: Candidates | None = None,
        doubtful: Mapping[ScalarStep, set[ScalarStep]] | None = None,
    ) -> None:
        self.subject = subject
        self.planted = planted
        self.findings = Findings()
        self.origins = planted.origins if planted else Origins()
        self.candidates = Candidates(self.origins)
        self.sites = Sites()
        self.dependence = Dependence(subject.program)
        self.gm = GlobalShadow(subject.regions, subject.together)
        self.lints = Lints(self.findings, subject.program)
        self.exchange = Exchange(self.findings, subject.program, self.gm, self.lints)
        self.doubtful: Mapping[ScalarStep, set[ScalarStep]] = doubtful or {}
        self.doubted: dict[ScalarStep, set[ScalarStep]] = {}
        """Of waits for sums: the terms that a repeated run must not count on (machine/signal.py)."""
        self.cells = Cells()
        self.iterations = Iterations(subject.program)
        self.used_flags: dict[int, Key] = {}
        self.used_semaphores: set[int] = set()
        self.unconsumed: dict[tuple[str, str], Site] = {}
        """Where one pipe or core signals another that does not wait for it."""
        self.imbalances: dict[tuple[Site, Key], Imbalance] = {}
        """What the run has found without its partner, in the order in which it has."""
        self.steps: Counter[Step] = Counter()
        self.standing: set[Site] = set()
        self._memories: dict[tuple[object, Space], Memory] = {}
        self._block: int | None = None
        self._watch: Watch | None = None
        self._overtaken: dict[Site, dict[Site, int]] = {}
        self._by_use: set[Site] = set()
        self._polls: dict[Site, bool] = {}

    # --- from the scheduler -------------------------------------------------------------------------------------------

    def begin(self, core: Core) -> None:
        core.signals.doubtful, self.doubted = self.doubtful, core.signals.doubted
        if self.subject.together or core.block == self._block:
            return
        self._block = core.block
        self.iterations.begin()
        for memory in self._memories.values():
            memory.begin(self._fresh)

    @property
    def _fresh(self) -> int:
        """The taint of on-chip memory at the start of a block."""
        return CLEAN if self.planted else UNDEFINED

    def issue(self, entry: Entry) -> None:
        key = entry.key
        self.steps[entry.site, entry.core.role, key] += 1
        if key is None:
            return
        if key.mechanism == "flag":
            self.used_flags[id(key)] = key  # one object for all cores and blocks
        elif key.mechanism == "semaphore":
            self.used_semaphores.add(key.id)
            if not self.planted:
                self.lints.semaphore(entry, key)

    def start(self, entry: Entry) -> None:
        if entry.kind is not WORK and entry.kind is not LOAD:
            if (entry.kind is NOTIFY or entry.kind is WATCH) and not self.planted:
                self._signalled(entry)
            return
        self.iterations.note(entry)
        if entry.pipe is V and entry.site.name in SCOPES:
            self._watch = self._enter(entry)
        elif not self.planted:
            for name, verb, other in self.cells.access(entry):
                self._conflict("race", "error", party(entry, entry.site, verb), Place(name, 0, 8), entry, other)

    def end(self, entry: Entry) -> None:
        if self._watch is not None and self._watch.entry is entry:
            self._watch.settle()
            self._watch = None

    def _signalled(self, entry: Entry) -> None:
        """A word has been notified, or a wait for one has been satisfied."""
        if entry.notice is not None:
            self._global(entry, entry.site, NOTICE, entry.notice.address, WORD)
        self.exchange.signalled(entry)

    def finish(self, core: Core) -> None:
        if not self.planted:
            self.lints.finish(core)
            self.exchange.caches.finish(core)

    def cleaned(self, core: Core, address: int | None) -> None:
        self.exchange.caches.cleaned(core, address)

    def stored_to(self, address: int) -> Clock:
        known = dict(self.gm.stored(address, WORD))
        join(known, self.exchange.told_by_store(address))
        return known

    def report(self, diagnostic: Diagnostic, entry: Entry) -> None:
        if self.planted:
            return
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
        if self.planted:
            return
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
        """A block came to an end before its program did."""
        for diagnostic in () if self.planted else reasons:
            self.findings.diagnostic(diagnostic)

    def conclude(self, unwritten: bool) -> None:
        """After the last block: what can only be said about the whole run."""
        self.exchange.notices.conclude(self.gm.is_payload)
        for suspicion in self.candidates.undecided():
            if not self.findings.knows(suspicion):
                self.lints.undecided(suspicion)
        for buffer in self.gm.buffers.values():
            if buffer.full:
                self.lints.incomplete(buffer.region.label, self.gm.allowed)
        for buffer in self.gm.buffers.values() if unwritten else ():
            places = buffer.unwritten()
            if places is not None and len(places):
                self.lints.unwritten(buffer.region.label, buffer.size, places)

    # --- memories -----------------------------------------------------------------------------------------------------

    def _memory(self, space: Space, owner: Core) -> Memory:
        shared = space is L1  # of the cluster
        if self.subject.together:
            who: object = id(owner.cluster) if shared else owner.index
        else:
            who = "" if shared else owner.role
        memory = self._memories.get((who, space))
        if memory is None:
            memory = self._memories[who, space] = Memory(str(space), owner.target.memory[space])
            memory.begin(self._fresh)
        return memory

    def _enter(self, entry: Entry) -> Watch:
        numbers = self._overtaken.setdefault(entry.site, {})
        watch = Watch(entry, self._memory(UB, entry.core), self.sites, numbers)
        if self.planted:
            for low, high in self.planted.ranges(entry):
                watch.suspect(low, high)
        else:
            watch.find_races()
        return watch

    def inside(self, entry: Entry) -> Watch | None:
        return self._watch

    def touched(self, core: Core, footprint: Footprint) -> Clock:
        space, owner, start, width = footprint
        if space is GM:
            latest = self.gm.latest(start, width)
        else:
            memory = self._memory(space, owner or core)
            parts = inside(start, width, memory.size)
            latest = (entry for part in parts for entry in memory.latest(part.window()))
        return of_core(core, latest)

    # --- loads --------------------------------------------------------------------------------------------------------

    def load(self, entry: Entry, site: Site, footprint: Footprint, by_use: bool = False) -> Any:
        watch = self._watch
        space, owner, starts, width = footprint
        starts, width = joined(starts, width)
        if space is GM:
            self._global(entry, site, READ, starts, width)
            return None
        if watch is not None and watch.entry is entry:
            memory = watch.memory
        else:
            watch = None
            assert owner is not None
            memory = self._memory(space, owner)
        whole: Image | None = None
        for part in inside(starts, width, memory.size):
            at = part.window()
            image = self._vector_load(watch, site, at, by_use) if watch else self._load(entry, site, at, memory)
            if part.numbers is None:
                return image
            if image is not None:
                whole = np.zeros(byte_count(starts, width), np.uint8) if whole is None else whole
                part.put(whole, width, image)
        return whole

    def _load(self, entry: Entry, site: Site, covered: Window, memory: Memory) -> Image | None:
        """A load of anything but the vector pipe: it counts by touch, and carries taint on."""
        if not self.planted:
            for track, hit in memory.out_of_order(entry, "read", covered):
                self._races(entry, site, "reads", memory, track, covered, hit)
            memory.record(entry, "read", self.sites.number(site), covered)
        if memory.is_clean(covered):
            return None
        taint = covered.of(memory.taint).reshape(-1).copy()
        if not taint.any():
            return None
        undefined = taint == UNDEFINED
        if undefined.any():
            taint[undefined] = self._undefined(entry, site, memory, covered, undefined)
        if entry.pipe is Pipe.S:
            self._used(entry, site, "scalar", taint)
        return taint

    def _vector_load(self, watch: Watch, site: Site, covered: Window, by_use: bool) -> Image | None:
        entry, memory = watch.entry, watch.memory
        watch.settle()
        number = self._vector_number(watch, site, by_use)
        about = watch.about(covered)
        image: Image | None = None
        if about & DIRTY:
            image = covered.of(memory.taint).reshape(-1).copy()
            undefined = image == UNDEFINED
            if undefined.any():
                image[undefined] = self._undefined(entry, site, memory, covered, undefined)
        if about & RACY:
            if self.planted:
                image = self.planted.plant(entry, site, covered, image)
            else:
                image = self._racy_load(watch, site, covered, by_use, image)
        if about & STORED:
            self._aliases(watch, site, covered, writes=False)
        watch.note(site, number, covered, writes=False)
        if image is None or not image.any():
            return None
        if is_scalar(site):
            self._used(entry, site, "scalar", image)
        return image

    def _vector_number(self, watch: Watch, site: Site, by_use: bool) -> int:
        """The number of a load, which the quick way will look up from now on."""
        number = self.sites.number(site)
        if site not in watch.overtaken:
            overtaken = self.dependence.may_be_overtaken(site, watch.entry.site)
            watch.overtaken[site] = -number if overtaken else number
            if by_use:
                self._by_use.add(site)
        return number

    def _undefined(self, entry: Entry, site: Site, memory: Memory, covered: Window, undefined: Hit) -> int:
        def conflict() -> Conflict:
            place = place_of(memory, covered, undefined)
            return Conflict(
                "uninitialized", "warning", party(entry, site, "reads"), place, entry.core, loops_around(entry)
            )

        return self.origins.number(("uninitialized", site), conflict)

    def _racy_load(self, watch: Watch, site: Site, covered: Window, by_use: bool, image: Image | None) -> Image | None:
        """Bytes that another pipe may not have written yet taint what is loaded, or race at once."""
        entry, memory = watch.entry, watch.memory
        for track, hit in memory.out_of_order(entry, "read", covered):
            if not by_use:
                self._races(entry, site, "reads", memory, track, covered, hit)
                continue
            image = np.zeros(len(hit), np.uint8) if image is None else image
            stamps = track.stamps(covered)
            for first, where in self._parties(track, stamps, hit, entry, "writes"):

                def conflict(first: Party = first, where: Hit = where) -> Conflict:
                    place = place_of(memory, covered, where)
                    second = party(entry, site, "reads")
                    conflict = Conflict("race", "error", second, place, entry.core, loops_around(entry), first)
                    return self.iterations.meant(conflict)

                image[where] = self.origins.number(("race", first.site, site), conflict)
        return image

    # --- stores -------------------------------------------------------------------------------------------------------

    def store(
        self,
        entry: Entry,
        site: Site,
        footprint: Footprint,
        data: Any,
        before: Any,
        taint: Any = None,
        atomic: str | None = None,
    ) -> None:
        watch = self._watch
        space, owner, starts, row = footprint
        starts, width = joined(starts, row)
        if space is GM:
            self._global(entry, site, atomic or WRITE, starts, width, data, before)
            if taint is not None:
                self._used(entry, site, "global", taint)
            return
        if watch is not None and watch.entry is entry:
            memory = watch.memory
            quick = taint is None and type(starts) is int and 0 <= starts <= memory.size - width
            if quick and watch.store(site, starts, width):
                return
        else:
            watch = None
            assert owner is not None
            memory = self._memory(space, owner)
        equal = cache(lambda: data == before())
        for part in inside(starts, width, memory.size):
            covered, kept = part.window(), None if taint is None else part.of(taint, width)
            unchanged = partial(_unchanged, part, width, equal)
            if watch:
                self._vector_store(watch, site, covered, unchanged, kept)
            else:
                self._store(entry, site, covered, memory, unchanged, kept)
        if watch is None and row % GRANULE and entry.pipe is Pipe.MTE2 and space is UB and not self.planted:
            self._fill_up(entry, site, footprint, memory)

    def _store(
        self, entry: Entry, site: Site, covered: Window, memory: Memory, unchanged: Unchanged, taint: Image | None
    ) -> None:
        if not self.planted:
            for track, hit in memory.out_of_order(entry, "write", covered):
                self._races(entry, site, "writes", memory, track, covered, hit, unchanged())
            memory.record(entry, "write", self.sites.number(site), covered)
        memory.set_taint(covered, taint)

    def _fill_up(self, entry: Entry, site: Site, footprint: Footprint, memory: Memory) -> None:
        """Hardware copies whole blocks into UB: behind a row that ends inside one it leaves anything."""
        ends = shifted(footprint.starts, footprint.width)
        for part in inside(ends, GRANULE - footprint.width % GRANULE, memory.size):
            covered = part.window()

            def conflict(covered: Window = covered) -> Conflict:
                place, side = place_of(memory, covered, np.ones(covered.size, np.bool_)), party(entry, site, "writes")
                return Conflict("uninitialized", "warning", side, place, entry.core, entry.loops)

            memory.set_taint(covered, self.origins.number(("uninitialized", site), conflict))

    def _vector_store(
        self, watch: Watch, site: Site, covered: Window, unchanged: Unchanged, taint: Image | None
    ) -> None:
        entry, memory = watch.entry, watch.memory
        watch.settle()
        about = watch.about(covered)
        if about & RACY and not self.planted:
            for track, hit in memory.out_of_order(entry, "write", covered):
                self._races(entry, site, "writes", memory, track, covered, hit, unchanged())
        if about & (STORED | LOADED):
            self._aliases(watch, site, covered, writes=True)
        watch.note(site, self.sites.number(site), covered, writes=True)
        if taint is not None or about & DIRTY:
            memory.set_taint(covered, taint)
            watch.refresh(covered)

    # --- races --------------------------------------------------------------------------------------------------------

    def _races(
        self,
        entry: Entry,
        site: Site,
        verb: Verb,
        memory: Memory,
        track: Track,
        covered: Window,
        hit: Hit,
        equal: Hit | None = None,
    ) -> None:
        """An access that another pipe's earlier one is in no order with."""
        stamps = track.stamps(covered)
        first_verb: Verb = "reads" if track.direction == "read" else "writes"
        for first, where in self._parties(track, stamps, hit, entry, first_verb):
            place = place_of(memory, covered, where)
            second = party(entry, site, verb)
            same = verb == first_verb == "writes" and equal is not None and bool(equal[where].all())
            severity: Severity = "warning" if same else "error"
            conflict = Conflict("race", severity, second, place, entry.core, loops_around(entry), first, same)
            undefined = bool((covered.of(memory.taint).reshape(-1)[where] == UNDEFINED).all())
            conflict = self.iterations.meant(conflict, undefined)
            if first_verb == "reads" and first.site in self._by_use:
                self.candidates.add(conflict, first.site, track, stamps, covered.addresses(), where)
            else:
                self.findings.conflict(conflict)

    def _parties(
        self, track: Track, stamps: NDArray[np.int64], hit: Hit, entry: Entry, verb: Verb
    ) -> Iterator[tuple[Party, Hit]]:
        """The earlier instructions behind the bytes of a conflict, each with its bytes."""
        for number in np.unique(self.sites.numbers(stamps[hit])):
            where = hit & (self.sites.numbers(stamps) == number)
            for site in self.sites.of(int(number)):
                loops = self.iterations.of(track.index, track.entry_number(int(stamps[where].max())))
                yield Party(site, track.pipe, verb, track.role, entry.core.block, loops, entry.core.rank), where

    def _conflict(
        self,
        kind: str,
        severity: Severity,
        second: Party,
        place: Place,
        entry: Entry,
        first: Party | None = None,
        equal: bool = False,
    ) -> None:
        self.findings.conflict(Conflict(kind, severity, second, place, entry.core, loops_around(entry), first, equal))

    def _global(
        self, entry: Entry, site: Site, kind: str, starts: Any, width: int, data: Any = None, before: Any = None
    ) -> None:
        if self.planted or (kind == READ and self.subject.together and self._is_poll(site)):
            return
        if kind != READ:
            self.lints.stored_globally(entry, site)
        if self.subject.together and kind != NOTICE:
            self.exchange.accessed(entry, site, kind == READ, starts, width)
        equal = cache(lambda: data == before())
        for outcome in self.gm.access(entry, self.sites.number(site), kind, starts, width):
            for clash in outcome.clashes:
                same = kind == WRITE == clash.track.kind and outcome.is_equal(clash, equal())
                self._global_race(entry, site, kind, outcome, clash, same)

    def _is_poll(self, site: Site) -> bool:
        """Whether a load is a look at a word that a loop waits for."""
        if site not in self._polls:
            op = self.subject.program.executed(site)
            self._polls[site] = op is not None and is_poll(op)
        return self._polls[site]

    def _global_race(self, entry: Entry, site: Site, kind: str, outcome: Outcome, clash: Clash, same: bool) -> None:
        second = party(entry, site, _VERBS.get(kind, "updates"))
        numbers = self.sites.numbers(clash.stamps)
        for number in np.unique(numbers):
            where = numbers == number
            place = Place(
                outcome.buffer.region.label, int(clash.places[where].min()), int(clash.places[where].max()) + 1
            )
            block = clash.track.block_of(int(clash.stamps[where][0]))
            for earlier in self.sites.of(int(number)):
                verb = _VERBS.get(clash.track.kind, "updates")
                loops = self.iterations.of(clash.track.index, clash.track.entry_number(int(clash.stamps[where].max())))
                first = Party(earlier, clash.track.pipe, verb, clash.track.role, block, loops, clash.track.rank)
                if compatible(kind, clash.track.kind):
                    self.lints.order_matters(entry, second, first, place, kind)
                    continue
                severity: Severity = "warning" if same else "error"
                conflict = Conflict("race", severity, second, place, entry.core, loops_around(entry), first, same)
                conflict.is_told = (entry.clock or {}).get(clash.track.index // PIPES * PIPES, 0) > 0
                self.findings.conflict(self.iterations.meant(conflict, outcome.fresh))

    # --- aliases inside a scope ---------------------------------------------------------------------------------------

    def fence(self, entry: Entry, site: Site, kind: str) -> None:
        if self._watch is not None and self._watch.entry is entry:
            self._watch.fence(kind, kind == "VV_ALL" and not self.dependence.has_scalar_accesses(entry.site))

    def _aliases(self, watch: Watch, site: Site, covered: Window, writes: bool) -> None:
        if self.planted or self.subject.mem_bar == "off":
            return
        for earlier, wrote, where, fenced in watch.aliases(site, covered, writes):
            if fenced:
                if wrote and not writes:
                    self.dependence.through_memory(earlier, site)
                continue
            if not wrote and self.dependence.depends(site, earlier):
                continue
            grave = (wrote and not writes) or self.subject.mem_bar == "strict"
            entry = watch.entry
            first = party(entry, earlier, "writes" if wrote else "reads")
            second = party(entry, site, "writes" if writes else "reads")
            place = place_of(watch.memory, covered, where)
            self._conflict("scope-alias", "error" if grave else "warning", second, place, entry, first)

    # --- use of doubtful values ---------------------------------------------------------------------------------------

    def tainted(self, entry: Entry, site: Site, use: MachineUse, taint: Any) -> None:
        self._used(entry, site, use, taint)

    def _used(self, entry: Entry, site: Site, use: Use | MachineUse, taint: Image) -> None:
        """A doubtful value decides something or leaves the core: what made it doubtful is a finding."""
        for mixed in np.unique(taint):
            if mixed != CLEAN:
                origin = self.origins[int(mixed) & ORIGIN]
                self.findings.conflict(origin.used(*judged(origin.kind, use, entry.pipe, int(mixed)), site))


_VERBS: dict[str, Verb] = {READ: "reads", WRITE: "writes"}


def _unchanged(part: Part, width: int, equal: Callable[[], Hit]) -> Hit:
    """Which of the bytes of some pieces already are what the access stores."""
    return part.of(equal(), width)
