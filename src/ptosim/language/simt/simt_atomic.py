"""Atomic operations on one element of UB or GM: read, combine and store at once, and give the old value."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from ptosim.effects.names import Space
from ptosim.language.operation import Operand, OptionalProperty, Problem, PTOOperation, Result, lint, made
from ptosim.language.simt.simt_lane import SIGNEDNESS
from ptosim.language.simt.simt_memory import L2_OF_STORES
from ptosim.language.types import PtrType, element_name, is_packed

_INTEGERS = ("i32", "i64")
ATOMIC_TYPES = (*_INTEGERS, "f16", "bf16", "f32", "vector<2xf16>", "vector<2xbf16>")


class AtomicOperation(PTOOperation):
    """old = *p; *p = f(old, value), indivisible; the result is old. Floats are combined as one operation of their type,
    packed ones element by element. Workitems of one instruction that meet at an address apply in ascending order."""

    simt = "any"
    placement = "outside"
    targets = ("a5",)
    spaces = {"pointer": (Space.GM, Space.UB)}
    form = "$pointer, $value {l2cache (@l2cache)} {@signedness}"
    words = {"l2cache": L2_OF_STORES, "signedness": SIGNEDNESS}
    pointer = Operand()
    value = Operand()
    l2cache = OptionalProperty()
    signedness = OptionalProperty()
    result = Result()
    on_integers: ClassVar[bool] = False
    """Whether floats have no such operation."""

    def facts(self) -> Mapping[str, Any]:
        return {"uses_old": bool(self.result.uses)}

    def rules(self, target: str) -> Iterator[Problem]:
        pointer = self.pointer.type
        if not isinstance(pointer, PtrType):
            return
        type_, name = pointer.element, element_name(pointer.element)
        accepted = _INTEGERS if self.on_integers else ATOMIC_TYPES
        if name not in accepted:
            yield Problem(f"{self.name} works on {', '.join(accepted)}, not {type_}", at="pointer")
            return
        if name == "i64" and pointer.space is Space.UB:
            yield Problem(f"{self.name} of i64 does not work on ub", at="pointer")
        for role in ("compare", "value"):
            if role in self.operand_roles and (found := self.segment(role)[0].type) != type_:
                yield Problem(f"{role} has type {found}, but pointer leads to {type_}", at=role)
        if self.result.type != type_:
            yield Problem(f"{self.name} on {type_} gives {type_}, not {self.result.type}", at="result")
        if self.signedness is not None and name not in _INTEGERS:
            yield Problem(f"{self.name} of floats is neither signed nor unsigned", at="signedness")
        yield from self._old_value(name)

    def _old_value(self, name: str | None) -> Iterator[Problem]:
        if not self.result.uses:
            return
        if is_packed(self.result.type):
            yield Problem(f"the result of a packed {self.name} cannot be used", at="result")
        elif name in ("f16", "bf16"):
            yield lint(f"the old value of {self.name} on {name} is not reliable on the hardware", at="result")


def _atomic(word: str, text: str, **facts: bool) -> type[AtomicOperation]:
    type_ = "i32"
    example = f"    %old = pto.atomic_{word} %p, %v : !pto.ptr<{type_}, ub>, {type_} -> {type_}"
    return made(
        __name__,
        AtomicOperation,
        f"pto.atomic_{word}",
        __doc__=f"{text}\n\n{AtomicOperation.__doc__}\n\n{example}\n",
        **facts,
    )


OPERATIONS = (
    _atomic("exch", "Atomic exchange."),
    _atomic("add", "Atomic sum."),
    _atomic("sub", "Atomic difference."),
    _atomic("min", "Atomic minimum; integers compare as signed unless `unsigned` is written."),
    _atomic("max", "Atomic maximum; integers compare as signed unless `unsigned` is written."),
    _atomic("and", "Atomic bitwise and.", on_integers=True),
    _atomic("or", "Atomic bitwise or.", on_integers=True),
    _atomic("xor", "Atomic bitwise exclusive or.", on_integers=True),
)


class AtomicCas(AtomicOperation, name="pto.atomic_cas"):
    """Atomic compare and swap.

    Stores the value where the old one equals the compare operand bit by bit; the result is the old one.

        %old = pto.atomic_cas %p, %expected, %v : !pto.ptr<i32, ub>, i32 -> i32
    """

    form = "$pointer, $compare, $value {l2cache (@l2cache)} {@signedness}"
    listed = ("pointer", "compare")
    compare = Operand()
    value = Operand()
    l2cache = OptionalProperty()
    signedness = OptionalProperty()
