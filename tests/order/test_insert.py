"""Inserted order: sound for every number of iterations and every branch, and nothing in it that is not needed.

What has to hold is judged by a replay with clocks that was written apart from the analysis (random_order.py), and the
numbers of pairs are those worked out by hand for each program.
"""

from __future__ import annotations

import random
from itertools import combinations
from typing import Any

import pytest

from order.random_order import Buffer, Replay, Written, program_of, random_program
from ptosim.effects.names import Pipe
from ptosim.order.conflict import Conflicts
from ptosim.order.insert import FEW, insert
from ptosim.order.pairs import Inserted, Pair
from ptosim.order.rounds import EarlyStart
from ptosim.order.state import State
from ptosim.order.walk import Walker

MTE2, V, MTE3, S = Pipe.MTE2, Pipe.V, Pipe.MTE3, Pipe.S
A, B, C = (Buffer(number, 1, 0) for number in range(3))
A2, B2 = Buffer(0, 2, 0), Buffer(1, 2, 0)


def work(pipe: Pipe, *touches: tuple[Buffer, str] | tuple[Buffer, str, int]) -> Any:
    return ("work", pipe, [(touch[0], touch[2] if len(touch) > 2 else 0, touch[1] == "w") for touch in touches])


def loop(*body: Any) -> Any:
    return ("loop", list(body))


def inserted(*text: Any) -> tuple[Written, Inserted]:
    written = program_of(list(text))
    return written, insert(written.program)


def shape(found: Inserted) -> list[tuple[str, str, int, int | None]]:
    return sorted((pair.source, pair.destination, pair.distance, pair.lanes) for pair in found.pairs)


def is_sound(written: Written, found: Inserted, times: int = 25) -> bool:
    return not any(Replay(found, seed).run(written) for seed in range(times))


# --- programs worked out by hand --------------------------------------------------------------------------------------


def test_a_chain_needs_one_pair_for_each_of_its_steps():
    """Load, load, add, store: both loads are covered by a set behind the second."""
    written, found = inserted(
        work(MTE2, (A, "w")), work(MTE2, (B, "w")), work(V, (A, "r"), (B, "r"), (C, "w")), work(MTE3, (C, "r"))
    )
    assert shape(found) == [("MTE2", "V", 0, 1), ("V", "MTE3", 0, 1)]
    assert is_sound(written, found)


def test_a_loop_over_one_buffer_each_needs_a_pair_there_and_one_back():
    written, found = inserted(loop(work(MTE2, (A, "w")), work(V, (A, "r"), (B, "w")), work(MTE3, (B, "r"))))
    expected = [("MTE2", "V", 0, 1), ("MTE3", "V", 1, 1), ("V", "MTE2", 1, 1), ("V", "MTE3", 0, 1)]
    assert shape(found) == expected and not found.barriers
    assert is_sound(written, found)


def test_two_slots_let_two_iterations_overlap():
    """The eight keys of the ping/pong pattern: two ids for each of four pairs, the way back primed twice."""
    body = (work(MTE2, (A2, "w")), work(V, (A2, "r"), (B2, "w")), work(MTE3, (B2, "r")))
    written, found = inserted(loop(*body))
    expected = [("MTE2", "V", 0, 2), ("MTE3", "V", 2, 2), ("V", "MTE2", 2, 2), ("V", "MTE3", 0, 2)]
    assert shape(found) == expected and not found.barriers
    assert is_sound(written, found)


def test_a_load_one_slot_ahead_of_its_store_is_primed_once():
    """Load slot i + 1, store slot i: what one iteration loads the next one stores, and the store frees its slot for the
    next load. Copies of MTE2 are ordered by the way through MTE3 and need no barrier."""
    written, found = inserted(loop(work(MTE2, (A2, "w", 1)), work(MTE3, (A2, "r", 0))))
    assert shape(found) == [("MTE2", "MTE3", 1, 2), ("MTE3", "MTE2", 1, 2)] and not found.barriers
    assert is_sound(written, found)


def test_what_is_read_behind_a_loop_waits_for_the_loop():
    written, found = inserted(loop(work(MTE2, (A, "w"))), work(V, (A, "r")))
    assert shape(found) == [("MTE2", "V", 0, 1)]
    assert [barrier.pipe for barrier in found.barriers] == [MTE2]
    assert is_sound(written, found)


def test_entries_of_opposite_arms_never_meet():
    text = ("if", [work(MTE2, (A, "w"))], [work(V, (A, "r"))])
    _, found = inserted(text)
    assert not found.pairs and not found.barriers


