"""What an observer gets to see, and the rules of the protocol that the machine itself watches over."""

import gc
import weakref

import pytest

from machine.stage import ALL, FIX, MTE1, MTE2, MTE3, Recorder, S, V, at, mixed, run
from ptosim.diagnostics import PTOError
from ptosim.effects.names import UB
from ptosim.machine.clock import ended_by
from ptosim.machine.core import Core
from ptosim.machine.entry import Entry, EntryKind, Site
from ptosim.machine.launch import KernelKind
from ptosim.machine.observer import Observer
from ptosim.machine.sync import Form

MIXED = KernelKind.MIXED


def test_events_come_in_the_order_of_execution() -> None:
    recorder = Recorder()

    def program(core: Core) -> None:
        core.wait_flag(at(1), MTE2, V, 0)
        core.work(V, at(2), lambda: None)
        core.work(MTE2, at(3), lambda: None)
        core.set_flag(at(4), MTE2, V, 0)

    run(program, observer=recorder)
    assert [(name, entry.line) for name, entry in recorder.events] == [
        ("issue", 1),
        ("issue", 2),
        ("issue", 3),
        ("start", 3),
        ("end", 3),
        ("issue", 4),
        ("start", 4),
        ("end", 4),
        ("start", 1),
        ("end", 1),
        ("start", 2),
        ("end", 2),
    ]
    assert recorder.cores == [("begin", "b0.aiv0"), ("finish", "b0.aiv0")]


def test_entries_know_their_number_loops_facts_and_payload() -> None:
    payloads: list[object] = []

    class Watch(Recorder):
        def end(self, entry: Entry) -> None:
            payloads.append(entry.payload)

    recorder = Watch()

    def program(core: Core) -> None:
        assert core.observer is recorder
        for outer in range(2):
            for inner in range(2):
                core.loops[:] = [outer, inner]
                core.operations += 3
                core.work(V, at(1), lambda o=outer: f"path {o}", facts=inner * 32)
        core.loops.clear()
        core.work(MTE2, at(2), lambda: "bytes", lambda payload: None)

    run(program, observer=recorder)
    entries = [entry for name, entry in recorder.events if name == "issue"]
    assert [entry.n for entry in entries] == [0, 1, 2, 3, 0]
    assert [entry.loops for entry in entries] == [(0, 0), (0, 1), (1, 0), (1, 1), ()]
    assert [entry.operations for entry in entries] == [3, 6, 9, 12, 12]
    assert [entry.facts for entry in entries] == [0, 32, 0, 32, None]
    assert payloads == ["path 0", "path 0", "path 1", "path 1", "bytes"]
    assert all(entry.payload is None for entry in entries)


def test_the_current_entry_is_known_while_work_happens() -> None:
    seen: list[Entry | None] = []

    def program(core: Core) -> None:
        core.wait_flag(at(1), S, MTE2, 0)
        core.work(MTE2, at(2), lambda: seen.append(core.current), lambda payload: seen.append(core.current))
        core.work(V, at(3), lambda: seen.append(core.current))
        seen.append(core.current)
        core.set_flag(at(4), S, MTE2, 0)

    run(program, observer=Recorder())
    assert [entry.line if entry else None for entry in seen] == [3, None, 2, 2]


@pytest.mark.parametrize("schedule", ["program", "random:4", "delay:V"])
def test_a_wait_knows_the_set_it_consumed_first_in_first_out(schedule: str) -> None:
    recorder = Recorder()

    def program(core: Core) -> None:
        for line in (1, 2, 3):
            core.set_flag(at(line), MTE2, V, 0)
        for line in (11, 12, 13):
            core.wait_flag(at(line), MTE2, V, 0)

    run(program, observer=recorder, schedule=schedule)
    for step in (1, 2, 3):
        assert [one.line for one in recorder.entry(10 + step).consumed] == [step]


def test_a_get_knows_the_releases_it_waited_for() -> None:
    recorder = Recorder()

    def program(core: Core) -> None:
        for pipe, line in ((MTE2, 1), (V, 2), (MTE3, 3)):
            core.get_buffer(at(10 * line), pipe, 0)
            core.release_buffer(at(line), pipe, 0)
        core.get_buffer(at(4), MTE2, 0)

    run(program, observer=recorder)
    assert sorted(one.line or 0 for one in recorder.entry(4).consumed) == [2, 3]  # not its own pipe's
    assert sorted(one.line or 0 for one in recorder.entry(30).consumed) == [1, 2]


