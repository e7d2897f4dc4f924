"""The one meaning of "program" order: turns, stalled pipes, what a set drains, full queues; how runs are stopped."""

import threading
import time
from collections.abc import Callable

import pytest

from machine.stage import A5, ALL, FIX, MTE1, MTE2, MTE3, Log, M, S, V, at, mixed, run
from ptosim.diagnostics import PTOError
from ptosim.machine.core import Core
from ptosim.machine.launch import KernelKind, LaunchGeometry
from ptosim.machine.scheduler import Scheduler, Stop, Stopped
from ptosim.machine.sync import QUEUE_LIMIT, SLOW, Form

MIXED = KernelKind.MIXED


def test_cores_run_one_after_another_in_order() -> None:
    log = Log()

    def program(core: Core) -> None:
        for step in range(3):
            log.append(f"{core.role} {step}")

    run(program, kind=MIXED)
    assert log == [f"{role} {step}" for role in ("aic", "aiv0", "aiv1") for step in range(3)]


def test_a_single_core_runs_in_the_callers_thread() -> None:
    threads: list[threading.Thread] = []
    for kind in (KernelKind.VECTOR, KernelKind.CUBE):
        run(lambda core: threads.append(threading.current_thread()), kind=kind)
    assert threads == [threading.current_thread()] * 2


def test_an_unsatisfied_wait_passes_the_turn_to_the_next_core_that_can_go_on() -> None:
    log = Log()

    def aic(core: Core) -> None:
        log.append("aic 0")
        core.semaphore_wait(at(1), MTE1, 0)  # from aiv0
        log.append("aic 1")
        core.semaphore_wait(at(2), MTE1, 16)  # from aiv1
        log.append("aic 2")

    def aiv0(core: Core) -> None:
        log.append("aiv0 0")
        core.semaphore_set(at(3), MTE3, 0)
        log.append("aiv0 1")  # a set does not give the turn away
        core.semaphore_wait(at(4), MTE3, 5)
        log.append("aiv0 2")

    def aiv1(core: Core) -> None:
        log.append("aiv1 0")
        core.semaphore_wait(at(5), MTE3, 6)
        log.append("aiv1 1")
        core.semaphore_set(at(6), MTE3, 0)

    with pytest.raises(PTOError):
        run(mixed(aic, aiv0, aiv1), kind=MIXED)
    # aiv0 suspends, then aiv1, then aic can go on; at its second wait nobody can, and the turn looks for a wait that
    # holds only a pipe, beginning behind aic: aiv0 runs ahead to its end, then aiv1 does and sets.
    assert log == ["aic 0", "aiv0 0", "aiv0 1", "aiv1 0", "aic 1", "aiv0 2", "aiv1 1", "aic 2"]


def test_a_core_that_can_go_on_comes_before_one_that_would_have_to_stall() -> None:
    log = Log()

    def aic(core: Core) -> None:
        core.semaphore_wait(at(1), MTE1, 0)
        log.append("aic")

    def aiv0(core: Core) -> None:
        log.append("aiv0")

    def aiv1(core: Core) -> None:
        log.append("aiv1")

    with pytest.raises(PTOError):
        run(mixed(aic, aiv0, aiv1), kind=MIXED)
    assert log == ["aiv0", "aiv1", "aic"]


def test_a_flag_suspends_the_core_too_although_only_its_pipe_waits() -> None:
    """In a cluster the whole core stands still at an unsatisfied flag as long as another core can go on."""
    log = Log()

    def aic(core: Core) -> None:
        core.wait_flag(at(1), MTE1, M, 0)
        log.append("aic goes on")
        core.set_flag(at(2), MTE1, M, 0)

    run(mixed(aic, lambda core: log.append("aiv0"), lambda core: log.append("aiv1")), kind=MIXED)
    assert log == ["aiv0", "aiv1", "aic goes on"]


def test_a_signal_before_the_copy_it_should_follow() -> None:
    """The public round trip without a flag from MTE1 to FIX: queues per pipe would let FIX signal before the copy."""
    cell = [0]
    stored: list[int] = []

    def aic(core: Core) -> None:
        core.semaphore_wait(at(1), MTE1, 0)
        core.work(MTE1, at(2), lambda: cell.__setitem__(0, 7))
        core.semaphore_set(at(3), FIX, 1)

    def aiv0(core: Core) -> None:
        core.semaphore_set(at(4), MTE3, 0)
        core.semaphore_wait(at(5), MTE3, 1)
        core.work(MTE3, at(6), lambda: cell[0], stored.append)

    run(mixed(aic, aiv0), kind=MIXED)
    assert stored == [7]
    stored.clear()
    cell[0] = 0
    run(mixed(aic, aiv0), kind=MIXED, schedule="delay:MTE1")
    assert stored == [0]


