"""Signals in global memory: compiled code checks where the words are, the machine reads, writes and waits."""

from __future__ import annotations

from collections.abc import Sequence

from ptosim.effects.sim_signal import WORD
from ptosim.language.micro import sim_signal as op
from ptosim.native.build.core import Core
from ptosim.native.build.lowering import lowering
from ptosim.native.ir.context import WORD_BYTES
from ptosim.native.ir.flow import FunctionBuilder
from ptosim.native.ir.values import I1, I64, Value
from ptosim.native.routines.row_transfer import address_of


@lowering(op.SimNotify)
def notify(core: Core, signal: Value, value: Value, adds: bool) -> None:
    place, _ = core.global_place("writes", signal, WORD, WORD)
    core.issue("notify", [int(adds)], [signal, address_of(place.address), value.sext(I64)])


def _captured(core: Core, signal: Value, value: Value, shape: Sequence[int], strides: Sequence[Value]) -> list[Value]:
    """The first word as a pointer and where it is in this process, the value, and the strides. All words lie in one
    buffer; strides are not negative."""
    extent = core.f.constant(I64, WORD)
    for size, stride in zip(shape, strides, strict=True):
        extent = extent + stride.signed(I64) * (WORD * (size - 1))
    place, _ = core.global_place("reads", signal, extent, WORD)
    return [signal, address_of(place.address), value.sext(I64), *(stride.signed(I64) for stride in strides)]


@lowering(op.SimWaitWords)
def wait_words(
    core: Core, signal: Value, value: Value, strides: tuple[Value, ...], cmp: str, shape: tuple[int, ...]
) -> None:
    core.issue("watch", [cmp, *shape], _captured(core, signal, value, shape, strides))


@lowering(op.SimTestWords)
def test_words(
    f: FunctionBuilder,
    core: Core,
    signal: Value,
    value: Value,
    strides: tuple[Value, ...],
    cmp: str,
    shape: tuple[int, ...],
) -> Value:
    """The answer comes back through memory."""
    answer = f.scratch(WORD_BYTES)
    captured = _captured(core, signal, value, shape, strides)
    core.issue("test", [cmp, *shape], [address_of(answer), *captured])
    return answer.load(I64, WORD_BYTES).trunc(I1)


@lowering(op.SimGroup)
def group() -> None:
    """Only a check has something to say."""
