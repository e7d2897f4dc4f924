"""Operations element by element: one register of every source, a formula, one store.

unary   d = OP a          binary   d = a OP b          scalar   d = a OP s, where s is the same for every element
"""

from __future__ import annotations

from collections.abc import Callable

from xdsl.dialects.builtin import i16
from xdsl.ir import SSAValue

from ptosim.language.builder import Builder
from ptosim.language.tile.tile_vector_fill import TExpands
from ptosim.language.tile.tile_vector_scalar import TAxpy
from ptosim.language.types import VregType, element_of
from ptosim.tiles.lowering import define, lowering
from ptosim.tiles.moves.mat_fill import fill_l1
from ptosim.tiles.tile_values import Tile
from ptosim.tiles.vector import formula as formulas
from ptosim.tiles.vector.elementwise_scope import computed
from ptosim.tiles.vector.formula import Formula, OfOne, instruction
from ptosim.tiles.vector.lane_walk import RegisterAccess, each_register, everything, over
from ptosim.tiles.vector.power import power
from ptosim.tiles.vector.registers import Registers, as_element, signless
from ptosim.tiles.vector.row_view import in_rows

_UNARY: dict[str, Formula] = {
    "tabs": instruction("vabs"),
    "tneg": formulas.negative,
    "tnot": instruction("vnot"),
    "texp": instruction("vexp"),
    "tsqrt": instruction("vsqrt"),
    "trsqrt": formulas.reciprocal_root,
    "trecip": formulas.reciprocal,
    "trelu": formulas.relu,
}

_BINARY: dict[str, Formula] = {
    "tadd": instruction("vadd"),
    "tsub": instruction("vsub"),
    "tmul": instruction("vmul"),
    "tdiv": formulas.quotient,
    "tmax": instruction("vmax"),
    "tmin": instruction("vmin"),
    "taddrelu": formulas.sum_above_zero,
    "tand": instruction("vand"),
    "tor": instruction("vor"),
    "txor": instruction("vxor"),
    "tshl": instruction("vshl"),
    "tshr": instruction("vshr"),
    "trem": formulas.floor_remainder,
    "tfmod": formulas.cut_remainder,
    "tprelu": instruction("vprelu"),
    "tpow": power,
}

_TERNARY: dict[str, Formula] = {"taddc": formulas.sum_of_three, "tsubc": formulas.difference_and_sum}

_WITH_SCALAR = {"tadds": "vadds", "tmaxs": "vmaxs", "tmins": "vmins", "tlrelu": "vlrelu"}
"""Operations with a scalar that are an instruction with a scalar."""

_SHIFTED = {"tshls": "vshls", "tshrs": "vshrs"}

_WITH_REGISTER: dict[str, Formula] = {
    "tsubs": instruction("vsub"),
    "tands": instruction("vand"),
    "tors": instruction("vor"),
    "txors": instruction("vxor"),
    "trems": formulas.floor_remainder_of_scalar,
    "tfmods": formulas.cut_remainder,
    "tpows": power,
}
"""Operations with a scalar that goes into every lane of a register first."""

_SCALAR_BETWEEN: dict[str, Formula] = {"taddsc": formulas.sum_of_three, "tsubsc": formulas.difference_and_sum}


def _unary(formula: Formula) -> Callable[..., None]:
    def lower(build: Builder, src: Tile, dst: Tile) -> None:
        computed(build, formula, dst, src)

    return lower


def _binary(formula: Formula) -> Callable[..., None]:
    def lower(build: Builder, src0: Tile | SSAValue, src1: Tile | SSAValue, dst: Tile) -> None:
        computed(build, formula, dst, src0, src1)

    return lower


def _ternary(formula: Formula) -> Callable[..., None]:
    def lower(build: Builder, src0: Tile, src1: Tile, src2: Tile, dst: Tile) -> None:
        computed(build, formula, dst, src0, src1, src2)

    return lower


