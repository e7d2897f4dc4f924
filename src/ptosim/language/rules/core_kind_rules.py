"""Rules of modules and of the kinds of core: what stands in a module, and which core runs an instruction.

A module says with `pto.kernel_kind` that its functions are for one kind of core; a function of a module that does not
may hold sections, and then what stands outside of them is for both.
"""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from ptosim.effects.names import CoreKind
from ptosim.language.micro.scope import Section
from ptosim.language.operation import (
    KERNEL_KIND,
    KERNEL_KINDS,
    Problem,
    PTOOperation,
    core_of,
    cores_of,
    enclosing_scope,
    lint,
    outside_scopes,
)
from ptosim.language.rules.call_rules import Found, helpers
from ptosim.language.structure.function import Call, Function, callees, entry_functions, every_function, function_of
from ptosim.language.text.assembly_format import word_in
from ptosim.language.tile.tile_operation import TileOperation

BACKEND = "pto.backend"
NAMES = {CoreKind.AIV: "vector", CoreKind.AIC: "cube"}
"""The kinds of core in words."""


# --- modules ----------------------------------------------------------------------------------------------------------


def module_problems(module: ModuleOp) -> Iterator[Found]:
    """Problems of a module and the modules in it."""
    symbols: set[str] = set()
    children = [op for op in module.body.ops if isinstance(op, ModuleOp)]
    split = any(KERNEL_KIND in op.attributes for op in children if not _is_apart(op))
    for op in module.body.ops:
        if isinstance(op, ModuleOp):
            if (
                split and KERNEL_KIND not in op.attributes and not _is_apart(op)
            ):  # its neighbours say which cores they are for
                yield op, Problem(f"expected VPTO kernel submodule to carry '{KERNEL_KIND}'")
            yield from module_problems(op)
        elif not isinstance(op, Function):
            yield op, Problem(f"{op.name} must be inside a function")
        elif op.symbol in symbols:
            yield op, Problem(f"@{op.symbol} is already defined in this module", at="sym_name")
        else:
            symbols.add(op.symbol)
        yield from _kind_problems(op)
    if module.parent_op() is None:
        yield from _kind_problems(module)


def _is_apart(module: ModuleOp) -> bool:
    """Whether a module is for another backend, which takes its modules by themselves."""
    backend = module.attributes.get(BACKEND)
    return backend is not None and word_in(backend) != "vpto"


def _kind_problems(op: Operation) -> Iterator[Found]:
    """The kind that a module or function says it is of is one."""
    kind = op.attributes.get(KERNEL_KIND)
    if kind is not None and word_in(kind) not in KERNEL_KINDS:
        known = " or ".join(KERNEL_KINDS)
        yield op, Problem(f"unknown kernel kind '{word_in(kind)}'; a kernel is {known}", at=KERNEL_KIND)


# --- cores ------------------------------------------------------------------------------------------------------------


def cores(function: Function) -> tuple[CoreKind, ...]:
    """The kinds of core that run an entry: as declared, both when it has sections, else by what it executes."""
    if (core := core_of(function)) is not None:
        return (core,)
    asked: set[CoreKind] = set()
    for core in (core for called in callees(function) for core in _asked(called)):
        asked.add(core)
        if len(asked) == len(CoreKind):
            break
    return tuple(core for core in CoreKind if core in asked) or (CoreKind.AIV,)


def _asked(function: Function) -> Iterator[CoreKind]:
    """The kinds of core that the text of a function asks for; none, if any will do."""
    if (core := core_of(function)) is not None:
        yield core
        return
    for op in outside_scopes(function):
        if isinstance(op, Section):
            yield from CoreKind
        elif isinstance(op, PTOOperation) and len(needed := cores_of(op)) == 1:
            yield from needed


def core_problems(module: ModuleOp) -> Iterator[Found]:
    """Instructions that the core which is to run them does not have."""
    called, entries = helpers(module), set(entry_functions(module))
    for function in every_function(module):
        yield from _function_problems(function, function in called)
        for op in function.walk():
            if isinstance(op, Call):
                yield from _call_problems(op)
            elif isinstance(op, PTOOperation) and op.only_in_entries and function not in entries:
                yield op, Problem(f"{op.name} belongs in a kernel entry, not in the helper @{function.symbol}")
    for call in calls_of_one_kind(module):
        if any(result.uses for result in call.results):
            core = core_of(call.function or call)
            assert core is not None
            message = f"the result of @{call.symbol} exists on the {NAMES[core]} core only, and both run this"
            yield call, Problem(message, at="callee", hint=f"move the call into pto.section.{NAMES[core]} {{ ... }}")