def test_waits_between_cores_know_their_sets() -> None:
    recorder = Recorder()

    def aiv(core: Core) -> None:
        core.semaphore_set(at(1 + core.subblock), MTE3, 0)

    def aic(core: Core) -> None:
        core.semaphore_wait(at(11), MTE1, 0)
        core.semaphore_wait(at(12), MTE1, 16)

    run(mixed(aic, aiv, aiv), kind=MIXED, observer=recorder)
    assert [one.core.name for one in recorder.entry(11).consumed] == ["b0.aiv0"]
    assert [one.core.name for one in recorder.entry(12).consumed] == ["b0.aiv1"]


def _meet(core: Core) -> None:
    core.work(MTE3, at(1), lambda: None)
    core.semaphore_set(at(2), MTE3, 0, Form.CROSS_BLOCK)
    core.semaphore_wait(at(3), MTE3, 0, Form.CROSS_BLOCK)


def test_a_meeting_is_released_by_the_sets_of_all() -> None:
    recorder = Recorder(wants_clocks=False)
    run(_meet, blocks=3, together=True, observer=recorder)
    assert [one.core.block for one in recorder.entry(3).consumed] == [0, 1, 2]


def test_with_clocks_one_set_tells_what_all_who_met_know() -> None:
    recorder = Recorder()
    run(_meet, blocks=3, together=True, observer=recorder)
    (joint,) = recorder.entry(3).consumed
    works = [entry for name, entry in recorder.events if name == "issue" and entry.line == 1]
    assert [entry.core.block for entry in works] == [0, 1, 2]
    assert joint.clock is not None
    assert all(ended_by(entry, joint.clock) for entry in works)


def test_steps_of_the_scalar_unit_are_entries_too() -> None:
    recorder = Recorder()

    def program(core: Core) -> None:
        loaded = core.scalar_load(at(1))
        stored = core.scalar_store(at(2), UB)
        assert (loaded.kind, stored.kind) == (EntryKind.LOAD, EntryKind.STORE)
        core.barrier(at(3), ALL)
        core.dsb(at(4))

    run(program, observer=recorder)
    assert [(entry.line, entry.kind) for name, entry in recorder.events if name == "start"] == [
        (1, EntryKind.LOAD),
        (2, EntryKind.STORE),
        (3, EntryKind.BARRIER),
        (4, EntryKind.FENCE),
    ]


def test_observed_and_unobserved_runs_do_the_same() -> None:
    def trace(observer: Observer | None, schedule: str) -> list[str]:
        log: list[str] = []

        def program(core: Core) -> None:
            for step in range(4):
                core.wait_flag(at(1), V, MTE2, 0) if step > 1 else None
                core.work(MTE2, at(2), lambda s=step: f"load {s}", log.append)
                core.set_flag(at(3), MTE2, V, 0)
                core.wait_flag(at(4), MTE2, V, 0)
                core.work(V, at(5), lambda s=step: log.append(f"compute {s}"))
                core.set_flag(at(6), V, MTE2, 0)

        run(program, observer=observer, schedule=schedule)
        return log

    for schedule in ("program", "random:3", "delay:V"):
        assert trace(None, schedule) == trace(Observer(), schedule) == trace(Recorder(), schedule)


# --- rules of the protocol --------------------------------------------------------------------------------------------


def kinds(program, **options) -> list[tuple[str, int | None]]:
    recorder = Recorder()
    run(program, observer=recorder, **options)
    return [(report.kind, report.line) for report in recorder.reports]


def test_double_set_while_the_first_is_pending() -> None:
    def program(core: Core) -> None:
        core.set_flag(at(1), MTE2, V, 0)
        core.set_flag(at(2), MTE2, V, 0)
        core.wait_flag(at(3), MTE2, V, 0)
        core.wait_flag(at(4), MTE2, V, 0)

    assert kinds(program) == [("double-set", 2)]


def test_double_set_when_nothing_orders_the_set_after_the_wait() -> None:
    """In program order the wait comes first, but MTE2 may run ahead of V."""

    def program(core: Core) -> None:
        for line in (1, 2):
            core.set_flag(at(line), MTE2, V, 0)
            core.wait_flag(at(10 + line), MTE2, V, 0)

    def with_reverse_flag(core: Core) -> None:
        for line in (1, 2):
            core.set_flag(at(line), MTE2, V, 0)
            core.wait_flag(at(10 + line), MTE2, V, 0)
            core.set_flag(at(20 + line), V, MTE2, 0)
            core.wait_flag(at(30 + line), V, MTE2, 0)

    assert kinds(program) == [("double-set", 2)]
    assert kinds(with_reverse_flag) == []


