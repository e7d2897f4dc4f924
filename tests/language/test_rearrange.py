"""Interleaving, squeezing, packing and unpacking."""

import pytest

from language.vector_kernel import accepts, kernel, mask_of, mismatch, printed, read, register, rejects, warns
from ptosim.effects.element import ELEMENTS
from ptosim.language.catalogue import operations
from ptosim.language.micro import rearrange

OPERATIONS = [operation for operation in operations() if operation.__module__ == rearrange.__name__]


def test_every_instruction_of_the_room_is_there():
    names = {operation.name.removeprefix("pto.") for operation in OPERATIONS}
    assert names == set("vintlv vdintlv vintlvv2 vdintlvv2 vsqz vusqz vpack vsunpack vzunpack".split())


# --- interleaving -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("element", ["i8", "ui16", "f32", "bf16", "i64", "f8E4M3FN", "hif8", "f4E2M1x2", "bf16x2"])
@pytest.mark.parametrize("name", ["vintlv", "vdintlv"])
def test_interleaving_moves_any_element(name: str, element: str):
    v = f"V<{element}>"
    accepts(f"%l, %h = pto.{name} %v_{element}, %w_{element} : {v}, {v} -> {v}, {v}")
    accepts(f'%d = pto.{name}v2 %v_{element}, %w_{element}, "LOWER" : {v}, {v} -> {v}', target="a2a3")


@pytest.mark.parametrize("name", ["vintlv", "vdintlv"])
def test_interleaving_keeps_one_type(name: str):
    rejects(
        f"%l, %h = pto.{name} %v_f32, ^%w_i32 : V<f32>, V<i32> -> V<f32>, V<f32>",
        "rhs has type !pto.vreg<64xi32>, but lhs has type !pto.vreg<64xf32>",
    )
    rejects(
        f"%l, %h = pto.{name} %v_f32, %w_f32 : V<f32>, V<f32> -> V<f32>, ^V<f16>",
        "high has type !pto.vreg<128xf16>, but lhs has type !pto.vreg<64xf32>",
    )


@pytest.mark.parametrize("name", ["vintlvv2", "vdintlvv2"])
def test_half_an_interleaving_is_not_for_a5(name: str):
    text = f'%d = pto.{name} %v_f32, %w_f32, "HIGHER" : V<f32>, V<f32> -> V<f32>'
    warns(text.replace("pto.", "^pto."), f"pto.{name} is documented as not available on a5", kind="wrong-target")
    rejects(
        text.replace("%w_f32", "^%w_i32").replace("V<f32>, V<f32>", "V<f32>, V<i32>"),
        "rhs has type !pto.vreg<64xi32>, but lhs has type !pto.vreg<64xf32>",
    )
    rejects(text.replace('"HIGHER"', '^"UPPER"'), "unknown part 'UPPER'; known: LOWER, HIGHER", kind="syntax")


# --- squeezing --------------------------------------------------------------------------------------------------------


def squeeze(name: str, element: str, result: str | None = None, mask: str | None = None) -> str:
    mask = mask or mask_of(element)
    return f"%d = pto.{name} %v_{element}, %{mask} : V<{element}>, M<{mask}> -> V<{result or element}>"


@pytest.mark.parametrize("element", "i8 si16 ui32 f16 bf16 f32".split())
def test_vsqz(element: str):
    accepts(squeeze("vsqz", element))


@pytest.mark.parametrize("element", ["i64", "f8E5M2"])
def test_vsqz_has_no_64_bit_or_low_precision_form(element: str):
    rejects(squeeze("vsqz", element).replace("%v_", "^%v_"), f"pto.vsqz does not take elements of type {element}; ...")


@pytest.mark.parametrize("element", "i8 si8 i16 si16 i32 si32".split())
def test_vusqz(element: str):
    accepts(squeeze("vusqz", element))


@pytest.mark.parametrize("element", "ui8 ui16 ui32 f16 f32 bf16 i64".split())
def test_vusqz_counts_in_signed_integers(element: str):
    rejects(
        squeeze("vusqz", element).replace("%v_", "^%v_"),
        f"pto.vusqz does not take elements of type {element}; it takes i8, i16, i32, si8, si16, si32",
    )


