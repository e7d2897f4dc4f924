"""get_buf and rls_buf: what a get waits for, both modes, brackets."""

import pytest

from machine.stage import ALL, MTE2, MTE3, SCHEDULES, Log, M, Recorder, S, V, at, run
from ptosim.diagnostics import PTOError
from ptosim.effects.names import Pipe
from ptosim.machine.core import Core
from ptosim.machine.sync import DONE, ISSUED, OPEN, buffer_word
from tables import table


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("tiles", [1, 2, 5])
def test_ping_pong_needs_neither_priming_nor_draining(schedule: str, tiles: int) -> None:
    """Ids 0 and 1 are the input buffers, 2 and 3 the output buffers."""
    source = list(range(10, 10 + tiles))
    inputs, outputs, result = [0, 0], [0, 0], [0] * tiles

    def program(core: Core) -> None:
        for tile in range(tiles):
            buffer = tile % 2
            core.get_buffer(at(1), MTE2, buffer)
            core.work(MTE2, at(2), lambda t=tile: source[t], lambda value, b=buffer: inputs.__setitem__(b, value))
            core.release_buffer(at(3), MTE2, buffer)
            core.get_buffer(at(4), V, buffer)
            core.get_buffer(at(5), V, 2 + buffer)
            core.work(V, at(6), lambda b=buffer: outputs.__setitem__(b, -inputs[b]))
            core.release_buffer(at(7), V, buffer)
            core.release_buffer(at(8), V, 2 + buffer)
            core.get_buffer(at(9), MTE3, 2 + buffer)
            core.work(MTE3, at(10), lambda b=buffer: outputs[b], lambda value, t=tile: result.__setitem__(t, value))
            core.release_buffer(at(11), MTE3, 2 + buffer)

    run(program, schedule=schedule)
    assert result == [-value for value in source]


def test_get_waits_for_releases_that_are_earlier_in_program_order() -> None:
    """V's get must not wait for the release that MTE2 issues after it, else this program would be stuck."""
    for schedule in SCHEDULES:
        log = Log()

        def program(core: Core, log: Log = log) -> None:
            core.get_buffer(at(1), MTE2, 0)
            log.work(core, MTE2, "load 0")
            core.release_buffer(at(2), MTE2, 0)
            core.get_buffer(at(3), V, 0)  # snapshot: one release of MTE2
            log.work(core, V, "compute")
            core.release_buffer(at(4), V, 0)
            core.get_buffer(at(5), MTE2, 0)
            log.work(core, MTE2, "load 1")
            core.release_buffer(at(6), MTE2, 0)

        run(program, schedule=schedule)
        assert log == ["load 0", "compute", "load 1"]


def test_only_the_first_of_many_gets_after_one_release_blocks() -> None:
    log = Log()

    def program(core: Core) -> None:
        core.wait_flag(at(1), S, MTE2, 0)
        core.get_buffer(at(2), MTE2, 5)
        log.work(core, MTE2, "load")
        core.release_buffer(at(3), MTE2, 5)
        for step in range(8):
            core.get_buffer(at(4), V, 5)
            log.work(core, V, f"compute {step}")
            core.release_buffer(at(5), V, 5)
        log.append("su")
        core.set_flag(at(6), S, MTE2, 0)

    run(program)
    assert log == ["su", "load", *(f"compute {step}" for step in range(8))]


def test_get_does_not_order_its_own_pipe() -> None:
    orders: set[str] = set()
    for schedule in SCHEDULES:
        log = Log()

        def program(core: Core, log: Log = log) -> None:
            for word in "ab":
                core.get_buffer(at(1), MTE3, 0)
                log.work(core, MTE3, word)
                core.release_buffer(at(2), MTE3, 0)

        run(program, schedule=schedule)
        orders.add("".join(log))
    assert orders == {"ab", "ba"}


