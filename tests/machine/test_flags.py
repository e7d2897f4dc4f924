"""set_flag, wait_flag and barriers on one core."""

import pytest

from machine.stage import ALL, FIX, MTE1, MTE2, MTE3, SCHEDULES, Log, M, S, V, at, mixed, run
from ptosim.diagnostics import PTOError
from ptosim.effects.names import Pipe
from ptosim.machine.core import Core
from ptosim.machine.launch import KernelKind
from ptosim.machine.sync import SLOW, flag_word
from tables import table


def test_late_set_releases_a_wait_issued_before_it() -> None:
    log = Log()

    def program(core: Core) -> None:
        core.wait_flag(at(1), MTE2, V, 0)
        log.work(core, V, "v")  # queued behind the wait
        log.append("su goes on")
        log.work(core, MTE3, "mte3")  # another pipe does not wait
        log.work(core, MTE2, "mte2")
        core.set_flag(at(2), MTE2, V, 0)  # drains V before the SU goes on
        log.append("after the set")

    run(program)
    assert log == ["su goes on", "mte3", "mte2", "v", "after the set"]


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_a_wait_consumes_one_set(schedule: str) -> None:
    log = Log()

    def program(core: Core) -> None:
        for step in range(3):
            log.work(core, MTE2, f"load {step}")
            core.set_flag(at(1), MTE2, V, 0)
        for step in range(3):
            core.wait_flag(at(2), MTE2, V, 0)
            log.work(core, V, f"compute {step}")
        core.barrier(at(3), ALL)
        assert core.words[flag_word(MTE2, V, 0)] == 0

    run(program, schedule=schedule)
    for step in range(3):
        assert log.index(f"load {step}") < log.index(f"compute {step}")


def test_two_waits_after_one_set_get_stuck() -> None:
    def program(core: Core) -> None:
        core.set_flag(at(1), MTE2, V, 0)
        core.wait_flag(at(2), MTE2, V, 0)
        core.wait_flag(at(3), MTE2, V, 0)

    with pytest.raises(PTOError) as caught:
        run(program)
    (diagnostic,) = caught.value.diagnostics
    assert (diagnostic.kind, diagnostic.line) == ("unmatched-wait", 3)


def test_keys_are_ordered_triples() -> None:
    def program(core: Core) -> None:
        core.set_flag(at(1), V, MTE2, 0)  # neither direction, pair nor id of what is waited for
        core.set_flag(at(2), MTE2, V, 1)
        core.set_flag(at(3), MTE2, MTE3, 0)
        core.wait_flag(at(4), MTE2, V, 0)

    with pytest.raises(PTOError, match="flag MTE2 -> V id 0"):
        run(program)


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("tiles", [0, 1, 2, 5])
def test_ping_pong_gives_the_same_result_in_every_schedule(schedule: str, tiles: int) -> None:
    """Two buffers each way, primed and drained; a tile is read, negated, written; buffers serve every second tile."""
    source = list(range(10, 10 + tiles))
    inputs, outputs, result = [0, 0], [0, 0], [0] * tiles

    def program(core: Core) -> None:
        def load(buffer: int, tile: int) -> None:
            core.work(MTE2, at(1), lambda: source[tile], lambda value: inputs.__setitem__(buffer, value))

        def compute(buffer: int) -> None:
            core.work(V, at(2), lambda: outputs.__setitem__(buffer, -inputs[buffer]))

        def store(buffer: int, tile: int) -> None:
            core.work(MTE3, at(3), lambda: outputs[buffer], lambda value: result.__setitem__(tile, value))

        for buffer in (0, 1):
            core.set_flag(at(4), V, MTE2, buffer)
            core.set_flag(at(5), MTE3, V, buffer)
        for tile in range(tiles):
            buffer = tile % 2
            core.wait_flag(at(6), V, MTE2, buffer)
            load(buffer, tile)
            core.set_flag(at(7), MTE2, V, buffer)
            core.wait_flag(at(8), MTE2, V, buffer)
            core.wait_flag(at(9), MTE3, V, buffer)
            compute(buffer)
            core.set_flag(at(10), V, MTE2, buffer)
            core.set_flag(at(11), V, MTE3, buffer)
            core.wait_flag(at(12), V, MTE3, buffer)
            store(buffer, tile)
            core.set_flag(at(13), MTE3, V, buffer)
        for buffer in (0, 1):
            core.wait_flag(at(14), V, MTE2, buffer)
            core.wait_flag(at(15), MTE3, V, buffer)
        core.barrier(at(16), ALL)

    run(program, schedule=schedule)
    assert result == [-value for value in source]


