"""Copies between memories: every spelling, what is rejected and where the diagnostic points."""

import pytest

from language.scalar_kernel import accepts, example_module, rejects, same, text_of, warns
from language.vector_kernel import printed, read
from ptosim.language.catalogue import operations
from ptosim.language.load import text
from ptosim.language.micro import dma, dma_grouped, dma_registers
from ptosim.language.operation import PTOOperation
from tables import table

ROOM = (dma.__name__, dma_registers.__name__, dma_grouped.__name__)
OPERATIONS = [operation for operation in operations() if operation.__module__ in ROOM]

GM, UB, L1 = "%p_f32_gm", "%p_f32_ub", "%p_f32_l1"
X = "%s_i64"
GROUP = f"({X}, {X}, {X})"


def load(gm: str = GM, ub: str = UB, rest: str = f"{X}, {X}, {X}, {X}, {X}, %s_i1, {X}, {X}, {X}") -> str:
    return f"pto.copy_gm_to_ubuf {gm}, {ub}, {rest}"


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.name)
def test_examples_verify_and_print_stably(operation: type[PTOOperation]) -> None:
    loaded = read(example_module(operation))
    ignored = operation is dma_registers.SetStoreAtomicCfg
    assert [warning.kind for warning in loaded.warnings] == (["lint"] if ignored else [])
    once = printed(loaded)
    assert printed(read(once)) == once


def test_the_room_is_complete() -> None:
    registers = [f"set_loop_size_{path}" for path in ("outtoub", "ubtoout", "outtol1")]
    registers += [f"set_loop{n}_stride_{path}" for n in (1, 2) for path in ("outtoub", "ubtoout", "outtol1")]
    registers += [f"set_atomic_{word}" for word in "none add max min f32 f16 bf16 s32 s16 s8".split()]
    registers += ["set_mov_pad_val", "set_pad_val_outtol1", "set_store_atomic_cfg", "set_mte2_nz_para"]
    copies = """copy_gm_to_ubuf copy_ubuf_to_gm copy_ubuf_to_ubuf copy_ubuf_to_cbuf copy_cbuf_to_ubuf copy_gm_to_cbuf
        copy_gm_to_cbuf_multi_nd2nz copy_gm_to_cbuf_multi_dn2nz mte_gm_ub mte_ub_gm mte_ub_ub mte_ub_l1 mte_l1_ub
        mte_gm_l1 mte_gm_l1_frac sim.l1_gm raw_fill_l1 create_cbuf_matrix"""
    assert {operation.name for operation in OPERATIONS} == {f"pto.{name}" for name in [*registers, *copies.split()]}


# --- registers --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["outtoub", "ubtoout"])
def test_loop_sizes(path: str) -> None:
    accepts(f"pto.set_loop_size_{path} %1, %2097151 : i64, i64")
    accepts(f"pto.set_loop_size_{path} {X}, {X}")
    rejects(f"pto.set_loop_size_{path} ^%0, %1 : i64, i64", "loop1 is 0; it must be 1..2097151")
    rejects(f"pto.set_loop_size_{path} %1, ^%2097152 : i64, i64", "loop2 is 2097152; it must be 1..2097151")
    rejects(f"pto.set_loop_size_{path} %1, ^%n1 : i64, i64", "loop2 is -1; it must be 1..2097151")
    rejects(f"pto.set_loop_size_{path} ^%s_i32, %1 : i32, i64", "loop1 must be i64, not i32")


@pytest.mark.parametrize("loop", [1, 2])
def test_loop_strides(loop: int) -> None:
    gm, ub = (1 << 40) - 1, (1 << 21) - 1
    accepts(f"pto.set_loop{loop}_stride_outtoub %{gm}, %{ub} : i64, i64")
    accepts(f"pto.set_loop{loop}_stride_ubtoout %{ub}, %{gm} : i64, i64")
    message = f"dest_stride is {ub + 1}; it must be 0..{ub}"
    rejects(f"pto.set_loop{loop}_stride_outtoub %{gm}, ^%{ub + 1} : i64, i64", message)
    message = f"source_stride is {ub + 1}; it must be 0..{ub}"
    rejects(f"pto.set_loop{loop}_stride_ubtoout ^%{ub + 1}, %{gm} : i64, i64", message)
    rejects(f"pto.set_loop{loop}_stride_outtoub ^%n1, %0", f"source_stride is -1; it must be 0..{gm}")
    rejects(f"pto.set_loop{loop}_stride_outtol1 ^%s_i32 : i32", "packed must be i64, not i32")


