"""Compilation for this host and for others, linking, and what is said when LLVM refuses."""

import ctypes
import platform

import numpy as np
import pytest

from native.compiled import Bench
from ptosim.native.host.toolchain import Host, InvalidIR, LoadedObject, compile_object, this_host
from ptosim.native.ir.flow import FunctionBuilder
from ptosim.native.ir.module import ObjectModule
from ptosim.native.ir.values import F32, I8, I16, I32, I64, I256, PTR, Type, Value
from ptosim.native.vector.registers import masked_store, permute, prefix_mask, register_type, tree, view, zeroed

LINUX = "x86_64-unknown-linux-gnu"
HOSTS = [
    Host(LINUX, "x86-64-v2"),
    Host(LINUX, "x86-64-v3"),
    Host(LINUX, "x86-64-v4"),
    Host("aarch64-unknown-linux-gnu", "generic"),
    Host("aarch64-apple-darwin", "apple-m1"),
]


def sample() -> str:
    """A bit of everything that the builder offers."""
    module = ObjectModule()
    function = module.function("run", [PTR, I64])
    memory, count = function.parameters
    site = module.site("loop")

    def body(index, _carried):
        place = memory.at(function.access(index * 256, 256, 1 << 18, 32, site))
        mask = prefix_mask(function, 4, (count - index * 64).trunc(I32))
        vector = zeroed(place.load(register_type(F32)), mask)
        total = tree(function, vector, lambda a, b: a + b, groups=8)
        place.at(256).store(total)
        words = view(function, vector, I16)
        masked_store(function, place, permute(function, words, words & 127), mask.lanes(2))
        return []

    function.for_loop(count.like(0), count, 1, [], body, site)
    function.finish()
    return module.text()


@pytest.mark.parametrize("host", HOSTS, ids=lambda host: f"{host.triple.split('-')[0]} {host.cpu}")
def test_objects_are_made_for_other_processors(host: Host):
    image = compile_object(sample(), host)
    magic = b"\xcf\xfa\xed\xfe" if "apple" in host.triple else b"\x7fELF"
    assert image.startswith(magic)


LEVELS = ["x86-64", "x86-64-v2", "x86-64-v3"] if platform.machine() in ("x86_64", "AMD64") else ["generic"]


@pytest.mark.parametrize("cpu", LEVELS)
@pytest.mark.parametrize("element, name", [(I8, "u1"), (I16, "<u2"), (I32, "<u4"), (F32, "<f4")])
def test_older_processors_compute_the_same(cpu: str, element: Type, name: str):
    """Masks, trees and permutes with instructions that every host of the kind has."""
    rng = np.random.default_rng(8)
    values = rng.integers(0, 100, 256 // np.dtype(name).itemsize).astype(name)
    numbers = rng.integers(0, values.size, values.size)

    def build(function: FunctionBuilder, memory: Value, count: Value) -> list[Value]:
        kind = register_type(element)
        mask = prefix_mask(function, element.bits // 8, count.trunc(I32))
        vector = zeroed(memory.load(kind), mask)
        moved = permute(function, vector, memory.at(256).load(I16.vector(kind.lanes)))
        masked_store(function, memory.at(1024), moved, mask.for_lanes_of(kind))
        return [tree(function, vector, lambda a, b: a + b), mask.lanes(1).bitcast(I256)]

    host = Host(this_host().triple, cpu)
    memory = values.tobytes() + numbers.astype("<u2").tobytes().ljust(768) + bytes([9]) * 256
    outcome = Bench(build, 1, host=host).run(values.size - 3, memory=memory)
    kept = np.where(np.arange(values.size) < values.size - 3, values, 0).astype(name)
    total = kept
    while total.size > 1:
        total = total[: total.size // 2] + total[total.size // 2 :]
    assert outcome.results[0].startswith(total.tobytes())
    stored = np.frombuffer(outcome.memory[1024:], name)
    assert stored[:-3].tobytes() == kept[numbers][:-3].tobytes()
    assert stored[-3:].tobytes() == bytes([9]) * 3 * stored.itemsize
    bits = np.unpackbits(np.frombuffer(outcome.results[1][:32], "u1"), bitorder="little")
    assert bits[:: stored.itemsize].sum() == bits.sum() == values.size - 3


def test_an_object_is_the_same_each_time():
    assert compile_object(sample()) == compile_object(sample())


def test_objects_link_and_run_more_than_once():
    image = compile_object("define i32 @run(ptr %context) {\n  ret i32 42\n}\ndefine i32 @other() {\n  ret i32 7\n}\n")
    programs = [LoadedObject(image, ["run", "other"]) for _ in range(3)]
    for program in programs:
        assert ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)(program.address("run"))(0) == 42
        assert ctypes.CFUNCTYPE(ctypes.c_int)(program.address("other"))() == 7


def test_a_missing_symbol_is_an_error_and_not_a_crash(capfd: pytest.CaptureFixture[str]):
    image = compile_object(
        "declare i32 @no_such_thing()\ndefine i32 @run() {\n %a = call i32 @no_such_thing()\n ret i32 %a\n}"
    )
    with pytest.raises(RuntimeError, match="run"):
        LoadedObject(image, ["run"])
    assert "no_such_thing" in capfd.readouterr().err  # LLVM prints the name and does not pass it on


def test_a_rejected_line_is_quoted_with_its_function():
    text = (
        "define i32 @first() {\n  ret i32 0\n}\n\ndefine i32 @second(i64 %a) {\n  %b = add i32 %a, 1\n  ret i32 %b\n}\n"
    )
    with pytest.raises(InvalidIR) as raised:
        compile_object(text)
    message = str(raised.value)
    assert "6 |   %b = add i32 %a, 1" in message
    assert "@second" in message and "@first" not in message
    assert "'%a' defined with type 'i64' but expected 'i32'" in message


def test_what_only_the_verifier_rejects_is_told_too():
    text = "define i32 @f() {\n  br label %use\nuse:\n  ret i32 %a\nlate:\n  %a = add i32 1, 2\n  br label %use\n}\n"
    with pytest.raises(InvalidIR, match="does not dominate all uses"):
        compile_object(text)


def test_the_identity_names_compiler_and_processor():
    identity = this_host().identity
    assert identity.startswith("llvm ")
    assert this_host().cpu in identity
    assert Host(LINUX, "x86-64-v2").identity != Host(LINUX, "x86-64-v3").identity
