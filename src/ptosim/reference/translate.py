"""A kernel becomes Python: a function per program and per vector scope, a line per operation, real loops and branches.

Interpretation is paid here, once. A line calls the function of the instruction (reference/semantics.py) on local
variables; a scope is a function of the values it captures, which the scalar unit launches; other instructions of a pipe
are issued to it with their operands. Each line of the text remembers its operation, so that a fault in it can be placed
at no cost.
"""

from __future__ import annotations

import linecache
import re
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from itertools import count
from typing import Any

from xdsl.ir import Block, Operation, Region, SSAValue

from ptosim.diagnostics import error
from ptosim.effects.catalogue import effects
from ptosim.effects.names import CoreKind, Pipe
from ptosim.effects.record import Access, Static
from ptosim.language.analysis.parameter_binding import element_for, standing, zeroing_mask
from ptosim.language.analysis.unit_flags import followed_unit_flags
from ptosim.language.analysis.word_answers import WordAnswers
from ptosim.language.load import VerifiedModule
from ptosim.language.operation import PTOOperation, enclosing_scope, is_scope
from ptosim.language.rules.core_kind_rules import passes_over
from ptosim.language.structure.control import steps
from ptosim.language.structure.function import Call, Function
from ptosim.language.text.parser import deep_recursion
from ptosim.language.types import VregType, element_of, is_vector_state
from ptosim.machine.entry import Site
from ptosim.machine.observer import Closeness
from ptosim.reference.catalogue import semantics_of
from ptosim.reference.control import SCOPE_BODIES, STRUCTURED, captures
from ptosim.reference.numeric.mask import FULL
from ptosim.reference.observed.lane_count import LaneCount, governing
from ptosim.reference.observed.taint import spread
from ptosim.reference.observed.tracing import as_text, described, told
from ptosim.reference.observed.until import Until
from ptosim.reference.observed.watch import Watch
from ptosim.reference.requirement import guarded
from ptosim.reference.semantics import Semantics
from ptosim.reference.workitems.body import WorkitemBody

_serial = count()

DEEPEST = 12
"""Regions nested in one Python function. CPython stops at 20 loops, so deeper regions become functions of their own."""


@dataclass(frozen=True, eq=False)
class TranslatedProgram:
    """The translated program of one kind of core."""

    program: Callable[..., None]
    """program(core, *arguments)"""
    parameters: int
    """The number of arguments: a program of a pair may leave out the last ones of its kernel."""
    sites: Mapping[int, Site]
    """Line of the Python text -> operation."""
    loops: Mapping[int, tuple[str, ...]]
    """Line of the Python text -> the index variables of the loops around it, in the same Python function."""
    operations: Mapping[Site, Operation]
    entry: Function
    filename: str
    unit_flags: frozenset[str]
    """The words about unit flags that are followed."""


@dataclass(frozen=True)
class _Line:
    """A line of a Python function, the operation it comes from, and the index variables of the loops around it."""

    depth: int
    text: str
    op: Operation | None = None
    loops: tuple[str, ...] = ()


@dataclass
class _Function:
    """A Python function being written."""

    name: str
    parameters: list[str]
    lines: list[_Line] = field(default_factory=list[_Line])


Inspection = Watch | Until | LaneCount
"""A closer look at some operations, for which the translated code has lines of its own."""


