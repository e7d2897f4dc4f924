"""What the parser says about text that is none, or that asks for too much."""

import re

import pytest
from xdsl.dialects.builtin import UnregisteredAttr

from language.source import accepts, errors, prints, read, rejects
from ptosim.diagnostics import PTOError, Source
from ptosim.language.load import load
from ptosim.language.text.not_simulated import INSTEAD
from ptosim.language.text.parser import context
from tables import table


@table(
    "text",
    "",
    "\n",
    "// nothing\n",
    "module {",
    "module }",
    "module { func.func @f( }",
    "module { func.func @f() { return } } }",
    '"',
    "\x00",
    "%",
    "module {\n  \u202e\n}",
    "module attributes {a = } { }",
    "func.func @f(%a: !pto.ptr<f32, ub) { return }",
)
def test_broken_text_has_a_place(text: str):
    with pytest.raises(PTOError) as raised:
        load(Source("kernel.pto", text))
    (found,) = raised.value.diagnostics
    assert found.kind == "syntax"
    assert found.location is not None
    assert found.message


def test_a_generic_form_lists_the_types_of_its_operands():
    accepts('%x = "arith.addi"(%n, %n) : (i32, i32) -> i32')
    rejects('%x = "arith.addi"(%n, ~%m) : (i32, i32) -> i32', "%m has type i64, but is used as i32")


def test_a_place_that_is_not_closed():
    accepts('%x = arith.negf %f : f32 loc("a.py":1:2)')
    (found,) = errors('%x = arith.negf %f : f32 loc("a.py":1:2')
    assert (found.kind, found.message) == ("syntax", "expected ')'")


def test_resources_of_a_file_are_not_read():
    text = "module {\nfunc.func @f() { return }\n}\n"
    accepts(text)
    for resources in ("~{-# external_resources: {} #-}", "~{-# dialect_resources: {} #-}", "~{-# #-}"):
        message = "a kernel has no use for the resources of a file, {-# ... #-}"
        rejects(text + resources, message, kind="unsupported")


@pytest.mark.parametrize("name", ["tput", "tget", "tnotify", "twait", "ttest", "tbroadcast", "treduce"])
@pytest.mark.parametrize("dialect", ["", "pto."])
def test_communication_as_the_manual_has_it_is_unsupported(name: str, dialect: str):
    (found,) = errors(f"{dialect}{name} %gm, %n : (!pto.ptr<f32, gm>, i32)")
    assert found.kind == "unsupported"
    assert found.message.startswith(
        f"'{dialect}{name}' is a form of the manual that no assembler reads; write pto.comm.{name}("
    )


def test_other_levels_are_unsupported():
    why = "belongs to a part of PTO that is not simulated (regions for fusion)"
    rejects("~pto.fusion_region", f"'pto.fusion_region' {why}", kind="unsupported")


# --- words ------------------------------------------------------------------------------------------------------------


def aliased(instruction: str, *aliases: str) -> str:
    return "\n".join((*aliases, f"module {{\nfunc.func @f(%i: index) {{\n{instruction}\nreturn\n}}\n}}\n"))


def test_an_alias_of_an_attribute_is_a_word():
    aliases = ("#v = #pto.pipe<PIPE_V>", "#mte3 = #pto.pipe<PIPE_MTE3>", "#id = #pto.event<EVENT_ID5>")
    assert 'pto.set_flag["PIPE_V", "PIPE_MTE3", "EVENT_ID5"]' in accepts(
        aliased("pto.set_flag[#v, #mte3, #id]", *aliases)
    )
    assert "pto.barrier #pto.pipe<PIPE_V>" in accepts(aliased("pto.barrier #v", *aliases))
    space = "#global = #pto.address_space<gm>"
    assert "all #pto.address_space<gm>" in accepts(aliased("pto.cmo.cacheinvalid all #global", space))
    rejects(aliased("pto.barrier ~#w", *aliases), "#w is not defined", kind="syntax")
    rejects(aliased("pto.barrier ~#id", *aliases), f"unknown pipe 'EVENT_ID5'; known: {BARRIERS}", kind="syntax")


def test_an_alias_of_a_type_is_a_type():
    text = accepts(
        "!in = !pto.ptr<f32, ub>\nmodule {\nfunc.func @f(%p: !in, %i: index) {\n"
        "pto.vecscope { %x = pto.vlds %p[%i] : !in -> !pto.vreg<64xf32> }\nreturn\n}\n}"
    )
    assert "%p: !pto.ptr<f32, ub>" in text
    rejects("#a = 1\n~#a = 2\nmodule { }", "#a is already defined", kind="syntax")


BARRIERS = "PIPE_S, PIPE_V, PIPE_M, PIPE_MTE1, PIPE_MTE2, PIPE_MTE3, PIPE_FIX, PIPE_ALL"


