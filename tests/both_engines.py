"""Kernels on both engines: the same bytes in the arguments, or the same error."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ptosim.api import Kernel
from ptosim.diagnostics import Diagnostic, PTOError
from raw import all_raw


@dataclass(frozen=True)
class BothEngines:
    """A kernel that both engines run: what a test expects of one it expects of the other."""

    kernel: Kernel

    def __call__(self, *arguments: Any, **options: Any) -> None:
        """The arguments become what both leave, or the error of both is raised. A run by an engine, or in an order that
        only the reference has, is one run."""
        if "engine" in options or options.get("schedule", "program") != "program":
            self.kernel(*all_raw(arguments), **{"engine": "reference", **options})
            return
        copies = _copied(arguments)
        expected = _left(self.kernel, arguments, {"engine": "reference", **options})
        found = _left(self.kernel, copies, {"engine": "native", **options})
        if isinstance(expected, PTOError):
            assert isinstance(found, PTOError) and found.diagnostics == expected.diagnostics
            raise expected
        for number, pair in enumerate(zip(found, expected, strict=True)):
            one, other = (np.frombuffer(each, np.uint8) for each in pair)
            np.testing.assert_array_equal(one, other, f"array {number}: the engines differ")


def outcome(kernel: Kernel, arguments: tuple[Any, ...], **options: Any) -> list[bytes] | Diagnostic:
    """The arrays after a run on copies, or the error that ended it."""
    found = _left(kernel, _copied(arguments), options)
    if isinstance(found, PTOError):
        (diagnostic,) = found.diagnostics
        return diagnostic
    return found


def agree(kernel: Kernel, *arguments: Any, threads: tuple[int, ...] = (1,), **options: Any) -> list[bytes] | Diagnostic:
    """Run on the reference engine and on the native one, and compare; gives what both did."""
    expected = outcome(kernel, arguments, engine="reference", **options)
    for count in threads:
        found = outcome(kernel, arguments, engine="native", threads=count, **options)
        assert found == expected, f"with {count} threads"
    return expected


def fails(kernel: Kernel, *arguments: Any, **options: Any) -> Diagnostic:
    """The error that both engines raise."""
    found = agree(kernel, *arguments, **options)
    assert isinstance(found, Diagnostic)
    return found


def _copied(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(argument.copy() if isinstance(argument, np.ndarray) else argument for argument in arguments)


def _left(kernel: Kernel, arguments: tuple[Any, ...], options: dict[str, Any]) -> list[bytes] | PTOError:
    """The bytes of the arrays when a run has ended, or its error."""
    try:
        kernel(*all_raw(arguments), **options)
    except PTOError as error:
        return error
    return [array.tobytes() for array in arguments if isinstance(array, np.ndarray)]
