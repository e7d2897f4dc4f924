"""Two profiles side by side: cycles, pipes, and lines that are the same text in both sources."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from difflib import SequenceMatcher
from functools import cached_property
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from ptosim.report.profile_text import MOST, caveat, count, cycles, line_number, origins, share, table
from ptosim.report.time_accounts import LineTime, PipeTime

if TYPE_CHECKING:
    from ptosim.report.profile import Profile
    from ptosim.report.saved_profile import SavedProfile

_NONE = PipeTime(0, 0, 0)
_CLOSE = 1.1
"""Closer ratios are told as a share."""


@dataclass(frozen=True, slots=True)
class LineDifference:
    """One line of the source in both profiles; None where only the other has it."""

    line: int | None
    other_line: int | None
    text: str
    critical: tuple[int, int]
    busy: tuple[int, int]
    waiting: tuple[int, int]


class Comparison:
    """The cycles of another variant of a kernel, or of another target, beside the first."""

    def __init__(self, first: Profile, second: Profile | SavedProfile) -> None:
        self.first = first
        self.second = second

    @property
    def speedup(self) -> float:
        """The cycles of the first over those of the second."""
        return self.first.cycles / self.second.cycles if self.second.cycles else 1.0

    @cached_property
    def pipes(self) -> dict[str, tuple[PipeTime, PipeTime]]:
        names = dict.fromkeys((*self.first.pipes, *self.second.pipes))
        return {name: (self.first.pipes.get(name, _NONE), self.second.pipes.get(name, _NONE)) for name in names}

    @cached_property
    def lines(self) -> Sequence[LineDifference]:
        """Lines whose cycles differ, the largest difference on the critical path first."""
        found = [
            entry for entry in self._lines() if any(a != b for a, b in (entry.critical, entry.busy, entry.waiting))
        ]
        return sorted(found, key=lambda entry: (-abs(_change(entry.critical)), -abs(_change(entry.busy))))

    def _lines(self) -> Iterator[LineDifference]:
        first = {entry.line: entry for entry in self.first.lines}
        second = {entry.line: entry for entry in self.second.lines}
        partner = dict(_matching(self.first.source.text, self.second.source.text))
        for line, entry in first.items():
            other = partner.get(line)
            text = self.first.source.line(line)
            yield _difference(line, other, text, entry, second.get(other) if other else None)
        matched = set(partner.values()) & {partner.get(line) for line in first}
        back = {other: line for line, other in partner.items()}
        for line, entry in second.items():
            if line not in matched:
                yield _difference(back.get(line), line, self.second.source.line(line), None, entry)

    def __str__(self) -> str:
        return self.text()

    def text(self, width: int = 100) -> str:
        """For a terminal of so many columns."""
        return _text(self, width)

    def to_json(self) -> dict[str, Any]:
        return {
            "cycles": [self.first.cycles, self.second.cycles],
            "speedup": self.speedup,
            "bound": [self.first.bound, self.second.bound],
            "pipes": {name: [asdict(one), asdict(other)] for name, (one, other) in self.pipes.items()},
            "lines": [asdict(entry) for entry in self.lines],
        }


def _change(pair: tuple[int, int]) -> int:
    return pair[1] - pair[0]


def _matching(first: str, second: str) -> Iterator[tuple[int, int]]:
    """Lines that are the same in both texts apart from blanks; between those, lines with the same instruction."""
    one, other = ([" ".join(line.split()) for line in text.split("\n")] for text in (first, second))
    for tag, low, high, other_low, other_high in SequenceMatcher(None, one, other, autojunk=False).get_opcodes():
        if tag == "equal":
            yield from ((low + place + 1, other_low + place + 1) for place in range(high - low))
        elif tag == "replace":
            words, others = list(map(_word, one[low:high])), list(map(_word, other[other_low:other_high]))
            for block in SequenceMatcher(None, words, others, autojunk=False).get_matching_blocks():
                for place in range(block.size):
                    yield low + block.a + place + 1, other_low + block.b + place + 1


def _word(line: str) -> str:
    """The instruction that a line holds; a flag or buffer with a computed id is the same instruction."""
    names = (word for word in line.replace("[", " ").split() if word.startswith(("pto.", "arith.", "scf.")))
    return next(names, line).removesuffix("_dyn")


def _difference(
    line: int | None, other: int | None, text: str, one: LineTime | None, two: LineTime | None
) -> LineDifference:
    def pair(name: str) -> tuple[int, int]:
        return (getattr(one, name) if one else 0), (getattr(two, name) if two else 0)

    return LineDifference(line, other, text, pair("critical"), pair("busy"), pair("waiting"))


# --- for the terminal -------------------------------------------------------------------------------------------------


_LONGEST = 30
"""Characters of a path."""
_LINE_HEADS = ("line", "other", "critical", "", "change", "busy", "", "waiting", "", "")


def _text(comparison: Comparison, width: int) -> str:
    first, second = comparison.first, comparison.second
    names = _names(first, second)
    rows = [
        ("cycles", count(first.cycles), count(second.cycles), _signed((first.cycles, second.cycles))),
        ("bound by", first.bound, second.bound, ""),
    ]
    parts = [
        table(("", *names, "difference"), rows, width),
        _verdict(comparison),
        table(("pipe", "busy", "", "difference", "waiting", "", "difference"), list(_pipe_rows(comparison)), width),
        table(_LINE_HEADS, list(_line_rows(comparison)), width),
        origins((first, second), width),
        caveat(width),
    ]
    return "\n\n".join(part for part in parts if part)


def _names(first: Profile, second: Profile | SavedProfile) -> tuple[str, str]:
    """Names that tell the two apart: files, by their last parts where those differ, or targets."""
    one, other = first.source.name, second.source.name
    if one != other:
        files = PurePath(one).name, PurePath(other).name
        return files if files[0] != files[1] else (_end_of(one), _end_of(other))
    one, other = first.target.name, second.target.name
    return one, other if one != other else f"{other}, changed"


def _end_of(path: str) -> str:
    return path if len(path) <= _LONGEST else f"...{path[3 - _LONGEST :]}"


def _verdict(comparison: Comparison) -> str:
    speedup = comparison.speedup
    if speedup == 1:
        return "no difference in cycles"
    word, ratio = ("fewer", speedup) if speedup > 1 else ("more", 1 / speedup)
    if ratio < _CLOSE:
        before, after = comparison.first.cycles, comparison.second.cycles
        how, change = "faster" if after < before else "slower", abs(after - before)
        return f"the second is {share(change, before)} {how} ({count(change)} of {cycles(before)})"
    return f"the second takes {ratio:.2f} times {word} cycles"


def _pipe_rows(comparison: Comparison) -> Iterator[Sequence[str]]:
    for name, (one, other) in comparison.pipes.items():
        busy, waiting = (one.busy, other.busy), (one.waiting, other.waiting)
        yield name, *map(count, busy), _signed(busy), *map(count, waiting), _signed(waiting)


def _line_rows(comparison: Comparison) -> Iterator[Sequence[str]]:
    for entry in comparison.lines[: 2 * MOST]:
        places = line_number(entry.line), line_number(entry.other_line)
        critical = (*map(count, entry.critical), _signed(entry.critical))
        yield *places, *critical, *map(count, (*entry.busy, *entry.waiting)), " ".join(entry.text.split())


def _signed(pair: tuple[int, int]) -> str:
    change = _change(pair)
    return f"{change:+,}" if change else ""
