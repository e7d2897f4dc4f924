"""Kernels and kernel modules: what `@pto.jit` says, and the module that a specialisation becomes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from xdsl.dialects.builtin import BoolAttr, ModuleOp, StringAttr
from xdsl.ir import Attribute

from ptosim.author.definition import AuthoredFunction, AuthoredParameter
from ptosim.author.dtypes import PARTITION_VIEW, TENSOR_VIEW, TILE, Described, DType, PointerDescription, attribute_of
from ptosim.author.failures import WrongPlace, WrongType, WrongValue, failure
from ptosim.author.functions import UNIT, add_function, argument, call, matched, named_block, returned
from ptosim.author.trace import Trace, TracedFunction, current, traced
from ptosim.diagnostics import Related
from ptosim.language.structure.function import Function
from ptosim.language.text.parser import without_collection
from ptosim.language.types import element_of, is_scalar

TARGETS = ("a5", "a3", "a2")
BACKENDS = ("vpto", "emitc")
KINDS = ("vector", "cube")
MODES = ("auto", "explicit")


@dataclass(frozen=True)
class KernelOptions:
    """The options of `@pto.jit`."""

    name: str | None = None
    target: str = "a5"
    kernel_kind: str | None = None
    backend: str = "vpto"
    entry: bool = True
    mode: str = "auto"
    insert_sync: bool | None = None
    ast_rewrite: bool = True
    source: str | None = None


@dataclass
class TracedModule:
    """A specialisation: its operations, and the name of its entry."""

    trace: Trace
    symbol: str
    constants: Mapping[str, Any] = field(default_factory=dict[str, Any])


class KernelFunction:
    """A function with `@pto.jit`."""

    def __init__(self, definition: AuthoredFunction, options: KernelOptions) -> None:
        self.definition = definition
        self.options = options
        self.symbol = options.name or definition.name
        self.parameters = definition.parameters()
        for each in self.parameters:
            self._check(each)

    @property
    def plain(self) -> tuple[AuthoredParameter, ...]:
        """The parameters that a launch gives."""
        return tuple(each for each in self.parameters if not each.is_constant)

    def _check(self, each: AuthoredParameter) -> None:
        definition, note = self.definition, each.annotation
        if each.is_constant:
            if not each.is_keyword:
                hint = f"write *, {each.name}: pto.const_expr = 64"
                definition.refuse(f"{each.name} is a const_expr and has to be keyword-only, with a default", hint)
            if not self.options.entry:
                definition.refuse(f"{each.name}: a kernel module has no const_expr; it is specialised by its caller")
            if self.options.source is not None:
                definition.refuse(f"{each.name}: a kernel with source= has no const_expr")
            try:
                hash(each.default)
            except TypeError:
                definition.refuse(f"the default of {each.name}, {each.default!r}, is not hashable")
            return
        if note is AuthoredFunction.unannotated:
            hint = f'write {each.name}: pto.ptr(pto.f32, "gm"), or a scalar type such as pto.i32'
            definition.refuse(f"{each.name} has no annotation", hint)
        if isinstance(note, DType):
            if not is_scalar(note.type) or element_of(note.type).kind == "lowprecision":
                definition.refuse(f"{each.name} is {note!r}, which lives in memory only", "take a pointer to it")
            return
        if isinstance(note, PointerDescription):
            if self.options.entry and note.space != "gm":
                hint = f'write {each.name}: pto.ptr({note.element!r}, "gm"), or pto.gm_ptr({note.element!r})'
                definition.refuse(f"{each.name} is a pointer to {note.space}; a kernel is given pointers to gm", hint)
            return
        if not self.options.entry and note in (TILE, TENSOR_VIEW, PARTITION_VIEW):
            return
        shown = repr(note) if isinstance(note, Described) else f"{note!r}, which is no type of the surface"
        hint = 'a kernel takes pointers, pto.ptr(T, "gm"), and scalars such as pto.i32'
        definition.refuse(f"{each.name} is {shown}", hint)

    # --- tracing ------------------------------------------------------------------------------------------------------

    @without_collection()
    def trace(self, constants: Mapping[str, Any]) -> TracedModule:
        """The module that these constants make of it."""
        made = Trace(self.options.target, ModuleOp([], {"pto.target_arch": StringAttr(self.options.target)}))
        made.definition = self.definition.place
        with traced(made):
            fill(made, self, constants)
        return TracedModule(made, self.symbol, constants)

    def __call__(self, *args: Any, **given: Any) -> Any:
        """A call inside of a kernel: of a kernel module."""
        trace = current(self.symbol)
        place = self.definition.place
        related = (Related(place, "defined here"),)
        if self.options.entry:
            hint = "mark it entry=False to call it from a kernel, or write a @pto.tileop or @pto.func"
            raise failure(
                WrongType, f"{self.symbol} is a kernel and is launched, not called", related=related, hint=hint
            )
        if given:
            raise failure(WrongType, f"{self.symbol}: kernel modules are called without keywords", related=related)
        if trace.body.kind != "kernel" and trace.body.kind != "module":
            raise failure(
                WrongPlace, f"a {trace.body.kind} cannot call the kernel module {self.symbol}", related=related
            )
        bound = matched(self.symbol, self.parameters, args, given, place)
        values = [argument(self.symbol, each, bound[each.name]) for each in self.parameters]
        types = [value.ssa.type for value in values]
        self._declare(trace, types)
        _ = call(trace, self.symbol, [value.ssa for value in values])

    def _declare(self, trace: Trace, types: list[Attribute]) -> None:
        """The module of the callee, once, and its declaration in the module of the caller."""
        caller = trace.module
        known = ("declared", id(caller), self)
        if known in trace.helpers:
            return
        if ("defined", self) not in trace.helpers:
            trace.helpers["defined", self] = types
            fill(trace, self, {}, types)
            trace.module = caller
        if trace.helpers["defined", self] != types:
            raise failure(WrongType, f"{self.symbol} is called with other types than before")
        trace.helpers[known] = add_function(trace, self.symbol, types, visibility="private", place=trace.place())


def fill(
    trace: Trace, kernel: KernelFunction, constants: Mapping[str, Any], types: list[Attribute] | None = None
) -> None:
    """Add the module of a kernel, or of a kernel module, to a container."""
    options, definition = kernel.options, kernel.definition
    if options.target != trace.target:
        message = f"{kernel.symbol} is for {options.target}, but the kernel that calls it is for {trace.target}"
        raise failure(WrongValue, message)
    attributes: dict[str, Attribute] = {
        "pto.target_arch": StringAttr(options.target),
        "pto.backend": StringAttr(options.backend),
    }
    if options.kernel_kind is not None and (options.backend == "vpto" or not options.entry):
        attributes["pto.kernel_kind"] = attribute_of(f"#pto.kernel_kind<{options.kernel_kind}>")
    attributes["pto.mode"] = StringAttr(options.mode)
    if options.insert_sync is not None:
        attributes["pto.insert_sync"] = BoolAttr.from_bool(options.insert_sync)
    module = ModuleOp([], attributes)
    trace.root.body.block.add_op(module)
    trace.places[module] = definition.place
    trace.module = module
    plain = kernel.plain
    arguments = types if types is not None else [each.annotation.type for each in plain]
    block = named_block(arguments, [each.name for each in plain])
    marks: dict[str, Attribute] = {"pto.entry": UNIT} if options.entry else {"pto.visibility": StringAttr("external")}
    visibility = None if options.entry else "public"
    place = definition.place
    function = add_function(
        trace, kernel.symbol, arguments, visibility=visibility, attributes=marks, body=block, place=place
    )
    kind = "kernel" if options.entry else "module"
    body = TracedFunction(kind, kernel.symbol, options.mode == "explicit", [block], kernel_kind=options.kernel_kind)
    _trace_body(trace, kernel, function, body, constants)


def _trace_body(
    trace: Trace, kernel: KernelFunction, function: Function, body: TracedFunction, constants: Mapping[str, Any]
) -> None:
    from ptosim.author.values import wrap

    outer, definition = trace.definition, kernel.definition
    trace.definition = definition.place
    key = ("open", kernel)
    if key in trace.open_helpers:
        related = (Related(definition.place, "defined here"),)
        raise failure(WrongPlace, f"{kernel.symbol} calls itself: kernels have no recursion", related=related)
    trace.open_helpers.append(key)
    try:
        with trace.function(body):
            result = definition.trace(*map(wrap, function.args), **constants)
            if result is not None:
                raise failure(
                    WrongType, f"{kernel.symbol} returns {result!r}, but a kernel returns nothing", definition.place
                )
            returned(trace)
    finally:
        trace.open_helpers.pop()
        trace.definition = outer
