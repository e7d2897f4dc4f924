"""Loops, branches and calls with values of every kind."""

import numpy as np
import pytest

from small_kernels import failure, module, run, ub_after


def result(body: str, *arguments: int, parameters: str = "", rest: str = "") -> int:
    """What a body leaves in %r : i32."""
    out = np.zeros(1, np.int32)
    store = "pto.store_scalar %r, %out[%c0] : G<i32>, i32"
    run(module(f"%out: G<i32>{parameters}", f"{body}\n{store}", rest=rest), out, *arguments)
    return int(out[0])


def test_carried_values_change_places() -> None:
    """Fibonacci: both values are assigned at once."""
    body = """%a, %r = scf.for %i = %c0 to %c10 step %c1 iter_args(%x = %c0_i32, %y = %c1_i32) -> (i32, i32) {
    %next = arith.addi %x, %y : i32
    scf.yield %y, %next : i32, i32
    }"""
    assert result(body) == 89


def test_a_region_runs_once_where_it_stands() -> None:
    body = """%x = arith.addi %c5_i32, %c7_i32 : i32
    %r = scf.execute_region -> i32 {
    %y = arith.addi %x, %x : i32
    scf.yield %y : i32
    }"""
    assert result(body) == 24


@pytest.mark.parametrize(("condition", "wanted"), [(1, 7), (0, 9)])
def test_a_branch_with_a_result(condition: int, wanted: int) -> None:
    body = """%r = scf.if %c -> (i32) {
    scf.yield %c7_i32 : i32
    } else {
    scf.yield %c9_i32 : i32
    }"""
    assert result(body, condition, parameters=", %c: i1") == wanted


def test_a_branch_without_else() -> None:
    body = """scf.if %c {
    pto.store_scalar %c7_i32, %out[%c0] : G<i32>, i32
    }
    %r = pto.load_scalar %out[%c0] : G<i32> -> i32"""
    assert result(body, 1, parameters=", %c: i1") == 7
    assert result(body, 0, parameters=", %c: i1") == 0


def collatz(n: int) -> int:
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


@pytest.mark.parametrize("n", [1, 6, 27])
def test_a_while_loop(n: int) -> None:
    body = """%last, %r = scf.while (%x = %n, %steps = %c0_i32) : (i32, i32) -> (i32, i32) {
    %more = arith.cmpi ne, %x, %c1_i32 : i32
    scf.condition(%more) %x, %steps : i32, i32
    } do {
    ^bb0(%x: i32, %steps: i32):
    %odd = arith.andi %x, %c1_i32 : i32
    %is_odd = arith.cmpi eq, %odd, %c1_i32 : i32
    %triple = arith.muli %x, %c3_i32 : i32
    %up = arith.addi %triple, %c1_i32 : i32
    %down = arith.shrui %x, %c1_i32 : i32
    %next = arith.select %is_odd, %up, %down : i32
    %count = arith.addi %steps, %c1_i32 : i32
    scf.yield %next, %count : i32, i32
    }"""
    assert result(body, n, parameters=", %n: i32") == collatz(n)


def test_a_while_loop_that_gives_other_types_than_it_takes() -> None:
    body = """%r = scf.while (%x = %c1_i64) : (i64) -> i32 {
    %small = arith.cmpi slt, %x, %c100_i64 : i64
    %t = arith.trunci %x : i64 to i32
    scf.condition(%small) %t : i32
    } do {
    ^bb0(%y: i32):
    %wide = arith.extsi %y : i32 to i64
    %next = arith.muli %wide, %c3_i64 : i64
    scf.yield %next : i64
    }"""
    assert result(body) == 243


HELPERS = """func.func @both(%a: i32, %b: i32) -> (i32, i32) {
%sum = arith.addi %a, %b : i32
%product = func.call @product(%a, %b) : (i32, i32) -> i32
return %sum, %product : i32, i32
}
func.func @product(%a: i32, %b: i32) -> i32 {
%p = arith.muli %a, %b : i32
return %p : i32
}"""


def test_helpers_call_helpers() -> None:
    body = """%s, %p = func.call @both(%c6_i32, %c7_i32) : (i32, i32) -> (i32, i32)
    %t, %q = func.call @both(%s, %p) : (i32, i32) -> (i32, i32)
    %r = arith.subi %q, %t : i32"""
    assert result(body, rest=HELPERS) == 13 * 42 - (13 + 42)


