"""From text to what engines run: the list of passes, in order, and nothing else.

`load` of `language/` reads a module and verifies it as it was written. The passes below then rewrite a copy, on which
every operation knows the one of the text that it serves (`ParsedModule.origins`), so that findings, profiles and traps
name what the author wrote. Engines and observers read the copy; hints, fixes and `print` the text.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from ptosim.diagnostics import Source
from ptosim.language.load import VerifiedModule, kernels, load
from ptosim.language.parser import deep_recursion

Pass = Callable[[VerifiedModule], VerifiedModule]
"""A pass takes a copy and returns it rewritten; what it cannot do it raises as a PTOError."""

SYNC = ("auto", "written", "insert")
"""Whether synchronisation is inserted: where a function has tiles and none of its own, never, or always."""

PASSES: Sequence[Pass] = ()


@dataclass(frozen=True)
class LoadedModule:
    """A module as it was written, and as it runs."""

    written: VerifiedModule
    executable: VerifiedModule


def load_module(source: Source, target: str | None = None, sync: str = "auto") -> LoadedModule:
    """Read, verify and prepare a module; raises PTOError with the first syntax error, or with all other errors."""
    written = load(source, target)
    with deep_recursion():
        executable = replace(written, parsed=written.parsed.cloned())
        for rewrite in PASSES:
            executable = rewrite(executable)
        return LoadedModule(written, replace(executable, kernels=tuple(kernels(executable.parsed))))
