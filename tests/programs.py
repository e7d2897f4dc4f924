"""Random kernels: well-typed `.pto` text with launch arguments, all of it decided by one seed.

A kernel is a chain of actions (copies, vector scopes, scalar work) in which each is ordered after the one before by
flags, buffers or barriers; loops and conditionals are chains inside chains. Then it is spoilt, or not: a sync
instruction is dropped or lands elsewhere, an address points outside. `program_chains` writes the chain,
`program_scopes` what is inside vector scopes; what must hold of a program is for `test_random_programs` to say.
"""

import random
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from program_chains import chain
from program_writer import KINDS, REGION, Line, Shape, Writer
from ptosim.effects.element import ELEMENTS

GUARD = 64  # bytes on either side of an argument that no kernel may touch


@dataclass(frozen=True)
class Program:
    """A kernel, what it is launched with, and where it came from."""

    seed: int
    text: str
    kinds: tuple[str, ...]
    count: int
    grid: int

    def __str__(self) -> str:
        return f"seed {self.seed}, grid {self.grid}, count {self.count}\n{self.text}"

    def launch(self) -> "Memory":
        """Fresh arguments, the same every time."""
        return Memory(tuple(memory.copy() for memory in self._guarded), self.count)

    @cached_property
    def _guarded(self) -> list[NDArray[np.uint8]]:
        source = np.random.default_rng(self.seed)
        guarded = [source.integers(0, 256, GUARD + REGION * self.grid + GUARD, np.uint8) for _ in self.kinds]
        for memory, kind in zip(guarded, self.kinds, strict=True):
            if ELEMENTS[kind].is_float:
                inner = memory[GUARD:-GUARD]
                inner[ELEMENTS[kind].bytes - 1 :: ELEMENTS[kind].bytes] &= 0xC3  # few that are huge or NaN
        return guarded


@dataclass(frozen=True)
class Memory:
    """The bytes of the arrays of one launch, between guards."""

    guarded: tuple[NDArray[np.uint8], ...]
    count: int

    @property
    def arguments(self) -> tuple[Any, ...]:
        return (*(memory[GUARD:-GUARD] for memory in self.guarded), self.count)

    @property
    def contents(self) -> list[bytes]:
        return [memory[GUARD:-GUARD].tobytes() for memory in self.guarded]

    @property
    def guards(self) -> list[bytes]:
        return [memory[:GUARD].tobytes() + memory[-GUARD:].tobytes() for memory in self.guarded]


def program(seed: int) -> Program:
    """The kernel of this seed."""
    source = random.Random(seed)
    kinds = tuple(source.choice(KINDS) for _ in range(source.randint(1, 3)))
    sync = source.choice(("flags", "flags", "mixed", "buffers", "barriers"))
    shape = Shape(kinds, sync, source.random() < 0.1, 0.02 if source.random() < 0.25 else 0.0)
    grid = source.choice((1, 1, 2, 3))
    writer = Writer(source)
    _prologue(writer, shape)
    chain(writer, shape)
    writer.say("pto.barrier #pto.pipe<PIPE_ALL>")
    writer.say("return")
    lines = _spoilt(source, writer.lines)
    parameters = [f"%a{number}: !pto.ptr<{kind}, gm>" for number, kind in enumerate(kinds)]
    text = [
        'module attributes {pto.target_arch = "a5"} {',
        f"  func.func @random({', '.join(parameters)}, %count: i32) attributes {{pto.kernel}} {{",
        *("    " + line for line in writer.head.values()),
        *("  " * line.depth + line.text for line in lines),
        "  }",
        "}",
    ]
    return Program(seed, "\n".join(text) + "\n", kinds, source.randint(0, 300), grid)


def _prologue(writer: Writer, shape: Shape) -> None:
    """Where this block's part of each argument begins."""
    block = writer.value("block", "pto.get_block_idx")
    index = writer.value("b", f"arith.index_cast {block} : i64 to index")
    many = writer.value("n", "arith.index_cast %count : i32 to index")
    writer.say(f"%few = arith.remui {many}, {writer.constant(4)} : index")
    writer.indices += [index, "%few"]
    for number, kind in enumerate(shape.kinds):
        elements = 0 if shape.shared else REGION // ELEMENTS[kind].bytes
        writer.say(f"%base{number} = arith.muli {index}, {writer.constant(elements)} : index")


def _spoilt(source: random.Random, lines: list[Line]) -> list[Line]:
    """Perhaps without one sync instruction, or with one at the place of another, or twice."""
    places = [number for number, line in enumerate(lines) if line.sync and "%" not in line.text]
    if not places or source.random() < 0.6:
        return lines
    lines = list(lines)
    place = source.choice(places)
    other = source.choice([number for number in places if _is_fence(lines[number]) == _is_fence(lines[place])])
    match source.choice(("drop", "drop", "swap", "move", "repeat")):
        case "drop":
            del lines[place]
        case "swap":
            texts = lines[place].text, lines[other].text
            lines[place], lines[other] = replace(lines[place], text=texts[1]), replace(lines[other], text=texts[0])
        case "move":
            moved = lines.pop(place)
            lines.insert(other, moved)
        case _:
            lines.insert(other, lines[place])
    return lines


def _is_fence(line: Line) -> bool:
    """Fences stand inside vector scopes, everything else that orders outside of them."""
    return line.text.startswith("pto.mem_bar")
