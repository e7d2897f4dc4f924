"""Blocks on threads, errors, interruption, queues and clusters, with kernels built by hand."""

import _thread
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from native.handmade import Kernel, append, host_address, logged
from ptosim.diagnostics import PTOError, Source
from ptosim.effects.names import CoreKind, Pipe, Space
from ptosim.machine.entry import Site
from ptosim.machine.launch import KernelKind
from ptosim.machine.memory import pointer
from ptosim.native.build.global_memory import leaves_buffer, locate
from ptosim.native.build.operations import METHODS, HandedOperation, operation_from_json
from ptosim.native.ir.context import ContextWord, Register, register_word
from ptosim.native.ir.flow import FunctionBuilder
from ptosim.native.ir.values import F32, I8, I16, I64, PTR, Value
from ptosim.native.run import runtime
from ptosim.native.run.cores import Invocation
from ptosim.native.run.crew import Crew


def loop(function: FunctionBuilder, count: Value | int, body, site: int | None = None) -> None:
    zero = function.constant(I64, 0)

    def once(index: Value, _carried: list[Value]) -> Sequence[Value]:
        body(index)
        return ()

    function.for_loop(zero, count, 1, (), once, site)


# --- blocks -----------------------------------------------------------------------------------------------------------


def write_block_numbers(kernel: Kernel, function: FunctionBuilder) -> None:
    block, blocks = (function.word(word).load(I64, 8) for word in (ContextWord.BLOCK, ContextWord.BLOCK_NUM))
    site = kernel.module.site("out")
    host_address(function, kernel.argument(function, 0) + block * 8, 8, site).store(block * 1000 + blocks, 8)


@pytest.mark.parametrize("threads", [1, 2, 5, None])
def test_every_block_runs_once(threads: int | None):
    kernel = Kernel(write_block_numbers)
    out = np.zeros(37, np.int64)
    for _ in range(2):
        out[:] = 0
        kernel(out, grid=37, threads=threads)
        assert out.tolist() == [block * 1000 + 37 for block in range(37)]


def test_a_grid_of_no_blocks_runs_nothing():
    out = np.zeros(1, np.int64)
    Kernel(write_block_numbers)(out, grid=0)
    assert out.tolist() == [0]


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("grid", [1, 2, 1000])
def test_every_block_is_told_of_once(threads: int, grid: int):
    out = np.zeros(grid, np.int64)
    told: list[int] = []
    kernel = Kernel(write_block_numbers)
    invocation = Invocation(grid, [pointer(0)], [(out.ctypes.data, out.nbytes)])
    kernel.runner.run_apart(invocation, threads, lambda: told.append(np.count_nonzero(out)))
    assert len(told) == grid
    if threads == 1:  # never before it has ended
        assert all(ended >= number for number, ended in enumerate(told, 1))


def spin_or_fail(kernel: Kernel, function: FunctionBuilder) -> None:
    """So many rounds as argument 1 says; then fails if argument 0 holds anything."""
    sites = [kernel.module.site(name) for name in ("in", "limit", "wrong")]
    loop(function, kernel.argument(function, 1), lambda _index: None, sites[1])
    wrong = host_address(function, kernel.argument(function, 0), 8, sites[0]).load(I64, 8)
    function.check(wrong != 0, sites[2])


def test_a_launch_that_was_short_begins_on_the_callers_thread(monkeypatch: pytest.MonkeyPatch):
    kernel, data = Kernel(spin_or_fail, steady=True), np.zeros(1, np.int64)
    threads: list[threading.Thread] = []

    def runs_here(rounds: int, grid: int = 1) -> bool:
        threads.clear()
        invocation = Invocation(grid, [pointer(0), rounds], [(data.ctypes.data, data.nbytes)])
        kernel.runner.run_apart(invocation, 1, lambda: threads.append(threading.current_thread()))
        return set(threads) == {threading.current_thread()}

    assert [runs_here(5) for _ in range(3)] == [False, True, True]
    assert [runs_here(6), runs_here(6), runs_here(6, grid=2)] == [False, True, False]  # who knows how long these take
    data[0] = 1
    for _ in range(2):  # elsewhere, then here
        with pytest.raises(PTOError, match="site 2"):
            runs_here(6, grid=2)
    data[0] = 0
    assert runs_here(6, grid=2)
    monkeypatch.setattr(runtime, "SHORT_SECONDS", 0)
    assert [runs_here(5) for _ in range(3)] == [False, False, False]


