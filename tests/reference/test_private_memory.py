"""Buffers of a workitem, wide accesses behind LLVM pointers, parts of values."""

from __future__ import annotations

import numpy as np

import ptosim
from workitem_programs import both, lanes, section

X = np.random.default_rng(2).integers(-100, 100, 32).astype("i4")


def test_a_buffer_is_private() -> None:
    text = """
      %c4 = arith.constant 4 : i32
      %b = llvm.alloca %c4 x i32 : (i32) -> !llvm.ptr
      %c3 = arith.constant 3 : i32
      %n = arith.andi %t, %c3 : i32
      %w = arith.extsi %n : i32 to i64
      %e = llvm.getelementptr %b[%w] : (!llvm.ptr, i64) -> !llvm.ptr, i32
      %zero32 = llvm.mlir.constant(0 : i32) : i32
      llvm.store %a, %e : i32, !llvm.ptr
      %r = llvm.load %e : !llvm.ptr -> i32
    """
    assert lanes(text, [("i32", X)], "i32").tolist() == X.tolist()


def test_a_wide_load_of_ub_by_its_address() -> None:
    text = """
      pto.store %a, %ub[%i] : !pto.ptr<i32, ub>, i32
      pto.syncthreads
      %address = pto.castptr %ub : !pto.ptr<i32, ub> -> i64
      %c15 = arith.constant 15 : i32
      %pair = arith.andi %t, %c15 : i32
      %c8 = arith.constant 8 : i32
      %far = arith.muli %pair, %c8 : i32
      %wide = arith.extsi %far : i32 to i64
      %sum = arith.addi %address, %wide : i64
      %p = llvm.inttoptr %sum : i64 to !llvm.ptr<6>
      %v = llvm.load %p : !llvm.ptr<6> -> vector<2xi32>
      %one = llvm.mlir.constant(1 : i32) : i32
      %r = llvm.extractelement %v[%one : i32] : vector<2xi32>
    """
    assert lanes(text, [("i32", X)], "i32").tolist() == [X[2 * (t & 15) + 1] for t in range(32)]


def test_parts_and_bits() -> None:
    text = """
      %u = llvm.mlir.undef : vector<2xf16>
      %c0 = llvm.mlir.constant(0 : i32) : i32
      %c1 = llvm.mlir.constant(1 : i32) : i32
      %v = llvm.insertelement %a, %u[%c0 : i32] : vector<2xf16>
      %w = llvm.insertelement %b, %v[%c1 : i32] : vector<2xf16>
      %r = llvm.bitcast %w : vector<2xf16> to i32
    """
    a, b = np.arange(32, dtype="f2"), np.arange(32, 64).astype("f2")
    found = lanes(text, [("f16", a), ("f16", b)], "i32").view("f2").reshape(32, 2)
    assert np.array_equal(found, np.stack([a, b], axis=1))


def test_what_was_not_stored_is_undefined() -> None:
    text = """
      %c1 = arith.constant 1 : i32
      %b = llvm.alloca %c1 x i32 : (i32) -> !llvm.ptr
      %v = llvm.load %b : !llvm.ptr -> i32
      %s = arith.addi %v, %t : i32
      pto.store %s, %out[%i] : !pto.ptr<i32, gm>, i32
    """
    report = ptosim.check(ptosim.load(section(text, ["%out: !pto.ptr<i32, gm>"])).kernel(), np.zeros(32, "i4"))
    assert [(found.kind, found.severity) for found in report.findings] == [("uninitialized", "error")]
    moved = text.replace("%s, %out", "%v, %out")
    report = ptosim.check(ptosim.load(section(moved, ["%out: !pto.ptr<i32, gm>"])).kernel(), np.zeros(32, "i4"))
    assert [(found.kind, found.severity) for found in report.findings] == [("uninitialized", "warning")]


def test_packed_arithmetic() -> None:
    x = np.random.default_rng(4).normal(size=64).astype("f4")
    text = """
      %two = arith.constant dense<[2.0, 3.0]> : vector<2xf32>
      %m = arith.mulf %a, %two : vector<2xf32>
      %r = arith.addf %m, %a : vector<2xf32>
    """
    found = lanes(text, [("vector<2xf32>", x)], "vector<2xf32>").view("f4")
    factor = np.resize(np.array([2, 3], "f4"), 64)
    assert np.array_equal(found, x * factor + x)


def test_both_ways_of_a_store() -> None:
    out = np.zeros(32, "i4")
    text = """
      %address = pto.castptr %out : !pto.ptr<i32, gm> -> i64
      %c4 = arith.constant 4 : i32
      %far = arith.muli %t, %c4 : i32
      %wide = arith.extsi %far : i32 to i64
      %sum = arith.addi %address, %wide : i64
      %p = llvm.inttoptr %sum : i64 to !llvm.ptr<1>
      llvm.store %t, %p : i32, !llvm.ptr<1>
    """
    both([], out, section(text, ["%out: !pto.ptr<i32, gm>"]))
    assert out.tolist() == list(range(32))
