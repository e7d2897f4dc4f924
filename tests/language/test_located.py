"""The hooks into xDSL that are not public, one by one: a change of xDSL must show here, and not as a wrong column."""

from pathlib import Path

import pytest
from xdsl.utils.exceptions import ParseError
from xdsl.utils.lexer import Input
from xdsl.utils.mlir_lexer import MLIRLexer, MLIRTokenKind

from language.source import module, read
from ptosim.diagnostics import Source
from ptosim.language.operation import PTOOperation
from ptosim.language.text.lexer import Lexer
from ptosim.language.text.located_parser import LocatedParser
from ptosim.language.text.parser import context, parse

TEXT = """module {
  func.func @f(%a: i32, %p: !pto.ptr<f32, ub>, %i: index) {
    %sum, %carry = arith.addui_extended %a,
        %a : i32, i1
    %r:2 = "scf.for"(%i, %i, %i, %a, %sum) ({
    ^bb0(%j: index, %x: i32, %y: i32):
      "scf.yield"(%x, %r) : (i32, i32) -> ()
    }) {note = "text"} : (index, index, index, i32, i32) -> (i32, i32)
    pto.vecscope {
      %v = pto.vlds %p[%i] {dist = "NORM"} : !pto.ptr<f32, ub> -> !pto.vreg<64xf32>
    }
    return
  }
}
""".replace("(%x, %r)", "(%x, %y)")


def find(name: str):
    parsed = parse(Source("kernel.pto", TEXT))
    (op,) = (op for op in parsed.module.walk() if op.name == name)
    return parsed, op


def place(location) -> tuple[int, int, int]:
    return location.line, location.column, location.length


def test_an_operation_stands_at_its_name():
    for name, expected in {
        "func.func": (2, 3, 9),
        "arith.addui_extended": (3, 20, 20),
        "scf.for": (5, 12, 9),
        "pto.vlds": (10, 12, 8),
        "func.return": (12, 5, 6),
    }.items():
        parsed, op = find(name)
        assert place(parsed.location(op)) == expected


def test_operands_stand_where_they_are_written():
    parsed, op = find("arith.addui_extended")
    assert place(parsed.location(op, "lhs")) == (3, 41, 2)
    assert place(parsed.location(op, "rhs")) == (4, 9, 2)
    assert place(parsed.operand_location(op, 1)) == (4, 9, 2)
    parsed, op = find("pto.vlds")
    assert place(parsed.location(op, "source")) == (10, 21, 2)
    assert place(parsed.location(op, "offset")) == (10, 24, 2)
    assert place(parsed.location(op, "dist")) == (10, 36, 6)


def test_operands_of_the_generic_form_have_roles():
    parsed, op = find("scf.for")
    assert place(parsed.location(op, "ub")) == (5, 26, 2)
    assert place(parsed.location(op, "iter_args[1]")) == (5, 38, 4)
    assert place(parsed.location(op, "note")) == (8, 16, 6)
    assert place(parsed.operand_location(op, 4)) == (5, 38, 4)


def test_definitions_keep_their_names():
    parsed, op = find("arith.addui_extended")
    assert [parsed.definitions[result].text for result in op.results] == ["%sum", "%carry"]
    parsed, op = find("scf.for")
    assert [parsed.definitions[result].text for result in op.results] == ["%r", "%r"]
    assert [parsed.definitions[argument].text for argument in op.regions[0].block.args] == ["%j", "%x", "%y"]


def test_positions_survive_the_rewriting_of_older_names():
    parsed = read('pto.pipe_barrier "PIPE_V"').parsed
    (op,) = (op for op in parsed.module.walk() if op.name == "pto.barrier")
    location = parsed.location(op)
    assert location is not None
    assert (location.line, location.column) == (3, 1)


SEEDS = sorted((Path(__file__).parents[1] / "seeds").glob("*.pto"))
ODD = """
a.b$c_1 %0 %a-b %x#1 #0 !t ^bb0 @f @"g h" "s\\22" 0 00 01 10 0x1F 0xi32 0x 1.0 1.e5 2.5e-3 12.x 64xf32
-> - -1 {-# #-} { }
[ ] ( ) < > , : = + / * ? | ... // comment -> {
/"""


@pytest.mark.parametrize("text", [*(path.read_text() for path in SEEDS), ODD])
def test_the_quick_lexer_reads_what_xdsl_reads(text: str):
    ours, theirs = Lexer(Input(text, "x")), MLIRLexer(Input(text, "x"))
    while True:
        token, expected = ours.lex(), theirs.lex()
        assert (token.kind, token.span.start, token.span.end) == (expected.kind, expected.span.start, expected.span.end)
        if token.kind == MLIRTokenKind.EOF:
            return


def test_a_string_that_is_not_closed_is_found_at_once():
    with pytest.raises(ParseError):
        Lexer(Input('"' + "a" * 10_000, "x")).lex()


def test_a_parser_can_go_back():
    parser = LocatedParser(context(), Source("x", "a b c"))
    mark = parser.mark()
    assert [parser.skip_token(), parser.skip_token()] == ["a", "b"]
    assert parser.span_since(0).end == 3
    parser.rewind(mark)
    assert parser.skip_token() == "a"


def test_every_operation_has_a_position():
    parsed = read(module("scf.if %c { }\npto.vecscope { }")).parsed
    for op in parsed.module.walk():
        assert op in parsed.positions, op.name
        assert isinstance(op, PTOOperation) or op.name == "builtin.module"
