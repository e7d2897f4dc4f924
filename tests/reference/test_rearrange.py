"""Interleaving, squeezing, packing and unpacking, by hand."""

import numpy as np
import pytest

from both_engines import BothEngines
from ptosim import api
from ptosim.diagnostics import PTOError
from tables import table
from vector_programs import bits, lanes_of, run, unary

KINDS = [("ui8", 256), ("f8E4M3FN", 256), ("i16", 128), ("f32", 64), ("i64", 32)]


def _two(name, kind):
    return f"%low, %high = pto.{name} %a, %b : V<{kind}>, V<{kind}> -> V<{kind}>, V<{kind}>"


# --- interleaving -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("kind", "lanes"), KINDS)
def test_interleaving_and_its_inverse(kind, lanes):
    a, b = [lane % 128 for lane in range(lanes)], [lane % 100 for lane in range(lanes)]
    low, high = run(_two("vintlv", kind), a=a, b=b)
    stream = [value for pair in zip(a, b, strict=True) for value in pair]
    assert low.tolist() + high.tolist() == stream
    low, high = run(_two("vdintlv", kind), a=stream[:lanes], b=stream[lanes:])
    assert (low.tolist(), high.tolist()) == (a, b)


@pytest.mark.parametrize(("part", "which"), [("LOWER", 0), ("HIGHER", 1)])
def test_the_second_forms_give_one_half(part, which):
    a, b = list(range(64)), list(range(100, 164))
    for name in ("vintlv", "vdintlv"):
        both = run(_two(name, "i32"), a=a, b=b)
        one = run(f'%d = pto.{name}v2 %a, %b, "{part}" : V<i32>, V<i32> -> V<i32>', a=a, b=b)
        assert one.tolist() == both[which].tolist()


def test_interleaving_keeps_payloads():
    low, _ = run(_two("vintlv", "f16"), a=lanes_of("f16", [0xFE01]), b=lanes_of("f16", [0x7C01]))
    assert bits(low)[:2] == [0xFE01, 0x7C01]


