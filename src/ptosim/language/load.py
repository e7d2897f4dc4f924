"""Text to a verified module and its kernels: parse, work out open types, verify, rewrite older spellings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import BlockArgument, Operation

from ptosim.diagnostics import Diagnostic, PTOError, Source, error
from ptosim.effects.names import CoreKind
from ptosim.language import printing
from ptosim.language.function import Function, entry_functions, reached
from ptosim.language.infer import infer
from ptosim.language.legacy import modernise
from ptosim.language.operation import PTOOperation, core_of, cores_of
from ptosim.language.parser import ParsedModule, deep_recursion, parse
from ptosim.language.scope import Section
from ptosim.language.syntax import word_in
from ptosim.language.verify import in_source_order, verify

TARGETS = {"a5": "a5", "a2": "a2a3", "a3": "a2a3", "a2a3": "a2a3"}
TARGET_ARCH = "pto.target_arch"

_CROSS_BLOCK = frozenset({"pto.set_cross_block", "pto.wait_cross_block", "pto.syncall"})


@dataclass(frozen=True)
class KernelProgram:
    """An entry: which cores run what, and the parameters. A program leaves out the sections of the other kind."""

    name: str
    kind: Literal["vector", "cube", "mixed"]
    entries: Mapping[CoreKind, Function]
    signature: tuple[tuple[str, str], ...]
    """Name and type of each parameter."""
    cross_block: bool
    """Whether blocks wait for each other."""


@dataclass
class VerifiedModule:
    """A module without errors, the machine it is for, its kernels, and what the verifier warned of."""

    parsed: ParsedModule
    target: str
    warnings: list[Diagnostic]
    kernels: tuple[KernelProgram, ...] = ()


def load(source: Source, target: str | None = None) -> VerifiedModule:
    """Read a module; raises PTOError with the first syntax error, or with all errors of the verifier."""
    parsed = parse(source)
    with deep_recursion():
        return _verified(parsed, target)


def _verified(parsed: ParsedModule, target: str | None) -> VerifiedModule:
    machine = target_of(parsed, target)
    open_types = infer(parsed)
    # Rules may rely on closed types, so an open one ends the work here.
    found = in_source_order([*parsed.reports, *open_types]) if open_types else verify(parsed, machine)
    errors = [diagnostic for diagnostic in found if diagnostic.severity == "error"]
    if errors:
        raise PTOError(*errors)
    modernise(parsed)
    return VerifiedModule(parsed, machine, found, tuple(kernels(parsed)))


def text(module: VerifiedModule) -> str:
    """The module in canonical text."""
    return printing.text(module.parsed)


def target_of(parsed: ParsedModule, override: str | None) -> str:
    """The machine a module is for: the override, its `pto.target_arch`, or a5."""
    modules = (op for op in (parsed.module, *parsed.module.body.ops) if isinstance(op, ModuleOp))
    declaring = next((op for op in modules if TARGET_ARCH in op.attributes), None)
    name = override or (word_in(declaring.attributes[TARGET_ARCH]) if declaring is not None else "a5")
    if name not in TARGETS:
        place = parsed.location(declaring, TARGET_ARCH) if declaring is not None and override is None else None
        kind = "argument" if override else "invalid"
        raise error(kind, f"unknown target '{name}'; known: {', '.join(TARGETS)}", place)
    return TARGETS[name]


# --- kernels --------------------------------------------------------------------------------------


def kernels(parsed: ParsedModule) -> Iterator[KernelProgram]:
    """The entries of a verified module. Functions of one name for different kinds of core are one kernel."""
    named: dict[str, list[Function]] = {}
    for function in entry_functions(parsed.module):
        named.setdefault(function.symbol, []).append(function)
    for name, functions in named.items():
        entries = {core: function for function in functions for core in _cores(function)}
        kind = "mixed" if len(entries) > 1 else "vector" if CoreKind.AIV in entries else "cube"
        signature = tuple((_name(parsed, value), str(value.type)) for value in functions[0].args)
        crossing = any(_crosses_blocks(op) for op in reached(*functions))
        yield KernelProgram(name, kind, entries, signature, crossing)


def _cores(function: Function) -> tuple[CoreKind, ...]:
    """The kinds of core that run an entry: as declared, both when it has sections, else by its instructions."""
    if (core := core_of(function)) is not None:
        return (core,)
    operations = list(reached(function))
    if any(isinstance(op, Section) for op in operations):
        return (CoreKind.AIC, CoreKind.AIV)
    is_cube = any(isinstance(op, PTOOperation) and cores_of(op) == (CoreKind.AIC,) for op in operations)
    return (CoreKind.AIC,) if is_cube else (CoreKind.AIV,)


def _crosses_blocks(op: Operation) -> bool:
    if op.name in ("pto.sync.set", "pto.sync.wait") and isinstance(op, PTOOperation):
        return op.integer("ffts_mode") == 0
    return op.name in _CROSS_BLOCK


def _name(parsed: ParsedModule, argument: BlockArgument) -> str:
    span = parsed.definitions.get(argument)
    return span.text[1:] if span is not None else str(argument.index)
