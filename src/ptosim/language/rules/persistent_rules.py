"""Rules of persistent buffers, whose elements are registers of workitems: constant places, filled by one section that
comes before all others that use them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from xdsl.ir import Block, Operation, SSAValue

from ptosim.effects.scalar import integers
from ptosim.language.analysis.fast_walk import around
from ptosim.language.operation import Problem, PTOOperation
from ptosim.language.rules.call_rules import Found
from ptosim.language.rules.operand_rules import constant_of
from ptosim.language.simt.private_memory import Alloca, GetElementPtr, PrivateLoad, PrivateStore
from ptosim.language.simt.simt import SectionSimt
from ptosim.language.simt.simt_state import SLOTS
from ptosim.language.structure.control import For
from ptosim.language.structure.function import Function
from ptosim.language.types import element_name, element_of

_UNROLL = "pto.unroll"
_MOST_ROUNDS = 4096
_FOLDED = ("arith.addi", "arith.subi", "arith.muli")
_CASTS = ("arith.index_cast", "arith.index_castui", "arith.extsi", "arith.extui", "arith.trunci")


@dataclass
class Uses:
    """Uses of a buffer by a section: the elements that it stores, and its accesses in order."""

    stored: set[int] = field(default_factory=set[int])
    loaded: list[tuple[Operation, range]] = field(default_factory=list[tuple[Operation, range]])
    """Loads, each with the elements that no store of the section precedes."""
    accesses: list[tuple[Operation, range]] = field(default_factory=list[tuple[Operation, range]])


def persistent_problems(function: Function) -> Iterator[Found]:
    """Problems of the persistent buffers of a kernel."""
    allocated = (op for op in function.walk() if isinstance(op, Alloca) and op.is_persistent)
    buffers = [op for op in allocated if element_name(op.allocated) is not None]
    if not buffers:
        return
    sections = [op for op in function.walk() if isinstance(op, SectionSimt)]
    words = 0
    for buffer in buffers:
        problem = _wrong_element(buffer)
        if problem is not None:
            yield buffer, problem
            return
        stored: set[int] = set()
        for found in _of_buffer(buffer, sections, stored):
            yield found
            return
        width = 2 if element_of(buffer.allocated).bits > 32 else 1
        words = (words + words % 2 * (width - 1)) + width * len(stored)
        if words > SLOTS:
            message = f"the elements of persistent buffers take {words} words; a workitem keeps at most {SLOTS}"
            yield buffer, Problem(message, at="count")
            return


def _wrong_element(buffer: Alloca) -> Problem | None:
    element = element_of(buffer.allocated)
    if (element.is_integer and element.bits <= 64) or element.name in ("f16", "bf16", "f32"):
        return None
    message = f"a persistent buffer has integers of at most 64 bits, f16, bf16 or f32, not {buffer.allocated}"
    return Problem(message, at="element_type")


def _of_buffer(buffer: Alloca, sections: list[SectionSimt], stored: set[int]) -> Iterator[Found]:
    """Its sections, and what they do with it; `stored` is filled with what the first of them stores."""
    used: dict[SectionSimt, Uses] = {}
    for section in sections:
        walk = _SectionWalk(buffer)
        yield from walk.block(section.body.block, {}, inside=True)
        if walk.uses.accesses:
            used[section] = walk.uses
    for use in buffer.result.uses:
        if not any(isinstance(each, SectionSimt) for each in around(use.operation)):
            yield use.operation, Problem("a persistent buffer is used in sections of workitems only")
    if not used:
        return
    first = next((one for one in used if all(one is other or dominates(one, other) for other in used)), None)
    if first is None:
        late = list(used)[-1]
        message = "no section that uses this persistent buffer comes before all others that do, on every way"
        yield used[late].accesses[0][0], Problem(message)
        return
    stored |= used[first].stored
    yield from _filled(first, used, stored)
    for section in sections:
        if section is not first and dominates(first, section) and section.sizes != first.sizes:
            message = (
                f"{section.name} has other dimensions ({_times(section)}) than the one that fills a persistent buffer "
                f"before it ({_times(first)})"
            )
            yield section, Problem(message)


def _filled(first: SectionSimt, used: dict[SectionSimt, Uses], stored: set[int]) -> Iterator[Found]:
    for op, elements in used[first].loaded:
        yield op, Problem(f"element {elements[0]} of the persistent buffer is loaded before it is stored")
    for section, uses in used.items():
        for op, elements in uses.accesses if section is not first else ():
            if missing := [number for number in elements if number not in stored]:
                message = f"element {missing[0]} of the persistent buffer is not stored by the section that fills it"
                yield op, Problem(message)


def _times(section: SectionSimt) -> str:
    return " x ".join(map(str, section.sizes))


def dominates(first: Operation, other: Operation) -> bool:
    """Whether an operation has been executed wherever another one is, of one function."""
    block = first.parent_block()
    for each in (other, *around(other)):
        if each.parent_block() is block and block is not None:
            order = list(block.ops)
            return order.index(first) < order.index(each)
    return False


class _SectionWalk:
    """Follows the addresses of one buffer through a section; loops marked as unrolled are."""

    def __init__(self, buffer: Alloca) -> None:
        self.buffer = buffer
        self.width = element_of(buffer.allocated).bytes
        self.uses = Uses()

    def block(self, block: Block, known: dict[SSAValue, int], inside: bool) -> Iterator[Found]:
        """`known`: constants, and bytes behind the buffer of addresses in it."""
        for op in block.ops:
            yield from self._operation(op, known, inside)

    def _operation(self, op: Operation, known: dict[SSAValue, int], inside: bool) -> Iterator[Found]:
        if isinstance(op, GetElementPtr) and self._leads(op.base, known):
            index = op.integer("constant") if op.index is None else self._number(op.index, known)
            if index is None:
                yield op, Problem("the index into a persistent buffer is a constant", at="index")
                return
            known[op.result] = known.get(op.base, 0) + index * element_of(op.stepped).bytes
        elif isinstance(op, PrivateLoad | PrivateStore) and self._leads(op.pointer, known):
            yield from self._access(op, known.get(op.pointer, 0), inside)
        elif isinstance(op, For) and (rounds := self._unrolled(op, known)) is not None:
            for number in rounds:
                yield from self.block(op.body.block, {**known, op.body.block.args[0]: number}, inside)
        elif any(self._leads(value, known) for value in op.operands):
            yield op, Problem("a persistent buffer is used by llvm.getelementptr, llvm.load and llvm.store only")
        else:
            self._fold(op, known)
            for region in op.regions:
                for inner in region.blocks:
                    yield from self.block(inner, dict(known), False)

    def _leads(self, value: SSAValue, known: dict[SSAValue, int]) -> bool:
        return value is self.buffer.result or (value in known and isinstance(value.owner, GetElementPtr))

    def _number(self, value: SSAValue, known: dict[SSAValue, int]) -> int | None:
        return known.get(value, constant_of(value))

    def _fold(self, op: Operation, known: dict[SSAValue, int]) -> None:
        numbers = [self._number(value, known) for value in op.operands]
        if None in numbers or not isinstance(op, PTOOperation) or not numbers:
            return
        if op.name in _CASTS:
            known[op.results[0]] = numbers[0] or 0
        elif op.name in _FOLDED and (rule := integers(64).rule(op.name)) is not None:
            known[op.results[0]] = rule(*numbers)

    def _unrolled(self, op: For, known: dict[SSAValue, int]) -> range | None:
        bounds = [self._number(value, known) for value in (op.lb, op.ub, op.step)]
        if _UNROLL not in op.attributes or None in bounds or (bounds[2] or 0) < 1:
            return None
        rounds = range(*(number or 0 for number in bounds))
        return rounds if len(rounds) <= _MOST_ROUNDS else None

    def _access(self, op: PrivateLoad | PrivateStore, start: int, inside: bool) -> Iterator[Found]:
        type_ = op.result.type if isinstance(op, PrivateLoad) else op.value.type
        if element_name(type_) is None:  # which the rules of the operation say
            return
        kind = element_of(type_)
        if not inside:
            message = "a persistent buffer is accessed directly in the block of the section, not in a branch or loop"
            hint = 'mark a loop with constant bounds {pto.unroll = "full"}'
            yield op, Problem(message, hint=hint)
            return
        if kind.kind == "packed" and (kind.count not in (2, 4) or op.volatile_ is not None):
            yield op, Problem("a vector of a persistent buffer has 2 or 4 elements and is not volatile")
            return
        if start % self.width or kind.bytes % self.width:
            yield (
                op,
                Problem(f"byte {start} of a persistent buffer is not where an element of {self.width} bytes begins"),
            )
            return
        if not 0 <= start <= self.buffer.size - kind.bytes:
            yield op, Problem(f"bytes {start} to {start + kind.bytes - 1} of a persistent buffer of {self.buffer.size}")
            return
        elements = range(start // self.width, (start + kind.bytes) // self.width)
        self.uses.accesses.append((op, elements))
        if isinstance(op, PrivateStore):
            self.uses.stored.update(elements)
        elif missing := [number for number in elements if number not in self.uses.stored]:
            self.uses.loaded.append((op, range(missing[0], missing[0] + 1)))
