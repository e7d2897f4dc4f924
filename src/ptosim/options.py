"""Values of the options of a run, a check and a profile, and the message for a wrong one."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from functools import cache
from importlib.util import find_spec
from typing import Any, cast

from ptosim.arguments import whole
from ptosim.diagnostics import error

ENGINES = ("native", "reference")
UNWRITTEN = ("off", "note", "error")
MEM_BARS = ("relaxed", "strict", "off")
SYNC = ("auto", "written", "insert")


def count(name: str, value: Any) -> int:
    number = whole(value)
    if number is None or number < 1:
        raise error("argument", f"{name} is a positive integer, not {value!r}")
    return number


def choice(name: str, value: str, choices: Sequence[str]) -> Any:
    if value not in choices:
        raise error("argument", f"{name} is one of {', '.join(choices)}, not {value!r}")
    return value


class NoCompiler(UserWarning):
    """There is no LLVM for this computer, so the reference engine does what the native one was asked for."""


def engine_at_hand(engine: str) -> str:
    """The engine that is asked for, or the reference engine where kernels cannot be compiled."""
    if choice("engine", engine, ENGINES) == "native" and find_spec("llvmlite") is None:
        _tell_of_no_compiler()
        return "reference"
    return engine


@cache
def _tell_of_no_compiler() -> None:
    """Once, whatever is run."""
    message = "llvmlite is not installed: kernels are not compiled, and run on the reference engine, which is slower"
    warnings.warn(message, NoCompiler, stacklevel=4)


def chosen_blocks(blocks: Any, grid: int, together: bool) -> Sequence[int]:
    """The blocks to run, each once, in ascending order."""
    if blocks is None:
        return range(grid)
    if isinstance(blocks, str) or not isinstance(blocks, Iterable):
        raise error("argument", f"blocks is a list of block numbers and 'last', not {blocks!r}")
    numbers = {_block(block, grid) for block in cast("Iterable[Any]", blocks)}
    if together and len(numbers) < grid:
        raise error("argument", "the blocks of this kernel wait for each other: all of them must run")
    return sorted(numbers)


def _block(block: Any, grid: int) -> int:
    if isinstance(block, str) and block == "last":
        return grid - 1
    number = whole(block)
    if number is None or not 0 <= number < grid:
        raise error("argument", f"there is no block {block!r}: blocks are 0 to {grid - 1}, or 'last'")
    return number