def test_in_a_loop_opposite_arms_do_meet():
    written, found = inserted(loop(("if", [work(MTE2, (A, "w"))], [work(V, (A, "r"))])))
    assert {pair.key for pair in found.pairs} == {(MTE2, V), (V, MTE2)}
    assert is_sound(written, found)


def test_copies_of_one_pipe_into_the_same_bytes_get_a_barrier():
    _, found = inserted(work(MTE2, (A, "w")), work(MTE2, (A, "w")))
    assert [barrier.pipe for barrier in found.barriers] == [MTE2] and not found.pairs


def test_the_vector_pipe_needs_no_barrier_where_it_is_serial():
    _, found = inserted(work(V, (A, "w")), work(V, (A, "r"), (B, "w")), work(V, (B, "r")))
    assert not found.barriers and not found.pairs


def test_a_scalar_load_waits_and_a_scalar_store_is_waited_for():
    _, found = inserted(work(V, (A, "w")), work(S, (A, "r")), work(S, (B, "w")), work(MTE3, (B, "r")))
    assert shape(found) == [("S", "MTE3", 0, 1), ("V", "S", 0, 1)]


def test_nothing_waits_for_a_scalar_load():
    """It has ended when anything behind it is issued."""
    _, found = inserted(work(S, (A, "r")), work(V, (A, "w")))
    assert not found.pairs and not found.barriers


def test_a_pair_without_a_way_back_gets_one():
    """A producer that nothing holds back would set again and again before it is waited for."""
    written, found = inserted(loop(loop(work(MTE2, (A, "w"))), work(V, (A, "r")), work(V, (B, "w"))))
    assert is_sound(written, found)
    assert all(pair.lanes is not None and pair.base + pair.lanes <= 8 for pair in found.pairs)


def test_more_pairs_than_ids_fall_back_on_a_barrier_of_everything():
    """Twenty loads, each awaited by itself, with every wait behind every set."""
    buffers = [Buffer(number, 1, 0) for number in range(20)]
    text = [work(MTE2, (buffer, "w")) for buffer in buffers] + [work(V, (buffer, "r")) for buffer in buffers]
    written, found = inserted(*text)
    assert is_sound(written, found)
    assert all(pair.base + (pair.lanes or 1) <= 8 for pair in found.pairs)


# --- random programs --------------------------------------------------------------------------------------------------


def _missing(found: list[int]) -> Any:
    def note(walker: Walker, state: State, meeting: EarlyStart, open_: int) -> None:
        found.append(open_)
        state.open[meeting.later.pipe] &= ~open_

    return note


def needed(written: Written, found: Inserted) -> bool:
    """Whether the analysis fails without any one of the pairs and barriers: something is missing, or a pair is set
    again before it is waited for."""
    conflicts = Conflicts(written.program)
    for item in (*found.pairs, *found.barriers):
        found.remove(item)
        missing: list[int] = []
        Walker(written.program, conflicts, found, _missing(missing)).walk()
        unlimited = any(pair.lanes is None or pair.lanes > 8 for pair in found.pairs)
        found.add(item)
        if not missing and not unlimited:
            return False
    return True


def assert_sound(seed: int, written: Written, found: Inserted) -> None:
    for replay in range(25):
        problems = Replay(found, replay).run(written)
        assert not problems, f"program {seed}, replay {replay}: {problems[0]}"


@pytest.mark.parametrize("seeds", [range(250), pytest.param(range(10_150, 10_250), marks=pytest.mark.full)], ids=str)
def test_random_programs_are_in_order_whatever_they_do(seeds: range):
    """Those in between: with what is proven of them, in test_prove.py."""
    for seed in seeds:
        written = random_program(seed)
        assert_sound(seed, written, insert(written.program))


def test_every_pair_and_barrier_is_needed():
    for seed in range(150):
        written = random_program(seed)
        found = insert(written.program)
        if not any(barrier.pipe is Pipe.ALL for barrier in found.barriers):
            assert needed(written, found), seed


SERIAL = [Pipe.V, Pipe.MTE1, Pipe.M, Pipe.FIX]


def straight_line(seed: int) -> list[Any]:
    """Entries of serial pipes, without loops and branches."""
    dice = random.Random(seed)
    buffers = [Buffer(number, 1, 0) for number in range(dice.randint(2, 5))]
    return [
        ("work", dice.choice(SERIAL), [(b, 0, dice.random() < 0.5) for b in dice.sample(buffers, dice.randint(1, 2))])
        for _ in range(dice.randint(4, 12))
    ]


