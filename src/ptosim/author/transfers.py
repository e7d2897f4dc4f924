"""Loops with break, continue or else: the same loop without, with conditions in their place."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import NoReturn

from ptosim.author.expressions import runtime_call, standing_at
from ptosim.author.liveness import own_transfers
from ptosim.author.place import GENERATED

_TRANSFERS = (ast.Break, ast.Continue)
Refuse = Callable[[ast.AST, str], NoReturn]


def without_transfers(node: ast.For | ast.While, number: int, refuse: Refuse) -> list[ast.stmt]:
    """The statements that a loop becomes: a while loop that is told to stop."""
    loop = _Transfers(number, refuse)
    body = loop.guarded(node.body)
    has_next = any(isinstance(each, ast.Continue) for each in own_transfers(node.body, _TRANSFERS))
    start: list[ast.stmt] = [_assign(node, loop.broke, runtime_call("no"))]
    inside: list[ast.stmt] = [_assign(node, loop.skipped, runtime_call("no"))] if has_next else []
    test: ast.expr
    end: list[ast.stmt] = []
    if isinstance(node, ast.For):
        assert isinstance(node.iter, ast.Call) and isinstance(node.target, ast.Name)
        at, stop, step = (f"{GENERATED}{word}_{number}" for word in ("at", "stop", "step"))
        bounds = ast.Tuple([ast.Name(each, ast.Store()) for each in (at, stop, step)], ast.Store())
        start.append(standing_at(node.iter, ast.Assign([bounds], runtime_call("bounds", *node.iter.args))))
        names = (ast.Name(each, ast.Load()) for each in (at, stop, step))
        test = standing_at(node.iter, runtime_call("within", *names))
        inside.append(_assign(node, node.target.id, ast.Name(at, ast.Load())))
        forward = runtime_call("advance", ast.Name(at, ast.Load()), ast.Name(step, ast.Load()))
        end.append(_assign(node, at, forward))
    else:
        test = node.test
    going = ast.UnaryOp(ast.Not(), ast.Name(loop.broke, ast.Load()))
    both = standing_at(test, ast.BoolOp(ast.And(), [going, test]))
    made: list[ast.stmt] = [*start, standing_at(node, ast.While(both, [*inside, *body, *end], []))]
    if node.orelse:
        unbroken = ast.UnaryOp(ast.Not(), ast.Name(loop.broke, ast.Load()))
        made.append(standing_at(node.orelse[0], ast.If(unbroken, node.orelse, [])))
    return made


class _Transfers:
    def __init__(self, number: int, refuse: Refuse) -> None:
        self.broke = f"{GENERATED}broke_{number}"
        self.skipped = f"{GENERATED}skipped_{number}"
        self._refuse = refuse

    def guarded(self, statements: Sequence[ast.stmt]) -> list[ast.stmt]:
        """Statements of which those behind a transfer happen only where there was none."""
        made: list[ast.stmt] = []
        for number, node in enumerate(statements):
            if isinstance(node, _TRANSFERS):
                name = self.broke if isinstance(node, ast.Break) else self.skipped
                made.append(_assign(node, name, runtime_call("yes")))
                return made
            inner = own_transfers([node], _TRANSFERS)
            if not inner:
                made.append(node)
                continue
            if not isinstance(node, ast.If):
                word = type(inner[0]).__name__.lower()
                self._refuse(inner[0], f"{word} inside with or try, of a loop that runs on the device")
            names = {self.broke if isinstance(each, ast.Break) else self.skipped for each in inner}
            branch = ast.If(node.test, self.guarded(node.body), self.guarded(node.orelse))
            made.append(standing_at(node, branch))
            if rest := statements[number + 1 :]:
                flags: list[ast.expr] = [ast.Name(each, ast.Load()) for each in sorted(names)]
                flag = flags[0] if len(flags) == 1 else ast.BoolOp(ast.Or(), flags)
                test = standing_at(node.test, ast.UnaryOp(ast.Not(), flag))
                made.append(standing_at(rest[0], ast.If(test, self.guarded(rest), [])))
            return made
        return made


def _assign(node: ast.stmt, name: str, value: ast.expr) -> ast.stmt:
    return standing_at(node, ast.Assign([ast.Name(name, ast.Store())], value))
