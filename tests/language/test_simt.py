"""Workitems: launches, what their code may hold, and how each operation is written."""

from __future__ import annotations

import re

import pytest

from language.source import accepts, errors, prints, rejects, twins
from ptosim.diagnostics import Source
from ptosim.language.catalogue import SIMT, operations, room_of
from ptosim.language.load import text
from ptosim.language.operation import PTOOperation
from ptosim.language.simt.simt_math import CONVERSIONS, Convert
from ptosim.loading import load_module
from ptosim.report.instruction import page
from tables import table

GM, UB = "!pto.ptr<f32, gm>", "!pto.ptr<f32, ub>"
TYPES = {
    "p": "!pto.ptr<i32, ub>",
    "q": UB,
    "g": GM,
    "h": "!pto.ptr<f16, gm>",
    "l": "!pto.ptr<i64, gm>",
    "lu": "!pto.ptr<i64, ub>",
    "v2": "!pto.ptr<vector<2xf16>, gm>",
    "i": "index",
    "n": "i32",
    "m": "i64",
    "f": "f32",
    "x": "f16",
    "y": "bf16",
    "c": "i1",
    "w": "vector<2xf16>",
    "wb": "vector<2xbf16>",
    "z": "vector<2xf32>",
}


def body(text: str, attributes: str = "pto.simt_entry", rest: str = "") -> str:
    """A module with one function of workitems, its values named by their types."""
    arguments = ", ".join(f"%{name}: {type_}" for name, type_ in TYPES.items())
    return f"module {{\nfunc.func @body({arguments}) attributes {{{attributes}}} {{\n{text}\nreturn\n}}\n{rest}}}\n"


def kernel(text: str, callee: str = "%n: i32", attributes: str = "pto.simt_entry") -> str:
    """A kernel beside a function of workitems."""
    return (
        f"module {{\nfunc.func @body({callee}) attributes {{{attributes}}} {{ return }}\n"
        "func.func @helper() { return }\n"
        f"func.func @k(%g: {GM}, %n: i32, %m: i64, %i: index) attributes {{pto.kernel}} {{\n"
        "%c0 = arith.constant 0 : i32\n%c1 = arith.constant 1 : i32\n%c32 = arith.constant 32 : i32\n"
        f"%c64 = arith.constant 64 : i32\n{text}\nreturn\n}}\n}}\n"
    )


# --- every operation --------------------------------------------------------------------------------------------------

