"""The number of bytes that an instruction of a pipe moves, found by carrying it out once, on memories that hold
nothing. It depends on the operands that are no pointers; the instruction has run before, so that it lies inside of its
memories."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from xdsl.ir import Operation

from ptosim.effects.fractal import PARAMETERS
from ptosim.effects.names import CoreKind, Space
from ptosim.language.load import VerifiedModule
from ptosim.machine.launch import KernelKind, LaunchGeometry
from ptosim.machine.memory import NO_REGIONS
from ptosim.machine.scheduler import Scheduler, Stop
from ptosim.reference.catalogue import semantics_of
from ptosim.reference.core import Core
from ptosim.reference.memory.access_places import Bytes
from ptosim.reference.memory.memories import GlobalMemory
from ptosim.reference.memory.port import AccessPlace, Active, Atomic, Complaint, Port
from ptosim.reference.semantics import complete
from ptosim.reference.translate import Translator
from ptosim.target.profile import Target

_KINDS = {CoreKind.AIV: KernelKind.VECTOR, CoreKind.AIC: KernelKind.CUBE}


class Moved(NamedTuple):
    read: int
    written: int


class Counted(Port):
    """Every access is counted, except to parameters; it reads zeros and writes nothing."""

    read_bytes = 0
    written_bytes = 0

    def read(self, place: AccessPlace, by_use: bool = False) -> Bytes:
        data = np.zeros(place.shape, np.uint8)
        self.read_bytes += 0 if place.space in PARAMETERS else data.size
        return data

    def write(
        self, place: AccessPlace, data: Bytes, active: Active | None = None, atomic: Atomic | None = None
    ) -> None:
        if atomic is None:
            self.written_bytes += data.size

    def say(self, complaint: Complaint) -> None:
        """Nothing is wrong with an instruction that has run."""


class Gauge:
    """Measures the instructions of one module."""

    def __init__(self, module: VerifiedModule, target: Target) -> None:
        self.module = module
        self.target = target
        self._memories: Mapping[Space, Bytes] = {
            Space(space): np.zeros(size, np.uint8) for space, size in target.memory.items()
        }
        self._acts: dict[tuple[Operation, CoreKind], Callable[..., Any]] = {}

    def moved(
        self, op: Operation, kind: CoreKind, operands: Sequence[int], registers: Mapping[str, int] | None = None
    ) -> Moved:
        """Bytes that an instruction moves on a core of this kind, with these operands and configuration registers."""
        key = op, kind
        if key not in self._acts:
            self._acts[key] = self._act(op, kind)
        core = self._core(kind, registers or {})
        port = Counted()
        core.use(port)
        with np.errstate(all="ignore"):
            complete(self._acts[key](core, *operands))
        return Moved(port.read_bytes, port.written_bytes)

    def _act(self, op: Operation, kind: CoreKind) -> Callable[..., Any]:
        """The function of an instruction, of a core and of the values of its operands."""
        meaning = semantics_of(op.name)
        assert meaning is not None
        translator = Translator(self.module, kind)
        distinct = list(dict.fromkeys(op.operands))
        translator.names.update({value: f"r{number}" for number, value in enumerate(distinct)})
        arguments = translator.arguments(op, meaning, self.module.static(op))
        function = translator.constant(meaning.function, "k")
        names = ", ".join(("core", *(f"r{number}" for number in range(len(distinct)))))
        text = f"lambda {names}: {function}({', '.join(arguments)})"
        return eval(text, translator.namespace)

    def _core(self, kind: CoreKind, registers: Mapping[str, int]) -> Core:
        machine = Scheduler(self.target, LaunchGeometry(_KINDS[kind], 1), lambda core: None).attend(0)
        roles: dict[str, Mapping[Space, Bytes]] = dict.fromkeys(("aic", "aiv0", "aiv1"), self._memories)
        empty = GlobalMemory(NO_REGIONS, {}, False)
        core = Core(machine, roles, empty, 1, self.target.architecture, Stop())
        core.ctrl = registers.get("CTRL", core.ctrl)
        return core
