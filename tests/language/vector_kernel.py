"""Tiny kernels around one vector instruction, for the tests of the language rooms.

A body uses values without defining them; their names say their type, and they become arguments of the function:

    %v_f32 %w_f32   registers      %s_i16   a scalar      %b32 %b32_in   masks      %p_f32_ub   a pointer

In type lists `V<f32>` is short for `!pto.vreg<64xf32>` and `M<b32>` for `!pto.mask<b32>`. A `^` stands before the token
that a diagnostic is expected to point at, and is not part of the kernel.
"""

import inspect
import re
from collections.abc import Iterator
from dataclasses import replace
from io import StringIO

import pytest
from xdsl.printer import Printer

from ptosim.diagnostics import Diagnostic, PTOError, Source
from ptosim.effects.element import ELEMENTS
from ptosim.language.load import VerifiedModule
from ptosim.language.operation import PTOOperation, is_scope
from ptosim.loading import load_module

_PREFIXED = {"hif8", "hif8x2", "f8E8M0", "f4E1M2x2", "f4E2M1x2", "bf16x2"}
_VALUE = re.compile(r"%(?:(?P<register>[uvw]_)|(?P<scalar>s_)|(?P<mask>b)|(?P<pointer>p_))(?P<rest>\w+)")


def _element(name: str) -> str:
    return f"!pto.{name}" if name in _PREFIXED else name


def register(name: str) -> str:
    return f"!pto.vreg<{ELEMENTS[name].lanes}x{_element(name)}>"


_MASKS = {8: "b8", 16: "b16", 32: "b32", 64: "b32"}


def mask_of(element: str) -> str:
    """The granularity of masks that govern lanes of an element type."""
    return _MASKS[ELEMENTS[element].bits]


def mismatch(mask: str, element: str) -> str:
    """What is said of a mask of another granularity."""
    found, expected = f"!pto.mask<{mask}>", f"!pto.mask<{mask_of(element)}>"
    return f"mask type {found} does not match value vector type {register(element)}; expected {expected}"


def _expand(body: str) -> str:
    body = re.sub(r"\bV<(\w+)>", lambda match: register(match[1]), body)
    return re.sub(r"\bM<(\w+)>", r"!pto.mask<\1>", body)


def _type(match: re.Match[str]) -> str | None:
    rest = match["rest"]
    if match["register"]:
        return register(rest)
    if match["scalar"]:
        return _element(rest)
    if match["pointer"]:
        element, _, space = rest.rpartition("_")
        return f"!pto.ptr<{_element(element)}, {space}>"
    granularity = rest.partition("_")[0]
    return f"!pto.mask<b{granularity}>" if granularity in ("8", "16", "32") else None


def _arguments(body: str) -> Iterator[str]:
    found = {match[0]: _type(match) for match in _VALUE.finditer(body)}
    for name, type_ in found.items():
        if type_ is not None:
            yield f"{name}: {type_}"


def kernel(body: str, scope: bool = True) -> str:
    """The module around a body; the scope is left out for instructions that belong outside."""
    body = _expand(body)
    inner = f"    pto.vecscope {{\n      {body}\n    }}" if scope else f"      {body}"
    return f"module {{\n  func.func @kernel({', '.join(_arguments(body))}) {{\n{inner}\n    return\n  }}\n}}\n"


def read(text: str, target: str | None = None) -> VerifiedModule:
    """The module as written, with all that was said of it on the way to what runs."""
    loaded = load_module(Source("kernel.pto", text), target)
    return replace(loaded.written, warnings=list(loaded.warnings))


def scopes(text: str) -> list[list[str]]:
    """The names of the operations in each vector scope of what runs."""
    executable = load_module(Source("kernel.pto", text)).executable
    found = [op for op in executable.parsed.module.walk() if is_scope(op)]
    return [[inner.name for inner in scope.walk() if inner is not scope] for scope in found]


def gets_a_scope(body: str) -> None:
    """The body holds one vector instruction outside of scopes, which gets one around it."""
    loaded = kernel(body, scope=False)
    name = re.search(r"pto\.(?!castptr)\w+", body)
    assert name is not None
    assert scopes(loaded) == [[name[0]]]
    assert read(loaded).warnings == []


def _place(text: str) -> tuple[str, tuple[int, int]]:
    """The text without its marker, and the line and column that it marked."""
    before, marker, after = text.partition("^")
    assert marker, "the body does not say where the diagnostic belongs"
    return before + after, (before.count("\n") + 1, len(before) - before.rfind("\n"))


def _seen(diagnostic: Diagnostic, like: str) -> tuple[tuple[int, int] | None, str, str]:
    place, message = diagnostic.location, diagnostic.message
    if like.endswith("...") and message.startswith(like[:-3]):
        message = like
    return (place.line, place.column) if place else None, diagnostic.severity, message


def rejects(body: str, message: str, scope: bool = True, kind: str = "invalid", target: str | None = None) -> None:
    """The body has exactly one error, this one, at its marker. A message may end in `...`."""
    rejects_module(kernel(body, scope), message, kind, target)


def rejects_module(marked: str, message: str, kind: str = "invalid", target: str | None = None) -> None:
    """The module has exactly one error, this one, at its marker."""
    text, place = _place(marked)
    with pytest.raises(PTOError) as raised:
        read(text, target)
    found = raised.value.diagnostics
    assert [_seen(diagnostic, message) for diagnostic in found] == [(place, "error", message)]
    assert found[0].kind == kind


def warns(body: str, message: str, scope: bool = True, kind: str = "lint", target: str | None = None) -> None:
    """The body loads with exactly one warning, this one, at its marker."""
    text, place = _place(kernel(body, scope))
    found = read(text, target).warnings
    assert [_seen(warning, message) for warning in found] == [(place, "warning", message)]
    assert found[0].kind == kind


def accepts(body: str, scope: bool = True, target: str | None = None) -> None:
    """The body loads without a warning, and what is printed of it loads and prints the same."""
    module = read(kernel(body, scope), target)
    assert module.warnings == []
    once = printed(module)
    assert printed(read(once, target)) == once


def printed(module: VerifiedModule) -> str:
    stream = StringIO()
    Printer(stream).print_op(module.parsed.module)
    return stream.getvalue()


def example(operation: type[PTOOperation]) -> str:
    """The indented lines of the docstring of an instruction: one instruction, written as a user would."""
    documentation = inspect.cleandoc(operation.__doc__ or "")
    lines = [line for line in documentation.splitlines() if line.startswith("    ")]
    assert lines, f"{operation.name} has no example"
    return "\n".join(lines)


def example_kernel(operation: type[PTOOperation], scope: bool = True, **unlisted: str) -> str:
    """A module around the example: its operands become arguments, typed by its own type list."""
    text = example(operation)
    written, _, types = text.partition(" : ") if " : " in text else text.partition("\n            : ")
    operands = re.findall(r"%\w+", written.partition(operation.name)[2])
    listed = [name for name in operands if name[1:] not in unlisted]
    named = dict(zip(listed, split_types(types.partition("->")[0]), strict=True))
    named |= {f"%{name}": type_ for name, type_ in unlisted.items()}
    arguments = ", ".join(f"{name}: {type_}" for name, type_ in named.items())
    body = f"pto.vecscope {{\n{text}\n}}" if scope else text
    return f"module {{\nfunc.func @kernel({arguments}) {{\n{body}\nreturn\n}}\n}}\n"


def split_types(types: str) -> list[str]:
    """The types of a list, at the commas outside angle brackets."""
    return [type_.strip() for type_ in re.split(r",(?![^<]*>)", types) if type_.strip()]
