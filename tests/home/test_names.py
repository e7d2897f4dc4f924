"""Names that are read from tokens are those that the parser finds, and what is asked of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from ptosim.diagnostics import Source
from ptosim.home.editor import completion, outline
from ptosim.home.editor.document import Document
from ptosim.home.editor.names import Names
from ptosim.home.editor.text import Text
from ptosim.home.editor.tokens import tokens
from ptosim.language.text.parser import parse

ROOT = Path(__file__).parents[2]
FILES = sorted([*(ROOT / "examples").rglob("*.pto"), *(ROOT / "tests").rglob("*.pto"), *(ROOT / "src").rglob("*.pto")])

READABLE = [path for path in FILES if path.name not in ("syntax.pto", "unsupported.pto")]
"""Without the kernels of `ptosim explain` that no parser reads."""


def document(text: str) -> Document:
    return Document("kernel.pto", 1, Text.of(text))


@pytest.mark.parametrize("path", READABLE, ids=lambda path: str(path.relative_to(ROOT)))
def test_definitions_and_uses_are_those_of_the_parser(path: Path):
    text = path.read_text()
    parsed = parse(Source(str(path), text))
    read = Names(tokens(text), len(text))
    values = {start for start, definition in read.by_token.items() if definition.token.kind == "value"}
    defined = {start for start in values if read.by_token[start].token.start == start}
    assert defined == {span.start for span in parsed.definitions.values()}
    assert {token.start for token in tokens(text) if token.kind == "value"} == values
    for op, position in parsed.positions.items():
        if len(position.operands) == len(op.operands):
            spans = sorted(position.operands, key=lambda span: span.start)
            meant = {read.by_token[span.start].token.start for span in spans if span.text.startswith("%")}
            assert meant <= {parsed.definitions[value].start for value in op.operands if value in parsed.definitions}


@pytest.mark.parametrize("path", FILES[::3], ids=lambda path: str(path.relative_to(ROOT)))
def test_formatting_changes_blanks_only_and_once(path: Path):
    text = path.read_text()
    formatted = outline.indented(document(text))
    assert formatted.split() == text.split()
    assert outline.indented(document(formatted)) == formatted


UNTIDY = """module {
func.func @k(%x: !pto.ptr<f32, gm>,
             %n: index) {
      %c0 = arith.constant 0 : index // zero
  scf.for %i = %c0
    to %n step %n {
  %a =
        arith.addi %i, %c0 : index

    }
  return
}
}

"""
TIDY = """module {
  func.func @k(%x: !pto.ptr<f32, gm>,
               %n: index) {
    %c0 = arith.constant 0 : index // zero
    scf.for %i = %c0
      to %n step %n {
      %a =
            arith.addi %i, %c0 : index

    }
    return
  }
}
"""


def test_formatting():
    assert outline.indented(document(UNTIDY)) == TIDY


def test_a_name_is_renamed_where_it_means_the_same():
    text = TIDY.replace("%a =", "%i2 =")
    read = document(text)
    found = outline.together(read, text.index("%i =") + 1)
    assert [text.count("\n", 0, token.start) + 1 for each in found for token in each.occurrences] == [5, 8]
    assert outline.clash(read, found, "%j") is None
    assert outline.clash(read, found, "%i2") == "%i2 is defined already, in line 7"
    assert outline.clash(read, found, "%n") == "%n is defined already, in line 3"


def proposals(text: str, mark: str = "|") -> list[completion.Offer]:
    at = text.index(mark)
    return list(completion.complete(document(text.replace(mark, "")), at).proposals)


BEGUN = """module {
  func.func @helper(%p: index) { return }
  func.func @k(%x: !pto.ptr<f32, gm>) attributes {pto.kernel} {
    %c0 = arith.constant 0 : index
    pto.set_flag["PIPE_V", "PIPE_MTE3", "EVENT_ID0"]
    scf.for %i = %c0 to %c0 step %c0 {
      %inner = arith.addi %i, %c0 : index
    }
    HERE
    %later = arith.addi %c0, %c0 : index
"""


@pytest.mark.parametrize(
    "begun, offered, not_offered",
    [
        ("arith.addi %|", ["%c0", "%x"], ["%inner", "%later", "%p"]),
        ("pto.vad|", ["pto.vadd", "scf.for"], ["%c0"]),
        ("%y = |", ["pto.vadd"], ["%c0"]),
        ("func.call @|", ["@helper", "@k"], []),
        ('pto.wait_flag["PIPE_|', ["PIPE_V", "PIPE_MTE2"], []),
        ("pto.barrier #pto.pipe<PIPE|", ["PIPE_ALL"], []),
        ("pto.vlds %x[%c0] {di|", ["dist", "NORM"], []),
        ("%t = pto.castptr %x : !|", ["!pto.ptr", "!pto.mask"], []),
        ("// pto.vad|", [], ["pto.vadd"]),
    ],
)
def test_what_may_stand_there(begun: str, offered: list[str], not_offered: list[str]):
    words = {each.text for each in proposals(BEGUN.replace("HERE", begun))}
    assert words >= set(offered)
    assert not words & set(not_offered)


def test_events_that_are_free_stand_first():
    found = proposals(BEGUN.replace("HERE", 'pto.set_flag["PIPE_V", "PIPE_MTE3", "|'))
    assert {each.text: each.said for each in found}["EVENT_ID0"] == "used: V to MTE3"
    assert [each.text for each in found if not each.later] == [f"EVENT_ID{number}" for number in range(1, 8)]


def test_how_an_operation_goes_on():
    text = BEGUN.replace("HERE", 'pto.set_flag["PIPE_V", |')
    found = completion.signature(document(text.replace("|", "")), text.index("|"))
    assert found is not None
    start, end = found.parts[found.active]
    assert found.text[start:end] == "@destination"
    unknown = BEGUN.replace("HERE", "pto.nothing %c0, |")
    assert completion.signature(document(unknown.replace("|", "")), unknown.index("|")) is None


def test_positions_count_in_the_units_of_the_editor():
    text = "a\U0001f600é%x\nb"
    for encoding, column in (("utf-8", 7), ("utf-16", 4), ("utf-32", 3)):
        counted = Text.of(text, encoding)
        assert counted.position(text.index("%")) == (0, column)
        assert counted.offset(0, column) == text.index("%")
    assert Text.of(text).offset(0, 2) == 1  # within the pair
    assert Text.of(text).offset(9, 0) == len(text) and Text.of(text).offset(0, 99) == text.index("\n")
    assert Text.of("a\r\nb\rc").content == "a\nb\nc"
