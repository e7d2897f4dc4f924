"""An object under construction: its functions, tables of numbers and addresses, and the sites at which it may fail.

How one function is written is the business of flow.py.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from ptosim.native.ir.flow import LINKAGE, FunctionBuilder, Linkage
from ptosim.native.ir.values import Type, Value

LONG = 2500
"""A program of more lines is straight code that hands over entries: it is compiled quickly, by itself."""


class ObjectModule:
    """The functions of one object, and the table that explains the sites at which they may fail."""

    def __init__(self, avx512: bool = False, sifting: bool = False) -> None:
        self.avx512 = avx512
        """Whether the processor has these instructions."""
        self.sifting = sifting
        """Whether all that matters of a failure is that there is one. It then tells nothing, and what would have to be
        handed to the scheduler is a failure as well; only for another core a run may wait."""
        self.functions: list[FunctionBuilder] = []
        self.sites: list[Any] = []
        self._pure: dict[str, Pure] = {}
        self._globals: list[str] = []
        self._aliases: dict[str, FunctionBuilder] = {}

    def alias(self, name: str, function: FunctionBuilder) -> None:
        """Another name of a function."""
        parameters = ", ".join(["ptr", *(str(parameter.kind) for parameter in function.parameters)])
        kind = f"{function.result_text()} ({parameters})"
        self._aliases[name] = function
        self._globals.append(f"@{name} = internal alias {kind}, ptr @{function.name}\n")

    def addresses(self, name: str, functions: Sequence[str | None]) -> None:
        """An exported table of where functions lie."""
        entries = ", ".join("ptr null" if function is None else f"ptr @{function}" for function in functions)
        self._globals.append(f"@{name} = constant [{len(functions)} x ptr] [{entries}], align 8\n")

    def include(self, text: str) -> None:
        """Text of its own, once."""
        if text not in self._globals:
            self._globals.append(text)

    def table(self, name: str, words: Sequence[int]) -> None:
        """Numbers that functions look up (`Function.table`); the same table may be asked for again."""
        numbers = ", ".join(f"i64 {word}" for word in words)
        text = f"@{name} = internal constant [{len(words)} x i64] [{numbers}], align 8\n"
        if text not in self._globals:
            self._globals.append(text)

    def site(self, description: object) -> int:
        """A number for a place that may fail; the description is plain data that outlives the compilation."""
        self.sites.append(description)
        return len(self.sites) - 1

    def function(
        self, name: str, parameters: Sequence[Type] = (), results: Sequence[Type] = (), linkage: Linkage = "exported"
    ) -> FunctionBuilder:
        made = FunctionBuilder(self, name, tuple(parameters), tuple(results), linkage)
        self.functions.append(made)
        return made

    def pure(
        self,
        name: str,
        parameters: Sequence[Type],
        result: Type,
        fill: Callable[..., Value],
        linkage: Linkage = "internal",
    ) -> Pure:
        """A function of its arguments alone, made when first wanted; `fill(function, *parameters)` computes it."""
        if name not in self._pure:
            made = self._pure[name] = Pure(self, name, tuple(parameters), (result,), linkage)
            self.functions.append(made)
            made.do(f"ret {fill(made, *made.parameters)}")
        return self._pure[name]

    def text(self) -> str:
        return _joined(self._globals, self.functions)

    def parts(self) -> tuple[str, str | None]:
        """The text, and that of programs that are long, if any are: they call what is in the other."""
        long = [function for function in self.functions if function.is_exported and function.lines > LONG]
        if not long:
            return self.text(), None
        calls = _joined([], long)
        named = set(re.findall(r"@(\w+)", calls))
        rest = [function for function in self.functions if function not in long]
        called = {function.name: function for function in rest} | self._aliases
        declared = [f"{function.declaration(name)}\n" for name, function in called.items() if name in named]
        for function in rest:
            if function.name in named:
                function.linkage = "shared"
        globals_ = list(self._globals)
        for number, text in enumerate(globals_):
            name, is_internal, more = text.partition(" = internal ")
            if is_internal and name[1:] in named:
                globals_[number] = f"{name} = {more}"
                if name[1:] not in called:
                    declared.append(f"{name} = external {more[: more.index(' [i64 ')]}\n")
        return _joined(globals_, rest), "\n".join([*declared, calls])


def _joined(globals_: Sequence[str], functions: Sequence[FunctionBuilder]) -> str:
    metadata = '!0 = !{i32 1}\n!1 = !{!"branch_weights", i32 1, i32 1000000}\n'
    return "\n".join([*globals_, *(function.definition() for function in functions), metadata])


class Pure(FunctionBuilder):
    """A function of its arguments alone: it has no context, cannot fail, and returns one value."""

    def __call__(self, function: FunctionBuilder, *arguments: Value) -> Value:
        """A call from another function."""
        return function.emit(self.results[0], f"call {self.results[0]} @{self.name}({', '.join(map(str, arguments))})")

    def declaration(self, name: str) -> str:
        parameters = ", ".join(str(parameter.kind) for parameter in self.parameters)
        return f"declare {self.results[0]} @{name}({parameters}) nounwind memory(none)"

    def definition(self) -> str:
        parameters = ", ".join(map(str, self.parameters))
        head = f"define {LINKAGE[self.linkage]}{self.results[0]} @{self.name}({parameters})"
        return "\n".join([f"{head} nounwind noinline memory(none) {{", "entry:", *self._slots, *self._lines, "}\n"])
