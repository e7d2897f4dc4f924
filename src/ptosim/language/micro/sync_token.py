"""Synchronisation that passes write inside a lowered tile operation.

Private tokens are flags beside the eight that a kernel has for each pair of pipes, so that a lowering never meets an id
of its user. The scoped wait is what a tsync of tiles becomes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ptosim.language.micro.sync import PIPES, FlagPair
from ptosim.language.operation import Problem, PTOOperation, VariadicOperand
from ptosim.language.rules.operand_rules import bounds, nth
from ptosim.language.text.assembly_format import integers_of
from ptosim.language.types import PtrType

TOKENS = 8
"""For each ordered pair of pipes, as many as there are flags."""


class _Token(FlagPair):
    form = "[@source, @destination, #number]"
    words = {"source": PIPES, "destination": PIPES}

    def facts(self) -> Mapping[str, Any]:
        return {"number": integers_of(self, "number")[0]}

    def rules(self, target: str) -> Iterator[Problem]:
        yield from super().rules(target)
        numbers = integers_of(self, "number")
        if len(numbers) != 1 or not 0 <= numbers[0] < TOKENS:
            yield Problem(f"the number of a token must be {bounds(0, TOKENS - 1)}", at="number", kind="id-range")


class SimSetToken(_Token, name="pto.sim.set_token"):
    """Signal a private token from a source pipe to a destination pipe.

    Like pto.set_flag, beside the ids that kernels use. Tokens count: a second one may be set before the first is waited
    for, and the n-th wait takes the n-th set.

        pto.sim.set_token["PIPE_MTE2", "PIPE_V", 0]
    """


class SimWaitToken(_Token, name="pto.sim.wait_token"):
    """Hold the destination pipe until the source pipe has signalled a private token, and consume it.

    Like pto.wait_flag, beside the ids that kernels use.

        pto.sim.wait_token["PIPE_MTE2", "PIPE_V", 0]
    """


class SimTSync(PTOOperation, name="pto.sim.tsync"):
    """Wait for what touches these bytes.

    For each pipe of the core: whatever is issued from now on starts after the last entry issued so far that reads or
    writes a byte of one of the ranges, and after all entries of that pipe before it. Ranges are pointers and, in the
    same order, sizes in bytes. Entries that touch other bytes only are not waited for, and a check says so; a run that
    has entries waiting in a queue waits until all have ended.

        pto.sim.tsync %ub, %gm sizes %bytes, %bytes : !pto.ptr<f32, ub>, !pto.ptr<f32, gm>, i64, i64
    """

    form = "$addresses... sizes $sizes:i64..."
    placement = "outside"
    addresses = VariadicOperand()
    sizes = VariadicOperand()

    def facts(self) -> Mapping[str, Any]:
        return {"spaces": tuple(value.type.space for value in self.addresses if isinstance(value.type, PtrType))}

    def rules(self, target: str) -> Iterator[Problem]:
        for index, value in enumerate(self.addresses):
            if not isinstance(value.type, PtrType):
                yield Problem(f"addresses are pointers, not {value.type}", at=nth("addresses", index))
        if len(self.addresses) != len(self.sizes):
            yield Problem(f"{len(self.addresses)} addresses, but {len(self.sizes)} sizes")
