"""Moves between local memories: paths and their pipes, windows, quantisation, what is rejected and where."""

import pytest

from language.move_kernel import accepts, module, only, rejects, twins
from language.vector_kernel import read
from ptosim.diagnostics import PTOError
from ptosim.effects.names import CoreKind, Pipe
from ptosim.language.operation import cores_of

MOV = "pto.tmov ins(%s : {}) outs(%d : {})"
EXTRACT = "pto.textract ins(%s, %r, %c : {}, index, index) outs(%d : {})"
INSERT = "pto.tinsert ins(%s, %r, %c : {}, index, index) outs(%d : {})"

SCALES = "!pto.tile_buf<vec, 16x4x{}, slayout={}, fractal={}>"


def exponents(source: str, dest: str = SCALES.format("ui8", "row_major", 32), tail: str = "") -> str:
    """A move of scale exponents."""
    return f"pto.tmov ins(%s : {source}, %tmp : ND<1x64xui8>) outs(%d : {dest}){tail}"


# --- paths ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "pipe", "core"),
    [
        (MOV.format("MAT<16x64xf16>", "LEFT<16x64xf16>"), Pipe.MTE1, CoreKind.AIC),
        (MOV.format("MAT<64x32xf16>", "RIGHT<64x32xf16>"), Pipe.MTE1, CoreKind.AIC),
        (MOV.format("MAT<16x64x!pto.f4E2M1x2>", "LEFT<16x64x!pto.f4E2M1x2>"), Pipe.MTE1, CoreKind.AIC),
        (MOV.format("MAT<16x32x!pto.f4E2M1x2>", "LEFT<16x64x!pto.f4E2M1x2>"), Pipe.MTE1, CoreKind.AIC),
        (MOV.format("MAT<32x64x!pto.f4E2M1x2>", "RIGHT<64x64x!pto.f4E2M1x2>"), Pipe.MTE1, CoreKind.AIC),
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
    ],
)
def test_a_path_has_a_pipe_and_a_core(body: str, pipe: Pipe, core: CoreKind) -> None:
    accepts(body)
    op = only(body)
    assert op.pipe("a5") is pipe
    assert pipe in op.pipes
    assert cores_of(op) == (core,)


@pytest.mark.parametrize(
    ("text", "message", "target"),
    [
        (
            MOV.format("MAT<16x64xf16>", "~«ND|LEFT»<16x64xf16>"),
            "pto.tmov cannot move from mat to vec on a5; it moves acc to mat, acc to vec, mat to bias, mat to left, "
            "mat to right, mat to scaling, vec to mat, vec to vec",
            "a5",
        ),
        (
            MOV.format("NZ<16x64xf16>", "~«MAT|NZ»<16x64xf16>"),
            "pto.tmov cannot move from vec to mat on a2a3; it moves acc to mat, acc to vec, mat to bias, mat to left, "
            "mat to right, mat to scaling, vec to vec",
            "a2a3",
        ),
        (
            EXTRACT.format("ACC<32x64xf32>", "~«NZ|MAT»<16x64xf16>"),
            "pto.textract cannot move from acc to vec on a2a3; it moves "
            "acc to mat, mat to left, mat to right, vec to vec",
            "a2a3",
        ),
        (
            INSERT.format("«LEFT|NZ»<16x64xf16>", "~MAT<64x64xf16>"),
            "pto.tinsert cannot move from left to mat on a5; it moves acc to mat, acc to vec, vec to mat, vec to vec",
            "a5",
        ),
    ],
)
def test_paths_that_a_machine_has_not(text: str, message: str, target: str) -> None:
    twins(text, message, target)


# --- tmov -------------------------------------------------------------------------------------------------------------

