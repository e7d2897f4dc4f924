"""Arrays and structures of the scalar unit: spellings, types, and that none leaves the function that declares it."""

import pytest

from language.vector_kernel import accepts, example, printed, read, rejects, rejects_module
from ptosim.diagnostics import PTOError
from ptosim.language import local
from ptosim.language.catalogue import operations
from ptosim.language.operation import PTOOperation

OPERATIONS = [operation for operation in operations() if operation.__module__ == local.__name__]

ARRAY = "%a = pto.declare_local_array -> !pto.local_array<2x3xi32>\n"
STRUCT = "%s = pto.declare_struct -> !pto.struct<i32, !pto.struct<f32, index>>\n"
A, S = "!pto.local_array<2x3xi32>", "!pto.struct<i32, !pto.struct<f32, index>>"
STAYS = "an array or structure stays in the function that declares it"


def test_every_operation_of_the_room_is_there() -> None:
    names = "declare_local_array local_array_get local_array_set declare_struct struct_get struct_set"
    assert {operation.name.removeprefix("pto.") for operation in OPERATIONS} == set(names.split())


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.name)
def test_the_example_loads_and_prints_stably(operation: type[PTOOperation]) -> None:
    text = example(operation)
    given = [f"%{name}: {type_}" for name, type_ in (("i", "index"), ("x", "i32")) if f"%{name} =" not in text]
    once = printed(read(f"module {{\nfunc.func @kernel({', '.join(given)}) {{\n{text}\nreturn\n}}\n}}\n"))
    assert operation.name in once
    assert printed(read(once)) == once


@pytest.mark.parametrize(
    "body",
    [
        ARRAY + f"%x = pto.local_array_get %a[%s_index, %s_index] : {A} -> i32",
        ARRAY + f"pto.local_array_set %a[%s_index, %s_index], %s_i32 : {A}, i32",
        STRUCT + f"%x = pto.struct_get %s[1, 1] : {S} -> index",
        STRUCT + f"pto.struct_set %s[1, 0], %s_f32 : {S}, f32",
        "%a = pto.declare_local_array -> !pto.local_array<8192xi32>",
    ],
)
def test_accepted(body: str) -> None:
    accepts(body, scope=False)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("%a = pto.declare_local_array -> ^i32", "pto.declare_local_array gives !pto.local_array, not i32"),
        ("%a = pto.declare_struct -> ^i32", "pto.declare_struct gives !pto.struct, not i32"),
        (ARRAY + f"%x = pto.local_array_get ^%a[%s_index] : {A} -> i32", f"{A} takes 2 indices, not 1"),
        (
            ARRAY + f"%x = pto.local_array_get %a[%s_index, ^%s_i32] : {A} -> i32",
            "indices[1] must be index, not i32",
        ),
        (
            ARRAY + f"%x = pto.local_array_get %a[%s_index, %s_index] : {A} -> ^f32",
            f"result has type f32, but {A} holds i32",
        ),
        (
            ARRAY + f"pto.local_array_set %a[%s_index, %s_index], ^%s_f32 : {A}, f32",
            f"value has type f32, but {A} holds i32",
        ),
        ("pto.local_array_set ^%s_i32[%s_index], %s_f32", "array must be a !pto.local_array, not i32"),
        ("%x = pto.struct_get ^%s_i32[0] : i32 -> i32", "struct must be a !pto.struct, not i32"),
        (STRUCT + f"%x = pto.struct_get %s[^2] : {S} -> i32", f"{S} has 2 fields; there is no field 2"),
        (STRUCT + f"%x = pto.struct_get %s[^0, 1] : {S} -> i32", "i32 has no fields"),
        (
            STRUCT + f"%x = pto.struct_get %s[^1] : {S} -> i32",
            "the path ends at !pto.struct<f32, index>; it must go on to a scalar",
        ),
        (STRUCT + f"%x = pto.struct_get %s[0] : {S} -> ^f32", "result has type f32, but the field has type i32"),
        (STRUCT + f"pto.struct_set %s[1, 1], ^%s_i32 : {S}, i32", "value has type i32, but the field has type index"),
    ],
)
def test_rejected(body: str, message: str) -> None:
    rejects(body, message, scope=False)


def test_a_vector_scope_has_none() -> None:
    rejects(
        "%a = ^pto.declare_local_array -> !pto.local_array<2xi32>",
        "pto.declare_local_array must be outside 'pto.vecscope'",
    )


def test_an_array_is_not_yielded() -> None:
    text = f"""module {{
  func.func @kernel(%c: i1) {{
    %a = pto.declare_local_array -> {A}
    %b = scf.if %c -> ({A}) {{
      scf.yield %a : {A}
    }} else {{
      scf.yield %a : {A}
    }}
    return
  }}
}}
"""
    with pytest.raises(PTOError) as raised:
        read(text)
    messages = [found.message for found in raised.value.diagnostics]
    assert messages == [f"scf.if cannot give {A}: {STAYS}", *[f"scf.yield cannot take {A}: {STAYS}"] * 2]


def test_an_array_is_not_returned() -> None:
    text = f"""module {{
  func.func private @f() -> {A} {{
    %a = pto.declare_local_array -> {A}
    ^return %a : {A}
  }}
}}
"""
    rejects_module(text, f"func.return cannot take {A}: {STAYS}")


def test_the_stack_is_limited() -> None:
    body = "%a = pto.declare_local_array -> !pto.local_array<8192xi32>\n%b = ^pto.declare_struct -> !pto.struct<i8>"
    message = "arrays and structures take 32769 bytes; the stack of the scalar unit has 32768"
    rejects(body, message, scope=False, kind="limit")
