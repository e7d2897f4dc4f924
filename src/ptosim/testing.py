"""Kernels in tests: `check` for arrays of your own, `check_file` for a file and argument words.

Both raise AssertionError with what is wrong, so that they work in pytest, in unittest and in a plain script.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from ptosim.api import check as examine
from ptosim.api import load
from ptosim.api import profile as measure
from ptosim.argument_words import AUTO, value_of
from ptosim.options import ENGINES
from ptosim.places import CPP_FILE, SCRIPT
from ptosim.ranks.rank_words import is_for_ranks, ranked

if TYPE_CHECKING:
    from ptosim.diagnostics import Diagnostic

Array = NDArray[Any]
Expected = Array | Mapping[int, Array] | Sequence[Array | None] | Callable[..., Any]


def check(
    kernel: Any,
    *args: Any,
    expect: Expected | Mapping[int | str, Array] | None = None,
    grid: int = 1,
    rtol: float = 0.0,
    atol: float = 0.0,
    constants: Mapping[str, Any] = {},
) -> None:
    """Run a kernel on both engines, compare what its arrays hold then, and check it. The arguments stay as they are.

    `expect`: an array that the last array argument is to hold, arrays by the number or name of their argument, one for
    each argument (None: any), or a function of copies of the arguments that returns one of these, or changes the
    copies. `constants` are those of a kernel in Python.
    """
    kernel = kernel.compile(**constants) if constants else kernel
    names = {parameter.name: index for index, parameter in enumerate(kernel.signature)}
    wanted = {names.get(cast("str", key), key): array for key, array in _expected(args, expect).items()}
    results = {engine: _copies(args) for engine in ENGINES}
    for engine, values in results.items():
        kernel(*values, grid=grid, engine=engine)
    for index, (native, reference) in enumerate(zip(*results.values(), strict=True)):
        if isinstance(native, np.ndarray) and native.tobytes() != cast("Array", reference).tobytes():
            raise AssertionError(f"argument {index} ({kernel.signature[index].name}) differs between the engines")
    for index, array in wanted.items():
        found = cast("Array", results["native"][index])
        name = f"argument {index} ({kernel.signature[index].name})"
        _compare(found, np.asarray(array).reshape(found.shape), rtol, atol, name)
    report = examine(kernel, *args, grid=grid)
    if not report.ok:
        raise AssertionError(str(report))


def _copies(args: Sequence[Any]) -> list[Any]:
    return [np.array(value) if hasattr(value, "__array__") and np.ndim(value) else value for value in args]


def _expected(args: Sequence[Any], expect: Any) -> dict[int, Array]:
    """The arrays by the number of their argument."""
    if callable(expect):
        values = _copies(args)
        returned: Any = expect(*values)
        if returned is None:
            return {index: value for index, value in enumerate(values) if isinstance(value, np.ndarray)}
        return _expected(args, returned)
    if expect is None:
        return {}
    if isinstance(expect, Mapping):
        return dict(cast("Mapping[int, Array]", expect))
    if isinstance(expect, list | tuple):
        given = cast("Sequence[Array | None]", expect)
        return {index: value for index, value in enumerate(given) if isinstance(value, np.ndarray)}
    arrays = [index for index, value in enumerate(args) if hasattr(value, "__array__") and np.ndim(value)]
    return {arrays[-1]: np.asarray(expect)}


def _compare(found: Array, wanted: Array, rtol: float, atol: float, name: str) -> None:
    if rtol or atol:
        np.testing.assert_allclose(found.astype(np.float64), wanted.astype(np.float64), rtol, atol, err_msg=name)
    else:
        np.testing.assert_array_equal(found, wanted, err_msg=name)


def check_file(
    file: str | Path,
    args: str | Sequence[str] = AUTO,
    grid: int = 1,
    *,
    ranks: int | None = None,
    kernel: str | None = None,
    target: str | None = None,
    clean: bool = True,
    cycles_at_most: int | None = None,
    count_cycles: bool = False,
) -> int | None:
    """Check a kernel (`FILE.pto`, `FILE.py:KERNEL` or `FILE.cpp:EXPRESSION`) with argument words (`auto`: made up), on
    `ranks` where words or the kernel are for several; without `clean` its findings do not matter.

    Returns the cycles where they are asked for; more than `cycles_at_most` are a failure.
    """
    chosen, warnings = _opened(str(file), kernel, target)
    words = args.split() if isinstance(args, str) else list(args)
    launch = _launch(chosen, words, grid, ranks)
    if clean:
        report = launch.check()
        found: Sequence[Diagnostic] = (*warnings, *report.findings)
        if found:
            raise AssertionError("\n\n".join(map(str, found)))
    if cycles_at_most is None and not count_cycles:
        return None
    cycles = launch.profile().cycles
    if cycles_at_most is not None and cycles > cycles_at_most:
        more = 100 * (cycles / cycles_at_most - 1) if cycles_at_most else 100.0
        raise AssertionError(f"{file}: {chosen.name} takes {cycles} cycles, {more:.1f} % more than {cycles_at_most}")
    return cycles


def _opened(file: str, name: str | None, target: str | None) -> tuple[Any, Sequence[Diagnostic]]:
    """The kernel that is meant, and the warnings of its module."""
    if (written := CPP_FILE.fullmatch(file)) is not None:
        from ptosim.cpp_module import load_cpp

        return load_cpp(written["path"], target=target).kernel(name or written["kernel"]), ()
    source: Any = file
    if (script := SCRIPT.fullmatch(file)) is not None:
        from ptosim.ptodsl.script import script_kernel

        source = script_kernel(script["path"], script["kernel"]).source
    module = load(source, target)
    return module.kernel(name), module.warnings


@dataclass(frozen=True)
class _OneRank:
    """A launch as it is checked and timed; a World is one on several ranks."""

    kernel: Any
    values: Sequence[Any]
    grid: int

    def check(self) -> Any:
        return examine(self.kernel, *self.values, grid=self.grid)

    def profile(self) -> Any:
        return measure(self.kernel, *self.values, grid=self.grid)


def _launch(kernel: Any, words: Sequence[str], grid: int, ranks: int | None) -> Any:
    from ptosim.diagnostics import error

    asked = [AUTO] * len(kernel.signature) if list(words) == [AUTO] or not words else list(words)
    if len(asked) != len(kernel.signature):
        raise error("argument", f"{kernel.name} takes {len(kernel.signature)} arguments, but {len(asked)} were given")
    if ranks is None:
        ranks = 1 if any(map(is_for_ranks, asked)) else kernel.ranks_needed(grid) if AUTO in asked else None
    chosen = kernel.example_words(asked, grid, {}, ranks) if AUTO in asked else asked
    if ranks is not None:
        return ranked(kernel, chosen, ranks, grid)
    given = enumerate(zip(chosen, kernel.signature, strict=True))
    return _OneRank(kernel, [value_of(word, parameter, index) for index, (word, parameter) in given], grid)


__all__ = ["check", "check_file"]
