"""Kernels built by hand through the IR, for tests of the run time that need no instruction."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from ptosim.diagnostics import PTOError, error
from ptosim.effects.names import CoreKind, Pipe, Space
from ptosim.machine.entry import Site
from ptosim.machine.launch import KernelKind
from ptosim.machine.memory import pointer
from ptosim.native.build.global_memory import leaves_buffer, locate
from ptosim.native.build.issue import begin_entry, issue, run_entry
from ptosim.native.build.operations import ENTRIES, HandedOperation, Known, entry_symbol
from ptosim.native.host.toolchain import LoadedObject, compile_object
from ptosim.native.ir.context import ContextWord
from ptosim.native.ir.flow import FunctionBuilder
from ptosim.native.ir.module import ObjectModule
from ptosim.native.ir.values import I64, PTR, Value
from ptosim.native.run.cores import CompiledFault, Executable, Invocation
from ptosim.native.run.runtime import Runner
from ptosim.target.profile import load_target

Build = Callable[["Kernel", FunctionBuilder], None]

KINDS = {
    KernelKind.VECTOR: [CoreKind.AIV],
    KernelKind.CUBE: [CoreKind.AIC],
    KernelKind.MIXED: [CoreKind.AIC, CoreKind.AIV],
}


def explain(fault: CompiledFault) -> PTOError:
    message = f"site {fault.site} found {fault.value}"
    return error("trap", message, core=fault.core, block=fault.block, loops=fault.loops)


@dataclass
class Kernel:
    """One scalar program per kind of core; `build` is called with each kind's function to fill."""

    build: Build
    kind: KernelKind = KernelKind.VECTOR
    spaces: frozenset[Space] = frozenset({Space.UB})  # all of which it may write
    module: ObjectModule = field(default_factory=ObjectModule)
    operations: list[HandedOperation] = field(default_factory=list)
    entries: list[int] = field(default_factory=list)
    steady: bool = False

    def __post_init__(self) -> None:
        kinds = KINDS[self.kind]
        for kind in kinds:
            function = self.module.function(str(kind))
            self.core_kind = kind
            self.build(self, function)
            function.finish()
        entries = [entry_symbol(n) if n in self.entries else None for n in range(len(self.operations))]
        self.module.addresses(ENTRIES, entries)
        image = compile_object(self.module.text())
        self.program = LoadedObject(image, [*kinds, ENTRIES])
        self.image = image
        target = load_target("a5")
        executable = Executable(
            self.kind,
            self.program,
            {kind: str(kind) for kind in kinds},
            explain,
            {space: target.memory[space] for space in self.spaces},
            self.operations.__getitem__,
            self.steady,
        )
        self.runner = Runner(executable, target)

    # --- what programs are made of ------------------------------------------------------------------------------------

    def argument(self, function: FunctionBuilder, number: int) -> Value:
        return function.word(ContextWord.ARGUMENTS).load(PTR, 8).at(8 * number).load(I64, 8)

    def operation(
        self, function: FunctionBuilder, method: str, *arguments: Known, pipe: Pipe = Pipe.S, captured: int = 0
    ) -> int:
        site = Site(f"pto.{method}", None, pipe)
        self.operations.append(HandedOperation(method, site, arguments, len(function.loops), captured))
        return len(self.operations) - 1

    def sync(self, function: FunctionBuilder, method: str, *arguments: Known, captured: Sequence[Value] = ()) -> None:
        """A synchronisation that always goes through the scheduler."""
        issue(function, self.operation(function, method, *arguments, captured=len(captured)), captured)

    def entry(
        self, function: FunctionBuilder, pipe: Pipe, captured: Sequence[Value], fill: Callable[..., None]
    ) -> None:
        """Work on a pipe: `fill` writes its body as a function of what it captures."""
        number = self.operation(function, "work", pipe=pipe, captured=len(captured))
        body, received = begin_entry(self.module, number, len(function.loops), [value.kind for value in captured])
        fill(body, *received)
        body.finish()
        self.entries.append(number)
        run_entry(function, number, captured)

    # --- running ------------------------------------------------------------------------------------------------------

    def __call__(
        self, *arguments: "np.ndarray | int", grid: int = 1, together: bool = False, **options: int | None
    ) -> None:
        arrays = [argument for argument in arguments if isinstance(argument, np.ndarray)]
        words = iter(range(len(arrays)))
        values = [pointer(next(words)) if isinstance(argument, np.ndarray) else argument for argument in arguments]
        threads = options.pop("threads", None)
        invocation = Invocation(grid, values, [(array.ctypes.data, array.nbytes) for array in arrays], **options)
        if together:
            self.runner.run_together(invocation)
        else:
            self.runner.run_apart(invocation, threads)


def host_address(function: FunctionBuilder, pointer: Value, extent: Value | int, site: int) -> Value:
    """The host address of `extent` bytes behind a GM pointer. Where they are not all in one buffer the kernel fails."""
    place = locate(function, pointer)
    function.check(leaves_buffer(place, 0, extent), site, pointer)
    function.settle()  # there is no harmless address to go to instead
    return place.base.at(place.offset)


def append(kernel: Kernel, function: FunctionBuilder, log: Value, number: Value | int) -> None:
    """Write a number to a log in GM: word 0 counts, the others follow."""
    site = kernel.module.site("log")
    count = host_address(function, log, 8, site)
    place = count.load(I64, 8)
    number = number if isinstance(number, Value) else function.constant(I64, number)
    host_address(function, log + 8 + place * 8, 8, site).store(number, 8)
    count.store(place + 1, 8)


def logged(log: np.ndarray) -> list[int]:
    return log[1 : 1 + log[0]].tolist()
