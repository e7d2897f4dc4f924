"""The canonical text of a module: current spellings, the names of the source, one operation per line."""

from __future__ import annotations

from io import StringIO

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, Region, SSAValue
from xdsl.printer import Printer

from ptosim.language.parser import ParsedModule, deep_recursion


def text(parsed: ParsedModule) -> str:
    """The module as text; it reads back as the same module."""
    out = StringIO()
    with deep_recursion():
        _Printer(out, parsed).print_op(parsed.module)
    return out.getvalue() + "\n"


class _Printer(Printer):
    """xDSL's printer with the names that values have in the source; where one is taken, it gets a number."""

    def __init__(self, out: StringIO, parsed: ParsedModule) -> None:
        super().__init__(out)
        self._spans = parsed.definitions
        self._names: dict[SSAValue, str] = {}
        self._taken: set[str] = set()  # the names that are visible here

    def print_op(self, op: Operation) -> None:
        outside = set(self._taken) if op.regions else self._taken
        if isinstance(op, ModuleOp):
            self.print_string("module")
            op.print(self)
        else:
            super().print_op(op)
        self._taken = outside | {self._names[result] for result in op.results}

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
