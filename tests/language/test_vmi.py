"""How operations on logical vectors are written: each in a line that is read, verified, printed and read again."""

import re
from contextlib import suppress

import pytest

import ptosim
from ptosim.diagnostics import PTOError, Source
from ptosim.language.catalogue import operations, room_of
from ptosim.language.load import load, text

_PREFIXED = ("hif8", "f4E1M2x2", "f4E2M1x2", "bf16x2")


def spelled(line: str) -> str:
    """`L<64xf32>`, `Q<64>` and `P<f32>` written out."""
    line = re.sub(
        r"\bL<(\d+)x(\w+)>",
        lambda found: f"!pto.vmi.vreg<{found[1]}x{'!pto.' * (found[2] in _PREFIXED)}{found[2]}>",
        line,
    )
    line = re.sub(r"\bQ<(\d+)>", r"!pto.vmi.mask<\1xpred>", line)
    return re.sub(r"\bP<(\w+)>", r"!pto.ptr<\1, ub>", line)


ARGUMENTS = {
    **{f"%{name}": "L<64xf32>" for name in ("f", "g", "h")},
    **{f"%{name}": "L<64xi32>" for name in ("i", "j")},
    "%s": "L<64xsi32>",
    "%h16": "L<128xf16>",
    "%k16": "L<128xf16>",
    "%e": "L<8xf32>",
    "%one": "L<1xf32>",
    "%b": "L<300xui8>",
    "%bytes": "L<256xi8>",
    "%acc": "L<256xui16>",
    "%u": "L<64xui16>",
    "%uo": "L<64xui16>",
    "%m": "Q<64>",
    "%m2": "Q<64>",
    "%m128": "Q<128>",
    "%m300": "Q<300>",
    "%m256": "Q<256>",
    "%m32": "Q<32>",
    "%p": "P<f32>",
    "%pi": "P<i32>",
    "%p8": "P<i8>",
    "%ph": "P<f16>",
    "%pu": "P<ui16>",
    "%o": "index",
    "%stride": "index",
    "%n": "index",
    "%n32": "i32",
    "%x": "f32",
    "%xi": "i32",
    "%count": "i16",
    "%bs": "i16",
    "%rs": "i16",
    "%condition": "i1",
    "%gm": "!pto.ptr<f32, gm>",
    "%d": "i64",
    "%lo": "L<32xf32>",
    "%hi": "L<32xf32>",
    "%c": "L<8xi32>",
}

F, WORDS, S, M = "L<64xf32>", "L<64xi32>", "L<64xsi32>", "Q<64>"

