"""The reading of configuration registers, which hardware does when it issues an instruction."""

from __future__ import annotations

from collections.abc import Iterator

from ptosim.effects.configuration import FIELDS
from ptosim.language.operation import Problem, Property, PTOOperation, Result
from ptosim.language.text.assembly_format import Vocabulary
from ptosim.language.types import element_name, element_of


class SimRegister(PTOOperation, name="pto.sim.register"):
    """Read a field of a configuration register.

    What an older copy takes from a register becomes its operand; where only the run knows which write came last, it is
    read here. Of a narrower type, the low bits. It takes no time.

        %count = pto.sim.register {field = "outtoub_loop1_size"} : i64
    """

    placement = "outside"
    words = {"field": Vocabulary(tuple(FIELDS))}
    field = Property()
    result = Result()

    def rules(self, target: str) -> Iterator[Problem]:
        if element_name(self.result.type) is None or not element_of(self.result.type).is_integer:
            yield Problem(f"a register holds an integer, not {self.result.type}", at="result")