# --- squeezing --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("kind", "lanes"), [("ui8", 256), ("bf16", 128), ("f32", 64)])
def test_squeezing_moves_active_lanes_together(kind, lanes):
    active = [0, 3, 4, lanes // 2, lanes - 1]
    patterns = list(range(1, lanes + 1))
    got = run(unary("vsqz", kind), a=lanes_of(kind, patterns), m=active)
    top = 256 if kind == "ui8" else 1 << 16
    assert bits(got) == [(lane + 1) % top for lane in active] + [0] * (lanes - 5)
    assert bits(run(unary("vsqz", kind), a=lanes_of(kind, patterns), m=[])) == [0] * lanes


@pytest.mark.parametrize(("kind", "lanes"), [("i8", 256), ("si16", 128), ("i32", 64)])
def test_prefix_counts_reach_inactive_lanes_too(kind, lanes):
    active = [0, 2, 3, lanes - 1]
    got = run(unary("vusqz", kind), a=[77] * lanes, m=active)
    assert got.tolist() == [0, 1, 1, 2, *[3] * (lanes - 4)]


def test_the_count_of_255_active_lanes_wraps_into_the_sign():
    got = run(unary("vusqz", "i8"), a=[], m=None)
    assert bits(got) == list(range(256))


SQUEEZED_STORE = """
module attributes {pto.target_arch = "a5"} {
  func.func @kernel(%y: !pto.ptr<ui32, gm>) attributes {pto.kernel} {
    %zero = arith.constant 0 : i64
    %one = arith.constant 1 : i64
    %four = arith.constant 4 : i64
    %none = arith.constant 0 : i32
    %c0 = arith.constant 0 : index
    %at = arith.constant 1024 : i64
    %ub = pto.castptr %zero : i64 -> !pto.ptr<TYPE, ub>
    %word = pto.castptr %at : i64 -> !pto.ptr<ui32, ub>
    pto.vecscope {
      pto.sprclr "AR"
      %value = arith.constant 1 : TYPE
      %v = pto.vbr %value : TYPE -> !pto.vreg<LANESxTYPE>
      %mask = pto.pset_GRANULARITY "PAT_VL3" : !pto.mask<GRANULARITY>
      %squeezed = pto.NAME %v, %mask : !pto.vreg<LANESxTYPE>, !pto.mask<GRANULARITY> -> !pto.vreg<LANESxTYPE>
      %align = pto.init_align : !pto.align
      %next = pto.vstur %align, %squeezed, %ub, "POST_UPDATE"
        : !pto.align, !pto.vreg<LANESxTYPE>, !pto.ptr<TYPE, ub> -> !pto.align
      pto.vstar %next, %ub : !pto.align, !pto.ptr<TYPE, ub>
      pto.sprsti "AR", %word[%none] : !pto.ptr<ui32, ub>, i32
    }
    pto.barrier #pto.pipe<PIPE_ALL>
    pto.mte_ub_gm %word, %y, %four nburst(%one, %four, %four)
      : !pto.ptr<ui32, ub>, !pto.ptr<ui32, gm>, i64, i64, i64, i64
    pto.barrier #pto.pipe<PIPE_ALL>
    return
  }
}
"""


@pytest.mark.parametrize(("kind", "lanes", "granularity", "size"), [("i8", 256, "b8", 3), ("i32", 64, "b32", 12)])
@pytest.mark.parametrize("name", ["vsqz", "vusqz"])
def test_squeezing_says_how_many_bytes_a_stream_store_takes(name, kind, lanes, granularity, size):
    text = SQUEEZED_STORE
    for word, value in {"TYPE": kind, "LANES": str(lanes), "GRANULARITY": granularity, "NAME": name}.items():
        text = text.replace(word, value)
    out = np.zeros(1, np.uint32)
    BothEngines(api.load(text).kernel())(out)
    assert out[0] == size


# --- packing ----------------------------------------------------------------------------------------------------------


@table("source, result, lanes", ("i32", "ui16", 64), ("ui32", "ui16", 64), ("si16", "ui8", 128))
def test_packing_truncates_into_one_half(source, result, lanes):
    top = 1 << (8 if result == "ui8" else 16)
    values = [-1, top + 5, 3 * top - 1, *range(3, lanes)]
    text = f'%d = pto.vpack %a, "PART" : V<{source}> -> V<{result}>'
    halves = [value % top for value in values]
    assert run(text.replace("PART", "LOWER"), a=values).tolist() == halves + [0] * lanes
    assert run(text.replace("PART", "HIGHER"), a=values).tolist() == [0] * lanes + halves


@pytest.mark.parametrize("part", [0, 1])
def test_unpacking_extends_one_half(part):
    words = [-1, -32768, 5, *range(61)] * 2
    words[64:67] = [-2, 32767, -7]
    signed = run("%d = pto.vsunpack %a, %p : V<i16> -> V<i32>", a=words, p=part)
    assert signed.tolist() == words[64 * part :][:64]
    unsigned = run("%d = pto.vzunpack %a, %p : V<ui16> -> V<ui32>", a=words, p=part)
    assert unsigned.tolist() == [word % 65536 for word in words[64 * part :][:64]]
    small = run("%d = pto.vsunpack %a, %p : V<si8> -> V<si16>", a=[-5] * 128 + [6] * 128, p=part)
    assert small.tolist() == [(-5, 6)[part]] * 128


def test_sign_extension_into_an_unsigned_type_keeps_the_bits():
    assert run("%d = pto.vsunpack %a, %p : V<ui16> -> V<ui32>", a=[0xFFFE], p=0)[0] == 0xFFFFFFFE
    assert run("%d = pto.vzunpack %a, %p : V<i16> -> V<i32>", a=[-2], p=0)[0] == 0xFFFE


@pytest.mark.parametrize("part", [2, -1])
def test_there_are_only_two_parts(part):
    with pytest.raises(PTOError, match=rf"part is {part}; it must be 0\.\.1") as raised:
        run("%d = pto.vsunpack %a, %p : V<i16> -> V<i32>", a=[1], p=part)
    assert raised.value.diagnostics[0].kind == "invalid"
