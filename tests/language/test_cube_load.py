"""Moves out of L1: every spelling, what is rejected and where the diagnostic points."""

import pytest

from language.scalar_kernel import accepts, rejects, same, text_of, warns
from language.vector_kernel import printed, read
from tables import table

X = "%s_i64"
SIX = ", ".join([X] * 6)
A = "%p_f16_l1, %p_f16_l0a"
B = "%p_f16_l1, %p_f16_l0b"
TILES = [("mte_l1_l0a", A, "m", "k"), ("mte_l1_l0b", B, "k", "n")]
SCALES = [("mte_l1_l0a_mx", A, "m", "k"), ("mte_l1_l0b_mx", B, "k", "n")]
FULL = ("m_start", "k_start", "m_step", "k_step", "source_stride", "dest_stride")


# --- control fields ---------------------------------------------------------------------------------------------------

CONTROL = [(name, pointers) for name, pointers, _, _ in TILES]
CONTROL += [("load_cbuf_to_ca", A), ("load_cbuf_to_cb", B)]


@pytest.mark.parametrize(("name", "pointers"), CONTROL)
def test_transposition(name: str, pointers: str) -> None:
    for word in ("true", "false"):
        text = text_of(f"pto.{name} {pointers}, {SIX} {{transpose = {word}}}")
        assert f"{{transpose = {word}}}" in text
    message = "transpose must be true or false, not 1 : i64"
    rejects(f"pto.{name} {pointers}, {SIX} {{transpose = ^1}}", message)


@pytest.mark.parametrize(("name", "pointers", "sides"), [("mte_l1_l0a", A, ("m", "k")), ("mte_l1_l0b", B, ("k", "n"))])
def test_fields_may_be_named_in_any_order(name: str, pointers: str, sides: tuple[str, str]) -> None:
    """All of the short form, or all of full control."""
    full = ("m_start", "k_start", "m_step", "k_step", "src_stride", "dst_stride")
    for fields in ((*sides, "start_row", "start_col"), full):
        numbers = "".join(f"%f{place} = arith.constant {place + 1} : i64\n" for place in range(len(fields)))
        plain = ", ".join(f"%f{place}" for place in range(len(fields)))
        named = [f"{field}(%f{place})" for place, field in enumerate(fields)]
        same(*(f"{numbers}pto.{name} {pointers}, {written}" for written in (plain, ", ".join(named[::-1]))))


@pytest.mark.parametrize("side", ["m", "n"])
def test_transposed_bytes_need_an_even_number_of_fractals(side: str) -> None:
    """A transposed tile of bytes has 2 * ceil(x / 32) fractals in a step of k, a product expects ceil(x / 16)."""

    def body(element: str, k: int, x: str) -> str:
        sizes = f"{x}, %{k}" if side == "m" else f"%{k}, {x}"
        space = "l0a" if side == "m" else "l0b"
        return f"pto.mte_l1_{space} %p_{element}_l1, %p_{element}_{space}, {sizes} {{transpose = true}}"

    for x in (1, 16, 33, 48, 80):
        message = f"a transposed 8-bit tile with {side} = {x} and k = 64 is not what pto.mad reads"
        warns(body("i8", 64, f"^%{x}"), message)
    for element in ("si8", "ui8", "f8E4M3FN", "f8E5M2", "hif8"):
        warns(
            body(element, 33, "^%16"), f"a transposed 8-bit tile with {side} = 16 and k = 33 is not what pto.mad reads"
        )
    for x in (17, 32, 49, 64):
        accepts(body("i8", 64, f"%{x}"))
    accepts(body("i8", 32, "%16"))
    accepts(body("f16", 64, "%16"))
    accepts(body("f4E2M1x2", 64, "%16"))
    accepts(body("i8", 64, X))
    accepts(body("i8", 64, "%16").replace("true", "false"))
    accepts(body("i8", 64, "%16").replace(" {transpose = true}", ""))


@pytest.mark.parametrize(("name", "pointers", "first", "second"), SCALES)
def test_scale_loads_at_known_addresses_are_aligned(name: str, pointers: str, first: str, second: str) -> None:
    space = pointers[-3:]

    def body(source: int, destination: int, place: str) -> str:
        casts = f"%a = pto.castptr %{source} : i64 -> !pto.ptr<f16, l1>\n"
        casts += f"%b = pto.castptr %{destination} : i64 -> !pto.ptr<f16, {space}>\n"
        return casts + f"pto.{name} %a, %b, {X}, {X}".replace(f" {place}", f" ^{place}")

    accepts(body(64, 48, "%none"))
    rejects(body(48, 48, "%a"), "reads l1 at 48, which is not a multiple of 32", kind="misaligned")
    rejects(body(64, 8, "%b"), "scales for data at 8, which is not a multiple of 16", kind="misaligned")


