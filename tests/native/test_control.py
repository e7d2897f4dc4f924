"""Control flow on both engines: loops, branches and calls that carry scalars, registers, masks and streams."""

import numpy as np
import pytest

import ptosim
from both_engines import fails
from ptosim.native.build.compilation import compile_kernel
from small_kernels import SIZE, image_kernel, same, scope, some_bytes, wrong
from tables import table

STORE_SUM = "pto.store_scalar %sum, %ub4096_i32[%c0] : P<i32>, i32"


@pytest.mark.parametrize("low, high, step", [(0, 10, 3), (5, 5, 1), (7, 2, 1), (-8, 9, 4), (0, 1, 100)])
def test_a_loop_carries_scalars(low: int, high: int, step: int) -> None:
    body = f"""
    %sum, %pair = scf.for %i = %low to %high step %step iter_args(%a = %c0_i32, %b = %c1_i64) -> (i32, i64) {{
      %j = arith.index_cast %i : index to i32
      %next = arith.addi %a, %j : i32
      %wide = arith.extsi %a : i32 to i64
      scf.yield %next, %wide : i32, i64
    }}
    {STORE_SUM}
    pto.store_scalar %pair, %ub4104_i64[%c0] : P<i64>, i64"""
    image = same(body, low, high, step, arguments=", %low: index, %high: index, %step: index")
    numbers = list(range(low, high, step))
    assert image[4096:4100].view("i4")[0] == sum(numbers)
    assert image[4104:4112].view("i8")[0] == (sum(numbers[:-1]) if numbers else 1)


@pytest.mark.parametrize("step", [0, -1])
def test_a_step_that_is_not_positive(step: int) -> None:
    body = "scf.for %j = %c0 to %c3 step %c1 {\nscf.for %i = %c0 to %c9 step %step {\n}\n}"
    found = wrong(body, step, arguments=", %step: index")
    assert (found.kind, found.loops) == ("arithmetic", (0,))
    assert found.message == f"the step of scf.for must be positive, not {step}"


@pytest.mark.parametrize("less, step", [("%c1", 0), ("%c2", -1)])
def test_a_step_that_compiling_finds_to_be_not_positive(less: str, step: int) -> None:
    made = image_kernel(f"%step = arith.subi %c1, {less} : index\nscf.for %i = %c0 to %c9 step %step {{\n}}")
    found = fails(made, some_bytes(SIZE), np.zeros(SIZE, np.uint8))
    assert (found.kind, found.message) == ("arithmetic", f"the step of scf.for must be positive, not {step}")
    report = ptosim.check(made, some_bytes(SIZE), np.zeros(SIZE, np.uint8))
    assert found.message in [each.message for each in report.errors]


def test_a_loop_of_narrow_integers() -> None:
    body = f"""
    %sum = scf.for %i = %c100_i8 to %c127_i8 step %c9_i8 iter_args(%a = %c0_i32) -> (i32) : i8 {{
      %j = arith.extsi %i : i8 to i32
      %next = arith.addi %a, %j : i32
      scf.yield %next : i32
    }}
    {STORE_SUM}"""
    assert same(body)[4096:4100].view("i4")[0] == 100 + 109 + 118


CARRIED = """
%zero = pto.vbr %c0.0_f32 : f32 -> V<f32>
%full = pto.pset_b32 "PAT_ALL" : M<b32>
%r, %k, %left = scf.for %i = %c0 to %c4 step %c1 iter_args(%v = %zero, %m = FIRST, %n = %c200_i32)
    -> (V<f32>, M<b32>, i32) {
  %t, %rest = pto.plt_b32 %n : i32 -> M<b32>, i32
  %at = arith.muli %i, %c64 : index
  %x = pto.vlds %ub_f32[%at] : P<f32> -> V<f32>
  %y = pto.vmax %x, %v, %m : V<f32>, V<f32>, M<b32> -> V<f32>
  NEXT
  scf.yield %y, %q, %rest : V<f32>, M<b32>, i32
}
pto.vsts %r, %ub4096_f32[%c0], %full : V<f32>, P<f32>, M<b32>
pto.psts %k, %ub4608_ui8[%c0], "NORM" : M<b32>, P<ui8>, index
"""


