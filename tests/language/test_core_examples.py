"""The example in the description of a scalar, pointer, scope or system operation loads as it stands."""

import re

import pytest

from language.source import accepts
from language.vector_kernel import example
from ptosim.language.catalogue import operations, room_of, structural_operations
from ptosim.language.operation import PTOOperation

ROOMS = ("pointer", "scope", "system", "scalar", "scalar_cast")
TYPES = {
    "pto.castptr": {"address": "i64"},
    "pto.addptr": {"p": "!pto.ptr<f32, ub>", "offset": "index"},
    "pto.ptrtoint": {"p": "!pto.ptr<f32, gm>"},
    "pto.inttoptr": {"address": "i64"},
    "pto.load_scalar": {"p": "!pto.ptr<f32, ub>", "i": "index"},
    "pto.store_scalar": {"p": "!pto.ptr<f32, ub>", "i": "index", "v": "f32"},
    "pto.ld_dev": {"p": "!pto.ptr<i32, gm>", "i": "index"},
    "pto.st_dev": {"p": "!pto.ptr<i32, gm>", "i": "index", "v": "i32"},
    "pto.strict_vecscope": {"ub": "!pto.ptr<f32, ub>", "n": "i32"},
    "pto.set_ctrl": {"c": "i64"},
    "pto.sbitset0": {"c": "i64", "bit": "i64"},
    "pto.sbitset1": {"c": "i64", "bit": "i64"},
    "pto.sprsti": {"p": "!pto.ptr<i32, ub>"},
    "pto.sprsts": {"p": "!pto.ptr<i32, ub>", "offset": "i32"},
    "pto.print": {"n": "i32"},
    "arith.cmpf": {"a": "f32", "c": "f32"},
    "arith.select": {"condition": "i1", "a": "i32", "b": "i32"},
    "arith.index_cast": {"a": "i64"},
    "arith.index_castui": {"a": "i64"},
    "arith.extsi": {"a": "i8"},
    "arith.extui": {"a": "i8"},
    "arith.trunci": {"a": "i64"},
    "arith.fptosi": {"a": "f32"},
    "arith.fptoui": {"a": "f32"},
    "arith.extf": {"a": "f16"},
    "arith.truncf": {"a": "f32"},
    "arith.bitcast": {"a": "f32"},
}
WITH_EXAMPLE = [
    op
    for op in (*operations(), *structural_operations())
    if room_of(op) in ROOMS and "\n        " in (op.__doc__ or "")
]


def kernel(op: type[PTOOperation]) -> str:
    text = example(op)
    results = re.findall(r"^ *(%.*) = ", text, re.MULTILINE)
    defined = re.findall(r"%(\w+)", " ".join((*results, *re.findall(r"\^bb0\(.*\)", text))))
    used = [name for name in re.findall(r"%(\w+)", text.replace('"n = %d"', "")) if name not in defined]
    arguments = dict.fromkeys(used, "i32") | TYPES.get(op.name, {})
    listed = ", ".join(f"%{name}: {type_}" for name, type_ in arguments.items())
    body = f"pto.vecscope {{\n{text}\n}}" if op.placement == "inside" else text
    return f"module {{\nfunc.func @kernel({listed}) {{\n{body}\nreturn\n}}\n}}\n"


@pytest.mark.parametrize("op", WITH_EXAMPLE, ids=lambda op: op.name)
def test_the_example_loads(op: type[PTOOperation]):
    accepts(kernel(op))


def test_every_pto_operation_here_has_an_example():
    named = {op.name for op in WITH_EXAMPLE}
    assert {op.name for op in operations() if room_of(op) in ROOMS} <= named
