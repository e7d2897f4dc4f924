"""One reading finds several syntax errors, each once, and says nothing of what only follows from them."""

import random

import pytest
from xdsl.utils.exceptions import MultipleSpansParseError, ParseError

from language import test_fuzz as damaged
from ptosim.diagnostics import PTOError, Source
from ptosim.language.text import parser
from ptosim.language.text.located_parser import LocatedParser
from ptosim.language.text.recovery import MOST_ERRORS
from tables import table

HEAD = """module attributes {pto.target_arch = "a5"} {
  func.func @k(%x: !pto.ptr<f32, gm>, %n: index) attributes {pto.kernel} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0 : i64
"""
TAIL = "    return\n  }\n}\n"


def found(text: str) -> list[tuple[int, int, str]]:
    with pytest.raises(PTOError) as caught:
        parser.parse(Source("kernel.pto", text))
    return [(one.location.line, one.location.column, one.message) for one in caught.value.diagnostics if one.location]


def lines(body: str) -> list[int]:
    """Of the body, which begins with 1."""
    return [line - HEAD.count("\n") for line, _, _ in found(HEAD + body + TAIL)]


@table(
    "body, expected",
    ("pto.set_flg 1\npto.barrier 7\n", [1, 2]),
    ("%a = arith.addi %b, %c0 : index\n%d = arith.addi %a, %e : index\n", [1]),
    ("%a = arith.addi %b, %c0 : index\n%d = arith.addi %a, %a : index\n%f = arith.muli %d, %c0 : index\n", [1]),
    ("%a = arith.addi %b, %c0 : index\n%d = arith.addi %b, %c0 : index\n", [1]),
    ("scf.for %i = %c0 too %n step %c0 {\n%v = arith.addi %i, %i : index\npto.what\n}\npto.who\n", [1, 3, 5]),
    ("scf.for %i = %c0 to %n step %c0 {\npto.what\nscf.yeld\n}\npto.who\n", [2, 3, 5]),
    ("scf.if %t {\npto.what\n} else {\npto.how\n}\npto.who\n", [1, 2, 4, 6]),
    ("= arith.constant 1 : index\npto.what\n", [0, 2]),
    ("pto.vecscope {\n$\npto.what\n}\n%s = pto.vlds %x[%c0] :\n", [2, 3, 5]),
    ("scf.if %t { pto.what }\npto.who\n", [1, 2]),
    (
        "%u = arith.cmpi eq, %c0, %n : index\n"
        "scf.if %u { %w = arith.constant 1 : index %q = arith.addi %n, %n {a = 1} 7 }\n%w = arith.constant 2 : index\n",
        [2],
    ),
    ('pto.trap "never closed\npto.what\n', [1, 2]),
    ("%q = arith.constant 1 : index\n  : index\npto.what\n", [1, 3]),
)
def test_every_operation_is_read(body: str, expected: list[int]) -> None:
    assert lines(body) == expected


def test_functions_behind_a_wrong_one_are_read() -> None:
    text = "func.func @a(%x: i33x) {\n  return\n}\nfunc.func @b() {\n  pto.what\n  return\n}\n}\n"
    assert [line for line, _, _ in found(text)] == [1, 5]


def test_no_more_than_twenty_are_told() -> None:
    assert lines("pto.what\n" * 50) == list(range(1, MOST_ERRORS + 1))


def test_a_reading_that_goes_on_tells_what_one_tells_that_ends() -> None:
    chance = random.Random(7)
    texts = [text for text in damaged.CORPUS if len(text) < 6000]
    for _ in range(150):
        damage = chance.choice((damaged.flip, damaged.delete, damaged.swap, damaged.repeat))
        source = Source("kernel.pto", damage(chance, chance.choice(texts)))
        if (first := end_of_reading(source)) is not None:
            places = [(line, column) for line, column, _ in found(source.text)]
            assert first in places
            assert places == sorted(set(places)) and len(places) <= MOST_ERRORS


def end_of_reading(source: Source) -> tuple[int, int] | None:
    """Where a reading ends that does not go on."""
    try:
        LocatedParser(parser.context(), source).parse_module()
    except MultipleSpansParseError as problem:
        return source.position(problem.refs[0][0].start)
    except ParseError as problem:
        return source.position(min(problem.span.start, len(source.text)))
    return None


def test_a_block_may_end_with_what_could_not_be_read() -> None:
    assert lines("pto.nothing\n^bb1:\npto.nothing_either\n") == [1, 3]
