"""What a tile operation becomes: the micro-instructions that its example is lowered to, for `ptosim isa`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from ptosim.diagnostics import PTOError, Source
from ptosim.effects.names import CoreKind
from ptosim.language.catalogue import room_of
from ptosim.language.function import every_function
from ptosim.language.load import load
from ptosim.language.pointer import AddPtr, CastPtr
from ptosim.language.scope import VecScope
from ptosim.language.sim import SimRequire
from ptosim.language.tile_fifo import TFreeFromAic, TFreeFromAiv, TPopFromAic, TPopFromAiv
from ptosim.language.tile_operation import TileOperation
from ptosim.tiles.fifo import lower_fifos
from ptosim.tiles.lower import lower_tiles
from ptosim.tiles.plan import plan_memory

_UNNAMED = (AddPtr, CastPtr, VecScope, SimRequire)
"""What stands around the work itself."""


def becomes(operation: type[TileOperation], example: str) -> list[str]:
    """The names of the instructions, each once; none for what is no instruction of its own, such as a view."""
    try:
        module = plan_memory(load(Source("example", _module(operation, example)), operation.targets[0]))
        module = lower_tiles(lower_fifos(module))
    except PTOError:
        return []
    names = [
        op.name.removeprefix("pto.")
        for function in every_function(module.parsed.module)
        if function not in module.refused
        for op in function.walk()
        if op.name.startswith("pto.") and module.parsed.origin(op).name == operation.name
        if not isinstance(op, (TileOperation, *_UNNAMED))
    ]
    return list(dict.fromkeys(names))


# --- kernels around an example ----------------------------------------------------------------------------------------


def _module(operation: type[TileOperation], example: str) -> str:
    arguments, body = _kernel(example)
    if room_of(operation) != "tile_fifo":
        return f"module {{\n{_function('example', arguments, '', body)}}}\n"
    functions = list[str]()
    for core, (kind, end) in _ENDS.items():
        lines = [end]
        if operation.cores == (core,) and operation.name not in end:
            before, after = _PAIRED.get(operation, ("", ""))
            lines += ["scf.for %turn = %from to %to step %step {", before, body, after, "}"]
        mark = f"attributes {{pto.kernel_kind = #pto.kernel_kind<{kind}>}}"
        functions.append(_function(kind, [*arguments, *_LOOP], mark, "\n".join(lines)))
    return f"module {{\n{''.join(functions)}}}\n"


def _function(name: str, arguments: Sequence[str], mark: str, body: str) -> str:
    return f"func.func @{name}({', '.join(arguments)}) {mark} {{\n{body}\nreturn\n}}\n"


def _kernel(example: str) -> tuple[list[str], str]:
    """The arguments and the body of a kernel: tiles are allocated, views are made, everything else is an argument."""
    taken = dict(_values(example))
    defined = set(re.findall(r"^\s*(%\w+) =", example, re.MULTILINE))
    before, arguments = ["%one = arith.constant 1 : index"], list[str]()
    for name, type_ in taken.items():
        if name in defined:
            continue
        if type_.startswith("!pto.tile_buf"):
            before.append(f"{name} = pto.alloc_tile : {type_}")
        elif type_.startswith("!pto.partition_tensor_view"):
            arguments.append(f"{name}_gm: !pto.ptr<{type_.removesuffix('>').rpartition('x')[2]}>")
            before += _view(name, type_)
        elif type_ in _MADE:
            arguments.append(f"{name}_at: !pto.ptr<i8>")
            before.append(_MADE[type_].format(name))
        else:
            arguments.append(f"{name}: {type_}")
    return arguments, "\n".join([*before, *_bound(taken), example])


_LOOP = ("%from: index", "%to: index", "%step: index")
"""Entries go around: a slot is waited for, and signalled when it is free."""
_CONSUMERS = "{dir_mask = 3, slot_size = 4096} (c2v_consumer_buf = %in : i32, v2c_consumer_buf = %out : i32)"
_RESERVED = 'pto.reserve_buffer {{name = "{}", size = 32768, location = #pto.address_space<{}>, auto = true}} -> i32'
_IMPORTED = 'pto.import_reserved_buffer {{name = "{}", peer_func = @{}}} -> i32'
_ENDS = {
    CoreKind.AIC: (
        "cube",
        f"%in = {_IMPORTED.format('in', 'vector')}\n%out = {_RESERVED.format('out', 'mat')}\n"
        f"pto.aic_initialize_pipe {_CONSUMERS}",
    ),
    CoreKind.AIV: (
        "vector",
        f"%in = {_RESERVED.format('in', 'vec')}\n%out = {_IMPORTED.format('out', 'cube')}\n"
        f"pto.aiv_initialize_pipe {_CONSUMERS}",
    ),
}
"""Both ends of a FIFO, by the core of each."""
_PAIRED: dict[type[TileOperation], tuple[str, str]] = {
    TPopFromAic: ("", "pto.tfree_from_aic {split = 0}"),
    TPopFromAiv: ("", "pto.tfree_from_aiv {split = 0}"),
    TFreeFromAic: ("%entry = pto.tpop_from_aic {split = 0} -> !pto.tile_buf<vec, 16x64xf32>", ""),
    TFreeFromAiv: (
        "%entry = pto.tpop_from_aiv {split = 0} -> !pto.tile_buf<mat, 16x64xf16, blayout=col_major, slayout=row_major>",
        "",
    ),
}
"""What an entry that is taken or given back needs before and behind."""

_SESSION = """{0}_control = pto.alloc_tile : !pto.tile_buf<vec, 1x32xi8>
{0} = pto.comm.build_async_session({0}_control, {0}_at : !pto.tile_buf<vec, 1x32xi8>, !pto.ptr<i8>)
  -> !pto.async_session"""
_CONTEXT = "{0} = pto.make_prefetch_async_context({0}_at : !pto.ptr<i8>) -> !pto.prefetch_async_context"
_MADE = {"!pto.async_session": _SESSION, "!pto.prefetch_async_context": _CONTEXT}
"""What is made for a kernel from a pointer, by its type."""


def _bound(taken: Mapping[str, str]) -> Iterator[str]:
    """Scales are those of the operand before them."""
    for (operand, type_), (scales, others) in pairwise(taken.items()):
        if others.startswith("!pto.tile_buf<scaling") and "fractal=32" in others:
            yield f"pto.tget_scale_addr ins({operand} : {type_}) outs({scales} : {others})"


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
    for clause in _clauses(example):
        values, _, types = re.sub(r"\{[^{}]*\}", "", clause).partition(" : ")
        listed = [type_ for type_ in _parts(types) if not type_.startswith('"')]
        yield from zip(re.findall(r"%\w+", values), listed, strict=False)


def _clauses(example: str) -> Iterator[str]:
    """What stands in parentheses, with the parentheses in it."""
    depth = start = 0
    for place, character in enumerate(example):
        if character == "(":
            start = place + 1 if depth == 0 else start
            depth += 1
        elif character == ")":
            depth -= 1
            if depth == 0:
                yield " ".join(example[start:place].split())


def _parts(text: str) -> list[str]:
    """The parts of a list, at its commas outside brackets."""
    return [part.strip() for part in re.split(r",(?![^<]*>)", text) if part.strip()]
