"""What a tile type says of its bytes: layout words, boxes, memories, sizes, and `left` by machine."""

import pytest

from language.source import accepts, read
from ptosim.effects.names import Space
from ptosim.language.load import VerifiedModule, text
from ptosim.language.structure.function import functions
from ptosim.language.tile.tile_buf import TileBuf
from ptosim.language.tile.tile_types import MultiTileBufType, TileBufType
from tables import table


def tile_in(verified: VerifiedModule) -> TileBuf:
    (type_,) = functions(verified.parsed.module)["f"].argument_types
    assert isinstance(type_, TileBufType)
    return type_.data


def tile(text: str, target: str = "a5") -> TileBuf:
    return tile_in(read(f"func.func @f(%t: !pto.tile_buf<{text}>) {{ return }}", target))


@table(
    "blayout, slayout, layout",
    ("row_major", "none_box", "ND"),
    ("col_major", "none_box", "DN"),
    ("col_major", "row_major", "NZ"),
    ("row_major", "col_major", "ZN"),
    ("row_major", "row_major", "ZZ"),
    ("col_major", "col_major", "NN"),
)
def test_layout_words(blayout: str, slayout: str, layout: str):
    assert tile(f"mat, 32x32xf16, blayout={blayout}, slayout={slayout}").layout == layout


@table(
    "text, box",
    ("mat, 32x32xf16, slayout=row_major", (16, 16)),
    ("mat, 32x32xi8, slayout=row_major", (16, 32)),
    ("mat, 32x32xf32, slayout=row_major", (16, 8)),
    ("mat, 32x32xf32, slayout=col_major", (8, 16)),
    ("mat, 32x32xf32, slayout=row_major, fractal=1024", (16, 16)),
    ("mat, 32x32x!pto.f8E8M0, slayout=row_major, fractal=32", (16, 2)),
    ("mat, 32x32x!pto.f8E8M0, slayout=col_major, fractal=32", (2, 16)),
    ("acc, 32x32xf32, slayout=row_major, fractal=512", (16, 16)),
    ("left, 128x64x!pto.f4E2M1x2, slayout=row_major", (16, 64)),
    ("vec, 32x32xf32", (1, 1)),
)
def test_boxes(text: str, box: tuple[int, int]):
    assert tile(text).box == box


@table(
    "text, space",
    ("vec, 16x16xf32", Space.UB),
    ("mat, 16x16xf32", Space.L1),
    ("left, 16x16xf32", Space.L0A),
    ("right, 16x16xf32", Space.L0B),
    ("acc, 16x16xf32", Space.L0C),
    ("bias, 1x16xf32", Space.BT),
    ("scaling, 1x16xi64", Space.FB),
    ("scaling, 16x2x!pto.f8E8M0, slayout=row_major, fractal=32", Space.SCALE_A),
    ("scaling, 2x16x!pto.f8E8M0, blayout=col_major, slayout=col_major, fractal=32", Space.SCALE_B),
)
def test_memories(text: str, space: Space):
    assert tile(text).space is space


@table(
    "text, size",
    ("vec, 16x64xf32", 16 * 64 * 4),
    ("vec, 16x64xf32, valid=1x1", 16 * 64 * 4),
    ("vec, 16x64xf32, compact=2", (15 * 65 + 64) * 4),
    ("vec, 16x64xf32, compact=2, blayout=col_major", (63 * 17 + 16) * 4),
    ("vec, 16x32xf16, compact=2, blayout=col_major, slayout=row_major", 2 * 17 * 32),
    ("mat, 16x16xi8, blayout=col_major, slayout=row_major", 16 * 32),
    ("mat, 8x32xi8, slayout=col_major", 32 * 32),
    ("mat, 128x256xbf16, blayout=col_major, slayout=row_major", 128 * 256 * 2),
    ("left, 128x64x!pto.f4E2M1x2, slayout=row_major", 128 * 32),
    ("vec, 16x64x!pto.f4E2M1x2", 16 * 64),
    ("vec, 16x64x!pto.bf16x2", 16 * 64 * 4),
    ("scaling, 16x2x!pto.f8E8M0, slayout=row_major, fractal=32", 32),
)
def test_sizes(text: str, size: int):
    assert tile(text).size == size


LEFT = "left, 16x32xf16, slayout=row_major"


@pytest.mark.parametrize("written", ["row_major", "col_major"])
@pytest.mark.parametrize("target, blayout, layout", [("a5", "col_major", "NZ"), ("a2a3", "row_major", "ZZ")])
def test_the_boxes_of_left_follow_the_machine(written: str, target: str, blayout: str, layout: str):
    found = tile(f"{LEFT}, blayout={written}", target)
    assert (found.blayout, found.layout) == (blayout, layout)


@pytest.mark.parametrize("target, shown", [("a5", ", blayout=col_major"), ("a2a3", "")])
def test_left_types_are_one_type_however_written(target: str, shown: str):
    """In signatures, calls, results and multi-buffers."""
    one, other = f"!pto.tile_buf<{LEFT}>", f"!pto.tile_buf<{LEFT}, blayout=col_major>"
    body = (
        f"func.func private @g(%t: {one}) -> {other} {{ return %t : {other} }}\n"
        f"func.func private @h({other}) -> {one}\n"
        f"func.func @f(%t: {other}, %m: !pto.multi_tile_buf<{LEFT}, count=2>) {{\n"
        f"%u = func.call @g(%t) : ({one}) -> {other}\n return }}"
    )
    printed = accepts(body, target)
    assert printed.count(f"!pto.tile_buf<left, 16x32xf16{shown}, slayout=row_major>") == 9
    verified = read(printed, target)
    assert text(verified) == printed
    several = functions(verified.parsed.module)["f"].argument_types[1]
    assert isinstance(several, MultiTileBufType)
    assert several.data.tile.layout == ("NZ" if target == "a5" else "ZZ")