MASKED_BINARY = [
    f"%r = pto.vmi.{name} %f, %g, %m : {F}, {F}, {M} -> {F}" for name in "vadd vsub vmul vdiv vmin vmax".split()
]
INTEGER_BINARY = [
    f"%r = pto.vmi.{name} %i, %j : {WORDS}, {WORDS} -> {WORDS}" for name in "vand vor vxor vshl vshr".split()
]
MASK_LOGIC = [f"%r = pto.vmi.{name} %m, %m2 : {M}, {M} -> {M}" for name in "vand vor vxor".split()]
UNARY = [f"%r = pto.vmi.{name} %f, %m : {F}, {M} -> {F}" for name in "vabs vneg vrelu vexp vln vsqrt".split()]
SCALAR = [f"%r = pto.vmi.{name} %f, %x, %m : {F}, f32, {M} -> {F}" for name in "vadds vmuls vmaxs vmins vlrelu".split()]
SHIFTS = [f"%r = pto.vmi.{name} %i, %count, %m : {WORDS}, i16, {M} -> {WORDS}" for name in ("vshls", "vshrs")]
REDUCTIONS = [
    f"%r = pto.vmi.vcadd %f, %m {{group = 8, reassoc}} : {F}, {M} -> L<8xf32>",
    f"%r = pto.vmi.vcadd %i, %m : {WORDS}, {M} -> L<1xi32>",
    f"%r = pto.vmi.vcmax %f, %m {{group = 8}} : {F}, {M} -> L<8xf32>",
    f"%r = pto.vmi.vcmin %f, %m : {F}, {M} -> L<1xf32>",
]
OLDER_BINARY = [f"%r = pto.vmi.{name} %f, %g : {F}, {F} -> {F}" for name in "addf subf mulf divf minf maxf".split()]
OLDER_INTEGER = [
    f"%r = pto.vmi.{name} %i, %j : {WORDS}, {WORDS} -> {WORDS}"
    for name in "addi subi muli mini maxi andi ori xori shli shrui".split()
]
OLDER_UNARY = [f"%r = pto.vmi.{name} %f : {F} -> {F}" for name in "negf absf sqrt exp ln relu".split()]
OLDER_REDUCTIONS = [
    f"%r = pto.vmi.{name} %{value}, %m{words} : {type_}, {M} -> {result}"
    for name in """reduce_addf reduce_maxf reduce_minf reduce_addi reduce_maxi reduce_mini
        group_reduce_addf group_reduce_maxf group_reduce_minf
        group_reduce_addi group_reduce_maxi group_reduce_mini""".split()
    for value, type_ in [("f", F) if name.endswith("f") else ("i", WORDS)]
    for grouped in [name.startswith("group")]
    for words in [
        {
            (True, True): " {num_groups = 8, reassoc}",
            (True, False): " {num_groups = 8}",
            (False, True): " {reassoc}",
            (False, False): "",
        }[grouped, name.endswith("addf")]
    ]
    for result in [type_.replace("64", "8" if grouped else "1")]
]