def test_a_missing_word_is_reported_where_it_is_missing():
    rejects("pto.barrier~\n%x = arith.negf %f : f32", f"expected pipe: one of {BARRIERS}", kind="syntax")
    rejects("pto.barrier~\ncall @f() : () -> ()", f"expected pipe: one of {BARRIERS}", kind="syntax")
    rejects("pto.barrier~\npto.trap", f"expected pipe: one of {BARRIERS}", kind="syntax")
    accepts("pto.barrier PIPE_V\npto.trap")


def test_a_word_is_given_once():
    vlds = "pto.vecscope {{ %x = pto.vlds %ub[%i]{} : !pto.ptr<f32, ub> -> !pto.vreg<64xf32> }}"
    rejects(vlds.format(', "NORM" {dist = ~"BRC_B32"}'), "dist is given twice", kind="syntax")
    rejects(vlds.format(' {dist = "NORM", dist = ~"BRC_B32"}'), "dist is given twice", kind="syntax")
    vsts = "pto.vecscope {{ pto.vsts %v, %ub[%i]{} : !pto.vreg<64xf32>, !pto.ptr<f32, ub>, !pto.mask<b32> }}"
    rejects(vsts.format(', "NORM_B32", %k, ~"1PT_B32"'), "dist is given twice", kind="syntax")
    rejects(vsts.format(', %k, "NORM_B32" {dist = ~"NORM_B32"}'), "dist is given twice", kind="syntax")
    for once in (', "NORM_B32", %k', ', %k, "NORM_B32"', ', %k {dist = "NORM_B32"}'):
        accepts(vsts.format(once))
    rejects('pto.barrier <PIPE_V> {pipe = ~"PIPE_V"}', "pipe is given twice", kind="syntax")


@pytest.mark.parametrize("value", ["array<i999: 1>", "0x7FFFFFFFF : f32", "dense<(1,2> : tensor<2xcomplexa<i32>>"])
def test_attributes_that_xdsl_stumbles_over(value: str):
    (found,) = errors(f"module attributes {{x = {value}}} {{ func.func @f() {{ return }} }}")
    assert found.message.startswith("this attribute cannot be read: ")
    assert found.location is not None
    assert (found.location.line, found.location.column) == (1, 24)


def test_unknown_attributes_add_no_classes():
    """A process that reads many texts would keep each of them."""
    before = len(UnregisteredAttr.__subclasses__())
    for name in ("two.three", "pto.four<five>", "llvm.six<[7, 8]>"):
        text = f"module attributes {{x = #{name}}} {{ func.func @f() {{ return }} }}"
        attribute = read(text).parsed.module.attributes["x"]
        assert isinstance(attribute, UnregisteredAttr) and str(attribute) == f"#{name}"
    assert len(UnregisteredAttr.__subclasses__()) == before


def test_a_file_that_is_too_long():
    with pytest.raises(PTOError) as raised:
        load(Source("kernel.pto", "// " + "x" * 2_000_000))
    (found,) = raised.value.diagnostics
    assert (found.kind, found.message) == ("limit", "kernel.pto has more than 2000000 characters")


@pytest.mark.parametrize("bracket", ["scf.if %c {\n", "(", "[", "<", "{"])
def test_text_that_is_nested_too_deep(bracket: str):
    with pytest.raises(PTOError) as raised:
        load(Source("kernel.pto", bracket * 300))
    (found,) = raised.value.diagnostics
    assert (found.kind, found.message) == ("limit", "nested deeper than 200 levels")
    assert found.location is not None


@pytest.mark.parametrize("text", ["", "\n", "  // nothing here\n\n"])
def test_a_file_without_an_operation(text: str):
    with pytest.raises(PTOError) as raised:
        load(Source("kernel.pto", text))
    (found,) = raised.value.diagnostics
    assert (found.kind, found.message) == ("syntax", "kernel.pto is empty: expected a module or a function")


def test_words_of_other_instruction_sets_have_an_answer_that_exists():
    known = {op.name for op in context().loaded_ops}
    assert not known & set(INSTEAD)
    words = {word for answer in INSTEAD.values() for word in re.findall(r"\b(?:pto|arith|math)\.\w+", answer)}
    assert words <= known


NINES = "9" * 100_000


