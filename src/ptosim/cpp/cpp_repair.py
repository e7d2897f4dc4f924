"""Repairs of kernels in C++: edits of the author's file, each tried by recording the edited file again.

The flags of the file itself say most: an edge that is set and not waited for, an id that a loop computes. What is tried
stands on the line of its neighbour, so that lines keep their numbers.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from ptosim.cpp.cpp_source import without_comments
from ptosim.diagnostics import Diagnostic, Replacement, Source
from ptosim.tiles.fifo.lower_fifos import UNFREED

Fault = tuple[str, int]
"""The kind and the line of a finding."""

MOST_TRIALS = 12
ORDER = frozenset({"race", "deadlock", "unmatched-wait", "double-set", "undrained", "semaphore-overflow"})
_FLAG = re.compile(r"\b(set|wait)_flag\s*\(\s*PIPE_(\w+)\s*,\s*PIPE_(\w+)\s*,\s*([^;]+?)\s*\)\s*;")
_EVENT = re.compile(r"\bEvent\s*<[^;>]*>\s*(\w+(?:\s*,\s*\w+)*)")
_TAG = re.compile(r"\bRecordEvent\s+(\w+)\s*=")
_POP = re.compile(r"\bTPOP\s*(?:<(.*?)>)?\s*\(\s*(\w+)\s*,\s*(\w+)")
_IDS = 8


@dataclass(frozen=True)
class Insertion:
    """A statement before or behind the statement at a line."""

    where: str
    line: int
    statement: str

    def __str__(self) -> str:
        return f"{self.where} line {self.line} add {self.statement}"


@dataclass(frozen=True)
class WrittenFlag:
    """A flag as the file has it."""

    word: str
    source: str
    target: str
    id: str
    line: int


@dataclass(frozen=True)
class CppRepair:
    """Findings with hints that were tried, and the file with all of them."""

    findings: tuple[Diagnostic, ...]
    text: str
    left: tuple[Diagnostic, ...]


def mend(
    findings: Sequence[Diagnostic],
    source: Source,
    works: Sequence[tuple[str, int]],
    trial: Callable[[str], frozenset[Fault] | None],
) -> CppRepair | None:
    """Edits that remove errors, as far as some are found. `works`: the pipes of the operations at each line, in the
    order of the recording; `trial`: what a check finds in an edited file."""
    errors = [each for each in findings if (each.severity == "error" and each.kind in ORDER) or _is_unfreed(each)]
    if not errors or any(each.location is None or each.location.file != source.name for each in errors):
        return None
    faults = frozenset(_fault(each) for each in findings if each.kind in ORDER)
    state = _State(source, works, faults, trial, [each.line for each in findings if _is_unfreed(each) and each.line])
    hinted, gone = dict[int, Diagnostic](), list[Diagnostic]()
    for number, lead in enumerate(errors):
        if _fault(lead) not in state.faults:
            gone.append(lead)
            continue
        removed = state.repaired(lead)
        if removed is not None:
            hinted[number] = replace(lead, hint="\n".join(map(str, removed)), edits=state.replacements(removed))
    if not hinted:
        return None
    following = [
        each for each in findings if each not in errors and each.kind in ORDER and _fault(each) not in state.faults
    ]
    first = min(hinted)
    hinted[first] = replace(hinted[first], consequences=(*hinted[first].consequences, *gone, *following))
    left = [each for number, each in enumerate(errors) if number not in hinted and each not in gone]
    others = [each for each in findings if each not in errors and each not in following]
    kept = sorted((*hinted.values(), *left), key=lambda each: each.line or 0)
    return CppRepair((*kept, *others), state.written(), tuple(left))


def _fault(finding: Diagnostic) -> Fault:
    return finding.kind, finding.line or 0


def _is_unfreed(finding: Diagnostic) -> bool:
    """Whether it is a TPOP whose entries nothing frees."""
    return finding.kind == "undrained" and finding.message == UNFREED


class _State:
    """The file with the edits so far, and what a check finds in it."""

    def __init__(
        self,
        source: Source,
        works: Sequence[tuple[str, int]],
        faults: frozenset[Fault],
        trial: Callable[[str], frozenset[Fault] | None],
        unfreed: Sequence[int] = (),
    ) -> None:
        self.source = source
        self.unfreed = unfreed
        self.works = works
        self.faults = faults
        self.insertions: list[Insertion] = []
        self._trial = trial
        self._left = MOST_TRIALS
        self._tried: set[tuple[Insertion, ...]] = set()

    def repaired(self, finding: Diagnostic) -> tuple[Insertion, ...] | None:
        """The first edits of those proposed that remove a finding and add none. A run that a deadlock cut short has not
        come to flags that are set again too early: where no edit does without, those with the fewest of them."""
        second: tuple[frozenset[Fault], tuple[Insertion, ...]] | None = None
        frees = _frees(self.source, self.unfreed) if finding.kind != "race" else ()
        for edits in chain(frees, proposals(finding, self.source, self.works)):
            if edits in self._tried or self._left <= 0:
                continue
            self._tried.add(edits)
            self._left -= 1
            found = self._trial(_applied(self.source, [*self.insertions, *edits]))
            if found is None or _fault(finding) in found:
                continue
            if found < self.faults:
                return self._taken(found, edits)
            known = frozenset(each for each in found if each[0] != "double-set")
            if finding.kind == "deadlock" and known < self.faults and (second is None or len(found) < len(second[0])):
                second = found, edits
        return None if second is None else self._taken(*second)

    def _taken(self, faults: frozenset[Fault], edits: tuple[Insertion, ...]) -> tuple[Insertion, ...]:
        self.faults = faults
        self.insertions += edits
        return edits

    def replacements(self, edits: Sequence[Insertion]) -> tuple[Replacement, ...]:
        found = list[Replacement]()
        for edit in edits:
            at = edit.line if edit.where == "before" else _end(self.source, edit.line) + 1
            indent = re.match(r"[ \t]*", self.source.line(edit.line))
            found.append(Replacement(at, 0, f"{indent[0] if indent else ''}{edit.statement}\n"))
        return tuple(found)

    def written(self) -> str:
        """The file with all edits, each on a line of its own."""
        lines = self.source.text.split("\n")
        for each in sorted(self.replacements(self.insertions), key=lambda each: each.line, reverse=True):
            lines[each.line - 1 : each.line - 1] = each.text.rstrip("\n").split("\n")
        return "\n".join(lines)


# --- proposals --------------------------------------------------------------------------------------------------------


def proposals(finding: Diagnostic, source: Source, works: Sequence[tuple[str, int]]) -> Iterator[tuple[Insertion, ...]]:
    """Edits that may remove a finding, the likeliest first."""
    flags = written_flags(source.text)
    if finding.kind == "race":
        yield from _for_race(finding, flags, source)
    elif finding.kind in ("unmatched-wait", "deadlock"):
        yield from _for_wait(finding, flags, source, works)


def written_flags(text: str) -> list[WrittenFlag]:
    plain = without_comments(text)
    return [
        WrittenFlag(found[1], found[2], found[3], " ".join(found[4].split()), plain.count("\n", 0, found.start()) + 1)
        for found in _FLAG.finditer(plain)
    ]


def _for_race(finding: Diagnostic, flags: Sequence[WrittenFlag], source: Source) -> Iterator[tuple[Insertion, ...]]:
    if not finding.label or not finding.related or finding.line is None:
        return
    target, source_pipe = finding.label.split()[0], finding.related[0].role.split()[0]
    first = finding.related[0].location.line
    if source_pipe == target:
        yield (Insertion("before", finding.line, f"pipe_barrier(PIPE_{target});"),)
        return
    mine = [each for each in flags if (each.source, each.target) == (source_pipe, target)]
    counts = Counter(each.id for each in mine if each.word == "set")
    counts.subtract(each.id for each in mine if each.word == "wait")
    sets = [each.id for each in sorted(mine, key=lambda each: abs(each.line - first)) if each.word == "set"]
    for id in sorted(dict.fromkeys(sets), key=lambda id: -counts[id]):
        yield (Insertion("before", finding.line, f"wait_flag(PIPE_{source_pipe}, PIPE_{target}, {id});"),)
    for name in _events(source):
        yield (Insertion("before", finding.line, f"{name}.Wait();"),)
    used = {each.id for each in mine}
    free = next((f"EVENT_ID{number}" for number in range(_IDS) if f"EVENT_ID{number}" not in used), None)
    if free is not None and not any("(" in id for id in used):
        edge = f"(PIPE_{source_pipe}, PIPE_{target}, {free});"
        yield (Insertion("after", first, f"set_flag{edge}"), Insertion("before", finding.line, f"wait_flag{edge}"))
    for name in dict.fromkeys(_TAG.findall(without_comments(source.text))):
        yield (Insertion("before", finding.line, f"TSYNC({name});"),)


def _events(source: Source) -> list[str]:
    found = [name for match in _EVENT.finditer(without_comments(source.text)) for name in re.findall(r"\w+", match[1])]
    return list(dict.fromkeys(found))


def _for_wait(
    finding: Diagnostic, flags: Sequence[WrittenFlag], source: Source, works: Sequence[tuple[str, int]]
) -> Iterator[tuple[Insertion, ...]]:
    """A set for a wait: behind the work of its pipe that comes before, or beside sets that prime other edges."""
    line = finding.line or 0
    for wait in (each for each in flags if each.word == "wait" and each.line == line):
        set_of = f"set_flag(PIPE_{wait.source}, PIPE_{wait.target}, "
        lines = list(dict.fromkeys(at for pipe, at in works if pipe == wait.source))
        before = sorted((at for at in lines if at < line), reverse=True)
        behind = sorted((at for at in lines if at >= line), reverse=True)
        ordered = (
            [*behind[:2], *before[:3]] if finding.kind == "unmatched-wait" and behind else [*before[:3], *behind[:2]]
        )
        primes = [
            (each.line, each.id)
            for each in reversed(flags)
            if each.word == "set" and each.line < line and (each.source, each.target) != (wait.source, wait.target)
        ]
        if finding.kind == "deadlock":
            yield from ((Insertion("after", at, f"{set_of}{id});"),) for at, id in primes[:3])
            own = [each for each in flags if (each.source, each.target) == (wait.source, wait.target)]
            peers = [each.line for each in own if each.word == "set" and each.line < line]
            counts = Counter(each.id for each in own if each.word == "wait")
            counts.subtract(each.id for each in own if each.word == "set")
            unprimed = [id for id, count in counts.items() if count > 0 and id != wait.id]
            yield from ((Insertion("after", at, f"{set_of}{id});"),) for at in peers[-1:] for id in unprimed[:2])
        yield from ((Insertion("after", at, f"{set_of}{wait.id});"),) for at in ordered)
        yield (Insertion("before", line, f"{set_of}{wait.id});"),)
        yield from ((Insertion("after", at, f"{set_of}{id});"),) for at, id in primes[:3])
    for name in _events(source):
        if re.search(rf"\b{name}\b", source.line(line)):
            lines = sorted({at for _, at in works if at < line}, reverse=True)
            yield from ((Insertion("after", at, f"{name}.Record();"),) for at in lines[:4])


def _frees(source: Source, lines: Sequence[int]) -> Iterator[tuple[Insertion, ...]]:
    """A TFREE for each TPOP at these lines, else for all of a file without one, behind the last statement of its block
    that names the tile."""
    found: list[Insertion] = []
    plain = without_comments(source.text)
    pops = {source.position(pop.start())[0]: pop for pop in _POP.finditer(plain)}
    for line in lines or ([] if "TFREE" in plain else pops):
        pop = pops.get(line)
        if pop is None:
            return
        types = [each.strip() for each in re.split(r",(?![^<]*>)", pop[1] or "")]
        pipe, tile = (pop[2], pop[3]) if pop[1] else (pop[3], pop[2])
        last = _last_use(source, _end(source, line), tile)
        words = f"<{types[0]}, {types[-1]}>" if len(types) == 3 else f"<{types[0]}>" if types[0] else ""
        found.append(Insertion("after", last, f"TFREE{words}({pipe});"))
    if found:
        yield tuple(found)


def _last_use(source: Source, line: int, name: str) -> int:
    """The last line of a block, from this one on, that says a name."""
    last, depth = line, 0
    for number, text in enumerate(without_comments(source.text).split("\n")[line:], line + 1):
        if depth + text.count("{") - text.count("}") < 0:
            break
        depth += text.count("{") - text.count("}")
        if re.search(rf"\b{name}\b", text):
            last = number
    return last


# --- carrying out -----------------------------------------------------------------------------------------------------


def _applied(source: Source, insertions: Sequence[Insertion]) -> str:
    """The file with statements inserted on the lines of their neighbours."""
    text = source.text
    places = [
        (_start(source, each.line) if each.where == "before" else _behind(source, each.line), each)
        for each in insertions
    ]
    for at, each in sorted(places, key=lambda place: place[0], reverse=True):
        text = f"{text[:at]} {each.statement} {text[at:]}"
    return text


def _start(source: Source, line: int) -> int:
    """The start of the first statement of a line; before an `else` the `if` that it belongs to."""
    while line > 1 and re.match(r"\s*(?:\}\s*)?else\b", source.line(line)):
        line -= 1
        while line > 1 and not re.match(r"\s*if\b", source.line(line)):
            line -= 1
    text = source.line(line)
    return source.offset(line, len(text) - len(text.lstrip()) + 1)


def _behind(source: Source, line: int) -> int:
    """Behind the last statement that begins on a line."""
    end = _end(source, line)
    text = without_comments(source.text).split("\n")[end - 1]
    return source.offset(end, text.rfind(";") + 2) if ";" in text else source.offset(end, len(source.line(end)) + 1)


def _end(source: Source, line: int) -> int:
    """The line on which a statement of this line ends."""
    plain = without_comments(source.text).split("\n")
    depth = 0
    for number in range(line, min(line + 40, len(plain) + 1)):
        text = plain[number - 1]
        depth += text.count("(") - text.count(")")
        if ";" in text and depth <= 0:
            return number
    return line
