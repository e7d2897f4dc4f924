"""Runs a kernel on the reference engine: translates programs, makes the memories of a block, drives the scheduler."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from mmap import mmap
from types import FrameType
from typing import Any

import numpy as np
from xdsl.ir import Operation, SSAValue

from ptosim.diagnostics import Details, PTOError, error
from ptosim.effects.names import CoreKind, Pipe, Space
from ptosim.language.analysis.reachable_sets import following_sets, is_left_out, sets, sets_of
from ptosim.language.load import VerifiedModule
from ptosim.language.operation import PTOOperation
from ptosim.language.structure.function import Function
from ptosim.language.text.parser import without_collection
from ptosim.language.text.print_format import Say, show
from ptosim.machine.core import Core as MachineCore
from ptosim.machine.entry import Key, Site
from ptosim.machine.launch import LaunchGeometry
from ptosim.machine.memory import poisoned
from ptosim.machine.observer import Closeness, Observer
from ptosim.machine.scheduler import Scheduler, Stop
from ptosim.machine.schedules import in_order
from ptosim.reference.core import Core, delayed
from ptosim.reference.fault import Fault
from ptosim.reference.memory.access_places import Bytes
from ptosim.reference.memory.memories import GlobalMemory
from ptosim.reference.memory.port import Witness
from ptosim.reference.observed.access_witness import AccessWitness
from ptosim.reference.observed.entry_witness import EntryWitness
from ptosim.reference.translate import Inspection, TranslatedProgram, Translator
from ptosim.reference.workitems.warp import WorkitemFault
from ptosim.target.profile import Target

ON_CHIP: Mapping[CoreKind, tuple[Space, ...]] = {
    CoreKind.AIV: (Space.UB,),
    CoreKind.AIC: (
        *(Space.L0A, Space.L0B, Space.L0C, Space.BT),
        *(Space.FB, Space.FB_RELU, Space.SCALE_A, Space.SCALE_B),
    ),
}


_WITNESSES: Mapping[Closeness, type[Witness]] = {
    "entries": EntryWitness,
    "accesses": AccessWitness,
}


Programs = Mapping[CoreKind, TranslatedProgram]
"""The translated programs of a kernel."""


@without_collection()
def prepare(
    module: VerifiedModule,
    entries: Mapping[CoreKind, Function],
    observed: Closeness | None = None,
    inspection: Inspection | None = None,
) -> Programs:
    """Translate a kernel for the cores it runs on."""
    return {core: Translator(module, core, observed, inspection).translate(entry) for core, entry in entries.items()}


@dataclass(frozen=True, eq=False)
class ReferenceLaunch:
    """One launch of a run: a kernel on the blocks of one rank."""

    programs: Programs
    arguments: Callable[[int], Sequence[Any]]
    """By block."""
    memory: GlobalMemory
    launch: LaunchGeometry


@dataclass
class Run:
    """A list of launches; most have one."""

    parts: Sequence[ReferenceLaunch]
    target: Target
    schedule: str = "program"
    max_steps: int = 10**9
    observer: Observer | None = None
    stop: Stop | None = None
    together: bool = False
    """All blocks run at once, because they wait for each other; more than one launch always does."""
    block_done: Callable[[], None] | None = None
    poison: bool = False
    say: Say | None = show

    def __call__(self, blocks: Sequence[int] | None = None) -> None:
        """Run all blocks, or the given ones of the only launch, in ascending order."""
        self.stop = self.stop or Stop()
        self._clusters: dict[tuple[int, int], dict[str, dict[Space, Bytes]]] = {}
        scheduler = Scheduler(
            self.target,
            [part.launch for part in self.parts],
            self._program,
            schedule=self.schedule,
            observer=self.observer,
            reachable=self._may_set,
            stop=self.stop,
        )
        try:
            self._blocks(scheduler, range(self.parts[0].launch.blocks) if blocks is None else blocks)
        except Fault as fault:  # of an entry that was still queued when the program of its core had ended
            raise self._located(fault) from None

    def _blocks(self, scheduler: Scheduler, blocks: Sequence[int]) -> None:
        if self.together or len(self.parts) > 1:
            scheduler.run_grid()
            return
        for block in in_order(self.schedule, blocks):
            scheduler.run_block(block)
            self._clusters.clear()
            if self.block_done is not None:
                self.block_done()

    def _program(self, machine: MachineCore) -> None:
        part = self._part(machine)
        code = part.programs[machine.kind]
        machine.regions = part.memory.regions
        core = self._core(machine, part)
        try:
            with np.errstate(all="ignore"):
                code.program(core, *part.arguments(machine.block)[: code.parameters])
                machine.drain()
        except Fault as fault:
            raise self._located(fault, core) from None
        except PTOError as problem:
            raise self._with_loops(problem, core) from None

    def _part(self, machine: MachineCore) -> ReferenceLaunch:
        return self.parts[machine.progress.number]

    def _core(self, machine: MachineCore, part: ReferenceLaunch) -> Core:
        """A core with the memories of its cluster, made together: cores share L1 and write each other's UB."""
        place = machine.progress.number, machine.block
        if place not in self._clusters:
            self._clusters[place] = self._memories(machine)
        core = self._core_of(
            machine, self._clusters[place], part.memory, self.max_steps, self.target.architecture, self.stop or Stop()
        )
        core.together = self.together or len(self.parts) > 1
        core.say = self.say
        core.unit_flags = part.programs[machine.kind].unit_flags
        core.indices = self._indices
        core.standing = self._standing
        if self.observer is not None:
            core.witness = witness = _WITNESSES[self.observer.closeness](core)
            core.use(witness)
        return core

    def _core_of(self, *given: Any) -> Core:
        return Core(*given)

    def _memories(self, machine: MachineCore) -> dict[str, dict[Space, Bytes]]:
        shared = self._new(Space.L1)
        return {
            core.role: {Space.L1: shared, **{space: self._new(space) for space in ON_CHIP[core.kind]}}
            for core in machine.cluster.cores
        }

    def _new(self, space: Space) -> Bytes:
        """Zeros take neither memory nor time before they are touched, and most of a memory never is."""
        size = self.target.memory[space.value]
        return np.frombuffer(bytearray(poisoned(size)) if self.poison else mmap(-1, size), np.uint8)

    def _may_set(self, core: MachineCore, key: Key) -> bool:
        """From where its scalar unit stands, may a core still issue something that sets this?"""
        part = self._part(core)
        code = part.programs[core.kind]
        op = code.operations.get(core.waiting.site) if core.waiting is not None else None
        if not core.started:
            following = sets_of(code.entry, core.kind)
        else:
            following = self._following(op, core.kind) if op is not None else ()
        given = dict[SSAValue, int](zip(code.entry.body.block.args, part.arguments(core.block), strict=False))
        return any(sets(other, key) and not is_left_out(other, given) for other in following)

    @cached_property
    def _following(self) -> Callable[[Operation, CoreKind], tuple[PTOOperation, ...]]:
        return cache(following_sets)

    # --- where a fault happened ---------------------------------------------------------------------------------------

    def _located(self, fault: Fault, core: Core | None = None) -> PTOError:
        """Give a fault the place of the instruction that was running, and the loop indices around it."""
        core, site, loops = self._place(fault, core)
        site = fault.site if isinstance(fault, WorkitemFault) else site
        assert core is not None  # a fault outside of a program is one of a delayed entry, which names its core
        context = Details(core=core.machine.name, block=core.machine.block, loops=loops)
        if site is not None:
            context["pipe"] = str(Pipe.V if site.scope is not None else site.pipe)
        context.update(fault.fields)
        return error(fault.kind, fault.message, site.location if site else None, **context)

    def _with_loops(self, problem: PTOError, core: Core) -> PTOError:
        """An error of the machine has its place; a deadlock has many, of which none is this one."""
        loops = self._place(problem, core)[2]
        return PTOError(
            *(
                replace(found, loops=loops) if not found.loops and found.kind not in _MANY_PLACES else found
                for found in problem.raised
            )
        )

    def _place(self, problem: Exception, core: Core | None) -> tuple[Core | None, Site | None, tuple[int, ...]]:
        """The core and the instruction that ran, with the iterations of the loops around it."""
        site: Site | None = None
        loops: tuple[int, ...] = ()
        traceback = problem.__traceback__
        while traceback is not None:
            frame = traceback.tb_frame
            code = self._codes.get(frame.f_code.co_filename)
            if frame.f_code is delayed.__code__:  # an entry that was issued elsewhere, perhaps by another core
                core, site, loops = (frame.f_locals[name] for name in ("core", "site", "loops"))
            elif code is not None:
                site = code.sites.get(traceback.tb_lineno, site)
                loops += _values(code, frame, traceback.tb_lineno)
            traceback = traceback.tb_next
        return core, site, loops

    def _indices(self, frame: FrameType | None) -> tuple[int, ...]:
        """The indices of the loops around the code that has called a frame; of a delayed entry, those of its issue."""
        loops: tuple[int, ...] = ()
        for caller, code in self._callers(frame):
            if code is None:
                return caller.f_locals["loops"] + loops
            loops = _values(code, caller, caller.f_lineno) + loops
        return loops

    def _standing(self, frame: FrameType | None) -> Site | None:
        """The instruction whose code has called a frame; of a delayed entry, that entry's."""
        for caller, code in self._callers(frame):
            if code is None:
                return caller.f_locals["site"]
            if caller.f_lineno in code.sites:
                return code.sites[caller.f_lineno]
        return None

    def _callers(self, frame: FrameType | None) -> Iterator[tuple[FrameType, TranslatedProgram | None]]:
        """The frames of translated code that have called a frame, the innermost first; without code, that of a delayed
        entry."""
        while frame is not None and frame.f_code is not Run._program.__code__:  # what has called that is not translated
            if frame.f_code is delayed.__code__:
                yield frame, None
            elif (code := self._codes.get(frame.f_code.co_filename)) is not None:
                yield frame, code
            frame = frame.f_back

    @cached_property
    def _codes(self) -> Mapping[str, TranslatedProgram]:
        return {code.filename: code for part in self.parts for code in part.programs.values()}


_MANY_PLACES = ("deadlock", "unmatched-wait")


def _values(code: TranslatedProgram, frame: FrameType, line: int) -> tuple[int, ...]:
    names = code.loops.get(line, ())
    return tuple(frame.f_locals.get(name, 0) for name in names) if names else ()
