"""The pass that gives logical vectors registers: afterwards no operation on them, and no value of their types, is left.

Functions that take or give them are taken in where they are called, and are gone. How control flow hands them on is
said in carry.py, how a single operation is lowered in the rooms that recipes.py lists.
"""

from __future__ import annotations

from xdsl.ir import Block, Operation, SSAValue

from ptosim.diagnostics import PTOError
from ptosim.language.analysis.fast_walk import around
from ptosim.language.builder import head_of
from ptosim.language.load import VerifiedModule
from ptosim.language.logical_types import is_logical
from ptosim.language.operation import Problem, enclosing_scope
from ptosim.language.passes.inline_calls import inline_calls
from ptosim.language.structure.function import Call, Function, every_function
from ptosim.language.text.parser import ParsedModule
from ptosim.language.vmi.vmi_mask import VmiTail
from ptosim.language.vmi.vmi_operation import VmiOperation
from ptosim.vmi.assignment import assigned
from ptosim.vmi.carry import Carrier, hands_on
from ptosim.vmi.recipes import NoRecipe, recipes
from ptosim.vmi.values import LogicalValues, Recipe
from ptosim.vmi.writer import WritingPlaces


def lower_logical_vectors(parsed: ParsedModule) -> None:
    """Lower every function that computes with logical vectors."""
    for function in functions_on_vectors(parsed):
        _FunctionLowering(parsed, function).lower()


def lower_vectors_of_tiles(module: VerifiedModule) -> VerifiedModule:
    """Lower the logical vectors that operations on tiles have become, where all of a function could be lowered."""
    for function in every_function(module.parsed.module):
        if function not in module.refused and _computes(function):
            _FunctionLowering(module.parsed, function).lower()
    return module


def functions_on_vectors(parsed: ParsedModule) -> list[Function]:
    """The functions that compute with logical vectors, once all that take or give them are taken in."""
    if not any(map(_is_concerned, parsed.module.walk())):
        return []
    inline_calls(parsed, _is_taken_in, "logical vectors")
    for function in [each for each in every_function(parsed.module) if each.is_on_logical_vectors]:
        function.detach()
        function.erase(safe_erase=False)
    found = [each for each in every_function(parsed.module) if _computes(each)]
    for function in found:
        _bring_into_scopes(parsed, function)
    return found


def _computes(function: Function) -> bool:
    return any(isinstance(op, VmiOperation) for op in function.walk())


def _is_concerned(op: Operation) -> bool:
    return isinstance(op, VmiOperation) or (isinstance(op, Function) and op.is_on_logical_vectors)


def _is_taken_in(call: Call) -> bool:
    callee = call.function
    return callee is not None and not callee.is_declaration and callee.is_on_logical_vectors


# --- scopes -----------------------------------------------------------------------------------------------------------


def _bring_into_scopes(parsed: ParsedModule, function: Function) -> None:
    """Recomputes values made of scalars in each written scope that uses them; other values stay in theirs."""
    copies: dict[tuple[Operation, SSAValue], SSAValue] = {}
    for op in list(function.walk()):
        for index, value in enumerate(op.operands):
            scope = enclosing_scope(op)
            if scope is None or not is_logical(value.type) or scope in _scopes_around(value):
                continue
            op.operands[index] = _copied(parsed, scope, value, copies)


def _scopes_around(value: SSAValue) -> list[Operation]:
    owner = value.owner
    here = owner if isinstance(owner, Operation) else owner.parent_op()
    return [] if here is None else [*around(here), *([here] if isinstance(owner, Block) else [])]


def _copied(
    parsed: ParsedModule, scope: Operation, value: SSAValue, copies: dict[tuple[Operation, SSAValue], SSAValue]
) -> SSAValue:
    owner = value.owner
    if (scope, value) in copies:
        return copies[scope, value]
    logical = isinstance(owner, Operation) and any(is_logical(operand.type) for operand in owner.operands)
    if not isinstance(owner, VmiOperation) or logical or isinstance(owner, VmiTail) or "load" in owner.name:
        message = f"{parsed.name_of(value)} is made outside of this vector scope: its registers do not outlive theirs"
        user = next((use.operation for use in value.uses if scope in around(use.operation)), scope)
        raise PTOError(parsed.diagnostic(user, Problem(message, hint="store it to UB, or put both into one scope")))
    new = parsed.copied(owner, {})
    block = scope.regions[0].block
    first = block.first_op
    assert first is not None
    block.insert_op_before(new, first)
    for old, copy in zip(owner.results, new.results, strict=True):
        copies[scope, old] = copy
    return copies[scope, value]


# --- one function -----------------------------------------------------------------------------------------------------


class _FunctionLowering:
    """One function while it is lowered. Each operation stays where it was, as a place, until all are lowered."""

    def __init__(self, parsed: ParsedModule, function: Function) -> None:
        body = function.body.block
        self.parsed = parsed
        self.function = function
        self.places = WritingPlaces(parsed, head_of(body), body)
        self.values: LogicalValues = assigned(function)
        self.carrier = Carrier(self.places, self.values)
        self.replaced: list[Operation] = []

    def lower(self) -> None:
        self._block(self.function.body.block)
        for op in reversed(self.replaced):
            op.detach()
            op.erase(safe_erase=False)
        self._drop_unused()

    def _block(self, block: Block) -> None:
        for op in list(block.ops):
            inner = self._operation(op)
            for region in inner.regions:
                for nested in region.blocks:
                    self._block(nested)

    def _operation(self, op: Operation) -> Operation:
        if hands_on(op):
            self.replaced.append(op)
            return self.carrier.rewrite(op)
        if isinstance(op, VmiOperation):
            self.replaced.append(op)
            self._replace(op)
        return op

    def _replace(self, op: VmiOperation) -> None:
        def writer():
            return self.places.at(op)

        try:
            recipes()[op.name](Recipe(op, self.values, writer(), writer))
        except NoRecipe as missing:
            problem = Problem(missing.message, missing.at, "unsupported")
            raise PTOError(self.parsed.diagnostic(op, problem)) from None

    def _drop_unused(self) -> None:
        """Registers, masks and numbers that were made for operations and that none of them took."""
        for op in reversed(list(self.function.walk())):
            if self.parsed.origin(op).name == op.name or any(result.uses for result in op.results):
                continue
            if op.results and not op.regions and _is_dropped(op):
                op.detach()
                op.erase()


def _is_dropped(op: Operation) -> bool:
    return getattr(op, "is_pure", False) or op.name in ("arith.constant", *_REMADE)


_REMADE = tuple(
    f"pto.{name}"
    for name in (
        *(f"{kind}_b{bits}" for kind in ("pset", "plt", "pintlv", "pdintlv") for bits in (8, 16, 32)),
        *("pand", "por", "pxor", "pnot", "ppack", "punpack", "pbitcast", "vbr", "vci", "vbitcast"),
    )
)
"""Instructions that compute masks, constants and other views of registers."""
