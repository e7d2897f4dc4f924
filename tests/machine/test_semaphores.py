"""Semaphores between cores: who reaches whom on each target, rendezvous, and the forms without a pipe."""

import pytest

from machine.stage import A2A3, A5, ALL, CUBE_AND_VECTOR, FIX, MTE1, MTE2, MTE3, Log, M, S, V, at, mixed, run
from ptosim.diagnostics import PTOError
from ptosim.effects.names import CoreKind, Pipe
from ptosim.machine.core import Core
from ptosim.machine.launch import KernelKind
from ptosim.machine.sync import SEMAPHORE_IDS, TO_AIC, TO_AIV, Form

MIXED = KernelKind.MIXED
QUEUED = [*(f"random:{seed}" for seed in range(10)), "delay:V", "delay:MTE3", "delay:FIX", "delay:S"]


def changed_words(program, target) -> dict[int, int]:
    """The semaphore words that are not 0 after a run."""
    scheduler = run(program, kind=MIXED, target=target)
    words = scheduler.cores[0].cluster_words
    return {index: words[index] for index in range(TO_AIV, len(words)) if words[index]}


def signal(pipe: Pipe, *numbers: int, form: Form = Form.SYNC):
    def program(core: Core) -> None:
        for number in numbers:
            core.semaphore_set(at(1), pipe, number, form)

    return program


def to_aiv(k: int, f: int) -> int:
    return TO_AIV + k * SEMAPHORE_IDS + f


def to_aic(k: int, f: int) -> int:
    return TO_AIC + k * SEMAPHORE_IDS + f


@pytest.mark.parametrize("form", [Form.SYNC, Form.INTRA_BLOCK])
def test_a5_sets(form: Form) -> None:
    assert changed_words(mixed(aic=signal(FIX, 0, 15, form=form)), A5) == {to_aiv(0, 0): 1, to_aiv(0, 15): 1}
    assert changed_words(mixed(aic=signal(FIX, 16, 17, 31, form=form)), A5) == {
        to_aiv(1, 0): 1,
        to_aiv(1, 1): 1,
        to_aiv(1, 15): 1,
    }
    assert changed_words(mixed(aiv0=signal(MTE3, 3, form=form)), A5) == {to_aic(0, 3): 1}
    assert changed_words(mixed(aiv1=signal(MTE3, 3, form=form)), A5) == {to_aic(1, 3): 1}
    assert changed_words(mixed(aiv1=signal(MTE3, 19, form=form)), A5) == {to_aic(1, 3): 1}  # AIV1 may add 16


@pytest.mark.parametrize("form", [Form.SYNC, Form.CROSS_CORE])
def test_a2a3_sets(form: Form) -> None:
    assert changed_words(mixed(aic=signal(FIX, 2, form=form)), A2A3) == {to_aiv(0, 2): 1, to_aiv(1, 2): 1}
    assert changed_words(mixed(aiv0=signal(V, 2, form=form)), A2A3) == {to_aic(0, 2): 1}
    assert changed_words(mixed(aiv1=signal(MTE2, 15, form=form)), A2A3) == {to_aic(1, 15): 1}
    assert changed_words(mixed(aic=signal(M, 2, form=form)), A2A3) == {to_aiv(0, 2): 1, to_aiv(1, 2): 1}


WAITS_A5 = [  # who waits for which id, what must be set by whom
    ("aiv0", MTE3, 5, "aic", FIX, 5),
    ("aiv1", MTE3, 5, "aic", FIX, 21),
    ("aiv1", MTE3, 21, "aic", FIX, 21),
    ("aic", MTE1, 5, "aiv0", MTE3, 5),
    ("aic", MTE1, 21, "aiv1", MTE3, 5),
    ("aic", MTE1, 21, "aiv1", MTE3, 21),
]


