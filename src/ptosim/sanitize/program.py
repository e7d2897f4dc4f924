"""The kernel in its text: a run cannot tell the places of operations and of edits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Literal

from xdsl.ir import Block, Operation

from ptosim.diagnostics import Diagnostic, Location, Source
from ptosim.language.analysis.fast_walk import around
from ptosim.language.analysis.pointer_roots import PointerRoots
from ptosim.language.analysis.polling_loops import poll_of
from ptosim.language.analysis.word_answers import WordAnswers, WordUses
from ptosim.language.edits import Edit, OperationPlace, insert
from ptosim.language.load import VerifiedModule
from ptosim.language.micro.scope import VecScope
from ptosim.language.operation import is_scope
from ptosim.language.rules.verifier import follows_library
from ptosim.language.simt.simt import SectionSimt
from ptosim.language.structure.control import For, While
from ptosim.language.structure.function import Call, Function, function_of
from ptosim.machine.entry import Site
from ptosim.sanitize.conflict import MemoryPlace


class WrittenProgram:
    """Operations by the place they were written at, and the lines they take up."""

    def __init__(self, module: VerifiedModule, written: VerifiedModule | None = None) -> None:
        """The running program, and the written one if they differ: operations without an instruction, such as a view,
        have their line there.
        """
        self.module = module
        self.written = written or module
        self.target = module.target
        self.overtaken: dict[tuple[Operation, Operation], bool] = {}
        """By load and scope, as far as anybody has asked: whether a store of the scope need not wait for the load."""

    @property
    def source(self) -> Source:
        return self.module.parsed.source

    def operation(self, location: Location | None) -> Operation | None:
        """The operation that a diagnostic points at: the first there, for an implicit yield stands at the place of its
        parent. An inferred scope begins at its first instruction, which is the one that is meant."""
        return min(self.placed(location), key=lambda op: isinstance(op, VecScope), default=None)

    def executed(self, site: Site) -> Operation | None:
        """The operation that runs: several may stand at one place."""
        return self.module.parsed.operations[site.number] if site.number >= 0 else None

    def of(self, site: Site) -> Operation | None:
        """The operation that runs, or else the one that stands there."""
        return self.executed(site) or self.operation(site.location)

    def uses(self, site: Site) -> WordUses:
        """The uses of the value of a scalar load, or of the answer of a test."""
        op = self.executed(site)
        return WordUses() if op is None else self._answers.uses(op)

    def gives_up(self, site: Site) -> bool:
        """Whether a load is the look of a loop that may end although its word is not what it looks for."""
        op = self.executed(site)
        loop = op.parent_op() if op is not None else None
        poll = poll_of(loop) if isinstance(loop, While) else None
        return isinstance(loop, While) and poll is not None and poll.load is op and self._answers.gives_up(loop, poll)

    @cached_property
    def _answers(self) -> WordAnswers:
        return WordAnswers(self.module.parsed.module)

    @cached_property
    def pointer_roots(self) -> PointerRoots:
        """The roots of pointers to UB."""
        parsed = self.module.parsed
        within = parsed.whole_tiles("ub") if follows_library(parsed.module) else ()

        def begins(op: Operation, address: int) -> int:
            return parsed.tile_start(op, "ub", address, within)

        return PointerRoots(parsed.module.walk(), self.target, begins)

    def placed(self, location: Location | None) -> list[Operation]:
        """All operations at a place: what was made for one of the text stands where that does."""
        return self._by_place.get((location.line, location.column), []) if location else []

    @cached_property
    def _by_place(self) -> dict[tuple[int, int], list[Operation]]:
        found: dict[tuple[int, int], list[Operation]] = {}
        for op in self.operations():
            location = self.module.parsed.location(op)
            if location is not None:
                found.setdefault((location.line, location.column), []).append(op)
        return found

    def named(self, place: MemoryPlace, site: Site) -> MemoryPlace:
        """Bytes with the tile that they belong to, in the eyes of the operation that touches them."""
        op = self.executed(site)
        if op is None:
            return place
        parsed = self.module.parsed
        tile = parsed.tile_at(op, place.memory, place.low, place.high)
        lanes = parsed.lanes.get(op)
        if lanes is not None and place.start is not None:
            lanes = lanes.within(place.low - place.start, place.high - place.start)
        return replace(place, tile=tile, lanes=lanes)

    def touching(self, found: Diagnostic) -> Diagnostic:
        """A finding of an access at a wrong address, with the lanes that its operation loads or stores."""
        parsed = self.module.parsed
        told = [parsed.lanes[op] for op in self.placed(found.location) if op in parsed.lanes]
        if not told or found.kind not in ("out-of-bounds", "misaligned"):
            return found
        first, last = min(each.first for each in told), max(each.last for each in told)
        return replace(found, lanes=tuple(range(first, last)))

    def operations(self) -> Iterator[Operation]:
        """Operations with a place in the text: an implicit module around the functions has none."""
        parsed = self.module.parsed
        return (op for op in parsed.module.walk() if op in parsed.positions)

    def unused(self, block: Block) -> Iterator[str]:
        """The names of unused results of a block."""
        for op in block.ops:
            if op.name.startswith("arith.") and len(op.results) == 1 and not op.results[0].uses:
                yield self.name_of(op)

    def name_of(self, op: Operation) -> str:
        """The name of the result of an operation in the text."""
        return self.source.line(self.first_line(op)).partition("=")[0].strip()

    # --- lines --------------------------------------------------------------------------------------------------------

    def first_line(self, op: Operation) -> int:
        return self.place(op).line

    def last_line(self, op: Operation) -> int:
        return self.place(op).last_line

    def place(self, op: Operation) -> OperationPlace:
        """The extent of an operation in the text, its regions included. An inferred scope ends with its last
        instruction."""
        positions = self.module.parsed.positions
        position = positions[op]
        end = position.end
        if op.regions and not self._as_written[position.name.start].regions:
            end = max(positions[inner].end for inner in op.walk() if inner in positions)
        return OperationPlace(position.start, end, self.source, op.parent_block())

    @cached_property
    def _as_written(self) -> dict[int, Operation]:
        """The operations of the text, by where they start; an implicit yield stands at its parent's place."""
        found, positions = dict[int, Operation](), self.written.parsed.positions
        for op in self.written.parsed.module.walk():
            if op in positions:
                found.setdefault(positions[op].name.start, op)
        return found

    # --- edits --------------------------------------------------------------------------------------------------------

    def before(self, op: Operation, text: str) -> Edit:
        return insert("before", self.place(op), text)

    def after(self, op: Operation, text: str) -> Edit:
        return insert("after", self.place(op), text)

    def instead(self, op: Operation, text: str) -> Edit:
        """Other words for an operation, or none."""
        return Edit("at", self.place(op), text)

    def moved(self, op: Operation, where: Literal["before", "after"], beside: Operation) -> Edit:
        return Edit(where, self.place(beside), moved=self.place(op))


