"""Repairs from order: what is written between two pipes is taken away, what is missing is inserted, and the difference
is shown. Written lines that the result has as well stay: inserted flags get the ids that were written there.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from difflib import SequenceMatcher

from ptosim.diagnostics import Source
from ptosim.language.edits import Edit, insert, whole_line
from ptosim.language.micro.sync import Barrier
from ptosim.machine.entry import Key
from ptosim.sanitize.conflict import Conflict
from ptosim.sanitize.observation import Observation

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


def edits_between(source: Source, text: str) -> tuple[Edit, ...]:
    """The edits from one text to another, line by line."""
    old, new = source.text.split("\n"), with_written_ids(source.text, text).split("\n")
    return tuple(_edits(source, [line.strip() for line in old], [line.strip() for line in new]))


def _edits(source: Source, old: Sequence[str], new: Sequence[str]) -> Iterator[Edit]:
    for what, low, high, first, last in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if what == "equal":
            continue
        yield from (Edit("at", whole_line(source, line + 1)) for line in range(low, high))
        for added in new[first:last]:
            if high < len(old):
                yield insert("before", whole_line(source, high + 1), added)
            else:
                yield insert("after", whole_line(source, len(old)), added)


def drains(edit: Edit) -> bool:
    """Whether it ends everything, as insertion does before a kernel returns, wanted or not."""
    return edit.where != "at" and edit.operation.startswith(Barrier.name) and "PIPE_ALL" in edit.operation


def with_written_ids(before: str, after: str) -> str:
    """The text with other ids for its flags, so that as many lines as possible are as they were written."""
    old, new = before.split("\n"), after.split("\n")
    votes = Counter[tuple[str, str, str, str]]()
    masked = [[_FLAG.sub(r"\1#\5", line.strip()) for line in lines] for lines in (old, new)]
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
    return "\n".join(
        _FLAG.sub(lambda found: found[1] + named[found[2], found[3], found[4]] + found[5], line) for line in new
    )
