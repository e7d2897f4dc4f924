"""Arrays and structs of scalars."""

import pytest

from language.view_kernel import accepts, prints, reports, twins

ARRAY = "!pto.local_array<2x3xi32>"
STRUCT = "!pto.struct<i32, !pto.struct<f32, index>>"
DECLARED = f"%s = pto.declare_struct -> {STRUCT}\n%l = pto.declare_local_array -> {ARRAY}\n"


@pytest.mark.parametrize(
    "line",
    [
        f"%y = pto.local_array_get %l[%i, %c2] : {ARRAY} -> i32",
        f"pto.local_array_set %l[%c1, %j], %x : {ARRAY}, i32",
        f"%y = pto.struct_get %s[1, 0] : {STRUCT} -> f32",
        f"%y = pto.struct_get %s[0] : {STRUCT} -> i32",
        f"pto.struct_set %s[0], %x : {STRUCT}, i32",
        f"pto.struct_set %s[1, 1], %i : {STRUCT}, index",
    ],
)
def test_how_they_are_written(line: str):
    prints(DECLARED + line, line)
    assert DECLARED.splitlines()[0] in accepts(DECLARED + line)


def test_arrays_have_one_dimension_in_most_kernels():
    array = "!pto.local_array<2xi32>"
    accepts(f"%l = pto.declare_local_array -> {array}\npto.local_array_set %l[%i], %x : {array}, i32")


@pytest.mark.parametrize(
    "text, message",
    [
        (
            f"%y = pto.local_array_get ~%l[%i«|, %j»] : {ARRAY} -> i32",
            f"expects 2 indices, one for each dimension of {ARRAY}, not 1",
        ),
        (f"%y = pto.local_array_get %l[~%«c2|c1», %j] : {ARRAY} -> i32", "indices[0] is 2; it must be 0..1"),
        (f"pto.local_array_set %l[%i, ~%«cm1|c2»], %x : {ARRAY}, i32", "indices[1] is -1; it must be 0..2"),
        (f"%y = pto.local_array_get %l[~%«w|i», %j] : {ARRAY} -> i32", "indices[0] must be index, not i32"),
        (f"%y = pto.local_array_get %l[%i, %j] : {ARRAY} -> ~«f32|i32»", "result must be i32, not f32"),
        (f"pto.local_array_set %l[%i, %j], ~%«f|x» : {ARRAY}, «f32|i32»", "value must be i32, not f32"),
        (f"%y = pto.local_array_get ~%«v|l»[%i, %j] : «TV|{ARRAY}» -> i32", "array must be !pto.local_array, not TV"),
        (f"%y = pto.struct_get %s[~«2|0»] : {STRUCT} -> i32", f"the path has 2, but {STRUCT} has fields 0..1"),
        (f"%y = pto.struct_get %s[~«-1|0»] : {STRUCT} -> i32", f"the path has -1, but {STRUCT} has fields 0..1"),
        (f"%y = pto.struct_get %s[~0«, 0|»] : {STRUCT} -> i32", "the path leads into i32, which has no fields"),
        (
            f"%y = pto.struct_get %s[~1«|, 0»] : {STRUCT} -> f32",
            "the path ends at !pto.struct<f32, index>; it must end at a scalar",
        ),
        (f"%y = pto.struct_get %s[0] : {STRUCT} -> ~«f32|i32»", "result must be i32, not f32"),
        (f"pto.struct_set %s[1, 0], ~%«x|f» : {STRUCT}, «i32|f32»", "value must be f32, not i32"),
        (f"%y = pto.struct_get ~%«l|s»[0] : «{ARRAY}|{STRUCT}» -> i32", f"struct must be !pto.struct, not {ARRAY}"),
        (
            "%d = pto.declare_struct -> ~!pto.«local_array<2xi32>|struct<i32>»",
            "result must be !pto.struct, not !pto.local_array<2xi32>",
        ),
        ("%d = pto.declare_local_array -> ~«i32|!pto.local_array<2xi32>»", "result must be !pto.local_array, not i32"),
    ],
)
def test_rules(text: str, message: str):
    twins(DECLARED + text, message)


@pytest.mark.parametrize(
    "text, user",
    [
        (
            f"%r = scf.for %k = %c0 to %c8 step %c1 iter_args(%b = ~%s) -> ({STRUCT}) {{ scf.yield %b : {STRUCT} }}",
            "scf.for",
        ),
        (
            f"%c = arith.constant 1 : i1\n%r = scf.if %c -> ({STRUCT}) "
            f"{{ scf.yield ~%s : {STRUCT} }} else {{ scf.yield %s : {STRUCT} }}",
            "scf.yield",
        ),
        (f"func.call @kernel(~%s) : ({STRUCT}) -> ()", "func.call"),
    ],
)
def test_a_struct_is_not_passed_on(text: str, user: str):
    reports(DECLARED + text, f"a struct may only be used by pto.struct_get and pto.struct_set, not by {user}")
