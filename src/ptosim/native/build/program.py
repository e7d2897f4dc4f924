"""A kernel becomes IR: the scalar program of each kind of core, a function per queue entry and per helper.

A vector scope or an instruction of a pipe is a function of the values it captures, called at once when nothing is
stalled and otherwise handed to the scheduler (issue.py). Constants are not captured but said again, so that they still
fold, except where entries share code (sharing.py). What an instruction does is in the rooms, control flow in `control`;
this walks the operations and binds the parameters of their lowerings.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, cast

from xdsl.ir import Attribute, Block, Operation, SSAValue

from ptosim.diagnostics import error
from ptosim.effects.catalogue import effects
from ptosim.effects.names import PIPES_OF, CoreKind, Pipe
from ptosim.effects.record import Static
from ptosim.effects.sync import UnitFlagUse, signalling
from ptosim.language.analysis.parameter_binding import element_for, pipe_of, standing, zeroing_mask
from ptosim.language.analysis.unit_flags import unit_flag
from ptosim.language.load import VerifiedModule
from ptosim.language.operation import PTOOperation, is_scope
from ptosim.language.rules.core_kind_rules import passes_over
from ptosim.language.structure.function import Call
from ptosim.language.structure.function import Function as PTOFunction
from ptosim.language.text.parser import deep_recursion
from ptosim.language.types import MaskType, PtrType, VregType, element_of
from ptosim.machine.entry import Site
from ptosim.native import control, scope, sync
from ptosim.native.build.catalogue import lowering_of
from ptosim.native.build.core import Core, FlagStep, Unit
from ptosim.native.build.issue import RUNNER, TileFlag, call_entry, fill_runner, from_word, issue, run_entry
from ptosim.native.build.lowering import Lowering
from ptosim.native.build.requirement import demand
from ptosim.native.build.sharing import Entries, SharedEntry
from ptosim.native.build.state import CrossingShape, Narrower, Native, all_apart, narrowest, shape_of
from ptosim.native.ir.context import WORD_BYTES, ContextWord, Register
from ptosim.native.ir.flow import FunctionBuilder
from ptosim.native.ir.values import I64, PTR, Type, Value
from ptosim.native.vector.numbers import lane_type
from ptosim.native.vector.registers import Mask, full_mask, splat, view, zeroed

_FLAGS = signalling("flag", "token")
"""Operations of flags and tokens; those that follow each other are lowered together."""

_STRUCTURED = {**control.STRUCTURED, **scope.STRUCTURED}
_REGISTERS = {register.name.lower(): register for register in Register}


def build(module: VerifiedModule, entries: Mapping[CoreKind, PTOFunction], unit: Unit) -> dict[CoreKind, str]:
    """Fill the object with the programs of a kernel; gives the symbol of each."""
    builder = ObjectBuilder(module, unit)
    with deep_recursion():
        programs = {kind: builder.program(entry, kind) for kind, entry in entries.items()}
        builder.entries.build_waiting()
        return programs


class ObjectBuilder:
    """The common parts of all functions of one object."""

    def __init__(self, module: VerifiedModule, unit: Unit) -> None:
        self.module = module
        self.unit = unit
        self.sites: dict[Operation, Site] = {}
        self.helpers: dict[Any, FunctionBuilder] = {}
        """Functions that the kernel calls, compiled for one kind of caller each."""
        self.shapes: dict[Operation, list[CrossingShape]] = {}
        """The shape of values that loops carry, if that had to be found out."""
        self.entries = Entries(unit)

    def program(self, entry: PTOFunction, kind: CoreKind) -> str:
        """The scalar program of one kind of core."""
        function = self.unit.module.function(str(kind))
        body = FunctionBody(self, function, kind, in_scope=False)
        arguments = function.word(ContextWord.ARGUMENTS).load(PTR, WORD_BYTES)
        for number, argument in enumerate(entry.body.block.args):
            word = arguments.at(number * WORD_BYTES).load(I64, WORD_BYTES)
            body.values[argument] = from_word(word, scalar_type(argument.type))
        core, observer = body.core(entry), self.unit.observer
        observer.program_begins(core)
        body.block(entry.body.block)
        observer.program_ends(core)
        function.finish()
        return function.name

    def is_lowered(self, op: Operation) -> bool:
        """Whether lowering made an operation: all inside it serves one operation of the text, and stands there."""
        parsed = self.module.parsed
        origin = parsed.origin(op)
        return origin.name != parsed.called(op) and all(parsed.origin(inner) is origin for inner in op.walk())

    def site(self, op: Operation) -> Site:
        if op not in self.sites:
            self.sites[op] = Site(*standing(self.module.parsed, op))
        return self.sites[op]


class FunctionBody:
    """Operations becoming the code of one function."""

    def __init__(self, builder: ObjectBuilder, function: FunctionBuilder, kind: CoreKind, in_scope: bool) -> None:
        self.builder = builder
        self.unit = builder.unit
        self.f = function
        self.kind = kind
        self.in_scope = in_scope
        self.values: dict[SSAValue, Native] = {}
        self.flags: list[FlagStep] = []
        self.registers: dict[Register, Value] = {}
        """Registers as they were captured, in the entry of an instruction."""

    def __getitem__(self, value: SSAValue) -> Native:
        return self.values[value]

    def scalar(self, value: SSAValue) -> Value:
        found = self.values[value]
        assert isinstance(found, Value)
        return found

    def beside(self, function: FunctionBuilder) -> FunctionBody:
        """The body of a function that runs where this one does."""
        return FunctionBody(self.builder, function, self.kind, self.in_scope)

    # --- operations ---------------------------------------------------------------------------------------------------

    def block(self, block: Block) -> None:
        for op in block.ops:
            if op.name not in _FLAGS and op.name != "arith.constant":
                sync.lower_flags(self.f, self.flags)
            self.operation(op)
        sync.lower_flags(self.f, self.flags)

    def operation(self, op: Operation) -> None:
        self.unit.observer.operation_begins(self, op)
        if is_scope(op) and not self.in_scope:
            self.launch(op)
        elif (structured := _STRUCTURED.get(op.name)) is not None:
            structured(self, op)
        elif not passes_over(self.kind, op):
            self.instruction(op)

    def instruction(self, op: Operation) -> None:
        lowering = lowering_of(op.name)
        if lowering is None:
            raise error("unsupported", f"{op.name} is not compiled yet", self.builder.site(op).location)
        if self.in_scope or pipe_of(op) is Pipe.S:
            self.perform(op, lowering)
            return
        registers = [_REGISTERS[name] for name in lowering.parameters if name in _REGISTERS]
        self.entry(op, list(dict.fromkeys(op.operands)), registers, lambda body: body.perform(op, lowering))

    def launch(self, op: Operation) -> None:
        """A vector scope, with the values it captures."""

        registers = (Register.CTRL,) if self.unit.may_set_ctrl else ()

        def fill(body: FunctionBody) -> None:
            for register in registers:
                body.core(op).set_register(Register.SCOPE_CTRL, body.registers[register])
            if op.name in _STRUCTURED:
                _STRUCTURED[op.name](body, op)
                return
            block = op.regions[0].block
            body.values.update(zip(block.args, [body[value] for value in op.operands], strict=True))
            body.block(block)

        self.entry(op, captures(op), registers, fill)

    def entry(
        self,
        op: Operation,
        captured: Sequence[SSAValue],
        registers: Sequence[Register],
        fill: Callable[[FunctionBody], None],
    ) -> None:
        """An entry of a pipe: a function of captured values and registers, issued here."""
        site, f, entries = self.builder.site(op), self.f, self.builder.entries
        core = self.core(op)
        outside = [self.scalar(value) for value in captured]
        words = [value for value in outside if value.literal is None]
        words += [core.register(register) for register in registers]
        if shares := self.builder.is_lowered(op):
            words.append(f.constant(I64, len(entries.waiting)))
        tile = self._unit_flag(op, dict(zip(captured, outside, strict=True)))
        number = core.operation("work", () if tile is None else tile.arguments(words), words)
        if site.pipe not in PIPES_OF[self.kind]:
            issue(f, number, words)  # the scheduler knows what to say
            return

        def build(function: FunctionBuilder, values: Sequence[Value], registered: Sequence[Value]) -> None:
            body = FunctionBody(self.builder, function, self.kind, in_scope=is_scope(op))
            body.values.update(zip(captured, values, strict=True))
            body.registers = dict(zip(registers, registered, strict=True))
            self.unit.observer.entry_begins(body.core(op), op)
            fill(body)
            self.unit.observer.entry_ends(body.core(op), op)

        entry = SharedEntry(number, op, site.location, self.kind, len(f.loops), captured, outside, registers, build)
        self.unit.entries.add(number)
        if shares:
            entries.waiting.append(entry)
        else:
            entries.build_alone(entry)
        core.moves()
        if core.is_observed:
            run_entry(f, number, words, lambda told: core.observer.entry_called(core, entry, told), tile)
        elif shares and tile is None:
            call_entry(f, self.unit.routine("run_entry", RUNNER, fill_runner), number, words)
        else:
            run_entry(f, number, words, tile=tile)

    def _unit_flag(self, op: Operation, values: Mapping[SSAValue, Value]) -> TileFlag | None:
        """The use of the flag of its tile by a product or a store."""
        word = unit_flag(op)
        if word is None or word not in self.unit.unit_flags:
            return None
        assert isinstance(op, PTOOperation)
        tile = values[op.segment("c" if "c" in op.operand_roles else "source")[0]]
        return TileFlag(self.f, UnitFlagUse(word, tile.literal or 0, self.builder.site(op).pipe), tile)

    # --- one instruction ----------------------------------------------------------------------------------------------

    def core(self, op: Operation) -> Core:
        return Core(self.f, self.unit, self.kind, partial(self.builder.site, op), self.flags)

    def perform(self, op: Operation, lowering: Lowering) -> None:
        """Call the lowering of an instruction and take its results."""
        self.unit.observer.instruction_begins(self, op)
        static, core = self.builder.module.static(op), self.core(op)
        facts: Mapping[str, Any] = lowering.bind(static) if lowering.bind is not None else {}
        bound = {"f": self.f, "core": core, "static": static, **static.facts, **facts}
        arguments = [self._argument(op, parameter, static, bound) for parameter in lowering.parameters]
        if (record := effects().get(op.name)) is not None and (requirements := record.requires(static)):
            demand(core, requirements, dict(zip(lowering.parameters, arguments, strict=True)))
        if lowering.lanewise and self._is_uniform(op):
            arguments = [_scalar(argument) for argument in arguments]
        results = _results(lowering.function(*arguments))
        mask = None if (clearing := zeroing_mask(op, lowering.parameters)) is None else self[clearing]
        assert mask is None or isinstance(mask, Mask)
        for result, value in zip(op.results, results, strict=True):
            self.values[result] = self._result(result.type, value, mask)
        self.unit.observer.instruction_ends(self, op)

    def _result(self, type_: Attribute, value: Native, mask: Mask | None) -> Native:
        if not isinstance(type_, VregType):
            return value
        assert isinstance(value, Value)
        kind = lane_type(element_of(type_))
        if not value.kind.lanes:
            return splat(self.f, value.bitcast(kind), element_of(type_).lanes)
        register = view(self.f, value, kind)
        return zeroed(register, mask) if mask is not None else register

    def _is_uniform(self, op: Operation) -> bool:
        """Whether an instruction computes the same in every lane, and in lanes of one width."""
        values = [self[value] for value in op.operands]
        masks = [value for value in values if isinstance(value, Mask)]
        registers = [value for value in values if isinstance(value, Value) and value.kind.lanes]
        widths = {element_of(value.type).bits for value in (*op.operands, *op.results) if _is_register(value)}
        return (
            len(widths) == 1
            and all(mask.is_full and 8 * mask.width <= min(widths) for mask in masks)
            and all(register.uniform is not None for register in registers)
        )

    def _argument(self, op: Operation, parameter: str, static: Static, bound: Mapping[str, Any]) -> Any:
        if parameter in bound:
            return bound[parameter]
        assert isinstance(op, PTOOperation), f"{op.name} is not an instruction"
        if parameter in op.variadic_roles:
            return tuple(self[value] for value in op.segment(parameter))
        if parameter in op.operand_roles:
            return next((self[value] for value in op.segment(parameter)), None)
        if parameter in op.property_roles:
            return static.words.get(parameter, static.integers.get(parameter))
        return self._special(op, parameter)

    def _special(self, op: PTOOperation, parameter: str) -> Any:
        match parameter:
            case "element" | "result_element":
                return element_for(op, parameter)
            case "active":
                return self._active(op)
            case "workitems":
                return self.builder, op.function if isinstance(op, Call) else None
            case _:
                register = _REGISTERS["scope_ctrl" if parameter == "ctrl" and self.in_scope else parameter]
                captured = self.registers.get(register)
                return self.core(op).register(register) if captured is None else captured

    def _active(self, op: PTOOperation) -> Value:
        width = element_for(op, "element").bytes
        masks = [self[value] for value in op.segment("mask")]
        mask = masks[0] if masks else full_mask(self.f, width)
        assert isinstance(mask, Mask)
        return mask.lanes(width)

    def renamed(self, values: Sequence[SSAValue], names: Sequence[SSAValue]) -> None:
        """Gives these values other names from here on."""
        self.values.update(zip(names, [self[value] for value in values], strict=True))
        self.unit.observer.renamed(values, names)

    def crosses(self, values: Iterable[SSAValue]) -> None:
        """These values are about to cross a join or a call."""
        self.unit.observer.crosses(self, values)

    # --- joins --------------------------------------------------------------------------------------------------------

    def joined(
        self, op: Operation, shapes: Sequence[CrossingShape], attempt: Callable[[list[CrossingShape]], None]
    ) -> None:
        """Build what joins control flow; where a value comes that there is no room for, build it again."""
        shapes = self.builder.shapes.get(op) or list(shapes)
        crossing = any(isinstance(value.type, MaskType | VregType) for value in (*op.operands, *op.results))
        while True:
            mark = self.f.mark() if crossing else None
            try:
                attempt(shapes)
                return
            except Wanting as wanting:
                if wanting.op is not op or mark is None:
                    raise
                self.f.go_back(mark)
                shapes = self.builder.shapes[op] = wanting.shapes

    def handed_on(self, op: Operation, shapes: list[CrossingShape], values: Sequence[Native]) -> list[Value]:
        """Values as they cross a join."""
        try:
            return all_apart(values, shapes)
        except Narrower:
            wanted = [narrowest(shape, shape_of(value)) for shape, value in zip(shapes, values, strict=True)]
            raise Wanting(op, wanted) from None


class Wanting(Exception):
    """A join needs other shapes for the values that cross it."""

    def __init__(self, op: Operation, shapes: list[CrossingShape]) -> None:
        super().__init__()
        self.op = op
        self.shapes = shapes


# --- types ------------------------------------------------------------------------------------------------------------


def scalar_type(type_: Attribute) -> Type:
    """A scalar or pointer as an IR type: floats are their bits."""
    return I64 if isinstance(type_, PtrType) else Type(f"i{element_of(type_).bits}")


def captures(op: Operation) -> list[SSAValue]:
    """The values that a scope uses from outside, in order of first use."""
    inside: set[SSAValue] = set()
    used: dict[SSAValue, None] = {}
    for inner in op.walk():
        used |= dict.fromkeys(inner.operands)
        inside.update(inner.results)
        for region in inner.regions:
            inside.update(region.block.args)
    return [operand for operand in used if operand not in inside]


def _results(outcome: Any) -> tuple[Native, ...]:
    """The results of a lowering, as a tuple."""
    if outcome is None:
        return ()
    return cast("tuple[Native, ...]", outcome) if isinstance(outcome, tuple) else (outcome,)


def _is_register(value: SSAValue) -> bool:
    return isinstance(value.type, VregType)


def _scalar(argument: Any) -> Any:
    """The value in all lanes of a register; other arguments as they are."""
    return argument.uniform if isinstance(argument, Value) and argument.uniform is not None else argument
