"""Arrays and structures of the scalar unit, on both engines: zero when declared, one for each core, checked indices."""

from typing import Any

import numpy as np
import pytest

import ptosim
from both_engines import agree, fails
from ptosim.api import Kernel

HEAD = """module attributes {pto.target_arch = "a5"} {
  HELPERS
  func.func @k(%x: !pto.ptr<i64, gm>, %i: index, %v: TYPE) attributes {pto.kernel} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
"""
TAIL = "    return\n  }\n}\n"


def kernel(body: str, type_: str = "i64", helpers: str = "") -> Kernel:
    head = HEAD.replace("TYPE", type_).replace("HELPERS", helpers)
    return ptosim.load(head + body + TAIL).kernel("k")


def result(body: str, *arguments: Any, type_: str = "i64", helpers: str = "") -> list[int]:
    found = agree(kernel(body, type_, helpers), np.zeros(8, np.int64), *arguments)
    assert isinstance(found, list), found
    return np.frombuffer(found[0], np.int64).tolist()


A = "!pto.local_array<2x4xi64>"


def test_elements_are_apart_and_begin_as_zero() -> None:
    body = f"""    %a = pto.declare_local_array -> {A}
    pto.local_array_set %a[%c1, %i], %v : {A}, i64
    scf.for %n = %c0 to %c4 step %c1 {{
      %low = pto.local_array_get %a[%c0, %n] : {A} -> i64
      %high = pto.local_array_get %a[%c1, %n] : {A} -> i64
      %o = arith.addi %n, %c4 : index
      pto.store_scalar %low, %x[%n] : !pto.ptr<i64, gm>, i64
      pto.store_scalar %high, %x[%o] : !pto.ptr<i64, gm>, i64
    }}
"""
    for index in range(4):
        expected = [0] * 8
        expected[4 + index] = -7
        assert result(body, index, -7) == expected


def test_a_declaration_in_a_loop_begins_anew() -> None:
    body = f"""    scf.for %n = %c0 to %c4 step %c1 {{
      %a = pto.declare_local_array -> {A}
      %old = pto.local_array_get %a[%c1, %c1] : {A} -> i64
      %sum = arith.addi %old, %v : i64
      pto.local_array_set %a[%c1, %c1], %sum : {A}, i64
      %new = pto.local_array_get %a[%c1, %c1] : {A} -> i64
      pto.store_scalar %new, %x[%n] : !pto.ptr<i64, gm>, i64
    }}
"""
    assert result(body, 0, 5) == [5, 5, 5, 5, 0, 0, 0, 0]


def test_an_array_outside_of_a_loop_remembers() -> None:
    body = f"""    %a = pto.declare_local_array -> {A}
    scf.for %n = %c0 to %c4 step %c1 {{
      %old = pto.local_array_get %a[%c0, %c0] : {A} -> i64
      %sum = arith.addi %old, %v : i64
      pto.local_array_set %a[%c0, %c0], %sum : {A}, i64
      pto.store_scalar %sum, %x[%n] : !pto.ptr<i64, gm>, i64
    }}
"""
    assert result(body, 0, 5) == [5, 10, 15, 20, 0, 0, 0, 0]


def test_a_function_works_on_the_array_of_its_caller() -> None:
    helper = f"""func.func private @bump(%a: {A}, %i: index) {{
    %c1 = arith.constant 1 : index
    %one = arith.constant 1 : i64
    %old = pto.local_array_get %a[%c1, %i] : {A} -> i64
    %new = arith.addi %old, %one : i64
    pto.local_array_set %a[%c1, %i], %new : {A}, i64
    return
  }}"""
    body = f"""    %a = pto.declare_local_array -> {A}
    %b = pto.declare_local_array -> {A}
    func.call @bump(%a, %i) : ({A}, index) -> ()
    func.call @bump(%a, %i) : ({A}, index) -> ()
    func.call @bump(%b, %i) : ({A}, index) -> ()
    %p = pto.local_array_get %a[%c1, %i] : {A} -> i64
    %q = pto.local_array_get %b[%c1, %i] : {A} -> i64
    pto.store_scalar %p, %x[%c0] : !pto.ptr<i64, gm>, i64
    pto.store_scalar %q, %x[%c1] : !pto.ptr<i64, gm>, i64
"""
    assert result(body, 3, 0, helpers=helper)[:2] == [2, 1]