def test_mode_1_get_never_blocks() -> None:
    log = Log()

    def program(core: Core) -> None:
        core.wait_flag(at(1), S, MTE2, 0)
        core.get_buffer(at(2), MTE2, 0, mode=1)
        log.work(core, MTE2, "load")
        core.release_buffer(at(3), MTE2, 0, mode=1)
        core.get_buffer(at(4), V, 0, mode=1)
        log.work(core, V, "compute")
        core.set_flag(at(5), S, MTE2, 0)

    run(program)
    assert log == ["compute", "load"]


def mode_1_release(bracketed: bool) -> Log:
    """V releases in mode 1 while a copy of MTE2, inside or outside a bracket of the same id, is still queued."""
    log = Log()

    def program(core: Core) -> None:
        core.wait_flag(at(1), S, MTE2, 0)
        core.get_buffer(at(2), MTE2, 0 if bracketed else 1, mode=1)
        log.work(core, MTE2, "load")
        core.release_buffer(at(3), MTE2, 0 if bracketed else 1, mode=1)
        log.work(core, MTE2, "later load")
        core.get_buffer(at(4), V, 0, mode=1)
        core.release_buffer(at(5), V, 0, mode=1)
        log.work(core, V, "compute")  # a release is no barrier: this does not wait for it
        core.get_buffer(at(6), MTE3, 0)  # mode 0: waits for V's release
        log.work(core, MTE3, "store")
        core.set_flag(at(7), S, MTE2, 0)

    run(program)
    return log


def test_mode_1_release_waits_for_bracketed_entries_of_all_pipes() -> None:
    assert mode_1_release(bracketed=True) == ["compute", "load", "store", "later load"]
    assert mode_1_release(bracketed=False) == ["compute", "store", "load", "later load"]


def test_mode_1_release_waits_for_an_open_bracket() -> None:
    log = Log()

    def program(core: Core) -> None:
        core.get_buffer(at(1), MTE2, 0, mode=1)  # on the inline path, before anything is stalled
        core.wait_flag(at(2), S, MTE2, 0)
        log.work(core, MTE2, "load")
        core.get_buffer(at(3), V, 0, mode=1)
        core.release_buffer(at(4), V, 0, mode=1)
        core.get_buffer(at(5), MTE3, 0)
        log.work(core, MTE3, "store")
        core.set_flag(at(6), S, MTE2, 0)

    run(program)
    assert log == ["load", "store"]


def test_flag_behind_a_pending_mode_1_release_waits_for_it() -> None:
    """A set fires when every earlier entry of its pipe has ended, the release included."""
    log = Log()

    def program(core: Core) -> None:
        core.wait_flag(at(1), S, MTE2, 0)
        core.get_buffer(at(2), MTE2, 0, mode=1)
        log.work(core, MTE2, "load")
        core.get_buffer(at(3), V, 0, mode=1)
        core.release_buffer(at(4), V, 0, mode=1)
        core.set_flag(at(5), V, MTE3, 0)
        core.barrier(at(6), V)
        log.work(core, V, "behind the barrier")
        core.wait_flag(at(7), V, MTE3, 0)
        log.work(core, MTE3, "store")
        core.set_flag(at(8), S, MTE2, 0)

    run(program)
    assert log[0] == "load" and sorted(log[1:]) == ["behind the barrier", "store"]


def test_flags_and_buffers_must_both_be_satisfied() -> None:
    log = Log()

    def program(core: Core) -> None:
        core.wait_flag(at(1), S, MTE2, 0)
        core.get_buffer(at(2), MTE2, 0)
        log.work(core, MTE2, "load")
        core.release_buffer(at(3), MTE2, 0)
        core.get_buffer(at(4), V, 0)
        core.wait_flag(at(5), S, V, 0)
        log.work(core, V, "compute")
        core.set_flag(at(6), S, MTE2, 0)
        log.append("su")
        core.set_flag(at(7), S, V, 0)

    run(program)
    assert log == ["load", "su", "compute"]


