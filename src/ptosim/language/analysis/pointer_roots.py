"""The roots of pointers to UB: the cast from a known address that each is reckoned from."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from xdsl.ir import Operation, SSAValue

from ptosim.effects.catalogue import effects
from ptosim.effects.names import UB
from ptosim.language.analysis.scalar_rules import Scalar, evaluated, rule_of
from ptosim.language.analysis.static_values import static_of
from ptosim.language.analysis.value_flow import sources
from ptosim.language.micro.pointer import CastPtr
from ptosim.language.operation import PTOOperation
from ptosim.language.rules.operand_rules import constant_of
from ptosim.language.types import PtrType

_DEEPEST = 64
MOST_ROOTS = 127


@dataclass(frozen=True)
class CastRoot:
    """A pointer that is cast from a known address. Equal addresses are one root: a view of other elements."""

    number: int
    address: int
    cast: Operation = field(compare=False)


class PointerRoots:
    """The roots of a module's accesses to UB, as far as they are known."""

    def __init__(
        self, operations: Iterable[Operation], target: str, begins: Callable[[Operation, int], int] | None = None
    ) -> None:
        self.target = target
        self._begins = begins
        """The start of the operation's tile around an address: its lowering casts addresses inside of it."""
        self._roots: dict[int, CastRoot] = {}
        self._by_value: dict[SSAValue, CastRoot | None] = {}
        self._by_access: dict[tuple[Operation, str], CastRoot | None] = {}
        for op in operations:
            if isinstance(op, CastPtr):
                self._of(op.result)

    @property
    def are_many(self) -> bool:
        """Whether one of them could lie over another."""
        return 1 < len(self._roots) <= MOST_ROOTS

    def of(self, op: Operation, direction: str) -> CastRoot | None:
        """The root that an operation reads UB through ("read"), or writes ("write"); None where that is not known."""
        key = op, direction
        if key not in self._by_access:
            self._by_access[key] = self._of_access(op, direction)
        return self._by_access[key]

    def _of_access(self, op: Operation, direction: str) -> CastRoot | None:
        record = effects().get(op.name)
        if record is None or not isinstance(op, PTOOperation):
            return None
        accesses = record.accesses(static_of(op, self.target))
        bases = {access.base for access in accesses if access.space is UB and access.direction == direction}
        found = {self._of(value) for role, value in op.roles() if role in bases}
        root = found.pop() if len(found) == 1 else None
        if root is None or self._begins is None:
            return root
        return self._root(self._begins(op, root.address), root.cast)

    def _of(self, value: SSAValue) -> CastRoot | None:
        if value not in self._by_value:
            self._by_value[value] = None  # while it is looked for: it may go round a loop
            self._by_value[value] = self._found(value)
        return self._by_value[value]

    def _found(self, value: SSAValue) -> CastRoot | None:
        op = value.owner
        if isinstance(op, CastPtr) and not isinstance(op.input.type, PtrType):
            address = known_integer(op.input)
            space = value.type.space if isinstance(value.type, PtrType) else None
            return None if address is None or space is not UB else self._root(address, op)
        if handed := sources(value):
            entering, *others = (self._of(each) for each in handed)
            is_one = all(each in (entering, None) for each in others)  # None: it goes round the loop
            return entering if is_one else None
        if isinstance(op, PTOOperation):
            pointers = [each for each in op.operands if isinstance(each.type, PtrType) and each.type.space is UB]
            return self._of(pointers[0]) if len(pointers) == 1 else None
        return None

    def _root(self, address: int, cast: Operation) -> CastRoot:
        if address not in self._roots:
            self._roots[address] = CastRoot(len(self._roots) + 1, address, cast)
        return self._roots[address]


def cast_of(value: SSAValue, depth: int = 0) -> tuple[Operation, int] | None:
    """The cast that a pointer on chip is reckoned from, and its address, as far as they are known."""
    op = value.owner
    if depth > _DEEPEST:
        return None
    if isinstance(op, CastPtr) and not isinstance(op.input.type, PtrType):
        address = known_integer(op.input)
        return None if address is None else (op, address)
    if handed := sources(value):
        return cast_of(handed[0], depth + 1)
    if isinstance(op, PTOOperation):
        pointers = [each for each in op.operands if isinstance(each.type, PtrType)]
        return cast_of(pointers[0], depth + 1) if len(pointers) == 1 else None
    return None


def known_integer(value: SSAValue, depth: int = 0) -> Scalar:
    """The integer that constants make of a value, or None."""
    constant = constant_of(value)
    op = value.owner
    if constant is not None or not isinstance(op, Operation) or depth > _DEEPEST:
        return constant
    rule = rule_of(op)
    return None if rule is None else evaluated(rule, [known_integer(each, depth + 1) for each in op.operands])
