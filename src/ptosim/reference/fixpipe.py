"""Stores of the fixpipe with clauses: L0C to L1, GM and UB."""

from __future__ import annotations

import numpy as np

from ptosim.effects.ctrl import atomic_fields
from ptosim.effects.element import Element
from ptosim.effects.fixpipe import UNSCALED, quant_row, relu_row, written_shape
from ptosim.effects.fractal import SEGMENT_BITS, SEGMENTS
from ptosim.effects.names import Space
from ptosim.effects.record import Static
from ptosim.language.micro import fixpipe as op
from ptosim.reference.core import Core
from ptosim.reference.memory import accumulator_store
from ptosim.reference.numeric import float_lanes
from ptosim.reference.numeric.quantisation import QuantisationWords, Steps, Values
from ptosim.reference.semantics import Bind, Operands, semantics


def _as_f32(payload: int, kind: Element) -> int:
    """The bits of a scalar payload, widened to f32."""
    lane = np.array([payload & ((1 << kind.bits) - 1)], f"u{kind.bytes}").view(float_lanes.dtype_of(kind))
    return int(float_lanes.widen(kind, lane).view(np.uint32)[0])


def _parameters(core: Core, static: Static, payload: int | None, n: int) -> QuantisationWords | None:
    mode = static.words.get("quant_mode", "no_convert")
    if payload is None or mode in UNSCALED:
        return None
    if mode.endswith("_vec"):
        _look_at_segment(core, payload, Space.FB)
        return accumulator_store.quant_vector(core, quant_row(payload), n)
    return accumulator_store.quant_scalar(_as_f32(payload, static.elements["quant_payload"]))


def _look_at_segment(core: Core, payload: int, expected: Space) -> None:
    if SEGMENTS.get(payload >> SEGMENT_BITS) is not expected:
        core.lint(f"the pointer 0x{payload:x} names another segment of fb than {expected}, from which the words come")


def _slope(core: Core, static: Static, payload: int | None, n: int) -> Values | None:
    if payload is None:
        return None
    if static.words.get("relu_mode") == "vector_relu":
        _look_at_segment(core, payload, Space.FB_RELU)
        return accumulator_store.slope_vector(core, relu_row(payload), n)
    return accumulator_store.slope_scalar(_as_f32(payload, static.elements["relu_payload"]))


def _atomic(static: Static, ctrl: int) -> int:
    """The atomic fields of CTRL; a clause takes their place."""
    kind = static.words.get("atomic_type")
    return ctrl if kind is None else atomic_fields(kind, static.words["atomic_op"])


def _into(space: Space, **absent: None) -> Bind:
    return lambda static: {"space": space, **absent}


@semantics(op.MteL0cL1, bind=_into(Space.L1, sub_block=None))
@semantics(op.MteL0cGm, bind=_into(Space.GM, sub_block=None))
@semantics(op.MteL0cUb, bind=_into(Space.UB))
def mte_l0c(
    core: Core, operands: Operands, sub_block: int | None, split: int | None, ctrl: int, static: Static, space: Space
) -> None:
    words, n = static.words, operands.n
    store = accumulator_store.Store(
        operands.source,
        operands.dest,
        space,
        written_shape(operands),
        words.get("layout", "nz2nd"),
        bool(split),
        words["dst_mode"] if sub_block is None and space is Space.UB else sub_block or 0,
        _atomic(static, ctrl),
    )
    accumulator_store.check_shape(core, store)
    steps = Steps(
        static.elements["source"],
        static.elements["dest"],
        words.get("quant_mode", "no_convert"),
        _parameters(core, static, operands.quant_payload, n),
        words.get("relu_mode", "no_relu"),
        _slope(core, static, operands.relu_payload, n),
        operands.clip,
        accumulator_store.saturation(words.get("sat"), ctrl),
    )
    accumulator_store.perform(core, store, steps)
