"""Signals, and what else takes a view for its place: pointers and strides."""

from __future__ import annotations

from xdsl.dialects.builtin import DenseArrayBase, i1, i64
from xdsl.ir import Attribute, SSAValue

from ptosim.language.builder import Builder, known
from ptosim.language.micro.sync_fence import CmoCacheInvalid
from ptosim.language.micro.sync_semaphore import SyncAll
from ptosim.language.tile.comm import TNotify, TTest, TWait
from ptosim.tiles.lowering import lowering
from ptosim.tiles.run_conditions import require
from ptosim.tiles.tile_values import GmView


@lowering(TNotify)
def tnotify(build: Builder, signal: GmView, value: SSAValue, notifyOp: str) -> None:
    build.op("pto.sim.notify", signal=signal.pointer, value=value, op=notifyOp)


@lowering(TWait)
def twait(build: Builder, signal: GmView, value: SSAValue, cmp: str) -> None:
    shape, strides = _words(build, signal)
    build.op("pto.sim.wait_words", signal=signal.pointer, value=value, strides=strides, cmp=cmp, shape=shape)


@lowering(TTest)
def ttest(build: Builder, signal: GmView, value: SSAValue, cmp: str) -> SSAValue:
    shape, strides = _words(build, signal)
    return build.op(
        "pto.sim.test_words", signal=signal.pointer, value=value, strides=strides, cmp=cmp, shape=shape, result=i1
    )


def _words(build: Builder, signal: GmView) -> tuple[DenseArrayBase | None, list[SSAValue]]:
    """The sizes above 1 of a view of words, and their strides; nothing for one word."""
    axes = [
        (int(known(size) or 0), stride)
        for size, stride in zip(signal.sizes, signal.strides, strict=True)
        if known(size) != 1
    ]
    for _, stride in axes:
        if known(stride) is None or int(known(stride) or 0) < 0:
            message = "the words of a signal go upwards: a stride is negative"
            require(build, build.compare("sge", stride, 0), "invalid", message, fatal=True)
    if not axes:
        return None, []
    shape = DenseArrayBase.from_list(i64, [size for size, _ in axes])
    return shape, [build.index(stride) for _, stride in axes]


@lowering(CmoCacheInvalid)
def cacheinvalid(build: Builder, address: GmView | SSAValue | None) -> None:
    build.op("pto.cmo.cacheinvalid", address=address.pointer if isinstance(address, GmView) else address)


@lowering(SyncAll)
def syncall(
    build: Builder, workspace: GmView | SSAValue | None, used: SSAValue | None, mode: Attribute, core_type: Attribute
) -> None:
    place = workspace.pointer if isinstance(workspace, GmView) else workspace
    build.op("pto.syncall", workspace=place, used=used, mode=mode, core_type=core_type)
