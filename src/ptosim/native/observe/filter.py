"""The filter of `check`: compiled code that ends a block at the first thing that might be a finding.

It keeps clocks, the shadow of on-chip memories, the doubtful words of registers and records of GM, by rules that
over-approximate those of the sanitizer: a block in which nothing is suspicious has no finding. Which ones those are is
not said here; blocks that have failed are judged by the reference engine (DESIGN: filter and judge). What the rules do
not cover is listed in coverage.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from xdsl.ir import Operation, SSAValue

from ptosim.effects.catalogue import effects
from ptosim.effects.element import GRANULE, VECTOR_BYTES
from ptosim.effects.names import GM, PIPES_OF, UB, CoreKind, Pipe, Space
from ptosim.language.analysis.data_cache import USER_ROOM, shares_ub
from ptosim.language.micro.burst import PREFETCH
from ptosim.language.micro.sync_fence import Dsb, FenceBarrierAll, MemBar, reach_of
from ptosim.language.micro.sync_semaphore import SyncSet, SyncWait
from ptosim.language.micro.sync_token import SimTSync
from ptosim.language.operation import is_scope
from ptosim.language.rules.align_streams import goes_on_twice
from ptosim.language.structure.function import Function as PTOFunction
from ptosim.language.structure.function import reached
from ptosim.language.types import VregType
from ptosim.machine.sync import PIPES, SLOT
from ptosim.native.build.core import Core
from ptosim.native.build.program import FunctionBody
from ptosim.native.build.state import Align
from ptosim.native.ir.flow import FunctionBuilder
from ptosim.native.ir.values import I8, I64, Value
from ptosim.native.observe import clocks, layout, remark_conditions, shadow, words
from ptosim.native.observe.clocks import ClockEmitter
from ptosim.native.observe.hooks import CodeObserver, CopyRows, OnChipAccess, Range
from ptosim.native.observe.layout import LOCAL_STORES, PIECE, STEPS, STORES, WORD, Area, Layout
from ptosim.native.observe.overwriting import RootTrack
from ptosim.native.observe.records import Records
from ptosim.native.observe.rows import Copies
from ptosim.native.observe.scattered_rows import Chosen
from ptosim.native.observe.scopes import Scope, scope_of
from ptosim.native.observe.semaphores import Semaphores
from ptosim.native.observe.shadow import OWN_UB, GranuleTouch, Shadow, Visit
from ptosim.native.observe.signals import SignalEmitter
from ptosim.native.observe.streams import Held, Shifted, written
from ptosim.native.observe.taint import DoubtBits, ObservedInstruction, about_to_store, choosing, covered_words, results
from ptosim.native.observe.tracks import tracks_of
from ptosim.native.observe.wait_ranges import Ranges
from ptosim.native.observe.workitem_stamps import StampEmitter
from ptosim.native.observe.workitems import WorkitemFilter, stamped_bytes
from ptosim.native.vector.registers import extract
from ptosim.target.profile import Target

V = SLOT[Pipe.V]

ST_LD, LD_ST = range(2)
"""Aliases that have an epoch of their own (`layout.EPOCHS`): a load behind a store, a store behind a load."""
GRANULES = VECTOR_BYTES // GRANULE  # in a register

SUSPICION = ("suspicion", "", None, Pipe.S)
"""The way in which a block fails that has to be judged."""


class Filter(CodeObserver):
    """The observer of one kernel under construction."""

    purpose = "check"

    def __init__(self, entries: Mapping[CoreKind, PTOFunction], target: Target) -> None:
        self.target = target
        operations = list(reached(*entries.values()))
        self._clauses = remark_conditions.clause_copies(operations)
        waits = any(isinstance(op, SimTSync) for op in operations)
        meets = any(isinstance(op, SyncSet | SyncWait) and op.integer("ffts_mode") == 1 for op in operations)
        self.layout = Layout(target.memory, len(entries) > 1, waits, meets)
        self.layout.add(tracks_of(entries, target.architecture))
        self.clocks = ClockEmitter(self.layout)
        self.shadow = Shadow(self.layout)
        self.roots = RootTrack(self.layout, self.shadow, operations, target.architecture)
        self.copies = Copies(self.shadow, self.clocks, self.suspect, self.roots)
        self.ranges = Ranges(self.shadow, self.clocks)
        self.records = Records(self.layout)
        self._chosen = Chosen(self.layout, self.suspect)
        self.flags = self._signals = SignalEmitter(self.clocks, self.suspect)
        self.counters = Semaphores(self.clocks, target, self.suspect)
        self.doubts = DoubtBits()
        self.stamped = stamped_bytes(entries.values(), target.architecture)
        if self.stamped:
            stamps = StampEmitter(self.shadow, self.clocks, self.roots, self.suspect, self.stamped)
            self.workitems = WorkitemFilter(
                entries, target.architecture, self.layout, stamps, self.records, self.suspect
            )
            self.shadow.most = USER_ROOM // GRANULE if shares_ub(entries.values()) else None
        self._instructions: list[ObservedInstruction] = []
        self._site: int | None = None
        self._visits: dict[FunctionBuilder, Visit] = {}
        self._scopes: dict[FunctionBuilder, Scope] = {}
        self._held: dict[FunctionBuilder, Held] = {}

    @property
    def state_bytes(self) -> int:  # pyright: ignore[reportIncompatibleVariableOverride]
        return self.layout.size

    def facts(self) -> dict[str, Any]:
        own = [[start, self.layout.granules(space)] for space, start in self.layout.defined.items()]
        shared = [self.layout.is_shared(space) for space in self.layout.defined]
        outline = {
            "shared": self.layout.shared,
            "semaphores": self.layout.semaphores,
            "row": self.layout.row,
            "stamped": self.stamped,
            "defined": [
                *(each for each, elsewhere in zip(own, shared, strict=True) if not elsewhere),
                *self.roots.cleared,
            ],
            "shared_defined": [each for each, elsewhere in zip(own, shared, strict=True) if elsewhere],
        }
        return {"outline": outline}

    def suspect(self, f: FunctionBuilder, doubtful: Value) -> None:
        if self._site is None:
            self._site = f.module.site(SUSPICION)
        f.check(doubtful, self._site)

    # --- programs and entries -----------------------------------------------------------------------------------------

    def program_begins(self, core: Core) -> None:
        f = core.f
        if self.layout.waits_for_bytes:
            self.ranges.begin_block(f)
        many = clocks.counts(f).compare("ugt", clocks.MOST_ENTRIES)
        self.suspect(f, many.bitcast(words.integer(PIPES)) != 0)
        if self.layout.is_mixed:
            return  # what a cluster finds at the start of a block is said before any of its cores begins
        self.clocks.begin_block(f)
        for space, start in self.layout.defined.items():
            clocks.at(f, start).fill(0, self.layout.granules(space))
        self.roots.begin_block(f)

    def program_ends(self, core: Core) -> None:
        """Reports signals that are left over, and copies without a wait."""
        f = core.f
        self.suspect(f, remark_conditions.left_over(f, self._signals.left[core.kind]))
        stored = clocks.at(f, layout.LAST_STORE).load(clocks.COUNTS, PIECE)
        known = clocks.at(f, layout.KNOWN + STEPS * self.layout.row).load(clocks.COUNTS, PIECE)
        open_ = stored.compare("ugt", known)
        pipes = sum(1 << SLOT[pipe] for pipe in PIPES_OF[core.kind] if pipe not in (Pipe.S, Pipe.V))
        self.suspect(f, (open_.bitcast(words.integer(PIPES)) & pipes) != 0)

    def entry_begins(self, core: Core, op: Operation) -> None:
        f = core.f
        slot = SLOT[core.origin.pipe]
        clock, stamp = self.clocks.begin_entry(f, slot)
        self._visits[f] = Visit(core.kind, slot, clock, stamp)
        if is_scope(op):
            self._scopes[f] = scope = scope_of(op, self.target.architecture)
            if scope.has_store_streams:
                self._held[f] = Held.nothing(f) if scope.is_unfolded else Held.beside(f).cleared(f)
            if scope.is_partly_fenced:
                self._next_epoch(f, ST_LD)
                self._next_epoch(f, LD_ST)

    def entry_ends(self, core: Core, op: Operation) -> None:
        del self._visits[core.f]
        self._scopes.pop(core.f, None)
        if (held := self._held.pop(core.f, None)) is not None:
            self.suspect(core.f, held.is_left())

    def is_unfolded(self, f: FunctionBuilder) -> bool:
        return self._scopes[f].is_unfolded

    def scope_of(self, f: FunctionBuilder) -> Scope | None:
        return self._scopes.get(f)

    def helper_begins(self, caller: FunctionBuilder, f: FunctionBuilder, arguments: Sequence[SSAValue]) -> None:
        for argument in arguments:
            self.doubts.put(argument, None)
        if (scope := self._scopes.get(caller)) is None:
            return
        visit = self._visits[caller]
        self._visits[f] = Visit(visit.kind, visit.slot, self.clocks.known(f, visit.slot), clocks.count(f, visit.slot))
        self._scopes[f] = scope
        if caller in self._held:
            self._held[f] = Held.beside(f)

    def _visit(self, core: Core, verb: str) -> Visit:
        """The visit of an access on chip."""
        f = core.f
        visit = self._visits.get(f)
        if visit is None:
            slot = LOCAL_STORES[core.kind] if verb == "writes" else STEPS
            return Visit(core.kind, slot, self.clocks.known(f, STEPS), clocks.step(f, slot))
        scope = self._scopes.get(f)
        if scope is not None and scope.is_fenced:
            return Visit(visit.kind, visit.slot, visit.clock, clocks.count(f, visit.slot))
        return visit

    # --- instructions -------------------------------------------------------------------------------------------------

    def instruction_begins(self, body: FunctionBody, op: Operation) -> None:
        instruction = ObservedInstruction(op, effects().get(op.name), body.builder.module.static(op))
        instruction.stored = about_to_store(body.f, self.doubts, instruction)
        instruction.covered = covered_words(body, instruction)
        self._instructions.append(instruction)
        if (doubtful := choosing(body, self.doubts, instruction)) is not None:
            self.suspect(body.f, doubtful != 0)
        remark_conditions.remark(
            body, op, instruction.static, self._clauses, lambda doubtful: self.suspect(body.f, doubtful)
        )
        if isinstance(op, MemBar):
            self._fence(body.f, op)
        elif isinstance(op, Dsb | FenceBarrierAll):
            self.clocks.stores_ended(body.f, body.kind, reach_of(op))

    def _fence(self, f: FunctionBuilder, op: MemBar) -> None:
        """Accesses before a fence do not alias those behind it, as if another entry began."""
        scope, kind = self._scopes.get(f), op.word("order") or "VV_ALL"
        if scope is None or scope.has_scalar_accesses:
            return
        if kind in ("VV_ALL", "VST_VST"):
            clocks.counted(f, V)
        if kind in ("VV_ALL", "VST_VLD") and scope.is_partly_fenced:
            self._next_epoch(f, ST_LD)
        if kind in ("VV_ALL", "VLD_VST") and scope.is_partly_fenced:
            self._next_epoch(f, LD_ST)

    def instruction_ends(self, body: FunctionBody, op: Operation) -> None:
        instruction = self._instructions.pop()
        for result, taint in results(body, self.doubts, instruction):
            if isinstance(result.type, VregType):
                self.doubts.put(result, taint)
            elif taint is not None:
                self.suspect(body.f, taint != 0)

    def crosses(self, body: FunctionBody, values: Iterable[SSAValue]) -> None:
        for value in values:
            taint = self.doubts.of(value)
            if taint is not None:
                self.suspect(body.f, taint != 0)
            if isinstance(state := body[value], Align) and goes_on_twice(value):
                self.suspect(body.f, state.pending != 0)

    def renamed(self, values: Sequence[SSAValue], names: Sequence[SSAValue]) -> None:
        doubts = [self.doubts.of(value) for value in values]
        for name, taint in zip(names, doubts, strict=True):
            self.doubts.put(name, taint)

    # --- memory -------------------------------------------------------------------------------------------------------

    def accessed(self, core: Core, access: OnChipAccess) -> None:
        f, size, extent, aligned = core.f, self.target.memory[access.space], access.extent, access.alignment
        place = f.confined(access.address, size)
        if access.active is not None:
            self.suspect(f, access.address.compare("ugt", size - extent))
        if aligned % GRANULE and extent > GRANULE:
            if core.f in self._scopes:
                (self._write_anywhere if access.verb == "writes" else self._read_anywhere)(core, place, access)
                return
            self.suspect(f, (place & (GRANULE - 1)) != 0)  # a sort, which should begin with a granule
            aligned = GRANULE
        touch = shadow.vector(f, place, extent) if aligned % GRANULE == 0 else shadow.element(f, place, extent)
        if access.active is not None:
            touch = shadow.active(f, touch, access.active(), access.unit)
        visit = self._visit(core, access.verb)
        instruction = self._instructions[-1]
        if access.verb == "writes":
            self._write(f, access.space, visit, touch, instruction.stored)
        elif (taint := self._read(f, access.space, visit, touch)) is not None:
            instruction.loaded.append(taint)

    def _read_anywhere(self, core: Core, place: Value, access: OnChipAccess) -> None:
        """A load of a register from anywhere in UB, or of a stretch of which it takes a part."""
        f, visit, instruction = core.f, self._visit(core, "reads"), self._instructions[-1]
        extent, active = access.extent, access.active

        def read(touch: GranuleTouch) -> Value:
            doubtful = self._read(f, Space.UB, visit, touch)
            assert doubtful is not None, "of a scope"
            return doubtful

        if extent == VECTOR_BYTES:
            full = words.every(f, words.REGISTER_WORDS)
            wanted = full if active is None else words.of_lanes(f, active(), access.unit)[0]
            instruction.loaded.append(Shifted.at(f, place).gathered(read, wanted))
            return
        starts = range(0, extent, VECTOR_BYTES)
        found = f.constant(words.integer(words.REGISTER_WORDS * len(starts)), 0)
        for start in starts:
            wanted = f.constant(I64, (1 << min(64, -(-(extent - start) // WORD))) - 1)
            part = Shifted.at(f, place + start).gathered(read, wanted)
            found = found | part.zext(found.kind) << (start // WORD)
        instruction.loaded.append(found)

    def _write_anywhere(self, core: Core, place: Value, access: OnChipAccess) -> None:
        """A store of units, some of a stretch anywhere in UB."""
        f, visit, stored = core.f, self._visit(core, "writes"), self._instructions[-1].stored
        assert access.active is not None, "all of a register begins with a granule"
        some, whole = words.of_lanes(f, access.active(), access.unit)
        for start in range(0, access.extent, VECTOR_BYTES):
            shifted = Shifted.at(f, place + start)
            taints = (None, None) if stored is None else shifted.touches(words.part(stored, start))
            covered = shifted.is_odd.select(f.constant(I64, 0), words.part(whole, start))
            parts = zip(shifted.touches(words.part(some, start)), shifted.touches(covered), taints, strict=True)
            for touched, full, taint in parts:
                touch = GranuleTouch(touched.granule, touched.count, touched.some, full.some)
                self._write(f, Space.UB, visit, touch, None if taint is None else taint.some)

    def streamed(self, core: Core, low: Value, high: Value, taken: Value) -> None:
        f, op = core.f, self._instructions[-1].op
        for _, doubt in self.doubts.operands(op):
            self.suspect(f, (doubt & words.lowest(f, (taken + 3).lshr(2))) != 0)
        touch = written(f, f.confined(low, self.target.memory[Space.UB]), low, high)
        self._write(f, Space.UB, self._visit(core, "writes"), touch, None)

    def chosen(self, core: Core, number: Value, apart: bool) -> None:
        if apart:
            self._chosen.add(core, self._visits[core.f], number)

    def held_back(self, core: Core, before: Align, after: Align | None) -> None:
        self._held[core.f].change(before, after)

    def scattered(self, core: Core, verb: str, starts: Value, active: Value, extent: int, units: Value | None) -> None:
        """Lane by lane. Those of blocks keep their doubts apart, of others one lane stands for all."""
        f, instruction, lanes = core.f, self._instructions[-1], starts.kind.lanes
        places = f.confined(active.select(starts, starts.like(0)), self.target.memory[Space.UB])
        visit = self._visit(core, verb)
        if lanes <= GRANULES:
            found = f.constant(I64, 0)
            for number in range(lanes):
                taint = instruction.stored.lshr(8 * number).trunc(I8) if instruction.stored is not None else None
                touch = self._lane(f, extract(places, number), extract(active, number), extent)
                if instruction.covered is not None:
                    touch = GranuleTouch(
                        touch.granule, 1, *(words.of_granule(side, number) for side in instruction.covered)
                    )
                read = self._visited(f, verb, visit, touch, taint)
                found = found | (read.zext(I64) << (8 * number))
        else:
            room = f.scratch(lanes * 9)
            room.store(places, 64)
            flags = room.at(lanes * 8)
            flags.store(active.zext(I8), 1)

            def lane(number: Value, carried: list[Value]) -> Sequence[Value]:
                one = flags.at(number).load(I8) != 0
                touch = self._lane(f, room.at(number << 3).load(I64, 8), one, extent)
                read = self._visited(f, verb, visit, touch, instruction.stored)
                return (carried[0] | read.zext(I64),)

            (found,) = f.for_loop(f.constant(I64, 0), lanes, 1, [f.constant(I64, 0)], lane, polls=False)
        if verb == "reads":
            instruction.loaded.append(found)

    @staticmethod
    def _lane(f: FunctionBuilder, place: Value, active: Value, extent: int) -> GranuleTouch:
        """One lane of a gather or scatter, if it is active."""
        touch = shadow.vector(f, place, extent) if extent == GRANULE else shadow.element(f, place, extent)
        none = touch.some.like(0)
        return GranuleTouch(touch.granule, 1, active.select(touch.some, none), active.select(touch.whole, none))

    def _visited(self, f: FunctionBuilder, verb: str, visit: Visit, touch: GranuleTouch, taint: Value | None) -> Value:
        """Note one lane; gives the doubtful words that it has read."""
        if verb == "writes":
            self._write(f, Space.UB, visit, touch, taint)
            return touch.some.like(0)
        read = self._read(f, Space.UB, visit, touch)
        return touch.some.like(0) if read is None else read

    def _read(self, f: FunctionBuilder, space: Space, visit: Visit, touch: GranuleTouch) -> Value | None:
        """Note a read; gives the doubtful words that a scope has read."""
        instruction, scope = self._instructions[-1], self._scopes.get(f)
        racy, undefined = self.shadow.read(f, Area(space), visit, touch)
        if space is UB and (root := self.roots.of(instruction.op, "reads")) is not None:
            racy = racy | self.shadow.as_words(self.roots.clobbered(f, root, touch)) & touch.some
        if scope is None:
            self.suspect(f, (racy | undefined) != 0)
            return None
        if (held := self._held.get(f)) is not None:
            self.suspect(f, held.meets(touch))
        if scope.stores:
            stores = self.shadow.stores_seen_by_loads if scope.is_partly_fenced else self.shadow.stores
            before = self.shadow.stored_words(f, stores, self._epoch(f, scope, visit, ST_LD), touch)
            self.suspect(f, (before & touch.some) != 0)
        if instruction.op in scope.overtaken:
            track = self.shadow.loads(scope.overtaken[instruction.op])
            self.shadow.put_stamp(f, OWN_UB, track, self._epoch(f, scope, visit, LD_ST), touch)
        assert instruction.record is not None
        (access, *_) = instruction.record.accesses(instruction.static)
        if access.touch == "used":
            return racy | undefined
        self.suspect(f, racy != 0)
        return undefined

    def _write(self, f: FunctionBuilder, space: Space, visit: Visit, touch: GranuleTouch, taint: Value | None) -> None:
        instruction, scope = self._instructions[-1], self._scopes.get(f)
        if space is UB:
            self.roots.write(f, self.roots.of(instruction.op, "writes"), touch)
        if taint is not None and taint.kind != touch.some.kind:
            taint = words.if_any(f, taint, touch.some.kind)
        if scope is None:
            self.suspect(f, self.shadow.write(f, Area(space), visit, touch, taint))
            return
        before = self.shadow.stored_words(f, self.shadow.stores, visit.stamp, touch)
        self.suspect(f, (before & touch.some) != 0)
        if classes := scope.classes(instruction.op):
            self.suspect(f, self.shadow.overtakes(f, self._epoch(f, scope, visit, LD_ST), touch, classes))
        self.suspect(f, self.shadow.write(f, Area(space), visit, touch, taint))
        self.shadow.note_store(f, self.shadow.stores, touch, before)
        if scope.is_partly_fenced:
            stores, epoch = self.shadow.stores_seen_by_loads, self._epoch(f, scope, visit, ST_LD)
            before = self.shadow.stored_words(f, stores, epoch, touch)
            self.shadow.put_stamp(f, OWN_UB, stores.track, epoch, touch)
            self.shadow.note_store(f, stores, touch, before)

    def _epoch(self, f: FunctionBuilder, scope: Scope, visit: Visit, which: int) -> Value:
        """The stamp that a fence orders accesses of a scope by; that of the scope, unless there are fences of some
        classes only.
        """
        if not scope.is_partly_fenced:
            return visit.stamp
        return clocks.at(f, layout.EPOCHS + 4 * which).load(words.integer(32), 4)

    def _next_epoch(self, f: FunctionBuilder, which: int) -> None:
        place = clocks.at(f, layout.EPOCHS + 4 * which)
        place.store(place.load(words.integer(32), 4) + 1, 4)

    def copied(self, core: Core, verb: str, rows: CopyRows, ctrl: Value | None = None) -> None:
        visit = self._visits.get(core.f)
        slot = visit.slot if visit is not None else STORES if verb == "writes" else STEPS
        if rows.space is GM:
            if visit is None:
                clocks.step(core.f, slot)
            self.records.add(core, slot, verb, rows, ctrl)
        else:
            if verb == "writes" and PREFETCH in self._instructions[-1].op.attributes:
                verb = "prefetches"
            self.copies.on_chip(core, slot, verb, rows, self.roots.of(self._instructions[-1].op, verb))

    def carried(self, core: Core, source: CopyRows, dest: CopyRows) -> None:
        self.copies.carried(core, self._visits[core.f].slot, source, dest, self.roots.both(self._instructions[-1].op))

    def turned(self, core: Core, source: CopyRows, dest: CopyRows, width: int) -> None:
        roots = self.roots.both(self._instructions[-1].op)
        self.copies.turned(core, self._visits[core.f].slot, source, dest, width, roots)

    # --- synchronisation ----------------------------------------------------------------------------------------------

    def awaited(self, core: Core, ranges: Sequence[Range]) -> None:
        self.ranges.wait(core, ranges)
