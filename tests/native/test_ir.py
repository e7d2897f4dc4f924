"""Values of the IR compute what Python's integers and NumPy's floats compute."""

import operator
import struct
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from native.compiled import Bench, evaluate
from ptosim.native.ir.flow import FunctionBuilder
from ptosim.native.ir.values import F16, F32, F64, I1, I8, I16, I32, I64, PTR, Type, Value, scalar_text
from tables import table

LOW, HIGH = -(1 << 63), (1 << 63) - 1
WORDS = [0, 1, -1, 2, 7, -7, 63, 1 << 31, -(1 << 31), 1 << 32, HIGH, LOW, LOW + 1, 0x0123456789ABCDEF]


def wrapped(number: int, bits: int = 64) -> int:
    number %= 1 << bits
    return number - (1 << bits) if number >> (bits - 1) else number


@pytest.mark.parametrize("name", ["add", "sub", "mul", "and_", "or_", "xor", "lt", "le", "gt", "ge", "eq", "ne"])
def test_integer_operators_are_those_of_python_modulo_2_to_the_64(name: str):
    apply: Callable[[Any, Any], Any] = getattr(operator, name)
    compiled = Bench(lambda _f, _m, a, b: [apply(a, b).zext(I64)], 2)
    for a in WORDS:
        for b in WORDS:
            assert compiled.run(a, b).number() == wrapped(int(apply(a, b))), (a, b)


@pytest.mark.parametrize("constant", [0, 1, -1, 5, 1 << 40])
@pytest.mark.parametrize("name", ["add", "sub", "mul", "and_", "or_", "xor", "lt", "eq"])
def test_a_python_integer_may_stand_on_either_side(name: str, constant: int):
    apply: Callable[[Any, Any], Any] = getattr(operator, name)
    compiled = Bench(lambda _f, _m, a: [apply(a, constant).zext(I64), apply(constant, a).zext(I64)], 1)
    for a in WORDS:
        outcome = compiled.run(a)
        assert outcome.number(0) == wrapped(int(apply(a, constant)))
        assert outcome.number(1) == wrapped(int(apply(constant, a)))


@pytest.mark.parametrize("shift", [0, 1, 31, 63])
def test_shifts(shift: int):
    compiled = Bench(lambda _f, _m, a: [a << shift, a >> shift, a.lshr(shift)], 1)
    for a in WORDS:
        outcome = compiled.run(a)
        expected = [wrapped(a << shift), a >> shift, wrapped((a % (1 << 64)) >> shift)]
        assert [outcome.number(result) for result in range(3)] == expected


def test_divisions_round_toward_zero_and_have_unsigned_forms():
    compiled = Bench(lambda _f, _m, a, b: [a.sdiv(b), a.srem(b), a.udiv(b), a.urem(b)], 2)
    for a, b in [(7, 2), (-7, 2), (7, -2), (-7, -2), (LOW, 3), (-1, HIGH)]:
        quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
        unsigned = divmod(a % (1 << 64), b % (1 << 64))
        expected = [quotient, a - quotient * b, wrapped(unsigned[0]), wrapped(unsigned[1])]
        outcome = compiled.run(a, b)
        assert [outcome.number(result) for result in range(4)] == expected


def test_a_condition_times_a_value_is_the_value_or_0():
    assert evaluate(lambda a, b: (a < b) * b, 3, 5) == 5
    assert evaluate(lambda a, b: (a < b) * b, 5, 3) == 0
    assert evaluate(lambda a, b: 9 * (a < b), 3, 5) == 9


def test_narrow_integers_wrap_and_convert():
    def build(_f: FunctionBuilder, _m: Value, a: Value) -> list[Value]:
        byte = a.trunc(I8)
        return [(byte + 1).sext(I64), (byte + 1).zext(I64), (byte * 2 < byte).zext(I64), byte.signed(I32).signed(I64)]

    outcome = Bench(build, 1).run(127)
    assert [outcome.number(result) for result in range(4)] == [-128, 128, 1, 127]


def test_constants_fold():
    def build(function: FunctionBuilder, _memory: Value, a: Value) -> list[Value]:
        before = function.definition()
        six = function.constant(I64, 6)
        assert (six * 7).literal == 42
        assert (six + HIGH).literal == LOW + 5
        assert (six - 7 < 0).literal == 1
        assert (six == 6).select(a, a * 1) is a
        assert (a + 0) is a and (0 + a) is a and (a * 1) is a and (a & -1) is a and (a << 0) is a and (a | 0) is a
        assert (a * 0).literal == 0 and (a & 0).literal == 0
        assert ((a < a.like(3)) & True).literal is None
        assert function.constant(I8, 200).sext(I64).literal == -56
        assert function.constant(I8, 200).zext(I64).literal == 200
        assert function.definition().count("icmp") == before.count("icmp") + 1
        return [a]

    Bench(build, 1)


