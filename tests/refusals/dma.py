"""The rules of copies, one by one: a kernel that breaks each, and its twin."""

from language.scalar_kernel import rejects
from refusals.rule import Rule, rows, rules

_X = "%s_i64"
_TO_UB = "!pto.ptr<f32, gm>, !pto.ptr<f32, ub>"
_COUNT, _LONG, _GM, _UB = 2097151, 65535, (1 << 40) - 1, (1 << 21) - 1
_PADS = "{} is {}; hardware pads at most 32 bytes at each end of a row, {} elements"


def gm_ub(length: str = _X, rows: str = f"{_X}, {_X}, {_X}", rest: str = "", l2: str = _X) -> str:
    return f"pto.mte_gm_ub %p_f32_gm, %p_f32_ub, {l2}, {length} nburst({rows}){rest}"


def ub_gm(length: str = _X, rows: str = f"{_X}, {_X}, {_X}", rest: str = "") -> str:
    return f"pto.mte_ub_gm %p_f32_ub, %p_f32_gm, {length} nburst({rows}){rest}"


def copy(name: str, source: str, dest: str, *scalars: str) -> str:
    return f"pto.{name} {source}, {dest}, " + ", ".join(scalars)


def gm_to_ubuf(**given: str) -> str:
    roles = ("sid", "n", "length", "left", "right", "select", "l2", "source", "dest")
    scalars = {**dict.fromkeys(roles, _X), "select": "%s_i1", **given}
    return copy("copy_gm_to_ubuf", "%p_f32_gm", "%p_f32_ub", *scalars.values())


def ubuf_to_gm(**given: str) -> str:
    scalars = {**dict.fromkeys(("sid", "n", "length", "reserved", "dest", "source"), _X), **given}
    return copy("copy_ubuf_to_gm", "%p_f32_ub", "%p_f32_gm", *scalars.values())


REGISTERS = rules("""
pto.set_pad_val_outtol1 ~%s_«f64|f16» ⇒ a pad value must be one of i8, i16, i32, f16, bf16, f32, not f64
""")

POSITIONAL = rules(
    f"""
pto.copy_gm_to_ubuf %p_f32_gm, %p_f32_ub, {", ".join([_X] * 5)}, %s_i1, {_X}, {_X}«, {_X}, ~{_X}|, {_X}»
  ⇒ [syntax] pto.copy_gm_to_ubuf takes 11 operands: source, dest, sid, n_burst, len_burst, left_padding, right_padding,
    data_select, l2_cache_ctl, source_stride, dest_stride; found 12
pto.copy_ubuf_to_gm %p_f32_ub, %p_f32_gm, {_X}, {_X}, {_X}, {_X}, ~{_X}«|, {_X}»
  ⇒ [syntax] pto.copy_ubuf_to_gm takes 8 operands: source, dest, sid, n_burst, len_burst, reserved, dest_stride,
    source_stride; found 7
{gm_to_ubuf(length="~%«n32|32»")} ⇒ len_burst is -32; it must be 0..{_COUNT}
{copy("copy_gm_to_ubuf", "%p_f32_gm", "%p_f32_ub", "~%s_«i32|i64»", *[_X] * 6, "%s_i1", *[_X] * 3)}
  ⇒ valid_rows must be i64, not i32
{copy("copy_ubuf_to_gm", "%p_f32_ub", "%p_f32_gm", _X, "~%s_«index|i64»", *[_X] * 6)}
  ⇒ valid_cols must be i64, not index
%small = arith.constant true
{copy("copy_gm_to_cbuf_multi_nd2nz", "%p_f16_gm", "%p_f16_l1", *[_X] * 4, "~%«5|4»", _X, "%small")}
  ⇒ d is 5; with small_c0 it must be at most 4
%off = arith.constant false
{gm_to_ubuf(select="%off", length="~%«100|96»")}
  ⇒ [misaligned a2a3] len_burst is 100; without padding it must be a multiple of 32 on a2a3
""",
    Rule(
        ubuf_to_gm(n="%2", length="%64", dest="~%«100|96»"),
        "dest_stride is 100; without padding it must be a multiple of 32 on a2a3",
        "misaligned",
        "a3",
    ),
    f"""
{copy("copy_gm_to_cbuf", "%p_f16_gm", "%p_f16_l1", "%1", "~%«100|96»", "%0", "%0")}
  ⇒ [misaligned a2a3] len_burst is 100; without padding it must be a multiple of 32 on a2a3
""",
    Rule(
        ubuf_to_gm(n="%«2|1»", length="%64", source="~%100"),
        "source_stride is 100; without padding it must be a multiple of 32 on a2a3",
        "misaligned",
        "a2",
    ),
)

