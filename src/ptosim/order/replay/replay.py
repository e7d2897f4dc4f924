"""One replay of a kernel, and the search of many for what goes wrong."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from ptosim.diagnostics import PTOError
from ptosim.effects.names import CoreKind
from ptosim.language.analysis.reachable_sets import following_sets, is_left_out, sets, sets_of
from ptosim.language.load import VerifiedModule
from ptosim.language.structure.function import Function
from ptosim.machine.core import Core
from ptosim.machine.entry import Key
from ptosim.machine.launch import KernelKind, LaunchGeometry
from ptosim.machine.scheduler import Scheduler
from ptosim.order.replay.byte_shadow import ByteShadow, Shown
from ptosim.order.replay.scalar_program import ScalarProgram
from ptosim.order.replay.scalar_run import ReplayLaunch, ScalarRun, Unreplayable
from ptosim.target.profile import load_target

MOST_STEPS = 1 << 11
"""Iterations of a core."""
MOST_EFFORT = 1 << 13
"""Entries of one replay."""


@dataclass(frozen=True)
class Replayed:
    """The faults of a launch."""

    launch: ReplayLaunch
    shown: tuple[Shown, ...]
    doubts: tuple[str, ...]
    """Decisions by data that no replay knows."""
    incomplete: str = ""
    """Why it did not come to the end of the programs."""
    effort: int = 0
    """The effort in entries."""

    @property
    def is_clean(self) -> bool:
        return not self.incomplete and not any(each.certain for each in self.shown)


class Replayer:
    """Replays one kernel."""

    def __init__(self, module: VerifiedModule, entries: Mapping[CoreKind, Function]) -> None:
        self.module, self.entries = module, dict(entries)
        self.programs = {kind: ScalarProgram(module, function, kind) for kind, function in entries.items()}
        self.target = load_target(module.target)
        self.kind = KernelKind.MIXED if len(entries) > 1 else _KINDS[next(iter(entries))]

    def replay(self, launch: ReplayLaunch, effort: int = MOST_EFFORT) -> Replayed:
        """One launch, all its blocks at once, as far as so many entries go."""
        runs: dict[Core, ScalarRun] = {}
        shadow = ByteShadow(lambda core: runs[core].trail if core in runs else (), effort)

        def program(core: Core) -> None:
            runs[core] = ScalarRun(core, launch, shadow.touch, MOST_STEPS)
            self.programs[core.kind].run(runs[core])

        scheduler = Scheduler(
            self.target,
            LaunchGeometry(self.kind, launch.blocks),
            program,
            observer=shadow,
            reachable=partial(self._may_set, runs),
        )
        incomplete = ""
        try:
            scheduler.run_grid() if launch.blocks > 1 else scheduler.run_block(0)
        except Unreplayable as reason:
            incomplete = str(reason)
        except PTOError as problem:
            incomplete = problem.diagnostics[0].message
        doubts = tuple(dict.fromkeys(why for run in runs.values() for why in run.doubts.values()))
        return Replayed(launch, shadow.shown, doubts, incomplete, effort - max(shadow.effort, 0))

    def _may_set(self, runs: Mapping[Core, ScalarRun], core: Core, key: Key) -> bool:
        """From where its scalar unit stands, may a core still issue something that sets this?"""
        program = self.programs[core.kind]
        if not core.started:
            following = sets_of(program.function, core.kind)
        else:
            waiting = core.waiting.site if core.waiting is not None else None
            op = next((op for op, site in program.sites.items() if site is waiting), None)
            following = following_sets(op, core.kind) if op is not None else ()
        arguments = runs[core].launch.arguments(program.function) if core in runs else {}
        given = {value: number for value, number in arguments.items() if isinstance(number, int)}
        return any(sets(op, key) and not is_left_out(op, given) for op in following)


_KINDS = {CoreKind.AIV: KernelKind.VECTOR, CoreKind.AIC: KernelKind.CUBE}