def test_float_arithmetic_is_ieee():
    rng = np.random.default_rng(1)
    a = np.concatenate([rng.standard_normal(28), [0.0, -0.0, np.inf, 1e-45]]).astype("f4")
    b = np.concatenate([rng.standard_normal(28), [-0.0, -0.0, 3.0, 1e-45]]).astype("f4")
    kind = F32.vector(32)

    def build(_f: FunctionBuilder, memory: Value) -> list[Value]:
        x, y = memory.load(kind), memory.at(128).load(kind)
        return [x + y, x - y, x * y, x / (y + 5.0), -x, (x < y).zext(I8), (x != y).zext(I8)]

    results = Bench(build).run(memory=a.tobytes() + b.tobytes()).results
    for result, expected in zip(results, [a + b, a - b, a * b, a / (b + np.float32(5)), -a], strict=False):
        assert result[:128] == expected.tobytes()
    assert result_bits(results[5]) == (a < b).tolist()
    assert result_bits(results[6]) == (a != b).tolist()


def result_bits(result: bytes) -> list[bool]:
    return [byte != 0 for byte in result[:32]]


def test_one_rounding_per_operation():
    """x·x − 1 with x = 1 + 2^-12: fusing would keep the 2^-24 that the product's rounding loses."""
    x = np.float32(1 + 2.0**-12)

    def build(_f: FunctionBuilder, memory: Value) -> list[Value]:
        value = memory.load(F32)
        return [value * value - 1.0]

    assert Bench(build).run(memory=x.tobytes()).results[0][:4] == (x * x - np.float32(1)).tobytes()
    assert float(x * x - np.float32(1)) == 2.0**-11


@pytest.mark.parametrize("number", [0.0, -0.0, 1.5, 0.1, float("inf"), float("-inf"), float("nan"), 3e38, 1e-40])
def test_float_constants_keep_their_bits(number: float):
    def build(function: FunctionBuilder, _memory: Value) -> list[Value]:
        return [function.constant(F32, number), function.constant(F64, number)]

    results = Bench(build).run().results
    assert results[0][:4] == struct.pack("<f", number)
    assert results[1][:8] == struct.pack("<d", number)


def test_half_constants():
    results = (
        Bench(lambda f, _m: [f.constant(F16, 0.333), f.constant(F16.vector(4), [1, -2, 0.5, 65504])]).run().results
    )
    assert results[0][:2] == np.float16(0.333).tobytes()
    assert results[1][:8] == np.array([1, -2, 0.5, 65504], "f2").tobytes()


def test_vector_constants():
    def build(function: FunctionBuilder, _memory: Value) -> list[Value]:
        return [function.constant(I16.vector(4), [1, -2, 3, 40000]), function.constant(I8.vector(8), 7)]

    results = Bench(build).run().results
    assert results[0][:8] == bytes([1, 0, 0xFE, 0xFF, 3, 0, 0x40, 0x9C])
    assert results[1][:8] == bytes([7] * 8)


def test_addresses_and_atomic_loads():
    def build(_f: FunctionBuilder, memory: Value, offset: Value) -> list[Value]:
        memory.at(offset).at(8).store((memory.at(offset).load_shared(I64) + 1).trunc(I32))
        return [memory.at(0).load(I8)]

    outcome = Bench(build, 1).run(8, memory=bytes(8) + (41).to_bytes(8, "little") + b"\xff" * 8)
    assert outcome.memory[16:] == (42).to_bytes(4, "little") + b"\xff" * 4


def test_stretches_of_bytes():
    def build(_f: FunctionBuilder, memory: Value, count: Value) -> list[Value]:
        memory.at(32).copy_from(memory, 4)
        memory.at(8).move_from(memory.at(6), count)
        memory.at(24).fill(0xEE, count)
        return []

    before = bytes(range(64))
    after = bytearray(before)
    after[32:36] = before[:4]
    after[8:13] = before[6:11]
    after[24:29] = bytes([0xEE] * 5)
    assert Bench(build, 1).run(5, memory=before).memory == after


def test_mixing_types_is_an_error():
    def build(function: FunctionBuilder, _memory: Value, a: Value) -> list[Value]:
        for wrong in (
            lambda: a + a.trunc(I32),
            lambda: a & (a < 3),
            lambda: a / a,
            lambda: (a < 3) + a,
            lambda: function.constant(F32, 1.0) + a,
        ):
            with pytest.raises(TypeError):
                wrong()
        with pytest.raises(TypeError, match="known only when the kernel runs"):
            bool(a < 3)
        return [a]

    Bench(build, 1)


@table(
    "kind, text, mangled",
    (I64, "i64", "i64"),
    (F32.vector(64), "<64 x float>", "v64f32"),
    (PTR.vector(8), "<8 x ptr>", "v8p0"),
    (I1, "i1", "i1"),
)
def test_types_as_text(kind: Type, text: str, mangled: str):
    assert str(kind) == text
    assert kind.mangled == mangled


def test_scalar_text_wraps_integers():
    assert [scalar_text(I8, number) for number in (255, -129, 128)] == ["-1", "127", "-128"]
    assert [scalar_text(I1, number) for number in (0, 1, -1, 2)] == ["false", "true", "true", "false"]
