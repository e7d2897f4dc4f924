"""Expressions of the rewrite: and, or, not, in, chained comparisons, conditional expressions, and names for values."""

from __future__ import annotations

import ast
import sys
from typing import Any, TypeVar

from ptosim.author.place import GENERATED

RUNTIME = "__pto"
"""The free variable by which rewritten code reaches what traces it."""

NO_TYPE_PARAMETERS: dict[str, Any] = {"type_params": []} if sys.version_info >= (3, 12) else {}
"""The field of a function node that newer Pythons have besides."""

_Node = TypeVar("_Node", bound=ast.AST)


def call_name(node: ast.expr) -> str | None:
    """The last word of a callee: `section` of `pto.section("cube")`; None where nothing is."""
    if not isinstance(node, ast.Call):
        return None
    callee = node.func
    if isinstance(callee, ast.Attribute):
        return callee.attr
    return callee.id if isinstance(callee, ast.Name) else None


def runtime_call(name: str, *arguments: ast.expr) -> ast.expr:
    """A call of a function that traces control flow."""
    return ast.Call(ast.Attribute(ast.Name(RUNTIME, ast.Load()), name, ast.Load()), list(arguments), [])


def standing_at(place: ast.AST, node: _Node) -> _Node:
    """Made nodes stand where the code stands that they are made of; those of the author stay where they are."""
    for each in ast.walk(node):
        if isinstance(each, ast.expr | ast.stmt | ast.arg) and "lineno" not in vars(each):
            ast.copy_location(each, place)
    return node


def later(node: ast.expr) -> ast.expr:
    """An expression that is evaluated when it is asked for."""
    arguments = ast.arguments([], [ast.arg(GENERATED)], None, [], [], None, [ast.Constant(None)])
    return ast.Lambda(arguments, node)


class ExpressionRewrite(ast.NodeTransformer):
    """Rewrites expressions that Python decides at once and that a kernel may have to decide when it runs."""

    def expression(self, node: ast.expr) -> ast.expr:
        return self.visit(node)

    def statement(self, node: ast.stmt) -> ast.stmt:
        """A simple statement; a value that gets a name is called so."""
        made: ast.stmt = self.visit(node)
        value = getattr(made, "value", None)
        if isinstance(made, ast.Assign | ast.AnnAssign) and value is not None:
            targets: list[ast.expr] = made.targets if isinstance(made, ast.Assign) else [made.target]
            if len(targets) == 1 and (name := _named(targets[0])) is not None and not isinstance(value, ast.Constant):
                made.value = standing_at(node, runtime_call("name_value", name, value))
                if isinstance(made, ast.AnnAssign):
                    return standing_at(node, ast.Assign(targets, made.value))
        return made

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        return node

    visit_ClassDef = visit_FunctionDef  # type: ignore[assignment]

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        self.generic_visit(node)
        if has_walrus(node):
            return node
        name = "both" if isinstance(node.op, ast.And) else "either"
        return standing_at(node, runtime_call(name, *map(later, node.values)))

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.op, ast.Not):
            return standing_at(node, runtime_call("negate", node.operand))
        return node

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        self.generic_visit(node)
        if len(node.ops) == 1 and isinstance(node.ops[0], ast.In | ast.NotIn) and not has_walrus(node):
            call = runtime_call("among", node.left, node.comparators[0])
            return standing_at(node, call if isinstance(node.ops[0], ast.In) else runtime_call("negate", call))
        plain = all(isinstance(sign, ast.Lt | ast.LtE | ast.Gt | ast.GtE | ast.Eq | ast.NotEq) for sign in node.ops)
        if len(node.ops) == 1 or not plain or has_walrus(node):
            return node
        signs: list[ast.expr] = [ast.Constant(_SIGNS[type(sign)]) for sign in node.ops]
        others = map(later, node.comparators)
        return standing_at(node, runtime_call("chain", ast.Tuple(signs, ast.Load()), node.left, *others))

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        self.generic_visit(node)
        if has_walrus(node):
            return node
        return standing_at(node, runtime_call("choose", node.test, later(node.body), later(node.orelse)))


_SIGNS: dict[type[ast.cmpop], str] = {
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.NotEq: "!=",
}


def _named(target: ast.expr) -> ast.expr | None:
    """The name, or the names, that a target gives a value."""
    if isinstance(target, ast.Name):
        return ast.Constant(target.id)
    if isinstance(target, ast.Tuple) and all(isinstance(each, ast.Name) for each in target.elts):
        return ast.Tuple([ast.Constant(each.id) for each in target.elts if isinstance(each, ast.Name)], ast.Load())
    return None


def has_walrus(node: ast.AST) -> bool:
    return any(isinstance(each, ast.NamedExpr) for each in ast.walk(node))
