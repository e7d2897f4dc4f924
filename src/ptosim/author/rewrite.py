"""The source rewrite: branches and loops of a Python function become calls that may trace them.

The body of a branch or loop becomes a function of the names that it sets; it returns those that are needed behind it.
What decides is known when the function runs: a condition that Python knows just calls one of the two.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from typing import NoReturn

from ptosim.author.expressions import (
    NO_TYPE_PARAMETERS,
    ExpressionRewrite,
    call_name,
    has_walrus,
    runtime_call,
    standing_at,
)
from ptosim.author.failures import UnsupportedControl, failure
from ptosim.author.liveness import ANY_ITEM, NameUse, own_transfers
from ptosim.author.place import GENERATED, statement_place
from ptosim.author.transfers import without_transfers

_LOCAL_SCOPES = ("section", "simt", "tileop")
"""Nodes whose assignments are local to them."""
_OF_LOOPS = (ast.Break, ast.Continue)


class FunctionRewrite:
    """One function of a file, its statements rewritten."""

    def __init__(self, file: str) -> None:
        self._file = file
        self._use = NameUse()
        self._number = 0
        self._unset: set[str] = set()
        self._in_run_time_loop = False
        self._expressions = ExpressionRewrite()

    def body(self, node: ast.FunctionDef) -> list[ast.stmt]:
        """The statements of the new function."""
        for each in ast.walk(node):
            if isinstance(each, ast.Yield | ast.YieldFrom | ast.Await | ast.AsyncFor | ast.AsyncWith):
                self._refuse(each, "a kernel is no generator and does not wait: yield and await do not belong here")
            if isinstance(each, ast.Global | ast.Nonlocal):
                self._refuse(each, "a kernel cannot set names outside of itself", "return or store the value instead")
        made = self._block(node.body, frozenset())
        parameters = {each.arg for each in ast.walk(node.args) if isinstance(each, ast.arg)}
        names = sorted(name for name in self._unset if name not in parameters and "[" not in name)
        first = node.body[0]
        start: list[ast.stmt] = [
            standing_at(first, ast.Assign([ast.Name(name, ast.Store())], runtime_call("unset", ast.Constant(name))))
            for name in names
        ]
        return start + made

    # --- statements ---------------------------------------------------------------------------------------------------

    def _block(self, statements: Sequence[ast.stmt], after: frozenset[str]) -> list[ast.stmt]:
        made: list[ast.stmt] = []
        for node, live in zip(statements, self._use.live(statements, after), strict=True):
            made += self._statement(node, live)
        return made or [ast.Pass(lineno=1, col_offset=0, end_lineno=1, end_col_offset=0)]

    def _statement(self, node: ast.stmt, live: frozenset[str]) -> list[ast.stmt]:
        match node:
            case ast.If():
                return self._if(node, live)
            case ast.For():
                return self._for(node, live)
            case ast.While():
                return self._while(node, live)
            case ast.With():
                return self._with(node, live)
            case ast.Try():
                return [self._try(node, live)]
            case ast.FunctionDef():
                return [self._nested(node)]
            case ast.AsyncFunctionDef() | ast.AsyncFor() | ast.AsyncWith():
                self._refuse(node, "a kernel does not wait: async does not belong here")
            case ast.Return() if self._in_run_time_loop:
                message = "return inside a loop that runs on the device"
                self._refuse(node, message, "let the loop end, with a condition or break, and return behind it")
            case _:
                return [self._expressions.statement(node)]

    def _try(self, node: ast.Try, live: frozenset[str]) -> ast.stmt:
        around = live | self._use.reads(node.orelse) | self._use.reads(node.finalbody)
        for handler in node.handlers:
            handler.body = self._block(handler.body, around)
        node.body = self._block(node.body, around | self._use.stores(node.body))
        node.orelse = self._block(node.orelse, around) if node.orelse else []
        node.finalbody = self._block(node.finalbody, live) if node.finalbody else []
        return node

    def _nested(self, node: ast.FunctionDef) -> ast.stmt:
        if not node.decorator_list:
            node.body = FunctionRewrite(self._file).body(node)
        return node

    # --- branches -----------------------------------------------------------------------------------------------------

    def _if(self, node: ast.If, live: frozenset[str]) -> list[ast.stmt]:
        transfers = own_transfers([node], (*_OF_LOOPS, ast.Return))
        if call_name(node.test) == "const_expr" or transfers:
            test = self._expressions.expression(node.test)
            if transfers:
                word = type(transfers[0]).__name__.lower()
                test = standing_at(node.test, runtime_call("static_test", test, ast.Constant(word)))
            node.test = test
            node.body = self._block(node.body, live)
            node.orelse = self._block(node.orelse, live) if node.orelse else []
            return [node]
        stored = self._stored([node])
        merged = [name for name in stored if self._is_live(name, live)]
        self._unset |= {*stored}
        number = self._next()
        functions: list[ast.stmt] = []
        for part, statements in (("then", node.body), ("else", node.orelse)):
            functions.append(self._function(node, f"{part}_{number}", stored, statements, merged))
        call = runtime_call(
            "branch",
            self._expressions.expression(node.test),
            *(ast.Name(f"{GENERATED}{part}_{number}", ast.Load()) for part in ("then", "else")),
            _strings(merged),
            self._values(stored),
        )
        return [*functions, self._rebound(node, merged, standing_at(node.test, call))]

    # --- loops --------------------------------------------------------------------------------------------------------

    def _for(self, node: ast.For, live: frozenset[str]) -> list[ast.stmt]:
        callee = call_name(node.iter)
        if callee == "static_range":
            return [self._static_loop(node, live)]
        if callee != "range":
            message = "a loop of a kernel counts: for i in range(...), or for i in pto.static_range(...) to unroll it"
            self._refuse(node.iter, message, "index the sequence with the turn of pto.static_range")
        if not isinstance(node.target, ast.Name):
            self._refuse(node.target, "the index of a loop is one plain name")
        self._no_return(node)
        if own_transfers(node.body, _OF_LOOPS) or node.orelse:
            return self._block(without_transfers(node, self._next(), self._refuse), live)
        index = node.target.id
        self._no_counted_items(node.body, index)
        stored = [name for name in self._stored(node.body) if name != index]
        read = self._use.reads(node.body)
        kept = [name for name in stored if self._is_live(name, read | live)]
        self._unset |= {*stored, index}
        number = self._next()
        body = self._loop_body(node, f"body_{number}", [index, *stored], node.body, kept, live | read)
        assert isinstance(node.iter, ast.Call)
        call = runtime_call(
            "for_range",
            ast.Tuple([self._expressions.expression(each) for each in node.iter.args], ast.Load()),
            ast.Name(f"{GENERATED}body_{number}", ast.Load()),
            ast.Constant(index),
            _strings(stored),
            self._values(stored),
            _strings(kept),
        )
        return [body, self._rebound(node, [index, *kept], standing_at(node.iter, call))]

    def _static_loop(self, node: ast.For, live: frozenset[str]) -> ast.stmt:
        around = live | self._use.reads([node])
        node.body = self._block(node.body, around)
        node.orelse = self._block(node.orelse, live) if node.orelse else []
        name = ast.unparse(node.target)
        iterated = self._expressions.expression(node.iter)
        node.iter = standing_at(node.iter, runtime_call("turns", ast.Constant(name), iterated))
        return node

    def _while(self, node: ast.While, live: frozenset[str]) -> list[ast.stmt]:
        self._no_return(node)
        if has_walrus(node.test):
            node = self._tested_inside(node)
        if own_transfers(node.body, _OF_LOOPS) or node.orelse:
            return self._block(without_transfers(node, self._next(), self._refuse), live)
        stored = self._stored([node])
        read = self._use.reads(node.body) | self._use.read_by(node.test)
        kept = [name for name in stored if self._is_live(name, read | live)]
        self._unset |= {*stored}
        number = self._next()
        test = standing_at(node.test, ast.Return(self._expressions.expression(node.test)))
        test_function = self._function(node, f"test_{number}", stored, [], None)
        test_function.body.append(test)
        body = self._loop_body(node, f"body_{number}", stored, node.body, kept, live | read)
        call = runtime_call(
            "while_loop",
            ast.Name(f"{GENERATED}test_{number}", ast.Load()),
            ast.Name(f"{GENERATED}body_{number}", ast.Load()),
            _strings(stored),
            self._values(stored),
            _strings(kept),
        )
        return [test_function, body, self._rebound(node, kept, standing_at(node.test, call))]

    def _tested_inside(self, node: ast.While) -> ast.While:
        """A loop whose condition sets a name decides in its body, where names can be set."""
        if node.orelse:
            self._refuse(node.test, "a loop with else cannot set a name in its condition", "set it inside the loop")
        leaves = ast.If(ast.UnaryOp(ast.Not(), node.test), [ast.Break()], [])
        return standing_at(node.test, ast.While(ast.Constant(True), [leaves, *node.body], []))

    def _loop_body(
        self,
        node: ast.stmt,
        name: str,
        parameters: Sequence[str],
        statements: Sequence[ast.stmt],
        kept: Sequence[str],
        live: frozenset[str],
    ) -> ast.FunctionDef:
        outside, self._in_run_time_loop = self._in_run_time_loop, True
        made = self._function(node, name, parameters, statements, kept, live)
        self._in_run_time_loop = outside
        return made

    def _stored(self, statements: Sequence[ast.stmt]) -> list[str]:
        """Names and items that statements set. Where the index of an item is set there as well, any item may be."""
        found = self._use.stores(statements)
        names = {name for name in found if "[" not in name}
        held = {name.partition("[")[0] for name in found if name.endswith(ANY_ITEM) or _index_names(name) & names}
        keys = {name for name in found - names if name.partition("[")[0] not in held | names}
        return sorted(names | keys | {f"{name}{ANY_ITEM}" for name in held - names})

    def _no_counted_items(self, statements: Sequence[ast.stmt], counter: str) -> None:
        """An item of a list goes around a loop where its index is known."""
        items = (each for statement in statements for each in ast.walk(statement) if isinstance(each, ast.Subscript))
        for node in items:
            is_counted = any(isinstance(each, ast.Name) and each.id == counter for each in ast.walk(node.slice))
            if is_counted and isinstance(node.ctx, ast.Store):
                name = ast.unparse(node)
                hint = "items are carried where their index is known; store to memory with scalar.store"
                self._refuse(node, f"{name} cannot be set in a loop that runs on the device", hint)

    def _no_return(self, node: ast.For | ast.While) -> None:
        for each in own_transfers(node.body, (ast.Return,)):
            message = "return inside a loop that runs on the device"
            self._refuse(each, message, "let the loop end, with a condition or break, and return behind it")

    # --- with ---------------------------------------------------------------------------------------------------------

    def _with(self, node: ast.With, live: frozenset[str]) -> list[ast.stmt]:
        callees = [call_name(item.context_expr) for item in node.items]
        for item in node.items:
            item.context_expr = self._expressions.expression(item.context_expr)
        if not any(callee in _LOCAL_SCOPES for callee in callees):
            node.body = self._block(node.body, live)
            return [node]
        stored = sorted(name for name in self._use.stores(node.body) if "[" not in name)
        self._unset |= {*stored}
        number = self._next()
        node.body = self._block(node.body, frozenset())
        if not stored:
            return [node]
        saved = f"{GENERATED}saved_{number}"
        before = standing_at(node, ast.Assign([ast.Name(saved, ast.Store())], self._values(stored)))
        left = runtime_call("leave", _strings(stored), ast.Name(saved, ast.Load()))
        return [before, node, self._rebound(node, stored, standing_at(node, left))]

    # --- what they share ----------------------------------------------------------------------------------------------

    def _is_live(self, name: str, live: Iterable[str]) -> bool:
        return name.partition("[")[0] in live

    def _next(self) -> int:
        self._number += 1
        return self._number

    def _function(
        self,
        node: ast.stmt,
        name: str,
        parameters: Sequence[str],
        statements: Sequence[ast.stmt],
        returned: Sequence[str] | None,
        live: frozenset[str] = frozenset(),
    ) -> ast.FunctionDef:
        """A piece of code as a function of the names that it sets."""
        names = [f"{GENERATED}item_{n}" if "[" in each else each for n, each in enumerate(parameters)]
        start: list[ast.stmt] = []
        for argument, parameter in zip(names, parameters, strict=True):
            if argument != parameter:
                start.append(
                    standing_at(node, ast.Assign([_item(parameter, ast.Store())], ast.Name(argument, ast.Load())))
                )
        after = frozenset(name.partition("[")[0] for name in returned or ()) | live
        body = self._block(statements, after) if statements else []
        end = [standing_at(node, ast.Return(self._values(returned)))] if returned is not None else []
        arguments = ast.arguments([], [ast.arg(each) for each in names], None, [], [], None, [])
        made = ast.FunctionDef(f"{GENERATED}{name}", arguments, [*start, *body, *end], [], **NO_TYPE_PARAMETERS)
        return standing_at(node, made)

    def _values(self, names: Iterable[str]) -> ast.expr:
        def value(name: str) -> ast.expr:
            if "[" not in name:
                return ast.Name(name, ast.Load())
            key = _item(name, ast.Load())
            if not isinstance(key, ast.Subscript):
                return key
            return runtime_call("item", key.value, key.slice, ast.Constant(name))

        return ast.Tuple([value(each) for each in names], ast.Load())

    def _rebound(self, node: ast.stmt, names: Sequence[str], value: ast.expr) -> ast.stmt:
        if not names:
            return standing_at(node, ast.Expr(value))
        targets: list[ast.expr] = [
            _item(each, ast.Store()) if "[" in each else ast.Name(each, ast.Store()) for each in names
        ]
        return standing_at(node, ast.Assign([ast.Tuple(targets, ast.Store())], value))

    def _refuse(self, node: ast.AST, message: str, hint: str | None = None) -> NoReturn:
        line, column = getattr(node, "lineno", 1), getattr(node, "col_offset", 0)
        last = getattr(node, "end_col_offset", None) if getattr(node, "end_lineno", line) == line else None
        place = statement_place(self._file, line, column + 1, (last or column + 1) - column)
        raise failure(UnsupportedControl, message, place, hint=hint)


def _item(name: str, context: ast.expr_context) -> ast.expr:
    if name.endswith(ANY_ITEM):
        holder = name.removesuffix(ANY_ITEM)
        held = runtime_call("items", ast.Name(holder, ast.Load()), ast.Constant(holder))
        return held if isinstance(context, ast.Load) else ast.Subscript(held, ast.Constant(None), context)
    made = ast.parse(name, mode="eval").body
    assert isinstance(made, ast.Subscript)
    made.ctx = context
    return made


def _index_names(name: str) -> set[str]:
    """The names that the index of an item reads."""
    if "[" not in name or name.endswith(ANY_ITEM):
        return set()
    made = _item(name, ast.Load())
    return {each.id for each in ast.walk(made) if isinstance(each, ast.Name)} - {name.partition("[")[0]}


def _strings(names: Iterable[str]) -> ast.expr:
    return ast.Tuple([ast.Constant(each) for each in names], ast.Load())
