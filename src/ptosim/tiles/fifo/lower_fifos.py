"""The pass that takes FIFOs apart: each operation becomes signals between cores, moves of tiles, and a count.

Afterwards no operation on FIFOs is left, and what stands in their place are operations that exist anyway. Buffers have
their place (plan.py); the protocol is in fifo_direction.py, what an entry becomes in fifo_entry.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from xdsl.dialects.builtin import i32, i64
from xdsl.ir import Block, Operation, SSAValue

from ptosim.diagnostics import Diagnostic, PTOError
from ptosim.effects.names import CoreKind
from ptosim.language.builder import Builder, Head, InsertionPoint, Number, head_of
from ptosim.language.load import VerifiedModule
from ptosim.language.micro.scope import Section
from ptosim.language.operation import Problem, core_of
from ptosim.language.structure.function import Function, Return, every_function
from ptosim.language.structure.scalar import Constant
from ptosim.language.tile.fifo_end import C2V
from ptosim.language.tile.tensor_view import DeclareGlobal
from ptosim.language.tile.tile_fifo import Alloc, EntryOperation, Free, Pop, Push, SetQuantScalar, SetQuantVector
from ptosim.language.tile.tile_pipe import TAlloc, TFree, TPop, TPush
from ptosim.language.tile.tile_reserve import ImportReservedBuffer
from ptosim.language.tile.tile_types import TensorViewType, TileBufType
from ptosim.tiles.fifo.fifo_direction import Line
from ptosim.tiles.fifo.fifo_entry import Extents, fill, slot_view, take
from ptosim.tiles.fifo.fifo_protocols import FIFO, FifoLines, Fifos, split_of
from ptosim.tiles.moves.cube_extents import holds, remark
from ptosim.tiles.passes.first_core import on_first_core
from ptosim.tiles.refusal import Refused

UNFREED = "entries of this FIFO are popped and not freed"
_NOTHING_TO_FREE = "more entries of this FIFO are freed than were popped"


def lower_fifos(module: VerifiedModule) -> VerifiedModule:
    """Replace every operation on FIFOs. A function that cannot be lowered is refused, and says why."""
    refused: dict[Function, Sequence[Diagnostic]] = dict(module.refused)
    _resolve_imports(module)
    fifos = Fifos(module)
    for function in every_function(module.parsed.module):
        if not function.is_declaration and any(isinstance(op, FIFO) for op in function.walk()):
            try:
                _Function(module, function, fifos).lower()
            except PTOError as error:
                refused[function] = error.raised
    return replace(module, refused=refused)


def _resolve_imports(module: VerifiedModule) -> None:
    """The address of a buffer of another function is a number now."""
    for function in every_function(module.parsed.module):
        imports = [op for op in function.walk() if isinstance(op, ImportReservedBuffer)]
        head = head_of(function.body.block) if imports else None
        for op in imports:
            buffer = op.reserved()
            assert buffer is not None and head is not None  # a rule of the verifier
            build = Builder(module.parsed, InsertionPoint.at(op), head, serves=op)
            op.result.replace_all_uses_with(build.constant(buffer.integer("base") or 0, i32))
            op.detach()
            op.erase()


class _Function:
    """One function while its FIFOs are taken apart."""

    def __init__(self, module: VerifiedModule, function: Function, fifos: Fifos) -> None:
        self.module = module
        self.function = function
        self.head: Head = head_of(function.body.block)
        self.fifos = fifos
        self.replaced: list[Operation] = []

    def lower(self) -> None:
        operations = [op for op in self.function.walk() if isinstance(op, FIFO)]
        at: Operation = operations[0]
        try:
            self.lines = FifoLines(self.module, self.function, self.fifos)
            for at in operations:
                self._operation(at)
        except Refused as refused:
            problem = Problem(refused.message, refused.at, refused.kind, hint=refused.hint)
            raise PTOError(self.module.parsed.diagnostic(at, problem)) from None
        self._drain(operations)
        self._serve_one_core(operations)
        for op in reversed(self.replaced):
            op.detach()
            op.erase(safe_erase=False)

    def _build(self, place: InsertionPoint, serves: Operation) -> Builder:
        return Builder(self.module.parsed, place, self.head, serves)

    # --- one operation ------------------------------------------------------------------------------------------------

    def _operation(self, op: Operation) -> None:
        build = self._build(InsertionPoint.at(op), op)
        match op:
            case SetQuantScalar():
                self._line_of_pushes(op).quant["scalar"] = op.scale
            case SetQuantVector():
                self._line_of_pushes(op).quant["vector"] = op.fp
            case Push() | TPush():
                self._push(build, op)
            case Pop():
                self._learn(op, op.result, self._pop(build, op))
            case TPop():
                self._bind(op, op.entry, self._pop(build, op))
            case Alloc():
                self._learn(op, op.result, self._alloc(build, op))
            case TAlloc():
                self._bind(op, op.entry, self._alloc(build, op))
            case Free() | TFree():
                self._free(build, op)
            case _:
                pass
        self.replaced.append(op)

    def _line_of_pushes(self, op: SetQuantScalar | SetQuantVector) -> Line:
        return self.lines.find(CoreKind.AIC, self.lines.keys[op], C2V)

    def _push(self, build: Builder, op: Push | TPush) -> None:
        line, number = self._at(build, op)
        if isinstance(op.entry.type, TileBufType):
            line.wait_for_slot(build, number)
            fill(build, line, op.entry, number, split_of(op), self._part(build, op, line))
        line.set(build, "ready")
        line.counter.advance(build, number)

    def _pop(self, build: Builder, op: Pop | TPop) -> SSAValue:
        line, number = self._at(build, op)
        type_ = (op.result if isinstance(op, Pop) else op.entry).type
        line.wait(build, "ready")
        part = self._part(build, op, line)
        if isinstance(type_, TensorViewType):
            found = slot_view(build, line, type_, number, split_of(op), part)
        else:
            assert isinstance(type_, TileBufType)
            found = take(build, line, type_, number, _given(build, op), split_of(op), part)
            if line.through_gm:
                line.give_back(build, build.plus(number, 1))
        line.counter.advance(build, number)
        return found

    def _alloc(self, build: Builder, op: Alloc | TAlloc) -> SSAValue:
        line, number = self._at(build, op)
        type_ = (op.result if isinstance(op, Alloc) else op.entry).type
        assert isinstance(type_, TensorViewType)
        line.wait_for_slot(build, number)
        return slot_view(build, line, type_, number, split_of(op), self._part(build, op, line))

    def _free(self, build: Builder, op: Free | TFree) -> None:
        """The oldest entry that is not free yet. A tile that was loaded from GM has given its slot back already."""
        line, number = self._at(build, op)
        if line.freed is not None:
            before = line.freed.value(build)
            remark(build, holds(build, "ult", before, number), _NOTHING_TO_FREE, "buffer-misuse")
            number = build.plus(before, 1)
            line.freed.advance(build, before)
        if not line.through_gm or line.holds_views:
            line.give_back(build, number)

    def _at(self, build: Builder, op: Operation) -> tuple[Line, Number]:
        line = self.lines.of(op)
        return line, line.counter.value(build)

    def _part(self, build: Builder, op: EntryOperation | TPush | TPop | TAlloc, line: Line) -> SSAValue | None:
        """The number of this vector core, if the two share an entry."""
        if line.core is CoreKind.AIC or split_of(op) == 0:
            return None
        written = op.segment("aiv_subblockid") if "aiv_subblockid" in op.operand_roles else ()
        return written[0] if written else build.get_subblock_idx(result=i64)

    # --- what values are ----------------------------------------------------------------------------------------------

    def _learn(self, op: Operation, old: SSAValue, new: SSAValue) -> None:
        """The new value is called as the old one was."""
        definitions, names = self.module.parsed.definitions, self.module.parsed.names
        made = new.owner
        named = [new, *(made.operands[:1] if isinstance(made, Operation) and made.name == "pto.tassign" else ())]
        for value in named:
            if old in definitions:
                definitions[value] = definitions[old]
            if old in names:
                names[value] = names[old]
        old.replace_all_uses_with(new)

    def _bind(self, op: Operation, declared: SSAValue, new: SSAValue) -> None:
        """From here on the declared tile or view is the slot."""
        block = op.parent_block()
        assert block is not None
        for use in list(declared.uses):
            ancestor = block.find_ancestor_op_in_block(use.operation)
            if ancestor is not None and ancestor is not op and op.is_before_in_block(ancestor):
                use.operation.operands[use.index] = new
        owner = declared.owner
        if isinstance(owner, DeclareGlobal) and all(use.operation in (op, *self.replaced) for use in declared.uses):
            self.replaced.insert(0, owner)

    # --- the ends of functions ----------------------------------------------------------------------------------------

    def _drain(self, operations: Sequence[Operation]) -> None:
        """Behind the last push of a line, or the last pop: at the end of its section, or of the function."""
        for line in self.lines:
            pushes = [op for op in self.lines.operations(line) if isinstance(op, Push | TPush)]
            if pushes:
                self._wait_at_end(line, pushes[-1])
            taken = [op for op in self.lines.operations(line) if isinstance(op, Pop | TPop | Free | TFree)]
            if taken and line.freed is not None:
                build = self._at_end(taken[-1])
                all_freed = holds(build, "ule", line.counter.value(build), line.freed.value(build))
                remark(build, all_freed, UNFREED, "undrained")

    def _wait_at_end(self, line: Line, last: Operation) -> None:
        line.drain(self._at_end(last))

    def _at_end(self, last: Operation) -> Builder:
        home = _home(last)
        end = home.last_op if isinstance(home.last_op, Return) else None
        return self._build(InsertionPoint(home, end), last)

    def _serve_one_core(self, operations: Sequence[Operation]) -> None:
        """On a5 the code of vector cores whose FIFOs are not split runs on the first of them only."""
        vector = [op for op in operations if core_of(op) is CoreKind.AIV]
        if self.module.target != "a5" or not vector or any(line.split for line in self.lines):
            return
        for home in dict.fromkeys(_home(op) for op in vector):
            self._guard(home, vector[0])

    def _guard(self, home: Block, serves: Operation) -> None:
        """Put a block under the condition that this is the first vector core; constants stay where they are."""
        end = home.last_op if isinstance(home.last_op, Return) else None
        inside = Block()
        for op in list(home.ops):
            if op is not end and not isinstance(op, Constant):
                op.detach()
                inside.add_op(op)
        build = self._build(InsertionPoint(home, end), serves)
        on_first_core(build, inside)


def _given(build: Builder, op: Pop | TPop) -> Extents | None:
    """The valid region that a pop is told."""
    if not isinstance(op, Pop) or op.valid_row is None or op.valid_col is None:
        return None
    return build.index(op.valid_row), build.index(op.valid_col)


def _home(op: Operation) -> Block:
    """The block of the section, or of the function, that an operation stands in."""
    block = op.parent_block()
    while block is not None and not isinstance(block.parent_op(), Function | Section):
        around = block.parent_op()
        block = around.parent_block() if around is not None else None
    assert block is not None
    return block