def test_words() -> None:
    def program(core: Core) -> None:
        words = core.words
        core.get_buffer(at(1), MTE2, 31, mode=1)
        assert words[buffer_word(OPEN, MTE2, 31)] == 2
        core.release_buffer(at(2), MTE2, 31, mode=1)
        assert words[buffer_word(OPEN, MTE2, 31)] == 0
        assert words[buffer_word(ISSUED, MTE2, 31)] == words[buffer_word(DONE, MTE2, 31)] == 1
        core.wait_flag(at(3), S, MTE2, 0)
        core.get_buffer(at(4), MTE2, 31)
        core.release_buffer(at(5), MTE2, 31)
        assert words[buffer_word(ISSUED, MTE2, 31)] == 2 and words[buffer_word(DONE, MTE2, 31)] == 1
        core.set_flag(at(6), S, MTE2, 0)
        assert words[buffer_word(DONE, MTE2, 31)] == 2

    run(program)


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_the_scalar_unit_gets_and_releases_too(schedule: str) -> None:
    log = Log()

    def program(core: Core) -> None:
        core.get_buffer(at(1), V, 0)
        log.work(core, V, "v")
        core.release_buffer(at(2), V, 0)
        core.get_buffer(at(3), S, 0)  # the SU stops until V has released
        log.append("su")
        core.release_buffer(at(4), S, 0)
        core.get_buffer(at(5), MTE3, 0)
        log.work(core, MTE3, "mte3")

    run(program, schedule=schedule)
    assert log == ["v", "su", "mte3"]


@table("pipe, buffer, kind", (V, 32, "id-range"), (V, -1, "id-range"), (ALL, 0, "wrong-pipe"), (M, 0, "wrong-pipe"))
def test_illegal_operands(pipe: Pipe, buffer: int, kind: str) -> None:
    for instruction in ("get_buffer", "release_buffer"):
        with pytest.raises(PTOError) as caught:
            run(lambda core, name=instruction: getattr(core, name)(at(3), pipe, buffer))
        assert caught.value.diagnostics[0].kind == kind


def reports(*instructions: tuple[str, Pipe, int, int]) -> list[tuple[str, int | None]]:
    """Misuse of a sequence of (get or release, pipe, id, mode), the line being the position from 1."""
    recorder = Recorder()

    def program(core: Core) -> None:
        for line, (name, pipe, buffer, mode) in enumerate(instructions, 1):
            getattr(core, f"{name}_buffer")(at(line), pipe, buffer, mode)

    run(program, observer=recorder)
    assert all(report.kind == "buffer-misuse" and report.severity == "error" for report in recorder.reports)
    return [(report.message, report.line) for report in recorder.reports]


def test_brackets_are_checked_in_observed_runs() -> None:
    assert reports(("get", V, 0, 0), ("release", V, 0, 0), ("get", MTE2, 0, 0), ("release", MTE2, 0, 0)) == []
    ((message, line),) = reports(("release", V, 0, 0))
    assert line == 1 and "does not hold it" in message
    ((message, line), _) = reports(("get", V, 0, 0), ("get", V, 0, 0), ("release", V, 0, 0), ("release", V, 0, 0))
    assert line == 2 and "a second time" in message
    ((message, line),) = reports(("get", V, 0, 0), ("get", MTE2, 0, 0), ("release", MTE2, 0, 0), ("release", V, 0, 0))
    assert line == 2 and "while V holds it" in message
    ((message, line),) = reports(("get", V, 0, 0), ("release", V, 0, 1))
    assert line == 2 and "mode 1" in message and "mode 0" in message
    ((message, line),) = reports(("get", V, 0, 0))
    assert line == 1 and "never releases" in message
    # Different ids may interleave.
    assert reports(("get", V, 0, 0), ("get", MTE2, 1, 0), ("release", V, 0, 0), ("release", MTE2, 1, 0)) == []
