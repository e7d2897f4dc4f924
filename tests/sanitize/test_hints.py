"""A hint is an edit: added to the text, line by line, it makes its finding go away and brings no other."""

import numpy as np
import pytest

import ptosim
from sanitize.kernels import ALL, COPY, MASK, check, load, order, put, scope, store, take, text, vlds, vsts
from sanitize.repair import repaired


def follow(source: str, *arguments: object, rounds: int = 8) -> list[str]:
    """Repair races one by one until none is left; gives the hints."""
    given = arguments or (np.arange(64, dtype=np.float32), np.zeros(64, np.float32))
    hints: list[str] = []
    for _ in range(rounds):
        report = ptosim.check(ptosim.load(source).kernel(), *given)
        races = [finding for finding in report.findings if finding.kind in ("race", "scope-alias")]
        if not races:
            assert report.findings == (), report
            return hints
        before = {(race.message, race.severity) for race in races}
        assert races[0].hint is not None
        hints.append(races[0].hint)
        source = repaired(source, races[0].hint)
        after = ptosim.check(ptosim.load(source).kernel(), *given)
        left = {(race.message, race.severity) for race in after.findings if race.kind == races[0].kind}
        assert (races[0].message, races[0].severity) not in left
        assert len(left) < len(before)
    raise AssertionError("still racing")


READY = load() + order("MTE2", "V") + COPY


def test_an_edge_between_two_neighbours() -> None:
    assert follow(text(READY + store() + ALL)) == [
        'after line 20 add  pto.set_flag["PIPE_V", "PIPE_MTE3", "EVENT_ID0"]\n'
        'before line 21 add pto.wait_flag["PIPE_V", "PIPE_MTE3", "EVENT_ID0"]'
    ]


def test_a_whole_kernel_without_synchronisation() -> None:
    assert len(follow(text(load() + COPY + store() + ALL))) == 2


def loop(body: str, bound: str = "%c4") -> str:
    return f"    scf.for %i = %c0 to {bound} step %c1 {{\n{body}    }}\n"


def test_a_loop_without_reverse_edges_gets_them_primed_and_drained() -> None:
    forward = load() + order("MTE2", "V") + COPY + order("V", "MTE3") + store()
    source = text(loop(forward) + ALL)
    hints = follow(source)
    primed = [hint for hint in hints if "// prime" in hint and "// drain" in hint]
    assert len(primed) >= 2
    assert primed[0].split("\n")[0].startswith("before line 13 add pto.set_flag")


def test_in_nested_loops_prime_and_drain_are_outside_of_both() -> None:
    """Inside of the outer one the next prime could come before the drain of the last."""
    inner = loop(load() + COPY + store(), "%c3").replace("%i =", "%j =")
    source = text("    %c3 = arith.constant 3 : index\n" + loop(inner, "%c3") + ALL)
    assert follow(source)
    x = np.zeros(64, np.float32)
    lines = ptosim.check(ptosim.load(source).kernel(), x, x.copy()).fix().text.split("\n")
    begin = next(number for number, line in enumerate(lines) if "scf.for %i" in line)
    end = max(number for number, line in enumerate(lines) if line == "    }")
    primes, drains = ([n for n, line in enumerate(lines) if line.endswith(word)] for word in ("prime", "drain"))
    assert primes == [begin - 2, begin - 1] and drains == [end + 1, end + 2]


def test_the_set_stays_outside_an_inner_loop() -> None:
    # Each tile is copied in four pieces; the vector function must wait for all of them, once.
    pieces = """      %offset = arith.muli %i, %c8 : index
      %from = pto.addptr %x, %offset : !pto.ptr<f32, gm> -> !pto.ptr<f32, gm>
      %to = pto.addptr %in, %offset : !pto.ptr<f32, ub> -> !pto.ptr<f32, ub>
""" + load("%from", "%to", "%piece")
    source = text(
        "    %piece = arith.constant 32 : i64\n" + loop(pieces, "%c8") + COPY + order("V", "MTE3") + store() + ALL
    )
    assert follow(source) == [
        'after line 19 add  pto.set_flag["PIPE_MTE2", "PIPE_V", "EVENT_ID0"]\n'
        'before line 20 add pto.wait_flag["PIPE_MTE2", "PIPE_V", "EVENT_ID0"]'
    ]


def test_a_condition_is_stepped_over() -> None:
    maybe = "    %yes = arith.cmpi eq, %zero, %zero : i64\n    scf.if %yes {\n" + load() + "    }\n"
    (hint,) = follow(text(maybe + COPY + order("V", "MTE3") + store() + ALL))
    assert hint.startswith("after line 16 add  pto.set_flag")


def test_the_lowest_free_event_is_taken() -> None:
    busy = "".join(order("V", "MTE3", event) for event in (0, 1, 3))
    report = check(busy + READY + store() + ALL)
    assert "EVENT_ID2" in report.findings[0].hint


