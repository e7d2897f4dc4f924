"""Runs a kernel on the reference engine: translates programs, makes the memories of a block, drives the scheduler."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from types import FrameType, TracebackType
from typing import Any

import numpy as np

from ptosim.diagnostics import PTOError, error
from ptosim.effects.names import CoreKind, Space
from ptosim.language.function import Function
from ptosim.language.load import VerifiedModule
from ptosim.machine.core import Core as MachineCore
from ptosim.machine.entry import Key, Site
from ptosim.machine.launch import KernelKind, Launch
from ptosim.machine.observer import Observer
from ptosim.machine.scheduler import Scheduler, Stop
from ptosim.reference.core import Bytes, Core, GlobalMemory
from ptosim.reference.fault import Fault
from ptosim.reference.observed import ObservedCore
from ptosim.reference.translate import Code, translate
from ptosim.target.profile import Target

ON_CHIP: Mapping[CoreKind, tuple[Space, ...]] = {
    CoreKind.AIV: (Space.UB,),
    CoreKind.AIC: (
        *(Space.L0A, Space.L0B, Space.L0C, Space.BT),
        *(Space.FB, Space.FB_RELU, Space.SCALE_A, Space.SCALE_B),
    ),
}


@dataclass(frozen=True)
class Programs:
    """The translated programs of a kernel."""

    kind: KernelKind
    codes: Mapping[CoreKind, Code]


def prepare(
    module: VerifiedModule, kind: KernelKind, entries: Mapping[CoreKind, Function], observed: bool = False
) -> Programs:
    """Translate a kernel for the cores it runs on."""
    return Programs(kind, {core: translate(module, entry, core, observed) for core, entry in entries.items()})


@dataclass
class Run:
    """One launch of a kernel."""

    programs: Programs
    target: Target
    arguments: Sequence[Any]
    memory: GlobalMemory
    grid: int
    schedule: str = "program"
    max_steps: int = 10**9
    observer: Observer | None = None
    reachable: Callable[[MachineCore, Key], bool] | None = None
    stop: Stop | None = None
    cross_block: bool = False

    def __call__(self, blocks: Sequence[int] | None = None) -> None:
        """Run all blocks, or the given ones, in ascending order."""
        launch = Launch(self.programs.kind, self.grid)
        self.stop = self.stop or Stop()
        self._clusters: dict[int, dict[str, dict[Space, Bytes]]] = {}
        scheduler = Scheduler(
            self.target,
            launch,
            self._program,
            schedule=self.schedule,
            observer=self.observer,
            reachable=self.reachable,
            stop=self.stop,
        )
        if self.cross_block:
            scheduler.run_grid()
            return
        for block in range(self.grid) if blocks is None else blocks:
            scheduler.run_block(block)
            self._clusters.pop(block, None)

    def _program(self, machine: MachineCore) -> None:
        code = self.programs.codes[machine.kind]
        core = self._core(machine)
        try:
            with np.errstate(all="ignore"):
                code.program(core, *self.arguments)
        except Fault as fault:
            raise self._located(fault, fault.__traceback__) from None

    def _core(self, machine: MachineCore) -> Core:
        """A core with the memories of its cluster, made together: cores share L1 and write each other's UB."""
        if machine.block not in self._clusters:
            self._clusters[machine.block] = self._memories(machine)
        kind = Core if self.observer is None else ObservedCore
        return kind(
            machine, self._clusters[machine.block], self.memory, self.max_steps, self.target.name, self.stop or Stop()
        )

    def _memories(self, machine: MachineCore) -> dict[str, dict[Space, Bytes]]:
        shared = self._zeros(Space.L1)
        return {
            core.role: {Space.L1: shared, **{space: self._zeros(space) for space in ON_CHIP[core.kind]}}
            for core in machine.cluster.cores
        }

    def _zeros(self, space: Space) -> Bytes:
        return np.zeros(self.target.memory[space.value], np.uint8)

    def _located(self, fault: Fault, traceback: TracebackType | None) -> PTOError:
        """Give a fault the place of the instruction that was running, and the loop indices around it."""
        site: Site | None = None
        loops: list[int] = []
        by_file = {code.filename: code for code in self.programs.codes.values()}
        while traceback is not None:
            code = by_file.get(traceback.tb_frame.f_code.co_filename)
            if code is not None:
                site = code.sites.get(traceback.tb_lineno, site)
                loops += _loop_indices(code, traceback.tb_frame, traceback.tb_lineno)
            traceback = traceback.tb_next
        return error(fault.kind, fault.message, site.location if site else None, loops=tuple(loops), **fault.fields)


def _loop_indices(code: Code, frame: FrameType, line: int) -> list[int]:
    """The values of the loop variables around a line of the translated text."""
    lines = _lines(code)
    indent = len(lines[line - 1]) - len(lines[line - 1].lstrip())
    found: list[int] = []
    for number in range(line - 1, 0, -1):
        text = lines[number - 1]
        depth = len(text) - len(text.lstrip())
        if depth < indent:
            indent = depth
            if text.lstrip().startswith("for "):
                found.append(frame.f_locals.get(text.split()[1], 0))
        if depth == 0:
            break
    return found[::-1]


@cache
def _lines(code: Code) -> list[str]:
    return code.text.splitlines()
