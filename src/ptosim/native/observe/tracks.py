"""Tracks of the shadow: one for each pipe of a kernel and each memory on the chip that it reads or writes."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from xdsl.ir import Operation

from ptosim.effects.catalogue import effects
from ptosim.effects.names import GM, CoreKind, Pipe, Space
from ptosim.effects.record import Access, no_accesses
from ptosim.language.analysis.scope_dependence import executed
from ptosim.language.analysis.static_values import static_of
from ptosim.language.micro.fixpipe_raw import RawStore
from ptosim.language.operation import PTOOperation, core_of, enclosing_scope, is_scope
from ptosim.language.simt.simt import SimtLaunch
from ptosim.language.structure.function import Function as PTOFunction
from ptosim.language.structure.function import reached
from ptosim.language.types import element_of
from ptosim.machine.sync import SLOT
from ptosim.native.observe.layout import LOCAL_STORES, Track

_SEGMENTS = (Space.FB, Space.FB_RELU)
"""Memories of which an address tells the one that is meant."""


def accesses_of(op: Operation, target: str) -> Iterable[Access]:
    """The bytes that an operation reads and writes."""
    record = effects().get(op.name)
    return () if record is None or record.accesses is no_accesses else record.accesses(static_of(op, target))


def access_widths(operations: Iterable[Operation], target: str) -> set[int]:
    """The bytes of each element that operations access through a pointer."""
    accessing = (op for op in operations if isinstance(op, PTOOperation) and any(True for _ in accesses_of(op, target)))
    return {element_of(op.segment("pointer")[0].type).bytes for op in accessing}


def _slots(op: Operation, verb: str, kind: CoreKind, called: Collection[Operation]) -> set[int]:
    """The slots under which accesses of an operation on chip are counted; a scope may have called it."""
    if enclosing_scope(op) is not None:
        return {SLOT[Pipe.V]}
    record = effects().get(op.name)
    pipe = record.pipe if record else Pipe.S
    own = LOCAL_STORES[kind] if pipe is Pipe.S and verb == "writes" else SLOT[pipe]
    return {own, SLOT[Pipe.V]} if op in called else {own}


def tracks_of(entries: Mapping[CoreKind, PTOFunction], target: str) -> set[Track]:
    """The bytes on chip that the cores of a kernel touch."""
    found: set[Track] = set()
    is_mixed = len(entries) > 1
    for kind, entry in entries.items():
        scopes = [op for op in reached(entry) if is_scope(op)]
        launched = [op.function for op in reached(entry) if isinstance(op, SimtLaunch) and op.function is not None]
        called = {op for scope in scopes for op in executed(scope)}
        inside = set(reached(*launched))
        for op in reached(entry):
            if core_of(op) not in (None, kind):
                continue
            if isinstance(op, RawStore):  # finds parameters as a register says; no access of it tells of them
                found |= {(space, 0, SLOT[Pipe.FIX], "reads") for space in _SEGMENTS}
            for access in accesses_of(op, target):
                verb = "reads" if access.direction == "read" else "writes"
                if access.space is not GM:
                    places = _places(kind, access.space) if is_mixed else (0,)
                    spaces = _SEGMENTS if access.space in _SEGMENTS else (access.space,)
                    slots = {SLOT[Pipe.V]} if op in inside else _slots(op, verb, kind, called)
                    found |= {(space, place, slot, verb) for place in places for space in spaces for slot in slots}
    return found


def _places(kind: CoreKind, space: Space) -> Sequence[int]:
    """In a cluster, the places of the cores of a kind whose accesses to one memory are told apart."""
    if kind is CoreKind.AIC:
        return (0,)
    return (1,) if space is Space.UB else (1, 2)
