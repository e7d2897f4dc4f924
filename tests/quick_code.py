"""Code that takes LLVM a third of the time, for suites that compile thousands of kernels.

It comes from the same IR by the same passes; only the code generator is told not to try hard (level 0). Every sixteenth
object is what users get, so the reference engine is held against code of both levels.
"""

from collections.abc import Callable, Sequence
from itertools import count

from ptosim.native.host.toolchain import LEVEL, Host

USUAL = 16
"""Of so many objects one is as usual."""


def mostly_quick(compile_object: Callable[..., bytes], first: int) -> Callable[..., bytes]:
    """`first` decides which of the objects are as usual."""
    numbers = count(first)

    def compiled(text: str, host: Host, level: int = LEVEL, **more: Sequence[str]) -> bytes:
        return compile_object(text, host, level=level if next(numbers) % USUAL == 0 else 0, **more)

    return compiled
