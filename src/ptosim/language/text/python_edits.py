"""The writer of edits for kernels in Python: statements of the surface, at the lines of the author's file."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from ptosim.diagnostics import Location, Replacement
from ptosim.language.edits import Edit, EditWriter
from ptosim.language.text.cpp_edits import is_known, place_in_words

_PIPE = r'["<](?:PIPE_)?(\w+)[">]'
_FLAG = re.compile(rf'pto\.(set|wait)_flag(?:_dyn)?\[{_PIPE}, {_PIPE}, (?:["<]EVENT_ID(\d+)[">]|%(\w+))\]')
_BARRIER = re.compile(r"pto\.barrier\b.*?PIPE_(\w+)")
_BUFFER = re.compile(r'pto\.(get|rls)_buf(?:_dyn)? "PIPE_(\w+)", %?(\w+), (\d+)')
_SIGNAL = re.compile(r"pto\.(set|wait)_(intra|cross)_block <PIPE_(\w+)>, %?(\w+)")
_MEM_BAR = re.compile(r'pto\.mem_bar "(\w+)"')


def spelled_in_python(operation: str) -> str:
    """An operation of order as the surface has it; others stay as they are."""
    if found := _FLAG.match(operation):
        return f'pto.{found[1]}_flag("{found[2]}", "{found[3]}", event_id={found[4] or found[5]})'
    if found := _BARRIER.match(operation):
        return f'pto.pipe_barrier("{found[1]}")'
    if found := _BUFFER.match(operation):
        mode = f", {found[4]}" if found[4] != "0" else ""
        return f'pto.{found[1]}_buf("{found[2]}", {found[3]}{mode})'
    if found := _SIGNAL.match(operation):
        return f'pto.{found[1]}_{found[2]}_block("{found[3]}", {found[4]})'
    if found := _MEM_BAR.match(operation):
        return f'pto.mem_bar("{found[1]}")'
    return operation


class PythonWriter(EditWriter):
    """Says what changes in the file that the author wrote."""

    def hint(self, edits: Sequence[Edit]) -> str:
        return "\n".join(dict.fromkeys(map(_told, edits)))

    def replacements(self, edits: Sequence[Edit]) -> tuple[Replacement, ...]:
        found = [_replacement(edit) for edit in edits]
        return tuple(each for each in found if each is not None) if None not in found else ()


def _told(edit: Edit) -> str:
    text = spelled_in_python(edit.operation)
    behind = f"  # {edit.comment}" if edit.comment else ""
    if not is_known(edit.place):
        return f"at the end of the kernel add {text}{behind}"
    if (function := _ended(edit)) is not None:
        return f"at the end of {function.name} add {text}{behind}"
    where = place_in_words(edit.place)
    serving = _circumstance(edit.place.shown)
    if edit.where == "at":
        old = spelled_in_python(edit.place.words)
        return f"at {where}{serving} replace {old} by {text}{behind}" if text else f"at {where}{serving} delete {old}"
    if edit.moved is not None:
        return (
            f"move {spelled_in_python(edit.moved.words)} of {place_in_words(edit.moved)} {edit.where} {where}{serving}"
        )
    return f"{edit.where} {where}{serving} add {text}{behind}"


def _ended(edit: Edit) -> ast.FunctionDef | None:
    """The function whose end is meant: the return that Python does not write stands at its def."""
    if edit.where != "before" or not edit.place.words.startswith("return"):
        return None
    shown = edit.place.shown
    return next(
        (node for node in _statements(shown) if isinstance(node, ast.FunctionDef) and node.lineno == shown.line), None
    )


def _circumstance(place: Location) -> str:
    """The turn or call of a line that is meant, of several."""
    if not place.is_one_of_several:
        return ""
    if place.turns:
        return f" (with {place.turn})"
    if place.calls:
        return f" (called at line {place.calls[0].line})"
    return ""


def _replacement(edit: Edit) -> Replacement | None:
    """The line that an insertion makes; None for what serves several calls or turns, or is no line."""
    if not is_known(edit.place) or edit.where == "at" or edit.moved is not None:
        return None
    shown = edit.place.shown
    if shown.source is None or shown.file != edit.place.source.name or shown.is_one_of_several:
        return None
    behind = f"  # {edit.comment}" if edit.comment else ""
    line = f"{spelled_in_python(edit.operation)}{behind}\n"
    if (function := _ended(edit)) is not None and function.end_lineno is not None:
        return Replacement(function.end_lineno + 1, 0, " " * function.body[-1].col_offset + line)
    at = last_line_of_statement(shown) + 1 if edit.where == "after" else first_line_of_statement(shown)
    indent = re.match(r"[ \t]*", shown.source.line(first_line_of_statement(shown)))
    return Replacement(at, 0, f"{indent[0] if indent else ''}{line}")


def statement_lines(place: Location) -> tuple[int, int]:
    """The first and the last line of the simple statement around a place, or of the head of a compound one."""
    best: tuple[int, int] | None = None
    for node in _statements(place):
        body: list[ast.stmt] = getattr(node, "body", [])
        last = max(node.lineno, body[0].lineno - 1) if body else node.end_lineno or node.lineno
        if node.lineno <= place.line <= last and (best is None or node.lineno >= best[0]):
            best = node.lineno, last
    return best or (place.line, place.line)


def _statements(place: Location) -> list[ast.stmt]:
    assert place.source is not None
    try:
        return [node for node in ast.walk(ast.parse(place.source.text)) if isinstance(node, ast.stmt)]
    except SyntaxError:
        return []


def first_line_of_statement(place: Location) -> int:
    return statement_lines(place)[0]


def last_line_of_statement(place: Location) -> int:
    """The last line of a statement; of a loop or branch that of its body."""
    first, last = statement_lines(place)
    for node in _statements(place):
        if isinstance(node, ast.For | ast.While | ast.If | ast.With) and node.lineno == first:
            return node.end_lineno or last
    return last
