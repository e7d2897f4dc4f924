"""Transfers with an event: copies in global memory that go on while the scalar unit does.

An A5 puts through the scratch tile of the session, and has done so when the call ends. Everything else is a queue of
transfers for each session, in order: the event of one is its number there, and 0 where it has ended.
"""

from __future__ import annotations

from dataclasses import replace

from xdsl.dialects.builtin import IntegerAttr, StringAttr, i1, i64
from xdsl.ir import SSAValue

from ptosim.language.builder import Builder, known
from ptosim.language.structure.function import Function
from ptosim.language.tile import comm_async
from ptosim.tiles.communication.comm_copy import keep_apart, through
from ptosim.tiles.lowering import lowering
from ptosim.tiles.moves.view_chunks import hear, part, tell
from ptosim.tiles.refusal import Refused
from ptosim.tiles.tile_values import GmView, Session, Tile

_LAST = 3
"""The token by which the scalar unit hears of the last store."""


@lowering(comm_async.BuildAsyncSession)
def build_async_session(op: comm_async.BuildAsyncSession, control: Tile) -> Session:
    return Session(control, op.integer("comm_block_offset") or 0, _number(op))


def _number(op: comm_async.BuildAsyncSession) -> int:
    """Sessions are counted as they stand in their function."""
    function = op.parent_op()
    while function is not None and not isinstance(function, Function):
        function = function.parent_op()
    assert function is not None
    return [each for each in function.walk() if isinstance(each, comm_async.BuildAsyncSession)].index(op)


@lowering(comm_async.TPutAsync)
def tput_async(build: Builder, dst: GmView, src: GmView, session: Session, target: str) -> SSAValue:
    dst, src = (_shifted(build, view, session) for view in (dst, src))
    if target == "a5":
        through(build, src, [dst], [_line(session.scratch, src)], target)
        tell(build, "MTE3", "S", _LAST)
        hear(build, "MTE3", "S", _LAST)
        build.op("pto.dsb", memory=StringAttr("DDR"))  # the next one notified finds it there
        return build.i64(0)
    return _transfer(build, dst, src, session)


@lowering(comm_async.TGetAsync)
def tget_async(build: Builder, dst: GmView, src: GmView, session: Session) -> SSAValue:
    return _transfer(build, _shifted(build, dst, session), _shifted(build, src, session), session)


def _transfer(build: Builder, dst: GmView, src: GmView, session: Session) -> SSAValue:
    for view in (dst, src):
        if known(view.strides[-1]) != 1 and known(view.sizes[-1]) != 1:
            raise Refused("a transfer moves one line of elements that lie side by side", kind="invalid")
    keep_apart(build, dst, src)
    return build.op(
        "pto.sim.transfer",
        result=i64,
        session=IntegerAttr(session.number, i64),
        dst=dst.pointer,
        src=src.pointer,
        bytes=build.i64(build.times(src.sizes[-1], src.width)),
    )


def _shifted(build: Builder, view: GmView, session: Session) -> GmView:
    """The start of its transfers, in every block: a kernel whose blocks have shares adds them to its addresses."""
    if not session.block_offset:
        return view
    if session.block_offset % view.width:
        raise Refused(f"comm_block_offset {session.block_offset} is no multiple of {view.width} bytes", kind="invalid")
    start = session.block_offset // view.width
    return part(build, replace(view, strides=(*view.strides[:-1], 1)), (0, 0, 0, 0, start), view.sizes)


def _line(scratch: Tile, view: GmView) -> Tile:
    """The bytes of the scratch tile as one row of elements."""
    count = scratch.buf.size // view.width
    if not count:
        raise Refused(f"the scratch tile has no room for an element of {view.width} bytes", kind="invalid")
    buf = replace(
        scratch.buf,
        rows=1,
        cols=count,
        element=view.element,
        valid=(1, count),
        blayout="row_major",
        slayout="none_box",
    )
    return Tile(buf, scratch.address, (1, count), (1, count), scratch.name)


@lowering(comm_async.WaitAsyncEvent, comm_async.TestAsyncEvent)
def completed(build: Builder, event: SSAValue, session: Session | SSAValue) -> SSAValue:
    """A test may find it done, and so it does. Hints need no wait."""
    if isinstance(session, Session):
        build.op("pto.sim.wait_transfers", event=event, session=IntegerAttr(session.number, i64))
    return build.constant(1, i1)


# --- prefetches are hints ---------------------------------------------------------------------------------------------


@lowering(comm_async.MakePrefetchAsyncContext, comm_async.GetPrefetchAsyncSession, comm_async.TPrefetchAsync)
def prefetch(build: Builder) -> SSAValue:
    """Nothing depends on what is in a cache."""
    return build.i64(0)
