"""What holds for every operation alike, and the kernels that a module offers."""

from language.source import accepts, errors, read, rejects
from ptosim.effects.names import CoreKind
from ptosim.language.load import text

RETURN = "{ return }"


def names(source: str) -> list[str]:
    return [kernel.name for kernel in read(source).kernels]


# --- entries ----------------------------------------------------------------------------------------------------------


def test_marked_functions_are_the_entries():
    for mark in ("pto.aicore", "pto.kernel", "pto.entry"):
        assert names(f"func.func @f() attributes {{{mark}}} {RETURN}\nfunc.func @g() {RETURN}") == ["f"]
    both = f"func.func @f() attributes {{pto.aicore}} {RETURN}\nfunc.func @g() attributes {{pto.kernel}} {RETURN}"
    assert names(both) == ["f", "g"]


def test_without_a_mark_every_public_function_with_a_body_is_an_entry():
    declared = f"func.func private @d()\nfunc.func private @h() {RETURN}\n"
    assert names(f"{declared}func.func @f() {RETURN}") == ["f"]
    assert names(f"{declared}func.func @f() {RETURN}\nfunc.func @g() {RETURN}") == ["f", "g"]
    assert names("func.func private @d()") == []


def test_the_signature_is_plain_text():
    (kernel,) = read("func.func @f(%x: !pto.ptr<f32>, %n: i32, %0: !pto.ptr<!pto.hif8, ub>) { return }").kernels
    assert kernel.signature == (("x", "!pto.ptr<f32, gm>"), ("n", "i32"), ("0", "!pto.ptr<!pto.hif8, ub>"))


def test_the_kind_follows_from_the_instructions():
    (kernel,) = read("pto.vecscope { }").kernels
    assert (kernel.kind, list(kernel.entries)) == ("vector", [CoreKind.AIV])
    (kernel,) = read("func.func @f() { return }").kernels
    assert kernel.kind == "vector"
    copy = (
        "pto.mte_gm_l1 %gm, %l1, %m nburst(%m, %m, %m)\n    : !pto.ptr<f32, gm>, !pto.ptr<f32, l1>, i64, i64, i64, i64"
    )
    (kernel,) = read(copy).kernels
    assert (kernel.kind, list(kernel.entries)) == ("cube", [CoreKind.AIC])
    (found,) = errors(f"{copy}\npto.vecscope {{ }}")
    assert found.message == "pto.vecscope is for the vector core, but the kernel also has pto.mte_gm_l1"
    assert found.line == 5


def test_the_kind_follows_through_calls():
    helper = "func.func private @h() { pto.section.cube { }\nreturn }\n"
    (kernel,) = read(helper + "func.func @f() { call @h() : () -> ()\nreturn }").kernels
    assert kernel.kind == "mixed"


def test_kernels_that_wait_for_other_blocks():
    assert [kernel.cross_block for kernel in read("pto.set_cross_block <PIPE_MTE3>, 0").kernels] == [True]
    assert [kernel.cross_block for kernel in read("pto.set_intra_block <PIPE_MTE3>, 0").kernels] == [False]
    helper = "func.func private @h() { pto.wait_cross_block <PIPE_MTE3>, 0\nreturn }\n"
    (kernel,) = read(helper + "func.func @f() { call @h() : () -> ()\nreturn }").kernels
    assert kernel.cross_block


# --- every operation alike --------------------------------------------------------------------------------------------


def test_pointers_point_where_the_instruction_reaches():
    load = "pto.vecscope {{ %x = pto.vlds ~{}[%i] : {} -> !pto.vreg<64xf32> }}"
    accepts(load.format("%ub", "!pto.ptr<f32, ub>").replace("~", ""))


def test_instructions_of_another_machine():
    cross = "~pto.set_cross_core <PIPE_MTE3>, 0"
    accepts(cross.replace("~", ""), target="a2a3")


def test_warnings_do_not_stop_a_module():
    module = read("pto.vecscope { %q = pto.get_block_idx }")
    assert [warning.severity for warning in module.warnings] == ["warning"]
    assert len(module.kernels) == 1


def test_the_generic_form_of_an_instruction():
    source = '"pto.set_flag"() {source = "PIPE_V", destination = #pto.pipe<PIPE_MTE3>, event = "EVENT_ID0"} : () -> ()'
    assert 'pto.set_flag["PIPE_V", "PIPE_MTE3", "EVENT_ID0"]' in accepts(source)
    rejects(
        '~"pto.set_flag"() {source = "PIPE_V"} : () -> ()',
        "pto.set_flag needs the attribute 'destination'",
        kind="syntax",
    )
    rejects('~"pto.vecscope"() : () -> ()', "pto.vecscope has 1 regions, not 0", kind="syntax")
    accepts('"pto.vecscope"() ({ }) : () -> ()')


def test_older_names_are_printed_as_the_current_ones():
    module = read('pto.pipe_barrier "PIPE_V"\npto.wait_intra_core <PIPE_V>, 3')
    assert "pto.barrier #pto.pipe<PIPE_V>" in text(module)
    assert "pto.wait_intra_block <PIPE_V>, 3" in text(module)
