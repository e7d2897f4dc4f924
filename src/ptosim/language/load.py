"""Text to a verified module and its kernels: parse, work out open types, verify, rewrite older spellings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from ptosim.diagnostics import Diagnostic, Location, PTOError, Source, error
from ptosim.effects.record import Static
from ptosim.language.analysis.kernel_entries import KernelProgram, kernels
from ptosim.language.analysis.static_values import static_of
from ptosim.language.passes.infer_types import infer
from ptosim.language.passes.left_tile_layouts import settle_left
from ptosim.language.passes.older_names import modernise
from ptosim.language.rules.verifier import in_source_order, verify
from ptosim.language.structure.function import Function, callees, modules_of
from ptosim.language.text import printing
from ptosim.language.text.assembly_format import word_in
from ptosim.language.text.parser import ParsedModule, deep_recursion, parse, without_collection
from ptosim.language.tile.fifo_end import InitializePipe
from ptosim.language.tile.tile_types import MultiTileBufType, PartitionViewType, TensorViewType, TileBufType
from ptosim.language.vmi.vmi_operation import VmiOperation
from ptosim.target.profile import OwnMachine, is_target_file, own_machine

TARGETS = {"a5": "a5", "a2": "a2a3", "a3": "a2a3", "a2a3": "a2a3"}
TARGET_ARCH = "pto.target_arch"
DEVICE_SPEC = "pto.device-spec"
A5_DEVICES = ("Ascend950", "Ascend910_95")
"""The first letters of names of a5 devices; all others are an a2 or a3."""

_TILES = (TileBufType, MultiTileBufType, TensorViewType, PartitionViewType)


@dataclass
class VerifiedModule:
    """A module without errors, the machine it is for, its kernels, and what the verifier warned of."""

    parsed: ParsedModule
    target: str
    warnings: list[Diagnostic]
    kernels: tuple[KernelProgram, ...] = ()
    refused: Mapping[Function, Sequence[Diagnostic]] = field(default_factory=dict[Function, "Sequence[Diagnostic]"])
    """Functions that are verified and cannot run, and why."""
    _statics: dict[Operation, Static] = field(default_factory=dict[Operation, Static], init=False, compare=False)

    def static(self, op: Operation) -> Static:
        """The static facts of an operation, worked out once: for those that no pass changes any more."""
        found = self._statics.get(op)
        if found is None:
            found = self._statics[op] = static_of(op, self.target)
        return found

    def refusals(self, program: KernelProgram) -> list[Diagnostic]:
        """Why a kernel cannot run."""
        functions = callees(*program.entries.values())
        return [diagnostic for function in functions for diagnostic in self.refused.get(function, ())]


@without_collection()
def load(source: Source, target: str | None = None) -> VerifiedModule:
    """Read a module; raises PTOError with the first syntax error, or with all errors of the verifier."""
    parsed = parse(source)
    with deep_recursion():
        return _verified(parsed, target)


def _verified(parsed: ParsedModule, target: str | None) -> VerifiedModule:
    machine = target_of(parsed, target)
    settle_left(parsed.module, machine)
    open_types = infer(parsed)
    # Rules may rely on closed types, so an open one ends the work here.
    found = in_source_order([*parsed.reports, *open_types]) if open_types else verify(parsed, machine)
    errors = [diagnostic for diagnostic in found if diagnostic.severity == "error"]
    if errors:
        raise PTOError(*errors)
    modernise(parsed, machine)
    return VerifiedModule(parsed, machine, found, tuple(kernels(parsed)))


def text(module: VerifiedModule, locations: bool = False, comments: bool = False) -> str:
    """The module in canonical text."""
    return printing.text(module.parsed, locations=locations, comments=comments)


def target_of(parsed: ParsedModule, override: str | None) -> str:
    """The machine a module is for: the override, its `pto.target_arch`, its device, else by what it contains."""
    if isinstance(override, OwnMachine):
        return override
    if override is not None:
        return own_machine(override) if is_target_file(override) else _named(override, "argument", None)
    modules = list(modules_of(parsed.module))
    for op in modules:
        if TARGET_ARCH in op.attributes:
            return _named(word_in(op.attributes[TARGET_ARCH]), "invalid", parsed.location(op, TARGET_ARCH))
    for op in modules:
        if DEVICE_SPEC in op.attributes:
            return "a5" if word_in(op.attributes[DEVICE_SPEC]).startswith(A5_DEVICES) else "a2a3"
    if any(isinstance(op, VmiOperation) for op in parsed.module.walk()):
        return "a5"
    return "a2a3" if _has_tiles(parsed.module) and not _has_direct_fifo(parsed.module) else "a5"


def _named(name: str, kind: str, place: Location | None) -> str:
    if name.lower() not in TARGETS:
        more = ", or a .toml file" if kind == "argument" else ""
        raise error(kind, f"unknown target '{name}'; known: {', '.join(TARGETS)}{more}", place)
    return TARGETS[name.lower()]


def _has_tiles(module: ModuleOp) -> bool:
    values = (value for op in module.walk() for value in (*op.operands, *op.results))
    return any(isinstance(value.type, _TILES) for value in values) or bool(_fifos(module))


def _has_direct_fifo(module: ModuleOp) -> bool:
    """Whether a FIFO between cores has no slots in GM, which only a5 can do."""
    return any(fifo.gm_slot_buffer is None and fifo.gm_slot_tensor is None for fifo in _fifos(module))


def _fifos(module: ModuleOp) -> list[InitializePipe]:
    """The operations that open a FIFO between cores."""
    return [op for op in module.walk() if isinstance(op, InitializePipe)]
