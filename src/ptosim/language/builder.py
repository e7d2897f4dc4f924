"""Builds operations by role, for passes that lower operations and for authors of kernels in Python.

    build = Builder(parsed, Place.before(tile_op), serves=tile_op)
    sum = build.vadd(lhs=x, rhs=y, mask=m)                       # pto.vadd; the result type follows from lhs
    x = build.vlds(source=p, offset=o, dist="BRC_B32", result=vreg)

A name is that of an instruction; operands, words and result types are given by role. Sums and products of constants are
folded while building, so that what is known stays known. Each operation stands where the one it serves was written.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Any

from xdsl.dialects.builtin import IndexType, IntAttr, StringAttr, i1, i64
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from ptosim.effects.names import Space
from ptosim.effects.scalar import integers
from ptosim.language.catalogue import operation
from ptosim.language.micro.pointer import CastPtr
from ptosim.language.micro.scope import VecScope
from ptosim.language.micro.vector import called
from ptosim.language.operation import PTOOperation
from ptosim.language.rules.operand_rules import constant_of
from ptosim.language.structure.control import For, If, Yield
from ptosim.language.structure.scalar import Constant
from ptosim.language.text.literals import float_bits, integer_bits
from ptosim.language.text.parser import ParsedModule
from ptosim.language.types import PtrType, element_of

INDEX = IndexType()

Number = int | SSAValue
"""An integer that is known, or a value; where both are taken, a known one becomes a constant of the right type."""


@dataclass
class InsertionPoint:
    """The place for operations: into a block, before one of its operations or at its end."""

    block: Block
    before: Operation | None = None

    @staticmethod
    def at(op: Operation) -> InsertionPoint:
        block = op.parent_block()
        assert block is not None
        return InsertionPoint(block, op)

    def insert(self, op: Operation) -> None:
        if self.before is None:
            self.block.add_op(op)
        else:
            self.block.insert_op_before(op, self.before)


@dataclass
class Head:
    """The start of a function: constants, and pointers made of constant addresses, each said once."""

    block: Block
    last: Operation | None
    """The last of them; what comes behind may be replaced meanwhile."""
    known: dict[tuple[object, ...], SSAValue] = field(default_factory=dict[tuple[object, ...], SSAValue])

    def insert(self, op: Operation) -> None:
        first = self.block.first_op
        if self.last is not None:
            self.block.insert_op_after(op, self.last)
        elif first is not None:
            self.block.insert_op_before(op, first)
        else:
            self.block.add_op(op)
        self.last = op


class Builder:
    """Appends operations at a place; each serves an operation of the text."""

    def __init__(self, parsed: ParsedModule, place: InsertionPoint, head: Head, serves: Operation) -> None:
        self.parsed = parsed
        self.place = place
        self.head = head
        self.serves = serves
        self._found: list[dict[tuple[object, ...], SSAValue]] = [{}]
        """Sums and products by their operands, for the block under construction and those around it."""

    # --- operations ---------------------------------------------------------------------------------------------------

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name.startswith("_"):
            raise AttributeError(name)
        return partial(self.op, name)

    def op(self, name: str, /, **given: Any) -> Any:
        """Build an operation by its name; returns its result, its results, or None where it has none."""
        op = self.add(_made(_class_of(name), given))
        return op.results[0] if len(op.results) == 1 else tuple(op.results) or None

    def add(self, op: Operation) -> Operation:
        """Put an operation here; its results are called after it where they have no name."""
        self.place.insert(op)
        self.parsed.serve(op, self.serves)
        for result in op.results:
            result.name_hint = result.name_hint or op.name.rpartition(".")[2]
        return op

    # --- constants ----------------------------------------------------------------------------------------------------

    def constant(self, value: float, type_: Attribute) -> SSAValue:
        """A literal, at the head of the function."""
        element = element_of(type_)
        if element.is_float:
            return self.pattern(float_bits(value, element), type_)
        bits = integer_bits(int(value), element)
        assert bits is not None, f"{value} does not fit {type_}"
        return self.pattern(bits, type_)

    def pattern(self, bits: int, type_: Attribute) -> SSAValue:
        """A literal by its bits."""
        name = f"c{bits}" if type_ == INDEX else f"c{bits}_{element_of(type_).name}"
        return self._once((bits, type_), lambda: Constant.make({}, [type_], {"bits": IntAttr(bits)}), name)

    def index(self, value: Number) -> SSAValue:
        """A value of type index: a constant, or a value of any integer type."""
        return self.cast(value, INDEX)

    def i64(self, value: Number) -> SSAValue:
        return self.cast(value, i64)

    def cast(self, value: Number, type_: Attribute) -> SSAValue:
        """An integer as a value of another integer type."""
        if isinstance(value, int):
            return self.constant(value, type_)
        if value.type == type_:
            return value
        if (known := constant_of(value)) is not None:
            return self.pattern(known & (1 << element_of(type_).bits) - 1, type_)
        if isinstance(value.type, IndexType) or isinstance(type_, IndexType):
            return self.op("arith.index_cast", operand=value, result=type_)
        narrowing = element_of(type_).bits < element_of(value.type).bits
        return self.op("arith.trunci" if narrowing else "arith.extsi", operand=value, result=type_)

    def pointer(self, address: SSAValue, element: Attribute, space: Space, name: str = "pointer") -> SSAValue:
        """A pointer to an on-chip address; one of a constant address stands at the head of the function. A number, as
        of `%0`, is no name to print it by."""
        name = name if SSAValue.is_valid_name(name) else "pointer"
        type_, fixed = PtrType.of(element, space), constant_of(address)
        if fixed is None:
            return self.castptr(input=address, result=type_)
        at = self.constant(fixed, i64)
        return self._once((at, type_), lambda: CastPtr.make({"input": at}, [type_]), name)

    def _once(self, key: tuple[object, ...], make: Callable[[], Operation], name: str) -> SSAValue:
        if key not in self.head.known:
            op = make()
            op.results[0].name_hint = name
            self.head.insert(op)
            self.parsed.serve(op, self.serves)
            self.head.known[key] = op.results[0]
        return self.head.known[key]

    # --- arithmetic of sizes and offsets, folded ----------------------------------------------------------------------

    def plus(self, a: Number, b: Number) -> Number:
        return self._folded("arith.addi", a, b, neutral=0)

    def minus(self, a: Number, b: Number) -> Number:
        if b == 0:
            return a
        return 0 if a is b else self._folded("arith.subi", a, b)

    def times(self, a: Number, b: Number) -> Number:
        if known(a) == 0 or known(b) == 0:
            return 0
        return self._folded("arith.muli", a, b, neutral=1)

    def least(self, a: Number, b: Number) -> Number:
        return a if a is b else self._folded("arith.minsi", a, b)

    def most(self, a: Number, b: Number) -> Number:
        return a if a is b else self._folded("arith.maxsi", a, b)

    def ceiling(self, a: Number, b: int) -> Number:
        """a / b rounded up; a is not negative."""
        return a if b == 1 else self._folded("arith.ceildivui", a, b)

    def quotient(self, a: Number, b: Number) -> Number:
        """a / b rounded down; a is not negative."""
        return a if known(b) == 1 else self._folded("arith.divui", a, b)

    def remainder(self, a: Number, b: Number) -> Number:
        """a modulo b; a is not negative."""
        return 0 if known(b) == 1 else self._folded("arith.remui", a, b)

    def _folded(self, name: str, a: Number, b: Number, neutral: int | None = None) -> Number:
        x, y = known(a), known(b)
        rule = integers(64).rule(name)
        if rule is not None and x is not None and y is not None:
            return rule(x, y)
        if neutral is not None and neutral in (x, y):
            return b if x == neutral else a
        type_ = a.type if isinstance(a, SSAValue) else b.type if isinstance(b, SSAValue) else INDEX
        lhs, rhs = self.cast(a, type_), self.cast(b, type_)
        key = (name, lhs, rhs)
        earlier = next((found[key] for found in self._found if key in found), None)
        if earlier is None:
            earlier = self._found[-1][key] = self.op(name, lhs=lhs, rhs=rhs, result=type_)
        return earlier

    def compare(self, predicate: str, a: Number, b: Number) -> SSAValue:
        """A condition on two integers: slt, sle, eq and so on."""
        type_ = a.type if isinstance(a, SSAValue) else b.type if isinstance(b, SSAValue) else INDEX
        lhs, rhs = self.cast(a, type_), self.cast(b, type_)
        return self.op("arith.cmpi", predicate=predicate, lhs=lhs, rhs=rhs, result=i1)

    # --- structure ----------------------------------------------------------------------------------------------------

    @contextmanager
    def into(self, block: Block) -> Generator[None]:
        """Operations that are built meanwhile go into a block."""
        outside, self.place = self.place, InsertionPoint(block)
        self._found.append({})
        try:
            yield
        finally:
            self.place = outside
            self._found.pop()

    def scope(self, body: Callable[[], None]) -> None:
        """A vector scope."""
        block = Block()
        with self.into(block):
            body()
        self.add_region(VecScope.make({}, regions=[Region(block)]))

    def loop(
        self,
        upper: Number,
        step: int,
        body: Callable[..., Sequence[SSAValue] | None],
        *carried: SSAValue,
        lower: Number = 0,
    ) -> Sequence[SSAValue]:
        """Count from `lower` to below `upper`. The body takes the index and the carried values and returns the next
        ones. A loop that is known to run once is its body; one that is known not to run is nothing."""
        first, last = known(lower), known(upper)
        if first is not None and last is not None:
            if last <= first:
                return carried
            if last - first <= step:
                return body(self.index(lower), *carried) or ()
        block = Block(arg_types=[INDEX, *(value.type for value in carried)])
        with self.into(block):
            following = body(*block.args) or ()
            self.add(Yield.make({"arguments": following}))
        bounds = {"lb": self.index(lower), "ub": self.index(upper), "step": self.index(step)}
        types = [value.type for value in carried]
        loop = For.make({**bounds, "iter_args": carried}, types, regions=[Region(block)])
        return tuple(self.add_region(loop).results)

    def choose(
        self,
        condition: SSAValue,
        then: Callable[[], Sequence[SSAValue] | None],
        otherwise: Callable[[], Sequence[SSAValue] | None] | None = None,
    ) -> Sequence[SSAValue]:
        """One of two pieces of code by a condition."""
        blocks = Block(), Block()
        types: list[Attribute] = []
        for block, body in zip(blocks, (then, otherwise), strict=True):
            with self.into(block):
                given = (body() if body is not None else None) or ()
                types = [value.type for value in given]
                self.add(Yield.make({"arguments": given}))
        made = If.make({"cond": condition}, types, regions=[Region(block) for block in blocks])
        return tuple(self.add_region(made).results)

    def add_region(self, op: Operation) -> Operation:
        """Add an operation around what was built before; only itself is new."""
        self.place.insert(op)
        self.parsed.positions.setdefault(op, self.parsed.positions[self.serves])
        self.parsed.origins[op] = self.parsed.origin(self.serves)
        return op


def known(value: Number) -> int | None:
    """The integer that a number is known to be."""
    return value if isinstance(value, int) else constant_of(value)


def head_of(body: Block) -> Head:
    """The start of a function whose constants are not yet gathered: those that stand there already are known."""
    head = Head(body, None)
    first = body.first_op
    while isinstance(first, Constant):
        if not first.is_dense:
            head.known[first.pattern, first.result.type] = first.result
        head.last = first
        first = first.next_op
    return head


@cache
def _class_of(name: str) -> type[PTOOperation]:
    """The class of an instruction: `vadd` is `pto.vadd`."""
    found = operation(name if "." in name else f"pto.{name}") or operation(f"pto.{name.replace('_', '.')}")
    if found is None:
        raise AttributeError(f"there is no operation {name}")
    return found


def _made(kind: type[PTOOperation], given: Mapping[str, Any]) -> PTOOperation:
    operands: dict[str, Any] = {}
    properties: dict[str, Attribute] = {}
    for role, value in given.items():
        if role in kind.operand_roles:
            operands[role] = value
        elif role in kind.property_roles:
            if value is not None:
                properties[role] = _attribute(value)
        else:
            assert role in kind.result_roles, f"{kind.name} has no {role}"
    return kind.make(operands, _result_types(kind, given), properties)


def _result_types(kind: type[PTOOperation], given: Mapping[str, Any]) -> list[Attribute]:
    """The types of the results that are given; otherwise those of the operands that are alike."""
    types: list[Attribute] = [given[role] for role in kind.result_roles if role in given]
    if types or not kind.required_results:
        return types
    alike = called(kind, "V") or kind.operand_roles  # families of registers say which are alike
    return [given[alike[0]].type] * kind.required_results


def _attribute(value: Any) -> Attribute:
    return StringAttr(value) if isinstance(value, str) else value