@pytest.mark.parametrize("name", ["set_mov_pad_val", "set_pad_val_outtol1"])
def test_pad_values(name: str) -> None:
    for type_ in ("i8", "i16", "i32", "f16", "bf16", "f32"):
        accepts(f"pto.{name} %s_{type_} : {type_}")
    for type_ in ("i64", "ui8", "si32", "index", "i1"):
        message = f"a pad value must be one of i8, i16, i32, f16, bf16, f32, not {type_}"
        rejects(f"pto.{name} ^%s_{type_} : {type_}", message)


# --- positional copies ------------------------------------------------------------------------------------------------


def test_loads_with_11_and_13_operands() -> None:
    accepts(load())
    types = "!pto.ptr<f32, gm>, !pto.ptr<f32, ub>, i64, i64, i64, i64, i64, i1, i64, i64, i64"
    assert load_types() in text_of(load() + f" {{has_pad}} : {types}").replace(" {has_pad}", "")
    accepts(load(rest=f"{X}, {X}, {X}, {X}, {X}, {X}, {X}, %s_i1, {X}, {X}, {X}"))
    roles = "source, dest, sid, n_burst, len_burst, left_padding, right_padding, data_select, l2_cache_ctl, "
    message = f"pto.copy_gm_to_ubuf takes 11 operands: {roles}source_stride, dest_stride; found 3"
    rejects(f"pto.copy_gm_to_ubuf {GM}, {UB}, ^{X}", message, kind="syntax")


def load_types() -> str:
    return " : !pto.ptr<f32, gm>, !pto.ptr<f32, ub>, i64, i64, i64, i64, i64, i1, i64, i64, i64"


def test_stores_with_8_and_10_operands() -> None:
    accepts(f"pto.copy_ubuf_to_gm {UB}, {GM}, {X}, {X}, {X}, {X}, {X}, {X}")
    accepts(f"pto.copy_ubuf_to_gm {UB}, {GM}, {X}, {X}, {X}, {X}, {X}, {X}, {X}, {X}")
    roles = "source, dest, sid, n_burst, len_burst, reserved, dest_stride, source_stride"
    message = f"pto.copy_ubuf_to_gm takes 8 operands: {roles}; found 9"
    rejects(f"pto.copy_ubuf_to_gm {UB}, {GM}, {X}, {X}, {X}, {X}, {X}, {X}, ^{X}", message, kind="syntax")


def test_the_destination_stride_of_a_store_comes_first() -> None:
    gm, ub = (1 << 40) - 1, (1 << 21) - 1
    accepts(f"pto.copy_ubuf_to_gm {UB}, {GM}, {X}, {X}, {X}, {X}, %{gm}, %{ub}")
    message = f"source_stride is {gm}; it must be 0..{ub}"
    rejects(f"pto.copy_ubuf_to_gm {UB}, {GM}, {X}, {X}, {X}, {X}, %{ub}, ^%{gm}", message)


def test_operand_types_of_a_load() -> None:
    rest = f"{X}, ^%s_i32, {X}, {X}, {X}, %s_i1, {X}, {X}, {X}"
    rejects(load(rest=rest), "n_burst must be i64, not i32")
    accepts(load())


def test_field_widths_of_a_load() -> None:
    def with_(n: str = X, length: str = X, left: str = X, cache: str = X, gm: str = X, ub: str = X) -> str:
        return load(rest=f"{X}, {n}, {length}, {left}, {X}, %s_i1, {cache}, {gm}, {ub}")

    accepts(with_("%65535", "%65535", "%8", "%15", f"%{(1 << 40) - 1}", "%2097151"))
    rejects(with_(n="^%n1"), "n_burst is -1; it must be 0..2097151")
    rejects(with_(length="^%2097152"), "len_burst is 2097152; it must be 0..2097151")
    rejects(with_(gm="^%n1"), "source_stride is -1; it must be 0..1099511627775")
    warns(with_(n="^%65536"), "n_burst is 65536; some machines have 16 bits for it")
    warns(with_(length="^%0"), "len_burst is 0: the copy does nothing")


