"""The text of a traced kernel: what the assembler reads, and for each operation the place that it came from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from io import StringIO
from operator import itemgetter

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.utils.lexer import Input, Span

from ptosim.author.call_sites import with_call_sites
from ptosim.author.trace import Trace
from ptosim.language.micro.sync import Barrier, FlagPair
from ptosim.language.structure.function import link
from ptosim.language.text.kept_comments import Stretch
from ptosim.language.text.location_forms import Position
from ptosim.language.text.parser import ParsedModule, deep_recursion
from ptosim.language.text.printing import ModulePrinter
from ptosim.language.text.python_edits import PythonWriter
from ptosim.places import AuthoredPlaces, Location, Source


class _Written(ModulePrinter):
    """The printer of modules, with the spellings of the assembler; it knows where it printed what."""

    def print_op(self, op: Operation) -> None:
        start = self._out.tell()
        match op:
            case FlagPair():
                source, destination = op.word("source"), op.word("destination")
                self.print_string(f"{op.name}[<{source}>, <{destination}>, ")
                if op.operands:
                    self.print_ssa_value(op.operands[0])
                    self.print_string("]")
                else:
                    self.print_string(f"<{op.word('event')}>]")
            case Barrier():
                self.print_string(f"{op.name} <{op.word('pipe')}>")
            case _ if op.name == "func.return":
                self.print_string("return")
                op.print(self)  # type: ignore[attr-defined]
            case _:
                super().print_op(op)
        self.printed[op] = start, self._out.tell()

    @property
    def names(self) -> Mapping[SSAValue, str]:
        """The names of all values that were printed."""
        return self._names


@dataclass(frozen=True)
class TracedOperations:
    """The operations of a traced kernel as reading its text would give them: a copy for each who asks."""

    root: ModuleOp
    printed: Mapping[Operation, Stretch]
    names: Mapping[SSAValue, str]

    def __call__(self, source: Source) -> ParsedModule:
        values: dict[SSAValue, SSAValue] = {}
        module = self.root.clone(values)
        link(module)
        text = Input(source.text, source.name)
        positions: dict[Operation, Position] = {}
        for old, new in zip(self.root.walk(), module.walk(), strict=True):
            if (stretch := self.printed.get(old)) is None:  # the end of a region, which stands where that does
                parent = new.parent_op()
                assert parent is not None
                positions[new] = Position(positions[parent].name)
            else:
                start, end = stretch
                at = max(start, source.text.find(old.name, start, end))
                positions[new] = Position(Span(at, min(end, at + len(old.name)), text), start=start, end=end)
        names = {values[old]: Span(0, len(name) + 1, Input(f"%{name}", "")) for old, name in self.names.items()}
        return ParsedModule(source, module, positions, names, [], writer=PythonWriter())


def source_of_trace(trace: Trace, name: str, with_calls: bool = False) -> Source:
    """The text of a kernel that was traced, which knows the places of its operations; with calls, those of each call
    of a helper."""
    root, known = with_call_sites(trace) if with_calls else (trace.root, trace.places)
    parsed = ParsedModule(Source(name, ""), root, {}, {}, [])
    out = StringIO()
    with deep_recursion():
        printer = _Written(out, parsed)
        printer.print_op(root)
    text = out.getvalue() + "\n"
    starts = sorted(((start, op) for op, (start, _) in printer.printed.items()), key=itemgetter(0))
    entries = [(start, known.get(op) or trace.definition) for start, op in starts]
    sources = {place.source for _, place in entries if place is not None and place.source is not None}
    calls = {
        call.source for _, place in entries if place is not None for call in place.calls if call.source is not None
    }
    places = AuthoredPlaces(entries, given=tuple(sources | calls))
    operations = TracedOperations(root, printer.printed, printer.names)
    return Source(name, text, places, is_own=True, is_recorded=True, operations=operations)


def merged_source(sources: Sequence[Source]) -> Source:
    """One text of the modules of several kernels, in order."""
    first = sources[0]
    head = first.text.partition("\n")[0]
    text = f"{head}\n"
    entries: list[tuple[int, Location | None]] = []
    given: dict[str, Source] = {}
    for source in sources:
        start = source.text.index("\n") + 1
        end = source.text.rindex("}")
        assert source.places is not None
        shift = len(text) - start
        entries += [(at + shift, place) for at, place in source.places.entries if start <= at < end]
        given |= {place.source.name: place.source for _, place in source.places.entries if place and place.source}
        text += source.text[start:end]
    places = AuthoredPlaces(entries, given=tuple(given.values()))
    return Source(first.name, text + "}\n", places, is_own=True, is_recorded=True)


def with_lines(source: Source) -> str:
    """The same text with a comment in front of each operation that says where it was written."""
    assert source.places is not None
    lines: list[str] = []
    for number, line in enumerate(source.text.split("\n"), 1):
        if line.strip() and not line.strip().startswith(("}", "^")):
            place = source.shown(number)
            if place.text is not None:
                indent = line[: len(line) - len(line.lstrip())]
                lines.append(f"{indent}// {place.file}:{place.line}:{place.column}")
        lines.append(line)
    return "\n".join(lines)
