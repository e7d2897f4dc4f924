"""The extents of copies: closed forms against rows that are counted one by one."""

from itertools import product
from types import SimpleNamespace
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ptosim.effects.dma import EFFECTS, padded_width
from ptosim.effects.element import element
from ptosim.effects.record import Static
from tables import table

counts = st.integers(0, 4)
strides = st.integers(0, 200)


def enumerated(loops: list[tuple[int, int]], width: int) -> tuple[int, int]:
    """The lowest byte and one past the highest of rows at every combination of loop indices."""
    starts = [
        sum(index * stride for index, (_, stride) in zip(indices, loops, strict=True))
        for indices in product(*(range(count) for count, _ in loops))
    ]
    return (0, max(starts) + width) if starts and width else (0, 0)


def extents(name: str, operands: Any, *present: str) -> list[tuple[Any, Any]]:
    static = Static(elements={"dest": element("f16")}, present=frozenset(present))
    return [access.extent(operands) for access in EFFECTS[f"pto.{name}"].accesses(static)]


@given(counts, st.integers(0, 100), strides, strides, st.lists(st.tuples(counts, strides, strides), max_size=3))
def test_rows_and_loops(n: int, length: int, source: int, dest: int, loops: list[tuple[int, int, int]]) -> None:
    operands = SimpleNamespace(
        n_burst=n,
        len_burst=length,
        source_stride=source,
        dest_stride=dest,
        loop_counts=[count for count, _, _ in loops],
        loop_source_strides=[stride for _, stride, _ in loops],
        loop_dest_strides=[stride for _, _, stride in loops],
    )
    for name in ("mte_gm_ub", "mte_ub_gm", "mte_gm_l1", "sim.l1_gm"):
        read, write = extents(name, operands)
        assert read == enumerated([(n, source), *((count, stride) for count, stride, _ in loops)], length)
        assert write == enumerated([(n, dest), *((count, stride) for count, _, stride in loops)], length)


@given(counts, st.integers(0, 10), st.integers(0, 5), st.integers(0, 5))
def test_granules_and_gaps(n: int, length: int, source_gap: int, dest_gap: int) -> None:
    operands = SimpleNamespace(n_burst=n, len_burst=length, source_gap=source_gap, dest_gap=dest_gap)
    for name in ("mte_ub_ub", "mte_ub_l1", "copy_cbuf_to_ubuf"):
        read, write = extents(name, operands)
        assert read == enumerated([(n, 32 * (length + source_gap))], 32 * length)
        assert write == enumerated([(n, 32 * (length + dest_gap))], 32 * length)


@table(
    "length, left, right, stride, width",
    (200, 0, 0, 256, 256),  # up to the row stride
    (224, 0, 16, 256, 256),
    (224, 0, 32, 256, 288),  # right padding reaches further
    (10, 3, 0, 64, 64),
    (10, 3, 2, 0, 32),  # no stride to pad to: whole granules
    (40, 0, 30, 32, 100),
    (64, 0, 0, 32, 64),
)
def test_the_width_of_a_padded_row(length: int, left: int, right: int, stride: int, width: int) -> None:
    """Elements of 2 bytes; for integers and for arrays of them."""
    assert padded_width(length, left, right, 2, stride) == width
    columns = (np.array([value, value], np.int64) for value in (length, left, right, stride))
    lengths, lefts, rights, stride_array = columns
    assert padded_width(lengths, lefts, rights, 2, stride_array).tolist() == [width, width]


def test_padding_is_turned_on_by_the_clause_or_by_an_operand() -> None:
    given_rows: dict[str, Any] = {
        "n_burst": 2,
        "len_burst": 200,
        "source_stride": 200,
        "dest_stride": 256,
        "loop_counts": (),
        "loop_source_strides": (),
        "loop_dest_strides": (),
        "left_padding": 0,
        "right_padding": 0,
    }
    operands = SimpleNamespace(**given_rows)
    assert extents("mte_gm_ub", operands)[1] == (0, 456)
    assert extents("mte_gm_ub", operands, "pad_value")[1] == (0, 512)
    assert extents("mte_gm_ub", operands, "pad_value", "left_padding", "right_padding")[1] == (0, 512)
    for selected, end in ((0, 456), (1, 512), (-1, 512)):
        operands = SimpleNamespace(**given_rows, data_select=selected)
        assert extents("mte_gm_ub", operands, "pad_value", "data_select", "left_padding", "right_padding")[1] == (
            0,
            end,
        )


def test_registers_that_copies_read() -> None:
    reads = {name: set(EFFECTS[f"pto.{name}"].reads) for name in ("copy_gm_to_ubuf", "copy_ubuf_to_gm", "mte_ub_gm")}
    assert reads == {
        "copy_gm_to_ubuf": {"LOOP_OUTTOUB", "PAD"},
        "copy_ubuf_to_gm": {"LOOP_UBTOOUT", "CTRL"},
        "mte_ub_gm": {"CTRL"},
    }
