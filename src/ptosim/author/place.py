"""The place of the author's program while it is traced: his innermost line, and the calls that led there."""

from __future__ import annotations

import linecache
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from types import CodeType, FrameType, TracebackType

from ptosim.places import MOST_CALLS, Location, Source

GENERATED = "__pto_"
"""Names of the functions that branches and bodies of loops become."""

_PACKAGE = "ptosim."
_PARTS = ("<listcomp>", "<genexpr>", "<setcomp>", "<dictcomp>")
_BETWEEN = ("contextlib", "functools")
"""Modules of Python that call what a with statement or a decorator is made of."""
_sources: dict[str, tuple[list[str], Source]] = {}
_places: dict[tuple[int, int], Location] = {}
"""The place of each instruction that an operation was made at, as long as its file is unchanged."""
_columns: dict[int, tuple[CodeType, list[tuple[int | None, int | None, int | None, int | None]]]] = {}
"""By the number of the code, which is kept: codes of equal text in two files, or in two columns, are equal."""
_roots: set[CodeType] = set()


def is_root(function: object) -> object:
    """Marks the function that starts what is traced: what called it is no call of the kernel's."""
    _roots.add(function.__code__)  # type: ignore[attr-defined]
    return function


def source_of(file: str) -> Source:
    """The text of a file, as Python knows it: cells of a notebook included."""
    lines = linecache.getlines(file)
    known = _sources.get(file)
    if known is None or known[0] is not lines:
        source = Source(shown_name(file), "".join(lines))
        known = _sources[file] = lines, known[1] if known is not None and known[1] == source else source
    return known[1]


def shown_name(file: str) -> str:
    """A file as messages name it: that of a cell of a notebook is made up, and its number says enough."""
    if plain := re.match(r"<ipython-input-(\d+)-", file):
        return f"cell {plain[1]}"
    if file.startswith("<") or "ipykernel_" not in file:
        return file
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    number = getattr(getattr(shell, "compile", None), "_filename_map", {}).get(file)
    return f"cell {number}" if number else "cell"


def here(depth: int = 1) -> Location | None:
    """The innermost line of the author, with the calls that led there; None outside of anything of his."""
    places = [_location(frame) for frame in _author_frames(sys._getframe(depth))]  # pyright: ignore[reportPrivateUsage]
    if not places:
        return None
    return replace(places[0], calls=tuple(places[1 : MOST_CALLS + 1])) if len(places) > 1 else places[0]


def is_author(frame: FrameType) -> bool:
    """Whether a frame is code of the author's: a file outside of Python's own library and of ours."""
    module, file = frame.f_globals.get("__name__", ""), frame.f_code.co_filename
    return not module.startswith(_PACKAGE) and module not in _BETWEEN and "site-packages" not in file


def author_place(frames: Sequence[TracebackType]) -> Location | None:
    """The innermost line of the author in a traceback."""
    for each in reversed(frames):
        if is_author(each.tb_frame):
            return _found(
                each.tb_frame.f_code, each.tb_lasti, each.tb_lineno, source_of(each.tb_frame.f_code.co_filename)
            )
    return None


def statement_place(file: str, line: int, column: int, length: int) -> Location:
    """A place in a file that is being rewritten."""
    source = source_of(file)
    return Location(source.name, line, column, max(1, length), source)


def _author_frames(frame: FrameType | None) -> Iterator[FrameType]:
    inside = False  # a generated function stands in the function that calls it
    while frame is not None:
        if frame.f_code in _roots:
            return
        module = frame.f_globals.get("__name__", "")
        if not _is_passed_by(module):
            generated = _is_part(frame.f_code)
            if not inside:
                yield frame
            inside = generated
        frame = frame.f_back


@cache
def _is_passed_by(module: str) -> bool:
    """Whether a frame of a module is none of the author's: ours, or what a with statement is made of."""
    return module.startswith(_PACKAGE) or module in _BETWEEN


def _is_part(code: CodeType) -> bool:
    """Whether code is a piece of the function that calls it: a branch, a body, an operand of `and`, a comprehension."""
    name = code.co_name
    return name.startswith(GENERATED) or (name[:1] == "<" and (name in _PARTS or code.co_varnames[:1] == (GENERATED,)))


def _location(frame: FrameType) -> Location:
    key, source = (id(frame.f_code), frame.f_lasti), source_of(frame.f_code.co_filename)
    known = _places.get(key)
    if known is None or known.source is not source:
        known = _places[key] = _found(frame.f_code, frame.f_lasti, frame.f_lineno, source)
    turns = _turns()
    if not turns:
        return known
    return Location(known.file, known.line, known.column, known.length, known.source, turns)


def _found(code: CodeType, at: int, lineno: int, source: Source) -> Location:
    if id(code) not in _columns:
        _columns[id(code)] = code, list(code.co_positions())
    line, last, start, end = _columns[id(code)][1][at // 2] if at >= 0 else (None, None, None, None)
    if line is None or start is None:
        number = line or lineno
        text = source.line(number)
        indent = len(text) - len(text.lstrip())
        return Location(source.name, number, indent + 1, max(1, len(text.strip())), source)
    text = source.line(line).encode()
    column = len(text[:start].decode(errors="replace")) + 1
    stop = end if last == line and end is not None else len(text)
    length = len(text[start:stop].decode(errors="replace"))
    return Location(source.name, line, column, max(1, length), source)


def _turns() -> tuple[tuple[str, int], ...]:
    from ptosim.author.trace import tracing

    trace = tracing()
    return tuple(trace.turns) if trace is not None else ()
