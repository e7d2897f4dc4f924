"""The canonical text of a module: current spellings, the names of the source, one operation per line."""

from __future__ import annotations

from io import StringIO

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, Region, SSAValue
from xdsl.printer import Printer

from ptosim.language.parser import ParsedModule, deep_recursion
from ptosim.language.pointer import CastPtr
from ptosim.language.scalar import Constant


def text(parsed: ParsedModule, origins: bool = False) -> str:
    """The module as text; it reads back as the same module. With `origins`, what serves another operation of the source
    is headed by its line."""
    out = StringIO()
    with deep_recursion():
        _Printer(out, parsed, origins).print_op(parsed.module)
    return out.getvalue() + "\n"


class _Printer(Printer):
    """xDSL's printer with the names that values have in the source; where one is taken, it gets a number."""

    def __init__(self, out: StringIO, parsed: ParsedModule, origins: bool) -> None:
        super().__init__(out)
        self._parsed = parsed
        self._origins = origins
        self._shown: Operation | None = None
        self._spans = parsed.definitions
        self._names: dict[SSAValue, str] = {}
        self._taken: set[str] = set()  # the names that are visible here

    def print_op(self, op: Operation) -> None:
        if self._origins:
            self._print_origin(op)
        outside = set(self._taken) if op.regions else self._taken
        if isinstance(op, ModuleOp):
            self.print_string("module")
            op.print(self)
        else:
            super().print_op(op)
        self._taken = outside | {self._names[result] for result in op.results}

    def _print_origin(self, op: Operation) -> None:
        """The line that this operation, and those behind it, were made for."""
        origin, location = self._parsed.origin(op), self._parsed.location(op)
        if origin is self._shown or isinstance(op, ModuleOp | Constant | CastPtr) or location is None:
            return
        self._shown = origin
        if origin.name != op.name:
            line = " ".join(self._parsed.source.line(location.line).split())
            self.print_string(f"// {location.line}: {line}")
            self._print_new_line()

    def print_region(
        self,
        region: Region,
        print_entry_block_args: bool = True,
        print_empty_block: bool = True,
        print_block_terminators: bool = True,
    ) -> None:
        outside = set(self._taken)
        super().print_region(region, print_entry_block_args, print_empty_block, print_block_terminators)
        self._taken = outside

    def print_ssa_value(self, value: SSAValue) -> str:
        name = self._names.get(value)
        if name is None:
            name = self._names[value] = self._new_name(value)
            self._taken.add(name)
        self.print_string(f"%{name}")
        return name

    def _new_name(self, value: SSAValue) -> str:
        span = self._spans.get(value)
        name = span.text[1:] if span is not None else value.name_hint or "_"
        if name not in self._taken:
            return name
        number = 1
        while f"{name}_{number}" in self._taken:
            number += 1
        return f"{name}_{number}"
