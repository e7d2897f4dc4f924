"""Operations element by element: one register of every source, one instruction, one store.

unary   d = OP a          binary   d = a OP b          scalar   d = a OP s, where s is the same for every element
"""

from __future__ import annotations

from collections.abc import Callable

from xdsl.ir import SSAValue

from ptosim.language.build import Builder
from ptosim.language.types import VregType
from ptosim.tiles.lowering import define
from ptosim.tiles.values import Tile
from ptosim.tiles.walk import Access, over

_UNARY = {
    "tabs": "vabs",
    "tneg": "vneg",
    "tnot": "vnot",
    "texp": "vexp",
    "tsqrt": "vsqrt",
    "trelu": "vrelu",
}

_BINARY = {
    "tadd": "vadd",
    "tsub": "vsub",
    "tmul": "vmul",
    "tmax": "vmax",
    "tmin": "vmin",
    "tand": "vand",
    "tor": "vor",
    "txor": "vxor",
    "tshl": "vshl",
    "tshr": "vshr",
    "tprelu": "vprelu",
}

_WITH_SCALAR = {
    "tadds": "vadds",
    "tmuls": "vmuls",
    "tmaxs": "vmaxs",
    "tmins": "vmins",
}


def _unary(instruction: str) -> Callable[..., None]:
    def lower(build: Builder, src: Tile, dst: Tile) -> None:
        def step(here: Access) -> None:
            here.store(dst, build.op(instruction, input=here.load(src), mask=here.mask))

        over(build, (dst, src), step)

    return lower


def _binary(instruction: str) -> Callable[..., None]:
    def lower(build: Builder, src0: Tile, src1: Tile, dst: Tile) -> None:
        def step(here: Access) -> None:
            here.store(dst, build.op(instruction, lhs=here.load(src0), rhs=here.load(src1), mask=here.mask))

        over(build, (dst, src0, src1), step)

    return lower


def _with_scalar(instruction: str) -> Callable[..., None]:
    def lower(build: Builder, src: Tile, scalar: SSAValue, dst: Tile) -> None:
        def step(here: Access) -> None:
            here.store(dst, build.op(instruction, input=here.load(src), scalar=scalar, mask=here.mask))

        over(build, (dst, src), step)

    return lower


def _fill(build: Builder, scalar: SSAValue, dst: Tile) -> None:
    def step(here: Access) -> None:
        here.store(dst, build.vdup(input=scalar, mask=here.mask, result=VregType.of(dst.element)))

    over(build, (dst,), step)


for _name, _instruction in _UNARY.items():
    define(f"pto.{_name}", _unary(_instruction))
for _name, _instruction in _BINARY.items():
    define(f"pto.{_name}", _binary(_instruction))
for _name, _instruction in _WITH_SCALAR.items():
    define(f"pto.{_name}", _with_scalar(_instruction))
define("pto.texpands", _fill)
