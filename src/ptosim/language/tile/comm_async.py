"""Transfers that go on while the kernel does: sessions, copies with an event, and prefetches.

A session is one queue of transfers, which end in the order in which they were submitted.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from xdsl.dialects.builtin import i1
from xdsl.ir import Attribute

from ptosim.effects.names import Pipe, Space
from ptosim.language.operation import Operand, OptionalProperty, Problem, PTOOperation, Result
from ptosim.language.rules import tile_place_rules as place
from ptosim.language.rules.tile_rules import at_type, extents
from ptosim.language.tile.comm import CommOperation
from ptosim.language.tile.tile_types import AsyncEventType, AsyncSessionType, PrefetchAsyncContextType
from ptosim.language.types import PtrType

SYNC_IDS = 8
CONTROL_BYTES = 8
"""The bytes that the scratch tile of a session must hold."""


class _Async(CommOperation):
    """An operation of the scalar unit; the types of its handles and of its result are given."""

    pipes = (Pipe.S,)
    handles: ClassVar[dict[str, type[Attribute]]] = {}
    gives: ClassVar[Attribute]

    def tile_rules(self, target: str) -> Iterator[Problem]:
        for role, kind in self.handles.items():
            (value,) = self.segment(role)
            if not isinstance(value.type, kind):
                yield at_type(self, role, f"to be !{kind.name}", value.type)
        if self.results[0].type != self.gives:
            yield Problem(f"{self.name} gives {self.gives}, not {self.results[0].type}", at="result")


class BuildAsyncSession(_Async, name="pto.comm.build_async_session"):
    """Begin a queue of transfers.

    The scratch tile holds control words, the workspace the state of the engine. `sync_id` is 0 to 7; `block_bytes` and
    `queue_num` are positive; `comm_block_offset` shifts source and destination by that many bytes, in every block.

        %s = pto.comm.build_async_session(%scratch, %workspace : !pto.tile_buf<vec, 1x32xi8>, !pto.ptr<i8, gm>)
            -> !pto.async_session
    """

    absorbed = "the transfers of the session are lowered with its scratch tile and its number"
    gives = AsyncSessionType()
    untyped = ("workspace",)
    numbers = ("sync_id", "block_bytes", "comm_block_offset", "queue_num", "channel_group_idx")
    limits: ClassVar[dict[str, tuple[int, int | None]]] = {
        "sync_id": (0, SYNC_IDS - 1),
        "block_bytes": (1, None),
        "comm_block_offset": (0, None),
        "queue_num": (1, None),
        "channel_group_idx": (0, 2**32 - 1),
    }
    control = Operand()
    workspace = Operand()
    result = Result()
    sync_id = OptionalProperty()
    block_bytes = OptionalProperty()
    comm_block_offset = OptionalProperty()
    queue_num = OptionalProperty()
    channel_group_idx = OptionalProperty()

    def tile_rules(self, target: str) -> Iterator[Problem]:
        yield from super().tile_rules(target)
        yield from place.lies_in(self, "control", "vec")
        if self.tile("control").size < CONTROL_BYTES:
            found = f"{self.tile('control').size}"
            yield at_type(self, "control", f"to have at least {CONTROL_BYTES} bytes", found)
        type_ = self.workspace.type
        if not isinstance(type_, PtrType) or type_.space is not Space.GM or place.unsigned_name(type_.element) != "i8":
            yield at_type(self, "workspace", "to be a pointer to 8-bit integers in gm", type_)
        for name, (low, high) in self.limits.items():
            number = self.integer(name)
            if number is not None and (number < low or (high is not None and number > high)):
                legal = f"{low}..{high}" if high is not None else f"at least {low}"
                yield Problem(f"{name} is {number}; it must be {legal}", at=name)


class _Transfer(_Async):
    """One line of elements from one place in global memory to another."""

    gives = AsyncEventType()
    handles = {"session": AsyncSessionType}
    outs = ("dst",)
    views = ("dst", "src")
    untyped = ("session",)
    dst = Operand()
    src = Operand()
    session = Operand()
    result = Result()

    def tile_rules(self, target: str) -> Iterator[Problem]:
        yield from super().tile_rules(target)
        dst, src = place.view_at(self, "dst"), place.view_at(self, "src")
        for role, view in (("dst", dst), ("src", src)):
            yield from place.static_view(self, role, view)
            if any(extent not in (1, None) for extent in view.shape[:-1]):
                yield at_type(self, role, "to be one line, all extents but the last 1", extents(view.shape))
        yield from place.same_elements(self, "src", "dst")
        lengths = [place.count(view.shape) for view in (dst, src)]
        if None not in lengths and lengths[0] != lengths[1]:
            yield at_type(self, "src", f"to have {lengths[0]} elements like dst", str(lengths[1]))


class TPutAsync(_Transfer, name="pto.comm.tput_async"):
    """Begin to write to another rank.

    dst = src, some time before pto.comm.wait_async_event of the event.

        %e = pto.comm.tput_async(%dst, %src, %session : !pto.partition_tensor_view<1x256xf32>,
            !pto.partition_tensor_view<1x256xf32>, !pto.async_session) -> !pto.async_event
    """


class TGetAsync(_Transfer, name="pto.comm.tget_async"):
    """Begin to read from another rank.

    dst = src, some time before pto.comm.wait_async_event of the event.

        %e = pto.comm.tget_async(%dst, %src, %session : !pto.partition_tensor_view<1x256xf32>,
            !pto.partition_tensor_view<1x256xf32>, !pto.async_session) -> !pto.async_event
    """


class _Completion(_Async):
    gives = i1
    handles = {"event": AsyncEventType, "session": AsyncSessionType}
    untyped = ("event", "session")
    event = Operand()
    session = Operand()
    result = Result()


class WaitAsyncEvent(_Completion, name="pto.comm.wait_async_event"):
    """Wait for a transfer and all earlier ones of its session.

    The scalar unit waits; the result is true.

        %done = pto.comm.wait_async_event(%event, %session : !pto.async_event, !pto.async_session) -> i1
    """


class TestAsyncEvent(_Completion, name="pto.comm.test_async_event"):
    """Ask whether a transfer and all earlier ones of its session are done.

    It never waits.

        %done = pto.comm.test_async_event(%event, %session : !pto.async_event, !pto.async_session) -> i1
    """


# --- older names ------------------------------------------------------------------------------------------------------


class OlderBuildAsyncSession(BuildAsyncSession, name="pto.build_async_session"):
    """Older name of pto.comm.build_async_session.

    Operands and attributes are the same.

        %s = pto.build_async_session(%scratch, %workspace : !pto.tile_buf<vec, 1x32xi8>, !pto.ptr<i8, gm>)
            -> !pto.async_session
    """

    replaced_by = "pto.comm.build_async_session"


class OlderTPutAsync(TPutAsync, name="pto.tput_async"):
    """Older name of pto.comm.tput_async.

    Operands are the same.

        %e = pto.tput_async(%dst, %src, %session : !pto.partition_tensor_view<1x256xf32>,
            !pto.partition_tensor_view<1x256xf32>, !pto.async_session) -> !pto.async_event
    """

    replaced_by = "pto.comm.tput_async"


class OlderTGetAsync(TGetAsync, name="pto.tget_async"):
    """Older name of pto.comm.tget_async.

    Operands are the same.

        %e = pto.tget_async(%dst, %src, %session : !pto.partition_tensor_view<1x256xf32>,
            !pto.partition_tensor_view<1x256xf32>, !pto.async_session) -> !pto.async_event
    """

    replaced_by = "pto.comm.tget_async"


class OlderWaitAsyncEvent(WaitAsyncEvent, name="pto.wait_async_event"):
    """Older name of pto.comm.wait_async_event.

    Operands are the same.

        %done = pto.wait_async_event(%event, %session : !pto.async_event, !pto.async_session) -> i1
    """

    replaced_by = "pto.comm.wait_async_event"


class OlderTestAsyncEvent(TestAsyncEvent, name="pto.test_async_event"):
    """Older name of pto.comm.test_async_event.

    Operands are the same.

        %done = pto.test_async_event(%event, %session : !pto.async_event, !pto.async_session) -> i1
    """

    replaced_by = "pto.comm.test_async_event"


# --- prefetches -------------------------------------------------------------------------------------------------------


_HINT = "nothing depends on what is in a cache"


class MakePrefetchAsyncContext(_Async, name="pto.make_prefetch_async_context"):
    """Begin a queue of prefetches.

    The pointer is the workspace of the engine.

        %context = pto.make_prefetch_async_context(%workspace : !pto.ptr<i8, gm>) -> !pto.prefetch_async_context
    """

    absorbed = _HINT
    gives = PrefetchAsyncContextType()
    untyped = ("workspace",)
    workspace = Operand()
    result = Result()

    def tile_rules(self, target: str) -> Iterator[Problem]:
        yield from super().tile_rules(target)
        type_ = self.workspace.type
        if not isinstance(type_, PtrType) or type_.space is not Space.GM:
            yield at_type(self, "workspace", "to be a pointer to gm", type_)


class TPrefetchAsync(_Async, name="pto.tprefetch_async"):
    """Begin to fetch a view into the cache.

    A hint: the event is done at once.

        %e = pto.tprefetch_async(%w, %context : !pto.partition_tensor_view<16x64xf32>, !pto.prefetch_async_context)
            -> !pto.async_event
    """

    absorbed = _HINT
    gives = AsyncEventType()
    handles = {"context": PrefetchAsyncContextType}
    views = ("src",)
    untyped = ("context",)
    src = Operand()
    context = Operand()
    result = Result()

    def tile_rules(self, target: str) -> Iterator[Problem]:
        yield from super().tile_rules(target)
        yield from place.has_elements(self, "src")


class GetPrefetchAsyncSession(PTOOperation, name="pto.get_prefetch_async_session"):
    """The session of a queue of prefetches.

    For pto.comm.wait_async_event and pto.comm.test_async_event.

        %s = pto.get_prefetch_async_session %context : !pto.prefetch_async_context -> !pto.async_session
    """

    absorbed = _HINT
    placement = "outside"
    form = "$context"
    context = Operand()
    result = Result()

    def rules(self, target: str) -> Iterator[Problem]:
        if not isinstance(self.context.type, PrefetchAsyncContextType):
            yield Problem(f"context must be !pto.prefetch_async_context, not {self.context.type}", at="context")
        if not isinstance(self.result.type, AsyncSessionType):
            yield Problem(f"{self.name} gives !pto.async_session, not {self.result.type}", at="result")