FORMS = """
%a = pto.get_tid_x : i32 ¦ %a = pto.get_tid_y : i32 ¦ %a = pto.get_tid_z : i32
%a = pto.get_block_dim_x : i32 ¦ %a = pto.get_block_dim_y : i32 ¦ %a = pto.get_block_dim_z : i32
%a = pto.get_grid_dim_x : i32 ¦ %a = pto.get_grid_dim_y : i32 ¦ %a = pto.get_grid_dim_z : i32
%a = pto.get_block_idx_x : i32 ¦ %a = pto.get_block_idx_y : i32 ¦ %a = pto.get_block_idx_z : i32
%a = pto.get_veccoreid : i32 ¦ %a = pto.get_clock32 : i32 ¦ %a = pto.get_clock64 : i64 ¦ %a = pto.get_laneid : i32
%a = pto.get_lanemask_eq : i32 ¦ %a = pto.get_lanemask_lt : i32 ¦ %a = pto.get_lanemask_le : i32
%a = pto.get_lanemask_gt : i32 ¦ %a = pto.get_lanemask_ge : i32
%a = pto.vote_all %c : i1 -> i1 ¦ %a = pto.vote_any %c : i1 -> i1 ¦ %a = pto.vote_uni %c : i1 -> i1
%a = pto.vote_ballot %c : i1 -> i32
%a = pto.shuffle_idx %n, %n : i32, i32 -> i32 ¦ %a = pto.shuffle_up %m, %n {width = 16 : i32} : i64, i32 -> i64
%a = pto.shuffle_down %x, %n {width = 32 : i32} : f16, i32 -> f16
%a = pto.shuffle_bfly %w, %n : vector<2xf16>, i32 -> vector<2xf16>
%a = pto.redux_add %n : i32 -> i32 ¦ %a = pto.redux_add %n unsigned : i32 -> i32 ¦ %a = pto.redux_add %x : f16 -> f16
%a = pto.redux_max %n signed : i32 -> i32 ¦ %a = pto.redux_min %f : f32 -> f32
%a = pto.load %q[%i] : !pto.ptr<f32, ub> -> f32 ¦ %a = pto.load %v2[%i] : !pto.ptr<vector<2xf16>, gm> -> vector<2xf16>
pto.store %f, %g[%i] : !pto.ptr<f32, gm>, f32
%a = pto.ldg %g[%i] : !pto.ptr<f32, gm> -> f32 ¦ %a = pto.ldg %g[%i] l1cache(uncache) : !pto.ptr<f32, gm> -> f32
%a = pto.ldg %v2[%i] l1cache(cache) l2cache(exprs) : !pto.ptr<vector<2xf16>, gm> -> vector<2xf16>
pto.stg %f, %g[%i] l2cache(wbhfv) : !pto.ptr<f32, gm>, f32
%a = pto.atomic_exch %p, %n : !pto.ptr<i32, ub>, i32 -> i32 ¦ %a = pto.atomic_add %l, %m : !pto.ptr<i64, gm>, i64 -> i64
%a = pto.atomic_sub %q, %f : !pto.ptr<f32, ub>, f32 -> f32
%a = pto.atomic_min %p, %n unsigned : !pto.ptr<i32, ub>, i32 -> i32
%a = pto.atomic_max %h, %x l2cache(napw) : !pto.ptr<f16, gm>, f16 -> f16
%a = pto.atomic_and %p, %n : !pto.ptr<i32, ub>, i32 -> i32 ¦ %a = pto.atomic_or %p, %n : !pto.ptr<i32, ub>, i32 -> i32
%a = pto.atomic_xor %p, %n l2cache(nmfv) signed : !pto.ptr<i32, ub>, i32 -> i32
%a = pto.atomic_cas %p, %n, %n : !pto.ptr<i32, ub>, i32 -> i32
%a = pto.atomic_add %v2, %w : !pto.ptr<vector<2xf16>, gm>, vector<2xf16> -> vector<2xf16>
%a = pto.prmt %n, %n, %n : i32, i32, i32 -> i32 ¦ %a = pto.mulhi %m, %m unsigned : i64, i64 -> i64
%a = pto.mul_i32toi64 %n, %n signed : i32, i32 -> i64
%a = pto.absf %wb : vector<2xbf16> -> vector<2xbf16> ¦ %a = pto.sqrt %w : vector<2xf16> -> vector<2xf16>
%a = pto.exp %f : f32 -> f32 ¦ %a = pto.log %x : f16 -> f16 ¦ %a = pto.pow %f, %f : f32, f32 -> f32
%a = pto.sin %f : f32 -> f32 ¦ %a = pto.cos %f : f32 -> f32 ¦ %a = pto.ceil %y : bf16 -> bf16
%a = pto.floor %f : f32 -> f32 ¦ %a = pto.rint %x : f16 -> f16 ¦ %a = pto.round %f : f32 -> f32
%a = pto.fmin %y, %y : bf16, bf16 -> bf16 ¦ %a = pto.fmax %wb, %wb : vector<2xbf16>, vector<2xbf16> -> vector<2xbf16>
%a = pto.fma %f, %f, %f : f32, f32, f32 -> f32
%a = pto.convert %f round(o) sat : f32 -> f16 ¦ %a = pto.convert %n round(z) nosat unsigned : i32 -> f32
pto.syncthreads ¦ pto.threadfence ¦ pto.threadfence_block ¦ pto.trap
%b = llvm.mlir.constant(4 : i32) : i32 ¦ %a = llvm.mlir.undef : vector<4xf32>
%a = llvm.inttoptr %m : i64 to !llvm.ptr<6> ¦ %a = llvm.bitcast %w : vector<2xf16> to i32
%a = llvm.extractelement %z[%n : i32] : vector<2xf32> ¦ %a = llvm.insertelement %f, %z[%n : i32] : vector<2xf32>
%a = arith.addf %z, %z : vector<2xf32> ¦ %a = arith.bitcast %w : vector<2xf16> to f32
%a = arith.constant dense<1.000000e+00> : vector<2xf16> ¦ %a = arith.truncf %z : vector<2xf32> to vector<2xf16>
%a = arith.cmpf olt, %z, %z : vector<2xf32> ¦ %a = arith.select %c, %z, %z : vector<2xf32>
"""


