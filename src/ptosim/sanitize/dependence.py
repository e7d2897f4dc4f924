"""Dependences between the instructions of a vector scope through registers, and through bytes with a fence between.

A store whose value, mask, address or execution depends on a load cannot overtake it. Decided on the def-use graph as
written, loop-carried values, branches and calls included; pairs of a store and a later load of the same bytes with a
fence between them are edges too, and are added as a run meets them.
"""

from __future__ import annotations

from xdsl.ir import Operation

from ptosim.language.analysis.scope_dependence import executed, stores, waiting
from ptosim.language.structure.function import Call, Function
from ptosim.machine.entry import Site
from ptosim.sanitize.program import WrittenProgram
from ptosim.sanitize.scope_aliases import SCALAR_ACCESSES


class Dependence:
    """Dependence between the instructions of a program's vector scopes."""

    def __init__(self, program: WrittenProgram) -> None:
        self.program = program
        self._reached: dict[Operation, set[Operation]] = {}
        self._through_memory: dict[Operation, set[Operation]] = {}
        self._scalar: dict[Site, bool] = {}
        self._calls: dict[Function, list[Call]] | None = None

    def depends(self, store: Site, load: Site) -> bool:
        """Whether the store has to wait for the load."""
        first, second = self.program.executed(load), self.program.executed(store)
        return first is not None and second is not None and second in self._from(first)

    def may_be_overtaken(self, load: Site, scope: Site) -> bool:
        """Whether the scope has a store that does not wait for this load through registers."""
        op, around = self.program.executed(load), self.program.executed(scope)
        if op is None or around is None:
            return True
        known = self.program.overtaken
        if (op, around) not in known:
            reached = waiting(op, self._calls_of, self._through_memory)
            known[op, around] = any(store not in reached for store in stores(around, self.program.target))
        return known[op, around]

    def has_scalar_accesses(self, scope: Site) -> bool:
        """Whether scalar code of the scope reads or writes memory."""
        if scope not in self._scalar:
            around = self.program.executed(scope)
            self._scalar[scope] = around is None or any(op.name in SCALAR_ACCESSES for op in executed(around))
        return self._scalar[scope]

    def through_memory(self, store: Site, load: Site) -> None:
        """A load has read, behind a fence, what a store of the same scope wrote."""
        first, second = self.program.executed(store), self.program.executed(load)
        if first is None or second is None or second in self._through_memory.get(first, ()):
            return
        self._through_memory.setdefault(first, set()).add(second)
        self._reached.clear()

    def _from(self, op: Operation) -> set[Operation]:
        if op not in self._reached:
            self._reached[op] = waiting(op, self._calls_of, self._through_memory)
        return self._reached[op]

    def _calls_of(self, function: Function) -> list[Call]:
        if self._calls is None:
            self._calls = {}
            for op in self.program.operations():
                if isinstance(op, Call) and (callee := op.function) is not None:
                    self._calls.setdefault(callee, []).append(op)
        return self._calls.get(function, [])
