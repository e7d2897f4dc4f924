"""Gathers and scatters between global memory and tiles: what is rejected and where the diagnostic points."""

import pytest

from language.move_kernel import accepts, only, rejects, twins
from ptosim.effects.names import Pipe

GATHER = "pto.mgather ins(%mem, %idx : {}, {}) outs(%d : {}) {{coalesce = #pto<coalesce {}>}}"
SCATTER = "pto.mscatter ins(%s, %idx : {}, {}) outs(%mem : {})"
TABLE = "PV<128x64xf32>"


@pytest.mark.parametrize(
    ("body", "target", "pipe"),
    [
        (GATHER.format(TABLE, "ND<1x16xi32>", "ND<16x64xf32>", "row"), "a5", Pipe.V),
        (GATHER.format(TABLE, "DN<16x1xi32>", "ND<16x64xf32>", "row"), "a2a3", Pipe.MTE2),
        (GATHER.format(TABLE, "ND<16x64xi32>", "ND<16x64xf32>", "elem"), "a5", Pipe.V),
        (GATHER.format("PV<128x64xf16>", "PV<1x16xi32>", "MAT<16x64xf16>", "row"), "a5", Pipe.MTE2),
        (
            "pto.mgather ins(%mem, %idx, %w : PV<128x64xf16>, PV<16x64xi32>, PV<16x64xf16>) outs(%d : MAT<16x64xf16>)"
            " {coalesce = #pto<coalesce elem>, gatherOob = #pto<gather_oob clamp>}",
            "a5",
            Pipe.MTE2,
        ),
        (SCATTER.format("ND<16x64xf32>", "ND<1x16xi32>", TABLE), "a5", Pipe.V),
        (SCATTER.format("ND<16x64xf32>", "ND<16x64xi32>", TABLE), "a2a3", Pipe.MTE3),
        (
            SCATTER.format("ND<16x64xf32>", "ND<1x16xi32>", TABLE)
            + " {coalesce = #pto<coalesce row>, scatterAtomicOp = #pto<scatter_atomic_op add>,"
            " scatterOob = #pto<scatter_oob skip>, scatterConflict = #pto<scatter_conflict last>}",
            "a5",
            Pipe.V,
        ),
    ],
)
def test_gathers_and_scatters(body: str, target: str, pipe: Pipe) -> None:
    accepts(body, target)
    assert only(body, target).pipe(target) is pipe


