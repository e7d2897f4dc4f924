"""Works out the types that the text leaves open: `!pto.ptr` and `!pto.mask<G>`.

Values that one operation hands on to another (pointer arithmetic, carried values, selection, calls) have one type. What
a type list says, the space that an instruction reaches, and the register it loads or stores then decide it. The
pointers of a copy share their elements when nothing else decides them; those that only copies use count bytes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from xdsl.dialects.builtin import i8, i32
from xdsl.ir import Attribute, Block, Operation, SSAValue

from ptosim.diagnostics import Diagnostic
from ptosim.effects.names import Space
from ptosim.language.analysis.value_flow import edges
from ptosim.language.micro.pointer import AddPtr, CastPtr, LdDev, LoadScalar, PtrToInt, StDev, StoreScalar
from ptosim.language.micro.predicate import PBitcast, PPack, PUnpack
from ptosim.language.micro.predicate_memory import Pldi, Plds, Psti, Psts
from ptosim.language.micro.sync_fence import CmoCacheInvalid, Dcci
from ptosim.language.micro.sync_semaphore import SyncAll
from ptosim.language.micro.system import SprSti, SprSts
from ptosim.language.operation import PTOOperation
from ptosim.language.structure.function import Function
from ptosim.language.structure.scalar_cast import Select
from ptosim.language.text.parser import ParsedModule
from ptosim.language.types import MaskType, PtrType, VregType, is_open

_COPIES = frozenset({Space.GM, Space.UB, Space.L1})
"""The memories between which a copy leaves elements as they are."""

_INDIFFERENT = (AddPtr, CastPtr, PtrToInt, Dcci, CmoCacheInvalid, Plds, Pldi, Psts, Psti)
"""Instructions that take a pointer to any elements."""

_WORDS = (SprSti, SprSts, SyncAll)
"""Instructions whose memory has elements of i32 only."""

_REPACKING = (PPack, PUnpack, PBitcast)
"""Instructions that may give a mask of another granularity than they take."""


@dataclass
class _Group:
    """Values of one type, and what is known of it, each fact with the operation that says so."""

    values: list[SSAValue] = field(default_factory=list[SSAValue])
    spaces: dict[Space, Operation | None] = field(default_factory=dict[Space, "Operation | None"])
    reach: set[Space] = field(default_factory=lambda: set(Space))
    elements: dict[Attribute, Operation | None] = field(default_factory=dict[Attribute, "Operation | None"])
    granularities: dict[MaskType, Operation | None] = field(default_factory=dict[MaskType, "Operation | None"])
    beside: list[SSAValue] = field(default_factory=list[SSAValue])
    """The other pointer of a copy, the other mask of a repacking: alike when nothing else decides."""
    only_copied: bool = True


def infer(parsed: ParsedModule) -> list[Diagnostic]:
    """Close every open type in place; what cannot be worked out is an error that asks for the type."""
    operations = list(parsed.module.walk())
    if not any(is_open(value.type) for op in operations for value in _defined(op)):
        return []
    inference = _Inference(parsed)
    for op in operations:
        for values in _alike(op):
            inference.join(values)
    for op in operations:
        inference.learn(op)
    for value, type_ in parsed.hints:
        inference.learn_type(value, type_)
    found = list(inference.close(operations))
    for op in operations:
        if isinstance(op, Function) and not op.is_declaration:
            op.retype()
    return found


def _defined(op: Operation) -> Iterator[SSAValue]:
    yield from op.results
    for region in op.regions:
        for block in region.blocks:
            yield from block.args


# --- values of one type -----------------------------------------------------------------------------------------------


def _alike(op: Operation) -> Iterator[Sequence[SSAValue]]:
    """Lists of values that have one type because of this operation."""
    yield from edges(op)
    match op:
        case Select():
            yield op.if_true, op.if_false, op.result
        case AddPtr():
            yield op.pointer, op.result
        case PTOOperation() if op.name.startswith("pto.") and not isinstance(op, CastPtr):
            yield from _alike_in_instruction(op)
        case _:
            pass


def _alike_in_instruction(op: PTOOperation) -> Iterator[Sequence[SSAValue]]:
    """A pointer that an instruction advances keeps its type; instructions on masks alone keep the granularity."""
    advanced = [value for value in op.results if isinstance(value.type, PtrType)]
    bases = [value for value in op.operands if isinstance(value.type, PtrType)]
    if advanced and bases:
        yield bases[0], *advanced
    masks = [value for value in (*op.operands, *op.results) if isinstance(value.type, MaskType)]
    if not _registers(op) and not isinstance(op, _REPACKING):
        yield masks


def _registers(op: Operation) -> list[VregType]:
    """The register types of an instruction; the first is what it loads, else what it stores."""
    return [value.type for value in (*op.results, *op.operands) if isinstance(value.type, VregType)]


# --- facts ------------------------------------------------------------------------------------------------------------


class _Inference:
    def __init__(self, parsed: ParsedModule) -> None:
        self.parsed = parsed
        self.groups: dict[SSAValue, _Group] = {}
        self.casts: list[CastPtr] = []

    def group(self, value: SSAValue) -> _Group:
        if value not in self.groups:
            self.groups[value] = _Group([value])
            self.learn_type(value, value.type)
        return self.groups[value]

    def join(self, values: Sequence[SSAValue]) -> None:
        values = [value for value in values if isinstance(value.type, PtrType | MaskType)]
        for value in values[1:]:
            one, other = self.group(values[0]), self.group(value)
            if one is other:
                continue
            if len(one.values) < len(other.values):
                one, other = other, one
            one.values += other.values
            one.spaces |= other.spaces
            one.elements |= other.elements
            one.granularities |= other.granularities
            for member in other.values:
                self.groups[member] = one

    def learn_type(self, value: SSAValue, type_: Attribute) -> None:
        """A value has this type, as far as it is closed."""
        group = self.group(value)
        if is_open(type_):
            return
        if isinstance(type_, MaskType):
            group.granularities.setdefault(type_)
        elif isinstance(type_, PtrType):
            group.spaces.setdefault(type_.space)
            group.elements.setdefault(type_.element)

    def learn(self, op: Operation) -> None:
        """Types that an operation implies for its pointers and masks."""
        if isinstance(op, CastPtr) and isinstance(op.input.type, PtrType) and isinstance(op.result.type, PtrType):
            self.casts.append(op)
        elif isinstance(op, PTOOperation) and op.name.startswith("pto."):
            self._learn_instruction(op)

    def _share_spaces(self) -> None:
        """Both sides of a cast are in one space."""
        changed = True
        while changed:
            changed = False
            for op in (*self.casts, *reversed(self.casts)):  # knowledge runs along a chain in one round
                one, other = self.group(op.input), self.group(op.result)
                together = one.spaces | other.spaces
                changed |= len(together) > min(len(one.spaces), len(other.spaces))
                one.spaces, other.spaces = dict(together), dict(together)

    def _learn_instruction(self, op: PTOOperation) -> None:
        pointers = [(role, value) for role, value in op.roles() if isinstance(value.type, PtrType)]
        element = self._element(op)
        reached = {space for role, _ in pointers for space in op.spaces.get(role, Space)}
        copy = element is None and len(pointers) > 1 and reached <= _COPIES
        for role, value in pointers:
            group = self.group(value)
            if allowed := op.spaces.get(role):
                group.reach &= set(allowed)
                if len(allowed) == 1:
                    group.spaces.setdefault(allowed[0], op)
            if element is not None:
                group.elements.setdefault(element, op)
            if copy:
                group.beside += [other for _, other in pointers if other is not value]
            elif not isinstance(op, _INDIFFERENT):
                group.only_copied = False
        self._learn_masks(op)

    def _learn_masks(self, op: PTOOperation) -> None:
        masks = [value for value in (*op.operands, *op.results) if isinstance(value.type, MaskType)]
        type_ = op.mask_type()
        for value in masks:
            group = self.group(value)
            if isinstance(op, _REPACKING):
                group.beside += [other for other in masks if other is not value]
            elif type_ is not None:
                group.granularities.setdefault(type_, op)

    def _element(self, op: PTOOperation) -> Attribute | None:
        """The element type of the pointers of an instruction, from what it loads or stores."""
        if registers := _registers(op):
            return registers[0].element
        if isinstance(op, LoadScalar | LdDev):
            return op.results[0].type
        if isinstance(op, StoreScalar | StDev):
            return op.operands[0].type
        return i32 if isinstance(op, _WORDS) else None

    # --- closing ------------------------------------------------------------------------------------------------------

    def close(self, operations: list[Operation]) -> Iterator[Diagnostic]:
        open_values = [value for op in operations for value in _defined(op) if is_open(value.type)]
        firsts: dict[int, SSAValue] = {}
        for value in open_values:
            firsts.setdefault(id(self.group(value)), value)
        self._share_spaces()
        self._spread([self.group(first) for first in firsts.values()])
        for first in firsts.values():
            group = self.group(first)
            type_ = self._type_of(group, first)
            if type_ is None:
                yield self._complain(group, first)
                continue
            for value in group.values:
                if is_open(value.type):
                    value._type = type_  # pyright: ignore[reportPrivateUsage]

    def _spread(self, groups: list[_Group]) -> None:
        """The elements of one side of a copy decide those of the other, when nothing else does; so with masks."""
        undecided = [group for group in groups if not group.elements and not group.granularities]
        while undecided:
            for group in (*undecided, *reversed(undecided)):
                for other in map(self.group, group.beside):
                    if len(other.elements) == 1 and not group.elements:
                        group.elements |= other.elements
                    if len(other.granularities) == 1 and not group.granularities:
                        group.granularities |= other.granularities
            before = len(undecided)
            undecided = [group for group in undecided if not group.elements and not group.granularities]
            if len(undecided) == before:
                return

    def _type_of(self, group: _Group, value: SSAValue) -> Attribute | None:
        if isinstance(value.type, MaskType):
            return next(iter(group.granularities)) if len(group.granularities) == 1 else None
        spaces = set(group.spaces) or ({Space.GM} & group.reach if _is_parameter(group) else group.reach)
        elements = set(group.elements) or ({i8} if group.only_copied else set[Attribute]())
        if len(spaces) != 1 or len(elements) != 1:
            return None
        return PtrType.of(elements.pop(), spaces.pop())

    def _complain(self, group: _Group, value: SSAValue) -> Diagnostic:
        is_mask = isinstance(value.type, MaskType)
        facts: dict[str, Operation | None] = {}
        for found in (group.granularities,) if is_mask else (group.spaces, group.elements):
            if len(found) > 1:
                facts |= {str(name): op for name, op in found.items()}
        wanted = "!pto.mask<b8|b16|b32>" if is_mask else "!pto.ptr<T, space>"
        why = f"it is used as {self._list(facts)}" if facts else "its uses do not say enough"
        span = self.parsed.definitions.get(value)
        location = self.parsed.source.location(span.start, span.end - span.start) if span else None
        return Diagnostic("invalid", "error", f"the type cannot be worked out: {why}; write {wanted}", location)

    def _list(self, facts: dict[str, Operation | None]) -> str:
        def place(op: Operation | None) -> str:
            location = self.parsed.location(op) if op is not None else None
            return f" (line {location.shown.line})" if location is not None else ""

        return " and as ".join(f"{name}{place(op)}" for name, op in facts.items())


def _is_parameter(group: _Group) -> bool:
    return any(
        isinstance(value.owner, Block) and isinstance(value.owner.parent_op(), Function) for value in group.values
    )
