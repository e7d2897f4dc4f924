"""Activations, multiply-adds, the wide product, and the sorting helpers."""

import pytest

from language.vector_kernel import accepts, mask_of, mismatch, rejects, warns
from ptosim.language.catalogue import operations
from ptosim.language.micro import sfu
from tables import table

OPERATIONS = [operation for operation in operations() if operation.__module__ == sfu.__name__]


def test_every_instruction_of_the_room_is_there():
    names = {operation.name.removeprefix("pto.") for operation in OPERATIONS}
    assert names == set("vlrelu vprelu vexpdif vaxpy vmula vmull vbitsort vmrgsort4".split())


# --- activations ------------------------------------------------------------------------------------------------------


def vlrelu(element: str, scalar: str, mask: str | None = None) -> str:
    mask, v = mask or mask_of(element), f"V<{element}>"
    return f"%d = pto.vlrelu %v_{element}, %s_{scalar}, %{mask} : {v}, {scalar}, M<{mask}> -> {v}"


def test_vlrelu():
    accepts(vlrelu("f16", "f16"))
    accepts(vlrelu("f32", "f32"))
    rejects(vlrelu("f32", "f16").replace("%s_", "^%s_"), "scalar has type f16, but the elements of input need f32")
    warns(vlrelu("f32", "f32", "b16").replace("%b16", "^%b16"), mismatch("b16", "f32"))
    message = "{} is not among the documented element types of pto.vlrelu: f16, f32"
    warns(vlrelu("bf16", "bf16").replace("%v_", "^%v_"), message.format("bf16"))
    warns(vlrelu("i32", "i32").replace("%v_", "^%v_"), message.format("i32"))
    rejects(
        "%d = pto.vlrelu %v_f32, %s_f32, %b32 : V<f32>, f32, M<b32> -> ^V<i32>",
        "result has type !pto.vreg<64xi32>, but input has type !pto.vreg<64xf32>",
    )


def vprelu(element: str, alpha: str, mask: str | None = None) -> str:
    mask, v = mask or mask_of(element), f"V<{element}>"
    return f"%d = pto.vprelu %v_{element}, %w_{alpha}, %{mask} : {v}, V<{alpha}>, M<{mask}> -> {v}"


def test_vprelu():
    accepts(vprelu("f16", "f16"))
    accepts(vprelu("f32", "f32"))
    for element in ("i32", "bf16"):
        rejects(
            vprelu(element, element).replace("%v_", "^%v_"),
            f"pto.vprelu does not take elements of type {element}; it takes f16, f32",
        )
    rejects(
        vprelu("f32", "f16").replace("%w_", "^%w_"),
        "alpha has type !pto.vreg<128xf16>, but input has type !pto.vreg<64xf32>",
    )
    rejects(vprelu("f32", "f32", "b8").replace("%b8", "^%b8"), mismatch("b8", "f32"))


def vexpdif(element: str, part: str = '"ODD"', mask: str | None = None, result: str = "f32") -> str:
    mask, v = mask or mask_of(element), f"V<{element}>"
    return f"%d = pto.vexpdif %v_{element}, %w_{element}, %{mask}, {part} : {v}, {v}, M<{mask}> -> V<{result}>"


def test_vexpdif():
    accepts(vexpdif("f32"))
    accepts(vexpdif("f16", '"EVEN"'))
    accepts(vexpdif("f16", '"PART_ODD"'))
    rejects(vexpdif("f16", '^"P0"'), "unknown part 'P0'; known: EVEN, ODD", kind="syntax")
    rejects(
        vexpdif("f16", result="f16").replace("-> ", "-> ^"),
        "pto.vexpdif gives !pto.vreg<64xf32>, not !pto.vreg<128xf16>",
    )
    rejects(
        '%d = pto.vexpdif %v_f32, %w_f32, %b32, "ODD" : V<f32>, V<f32>, M<b32> -> ^f32',
        "result must be a vector register, not f32",
    )
    rejects(vexpdif("f16", mask="b32").replace("%b32", "^%b32"), mismatch("b32", "f16"))
    for element in ("bf16", "i32"):
        rejects(
            vexpdif(element).replace("%v_", "^%v_"),
            f"pto.vexpdif does not take elements of type {element}; it takes f16, f32",
        )
    rejects(
        '%d = pto.vexpdif %v_f16, ^%w_f32, %b16, "ODD" : V<f16>, V<f32>, M<b16> -> V<f32>',
        "max has type !pto.vreg<64xf32>, but input has type !pto.vreg<128xf16>",
    )


# --- multiply and add -------------------------------------------------------------------------------------------------


def vaxpy(element: str, scalar: str, mask: str | None = None) -> str:
    mask, v = mask or mask_of(element), f"V<{element}>"
    return f"%d = pto.vaxpy %v_{element}, %w_{element}, %s_{scalar}, %{mask} : {v}, {v}, {scalar}, M<{mask}> -> {v}"


def test_vaxpy():
    accepts(vaxpy("f16", "f16"))
    accepts(vaxpy("f32", "f32"))
    for element in ("bf16", "i32"):
        rejects(
            vaxpy(element, element).replace("%v_", "^%v_"),
            f"pto.vaxpy does not take elements of type {element}; it takes f16, f32",
        )
    rejects(vaxpy("f16", "f32").replace("%s_", "^%s_"), "scalar has type f32, but the elements of input need f16")
    rejects(vaxpy("f32", "f32", "b16").replace("%b16", "^%b16"), mismatch("b16", "f32"))
    rejects(
        "%d = pto.vaxpy %v_f32, ^%w_f16, %s_f32, %b32 : V<f32>, V<f16>, f32, M<b32> -> V<f32>",
        "addend has type !pto.vreg<128xf16>, but input has type !pto.vreg<64xf32>",
    )