@pytest.mark.parametrize("first", ["%full", "%raw"])
@table(
    "following",
    "%q = pto.pand %m, %t, %full : M<b32>, M<b32>, M<b32> -> M<b32>",
    "%q = pto.por %m, %raw, %raw : M<b32>, M<b32>, M<b32> -> M<b32>",
    '%q = pto.plds %ub_ui8[%c96], "NORM" : P<ui8>, index -> M<b32>',
    "%q = arith.select %even, %t, %raw : M<b32>",
)
def test_a_loop_carries_registers_and_masks(first: str, following: str) -> None:
    """A mask that came from memory has bits between its lanes, which one of a pattern has not."""
    text = CARRIED.replace("FIRST", first).replace("NEXT", "%even = arith.trunci %i_i8 : i8 to i1\n" + following)
    text = text.replace("%at =", "%i_i8 = arith.index_cast %i : index to i8\n%at =")
    same(scope('%raw = pto.plds %ub_ui8[%c32], "NORM" : P<ui8>, index -> M<b32>\n' + text))


@pytest.mark.parametrize("chosen", [0, 1])
@pytest.mark.parametrize("swapped", [False, True])
def test_a_branch_gives_masks(chosen: int, swapped: bool) -> None:
    sides = ["scf.yield %full, %x : M<b32>, V<f32>", "scf.yield %raw, %zero : M<b32>, V<f32>"]
    first, second = reversed(sides) if swapped else sides
    body = scope(f"""
    %go = arith.trunci %flag : i32 to i1
    %zero = pto.vbr %c0.0_f32 : f32 -> V<f32>
    %full = pto.pset_b32 "PAT_VL8" : M<b32>
    %x = pto.vlds %ub_f32[%c0] : P<f32> -> V<f32>
    %raw = pto.plds %ub_ui8[%c32], "NORM" : P<ui8>, index -> M<b32>
    %m, %v = scf.if %go -> (M<b32>, V<f32>) {{ {first} }} else {{ {second} }}
    pto.vsts %v, %ub4096_f32[%c0], %m : V<f32>, P<f32>, M<b32>
    pto.psts %m, %ub4608_ui8[%c0], "NORM" : M<b32>, P<ui8>, index""")
    same(body, chosen, arguments=", %flag: i32")


def test_nested_loops_find_the_shape_of_a_mask() -> None:
    opening = "".join(
        f"%k{depth} = scf.for %i{depth} = %c0 to %c2 step %c1 iter_args(%m{depth} = "
        f"{f'%m{depth - 1}' if depth else '%full'}) -> (M<b32>) {{\n"
        for depth in range(6)
    )
    inner = "%q = pto.pxor %m5, %raw, %full : M<b32>, M<b32>, M<b32> -> M<b32>\nscf.yield %q : M<b32>\n}\n"
    closing = "".join(f"scf.yield %k{depth} : M<b32>\n}}\n" for depth in range(5, 0, -1))
    body = f"""%raw = pto.plds %ub_ui8[%c32], "NORM" : P<ui8>, index -> M<b32>
    %full = pto.plds %ub_ui8[%c64], "NORM" : P<ui8>, index -> M<b32>
    {opening}{inner}{closing}
    pto.psts %k0, %ub4608_ui8[%c0], "NORM" : M<b32>, P<ui8>, index"""
    same(scope(body))
    same(scope(body.replace('pto.plds %ub_ui8[%c64], "NORM" : P<ui8>, index ->', 'pto.pset_b32 "PAT_ALL" :')))


def test_half_registers_are_carried() -> None:
    body = scope("""
    %start = pto.vlds %ub_f16[%c0] : P<f16> -> V<f16>
    %r = scf.for %i = %c1 to %c5 step %c1 iter_args(%v = %start) -> (V<f16>) {
      %at = arith.muli %i, %c128 : index
      %x = pto.vlds %ub_f16[%at] : P<f16> -> V<f16>
      %y = pto.vadd %x, %v, %all_b16 : V<f16>, V<f16>, M<b16> -> V<f16>
      scf.yield %y : V<f16>
    }
    pto.vsts %r, %ub4096_f16[%c0], %all_b16 : V<f16>, P<f16>, M<b16>""")
    same(body)


VECTOR_HELPERS = """
func.func private @scale(%v: V<f32>, %m: M<b32>, %s: f32) -> (V<f32>, M<b32>) {
  %c0 = arith.constant 0 : i32
  %x = pto.vmuls %v, %s, %m : V<f32>, f32, M<b32> -> V<f32>
  %q = pto.vcmps %x, %s, %m, "lt" : V<f32>, f32, M<b32> -> M<b32>
  return %x, %q : V<f32>, M<b32>
}
"""

