"""`@pto.jit`: the handle of a kernel, its specialisations, and how they are launched."""
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ptosim.author.failures import WrongType, WrongValue, failure
from ptosim.diagnostics import PTOError
from ptosim.ptodsl.arguments import as_arguments
from ptosim.ptodsl.launch import Launcher, at_the_launch, in_order, known_options, launch_parts, positive
from ptosim.ptodsl.specialise import Fingerprint, constant_key, fingerprint

if TYPE_CHECKING:
    from ptosim.author.kernels import KernelFunction, TracedModule
    from ptosim.kernel_launch import RecordedLaunch
    from ptosim.module import Kernel, Module
    from ptosim.places import Source


class TextForms:
    """The common text forms of a kernel and a compiled kernel."""

    def compiled(self) -> CompiledKernel:
        """The specialisation that is shown and launched."""
        raise AssertionError("a handle says what is compiled")

    def recorded(self, args: Sequence[Any], grid: int = 1) -> RecordedLaunch[Kernel]:
        """The loaded kernel, with arrays in place of addresses."""
        from ptosim.kernel_launch import RecordedLaunch

        del grid
        kernel = self.compiled().kernel
        return RecordedLaunch(kernel, as_arguments(kernel, args) if args else args)

    def module(self) -> Module:
        """The loaded module."""
        return self.compiled().loaded

    @property
    def name(self) -> str:
        return self.compiled().ir_function_name

    @property
    def signature(self) -> Any:
        return self.compiled().kernel.signature

    def text(self, lowered: bool = False, lines: bool = False) -> str:
        """The text for the assembler; lowered to micro-instructions, or with the line of each operation."""
        return self.compiled().shown(lowered, lines)

    def mlir_text(self) -> str:
        return self.compiled().shown()

    def __str__(self) -> str:
        return self.compiled().shown()

    def mlir_module(self) -> Module:
        return self.module()

    def verify(self) -> bool:
        """Read and verify it; raises PTOError with all that is wrong."""
        _ = self.compiled().loaded
        return True

    def emit(self, path: str | Path) -> Path:
        """Write the text to a file."""
        target = Path(path)
        target.write_text(self.compiled().shown())
        return target

    def build_metadata(self) -> dict[str, Any]:
        """The facts that a build would get."""
        made = self.compiled()
        options = made.handle.options
        return {
            "name": made.ir_function_name,
            "target": options.target,
            "backend": options.backend,
            "kernel_kind": options.kernel_kind,
            "mode": options.mode,
            "insert_sync": options.insert_sync,
            "constexprs": dict(made.constexpr_bindings),
        }


class KernelText(str):
    """The text of a kernel, which is a property and may be called with options."""

    __slots__ = ("_owner",)
    _owner: CompiledKernel

    def __call__(self, lowered: bool = False, lines: bool = False) -> str:
        return self._owner.shown(lowered, lines)


def _text_of(made: CompiledKernel) -> KernelText:
    text = KernelText(made.shown())
    text._owner = made  # pyright: ignore[reportPrivateUsage]
    return text


