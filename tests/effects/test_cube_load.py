"""Extents of the moves into L1 and out of it, against every byte that the formulas name."""

from collections.abc import Iterator
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ptosim.effects.catalogue import effects
from ptosim.effects.element import element
from ptosim.effects.names import Space
from ptosim.effects.record import Access, Static

Bytes = Iterator[tuple[int, int]]
"""First byte and one past the last of each piece."""


def static(source: str, dest: str = "", words: dict[str, str] | None = None, **present: int) -> Static:
    kinds = {"source": element(source), "dest": element(dest or source)}
    integers = {"transpose": 1} if present.pop("transpose", 0) else {}
    return Static(words or {}, integers, kinds, present=frozenset(present))


def accesses(name: str, facts: Static) -> tuple[Access, Access]:
    read, write = effects()[name].accesses(facts)
    return read, write


def hull(pieces: Bytes) -> tuple[int, int]:
    found = list(pieces)
    return (min(low for low, _ in found), max(high for _, high in found)) if found else (0, 0)


def check(access: Access, operands: dict[str, int], pieces: Bytes) -> None:
    low, high = access.extent(SimpleNamespace(**operands))
    expected = hull(pieces)
    assert high - low == expected[1] - expected[0]
    if high > low:
        assert (low, high) == expected
    arrays = {role: np.array([value], np.int64) for role, value in operands.items()}
    low, high = access.extent(SimpleNamespace(**arrays))
    assert int(np.max(high)) - int(np.max(low)) == expected[1] - expected[0]


small = st.integers(0, 6)
sizes = st.integers(1, 70)


@given(n=small, d=st.integers(0, 40), inner=st.integers(0, 99), outer=st.integers(0, 99), groups=st.integers(1, 3),
       strides=st.tuples(small, small, small), kind=st.sampled_from(["i8", "f16", "f32"]),
       layout=st.sampled_from(["nd2nz", "dn2nz"]))  # fmt: skip