@pytest.mark.parametrize("form", [form for line in FORMS.strip().splitlines() for form in line.split(" ¦ ")])
def test_each_form_loads_and_prints_as_it_is_written(form: str):
    source = Source("kernel.pto", body(form))
    loaded = load_module(source)
    assert [warning.severity for warning in loaded.warnings] == []
    assert form.strip() in [line.strip() for line in text(loaded.written).splitlines()]


def test_private_memory():
    accepts(
        body(
            "%four = arith.constant 4 : i32\n%b = llvm.alloca %four x f32 : (i32) -> !llvm.ptr\n"
            "%e = llvm.getelementptr %b[%m] : (!llvm.ptr, i64) -> !llvm.ptr, f32\n"
            "%d = llvm.getelementptr %e[1] : (!llvm.ptr) -> !llvm.ptr, f32\n"
            "llvm.store %f, %d : f32, !llvm.ptr\nllvm.store volatile %z, %b : vector<2xf32>, !llvm.ptr\n"
            "%v = llvm.load %b : !llvm.ptr -> vector<4xf32>\n%u = llvm.load volatile %d : !llvm.ptr -> f32"
        )
    )


def test_kept_registers():
    accepts(
        body(
            "%k = arith.constant 1 : i32\n%a = pto.resume {slot = 0 : i64} : f32\n"
            "%b = pto.resume {slot = 2 : i64} : i64\n%s = arith.addf %a, %a : f32\n"
            "pto.keep %s {slot = 122 : i64} : f32\npto.keep %b {slot = 120 : i64} : i64\npto.syncthreads",
            "pto.simt_entry, pto.simt_max_threads = 256 : i32",
        )
    )


@pytest.mark.parametrize("pair", CONVERSIONS, ids=str)
def test_a_conversion_takes_exactly_its_words(pair: tuple[str, str]):
    row, (source, target) = CONVERSIONS[pair], pair
    typed = [f"!pto.{name}" if name.startswith(("hif8", "f4")) else name for name in (source, target)]
    signed = " signed" if row.signed else ""

    def written(rounding: str, saturation: str, sign: str = signed) -> str:
        function = f"func.func @b(%p: !pto.ptr<{typed[0]}, ub>, %i: index) attributes {{pto.simt_entry}} {{\n"
        function += f"%s = pto.load %p[%i] : !pto.ptr<{typed[0]}, ub> -> {typed[0]}\n"
        end = "return\n}\n"
        return f"{function}%d = pto.convert %s round({rounding}) {saturation}{sign} : {typed[0]} -> {typed[1]}\n{end}"

    for rounding in "rafczoh":
        if rounding in row.roundings:
            accepts(written(rounding, "sat"))
        else:
            assert "rounds by" in errors(written(rounding, "sat"))[0].message
    if row.saturates:
        assert errors(written(row.roundings[0], "nosat"))[0].message.endswith("saturates: write sat")
    else:
        accepts(written(row.roundings[0], "nosat"))
    assert len(errors(written(row.roundings[0], "sat", "" if row.signed else " signed"))) == 1


@pytest.mark.parametrize("pair", ["i32 -> i64", "f32 -> vector<2xf16>", "i64 -> f16", "vector<2xf32> -> i32"])
def test_other_pairs_do_not_convert(pair: str):
    source = pair.partition(" ")[0]
    value = {"i32": "n", "f32": "f", "i64": "m", "vector<2xf32>": "z"}[source]
    (found,) = errors(body(f"%d = pto.convert %{value} round(r) sat signed : {pair}"))
    assert found.message == f"pto.convert does not convert {pair.replace('->', 'to')}"


def test_generic_forms_take_pointer_offset_value():
    accepts(body('"pto.store"(%q, %i, %f) : (!pto.ptr<f32, ub>, index, f32) -> ()'))
    prints(
        body('"pto.stg"(%g, %i, %f) {l2cache = "napw"} : (!pto.ptr<f32, gm>, index, f32) -> ()'),
        "pto.stg %f, %g[%i] l2cache(napw) : !pto.ptr<f32, gm>, f32",
    )