MODE = " {{accToVecMode = ~#pto.acc_to_vec_mode<{}>}}"
DUAL = " {accToVecMode = #pto.acc_to_vec_mode<dual_mode_split_m>}"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            MOV.format("MAT<16x64xf16>", "~LEFT<«32|16»x64xf16>"),
            "pto.tmov expects dst to have the shape of src, 16x64, not 32x64",
        ),
        (
            MOV.format("MAT<16x64xf16>", "~LEFT<16x64x«b|»f16>"),
            "pto.tmov expects dst to have the element type of src, f16, not bf16",
        ),
        (
            MOV.format("!pto.tile_buf<mat, 1x32x«i8|i32»>", "~BIAS<1x32xi32>"),
            "pto.tmov expects dst in bias to come from bf16 to f32, f16 to f32, f32 to f32, i32 to i32, not i8 to i32",
        ),
        (
            MOV.format("!pto.tile_buf<mat, «2|1»x32xf32>", "~BIAS<«2|1»x32xf32>"),
            "pto.tmov expects dst in bias to have one row, not 2",
        ),
        (
            MOV.format("ND<16x64xf16>", "~!pto.tile_buf<mat, 16x64xf16«|, blayout=col_major, slayout=row_major»>"),
            "pto.tmov expects dst to be laid out as NZ (col_major, row_major boxes) for a tile of vec, not ND",
        ),
        (
            MOV.format("~!pto.tile_buf<acc, 16x64xf32«|, blayout=col_major, slayout=row_major»>", "ND<16x64xf32>"),
            "pto.tmov expects src to be laid out as NZ (col_major, row_major boxes), not ND",
        ),
        (
            MOV.format("ACC<16x64xi32>", "~ND<16x64x«f32|i32»>"),
            "pto.tmov expects dst of i32 in acc without a quantisation parameter to have elements of i32 on a5, "
            "not f32",
        ),
        (
            MOV.format("~ACC<16x64x«f16|f32»>", "ND<16x64xf32>"),
            "pto.tmov expects src in acc to hold f32 or i32, not f16",
        ),
        (
            MOV.format("ND<16x64xf32>", "ND<16x64xf32>")
            + " {«accToVecMode = ~#pto.acc_to_vec_mode<single_mode_vec1>|»}",
            "accToVecMode is for moves from acc to vec, not from vec to vec",
        ),
        (
            MOV.format("ACC<16x64xf32>", "ND<16x64xf32>") + " {«grpAxis = ~#pto<mx_group_axis axis0>|»}",
            "grpAxis is for the move of scale exponents, which has a second tile in vec",
        ),
        (
            MOV.format("ACC<16x64xf32>, %q : i64", "ND<16x64xf32>")
            + MODE.format("«dual_mode_split_m|single_mode_vec0»"),
            "accToVecMode dual_mode_split_m cannot quantise",
        ),
        (
            MOV.format("ACC<16x64xf32>", "~ND<16x64xf«16|32»>") + DUAL,
            "pto.tmov expects dst of accToVecMode dual_mode_split_m to have elements of 4 bytes, not f16",
        ),
        (
            MOV.format("ACC<16x64xf32>", "~«DN|ND»<16x64xf32>") + DUAL,
            "pto.tmov expects dst of accToVecMode dual_mode_split_m to be laid out as ND or NZ, not DN",
        ),
        (
            MOV.format("~ACC<16x64xf32, valid=«15|14»x64>", "ND<16x64xf32>") + DUAL,
            "pto.tmov expects src of accToVecMode dual_mode_split_m to have a multiple of 2 valid rows, not 15",
        ),
        (
            MOV.format("~ACC<16x64xf32, valid=16x«48|32»>", "ND<16x64xf32>")
            + " {accToVecMode = #pto.acc_to_vec_mode<dual_mode_split_n>}",
            "pto.tmov expects src of accToVecMode dual_mode_split_n to have a multiple of 32 valid columns, not 48",
        ),
        (
            MOV.format("ACC<16x64xf32>", "ND<16x64xf32>")
            + " {accToVecMode = #pto.acc_to_vec_mode<dual_mode_split_m>"
            + "«, reluPreMode = ~#pto<relu_pre_mode normal_relu>|»}",
            "accToVecMode dual_mode_split_m has no relu",
        ),
    ],
)
def test_what_a_move_may_not_be(text: str, message: str) -> None:
    twins(text, message)


def test_a_move_has_each_role_once() -> None:
    text = MOV.format("ACC<16x64xf32>, %f : FP<1x64xi64>, %g : FP<1x64xi64>~", "MAT<16x64xi8>")
    message = "ins(...) of pto.tmov has src, [fp], [tmp], [pre_quant]; 3 given"
    rejects(text.replace("~)", "~)"), message, sort="syntax")


