"""Types of the tile language: both spellings of tiles, one canonical text, and what makes a type unreadable."""

import pytest
from xdsl.parser import AttrParser

from language.source import accepts, errors, prints
from ptosim.language.tile.tile_buf import TileBuf
from ptosim.language.tile.tile_types import TileBufType
from refusals.tile_types import LONG, function
from tables import table


def canonical(type_: str, expected: str) -> None:
    prints(function(type_), f"func.func @f(%t: {expected}) {{")


@table(
    "type_, expected",
    (LONG, "!pto.tile_buf<vec, 16x64xf32>"),
    (
        LONG.replace("v_row=16", "v_row=?").replace("v_col=64", "v_col=-1"),
        "!pto.tile_buf<vec, 16x64xf32, valid=?x?>",
    ),
    (LONG.replace("pad=0", "pad=3, compact=1"), "!pto.tile_buf<vec, 16x64xf32, pad=3, compact=1>"),
    (LONG.replace("v_row=16", "v_row=0"), "!pto.tile_buf<vec, 16x64xf32, valid=0x64>"),
    (LONG.replace("=vec", '="vec"').replace("=row_major", '="row_major"'), "!pto.tile_buf<vec, 16x64xf32>"),
    (LONG.replace(", ", " ,\n  "), "!pto.tile_buf<vec, 16x64xf32>"),
    (
        "!pto.tile_buf<acc, 16x16xf32, compact=0, fractal=1024, slayout=row_major, blayout=col_major, valid=?x16>",
        "!pto.tile_buf<acc, 16x16xf32, valid=?x16, blayout=col_major, slayout=row_major, fractal=1024>",
    ),
    ('!pto.tile_buf<"mat", 16x16xbf16, slayout="col_major">', "!pto.tile_buf<mat, 16x16xbf16, slayout=col_major>"),
    ("!pto.tile_buf<vec, 16x64xf32, valid=16x64, pad=0, fractal=512>", "!pto.tile_buf<vec, 16x64xf32>"),
    ("!pto.tile_buf<vec, 16 x 64 x f32, valid=8 x ?>", "!pto.tile_buf<vec, 16x64xf32, valid=8x?>"),
    ("!pto.tile_buf<vec, 16x 64 x !pto.hif8>", "!pto.tile_buf<vec, 16x64x!pto.hif8>"),
    ("!pto.partition_tensor_view<8 x 128 x f32>", "!pto.partition_tensor_view<8x128xf32>"),
    ("!pto.tensor_view<? x\n 128xf16>", "!pto.tensor_view<?x128xf16>"),
    ("!pto.tile_buf<vec, 16x64xf8E8M0FNU>", "!pto.tile_buf<vec, 16x64x!pto.f8E8M0>"),
)
def test_a_tile_has_one_text(type_: str, expected: str):
    canonical(type_, expected)


@pytest.mark.parametrize("loc", "vec mat left right acc bias scaling".split())
def test_every_location(loc: str):
    accepts(function(f"!pto.tile_buf<{loc}, 16x32xf32>"))


@pytest.mark.parametrize(
    "element",
    "i8 i16 i32 i64 si8 si16 ui8 ui16 ui32 ui64 f16 bf16 f32 f8E4M3FN f8E5M2 "
    "!pto.hif8 !pto.f8E8M0 !pto.f4E1M2x2 !pto.f4E2M1x2 !pto.hif8x2 !pto.bf16x2".split(),
)
def test_every_element(element: str):
    canonical(f"!pto.tile_buf<vec, 32x64x{element}>", f"!pto.tile_buf<vec, 32x64x{element}>")
    canonical(f"!pto.tensor_view<?x64x{element}>", f"!pto.tensor_view<?x64x{element}>")
    long = LONG.replace("f32", element).replace("rows=16", "rows=32").replace("v_row=16", "v_row=32")
    canonical(long, f"!pto.tile_buf<vec, 32x64x{element}>")


@table(
    "type_",
    "!pto.tensor_view<16xf32>",
    "!pto.tensor_view<?x?x?x?x?xf16>",
    "!pto.partition_tensor_view<16x?xf32>",
    "!pto.tile<16x16xf32>",
    "!pto.local_array<2x4xi32>",
    "!pto.eventid_array<4>",
    "!pto.pipe",
    "!pto.async_session",
    "!pto.async_event",
    "!pto.prefetch_async_context",
    "!pto.multi_tile_buf<!pto.tile_buf<vec, 16x64xf32, valid=?x?>, count=16>",
)
def test_other_types(type_: str):
    canonical(type_, type_)


def test_a_multi_buffer_may_name_the_fields_of_its_tile():
    canonical(
        "!pto.multi_tile_buf<vec, 16x16xf16, count=2, pad=1>",
        "!pto.multi_tile_buf<!pto.tile_buf<vec, 16x16xf16, pad=1>, count=2>",
    )


@pytest.mark.parametrize("cut", range(1, len(LONG)))
def test_a_type_that_ends_early_is_a_diagnostic(cut: int):
    (found,) = errors(f"func.func @f(%t: {LONG[:cut]}")
    assert found.location is not None
    assert found.kind == "syntax"


def test_a_bare_pointer_does_not_hide_one_with_an_attribute_in_it():
    """Types are kept by their text, and `!pto.ptr` is the beginning of many."""
    accepts("func.func private @f(!pto.ptr<f32, ub>, !pto.ptr<f32, #pto.address_space<ub>>)")
    text = "func.func @f(%i: i64) { %p = pto.castptr %i : i64 -> !pto.ptr\n %q = pto.castptr %i : i64 -> "
    text += "!pto.ptr<f32, #pto.address_space<ub>>\n %c = arith.constant 0 : index\n"
    text += "%x = pto.load_scalar %p[%c] : !pto.ptr<f32, ub> -> f32\n return }"
    accepts(text)


def test_a_type_that_is_repeated_is_read_once(monkeypatch: pytest.MonkeyPatch):
    """A model kernel is mostly type texts, few of them different."""
    read_before, texts = TileBufType.parse_parameter, list[str]()

    def counted(parser: AttrParser) -> TileBuf:
        texts.append("read")
        return read_before(parser)

    monkeypatch.setattr(TileBufType, "parse_parameter", counted)
    arguments = ", ".join(f"%t{number}: {LONG}" for number in range(50))
    accepts(f"func.func private @f({arguments})")
    assert len(texts) == 2  # the text, and what is printed of it
