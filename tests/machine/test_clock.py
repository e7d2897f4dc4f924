"""Completed prefixes: which ends are known before which starts."""

import pytest

from machine.stage import A2A3, ALL, FIX, MTE1, MTE2, MTE3, M, Recorder, S, V, at, mixed, run
from ptosim.effects.names import UB, Pipe
from ptosim.effects.sync import FenceReach
from ptosim.machine.clock import clock_index, joined, ordered
from ptosim.machine.core import Core
from ptosim.machine.entry import Clock
from ptosim.machine.launch import KernelKind
from ptosim.machine.sync import Form
from tables import table

MIXED = KernelKind.MIXED


def work(core: Core, pipe: Pipe, line: int) -> None:
    core.work(pipe, at(line), lambda: None, (lambda payload: None) if pipe in (MTE2, MTE3) else None)


class Order:
    """After a run: `order(a, b)` asks whether the end of line a is known before the start of line b."""

    def __init__(self, program, **options) -> None:
        self.recorder = Recorder()
        run(program, observer=self.recorder, **options)
        assert not self.recorder.deadlocks

    def __call__(self, first: int, second: int) -> bool:
        return ordered(self.recorder.entry(first), self.recorder.entry(second))


def test_pipes_are_not_ordered_by_program_order() -> None:
    def program(core: Core) -> None:
        work(core, MTE2, 1)
        work(core, V, 2)

    order = Order(program)
    assert not order(1, 2) and not order(2, 1)


def test_a_flag_orders_two_pipes() -> None:
    def program(core: Core) -> None:
        work(core, MTE2, 1)
        core.set_flag(at(10), MTE2, V, 0)
        work(core, MTE2, 2)
        work(core, V, 3)
        core.wait_flag(at(11), MTE2, V, 0)
        work(core, V, 4)

    order = Order(program)
    assert order(1, 4)
    assert not order(2, 4)  # issued before the wait, but behind the set
    assert not order(1, 3)  # the wait says nothing about what stands before it


@pytest.mark.parametrize("pipe", [MTE2, MTE3])
def test_one_flag_does_not_order_its_own_pipe_and_a_round_trip_does(pipe: Pipe) -> None:
    def program(core: Core) -> None:
        work(core, pipe, 1)
        core.set_flag(at(10), pipe, V, 0)
        core.wait_flag(at(11), pipe, V, 0)
        work(core, pipe, 2)
        core.set_flag(at(12), V, pipe, 0)
        core.wait_flag(at(13), V, pipe, 0)
        work(core, pipe, 3)

    order = Order(program)
    assert not order(1, 2)
    assert order(1, 3)
    assert not order(2, 3)  # issued after the set of the round trip


def test_serial_pipes_are_in_order() -> None:
    def program(core: Core) -> None:
        work(core, V, 1)
        work(core, V, 2)

    order = Order(program)
    assert order(1, 2) and not order(2, 1)


@pytest.mark.parametrize(("pipe", "expected"), [(MTE3, True), (ALL, True), (MTE2, False), (S, False)])
def test_a_barrier_orders_its_own_pipe(pipe: Pipe, expected: bool) -> None:
    def program(core: Core) -> None:
        work(core, MTE3, 1)
        core.barrier(at(10), pipe)
        work(core, MTE3, 2)

    assert Order(program)(1, 2) is expected


def test_barrier_all_orders_all_pipes() -> None:
    def program(core: Core) -> None:
        work(core, MTE2, 1)
        work(core, V, 2)
        core.barrier(at(10), ALL)
        work(core, MTE3, 3)

    order = Order(program)
    assert order(1, 3) and order(2, 3)


def test_happens_before_is_transitive_over_pipes() -> None:
    def program(core: Core) -> None:
        work(core, MTE2, 1)
        core.set_flag(at(10), MTE2, V, 0)
        core.wait_flag(at(11), MTE2, V, 0)
        core.set_flag(at(12), V, MTE3, 0)
        core.wait_flag(at(13), V, MTE3, 0)
        work(core, MTE3, 2)

    assert Order(program)(1, 2)


def test_a_buffer_release_orders_the_next_get_on_another_pipe() -> None:
    def program(core: Core) -> None:
        core.get_buffer(at(10), MTE2, 0)
        work(core, MTE2, 1)
        core.release_buffer(at(11), MTE2, 0)
        core.get_buffer(at(12), V, 0)
        work(core, V, 2)
        core.release_buffer(at(13), V, 0)
        core.get_buffer(at(14), MTE2, 0)
        work(core, MTE2, 3)
        core.release_buffer(at(15), MTE2, 0)
        work(core, V, 4)

    order = Order(program)
    assert order(1, 2) and order(2, 3) and order(1, 3)
    assert not order(3, 4)


