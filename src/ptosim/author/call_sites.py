"""Helpers of a kernel, once for each of their calls: what is inside one then has a place that says where it was called.

The text for the assembler has a helper once. A run reads this one, so that findings, profiles and traps know the call.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from xdsl.dialects.builtin import ModuleOp, StringAttr, SymbolRefAttr
from xdsl.ir import Operation

from ptosim.author.trace import Trace
from ptosim.language.structure.function import Call, Function
from ptosim.places import Location, called

Places = dict[Operation, Location]
MOST_COPIES = 4_000
"""Operations that a helper may become; a larger one stays shared, and says no call."""


def with_call_sites(trace: Trace) -> tuple[ModuleOp, Places]:
    """The module and the places of its operations, each helper copied for each call."""
    if not any(isinstance(op, Call) for op in trace.root.walk()):
        return trace.root, trace.places
    root = trace.root.clone()
    pairs = zip(trace.root.walk(), root.walk(), strict=True)
    places = {new: trace.places[old] for old, new in pairs if old in trace.places}
    _Sites(root, places).spread()
    return root, places


class _Sites:
    """The functions of a module, and how often each is called."""

    def __init__(self, root: ModuleOp, places: Places) -> None:
        self._places = places
        functions = [op for op in root.walk() if isinstance(op, Function)]
        self._symbols = {op.symbol for op in functions}
        self._bodies = {op.symbol: op for op in functions if not op.is_declaration}
        self._calls = {op: [each for each in op.walk() if isinstance(each, Call)] for op in self._bodies.values()}
        self._sizes = {op: sum(1 for _ in op.walk()) for op in self._bodies.values()}
        self._instances = self._counted()
        self._patterns = {
            op: (op.clone(), [places.get(each) for each in op.walk()])
            for op, times in self._instances.items()
            if times > 1 and self._is_apart(op)
        }
        self._given: set[Function] = set()

    def spread(self) -> None:
        """From the functions that nothing calls, and those that stay shared, down to what they call."""
        for function in [*self._calls]:
            if self._instances[function] == 0 or not self._is_apart(function):
                self._visit(function)

    def _counted(self) -> Counter[Function]:
        """The number of calls that each function serves, when all above it are copied as well."""
        found: Counter[Function] = Counter()
        inner = {self._bodies.get(call.symbol) for calls in self._calls.values() for call in calls}

        def count(function: Function) -> None:
            for call in self._calls[function]:
                body = self._bodies.get(call.symbol)
                if body is not None and found[body] * self._sizes[body] <= MOST_COPIES:
                    is_near = body.parent_op() is function.parent_op()
                    found[body] += 1 if is_near or not found[body] else MOST_COPIES  # another module declares it once
                    count(body)

        for function in self._calls:
            if function not in inner:
                count(function)
        return found

    def _is_apart(self, function: Function) -> bool:
        return self._instances[function] * self._sizes[function] <= MOST_COPIES

    def _visit(self, function: Function) -> None:
        for call in [op for op in function.walk() if isinstance(op, Call)]:
            body, site = self._bodies.get(call.symbol), self._places.get(call)
            if body is None or site is None or not self._is_apart(body):
                continue
            if body in self._given:
                body = self._copied(body, call)
            self._given.add(body)
            chain = replace(site, calls=()), *site.calls
            for op in body.walk():
                if op is not body and (place := self._places.get(op)) is not None:
                    self._places[op] = called(place, (*place.calls, *chain))
            self._visit(body)

    def _copied(self, body: Function, call: Call) -> Function:
        """A copy of a helper for one more call."""
        pattern, places = self._patterns[body]
        made, number = pattern.clone(), 2
        while f"{body.symbol}_{number}" in self._symbols:
            number += 1
        symbol = f"{body.symbol}_{number}"
        self._symbols.add(symbol)
        made.properties["sym_name"] = StringAttr(symbol)
        call.properties["callee"] = SymbolRefAttr(symbol)
        self._places.update({op: place for op, place in zip(made.walk(), places, strict=True) if place is not None})
        block = body.parent_block()
        assert block is not None
        block.insert_op_after(made, body)
        return made