def test_the_second_tile_says_what_it_is_for() -> None:
    quantised = only("pto.tmov ins(%s : ACC<16x64xf32>, %f : FP<1x64xi64>) outs(%d : MAT<16x64xi8>)")
    moved = only(exponents("ND<16x4xui8>"))
    together = only("pto.tmov ins(%s, %f : ACC<16x64xf32>, FP<1x64xi64>) outs(%d : MAT<16x64xi8>)")
    assert [role for role, _ in quantised.roles()] == ["src", "fp", "dst"]
    assert [role for role, _ in together.roles()] == ["src", "fp", "dst"]
    assert [role for role, _ in moved.roles()] == ["src", "tmp", "dst"]
    assert moved.reads == ("src", "fp")  # a working tile is not read
    assert moved.scratch == ("tmp",)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            exponents("~ND<16x4x«f32|ui8»>", SCALES.format("«f32|ui8»", "row_major", 32)),
            "pto.tmov expects src to have elements of f8E8M0, hif8, i8, not f32",
        ),
        (
            exponents("ND<16x4xui8>", "~" + SCALES.format("«i8|ui8»", "row_major", 32)),
            "pto.tmov expects dst to have the element type of src, ui8, not i8",
        ),
        (
            exponents("ND<16x4xui8>", "~" + SCALES.format("ui8", "«col_major|row_major»", 32)),
            "pto.tmov expects dst to be laid out as ZZ (row_major, row_major boxes), not ZN",
        ),
        (
            exponents("ND<16x4xui8>", "~" + SCALES.format("ui8", "row_major", "«512|32»")),
            "pto.tmov expects dst with fractal=32, not 512",
        ),
        (
            exponents("~«NZ|ND»<16x4xui8>"),
            "pto.tmov expects src to be laid out as ND (row_major, none_box) or DN (col_major, none_box), not NZ",
        ),
        (exponents("~ND<«32|16»x4xui8>"), "pto.tmov expects src to have at most the 64 exponents of dst, not 128"),
        (
            exponents("ND<16x4xui8>", "~!pto.tile_buf<vec, «15|16»x4xui8, slayout=row_major, fractal=32>").replace(
                "ND<16x4", "ND<15x4"
            ),
            "pto.tmov expects dst to consist of boxes of 16 rows, not 15 rows",
        ),
    ],
)
def test_what_a_move_of_exponents_may_not_be(text: str, message: str) -> None:
    twins(text, message)


def test_exponents_along_rows_and_columns() -> None:
    accepts(exponents("ND<16x4xui8>", tail=" {grpAxis = #pto<mx_group_axis axis1>}"))
    boxes = "!pto.tile_buf<vec, 4x16xui8, blayout=col_major, slayout=col_major, fractal=32>"
    accepts(exponents("ND<4x16xui8>", boxes, " {grpAxis = #pto<mx_group_axis axis0>}"))
    accepts(exponents("ND<1x64xui8>", "!pto.tile_buf<vec, 1x64xui8, slayout=row_major, fractal=32>"))


def test_exponents_are_for_a5() -> None:
    accepts(exponents("ND<16x4xui8>"))
    text = exponents("ND<16x4xui8>").replace("%tmp", "~%tmp")
    rejects(text, "a move of scale exponents does not exist on a2a3", "a2a3", sort="wrong-target")


def test_the_generic_form() -> None:
    plain = '"pto.tmov"(%s, %d) : (MAT<16x64xf16>, LEFT<16x64xf16>) -> ()'
    sized = '"pto.tmov"(%s, %f, %d) <{operandSegmentSizes = array<i32: 1, 1, 0, 1>}>'
    arguments = "%s: ACC<16x64xf32>, %f: FP<1x64xi64>, %d: MAT<16x64xi8>"
    types = "(ACC<16x64xf32>, FP<1x64xi64>, MAT<16x64xi8>) -> ()"
    function = "module {{\nfunc.func @kernel({}) {{\n{}\nreturn\n}}\n}}\n"
    assert "pto.tmov ins(%s : " in accepts(function.format("%s: MAT<16x64xf16>, %d: LEFT<16x64xf16>", plain))
    quantised = accepts(function.format(arguments, f"{sized} : {types}"))
    assert ", %f : !pto.tile_buf<scaling, 1x64xi64>) outs(%d : " in quantised


# --- windows ----------------------------------------------------------------------------------------------------------

WINDOW = """%r = arith.constant {} : index
%c = arith.constant {} : index
"""


