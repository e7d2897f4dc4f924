"""The sums of a run: for each key the sets less the waits, and the same after an edit.

An instruction that goes into a block is executed as often as the block; a computed id takes the values that another
instruction with the same id took there. What cannot be foretold is None. This only says which edits are worth a trial:
a text whose sums are all zero may still be out of order.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

from xdsl.ir import Block, Operation

from ptosim.language.operation import core_of
from ptosim.language.structure.control import For
from ptosim.machine.entry import Key, Site
from ptosim.repair.places import ends_program
from ptosim.repair.possible_values import possible
from ptosim.repair.written import SETS, SIGNALS, Mechanism, WrittenSync, written
from ptosim.sanitize.observation import Observation
from ptosim.sanitize.program import WrittenProgram
from ptosim.target import load_target

BOTH = "both aiv"


class Token(NamedTuple):
    """A key of one core."""

    role: str
    """The core whose it is; none for what cores share."""
    mechanism: Mechanism
    id: int
    source: str
    """The source pipe; for a buffer its pipe."""
    destination: str = ""


Change = Counter[Token]
"""Tokens that are added, and with numbers below 0 removed."""


class Balance:
    """The sums of one run."""

    def __init__(self, observation: Observation) -> None:
        self.observation = observation
        self.program = observation.program
        self.direct = self.program.target != "a2a3"
        self.offset = load_target(self.program.target).sync.subblock_sem_offset
        operations = self.program.operations()
        self.written = {op: words for op in operations if (words := written(self.program, op)) is not None}
        """Operations on lines of their own, with their words."""
        self.changes: dict[Operation, Change] = {}
        self._numbers: dict[Operation, dict[str, Counter[int]]] = {}
        """The ids that an instruction has named, counted by core."""
        self.issued: dict[Operation, Counter[str]] = {}
        """The executions, by core."""
        self._add_up()
        self.off: Change = Counter()
        for change in self.changes.values():
            self.off.update(change)
        self.is_whole = all(map(self._is_last, observation.standing))
        """Every program was issued to its end."""
        if not self.is_whole:
            self.off = Counter({token: sign for sign, token in (*self._orphans(), *self._imbalances())})
        self.off = Counter({token: count for token, count in self.off.items() if count})

    def _is_last(self, site: Site) -> bool:
        """Whether nothing but computations follows where a scalar unit stands."""
        op = self.program.of(site)
        return op is not None and ends_program(op)

    def _add_up(self) -> None:
        for (site, role, key), count in self.observation.steps.items():
            op = self.program.of(site)
            if op is None:
                continue
            words = self.written.get(op)
            if key is None or words is None or key.mechanism != words.mechanism:
                issued = self.issued.setdefault(op, Counter())
                issued[role] = max(issued[role], count)
                continue
            self.issued.setdefault(op, Counter())[role] += count
            number = self._number(role, key)
            self._numbers.setdefault(op, {}).setdefault(role, Counter())[number] += count
            change = self.changes.setdefault(op, Counter())
            change.update(dict.fromkeys(self._tokens(words, role, number), words.sign * count))

    def _number(self, role: str, key: Key) -> int:
        """The id as this core spells it."""
        other = key.destination if key.source == role else key.source
        named = key.mechanism == "semaphore" and role == "aic" and self.direct and other == "aiv1"
        return key.id + self.offset * named

    def _tokens(self, words: WrittenSync, role: str, number: int) -> Iterator[Token]:
        """The keys that an instruction names on a core."""
        if words.mechanism == "flag":
            yield Token(role, "flag", number, *words.pipes)
        elif words.mechanism == "buffer":
            yield Token(role, "buffer", number, words.pipes[0])
        else:
            others = (
                ("aic",) if role != "aic" else (f"aiv{number // self.offset}",) if self.direct else ("aiv0", "aiv1")
            )
            id_ = number % self.offset if role == "aic" else number
            for other in others:
                one, another = (role, other) if words.sign > 0 else (other, role)
                yield Token("", "semaphore", id_, one, another)

    def _imbalances(self) -> Iterator[tuple[int, Token]]:
        """The state of cores that did not get to the end of their programs: what was missing, or too much."""
        for each in self.observation.imbalances:
            key, sign = each.key, 1 if each.site.name in SETS | SIGNALS else -1
            if key.mechanism == "semaphore":
                for source in ("aiv0", "aiv1") if key.source == BOTH else (key.source,):
                    for destination in ("aiv0", "aiv1") if key.destination == BOTH else (key.destination,):
                        yield sign, Token("", "semaphore", key.id, source, destination)
            elif key.mechanism == "flag":
                roles = {role for site, role, other in self.observation.steps if other == key and site is each.site}
                for role in roles:
                    yield sign, Token(role, "flag", key.id, key.source, key.destination)

    def _orphans(self) -> Iterator[tuple[int, Token]]:
        """Keys that are only put or only taken in the text, as far as their ids are written there."""
        signs: dict[Token, set[int]] = {}
        computed: set[tuple[str, str]] = set()
        for op, words in self.written.items():
            for role in self._roles(op) if words.mechanism in ("flag", "semaphore") else ():
                for token in self._tokens(words, role, words.number or 0):
                    if words.number is None:
                        computed.add((token.source, token.destination))
                    else:
                        signs.setdefault(token, set()).add(words.sign)
        for token, sides in signs.items():
            if len(sides) == 1 and (token.source, token.destination) not in computed:
                yield sides.pop(), token

    def _roles(self, op: Operation) -> set[str]:
        """The cores that run the program of an operation."""
        core = core_of(op)
        roles = {role for _, role, _ in self.observation.steps}
        return roles if core is None else {role for role in roles if role.startswith(core.lower())}

    # --- what an edit would do ----------------------------------------------------------------------------------------

    def of(self, op: Operation) -> Change:
        """Counts that an instruction has put and taken."""
        return self.changes.get(op, Counter())

    def named(self, op: Operation) -> frozenset[Token]:
        """The keys that an instruction names on the cores that run it, whether they got there or not; none where the id
        is computed."""
        words = self.written[op]
        if words.number is None:
            return frozenset()
        return frozenset(token for role in self._roles(op) for token in self._tokens(words, role, words.number))

    def missing(self, op: Operation) -> frozenset[int]:
        """The keys that an instruction could name with another id, and that lack its token."""
        words, found = self.written[op], set[int]()
        for role in self.issued.get(op, ()):
            numbers = range(
                2 * self.offset if words.mechanism == "semaphore" and role == "aic" and self.direct else self.offset
            )
            lacking = [n for n in numbers if any(self.off[t] * words.sign < 0 for t in self._tokens(words, role, n))]
            found.update(lacking)
        return frozenset(found)

    def foretold(self, words: WrittenSync, block: Block | None) -> Change | None:
        """Counts that an instruction would put and take if it stood in a block."""
        if words.mechanism is None:
            return Counter()
        times = self._times.get(block, Counter())
        change: Change = Counter()
        for role, count in times.items():
            number = words.number
            numbers = Counter({number: count}) if number is not None else self._values(words, role, block, count)
            if numbers is None:
                return None
            for each, often in numbers.items():
                change.update(dict.fromkeys(self._tokens(words, role, each), words.sign * often))
        return change if times else None

    @cached_property
    def _times(self) -> dict[Block | None, Counter[str]]:
        """The executions of each block, by core."""
        times: dict[Block | None, Counter[str]] = {}
        for op, issued in self.issued.items():
            block = op.parent_block()
            times[block] = times.get(block, Counter()) | issued
        return times

    def _values(self, words: WrittenSync, role: str, block: Block | None, count: int) -> Counter[int] | None:
        """Values of a computed id, for instructions that name it and are executed as often."""
        for op, other in self.written.items():
            seen = self._numbers.get(op, {}).get(role)
            if seen and other.id == words.id and (op.parent_block() is block or seen.total() == count):
                return seen
        around = induction(self.program, block)
        if around is None or around[0] != words.id or count % len(around[1]):
            return None
        return Counter(dict.fromkeys(around[1], count // len(around[1])))

    def rank(self, change: Change | None) -> int:
        """A grade: 0 where all sums become zero, 1 where they come nearer, 2 where it is unknown, 3 where
        they do not. If a program was not issued to its end, 0 where it mends two of the keys that are known to be off,
        or the only one, 1 where it mends one."""
        if change is None:
            return 2
        if self.is_whole:
            after = {token: self.off[token] + change[token] for token in {*self.off, *change}}
            if not any(after.values()):
                return 0
            return 1 if sum(map(abs, after.values())) < sum(map(abs, self.off.values())) else 3
        if not self.off:
            return 2
        helps = [token for token, count in change.items() if self.off[token] * count < 0]
        changed = [count for count in change.values() if count]
        if not helps or len(helps) < len(changed):
            return 2 if helps else 3
        return 0 if len(helps) >= min(2, len(self.off)) else 1


def induction(program: WrittenProgram, block: Block | None) -> tuple[str, frozenset[int]] | None:
    """The name of the loop index that a block is executed with, and its values, where these are known."""
    loop = block.parent_op() if block is not None else None
    if block is None or not isinstance(loop, For):
        return None
    found = re.search(r"scf\.for\s+(%\w+)", program.source.line(program.first_line(loop)))
    values = possible(block.args[0])
    return (found[1], values) if found and values else None
