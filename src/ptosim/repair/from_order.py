"""Repairs from order: what is written between two pipes is taken away, what is missing is inserted, and the difference
is shown. Written lines that the result has as well stay: inserted flags get the ids that were written there.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from functools import cached_property
from itertools import groupby, takewhile

from ptosim.language.edits import Edit, whole_line
from ptosim.language.micro.sync import Barrier, SetFlag, WaitFlag
from ptosim.language.structure.control import For, While
from ptosim.machine.entry import Key
from ptosim.repair.written import WrittenSync, event_of, flag_words, in_classes, read
from ptosim.sanitize.conflict import Conflict
from ptosim.sanitize.observation import Observation
from ptosim.sanitize.program import WrittenProgram

PRIME, DRAIN = "prime", "drain"
Ends = frozenset[str]
"""Two pipes."""
Completed = Callable[[Collection[Ends] | None], str | None]
"""The text without the flags between some pipes, or without any flags and buffers, and with what it then lacks; None
where that cannot be told."""

_FLAG = re.compile(r'(pto\.(?:set|wait)_flag\[\s*"PIPE_(\w+)",\s*"PIPE_(\w+)",\s*"EVENT_ID)(\d)(".*)', re.DOTALL)


def ends_of(observation: Observation) -> list[Ends]:
    """The pipes that findings are between."""
    found: list[Ends] = []
    for each in observation.found:
        if isinstance(each, Conflict) and each.first is not None and each.first.role == each.second.role:
            found.append(frozenset((str(each.first.pipe), str(each.second.pipe))))
    keys = (each.key for each in observation.imbalances)
    found += [_ends(key) for key in keys if key.mechanism == "flag"]
    return [ends for ends in dict.fromkeys(found) if len(ends) == 2]


def _ends(key: Key) -> Ends:
    return frozenset((str(key.source), str(key.destination)))


def edits_between(program: WrittenProgram, text: str) -> tuple[Edit, ...]:
    """The edits that make another text of a program, line by line."""
    return tuple(_Difference(program, text).edits())


class _Difference:
    """The lines of a program beside those of a text that order made of it."""

    def __init__(self, program: WrittenProgram, text: str) -> None:
        self.source = program.source
        self.old = _stripped(self.source.text)
        self.new = as_written(self.old, _stripped(text))
        self.steps = SequenceMatcher(None, self.old, self.new, autojunk=False).get_opcodes()
        loops = [op for op in program.operations() if isinstance(op, For | While)]
        spans = [(program.first_line(loop) - 1, program.last_line(loop) - 1) for loop in loops]
        self.begins, self.ends = {span[0]: span for span in spans}, {span[1]: span for span in spans}

    def edits(self) -> Iterator[Edit]:
        for what, low, high, first, last in self.steps:
            if what == "equal":
                continue
            yield from (Edit("at", whole_line(self.source, line + 1)) for line in range(low, high))
            added = [(line, self._comment(line, low, high)) for line in self.new[first:last]]
            behind = list(takewhile(_stands_behind, added)) if low == high and self._ends_operation(low - 1) else []
            for number, (line, comment) in enumerate(added):
                is_behind = number < len(behind) or high == len(self.old)
                place = whole_line(self.source, high if is_behind else high + 1)
                yield Edit("after" if is_behind else "before", place, line, comment)

    def _ends_operation(self, line: int) -> bool:
        return line >= 0 and bool(_code(self.old[line])) and not _code(self.old[line]).endswith("{")

    def _comment(self, line: str, low: int, high: int) -> str:
        """Whether a flag that is inserted in place of some lines primes the loop behind them, which waits for it before
        it sets it, or drains the one in front of them."""
        words = read(line)
        if words is None or words.mechanism != "flag":
            return ""
        if words.sign > 0:
            begin = next((at for at in range(high, len(self.old)) if not self._is_passed(at)), -1)
            inside = self._inside(words, self.begins.get(begin))
            return PRIME if inside and inside[0].sign < 0 else ""
        end = next((at for at in reversed(range(low)) if not self._is_passed(at)), -1)
        inside = self._inside(words, self.ends.get(end))
        return DRAIN if inside and inside[-1].sign > 0 else ""

    def _is_passed(self, line: int) -> bool:
        """Whether nothing stands there but other synchronisation beside a loop."""
        return not _code(self.old[line]) or read(self.old[line]) is not None

    def _inside(self, words: WrittenSync, loop: tuple[int, int] | None) -> list[WrittenSync]:
        """The operations of a flag in a loop of the program, as order has made it; a computed id may be its own."""
        begin, end = (self._kept.get(line) for line in loop or (-1, -1))
        lines = [] if begin is None or end is None else self.new[begin : end + 1]
        return [
            each
            for each in map(read, lines)
            if each is not None and each.mechanism == "flag" and each.pipes == words.pipes
            if each.number == words.number or each.number is None or words.number is None
        ]

    @cached_property
    def _kept(self) -> dict[int, int]:
        """The new places of lines that stay."""
        same = [(low, high, first) for what, low, high, first, _ in self.steps if what == "equal"]
        return {line: line - low + first for low, high, first in same for line in range(low, high)}


def _code(line: str) -> str:
    return line.partition("//")[0].rstrip()


def _stands_behind(added: tuple[str, str]) -> bool:
    """Whether an inserted line belongs to the operation in front of it: a set to the access that it tells of."""
    line, comment = added
    words = read(line)
    is_set = words is not None and words.mechanism == "flag" and words.sign > 0
    return comment == DRAIN or (is_set and comment != PRIME)


def parted(edits: tuple[Edit, ...], groups: Iterable[Ends | None]) -> dict[Ends | None, tuple[Edit, ...]]:
    """The edits for races between some pipes each: those of their flags, and of barriers of their pipe. The first group
    has what belongs to none; one without edits of its own has those of the first that has some. Where ids are computed,
    all have all of them."""
    if not (order := list(groups)):
        return {}
    first, *others = order
    found: dict[Ends | None, list[Edit]] = {first: []}
    for edit in edits:
        words = read(edit.operation or edit.place.words)
        if words is None or (words.mechanism is not None and words.number is None):
            return dict.fromkeys((first, *others), edits)
        ends = frozenset(words.pipes)
        found.setdefault(ends if ends in others else first, []).append(edit)
    some = next(filter(None, map(found.get, (first, *others))), found[first])
    return {each: tuple(found.get(each) or some) for each in (first, *others)}


def drains(edit: Edit) -> bool:
    """Whether it ends everything, as insertion does before a kernel returns, wanted or not."""
    return edit.where != "at" and edit.operation.startswith(Barrier.name) and "PIPE_ALL" in edit.operation


def _stripped(text: str) -> list[str]:
    return [line.strip() for line in text.split("\n")]


def as_written(old: Sequence[str], new: Sequence[str]) -> list[str]:
    """Lines with the ids that their flags had, in their words, and side by side in their order."""
    flags = {line: words for line in old if (words := read(line)) is not None and words.mechanism == "flag"}
    spelled = {(each.sign, each.pipes, each.number): _code(line) for line, each in flags.items()}
    event = event_of(flags.values())

    def plain(line: str) -> str:
        words = flags.get(line)
        if words is None or words.number is None or len(words.pipes) < 2:
            return line
        source, destination = words.pipes
        return flag_words(source, destination, words.number)[words.sign < 0]

    def in_its_words(line: str) -> str:
        words = read(line)
        if words is None or words.name not in (SetFlag.name, WaitFlag.name) or line in flags:
            return line
        was = spelled.get((words.sign, words.pipes, words.number))
        return was or (line if event is None else in_classes(line, event))

    named = with_written_ids([plain(line) for line in old], new)
    return list(_in_written_order(old, [in_its_words(line) for line in named]))


def _in_written_order(old: Sequence[str], new: Sequence[str]) -> Iterator[str]:
    """Sets, or waits, that stand side by side may do so in any order."""
    runs = [tuple(run) for side, run in groupby(old, _side) if side]
    for side, run in groupby(new, _side):
        lines = list(run)
        best = max(runs, key=lambda each: len({*each} & {*lines}), default=()) if side else ()
        yield from sorted(lines, key=lambda line: best.index(line) if line in best else len(best))


def _side(line: str) -> int:
    words = read(line)
    return words.sign if words is not None and words.mechanism == "flag" else 0


def with_written_ids(old: Sequence[str], new: Sequence[str]) -> list[str]:
    """Lines with other ids for their flags, so that as many as possible are as they were written."""
    votes = Counter[tuple[str, str, str, str]]()
    masked = [[_FLAG.sub(r"\1#\5", line) for line in lines] for lines in (old, new)]
    for block in SequenceMatcher(None, *masked, autojunk=False).get_matching_blocks():
        for was, now in zip(old[block.a :][: block.size], new[block.b :][: block.size], strict=True):
            if (one := _FLAG.search(was)) and (other := _FLAG.search(now)):
                votes[one[2], one[3], other[4], one[4]] += 1
    named: dict[tuple[str, str, str], str] = {}
    for (source, destination, now, was), _ in votes.most_common():
        taken = {id_ for (*ends, _), id_ in named.items() if ends == [source, destination]}
        if (source, destination, now) not in named and was not in taken:
            named[source, destination, now] = was
    keys = {(found[2], found[3], found[4]) for line in new if (found := _FLAG.search(line))}
    for source, destination, now in sorted(keys - named.keys()):
        taken = {id_ for (*ends, _), id_ in named.items() if ends == [source, destination]}
        named[source, destination, now] = next(id_ for id_ in (now, *"01234567") if id_ not in taken)
    return [_FLAG.sub(lambda found: found[1] + named[found[2], found[3], found[4]] + found[5], line) for line in new]
