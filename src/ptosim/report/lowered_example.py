"""Micro-instructions of the example of a tile operation, for `ptosim isa`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, pairwise, repeat

from ptosim.diagnostics import PTOError, Source
from ptosim.effects.catalogue import effects
from ptosim.effects.names import CoreKind
from ptosim.language.load import load
from ptosim.language.micro.pointer import AddPtr, CastPtr
from ptosim.language.micro.scope import VecScope
from ptosim.language.micro.sim import SimRequire
from ptosim.language.operation import PTOOperation
from ptosim.language.structure.function import every_function
from ptosim.language.tile.tile_fifo import (
    Alloc,
    TAllocToAic,
    TAllocToAiv,
    TFreeFromAic,
    TFreeFromAiv,
    TPopFromAic,
    TPopFromAiv,
)
from ptosim.language.tile.tile_operation import TileOperation
from ptosim.language.tile.tile_pipe import Handled, TAlloc, TFree, TPop
from ptosim.tiles.fifo.fifo_protocols import FIFO
from ptosim.tiles.fifo.lower_fifos import lower_fifos
from ptosim.tiles.lower import lower_tiles
from ptosim.tiles.passes.memory_plan import plan_memory
from ptosim.vmi.lower import lower_vectors_of_tiles

_UNNAMED = (AddPtr, CastPtr, VecScope, SimRequire)
"""Operations around the work itself."""


def becomes(operation: type[PTOOperation], example: str) -> list[str]:
    """The names of the instructions, each once; none for what is no instruction of its own, such as a view."""
    if operation.name in effects():
        return [operation.name.removeprefix("pto.")]
    try:
        module = plan_memory(load(Source("example", _module(operation, example)), operation.targets[0]))
        module = lower_vectors_of_tiles(lower_tiles(lower_fifos(module)))
    except PTOError:
        return []
    names_of_it = (operation.name, operation.replaced_by)
    names = [
        op.name.removeprefix("pto.")
        for function in every_function(module.parsed.module)
        if function not in module.refused
        for op in function.walk()
        if op.name.startswith("pto.") and module.parsed.origin(op).name in names_of_it
        if not isinstance(op, (TileOperation, *_UNNAMED))
    ]
    return list(dict.fromkeys(names))


# --- kernels around an example ----------------------------------------------------------------------------------------


def _module(operation: type[PTOOperation], example: str) -> str:
    arguments, body = _kernel(example)
    if not issubclass(operation, FIFO):
        return f"module {{\n{_function('example', arguments, '', body)}}}\n"
    functions = list[str]()
    for core, (kind, buffers) in _ENDS.items():
        lines = [buffers, _pipe(operation, core)]
        if operation.cores[-1] is core and not operation.absorbed:
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


_LOOP = ("%from: index", "%to: index", "%step: index", "%gm: !pto.ptr<f32>")
"""Entries go around: a slot is waited for, and signalled when it is free."""
_RESERVED = 'pto.reserve_buffer {{name = "{}", size = 32768, location = #pto.address_space<{}>, auto = true}} -> i32'
_IMPORTED = 'pto.import_reserved_buffer {{name = "{}", peer_func = @{}}} -> i32'
_ENDS = {
    CoreKind.AIC: ("cube", f"%in = {_IMPORTED.format('in', 'vector')}\n%out = {_RESERVED.format('out', 'mat')}"),
    CoreKind.AIV: ("vector", f"%in = {_RESERVED.format('in', 'vec')}\n%out = {_IMPORTED.format('out', 'cube')}"),
}
"""The memories at both ends of a FIFO, by the core of each."""


def _pipe(operation: type[PTOOperation], core: CoreKind) -> str:
    """The FIFO of an operation: by its handle or by id, and through global memory where slots are taken there."""
    size, slots = "{dir_mask = 3, slot_size = 4096}", issubclass(operation, Alloc | TAlloc)
    if issubclass(operation, Handled):
        kind, gm = ("l2g2l", "%gm : !pto.ptr<f32>, ") if slots else ("l2l", "")
        return f"%p = pto.initialize_{kind}_pipe {size} ({gm}%in : i32, %out : i32) -> !pto.pipe"
    made, gm = (_SLOTS, "gm_slot_tensor = %slots : !pto.tensor_view<8192xf32>, ") if slots else ("", "")
    consumers = "c2v_consumer_buf = %in : i32, v2c_consumer_buf = %out : i32"
    return f"{made}pto.{core}_initialize_pipe {size} ({gm}{consumers})"


_SLOTS = """%many = arith.constant 8192 : index
%each = arith.constant 1 : index
%slots = pto.make_tensor_view %gm, shape = [%many], strides = [%each] : !pto.tensor_view<8192xf32>
"""

_PAIRED: dict[type[PTOOperation], tuple[str, str]] = {
    TPopFromAic: ("", "pto.tfree_from_aic {split = 0}"),
    TPopFromAiv: ("", "pto.tfree_from_aiv {split = 0}"),
    TFreeFromAic: ("%entry = pto.tpop_from_aic {split = 0} -> !pto.tile_buf<vec, 16x64xf32>", ""),
    TFreeFromAiv: (
        "%entry = pto.tpop_from_aiv {split = 0} -> !pto.tile_buf<mat, 16x64xf16, blayout=col_major, slayout=row_major>",
        "",
    ),
    TAllocToAiv: ("", "pto.tpush_to_aiv(%v : !pto.tensor_view<16x64xf32>) {split = 0}"),
    TAllocToAic: ("", "pto.tpush_to_aic(%v : !pto.tensor_view<16x64xf16>) {split = 0}"),
    TPop: ("", "pto.tfree(%p : !pto.pipe) {split = 0}"),
    TAlloc: ("", "pto.tpush(%v, %p : !pto.tensor_view<16x64xf32>, !pto.pipe) {split = 0}"),
    TFree: (
        "%t = pto.declare_tile -> !pto.tile_buf<vec, 16x64xf32>\n"
        "pto.tpop(%t, %p : !pto.tile_buf<vec, 16x64xf32>, !pto.pipe) {split = 0}",
        "",
    ),
}
"""The operations before and behind an entry that is taken, given back or filled."""

_SESSION = """{0}_control = pto.alloc_tile : !pto.tile_buf<vec, 1x32xi8>
{0} = pto.comm.build_async_session({0}_control, {0}_at : !pto.tile_buf<vec, 1x32xi8>, !pto.ptr<i8>)
  -> !pto.async_session"""
_CONTEXT = "{0} = pto.make_prefetch_async_context({0}_at : !pto.ptr<i8>) -> !pto.prefetch_async_context"
_MADE = {
    "!pto.async_session": _SESSION,
    "!pto.prefetch_async_context": _CONTEXT,
    "!pto.eventid_array<2>": "{0} = pto.declare_eventid_array -> !pto.eventid_array<2>",
    "!pto.tensor_view<16x64xf32>": "{0} = pto.declare_global -> !pto.tensor_view<16x64xf32>",
    "!pto.pipe": "",
}
"""Objects made for a kernel, from a pointer perhaps, by type; a FIFO is there anyway."""


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
    """The values of the clauses of an example with the types that are listed for them; indices need none."""
    for clause in _clauses(example) if "(" in example else [example.partition("=")[2] or example]:
        values, _, types = re.sub(r"\{[^{}]*\}", "", clause).partition(" : ")
        listed = [type_ for type_ in _parts(types.partition(" -> ")[0]) if not type_.startswith('"')]
        yield from zip(re.findall(r"%\w+", values), chain(listed, repeat("index")), strict=False)


def _clauses(example: str) -> Iterator[str]:
    """The text in parentheses, with the parentheses in it."""
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