class KernelHandle(TextForms):
    """A kernel: compiled for constants, launched on a grid."""

    def __init__(self, kernel: KernelFunction) -> None:
        self._kernel = kernel
        self._made: dict[Any, tuple[Fingerprint, CompiledKernel]] = {}
        self.__name__ = kernel.definition.name
        self.__doc__ = kernel.definition.function.__doc__
        self.__wrapped__ = kernel.definition.function
        self.__module__ = kernel.definition.function.__module__

    @property
    def options(self) -> Any:
        return self._kernel.options

    @property
    def function(self) -> KernelFunction:
        """The traced function."""
        return self._kernel

    @property
    def symbol(self) -> str:
        return self._kernel.symbol

    @property
    def kernel(self) -> Kernel:
        """The loaded kernel of the default constants."""
        return self.compile().kernel

    def __repr__(self) -> str:
        return f"<kernel {self.symbol} at {self._kernel.definition.place}>"

    @property
    def text(self) -> Any:  # type: ignore[override]
        return _text_of(self.compiled())

    def compiled(self) -> CompiledKernel:
        return self.compile()

    def compile(self, **constants: Any) -> CompiledKernel:
        """The kernel for these constants; the others have their defaults."""
        if not self._kernel.options.entry:
            raise failure(WrongType, f"{self.symbol} has entry=False: a kernel calls it, and compiles it with itself")
        bound = {**self._defaults, **constants}
        if len(bound) > len(self._defaults):
            unknown = next(name for name in constants if name not in self._defaults)
            listed = ", ".join(self._defaults) or "none"
            raise failure(WrongType, f"{self.symbol} has no constant '{unknown}'; it has: {listed}")
        key = self._key(constants)
        if (found := self._made.get(key)) is not None and found[0].is_current():
            return found[1]
        current = fingerprint(self._kernel.definition.function)
        if found is not None and found[0].agrees(current):
            self._made[key] = current, found[1]
            return found[1]
        kind = CompiledKernel if self.options.source is None else KernelOfText
        made = kind(self, bound)
        made.trace()
        self._made[key] = current, made
        return made

    @cached_property
    def _defaults(self) -> dict[str, Any]:
        return {each.name: each.default for each in self._kernel.parameters if each.is_constant}

    def _key(self, constants: Mapping[str, Any]) -> tuple[Any, ...]:
        """A key for the constants that are not the default; a text in a file counts by what it says now."""
        found: list[Any] = []
        for name, value in constants.items():
            try:
                hash(value)
            except TypeError:
                message = f"{name}={value!r} is not hashable, so nothing can be compiled for it"
                raise failure(WrongType, message) from None
            one = name, constant_key(value)
            if one != (name, constant_key(self._defaults[name])):
                found.append(one)
        text = () if self.options.source is None else (text_of_body(self).text,)
        return *sorted(found, key=itemgetter(0)), *text

    def cached_specializations(self) -> tuple[Any, ...]:
        """The keys of all that has been compiled."""
        return tuple(made.specialization_key for _, made in self._made.values())

    def __getitem__(self, launch: Any) -> Launcher:
        if not self.options.entry:
            raise failure(WrongType, f"{self.symbol} has entry=False: a kernel calls it, without a grid")
        return Launcher(self, *launch_parts(launch))

    def __call__(self, *args: Any, grid: int | None = None, **given: Any) -> Any:
        """Inside of a kernel the call of a kernel module; elsewhere a launch."""
        from ptosim.author.trace import tracing

        if tracing() is not None:
            return self._kernel(*args, **given)
        chosen = {name: given.pop(name) for name in list(given) if name in self._defaults}
        return self.compile(**chosen)(*args, grid=1 if grid is None else grid, **given)

    def _repr_html_(self) -> str:
        from html import escape

        return f"<pre>{escape(str(self))}</pre>"