def test_memory_and_registers_are_as_new_for_every_block():
    def build(kernel: Kernel, function: FunctionBuilder) -> None:
        out = kernel.argument(function, 0)
        ub = function.word(ContextWord.UB).load(PTR, 8)
        control = function.word(register_word(Register.CTRL))
        size = function.word(register_word("outtoub_loop2_size"))
        site = kernel.module.site("out")
        found = ub.load(I64) + ub.at((1 << 18) - 8).load(I64)
        host = host_address(function, out + function.word(ContextWord.BLOCK).load(I64, 8) * 24, 24, site)
        for number, value in enumerate([found, control.load(I64, 8), size.load(I64, 8)]):
            host.at(8 * number).store(value, 8)
        for place in (ub, ub.at((1 << 18) - 8), control, size):
            place.store(function.constant(I64, 99))

    out = np.zeros((4, 3), np.int64)
    kernel = Kernel(build)
    for _ in range(2):
        kernel(out, grid=4, threads=1)
        assert out.tolist() == [[0, 1 << 48, 1]] * 4


def test_scalar_arguments_arrive_as_bits():
    def build(kernel: Kernel, function: FunctionBuilder) -> None:
        host = host_address(function, kernel.argument(function, 0), 16, kernel.module.site("out"))
        host.store(kernel.argument(function, 1), 8)
        host.at(8).store(kernel.argument(function, 2), 8)

    out = np.zeros(2, np.int64)
    Kernel(build)(out, (1 << 64) - 5, -7)
    assert out.tolist() == [-5, -7]


# --- errors -----------------------------------------------------------------------------------------------------------


def fail_where_told(kernel: Kernel, function: FunctionBuilder) -> None:
    """Block b spins argument 1 times, then fails in iteration (b, 5) if word b of argument 0 says so."""
    block = function.word(ContextWord.BLOCK).load(I64, 8)
    sites = [kernel.module.site(name) for name in ("in", "limit", "wrong")]
    wrong = host_address(function, kernel.argument(function, 0) + block * 8, 8, sites[0]).load(I64, 8)
    spins = kernel.argument(function, 1)
    loop(function, (block == 0).select(spins, 0), lambda _index: None, sites[1])

    def rows(i: Value) -> None:
        loop(function, 7, lambda j: function.check((wrong != 0) & (i == block) & (j == 5), sites[2], block))

    loop(function, 100, rows)


@pytest.mark.parametrize("threads", [1, 2, 4])
def test_the_error_of_the_lowest_block_is_raised(threads: int):
    kernel = Kernel(fail_where_told)
    wrong = np.zeros(50, np.int64)
    kernel(wrong, 0, grid=50, threads=threads)
    wrong[[0, 3, 20, 49]] = 1  # block 0 takes longest
    with pytest.raises(PTOError) as raised:
        kernel(wrong, 3_000_000, grid=50, threads=threads)
    (diagnostic,) = raised.value.diagnostics
    assert (diagnostic.block, diagnostic.core, diagnostic.loops) == (0, "b0.aiv0", (0, 5))
    wrong[0] = 0
    with pytest.raises(PTOError) as raised:
        kernel(wrong, 1000, grid=50, threads=threads)
    (diagnostic,) = raised.value.diagnostics
    assert (diagnostic.block, diagnostic.loops, diagnostic.message) == (3, (3, 5), "site 2 found 3")
    wrong[:] = 0
    kernel(wrong, 0, grid=50, threads=threads)


