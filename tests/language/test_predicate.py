"""Predicate instructions: granularities, words, scalar types, constant offsets, the element of a mask stream."""

import pytest

from language.room_example import example_loads_and_prints_stably
from language.vector_kernel import accepts, gets_a_scope, kernel, printed, read, rejects
from ptosim.language.catalogue import operations
from ptosim.language.micro import predicate, predicate_memory
from ptosim.language.operation import PTOOperation

ROOMS = (predicate.__name__, predicate_memory.__name__)
OPERATIONS = [operation for operation in operations() if operation.__module__ in ROOMS]
GRANULARITIES = ["b8", "b16", "b32"]
SIZED = "pset pge plt pltm pintlv pdintlv".split()
PATTERNS = (
    "PAT_ALL PAT_VL1 PAT_VL2 PAT_VL3 PAT_VL4 PAT_VL8 PAT_VL16 PAT_VL32 PAT_VL64 PAT_VL128 PAT_M3 PAT_M4 PAT_H PAT_Q "
    "PAT_ALLF"
).split()
PTR = "!pto.ptr<ui8, ub>"


def others(granularity: str) -> list[str]:
    return [other for other in GRANULARITIES if other != granularity]


def mask(granularity: str) -> str:
    return f"!pto.mask<{granularity}>"


def test_every_instruction_of_the_room_is_there():
    names = {operation.name.removeprefix("pto.") for operation in OPERATIONS}
    sized = {f"{name}_{granularity}" for name in SIZED for granularity in GRANULARITIES}
    plain = "ppack punpack pand por pxor pnot psel pbitcast plds pldi psts psti pstu"
    assert names == sized | set(plain.split())


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.name)
def test_the_example_loads_and_prints_stably(operation: type[PTOOperation]):
    source = {"pto.punpack": "b16", "pto.pbitcast": "b16"}.get(operation.name, operation.granularity or "b32")
    pointer = "!pto.ptr<ui32, ub>" if operation is predicate_memory.Pstu else PTR
    example_loads_and_prints_stably(operation, a=mask(source), b=mask(source), ub=pointer)


@pytest.mark.parametrize("operation", [op for op in OPERATIONS if op.granularity], ids=lambda operation: operation.name)
def test_the_documentation_names_the_granularity(operation: type[PTOOperation]):
    text = operation.__doc__ or ""
    assert operation.name in text and mask(operation.granularity or "") in text and "{" not in text


# --- generation -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["pset", "pge"])
@pytest.mark.parametrize("granularity", GRANULARITIES)
def test_patterns(name: str, granularity: str):
    for pattern in PATTERNS:
        accepts(f'%m = pto.{name}_{granularity} "{pattern}" : M<{granularity}>')
    known = ", ".join(PATTERNS)
    rejects(
        f'%m = pto.{name}_{granularity} ^"PAT_VL12" : M<{granularity}>',
        f"unknown pattern 'PAT_VL12'; known: {known}",
        kind="syntax",
    )
    for other in others(granularity):
        rejects(
            f'%m = pto.{name}_{granularity} "PAT_ALL" : ^M<{other}>',
            f"result of pto.{name}_{granularity} must be {mask(granularity)}, not {mask(other)}",
        )


@pytest.mark.parametrize("granularity", GRANULARITIES)
def test_an_open_mask_has_the_granularity_of_the_mnemonic(granularity: str):
    for body in (
        f'%m = pto.pset_{granularity} "PAT_ALL" : !pto.mask<G>',
        f"%m, %n = pto.plt_{granularity} %s_i32 : i32 -> !pto.mask<G>, i32",
        f"%m = pto.pltm_{granularity} %s_i16, %s_i32 : i16, i32 -> !pto.mask<G>",
    ):
        assert mask(granularity) in printed(read(kernel(body)))


@pytest.mark.parametrize("granularity", GRANULARITIES)
def test_tail_masks(granularity: str):
    for scalar in ("i32", "si32", "ui32"):
        accepts(f"%m, %n = pto.plt_{granularity} %s_{scalar} : {scalar} -> M<{granularity}>, {scalar}")
    for scalar in ("i16", "i64", "index", "f32"):
        rejects(
            f"%m, %n = pto.plt_{granularity} ^%s_{scalar} : {scalar} -> M<{granularity}>, {scalar}",
            f"count must be a 32-bit integer, not {scalar}",
        )
    rejects(
        f"%m, %n = pto.plt_{granularity} %s_i32 : i32 -> M<{granularity}>, ^i64",
        "the second result must have the type of count, i32, not i64",
    )
    for other in others(granularity):
        rejects(
            f"%m, %n = pto.plt_{granularity} %s_i32 : i32 -> ^M<{other}>, i32",
            f"result of pto.plt_{granularity} must be {mask(granularity)}, not {mask(other)}",
        )


