"""Functions that mix tiles of cube and vector without sections: they run part by part, in the order of the text.

Statements of one kind that follow each other become a section. Where the kind changes, everything has ended on one side
before the other goes on. The official compiler lets the sections run side by side, so `check` remarks parts that need
the order: those that touch the same tensor in GM. Without a question for the sub-block, one vector core does the work.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from xdsl.dialects.builtin import IntegerAttr, i1, i64
from xdsl.ir import Block, Operation, Region, SSAValue

from ptosim.diagnostics import PTOError
from ptosim.effects.catalogue import effects
from ptosim.effects.names import PIPES_OF, CoreKind, Pipe
from ptosim.language.builder import Builder, InsertionPoint, head_of
from ptosim.language.load import VerifiedModule
from ptosim.language.micro.scope import Section, SectionCube, SectionVector
from ptosim.language.micro.sync import pipe_of
from ptosim.language.micro.system import GetSubblockIdx
from ptosim.language.operation import Problem, PTOOperation, core_of, cores_of
from ptosim.language.rules.core_kind_rules import NAMES
from ptosim.language.structure.function import Function, Return, every_function
from ptosim.language.tile.tile_operation import TileOperation
from ptosim.language.tile.tile_types import tile_of
from ptosim.language.tile.tile_view import GetValidShape, SetValidShape, TileValidCols, TileValidRows
from ptosim.language.tile.view_operation import ViewOperation
from ptosim.tiles.passes.first_core import on_first_core
from ptosim.tiles.run_conditions import require

_SECTIONS = {CoreKind.AIC: SectionCube, CoreKind.AIV: SectionVector}
_SIGNALS = {CoreKind.AIC: ("PIPE_FIX", 14), CoreKind.AIV: ("PIPE_MTE3", 15)}
"""By the core that goes on first: the pipe and the semaphore with which it says that its part has ended."""
_AIV1 = 16
"""The offset from a semaphore of AIV0 to the one of AIV1 on the cube core (a5)."""


def split_parts(module: VerifiedModule) -> VerifiedModule:
    """Give functions of both kinds their sections; where some are written, what stands outside gets its own."""
    for function in every_function(module.parsed.module):
        if not function.is_declaration and _is_mixed(function):
            _Function(module, function).split()
    return module


def _is_mixed(function: Function) -> bool:
    """Whether a function of both kinds has tile operations that do not say which core they are for."""
    operations = list(function.walk())
    if not any(isinstance(op, TileOperation) and core_of(op) is None for op in operations):
        return False
    kinds = {core for op in operations if (core := _own_kind(op)) is not None}
    return len(kinds) > 1 or any(isinstance(op, Section) for op in operations)


def _own_kind(op: Operation) -> CoreKind | None:
    """The kind of core that an operation itself asks for."""
    if isinstance(op, SetValidShape | GetValidShape | TileValidRows | TileValidCols):
        tile = tile_of(op.source.type)
        return CoreKind.AIV if tile is not None and tile.loc == "vec" else CoreKind.AIC
    if isinstance(op, PTOOperation) and len(needed := cores_of(op)) == 1:
        return needed[0]
    return None


def _kind_of_pipes(op: Operation) -> CoreKind | None:
    """The kind of core that alone has the pipes which an operation names: a flag, a barrier, a buffer, a semaphore."""
    if not isinstance(op, PTOOperation):
        return None
    roles = {*op.words, *({"pipe"} & {*op.property_roles})}
    named = {pipe_of(op, role) for role in roles} - {None, Pipe.ALL}
    kinds = [kind for kind, pipes in PIPES_OF.items() if named and named.issubset(pipes)]
    return kinds[0] if len(kinds) == 1 else None


@dataclass
class _Part:
    """Statements of one kind, and the tensors in GM that they read and write: by pointer, where it is met first."""

    kind: CoreKind
    statements: list[Operation] = field(default_factory=list[Operation])
    reads: dict[SSAValue, Operation] = field(default_factory=dict[SSAValue, Operation])
    writes: dict[SSAValue, Operation] = field(default_factory=dict[SSAValue, Operation])

    def add(self, statement: Operation) -> None:
        self.statements.append(statement)
        for op in statement.walk():
            if isinstance(op, TileOperation):
                for role in op.views:
                    for value in op.segment(role):
                        touched = self.writes if role in op.writes else self.reads
                        touched.setdefault(_tensor(value), op)

    def depends_on(self, earlier: _Part) -> Operation | None:
        """The first operation that needs an earlier part to have ended."""
        after_write = [op for value, op in (*self.reads.items(), *self.writes.items()) if value in earlier.writes]
        after_read = [op for value, op in self.writes.items() if value in earlier.reads]
        return next(iter((*after_write, *after_read)), None)


def _tensor(view: SSAValue) -> SSAValue:
    """The pointer that a view leads back to."""
    value, owner = view, view.owner
    while isinstance(owner, PTOOperation) and (isinstance(owner, ViewOperation) or owner.is_pure) and owner.operands:
        value = owner.operands[0]
        owner = value.owner
    return value


class _Function:
    """One function while it gets its sections."""

    def __init__(self, module: VerifiedModule, function: Function) -> None:
        self.module = module
        self.function = function
        self.head = head_of(function.body.block)
        self.written = any(isinstance(op, Section) for op in function.walk())
        """Whether the author has said what runs side by side."""
        self.asks = self.written or any(isinstance(op, GetSubblockIdx) for op in function.walk())
        self.kinds: dict[Operation, CoreKind] = {}

    def split(self) -> None:
        parts = list(self._parts())
        for number, part in enumerate(parts):
            before, after = parts[:number], parts[number + 1 : number + 2]
            if self.written:
                before, after = [], []
            self._section(
                part,
                waits=bool(before) and before[-1].kind is not part.kind,
                signals=bool(after) and after[0].kind is not part.kind,
                needs=next((op for one in before if one.kind is not part.kind and (op := part.depends_on(one))), None),
            )

    # --- what belongs together ----------------------------------------------------------------------------------------

    def _parts(self) -> Iterator[_Part]:
        """Runs of statements of one kind. What has no kind and no effect may stand between them."""
        part: _Part | None = None
        for op in self.function.body.block.ops:
            kind = self._kind(op)
            if kind is not None:
                self.kinds[op] = kind
                if part is not None and part.kind is not kind:
                    yield part
                    part = None
                part = part or _Part(kind)
                part.add(op)
            elif part is not None and not _stays_before(op):
                yield part
                part = None
        if part is not None:
            yield part

    def _kind(self, statement: Operation) -> CoreKind | None:
        """The kind of core that a statement asks for, or that its values have."""
        asked: dict[CoreKind, Operation] = {}
        if isinstance(statement, Section):
            return None
        for op in statement.walk():
            if (own := _own_kind(op) or _kind_of_pipes(op)) is not None:
                asked.setdefault(own, op)
            for value in op.operands:
                owner = value.owner
                if isinstance(owner, Operation) and owner in self.kinds:
                    asked.setdefault(self.kinds[owner], op)
        if len(asked) > 1:
            names = " and ".join(NAMES[kind] for kind in asked)
            problem = Problem(f"this is an operation of one kind of core, and needs {names} cores")
            raise PTOError(self.module.parsed.diagnostic(statement, problem))
        return next(iter(asked), None)

    # --- sections -----------------------------------------------------------------------------------------------------

    def _section(self, part: _Part, waits: bool, signals: bool, needs: Operation | None) -> None:
        parsed, last = self.module.parsed, part.statements[-1]
        self._keep_values_inside(part)
        section = _SECTIONS[part.kind].make(regions=[Region(Block())])
        parsed.serve(section, part.statements[0])
        block = last.parent_block()
        assert block is not None
        block.insert_op_after(section, last)
        body = section.body.block
        build = Builder(parsed, InsertionPoint(body), self.head, part.statements[0])
        if needs is not None:
            remark = Builder(parsed, InsertionPoint(body), self.head, needs)
            message = "cube and vector parts exchange GM data without sync; they run one after the other here"
            require(remark, remark.pattern(0, i1), "lint", message)
        if waits:
            self._signal(build, "wait", part.kind)
            build.barrier(pipe="PIPE_ALL")
        self._work(build, part, body)
        if signals:
            build.barrier(pipe="PIPE_ALL")
            self._signal(build, "set", part.kind)

    def _work(self, build: Builder, part: _Part, body: Block) -> None:
        """The statements, on one vector core where the kernel does not tell the two apart."""
        inside = body if part.kind is CoreKind.AIC or self.asks else Block()
        for op in part.statements:
            op.detach()
            inside.add_op(op)
        if inside is not body:
            on_first_core(build, inside)

    def _signal(self, build: Builder, word: str, kind: CoreKind) -> None:
        """The end of a part is said by one kind of core and waited for by the other."""
        other = CoreKind.AIV if kind is CoreKind.AIC else CoreKind.AIC
        pipe, number = _SIGNALS[kind if word == "set" else other]
        both = self.module.target == "a5" and kind is CoreKind.AIC
        name = f"pto.{word}_intra_block" if self.module.target == "a5" else f"pto.sync.{word}"
        for offset in (0, _AIV1) if both else (0,):
            place = pipe if word == "set" else "PIPE_MTE2"
            build.op(name, pipe=place, id_literal=IntegerAttr(number + offset, i64))

    def _keep_values_inside(self, part: _Part) -> None:
        """Keeps the values of a part on its cores."""
        inside: Sequence[Operation] = part.statements
        for op in inside:
            for use in (use for result in op.results for use in result.uses):
                user: Operation | None = use.operation
                while user is not None and user.parent_block() is not self.function.body.block:
                    user = user.parent_op()
                if user is not None and user not in inside and not isinstance(user, Return):
                    problem = Problem(f"the result of {op.name} is used by another part of the kernel", at=use.index)
                    raise PTOError(self.module.parsed.diagnostic(use.operation, problem))


def _stays_before(op: Operation) -> bool:
    """Whether an operation only says what values are: it may stand before the section that it interrupts."""
    if not isinstance(op, PTOOperation):
        return False
    return op.is_pure or (isinstance(op, ViewOperation) and op.name not in effects())
