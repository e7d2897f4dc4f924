"""Vector code outside of a scope gets one: every run of vector operations (scope_runs.py) becomes a `pto.vecscope`.

Scalars that are needed outside stay before it. Masks and registers that are made out of scalars are made again in every
scope that uses them; another one cannot leave its scope, and the diagnostic says what to wrap. Scopes that are written
stay as they are. A helper that is called inside of scopes relies on them; if it is called outside as well, those calls
get a copy of it with scopes of its own.
"""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects.builtin import ModuleOp, StringAttr, SymbolRefAttr
from xdsl.ir import Block, Operation, Region, SSAValue

from ptosim.diagnostics import Diagnostic, PTOError
from ptosim.language.micro.scope import VecScope
from ptosim.language.micro.sync_fence import MemBar
from ptosim.language.operation import Problem, PTOOperation, enclosing_scope, lint
from ptosim.language.passes.scope_runs import Runs, ScopeRun, is_producer
from ptosim.language.rules.scope_escape import escape
from ptosim.language.rules.verifier import in_source_order
from ptosim.language.structure.function import Call, Function, callees, every_function
from ptosim.language.text.parser import ParsedModule
from ptosim.language.types import is_vector_state

WRAP = "wrap the vector instructions in pto.vecscope { ... }"


def infer_scopes(parsed: ParsedModule) -> list[Diagnostic]:
    """Give scopes to all bare vector code; raises what cannot have one, and returns what is doubtful."""
    problems: list[tuple[Operation, Problem]] = []
    for function in _outside(parsed):
        problems += _calls_with_registers(function)
        problems += _without_scope(function)
        if not any(map(is_vector_state, function.return_types)):  # else it relies on the scope of its callers
            problems += _scoped(parsed, function)
        problems += _idle_barriers(function)
    found = in_source_order([parsed.diagnostic(op, problem) for op, problem in problems])
    errors = [one for one in found if one.severity == "error"]
    if errors:
        raise PTOError(*errors)
    return found


def _scoped(parsed: ParsedModule, function: Function) -> Iterator[tuple[Operation, Problem]]:
    runs = Runs(function)
    for run in runs.all:
        _bring(parsed, runs, run)
    _forget(runs)
    needed = {run: runs.needed(run) for run in runs.all}
    escapes = [(run, op) for run in runs.all for op in runs.leaving(run, needed[run])]
    if not escapes:
        for run in runs.all:
            _wrap(parsed, run, needed[run])
    yield from ((op, escape(parsed, runs, run, op, needed[run])) for run, op in escapes)


# --- registers and masks that are made out of scalars -----------------------------------------------------------------


def _bring(parsed: ParsedModule, runs: Runs, run: ScopeRun) -> None:
    """Make again, inside a run, the values of others that it uses, if possible."""
    start = run.ops[0]
    for user in [inner for op in run.ops for inner in op.walk()]:
        for index, value in enumerate(user.operands):
            if _is_foreign(parsed, runs, run, value):
                _copy(parsed, runs, run, value, start)
                user.operands[index] = run.copies[value]


def _is_foreign(parsed: ParsedModule, runs: Runs, run: ScopeRun, value: SSAValue) -> bool:
    """Whether a value is made in another run and can be made in this one."""
    owner = value.owner
    if not is_vector_state(value.type) or not isinstance(owner, Operation):
        return False
    return runs.run_of(owner) not in (None, run) and is_producer(parsed, owner)


def _copy(parsed: ParsedModule, runs: Runs, run: ScopeRun, value: SSAValue, start: Operation) -> None:
    """Make a value at the start of a run, and before it the masks that it is made of."""
    owner, block = value.owner, start.parent_block()
    assert isinstance(owner, Operation) and block is not None
    if value in run.copies:
        return
    for operand in owner.operands:
        if _is_foreign(parsed, runs, run, operand):
            _copy(parsed, runs, run, operand, start)
    new = parsed.copied(owner, run.copies)
    block.insert_op_before(new, start)
    runs.add(run, new, start)