WRITTEN = [
    *(*MASKED_BINARY, *INTEGER_BINARY, *MASK_LOGIC, *UNARY, *SCALAR, *SHIFTS, *REDUCTIONS),
    *(*OLDER_BINARY, *OLDER_INTEGER, *OLDER_UNARY, *OLDER_REDUCTIONS),
    f'%r = pto.vmi.vadd %f, %g, %m {{pmode = "zero"}} : {F}, {F}, {M} -> {F}',
    f"%r = pto.vmi.vnot %i : {WORDS} -> {WORDS}",
    f"%r = pto.vmi.vnot %m : {M} -> {M}",
    f"%r, %c2 = pto.vmi.vaddc %i, %j, %m : {WORDS}, {WORDS}, {M} -> {WORDS}, {M}",
    f"%r, %c2 = pto.vmi.vaddcs %i, %j, %m2, %m : {WORDS}, {WORDS}, {M}, {M} -> {WORDS}, {M}",
    f"%r, %r2 = pto.vmi.vmull %i, %j, %m : {WORDS}, {WORDS}, {M} -> {WORDS}, {WORDS}",
    f"%r = pto.vmi.vmula %f, %g, %h, %m : {F}, {F}, {F}, {M} -> {F}",
    f'%r = "pto.vmi.vaxpy"(%f, %g, %x, %m) : ({F}, {F}, f32, {M}) -> {F}',
    f'%r = "pto.vmi.vlrelu"(%f, %x, %m) : ({F}, f32, {M}) -> {F}',
    f"%r = pto.vmi.vprelu %f, %g, %m : {F}, {F}, {M} -> {F}",
    "%r = pto.vmi.vexpdif %h16, %k16, %m128 : L<128xf16>, L<128xf16>, Q<128> -> L<128xf32>",
    f'%r = pto.vmi.vcmp %f, %g, %m {{cmp = "olt", pmode = "zeroing"}} : {F}, {F}, {M} -> {M}',
    f'%r = pto.vmi.vcmps %i, %xi, %m {{cmp = "gt"}} : {WORDS}, i32, {M} -> {M}',
    f'%r = pto.vmi.vsel %m, %f, %g {{pmode = "merge"}} : {M}, {F}, {F} -> {F}',
    f"%r = pto.vmi.vselr %f, %i : {F}, {WORDS} -> {F}",
    f'%r = pto.vmi.vcvt %f {{rounding = "A", saturate = "NOSAT"}} : {F} -> L<64xf8E4M3FN>',
    f"%r = pto.vmi.vinterpret_cast %f : {F} -> L<128xi16>",
    f"%r = pto.vmi.vbrc %x : f32 -> {F}",
    f"%r = pto.vmi.vbrc %one : L<1xf32> -> {F}",
    f"%r = pto.vmi.vbrc %e {{group = 8}} : L<8xf32> -> {F}",
    f'%r = pto.vmi.vci %xi {{order = "DESC", group = 8}} : i32 -> {S}',
    "%r = pto.vmi.vdhist %acc, %b, %m300 : L<256xui16>, L<300xui8>, Q<300> -> L<256xui16>",
    "%r = pto.vmi.vchist %acc, %b, %m300 : L<256xui16>, L<300xui8>, Q<300> -> L<256xui16>",
    "%r = pto.vmi.create_mask %n : index -> Q<100>",
    "%r = pto.vmi.create_group_mask %n {num_groups = 4, group_size = 25} : index -> Q<100>",
    '%r = pto.vmi.pset "PAT_ALL" : Q<64>',
    '%r = pto.vmi.pge "PAT_VL13" {group = 4} : Q<64>',
    "%r, %rest = pto.vmi.plt %n32 : i32 -> Q<64>, i32",
    f"%r, %r2 = pto.vmi.vintlv %f, %g, %m : {F}, {F}, {M} -> {F}, {F}",
    f"%r, %r2 = pto.vmi.vdintlv %f, %g, %m : {F}, {F}, {M} -> {F}, {F}",
    f"%r = pto.vmi.vload %p[%o] : P<f32> -> {F}",
    f'%r = pto.vmi.vload %p[%o] {{dist_mode = "brc"}} : P<f32> -> {F}',
    f'%r, %r2 = pto.vmi.vload %p[%o] {{dist_mode = "dintlv"}} : P<f32> -> {F}, {F}',
    f'%r = pto.vmi.vload %ph[%o] {{dist_mode = "unpack"}} : P<f16> -> {F}',
    f"%r = pto.vmi.vload %p[%o], %stride {{group = 8}} : P<f32> -> {F}",
    f'%r = pto.vmi.vload %p[%o], %stride {{dist_mode = "brc", group = 8}} : P<f32> -> {F}',
    f"%r = pto.vmi.vload %p[%o], %bs, %rs : P<f32> -> {F}",
    f"pto.vmi.vstore %f, %p[%o] : {F}, P<f32>",
    f"pto.vmi.vstore %f, %p[%o], %m : {F}, P<f32>, {M}",
    f'pto.vmi.vstore %f, %g, %p[%o] {{dist_mode = "dintlv"}} : {F}, {F}, P<f32>',
    f"pto.vmi.vstore %f, %p[%o], %stride {{group = 8}} : {F}, P<f32>",
    f"pto.vmi.vstore %i, %p8[%o], %stride {{group = 8}} : {WORDS}, P<i8>",
    f"pto.vmi.vstore %f, %p[%o], %bs, %rs, %m : {F}, P<f32>, {M}",
    f"pto.vmi.vsstb %f, %p[%o], %bs, %m : {F}, P<f32>, {M}",
    f"%r = pto.vmi.vgather %p, %i, %m : P<f32>, {WORDS}, {M} -> {F}",
    f"%r = pto.vmi.vgatherb %p, %c, %m : P<f32>, L<8xi32>, {M} -> {F}",
    f"pto.vmi.vscatter %f, %p, %i, %m : {F}, P<f32>, {WORDS}, {M}",
    # older spellings
    f"%r = pto.vmi.shrsi %s, %s : {S}, {S} -> {S}",
    f"%r = pto.vmi.negi %i : {WORDS} -> {WORDS}",
    f"%r = pto.vmi.not %i : {WORDS} -> {WORDS}",
    f"%r = pto.vmi.absi %s : {S} -> {S}",
    f"%r = pto.vmi.fma %f, %g, %h : {F}, {F}, {F} -> {F}",
    f'%r = pto.vmi.cmpf "olt", %f, %g : {F}, {F} -> {M}',
    f'%r = pto.vmi.cmpi "slt", %i, %j : {WORDS}, {WORDS} -> {M}',
    f"%r = pto.vmi.select %m, %f, %g : {M}, {F}, {F} -> {F}",
    f"%r = pto.vmi.broadcast %x : f32 -> {F}",
    f'%r = pto.vmi.iota %xi {{order = "ASC"}} : i32 -> {WORDS}',
    f"%r = pto.vmi.group_iota %xi {{group = 8}} : i32 -> {WORDS}",
    f"%r = pto.vmi.bitcast %f : {F} -> {WORDS}",
    "%r = pto.vmi.extf %h16 : L<128xf16> -> L<128xf32>",
    f'%r = pto.vmi.truncf %f {{rounding = "R", saturate = "SAT"}} : {F} -> L<64xf16>',
    f'%r = pto.vmi.fptosi %f {{rounding = "Z", saturate = "SAT"}} : {F} -> {S}',
    '%r = pto.vmi.fptoui %h16 {rounding = "R", saturate = "SAT"} : L<128xf16> -> L<128xui8>',
    f"%r = pto.vmi.sitofp %s : {S} -> {F}",
    '%r = pto.vmi.trunci %s {saturate = "SAT"} : L<64xsi32> -> L<64xsi16>',
    "%r = pto.vmi.extui %b : L<300xui8> -> L<300xui32>",
    f'%r0 = pto.vmi.vcvt %s {{saturate = "NOSAT"}} : {S} -> L<64xsi8>\n%r = pto.vmi.extsi %r0 : L<64xsi8> -> {S}',
    f"%r = pto.vmi.load %p[%o] : P<f32> -> {F}",
    f"%r, %r2 = pto.vmi.deinterleave_load %p[%o] : P<f32> -> {F}, {F}",
    f"%r = pto.vmi.group_load %p[%o], %stride {{num_groups = 8}} : P<f32> -> {F}",
    "%r = pto.vmi.group_slot_load %p[%o], %stride {num_groups = 8} : P<f32> -> L<8xf32>",
    f"%r = pto.vmi.group_broadcast_load %p[%o], %stride {{num_groups = 8}} : P<f32> -> {F}",
    f"%r = pto.vmi.stride_load %p[%o], %bs, %rs, %m : P<f32>, i16, i16, {M} -> {F}",
    f"%r = pto.vmi.masked_load %p[%o], %m, %g : P<f32>, {M}, {F} -> {F}",
    f"%r = pto.vmi.expand_load %p[%o], %m, %g : P<f32>, {M}, {F} -> {F}",
    f"pto.vmi.store %f, %p[%o] : {F}, P<f32>",
    f"pto.vmi.interleave_store %f, %g, %p[%o] : {F}, {F}, P<f32>",
    f"pto.vmi.group_store %f, %p[%o], %stride {{num_groups = 8}} : {F}, P<f32>",
    f"pto.vmi.masked_store %f, %p[%o], %m : {F}, P<f32>, {M}",
    f"pto.vmi.stride_store %f, %p[%o], %bs, %rs, %m : {F}, P<f32>, i16, i16, {M}",
    f"pto.vmi.compress_store %f, %p[%o], %m : {F}, P<f32>, {M}",
    f"%r = pto.vmi.gather %p[%i], %m, %g : P<f32>, {WORDS}, {M}, {F} -> {F}",
    f"pto.vmi.scatter %f, %p[%i], %m : {F}, P<f32>, {WORDS}, {M}",
    *(f"%r = pto.vmi.mask_{name} %m, %m2 : {M}, {M} -> {M}" for name in ("and", "or", "xor")),
    f"%r = pto.vmi.mask_not %m : {M} -> {M}",
    f'%r = "pto.vmi.constant"() {{value = dense<1.5> : tensor<64xf32>}} : () -> {F}',
    f'%r = "pto.vmi.constant_mask"() {{value = dense<true> : tensor<64xi1>}} : () -> {M}',
    f"%r = pto.vmi.group_broadcast %e {{num_groups = 8}} : L<8xf32> -> {F}",
    f"%r = pto.vmi.compress %f, %m : {F}, {M} -> {F}",
    f"%r = pto.vmi.active_prefix_index %m : {M} -> {WORDS}",
    "%r = pto.vmi.shuffle %f[3, 2, 1, 0] : L<64xf32> -> L<4xf32>",
    f'%r, %r2 = "pto.vmi.channel_split"(%f) : ({F}) -> (L<32xf32>, L<32xf32>)',
    f'%r = "pto.vmi.channel_merge"(%lo, %hi) : (L<32xf32>, L<32xf32>) -> {F}',
]


