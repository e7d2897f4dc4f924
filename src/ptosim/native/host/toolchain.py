"""From IR text to object code to addresses, through llvmlite, for this host or for a named one.

The same object bytes are linked whether they come from here or from the disk, where cache.py keeps them. LLVM holds a
lock while it compiles: threads do not compile in parallel.
"""

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import llvmlite.binding as llvm_binding

from ptosim.native.host.half import ROUTINES

llvm: Any = llvm_binding  # llvmlite has no type information

# What the code generator does not do by itself and what pays for its time. All of O2 costs more than twice the compile
# time and gains nothing on these kernels.
PASSES = ("sroa", "simplify_cfg", "instruction_combine", "loop_rotate")
COROUTINES = "presplitcoroutine"
LEVEL = 1
"""The level of the code generator: a higher one takes longer, and its code is no faster."""


class InvalidIR(RuntimeError):
    """LLVM refuses the text: a defect of this program, never of a kernel."""


@dataclass(frozen=True)
class Host:
    """A processor to compile for, in LLVM's names."""

    triple: str
    cpu: str
    features: str = ""

    @property
    def identity(self) -> str:
        """Everything about the compiler and the processor that shapes an object."""
        version = ".".join(map(str, llvm.llvm_version_info))
        return f"llvm {version} {self.triple} {self.cpu} {self.features}"

    @property
    def has_avx512(self) -> bool:
        """Whether there are the instructions of level 4 of x86-64."""
        return self.cpu == "x86-64-v4" or "+avx512dq" in self.features.split(",")


@cache
def this_host() -> Host:
    return Host(llvm.get_default_triple(), llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten())


@cache
def _target_machine(host: Host, level: int = LEVEL) -> Any:
    if host.triple == this_host().triple:
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
    else:
        llvm.initialize_all_targets()
        llvm.initialize_all_asmprinters()
    target = llvm.Target.from_triple(host.triple)
    return target.create_target_machine(cpu=host.cpu, features=host.features, opt=level, jit=True)


def compile_object(text: str, host: Host | None = None, level: int = LEVEL, passes: Sequence[str] = PASSES) -> bytes:
    """Object code for a module's text."""
    machine = _target_machine(host or this_host(), level)
    return machine.emit_object(_optimized(text, machine, passes))


def optimized_text(text: str, host: Host | None = None) -> str:
    """The module's text as the code generator gets it."""
    return str(_optimized(text, _target_machine(host or this_host())))


def _optimized(text: str, machine: Any, names: Sequence[str] = PASSES) -> Any:
    module = _parse(text + ROUTINES if " half" in text else text)
    module.triple = machine.triple
    module.data_layout = str(machine.target_data)
    builder = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=0))
    if COROUTINES in text:  # only the pipeline of O0 has the passes for them
        builder.getModulePassManager().run(module, builder)
    passes = llvm.create_new_module_pass_manager()
    for name in names:
        getattr(passes, f"add_{name}_pass")()
    passes.run(module, builder)
    return module


def _parse(text: str) -> Any:
    try:
        module = llvm.parse_assembly(text)
        module.verify()
    except RuntimeError as problem:
        raise InvalidIR(_explain(str(problem), text)) from None
    return module


def _explain(problem: str, text: str) -> str:
    """LLVM's message with the function and the lines around the place that it names."""
    place = re.search(r":(\d+):\d+: error: (.*)", problem)
    if not place:
        return f"LLVM rejects the generated code: {problem.strip()}"
    lines, number = text.splitlines(), int(place[1])
    opening = next((line for line in reversed(lines[:number]) if line.startswith("define")), "")
    quoted = "\n".join(f"{at:>6} | {lines[at - 1]}" for at in range(max(1, number - 2), min(len(lines), number) + 1))
    return f"LLVM rejects the generated code: {place[2]} (in {opening.rstrip(' {') or 'no function'})\n{quoted}"


# --- linking ----------------------------------------------------------------------------------------------------------


@cache
def _linker() -> Any:
    return llvm.create_lljit_compiler(_target_machine(this_host()))


_names = itertools.count()


class LoadedObject:
    """Object code in memory, ready to be called as long as this lives; `second`: where another object begins."""

    def __init__(self, image: bytes, symbols: Sequence[str], second: int | None = None) -> None:
        builder = llvm.JITLibraryBuilder().add_current_process()
        for part in (image,) if second is None else (image[:second], image[second:]):
            builder.add_object_img(part)
        for symbol in symbols:
            builder.export_symbol(symbol)
        self._linker = _linker()
        self._library = builder.link(self._linker, f"kernel{next(_names)}")

    def address(self, symbol: str) -> int:
        return self._library[symbol]
