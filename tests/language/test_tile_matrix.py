"""Matrix products of tiles: operands, extents, element types, scales, what is rejected and where."""

import pytest

from language.move_kernel import accepts, expanded, only
from ptosim.effects.names import CoreKind, Pipe
from ptosim.language.operation import cores_of
from refusals.tile_matrix import ML, PRODUCT, SB, SCALED, A, L, R
from tables import table


def test_the_roles_of_a_product() -> None:
    op = only(
        "pto.tmatmul.acc ins(%c, %a, %b : ACC<16x32xf32>, LEFT<16x64xf16>, RIGHT<64x32xf16>) outs(%c : ACC<16x32xf32>)"
    )
    assert [role for role, _ in op.roles()] == ["acc", "lhs", "rhs", "dst"]
    assert (op.reads, op.writes) == (("acc", "lhs", "rhs"), ("dst",))
    assert op.pipe("a5") is Pipe.M
    assert cores_of(op) == (CoreKind.AIC,)


@table(
    "lhs, rhs, dst, target",
    (L, R, A, "a5"),
    (L, R, A, "a2a3"),
    ("LEFT<16x64xbf16>", "RIGHT<64x32xbf16>", A, "a2a3"),
    ("LEFT<16x64xf32>", "RIGHT<64x32xf32>", A, "a5"),
    ("LEFT<16x64xi8>", "RIGHT<64x32xi8>", "ACC<16x32xi32>", "a2a3"),
    ("LEFT<16x64xf8E4M3FN>", "RIGHT<64x32xf8E5M2>", A, "a5"),
    ("LEFT<16x64x!pto.hif8>", "RIGHT<64x32x!pto.hif8>", A, "a5"),
    ("LEFT<16x64xf16, valid=?x?>", "RIGHT<64x32xf16, valid=?x?>", "ACC<16x32xf32, valid=?x?>", "a5"),
    ("LEFT<16x64xf16, valid=5x60>", "RIGHT<64x32xf16, valid=60x30>", "ACC<16x32xf32, valid=5x30>", "a5"),
    ("!pto.tile_buf<left, 16x64xf16, slayout=row_major>", R, A, "a5"),
    ("!pto.tile_buf<left, 16x64xf16, slayout=row_major>", R, A, "a2a3"),
    (L, R, "!pto.tile_buf<acc, 16x32xf32, blayout=col_major, slayout=row_major>", "a5"),
)
def test_products(lhs: str, rhs: str, dst: str, target: str) -> None:
    accepts(PRODUCT.format(lhs, rhs, dst), target)
    accepts(PRODUCT.format(lhs, rhs, dst) + " {accPhase = #pto<acc_phase final>}", target)


def test_extents_of_fp4_count_values() -> None:
    left, right = "LEFT<128x64x!pto.f4E2M1x2>", "RIGHT<64x32x!pto.f4E2M1x2>"
    text = SCALED.format(left, "SA<128x2x!pto.f8E8M0>", right, SB).replace("16x32", "128x32")
    accepts(text)


@pytest.mark.parametrize("left", ["SB<16x2x!pto.f8E8M0>", "FP<16x2xf16>", "DN<16x2xi32>", "SA<16x2xf16>"])
def test_only_the_shape_of_scales_counts(left: str) -> None:
    """Neither elements nor layout nor the address of their tiles mean anything, and they take no room: 4 KiB would not
    hold these as parameters."""
    scaling = expanded(left).replace("vec", "scaling")
    right = "!pto.tile_buf<scaling, 2x1024xf32>"
    tiles = f"%as = pto.alloc_tile addr = %at : {scaling}\n%bs = pto.alloc_tile addr = %at : {right}\n"
    product = SCALED.format(ML, scaling, "RIGHT<64x1024xf8E4M3FN>", right).replace("16x32xf32", "16x1024xf32")
    accepts(f"%at = arith.constant 70661 : i64\n{tiles}{product}")
    accepts(tiles.replace(" addr = %at", "") + product)


def test_scales_of_a_row_of_any_length() -> None:
    row, rhs = "LEFT<1x96xf8E4M3FN>", "RIGHT<96x32xf8E4M3FN>"
    accepts(
        f"pto.tgemv.mx ins(%a, %as, %b, %bs : {row}, SA<1x3x!pto.f8E8M0>, {rhs}, SB<3x32x!pto.f8E8M0>)"
        " outs(%c : ACC<16x32xf32, valid=1x32>)"
    )


def test_operands_in_l1_are_read_with_a_warning() -> None:
    warning = "lhs is in mat; it is read as if pto.tmov had brought it to left"
    accepts(PRODUCT.format("MAT<16x64xf16>", R, A), warned=(warning,))


def test_a_valid_region_of_the_result_that_differs_is_warned_of() -> None:
    warning = "the valid N is 32 in rhs (64x32), but 30 in dst (16x32)"
    accepts(PRODUCT.format(L, R, "ACC<16x32xf32, valid=16x30>"), warned=(warning,))
