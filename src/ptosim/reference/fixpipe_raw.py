"""Stores of the fixpipe in the raw spelling."""

from __future__ import annotations

from collections.abc import Mapping

from ptosim.effects.fixpipe import HALVES, LAYOUTS, QUANT_ROW, RELU_ROW, StoreShape
from ptosim.effects.fixpipe_raw import RELU_MODES, SPLIT_MODES, field, is_layout, quant_code, raw_shape
from ptosim.effects.names import Space
from ptosim.effects.record import Static
from ptosim.language.micro import fixpipe_raw as op
from ptosim.language.micro.fixpipe_modes import QUANT_MODES
from ptosim.language.rules.fixpipe_rules import CLIPS
from ptosim.reference.core import Core
from ptosim.reference.fault import Fault
from ptosim.reference.memory import accumulator_store
from ptosim.reference.numeric.quantisation import CODES, QuantisationWords, Steps, Values
from ptosim.reference.requirement import demand
from ptosim.reference.semantics import Bind, Operands, semantics


def _cores(core: Core, space: Space, config1: int, shape: StoreShape) -> str | int:
    if space is not Space.UB:
        return 0
    mode = int(field(config1, 17, 16))
    if mode >= len(SPLIT_MODES):
        raise Fault("invalid", f"there is no mode {mode} of storing to UB; bits 17:16 are 0, 1 or 2")
    split = SPLIT_MODES[mode]
    if split is not None:
        demand(core, (HALVES[split],), {"m": shape.m, "n": shape.n})
    return split or int(field(config1, 18, 18))


def _parameters(core: Core, mode: str, n: int, fpc: int, quant_pre: int) -> QuantisationWords | None:
    if mode.endswith("_vec"):
        return accumulator_store.quant_vector(core, field(fpc, 15, 8) * QUANT_ROW, n)
    return accumulator_store.quant_scalar(quant_pre) if mode.endswith("_scalar") else None


def _slope(core: Core, mode: str, n: int, fpc: int, relu_alpha: int) -> Values | None:
    if mode == "vector_relu":
        return accumulator_store.slope_vector(core, field(fpc, 7, 0) * RELU_ROW, n)
    return accumulator_store.slope_scalar(relu_alpha) if mode == "scalar_relu" else None


def _named(names: Mapping[int, str], code: int, what: str) -> str:
    if code not in names:
        raise Fault("invalid", f"there is no {what} mode {code}")
    return names[code]


def _into(space: Space) -> Bind:
    return lambda static: {"space": space}


@semantics(op.CopyMatrixCcToGm, bind=_into(Space.GM))
@semantics(op.CopyMatrixCcToCbuf, bind=_into(Space.L1))
@semantics(op.CopyMatrixCcToUb, bind=_into(Space.UB))
def copy_matrix_cc(core: Core, operands: Operands, ctrl: int, static: Static, space: Space) -> None:
    shape, config1, fpc = raw_shape(operands), operands.config1, operands.fpc
    layout = next(layout for layout in LAYOUTS if is_layout(config1, layout))
    split = bool(field(config1, 42, 42))
    store = accumulator_store.Store(
        operands.source, operands.dest, space, shape, layout, split, _cores(core, space, config1, shape), ctrl
    )
    accumulator_store.check_shape(core, store)
    source_element, dest_element = static.elements["source"], static.elements["dest"]
    mode = _named(CODES, quant_code(config1), "quantisation")
    if not QUANT_MODES[mode].joins(source_element.name, dest_element.name):
        raise Fault("invalid", f"{mode} does not lead from {source_element.name} to {dest_element.name}")
    clips = bool(field(config1, 31, 30))
    if clips and dest_element.name not in CLIPS:
        raise Fault("invalid", f"clip does not apply to a destination of {dest_element.name}")
    relu = _named(dict(enumerate(RELU_MODES)), field(config1, 41, 39), "relu")
    steps = Steps(
        source_element,
        dest_element,
        mode,
        _parameters(core, mode, shape.n, fpc, operands.quant_pre),
        relu,
        _slope(core, relu, shape.n, fpc, operands.relu_alpha),
        operands.fix_clip_relu if clips else None,
        accumulator_store.saturation(None, ctrl),
    )
    accumulator_store.perform(core, store, steps)
