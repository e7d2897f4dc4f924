"""Moves out of L1: every spelling, what is rejected and where the diagnostic points."""

import pytest

from language.scalar_kernel import accepts, rejects, same, text_of, warns
from language.vector_kernel import printed, read
from ptosim.language.catalogue import operations
from ptosim.language.micro import cube_load, cube_load_raw
from tables import table

ROOM = (cube_load.__name__, cube_load_raw.__name__)
OPERATIONS = [operation for operation in operations() if operation.__module__ in ROOM]

X = "%s_i64"
SIX = ", ".join([X] * 6)
A = "%p_f16_l1, %p_f16_l0a"
B = "%p_f16_l1, %p_f16_l0b"
TILES = [("mte_l1_l0a", A, "m", "k"), ("mte_l1_l0b", B, "k", "n")]
SCALES = [("mte_l1_l0a_mx", A, "m", "k"), ("mte_l1_l0b_mx", B, "k", "n")]
FULL = ("m_start", "k_start", "m_step", "k_step", "source_stride", "dest_stride")
MX_FULL = ("x_start", "y_start", "x_step", "y_step", "source_stride", "dest_stride")


def test_the_room_is_complete() -> None:
    names = """mte_l1_l0a mte_l1_l0b mte_l1_l0a_mx mte_l1_l0b_mx mte_l1_bt mte_l1_fb load_cbuf_to_ca load_cbuf_to_cb
        load_cbuf_to_ca_s4 load_cbuf_to_cb_s4 load_cbuf_to_ca_mx load_cbuf_to_cb_mx copy_cbuf_to_bt copy_cbuf_to_fbuf"""
    assert {operation.name for operation in OPERATIONS} == {f"pto.{name}" for name in names.split()}


# --- fields -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "pointers", "first", "second"), [*TILES, *SCALES])
class TestFields:
    def full(self, name: str) -> tuple[str, ...]:
        return MX_FULL if name.endswith("_mx") else FULL

    def written(self, name: str) -> str:
        """The names of the full group as the text has them."""
        return ", ".join(self.full(name)).replace("source_", "src_").replace("dest_", "dst_")

    def test_by_position(self, name: str, pointers: str, first: str, second: str) -> None:
        for count in (2, 4, 6):
            accepts(f"pto.{name} {pointers}, {', '.join([X] * count)}")

    def test_of_another_number(self, name: str, pointers: str, first: str, second: str) -> None:
        shape = f"{first}, {second}"
        forms = f"2 ({shape}); 4 ({shape}, start_row, start_col); 6 ({', '.join(self.full(name))})"
        for count in (1, 3, 5, 7):
            body = f"pto.{name} {pointers}, ^{', '.join([X] * count)}"
            message = f"pto.{name} takes {forms} integers after the pointers, not {count}"
            rejects(body, message, kind="syntax")

    def test_by_name_in_any_order(self, name: str, pointers: str, first: str, second: str) -> None:
        by_position = f"pto.{name} {pointers}, %16, %32, %0, %s_i64"
        by_name = f"start_col({X}), {second}(%32), start_row(%0), {first}(%16)"
        same_constants = "%a = arith.addi %16, %32 : i64\n%b = arith.addi %0, %0 : i64\n"
        same(same_constants + by_position, same_constants + f"pto.{name} {pointers}, {by_name} : <f16, l1>")

    def test_all_six_by_name(self, name: str, pointers: str, first: str, second: str) -> None:
        fields = self.written(name).split(", ")
        by_name = ", ".join(f"{field}({X})" for field in reversed(fields))
        same(f"pto.{name} {pointers}, {SIX}", f"pto.{name} {pointers}, {by_name}")

    def test_types_follow_the_written_order(self, name: str, pointers: str, first: str, second: str) -> None:
        body = f"pto.{name} {pointers}, {second}(%s_i32), {first}({X}), start_row({X}), start_col({X})"
        message = f"{second} must be i64, not i32"
        rejects(body.replace("(%s_i32)", "(^%s_i32)") + " : <f16, l1>, " + dest(pointers) + ", i32, i64 x3", message)

    def test_twice(self, name: str, pointers: str, first: str, second: str) -> None:
        message = f"field '{first}' is given twice"
        rejects(f"pto.{name} {pointers}, {first}({X}), ^{first}({X})", message, kind="syntax")

    def test_of_an_unknown_name(self, name: str, pointers: str, first: str, second: str) -> None:
        message = f"unknown field 'rows'; known: {first}, {second}, start_row, start_col; {self.written(name)}"
        rejects(f"pto.{name} {pointers}, ^rows({X})", message, kind="syntax")

    def test_of_an_incomplete_or_mixed_group(self, name: str, pointers: str, first: str, second: str) -> None:
        full = self.written(name).replace(",", "")
        message = f"named fields must be exactly {first} {second} start_row start_col, or {full}"
        rejects(f"pto.{name} {pointers}, ^{first}({X}), {second}({X})", message, kind="syntax")
        mixed = f"{first}({X}), {second}({X}), start_row({X}), start_col({X}), src_stride({X})"
        rejects(f"pto.{name} {pointers}, ^{mixed}", message, kind="syntax")

    def test_mixed_with_positions(self, name: str, pointers: str, first: str, second: str) -> None:
        message = "expected operand: an SSA value such as %x"
        rejects(f"pto.{name} {pointers}, {X}, ^{second}({X})", message, kind="syntax")

    def test_spaces_and_widths(self, name: str, pointers: str, first: str, second: str) -> None:
        source, destination = pointers.split(", ")
        space = destination[-3:]
        rejects(f"pto.{name} ^%p_f16_ub, {destination}, {X}, {X}", "source must point to l1, not ub")
        rejects(f"pto.{name} {source}, ^%p_f16_l0c, {X}, {X}", f"dest must point to {space}, not l0c")
        message = "dest has elements of f32, but source has f16: their widths differ"
        rejects(f"pto.{name} {source}, ^%p_f32_{space}, {X}, {X}", message)
        accepts(f"pto.{name} {source}, %p_bf16_{space}, {X}, {X}")

    def test_extents_and_starts(self, name: str, pointers: str, first: str, second: str) -> None:
        accepts(f"pto.{name} {pointers}, %1, %1, %0, %0")
        rejects(f"pto.{name} {pointers}, ^%0, {X}", f"{first} is 0; it must be positive")
        rejects(f"pto.{name} {pointers}, {X}, {X}, ^%n1, {X}", "start_row is -1; it must be at least 0")
        rejects(f"pto.{name} {pointers}, {X}, {X}, {X}, ^%n1", "start_col is -1; it must be at least 0")
        warns(f"pto.{name} {pointers}, {X}, {X}, ^%2, {X}", "start_row counts fractals, not rows or columns")

    def test_the_generic_form_needs_a_whole_group(self, name: str, pointers: str, first: str, second: str) -> None:
        sizes = ", ".join(["1"] * 2 + ["0"] * 8 + ["1", "0"])
        types = f"!pto.ptr<f16, l1>, !pto.ptr<f16, {pointers[-3:]}>, i64"
        body = f'^"pto.{name}"({pointers}, {X}) {{operandSegmentSizes = array<i32: {sizes}>}} : ({types}) -> ()'
        rejects(body, f"pto.{name} needs {first}, {second} or {', '.join(self.full(name))}")


