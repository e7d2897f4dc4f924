"""What lowerings use besides the instruction set."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ptosim.effects.record import Static
from ptosim.language import sim as op
from ptosim.native.core import Core
from ptosim.native.ir import Value
from ptosim.native.lowering import lowering


def _facts(static: Static) -> Mapping[str, Any]:
    return static.facts


@lowering(op.SimRequire, bind=_facts)
def require(core: Core, condition: Value, values: tuple[Value, ...], kind: str, message: str, fatal: bool) -> None:
    """A run cares only where going on could do harm."""
    if fatal:
        value, detail = (*values, 0, 0)[:2]
        core.fail(condition ^ True, kind, message, value, detail)
