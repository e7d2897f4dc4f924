"""How tile operations are written: `ins` and `outs`, roles, attributes in every spelling; and mistakes."""

import pytest

from language.vector_kernel import read
from language.vector_tile_kernel import accepts, diagnostics, kernel, prints, rejects
from ptosim.effects.names import CoreKind, Pipe
from ptosim.language.catalogue import operation
from ptosim.language.operation import cores_of
from ptosim.language.tile.tile_operation import TileOperation
from refusals.tile_operation import ADD, WORDS, T
from tables import table

# --- text -------------------------------------------------------------------------------------------------------------


def test_the_long_form_of_a_type_is_printed_short():
    long = (
        "!pto.tile_buf<loc=vec, dtype=f32, rows=16, cols=64, v_row=?, v_col=?, blayout=row_major, slayout=none_box, "
        "fractal=512, pad=0>"
    )
    short = "!pto.tile_buf<vec, 16x64xf32, valid=?x?>"
    prints(
        f"pto.tadd ins(%a, %b : {long}, {long}) outs(%d : {long})",
        f"pto.tadd ins(%a, %b : {short}, {short}) outs(%d : {short})",
    )


def test_blanks_and_line_breaks_are_free():
    text = f"pto.tadd\n  ins ( %a,%b :\n{T} ,{T} )\n outs( %d:{T})"
    prints(text, ADD)


def test_attributes_of_other_tools_are_kept():
    prints(f'{ADD} {{note = "x", count = 3 : i32, flag}}', f'{ADD} {{note = "x", count = 3 : i32, flag}}')


def test_a_location_behind_is_read_and_forgotten():
    prints(f'{ADD} loc("kernel.py":3:1)', ADD)


def test_the_generic_form_is_read():
    generic = f'"pto.tadd"(%a, %b, %d) : ({T}, {T}, {T}) -> ()'
    prints(f"{generic}\n{ADD}", ADD)
    segmented = (
        f'"pto.txor"(%a, %b, %d) <{{operandSegmentSizes = array<i32: 1, 1, 0, 1>}}> : ({WORDS}, {WORDS}, {WORDS}) -> ()'
    )
    prints(
        f"{segmented}\npto.txor ins(%a, %b : {WORDS}, {WORDS}) outs(%d : {WORDS})",
        f"pto.txor ins(%a, %b : {WORDS}, {WORDS}) outs(%d : {WORDS})",
    )


def test_the_generic_form_has_attributes_of_the_class():
    generic = f'"pto.tcmp"(%a, %b, %d) {{cmpMode = #pto<cmp lt>}} : ({T}, {T}, <16x64xui8>) -> ()'
    written = f"pto.tcmp ins(%a, %b {{cmpMode = #pto<cmp lt>}} : {T}, {T}) outs(%d : <16x64xui8>)"
    prints(f"{generic}\n{written}", written)


@pytest.mark.parametrize("spelling", ["#pto<cmp lt>", "#pto.cmp<lt>", '"lt"'])
def test_an_attribute_has_several_spellings(spelling: str):
    text = f"pto.tcmp ins(%a, %b {{cmpMode = {spelling}}} : {T}, {T}) outs(%d : <16x64xui8>)"
    prints(text, text.replace(spelling, "#pto<cmp lt>"))


def test_attributes_are_read_inside_and_behind():
    inside = f"pto.tcmp ins(%a, %b {{cmpMode = #pto<cmp lt>}} : {T}, {T}) outs(%d : <16x64xui8>)"
    prints(f"pto.tcmp ins(%a, %b : {T}, {T}) outs(%d : <16x64xui8>) {{cmpMode = #pto<cmp lt>}}", inside)
    prints(f"pto.tcmp ins(%a, %b{{cmpMode=#pto<cmp lt>}} : {T}, {T}) outs(%d : <16x64xui8>)", inside)
    prints(
        f"pto.tdiv ins(%a, %b {{precisionType = #pto.div_precision<high_precision>}} : {T}, {T}) outs(%d : {T})",
        f"pto.tdiv ins(%a, %b : {T}, {T}) outs(%d : {T}) {{precisionType = #pto<div_precision high_precision>}}",
    )