def vmula(element: str, mask: str | None = None, result: str | None = None) -> str:
    mask, v = mask or mask_of(element), f"V<{element}>"
    operands = f"%u_{element}, %v_{element}, %w_{element}, %{mask}"
    return f"%d = pto.vmula {operands} : {v}, {v}, {v}, M<{mask}> -> V<{result or element}>"


@pytest.mark.parametrize("element", "i8 si16 ui32 f16 bf16 f32".split())
def test_vmula(element: str):
    accepts(vmula(element))


def vmull(element: str, mask: str | None = None, high: str | None = None) -> str:
    mask, v = mask or mask_of(element), f"V<{element}>"
    results = f"{v}, V<{high or element}>"
    return f"%l, %h = pto.vmull %v_{element}, %w_{element}, %{mask} : {v}, {v}, M<{mask}> -> {results}"


def test_vmull():
    for element in ("i32", "si32", "ui32"):
        accepts(vmull(element))
    for element in ("i16", "f32", "i64"):
        rejects(
            vmull(element).replace("%v_", "^%v_"),
            f"pto.vmull does not take elements of type {element}; it takes i32, si32, ui32",
        )
    rejects(
        vmull("i32", high="ui32").replace("V<ui32>", "^V<ui32>"),
        "high has type !pto.vreg<64xui32>, but lhs has type !pto.vreg<64xi32>",
    )
    rejects(vmull("i32", "b8").replace("%b8", "^%b8"), mismatch("b8", "i32"))


@pytest.mark.parametrize("name", ["vaddreluconv", "vmulconv"])
def test_unpublished_instructions_are_named_as_such(name: str):
    text = f"%d = ^pto.{name} %v_f32, %w_f32 : V<f32>, V<f32> -> V<f16>"
    message = f"'pto.{name}' is not simulated: what it computes is not published"
    rejects(text, message, kind="unsupported")


# --- sorting ----------------------------------------------------------------------------------------------------------


def vbitsort(source: str = "f32", indices: str = "ui32", repeat: str = "%s_index", type_: str = "index") -> str:
    pointers = f"!pto.ptr<ui32, ub>, !pto.ptr<{source}, ub>, !pto.ptr<{indices}, ub>"
    return f"pto.vbitsort %p_ui32_ub, %p_{source}_ub, %p_{indices}_ub, {repeat} : {pointers}, {type_}"


def test_vbitsort():
    accepts(vbitsort(), scope=False)
    accepts(vbitsort("f16", "i32"), scope=False)
    rejects("^" + vbitsort(), "pto.vbitsort must be outside 'pto.vecscope'")
    rejects(
        vbitsort(indices="i64").replace("%p_i64", "^%p_i64"),
        "indices points to i64; pto.vbitsort needs i32, si32, ui32, f32",
        scope=False,
    )
    for element in ("bf16", "i16", "i64", "f8E4M3FN"):
        message = f"source points to {element}; pto.vbitsort needs f16, f32"
        rejects(vbitsort(element).replace(f"%p_{element}", f"^%p_{element}"), message, scope=False)
    for element in ("i32", "si32", "ui32", "f32"):
        accepts(vbitsort("f16", element), scope=False)
    rejects(vbitsort(repeat="^%s_i64", type_="i64"), "repeat must be index, not i64", scope=False)


@pytest.mark.parametrize("repeat", [0, 1, 255])
def test_a_constant_repeat_fits_its_field(repeat: int):
    text = "%repeat = arith.constant {} : index\n" + vbitsort(repeat="{}%repeat")
    accepts(text.format(repeat, ""), scope=False)
    for other in (256, -1):
        rejects(text.format(other, "^"), f"repeat is {other}; it must be 0..255", scope=False)


def merge(element: str = "f32", last: str = "f32", count: str = "%s_i64", config: str = "%s_i64") -> str:
    pointer, other = f"!pto.ptr<{element}, ub>", f"!pto.ptr<{last}, ub>"
    lists = ", ".join([f"%p_{element}_ub"] * 4)
    types = ", ".join([pointer] * 4)
    return f"pto.vmrgsort4 {lists}, %p_{last}_ub, {count}, {config} : {types}, {other}, i64, i64"


def test_vmrgsort4():
    accepts(merge(), scope=False)
    accepts(merge("f16", "f16"), scope=False)
    rejects("^" + merge(), "pto.vmrgsort4 must be outside 'pto.vecscope'")
    rejects(
        merge(last="f16").replace("%p_f16", "^%p_f16"),
        "source3 points to f16, but dest points to f32",
        scope=False,
    )
    rejects(
        merge("i32", "i32").replace("%p_i32", "^%p_i32", 1),
        "dest points to i32; pto.vmrgsort4 needs f16, f32",
        scope=False,
    )
    rejects(
        merge().replace("%p_f32_ub, %s_i64", "^%p_f32_gm, %s_i64").replace("ub>, i64", "gm>, i64"),
        "source3 must point to ub, not gm",
        scope=False,
    )
    rejects(merge(config="^%s_i32").replace("i64, i64", "i64, i32"), "config must be i64, not i32", scope=False)


def constant_merge(count: int, config: int) -> str:
    constants = f"%count = arith.constant {count} : i64\n%config = arith.constant {config} : i64\n"
    return constants + merge(count="%count", config="%config")


EQUAL = 4 << 48 | 4 << 32 | 4 << 16 | 4


@table(
    "count, config",
    (1 << 48 | 1 << 32 | 1 << 16 | 1, 0x1F01),  # one repeat may stop early
    (7, 0x0101),  # or merge a single list
    (EQUAL, 0x0F02),  # two repeats of four equal lists
)
def test_constant_words_of_vmrgsort4(count: int, config: int):
    accepts(constant_merge(count, config), scope=False)
