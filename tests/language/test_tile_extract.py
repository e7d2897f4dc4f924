"""Moves between local memories: paths and their pipes, windows, quantisation, what is rejected and where."""

import pytest

from language.move_kernel import accepts, module, only, rejects
from language.vector_kernel import read
from ptosim.diagnostics import PTOError
from ptosim.effects.names import CoreKind, Pipe
from ptosim.language.operation import cores_of
from refusals.tile_extract import AXIS0, EXTRACT, INSERT, MOV, SCALES, exponents
from tables import table

# --- paths ------------------------------------------------------------------------------------------------------------


@table(
    "body, pipe, core",
    (MOV.format("MAT<16x64xf16>", "LEFT<16x64xf16>"), Pipe.MTE1, CoreKind.AIC),
    (MOV.format("MAT<64x32xf16>", "RIGHT<64x32xf16>"), Pipe.MTE1, CoreKind.AIC),
    (MOV.format("MAT<16x64x!pto.f4E2M1x2>", "LEFT<16x64x!pto.f4E2M1x2>"), Pipe.MTE1, CoreKind.AIC),
    (MOV.format("MAT<16x32x!pto.f4E2M1x2>", "LEFT<16x64x!pto.f4E2M1x2>"), Pipe.MTE1, CoreKind.AIC),
    (MOV.format("MAT<64x32x!pto.f4E2M1x2>", "RIGHT<64x64x!pto.f4E2M1x2>"), Pipe.MTE1, CoreKind.AIC),
    (
        MOV.format("!pto.tile_buf<mat, 32x64x!pto.f4E2M1x2, slayout=col_major>", "RIGHT<64x64x!pto.f4E2M1x2>"),
        Pipe.MTE1,
        CoreKind.AIC,
    ),
    (MOV.format("!pto.tile_buf<mat, 1x32xf16>", "BIAS<1x32xf32>"), Pipe.MTE1, CoreKind.AIC),
    (MOV.format("!pto.tile_buf<mat, 1x32xi64>", "FP<1x32xi64>"), Pipe.FIX, CoreKind.AIC),
    (
        MOV.format("!pto.tile_buf<mat, 16x2x!pto.f8E8M0, slayout=row_major, fractal=32>", "SA<16x2x!pto.f8E8M0>"),
        Pipe.MTE1,
        CoreKind.AIC,
    ),
    (MOV.format("ND<16x64xf32>", "NZ<16x64xf32>"), Pipe.V, CoreKind.AIV),
    (MOV.format("NZ<16x64xf16>", "MAT<16x64xf16>"), Pipe.MTE3, CoreKind.AIV),
    (EXTRACT.format("!pto.tile_buf<mat, 1x32xi64>", "FP<1x32xi64>"), Pipe.FIX, CoreKind.AIC),
    (MOV.format("ACC<16x64xf32>", "MAT<16x64xf16>"), Pipe.FIX, CoreKind.AIC),
    (MOV.format("ACC<16x64xf32>", "ND<16x64xf32>"), Pipe.FIX, CoreKind.AIC),
    (EXTRACT.format("MAT<64x256xf16>", "LEFT<16x64xf16>"), Pipe.MTE1, CoreKind.AIC),
    (EXTRACT.format("ND<64x256xf16>", "ND<16x64xf16>"), Pipe.V, CoreKind.AIV),
    (EXTRACT.format("NZ<64x256xf16>", "MAT<16x64xf16>"), Pipe.MTE3, CoreKind.AIV),
    (EXTRACT.format("ACC<64x64xf32>", "MAT<16x64xbf16>"), Pipe.FIX, CoreKind.AIC),
    (INSERT.format("ND<16x64xf16>", "ND<64x256xf16>"), Pipe.V, CoreKind.AIV),
    (INSERT.format("ND<16x64xf16, valid=1x1>", "ND<64x256xf16>"), Pipe.S, CoreKind.AIV),
    (INSERT.format("NZ<16x64xf16>", "MAT<64x256xf16>"), Pipe.MTE3, CoreKind.AIV),
    (INSERT.format("ACC<16x64xf32>", "ND<64x64xf32>"), Pipe.FIX, CoreKind.AIC),
)
def test_a_path_has_a_pipe_and_a_core(body: str, pipe: Pipe, core: CoreKind) -> None:
    accepts(body)
    op = only(body)
    assert op.pipe("a5") is pipe
    assert pipe in op.pipes
    assert cores_of(op) == (core,)