def dest(pointers: str) -> str:
    return f"<f16, {pointers[-3:]}>"


# --- control fields ---------------------------------------------------------------------------------------------------

CONTROL = [(name, pointers) for name, pointers, _, _ in TILES]
CONTROL += [("load_cbuf_to_ca", A), ("load_cbuf_to_cb", B)]


@pytest.mark.parametrize(("name", "pointers"), CONTROL)
def test_full_control_fits_its_fields(name: str, pointers: str) -> None:
    accepts(f"pto.{name} {pointers}, %0, %65535, %1, %255, %1, %65535")
    for index, role in enumerate(FULL):
        low, high = (0, 65535) if "start" in role else (1, 255) if "step" in role else (1, 65535)
        for value, text in ((low - 1, f"%n{1 - low}" if low == 0 else "%0"), (high + 1, f"%{high + 1}")):
            fields = [X] * 6
            fields[index] = f"^{text}"
            message = f"{role} is {value}; it must be {low}..{high}"
            rejects(f"pto.{name} {pointers}, {', '.join(fields)}", message)


@pytest.mark.parametrize(("name", "pointers"), CONTROL)
def test_elements_are_moved_as_they_are(name: str, pointers: str) -> None:
    space = pointers[-3:]
    for source, data in (("f16", "bf16"), ("i8", "f8E4M3FN"), ("f32", "i32")):
        accepts(f"pto.{name} %p_{source}_l1, %p_{data}_{space}, {SIX}")
    message = "dest has elements of i8, but source has f16: their widths differ"
    rejects(f"pto.{name} %p_f16_l1, ^%p_i8_{space}, {SIX}", message)


@pytest.mark.parametrize(("name", "pointers"), CONTROL)
def test_transposition(name: str, pointers: str) -> None:
    for word in ("true", "false"):
        text = text_of(f"pto.{name} {pointers}, {SIX} {{transpose = {word}}}")
        assert f"{{transpose = {word}}}" in text
    message = "transpose must be true or false, not 1 : i64"
    rejects(f"pto.{name} {pointers}, {SIX} {{transpose = ^1}}", message)


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
def test_scale_loads_have_no_upper_bounds(name: str, pointers: str, first: str, second: str) -> None:
    accepts(f"pto.{name} {pointers}, %0, %0, %0, %100000, %0, %0")
    rejects(f"pto.{name} {pointers}, {X}, {X}, ^%n1, {X}, {X}, {X}", "x_step is -1; it must be at least 0")


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
    rejects(f"pto.{name}_s4 {fp4}, {SIX}, ^%2", "transpose must be the constant 0 or 1")
    rejects(f"pto.{name}_s4 {fp4}, {SIX}, ^{X}", "transpose must be the constant 0 or 1")
    narrow = "%zero = arith.constant 0 : i32\n"
    rejects(f"{narrow}pto.{name}_s4 {fp4}, {SIX}, ^%zero", "transpose must be i64, not i32")
    for index, role in enumerate(FULL):
        fields = ["%0" if at != index else "^%n1" for at in range(6)]
        rejects(f"pto.{name}_s4 {fp4}, {', '.join(fields)}, %0", f"{role} is -1; it must be at least 0")
    accepts(f"pto.{name}_s4 %p_f4E1M2x2_l1, %p_f4E1M2x2_{space}, {SIX}, %1")
    message = f"pto.{name}_s4 needs one packed 4-bit element type on both sides, not f4E2M1x2 and f4E1M2x2"
    rejects(f"pto.{name}_s4 ^%p_f4E2M1x2_l1, %p_f4E1M2x2_{space}, {SIX}, %0", message)
    message = f"pto.{name}_s4 needs one packed 4-bit element type on both sides, not i8 and i8"
    rejects(f"pto.{name}_s4 ^%p_i8_l1, %p_i8_{space}, {SIX}, %0", message)