@pytest.mark.parametrize(("waiter", "wait_pipe", "waited", "setter", "set_pipe", "number"), WAITS_A5)
def test_a5_waits(waiter: str, wait_pipe: Pipe, waited: int, setter: str, set_pipe: Pipe, number: int) -> None:
    def wait(core: Core) -> None:
        core.semaphore_wait(at(1), wait_pipe, waited)

    def set_number(value: int):
        return mixed(**{waiter: wait, setter: signal(set_pipe, value)})

    assert changed_words(set_number(number), A5) == {}
    with pytest.raises(PTOError, match="unmatched-wait"):
        changed_words(set_number((number + 1) % 16), A5)


def test_a2a3_reduce_needs_both_vector_cores() -> None:
    def wait(core: Core) -> None:
        core.semaphore_wait(at(1), MTE1, 4)

    assert changed_words(mixed(wait, signal(MTE3, 4), signal(MTE3, 4)), A2A3) == {}
    with pytest.raises(PTOError, match=r"semaphore aiv1 -> aic id 4"):
        changed_words(mixed(wait, signal(MTE3, 4, 4), None), A2A3)  # two sets of one core do not make up for the other


def test_a2a3_broadcast_serves_both_vector_cores() -> None:
    def wait(core: Core) -> None:
        core.semaphore_wait(at(1), V, 4)

    assert changed_words(mixed(signal(FIX, 4), wait, wait), A2A3) == {}
    assert changed_words(mixed(signal(FIX, 4), wait, None), A2A3) == {to_aiv(1, 4): 1}


@pytest.mark.parametrize("schedule", ["program", *QUEUED])
def test_the_published_exchange(schedule: str) -> None:
    """Both vector cores signal 0; the cube core waits for 0 and 16 and answers 1 and 17; both wait for 1."""
    log = Log()

    def aic(core: Core) -> None:
        core.semaphore_wait(at(1), MTE1, 0)
        core.semaphore_wait(at(2), MTE1, 16)
        log.work(core, MTE1, "exchange")
        core.set_flag(at(3), MTE1, FIX, 0)
        core.wait_flag(at(4), MTE1, FIX, 0)
        core.semaphore_set(at(5), FIX, 1)
        core.semaphore_set(at(6), FIX, 17)

    def aiv(core: Core) -> None:
        log.work(core, MTE3, f"{core.role} writes")
        core.semaphore_set(at(7), MTE3, 0)
        core.semaphore_wait(at(8), MTE3, 1)
        core.barrier(at(9), ALL)
        log.append(f"{core.role} ends")

    run(mixed(aic, aiv, aiv), kind=MIXED, schedule=schedule)
    assert sorted(log[:2]) == ["aiv0 writes", "aiv1 writes"]
    assert log[2] == "exchange"
    assert sorted(log[3:]) == ["aiv0 ends", "aiv1 ends"]


def test_an_a5_wait_holds_one_pipe_an_a2a3_wait_the_core() -> None:
    """The AIV waits on MTE3 and only then sets, from V, what the AIC needs before it answers."""

    def aic(core: Core) -> None:
        core.semaphore_wait(at(1), MTE1, 0)
        core.set_flag(at(2), MTE1, FIX, 0)
        core.wait_flag(at(3), MTE1, FIX, 0)
        core.semaphore_set(at(4), FIX, 1)

    def aiv(core: Core) -> None:
        core.semaphore_wait(at(5), MTE3, 1)
        core.semaphore_set(at(6), V, 0)

    run(mixed(aic, aiv), kind=MIXED, target=A5)
    with pytest.raises(PTOError) as caught:
        run(mixed(aic, aiv, aiv), kind=MIXED, target=A2A3, reachable=lambda core, key: True)
    assert caught.value.diagnostics[0].kind == "deadlock"


