"""Synchronisation as it is written: which operations are partners, and the words of one on a line of its own.

A flag is written with two pipes and an id, a buffer with a pipe, an id and a mode, a signal between cores with a pipe
and an id; brackets, quotes and older spellings are kept as they are found.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, get_args

from xdsl.ir import Operation

from ptosim.effects.sync import SIGNALS as RECORDED
from ptosim.effects.sync import signalling
from ptosim.language.catalogue import operation
from ptosim.language.micro.sync import EVENT_PIPES, Barrier, PipeBarrier, RecordEvent, SetFlag, WaitEvent, WaitFlag
from ptosim.language.text.edited_text import LOCATION
from ptosim.sanitize.program import WrittenProgram

SETS, WAITS = signalling("flag", half="set"), signalling("flag", half="wait")
GETS = signalling("buffer", half="get")
SIGNALS, SIGNAL_WAITS = signalling("semaphore", half="set"), signalling("semaphore", half="wait")
BARRIERS = frozenset((Barrier.name, PipeBarrier.name))

Mechanism = Literal["flag", "buffer", "semaphore"]
_MECHANISMS: dict[str, Mechanism] = {name: each for each in get_args(Mechanism) for name in signalling(each)}
PARTNER = {name: RECORDED[name].partner for name in _MECHANISMS}
_AS_EVENT = {SetFlag.name: RecordEvent.name, WaitFlag.name: WaitEvent.name}
EVENTS = frozenset(_AS_EVENT.values())
_FORM = re.compile(r"(pto\.[\w.]+)(\s*\[\s*|\s+)(.*?)(\s*\]?(?:\s+:\s.*)?)")
_PIPE = re.compile(r"PIPE_(\w+)")
_NUMBER = re.compile(r"(?:.*EVENT_ID)?(\d+)\W*")


@dataclass(frozen=True)
class WrittenSync:
    """One operation in its words; between commas what names pipes, ids and modes."""

    name: str
    words: tuple[str, ...]
    opening: str = " "
    closing: str = ""

    def __str__(self) -> str:
        return f"{self.name}{self.opening}{', '.join(self.words)}{self.closing}"

    @property
    def mechanism(self) -> Mechanism | None:
        """None for a barrier, which takes no id."""
        return _MECHANISMS.get(self.name)

    @property
    def sign(self) -> int:
        """Whether it puts something there or takes it away."""
        return 1 if self.name in SETS | GETS | SIGNALS else -1

    @property
    def pipes(self) -> tuple[str, ...]:
        """The pipes that it names: the one that tells and the one that is told, for a flag."""
        return tuple(filter(None, map(_pipe, self.words[: 2 if self.mechanism == "flag" else 1])))

    @property
    def place(self) -> int:
        """The number of the word that is the id."""
        return 2 if self.mechanism == "flag" else 1

    @cached_property
    def id(self) -> str:
        return self.words[self.place] if len(self.words) > self.place else ""

    @cached_property
    def number(self) -> int | None:
        """The id, where it is not computed."""
        found = _NUMBER.fullmatch(self.id)
        return int(found[1]) if found else None

    def with_id(self, word: str) -> WrittenSync:
        return replace(self, words=(*self.words[: self.place], word, *self.words[self.place + 1 :]))

    def with_pipe(self, word: str) -> WrittenSync:
        return replace(self, words=(word, *self.words[1:]))

    def reversed(self) -> WrittenSync:
        return replace(self, words=(self.words[1], self.words[0], *self.words[2:]))

    def partner(self) -> WrittenSync:
        return replace(self, name=PARTNER[self.name])


def flag_words(source: str, destination: str, event: int) -> tuple[str, str]:
    """A set and its wait."""
    operands = f'["PIPE_{source}", "PIPE_{destination}", "EVENT_ID{event}"]'
    return f"{SetFlag.name}{operands}", f"{WaitFlag.name}{operands}"


_CLASSES = {
    "MTE2": "TLOAD",
    "MTE1": "TMOV_M2L",
    "M": "TMATMUL",
    "V": "TVEC",
    "MTE3": "TSTORE_VEC",
    "FIX": "TSTORE_ACC",
}
"""The operation class of a pipe in new events."""


def event_of(written: Iterable[WrittenSync]) -> WrittenSync | None:
    """An event, if all flags are written as events of operation classes."""
    flags = [words for words in written if words.mechanism == "flag"]
    return flags[0] if flags and all(words.name in EVENTS for words in flags) else None


def in_classes(text: str, like: WrittenSync) -> str:
    """A flag in the words of events of operation classes; one of the scalar unit, which has no class, stays a flag."""
    words = read(text)
    if words is None or words.name not in _AS_EVENT or words.number is None or not set(words.pipes) <= _CLASSES.keys():
        return text
    ends = (re.sub(r"\w+(?=\W*$)", _CLASSES[pipe], like.words[0]) for pipe in words.pipes)
    event = re.sub(r"\d+(?=\W*$)", str(words.number), like.id)
    return str(replace(like, name=_AS_EVENT[words.name], words=(*ends, event)))


def read(text: str) -> WrittenSync | None:
    """The words of an operation, without its location; None where it is no synchronisation, or is not spelled in one of
    these forms."""
    found = _FORM.fullmatch(LOCATION.sub("", text.partition("//")[0]).strip())
    if found is None:
        return None
    written = WrittenSync(found[1], tuple(word.strip() for word in found[3].split(",")), found[2], found[4])
    if written.mechanism is None:
        return written if written.name in BARRIERS and written.pipes else None
    least = 3 if written.mechanism == "flag" else 2
    return written if len(written.words) >= least and len(written.pipes) == least - 1 else None


def written(program: WrittenProgram, op: Operation) -> WrittenSync | None:
    """The words of an operation that has a line for itself, perhaps in an older spelling."""
    line = program.first_line(op)
    words = read(program.source.line(line))
    if words is None or program.last_line(op) != line:
        return None
    spelled = operation(words.name)
    return words if spelled is not None and op.name in (spelled.name, spelled.replaced_by) else None


def _pipe(word: str) -> str | None:
    found = _PIPE.search(word)
    if found:
        return found[1]
    named = re.search(r"\w+", word.rpartition("<")[2].strip('"'))
    return EVENT_PIPES.get(named[0], "").removeprefix("PIPE_") or None if named else None
