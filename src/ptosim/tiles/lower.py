"""The pass that lowers tiles: walks a function, keeps what each tile and view is, and replaces tile operations.

Afterwards no operation on tiles or views is left, and every operation that was made serves the one of the text that it
stands for. How a single operation is lowered is said in its room, how control flow hands tiles on in carried_tiles.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, cast

from xdsl.dialects.builtin import i64
from xdsl.ir import Block, Operation, SSAValue

from ptosim.diagnostics import Diagnostic, PTOError
from ptosim.language.builder import Builder, Head, InsertionPoint, head_of, known
from ptosim.language.load import VerifiedModule
from ptosim.language.micro.pointer import AddPtr, CastPtr
from ptosim.language.micro.scope import VecScope
from ptosim.language.micro.sim import SimInstructions
from ptosim.language.operation import Problem, PTOOperation
from ptosim.language.structure.control import For, If, Yield
from ptosim.language.structure.function import Function, every_function
from ptosim.language.structure.scalar import Constant
from ptosim.language.structure.scalar_cast import Select
from ptosim.language.structure.scalar_form import ScalarOperation
from ptosim.language.text.parser import NamedTile, ParsedModule
from ptosim.language.tile.tile_operation import TileOperation
from ptosim.language.tile.tile_types import (
    LocalArrayType,
    MultiTileBufType,
    PartitionViewType,
    TensorViewType,
    TileBufType,
)
from ptosim.language.tile.tile_types import ViewExtents as ViewType
from ptosim.language.tile.tile_view import SetValidShape
from ptosim.tiles.a2a3.sequence import SequenceWriter
from ptosim.tiles.catalogue import lowering_of, sequence_of
from ptosim.tiles.lowering import Lowering
from ptosim.tiles.passes import carried_tiles
from ptosim.tiles.passes.memory_plan import Scratchpads
from ptosim.tiles.passes.operand_agreement import remark_disagreement, remark_partial_overlap
from ptosim.tiles.pending import pending
from ptosim.tiles.refusal import Refused
from ptosim.tiles.tile_values import GmView, Session, Slots, Tile
from ptosim.tiles.view import region

Known = Tile | Slots | GmView | Session
"""The facts about a value of a type of the tile language."""

_LOWERED = (TileBufType, MultiTileBufType, TensorViewType, PartitionViewType)
"""Types that no value has afterwards."""

_WITHOUT_EFFECT = (ScalarOperation, AddPtr, CastPtr, Constant)
"""Pure operations, removed when unused."""

_REGION = LocalArrayType(ViewType((2,), i64))
"""A valid region that changes inside loops and branches."""


def lower_tiles(module: VerifiedModule) -> VerifiedModule:
    """Replace every operation on tiles and views. A function that cannot be lowered is refused, and says why."""
    refused: dict[Function, Sequence[Diagnostic]] = dict(module.refused)
    for function in every_function(module.parsed.module):
        if function.is_declaration or function in refused:
            continue
        missing = list(_missing(module.parsed, function))
        try:
            if missing:
                raise PTOError(*missing)
            _Function(module, function).lower()
        except PTOError as error:
            refused[function] = error.raised
    return replace(module, refused=refused)


def _missing(parsed: ParsedModule, function: Function) -> Iterator[Diagnostic]:
    """The operations that nothing is known to lower, each name once, where it is met first."""
    met: set[str] = set()
    for op in function.walk():
        if op.name in pending() and op.name not in met:
            met.add(op.name)
            yield parsed.diagnostic(op, Problem(f"{op.name} cannot be run yet", kind="unsupported"))


class _Function:
    """One function while it is lowered."""

    def __init__(self, module: VerifiedModule, function: Function) -> None:
        self.module = module
        self.function = function
        self.head: Head = head_of(function.body.block)
        self.known: dict[SSAValue, Known] = {}
        self.scratch = Scratchpads(module, function)
        self.replaced: list[Operation] = []
        self.changing = {
            op.source for op in function.walk() if isinstance(op, SetValidShape) and _changes_elsewhere(op)
        }
        """Tiles whose valid region is set inside a loop or branch that they were not made in."""
        self.regions: dict[SSAValue, SSAValue] = {}
        """The arrays of the scalar unit that keep the valid regions of these."""

    @property
    def parsed(self) -> ParsedModule:
        return self.module.parsed

    def lower(self) -> None:
        self._block(self.function.body.block)
        for op in reversed(self.replaced):
            op.detach()
            op.erase(safe_erase=False)
        self._drop_unused()

    def _drop_unused(self) -> None:
        """Sums and pointers that were made for operations and that none of them took."""
        for op in reversed(list(self.function.walk())):
            made = self.parsed.origin(op).name != op.name
            if (
                made
                and isinstance(op, ScalarOperation | AddPtr | CastPtr | Constant)
                and not any(r.uses for r in op.results)
            ):
                op.detach()
                op.erase()

    def _block(self, block: Block) -> None:
        for op in list(block.ops):
            try:
                inner = self._operation(op)
            except Refused as refused:
                problem = Problem(refused.message, refused.at, refused.kind, hint=refused.hint)
                raise PTOError(self.parsed.diagnostic(op, problem)) from None
            for body in inner.regions:
                for nested in body.blocks:
                    self._block(nested)

    def _operation(self, op: Operation) -> Operation:
        """Replace an operation, if it has to be; gives the one whose regions come next."""
        build = Builder(self.parsed, InsertionPoint.at(op), self.head, serves=op)
        if carried_tiles.hands_on_tiles(op):
            return self._hand_on(build, op)
        if isinstance(op, SetValidShape):
            self._set_region(build, op)
            self.replaced.append(op)
        elif isinstance(op, PTOOperation) and (found := lowering_of(op.name)) is not None:
            self._replace(build, op, found)
        return op

    def _hand_on(self, build: Builder, op: Operation) -> Operation:
        match op:
            case For():
                new, found = carried_tiles.carry_through_loop(build, self._current(build, op), op)
            case If():
                new, found = carried_tiles.carry_out_of_branch(build, op)
            case Select():
                new, found = op, {op.result: carried_tiles.select(build, self._current(build, op), op)}
            case _:
                assert isinstance(op, Yield)
                carried_tiles.give(build, self._current(build, op), op)
                return op
        for value, meaning in found.items():
            self._learn(build, value, meaning)
        self.replaced.append(op)
        return new

    def _replace(self, build: Builder, op: PTOOperation, found: Lowering) -> None:
        arguments = {name: self._argument(op, name, build) for name in found.parameters}
        tiles = {name: tile for name, tile in arguments.items() if isinstance(tile, Tile)}
        remark_disagreement(build, op, tiles)
        remark_partial_overlap(build, op, tiles)
        before = op.prev_op
        given = found.function(**arguments)
        if self.module.target == "a2a3" and (said := sequence_of(op.name)) is not None:
            missing = [name for name in said.parameters if name != "write" and name not in arguments]
            known_ = arguments | {name: self._argument(op, name, build) for name in missing}
            self._say_sequence(build, op, said, known_, before)
        results = cast("tuple[Known | SSAValue, ...]", given if isinstance(given, tuple) else (given,))
        for result, value in zip(op.results, results, strict=False):
            self._learn(build, result, value)
        self._note_tiles(op)
        self.replaced.append(op)

    def _say_sequence(
        self, build: Builder, op: PTOOperation, said: Lowering, given: Mapping[str, Any], before: Operation | None
    ) -> None:
        """Writes the A2/A3 sequence of an operation into the first of its scopes; the others take no time."""
        block = build.place.block
        made = _between(block.first_op if before is None else before.next_op, op)
        scopes = [each for each in made if isinstance(each, VecScope)]
        if not scopes or any(
            isinstance(inner, VecScope) for each in made if each not in scopes for inner in each.walk()
        ):
            return
        for number, scope in enumerate(scopes):
            inside = scope.body.block
            place = InsertionPoint(inside, inside.first_op)
            write = SequenceWriter(Builder(self.parsed, place, self.head, serves=op))
            if number == 0:
                said.function(**{name: write if name == "write" else given[name] for name in said.parameters})
            if not write.is_known:
                return
            if not any(isinstance(each, SimInstructions) for each in inside.ops):
                write.nothing()

    def _note_tiles(self, op: PTOOperation) -> None:
        """The memory of the tiles of an operation, for rules about their bytes."""
        found = [tile for value in op.operands if isinstance(tile := self.known.get(value), Tile)]
        named = [tile for tile in map(_named, found) if tile is not None]
        if named:
            self.parsed.tiles[self.parsed.origin(op)] = named

    def _argument(self, op: PTOOperation, name: str, build: Builder) -> Any:
        match name:
            case "build":
                return build
            case "target":
                return self.module.target
            case "op":
                return op
            case "name":
                return self._name(op.results[0])
            case "scratch":
                return self.scratch.of(op, build)
            case "meaning":
                return partial(self._known_meaning, build)
            case _ if name in op.operand_roles:
                values = tuple(self._meaning(build, value) for value in op.segment(name))
                if name in op.variadic_roles:
                    return values
                return values[0] if values else None
            case _:
                return op.setting(name) if isinstance(op, TileOperation) else op.attribute(name)

    def _name(self, value: SSAValue) -> str:
        return self.parsed.named(value) or f"%{value.name_hint or 'tile'}"

    # --- what values are ----------------------------------------------------------------------------------------------

    def _learn(self, build: Builder, value: SSAValue, meaning: Known | SSAValue) -> None:
        if not isinstance(meaning, Known):
            value.replace_all_uses_with(meaning)
            return
        self.known[value] = meaning
        if value in self.changing:
            assert isinstance(meaning, Tile)
            self.regions[value] = build.declare_local_array(result=_REGION)
            self._keep_region(build, value, meaning.valid)

    def _meaning(self, build: Builder, value: SSAValue) -> Known | SSAValue:
        """The facts about a value at this place: a tile with the valid region that it has here."""
        meaning = self.known.get(value, value)
        if meaning is value and isinstance(value.type, _LOWERED):
            raise Refused("tiles and views that are passed to a function are not lowered: allocate and view inside it")
        kept = self.regions.get(value)
        if kept is None:
            return meaning
        sizes = [
            build.index(build.local_array_get(array=kept, indices=[build.index(side)], result=i64)) for side in (0, 1)
        ]
        return replace(cast(Tile, meaning), valid=(sizes[0], sizes[1]))

    def _known_meaning(self, build: Builder, value: SSAValue) -> Known | SSAValue | None:
        """The meaning of another value, None where it is not known yet."""
        return self._meaning(build, value) if value in self.known else None

    def _current(self, build: Builder, op: Operation) -> dict[SSAValue, Known | SSAValue]:
        return {value: self._meaning(build, value) for value in op.operands}

    def _set_region(self, build: Builder, op: SetValidShape) -> None:
        tile = cast(Tile, self.known[op.source])
        valid = region(build, tile.buf, op.valid_row, op.valid_col)
        if op.source in self.regions:
            self._keep_region(build, op.source, valid)
        else:
            self.known[op.source] = replace(tile, valid=valid)

    def _keep_region(self, build: Builder, value: SSAValue, valid: tuple[Any, Any]) -> None:
        for side, extent in enumerate(valid):
            build.local_array_set(array=self.regions[value], indices=[build.index(side)], value=build.i64(extent))


def _between(first: Operation | None, end: Operation) -> Iterator[Operation]:
    while first is not None and first is not end:
        yield first
        first = first.next_op


def _named(tile: Tile) -> NamedTile | None:
    address = known(tile.address)
    if address is None:
        return None
    rows = tile.pitch * tile.buf.element_bytes if tile.buf.layout == "ND" else None
    return NamedTile(tile.name, str(tile.buf.space), address, tile.buf.size, rows)


def _changes_elsewhere(op: SetValidShape) -> bool:
    owner = op.source.owner
    made = owner.parent_block() if isinstance(owner, Operation) else owner
    return made is not op.parent_block()
