"""Conflicts in words: the fault, both places, the missing edge."""

from __future__ import annotations

import re
from collections.abc import Mapping

from ptosim.diagnostics import Diagnostic, Related
from ptosim.effects.names import Pipe
from ptosim.effects.simt import WARP
from ptosim.language.micro.sim_transfer import SimTransfer
from ptosim.language.simt.private_memory import Alloca, LLVMUndef, PrivateLoad
from ptosim.language.simt.simt_atomic import OPERATIONS as ATOMICS
from ptosim.language.simt.simt_lane import SHUFFLES
from ptosim.language.simt.simt_memory import Ldg, Load
from ptosim.language.simt.simt_state import Resume
from ptosim.language.tile.comm_async import WaitAsyncEvent
from ptosim.machine.entry import Site
from ptosim.sanitize.conflict import Conflict, Party, Use

_ACCUMULATING = re.compile(r"(pto\.(?:tmatmul|tgemv|mad)(?:\.mx|_mx)?)([._]acc)\b")
"""The names of products that add to what is there."""


def diagnostic(conflict: Conflict, unconsumed: Mapping[tuple[str, str], Site]) -> Diagnostic:
    """The finding that users see. `unconsumed`: where one pipe or core signals another that does not wait for it."""
    second = conflict.second
    return Diagnostic(
        conflict.kind,
        conflict.severity,
        _message(conflict),
        second.site.location,
        label=_label(conflict, second),
        related=tuple(_related(conflict)),
        notes=(*_notes(conflict, unconsumed), *(f"also {each.relation}: {_message(each)}" for each in conflict.also)),
        core=conflict.core.name,
        pipe=str(second.pipe),
        bytes=(conflict.place.low, conflict.place.high),
        block=conflict.core.block,
        loops=conflict.loops,
        count=conflict.count,
        workitem=conflict.workitem,
        lanes=_lanes(conflict),
    )


def _lanes(conflict: Conflict) -> tuple[int, ...]:
    """The lanes of a warp or of a logical vector that are concerned."""
    if conflict.workitem is not None:
        return (conflict.workitem.number % WARP,)
    lanes = conflict.place.lanes
    return () if lanes is None else tuple(range(lanes.first, lanes.last))


def _message(conflict: Conflict) -> str:
    if conflict.kind == "uninitialized":
        return _undefined(conflict)
    assert conflict.first is not None
    if conflict.kind == "scope-alias":
        return _alias(conflict, conflict.first)
    if (clobber := conflict.clobber) is not None:
        who, place = _unit(conflict.second), conflict.place
        return f"{who} reads {place} through {clobber.own}, but it was overwritten through {clobber.other} meanwhile"
    return _race(conflict, conflict.first)


def _race(conflict: Conflict, first: Party) -> str:
    second, place = conflict.second, conflict.place
    who, other = _names(conflict, first)
    also = " (the bytes are equal)" if conflict.equal else ""
    if (between := _between(conflict)) is not None:
        who, other = between
        return f"{who} {second.verb} {place}, which {other} {first.verb}, in no order{also}"
    act = {"reads": "read", "writes": "write", "updates": "update"}[second.verb]
    if conflict.is_within_a_pipe:
        doing = {"reads": "reading", "writes": "writing", "updates": "updating"}[first.verb]
        return f"{who} may {act} {place} while an earlier copy of {other} is still {doing} it{also}"
    done = {"reads": "read", "writes": "written", "updates": "updated"}[first.verb]
    return f"{who} may {act} {place} before {other} has {done} it{also}"


def _between(conflict: Conflict) -> tuple[str, str] | None:
    """The second side and the first, where they are two ranks or blocks."""
    first, second = conflict.first, conflict.second
    if first is None or (first.rank, first.block) == (second.rank, second.block):
        return None
    if first.rank == second.rank:
        return f"block {second.block}", f"block {first.block}"
    if first.block == second.block == 0:
        return f"rank {second.rank}", f"rank {first.rank}"
    return f"block {second.block} of rank {second.rank}", f"block {first.block} of rank {first.rank}"


def _signal(conflict: Conflict, first: Party) -> str:
    """The repair by a notice and a wait."""
    who, other = _between(conflict) or ("the reader", "the writer")
    if first.verb == "reads":
        return (
            f"{other} has to tell {who} when it has read, by a notice behind a barrier of all pipes, and {who} to wait"
        )
    if conflict.is_told:
        how = WaitAsyncEvent.name if _is_transfer(first) else "pto.fence.barrier_all #pto.fence_scope<gm>"
        return (
            f"{who} waits for a notice of {other} that does not cover this: before the notice {_unit(first)} must have "
            f"ended ({how}), and the wait must need that notice"
        )
    return f"{who} does not wait for a notice of {other} behind this (pto.comm.tnotify there, pto.comm.twait here)"


def _names(conflict: Conflict, first: Party) -> tuple[str, str]:
    """The two sides; cores are named where there are two of them."""
    second = conflict.second
    if first.role == second.role:
        return _unit(second), _unit(first)
    return f"{second.role} {_unit(second)}", f"{first.role} {_unit(first)}"


def _is_transfer(side: Party) -> bool:
    """Whether an access is of a transfer that goes on beside the pipes of its core."""
    return side.site.name == SimTransfer.name


def _unit(side: Party) -> str:
    return "the transfer" if _is_transfer(side) else str(side.pipe)