# --- tmov -------------------------------------------------------------------------------------------------------------


def test_the_second_tile_says_what_it_is_for() -> None:
    quantised = only("pto.tmov ins(%s : ACC<16x64xf32>, %f : FP<1x64xi64>) outs(%d : MAT<16x64xi8>)")
    moved = only(exponents("ND<16x4xui8>"))
    together = only("pto.tmov ins(%s, %f : ACC<16x64xf32>, FP<1x64xi64>) outs(%d : MAT<16x64xi8>)")
    assert [role for role, _ in quantised.roles()] == ["src", "fp", "dst"]
    assert [role for role, _ in together.roles()] == ["src", "fp", "dst"]
    assert [role for role, _ in moved.roles()] == ["src", "tmp", "dst"]
    assert moved.reads == ("src", "fp")  # a working tile is not read
    assert moved.scratch == ("tmp",)


def test_exponents_along_rows_and_columns() -> None:
    accepts(exponents("ND<16x4xui8>", tail=" {grpAxis = #pto<mx_group_axis axis1>}"))
    accepts(exponents("ND<4x16xui8>", tail=AXIS0))
    accepts(exponents("ND<4x16xui8>", "!pto.tile_buf<vec, 1x64xui8, slayout=row_major>", AXIS0))
    accepts(exponents("ND<1x64xui8>", "!pto.tile_buf<vec, 32x2xui8, slayout=row_major, fractal=32>"))


def test_exponents_are_for_a5() -> None:
    accepts(exponents("ND<16x4xui8>"))
    text = exponents("ND<16x4xui8>").replace("%tmp", "~%tmp")
    rejects(text, "a move of scale exponents does not exist on a2a3", "a2a3", sort="wrong-target")


def test_the_generic_form() -> None:
    plain = '"pto.tmov"(%s, %d) : (MAT<16x64xf16>, LEFT<16x64xf16>) -> ()'
    sized = '"pto.tmov"(%s, %d, %f) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}>'
    arguments = "%s: ACC<16x64xf32>, %f: FP<1x64xi64>, %d: MAT<16x64xi8>"
    types = "(ACC<16x64xf32>, MAT<16x64xi8>, FP<1x64xi64>) -> ()"
    function = "module {{\nfunc.func @kernel({}) {{\n{}\nreturn\n}}\n}}\n"
    assert "pto.tmov ins(%s : " in accepts(function.format("%s: MAT<16x64xf16>, %d: LEFT<16x64xf16>", plain))
    quantised = accepts(function.format(arguments, f"{sized} : {types}"))
    assert ", %f : !pto.tile_buf<scaling, 1x64xi64>) outs(%d : " in quantised


@table(
    "operands, sizes, expected",
    ("%s, %i, %i, %d, %q", "1, 1, 1, 1, 0, 1", "index, index pre_quant %q : i64) outs(%d : "),
    ("%s, %i, %i, %d, %f", "1, 1, 1, 1, 1, 0", "index, index fp %f : !pto.tile_buf<scaling, 1x64xi64>) outs(%d : "),
    ("%s, %i, %i, %d", "1, 1, 1, 1, 0, 0", "index, index) outs(%d : "),
)
def test_the_generic_form_has_the_result_before_what_is_optional(operands: str, sizes: str, expected: str) -> None:
    kinds = {"%s": "ACC<16x64xf32>", "%i": "index", "%d": "MAT<16x64xi8>", "%q": "i64", "%f": "FP<1x64xi64>"}
    if operands == "%s, %i, %i, %d":
        kinds["%d"] = "MAT<16x64xf16>"
    given = ", ".join(f"{name}: {type_}" for name, type_ in kinds.items())
    types = ", ".join(kinds[name] for name in operands.split(", "))
    text = f'"pto.tinsert"({operands}) <{{operandSegmentSizes = array<i32: {sizes}>}}> : ({types}) -> ()'
    assert expected in accepts(f"module {{\nfunc.func @kernel({given}) {{\n{text}\nreturn\n}}\n}}\n")