GROUPED = rules(f"""
pto.mte_gm_ub %p_f32_gm, %p_f32_ub, {_X}, {_X} «~|nburst({_X}, {_X}, {_X}) »: {_TO_UB}
  ⇒ [syntax] expected 'nburst(n_burst, source_stride, dest_stride)' of pto.mte_gm_ub
{gm_ub(rest=f" ~«nburst|loop»({_X}, {_X}, {_X})")}
  ⇒ [syntax] clause 'nburst' after 'nburst': only one of them may be given
{gm_ub(rest=f" «pad(%s_f32) ~loop({_X}, {_X}, {_X})|loop({_X}, {_X}, {_X}) pad(%s_f32)»")}
  ⇒ [syntax] clause 'loop' must come before 'pad'
{gm_ub(rest=" pad(%s_f32) «~pad(%s_f32)|»")} ⇒ [syntax] clause 'pad' after 'pad': only one of them may be given
{gm_ub(rest=f" ~«loop3|loop2»({_X}, {_X}, {_X})")}
  ⇒ [syntax] unknown clause 'loop3'; known, in this order: nburst, loop, loop1, loop2, pad
{ub_gm(rest=f" «loop({_X}, {_X}, {_X}) ~l2_cache_ctl({_X})|l2_cache_ctl({_X}) loop({_X}, {_X}, {_X})»")}
  ⇒ [syntax] clause 'l2_cache_ctl' must come before 'loop'
{ub_gm(rest=f" ~«pad(%s_f32)|loop({_X}, {_X}, {_X})»")}
  ⇒ [syntax] unknown clause 'pad'; known, in this order: nburst, l2_cache_ctl, loop, loop1, loop2
pto.mte_ub_ub %p_f32_ub, %p_f32_ub, {_X} nburst({_X}, {_X}, {_X})« ~loop({_X}, {_X}, {_X})|»
  ⇒ [syntax] unknown clause 'loop'; known, in this order: nburst
{gm_ub(rest=f" pad(%s_f32, {_X}~«|, {_X}»)")} ⇒ [syntax] Expected ',': left and right padding are given together
{gm_ub(rest=f" pad(%s_i8, ~%«33|32», {_X})").replace("f32_", "i8_")}
  ⇒ [lint warning] {_PADS.format("left_padding", 33, 32)}
{ub_gm(rest=f" loop({_X}, {_X}, {_X}) loop({_X}, {_X}, ~%s_«index|i64»)")} ⇒ loop_dest_strides[1] must be i64, not index
{gm_ub(rest=f" loop({_X}, {_X}~«|, {_X}»)")}
  ⇒ [syntax] Expected ',' before loop_dest_strides[0]: this clause takes 3 operands (loop_counts[0],
    loop_source_strides[0], loop_dest_strides[0]), not 2
{gm_ub()} : {_TO_UB}, ~«i32|i64», i64 x4 ⇒ l2_cache_ctl has type i64, but the type list says i32
{gm_ub()} : {_TO_UB}, i64 x5«, ~i64|» ⇒ the type list has more types than the instruction has operands (7)
~pto.«mte_ub_l1|mte_ub_ub» %p_f32_ub, %p_f32_«l1|ub», {_X} nburst({_X}, {_X}, {_X})
  ⇒ [wrong-target a2a3] pto.mte_ub_l1 does not exist on a2a3
""")


_FILL = "pto.raw_fill_l1 {}, {}, %s_i32, {}, {}, {} {{fill_word_bits = {} : i64}}"

