"""Pointers as addresses, and scalar loads and stores."""

from typing import Any

import numpy as np
import pytest

from small_kernels import failure, module, run
from tables import table


def test_pointers_count_elements_and_castptr_bytes() -> None:
    body = """%p = pto.addptr %ub64_f32, %c3 : P<f32> -> P<f32>
    %a = pto.castptr %p : P<f32> -> i64
    pto.store_scalar %a, %out[%c0] : G<i64>, i64
    %q = pto.castptr %p : P<f32> -> P<f16>
    %r = pto.addptr %q, %cm2 : P<f16> -> P<f16>
    %b = pto.castptr %r : P<f16> -> i64
    pto.store_scalar %b, %out[%c1] : G<i64>, i64"""
    out = np.zeros(2, np.int64)
    run(module("%out: G<i64>", body), out)
    assert out.tolist() == [64 + 12, 64 + 12 - 4]


def test_a_gm_pointer_is_its_argument_and_an_offset() -> None:
    body = """%p = pto.addptr %y, %c2 : G<i32> -> G<i32>
    %a = pto.ptrtoint %p : G<i32> -> i64
    pto.store_scalar %a, %out[%c0] : G<i64>, i64
    %back = pto.inttoptr %a : i64 -> G<i32>
    pto.store_scalar %c9_i32, %back[%c1] : G<i32>, i32"""
    x, y, out = np.zeros(8, np.int32), np.zeros(8, np.int32), np.zeros(1, np.int64)
    run(module("%x: G<i32>, %y: G<i32>, %out: G<i64>", body), x, y, out)
    assert out[0] == 2 << 48 | 8  # the second argument, 8 bytes in
    assert y.tolist() == [0, 0, 0, 9, 0, 0, 0, 0]


@table(
    "kind, bits",
    ("i8", 0x80),
    ("ui8", 0xFF),
    ("i16", 0x8001),
    ("si32", 2**31),
    ("i64", 2**63),
    ("f16", 0x7C01),
    ("f32", 0x7F800001),
)
def test_an_element_keeps_its_bits(kind: str, bits: int) -> None:
    """GM to UB and back to another element, whatever it means: a signalling NaN too."""
    body = f"""%v = pto.load_scalar %p[%c0] : G<{kind}> -> {kind}
    pto.store_scalar %v, %ub_{kind}[%c5] : P<{kind}>, {kind}
    %w = pto.load_scalar %ub_{kind}[%c5] : P<{kind}> -> {kind}
    pto.store_scalar %w, %p[%c1] : G<{kind}>, {kind}"""
    width = int(kind.lstrip("usif")) // 8
    p = np.array([bits, 0], f"u{width}")
    run(module(f"%p: G<{kind}>", body), p)
    assert p.tolist() == [bits, bits]


def test_uncached_accesses() -> None:
    body = """%v = pto.ld_dev %p[%c1] : G<i32> -> i32
    pto.st_dev %v, %p[%c0] : G<i32>, i32"""
    p = np.array([0, -5], np.int32)
    run(module("%p: G<i32>", body), p)
    assert p.tolist() == [-5, -5]


@table(
    "access, kind, message",
    ("%v = pto.load_scalar %p[%c2] : G<i32> -> i32", "out-of-bounds", "the first byte outside is 8"),
    ("%v = pto.load_scalar %p[%cm1] : G<i32> -> i32", "out-of-bounds", "the first byte outside is -4"),
    ("pto.store_scalar %c1_i32, %p[%c9] : G<i32>, i32", "out-of-bounds", "writes bytes 36 to 39"),
    ("%v = pto.load_scalar %ub1000000_i32[%c0] : P<i32> -> i32", "out-of-bounds", "of ub, which has"),
    ("%v = pto.load_scalar %ub2_i32[%c0] : P<i32> -> i32", "misaligned", "not a multiple of 4"),
    (
        "%q = pto.inttoptr %c0_i64 : i64 -> G<i32>\n%v = pto.load_scalar %q[%c0] : G<i32> -> i32",
        "out-of-bounds",
        "",
    ),
)
def test_scalar_accesses_are_checked(access: str, kind: str, message: str) -> None:
    found = failure(module("%p: G<i32>", access), np.zeros(2, np.int32))
    assert found.kind == kind
    assert message in found.message


@pytest.mark.parametrize("offset", [2**40, -(2**40), 2**61])
def test_a_wild_pointer_reaches_nothing(offset: int) -> None:
    body = "%q = pto.addptr %p, %n : G<i32> -> G<i32>\npto.store_scalar %c1_i32, %q[%c0] : G<i32>, i32"
    p: Any = np.zeros(2, np.int32)
    assert failure(module("%p: G<i32>, %n: index", body), p, offset).kind == "out-of-bounds"
    assert not p.any()


@pytest.mark.parametrize("space", ["G", "P"])
def test_offsets_count_modulo_64_bits(space: str) -> None:
    """An offset in an access goes as far as the same offset in addptr: 2^61 + 3 words of eight bytes are 3 words."""
    base, pointer = {"G": "%y", "P": "%ub_i64"}[space], f"{space}<i64>"
    body = f"""%far = arith.constant {2**61 + 3} : index
    pto.store_scalar %c77_i64, {base}[%c3] : {pointer}, i64
    %read = pto.load_scalar {base}[%far] : {pointer} -> i64
    pto.store_scalar %read, %y[%c0] : G<i64>, i64
    %moved = pto.addptr {base}, %far : {pointer} -> {pointer}
    %again = pto.load_scalar %moved[%c0] : {pointer} -> i64
    pto.store_scalar %again, %y[%c1] : G<i64>, i64
    pto.store_scalar %c55_i64, {base}[%far] : {pointer}, i64
    %last = pto.load_scalar {base}[%c3] : {pointer} -> i64
    pto.store_scalar %last, %y[%c2] : G<i64>, i64"""
    y = np.zeros(4, np.int64)
    run(module("%y: G<i64>", body), y)
    assert y[:3].tolist() == [77, 77, 55]
