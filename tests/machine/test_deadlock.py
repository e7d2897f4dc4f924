"""What is said when nothing can go on: kinds, roots, texts, and the data behind them."""

import pytest

from machine.stage import A2A3, ALL, FIX, MTE1, MTE2, MTE3, Recorder, S, V, always, at, mixed, run
from ptosim.diagnostics import PTOError
from ptosim.machine.core import Core
from ptosim.machine.dependence_cycles import bottom_components, reaching
from ptosim.machine.entry import Key
from ptosim.machine.launch import KernelKind

MIXED = KernelKind.MIXED
EVERY_SCHEDULE = ["program", "random:1", "random:2", "delay:V", "delay:MTE2"]


def failure(program, **options) -> PTOError:
    with pytest.raises(PTOError) as caught:
        run(program, **options)
    return caught.value


def unprimed_ping_pong(core: Core) -> None:
    for _ in range(2):
        core.wait_flag(at(10, "pto.wait_flag"), V, MTE2, 0)  # never primed
        core.work(MTE2, at(11, "pto.mte_gm_ub"), lambda: None)
        core.set_flag(at(12, "pto.set_flag"), MTE2, V, 0)
        core.wait_flag(at(20, "pto.wait_flag"), MTE2, V, 0)
        core.work(V, at(21, "pto.vecscope"), lambda: None)
        core.set_flag(at(22, "pto.set_flag"), V, MTE2, 0)
    core.barrier(at(30, "pto.barrier"), ALL)


@pytest.mark.parametrize("schedule", EVERY_SCHEDULE)
def test_unprimed_reverse_wait_is_a_circle_of_two_pipes(schedule: str) -> None:
    (diagnostic,) = failure(unprimed_ping_pong, schedule=schedule).diagnostics
    assert diagnostic.kind == "deadlock" and diagnostic.severity == "error"
    assert diagnostic.message == "b0.aiv0 MTE2, b0.aiv0 V wait for each other"
    assert (diagnostic.line, diagnostic.core, diagnostic.pipe, diagnostic.block) == (10, "b0.aiv0", "MTE2", 0)
    assert [(other.location.line, other.role) for other in diagnostic.related] == [(20, "V of b0.aiv0 stands here")]
    assert diagnostic.notes == (
        "b0.aiv0 MTE2: pto.wait_flag (line 10): waits for flag V -> MTE2 id 0, count 0: "
        "pto.set_flag (line 22) is queued on b0.aiv0 V behind pto.wait_flag (line 20)",
        "b0.aiv0 V: pto.wait_flag (line 20): waits for flag MTE2 -> V id 0, count 0: "
        "pto.set_flag (line 12) is queued on b0.aiv0 MTE2 behind pto.wait_flag (line 10)",
        "b0.aiv0 S: pto.barrier (line 30): waits until all pipes are empty: "
        "MTE2 stands at pto.wait_flag (line 10); V stands at pto.wait_flag (line 20)",
    )


@pytest.mark.parametrize("schedule", EVERY_SCHEDULE)
def test_a_wait_that_nothing_sets_is_unmatched(schedule: str) -> None:
    def program(core: Core) -> None:
        core.wait_flag(at(5, "pto.wait_flag"), MTE2, V, 3)
        core.work(V, at(6), lambda: None)
        core.set_flag(at(7, "pto.set_flag"), V, MTE3, 0)
        core.wait_flag(at(8, "pto.wait_flag"), V, MTE3, 0)

    (diagnostic,) = failure(program, schedule=schedule).diagnostics
    assert (diagnostic.kind, diagnostic.line) == ("unmatched-wait", 5)
    assert diagnostic.message == "V waits for flag MTE2 -> V id 3, and nothing is left that would set it"
    # MTE3 stands only because V does: it is listed there and is no finding of its own.
    assert diagnostic.notes == (
        "b0.aiv0 V: pto.wait_flag (line 5): waits for flag MTE2 -> V id 3, count 0: "
        "nothing that is queued or can still be reached sets it",
        "b0.aiv0 MTE3: pto.wait_flag (line 8): waits for flag V -> MTE3 id 0, count 0: "
        "pto.set_flag (line 7) is queued on b0.aiv0 V behind pto.wait_flag (line 5)",
    )


