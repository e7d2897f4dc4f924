"""Undefined values: where they count, how they spread through registers and memories, and where they do not."""

import numpy as np
import pytest

from ptosim.machine.observer import CROSSED, DECIDED
from ptosim.sanitize import candidates
from ptosim.sanitize.conflict import Conflict, MemoryPlace
from ptosim.sanitize.shadow import UNDEFINED
from ptosim.sanitize.taint import Origins
from sanitize.kernels import ALL, MASK, PARAMETERS, check, kinds, load, order, scope, store, unary, vlds, vsts
from tables import table

HALF = '      %half = pto.pset_b32 "PAT_VL32" : !pto.mask<b32>\n'
FIRST_HALF = "    %half_bytes = arith.constant 128 : i64\n" + load(length="%half_bytes") + order("MTE2", "V")
"""32 of 64 floats are defined."""
FINISH = order("V", "MTE3") + store() + ALL
SHORT = order("V", "MTE3") + store(length="%half_bytes") + ALL

PAIRS = "!pto.vreg<64xf32>, !pto.vreg<64xf32> -> !pto.vreg<64xf32>, !pto.vreg<64xf32>"
BINARY = "!pto.vreg<64xf32>, !pto.vreg<64xf32>, !pto.mask<b32> -> !pto.vreg<64xf32>"


def vector(body: str, finish: str = FINISH) -> list[str]:
    return kinds(check(FIRST_HALF + scope(MASK + HALF + vlds() + body) + finish))


def test_undefined_bytes_that_reach_gm_are_a_warning() -> None:
    report = check(FIRST_HALF + scope(MASK + vlds() + vsts()) + FINISH)
    assert kinds(report) == ["uninitialized"]
    (finding,) = report.findings
    assert finding.message == "V loads ub[128:256], which nothing has written, and it reaches GM"
    assert [place.role for place in finding.related] == ["here it reaches GM"]


def test_copied_as_they_are() -> None:
    report = check(FIRST_HALF.replace('"PIPE_V"', '"PIPE_MTE3"') + store("%in") + ALL)
    assert kinds(report) == ["uninitialized"]
    assert report.findings[0].message == "MTE3 copies ub[128:256], which nothing has written"


def test_a_second_block_starts_with_undefined_memory() -> None:
    first = (
        """    %block = pto.get_block_idx
    %is_first = arith.cmpi eq, %block, %zero : i64
    scf.if %is_first {
"""
        + load()
        + "    }\n"
    )
    assert kinds(check(first + order("MTE2", "V") + scope(MASK + vlds() + vsts()) + FINISH, grid=1)) == []
    assert "uninitialized" in kinds(check(first + order("MTE2", "V") + scope(MASK + vlds() + vsts()) + FINISH, grid=2))


# --- registers --------------------------------------------------------------------------------------------------------


ZEROS = "      %f = arith.constant 0.0 : f32\n      %zeros = pto.vbr %f : f32 -> !pto.vreg<64xf32>\n"
CLEARED = ZEROS + vsts("%zeros") + '      pto.mem_bar "VV_ALL"\n'


@table(
    "body",
    vsts(mask="%half"),
    unary("vabs", "%a", "%v", "%half") + vsts("%a"),  # inactive lanes become zero
    f"      %a = pto.vadd %v, %v, %half : {BINARY}\n" + vsts("%a"),
    unary("vcadd", "%a", "%v", "%half") + vsts("%a"),
    unary("vcgmax", "%a", "%v", "%half") + vsts("%a"),
    unary("vcgadd", "%a", "%v") + '      %four = pto.pset_b32 "PAT_VL4" : !pto.mask<b32>\n' + vsts("%a", mask="%four"),
    unary("vsqz", "%a", "%v", "%half") + vsts("%a"),
    f"      %a = pto.vsel %v, %zeros, %half : {BINARY}\n" + vsts("%a"),
    ids=["masked store", "masked unary", "masked binary", "masked sum", "masked groups", "groups", "squeeze", "select"],
)
def test_lanes_that_are_masked_off_do_not_count(body: str) -> None:
    assert vector(CLEARED + body) == []


COUNTED = "      %n = arith.constant 0 : i32\n      %i = pto.vci %n : i32 -> !pto.vreg<64xi32>\n"
PERMUTED = COUNTED + "      %a = pto.vselr %v, %i"
PERMUTED += " : !pto.vreg<64xf32>, !pto.vreg<64xi32> -> !pto.vreg<64xf32>\n"
LAST = '      %a = pto.vdup %v, %mask {position = "HIGHEST"}'
LAST += " : !pto.vreg<64xf32>, !pto.mask<b32> -> !pto.vreg<64xf32>\n"
HIGH = "      %high = arith.constant 40 : index\n"


