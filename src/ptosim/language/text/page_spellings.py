"""Spellings of the instruction pages that no `.pto` file can use: what is written instead."""

from __future__ import annotations

import re
from collections.abc import Callable

_EVENT = re.compile(r"[\"']?EVT_\w+")
_RECORD = re.compile(r"(?:pto\.)?RecordEvent\b")
_INTRINSIC = re.compile(r"(?:pto\.)?(T[A-Z][A-Z0-9_]*)\b")
_OURS = "pto."
_SUM = re.compile(r"\s*(?:%?[A-Za-z_][\w$.-]*)?\s*\+\s*(\d+)")

Known = Callable[[str], object]
"""The operation of a name, or None."""


def written_instead(text: str, place: int, message: str, known: Known) -> str | None:
    """The spelling for the place of an error; None if none of the pages' spellings stands there."""
    if _EVENT.match(text, place):
        return (
            "events are EVENT_ID0 to EVENT_ID7; one that is computed is an operand, as in "
            'pto.wait_flag_dyn["PIPE_V", "PIPE_MTE2", %pp]'
        )
    if _RECORD.match(text, place):
        return (
            "tile operations return no events; they are ordered when a kernel is loaded, or written with "
            "pto.record_event and pto.wait_event"
        )
    if (found := _INTRINSIC.match(text, place)) is not None:
        name = found[1].lower()
        for full in (f"{_OURS}{name}", f"{_OURS}comm.{name}"):
            if known(full) is not None:
                return f"{found[1]} is written {full}"
    if not message.startswith("expected"):
        return None
    if text[place : place + 1] == "[" and _is_indexed(text, place):
        return (
            "a value has no elements; write pto.addptr %buf, %offset for a pointer, pto.multi_tile_get %tiles[%pp] "
            "for a tile with slots, and an id that is computed as an operand"
        )
    if (found := _SUM.match(text, place)) is not None:
        number = found[1]
        return f"operands are values; write %sum = arith.addi %id, %c{number} : i64 before, and %sum here"
    return None


def _is_indexed(text: str, place: int) -> bool:
    """Whether a bracket follows the name of a value."""
    return re.search(r"%[\w$.-]+$", text[max(0, place - 80) : place]) is not None
