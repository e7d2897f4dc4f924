"""What lowerings use besides the instruction set."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ptosim.diagnostics import Severity
from ptosim.effects.names import GM, Space
from ptosim.effects.record import Static
from ptosim.language import sim as op
from ptosim.language.tile_text import Drawing, Extents, tile_text
from ptosim.machine.entry import Site
from ptosim.machine.memory import decode
from ptosim.reference.core import Core
from ptosim.reference.integers import signed64
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


_NOTHING = np.zeros(0, np.uint8)


@semantics(op.SimPrintTile, bind=_facts)
def print_tile(
    core: Core,
    base: int,
    rows: int,
    columns: int,
    valid_rows: int,
    valid_columns: int,
    row_stride: int,
    column_stride: int,
    block_row_stride: int | None,
    block_column_stride: int | None,
    drawing: Drawing,
    space: Space,
) -> None:
    extents = Extents(
        *(rows, columns, valid_rows, valid_columns),
        *(row_stride, column_stride, block_row_stride or 0, block_column_stride or 0),
    )
    core.tell(lambda: tile_text(core.machine.name, drawing, extents, *_memory(core, space, base)))


def _memory(core: Core, space: Space, base: int) -> tuple[memoryview, int]:
    """The memory that a pointer names, and the place in it; nothing where there is none."""
    if space is not GM:
        return core.memories.get(space, _NOTHING).data, base
    argument, offset = decode(signed64(base))
    buffers = core.global_memory.buffers
    return (buffers[argument] if 0 <= argument < len(buffers) else _NOTHING).data, offset
