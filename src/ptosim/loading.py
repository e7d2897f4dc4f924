"""From text to what engines run: the list of passes, in order, and nothing else.

`load` of `language/` reads a module and verifies it as it was written. The passes below then rewrite a copy, on which
every operation knows the one of the text that it serves (`ParsedModule.origins`), so that findings, profiles and traps
name what the author wrote. Engines and observers read the copy; hints, fixes and `print` the text.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from ptosim.diagnostics import Source
from ptosim.language.infer_scopes import infer_scopes
from ptosim.language.inline_regions import inline_regions
from ptosim.language.kernels import kernels
from ptosim.language.launch_parameters import feed_launch_parameters
from ptosim.language.load import VerifiedModule, load
from ptosim.language.parser import ParsedModule, deep_recursion
from ptosim.language.section_calls import section_calls
from ptosim.language.tile_kernel import mark_tiles
from ptosim.language.verify import in_source_order

Pass = Callable[[VerifiedModule], VerifiedModule]
"""A pass takes a copy and returns it rewritten; what it cannot do it raises as a PTOError."""

SYNC = ("auto", "written", "insert")
"""Whether synchronisation is inserted: where a function has tiles and none of its own, never, or always."""


def _rewriting(rewrite: Callable[[ParsedModule], None]) -> Pass:
    """A pass that changes operations and nothing else of a module."""

    def rewritten(module: VerifiedModule) -> VerifiedModule:
        rewrite(module.parsed)
        return module

    return rewritten


def _scopes(module: VerifiedModule) -> VerifiedModule:
    return replace(module, warnings=in_source_order([*module.warnings, *infer_scopes(module.parsed)]))


PASSES: Sequence[Pass] = (
    _rewriting(mark_tiles),  # a module with tiles says so, whatever becomes of them
    _rewriting(inline_regions),  # a region belongs to a loop, a branch, a section or a scope
    _rewriting(feed_launch_parameters),  # every parameter of an entry is one of its signature
    _rewriting(section_calls),  # a core reaches only functions for its kind
    _scopes,  # every vector operation stands in a scope
)
"""Each with what holds after it."""


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
