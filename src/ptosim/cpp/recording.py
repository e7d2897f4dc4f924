"""A recording: the operations that a scalar program issues, block by block, with where each was issued."""

from __future__ import annotations

import re
import struct
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ptosim.cpp.compiler import CppBuild, RecordingProgram
from ptosim.cpp.frames import Frames
from ptosim.diagnostics import CALLED_HERE, Diagnostic, PTOError, Related, error
from ptosim.places import Location

MOST_RECORDS = 10_000_000
LONGEST_PROGRAM = 10
"""Seconds of computing for the scalar programs of a launch."""
BOUNDLESS = 1 << 40
"""Bytes of an array whose length is to be found out."""
_PAGE = 4096
FAILED, NEEDS_DATA, ASKS = 3, 4, 5

Numbers = NDArray[np.int64]


@dataclass(frozen=True)
class RecordedBlock:
    """The issued instructions of one block: for each operation its form and site, and the values of the operands one
    after the other.
    """

    number: int
    tokens: Numbers
    values: Numbers


@dataclass(frozen=True)
class KernelRecording:
    """The issued instructions of all blocks of a launch on one kind of core."""

    forms: tuple[str, ...]
    sites: tuple[Location | None, ...]
    blocks: tuple[RecordedBlock, ...]
    said: tuple[tuple[int, int, str], ...]
    """Printed lines: block, half of the core, text."""
    reads: bool
    """Whether the scalar program reads the arrays: another launch may go another way."""
    asks: bool = False
    """Whether it stopped at its last operation, for whose result it asks."""

    @property
    def asking_place(self) -> Location | None:
        """The place of its last operation."""
        return self.sites[int(self.blocks[-1].tokens[-1]) & 0xFFFFFFFF]

    def issues_what(self, other: KernelRecording) -> bool:
        """Whether another recording issues the same operations at the same places."""
        if self.forms != other.forms or self.sites != other.sites:
            return False
        pairs = zip(self.blocks, other.blocks, strict=True)
        return all(
            np.array_equal(one.tokens, two.tokens) and np.array_equal(one.values, two.values) for one, two in pairs
        )


@dataclass(frozen=True)
class GivenArguments:
    """The arguments of a launch as the scalar program gets them: bytes, None for a null pointer, or a number's bits."""

    values: tuple[NDArray[np.uint8] | int | None, ...]
    pointers: tuple[bool, ...]
    fixed: frozenset[int] = frozenset()
    """Arrays that are read-only."""
    boundless: bool = False
    """Whether empty arrays are as long as the program likes, and hold zeros."""


@dataclass(frozen=True)
class RecordingPart:
    """Blocks that are recorded at once, on one of the halves of their core."""

    blocks: range
    grid: int
    half: int = 0
    halves: int = 1
    entry: int = 0
    """The number of the kernel in its program."""
    answers: tuple[int, ...] = ()


def record(program: RecordingProgram, build: CppBuild, given: GivenArguments, part: RecordingPart) -> KernelRecording:
    """Run the scalar program of each block. Arrays are handed to it only where it reads them."""
    with tempfile.TemporaryDirectory(prefix="ptosim-") as name:
        folder = Path(name)
        executable = folder / "program"
        executable.write_bytes(program.image)
        executable.chmod(0o700)
        (folder / "request").write_bytes(_request(given, part))
        code = _run(folder, [])
        if code == NEEDS_DATA:
            _write_data(folder / "data", given)
            code = _run(folder, [str(folder / "data")])
        return decoded(folder / "result", code, Frames(executable, build))


def _request(given: GivenArguments, part: RecordingPart) -> bytes:
    words = [
        part.entry,
        part.blocks.start,
        part.blocks.stop,
        part.grid,
        part.half,
        part.halves,
        MOST_RECORDS,
        LONGEST_PROGRAM,
    ]
    words.append(len(given.values))
    for value, is_pointer in zip(given.values, given.pointers, strict=True):
        if is_pointer:
            words += [0, _size(value, given.boundless)]
        else:
            assert isinstance(value, int)
            words += [1, value]
    return struct.pack(f"<{len(words) + len(part.answers)}q", *words, *part.answers)


