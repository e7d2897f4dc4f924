"""Signals in global memory as pointers and strides: what the signals of comm.py become.

The micro-instructions have no scalar atomic, and a loop that polls would hide what it waits for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from xdsl.dialects.builtin import IndexType

from ptosim.effects.names import Space
from ptosim.language import operation
from ptosim.language.rules.operand_rules import nth, pointed
from ptosim.language.text.assembly_format import Vocabulary, integers_of
from ptosim.language.types import PtrType

NOTIFY_OPS = Vocabulary(("set", "atomic_add"))
COMPARISONS = Vocabulary(("eq", "ne", "gt", "ge", "lt", "le"))


class _Words(operation.PTOOperation):
    placement = "outside"

    def rules(self, target: str) -> Iterator[operation.Problem]:
        if (name := pointed(self, "signal")) not in ("i32", "si32", "ui32"):
            yield operation.Problem(f"a signal is a word of i32, not {name}", at="signal")


class SimNotify(_Words, name="pto.sim.notify"):
    """Set a word in GM, or add to it (modulo 2^32).

    On the scalar unit; afterwards it waits until its pipes are empty. The announced work must have ended before.

        pto.sim.notify %p, %value {op = "set"} : !pto.ptr<i32, gm>, i32
    """

    form = "$signal:gm, $value:i32"
    words = {"op": NOTIFY_OPS}
    op = operation.Property()

    def facts(self) -> Mapping[str, Any]:
        return {"adds": self.word("op") == "atomic_add"}


class _Condition(_Words):
    """All words of a view, row by row: sizes as integers, strides in elements."""

    form = "$signal:gm, $value:i32{, $strides...}"
    value = operation.Operand()
    words = {"cmp": COMPARISONS}
    cmp = operation.Property()
    shape = operation.OptionalProperty()

    def facts(self) -> Mapping[str, Any]:
        return {"shape": integers_of(self, "shape") if self.attribute("shape") is not None else ()}

    def rules(self, target: str) -> Iterator[operation.Problem]:
        yield from super().rules(target)
        strides, shape = self.segment("strides"), self.facts()["shape"]
        if len(strides) != len(shape):
            yield operation.Problem(f"{len(shape)} sizes, but {len(strides)} strides", at="shape")
        if any(size < 1 for size in shape):
            yield operation.Problem("sizes are positive", at="shape")
        for index, value in enumerate(strides):
            if not isinstance(value.type, IndexType):
                yield operation.Problem(f"strides are of type index, not {value.type}", at=nth("strides", index))


class SimWaitWords(_Condition, name="pto.sim.wait_words"):
    """Stop the scalar unit until every word of a view satisfies `word cmp value`, signed.

    Nothing is consumed. Without a shape it is one word.

        pto.sim.wait_words %p, %value {cmp = "ge"} : !pto.ptr<i32, gm>, i32
        pto.sim.wait_words %p, %value, %c16, %c1 {cmp = "ge", shape = array<i64: 4, 8>} : !pto.ptr<i32, gm>, i32
    """


class SimTestWords(_Condition, name="pto.sim.test_words"):
    """Whether every word of a view satisfies `word cmp value`, signed.

    It never waits. Where the answer is no, other cores go on before it is given.

        %answer = pto.sim.test_words %p, %value {cmp = "ge"} : !pto.ptr<i32, gm>, i32 -> i1
    """

    result = operation.Result("i1")


class SimGroup(operation.PTOOperation, name="pto.sim.group"):
    """Remark which places a collective joins.

    Nothing happens. A check asks whether the root's buffer and member belong to the rank that executes the collective,
    whether member k lies on rank k and members do not overlap, and whether all collectives of one group name one root.
    `bytes` are those from the first of a member to its last.

        pto.sim.group %p, %p, %p {root = 0 : i32, bytes = 1024 : i64}
            : !pto.ptr<i32, gm>, !pto.ptr<i32, gm>, !pto.ptr<i32, gm>
    """

    form = "$buffer:gm, $members..."
    placement = "outside"
    members = operation.VariadicOperand()
    root = operation.Property()
    bytes = operation.Property()

    def rules(self, target: str) -> Iterator[operation.Problem]:
        for index, value in enumerate(self.members):
            if not isinstance(value.type, PtrType) or value.type.space is not Space.GM:
                yield operation.Problem(f"members are pointers to gm, not {value.type}", at=nth("members", index))
        root = self.integer("root")
        if root is None or not 0 <= root < len(self.members):
            yield operation.Problem(f"root must be one of the {len(self.members)} members", at="root")
