"""Scalar operations: how they are written, what they take, what a constant is."""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from language.source import accepts, errors, prints, read, rejects
from ptosim.effects.element import element
from ptosim.language.structure.scalar import Constant
from ptosim.language.text.literals import float_bits, float_of, float_text
from tables import table


def constant(literal: str) -> Constant:
    """The constant that a literal with its type is."""
    module = read(f"%x = arith.constant {literal}")
    return next(op for op in module.parsed.module.walk() if isinstance(op, Constant))


# --- constants --------------------------------------------------------------------------------------------------------


@table(
    "literal, pattern, value",
    ("0 : index", 0, 0),
    ("-1 : index", 2**64 - 1, -1),
    ("-1 : i32", 0xFFFFFFFF, -1),
    ("255 : i8", 0xFF, -1),
    ("-128 : i8", 0x80, -128),
    ("0x10 : i32", 16, 16),
    ("true", 1, 1),
    ("false", 0, 0),
    ("1 : i1", 1, 1),
    ("0 : i1", 0, 0),
    ("true : i1", 1, 1),
    ("1.0 : f32", 0x3F800000, 1.0),
    ("1.000000e+00 : f32", 0x3F800000, 1.0),
    ("-2.5e+00 : f64", 0xC004000000000000, -2.5),
    ("0xFF800000 : f32", 0xFF800000, float("-inf")),
    ("0x7C00 : f16", 0x7C00, float("inf")),
    ("0x3F80 : bf16", 0x3F80, 1.0),
    ("-0.0 : f32", 0x80000000, 0.0),
    ("0x7F800001 : f32", 0x7F800001, None),
)
def test_constants(literal: str, pattern: int, value: int | float | None):
    found = constant(literal)
    assert found.pattern == pattern
    assert value is None or found.value == value


@table(
    "literal, printed",
    ("0x10 : i32", "16 : i32"),
    ("255 : i8", "-1 : i8"),
    ("1 : i1", "true"),
    ("0xFF800000 : f32", "0xFF800000 : f32"),
    ("0x3F800000 : f32", "1.0e+00 : f32"),
    ("0x7F800001 : f32", "0x7F800001 : f32"),
    ("0.1 : f16", "1.0e-01 : f16"),
)
def test_constants_are_printed_canonically(literal: str, printed: str):
    prints(f"%x = arith.constant {literal}", f"%x = arith.constant {printed}")


@given(st.integers(0, 2**32 - 1))
def test_a_float_literal_keeps_its_bits(bits: int):
    single = element("f32")
    written = float_text(bits, single)
    assert constant(f"{written} : f32").pattern == bits
    expected = struct.unpack("<f", struct.pack("<I", bits))[0]
    assert float_of(bits, single) == expected or expected != expected


@given(st.floats(allow_nan=False))
def test_rounding_to_half_and_single_is_that_of_the_host(value: float):
    for name, code in (("f16", "e"), ("f32", "f")):
        try:
            expected = struct.pack(f"<{code}", value)
        except OverflowError:  # the host raises where the value rounds to infinity
            expected = struct.pack(f"<{code}", float("inf") if value > 0 else float("-inf"))
        assert float_bits(value, element(name)) == int.from_bytes(expected, "little")


def test_rounding_to_bfloat_is_to_nearest_even():
    # bf16 has 8 bits of precision: 1 + 2^-8 lies half way between 1 and 1 + 2^-7.
    bfloat = element("bf16")
    assert float_bits(1 + 2**-8, bfloat) == 0x3F80
    assert float_bits(1 + 3 * 2**-8, bfloat) == 0x3F82
    assert float_bits(1 + 2**-8 + 2**-40, bfloat) == 0x3F81
    assert float_bits(3.4e38, bfloat) == 0x7F80
    assert float_bits(2**-133, bfloat) == 0x0001


# --- arithmetic -------------------------------------------------------------------------------------------------------

INTEGER = (
    "addi subi muli divsi divui remsi remui floordivsi ceildivsi ceildivui andi ori xori shli shrsi shrui "
    "maxsi minsi maxui minui"
).split()
FLOAT = "addf subf mulf divf remf maximumf minimumf maxnumf minnumf".split()


@pytest.mark.parametrize("name", INTEGER)
def test_integer_operations(name: str):
    prints(f"%r = arith.{name} %n, %n overflow<nsw, nuw> : i32", f"%r = arith.{name} %n, %n : i32")
    accepts(f"%r = arith.{name} %i, %i : index\n%q = arith.{name} %c, %c : i1")
    found = [error.message for error in errors(f"%r = arith.{name} %f, %f : f32")]
    assert found == [f"arith.{name} takes integers and index, not f32"] * 2


@pytest.mark.parametrize("name", FLOAT)
def test_float_operations(name: str):
    prints(f"%r = arith.{name} %f, %f fastmath<fast> : f32", f"%r = arith.{name} %f, %f : f32")
    accepts(f"%r = arith.{name} %h, %h : f16\n%q = arith.{name} %d, %d : f64")
    found = [error.message for error in errors(f"%r = arith.{name} %n, %n : i32")]
    assert found == [f"arith.{name} takes floats, not i32"] * 2


