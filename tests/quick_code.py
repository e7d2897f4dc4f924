"""Code that takes LLVM a third of the time, for suites that compile thousands of kernels.

It comes from the same IR by the same passes; only the code generator is told not to try hard (level 0). Every sixteenth
object is what users get, so the reference engine is held against code of both levels.
"""

from collections.abc import Callable
from itertools import count

from ptosim.native.host.toolchain import Host

USUAL = 16
"""Of so many objects one is as usual."""


def mostly_quick(compile_object: Callable[..., bytes], first: int) -> Callable[[str, Host], bytes]:
    """`first` decides which of the objects are as usual."""
    numbers = count(first)

    def compiled(text: str, host: Host) -> bytes:
        return compile_object(text, host) if next(numbers) % USUAL == 0 else compile_object(text, host, level=0)

    return compiled
