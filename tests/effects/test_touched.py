"""The extent of every access is what an instruction touches: nothing outside, and its first and its last byte.

Operands are drawn at random; masks are full. Of data-dependent accesses only the bound is held, or nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import numpy as np
import pytest

from effects.touched import GM_BASE, Case, facts_of_product
from ptosim.effects import record
from ptosim.effects.catalogue import effects
from ptosim.effects.names import Space
from ptosim.effects.vector_memory import (
    DUAL_LOAD_MODES,
    DUAL_STORE_MODES,
    LOAD_MODES,
    STORE_MODES,
    STRIDED_LOAD_MODES,
)
from ptosim.reference.memory.stream import LoadAlign
from ptosim.reference.numeric.mask import FULL
from tables import table

DRAWS = 30
Draw = Callable[[str, Random], Case]

# --- copies -----------------------------------------------------------------------------------------------------------


def _ends(name: str, r: Random) -> dict[str, int]:
    """Where a copy begins on both sides."""
    word = name.removeprefix("pto.")
    source = GM_BASE if "gm_" in word and not word.endswith("_gm") else 32 * r.randrange(64)
    dest = GM_BASE + r.randrange(9) if word.endswith("_gm") else 32 * r.randrange(64)
    return {"source": source, "dest": dest}


def _transfer(name: str, r: Random) -> Case:
    return Case(
        name, {"src": GM_BASE, "dst": GM_BASE + 4096 + r.randrange(9), "bytes": r.randrange(200)}, {"dst": "f32"}
    )


def _loops(r: Random, count: int) -> dict[str, tuple[int, ...]]:
    return {
        "loop_counts": tuple(r.randrange(4) for _ in range(count)),
        "loop_source_strides": tuple(32 * r.randrange(9) for _ in range(count)),
        "loop_dest_strides": tuple(32 * r.randrange(9) for _ in range(count)),
    }


def _rows(r: Random) -> dict[str, int]:
    strides = {"source_stride": 32 * r.randrange(9), "dest_stride": 32 * r.randrange(9)}
    return {"n_burst": r.randrange(5), "len_burst": r.randrange(200), **strides}


def _strided(name: str, r: Random) -> Case:
    operands = {**_ends(name, r), **_rows(r), **_loops(r, r.randrange(3))}
    if name == "pto.mte_gm_ub" and r.random() < 0.5:
        operands |= {"pad_value": 7, "left_padding": r.randrange(9), "right_padding": r.randrange(9)}
        if r.random() < 0.5:
            operands["data_select"] = r.randrange(2)
    return Case(name, operands, {"dest": "f32", "pad_value": "f32"}, flags=frozenset(["older"] * r.randrange(2)))


def _gapped(name: str, r: Random) -> Case:
    sizes = {role: r.randrange(5) for role in ("n_burst", "len_burst", "source_gap", "dest_gap")}
    operands = {**_ends(name, r), **sizes, **_loops(r, 2 if name == "pto.mte_l1_ub" else 0), "sid": 1, "convert": 1}
    if name.endswith(("_fb", "fbuf")):
        operands["dest"] = 64 * r.randrange(8)
    return Case(name, operands, {"source": r.choice(("f16", "f32", "bf16"))})


def _matrix(name: str, r: Random) -> Case:
    small, groups = r.randrange(2), [r.randrange(1, 4), *(r.randrange(1, 40) for _ in range(3))]
    sizes = {"n": r.randrange(20), "d": r.randrange(5 if small else 40), "small_c0": small}
    strides = {"inner_stride": r.randrange(300), "outer_stride": r.randrange(3000)}
    placed = dict(zip(("groups", "loop2_stride", "loop3_stride", "loop4_stride"), groups, strict=True))
    operands = {"source": GM_BASE, "dest": 32 * r.randrange(64), **sizes, **strides, **placed}
    return Case(name, operands, {"dest": r.choice(("i8", "f16", "f32"))}, {"layout": r.choice(("nd2nz", "dn2nz"))})


def _filled(name: str, r: Random) -> Case:
    sizes = {role: r.randrange(6) for role in ("repeat", "blocks", "gap")}
    places = {"dest": 32 * r.randrange(9), "byte_offset": 32 * r.randrange(9)}
    return Case(name, {**places, "value": 5, **sizes}, integers={"fill_word_bits": 32})


# --- scalars and registers --------------------------------------------------------------------------------------------


def _scalar(name: str, r: Random) -> Case:
    on_chip = "dev" not in name and r.random() < 0.5
    base = 8 * r.randrange(64) if on_chip else GM_BASE
    space = Space.UB if on_chip else Space.GM
    kinds = {"pointer": (kind := r.choice(("i8", "f16", "f32", "i64"))), "value": kind, "result": kind}
    return Case(name, {"pointer": base, "offset": r.randrange(-4, 20), "value": 1}, kinds, spaces={"pointer": space})


def _moving(base: str, **modes: list[str]) -> Draw:
    """Loads and stores of registers by a mode, with an offset or an updated pointer."""

    def draw(name: str, r: Random) -> Case:
        ((role, words),) = modes.items()
        word = r.choice(words)
        width = {"8": 1, "1": 2, "3": 4}.get(word.rpartition("B")[2][:1], 4) if role == "dist" else 4
        kind = {1: "i8", 2: "i16", 4: "f32"}[width]
        lanes = np.zeros(256 // width, {1: np.int8, 2: np.int16, 4: np.float32}[width])
        masked = {"mask": FULL[width]} if base == "dest" and not name.endswith("vsst") else {}
        post = r.random() < 0.3 and name in ("pto.vlds", "pto.vsts")
        values = dict.fromkeys(("value", "low", "high"), lanes) if base == "dest" else {}
        operands = {base: 2048 + 512 * r.randrange(4), "offset": 256 * r.randrange(-2, 4) // width, **values, **masked}
        kinds = {base: kind, "value": kind, "result": kind, "low": kind, "high": kind}
        return Case(name, operands, kinds, {role: word}, flags=frozenset({"next"} if post else ()))

    return draw


def _blocks(base: str) -> Draw:
    def draw(name: str, r: Random) -> Case:
        strides = {"block_stride": r.randrange(9), "repeat_stride": r.randrange(9)}
        values = {"value": np.zeros(64, np.float32)} if base == "dest" else {}
        operands = {base: 32 * r.randrange(64), "mask": FULL[4], **strides, **values}
        return Case(name, operands, {base: "f32", "value": "f32", "result": "f32"})

    return draw


def _indexed(base: str) -> Draw:
    def draw(name: str, r: Random) -> Case:
        offsets = np.array([4 * r.randrange(200) if name.endswith("erb") else r.randrange(900) for _ in range(64)])
        if name.endswith("erb"):
            offsets = offsets // 32 * 32
        values = {"value": np.zeros(64, np.float32)} if base == "dest" else {}
        kinds = {base: "f32", "offsets": "i32", "value": "f32", "result": "f32"}
        operands = {base: 256 * r.randrange(9), "offsets": offsets.astype(np.int32), "mask": FULL[4], **values}
        used = offsets[:8] if name.endswith("erb") else offsets  # of vgatherb eight lanes count
        return Case(name, operands, kinds, beside={"offsets": used.astype(np.int64)})

    return draw


def _stream(name: str, r: Random) -> Case:
    kinds, base = {"source": "f32", "result": "f32"}, 4 * r.randrange(200)
    return Case(name, {"source": base, "align": LoadAlign(base), "offset": r.randrange(90)}, kinds)


def _predicate(base: str, words: tuple[str, ...]) -> Draw:
    def draw(name: str, r: Random) -> Case:
        unit = 1 if name.endswith("s") else 0
        operands = {base: 64 * r.randrange(9), "offset": 64 * r.randrange(5) if unit else r.randrange(5)}
        return Case(name, operands | ({"value": FULL[1]} if base == "dest" else {}), words={"dist": r.choice(words)})

    return draw


def _sorting(name: str, r: Random) -> Case:
    places = {"dest": 65536, "source": 0, "indices": 32768}
    return Case(name, {**places, "repeat": r.randrange(9)}, {"source": r.choice(("f16", "f32"))})


def _merging(name: str, r: Random) -> Case:
    """Lists without a stop: what a suspended merge writes depends on scores. Merges of four are repeated, or left."""
    counts, valid = [r.randrange(1, 9) for _ in range(4)], r.choice((0xF, 0xF, 0x7, 0x3))
    config = (r.randrange(4) if valid == 0xF and len({*counts}) == 1 else 1) | valid << 8
    sources = {f"source{n}": 4096 * n for n in range(4)}
    packed = sum(count << 16 * n for n, count in enumerate(counts))
    return Case(name, {"dest": 32768, **sources, "count": packed, "config": config}, {"dest": "f32", "source0": "f32"})


def _special(name: str, r: Random) -> Case:
    post = frozenset({"next"} if r.random() < 0.5 else ())
    step = r.randrange(9) * (1 if name.endswith("i") else 4)
    return Case(name, {"dest": 256, "offset": step}, words={"register": "AR"}, flags=post)


# --- the cube ---------------------------------------------------------------------------------------------------------


def _fractals(name: str, r: Random) -> Case:
    fields = ("m_start", "k_start", "m_step", "k_step", "source_stride", "dest_stride")
    operands = {role: r.randrange(1, 6) for role in fields} | {
        "source": 512 * r.randrange(4),
        "dest": 512 * r.randrange(4),
    }
    if r.random() < 0.5:
        sizes = {role: r.randrange(1, 70) for role in ("m", "n", "k")}
        sizes.pop("n" if name.endswith("a") else "m")
        operands = {"source": operands["source"], "dest": operands["dest"], **sizes, "start_row": 1, "start_col": 2}
    kind = r.choice(("f16", "i8", "f32", "f4E1M2x2"))
    return Case(name, operands, {"source": kind}, integers={"transpose": r.randrange(2)})


def _scales(name: str, r: Random) -> Case:
    fields = ("x_start", "y_start", "x_step", "y_step", "source_stride", "dest_stride")
    operands = {role: r.randrange(1, 4) for role in fields} | {"source": 32 * r.randrange(9), "dest": 512}
    if name.startswith("pto.mte") and r.random() < 0.5:
        side = "m" if "l0a" in name else "n"
        operands = {"source": 64, "dest": 512, side: r.randrange(1, 70), "k": r.randrange(1, 200)}
    return Case(name, operands, {"source": "f8E4M3FN"})


def _product(name: str, r: Random) -> Case:
    kind = "f8E4M3FN" if "_mx" in name else r.choice(("f16", "i8", "f32"))
    m, n, k = r.choice((1, r.randrange(1, 40))), r.randrange(1, 40), r.randrange(1, 70)
    pointers = {"a": 512 * r.randrange(4), "b": 512 * r.randrange(4), "c": 1024 * r.randrange(4)}
    kinds, facts = {"a": kind, "b": kind, "c": "f32"}, facts_of_product(name)
    if "bias" in name:
        pointers["bias"] = 64
    flags = frozenset({"disable_gemv"} if r.random() < 0.3 and not name.endswith("raw") else ())
    if not name.endswith("raw"):
        return Case(name, {**pointers, "m": m, "n": n, "k": k}, kinds, flags=flags, facts=facts)
    start = r.choice((0, 1 << 63, 1 << 62) if "bias" in name else (0, 1 << 63))  # accumulators, zero, bias
    return Case(name, {**pointers, "packed": m | k << 12 | n << 24 | start | r.randrange(2) << 61}, kinds, facts=facts)


def _start(name: str, r: Random) -> Case:
    return Case(name, {"c": 1024, "m": r.randrange(1, 40), "n": r.randrange(1, 40), "bias": r.choice((None, 64))})


def _scale_words(name: str, r: Random) -> Case:
    return Case(name, {"source": 64, "dest": 128, "count": r.randrange(40)}, {"source": r.choice(("f32", "f16"))})


def _store(name: str, r: Random) -> Case:
    layout = r.choice(("nz2nd", "nz2dn", "nz2nz"))
    sizes = {"m": r.randrange(1, 40), "n": r.randrange(1, 40), "source_stride": r.randrange(40, 80)}
    operands = {"source": 64, "dest": GM_BASE if name.endswith("gm") else 64, "dest_stride": r.randrange(700), **sizes}
    words = {"layout": layout}
    if layout == "nz2dn":
        operands["loop0_stride"] = r.randrange(1, 4)
    if layout == "nz2nz":
        operands["split"] = r.randrange(2)
    else:
        operands |= {"loop3_count": r.randrange(4), "loop3_source_stride": 5, "loop3_dest_stride": r.randrange(900)}
    if name.endswith("ub"):
        operands["sub_block"] = r.randrange(2)
    return Case(name, operands, {"source": "f32", "dest": "f32"}, words)


def _raw_store(name: str, r: Random) -> Case:
    operands = {"source": 64, "dest": GM_BASE if name.endswith("gm") else 64}
    layout = r.choice((0, 1 << 43, 1 << 62))
    config0 = r.randrange(1, 40) << 4 | r.randrange(1, 40) << 16 | r.randrange(700) << 32
    config1 = r.randrange(40, 80) | layout | r.randrange(2) << 42
    loop3, channel = r.randrange(1, 4) | 5 << 16 | r.randrange(900) << 32, r.randrange(1, 4) << 48
    registers = {"loop3_para": loop3, "channel_para": channel, "quant_pre": 0, "relu_alpha": 0, "fpc": 0}
    operands |= {"config0": config0, "config1": config1, **registers}
    return Case(name, operands, {"source": "f32", "dest": "f32"})


def _table(name: str, r: Random) -> Case:
    sizes = {"rows": r.randrange(1, 4), "columns": r.randrange(1, 4), "length": r.randrange(1, 4)}
    strides = {role: r.randrange(1, 50) for role in ("index_row", "index_column", "row_stride", "column_stride")}
    places = {"table": GM_BASE, "indices": 4096, "base": 8192, "capacity": 9, "pitch": 5, "element_stride": 1}
    words = {"beyond": "clamp", "combine": "", "ordered": ""}
    return Case(name, {**places, **sizes, **strides}, {"table": "f32"}, words)


_STORE_WORDS = [word for word in STORE_MODES if not word.startswith(("MRG", "INTLV"))]
_SIZED_LOADS = [word for word in LOAD_MODES if not word.startswith("BRC_BLK")]

DRAWN: dict[str, Draw] = {
    **dict.fromkeys(("pto.mte_gm_ub", "pto.mte_ub_gm", "pto.mte_gm_l1", "pto.sim.l1_gm"), _strided),
    "pto.sim.transfer": _transfer,
    **dict.fromkeys(("pto.mte_ub_ub", "pto.mte_ub_l1", "pto.mte_l1_ub", "pto.mte_l1_bt", "pto.mte_l1_fb"), _gapped),
    **dict.fromkeys(("pto.copy_cbuf_to_ubuf", "pto.copy_cbuf_to_bt"), _gapped),
    "pto.mte_gm_l1_frac": _matrix,
    "pto.raw_fill_l1": _filled,
    **dict.fromkeys(("pto.load_scalar", "pto.ld_dev", "pto.store_scalar", "pto.st_dev"), _scalar),
    "pto.vlds": _moving("source", dist=_SIZED_LOADS),
    "pto.vldsx2": _moving("source", dist=list(DUAL_LOAD_MODES)),
    "pto.vsld": _moving("source", stride=list(STRIDED_LOAD_MODES)),
    "pto.vsts": _moving("dest", dist=_STORE_WORDS),
    "pto.vstsx2": _moving("dest", dist=list(DUAL_STORE_MODES)),
    "pto.vsst": _moving("dest", stride=list(STRIDED_LOAD_MODES)),
    "pto.vsldb": _blocks("source"),
    "pto.vsstb": _blocks("dest"),
    **dict.fromkeys(("pto.vgather2", "pto.vgather2_bc", "pto.vgatherb"), _indexed("source")),
    "pto.vscatter": _indexed("dest"),
    **dict.fromkeys(("pto.vldus", "pto.uvld"), _stream),
    **dict.fromkeys(("pto.plds", "pto.pldi"), _predicate("source", ("NORM", "US", "DS"))),
    **dict.fromkeys(("pto.psts", "pto.psti"), _predicate("dest", ("NORM", "PK"))),
    "pto.vbitsort": _sorting,
    "pto.vmrgsort4": _merging,
    **dict.fromkeys(("pto.sprsti", "pto.sprsts"), _special),
    "pto.sim.start_acc": _start,
    "pto.sim.scale_words": _scale_words,
    **dict.fromkeys(("pto.sim.gather", "pto.sim.gather_mte2", "pto.sim.scatter", "pto.sim.scatter_mte3"), _table),
    **dict.fromkeys(("pto.mte_l1_l0a", "pto.mte_l1_l0b"), _fractals),
    **dict.fromkeys(("pto.mte_l1_l0a_mx", "pto.mte_l1_l0b_mx"), _scales),
    **dict.fromkeys(("pto.load_cbuf_to_ca_mx", "pto.load_cbuf_to_cb_mx"), _scales),
    **dict.fromkeys((name for name in effects() if name.startswith("pto.mad")), _product),
    **dict.fromkeys(("pto.mte_l0c_l1", "pto.mte_l0c_gm", "pto.mte_l0c_ub"), _store),
    **dict.fromkeys((name for name in effects() if name.startswith("pto.copy_matrix_cc")), _raw_store),
}
STREAMS = {"vldas", "init_align", "vstus", "vstu", "vstur", "vsta", "vstas", "vstar", "pstu"}
"""When their bytes reach memory depends on what the stream holds; their records say `unknown`, or nothing."""

WORKITEMS = {
    "load",
    "store",
    "ldg",
    "stg",
    *(f"atomic_{verb}" for verb in "add sub min max and or xor exch cas".split()),
}
"""Each workitem has an address of its own."""


def test_every_operation_on_memory_is_drawn_or_unknown():
    touching = {name for name, each in effects().items() if each.accesses is not record.no_accesses}
    assert touching == {*DRAWN, *(f"pto.{name}" for name in (*STREAMS, *WORKITEMS))}


@pytest.mark.parametrize("name", list(DRAWN))
def test_an_extent_is_what_is_touched(name: str):
    random = Random(name)
    for _ in range(DRAWS):
        case = DRAWN[name](name, random)
        pieces, expected = case.observed(), list(case.expected())
        assert bool(pieces) == bool(expected), case
        for direction, space, low, high in pieces:
            assert any(
                (access.direction, access.space) == (direction, space) and start <= low and high <= end
                for access, start, end in expected
            ), f"{direction} of {space} {low}..{high} is in no extent of {expected}: {case}"
        for access, start, end in expected:
            if access.reach == "exact":
                own = [
                    (low, high)
                    for direction, space, low, high in pieces
                    if (direction, space) == (access.direction, access.space) and start <= low and high <= end
                ]
                assert own, f"{access} {start}..{end} is not touched: {case}"
                assert (min(own)[0], max(high for _, high in own)) == (start, end), f"{access}: {case}"


@table("name", "mad", "mad_acc", "mad_bias", "mad_mx", "mad_raw", "mte_l0c_gm", "copy_matrix_cc_to_ub")
def test_products_and_stores_use_what_they_read(name: str) -> None:
    assert effects()[f"pto.{name}"].taint is record.Taint.USE
