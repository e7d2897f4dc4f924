"""Extents of matrix products, against the address of every element that takes part."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from effects.touched import facts_of_product
from ptosim.effects.catalogue import effects
from ptosim.effects.element import element
from ptosim.effects.names import Space
from ptosim.effects.record import Static, Taint
from tables import table

sizes = st.integers(1, 75)
ELEMENTS = ["i8", "f16", "f32", "f4E2M1x2"]


def extents(name: str, facts: Static, **operands: int) -> dict[tuple[str, Space], tuple[int, int]]:
    """By direction and space; the same for numbers and for arrays."""
    found: dict[tuple[str, Space], tuple[int, int]] = {}
    for access in effects()[name].accesses(replace(facts, facts=facts_of_product(name))):
        low, high = access.extent(SimpleNamespace(**operands))
        arrays = {role: np.array([value], np.int64) for role, value in operands.items()}
        assert tuple(int(np.max(end)) for end in access.extent(SimpleNamespace(**arrays))) == (low, high)
        found[access.direction, access.space] = (low, high)
    return found


def facts(a: str, b: str, *present: str) -> Static:
    return Static(elements={"a": element(a), "b": element(b)}, present=frozenset(present))


def last_byte(kind: str, rows: int, k: int) -> int:
    """One past the highest byte of elements [row][k] in fractals of 16 rows x 32 bytes."""
    bits = 4 if kind.startswith("f4") else element(kind).bits
    c0, tiles = 256 // bits, -(-rows // 16)
    addresses = (
        ((i // c0) * tiles + row // 16) * 512 + (row % 16) * 32 + (i % c0) * bits // 8
        for row in range(rows)
        for i in range(k)
    )
    return max(addresses) + max(1, bits // 8)


@given(m=sizes, n=sizes, k=sizes, kind=st.sampled_from(ELEMENTS))
def test_operands_and_accumulators(m: int, n: int, k: int, kind: str) -> None:
    found = extents("pto.mad_acc", facts(kind, kind, "disable_gemv"), m=m, n=n, k=k)
    groups = -(-m // 16) * 16
    last = max(((j // 16) * groups + i) * 64 + (j % 16) * 4 for i in range(m) for j in range(n)) + 4
    assert found == {
        ("read", Space.L0A): (0, last_byte(kind, m, k)),
        ("read", Space.L0B): (0, last_byte(kind, n, k)),
        ("read", Space.L0C): (0, last),
        ("write", Space.L0C): (0, last),
    }


@given(k=sizes)
def test_one_row_is_a_plain_one(k: int) -> None:
    assert extents("pto.mad", facts("f16", "f16"), m=1, n=16, k=k)["read", Space.L0A] == (0, 2 * k)
    raw = 1 | k << 12 | 16 << 24
    assert extents("pto.mad_raw", facts("f16", "f16"), packed=raw)["read", Space.L0A] == (0, 2 * k)
    whole = extents("pto.mad_raw", facts("f16", "f16"), packed=raw | 1 << 61)
    assert whole["read", Space.L0A] == (0, last_byte("f16", 1, k))


@given(m=sizes, n=sizes, k=sizes)
def test_the_packed_word(m: int, n: int, k: int) -> None:
    word = m | k << 12 | n << 24 | 1 << 61
    raw = extents("pto.mad_raw", facts("f16", "f16"), packed=word)
    assert raw == extents("pto.mad_acc", facts("f16", "f16", "disable_gemv"), m=m, n=n, k=k)


@given(m=sizes, k=st.integers(1, 200), base=st.integers(0, 100))
def test_scales(m: int, k: int, base: int) -> None:
    given = facts("f8E4M3FN", "f8E4M3FN", "disable_gemv")
    found = extents("pto.mad_mx", given, m=m, n=16, k=k, a=base * 512, b=0)
    groups = -(-k // 32)
    pairs = -(-groups // 2)
    last = max(((row // 16) * pairs + g // 2) * 32 + (row % 16) * 2 + g % 2 for row in range(m) for g in range(groups))
    start = base * 32 - base * 512  # relative to the pointer of the data
    assert found["read", Space.SCALE_A] == (start, start + last + 1)


@given(k=st.integers(1, 2048))
def test_the_scales_of_one_row_lie_one_after_the_other(k: int) -> None:
    found = extents("pto.mad_mx", facts("f8E4M3FN", "f8E4M3FN"), m=1, n=16, k=k, a=0, b=0)
    assert found["read", Space.SCALE_A] == (0, -(-k // 32))
    raw = extents("pto.mad_mx_raw", facts("f8E4M3FN", "f8E4M3FN"), packed=1 | k << 12 | 16 << 24, a=0, b=0)
    assert raw["read", Space.SCALE_A] == (0, -(-k // 32))


def test_bias_row() -> None:
    found = extents("pto.mad_bias", facts("f16", "f16", "bias"), m=16, n=30, k=16)
    assert found["read", Space.BT] == (0, 120)
    assert ("read", Space.L0C) not in found


@table("name", "mad", "mad_acc", "mad_bias", "mad_mx", "mad_raw", "mte_l0c_gm", "copy_matrix_cc_to_ub")
def test_products_and_stores_use_what_they_read(name: str) -> None:
    assert effects()[f"pto.{name}"].taint is Taint.USE
