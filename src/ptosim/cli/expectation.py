"""The comparison of `--expect` after a run: the first wrong element of an argument, and the instructions that wrote
it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ptosim.api import Kernel, Launch
from ptosim.argument_words import Array, differing, expected
from ptosim.diagnostics import Diagnostic, Related
from ptosim.sanitize.last_writer import LastWrite


@dataclass(frozen=True)
class Expectation:
    """The expected contents of an argument, in the order of its bytes."""

    index: int
    path: str
    values: Array


def expectation(kernel: Kernel, values: Sequence[Any], index: int, path: str) -> Expectation:
    """Read the file that an argument is to be compared with."""
    return Expectation(index, path, expected(path, kernel.signature[index], index, values[index].size))


def compare(
    kernel: Kernel, before: Launch, values: Sequence[Any], wanted: Sequence[Expectation], atol: float, rtol: float
) -> list[Diagnostic]:
    """One diagnostic for each argument that differs; `before` is the launch with the arguments it began with."""
    differences: list[Diagnostic] = []
    for one in wanted:
        found = values[one.index].reshape(-1)
        wrong = differing(found, one.values, atol, rtol)
        if not wrong.any():
            continue
        first = int(wrong.argmax())
        place = ", ".join(map(str, np.unravel_index(first, values[one.index].shape)))
        message = (
            f"argument {one.index} (%{kernel.signature[one.index].name}) differs from {one.path} in "
            f"{int(wrong.sum())} of {wrong.size} elements; the first is [{place}]: "
            f"{found[first]!s} instead of {one.values[first]!s}"
        )
        low = before.arguments.values[one.index] + first * found.itemsize
        again = replace(before, arguments=before.arguments.copied())
        differences.append(_blamed(message, kernel.last_writer(again, low, low + found.itemsize)))
    return differences


def _blamed(message: str, written: LastWrite | None) -> Diagnostic:
    """A wrong element, with the instruction that wrote it last."""
    if written is None:
        return Diagnostic("argument", "error", message, notes=("no instruction wrote that element",))
    related: tuple[Related, ...] = ()
    if written.source is not None and written.source.site.location is not None:
        related = (Related(written.source.site.location, f"its bytes were stored here{_by(written.source)}"),)
    return Diagnostic(
        "argument",
        "error",
        message,
        written.site.location,
        f"written last here{_by(written)}",
        related,
        core=written.core,
        pipe=str(written.site.pipe),
        block=written.block,
        loops=written.loops,
    )


def _by(written: LastWrite) -> str:
    where = f", by {written.core}"
    return f"{where} at loop indices {', '.join(map(str, written.loops))}" if written.loops else where
