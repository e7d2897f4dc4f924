"""Scalar arithmetic in every domain, held to the table of the reference engine by random expressions."""

from collections.abc import Callable
from random import Random
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from native.compiled import Bench
from ptosim.effects.element import element
from ptosim.effects.scalar import BINARY, Arithmetic, integers
from ptosim.native.ir.flow import FunctionBuilder
from ptosim.native.ir.ranges import IntegerRange, combined, everything
from ptosim.native.ir.values import I64, Type, Value, constant
from ptosim.native.scalar import IntegerInstructions
from ptosim.order import number as numbers
from ptosim.order.integers import ClosedForms, quotient
from ptosim.reference import catalogue
from ptosim.reference.semantics import SEMANTICS
from ptosim.repair.possible_values import FewIntegers

catalogue.defined()
LANES = 32
DIVISIONS = {name for name in BINARY if "div" in name or "rem" in name}
ORDERS = "eq ne slt sle sgt sge ult ule ugt uge".split()
CORE = SimpleNamespace(lint=lambda *_, **__: None, complain=lambda *_, **__: None)


def reference(name: str, a: int, b: int, bits: int) -> int:
    """What the reference engine computes, in a kernel with tiles: a quotient by zero is 0."""
    semantics = SEMANTICS[name]
    given = {"core": CORE, "site": None, "lhs": a, "rhs": b, "kind": element(f"i{bits}"), "goes_on": True}
    return semantics.function(**{role: given[role] for role in semantics.parameters})


def edges(bits: int) -> list[int]:
    wrap = integers(bits).wrap
    top = 1 << bits - 1
    return sorted({wrap(each) for each in (0, 1, 2, 3, 7, -1, -2, -7, top, top - 1, top + 1, bits, bits - 1)})


@pytest.mark.parametrize("bits", (1, 8, 16, 32, 64))
@pytest.mark.parametrize("name", sorted(BINARY))
def test_constants_and_arrays_of_lanes(name: str, bits: int):
    random = Random(f"{name} {bits}")
    drawn = [[integers(bits).wrap(random.getrandbits(64)) for _ in range(2)] for _ in range(100)]
    pairs = [*((a, b) for a in edges(bits) for b in edges(bits)), *drawn]
    rule = integers(bits).rule(name)
    assert rule is not None
    expected = [reference(name, a, b, bits) for a, b in pairs]
    assert [rule(a, b) for a, b in pairs] == expected
    kind = np.int64 if bits <= LANES else object
    for start in range(0, len(pairs), LANES):
        a, b = (np.array(lanes, kind) for lanes in zip(*pairs[start : start + LANES], strict=True))
        assert rule(a, b).tolist() == expected[start : start + LANES]


@pytest.mark.parametrize("bits", (1, 8, 64))
def test_comparisons_and_widths(bits: int):
    compare = SEMANTICS["arith.cmpi"].function
    kind = element(f"i{bits}")
    for a in edges(bits):
        for b in edges(bits):
            for predicate in ORDERS:
                assert integers(bits).cmpi(predicate, a, b) == compare(a, b, predicate, kind)
        for other in (1, 8, 32, 64):
            for name, signed in (("arith.extsi", True), ("arith.extui", False)):
                expected = SEMANTICS[name].function(a, kind, element(f"i{other}"))
                assert integers(bits).resized(a, other, signed) == expected


# --- random expressions -----------------------------------------------------------------------------------------------

Leaves = dict[str, Any]
Expression = Any
"""The name of a leaf, an int, or an operation with its operands."""


def drawn(random: Random, depth: int, leaves: str) -> Expression:
    if not depth or random.random() < 0.15:
        return random.choice(leaves) if random.random() < 0.6 else random.choice((0, 1, 2, 3, 5, 8, 31, -1, -4))
    return random.choice(sorted(BINARY)), drawn(random, depth - 1, leaves), drawn(random, depth - 1, leaves)


def evaluated(expression: Expression, leaves: Leaves, operate: Callable[[str, Any, Any], Any], literal: Any) -> Any:
    if isinstance(expression, str):
        return leaves[expression]
    if isinstance(expression, int):
        return literal(expression)
    name, *operands = expression
    given = [evaluated(operand, leaves, operate, literal) for operand in operands]
    return None if any(each is None for each in given) else operate(name, *given)


def exactly(expression: Expression, leaves: Leaves, bits: int) -> int:
    return evaluated(expression, leaves, lambda name, a, b: reference(name, a, b, bits), int)


def in_domain(domain: Arithmetic, expression: Expression, leaves: Leaves, literal: Any) -> Any:
    def operate(name: str, a: Any, b: Any) -> Any:
        rule = domain.rule(name)
        assert rule is not None
        return rule(a, b)

    return evaluated(expression, leaves, operate, literal)


SAMPLE = 400


def test_small_sets_hold_every_result():
    random, told = Random(1), 0
    for _ in range(SAMPLE):
        expression = drawn(random, 3, "ab")
        sets = {leaf: frozenset(random.sample(range(8), 2)) for leaf in "ab"}
        found = in_domain(FewIntegers(32), expression, sets, lambda number: frozenset({number}))
        if found is not None:
            told += 1
            assert {exactly(expression, {"a": a, "b": b}, 32) for a in sets["a"] for b in sets["b"]} <= found
    assert told > SAMPLE // 2