def source(line: str) -> Source:
    arguments = ", ".join(f"{name}: {type_}" for name, type_ in ARGUMENTS.items())
    return Source("<text>", spelled(f"func.func private @f({arguments}) {{\n{line}\nreturn\n}}\n"))


@pytest.mark.parametrize("line", WRITTEN)
def test_read_verified_printed_and_read_again(line: str) -> None:
    printed = text(load(source(line)))
    assert text(load(Source("<text>", printed))) == printed


def test_every_operation_is_written_here() -> None:
    written = {found for line in WRITTEN for found in re.findall(r"pto\.vmi\.\w+", line)}
    assert written == {op.name for op in operations() if room_of(op).startswith("vmi")}


@pytest.mark.parametrize("line", WRITTEN)
def test_an_operand_of_another_kind_gives_diagnostics(line: str) -> None:
    """Nothing but a PTOError comes of it."""
    result, _, rest = line.rpartition(" = pto.") if " = pto." in line else ("", "", line)
    for name in dict.fromkeys(re.findall(r"%[a-z]\w*", rest)):
        for other in ("%three", "%f", "%m"):
            changed = re.sub(rf"{name}\b", other, rest)
            written = f"%three = arith.constant 3 : i64\n{result + ' = pto.' if result else ''}{changed}"
            with suppress(PTOError):
                load(source(written))


