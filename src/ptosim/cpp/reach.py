"""Reaches of a recording into each argument: so many bytes, of such elements."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ptosim.cpp.forms import KIND_SIZES, OperationForm
from ptosim.cpp.operand_text import width
from ptosim.cpp.recording import KernelRecording, RecordedBlock


@dataclass
class ArgumentReach:
    """The bytes of an argument that operations move, and what they are."""

    element: str
    high: int = 0
    is_read: bool = False
    is_stored: bool = False

    @property
    def word(self) -> str:
        """The word of a command line for an array of this length."""
        count = -(-self.high // width(self.element))
        kind = "rand" if self.is_read and not self.element.startswith("!") else "zeros"
        element = "".join(self.element.split("!pto."))
        return f"{kind}:{max(count, 1)}:{element}"


def reached(recordings: Sequence[KernelRecording]) -> Mapping[int, ArgumentReach]:
    """By argument."""
    found: dict[int, ArgumentReach] = {}
    for recording in recordings:
        forms = [OperationForm.of(line) for line in recording.forms]
        for block in recording.blocks:
            _note(block, forms, found)
    return found


def _note(block: RecordedBlock, forms: Sequence[OperationForm], found: dict[int, ArgumentReach]) -> None:
    sizes = np.array([form.size for form in forms], np.int64)
    numbers = block.tokens >> 32
    starts = np.concatenate(([0], np.cumsum(sizes[numbers]))) if len(numbers) else np.zeros(1, np.int64)
    for number, form in enumerate(forms):
        at = 0
        mine = starts[:-1][numbers == number]
        for kind in form.kinds:
            if kind[0] == "G" and len(mine):
                rows = block.values[mine[:, np.newaxis] + at + np.arange(KIND_SIZES["G"])]
                _extend(found, rows, kind[1], not form.text.startswith(("pto.tstore", "pto.mscatter")))
            at += KIND_SIZES.get(kind[0], 1)


def _extend(
    found: dict[int, ArgumentReach], rows: np.ndarray[tuple[int, int], np.dtype[np.int64]], element: str, is_read: bool
) -> None:
    ends = rows[:, 1] + (((rows[:, 2:7] - 1) * rows[:, 7:12]).sum(axis=1) + 1) * width(element)
    for argument in np.unique(rows[:, 0]).tolist():
        reach = found.setdefault(argument, ArgumentReach(element))
        reach.high = max(reach.high, int(ends[rows[:, 0] == argument].max()))
        reach.is_read |= is_read
        reach.is_stored |= not is_read