def _size(value: NDArray[np.uint8] | int | None, boundless: bool) -> int:
    if value is None or isinstance(value, int):
        return -1
    return BOUNDLESS if boundless and not len(value) else len(value)


def _write_data(path: Path, given: GivenArguments) -> None:
    with path.open("wb") as file:
        for value in given.values:
            if isinstance(value, np.ndarray):
                file.write(value.tobytes())
                file.write(b"\0" * (-len(value) % _PAGE))


def _run(folder: Path, data: list[str]) -> int:
    command = [str(folder / "program"), str(folder / "request"), str(folder / "result"), *data]
    try:
        found = subprocess.run(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            timeout=20 * LONGEST_PROGRAM, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise error("limit", f"the scalar program has not ended after {20 * LONGEST_PROGRAM} s") from None
    except OSError as reason:
        raise error("argument", f"cannot run a compiled kernel: {reason.strerror or reason}") from None
    return found.returncode


def _unescaped(text: str) -> str:
    return re.sub(r"\\(.)", lambda found: "\n" if found[1] == "n" else found[1], text)


def decoded(results: Path, code: int, frames: Frames) -> KernelRecording:
    """The recording in the files that a program leaves behind, `results` and a suffix, with its exit code."""
    text = results.with_suffix(".txt").read_text(errors="replace")
    lines = [line.partition(" ") for line in text.split("\n")]
    if any(word == "error" for word, _, _ in lines):
        raise PTOError(_failure(lines, frames))
    if code not in (0, ASKS):
        raise error("trap", f"the scalar program ends with code {code} and says nothing")
    chains = [[int(address, 16) for address in rest.split()] for word, _, rest in lines if word == "site"]
    said = [rest.split(" ", 2) for word, _, rest in lines if word == "say"]
    forms = tuple(_unescaped(rest) for word, _, rest in lines if word == "form")
    blocks = tuple(_blocks(results.with_suffix(".bin").read_bytes()))
    return KernelRecording(
        forms,
        tuple(frames.places(chains, _names(forms, blocks))),
        blocks,
        tuple((int(block), int(half), _unescaped(shown)) for block, half, shown in said),
        any(word == "read" for word, _, _ in lines),
        code == ASKS,
    )


def _names(forms: Sequence[str], blocks: Sequence[RecordedBlock]) -> dict[int, str]:
    """The intrinsic that each site records, by its name or how that begins."""
    found: dict[int, str] = {}
    spelled = [re.search(r"(?:pto\.)?([a-z]\w+)", form.removeprefix("%r = ").removeprefix("merge ")) for form in forms]
    for block in blocks:
        tokens: list[int] = np.unique(block.tokens).tolist()
        for token in tokens:
            if (name := spelled[token >> 32]) is not None:
                found.setdefault(token & 0xFFFFFFFF, name[1].partition("_to_")[0].partition("_from_")[0])
    return found


def _failure(lines: Sequence[tuple[str, str, str]], frames: Frames) -> Diagnostic:
    at = next(index for index, (word, _, _) in enumerate(lines) if word == "error")
    kind, block, message = lines[at][2].split(" ", 2)
    chain = [int(address, 16) for address in lines[at + 1][2].split()]
    (place,) = frames.places([chain])
    calls = () if place is None else tuple(Related(call, CALLED_HERE) for call in place.calls)
    return Diagnostic(
        kind, "error", _unescaped(message), place, related=calls, notes=(f"in the scalar program of block {block}",)
    )


def _blocks(data: bytes) -> list[RecordedBlock]:
    found, at, words = list[RecordedBlock](), 0, np.frombuffer(data, np.int64)
    while at < len(words):
        number, count, values = (int(word) for word in words[at : at + 3])
        at += 3
        found.append(RecordedBlock(number, words[at : at + count], words[at + count : at + count + values]))
        at += count + values
    return found
