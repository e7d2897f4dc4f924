"""Operations that lowerings use besides the instruction set."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ptosim.diagnostics import Severity
from ptosim.effects.burst import FB_UNIT
from ptosim.effects.element import GRANULE, Element
from ptosim.effects.fractal import ACCUMULATOR, BIAS_ALIGNMENT
from ptosim.effects.names import GM, Space
from ptosim.effects.sim import SIGNED_RESULT
from ptosim.language.micro import sim as op
from ptosim.language.text.tile_text import Drawing, Extents, tile_text
from ptosim.machine.entry import Site
from ptosim.machine.memory import decode
from ptosim.reference.core import Bytes, Core
from ptosim.reference.memory.accumulator import write_accumulators
from ptosim.reference.numeric import float_lanes
from ptosim.reference.numeric.integers import signed64
from ptosim.reference.semantics import Operands, semantics


@semantics(op.SimRequire)
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


@semantics(op.SimLookup)
def lookup(index: int, values: tuple[int, ...]) -> int:
    return values[min(index, len(values) - 1)] if index >= 0 else values[-1]


_NOTHING = np.zeros(0, np.uint8)


@semantics(op.SimPrintTile)
def print_tile(core: Core, operands: Operands, drawing: Drawing, space: Space) -> None:
    """On standard output, unless the run is observed."""
    extents = Extents(*(getattr(operands, role) or 0 for role in Extents._fields))
    if core.machine.observer is None:
        core.tell(tile_text(core.machine.name, drawing, extents, *_memory(core, space, operands.base)))


def _memory(core: Core, space: Space, base: int) -> tuple[memoryview, int]:
    """The memory that a pointer names, and the place in it; nothing where there is none."""
    if space is not GM:
        return core.memories.own.get(space, _NOTHING).data, base
    number, offset = decode(signed64(base))
    return core.memories.global_memory.buffers.get(number, _NOTHING).data, offset


@semantics(op.SimInstructions)
def instructions(core: Core, times: int, repeats: int, bytes: int) -> None:
    if core.witness is not None:
        core.witness.priced_by(times, repeats, bytes)


@semantics(op.SimScaleWords, bind=lambda static: {"element": static.elements["source"]})
def scale_words(core: Core, source: int, dest: int, count: int, element: Element, unsigned: bool) -> Iterator[None]:
    if not count:
        yield
        return
    data = core.read_pieces(Space.L1, np.array([source]), count * element.bytes, GRANULE)
    yield
    words = core.converted(data.reshape(-1), element.bytes, lambda scales: _words(scales, element, unsigned))
    core.write_pieces(Space.FB, np.array([dest]), words.reshape(1, -1), FB_UNIT)


def _words(scales: Bytes, element: Element, unsigned: bool) -> Bytes:
    """The bits of each scale as f32, and whether results have a sign."""
    values = float_lanes.canonical(float_lanes.widen(element, scales.view(float_lanes.dtype_of(element))))
    return (values.view(np.uint32).astype(np.uint64) | np.uint64(0 if unsigned else SIGNED_RESULT)).view(np.uint8)


@semantics(op.SimStartAcc)
def start_acc(core: Core, c: int, m: int, n: int, bias: int | None) -> None:
    row = np.zeros(n, np.uint32)
    if bias is not None:
        row = core.read(Space.BT, bias, n * ACCUMULATOR, BIAS_ALIGNMENT).copy().view(np.uint32)
    write_accumulators(core, c, np.broadcast_to(row, (m, n)))
