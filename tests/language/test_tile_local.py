"""Arrays and structs of scalars."""

from language.view_kernel import accepts, prints, reports
from refusals.tile_local import ARRAY, DECLARED, STRUCT
from tables import table


@table(
    "line",
    f"%y = pto.local_array_get %l[%i, %c2] : {ARRAY} -> i32",
    f"pto.local_array_set %l[%c1, %j], %x : {ARRAY}, i32",
    f"%y = pto.struct_get %s[1, 0] : {STRUCT} -> f32",
    f"%y = pto.struct_get %s[0] : {STRUCT} -> i32",
    f"pto.struct_set %s[0], %x : {STRUCT}, i32",
    f"pto.struct_set %s[1, 1], %i : {STRUCT}, index",
)
def test_how_they_are_written(line: str):
    prints(DECLARED + line, line)
    assert DECLARED.splitlines()[0] in accepts(DECLARED + line)


def test_arrays_have_one_dimension_in_most_kernels():
    array = "!pto.local_array<2xi32>"
    accepts(f"%l = pto.declare_local_array -> {array}\npto.local_array_set %l[%i], %x : {array}, i32")


@table(
    "text, user",
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
)
def test_a_struct_is_not_passed_on(text: str, user: str):
    reports(DECLARED + text, f"a struct may only be used by pto.struct_get and pto.struct_set, not by {user}")