def _alias(conflict: Conflict, first: Party) -> str:
    later = "loads" if conflict.second.verb == "reads" else "stores to"
    earlier = "loads from" if first.verb == "reads" else "stores to"
    return (
        f"{later} {conflict.place}, which the same vector scope {earlier} before, without a mem_bar between: "
        "the hardware may swap the two"
    )


_LEADS: dict[Use, str] = {
    "global": "it reaches GM",
    "crossed": "it reaches GM after it has spread to other lanes",
    "scalar": "the scalar unit loads it",
    "mask": "it decides a mask",
    "address": "it decides an address",
    "condition": "it decides a branch",
    "product": "it enters a matrix product",
    "fixpipe": "FIXPIPE stores it",
}


_OF_WORKITEMS = frozenset(op.name for op in (Load, Ldg, LLVMUndef, Alloca, PrivateLoad, Resume, *SHUFFLES, *ATOMICS))
"""The loads and results of workitems."""

_DOING = {Pipe.S: "loads", Pipe.V: "loads", Pipe.M: "reads", Pipe.FIX: "reads"}


def _undefined(conflict: Conflict) -> str:
    second = conflict.second
    if conflict.use and second.verb != "reads":
        use, _ = conflict.use
        if second.verb == "prefetches":
            return f"{second.pipe} only prefetches {conflict.place}, which leaves anything there, and {_LEADS[use]}"
        return (
            f"{second.pipe} leaves anything in {conflict.place}, up to the end of the 32-byte granule behind a row "
            f"that is not padded, and {_LEADS[use]}"
        )
    doing = _DOING.get(second.pipe, "copies")
    said = f"{second.pipe} {doing} {conflict.place}, which nothing has written"
    if conflict.workitem is not None and not conflict.place.high:
        said = f"{conflict.workitem} {conflict.place}"
    if conflict.use is None or conflict.use[1] is second.site:
        return said
    return f"{said}, and {_leads(conflict, conflict.use[0])}"


def _leads(conflict: Conflict, use: Use) -> str:
    """The later uses of a doubtful value. A workitem computes with it where a register spreads it to other lanes."""
    of_workitems = conflict.second.pipe is Pipe.V and conflict.second.site.name in _OF_WORKITEMS
    return "it reaches GM after it was computed with" if of_workitems and use == "crossed" else _LEADS[use]


def _label(conflict: Conflict, side: Party) -> str:
    scope = _scope(side.site)
    if conflict.kind == "scope-alias":
        return f"{'loads' if side.verb == 'reads' else 'stores'} here{scope}"
    if (between := _between(conflict)) is not None:
        return f"{between[0] if side is conflict.second else between[1]} {side.verb} here{scope}"
    core = f"{side.role} " if conflict.first and conflict.first.role != conflict.second.role else ""
    return f"{core}{_unit(side)} {side.verb} here{scope}"


def _scope(site: Site) -> str:
    return f" (vector scope at line {site.scope.shown.line})" if site.scope and site.scope != site.location else ""


def _related(conflict: Conflict) -> list[Related]:
    found: list[Related] = []
    first, second = conflict.first, conflict.second
    if first and first.site.location:
        found.append(Related(first.site.location, _label(conflict, first)))
    if conflict.clobber is not None and (lost := conflict.clobber.lost.site.location) is not None:
        found.append(Related(lost, f"{_label(conflict, conflict.clobber.lost)}, which is lost"))
    if conflict.use:
        use, site = conflict.use
        if site.location and site.location not in (first and first.site.location, second.site.location):
            found.append(Related(site.location, f"here {_leads(conflict, use)}"))
    if conflict.launch is not None and conflict.launch.location is not None:
        found.append(Related(conflict.launch.location, f"{conflict.workitem or 'the workitems'} launched here"))
    return found


def _notes(conflict: Conflict, unconsumed: Mapping[tuple[str, str], Site]) -> list[str]:
    first, second = conflict.first, conflict.second
    if (each := conflict.clobber) is not None:
        return [f"{each.own} begins at byte {each.own_address} and {each.other} at {each.other_address}: they overlap"]
    if conflict.kind == "uninitialized" and second.pipe is Pipe.M and (whole := _ACCUMULATING.match(second.site.title)):
        return [f"the first product of an accumulator needs {whole[1]}, not {whole[2]}"]
    if first is None or conflict.kind != "race":
        return []
    if conflict.relation == "between ranks" or conflict.is_told:
        return [_signal(conflict, first)]
    if _is_transfer(first) and (first.block, first.role) == (second.block, second.role):
        return [f"a transfer goes on until its event is waited for: no {WaitAsyncEvent.name} lies between the two"]
    if first.block != second.block:
        return ["blocks run at the same time, in no order"]
    if first.role != second.role:
        said = f"no semaphore orders {first.role} {first.pipe} before {second.role} {second.pipe} between the two"
        return [said, *_lost_wait("semaphores", first.role, second.role, unconsumed)]
    if first.pipe is second.pipe:
        return [f"copies of {first.pipe} may overlap; no barrier of {first.pipe} lies between the two"]
    said = f"no flag, buffer or barrier orders {first.pipe} before {second.pipe} between the two"
    return [said, *_lost_wait("flags", first.pipe, second.pipe, unconsumed)]


def _lost_wait(what: str, source: str, destination: str, unconsumed: Mapping[tuple[str, str], Site]) -> list[str]:
    """Notes on an edge that is half there: a set without a wait."""
    site = unconsumed.get((source, destination))
    if site is None or site.location is None:
        return []
    line, signals = site.line, f"{what} from {source} to {destination}"
    return [f"line {line} sets {signals} more often than they are waited for: a wait may be missing"]