class CompiledKernel(TextForms):
    """A kernel for certain constants; it does not change any more."""

    def __init__(self, handle: KernelHandle, constants: Mapping[str, Any]) -> None:
        self.handle = handle
        self.constexpr_bindings = dict(constants)
        self.specialization_key = (handle.symbol, tuple(self.constexpr_bindings.items()))

    @cached_property
    def _traced(self) -> TracedModule:
        return self.handle.function.trace(self.constexpr_bindings)

    def trace(self) -> None:
        """Run the function, so that what is wrong with it is said at once."""
        _ = self._traced

    @property
    def ir_function_name(self) -> str:
        return self.handle.symbol

    @property
    def kernel_module_graph(self) -> tuple[str, ...]:
        """The functions that its modules define."""
        from ptosim.language.structure.function import Function

        functions = (op for op in self._traced.trace.root.walk() if isinstance(op, Function))
        return tuple(op.symbol for op in functions if not op.is_declaration)

    def compiled(self) -> CompiledKernel:
        return self

    @cached_property
    def source(self) -> Source:
        """The text, with the place of each operation."""
        return self._written(with_calls=False)

    @cached_property
    def source_of_calls(self) -> Source:
        """The text that is run: each helper once for each of its calls, so that places inside it know the call."""
        return self._written(with_calls=True)

    def _written(self, with_calls: bool) -> Source:
        from ptosim.author.text import source_of_trace

        return source_of_trace(self._traced.trace, self.handle.function.definition.place.file, with_calls)

    def shown(self, lowered: bool = False, lines: bool = False) -> str:
        """The text; lowered to micro-instructions, or with the line of each operation."""
        if lowered:
            return self.loaded.lowered().source
        if lines:
            from ptosim.author.text import with_lines

            return with_lines(self.source)
        return self.source.text

    @property
    def text(self) -> Any:  # type: ignore[override]
        return _text_of(self)

    @cached_property
    def loaded(self) -> Module:
        from ptosim.module import load

        return load(self.source_of_calls)

    @cached_property
    def kernel(self) -> Kernel:
        """The kernel of the loaded module."""
        return self.loaded.kernel(self.ir_function_name)

    def __getitem__(self, launch: Any) -> Launcher:
        return Launcher(self, *launch_parts(launch))

    def __call__(self, *args: Any, grid: int = 1, stream: Any = None, **options: Any) -> None:
        """Run it on `grid` blocks; arrays are changed in place."""
        del stream
        kernel = self.kernel
        if options:
            args = in_order(kernel, args, options)
            known_options(kernel, options)
        try:
            kernel(*as_arguments(kernel, args), grid=positive(grid), **options)
        except PTOError as problem:
            raise at_the_launch(problem) from None

    def __repr__(self) -> str:
        constants = ", ".join(f"{name}={value!r}" for name, value in self.constexpr_bindings.items())
        return f"<compiled kernel {self.ir_function_name}({constants})>"

    def _repr_html_(self) -> str:
        from html import escape

        return f"<pre>{escape(str(self))}</pre>"


class KernelOfText(CompiledKernel):
    """A kernel whose body is PTO text: of a file beside the script, or in the script itself."""

    def trace(self) -> None:
        """Read the text; it defines one function of this name and these arguments."""
        wanted = tuple(str(each.annotation.type) for each in self.handle.function.plain)
        kernels = self.loaded.kernels
        place = self.handle.function.definition.place
        if [*kernels] != [self.handle.symbol]:
            listed = ", ".join(kernels) or "none"
            message = f"the text of {self.handle.symbol} defines other kernels: {listed}"
            raise failure(WrongValue, message, place)
        found = tuple(each.type for each in kernels[self.handle.symbol].signature)
        if found != wanted:
            message = f"the text of {self.handle.symbol} takes ({', '.join(found)}), the function ({', '.join(wanted)})"
            raise failure(WrongType, message, place)

    @property
    def kernel_module_graph(self) -> tuple[str, ...]:
        return (self.handle.symbol,)

    def _written(self, with_calls: bool) -> Source:
        return text_of_body(self.handle)


def text_of_body(handle: KernelHandle) -> Source:
    """The text that a kernel has instead of a body: as it was given, or of the file that it names."""
    from ptosim.module import read_source
    from ptosim.places import Source

    text: str = handle.options.source
    if "\n" in text or "{" in text:
        return Source(f"<source of {handle.symbol}>", text)
    definition = handle.function.definition
    path = Path(definition.function.__code__.co_filename).parent / text
    try:
        with path.open("rb") as file:
            return read_source(file, str(path))
    except OSError as reason:
        message = f"cannot read {path}: {reason.strerror or reason}"
        raise failure(WrongValue, message, definition.place, called="argument") from None


# --- the decorator ----------------------------------------------------------------------------------------------------

_FRONTEND_OPTIONS = ("ast_rewrite", "rewrite_part", "dump_rewritten_source")


