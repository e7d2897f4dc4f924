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


REGISTERS = rules(f"""
pto.set_loop_size_outtoub ~%«0|1», %1 : i64, i64 ⇒ loop1 is 0; it must be 1..{_COUNT}
pto.set_loop_size_ubtoout %1, ~%«2097152|{_COUNT}» : i64, i64 ⇒ loop2 is 2097152; it must be 1..{_COUNT}
pto.set_loop_size_outtoub ~%«s_i32|s_i64», %1 ⇒ loop1 must be i64, not i32
pto.set_loop1_stride_outtoub ~%«{_GM + 1}|{_GM}», %0 ⇒ source_stride is {_GM + 1}; it must be 0..{_GM}
pto.set_loop2_stride_outtoub %0, ~%«{_UB + 1}|{_UB}» ⇒ dest_stride is {_UB + 1}; it must be 0..{_UB}
pto.set_loop1_stride_ubtoout ~%«{_UB + 1}|{_UB}», %0 ⇒ source_stride is {_UB + 1}; it must be 0..{_UB}
pto.set_loop2_stride_ubtoout %0, ~%«{_GM + 1}|{_GM}» ⇒ dest_stride is {_GM + 1}; it must be 0..{_GM}
pto.set_loop1_stride_outtoub ~%«n1|0», %0 ⇒ source_stride is -1; it must be 0..{_GM}
pto.set_loop1_stride_outtoub %0, ~%«s_index|s_i64» ⇒ dest_stride must be i64, not index
pto.set_loop_size_ubtoout %1, ~%«s_index|s_i64» ⇒ loop2 must be i64, not index
pto.set_loop2_stride_ubtoout ~%«s_i32|s_i64», %0 ⇒ source_stride must be i64, not i32
pto.set_mte2_nz_para ~%«s_i32|s_i64» ⇒ packed must be i64, not i32
pto.set_loop_size_outtol1 ~%«s_i32|s_i64» ⇒ packed must be i64, not i32
pto.set_loop2_stride_outtol1 ~%«s_index|s_i64» ⇒ packed must be i64, not index
pto.set_mov_pad_val ~%s_«i64|i32» ⇒ a pad value must be one of i8, i16, i32, f16, bf16, f32, not i64
pto.set_mov_pad_val ~%s_«ui8|i8» ⇒ a pad value must be one of i8, i16, i32, f16, bf16, f32, not ui8
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
{gm_to_ubuf(select="~%s_«i64|i1»")} ⇒ data_select must be i1, not i64
{gm_to_ubuf(length="~%s_«index|i64»")} ⇒ len_burst must be i64, not index
{ubuf_to_gm(source="~%s_«i32|i64»")} ⇒ source_stride must be i64, not i32
{gm_to_ubuf(n=f"~%«{_COUNT + 1}|{_LONG}»")} ⇒ n_burst is {_COUNT + 1}; it must be 0..{_COUNT}
{gm_to_ubuf(length="~%«n32|32»")} ⇒ len_burst is -32; it must be 0..{_COUNT}
{ubuf_to_gm(length=f"~%«{_COUNT + 1}|{_LONG}»")} ⇒ len_burst is {_COUNT + 1}; it must be 0..{_COUNT}
{gm_to_ubuf(length=f"~%«{_LONG + 1}|{_LONG}»")}
  ⇒ [lint warning] len_burst is {_LONG + 1}; some machines have 16 bits for it
{ubuf_to_gm(n="~%«0|1»")} ⇒ [lint warning] n_burst is 0: the copy does nothing
{gm_to_ubuf(source=f"~%«{_GM + 1}|{_GM}»")} ⇒ source_stride is {_GM + 1}; it must be 0..{_GM}
{gm_to_ubuf(dest=f"~%«{_UB + 1}|{_UB}»")} ⇒ dest_stride is {_UB + 1}; it must be 0..{_UB}
{ubuf_to_gm(dest=f"~%«{_GM + 1}|{_GM}»")} ⇒ dest_stride is {_GM + 1}; it must be 0..{_GM}
{ubuf_to_gm(source="~%«n1|0»")} ⇒ source_stride is -1; it must be 0..{_UB}
{gm_to_ubuf(left="~%«256|8»")} ⇒ left_padding is 256; it must be 0..255
{gm_to_ubuf(right="~%«n1|0»")} ⇒ right_padding is -1; it must be 0..255
{gm_to_ubuf(left="~%«9|8»")} ⇒ [lint warning] {_PADS.format("left_padding", 9, 8)}
{gm_to_ubuf(left="~%«255|0»")} ⇒ [lint warning] {_PADS.format("left_padding", 255, 8)}
%c = arith.constant «true|false»
{gm_to_ubuf(right="~%9", select="%c")}
  ⇒ [lint warning] {_PADS.format("right_padding", 9, 8)}
{ubuf_to_gm(reserved="~%«16|0»")} ⇒ reserved is 16; it must be 0..15
{ubuf_to_gm(sid="~%«n1|0»")} ⇒ sid is -1; it must be 0..15
{copy("copy_gm_to_ubuf", "%p_f32_gm", "%p_f32_ub", "~%s_«i32|i64»", *[_X] * 6, "%s_i1", *[_X] * 3)}
  ⇒ valid_rows must be i64, not i32
{copy("copy_ubuf_to_gm", "%p_f32_ub", "%p_f32_gm", _X, "~%s_«index|i64»", *[_X] * 6)}
  ⇒ valid_cols must be i64, not index
{gm_to_ubuf(l2="~%«16|15»")} ⇒ l2_cache_ctl is 16; it must be 0..15
{gm_to_ubuf(sid="~%«16|15»")} ⇒ sid is 16; it must be 0..15
{copy("copy_ubuf_to_gm", "%p_f32_ub", "~%p_«f16|i32»_gm", *[_X] * 6)}
  ⇒ dest has elements of f16, but source has f32: their widths differ
{copy("copy_ubuf_to_gm", "~%p_f32_«gm|ub»", "%p_f32_gm", *[_X] * 6)} ⇒ source must point to ub, not gm
{copy("copy_ubuf_to_ubuf", "%p_f32_ub", "~%p_f32_«l1|ub»", *[_X] * 5)} ⇒ dest must point to ub, not l1
{copy("copy_ubuf_to_ubuf", "%p_f32_ub", "%p_f32_ub", _X, _X, f"~%«{_LONG + 1}|{_LONG}»", _X, _X)}
  ⇒ len_burst is {_LONG + 1}; it must be 0..{_LONG}
{copy("copy_ubuf_to_ubuf", "%p_f32_ub", "%p_f32_ub", _X, _X, _X, "~%«n1|0»", _X)}
  ⇒ source_gap is -1; it must be 0..{_LONG}
{copy("copy_ubuf_to_ubuf", "%p_f32_ub", "%p_f32_ub", _X, _X, _X, _X, f"~%«{_LONG + 1}|{_LONG}»")}
  ⇒ dest_gap is {_LONG + 1}; it must be 0..{_LONG}
{copy("copy_ubuf_to_ubuf", "%p_f32_ub", "%p_f32_ub", "~%s_«i32|i64»", *[_X] * 4)} ⇒ sid must be i64, not i32
{copy("copy_ubuf_to_cbuf", "%p_f32_ub", "%p_f32_l1", _X, _X, _X, _X, "~%s_«index|i64»")}
  ⇒ dest_gap must be i64, not index
{copy("copy_ubuf_to_cbuf", "%p_f32_ub", "%p_f32_l1", _X, "~%«4096|4095»", _X, _X, _X)}
  ⇒ n_burst is 4096; it must be 0..4095
{copy("copy_cbuf_to_ubuf", "%p_f32_l1", "%p_f32_ub", "~%«2|1»", _X, _X, _X, _X)} ⇒ sid is 2; it must be 0..1
{copy("copy_gm_to_cbuf", "%p_f32_gm", "~%p_f32_«ub|l1»", *[_X] * 4)} ⇒ dest must point to l1, not ub
{copy("copy_gm_to_cbuf", "%p_f32_gm", "%p_f32_l1", _X, "~%s_«i32|i64»", _X, _X)} ⇒ len_burst must be i64, not i32
{copy("copy_gm_to_cbuf", "%p_f32_gm", "%p_f32_l1", f"~%«{_COUNT + 1}|{_LONG}»", _X, _X, _X)}
  ⇒ n_burst is {_COUNT + 1}; it must be 0..{_COUNT}
{copy("copy_gm_to_cbuf", "%p_f32_gm", "%p_f32_l1", _X, _X, _X, f"~%«{_UB + 1}|{_UB}»")}
  ⇒ dest_stride is {_UB + 1}; it must be 0..{_UB}
{copy("copy_gm_to_cbuf_multi_nd2nz", "%p_f16_gm", "%p_f16_l1", _X, "~%s_«i32|i64»", *[_X] * 4, "%s_i1")}
  ⇒ inner_stride must be i64, not i32
{copy("copy_gm_to_cbuf_multi_dn2nz", "%p_f16_gm", "%p_f16_l1", *[_X] * 6, "~%s_«i64|i1»")}
  ⇒ small_c0 must be i1, not i64
{copy("copy_gm_to_cbuf_multi_dn2nz", "%p_f16_gm", "%p_f16_l1", *[_X] * 3, "~%«n1|0»", _X, _X, "%s_i1")}
  ⇒ n is -1; it must be 0..2097151
{copy("copy_gm_to_cbuf_multi_nd2nz", "%p_f16_gm", "%p_f16_l1", *[_X] * 4, "~%«n1|0»", _X, "%s_i1")}
  ⇒ d is -1; it must be 0..2097151
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

_WIDTHS = "dest has elements of i8, but source has f16: their widths differ"

WIDTHS = [
    Rule(f"pto.{name} %p_f16_{source}, ~%p_«i8|i16»_{dest}, {rest}", _WIDTHS)
    for name, source, dest, rest in (
        ("copy_gm_to_ubuf", "gm", "ub", f"{', '.join([_X] * 5)}, %s_i1, {_X}, {_X}, {_X}"),
        ("copy_ubuf_to_gm", "ub", "gm", ", ".join([_X] * 6)),
        ("copy_ubuf_to_ubuf", "ub", "ub", ", ".join([_X] * 5)),
        ("copy_ubuf_to_cbuf", "ub", "l1", ", ".join([_X] * 5)),
        ("copy_cbuf_to_ubuf", "l1", "ub", ", ".join([_X] * 5)),
        ("copy_gm_to_cbuf", "gm", "l1", ", ".join([_X] * 4)),
        ("copy_gm_to_cbuf_multi_nd2nz", "gm", "l1", f"{', '.join([_X] * 6)}, %s_i1"),
        ("mte_gm_ub", "gm", "ub", f"{_X}, {_X} nburst({_X}, {_X}, {_X})"),
        ("mte_gm_l1", "gm", "l1", f"{_X} nburst({_X}, {_X}, {_X})"),
        ("mte_ub_ub", "ub", "ub", f"{_X} nburst({_X}, {_X}, {_X})"),
        ("mte_ub_l1", "ub", "l1", f"{_X} nburst({_X}, {_X}, {_X})"),
        ("mte_l1_ub", "l1", "ub", f"{_X} nburst({_X}, {_X}, {_X})"),
    )
]

GROUPED = rules(f"""
{gm_ub(rows=f"~%s_«i32|i64», {_X}, {_X}")} ⇒ n_burst must be i64, not i32
{gm_ub(rows=f"{_X}, {_X}, ~%s_«index|i64»")} ⇒ dest_stride must be i64, not index
pto.mte_ub_ub %p_f32_ub, %p_f32_ub, {_X} nburst(%2, {_X}, ~%«n1|0») ⇒ dest_gap is -1; it must be 0..{_LONG}
pto.mte_ub_l1 %p_f32_ub, %p_f32_l1, {_X} nburst(%2, ~%s_«i32|i64», {_X}) ⇒ source_gap must be i64, not i32
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
{gm_ub(rest=" pad(~%s_«i64|i32»)")} ⇒ a pad value must be one of i8, i16, i32, f16, bf16, f32, not i64
{gm_ub(rest=" pad(~%s_«f16|f32»)")} ⇒ pad_value has elements of f16, but dest has f32: their widths differ
{gm_ub(rest=f" pad(%s_f32, ~%s_«i32|i64», {_X})")} ⇒ left_padding must be i64, not i32
{gm_ub(rest=f" pad(%s_f32, {_X}, ~%s_«index|i64»)")} ⇒ right_padding must be i64, not index
{gm_ub(rest=f" pad(%s_f32, ~%«256|8», {_X})")} ⇒ left_padding is 256; it must be 0..255
{gm_ub(rest=f" pad(%s_f32, {_X}, ~%«9|8»)")} ⇒ [lint warning] {_PADS.format("right_padding", 9, 8)}
{gm_ub(rest=f" pad(%s_i8, ~%«33|32», {_X})").replace("f32_", "i8_")}
  ⇒ [lint warning] {_PADS.format("left_padding", 33, 32)}
{gm_ub(l2="~%s_«i32|i64»")} ⇒ l2_cache_ctl must be i64, not i32
{ub_gm(rest=" l2_cache_ctl(~%s_«i32|i64»)")} ⇒ l2_cache_ctl must be i64, not i32
{gm_ub(rest=f" loop(~%s_«i32|i64», {_X}, {_X})")} ⇒ loop_counts[0] must be i64, not i32
{ub_gm(rest=f" loop({_X}, ~%s_«i32|i64», {_X})")} ⇒ loop_source_strides[0] must be i64, not i32
{ub_gm(rest=f" loop({_X}, {_X}, {_X}) loop({_X}, {_X}, ~%s_«index|i64»)")} ⇒ loop_dest_strides[1] must be i64, not index
pto.mte_l1_ub %p_f16_l1, %p_f16_ub, {_X} nburst({_X}, {_X}, {_X}) loop(%2, {_X}, ~%«n1|0»)
  ⇒ loop_dest_strides[0] is -1; it must be 0..{_UB}
{gm_ub(length="~%s_«index|i64»")} ⇒ len_burst must be i64, not index
{gm_ub(l2="~%«16|15»")} ⇒ l2_cache_ctl is 16; it must be 0..15
{ub_gm(rest=" l2_cache_ctl(~%«n1|0»)")} ⇒ l2_cache_ctl is -1; it must be 0..15
{gm_ub(length=f"~%«{_COUNT + 1}|{_LONG}»")} ⇒ len_burst is {_COUNT + 1}; it must be 0..{_COUNT}
{gm_ub(rows=f"~%«n1|1», {_X}, {_X}")} ⇒ n_burst is -1; it must be 0..{_COUNT}
{gm_ub(rows=f"%2, ~%«{_GM + 1}|{_GM}», {_X}")} ⇒ source_stride is {_GM + 1}; it must be 0..{_GM}
{ub_gm(rows=f"%2, ~%«{_UB + 1}|{_UB}», {_X}")} ⇒ source_stride is {_UB + 1}; it must be 0..{_UB}
{gm_ub(rest=f" loop(~%«n1|1», {_X}, {_X})")} ⇒ loop_counts[0] is -1; it must be 0..{_COUNT}
{gm_ub(rest=f" loop(%2, ~%«n1|0», {_X})")} ⇒ loop_source_strides[0] is -1; it must be 0..{_GM}
{gm_ub(rest=f" loop({_X}, {_X}~«|, {_X}»)")}
  ⇒ [syntax] Expected ',' before loop_dest_strides[0]: this clause takes 3 operands (loop_counts[0],
    loop_source_strides[0], loop_dest_strides[0]), not 2
{gm_ub()} : {_TO_UB}, ~«i32|i64», i64 x4 ⇒ l2_cache_ctl has type i64, but the type list says i32
{gm_ub()} : {_TO_UB}, i64 x5«, ~i64|» ⇒ the type list has more types than the instruction has operands (7)
pto.mte_gm_ub ~%p_f32_«ub|gm», %p_f32_ub, {_X}, {_X} nburst({_X}, {_X}, {_X}) ⇒ source must point to gm, not ub
pto.mte_ub_gm %p_f32_ub, ~%p_«i8|i32»_gm, {_X} nburst({_X}, {_X}, {_X})
  ⇒ dest has elements of i8, but source has f32: their widths differ
pto.mte_ub_ub %p_f32_ub, ~%p_f32_«gm|ub», {_X} nburst({_X}, {_X}, {_X}) ⇒ dest must point to ub, not gm
pto.mte_ub_ub %p_f32_ub, %p_f32_ub, ~%«{_LONG + 1}|{_LONG}» nburst({_X}, {_X}, {_X})
  ⇒ len_burst is {_LONG + 1}; it must be 0..{_LONG}
~pto.«mte_ub_l1|mte_ub_ub» %p_f32_ub, %p_f32_«l1|ub», {_X} nburst({_X}, {_X}, {_X})
  ⇒ [wrong-target a2a3] pto.mte_ub_l1 does not exist on a2a3
pto.mte_l1_ub %p_f16_l1, ~%p_f16_«gm|ub», {_X} nburst({_X}, {_X}, {_X}) ⇒ dest must point to ub, not gm
pto.mte_gm_l1 %p_f16_gm, ~%p_f16_«ub|l1», {_X} nburst({_X}, {_X}, {_X}) ⇒ dest must point to l1, not ub
""")

_FRAC = (
    "pto.mte_gm_l1_frac %p_f16_gm, %p_f16_l1, {}, "
    "shape({}, {}), src_layout({}), dst_group({}, {}, {}, {}), ctrl({}, {})"
)
_SIZES = ["nd2nz", *[_X] * 8, "%s_i1"]


def frac(position: int, written: str) -> str:
    """A layout-converting copy with one of its operands written otherwise."""
    return _FRAC.format(*_SIZES[:position], written, *_SIZES[position + 1 :])


LAYOUTS = rules(f"""
{frac(0, "nd2nz").replace("%p_f16_l1", "~%p_«f32|bf16»_l1")}
  ⇒ dest has elements of f32, but source has f16: their widths differ
{frac(2, "~%s_«i32|i64»")} ⇒ d must be i64, not i32
{frac(6, "~%«n1|0»")} ⇒ loop3_stride is -1; it must be 0..65535
{frac(7, "~%«n1|0»")} ⇒ loop4_stride is -1; it must be 0..65535
{frac(0, "~«nd2dn|dn2nz»")} ⇒ [syntax] unknown layout 'nd2dn'; known: nd2nz, dn2nz
{frac(1, "~%s_«i32|i64»")} ⇒ n must be i64, not i32
{frac(3, "~%s_«index|i64»")} ⇒ inner_stride must be i64, not index
{frac(3, f"{_X}, ~%«n1|0»")} ⇒ outer_stride is -1; it must be 0..1099511627775
{frac(4, "~%«0|1»")} ⇒ groups is 0; it must be positive
{frac(5, "~%«n1|1»")} ⇒ loop2_stride is -1; it must be 0..65535
{frac(8, "~%«16|15»")} ⇒ l2_cache_ctl is 16; it must be 0..15
{frac(9, "~%s_«i64|i1»")} ⇒ small_c0 must be i1, not i64
""")

_FILL = "pto.raw_fill_l1 {}, {}, %s_i32, {}, {}, {} {{fill_word_bits = {} : i64}}"

FILLS = rules(f"""
{_FILL.format("~%p_f32_«ub|l1»", _X, _X, _X, _X, 32)} ⇒ dest must point to l1, not ub
{_FILL.format("%p_f32_l1", "~%«48|64»", _X, _X, _X, 32)} ⇒ byte_offset is 48; it must be a multiple of 32
{_FILL.format("%p_f32_l1", _X, _X, "~%«32768|32767»", _X, 32)} ⇒ blocks is 32768; it must be 0..32767
{_FILL.format("%p_f32_l1", _X, _X, _X, "~%«32768|32767»", 16)} ⇒ gap is 32768; it must be 0..32767
{_FILL.format("%p_f32_l1", _X, _X, _X, _X, "~«8|16»")} ⇒ fill_word_bits must be 16 or 32, not 8 : i64
~pto.raw_fill_l1 %p_f32_l1, {_X}, %s_i32, {_X}, {_X}, {_X} {{«|fill_word_bits = 32 : i64»}}
  ⇒ pto.raw_fill_l1 needs {{fill_word_bits = 16}} or {{fill_word_bits = 32}}
{_FILL.format("%p_f32_l1", _X, "~%s_«i32|i64»", _X, _X, 32)} ⇒ repeat must be i64, not i32
{_FILL.format("%p_f32_l1", "~%s_«index|i64»", _X, _X, _X, 32)} ⇒ byte_offset must be i64, not index
{_FILL.format("%p_f32_l1", "~%«n32|32»", _X, _X, _X, 32)} ⇒ byte_offset is -32; it must be at least 0
pto.create_cbuf_matrix %p_ui16_l1, ~%s_«i64|i32», {_X}, {_X}, {_X} {{fill_word_bits = 16 : i64}}
  ⇒ value must be i32, not i64
pto.create_cbuf_matrix ~%p_«f16|ui16»_l1, %s_i32, {_X}, {_X}, {_X} {{fill_word_bits = 16 : i64}}
  ⇒ dest must have elements of type ui16 or ui32, not f16
pto.create_cbuf_matrix ~%p_«ui32|ui16»_l1, %s_i32, {_X}, {_X}, {_X} {{fill_word_bits = 16 : i64}}
  ⇒ dest has elements of 32 bits, but fill_word_bits is 16
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
    *rows(rejects, kind="syntax")("""
pto.mte_gm_l1_frac %p_f32_gm, %p_f32_l1, ^nz2nd, shape(%s_i64, %s_i64), src_layout(%s_i64), dst_group(%s_i64, %s_i64,
    %s_i64, %s_i64), ctrl(%s_i64, %s_i1)
  ⇒ unknown layout 'nz2nd'; known: nd2nz, dn2nz
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
    *(*REGISTERS, *POSITIONAL, *WIDTHS, *GROUPED, *LAYOUTS, *FILLS),
    *(
        Rule(
            f"«pto.vecscope {{|»\n~{instruction}\n«}}|»",
            f"{instruction.partition(' ')[0]} must be outside 'pto.vecscope'",
        )
        for instruction in OUTSIDE
    ),
]
