"""The rules of operations as tables: what is said of an operation when one type, word or number of it is another one.

An entry of a table (rules/ROOM.txt) begins with an operation in the generic form. Its lines are the substitutions that
are not accepted: the role, what takes the place of its type, word or number, and what is said, with `{}` for that:

    "pto.vcpadd"(%0, %1) : (!pto.vreg<64xf32>, !pto.mask<b32>) -> !pto.vreg<64xf32>
      mask b8 b16: mask type !pto.mask<{}> does not match ...
      every f32 = i8 i16: at input: pto.vcpadd does not take elements of type {}; it takes f16, f32

`every f32` replaces the elements of all operands and results at once. All others of VARIANTS and NUMBERS are accepted.
`python -m language.substitutions` (in tests/) writes the lines anew below the operations.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import cast

import pytest
from xdsl.dialects.builtin import IntegerAttr, IntegerType, StringAttr
from xdsl.ir import Attribute, SSAValue

from language import vector_tile_kernel
from ptosim.diagnostics import PTOError, Source
from ptosim.effects.element import ELEMENTS
from ptosim.language.operation import PTOOperation
from ptosim.language.rules.verifier import problems
from ptosim.language.text.parser import parse

TABLES = Path(__file__).parent / "rules"
PREFIXED = {"hif8", "hif8x2", "f8E8M0", "f4E1M2x2", "f4E2M1x2", "bf16x2"}
SCALARS = "i1 i8 si8 ui8 i16 i32 ui32 i64 index f16 bf16 f32".split()
LANES = [name for name, element in ELEMENTS.items() if element.bits >= 8 and name not in ("index", "f64")]
ALONE = "i8 i16 i32 ui32 i64 f16 bf16 f32 hif8".split()
TARGETS = "a5", "a2a3"
SPACES = "gm ub l1 l0a l0b l0c bt fb".split()
PLACES = "vec mat left right acc bias scaling".split()
LAYOUTS = {
    "ND": "",
    "DN": ", blayout=col_major",
    "NZ": ", blayout=col_major, slayout=row_major",
    "ZN": ", slayout=col_major",
}
NUMBERS = sorted({-1, *(2**power + more for power in (*range(17), 21, 24, 31, 32, 40) for more in (-1, 0, 1))})


def spelled(element: str) -> str:
    return f"!pto.{element}" if element in PREFIXED else element


_ELEMENT = re.compile(
    rf"(?<=[x<])({'|'.join(sorted(map(re.escape, map(spelled, LANES)), key=len, reverse=True))})(?=[,>])"
)


def element_in(type_: str) -> str | None:
    """The element of a register, pointer, tile or view; the name of a scalar."""
    found = _ELEMENT.search(type_)
    return found[1].removeprefix("!pto.") if found else type_ if type_ in ELEMENTS else None


def with_element(type_: str, element: str) -> str:
    if type_.startswith("!pto.vreg"):
        return f"!pto.vreg<{ELEMENTS[element].lanes}x{spelled(element)}>"
    return _ELEMENT.sub(spelled(element), type_) if _ELEMENT.search(type_) else spelled(element)


def with_mask(type_: str, element: str) -> str:
    return f"!pto.mask<b{min(ELEMENTS[element].bits, 32)}>" if type_.startswith("!pto.mask") else type_


def variants(type_: str) -> Iterator[tuple[str, str]]:
    """What may stand in the place of a type: a short name for it, and the type."""
    family = re.sub(r"<.*", "", type_)
    if family in ("!pto.vreg", "!pto.ptr", "!pto.tile_buf", "!pto.tensor_view", "!pto.partition_tensor_view"):
        yield from ((element, with_element(type_, element)) for element in ALONE)
        yield from (("scalar", "f32"), ("mask", "!pto.mask<b32>"))
    if family == "!pto.mask":
        yield from ((width, f"!pto.mask<{width}>") for width in ("b8", "b16", "b32"))
        yield "scalar", "i32"
    elif family == "!pto.ptr":
        yield from ((space, re.sub(r"\w+>$", f"{space}>", type_)) for space in SPACES)
    elif family == "!pto.tile_buf":
        yield from _tiles(type_)
    elif type_ in ELEMENTS:
        yield from ((scalar, scalar) for scalar in SCALARS)
        yield "register", "!pto.vreg<64xf32>"
    else:
        yield "scalar", "i32"


def _tiles(type_: str) -> Iterator[tuple[str, str]]:
    shape = re.match(r"!pto.tile_buf<(\w+), (\d+)x(\d+)x([^,>]+)(.*)>$", type_)
    assert shape is not None
    place, rows, columns, element, more = shape[1], int(shape[2]), int(shape[3]), shape[4], shape[5]
    unboxed = re.sub(r", (blayout|slayout|fractal)=\w+", "", more)
    whole = re.sub(r", valid=[\dx?]+", "", more)
    for other in PLACES:
        yield other, f"!pto.tile_buf<{other}, {rows}x{columns}x{element}{more}>"
    for name, layout in LAYOUTS.items():
        yield name, f"!pto.tile_buf<{place}, {rows}x{columns}x{element}{layout}{unboxed}>"
    for valid in (f"{-(-rows // 2)}x{columns}", f"{rows}x{-(-columns // 2)}", "?x?"):
        yield f"valid={valid}", f"!pto.tile_buf<{place}, {rows}x{columns}x{element}{whole}, valid={valid}>"
    for size in (f"{2 * rows}x{columns}", f"{rows}x{2 * columns}"):
        yield size, f"!pto.tile_buf<{place}, {size}x{element}{more}>"


# --- substitutions ----------------------------------------------------------------------------------------------------

Said = tuple[tuple[str, str, str | int | None, str], ...]


@cache
def type_of(text: str) -> Attribute | None:
    """The type, None where there is no such type."""
    try:
        module = parse(Source("type", f"func.func private @f({text})")).module
    except PTOError:
        return None
    return next(op for op in module.walk() if op.name == "func.func").function_type.inputs.data[0]  # type: ignore[attr-defined]


@cache
def constant(number: int, type_: str) -> SSAValue | None:
    try:
        module = parse(
            Source("constant", f"func.func @f() {{\n%c = arith.constant {number} : {type_}\nreturn\n}}")
        ).module
    except PTOError:
        return None
    return next(op for op in module.walk() if op.name == "arith.constant").results[0]


class Subject:
    """An operation that is verified with other types, words and numbers."""

    def __init__(self, line: str) -> None:
        self.line = line
        names, types = re.findall(r"%\d+", line.partition(")")[0]), _listed(line)
        arguments = ", ".join(f"{name}: {type_}" for name, type_ in zip(names, types, strict=True))
        self.text = f"func.func @f({arguments}) {{\n{{}}\nreturn\n}}"
        parsed = parse(Source("entry", self.text.replace("{}", line)))
        self.op = next(op for op in parsed.module.walk() if isinstance(op, PTOOperation) and op.name in line)
        self.values = [*self.op.roles(), *zip(self.op.result_roles, self.op.results, strict=False)]
        self.element = next(
            (found for _, value in self.values if (found := element_in(str(value.type))) and found != str(value.type)),
            None,
        )
        self.base: dict[str, Said] = {}
        self.base = {target: self.said(target) for target in TARGETS}

    def said(self, target: str, types: Mapping[SSAValue, str] | None = None) -> Said:
        """The problems of the operation with other types."""
        with ExitStack() as stack:
            for value, text in (types or {}).items():
                stack.callback(setattr, value, "_type", value.type)
                value._type = type_of(text)  # type: ignore[assignment]
            found = ((each.severity, each.kind, each.at, each.message) for each in problems(self.op, target))
            return tuple(each for each in found if each not in self.base.get(target, ()))

    def substituted(self, target: str) -> Iterator[tuple[str, str, str, Said]]:
        """The role, the short name, the text that messages may have, and what is said."""
        yield "as it stands", "", "", self.base[target]
        if target not in self.op.targets:
            return
        for role, value in self.values:
            type_ = str(value.type)
            for name, other in dict(variants(type_)).items():
                if other != type_ and type_of(other) is not None:
                    yield role, name, other, self.said(target, {value: other, **self._masks(value, other)})
        yield from self._together(target)
        yield from self._numbers(target)
        yield from self._words(target)

    def _masks(self, changed: SSAValue, type_: str) -> dict[SSAValue, str]:
        """Masks follow the first register."""
        first = next((value for _, value in self.values if str(value.type).startswith("!pto.vreg")), None)
        element = element_in(type_) if changed is first and type_.startswith("!pto.vreg") else None
        if element is None:
            return {}
        masks = (value for _, value in self.values if str(value.type).startswith("!pto.mask"))
        return {mask: with_mask(str(mask.type), element) for mask in masks}

    def _together(self, target: str) -> Iterator[tuple[str, str, str, Said]]:
        for element in (each for each in LANES if self.element not in (None, each)):
            types = {value: str(value.type) for _, value in self.values}
            other = {
                value: with_element(type_, element) if element_in(type_) == self.element else with_mask(type_, element)
                for value, type_ in types.items()
            }
            changed = {value: type_ for value, type_ in other.items() if type_ != types[value]}
            if changed and all(type_of(type_) is not None for type_ in changed.values()):
                first = next(type_ for type_ in changed.values() if element_in(type_) == element)
                yield f"every {self.element}", element, first, self.said(target, changed)

    def _numbers(self, target: str) -> Iterator[tuple[str, str, str, Said]]:
        for index, (role, value) in enumerate(self.op.roles()):
            is_integer = str(value.type) == "index" or re.fullmatch(r"[su]?i\d+", str(value.type))
            bits = 64 if not is_integer or str(value.type) == "index" else int(str(value.type).lstrip("sui"))
            for number in (each for each in NUMBERS if is_integer and each < 1 << (bits - 1)):
                if (other := constant(number, str(value.type))) is not None:
                    self.op.operands[index] = other
                    yield role, str(number), str(number), self.said(target)
            self.op.operands[index] = value

    def _words(self, target: str) -> Iterator[tuple[str, str, str, Said]]:
        for role, value in list(self.op.properties.items()):
            for name, other in self._others(role, value):
                self.op.properties[role] = other
                yield role, name, name, self.said(target)
            self.op.properties[role] = value
            if role in self.op.words:
                yield role, "a word of no language", "nonsense", self._unread(role)

    def _unread(self, role: str) -> Said:
        """What the parser says of a word that it does not know."""
        line = re.sub(rf'\b{role} = "?[^",}}]*"?', f'{role} = "nonsense"', self.line)
        with pytest.raises(PTOError) as raised:
            parse(Source("entry", self.text.replace("{}", line)))
        return tuple((found.severity, found.kind, role, found.message) for found in raised.value.diagnostics)

    def _others(self, role: str, value: Attribute) -> Iterator[tuple[str, Attribute]]:
        if role in self.op.words:
            known = self.op.words[role]
            yield from ((word, StringAttr(word)) for word in (*known.words, *known.illegal))
        elif isinstance(value, IntegerAttr):
            type_ = cast("IntegerAttr[IntegerType]", value).type
            small = (number for number in NUMBERS if number < 1 << 31 and type_ != type_of("i1"))
            yield from ((str(number), IntegerAttr(number, type_)) for number in small)


def _listed(line: str) -> list[str]:
    """The types of the operands of the generic form."""
    listed = line.rpartition(" : (")[2].partition(") -> ")[0]
    return vector_tile_kernel.listed(listed)


# --- tables -----------------------------------------------------------------------------------------------------------


def lines(line: str, target: str) -> Iterator[str]:
    """What is said of an operation on one target, substitution by substitution."""
    found: dict[tuple[str, Said], list[str]] = defaultdict(list)
    for role, name, text, said in Subject(line).substituted(target):
        opened = tuple((severity, kind, at, _open(message, text, name)) for severity, kind, at, message in said)
        found[role, opened].append(name)
    for (role, said), names in found.items():
        for severity, kind, at, message in said:
            head = f"{role} {_ranges(names)}".rstrip()
            sort = "" if (severity, kind) == ("error", "invalid") else f"[{kind if severity == 'error' else severity}] "
            place = "" if at in (None, role, f"{role}_type") else f"at {at}: "
            yield f"  {head}: {sort}{place}{message}"


def _open(message: str, text: str, name: str) -> str:
    """The message with `{}` for what was substituted, up to a list of what is known."""
    said, semicolon, known = message.partition(";")
    said = said.replace(text, "{}") if text else said
    return (re.sub(rf"(?<![\w.-]){re.escape(name)}(?![\w.-])", "{}", said) if name else said) + semicolon + known


def _ranges(names: list[str]) -> str:
    """Names in their order; numbers that follow each other in NUMBERS as a range."""
    if not all(re.fullmatch(r"-?\d+", name) for name in names):
        return " ".join(names)
    places = [NUMBERS.index(int(name)) for name in names]
    starts = [place for place in places if place - 1 not in places]
    ends = [place for place in places if place + 1 not in places]
    return " ".join(
        f"{NUMBERS[start]}" if start == end else f"{NUMBERS[start]}..{NUMBERS[end]}"
        for start, end in zip(starts, ends, strict=True)
    )


def entry(line: str) -> tuple[str, ...]:
    """What is said of an operation, which is called OP."""
    name = re.search(r'"([\w.]+)"', line)
    assert name is not None
    own = {target: [part.replace(f" on {target}", " on TARGET") for part in lines(line, target)] for target in TARGETS}
    found = {
        part: [target for target, parts in own.items() if part in parts] for parts in own.values() for part in parts
    }
    known = Subject(line).op.targets
    said = (part if {*where} >= {*known} else f"  {where[0]}:{part}" for part, where in found.items())
    return tuple(re.sub(rf"(?<![\w.]){re.escape(name[1])}(?![\w.])", "OP", part) for part in said)


def written(table: str) -> str:
    """A table whose lines are made anew; operations of which the same is said share them."""
    together: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for line in table.splitlines():
        if line.startswith(('"', "%")):
            together[entry(line)].append(line)
    return "\n".join("\n".join((*operations, *said, "")) for said, operations in together.items())


def main() -> None:
    for path in sorted(TABLES.glob("*.txt")):
        path.write_text(written(path.read_text()))


if __name__ == "__main__":
    main()