def broadcast(dist: str) -> str:
    """A load from bytes that nothing has written."""
    return HIGH + f'      %a = pto.vlds %in[%high] {{dist = "{dist}"}} : !pto.ptr<f32, ub> -> !pto.vreg<64xf32>\n'


GATHERED = COUNTED + "      %a = pto.vgather2 %in, %i, %mask"
GATHERED += " : !pto.ptr<f32, ub>, !pto.vreg<64xi32>, !pto.mask<b32> -> !pto.vreg<64xf32>\n"
SCATTERED = COUNTED + "      pto.vscatter %v, %out, %i, %mask"
SCATTERED += " : !pto.vreg<64xf32>, !pto.ptr<f32, ub>, !pto.vreg<64xi32>, !pto.mask<b32>\n"


@table(
    "body",
    vsts(),
    unary("vabs", "%a", "%v") + vsts("%a"),
    unary("vsqz", "%a", "%v") + vsts("%a"),
    f"      %a = pto.vadd %zeros, %v, %mask : {BINARY}\n" + vsts("%a"),
    f"      %a = pto.vsel %zeros, %v, %half : {BINARY}\n" + vsts("%a"),
    f"      %a, %b = pto.vintlv %v, %zeros : {PAIRS}\n" + vsts("%b"),
    SCATTERED,
    ids=["store", "unary", "squeeze", "binary", "select", "interleave", "scatter"],
)
def test_lanes_that_take_part_and_stay_apart_are_a_warning(body: str) -> None:
    assert vector(ZEROS + body) == ["uninitialized"]


@table(
    "body",
    unary("vcadd", "%a", "%v"),
    unary("vcmax", "%a", "%v"),
    unary("vcgadd", "%a", "%v"),
    unary("vcgmin", "%a", "%v"),
    unary("vcpadd", "%a", "%v"),
    PERMUTED,
    LAST,
    broadcast("BRC_B32"),
    broadcast("BRC_BLK"),
    broadcast("E2B_B32"),
    GATHERED,
    ids="sum extremum group_sum group_extremum pair_sum permutation broadcast BRC_B32 BRC_BLK E2B gather".split(),
)
def test_lanes_that_reach_others_are_an_error(body: str) -> None:
    report = check(FIRST_HALF + scope(MASK + HALF + vlds() + body + vsts("%a")) + FINISH)
    assert kinds(report) == ["uninitialized!"]
    (finding,) = report.findings
    assert finding.message.endswith(", which nothing has written, and it reaches GM after it has spread to other lanes")
    assert finding.related[0].role == "here it reaches GM after it has spread to other lanes"


def test_a_sort_brings_undefined_records_anywhere() -> None:
    """32 scores that are there, with 32 indices that are not."""
    sort = (
        "    %indices = pto.castptr %half_bytes : i64 -> !pto.ptr<i32, ub>\n    pto.vbitsort %out, %in, %indices, %c1"
    )
    sort += " : !pto.ptr<f32, ub>, !pto.ptr<f32, ub>, !pto.ptr<i32, ub>, index\n"
    assert kinds(check(FIRST_HALF + sort + FINISH)) == ["uninitialized!"]


def test_what_has_crossed_lanes_stays_so_on_its_way() -> None:
    """Through UB, a copy inside it, another scope and lane-wise arithmetic."""
    sums = scope(MASK + vlds() + unary("vcadd", "%s", "%v") + vsts("%s", "%out"))
    rest = scope(MASK + vlds("%w", "%out") + unary("vabs", "%a", "%w") + vsts("%a", "%in"))
    finish = order("V", "MTE3") + store("%in") + ALL
    assert kinds(check(FIRST_HALF + sums + rest + finish)) == ["uninitialized!"]


def test_what_has_crossed_lanes_and_stays_on_the_chip_does_not_count() -> None:
    ignored = scope(MASK + vlds() + unary("vcadd", "%s", "%v") + vsts("%s", "%out"))
    assert kinds(check(FIRST_HALF + ignored + ALL)) == []


def test_the_gravest_use_of_a_load_is_told() -> None:
    """Lanes of one load reach GM as they are, and in a sum."""
    sums = "    %far = arith.constant 512 : i64\n    %sums = pto.castptr %far : i64 -> !pto.ptr<f32, ub>\n"
    body = scope(MASK + vlds() + vsts() + unary("vcadd", "%s", "%v") + vsts("%s", "%sums"))
    report = check(FIRST_HALF + sums + body + order("V", "MTE3") + store() + store("%sums", "%x") + ALL)
    assert kinds(report) == ["uninitialized!"]


