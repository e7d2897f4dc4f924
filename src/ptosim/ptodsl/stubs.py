"""The stubs that editors read, `pto.pyi` and `scalar.pyi`, written from the classes and rooms of the calls."""

from __future__ import annotations

import inspect
import keyword
import re
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from ptosim.author import scalars, vector, words
from ptosim.author.call import bound_roles, required
from ptosim.author.dtypes import DTYPES
from ptosim.author.surface import HERE, PLAIN, SPELLINGS, attribute_names, tile_call, tile_names
from ptosim.author.tile_calls import own_calls
from ptosim.author.vmi import names as vmi_names
from ptosim.author.vmi import vmi_call
from ptosim.language.catalogue import operation, operations
from ptosim.language.operation import PTOOperation
from ptosim.language.tile.tile_operation import TileOperation
from ptosim.ptodsl.pto import HOMES

HEAD = '''"""Written by `make stubs` from the operation classes; what a call does is said there."""

# fmt: off
# ruff: noqa

from collections.abc import Sequence
from enum import Enum
from typing import Any, Generic, Literal, TypeAlias, TypeVar, overload

from ptosim.author.dtypes import MaskDescription
from ptosim.author.tiles import TileSlice, TileValue
from ptosim.author.values import AlignValue, MaskValue, PointerOffset, PointerValue, RegisterValue, ScalarValue
from ptosim.author.values import ViewValue

HOMES: dict[str, str]
const_expr: TypeAlias = Any
Tile: TypeAlias = TileValue
TensorView: TypeAlias = ViewValue
PartitionView: TypeAlias = ViewValue
PartitionTensorView: TypeAlias = ViewValue
mask_b8: MaskDescription
mask_b16: MaskDescription
mask_b32: MaskDescription
_Integer: TypeAlias = ScalarValue | int
_Number: TypeAlias = ScalarValue | float | str
_Address: TypeAlias = PointerValue | PointerOffset | Tile | TileSlice
_Word: TypeAlias = Enum | str
_Element = TypeVar("_Element")

class ptr(PointerValue, Generic[_Element]):
    """A pointer to elements of a type in a memory: gm, ub (or vec), mat, left, right, acc, bias, scaling."""
    def __new__(cls, element_type: Any, space: Any = ...) -> Any: ...
    def __init__(self, element_type: Any, space: Any = ...) -> None: ...

class gm_ptr(PointerValue, Generic[_Element]):
    """A pointer to elements of a type in global memory."""
    def __new__(cls, element_type: Any) -> Any: ...
    def __init__(self, element_type: Any) -> None: ...

'''
_TYPES = {
    **dict.fromkeys(("V", "vreg"), "RegisterValue"),
    **dict.fromkeys(("M", "mask"), "MaskValue"),
    **dict.fromkeys(("T", "f32", "i1"), "_Number"),
    **dict.fromkeys(("index", "i16", "i32", "i64"), "_Integer"),
    "align": "AlignValue",
}
"""By what an operation class says of an operand: what a call takes for it."""
_SAID = re.compile(
    r"(?:RegisterValue|(?:Mask|Align|Scalar|Pointer|View)Value|None|Sequence|Any|bool|int|str|tuple|[\[\], |])+"
)
"""Annotations of a call that is written by hand whose words the stub knows as well."""
_REGISTERS = frozenset(("v", "a", "b", "m", "x", "y", "acc", "low", "high"))
"""Parameters of calls on vectors that are registers, but for a number that is broadcast."""


def _first_line(text: str | None) -> str:
    line = next((each.strip() for each in (text or "").splitlines() if each.strip()), "")
    return line.replace("\\", "").replace('"""', "'")


def _definition(name: str, parameters: str, documentation: str | None, indent: str = "", result: str = "Any") -> str:
    said = _first_line(documentation)
    body = f'\n{indent}    """{said}"""\n{indent}    ...\n' if said else " ...\n"
    return f"{indent}def {name}({parameters}) -> {result}:{body}"


