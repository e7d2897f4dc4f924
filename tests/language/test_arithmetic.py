"""Element-wise instructions: what they accept, what they warn of, what they reject, and where the diagnostic points."""

import pytest

from language.vector_kernel import accepts, example_kernel, kernel, mismatch, printed, read, register, rejects, warns
from ptosim.effects.element import ELEMENTS
from ptosim.language.catalogue import operations
from ptosim.language.micro import arithmetic, arithmetic_integer
from tables import table

ROOM = (arithmetic.__name__, arithmetic_integer.__name__)
OPERATIONS = [operation for operation in operations() if operation.__module__ in ROOM]

UNARY = "vabs vneg vexp vln vsqrt vrelu".split()
BINARY = "vadd vsub vmul vdiv vmax vmin vand vor vxor".split()
WITH_SCALAR = "vadds vmuls vmaxs vmins".split()


def unary(name: str, element: str, mask: str) -> str:
    return f"%d = pto.{name} %v_{element}, %{mask} : V<{element}>, M<{mask}> -> V<{element}>"


def binary(name: str, element: str, mask: str) -> str:
    return (
        f"%d = pto.{name} %v_{element}, %w_{element}, %{mask} : V<{element}>, V<{element}>, M<{mask}> -> V<{element}>"
    )


def scalar(name: str, element: str, type_: str, mask: str) -> str:
    return f"%d = pto.{name} %v_{element}, %s_{type_}, %{mask} : V<{element}>, {type_}, M<{mask}> -> V<{element}>"


def test_every_instruction_of_the_room_is_there():
    names = {operation.name.removeprefix("pto.") for operation in OPERATIONS}
    expected = {*UNARY, *BINARY, *WITH_SCALAR, *"vbr vdup vnot vshl vshr vshls vshrs vmadd".split()}
    assert names == expected | {"vaddc", "vsubc", "vaddcs", "vsubcs"}
    assert names - set(TYPES) == {"vbr", "vdup", "vaddc", "vsubc", "vaddcs", "vsubcs"}, "TYPES says what each takes"


# --- element types ----------------------------------------------------------------------------------------------------

MASKS = {8: "b8", 16: "b16", 32: "b32", 64: "b32"}
ALL = {
    **{f"{sign}i{width}": MASKS[width] for sign in ("", "s", "u") for width in (8, 16, 32, 64)},
    "f16": "b16",
    "bf16": "b16",
    "f32": "b32",
}
INTEGERS = {name for name in ALL if "i" in name}
FLOATS = {"f16", "bf16", "f32"}
WIDE = {"i64", "si64", "ui64"}
BYTES = {"i8", "si8", "ui8"}
SIGNED_16_32 = {"i16", "si16", "i32", "si32"}

# name: (types it rejects, types it warns of)
TYPES: dict[str, tuple[set[str], set[str]]] = {
    "vabs": (set(), WIDE | {"bf16"}),
    "vneg": (set(), WIDE | {"bf16"}),
    "vexp": (INTEGERS, {"bf16"}),
    "vln": (INTEGERS, {"bf16"}),
    "vsqrt": (INTEGERS, {"bf16"}),
    "vrelu": (set(ALL) - {"i32", "si32", "f16", "f32"}, set()),
    "vnot": (set(), FLOATS),
    "vadd": (set(), WIDE),
    "vsub": (set(), WIDE),
    "vmul": (set(), WIDE | BYTES),
    "vdiv": (INTEGERS - SIGNED_16_32, {"bf16"}),
    "vmax": (set(), WIDE),
    "vmin": (set(), WIDE),
    "vand": (set(), set()),
    "vor": (set(), set()),
    "vxor": (set(), set()),
    "vshl": (FLOATS, WIDE),
    "vshr": (FLOATS, WIDE),
    "vadds": (set(), WIDE),
    "vmuls": (set(), WIDE | BYTES),
    "vmaxs": (set(), WIDE),
    "vmins": (set(), WIDE),
    "vshls": (FLOATS, WIDE),
    "vshrs": (FLOATS, WIDE),
    "vmadd": (INTEGERS, set()),
}


def element_of(name: str) -> str:
    """One of 32 bits that an instruction takes, without a warning."""
    rejected, warned_of = TYPES[name]
    return "i32" if "f32" in rejected | warned_of else "f32"


def written(name: str, element: str, mask: str) -> str:
    if name in (*UNARY, "vnot"):
        return unary(name, element, mask)
    if name in WITH_SCALAR:
        return scalar(name, element, element, mask)
    if name in ("vshls", "vshrs"):
        return scalar(name, element, "i16", mask)
    v = f"V<{element}>"
    if name in ("vshl", "vshr"):
        count = f"i{ELEMENTS[element].bits}"
        return f"%d = pto.{name} %v_{element}, %w_{count}, %{mask} : {v}, V<{count}>, M<{mask}> -> {v}"
    if name == "vmadd":
        return f"%d = pto.vmadd %v_{element}, %w_{element}, %u_{element}, %{mask} : {v}, {v}, {v}, M<{mask}> -> {v}"
    return binary(name, element, mask)