BUSY = "".join(order("V", "MTE3", event) for event in range(8))
BRACKETS = """    pto.get_buf "PIPE_MTE2", 0, 0
    pto.rls_buf "PIPE_MTE2", 0, 0
"""


def test_when_no_event_is_free_a_buffer_is_named() -> None:
    (hint,) = follow(text(BUSY + READY + store() + ALL))
    assert hint.split("\n") == [
        "all 8 events from V to MTE3 are in use; take a buffer:",
        'before line 32 add pto.get_buf "PIPE_V", 0, 0',
        'after line 36 add  pto.rls_buf "PIPE_V", 0, 0',
        'before line 37 add pto.get_buf "PIPE_MTE3", 0, 0',
        'after line 37 add  pto.rls_buf "PIPE_MTE3", 0, 0',
    ]


def test_a_kernel_that_uses_buffers_is_hinted_in_buffers() -> None:
    (hint,) = follow(text(BRACKETS + READY + store() + ALL))
    assert hint.split("\n") == [
        'before line 18 add pto.get_buf "PIPE_V", 1, 0',
        'after line 22 add  pto.rls_buf "PIPE_V", 1, 0',
        'before line 23 add pto.get_buf "PIPE_MTE3", 1, 0',
        'after line 23 add  pto.rls_buf "PIPE_MTE3", 1, 0',
    ]


def test_a_buffer_serves_the_next_iteration_too() -> None:
    """Nothing is left to order MTE3 behind V and V behind MTE3, in a loop: two more brackets, no prime and no drain."""
    busy = BUSY + BUSY.replace('"PIPE_V", "PIPE_MTE3"', '"PIPE_MTE3", "PIPE_V"')
    barrier = "    pto.barrier #pto.pipe<PIPE_MTE3>\n"
    hints = follow(text(busy + load() + order("MTE2", "V") + loop(COPY + store() + barrier) + ALL))
    assert 1 <= len(hints) <= 2
    assert all("take a buffer" in hint for hint in hints)


def test_when_no_event_is_free_and_there_are_no_buffers_a_barrier_is_named() -> None:
    (hint,) = follow(text(BUSY + READY + store() + ALL, arch="a2a3"))
    assert hint.startswith("all 8 events from V to MTE3 are in use; before line 37 add pto.barrier #pto.pipe<PIPE_ALL>")


def test_events_of_branches_that_are_not_taken_count_as_used() -> None:
    never = "    %no = arith.cmpi ne, %zero, %zero : i64\n    scf.if %no {\n" + order("V", "MTE3") + "    }\n"
    report = check(never + READY + store() + ALL)
    assert "EVENT_ID1" in report.findings[0].hint


@pytest.mark.parametrize("rounds", [2, 5])
def test_two_copies_of_one_pipe(rounds: int) -> None:
    body = load() + order("MTE2", "V") + COPY + order("V", "MTE3") + loop(store(), f"%c{rounds}") + ALL
    source = text(f"    %c{rounds} = arith.constant {rounds} : index\n" + body)
    assert follow(source) == ["before line 25 add pto.barrier #pto.pipe<PIPE_MTE3>"]


def test_fences_inside_a_scope() -> None:
    body = scope(MASK + vlds() + vsts() + vlds("%w", "%out") + vsts("%w", "%in"))
    assert follow(text(load() + order("MTE2", "V") + body + order("V", "MTE3") + store("%in") + ALL)) == [
        'before line 20 add pto.mem_bar "VST_VLD"'
    ]


def test_a_scalar_store() -> None:
    body = "    %f = arith.constant 1.0 : f32\n    pto.store_scalar %f, %in[%c0] : !pto.ptr<f32, ub>, f32\n"
    source = text(load() + order("MTE2", "S") + body + COPY + order("V", "MTE3") + store() + ALL)
    (hint,) = follow(source)
    assert hint.startswith('after line 17 add  pto.set_flag["PIPE_S", "PIPE_V", "EVENT_ID0"]')


def test_comments_and_blank_lines_do_not_move_the_place() -> None:
    source = text(
        load() + order("MTE2", "V") + COPY.replace("    }\n", "    }  // done\n\n    // the result\n") + store() + ALL
    )
    (hint,) = follow(source)
    assert hint.startswith("after line 20 add  pto.set_flag")


def test_a_carrier_loop_is_a_scope() -> None:
    carrier = "    scf.for %i = %c0 to %c1 step %c1 {\n" + MASK + vlds() + vsts() + "    } {llvm.loop.aivector_scope}\n"
    assert len(follow(text(load() + carrier + store() + ALL))) == 2


def test_a_missing_prime_is_not_a_race() -> None:
    report = check(take("V", "MTE2") + READY + put("V", "MTE2") + order("V", "MTE3") + store() + ALL)
    assert [finding.kind for finding in report.findings] == ["deadlock"]