@pytest.mark.parametrize("granularity", GRANULARITIES)
def test_loop_tail_masks(granularity: str):
    accepts(f"%m = pto.pltm_{granularity} %s_i16, %s_i32 : i16, i32 -> M<{granularity}>")
    rejects(f"%m = pto.pltm_{granularity} ^%s_i32, %s_i32 : i32, i32 -> M<{granularity}>", "loop must be i16, not i32")
    rejects(
        f"%m = pto.pltm_{granularity} %s_i16, ^%s_index : i16, index -> M<{granularity}>",
        "bound must be i32, not index",
    )
    for other in others(granularity):
        rejects(
            f"%m = pto.pltm_{granularity} %s_i16, %s_i32 : i16, i32 -> ^M<{other}>",
            f"result of pto.pltm_{granularity} must be {mask(granularity)}, not {mask(other)}",
        )


# --- algebra ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name, third", [("pand", "mask"), ("por", "mask"), ("pxor", "mask"), ("psel", "select")])
def test_logic_keeps_one_granularity(name: str, third: str):
    for granularity in GRANULARITIES:
        g = f"M<{granularity}>"
        accepts(f"%r = pto.{name} %{granularity}, %{granularity}, %{granularity} : {g}, {g}, {g} -> {g}")
    message = "{} has type !pto.mask<b16>, but lhs has type !pto.mask<b32>"
    g, h = "M<b32>", "M<b16>"
    rejects(f"%r = pto.{name} %b32, ^%b16, %b32 : {g}, {h}, {g} -> {g}", message.format("rhs"))
    rejects(f"%r = pto.{name} %b32, %b32, ^%b16 : {g}, {g}, {h} -> {g}", message.format(third))
    rejects(f"%r = pto.{name} %b32, %b32, %b32 : {g}, {g}, {g} -> ^{h}", message.format("result"))
    rejects(f"%r = pto.{name} ^%s_i1, %b32, %b32 : i1, {g}, {g} -> {g}", "lhs must be a mask, not i1")


def test_pnot_keeps_its_granularity():
    accepts("%r = pto.pnot %b16, %b16_in : M<b16>, M<b16> -> M<b16>")
    message = "{} has type !pto.mask<b8>, but input has type !pto.mask<b16>"
    rejects("%r = pto.pnot %b16, ^%b8 : M<b16>, M<b8> -> M<b16>", message.format("mask"))
    rejects("%r = pto.pnot %b16, %b16_in : M<b16>, M<b16> -> ^M<b8>", message.format("result"))


# --- rearrangement ----------------------------------------------------------------------------------------------------

STEPS = {"ppack": {("b32", "b16"), ("b16", "b8")}, "punpack": {("b8", "b16"), ("b16", "b32")}}


@pytest.mark.parametrize("name", STEPS)
@pytest.mark.parametrize("before", GRANULARITIES)
@pytest.mark.parametrize("after", GRANULARITIES)
def test_packing_keeps_the_granularity_or_makes_one_step(name: str, before: str, after: str):
    body = f'%r = pto.{name} %{before}, "LOWER" : M<{before}> -> M<{after}>'
    if before == after or (before, after) in STEPS[name]:
        accepts(body)
        accepts(body.replace("LOWER", "HIGHER"))
    else:
        rejects(
            body.replace("pto.", "^pto."),
            f"pto.{name} keeps the granularity or changes it from ...",
        )


@pytest.mark.parametrize("name", STEPS)
def test_packing_has_two_parts(name: str):
    rejects(
        f'%r = pto.{name} %b16, ^"UPPER" : M<b16> -> M<b16>',
        "unknown part 'UPPER'; known: LOWER, HIGHER",
        kind="syntax",
    )
    rejects(f'%r = pto.{name} ^%s_i32, "LOWER" : i32 -> M<b16>', "input must be a mask, not i32")


@pytest.mark.parametrize("name", ["pintlv", "pdintlv"])
@pytest.mark.parametrize("granularity", GRANULARITIES)
def test_interleaving_has_the_granularity_of_the_mnemonic(name: str, granularity: str):
    g, full = f"M<{granularity}>", f"pto.{name}_{granularity}"
    accepts(f"%l, %h = {full} %{granularity}, %{granularity} : {g}, {g} -> {g}, {g}")
    for other in others(granularity):
        o = f"M<{other}>"
        message = f"{{}} of {full} must be {mask(granularity)}, not {mask(other)}"
        rejects(f"%l, %h = {full} ^%{other}, %{granularity} : {o}, {g} -> {g}, {g}", message.format("lhs"))
        rejects(f"%l, %h = {full} %{granularity}, ^%{other} : {g}, {o} -> {g}, {g}", message.format("rhs"))
        rejects(f"%l, %h = {full} %{granularity}, %{granularity} : {g}, {g} -> ^{o}, {g}", message.format("low"))
        rejects(f"%l, %h = {full} %{granularity}, %{granularity} : {g}, {g} -> {g}, ^{o}", message.format("high"))