HELPERS = """
func.func private @twice(%n: index) -> index {
  %r = func.call @sum(%n, %n) : (index, index) -> index
  return %r : index
}
func.func private @sum(%a: index, %b: index) -> index {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %b step %c1 iter_args(%s = %a) -> (index) {
    %t = arith.addi %s, %c1 : index
    scf.yield %t : index
  }
  return %r : index
}
func.func private @nowhere(%a: i32) -> i32
"""


def test_helpers_take_and_give_registers_and_masks() -> None:
    body = scope("""
    %raw = pto.plds %ub_ui8[%c32], "NORM" : P<ui8>, index -> M<b32>
    %x0 = pto.vlds %ub_f32[%c0] : P<f32> -> V<f32>
    %x1, %m1 = func.call @scale(%x0, %all_b32, %c1.5_f32) : (V<f32>, M<b32>, f32) -> (V<f32>, M<b32>)
    %x2, %m2 = func.call @scale(%x1, %m1, %c1.5_f32) : (V<f32>, M<b32>, f32) -> (V<f32>, M<b32>)
    %x3, %m3 = func.call @scale(%x2, %raw, %c0.5_f32) : (V<f32>, M<b32>, f32) -> (V<f32>, M<b32>)
    pto.vsts %x3, %ub5120_f32[%c0], %m2 : V<f32>, P<f32>, M<b32>
    pto.psts %m3, %ub5632_ui8[%c0], "NORM" : M<b32>, P<ui8>, index""")
    same(body, rest=VECTOR_HELPERS)


@pytest.mark.parametrize("count", [0, 1, 8, 13, 64])
def test_a_loop_carries_a_stream(count: int) -> None:
    body = scope("""
    %first = pto.init_align : A
    %end, %last = scf.for %i = %c0 to %c5 step %c1 iter_args(%a = %first, %p = %ub4100_f32) -> (A, P<f32>) {
      %at = arith.muli %i, %c64 : index
      %x = pto.vlds %ub_f32[%at] : P<f32> -> V<f32>
      %b, %q = pto.vstus %a, %n, %x, %p : A, i32, V<f32>, P<f32> -> A, P<f32>
      scf.yield %b, %q : A, P<f32>
    }
    pto.vstas %end, %last, %c0_i32 : A, P<f32>, i32""")
    same(body, count, arguments=", %n: i32")


def test_helpers_of_scalar_code() -> None:
    body = f"""
    %n = scf.for %i = %c0 to %c4 step %c1 iter_args(%a = %c1) -> (index) {{
      %b = func.call @twice(%a) : (index) -> index
      scf.yield %b : index
    }}
    %sum = arith.index_cast %n : index to i32
    {STORE_SUM}"""
    assert same(body, rest=HELPERS)[4096:4100].view("i4")[0] == 16
    found = wrong(body, rest=HELPERS, max_steps=4 + (1 + 1) + (1 + 2) + (1 + 3))
    assert (found.kind, found.loops) == ("limit", (2,))


def test_a_function_without_a_body() -> None:
    body = f"""scf.for %i = %c0 to %c4 step %c1 {{
      %last = arith.cmpi eq, %i, %c2 : index
      scf.if %last {{
        %sum = func.call @nowhere(%c1_i32) : (i32) -> i32
        {STORE_SUM}
      }}
    }}"""
    found = wrong(body, rest=HELPERS)
    assert (found.kind, found.loops) == ("unsupported", (2,))


@table("bound, steady",
        ("arith.addi %c3, %c1 : index", True),
        ("pto.load_scalar %ub4096_i64[%c0] : P<i64> -> i64", False),
        ("pto.ld_dev %from[%c0] : G<i64> -> i64", False),
        ("scf.while (%a = %c3) : (index) -> index {\nscf.condition(%no) %a : index\n} do {\n"
         "^bb0(%x: index):\nscf.yield %x : index\n}", False))  # fmt: skip
def test_what_decides_how_many_steps_a_kernel_takes(bound: str, steady: bool) -> None:
    """Only where the memories do not may a launch be expected to take as long as the last one."""
    body = f"%no = arith.cmpi ne, %c0, %c0 : index\n%bound = {bound}"
    made = image_kernel(body, arguments=", %from: G<i64>")
    compiled = compile_kernel(made.module.executable, made.program, drop=False)
    assert compiled.data["steady"] is steady
