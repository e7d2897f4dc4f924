"""The width of padded rows, and the registers that copies read; extents are in test_touched.py."""

import numpy as np

from ptosim.effects.dma import EFFECTS, padded_width
from tables import table


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


def test_registers_that_copies_read() -> None:
    reads = {name: set(EFFECTS[f"pto.{name}"].reads) for name in ("copy_gm_to_ubuf", "copy_ubuf_to_gm", "mte_ub_gm")}
    assert reads == {
        "copy_gm_to_ubuf": {"LOOP_OUTTOUB", "PAD"},
        "copy_ubuf_to_gm": {"LOOP_UBTOOUT", "CTRL"},
        "mte_ub_gm": {"CTRL"},
    }
