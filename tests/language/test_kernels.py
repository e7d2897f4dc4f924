"""The kernels of a module: entries, pairs, callers, nested modules, launch parameters, and the machine it is for."""

import pytest

from language.source import accepts, read, rejects, running
from ptosim.diagnostics import Source
from ptosim.effects.names import CoreKind
from ptosim.language.analysis.kernel_entries import KernelProgram
from ptosim.loading import load_module
from tables import table

CUBE, VECTOR = (f"pto.kernel_kind = #pto.kernel_kind<{kind}>" for kind in ("cube", "vector"))
GM = "!pto.ptr<f32, gm>"


def function(name: str, arguments: str = "", attributes: str = "", body: str = "", visibility: str = "") -> str:
    attributes = f" attributes {{{attributes}}}" if attributes else ""
    return f"func.func {visibility}@{name}({arguments}){attributes} {{\n{body}\nreturn\n}}\n"


def private(name: str, attributes: str, arguments: str = "", body: str = "") -> str:
    return function(name, arguments, attributes, body, "private ")


def kernels(text: str) -> dict[str, KernelProgram]:
    """By name; those of what was written and of what runs are alike."""
    loaded = load_module(Source("kernel.pto", text))
    accepts(text)
    for written, runs in zip(loaded.written.kernels, loaded.kernels, strict=True):
        assert (written.name, written.kind, written.signature) == (runs.name, runs.kind, runs.signature)
    return {kernel.name: kernel for kernel in loaded.kernels}


# --- entries ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mark", ["pto.entry", "pto.kernel", "pto.aicore", "hacc.entry", "pto.entry, pto.kernel"])
def test_marked_functions_are_entries(mark: str):
    assert list(kernels(function("a", attributes=mark) + function("b"))) == ["a"]


def test_without_a_mark_those_are_entries_that_nobody_calls():
    text = function("a") + function("b", body="call @c() : () -> ()") + function("c")
    text += "func.func @gives() -> i32 {\n%c = arith.constant 1 : i32\nreturn %c : i32 }\n" + private("p", "pto.x")
    assert list(kernels(text)) == ["a", "b"]


def test_blanks_do_not_matter():
    assert list(kernels("func.func @f ( ) attributes { pto.entry , pto.kernel} { return }")) == ["f"]


def test_helpers_with_results_stand_anywhere():
    text = function("a", "%n: i32", "pto.entry", "%x:2 = call @h(%n) : (i32) -> (i32, i32)")
    text += "func.func private @h(%n: i32) -> (i32, i32) { return %n, %n : i32, i32 }\n"
    assert list(kernels(text)) == ["a"]


# --- pairs ------------------------------------------------------------------------------------------------------------


def test_a_pair_is_one_mixed_kernel():
    text = function("mm_aic", f"%x: {GM}, %n: i32", CUBE) + function("mm_aiv", f"%y: {GM}, %n: i32, %m: i64", VECTOR)
    (kernel,) = kernels(text).values()
    assert (kernel.name, kernel.kind) == ("mm", "mixed")
    assert {core: entry.symbol for core, entry in kernel.entries.items()} == {
        CoreKind.AIC: "mm_aic",
        CoreKind.AIV: "mm_aiv",
    }
    assert kernel.signature == (("y", GM), ("n", "i32"), ("m", "i64"))  # of the one that has more


@table(
    "second",
    function("mm_aiv", "%n: i64", VECTOR),  # other parameters
    function("mm_aiv", "%n: i32", CUBE),  # the same core
    function("nn_aiv", "%n: i32", VECTOR),  # another name
    function("mm_vector", "%n: i32", VECTOR),
)
def test_what_is_no_pair(second: str):
    found = kernels(function("mm_aic", "%n: i32", CUBE) + second)
    assert len(found) == 2 and "mixed" not in {kernel.kind for kernel in found.values()}


def test_a_name_that_is_taken_makes_no_pair():
    text = function("mm_aic", "", CUBE) + function("mm_aiv", "", VECTOR) + function("mm", "", VECTOR)
    assert list(kernels(text)) == ["mm_aic", "mm_aiv", "mm"]


def test_several_pairs():
    text = "".join(
        function(f"{name}_{end}", "", kind) for name in "ab" for end, kind in (("aic", CUBE), ("aiv", VECTOR))
    )
    assert {name: kernel.kind for name, kernel in kernels(text).items()} == {"a": "mixed", "b": "mixed"}


# --- launch parameters ------------------------------------------------------------------------------------------------

INDEX, COUNT, SUB = (f"%__pypto_spmd_{name}" for name in ("block_idx", "block_num", "subblock_idx"))


def test_launch_parameters_are_no_part_of_the_signature():
    text = function("f", f"%x: {GM}, {INDEX}: i32, {COUNT}: i32", VECTOR, f"%s = arith.addi {INDEX}, {COUNT} : i32")
    (kernel,) = kernels(text).values()
    assert kernel.signature == (("x", GM),)
    found = running(text)
    assert "pto.get_block_idx" in found and "pto.get_block_num" in found and f"{INDEX}: i32" not in found
    assert f"{INDEX}: i32" in accepts(text)  # the text keeps them