@pytest.mark.parametrize("name", ["arith.negf", *(f"math.{name}" for name in "exp log sqrt absf floor ceil".split())])
def test_float_functions(name: str):
    accepts(f"%r = {name} %f : f32")
    rejects(f"%r = {name} ~%n : i32", f"{name} takes floats, not i32")


def test_absolute_value_of_integers():
    accepts("%r = math.absi %n : i32")


def test_signed_integers_are_only_selected_and_cast():
    rejects("%r = arith.negf ~%u : ui32", "arith.negf takes floats, not ui32")
    accepts("%r = arith.select %c, %u, %u : ui32")
    accepts("%r = builtin.unrealized_conversion_cast %u : ui32 to i32\n%q = arith.addi %r, %r : i32")


@table(
    "body",
    "%r, %o = arith.addui_extended %n, %n : i32, i1",
    "%r, %o = arith.mulsi_extended %n, %n : i32",
    "%r:2 = arith.mului_extended %n, %n : i32\n%q = arith.addi %r#0, %r#1 : i32",
)
def test_extended_operations(body: str):
    accepts(body)


# --- comparison, selection, conversion --------------------------------------------------------------------------------


@pytest.mark.parametrize("predicate", "eq ne slt sle sgt sge ult ule ugt uge".split())
def test_integer_comparison(predicate: str):
    accepts(f"%r = arith.cmpi {predicate}, %i, %i : index\n%q = arith.ori %r, %c : i1")


@pytest.mark.parametrize("predicate", "false oeq ogt oge olt ole one ord ueq ugt uge ult ule une uno true".split())
def test_float_comparison(predicate: str):
    accepts(f"%r = arith.cmpf {predicate}, %f, %f : f32\n%q = arith.ori %r, %c : i1")


@pytest.mark.parametrize("value", ["%n : i32", "%f : f32", "%ub : !pto.ptr<f32, ub>", "%u : ui32", "%i : index"])
def test_selection_of_any_value(value: str):
    name, _, type_ = value.partition(" : ")
    prints(f"%r = arith.select %c, {name}, {name} : i1, {type_}", f"%r = arith.select %c, {name}, {name} : {type_}")


def test_selection_of_registers_and_masks():
    register = "%r = arith.select %c, %v, %v : !pto.vreg<64xf32>"
    mask = "%q = arith.select %c, %k, %k : !pto.mask<b32>"
    accepts(f"pto.vecscope {{\n{register}\n{mask}\n}}")


@table(
    "cast",
    "index_cast %m : i64 to index",
    "index_cast %i : index to i32",
    "index_castui %i : index to i8",
    "index_castui %m : i64 to index",
    "extsi %b : i8 to i32",
    "extui %c : i1 to i32",
    "trunci %m : i64 to i8",
    "sitofp %n : i32 to f32",
    "uitofp %m : i64 to f16",
    "fptosi %f : f32 to i64",
    "fptoui %h : f16 to i8",
    "extf %h : f16 to f32",
    "truncf %d : f64 to bf16",
    "truncf %f to_nearest_even : f32 to f16",
    "bitcast %f : f32 to i32",
    "bitcast %n : i32 to f32",
)
def test_conversions(cast: str):
    accepts(f"%r = arith.{cast}")


# --- outside the surface ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["math.sin", "math.powf", "arith.scaling_extf"])
def test_what_is_not_part_of_the_surface(name: str):
    kernel = f"%r = ~{name} %f : f32"
    text, _, _ = kernel.partition("~")
    (found,) = errors(kernel.replace("~", ""))
    assert found.kind == "unsupported"
    assert found.message.startswith(f"'{name}' is not part of the language")
    assert found.location is not None and found.location.column == len(text) + 1


@table(
    "generic, printed",
    ('"arith.constant"() {value = 4 : i32} : () -> i32', "arith.constant 4 : i32"),
    ('"arith.constant"() {value = 0 : i32} : () -> i32', "arith.constant 0 : i32"),
    ('"arith.constant"() {value = 0.0 : f32} : () -> f32', "arith.constant 0.0e+00 : f32"),
    ('"arith.constant"() {value = false} : () -> i1', "arith.constant false"),
    ('"arith.constant"() <{value = 0 : index}> : () -> index', "arith.constant 0 : index"),
    ('"arith.constant"() <{value = 1.5 : f32}> : () -> f32', "arith.constant 1.5e+00 : f32"),
    ('"arith.cmpi"(%n, %n) {predicate = 0 : i64} : (i32, i32) -> i1', "arith.cmpi eq, %n, %n : i32"),
    ('"arith.cmpf"(%f, %f) <{predicate = 0 : i64}> : (f32, f32) -> i1', "arith.cmpf false, %f, %f : f32"),
    ('"arith.addi"(%n, %n) <{overflowFlags = #arith.overflow<none>}> : (i32, i32) -> i32', "arith.addi %n, %n"),
    ('"arith.cmpi"(%n, %n) <{predicate = 2 : i64}> : (i32, i32) -> i1', "arith.cmpi slt, %n, %n : i32"),
    ('"arith.select"(%c, %n, %n) : (i1, i32, i32) -> i32', "arith.select %c, %n, %n : i32"),
    ('"arith.index_cast"(%m) : (i64) -> index', "arith.index_cast %m : i64 to index"),
)
def test_the_generic_form(generic: str, printed: str):
    assert f"%x = {printed}" in accepts(f"%x = {generic}")
