"""The examples of views, allocations, buffers, arrays and structs load as they stand; what they use is declared."""

import re

import pytest

from language import source
from language.vector_kernel import example
from ptosim.language.catalogue import operations, room_of
from ptosim.language.operation import PTOOperation

ROOMS = ("tensor_view", "tile_view", "tile_reserve", "tile_local")
OPERATIONS = [operation for operation in operations() if room_of(operation) in ROOMS]

TILE = "!pto.tile_buf<vec, 16x64xf32>"
SEVERAL = "!pto.multi_tile_buf<!pto.tile_buf<vec, 16x64xf32>, count=2>"
DECLARED = {
    "%t": f"pto.declare_tile -> {TILE}",
    "%s": "pto.declare_struct -> !pto.struct<i32, !pto.struct<f32, index>>",
    "%a": "pto.declare_local_array -> !pto.local_array<2xi32>",
    "%m": f"pto.alloc_multi_tile : {SEVERAL}",
    "%v": "pto.declare_global -> !pto.tensor_view<?x?xf32>",
}
ARGUMENTS = {"%p": "!pto.ptr<f32, gm>", "%x": "i32", "%address": "i64"}


def module(operation: type[PTOOperation]) -> str:
    text = example(operation)
    names = dict.fromkeys(re.findall(r"%\w+", text))
    results = re.findall(r"%\w+", text.partition("=")[0]) if text.lstrip().startswith("%") else []
    used = [name for name in names if name not in results]
    sizes = {"pto.make_tensor_view", "pto.partition_view"}
    declared = [name for name in used if name in DECLARED and not (name == "%m" and operation.name in sizes)]
    arguments = ", ".join(f"{name}: {ARGUMENTS.get(name, 'index')}" for name in used if name not in declared)
    before = "".join(f"{name} = {DECLARED[name]}\n" for name in declared)
    if "valid=?x?" in text:
        before = before.replace(TILE, TILE.replace(">", ", valid=?x?>"))
    buffer = 'pto.reserve_buffer {name = "s", size = 256, location = <vec>} -> i32'
    peer = f"func.func private @consumer() {{ %b = {buffer}\nreturn }}"
    return f"module {{\n{peer}\nfunc.func @kernel({arguments}) {{\n{before}{text}\nreturn\n}}\n}}\n"


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.name)
def test_the_example_loads(operation: type[PTOOperation]):
    current = operation.replaced_by or operation.name
    assert current in source.accepts(module(operation))


def test_every_room_has_examples():
    assert {room_of(operation) for operation in OPERATIONS} == set(ROOMS)