def test_a_block_above_a_failed_one_is_stopped():
    """Block 1 would spin for hours; block 0 fails a little later."""

    def build(kernel: Kernel, function: FunctionBuilder) -> None:
        block = function.word(ContextWord.BLOCK).load(I64, 8)
        loop(function, (block == 0).select(kernel.argument(function, 0), (1 << 63) - 1), lambda _index: None)
        function.check(block == 0, kernel.module.site("wrong"))

    started = time.monotonic()
    with pytest.raises(PTOError, match="site 0"):
        Kernel(build)(10_000_000, grid=2, threads=2)
    assert time.monotonic() - started < 10


def test_max_steps_counts_per_block():
    kernel = Kernel(lambda k, f: loop(f, k.argument(f, 0), lambda _index: None, k.module.site("limit")))
    kernel(100, grid=5, max_steps=100)
    with pytest.raises(PTOError, match="site 0"):
        kernel(101, grid=5, max_steps=100)
    kernel(101, grid=5, max_steps=1 << 80)


@pytest.fixture
def listening() -> Iterator[None]:
    """Interrupts arrive, even where the tests run in the background, which ignores them."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("listening")
def test_ctrl_c_ends_an_endless_kernel():
    kernel = Kernel(lambda k, f: loop(f, (1 << 63) - 1, lambda _index: None))
    started = time.monotonic()
    timer = threading.Timer(0.2, _thread.interrupt_main)
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        kernel(grid=3, threads=2)
    assert time.monotonic() - started < 3
    kernel.runner.run_apart(Invocation(0, [], []))  # and the next call is not affected


# --- GM pointers ------------------------------------------------------------------------------------------------------


def store_behind_pointer(kernel: Kernel, function: FunctionBuilder) -> None:
    place = locate(function, kernel.argument(function, 1))
    out = host_address(function, kernel.argument(function, 0), 8, kernel.module.site("out"))
    out.store(leaves_buffer(place, 0, 4).zext(I64), 8)
    target = host_address(function, kernel.argument(function, 1), 4, kernel.module.site("pointer"))
    target.store(function.constant(I8.vector(4), 7))


STORE = Kernel(store_behind_pointer)


@given(
    st.one_of(
        st.integers(-(1 << 63), (1 << 63) - 1),
        st.builds(pointer, st.integers(-2, 4), st.integers(-8, 40)),
        st.builds(pointer, st.integers(0, 1), st.integers(-(1 << 47), 1 << 47)),
    )
)
def test_no_integer_used_as_a_pointer_reaches_outside_the_buffers(address: int):
    """Two buffers of 8 and 20 bytes, each inside an allocation whose other bytes must stay as they are."""
    out, room = np.zeros(1, np.int64), np.zeros(64, np.uint8)
    inside = room[16:36]
    legal = address - pointer(1) in range(17)
    in_first = address - pointer(0) in range(5)
    if legal or in_first:
        STORE(out, address - (1 << 64) if address >> 63 else address, inside)
    else:
        with pytest.raises(PTOError, match="site 1"):
            STORE(out, address, inside)
        assert out.tolist() == [1]
    expected = np.zeros(64, np.uint8)
    if legal:
        expected[16 + address - pointer(1) :][:4] = 7
    assert room.tolist() == expected.tolist()


# --- queues -----------------------------------------------------------------------------------------------------------


def late_set(kernel: Kernel, function: FunctionBuilder) -> None:
    """V waits for MTE2 before anything was set; its entries must wait although the scalar unit goes on."""
    log = kernel.argument(function, 0)

    def write(body: FunctionBuilder, log: Value, number: Value, half: Value, bit: Value) -> None:
        append(kernel, body, log, number + half.signed(I64) + bit.zext(I64) * 0)
        body.check((number == 2) & (kernel.argument(body, 1) != 0), 77, number)

    kernel.sync(function, "wait_flag", "MTE2", "V", 0)

    def step(index: Value) -> None:
        captured = [log, index, function.constant(I16, -100), index == 1]
        kernel.entry(function, Pipe.V, captured, write)
        captured = [log, index + 500, function.constant(I16, 0), index == 1]
        kernel.entry(function, Pipe.MTE2, captured, write)

    loop(function, 4, step)
    append(kernel, function, log, 999)
    kernel.sync(function, "set_flag", "MTE2", "V", None, captured=[kernel.argument(function, 2)])
    append(kernel, function, log, 1000)
    kernel.entry(function, Pipe.V, [log, log.like(7), function.constant(I16, -1), log == 0], write)


LATE_SET = Kernel(late_set)


def test_entries_wait_in_their_queue_and_keep_what_they_captured():
    log = np.zeros(100, np.int64)
    LATE_SET(log, 0, 0)
    assert logged(log) == [500, 501, 502, 503, 999, -100, -99, -98, -97, 1000, 6]


def test_a_failure_in_a_queued_entry_has_the_loop_indices_of_its_issue():
    log = np.zeros(100, np.int64)
    with pytest.raises(PTOError) as raised:
        LATE_SET(log, 1, 0)
    (diagnostic,) = raised.value.diagnostics
    assert (diagnostic.message, diagnostic.loops) == ("site 77 found 2", (2,))
    assert logged(log)[-1] == -98


def test_a_wait_that_nothing_satisfies_is_an_error():
    log = np.zeros(100, np.int64)
    with pytest.raises(PTOError) as raised:
        LATE_SET(log, 0, 1)  # sets another id
    assert raised.value.diagnostics[0].kind in ("deadlock", "unmatched-wait")


def test_an_id_outside_the_range_is_an_error():
    with pytest.raises(PTOError) as raised:
        LATE_SET(np.zeros(100, np.int64), 0, 8)
    assert raised.value.diagnostics[0].kind == "id-range"


# --- clusters ---------------------------------------------------------------------------------------------------------


def exchange(kernel: Kernel, function: FunctionBuilder) -> None:
    """The AIC writes into both UBs and signals; each AIV waits, adds its number and signals back through L1."""
    log = kernel.argument(function, 0)
    if kernel.core_kind is CoreKind.AIC:
        for number, word in enumerate([ContextWord.UB_OF_AIV0, ContextWord.UB_OF_AIV1]):
            function.word(word).load(PTR, 8).at(64).store(function.constant(I64, 100 + number), 8)
            kernel.sync(function, "semaphore_set", "FIX", 16 * number + 1, "sync")
        for number in (0, 1):
            kernel.sync(function, "semaphore_wait", "FIX", 16 * number + 2, "sync")
        kernel.sync(function, "barrier", "ALL")
        shared = function.word(ContextWord.L1).load(PTR, 8)
        for number in (0, 1):
            append(kernel, function, log, shared.at(8 * number).load(I64, 8))
        return
    kernel.sync(function, "semaphore_wait", "MTE3", 1, "sync")
    kernel.sync(function, "barrier", "ALL")
    number = function.word(ContextWord.SUBBLOCK).load(I64, 8)
    value = function.word(ContextWord.UB).load(PTR, 8).at(64).load(I64, 8) * 10 + number
    value = value + function.word(ContextWord.SUBBLOCK_NUM).load(I64, 8) * 100_000
    function.word(ContextWord.L1).load(PTR, 8).at(number * 8).store(value, 8)
    kernel.sync(function, "semaphore_set", "MTE3", 2, "sync")


def test_the_cores_of_a_cluster_take_turns_and_see_each_others_memories():
    kernel = Kernel(exchange, KernelKind.MIXED, frozenset({Space.UB, Space.L1}))
    for grid in (1, 3):
        log = np.zeros(100, np.int64)
        kernel(log, grid=grid, threads=1)
        assert logged(log) == [201_000, 201_011] * grid


def test_blocks_that_meet_run_together():
    def build(kernel: Kernel, function: FunctionBuilder) -> None:
        log, block = kernel.argument(function, 0), function.word(ContextWord.BLOCK).load(I64, 8)
        append(kernel, function, log, block)
        kernel.sync(function, "syncall", "aiv")
        append(kernel, function, log, block + 10)

    log = np.zeros(100, np.int64)
    Kernel(build)(log, grid=4, together=True)
    assert sorted(logged(log)[:4]) == [0, 1, 2, 3]
    assert sorted(logged(log)[4:]) == [10, 11, 12, 13]


@pytest.mark.usefixtures("listening")
def test_ctrl_c_ends_blocks_that_run_together():
    def build(kernel: Kernel, function: FunctionBuilder) -> None:
        kernel.sync(function, "syncall", "aiv")
        loop(function, (1 << 63) - 1, lambda _index: None)

    started = time.monotonic()
    timer = threading.Timer(0.2, _thread.interrupt_main)
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        Kernel(build)(grid=2, together=True)
    assert time.monotonic() - started < 4


# --- operations as data -----------------------------------------------------------------------------------------------


def test_operations_survive_as_plain_data():
    source = Source("k.pto", "line one\nline two\n")
    place, scope = source.location(9, 4), source.location(0, 8)
    operation = HandedOperation("set_flag", Site("pto.set_flag", place, Pipe.MTE2, scope), ("MTE2", "V", None), 2, 1)
    again = operation_from_json(operation.to_json(), source)
    assert (again.method, again.arguments, again.loops, again.captured) == ("set_flag", ("MTE2", "V", None), 2, 1)
    assert (again.site.name, again.site.pipe, again.site.location, again.site.scope) == (
        "pto.set_flag",
        Pipe.MTE2,
        place,
        scope,
    )
    assert again.site.location.source is source
    bare = operation_from_json(HandedOperation("barrier", Site("pto.barrier"), ("ALL",)).to_json(), source)
    assert bare.site.location is None and bare.site.pipe is Pipe.S


def test_every_method_exists_on_a_core():
    from ptosim.machine.core import Core

    for method in METHODS:
        assert callable(getattr(Core, method))


def test_captured_floats_keep_their_bits():
    def build(kernel: Kernel, function: FunctionBuilder) -> None:
        kernel.sync(function, "wait_flag", "MTE2", "V", 0)
        number = host_address(function, kernel.argument(function, 0), 4, 0).load(F32)

        def write(body: FunctionBuilder, out: Value, value: Value) -> None:
            host_address(body, out + 4, 4, 0).store(value)

        kernel.entry(function, Pipe.V, [kernel.argument(function, 0), number], write)
        kernel.sync(function, "set_flag", "MTE2", "V", 0)

    data = np.array([-1.25e-38, 0], np.float32)
    Kernel(build)(data)
    assert data[1] == data[0]


# --- threads ----------------------------------------------------------------------------------------------------------


def test_the_crew_grows_to_what_works_at_once_and_no_further():
    crew = Crew()
    gate = threading.Event()
    seen: set[int] = set()

    def work() -> None:
        seen.add(threading.get_ident())
        gate.wait(10)

    ends = [crew.begin(work) for _ in range(3)]
    gate.set()
    assert all(end.wait(10) for end in ends)
    assert len(seen) == 3
    for _ in range(20):
        assert crew.begin(work).wait(10)
    assert len(seen) == 3


def test_a_forked_process_has_a_crew_of_its_own():
    code = """
import os, sys
from ptosim.native.run.crew import crew
assert crew().begin(lambda: None).wait(10)
child = os.fork()
if child == 0:
    os._exit(0 if crew().begin(lambda: None).wait(10) else 1)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True, timeout=30)


def test_running_a_cached_kernel_imports_neither_xdsl_nor_numpy():
    code = (
        "import sys, ptosim.native.run.runtime, ptosim.native.host.toolchain, ptosim.native.host.cache; "
        "print([m for m in ('xdsl', 'numpy') if m in sys.modules])"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert shown == "[]\n"