def _written(function: Callable[..., Any], is_method: bool = False) -> str:
    """The parameters of a call that is written by hand."""
    parts = ["self"] if is_method else []
    starred = False
    for each in inspect.signature(function).parameters.values():
        default = "" if each.default is each.empty else " = ..."
        if each.kind == each.KEYWORD_ONLY and not starred:
            parts.append("*")
            starred = True
        if each.kind == each.VAR_POSITIONAL:
            parts.append(f"*{each.name}: Any")
            starred = True
        elif each.kind == each.VAR_KEYWORD:
            parts.append(f"**{each.name}: Any")
        else:
            parts.append(f"{each.name}: {_annotation(function, each)}{default}")
    return ", ".join(parts)


def _annotation(function: Callable[..., Any], each: inspect.Parameter) -> str:
    """The type of a parameter that has no default; others are given by dictionaries as well, which checkers refuse."""
    if each.default is not each.empty:
        return "Any"
    if each.name == "mask":
        return "MaskValue"
    if each.name in _REGISTERS and function.__module__ == vector.__name__ and function.__name__ != "vdup":
        return "RegisterValue"
    return each.annotation if _SAID.fullmatch(str(each.annotation)) else "Any"


def _hand_written(name: str, function: Callable[..., Any]) -> str:
    """A call that is written by hand. One that gives a pointer as well where post_update is said has two forms."""
    parameters, said = _written(function), str(inspect.signature(function).return_annotation)
    result = said if _SAID.fullmatch(said) else "Any"
    plain, _, updated = result.partition(" | ")
    update = re.compile(r", post_update: Any = \.\.\.")
    if not updated or not update.search(parameters):
        return _definition(name, parameters, function.__doc__, result=result)
    plain, updated = ("None", plain) if updated == "None" else (plain, updated)
    without = update.sub("", parameters).removesuffix(", *")
    forms = (without, plain), (update.sub(", post_update: _Word", parameters), updated)
    return "".join(f"@overload\n{_definition(name, words, function.__doc__, result=each)}" for words, each in forms)


def _derived(kind: type[PTOOperation], is_method: bool = False) -> str:
    """The parameters of a call that an operation class says: operands, then words as literals."""
    spelling = SPELLINGS.get(kind.name, PLAIN)
    needed = {*required(kind)} - {*spelling.defaults}
    placed = [role for role in bound_roles(kind, spelling) if role != "older"]
    optional = next((number for number, role in enumerate(placed) if role not in needed), len(placed))
    parts = ["self"] if is_method else []
    if issubclass(kind, TileOperation) and kind.optional_roles:  # working memory may stand between the others
        parts.append(f"{_safe(placed[0])}: {_type(kind, placed[0])}")
        placed = placed[:1]
        parts.append("*rest: Any")
    else:
        for number, role in enumerate(placed):
            parts.append(f"{_safe(role)}: {_type(kind, role)}{' = ...' if number >= optional else ''}")
    others = [role for role in (*kind.operand_roles, *kind.property_roles) if role not in placed and role != "older"]
    roles = (*kind.operand_roles, *kind.property_roles)
    keywords = dict.fromkeys((*(each for each, role in spelling.keywords.items() if role in roles), *others))
    named = [f"{_safe(each)}: {_type(kind, spelling.keywords.get(each, each))} = ..." for each in keywords]
    star = ["*"] if named and "*rest: Any" not in parts else []
    return ", ".join([*parts, *star, *named])


def _safe(name: str) -> str:
    plain = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()
    return f"{plain}_" if keyword.iskeyword(plain) else plain


def _type(kind: type[PTOOperation], role: str) -> str:
    """The type of an operand, or the words that a word is one of."""
    vocabulary = kind.words.get(role)
    if vocabulary is None:
        return _operand_type(kind, role)
    known = ", ".join(repr(word) for word in vocabulary.words)
    return f"Literal[{known}] | _Word" if known else "Any"


def _operand_type(kind: type[PTOOperation], role: str) -> str:
    found = {_TYPES.get(each) for each in kind.types.get(role, ())}
    if len(found) == 1 and (known := found.pop()) is not None:
        return known
    if role in kind.spaces:
        return "_Address"
    is_tile = (
        issubclass(kind, TileOperation) and kind.name != "pto.tdivs" and role.rstrip("01234") in ("src", "dst", "tmp")
    )
    return "Tile" if is_tile and role in kind.operand_roles else "Any"


