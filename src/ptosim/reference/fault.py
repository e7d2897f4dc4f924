"""An error of the kernel, met while it runs. Instructions raise it without a place, which the engine knows."""

from __future__ import annotations

from typing import Unpack

from ptosim.diagnostics import Details


class Fault(Exception):
    """A fault: a kind of DESIGN's table, a message, further fields of the diagnostic."""

    def __init__(self, kind: str, message: str, **fields: Unpack[Details]) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.fields = fields
