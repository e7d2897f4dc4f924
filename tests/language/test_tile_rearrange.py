"""Transposes, pads, concatenations and the place of scales: what is rejected and where the diagnostic points."""

import pytest

from language.move_kernel import accepts, only, rejects, twins
from ptosim.effects.names import Pipe

TRANS = "pto.ttrans ins(%a : {}) outs(%d : {})"
PAD = "pto.tfillpad ins(%a : {}) outs(%d : {})"
CONCAT = "pto.tconcat ins(%a, %b : {}, {}) outs(%d : {})"
CONCATIDX = "pto.tconcatidx ins(%a, %b, %i, %j : ND<16x32xf32>, ND<16x32xf32>, {}, {}) outs(%d : ND<16x64xf32>)"


@pytest.mark.parametrize(
    ("text", "message", "target"),
    [
        (
            TRANS.format("ND<16x32xf32>", "~ND<32x16x«i|f»32>"),
            "pto.ttrans expects dst to have the element type of src, f32, not i32",
            "a5",
        ),
        (TRANS.format("~«MAT|ND»<16x32xf32>", "ND<32x16xf32>"), "pto.ttrans expects src in vec, not mat", "a5"),
        (
            TRANS.format("~ND<16x32x«i64|i32»>", "ND<32x16x«i64|i32»>"),
            "pto.ttrans expects src to have elements of 1, 2 or 4 bytes, not 8",
            "a5",
        ),
        (
            TRANS.format("ND<16x32xf16>", "~ND<32x«8|16»xf16>"),
            "pto.ttrans expects dst with rows of a multiple of 32 bytes on a5, not 16",
            "a5",
        ),
        (
            TRANS.format("~«DN|ND»<16x32xf32>", "ND<32x16xf32>"),
            "pto.ttrans expects src to be laid out as ND (row_major, none_box) on a2a3, not DN",
            "a2a3",
        ),
        (PAD.format("ND<16x64xf32>", "~ND<16x64xf32«|, pad=1»>"), "dst has no pad value: pad=0", "a5"),
        (
            PAD.format("ND<16x64xf32>", "~ND<16x«32|64»xf32, pad=1>"),
            "pto.tfillpad expects dst to be at least 16x64 like src, not 16x32",
            "a5",
        ),
        (
            PAD.format("ND<16x64xf32>", "~ND<16x64xf«16|32», pad=1>"),
            "pto.tfillpad expects dst to have elements of 4 bytes like src, not of 2",
            "a5",
        ),
        (
            PAD.format("~ND<16x64xi«64|32»>", "ND<16x64xi«64|32», pad=1>"),
            "pto.tfillpad expects src to have elements of 1, 2 or 4 bytes, not 8",
            "a5",
        ),
        (PAD.format("ND<16x64xf32>", "~«MAT|ND»<16x64xf32, pad=1>"), "pto.tfillpad expects dst in vec, not mat", "a5"),
        (
            PAD.format("MAT<16x64xf32, valid=15x64>", "~MAT<16x64xf32, valid=1«6|5»x64>"),
            "pto.tfillpad expects dst to have the valid shape of src, 15x64, not 16x64",
            "a5",
        ),
        (
            PAD.format("MAT<16x64xf32>", "~MAT<«32|16»x64xf32, valid=16x64>"),
            "pto.tfillpad expects dst to have the shape of src, 16x64, not 32x64",
            "a5",
        ),
        (
            PAD.format("MAT<16x64xf32>", "~MAT<16x64xf32«, pad=1|»>"),
            "pto.tfillpad expects dst with pad=0 like src, not 1",
            "a5",
        ),
        (
            PAD.format("ND<16x64xf32>", "ND<16x64xf32, pad=1>") + " {«padValue = ~#pto.pad_value<max>|»}",
            "padValue is for tiles in mat; in vec the type of dst has the pad",
            "a5",
        ),
        (
            CONCAT.format("ND<16x32xf32>", "ND<16x32xf32>", "~ND<16x«56|64»xf32>"),
            "pto.tconcat expects dst to have room for 32 + 32 valid columns, not for 56",
            "a5",
        ),
        (
            CONCAT.format("ND<16x32xf32>", "~ND<«8|16»x32xf32>", "ND<16x64xf32>"),
            "pto.tconcat expects src1 to have the 16 valid rows of dst, not 8",
            "a5",
        ),
        (
            CONCAT.format("ND<16x32xf32>", "~ND<16x32x«i|f»32>", "ND<16x64xf32>"),
            "pto.tconcat expects src1 to have the element type of dst, f32, not i32",
            "a5",
        ),
        (
            CONCAT.format("~«MAT|ND»<16x32xf32>", "ND<16x32xf32>", "ND<16x64xf32>"),
            "pto.tconcat expects src0 in vec, not mat",
            "a5",
        ),
        (
            CONCATIDX.format("~ND<16x8x«f32|i32»>", "ND<16x8x«f32|i32»>"),
            "pto.tconcatidx expects idx0 to have elements of i16, i32, i8, not f32",
            "a5",
        ),
        (
            CONCATIDX.format("ND<16x16xi16>", "~ND<16x16xi«32|16»>"),
            "pto.tconcatidx expects idx1 to have the element type of idx0, i16, not i32",
            "a5",
        ),
        (
            "pto.tget_scale_addr ins(%a : LEFT<16x64xf8E4M3FN>) outs(%s : ~SA<16x«4|2»x!pto.f8E8M0>)",
            "pto.tget_scale_addr expects dst to be 16x2, one scale for 32 values of src, not 16x4",
            "a5",
        ),
        (
            "pto.tget_scale_addr ins(%a : ~«MAT|LEFT»<16x64xf8E4M3FN>) outs(%s : SA<16x2x!pto.f8E8M0>)",
            "pto.tget_scale_addr expects src in left or right, not mat",
            "a5",
        ),
    ],
)
def test_what_rearranging_may_not_be(text: str, message: str, target: str) -> None:
    twins(text, message, target)


def test_pads_in_l1() -> None:
    body = "pto.tfillpad ins(%a : MAT<16x64xf16>) outs(%d : MAT<16x64xf16>) {padValue = #pto.pad_value<min>}"
    accepts(body)
    assert only(body).pipe("a5") is Pipe.MTE2
    rejects(body.replace("%d", "~%a"), "a tile in mat is not filled in place")
    accepts("pto.tfillpad ins(%a : ND<16x64xf16, pad=1>) outs(%a : ND<16x64xf16, pad=1>)")


def test_scales_of_one_row() -> None:
    row = "LEFT<16x64xf8E4M3FN, valid=1x64>"
    accepts(f"pto.tget_scale_addr ins(%a : {row}) outs(%s : SA<1x2x!pto.f8E8M0>)")
    accepts(f"pto.tget_scale_addr ins(%a : {row}) outs(%s : SA<16x2x!pto.f8E8M0>)")


def test_scales_of_the_right_operand() -> None:
    accepts("pto.tget_scale_addr ins(%b : RIGHT<64x32xf8E4M3FN>) outs(%s : SB<2x32x!pto.f8E8M0>)")
    text = "~pto.tget_scale_addr ins(%b : RIGHT<64x32xi8>) outs(%s : SB<2x32xi8>)"
    rejects(text, "pto.tget_scale_addr does not exist on a2a3", "a2a3", sort="wrong-target")