def test_interleaving_moves_taint_with_the_lanes() -> None:
    # The low half of the interleaved pair takes lanes 0 to 31 of both: all defined.
    assert vector(f"      %a, %b = pto.vintlv %v, %v : {PAIRS}\n" + vsts("%a")) == []


def test_conversion_keeps_lanes_apart() -> None:
    """f32 to f16 packs lane i into half-lane 2i; the first 32 of 64 are defined."""
    types = "!pto.vreg<64xf32>, !pto.mask<b32> -> !pto.vreg<128xf16>"
    convert = f'      %n = pto.vcvt %v, %mask {{part = "EVEN", rnd = "R", sat = "SAT"}} : {types}\n'
    narrow = "    %out16 = pto.castptr %bytes : i64 -> !pto.ptr<f16, ub>\n"
    stores = '      %m = pto.pset_b16 "{}" : !pto.mask<b16>\n'
    stores += "      pto.vsts %n, %out16[%c0], %m : !pto.vreg<128xf16>, !pto.ptr<f16, ub>, !pto.mask<b16>\n"
    for pattern, found in (("PAT_VL64", []), ("PAT_ALL", ["uninitialized"])):
        body = FIRST_HALF + narrow + scope(MASK + vlds() + convert + stores.format(pattern))
        finish = SHORT if pattern == "PAT_VL64" else FINISH
        assert kinds(check(body + finish)) == found, pattern


@pytest.mark.parametrize("part", ["EVEN", "ODD"])
@pytest.mark.parametrize("operands", ["%h, %ones", "%ones, %h", "%h, %h"])
def test_a_fused_difference_takes_taint_from_both_operands(part: str, operands: str) -> None:
    """exp(x - m) of f16: result lane j comes from lane 2j or 2j + 1, of which the first 64 of 128 are defined."""
    half, f16 = "!pto.mask<b16>", "!pto.vreg<128xf16>"
    unit = f"      %unit = arith.constant 1.0 : f16\n      %ones = pto.vbr %unit : f16 -> {f16}\n"
    halves = unit + f"      %h = pto.vbitcast %v : !pto.vreg<64xf32> -> {f16}\n"
    types = f"{f16}, {f16}, {half} -> !pto.vreg<64xf32>"
    for pattern, found in (("PAT_H", []), ("PAT_ALL", ["uninitialized"])):
        chosen = f'      %m = pto.pset_b16 "{pattern}" : {half}\n'
        assert (
            vector(halves + chosen + f'      %e = pto.vexpdif {operands}, %m, "{part}" : {types}\n' + vsts("%e"))
            == found
        )


@pytest.mark.parametrize("scale", ["0.0", "1.0e-30", "2.0"])
def test_no_scale_hides_taint(scale: str) -> None:
    """What a product with an undefined number becomes is undefined, also where a small one would round to zero."""
    scaled = f"      %s = arith.constant {scale} : f32\n"
    types = "!pto.vreg<64xf32>, f32, !pto.mask<b32> -> !pto.vreg<128xf16>"
    for mask, found in (("%half", []), ("%mask", ["uninitialized"])):
        product = f'      %n = pto.vmulscvt %v, %s, {mask}, "A", "ODD" : {types}\n'
        words = "      %w = pto.vbitcast %n : !pto.vreg<128xf16> -> !pto.vreg<64xf32>\n"
        assert vector(scaled + product + words + vsts("%w")) == found


# --- deciding ---------------------------------------------------------------------------------------------------------

TYPES = "!pto.vreg<64xf32>, f32, !pto.mask<b32> -> !pto.mask<b32>"
COMPARE = '      %f = arith.constant 0.0 : f32\n      %cmp = pto.vcmps %v, %f, {}, "gt" : ' + TYPES + "\n"
ONES = "      %g = arith.constant 1.0 : f32\n      %ones = pto.vbr %g : f32 -> !pto.vreg<64xf32>\n"


def test_an_undefined_value_that_decides_which_lanes_are_stored_is_an_error() -> None:
    body = COMPARE.format("%mask") + ONES + vsts("%ones") + '      pto.mem_bar "VV_ALL"\n' + vsts("%ones", mask="%cmp")
    report = check(FIRST_HALF + scope(MASK + vlds() + body) + FINISH)
    assert kinds(report) == ["uninitialized!"]
    assert report.findings[0].message == "V loads ub[128:256], which nothing has written, and it decides a mask"