def test_older_names_of_attributes():
    prints(
        f"pto.texp ins(%a : {T}) outs(%d : {T}) {{precision_mode = #pto<precision_mode HIGH_PRECISION>}}",
        f"pto.texp ins(%a : {T}) outs(%d : {T}) {{precisionType = #pto<exp_precision high_precision>}}",
    )
    prints(
        f"pto.tcvt ins(%a {{sat_mode = #pto<saturation_mode ON>}} : {T}) outs(%d : <16x64xf16>)",
        f"pto.tcvt ins(%a {{satmode = #pto<saturation_mode ON>}} : {T}) outs(%d : <16x64xf16>)",
    )
    column = "<16x1xf32, blayout=col_major>"
    accepts(kernel(f"pto.trowexpandmul ins(%a, %b : {T}, {column}) outs(%d : {T}) {{src1Col, src0eqdst = false}}"))


@pytest.mark.parametrize("high", [True, False])
def test_the_older_name_of_the_byte_of_a_histogram(high: bool):
    types = "<32x64xui16>, <32x1xui8, blayout=col_major>) outs(%d : <32x256xui32>)"
    prints(
        f"pto.thistogram ins(%a, %i : {types} {{isMSB = {str(high).lower()}}}",
        f"pto.thistogram ins(%a, %i : {types} {{byte = {int(high)} : i32}}",
    )


@table(
    "text, pipe, core",
    (ADD, Pipe.V, CoreKind.AIV),
    (f"pto.texpands ins(%x : f32) outs(%d : {T})", Pipe.V, CoreKind.AIV),
    ("pto.texpands ins(%x : f32) outs(%d : <mat, 16x64xf32>)", Pipe.MTE2, CoreKind.AIC),
    ("pto.tci ins(%n : i32) outs(%d : <1x64xi32>)", Pipe.S, CoreKind.AIV),
)
def test_a_pipe_and_a_core_follow_from_the_tiles(text: str, pipe: Pipe, core: CoreKind):
    (op,) = (op for op in read(kernel(text), "a5").parsed.module.walk() if isinstance(op, TileOperation))
    assert (op.pipe("a5"), cores_of(op)) == (pipe, (core,))


def test_what_is_read_written_and_overwritten():
    expected = {
        "tadd": (("src0", "src1"), ("dst",), ("dst",)),
        "taxpy": (("src", "dst"), ("dst",), ()),
        "texpands": ((), ("dst",), ("dst",)),
        "trowsum": (("src",), ("dst",), ("dst",)),
        "tsels": (("mask", "src"), ("dst",), ("dst",)),
        "tcmp": (("src0", "src1"), ("dst",), ()),
        "tgather": (("src", "idx"), ("dst", "cdst"), ()),
        "tpartargmax": (("src0", "src1", "src0_idx", "src1_idx"), ("dst", "dst_idx"), ("dst", "dst_idx")),
        "tprint": (("src",), (), ()),
    }
    for name, facts in expected.items():
        found = operation(f"pto.{name}")
        assert found is not None and issubclass(found, TileOperation)
        assert (found.reads, found.writes, found.overwrites) == facts, name


# --- mistakes ---------------------------------------------------------------------------------------------------------


def test_a_written_type_is_compared_with_that_of_the_value():
    text = kernel(f"{ADD}\npto.tabs ins(%a : <16x32xf32>) outs(%d : {T})")
    text = text.replace("%a: !pto.tile_buf<vec, 16x32xf32>", "%a: !pto.tile_buf<vec, 16x64xf32>")
    message = "src has type !pto.tile_buf<vec, 16x64xf32>, but the type list says !pto.tile_buf<vec, 16x32xf32>"
    assert diagnostics(text, "a5") == [("invalid", "error", message, (4, 19))]


def test_each_kind_of_core_has_its_own():
    message = "pto.tadd is for the vector core, but this is code of the cube core"
    rejects(f"pto.section.cube {{\n~{ADD}\n}}", message)
    accepts(kernel(f"pto.section.vector {{\n{ADD}\n}}"))