def test_mode_1_release_tells_of_the_bracketed_entries_of_all_pipes() -> None:
    def program(core: Core) -> None:
        core.get_buffer(at(10), MTE2, 0, mode=1)
        work(core, MTE2, 1)
        core.release_buffer(at(11), MTE2, 0, mode=1)
        work(core, MTE2, 2)  # outside
        core.get_buffer(at(12), V, 0, mode=1)
        core.release_buffer(at(13), V, 0, mode=1)
        core.get_buffer(at(14), MTE3, 0)
        work(core, MTE3, 3)

    order = Order(program)
    assert order(1, 3)
    assert not order(2, 3)


# --- the scalar unit --------------------------------------------------------------------------------------------------


def test_a_scalar_load_has_ended_when_later_entries_are_issued() -> None:
    def program(core: Core) -> None:
        core.scalar_load(at(1))
        work(core, V, 2)

    assert Order(program)(1, 2)


def test_a_scalar_store_is_ordered_only_by_a_flag_of_s_by_dsb_or_by_barrier_all() -> None:
    def after(between) -> bool:
        def program(core: Core) -> None:
            core.scalar_store(at(1), UB)
            between(core)
            work(core, V, 2)

        return Order(program)(1, 2)

    def flag(core: Core) -> None:
        core.set_flag(at(10), S, V, 0)
        core.wait_flag(at(11), S, V, 0)

    def flag_to_another_pipe(core: Core) -> None:
        core.set_flag(at(10), S, MTE2, 0)
        core.wait_flag(at(11), S, MTE2, 0)

    def flag_of_another_pipe(core: Core) -> None:
        core.set_flag(at(10), MTE2, V, 0)
        core.wait_flag(at(11), MTE2, V, 0)

    assert not after(lambda core: None)
    assert after(flag)
    assert not after(flag_to_another_pipe)
    assert not after(flag_of_another_pipe)
    assert after(lambda core: core.dsb(at(10)))
    assert after(lambda core: core.dsb(at(10), FenceReach.LOCAL))
    assert not after(lambda core: core.dsb(at(10), FenceReach.GM | FenceReach.PIPES))
    assert not after(lambda core: core.barrier(at(10), ALL, FenceReach.GM))
    assert after(lambda core: core.barrier(at(10), ALL))
    assert not after(lambda core: core.barrier(at(10), S))


def test_a_store_after_the_set_of_s_is_not_covered() -> None:
    def program(core: Core) -> None:
        core.set_flag(at(10), S, V, 0)
        core.scalar_store(at(1), UB)
        core.wait_flag(at(11), S, V, 0)
        work(core, V, 2)

    assert not Order(program)(1, 2)


def test_the_scalar_unit_sees_its_own_stores_and_loads() -> None:
    def program(core: Core) -> None:
        core.scalar_store(at(1), UB)
        core.scalar_load(at(2))
        core.scalar_store(at(3), UB)

    order = Order(program)
    assert order(1, 2) and order(2, 3) and order(1, 3)


def test_a_scalar_access_knows_a_pipe_only_through_a_wait() -> None:
    def program(core: Core) -> None:
        work(core, V, 1)
        core.scalar_load(at(2))
        core.set_flag(at(10), V, S, 0)
        core.wait_flag(at(11), V, S, 0)
        core.scalar_load(at(3))
        work(core, MTE3, 4)  # what the SU has learned, it passes on with every issue

    order = Order(program)
    assert not order(1, 2)
    assert order(1, 3)
    assert order(1, 4)


# --- entries that run later than they were issued ---------------------------------------------------------------------


def test_clocks_follow_execution_not_issue() -> None:
    """V of aiv0 is stalled until all else is done; what the SU learned meanwhile reaches only what it issued later."""

    def aic(core: Core) -> None:
        core.semaphore_wait(at(10), ALL, 16)
        core.semaphore_set(at(11), FIX, 0)
        core.semaphore_set(at(12), FIX, 19)

    def aiv0(core: Core) -> None:
        core.semaphore_wait(at(13), V, 0)
        work(core, V, 1)  # queued
        work(core, MTE2, 2)
        core.set_flag(at(14), MTE2, S, 0)
        core.wait_flag(at(15), MTE2, S, 0)
        work(core, V, 3)  # queued, and knows of line 2

    def aiv1(core: Core) -> None:
        core.semaphore_wait(at(16), MTE3, 3)  # lets aiv0 run ahead first
        core.semaphore_set(at(17), V, 0)

    order = Order(mixed(aic, aiv0, aiv1), kind=MIXED)
    starts = [entry.line for name, entry in order.recorder.events if name == "start"]
    assert starts.index(2) < starts.index(1)
    assert not order(2, 1)
    assert order(2, 3)


def test_a_queued_set_does_not_cover_what_stands_behind_it() -> None:
    def program(core: Core) -> None:
        core.wait_flag(at(10), S, MTE2, 0)
        work(core, MTE2, 1)
        core.set_flag(at(11), MTE2, V, 0)
        work(core, MTE2, 2)
        core.wait_flag(at(12), MTE2, V, 0)
        work(core, V, 3)
        core.set_flag(at(13), S, MTE2, 0)

    order = Order(program)
    assert order(1, 3)
    assert not order(2, 3)