def _result(kind: type[PTOOperation]) -> str:
    """The type of the value of a call, or the types of its values."""
    found = [_operand_type(kind, role) for role in kind.result_roles]
    found = ["ScalarValue" if each in ("_Integer", "_Number") else each for each in found]
    return "None" if not found else found[0] if len(found) == 1 else f"tuple[{', '.join(found)}]"


def _members(names: Iterable[str], call: Callable[[str], Any], kind_of: Callable[[str], Any]) -> str:
    lines: list[str] = []
    for name in sorted(each for each in names if not keyword.iskeyword(each)):
        kind = kind_of(name)
        function = call(name)
        parameters = _derived(kind, True) if kind is not None else _written(function, True)
        lines.append(_definition(name, parameters, function.__doc__, "    ", _result(kind) if kind else "Any"))
    return "".join(lines)


def _tile_kind(name: str) -> type[PTOOperation] | None:
    if name in own_calls():
        return None
    from ptosim.author.surface import TILE_NAMES

    dotted = name.replace("_", ".")
    return operation(f"pto.{TILE_NAMES.get(name, '')}") or operation(f"pto.t{name}") or operation(f"pto.t{dotted}")


def pto_stub() -> str:
    """The text of `pto.pyi`."""
    out = [HEAD]
    for home, names in sorted(HOMES.items()):
        plain = [name for name in names.split() if name != "vmi"]
        if plain:
            out.append(f"from {home} import {', '.join(f'{name} as {name}' for name in plain)}\n")
    out.append("\nclass _Scalar(ScalarValue):\n    def __init__(self, value: float | str) -> None: ...\n")
    out += [f"class {name}(_Scalar): ...\n" for name in sorted(DTYPES)]
    out.append("\n")
    for name in words.NAMES:
        members = words.enum(name).__members__
        body = "".join(f"    {member} = {value.value!r}\n" for member, value in members.items())
        out.append(f"class {name}(str, Enum):\n{body}\n")
    at_home = {name for names in HOMES.values() for name in names.split()}
    own = {name: getattr(room, name) for room, names in HERE.values() for name in names.split()}
    own |= {"alloc_tile": _named("alloc_tile"), "print": _named("print")}
    out += [_hand_written(name, function) for name, function in sorted(own.items()) if name not in ("ptr", "gm_ptr")]
    for name, kind in sorted(attribute_names().items()):
        if name not in own and name not in at_home:
            out.append(_definition(name, _derived(kind), kind.__doc__, result=_result(kind)))
    out.append("\nclass _Tile:\n" + _members(tile_names(), tile_call, _tile_kind) + "\ntile: _Tile\n")
    logical = [each.name.removeprefix("pto.vmi.") for each in operations() if each.name.startswith("pto.vmi.")]
    own_logical = {*vmi_names()}
    known = {*own_logical, *(name for name in logical if "." not in name)}
    of_class = _members(known, vmi_call, lambda name: None if name in own_logical else operation(f"pto.vmi.{name}"))
    out.append(f"\nclass _Vmi:\n{of_class}\nvmi: _Vmi\n")
    between = [each.name.removeprefix("pto.comm.") for each in operations() if each.name.startswith("pto.comm.")]
    comm = _members(between, lambda name: operation(f"pto.comm.{name}"), lambda name: operation(f"pto.comm.{name}"))
    out.append(f"\nclass _Comm:\n{comm}\ncomm: _Comm\n")
    return "".join(out)


def _named(name: str) -> Callable[..., Any]:
    from ptosim.author.surface import pto_name

    return pto_name(name)


def scalar_stub() -> str:
    """The text of `scalar.pyi`."""
    calls = {name: getattr(scalars, name) for name in scalars.NAMES.split()}
    head = '"""Written by `make stubs`."""\n# fmt: off\n# ruff: noqa\n\nfrom typing import Any\n\n'
    return head + "".join(_definition(name, _written(each), each.__doc__) for name, each in sorted(calls.items()))


STUBS: dict[str, Callable[[], str]] = {"pto.pyi": pto_stub, "scalar.pyi": scalar_stub}


def main() -> None:
    """Write them beside the modules."""
    folder = Path(__file__).parent
    for name, made in STUBS.items():
        (folder / name).write_text(made())
        sys.stdout.write(f"{folder / name}\n")


if __name__ == "__main__":
    main()
