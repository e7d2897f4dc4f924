"""An object under construction: its functions, tables of numbers and addresses, and the sites at which it may fail.

How one function is written is the business of flow.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ptosim.native.ir.flow import LINKAGE, FunctionBuilder, Linkage
from ptosim.native.ir.values import Type, Value


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

    def alias(self, name: str, function: FunctionBuilder) -> None:
        """Another name of a function."""
        parameters = ", ".join(["ptr", *(str(parameter.kind) for parameter in function.parameters)])
        kind = f"{function.result_text()} ({parameters})"
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
        metadata = '!0 = !{i32 1}\n!1 = !{!"branch_weights", i32 1, i32 1000000}\n'
        return "\n".join([*self._globals, *(function.definition() for function in self.functions), metadata])


class Pure(FunctionBuilder):
    """A function of its arguments alone: it has no context, cannot fail, and returns one value."""

    def __call__(self, function: FunctionBuilder, *arguments: Value) -> Value:
        """A call from another function."""
        return function.emit(self.results[0], f"call {self.results[0]} @{self.name}({', '.join(map(str, arguments))})")

    def definition(self) -> str:
        parameters = ", ".join(map(str, self.parameters))
        head = f"define {LINKAGE[self.linkage]}{self.results[0]} @{self.name}({parameters})"
        return "\n".join([f"{head} nounwind noinline memory(none) {{", "entry:", *self._slots, *self._lines, "}\n"])
