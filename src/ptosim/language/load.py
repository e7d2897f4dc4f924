"""Text to a verified module: parse, rewrite older spellings, work out open types, verify."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import StringAttr

from ptosim.diagnostics import Diagnostic, PTOError, Source, error
from ptosim.language.parser import ParsedModule, parse
from ptosim.language.verify import verify

TARGETS = {"a5": "a5", "a2": "a2a3", "a3": "a2a3", "a2a3": "a2a3"}


@dataclass
class VerifiedModule:
    """A module without errors, the machine it is for, and what the verifier warned of."""

    parsed: ParsedModule
    target: str
    warnings: list[Diagnostic]


def load(source: Source, target: str | None = None) -> VerifiedModule:
    """Read a module; raises PTOError with the first syntax error, or with all errors of the verifier."""
    parsed = parse(source)
    machine = target_of(parsed, target)
    found = verify(parsed, machine)
    errors = [diagnostic for diagnostic in found if diagnostic.severity == "error"]
    if errors:
        raise PTOError(*errors)
    return VerifiedModule(parsed, machine, found)


def target_of(parsed: ParsedModule, override: str | None) -> str:
    """The machine a module is for: the override, its `pto.target_arch`, or a5."""
    declared = parsed.module.attributes.get("pto.target_arch")
    name = override or (declared.data if isinstance(declared, StringAttr) else "a5")
    if name not in TARGETS:
        raise error("invalid", f"unknown target '{name}'; known: {', '.join(TARGETS)}", parsed.location(parsed.module))
    return TARGETS[name]