def test_comparing_defined_lanes_is_fine() -> None:
    body = COMPARE.format("%half") + ONES + vsts("%ones") + '      pto.mem_bar "VV_ALL"\n' + vsts("%ones", mask="%cmp")
    assert vector(body) == []


def test_a_mask_that_is_cut_down_to_defined_lanes_is_fine() -> None:
    cut = (
        "      %cut = pto.pand %cmp, %half, %mask : !pto.mask<b32>, !pto.mask<b32>, !pto.mask<b32> -> !pto.mask<b32>\n"
    )
    body = (
        COMPARE.format("%mask")
        + cut
        + ONES
        + vsts("%ones")
        + '      pto.mem_bar "VV_ALL"\n'
        + vsts("%ones", mask="%cut")
    )
    assert vector(body) == []


def test_a_selection_by_an_undefined_mask_is_an_error_once_it_is_used() -> None:
    body = COMPARE.format("%mask") + ONES + f"      %a = pto.vsel %ones, %v, %cmp : {BINARY}\n"
    assert vector(body + vsts("%a")) == ["uninitialized!"]
    assert (
        vector(
            ONES + vsts("%ones") + '      pto.mem_bar "VV_ALL"\n' + body.replace(ONES, "") + vsts("%a", mask="%half")
        )
        == []
    )


def test_an_undefined_address_is_an_error() -> None:
    index = "    %index = pto.castptr %zero : i64 -> !pto.ptr<i32, ub>\n"
    gather = """      %i = pto.vlds %index[%c0] : !pto.ptr<i32, ub> -> !pto.vreg<64xi32>
      %g = pto.vgather2 %out, %i, {} : !pto.ptr<f32, ub>, !pto.vreg<64xi32>, !pto.mask<b32> -> !pto.vreg<64xf32>
"""
    ids = np.zeros(64, np.int32)
    table = load("%y", "%out")
    for mask, found in (("%mask", ["uninitialized!"]), ("%half", [])):
        body = FIRST_HALF.replace("f32, gm", "i32, gm").replace(order("MTE2", "V"), table + order("MTE2", "V"))
        parameters = PARAMETERS.replace("%x: !pto.ptr<f32", "%x: !pto.ptr<i32")
        report = check(
            index + body + scope(MASK + HALF + gather.format(mask)) + ALL,
            ids,
            np.zeros(64, "f4"),
            parameters=parameters,
        )
        assert kinds(report) == found, mask


def test_a_scalar_load_is_an_error() -> None:
    assert kinds(check("    %s = pto.load_scalar %in[%c0] : !pto.ptr<f32, ub> -> f32\n" + ALL)) == ["uninitialized!"]
    inside = "      %s = pto.load_scalar %in[%c8] : !pto.ptr<f32, ub> -> f32\n"
    assert kinds(check(FIRST_HALF + scope(inside) + ALL)) == []
    assert kinds(check(scope(inside) + ALL)) == ["uninitialized!"]


# --- memories ---------------------------------------------------------------------------------------------------------


def test_copies_on_chip_carry_taint_and_do_not_report_it() -> None:
    types = "!pto.ptr<f32, ub>, !pto.ptr<f32, ub>, i64, i64, i64, i64"
    moved = "    %eight = arith.constant 8 : i64\n"
    moved += f"    pto.mte_ub_ub %in, %out, %eight nburst(%one, %zero, %zero) : {types}\n"
    assert kinds(check(FIRST_HALF + moved + ALL)) == []
    report = check(FIRST_HALF + moved + FINISH)
    assert kinds(report) == ["uninitialized"]
    (finding,) = report.findings
    assert finding.bytes == (128, 256)  # where it was read first, not where it was read last
    assert "pto.mte_ub_ub" in (finding.location.source.line(finding.line) if finding.location else "")
    assert [other.role for other in finding.related] == ["here it reaches GM"]
    assert kinds(check(FIRST_HALF + moved + SHORT)) == []


def test_a_store_makes_bytes_defined() -> None:
    clear = scope(
        MASK
        + "      %f = arith.constant 0.0 : f32\n      %z = pto.vbr %f : f32 -> !pto.vreg<64xf32>\n"
        + vsts("%z", "%in")
    )
    assert kinds(check(clear + scope(MASK + vlds() + vsts()) + FINISH)) == []