@pytest.mark.parametrize("operation", [op for op in operations() if room_of(op) in SIMT], ids=lambda op: op.name)
def test_every_page_names_a5_alone(operation: type[PTOOperation]):
    assert operation.name in str(page(operation.name))
    a2 = operation.name in ("pto.load", "pto.store", "llvm.mlir.constant")
    assert operation.targets == (("a5", "a2a3") if a2 else ("a5",))


# --- launches ---------------------------------------------------------------------------------------------------------


def test_the_three_ways_to_launch():
    printed = accepts(
        kernel(
            "pto.simt_launch @body<<<%c32, %c1, %c1>>>(%n) : (i32) -> ()\n"
            "pto.store_vfsimt_info %c1, %c1, %c32 : i32, i32, i32\n"
            "func.call @body(%n) : (i32) -> ()\n"
            "pto.section.simt <<<32, 2, 1>>> {\n%t = pto.get_tid_x : i32\n}"
        )
    )
    assert "pto.section.simt<<<32, 2, 1>>> {" in printed
    assert re.search(r"pto.simt_launch @body<<<%c32, %c1, %c1>>>\(%n\) : \(i32\) -> \(\)", printed)


def test_a_function_of_workitems_is_no_kernel():
    loaded = load_module(Source("kernel.pto", kernel("").replace(" attributes {pto.kernel}", "")))
    assert [each.name for each in loaded.kernels] == ["helper", "k"]


@table(
    "text, message",
    (
        "pto.simt_launch ~@«helper|body»<<<%c1, %c1, %c1>>>(«|%n») : («|i32») -> ()",
        "@helper is no pto.simt_entry function",
    ),
    (
        "pto.simt_launch ~@«nobody|body»<<<%c1, %c1, %c1>>>(%n) : (i32) -> ()",
        "there is no function @nobody in this module",
    ),
    (
        "pto.simt_launch @body<<<%c1, %c1, %c1>>>(~%«m|n») : («i64|i32») -> ()",
        "argument 0 of @body has type i32, not i64",
    ),
    (
        "pto.simt_launch ~@body<<<%c1, %c1, %c1>>>(%n«, %n|») : (i32«, i32|») -> ()",
        "@body takes 1 arguments, not 2",
    ),
    ("pto.simt_launch @body<<<~%«m|c1», %c1, %c1>>>(%n) : (i32) -> ()", "dim_x must be i32, not i64"),
    (
        "pto.simt_launch @body<<<%c1, ~%«c0|c1», %c1>>>(%n) : (i32) -> ()",
        "dimension y is 0; each must be at least 1",
    ),
    (
        "~pto.simt_launch @body<<<%c64, %«c64|c1», %c1>>>(%n) : (i32) -> ()",
        "pto.simt_launch: 64 x 64 x 1 are 4096 workitems; at most 1024 workitems",
    ),
    (
        "~pto.store_vfsimt_info %c1, %c64, %«c64|c1» : i32, i32, i32",
        "pto.store_vfsimt_info: 64 x 64 x 1 are 4096 workitems; a launch has at most 2048",
    ),
    (
        "~pto.section.simt<<<2048, «2|1», 1>>> { }",
        "pto.section.simt: 2048 x 2 x 1 are 4096 workitems; a launch has at most 2048",
    ),
    ("pto.section.simt<<<32, ~«-1|1», 1>>> { }", "dim_y is -1; dimensions are not negative"),
    (
        "~pto.section.simt<<<32, «0|1», 1>>> { }",
        "pto.section.simt: dimension y is 0; each must be at least 1",
    ),
    (
        "pto.section.simt<<<32, 1, 1>>> { «~pto.section.simt<<<32, 1, 1>>> { }|» }",
        "pto.section.simt cannot stand in another one",
    ),
    (
        "«~pto.syncthreads|»",
        "pto.syncthreads must be inside a pto.simt_entry function or pto.section.simt",
    ),
    (
        "«%x = ~pto.ldg %g[%i] : !pto.ptr<f32, gm> -> f32|»",
        "pto.ldg must be inside a pto.simt_entry function or pto.section.simt",
    ),
    (
        "«%x = ~pto.get_tid_x : i32|»",
        "pto.get_tid_x must be inside a pto.simt_entry function or pto.section.simt",
    ),
    (
        "pto.section.simt<<<32, 1, 1>>> { «~pto.barrier PIPE_ALL|» }",
        "pto.barrier cannot stand in the code of workitems",
    ),
    (
        "pto.section.simt<<<32, 1, 1>>> { «~pto.simt_launch @body<<<%c1, %c1, %c1>>>(%n) : (i32) -> ()|» }",
        "pto.simt_launch cannot stand in the code of workitems",
    ),
    (
        "pto.section.simt<<<32, 1, 1>>> { func.call ~@«body(%n) : (i32)|helper() : ()» -> () }",
        "workitems cannot launch @body, a pto.simt_entry function",
    ),
    (
        "«pto.vecscope { ~pto.section.simt<<<32, 1, 1>>> { } }|»",
        "pto.section.simt must be outside 'pto.vecscope'",
    ),
)
def test_what_is_refused(text: str, message: str):
    twins(kernel(text), message)