# --- several cores ----------------------------------------------------------------------------------------------------


def test_a_semaphore_carries_what_its_pipe_knows_to_another_core() -> None:
    def aiv(core: Core) -> None:
        work(core, V, 1)
        work(core, MTE2, 2)
        core.set_flag(at(10), V, MTE3, 0)
        core.wait_flag(at(11), V, MTE3, 0)
        core.semaphore_set(at(12), MTE3, 0)

    def aic(core: Core) -> None:
        core.semaphore_wait(at(13), MTE1, 0)
        work(core, MTE1, 3)
        work(core, M, 4)

    order = Order(mixed(aic, aiv), kind=MIXED)
    assert order(1, 3)
    assert not order(2, 3)  # MTE2 was not chained into the signalling pipe
    assert not order(1, 4)  # on an A5 the wait holds MTE1 alone


def test_a_wait_of_the_whole_core_orders_all_its_pipes() -> None:
    def aiv(core: Core) -> None:
        work(core, MTE3, 1)
        core.semaphore_set(at(10), MTE3, 0)

    def aic(core: Core) -> None:
        core.semaphore_wait(at(11), MTE1, 0)
        work(core, M, 2)

    assert Order(mixed(aic, aiv, aiv), kind=MIXED, target=A2A3)(1, 2)


def test_a_set_without_a_pipe_tells_of_all_pipes_and_of_scalar_stores() -> None:
    def aiv(core: Core) -> None:
        work(core, MTE2, 1)
        work(core, V, 2)
        core.scalar_store(at(3), UB)
        core.semaphore_set(at(10), ALL, 0, Form.INTRA_BLOCK)
        work(core, V, 4)

    def aic(core: Core) -> None:
        core.semaphore_wait(at(11), ALL, 0, Form.INTRA_BLOCK)
        work(core, FIX, 5)

    order = Order(mixed(aic, aiv), kind=MIXED)
    assert order(1, 5) and order(2, 5) and order(3, 5)
    assert not order(4, 5)


def test_a_meeting_orders_everyones_past_before_everyones_future() -> None:
    def program(core: Core) -> None:
        work(core, MTE3, 100 + core.block)
        core.semaphore_set(at(10), MTE3, 0, Form.CROSS_BLOCK)
        core.semaphore_wait(at(11), MTE2, 0, Form.CROSS_BLOCK)
        work(core, MTE2, 200 + core.block)
        work(core, V, 300 + core.block)

    order = Order(program, blocks=3, together=True)
    for first in range(3):
        for second in range(3):
            assert order(100 + first, 200 + second)
            assert not order(100 + first, 300 + second)


@pytest.mark.parametrize("drained", [True, False])
def test_syncall_orders_what_was_waited_for(drained: bool) -> None:
    """It drains no pipe, and scalar stores may stay in the cache."""

    def program(core: Core) -> None:
        work(core, V, 100 + core.block)
        core.scalar_store(at(200 + core.block), UB)
        if drained:
            core.barrier(at(9), ALL)
        core.scalar_load(at(400 + core.block))
        core.syncall(at(10), frozenset({core.kind}))
        work(core, MTE2, 300 + core.block)

    order = Order(program, blocks=2, together=True)
    assert order(100, 301) == order(101, 300) == order(200, 301) == drained
    assert order(400, 301) and order(401, 300)


def test_blocks_that_run_apart_are_never_ordered() -> None:
    def program(core: Core) -> None:
        work(core, MTE3, 1 + core.block)
        core.barrier(at(10), ALL)

    order = Order(program, blocks=2)
    assert not order(1, 2) and not order(2, 1)
    first, second = order.recorder.entry(1), order.recorder.entry(2)
    assert clock_index(first.core, MTE3) != clock_index(second.core, MTE3)
    assert (first.core.name, second.core.name) == ("b0.aiv0", "b1.aiv0")


def test_no_clocks_unless_asked_for() -> None:
    recorder = Recorder(wants_clocks=False)
    run(lambda core: work(core, V, 1), observer=recorder)
    assert recorder.entry(1).clock is None


@table(
    "one, other, expected",
    ({1: 3, 2: 4}, {1: 2}, "one"),
    ({1: 2}, {1: 3, 2: 4}, "other"),
    ({1: 3, 2: 4}, {1: 3, 2: 5}, "other"),
    ({1: 3, 2: 5}, {1: 3, 2: 4}, "one"),
    ({1: 3}, {2: 5}, None),
    ({1: 3, 2: 1}, {1: 1, 2: 3}, None),
)
def test_clocks_of_which_one_says_it_all_are_shared(one: Clock, other: Clock, expected: str | None) -> None:
    both = joined(one, other)
    assert both == {index: max(one.get(index, 0), other.get(index, 0)) for index in one | other}
    assert (both is one, both is other) == (expected == "one", expected == "other")
