"""The layout of a view of GM: as it is written, else as its constant shape and strides say."""

from __future__ import annotations

from ptosim.language.builder import Number, known
from ptosim.tiles.tile_values import GmView, ViewLayout

_FRACTAL = 16
_FRACTAL_BYTES = 512


def layout_of(view: GmView) -> ViewLayout:
    """ND unless the tensor, not the part of it, is known to be laid out in fractals or by columns."""
    if view.layout is not None:
        return view.layout
    shape: tuple[Number, ...] = (*([1] * (5 - len(view.shape))), *view.shape)
    _, _, g2, g3, g4 = (known(size) for size in shape)
    _, _, _, s3, s4 = (known(stride) for stride in view.strides)
    width = view.width
    if g2 == _FRACTAL and g3 is not None and g2 * g3 * width == _FRACTAL_BYTES and s4 == 1 and s3 == g4:
        return "nz"
    return "dn" if s3 == 1 and s4 != 1 else "nd"