@table(
    "attributes, message",
    (
        "pto.simt_entry, ~pto.simt_max_threads = «2049|2048» : i32",
        "pto.simt_max_threads is 2049; it must be 1 to 2048",
    ),
    (
        "pto.simt_entry, ~pto.simt_max_threads = 64 : «i64|i32»",
        "pto.simt_max_threads is a signless i32, such as pto.simt_max_threads = 128 : i32",
    ),
    ("pto.simt_entry, ~pto.simt_max_regs = «0|128» : i32", "pto.simt_max_regs is 0; it must be 1 to 128"),
    (
        "«|pto.simt_entry, »~pto.simt_max_threads = 64 : i32",
        "pto.simt_max_threads belongs to a pto.simt_entry function, which @body is not",
    ),
)
def test_attributes_of_functions(attributes: str, message: str):
    place = attributes.index("~")
    value = attributes[place + 1 :]
    name = value.partition(" = ")[0]
    marked = attributes.replace("~", "").replace(f"{name} = ", f"{name} = ~")
    twins(kernel("", attributes=marked), message)


@table(
    "text, message",
    ("%a = pto.redux_max ~%«m|f» : «i64|f32» -> «i64|f32»", "pto.redux_max takes i32, f16, f32, not i64"),
    (
        "%a = ~pto.redux_max %n «|signed» : i32 -> i32",
        "pto.redux_max of integers says signed or unsigned",
    ),
    (
        "%a = pto.redux_max %f ~«signed|» : f32 -> f32",
        "pto.redux_max of floats is neither signed nor unsigned",
    ),
    (
        "%a = pto.shuffle_up %n, %n {width = ~«8|16» : i32} : i32, i32 -> i32",
        "the width of a shuffle is 16 or 32, not 8",
    ),
    (
        "%a = pto.shuffle_up ~%«y|x», %n : «bf16|f16», i32 -> «bf16|f16»",
        "pto.shuffle_up takes i32, i64, f16, f32, vector<2xf16>, not bf16",
    ),
    ("%a = pto.vote_all ~%«n|c» : «i32|i1» -> i1", "condition must be i1, not i32"),
    (
        "%a = pto.atomic_add ~%«lu, %m|l, %m» : !pto.ptr<i64, «ub|gm»>, i64 -> i64",
        "pto.atomic_add of i64 does not work on ub",
    ),
    (
        "%a = pto.atomic_and ~%«q, %f|p, %n» : !pto.ptr<«f32|i32», ub>, «f32|i32» -> «f32|i32»",
        "pto.atomic_and works on i32, i64, not f32",
    ),
    (
        "%a = pto.atomic_add %q, %f ~«signed|» : !pto.ptr<f32, ub>, f32 -> f32",
        "pto.atomic_add of floats is neither signed nor unsigned",
    ),
    (
        "%a = pto.atomic_add %p, ~%«m|n» : !pto.ptr<i32, ub>, «i64|i32» -> i32",
        "value has type i64, but pointer leads to i32",
    ),
    (
        "%a = pto.absf ~%«y|x» : «bf16|f16» -> «bf16|f16»",
        "pto.absf takes f16, f32, vector<2xf16>, vector<2xbf16>, not bf16",
    ),
    (
        "%a = ~pto.mulhi %n, %n «|signed» : i32, i32 -> i32",
        "pto.mulhi says signed or unsigned behind its operands",
    ),
    (
        "%a = pto.mul_i32toi64 %n, %n signed : i32, i32 -> ~«i32|i64»",
        "pto.mul_i32toi64 of i32 gives i64, not i32",
    ),
    ("%a = pto.ldg ~%«q|g»[%i] : !pto.ptr<f32, «ub|gm»> -> f32", "pointer must point to gm, not ub"),
    (
        "%a = pto.load %q[%i] : !pto.ptr<f32, ub> -> ~«f16|f32»",
        "pto.load from !pto.ptr<f32, ub> gives f32, not f16",
    ),
    ("%a = pto.resume {slot = ~«123|0» : i64} : f32", "slot is 123; it must be 0 to 122"),
    (
        "%a = pto.resume {slot = ~«1|2» : i64} : i64",
        "slot is 1; a 64-bit value takes an even one up to 120",
    ),
    (
        "pto.keep ~%«i|n» {slot = 0 : i64} : «index|i32»",
        "pto.keep takes integers of at most 64 bits, f16, bf16 and f32, not index",
    ),
    (
        "~pto.keep %n {slot = 0 : i64} : i32\n«%a = arith.addi %n, %n : i32|»",
        "pto.keep must stand at the end, in one group; arith.addi follows it",
    ),
    (
        "pto.keep %m {slot = 0 : i64} : i64\npto.keep %n {slot = ~«1|2» : i64} : i32",
        "slot 1 is already taken by another pto.keep of the group",
    ),
    (
        "«%a = arith.addi %n, %n : i32|»\n%r = ~pto.resume {slot = 0 : i64} : i32",
        "pto.resume must stand at the beginning, in one group; arith.addi stands before it",
    ),
    (
        "scf.if %c {\n«~pto.keep %n {slot = 0 : i64} : i32|»\n}",
        "pto.keep must stand at the top level of a pto.simt_entry function or pto.section.simt",
    ),
    (
        "%k = arith.constant 1 : i32\n%b = llvm.alloca ~%«n|k» x f32 : (i32) -> !llvm.ptr",
        "the length of a private buffer is a positive constant",
    ),
    ("%a = llvm.bitcast %w : vector<2xf16> to «i64|i32»", None),
    (
        "%k = arith.constant «2|1» : i32\n%e = llvm.extractelement %z[~%k : i32] : vector<2xf32>",
        "index is 2; vector<2xf32> has elements 0 to 1",
    ),
)
def test_what_workitems_cannot_say(text: str, message: str | None):
    if message is None:
        text, message = (
            text.replace("llvm.bitcast", "~llvm.bitcast"),
            ("llvm.bitcast from vector<2xf16> to i64: both must have the same width"),
        )
    twins(body(text, "pto.simt_entry, pto.simt_max_threads = 256 : i32"), message)