@table(
    "line",
    f"%c = arith.constant {NINES} : i64",
    f"%c = arith.constant -{NINES} : i64",
    f"%c = arith.constant 0x{NINES} : i64",
    f"%c = arith.constant {NINES} : f32",
    f"%c = arith.constant 1 : i{NINES}",
    f"%c:{NINES} = arith.constant 1 : i64",
    f"%c = arith.addi %a, %a#{NINES} : i64",
    f"pto.sync.set #pto.pipe<PIPE_V>, {NINES}",
    f'pto.get_buf "PIPE_V", {NINES}, 0',
    f"pto.vecscope {{ %v = pto.vbr %a : i64 -> !pto.vreg<{NINES}xi64> }}",
    f"scf.for %i = %a to {NINES} step %a {{ }}",
    ids=lambda line: line.split("9")[0],
)
def test_an_integer_of_100_000_digits(line: str):
    text = f"func.func @k(%a: i64) {{\n  {line}\n  return\n}}"
    with pytest.raises(PTOError) as raised:
        load(Source("kernel.pto", text))
    (found,) = raised.value.diagnostics
    assert (found.kind, found.line) == ("syntax", 2)
    assert re.fullmatch(r"an integer of 10000\d characters; no type holds more than 20 digits", found.message)


def test_integers_with_zeros_before_them_are_read():
    accepts(f"func.func @f() {{ %c = arith.constant {'0' * 80}7 : i64\nreturn }}")


def test_deep_nesting_below_the_limit_is_read():
    accepts("scf.if %c {\n" * 190 + "}\n" * 190)
    deep = "[" * 190 + "]" * 190
    accepts(f"module attributes {{x.y = {deep}}} {{ func.func @f() {{ return }} }}")


def test_brackets_in_strings_and_comments_do_not_count():
    accepts('pto.print "' + "{" * 300 + '"')
    accepts("// " + "{" * 300 + "\n")


@table(
    "body, printed",
    ("%x = arith.addi %n, %n {some.note} : i32", "%x = arith.addi %n, %n {some.note} : i32"),
    ('pto.barrier <PIPE_V> {note = "kept"}', 'pto.barrier #pto.pipe<PIPE_V> {note = "kept"}'),
    ("%_ = arith.addi %n, %n : i32", "%_ = arith.addi %n, %n : i32"),
    ("%0 = arith.addi %n, %n : i32\n%1 = arith.addi %0, %0 : i32", "%1 = arith.addi %0, %0 : i32"),
    ("%a-b.c$d = arith.addi %n, %n : i32", "%a-b.c$d = arith.addi %n, %n : i32"),
)
def test_what_is_kept(body: str, printed: str):
    prints(body, printed)


def test_names_may_be_used_again_in_other_regions():
    text = accepts("scf.if %c { %x = arith.negf %f : f32 } else { %x = arith.negf %f : f32 }\n%x = arith.negf %f : f32")
    assert text.count("%x = arith.negf %f : f32") == 3


def test_a_pack_of_results_gets_names_of_its_own():
    text = accepts(
        "%r_1 = arith.negf %f : f32\n%r:2 = arith.mulsi_extended %n, %n : i32\n%x = arith.addi %r#0, %r#1 : i32"
    )
    assert "%r, %r_2 = arith.mulsi_extended %n, %n : i32" in text
    assert "%x = arith.addi %r, %r_2 : i32" in text


def test_type_lists():
    copy = "pto.copy_ubuf_to_ubuf %ub, %ub, %m, %m, %m, %m, %m : !pto.ptr<f32, ub>, !pto.ptr<f32, ub>, {}"
    accepts(copy.format("i64 x5"))
    accepts(copy.format("i64, i64, i64, i64, i64"))
    rejects(copy.format("~i32, i64, i64, i64, i64"), "sid has type i64, but the type list says i32")
    found = errors(copy.format("i64 x5").replace("%m, %m, %m", "%m, %i, %m", 1))
    assert [error.message for error in found] == [
        "n_burst must be i64, not index",
        "n_burst has type index, but the type list says i64",
    ]


def test_all_errors_of_the_verifier_are_reported_in_order():
    found = errors(
        "%x = pto.load_scalar %l1[%i] : !pto.ptr<f32, l1> -> f32\n"
        "%y = arith.addi %n, %m : i32\n"
        "pto.vecscope { pto.vecscope { } }\n"
        "call @nowhere() : () -> ()\n"
    )
    assert [error.line for error in found] == [3, 4, 5, 6]
    with pytest.raises(PTOError) as raised:
        read("%x = pto.load_scalar %l1[%i] : !pto.ptr<f32, l1> -> f32\n%y = arith.negf %nowhere : f32")
    assert [error.kind for error in raised.value.diagnostics] == ["syntax"]


def test_an_error_quotes_its_line():
    with pytest.raises(PTOError) as raised:
        read("%x = arith.addi %n, %m : i32")
    assert str(raised.value) == (
        "kernel.pto:3:21: error: invalid: rhs has type i64, but i32 is written\n"
        "    3 | %x = arith.addi %n, %m : i32\n"
        "      |                     ^^"
    )
