"""Edits of signals that name no pipe, such as `pto.set_cross_core %core_id, %id : i64, i64`: the whole core signals, or
waits.

Their ids are values, so a line that is missing is written in the words of the others, or of the partner of one of them:
next to the signals of its core and to its accesses of memory. One too many is deleted. A trial decides.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from xdsl.ir import Block, Operation

from ptosim.effects.names import CoreKind
from ptosim.language.edits import Edit
from ptosim.language.micro.scope import Section
from ptosim.language.operation import core_of
from ptosim.repair.proposal import Proposal
from ptosim.repair.written import PARTNER, SIGNAL_WAITS, SIGNALS
from ptosim.sanitize.observation import Imbalance, Observation

_WRITTEN = re.compile(r"(pto\.[\w.]+)((?:\s+%\w+\s*,)?\s+%\w+\s*:\s*i64.*)")


class WholeCoreSignals:
    """Proposes what would balance the semaphores of a run whose signals name no pipe."""

    def __init__(self, observation: Observation) -> None:
        self.program = observation.program
        signals = [op for op in self.program.operations() if op.name in SIGNALS | SIGNAL_WAITS]
        self.lines = {op: found for op in signals if (found := self._words(op)) is not None}
        self.imbalances = [each for each in observation.imbalances if each.key.mechanism == "semaphore"]

    def proposals(self) -> Iterator[Proposal]:
        for imbalance in self.imbalances if self.lines else ():
            yield from (Proposal((edit,)) for edit in self._edits(imbalance))

    def _words(self, op: Operation) -> tuple[str, str] | None:
        """The name of a signal and its operands, on a line of its own."""
        line = self.program.first_line(op)
        found = _WRITTEN.fullmatch(self.program.source.line(line).partition("//")[0].strip())
        return (found[1], found[2]) if found and self.program.last_line(op) == line else None

    def _edits(self, imbalance: Imbalance) -> Iterator[Edit]:
        own = self.program.of(imbalance.site)
        if own is None or own not in self.lines:
            return
        name, operands = self.lines[own]
        alike = [op for op, words in self.lines.items() if words == (name, operands) and core_of(op) is core_of(own)]
        if len(alike) > 1:  # it is there twice
            yield self.program.instead(own, "")
        other = imbalance.key.destination if own.name in SIGNALS else imbalance.key.source
        core = CoreKind.AIC if other == "aic" else CoreKind.AIV
        missing = PARTNER[own.name]
        others = [words for op, (_, words) in self.lines.items() if core_of(op) is core]
        for text in dict.fromkeys(f"{self._spelled(missing)}{words}" for words in (operands, *others)):
            yield from self._places(core, text, missing in SIGNAL_WAITS)
        if len(alike) == 1:
            yield self.program.instead(own, "")

    def _spelled(self, name: str) -> str:
        """An operation as the text spells it, where it has an older name as well."""
        spelled = {op.name: words[0] for op, words in self.lines.items()}
        return spelled.get(name, name)

    def _places(self, core: CoreKind, text: str, is_wait: bool) -> Iterator[Edit]:
        """In front of the entries of a core, for a wait, or behind them; from its signals on."""
        blocks = dict.fromkeys(op.parent_block() for op in self.lines if core_of(op) is core)
        sections = [op for op in self.program.operations() if isinstance(op, Section) and op.core is core]
        blocks |= dict.fromkeys(section.body.block for section in sections)
        put, other = self.program.before, self.program.after
        put, other = (put, other) if is_wait else (other, put)
        for block in blocks:
            if block is not None:
                found = self._done(block)
                for op in found if is_wait else reversed(found):
                    yield put(op, text)
                for op in found[-1:] if is_wait else found[:1]:
                    yield other(op, text)

    def _done(self, block: Block) -> list[Operation]:
        """Operations of a core in a block: its signals, and all that gives no value."""
        return [op for op in block.ops if op in self.lines or (not op.results and op.name.startswith("pto."))]
