"""The kinds of word attributes: their values and the spelling that is printed, as the instruction set lists them."""

import pytest

from language import source
from language.view_kernel import prints
from ptosim.language.tile.tile_attributes import KINDS
from tables import table

PRETTY = {"layout", "kernel_kind", "mask_pattern", "pad_value", "padmode", "blayout", "slayout", "acc_to_vec_mode"} | {
    *("tinsert_mode", "sync_all_mode", "sync_core_type", "fence_scope")
}
"""Kinds that are written `#pto.kind<value>`; every other one is written `#pto<kind value>`."""


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_has_one_printed_spelling(kind: str):
    expected = f"#pto.{kind}<x>" if kind in PRETTY else f"#pto<{kind} x>"
    assert KINDS[kind].printed.format("x") == expected


@table(
    "kind, words",
    ("round_mode", "NONE RINT ROUND FLOOR CEIL TRUNC ODD CAST_RINT"),
    ("cmp", "eq ne lt le gt ge"),
    ("wait_cmp", "eq ne gt ge lt le"),
    ("mask_pattern", "P0101 P1010 P0001 P0010 P0100 P1000 P1111"),
    ("saturation_mode", "ON OFF"),
    ("atomic_type", "atomic_none atomic_add"),
    ("relu_pre_mode", "no_relu normal_relu scalar_relu vector_relu pwl"),
    ("pow_precision", "default high_precision"),
    ("quant_type", "INT8_SYM INT8_ASYM MXFP8 MXFP4_E2M1"),
    ("scatter_oob", "undefined skip clamp wrap"),
    ("gather_oob", "undefined clamp wrap zero"),
    ("acc_to_vec_mode", "single_mode_vec0 single_mode_vec1 dual_mode_split_m dual_mode_split_n"),
)
def test_values(kind: str, words: str):
    assert set(KINDS[kind].words) == set(words.split())


def test_unknown_attributes_of_a_dictionary_are_kept():
    line = "%t = pto.alloc_tile {hint = #pto<some_kind some_word>, other = #pto.more<3>} : TB"
    prints(line, line)


@pytest.mark.parametrize("kind", ["#pto<kernel_kind vector>", "#pto.kernel_kind< vector >", "#pto.kernel_kind<vector>"])
def test_the_kind_of_a_kernel_has_one_printed_spelling(kind: str):
    module = (
        "module attributes {{pto.kernel_kind = {0}}} {{\n  func.func @f() attributes {{pto.kernel_kind = {0}}} {{\n"
    )
    once = source.accepts(module.format(kind) + "    func.return\n  }\n}\n")
    assert once.startswith(module.format("#pto.kernel_kind<vector>"))
