"""One kernel on both engines: the same bytes in the arguments, or the same error."""

from typing import Any

import numpy as np

from ptosim.api import Kernel
from ptosim.diagnostics import Diagnostic, PTOError
from raw import all_raw


def outcome(kernel: Kernel, arguments: tuple[Any, ...], **options: Any) -> list[bytes] | Diagnostic:
    """The arrays after a run on copies, or the error that ended it."""
    given = [argument.copy() if isinstance(argument, np.ndarray) else argument for argument in arguments]
    try:
        kernel(*all_raw(given), **options)
    except PTOError as error:
        (diagnostic,) = error.diagnostics
        return diagnostic
    return [array.tobytes() for array in given if isinstance(array, np.ndarray)]


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