def test_without_padding_older_copies_of_a2a3_are_whole_granules() -> None:
    def body(length: str, padding: str) -> str:
        rest = f"{X}, {X}, {length}, {X}, {X}, %pad, {X}, {X}, {X}"
        return f"%pad = arith.constant {padding}\n{load(rest=rest)}"

    accepts(body("%100", "true"), target="a2a3")
    accepts(body("%100", "false"))
    store = f"pto.copy_ubuf_to_gm {UB}, {GM}, {X}, %2, %32, {X}, ^%100, %64"
    stride = "dest_stride is 100; without padding it must be a multiple of 32 on a2a3"
    rejects(store, stride, kind="misaligned", target="a2a3")
    accepts(store.replace("^", "").replace("%2,", "%1,"), target="a2a3")
    accepts(store.replace("^", ""))
    grouped = f"pto.mte_ub_gm {UB}, {GM}, %100 nburst{GROUP}"
    accepts(grouped, target="a2a3")
    accepts(grouped)


WIDTHS = "dest has elements of f16, but source has f32: their widths differ"


@pytest.mark.parametrize(
    ("name", "source", "dest", "rest"),
    [
        ("copy_gm_to_ubuf", "gm", "ub", f", {X}, {X}, {X}, {X}, {X}, %s_i1, {X}, {X}, {X}"),
        ("copy_ubuf_to_gm", "ub", "gm", f", {X}, {X}, {X}, {X}, {X}, {X}"),
        ("copy_ubuf_to_ubuf", "ub", "ub", f", {X}, {X}, {X}, {X}, {X}"),
        ("copy_ubuf_to_cbuf", "ub", "l1", f", {X}, {X}, {X}, {X}, {X}"),
        ("copy_cbuf_to_ubuf", "l1", "ub", f", {X}, {X}, {X}, {X}, {X}"),
        ("copy_gm_to_cbuf", "gm", "l1", f", {X}, {X}, {X}, {X}"),
        ("copy_gm_to_cbuf_multi_nd2nz", "gm", "l1", f", {X}, {X}, {X}, {X}, {X}, {X}, %s_i1"),
        ("copy_gm_to_cbuf_multi_dn2nz", "gm", "l1", f", {X}, {X}, {X}, {X}, {X}, {X}, %s_i1"),
        ("mte_gm_ub", "gm", "ub", f", {X}, {X} nburst{GROUP}"),
        ("mte_ub_gm", "ub", "gm", f", {X} nburst{GROUP}"),
        ("mte_ub_ub", "ub", "ub", f", {X} nburst{GROUP}"),
        ("mte_ub_l1", "ub", "l1", f", {X} nburst{GROUP}"),
        ("mte_l1_ub", "l1", "ub", f", {X} nburst{GROUP}"),
        ("mte_gm_l1", "gm", "l1", f", {X} nburst{GROUP}"),
        ("sim.l1_gm", "l1", "gm", f", {X} nburst{GROUP}"),
        (
            *("mte_gm_l1_frac", "gm", "l1"),
            f", nd2nz, shape({X}, {X}), src_layout({X}), dst_group({X}, {X}, {X}, {X}), ctrl({X}, %s_i1)",
        ),
    ],
)
class TestPointers:
    def test_of_equal_width(self, name: str, source: str, dest: str, rest: str) -> None:
        accepts(f"pto.{name} %p_f32_{source}, %p_f32_{dest}{rest}")
        accepts(f"pto.{name} %p_f32_{source}, %p_i32_{dest}{rest}")
        rejects(f"pto.{name} %p_f32_{source}, ^%p_f16_{dest}{rest}", WIDTHS)

    def test_into_the_spaces_of_the_name(self, name: str, source: str, dest: str, rest: str) -> None:
        rejects(f"pto.{name} ^%p_f32_l0c, %p_f32_{dest}{rest}", f"source must point to {source}, not l0c")
        rejects(f"pto.{name} %p_f32_{source}, ^%p_f32_bt{rest}", f"dest must point to {dest}, not bt")