def test_results_of_atomics_that_cannot_be_relied_on():
    used = "\n%u = arith.addf %a, %a : f16"
    loaded = load_module(Source("k.pto", body(f"%a = pto.atomic_add %h, %x : !pto.ptr<f16, gm>, f16 -> f16{used}")))
    assert [each.message for each in loaded.warnings] == [
        "the old value of pto.atomic_add on f16 is not reliable on the hardware"
    ]


def test_a_slot_that_so_many_workitems_do_not_have():
    loaded = load_module(Source("k.pto", body("pto.keep %n {slot = 28 : i64} : i32")))
    assert [each.message for each in loaded.warnings] == [
        "slot 28 does not exist for 1024 workitems, which have 28 slots"
    ]


def test_recursion():
    rejects(
        "module {\nfunc.func @a() attributes {pto.simt_entry} { call @b() : () -> ()\nreturn }\n"
        "func.func @b() { call ~@b() : () -> ()\nreturn }\n}\n",
        "recursion is not supported: @b -> @b",
    )


def test_another_machine():
    text = kernel("pto.section.simt<<<32, 1, 1>>> { }").replace(
        "module {", 'module attributes {pto.target_arch = "a3"} {'
    )
    assert {found.kind for found in errors(text)} == {"wrong-target"}


def test_cube_code_has_no_workitems():
    rejects(
        kernel("pto.section.cube { ~pto.section.simt<<<32, 1, 1>>> { } }"),
        "pto.section.simt is for the vector core, but this is code of the cube core",
    )


