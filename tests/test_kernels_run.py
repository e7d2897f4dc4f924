"""Kernels of several functions on both engines: pairs, callers, nested modules, launch parameters, regions."""

import numpy as np
import pytest

import ptosim

GM = "!pto.ptr<i32, gm>"
CUBE, VECTOR = (f"pto.kernel_kind = #pto.kernel_kind<{kind}>" for kind in ("cube", "vector"))
INDEX, COUNT, SUB = (f"%__pypto_spmd_{name}" for name in ("block_idx", "block_num", "subblock_idx"))

pytestmark = pytest.mark.parametrize("engine", ["reference", "native"])


def function(name: str, arguments: str, body: str, attributes: str = "pto.entry", head: str = "") -> str:
    return f"func.func {head}@{name}({arguments}) attributes {{{attributes}}} {{\n{body}\nreturn\n}}\n"


def store(value: str, place: str) -> str:
    """Both i32; the place counts elements of %x."""
    name = f"%at_{place[1:]}"
    return f"{name} = arith.index_cast {place} : i32 to index\npto.store_scalar {value}, %x[{name}] : {GM}, i32\n"


def run(text: str, engine: str, *rest: int, grid: int = 1) -> list[int]:
    x = np.zeros(16, "i4")
    kernel = ptosim.load(text + "\n").kernel()
    kernel(x, *rest, grid=grid, engine=engine)
    assert ptosim.check(kernel, np.zeros(16, "i4"), *rest, grid=grid).ok
    return x.tolist()


def test_launch_parameters_are_fed_per_block(engine: str) -> None:
    """Block b of n writes 10 n + b to place b."""
    body = "%ten = arith.constant 10 : i32\n%n = arith.muli " + f"{COUNT}, %ten : i32\n"
    body += f"%v = arith.addi %n, {INDEX} : i32\n" + store("%v", INDEX)
    text = function("k", f"%x: {GM}, {INDEX}: i32, {COUNT}: i32", body, VECTOR)
    assert run(text, engine, grid=3)[:4] == [30, 31, 32, 0]


def test_a_pair_runs_on_all_cores(engine: str) -> None:
    """The cube of block b writes 1 + b to place b; its vector cores write 100 + their number behind the last block."""
    one = "%one = arith.constant 1 : i32\n%two = arith.constant 2 : i32\n"
    cube = f"{one}%v = arith.addi {INDEX}, %one : i32\n" + store("%v", INDEX)
    vector = f"{one}%first = arith.muli {INDEX}, %two : i32\n%core = arith.addi %first, {SUB} : i32\n"
    vector += f"%place = arith.addi %core, {COUNT} : i32\n%v = arith.addi %core, %m : i32\n" + store("%v", "%place")
    parameters = f"{INDEX}: i32, {COUNT}: i32"
    text = function("k_aic", f"%x: {GM}, {parameters}", cube, CUBE)
    text += function("k_aiv", f"%x: {GM}, %m: i32, {parameters}, {SUB}: i32", vector, VECTOR)
    assert [parameter.name for parameter in ptosim.load(text).kernel("k").signature] == ["x", "m"]
    assert run(text, engine, 100, grid=2)[:7] == [1, 2, 100, 101, 102, 103, 0]


def test_a_caller_of_both_kinds(engine: str) -> None:
    """The cube function stores 7, the vector function 8 + its sub-block; the sum beside runs everywhere."""
    value = "%{0} = arith.constant {1} : i32\n".format
    cube = value("v", 7) + value("zero", 0) + store("%v", "%zero")
    vector = value("c", 8) + "%i = pto.get_subblock_idx\n%s = arith.trunci %i : i64 to i32\n"
    vector += value("one", 1) + "%v = arith.addi %s, %c : i32\n%p = arith.addi %s, %one : i32\n" + store("%v", "%p")
    text = function("c", f"%x: {GM}, %n: i32", cube, CUBE, "private ")
    text += function("v", f"%x: {GM}, %n: i32", vector, VECTOR, "private ")
    calls = f"%m = arith.addi %n, %n : i32\ncall @c(%x, %m) : ({GM}, i32) -> ()\n"
    text += function("k", f"%x: {GM}, %n: i32", calls + f"call @v(%x, %m) : ({GM}, i32) -> ()")
    assert run(text, engine, 0)[:4] == [7, 8, 9, 0]