def test_ranges_hold_every_result():
    random, told = Random(2), 0
    instructions = {f"{name}i": name for name in ("add", "sub", "mul", "and", "or", "xor")}
    instructions |= {
        "divui": "udiv",
        "divsi": "sdiv",
        "remui": "urem",
        "remsi": "srem",
        "shrsi": "ashr",
        "shrui": "lshr",
    }
    names = {f"arith.{name}": instruction for name, instruction in instructions.items()}
    for _ in range(SAMPLE):
        low = {leaf: random.randrange(-4, 20) for leaf in "ab"}
        high = {leaf: low[leaf] + random.randrange(6) for leaf in "ab"}
        expression = (
            random.choice(sorted(names)),
            "a",
            (random.choice(sorted(names)), "b", random.choice((1, 2, 3, 8))),
        )
        results = {leaf: IntegerRange(low[leaf], high[leaf]) for leaf in "ab"}
        found = evaluated(
            expression,
            results,
            lambda name, a, b: combined(names[name], a, b, 32),
            lambda number: IntegerRange(number, number),
        )
        told += found != everything(32)
        for a in range(low["a"], high["a"] + 1):
            for b in range(low["b"], high["b"] + 1):
                if is_defined(expression, {"a": a, "b": b}):
                    assert found.low <= exactly(expression, {"a": a, "b": b}, 32) <= found.high
    assert told > SAMPLE // 3


def is_defined(expression: Expression, leaves: Leaves) -> bool:
    """Whether no instruction divides by zero or shifts by the width or more."""
    if not isinstance(expression, tuple):
        return True
    name, a, b = expression
    by = exactly(b, leaves, 32)
    well = by != 0 if name in DIVISIONS else 0 <= by < 32 if "sh" in name else True
    return well and is_defined(a, leaves) and is_defined(b, leaves)


def test_closed_forms_of_loop_indices():
    random, told = Random(3), 0
    domain = ClosedForms(lambda a, b: a * b, quotient)
    for _ in range(SAMPLE):
        expression = drawn(random, 3, "i")
        index = numbers.Symbol((1,), 0, 15, is_iteration=True)
        found = in_domain(domain, expression, {"i": numbers.symbol(index)}, int)
        results = [exactly(expression, {"i": turn}, 64) for turn in range(16)]
        partial = [exactly(part, {"i": turn}, 64) for part in parts(expression) for turn in range(16)]
        if found is None or max(map(abs, partial)) > 1 << 40 or not all(parts_are_natural(expression)):
            continue
        told += 1
        low, high = numbers.bounds(found)
        assert all((low is None or low <= each) and (high is None or each <= high) for each in results), expression
        if isinstance(found, numbers.Linear) and set(found.terms) == {index}:
            assert results == [found.constant + found.terms[index] * turn for turn in range(16)]
        if isinstance(found, numbers.Periodic) and found.is_by_turns:
            assert results == [found.values[turn % len(found.values)] for turn in range(16)]
    assert told > SAMPLE // 8


def parts(expression: Expression) -> list[Expression]:
    return (
        [expression, *(part for each in expression[1:] for part in parts(each))]
        if is_made(expression)
        else [expression]
    )


def is_made(expression: Expression) -> bool:
    return isinstance(expression, tuple)


def parts_are_natural(expression: Expression) -> list[bool]:
    """For divisions and amounts of shifts, which closed forms take to be defined."""
    return [
        exactly(part[2], {"i": turn}, 64) > 0 if part[0] in DIVISIONS else 0 <= exactly(part[2], {"i": turn}, 64) < 64
        for part in parts(expression)
        if is_made(part) and (part[0] in DIVISIONS or "sh" in part[0])
        for turn in range(16)
    ]


@pytest.mark.parametrize("bits", (8, 32, 64))
def test_compiled_code(bits: int):
    random = Random(bits)
    found = [each for each in (drawn(random, 3, "ab") for _ in range(60)) if not uses(each, DIVISIONS)]
    kind = Type(f"i{bits}")

    def build(f: FunctionBuilder, _memory: Value, *given: Value) -> list[Value]:
        leaves = {leaf: value.trunc(kind) for leaf, value in zip("ab", given, strict=True)}
        domain = IntegerInstructions(f, bits)
        results = [in_domain(domain, each, leaves, lambda number: constant(f, kind, number)) for each in found]
        return [result.sext(I64) for result in results]

    bench = Bench(build, 2)
    for a, b in [(random.choice(edges(bits)), random.choice(edges(bits))) for _ in range(20)]:
        outcome = bench.run(a, b)
        for index, expression in enumerate(found):
            assert outcome.number(index) == exactly(expression, {"a": a, "b": b}, bits), expression


def uses(expression: Expression, names: set[str]) -> bool:
    return any(is_made(part) and part[0] in names for part in parts(expression))
