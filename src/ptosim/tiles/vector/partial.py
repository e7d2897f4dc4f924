"""Operations on tiles that are valid in parts of the result: where only one source is valid, it is taken as it is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from xdsl.ir import SSAValue

from ptosim.language.builder import INDEX, Builder, Number, known
from ptosim.language.tile.tile_buf import PADS
from ptosim.tiles.lowering import define
from ptosim.tiles.moves.pad_values import pad_bits
from ptosim.tiles.tile_values import Tile
from ptosim.tiles.vector.elementwise_scope import computed
from ptosim.tiles.vector.formula import Formula, instruction, product
from ptosim.tiles.vector.lane_walk import RegisterAccess, each_register_of_rows, mask_type, tail
from ptosim.tiles.vector.registers import Registers

_COMBINED: dict[str, tuple[Formula, str | None]] = {
    "tpartadd": (instruction("vadd"), None),
    "tpartmul": (product, None),
    "tpartmax": (instruction("vmax"), "min"),
    "tpartmin": (instruction("vmin"), "max"),
}
"""The value where both sources are valid, and the pad where neither is; without a pad nothing is written there."""

_CHOSEN = {"tpartargmax": "gt", "tpartargmin": "lt"}
"""The comparison by which an element of src1 takes the place of that of src0."""

_INDEX_BYTES = 4
_SPREAD = {1: ("UNPK4", "PK4_B32"), 2: ("UNPK_B16", "PK_B32"), 4: (None, None)}
"""The permutation of elements into the lanes of their indices, and out of them."""


@dataclass(frozen=True)
class _Part:
    """A source beside the result: how much of it counts."""

    tile: Tile
    within: Tile
    cols: Number
    """Valid columns within those of the result."""

    @staticmethod
    def of(build: Builder, tile: Tile, within: Tile) -> _Part:
        return _Part(tile, within, build.least(tile.cols, within.cols))

    @property
    def has_all_rows(self) -> bool:
        return _same(self.tile.rows, self.within.rows)

    @property
    def covers(self) -> bool:
        """Whether it is known to be valid wherever the result is."""
        return self.has_all_rows and _same(self.tile.cols, self.within.cols)

    def lanes(self, here: RegisterAccess, width: int) -> SSAValue:
        """The lanes of a place that are valid."""
        if self.covers:
            return here.mask
        build = here.build
        rest: Number = build.most(build.minus(build.index(self.cols), here.at), 0)
        if not self.has_all_rows and here.row is not None:
            inside = build.compare("slt", here.row, build.index(self.tile.rows))
            rest = build.op(
                "arith.select", condition=inside, if_true=build.index(rest), if_false=build.index(0), result=INDEX
            )
        return tail(build, rest, width)[0]

    def load(self, here: RegisterAccess, tile: Tile, lanes: SSAValue, dist: str | None = None) -> SSAValue:
        """A register of this source, or of the tile of its indices, whose valid lanes count."""
        return here.load(tile, dist) if self.covers else here.of(lanes).load(tile, dist)


def _same(one: Number, other: Number) -> bool:
    return one is other or (known(one) is not None and known(one) == known(other))


def _combined(formula: Formula, pad: str | None) -> Callable[..., None]:
    def lower(build: Builder, src0: Tile, src1: Tile, dst: Tile) -> None:
        parts = _Part.of(build, src0, dst), _Part.of(build, src1, dst)
        if all(part.covers for part in parts):
            computed(build, formula, dst, src0, src1)
            return
        covered = any(part.covers for part in parts)

        def body() -> None:
            v = Registers(build, dst.element)
            compute = formula(v)
            neither = None if covered or pad is None else v.pattern(pad_bits(v.kind, PADS.index(pad)))

            def step(here: RegisterAccess) -> None:
                masks = [part.lanes(here, v.kind.bytes) for part in parts]
                x, y = (part.load(here, part.tile, mask) for part, mask in zip(parts, masks, strict=True))
                found = compute(x, y, here.mask)
                found = found if parts[0].covers else v.select(masks[0], found, y)
                found = found if parts[1].covers else v.select(masks[1], found, x)
                if covered:
                    here.store(dst, found)
                    return
                either = v.op("por", *masks, here.mask, result=here.mask.type)
                if neither is None:
                    here.of(either).store(dst, found)
                else:
                    here.store(dst, v.select(either, found, neither))

            each_register_of_rows(build, dst, step, dst.kind.bytes)

        build.scope(body)

    return lower


def _chosen(comparison: str) -> Callable[..., None]:
    def lower(build: Builder, src0: Tile, src1: Tile, src0_idx: Tile, src1_idx: Tile, dst: Tile, dst_idx: Tile) -> None:
        parts, indices = (_Part.of(build, src0, dst), _Part.of(build, src1, dst)), (src0_idx, src1_idx)
        covered = any(part.covers for part in parts)
        spread, packed = _SPREAD[dst.kind.bytes]
        v = Registers(build, dst.element)

        def mask_as(mask: SSAValue, width: int) -> SSAValue:
            """The lanes of elements lie where those of their indices begin."""
            return (
                mask if width == dst.kind.bytes == _INDEX_BYTES else build.pbitcast(input=mask, result=mask_type(width))
            )

        def step(here: RegisterAccess) -> None:
            masks = [part.lanes(here, _INDEX_BYTES) for part in parts]
            x, y = (part.load(here, part.tile, mask, spread) for part, mask in zip(parts, masks, strict=True))
            i, j = (part.load(here, index, mask) for part, index, mask in zip(parts, indices, masks, strict=True))
            both = v.op("pand", *masks, here.mask, result=here.mask.type)
            second = mask_as(v.compare(comparison, y, x, mask_as(both, dst.kind.bytes)), _INDEX_BYTES)
            if not parts[0].covers:
                alone = v.op("pnot", masks[0], masks[1], result=here.mask.type)
                second = v.op("por", second, alone, here.mask, result=here.mask.type)
            stored = here if covered else here.of(v.op("por", *masks, here.mask, result=here.mask.type))
            stored.store(dst, v.select(mask_as(second, dst.kind.bytes), y, x), packed)
            stored.store(dst_idx, v.select(second, j, i))

        build.scope(lambda: each_register_of_rows(build, dst, step, _INDEX_BYTES))

    return lower


for _name, (_formula, _pad) in _COMBINED.items():
    define(f"pto.{_name}", _combined(_formula, _pad))
for _name, _comparison in _CHOSEN.items():
    define(f"pto.{_name}", _chosen(_comparison))