def _forget(runs: Runs) -> None:
    """Drop what was only made for other runs, in any of them."""
    copied = {value.owner for run in runs.all for pair in run.copies.items() for value in pair}
    for run in runs.all:
        for op in [op for op in reversed(run.ops) if op in copied]:
            if not any(result.uses for result in op.results):
                runs.remove(run, op)
                op.detach()
                op.erase()


# --- the scope --------------------------------------------------------------------------------------------------------


def _wrap(parsed: ParsedModule, run: ScopeRun, needed: set[Operation]) -> None:
    """Put a run into a scope, which stands where its first vector operation does."""
    if not run.has_vector:
        return
    scope = VecScope.make(regions=[Region(Block())])
    parsed.serve(scope, run.first)
    block = run.ops[0].parent_block()
    assert block is not None
    block.insert_op_before(scope, run.ops[0])
    for op in run.ops:
        op.detach()
        if op in needed:
            block.insert_op_before(op, scope)
        else:
            scope.body.block.add_op(op)


def _calls_with_registers(function: Function) -> Iterator[tuple[Operation, Problem]]:
    for call in _outer_calls(function):
        given = next((result.type for result in call.results if is_vector_state(result.type)), None)
        if given is not None:
            message = f"@{call.symbol} gives {given}, so it must be called inside a vector scope"
            yield call, Problem(message, at="callee", hint=WRAP)


def _without_scope(function: Function) -> Iterator[tuple[Operation, Problem]]:
    """Stores of special registers are no part of the code that gets a scope."""
    for op in function.walk():
        if isinstance(op, PTOOperation) and op.scope_is_written and enclosing_scope(op) is None:
            yield op, Problem(f"{op.name} must be inside pto.vecscope or pto.strict_vecscope", hint=WRAP)


def _idle_barriers(function: Function) -> Iterator[tuple[Operation, Problem]]:
    for op in function.walk():
        if isinstance(op, MemBar) and enclosing_scope(op) is None:
            hint = "order pipes with pto.set_flag and pto.wait_flag"
            message = "pto.mem_bar has no effect outside a vector scope"
            yield op, lint(message, hint=hint)


# --- helpers ----------------------------------------------------------------------------------------------------------


def _outside(parsed: ParsedModule) -> list[Function]:
    """The functions that run outside of scopes. One that also runs inside is copied, and the copy is among them."""
    functions = [function for function in every_function(parsed.module) if not function.is_declaration]
    inner = [op for op in parsed.module.walk() if isinstance(op, Call) and enclosing_scope(op) is not None]
    inside = set(callees(*(call.function for call in inner if call.function is not None)))
    outside = {function: None for function in functions if function not in inside}
    waiting = list(outside)
    while waiting:
        for call in _outer_calls(waiting.pop()):
            callee = call.function
            if callee is not None and not callee.is_declaration and callee not in outside:
                outside[callee] = None
                waiting.append(callee)
    copies = {function: _second(parsed, function) for function in outside if function in inside}
    found = [copies.get(function, function) for function in outside]
    for call in [call for function in found for call in _outer_calls(function)]:
        callee = call.function
        if callee is not None and callee in copies:
            call.properties["callee"] = SymbolRefAttr(copies[callee].symbol)
            call.function = copies[callee]
    return found


def _outer_calls(function: Function) -> list[Call]:
    """The calls of a function outside of scopes."""
    return [op for op in function.walk() if isinstance(op, Call) and enclosing_scope(op) is None]


def _second(parsed: ParsedModule, function: Function) -> Function:
    """A copy of a function beside it, under a name of its own."""
    module, block = function.parent_op(), function.parent_block()
    assert isinstance(module, ModuleOp) and block is not None
    copy = parsed.copied(function)
    assert isinstance(copy, Function)
    taken = {op.symbol for op in module.body.ops if isinstance(op, Function)}
    symbol = f"{function.symbol}_outside"
    while symbol in taken:
        symbol += "_"
    copy.properties["sym_name"] = StringAttr(symbol)
    copy.properties["sym_visibility"] = StringAttr("private")
    block.insert_op_after(copy, function)
    return copy