def test_missing_reverse_flag_shows_when_a_pipe_is_delayed() -> None:
    """Without the reverse flag MTE2 overwrites the buffer that V has not read: the schedules must show it."""
    seen: list[int] = []

    def program(core: Core) -> None:
        cell = [0]
        for tile in (1, 2):
            core.work(MTE2, at(1), lambda tile=tile: tile, lambda value: cell.__setitem__(0, value))
            core.set_flag(at(2), MTE2, V, 0)
            core.wait_flag(at(3), MTE2, V, 0)
            core.work(V, at(4), lambda: seen.append(cell[0]))

    run(program)
    assert seen == [1, 2]
    seen.clear()
    run(program, schedule="delay:V")
    assert seen == [2, 2]


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_the_scalar_unit_waits_for_a_flag_to_itself_and_sets_at_once(schedule: str) -> None:
    log = Log()

    def program(core: Core) -> None:
        log.work(core, V, "v")
        core.set_flag(at(1), V, S, 3)
        core.wait_flag(at(2), V, S, 3)
        log.append("su")
        core.set_flag(at(3), S, MTE3, 0)
        core.wait_flag(at(4), S, MTE3, 0)
        log.work(core, MTE3, "mte3")

    run(program, schedule=schedule)
    assert log == ["v", "su", "mte3"]


def test_set_covers_everything_earlier_in_its_pipe_and_nothing_later() -> None:
    log = Log()

    def program(core: Core) -> None:
        core.wait_flag(at(1), V, MTE2, 0)
        log.work(core, MTE2, "first")
        log.work(core, MTE2, "second")
        core.set_flag(at(2), MTE2, MTE3, 0)
        log.work(core, MTE2, "third")
        core.wait_flag(at(3), MTE2, MTE3, 0)
        log.work(core, MTE3, "store")
        core.set_flag(at(4), V, MTE2, 0)

    run(program)
    assert log == ["first", "second", "store", "third"]  # depth first: the store as soon as its set fires


def test_barrier_all_stops_the_scalar_unit_until_pipes_are_empty() -> None:
    for schedule in SCHEDULES:
        log = Log()

        def program(core: Core, log: Log = log) -> None:
            for pipe in (MTE2, V, MTE3):
                log.work(core, pipe, pipe)
            core.barrier(at(1), ALL)
            log.append("su")

        run(program, schedule=schedule)
        assert log[-1] == "su" and len(log) == 4


def orders_of_two_copies(barrier: Pipe | None, pipe: Pipe = MTE3) -> set[str]:
    found: set[str] = set()
    for schedule in SCHEDULES:
        log = Log()

        def program(core: Core, log: Log = log) -> None:
            log.work(core, pipe, "a")
            if barrier:
                core.barrier(at(1), barrier)
            log.work(core, pipe, "b")

        run(program, schedule=schedule)
        found.add("".join(log))
    return found


@pytest.mark.parametrize("pipe", [MTE2, MTE3])
def test_copies_of_one_pipe_may_end_in_any_order(pipe: Pipe) -> None:
    assert orders_of_two_copies(None, pipe) == {"ab", "ba"}
    assert orders_of_two_copies(V, pipe) == {"ab", "ba"}  # a barrier of another pipe changes nothing


def test_barrier_of_the_pipe_orders_its_copies() -> None:
    assert orders_of_two_copies(MTE3) == {"ab"}
    assert orders_of_two_copies(ALL) == {"ab"}


