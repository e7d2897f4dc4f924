"""Launches that are tried with words for arguments, and how good what they show is (reference/observed/reach.py)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from xdsl.ir import Operation, SSAValue

from ptosim.argument_uses import ParameterUses, Stride, is_context, strides_of, uses_of, value_under
from ptosim.argument_words import LARGEST, NULL, value_of, word_of_rank
from ptosim.arguments import Bytes, Parameter, array_bytes, scalar
from ptosim.language.structure.function import Function
from ptosim.language.tile.comm import CommOperation
from ptosim.machine.launch import KernelKind
from ptosim.machine.memory import argument_number, context_words, pointer, window_number
from ptosim.reference.observed.reach import (
    FARTHEST_REACH,
    Probe,
    ProbedArgument,
    ProbedRank,
    Reach,
    ReachedLaunch,
    endless,
)

if TYPE_CHECKING:
    from ptosim.language.analysis.kernel_entries import KernelProgram

ENOUGH_TURNS = 64
RANK, RANKS = "rank", "ranks"
NO_WORDS: Mapping[int, str] = MappingProxyType({})
_HERE = frozenset("my mine own local self this".split())
_BEFORE = frozenset("prev previous left".split())
_ELSEWHERE = _BEFORE | frozenset("their theirs peer remote next right neighbor neighbour partner".split())
"""Words of names that say on which rank the memory behind a pointer lies."""
_NUMBERS = re.compile(r"\d+")
_PEER = re.compile(r"peer:(\d{1,3}):([+-]?)(\d{1,3})")


class KernelParameters:
    """The parameters of a kernel, and what its text says of them."""

    def __init__(self, kernel: Any) -> None:
        self.signature: tuple[Parameter, ...] = kernel.signature
        written = {function.symbol: function for function in _functions(kernel.module.verified.parsed.module)}
        entries: Mapping[Any, Function] = kernel.program.entries
        self.entries = [written.get(each.symbol, each) for each in entries.values()]

    def values(self, position: int) -> list[SSAValue]:
        """A parameter in each entry as it was written."""
        name = self.signature[position].name
        found: list[SSAValue] = []
        for entry in self.entries:
            arguments = entry.body.block.args
            found += [each for each in arguments if each.name_hint == name] or list(arguments[position : position + 1])
        return found

    def uses(self, position: int) -> ParameterUses:
        return uses_of(self.values(position))

    @cached_property
    def strides(self) -> Mapping[int, list[Stride]]:
        """Scalars that are strides of views, and nothing else: they follow from the other scalars."""
        whole = [
            position
            for position, parameter in enumerate(self.signature)
            if not parameter.is_pointer and parameter.element.is_integer
        ]
        return {position: found for position in whole if (found := strides_of(self.values(position)))}

    @cached_property
    def contexts(self) -> list[int]:
        """Pointers to the contexts of windows."""
        return [
            position
            for position, parameter in enumerate(self.signature)
            if parameter.is_pointer and parameter.element.bits == 64 and is_context(self.values(position))
        ]

    @cached_property
    def peers(self) -> Mapping[int, str]:
        """Words for pointers to the memory of other ranks: in a kernel that communicates, those that are called so, or
        that are numbered as `x0` and `x1` are beside `x`."""
        if not any(isinstance(op, CommOperation) for entry in self.entries for op in entry.walk()):
            return {}
        found: dict[int, str] = {}
        for position, parameter in enumerate(self.signature):
            said = _spoken(parameter.name)
            if not parameter.is_pointer or not (said.number or said.is_peer):
                continue
            same = [
                each
                for each, other in enumerate(self.signature)
                if other.type == parameter.type and each != position and not _spoken(other.name).is_elsewhere
            ]
            named = [each for each in same if _spoken(self.signature[each].name).rest == said.rest]
            if said.is_peer and same:
                nearest = min(named or same, key=lambda each, here=position: (each > here, abs(here - each)))
                found[position] = f"peer:{nearest}:{'-' if said.is_before else '+'}1"
            elif named:
                found[position] = f"peer:{named[0]}:{said.number}"
        return found


@dataclass(frozen=True)
class _Spoken:
    """The words of the name of a pointer."""

    rest: tuple[str, ...]
    """The words that do not say whose it is."""
    number: str | None
    is_peer: bool
    is_before: bool

    @property
    def is_elsewhere(self) -> bool:
        return self.is_peer or self.number is not None


def _spoken(name: str) -> _Spoken:
    words = [word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+|\d+", name)]
    number = words.pop() if words and words[-1].isdecimal() else None
    rest = tuple(word for word in words if word not in _ELSEWHERE | _HERE)
    return _Spoken(rest, number, bool(_ELSEWHERE & {*words}), bool(_BEFORE & {*words}))


@dataclass(frozen=True)
class ArgumentTrial:
    """Choices, and what a launch with them shows."""

    chosen: Mapping[int, str]
    findings: ReachedLaunch
    reaches: Mapping[int, Reach]
    """By position of the parameter."""

    @property
    def cost(self) -> tuple[Any, ...]:
        findings = self.findings
        reached = [reach.high for reach in findings.reaches.values()]
        size = sum(reached)
        wrong = {(kind, line, _NUMBERS.sub("", message)) for kind, message, line in findings.complaints}
        ends = findings.end is not None
        rewritten = sum(reach.rewritten for reach in findings.reaches.values())
        holes = sum(reach.has_holes for reach in findings.reaches.values())
        sizes = size > LARGEST >> 4, size > LARGEST >> 8
        return ends, reached.count(0), len(wrong), sizes[0], -findings.repeated, sizes[1], rewritten, holes

    @property
    def lacks_ranks(self) -> bool:
        """It goes to a rank that there is not."""
        end = self.findings.end
        return end is not None and "there is no such rank" in end.diagnostics[0].message

    @property
    def turns(self) -> int:
        """Turns of loops, as long as more of them show more."""
        return min(self.findings.steps, ENOUGH_TURNS)


class ArgumentTrials:
    """Launches of one kernel, some of whose words are fixed, on one rank or on several."""

    def __init__(self, kernel: Any, fixed: Mapping[int, str], seed: int, grid: int, ranks: int | None) -> None:
        program: KernelProgram = kernel.program
        module = kernel.module
        self.parameters = KernelParameters(kernel)
        self.signature = self.parameters.signature
        self.fixed, self.seed, self.grid, self.ranks = fixed, seed, grid, ranks
        kind, together = KernelKind(program.kind), program.cross_block
        self.probe = Probe(module.executable, program.entries, kind, together, module.machine())
        self.strides = {
            position: strides for position, strides in self.parameters.strides.items() if position not in fixed
        }
        contexts = self.parameters.contexts if ranks is not None else ()
        self.contexts = {position for position in contexts if position not in fixed} | {
            position for position, word in fixed.items() if word.startswith("ctx:")
        }
        memory = (each for each, parameter in enumerate(self.signature) if parameter.is_pointer)
        placed = [each for each in memory if fixed.get(each) != NULL and not _PEER.fullmatch(fixed.get(each, ""))]
        self.pointers = {position: number for number, position in enumerate(placed)}

    def __call__(self, chosen: Mapping[int, str], held: Mapping[int, str], max_steps: int) -> ArgumentTrial:
        """`held`: words for arrays that were not chosen."""
        chosen = {**chosen, **self._dense(chosen)}
        words = {**held, **chosen, **self.fixed}
        ranks = [self._on_rank(words, rank) for rank in range(self.ranks or 1)]
        names = [self.signature[position].name for position in self.pointers]
        findings = self.probe(ranks, names, self.grid, max_steps)
        return ArgumentTrial(
            chosen, findings, {position: findings.reaches[number] for position, number in self.pointers.items()}
        )

    def _dense(self, chosen: Mapping[int, str]) -> dict[int, str]:
        """Strides with which rows lie one behind the other."""
        known = self._known(chosen) if self.strides else dict[SSAValue, int]()
        return {
            position: str(max([1, *(found for each in strides if (found := each.dense(known)) is not None)]))
            for position, strides in self.strides.items()
        }

    def numbers(self, chosen: Mapping[int, str]) -> Mapping[int, int]:
        """The whole numbers among the scalars."""
        words = {**self.fixed, **chosen}.items()
        return {
            position: int(word)
            for position, word in words
            if not self.signature[position].is_pointer and word.lstrip("-").isdecimal()
        }

    def _known(self, chosen: Mapping[int, str]) -> Mapping[SSAValue, int]:
        numbers = self.numbers(chosen).items()
        return {value: number for position, number in numbers for value in self.parameters.values(position)}

    def rows_of(self, position: int, chosen: Mapping[int, str]) -> list[int]:
        """The length of the rows of views of an array."""
        known = self._known(chosen)
        found = (value_under(length, known) for length in self.parameters.uses(position).rows)
        return [length for length in dict.fromkeys(found) if length is not None]

    def _on_rank(self, words: Mapping[int, str], rank: int) -> ProbedRank:
        values: list[int] = []
        memory: dict[int, ProbedArgument] = {}
        for position, parameter in enumerate(self.signature):
            word = words.get(position)
            if not parameter.is_pointer:
                assert word is not None
                values.append(self._scalar(position, parameter, word, rank))
            elif word == NULL:
                values.append(0)
            elif peer := _PEER.fullmatch(word or ""):
                distance = int(f"{peer[2]}{peer[3]}") + (rank if peer[2] else 0)
                values.append(pointer(self._region(int(peer[1]), distance % (self.ranks or 1))))
            else:
                number = self._region(position, rank)
                values.append(pointer(number))
                held = endless(self._held(position, parameter, word, rank))
                is_window = self.ranks is not None and position not in self.contexts
                memory[number] = ProbedArgument(self.pointers[position], held, is_window)
        return ProbedRank(values, memory, rank if (self.ranks or 1) > 1 else None)

    def _scalar(self, position: int, parameter: Parameter, word: str, rank: int) -> int:
        if word in (RANK, RANKS):
            return rank if word == RANK else self.ranks or 1
        return scalar(position, parameter, value_of(word, parameter))

    def _region(self, position: int, rank: int) -> int:
        number = self.pointers.get(position, 0)
        if self.ranks is None:
            return number
        is_private = position in self.contexts
        return argument_number(number, rank if self.ranks > 1 else None) if is_private else window_number(number, rank)

    def _held(self, position: int, parameter: Parameter, word: str | None, rank: int) -> Bytes:
        """The bytes that an array begins with."""
        if position in self.contexts:
            window = next((number for place, number in self.pointers.items() if place not in self.contexts), 0)
            return np.array(context_words(window, rank, self.ranks or 1, FARTHEST_REACH), np.int64).view(np.uint8)
        if word is None:
            return np.zeros(0, np.uint8)
        seed = self.seed + position if self.ranks is None else position * self.ranks
        bare = word.removeprefix("sym:").removeprefix("each:")
        of_rank = bare if self.ranks is None else word_of_rank(bare, rank, seed)
        return array_bytes(position, parameter, value_of(of_rank, parameter, seed))


def _functions(module: Operation) -> Iterator[Function]:
    return (op for op in module.walk() if isinstance(op, Function))
