"""A case of a sweep: the text of a kernel, argument words and options. A worker needs ptosim and nothing else."""

from __future__ import annotations

import hashlib
import json
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from ptosim.argument_words import AUTO, RANGE
from ptosim.diagnostics import error
from ptosim.ranks.rank_words import is_for_ranks

WHATS = ("run", "check", "profile", "prove")
GIGABYTE = 1 << 30
CPP_FILES = (".cpp", ".cc", ".cxx", ".cce")


@dataclass(frozen=True)
class Limits:
    """The limits of a case."""

    seconds: float = 60.0
    memory: int = 4 * GIGABYTE


@dataclass(frozen=True)
class Wanted:
    """The expected contents of an argument behind a run: a pickled function of the arguments, or the bytes of a .npy
    file.
    """

    kind: str
    content: bytes = field(repr=False)


@dataclass(frozen=True)
class Case:
    """One thing to be done with one kernel."""

    kernel: str
    """The path as given."""
    text: str = field(repr=False)
    what: str = "check"
    words: tuple[str, ...] = ("auto",)
    grid: int = 1
    ranks: int | None = None
    """The number of ranks, where words or the kernel are for several."""
    name: str | None = None
    """The name of the kernel, in a file with several."""
    target: str | None = None
    schedule: str = "program"
    seed: int = 0
    defines: tuple[str, ...] = ()
    """Constants of a kernel in Python, as BLOCK=64; its text has them."""
    varied: Mapping[str, Any] = field(default_factory=dict[str, Any])
    expect: Mapping[int, Wanted] = field(default_factory=dict[int, Wanted])
    rtol: float = 0.0
    atol: float = 0.0
    limits: Limits = Limits()
    timed: bool = False
    """Cycles are wanted besides."""

    @property
    def is_recorded(self) -> bool:
        """Its text is that of one launch of a kernel in C++."""
        return self.kernel.partition(":")[0].endswith(CPP_FILES)

    def key(self, version: str) -> str:
        """The digest of all that decides its result."""
        said = {
            "version": version,
            "text": _digest(self.text),
            "what": [self.what, self.timed],
            "words": self.words,
            "options": [self.grid, self.ranks, self.name, self.target, self.schedule, self.seed, self.rtol, self.atol],
            "varied": dict(self.varied),
            "kernel": self.kernel,
            "expect": {str(index): hashlib.sha256(wanted.content).hexdigest() for index, wanted in self.expect.items()},
        }
        return hashlib.sha256(json.dumps(said, sort_keys=True, default=str).encode()).hexdigest()[:32]

    def repeat(self, words: tuple[str, ...] | None = None) -> str:
        """The command line that does the same."""
        parts = ["ptosim", self.what, self.kernel]
        if self.what != "prove" or self.is_recorded:
            said = self.words if words is None else words
            parts += [] if said == (AUTO,) else said
        for define in self.defines:
            parts += ["-D", define]
        options = {"--grid": self.grid if self.grid != 1 else None, "--ranks": self.ranks}
        options |= {"--kernel": self.name, "--target": self.target}
        if self.what == "run" and self.schedule != "program":
            options["--schedule"] = self.schedule
        for option, value in options.items():
            if value is not None:
                parts += [option, str(value)]
        return shlex.join(parts)


def ranks_of(kernel: Any, case: Case) -> int | None:
    """On how many ranks a case runs; None for one without windows."""
    if case.ranks is not None or any(map(is_for_ranks, case.words)):
        return case.ranks or 1
    return kernel.ranks_needed(case.grid) if AUTO in case.words else None


def words_of(kernel: Any, case: Case, ranks: int | None = None) -> list[str]:
    """A word for each parameter of the kernel of a case, made up where `auto` stands, with seeds."""
    words = list(case.words)
    if words == [AUTO]:
        words = [AUTO] * len(kernel.signature)
    if len(words) != len(kernel.signature):
        names = ", ".join(each.name for each in kernel.signature)
        raise error("argument", f"{kernel.name} takes {len(kernel.signature)} arguments ({names}), not {len(words)}")
    if AUTO in words:
        words = kernel.example_words(words, case.grid, {}, ranks, case.seed)
    return [seeded(word, case.seed + index) if case.seed else word for index, word in enumerate(words)]


@lru_cache(maxsize=1024)
def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def seeded(word: str, seed: int) -> str:
    """A word of random numbers with a seed, where it has none of its own."""
    if word.startswith(("sym:", "each:")):
        place, _, array = word.partition(":")
        return f"{place}:{seeded(array, seed)}"
    kind, *rest = word.split(":")
    places = {"rand": 1, "index": 2}
    if kind not in places or len(rest) < places[kind]:
        return word
    shape, more = rest[: places[kind]], rest[places[kind] :]
    if kind == "rand" and more and more[0][:1].isalpha():
        shape.append(more.pop(0))
    if more and not RANGE.search(more[0]):
        return word
    return ":".join((kind, *shape, str(seed), *more))