@pytest.mark.parametrize("name", ["vsqz", "vusqz"])
def test_squeezing_keeps_type_and_mask_width(name: str):
    rejects(
        squeeze(name, "i32", "i16").replace("-> ", "-> ^"),
        "result has type !pto.vreg<128xi16>, but input has type !pto.vreg<64xi32>",
    )
    rejects(
        squeeze(name, "i32", mask="b16").replace("%b16", "^%b16"),
        mismatch("b16", "i32"),
    )


# --- packing ----------------------------------------------------------------------------------------------------------


def pack(element: str, result: str, part: str = '"LOWER"') -> str:
    return f"%d = pto.vpack %v_{element}, {part} : V<{element}> -> V<{result}>"


@pytest.mark.parametrize("source, result", [("32", "ui16"), ("16", "ui8")])
@pytest.mark.parametrize("sign", ["i", "si", "ui"])
def test_vpack(sign: str, source: str, result: str):
    accepts(pack(sign + source, result))
    accepts(pack(sign + source, result, '"HIGHER"'))
    for other in (result.replace("ui", "i"), result.replace("ui", "si"), "f16", "ui32"):
        rejects(
            pack(sign + source, other).replace("-> ", "-> ^"),
            f"pto.vpack of {register(sign + source)} gives {register(result)}, not {register(other)}",
        )


def test_vpack_rejects():
    taken = "i16, i32, si16, si32, ui16, ui32"
    for element in ("f32", "i8", "i64"):
        message = f"pto.vpack does not take elements of type {element}; it takes {taken}"
        rejects(pack(element, "ui16").replace("%v_", "^%v_"), message)
    rejects('%d = pto.vpack %v_i32, "LOWER" : V<i32> -> ^ui16', "result must be a vector register, not ui16")
    rejects(pack("i32", "ui16", '^"EVEN"'), "unknown part 'EVEN'; known: LOWER, HIGHER", kind="syntax")


def unpack(name: str, element: str, result: str, part: str = "%s_index") -> str:
    return f"%d = pto.{name} %v_{element}, {part} : V<{element}> -> V<{result}>"


@pytest.mark.parametrize("name", ["vsunpack", "vzunpack"])
def test_unpacking(name: str):
    for element, result in [("i16", "i32"), ("ui16", "ui32"), ("i8", "si16"), ("ui8", "i16")]:
        accepts(unpack(name, element, result))
    for element, result in [("i16", "i64"), ("i16", "i16"), ("i8", "i32"), ("i16", "f32")]:
        bits = 2 * ELEMENTS[element].bits
        rejects(
            unpack(name, element, result).replace("-> ", "-> ^"),
            f"pto.{name} of {register(element)} gives {bits}-bit integers, not {result}",
        )
    for element, result in [("f16", "f32"), ("i32", "i64")]:
        rejects(
            unpack(name, element, result).replace("%v_", "^%v_"),
            f"pto.{name} does not take elements of type {element}; it takes i8, i16, si8, si16, ui8, ui16",
        )
    rejects(unpack(name, "i16", "i32", "^%s_i32"), "part must be index, not i32")
    rejects(f"%d = pto.{name} %v_i16, %s_index : V<i16> -> ^i32", "result must be a vector register, not i32")


def test_the_part_of_an_unpacking_is_not_in_the_type_list():
    text = printed(read(kernel(unpack("vsunpack", "i16", "i32"))))
    assert " : !pto.vreg<128xi16> -> !pto.vreg<64xi32>" in text


@pytest.mark.parametrize("name", ["vsunpack", "vzunpack"])
@pytest.mark.parametrize("part", [0, 1])
def test_a_constant_part_is_0_or_1(name: str, part: int):
    constant = "%part = arith.constant {} : index\n"
    accepts(constant.format(part) + unpack(name, "i16", "i32", "%part"))
    for other in (2, -1):
        text = constant.format(other) + unpack(name, "i16", "i32", "^%part")
        rejects(text, f"part is {other}; it must be 0..1")


@pytest.mark.parametrize("name", ["vslide", "vshift", "vperm"])
def test_names_of_other_manuals_are_unknown(name: str):
    text = f"%d = ^pto.{name} %v_f32, %w_i32 : V<f32>, V<i32> -> V<f32>"
    rejects(text, f"unknown operation 'pto.{name}'...", kind="syntax")