class _Joint(WrittenProgram):
    """Several modules whose kernels run together: a site says where it was written."""

    def __init__(self, programs: Sequence[WrittenProgram]) -> None:
        super().__init__(programs[0].module, programs[0].written)
        self._programs = {id(program.source): program for program in programs}

    def _of(self, location: Location | None) -> WrittenProgram | None:
        return self._programs.get(id(location.source)) if location else None

    def operation(self, location: Location | None) -> Operation | None:
        program = self._of(location)
        return program.operation(location) if program else None

    def executed(self, site: Site) -> Operation | None:
        program = self._of(site.location)
        return program.executed(site) if program else None

    def uses(self, site: Site) -> WordUses:
        program = self._of(site.location)
        return program.uses(site) if program else WordUses()

    def gives_up(self, site: Site) -> bool:
        program = self._of(site.location)
        return program is not None and program.gives_up(site)

    def named(self, place: MemoryPlace, site: Site) -> MemoryPlace:
        program = self._of(site.location)
        return program.named(place, site) if program else place

    def operations(self) -> Iterator[Operation]:
        for program in self._programs.values():
            yield from program.operations()


def joint_program(programs: Sequence[WrittenProgram]) -> WrittenProgram:
    """The operations of several modules."""
    return programs[0] if len(programs) == 1 else _Joint(programs)


def launched(op: Operation) -> Operation:
    """The operation that the scalar unit issues: for an instruction inside a vector scope, the scope; for one of
    workitems, their section, or the first launch of their function."""
    found = next((each for each in (op, *around(op)) if is_scope(each) or isinstance(each, SectionSimt)), op)
    function = function_of(found)
    module = None if function is None or not function.is_simt_entry else function.parent_op()
    launches = () if module is None else module.walk()
    return next((each for each in launches if isinstance(each, Call) and each.function is function), found)


def ancestors(op: Operation) -> list[tuple[Block, Operation]]:
    """The blocks around an operation up to its function, innermost first, each with the operation of it that leads
    there."""
    found: list[tuple[Block, Operation]] = []
    here: Operation | None = op
    while here is not None and not isinstance(here, Function):
        block = here.parent_block()
        if block is None:
            break
        found.append((block, here))
        here = block.parent_op()
    return found


def outermost_loop(op: Operation) -> Operation | None:
    """The outermost loop around an operation."""
    loops = [parent for _, parent in ancestors(op)[1:] if isinstance(parent, For | While)]
    return loops[-1] if loops else None
