"""Tiny kernels around operations on tiles, for the tests of the rooms that move and multiply tiles, and of FIFOs.

Values that a body uses and does not define become arguments; their types are taken from the type lists of the body,
and a value without one is an index. `«wrong|right»` and `~` are those of twins.py. In a text `ND<16x64xf32>` is short
for a tile in vec, and so on (SHORT).
"""

import re
from collections.abc import Iterator

import pytest

from language.vector_kernel import read
from ptosim.diagnostics import PTOError
from ptosim.language.load import text as text_of
from ptosim.language.tile.tile_operation import TileOperation

_VALUE = re.compile(r"%\w+")
_CHOICE = re.compile(r"«([^«|»]*)\|([^«|»]*)»")

SHORT = {
    "ND": "!pto.tile_buf<vec, {}>",
    "DN": "!pto.tile_buf<vec, {}, blayout=col_major>",
    "NZ": "!pto.tile_buf<vec, {}, blayout=col_major, slayout=row_major>",
    "MAT": "!pto.tile_buf<mat, {}, blayout=col_major, slayout=row_major>",
    "LEFT": "!pto.tile_buf<left, {}, blayout=col_major, slayout=row_major>",
    "RIGHT": "!pto.tile_buf<right, {}, slayout=col_major>",
    "ACC": "!pto.tile_buf<acc, {}, blayout=col_major, slayout=row_major, fractal=1024>",
    "BIAS": "!pto.tile_buf<bias, {}>",
    "FP": "!pto.tile_buf<scaling, {}>",
    "SA": "!pto.tile_buf<scaling, {}, slayout=row_major, fractal=32>",
    "SB": "!pto.tile_buf<scaling, {}, blayout=col_major, slayout=col_major, fractal=32>",
    "PV": "!pto.partition_tensor_view<{}>",
    "TV": "!pto.tensor_view<{}>",
}
_SHORT = re.compile(rf"(?<![!\w.])({'|'.join(SHORT)})<([^<>]*)>")


def expanded(text: str) -> str:
    return _SHORT.sub(lambda match: SHORT[match[1]].format(match[2]), text)


def _types(text: str, start: int) -> Iterator[tuple[str, int]]:
    """The types of a list that starts here, each with where it ends."""
    depth, begin = 0, start
    for position in range(start, len(text)):
        letter = text[position]
        if letter == "<":
            depth += 1
        elif letter == ">" and text[position - 1] != "-":
            depth -= 1
        elif depth == 0 and (letter in ",)}\n" or re.match(r"\s(fp|pre_quant|outs)\b|\s*->", text[position:])):
            yield text[begin:position].strip(), position
            begin = position + 1
            if letter != "," or re.match(r",\s*(\w+ = )?%", text[position:]):
                return


def arguments(body: str) -> dict[str, str]:
    """The values that a body uses without defining them, with their types."""
    plain = re.sub(r"\n\s+(?=[:!{]|outs|ins|->)", " ", body.replace("~", "")) + "\n"
    found: dict[str, str] = {}
    end = 0
    for colon in re.finditer(r" : ", plain):
        types = list(_types(plain, colon.end()))
        values = _VALUE.findall(re.sub(r"\[[^\]]*\]", "", plain[end : colon.start()]))
        for name, (type_, _) in zip(values[-len(types) :], types, strict=False):
            found.setdefault(name, type_)
        end = types[-1][1]
    lines = re.findall(r"^\s*(?:scf\.for )?(%[^=]*?) = ", plain, re.MULTILINE)
    defined = {name for names in lines for name in _VALUE.findall(names)}
    used = dict.fromkeys(_VALUE.findall(plain))
    return {name: found.get(name, "index") for name in used if name not in defined}


def module(body: str, kind: str | None = None) -> str:
    """The module around a body."""
    body = expanded(body)
    if "func.func" in body:
        return body
    listed = ", ".join(f"{name}: {type_}" for name, type_ in arguments(body).items())
    attribute = f" attributes {{pto.kernel_kind = #pto.kernel_kind<{kind}>}}" if kind else ""
    return f"module {{\nfunc.func @kernel({listed}){attribute} {{\n{body}\nreturn\n}}\n}}\n"


def accepts(body: str, target: str = "a5", kind: str | None = None, warned: tuple[str, ...] = ()) -> str:
    """The body loads with these warnings only; what is printed of it loads again and prints the same."""
    loaded = read(module(body, kind), target)
    assert tuple(warning.message for warning in loaded.warnings) == warned
    once = text_of(loaded)
    assert text_of(read(once, target)) == once
    return once


def rejects(body: str, message: str, target: str = "a5", kind: str | None = None, sort: str = "invalid") -> None:
    """The body has exactly one error, this one, at its marker."""
    before, marker, after = module(body, kind).partition("~")
    assert marker, "the body does not say where the diagnostic belongs"
    with pytest.raises(PTOError) as raised:
        read(before + after, target)
    found = raised.value.diagnostics
    places = [(place.line, place.column) for each in found if (place := each.location) is not None]
    assert [each.message for each in found] == [message]
    assert places == [(before.count("\n") + 1, len(before) - before.rfind("\n"))]
    assert [each.kind for each in found] == [sort]


def twins(text: str, message: str, target: str = "a5", kind: str | None = None, sort: str = "invalid") -> None:
    """The wrong text is rejected at its marker, the right one accepted."""
    assert _CHOICE.search(text), "the text does not say how its twin differs"
    rejects(_CHOICE.sub(r"\1", text), message, target, kind, sort)
    accepts(_CHOICE.sub(r"\2", text).replace("~", ""), target, kind)


def only(body: str, target: str = "a5", kind: str | None = None) -> TileOperation:
    """The one tile operation of a body."""
    (found,) = (op for op in read(module(body, kind), target).parsed.module.walk() if isinstance(op, TileOperation))
    return found
