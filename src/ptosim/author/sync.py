"""Flags, barriers, buffer ids and signals between cores."""

from __future__ import annotations

from typing import Any

from xdsl.dialects.builtin import IntegerAttr, StringAttr, i64

from ptosim.author.coerce import index, literal, scalar_value
from ptosim.author.failures import WrongType, WrongValue, failure
from ptosim.author.trace import not_in_tileop
from ptosim.author.values import ScalarValue
from ptosim.author.words import word
from ptosim.language.catalogue import operation
from ptosim.language.micro.sync import Barrier, SetFlag, SetFlagDyn, WaitFlag, WaitFlagDyn

EVENT_IDS = 8


def _flag(name: str, static: Any, dynamic: Any, src: Any, dst: Any, event_id: Any) -> None:
    trace = not_in_tileop(name)
    pipes = {
        "source": StringAttr(word(src, static.words["source"], "pipe")),
        "destination": StringAttr(word(dst, static.words["destination"], "pipe")),
    }
    number = literal(event_id)
    if isinstance(event_id, str):
        pipes["event"] = StringAttr(word(event_id, static.words["event"], "event"))
        trace.make(static, {}, (), pipes)
    elif number is not None:
        if isinstance(number, float) or not 0 <= number < EVENT_IDS:
            raise failure(WrongValue, f"event_id of {name} is 0 to {EVENT_IDS - 1}, not {event_id}", called="id-range")
        trace.make(static, {}, (), {**pipes, "event": StringAttr(f"EVENT_ID{int(number)}")})
    else:
        trace.make(dynamic, {"event": index(event_id, "event_id")}, (), pipes)


def set_flag(src: Any, dst: Any, *, event_id: Any = 0) -> None:
    """Signal an event from one pipe to another."""
    _flag("pto.set_flag", SetFlag, SetFlagDyn, src, dst, event_id)


def wait_flag(src: Any, dst: Any, *, event_id: Any = 0) -> None:
    """Hold a pipe until another has signalled the event."""
    _flag("pto.wait_flag", WaitFlag, WaitFlagDyn, src, dst, event_id)


def pipe_barrier(pipe: Any) -> None:
    """Later entries of a pipe start when all earlier ones have ended."""
    words = {"pipe": StringAttr(word(pipe, Barrier.words["pipe"], "pipe"))}
    not_in_tileop("pto.pipe_barrier").make(Barrier, {}, (), words)


barrier = pipe_barrier


def _buffer(name: str, pipe: Any, buffer_id: Any, mode: Any) -> None:
    static = literal(buffer_id) is not None
    kind = operation(f"pto.{name}" if static else f"pto.{name}_dyn")
    assert kind is not None
    trace = not_in_tileop(f"pto.{name}")
    properties: dict[str, Any] = {"pipe": StringAttr(word(pipe, kind.words["pipe"], "pipe"))}
    properties["mode_literal"] = IntegerAttr(_static(mode, "mode"), i64)
    if not static:
        trace.make(kind, {"id": index(buffer_id, "the buffer id")}, (), properties)
        return
    number = _static(buffer_id, "the buffer id")
    if not 0 <= number < 32:
        raise failure(WrongValue, f"the buffer id of pto.{name} is 0 to 31, not {number}", called="id-range")
    trace.make(kind, {}, (), {**properties, "id_literal": IntegerAttr(number, i64)})


def _static(value: Any, what: str) -> int:
    number = literal(value)
    if number is None or isinstance(number, float):
        raise failure(WrongType, f"{what} is an integer that is known before the kernel runs, not {value!r}")
    return int(number)


def get_buf(pipe: Any, buf_id: Any, mode: Any = 0) -> None:
    """Hold a pipe until the other pipes have released a buffer."""
    _buffer("get_buf", pipe, buf_id, mode)


def rls_buf(pipe: Any, buf_id: Any, mode: Any = 0) -> None:
    """Release a buffer."""
    _buffer("rls_buf", pipe, buf_id, mode)


def _signal(name: str, pipe: Any, event_id: Any, most: int) -> None:
    kind = operation(f"pto.{name}")
    assert kind is not None
    from ptosim.language.micro.sync import BARRIER_PIPES

    trace = not_in_tileop(f"pto.{name}")
    properties: dict[str, Any] = {"pipe": StringAttr(word(pipe, BARRIER_PIPES, "pipe"))}
    number = literal(event_id)
    if number is not None:
        if isinstance(number, float) or not 0 <= number <= most:
            raise failure(WrongValue, f"the id of pto.{name} is 0 to {most}, not {event_id}", called="id-range")
        trace.make(kind, {}, (), {**properties, "id_literal": IntegerAttr(int(number), i64)})
        return
    if most < 31:
        raise failure(WrongType, f"the id of pto.{name} is a number that is known before the kernel runs, 0 to {most}")
    given = event_id.ssa if isinstance(event_id, ScalarValue) else scalar_value(event_id, i64, "the id")
    trace.make(kind, {"id": given}, (), properties)


def set_cross_block(pipe: Any, event_id: Any) -> None:
    """Signal the other cores."""
    _signal("set_cross_block", pipe, event_id, 15)


def wait_cross_block(pipe: Any, event_id: Any) -> None:
    """Wait for the other cores."""
    _signal("wait_cross_block", pipe, event_id, 15)


def set_intra_block(pipe: Any, event_id: Any) -> None:
    """Signal the other cores of this block."""
    _signal("set_intra_block", pipe, event_id, 31)


def wait_intra_block(pipe: Any, event_id: Any) -> None:
    """Wait for the other cores of this block."""
    _signal("wait_intra_block", pipe, event_id, 31)


NAMES = (
    "set_flag wait_flag pipe_barrier barrier get_buf rls_buf set_cross_block wait_cross_block set_intra_block "
    "wait_intra_block"
)