def test_padding_is_defined() -> None:
    padded = (
        "    %half_bytes = arith.constant 128 : i64\n    %pad = arith.constant 0.0 : f32\n"
        "    pto.mte_gm_ub %x, %in, %zero, %half_bytes nburst(%one, %half_bytes, %bytes) pad(%pad)"
        " : !pto.ptr<f32, gm>, !pto.ptr<f32, ub>, i64, i64, i64, i64, i64, pad f32\n"
    )
    assert kinds(check(padded + order("MTE2", "V") + scope(MASK + vlds() + vsts()) + FINISH)) == []


def test_what_hardware_leaves_behind_a_ragged_row_is_undefined() -> None:
    ragged = (
        "    %ragged = arith.constant 100 : i64\n"
        + load()
        + "    pto.barrier #pto.pipe<PIPE_MTE2>\n"
        + load(length="%ragged")
    )
    report = check(ragged + order("MTE2", "V") + scope(MASK + vlds() + vsts()) + FINISH)
    assert kinds(report) == ["uninitialized"]
    (finding,) = report.findings
    assert finding.message.startswith("MTE2 leaves anything in ub[100:128]")
    assert finding.line == 16
    kept = scope('      %mask = pto.pset_b32 "PAT_VL16" : !pto.mask<b32>\n' + vlds() + vsts())
    short = "    %few = arith.constant 64 : i64\n" + order("V", "MTE3") + store(length="%few") + ALL
    assert kinds(check(ragged + order("MTE2", "V") + kept + short)) == []


def test_unaligned_streams_carry_taint() -> None:
    stream = """      %a0 = pto.init_align : !pto.align
      %n = arith.constant {} : i32
      %a1 = pto.vstus %a0, %n, %v, %out : !pto.align, i32, !pto.vreg<64xf32>, !pto.ptr<f32, ub> -> !pto.align
      pto.vstas %a1, %out, %n : !pto.align, !pto.ptr<f32, ub>, i32
"""
    clear = scope(
        MASK + "      %f = arith.constant 0.0 : f32\n      %z = pto.vbr %f : f32 -> !pto.vreg<64xf32>\n" + vsts("%z")
    )
    for count, found in ((32, []), (33, ["uninitialized"])):
        assert kinds(check(FIRST_HALF + clear + scope(vlds() + stream.format(count)) + FINISH)) == found


# --- limits -----------------------------------------------------------------------------------------------------------


def test_more_origins_than_there_are_numbers() -> None:
    """A surplus shares the last number of its kind: a race stays a race, whatever came before."""
    origins = Origins()
    found = [origins.number(("uninitialized", place), lambda: conflict("uninitialized")) for place in range(300)]
    races = [origins.number(("race", place), lambda: conflict("race")) for place in range(300)]
    assert {origins[number].kind for number in found} == {"uninitialized"}
    assert {origins[number].kind for number in races} == {"race"}
    assert min(found) > UNDEFINED and max(found) < min(races) and max(races) < CROSSED < DECIDED
    assert found[0] != found[1] and races[0] != races[1]
    assert origins.number(("race", 299), lambda: conflict("race")) == races[299]


def conflict(kind: str) -> Conflict:
    return Conflict(kind, "error", None, MemoryPlace("ub", 0, 1), None, ())  # type: ignore[arg-type]


@pytest.mark.parametrize("kept, found", [(65_536, ["race!"]), (1, ["lint"])], ids=["room", "no room"])
def test_suspected_loads_that_are_not_kept_are_told_of(
    kept: int, found: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """In each round MTE2 writes what V has loaded before, in no order; V uses it in the last round alone."""
    monkeypatch.setattr(candidates, "MOST", kept)
    body = (
        load()
        + order("MTE2", "V")
        + "    scf.for %i = %c0 to %c4 step %c1 {\n"
        + "      %c3 = arith.constant 3 : index\n      %is_last = arith.cmpi eq, %i, %c3 : index\n"
        + "      %lanes = arith.select %is_last, %all_lanes, %no_lanes : i32\n"
        + scope("      %mask, %left = pto.plt_b32 %lanes : i32 -> !pto.mask<b32>, i32\n" + vlds() + vsts(mask="%mask"))
        + "    pto.barrier #pto.pipe<PIPE_MTE2>\n"
        + load()
        + order("MTE2", "V", 1)
        + "    }\n"
    )
    constants = "    %all_lanes = arith.constant 64 : i32\n    %no_lanes = arith.constant 0 : i32\n"
    report = check(constants + body + order("V", "MTE3") + store() + ALL)
    assert [kind for kind in kinds(report) if kind not in ("double-set",)] == found
