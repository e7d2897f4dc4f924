"""The ranks of a collective: those on which its places lie, and faults of such a group."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from ptosim.diagnostics import Severity
from ptosim.machine.memory import decode

if TYPE_CHECKING:
    from ptosim.machine.core import Core


def group_problems(
    core: Core, buffer: int, members: Sequence[int], root: int, size: int
) -> Iterator[tuple[str, Severity]]:
    """The fault of a collective that a core is about to execute, in words; `size` are the bytes of a member."""
    ranks = [_rank(core, member) for member in members]
    own = core.rank
    if own is not None and ranks[root] is not None and ranks[root] != own:
        yield f"rank {own} executes it, but the root, member {root}, lies on rank {ranks[root]}", "error"
    local = _rank(core, buffer)
    if own is not None and local is not None and local != own:
        yield f"the buffer of the root lies on rank {local}, and rank {own} executes it", "error"
    known = core.signals.roots.setdefault(tuple(members), root)
    if known != root:
        yield f"the root is member {root}; another collective of this group had member {known}", "error"
    for number, rank in enumerate(ranks):
        if rank is not None and rank != number:
            yield f"member {number} lies on rank {rank}", "warning"
            break
    if any(second - first < size for first, second in pairwise(sorted(members))):
        yield "two members of the group share bytes", "warning"


def _rank(core: Core, address: int) -> int | None:
    region = core.regions.all.get(decode(address)[0])
    return region.rank if region is not None else None