@pytest.mark.parametrize("name", ["copy_ubuf_to_cbuf", "copy_cbuf_to_ubuf", "mte_ub_l1", "mte_l1_ub"])
def test_paths_between_the_cores_exist_on_a5_only(name: str) -> None:
    source, dest = (L1, UB) if name in ("copy_cbuf_to_ubuf", "mte_l1_ub") else (UB, L1)
    rest = f", {X} nburst{GROUP}" if name.startswith("mte") else f", {X}, {X}, {X}, {X}, {X}"
    message = f"pto.{name} does not exist on a2a3"
    rejects(f"^pto.{name} {source}, {dest}{rest}", message, kind="wrong-target", target="a2a3")
    accepts(f"pto.{name} {source}, {dest}{rest}")


def test_granule_copies() -> None:
    accepts(f"pto.copy_ubuf_to_ubuf {UB}, {UB}, %0, %65535, %65535, %65534, %65535 : <f32, ub>, <f32, ub>, i64 x5")
    message = "source_gap is 65536; it must be 0..65535"
    rejects(f"pto.copy_ubuf_to_ubuf {UB}, {UB}, %0, %1, %1, ^%65536, %0", message)
    accepts(f"pto.copy_ubuf_to_cbuf {UB}, {L1}, %0, %4095, %1, %0, %0")
    accepts(f"pto.copy_cbuf_to_ubuf {L1}, {UB}, %1, %1, %1, %0, %0")


# --- grouped copies ---------------------------------------------------------------------------------------------------


def test_loops_are_synonyms_and_commas_are_optional() -> None:
    plain = f"pto.mte_gm_ub {GM}, {UB}, {X}, {X} nburst{GROUP} loop{GROUP} loop(%1, %2, %3) pad(%s_f32)"
    same(plain, plain.replace("loop(%1", "loop2(%1").replace("loop(%s", "loop1(%s"))
    same(plain, f"pto.mte_gm_ub {GM}, {UB}, {X}, {X}, nburst{GROUP}, loop{GROUP}, loop(%1, %2, %3), pad(%s_f32)")
    loops = "loop i64, i64, i64, loop2 i64, i64, i64"
    types = f"!pto.ptr<f32, gm>, !pto.ptr<f32, ub>, i64, i64, i64, i64, i64, {loops}, pad f32"
    same(plain, f"{plain} : {types}")
    assert ", loop i64, i64, i64, loop i64, i64, i64, pad f32\n" in text_of(plain)


def test_type_lists_may_be_short() -> None:
    body = f"pto.mte_gm_ub {GM}, {UB}, {X}, {X} nburst{GROUP}"
    same(body, f"{body} : !pto.ptr<f32, gm>, !pto.ptr<f32, ub>, i64, i64, i64")
    same(body, f"{body} : <f32, gm>, <f32, ub>, i64 x5")
    rejects(
        f"{body} : <f32, gm>, ^<f16, ub>", "dest has type !pto.ptr<f32, ub>, but the type list says !pto.ptr<f16, ub>"
    )


def test_the_store_has_its_own_cache_clause() -> None:
    accepts(f"pto.mte_ub_gm {UB}, {GM}, {X} nburst{GROUP} l2_cache_ctl(%15) loop{GROUP}")
    message = "l2_cache_ctl is 16; it must be 0..15"
    rejects(f"pto.mte_ub_gm {UB}, {GM}, {X} nburst{GROUP} l2_cache_ctl(^%16)", message)
    accepts(f"pto.mte_gm_ub {GM}, {UB}, %15, {X} nburst{GROUP}")


def test_padding_of_grouped_loads() -> None:
    start = f"pto.mte_gm_ub {GM}, {UB}, {X}, {X} nburst{GROUP}"
    accepts(f"{start} pad(%s_f32)")
    accepts(f"{start} pad(%s_i32, %0, %8)")
    rejects(f"{start} pad(%s_f32, {X}, ^%256)", "right_padding is 256; it must be 0..255")


