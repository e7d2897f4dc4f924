"""The writer of edits for kernels in C++: a recording is text that no file holds, so edits are said of the C++ file."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ptosim.diagnostics import Location, Replacement
from ptosim.language.edits import Edit, EditWriter, OperationPlace

_FLAG = re.compile(r'pto\.(set|wait)_flag(?:_dyn)?\["PIPE_(\w+)", "PIPE_(\w+)", (?:"(EVENT_ID\d+)"|(%\w+))\]')
_COMPUTED = "id"
"""The id of a flag that the program works out, as its other side does: a name of the recording says nothing in C++."""
_BARRIER = re.compile(r"pto\.barrier\b.*?PIPE_(\w+)")
_BUFFER = re.compile(r'pto\.(get|rls)_buf(?:_dyn)? "PIPE_(\w+)", (\S+?), (\d+)')
_SIGNAL = re.compile(r"pto\.(set|wait)_intra_block <PIPE_(\w+)>, (\S+)")
_SYNC = re.compile(r"pto\.sync\.(set|wait) <PIPE_(\w+)>, (\S+)")


def spelled(operation: str) -> str:
    """An operation of order as C++ has it; others stay as they are."""
    if found := _FLAG.match(operation):
        id = found[4] or _COMPUTED
        return f"{found[1]}_flag(PIPE_{found[2]}, PIPE_{found[3]}, {id});"
    if found := _BARRIER.match(operation):
        return f"pipe_barrier(PIPE_{found[1]});"
    if found := _BUFFER.match(operation):
        return f"{found[1]}_buf(PIPE_{found[2]}, {found[3]}, {found[4]});"
    if found := _SIGNAL.match(operation):
        return f"{found[1]}_intra_block(PIPE_{found[2]}, {found[3]});"
    if found := _SYNC.match(operation):
        if found[1] == "set":
            return f"ffts_cross_core_sync(PIPE_{found[2]}, getFFTSMsg(2, {found[3]}));"
        return f"wait_flag_dev({found[3]});"
    return operation


class CppWriter(EditWriter):
    """Says what changes in the file that the author wrote."""

    def hint(self, edits: Sequence[Edit]) -> str:
        return "\n".join(dict.fromkeys(map(_told, edits)))

    def replacements(self, edits: Sequence[Edit]) -> tuple[Replacement, ...]:
        found = [_replacement(edit) for edit in edits]
        return tuple(each for each in found if each is not None) if None not in found else ()


def place_in_words(place: OperationPlace) -> str:
    shown = place.shown
    main = place.source.name
    return f"line {shown.line}" if shown.file == main else f"line {shown.line} of {shown.file}"


def is_known(place: OperationPlace) -> bool:
    """Whether the operation has a place in a C++ file: the end of the kernel has none."""
    return place.shown.text is not None


def _told(edit: Edit) -> str:
    text = spelled(edit.operation)
    behind = f"  // {edit.comment}" if edit.comment else ""
    if f", {_COMPUTED});" in text:
        behind = "  // with the id of its other side"
    if not is_known(edit.place):
        return f"at the end of the kernel add {text}{behind}"
    if edit.where == "at":
        old = spelled(edit.place.words)
        return (
            f"at {place_in_words(edit.place)} replace {old} by {text}{behind}"
            if text
            else f"at {place_in_words(edit.place)} delete {old}"
        )
    if edit.moved is not None:
        moved = f"{spelled(edit.moved.words)} of {place_in_words(edit.moved)}"
        return f"move {moved} {edit.where} {place_in_words(edit.place)}"
    return f"{edit.where} {place_in_words(edit.place)} add {text}{behind}"


def _replacement(edit: Edit) -> Replacement | None:
    """The line that an insertion makes; None for what C++ says otherwise than in lines."""
    if not is_known(edit.place) or edit.where == "at" or edit.moved is not None:
        return None
    if f", {_COMPUTED});" in spelled(edit.operation):
        return None
    shown = edit.place.shown
    if shown.source is None or shown.file != edit.place.source.name:
        return None
    at = last_line(shown) + 1 if edit.where == "after" else shown.line
    indent = re.match(r"[ \t]*", shown.source.line(shown.line))
    return Replacement(at, 0, f"{indent[0] if indent else ''}{spelled(edit.operation)}\n")


def last_line(place: Location) -> int:
    """The end of the statement that begins at a place: at a semicolon outside of parentheses."""
    assert place.source is not None
    depth, start = 0, place.source.offset(place.line, place.column)
    text = place.source.text
    for at in range(start, min(len(text), start + 4000)):
        depth += (text[at] in "([{") - (text[at] in ")]}")
        if text[at] == ";" and depth <= 0:
            return place.source.position(at)[0]
    return place.line
