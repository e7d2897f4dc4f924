"""Faults: small changes of the sources that a test should see.

A fault changes one operator, one constant, one condition or one returned value inside a function.
"""

from __future__ import annotations

import ast
import random
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

_SWAPPED: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.And: ast.Or,
    ast.Or: ast.And,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
}


class Fault(NamedTuple):
    """One line of a file as it would be."""

    file: Path
    line: int
    start: int
    end: int
    text: str
    was: str

    def applied(self, source: str) -> str:
        lines = source.splitlines(keepends=True)
        line = lines[self.line - 1].encode()
        lines[self.line - 1] = (line[: self.start] + self.text.encode() + line[self.end :]).decode()
        return "".join(lines)

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.was} became {self.text}"


def faults_of(file: Path, source: str) -> Iterator[Fault]:
    """All faults of a file, in the order of its text."""
    tree = ast.parse(source)
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    seen: set[tuple[int, int, str]] = set()
    for node in (inner for function in functions for statement in function.body for inner in ast.walk(statement)):
        if isinstance(node, (ast.expr, ast.Return)) and node.lineno == node.end_lineno and not _is_annotation(node):
            for text in _changed(node):
                key = (node.lineno, node.col_offset, text)
                was = ast.get_source_segment(source, node) or ""
                if key not in seen and text != was:
                    seen.add(key)
                    yield Fault(file, node.lineno, node.col_offset, node.end_col_offset or 0, text, was)


def _is_annotation(node: ast.AST) -> bool:
    return isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr) and ast.unparse(node).endswith("None")


def _changed(node: ast.expr | ast.Return) -> Iterator[str]:
    """What the text of a node may become."""
    match node:
        case ast.BinOp(left, op, right) if type(op) in _SWAPPED:
            yield f"({ast.unparse(ast.BinOp(left, _swapped(op), right))})"
        case ast.BoolOp(op, values):
            yield f"({ast.unparse(ast.BoolOp(_swapped(op), values))})"
        case ast.Compare(left, [op], right):
            yield f"({ast.unparse(ast.Compare(left, [_swapped(op)], right))})"
        case ast.UnaryOp(ast.Not(), operand):
            yield f"bool({ast.unparse(operand)})"
        case ast.Constant(bool(value)):
            yield str(not value)
        case ast.Constant(int(value)):
            yield f"{value + 1}"
        case ast.IfExp(test, chosen, otherwise):
            yield f"({ast.unparse(ast.IfExp(test, otherwise, chosen))})"
        case ast.Return(value) if value is not None and not isinstance(value, ast.Constant):
            yield "return None"
        case _:
            pass


def _swapped(op: ast.AST) -> Any:
    return _SWAPPED[type(op)]()


def drawn(files: Iterable[Path], root: Path, seed: int, quota: int, lines: dict[str, set[int]]) -> list[Fault]:
    """So many faults for each room, a folder of the sources, on lines that tests run; the same for the same seed."""
    rooms: dict[str, list[Fault]] = defaultdict(list)
    for file in sorted(files):
        reached = lines.get(str(file), set())
        found = (fault for fault in faults_of(file, (root / file).read_text()) if fault.line in reached)
        rooms[room_of(file)] += found
    return [fault for room, found in sorted(rooms.items()) for fault in _sample(found, quota, f"{seed} {room}")]


def room_of(file: Path) -> str:
    """`src/ptosim/native/dma.py` belongs to `native`, `src/ptosim/api.py` to `top`."""
    return file.parts[2] if len(file.parts) > 3 else "top"


def _sample(found: list[Fault], quota: int, seed: str) -> list[Fault]:
    return random.Random(seed).sample(found, min(quota, len(found)))
