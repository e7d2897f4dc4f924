"""Transfers in global memory: copied at once, and until somebody waits for them not known to have ended."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ptosim.effects.names import Space
from ptosim.language.micro import sim_transfer as op
from ptosim.machine.entry import Site
from ptosim.reference.core import Core
from ptosim.reference.fault import Fault
from ptosim.reference.numeric.integers import signed64
from ptosim.reference.semantics import semantics

MOST_ELEMENTS = 1 << 21
"""Elements of a view that are looked at one by one."""


@semantics(op.SimTransfer)
def transfer(core: Core, site: Site, dst: int, src: int, bytes: int, session: int) -> int:
    if bytes < 0:
        raise Fault("invalid", f"a transfer of {bytes} bytes")
    event = core.begin_transfer(site, session, {"dst": dst, "src": src, "bytes": bytes})
    if bytes:
        core.write(Space.GM, dst, core.read(Space.GM, src, bytes).copy())
    return event


@semantics(op.SimApart)
def apart(core: Core, site: Site, dst: int, src: int, extents: tuple[int, ...], bytes: int) -> None:
    """Only a check has something to say."""
    if not core.wants_lint:
        return
    dims = len(extents) // 3
    sizes, ours, theirs = extents[:dims], extents[dims : 2 * dims], extents[2 * dims :]
    if 0 in sizes or (dst == src and ours == theirs):
        return
    if _meet(_elements(dst, sizes, ours, bytes), _elements(src, sizes, theirs, bytes), bytes):
        message = "source and destination overlap: bytes that are copied first overwrite later ones"
        core.complain(site, "overlap", message, "warning", fatal=False)


def _elements(start: int, sizes: tuple[int, ...], strides: tuple[int, ...], width: int) -> NDArray[np.int64]:
    """The addresses of the elements of a view; of one that has very many, of its first lines."""
    found = np.array([signed64(start)], np.int64)
    for size, stride in reversed(list(zip(sizes, strides, strict=True))):
        steps = np.arange(min(size, max(1, MOST_ELEMENTS // len(found))), dtype=np.int64) * (stride * width)
        found = (steps[:, None] + found).reshape(-1)
    return found


def _meet(one: NDArray[np.int64], other: NDArray[np.int64], width: int) -> bool:
    """Whether two elements, one of each, have a byte in common."""
    if one.min() >= other.max() + width or other.min() >= one.max() + width:
        return False
    other = np.sort(other)
    behind = np.searchsorted(other, one - width, side="right")
    return bool(((behind < len(other)) & (other[np.minimum(behind, len(other) - 1)] < one + width)).any())


@semantics(op.SimWaitTransfers)
def wait_transfers(core: Core, site: Site, event: int, session: int) -> None:
    core.machine.settle(site, session, event)
