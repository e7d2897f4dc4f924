"""Errors of a kernel written in Python: each is a PTOError and the exception that Python has for it."""

from __future__ import annotations

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


class RemovedName(PTOError, AttributeError):
    """A name that the surface had once, or never."""


KIND: dict[type[PTOError], str] = {
    WrongType: "invalid",
    RuntimeMisuse: "invalid",
    WrongValue: "invalid",
    WrongPlace: "invalid",
    UnsupportedControl: "syntax",
    RemovedName: "unsupported",
}


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