FILLS = rules(f"""
{_FILL.format("%p_f32_l1", "~%«48|64»", _X, _X, _X, 32)} ⇒ byte_offset is 48; it must be a multiple of 32
~pto.raw_fill_l1 %p_f32_l1, {_X}, %s_i32, {_X}, {_X}, {_X} {{«|fill_word_bits = 32 : i64»}}
  ⇒ pto.raw_fill_l1 needs {{fill_word_bits = 16}} or {{fill_word_bits = 32}}
{_FILL.format("%p_f32_l1", "~%«n32|32»", _X, _X, _X, 32)} ⇒ byte_offset is -32; it must be at least 0
""")


OUTSIDE = (
    gm_ub(),
    ub_gm(),
    gm_to_ubuf(),
    ubuf_to_gm(),
    f"pto.mte_ub_ub %p_f32_ub, %p_f32_ub, {_X} nburst({_X}, {_X}, {_X})",
    copy("copy_ubuf_to_ubuf", "%p_f32_ub", "%p_f32_ub", *[_X] * 5),
    copy("copy_ubuf_to_cbuf", "%p_f32_ub", "%p_f32_l1", *[_X] * 5),
    f"pto.set_loop_size_outtoub {_X}, {_X}",
    f"pto.set_loop1_stride_ubtoout {_X}, {_X}",
    "pto.set_mov_pad_val %s_f32",
    "pto.set_atomic_add",
    "pto.set_atomic_f32",
    "pto.set_atomic_none",
)
CLAUSES_OF_GROUPED_COPIES = rows(rejects, kind="syntax")("""
pto.mte_gm_ub %p_f32_gm, %p_f32_ub, %s_i64, %s_i64 nburst(%s_i64, %s_i64, %s_i64) ^lop(%s_i64, %s_i64, %s_i64)
  ⇒ unknown clause 'lop'; known, in this order: nburst, loop, loop1, loop2, pad
pto.mte_ub_ub %p_f32_ub, %p_f32_ub, %s_i64 nburst(%s_i64, %s_i64, %s_i64) ^pad(%s_f32)
  ⇒ unknown clause 'pad'; known, in this order: nburst
pto.mte_ub_l1 %p_f32_ub, %p_f32_l1, %s_i64 nburst(%s_i64, %s_i64, %s_i64) ^loop(%s_i64, %s_i64, %s_i64)
  ⇒ unknown clause 'loop'; known, in this order: nburst
""")

THE_MODE_IS_THE_SAME_IN_THE_TYPE_LIST = [
    *rows(rejects)("""
pto.mte_gm_l1_frac %p_f32_gm, %p_f32_l1, nd2nz, shape(%s_i64, %s_i64), src_layout(%s_i64), dst_group(%s_i64, %s_i64,
    %s_i64, %s_i64), ctrl(%s_i64, %s_i1) : !pto.ptr<f32, gm>, !pto.ptr<f32, l1>, ^dn2nz, shape i64, i64,
    src_layout(i64), dst_group i64, i64, i64, i64, ctrl i64, i1
  ⇒ the layout is nd2nz, but the type list says dn2nz
"""),
]

CLAUSES_OF_LAYOUT_CONVERTING_COPIES_ARE_IN_ORDER = rows(rejects, kind="syntax")("""
pto.mte_gm_l1_frac %p_f32_gm, %p_f32_l1, nd2nz, ^src_layout(%s_i64), shape(%s_i64, %s_i64)
  ⇒ Expected 'shape' in pto.mte_gm_l1_frac: shape, src_layout, dst_group and ctrl follow in this order
""")

RULES = [
    *CLAUSES_OF_GROUPED_COPIES,
    *THE_MODE_IS_THE_SAME_IN_THE_TYPE_LIST,
    *CLAUSES_OF_LAYOUT_CONVERTING_COPIES_ARE_IN_ORDER,
    *(*REGISTERS, *POSITIONAL, *GROUPED, *FILLS),
    *(
        Rule(
            f"«pto.vecscope {{|»\n~{instruction}\n«}}|»",
            f"{instruction.partition(' ')[0]} must be outside 'pto.vecscope'",
        )
        for instruction in OUTSIDE
    ),
]
