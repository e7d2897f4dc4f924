"""Meetings of the two vector cores of a cluster under the filter of a check, and timed by compiled code."""

import numpy as np
import pytest

import ptosim
from golden.test_meetings import MODE_1, arrays, pair_kernel
from native.test_sieve import assert_sound, judged_blocks, launch_of
from tables import table
from timing.same import is_native, same

SET, WAIT = MODE_1


def kernel_of(*lines: str, target: str = "a5") -> ptosim.Kernel:
    return ptosim.load(pair_kernel("\n      ".join(lines), target)).kernel()


def meeting(pipe: str, number: int = 2) -> tuple[str, str]:
    return tuple(line.replace(", 2 ", f", {number} ").replace("MTE3", pipe) for line in MODE_1)  # pyright: ignore


@pytest.mark.parametrize("target", ["a5", "a2a3"])
@table(
    "lines, clean",
    ((SET, WAIT), True),
    ((SET, WAIT) * 5, True),
    ((SET, WAIT) * 20, None),  # nothing tells MTE3 of waits of MTE2: more may be set than a counter holds
    ((SET, *meeting("MTE3", 3), WAIT), True),
    ((*meeting("MTE2"),), False),  # another pipe tells
    ((SET, WAIT.replace("MTE2", "V")), None),  # another one waits
    ((SET, SET, WAIT), False),  # one is left
    ((*[SET] * 16, *[WAIT] * 16), False),  # more than a counter holds
    ((SET,), False),
    ((WAIT,), False),
)
def test_what_a_meeting_orders(lines: tuple[str, ...], clean: bool | None, target: str) -> None:
    """None: on a2a3 only, where the whole core waits."""
    kernel = kernel_of(*lines, target=target)
    clean = target == "a2a3" if clean is None else clean
    assert judged_blocks(kernel, launch_of(kernel, arrays(2))) == (set() if clean else {0})
    assert assert_sound(kernel, arrays(2)) == clean


def test_one_that_does_not_come_is_missed() -> None:
    body = f"""%first = arith.cmpi eq, %me, %c0 : index
      scf.if %first {{
        {SET}
      }}
      {WAIT}"""
    assert not assert_sound(kernel_of(body), arrays(2))


@pytest.mark.parametrize("target", ["a5", "a2a3"])
def test_a_meeting_takes_as_long_with_either_engine(target: str) -> None:
    kernel = kernel_of(SET, WAIT, target=target)
    assert is_native(kernel, *arrays(2))
    same(kernel, *arrays(2))


def test_several_blocks_meet_each_by_itself() -> None:
    kernel = kernel_of(SET, WAIT)
    x = np.arange(32, dtype="i4")
    found = judged_blocks(kernel, launch_of(kernel, [x, *arrays(2)[1:]], grid=3))
    assert found == {0, 1, 2}  # all of them store to the same places