def least_edges(text: list[Any]) -> int:
    """How many pairs the transitive reduction of all dependences has: worked out on the graph of entries alone. A set
    behind x covers what its pipe did before, a wait before y holds what its pipe does afterwards."""
    pipes = [pipe for _, pipe, _ in text]
    needs = [
        (a, b)
        for b in range(len(text))
        for a in range(b)
        if pipes[a] is not pipes[b] and any(p[0] is q[0] and (p[2] or q[2]) for p in text[a][2] for q in text[b][2])
    ]

    def is_kept(a: int, b: int, edges: list[tuple[int, int]]) -> bool:
        reached, found = [(pipes[a], a)], set[tuple[int, int]]()
        while reached:
            pipe, place = reached.pop()
            for x, y in edges:
                if pipes[x] is pipe and x >= place and (x, y) not in found:
                    found.add((x, y))
                    reached.append((pipes[y], y))
        return any(pipes[y] is pipes[b] and y <= b for _, y in found)

    kept = list(needs)
    for edge in needs:
        rest = [other for other in kept if other != edge]
        if all(is_kept(a, b, rest) for a, b in needs):
            kept = rest
    return len(kept)


def test_straight_line_code_has_the_transitive_reduction():
    several = 0
    for seed in range(300):
        text = straight_line(seed)
        found = insert(program_of(text).program)
        if not found.barriers:
            least = least_edges(text)  # for a few entries one pair may do for two of these
            assert len(found.pairs) == least or (len(text) <= FEW and len(found.pairs) < least), seed
            several += len(found.pairs) > 2
    assert several > 100


def test_the_replay_notices_what_is_missing():
    """Each single pair and barrier taken away shows in some replay, else the replay would prove nothing."""
    unnoticed = total = 0
    for seed in range(60):
        written = random_program(seed)
        found = insert(written.program)
        for item in (*found.pairs, *found.barriers):
            found.remove(item)
            unnoticed += not any(Replay(found, replay).run(written) for replay in range(25))
            total += 1
            found.add(item)
    assert unnoticed < total / 10, f"{unnoticed} of {total}"


def test_a_pair_says_which_two_entries_it_orders():
    _, found = inserted(work(MTE2, (A, "w")), work(V, (A, "r")))
    (pair,) = found.pairs
    assert isinstance(pair, Pair) and [entry.number for entry in pair.serves] == [0, 1]


# --- no more than the least -------------------------------------------------------------------------------------------

COPIES = (Pipe.MTE2, Pipe.V, Pipe.MTE3)


def few_entries(seed: int) -> list[Any]:
    """Up to six copies in, vector operations and copies out on a few buffers."""
    dice = random.Random(seed)
    buffers = [Buffer(number, 1, 0) for number in range(dice.randint(1, 4))]
    text: list[Any] = []
    for _ in range(dice.randint(3, 6)):
        pipe = dice.choice(COPIES)
        used = dice.sample(buffers, min(len(buffers), dice.randint(1, 2) if pipe is Pipe.V else 1))
        text.append(
            ("work", pipe, [(b, 0, pipe is Pipe.MTE2 or (pipe is Pipe.V and dice.random() < 0.5)) for b in used])
        )
    return text


def is_ordered(text: list[Any], items: tuple[Any, ...]) -> bool:
    """Whether pairs (behind one entry, before another) and barriers (None, before one) order entries: by what each pipe
    does not know to have ended."""
    open_, tokens = {pipe: set[int]() for pipe in COPIES}, dict[Any, set[int]]()
    for number, (_, pipe, touched) in enumerate(text):
        for item in (each for each in items if each[1] == number):
            if item[0] is None:
                open_[pipe] -= {each for each in open_[pipe] if text[each][1] is pipe}
            else:
                open_[pipe] &= tokens[item]
        for other in open_[pipe]:
            meets = any(p[0] is q[0] and (p[2] or q[2]) for p in text[other][2] for q in touched)
            if meets and not (text[other][1] is pipe is Pipe.V):
                return False
        for known in (*(open_[each] for each in COPIES if each is not pipe or pipe is not Pipe.V), *tokens.values()):
            known.add(number)
        for item in (each for each in items if each[0] == number):
            tokens[item] = {each for each in open_[pipe] if text[each][1] is not pipe}
    return True


@pytest.mark.parametrize("seeds", [range(40), pytest.param(range(40, 240), marks=pytest.mark.full)], ids=str)
def test_few_entries_get_no_more_than_the_least(seeds: range):
    for seed in seeds:
        text = few_entries(seed)
        found = insert(program_of(text).program)
        pipes, count = [pipe for _, pipe, _ in text], len(found.pairs) + len(found.barriers)
        places = [(a, b) for b in range(len(text)) for a in range(b) if pipes[a] is not pipes[b]]
        places += [(None, b) for b in range(1, len(text)) if pipes[b] is not Pipe.V]
        fewer = (items for size in range(count) for items in combinations(places, size))
        assert not any(is_ordered(text, items) for items in fewer), seed
