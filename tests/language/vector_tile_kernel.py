"""Tiny kernels around tile operations of the vector pipe.

Values that a text uses without defining them become arguments, with the types that `ins(...)` and `outs(...)` first
list for them. `<16x64xf32>` is short for `!pto.tile_buf<vec, 16x64xf32>`, and `<mat, ...>` alike. `«wrong|right»` is a
text and its twin, `~` stands before the token that a diagnostic points at, as in twins.py.
"""

import re

from language.vector_kernel import read
from ptosim.diagnostics import PTOError
from ptosim.language.load import text as printed
from refusals.rule import Rule

_CHOICE = re.compile(r"«([^«|»]*)\|([^«|»]*)»")
_TILE = re.compile(r"(?<![\w.])<((?:vec|mat|left|right|acc|bias|scaling), )?(\d+x[^<>]*)>")
_CLAUSE = re.compile(r"\b(?:ins|outs)\s*\(([^()]*)\)")


def expanded(text: str) -> str:
    return _TILE.sub(lambda match: f"!pto.tile_buf<{match[1] or 'vec, '}{match[2]}>", text)


def listed(text: str) -> list[str]:
    """The parts of a list, at its commas outside brackets."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter in "<{") - (letter in ">}")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts if part.strip()]


def arguments(text: str) -> dict[str, str]:
    """The values of a text that it does not define, with their types."""
    found: dict[str, str] = {}
    for clause in _CLAUSE.findall(text.replace("~", "")):
        values, _, types = re.sub(r"\{[^{}]*\}", "", clause).partition(":")
        names = re.findall(r"%\w+", values)
        given = [type_ for type_ in listed(types) if not type_.startswith('"')]
        found = dict(zip(names, given, strict=False)) | found
    defined = set(re.findall(r"^\s*(%\w+) =", text, re.MULTILINE))
    return {name: type_ for name, type_ in found.items() if name not in defined}


def kernel(text: str) -> str:
    """The module around a text."""
    body = expanded(text)
    given = ", ".join(f"{name}: {type_}" for name, type_ in arguments(body).items())
    return f"module {{\nfunc.func @kernel({given}) {{\n{body}\nreturn\n}}\n}}\n"


def diagnostics(text: str, target: str) -> list[tuple[str, str, str, tuple[int, int] | None]]:
    """Everything that is said of a kernel: kind, severity, message, place."""
    try:
        found = tuple(read(text, target).warnings)
    except PTOError as problem:
        found = problem.diagnostics
    places = [(said.location.line, said.location.column) if said.location else None for said in found]
    return [(said.kind, said.severity, said.message, place) for said, place in zip(found, places, strict=True)]


def holds(rule: Rule) -> None:
    """Of the wrong text exactly this is said, at its marker, and nothing of the right one, which prints stably."""
    assert _CHOICE.search(rule.text), "the text does not say how its twin differs"
    target = rule.target or "a5"
    wrong, right = (kernel(_CHOICE.sub(rf"\{choice}", rule.text)) for choice in (1, 2))
    before, marker, after = wrong.partition("~")
    assert marker, "the text does not say where the diagnostic belongs"
    place = (before.count("\n") + 1, len(before) - before.rfind("\n"))
    assert diagnostics(before + after, target) == [(rule.kind, rule.severity, rule.message, place)]
    accepts(right.replace("~", ""), target)


def accepts(text: str, target: str = "a5") -> str:
    """A module loads without a word; what is printed of it loads again and prints the same."""
    assert diagnostics(text, target) == []
    once = printed(read(text, target))
    assert printed(read(once, target)) == once
    return once


def rejects(text: str, message: str, kind: str = "invalid", target: str = "a5") -> None:
    """Of a kernel exactly this is said, at its marker."""
    before, marker, after = kernel(text).partition("~")
    assert marker, "the text does not say where the diagnostic belongs"
    place = (before.count("\n") + 1, len(before) - before.rfind("\n"))
    assert diagnostics(before + after, target) == [(kind, "error", message, place)]


def prints(text: str, line: str, target: str = "a5") -> None:
    """The canonical text of a kernel has this line."""
    assert expanded(line) in [found.strip() for found in accepts(kernel(text), target).splitlines()]
