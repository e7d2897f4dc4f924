"""Which scopes vector code gets that stands outside of them, what stays outside, and what cannot."""

import textwrap

from language.source import accepts, errors, running
from language.vector_kernel import gets_a_scope
from tables import table

V, M, P = "!pto.vreg<64xf32>", "!pto.mask<b32>", "!pto.ptr<f32, ub>"
FLAG = 'pto.set_flag["PIPE_V", "PIPE_MTE3", "EVENT_ID0"]'
ALL = f'%all = pto.pset_b32 "PAT_ALL" : {M}'


def load(name: str, at: str = "%i") -> str:
    return f"{name} = pto.vlds %ub[{at}] : {P} -> {V}"


def store(name: str, at: str = "%i", mask: str = "%k") -> str:
    return f"pto.vsts {name}, %ub[{at}], {mask} : {V}, {P}, {M}"


def body(*lines: str) -> str:
    """What runs, the lines of the function alone."""
    inside = running("\n".join(lines)).split("{\n", 2)[2].rpartition("    func.return")[0]
    return textwrap.dedent(inside)


def text(*lines: str) -> str:
    return "".join(f"{line}\n" for line in lines)


def scope(*lines: str) -> str:
    return text("pto.vecscope {", *(f"  {line}" for line in lines), "}").rstrip()


# --- what shares a scope ----------------------------------------------------------------------------------------------


def test_neighbours_share_a_scope():
    lines = load("%a"), "%j = arith.addi %i, %i : index", load("%e", "%j"), store("%e")
    assert body(*lines) == text(scope(*lines))


@table(
    "boundary",
    FLAG,
    "pto.barrier #pto.pipe<PIPE_V>",
    "pto.mte_ub_gm %ub, %gm, %m nburst(%m, %m, %m) : !pto.ptr<f32, ub>, !pto.ptr<f32, gm>, i64, i64, i64, i64",
    "%x = pto.load_scalar %ub[%i] : !pto.ptr<f32, ub> -> f32",
    "pto.store_scalar %f, %ub[%i] : !pto.ptr<f32, ub>, f32",
    "%x = pto.get_block_idx",
    "%x = pto.get_ctrl : i64",
    'pto.get_buf "PIPE_V", 0, 0',
    "pto.trap",
    ids=lambda boundary: boundary.partition("pto.")[2].split()[0],
)
def test_a_boundary_ends_it(boundary: str):
    found = body(load("%a"), store("%a"), boundary, load("%e"), store("%e"))
    assert found == text(scope(load("%a"), store("%a")), boundary, scope(load("%e"), store("%e")))


def test_calls_and_scalar_loops_end_it():
    loop = "scf.for %j = %i to %i step %i {\n}"
    assert body(load("%a"), store("%a"), loop, load("%e")).count("pto.vecscope") == 2
    called = running(
        f"func.func private @g()\nfunc.func @f(%ub: {P}, %i: index) {{\n"
        f"{load('%a')}\ncall @g() : () -> ()\n{load('%e')}\nreturn }}"
    )
    assert called.count("pto.vecscope") == 2


def test_written_scopes_stay_as_they_are():
    written = scope(load("%a"))
    assert body(load("%e"), written, load("%g")) == text(scope(load("%e")), written, scope(load("%g")))
    marked = "scf.for %j = %i to %i step %i {\n  %a = " + load("%a").partition("= ")[2]
    marked += "\n} {llvm.loop.aivector_scope}"
    assert body(marked) == text(marked)


def test_a_loop_of_vector_code_is_in_the_scope():
    inner = f"  {load('%a', '%j')}"
    loop = ("scf.for %j = %i to %i step %i {", inner, "}")
    assert body(*loop) == text(scope(*loop))
    # two loops with nothing between them share one
    assert body(*loop, *loop).count("pto.vecscope") == 1


def test_a_scalar_loop_inside_belongs_to_it():
    loop = "scf.for %j = %i to %i step %i {", "  scf.for %l = %i to %i step %i {", "  }", f"  {load('%a')}", "}"
    assert body(*loop) == text(scope(*loop))


def test_scopes_go_into_a_loop_with_a_boundary():
    loop = "scf.for %j = %i to %i step %i {", f"  {load('%a', '%j')}", f"  {FLAG}", "}"
    inside = textwrap.indent(scope(load("%a", "%j")), "  ")
    assert body(*loop) == text(loop[0], inside, f"  {FLAG}", "}")