@pytest.mark.parametrize(
    ("text", "message", "target"),
    [
        (
            WINDOW.format("«49|48»", 0) + EXTRACT.format("MAT<64x64xf16>", "LEFT<16x64xf16>").replace("%r", "~%r"),
            "row 49 + 16 rows of the window exceed the 64 rows of src",
            "a5",
        ),
        (
            WINDOW.format(0, "«16|0»") + EXTRACT.format("MAT<64x64xf16>", "LEFT<16x64xf16>").replace("%c", "~%c"),
            "col 16 + 64 columns of the window exceed the 64 columns of src",
            "a5",
        ),
        (
            WINDOW.format("«-16|0»", 0) + EXTRACT.format("MAT<64x64xf16>", "LEFT<16x64xf16>").replace("%r", "~%r"),
            "row is -16; a window begins inside the tile",
            "a5",
        ),
        (
            WINDOW.format("«17|16»", 0)
            + INSERT.format("ND<16x64xf16, valid=16x64>", "ND<32x64xf16>").replace("%r", "~%r"),
            "row 17 + 16 rows of the window exceed the 32 rows of dst",
            "a5",
        ),
        (
            EXTRACT.format("MAT<64x64xf16>", "LEFT<16x64xf16>").replace("index, index", "~«i64|index», index"),
            "pto.textract expects row to be index, not i64",
            "a5",
        ),
        (
            EXTRACT.format("MAT<64x64xf16>", "~!pto.tile_buf<right, 64x16xf16«|, slayout=col_major»>"),
            "pto.textract expects dst to be laid out as ZN (row_major, col_major boxes) in right, not ND",
            "a5",
        ),
        (
            EXTRACT.format("MAT<64x64xf16>", "~!pto.tile_buf<left, 16x64xf16, slayout=«col_major|row_major»>"),
            "pto.textract expects dst to be laid out as ZZ (row_major, row_major boxes) in left of a2a3, not ZN",
            "a2a3",
        ),
        (
            EXTRACT.format("~«DN|ND»<64x64xf16>", "ND<16x64xf16>"),
            "pto.textract expects src to be laid out as ND (row_major, none_box) between tiles in vec, not DN",
            "a5",
        ),
        (
            EXTRACT.format("ND<64x64xf16>", "~ND<16x64x«b|»f16>"),
            "pto.textract expects dst to have the element type of src, f16, not bf16",
            "a5",
        ),
        (
            EXTRACT.format("ACC<64x64xf32>", "~MAT<16x64x«f32|bf16»>"),
            "pto.textract expects dst of acc to have elements of f16 or bf16 on a2a3, not f32",
            "a2a3",
        ),
        (
            INSERT.format("ND<16x64xf16>", "~«NZ|ND»<64x64xf16>"),
            "pto.tinsert expects dst to be laid out as ND like src, not NZ",
            "a5",
        ),
        (
            INSERT.format("ND<16x64xf16>", "ND<64x64xf16>") + " {«tinsertMode = ~#pto.tinsert_mode<split2>|»}",
            "tinsertMode is for moves from vec to mat, not from vec to vec",
            "a5",
        ),
    ],
)
def test_what_a_window_may_not_be(text: str, message: str, target: str) -> None:
    twins(text, message, target)


@pytest.mark.parametrize(
    "body",
    [
        "pto.textract ins(%s, %r, %c, %q : ACC<64x64xf32>, index, index, i64) outs(%d : MAT<16x64xi8>)",
        "pto.textract ins(%s, %r, %c : ACC<64x64xf32>, index, index fp %f : FP<1x64xi64>) outs(%d : MAT<16x64xi8>)",
        "pto.tinsert ins(%s, %r, %c : ACC<16x64xf32>, index, index pre_quant %q : i64) outs(%d : MAT<64x64xi8>)",
        "pto.tinsert ins(%s, %r, %c : ACC<16x64xf32>, index, index fp %f : FP<1x64xi64>) outs(%d : MAT<64x64xi8>)",
        "pto.tinsert ins(%s, %r, %c : NZ<16x64xf16>, index, index) outs(%d : MAT<64x64xf16>)"
        " {tinsertMode = #pto.tinsert_mode<split4>}",
    ],
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
    assert "a move of scale exponents is not quantised" in [found.message for found in raised.value.diagnostics]
