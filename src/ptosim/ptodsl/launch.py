"""A launch of a kernel: its grid, arguments by name, options, and the line of the author where it fails."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from ptosim.author.failures import WrongType, WrongValue, failure
from ptosim.diagnostics import PTOError

if TYPE_CHECKING:
    from ptosim.module import Kernel
    from ptosim.ptodsl.decorators import CompiledKernel, KernelHandle


def launch_parts(launch: Any) -> tuple[int, Any]:
    parts = cast("tuple[Any, ...]", launch if isinstance(launch, tuple) else (launch,))
    if not 1 <= len(parts) <= 2:
        raise failure(WrongType, f"a launch is kernel[grid] or kernel[grid, stream], not {launch!r}", called="argument")
    return positive(parts[0]), parts[1] if len(parts) == 2 else None


def in_order(kernel: Kernel, args: tuple[Any, ...], options: dict[str, Any]) -> tuple[Any, ...]:
    """The arguments, those that are given by name behind the others."""
    for each in kernel.signature[len(args) :]:
        if each.name not in options:
            break
        args = *args, options.pop(each.name)
    return args


def known_options(kernel: Kernel, options: Mapping[str, Any]) -> None:
    known: Mapping[str, Any] = type(kernel).__call__.__kwdefaults__ or {}
    for name in options:
        if name not in known:
            message = f"a launch has no option '{name}'; known: {', '.join(known)}"
            raise failure(WrongType, message, called="argument")


def at_the_launch(problem: PTOError) -> PTOError:
    """The same error; what has no place stands at the line of the launch."""
    from ptosim.author.place import here

    found = [each if each.location is not None else replace(each, location=here()) for each in problem.raised]
    return type(problem)(*found)


def positive(grid: Any) -> int:
    from ptosim.arguments import whole

    number = whole(grid)
    if number is None or number < 1:
        raise failure(WrongValue, f"the grid is a positive integer, not {grid!r}", called="argument")
    return number


class Launcher:
    """`kernel[grid]`, to be called with the arguments."""

    def __init__(self, kernel: KernelHandle | CompiledKernel, grid: int, stream: Any = None) -> None:
        self._kernel = kernel
        self._grid = grid
        self._stream = stream

    def __call__(self, *args: Any, **options: Any) -> None:
        self._kernel(*args, **{"grid": self._grid, **options})