def test_scopes_go_into_branches_and_whiles():
    branch = "scf.if %c {", f"  {load('%a')}", "} else {", f"  {FLAG}", f"  {load('%e')}", "}"
    assert body(*branch).count("pto.vecscope") == 2
    loop = (
        "%r = scf.while (%x = %n) : (i32) -> i32 {",
        load("%a"),
        "scf.condition(%c) %x : i32",
        "} do {",
        "^bb0(%y: i32):",
        FLAG,
        load("%e"),
        "scf.yield %y : i32",
        "}",
    )
    assert body(*loop).count("pto.vecscope") == 2


def test_sections_get_their_own():
    found = body("pto.section.vector {", load("%a"), "}", "pto.section.cube {", "pto.barrier #pto.pipe<PIPE_M>", "}")
    assert found == text(
        "pto.section.vector {", textwrap.indent(scope(load("%a")), "  "), "}", "pto.section.cube {",
        "  pto.barrier #pto.pipe<PIPE_M>", "}",
    )  # fmt: skip


def test_barriers_of_memory_and_special_registers_are_vector_code():
    lines = 'pto.sprclr "AR"', 'pto.mem_bar "VST_VLD"', load("%a")
    assert body(*lines) == text(scope(*lines))
    assert body("%x = arith.select %c, %v, %v : " + V).startswith("pto.vecscope {")
    accepts("\n".join(lines))


# --- scalars ----------------------------------------------------------------------------------------------------------


def test_scalars_that_are_needed_outside_stay_before():
    one, two, three = (f"%{name} = arith.addi %i, %{of} : index" for name, of in (("j", "i"), ("l", "j"), ("o", "i")))
    behind = "pto.store_scalar %f, %ub[%l] : !pto.ptr<f32, ub>, f32"
    found = body(load("%a"), one, three, two, load("%e", "%j"), load("%q", "%o"), behind)
    assert found == text(one, two, scope(load("%a"), three, load("%e", "%j"), load("%q", "%o")), behind)


def test_a_loop_whose_count_is_needed_outside_has_scopes_inside():
    """The loop itself cannot be in a scope, because a scope has no results."""
    found = body(
        "%r = scf.for %j = %i to %i step %i iter_args(%x = %i) -> (index) {",
        load("%a", "%j"),
        "scf.yield %j : index",
        "}",
        "pto.store_scalar %f, %ub[%r] : !pto.ptr<f32, ub>, f32",
    )
    assert found.startswith("%r = scf.for") and found.count("pto.vecscope") == 1


# --- masks and registers made of scalars ------------------------------------------------------------------------------


def test_masks_are_made_again_in_every_scope():
    narrow = f"%few = pto.pnot %all, %all : {M}, {M} -> {M}"
    first, second = store("%v", mask="%all"), store("%v", mask="%few")
    found = body(ALL, narrow, first, FLAG, second)
    assert found == text(scope(ALL, first), FLAG, scope(ALL, narrow, second))


def test_what_is_made_on_the_way_is_not_kept():
    narrow = f"%few = pto.pnot %all, %all : {M}, {M} -> {M}"
    last = store("%v", mask="%few")
    assert body(ALL, FLAG, narrow, FLAG, last) == text(FLAG, FLAG, scope(ALL, narrow, last))


def test_registers_made_of_scalars_too():
    half = f"%half = pto.vbr %f : f32 -> {V}"
    copied = f"%q = pto.vdup %f, %all : f32, {M} -> {V}"
    found = body(ALL, half, copied, FLAG, "scf.if %c {", FLAG, store("%half", mask="%all"), store("%q"), "}")
    assert found.startswith(FLAG)  # nothing is left to do before it
    assert found.count("pto.vbr") == found.count("pto.vdup") == found.count("pto.pset_b32") == 1


def test_what_is_used_nowhere_stays():
    assert body(ALL, FLAG) == text(scope(ALL), FLAG)


# --- what cannot leave ------------------------------------------------------------------------------------------------


def test_a_register_cannot_cross_a_boundary():
    (found,) = errors("\n".join((load("%a"), FLAG, store("%a"))))
    assert found.message == (
        "%a cannot leave its vector scope, which begins in line 3: pto.vsts in line 5 uses it, "
        "and pto.set_flag in line 4 is not part of the scope"
    )
    assert found.hint == "store %a to UB and load it again where it is used, or move pto.set_flag out of these lines"
    assert found.location is not None and (found.location.line, found.location.column) == (3, 6)
    accepts("\n".join((load("%a"), store("%a"), FLAG)))


