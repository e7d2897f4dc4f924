"""The pass that lowers tiles: walks a function, keeps what each tile and view is, and replaces tile operations.

Afterwards no operation on tiles or views is left, and every operation that was made serves the one of the text that it
stands for. How a single operation is lowered is said in its room.
"""

from __future__ import annotations

from typing import Any, cast

from xdsl.ir import Block, Operation, SSAValue

from ptosim.diagnostics import PTOError
from ptosim.language.build import Builder, Head, Place, head_of
from ptosim.language.function import Function, functions
from ptosim.language.load import VerifiedModule
from ptosim.language.operation import Problem, PTOOperation
from ptosim.language.parser import ParsedModule
from ptosim.language.tile_operation import TileOperation
from ptosim.tiles.catalogue import lowering_of
from ptosim.tiles.lowering import Lowering
from ptosim.tiles.plan import Scratchpads
from ptosim.tiles.refusal import Refused
from ptosim.tiles.values import Slots, Tile, View

Known = Tile | Slots | View
"""What a value of a type of the tile language is."""


def lower_tiles(module: VerifiedModule) -> VerifiedModule:
    """Replace every operation on tiles and views; raises PTOError for what a lowering refuses."""
    for function in functions(module.parsed.module).values():
        if not function.is_declaration:
            _Function(module, function).lower()
    return module


class _Function:
    """One function while it is lowered."""

    def __init__(self, module: VerifiedModule, function: Function) -> None:
        self.module = module
        self.function = function
        self.head: Head = head_of(function.body.block)
        self.known: dict[SSAValue, Known] = {}
        self.scratch = Scratchpads(module, function)
        self.replaced: list[Operation] = []

    @property
    def parsed(self) -> ParsedModule:
        return self.module.parsed

    def lower(self) -> None:
        self._block(self.function.body.block)
        for op in reversed(self.replaced):
            op.detach()
            op.erase()

    def _block(self, block: Block) -> None:
        for op in list(block.ops):
            found = lowering_of(op.name) if isinstance(op, PTOOperation) else None
            if found is not None:
                self._replace(cast(PTOOperation, op), found)
            for region in op.regions:
                for inner in region.blocks:
                    self._block(inner)

    def _replace(self, op: PTOOperation, found: Lowering) -> None:
        build = Builder(self.parsed, Place.at(op), self.head, serves=op)
        try:
            given = found.function(**{name: self._argument(op, name, build) for name in found.parameters})
        except Refused as refused:
            problem = Problem(refused.message, refused.at, refused.kind, hint=refused.hint)
            raise PTOError(self.parsed.diagnostic(op, problem)) from None
        results = cast("tuple[Known | SSAValue, ...]", given if isinstance(given, tuple) else (given,))
        for result, value in zip(op.results, results, strict=False):
            if isinstance(value, Known):
                self.known[result] = value
            else:
                result.replace_all_uses_with(value)
        self.replaced.append(op)

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
            case _ if name in op.operand_roles:
                values = tuple(self.known.get(value, value) for value in op.segment(name))
                if name in op.variadic_roles:
                    return values
                return values[0] if values else None
            case _:
                return op.setting(name) if isinstance(op, TileOperation) else op.attribute(name)

    def _name(self, value: SSAValue) -> str:
        span = self.parsed.definitions.get(value)
        return span.text if span is not None else "%?"
