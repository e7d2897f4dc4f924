"""Small modules for the tests of the language core.

A text without `func.func` is the body of a kernel whose arguments are listed in ARGUMENTS. A `~` stands before the
token that a diagnostic is expected to point at, and is not part of the kernel. `«wrong|right»` stands for `wrong` in a
kernel that is rejected and for `right` in its twin, which is accepted.
"""

import re
from dataclasses import replace

import pytest

from ptosim.diagnostics import Diagnostic, PTOError, Source
from ptosim.language.load import VerifiedModule, text
from ptosim.loading import load_module

ARGUMENTS = {
    "%gm": "!pto.ptr<f32, gm>",
    "%gm_i32": "!pto.ptr<i32, gm>",
    "%ub": "!pto.ptr<f32, ub>",
    "%ub_i32": "!pto.ptr<i32, ub>",
    "%l1": "!pto.ptr<f32, l1>",
    "%i": "index",
    "%n": "i32",
    "%m": "i64",
    "%s": "i16",
    "%b": "i8",
    "%c": "i1",
    "%f": "f32",
    "%d": "f64",
    "%h": "f16",
    "%u": "ui32",
    "%v": "!pto.vreg<64xf32>",
    "%k": "!pto.mask<b32>",
}

_CHOICE = re.compile(r"«([^«|»]*)\|([^«|»]*)»")


def twin_texts(text: str) -> tuple[str, str]:
    """The wrong text and the right one, which has no marker."""
    assert _CHOICE.search(text), "the text does not say how its twin differs"
    wrong, right = (_CHOICE.sub(rf"\{choice}", text) for choice in (1, 2))
    return wrong, right.replace("~", "")


def module(body: str, attributes: str = "") -> str:
    """The whole module around a body."""
    if "func.func" in body or "module" in body:
        return body
    arguments = ", ".join(f"{name}: {type_}" for name, type_ in ARGUMENTS.items())
    return f"module {attributes}{{\nfunc.func @kernel({arguments}) {{\n{body}\nreturn\n}}\n}}\n"


def read(body: str, target: str | None = None) -> VerifiedModule:
    """The module as written, with all that was said of it on the way to what runs."""
    loaded = load_module(Source("kernel.pto", module(body)), target)
    return replace(loaded.written, warnings=list(loaded.warnings))


def running(body: str) -> str:
    """The text of what runs."""
    return text(load_module(Source("kernel.pto", module(body))).executable)


def place(body: str) -> tuple[str, tuple[int, int]]:
    """The module without its marker, and the line and column that it marked."""
    before, marker, after = module(body).partition("~")
    assert marker, "the text does not say where the diagnostic belongs"
    return before + after, (before.count("\n") + 1, len(before) - before.rfind("\n"))


def errors(body: str, target: str | None = None) -> tuple[Diagnostic, ...]:
    with pytest.raises(PTOError) as raised:
        read(body, target)
    return raised.value.diagnostics


def rejects(body: str, message: str, kind: str = "invalid", target: str | None = None) -> None:
    """The text has exactly one error, this one, at its marker."""
    kernel, expected = place(body)
    (found,) = errors(kernel, target)
    assert found.message == message
    assert found.location is not None
    assert (found.location.line, found.location.column) == expected
    assert (found.kind, found.severity) == (kind, "error")


def warns(body: str, message: str, kind: str = "lint", target: str | None = None) -> None:
    """The text loads with exactly one warning, this one, at its marker."""
    kernel, expected = place(body)
    (found,) = read(kernel, target).warnings
    assert found.message == message
    assert found.location is not None
    assert (found.location.line, found.location.column) == expected
    assert (found.kind, found.severity) == (kind, "warning")


def accepts(body: str, target: str | None = None) -> str:
    """The text loads without a warning; what is printed of it loads again and prints the same."""
    verified = read(body, target)
    assert verified.warnings == []
    once = text(verified)
    assert text(read(once, target)) == once
    return once


def twins(body: str, message: str, kind: str = "invalid", target: str | None = None) -> None:
    """The wrong text has exactly this error at its marker, the right one is accepted."""
    wrong, right = twin_texts(body)
    rejects(wrong, message, kind, target)
    accepts(right, target)


def prints(body: str, expected: str) -> None:
    """The text is accepted, and its canonical text has this line."""
    assert expected in [line.strip() for line in accepts(body).splitlines()]