def _scalar_between(formula: Formula) -> Callable[..., None]:
    def lower(build: Builder, src0: Tile, scalar: SSAValue, src1: Tile, dst: Tile) -> None:
        computed(build, formula, dst, src0, scalar, src1)

    return lower


def _with_register(formula: Formula) -> Callable[..., None]:
    def lower(build: Builder, src: Tile, scalar: SSAValue, dst: Tile) -> None:
        computed(build, formula, dst, src, scalar)

    return lower


def _joined(name: str, scalar: SSAValue) -> Callable[[Registers], OfOne]:
    """An instruction with a scalar."""
    return lambda v: lambda x, mask: v.op(name, x, scalar, mask)


def _with_scalar(name: str) -> Callable[..., None]:
    def lower(build: Builder, src: Tile, scalar: SSAValue, dst: Tile) -> None:
        computed(build, _joined(name, as_element(build, scalar, dst.element)), dst, src)

    return lower


def _shifted(name: str) -> Callable[..., None]:
    def lower(build: Builder, src: Tile, scalar: SSAValue, dst: Tile) -> None:
        plain = as_element(build, scalar, signless(scalar.type))
        wide = element_of(scalar.type).bits > 16  # no count beyond the element matters, and few fit the instruction
        count = build.cast(build.least(plain, dst.kind.bits) if wide else plain, i16)
        computed(build, _joined(name, count), dst, src)

    return lower


def _tmuls(build: Builder, src: Tile, scalar: SSAValue, dst: Tile) -> None:
    if dst.kind.bytes == 1:
        computed(build, formulas.product, dst, src, scalar)
    else:
        computed(build, _joined("vmuls", as_element(build, scalar, dst.element)), dst, src)


def _tlog(build: Builder, src: Tile, dst: Tile, precisionType: str) -> None:
    precise = precisionType == "high_precision"
    computed(build, formulas.precise_logarithm if precise else instruction("vln"), dst, src)


@lowering(TAxpy)
def taxpy(build: Builder, src: Tile, scalar: SSAValue, dst: Tile) -> None:
    """dst += src * scalar, rounded once."""
    factor, (rows, source) = as_element(build, scalar, dst.element), in_rows(dst, src)

    def body() -> None:
        v = Registers(build, dst.element)
        mixed = src.element != dst.element
        halves = everything(build, src.kind.bytes) if mixed else None
        every = v.every(factor) if v.kind.name == "bf16" else None

        def step(here: RegisterAccess) -> None:
            x = here.load(source, "UNPK_B16" if mixed else None)
            if halves is not None:
                x = v.op("vcvt", x, halves, part="EVEN", result=v.type)
            y = here.load(rows)
            sum_ = v.op("vaxpy", x, y, factor, here.mask) if every is None else v.op("vmula", y, x, every, here.mask)
            here.store(rows, sum_)

        each_register(build, (rows, source), step)

    build.scope(body)


@lowering(TExpands)
def texpands(build: Builder, scalar: SSAValue, dst: Tile) -> None:
    element = as_element(build, scalar, dst.element)
    if dst.buf.loc == "mat":
        fill_l1(build, element, dst)
        return
    (rows,) = in_rows(dst)

    def step(here: RegisterAccess) -> None:
        here.store(rows, build.vdup(input=element, mask=here.mask, result=VregType.of(dst.element)))

    over(build, (rows,), step)


for _family, _table in (
    (_unary, _UNARY),
    (_binary, _BINARY | {"tdivs": formulas.quotient}),
    (_ternary, _TERNARY),
    (_with_register, _WITH_REGISTER),
    (_scalar_between, _SCALAR_BETWEEN),
):
    for _name, _formula in _table.items():
        define(f"pto.{_name}", _family(_formula))
for _name, _instruction in _WITH_SCALAR.items():
    define(f"pto.{_name}", _with_scalar(_instruction))
for _name, _instruction in _SHIFTED.items():
    define(f"pto.{_name}", _shifted(_instruction))
define("pto.tmuls", _tmuls)
define("pto.tlog", _tlog)
