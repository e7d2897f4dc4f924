"""The exception of a lowering for an operation that it cannot lower; the walk adds the place and makes a diagnostic of
it."""

from __future__ import annotations


class Refused(Exception):
    """An operation that no lowering exists for, or whose operands do not allow it."""

    def __init__(self, message: str, at: str | None = None, kind: str = "unsupported", hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.at = at
        self.kind = kind
        self.hint = hint
