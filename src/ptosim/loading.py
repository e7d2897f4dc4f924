"""From text to what engines run: the list of passes, in order, and nothing else.

`load` of `language/` reads a module and verifies it as it was written. The passes below then rewrite a copy, on which
every operation knows the one of the text that it serves (`ParsedModule.origins`), so that findings, profiles and traps
name what the author wrote. Engines and observers read the copy; hints, fixes and `print` the text.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property, partial

from xdsl.ir import Operation

from ptosim.diagnostics import Diagnostic, PTOError, Source
from ptosim.effects.sync import signalling
from ptosim.language.analysis.kernel_entries import kernels
from ptosim.language.analysis.tile_modules import TILES, mark_tiles
from ptosim.language.load import VerifiedModule, load
from ptosim.language.micro.scope import VecScope
from ptosim.language.passes.element_accesses import name_element_accesses
from ptosim.language.passes.idle_vector_cores import add_idle_vector_cores
from ptosim.language.passes.infer_scopes import infer_scopes
from ptosim.language.passes.inline_regions import inline_regions
from ptosim.language.passes.launch_parameters import feed_launch_parameters
from ptosim.language.passes.register_operands import normalise
from ptosim.language.passes.section_calls import section_calls
from ptosim.language.passes.simt_sections import launch_sections
from ptosim.language.rules.verifier import in_source_order
from ptosim.language.structure.control import Yield
from ptosim.language.text.parser import ParsedModule, deep_recursion, without_collection
from ptosim.language.text.printing import text
from ptosim.tiles.passes.inline_tiles import inline_tiles
from ptosim.tiles.passes.memory_plan import MemoryPlan, memory_plans, plan_memory
from ptosim.tiles.passes.split_cores import split_parts
from ptosim.vmi.layout_plan import LayoutPlan, layout_plans
from ptosim.vmi.lower import lower_logical_vectors, lower_vectors_of_tiles

Pass = Callable[[VerifiedModule], VerifiedModule]
"""A pass takes a copy and returns it rewritten; what it cannot do it raises as a PTOError."""


DRAINED = "drained"
"""The plainest order, to compare with: every entry has ended before the next one starts."""


def preparing() -> Sequence[Pass]:
    """Passes of a load over the copy, in this order; each line says what holds afterwards."""
    return (
        _rewriting(mark_tiles),  # a module with tiles says so, whatever becomes of them
        _rewriting(inline_regions),  # a region belongs to a loop, a branch, a section or a scope
        _rewriting(feed_launch_parameters),  # every parameter of an entry is one of its signature
        _rewriting(add_idle_vector_cores),  # what a cube core writes to lies in a core of the kernel
        _rewriting(section_calls),  # a core reaches only functions for its kind
        _rewriting(launch_sections),  # workitems run functions
        _rewriting(lower_logical_vectors),  # no logical vector is left
        _scopes,  # every vector operation stands in a scope
        _rewriting(inline_tiles),  # no tile or view is passed to a function
        split_parts,  # what is for one kind of core stands in its code
        plan_memory,  # every tile has an address
    )


def lowering(sync: str) -> Sequence[Pass]:
    """Passes for a run, `lower` or a check: a file may be verified that nothing can run."""
    from ptosim.order.barriers import between_entries
    from ptosim.order.ordering import order_entries
    from ptosim.tiles.fifo.lower_fifos import lower_fifos
    from ptosim.tiles.lower import lower_tiles

    return (
        _rewriting(name_element_accesses),  # what the scalar unit loads and stores has its own name
        lower_fifos,  # what was a FIFO are signals, moves of tiles and counts
        lower_tiles,  # no operation on tiles or views is left
        lower_vectors_of_tiles,  # nor any logical vector that they have become
        _rewriting(normalise),  # copies, loads and stores have one spelling, lowered ones included
        between_entries if sync == DRAINED else partial(order_entries, sync=sync),  # entries that depend are ordered
    )


def _rewriting(rewrite: Callable[[ParsedModule], None]) -> Pass:
    """A pass that changes operations and nothing else of a module."""

    def rewritten(module: VerifiedModule) -> VerifiedModule:
        rewrite(module.parsed)
        return module

    return rewritten


def _scopes(module: VerifiedModule) -> VerifiedModule:
    return replace(module, warnings=in_source_order([*module.warnings, *infer_scopes(module.parsed)]))


class LoadedModule:
    """A module as it was written, its kernels, and how it runs."""

    def __init__(self, written: VerifiedModule, prepared: VerifiedModule, sync: str) -> None:
        self.written = written
        self.kernels = tuple(kernels(prepared.parsed))
        self.warnings = tuple(prepared.warnings)
        self._prepared = prepared
        self._sync = sync

    @cached_property
    def executable(self) -> VerifiedModule:
        """The module for engines, made when first asked for. Raises PTOError for what cannot be lowered."""
        return replace(_passed(self._prepared, lowering(self._sync)), kernels=self.kernels)

    @property
    def inferred_scopes(self) -> list[int]:
        """The lines of vector code that got a scope because none was written around it."""
        parsed = self._prepared.parsed
        made = (op for op in parsed.module.walk() if isinstance(op, VecScope) and op in parsed.positions)
        places = (parsed.location(op) for op in made if parsed.positions[op].name.text != op.name)
        return sorted({place.line for place in places if place is not None})

    @property
    def refused(self) -> list[Diagnostic]:
        """Refusals of lowering: tiles that break a rule only it knows, or for which there is none."""
        if TILES not in self._prepared.parsed.module.attributes:
            return []
        return in_source_order([each for found in self.executable.refused.values() for each in found])


def prepared_text(copy: VerifiedModule) -> tuple[str, list[Operation]]:
    """Runs the passes of a load on a module that may be changed: tiles with addresses. Gives the operations that these
    passes serve; ends of regions, which are not always written, are left out.
    """
    parsed = _passed(copy, preparing()).parsed
    return text(parsed), [parsed.origin(op) for op in parsed.module.walk() if not isinstance(op, Yield)]


def as_loaded(written: VerifiedModule, executable: VerifiedModule) -> LoadedModule:
    """A module that was lowered already, with something else to run in its place."""
    loaded = LoadedModule(written, executable, "written")
    loaded.executable = replace(executable, kernels=loaded.kernels)
    return loaded


@without_collection()
def load_module(source: Source, target: str | None = None, sync: str = "auto") -> LoadedModule:
    """Read, verify and prepare a module; raises PTOError with the first syntax error, or with all other errors."""
    written = load(source, target)
    copy = replace(written, parsed=written.parsed.cloned())
    loaded = LoadedModule(written, _passed(copy, preparing()), sync)
    if sync == "insert":
        _refuse_wrong_order(loaded)
    return loaded


def _refuse_wrong_order(loaded: LoadedModule) -> None:
    """Flags that hang and brackets that do not match stay wrong whatever is inserted beside them."""
    from ptosim.order.prove import prove

    written = signalling("flag", "buffer")
    for kernel in loaded.kernels:
        if any(op.name in written for function in kernel.entries.values() for op in function.walk()):
            found = prove(loaded.executable, dict(kernel.entries)).broken
            if wrong := [each for each in found if each.severity == "error"]:
                raise PTOError(*wrong)


def plan_of(source: Source, target: str | None = None) -> list[MemoryPlan]:
    """The memory plan of a module: its tiles, or where it has none, what its pointers name."""
    from ptosim.report.pointer_plan import pointer_plans

    written = load(source, target)
    plans = memory_plans(_passed(replace(written, parsed=written.parsed.cloned()), preparing()))
    return plans if any(plan.tiles for plan in plans) else pointer_plans(written)


def layouts_of(source: Source, target: str | None = None) -> list[LayoutPlan]:
    """The layouts of logical vectors."""
    parsed = load(source, target).parsed.cloned()
    with deep_recursion():
        inline_regions(parsed)
        return layout_plans(parsed)


@without_collection()
def _passed(module: VerifiedModule, passes: Sequence[Pass]) -> VerifiedModule:
    with deep_recursion():
        for rewrite in passes:
            module = rewrite(module)
        return module
