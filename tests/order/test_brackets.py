"""Proofs of buffer brackets, of nests in which the inner loop runs once, and of cores that share memory unsignalled."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import ptosim
from observed import findings
from ptosim.report.proof import Proof

EXAMPLES = Path(__file__).parents[2] / "examples"
SEEDS = Path(__file__).parents[1] / "seeds"

HEAD = """
module attributes {pto.target_arch = "a5"} {
  func.func @kernel(%x: !pto.ptr<f32, gm>, %y: !pto.ptr<f32, gm>, %n: index, %m: index) attributes {pto.kernel} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c64 = arith.constant 64 : index
    %l0 = arith.constant 0 : i64
    %l1 = arith.constant 1 : i64
    %len = arith.constant 256 : i64
    %ub = pto.castptr %l0 : i64 -> !pto.ptr<f32, ub>
    %some = arith.cmpi sgt, %m, %c0 : index
"""
LOAD = (
    "pto.mte_gm_ub %x, %ub, %l0, %len nburst(%l1, %len, %len)"
    " : !pto.ptr<f32, gm>, !pto.ptr<f32, ub>, i64, i64, i64, i64, i64"
)
STORE = "pto.mte_ub_gm %ub, %y, %len nburst(%l1, %len, %len) : !pto.ptr<f32, ub>, !pto.ptr<f32, gm>, i64, i64, i64, i64"
ALL = "pto.barrier #pto.pipe<PIPE_ALL>"


def kernel(*lines: str) -> ptosim.Kernel:
    return ptosim.load("\n".join([HEAD, *lines, "return", "}", "}", ""])).kernel()


def proof(*lines: str) -> Proof:
    return ptosim.prove(kernel(*lines))


def kinds(subject: ptosim.Kernel, n: int, m: int) -> set[str]:
    return {found.kind for found in findings(subject, np.ones(64, "f4"), np.zeros(64, "f4"), n, m)}


def buffer(word: str, pipe: str, id_: str = "%l0") -> str:
    return f'pto.{word}_buf "PIPE_{pipe}", {id_}, %l0 : i64, i64'


def held(pipe: str, work: str, id_: str = "%l0") -> list[str]:
    return [buffer("get", pipe, id_), work, buffer("rls", pipe, id_)]


def loop(*lines: str, bound: str = "%n", index: str = "%i") -> list[str]:
    return [f"scf.for {index} = %c0 to {bound} step %c1 {{", *lines, "}"]


BOTH = [*held("MTE2", LOAD), *held("MTE3", STORE)]


def test_brackets_that_are_closed_where_they_are_opened_are_proven():
    barrier = "pto.barrier #pto.pipe<PIPE_MTE2>"
    assert proof(*BOTH, ALL).proven
    assert proof(*loop(*held("MTE2", LOAD), barrier), ALL).proven
    assert proof("scf.if %some {", *held("MTE2", LOAD), "}", ALL).proven
    assert proof(*loop(*held("MTE2", LOAD), *held("V", ""), barrier, *held("V", "", "%l1")), ALL).proven


@pytest.mark.parametrize(
    "lines",
    [
        [LOAD, buffer("rls", "MTE2")],
        [*BOTH[:2], buffer("get", "MTE2"), *BOTH[2:]],
        [*BOTH[:2], buffer("get", "MTE3"), buffer("rls", "MTE2"), STORE, buffer("rls", "MTE3")],
        [buffer("get", "MTE2"), LOAD],
        [*loop(buffer("get", "MTE2"), LOAD)],
        [*loop(*held("MTE2", LOAD), buffer("rls", "MTE2"))],
        [buffer("get", "MTE2"), LOAD, *loop(buffer("rls", "MTE2"))],
        ["scf.if %some {", buffer("get", "MTE2"), "}", LOAD, buffer("rls", "MTE2")],
    ],
    ids=["release alone", "twice", "overlapping", "never released", "in a loop", "released twice", "many", "branch"],
)
def test_misused_buffers_are_not_proven(lines: list[str]):
    subject = kernel(*lines, ALL)
    assert any("buffer-misuse" in kinds(subject, n, m) for n in range(3) for m in range(2))
    found = ptosim.prove(subject)
    assert not found.proven
    assert "buffer-misuse" in {each.kind for each in (*found.findings, *found.undecided)}


def test_the_misuse_of_a_buffer_is_a_counterexample_that_a_check_confirms():
    subject = kernel(LOAD, buffer("rls", "MTE2"), ALL)
    found = ptosim.prove(subject, np.ones(64, "f4"), np.zeros(64, "f4"), 1, 1)
    assert [each.kind for each in found.findings] == ["buffer-misuse"] and found.confirmed is True


def _without_or_twice(text: str) -> list[str]:
    """The text without one of its brackets' ends, or with one twice."""
    lines = text.splitlines()
    at = [number for number, line in enumerate(lines) if "pto.get_buf" in line or "pto.rls_buf" in line]
    changed = [(*lines[:number], *[lines[number]] * times, *lines[number + 1 :]) for number in at for times in (0, 2)]
    return ["\n".join(each) + "\n" for each in changed]


def test_an_end_of_a_bracket_that_is_dropped_or_doubled_is_never_proven():
    text = (SEEDS / "sync_example_3b_ping_pong_buffers.pto").read_text()
    assert ptosim.prove(ptosim.load(text).kernel()).proven
    changed = _without_or_twice(text)
    assert len(changed) >= 16
    assert not any(ptosim.prove(ptosim.load(each).kernel()).proven for each in changed)


# --- the loop that repeats --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("inner", ["%c1", "%c2", "%m"])
def test_every_loop_of_a_nest_is_tried_as_the_one_that_repeats(inner: str):
    """Set, and waited for, around a loop that may run once: the next set comes with the outer loop."""
    prime = 'pto.set_flag["PIPE_MTE3", "PIPE_MTE2", "EVENT_ID0"]'
    drain = 'pto.wait_flag["PIPE_MTE3", "PIPE_MTE2", "EVENT_ID0"]'
    body = [drain, LOAD, ALL, prime]
    subject = kernel(*loop(*loop(prime, *body, drain, bound=inner, index="%t")))
    assert any("double-set" in kinds(subject, n, 1) for n in range(3))
    found = ptosim.prove(subject)
    assert "double-set" in {each.kind for each in found.findings}


# --- cores without signals --------------------------------------------------------------------------------------------


def test_cores_that_share_memory_and_never_signal_are_not_proven():
    lines = (EXAMPLES / "producer_consumer_a5.pto").read_text().splitlines()
    bare = [line for line in lines if "set_intra_block" not in line and "wait_intra_block" not in line]
    assert len(bare) < len(lines)
    found = ptosim.prove(ptosim.load("\n".join(bare) + "\n").kernel())
    assert not found.proven and "race" in {each.kind for each in found.findings}
