"""What a check costs: time against a plain run of the same engine, and memory against the number of steps."""

import time
import tracemalloc
from collections.abc import Callable

import numpy as np
import pytest

import ptosim
from examples.test_examples import EXAMPLES, script
from sanitize.kernels import ALL, COPY, PARAMETERS, load, order, put, store, take, text

MOST = 4
"""A check may take so many times as long as the run that it watches."""


def seconds(call: Callable[[], object]) -> float:
    """Processor time of the quickest of a few calls: other work on the machine does not count."""
    taken: list[float] = []
    for _ in range(5):
        start = time.process_time()
        call()
        taken.append(time.process_time() - start)
    return min(taken)


@pytest.mark.parametrize("name, sizes", [("softmax", {"rows": 120}), ("pingpong", {"tiles": 20, "tail": 1024})])
def test_time(name: str, sizes: dict[str, int]) -> None:
    launch = script(name).launch(**sizes)
    kernel = ptosim.load(EXAMPLES / f"{name}.pto").kernel()
    options = {"grid": launch.grid}
    run = seconds(lambda: kernel(*launch.arguments, engine="reference", **options))
    check = seconds(lambda: ptosim.check(kernel, *launch.arguments, **options))
    assert check <= MOST * run


REPEATED = (
    put("V", "MTE2")
    + put("MTE3", "V")
    + "    %n = arith.index_cast %rounds : i32 to index\n    scf.for %i = %c0 to %n step %c1 {\n"
    + take("V", "MTE2")
    + load()
    + order("MTE2", "V")
    + take("MTE3", "V")
    + COPY
    + put("V", "MTE2")
    + order("V", "MTE3")
    + "    pto.barrier #pto.pipe<PIPE_MTE3>\n"
    + store()
    + put("MTE3", "V")
    + "    }\n"
    + take("V", "MTE2")
    + take("MTE3", "V")
    + ALL
)


def peak(source: str, rounds: int) -> int:
    kernel = ptosim.load(source).kernel()
    x, y = np.zeros(64, np.float32), np.zeros(64, np.float32)
    ptosim.check(kernel, x, y, rounds)  # what is made once, in any check
    tracemalloc.start()
    ptosim.check(kernel, x, y, rounds)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return most


@pytest.mark.parametrize("racy", [False, True], ids=["clean", "racy"])
def test_memory_does_not_grow_with_the_steps(racy: bool) -> None:
    body = REPEATED.replace(order("V", "MTE3"), "") if racy else REPEATED
    source = text(body, PARAMETERS + ", %rounds: i32")
    few, many = peak(source, 50), peak(source, 500)
    assert many - few < 100_000


def test_the_shadow_of_gm_is_small() -> None:
    """64 MB of arguments of which a kernel touches a little: shadows are sized by granules, not by bytes."""
    kernel = ptosim.load(EXAMPLES / "pingpong.pto").kernel()
    large = np.zeros(8 << 20, np.float32)
    tracemalloc.start()
    ptosim.check(kernel, large, np.zeros_like(large), 2, 1024)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    arguments = 2 * large.nbytes
    assert most < arguments + 2 * arguments + (64 << 20)  # the copies, and the shadow
