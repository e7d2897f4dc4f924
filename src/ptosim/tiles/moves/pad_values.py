"""The values that tiles are padded with: nothing, zero, or the largest or least finite number of the element type."""

from __future__ import annotations

from xdsl.ir import SSAValue

from ptosim.effects.element import Element
from ptosim.language.builder import Builder
from ptosim.language.tile.tile_buf import CUSTOM_PAD, PADS
from ptosim.tiles.tile_values import Tile

_LARGEST = {"f32": 0x7F7FFFFF, "f16": 0x7BFF, "bf16": 0x7F7F}
"""The largest floats; the least is the same with the sign bit."""


def pad_bits(element: Element, pad: int) -> int:
    """The bits of the pad of a type: a number of PADS. Of eight-byte and low-precision elements always zero."""
    if pad >= CUSTOM_PAD:
        return pad & ((1 << min(element.bits, 32)) - 1)
    word = PADS[pad]
    if word in ("null", "zero") or element.bytes == 8:
        return 0
    if element.name in _LARGEST:
        return _LARGEST[element.name] | (word == "min") << element.bits - 1
    if element.is_float or element.kind == "lowprecision":
        return 0
    if element.name.startswith("u"):
        return (1 << element.bits) - 1 if word == "max" else 0
    return (1 << element.bits - 1) - 1 if word == "max" else 1 << element.bits - 1


def pad_value(build: Builder, tile: Tile) -> SSAValue | None:
    """The pad of a tile as a value, None where it has none."""
    return build.pattern(pad_bits(tile.kind, tile.buf.pad), tile.element) if tile.buf.pad else None