def test_vector_entries_are_serial() -> None:
    assert orders_of_two_copies(None, V) == {"ab"}


def test_a_flag_does_not_order_its_own_pipe_but_a_round_trip_does() -> None:
    def orders(round_trip: bool) -> set[str]:
        found: set[str] = set()
        for schedule in SCHEDULES:
            log = Log()

            def program(core: Core, log: Log = log) -> None:
                log.work(core, MTE3, "a")
                core.set_flag(at(1), MTE3, V, 0)
                core.wait_flag(at(2), MTE3, V, 0)
                if round_trip:
                    core.set_flag(at(3), V, MTE3, 0)
                    core.wait_flag(at(4), V, MTE3, 0)
                log.work(core, MTE3, "b")

            run(program, schedule=schedule)
            found.add("".join(log))
        return found

    assert orders(round_trip=False) == {"ab", "ba"}
    assert orders(round_trip=True) == {"ab"}


def test_copies_read_when_they_begin_and_write_when_they_end() -> None:
    """MTE2 writes cell after V has written it, although it was issued first: its read came before."""
    results: set[tuple[int, int]] = set()
    for schedule in SCHEDULES:
        cell, seen = [1], [0]

        def program(core: Core, cell: list[int] = cell, seen: list[int] = seen) -> None:
            core.work(MTE2, at(1), lambda: cell[0], lambda value: seen.__setitem__(0, value))
            core.work(V, at(2), lambda: cell.__setitem__(0, 2))

        run(program, schedule=schedule)
        results.add((cell[0], seen[0]))
    assert results == {(2, 1), (2, 2)}


@table(
    "src, dst, event, kind, words",
    (MTE2, V, 8, "id-range", "event 8"),
    (MTE2, V, -1, "id-range", "event -1"),
    (V, V, 0, "wrong-pipe", "to itself"),
    (ALL, V, 0, "wrong-pipe", "PIPE_ALL"),
    (MTE1, M, 0, "wrong-pipe", "aiv0 has no pipe MTE1"),
    (M, FIX, 0, "wrong-pipe", "aiv0 has no pipe M"),
    (FIX, V, 0, "wrong-pipe", "no core has both"),
)
def test_illegal_flags(src: Pipe, dst: Pipe, event: int, kind: str, words: str) -> None:
    for instruction in ("set_flag", "wait_flag"):

        def program(core: Core, instruction: str = instruction) -> None:
            getattr(core, instruction)(at(7), src, dst, event)

        with pytest.raises(PTOError) as caught:
            run(program)
        (diagnostic,) = caught.value.diagnostics
        assert (diagnostic.kind, diagnostic.line, diagnostic.core) == (kind, 7, "b0.aiv0")
        assert words in diagnostic.message


def test_vector_pipes_are_absent_on_the_cube_core() -> None:
    def aic(core: Core) -> None:
        core.set_flag(at(1), MTE1, M, 0)
        core.wait_flag(at(2), MTE1, M, 0)
        core.barrier(at(3), V)

    with pytest.raises(PTOError, match="aic has no pipe V: its pipes are S, MTE2, MTE1, M, FIX"):
        run(mixed(aic), kind=KernelKind.MIXED)


def test_work_on_an_absent_pipe() -> None:
    with pytest.raises(PTOError, match="wrong-pipe"):
        run(lambda core: core.work(M, at(1), lambda: None))


def test_words_return_to_the_inline_path_when_pipes_have_drained() -> None:
    def program(core: Core) -> None:
        assert core.words[SLOW] == 0
        core.wait_flag(at(1), MTE2, V, 0)
        core.wait_flag(at(2), MTE2, MTE3, 0)
        assert core.words[SLOW] == 2
        core.set_flag(at(3), MTE2, V, 0)
        assert core.words[SLOW] == 1
        core.set_flag(at(4), MTE2, MTE3, 0)
        assert core.words[SLOW] == 0

    run(program)