@pytest.mark.parametrize(("type_", "value"), [("i8", -128), ("i16", -2), ("i32", -(2**31)), ("i64", 2**63 - 1)])
def test_integers_of_every_width(type_: str, value: int) -> None:
    array = f"!pto.local_array<3x{type_}>"
    cast = {
        "i64": "%w = arith.addi %r, %r : i64",
    }.get(type_, f"%w = arith.extsi %r : {type_} to i64")
    body = f"""    %a = pto.declare_local_array -> {array}
    pto.local_array_set %a[%i], %v : {array}, {type_}
    %r = pto.local_array_get %a[%i] : {array} -> {type_}
    {cast}
    pto.store_scalar %w, %x[%c0] : !pto.ptr<i64, gm>, i64
"""
    expected = -2 if type_ == "i64" else value  # 2 * (2^63 - 1) wraps to -2
    assert result(body, 1, value, type_=type_)[0] == expected


@pytest.mark.parametrize("type_", ["f16", "bf16", "f32"])
def test_floats_keep_their_bits(type_: str) -> None:
    """-0.0 differs from 0.0 in nothing but a bit."""
    array, bits = f"!pto.local_array<3x{type_}>", f"i{32 if type_ == 'f32' else 16}"
    body = f"""    %a = pto.declare_local_array -> {array}
    pto.local_array_set %a[%i], %v : {array}, {type_}
    %r = pto.local_array_get %a[%i] : {array} -> {type_}
    %b = arith.bitcast %r : {type_} to {bits}
    %w = arith.extui %b : {bits} to i64
    pto.store_scalar %w, %x[%c0] : !pto.ptr<i64, gm>, i64
"""
    assert result(body, 2, -0.0, type_=type_)[0] == 1 << (int(bits[1:]) - 1)


S = "!pto.struct<i1, !pto.struct<i64, i8>, i64>"


def test_fields_are_apart_and_begin_as_zero() -> None:
    body = f"""    %s = pto.declare_struct -> {S}
    %true = arith.constant true
    %c7 = arith.constant 7 : i8
    pto.struct_set %s[1, 0], %v : {S}, i64
    %before = pto.struct_get %s[0] : {S} -> i1
    pto.struct_set %s[0], %true : {S}, i1
    pto.struct_set %s[1, 1], %c7 : {S}, i8
    %a = pto.struct_get %s[0] : {S} -> i1
    %b = pto.struct_get %s[1, 0] : {S} -> i64
    %c = pto.struct_get %s[1, 1] : {S} -> i8
    %d = pto.struct_get %s[2] : {S} -> i64
    %p = arith.extui %before : i1 to i64
    %q = arith.extui %a : i1 to i64
    %r = arith.extsi %c : i8 to i64
    %c3 = arith.addi %c1, %c2 : index
    pto.store_scalar %p, %x[%c0] : !pto.ptr<i64, gm>, i64
    pto.store_scalar %q, %x[%c1] : !pto.ptr<i64, gm>, i64
    pto.store_scalar %b, %x[%c2] : !pto.ptr<i64, gm>, i64
    pto.store_scalar %r, %x[%c3] : !pto.ptr<i64, gm>, i64
    pto.store_scalar %d, %x[%c4] : !pto.ptr<i64, gm>, i64
"""
    assert result(body, 0, -5)[:5] == [0, 1, -5, 7, 0]


# --- indices ----------------------------------------------------------------------------------------------------------

GET = f"    %a = pto.declare_local_array -> {A}\n    %r = pto.local_array_get %a[%c1, %i] : {A} -> i64\n"
GET_STORE = GET + "    pto.store_scalar %r, %x[%c0] : !pto.ptr<i64, gm>, i64\n"
SET = f"    %a = pto.declare_local_array -> {A}\n    pto.local_array_set %a[%i, %c1], %v : {A}, i64\n"


@pytest.mark.parametrize("index", [4, -1, 2**62, -(2**63)])
def test_an_index_outside_is_an_error(index: int) -> None:
    found = fails(kernel(GET_STORE), np.zeros(8, np.int64), index, 0)
    assert (found.kind, found.line) == ("out-of-bounds", 9)
    assert found.message == f"index {index} of dimension 1 of a local array, which has 4 elements"
    found = fails(kernel(SET), np.zeros(8, np.int64), index, 0)
    assert found.message == f"index {index} of dimension 0 of a local array, which has 2 elements"


def test_a_check_goes_on_behind_it() -> None:
    report = ptosim.check(kernel(GET_STORE + SET.replace("%a", "%b")), np.zeros(8, np.int64), 4, 0)
    assert [(found.kind, found.line) for found in report.findings] == [("out-of-bounds", 9), ("out-of-bounds", 12)]
