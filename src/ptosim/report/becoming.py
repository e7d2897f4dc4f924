"""What a tile operation becomes: the micro-instructions that its example is lowered to, for `ptosim isa`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ptosim.diagnostics import PTOError, Source
from ptosim.language.function import every_function
from ptosim.language.load import load
from ptosim.language.pointer import AddPtr, CastPtr
from ptosim.language.scope import VecScope
from ptosim.language.sim import SimRequire
from ptosim.language.tile_operation import TileOperation
from ptosim.tiles.lower import lower_tiles
from ptosim.tiles.plan import plan_memory

_CLAUSE = re.compile(r"\b(?:ins|outs)\s*\(([^()]*)\)")
_UNNAMED = (AddPtr, CastPtr, VecScope, SimRequire)
"""What stands around the work itself."""


def becomes(operation: type[TileOperation], example: str) -> list[str]:
    """The names of the instructions, each once; none for what is written otherwise than with `ins` and `outs`."""
    if f"{operation.name} ins" not in example:
        return []
    try:
        module = lower_tiles(plan_memory(load(Source("example", _kernel(example)), operation.targets[0])))
    except PTOError:
        return []
    names = [
        op.name.removeprefix("pto.")
        for function in every_function(module.parsed.module)
        if function not in module.refused
        for op in function.walk()
        if op.name.startswith("pto.") and module.parsed.origin(op).name == operation.name
        if not isinstance(op, _UNNAMED)
    ]
    return list(dict.fromkeys(names))


def _kernel(example: str) -> str:
    """A kernel around an example: tiles are allocated, views are made, everything else is an argument."""
    taken = dict(_values(example))
    defined = set(re.findall(r"^\s*(%\w+) =", example, re.MULTILINE))
    before, arguments = list[str](), ["%one: index"]
    for name, type_ in taken.items():
        if name in defined:
            continue
        if type_.startswith("!pto.tile_buf"):
            before.append(f"{name} = pto.alloc_tile : {type_}")
        elif type_.startswith("!pto.partition_tensor_view"):
            arguments.append(f"{name}_gm: !pto.ptr<{type_.removesuffix('>').rpartition('x')[2]}>")
            before += _view(name, type_)
        else:
            arguments.append(f"{name}: {type_}")
    body = "\n".join([*before, example, "return"])
    return f"module {{\nfunc.func @example({', '.join(arguments)}) {{\n{body}\n}}\n}}\n"


def _view(name: str, type_: str) -> Iterator[str]:
    """Lines that make a view of the shape of its type."""
    whole, shape = type_.replace("partition_", ""), re.findall(r"\d+(?=x)", type_)
    sizes = [f"{name}_{axis}" for axis in range(len(shape))]
    yield from (f"{size} = arith.constant {extent} : index" for size, extent in zip(sizes, shape, strict=True))
    strides, zeros = [*sizes[1:], "%one"], [f"{name}_zero"] * len(sizes)
    yield f"{name}_zero = arith.constant 0 : index"
    listed = f"shape = [{', '.join(sizes)}], strides = [{', '.join(strides)}]"
    yield f"{name}_all = pto.make_tensor_view {name}_gm, {listed} : {whole}"
    part = f"offsets = [{', '.join(zeros)}], sizes = [{', '.join(sizes)}]"
    yield f"{name} = pto.partition_view {name}_all, {part} : {whole} -> {type_}"


def _values(example: str) -> Iterator[tuple[str, str]]:
    """The values of the clauses of an example with the types that are listed for them."""
    for clause in _CLAUSE.findall(example):
        values, _, types = re.sub(r"\{[^{}]*\}", "", clause).partition(":")
        listed = [type_ for type_ in _parts(types) if not type_.startswith('"')]
        yield from zip(re.findall(r"%\w+", values), listed, strict=False)


def _parts(text: str) -> list[str]:
    """The parts of a list, at its commas outside brackets."""
    return [part.strip() for part in re.split(r",(?![^<]*>)", text) if part.strip()]