def test_a_function_of_another_module(engine: str) -> None:
    helper = "func.func public @h(%n: i32) -> i32 {\n%m = arith.addi %n, %n : i32\nreturn %m : i32\n}\n"
    body = "%m = call @h(%n) : (i32) -> i32\n%zero = arith.constant 0 : i32\n" + store("%m", "%zero")
    caller = "func.func private @h(i32) -> i32\n" + function("k", f"%x: {GM}, %n: i32", body)
    assert run(f"module {{\nmodule {{\n{helper}}}\nmodule {{\n{caller}}}\n}}", engine, 21)[:2] == [42, 0]


def test_regions_run_where_they_stand(engine: str) -> None:
    body = (
        "%unused = arith.constant dense<[1, 2, 3, 4]> : vector<4xi16>\n"
        "%zero = arith.constant 0 : i32\n"
        "%m = scf.execute_region -> i32 {\n"
        "%a = scf.execute_region -> (i32) {\n%s = arith.addi %n, %n : i32\nscf.yield %s : i32\n}\n"
        "%b = arith.addi %a, %n : i32\nscf.yield %b : i32\n}\n"
        "scf.execute_region {\n" + store("%m", "%zero") + "}\n"
    )
    assert run(function("k", f"%x: {GM}, %n: i32", body), engine, 5)[:2] == [15, 0]


def test_a_helper_for_scopes_and_for_bare_code(engine: str) -> None:
    """It doubles the first 64 numbers of UB; called once in a scope and once outside, they are four times as large."""
    ub, v, m = "!pto.ptr<i32, ub>", "!pto.vreg<64xi32>", "!pto.mask<b32>"
    helper = (
        f'%all = pto.pset_b32 "PAT_ALL" : {m}\n%c0 = arith.constant 0 : index\n%a = pto.vlds %u[%c0] : {ub} -> {v}\n'
        f"%s = pto.vadd %a, %a, %all : {v}, {v}, {m} -> {v}\npto.vsts %s, %u[%c0], %all : {v}, {ub}, {m}"
    )
    call = f"call @h(%u) : ({ub}) -> ()\n"
    body = (
        "%z = arith.constant 0 : i64\n%one = arith.constant 1 : i64\n%b = arith.constant 64 : i64\n"
        f"%u = pto.castptr %z : i64 -> {ub}\n"
        f"pto.mte_gm_ub %x, %u, %z, %b nburst(%one, %b, %b) : {GM}, {ub}, i64, i64, i64, i64, i64\n"
        'pto.set_flag["PIPE_MTE2", "PIPE_V", "EVENT_ID0"]\npto.wait_flag["PIPE_MTE2", "PIPE_V", "EVENT_ID0"]\n'
        f"pto.vecscope {{\n{call}}}\n{call}"
        'pto.set_flag["PIPE_V", "PIPE_MTE3", "EVENT_ID0"]\npto.wait_flag["PIPE_V", "PIPE_MTE3", "EVENT_ID0"]\n'
        f"pto.mte_ub_gm %u, %x, %b nburst(%one, %b, %b) : {ub}, {GM}, i64, i64, i64, i64\n"
        "pto.barrier #pto.pipe<PIPE_ALL>"
    )
    text = function("h", f"%u: {ub}", helper, "pto.x", "private ") + function("k", f"%x: {GM}", body)
    x = np.arange(16, dtype="i4")
    ptosim.load(text).kernel()(x, engine=engine)
    assert x.tolist() == [4 * number for number in range(16)]
