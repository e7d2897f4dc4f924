"""Kernels in order whose ids, bounds and strides are made into arguments, one at a time: none is called wrong."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import ptosim
from order.micro_programs import micro_program

EXAMPLES = Path(__file__).parents[2] / "examples"
CONSTANT = re.compile(r"^ *(%\w+) = arith\.constant (\d+) : (index|i64|i32)\n", re.MULTILINE)
FUNCTION = re.compile(r"func\.func(?: public)? @\w+\(([^)]*)\)")


def variants(text: str) -> Iterator[tuple[str, ptosim.Kernel]]:
    """The kernel with one of its constants as an argument, as far as that loads."""
    for found in CONSTANT.finditer(text):
        rest = text[: found.start()] + text[found.end() :]
        for function in [*FUNCTION.finditer(rest)][:1]:
            given = ", ".join(filter(None, (function[1], f"{found[1]}: {found[3]}")))
            try:
                yield found[1], ptosim.load(rest[: function.start(1)] + given + rest[function.end(1) :]).kernel()
            except ptosim.PTOError:
                continue


@pytest.mark.parametrize("name", ["add", "pingpong", "producer_consumer_a5", "softmax"])
def test_examples(name: str):
    for constant, kernel in variants((EXAMPLES / f"{name}.pto").read_text()):
        assert not (found := ptosim.prove(kernel).findings), f"{constant}: {found[0]}"


@pytest.mark.parametrize("number", [3, 7, 13])
def test_random_programs(number: int):
    text = micro_program(555, number).text
    if ptosim.prove(ptosim.load(text).kernel()).proven:
        for constant, kernel in variants(text):
            assert not (found := ptosim.prove(kernel).findings), f"{constant}: {found[0]}"


def test_a_race_with_any_stride_is_one():
    """Without its flags the rows of two iterations meet in UB, however far they lie apart in GM."""
    text = (EXAMPLES / "pingpong.pto").read_text()
    bare = "\n".join(line for line in text.split("\n") if "_flag" not in line)
    found = (ptosim.prove(kernel) for _, kernel in variants(bare))
    assert any(each.counterexample is not None and each.counterexample.kind == "race" for each in found)