@pytest.mark.parametrize("element", ALL)
@pytest.mark.parametrize("name", TYPES)
def test_element_types(name: str, element: str):
    rejected, warned = TYPES[name]
    body = written(name, element, ALL[element])
    marked = body.replace("%v_", "^%v_", 1)
    if element in rejected:
        rejects(marked, f"pto.{name} does not take elements of type {element}; it takes {all_but(rejected)}")
    elif element in warned:
        taken = all_but(rejected | warned)
        warns(marked, f"{element} is not among the documented element types of pto.{name}: {taken}")
    else:
        accepts(body)


ORDER = "i8 i16 i32 i64 si8 si16 si32 si64 ui8 ui16 ui32 ui64 f16 bf16 f32".split()


def all_but(without: set[str]) -> str:
    return ", ".join(element for element in ORDER if element not in without)


LOW_PRECISION = {
    **dict.fromkeys(("f8E4M3FN", "f8E5M2", "f8E8M0", "hif8", "f4E1M2x2", "f4E2M1x2"), "b8"),
    "hif8x2": "b16",
    "bf16x2": "b32",
}
BITWISE = ("vand", "vor", "vxor")


@pytest.mark.parametrize("element", LOW_PRECISION)
@pytest.mark.parametrize("name", [name for name in TYPES if name not in (*BITWISE, *WITH_SCALAR, "vshl", "vshr")])
def test_low_precision_is_not_computed_with(name: str, element: str):
    body = written(name, element, LOW_PRECISION[element]).replace("%v_", "^%v_", 1)
    rejects(body, f"pto.{name} does not take elements of type {element}; it takes {all_but(TYPES[name][0])}")


@pytest.mark.parametrize("element", LOW_PRECISION)
@pytest.mark.parametrize("name", ["vshl", "vshr"])
def test_low_precision_is_not_shifted(name: str, element: str):
    count, mask, v = f"i{ELEMENTS[element].bits}", LOW_PRECISION[element], f"V<{element}>"
    body = f"%d = pto.{name} ^%v_{element}, %w_{count}, %{mask} : {v}, V<{count}>, M<{mask}> -> {v}"
    rejects(body, f"pto.{name} does not take elements of type {element}; it takes {all_but(FLOATS)}")


@pytest.mark.parametrize("name", BITWISE)
def test_bitwise_takes_8_bit_payloads_but_not_pairs(name: str):
    for element, mask in LOW_PRECISION.items():
        if mask == "b8":
            accepts(binary(name, element, "b8"))
    taken = all_but(set()) + ", f8E4M3FN, f8E5M2, f8E8M0, hif8, f4E1M2x2, f4E2M1x2"
    message = f"pto.{name} does not take elements of type {{}}; it takes {taken}"
    rejects(binary(name, "bf16x2", "b32").replace("%v_", "^%v_", 1), message.format("bf16x2"))
    rejects(binary(name, "hif8x2", "b16").replace("%v_", "^%v_", 1), message.format("hif8x2"))


# --- operands and results of one type ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", UNARY)
def test_a_unary_result_has_the_type_of_the_input(name: str):
    rejects(
        f"%d = pto.{name} %v_f32, %b32 : V<f32>, M<b32> -> ^V<i32>",
        "result has type !pto.vreg<64xi32>, but input has type !pto.vreg<64xf32>",
    )


@pytest.mark.parametrize("name", [*BINARY, *WITH_SCALAR, "vnot", "vshls", "vshrs", "vmadd"])
def test_a_result_has_the_type_of_the_first_register(name: str):
    element, other = element_of(name), "ui32"
    first = "acc" if name == "vmadd" else "lhs" if name in BINARY else "input"
    body = written(name, element, "b32").replace(f"-> V<{element}>", f"-> ^V<{other}>")
    rejects(body, f"result has type {register(other)}, but {first} has type {register(element)}")


def test_both_other_operands_of_vmadd_have_the_type_of_the_first():
    text = "%d = pto.vmadd %v_f32, {} : V<f32>, {}, M<b32> -> V<f32>"
    accepts(text.format("%w_f32, %u_f32, %b32", "V<f32>, V<f32>"))
    message = f"{{}} has type {register('f16')}, but acc has type {register('f32')}"
    rejects(text.format("^%w_f16, %u_f32, %b32", "V<f16>, V<f32>"), message.format("lhs"))
    rejects(text.format("%w_f32, ^%u_f16, %b32", "V<f32>, V<f16>"), message.format("rhs"))


