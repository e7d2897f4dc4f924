"""The canonical text of a module: current spellings, the names of the source, one operation per line."""

from __future__ import annotations

from collections.abc import Mapping
from io import StringIO

from xdsl.dialects.builtin import ModuleOp, UnregisteredAttr
from xdsl.ir import Attribute, Operation, Region, SSAValue
from xdsl.printer import Printer

from ptosim.language.micro.pointer import CastPtr
from ptosim.language.structure.scalar import Constant
from ptosim.language.text.assembly_format import word_in
from ptosim.language.text.kept_comments import Stretch, with_comments
from ptosim.language.text.location_forms import quoted, written
from ptosim.language.text.parser import ParsedModule, deep_recursion
from ptosim.language.tile.tile_attributes import KINDS


def text(parsed: ParsedModule, origins: bool = False, locations: bool = False, comments: bool = False) -> str:
    """The module as text; it reads back as the same module. With `origins`, what serves another operation of the source
    is headed by its line; with `locations`, each operation says where its author wrote it; with `comments`, those of
    the source are kept."""
    found, stretches = printed(parsed, origins, locations)
    return with_comments(found, parsed.positions, parsed.source.text, stretches) if comments else found


def printed(
    parsed: ParsedModule, origins: bool = False, locations: bool = False
) -> tuple[str, Mapping[Operation, Stretch]]:
    """The same, and where each operation stands in it."""
    out = StringIO()
    printer = ModulePrinter(out, parsed, origins, locations)
    with deep_recursion():
        printer.print_op(parsed.module)
    return out.getvalue() + "\n", printer.printed


class ModulePrinter(Printer):
    """xDSL's printer with the names that values have in the source; where one is taken, it gets a number."""

    def __init__(self, out: StringIO, parsed: ParsedModule, origins: bool = False, locations: bool = False) -> None:
        super().__init__(out)
        self._parsed = parsed
        self._origins = origins
        self._locations = locations
        self._shown: Operation | None = None
        self._out = out
        self.printed: dict[Operation, Stretch] = {}
        """The start and end of each operation in the printed text."""
        self._spans = parsed.definitions
        self._names: dict[SSAValue, str] = {}
        self._visible: dict[str, str | None] = {}
        """The names that are visible here, in order, each with the plain name where it has got a number."""
        self._numbers: dict[str, int] = {}
        """The numbers that the next of several values of one name try."""

    def print_op(self, op: Operation) -> None:
        if self._origins:
            self._print_origin(op)
        visible, start = len(self._visible), self._out.tell()
        if isinstance(op, ModuleOp):
            self.print_string("module")
            op.print(self)
        else:
            super().print_op(op)
        if self._locations:
            self._print_location(op)
        self.printed[op] = start, self._out.tell()
        if op.regions:
            self._forget(visible)
            self._visible |= dict.fromkeys(self._names[result] for result in op.results)

    def _print_location(self, op: Operation) -> None:
        """The author's place of the operation, and the name of its result."""
        place = self._parsed.location(op)
        if place is not None:
            name = self._parsed.names.get(op.results[0]) if len(op.results) == 1 else None
            where = written(place.shown)
            self.print_string(f" loc({where})" if name is None else f" loc({quoted(name)}({where}))")

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

    def print_attribute(self, attribute: Attribute) -> None:
        """A word of a kind that is known is printed as that kind is, wherever it stands, such as with a function."""
        if isinstance(attribute, UnregisteredAttr) and not attribute.is_type.data:
            known = KINDS.get(attribute.attr_name.data.removeprefix("pto."))
            if known is not None:
                self.print_string(known.printed.format(word_in(attribute)))
                return
        super().print_attribute(attribute)

    def print_region(
        self,
        region: Region,
        print_entry_block_args: bool = True,
        print_empty_block: bool = True,
        print_block_terminators: bool = True,
    ) -> None:
        visible = len(self._visible)
        super().print_region(region, print_entry_block_args, print_empty_block, print_block_terminators)
        self._forget(visible)

    def _forget(self, visible: int) -> None:
        """Leave a region: only so many names are still visible."""
        while len(self._visible) > visible:
            _, several = self._visible.popitem()
            if several is not None:
                self._numbers.pop(several, None)

    def print_ssa_value(self, value: SSAValue) -> str:
        name = self._names.get(value)
        if name is None:
            name = self._names[value] = self._new_name(value)
        self.print_string(f"%{name}")
        return name

    def _new_name(self, value: SSAValue) -> str:
        span = self._spans.get(value)
        plain = name = span.text[1:] if span is not None else value.name_hint or "_"
        number = self._numbers.get(plain, 1)
        stem = f"_{plain}" if plain.isdigit() else plain  # only a name goes on behind digits: %_0_1, not %0_1
        while name in self._visible:
            name = f"{stem}_{number}"
            number += 1
        if name != plain:
            self._numbers[plain] = number
        self._visible[name] = plain if name != plain else None
        return name
