"""Registers of a workitem that survive from one launch to the next on the same core: 123 words, by slot."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from ptosim.language.operation import Operand, Problem, Property, PTOOperation, Result, lint
from ptosim.language.simt.simt import SectionSimt, SyncThreads, most_workitems
from ptosim.language.structure.control import Terminator
from ptosim.language.structure.function import Function
from ptosim.language.structure.scalar import Constant
from ptosim.language.types import element_name, element_of

SLOTS = 123
"""Words that a workitem can keep."""
_REGISTERS = ((256, 123), (512, 60), (1024, 28), (2048, 12))
"""The number of slots for so many workitems: registers are shared among them."""


class KeptValue(PTOOperation):
    """A value in a slot of the registers that are kept."""

    simt = "inside"
    placement = "outside"
    targets = ("a5",)
    slot = Property()

    @property
    def number(self) -> int:
        return self.integer("slot") or 0

    @property
    def bits(self) -> int:
        (value,) = (*self.operands, *self.results)
        return element_of(value.type).bits

    @property
    def taken(self) -> range:
        """The words that the value takes."""
        return range(self.number, self.number + (2 if self.bits > 32 else 1))

    def rules(self, target: str) -> Iterator[Problem]:
        (value,) = (*self.operands, *self.results)
        role = next(iter((*self.operand_roles, *self.result_roles)))
        name = element_name(value.type) or ""
        if name not in ("f16", "bf16", "f32") and not (name[:1] == "i" and name[1:].isdigit()):
            yield Problem(
                f"{self.name} takes integers of at most 64 bits, f16, bf16 and f32, not {value.type}", at=role
            )
            return
        if not 0 <= self.number < SLOTS:
            yield Problem(f"slot is {self.number}; it must be 0 to {SLOTS - 1}", at="slot")
        elif len(self.taken) == 2 and (self.number % 2 or self.number > SLOTS - 3):
            yield Problem(f"slot is {self.number}; a 64-bit value takes an even one up to {SLOTS - 3}", at="slot")
        else:
            yield from self._placed()

    def _placed(self) -> Iterator[Problem]:
        parent = self.parent_op()
        if not (isinstance(parent, SectionSimt) or (isinstance(parent, Function) and parent.is_simt_entry)):
            where = "a pto.simt_entry function or pto.section.simt"
            yield Problem(f"{self.name} must stand at the top level of {where}")
            return
        group = [op for op in parent.regions[0].block.ops if isinstance(op, KeptValue) and type(op) is type(self)]
        for other in group[: group.index(self)]:
            if set(self.taken) & set(other.taken):
                yield Problem(f"slot {self.number} is already taken by another {self.name} of the group", at="slot")
                return
        yield from self._grouped()
        most = most_workitems(parent) if isinstance(parent, Function) else prod(parent.sizes)
        room = next((slots for threads, slots in _REGISTERS if most <= threads), 12)
        if self.taken[-1] >= room:
            yield lint(f"slot {self.number} does not exist for {most} workitems, which have {room} slots", at="slot")

    def _grouped(self) -> Iterator[Problem]:
        """Whether it stands where its group must."""
        return iter(())


class Keep(KeptValue, name="pto.keep"):
    """Keep a value for the next launch.

    Stands at the end of the code, followed by nothing but others, pto.syncthreads and the end. What a launch does not
    keep is lost.

        pto.keep %v {slot = 0 : i64} : f32
    """

    form = "$value"
    value = Operand()
    slot = Property()

    def _grouped(self) -> Iterator[Problem]:
        after, barrier = self.next_op, False
        while after is not None and not isinstance(after, Terminator):
            barrier = barrier or isinstance(after, SyncThreads)
            if not isinstance(after, Keep | SyncThreads) or (barrier and isinstance(after, Keep)):
                yield Problem(f"{self.name} must stand at the end, in one group; {after.name} follows it")
                return
            after = after.next_op


class Resume(KeptValue, name="pto.resume"):
    """A value that the last launch has kept.

    Stands at the beginning of the code, in one group with others, behind nothing but constants. All are read before
    any pto.keep of the same code writes.

        %v = pto.resume {slot = 0 : i64} : f32
    """

    slot = Property()
    result = Result()

    def _grouped(self) -> Iterator[Problem]:
        before, group = self.prev_op, True
        while before is not None:
            group = group and isinstance(before, Resume)
            if not isinstance(before, Resume | Constant) or (not group and isinstance(before, Resume)):
                yield Problem(f"{self.name} must stand at the beginning, in one group; {before.name} stands before it")
                return
            before = before.prev_op
