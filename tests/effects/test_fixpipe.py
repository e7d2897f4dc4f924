"""Extents of fixpipe stores, against the index formulas of source and destination."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ptosim.effects.catalogue import effects
from ptosim.effects.element import element
from ptosim.effects.names import Space
from ptosim.effects.record import Static

counts = st.integers(0, 40)
strides = st.integers(0, 60)
LOOP3 = ("loop3_count", "loop3_source_stride", "loop3_dest_stride")


def extents(name: str, facts: Static, **operands: int) -> dict[Space, tuple[int, int]]:
    found: dict[Space, tuple[int, int]] = {}
    for access in effects()[name].accesses(facts):
        low, high = access.extent(SimpleNamespace(**operands))
        arrays = {role: np.array([value], np.int64) for role, value in operands.items()}
        assert tuple(int(np.max(end)) for end in access.extent(SimpleNamespace(**arrays))) == (low, high)
        found[access.space] = (low, high)
    return found


def facts(dest: str, layout: str | None, *present: str, **words: str) -> Static:
    spoken = {**words, **({"layout": layout} if layout else {})}
    return Static(spoken, {}, {"source": element("f32"), "dest": element(dest)}, present=frozenset(present))


def source_end(m: int, n: int, stride: int, step: int, repeats: list[int]) -> int:
    places = [
        r * 64 + ((j // 16) * stride + i * step) * 64 + (j % 16) * 4 + 4
        for r in repeats
        for i in range(m)
        for j in range(n)
    ]
    return max(places, default=0)


def dest_end(layout: str, columns: int, bits: int, m: int, n: int, stride: int, repeats: list[int]) -> int:
    def index(i: int, j: int) -> int:
        if layout == "nz2nz":
            return (j // columns) * stride + i * columns + j % columns
        return i * stride + j if layout == "nz2nd" else j * stride + i

    places = [r + index(i, j) for r in repeats for i in range(m) for j in range(n)]
    return -(-(max(places) + 1) * bits // 8) if places else 0


@given(m=counts, n=counts, source=strides, dest=strides, step=st.integers(0, 3), count=st.integers(0, 3),
       repeat=st.tuples(strides, strides), kind=st.sampled_from(["f32", "f16", "i8", "i4", "hif8x2"]),
       layout=st.sampled_from(["nz2nd", "nz2dn"]))  # fmt: skip
def test_plain_layouts(
    m: int, n: int, source: int, dest: int, step: int, count: int, repeat: tuple[int, int], kind: str, layout: str
) -> None:
    step = step if layout == "nz2dn" else 1
    sizes = {"m": m, "n": n, "source_stride": source, "dest_stride": dest, "loop0_stride": step}
    loop3 = dict(zip(LOOP3, (count, *repeat), strict=True))
    found = extents("pto.mte_l0c_gm", facts(kind, layout, *LOOP3, "loop0_stride"), **sizes, **loop3)
    bits = {"i4": 4, "hif8x2": 8}.get(kind, element(kind).bits)
    turns = range(count)
    assert found[Space.L0C] == (0, source_end(m, n, source, step, [r * repeat[0] for r in turns]))
    assert found[Space.GM] == (0, dest_end(layout, 16, bits, m, n, dest, [r * repeat[1] for r in turns]))


@given(m=counts, n=counts, dest=st.integers(0, 700), split=st.booleans())
def test_fractals(m: int, n: int, dest: int, split: bool) -> None:
    sizes = {"m": m, "n": n, "source_stride": 16, "dest_stride": dest, "split": int(split)}
    found = extents("pto.mte_l0c_l1", facts("f32", "nz2nz", "split"), **sizes)
    assert found[Space.L1] == (0, dest_end("nz2nz", 8 if split else 16, 32, m, n, dest, [0]))


@pytest.mark.parametrize(("mode", "m", "n"), [("split_m", 20, 64), ("split_n", 40, 32)])
def test_halves(mode: str, m: int, n: int) -> None:
    """Each vector core receives one half, with the stride as it is written."""
    found = extents("pto.mte_l0c_ub", facts("f32", None, dst_mode=mode), m=40, n=64, source_stride=48, dest_stride=70)
    assert found[Space.UB] == (0, dest_end("nz2nd", 16, 32, m, n, 70, [0]))
    assert found[Space.L0C] == (0, source_end(40, 64, 48, 1, [0]))


def test_parameter_words_lie_in_their_segments() -> None:
    """Of a pointer only the row survives: 8 bits in units of 128 or 64 bytes."""
    words = {"quant_mode": "qf322f16_pre_vec", "relu_mode": "vector_relu"}
    sizes = {"m": 16, "n": 30, "source_stride": 16, "dest_stride": 30}
    found = extents(
        "pto.mte_l0c_gm", facts("f16", "nz2nd", **words), **sizes, quant_payload=0x10085, relu_payload=0x10047
    )
    assert found[Space.FB] == (0x80 - 0x10085, 0x80 - 0x10085 + 240)
    assert found[Space.FB_RELU] == (0x40 - 0x10047, 0x40 - 0x10047 + 120)


LAYOUT_BITS = {"nz2nd": 1 << 43, "nz2dn": 1 << 62, "nz2nz": 0}


@given(m=counts, n=counts, source=strides, dest=st.integers(0, 700), step=st.integers(0, 3), count=st.integers(1, 3),
       repeat=st.tuples(strides, strides), layout=st.sampled_from(list(LAYOUT_BITS)), split=st.booleans(),
       kind=st.sampled_from(["f32", "f16", "i8"]))  # fmt: skip
def test_the_raw_words(
    m: int,
    n: int,
    source: int,
    dest: int,
    step: int,
    count: int,
    repeat: tuple[int, int],
    layout: str,
    split: bool,
    kind: str,
) -> None:
    config0 = n << 4 | m << 16 | dest << 32
    config1 = source | LAYOUT_BITS[layout] | int(split) << 42
    registers = {"loop3_para": count | repeat[0] << 16 | repeat[1] << 32, "channel_para": step << 48}
    found = extents("pto.copy_matrix_cc_to_gm", facts(kind, None), config0=config0, config1=config1, **registers)
    turns = range(count if layout != "nz2nz" else 1)
    row_step = step if layout == "nz2dn" else 1
    columns = {"f32": 8 if split else 16, "f16": 16, "i8": 32}[kind]
    assert found[Space.L0C] == (0, source_end(m, n, source, row_step, [r * repeat[0] for r in turns]))
    expected = dest_end(layout, columns, element(kind).bits, m, n, dest, [r * repeat[1] for r in turns])
    assert found[Space.GM] == (0, expected)


@pytest.mark.parametrize(("mode", "m", "n"), [(0, 40, 64), (1, 20, 64), (2, 40, 32)])
def test_raw_halves(mode: int, m: int, n: int) -> None:
    registers = {"loop3_para": 1, "channel_para": 1 << 48}
    config1 = 48 | mode << 16 | 1 << 43
    found = extents(
        "pto.copy_matrix_cc_to_ub",
        facts("f32", None),
        config0=64 << 4 | 40 << 16 | 70 << 32,
        config1=config1,
        **registers,
    )
    assert found[Space.UB] == (0, dest_end("nz2nd", 16, 32, m, n, 70, [0]))