REFUSED = [
    (f"%r = pto.vmi.vadd %f, %i : {F}, {WORDS} -> {F}", "rhs of pto.vmi.vadd has type"),
    (f"%r = pto.vmi.vadd %f, %g, %m128 : {F}, {F}, Q<128> -> {F}", "mask of pto.vmi.vadd has 128 lanes"),
    (f"%r = pto.vmi.vdiv %i, %j : {WORDS}, {WORDS} -> {WORDS}", "pto.vmi.vdiv does not take elements of type i32"),
    (f"%r = pto.vmi.vabs %i : {WORDS} -> {WORDS}", "does not take elements of type i32"),
    (f"%r = pto.vmi.vadds %i, %x, %m : {WORDS}, f32, {M} -> {WORDS}", "scalar of pto.vmi.vadds has type f32"),
    (f"%r = pto.vmi.vshls %i, %xi, %m : {WORDS}, i32, {M} -> {WORDS}", "scalar must be i16"),
    (f"%r = pto.vmi.vadd %f, %g : {F}, {F}, {M} -> {F}", "the type list of pto.vmi.vadd has 2 types here"),
    (f'%r = pto.vmi.vadd %f, %g, %m {{pmode = "keep"}} : {F}, {F}, {M} -> {F}', "unknown pmode 'keep'"),
    (f'%r = pto.vmi.vadd %f, %g, %m {{pmode = "merge"}} : {F}, {F}, {M} -> {F}', "pto.vmi.vadd cannot merge"),
    (f"%r = pto.vmi.vand %m, %m2, %m : {M}, {M}, {M} -> {M}", "has no mask of its own"),
    (f"%r = pto.vmi.vcadd %f, %m : {F}, {M} -> L<1xf32>", "write {reassoc}"),
    (f"%r = pto.vmi.vcmax %f, %m {{group = 5}} : {F}, {M} -> L<5xf32>", "group = 5 of pto.vmi.vcmax does not divide"),
    (f"%r = pto.vmi.vcmax %f, %m {{group = 8}} : {F}, {M} -> L<1xf32>", "has 1 lanes, but there are 8 groups"),
    (f'%r = pto.vmi.vcmp %i, %j, %m {{cmp = "olt"}} : {WORDS}, {WORDS}, {M} -> {M}', "is for floats, not i32"),
    (f'%r = pto.vmi.vcmp %i, %j, %m {{cmp = "lessthan"}} : {WORDS}, {WORDS}, {M} -> {M}', "unknown cmp"),
    (f"%r = pto.vmi.vcvt %f : {F} -> L<64xf16>", "needs saturate"),
    (f"%r = pto.vmi.vcvt %f : {F} -> L<32xf16>", "needs saturate"),
    (f"%r = pto.vmi.vcvt %f : {F} -> L<64xui32>", "pto.vmi.vcvt does not convert f32 to ui32"),
    ('%r = pto.vmi.vcvt %h16 {rounding = "R"} : L<128xf16> -> L<128xf32>', "it takes no rounding"),
    (f'%r = pto.vmi.vcvt %f {{rounding = "F", saturate = "SAT"}} : {F} -> L<64xf16>', "has no rounding F"),
    (f'%r = pto.vmi.vcvt %s {{saturate = "SAT"}} : {S} -> L<64xsi8>', "cannot saturate"),
    (f"%r = pto.vmi.vinterpret_cast %f : {F} -> L<64xi16>", "input has 2048 bits, but result 1024"),
    (f"%r = pto.vmi.vbrc %e : L<8xf32> -> {F}", "says how many groups there are"),
    ("%r = pto.vmi.vselr %lo, %lo : L<32xf32>, L<32xf32> -> L<32xf32>", "does not take elements of type f32"),
    ("%r = pto.vmi.vselr %e, %c : L<8xf32>, L<8xi32> -> L<8xf32>", "takes and gives 64 lanes, not 8"),
    ('%r = pto.vmi.pset "PAT_H" : Q<64>', "knows the pattern PAT_ALL only"),
    ('%r = pto.vmi.pge "PAT_VL65" : Q<64>', "PAT_VL1 to PAT_VL64"),
    ("%r = pto.vmi.create_group_mask %n {num_groups = 3, group_size = 25} : index -> Q<100>", "3 groups of 25 lanes"),
    (f"%r = pto.vmi.vload %p[%o] {{group = 8}} : P<f32> -> {F}", "has a stride behind the address"),
    (f"%r = pto.vmi.vload %p[%o], %stride : P<f32> -> {F}", "says how many groups there are"),
    (f"%r = pto.vmi.vload %pi[%o] : P<i32> -> {F}", "leads to i32"),
    (f"%r = pto.vmi.vload %gm[%o] : !pto.ptr<f32, gm> -> {F}", "must point to ub"),
    (f'%r = pto.vmi.vload %p[%o] {{dist_mode = "dintlv"}} : P<f32> -> {F}', "gives two vectors"),
    (f'%r = pto.vmi.vload %p[%o] {{dist_mode = "odd"}} : P<f32> -> {F}', "unknown dist_mode"),
    (f"%r = pto.vmi.vload %p[%o], %bs, %rs {{group = 8}} : P<f32> -> {F}", "by blocks has no group"),
    (f"pto.vmi.vstore %f, %p[%o], %stride, %m {{group = 8}} : {F}, P<f32>, {M}", "by groups has no mask"),
    (f'pto.vmi.vstore %f, %p[%o] {{dist_mode = "brc"}} : {F}, P<f32>', "unknown dist_mode"),
    (f"pto.vmi.vstore %f, %p[%o], %m, %m2 : {F}, P<f32>, {M}, {M}", "do not make one of its forms"),
    (f'pto.vmi.vstore %f, %p[%o], %m {{pmode = "merge"}} : {F}, P<f32>, {M}', "cannot merge"),
    ("%r = pto.vmi.vgather %ph, %acc, %m256 : P<f16>, L<256xui16>, Q<256> -> L<256xf16>", "takes offsets of nothing"),
    (f"%r, %r2 = pto.vmi.vmull %s, %s, %m : {S}, {S}, {M} -> {S}, {S}", "does not take elements of type si32"),
    ("%r = pto.vmi.shuffle %f[64] : L<64xf32> -> L<1xf32>", "64 is no lane of 64"),
    (f"%r = pto.vmi.addf %i, %j : {WORDS}, {WORDS} -> {WORDS}", "does not take elements of type i32"),
    (f"%r = pto.vmi.ensure_layout %f : {F} -> {F}", "is internal"),
    (
        "%r = pto.vmi.stride_load %ph[%o], %bs, %rs, %m256 : P<f16>, i16, i16, Q<256> -> L<256xf16>",
        "moves one register of 256 bytes",
    ),
    ("%r = pto.vmi.expand_load %p[%o], %m32, %lo : P<f32>, Q<32>, L<32xf32> -> L<32xf32>", "one whole register"),
    ("pto.vmi.compress_store %acc, %pu[%o], %m256 : L<256xui16>, P<ui16>, Q<256>", "one whole register"),
    ("%r = pto.vmi.create_mask %n : index -> !pto.vmi.mask<64>", "delimiter"),
    ("%r = pto.vmi.create_mask %n : index -> !pto.vmi.mask<0xpred>", "has 1 to 16384 lanes, not 0"),
    ("%r = pto.vmi.vbrc %x : f32 -> !pto.vmi.vreg<1000000xf32>", "has 1 to 16384 lanes, not 1000000"),
    ("%r = pto.vmi.vbrc %d : i64 -> !pto.vmi.vreg<64xi64>", "a logical vector cannot hold i64"),
    ("%r = pto.vmi.vbrc %x : f32 -> !pto.vmi.vreg<64xf32, #pto.vmi.layout<contiguous>>", "has been given a layout"),
    (f"%r = pto.vadd %f, %g, %m : {F}, {F}, {M} -> {F}", "pto.vadd cannot use"),
]


@pytest.mark.parametrize("line, message", REFUSED)
def test_what_is_refused(line: str, message: str) -> None:
    with pytest.raises(ptosim.PTOError) as caught:
        load(source(line))
    found = caught.value.diagnostics[0]
    assert message in found.message, found.message
    assert found.line == 2


def test_functions_on_logical_vectors_are_no_entries() -> None:
    body = spelled("func.func @f(%a: L<64xf32>) -> L<64xf32> {\nreturn %a : L<64xf32>\n}\n")
    assert ptosim.load(body).kernels == {}
    for bad, message in (
        (body.replace("-> ", "attributes {pto.kernel} -> ", 0).replace("{\n", "attributes {pto.kernel} {\n"), "entry"),
        (spelled("func.func private @f(L<64xf32>)\n"), "has no body"),
    ):
        with pytest.raises(ptosim.PTOError) as caught:
            ptosim.load(bad)
        assert message in str(caught.value)
