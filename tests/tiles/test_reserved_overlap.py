"""Reserved buffers of FIFOs whose written places overlap."""

import numpy as np
import pytest

import ptosim
from tiles.test_fifo import COLS, ROWS, Fifo, inputs, to_vector

OTHER = (
    '%other = pto.reserve_buffer {{name = "other", size = 8192, location = #pto.address_space<vec>, auto = false, '
    "base = {base}}} -> i32\n"
)
USED = "%next = arith.addi %other, %other : i32\n"


def overlaps(base: int, used: str = USED) -> list[ptosim.Finding]:
    """Of a buffer of two entries from byte 512 on, and another one."""
    text = to_vector(Fifo(2, 0, planned=False), 1)
    own = "%c2v = pto.reserve_buffer"
    assert text.count(own) == 1
    kernel = ptosim.load(text.replace(own, OTHER.format(base=base) + used + own)).kernel()
    a, b, product = inputs(1)
    found = ptosim.check(kernel, a, b, np.zeros((ROWS, COLS), "f4").reshape(product.shape), 1).findings
    return [each for each in found if each.kind == "overlap"]


@pytest.mark.parametrize("base", [0, 1024, 16384])
def test_buffers_that_share_bytes(base: int) -> None:
    (found,) = overlaps(base)
    low, high = max(512, base), min(512 + 2 * 8192, base + 8192)
    assert f"share ub[{low}:{high}]" in found.message and found.severity == "warning"
    assert len(found.related) == 1 and found.hint is not None


def test_buffers_apart_and_buffers_that_nothing_uses() -> None:
    assert overlaps(512 + 2 * 8192 + 256 - 512 % 256) == []
    assert overlaps(1024, used="") == []