def _call_problems(call: Call) -> Iterator[Found]:
    """A function for one kind of core is not called by code for the other."""
    callee, core = call.function, core_of(call)
    needed = core_of(callee) if callee is not None else None
    if core is not None and needed is not None and core is not needed:
        message = f"@{call.symbol} is for the {NAMES[needed]} core, but this is code of the {NAMES[core]} core"
        yield call, Problem(message, at="callee")


def calls_of_one_kind(module: ModuleOp) -> Iterator[Call]:
    """The calls that only one kind of core makes although both run the code around: of functions that say their kind,
    in mixed kernels, outside of sections."""
    mixed = [function for function in entry_functions(module) if len(cores(function)) > 1]
    for function in callees(*mixed):
        for op in function.walk():
            if isinstance(op, Call) and core_of(op) is None:
                callee = op.function
                if callee is not None and core_of(callee) is not None:
                    yield op


def _function_problems(function: Function, in_helper: bool) -> Iterator[Found]:
    kind = core_of(function)
    for section in function.walk():
        if kind is not None and isinstance(section, Section) and section.core is not kind:
            message = f"{section.name} never runs: this function is for the {NAMES[kind]} core"
            yield section, lint(message)
    mixed = _is_mixed(function)
    unplaced: list[tuple[PTOOperation, CoreKind]] = []
    for op in function.walk():
        if not isinstance(op, PTOOperation) or len(cores := cores_of(op)) != 1 or enclosing_scope(op) is not None:
            continue
        (needed,) = cores
        core = core_of(op)
        if core is not None:
            if core is not needed:
                message = f"{op.name} is for the {NAMES[needed]} core, but this is code of the {NAMES[core]} core"
                if op.loads_on_any_core:
                    yield op, lint(message, hint=_move_hint(needed))
                else:
                    yield op, Problem(message)
        elif mixed and not isinstance(op, TileOperation):
            yield op, _shared(op, needed)
        elif not in_helper:
            unplaced.append((op, needed))
    yield from _both_kinds(unplaced)


def _both_kinds(unplaced: list[tuple[PTOOperation, CoreKind]]) -> Iterator[Found]:
    """Code of both kinds outside of sections: of tiles it runs part by part, if no part mixes them; micro-instructions
    ask for sections."""
    on_tiles = any(isinstance(op, TileOperation) for op, _ in unplaced)
    first: dict[Operation | None, tuple[PTOOperation, CoreKind]] = {}
    for op, needed in unplaced:
        other, kind = first.setdefault(_part(op) if on_tiles else None, (op, needed))
        if kind is not needed:
            where = "the same part of the kernel" if on_tiles else "the kernel"
            also = other.name if other.name != op.name else f"{other.name} for the {NAMES[kind]} core"
            message = f"{op.name} is for the {NAMES[needed]} core, but {where} also has {also}"
            hint = "put the code of each kind of core in pto.section.vector { ... } and pto.section.cube { ... }"
            yield op, Problem(message, hint=hint)
            return


def _part(op: Operation) -> Operation:
    """The operation at the top level of the function that an operation stands in."""
    while (parent := op.parent_op()) is not None and not isinstance(parent, Function):
        op = parent
    return op


def _shared(op: PTOOperation, needed: CoreKind) -> Problem:
    """An instruction outside the sections of a mixed kernel. A copy there is legal, and each core runs it that can."""
    name = NAMES[needed]
    hint = _move_hint(needed)
    if _is_copy(op):
        message = f"{op.name} stands outside the sections: every {name} core runs it, the others pass over it"
        return lint(message, hint=hint)
    message = f"{op.name} stands outside the sections, so that every core runs it, but it is for the {name} core"
    return Problem(message, hint=hint)


def _move_hint(needed: CoreKind) -> str:
    return f"move it into pto.section.{NAMES[needed]} {{ ... }}"


def passes_over(kind: CoreKind, op: Operation) -> bool:
    """Whether cores of a kind leave out a copy of the code that all cores of a mixed kernel share.

    They do not have the memories that it copies between. (A helper may be called from anywhere: there it is an error.)
    """
    if not isinstance(op, PTOOperation) or kind in op.cores or not _is_copy(op) or core_of(op) is not None:
        return False
    function = function_of(op)
    return function is not None and _is_mixed(function)


def _is_copy(op: PTOOperation) -> bool:
    return not op.regions and len(op.spaces) > 1


def _is_mixed(function: Function) -> bool:
    """Whether both kinds of core run a function: it has sections, or calls functions that say their kind."""
    if any(isinstance(op, Section) for op in function.walk()):
        return True
    return core_of(function) is None and _calls_kinds(function) and len(cores(function)) > 1


def _calls_kinds(function: Function) -> bool:
    called = (op.function for op in function.walk() if isinstance(op, Call))
    return any(callee is not None and core_of(callee) is not None for callee in called)
