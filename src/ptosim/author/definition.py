"""A Python function as a piece of a kernel: its parameters, its source as it was defined, and how it is called."""

from __future__ import annotations

import inspect
import sys
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import FunctionType
from typing import Any

from ptosim.author.dtypes import ConstExpr
from ptosim.author.failures import WrongType, failure, misused_call
from ptosim.author.place import is_root, statement_place
from ptosim.author.rewritten import definition_lines, rewritten
from ptosim.diagnostics import PTOError
from ptosim.places import Location

EMPTY = inspect.Parameter.empty


@dataclass(frozen=True)
class AuthoredParameter:
    """A parameter: its name, and what it is annotated with."""

    name: str
    annotation: Any
    default: Any = EMPTY
    is_constant: bool = False
    is_keyword: bool = False


class AuthoredFunction:
    """A function that a decorator was given."""

    unannotated = EMPTY

    def __init__(self, function: Any, rewrites: bool = True) -> None:
        if not isinstance(function, FunctionType):
            raise failure(WrongType, f"a kernel is a function, not {function!r}")
        if function.__code__.co_name == "<lambda>":
            raise failure(WrongType, "a kernel is a function with def, not a lambda, which has neither types nor lines")
        self.function = function
        self.name = function.__name__
        self.rewrites = rewrites
        self._lines = definition_lines(function)
        self._traceable: Callable[..., Any] | None = None

    @property
    def place(self) -> Location:
        line = self.line
        text = next(iter(self._lines[line - self.function.__code__.co_firstlineno :]), "")
        column = len(text) - len(text.lstrip()) + 1
        return statement_place(self.function.__code__.co_filename, line, column, len(text.strip()))

    @property
    def line(self) -> int:
        """The line of the `def`, behind the decorators."""
        first = self.function.__code__.co_firstlineno
        for number, line in enumerate(self._lines):
            if line.lstrip().startswith(("def ", "async def ")):
                return first + number
        return first

    def refuse(self, message: str, hint: str | None = None) -> typing.NoReturn:
        """Refuses the definition with its error."""
        raise failure(WrongType, f"{self.name}: {message}", self.place, hint=hint)

    def parameters(self, keywords: bool = False) -> tuple[AuthoredParameter, ...]:
        """The parameters with their annotations, those written as text looked up; whether keywords may be any."""
        found: list[AuthoredParameter] = []
        resolved = resolved_annotations(self.function)
        for each in inspect.signature(self.function).parameters.values():
            if each.kind in (each.VAR_POSITIONAL, each.VAR_KEYWORD):
                stars = "*" if each.kind == each.VAR_POSITIONAL else "**"
                self.refuse(f"a kernel has no {stars}{each.name}: it takes a fixed number of arguments")
            annotation = resolved.get(each.name, each.annotation)
            if isinstance(annotation, str):
                self.refuse(f"the annotation of {each.name}, {annotation!r}, means nothing here")
            is_constant = isinstance(annotation, ConstExpr)
            if is_constant and each.default is EMPTY and each.kind == each.KEYWORD_ONLY:
                self.refuse(f"{each.name} is a const_expr and needs a default", f"{each.name}: pto.const_expr = 64")
            if each.kind == each.KEYWORD_ONLY and not is_constant and not keywords:
                hint = f"write {each.name}: pto.const_expr = …, or put it in front of the *"
                self.refuse(f"{each.name} is keyword-only, so it has to be a pto.const_expr", hint)
            is_keyword = each.kind == each.KEYWORD_ONLY
            found.append(AuthoredParameter(each.name, annotation, each.default, is_constant, is_keyword))
        return tuple(found)

    def traceable(self) -> Callable[..., Any]:
        """The function that is called to be traced."""
        if not self.rewrites:
            return self.function
        if self._traceable is None:
            from ptosim.author import runtime

            self._traceable = rewritten(self.function, self._lines, runtime)
        return self._traceable

    def trace(self, *args: Any, **given: Any) -> Any:
        """Run it, so that what it calls is recorded."""
        return run_traced(self.traceable(), args, given)


@is_root
def _run(function: Callable[..., Any], args: tuple[Any, ...], given: Mapping[str, Any]) -> Any:
    return function(*args, **given)


def run_traced(function: Callable[..., Any], args: tuple[Any, ...], given: Mapping[str, Any]) -> Any:
    """Calls what the author wrote; what is in front of it is no call of the kernel's."""
    try:
        return _run(function, args, given)  # type: ignore[operator]
    except PTOError:
        raise
    except Exception as problem:
        if (told := misused_call(problem)) is not None:
            raise told from None
        raise


def resolved_annotations(function: FunctionType) -> dict[str, Any]:
    """Annotations that are text, evaluated where the function was defined."""
    notes = function.__annotations__
    if not any(isinstance(each, str) for each in notes.values()):
        return {}
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    names: dict[str, Any] = {}
    for name, cell in cells:
        try:
            names[name] = cell.cell_contents
        except ValueError:
            continue
    frame = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]
    while frame is not None and frame.f_globals is not function.__globals__:
        frame = frame.f_back
    names = {**(frame.f_locals if frame is not None else {}), **names}
    return {name: _evaluated(note, function.__globals__, names) for name, note in notes.items()}


def _evaluated(note: Any, space: dict[str, Any], names: dict[str, Any]) -> Any:
    """The meaning of an annotation; text in a module whose annotations are text is text twice."""
    try:
        while isinstance(note, str):
            note = eval(note, space, names)
    except Exception:
        return note
    return note