def test_a_set_of_another_core_drains_a_stalled_pipe_before_that_core_goes_on() -> None:
    log = Log()

    def aic(core: Core) -> None:
        core.semaphore_wait(at(1), ALL, 0)  # the SU stops: it cannot run ahead
        log.append("aic before")
        core.semaphore_set(at(2), FIX, 1)
        log.append("aic after")

    def aiv0(core: Core) -> None:
        core.semaphore_wait(at(3), MTE3, 1)
        log.work(core, MTE3, "aiv0 store")
        core.semaphore_set(at(4), V, 0)
        log.append("aiv0 end")

    run(mixed(aic, aiv0), kind=MIXED)
    assert log == ["aiv0 end", "aic before", "aiv0 store", "aic after"]


def test_draining_is_depth_first() -> None:
    log = Log()

    def program(core: Core) -> None:
        core.wait_flag(at(1), S, MTE2, 0)
        core.wait_flag(at(2), MTE2, V, 0)
        core.wait_flag(at(3), V, MTE3, 0)
        log.work(core, MTE2, "a1")
        core.set_flag(at(4), MTE2, V, 0)
        log.work(core, MTE2, "a2")
        log.work(core, V, "b1")
        core.set_flag(at(5), V, MTE3, 0)
        log.work(core, V, "b2")
        log.work(core, MTE3, "c")
        core.set_flag(at(6), S, MTE2, 0)
        log.append("su")

    run(program)
    assert log == ["a1", "b1", "c", "b2", "a2", "su"]


def test_one_arrival_frees_pipes_of_many_blocks() -> None:
    """Every block waits on V and then arrives from MTE3: the last arrival frees one pipe of each of 300 blocks."""
    blocks = 300
    log: list[int] = []

    def program(core: Core) -> None:
        core.semaphore_wait(at(1), V, 0, Form.CROSS_BLOCK)
        core.work(V, at(2), lambda: log.append(core.block))
        core.semaphore_set(at(3), MTE3, 0, Form.CROSS_BLOCK)

    run(program, blocks=blocks, together=True)
    assert sorted(log) == list(range(blocks))


def test_pipes_of_one_core_pass_a_token_round_many_times() -> None:
    """MTE2 waits for V and V for MTE2, 2,000 times, all queued before the set that lets them go."""
    rounds = 2000
    log = Log()

    def program(core: Core) -> None:
        core.wait_flag(at(1), S, V, 0)
        core.set_flag(at(2), V, MTE2, 0)
        for _ in range(rounds):
            core.wait_flag(at(3), V, MTE2, 0)
            core.work(MTE2, at(4), lambda: "a", log.append)
            core.set_flag(at(5), MTE2, V, 0)
            core.wait_flag(at(6), MTE2, V, 0)
            core.work(V, at(7), lambda: log.append("b"))
            core.set_flag(at(8), V, MTE2, 0)
        assert log == [] and core.words[SLOW] == 2
        core.set_flag(at(9), S, V, 0)
        assert core.words[SLOW] == 0

    run(program)
    assert log == ["a", "b"] * rounds


def fill(core: Core, entries: int) -> None:
    core.wait_flag(at(1), S, V, 0)
    for _ in range(entries):
        core.work(V, at(2, "scope"), lambda: None)
    core.set_flag(at(3), S, V, 0)


def test_a_full_queue_stops_the_scalar_unit() -> None:
    run(lambda core: fill(core, QUEUE_LIMIT - 1))  # the wait is an entry too
    with pytest.raises(PTOError) as caught:
        run(lambda core: fill(core, QUEUE_LIMIT), reachable=lambda core, key: True)
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.kind == "deadlock"
    assert any(f"the queue of V is full ({QUEUE_LIMIT} entries)" in note for note in diagnostic.notes)


def test_another_core_can_make_room_in_a_full_queue() -> None:
    done: list[int] = []
    log = Log()

    def aic(core: Core) -> None:
        core.semaphore_wait(
            at(1), ALL, 16
        )  # so that aiv0 comes to its wait, and then has the first chance to run ahead
        core.semaphore_wait(at(2), MTE1, 5)
        log.append(f"aic goes on with {len(done)} done")
        core.semaphore_set(at(3), FIX, 0)

    def aiv0(core: Core) -> None:
        core.semaphore_wait(at(4), V, 0)
        for step in range(QUEUE_LIMIT + 10):
            core.work(V, at(5), lambda step=step: done.append(step))
        core.semaphore_set(at(6), V, 5)

    def aiv1(core: Core) -> None:
        core.semaphore_set(at(7), MTE3, 0)

    run(mixed(aic, aiv0, aiv1), kind=MIXED)
    assert log == ["aic goes on with 0 done"]
    assert done == list(range(QUEUE_LIMIT + 10))


def test_work_is_called_directly_when_nothing_is_stalled() -> None:
    calls: list[object] = []

    def program(core: Core) -> None:
        core.work(V, at(1), lambda: calls.append("start"))
        core.work(MTE2, at(2), lambda: 5, calls.append)
        assert all(queue.issued == 0 for queue in core.queues.values())

    run(program)
    assert calls == ["start", 5]