@pytest.mark.parametrize("name", BINARY)
def test_binary_operands_have_one_type(name: str):
    element = element_of(name)
    rejects(
        f"%d = pto.{name} %v_{element}, ^%w_ui32, %b32 : V<{element}>, V<ui32>, M<b32> -> V<{element}>",
        f"rhs has type !pto.vreg<64xui32>, but lhs has type !pto.vreg<64x{element}>",
    )


# --- masks ------------------------------------------------------------------------------------------------------------

CHECKED = [*UNARY, *BINARY, "vmadd"]
CHECKED.remove("vneg")


@pytest.mark.parametrize("name", CHECKED)
def test_the_mask_matches_the_width(name: str):
    element = element_of(name)
    accepts(written(name, element, "b32"))
    rejects(
        written(name, element, "b16").replace("%b16", "^%b16", 1),
        mismatch("b16", element),
    )


@pytest.mark.parametrize("name", ["vneg", *WITH_SCALAR, "vshls", "vshrs"])
def test_some_masks_are_only_warned_of(name: str):
    accepts(written(name, "i16", "b16"))
    warns(
        written(name, "i16", "b32").replace("%b32", "^%b32", 1),
        mismatch("b32", "i16"),
    )


def test_masks_of_64_bit_lanes_are_only_warned_of():
    accepts("%d = pto.vand %v_i64, %w_i64, %b32 : V<i64>, V<i64>, M<b32> -> V<i64>")
    warns(
        "%d = pto.vand %v_i64, %w_i64, ^%b8 : V<i64>, V<i64>, M<b8> -> V<i64>",
        mismatch("b8", "i64"),
    )


# --- scalars ----------------------------------------------------------------------------------------------------------


@table(
    "element, type_",
    ("i16", "i16"),
    ("si16", "si16"),
    ("si16", "i16"),
    ("ui16", "ui16"),
    ("ui16", "i16"),
    ("f32", "f32"),
)
@pytest.mark.parametrize("name", WITH_SCALAR)
def test_a_compatible_scalar(name: str, element: str, type_: str):
    accepts(scalar(name, element, type_, ALL[element]))


@table(
    "element, type_, needed",
    ("ui16", "i32", "ui16 or i16"),
    ("ui16", "si16", "ui16 or i16"),
    ("si16", "ui16", "si16 or i16"),
    ("i16", "si16", "i16"),
    ("f32", "i32", "f32"),
    ("f32", "f16", "f32"),
    ("i32", "index", "i32"),
)
@pytest.mark.parametrize("name", WITH_SCALAR)
def test_an_incompatible_scalar(name: str, element: str, type_: str, needed: str):
    rejects(
        scalar(name, element, type_, ALL[element]).replace("%s_", "^%s_", 1),
        f"scalar has type {type_}, but the elements of input need {needed}",
    )


# --- broadcast --------------------------------------------------------------------------------------------------------


@table("element, type_", ("f32", "f32"), ("si8", "i8"), ("ui8", "i8"), ("ui8", "ui8"), ("bf16", "bf16"))
def test_vbr(element: str, type_: str):
    accepts(f"%d = pto.vbr %s_{type_} : {type_} -> V<{element}>")


def test_vdup_of_a_scalar_and_of_a_lane():
    accepts("%d = pto.vdup %s_f32, %b32 : f32, M<b32> -> V<f32>")
    accepts("%d = pto.vdup %s_i8, %b8 : i8, M<b8> -> V<ui8>")
    accepts("%d = pto.vdup %v_f32, %b32 : V<f32>, M<b32> -> V<f32>")
    accepts('%d = pto.vdup %v_f32, %b32 {position = "LOWEST"} : V<f32>, M<b32> -> V<f32>')


def test_the_position_of_vdup_is_printed():
    module = read(example_kernel(arithmetic.VDup))
    assert '{position = "HIGHEST"}' in printed(module)


# --- shifts -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["vshl", "vshr"])
def test_shift_counts_of_any_sign(name: str):
    accepts(f"%d = pto.{name} %v_ui16, %w_si16, %b16 : V<ui16>, V<si16>, M<b16> -> V<ui16>")
    accepts(f"%d = pto.{name} %v_si32, %w_ui32, %b32 : V<si32>, V<ui32>, M<b32> -> V<si32>")
    rejects(
        f"%d = pto.{name} %v_ui16, ^%w_ui32, %b16 : V<ui16>, V<ui32>, M<b16> -> V<ui16>",
        "rhs counts in ui32, but the lanes of lhs are ui16",
    )
    rejects(
        f"%d = pto.{name} %v_i32, ^%w_f32, %b32 : V<i32>, V<f32>, M<b32> -> V<i32>",
        f"pto.{name} does not take elements of type f32; it takes {all_but(FLOATS)}",
    )
    rejects(
        f"%d = pto.{name} ^%v_f32, %w_i32, %b32 : V<f32>, V<i32>, M<b32> -> V<f32>",
        f"pto.{name} does not take elements of type f32; it takes {all_but(FLOATS)}",
    )
    rejects(
        f"%d = pto.{name} %v_i32, ^%s_i32, %b32 : V<i32>, i32, M<b32> -> V<i32>",
        "rhs must be a vector register, not i32",
    )
    rejects(
        f"%d = pto.{name} %v_i32, %w_i32, %b32 : V<i32>, V<i32>, M<b32> -> ^V<ui32>",
        "result has type !pto.vreg<64xui32>, but lhs has type !pto.vreg<64xi32>",
    )