def test_what_to_wrap():
    read = "%x = pto.load_scalar %ub[%i] : !pto.ptr<f32, ub> -> f32"
    (found,) = errors("\n".join((load("%a"), read, store("%a"))))
    assert found.hint == "wrap lines 3 to 5 in pto.vecscope { ... }"
    accepts("pto.vecscope {\n" + "\n".join((load("%a"), read, store("%a"))) + "\n}")


def test_a_register_cannot_be_carried_around_a_boundary():
    loop = f"%r = scf.for %j = %i to %i step %i iter_args(%x = %v) -> ({V}) {{"
    (found,) = errors("\n".join((loop, FLAG, load("%a"), f"scf.yield %a : {V}", "}")))
    assert found.message.startswith("%a cannot leave its vector scope, which begins in line 5: scf.yield in line 6")
    assert "pto.set_flag in line 4" in found.message
    accepts("\n".join((loop, load("%a"), f"scf.yield %a : {V}", "}")))


def test_a_register_cannot_enter_a_written_scope():
    (found,) = errors("\n".join((load("%a"), "pto.vecscope {", store("%a"), "}")))
    assert "pto.vsts in line 5 uses it, and pto.vecscope in line 4 is not part of the scope" in found.message


def test_a_count_that_an_instruction_gives_cannot_leave():
    lines = f"%p, %rest = pto.plt_b32 %n : i32 -> {M}, i32", "%x = arith.addi %rest, %n : i32"
    accepts("\n".join((*lines, store("%v", mask="%p"))))
    (found,) = errors("\n".join((*lines, "pto.store_scalar %x, %ub_i32[%i] : !pto.ptr<i32, ub>, i32")))
    assert found.message.startswith("%rest cannot leave its vector scope")


def test_every_escape_is_reported():
    found = errors("\n".join((load("%a"), load("%e"), FLAG, store("%a"), store("%e"))))
    assert [(each.line, each.message.split()[0]) for each in found] == [(3, "%a"), (4, "%e")]


# --- helpers ----------------------------------------------------------------------------------------------------------

HELPER = f"func.func private @h(%ub: {P}, %i: index) {{\n{load('%a')}\nreturn }}\n"
CALL = f"call @h(%ub, %i) : ({P}, index) -> ()"


def caller(*lines: str) -> str:
    return (
        HELPER + f"func.func @f(%ub: {P}, %i: index) attributes {{pto.kernel}} {{\n" + "\n".join(lines) + "\nreturn }"
    )


def test_a_helper_gets_its_own_scope_where_its_caller_has_none():
    found = running(caller(CALL))
    assert found.index("pto.vecscope") < found.index("@f")
    assert found.count("pto.vecscope") == 1


def test_a_helper_in_a_scope_relies_on_it():
    found = running(caller(f"pto.vecscope {{\n{CALL}\n}}"))
    assert found.index("pto.vecscope") > found.index("@f")
    assert found.count("pto.vecscope") == 1


def test_a_helper_for_both_exists_twice():
    found = running(caller(f"pto.vecscope {{\n{CALL}\n}}", CALL))
    assert found.count("func.func private @h") == 2
    assert "func.func private @h_outside(" in found
    inside, outside = (found.index(f"func.call {name}(") for name in ("@h", "@h_outside"))
    assert inside < outside
    assert found.count("pto.vecscope") == 2


def test_what_gives_a_register_is_called_inside():
    text = f"func.func private @g() -> {V}\nfunc.func @f() {{\n{{}}\nreturn }}".replace("{}", "CALL")
    call = f"%x = func.call @g() : () -> {V}"
    (found,) = errors(text.replace("CALL", call))
    assert found.message == f"@g gives {V}, so it must be called inside a vector scope"
    assert found.hint == "wrap the vector instructions in pto.vecscope { ... }"
    accepts(text.replace("CALL", f"pto.vecscope {{ {call} }}"))


@table(
    "instruction",
    f"%x = pto.vlds %p_f32_ub[%s_index] : {P} -> V<f32>",
    "pto.vsts %v_f32, %p_f32_ub[%s_index], %b32",
    f"%x = pto.vgather2 %p_f32_ub, %v_i32, %b32 : {P}, V<i32>, M<b32> -> V<f32>",
    "pto.vscatter %v_f32, %p_f32_ub, %v_i32, %b32",
    f"%x = pto.vldas %p_f32_ub : {P} -> !pto.align",
    "%x = pto.init_align : !pto.align",
    '%x = pto.pset_b32 "PAT_ALL" : M<b32>',
    f'%x = pto.plds %p_f32_ub[%s_index], "NORM" : {P}, index -> M<b32>',
)
def test_vector_instructions_outside_get_a_scope(instruction: str):
    gets_a_scope(instruction)
