"""The type of a tile, from the words that alloc_tile takes."""
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ptosim.author.coerce import whole
from ptosim.author.dtypes import TILE_PLACES, TileDescription
from ptosim.author.dtypes import dtype as named
from ptosim.author.failures import WrongType, WrongValue, failure
from ptosim.author.words import choice
from ptosim.effects.element import GRANULE
from ptosim.language.tile.tile_buf import BLOCK_LAYOUTS, BOX_LAYOUTS, FRACTALS, PADS


def described(
    shape: Any,
    dtype: Any,
    memory_space: Any = "ub",
    valid_shape: Sequence[int | None] | None = None,
    blayout: Any = "RowMajor",
    slayout: Any = "NoneBox",
    fractal_size: int = 512,
    pad: Any = "Null",
) -> TileDescription:
    """The arguments of alloc_tile, checked. An extent of None is only known when the kernel runs."""
    extents = (shape,) if isinstance(shape, int) else tuple(shape) if isinstance(shape, tuple | list) else None
    if extents is None or len(extents) not in (1, 2):
        raise failure(WrongType, f"the shape of a tile is [rows, cols] or [n], not {shape!r}")
    sizes = tuple(whole(each, "a dimension of a tile") for each in extents)
    if min(sizes) <= 0:
        raise failure(WrongValue, f"the dimensions of a tile are positive, not {list(sizes)}")
    element = named(dtype, "the element of a tile")
    made = TileDescription(
        sizes,
        element,
        choice(memory_space, TILE_PLACES, "memory space"),
        None if valid_shape is None else tuple(valid_shape),
        choice(blayout, BLOCK_LAYOUTS, "blayout"),
        choice(slayout, BOX_LAYOUTS, "slayout"),
        fractal_size,
        pad if isinstance(pad, int) else PADS.index(choice(pad, PADS, "pad")),
    )
    if fractal_size not in FRACTALS:
        raise failure(WrongValue, f"fractal_size is one of {', '.join(map(str, FRACTALS))}, not {fractal_size!r}")
    _check(made)
    return made


def _check(made: TileDescription) -> None:
    valid = made.valid or ()
    if valid and len(valid) != len(made.shape):
        raise failure(WrongValue, f"valid_shape has {len(valid)} entries, but the tile has {len(made.shape)}")
    for known, extent in zip(valid, made.shape, strict=False):
        if known is not None and not 0 <= known <= extent:
            raise failure(WrongValue, f"valid_shape {list(valid)} does not fit into {list(made.shape)}")
    row = made.shape[-1] * made.element.bytes
    if made.blayout == "row_major" and made.slayout == "none_box" and made.place != "scaling" and row % GRANULE:
        message = f"a row of {made.shape[-1]} x {made.element.name} has {row} bytes, which is no multiple of {GRANULE}"
        least = -(-row // GRANULE) * GRANULE // made.element.bytes
        hint = f'make the row {least} elements long and say valid_shape, or use blayout="ColMajor"'
        raise failure(WrongValue, message, hint=hint)