@pytest.mark.parametrize("kind", [KernelKind.VECTOR, MIXED])
def test_an_error_in_a_program_or_in_work_reaches_the_caller(kind: KernelKind) -> None:
    def broken_program(core: Core) -> None:
        raise ZeroDivisionError

    def broken_work(core: Core) -> None:
        core.work(MTE2, at(1), lambda: 1 // 0)

    def broken_queued_work(core: Core) -> None:
        core.wait_flag(at(1), S, MTE2, 0)
        core.work(MTE2, at(2), lambda: 1 // 0)
        core.set_flag(at(3), S, MTE2, 0)

    for program in (broken_program, broken_work, broken_queued_work):
        with pytest.raises(ZeroDivisionError):
            run(program, kind=kind)
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("b0.")]


def stopping(kind: KernelKind, program: Callable[[Core, Scheduler], None]) -> float:
    """Seconds from the request to stop until the run has unwound."""
    stop = Stop()
    requested: list[float] = []

    def request() -> None:
        time.sleep(0.1)
        requested.append(time.monotonic())
        stop.request()

    scheduler = Scheduler(A5, LaunchGeometry(kind, 1), lambda core: program(core, scheduler), stop=stop)
    helper = threading.Thread(target=request)
    helper.start()
    with pytest.raises(Stopped):
        scheduler.run_block(0)
    helper.join()
    return time.monotonic() - requested[0]


def endless(core: Core, scheduler: Scheduler) -> None:
    while True:
        if scheduler.stopping:
            raise Stopped


@pytest.mark.parametrize("kind", [KernelKind.VECTOR, MIXED])
def test_a_stop_unwinds_a_program_that_polls(kind: KernelKind) -> None:
    assert stopping(kind, endless) < 1
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("b0.")]


def test_a_stop_unwinds_cores_that_exchange_the_turn() -> None:
    def exchange(core: Core, scheduler: Scheduler) -> None:
        while True:
            if core.role == "aic":
                core.semaphore_set(at(1), FIX, 0)
                core.semaphore_wait(at(2), ALL, 0)
            elif core.role == "aiv0":
                core.semaphore_wait(at(3), ALL, 0)
                core.semaphore_set(at(4), MTE3, 0)
            else:
                return

    assert stopping(MIXED, exchange) < 1


def test_ctrl_c_is_heard_while_cores_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """The waiting thread gets KeyboardInterrupt; the programs unwind; the interrupt goes on to the caller."""
    scheduler = Scheduler(A5, LaunchGeometry(MIXED, 1), lambda core: endless(core, scheduler))

    def interrupted() -> bool:
        raise KeyboardInterrupt

    monkeypatch.setattr(scheduler, "_ends", interrupted)
    with pytest.raises(KeyboardInterrupt):
        scheduler.run_block(0)
    assert scheduler.stopping
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("b0.")]


def test_a_scheduler_can_run_another_block_after_a_failure() -> None:
    log = Log()

    def program(core: Core) -> None:
        if core.block == 0:
            core.wait_flag(at(1), S, V, 0)
            core.semaphore_set(at(2), MTE2, 0)
        log.append(core.name)

    scheduler = Scheduler(A5, LaunchGeometry(KernelKind.VECTOR, 2), program)
    with pytest.raises(PTOError):
        scheduler.run_block(0)
    scheduler.run_block(1)
    assert log == ["b0.aiv0", "b1.aiv0"]
    assert scheduler.cores[0].words[SLOW] == 0 and not any(scheduler.cores[0].cluster_words)


def test_too_many_interacting_cores_for_the_computer(monkeypatch: pytest.MonkeyPatch) -> None:
    start = threading.Thread.start

    def refuse(thread: threading.Thread) -> None:
        if thread.name == "b2.aiv0":
            raise RuntimeError("can't start new thread")
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", refuse)
    with pytest.raises(PTOError, match=r"limit: the computer has no thread left for b2\.aiv0: 4 cores interact"):
        run(lambda core: core.syncall(at(1), frozenset({core.kind})), blocks=4, together=True)


@pytest.mark.parametrize("schedule", ["", "random", "random:x", "random:-1", "delay:", "delay:ALL", "delay:X", "fast"])
def test_unknown_schedules(schedule: str) -> None:
    with pytest.raises(PTOError, match="argument"):
        run(lambda core: None, schedule=schedule)


def test_random_schedules_repeat_and_differ() -> None:
    def orders(seed: int) -> str:
        log = Log()

        def program(core: Core) -> None:
            for word in "abcdefgh":
                log.work(core, MTE2, word)
                log.work(core, V, word.upper())

        run(program, schedule=f"random:{seed}")
        return "".join(log)

    assert [orders(seed) for seed in range(5)] == [orders(seed) for seed in range(5)]
    assert len({orders(seed) for seed in range(20)}) > 10