def test_a_gather_says_what_an_index_is_for() -> None:
    body = "~pto.mgather ins(%mem, %idx : PV<128x64xf32>, ND<1x16xi32>) outs(%d : ND<16x64xf32>)"
    rejects(body, "pto.mgather needs the attribute 'coalesce'", sort="syntax")
    accepts(body[1:] + " {coalesce = #pto<coalesce row>}")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            GATHER.format("~PV<128x64xf«16|32»>", "ND<1x16xi32>", "ND<16x64xf32>", "row"),
            "pto.mgather expects mem to have elements of f32 like dst, not f16",
        ),
        (
            GATHER.format(TABLE, "~ND<1x«32xi16|16xi32»>", "ND<16x64xf32>", "row").replace("32xi16", "16xi16"),
            "pto.mgather expects idx to have elements of i32, not i16",
        ),
        (
            GATHER.format(TABLE, "~ND<1x«24|16»xi32>", "ND<16x64xf32>", "row"),
            "pto.mgather expects idx of coalesce row to be 1x16 or 16x1, not 1x24",
        ),
        (
            GATHER.format(TABLE, "~ND<16x«32|64»xi32>", "ND<16x64xf32>", "elem"),
            "pto.mgather expects idx of coalesce elem to have the valid shape of dst, 16x64, not 16x32",
        ),
        (
            GATHER.format(TABLE, "~«NZ|ND»<16x64xi32>", "ND<16x64xf32>", "elem"),
            "pto.mgather expects idx with slayout none_box, not row_major",
        ),
        (
            GATHER.format(TABLE, "ND<1x16xi32>", "~«ACC|ND»<16x64xf32>", "row"),
            "pto.mgather expects dst in vec or mat, not acc",
        ),
        (
            GATHER.format("PV<128x64xf16>", "~«ND|PV»<1x16xi32>", "MAT<16x64xf16>", "row"),
            "pto.mgather expects idx to be a view for a dst in mat, not !pto.tile_buf<vec, 1x16xi32>",
        ),
        (
            GATHER.format("PV<128x64xf16>", "~«PV|ND»<1x16xi32>", "ND<16x64xf16>", "row"),
            "pto.mgather expects idx to be a tile for a dst in vec, not !pto.partition_tensor_view<1x16xi32>",
        ),
        (
            GATHER.format("PV<128x64xf16>", "~PV<1x16xi«16|32»>", "MAT<16x64xf16>", "row"),
            "pto.mgather expects idx to have elements of i32, not i16",
        ),
        (
            GATHER.format("PV<128x64xf16>", "PV<1x16xi32>", "~MAT<16x«8|64»xf16>", "row"),
            "pto.mgather expects dst in mat to have a multiple of 16 columns, not 8",
        ),
        (
            GATHER.format("PV<128x64xf16>", "PV<16x64xi32>", "MAT<16x64xf16>", "«elem|row»").replace("%d", "~%d"),
            "a gather of elements to mat needs a working view of 1024 elements",
        ),
        (
            "pto.mgather ins(%mem, %idx, %w : PV<128x64xf16>, PV<16x64xi32>, ~PV<16x«32|64»xf16>)"
            " outs(%d : MAT<16x64xf16>) {coalesce = #pto<coalesce elem>}",
            "pto.mgather expects workspace to have the 1024 elements of dst, not 512",
        ),
        (
            "pto.mgather ins(%mem, %idx«, ~%w|» : PV<128x64xf16>, ND<1x16xi32>«, PV<16x64xf16>|»)"
            " outs(%d : ND<16x64xf16>) {coalesce = #pto<coalesce row>}",
            "a working view is for gathers of elements to mat",
        ),
        (
            GATHER.format(
                "PV<128x64xf16>",
                "PV<1x16xi32>",
                "~!pto.tile_buf<mat, 16x64xf16, blayout=col_major, slayout=row_major, fractal=«1024|512»>",
                "row",
            ),
            "pto.mgather expects dst in mat with fractal=512, not 1024",
        ),
        (
            GATHER.format(TABLE, "~ND<«2x8|1x16»xi32>", "ND<16x64xf32>", "row"),
            "pto.mgather expects idx of coalesce row to be 1x16 or 16x1, not 2x8",
        ),
        (
            SCATTER.format("ND<16x64xf32>", "~ND<1x«24|16»xi32>", TABLE),
            "idx is 1x24: neither one index for each row nor one for each element",
        ),
        (
            SCATTER.format("~ND<16x64x«i16|i32»>", "ND<1x16xi32>", "PV<128x64x«i16|i32»>")
            + " {scatterAtomicOp = #pto<scatter_atomic_op add>}",
            "pto.mscatter expects src to have elements of f16, f32, i32 for scatterAtomicOp add, not i16",
        ),
        (SCATTER.format("~«MAT|ND»<16x64xf32>", "ND<1x16xi32>", TABLE), "pto.mscatter expects src in vec, not mat"),
    ],
)
def test_what_an_index_may_not_be(text: str, message: str) -> None:
    twins(text, message)


def test_a_table_lies_row_by_row() -> None:
    text = """module {
func.func @kernel(%p: !pto.ptr<f32>, %idx: ND<1x16xi32>, %d: ND<16x64xf32>) {
%c1 = arith.constant 1 : index
%c64 = arith.constant 64 : index
%c128 = arith.constant 128 : index
%v = pto.make_tensor_view %p, shape = [%c128, %c64], strides = [«%c1, %c128|%c64, %c1»]
    {layout = #pto.layout<«dn|nd»>} : TV<128x64xf32>
%w = pto.partition_view %v, offsets = [%i, %i], sizes = [%c128, %c64] : TV<128x64xf32> -> PV<128x64xf32>
pto.mgather ins(%w, %idx : ~PV<128x64xf32>, ND<1x16xi32>) outs(%d : ND<16x64xf32>) {coalesce = #pto<coalesce row>}
return
}
}
""".replace("[%i, %i]", "[%c0, %c0]").replace("%c1 =", "%c0 = arith.constant 0 : index\n%c1 =")
    twins(text, "pto.mgather expects mem to have layout nd, not dn")
