"""What a check costs: time against a plain run of the same engine, and memory against the number of steps."""

import gc
import time
import tracemalloc

import numpy as np
import pytest

import ptosim
from cost import costs_at_most
from examples.test_examples import EXAMPLES, script
from ptosim.arguments import bind
from ptosim.checking import Launch, examine, observed
from sanitize.kernels import ALL, COPY, PARAMETERS, load, order, put, store, take, text

LAUNCHES: list[tuple[str, dict[str, int]]] = [
    ("softmax", {}),
    ("softmax", {"rows": 120}),
    ("pingpong", {}),  # block 1 begins inside a granule of GM, and the tails end inside a block of UB
    ("pingpong", {"tiles": 4}),
    ("pingpong", {"tiles": 20, "tail": 1024}),
    ("singlebuffer", {}),
    ("buffers", {}),
    ("add", {}),
]


@pytest.mark.parametrize(("name", "sizes"), LAUNCHES, ids=str)
def test_time(name: str, sizes: dict[str, int]) -> None:
    launch = script(name).launch(**sizes)
    kernel = ptosim.load(EXAMPLES / f"{name}.pto").kernel()
    assert costs_at_most(
        4,
        lambda: kernel(*launch.arguments, grid=launch.grid, engine="reference"),
        lambda: ptosim.check(kernel, *launch.arguments, grid=launch.grid),
    )


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
    """Of the run itself: what trying hints takes, the reading of edited texts, is the same for any number of steps."""
    kernel = ptosim.load(source).kernel()
    launch = Launch(bind(kernel.signature, (np.zeros(64, np.float32), np.zeros(64, np.float32), rounds)))
    observed(kernel, launch, "relaxed", [0])  # what is made once, in any check
    tracemalloc.start()
    observed(kernel, launch, "relaxed", [0])
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return most


@pytest.mark.parametrize("racy", [False, True], ids=["clean", "racy"])
def test_memory_does_not_grow_with_the_steps(racy: bool) -> None:
    body = REPEATED.replace(order("V", "MTE3"), "") if racy else REPEATED
    source = text(body, PARAMETERS + ", %rounds: i32")
    few, many = peak(source, 50), peak(source, 500)
    assert many - few < 100_000


CLUSTER = """    pto.section.cube {
      pto.sync.wait <PIPE_MTE2>, 0
      pto.sync.wait <PIPE_MTE2>, 16
    }
    pto.section.vector {
      %me = pto.get_subblock_idx
LOAD      pto.sync.set <PIPE_MTE2>, 0
      pto.barrier #pto.pipe<PIPE_ALL>
    }
"""


def test_memory_does_not_grow_with_the_blocks() -> None:
    kernel = ptosim.load(text(CLUSTER.replace("LOAD", load()))).kernel()
    few, many = kept_by(kernel, 5), kept_by(kernel, 105)
    assert many - few < 100_000


def kept_by(kernel: ptosim.Kernel, blocks: int) -> int:
    """The memory in use when the last block has ended, without what the garbage collector will find by itself."""
    x, y = np.zeros(64, np.float32), np.zeros(64, np.float32)
    used: list[int] = []

    def last_block() -> None:
        if len(used) == blocks - 1:
            gc.collect()
        used.append(tracemalloc.get_traced_memory()[0])

    tracemalloc.start()
    launch = Launch(bind(kernel.signature, (x, y)), blocks, block_done=last_block)
    assert examine(kernel, launch).findings == ()
    tracemalloc.stop()
    assert len(used) == blocks
    return used[-1]


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


def test_many_findings_do_not_take_long() -> None:
    """300 copies to one place, ten times over: 3000 occurrences of 300 pairs, against the same with barriers. More than
    can be repaired one by one: the hints of all are tried at once, which is another run."""
    barrier = "    pto.barrier #pto.pipe<PIPE_MTE2>\n"
    ten = "    %c10 = arith.constant 10 : index\n    scf.for %i = %c0 to %c10 step %c1 {{\n{}    }}\n" + ALL
    racy, ordered = (ptosim.load(text(ten.format(line * 300))).kernel() for line in (load(), load() + barrier))
    assert len(findings(racy)) == 300
    assert findings(ordered) == ()
    assert seconds(racy) < 14 * seconds(ordered)


def findings(kernel: ptosim.Kernel) -> tuple[ptosim.Finding, ...]:
    return ptosim.check(kernel, np.zeros(64, np.float32), np.zeros(64, np.float32)).findings


def seconds(kernel: ptosim.Kernel) -> float:
    """Of this process, so that others do not count."""
    start = time.process_time()
    findings(kernel)
    return time.process_time() - start
