"""Operations built by role: result types that follow, constants said once, sums of what is known."""

import re

import pytest
from xdsl.dialects.builtin import StringAttr, f32, i64
from xdsl.ir import Operation, SSAValue

from ptosim.diagnostics import Source
from ptosim.effects.names import Space
from ptosim.language.builder import INDEX, Builder, InsertionPoint, head_of, known
from ptosim.language.load import load
from ptosim.language.structure.function import entry_functions
from ptosim.language.text.parser import ParsedModule
from ptosim.language.text.printing import text
from ptosim.language.types import MaskType, VregType

KERNEL = """
module {
  func.func @k(%n: index) attributes {pto.kernel} {
    %c8 = arith.constant 8 : index
    return
  }
}
"""


@pytest.fixture
def built() -> tuple[ParsedModule, Builder]:
    parsed = load(Source("k.pto", KERNEL)).parsed.cloned()
    (function,) = entry_functions(parsed.module)
    body = function.body.block
    assert body.last_op is not None
    return parsed, Builder(parsed, InsertionPoint.at(body.last_op), head_of(body), serves=body.last_op)


def lines(parsed: ParsedModule) -> list[str]:
    return [line.strip() for line in text(parsed).splitlines()][2:-3]


def test_an_instruction_is_built_by_role(built: tuple[ParsedModule, Builder]):
    parsed, build = built

    def body() -> None:
        vector = VregType.of(f32)
        pointer = build.pointer(build.i64(256), f32, Space.UB)
        mask = build.pset_b32(pattern="PAT_ALL", result=MaskType(StringAttr("b32")))
        x = build.vlds(source=pointer, offset=build.index(0), result=vector)
        y = build.vadd(lhs=x, rhs=x, mask=mask)
        assert y.type == vector
        build.vsts(value=y, dest=pointer, offset=build.index(0), mask=mask)

    build.scope(body)
    assert [re.sub(r"%\w+", "%", line.partition("= ")[2] or line) for line in lines(parsed)] == [
        "arith.constant 8 : index",
        "arith.constant 256 : i64",
        "pto.castptr % : i64 -> !pto.ptr<f32, ub>",
        "arith.constant 0 : index",
        "pto.vecscope {",
        'pto.pset_b32 "PAT_ALL" : !pto.mask<b32>',
        "pto.vlds %[%] : !pto.ptr<f32, ub> -> !pto.vreg<64xf32>",
        "pto.vadd %, %, % : !pto.vreg<64xf32>, !pto.vreg<64xf32>, !pto.mask<b32> -> !pto.vreg<64xf32>",
        "pto.vsts %, %[%], % : !pto.vreg<64xf32>, !pto.ptr<f32, ub>, !pto.mask<b32>",
        "}",
    ]
    assert load(Source("again.pto", text(parsed)))


def argument(parsed: ParsedModule) -> SSAValue:
    (function,) = entry_functions(parsed.module)
    return function.args[0]


def test_what_is_built_stands_where_the_text_did(built: tuple[ParsedModule, Builder]):
    parsed, build = built
    total = build.plus(build.index(3), argument(parsed))
    assert isinstance(total, SSAValue)
    assert isinstance(total.owner, Operation)
    location = parsed.location(total.owner)
    assert location is not None
    assert location.line == 5
    assert parsed.origin(total.owner).name == "func.return"


def test_constants_are_said_once_and_folded(built: tuple[ParsedModule, Builder]):
    parsed, build = built
    before = len(list(parsed.module.walk()))
    assert build.index(8) is build.index(8)
    assert build.plus(build.index(8), 4) == 12
    assert build.times(build.index(8), 0) == 0
    assert build.ceiling(9, 8) == 2
    assert known(build.cast(build.index(8), i64)) == 8
    assert len(list(parsed.module.walk())) == before + 1  # 8 : i64; 8 : index was there


def test_a_loop_that_runs_once_is_its_body(built: tuple[ParsedModule, Builder]):
    parsed, build = built
    (total,) = build.loop(4, 4, lambda i, x: [build.index(build.plus(x, 5))], build.index(2))
    assert known(total) == 7
    build.loop(0, 4, lambda i: pytest.fail("a loop that does not run has no body"))
    assert "scf.for" not in text(parsed)


def test_a_loop_carries_values(built: tuple[ParsedModule, Builder]):
    parsed, build = built
    (total,) = build.loop(argument(parsed), 1, lambda i, x: [build.index(build.plus(x, i))], build.index(0))
    assert total.type == INDEX
    assert load(Source("again.pto", text(parsed)))


def test_a_choice_gives_values(built: tuple[ParsedModule, Builder]):
    parsed, build = built
    few = build.compare("slt", argument(parsed), 4)
    (size,) = build.choose(few, lambda: [build.index(4)], lambda: [argument(parsed)])
    assert size.type == INDEX
    assert load(Source("again.pto", text(parsed)))


def test_a_role_that_does_not_exist_is_an_error(built: tuple[ParsedModule, Builder]):
    _, build = built
    with pytest.raises(AssertionError, match=r"arith.addi has no third"):
        build.op("arith.addi", lhs=build.index(1), rhs=build.index(2), third=build.index(3))
    with pytest.raises(AttributeError, match="no operation vfoo"):
        build.vfoo(lhs=build.index(1))
