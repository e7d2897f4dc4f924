"""What lowerings need and hardware has no instruction for: conditions that only the run can know.

These operations are written by passes. They load again as any other text does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from string import Formatter
from typing import Any

from xdsl.dialects.builtin import i1

from ptosim.diagnostics import SEVERITY
from ptosim.language.operands import are_type, nth
from ptosim.language.operation import Operand, OptionalProperty, Problem, Property, PTOOperation, VariadicOperand
from ptosim.language.syntax import Vocabulary
from ptosim.language.types import element_name, element_of

KINDS = Vocabulary(tuple(SEVERITY))
SEVERITIES = Vocabulary(("error", "warning"))

MOST_VALUES = 2
"""What an error of a compiled kernel can carry."""


class SimRequire(PTOOperation):
    """Require a condition that only the run can decide.

    Where the condition is false, a check reports a finding of this kind and goes on; its severity is that of the kind
    unless one is given. A run ignores it, unless it is `fatal`: then it ends with the error. Up to two integers behind
    the condition fill the `{}` of the message. It takes no time.

        pto.sim.require %ok {kind = "invalid", message = "the valid rows exceed those of the tile"} : i1
        pto.sim.require %ok, %rows {kind = "out-of-bounds", message = "row {} is outside", fatal} : i1, index
    """

    name = "pto.sim.require"
    form = "$condition{, $values...}"
    words = {"kind": KINDS, "severity": SEVERITIES}
    placement = "outside"
    condition = Operand()
    values = VariadicOperand()
    kind = Property()
    message = Property()
    severity = OptionalProperty()
    fatal = OptionalProperty()

    def facts(self) -> Mapping[str, Any]:
        severity = self.word("severity") or SEVERITY[self.word("kind") or ""]
        return {"severity": severity, "fatal": self.fatal is not None}

    def rules(self, target: str) -> Iterator[Problem]:
        yield from are_type(self, i1, "condition")
        for index, value in enumerate(self.values):
            if element_name(value.type) is None or element_of(value.type).is_float:
                yield Problem(f"a message shows integers, not {value.type}", at=nth("values", index))
        if len(self.values) > MOST_VALUES:
            yield Problem(f"a message shows at most {MOST_VALUES} values", at=nth("values", MOST_VALUES))
        if (text := self.word("message")) is None:
            yield Problem("message must be a text", at="message")
        elif _places(text) != len(self.values):
            yield Problem(f"the message must have one {{}} for each value: {len(self.values)} of them", at="message")


def _places(text: str) -> int | None:
    """How many values a text has room for; None where something else stands in braces."""
    try:
        fields = [field[1:] for field in Formatter().parse(text) if field[1] is not None]
    except ValueError:
        return None
    return len(fields) if all(field == ("", "", None) for field in fields) else None