@pytest.mark.parametrize(("type_", "cast"), [("i32", "arith.trunci"), ("i64", None), ("index", "arith.index_cast")])
def test_launch_parameters_of_any_integer(type_: str, cast: str | None):
    text = function(
        "f", f"{SUB}: {type_} {{pto.x}}, %n: i32 {{pto.y}}", VECTOR, f"%s = arith.addi {SUB}, {SUB} : {type_}"
    )
    (kernel,) = kernels(text).values()
    assert kernel.signature == (("n", "i32"),)
    found = running(text)
    assert "pto.get_subblock_idx" in found
    assert cast is None or cast in found
    assert "pto.y" in found and "pto.x" not in found


def test_a_function_that_others_call_gets_them_from_its_callers():
    text = function("f", f"{INDEX}: i32", "pto.entry") + function(
        "g", "%n: i32", "pto.entry", "call @f(%n) : (i32) -> ()"
    )
    assert kernels(text)["f"].signature == (("__pypto_spmd_block_idx", "i32"),)
    assert "call @f(%n) : (i32) -> ()" in running(text)


def test_a_float_of_that_name_is_a_parameter_like_any_other():
    (kernel,) = kernels(function("f", f"{INDEX}: f32")).values()
    assert kernel.signature == (("__pypto_spmd_block_idx", "f32"),)


def test_the_programs_of_a_kernel_may_differ_in_launch_parameters():
    text = f"module {{\nmodule attributes {{{CUBE}}} {{\n" + function("k", f"%n: i32, {INDEX}: i32")
    text += f"}}\nmodule attributes {{{VECTOR}}} {{\n" + function("k", f"%n: i32, {INDEX}: i32, {SUB}: i32") + "}\n}\n"
    (kernel,) = kernels(text).values()
    assert kernel.kind == "mixed" and kernel.signature == (("n", "i32"),)


# --- callers ----------------------------------------------------------------------------------------------------------

BOTH = private("c", CUBE) + private("v", VECTOR)
CALLS = "call @c() : () -> ()\ncall @v() : () -> ()"


def test_a_caller_of_both_kinds_is_a_mixed_kernel():
    (kernel,) = kernels(BOTH + function("f", body=CALLS)).values()
    assert (kernel.name, kernel.kind) == ("f", "mixed")
    found = running(BOTH + function("f", body=CALLS))
    assert "pto.section.cube {\n      func.call @c()" in found
    assert "pto.section.vector {\n      func.call @v()" in found


def test_a_caller_of_one_kind_is_of_that_kind():
    text = BOTH + function("f", body="call @c() : () -> ()")
    (kernel,) = kernels(text).values()
    assert kernel.kind == "cube"
    assert "pto.section" not in running(text)


def test_a_call_inside_a_helper_is_sectioned_too():
    text = BOTH + function("f", body="call @h() : () -> ()\ncall @v() : () -> ()")
    text += private("h", "pto.x", body="call @c() : () -> ()")
    (kernel,) = kernels(text).values()
    assert kernel.kind == "mixed"
    assert running(text).count("pto.section.cube") == 1


# --- nested modules ---------------------------------------------------------------------------------------------------


def test_a_child_needs_no_kind_where_no_neighbour_has_one():
    children = 'module attributes {pto.backend = "vpto", pto.target_arch = "a5"} {\n' + function(
        "a", attributes="pto.entry"
    )
    children += "}\nmodule {\n" + function("b", attributes="pto.entry") + "}\n"
    assert list(kernels(f'module attributes {{pto.target_arch = "a5"}} {{\n{children}}}')) == ["a", "b"]


def test_a_declaration_stands_for_a_function_of_another_module():
    text = (
        'module {\nmodule {\nfunc.func public @h(%n: i32) -> i32 attributes {pto.visibility = "external"} {\n'
        "return %n : i32\n}\n}\nmodule {\nfunc.func private @h(i32) -> i32\n"
        + function("f", "%n: i32", "pto.entry", "%x = func.call @h(%n) : (i32) -> i32")
        + "}\n}"
    )
    assert list(kernels(text)) == ["f"]
    rejects(
        text.replace("func.call @h(%n) : (i32) -> i32", "func.call ~@h(%n) : (i32) -> i64"), "@h gives (i32)"
    )  # fmt: skip


# --- the machine ------------------------------------------------------------------------------------------------------


@table(
    "attributes, target",
    ('pto.target_arch = "a5"', "a5"),
    ('pto.target_arch = "A5"', "a5"),
    ('pto.target_arch = "a3"', "a2a3"),
    ('"pto.device-spec" = "Ascend910B1"', "a2a3"),
    ('"pto.device-spec" = "Ascend950PR"', "a5"),
    ('"pto.device-spec" = "Ascend910_9599"', "a5"),
    ('"pto.device-spec" = "Ascend950", pto.target_arch = "a3"', "a2a3"),
    ("", "a5"),
)
def test_the_machine_of_a_module(attributes: str, target: str):
    text = f"module attributes {{{attributes}}} {{\n{function('f')}}}"
    assert read(text).target == target
    assert read(text, target="a2").target == "a2a3"
    assert read(f"module {{\n{text}\n}}").target == target


