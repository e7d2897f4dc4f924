"""A Python function with its branches and loops rewritten: its source is found by its code, in the text of its file."""

from __future__ import annotations

import ast
import dis
import inspect
import linecache
from collections.abc import Callable
from types import CellType, CodeType, FunctionType, ModuleType
from typing import Any

from ptosim.author.expressions import NO_TYPE_PARAMETERS, RUNTIME, standing_at
from ptosim.author.failures import UnsupportedControl, WrongType, failure
from ptosim.author.place import GENERATED, statement_place
from ptosim.author.rewrite import FunctionRewrite

_OUTER, _INNER = f"{GENERATED}outer", f"{GENERATED}inner"
_known: dict[int, tuple[CodeType, CodeType]] = {}
"""By the number of the code: codes of equal text in two files, or in two columns, are equal."""


def text_of(function: FunctionType) -> str:
    """The text of the file that a function was defined in, as it is now."""
    file = function.__code__.co_filename
    linecache.checkcache(file)
    return "".join(linecache.getlines(file, function.__globals__))


def definition_lines(function: FunctionType) -> tuple[str, ...]:
    """The lines of a function, to see later whether its file has changed."""
    try:
        return tuple(inspect.getsourcelines(function)[0])
    except (OSError, TypeError, SyntaxError, IndexError):
        return ()


def rewritten(function: FunctionType, lines: tuple[str, ...], control: ModuleType) -> Callable[..., Any]:
    """The function that traces its control flow."""
    code = function.__code__
    if code.co_flags & (inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR):
        raise failure(
            WrongType, f"{function.__name__} is a generator or coroutine, which no kernel can be", _start(code)
        )
    text = text_of(function)
    if not text:
        return _without_source(function)
    if lines and lines != definition_lines(function):
        raise failure(WrongType, _changed(function), _start(code), called="argument")
    if id(code) not in _known:
        _known[id(code)] = code, _rewritten_code(code, text)
    _, new = _known[id(code)]
    cells = dict(zip(code.co_freevars, function.__closure__ or (), strict=True))
    cells[RUNTIME] = CellType(control)
    made = FunctionType(new, function.__globals__, code.co_name, function.__defaults__, _cells(new, cells))
    made.__kwdefaults__ = function.__kwdefaults__
    return made


def _cells(code: CodeType, cells: dict[str, CellType]) -> tuple[CellType, ...]:
    return tuple(cells[name] for name in code.co_freevars)


def _start(code: CodeType) -> Any:
    return statement_place(code.co_filename, code.co_firstlineno, 1, 1)


def _changed(function: FunctionType) -> str:
    return (
        f"{function.__code__.co_filename} has changed since {function.__name__} was defined: "
        "import it again, or start anew"
    )


def _without_source(function: FunctionType) -> Callable[..., Any]:
    """A function that was made by exec, without loops, may run as it is."""
    if any(each.opname in ("FOR_ITER", "JUMP_BACKWARD") for each in dis.get_instructions(function)):
        message = f"the source of {function.__name__} is not available, so its loops cannot become loops of the kernel"
        hint = "define it in a file, or unroll with ast_rewrite=False"
        raise failure(UnsupportedControl, message, _start(function.__code__), hint=hint)
    return function


def _rewritten_code(code: CodeType, text: str) -> CodeType:
    file = code.co_filename
    node = _find(_fresh(text, file), code)
    if node is None:
        message = f"{file} has changed since {code.co_name} was defined: import it again, or start anew"
        raise failure(WrongType, message, _start(code), called="argument")
    node.body = FunctionRewrite(file).body(node)
    node.decorator_list, node.returns, node.name = [], None, _INNER
    for each in ast.walk(node.args):
        if isinstance(each, ast.arg):
            each.annotation = None
    defaults: list[ast.expr] = [ast.copy_location(ast.Constant(None), node) for _ in node.args.defaults]
    node.args.defaults = defaults
    node.args.kw_defaults = [
        None if each is None else ast.copy_location(ast.Constant(None), node) for each in node.args.kw_defaults
    ]
    free = [ast.arg(name) for name in (*code.co_freevars, RUNTIME)]
    arguments = ast.arguments([], free, None, [], [], None, [])
    outer = standing_at(node, ast.FunctionDef(_OUTER, arguments, [node], [], **NO_TYPE_PARAMETERS))
    module = ast.fix_missing_locations(ast.Module([outer], []))
    compiled = compile(module, file, "exec", dont_inherit=True, flags=code.co_flags & _FUTURES)
    made = _inner(_inner(compiled, _OUTER), _INNER)
    return made.replace(co_name=code.co_name, co_qualname=code.co_qualname)


_FUTURES = 0x1000000  # annotations


def _fresh(text: str, file: str) -> ast.Module:
    """The tree of a file, to be changed."""
    return ast.parse(text, file)


def _inner(code: CodeType, name: str) -> CodeType:
    return next(each for each in code.co_consts if isinstance(each, CodeType) and each.co_name == name)


def _find(tree: ast.Module, code: CodeType) -> ast.FunctionDef | None:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name == code.co_name:
            first = node.decorator_list[0].lineno if node.decorator_list else node.lineno
            if first == code.co_firstlineno:
                return node
    return None


def read_names(code: CodeType) -> set[str]:
    """The names of globals that a function, and the functions inside it, may read."""
    names = set(code.co_names)
    for each in code.co_consts:
        if isinstance(each, CodeType):
            names |= read_names(each)
    return names
