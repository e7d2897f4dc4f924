"""Random micro programs, judged by a machine that shares nothing with the analysis (`fuzz.orders` says by what)."""

from collections import Counter

import pytest

import ptosim
from fuzz.orders import checking, completing, inserting, repairing, table, tried
from order.known_wrong import KNOWN_WRONG
from order.micro_machine import outcome
from order.micro_programs import STYLES, micro_program

SEED, COUNT, PARTS = 1, 1000, 20


def _wrong(numbers: range, checked: int, repaired: int) -> tuple[set[tuple[str, int]], str]:
    """The wrong answers that are not known yet, and what was asked; each so many programs one is checked, repaired."""
    wrong, told, texts = set[tuple[str, int]](), Counter[tuple[str, str]](), list[str]()
    for number in numbers:
        more = [inserting, completing, *([checking] if number % checked == 0 else [])]
        more += [repairing] if number % repaired == 3 else []
        trial = tried(SEED, number, *more)
        if trial is None:
            continue
        told[trial.program.style, f"{trial.verdict} {'with a fault' if trial.bad is not None else 'clean'}"] += 1
        for kind, what in trial.wrong:
            if number not in KNOWN_WRONG.get(kind, ()):
                wrong.add((kind, number))
                texts.append(f"{kind} {number}: {what}\n{trial.program.text}")
    return wrong, "\n".join([*table(told), *texts])


def test_a_sample_of_programs():
    wrong, told = _wrong(range(6), checked=7, repaired=6)
    assert not wrong, told


@pytest.mark.full
@pytest.mark.parametrize("part", range(PARTS))
def test_all_programs(part: int):
    wrong, told = _wrong(range(part, COUNT, PARTS), checked=20, repaired=50)
    assert not wrong, told


def test_the_styles_are_told_apart_and_most_programs_load():
    programs = [micro_program(2, number) for number in range(40)]
    assert [program.style for program in programs[:5]] == list(STYLES)
    assert len({program.text for program in programs}) == len(programs)
    loaded = 0
    for program in programs:
        try:
            ptosim.load(program.text)
            loaded += 1
        except ptosim.PTOError:
            assert program.style == "edited"  # a line moved out of where its values are
    assert loaded >= 36


# --- the judge, by hand -----------------------------------------------------------------------------------------------

KERNEL = """module attributes {{pto.target_arch = "a5"}} {{
  func.func @k(%x: !pto.ptr<f32, gm>, %y: !pto.ptr<f32, gm>, %n: index) attributes {{pto.kernel}} {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %l0 = arith.constant 0 : i64
    %l1 = arith.constant 1 : i64
    %l256 = arith.constant 256 : i64
    %ub = pto.castptr %l0 : i64 -> !pto.ptr<f32, ub>
{body}
    return
  }}
}}
"""
BURST = "nburst(%l1, %l256, %l256)"
LOAD = f"pto.mte_gm_ub %x, %ub, %l0, %l256 {BURST} : !pto.ptr<f32, gm>, !pto.ptr<f32, ub>, i64, i64, i64, i64, i64"
STORE = f"pto.mte_ub_gm %ub, %y, %l256 {BURST} : !pto.ptr<f32, ub>, !pto.ptr<f32, gm>, i64, i64, i64, i64"
FIRST = KERNEL.split("{body}")[0].count("\n") + 1
"""The line of the first operation of a body."""


def flag(half: str, ends: str, id_: int = 0) -> str:
    source, target = ends.split()
    return f'pto.{half}_flag["PIPE_{source}", "PIPE_{target}", "EVENT_ID{id_}"]'


def buffer(pipe: str, *held: str) -> list[str]:
    get, release = (f'pto.{half}_buf "PIPE_{pipe}", %l1, %l0 : i64, i64' for half in ("get", "rls"))
    return [get, *held, release]


TO, BACK = ("MTE2 MTE3", "MTE3 MTE2")
PAIR = [flag("set", TO), flag("wait", TO)]
LOOP, END, ALL = "scf.for %i = %c0 to %n step %c1 {", "}", "pto.barrier #pto.pipe<PIPE_ALL>"