@pytest.mark.parametrize("name", ["vshls", "vshrs"])
@pytest.mark.parametrize("type_", ["i32", "ui16", "si16", "index"])
def test_a_scalar_shift_count_is_i16(name: str, type_: str):
    accepts(scalar(name, "i32", "i16", "b32"))
    rejects(scalar(name, "i32", type_, "b32").replace("%s_", "^%s_", 1), f"scalar must be i16, not {type_}")


# --- carry ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("element", ["i32", "si32", "ui32"])
@pytest.mark.parametrize("name", ["vaddc", "vsubc"])
def test_carry(name: str, element: str):
    v = f"V<{element}>"
    accepts(f"%d, %c = pto.{name} %v_{element}, %w_{element}, %b32 : {v}, {v}, M<b32> -> {v}, M<b32>")
    rejects(
        f"%d, %c = pto.{name} %v_{element}, %w_{element}, %b32 : {v}, {v}, M<b32> -> {v}, ^M<b8>",
        mismatch("b8", element),
    )


@pytest.mark.parametrize("name", ["vaddc", "vsubc"])
def test_carry_is_for_32_bit_integers_alone(name: str):
    message = f"pto.{name} does not take elements of type {{}}; it takes i32, si32, ui32"
    text = f"%d, %c = pto.{name} ^%v_{{0}}, %w_{{0}}, %{{1}} : V<{{0}}>, V<{{0}}>, M<{{1}}> -> V<{{0}}>, M<{{1}}>"
    rejects(text.format("f32", "b32"), message.format("f32"))
    rejects(text.format("i16", "b16"), message.format("i16"))
    rejects(
        f"%d, %c = pto.{name} %v_i32, ^%w_ui32, %b32 : V<i32>, V<ui32>, M<b32> -> V<i32>, M<b32>",
        "rhs has type !pto.vreg<64xui32>, but lhs has type !pto.vreg<64xi32>",
    )


@pytest.mark.parametrize("name", ["vaddcs", "vsubcs"])
def test_carry_in(name: str):
    text = "%d, %c = pto.{} %v_ui32, %w_ui32, %{}, %{} : V<ui32>, V<ui32>, M<{}>, M<{}> -> V<ui32>, M<{}>"
    accepts(text.format(name, "b32_in", "b32", "b32", "b32", "b32"))
    body = text.format(name, "b16", "b32", "b16", "b32", "b32").replace("%b16", "^%b16", 1)
    rejects(body, mismatch("b16", "ui32"))
    body = text.format(name, "b32", "b8", "b32", "b8", "b32").replace("%b8", "^%b8", 1)
    rejects(body, mismatch("b8", "ui32"))
    body = text.format(name, "b32_in", "b32", "b32", "b32", "^b16").replace("M<^b16>", "^M<b16>")
    rejects(body, mismatch("b16", "ui32"))
    body = text.format(name, "b32_in", "b32", "b32", "b32", "b32").replace("ui32", "f32").replace("%v_", "^%v_", 1)
    rejects(body, f"pto.{name} does not take elements of type f32; it takes i32, si32, ui32")


def test_the_generic_form_of_a_carry_chain_has_the_operands_in_the_same_order():
    types = "(V<ui32>, V<ui32>, M<b32>, M<b32>) -> (V<ui32>, M<b32>)"
    body = f'%d, %c = "pto.vaddcs"(%v_ui32, %w_ui32, %b32_in, %b32) : {types}'
    accepts(body)
    (function,) = read(kernel(body)).parsed.module.ops
    (scope, _) = function.regions[0].block.ops
    (carry,) = scope.regions[0].block.ops
    assert isinstance(carry, arithmetic_integer.VAddCs)
    assert (carry.carry_in, carry.mask) == tuple(function.regions[0].block.args[2:])


# --- placement and unknown names --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", "vsubs vands vors vxors vrec vrsqrt vbcnt vcls vmov".split())
def test_names_of_other_manuals_are_unknown(name: str):
    rejects(unary(name, "f32", "b32").replace("pto.", "^pto.", 1), f"unknown operation 'pto.{name}'...", kind="syntax")
