"""How many bytes an instruction of a pipe reads and writes: found out by carrying it out once, on memories that hold
nothing. It depends on the operands that are no pointers; whoever asks has run the instruction already, so that it lies
inside of its memories."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray
from xdsl.ir import Operation

from ptosim.effects.names import CoreKind, Space
from ptosim.language.load import VerifiedModule
from ptosim.language.static import static_of
from ptosim.machine.launch import KernelKind, Launch
from ptosim.machine.memory import NO_REGIONS
from ptosim.machine.scheduler import Scheduler, Stop
from ptosim.reference.catalogue import semantics_of
from ptosim.reference.core import Bytes, Combine, Core, GlobalMemory
from ptosim.reference.numbers import Lanes
from ptosim.reference.places import Starts
from ptosim.reference.translate import Translator
from ptosim.target.profile import Target

_KINDS = {CoreKind.AIV: KernelKind.VECTOR, CoreKind.AIC: KernelKind.CUBE}


class Moved(NamedTuple):
    read: int
    written: int


class _EmptyCore(Core):
    """Every access is counted, reads zeros and writes nothing."""

    read_bytes = 0
    written_bytes = 0

    def read(
        self, space: Space, start: int, width: int, alignment: int = 1, by_use: bool = False, at: str | None = None
    ) -> Bytes:
        self.read_bytes += width
        return np.zeros(width, np.uint8)

    def load(self, start: int, dtype: np.dtype[Any]) -> Lanes:
        raise AssertionError("a copy does not load registers")

    def read_pieces(self, space: Space, starts: Starts, width: int, alignment: int = 1, at: str | None = None) -> Bytes:
        self.read_bytes += width * len(starts)
        return np.zeros((len(starts), width), np.uint8)

    def write(
        self,
        space: Space,
        start: int,
        data: Bytes,
        alignment: int = 1,
        active: NDArray[np.bool_] | None = None,
        at: str | None = None,
    ) -> None:
        self.written_bytes += len(data)

    def write_pieces(
        self, space: Space, starts: Starts, data: Bytes, alignment: int = 1, at: str | None = None
    ) -> None:
        self.written_bytes += data.size

    def accumulate(self, space: Space, starts: Starts, data: Bytes, combine: Combine, name: str) -> None:
        pass

    def holds(self, *arguments: Any, **options: Any) -> bool:
        return True


class Gauge:
    """Measures the instructions of one module."""

    def __init__(self, module: VerifiedModule, target: Target) -> None:
        self.module = module
        self.target = target
        self._memories: Mapping[Space, Bytes] = {
            Space(space): np.zeros(size, np.uint8) for space, size in target.memory.items()
        }
        self._acts: dict[tuple[Operation, CoreKind], tuple[Callable[..., Any], bool]] = {}

    def moved(
        self, op: Operation, kind: CoreKind, operands: Sequence[int], registers: Mapping[str, int] | None = None
    ) -> Moved:
        """What an instruction moves on a core of this kind, with these operands and configuration registers."""
        key = op, kind
        if key not in self._acts:
            self._acts[key] = self._act(op, kind)
        act, is_transfer = self._acts[key]
        core = self._core(kind, registers or {})
        with np.errstate(all="ignore"):
            if not is_transfer:
                act(core, *operands)
                return Moved(core.read_bytes, core.written_bytes)
            halves = cast("Iterator[None]", act(core, *operands))
            next(halves, None)
            read = core.read_bytes
            next(halves, None)
        return Moved(read, core.written_bytes)

    def _act(self, op: Operation, kind: CoreKind) -> tuple[Callable[..., Any], bool]:
        """The function of an instruction, of a core and of the values of its operands; whether it works in halves."""
        meaning = semantics_of(op.name)
        assert meaning is not None
        translator = Translator(self.module, kind, None, None)
        distinct = list(dict.fromkeys(op.operands))
        translator.names.update({value: f"r{number}" for number, value in enumerate(distinct)})
        arguments = translator.arguments(op, meaning, static_of(op, self.module.target))
        function = translator.constant(meaning.function, "k")
        names = ", ".join(("core", *(f"r{number}" for number in range(len(distinct)))))
        text = f"lambda {names}: {function}({', '.join(arguments)})"
        return eval(text, translator.namespace), meaning.is_transfer

    def _core(self, kind: CoreKind, registers: Mapping[str, int]) -> _EmptyCore:
        machine = Scheduler(self.target, Launch(_KINDS[kind], 1), lambda core: None).attend(0)
        roles: dict[str, Mapping[Space, Bytes]] = dict.fromkeys(("aic", "aiv0", "aiv1"), self._memories)
        empty = GlobalMemory(NO_REGIONS, {}, False)
        core = _EmptyCore(machine, roles, empty, 1, self.target.architecture, Stop())
        core.ctrl = registers.get("CTRL", core.ctrl)
        return core
