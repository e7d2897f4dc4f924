"""The line that `pto.print` writes: C's format, filled with scalars. Imports no xDSL, because running needs it."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from ptosim.effects.element import ELEMENTS
from ptosim.language.text.literals import float_of

Say = Callable[[int, str], None]
"""Takes a line that a block prints, with the number of the block."""


def show(block: int, text: str) -> None:
    """On standard output."""
    print(text)  # noqa: T201


_WIDE = re.compile(r"[0-9]{4}|[*]")
"""In a format: a width that would fill the memory."""


def printed(format: str | None, values: Sequence[int], kinds: Sequence[str | None]) -> str:
    """The text for values of these element types (None: a pointer), floats being bit patterns.

    Where the format does not suit the values, they follow it.
    """
    text = (format or "").removesuffix("\n")
    shown = tuple(_number(value, kind) for value, kind in zip(values, kinds, strict=True))
    plain = " ".join((*((text,) if text else ()), *map(str, shown)))
    if format is None or _WIDE.search(text):
        return plain
    try:
        return text.replace("ll", "l") % shown
    except (TypeError, ValueError, OverflowError):
        return plain


def _number(value: int, kind: str | None) -> float:
    return float_of(value, ELEMENTS[kind]) if kind is not None and ELEMENTS[kind].is_float else value
