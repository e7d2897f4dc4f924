"""Every operation of workitems on every type that it takes: compiled code gives the bits of the reference engine."""

from __future__ import annotations

import numpy as np
import pytest

from ptosim.language.simt.simt_atomic import ATOMIC_TYPES
from ptosim.language.simt.simt_math import CONVERSIONS, OPERATIONS, MathBinary
from workitem_programs import both, section

BYTES = {"i32": 4, "i64": 8, "f16": 2, "bf16": 2, "f32": 4, "hif8x2": 2, "f4E1M2x2": 1, "f4E2M1x2": 1}
PARTS = {"f16": 2, "bf16": 2, "f32": 4, "f8E4M3FN": 1, "f8E5M2": 1}


def width_of(type_: str) -> int:
    return BYTES.get(type_) or 2 * PARTS[type_.removeprefix("vector<2x").removesuffix(">")]


def written(type_: str) -> str:
    return f"!pto.{type_}" if type_ in ("hif8x2", "f4E1M2x2", "f4E2M1x2") else type_


def bits(type_: str, seed: int, count: int = 64) -> np.ndarray:
    """Random bytes, and such as make zeros, infinities, NaN and small numbers likely."""
    random = np.random.default_rng(seed)
    data = random.integers(0, 256, count * width_of(type_)).astype("u1")
    special = random.choice(np.array([0, 0x80, 0x7F, 0xFF, 0x3F, 0x40, 0x7C, 0xFC], "u1"), len(data))
    return np.where(random.random(len(data)) < 0.4, special, data)


def run(text: str, types: list[str], result: str, seed: int, count: int = 64) -> None:
    names = "abc"[: len(types)]
    loads = "".join(
        f"%{name} = pto.load %p{name}[%i] : !pto.ptr<{written(type_)}, gm> -> {written(type_)}\n"
        for name, type_ in zip(names, types, strict=True)
    )
    parameters = [f"%p{name}: !pto.ptr<{written(type_)}, gm>" for name, type_ in zip(names, types, strict=True)]
    type_ = written(result)
    source = section(
        f"{loads}{text}\npto.store %r, %out[%i] : !pto.ptr<{type_}, gm>, {type_}",
        [*parameters, f"%out: !pto.ptr<{type_}, gm>"],
        f"{count}, 1, 1",
    )
    inputs = [bits(each, seed + place, count) for place, each in enumerate(types)]
    both(inputs, np.zeros(count * width_of(result), "u1"), source)


@pytest.mark.parametrize(("source", "target"), CONVERSIONS)
def test_conversions(source: str, target: str) -> None:
    row = CONVERSIONS[source, target]
    for mode in row.roundings:
        for sat in ("sat",) if row.saturates else ("sat", "nosat"):
            for sign in (" signed", " unsigned") if row.signed else ("",):
                words = f"round({mode}) {sat}{sign}"
                run(f"%r = pto.convert %a {words} : {written(source)} -> {written(target)}", [source], target, 5)


@pytest.mark.parametrize("operation", [op for op in OPERATIONS if op.takes], ids=lambda op: op.name)
def test_mathematics(operation: type) -> None:
    for type_ in operation.takes:
        if issubclass(operation, MathBinary):
            run(f"%r = {operation.name} %a, %b : {type_}, {type_} -> {type_}", [type_, type_], type_, 11)
        else:
            run(f"%r = {operation.name} %a : {type_} -> {type_}", [type_], type_, 12)


@pytest.mark.parametrize("type_", ["f16", "bf16", "f32", "vector<2xf16>", "vector<2xbf16>"])
def test_fma(type_: str) -> None:
    run(f"%r = pto.fma %a, %b, %c : {type_}, {type_}, {type_} -> {type_}", [type_] * 3, type_, 21)


@pytest.mark.parametrize("type_", ATOMIC_TYPES)
@pytest.mark.parametrize("space", ["gm", "ub"])
def test_atomics(type_: str, space: str) -> None:
    if (type_, space) == ("i64", "ub"):
        return
    words = ["add", "sub", "min", "max", "exch", *(["and", "or", "xor"] if type_ in ("i32", "i64") else [])]
    for word in words:
        for sign in ("signed", "unsigned") if type_ in ("i32", "i64") else ("",):
            where = f"!pto.ptr<{type_}, {space}>"
            pointer = "%cell" if space == "gm" else "%own"
            text = f"""
              %v = pto.load %values[%i] : !pto.ptr<{type_}, gm> -> {type_}
              %old = pto.atomic_{word} {pointer}, %v {sign} : {where}, {type_} -> {type_}
              pto.syncthreads
              %zero_index = arith.constant 0 : index
              %left = pto.load {pointer}[%zero_index] : {where} -> {type_}
              pto.store %left, %out[%i] : !pto.ptr<{type_}, gm>, {type_}
            """
            head = f"%own = pto.castptr %zero : i64 -> {where}" if space == "ub" else ""
            parameters = [f"%{name}: !pto.ptr<{type_}, gm>" for name in ("cell", "values", "out")]
            source = section(text, parameters, "40, 1, 1", head)
            values = bits(type_, 31, 40)
            both([bits(type_, 32, 1), values], np.zeros(40 * width_of(type_), "u1"), source)


@pytest.mark.parametrize("type_", ["i32", "f16", "f32"])
def test_reductions(type_: str) -> None:
    signs = ("signed", "unsigned") if type_ == "i32" else ("",)
    for word in ("add", "max", "min"):
        for sign in signs:
            for count in (64, 37, 1):
                run(f"%r = pto.redux_{word} %a {sign} : {type_} -> {type_}", [type_], type_, 41, count)