# --- raw forms --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "space"), [("load_cbuf_to_ca", "l0a"), ("load_cbuf_to_cb", "l0b")])
def test_packed_elements_have_their_own_raw_load(name: str, space: str) -> None:
    fp4 = f"%p_f4E2M1x2_l1, %p_f4E2M1x2_{space}"
    message = f"pto.{name} does not take packed 4-bit elements; use pto.{name}_s4"
    rejects(f"pto.{name} ^{fp4}, {SIX}", message)
    accepts(f"pto.{name}_s4 {fp4}, {SIX}, %0")
    accepts(f"pto.{name}_s4 {fp4}, {SIX}, %1")
    for index, role in enumerate(FULL):
        fields = ["%0" if at != index else "^%n1" for at in range(6)]
        rejects(f"pto.{name}_s4 {fp4}, {', '.join(fields)}, %0", f"{role} is -1; it must be at least 0")
    accepts(f"pto.{name}_s4 %p_f4E1M2x2_l1, %p_f4E1M2x2_{space}, {SIX}, %1")
    message = f"pto.{name}_s4 needs one packed 4-bit element type on both sides, not f4E2M1x2 and f4E1M2x2"
    rejects(f"pto.{name}_s4 ^%p_f4E2M1x2_l1, %p_f4E1M2x2_{space}, {SIX}, %0", message)
    message = f"pto.{name}_s4 needs one packed 4-bit element type on both sides, not i8 and i8"
    rejects(f"pto.{name}_s4 ^%p_i8_l1, %p_i8_{space}, {SIX}, %0", message)


@pytest.mark.parametrize(("name", "space"), [("l0a_mx", "l0a"), ("l0b_mx", "l0b")])
def test_scales_are_named_by_pointers_of_any_byte_type(name: str, space: str) -> None:
    for source in ("f8E8M0", "f8E4M3FN", "f8E5M2", "f4E2M1x2", "f4E1M2x2", "ui8"):
        for data in ("f8E4M3FN", "f8E5M2", "f4E2M1x2", "f4E1M2x2", "f8E8M0"):
            accepts(f"pto.mte_l1_{name} %p_{source}_l1, %p_{data}_{space}, {X}, {X}")


# --- memrefs ----------------------------------------------------------------------------------------------------------


@table(
    "name, operands, spaces, elements",
    ("mte_l1_l0a", f"{X}, {X}", ("mat", "left"), ("f16", "f16")),
    ("mte_l1_l0b", f"{X}, {X}, {X}, {X}", ("l1", "l0b"), ("f16", "f16")),
    ("mte_l1_l0a_mx", f"{X}, {X}", ("mat", "left"), ("f8E4M3FN", "f8E4M3FN")),
    ("mte_l1_l0b_mx", SIX, ("mat", "right"), ("f8E4M3FN", "f8E4M3FN")),
    ("mte_l1_bt", f"{X} nburst({X}, {X}, {X})", ("mat", "bias"), ("f16", "f32")),
    (
        "mte_gm_l1_frac",
        f"nd2nz, shape({X}, {X}), src_layout({X}), dst_group({X}, {X}, {X}, {X}), ctrl({X}, %t)",
        ("gm", "mat"),
        ("f16", "f16"),
    ),
)
def test_memrefs_are_pointers(name: str, operands: str, spaces: tuple[str, ...], elements: tuple[str, ...]) -> None:
    def module(*types: str) -> str:
        parameters = f"%a: {types[0]}, %b: {types[1]}, {X}: i64, %t: i1"
        types_listed = "" if "frac" in name else f" : {types[0]}, {types[1]}"
        return f"module {{ func.func @k({parameters}) {{ pto.{name} %a, %b, {operands}{types_listed} return }} }}"

    pairs = list(zip(spaces, elements, strict=True))
    memrefs = module(*(f"memref<?x{element}, #pto.address_space<{space}>>" for space, element in pairs))
    assert printed(read(memrefs)) == printed(
        read(module(*(f"!pto.ptr<{element}, {space}>" for space, element in pairs)))
    )


# --- bias table and fixpipe buffer ------------------------------------------------------------------------------------

ROWS = f", {X} nburst({X}, {X}, {X})"


WORDS = ("i32", "si32", "ui32")
BIAS = {("f32", "f32"), ("f16", "f32"), ("bf16", "f32"), *((a, b) for a in WORDS for b in WORDS)}


@pytest.mark.parametrize("source", [*WORDS, "f32", "f16", "bf16", "i16", "i8", "f8E4M3FN", "i64"])
def test_bias_types(source: str) -> None:
    for into in (*WORDS, "f32", "f16", "bf16", "i16"):
        body = f"pto.mte_l1_bt ^%p_{source}_l1, %p_{into}_bt{ROWS}"
        if (source, into) in BIAS:
            accepts(body.replace("^", ""))
        else:
            known = "f32 from f32, f16, bf16, i32 from i32"
            rejects(body, f"pto.mte_l1_bt does not fill {into} from {source}; known: {known}")