def jit(
    name: Any = None,
    *,
    target: str = "a5",
    kernel_kind: Any = None,
    backend: str = "vpto",
    entry: bool = True,
    mode: str = "auto",
    insert_sync: bool | None = None,
    ast_rewrite: bool | None = None,
    frontend_options: Mapping[str, Any] | None = None,
    source: str | None = None,
) -> Callable[[Any], KernelHandle]:
    """A kernel: `@pto.jit(target="a5", mode="explicit")` over a function of pointers, scalars and constants."""
    from ptosim.author.kernels import BACKENDS, KINDS, MODES, TARGETS, KernelFunction, KernelOptions
    from ptosim.author.words import choice

    if callable(name):
        message = "@pto.jit needs parentheses: write @pto.jit()"
        raise failure(WrongType, message)
    if name is not None and not isinstance(name, str):
        raise failure(WrongType, f"the name of a kernel is a text, not {name!r}")
    if insert_sync not in (None, True, False):
        raise failure(WrongType, f"insert_sync is True, False or None, not {insert_sync!r}")
    kind = None if kernel_kind is None else choice(kernel_kind, KINDS, "kernel_kind")
    options = KernelOptions(
        name,
        choice(target, TARGETS, "target"),
        kind,
        choice(backend, BACKENDS, "backend"),
        bool(entry),
        choice(mode, MODES, "mode"),
        insert_sync,
        _rewrites(ast_rewrite, frontend_options),
        source,
    )

    def decorate(function: Any) -> KernelHandle:
        from ptosim.author.definition import AuthoredFunction

        return KernelHandle(KernelFunction(AuthoredFunction(function, options.ast_rewrite), options))

    return decorate


def _rewrites(ast_rewrite: bool | None, given: Mapping[str, Any] | None) -> bool:
    """Whether control flow is rewritten."""
    if given is None:
        return ast_rewrite is not False
    unknown = [key for key in given if key not in _FRONTEND_OPTIONS]
    if unknown:
        raise failure(WrongValue, f"unknown frontend option '{unknown[0]}'; known: {', '.join(_FRONTEND_OPTIONS)}")
    chosen = given.get("ast_rewrite")
    if chosen is not None and ast_rewrite is not None and bool(chosen) is not bool(ast_rewrite):
        raise failure(WrongValue, "ast_rewrite and frontend_options['ast_rewrite'] contradict each other")
    parts = given.get("rewrite_part")
    if parts is not None and set(parts) - {"control_flow"}:
        raise failure(WrongValue, f"rewrite_part is {{'control_flow'}}, not {parts!r}")
    decided = chosen if chosen is not None else ast_rewrite
    return decided is not False and (parts is None or "control_flow" in parts)


def merge_jit_modules(*kernels: Any) -> MergedModule:
    """One module of several kernels, in order."""
    if not kernels:
        raise failure(WrongType, "pto.merge_jit_modules takes at least one kernel")
    for each in kernels:
        if not isinstance(each, KernelHandle | CompiledKernel):
            raise failure(WrongType, f"pto.merge_jit_modules takes kernels, not {each!r}")
    return MergedModule([each.compiled() for each in kernels])


class MergedModule:
    """Several kernels in one module."""

    def __init__(self, kernels: Sequence[CompiledKernel]) -> None:
        self._kernels = kernels
        targets = {each.handle.options.target for each in kernels}
        if len(targets) > 1:
            raise failure(WrongValue, f"kernels of one module are for one target, not {', '.join(sorted(targets))}")
        names = [each.ir_function_name for each in kernels]
        if twice := [name for name in dict.fromkeys(names) if names.count(name) > 1]:
            hint = f'give one of them another name: @pto.jit(name="{twice[0]}_2")'
            raise failure(WrongValue, f"two kernels of one module are called {twice[0]}", hint=hint)

    @cached_property
    def source(self) -> Source:
        from ptosim.author.text import merged_source

        return merged_source([each.source for each in self._kernels])

    @cached_property
    def source_of_calls(self) -> Source:
        """The text that is run."""
        from ptosim.author.text import merged_source

        return merged_source([each.source_of_calls for each in self._kernels])

    @property
    def text(self) -> str:
        return self.source.text

    def mlir_text(self) -> str:
        return self.source.text

    def __str__(self) -> str:
        return self.source.text

    @cached_property
    def loaded(self) -> Module:
        from ptosim.module import load

        return load(self.source_of_calls)

    def module(self) -> Module:
        return self.loaded

    def mlir_module(self) -> Module:
        return self.loaded

    def verify(self) -> bool:
        _ = self.loaded
        return True

    def emit(self, path: str | Path) -> Path:
        target = Path(path)
        target.write_text(self.text)
        return target

    def kernel(self, name: str | None = None) -> Kernel:
        return self.loaded.kernel(name)
