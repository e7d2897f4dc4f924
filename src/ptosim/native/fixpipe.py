"""Stores of the fixpipe with clauses: L0C to L1, GM and UB."""

from __future__ import annotations

from ptosim.effects.ctrl import atomic_fields
from ptosim.effects.element import Element
from ptosim.effects.fixpipe import UNSCALED, StoreShape, quant_row, relu_row, written_shape
from ptosim.effects.fractal import SEGMENT_BITS, SEGMENTS
from ptosim.effects.names import Space
from ptosim.effects.record import Static
from ptosim.language.micro import fixpipe as op
from ptosim.native.build.core import Core
from ptosim.native.build.lowering import Operands, given, lowering
from ptosim.native.ir.values import F32, I1, I64, Value
from ptosim.native.routines import accumulator_store
from ptosim.native.routines.quantisation import Lanes, Relu, Steps
from ptosim.native.vector.numbers import bits_of, lane_type, lanes_as, widen


def _as_f32(payload: Value, kind: Element) -> Value:
    """The bits of a scalar payload, widened to f32."""
    return bits_of(lanes_as(widen(kind, lanes_as(payload, lane_type(kind))), F32))


def _parameters(core: Core, static: Static, payload: Value | None, n: Value) -> Lanes | None:
    mode = static.words.get("quant_mode", "no_convert")
    if payload is None or mode in UNSCALED:
        return None
    if mode.endswith("_vec"):
        _look_at_segment(core, payload, Space.FB)
        return accumulator_store.quant_vector(core, quant_row(payload), n)
    return accumulator_store.quant_scalar(core.f, _as_f32(payload, static.elements["quant_payload"]).zext(I64))


def _look_at_segment(core: Core, payload: Value, expected: Space) -> None:
    """A pointer into another segment is for checks to remark on."""
    (number,) = (number for number, space in SEGMENTS.items() if space is expected)
    core.suspect(lambda: payload.lshr(SEGMENT_BITS) != number)


def _slope(core: Core, static: Static, payload: Value | None, n: Value) -> Lanes | None:
    if payload is None:
        return None
    if static.words.get("relu_mode") == "vector_relu":
        _look_at_segment(core, payload, Space.FB_RELU)
        return accumulator_store.slope_vector(core, relu_row(payload), n)
    return accumulator_store.slope_scalar(core.f, _as_f32(payload, static.elements["relu_payload"]))


def _atomic(core: Core, static: Static, ctrl: Value) -> Value | None:
    """The atomic fields of CTRL; a clause takes their place."""
    kind = static.words.get("atomic_type")
    if kind is None:
        return ctrl if core.unit.may_store_atomically else None
    return ctrl.like(atomic_fields(kind, static.words["atomic_op"]))


@lowering(op.MteL0cL1, bind=given(space=Space.L1, sub_block=None))
@lowering(op.MteL0cGm, bind=given(space=Space.GM, sub_block=None))
@lowering(op.MteL0cUb, bind=given(space=Space.UB))
def mte_l0c(core: Core, operands: Operands, sub_block: Value | None, ctrl: Value, static: Static, space: Space) -> None:
    f, n, clip, split = core.f, operands.n, operands.clip, operands.split
    shape = StoreShape(*(n.like(size) if isinstance(size, int) else size for size in written_shape(operands)))
    accumulator_store.check_shape(core, shape)
    words = static.words
    parameters = _parameters(core, static, operands.quant_payload, n)
    slope = _slope(core, static, operands.relu_payload, n)
    relu = words.get("relu_mode", "no_relu")
    no = f.constant(I1, 0)
    steps = Steps(
        static.elements["source"],
        static.elements["dest"],
        words.get("quant_mode", "no_convert"),
        Relu(f.constant(I1, relu == "normal_relu"), f.constant(I1, relu in ("scalar_relu", "vector_relu"))),
        f.constant(I1, clip is not None),
        n.like(0) if clip is None else _wide(clip, static.elements["clip"]),
        accumulator_store.saturation(f, words.get("sat"), ctrl),
        parameters,
        slope,
    )
    if not accumulator_store.is_representable(core, steps):
        return
    layout = f.constant(I1, 1), words.get("layout", "nz2nd")
    atomic = _atomic(core, static, ctrl) if space is Space.GM else None
    store = accumulator_store.Store(
        operands.source, operands.dest, space, shape, [layout], no if split is None else split != 0, atomic
    )
    mode = words.get("dst_mode") if sub_block is None else sub_block
    accumulator_store.for_each_core(
        core, store, mode, lambda parts: accumulator_store.perform(core, store, parts, steps)
    )


def _wide(clip: Value, kind: Element) -> Value:
    """The limit as 64 bits: an integer by its sign, a float as its bits."""
    return clip.convert("zext" if kind.kind in ("unsigned", "float") else "sext", I64)
