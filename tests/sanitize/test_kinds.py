"""One wrong thing at a time, on both targets: what it is called, where it is said to be, and whether the hint helps."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

import ptosim
from sanitize.kernels import ALL, COPY, MASK, load, order, put, scope, store, take, text, vlds, vsts
from sanitize.repair import EDIT, repaired

READY = load() + order("MTE2", "V") + COPY
DONE = order("V", "MTE3") + store() + ALL
BARRIER = "    pto.barrier #pto.pipe<PIPE_MTE2>\n"
ONE = "    %f = arith.constant 1.0 : f32\n"
PUT_SCALAR = "    pto.store_scalar %f, {} : !pto.ptr<f32, {}>, f32\n"
GET_SCALAR = "    %s = pto.load_scalar {} : !pto.ptr<f32, {}> -> f32\n"


@dataclass(frozen=True)
class Wrong:
    """A body, the only finding it has (an exclamation mark: an error), the text of the line it is at, its message."""

    body: str
    kind: str
    at: str
    says: str
    options: dict[str, Any] = field(default_factory=dict)


def pointer(address: int) -> str:
    return f"    %p_at = arith.constant {address} : i64\n    %p = pto.castptr %p_at : i64 -> !pto.ptr<f32, ub>\n"


def turns(body: str) -> str:
    return f"    scf.for %i = %c0 to %c4 step %c1 {{\n{body}    }}\n"


HALF = "    %half = arith.constant 128 : i64\n"
OWN_PART = "    %i64 = pto.get_block_idx\n    %block = arith.index_cast %i64 : i64 to index\n"
COPY_UB = "    pto.mte_ub_ub %in, %p, %eight nburst(%one, %zero, %zero)"
COPY_UB += " : !pto.ptr<f32, ub>, !pto.ptr<f32, ub>, i64, i64, i64, i64\n"
BLOCKS = """      %beside = arith.constant 1 : i16
      %from_here = arith.constant 0 : i16
      pto.vsstb %v, %p, %beside, %from_here, %mask : !pto.vreg<64xf32>, !pto.ptr<f32, ub>, i16, i16, !pto.mask<b32>
"""
SORT = """    %indices = pto.castptr %half : i64 -> !pto.ptr<i32, ub>
    pto.vbitsort %p, %in, %indices, %c1 : !pto.ptr<f32, ub>, !pto.ptr<f32, ub>, !pto.ptr<i32, ub>, index
"""
MERGE = """    %counts = arith.constant 65537 : i64
    %lists = arith.constant 769 : i64
    pto.vmrgsort4 %in, %in, %in, %in, %in, %counts, %lists
      : !pto.ptr<f32, ub>, !pto.ptr<f32, ub>, !pto.ptr<f32, ub>, !pto.ptr<f32, ub>, !pto.ptr<f32, ub>, i64, i64
