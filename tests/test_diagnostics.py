"""Positions in a source, the layout of a rendered diagnostic, and what a PTOError carries."""

import json
import pickle
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ptosim.diagnostics import SEVERITY, Diagnostic, Finding, Location, PTOError, Related, Source, error, render

# --- positions --------------------------------------------------------------------------------------------------------


def test_lines_and_positions_count_from_one():
    source = Source("k.pto", "ab\n\ncd")
    assert [source.line(n) for n in (1, 2, 3)] == ["ab", "", "cd"]
    # offsets:                                   a       b       \n      \n      c       d       end
    assert [source.position(o) for o in range(7)] == [(1, 1), (1, 2), (1, 3), (2, 1), (3, 1), (3, 2), (3, 3)]


def test_a_file_that_ends_with_a_newline_has_an_empty_line_after_it():
    source = Source("k.pto", "ab\n")
    assert source.position(3) == (2, 1)
    assert source.line(2) == ""


def test_a_line_outside_the_file_is_empty():
    source = Source("k.pto", "ab")
    assert [source.line(n) for n in (-1, 0, 2, 99)] == ["", "", "", ""]


def test_carriage_returns_are_no_part_of_a_line():
    assert Source("k.pto", "ab\r\ncd\r\n").line(1) == "ab"


@given(st.text(alphabet="ab\n"), st.data())
def test_position_is_what_counting_gives(text: str, data: st.DataObject):
    offset = data.draw(st.integers(0, len(text)))
    before = text[:offset].split("\n")
    assert Source("k.pto", text).position(offset) == (len(before), len(before[-1]) + 1)


def test_a_location_compares_by_place_and_quotes_from_its_source():
    source = Source("k.pto", "ab\ncd")
    place = source.location(4, 1)
    assert place == Location("k.pto", 2, 2)
    assert hash(place) == hash(Location("k.pto", 2, 2))
    assert str(place) == "k.pto:2:2"
    assert place.source is source
    assert "source" not in repr(place)


# --- layout -----------------------------------------------------------------------------------------------------------


def softmax() -> Source:
    lines = [""] * 60
    lines[40] = "        pto.vsts %out, %ub_out[%chunk_base], %mask"
    lines[56] = "      pto.mte_ub_gm %ub_out, %gm_out, %c512_i64"
    return Source("softmax.pto", "\n".join(lines))


def test_the_layout_of_a_race():
    source = softmax()
    race = Diagnostic(
        "race",
        "error",
        "MTE3 may read ub[8448:12544] before V has written it",
        Location("softmax.pto", 57, 7, 13, source),
        label="MTE3 reads here",
        related=(Related(Location("softmax.pto", 41, 9, 8, source), "V writes here (vector scope at line 22)"),),
        notes=("no flag, buffer or barrier orders V before MTE3 between the two",),
        hint='after line 54 add  pto.set_flag["PIPE_V", "PIPE_MTE3", "EVENT_ID1"]\n'
        'before line 57 add pto.wait_flag["PIPE_V", "PIPE_MTE3", "EVENT_ID1"]',
    )
    expected = """\
softmax.pto:57:7: error: race: MTE3 may read ub[8448:12544] before V has written it
   57 |       pto.mte_ub_gm %ub_out, %gm_out, %c512_i64
      |       ^^^^^^^^^^^^^ MTE3 reads here
   41 |         pto.vsts %out, %ub_out[%chunk_base], %mask
      |         -------- V writes here (vector scope at line 22)
   note: no flag, buffer or barrier orders V before MTE3 between the two
   hint: after line 54 add  pto.set_flag["PIPE_V", "PIPE_MTE3", "EVENT_ID1"]
         before line 57 add pto.wait_flag["PIPE_V", "PIPE_MTE3", "EVENT_ID1"]"""
    assert render(race) == expected
    assert str(race) == expected


