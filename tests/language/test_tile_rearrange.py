"""Transposes, pads, concatenations and the place of scales: what is rejected and where the diagnostic points."""

from language.move_kernel import accepts, only, rejects
from ptosim.effects.names import Pipe


def test_pads_in_l1() -> None:
    body = "pto.tfillpad ins(%a : MAT<16x64xf16>) outs(%d : MAT<16x64xf16>) {padValue = #pto.pad_value<zero>}"
    accepts(body)
    assert only(body).pipe("a5") is Pipe.MTE2
    tile = "MAT<32x32xf16, valid=32x16, pad=1>"
    accepts(f"pto.tfillpad ins(%a : {tile}) outs(%a : {tile})")
    remark = "a tile in mat is filled with zeros, not with max"
    accepts(body.replace("zero", "max"), warned=(remark,))
    accepts("pto.tfillpad ins(%a : ND<16x64xf16, pad=1>) outs(%a : ND<16x64xf16, pad=1>)")


def test_scales_of_one_row() -> None:
    row = "LEFT<16x64xf8E4M3FN, valid=1x64>"
    accepts(f"pto.tget_scale_addr ins(%a : {row}) outs(%s : SA<1x2x!pto.f8E8M0>)")
    accepts(f"pto.tget_scale_addr ins(%a : {row}) outs(%s : SA<16x2x!pto.f8E8M0>)")


def test_scales_of_the_right_operand() -> None:
    accepts("pto.tget_scale_addr ins(%b : RIGHT<64x32xf8E4M3FN>) outs(%s : SB<2x32x!pto.f8E8M0>)")
    text = "~pto.tget_scale_addr ins(%b : RIGHT<64x32xi8>) outs(%s : SB<2x32xi8>)"
    rejects(text, "pto.tget_scale_addr does not exist on a2a3", "a2a3", sort="wrong-target")
