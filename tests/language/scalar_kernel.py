"""Tiny kernels around one instruction that stands outside vector scopes.

As in vector_kernel, names say types (`%s_i64` a scalar, `%p_f32_gm` a pointer) and `^` marks where a diagnostic points.
Numbered values are constants of type i64: `%33` is 33 and `%n1` is -1.
"""

import re

from language import vector_kernel
from language.vector_kernel import example, printed, read
from ptosim.language.operation import PTOOperation

_CONSTANT = re.compile(r"%(n?)(\d+)\b")
_CLAUSE_WORDS = re.compile(r"\b(loop|pad|nd2nz,|shape|dst_group|ctrl)\b|[()]|src_layout|nd2nz,")


def with_constants(body: str) -> str:
    names = dict.fromkeys(_CONSTANT.findall(body))
    definitions = [f"%{sign}{digits} = arith.constant {'-' if sign else ''}{digits} : i64" for sign, digits in names]
    return "\n".join([*definitions, body])


def accepts(body: str, target: str | None = None) -> None:
    """The body loads without a warning, and what is printed of it loads and prints the same."""
    vector_kernel.accepts(with_constants(body), scope=False, target=target)


def rejects(body: str, message: str, kind: str = "invalid", target: str | None = None) -> None:
    """The body has exactly one error, this one, at its marker."""
    vector_kernel.rejects(with_constants(body), message, scope=False, kind=kind, target=target)


def warns(body: str, message: str, kind: str = "lint", target: str | None = None) -> None:
    """The body loads with exactly one warning, this one, at its marker."""
    vector_kernel.warns(with_constants(body), message, scope=False, kind=kind, target=target)


def text_of(body: str, target: str | None = None) -> str:
    """The module around a body, as it is printed."""
    once = printed(read(vector_kernel.kernel(with_constants(body), scope=False), target))
    assert printed(read(once, target)) == once
    return once


def same(first: str, second: str, target: str | None = None) -> None:
    """Two spellings of one instruction: they print alike."""
    assert text_of(first, target) == text_of(second, target)


def example_module(operation: type[PTOOperation]) -> str:
    """A module around the example of an instruction: its operands become arguments, typed by its own type list."""
    text = example(operation)
    written, types = text, ""
    if found := list(re.finditer(r"\s:\s", text)):
        written, types = text[: found[-1].start()], text[found[-1].end() :]
    names = list(dict.fromkeys(re.findall(r"%\w+", written)))
    listed = [name for name in names if name not in ("%c0", "%c1")]
    found_types = vector_kernel.split_types(_CLAUSE_WORDS.sub("", types)) or ["index"] * len(listed)
    arguments = dict(zip(listed, found_types[: len(listed)], strict=True))
    constants = "".join(f"%c{digit} = arith.constant {digit} : i64\n" for digit in "01" if f"%c{digit}" in names)
    body = f"pto.vecscope {{\n{text}\n}}" if operation.placement != "outside" else text
    signature = ", ".join(f"{name}: {type_}" for name, type_ in arguments.items())
    return f"module {{\nfunc.func @kernel({signature}) {{\n{constants}{body}\nreturn\n}}\n}}\n"
