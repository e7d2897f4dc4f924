"""The public calls: load a module, run a kernel, check it, profile it. Joins the floors and does nothing else."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ptosim.arguments import Arguments, Parameter, bind
from ptosim.diagnostics import Diagnostic, Source, error

if TYPE_CHECKING:
    from ptosim.language.load import KernelProgram, VerifiedModule
    from ptosim.machine.observer import Observer
    from ptosim.machine.scheduler import Stop
    from ptosim.reference.engine import Programs, Run

ENGINES = ("reference",)


def load(source: str | os.PathLike[str], target: str | None = None) -> Module:
    """Read a kernel file (or the text itself, when it holds a newline) and verify it.

    Raises PTOError with the first syntax error, or with all errors of the verifier in source order. `target` overrides
    the module's `pto.target_arch`.
    """
    from ptosim.language.load import load as load_language

    return Module(load_language(_source(source), target))


def _source(source: str | os.PathLike[str]) -> Source:
    if isinstance(source, str) and "\n" in source:
        return Source("<text>", source)
    path = Path(source)
    try:
        return Source(str(path), path.read_text("utf-8"))
    except UnicodeDecodeError:
        raise error("syntax", f"{path} is not a text file in UTF-8") from None
    except (OSError, ValueError) as reason:
        raise error("argument", f"cannot read {path}: {getattr(reason, 'strerror', None) or reason}") from None


class Module:
    """A verified module: its kernels by name, and what the verifier warned of."""

    def __init__(self, verified: VerifiedModule) -> None:
        self.verified = verified

    @property
    def warnings(self) -> tuple[Diagnostic, ...]:
        return tuple(self.verified.warnings)

    @cached_property
    def kernels(self) -> Mapping[str, Kernel]:
        return {program.name: Kernel(self, program) for program in self.verified.kernels}

    def kernel(self, name: str | None = None) -> Kernel:
        """The kernel of this name; without a name the only one."""
        choices = ", ".join(self.kernels) or "none"
        if name is None:
            if len(self.kernels) != 1:
                raise error("argument", f"the module has {len(self.kernels)} kernels; choose one of: {choices}")
            return next(iter(self.kernels.values()))
        if name not in self.kernels:
            raise error("argument", f"there is no kernel '{name}'; the module has: {choices}")
        return self.kernels[name]

    def __str__(self) -> str:
        """The module in canonical text."""
        from ptosim.language.load import text

        return text(self.verified)


class Kernel:
    """An entry function that can be launched."""

    def __init__(self, module: Module, program: KernelProgram) -> None:
        self.module = module
        self.program = program
        self._programs: dict[bool, Programs] = {}

    @property
    def name(self) -> str:
        return self.program.name

    @cached_property
    def signature(self) -> tuple[Parameter, ...]:
        return tuple(Parameter(name, type_) for name, type_ in self.program.signature)

    def __repr__(self) -> str:
        parameters = ", ".join(f"{parameter.name}: {parameter.type}" for parameter in self.signature)
        return f"<kernel {self.name}({parameters}) for {self.module.verified.target}>"

    def __call__(
        self,
        *args: Any,
        grid: int = 1,
        engine: str = "reference",
        oob: str = "error",
        threads: int | None = None,
        schedule: str = "program",
        max_steps: int = 10**9,
    ) -> None:
        """Run the kernel on `grid` blocks (clusters, for a mixed kernel). Arrays are changed in place."""
        arguments = bind(self.signature, args)
        launch = Launch(arguments, _count("grid", grid), oob, schedule, _count("max_steps", max_steps))
        if engine not in ENGINES:
            raise error("argument", f"engine is one of {', '.join(ENGINES)}, not {engine!r}")
        if threads is not None:
            _count("threads", threads)
        self.reference(launch)()

    # --- for the other public calls ------------------------------------------------------------------------------

    def reference(self, launch: Launch, observer: Observer | None = None, stop: Stop | None = None) -> Run:
        """A run on the reference engine, ready to start."""
        from ptosim.reference.core import GlobalMemory
        from ptosim.reference.engine import Run
        from ptosim.target.profile import load_target

        arguments = launch.arguments
        return Run(
            self._translated(observer is not None),
            load_target(self.module.verified.target),
            arguments.values,
            GlobalMemory(arguments.buffers, arguments.names, launch.oob == "drop"),
            launch.grid,
            launch.schedule,
            launch.max_steps,
            observer,
            stop=stop,
            cross_block=self.program.cross_block,
        )

    def _translated(self, observed: bool) -> Programs:
        from ptosim.machine.launch import KernelKind
        from ptosim.reference.engine import prepare

        if observed not in self._programs:
            kind, entries = KernelKind(self.program.kind), self.program.entries
            self._programs[observed] = prepare(self.module.verified, kind, entries, observed)
        return self._programs[observed]


@dataclass(frozen=True)
class Launch:
    """One call of a kernel, its arguments fitted and its options checked."""

    arguments: Arguments
    grid: int = 1
    oob: str = "error"
    schedule: str = "program"
    max_steps: int = 10**9

    def __post_init__(self) -> None:
        if self.oob not in ("error", "drop"):
            raise error("argument", f"oob is 'error' or 'drop', not {self.oob!r}")


def _count(name: str, value: Any) -> int:
    if isinstance(value, bool) or not hasattr(value, "__index__") or value.__index__() < 1:
        raise error("argument", f"{name} is a positive integer, not {value!r}")
    return value.__index__()


__all__: Sequence[str] = ("Kernel", "Launch", "Module", "load")