@pytest.mark.parametrize(("name", "space"), [("mte_l1_l0a", "l0a"), ("mte_l1_l0b", "l0b")])
def test_structured_loads_take_packed_elements(name: str, space: str) -> None:
    accepts(f"pto.{name} %p_f4E2M1x2_l1, %p_f4E2M1x2_{space}, {X}, {X}")


@pytest.mark.parametrize(("name", "pointers"), [("load_cbuf_to_ca_mx", A), ("load_cbuf_to_cb_mx", B)])
def test_raw_scale_loads(name: str, pointers: str) -> None:
    accepts(f"pto.{name} {pointers}, {SIX} : <f16, l1>, {dest(pointers)}, i64 x6")
    accepts(f"pto.{name} {pointers}, %0, %0, %0, %0, %0, %100000")
    for index, role in enumerate(MX_FULL):
        fields = ["%0" if at != index else "^%n1" for at in range(6)]
        rejects(f"pto.{name} {pointers}, {', '.join(fields)}", f"{role} is -1; it must be at least 0")
    message = "dest has elements of f32, but source has f16: their widths differ"
    rejects(f"pto.{name} %p_f16_l1, ^%p_f32_{pointers[-3:]}, {SIX}", message)


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


SIZES = ("len_burst", "n_burst", "source_gap", "dest_gap")


def rows(name: str, **given: str) -> str:
    """A copy of rows into the bias table or the fixpipe buffer, in either spelling."""
    length, count, *gaps = (given.get(role, X) for role in SIZES)
    space = "bt" if name.endswith("bt") else "fb"
    sizes = f"{length} nburst({count}, {', '.join(gaps)})"
    if name.startswith("copy"):
        sizes = ", ".join((*(("%s_i1",) if space == "bt" else ()), count, length, *gaps))
    return f"pto.{name} %p_f32_l1, %p_f32_{space}, {sizes}"


@pytest.mark.parametrize("name", ["mte_l1_bt", "mte_l1_fb", "copy_cbuf_to_bt", "copy_cbuf_to_fbuf"])
def test_rows_fit_their_fields(name: str) -> None:
    accepts(rows(name, len_burst="%1", n_burst="%1", source_gap="%0", dest_gap="%0"))
    accepts(rows(name, **dict.fromkeys(SIZES, "%65535")))
    for role in SIZES:
        rejects(rows(name, **{role: "^%n1"}), f"{role} is -1; it must be 0..65535")
        rejects(rows(name, **{role: "^%65536"}), f"{role} is 65536; it must be 0..65535")
    for role in ("len_burst", "n_burst"):
        warns(rows(name, **{role: "^%0"}), f"{role} is 0: the copy does nothing")


def test_parameter_rows_have_free_types() -> None:
    for source in ("ui64", "ui32", "f32", "f16"):
        accepts(f"pto.mte_l1_fb %p_{source}_l1, %p_f32_fb{ROWS}")
    rejects(f"pto.mte_l1_fb %p_f32_l1, ^%p_f32_bt{ROWS}", "dest must point to fb, not bt")
    rejects(f"pto.mte_l1_bt %p_f32_l1, ^%p_f32_fb{ROWS}", "dest must point to bt, not fb")
    message = "unknown clause 'loop'; known, in this order: nburst"
    rejects(f"pto.mte_l1_fb %p_f32_l1, %p_f32_fb{ROWS} ^loop({X}, {X}, {X})", message, kind="syntax")


def test_raw_copies_to_the_tables() -> None:
    accepts(f"pto.copy_cbuf_to_bt %p_f16_l1, %p_f32_bt, %s_i1, {X}, {X}, {X}, {X}")
    message = "convert must be i1, not i64"
    rejects(f"pto.copy_cbuf_to_bt %p_f16_l1, %p_f32_bt, ^{X}, {X}, {X}, {X}, {X}", message)
    accepts(f"pto.copy_cbuf_to_fbuf %p_ui64_l1, %p_f32_fb, {X}, {X}, {X}, {X}")
    message = "source_gap is -1; it must be 0..65535"
    rejects(f"pto.copy_cbuf_to_fbuf %p_ui64_l1, %p_f32_fb, {X}, {X}, ^%n1, {X}", message)
