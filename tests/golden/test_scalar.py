"""Scalar code, control flow, functions, modules and spellings."""

import math
import struct
from collections.abc import Callable

import numpy as np
import pytest

import ptosim
from golden.numbers import close, data, equal
from golden.program import module, outcome
from ptosim import PTOError
from tables import table

I64 = "!pto.ptr<i64, gm>"


def stored(body: str, count: int, kind: str = "i64", number: str = "i8") -> list[int]:
    """What a body stores into %y, element by element."""
    text = module(body + "\n    pto.barrier #pto.pipe<PIPE_ALL>", f"%y: !pto.ptr<{kind}, gm>")
    return outcome(text, np.full(count, -1, number))[0].tolist()


def wrapped(value: int, width: int) -> int:
    value %= 2**width
    return value - 2**width if value >= 2 ** (width - 1) else value


def truncated(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


INTEGER: dict[str, Callable[[int, int, int], int]] = {
    "addi": lambda a, b, w: a + b,
    "subi": lambda a, b, w: a - b,
    "muli": lambda a, b, w: a * b,
    "divsi": lambda a, b, w: truncated(a, b),
    "remsi": lambda a, b, w: a - truncated(a, b) * b,
    "divui": lambda a, b, w: (a % 2**w) // (b % 2**w),
    "remui": lambda a, b, w: (a % 2**w) % (b % 2**w),
    "floordivsi": lambda a, b, w: a // b,
    "ceildivsi": lambda a, b, w: -(-a // b),
    "ceildivui": lambda a, b, w: -(-(a % 2**w) // (b % 2**w)),
    "andi": lambda a, b, w: a & b,
    "ori": lambda a, b, w: a | b,
    "xori": lambda a, b, w: a ^ b,
    "maxsi": lambda a, b, w: max(a, b),
    "minsi": lambda a, b, w: min(a, b),
    "maxui": lambda a, b, w: max(a % 2**w, b % 2**w),
    "minui": lambda a, b, w: min(a % 2**w, b % 2**w),
}
VALUES = [(7, 2), (-7, 2), (7, -2), (-7, -2), (-1, 3), (0, 5), (100, 7), (-128, 3), (127, 127), (-2, 1)]


@pytest.mark.parametrize("kind, width", [("i8", 8), ("i16", 16), ("i32", 32), ("i64", 64), ("index", 64)])
def test_integer_operations(kind: str, width: int) -> None:
    """Operands come from memory so that nothing is folded."""
    lines, expected = [], []
    memory = "i64" if kind == "index" else kind
    for i, (a, b) in enumerate(VALUES):
        for side, place in (("a", 2 * i), ("b", 2 * i + 1)):
            lines.append(f"    %{side}{i}_m = pto.load_scalar %x[%c{place}] : !pto.ptr<{memory}, gm> -> {memory}")
            cast = (
                f"arith.index_cast %{side}{i}_m : i64 to index"
                if kind == "index"
                else f"arith.addi %{side}{i}_m, %zero : {kind}"
            )
            lines.append(f"    %{side}{i} = {cast}")
        for name, function in INTEGER.items():
            n = len(expected)
            lines.append(f"    %r{n} = arith.{name} %a{i}, %b{i} : {kind}")
            value = f"%r{n}"
            if kind == "index":
                lines.append(f"    %s{n} = arith.index_cast %r{n} : index to i64")
                value = f"%s{n}"
            lines.append(f"    pto.store_scalar {value}, %y[%c{n}] : !pto.ptr<{memory}, gm>, {memory}")
            expected.append(wrapped(function(a, b, width), width))
    body = (f"    %zero = arith.constant 0 : {memory}\n" if kind != "index" else "") + "\n".join(lines)
    text = module(
        body + "\n    pto.barrier #pto.pipe<PIPE_ALL>", f"%x: !pto.ptr<{memory}, gm>, %y: !pto.ptr<{memory}, gm>"
    )
    number = f"i{width // 8}"
    x = np.array([v for pair in VALUES for v in pair], number)
    assert outcome(text, x, np.zeros(len(expected), number))[1].tolist() == expected


def test_shifts_compares_and_casts() -> None:
    body = """    %a = arith.constant -5 : i32
    %b = arith.constant 3 : i32
    %r0 = arith.shli %a, %b : i32
    %r1 = arith.shrsi %a, %b : i32
    %r2 = arith.shrui %a, %b : i32
    %p0 = arith.cmpi slt, %a, %b : i32
    %p1 = arith.cmpi ult, %a, %b : i32
    %p2 = arith.cmpi sge, %a, %b : i32
    %p3 = arith.cmpi ne, %a, %b : i32
    %r3 = arith.extui %p0 : i1 to i32
    %r4 = arith.extui %p1 : i1 to i32
    %r5 = arith.extsi %p3 : i1 to i32
    %r6 = arith.select %p2, %a, %b : i32
    %n8 = arith.trunci %a : i32 to i8
    %r7 = arith.extsi %n8 : i8 to i32
    %r8 = arith.extui %n8 : i8 to i32
    %i = arith.index_cast %a : i32 to index
    %r9 = arith.index_cast %i : index to i32
    %u = arith.index_castui %a : i32 to index
    %q = arith.divui %u, %c2 : index
    %r10 = arith.index_cast %q : index to i32
    %r11 = arith.select %p0, %b, %a : i1, i32
    %lo, %hi = arith.mulsi_extended %a, %b : i32
    %ulo, %uhi = arith.mului_extended %a, %b : i32
    %sum, %carry = arith.addui_extended %a, %b : i32, i1
    %sum2, %carry2 = arith.addui_extended %a, %a : i32, i1
    %r15 = arith.extui %carry : i1 to i32
    %r16 = arith.extui %carry2 : i1 to i32
    %true = arith.constant true
    %no = arith.constant 0 : i1
    %r17 = arith.select %true, %b, %a : i32
    %r18 = arith.select %no, %b, %a : i32
    %h = arith.constant 0x1F : i32
"""
    names = [f"%r{i}" for i in range(12)] + ["%hi", "%uhi", "%sum", "%r15", "%r16", "%r17", "%r18", "%h"]
    for i, name in enumerate(names):
        body += f"    pto.store_scalar {name}, %y[%c{i}] : !pto.ptr<i32, gm>, i32\n"
    a, b = -5, 3
    expected = [a << b, a >> b, (a % 2**32) >> b, 1, 0, -1, b, -5, 251, -5, wrapped((a % 2**32) // 2, 32), b]
    expected += [(a * b) >> 32, wrapped(((a % 2**32) * b) >> 32, 32), a + b, 0, 1, 3, -5, 31]
    assert stored(body, len(names), "i32", "i4") == expected


def test_float_operations() -> None:
    body = """    %a = arith.constant 2.500000e+00 : f32
    %b = arith.constant -1.0 : f32
    %nan = arith.constant 0x7FC00000 : f32
    %inf = arith.constant 0xFF800000 : f32
    %nz = arith.constant 0x80000000 : f32
    %z = arith.constant 0.0 : f32
    %r0 = arith.addf %a, %b : f32
    %r1 = arith.subf %a, %b fastmath<fast> : f32
    %r2 = arith.mulf %a, %b : f32
    %r3 = arith.divf %a, %b : f32
    %r4 = arith.remf %a, %b : f32
    %r5 = arith.negf %a : f32
    %r6 = arith.maximumf %a, %b : f32
    %r7 = arith.minimumf %a, %nan : f32
    %r8 = arith.maxnumf %a, %nan : f32
    %r9 = arith.minnumf %nan, %b : f32
    %r10 = arith.maximumf %nz, %z : f32
    %r11 = arith.divf %a, %z : f32
    %i = arith.constant -7 : i32
    %u = arith.constant 7 : i32
    %r12 = arith.sitofp %i : i32 to f32
    %r13 = arith.uitofp %i : i32 to f32
    %k = arith.fptosi %a : f32 to i32
    %r14 = arith.sitofp %k : i32 to f32
    %h = arith.truncf %a : f32 to f16
    %third = arith.constant 0.1 : f16
    %hs = arith.addf %h, %third : f16
    %r15 = arith.extf %hs : f16 to f32
    %bits = arith.bitcast %a : f32 to i32
    %r16 = arith.bitcast %bits : i32 to f32
    %d = arith.extf %a : f32 to f64
    %d3 = arith.divf %d, %dd : f64
    %r17 = arith.truncf %d3 : f64 to f32
    %q = arith.constant 1.5 : bf16
    %q2 = arith.mulf %q, %q : bf16
    %r18 = arith.extf %q2 : bf16 to f32
""".replace("%d3 =", "%dd = arith.constant 3.0 : f64\n    %d3 =")
    for i in range(19):
        body += f"    pto.store_scalar %r{i}, %y[%c{i}] : !pto.ptr<f32, gm>, f32\n"
    out = np.array(stored(body, 19, "f32", "f4"))
    half = np.float16(2.5) + np.float16(0.1)
    expected = [
        1.5,
        3.5,
        -2.5,
        -2.5,
        0.5,
        -2.5,
        2.5,
        math.nan,
        2.5,
        -1,
        0.0,
        math.inf,
        -7,
        float(np.float32(2**32 - 7)),
        2,
    ]
    expected += [float(half), 2.5, float(np.float32(2.5 / 3)), 2.25]
    close(out, np.array(expected), 1e-7)
    assert not math.copysign(1, out[10]) < 0


CMPF = "false oeq ogt oge olt ole one ord ueq ugt uge ult ule une uno true".split()


def test_float_compares() -> None:
    lines, expected = [], []
    cases = [(1.0, 2.0), (2.0, 1.0), (1.0, 1.0), (math.nan, 1.0)]
    for i, (a, b) in enumerate(cases):
        for side, value in (("a", a), ("b", b)):
            word = struct.unpack("<I", struct.pack("<f", value))[0]
            lines.append(f"    %{side}{i} = arith.constant {word:#010x} : f32")
        for name in CMPF:
            n = len(expected)
            lines.append(f"    %p{n} = arith.cmpf {name}, %a{i}, %b{i} : f32")
            lines.append(f"    %w{n} = arith.extui %p{n} : i1 to i64")
            lines.append(f"    pto.store_scalar %w{n}, %y[%c{n}] : {I64}, i64")
            unordered = math.isnan(a) or math.isnan(b)
            ordered = {"eq": a == b, "gt": a > b, "ge": a >= b, "lt": a < b, "le": a <= b, "ne": a != b}
            if name in ("true", "false", "ord", "uno"):
                expected.append(int({"true": True, "false": False, "ord": not unordered, "uno": unordered}[name]))
            else:
                expected.append(
                    int(ordered[name[1:]] and not unordered if name[0] == "o" else ordered[name[1:]] or unordered)
                )
    assert stored("\n".join(lines), len(expected)) == expected


# --- control flow -----------------------------------------------------------------------------------------------------


def test_while_loop_counts_collatz_steps() -> None:
    body = f"""    %n = arith.constant 27 : i64
    %r:2 = scf.while (%v = %n, %k = %c0_i64) : (i64, i64) -> (i64, i64) {{
      %more = arith.cmpi ne, %v, %c1_i64 : i64
      scf.condition(%more) %v, %k : i64, i64
    }} do {{
    ^bb0(%v: i64, %k: i64):
      %odd = arith.andi %v, %c1_i64 : i64
      %is = arith.cmpi eq, %odd, %c1_i64 : i64
      %next = scf.if %is -> i64 {{
        %t = arith.muli %v, %c3_i64 : i64
        %u = arith.addi %t, %c1_i64 : i64
        scf.yield %u : i64
      }} else {{
        %h = arith.shrui %v, %c1_i64 : i64
        scf.yield %h : i64
      }}
      %k1 = arith.addi %k, %c1_i64 : i64
      scf.yield %next, %k1 : i64, i64
    }}
    pto.store_scalar %r#0, %y[%c0] : {I64}, i64
    pto.store_scalar %r#1, %y[%c1] : {I64}, i64"""
    assert stored(body, 2) == [1, 111]


def test_loops_of_every_shape() -> None:
    body = f"""    %r:2 = scf.for %i = %c0 to %c10 step %c3 iter_args(%a = %c0_i64, %b = %c1_i64) -> (i64, i64) {{
      %iw = arith.index_cast %i : index to i64
      %s = arith.addi %a, %iw : i64
      scf.yield %s, %a : i64, i64
    }}
    %z = scf.for %i = %c5 to %c5 step %c1 iter_args(%a = %c7_i64) -> i64 {{
      scf.yield %c9_i64 : i64
    }}
    %w = scf.for %i = %cm3_i32 to %c3_i32 step %c2_i32 iter_args(%a = %c0_i32) -> (i32) : i32 {{
      %s = arith.addi %a, %i : i32
      scf.yield %s : i32
    }}
    %w64 = arith.extsi %w : i32 to i64
    %_:1 = scf.for %i = %c0 to %c2 step %c1 iter_args(%a = %c0_i64) -> (i64) {{
      %_:1 = scf.for %j = %c0 to %c2 step %c1 iter_args(%b = %a) -> (i64) {{
        %n = arith.addi %b, %c1_i64 : i64
        scf.yield %n : i64
      }}
      scf.yield %_ : i64
    }}
    scf.for %i = %c0 to %c1 step %c1 {{
      pto.store_scalar %_#0, %y[%c4] : {I64}, i64
    }}
    pto.store_scalar %r#0, %y[%c0] : {I64}, i64
    pto.store_scalar %r#1, %y[%c1] : {I64}, i64
    pto.store_scalar %z, %y[%c2] : {I64}, i64
    pto.store_scalar %w64, %y[%c3] : {I64}, i64"""
    assert stored(body, 5) == [18, 9, 7, -3, 4]


def test_functions() -> None:
    """Helpers with several results, called before they are written, in both spellings; a declaration nobody calls."""
    text = f"""module @outer attributes {{"pto.target_arch" = "a5"}} {{
  func.func private @external(i64) -> i64
  func.func @kernel(%y: {I64} {{llvm.noalias}}, %n: i64) attributes {{pto.entry}} {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %s, %d = func.call @both(%n, %n) : (i64, i64) -> (i64, i64)
    %t = call @twice(%s) : (i64) -> i64
    func.call @put(%y, %c0, %t) : ({I64}, index, i64) -> ()
    call @put(%y, %c1, %d) : ({I64}, index, i64) -> ()
    pto.barrier #pto.pipe<PIPE_ALL>
    func.return
  }}
  func.func @both(%a: i64, %b: i64) -> (i64, i64) {{
    %s = arith.addi %a, %b : i64
    %d = arith.subi %a, %b : i64
    return %s, %d : i64, i64
  }}
  func.func @twice(%a: i64) -> i64 {{
    %s, %d = call @both(%a, %a) : (i64, i64) -> (i64, i64)
    return %s : i64
  }}
  func.func @put(%p: {I64}, %i: index, %v: i64) {{
    pto.store_scalar %v, %p[%i] : {I64}, i64
    return
  }}
}}
"""
    assert outcome(text, np.zeros(2, "i8"), 5)[0].tolist() == [20, 0]


def test_a_vector_helper_called_inside_of_a_scope() -> None:
    v, m, p = "!pto.vreg<64xf32>", "!pto.mask<b32>", "!pto.ptr<f32, ub>"
    text = f"""module attributes {{pto.target_arch = "a5"}} {{
  func.func @twice(%x: {v}, %m: {m}) -> {v} {{
    %r = pto.vadd %x, %x, %m : {v}, {v}, {m} -> {v}
    return %r : {v}
  }}
  func.func @kernel(%a: !pto.ptr<f32, gm>, %y: !pto.ptr<f32, gm>) attributes {{pto.aicore}} {{
    %c0 = arith.constant 0 : index
    %c0_i64 = arith.constant 0 : i64
    %c1_i64 = arith.constant 1 : i64
    %c256_i64 = arith.constant 256 : i64
    %ub = pto.castptr %c0_i64 : i64 -> {p}
    pto.mte_gm_ub %a, %ub, %c0_i64, %c256_i64 nburst(%c1_i64, %c256_i64, %c256_i64)
      : !pto.ptr<f32, gm>, {p}, i64, i64, i64, i64, i64
    pto.set_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>]
    pto.wait_flag[#pto.pipe<PIPE_MTE2>, #pto.pipe<PIPE_V>, #pto.event<EVENT_ID0>]
    pto.vecscope {{
      %all = pto.pset_b32 "PAT_ALL" : {m}
      %x = pto.vlds %ub[%c0] : {p} -> {v}
      %r = func.call @twice(%x, %all) : ({v}, {m}) -> {v}
      pto.vsts %r, %ub[%c0], %all : {v}, {p}, {m}
    }}
    pto.set_flag["PIPE_V", "PIPE_MTE3", "EVENT_ID0"]
    pto.wait_flag["PIPE_V", "PIPE_MTE3", "EVENT_ID0"]
    pto.mte_ub_gm %ub, %y, %c256_i64 nburst(%c1_i64, %c256_i64, %c256_i64) : {p}, !pto.ptr<f32, gm>, i64, i64, i64, i64
    pto.barrier <PIPE_ALL>
    return
  }}
}}
"""
    a = data("f32", 64)
    equal(outcome(text, a, np.zeros(64, "f4"))[1], 2 * a)


def test_the_caller_picks_one_of_several_kernels() -> None:
    function = """  func.func @{name}(%y: !pto.ptr<i64, gm>) attributes {{pto.kernel}} {{
    %c0 = arith.constant 0 : index
    %v = arith.constant {value} : i64
    pto.store_scalar %v, %y[%c0] : !pto.ptr<i64, gm>, i64
    pto.barrier #pto.pipe<PIPE_ALL>
    return
  }}
"""
    text = (
        'module attributes {pto.target_arch = "a5"} {\n'
        + function.format(name="one", value=1)
        + function.format(name="two", value=2)
        + "}\n"
    )
    loaded = ptosim.load(text)
    assert set(loaded.kernels) == {"one", "two"}
    with pytest.raises(PTOError, match="one"):
        loaded.kernel()
    y = np.zeros(1, "i8")
    loaded.kernel("two")(y)
    assert y[0] == 2


def test_generic_form_locations_and_comments() -> None:
    text = """// a comment first
#map = affine_map<(d0) -> (d0)>
module attributes {pto.target_arch = "a5", some.note = [1, "two", unit]} {
  func.func @kernel(%y: !pto.ptr<i64>) attributes {pto.aicore} {
    %c0 = arith.constant 0 : index loc("here")
    %c1 = arith.constant 1 : index
    %c4 = "arith.constant"() {value = 4 : index} : () -> index   // trailing
    %init = arith.constant 10 : i64
    %s = "scf.for"(%c0, %c4, %c1, %init) ({
    ^bb0(%i: index, %acc: i64):
      %w = arith.index_cast %i : index to i64
      %n = arith.addi %acc, %w overflow<nsw, nuw> : i64 loc("x.mlir":3:4)
      "scf.yield"(%n) : (i64) -> ()
    }) : (index, index, index, i64) -> i64
    %t = arith.constant true
    "scf.if"(%t) ({
      "pto.store_scalar"(%s, %y, %c0) : (i64, !pto.ptr<i64, gm>, index) -> ()
      "scf.yield"() : () -> ()
    }, {
    }) : (i1) -> ()
    pto.barrier #pto.pipe<PIPE_ALL> {note = 1 : i32}
    return
  } loc("end")
} loc(unknown)
"""
    text = text.replace("#map = affine_map<(d0) -> (d0)>\n", "")
    assert outcome(text, np.zeros(1, "i8"))[0][0] == 16


def test_bare_pointers_of_the_older_pages() -> None:
    text = """module attributes {pto.target_arch = "a5"} {
  func.func @kernel(%x: !pto.ptr, %y: !pto.ptr) attributes {pto.aicore} {
    %c0 = arith.constant 0 : index
    %c0_i64 = arith.constant 0 : i64
    %c1_i64 = arith.constant 1 : i64
    %c256_i64 = arith.constant 256 : i64
    %false = arith.constant false
    %ub = pto.castptr %c0_i64 : i64 -> !pto.ptr
    pto.copy_gm_to_ubuf %x, %ub, %c0_i64, %c1_i64, %c256_i64, %c0_i64, %c0_i64, %false, %c0_i64, %c256_i64, %c256_i64
      : !pto.ptr, !pto.ptr, i64 x5, i1, i64, i64, i64
    pto.set_flag["PIPE_MTE2", "PIPE_V", "EVENT_ID0"]
    pto.wait_flag["PIPE_MTE2", "PIPE_V", "EVENT_ID0"]
    scf.for %dummy = %c0 to %c1 step %c1 {
      %mask = pto.pset_b32 "PAT_ALL" : !pto.mask<G>
      %v = pto.vlds %ub[%c0] : !pto.ptr -> !pto.vreg<64xf32>
      %abs = pto.vabs %v, %mask : !pto.vreg<64xf32>, !pto.mask<b32> -> !pto.vreg<64xf32>
      pto.vsts %abs, %ub[%c0], %mask : !pto.vreg<64xf32>, !pto.ptr, !pto.mask<b32>
    } {llvm.loop.aivector_scope}
    pto.set_flag["PIPE_V", "PIPE_MTE3", "EVENT_ID0"]
    pto.wait_flag["PIPE_V", "PIPE_MTE3", "EVENT_ID0"]
    pto.copy_ubuf_to_gm %ub, %y, %c0_i64, %c1_i64, %c256_i64, %c0_i64, %c256_i64, %c256_i64 : !pto.ptr, !pto.ptr, i64 x6
    pto.barrier #pto.pipe
    return
  }
}
""".replace("    %c0_i64 =", "    %c1 = arith.constant 1 : index\n    %c0_i64 =", 1)
    a = data("f32", 64)
    equal(outcome(text, a, np.zeros(64, "f4"))[1], np.abs(a))


def test_pointers_and_integers() -> None:
    """castptr both ways, element reinterpretation, signed offsets, shortened types, scalar reads of UB."""
    body = """    %ub = pto.castptr %c64_i64 : i64 -> !pto.ptr<i32, vec>
    %back = pto.addptr %ub, %cm4 : <i32, ub> -> <i32, ub>
    %address = pto.castptr %back : !pto.ptr<i32, ub> -> i64
    pto.store_scalar %address, %y[%c0] : !pto.ptr<i64, gm>, i64
    %word = arith.constant -2 : i32
    pto.store_scalar %word, %ub[%cm4] : !pto.ptr<i32, ub>, i32
    %halves = pto.castptr %back : !pto.ptr<i32, ub> -> !pto.ptr<i16, ub>
    %h = pto.load_scalar %halves[%c1] : !pto.ptr<i16, ub> -> i16
    %hw = arith.extsi %h : i16 to i64
    pto.store_scalar %hw, %y[%c1] : !pto.ptr<i64, gm>, i64
    %bytes = pto.castptr %y : !pto.ptr<i64, gm> -> !pto.ptr<i8, gm>
    %b = arith.constant 7 : i8
    pto.store_scalar %b, %bytes[%c17] : !pto.ptr<i8, gm>, i8
    pto.st_dev %c5_i64, %y[%c3] : !pto.ptr<i64, gm>, i64
    %d = pto.ld_dev %y[%c3] : !pto.ptr<i64, gm> -> i64
    pto.store_scalar %d, %y[%c4] : !pto.ptr<i64, gm>, i64
    %i = pto.ptrtoint %y : !pto.ptr<i64, gm> -> i64
    %p = pto.inttoptr %i : i64 -> !pto.ptr<i64, gm>
    pto.store_scalar %c9_i64, %p[%c5] : !pto.ptr<i64, gm>, i64"""
    assert stored(body, 6) == [48, -1, wrapped((2**64 - 1) & ~0xFF00 | 7 << 8, 64), 5, 5, 9]


def test_signed_and_unsigned_scalars_pass_through_memory() -> None:
    body = """    %x = arith.constant -3 : i32
    %u = builtin.unrealized_conversion_cast %x : i32 to ui32
    %p = pto.castptr %y : !pto.ptr<i64, gm> -> !pto.ptr<ui32, gm>
    pto.store_scalar %u, %p[%c0] : !pto.ptr<ui32, gm>, ui32
    %v = pto.load_scalar %p[%c0] : !pto.ptr<ui32, gm> -> ui32
    pto.store_scalar %v, %p[%c1] : !pto.ptr<ui32, gm>, ui32"""
    assert stored(body, 1) == [-3 * 2**32 + (2**32 - 3)]


def test_control_register() -> None:
    body = """    %c = pto.get_ctrl : i64
    pto.store_scalar %c, %y[%c0] : !pto.ptr<i64, gm>, i64
    %s = pto.sbitset1 %c, %c60_i64 : i64, i64 -> i64
    %t = pto.sbitset0 %s, %c48_i64 : i64, i64 -> i64
    pto.set_ctrl %t : i64
    %d = pto.get_ctrl : i64
    pto.store_scalar %d, %y[%c1] : !pto.ptr<i64, gm>, i64
    pto.set_atomic_max
    pto.set_atomic_s32
    %e = pto.get_ctrl : i64
    pto.store_scalar %e, %y[%c2] : !pto.ptr<i64, gm>, i64
    pto.set_atomic_none
    %f = pto.get_ctrl : i64
    pto.store_scalar %f, %y[%c3] : !pto.ptr<i64, gm>, i64"""
    assert stored(body, 4) == [1 << 48, 1 << 60, 1 << 60 | 1 << 9 | 4 << 6, 1 << 60]


def test_block_queries_of_a_vector_launch() -> None:
    body = (
        "    %b = pto.get_block_idx\n    %at = arith.index_cast %b : i64 to index\n"
        "    %o = arith.muli %at, %c4 : index\n"
    )
    for i, name in enumerate(["block_idx", "block_num", "subblock_idx", "subblock_num"]):
        suffix = " : i64" if i % 2 else ""
        body += f"""    %q{i} = pto.get_{name}{suffix}
    %o{i} = arith.addi %o, %c{i} : index
    pto.store_scalar %q{i}, %y[%o{i}] : !pto.ptr<i64, gm>, i64
"""
    text = module(body + "    pto.barrier #pto.pipe<PIPE_ALL>", "%y: !pto.ptr<i64, gm>")
    assert outcome(text, np.zeros(8, "i8"), grid=2)[0].tolist() == [0, 2, 0, 1, 1, 2, 0, 1]


# --- arguments and errors ---------------------------------------------------------------------------------------------

ADD = """    %v = pto.load_scalar %x[%c0] : !pto.ptr<f32, gm> -> f32
    %r = arith.addf %v, %s : f32
    pto.store_scalar %r, %x[%c1] : !pto.ptr<f32, gm>, f32
    pto.barrier #pto.pipe<PIPE_ALL>"""
ADDING = module(ADD, "%x: !pto.ptr<f32, gm>, %s: f32, %n: i32")


def test_scalar_arguments() -> None:
    out = outcome(ADDING, np.array([1, 0], "f4"), 0.1, -1)[0]
    assert out[1] == np.float32(1) + np.float32(0.1)
    assert [(p.name, str(p.type)) for p in ptosim.load(ADDING).kernel().signature] == [
        ("x", "!pto.ptr<f32, gm>"),
        ("s", "f32"),
        ("n", "i32"),
    ]


@table(
    "arguments",
    (np.zeros(2, "f4"), 1.0),
    (np.zeros(2, "f4"), 1.0, 1, 2),
    (np.zeros(2, "f8"), 1.0, 1),
    (np.zeros((4, 4), "f4")[:, ::2], 1.0, 1),
    ([1.0, 2.0], 1.0, 1),
    (np.zeros(2, "f4"), "one", 1),
    (np.zeros(2, "f4"), 1.0, 2**40),
    (np.zeros(2, "f4"), 1.0, 1.5),
    (1.0, 1.0, 1),
)
@pytest.mark.parametrize("engine", ["reference", "native"])
def test_wrong_arguments(arguments: tuple[object, ...], engine: str) -> None:
    with pytest.raises(PTOError) as caught:
        ptosim.load(ADDING).kernel()(*arguments, engine=engine)
    assert caught.value.diagnostics[0].kind == "argument"


def test_a_read_only_argument() -> None:
    x = np.zeros(2, "f4")
    x.flags.writeable = False
    with pytest.raises(PTOError) as caught:
        ptosim.load(ADDING).kernel()(x, 1.0, 1)
    assert caught.value.diagnostics[0].kind == "argument"


@pytest.mark.parametrize("engine", ["reference", "native"])
@table(
    "line, kind",
    ("%q = arith.divsi %c1_i64, %n : i64", "arithmetic"),
    ("%q = arith.remui %c1_i64, %n : i64", "arithmetic"),
    ("%q = arith.ceildivsi %c1_i64, %n : i64", "arithmetic"),
    ("%q = arith.divsi %low, %minus : i64", "arithmetic"),
    ("pto.store_scalar %n, %y[%c1000] : !pto.ptr<i64, gm>, i64", "out-of-bounds"),
    ("%q = pto.load_scalar %y[%cm1] : !pto.ptr<i64, gm> -> i64", "out-of-bounds"),
    ("pto.store_scalar %n, %odd[%c0] : !pto.ptr<i64, ub>, i64", "misaligned"),
    ("%q = pto.load_scalar %high[%c0] : !pto.ptr<i64, ub> -> i64", "out-of-bounds"),
    ("pto.trap", "trap"),
)
def test_errors_of_scalar_code(line: str, kind: str, engine: str) -> None:
    body = f"""    %n = pto.load_scalar %y[%c0] : !pto.ptr<i64, gm> -> i64
    %low = pto.load_scalar %y[%c1] : !pto.ptr<i64, gm> -> i64
    %minus = pto.load_scalar %y[%c2] : !pto.ptr<i64, gm> -> i64
    %odd = pto.castptr %c4_i64 : i64 -> !pto.ptr<i64, ub>
    %high = pto.castptr %c262144_i64 : i64 -> !pto.ptr<i64, ub>
    {line}
    pto.barrier #pto.pipe<PIPE_ALL>"""
    text = module(body, "%y: !pto.ptr<i64, gm>")
    with pytest.raises(PTOError) as caught:
        ptosim.load(text).kernel()(np.array([0, -(2**63), -1, 0], "i8"), engine=engine)
    first = caught.value.diagnostics[0]
    assert (first.kind, first.line) == (kind, next(i for i, words in enumerate(text.split("\n"), 1) if line in words))


@pytest.mark.parametrize("engine", ["reference", "native"])
@pytest.mark.parametrize("loop", ["for", "while"])
def test_endless_loops_end(engine: str, loop: str) -> None:
    endless = {
        "for": "scf.for %i = %c0 to %c1000000000 step %c1 {\n    }",
        "while": """scf.while : () -> () {
      %t = arith.constant true
      scf.condition(%t)
    } do {
      scf.yield
    }""",
    }[loop]
    text = module(f"    {endless}\n    pto.barrier #pto.pipe<PIPE_ALL>", "%y: !pto.ptr<i64, gm>")
    with pytest.raises(PTOError) as caught:
        ptosim.load(text).kernel()(np.zeros(1, "i8"), engine=engine, max_steps=10000)
    assert caught.value.diagnostics[0].kind == "limit"


def test_the_target_can_be_named_at_load() -> None:
    text = module("    pto.barrier #pto.pipe<PIPE_ALL>", "%y: !pto.ptr<i64, gm>").replace('"a5"', '"a3"')
    ptosim.load(text, target="a5").kernel()(np.zeros(1, "i8"))
    with pytest.raises(PTOError):
        ptosim.load(text.replace('"a3"', '"a9"'))


def test_a_value_compared_with_itself_and_one_bit_numbers() -> None:
    """NaN is unordered with itself; the one-bit number true is -1 where signs count."""
    lines = [
        "    %f = arith.constant 0x7FC00000 : f32",
        "    %one = arith.constant true",
        "    %none = arith.constant false",
    ]
    compares = [f"arith.cmpf {name}, %f, %f : f32" for name in CMPF]
    compares += [f"arith.cmpi {name}, %one, %none : i1" for name in "eq ne slt sle sgt sge ult ule ugt uge".split()]
    for i, line in enumerate(compares):
        lines += [
            f"    %p{i} = {line}",
            f"    %w{i} = arith.extui %p{i} : i1 to i64",
            f"    pto.store_scalar %w{i}, %y[%c{i}] : {I64}, i64",
        ]
    expected = [int(name in ("uno", "true") or name[0] == "u") for name in CMPF] + [0, 1, 1, 1, 0, 0, 0, 0, 1, 1]
    assert stored("\n".join(lines), len(compares)) == expected


@pytest.mark.parametrize("space", ["gm", "ub"])
def test_offsets_count_modulo_64_bits(space: str) -> None:
    """An offset in an access goes as far as the same offset in addptr: 2^61 + 3 words of eight bytes are 3 words."""
    pointer = f"!pto.ptr<i64, {space}>"
    base = "%y" if space == "gm" else "%ub"
    body = f"""    %ub = pto.castptr %c0_i64 : i64 -> !pto.ptr<i64, ub>
    %far = arith.constant {2**61 + 3} : index
    pto.store_scalar %c77_i64, {base}[%c3] : {pointer}, i64
    %read = pto.load_scalar {base}[%far] : {pointer} -> i64
    pto.store_scalar %read, %y[%c0] : !pto.ptr<i64, gm>, i64
    %moved = pto.addptr {base}, %far : {pointer} -> {pointer}
    %again = pto.load_scalar %moved[%c0] : {pointer} -> i64
    pto.store_scalar %again, %y[%c1] : !pto.ptr<i64, gm>, i64
    pto.store_scalar %c55_i64, {base}[%far] : {pointer}, i64
    %last = pto.load_scalar {base}[%c3] : {pointer} -> i64
    pto.store_scalar %last, %y[%c2] : !pto.ptr<i64, gm>, i64
    pto.barrier #pto.pipe<PIPE_ALL>"""
    (y,) = outcome(module(body, "%y: !pto.ptr<i64, gm>"), np.zeros(4, "i8"), clean=False)
    assert y[:3].tolist() == [77, 77, 55]