def test_loops_of_grouped_copies() -> None:
    start = f"pto.mte_gm_ub {GM}, {UB}, {X}, {X} nburst{GROUP}"
    accepts(f"{start} loop(%2097151, %1099511627775, %2097151)")
    rejects(f"{start} loop{GROUP} loop(^%n1, {X}, {X})", "loop_counts[1] is -1; it must be 0..2097151")
    message = "loop_dest_strides[0] is 2097152; it must be 0..2097151"
    rejects(f"{start} loop({X}, {X}, ^%2097152) loop{GROUP}", message)
    accepts(f"pto.mte_l1_ub {L1}, {UB}, {X} nburst{GROUP} loop{GROUP} loop{GROUP}")
    accepts(f"pto.mte_gm_l1 {GM}, {L1}, {X} nburst{GROUP} loop1{GROUP} loop2{GROUP}")
    accepts(f"pto.sim.l1_gm {L1}, {GM}, {X} nburst{GROUP} loop{GROUP} loop{GROUP}")


def test_gaps_of_grouped_copies() -> None:
    accepts(f"pto.mte_ub_ub {UB}, {UB}, %1 nburst(%4, %65535, %0)")
    message = "dest_gap is 65536; it must be 0..65535"
    rejects(f"pto.mte_ub_ub {UB}, {UB}, %1 nburst(%4, %0, ^%65536)", message)
    rejects(f"pto.mte_ub_l1 {UB}, {L1}, %1 nburst(^%s_i32, %0, %0)", "n_burst must be i64, not i32")


# --- layout conversion ------------------------------------------------------------------------------------------------


def frac(
    mode: str = "nd2nz",
    shape: str = f"{X}, {X}",
    layout: str = X,
    group: str = f"{X}, {X}, {X}, {X}",
    control: str = f"{X}, %s_i1",
) -> str:
    clauses = f"shape({shape}), src_layout({layout}), dst_group({group}), ctrl({control})"
    return f"pto.mte_gm_l1_frac {GM}, {L1}, {mode}, {clauses}"


def frac_types(mode: str, layout: str = "i64") -> str:
    groups = f"shape i64, i64, src_layout({layout}), dst_group i64, i64, i64, i64, ctrl i64, i1"
    return f"!pto.ptr<f32, gm>, !pto.ptr<f32, l1>, {mode}, {groups}"


@pytest.mark.parametrize("mode", ["nd2nz", "dn2nz"])
def test_layout_converting_copies(mode: str) -> None:
    accepts(frac(mode))
    accepts(frac(mode, layout=f"{X}, {X}"))
    assert f" : {frac_types(mode)}\n" in text_of(frac(mode))
    same(frac(mode), f"{frac(mode)} : {frac_types(mode)}")
    same(frac(mode, layout=f"{X}, {X}"), f"{frac(mode, layout=f'{X}, {X}')} : {frac_types(mode, 'i64, i64')}")


def test_constants_of_layout_converting_copies() -> None:
    accepts(frac(shape="%16, %50", layout="%0, %0", group="%1, %0, %0, %0", control="%15, %s_i1"))
    rejects(frac(layout="^%n1"), "inner_stride is -1; it must be 0..1099511627775")


def test_small_c0_needs_at_most_four_columns() -> None:
    true = "%small = arith.constant true\n"
    accepts(true + frac(shape=f"{X}, %4", control=f"{X}, %small"))
    accepts(true + frac(control=f"{X}, %small"))
    accepts(frac(shape=f"{X}, %5"))
    message = "d is 5; with small_c0 it must be at most 4"
    rejects(true + frac(shape=f"{X}, ^%5", control=f"{X}, %small"), message)


# --- filling ----------------------------------------------------------------------------------------------------------


def fill(offset: str = X, repeat: str = X, blocks: str = X, gap: str = X, bits: str = "32") -> str:
    return f"pto.raw_fill_l1 {L1}, {offset}, %s_i32, {repeat}, {blocks}, {gap} {{fill_word_bits = {bits}}}"