def test_layout_copies(
    n: int, d: int, inner: int, outer: int, groups: int, strides: tuple[int, int, int], kind: str, layout: str
) -> None:
    width = element(kind).bytes
    l2, l3, l4 = strides
    operands = {"n": n, "d": d, "inner_stride": inner, "outer_stride": outer, "groups": groups, "small_c0": 0}
    operands |= {"loop2_stride": l2, "loop3_stride": l3, "loop4_stride": l4}
    read, write = accesses("pto.mte_gm_l1_frac", static(kind, words={"layout": layout}))

    def source() -> Bytes:
        for g in range(groups):
            for row in range(n):
                for column in range(d):
                    along, across = (row, column) if layout == "nd2nz" else (column, row)
                    start = g * outer + along * inner + across * width
                    yield start, start + width

    def dest() -> Bytes:
        for g in range(groups):
            for row in range(n):
                for block in range(-(-d * width // 32)):
                    start = (g * l4 + block * l3 + row * l2) * 32
                    yield start, start + 32

    check(read, operands, source())
    check(write, operands, dest())


@given(n=small, d=st.integers(1, 4), groups=st.integers(1, 3), stride=small, kind=st.sampled_from(["i8", "f16", "f32"]))
def test_small_rows(n: int, d: int, groups: int, stride: int, kind: str) -> None:
    operands = {"n": n, "d": d, "inner_stride": 0, "outer_stride": 0, "groups": groups, "small_c0": 1}
    operands |= {"loop2_stride": 9, "loop3_stride": 9, "loop4_stride": stride}
    _, write = accesses("pto.mte_gm_l1_frac", static(kind, words={"layout": "nd2nz"}))
    size = -(-n * 4 * element(kind).bytes // 32) * 32
    check(write, operands, ((g * stride * 32, g * stride * 32 + size) for g in range(groups) if n))


def fractals(*numbers: int) -> Bytes:
    yield from ((512 * number, 512 * number + 512) for number in numbers)


@given(fields=st.tuples(*[st.integers(0, 5)] * 4, *[st.integers(1, 6)] * 2), kind=st.sampled_from(["i8", "f16", "f32"]),
       transpose=st.booleans())  # fmt: skip
@pytest.mark.parametrize("name", ["pto.mte_l1_l0a", "pto.mte_l1_l0b"])
def test_full_control(name: str, fields: tuple[int, ...], kind: str, transpose: bool) -> None:
    m_start, k_start, m_step, k_step, source_stride, dest_stride = fields
    roles = ("m_start", "k_start", "m_step", "k_step", "source_stride", "dest_stride")
    facts = static(kind, transpose=int(transpose), **dict.fromkeys(roles, 1))
    read, write = accesses(name, facts)
    operands = dict(zip(roles, fields, strict=True))
    source = [(k_start + a) * source_stride + m_start + b for a in range(k_step) for b in range(m_step)]
    columns = 32 // element(kind).bytes
    counts = (m_step * 16 // columns, k_step * columns // 16) if transpose else (k_step, m_step)
    check(read, operands, fractals(*source))
    check(write, operands, fractals(*(a * dest_stride + b for a in range(counts[0]) for b in range(counts[1]))))


@given(m=sizes, k=sizes, kind=st.sampled_from(["i8", "f16", "f32", "f4E2M1x2"]), transpose=st.booleans())
def test_shapes(m: int, k: int, kind: str, transpose: bool) -> None:
    """The derived fields, from the rules for a row-major and for a transposed left operand."""
    read, write = accesses("pto.mte_l1_l0a", static(kind, transpose=int(transpose), m=1, k=1))
    columns = 64 if kind.startswith("f4") else 32 // element(kind).bytes
    if transpose:
        granule = max(16, columns)
        depth, across = -(-k // granule) * granule, -(-m // granule) * granule
        steps, source_stride, dest_stride = (depth // 16, across // columns), depth // 16, across // 16
        written = (depth // columns, across // 16)
    else:
        steps = (-(-m // 16), -(-k // columns))
        source_stride = dest_stride = steps[0]
        written = (steps[1], steps[0])
    operands = {"m": m, "k": k}
    check(read, operands, fractals(*(a * source_stride + b for a in range(steps[1]) for b in range(steps[0]))))
    check(write, operands, fractals(*(a * dest_stride + b for a in range(written[0]) for b in range(written[1]))))


@given(n=sizes, k=st.integers(1, 300), base=st.integers(0, 100))
def test_scales(n: int, k: int, base: int) -> None:
    read, write = accesses("pto.mte_l1_l0b_mx", static("f8E8M0", k=1, n=1))
    rows, groups = -(-n // 16), -(-k // 32)
    pairs = -(-groups // 2)
    operands = {"k": k, "n": n, "dest": base * 512}
    pieces = [((x * pairs + y) * 32, (x * pairs + y) * 32 + 32) for x in range(rows) for y in range(pairs)]
    check(read, operands, iter(pieces))
    # The scale buffer is addressed by the data pointer divided by 16: relative to that pointer it lies below.
    shifted = base * 32 - base * 512
    check(write, operands, ((low + shifted, high + shifted) for low, high in pieces))
    assert write.space is Space.SCALE_B


@pytest.mark.parametrize(("kind", "factor"), [("f16", 2), ("bf16", 2), ("f32", 1), ("i32", 1)])
@given(length=small, count=small, gaps=st.tuples(small, small))
def test_bias(kind: str, factor: int, length: int, count: int, gaps: tuple[int, int]) -> None:
    read, write = accesses("pto.mte_l1_bt", static(kind, "i32" if kind == "i32" else "f32"))
    operands = {"len_burst": length, "n_burst": count, "source_gap": gaps[0], "dest_gap": gaps[1]}

    def pieces(gap: int, unit: int) -> Bytes:
        for burst in range(count if length else 0):
            start = burst * (length + gap) * unit
            yield start, start + length * unit

    check(read, operands, pieces(gaps[0], 32))
    check(write, operands, pieces(gaps[1], 32 * factor))


@given(repeat=small, blocks=small, gap=small, offset=small)
def test_filling(repeat: int, blocks: int, gap: int, offset: int) -> None:
    (write,) = effects()["pto.raw_fill_l1"].accesses(static("f16"))
    operands = {"repeat": repeat, "blocks": blocks, "gap": gap, "byte_offset": offset * 32}
    starts = [(offset + run * (blocks + gap)) * 32 for run in range(repeat if blocks else 0)]
    check(write, operands, ((start, start + blocks * 32) for start in starts))
