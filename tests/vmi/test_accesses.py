"""Loads and stores of logical vectors, and lanes that change places, against a direct formula."""

import ml_dtypes
import numpy as np
import pytest

from logical_kernel import at, image, run_logical

OUT = 32_768
DTYPES = {"i8": "u1", "f16": "f2", "f32": "f4", "ui16": "u2", "bf16": ml_dtypes.bfloat16}
LANES = (1, 8, 64, 100, 128, 256, 300)


def numbered(kind: str, count: int) -> np.ndarray:
    return (np.arange(count) % 101 + 1).astype(DTYPES[kind])


def kept(kind: str, count: int, address: int = OUT) -> tuple[int, np.ndarray]:
    """What lies where a kernel stores, and must stay where it does not."""
    return address, np.full(count, 77).astype(DTYPES[kind])


@pytest.mark.parametrize("lanes", LANES)
@pytest.mark.parametrize("kind", DTYPES)
def test_every_form_of_a_load(kind: str, lanes: int) -> None:
    source, dtype = numbered(kind, 16384), np.dtype(DTYPES[kind])
    forms = {
        "%ub_{k}[%c32]": source[32 : 32 + lanes],
        '%ub_{k}[%c5] {{dist_mode = "brc"}}': np.full(lanes, source[5]),
        "%ub_{k}[%c64], %c37 {{group = 1}}": source[64 : 64 + lanes],
    }
    for groups in (2, 4, 8, 20, 64, 100):
        if lanes % groups:
            continue
        size = lanes // groups
        for stride in (0, 1, size, 37, 64):
            if groups * stride + size + 128 > 16384 // dtype.itemsize:
                continue
            first = np.arange(groups)[:, None] * stride
            forms[f'%ub_{{k}}[%c7], %c{stride} {{{{group = {groups}, dist_mode = "brc"}}}}'] = np.repeat(
                source[7 + first[:, 0]], size
            )
            rows = size * dtype.itemsize % 256 == 0
            aligned = stride * dtype.itemsize % 32 == 0
            if (rows and not aligned) or (stride == size and lanes > 1):
                continue
            start = 64 if dtype.itemsize > 1 else 128
            forms[f"%ub_{{k}}[%c{start}], %c{stride} {{{{group = {groups}}}}}"] = source[
                start + (first + np.arange(size)).reshape(-1)
            ]
    lines = []
    for number, form in enumerate(forms):
        text = form.format(k=kind)
        lines.append(f"%v{number} = pto.vmi.vload {text} : P<{kind}> -> L<{lanes}x{kind}>")
        place = -(-lanes * dtype.itemsize // 32) * 32 * number + 16384
        lines.append(f"pto.vmi.vstore %v{number}, %ub{place}_{kind}[%c0] : L<{lanes}x{kind}>, P<{kind}>")
    memory = run_logical("\n".join(lines), image((0, source[: 16384 // dtype.itemsize])))
    for number, (form, expected) in enumerate(forms.items()):
        place = -(-lanes * dtype.itemsize // 32) * 32 * number + 16384
        np.testing.assert_array_equal(at(memory, place, dtype, lanes), expected, err_msg=form)


@pytest.mark.parametrize("lanes", LANES)
@pytest.mark.parametrize("kind", DTYPES)
def test_every_form_of_a_store(kind: str, lanes: int) -> None:
    source, dtype = numbered(kind, lanes), np.dtype(DTYPES[kind])
    before, old = image((0, source), kept(kind, 4000)), kept(kind, 4000)[1]
    for groups in (1, 2, 4, 8, 20, 100):
        if lanes % groups:
            continue
        size = lanes // groups
        for stride in (size, 37, 64):
            if (
                (stride != size and stride < size)
                or groups * stride > 3000
                or (size * dtype.itemsize % 256 == 0 and stride * dtype.itemsize % 32)
            ):
                continue
            body = f"""%v = pto.vmi.vload %ub_{kind}[%c0] : P<{kind}> -> L<{lanes}x{kind}>
pto.vmi.vstore %v, %ub{OUT}_{kind}[%c0], %c{stride} {{group = {groups}}} : L<{lanes}x{kind}>, P<{kind}>"""
            expected = old.copy()
            for row in range(groups):
                expected[row * stride : row * stride + size] = source[row * size : (row + 1) * size]
            np.testing.assert_array_equal(at(run_logical(body, before), OUT, dtype, 4000), expected, err_msg=body)
    for count in (0, 1, lanes // 2, lanes):
        body = f"""%v = pto.vmi.vload %ub_{kind}[%c0] : P<{kind}> -> L<{lanes}x{kind}>
%m = pto.vmi.create_mask %c{count} : index -> Q<{lanes}>
pto.vmi.vstore %v, %ub{OUT}_{kind}[%c32], %m : L<{lanes}x{kind}>, P<{kind}>, Q<{lanes}>"""
        expected = old.copy()
        expected[32 : 32 + count] = source[:count]
        np.testing.assert_array_equal(at(run_logical(body, before), OUT, dtype, 4000), expected)


@pytest.mark.parametrize("lanes", LANES)
@pytest.mark.parametrize("kind", DTYPES)
def test_two_vectors_alternate(kind: str, lanes: int) -> None:
    source, dtype = numbered(kind, 2 * lanes), np.dtype(DTYPES[kind])
    type_ = f"L<{lanes}x{kind}>"
    for load, store in (("vload", "vstore"), ("deinterleave_load", "interleave_store")):
        mode = ' {dist_mode = "dintlv"}' if load == "vload" else ""
        body = f"""%a, %b = pto.vmi.{load} %ub_{kind}[%c0]{mode} : P<{kind}> -> {type_}, {type_}
pto.vmi.{store} %b, %a, %ub{OUT}_{kind}[%c0]{mode} : {type_}, {type_}, P<{kind}>"""
        memory = run_logical(body, image((0, source), kept(kind, 1000)))
        np.testing.assert_array_equal(at(memory, OUT, dtype, 2 * lanes), source.reshape(-1, 2)[:, ::-1].reshape(-1))
        assert (at(memory, OUT, dtype, 1000)[2 * lanes :] == kept(kind, 1000)[1][2 * lanes :]).all()


def test_bits_are_unpacked() -> None:
    source = numbered("f16", 300)
    body = """%v = pto.vmi.vload %ub_f16[%c0] {dist_mode = "unpack"} : P<f16> -> L<300xf32>
pto.vmi.vstore %v, %ub32768_f32[%c0] : L<300xf32>, P<f32>"""
    memory = run_logical(body, image((0, source)))
    np.testing.assert_array_equal(at(memory, OUT, "u4", 300), source.view("u2"))


@pytest.mark.parametrize("older", [False, True])
def test_blocks(older: bool) -> None:
    source, m = np.arange(2000, dtype="f4"), "%m = pto.vmi.create_mask %c60 : index -> Q<64>\n"
    load = "%v = pto.vmi.vload %ub_f32[%c64], %c3_i16, %c1_i16 : P<f32> -> L<64xf32>\n"
    store = "pto.vmi.vstore %v, %ub32768_f32[%c0], %c2_i16, %c0_i16, %m : L<64xf32>, P<f32>, Q<64>"
    if older:
        load = "%v = pto.vmi.stride_load %ub_f32[%c64], %c3_i16, %c1_i16, %m : P<f32>, i16, i16, Q<64> -> L<64xf32>\n"
        store = "pto.vmi.stride_store %v, %ub32768_f32[%c0], %c2_i16, %c0_i16, %m : L<64xf32>, P<f32>, i16, i16, Q<64>"
    more = "\npto.vmi.vsstb %v, %ub40960_f32[%c0], %c1_i16, %m : L<64xf32>, P<f32>, Q<64>"
    memory = run_logical(m + load + store + more, image((0, source)))
    blocks = source[64 + 8 + np.arange(8)[:, None] * 24 + np.arange(8)]
    blocks[7, 4:] = 0
    np.testing.assert_array_equal(at(memory, OUT, "f4", 128).reshape(8, 2, 8)[:, 0], blocks)
    np.testing.assert_array_equal(at(memory, 40960, "f4", 64), blocks.reshape(-1))


def test_low_bytes_go_to_bytes() -> None:
    source = np.arange(256, dtype="u4") * 0x01010101 + 0x1200
    for lanes, groups, stride in ((64, 8, 8), (64, 8, 20), (256, 2, 160), (32, 4, 11)):
        size = lanes // groups
        body = f"""%v = pto.vmi.vload %ub_i32[%c0] : P<i32> -> L<{lanes}xi32>
pto.vmi.vstore %v, %ub32768_i8[%c0], %c{stride} {{group = {groups}}} : L<{lanes}xi32>, P<i8>"""
        memory = run_logical(body, image((0, source), kept("i8", 1000)))
        expected = kept("i8", 1000)[1]
        for row in range(groups):
            expected[row * stride : row * stride + size] = source[row * size : (row + 1) * size].astype("u1")
        np.testing.assert_array_equal(at(memory, OUT, "u1", 1000), expected)


@pytest.mark.parametrize("kind, offsets, lanes", [("f32", "i32", 100), ("f32", "ui32", 300), ("ui16", "ui16", 100)])
def test_offsets(kind: str, offsets: str, lanes: int) -> None:
    dtype, wide = np.dtype(DTYPES[kind]), "u4" if "32" in offsets else "u2"
    source = numbered(kind, 1000)
    places = (np.arange(lanes) * 7 % 997).astype(wide)
    active = np.arange(lanes) < lanes - 9
    type_, mask = f"L<{lanes}x{kind}>", f"Q<{lanes}>"
    body = f"""%o = pto.vmi.vload %ub8192_{offsets}[%c0] : P<{offsets}> -> L<{lanes}x{offsets}>
%m = pto.vmi.create_mask %c{lanes - 9} : index -> {mask}
%v = pto.vmi.vgather %ub_{kind}, %o, %m : P<{kind}>, L<{lanes}x{offsets}>, {mask} -> {type_}
%one = pto.vmi.vload %ub_{kind}[%c0] : P<{kind}> -> {type_}
%w = pto.vmi.gather %ub_{kind}[%o], %m, %one : P<{kind}>, L<{lanes}x{offsets}>, {mask}, {type_} -> {type_}
pto.vmi.vstore %v, %ub16384_{kind}[%c0] : {type_}, P<{kind}>
pto.vmi.vstore %w, %ub20480_{kind}[%c0] : {type_}, P<{kind}>
pto.vmi.vscatter %one, %ub{OUT}_{kind}, %o, %m : {type_}, P<{kind}>, L<{lanes}x{offsets}>, {mask}
pto.vmi.scatter %one, %ub40960_{kind}[%o], %m : {type_}, P<{kind}>, L<{lanes}x{offsets}>, {mask}"""
    memory = run_logical(body, image((0, source), (8192, places), kept(kind, 1000), kept(kind, 1000, 40960)))
    np.testing.assert_array_equal(at(memory, 16384, dtype, lanes), np.where(active, source[places], 0))
    np.testing.assert_array_equal(at(memory, 20480, dtype, lanes), np.where(active, source[places], source[:lanes]))
    expected = kept(kind, 1000)[1]
    expected[places[active]] = source[:lanes][active]
    for address in (OUT, 40960):
        np.testing.assert_array_equal(at(memory, address, dtype, 1000), expected)


def test_bytes_are_scattered_and_the_lowest_lane_wins() -> None:
    lanes, source = 300, numbered("i8", 300)
    places = (np.arange(lanes) % 200).astype("u2")
    body = f"""%o = pto.vmi.vload %ub8192_i16[%c0] : P<i16> -> L<{lanes}xi16>
%all = pto.vmi.pset "PAT_ALL" : Q<{lanes}>
%v = pto.vmi.vload %ub_i8[%c0] : P<i8> -> L<{lanes}xi8>
pto.vmi.vscatter %v, %ub{OUT}_i8, %o, %all : L<{lanes}xi8>, P<i8>, L<{lanes}xi16>, Q<{lanes}>"""
    memory = run_logical(body, image((0, source), (8192, places)))
    np.testing.assert_array_equal(at(memory, OUT, "u1", 200), source[:200])


def test_blocks_are_gathered() -> None:
    source = np.arange(1000, dtype="f4")
    places = np.array([5, 0, 9, 2, 2, 30, 7, 1], "u4") * 32
    body = """%o = pto.vmi.vload %ub8192_i32[%c0] : P<i32> -> L<8xi32>
%m = pto.vmi.create_mask %c50 : index -> Q<64>
%v = pto.vmi.vgatherb %ub_f32, %o, %m : P<f32>, L<8xi32>, Q<64> -> L<64xf32>
pto.vmi.vstore %v, %ub32768_f32[%c0] : L<64xf32>, P<f32>"""
    memory = run_logical(body, image((0, source), (8192, places)))
    expected = source[(places // 4)[:, None] + np.arange(8)].reshape(-1)
    np.testing.assert_array_equal(at(memory, OUT, "f4", 64), np.where(np.arange(64) < 50, expected, 0))


# --- the older loads and stores ---------------------------------------------------------------------------------------


def test_older_accesses() -> None:
    source, active = np.arange(2000, dtype="f4"), np.arange(64) % 16 < 5
    body = """%m = pto.vmi.pge "PAT_VL5" {group = 4} : Q<64>
%a = pto.vmi.load %ub_f32[%c0] : P<f32> -> L<64xf32>
%g = pto.vmi.group_load %ub_f32[%c0], %c24 {num_groups = 8} : P<f32> -> L<64xf32>
%s = pto.vmi.group_slot_load %ub_f32[%c0], %c3 {num_groups = 64} : P<f32> -> L<64xf32>
%b = pto.vmi.group_broadcast_load %ub_f32[%c0], %c3 {num_groups = 8} : P<f32> -> L<64xf32>
%k = pto.vmi.masked_load %ub_f32[%c64], %m, %a : P<f32>, Q<64>, L<64xf32> -> L<64xf32>
%e = pto.vmi.expand_load %ub_f32[%c64], %m, %a : P<f32>, Q<64>, L<64xf32> -> L<64xf32>
%c = pto.vmi.compress %a, %m : L<64xf32>, Q<64> -> L<64xf32>
%i = pto.vmi.active_prefix_index %m : Q<64> -> L<64xi32>
%sp = pto.vmi.vci %c0_i32 : i32 -> L<64xi32>
%h = "pto.vmi.constant"() {value = dense<1.5> : tensor<64xf32>} : () -> L<64xf32>
%q = "pto.vmi.constant_mask"() {value = dense<[true, false, true, true, false, false, false, true]> : tensor<8xi1>}
  : () -> Q<8>
%x = pto.vmi.load %ub_f32[%c0] : P<f32> -> L<8xf32>
"""
    names = {"a": 64, "g": 64, "s": 64, "b": 64, "k": 64, "e": 64, "c": 64, "h": 64}
    for number, name in enumerate(names):
        body += f"pto.vmi.store %{name}, %ub{OUT + 256 * number}_f32[%c0] : L<64xf32>, P<f32>\n"
    body += f"""pto.vmi.store %i, %ub{OUT + 2048}_i32[%c0] : L<64xi32>, P<i32>
pto.vmi.masked_store %a, %ub{OUT + 2304}_f32[%c0], %m : L<64xf32>, P<f32>, Q<64>
pto.vmi.group_store %a, %ub{OUT + 2560}_f32[%c0], %c13 {{num_groups = 8}} : L<64xf32>, P<f32>
pto.vmi.compress_store %a, %ub{OUT + 3584}_f32[%c0], %m : L<64xf32>, P<f32>, Q<64>
pto.vmi.masked_store %x, %ub{OUT + 3840}_f32[%c0], %q : L<8xf32>, P<f32>, Q<8>"""
    memory = run_logical(body, image((0, source)))
    lanes, before = np.arange(64), np.cumsum(active) - active
    expected = {
        "a": source[:64],
        "g": source[(np.arange(8)[:, None] * 24 + np.arange(8)).reshape(-1)],
        "s": source[lanes * 3],
        "b": source[lanes // 8 * 3],
        "k": np.where(active, source[64:128], source[:64]),
        "e": np.where(active, source[64 + before], source[:64]),
        "c": np.concatenate([source[:64][active], np.zeros(44)]),
        "h": np.full(64, 1.5),
    }
    for number, name in enumerate(names):
        np.testing.assert_array_equal(at(memory, OUT + 256 * number, "f4", 64), expected[name], err_msg=name)
    np.testing.assert_array_equal(at(memory, OUT + 2048, "u4", 64), before)
    np.testing.assert_array_equal(at(memory, OUT + 2304, "f4", 64), np.where(active, source[:64], 0))
    rows = at(memory, OUT + 2560, "f4", 104).reshape(8, 13)
    np.testing.assert_array_equal(rows[:, :8], source[:64].reshape(8, 8))
    assert not rows[:, 8:].any()
    np.testing.assert_array_equal(at(memory, OUT + 3584, "f4", 64), expected["c"])
    np.testing.assert_array_equal(at(memory, OUT + 3840, "f4", 8), [0, 0, 2, 3, 0, 0, 0, 7])


# --- lanes that change places -----------------------------------------------------------------------------------------


def test_lanes_change_places() -> None:
    source, places = np.arange(128, dtype="f4"), (np.arange(64, dtype="u4") * 11) % 64
    body = """%a = pto.vmi.vload %ub_f32[%c0] : P<f32> -> L<128xf32>
%b = pto.vmi.vload %ub_f32[%c64] : P<f32> -> L<64xf32>
%i = pto.vmi.vload %ub8192_i32[%c0] : P<i32> -> L<64xi32>
%r = pto.vmi.vselr %b, %i : L<64xf32>, L<64xi32> -> L<64xf32>
%s = pto.vmi.shuffle %a[127, 0, 1, 2, 64, 65, 3, 3] : L<128xf32> -> L<8xf32>
%p, %q, %t, %u = "pto.vmi.channel_split"(%a) : (L<128xf32>) -> (L<32xf32>, L<32xf32>, L<32xf32>, L<32xf32>)
%n = "pto.vmi.channel_merge"(%u, %p) : (L<32xf32>, L<32xf32>) -> L<64xf32>
%v = pto.vmi.group_broadcast %s {num_groups = 8} : L<8xf32> -> L<64xf32>
pto.vmi.vstore %r, %ub32768_f32[%c0] : L<64xf32>, P<f32>
pto.vmi.vstore %s, %ub36864_f32[%c0] : L<8xf32>, P<f32>
pto.vmi.vstore %q, %ub40960_f32[%c0] : L<32xf32>, P<f32>
pto.vmi.vstore %n, %ub45056_f32[%c0] : L<64xf32>, P<f32>
pto.vmi.vstore %v, %ub49152_f32[%c0] : L<64xf32>, P<f32>"""
    memory = run_logical(body, image((0, source), (8192, places)))
    chosen = source[[127, 0, 1, 2, 64, 65, 3, 3]]
    np.testing.assert_array_equal(at(memory, 32768, "f4", 64), source[64:][places])
    np.testing.assert_array_equal(at(memory, 36864, "f4", 8), chosen)
    np.testing.assert_array_equal(at(memory, 40960, "f4", 32), source[1::4])
    np.testing.assert_array_equal(at(memory, 45056, "f4", 64), np.stack([source[3::4], source[::4]], 1).reshape(-1))
    np.testing.assert_array_equal(at(memory, 49152, "f4", 64), np.repeat(chosen, 8))


@pytest.mark.parametrize("bins", [128, 256])
@pytest.mark.parametrize("name", ["vdhist", "vchist"])
def test_histograms(name: str, bins: int) -> None:
    source = np.random.default_rng(bins).integers(0, 256, 300).astype("u1")
    counts = (np.arange(bins) + 65500).astype("u2")
    body = f"""%s = pto.vmi.vload %ub_ui8[%c0] : P<ui8> -> L<300xui8>
%a = pto.vmi.vload %ub8192_ui16[%c0] : P<ui16> -> L<{bins}xui16>
%m = pto.vmi.create_mask %c290 : index -> Q<300>
%r = pto.vmi.{name} %a, %s, %m : L<{bins}xui16>, L<300xui8>, Q<300> -> L<{bins}xui16>
pto.vmi.vstore %r, %ub32768_ui16[%c0] : L<{bins}xui16>, P<ui16>"""
    memory = run_logical(body, image((0, source), (8192, counts)))
    found = np.bincount(source[:290], minlength=256)
    more = (found if name == "vdhist" else np.cumsum(found))[:bins]
    np.testing.assert_array_equal(at(memory, OUT, "u2", bins), (counts + more).astype("u2"))


@pytest.mark.parametrize("kind", ["i32", "si16", "i8", "f16"])
def test_ramps_begin_again_in_each_group(kind: str) -> None:
    dtype = {"i32": "u4", "si16": "i2", "i8": "u1", "f16": "f2"}[kind]
    scalar = kind.lstrip("s")
    base = "%c7.0_f16" if kind == "f16" else f"%c7_{scalar}"
    for lanes, groups in ((256, 4), (512, 2), (64, 8), (256, 1)):
        body = f"""%r = pto.vmi.vci {base} {{order = "ASC", group = {groups}}} : {scalar} -> L<{lanes}x{kind}>
pto.vmi.vstore %r, %ub32768_{kind}[%c0] : L<{lanes}x{kind}>, P<{kind}>"""
        found = at(run_logical(body, image()), OUT, dtype, lanes)
        np.testing.assert_array_equal(found, (np.arange(lanes) % (lanes // groups) + 7).astype(dtype))