def test_double_set_is_a_warning_that_points_at_both() -> None:
    recorder = Recorder()

    def program(core: Core) -> None:
        core.set_flag(at(1), MTE2, V, 0)
        core.set_flag(at(2), MTE2, V, 0)
        core.barrier(at(3), ALL)

    run(program, observer=recorder)
    report = recorder.reports[0]
    assert (report.kind, report.severity, report.line) == ("double-set", "warning", 2)
    assert [other.location.line for other in report.related] == [1]
    assert (report.core, report.pipe, report.block) == ("b0.aiv0", "MTE2", 0)


def test_leftover_flags_and_semaphores_are_undrained() -> None:
    recorder = Recorder()

    def aiv(core: Core) -> None:
        core.set_flag(at(1 + core.subblock), V, MTE2, 3)
        core.semaphore_set(at(11), MTE3, 4)

    run(mixed(None, aiv), kind=MIXED, observer=recorder)
    assert [(report.kind, report.line, report.severity) for report in recorder.reports] == [
        ("undrained", 1, "warning"),
        ("undrained", 11, "warning"),
    ]
    assert "flag V -> MTE2 id 3 is still set at the end" in recorder.reports[0].message
    assert "semaphore aiv0 -> aic id 4" in recorder.reports[1].message


def sixteen_signals(waits_known: bool):
    """20 signals, each consumed at once in program order; with an answer the sender knows that."""

    def aiv(core: Core) -> None:
        for _ in range(20):
            core.semaphore_set(at(1), MTE3, 0)
            if waits_known:
                core.semaphore_wait(at(2), MTE3, 1)

    def aic(core: Core) -> None:
        for _ in range(20):
            core.semaphore_wait(at(3), FIX, 0)
            if waits_known:
                core.semaphore_set(at(4), FIX, 1)

    return mixed(aic, aiv)


def test_semaphore_overflow_is_judged_over_all_schedules() -> None:
    assert kinds(sixteen_signals(waits_known=True), kind=MIXED) == []
    found = kinds(sixteen_signals(waits_known=False), kind=MIXED)
    assert found == [("semaphore-overflow", 1)] * 5  # the 16th to the 20th


def test_sets_of_one_semaphore_from_two_pipes_need_an_order() -> None:
    def aic(ordered: bool):
        def program(core: Core) -> None:
            core.semaphore_set(at(1), MTE1, 0)
            if ordered:
                core.set_flag(at(2), MTE1, FIX, 0)
                core.wait_flag(at(3), MTE1, FIX, 0)
            core.semaphore_set(at(4), FIX, 0)

        return program

    def aiv(core: Core) -> None:
        core.semaphore_wait(at(5), MTE3, 0)
        core.semaphore_wait(at(6), MTE3, 0)

    assert kinds(mixed(aic(True), aiv), kind=MIXED) == []
    assert kinds(mixed(aic(False), aiv), kind=MIXED) == [("race", 4)]


def test_waits_for_one_semaphore_on_two_pipes_need_an_order() -> None:
    def aic(core: Core) -> None:
        core.semaphore_set(at(1), FIX, 0)
        core.semaphore_set(at(2), FIX, 0)

    def aiv(core: Core) -> None:
        core.semaphore_wait(at(3), MTE3, 0)
        core.semaphore_wait(at(4), V, 0)

    assert kinds(mixed(aic, aiv), kind=MIXED) == [("race", 4)]


def test_a_set_for_all_pipes_is_not_over_at_its_step() -> None:
    """FIX may hold it back while MTE1, which waits for nothing, sets the same semaphore."""

    def aic(chained: bool):
        def program(core: Core) -> None:
            core.work(FIX, at(1), lambda: None)
            core.semaphore_set(at(2), ALL, 0, Form.INTRA_BLOCK)
            if chained:
                core.set_flag(at(3), FIX, MTE1, 0)
                core.wait_flag(at(4), FIX, MTE1, 0)
            core.semaphore_set(at(5), MTE1, 0)

        return program

    def aiv(core: Core) -> None:
        core.semaphore_wait(at(6), MTE3, 0)
        core.semaphore_wait(at(7), MTE3, 0)

    assert kinds(mixed(aic(True), aiv), kind=MIXED) == []
    assert kinds(mixed(aic(False), aiv), kind=MIXED) == [("race", 5)]