@pytest.mark.parametrize(
    ("body", "trips", "kinds"),
    [
        ([LOAD, STORE], 0, {"race"}),
        ([LOAD, *PAIR, STORE], 0, set()),
        ([LOAD, flag("set", TO), flag("wait", TO, 1), STORE], 0, {"hang"}),
        ([LOAD, *PAIR, STORE, LOAD], 0, {"race"}),  # the load may overwrite what is being stored
        ([LOAD, *PAIR, STORE, flag("set", BACK), flag("wait", BACK), LOAD], 0, set()),
        ([LOAD, LOAD], 0, {"race"}),  # copies of one pipe may end in any order
        ([LOAD, "pto.barrier #pto.pipe<PIPE_MTE2>", LOAD], 0, set()),
        ([LOAD, "pto.barrier #pto.pipe<PIPE_MTE3>", STORE], 0, {"race"}),
        ([LOAD, ALL, STORE], 0, set()),
        ([flag("set", TO), flag("set", TO), flag("wait", TO), flag("wait", TO)], 0, {"double-set"}),
        ([*PAIR, *PAIR], 0, {"double-set"}),  # nothing tells MTE2 that the first flag was taken
        ([*PAIR, flag("set", BACK), flag("wait", BACK), *PAIR], 0, set()),
        ([flag("set", TO)], 0, {"undrained"}),
        ([flag("wait", TO), STORE, LOAD, flag("set", TO)], 0, set()),  # the pipe waits, the program goes on
        ([flag("wait", TO), ALL, flag("set", TO)], 0, {"hang"}),
        ([flag("wait", TO), flag("set", BACK), flag("wait", BACK), flag("set", TO)], 0, {"hang"}),
        ([LOOP, LOAD, *PAIR, STORE, END], 1, set()),
        ([LOOP, LOAD, *PAIR, STORE, END], 2, {"race", "double-set"}),
        ([flag("set", BACK), LOOP, flag("wait", BACK), LOAD, *PAIR, STORE, flag("set", BACK), END], 1, {"undrained"}),
        ([*buffer("MTE2", LOAD), *buffer("MTE3", STORE)], 0, set()),
        ([*buffer("MTE2", LOAD, *buffer("MTE3", STORE))], 0, {"race", "buffer-misuse"}),
        (buffer("MTE2", LOAD)[1:], 0, {"buffer-misuse"}),
        (buffer("MTE2", LOAD)[:-1], 0, {"buffer-misuse"}),
    ],
)
def test_the_machine_by_hand(body: list[str], trips: int, kinds: set[str]):
    text = KERNEL.format(body="\n".join(body))
    seen = outcome(text, (trips,))
    assert seen.kinds == kinds
    ptosim.load(text)


def test_a_fault_has_its_lines():
    seen = outcome(KERNEL.format(body="\n".join([LOAD, STORE, flag("wait", TO)])), (0,))
    assert seen.races == {(FIRST, FIRST + 1)} and seen.stuck == {FIRST + 2: ("MTE2", "MTE3")}


def test_what_the_machine_does_not_know_is_no_answer():
    with pytest.raises(ValueError, match="not known to the machine"):
        outcome(KERNEL.format(body="pto.fence.barrier_all #pto.fence_scope<gm>"), (0,))


def test_an_answer_that_is_wrong_is_seen(monkeypatch: pytest.MonkeyPatch):
    """Were everything called proven, or nothing repaired or ordered right, the trial would say so."""
    number = next(n for n in range(100) if (found := tried(SEED, n)) is not None and found.bad is not None)
    proof = type("", (), {"proven": True, "findings": ()})()
    monkeypatch.setattr(ptosim, "prove", lambda kernel: proof)
    found = tried(SEED, number)
    assert found is not None and [kind for kind, _ in found.wrong] == ["proven"]


def test_launches_try_every_branch_and_ten_trip_counts():
    program = next(p for n in range(200) if len((p := micro_program(3, n)).parameters) == 3 and "q" in p.parameters)
    launches = program.launches()
    assert {launch[-1] for launch in launches} == {0, 1} and {launch[0] for launch in launches} == set(range(10))
