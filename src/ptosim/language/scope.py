"""Vector scopes and the sections of mixed kernels."""

from __future__ import annotations

from typing import Self

from xdsl.parser import Parser
from xdsl.printer import Printer

from ptosim.language.located import LocatedParser
from ptosim.language.operation import Body, PTOOperation


class VecScope(PTOOperation):
    """One vector function: a launch that does not stop the scalar unit.

    pto.vecscope { ... }
    """

    name = "pto.vecscope"
    placement = "outside"
    body = Body()

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        assert isinstance(parser, LocatedParser)
        return cls.make(regions=[parser.parse_region()])

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_region(self.body)