def test_a_set_that_a_stopped_scalar_unit_would_still_reach_makes_a_deadlock() -> None:
    def program(core: Core) -> None:
        core.wait_flag(at(1), V, S, 0)
        core.set_flag(at(2), V, S, 0)

    asked: list[tuple[str, Key]] = []

    def reachable(core: Core, key: Key) -> bool:
        asked.append((core.name, key))
        return True

    (diagnostic,) = failure(program, reachable=reachable).diagnostics
    assert diagnostic.kind == "deadlock"
    assert diagnostic.message == "S waits for something that comes only after it"
    assert "b0.aiv0 would set it after op (line 1)" in diagnostic.notes[0]
    assert asked == [("b0.aiv0", Key("flag", 0, "V", "S", (0,)))]
    (diagnostic,) = failure(program, reachable=lambda core, key: False).diagnostics
    assert diagnostic.kind == "unmatched-wait"


def test_an_ended_program_reaches_nothing() -> None:
    def program(core: Core) -> None:
        core.wait_flag(at(1), MTE2, V, 0)

    (diagnostic,) = failure(program, reachable=always).diagnostics
    assert diagnostic.kind == "unmatched-wait"


def test_independent_roots_are_told_apart() -> None:
    def program(core: Core) -> None:
        core.wait_flag(at(1), S, V, 0)
        core.wait_flag(at(2), S, MTE2, 0)

    found = failure(program).diagnostics
    assert [(one.kind, one.line) for one in found] == [("unmatched-wait", 2), ("unmatched-wait", 1)]


def test_a_circle_across_cores_names_all_of_them() -> None:
    """Each vector core waits for the cube core before it signals, the cube core for both before it does."""

    def aic(core: Core) -> None:
        core.semaphore_wait(at(1, "pto.sync.wait"), MTE1, 0)
        core.semaphore_wait(at(2, "pto.sync.wait"), MTE1, 16)
        core.set_flag(at(3), MTE1, FIX, 0)
        core.wait_flag(at(4), MTE1, FIX, 0)
        core.semaphore_set(at(5, "pto.sync.set"), FIX, 1)
        core.semaphore_set(at(6, "pto.sync.set"), FIX, 17)

    def aiv(core: Core) -> None:
        core.semaphore_wait(at(7, "pto.sync.wait"), MTE3, 1)
        core.semaphore_set(at(8, "pto.sync.set"), MTE3, 0)

    (diagnostic,) = failure(mixed(aic, aiv, aiv), kind=MIXED).diagnostics
    assert diagnostic.kind == "deadlock"
    notes = "\n".join(diagnostic.notes)
    assert "b0.aic MTE1: pto.sync.wait (line 1): waits for semaphore aiv0 -> aic id 0, count 0" in notes
    assert "b0.aiv0 MTE3: pto.sync.wait (line 7): waits for semaphore aic -> aiv0 id 1, count 0" in notes
    assert "pto.sync.set (line 5) is queued on b0.aic FIX behind op (line 4)" in notes
    # aiv1 only follows: its set is for the cube core's second wait.
    assert "b0.aiv1 MTE3" in notes.splitlines()[-1]
    assert "aiv1" not in diagnostic.message


def test_drift_between_two_vector_cores_and_one_wait() -> None:
    """Both vector cores of an A2A3 must signal; one signals once less."""

    def aic(core: Core) -> None:
        for _ in range(3):
            core.semaphore_wait(at(1), MTE1, 0)

    def aiv(core: Core) -> None:
        for _ in range(3 if core.subblock == 0 else 2):
            core.semaphore_set(at(2), MTE3, 0)

    (diagnostic,) = failure(mixed(aic, aiv, aiv), kind=MIXED, target=A2A3).diagnostics
    assert diagnostic.kind == "unmatched-wait"
    assert diagnostic.message == "S waits for semaphore aiv1 -> aic id 0, and nothing is left that would set it"


def test_semaphore_keys_name_the_ids_that_the_setter_writes() -> None:
    asked: list[Key] = []

    def reachable(core: Core, key: Key) -> bool:
        asked.append(key)
        return False

    def stand(core: Core) -> None:  # so that the SU of the cube core stops and is asked
        core.semaphore_wait(at(1), ALL, 2)

    def aiv1(core: Core) -> None:
        core.semaphore_wait(at(2), MTE3, 5)

    failure(mixed(stand, None, aiv1), kind=MIXED, reachable=reachable)
    assert Key("semaphore", 5, "aic", "aiv1", (21,)) in asked
    assert str(asked[-1]) == "semaphore aic -> aiv1 id 5 (21 on aic)"


