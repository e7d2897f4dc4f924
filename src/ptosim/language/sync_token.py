"""Synchronisation that passes write inside of what they lower a tile operation to.

Private tokens are flags beside the eight that a kernel has for each pair of pipes, so that a lowering never meets an id
of its user.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ptosim.language.operands import bounds
from ptosim.language.operation import Problem, Property
from ptosim.language.sync import PIPES, FlagPair
from ptosim.language.syntax import integers_of

TOKENS = 8
"""For each ordered pair of pipes, as many as there are flags."""


class _Token(FlagPair):
    form = "[@source, @destination, #number]"
    words = {"source": PIPES, "destination": PIPES}
    number = Property()

    def facts(self) -> Mapping[str, Any]:
        return {"number": integers_of(self, "number")[0]}

    def rules(self, target: str) -> Iterator[Problem]:
        yield from super().rules(target)
        numbers = integers_of(self, "number")
        if len(numbers) != 1 or not 0 <= numbers[0] < TOKENS:
            yield Problem(f"the number of a token must be {bounds(0, TOKENS - 1)}", at="number", kind="id-range")


class SimSetToken(_Token):
    """Signal a private token from a source pipe to a destination pipe.

    Like pto.set_flag, beside the ids that kernels use. Tokens count: a second one may be set before the first is waited
    for, and the n-th wait takes the n-th set.

        pto.sim.set_token["PIPE_MTE2", "PIPE_V", 0]
    """

    name = "pto.sim.set_token"


class SimWaitToken(_Token):
    """Hold the destination pipe until the source pipe has signalled a private token, and consume it.

    Like pto.wait_flag, beside the ids that kernels use.

        pto.sim.wait_token["PIPE_MTE2", "PIPE_V", 0]
    """

    name = "pto.sim.wait_token"