TILE = "!pto.tile_buf<vec, 16x64xf32>"
LEFT, RIGHT = (f"!pto.tile_buf<{loc}, 16x16xf16, blayout={order}, slayout={box}>" for loc, order, box in (
    ("left", "row_major", "row_major"), ("right", "row_major", "col_major")
))  # fmt: skip
ACC = "!pto.tile_buf<acc, 16x16xf32, blayout=col_major, slayout=row_major, fractal=1024>"


def test_a_module_with_tiles_and_no_machine_is_for_a3():
    text = function("f", body=f"%t = pto.alloc_tile : {TILE}\npto.tabs ins(%t : {TILE}) outs(%t : {TILE})")
    assert read(text).target == "a2a3"
    assert read(text, target="a5").target == "a5"


FIFO = """{dir_mask = 1, slot_size = 1024} (SLOTSc2v_consumer_buf = %a : i32, v2c_consumer_buf = %z : i32)"""


def pair(cube: str, vector: str, slots: str = "") -> str:
    """Two functions with a FIFO from cube to vector."""
    fifo = FIFO.replace("SLOTS", slots)
    zero, argument = "%z = arith.constant 0 : i32\n", f"%x: {GM}"
    imported = f'%a = pto.import_reserved_buffer {{name = "s", peer_func = @{vector}}} -> i32\n'
    reserved = (
        '%a = pto.reserve_buffer {name = "s", size = 8192, location = #pto.address_space<vec>, auto = false, base = 0}'
        " -> i32\n"
    )
    return function(cube, argument, CUBE, f"{zero}{imported}pto.aic_initialize_pipe {fifo}") + function(
        vector, argument, VECTOR, f"{zero}{reserved}pto.aiv_initialize_pipe {fifo}"
    )


def test_a_fifo_without_slots_in_gm_is_one_of_a5():
    assert read(pair("k_aic", "k_aiv")).target == "a5"
    assert read(pair("k_aic", "k_aiv", f"gm_slot_buffer = %x : {GM}, ")).target == "a2a3"


@table(
    "cube, vector, name",
    ("k_aic", "k_aiv", "k"),
    ("cube_kernel", "vector_kernel", "kernel"),
    ("proj_cube_part", "proj_vector_part", "proj_part"),
    ("left", "right", "left"),
)
def test_functions_that_name_each_other_are_a_pair(cube: str, vector: str, name: str):
    (kernel,) = kernels(pair(cube, vector)).values()
    assert (kernel.name, kernel.kind, kernel.signature) == (name, "mixed", (("x", GM),))


# --- tiles of both kinds ----------------------------------------------------------------------------------------------

TILES = {"l": LEFT, "r": RIGHT, "a": ACC, "t": TILE}
ALLOCATED = "".join(f"%{name} = pto.alloc_tile : {type_}\n" for name, type_ in TILES.items())
PRODUCT = f"pto.tmatmul ins(%l, %r : {LEFT}, {RIGHT}) outs(%a : {ACC})\n"
ABSOLUTE = f"pto.tabs ins(%t : {TILE}) outs(%t : {TILE})\n"


def test_tiles_of_both_kinds_without_sections_are_a_mixed_kernel():
    (kernel,) = kernels(function("f", body=ALLOCATED + PRODUCT + ABSOLUTE + PRODUCT)).values()
    assert kernel.kind == "mixed"


def test_what_stands_outside_the_sections_of_a_mixed_kernel_is_of_its_kind():
    text = ALLOCATED + f"pto.section.cube {{\n{PRODUCT}}}\n{ABSOLUTE}"
    (kernel,) = kernels(function("f", body=text)).values()
    assert kernel.kind == "mixed"


def test_one_part_is_of_one_kind():
    loop = "%c = arith.constant 1 : index\nscf.for %i = %c to %c step %c {\n"
    rejects(
        function("f", body=ALLOCATED + loop + PRODUCT + "~" + ABSOLUTE + "}"),
        "pto.tabs is for the vector core, but the same part of the kernel also has pto.tmatmul",
    )
    mat = "!pto.tile_buf<mat, 16x16xf16, blayout=col_major, slayout=row_major>"
    moved = f"%m = pto.alloc_tile : {mat}\n{loop}pto.tmov ins(%m : {mat}) outs(%l : {LEFT})\n"
    rejects(
        function("f", body=f"{ALLOCATED}{moved}~pto.tmov ins(%t : {TILE}) outs(%t : {TILE})\n}}"),
        "pto.tmov is for the vector core, but the same part of the kernel also has pto.tmov for the cube core",
    )
    sections = f"pto.section.cube {{\n{PRODUCT}}}\npto.section.vector {{\n{ABSOLUTE}}}\n"
    assert kernels(function("f", body=ALLOCATED + loop + sections + "}"))["f"].kind == "mixed"
