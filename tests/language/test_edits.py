"""Edits at places of a text, and the lines that the writer for `.pto` makes of them."""

from ptosim.diagnostics import Source
from ptosim.language.edits import Edit, OperationPlace, insert, whole_line
from ptosim.language.load import load
from ptosim.language.text.edited_text import TextWriter, edited

LINES = Source("k.pto", "  one\n two // why\nthree\n")
SHARED = Source("k.pto", "a { one  two } // all\nb\n")


def place(source: Source, word: str) -> OperationPlace:
    start = source.text.index(word)
    return OperationPlace(start, start + len(word), source)


def changed(source: Source, *edits: Edit) -> str:
    return edited(source.text, edits).text


def test_added_lines_are_told_from_those_that_were_there() -> None:
    one, two, three = (whole_line(LINES, line) for line in (1, 2, 3))
    result = edited(LINES.text, (insert("after", two, "b"), insert("before", one, "a"), insert("before", three, "c")))
    assert result.text == "  a\n  one\n two // why\n b\nc\nthree\n"
    assert result.origins == (0, 1, 2, 0, 0, 3, 4)


def test_operations_are_replaced_deleted_and_moved() -> None:
    """A comment stays with its line, a moved line keeps its number and takes the indentation of its neighbour."""
    one, two, three = (whole_line(LINES, line) for line in (1, 2, 3))
    edits = (Edit("at", two, "zwei"), Edit("after", three, moved=one))
    result = edited(LINES.text, edits)
    assert result.text == " zwei // why\nthree\none\n"
    assert result.origins == (2, 3, 1, 4)
    assert changed(LINES, Edit("at", two)) == "  one\nthree\n"
    assert TextWriter().hint((*edits, Edit("at", two))).split("\n") == [
        "replace line 2 by zwei",
        "move line 1 after line 3",
        "delete line 2",
    ]
    pieces = [(piece.line, piece.count, piece.text) for piece in TextWriter().replacements(edits)]
    assert pieces == [(2, 1, " zwei // why\n"), (1, 1, ""), (4, 0, "one\n")]


def test_an_operation_that_shares_its_line_gets_a_line_break() -> None:
    one, two = place(SHARED, "one"), place(SHARED, "two")
    assert changed(SHARED, insert("before", two, "new")) == "a { one\nnew\ntwo } // all\nb\n"
    assert changed(SHARED, insert("after", one, "new")) == "a { one\nnew\ntwo } // all\nb\n"
    assert changed(SHARED, Edit("at", one)) == "a {   two } // all\nb\n"
    assert changed(SHARED, Edit("at", two, "other")) == "a { one  other } // all\nb\n"
    (piece,) = TextWriter().replacements((Edit("at", two, "other"),))
    assert (piece.line, piece.count, piece.text) == (1, 1, "a { one  other } // all\n")


def test_the_last_line_may_lack_its_end() -> None:
    source = Source("k.pto", "one\ntwo")
    assert changed(source, insert("after", place(source, "two"), "new")) == "one\ntwo\nnew"


def test_a_comment_of_a_new_operation_is_no_part_of_it() -> None:
    edit = insert("after", whole_line(LINES, 3), "new  // prime")
    assert (edit.operation, edit.comment) == ("new", "prime")
    assert changed(LINES, edit).endswith("three\nnew  // prime\n")


def test_what_an_operation_says_about_its_place_stays() -> None:
    source = Source("k.pto", 'one loc("a.py":3:1)\n')
    whole = OperationPlace(0, len(source.text) - 1, source)
    assert changed(source, Edit("at", whole, "two")) == 'two loc("a.py":3:1)\n'


TEXT = """module attributes {pto.target_arch = "a5"} {
  func.func @k(%n: index) attributes {pto.kernel} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    scf.for %i = %c0 to %n step %c1 {
      pto.barrier #pto.pipe<PIPE_ALL>  pto.barrier #pto.pipe<PIPE_V> // both
    }
    "pto.barrier"() {pipe = #pto.pipe<PIPE_ALL>} : () -> () loc("a.py":1:1)
    return
  }
}
"""


def test_an_operation_knows_where_it_begins_and_ends() -> None:
    parsed = load(Source("k.pto", TEXT)).parsed
    words = [TEXT[parsed.positions[op].start : parsed.positions[op].end] for op in parsed.module.walk()]
    assert words[2] == "%c0 = arith.constant 0 : index"
    assert words[4].startswith("scf.for") and words[4].endswith("// both\n    }")
    assert words[5:7] == ["pto.barrier #pto.pipe<PIPE_ALL>", "pto.barrier #pto.pipe<PIPE_V>"]
    assert any(each.startswith('"pto.barrier"') and each.endswith("1:1)") for each in words)