class Translator:
    """Writes what a core of this kind runs; `observed`: how closely an observer looks."""

    def __init__(
        self,
        module: VerifiedModule,
        kind: CoreKind,
        observed: Closeness | None = None,
        inspection: Inspection | None = None,
    ) -> None:
        self.module = module
        self.kind = kind
        self.observed = observed is not None
        self.followed = observed == "entries"
        self.tainted = observed == "accesses"
        self.watch = None if isinstance(inspection, LaneCount) else inspection
        self.lanes = inspection if isinstance(inspection, LaneCount) else None
        self.namespace: dict[str, Any] = {"spread": spread}
        self.names: dict[SSAValue, str] = {}
        self.functions: dict[tuple[Any, bool], _Function] = {}
        self.sites: dict[Operation, Site] = {}
        self.bodies: dict[Function, WorkitemBody] = {}
        self.in_scope = False
        self.out: _Function = _Function("", [])
        self.depth = 0
        self.loops: tuple[str, ...] = ()
        self.current: Operation | None = None
        self.uncounted = 0
        """Scalar operations written since the last line that counts them, where an observer follows entries."""

    @cached_property
    def answers(self) -> WordAnswers:
        return WordAnswers(self.module.parsed.module)

    # --- the whole ----------------------------------------------------------------------------------------------------

    def translate(self, entry: Function) -> TranslatedProgram:
        """The program of an entry function."""
        with deep_recursion():
            name = self.function(entry)
        text, lines = self._text()
        filename = f"<ptosim {next(_serial)}>"
        linecache.cache[filename] = (len(text), None, text.splitlines(True), filename)
        exec(compile(text, filename, "exec"), self.namespace)
        sites = {number: self.site(line.op) for number, line in lines.items() if line.op is not None}
        loops = {number: line.loops for number, line in lines.items() if line.loops}
        operations = {site: op for op, site in self.sites.items()}
        unit_flags = followed_unit_flags(self.module.parsed, self.sites)
        program = self.namespace[name]
        return TranslatedProgram(program, len(entry.args), sites, loops, operations, entry, filename, unit_flags)

    def _text(self) -> tuple[str, dict[int, _Line]]:
        out: list[str] = []
        lines: dict[int, _Line] = {}
        for function in self.functions.values():
            out.append(f"def {function.name}({', '.join(('core', *function.parameters))}):")
            if self.observed:
                out.append("    witness = core.witness")
            for line in function.lines or [_Line(0, "pass")]:
                out.append("    " * (line.depth + 1) + line.text)
                lines[len(out)] = line
        return "\n".join(out) + "\n", lines

    # --- functions ----------------------------------------------------------------------------------------------------

    def function(self, op: Function) -> str:
        """The Python function of a PTO function; helpers are translated once for scopes and once for scalar code."""
        key = (op, self.in_scope)
        if key not in self.functions:
            block = op.body.block
            symbol = re.sub(r"\W", "_", op.symbol, flags=re.ASCII)
            name = f"{'scope' if self.in_scope else 'su'}_{len(self.functions)}_{symbol}"
            with self._writing(key, name, self.expand(block.args)):
                self.block(block)
        return self.functions[key].name

    @contextmanager
    def _writing(self, key: tuple[Any, bool], name: str, parameters: list[str]) -> Generator[None]:
        """Write another Python function for a while."""
        before = self.out, self.depth, self.current, self.loops
        self.functions[key] = self.out = _Function(name, parameters)
        self.depth, self.loops = 0, ()
        yield
        self.out, self.depth, self.current, self.loops = before

    def scope(self, op: Operation, body: Callable[[], None]) -> tuple[str, list[str]]:
        """The function of a vector scope, which also takes CTRL, and the names of the values it captures."""
        captured = self._variables(captures(op))
        key = (op, True)
        was, self.in_scope = self.in_scope, True
        with self._writing(key, f"scope_{len(self.functions)}", [*captured, "ctrl"]):
            self.line("core.scope_ctrl = ctrl")
            body()
        self.in_scope = was
        return self.functions[key].name, captured

    def _variables(self, values: Iterable[SSAValue]) -> list[str]:
        """The variables of values; a constant needs none, because its name is the constant itself."""
        return list(dict.fromkeys(self.expand(value for value in values if self.name(value)[0] == "r")))

    def _outlined(self, op: Operation, write: Callable[[Translator, Operation], None]) -> None:
        """A loop or branch that is too deep for one Python function becomes a function of its own, called here."""
        given = self._variables(captures(op))
        key = (op, self.in_scope)
        with self._writing(key, f"inner_{len(self.functions)}", given):
            write(self, op)
            results = ", ".join(self.expand(op.results))
            if results:
                self.line(f"return {results}")
        call = f"{self.functions[key].name}({', '.join(('core', *given))})"
        self.line(f"{results} = {call}" if results else call)

    # --- text ---------------------------------------------------------------------------------------------------------

    def line(self, text: str) -> None:
        self.out.lines.append(_Line(self.depth, text, self.current, self.loops))

    def name(self, value: SSAValue) -> str:
        if value not in self.names:
            self.names[value] = f"r{len(self.names)}"
        return self.names[value]

    def taint(self, value: SSAValue) -> str:
        """The variable beside a register, mask or align value that holds its taint in observed runs."""
        return f"t{self.name(value)[1:]}"

    def expand(self, values: Iterable[SSAValue]) -> list[str]:
        """The variables of values; in observed runs the taint of vector values goes with them."""
        names: list[str] = []
        for value in values:
            names.append(self.name(value))
            if self.tainted and is_vector_state(value.type):
                names.append(self.taint(value))
        return names

    def constant(self, value: Any, prefix: str = "c") -> str:
        """A name for a Python object used by the text."""
        name = f"{prefix}{len(self.namespace)}"
        self.namespace[name] = value
        return name

    def site(self, op: Operation) -> Site:
        if op not in self.sites:
            self.sites[op] = Site(*standing(self.module.parsed, op))
        return self.sites[op]

    # --- operations ---------------------------------------------------------------------------------------------------

    def block(self, block: Block) -> None:
        for op in block.ops:
            self.operation(op)

    def operation(self, op: Operation) -> None:
        before, self.current = self.current, op
        if self.followed and not self.in_scope:
            self._count(op)
        structured = STRUCTURED.get(op.name)
        if is_scope(op) and not self.in_scope:
            self._launch(op)
        elif structured is not None and op.regions and self.depth >= DEEPEST:
            self._outlined(op, structured)
        elif structured is not None:
            structured(self, op)
        elif not passes_over(self.kind, op):
            self._instruction(op)
        self.current = before

    def _count(self, op: Operation) -> None:
        """Count what the scalar unit does by itself; the count must be up to date wherever something is issued."""
        record = effects().get(op.name)
        if op.name in STRUCTURED or is_scope(op):
            self.uncounted += steps(op)
        elif record is not None and record.timing == "scalar":
            self.uncounted += 1
            return
        if self.uncounted and op.name != "arith.constant":
            self.line(f"witness.count({self.uncounted})")
            self.uncounted = 0

    def _launch(self, op: Operation) -> None:
        name, captured = self.scope(op, lambda: SCOPE_BODIES[op.name](self, op))
        arguments = as_text([*captured, "core.ctrl"])
        self.line(f"core.launch({self.constant(self.site(op), 'site')}, {name}, {arguments})")

    def _instruction(self, op: Operation) -> None:
        meaning = semantics_of(op.name)
        if meaning is None:
            raise error("unsupported", f"{op.name} is not simulated yet", self.module.parsed.location(op))
        static, record = self.module.static(op), effects().get(op.name)
        meaning = guarded(meaning, record.requires(static) if record is not None else ())
        arguments = self.arguments(op, meaning, static)
        queued = self.site(op).pipe is not Pipe.S and not self.in_scope
        if self.watch is not None and self.watch.wants(self.site(op)):
            self._watched(op, meaning, arguments, queued, self.watch)
        elif queued:
            self._issue(op, meaning, described(self, op, meaning), arguments)
        elif self.tainted and self._is_told(op):
            told(self, op, meaning, arguments)
        else:
            if self.followed and self.in_scope and self.accesses(op):
                # what a function does that the scope calls is not told apart
                site = None if enclosing_scope(op) is None else self.site(op)
                self.line(f"witness.act = {self.constant(site, 'site')}")
            self.call_function(op, meaning, arguments)
        if self.lanes is not None and self.in_scope:
            self._counted(op, self.lanes)

    def _counted(self, op: Operation, lanes: LaneCount) -> None:
        """A line that counts an instruction, and the lanes under its mask."""
        count = lanes.instruction(op, self.site(op))
        if count is not None:
            mask = governing(op)
            self.line(f"{self.constant(count, 'lanes')}.executed({'None' if mask is None else self.name(mask)})")

    def _issue(self, op: Operation, meaning: Semantics, what: str, arguments: list[str]) -> None:
        self.line(f"core.{'transfer' if meaning.is_transfer else 'issue'}({what}, {as_text(arguments)})")

    def call_function(self, op: Operation, meaning: Semantics, arguments: list[str]) -> None:
        call = f"{self.constant(meaning.function, 'k')}({', '.join(arguments)})"
        results = [self.name(result) for result in op.results]
        self.line(f"{', '.join(results)} = {call}" if results else call)
        if (mask := zeroing_mask(op, meaning.parameters)) is not None:
            for result in op.results:
                if isinstance(result.type, VregType):
                    cleared = f"{self.name(result)} = {self.name(mask)}.zero_inactive({self.name(result)})"
                    self.line(f"if {element_of(result.type).bytes} not in {self.name(mask)}.full: {cleared}")

    def _watched(
        self, op: Operation, meaning: Semantics, arguments: list[str], queued: bool, watch: Watch | Until
    ) -> None:
        """An instruction on a line that is shown: calls around it tell what it did."""
        watched = self.constant(watch.operation(self.module.parsed, op, self.site(op), self.names), "watched")
        operands = as_text([self.name(value) for value in op.operands])
        if queued:
            what = described(self, op, meaning)
            self._issue(op, meaning, f"{watched}.queued(core, {what}, {operands})", arguments)
            return
        self.line(f"shown = {watched}.shown(core)")
        self.call_function(op, meaning, arguments)
        self.line(f"{watched}.done(shown, {operands}, {as_text([self.name(result) for result in op.results])})")

    # --- observed runs ------------------------------------------------------------------------------------------------

    def accesses(self, op: Operation) -> Sequence[Access]:
        """The accesses of an operation to memory."""
        record = effects().get(op.name)
        return record.accesses(self.module.static(op)) if record is not None else ()

    def _is_told(self, op: Operation) -> bool:
        """Whether a witness of accesses is told when an operation executes."""
        return self.in_scope or bool(self.accesses(op)) or _reads_of_other_pipes(op)

    def arguments(self, op: Operation, meaning: Semantics, static: Static) -> list[str]:
        bound = {**static.facts, **(meaning.bind(static) if meaning.bind is not None else {})}
        return [self._argument(op, parameter, static, bound) for parameter in meaning.parameters]

    def _argument(self, op: Operation, parameter: str, static: Static, bound: Mapping[str, Any]) -> str:
        if parameter in bound:
            return self._literal(bound[parameter])
        assert isinstance(op, PTOOperation), f"{op.name} is not an instruction"
        if parameter == "core":
            return "core"
        if parameter in op.variadic_roles:
            return as_text([self.name(value) for value in op.segment(parameter)])
        if parameter in op.operand_roles:
            return next((self.name(value) for value in op.segment(parameter)), "None")
        if parameter in op.property_roles:
            return repr(static.words.get(parameter, static.integers.get(parameter)))
        return self._special(op, parameter, static)

    def _special(self, op: PTOOperation, parameter: str, static: Static) -> str:
        match parameter:
            case "config":
                return "core.config"
            case "ctrl":
                return "core.scope_ctrl" if self.in_scope else "core.ctrl"
            case "static":
                return self.constant(static, "static")
            case "site":
                return self.constant(self.site(op), "site")
            case "element" | "result_element":
                return self.constant(element_for(op, parameter), "e")
            case "active":
                return self._active(op)
            case "workitems":
                assert isinstance(op, Call)
                return self.constant(self._body(op.function), "body")
            case _:
                raise AssertionError(f"{op.name} has no {parameter}")

    def _body(self, function: Function | None) -> WorkitemBody | None:
        """The code of workitems, put together once."""
        if function is None or function.is_declaration:
            return None
        if function not in self.bodies:
            watch = self.watch if isinstance(self.watch, Watch) else None
            self.bodies[function] = WorkitemBody(self.module, function, watch)
        return self.bodies[function]

    def _active(self, op: PTOOperation) -> str:
        stride = element_for(op, "element").bytes
        masks = op.segment("mask")
        return f"{self.name(masks[0])}.lanes({stride})" if masks else self.constant(FULL[stride].lanes(stride))

    def _literal(self, value: Any) -> str:
        # Members of an enumeration are strings too, but their repr is not Python.
        return repr(value) if type(value) in (int, str, bool, type(None)) else self.constant(value)

    # --- structured control flow --------------------------------------------------------------------------------------

    def region(self, region: Region, end: Callable[[], None]) -> None:
        """The body of a loop or branch, one level deeper, and what happens at its end."""
        self.depth += 1
        before = len(self.out.lines)
        for block in region.blocks:
            self.block(block)
        end()
        if len(self.out.lines) == before:
            self.line("pass")
        self.depth -= 1

    def assign(self, targets: Sequence[SSAValue], values: Sequence[SSAValue]) -> None:
        """Simultaneous assignment."""
        left, right = ", ".join(self.expand(targets)), ", ".join(self.expand(values))
        if left and left != right:
            self.line(f"{left} = {right}")


def _reads_of_other_pipes(op: Operation) -> bool:
    """Whether scalar code reads a special register that the vector pipe writes."""
    record = effects().get(op.name)
    return record is not None and record.pipe is Pipe.S and "VMS4_SR" in record.reads
