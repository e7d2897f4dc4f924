"""Rules of modules and of the kinds of core: what stands in a module, and which core runs an instruction.

A module says with `pto.kernel_kind` that its functions are for one kind of core; a function of a module that does not
may hold sections, and then what stands outside of them is for both.
"""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from ptosim.effects.names import CoreKind
from ptosim.language.calls import Found, helpers
from ptosim.language.function import Function, entry_functions, function_of
from ptosim.language.operation import (
    KERNEL_KIND,
    KERNEL_KINDS,
    Problem,
    PTOOperation,
    core_of,
    cores_of,
    enclosing_scope,
)
from ptosim.language.scope import Section
from ptosim.language.syntax import word_in

_NAMES = {CoreKind.AIV: "vector", CoreKind.AIC: "cube"}


# --- modules --------------------------------------------------------------------------------------


def module_problems(module: ModuleOp) -> Iterator[Found]:
    """What is wrong with a module and the modules in it."""
    symbols: set[str] = set()
    for op in module.body.ops:
        if isinstance(op, ModuleOp):
            if KERNEL_KIND not in op.attributes:
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


def _kind_problems(op: Operation) -> Iterator[Found]:
    """The kind that a module or function says it is of is one."""
    kind = op.attributes.get(KERNEL_KIND)
    if kind is not None and word_in(kind) not in KERNEL_KINDS:
        known = " or ".join(KERNEL_KINDS)
        yield op, Problem(f"unknown kernel kind '{word_in(kind)}'; a kernel is {known}", at=KERNEL_KIND)


def program_problems(module: ModuleOp) -> Iterator[Found]:
    """Entries of one name in different modules are the programs of one kernel: for different cores, same parameters."""
    programs: dict[str, dict[CoreKind | None, Function]] = {}
    for function in entry_functions(module):
        others = programs.setdefault(function.symbol, {})
        core = core_of(function)
        if core is not None and core in others and others[core].parent_op() is not function.parent_op():
            yield function, Problem(f"@{function.symbol} is already defined for the {_NAMES[core]} core", at="sym_name")
        for other in others.values():
            if list(other.argument_types) != list(function.argument_types):
                types = ", ".join(map(str, other.argument_types))
                yield (
                    function,
                    Problem(f"@{function.symbol} has other parameters in another module: ({types})", at="sym_name"),
                )
        others.setdefault(core, function)


# --- cores ----------------------------------------------------------------------------------------


def core_problems(module: ModuleOp) -> Iterator[Found]:
    """Instructions that the core which is to run them does not have."""
    called, entries = helpers(module), set(entry_functions(module))
    for function in module.walk():
        if isinstance(function, Function):
            yield from _function_problems(function, function in called)
            if function not in entries:
                yield from _helper_problems(function)


def _helper_problems(function: Function) -> Iterator[Found]:
    for op in function.walk():
        if isinstance(op, PTOOperation) and op.only_in_entries:
            yield op, Problem(f"{op.name} belongs in a kernel entry, not in the helper @{function.symbol}")


def _function_problems(function: Function, in_helper: bool) -> Iterator[Found]:
    kind = core_of(function)
    for section in function.walk():
        if kind is not None and isinstance(section, Section) and section.core is not kind:
            message = f"{section.name} never runs: this function is for the {_NAMES[kind]} core"
            yield section, Problem(message, kind="lint", severity="warning")
    mixed = _is_mixed(function)
    first: tuple[Operation, CoreKind] | None = None
    for op in function.walk():
        if not isinstance(op, PTOOperation) or len(cores := cores_of(op)) != 1 or enclosing_scope(op) is not None:
            continue
        (needed,) = cores
        core = core_of(op)
        if core is not None:
            if core is not needed:
                message = f"{op.name} is for the {_NAMES[needed]} core, but this is code of the {_NAMES[core]} core"
                if op.loads_on_any_core:
                    yield op, Problem(message, kind="lint", severity="warning", hint=_move_hint(needed))
                else:
                    yield op, Problem(message)
        elif mixed:
            yield op, _shared(op, needed)
        elif in_helper:
            continue
        elif first is None:
            first = op, needed
        elif first[1] is not needed:
            yield (
                op,
                Problem(
                    f"{op.name} is for the {_NAMES[needed]} core, but the kernel also has {first[0].name}",
                    hint="put the code of each kind of core in pto.section.vector { ... } and pto.section.cube { ... }",
                ),
            )
            return


def _shared(op: PTOOperation, needed: CoreKind) -> Problem:
    """An instruction outside the sections of a mixed kernel. A copy there is legal, and each core runs it that can."""
    name = _NAMES[needed]
    hint = _move_hint(needed)
    if _is_copy(op):
        message = f"{op.name} stands outside the sections: every {name} core runs it, the others pass over it"
        return Problem(message, kind="lint", severity="warning", hint=hint)
    message = f"{op.name} stands outside the sections, so that every core runs it, but it is for the {name} core"
    return Problem(message, hint=hint)


def _move_hint(needed: CoreKind) -> str:
    return f"move it into pto.section.{_NAMES[needed]} {{ ... }}"


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
    return any(isinstance(op, Section) for op in function.walk())