def test_a_mask_may_be_seen_in_any_granularity():
    for before in GRANULARITIES:
        for after in GRANULARITIES:
            accepts(f"%r = pto.pbitcast %{before} : M<{before}> -> M<{after}>")
    rejects("%r = pto.pbitcast ^%v_f32 : V<f32> -> M<b8>", "input must be a mask, not !pto.vreg<64xf32>")


# --- load and store ---------------------------------------------------------------------------------------------------

CONSTANT = "%c = arith.constant 8 : index\n"


def load(name: str, dist: str = '"NORM"', offset: str = "%c", result: str = "M<b8>", type_: str = "index") -> str:
    names = "%m, %n" if "," in result else "%m"
    return CONSTANT + f"{names} = pto.{name} %p_ui8_ub[{offset}], {dist} : {PTR}, {type_} -> {result}"


def store(name: str, dist: str = '"NORM"', offset: str = "%c", result: str = "", type_: str = "index") -> str:
    names, arrow = ("%n = ", f" -> {result}") if result else ("", "")
    return CONSTANT + f"{names}pto.{name} %b16, %p_ui8_ub[{offset}], {dist} : M<b16>, {PTR}, {type_}{arrow}"


@pytest.mark.parametrize("name", ["plds", "pldi"])
def test_mask_loads(name: str):
    for dist in ("NORM", "US", "DS"):
        for granularity in GRANULARITIES:
            accepts(load(name, f'"{dist}"', result=f"M<{granularity}>"))
    accepts(load(name, result=f"M<b8>, {PTR}"))
    rejects(load(name, '^"PK"'), "unknown dist 'PK'; known: NORM, US, DS", kind="syntax")
    rejects(load(name, result="^i32"), "result must be a mask, not i32")
    rejects(
        load(name, result="M<b8>, ^!pto.ptr<i8, ub>"),
        f"pto.{name} requires updated base result to match base type {PTR}, not !pto.ptr<i8, ub>",
    )
    gm = load(name).replace("_ub", "_gm").replace("ub>", "gm>").replace("%p_", "^%p_")
    rejects(gm, "source must point to ub, not gm")


@pytest.mark.parametrize("name", ["psts", "psti"])
def test_mask_stores(name: str):
    for dist in ("NORM", "PK"):
        accepts(store(name, f'"{dist}"'))
    accepts(store(name, result=PTR))
    rejects(store(name, '^"US"'), "unknown dist 'US'; known: NORM, PK", kind="syntax")
    rejects(
        store(name).replace("%b16", "^%v_f32").replace("M<b16>", "V<f32>"),
        "value must be a mask, not !pto.vreg<64xf32>",
    )
    rejects(
        store(name, result="^!pto.ptr<i8, ub>"),
        f"pto.{name} requires updated base result to match base type {PTR}, not !pto.ptr<i8, ub>",
    )
    gm = store(name).replace("_ub", "_gm").replace("ub>", "gm>").replace("%p_", "^%p_")
    rejects(gm, "dest must point to ub, not gm")


@pytest.mark.parametrize("element", ["i8", "ui16", "f32", "i64"])
def test_the_pointer_of_a_mask_may_have_any_elements(element: str):
    pointer = f"!pto.ptr<{element}, ub>"
    accepts(f'%m = pto.plds %p_{element}_ub[%s_index], "NORM" : {pointer}, index -> M<b8>')
    accepts(f'pto.psts %b8, %p_{element}_ub[%s_index], "NORM" : M<b8>, {pointer}, index')


def test_immediate_forms_take_constants():
    accepts(load("plds", offset="%s_index"))
    accepts(store("psts", offset="%s_index"))


# --- pstu -------------------------------------------------------------------------------------------------------------

INIT = "%a0 = pto.init_align : !pto.align\n"


def pstu(granularity: str, element: str, after: str | None = None, marks: dict[str, str] | None = None) -> str:
    at = {"mask": "", "dest": "", **(marks or {})}
    pointer, next_ = f"!pto.ptr<{element}, ub>", f"!pto.ptr<{after or element}, ub>"
    return (
        f"{INIT}%a1, %n = pto.pstu %a0, {at['mask']}%{granularity}, {at['dest']}%p_{element}_ub "
        f": !pto.align, M<{granularity}>, {pointer} -> !pto.align, {next_}\n"
    )


@pytest.mark.parametrize("granularity", ["b16", "b32"])
def test_pstu_takes_a_pointer_of_the_width_of_the_lanes(granularity: str):
    width = granularity.removeprefix("b")
    accepts(pstu(granularity, f"ui{width}"))
    accepts(pstu(granularity, f"i{width}"))
    for element in (f"si{width}", "i8", "f32", "ui64"):
        rejects(
            pstu(granularity, element, marks={"dest": "^"}),
            f"dest of a {mask(granularity)} must point to ui{width} or i{width}, not {element}",
        )


# --- place ------------------------------------------------------------------------------------------------------------


def test_predicates_belong_inside_a_vector_scope():
    gets_a_scope('%m = pto.pset_b8 "PAT_ALL" : M<b8>')