def test_aiv1_may_spell_its_signals_in_two_ways() -> None:
    asked: list[Key] = []

    def reachable(core: Core, key: Key) -> bool:
        asked.append(key)
        return False

    def stand(core: Core) -> None:
        core.semaphore_wait(at(1), ALL, 7)

    def aic(core: Core) -> None:
        core.semaphore_wait(at(2), MTE1, 5)
        core.semaphore_wait(at(3), FIX, 21)

    failure(mixed(aic, stand, stand), kind=MIXED, reachable=reachable)
    assert set(asked) == {
        Key("semaphore", 5, "aiv0", "aic", (5,)),
        Key("semaphore", 5, "aiv1", "aic", (5, 21)),
    }


def test_an_unreleased_buffer_holds_the_next_get() -> None:
    def program(core: Core) -> None:
        core.wait_flag(at(1), S, V, 0)
        core.get_buffer(at(2), V, 4)
        core.release_buffer(at(3, "pto.rls_buf"), V, 4)
        core.get_buffer(at(4, "pto.get_buf"), MTE2, 4)

    (diagnostic,) = failure(program).diagnostics
    assert diagnostic.kind == "unmatched-wait" and diagnostic.line == 1
    assert diagnostic.notes[1] == (
        "b0.aiv0 MTE2: pto.get_buf (line 4): waits for the release of buffer id 4: "
        "pto.rls_buf (line 3) is queued on b0.aiv0 V behind op (line 1)"
    )


def test_a_release_that_speaks_for_other_pipes() -> None:
    """The mode 1 release on V is reached but held back by MTE2."""

    def program(core: Core) -> None:
        core.wait_flag(at(1), MTE3, MTE2, 0)
        core.get_buffer(at(2), MTE2, 4, mode=1)
        core.work(MTE2, at(3), lambda: None)
        core.get_buffer(at(4), V, 4, mode=1)
        core.release_buffer(at(5, "pto.rls_buf"), V, 4, mode=1)
        core.get_buffer(at(6), MTE3, 4)
        core.set_flag(at(7), MTE3, MTE2, 0)

    (diagnostic,) = failure(program).diagnostics
    assert diagnostic.kind == "deadlock"
    assert diagnostic.message == "b0.aiv0 MTE2, b0.aiv0 MTE3 wait for each other"
    assert "pto.rls_buf (line 5) is queued on b0.aiv0 V behind op (line 1)" in diagnostic.notes[1]


def test_the_same_as_data_for_an_observer() -> None:
    recorder = Recorder()
    run(unprimed_ping_pong, observer=recorder)  # does not raise
    (deadlock,) = recorder.deadlocks
    assert [(head.pipe, head.entry.line, head.counter) for head in deadlock.heads] == [
        (S, 30, None),
        (MTE2, 10, 0),
        (V, 20, 0),
    ]
    (root,) = deadlock.roots
    assert root.kind == "deadlock"
    assert [head.pipe for head in root.heads] == [MTE2, V]
    assert [head.pipe for head in root.followers] == [S]
    (release,) = root.heads[0].releases
    assert release.entry is not None and release.entry.line == 22 and release.behind == (2,)


def test_an_observed_deadlock_of_a_cluster_unwinds_all_cores() -> None:
    recorder = Recorder()

    def wait(core: Core) -> None:
        core.semaphore_wait(at(1), ALL, 0)

    run(mixed(wait, wait, wait), kind=MIXED, observer=recorder)
    (deadlock,) = recorder.deadlocks
    assert [head.core.name for head in deadlock.heads] == ["b0.aic", "b0.aiv0", "b0.aiv1"]
    assert [root.kind for root in deadlock.roots] == ["unmatched-wait"] * 3


def test_long_lists_are_cut() -> None:
    def program(core: Core) -> None:
        core.syncall(at(1), frozenset({core.kind})) if core.block else core.wait_flag(at(2), V, S, 0)

    (diagnostic,) = failure(program, blocks=40, together=True, reachable=always).diagnostics[:1]
    assert len(diagnostic.notes) == 21 and diagnostic.notes[-1] == "and 20 more"


def test_components() -> None:
    #      0 -> 1 <-> 2     3 -> 4     5 -> 5     6 -> 0, 4
    edges = [[1], [2], [1], [4], [], [5], [0, 4]]
    assert bottom_components(edges) == [[1, 2], [4], [5]]
    assert reaching(edges, [1, 2]) == [0, 6]
    assert reaching(edges, [4]) == [3, 6]


def test_components_of_a_long_chain() -> None:
    size = 5000
    assert bottom_components([[node + 1] for node in range(size)] + [[]]) == [[size]]
    assert bottom_components([[(node + 1) % size] for node in range(size)]) == [list(range(size))]
