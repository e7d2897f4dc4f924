"""What lowerings use besides the instruction set."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ptosim.diagnostics import Severity
from ptosim.effects.record import Static
from ptosim.language import sim as op
from ptosim.machine.entry import Site
from ptosim.reference.core import Core
from ptosim.reference.semantics import semantics


def _facts(static: Static) -> Mapping[str, Any]:
    return static.facts


@semantics(op.SimRequire, bind=_facts)
def require(
    core: Core,
    site: Site,
    condition: bool,
    values: tuple[int, ...],
    kind: str,
    message: str,
    severity: Severity,
    fatal: bool,
) -> None:
    if not condition:
        core.complain(site, kind, message.format(*values), severity, fatal)
