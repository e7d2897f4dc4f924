"""Errors of a kernel written in Python: each is a PTOError and the exception that Python has for it."""

from __future__ import annotations

import re
from opcode import opmap
from types import TracebackType

from ptosim.diagnostics import Diagnostic, PTOError, Related
from ptosim.places import Location


class WrongType(PTOError, TypeError):
    """A value, an argument or a parameter of a kind that does not belong there."""


class RuntimeMisuse(WrongType):
    """A value that only the run knows, where Python needs one while tracing."""


class WrongValue(PTOError, ValueError):
    """A value of the right kind that cannot be."""


class WrongPlace(PTOError, RuntimeError):
    """A call that does not belong where it stands."""


class UnsupportedControl(PTOError, SyntaxError):
    """Control flow that has no counterpart in a kernel."""


class MissingName(PTOError, NameError):
    """A name that has no value where it is read."""


class RemovedName(PTOError, AttributeError):
    """A name that the surface had once, or never."""


KIND: dict[type[PTOError], str] = {
    WrongType: "invalid",
    RuntimeMisuse: "invalid",
    WrongValue: "invalid",
    WrongPlace: "invalid",
    UnsupportedControl: "syntax",
    RemovedName: "unsupported",
    MissingName: "invalid",
}
_OWN: dict[type[Exception], type[PTOError]] = {
    NameError: MissingName,
    AttributeError: RemovedName,
    TypeError: WrongType,
    ValueError: WrongValue,
}
"""The reports of exceptions that Python raises in the author's own code."""


def failure(
    kind: type[PTOError],
    message: str,
    place: Location | None = None,
    *,
    hint: str | None = None,
    called: str | None = None,
    related: tuple[Related, ...] = (),
) -> PTOError:
    """The error to raise; it stands at the line of the author that is being traced, unless a place is given."""
    if place is None:
        from ptosim.author.place import here

        place = here()
    return kind(Diagnostic(called or KIND[kind], "error", message, place, hint=hint, related=related))


_SIGNATURE = re.compile(r"^(?:[\w<>]+\.)*(?:<lambda>|(\w+))\(\) (missing|got|takes)\b(.*)", re.DOTALL)


_SHOWN = {
    "ScalarValue": "a scalar of a kernel",
    "PointerValue": "a pointer of a kernel",
    "PointerOffset": "a pointer of a kernel",
    "RegisterValue": "a vector register",
    "MaskValue": "a mask",
    "AlignValue": "the state of a stream",
    "ViewValue": "a view",
    "TileValue": "a tile",
    "TileElement": "an element of a tile",
    "TileSlice": "a slice of a tile",
    "HandleValue": "a value of a kernel",
    "DType": "a type",
    "FifoDirections": "pto.pipe",
}
"""The author's names for classes that Python's errors mention."""
_OBJECT = re.compile(rf"'?\b({'|'.join(_SHOWN)})\b'?(?: object)?")


def _in_words(message: str) -> str:
    return _OBJECT.sub(lambda found: _SHOWN[found[1]], message)


_VARIABLE = re.compile(r"(?:local|free) variable '(\w+)'")


def misused_call(problem: Exception) -> PTOError | None:
    """An exception of Python's own, told at the author's line: of a call that was given something else than it takes,
    of a name without a value; None for one that the author has raised, or that other code has."""
    from ptosim.author.place import author_place, is_author

    frames: list[TracebackType] = []
    here = problem.__traceback__
    while here is not None:
        frames.append(here)
        here = here.tb_next
    last = frames[-1] if frames else None
    if last is None or _is_raised(last):
        return None
    inside = last.tb_frame.f_globals.get("__name__", "").startswith(("ptosim.", "xdsl."))
    kind = next((kind for known, kind in _OWN.items() if isinstance(problem, known)), None)
    if not inside and (kind is None or not is_author(last.tb_frame)):
        return None
    place = author_place(frames)
    if (found := _SIGNATURE.match(str(problem))) is not None:
        return failure(WrongType, f"{found[1] or 'this call'} {found[2]}{found[3]}", place)
    if (variable := _VARIABLE.search(str(problem))) is not None:
        return failure(MissingName, f"{variable[1]} has no value here", place)
    if inside:
        return failure(
            WrongType, f"this call cannot be made: {type(problem).__name__}: {_in_words(str(problem))}", place
        )
    return failure(kind or WrongType, _in_words(str(problem)), place)


def _is_raised(last: TracebackType) -> bool:
    """Whether an exception comes from a raise or assert of the author's."""
    code = last.tb_frame.f_code.co_code
    is_ours = last.tb_frame.f_globals.get("__name__", "").startswith("ptosim.")
    return not is_ours and code[last.tb_lasti] == opmap["RAISE_VARARGS"]