def test_filling_of_l1() -> None:
    accepts(fill("%64", "%32767", "%32767", "%32767", "16"))
    accepts(fill(bits="32 : i32"))
    rejects(fill("^%33"), "byte_offset is 33; it must be a multiple of 32")
    rejects(fill(repeat="^%32768"), "repeat is 32768; it must be 0..32767")
    rejects(fill(blocks="^%n1"), "blocks is -1; it must be 0..32767")
    rejects(fill().replace("%s_i32", f"^{X}"), "value must be i32, not i64")


def test_filling_by_elements() -> None:
    def body(element: str, bits: int) -> str:
        return f"pto.create_cbuf_matrix %p_{element}_l1, %s_i32, {X}, {X}, {X} {{fill_word_bits = {bits}}}"

    accepts(body("ui16", 16))
    accepts(body("ui32", 32))
    marked = body("ui16", 32).replace("%p", "^%p")
    rejects(marked, "dest has elements of 16 bits, but fill_word_bits is 32")


# --- the DMA page -----------------------------------------------------------------------------------------------------


def test_an_operand_list_over_many_lines_with_comments() -> None:
    accepts("""pto.set_loop_size_outtoub %4, %1 : i64, i64
        pto.set_loop1_stride_outtoub %2048, %2048 : i64, i64
        pto.set_loop2_stride_outtoub %0, %0 : i64, i64
        pto.copy_gm_to_ubuf %p_f16_gm, %p_f16_ub,
            %0,     // sid
            %8,     // n_burst: rows of a batch
            %256,   // len_burst
            %0,     // left_padding
            %0,     // right_padding
            %s_i1,  // data_select
            %0,     // l2_cache_ctl
            %256,   // source stride
            %256    // destination stride
            : !pto.ptr<f16, gm>, !pto.ptr<f16, ub>, i64, i64, i64,
              i64, i64, i1, i64, i64, i64""")


def test_a_store_over_many_lines_with_comments() -> None:
    accepts("""pto.set_loop_size_ubtoout %1, %1 : i64, i64
        pto.copy_ubuf_to_gm %p_f16_ub, %p_f16_gm,
            %0,     // sid
            %64,    // n_burst
            %256,   // len_burst
            %0,     // reserved
            %1024,  // destination stride
            %256    // source stride
            : !pto.ptr<f16, ub>, !pto.ptr<f16, gm>, i64, i64, i64, i64, i64, i64""")


GENERIC_COPY = """module {
func.func @kernel(%gm: !pto.ptr<f32, gm>, %ub: !pto.ptr<f32, ub>,
                  %l2: i64, %len: i64, %n: i64, %s: i64, %d: i64, %c: i64) {
OPERATION
return
}
}
"""


@table(
    "generic, written",
    (
        '"pto.mte_gm_ub"(%gm, %ub, %l2, %len, %n, %s, %d)'
        " : (!pto.ptr<f32, gm>, !pto.ptr<f32, ub>, i64, i64, i64, i64, i64) -> ()",
        "pto.mte_gm_ub %gm, %ub, %l2, %len nburst(%n, %s, %d) :",
    ),
    (
        '"pto.mte_gm_ub"(%gm, %ub, %l2, %len, %n, %s, %d, %c, %s, %d)'
        " <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0>}>"
        " : (!pto.ptr<f32, gm>, !pto.ptr<f32, ub>, i64, i64, i64, i64, i64, i64, i64, i64) -> ()",
        "pto.mte_gm_ub %gm, %ub, %l2, %len nburst(%n, %s, %d) loop(%c, %s, %d) :",
    ),
    (
        '"pto.mte_ub_gm"(%ub, %gm, %len, %n, %s, %d)'
        " : (!pto.ptr<f32, ub>, !pto.ptr<f32, gm>, i64, i64, i64, i64) -> ()",
        "pto.mte_ub_gm %ub, %gm, %len nburst(%n, %s, %d) :",
    ),
)
def test_the_generic_form_has_the_order_of_the_text(generic: str, written: str):
    assert written in text(read(GENERIC_COPY.replace("OPERATION", generic)))
