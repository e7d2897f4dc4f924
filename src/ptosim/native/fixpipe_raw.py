"""Stores of the fixpipe in the raw spelling.

Fields of the words that are known when the kernel is compiled settle what is generated; for others there is code for
each value that fits the types.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ptosim.effects.fixpipe import HALVES, LAYOUTS, QUANT_ROW, RELU_ROW
from ptosim.effects.fixpipe_raw import RELU_MODES, field, is_layout, quant_code, raw_shape
from ptosim.effects.names import Space
from ptosim.effects.record import Static
from ptosim.language.micro import fixpipe_raw as op
from ptosim.language.micro.fixpipe_modes import QUANT_MODES
from ptosim.language.rules.fixpipe_rules import CLIPS
from ptosim.native.build.core import Core
from ptosim.native.build.lowering import Operands, given, lowering
from ptosim.native.build.requirement import demand
from ptosim.native.ir.flow import FunctionBuilder
from ptosim.native.ir.values import I1, I32, Value
from ptosim.native.routines.accumulator_store import (
    Store,
    check_shape,
    for_each_core,
    perform,
    quant_scalar,
    quant_vector,
    saturation,
    slope_vector,
)
from ptosim.native.routines.quantisation import COLUMNS, Lanes, Relu, Saturation, Steps, slopes
from ptosim.native.vector.registers import splat


@lowering(op.CopyMatrixCcToGm, bind=given(space=Space.GM))
@lowering(op.CopyMatrixCcToCbuf, bind=given(space=Space.L1))
@lowering(op.CopyMatrixCcToUb, bind=given(space=Space.UB))
def copy_matrix_cc(
    f: FunctionBuilder, core: Core, operands: Operands, ctrl: Value, static: Static, space: Space
) -> None:
    shape, config1 = raw_shape(operands), operands.config1
    check_shape(core, shape)
    layouts = [(is_layout(config1, layout), layout) for layout in LAYOUTS]
    atomic = ctrl if space is Space.GM and core.unit.may_store_atomically else None
    store = Store(operands.source, operands.dest, space, shape, layouts, field(config1, 42, 42) != 0, atomic)
    _check(core, static, config1)
    kept = saturation(f, None, ctrl)
    for name, mode in _joining(static).items():

        def act(name: str = name) -> None:
            _store(core, static, store, operands, name, kept)

        f.either(quant_code(config1) == mode.code, act)


def _joining(static: Static) -> dict[str, Any]:
    """The modes that fit the types."""
    source, dest = static.elements["source"].name, static.elements["dest"].name
    return {name: mode for name, mode in QUANT_MODES.items() if mode.joins(source, dest)}


def _check(core: Core, static: Static, config1: Value) -> None:
    """The mode, relu and clip that the words name exist and fit the types."""
    code = quant_code(config1)
    source, dest = static.elements["source"].name, static.elements["dest"].name
    known = core.f.constant(I1, 0)
    for name, mode in QUANT_MODES.items():
        known = known | (code == mode.code)
        if name not in _joining(static):
            core.fail(code == mode.code, "invalid", f"{name} does not lead from {source} to {dest}")
    core.fail(known ^ 1, "invalid", "there is no quantisation mode {}", code)
    if dest not in CLIPS:
        message = f"clip does not apply to a destination of {dest}"
        core.fail(field(config1, 31, 30) != 0, "invalid", message)
    relu = field(config1, 41, 39)
    core.fail(relu >= len(RELU_MODES), "invalid", "there is no relu mode {}", relu)
    core.f.settle()


def _store(core: Core, static: Static, store: Store, operands: Operands, mode: str, kept: Saturation) -> None:
    f, n, config1 = core.f, store.shape.n, operands.config1
    parameters: Lanes | None = None
    if mode.endswith("_vec"):
        parameters = quant_vector(core, field(operands.fpc, 15, 8) * QUANT_ROW, n)
    elif mode.endswith("_scalar"):
        parameters = quant_scalar(f, operands.quant_pre)
    relu = field(config1, 41, 39)
    is_vector = relu == RELU_MODES.index("vector_relu")
    steps = Steps(
        static.elements["source"],
        static.elements["dest"],
        mode,
        Relu(relu == RELU_MODES.index("normal_relu"), (relu == RELU_MODES.index("scalar_relu")) | is_vector),
        (field(config1, 31, 30) != 0) & int(static.elements["dest"].name in CLIPS),
        operands.fix_clip_relu,
        kept,
        parameters,
        _slope(core, operands, n, is_vector),
    )

    def into(mode: str | Value | None) -> Callable[[], None]:
        def act() -> None:
            if isinstance(mode, str):
                demand(core, (HALVES[mode],), {"m": store.shape.m, "n": n})
            for_each_core(core, store, mode, lambda parts: perform(core, store, parts, steps))

        return act

    if store.space is not Space.UB:
        into(None)()
        return
    split = field(config1, 17, 16)
    core.fail(split == 3, "invalid", "there is no mode {} of storing to UB; bits 17:16 are 0, 1 or 2", split)
    f.settle()
    f.either(split == 0, into(field(config1, 18, 18)), lambda: f.either(split == 1, into("split_m"), into("split_n")))


def _slope(core: Core, operands: Operands, n: Value, is_vector: Value) -> Lanes:
    """Slopes from the buffer or from the register, as the words say."""
    offset = field(operands.fpc, 7, 0) * RELU_ROW
    vector = slope_vector(core, offset, is_vector.select(n, n.like(0)))

    def lanes(column: Value) -> Value:
        scalar = slopes(splat(core.f, operands.relu_alpha.trunc(I32), COLUMNS))
        (chosen,) = core.f.choose(is_vector, lambda: [vector(column)], lambda: [scalar])
        return chosen

    return lanes