ILLEGAL = [  # target, core, pipe, id, form, kind
    (A5, "aic", FIX, 32, Form.SYNC, "id-range"),
    (A5, "aic", FIX, -1, Form.SYNC, "id-range"),
    (A5, "aiv0", MTE3, 16, Form.SYNC, "id-range"),
    (A5, "aiv1", MTE3, 32, Form.SYNC, "id-range"),
    (A2A3, "aic", FIX, 16, Form.SYNC, "id-range"),
    (A2A3, "aiv1", MTE3, 16, Form.SYNC, "id-range"),
    (A5, "aic", FIX, 16, Form.CROSS_BLOCK, "id-range"),
    (A5, "aiv1", MTE3, 16, Form.CROSS_BLOCK, "id-range"),
    (A5, "aic", FIX, 0, Form.CROSS_CORE, "wrong-target"),
    (A2A3, "aic", FIX, 0, Form.INTRA_BLOCK, "wrong-target"),
    (A5, "aiv0", FIX, 0, Form.SYNC, "wrong-pipe"),
    (A5, "aic", V, 0, Form.SYNC, "wrong-pipe"),
    (A5, "aic", S, 0, Form.SYNC, "wrong-pipe"),
    (A2A3, "aic", FIX, 0, Form.VECTOR_PAIR, "wrong-pipe"),
]


@pytest.mark.parametrize(("target", "role", "pipe", "number", "form", "kind"), ILLEGAL)
def test_illegal_operands(target, role: str, pipe: Pipe, number: int, form: Form, kind: str) -> None:
    for instruction in ("semaphore_set", "semaphore_wait"):

        def program(core: Core, name: str = instruction) -> None:
            getattr(core, name)(at(9), pipe, number, form)

        with pytest.raises(PTOError) as caught:
            run(mixed(**{role: program}), kind=MIXED, target=target)
        (diagnostic,) = caught.value.diagnostics
        assert (diagnostic.kind, diagnostic.line, diagnostic.core) == (kind, 9, f"b0.{role}")


def test_the_hint_for_a_cube_id_on_aiv0() -> None:
    with pytest.raises(PTOError) as caught:
        run(mixed(aiv0=signal(MTE3, 17)), kind=MIXED)
    assert caught.value.diagnostics[0].hint == ("a vector core counts from 0: id 17 of the cube core is 1 on aiv1")


@pytest.mark.parametrize("target", [A5, A2A3])
def test_the_sixteenth_outstanding_set_overflows(target) -> None:
    assert changed_words(mixed(aiv0=signal(MTE3, *[1] * 15)), target) == {to_aic(0, 1): 15}
    with pytest.raises(PTOError, match="semaphore-overflow"):
        changed_words(mixed(aiv0=signal(MTE3, *[1] * 16)), target)


@pytest.mark.parametrize("target", [A5, A2A3])
def test_the_two_vector_cores_meet(target) -> None:
    log = Log()

    def aiv(core: Core) -> None:
        for step in range(3):
            log.append(f"{core.role} {step}")
            core.semaphore_set(at(1), MTE3, 2, Form.VECTOR_PAIR)
            core.semaphore_wait(at(2), ALL, 2, Form.VECTOR_PAIR)

    run(mixed(None, aiv, aiv), kind=MIXED, target=target)
    assert [word[-1] for word in log] == ["0", "0", "1", "1", "2", "2"]


@pytest.mark.parametrize("schedule", ["program", *QUEUED])
def test_a_set_without_a_pipe_speaks_for_all_pipes(schedule: str) -> None:
    log = Log()

    def aiv(core: Core) -> None:
        core.wait_flag(at(1), S, V, 0)
        for pipe in (MTE2, V, MTE3):
            log.work(core, pipe, pipe)
        core.semaphore_set(at(2), ALL, 0, Form.INTRA_BLOCK)
        log.work(core, V, "later")
        core.set_flag(at(3), S, V, 0)

    def aic(core: Core) -> None:
        core.semaphore_wait(at(4), ALL, 0, Form.INTRA_BLOCK)
        log.append("aic")

    run(mixed(aic, aiv), kind=MIXED, schedule=schedule)
    assert set(log[: log.index("aic")]) >= {"MTE2", "V", "MTE3"}