def test_a_helper_with_a_scope_of_its_own() -> None:
    helper = """func.func @fill(%p: P<i32>, %x: i32) {
    %zero = arith.constant 0 : index
    pto.vecscope {
    %all = pto.pset_b32 "PAT_ALL" : M<b32>
    %v = pto.vdup %x, %all : i32, M<b32> -> V<i32>
    pto.vsts %v, %p[%zero], %all : V<i32>, P<i32>, M<b32>
    }
    return
    }"""
    body = """func.call @fill(%ub256_i32, %c41_i32) : (P<i32>, i32) -> ()
    pto.barrier #pto.pipe<PIPE_ALL>
    %r = pto.load_scalar %ub256_i32[%c63] : P<i32> -> i32"""
    assert result(body, rest=helper) == 41


def test_a_declared_function_cannot_be_run() -> None:
    text = module("%c: i1", "scf.if %c {\nfunc.call @sink() : () -> ()\n}", rest="func.func private @sink()")
    run(text, 0)
    found = failure(text, 1)
    assert found.kind == "unsupported"
    assert "@sink is only declared" in found.message


def test_vectors_and_masks_are_carried_and_branch() -> None:
    """Four rounds: even ones add 1 to all lanes, odd ones 10 to the first eight; the masks change places."""
    body = """%eight = pto.pset_b32 "PAT_VL8" : M<b32>
    %start = pto.vdup %c0.0_f32, %all_b32 : f32, M<b32> -> V<f32>
    %one = pto.vdup %c1.0_f32, %all_b32 : f32, M<b32> -> V<f32>
    %ten = pto.vdup %c10.0_f32, %all_b32 : f32, M<b32> -> V<f32>
    %v, %m, %n = scf.for %i = %c0 to %c4 step %c1
        iter_args(%x = %start, %a = %all_b32, %b = %eight) -> (V<f32>, M<b32>, M<b32>) {
    %parity = arith.remui %i, %c2 : index
    %even = arith.cmpi eq, %parity, %c0 : index
    %y = scf.if %even -> (V<f32>) {
    scf.yield %one : V<f32>
    } else {
    scf.yield %ten : V<f32>
    }
    %part = pto.vsel %y, %start, %a : V<f32>, V<f32>, M<b32> -> V<f32>
    %next = pto.vadd %x, %part, %all_b32 : V<f32>, V<f32>, M<b32> -> V<f32>
    scf.yield %next, %b, %a : V<f32>, M<b32>, M<b32>
    }
    pto.vsts %v, %ub_f32[%c0], %all_b32 : V<f32>, P<f32>, M<b32>"""
    found = ub_after(body)[:256].view(np.float32)
    assert found.tolist() == [22.0] * 8 + [2.0] * 56


def test_strict_scopes_take_arguments() -> None:
    body = """pto.strict_vecscope(%ub_i32, %x) {
    ^bb0(%p: P<i32>, %y: i32):
    %zero = arith.constant 0 : index
    %all = pto.pset_b32 "PAT_ALL" : M<b32>
    %v = pto.vdup %y, %all : i32, M<b32> -> V<i32>
    pto.vsts %v, %p[%zero], %all : V<i32>, P<i32>, M<b32>
    } : (P<i32>, i32) -> ()
    pto.barrier #pto.pipe<PIPE_ALL>
    %r = pto.load_scalar %ub_i32[%c5] : P<i32> -> i32"""
    assert result(body, 77, parameters=", %x: i32") == 77


def test_a_marked_loop_is_a_scope() -> None:
    body = """scf.for %i = %c0 to %c128 step %c64 {
    %all = pto.pset_b32 "PAT_ALL" : M<b32>
    %i_i32 = arith.index_cast %i : index to i32
    %v = pto.vdup %i_i32, %all : i32, M<b32> -> V<i32>
    pto.vsts %v, %ub_i32[%i], %all : V<i32>, P<i32>, M<b32>
    } {llvm.loop.aivector_scope}
    pto.barrier #pto.pipe<PIPE_ALL>
    %r = pto.load_scalar %ub_i32[%c127] : P<i32> -> i32"""
    assert result(body) == 64


@pytest.mark.parametrize("depth", [5, 40, 120])
def test_deep_nesting(depth: int) -> None:
    opening = "".join(
        f"%v{level + 1} = scf.for %i{level} = %c0 to %c1 step %c1 iter_args(%x{level + 1} = %x{level}) -> (i32) {{\n"
        for level in range(depth)
    )
    closing = "".join(f"scf.yield %v{level} : i32\n}}\n" for level in range(depth, 1, -1))
    inner = f"%v{depth + 1} = arith.addi %x{depth}, %c1_i32 : i32\nscf.yield %v{depth + 1} : i32\n}}\n"
    body = opening.replace("%x0", "%c4_i32") + inner + closing
    assert result(body.replace("%v1 =", "%r =")) == 5