def test_without_a_location_there_is_only_the_headline():
    assert render(Diagnostic("argument", "error", "argument 1 is read-only")) == (
        "error: argument: argument 1 is read-only"
    )


def test_without_a_source_nothing_is_quoted():
    found = Diagnostic(
        "undrained",
        "warning",
        "one flag is left",
        Location("k.pto", 3, 5),
        related=(Related(Location("k.pto", 9, 1), "set here"),),
    )
    assert render(found) == "k.pto:3:5: warning: undrained: one flag is left\n   k.pto:9:1: set here"
    assert (found.line, [other.line for other in found.related]) == (3, [9])


def test_a_related_line_of_another_file_says_so():
    here, there = Source("a.pto", "abc"), Source("b.pto", "xyz")
    found = Diagnostic("lint", "warning", "m", here.location(0, 3), related=(Related(there.location(1), "r"),))
    assert render(found).split("\n") == [
        "a.pto:1:1: warning: lint: m",
        "    1 | abc",
        "      | ^^^",
        "   b.pto:1:2:",
        "    1 | xyz",
        "      |  - r",
    ]


def marked(line: str, column: int, length: int = 1) -> tuple[str, str]:
    """The quoted line and the line of carets, both without the gutter."""
    found = Diagnostic("syntax", "error", "m", Location("k.pto", 1, column, length, Source("k.pto", line)))
    _, quoted, carets = render(found).split("\n")
    assert quoted[:8] == "    1 | "[: len(quoted)]
    assert carets.startswith("      | ")
    return quoted[8:], carets[8:]


def test_a_tab_fills_up_to_the_next_stop_and_the_caret_follows():
    assert marked("\tx\ty", 4) == ("    x   y", "        ^")
    assert marked("\tx\ty", 2, 2) == ("    x   y", "    ^^^^")


def test_a_wide_character_takes_two_cells_and_an_accent_none():
    assert marked("零x", 2) == ("零x", "  ^")
    assert marked("零x", 1) == ("零x", "^^")
    assert marked("e\u0301x", 3) == ("e\u0301x", " ^")


def test_the_caret_may_stand_after_the_end_and_ends_with_the_line():
    assert marked("abc", 4) == ("abc", "   ^")
    assert marked("abc", 9) == ("abc", "   ^")
    assert marked("abc", 2, 50) == ("abc", " ^^")
    assert marked("", 1) == ("", "^")


def test_control_characters_do_not_reach_the_terminal():
    assert marked("a\x1b[2Jb", 6) == ("a\ufffd[2Jb", "     ^")
    assert marked("a\u202eb", 3) == ("a\ufffdb", "  ^")
    assert "\x1b" not in render(Diagnostic("syntax", "error", "unexpected \x1b[31m"))


@pytest.mark.parametrize("column", [1, 30, 500, 970, 1000, 1001])
def test_a_long_line_is_cut_around_the_caret(column: int):
    line = "".join(chr(ord("a") + i % 26) for i in range(1000))
    quoted, carets = marked(line, column, 5)
    assert len(quoted) <= 120
    assert quoted.strip(".") in line
    assert quoted.startswith("...") == (column > 100)
    assert quoted.endswith("...") == (column < 900)
    at = carets.index("^")
    assert quoted[at : at + carets.count("^")] == line[column - 1 : column + 4]


def test_a_mark_longer_than_the_excerpt_ends_with_it():
    quoted, carets = marked("x" * 1000, 1, 1000)
    assert quoted.endswith("...")
    assert len(carets) == len(quoted) - 3


# --- values -----------------------------------------------------------------------------------------------------------


def test_kinds_and_their_severities():
    warnings = {kind for kind, severity in SEVERITY.items() if severity == "warning"}
    words = "undrained double-set overlap clobbered lint stale-signal signal-overrun stale-cache"
    assert warnings == set(words.split())
    assert len(SEVERITY) == 29
    with pytest.raises(ValueError, match="rase"):
        Diagnostic("rase", "error", "m")