def test_the_generic_form_of_a_store() -> None:
    given = "%s: ACC<16x32xf32>, %f: FP<1x32xi64>, %d: PV<16x32xi8>"
    text = (
        '"pto.tstore"(%s, %d, %f) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}>'
        " : (ACC<16x32xf32>, PV<16x32xi8>, FP<1x32xi64>) -> ()"
    )
    written = accepts(f"module {{\nfunc.func @kernel({given}) {{\n{text}\nreturn\n}}\n}}\n")
    assert " fp %f : !pto.tile_buf<scaling, 1x32xi64>) outs(%d : !pto.partition_tensor_view<16x32xi8>)" in written


# --- windows ----------------------------------------------------------------------------------------------------------


@table(
    "body",
    "pto.textract ins(%s, %r, %c, %q : ACC<64x64xf32>, index, index, i64) outs(%d : MAT<16x64xi8>)",
    "pto.textract ins(%s, %r, %c : ACC<64x64xf32>, index, index fp %f : FP<1x64xi64>) outs(%d : MAT<16x64xi8>)",
    "pto.tinsert ins(%s, %r, %c : ACC<16x64xf32>, index, index pre_quant %q : i64) outs(%d : MAT<64x64xi8>)",
    "pto.tinsert ins(%s, %r, %c : ACC<16x64xf32>, index, index fp %f : FP<1x64xi64>) outs(%d : MAT<64x64xi8>)",
    "pto.tinsert ins(%s, %r, %c : NZ<16x64xf16>, index, index) outs(%d : MAT<64x64xf16>)"
    " {tinsertMode = #pto.tinsert_mode<split4>}",
)
def test_windows_with_parameters(body: str) -> None:
    assert body.partition(" : ")[0] in accepts(body)


def test_windows_of_a2a3_become_i16_with_a_parameter() -> None:
    body = "pto.textract ins(%s, %r, %c, %q : ACC<64x64xi32>, index, index, i64) outs(%d : MAT<16x64xi16>)"
    accepts(body, "a2a3")
    message = "with a quantisation parameter to have elements of bf16, f16, i8 on a5, not i16"
    rejects(body.replace(": MAT", ": ~MAT"), f"pto.textract expects dst of i32 in acc {message}")


def test_an_insertion_keeps_the_rest() -> None:
    op = only(INSERT.format("ND<16x64xf16>", "ND<64x256xf16>"))
    assert (op.reads, op.writes, op.overwrites) == (("src", "fp"), ("dst",), ())


def test_older_names_print_as_the_current_ones() -> None:
    old = "pto.textract_fp ins(%s, %f, %r, %c : ACC<64x64xf32>, FP<1x64xi64>, index, index) outs(%d : MAT<16x64xi8>)"
    assert "pto.textract ins(%s, %r, %c : " in accepts(old)
    assert " index, index fp %f : !pto.tile_buf<scaling, 1x64xi64>)" in accepts(old)


def test_an_older_name_has_its_operands() -> None:
    text = "pto.textract_fp ins(%s, %f : ACC<64x64xf32>, FP<1x64xi64>~) outs(%d : MAT<16x64xi8>)"
    rejects(text, "ins(...) of pto.textract_fp has src, [fp], row, col; 2 given", sort="syntax")
    current = "pto.textract ins(%s, %r, %c : ACC<64x64xf32>, index, index fp %f : FP<1x64xi64>)"
    other = "pto.textract_fp ins(%s, %r, %c, %f : ACC<64x64xf32>, index, index, FP<1x64xi64>)"
    assert current.partition(" : ")[0] in accepts(f"{other} outs(%d : MAT<16x64xi8>)")


def test_exponents_are_not_quantised() -> None:
    text = "pto.tmov ins(%s : ND<16x4xui8>, %tmp : ND<1x64xui8>, ~%q : i64) outs(%d : {})"
    with pytest.raises(PTOError) as raised:
        read(module(text.replace("~", "").format(SCALES.format("ui8", "row_major", 32))), "a5")
    assert "only a move out of acc is quantised; src is in vec" in [found.message for found in raised.value.diagnostics]