def test_what_a_wait_consumes_does_not_put_it_behind_another_wait() -> None:
    """The second meeting tells that MTE2 has passed the first, but S may take the first meeting away from MTE2."""

    def aiv(core: Core) -> None:
        core.semaphore_set(at(1), MTE2, 0, Form.VECTOR_PAIR)
        core.semaphore_wait(at(2), MTE2, 0, Form.VECTOR_PAIR)
        core.semaphore_set(at(3), ALL, 0, Form.VECTOR_PAIR)
        core.semaphore_wait(at(4), ALL, 0, Form.VECTOR_PAIR)

    assert ("race", 4) in kinds(mixed(None, aiv, aiv), kind=MIXED)


def test_meetings_are_clean_when_every_core_sets_and_waits_in_turn() -> None:
    def program(core: Core) -> None:
        for _ in range(20):
            core.semaphore_set(at(1), MTE3, 0, Form.CROSS_BLOCK)
            core.semaphore_wait(at(2), MTE3, 0, Form.CROSS_BLOCK)

    assert kinds(program, blocks=3, together=True) == []


def test_illegal_operands_are_reported_and_left_out() -> None:
    def program(core: Core) -> None:
        core.set_flag(at(1), MTE2, V, 9)
        core.wait_flag(at(2), FIX, V, 0)
        core.get_buffer(at(3), V, 40)
        core.semaphore_wait(at(4), MTE3, 17)
        core.barrier(at(5), MTE1)
        core.work(MTE1, at(6), lambda: pytest.fail("must not run"))
        core.semaphore_set(at(7), MTE3, 0, Form.CROSS_CORE)

    assert kinds(program) == [
        ("id-range", 1),
        ("wrong-pipe", 2),
        ("id-range", 3),
        ("id-range", 4),
        ("wrong-pipe", 5),
        ("wrong-pipe", 6),
        ("wrong-target", 7),
    ]


def test_an_observer_that_overlooks_reports_still_stops_at_errors() -> None:
    with pytest.raises(PTOError, match="id-range"):
        run(lambda core: core.set_flag(at(1), MTE2, V, 9), observer=Observer())

    def overflow(core: Core) -> None:
        for _ in range(16):
            core.semaphore_set(at(1), MTE3, 0)

    with pytest.raises(PTOError, match="semaphore-overflow"):
        run(overflow, observer=Observer())
    with pytest.raises(PTOError, match="unmatched-wait"):
        run(lambda core: core.wait_flag(at(1), S, V, 0), observer=Observer())


def test_memory_does_not_grow_with_the_number_of_steps() -> None:
    """Of many iterations with flags, buffers in both modes and semaphores only the latest entries stay alive."""

    class Watched:
        pass

    alive: weakref.WeakSet[Watched] = weakref.WeakSet()

    class Tagging(Observer):
        wants_clocks = True

        def issue(self, entry: Entry) -> None:
            entry.data = Watched()
            alive.add(entry.data)

    counts: list[int] = []

    def program(core: Core) -> None:
        for step in range(600):
            core.work(MTE2, at(1), lambda: None, lambda payload: None)
            core.set_flag(at(2), MTE2, V, 0)
            core.wait_flag(at(3), MTE2, V, 0)
            core.set_flag(at(4), V, MTE2, 0)
            core.wait_flag(at(5), V, MTE2, 0)
            for mode in (0, 1):
                for pipe in (MTE2, V, MTE3):
                    core.get_buffer(at(6), pipe, mode, mode)
                    core.work(pipe, at(7), lambda: None)
                    core.release_buffer(at(8), pipe, mode, mode)
            core.scalar_load(at(9))
            core.scalar_store(at(10), UB)
            if step % 100 == 99:
                gc.collect()
                counts.append(len(alive))

    run(program, observer=Tagging())
    assert counts[1:] == counts[1:2] * 5 and counts[1] < 60


def test_sites() -> None:
    assert str(Site("pto.vadd")) == "pto.vadd"
    assert str(at(12, "pto.vadd")) == "pto.vadd (line 12)"
    assert Site("pto.vadd") != Site("pto.vadd")  # one per operation, by identity