def test_packed_values_belong_to_workitems():
    rejects(
        kernel("%v = arith.constant dense<1.0> : vector<2xf16>\n%s = ~arith.addf %v, %v : vector<2xf16>"),
        "arith.addf on vector<2xf16>: packed values exist in the code of workitems only",
    )


def test_conversions_are_what_the_class_says():
    assert Convert.name == "pto.convert"
    assert len(CONVERSIONS) == 35


# --- persistent buffers -----------------------------------------------------------------------------------------------


def persistent(text: str) -> str:
    """A kernel with a persistent buffer of two i32, `%b`."""
    return (
        "module {\nfunc.func @k(%n: i32) attributes {pto.kernel} {\n%c2 = arith.constant 2 : i32\n"
        "%b = llvm.alloca %c2 x i32 {pto.persistent} : (i32) -> !llvm.ptr\n" + text + "\nreturn\n}\n}\n"
    )


def simt_section(text: str, sizes: str = "32, 1, 1") -> str:
    return f"pto.section.simt<<<{sizes}>>> {{\n%z = arith.constant 0 : i32\n%t = pto.get_tid_x : i32\n{text}\n}}\n"


FILL = simt_section("llvm.store %z, %b : i32, !llvm.ptr")
SECOND = "%e = llvm.getelementptr %b[1] : (!llvm.ptr) -> !llvm.ptr, i32\n"


@table(
    "text, message",
    (simt_section("%v = llvm.load %b : !llvm.ptr -> i32"), "loaded before it is stored"),
    (FILL + simt_section(f"{SECOND}%v = llvm.load %e : !llvm.ptr -> i32"), "element 1 of the persistent buffer"),
    (FILL + simt_section("", "64, 1, 1"), "other dimensions (64 x 1 x 1)"),
    (
        simt_section("%c = arith.cmpi eq, %t, %z : i32\nscf.if %c { llvm.store %z, %b : i32, !llvm.ptr }"),
        "not in a branch or loop",
    ),
    (
        simt_section(
            "%e = llvm.getelementptr %b[%t] : (!llvm.ptr, i32) -> !llvm.ptr, i32\nllvm.store %z, %e : i32, !llvm.ptr"
        ),
        "is a constant",
    ),
    (simt_section(SECOND.replace("[1]", "[2]") + "llvm.store %z, %e : i32, !llvm.ptr"), "bytes 8 to 11"),
    (simt_section(SECOND.replace("i32\n", "i8\n") + "llvm.store %z, %e : i32, !llvm.ptr"), "byte 1"),
    (
        "%c = arith.cmpi eq, %n, %c2 : i32\nscf.if %c {\n"
        + FILL
        + "}\n"
        + simt_section("%v = llvm.load %b : !llvm.ptr -> i32"),
        "comes before all others",
    ),
)
def test_rules_of_persistent_buffers(text: str, message: str):
    assert message in errors(persistent(text))[0].message


def test_persistent_buffers_that_are_right():
    accepts(persistent(FILL + simt_section("%v = llvm.load %b : !llvm.ptr -> i32")))
    loop = (
        "%s = arith.constant 0 : index\n%o = arith.constant 1 : index\n%h = arith.constant 2 : index\n"
        "scf.for %j = %s to %h step %o {\n%w = arith.index_cast %j : index to i64\n"
        "%e = llvm.getelementptr %b[%w] : (!llvm.ptr, i64) -> !llvm.ptr, i32\nllvm.store %z, %e : i32, !llvm.ptr\n"
        '} {pto.unroll = "full"}'
    )
    accepts(persistent(simt_section(loop)))


@pytest.mark.parametrize(("count", "is_right"), [(123, True), (124, False)])
def test_persistent_buffers_have_so_many_words(count: int, is_right: bool):
    stores = "".join(
        f"%e{n} = llvm.getelementptr %b[{n}] : (!llvm.ptr) -> !llvm.ptr, i32\nllvm.store %z, %e{n} : i32, !llvm.ptr\n"
        for n in range(count)
    )
    text = persistent(simt_section(stores)).replace("constant 2 : i32", "constant 200 : i32")
    found = [] if is_right else errors(text)
    assert is_right or "124 words" in found[0].message
    if is_right:
        accepts(text)