"""  # one record of each of the first two
BEHIND = "    %z = pto.addptr %y, %c64 : !pto.ptr<f32, gm> -> !pto.ptr<f32, gm>\n"
UNORDERED = turns(put("MTE2", "V") + take("MTE2", "V") + scope(MASK + vlds() + vsts()))

WRONG = {
    "V and MTE3": Wrong(READY + store() + ALL, "race!", "mte_ub_gm", "MTE3 may read ub[256:512] before V has written"),
    "MTE2 and V, back": Wrong(READY + BARRIER + load() + DONE, "race!", "mte_gm_ub", "MTE2 may write ub[0:256]"),
    "two copies of MTE2": Wrong(load() + load("%y") + ALL, "race!", "mte_gm_ub %y", "while an earlier copy of MTE2"),
    "two copies of MTE3": Wrong(
        HALF + READY + order("V", "MTE3") + store() + store("%in", "%y", "%half") + ALL,
        "race",
        "mte_ub_gm %in",
        "MTE3 may write %y[0:128] while an earlier copy of MTE3 is still writing it (the bytes are equal)",
    ),
    "GM through one core": Wrong(
        load() + order("MTE2", "MTE3") + store("%in") + load("%y", "%out") + ALL,
        "race!",
        "mte_gm_ub %y",
        "MTE2 may read %y[0:256] before MTE3 has written it",
    ),
    "V and a scalar load": Wrong(
        READY + GET_SCALAR.format("%out[%c4]", "ub") + ALL,
        "race!",
        "load_scalar",
        "S may read ub[272:276] before V has",
    ),
    "a scalar store and V": Wrong(
        ONE + load() + order("MTE2", "S") + PUT_SCALAR.format("%in[%c0]", "ub") + COPY + DONE,
        "race!",
        "vlds",
        "V may read ub[0:4] before S has written it",
    ),
    "between blocks": Wrong(
        OWN_PART + GET_SCALAR.format("%x[%block]", "gm") + PUT_SCALAR.replace("%f", "%s").format("%y[%c0]", "gm") + ALL,
        "race!",
        "store_scalar",
        "block 1 writes %y[0:4], which block 0 writes, in no order",
        {"grid": 2},
    ),
    "a load behind a store": Wrong(
        load()
        + order("MTE2", "V")
        + scope(MASK + vlds() + vsts() + vlds("%w", "%out") + vsts("%w", "%out", "%c64"))
        + order("V", "MTE3")
        + store()
        + ALL,
        "scope-alias!",
        "%w = pto.vlds",
        "loads ub[256:512], which the same vector scope stores to before",
    ),
    "two stores of a scope": Wrong(
        load() + order("MTE2", "V") + scope(MASK + vlds() + vsts() + vsts()) + DONE,
        "scope-alias",
        "pto.vsts",
        "stores to ub[256:512], which the same vector scope stores to before",
    ),
    "a circle": Wrong(
        take("V", "MTE2", 3) + READY + put("V", "MTE2", 3) + DONE,
        "deadlock!",
        'wait_flag["PIPE_V", "PIPE_MTE2"',
        "b0.aiv0 MTE2, b0.aiv0 V wait for each other",
    ),
    "a set behind the barrier that waits for it": Wrong(
        load() + take("MTE2", "V") + ALL + put("MTE2", "V") + COPY + DONE,
        "deadlock!",
        "wait_flag",
        "b0.aiv0 V, b0.aiv0 S wait for each other",
    ),
    "a set behind its wait": Wrong(
        load() + take("MTE2", "S") + put("MTE2", "S") + order("MTE2", "V") + COPY + DONE,
        "deadlock!",
        "wait_flag",
        "S waits for something that comes only after it",
    ),
    "another id": Wrong(
        load() + put("MTE2", "V", 1) + take("MTE2", "V", 2) + COPY + DONE,
        "unmatched-wait!",
        "EVENT_ID2",
        "V waits for flag MTE2 -> V id 2, and nothing is left that would set it",
    ),
    "never waited for": Wrong(
        READY + put("V", "MTE2", 5) + DONE, "undrained", "EVENT_ID5", "flag V -> MTE2 id 5 is still set at the end"
    ),
    "set twice": Wrong(
        load() + put("MTE2", "V") * 2 + take("MTE2", "V") * 2 + COPY + DONE,
        "double-set",
        "set_flag",
        "sets flag MTE2 -> V id 0 again before the earlier set has been consumed",
    ),
    "set in no order": Wrong(
        load() + order("MTE2", "V", 1) + UNORDERED.replace(vsts(), "") + ALL,
        "double-set",
        "set_flag",
        "nothing orders it after that wait",
    ),
    "no such pipe": Wrong(
        "    pto.barrier #pto.pipe<PIPE_FIX>\n",
        "wrong-pipe!",
        "barrier",
        "aiv0 has no pipe FIX: its pipes are S, MTE2, V",
    ),
    "behind an argument": Wrong(
        BEHIND + READY + order("V", "MTE3") + store("%out", "%z") + ALL,
        "out-of-bounds!",
        "mte_ub_gm",
        "argument 1 (%y), which has 256 bytes: the first byte outside is 256",
    ),
    "before ub": Wrong(
        pointer(-64) + load(dest="%p") + ALL, "out-of-bounds!", "mte_gm_ub", "the first byte outside is -64"
    ),
    "blocks before ub": Wrong(
        pointer(-128) + READY.replace(vsts(), BLOCKS) + ALL, "out-of-bounds!", "vsstb", "writes bytes -128 to 127 of ub"
    ),
    "blocks behind ub": Wrong(
        pointer((256 << 10) - 32) + READY.replace(vsts(), BLOCKS) + ALL,
        "out-of-bounds!",
        "vsstb",
        "writes bytes 262112 to 262367 of ub",
    ),
    "off by 16 bytes": Wrong(
        pointer(16) + HALF + load(dest="%p", length="%half") + ALL, "misaligned!", "mte_gm_ub", "not a multiple of 32"
    ),
    "a stride of 40 bytes": Wrong(
        "    %two = arith.constant 2 : i64\n    %off = arith.constant 20 : i64\n"
        + "    %forty = arith.muli %two, %off : i64\n"
        + load(length="%two").replace("(%one, %two, %two)", "(%two, %two, %forty)")
        + ALL,
        "misaligned!",
        "mte_gm_ub",
        "a stride of 40 bytes in ub is not a multiple of 32",
    ),
    "never written": Wrong(
        order("V", "MTE3") + store() + ALL, "uninitialized", "mte_ub_gm", "MTE3 copies ub[256:512], which nothing has"
    ),
    "half of it written": Wrong(
        HALF + load(length="%half") + order("MTE2", "V") + COPY + DONE,
        "uninitialized",
        "vlds",
        "V loads ub[128:256], which nothing has written, and it reaches GM",
    ),
    "undefined for S": Wrong(
        GET_SCALAR.format("%in[%c8]", "ub") + ALL,
        "uninitialized!",
        "load_scalar",
        "S loads ub[32:36], which nothing has",
    ),
    "onto itself": Wrong(
        pointer(128) + "    %eight = arith.constant 8 : i64\n" + load() + order("MTE2", "V") + COPY_UB + ALL,
        "overlap",
        "mte_ub_ub",
        "source and destination overlap",
    ),
    "sorted onto its indices": Wrong(
        HALF + pointer(192) + load() + order("MTE2", "V") + SORT + ALL,
        "overlap",
        "vbitsort",
        "source and destination overlap",
    ),
    "merged onto its lists": Wrong(
        load() + order("MTE2", "V") + MERGE + ALL, "overlap", "vmrgsort4", "source and destination overlap"
    ),
    "no drain": Wrong(READY + DONE.replace(ALL, ""), "lint", "mte_ub_gm", "the kernel ends while MTE3 may still be"),
    "too many turns": Wrong(turns(""), "limit!", "scf.for", "more than 3 loop iterations", {"max_steps": 3}),
    "a division": Wrong("    %q = arith.remsi %one, %zero : i64\n", "arithmetic!", "remsi", "division by zero"),
    "a trap": Wrong("    pto.trap\n", "trap!", "pto.trap", "the kernel executed pto.trap"),
}


def examine(source: str, options: dict[str, Any]) -> tuple[ptosim.Finding, ...]:
    arrays = np.arange(64, dtype=np.float32), np.zeros(64, np.float32)
    return ptosim.check(ptosim.load(source).kernel(), *arrays, **options).findings


@pytest.mark.parametrize("arch", ["a5", "a2a3"])
@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong(name: str, arch: str) -> None:
    wrong = WRONG[name]
    source = text(wrong.body, arch=arch)
    (finding,) = examine(source, wrong.options)
    assert finding.kind + ("!" if finding.severity == "error" else "") == wrong.kind
    assert wrong.at in source.split("\n")[(finding.line or 0) - 1]
    assert wrong.says in finding.message
    if finding.hint and EDIT.search(finding.hint):
        assert examine(repaired(source, finding.hint), wrong.options) == ()


def test_every_race_alias_and_missing_drain_comes_with_an_edit() -> None:
    for wrong in WRONG.values():
        if wrong.kind.rstrip("!") in ("race", "scope-alias", "lint") and "grid" not in wrong.options:
            (finding,) = examine(text(wrong.body), wrong.options)
            assert EDIT.search(finding.hint or ""), finding