@pytest.mark.parametrize("schedule", ["program", *QUEUED])
def test_a_wait_without_a_pipe_stops_the_scalar_unit(schedule: str) -> None:
    def aic(core: Core) -> None:
        core.semaphore_wait(at(1), ALL, 0, Form.INTRA_BLOCK)
        core.semaphore_set(at(2), FIX, 1)

    def aiv_waiting_on(pipe: Pipe):
        def aiv(core: Core) -> None:
            core.semaphore_wait(at(3), pipe, 1, Form.INTRA_BLOCK)
            core.semaphore_set(at(4), V, 0)

        return aiv

    run(mixed(aic, aiv_waiting_on(MTE3)), kind=MIXED, schedule=schedule)
    with pytest.raises(PTOError):
        run(mixed(aic, aiv_waiting_on(ALL)), kind=MIXED, schedule=schedule)


@pytest.mark.parametrize("schedule", ["program", "random:1", "random:2", "delay:MTE3"])
@pytest.mark.parametrize("target", [A5, A2A3])
def test_cross_block_barrier(target, schedule: str) -> None:
    """Every block writes, meets, and then reads what all the others wrote; twice."""
    blocks = 4
    cells = [0] * blocks
    sums: list[int] = []

    def program(core: Core) -> None:
        for step in (1, 2):
            core.work(MTE3, at(1), lambda s=step: s, lambda value: cells.__setitem__(core.block, value))
            core.semaphore_set(at(2), MTE3, 0, Form.CROSS_BLOCK)
            core.semaphore_wait(at(3), MTE2, 0, Form.CROSS_BLOCK)
            core.work(MTE2, at(4), lambda: sum(cells), sums.append)
            core.set_flag(at(5), MTE2, MTE3, 0)
            core.wait_flag(at(6), MTE2, MTE3, 0)
            core.semaphore_set(at(7), MTE3, 1, Form.CROSS_BLOCK)
            core.semaphore_wait(at(8), MTE3, 1, Form.CROSS_BLOCK)

    run(program, target=target, blocks=blocks, together=True, schedule=schedule)
    assert sums == [4] * 4 + [8] * 4


def test_cross_block_members_are_the_cores_of_one_kind() -> None:
    log = Log()

    def aiv(core: Core) -> None:
        log.append("before")
        core.semaphore_set(at(1), MTE3, 0, Form.CROSS_BLOCK)
        core.semaphore_wait(at(2), ALL, 0, Form.CROSS_BLOCK)
        log.append("after")

    run(mixed(None, aiv, aiv), kind=MIXED, blocks=3, together=True)  # the cube cores take no part
    assert log == ["before"] * 6 + ["after"] * 6


def test_a_cross_block_wait_with_an_absent_block_is_stuck() -> None:
    def program(core: Core) -> None:
        if core.block != 1:
            core.semaphore_set(at(1), MTE3, 0, Form.CROSS_BLOCK)
        core.semaphore_wait(at(2), MTE3, 0, Form.CROSS_BLOCK)

    with pytest.raises(PTOError, match="cross-block all aiv -> all aiv id 0"):
        run(program, blocks=3, together=True)


@pytest.mark.parametrize("kinds", [frozenset({CoreKind.AIV}), CUBE_AND_VECTOR])
@pytest.mark.parametrize("schedule", ["program", "random:5", "delay:V"])
def test_syncall(kinds: frozenset[CoreKind], schedule: str) -> None:
    log = Log()

    def program(core: Core) -> None:
        if core.kind is CoreKind.AIV:
            log.work(core, V, "before")
            core.barrier(at(2), ALL)
        core.syncall(at(1), kinds)
        if core.kind is CoreKind.AIV:
            log.append("after")

    run(program, kind=MIXED, blocks=2, together=True, schedule=schedule)
    assert log == ["before"] * 4 + ["after"] * 4


def test_blocks_do_not_see_each_others_signals() -> None:
    def program(core: Core) -> None:
        if core.kind is CoreKind.AIC and core.block == 0:
            core.semaphore_set(at(1), FIX, 0)
        if core.role == "aiv0" and core.block == 1:
            core.semaphore_wait(at(2), MTE3, 0)

    with pytest.raises(PTOError, match="unmatched-wait"):
        run(program, kind=MIXED, blocks=2)
    with pytest.raises(PTOError, match="unmatched-wait"):
        run(program, kind=MIXED, blocks=2, together=True)