def test_a_finding_is_a_diagnostic_and_knows_its_line():
    assert Finding is Diagnostic
    assert Diagnostic("trap", "error", "m", Location("k.pto", 7, 1)).line == 7
    assert Diagnostic("trap", "error", "m").line is None


KEYS = (
    "kind severity message location label related notes hint core pipe bytes block rank loops count consequences edits"
    " workitem lanes"
)


def test_json_is_plain_data_with_stable_keys():
    found = Diagnostic(
        "out-of-bounds",
        "error",
        "m",
        Location("k.pto", 3, 5, 4, Source("k.pto", "")),
        related=(Related(Location("k.pto", 9, 2), "here"),),
        notes=("n",),
        core="b0.aiv0",
        pipe="MTE2",
        bytes=(0, 32),
        block=0,
        loops=(1, 2),
        count=3,
    )
    data = json.loads(json.dumps(found.to_json()))
    assert list(data) == KEYS.split()
    assert data == {
        "kind": "out-of-bounds",
        "severity": "error",
        "message": "m",
        "location": {"file": "k.pto", "line": 3, "column": 5, "length": 4},
        "label": None,
        "related": [{"location": {"file": "k.pto", "line": 9, "column": 2, "length": 1}, "role": "here"}],
        "notes": ["n"],
        "hint": None,
        "core": "b0.aiv0",
        "pipe": "MTE2",
        "bytes": [0, 32],
        "block": 0,
        "rank": None,
        "loops": [1, 2],
        "count": 3,
        "consequences": [],
        "edits": [],
        "workitem": None,
        "lanes": [],
    }
    assert list(Diagnostic("trap", "error", "m").to_json()) == KEYS.split()


def test_an_error_prints_all_its_diagnostics():
    first, second = Diagnostic("invalid", "error", "one"), Diagnostic("invalid", "error", "two")
    raised = PTOError(first, second)
    assert raised.diagnostics == (first, second)
    assert str(raised) == "error: invalid: one\nerror: invalid: two"


def test_the_shorthand_for_one_diagnostic():
    place = Location("k.pto", 1, 1)
    raised = error("limit", "too many steps", place, hint="raise max_steps", loops=(4,))
    assert raised.diagnostics == (
        Diagnostic("limit", "error", "too many steps", place, hint="raise max_steps", loops=(4,)),
    )


def test_an_error_survives_the_way_between_processes():
    raised = error("trap", "m", Source("k.pto", "ab").location(1), core="b0.aic")
    copy = pickle.loads(pickle.dumps(raised))
    assert copy.diagnostics == raised.diagnostics
    assert str(copy) == str(raised)


@pytest.mark.parametrize(
    "details, note",
    [
        ({}, None),
        ({"core": "b0.aiv0"}, None),
        ({"core": "b0.aiv0", "loops": (3,)}, "on b0.aiv0 at loop index 3"),
        ({"core": "b2.aic", "count": 4}, "4 times, first on b2.aic"),
        ({"loops": (1, 0), "count": 2}, "2 times, first at loop indices 1, 0"),
    ],
)
def test_how_often_and_when_first(details: dict[str, Any], note: str | None) -> None:
    lines = str(Diagnostic("race", "error", "what", hint="do", **details)).split("\n")
    assert lines == ["error: race: what", *([f"   note: {note}"] if note else []), "   hint: do"]


@pytest.mark.parametrize("kind", ["out-of-bounds", "misaligned", "id-range", "invalid", "arithmetic", "trap"])
def test_what_the_values_of_a_block_decide_names_the_block(kind: str) -> None:
    """The same line may be right in block 0."""
    for block, notes in [(1, ["   note: on b1.aiv0"]), (0, [])]:
        found = Diagnostic(kind, "error", "what", core=f"b{block}.aiv0", block=block)
        assert str(found).split("\n") == [f"error: {kind}: what", *notes]
