"""The numbers that occur in an array, whichever way is quicker."""

import numpy as np
import pytest

from ptosim.machine.observer import FEW, distinct


@pytest.mark.parametrize("kind", [np.uint8, np.int64])
def test_the_numbers_that_occur_come_in_order(kind: type) -> None:
    for times in (1, FEW // 4, FEW // 4 + 1, FEW):
        numbers = np.array([7, 3, 250, 7] * times, kind)
        assert distinct(numbers) == distinct(numbers.reshape(-1, 2)) == [3, 7, 250]
    assert distinct(np.array([], kind)) == []
