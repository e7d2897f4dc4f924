"""Text to a verified module and its kernels: parse, work out open types, verify, rewrite older spellings."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp

from ptosim.diagnostics import Diagnostic, PTOError, Source, error
from ptosim.language import printing
from ptosim.language.infer import infer
from ptosim.language.kernels import KernelProgram, kernels
from ptosim.language.legacy import modernise
from ptosim.language.parser import ParsedModule, deep_recursion, parse
from ptosim.language.syntax import word_in
from ptosim.language.tile_target import settle_left
from ptosim.language.verify import in_source_order, verify

TARGETS = {"a5": "a5", "a2": "a2a3", "a3": "a2a3", "a2a3": "a2a3"}
TARGET_ARCH = "pto.target_arch"


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
    settle_left(parsed.module, machine)
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
