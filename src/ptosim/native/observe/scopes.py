"""Static facts of a vector scope: whether its accesses may alias, and which loads a store may overtake.

Loads that the same stores may overtake are a class; a store looks only at the classes that it is in.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from xdsl.ir import Operation

from ptosim.effects.vector_stream import STORE_STREAM
from ptosim.language.analysis.scope_dependence import executed, stores, waiting
from ptosim.language.micro.pointer import LoadScalar, StoreScalar
from ptosim.language.micro.sync_fence import MemBar
from ptosim.language.structure.function import Call
from ptosim.language.text.parser import deep_recursion
from ptosim.native.observe.tracks import accesses_of

MOST_UNFOLDED = 10_000
"""Operations of a scope whose calls are built in place."""
MOST_LOOKS = 10_000
"""Pairs of a store and a class of loads that a scope may have; with more, all its loads are one class of all stores."""
PARTIAL = ("VST_VLD", "VST_VST", "VLD_VST")

Class = frozenset[Operation]
"""The stores that may overtake some loads."""


@dataclass(frozen=True, eq=False)
class Scope:
    """One entry of the vector pipe."""

    stores: Class
    overtaken: dict[Operation, Class]
    """The loads that some store need not wait for."""
    is_fenced: bool
    """A mem_bar stands in it."""
    is_partly_fenced: bool
    """One that orders some classes of vector accesses only."""
    has_scalar_accesses: bool
    has_store_streams: bool
    is_unfolded: bool
    """Functions that it calls are built in place of each call: doubt goes with their arguments and results."""

    def classes(self, store: Operation) -> list[Class]:
        """The classes of loads that a store may overtake."""
        return sorted({each for each in self.overtaken.values() if store in each}, key=len)


def scope_of(op: Operation, target: str) -> Scope:
    """Calls included."""
    inside = list(executed(op))
    calls = [each for each in inside if isinstance(each, Call)]
    writing = frozenset(stores(op, target))
    overtaken: dict[Operation, Class] = {}
    for load in inside:
        if any(access.direction == "read" for access in accesses_of(load, target)):
            reached = waiting(load, lambda function: [call for call in calls if call.function is function], {})
            if behind := writing - reached:
                overtaken[load] = behind
    if sum(map(len, set(overtaken.values()))) > MOST_LOOKS:
        overtaken = dict.fromkeys(overtaken, writing)
    scalar = any(isinstance(each, LoadScalar | StoreScalar) for each in inside)
    fences = [each.word("order") for each in inside if isinstance(each, MemBar)]
    streams = any(each.name == STORE_STREAM[0] for each in inside)
    partly, in_place = any(kind in PARTIAL for kind in fences), _unfolded(op) <= MOST_UNFOLDED
    return Scope(writing, overtaken, bool(fences), partly, scalar, streams, in_place)


def _unfolded(scope: Operation) -> int:
    """The operations of a scope with those of a function in place of each of its calls."""

    @cache
    def size(root: Operation) -> int:
        calls = (op.function for op in root.walk() if isinstance(op, Call))
        return sum(1 for _ in root.walk()) + sum(size(function) for function in calls if function is not None)

    with deep_recursion():
        return size(scope)
